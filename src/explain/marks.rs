//! Maps the lines of an output to the source operations that they implement, for a side-by-side view.

use super::operations::{Facts, Lines};
use crate::compile::{Options, Reading};
use crate::guard;
use crate::source::Span;

/// For each line of a module's output with these options, the places of its operations.
pub fn marks(text: &str, reading: &Reading, options: &Options) -> Vec<Vec<Span>> {
    let Some(module) = reading.module() else { return Vec::new() };
    let Ok(options) = options.narrowed(module) else { return Vec::new() };
    let facts = guard::bounded(options.limits, || Facts::of(reading, module, &options, Lines::Wanted));
    let Ok(facts) = facts else { return Vec::new() };
    let Some((emitted, places)) = facts.places() else { return Vec::new() };
    let spans = |numbers: Vec<u32>| {
        let mut spans: Vec<Span> = numbers.iter().filter_map(|number| places.get(number)).flatten().copied().collect();
        spans.dedup();
        spans
    };
    emitted.marks(text).into_iter().map(spans).collect()
}
