//! The cost of a program over several subgroups, from the costs of its parts.

use super::{Extent, Way};
use crate::explain::operations::Site;
use crate::ir::spanning::{SizedProgram, Usage};
use crate::lane::spanning::{SpanOp, SpanStep, Spanning};
use crate::lane::{Activity, Input, LaneType, Operand, Plan, PlanCost, Request, Step, StepType, cost, plan};
use crate::profile::Profile;

/// The size and cost of a program.
///
/// # Errors
/// Returns the reason that the profile lacks one of the operations inside the subgroup.
pub fn extent(site: &Site, way: &Way, memory: Option<Usage>, profile: &Profile) -> Result<Extent, String> {
    let SizedProgram { least, below, program, bytes } = &way.sized;
    let request = site.request();
    let mut all = arithmetic(program, &request, profile);
    for inside in way.inside.iter().filter_map(|copies| copies.first()) {
        let PlanCost { instructions, rare, latency, .. } = of_inside(inside, profile)?;
        all.instructions += (instructions + rare) * inside.parts;
        all.latency += latency;
    }
    let words = |is: fn(&SpanStep) -> Option<Operand>| -> u32 {
        let values = program.steps.iter().enumerate().filter_map(|(n, step)| Some((n, is(step)?)));
        values.map(|(n, value)| words(type_of(program, &request, n, value))).sum()
    };
    let writes = words(|step| matches!(step.op, SpanOp::Put(_)).then_some(step.args[1]));
    let reads = words(|step| matches!(step.op, SpanOp::Get(_)).then_some(Operand::None));
    let barriers = program.barriers() as u32 + u32::from(memory.is_some_and(|memory| memory.waits));
    Ok(Extent {
        subgroups: program.width.div_ceil(program.part),
        lanes: program.part,
        from: (*least > profile.least_wave_size()).then_some(*least),
        below: *below,
        is_exact: profile.wave_size == Some(program.part),
        barriers,
        bytes: *bytes,
        instructions: all.instructions + writes + reads + barriers,
        latency: all.latency,
        writes,
        reads,
    })
}

fn of_inside(site: &Site, profile: &Profile) -> Result<PlanCost, String> {
    let request = site.request();
    let plan = plan(&request, profile).map_err(|refusal| refusal.reason())?;
    Ok(cost::of(&plan, &request, profile))
}

/// The type of a value: an operand, or the result of step `n`.
fn type_of(program: &Spanning, request: &Request, n: usize, value: Operand) -> LaneType {
    match value {
        Operand::None => request.ty(program.steps[n].ty),
        Operand::Step(n) => request.ty(program.steps[usize::from(n)].ty),
        Operand::Input(n) => request.input_ty(n),
        Operand::Bool(_) => LaneType::BOOL,
        Operand::Const(_) | Operand::Setup(_) => LaneType::U32,
    }
}

/// Words of a value in memory.
fn words(ty: LaneType) -> u32 {
    u32::from(ty.components) * if ty.width > 32 { 2 } else { 1 }
}

/// The cost of the arithmetic: of a plan of just these steps, in which the other values are operands.
fn arithmetic(program: &Spanning, request: &Request, profile: &Profile) -> PlanCost {
    let known = request.inputs.len() as u8;
    let others = [LaneType::U32, LaneType::BOOL].map(Input::varying);
    let inputs: Vec<Input> = request.inputs.iter().copied().chain(others).collect();
    let mut steps: Vec<Step> = Vec::new();
    let mut values: Vec<Operand> = Vec::new();
    for step in &program.steps {
        let SpanOp::Plain(op) = step.op else {
            values.push(match step.ty {
                StepType::Like(n) => Operand::Input(n),
                StepType::Bool => Operand::Input(known + 1),
                StepType::Index | StepType::Ballot | StepType::None => Operand::Input(known),
            });
            continue;
        };
        let args = step.args.map(|arg| match arg {
            Operand::Step(n) => values[usize::from(n)],
            arg => arg,
        });
        values.push(Operand::Step(steps.len() as u16));
        steps.push(Step { op, args, ty: step.ty });
    }
    let result = match program.result {
        Operand::Step(n) => values[usize::from(n)],
        result => result,
    };
    let plan = Plan {
        rule: "",
        setup: Vec::new(),
        steps,
        result,
        second: None,
        assumes: Activity::Any,
        whole: 0..0,
        turns: None,
        fork: None,
        uniform: false,
        least_size: 1,
    };
    cost::of(&plan, &Request { inputs: inputs.into(), ..request.clone() }, profile)
}
