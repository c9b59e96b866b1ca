//! Runs the plan of a cross-lane operation: each step becomes one instruction.
//!
//! The planner decides how an operation is lowered. This module writes each step in SPIR-V, with tables from primitives
//! and lane arithmetic to opcodes (SPIR-V 1.6 section 3.49.21). Setup steps give the same result in the whole function,
//! so they are written once, at its start, and shared by all plans, unless the invocation changes its lane on the way.

use super::function::{Body, FEW};
use super::model::Direction;
use crate::backend::plans::{self, BALLOT, BOOL, INDEX, Shape, Shaped};
use crate::ir::fold::identity;
use crate::ir::{Scalar, ScalarKind, Space, TypeId, Value, Values};
use crate::lane::{
    AluOp, CompareOp, CountOp, GroupOp, GroupReduce, InvertibleOp, LaneFact, LaneOp, MaskOp, Operand, Primitive,
    QuadMove, ReduceOp, Step, StepOp, StepType, VoteOp, Width,
};
use rspirv::spirv::GlslStd450Op as G;
use rspirv::spirv::SpvAmdShaderBallotOp as AmdBallot;
use rspirv::spirv::{BuiltIn, Capability, GroupOperation, MemorySemantics, Op, Scope, StorageClass, Word};
use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};
use std::borrow::Cow;

/// Set-up steps of a function by operation, operands and result type.
pub(super) type Setup = FxHashMap<(StepOp, [Word; 3], Shape), Word>;

/// A step's operand: its id and type, and its number if known.
#[derive(Clone, Copy)]
pub(super) struct Arg {
    pub word: Word,
    pub shape: Shape,
    known: Option<u32>,
}

type Args = SmallVec<[Arg; 8]>;

impl Shaped for Arg {
    fn shape(&self) -> Shape {
        self.shape
    }
}

/// One run of a plan.
type Run<'p> = plans::Run<'p, Arg>;

impl Body<'_, '_> {
    pub fn lane(&mut self, op: LaneOp, args: Values, ty: TypeId) -> Word {
        let f = self.f;
        let values = f.values(args);
        let input = |value: &Value| Some(plans::input(self.m.module, *value, self.shape_of(*value)?));
        let Some(known) = values.iter().map(input).collect::<Option<_>>() else {
            return self.m.internal("a cross-lane operation on a composite");
        };
        let plan = match self.m.options.plan_of(op, known) {
            Ok(plan) => plan,
            Err(refusal) => {
                self.m.fail(refusal.code(), refusal.message());
                return 0;
            }
        };
        let mut run = Run::new(&plan, values.iter().map(|value| self.lane_arg(*value)));
        let mut open = None;
        for step in &plan.setup {
            let result = self.setup_step(step, &run);
            run.setup.push(result);
        }
        for (n, step) in (0..).zip(&plan.steps) {
            let turns = plan.turns.as_ref();
            let label = turns.filter(|turns| turns.steps.start == n).map(|_| self.begin_turns());
            open = label.or(open);
            let result = self.step(step, &run);
            run.steps.push(result);
            if let Some(turns) = turns.filter(|turns| turns.steps.end == n + 1) {
                let done = self.arg(turns.done, &run).word;
                open.take().into_iter().for_each(|labels| self.end_turns(labels, done));
            }
        }
        self.lane_result(&run, ty)
    }

    fn lane_result(&mut self, run: &Run, ty: TypeId) -> Word {
        let first = self.arg(run.plan.result, run).word;
        match run.plan.second {
            None => first,
            Some(second) => {
                let (second, ty) = (self.arg(second, run).word, self.m.value_type(ty));
                self.emit(Op::CompositeConstruct, ty, &[first, second])
            }
        }
    }

    fn lane_arg(&mut self, value: Value) -> Arg {
        let shape = self.shape_of(value).unwrap_or(INDEX);
        Arg { word: self.value(value), shape, known: self.m.module.known_u32(value) }
    }

    fn arg(&mut self, operand: Operand, run: &Run) -> Arg {
        match operand {
            Operand::Input(n) => run.inputs[usize::from(n)],
            Operand::Setup(n) => run.setup[usize::from(n)],
            Operand::Step(n) => run.steps[usize::from(n)],
            Operand::Const(value) => Arg { word: self.m.u32(value), shape: INDEX, known: Some(value) },
            Operand::Bool(value) => Arg { word: self.m.bool(value), shape: BOOL, known: None },
            Operand::None => Arg { word: 0, shape: INDEX, known: None },
        }
    }

    /// A step at the function's start, shared with an equal one.
    fn setup_step(&mut self, step: &Step, run: &Run) -> Arg {
        if self.m.stage.changes_lanes() {
            return self.step(step, run);
        }
        let words = step.args.map(|operand| self.arg(operand, run).word);
        let shape = run.shape(step.ty);
        let key = (step.op, words, shape);
        if let Some(word) = self.lane_setup.get(&key) {
            return Arg { word: *word, shape, known: None };
        }
        std::mem::swap(&mut self.code, &mut self.setup);
        let result = self.step(step, run);
        std::mem::swap(&mut self.code, &mut self.setup);
        self.lane_setup.insert(key, result.word);
        result
    }

    fn step(&mut self, step: &Step, run: &Run) -> Arg {
        let mut args = Args::new();
        for operand in step.operands() {
            args.push(self.arg(*operand, run));
        }
        let shape = run.shape(step.ty);
        let ty = if step.ty == StepType::None { 0 } else { self.m.vector_type(shape.0, shape.1) };
        let word = match step.op {
            StepOp::Prim(Primitive::Group(op)) => self.group(op, ty, &args),
            StepOp::Fact(fact) => self.fact(fact),
            StepOp::Alu(op) => self.alu(op, ty, &args),
            StepOp::Combine(op) => self.fold(op, shape, [args[0].word, args[1].word]),
            StepOp::Remove(op) => self.emit(remove_form(op, shape.0.kind), ty, &[args[0].word, args[1].word]),
            StepOp::Compare(op) => self.compare(op, &args),
            StepOp::Select => self.choose_vector(args[0].word, (args[1].word, args[2].word), shape),
            StepOp::Identity(op) => self.m.splat_constant(shape.0, shape.1, identity(op, shape.0)),
            StepOp::Zero => self.m.splat_constant(shape.0, shape.1, 0),
            StepOp::Prim(_) | StepOp::CombineMoved(..) | StepOp::Neutral(_) => {
                self.m.internal("an instruction that SPIR-V has not")
            }
        };
        Arg { word, shape, known: None }
    }

    /// A built-in input.
    fn fact(&mut self, fact: LaneFact) -> Word {
        let (built_in, (scalar, size)) = match fact {
            LaneFact::Index => (BuiltIn::SubgroupLocalInvocationId, INDEX),
            LaneFact::Size => (BuiltIn::SubgroupSize, INDEX),
            LaneFact::Mask(op) => (mask_built_in(op), BALLOT),
            LaneFact::InSet(_) => return self.m.internal("a set of lanes, which SPIR-V's plans never ask for"),
        };
        let ty = self.m.vector_type(scalar, size);
        let variable = self.m.built_in(built_in, ty);
        debug_assert_eq!(variable.class, StorageClass::Input);
        let mut operands: SmallVec<[Word; FEW]> = smallvec![self.use_variable(variable)];
        let flags = self.m.flags_of_built_in(built_in);
        self.m.memory_operands(&mut operands, Space::Input, flags, None, Direction::Reads);
        self.emit(Op::Load, ty, &operands)
    }

    fn group(&mut self, op: GroupOp, ty: Word, args: &[Arg]) -> Word {
        let early = self.early_instruction(op);
        if let (Some(op), GroupOp::Broadcast | GroupOp::BroadcastFirst) = (early, op) {
            return self.early_move(op, args);
        }
        let kind = args.first().map_or(ScalarKind::Uint, |arg| arg.shape.0.kind);
        let row = early.map_or_else(|| group_instruction(op, kind), GroupInstruction::unscoped);
        if let Some(capability) = row.capability {
            self.m.needs.capability(capability);
        }
        if let GroupOp::ReduceAmd(..) = op {
            self.m.needs.extension(super::AMD_BALLOT);
        }
        if let GroupOp::Sync = op {
            return self.synchronize_subgroup();
        }
        let mut operands: SmallVec<[Word; FEW]> = SmallVec::new();
        if let Some(number) = row.amd {
            operands.extend([self.m.amd_ballot_set(), number as Word]);
        }
        if row.scoped {
            operands.push(self.m.u32(Scope::Subgroup as Word));
        }
        operands.extend(row.operation.map(|operation| operation as Word));
        operands.extend(args.iter().map(|arg| arg.word));
        operands.extend(row.literal.map(|literal| self.m.u32(literal)));
        operands.extend(swizzle_constant(op).map(|parts| self.m.u32_vector(&parts)));
        self.emit(row.op, ty, &operands)
    }

    fn synchronize_subgroup(&mut self) -> Word {
        let scope = self.m.u32(Scope::Subgroup as Word);
        let semantics = self.m.u32(MemorySemantics::RELAXED.bits());
        self.emit_void(Op::ControlBarrier, &[scope, scope, semantics]);
        0
    }

    fn alu(&mut self, op: AluOp, ty: Word, args: &[Arg]) -> Word {
        let words: SmallVec<[Word; FEW]> = args.iter().map(|arg| arg.word).collect();
        match alu_form(op) {
            Alu::Core(op) => self.emit(op, ty, &words),
            Alu::Ext(op) => self.extended(op, ty, &words),
            Alu::Word => match args[1].known {
                Some(index) => self.emit(Op::CompositeExtract, ty, &[words[0], index]),
                None => self.emit(Op::VectorExtractDynamic, ty, &words),
            },
            Alu::FromMask => {
                let (pair, zero) = (self.m.vector_type(Scalar::U32, 2), self.m.u32(0));
                let low = self.emit(Op::Bitcast, pair, &[words[0]]);
                self.emit(Op::CompositeConstruct, ty, &[low, zero, zero])
            }
            Alu::Compared(compare, join) => {
                let (bools, zero) = (self.m.vector_type(Scalar::BOOL, 4), self.m.splat_constant(Scalar::U32, 4, 0));
                let compared = self.emit(compare, bools, &[words[0], zero]);
                self.emit(join, ty, &[compared])
            }
            Alu::Size => {
                let vector = self.m.vector_type(Scalar::U32, 4);
                let counts = self.emit(Op::BitCount, vector, &words);
                let counts = [0, 1, 2, 3].map(|n| self.emit(Op::CompositeExtract, ty, &[counts, n]));
                let [low, high] =
                    [[counts[0], counts[1]], [counts[2], counts[3]]].map(|pair| self.emit(Op::IAdd, ty, &pair));
                self.emit(Op::IAdd, ty, &[low, high])
            }
        }
    }

    fn fold(&mut self, op: ReduceOp, (scalar, size): Shape, words: [Word; 2]) -> Word {
        let ty = self.m.vector_type(scalar, size);
        match combine_form(op, scalar.kind) {
            Alu::Ext(op) => self.extended(op, ty, &words),
            Alu::Core(op) => self.emit(op, ty, &words),
            _ => self.m.internal("a reduction of such values"),
        }
    }

    fn compare(&mut self, op: CompareOp, args: &[Arg]) -> Word {
        let (scalar, size) = args[0].shape;
        let words = [args[0].word, args[1].word];
        let (bools, single) = (self.m.vector_type(Scalar::BOOL, size), self.m.scalar_type(Scalar::BOOL));
        if op == CompareOp::Same && scalar.kind == ScalarKind::Float {
            let bits = Scalar { kind: ScalarKind::Uint, ..scalar };
            let ty = self.m.vector_type(bits, size);
            let bits =
                words.map(|word| Arg { word: self.emit(Op::Bitcast, ty, &[word]), shape: (bits, size), known: None });
            return self.compare(CompareOp::Same, &bits);
        }
        if op == CompareOp::Lt && scalar.is_bool() {
            let not = self.emit(Op::LogicalNot, bools, &words[..1]);
            return self.emit(Op::LogicalAnd, bools, &[not, words[1]]);
        }
        let result = self.emit(compare_op(op, scalar.kind), bools, &words);
        if size == 1 { result } else { self.emit(Op::All, single, &[result]) }
    }
}

/// The SPIR-V form of a primitive: scope (if it has one), group operation, operands, one more constant.
pub(super) struct GroupInstruction {
    pub op: Op,
    pub scoped: bool,
    pub operation: Option<GroupOperation>,
    pub literal: Option<Word>,
    /// The instruction's number if it belongs to SPV_AMD_shader_ballot.
    pub amd: Option<AmdBallot>,
    /// In addition to the opcode's own requirements.
    capability: Option<Capability>,
}

impl GroupInstruction {
    const fn plain(op: Op) -> GroupInstruction {
        GroupInstruction { op, scoped: true, operation: None, literal: None, amd: None, capability: None }
    }

    const fn unscoped(op: Op) -> GroupInstruction {
        GroupInstruction { scoped: false, ..GroupInstruction::plain(op) }
    }

    const fn amd(number: AmdBallot) -> GroupInstruction {
        GroupInstruction { amd: Some(number), ..GroupInstruction::unscoped(Op::ExtInst) }
    }

    const fn with(op: Op, literal: Option<Word>) -> GroupInstruction {
        GroupInstruction { literal, ..GroupInstruction::plain(op) }
    }
}

/// The name of an instruction on values of a kind.
pub(super) fn mnemonic(primitive: Primitive, kind: ScalarKind) -> Option<Cow<'static, str>> {
    let Primitive::Group(op) = primitive else { return None };
    let row = group_instruction(op, kind);
    Some(row.amd.map_or_else(|| format!("Op{:?}", row.op), |set| format!("{set:?}")).into())
}

fn group_instruction(op: GroupOp, kind: ScalarKind) -> GroupInstruction {
    match op {
        GroupOp::Shuffle => GroupInstruction::plain(Op::GroupNonUniformShuffle),
        GroupOp::ShuffleXor => GroupInstruction::plain(Op::GroupNonUniformShuffleXor),
        GroupOp::ShuffleUp => GroupInstruction::plain(Op::GroupNonUniformShuffleUp),
        GroupOp::ShuffleDown => GroupInstruction::plain(Op::GroupNonUniformShuffleDown),
        GroupOp::Rotate(width) => GroupInstruction::with(Op::GroupNonUniformRotateKHR, width.lanes()),
        GroupOp::Broadcast => GroupInstruction::plain(Op::GroupNonUniformBroadcast),
        GroupOp::BroadcastFirst => GroupInstruction::plain(Op::GroupNonUniformBroadcastFirst),
        GroupOp::QuadBroadcast => GroupInstruction::plain(Op::GroupNonUniformQuadBroadcast),
        GroupOp::QuadSwap(mv) => GroupInstruction::with(Op::GroupNonUniformQuadSwap, Some(swap_direction(mv))),
        GroupOp::Reduce(op, reach) => reduction(op, kind, reach),
        GroupOp::PartitionedReduce(op, reach) => partitioned_row(op, kind, reach),
        GroupOp::Partition => GroupInstruction {
            capability: Some(Capability::GroupNonUniformPartitionedEXT),
            ..GroupInstruction::unscoped(Op::GroupNonUniformPartitionEXT)
        },
        GroupOp::SwizzleAmd(_) => GroupInstruction::amd(AmdBallot::SwizzleInvocationsAMD),
        GroupOp::SwizzleMaskedAmd { .. } => GroupInstruction::amd(AmdBallot::SwizzleInvocationsMaskedAMD),
        GroupOp::WriteAmd => GroupInstruction::amd(AmdBallot::WriteInvocationAMD),
        GroupOp::MaskedCountAmd => GroupInstruction::amd(AmdBallot::MbcntAMD),
        GroupOp::ReduceAmd(op, reach) => reduction_amd(op, kind, reach),
        GroupOp::Vote(VoteOp::All) => GroupInstruction::plain(Op::GroupNonUniformAll),
        GroupOp::Vote(VoteOp::Any) => GroupInstruction::plain(Op::GroupNonUniformAny),
        GroupOp::Vote(VoteOp::Equal) => GroupInstruction::plain(Op::GroupNonUniformAllEqual),
        GroupOp::QuadVote(op) => quad_vote_row(op),
        GroupOp::Elect => GroupInstruction::plain(Op::GroupNonUniformElect),
        GroupOp::Ballot => GroupInstruction::plain(Op::GroupNonUniformBallot),
        GroupOp::InverseBallot => GroupInstruction::plain(Op::GroupNonUniformInverseBallot),
        GroupOp::BallotBitExtract => GroupInstruction::plain(Op::GroupNonUniformBallotBitExtract),
        GroupOp::BallotBitCount(count) => GroupInstruction {
            operation: Some(count_operation(count)),
            ..GroupInstruction::plain(Op::GroupNonUniformBallotBitCount)
        },
        GroupOp::BallotFindLsb => GroupInstruction::plain(Op::GroupNonUniformBallotFindLSB),
        GroupOp::BallotFindMsb => GroupInstruction::plain(Op::GroupNonUniformBallotFindMSB),
        GroupOp::Sync => GroupInstruction::plain(Op::ControlBarrier),
    }
}

/// The constant vector after the value of an AMD swizzle: the four lanes, or the three masks.
fn swizzle_constant(op: GroupOp) -> Option<SmallVec<[Word; 4]>> {
    match op {
        GroupOp::SwizzleAmd(mode) => Some((0..4).map(|lane| Word::from(mode >> (2 * lane) & 3)).collect()),
        GroupOp::SwizzleMaskedAmd { and, or, xor } => Some([and, or, xor].map(Word::from).into_iter().collect()),
        _ => None,
    }
}

fn quad_vote_row(op: VoteOp) -> GroupInstruction {
    let op = if op == VoteOp::Any { Op::GroupNonUniformQuadAnyKHR } else { Op::GroupNonUniformQuadAllKHR };
    GroupInstruction { capability: Some(Capability::QuadControlKHR), ..GroupInstruction::unscoped(op) }
}

fn reduction(op: ReduceOp, kind: ScalarKind, reach: GroupReduce) -> GroupInstruction {
    let (operation, literal, capability) = match reach {
        GroupReduce::Reduce => (GroupOperation::Reduce, None, Capability::GroupNonUniformArithmetic),
        GroupReduce::Inclusive => (GroupOperation::InclusiveScan, None, Capability::GroupNonUniformArithmetic),
        GroupReduce::Exclusive => (GroupOperation::ExclusiveScan, None, Capability::GroupNonUniformArithmetic),
        GroupReduce::Clustered(width) => clustered(width),
    };
    let op = reduction_op(op, kind);
    GroupInstruction {
        operation: Some(operation),
        literal,
        capability: Some(capability),
        ..GroupInstruction::plain(op)
    }
}

pub(super) fn reduction_amd(op: ReduceOp, kind: ScalarKind, reach: GroupReduce) -> GroupInstruction {
    let row = GroupInstruction { capability: Some(Capability::Groups), ..reduction(op, kind, reach) };
    let op = match row.op {
        Op::GroupNonUniformFAdd => Op::GroupFAddNonUniformAMD,
        Op::GroupNonUniformIAdd => Op::GroupIAddNonUniformAMD,
        Op::GroupNonUniformFMin => Op::GroupFMinNonUniformAMD,
        Op::GroupNonUniformSMin => Op::GroupSMinNonUniformAMD,
        Op::GroupNonUniformUMin => Op::GroupUMinNonUniformAMD,
        Op::GroupNonUniformFMax => Op::GroupFMaxNonUniformAMD,
        Op::GroupNonUniformSMax => Op::GroupSMaxNonUniformAMD,
        _ => Op::GroupUMaxNonUniformAMD,
    };
    GroupInstruction { op, ..row }
}

fn partitioned_row(op: ReduceOp, kind: ScalarKind, reach: GroupReduce) -> GroupInstruction {
    let operation = match reach {
        GroupReduce::Reduce | GroupReduce::Clustered(_) => GroupOperation::PartitionedReduceEXT,
        GroupReduce::Inclusive => GroupOperation::PartitionedInclusiveScanEXT,
        GroupReduce::Exclusive => GroupOperation::PartitionedExclusiveScanEXT,
    };
    let capability = Some(Capability::GroupNonUniformPartitionedEXT);
    GroupInstruction { operation: Some(operation), capability, ..GroupInstruction::plain(reduction_op(op, kind)) }
}

/// A cluster of unknown size is the whole subgroup.
fn clustered(width: Width) -> (GroupOperation, Option<Word>, Capability) {
    match width.lanes() {
        Some(lanes) => (GroupOperation::ClusteredReduce, Some(lanes), Capability::GroupNonUniformClustered),
        None => (GroupOperation::Reduce, None, Capability::GroupNonUniformArithmetic),
    }
}

pub(super) const fn reduction_op(op: ReduceOp, kind: ScalarKind) -> Op {
    use ScalarKind::{Bool, Float, Sint};
    match (op, kind) {
        (ReduceOp::Add, Float) => Op::GroupNonUniformFAdd,
        (ReduceOp::Add, _) => Op::GroupNonUniformIAdd,
        (ReduceOp::Mul, Float) => Op::GroupNonUniformFMul,
        (ReduceOp::Mul, _) => Op::GroupNonUniformIMul,
        (ReduceOp::Min, Float) => Op::GroupNonUniformFMin,
        (ReduceOp::Min, Sint) => Op::GroupNonUniformSMin,
        (ReduceOp::Min, _) => Op::GroupNonUniformUMin,
        (ReduceOp::Max, Float) => Op::GroupNonUniformFMax,
        (ReduceOp::Max, Sint) => Op::GroupNonUniformSMax,
        (ReduceOp::Max, _) => Op::GroupNonUniformUMax,
        (ReduceOp::And, Bool) => Op::GroupNonUniformLogicalAnd,
        (ReduceOp::And, _) => Op::GroupNonUniformBitwiseAnd,
        (ReduceOp::Or, Bool) => Op::GroupNonUniformLogicalOr,
        (ReduceOp::Or, _) => Op::GroupNonUniformBitwiseOr,
        (ReduceOp::Xor, Bool) => Op::GroupNonUniformLogicalXor,
        (ReduceOp::Xor, _) => Op::GroupNonUniformBitwiseXor,
    }
}

/// Direction of a quad swap (section 3.49.21, OpGroupNonUniformQuadSwap). Plans do not contain `Lane` here.
pub(super) const fn swap_direction(mv: QuadMove) -> Word {
    match mv {
        QuadMove::X | QuadMove::Lane(_) => 0,
        QuadMove::Y => 1,
        QuadMove::Diagonal => 2,
    }
}

pub(super) const fn count_operation(count: CountOp) -> GroupOperation {
    match count {
        CountOp::All => GroupOperation::Reduce,
        CountOp::Inclusive => GroupOperation::InclusiveScan,
        CountOp::Exclusive => GroupOperation::ExclusiveScan,
    }
}

pub(super) const fn mask_built_in(op: MaskOp) -> BuiltIn {
    match op {
        MaskOp::Eq => BuiltIn::SubgroupEqMask,
        MaskOp::Ge => BuiltIn::SubgroupGeMask,
        MaskOp::Gt => BuiltIn::SubgroupGtMask,
        MaskOp::Le => BuiltIn::SubgroupLeMask,
        MaskOp::Lt => BuiltIn::SubgroupLtMask,
    }
}

/// How lane arithmetic is spelt.
enum Alu {
    Core(Op),
    Ext(G),
    Word,
    FromMask,
    /// The words are compared with zero, and the results combined.
    Compared(Op, Op),
    /// The sum of the counts of the words.
    Size,
}

const fn alu_form(op: AluOp) -> Alu {
    Alu::Core(match op {
        AluOp::Min => return Alu::Ext(G::UMin),
        AluOp::Max => return Alu::Ext(G::UMax),
        AluOp::FindLsb => return Alu::Ext(G::FindILsb),
        AluOp::FindMsb => return Alu::Ext(G::FindUMsb),
        AluOp::BallotWord => return Alu::Word,
        AluOp::BallotFromMask => return Alu::FromMask,
        AluOp::BallotIsEmpty => return Alu::Compared(Op::IEqual, Op::All),
        AluOp::BallotIsSome => return Alu::Compared(Op::INotEqual, Op::Any),
        AluOp::BallotSize => return Alu::Size,
        AluOp::Add => Op::IAdd,
        AluOp::Sub => Op::ISub,
        AluOp::Mul => Op::IMul,
        AluOp::And | AluOp::BallotAnd => Op::BitwiseAnd,
        AluOp::Or | AluOp::BallotOr => Op::BitwiseOr,
        AluOp::Xor => Op::BitwiseXor,
        AluOp::Shl => Op::ShiftLeftLogical,
        AluOp::Shr => Op::ShiftRightLogical,
        AluOp::Not | AluOp::BallotNot => Op::Not,
        AluOp::BitCount => Op::BitCount,
        AluOp::Eq => Op::IEqual,
        AluOp::Ne => Op::INotEqual,
        AluOp::Lt => Op::ULessThan,
        AluOp::Le => Op::ULessThanEqual,
        AluOp::Gt => Op::UGreaterThan,
        AluOp::Ge => Op::UGreaterThanEqual,
        AluOp::BoolAnd => Op::LogicalAnd,
        AluOp::BoolOr => Op::LogicalOr,
        AluOp::BoolXor => Op::LogicalNotEqual,
        AluOp::BoolNot => Op::LogicalNot,
    })
}

const fn combine_form(op: ReduceOp, kind: ScalarKind) -> Alu {
    use ScalarKind::{Bool, Float, Sint};
    Alu::Core(match (op, kind) {
        (ReduceOp::Min, Float) => return Alu::Ext(G::FMin),
        (ReduceOp::Min, Sint) => return Alu::Ext(G::SMin),
        (ReduceOp::Min, _) => return Alu::Ext(G::UMin),
        (ReduceOp::Max, Float) => return Alu::Ext(G::FMax),
        (ReduceOp::Max, Sint) => return Alu::Ext(G::SMax),
        (ReduceOp::Max, _) => return Alu::Ext(G::UMax),
        (ReduceOp::Add, Float) => Op::FAdd,
        (ReduceOp::Add, _) => Op::IAdd,
        (ReduceOp::Mul, Float) => Op::FMul,
        (ReduceOp::Mul, _) => Op::IMul,
        (ReduceOp::And, Bool) => Op::LogicalAnd,
        (ReduceOp::And, _) => Op::BitwiseAnd,
        (ReduceOp::Or, Bool) => Op::LogicalOr,
        (ReduceOp::Or, _) => Op::BitwiseOr,
        (ReduceOp::Xor, Bool) => Op::LogicalNotEqual,
        (ReduceOp::Xor, _) => Op::BitwiseXor,
    })
}

const fn remove_form(op: InvertibleOp, kind: ScalarKind) -> Op {
    match (op, kind) {
        (InvertibleOp::Add, _) => Op::ISub,
        (InvertibleOp::Xor, ScalarKind::Bool) => Op::LogicalNotEqual,
        (InvertibleOp::Xor, _) => Op::BitwiseXor,
    }
}

const fn compare_op(op: CompareOp, kind: ScalarKind) -> Op {
    use ScalarKind::{Bool, Encoded, Float, Sint, Uint};
    match (op, kind) {
        (CompareOp::Eq | CompareOp::Same, Bool) => Op::LogicalEqual,
        (CompareOp::Eq | CompareOp::Same, Sint | Uint) | (CompareOp::Same, Float) => Op::IEqual,
        (CompareOp::Eq, Float) => Op::FOrdEqual,
        (CompareOp::Lt, Sint) => Op::SLessThan,
        (CompareOp::Lt, Bool | Uint) => Op::ULessThan,
        (CompareOp::Lt, Float) => Op::FOrdLessThan,
        (_, Encoded(_)) => Op::Nop,
    }
}
