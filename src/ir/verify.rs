//! Verifies a module.
//!
//! The verifier runs after front ends and passes in tests and debug builds. An error is a bug in the compiler, never in
//! a shader, and its message is for the author of the pass. Targets and their limits play no role.

mod body;
mod cooperative;
mod image;
mod lane;
mod math;
mod memory;
mod operation;
mod types;

use super::print::type_name;
use super::{EntryPoint, FuncId, Global, Module, Scalar, Space, Type, TypeId, Types};
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use std::fmt;

/// A violation of the IR's rules in a module.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct VerifyError {
    pub message: String,
    pub span: Span,
    /// Function with the violation in its body.
    pub function: Option<FuncId>,
}

impl fmt::Display for VerifyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl VerifyError {
    /// The message that a user would see.
    pub fn diagnostic(&self) -> Diagnostic {
        let message = format!("the compiler made invalid code: {}", self.message);
        let diagnostic =
            Diagnostic::error(Code::INTERNAL, message).note("this is a defect of crosslane; please report it");
        if self.span.is_none() { diagnostic } else { diagnostic.at(self.span, "while compiling this") }
    }
}

/// The result of one rule: an error if it is violated.
type Check = Result<(), String>;

/// Returns an error with a formatted message unless the condition holds.
macro_rules! ensure {
    ($condition:expr, $($message:tt)+) => {
        if !$condition {
            return Err(format!($($message)+));
        }
    };
}
use ensure;

/// Checks all invariants that [`super`] states for a module.
///
/// # Errors
/// Returns all violations, in module order. If types or constants have violations, nothing after them is examined.
pub fn verify(module: &Module) -> Result<(), Vec<VerifyError>> {
    let mut verifier = Verifier { module, types: module.types.clone(), errors: Vec::new() };
    verifier.declared();
    if verifier.errors.is_empty() {
        verifier.module();
    }
    if verifier.errors.is_empty() { Ok(()) } else { Err(verifier.errors) }
}

struct Verifier<'m> {
    module: &'m Module,
    /// A copy, because querying the type of a pointer or part may add it.
    types: Types,
    errors: Vec<VerifyError>,
}

impl Verifier<'_> {
    fn report(&mut self, check: Check, span: Span, what: impl FnOnce() -> String) {
        if let Err(message) = check {
            let message = format!("{}: {message}", what());
            self.errors.push(VerifyError { message, span, function: None });
        }
    }

    fn declared(&mut self) {
        let found = types::check(self.module);
        self.errors.extend(found.into_iter().map(|message| VerifyError { message, span: Span::NONE, function: None }));
    }

    fn module(&mut self) {
        for (_, global) in self.module.globals.iter() {
            self.report(self.global(global), global.span, || format!("variable `{}`", global.name));
        }
        let mut calls = vec![Vec::new(); self.module.functions.len()];
        for id in self.module.functions.handles() {
            calls[id.index()] = body::check(self.module, &mut self.types, id, &mut self.errors);
        }
        if let Some(index) = find_cycle(&calls) {
            let function = &self.module.functions[FuncId::from_index(index)];
            self.report(Err("a cycle of calls".to_owned()), function.span, || format!("function `{}`", function.name));
        }
        for feedback in &self.module.feedback {
            let space = self.module.globals.get(feedback.global).map(|global| global.space);
            let check = if space == Some(Space::Output) { Ok(()) } else { Err("it is not an output".to_owned()) };
            self.report(check, Span::NONE, || "transform feedback".to_owned());
        }
        self.foreign();
        for (index, entry) in self.module.entry_points.iter().enumerate() {
            self.report(self.entry_point(entry, index), Span::NONE, || format!("entry point `{}`", entry.name));
        }
    }

    fn foreign(&mut self) {
        let decorations = &self.module.foreign.decorations;
        let exist = decorations.iter().all(|known| self.module.globals.get(known.variable).is_some());
        let ascend = decorations.is_sorted_by_key(|known| known.variable);
        let check = if exist && ascend { Ok(()) } else { Err("they are not in the order of variables".to_owned()) };
        self.report(check, Span::NONE, || "decorations by number".to_owned());
    }

    fn global(&self, global: &Global) -> Check {
        ensure!(global.ty.index() < self.types.len(), "its type does not exist");
        ensure!(global.space != Space::Function, "variables of functions are locals");
        let ty = strip_resource_arrays(&self.types, global.space, global.ty);
        check_memory(&self.types, global.space, ty)?;
        let Some(init) = global.init else { return Ok(()) };
        ensure!(init.index() < self.module.constants.len(), "its initial value does not exist");
        let (found, expected) = (self.module.constants.get(init).ty, global.ty);
        ensure!(found == expected, "its initial value is of type {}", type_name(&self.types, found));
        Ok(())
    }

    fn entry_point(&self, entry: &EntryPoint, index: usize) -> Check {
        let function = self.module.functions.get(entry.function).ok_or("its function does not exist")?;
        ensure!(function.params.is_empty() && function.ret == Types::VOID, "its function takes or returns something");
        let twin = |other: &EntryPoint| other.name == entry.name && other.stage == entry.stage;
        ensure!(!self.module.entry_points[..index].iter().any(twin), "there are two of this name and stage");
        for size in entry.workgroup_size.iter().filter(|_| entry.stage.has_workgroups()) {
            ensure!(size.index() < self.module.constants.len(), "its workgroup size does not exist");
            let ty = self.module.constants.get(*size).ty;
            ensure!(ty == Types::U32, "its workgroup size is of type {}", type_name(&self.types, ty));
            ensure!(self.module.constants.bits(*size) != Some(0), "its workgroup size is zero");
        }
        Ok(())
    }
}

/// The element type of an array of blocks, images or samplers.
fn strip_resource_arrays(types: &Types, space: Space, mut ty: TypeId) -> TypeId {
    if !matches!(space, Space::Uniform | Space::Storage | Space::Handle) {
        return ty;
    }
    while let Type::Array { element, stride: None, .. } = types.get(ty) {
        ty = element;
    }
    ty
}

/// Checks that memory in a space may have a type.
fn check_memory(types: &Types, space: Space, ty: TypeId) -> Check {
    let name = || type_name(types, ty);
    let is_opaque = matches!(
        types.get(ty),
        Type::Image(_) | Type::Sampler | Type::SampledImage(_) | Type::AccelerationStructure | Type::AtomicCounter
    );
    let foreign = matches!(types.get(ty), Type::Foreign(_));
    ensure!(foreign || is_opaque == (space == Space::Handle), "memory in {space:?} space cannot be of type {}", name());
    let is_of_invocation = matches!(space, Space::Function | Space::Private | Space::Handle);
    ensure!(!types.is_valueless(ty) || is_of_invocation, "memory of type {} in {space:?} space", name());
    ensure!(!matches!(types.get(ty), Type::Void | Type::Pointer { .. }), "no memory has the type {}", name());
    let private = matches!(space, Space::Function | Space::Private);
    let is_shared = !types.holds_cooperative(ty) && !types.holds_scalar(ty, Scalar::is_below_byte);
    ensure!(private || is_shared, "memory in {space:?} space cannot be of type {}", name());
    if is_neutral(types, ty) || space == Space::Handle {
        return Ok(());
    }
    let laid_out = is_laid_out(types, ty);
    ensure!(laid_out || !space.is_laid_out(), "the type {} in {space:?} space has no layout", name());
    let may = space.is_laid_out() || matches!(space, Space::Workgroup | Space::TaskPayload);
    ensure!(!laid_out || may, "the type {} in {space:?} space has a layout", name());
    Ok(())
}

/// Scalars, vectors and references are the same with and without a layout.
fn is_neutral(types: &Types, ty: TypeId) -> bool {
    matches!(types.get(ty), Type::Scalar(_) | Type::Vector { .. } | Type::BufferReference { .. } | Type::Foreign(_))
}

/// Returns true if this many parts form a cooperative vector: one per component, or one for all. If the size is a
/// specialization constant, any number may.
fn is_whole_vector(module: &Module, ty: TypeId, parts: usize) -> bool {
    let Some(vector) = module.types.cooperative(ty).filter(|of| of.is_vector()) else { return false };
    module.constants.as_int(&module.types, vector.columns).is_none_or(|count| count == parts as i128)
}

/// Returns true if a matrix, array or struct carries a layout.
fn is_laid_out(types: &Types, ty: TypeId) -> bool {
    match types.get(ty) {
        Type::Matrix { layout, .. } => layout.is_some(),
        Type::Array { stride, .. } => stride.is_some(),
        Type::Struct(id) => types.structs[id].logical.is_some(),
        _ => false,
    }
}

/// A node on a cycle or reachable from one: what remains after repeatedly removing nodes without predecessors.
fn find_cycle(successors: &[Vec<usize>]) -> Option<usize> {
    let mut before = vec![0usize; successors.len()];
    successors.iter().flatten().for_each(|next| before[*next] += 1);
    let mut free: Vec<usize> = (0..successors.len()).filter(|at| before[*at] == 0).collect();
    while let Some(at) = free.pop() {
        for next in &successors[at] {
            before[*next] -= 1;
            if before[*next] == 0 {
                free.push(*next);
            }
        }
    }
    before.iter().position(|count| *count > 0)
}

#[cfg(test)]
mod tests;
