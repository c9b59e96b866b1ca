//! Wanted lane maps, and moves that may implement them.
//!
//! A map gives each lane's source, or states that any value will do. It assumes that all lanes are active; the checker
//! covers partial masks.

use super::{Index, Primitive, Source};
use crate::lane::value::{Bits, Lanes};
use crate::profile::FeatureSet;

/// The source that each lane of a wave needs; `None` if any value will do.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LaneMap {
    wants: Vec<Option<Source>>,
    /// The lanes that want another lane's value, cached because searches need them repeatedly.
    moved: u128,
}

/// An index operand of a [`Move`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Arg {
    /// The operand does not exist.
    None,
    /// A constant.
    Const(u32),
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
}

impl LaneMap {
    /// A map of `size` lanes from the source that each needs.
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

    /// A map that needs a value of some lane in every lane.
    pub fn of_lanes(size: u32, mut lane: impl FnMut(u32) -> u32) -> LaneMap {
        LaneMap::new(size, |i| Some(Source::Lane(lane(i))))
    }

    /// The map of a move when all lanes are active; lanes with an undefined result want nothing.
    pub fn of_move(size: u32, step: &Move) -> Option<LaneMap> {
        let index = step.index();
        let instruction = step.primitive.instruction();
        let sources = (0..size).map(|i| instruction.source(i, &index, Lanes::full(size)));
        let wants = sources.map(|source| Some(source?).map(|source| (source != Source::Undefined).then_some(source)));
        Some(LaneMap::of_wants(wants.collect::<Option<_>>()?))
    }

    /// Number of lanes.
    pub fn size(&self) -> u32 {
        self.wants.len() as u32
    }

    /// The source that lane `i` needs.
    pub fn want(&self, i: u32) -> Option<Source> {
        self.wants.get(i as usize).copied().flatten()
    }

    /// The lanes that want a lane's value, each with that lane.
    pub fn lanes(&self) -> impl Iterator<Item = (u32, u32)> {
        (0..self.size()).filter_map(|i| self.lane(i).map(|lane| (i, lane)))
    }

    /// The lane whose value lane `i` needs.
    pub fn lane(&self, i: u32) -> Option<u32> {
        match self.want(i)? {
            Source::Lane(lane) => Some(lane),
            Source::Own => Some(i),
            Source::Old | Source::Zero | Source::Undefined => None,
        }
    }

    /// The lanes that want another lane's value.
    pub fn moved_lanes(&self) -> Bits {
        Bits::of(self.moved)
    }

    /// The lanes that want another lane's value, each with that lane.
    pub fn moves(&self) -> impl DoubleEndedIterator<Item = (u32, u32)> {
        self.moved_lanes().filter_map(|i| self.lane(i).map(|lane| (i, lane)))
    }

    /// The first lane that needs another lane's value, otherwise the first that needs its own; with that lane.
    pub fn moved(&self) -> Option<(u32, u32)> {
        self.moves().next().or_else(|| self.lanes().next())
    }

    /// The map restricted to some lanes; the others want nothing.
    #[must_use]
    pub fn only(&self, mut keep: impl FnMut(u32) -> bool) -> LaneMap {
        LaneMap::new(self.size(), |i| self.want(i).filter(|_| keep(i)))
    }

    /// Returns true if the lanes' own values satisfy the map.
    pub fn accepts_own(&self) -> bool {
        (0..self.size()).all(|i| self.accepts(i, Source::Own))
    }

    /// Returns true if some lane needs this.
    pub fn has(&self, source: Source) -> bool {
        self.wants.contains(&Some(source))
    }

    /// Returns true if lane `i` may get this source.
    pub fn accepts(&self, i: u32, got: Source) -> bool {
        let plain = |source| if source == Source::Own { Source::Lane(i) } else { source };
        self.want(i).is_none_or(|want| want == Source::Undefined || plain(want) == plain(got))
    }

    /// Returns true if a move gives every lane what it needs.
    pub fn is_met_by(&self, step: &Move) -> bool {
        let (instruction, index, lanes) = (step.primitive.instruction(), step.index(), Lanes::full(self.size()));
        let got = |i| instruction.source(i, &index, lanes);
        (0..self.size()).all(|i| got(i).is_some_and(|source| self.accepts(i, source)))
    }

    /// For each position in groups of `group` lanes, the position that all groups read there, packed from the lowest
    /// bits on; `None` if groups differ or read another group than that of `i ^ across`. A free position reads itself.
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

    /// The `and`, `or` and `xor` masks with which the source is `((i & and) | or) ^ xor` in the lowest `bits` bits:
    /// each bit is the lane's, its complement, zero or one. `None` if a bit is none of these.
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

    /// The first of these moves that exists on hardware with these features and gives every lane what it needs.
    pub fn first_that_fits(&self, moves: impl IntoIterator<Item = Move>, features: FeatureSet) -> Option<Move> {
        let fits = |step: &Move| step.primitive.exists(self.size(), features) && self.is_met_by(step);
        moves.into_iter().find(fits)
    }
}

impl Move {
    /// The index operands.
    fn index(&self) -> Vec<Index<'static>> {
        let constant = |arg: &Arg| if let Arg::Const(value) = arg { Some(Index::Uniform(*value)) } else { None };
        self.args.iter().map_while(constant).collect()
    }
}
