//! Lowers the typed form to the kernel form: one entry point becomes a [`Kernel`].
//!
//! Calls are inlined and all values become scalars. Variables without run-time indices become SSA values; the others
//! become bytes at addresses. Specialization constants get their values here. A cross-lane operation stays, once per
//! component. Optimization is left to the passes.
//!
//! Refused, with a message at the place: ray queries, cooperative matrices, critical sections, reads of attachments,
//! sparse textures, texels of other than 32 bits, and arrays of buffers with an index that is not constant.

mod analyze;
mod arith;
mod body;
mod call;
mod control;
mod globals;
mod image;
mod interface;
mod lane;
mod math;
mod memory;
mod pointer;
mod product;
mod shape;
mod specialize;
#[cfg(test)]
mod tests;
mod variables;

use super::{Builder, Kernel, Stage, Ty, Value};
use crate::diagnostic::{Code, Diagnostic, ERROR_LIMIT};
use crate::ir::depth::DEPTH_LIMIT;
use crate::ir::{self, GlobalId, LayerModes, Module, Scalar};
use crate::source::Span;
use analyze::Facts;
use body::InlineFrame;
use pointer::Pointer;
use shape::Shapes;
use smallvec::SmallVec;
pub use specialize::Specializations;
use variables::Variables;

/// The scalars of a value: components of vectors, columns of matrices, elements and members in order.
type Scalars = SmallVec<[Value; 4]>;

/// Limit of the instructions of a kernel.
pub const INSTRUCTION_LIMIT: usize = 1 << 18;

/// Limit of the invocations of a workgroup; targets allow fewer.
const INVOCATION_LIMIT: u32 = 1 << 16;

/// Lowers the entry point of a module that has passed the verifier.
///
/// # Errors
/// Returns errors if the module does not have exactly one entry point, if the kernel form cannot express a construct,
/// or if settings fit no specialization constant or make a size impossible.
pub fn lower(module: &Module, settings: &Specializations) -> Result<Kernel, Vec<Diagnostic>> {
    let given = settings.resolve(module)?;
    let point = only_entry(module).map_err(|error| vec![*error])?;
    let span = module.functions[point.function].span;
    let Some(stage) = Stage::of(point.stage) else {
        let message = format!("{} shaders are {NOT_YET}", point.stage.name());
        return Err(vec![Diagnostic::error(Code::NOT_IN_KERNELS, message).at(span, "this entry point")]);
    };
    if let Some(message) = refused_modes(module, point) {
        return Err(vec![Diagnostic::error(Code::NOT_IN_KERNELS, message).at(span, "this entry point")]);
    }
    let mut shapes = Shapes::new(module, given);
    let size = match stage {
        Stage::Compute => workgroup_size(&mut shapes, point, span)?,
        Stage::Vertex | Stage::Fragment => [1; 3],
    };
    let facts = Facts::of(module, &mut shapes, point.function);
    let mut lower = Lower {
        module,
        shapes,
        facts,
        b: Builder::new(declared(point, stage, span, size)),
        vars: Variables::default(),
        globals: vec![Pointer::None; module.globals.len()],
        interface: Vec::new(),
        helper: None,
        tables: Vec::new(),
        cleared: 0,
        frames: Vec::new(),
        private_top: 0,
        depth: 0,
        stopped: false,
        errors: Vec::new(),
    };
    lower.entry_point(point.function);
    if lower.errors.is_empty() { Ok(lower.b.kernel) } else { Err(lower.errors) }
}

/// The entry point of a module with one.
///
/// # Errors
/// Returns an error if the module has no entry point or several.
pub fn only_entry(module: &Module) -> Result<&ir::EntryPoint, Box<Diagnostic>> {
    let points = module.entry_points.as_slice();
    let [first, .., last] = points else { return points.first().ok_or_else(|| Box::new(no_entry())) };
    let names: Vec<&str> = points.iter().map(|point| &*point.name).collect();
    let message = "the module has several entry points, and this output holds one";
    let [first, last] = [first, last].map(|point| module.functions[point.function].span);
    let error = Diagnostic::error(Code::ENTRY_POINT, message).at(last, "the last one").with(first, "the first one");
    let error = error.note(format!("its entry points are `{}`", names.join("`, `")));
    Err(Box::new(error.note("choose one with `--entry NAME`, or with `--stage` where the stage tells them apart")))
}

/// The message about a module without an entry point.
pub fn no_entry() -> Diagnostic {
    Diagnostic::error(Code::ENTRY_POINT, "the module has no entry point: there is nothing to compile")
        .note("`crosslane check` takes modules without entry points")
}

/// The end of all refusals.
const NOT_YET: &str = "not supported on assembly targets and in the simulator yet";

/// An empty kernel for an entry point.
fn declared(point: &ir::EntryPoint, stage: Stage, span: Span, size: [u32; 3]) -> Kernel {
    Kernel { stage, span, fragment: point.fragment, ..Kernel::new(&point.name, size) }
}

/// The mode of an entry point that kernels do not have.
fn refused_modes(module: &Module, point: &ir::EntryPoint) -> Option<String> {
    let modes = point.fragment;
    let asked = [
        (module.layer != LayerModes::default(), "layers that viewports or views choose"),
        (!module.feedback.is_empty(), "outputs that transform feedback takes"),
        (modes.full_quads || modes.quad_derivatives, "promises about quads"),
        (modes.post_depth_coverage, "sample masks after the tests"),
        (modes.override_coverage, "sample masks in place of the coverage"),
        (modes.early_and_late_tests, "tests before and after the shader"),
        (modes.interlock.is_some(), "critical sections of fragment shaders"),
        (point.derivatives.is_some(), "derivatives in compute shaders"),
    ];
    let refused = asked.into_iter().find(|(asked, _)| *asked)?;
    Some(format!("{} are {NOT_YET}", refused.1))
}

fn workgroup_size(shapes: &mut Shapes, point: &ir::EntryPoint, span: Span) -> Result<[u32; 3], Vec<Diagnostic>> {
    let size = point.workgroup_size.map(|id| shapes.number(id).unwrap_or(0));
    let complaint = match size.iter().map(|count| u64::from(*count)).try_fold(1u64, u64::checked_mul) {
        Some(0) => "is zero or not known".to_owned(),
        Some(total) if total <= INVOCATION_LIMIT.into() => return Ok(size),
        _ => format!("has more than {INVOCATION_LIMIT} invocations"),
    };
    let message = format!("the workgroup of {} x {} x {} {complaint}", size[0], size[1], size[2]);
    Err(vec![Diagnostic::error(Code::BAD_SETTING, message).at(span, "of this entry point")])
}

/// An entry point during its lowering.
struct Lower<'m> {
    module: &'m Module,
    shapes: Shapes,
    facts: Facts,
    b: Builder,
    vars: Variables,
    /// The pointers of module-scope variables, by their numbers.
    globals: Vec<Pointer>,
    /// Inputs and outputs, and the places of their scalars.
    interface: Vec<(GlobalId, Vec<interface::Port>)>,
    /// The slot for the helper state, if the shader asks for it.
    helper: Option<u32>,
    /// Constant arrays with run-time indices, and their places in private memory.
    tables: Vec<(ir::ConstId, pointer::MemoryRef)>,
    /// Words of workgroup memory that start as zero.
    cleared: u32,
    /// The functions being inlined, innermost last.
    frames: Vec<InlineFrame<'m>>,
    /// End of the private memory in use.
    private_top: u32,
    /// Enclosing blocks, including the blocks around inlined calls.
    depth: usize,
    /// True if the kernel is too large: lowering has stopped.
    stopped: bool,
    errors: Vec<Diagnostic>,
}

impl<'m> Lower<'m> {
    /// Reports something at the instruction being lowered.
    fn refuse(&mut self, code: Code, message: impl Into<String>) {
        if self.errors.len() < ERROR_LIMIT {
            Diagnostic::needed(code, message, self.b.span).join(&mut self.errors);
        }
    }

    /// Reports something that the kernel form does not have.
    fn not_yet(&mut self, what: &str) {
        self.refuse(Code::NOT_IN_KERNELS, format!("{what} are {NOT_YET}"));
    }

    /// Ends the work on a kernel that grows beyond measure.
    fn stop(&mut self, message: &str) {
        if !self.stopped {
            self.refuse(Code::NOT_IN_KERNELS, message);
        }
        self.stopped = true;
    }

    /// Stops without an error if the declaration of a value has already reported it.
    fn stop_without(&mut self, what: &str) {
        if self.errors.is_empty() {
            self.not_yet(what);
        }
        self.stopped = true;
    }

    /// The function being lowered.
    fn frame(&mut self) -> &mut InlineFrame<'m> {
        self.frames.last_mut().expect("lowering happens inside a function")
    }

    /// Undefined scalars of these types.
    fn undefined(&mut self, scalars: &[Scalar]) -> Scalars {
        scalars.iter().map(|scalar| self.b.kernel.undefined(Ty::of(*scalar))).collect()
    }

    fn global(&self, id: GlobalId) -> Pointer {
        self.globals[id.index()].clone()
    }
}
