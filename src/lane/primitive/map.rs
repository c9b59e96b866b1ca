//! Wanted lane maps, and moves that are tried on them.
//!
//! A map says for each lane where its value must come from, or that it does not matter. All lanes are taken to be
//! active: what a move does under a partial mask is for the checker to see.

use super::{Index, Primitive, Source};
use crate::lane::value::{Bits, Lanes};
use crate::profile::FeatureSet;

/// The source that each lane of a wave wants; none where any value will do.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LaneMap {
    wants: Vec<Option<Source>>,
    /// The lanes that want another lane's value: what searches ask for again and again.
    moved: u128,
}

/// An index operand of a [`Move`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Arg {
    /// There is no such operand.
    None,
    /// The same in all lanes.
    Const(u32),
    /// In each lane the number of its source lane.
    Lane,
    /// In each lane four times the number of its source lane: the address of its word.
    Address,
    /// In each lane four times the number of the lane that wants its value: where a push goes.
    PushAddress,
}

/// A primitive with its index operands, as a solver finds it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Move {
    pub primitive: Primitive,
    pub args: [Arg; 2],
}

impl Move {
    /// A move without index operands.
    pub fn plain(primitive: impl Into<Primitive>) -> Move {
        Move { primitive: primitive.into(), args: [Arg::None; 2] }
    }

    /// A move with one constant index.
    pub fn with_constant(primitive: impl Into<Primitive>, index: u32) -> Move {
        Move { primitive: primitive.into(), args: [Arg::Const(index), Arg::None] }
    }

    /// A move whose index is the number of the source lane.
    pub fn by_lane(primitive: impl Into<Primitive>) -> Move {
        Move { primitive: primitive.into(), args: [Arg::Lane, Arg::None] }
    }

    /// A move whose index is the address of the source lane's word.
    pub fn by_address(primitive: impl Into<Primitive>) -> Move {
        Move { primitive: primitive.into(), args: [Arg::Address, Arg::None] }
    }
}

impl LaneMap {
    /// A map of `size` lanes from what each wants.
    pub fn new(size: u32, want: impl FnMut(u32) -> Option<Source>) -> LaneMap {
        LaneMap::of_wants((0..size).map(want).collect())
    }

    fn of_wants(wants: Vec<Option<Source>>) -> LaneMap {
        let mut moved = 0;
        for (i, want) in (0..).zip(&wants) {
            if let Some(Source::Lane(lane)) = *want {
                moved |= u128::from(lane != i) << i;
            }
        }
        LaneMap { wants, moved }
    }

    /// A map that wants a value of some lane in every lane.
    pub fn of_lanes(size: u32, mut lane: impl FnMut(u32) -> u32) -> LaneMap {
        LaneMap::new(size, |i| Some(Source::Lane(lane(i))))
    }

    /// The map of a move when all lanes are active; its undefined lanes want nothing.
    pub fn of_move(size: u32, step: &Move) -> Option<LaneMap> {
        let index: Vec<Index> = step.constants()?;
        let instruction = step.primitive.instruction();
        let sources = (0..size).map(|i| instruction.source(i, &index, Lanes::full(size)));
        let wants = sources.map(|source| Some(source?).map(|source| (source != Source::Undefined).then_some(source)));
        Some(LaneMap::of_wants(wants.collect::<Option<_>>()?))
    }

    /// Number of lanes.
    pub fn size(&self) -> u32 {
        self.wants.len() as u32
    }

    /// The source that lane `i` wants.
    pub fn want(&self, i: u32) -> Option<Source> {
        self.wants.get(i as usize).copied().flatten()
    }

    /// The lanes that want the value of a lane, with that lane.
    pub fn lanes(&self) -> impl Iterator<Item = (u32, u32)> {
        (0..self.size()).filter_map(|i| self.lane(i).map(|lane| (i, lane)))
    }

    /// The lane whose value lane `i` wants.
    pub fn lane(&self, i: u32) -> Option<u32> {
        match self.want(i)? {
            Source::Lane(lane) => Some(lane),
            Source::Own => Some(i),
            Source::Old | Source::Zero | Source::Undefined => None,
        }
    }

    /// The lanes that want another lane's value.
    pub fn moved_lanes(&self) -> Bits {
        Bits(self.moved)
    }

    /// The same with the lane that each wants.
    pub fn moves(&self) -> impl DoubleEndedIterator<Item = (u32, u32)> {
        self.moved_lanes().filter_map(|i| self.lane(i).map(|lane| (i, lane)))
    }

    /// The first lane that wants another lane's value, else the first that wants its own; with that lane.
    pub fn moved(&self) -> Option<(u32, u32)> {
        self.moves().next().or_else(|| self.lanes().next())
    }

    /// The same map for some lanes; the others want nothing.
    #[must_use]
    pub fn only(&self, mut keep: impl FnMut(u32) -> bool) -> LaneMap {
        LaneMap::new(self.size(), |i| self.want(i).filter(|_| keep(i)))
    }

    /// Returns true if every lane is content with its own value.
    pub fn accepts_own(&self) -> bool {
        (0..self.size()).all(|i| self.accepts(i, Source::Own))
    }

    /// Returns true if some lane wants this.
    pub fn has(&self, source: Source) -> bool {
        self.wants.contains(&Some(source))
    }

    /// Returns true if what lane `i` would get is what it wants.
    pub fn accepts(&self, i: u32, got: Source) -> bool {
        let plain = |source| if source == Source::Own { Source::Lane(i) } else { source };
        self.want(i).is_none_or(|want| want == Source::Undefined || plain(want) == plain(got))
    }

    /// Returns true if a move gives every lane what it wants.
    pub fn is_met_by(&self, step: &Move) -> bool {
        match step.constants() {
            Some(index) => self.is_met_with(step, &index),
            None => {
                let rows = step.args.map(|arg| self.row(arg));
                let index: Vec<Index> = rows.iter().take(step.arg_count()).map(|row| Index::Row(row)).collect();
                self.is_met_with(step, &index)
            }
        }
    }

    fn is_met_with(&self, step: &Move, index: &[Index]) -> bool {
        let (instruction, lanes) = (step.primitive.instruction(), Lanes::full(self.size()));
        let got = |i| instruction.source(i, index, lanes);
        (0..self.size()).all(|i| got(i).is_some_and(|source| self.accepts(i, source)))
    }

    /// The values of an index operand for this map; 0 in lanes that want nothing.
    pub fn row(&self, arg: Arg) -> Vec<u32> {
        let of_lane = |i| self.lane(i).unwrap_or(0);
        let lanes = 0..self.size();
        match arg {
            Arg::None => Vec::new(),
            Arg::Const(value) => lanes.map(|_| value).collect(),
            Arg::Lane => lanes.map(of_lane).collect(),
            Arg::Address => lanes.map(|i| 4 * of_lane(i)).collect(),
            Arg::PushAddress => self.push_addresses(),
        }
    }

    /// Where each lane pushes its value: to the lane that wants it, and if none does, to one that wants nothing. A lane
    /// whose value two others want serves the last of them, which shows that the map is none for pushes.
    fn push_addresses(&self) -> Vec<u32> {
        let mut row: Vec<Option<u32>> = vec![None; self.wants.len()];
        for (i, lane) in self.lanes() {
            if let Some(entry) = row.get_mut(lane as usize) {
                *entry = Some(4 * i);
            }
        }
        let spare = (0..self.size()).find(|i| self.want(*i).is_none()).unwrap_or(0);
        row.into_iter().map(|address| address.unwrap_or(4 * spare)).collect()
    }

    /// Per position in groups of `group` lanes, the position that all groups want there, packed from the lowest bits on;
    /// none where they differ or want another group than `i ^ across` is in. A free position reads itself.
    pub fn selectors(&self, group: u32, across: u32) -> Option<u64> {
        let mut chosen: [Option<u32>; 16] = [None; 16];
        for (i, lane) in self.lanes() {
            if (i ^ across ^ lane) & !(group - 1) != 0 {
                return None;
            }
            let selector = chosen.get_mut((i & (group - 1)) as usize)?;
            if *selector.get_or_insert(lane & (group - 1)) != lane & (group - 1) {
                return None;
            }
        }
        let bits = group.trailing_zeros();
        let packed = (0..group).map(|k| u64::from(chosen[k as usize].unwrap_or(k)) << (bits * k));
        Some(packed.fold(0, |all, selector| all | selector))
    }

    /// The `and`, `or` and `xor` with which the source is `((i & and) | or) ^ xor` in the lowest bits, so many: each bit is
    /// that of the lane, its complement, zero or one. None where a bit is nothing of these.
    pub fn masks(&self, bits: u32) -> Option<(u32, u32, u32)> {
        let (mut same, mut flipped, mut clear, mut set) = (u32::MAX, u32::MAX, u32::MAX, u32::MAX);
        for (i, lane) in self.lanes() {
            (same, flipped, clear, set) = (same & !(i ^ lane), flipped & (i ^ lane), clear & !lane, set & lane);
        }
        let low = (1 << bits) - 1;
        let (and, xor) = (same | flipped, flipped & !same);
        let or = set & !and & !clear;
        ((and | clear | set) & low == low).then_some((and & low, or & low, xor & low))
    }

    /// The first of some moves that exists on hardware with these features and gives every lane what it wants.
    pub fn first_that_fits(&self, moves: impl IntoIterator<Item = Move>, features: FeatureSet) -> Option<Move> {
        let fits = |step: &Move| step.primitive.exists(self.size(), features) && self.is_met_by(step);
        moves.into_iter().find(fits)
    }
}

impl Move {
    fn arg_count(&self) -> usize {
        self.args.iter().take_while(|arg| **arg != Arg::None).count()
    }

    /// The index operands, if all are constants.
    fn constants(&self) -> Option<Vec<Index<'static>>> {
        let constant = |arg: &Arg| match arg {
            Arg::Const(value) => Some(Index::Uniform(*value)),
            _ => None,
        };
        self.args.iter().take(self.arg_count()).map(constant).collect()
    }
}
