//! The meaning of each operation, lane by lane, directly from its formula: the reference that plans are checked
//! against.
//!
//! This module knows neither primitives nor plans. A poison result means that the operation is undefined in that lane.

use super::op::{CountOp, Group, LaneOp, MaskOp, Members, QuadMove, ReduceKind, ReduceOp, ShuffleMode, VoteOp, Width};
use super::value::{self, Domain, LaneRow, LaneValue, Lanes, low_bits};

/// Results of an operation on the given operands: one row, or two for a sort with values; inactive lanes are poison.
/// `None` if the operands are of the wrong kind, or the operation has no result.
pub fn meaning<D: Domain>(
    domain: &mut D,
    op: LaneOp,
    inputs: &[LaneRow<D::Data>],
    lanes: Lanes,
) -> Option<Vec<LaneRow<D::Data>>> {
    let call = Call { inputs, lanes };
    match op {
        LaneOp::Reduce { op, kind, width, members } => {
            call.reduce(domain, op, kind, width, members).map(|row| vec![row])
        }
        LaneOp::Segmented { op, width } => call.segmented(domain, op, width).map(|row| vec![row]),
        LaneOp::Sort { width } => call.sorted(domain, width),
        _ => {
            let mut row = vec![LaneValue::Poison; lanes.size as usize];
            for i in lanes.iter() {
                row[i as usize] = call.at(domain, op, i)?;
            }
            Some(vec![row])
        }
    }
}

/// Operands of one dynamic instance.
struct Call<'a, T> {
    inputs: &'a [LaneRow<T>],
    lanes: Lanes,
}

impl<T: Copy + PartialEq> Call<'_, T> {
    /// Operand `n` of lane `j`; poison from a lane that is inactive or outside.
    fn read(&self, n: usize, j: u32) -> LaneValue<T> {
        if self.lanes.is_active(j) { self.inputs[n][j as usize] } else { LaneValue::Poison }
    }

    fn index(&self, n: usize, i: u32) -> Option<u32> {
        self.inputs.get(n)?[i as usize].index()
    }

    /// The bits that count of the index that is operand `n`.
    fn counted(&self, op: LaneOp, n: usize, i: u32) -> Option<u32> {
        Some(self.index(n, i)? & op.signature().index_bits(self.lanes.size))
    }

    /// Operand `n` if the active lanes of the segment agree on it.
    fn uniform(&self, n: usize, i: u32, width: u32) -> Option<u32> {
        let own = self.index(n, i)?;
        self.lanes.segment(i, width).all(|j| self.index(n, j) == Some(own)).then_some(own)
    }

    /// The value from a lane, zero if that lane is inactive.
    fn read_or_zero<D: Domain<Data = T>>(&self, domain: &mut D, j: u32) -> LaneValue<T> {
        if self.lanes.is_active(j) { self.read(0, j) } else { value::zero(domain, &self.inputs[0]) }
    }

    /// The operations with a formula for one lane.
    fn at<D: Domain<Data = T>>(&self, domain: &mut D, op: LaneOp, i: u32) -> Option<LaneValue<T>> {
        use LaneOp as O;
        let size = self.lanes.size;
        Some(match op {
            // NVIDIA returns 0 if a lane of the quad is inactive, so the result is undefined there.
            O::Quad { float_only: true, .. } | O::QuadAdd(_) if self.lanes.segment(i, 4).count() < 4 => {
                LaneValue::Poison
            }
            O::Quad { mv, .. } => self.read(0, quad_source(mv, i)),
            O::QuadAdd(mv) => {
                let moved = self.read(0, quad_source(mv, i));
                value::combine(domain, ReduceOp::Add, moved, self.read(1, i))?
            }
            O::QuadPermute(mode) => self.read(0, quad_permuted(mode, i)),
            O::QuadPermuteZero(mode) => self.read_or_zero(domain, quad_permuted(mode, i)),
            O::QuadBroadcast => match self.uniform(1, i, 4) {
                Some(lane) if lane < 4 => self.read(0, (i & !3) | lane),
                _ => LaneValue::Poison,
            },
            O::Swap(swap, width) => self.read(0, i ^ swap.mask(width.lanes_in(size))),
            O::Shuffle(mode) => match shuffle_source(mode, i, self.index(1, i)?) {
                Some(source) => self.read(0, source),
                None => LaneValue::Poison,
            },
            O::Rotate(width) => self.rotated(width.lanes_in(size), i),
            O::Bpermute => self.read(0, self.counted(op, 1, i)?),
            O::Permute => match self.lanes.iter().rev().find(|j| self.counted(op, 1, *j) == Some(i)) {
                Some(sender) => self.read(0, sender),
                None => value::zero(domain, &self.inputs[0]),
            },
            O::ShuffleNv(mode) => self.shuffle_nv(op, mode, i)?,
            O::ShuffleNvValid(mode) => match nv_shuffle(mode, i, self.counted(op, 0, i)?, self.index(1, i)?) {
                Some((_, valid)) => LaneValue::Bool(valid),
                None => LaneValue::Poison,
            },
            O::Broadcast => self.uniform(1, i, size).map_or(LaneValue::Poison, |lane| self.read(0, lane)),
            O::BroadcastFirst => self.read(0, self.lanes.iter().next()?),
            // Here a subgroup is as wide as the workgroup.
            O::BroadcastInWorkgroup => self.uniform(1, i, size).map_or(LaneValue::Poison, |index| self.read(0, index)),
            O::SwizzleMasked { and, or, xor } => {
                let local = ((i & 31 & u32::from(and)) | u32::from(or)) ^ u32::from(xor);
                self.read_or_zero(domain, (i & !31) | local)
            }
            O::WriteLane => self.read(usize::from(self.index(2, i)? == i), i),
            O::Partitioned { op, kind } => self.partitioned(domain, op, kind, i)?,
            O::Partition => value::alike(domain, &self.inputs[0], self.lanes, i),
            O::Vote { op, group } => LaneValue::Bool(self.vote(domain, op, self.group_width(group), i)?),
            _ => self.lane_fact(op, i)?,
        })
    }

    fn rotated(&self, width: u32, i: u32) -> LaneValue<T> {
        let source = |delta: u32| (i & !(width - 1)) + (i.wrapping_add(delta) & (width - 1));
        self.uniform(1, i, self.lanes.size).map_or(LaneValue::Poison, |delta| self.read(0, source(delta)))
    }

    fn shuffle_nv(&self, op: LaneOp, mode: ShuffleMode, i: u32) -> Option<LaneValue<T>> {
        Some(match nv_shuffle(mode, i, self.counted(op, 1, i)?, self.index(2, i)?) {
            Some((source, true)) => self.read(0, source),
            Some((_, false)) => self.read(0, i),
            None => LaneValue::Poison,
        })
    }

    /// Lanes of a group, as the width of aligned segments.
    fn group_width(&self, group: Group) -> u32 {
        match group {
            Group::Subgroup => self.lanes.size,
            Group::Quad => 4,
            Group::Warp => 32,
            Group::Segment(width) => width.lanes_in(self.lanes.size),
        }
    }

    fn vote<D: Domain<Data = T>>(&self, domain: &D, op: VoteOp, width: u32, i: u32) -> Option<bool> {
        let mut members = self.lanes.segment(i, width);
        let first = self.read(0, self.lanes.segment(i, width).next()?);
        match op {
            VoteOp::All => members.try_fold(true, |all, j| Some(all & self.read(0, j).bool()?)),
            VoteOp::Any => members.try_fold(false, |any, j| Some(any | self.read(0, j).bool()?)),
            VoteOp::Equal => members.try_fold(true, |all, j| Some(all & value::equal(domain, first, self.read(0, j))?)),
        }
    }

    /// Ballots, and facts of a lane about itself.
    fn lane_fact(&self, op: LaneOp, i: u32) -> Option<LaneValue<T>> {
        use LaneOp as O;
        let size = self.lanes.size;
        let local = |group| i % self.group_width(group);
        Some(match op {
            O::Elect => LaneValue::Bool(self.lanes.iter().next() == Some(i)),
            O::Ballot(group) => of_group(self.ballot()?, group, i)?,
            O::ActiveMask => of_group(self.lanes.active, Group::Warp, i)?,
            O::LaneIndex(group) => LaneValue::Index(local(group)),
            O::LaneCount(group) => LaneValue::Index(self.group_width(group).min(size)),
            O::SegmentLast(width) => LaneValue::Bool((i + 1).is_multiple_of(width.lanes_in(size))),
            O::LaneMask(op, group) => of_group(mask(op, i, size), group, i)?,
            _ => {
                let ballot = self.inputs.first()?[i as usize].ballot()? & low_bits(size);
                self.read_ballot(op, ballot, i)?
            }
        })
    }

    fn ballot(&self) -> Option<u128> {
        self.lanes.iter().try_fold(0, |bits, j| Some(bits | u128::from(self.read(0, j).bool()?) << j))
    }

    fn read_ballot(&self, op: LaneOp, ballot: u128, i: u32) -> Option<LaneValue<T>> {
        let below = |limit: u32| LaneValue::Index((0..limit).filter(|j| ballot >> j & 1 != 0).count() as u32);
        let mut set = (0..self.lanes.size).filter(|j| ballot >> j & 1 != 0);
        Some(match op {
            LaneOp::InverseBallot => LaneValue::Bool(ballot >> i & 1 != 0),
            LaneOp::BallotBit => match self.index(1, i)? {
                lane if lane < self.lanes.size => LaneValue::Bool(ballot >> lane & 1 != 0),
                _ => LaneValue::Poison,
            },
            LaneOp::BallotCount(CountOp::All) => below(self.lanes.size),
            LaneOp::BallotCount(CountOp::Inclusive) => below(i + 1),
            LaneOp::BallotCount(CountOp::Exclusive) | LaneOp::MaskedCount => below(i),
            LaneOp::BallotFindLsb => set.next().map_or(LaneValue::Poison, LaneValue::Index),
            LaneOp::BallotFindMsb => set.next_back().map_or(LaneValue::Poison, LaneValue::Index),
            _ => return None,
        })
    }

    fn partitioned<D: Domain<Data = T>>(
        &self,
        domain: &mut D,
        op: ReduceOp,
        kind: ReduceKind,
        i: u32,
    ) -> Option<LaneValue<T>> {
        let members = self.inputs.get(1)?[i as usize].ballot()? & self.lanes.active;
        let agrees = |j: u32| Some(self.inputs[1][j as usize].ballot()? & self.lanes.active == members);
        let mut others = self.lanes.iter().filter(|j| members >> j & 1 != 0);
        if members >> i & 1 == 0 || !others.try_fold(true, |all, j| Some(all & agrees(j)?))? {
            return Some(LaneValue::Poison);
        }
        let lanes = self.lanes.iter().filter(|j| members >> j & 1 != 0 && reaches(kind, *j, i));
        let values: Vec<_> = lanes.map(|j| self.read(0, j)).collect();
        value::combine_unordered(domain, op, &values, &self.inputs[0])
    }
}

/// Reductions and scans.
impl<T: Copy + PartialEq> Call<'_, T> {
    fn reduce<D: Domain<Data = T>>(
        &self,
        domain: &mut D,
        op: ReduceOp,
        kind: ReduceKind,
        width: Width,
        members: Members,
    ) -> Option<LaneRow<T>> {
        let (width, size) = (self.width(width), self.lanes.size);
        // A float reduction under a partial mask has no fixed order.
        if members == Members::Active && !self.lanes.is_full() {
            return self.reduce_active(domain, op, kind, width);
        }
        match kind {
            ReduceKind::Inclusive => self.scan(domain, op, width, |i| i & !(width - 1)),
            ReduceKind::Exclusive => {
                let inclusive = self.scan(domain, op, width, |i| i & !(width - 1))?;
                let identity = value::identity(domain, op, &self.inputs[0]);
                Some(self.map(|i| if i & (width - 1) == 0 { identity } else { inclusive[i as usize - 1] }))
            }
            ReduceKind::Reduce => self.reduced(domain, op, width, |i| (i + 1) & (width - 1) == 0 || i + 1 == size),
            ReduceKind::ReduceLow => self.reduced(domain, op, width, |i| i & (width - 1) == 0),
            ReduceKind::AllReduce => self.reduced(domain, op, width, |_| true),
        }
    }

    /// The lanes of a segment, as a power of two: the last one may lack some.
    fn width(&self, width: Width) -> u32 {
        width.lanes_in(self.lanes.size).next_power_of_two()
    }

    fn map(&self, f: impl Fn(u32) -> LaneValue<T>) -> LaneRow<T> {
        (0..self.lanes.size).map(|i| if self.lanes.is_active(i) { f(i) } else { LaneValue::Poison }).collect()
    }

    fn reduce_active<D: Domain<Data = T>>(
        &self,
        domain: &mut D,
        op: ReduceOp,
        kind: ReduceKind,
        width: u32,
    ) -> Option<LaneRow<T>> {
        let mut row = vec![LaneValue::Poison; self.lanes.size as usize];
        let mut left = self.lanes.iter();
        while let Some(first) = left.next() {
            let members = self.lanes.segment(first, width);
            left.low &= !members.low;
            let mut seen: Vec<LaneValue<T>> = Vec::new();
            for i in members.clone() {
                seen.push(self.read(0, i));
                let count = seen.len() - usize::from(kind == ReduceKind::Exclusive);
                if kind.is_scan() {
                    row[i as usize] = value::combine_unordered(domain, op, &seen[..count], &self.inputs[0])?;
                }
            }
            if !kind.is_scan() {
                let whole = value::combine_unordered(domain, op, &seen, &self.inputs[0])?;
                members.for_each(|i| row[i as usize] = whole);
            }
        }
        Some(row)
    }

    fn reduced<D: Domain<Data = T>>(
        &self,
        domain: &mut D,
        op: ReduceOp,
        width: u32,
        holds: impl Fn(u32) -> bool,
    ) -> Option<LaneRow<T>> {
        let bases = (0..self.lanes.size).step_by(width as usize);
        let trees: Vec<_> = bases.map(|base| self.tree(domain, op, base, width)).collect::<Option<_>>()?;
        Some(self.map(|i| if holds(i) { trees[(i / width) as usize] } else { LaneValue::Poison }))
    }

    /// The balanced tree over `count` lanes from `base`, as far as there are lanes: `((0·1)·(2·3))·((4·5)·(6·7))`.
    fn tree<D: Domain<Data = T>>(&self, domain: &mut D, op: ReduceOp, base: u32, count: u32) -> Option<LaneValue<T>> {
        if count == 1 {
            return Some(self.read(0, base));
        }
        let half = count / 2;
        let low = self.tree(domain, op, base, half)?;
        if base + half >= self.lanes.size {
            return Some(low);
        }
        let high = self.tree(domain, op, base + half, half)?;
        value::combine(domain, op, low, high)
    }

    /// The inclusive scan in the guaranteed order, from lane `start(i)` to `i`: Hillis-Steele within each aligned 16
    /// lanes, then for distances 16, 32, 64 the last lane of the block below.
    fn scan<D: Domain<Data = T>>(
        &self,
        domain: &mut D,
        op: ReduceOp,
        width: u32,
        start: impl Fn(u32) -> u32,
    ) -> Option<LaneRow<T>> {
        let mut x: LaneRow<T> = self.map(|i| self.read(0, i));
        let row = width.min(16);
        let distances = (0..width.ilog2()).map(|level| 1 << level);
        for d in distances {
            let source = |i: u32| match d {
                ..16 => (i % row >= d).then(|| i - d),
                _ => (i & d != 0).then(|| (i & !(2 * d - 1)) + d - 1),
            };
            let mut next = x.clone();
            for i in self.lanes.iter() {
                if let Some(from) = source(i).filter(|from| *from >= start(i)) {
                    next[i as usize] = value::combine(domain, op, x[from as usize], x[i as usize])?;
                }
            }
            x = next;
        }
        Some(x)
    }

    fn segmented<D: Domain<Data = T>>(&self, domain: &mut D, op: ReduceOp, width: Width) -> Option<LaneRow<T>> {
        let width = self.width(width);
        let base = |i: u32| i & !(width - 1);
        let is_head = |j: u32| self.read(1, j) == LaneValue::Bool(true);
        let head = |i: u32| (base(i)..=i).rev().find(|j| is_head(*j)).unwrap_or(base(i));
        let row = self.scan(domain, op, width, head)?;
        let defined = |i: u32| (base(i)..=i).all(|j| self.lanes.is_active(j));
        Some(self.map(|i| if defined(i) { row[i as usize] } else { LaneValue::Poison }))
    }

    fn sorted<D: Domain<Data = T>>(&self, domain: &D, width: Width) -> Option<Vec<LaneRow<T>>> {
        let width = width.lanes_in(self.lanes.size);
        let mut rows = vec![vec![LaneValue::Poison; self.lanes.size as usize]; self.inputs.len()];
        for base in (0..self.lanes.size).step_by(width as usize) {
            let width = width.min(self.lanes.size);
            if self.lanes.segment(base, width).count() == width as usize {
                let order = self.order(domain, base, width)?;
                for (place, from) in order.iter().enumerate() {
                    for (n, row) in rows.iter_mut().enumerate() {
                        row[base as usize + place] = self.read(n, *from);
                    }
                }
            }
        }
        Some(rows)
    }

    /// The segment's lanes in the order of their pairs, by insertion.
    fn order<D: Domain<Data = T>>(&self, domain: &D, base: u32, width: u32) -> Option<Vec<u32>> {
        let mut order: Vec<u32> = Vec::with_capacity(width as usize);
        for lane in base..base + width {
            let mut place = order.len();
            while place > 0 && self.precedes(domain, lane, order[place - 1])? {
                place -= 1;
            }
            order.insert(place, lane);
        }
        Some(order)
    }

    /// Returns true if lane `a`'s pair comes strictly before lane `c`'s.
    fn precedes<D: Domain<Data = T>>(&self, domain: &D, a: u32, c: u32) -> Option<bool> {
        for n in 0..self.inputs.len() {
            let (mine, theirs) = (self.read(n, a), self.read(n, c));
            if value::less(domain, mine, theirs)? || !value::equal(domain, mine, theirs)? {
                return value::less(domain, mine, theirs);
            }
        }
        Some(false)
    }
}

/// Returns true if a reduction of this kind includes lane `j` in the result of lane `i`.
fn reaches(kind: ReduceKind, j: u32, i: u32) -> bool {
    match kind {
        ReduceKind::Reduce | ReduceKind::ReduceLow | ReduceKind::AllReduce => true,
        ReduceKind::Inclusive => j <= i,
        ReduceKind::Exclusive => j < i,
    }
}

fn quad_source(mv: QuadMove, i: u32) -> u32 {
    match mv {
        QuadMove::Lane(lane) => (i & !3) | u32::from(lane),
        QuadMove::X => i ^ 1,
        QuadMove::Y => i ^ 2,
        QuadMove::Diagonal => i ^ 3,
    }
}

fn quad_permuted(mode: u8, i: u32) -> u32 {
    (i & !3) | ((u32::from(mode) >> (2 * (i & 3))) & 3)
}

fn shuffle_source(mode: ShuffleMode, i: u32, index: u32) -> Option<u32> {
    match mode {
        ShuffleMode::Index => Some(index),
        ShuffleMode::Xor => Some(i ^ index),
        ShuffleMode::Up => i.checked_sub(index),
        ShuffleMode::Down => i.checked_add(index),
    }
}

/// Source lane and validity of an NV shuffle with an index within a warp; `None` for an invalid width. A source below
/// lane 0 is returned as 0 and is not valid.
fn nv_shuffle(mode: ShuffleMode, i: u32, index: u32, width: u32) -> Option<(u32, bool)> {
    if ![2, 4, 8, 16, 32].contains(&width) {
        return None;
    }
    let local = i & (width - 1);
    Some(match mode {
        ShuffleMode::Up => (i.saturating_sub(index), local >= index),
        ShuffleMode::Down => (i + index, local + index < width),
        ShuffleMode::Xor => (i ^ index, index < width),
        ShuffleMode::Index => ((i & !(width - 1)) + index, index < width),
    })
}

/// Lanes below `size` with this relation to `i`.
fn mask(op: MaskOp, i: u32, size: u32) -> u128 {
    match op {
        MaskOp::Eq => 1 << i,
        MaskOp::Ge => low_bits(size) & !low_bits(i),
        MaskOp::Gt => low_bits(size) & !low_bits(i + 1),
        MaskOp::Le => low_bits(i + 1),
        MaskOp::Lt => low_bits(i),
    }
}

/// The subgroup's bits, or the bits of the lane's warp, counted from its first lane.
fn of_group<T>(bits: u128, group: Group, i: u32) -> Option<LaneValue<T>> {
    match group {
        Group::Subgroup => Some(LaneValue::Ballot(bits)),
        Group::Warp => Some(LaneValue::Index((bits >> (i & !31)) as u32)),
        Group::Quad | Group::Segment(_) => None,
    }
}
