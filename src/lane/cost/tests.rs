//! Costs of known sequences, counted by hand.

use super::{PlanCost, of};
use crate::lane::op::{LaneOp, Members, ReduceKind, ReduceOp, Width};
use crate::lane::plan::{Activity, Operand, Plan, Step, StepOp, StepType};
use crate::lane::planner::candidates;
use crate::lane::primitive::{Dpp16, DppControl, Primitive, ScalarOp};
use crate::lane::request::{Input, LaneType, Request};
use crate::profile::{Feature, Profile};

fn step(op: StepOp, args: [Operand; 3]) -> Step {
    Step { op, args, ty: StepType::DATA }
}

/// The reduction of a wave of 64 lanes by DPP, then the last lane as a scalar.
fn reduction() -> Plan {
    let control = |control| Dpp16::new(control);
    let rows = |control, row_mask| Dpp16 { row_mask, bound_ctrl: false, ..Dpp16::new(control) };
    let chain = [
        control(DppControl::QuadPerm(0xb1)),
        control(DppControl::QuadPerm(0x4e)),
        control(DppControl::RowHalfMirror),
        control(DppControl::RowMirror),
        rows(DppControl::RowBcast15, 0xa),
        rows(DppControl::RowBcast31, 0xc),
    ];
    let value = |n: usize| if n == 0 { Operand::Input(0) } else { Operand::Step(n as u16 - 1) };
    let fused = |(n, dpp): (usize, Dpp16)| {
        step(StepOp::CombineMoved(ReduceOp::Add, dpp.into()), [value(n), value(n), Operand::None])
    };
    let mut steps: Vec<Step> = chain.into_iter().enumerate().map(fused).collect();
    let read = StepOp::Prim(Primitive::Scalar(ScalarOp::ReadLane));
    steps.push(step(read, [value(6), Operand::Const(63), Operand::None]));
    Plan {
        rule: "test",
        setup: Vec::new(),
        steps,
        result: value(7),
        second: None,
        assumes: Activity::Full,
        whole: 0..0,
        turns: None,
        fork: None,
        uniform: true,
        least_size: 64,
    }
}

fn cost(plan: &Plan, profile: &str) -> PlanCost {
    let (width, members) = (Width::SUBGROUP, Members::All);
    let op = LaneOp::Reduce { op: ReduceOp::Add, kind: ReduceKind::AllReduce, width, members };
    let inputs = [Input::varying(LaneType::U32)];
    let request = Request { op, inputs: (&inputs).into(), activity: Activity::Full, index: None, fragment: false };
    of(plan, &request, &Profile::named(profile).expect("a profile"))
}

/// Two wait states before each DPP except the first; CDNA 3 also waits before it reads the lane.
#[test]
fn a_chain_waits_before_each_dpp() {
    let vega = cost(&reduction(), "gfx900");
    assert_eq!((vega.instructions, vega.waits, vega.lds, vega.latency), (7, 10, 0, 7 * 4 + 10 * 4));
    assert_eq!((vega.vectors, vega.scalars, vega.setup), (1, 1, 0));
    assert_eq!(cost(&reduction(), "gfx942").waits, 11);
}

/// Overwriting an operand that is still needed takes a copy, also if it is the operation's operand and a later step
/// reads it.
#[test]
fn what_is_overwritten_and_needed_is_copied() {
    let mut plan = reduction();
    plan.result = Operand::Step(3);
    assert_eq!(cost(&plan, "gfx900").instructions, 8);
    let masked = Dpp16 { row_mask: 1, ..Dpp16::new(DppControl::RowMirror) };
    plan.steps[0].op = StepOp::CombineMoved(ReduceOp::Add, masked.into());
    assert_eq!(cost(&plan, "gfx900").instructions, 8);
    plan.steps[1].args[1] = Operand::Input(0);
    assert_eq!(cost(&plan, "gfx900").instructions, 9);
}

#[test]
fn differences_are_told_by_part() {
    let (vega, cdna) = (cost(&reduction(), "gfx900"), cost(&reduction(), "gfx942"));
    assert_eq!(cdna.beyond(&vega), [("cycles", 4), ("wait states", 1)]);
    assert_eq!(vega.beyond(&cdna), [("cycles", -4), ("wait states", -1)]);
}

/// The own value is taken out by one instruction. AMD's scans copy it first where they begin in its register; a move
/// from the lane below would need a copy of the identity.
#[test]
fn an_exclusive_scan_of_integers_is_an_instruction_and_a_copy_more() {
    for profile in Profile::built_in().iter().filter(|profile| profile.target.is_hardware()) {
        for (op, members) in [(ReduceOp::Add, Members::All), (ReduceOp::Xor, Members::Active)] {
            let instructions = |kind| {
                let inputs = [Input::varying(LaneType::U32)];
                let op = LaneOp::Reduce { op, kind, width: Width::SUBGROUP, members };
                let activity = Activity::FirstLanes;
                let request = Request { op, inputs: (&inputs).into(), activity, index: None, fragment: false };
                candidates(&request, profile).map(|found| found.chosen.cost.instructions)
            };
            let Ok(inclusive) = instructions(ReduceKind::Inclusive) else { continue };
            let more = instructions(ReduceKind::Exclusive).expect("a plan") - inclusive;
            let copies = u32::from(profile.has(Feature::AmdDpp16) && members == Members::All);
            assert!((1..=1 + copies).contains(&more), "{op:?} on {}: {more} more", profile.name);
        }
    }
}
