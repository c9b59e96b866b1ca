//! The vendors' instructions on lanes. The lane maps come from the primitives; this module applies them to values.
//!
//! An instruction that reads an inactive lane gets the contents of its row there: poison, unless a step in whole-wave
//! mode or a scalar wrote it.

use super::Outcome;
use super::group::{ballot, each, reduced, voted};
use crate::lane::op::{ReduceOp, WARP};
use crate::lane::primitive::nv::shuffle_target;
use crate::lane::primitive::{GroupReduce, Index, LdsOp, NvOp, Primitive, ScalarOp, Source, amd_scalar};
use crate::lane::value::{self, Domain, LaneValue, Lanes, low_bits};
use smallvec::SmallVec;

type Rows<'a, T> = &'a [&'a [LaneValue<T>]];

/// One result for each active lane; `None` if the operands are of the wrong kind.
pub fn apply<D: Domain>(domain: &mut D, primitive: Primitive, rows: Rows<D::Data>, lanes: Lanes) -> Outcome<D::Data> {
    match (primitive, rows) {
        (Primitive::Nv(NvOp::Vote(vote)), [predicate]) => voted(domain, vote, predicate, lanes, WARP),
        (Primitive::Nv(NvOp::Ballot) | Primitive::Scalar(ScalarOp::Ballot), [predicate]) => ballot(predicate, lanes),
        (Primitive::Nv(NvOp::Reduce(fold)), [value]) => reduced(domain, fold, GroupReduce::Reduce, value, lanes),
        (Primitive::Nv(NvOp::Match), [value]) => each(lanes, |i| Some(value::alike(domain, value, lanes, i))),
        (Primitive::Nv(NvOp::MatchAll), [value]) => each(lanes, |i| {
            Some(match value::alike(domain, value, lanes, i) {
                LaneValue::Ballot(bits) => LaneValue::Bool(bits == lanes.active),
                other => other,
            })
        }),
        (Primitive::Nv(NvOp::Sync), []) => each(lanes, |_| Some(LaneValue::Poison)),
        (Primitive::Nv(NvOp::ShuffleValid(mode)), [index, mask]) => each(lanes, |i| {
            let (index, mask) = (index[i as usize], mask[i as usize]);
            if index == LaneValue::Poison || mask == LaneValue::Poison {
                return Some(LaneValue::Poison);
            }
            Some(LaneValue::Bool(shuffle_target(mode, i, index.index()?, mask.index()?).1))
        }),
        (Primitive::Scalar(ScalarOp::BallotFalse), [predicate]) => {
            let opposite = |value: &LaneValue<D::Data>| value.bool().map_or(*value, |truth| LaneValue::Bool(!truth));
            ballot(&predicate.iter().map(opposite).collect::<Vec<_>>(), lanes)
        }
        (Primitive::Scalar(ScalarOp::OwnBit), [mask]) => own_bits(mask, lanes),
        (Primitive::Scalar(ScalarOp::Active), []) => each(lanes, |_| Some(LaneValue::Ballot(lanes.active))),
        (Primitive::Scalar(ScalarOp::WholeQuads), [mask]) => each(lanes, |i| match mask[i as usize] {
            LaneValue::Poison => Some(LaneValue::Poison),
            mask => Some(LaneValue::Ballot(amd_scalar::whole_quads(mask.ballot()?) & low_bits(lanes.size))),
        }),
        (Primitive::Scalar(op), [mask]) if let Some(read) = op.read_of_mask() => {
            let is_one = !differs(lanes.iter().map(|i| mask[i as usize]));
            let number = |mask: u128| read(mask & low_bits(lanes.size), lanes.size);
            each(lanes, |i| match mask[i as usize] {
                LaneValue::Poison => Some(LaneValue::Poison),
                mask => {
                    let mask = mask.ballot()?;
                    Some(number(mask).filter(|_| is_one).map_or(LaneValue::Poison, LaneValue::Index))
                }
            })
        }
        (Primitive::Scalar(op @ (ScalarOp::CountBelowLow | ScalarOp::CountBelowHigh)), [mask, count]) => {
            each(lanes, |i| count_below(op, i, mask[i as usize], count[i as usize]))
        }
        _ => Moved::new(primitive, rows, lanes)?.values(domain),
    }
}

/// `own op moved` where the instruction writes, the lane's own value elsewhere.
pub fn combine_moved<D: Domain>(
    domain: &mut D,
    op: ReduceOp,
    primitive: Primitive,
    own: &[LaneValue<D::Data>],
    rows: Rows<D::Data>,
    lanes: Lanes,
) -> Outcome<D::Data> {
    let moved = Moved::new(primitive, rows, lanes)?;
    let sources = moved.sources()?;
    each(lanes, |i| match sources[i as usize] {
        Source::Old => Some(own[i as usize]),
        source => {
            let value = moved.value(domain, i, source);
            value::combine(domain, op, own[i as usize], value)
        }
    })
}

/// The lane's own bit of a mask, in inactive lanes too; undefined if the mask is not a scalar.
fn own_bits<T: Copy + PartialEq>(mask: &[LaneValue<T>], lanes: Lanes) -> Outcome<T> {
    let scalar = !differs(lanes.iter().map(|i| mask[i as usize]));
    let bit = |i: u32| match mask[i as usize] {
        LaneValue::Ballot(bits) if scalar => Some(LaneValue::Bool(bits >> i & 1 != 0)),
        LaneValue::Ballot(_) | LaneValue::Poison => Some(LaneValue::Poison),
        _ => None,
    };
    (0..lanes.size).map(bit).collect()
}

/// The bits of a mask below lane `i` that `op` counts, on top of a count.
fn count_below<T: Copy + PartialEq>(
    op: ScalarOp,
    i: u32,
    mask: LaneValue<T>,
    count: LaneValue<T>,
) -> Option<LaneValue<T>> {
    if mask == LaneValue::Poison || count == LaneValue::Poison {
        return Some(LaneValue::Poison);
    }
    let counted = (mask.ballot()? & op.counted(i)?).count_ones();
    Some(LaneValue::Index(count.index()?.wrapping_add(counted)))
}

/// Returns true if values are not all the same.
fn differs<V: PartialEq>(mut values: impl Iterator<Item = V>) -> bool {
    let first = values.next();
    values.any(|value| Some(value) != first)
}

/// A mover with its operands.
struct Moved<'a, T> {
    primitive: Primitive,
    value: &'a [LaneValue<T>],
    old: Option<&'a [LaneValue<T>]>,
    /// The index operands; lanes with a poison index are in `unknown`.
    index: Vec<Vec<u32>>,
    unknown: u128,
    lanes: Lanes,
}

impl<'a, T: Copy + PartialEq> Moved<'a, T> {
    fn new(primitive: Primitive, rows: Rows<'a, T>, lanes: Lanes) -> Option<Moved<'a, T>> {
        let split = rows.len().checked_sub(primitive.instruction().index_operands())?;
        let (values, operands) = rows.split_at(split);
        let (value, old) = match values {
            [value] => (*value, None),
            [value, old] => (*value, Some(*old)),
            _ => return None,
        };
        let mut moved = Moved { primitive, value, old, index: Vec::new(), unknown: 0, lanes };
        operands.iter().try_for_each(|row| moved.add_index(row))?;
        if primitive.instruction().value_is_uniform() && differs(lanes.iter().map(|i| value[i as usize])) {
            moved.unknown = lanes.active;
        }
        Some(moved)
    }

    /// Adds an index operand. If it must be uniform and is not, it is unknown in all lanes.
    fn add_index(&mut self, row: &[LaneValue<T>]) -> Option<()> {
        let mut index = vec![0; row.len()];
        for i in self.lanes.iter() {
            match row[i as usize] {
                LaneValue::Poison => self.unknown |= 1 << i,
                value => index[i as usize] = value.index()?,
            }
        }
        let active = self.lanes.iter().map(|i| index[i as usize]);
        if self.primitive.instruction().index_is_uniform() && differs(active) {
            self.unknown = self.lanes.active;
        }
        self.index.push(index);
        Some(())
    }

    /// The source lane of each active lane.
    fn sources(&self) -> Option<Vec<Source>> {
        let index: SmallVec<[Index; 2]> = self.index.iter().map(|row| Index::Row(row)).collect();
        let instruction = self.primitive.instruction();
        let pushes = matches!(self.primitive, Primitive::Lds(LdsOp::Permute { .. }));
        let unknown = if pushes && self.unknown != 0 { u128::MAX } else { self.unknown };
        let mut sources = vec![Source::Undefined; self.lanes.size as usize];
        for i in self.lanes.iter() {
            let source = instruction.source(i, &index, self.lanes)?;
            if unknown >> i & 1 == 0 {
                sources[i as usize] = source;
            }
        }
        Some(sources)
    }

    fn value<D: Domain<Data = T>>(&self, domain: &mut D, i: u32, source: Source) -> LaneValue<T> {
        match source {
            Source::Lane(lane) => self.value[lane as usize],
            Source::Own => self.value[i as usize],
            Source::Old => self.old.map_or(LaneValue::Poison, |old| old[i as usize]),
            Source::Zero => value::zero(domain, self.value),
            Source::Undefined => LaneValue::Poison,
        }
    }

    fn values<D: Domain<Data = T>>(&self, domain: &mut D) -> Outcome<T> {
        let sources = self.sources()?;
        each(self.lanes, |i| Some(self.value(domain, i, sources[i as usize])))
    }
}
