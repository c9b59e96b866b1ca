//! The operations of a module that are wider than a profile's subgroups, for reports.

use super::write::words_of;
use super::{Site, Wide, spanned};
use crate::diagnostic::Diagnostic;
use crate::ir::{ArrayLen, FuncId, InstId, Module, Space, Type};
use crate::lane::spanning::Spanning;
use crate::profile::Profile;
use crate::source::Span;
use rustc_hash::FxHashMap;
use std::borrow::Cow;

/// One operation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Exchanged {
    pub program: Spanning,
    /// The memory that it uses, if the module compiles.
    pub memory: Option<Usage>,
}

/// The part of an operation in its module.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Usage {
    /// Bytes that its exchanges use.
    pub bytes: u32,
    /// Bytes for all such operations of the module, which share them.
    pub of_module: u32,
    /// True if a barrier comes first, because invocations may still read the memory.
    pub waits: bool,
    /// Lanes that a subgroup must have for all operations of the module to stay inside it, if a driver chooses.
    pub below: Option<u32>,
}

/// The operations of a module, and the module that a profile compiles.
#[derive(Debug)]
pub struct Survey<'a> {
    /// The result of [`spanned`]; the module itself if there are errors.
    pub module: Cow<'a, Module>,
    pub operations: FxHashMap<(FuncId, InstId), Exchanged>,
    /// The errors of [`spanned`].
    pub errors: Vec<Diagnostic>,
}

impl<'a> Survey<'a> {
    pub fn of(source: &'a Module, profile: &Profile) -> Survey<'a> {
        let (module, errors) = match spanned(source, profile) {
            Ok(module) => (module, Vec::new()),
            Err(errors) => (Cow::Borrowed(source), errors),
        };
        let operations = operations(&Wide::of(source, profile), &module);
        Survey { module, operations, errors }
    }

    /// The reason that an operation is an error.
    pub fn refusal(&self, span: Span) -> Option<&str> {
        let mut labels = self.errors.iter().flat_map(|error| &error.labels);
        labels.find(|label| label.primary && label.span == span).map(|label| &*label.text)
    }
}

fn operations(wide: &Wide, module: &Module) -> FxHashMap<(FuncId, InstId), Exchanged> {
    let widest = wide.sites.iter().map(|(_, site)| site.program.width).max();
    let Some(widest) = widest else { return FxHashMap::default() };
    let invocations = wide.check().ok();
    let (of_module, waiting) = (bytes_of_module(wide.module, module), waiting(wide.module, module));
    let operation = |(at, site): &((FuncId, InstId), Site)| {
        let words =
            |exchange, invocations| words_of(&wide.module.types, &site.program, &site.inputs, exchange, invocations);
        // Exchanges use two areas in turn.
        let area = |first: u8, invocations| {
            let exchanges = (first..site.program.exchanges.len() as u8).step_by(2);
            exchanges.map(|exchange| words(exchange, invocations)).max().unwrap_or(0)
        };
        let memory = invocations.map(|invocations| Usage {
            bytes: 4 * (area(0, invocations) + area(1, invocations)),
            of_module,
            waits: waiting.contains(at),
            below: wide.profile.wave_size.is_none().then_some(widest),
        });
        (*at, Exchanged { program: site.program.clone(), memory })
    };
    wide.sites.iter().map(operation).collect()
}

/// Bytes of the array that the module has and its source has not.
fn bytes_of_module(source: &Module, module: &Module) -> u32 {
    let added = module.globals.iter().skip(source.globals.len()).map(|(_, global)| global);
    let array = added.into_iter().find(|global| global.space == Space::Workgroup);
    match array.map(|global| module.types.get(global.ty)) {
        Some(Type::Array { len: ArrayLen::Fixed(words), .. }) => 4 * words,
        _ => 0,
    }
}

/// The operations that follow an instruction that the source does not have: a barrier, or the call of one.
fn waiting(source: &Module, module: &Module) -> Vec<(FuncId, InstId)> {
    let mut waiting = Vec::new();
    for (id, f) in module.functions.iter().take(source.functions.len()) {
        let is_new = |inst: InstId| source.functions[id].insts.get(inst).is_none();
        for (_, block) in f.blocks.iter() {
            let pairs = block.insts.windows(2).map(|pair| (pair[0], pair[1]));
            waiting.extend(pairs.filter(|(first, _)| is_new(*first)).map(|(_, operation)| (id, operation)));
        }
    }
    waiting
}
