//! Removes unused steps from a plan, because rules may build more than the result needs.

use crate::lane::plan::{Fork, Operand, Plan, Step, Turns};
use smallvec::{SmallVec, smallvec};

/// The plan without dead steps.
pub fn trim(mut plan: Plan) -> Plan {
    let mut live = Live { setup: smallvec![false; plan.setup.len()], steps: smallvec![false; plan.steps.len()] };
    live.mark(plan.result);
    plan.second.iter().for_each(|operand| live.mark(*operand));
    plan.turns.iter().for_each(|turns| live.mark(turns.done));
    mark_backwards(&plan, &mut live);
    if live.setup.iter().chain(&live.steps).all(|used| *used) {
        return plan;
    }
    let (setup, steps) = (new_places(&live.setup), new_places(&live.steps));
    let moved = |operand: Operand| match operand {
        Operand::Setup(n) => Operand::Setup(setup[n as usize]),
        Operand::Step(n) => Operand::Step(steps[n as usize]),
        other => other,
    };
    plan.whole = place(&steps, plan.whole.start)..place(&steps, plan.whole.end);
    plan.turns = plan.turns.map(|Turns { steps: range, done }| Turns {
        steps: place(&steps, range.start)..place(&steps, range.end),
        done: moved(done),
    });
    plan.fork = plan.fork.map(|Fork { accept, reject }| Fork {
        accept: place(&steps, accept.start)..place(&steps, accept.end),
        reject: place(&steps, reject.start)..place(&steps, reject.end),
    });
    plan.setup = kept(&plan.setup, &live.setup, moved);
    plan.steps = kept(&plan.steps, &live.steps, moved);
    plan.result = moved(plan.result);
    plan.second = plan.second.map(moved);
    plan
}

/// A mark for each step.
type Marks = SmallVec<[bool; 32]>;

/// The used steps.
struct Live {
    setup: Marks,
    steps: Marks,
}

impl Live {
    fn mark(&mut self, operand: Operand) {
        match operand {
            Operand::Setup(n) => self.setup[n as usize] = true,
            Operand::Step(n) => self.steps[n as usize] = true,
            _ => {}
        }
    }
}

/// Operands of used steps are used; steps refer only to earlier ones, so one pass from the end finds all.
fn mark_backwards(plan: &Plan, live: &mut Live) {
    for n in (0..plan.steps.len()).rev() {
        if live.steps[n] {
            plan.steps[n].operands().iter().for_each(|operand| live.mark(*operand));
        }
    }
    for n in (0..plan.setup.len()).rev() {
        if live.setup[n] {
            plan.setup[n].operands().iter().for_each(|operand| live.mark(*operand));
        }
    }
}

/// The new position of the code before step `n`.
fn place(places: &[u16], n: u16) -> u16 {
    places.get(usize::from(n)).copied().unwrap_or(*places.last().unwrap_or(&0))
}

/// For each step the number of used ones before it, then their total.
fn new_places(used: &[bool]) -> Vec<u16> {
    let mut next = 0;
    let mut places: Vec<u16> = Vec::with_capacity(used.len() + 1);
    for used in used {
        places.push(next);
        next += u16::from(*used);
    }
    places.push(next);
    places
}

fn kept(steps: &[Step], used: &[bool], moved: impl Fn(Operand) -> Operand + Copy) -> Vec<Step> {
    let used = steps.iter().zip(used).filter(|(_, used)| **used);
    used.map(|(step, _)| Step { args: step.args.map(moved), ..*step }).collect()
}
