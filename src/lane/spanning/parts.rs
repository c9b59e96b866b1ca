//! The reading of an exchange: how the parts of a segment become one value, or what comes before an invocation's part.
//!
//! Every invocation reads a few parts itself. Of many parts, the invocations of a part read a share each, and combine
//! the shares with lane operations.

use super::Owner;
use super::draft::Draft;
use super::plan::Given;
use crate::lane::op::{Group, LaneOp, Members, ReduceKind, ReduceOp, ShuffleMode, VoteOp, Width};
use crate::lane::plan::{AluOp, CompareOp, Operand, StepType};
use crate::lane::swap::Swap;

/// Parts that every invocation reads itself.
pub(super) const FEW: u32 = 4;

/// How two neighbouring blocks become one.
#[derive(Clone, Copy)]
pub(super) enum Join {
    Reduce(ReduceOp),
    /// The second column says whether the block has a head; a head ends what comes from below.
    Segmented(ReduceOp),
}

impl Join {
    const fn op(self) -> ReduceOp {
        match self {
            Join::Reduce(op) | Join::Segmented(op) => op,
        }
    }
}

/// What is known of a block: its reduction from its last head, and whether it has one.
#[derive(Clone, Copy)]
pub(super) struct BlockValue {
    pub value: Operand,
    pub has_head: Option<Operand>,
}

/// The parts of all segments after an exchange.
#[derive(Clone, Copy)]
pub(super) struct Parts {
    exchange: u8,
    join: Join,
}

/// The shares of a segment's parts: each of `lanes` invocations reads `each` consecutive parts. Both are powers of two.
#[derive(Clone, Copy)]
struct Shares {
    lanes: u32,
    each: u32,
}

impl Shares {
    fn segment(self) -> Width {
        Width::new(self.lanes).unwrap_or(Width::SUBGROUP)
    }

    /// The first part of the invocation's own share.
    fn start(self, draft: &mut Draft, first: Operand) -> Operand {
        let lane = draft.within(self.lanes);
        let start = draft.alu(AluOp::Shl, lane, Operand::Const(self.each.ilog2()));
        draft.alu(AluOp::Add, first, start)
    }

    /// The reduction of the shares' values.
    fn fold(self, draft: &mut Draft, op: ReduceOp, value: Operand) -> Operand {
        let (ty, width) = (draft.ty(value), self.segment());
        let fold = match ty {
            StepType::Bool => {
                let op = if op == ReduceOp::Or { VoteOp::Any } else { VoteOp::All };
                LaneOp::Vote { op, group: Group::Segment(width) }
            }
            _ => LaneOp::Reduce { op, kind: ReduceKind::AllReduce, width, members: Members::All },
        };
        draft.lane(fold, &[value], ty)
    }
}

impl Draft {
    fn shares(&self) -> Option<Shares> {
        let count = self.parts().next_power_of_two();
        let lanes = self.part.min(count);
        (count > FEW && lanes > 1).then_some(Shares { lanes, each: count / lanes })
    }

    /// The most slots that an invocation reads of an exchange with a slot for each part.
    pub fn reads(&self) -> u32 {
        self.shares().map_or(self.parts(), |shares| shares.each)
    }

    /// Returns true in the last part of each segment.
    pub fn in_last_part(&mut self) -> Operand {
        let (own, parts) = (self.own_part(), self.parts());
        let within = match self.width.is_power_of_two() {
            true => self.alu(AluOp::And, own, Operand::Const(parts - 1)),
            false => own,
        };
        self.alu(AluOp::Eq, within, Operand::Const(parts - 1))
    }

    /// The first part of the invocation's segment.
    fn first_part(&mut self) -> Operand {
        let parts = self.parts();
        if !self.width.is_power_of_two() {
            return Operand::Const(0);
        }
        let own = self.own_part();
        self.alu(AluOp::And, own, Operand::Const(!(parts - 1)))
    }

    /// The value of a lane of the invocation's share of the subgroup, by its number among `lanes`.
    fn of_lane(&mut self, lanes: u32, value: Operand, number: Operand) -> Operand {
        let lane = self.lane(LaneOp::LaneIndex(Group::Subgroup), &[], StepType::Index);
        let base = self.alu(AluOp::And, lane, Operand::Const(!(lanes - 1)));
        let source = self.alu(AluOp::Add, base, number);
        let ty = self.ty(value);
        self.lane(LaneOp::Shuffle(ShuffleMode::Index), &[value, source], ty)
    }
}

impl Parts {
    /// Writes each part's values, which its last invocation has, and waits.
    pub fn send(draft: &mut Draft, values: &[Operand], join: Join) -> Parts {
        let slot = draft.own_part();
        let is_last = (draft.part > 1).then(|| {
            let within = draft.within(draft.part);
            draft.alu(AluOp::Eq, within, Operand::Const(draft.part - 1))
        });
        Parts { exchange: draft.exchange(Owner::Part, slot, values, is_last), join }
    }

    /// A slot that exists, and whether it is the one that was asked for; `None` if it surely is. The last parts of a
    /// workgroup may not exist.
    fn slot(draft: &mut Draft, slot: Operand) -> (Operand, Option<Operand>) {
        let count = draft.parts();
        if count.is_power_of_two() || matches!(slot, Operand::Const(_)) {
            return (slot, None);
        }
        let exists = draft.alu(AluOp::Lt, slot, Operand::Const(count));
        (draft.select(exists, slot, Operand::Const(0)), Some(exists))
    }

    /// A part's value; `missing` if there is no such part.
    fn read(
        self,
        draft: &mut Draft,
        value: u8,
        slot: Operand,
        missing: impl FnOnce(&mut Draft, StepType) -> Operand,
    ) -> Operand {
        let (slot, exists) = Parts::slot(draft, slot);
        let found = draft.get(self.exchange, value, slot);
        let Some(exists) = exists else { return found };
        let ty = draft.ty(found);
        let missing = missing(draft, ty);
        draft.select(exists, found, missing)
    }

    /// The balanced tree over `count` parts from `first` on; with the answer whether it has a head, if that matters.
    fn tree(self, draft: &mut Draft, first: Operand, count: u32, asks_head: bool) -> BlockValue {
        if count == 1 {
            let value = self.read(draft, 0, first, |draft, ty| draft.neutral(self.join.op(), ty));
            let asks_head = asks_head && matches!(self.join, Join::Segmented(_));
            let has_head = asks_head.then(|| self.read(draft, 1, first, |_, _| Operand::Bool(false)));
            return BlockValue { value, has_head };
        }
        let middle = draft.alu(AluOp::Add, first, Operand::Const(count / 2));
        if matches!(middle, Operand::Const(middle) if middle >= draft.parts()) {
            return self.tree(draft, first, count / 2, asks_head);
        }
        let low = self.tree(draft, first, count / 2, asks_head);
        let high = self.tree(draft, middle, count / 2, true);
        self.join(draft, low, high)
    }

    fn join(self, draft: &mut Draft, low: BlockValue, high: BlockValue) -> BlockValue {
        let both = draft.combine(self.join.op(), low.value, high.value);
        let Some(above) = high.has_head else { return BlockValue { value: both, has_head: None } };
        let value = draft.select(above, high.value, both);
        BlockValue { value, has_head: low.has_head.map(|below| draft.alu(AluOp::BoolOr, below, above)) }
    }

    /// The reduction of all parts of the segment.
    pub fn reduced(self, draft: &mut Draft) -> Operand {
        let (first, count) = (draft.first_part(), draft.parts().next_power_of_two());
        let Some(shares) = draft.shares() else { return self.tree(draft, first, count, false).value };
        let start = shares.start(draft, first);
        let own = self.tree(draft, start, shares.each, false).value;
        shares.fold(draft, self.join.op(), own)
    }

    /// True if all parts of the segment are true and the second column has one value.
    pub fn are_equal(self, draft: &mut Draft) -> Operand {
        let (first, count) = (draft.first_part(), draft.parts().next_power_of_two());
        let shares = draft.shares();
        let (start, each) = match shares {
            Some(shares) => (shares.start(draft, first), shares.each),
            None => (first, count),
        };
        let mut all = self.tree(draft, start, each, false).value;
        let reference = draft.get(self.exchange, 1, first);
        for part in 0..each {
            let slot = draft.alu(AluOp::Add, start, Operand::Const(part));
            // The reference's own part is equal, unless its values are not even equal to themselves.
            let is_reference = slot == first && draft.part > 1;
            if is_reference || matches!(slot, Operand::Const(slot) if slot >= draft.parts()) {
                continue;
            }
            let (slot, exists) = Parts::slot(draft, slot);
            let value = draft.get(self.exchange, 1, slot);
            let mut same = draft.compare(CompareOp::Eq, reference, value);
            if let Some(exists) = exists {
                same = draft.select(exists, same, Operand::Bool(true));
            }
            all = draft.alu(AluOp::BoolAnd, all, same);
        }
        shares.map_or(all, |shares| shares.fold(draft, ReduceOp::And, all))
    }

    /// The value of the invocation after the parts of its segment below its own: for each bit of the part's number, the
    /// block of parts that ends where the blocks so far begin. `is_known` is false where the own value is the identity,
    /// which is not to be added.
    pub fn before(self, draft: &mut Draft, own: BlockValue, is_known: Option<Operand>, given: Given) -> BlockValue {
        let has_order = given.float && given.ordered;
        let shares = draft.shares().filter(|_| !has_order || matches!(self.join, Join::Reduce(_)));
        let mut scan = Before { parts: self, value: own, is_known, levels: draft.parts().next_power_of_two().ilog2() };
        let read = shares.map_or(scan.levels, |shares| shares.each.ilog2());
        scan.by_reading(draft, read);
        match shares {
            Some(shares) if has_order => scan.by_blocks(draft, shares),
            Some(shares) => scan.by_scan(draft, shares),
            None => {}
        }
        scan.value
    }
}

/// A scan on its way down to the first part.
struct Before {
    parts: Parts,
    /// The value so far.
    value: BlockValue,
    /// Whether it is more than an identity, if that matters.
    is_known: Option<Operand>,
    /// Bits of a part's number.
    levels: u32,
}

impl Before {
    /// Puts a block before the value where the condition is true. The answer whether it has a head is kept if `goes_on`.
    fn put(&mut self, draft: &mut Draft, block: BlockValue, condition: Operand, goes_on: bool) {
        let mut joined = self.parts.join(draft, block, self.value);
        if let Some(known) = self.is_known {
            joined.value = draft.select(known, joined.value, block.value);
            self.is_known = goes_on.then(|| draft.alu(AluOp::BoolOr, known, condition));
        }
        let has_head = joined.has_head.zip(self.value.has_head);
        self.value = BlockValue {
            value: draft.select(condition, joined.value, self.value.value),
            has_head: has_head.map(|(joined, own)| draft.select(condition, joined, own)),
        };
    }

    /// The blocks of the low bits, by reading their parts.
    fn by_reading(&mut self, draft: &mut Draft, bits: u32) {
        let part = draft.own_part();
        for bit in 0..bits {
            let (size, goes_on) = (1 << bit, bit + 1 < self.levels);
            let masked = draft.alu(AluOp::And, part, Operand::Const(size));
            let is_above = draft.alu(AluOp::Ne, masked, Operand::Const(0));
            let first = draft.alu(AluOp::And, part, Operand::Const(!(2 * size - 1)));
            let block = self.parts.tree(draft, first, size, goes_on);
            self.put(draft, block, is_above, goes_on);
        }
    }

    /// The number of the share that has the own part, and the value of the invocation's own share.
    fn share(&self, draft: &mut Draft, shares: Shares) -> (Operand, BlockValue) {
        let part = draft.own_part();
        let share = draft.alu(AluOp::Shr, part, Operand::Const(shares.each.ilog2()));
        let share = draft.alu(AluOp::And, share, Operand::Const(shares.lanes - 1));
        let first = draft.first_part();
        let start = shares.start(draft, first);
        (share, self.parts.tree(draft, start, shares.each, true))
    }

    /// All shares below the own one at once, from a scan of the shares.
    fn by_scan(&mut self, draft: &mut Draft, shares: Shares) {
        let (share, own) = self.share(draft, shares);
        let (ty, width, op) = (draft.ty(own.value), shares.segment(), self.parts.join.op());
        let scanned = match own.has_head {
            Some(head) => draft.lane(LaneOp::Segmented { op, width }, &[own.value, head], ty),
            None => {
                let scan = LaneOp::Reduce { op, kind: ReduceKind::Inclusive, width, members: Members::All };
                draft.lane(scan, &[own.value], ty)
            }
        };
        let before = draft.alu(AluOp::Sub, share, Operand::Const(1));
        let before = draft.alu(AluOp::And, before, Operand::Const(shares.lanes - 1));
        let value = draft.of_lane(shares.lanes, scanned, before);
        let is_above = draft.alu(AluOp::Ne, share, Operand::Const(0));
        self.put(draft, BlockValue { value, has_head: None }, is_above, false);
    }

    /// A block of shares for each bit of the own share's number, in the guaranteed order.
    fn by_blocks(&mut self, draft: &mut Draft, shares: Shares) {
        let (share, own) = self.share(draft, shares);
        let (mut tree, op) = (own.value, self.parts.join.op());
        let bits = shares.lanes.ilog2();
        for bit in 0..bits {
            let (size, goes_on): (u32, bool) = (1 << bit, bit + 1 < bits);
            let masked = draft.alu(AluOp::And, share, Operand::Const(size));
            let is_above = draft.alu(AluOp::Ne, masked, Operand::Const(0));
            let first = draft.alu(AluOp::And, share, Operand::Const(!(2 * size - 1)));
            let value = draft.of_lane(shares.lanes, tree, first);
            self.put(draft, BlockValue { value, has_head: None }, is_above, goes_on);
            if goes_on && let Some(width) = Width::new(2 * size) {
                let ty = draft.ty(tree);
                let other = draft.lane(LaneOp::Swap(Swap::Butterfly, width), &[tree], ty);
                tree = draft.combine(op, tree, other);
            }
        }
    }
}
