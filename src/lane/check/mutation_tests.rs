//! Changes plans in every way that keeps them programs, and expects the checker to refuse each.

use super::{Effort, check};
use crate::lane::op::{CountOp, FoldKind, FoldOp, Group, LaneOp, Members, QuadMove, ShuffleMode, VoteOp, Width};
use crate::lane::plan::{Activity, AluOp, Operand, Plan, Step, StepOp};
use crate::lane::primitive::{GroupFold, GroupOp, Primitive};
use crate::lane::request::{Input, LaneType, Request};
use crate::lane::{plan, request::Known};
use crate::profile::Profile;

/// An instruction that is easily mistaken for another.
fn confused(op: GroupOp) -> Option<GroupOp> {
    use GroupOp as G;
    Some(match op {
        G::Shuffle => G::ShuffleXor,
        G::ShuffleXor | G::ShuffleDown => G::ShuffleUp,
        G::ShuffleUp => G::ShuffleDown,
        G::Broadcast => G::ShuffleDown,
        G::QuadSwap(QuadMove::X) => G::QuadSwap(QuadMove::Y),
        G::QuadSwap(_) => G::QuadSwap(QuadMove::X),
        G::Fold(op, GroupFold::Reduce) => G::Fold(op, GroupFold::Inclusive),
        G::Fold(op, GroupFold::Inclusive) => G::Fold(op, GroupFold::Exclusive),
        G::Fold(op, GroupFold::Exclusive) => G::Fold(op, GroupFold::Inclusive),
        G::Fold(op, GroupFold::Clustered(_)) => G::Fold(op, GroupFold::Clustered(Width::new(2)?)),
        G::Vote(VoteOp::All) => G::Vote(VoteOp::Any),
        G::Vote(_) => G::Vote(VoteOp::All),
        G::BallotBitCount(CountOp::All) => G::BallotBitCount(CountOp::Exclusive),
        G::BallotBitCount(_) => G::BallotBitCount(CountOp::All),
        G::BallotFindMsb => G::BallotFindLsb,
        G::BallotFindLsb => G::BallotFindMsb,
        _ => return None,
    })
}

/// An arithmetic operation that is easily mistaken for another.
fn confused_alu(op: AluOp) -> Option<AluOp> {
    Some(match op {
        AluOp::Ge => AluOp::Gt,
        AluOp::Lt => AluOp::Le,
        AluOp::Eq => AluOp::Ne,
        AluOp::Ne => AluOp::Eq,
        AluOp::And => AluOp::Or,
        AluOp::Or => AluOp::And,
        AluOp::Shr => AluOp::Shl,
        AluOp::BoolAnd => AluOp::BoolOr,
        AluOp::BoolOr => AluOp::BoolAnd,
        AluOp::BoolXor => AluOp::BoolOr,
        AluOp::BallotAnd => AluOp::BallotOr,
        _ => return None,
    })
}

/// All ways to change one step.
fn mutants(step: Step) -> Vec<Step> {
    let mut all = Vec::new();
    match step.op {
        StepOp::Prim(Primitive::Group(op)) => {
            let other = confused(op).map(|op| Step { op: StepOp::Prim(Primitive::Group(op)), ..step });
            all.extend(other);
        }
        StepOp::Alu(op) => all.extend(confused_alu(op).map(|op| Step { op: StepOp::Alu(op), ..step })),
        StepOp::Fold(FoldOp::Min) => all.push(Step { op: StepOp::Fold(FoldOp::Max), ..step }),
        StepOp::Fold(_) => all.push(Step { op: StepOp::Fold(FoldOp::Min), ..step }),
        StepOp::Select => all.push(Step { args: [step.args[0], step.args[2], step.args[1]], ..step }),
        StepOp::Identity(FoldOp::Min) => all.push(Step { op: StepOp::Identity(FoldOp::Max), ..step }),
        StepOp::Identity(_) => all.push(Step { op: StepOp::Identity(FoldOp::Min), ..step }),
        _ => {}
    }
    for (n, arg) in step.args.into_iter().enumerate() {
        if let Operand::Const(value) = arg {
            let mut args = step.args;
            args[n] = Operand::Const(value ^ 2);
            all.push(Step { args, ..step });
        }
    }
    all
}

/// Every plan with one step changed.
fn changed(plan: &Plan) -> Vec<Plan> {
    let mut all = Vec::new();
    for (n, step) in plan.setup.iter().enumerate() {
        all.extend(mutants(*step).into_iter().map(|step| {
            let mut other = plan.clone();
            other.setup[n] = step;
            other
        }));
    }
    for (n, step) in plan.steps.iter().enumerate() {
        all.extend(mutants(*step).into_iter().map(|step| {
            let mut other = plan.clone();
            other.steps[n] = step;
            other
        }));
    }
    all
}

/// How many changes of the operation's plan there are, and those that the checker accepts.
fn survivors(op: LaneOp, inputs: &[Input], profile: &Profile) -> (usize, Vec<Plan>) {
    let request = Request { op, inputs, activity: Activity::Any, index: None, fragment: false };
    let plan = plan(&request, profile).expect("a plan");
    let changed = changed(&plan);
    let count = changed.len();
    let accepted = changed.into_iter().filter(|plan| check(&request, profile, plan, Effort::Quick).is_ok());
    (count, accepted.collect())
}

/// Changes that make another right plan: the first column of a sort may turn its runs the other way round, and the last
/// step of a tree may read any lane of the other half, which all hold the same.
fn equivalents(op: LaneOp) -> usize {
    usize::from(matches!(op, LaneOp::Sort { .. } | LaneOp::Fold { kind: FoldKind::AllReduce, .. }))
}

#[test]
fn changed_plans_are_refused() {
    let w = |lanes| Width::new(lanes).expect("a width");
    let (float, bool) = (Input::varying(LaneType::F32), Input::varying(LaneType::BOOL));
    let index = Input { ty: LaneType::U32, known: Known::Varying };
    let fold = |op, kind, lanes| LaneOp::Fold { op, kind, width: w(lanes), members: Members::All };
    let cases: Vec<(LaneOp, Vec<Input>)> = vec![
        (LaneOp::Butterfly(w(16)), vec![float]),
        (LaneOp::Quad { mv: QuadMove::Y, float_only: false }, vec![float]),
        (LaneOp::QuadPermute(0x39), vec![float]),
        (LaneOp::Bpermute, vec![float, index]),
        (LaneOp::Permute, vec![float, index]),
        (LaneOp::SwizzleMasked { and: 15, or: 16, xor: 7 }, vec![float]),
        (LaneOp::ShuffleNv(ShuffleMode::Up), vec![float, index, Input::constant(8)]),
        (LaneOp::ShuffleNv(ShuffleMode::Down), vec![float, Input::constant(3), Input::constant(8)]),
        (LaneOp::ShuffleNv(ShuffleMode::Index), vec![float, index, Input::constant(8)]),
        (LaneOp::ShuffleNvValid(ShuffleMode::Up), vec![index, Input::constant(8)]),
        (fold(FoldOp::Add, FoldKind::AllReduce, 8), vec![float]),
        (fold(FoldOp::Mul, FoldKind::Inclusive, 32), vec![float]),
        (fold(FoldOp::Max, FoldKind::Exclusive, 8), vec![float]),
        (LaneOp::Segmented { op: FoldOp::Add, width: w(32) }, vec![float, bool]),
        (LaneOp::Vote { op: VoteOp::Any, group: Group::Quad }, vec![bool]),
        (LaneOp::Vote { op: VoteOp::Equal, group: Group::Quad }, vec![float]),
        (LaneOp::Sort { width: w(4) }, vec![float, index]),
    ];
    let mut count = 0;
    let base = Profile::named("spirv-1.3").expect("built in").with_wave_size(Some(32));
    for profile in [false, true].map(|reproducible| Profile { reproducible, ..base.clone() }) {
        for (op, inputs) in &cases {
            let (changes, accepted) = survivors(*op, inputs, &profile);
            assert!(accepted.len() <= equivalents(*op), "{op:?}: the checker accepts {accepted:?}");
            count += changes;
        }
    }
    println!("{count} changed plans refused");
    assert!(count > 200);
}
