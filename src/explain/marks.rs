//! The lines of an output by the operations of the source that they are there for, as editors show the two beside each other.

use super::operations::{Facts, Lines};
use crate::compile::Options;
use crate::guard;
use crate::ir::Module;
use crate::source::{SourceMap, Span};

/// For each line of the text that a module becomes with some options, the places of its operations.
pub fn marks(text: &str, module: &Module, options: &Options, sources: &SourceMap) -> Vec<Vec<Span>> {
    let facts = guard::bounded(options.limits, || Facts::of(module, options, sources, Lines::Wanted));
    let Some(facts) = facts.ok().and_then(Result::ok) else { return Vec::new() };
    let Some((emitted, places)) = facts.places(module) else { return Vec::new() };
    let spans = |numbers: Vec<u32>| {
        let mut spans: Vec<Span> = numbers.iter().filter_map(|number| places.get(number)).copied().collect();
        spans.dedup();
        spans
    };
    emitted.marks(text).into_iter().map(spans).collect()
}
