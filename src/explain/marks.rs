//! The lines of an output by the operations of the source that they are there for, as editors show the two next to each other.

use super::operations::{Facts, Lines};
use crate::compile::{Options, Reading};
use crate::guard;
use crate::source::Span;

/// For each line of the text that a module becomes with some options, the places of its operations.
pub fn marks(text: &str, reading: &Reading, options: &Options) -> Vec<Vec<Span>> {
    let Some(module) = reading.module() else { return Vec::new() };
    let facts = guard::bounded(options.limits, || Facts::of(reading, module, options, Lines::Wanted));
    let Some(facts) = facts.ok().and_then(Result::ok) else { return Vec::new() };
    let Some((emitted, places)) = facts.places(module) else { return Vec::new() };
    let spans = |numbers: Vec<u32>| {
        let mut spans: Vec<Span> = numbers.iter().filter_map(|number| places.get(number)).copied().collect();
        spans.dedup();
        spans
    };
    emitted.marks(text).into_iter().map(spans).collect()
}
