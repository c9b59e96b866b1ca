//! Translates naga's module to `ir`: only what the chosen entry points reach.
//!
//! The module has passed naga's validator, so types agree and control flow is structured. WGSL defines some results
//! that hardware leaves undefined (division by zero, shift amounts, out-of-range conversions, zeroed workgroup memory);
//! the code for them is emitted here. Out-of-bounds accesses are checked if requested. Mesh and ray tracing stages and
//! ray queries are refused, each with its span. The first failure ends a function.

mod arithmetic;
mod bounds;
mod call;
mod columns;
mod control;
mod convert;
mod entry;
mod expression;
mod function;
mod given;
mod globals;
mod lane;
mod math;
mod memory;
mod packing;
mod port;
mod subgroup;
mod texture;
mod types;

use super::BoundsChecks;
use super::carrier::Carriers;
use super::offsets::Offsets;
use crate::diagnostic::{Code, Diagnostic};
use crate::ir::{self, BuiltIn, ConstId, GlobalId, Stage};
use crate::source::Span;
use naga::Handle;
use naga::valid::ModuleInfo;
use rustc_hash::FxHashMap;

/// The message that ends the translation of a function. Boxed: it is large and rare.
pub(super) type Failure = Box<Diagnostic>;
pub(super) type Outcome<T> = Result<T, Failure>;

/// The input of the translation.
#[derive(Clone, Copy)]
pub(super) struct Input<'a> {
    pub naga: &'a naga::Module,
    pub info: &'a ModuleInfo,
    pub carriers: &'a Carriers,
    pub offsets: &'a Offsets,
    /// Lanes of a subgroup if the profile fixes them.
    pub wave_size: Option<u32>,
    pub bounds_checks: BoundsChecks,
}

/// State of the translation of one module.
struct Shader<'a> {
    naga: &'a naga::Module,
    info: &'a ModuleInfo,
    carriers: &'a Carriers,
    offsets: &'a Offsets,
    wave_size: Option<u32>,
    bounds_checks: BoundsChecks,
    types: types::TypeMap,
    globals: FxHashMap<Handle<naga::GlobalVariable>, globals::Variable>,
    overrides: FxHashMap<Handle<naga::Override>, ConstId>,
    spec_ids: Vec<u32>,
    functions: call::Functions,
    /// The stage of the current entry point. Functions and built-in inputs are translated per stage, because their
    /// meaning and their SPIR-V decorations differ.
    stage: Stage,
    inputs: FxHashMap<(Stage, BuiltIn), GlobalId>,
    warnings: Vec<Diagnostic>,
    errors: Vec<Diagnostic>,
}

/// Translates everything that these entry points of the module reach. Warnings go to `warnings`.
///
/// # Errors
/// Returns the first construct of each function that `ir` or crosslane cannot express.
pub(super) fn translate(
    input: Input<'_>,
    entries: &[usize],
    warnings: &mut Vec<Diagnostic>,
) -> Result<ir::Module, Vec<Diagnostic>> {
    let mut out = ir::Module::new();
    let mut shader = Shader {
        naga: input.naga,
        info: input.info,
        carriers: input.carriers,
        offsets: input.offsets,
        wave_size: input.wave_size,
        bounds_checks: input.bounds_checks,
        types: types::TypeMap::default(),
        globals: FxHashMap::default(),
        overrides: FxHashMap::default(),
        spec_ids: Vec::new(),
        functions: call::Functions::default(),
        stage: Stage::Compute,
        inputs: FxHashMap::default(),
        warnings: Vec::new(),
        errors: Vec::new(),
    };
    shader.number_overrides();
    for entry in entries {
        let made = shader.entry_point(&mut out, *entry);
        shader.keep_error(made);
        shader.finish_functions(&mut out);
    }
    warnings.append(&mut shader.warnings);
    if shader.errors.is_empty() { Ok(out) } else { Err(shader.errors) }
}

impl Shader<'_> {
    /// Records the error of a function, once: several stages may share a function that fails in the same way.
    fn keep_error(&mut self, made: Outcome<()>) {
        if let Err(error) = made
            && !self.errors.contains(&error)
        {
            self.errors.push(*error);
        }
    }

    /// Maps a span of naga's text to the user's text.
    fn span(&self, of: naga::Span) -> Span {
        self.offsets.span(of)
    }

    fn fail(&self, code: Code, message: impl Into<String>, at: naga::Span, label: &str) -> Failure {
        Box::new(Diagnostic::error(code, message).at(self.span(at), label))
    }

    fn unsupported(&self, what: &str, at: naga::Span) -> Failure {
        self.fail(Code::NOT_SUPPORTED, format!("{what} is not supported yet"), at, "used here")
    }
}
