//! Turns the cross-lane operations of a kernel into instructions of one profile.
//!
//! Each [`Op::Lane`] becomes the steps of its plan. The planner ([`crate::lane::planner`]) gets the operands that are
//! constant, uniform, or a function of the lane, and the lanes that run the operation. Steps that depend only on the
//! lane move to the kernel's start, once for all plans; such values become facts, and subgroup indices become
//! arithmetic. Arithmetic on a moved value absorbs the move. Back ends select the instructions.

mod dpp_combine;
mod inline;

use super::lane_rows::LaneRows;
use super::names::Names;
use super::pass::Pipeline;
use super::tree::Tree;
use super::uniform::Uniformity;
use super::{BinOp, BlockId, InstId, Kernel, Op, Origin, Ty, Value};
use crate::diagnostic::{Code, Diagnostic};
use crate::ir::{BuiltIn, Scalar};
use crate::kernel::Stage;
use crate::lane::{AluOp, Input, Known, LaneFact, LaneOp, LaneType, Plan, Plans, Refusal, Request, Role, Step, StepOp};
use crate::profile::Profile;
use crate::source::Span;
use rustc_hash::FxHashMap;
use std::borrow::Cow;
use std::iter::Peekable;
use std::sync::Arc;
use std::vec;

/// The steps of the lowering, as [`pass::Watcher`](super::pass::Watcher) sees them.
pub const LANE_FACTS: &str = "lane_facts";
pub const LOWER_LANES: &str = "lower_lanes";
pub const DPP_COMBINE: &str = "dpp_combine";

/// A cross-lane operation to be lowered.
#[derive(Clone, Debug)]
pub struct Operation {
    pub inst: InstId,
    pub request: Request<'static>,
    /// The outermost enclosing loop in which the same lanes run it in every iteration.
    steady: Option<InstId>,
}

/// Lowers all cross-lane operations of a kernel for a profile.
///
/// # Errors
/// Returns an error at each operation that the profile cannot do or that has no lowering yet, and if the profile has no
/// fixed wave size. No operation is lowered then.
pub fn lower_lanes(kernel: &mut Kernel, profile: &Profile) -> Result<(), Vec<Diagnostic>> {
    let operations = operations(kernel, profile);
    let answers = plans_of(kernel, &operations, profile, &Plans::default())?;
    write(kernel, &operations, &answers, profile, &mut Pipeline::default());
    Ok(())
}

/// A kernel's cross-lane operations, in text order; none if the profile has no fixed wave size. Rewrites the kernel in
/// terms of the lane index first.
pub fn operations(kernel: &mut Kernel, profile: &Profile) -> Vec<Operation> {
    let Some(size) = profile.wave_size else { return Vec::new() };
    state_size(kernel, size);
    use_facts(kernel, size);
    let known = Analyses { uniformity: Uniformity::new(kernel, size), rows: LaneRows::new(kernel, size), kernel, size };
    let tree = Tree::new(known.kernel);
    let ask = |inst: InstId| {
        let request = known.request(inst)?;
        Some(Operation { inst, request, steady: known.uniformity.steady_loop(known.kernel, &tree, inst) })
    };
    tree.insts(known.kernel).into_iter().filter_map(ask).collect()
}

/// The plan of each operation.
///
/// # Errors
/// Returns an error at each operation that the profile cannot do or that has no lowering yet, and if the profile has no
/// fixed wave size.
pub fn plans_of(
    kernel: &Kernel,
    operations: &[Operation],
    profile: &Profile,
    plans: &Plans,
) -> Result<Vec<Arc<Plan>>, Vec<Diagnostic>> {
    if profile.wave_size.is_none() {
        let message = format!("the profile {} does not say how many lanes a subgroup has", profile.name);
        return Err(vec![Diagnostic::error(Code::NOT_SUPPORTED, message)]);
    }
    let (mut answers, mut errors) = (Vec::new(), Vec::new());
    for Operation { inst, request, .. } in operations {
        match plans.get(request, profile) {
            Ok(plan) => answers.push(plan),
            Err(refusal) => refuse(&refusal, kernel.insts[*inst].span, &mut errors),
        }
    }
    if errors.is_empty() { Ok(answers) } else { Err(errors) }
}

/// One message for all components of a vector.
fn refuse(refusal: &Refusal, span: Span, errors: &mut Vec<Diagnostic>) {
    let diagnostic = Diagnostic::error(refusal.code(), refusal.message()).at(span, "");
    if errors.last() != Some(&diagnostic) {
        errors.push(diagnostic);
    }
}

/// Replaces each operation by the steps of its plan.
pub fn write(
    kernel: &mut Kernel,
    operations: &[Operation],
    answers: &[Arc<Plan>],
    profile: &Profile,
    pipeline: &mut Pipeline<'_>,
) {
    let operations: Vec<(&Operation, &Plan)> =
        operations.iter().zip(answers).map(|(operation, plan)| (operation, &**plan)).collect();
    let mut lowering = Lowering {
        kernel,
        profile,
        operations: operations.into_iter().peekable(),
        setup: FxHashMap::default(),
        setup_insts: Vec::new(),
        before_loops: Vec::new(),
        names: Names::default(),
        origin: Origin::Code,
        depth: 0,
    };
    let tree = Tree::new(lowering.kernel);
    let nesting = tree.nesting();
    for block in &tree.blocks {
        lowering.depth = nesting.depth(*block);
        lowering.block(*block);
    }
    lowering.put_before_loops(&tree);
    lowering.put_setup();
    pipeline.show(LOWER_LANES, true, kernel);
    pipeline.clean(kernel);
    let changed = dpp_combine::run(kernel, profile);
    pipeline.show(DPP_COMBINE, changed, kernel);
}

/// Replaces subgroup indices by arithmetic on the invocation index, and ballot words without lanes by 0.
fn state_size(kernel: &mut Kernel, size: u32) {
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
                Op::MaskAlu(AluOp::BallotWord) if is_beyond(kernel, inst, size) => {
                    let none = kernel.constant(Ty::B32, 0);
                    names.replace_all(kernel.results(inst), [none]);
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

/// Returns true for a ballot word, by its constant number, without lanes in a wave of `size`.
fn is_beyond(kernel: &Kernel, word: InstId, size: u32) -> bool {
    kernel.as_constant(kernel.args(word)[1]).is_some_and(|at| at >= u64::from(size.div_ceil(u32::BITS)))
}

/// Turns arithmetic that computes the lane index into a fact, and values that are the same known number in all lanes
/// into constants. Built-in values stay, because hardware provides them.
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
        } else if ty == Ty::B32 && !matches!(op, Op::BuiltIn(..)) && rows.is_lane(result) {
            kernel.insts[inst].op = Op::Fact(LaneFact::Index);
            kernel.set_args(inst, &[]);
        }
    }
    join_places(kernel, &rows, &mut names);
    names.apply_all(kernel);
}

/// Replaces the sum of a wave's first invocation index and the lane index by the invocation index, also if another term
/// is added in between.
fn join_places(kernel: &mut Kernel, rows: &LaneRows, names: &mut Names) {
    for inst in Tree::new(kernel).insts(kernel) {
        let (Some(sum), Some(result)) = (summands(kernel, inst), kernel.result(inst)) else { continue };
        let Some(first) = other(sum, |lane| rows.is_lane(lane)) else { continue };
        if let Some(index) = first_of_wave(kernel, rows, first) {
            names.replace(result, index);
            continue;
        }
        let Some(sum) = kernel.definition(first).and_then(|first| summands(kernel, first)) else { continue };
        for [rest, first] in [sum, [sum[1], sum[0]]] {
            if let Some(index) = first_of_wave(kernel, rows, first) {
                kernel.set_args(inst, &[rest, index]);
            }
        }
    }
}

/// Returns the other of two values if one passes a test; the second is tested first.
fn other([a, b]: [Value; 2], test: impl Fn(Value) -> bool) -> Option<Value> {
    if test(b) { Some(a) } else { test(a).then_some(b) }
}

/// The operands of an addition of words.
fn summands(kernel: &Kernel, inst: InstId) -> Option<[Value; 2]> {
    let is_sum = matches!(kernel.insts[inst].op, Op::Bin(BinOp::Add, Scalar::U32 | Scalar::I32));
    is_sum.then(|| [kernel.args(inst)[0], kernel.args(inst)[1]])
}

/// The invocation index, if a value is the index of the wave's first invocation: the wave index times its size.
fn first_of_wave(kernel: &Kernel, rows: &LaneRows, value: Value) -> Option<Value> {
    let product = kernel.definition(value)?;
    let [wave, factor] = *kernel.args(product) else { return None };
    let factor = *rows.of(factor)?.first()?;
    let factor = match kernel.insts[product].op {
        Op::Bin(BinOp::Mul, _) => factor,
        Op::Bin(BinOp::Shl, _) => 1 << (factor % 32),
        _ => return None,
    };
    let quotient = kernel.definition(wave)?;
    let (Op::Bin(BinOp::Shr, Scalar::U32), [index, by]) = (kernel.insts[quotient].op, kernel.args(quotient)) else {
        return None;
    };
    let is_index = matches!(kernel.insts[kernel.definition(*index)?].op, Op::BuiltIn(BuiltIn::LocalInvocationIndex, _));
    let shift = u64::from(rows.size().trailing_zeros());
    (is_index && factor == 1 << shift && kernel.as_constant(*by)? == shift).then_some(*index)
}

/// The facts about a kernel for waves of one size.
struct Analyses<'k> {
    kernel: &'k Kernel,
    uniformity: Uniformity,
    rows: LaneRows,
    size: u32,
}

impl Analyses<'_> {
    /// The request to the planner; `None` for other instructions. It uses the operands that the analyses saw.
    fn request(&self, inst: InstId) -> Option<Request<'static>> {
        let Op::Lane { op, ty } = self.kernel.insts[inst].op else { return None };
        let args = self.kernel.args(inst);
        let scalars = [ty[0], ty[1], Scalar::U32];
        let inputs = args.iter().zip(scalars).map(|(arg, scalar)| self.input(*arg, scalar)).collect();
        let index = args.get(1).and_then(|index| self.index_row(op, *index)).map(Cow::Owned);
        let fragment = self.kernel.stage == Stage::Fragment;
        Some(Request { op, inputs, activity: self.uniformity.activity(inst), index, fragment })
    }

    fn input(&self, value: Value, scalar: Scalar) -> Input {
        let ty = match self.kernel.ty(value) {
            Ty::Mask => LaneType::BALLOT,
            _ => LaneType::scalar(scalar.kind, scalar.width),
        };
        let is_number = matches!(ty, LaneType::U32 | LaneType::I32);
        let known = match self.kernel.as_constant(value) {
            Some(bits) if is_number => Known::Constant(bits as u32),
            _ if self.uniformity.is_uniform(value) => Known::Uniform,
            _ => Known::Varying,
        };
        Input { ty, known }
    }

    /// The significant bits of the second operand in each lane, if it depends only on the lane.
    fn index_row(&self, op: LaneOp, index: Value) -> Option<Vec<u32>> {
        if self.kernel.as_constant(index).is_some() || self.kernel.ty(index) != Ty::B32 {
            return None;
        }
        let signature = op.signature();
        let mask = match signature.role(1)? {
            Role::Index => signature.index_bits(self.size).into(),
            Role::NvWidth => u32::MAX.into(),
            _ => return None,
        };
        let row = self.rows.modulo(index, mask)?;
        Some(row.iter().map(|bits| (bits & mask) as u32).collect())
    }
}

struct Lowering<'k> {
    kernel: &'k mut Kernel,
    profile: &'k Profile,
    /// The remaining operations, with their plans.
    operations: Peekable<vec::IntoIter<(&'k Operation, &'k Plan)>>,
    /// Setup steps with their operands, and the values that they became with their numbers.
    setup: FxHashMap<(StepOp, Vec<Value>), (Value, u32)>,
    setup_insts: Vec<InstId>,
    /// Instructions that go before a loop, with that loop.
    before_loops: Vec<(InstId, Vec<InstId>)>,
    names: Names,
    /// The origin of the next instructions.
    origin: Origin,
    /// Number of constructs around the block that is being lowered.
    depth: usize,
}

impl Lowering<'_> {
    /// Lowers the operations of a block; operations in nested blocks follow.
    fn block(&mut self, block: BlockId) {
        let insts = std::mem::take(&mut self.kernel.blocks[block].insts);
        let mut out = Vec::with_capacity(insts.len());
        for inst in insts {
            self.names.apply(self.kernel, inst);
            match self.operations.next_if(|(operation, _)| operation.inst == inst) {
                Some((operation, plan)) => self.inline(operation, plan, &mut out),
                None => out.push(inst),
            }
        }
        self.kernel.blocks[block].insts = out;
    }

    /// Moves loop-invariant steps before the loop.
    fn put_before_loops(&mut self, tree: &Tree) {
        for (inst, before) in std::mem::take(&mut self.before_loops) {
            let Some(block) = tree.block_of(inst) else { continue };
            let insts = &mut self.kernel.blocks[block].insts;
            if let Some(at) = insts.iter().position(|other| *other == inst) {
                insts.splice(at..at, before);
            }
        }
    }

    /// Inserts the setup at the kernel's start.
    fn put_setup(&mut self) {
        let body = &mut self.kernel.blocks[self.kernel.body].insts;
        body.splice(0..0, std::mem::take(&mut self.setup_insts));
    }
}

/// Key of a setup step: operation and operands.
fn setup_key(step: &Step, args: &[Value]) -> (StepOp, Vec<Value>) {
    (step.op, args.to_vec())
}

#[cfg(test)]
mod tests;
