//! The operations of a module that are wider than a profile's subgroups, for reports.

use super::workgroup::{Counted, counted};
use super::write::words_of;
use super::{Site, Wide, spanned};
use crate::diagnostic::Diagnostic;
use crate::ir::{ArrayLen, FuncId, InstId, Module, Space, Type, Types};
use crate::lane::spanning::Spanning;
use crate::profile::Profile;
use crate::source::Span;
use rustc_hash::FxHashMap;
use std::borrow::Cow;

/// One operation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Exchanged {
    /// The programs for subgroups of each size that have one, those of the widest subgroups first.
    pub programs: Vec<SizedProgram>,
    /// The memory that it uses, if the module compiles.
    pub memory: Option<Usage>,
}

/// A program, and the subgroups that run it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SizedProgram {
    /// Lanes of the smallest of these subgroups.
    pub least: u32,
    /// Subgroups of so many lanes and more run other code.
    pub below: Option<u32>,
    pub program: Spanning,
    /// Bytes that its exchanges use, if the module compiles.
    pub bytes: Option<u32>,
}

/// The part of an operation in its module.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Usage {
    /// Bytes for all such operations of the module, which share them.
    pub of_module: u32,
    /// True if a barrier comes first, because invocations may still read the memory.
    pub waits: bool,
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
        let operations = match counted(source) {
            Ok(Counted { module: counted, invocations }) => {
                operations(source, &Wide::of(&counted, invocations, profile), &module)
            }
            Err(_) => FxHashMap::default(),
        };
        Survey { module, operations, errors }
    }

    /// The reason that an operation is an error.
    pub fn refusal(&self, span: Span) -> Option<&str> {
        let mut labels = self.errors.iter().flat_map(|error| &error.labels);
        labels.find(|label| label.primary && label.span == span).map(|label| &*label.text)
    }
}

fn operations(source: &Module, wide: &Wide, module: &Module) -> FxHashMap<(FuncId, InstId), Exchanged> {
    let invocations = wide.check(source).ok();
    let (of_module, waiting) = (bytes_of_module(wide.module, module), waiting(wide.module, module));
    let operation = |(at, site): &((FuncId, InstId), Site)| {
        let bytes = |program: &Spanning| Some(bytes(&wide.module.types, site, program, invocations?));
        let programs = sized(&wide.rungs, &site.programs, bytes);
        let memory = invocations.map(|_| Usage { of_module, waits: waiting.contains(at) });
        (*at, Exchanged { programs, memory })
    };
    wide.sites.iter().map(operation).collect()
}

/// The programs of an operation with the sizes of their subgroups.
pub(super) fn sized(
    rungs: &[u32],
    programs: &[Option<Spanning>],
    bytes: impl Fn(&Spanning) -> Option<u32>,
) -> Vec<SizedProgram> {
    let below = [None].into_iter().chain(rungs.iter().copied().map(Some));
    let mut sized: Vec<SizedProgram> = Vec::new();
    for ((least, below), program) in rungs.iter().zip(below).zip(programs) {
        let Some(program) = program else { continue };
        match sized.last_mut().filter(|last| last.program.is_like(program)) {
            Some(last) => (last.least, last.program) = (*least, program.clone()),
            None => {
                sized.push(SizedProgram { least: *least, below, bytes: bytes(program), program: program.clone() });
            }
        }
    }
    sized
}

/// Bytes of workgroup memory that a program uses. Exchanges use two areas in turn.
fn bytes(types: &Types, site: &Site, program: &Spanning, invocations: u32) -> u32 {
    let words = |exchange| words_of(types, program, &site.inputs, exchange, invocations);
    let area = |first: u8| {
        let exchanges = (first..program.exchanges.len() as u8).step_by(2);
        exchanges.map(words).max().unwrap_or(0)
    };
    4 * (area(0) + area(1))
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
