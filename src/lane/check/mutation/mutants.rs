//! Small mutations of plans: another instruction, parameter or mask, another operand, swapped arms of a select, a
//! removed step.

use crate::lane::op::{CountOp, InvertibleOp, QuadMove, ReduceOp, ShuffleMode, VoteOp, Width};
use crate::lane::plan::{AluOp, CompareOp, Fork, LaneFact, Operand, Plan, Step, StepOp};
use crate::lane::primitive::{
    Dpp8, Dpp16, DppControl, GroupOp, GroupReduce, LdsOp, NvOp, PermlaneOp, Primitive, Reach, ScalarOp, Swizzle,
};

/// Every plan with one step changed or removed.
pub fn of(plan: &Plan) -> Vec<Plan> {
    let mut all = Vec::new();
    for n in 0..plan.setup.len() {
        let changed = changes(plan.setup[n]).into_iter().chain(other_operands(plan.setup[n], n, Operand::Setup));
        all.extend(changed.map(|step| with(plan, |other| other.setup[n] = step)));
    }
    for n in 0..plan.steps.len() {
        let changed = changes(plan.steps[n]).into_iter().chain(other_operands(plan.steps[n], n, Operand::Step));
        all.extend(changed.map(|step| with(plan, |other| other.steps[n] = step)));
        all.extend(without(plan, n));
    }
    all.extend(earlier_result(plan));
    all.extend(other_modes(plan));
    all.extend(other_ways(plan));
    all.retain(|other| other != plan);
    all
}

fn with(plan: &Plan, change: impl FnOnce(&mut Plan)) -> Plan {
    let mut other = plan.clone();
    change(&mut other);
    other
}

/// The plan in which each reader of step `n` reads that step's first operand of the same type instead.
fn without(plan: &Plan, n: usize) -> Option<Plan> {
    let step = plan.steps[n];
    let same_type = |operand: &&Operand| match **operand {
        Operand::Step(m) => plan.steps[usize::from(m)].ty == step.ty,
        Operand::Input(m) => step.ty == crate::lane::plan::StepType::Like(m),
        _ => false,
    };
    let stand_in = *step.operands().iter().find(same_type)?;
    let left_out = Operand::Step(n as u16);
    let moved = |operand: Operand| if operand == left_out { stand_in } else { operand };
    Some(with(plan, |other| {
        other.steps[n + 1..].iter_mut().for_each(|step| step.args = step.args.map(moved));
        other.result = moved(other.result);
        other.second = other.second.map(moved);
    }))
}

/// The plan whose result is the step before the last.
fn earlier_result(plan: &Plan) -> Option<Plan> {
    match plan.result {
        Operand::Step(n @ 1..) if plan.steps[usize::from(n)].ty == plan.steps[usize::from(n) - 1].ty => {
            Some(with(plan, |other| other.result = Operand::Step(n - 1)))
        }
        _ => None,
    }
}

/// The plan whose whole-wave steps begin or end elsewhere, or do not exist.
fn other_modes(plan: &Plan) -> Vec<Plan> {
    let (start, end) = (plan.whole.start, plan.whole.end);
    if start == end {
        return Vec::new();
    }
    [start + 1..end, start..end - 1, start..start].map(|whole| with(plan, |other| other.whole = whole)).to_vec()
}

/// The plans in which one of two branches begins or ends elsewhere.
fn other_ways(plan: &Plan) -> Vec<Plan> {
    let Some(Fork { accept, reject }) = &plan.fork else { return Vec::new() };
    let (start, middle, end) = (accept.start, accept.end, reject.end);
    let forks = [(start + 1, middle), (start, middle - 1), (start, middle + 1)];
    forks
        .map(|(start, middle)| {
            with(plan, |other| other.fork = Some(Fork { accept: start..middle, reject: middle..end }))
        })
        .to_vec()
}

/// The step with one operand replaced by the previous step, or by the step before that.
fn other_operands(step: Step, n: usize, name: fn(u16) -> Operand) -> Vec<Step> {
    let mut all = Vec::new();
    for (k, arg) in step.operands().iter().enumerate() {
        let others = [n.checked_sub(1), n.checked_sub(2)].into_iter().flatten().map(|m| name(m as u16));
        for other in others.filter(|other| other != arg) {
            let mut args = step.args;
            args[k] = other;
            all.push(Step { args, ..step });
        }
    }
    all
}

/// All mutations of a step itself.
fn changes(step: Step) -> Vec<Step> {
    let mut all: Vec<Step> = operations(step.op).into_iter().map(|op| Step { op, ..step }).collect();
    if step.op == StepOp::Select {
        all.push(Step { args: [step.args[0], step.args[2], step.args[1]], ..step });
    }
    for (n, arg) in step.args.into_iter().enumerate() {
        let others = match arg {
            Operand::Const(value) => [1, 2, 0x100].map(|bit| Operand::Const(value ^ bit)).to_vec(),
            Operand::Bool(value) => vec![Operand::Bool(!value)],
            _ => Vec::new(),
        };
        for other in others {
            let mut args = step.args;
            args[n] = other;
            all.push(Step { args, ..step });
        }
    }
    all
}

/// Operations that are easily confused with this one.
fn operations(op: StepOp) -> Vec<StepOp> {
    match op {
        StepOp::Prim(primitive) => primitives(primitive).into_iter().map(StepOp::Prim).collect(),
        StepOp::CombineMoved(fold, primitive) => {
            let moved = primitives(primitive).into_iter().map(|primitive| StepOp::CombineMoved(fold, primitive));
            moved.chain([StepOp::CombineMoved(other_operator(fold), primitive)]).collect()
        }
        StepOp::Alu(op) => arithmetic(op).into_iter().map(StepOp::Alu).collect(),
        StepOp::Combine(op) => vec![StepOp::Combine(other_operator(op))],
        StepOp::Remove(op) => vec![StepOp::Combine(op.folds()), StepOp::Remove(other_inverse(op))],
        StepOp::Identity(op) => vec![StepOp::Identity(other_operator(op)), StepOp::Zero],
        StepOp::Neutral(op) => vec![StepOp::Neutral(other_operator(op)), StepOp::Zero],
        StepOp::Compare(CompareOp::Lt) => vec![StepOp::Compare(CompareOp::Eq)],
        StepOp::Compare(CompareOp::Eq | CompareOp::Same) => vec![StepOp::Compare(CompareOp::Lt)],
        StepOp::Fact(LaneFact::InSet(set)) => {
            [1, 1 << 16, 2 << 20].map(|lanes| StepOp::Fact(LaneFact::InSet(set ^ lanes))).to_vec()
        }
        StepOp::Fact(LaneFact::Index) => vec![StepOp::Fact(LaneFact::Size)],
        StepOp::Fact(_) | StepOp::Select | StepOp::Zero => Vec::new(),
    }
}

fn other_operator(op: ReduceOp) -> ReduceOp {
    if op == ReduceOp::Min { ReduceOp::Max } else { ReduceOp::Min }
}

fn other_inverse(op: InvertibleOp) -> InvertibleOp {
    match op {
        InvertibleOp::Add => InvertibleOp::Xor,
        InvertibleOp::Xor => InvertibleOp::Add,
    }
}

fn arithmetic(op: AluOp) -> Vec<AluOp> {
    let pairs = [
        (AluOp::Ge, AluOp::Gt),
        (AluOp::Lt, AluOp::Le),
        (AluOp::Eq, AluOp::Ne),
        (AluOp::And, AluOp::Or),
        (AluOp::Shr, AluOp::Shl),
        (AluOp::Add, AluOp::Sub),
        (AluOp::Min, AluOp::Max),
        (AluOp::FindLsb, AluOp::FindMsb),
        (AluOp::BoolAnd, AluOp::BoolOr),
        (AluOp::BoolXor, AluOp::BoolOr),
        (AluOp::BallotAnd, AluOp::BallotOr),
        (AluOp::BallotIsEmpty, AluOp::BallotIsSome),
        (AluOp::Xor, AluOp::Or),
    ];
    pairs.iter().filter_map(|(a, b)| [(a, b), (b, a)].into_iter().find(|(a, _)| **a == op).map(|(_, b)| *b)).collect()
}

fn primitives(primitive: Primitive) -> Vec<Primitive> {
    match primitive {
        Primitive::Group(op) => group(op).into_iter().map(Primitive::Group).collect(),
        Primitive::Nv(op) => nv(op).into_iter().map(Primitive::Nv).collect(),
        Primitive::Dpp16(dpp) => dpp16(dpp).into_iter().map(Primitive::Dpp16).collect(),
        Primitive::Dpp8(dpp) => {
            [1, 1 << 9, 5 << 18].map(|bits| Dpp8 { selectors: dpp.selectors ^ bits, ..dpp }.into()).to_vec()
        }
        Primitive::Lds(op) => lds(op).into_iter().map(Primitive::Lds).collect(),
        Primitive::Permlane(op) => permlane(op).into_iter().map(Primitive::Permlane).collect(),
        Primitive::Scalar(op) => scalar(op).into_iter().map(Primitive::Scalar).collect(),
    }
}

fn group(op: GroupOp) -> Option<GroupOp> {
    use GroupOp as G;
    Some(match op {
        G::Shuffle => G::ShuffleXor,
        G::ShuffleXor | G::ShuffleDown => G::ShuffleUp,
        G::ShuffleUp => G::ShuffleDown,
        G::Broadcast => G::ShuffleDown,
        G::QuadSwap(QuadMove::X) => G::QuadSwap(QuadMove::Y),
        G::QuadSwap(_) => G::QuadSwap(QuadMove::X),
        G::Reduce(op, GroupReduce::Reduce) => G::Reduce(op, GroupReduce::Inclusive),
        G::Reduce(op, GroupReduce::Inclusive) => G::Reduce(op, GroupReduce::Exclusive),
        G::Reduce(op, GroupReduce::Exclusive) => G::Reduce(op, GroupReduce::Inclusive),
        G::Reduce(op, GroupReduce::Clustered(_)) => G::Reduce(op, GroupReduce::Clustered(Width::new(2)?)),
        G::ReduceAmd(op, GroupReduce::Inclusive) => G::ReduceAmd(op, GroupReduce::Exclusive),
        G::ReduceAmd(op, _) => G::ReduceAmd(op, GroupReduce::Inclusive),
        G::Vote(VoteOp::All) => G::Vote(VoteOp::Any),
        G::Vote(_) => G::Vote(VoteOp::All),
        G::BallotBitCount(CountOp::All) => G::BallotBitCount(CountOp::Exclusive),
        G::BallotBitCount(_) => G::BallotBitCount(CountOp::All),
        G::BallotFindMsb => G::BallotFindLsb,
        G::BallotFindLsb => G::BallotFindMsb,
        _ => return None,
    })
}

fn nv(op: NvOp) -> Vec<NvOp> {
    let modes = [ShuffleMode::Index, ShuffleMode::Xor, ShuffleMode::Up, ShuffleMode::Down];
    match op {
        NvOp::Shuffle(_) => modes.map(NvOp::Shuffle).to_vec(),
        NvOp::ShuffleValid(_) => modes.map(NvOp::ShuffleValid).to_vec(),
        NvOp::QuadSwizzle(_) => [QuadMove::X, QuadMove::Y, QuadMove::Lane(3)].map(NvOp::QuadSwizzle).to_vec(),
        NvOp::Vote(_) => [VoteOp::All, VoteOp::Any, VoteOp::Equal].map(NvOp::Vote).to_vec(),
        NvOp::Reduce(op) => vec![NvOp::Reduce(other_operator(op))],
        NvOp::Ballot | NvOp::Match | NvOp::MatchAll | NvOp::Sync => Vec::new(),
    }
}

fn dpp16(dpp: Dpp16) -> Vec<Dpp16> {
    let masks = [
        Dpp16 { row_mask: dpp.row_mask ^ 2, ..dpp },
        Dpp16 { bank_mask: dpp.bank_mask ^ 4, ..dpp },
        Dpp16 { bound_ctrl: !dpp.bound_ctrl, ..dpp },
    ];
    controls(dpp.control).into_iter().map(|control| Dpp16 { control, ..dpp }).chain(masks).collect()
}

fn controls(control: DppControl) -> Vec<DppControl> {
    use DppControl as C;
    match control {
        C::QuadPerm(selectors) => [1, 0x0C, 0x80].map(|bits| C::QuadPerm(selectors ^ bits)).to_vec(),
        C::RowShl(k) => vec![C::RowShr(k), C::RowShl(k % 15 + 1)],
        C::RowShr(k) => vec![C::RowShl(k), C::RowShr(k % 15 + 1), C::RowRor(k)],
        C::RowRor(k) => vec![C::RowRor(k % 15 + 1), C::RowShr(k)],
        C::WaveShl | C::WaveRol => vec![C::WaveShr, C::WaveRor],
        C::WaveShr | C::WaveRor => vec![C::WaveShl, C::WaveRol],
        C::RowMirror => vec![C::RowHalfMirror, C::RowRor(8)],
        C::RowHalfMirror => vec![C::RowMirror, C::RowShl(4)],
        C::RowBcast15 => vec![C::RowBcast31, C::WaveShr],
        C::RowBcast31 => vec![C::RowBcast15],
        C::RowNewBcast(k) => vec![C::RowNewBcast(k ^ 1)],
        C::RowShare(k) => vec![C::RowShare(k ^ 1), C::RowXmask(k)],
        C::RowXmask(k) => vec![C::RowXmask(k ^ 1), C::RowXmask(k ^ 4), C::RowShare(k)],
    }
}

fn lds(op: LdsOp) -> Vec<LdsOp> {
    match op {
        LdsOp::Swizzle(Swizzle::Mask { and, or, xor }) => vec![
            LdsOp::Swizzle(Swizzle::Mask { and: and ^ 1, or, xor }),
            LdsOp::Swizzle(Swizzle::Mask { and, or: or ^ 2, xor }),
            LdsOp::Swizzle(Swizzle::Mask { and, or, xor: xor ^ 4 }),
        ],
        LdsOp::Swizzle(Swizzle::Quad(selectors)) => vec![LdsOp::Swizzle(Swizzle::Quad(selectors ^ 1))],
        LdsOp::Swizzle(Swizzle::Rotate { down, count, keep }) => vec![
            LdsOp::Swizzle(Swizzle::Rotate { down: !down, count, keep }),
            LdsOp::Swizzle(Swizzle::Rotate { down, count: count ^ 1, keep }),
            LdsOp::Swizzle(Swizzle::Rotate { down, count, keep: keep ^ 8 }),
        ],
        LdsOp::Swizzle(Swizzle::Fft { keep }) => vec![LdsOp::Swizzle(Swizzle::Fft { keep: keep ^ 1 })],
        LdsOp::Bpermute { reach, offset, fetch_inactive } => {
            let reaches = [Reach::Wave, Reach::Half].map(|reach| LdsOp::Bpermute { reach, offset, fetch_inactive });
            reaches.into_iter().chain([LdsOp::Bpermute { reach, offset: offset ^ 4, fetch_inactive }]).collect()
        }
        LdsOp::Permute { reach, offset } => vec![LdsOp::Permute { reach, offset: offset ^ 4 }],
        LdsOp::Bounce => Vec::new(),
    }
}

fn permlane(op: PermlaneOp) -> Vec<PermlaneOp> {
    use PermlaneOp as P;
    match op {
        P::Row { across, selectors, fetch } => vec![
            P::Row { across: !across, selectors, fetch },
            P::Row { across, selectors: selectors ^ 0x10, fetch },
            P::Row { across, selectors: selectors ^ 0x8000_0000_0000, fetch },
        ],
        P::RowVar { across, fetch } => vec![P::RowVar { across: !across, fetch }],
        P::SwapFirst { block, fetch } => {
            vec![P::SwapSecond { block, fetch }, P::SwapFirst { block: block ^ 48, fetch }]
        }
        P::SwapSecond { block, fetch } => {
            vec![P::SwapFirst { block, fetch }, P::SwapSecond { block: block ^ 48, fetch }]
        }
        P::Shared { high } => vec![P::Shared { high: !high }],
        P::Half => Vec::new(),
    }
}

fn scalar(op: ScalarOp) -> Option<ScalarOp> {
    use ScalarOp as S;
    Some(match op {
        S::CountBelowLow => S::CountBelowHigh,
        S::CountBelowHigh => S::CountBelowLow,
        S::Ballot => S::BallotFalse,
        S::BallotFalse => S::Ballot,
        _ => return None,
    })
}
