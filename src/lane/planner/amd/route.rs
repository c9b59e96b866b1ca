//! Routes: compositions of moves and of selects by constant masks that implement a lane map.
//!
//! A route is found by [`super::search`] and written into a plan here.

use crate::lane::plan::{AluOp, Operand};
use crate::lane::planner::build::Builder;
use crate::lane::primitive::{Arg, LaneMap, LdsOp, Move, PermlaneOp, Primitive, Reach, Source};
use crate::lane::value::low_bits;
use crate::profile::{CostClass, Feature, Profile};

/// The source of a lane's value.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Route {
    /// The lane's own value.
    Own,
    /// A move of the result of `of`; lanes that it does not write keep the result of `over`.
    Moved { step: Move, of: Box<Route>, over: Option<Box<Route>> },
    /// A read of the lane that a formula of this lane's number names, through the local data share.
    Gathered { by: LdsOp, lane: Formula },
    /// One of two routes, selected by a set of lanes.
    Select { lanes: u64, yes: Box<Route>, no: Box<Route> },
}

/// The source lane as arithmetic on the lane index.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Formula {
    /// `((i & and) | or) ^ xor`.
    Bits { and: u32, or: u32, xor: u32 },
    /// `i + count` in the low bits given by `mask`; the other bits are unchanged.
    Turned { count: u32, mask: u32 },
}

impl Route {
    /// A single move of the value itself.
    pub fn one(step: Move) -> Route {
        // Both registers of a swap contain the original value.
        let is_swap =
            matches!(step.primitive, Primitive::Permlane(PermlaneOp::SwapFirst { .. } | PermlaneOp::SwapSecond { .. }));
        Route::Moved { step, of: Box::new(Route::Own), over: is_swap.then(|| Box::new(Route::Own)) }
    }

    /// Returns true if some lane gets its value through a lane that is neither the source nor itself, so that the moves
    /// must run in all lanes.
    pub fn passes_through(&self) -> bool {
        match self {
            Route::Own | Route::Gathered { .. } => false,
            Route::Moved { of, over, .. } => {
                **of != Route::Own || over.as_ref().is_some_and(|over| over.passes_through())
            }
            Route::Select { yes, no, .. } => yes.passes_through() || no.passes_through(),
        }
    }

    /// Approximate cost by the weights of a profile, enough to compare routes.
    pub fn score(&self, profile: &Profile) -> u64 {
        let instruction = price(CostClass::AmdAlu, profile).unwrap_or(0);
        match self {
            Route::Own => 0,
            Route::Moved { step, of, over } => {
                let copy = match over.as_deref() {
                    Some(Route::Own) => instruction,
                    // The moved value is also the one that is kept, so it moves in place.
                    Some(over) if *over == **of => 0,
                    Some(over) => over.score(profile),
                    None => 0,
                };
                of.score(profile) + copy + price_of(step.primitive, profile)
            }
            Route::Gathered { by, .. } => price_of((*by).into(), profile),
            Route::Select { yes, no, .. } => yes.score(profile) + no.score(profile) + instruction,
        }
    }

    /// Writes the route of a value into a plan.
    pub fn emit(&self, b: &mut Builder, value: Operand) -> Operand {
        match self {
            Route::Own => value,
            Route::Moved { step, of, over } => {
                let old = over.as_ref().map(|over| over.emit(b, value));
                let moved = of.emit(b, value);
                move_of(b, step, moved, old)
            }
            Route::Gathered { by, lane } => {
                let lane = lane.emit(b);
                let address = b.alu(AluOp::Shl, lane, Operand::Const(2));
                b.prim(*by, &[value, address], b.ty(value))
            }
            Route::Select { lanes, yes, no } => {
                let (yes, no) = (yes.emit(b, value), no.emit(b, value));
                let lanes = b.in_set(*lanes);
                b.select(lanes, yes, no)
            }
        }
    }
}

/// The weight of a class of instructions on a profile, or `None` if it lacks the instruction.
pub fn price(class: CostClass, profile: &Profile) -> Option<u64> {
    let (cost, weights) = (profile.costs.of(class)?, &profile.weights);
    let parts = [
        (u16::from(cost.instructions), weights.instruction),
        (cost.latency, weights.latency),
        (u16::from(cost.lds), weights.lds),
    ];
    Some(parts.into_iter().map(|(count, weight)| u64::from(count) * u64::from(weight)).sum())
}

fn price_of(primitive: Primitive, profile: &Profile) -> u64 {
    primitive.instruction().cost_class().and_then(|class| price(class, profile)).unwrap_or(0)
}

/// A move with the operands that it lists; all its indices are constants.
pub fn move_of(b: &mut Builder, step: &Move, value: Operand, old: Option<Operand>) -> Operand {
    let constant = |arg: &Arg| match arg {
        Arg::Const(index) => Some(Operand::Const(*index)),
        _ => None,
    };
    let indices = step.args.iter().filter_map(constant);
    let args: Vec<Operand> = [Some(value), old].into_iter().flatten().chain(indices).collect();
    b.prim(step.primitive, &args, b.ty(value))
}

impl Formula {
    fn lane(self, i: u32) -> u32 {
        match self {
            Formula::Bits { and, or, xor } => ((i & and) | or) ^ xor,
            Formula::Turned { count, mask } => (i & !mask) | (i.wrapping_add(count) & mask),
        }
    }

    /// A formula for a map in which every lane has a source lane.
    pub fn of(map: &LaneMap) -> Option<Formula> {
        let fits = |formula: &Formula| map.lanes().all(|(i, lane)| formula.lane(i) == lane);
        let bits = map.masks(map.size().ilog2()).map(|(and, or, xor)| Formula::Bits { and, or, xor });
        let (first, lane) = map.moved()?;
        let count = lane.wrapping_sub(first);
        let masks = (1..=map.size().ilog2()).map(|level| (1 << level) - 1);
        let turned = masks.rev().map(|mask| Formula::Turned { count: count & mask, mask });
        bits.into_iter().chain(turned).find(fits)
    }

    fn emit(self, b: &mut Builder) -> Operand {
        let i = b.index();
        match self {
            Formula::Bits { and, or, xor } => {
                let kept = b.alu(AluOp::And, i, Operand::Const(and));
                let set = b.alu(AluOp::Or, kept, Operand::Const(or));
                b.alu(AluOp::Xor, set, Operand::Const(xor))
            }
            Formula::Turned { count, mask } => {
                let sum = b.alu(AluOp::Add, i, Operand::Const(count));
                let low = b.alu(AluOp::And, sum, Operand::Const(mask));
                let high = b.alu(AluOp::And, i, Operand::Const(!mask));
                b.alu(AluOp::Or, low, high)
            }
        }
    }
}

/// A map through the local data share, with an address that is computed once: the crossbar if it reaches, otherwise
/// memory.
pub fn gathered(map: &LaneMap, profile: &Profile) -> Option<Route> {
    let lane = Formula::of(map)?;
    let reach = Reach::of(map.size(), profile.features);
    let near = reach == Reach::Wave || map.lanes().all(|(i, lane)| i / 32 == lane / 32);
    let crossbar = profile.has(Feature::AmdPermute) && near;
    let by = if crossbar { LdsOp::Bpermute { reach, offset: 0, fetch_inactive: false } } else { LdsOp::Bounce };
    Some(Route::Gathered { by, lane })
}

/// Lanes whose requirement in a map a source function meets.
pub fn served(map: &LaneMap, source: impl Fn(u32) -> Source) -> u64 {
    let meets = |i: &u32| map.accepts(*i, source(*i));
    (0..map.size().min(64)).filter(meets).fold(0, |set, i| set | 1 << i) & low_bits(map.size()) as u64
}
