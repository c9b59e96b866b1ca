//! How the structured control flow of a kernel becomes `IF`, `REP` and `BRK`.
//!
//! The target can leave only the innermost `REP` and the program. Most jumps need neither: an early exit is at the end
//! of an arm of an `If`, and if the instructions after that `If` move into its other arm, falling through is the jump.
//! For a jump that cannot fall through, its target becomes a `REP` that runs once and that `BRK` leaves; around
//! cross-lane operations, a flag guards the instructions up to the goal instead: see [`super::converge`].

use crate::kernel::tree::Tree;
use crate::kernel::{BlockId, InstId, Kernel, Op};
use smallvec::SmallVec;

/// The target of a jump.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Goal {
    /// The end of the program.
    Return,
    /// Behind an `If`, a `Scope` or a `Loop`.
    End(InstId),
    /// The continuing block of a `Loop`.
    Next(InstId),
}

/// The destination of the instructions after an `If` in its block.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Rest {
    #[default]
    Behind,
    InThen,
    InElse,
    /// Neither arm reaches its end: they are dropped.
    Nowhere,
}

/// How jumps reach the end of a construct.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Way {
    /// Every jump falls through.
    Fall,
    /// With the `BRK` of a `REP` that runs once.
    Break,
    /// With a flag that guards the instructions in between.
    Guard,
}

/// Nesting depth from which no more instructions are moved into arms, because programs have a nesting limit. In kernels
/// with cross-lane operations it is half of the profile's limit around them.
const NESTING: u32 = 32;

/// The decision about each instruction of control flow, by its number.
#[derive(Debug)]
pub struct Exits {
    rest: Vec<Rest>,
    /// Terminators whose goal is the next instruction.
    falls: Vec<bool>,
    /// Scopes, and bodies of loops, with jumps to their end that do not fall through.
    jumped: Vec<bool>,
    /// Constructs that contain cross-lane operations.
    lanes: Vec<bool>,
    has_lanes: bool,
    /// Constructs inside which instructions are moved into arms.
    nesting: u32,
    /// Loops with a path to their continuing block.
    continues: Vec<bool>,
}

/// Goals reached by continuing after a block.
type Near = SmallVec<[Goal; 4]>;

impl Exits {
    pub fn of(kernel: &Kernel, tree: &Tree, lane_nesting: Option<u32>) -> Exits {
        let count = kernel.insts.len();
        let lanes = tree.holding(kernel, Op::is_cross_lane);
        let has_lanes = lanes.contains(&true);
        let nesting = lane_nesting.filter(|_| has_lanes).map_or(NESTING, |most| most / 2);
        let mut exits = Exits {
            rest: vec![Rest::Behind; count],
            falls: vec![false; count],
            jumped: vec![false; count],
            lanes,
            has_lanes,
            nesting,
            continues: vec![false; count],
        };
        exits.block(kernel, kernel.body, 0, &[Goal::Return], 0);
        exits
    }

    pub fn rest(&self, inst: InstId) -> Rest {
        self.rest[inst.index()]
    }

    pub fn falls(&self, terminator: InstId) -> bool {
        self.falls[terminator.index()]
    }

    /// Returns true if the kernel has cross-lane operations.
    pub fn has_lanes(&self) -> bool {
        self.has_lanes
    }

    /// How jumps reach the end of a scope or of a loop's body.
    pub fn way(&self, inst: InstId) -> Way {
        match (self.jumped[inst.index()], self.lanes[inst.index()]) {
            (false, _) => Way::Fall,
            (true, false) => Way::Break,
            (true, true) => Way::Guard,
        }
    }

    pub fn continues(&self, of: InstId) -> bool {
        self.continues[of.index()]
    }

    /// A block from an instruction on.
    fn block(&mut self, kernel: &Kernel, block: BlockId, from: usize, near: &[Goal], depth: u32) {
        let insts = &kernel.blocks[block].insts;
        for (at, inst) in insts.iter().enumerate().skip(from) {
            let through = through(kernel, &insts[at + 1..], near);
            match kernel.insts[*inst].op {
                Op::If { then, otherwise } => {
                    let nests = depth < self.nesting;
                    let rest = rest(kernel, [then, otherwise], near, nests);
                    self.rest[inst.index()] = rest;
                    let own = with(&through, Goal::End(*inst));
                    let far: Near = near.into();
                    let (first, second) = match rest {
                        Rest::Behind => (&own, &own),
                        Rest::InThen => (&own, &far),
                        Rest::InElse => (&far, &own),
                        Rest::Nowhere => (&far, &far),
                    };
                    self.block(kernel, then, 0, first, depth + 1);
                    self.block(kernel, otherwise, 0, second, depth + 1);
                    if rest != Rest::Behind {
                        if rest != Rest::Nowhere {
                            self.block(kernel, block, at + 1, near, depth + 1);
                        }
                        return;
                    }
                }
                Op::Scope { body } => self.block(kernel, body, 0, &with(&through, Goal::End(*inst)), depth + 1),
                Op::Loop { body, continuing } => self.looped(kernel, *inst, [body, continuing], depth + 1),
                _ => self.terminator(kernel, *inst, near),
            }
        }
    }

    fn looped(&mut self, kernel: &Kernel, inst: InstId, [body, continuing]: [BlockId; 2], depth: u32) {
        // The body's end leads to the continuing block if any path reaches it.
        let continues = reaches(kernel, body, inst);
        self.continues[inst.index()] = continues;
        let goal = if continues { Goal::Next(inst) } else { Goal::End(inst) };
        self.block(kernel, body, 0, &[goal], depth);
        if continues {
            self.block(kernel, continuing, 0, &[], depth);
        }
    }

    fn terminator(&mut self, kernel: &Kernel, inst: InstId, near: &[Goal]) {
        let Some(goal) = goal(kernel, inst) else { return };
        let falls = near.contains(&goal);
        self.falls[inst.index()] = falls;
        if let (Goal::End(of) | Goal::Next(of), false) = (goal, falls) {
            let is_loop = matches!(kernel.insts[of].op, Op::Loop { .. });
            // A loop always has its own `REP`.
            self.jumped[of.index()] |= !is_loop || goal == Goal::Next(of);
        }
    }
}

/// The goal of a terminator that has one. A `Yield` ends its block, and the next instruction always follows.
pub fn goal(kernel: &Kernel, terminator: InstId) -> Option<Goal> {
    match kernel.insts[terminator].op {
        Op::Exit(of) => Some(Goal::End(of)),
        Op::Continue(of) => Some(Goal::Next(of)),
        Op::Return => Some(Goal::Return),
        _ => None,
    }
}

/// The goals that stay adjacent inside an instruction: if only the end of the block follows, and does nothing.
fn through(kernel: &Kernel, behind: &[InstId], near: &[Goal]) -> Near {
    let is_bare = match behind {
        [last] => {
            let passes = matches!(kernel.insts[*last].op, Op::Yield | Op::Unreachable);
            let falls = goal(kernel, *last).is_some_and(|goal| near.contains(&goal));
            (passes || falls) && kernel.args(*last).is_empty()
        }
        _ => false,
    };
    if is_bare { near.into() } else { Near::new() }
}

fn with(near: &[Goal], goal: Goal) -> Near {
    near.iter().copied().chain([goal]).collect()
}

/// The destination of the instructions after an `If`. Moving them is worthwhile, if arms may nest deeper, when the
/// other arm ends with a jump whose goal then comes next.
fn rest(kernel: &Kernel, arms: [BlockId; 2], near: &[Goal], nests: bool) -> Rest {
    let last = |block: BlockId| kernel.blocks[block].insts.last().copied();
    let [then, otherwise] = arms.map(last);
    let completes = |last: Option<InstId>| last.is_none_or(|inst| kernel.insts[inst].op == Op::Yield);
    let pays = |last: Option<InstId>| {
        let jumps_near = last.and_then(|inst| goal(kernel, inst)).is_some_and(|goal| near.contains(&goal));
        let is_dead = last.is_some_and(|inst| kernel.insts[inst].op == Op::Unreachable);
        nests && (jumps_near || is_dead && !near.is_empty())
    };
    match (completes(then), completes(otherwise)) {
        (false, false) => Rest::Nowhere,
        (false, true) if pays(then) => Rest::InElse,
        (true, false) if pays(otherwise) => Rest::InThen,
        _ => Rest::Behind,
    }
}

/// Returns true if a block, or one inside it, continues a loop.
fn reaches(kernel: &Kernel, block: BlockId, of: InstId) -> bool {
    kernel.blocks[block].insts.iter().any(|inst| {
        kernel.insts[*inst].op == Op::Continue(of) || kernel.inner_blocks(*inst).any(|inner| reaches(kernel, inner, of))
    })
}
