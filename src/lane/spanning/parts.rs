//! The reading of an exchange: how the parts of a segment become one value, or what comes before an invocation's part.
//!
//! Every invocation reads a few parts itself. Of more parts, the invocations of a part read a share each, and combine
//! the shares with lane operations. If a share were long, each part first combines as many parts as it has lanes to a
//! block, and the blocks are exchanged in turn.

use super::Owner;
use super::draft::Draft;
use super::plan::Given;
use crate::lane::op::{Group, LaneOp, Members, ReduceKind, ReduceOp, ShuffleMode, VoteOp, Width};
use crate::lane::plan::{AluOp, CompareOp, Operand, StepType};
use crate::lane::swap::Swap;

/// The most parts that every invocation reads itself, and the longest share.
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

    /// The value of two neighbouring blocks.
    fn both(self, draft: &mut Draft, low: BlockValue, high: BlockValue) -> BlockValue {
        let both = draft.combine(self.op(), low.value, high.value);
        let Some(above) = high.has_head else { return BlockValue { value: both, has_head: None } };
        let value = draft.select(above, high.value, both);
        BlockValue { value, has_head: low.has_head.map(|below| draft.alu(AluOp::BoolOr, below, above)) }
    }
}

/// What is known of a block: its reduction from its last head, and whether it has one.
#[derive(Clone, Copy)]
pub(super) struct BlockValue {
    pub value: Operand,
    pub has_head: Option<Operand>,
}

impl BlockValue {
    /// The block of another invocation, whose values `of` gives.
    fn moved(self, mut of: impl FnMut(Operand) -> Operand) -> BlockValue {
        BlockValue { value: of(self.value), has_head: self.has_head.map(of) }
    }
}

/// The aligned blocks of `size` invocations after an exchange.
#[derive(Clone, Copy)]
struct Blocks {
    exchange: u8,
    join: Join,
    size: u32,
}

/// The parts of all segments after an exchange, or the blocks that they were combined to.
#[derive(Clone, Copy)]
pub(super) struct Parts {
    blocks: Blocks,
    /// Values of a block.
    columns: usize,
}

/// The shares of a segment's blocks: each of `lanes` invocations reads `each` consecutive ones. Both are powers of two.
#[derive(Clone, Copy)]
struct Shares {
    lanes: u32,
    each: u32,
}

impl Shares {
    fn segment(self) -> Width {
        Width::new(self.lanes).unwrap_or(Width::SUBGROUP)
    }

    /// The first block of the invocation's own share.
    fn start(self, draft: &mut Draft, first: Operand) -> Operand {
        let lane = draft.within(self.lanes);
        let start = draft.alu(AluOp::Shl, lane, Operand::Const(self.each.ilog2()));
        draft.alu(AluOp::Add, first, start)
    }
}

impl Draft {
    /// Returns true in the last part of each segment.
    pub fn in_last_part(&mut self) -> Operand {
        let (own, parts) = (self.own_block(self.part), self.parts());
        let within = match self.width.is_power_of_two() {
            true => self.alu(AluOp::And, own, Operand::Const(parts - 1)),
            false => own,
        };
        self.alu(AluOp::Eq, within, Operand::Const(parts - 1))
    }

    /// The number of the invocation's block of `size` invocations.
    fn own_block(&mut self, size: u32) -> Operand {
        let number = self.number();
        self.alu(AluOp::Shr, number, Operand::Const(size.ilog2()))
    }

    /// The value of a lane of the invocation's share of the subgroup, by its number among `lanes`.
    fn of_lane(&mut self, lanes: u32, value: Operand, number: Operand) -> Operand {
        let lane = self.lane(LaneOp::LaneIndex(Group::Subgroup), &[], StepType::Index);
        let base = self.alu(AluOp::And, lane, Operand::Const(!(lanes - 1)));
        let source = self.alu(AluOp::Add, base, number);
        let ty = self.ty(value);
        self.lane(LaneOp::Shuffle(ShuffleMode::Index), &[value, source], ty)
    }

    /// The reduction of a value of each invocation of a segment within the part.
    fn fold(&mut self, op: ReduceOp, width: Width, value: Operand) -> Operand {
        let ty = self.ty(value);
        let fold = match ty {
            StepType::Bool => {
                let op = if op == ReduceOp::Or { VoteOp::Any } else { VoteOp::All };
                LaneOp::Vote { op, group: Group::Segment(width) }
            }
            _ => LaneOp::Reduce { op, kind: ReduceKind::AllReduce, width, members: Members::All },
        };
        self.lane(fold, &[value], ty)
    }

    /// The inclusive scan of blocks, one of each invocation of a segment within the part.
    fn scan(&mut self, join: Join, width: Width, own: BlockValue) -> Operand {
        let (op, ty) = (join.op(), self.ty(own.value));
        match own.has_head {
            Some(head) => self.lane(LaneOp::Segmented { op, width }, &[own.value, head], ty),
            None => {
                let scan = LaneOp::Reduce { op, kind: ReduceKind::Inclusive, width, members: Members::All };
                self.lane(scan, &[own.value], ty)
            }
        }
    }
}

impl Blocks {
    /// The blocks of a segment.
    fn count(self, draft: &Draft) -> u32 {
        draft.width.div_ceil(self.size)
    }

    fn shares(self, draft: &Draft) -> Option<Shares> {
        let count = self.count(draft).next_power_of_two();
        let lanes = draft.part.min(count);
        (count > FEW && lanes > 1).then_some(Shares { lanes, each: count / lanes })
    }

    /// The first block of the invocation's segment.
    fn first(self, draft: &mut Draft) -> Operand {
        if !draft.width.is_power_of_two() {
            return Operand::Const(0);
        }
        let own = draft.own_block(self.size);
        draft.alu(AluOp::And, own, Operand::Const(!(self.count(draft) - 1)))
    }

    /// A slot that exists, and whether it is the one that was asked for; `None` if it surely is. The last blocks of a
    /// workgroup may not exist.
    fn slot(self, draft: &mut Draft, slot: Operand) -> (Operand, Option<Operand>) {
        let count = self.count(draft);
        if count.is_power_of_two() || matches!(slot, Operand::Const(_)) {
            return (slot, None);
        }
        let exists = draft.alu(AluOp::Lt, slot, Operand::Const(count));
        (draft.select(exists, slot, Operand::Const(0)), Some(exists))
    }

    /// The value of a block, or what `missing` gives if the workgroup has no such block.
    fn read(
        self,
        draft: &mut Draft,
        value: u8,
        slot: Operand,
        missing: impl FnOnce(&mut Draft, StepType) -> Operand,
    ) -> Operand {
        let (slot, exists) = self.slot(draft, slot);
        let found = draft.get(self.exchange, value, slot);
        let Some(exists) = exists else { return found };
        let ty = draft.ty(found);
        let missing = missing(draft, ty);
        draft.select(exists, found, missing)
    }

    /// The balanced tree over `count` blocks from `first` on; with the answer whether it has a head, if that matters.
    fn tree(self, draft: &mut Draft, first: Operand, count: u32, asks_head: bool) -> BlockValue {
        if count == 1 {
            let value = self.read(draft, 0, first, |draft, ty| draft.neutral(self.join.op(), ty));
            let asks_head = asks_head && matches!(self.join, Join::Segmented(_));
            let has_head = asks_head.then(|| self.read(draft, 1, first, |_, _| Operand::Bool(false)));
            return BlockValue { value, has_head };
        }
        let middle = draft.alu(AluOp::Add, first, Operand::Const(count / 2));
        if matches!(middle, Operand::Const(middle) if middle >= self.count(draft)) {
            return self.tree(draft, first, count / 2, asks_head);
        }
        let low = self.tree(draft, first, count / 2, asks_head);
        let high = self.tree(draft, middle, count / 2, true);
        self.join.both(draft, low, high)
    }

    /// True if the blocks of a share are true and have one value in the second column, which `reference` has too.
    fn are_equal(self, draft: &mut Draft, start: Operand, each: u32, reference: Operand) -> Operand {
        let first = self.first(draft);
        let mut all = self.tree(draft, start, each, false).value;
        for block in 0..each {
            let slot = draft.alu(AluOp::Add, start, Operand::Const(block));
            // The reference's own block is equal, unless its values are not even equal to themselves.
            let is_reference = slot == first && draft.part > 1;
            if is_reference || matches!(slot, Operand::Const(slot) if slot >= self.count(draft)) {
                continue;
            }
            let (slot, exists) = self.slot(draft, slot);
            let value = draft.get(self.exchange, 1, slot);
            let mut same = draft.compare(CompareOp::Eq, reference, value);
            if let Some(exists) = exists {
                same = draft.select(exists, same, Operand::Bool(true));
            }
            all = draft.alu(AluOp::BoolAnd, all, same);
        }
        all
    }
}

impl Parts {
    /// Writes each part's values, which its last invocation has, and waits.
    pub fn send(draft: &mut Draft, values: &[Operand], join: Join) -> Parts {
        let size = draft.part;
        let is_last = (size > 1).then(|| {
            let within = draft.within(size);
            draft.alu(AluOp::Eq, within, Operand::Const(size - 1))
        });
        let slot = draft.own_block(size);
        let exchange = draft.exchange(Owner::Block(size), slot, values, is_last);
        Parts { blocks: Blocks { exchange, join, size }, columns: values.len() }
    }

    /// Returns true if an invocation would read many blocks.
    fn is_long(self, draft: &Draft) -> bool {
        self.blocks.shares(draft).is_some_and(|shares| shares.each > FEW)
    }

    /// Blocks of which an invocation reads few.
    pub fn condensed(self, draft: &mut Draft) -> Parts {
        let mut parts = self;
        while parts.is_long(draft) {
            parts = parts.combined(draft);
        }
        parts
    }

    /// Blocks of as many blocks as a part has lanes: the first invocations of each segment read a block each, and combine
    /// those of a part.
    fn combined(self, draft: &mut Draft) -> Parts {
        let (from, lanes, width) = (self.blocks, draft.part, draft.segment());
        let count = from.count(draft).next_power_of_two();
        let within = draft.within(draft.width);
        let (number, first) = (draft.alu(AluOp::And, within, Operand::Const(count - 1)), from.first(draft));
        let slot = draft.alu(AluOp::Add, first, number);
        let values = match from.join {
            Join::Reduce(op) if self.columns == 1 => {
                let own = from.tree(draft, slot, 1, false);
                vec![draft.fold(op, width, own.value)]
            }
            Join::Reduce(op) => {
                let reference = draft.get(from.exchange, 1, first);
                let same = from.are_equal(draft, slot, 1, reference);
                vec![draft.fold(op, width, same), reference]
            }
            Join::Segmented(_) => {
                let own = from.tree(draft, slot, 1, true);
                let value = draft.scan(from.join, width, own);
                let heads = own.has_head.map(|head| draft.fold(ReduceOp::Or, width, head));
                [Some(value), heads].into_iter().flatten().collect()
            }
        };
        let block = draft.alu(AluOp::Shr, within, Operand::Const(lanes.ilog2()));
        let mut blocks = Blocks { size: from.size * lanes, ..from };
        let (first, count) = (blocks.first(draft), blocks.count(draft));
        let slot = draft.alu(AluOp::Add, first, block);
        let lane = draft.within(lanes);
        let is_last = draft.alu(AluOp::Eq, lane, Operand::Const(lanes - 1));
        let exists = draft.alu(AluOp::Lt, block, Operand::Const(count));
        let writes = draft.alu(AluOp::BoolAnd, is_last, exists);
        blocks.exchange = draft.exchange(Owner::Block(blocks.size), slot, &values, Some(writes));
        Parts { blocks, ..self }
    }

    /// The shares, the first block of the invocation's own one, and its blocks.
    fn share(self, draft: &mut Draft) -> (Option<Shares>, Operand, u32) {
        let first = self.blocks.first(draft);
        match self.blocks.shares(draft) {
            Some(shares) => (Some(shares), shares.start(draft, first), shares.each),
            None => (None, first, self.blocks.count(draft).next_power_of_two()),
        }
    }

    /// The reduction of all parts of the segment.
    pub fn reduced(self, draft: &mut Draft) -> Operand {
        let parts = self.condensed(draft);
        let (shares, start, each) = parts.share(draft);
        let own = parts.blocks.tree(draft, start, each, false).value;
        shares.map_or(own, |shares| draft.fold(parts.blocks.join.op(), shares.segment(), own))
    }

    /// True if all parts of the segment are true and the second column has one value.
    pub fn are_equal(self, draft: &mut Draft) -> Operand {
        let parts = self.condensed(draft);
        let (shares, start, each) = parts.share(draft);
        let first = parts.blocks.first(draft);
        let reference = draft.get(parts.blocks.exchange, 1, first);
        let all = parts.blocks.are_equal(draft, start, each, reference);
        shares.map_or(all, |shares| draft.fold(ReduceOp::And, shares.segment(), all))
    }

    /// The value of the invocation after the parts of its segment below its own: for each bit of a block's number, the
    /// blocks that end where the ones so far begin. `is_known` is false where the own value is the identity, which is
    /// not to be added.
    pub fn before(self, draft: &mut Draft, own: BlockValue, is_known: Option<Operand>, given: Given) -> BlockValue {
        let left = draft.parts().next_power_of_two().ilog2();
        let (mut scan, mut parts) = (Before { value: own, is_known, left }, self);
        while parts.is_long(draft) {
            scan.by_reading(draft, parts.blocks, draft.part.ilog2());
            parts = parts.combined(draft);
        }
        let Some(shares) = parts.blocks.shares(draft) else {
            scan.by_reading(draft, parts.blocks, scan.left);
            return scan.value;
        };
        scan.by_reading(draft, parts.blocks, shares.each.ilog2());
        match given.float && given.ordered {
            true => scan.by_blocks(draft, parts.blocks, shares),
            false => scan.by_scan(draft, parts.blocks, shares),
        }
        scan.value
    }
}

/// A scan on its way down to the first part.
struct Before {
    /// The value so far.
    value: BlockValue,
    /// Whether it is more than an identity, if that matters.
    is_known: Option<Operand>,
    /// Bits of the part's number that remain.
    left: u32,
}

impl Before {
    /// Puts a block before the value where a bit of a number is set. `block` is told whether it matters that the block
    /// has a head.
    fn put(
        &mut self,
        draft: &mut Draft,
        join: Join,
        (number, bit): (Operand, u32),
        block: impl FnOnce(&mut Draft, bool) -> BlockValue,
    ) {
        self.left -= 1;
        let goes_on = self.left > 0;
        let masked = draft.alu(AluOp::And, number, Operand::Const(bit));
        let is_above = draft.alu(AluOp::Ne, masked, Operand::Const(0));
        let block = block(draft, goes_on);
        let mut joined = join.both(draft, block, self.value);
        if let Some(known) = self.is_known {
            joined.value = draft.select(known, joined.value, block.value);
            self.is_known = goes_on.then(|| draft.alu(AluOp::BoolOr, known, is_above));
        }
        let has_head = joined.has_head.zip(self.value.has_head);
        self.value = BlockValue {
            value: draft.select(is_above, joined.value, self.value.value),
            has_head: has_head.map(|(joined, own)| draft.select(is_above, joined, own)),
        };
    }

    /// The blocks of the low bits, by reading them.
    fn by_reading(&mut self, draft: &mut Draft, of: Blocks, bits: u32) {
        let own = draft.own_block(of.size);
        for size in (0..bits).map(|bit| 1 << bit) {
            self.put(draft, of.join, (own, size), |draft, asks_head| {
                let first = draft.alu(AluOp::And, own, Operand::Const(!(2 * size - 1)));
                of.tree(draft, first, size, asks_head)
            });
        }
    }

    /// The number of the share that has the own block, and the value of the invocation's own share.
    fn share(&self, draft: &mut Draft, of: Blocks, shares: Shares) -> (Operand, BlockValue) {
        let own = draft.own_block(of.size);
        let share = draft.alu(AluOp::Shr, own, Operand::Const(shares.each.ilog2()));
        let share = draft.alu(AluOp::And, share, Operand::Const(shares.lanes - 1));
        let first = of.first(draft);
        let start = shares.start(draft, first);
        (share, of.tree(draft, start, shares.each, true))
    }

    /// All shares below the own one at once, from a scan of the shares.
    fn by_scan(&mut self, draft: &mut Draft, of: Blocks, shares: Shares) {
        let (share, own) = self.share(draft, of, shares);
        let scanned = draft.scan(of.join, shares.segment(), own);
        let before = draft.alu(AluOp::Sub, share, Operand::Const(1));
        let before = draft.alu(AluOp::And, before, Operand::Const(shares.lanes - 1));
        let value = draft.of_lane(shares.lanes, scanned, before);
        self.left = 1;
        self.put(draft, of.join, (share, !0), |_, _| BlockValue { value, has_head: None });
    }

    /// A block of shares for each bit of the own share's number, in the guaranteed order.
    fn by_blocks(&mut self, draft: &mut Draft, of: Blocks, shares: Shares) {
        let (share, mut tree) = self.share(draft, of, shares);
        for size in (0..shares.lanes.ilog2()).map(|bit| 1 << bit) {
            self.put(draft, of.join, (share, size), |draft, asks_head| {
                let first = draft.alu(AluOp::And, share, Operand::Const(!(2 * size - 1)));
                let asked = BlockValue { has_head: tree.has_head.filter(|_| asks_head), ..tree };
                asked.moved(|value| draft.of_lane(shares.lanes, value, first))
            });
            if self.left > 0
                && let Some(width) = Width::new(2 * size)
            {
                // Only the tree of a block's first lane is read, whose neighbour has the block above.
                let other = tree.moved(|value| {
                    let ty = draft.ty(value);
                    draft.lane(LaneOp::Swap(Swap::Butterfly, width), &[value], ty)
                });
                tree = of.join.both(draft, tree, other);
            }
        }
    }
}
