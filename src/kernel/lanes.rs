//! Turns the cross-lane operations of a kernel into instructions of one profile.
//!
//! Each [`Op::Lane`] becomes the steps of its plan ([`crate::lane::planner`]), which knows what the kernel knows: constant
//! and uniform operands, operands that hang on the lane alone, and which lanes run the operation. Steps that hang on the
//! lane alone stand at the kernel's start, once for all plans. Arithmetic on what a plan moved takes the move into itself. Values that hang on the lane alone become facts, and numbers
//! of subgroups become arithmetic. Nothing here chooses instructions.

mod fuse;
mod inline;

use super::lane_rows::LaneRows;
use super::names::Names;
use super::pass;
use super::tree::Tree;
use super::uniform::Uniformity;
use super::{BinOp, BlockId, InstId, Kernel, Op, Ty, Value};
use crate::diagnostic::{Code, Diagnostic};
use crate::ir::{BuiltIn, Scalar, ScalarKind, Stage};
use crate::lane::{Activity, Input, Known, LaneFact, LaneOp, LaneType, Plan, Refusal, Request, Step, StepOp, plan};
use crate::profile::Profile;
use crate::source::Span;
use rustc_hash::FxHashMap;
use std::rc::Rc;

/// Lowers all cross-lane operations of a kernel for a profile.
///
/// # Errors
/// With an error at each operation that the profile cannot do, or that is not lowered yet, and if the profile does not
/// state the size of a wave. The kernel is then half lowered.
pub fn lower_lanes(kernel: &mut Kernel, profile: &Profile) -> Result<(), Vec<Diagnostic>> {
    let Some(size) = profile.wave_size else {
        let message = format!("the profile {} does not say how many lanes a subgroup has", profile.name);
        return Err(vec![Diagnostic::error(Code::NOT_SUPPORTED, message)]);
    };
    prepare(kernel, size);
    let mut lowering = Lowering::new(kernel, profile, size);
    for block in Tree::new(lowering.kernel).blocks {
        lowering.block(block);
    }
    lowering.put_setup();
    let Lowering { errors, .. } = lowering;
    if !errors.is_empty() {
        return Err(errors);
    }
    pass::clean(kernel);
    fuse::run(kernel, profile);
    Ok(())
}

/// One cross-lane operation of a kernel, with what the kernel knows of it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Asked {
    pub op: LaneOp,
    pub inputs: Vec<Input>,
    pub activity: Activity,
    /// See [`Request::index`].
    pub index: Option<Vec<u32>>,
    /// Where it stands in the source; copies of it stand there too.
    pub span: Span,
}

/// What [`lower_lanes`] would ask the planner, in the order of the kernel; nothing where the profile does not state the
/// size of a wave.
pub fn asked(kernel: &mut Kernel, profile: &Profile) -> Vec<Asked> {
    let Some(size) = profile.wave_size else { return Vec::new() };
    prepare(kernel, size);
    let lowering = Lowering::new(kernel, profile, size);
    let ask = |inst: InstId| {
        let (op, inputs, activity, index) = lowering.question(inst)?;
        Some(Asked { op, inputs, activity, index, span: lowering.kernel.insts[inst].span })
    };
    Tree::new(lowering.kernel).insts(lowering.kernel).into_iter().filter_map(ask).collect()
}

/// Writes what hangs on the number of the lane alone as that.
fn prepare(kernel: &mut Kernel, size: u32) {
    number_subgroups(kernel, size);
    use_facts(kernel, size);
}

/// Makes the numbers of subgroups arithmetic on the invocation's number.
fn number_subgroups(kernel: &mut Kernel, size: u32) {
    let mut names = Names::default();
    for block in Tree::new(kernel).blocks {
        let insts = std::mem::take(&mut kernel.blocks[block].insts);
        let mut out = Vec::with_capacity(insts.len());
        for inst in insts {
            match kernel.insts[inst].op {
                Op::BuiltIn(BuiltIn::NumSubgroups, _) => {
                    let count = kernel.constant(Ty::B32, kernel.invocations().div_ceil(size).into());
                    names.replace_all(kernel.results(inst), [count]);
                }
                Op::BuiltIn(BuiltIn::SubgroupId, _) => {
                    let (flags, span) = (kernel.insts[inst].flags, kernel.insts[inst].span);
                    let index = Op::BuiltIn(BuiltIn::LocalInvocationIndex, 0);
                    let index = kernel.add_inst(index, &[], &[Ty::B32], flags, span);
                    out.extend([index, inst]);
                    let by = kernel.constant(Ty::B32, size.trailing_zeros().into());
                    let index: Vec<Value> = kernel.results(index).chain([by]).collect();
                    kernel.insts[inst].op = Op::Bin(BinOp::Shr, Scalar::U32);
                    kernel.set_args(inst, &index);
                }
                _ => out.push(inst),
            }
        }
        kernel.blocks[block].insts = out;
    }
    names.apply_all(kernel);
}

/// Makes arithmetic that gives the lane's index a fact, and values that are the same number in all lanes that number.
/// Built-in values stay: hardware has them at hand.
fn use_facts(kernel: &mut Kernel, size: u32) {
    let rows = LaneRows::new(kernel, size);
    let mut names = Names::default();
    for inst in Tree::new(kernel).insts(kernel) {
        let op = kernel.insts[inst].op;
        let (Some(result), true) = (kernel.result(inst), op.is_pure()) else { continue };
        let Some(row) = rows.of(result) else { continue };
        let (first, ty) = (row[0], kernel.ty(result));
        if row.iter().all(|bits| *bits == first) {
            names.replace(result, kernel.constant(ty, first));
        } else if ty == Ty::B32
            && !matches!(op, Op::BuiltIn(..))
            && row.iter().enumerate().all(|(lane, bits)| *bits == lane as u64)
        {
            kernel.insts[inst].op = Op::Fact(LaneFact::Index);
            kernel.set_args(inst, &[]);
        }
    }
    names.apply_all(kernel);
}

/// What a plan hangs on.
type Question = (LaneOp, Vec<Input>, Activity, Option<Vec<u32>>);

struct Lowering<'k> {
    kernel: &'k mut Kernel,
    profile: &'k Profile,
    uniformity: Uniformity,
    rows: LaneRows,
    /// Plans made so far: kernels repeat operations.
    plans: FxHashMap<Question, Result<Rc<Plan>, Refusal>>,
    /// Set-up steps with their operands and the values that they became, in the order in which they were met.
    setup: FxHashMap<(StepOp, Vec<Value>), Value>,
    setup_insts: Vec<InstId>,
    names: Names,
    errors: Vec<Diagnostic>,
}

impl<'k> Lowering<'k> {
    fn new(kernel: &'k mut Kernel, profile: &'k Profile, size: u32) -> Lowering<'k> {
        Lowering {
            uniformity: Uniformity::new(kernel, size),
            rows: LaneRows::new(kernel, size),
            kernel,
            profile,
            plans: FxHashMap::default(),
            setup: FxHashMap::default(),
            setup_insts: Vec::new(),
            names: Names::default(),
            errors: Vec::new(),
        }
    }

    /// Lowers the operations of a block; those inside its constructs come later.
    fn block(&mut self, block: BlockId) {
        let insts = std::mem::take(&mut self.kernel.blocks[block].insts);
        let mut out = Vec::with_capacity(insts.len());
        for inst in insts {
            let question = self.question(inst);
            self.names.apply(self.kernel, inst);
            match question {
                Some(question) => self.lower(inst, question, &mut out),
                None => out.push(inst),
            }
        }
        self.kernel.blocks[block].insts = out;
    }

    /// What to ask the planner; none of other instructions. It looks at the operands as the analyses saw them.
    fn question(&self, inst: InstId) -> Option<Question> {
        let Op::Lane { op, ty } = self.kernel.insts[inst].op else { return None };
        let args = self.kernel.args(inst);
        let scalars = [ty[0], ty[1], Scalar::U32];
        let inputs = args.iter().zip(scalars).map(|(arg, scalar)| self.input(*arg, scalar)).collect();
        let index = args.get(1).and_then(|index| self.index_row(op, *index));
        Some((op, inputs, self.uniformity.activity(inst), index))
    }

    fn input(&self, value: Value, scalar: Scalar) -> Input {
        let ty = match self.kernel.ty(value) {
            Ty::Mask => LaneType::BALLOT,
            _ => LaneType::scalar(scalar.kind, scalar.width),
        };
        let is_number = matches!(ty.kind, ScalarKind::Uint | ScalarKind::Sint) && ty.width == 32;
        let known = match self.kernel.as_constant(value) {
            Some(bits) if is_number => Known::Constant(bits as u32),
            _ if self.uniformity.is_uniform(value) => Known::Uniform,
            _ => Known::Varying,
        };
        Input { ty, known }
    }

    /// The second operand in each lane, where it hangs on the lane alone. Some operations look at its low bits only.
    fn index_row(&self, op: LaneOp, index: Value) -> Option<Vec<u32>> {
        if self.kernel.as_constant(index).is_some() || self.kernel.ty(index) != Ty::B32 {
            return None;
        }
        let mask = match op {
            LaneOp::Bpermute | LaneOp::Permute => u64::from(self.profile.wave_size? - 1),
            LaneOp::ShuffleNv(_) => 31,
            // What these have there is a value.
            LaneOp::Sort { .. } | LaneOp::WriteLane | LaneOp::QuadAdd(_) | LaneOp::Segmented { .. } => return None,
            _ => u32::MAX.into(),
        };
        let row = self.rows.modulo(index, mask)?;
        Some(row.iter().map(|bits| (bits & mask) as u32).collect())
    }

    fn lower(&mut self, inst: InstId, question: Question, out: &mut Vec<InstId>) {
        let span = self.kernel.insts[inst].span;
        match self.plan(question) {
            Ok(plan) => self.inline(inst, &plan, out),
            Err(refusal) => self.refuse(&refusal, span),
        }
    }

    fn plan(&mut self, question: Question) -> Result<Rc<Plan>, Refusal> {
        if let Some(known) = self.plans.get(&question) {
            return known.clone();
        }
        let (op, inputs, activity, index) = &question;
        let fragment = self.kernel.stage == Stage::Fragment;
        let request = Request { op: *op, inputs, activity: *activity, index: index.as_deref(), fragment };
        let answer = plan(&request, self.profile).map(Rc::new);
        self.plans.insert(question, answer.clone());
        answer
    }

    /// One message for all components of a vector.
    fn refuse(&mut self, refusal: &Refusal, span: Span) {
        let message = format!("this cross-lane operation cannot be compiled: {refusal}");
        let diagnostic = Diagnostic::error(refusal.code(), message).at(span, "");
        if self.errors.last() != Some(&diagnostic) {
            self.errors.push(diagnostic);
        }
    }

    /// Puts what was set up at the kernel's start.
    fn put_setup(&mut self) {
        let body = &mut self.kernel.blocks[self.kernel.body].insts;
        body.splice(0..0, std::mem::take(&mut self.setup_insts));
    }
}

/// Key of a set-up step: what it does to what.
fn setup_key(step: &Step, args: &[Value]) -> (StepOp, Vec<Value>) {
    (step.op, args.to_vec())
}

#[cfg(test)]
mod tests;
