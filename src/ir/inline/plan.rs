//! The size and shape of a function after its own calls are replaced, and of its copies.

use super::Chosen;
use crate::ir::{BlockId, ConstValue, Function, Inst, InstId, Module, Op, Types};
use crate::limits;

/// How calls of a function are replaced.
pub(super) struct Plan {
    /// Its instructions, including inlined calls.
    pub(super) size: usize,
    /// Instructions of a copy.
    copied: usize,
    /// Nesting depth of a copy's blocks, including the block with the call.
    pub(super) depth: usize,
    /// True if its only return is at its end.
    pub(super) is_straight: bool,
    /// True if it can end the invocation.
    pub(super) ends: bool,
    /// The ways out of each of its blocks.
    ways: Vec<Ways>,
}

/// The exits of a block or an instruction.
#[derive(Clone, Copy, Default)]
pub(super) struct Ways {
    /// At its end.
    pub(super) falls: bool,
    /// Leaves by a return from the function.
    pub(super) returns: bool,
}

impl Plan {
    /// `None` if control flow does not allow it. `taken` marks the calls in it that are replaced, as in `chosen`.
    pub(super) fn of(module: &Module, function: &Function, taken: &[bool], chosen: &[Chosen]) -> Option<Plan> {
        let mut walk = Walk {
            function,
            taken,
            chosen,
            size: 0,
            copied: 0,
            ends: false,
            is_straight: true,
            stores: 0,
            ways: Vec::new(),
        };
        walk.ways.resize(function.blocks.len(), Ways::default());
        let seen = walk.block(function.body, true, true)?;
        let Walk { size, copied, ends, is_straight, stores, ways, .. } = walk;
        let is_started = |init| !matches!(module.constants.get(init).value, ConstValue::Undef);
        let starts = function.locals.iter().filter(|(_, local)| local.init.is_some_and(is_started)).count();
        // If there are several returns, or one in a selection, a variable takes their values.
        let result = if is_straight || function.ret == Types::VOID { 0 } else { stores + 1 };
        let plan = Plan { size, copied: copied + starts + result, depth: seen.depth, is_straight, ends, ways };
        (seen.ways.falls || seen.ways.returns).then_some(plan)
    }

    pub(super) fn ways(&self, block: BlockId) -> Ways {
        self.ways[block.index()]
    }
}

/// A block or an instruction of the function.
#[derive(Clone, Copy)]
struct Seen {
    ways: Ways,
    /// Nesting depth of a copy, from its first block.
    depth: usize,
    /// Blocks around the code after the call, which moves into the sides of selections that do not return.
    end: usize,
}

impl Seen {
    const PLAIN: Seen = Seen { ways: Ways { falls: true, returns: false }, depth: 1, end: 1 };
    const NO_WAY: Seen = Seen { ways: Ways { falls: false, returns: false }, ..Seen::PLAIN };
}

struct Walk<'a> {
    function: &'a Function,
    taken: &'a [bool],
    chosen: &'a [Chosen],
    size: usize,
    /// Instructions in every copy, regardless of how its returns are replaced.
    copied: usize,
    ends: bool,
    is_straight: bool,
    /// Returns with a value.
    stores: usize,
    ways: Vec<Ways>,
}

impl Walk<'_> {
    /// Examines a block. `may_return` is true outside loops and switches, `is_live` if a copy contains the block.
    /// Returns `None` for a return that is not allowed.
    fn block(&mut self, block: BlockId, may_return: bool, is_live: bool) -> Option<Seen> {
        let function = self.function;
        let insts = &function.blocks[block].insts;
        limits::spend(insts.len());
        let mut all = Seen::PLAIN;
        for (at, id) in insts.iter().enumerate() {
            let is_live = is_live && all.ways.falls;
            let seen = self.instruction(*id, may_return, is_live)?;
            let is_end = at + 1 == insts.len() && matches!(function.insts[*id].op, Op::Return(_));
            self.is_straight &= !seen.ways.returns || is_end;
            all.ways.returns |= seen.ways.returns;
            if is_live {
                all.depth = all.depth.max(all.end - 1 + seen.depth);
                all.end += seen.end - 1;
            }
            all.ways.falls &= seen.ways.falls;
        }
        self.ways[block.index()] = all.ways;
        Some(all)
    }

    fn instruction(&mut self, id: InstId, may_return: bool, is_live: bool) -> Option<Seen> {
        let inst = &self.function.insts[id];
        if let Op::Call(callee, _) = inst.op
            && self.taken.get(id.index()).is_some_and(|taken| *taken)
            && let Some(plan) = &self.chosen[callee.index()].plan
        {
            self.ends |= plan.ends;
            self.add(plan.copied, if is_live { plan.copied } else { 0 });
            return Some(Seen { depth: plan.depth, ..Seen::PLAIN });
        }
        // A chain without indices is its base.
        let is_copied = match inst.op {
            Op::Return(_) => false,
            Op::Access { indices, .. } => indices.len > 0,
            _ => true,
        };
        self.add(1, usize::from(is_live && is_copied));
        self.own(inst, may_return, is_live)
    }

    fn add(&mut self, size: usize, copied: usize) {
        self.size += size;
        self.copied += copied;
    }

    fn own(&mut self, inst: &Inst, may_return: bool, is_live: bool) -> Option<Seen> {
        Some(match inst.op {
            Op::Return(value) if may_return => {
                self.stores += usize::from(is_live && value.is_some());
                Seen { ways: Ways { falls: false, returns: true }, ..Seen::PLAIN }
            }
            Op::Return(_) => return None,
            Op::If { then, otherwise, .. } => self.selection(inst, [then, otherwise], may_return, is_live)?,
            Op::Loop { .. } | Op::Switch { .. } => {
                let mut seen = Seen::PLAIN;
                for inner in self.function.inner_blocks(inst.op) {
                    seen.depth = seen.depth.max(1 + self.block(inner, false, is_live)?.depth);
                }
                seen
            }
            Op::Break | Op::Continue | Op::Yield(_) => Seen::NO_WAY,
            Op::Discard | Op::End(..) | Op::Unreachable => {
                self.ends = true;
                Seen::NO_WAY
            }
            _ => Seen::PLAIN,
        })
    }

    fn selection(&mut self, inst: &Inst, sides: [BlockId; 2], may_return: bool, is_live: bool) -> Option<Seen> {
        let gives = inst.ty != Types::VOID;
        let [then, otherwise] = sides.map(|side| self.block(side, may_return && !gives, is_live));
        let (then, otherwise) = (then?, otherwise?);
        let returns = then.ways.returns || otherwise.ways.returns;
        if returns && then.ways.falls && otherwise.ways.falls {
            return None;
        }
        let ways = Ways { falls: gives || then.ways.falls || otherwise.ways.falls, returns };
        let end = match (then.ways.falls, otherwise.ways.falls) {
            _ if !returns => 1,
            (true, _) => 1 + then.end,
            (_, true) => 1 + otherwise.end,
            _ => 1,
        };
        Some(Seen { ways, depth: 1 + then.depth.max(otherwise.depth), end })
    }
}
