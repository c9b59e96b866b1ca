//! The state of one translation from a module to naga's form.

use super::entry::{Port, Ports};
use super::finish::Notes;
use super::language::lacks;
use super::memory::Hop;
use super::sizes::Sizes;
use crate::backend::Options;
use crate::diagnostic::{Code, Diagnostic, cannot_write};
use crate::ir::{self, FuncId, GlobalId, InstFlags, Module, Types, calls};
use crate::profile::{Feature, Target};
use crate::source::Span;
use naga::{Handle, Type};
use rustc_hash::{FxHashMap, FxHashSet};

/// A module on its way to naga's form.
pub(super) struct Translator<'a> {
    pub module: &'a Module,
    pub options: &'a Options,
    /// The types of the module, with those of pointers that are asked for on the way.
    pub types: Types,
    pub out: naga::Module,
    pub layouter: naga::proc::Layouter,
    /// The types of values and of memory without atomics; true for memory that is laid out.
    pub made_types: FxHashMap<(ir::TypeId, bool), Handle<Type>>,
    /// Structs that stand for an element and the bytes up to the next.
    pub wrappers: FxHashSet<Handle<Type>>,
    /// For each struct in memory the numbers of its members among those of the made one.
    pub members: FxHashMap<Handle<Type>, Vec<u32>>,
    pub constants: FxHashMap<ir::ConstId, Handle<naga::Constant>>,
    pub overrides: FxHashMap<ir::ConstId, Handle<naga::Override>>,
    pub globals: FxHashMap<GlobalId, Handle<naga::GlobalVariable>>,
    /// Parts of variables that atomic operations reach.
    pub atomics: FxHashMap<GlobalId, Vec<Vec<Hop>>>,
    /// Variables that hold a stage's inputs and outputs for the functions that the entry point calls.
    pub ports: FxHashMap<Port, Handle<naga::GlobalVariable>>,
    /// Variables that hold the bits of numbers that the language has no constants for.
    pub bits: FxHashMap<u32, Handle<naga::GlobalVariable>>,
    /// Samplers of textures that bring their own.
    pub samplers: FxHashMap<GlobalId, Handle<naga::GlobalVariable>>,
    pub functions: FxHashMap<FuncId, Handle<naga::Function>>,
    /// Inputs and outputs that a function and its callees use.
    pub uses: FxHashMap<FuncId, Ports>,
    /// Sizes that specialization constants give.
    pub sizes: Sizes,
    pub notes: Notes,
    /// True if some access must be seen by other workgroups.
    pub is_coherent: bool,
    /// The function that gives the mask of the lanes below a number.
    pub lanes_below: Option<Handle<naga::Function>>,
    /// The construct being translated, for messages.
    pub span: Span,
    pub diagnostics: Vec<Diagnostic>,
}

fn is_coherent(module: &Module) -> bool {
    let shared = InstFlags::COHERENT | InstFlags::VOLATILE;
    module.functions.iter().any(|(_, f)| f.insts.iter().any(|(_, inst)| inst.flags.intersects(shared)))
}

impl<'a> Translator<'a> {
    pub fn new(module: &'a Module, options: &'a Options) -> Translator<'a> {
        Translator {
            module,
            options,
            types: module.types.clone(),
            out: naga::Module::default(),
            layouter: naga::proc::Layouter::default(),
            made_types: FxHashMap::default(),
            wrappers: FxHashSet::default(),
            members: FxHashMap::default(),
            constants: FxHashMap::default(),
            overrides: FxHashMap::default(),
            globals: FxHashMap::default(),
            atomics: FxHashMap::default(),
            ports: FxHashMap::default(),
            bits: FxHashMap::default(),
            samplers: FxHashMap::default(),
            functions: FxHashMap::default(),
            uses: FxHashMap::default(),
            sizes: Sizes::default(),
            notes: Notes::new(module),
            is_coherent: is_coherent(module),
            lanes_below: None,
            span: Span::NONE,
            diagnostics: Vec::new(),
        }
    }

    /// Translates the entry points and all that they call.
    pub fn run(&mut self) {
        let module = self.module;
        let order = calls::callees_first(module, module.entry_points.iter().map(|entry| entry.function));
        self.atomics = super::memory::atomics(module, &order);
        for id in order {
            if !module.entry_points.iter().any(|entry| entry.function == id) {
                self.function(id);
            }
        }
        for entry in &module.entry_points {
            self.entry_point(entry);
        }
    }

    /// The place of the construct being translated, as naga keeps it.
    pub fn here(&self) -> naga::Span {
        naga_span(self.span)
    }

    /// The name of the language in messages.
    pub fn language(&self) -> &'static str {
        self.target().row().language
    }

    pub fn target(&self) -> Target {
        self.options.profile.target
    }

    /// Reports a construct that is not in the text: the language does not have it, or it is not written yet.
    #[cold]
    pub fn lacks(&mut self, construct: &str) {
        self.fail(Code::NOT_SUPPORTED, lacks(construct, self.language()));
    }

    /// Reports a feature that the profile does not have.
    pub fn require(&mut self, feature: Feature) {
        let profile = &self.options.profile;
        if !profile.has(feature) {
            let message = format!("profile {} lacks {feature}", profile.name);
            self.fail(Code::PROFILE_LACKS, message);
        }
    }

    /// Reports a construct that is not written yet.
    #[cold]
    pub fn unsupported(&mut self, construct: &str) {
        self.fail(Code::NOT_SUPPORTED, cannot_write(construct, self.language()));
    }

    /// Reports a module that breaks the rules of `ir`.
    #[cold]
    pub fn internal(&mut self, found: &str) {
        self.fail(Code::INTERNAL, format!("the {} target met {found}", self.language()));
    }

    #[cold]
    pub fn fail(&mut self, code: Code, message: String) {
        let repeated = self.diagnostics.last().is_some_and(|last| last.code == code && last.span() == self.span);
        if !repeated {
            self.diagnostics.push(Diagnostic::error(code, message).at(self.span, ""));
        }
    }
}

/// A span of the source as naga keeps it in its module, where it means nothing to its writers.
pub(super) fn naga_span(span: Span) -> naga::Span {
    naga::Span::new(span.lo, span.hi)
}

/// The span of the source that a part of naga's module has.
pub(super) fn source_span(span: naga::Span) -> Span {
    span.to_range().map_or(Span::NONE, |range| Span::new(range.start as u32, range.end as u32))
}
