//! The rules: which values the parts of a segment exchange, and how each invocation combines them.

use super::draft::Draft;
use super::parts::{BlockValue, FEW, Join, Parts};
use super::{Owner, Spanning};
use crate::lane::op::{Group, LaneOp, Members, ReduceKind, ReduceOp, VoteOp, Width};
use crate::lane::plan::{AluOp, CompareOp, Operand, StepType};
use crate::lane::request::Request;
use crate::lane::swap::Swap;

/// Distances below this are Hillis-Steele steps of the guaranteed order (`docs/dev/semantics.md`, "Order of float
/// operations").
const ROW: u32 = 16;

/// The most slots that an invocation reads for one result where parts have no lanes that share the work.
const MOST_READ: u32 = 64;

const VALUE: Operand = Operand::Input(0);

/// The operands of an operation, as far as its program depends on them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Given {
    /// Number of operands.
    pub inputs: usize,
    /// True if the first operand is a float or a vector of floats.
    pub float: bool,
    /// True if float reductions and scans have the guaranteed order.
    pub ordered: bool,
    /// Invocations of the workgroup, for operations over all of them.
    pub invocations: Option<u32>,
}

impl Given {
    /// The operands of a request.
    pub fn of(request: &Request<'_>, ordered: bool) -> Given {
        let float = request.inputs.first().is_some_and(|input| input.ty.is_float());
        Given { inputs: request.inputs.len(), float, ordered, invocations: None }
    }
}

/// The program of an operation whose segment is wider than `part`, the lanes that every subgroup is known to have.
/// `None` if the operation has no such form, or each invocation would read too many slots. Both numbers are powers of two.
pub fn plan(op: LaneOp, given: Given, part: u32) -> Option<Spanning> {
    let (width, part) = extent(op, given, part)?;
    let mut draft = Draft::new(width, part);
    let has_parts = !matches!(op, LaneOp::Swap(..) | LaneOp::Sort { .. } | LaneOp::BroadcastInWorkgroup);
    if has_parts && part == 1 && draft.parts() > MOST_READ {
        return None;
    }
    let mut second = None;
    let result = match op {
        LaneOp::Swap(swap, _) => swapped(&mut draft, swap),
        LaneOp::Rotate(_) => rotated(&mut draft),
        LaneOp::SegmentLast(_) => {
            let within = draft.within(width);
            draft.alu(AluOp::Eq, within, Operand::Const(width - 1))
        }
        LaneOp::Reduce { op, kind: ReduceKind::Inclusive, members, .. } => {
            inclusive(&mut draft, &Scan { op, members, value: VALUE, heads: false }, given)
        }
        LaneOp::Reduce { op, kind: ReduceKind::Exclusive, members, .. } => {
            exclusive(&mut draft, &Scan { op, members, value: VALUE, heads: false }, given)
        }
        LaneOp::Reduce { op, kind, members, .. } => reduced(&mut draft, op, kind, members, given),
        LaneOp::Segmented { op, .. } => {
            inclusive(&mut draft, &Scan { op, members: Members::All, value: VALUE, heads: true }, given)
        }
        LaneOp::Sort { .. } => {
            let (keys, riders) = sorted(&mut draft, given.inputs > 1);
            second = riders;
            keys
        }
        LaneOp::Vote { op, group: Group::Segment(_) } => voted(&mut draft, op),
        LaneOp::BroadcastInWorkgroup => broadcast(&mut draft),
        _ => return None,
    };
    Some(draft.finish(result, second))
}

/// The invocations of the segment and of its parts.
fn extent(op: LaneOp, given: Given, part: u32) -> Option<(u32, u32)> {
    match op.signature().span.width()? {
        Width::WORKGROUP => {
            let invocations = given.invocations?;
            // The invocations that a sort lacks would be the greatest ones; a part has no such invocations.
            let is_uneven = matches!(op, LaneOp::Sort { .. }) && !invocations.is_power_of_two();
            let whole_parts = 1 << invocations.trailing_zeros();
            Some((invocations, if is_uneven { 1 } else { part.min(whole_parts) }))
        }
        width => width.lanes().filter(|width| *width > part).map(|width| (width, part)),
    }
}

fn swapped(draft: &mut Draft, swap: Swap) -> Operand {
    let number = draft.number();
    let source = draft.alu(AluOp::Xor, number, Operand::Const(swap.mask(draft.width)));
    let sent = draft.exchange(Owner::Invocation, number, &[VALUE], None);
    draft.get(sent, 0, source)
}

fn rotated(draft: &mut Draft) -> Operand {
    let (number, last) = (draft.number(), draft.width - 1);
    let sent = draft.exchange(Owner::Invocation, number, &[VALUE], None);
    let base = draft.alu(AluOp::And, number, Operand::Const(!last));
    let moved = draft.alu(AluOp::Add, number, Operand::Input(1));
    let local = draft.alu(AluOp::And, moved, Operand::Const(last));
    let source = draft.alu(AluOp::Add, base, local);
    draft.get(sent, 0, source)
}

fn broadcast(draft: &mut Draft) -> Operand {
    let number = draft.number();
    let is_source = draft.alu(AluOp::Eq, number, Operand::Input(1));
    let sent = draft.exchange(Owner::Workgroup, Operand::Const(0), &[VALUE], Some(is_source));
    draft.get(sent, 0, Operand::Const(0))
}

fn reduced(draft: &mut Draft, op: ReduceOp, wanted: ReduceKind, members: Members, given: Given) -> Operand {
    // The part's last invocation needs the result. Reductions of active lanes have no such form.
    let kind = if members == Members::All { ReduceKind::Reduce } else { ReduceKind::AllReduce };
    let width = draft.segment();
    let own = within_part(draft, LaneOp::Reduce { op, kind, width, members }, VALUE);
    let parts = Parts::send(draft, &[own], Join::Reduce(op)).condensed(draft);
    // Reading few parts costs less than the branch, as does one instruction for the whole subgroup.
    let is_sum_of_floats = given.float && matches!(op, ReduceOp::Add | ReduceOp::Mul);
    let is_long = draft.parts() > FEW && (draft.parts() < draft.part || is_sum_of_floats);
    if wanted == ReduceKind::Reduce && members == Members::All && is_long {
        let is_last = draft.in_last_part();
        draft.only_where(is_last);
    }
    parts.reduced(draft)
}

/// A reduction or scan within the part, which is the value itself in parts of one invocation.
fn within_part(draft: &mut Draft, op: LaneOp, value: Operand) -> Operand {
    let ty = draft.ty(value);
    if draft.part == 1 { value } else { draft.lane(op, &[value], ty) }
}

fn voted(draft: &mut Draft, op: VoteOp) -> Operand {
    let group = Group::Segment(draft.segment());
    let is_alone = draft.part == 1;
    let own = match (op, is_alone) {
        (VoteOp::Equal, true) => Operand::Bool(true),
        (_, true) => VALUE,
        _ => draft.lane(LaneOp::Vote { op, group }, &[VALUE], StepType::Bool),
    };
    let fold = if op == VoteOp::Any { ReduceOp::Or } else { ReduceOp::And };
    match op {
        VoteOp::Equal => Parts::send(draft, &[own, VALUE], Join::Reduce(fold)).are_equal(draft),
        _ => Parts::send(draft, &[own], Join::Reduce(fold)).reduced(draft),
    }
}

/// A scan of an operand.
struct Scan {
    op: ReduceOp,
    members: Members,
    value: Operand,
    /// True if the second operand marks where it starts again.
    heads: bool,
}

impl Scan {
    /// Returns true if scans within the parts are not steps of the guaranteed order.
    fn is_in_rounds(&self, draft: &Draft, given: Given) -> bool {
        given.ordered && given.float && self.value == VALUE && draft.part < ROW.min(draft.width)
    }

    /// The scan within the part.
    fn within(&self, draft: &mut Draft, kind: ReduceKind) -> Operand {
        let (op, members, width) = (self.op, self.members, draft.segment());
        within_part(draft, LaneOp::Reduce { op, kind, width, members }, self.value)
    }

    fn join(&self) -> Join {
        if self.heads { Join::Segmented(self.op) } else { Join::Reduce(self.op) }
    }
}

/// The inclusive scan, of a segmented reduction from the nearest head on.
fn inclusive(draft: &mut Draft, scan: &Scan, given: Given) -> Operand {
    if scan.is_in_rounds(draft, given) {
        let head = scan.heads.then(|| nearest_head(draft, given));
        return in_rounds(draft, scan, head);
    }
    if !scan.heads {
        let own = scan.within(draft, ReduceKind::Inclusive);
        let parts = Parts::send(draft, &[own], scan.join());
        return parts.before(draft, BlockValue { value: own, has_head: None }, None, given).value;
    }
    let head = Operand::Input(1);
    let width = draft.segment();
    let (value, has_head) = match draft.part {
        1 => (scan.value, head),
        _ => (
            draft.lane(LaneOp::Segmented { op: scan.op, width }, &[scan.value, head], StepType::DATA),
            Scan { op: ReduceOp::Or, members: Members::All, value: head, heads: false }
                .within(draft, ReduceKind::Inclusive),
        ),
    };
    let parts = Parts::send(draft, &[value, has_head], scan.join());
    parts.before(draft, BlockValue { value, has_head: Some(has_head) }, None, given).value
}

fn exclusive(draft: &mut Draft, scan: &Scan, given: Given) -> Operand {
    if scan.is_in_rounds(draft, given) {
        let all = in_rounds(draft, scan, None);
        return one_later(draft, scan.op, all);
    }
    let ty = draft.ty(scan.value);
    let below = match draft.part {
        1 => draft.identity(scan.op, ty),
        _ => scan.within(draft, ReduceKind::Exclusive),
    };
    // A float scan that ends with the own value may have another order than the exclusive one.
    let all = match given.float {
        true => scan.within(draft, ReduceKind::Inclusive),
        false => draft.combine(scan.op, below, scan.value),
    };
    let parts = Parts::send(draft, &[all], scan.join());
    // Zero is not neutral to -0.
    let is_known = (given.float && scan.op == ReduceOp::Add).then(|| {
        let within = draft.within(draft.part);
        draft.alu(AluOp::Ne, within, Operand::Const(0))
    });
    parts.before(draft, BlockValue { value: below, has_head: None }, is_known, given).value
}

/// The inclusive scan in the guaranteed order, one step per exchange.
fn in_rounds(draft: &mut Draft, scan: &Scan, head: Option<Operand>) -> Operand {
    let width = draft.width.next_power_of_two();
    let (number, row) = (draft.number(), width.min(ROW));
    let mut value = scan.value;
    for distance in (0..width.ilog2()).map(|level| 1 << level) {
        let sent = draft.exchange(Owner::Invocation, number, &[value], None);
        let (mut takes, source) = if distance < ROW { near(draft, row, distance) } else { far(draft, distance) };
        if let Some(head) = head {
            let is_after = draft.alu(AluOp::Ge, source, head);
            takes = draft.alu(AluOp::BoolAnd, takes, is_after);
        }
        let other = draft.get(sent, 0, source);
        let combined = draft.combine(scan.op, other, value);
        value = draft.select(takes, combined, value);
    }
    value
}

/// The source of a Hillis-Steele step, and whether the invocation has one.
fn near(draft: &mut Draft, row: u32, distance: u32) -> (Operand, Operand) {
    let (number, within) = (draft.number(), draft.within(row));
    let takes = draft.alu(AluOp::Ge, within, Operand::Const(distance));
    let back = draft.select(takes, Operand::Const(distance), Operand::Const(0));
    (takes, draft.alu(AluOp::Sub, number, back))
}

/// The last invocation of the block below, and whether the invocation is in an upper block.
fn far(draft: &mut Draft, distance: u32) -> (Operand, Operand) {
    let number = draft.number();
    let bit = draft.alu(AluOp::And, number, Operand::Const(distance));
    let takes = draft.alu(AluOp::Ne, bit, Operand::Const(0));
    let base = draft.alu(AluOp::And, number, Operand::Const(!(2 * distance - 1)));
    let source = draft.alu(AluOp::Add, base, Operand::Const(distance - 1));
    // The last block of a workgroup may lack that invocation.
    let exists = draft.width.is_power_of_two();
    (takes, if exists { source } else { draft.select(takes, source, number) })
}

/// The number of the nearest invocation at or below the own one that is a head; the segment's first one is.
fn nearest_head(draft: &mut Draft, given: Given) -> Operand {
    let number = draft.number();
    let within = draft.within(draft.width);
    let base = draft.alu(AluOp::Sub, number, within);
    let value = draft.select(Operand::Input(1), number, base);
    inclusive(draft, &Scan { op: ReduceOp::Max, members: Members::All, value, heads: false }, given)
}

/// The value of the invocation before; the identity in the segment's first one.
fn one_later(draft: &mut Draft, op: ReduceOp, value: Operand) -> Operand {
    let (number, within, ty) = (draft.number(), draft.within(draft.width), draft.ty(value));
    let sent = draft.exchange(Owner::Invocation, number, &[value], None);
    let is_first = draft.alu(AluOp::Eq, within, Operand::Const(0));
    let back = draft.select(is_first, Operand::Const(0), Operand::Const(1));
    let source = draft.alu(AluOp::Sub, number, back);
    let before = draft.get(sent, 0, source);
    let identity = draft.identity(op, ty);
    draft.select(is_first, identity, before)
}

/// Merges sorted parts: each merge begins with a comparison of mirrored invocations, so that all are ascending.
fn sorted(draft: &mut Draft, has_riders: bool) -> (Operand, Option<Operand>) {
    let inputs = if has_riders { &[VALUE, Operand::Input(1)][..] } else { &[VALUE] };
    let mut pair = Pair { key: VALUE, rider: has_riders.then_some(Operand::Input(1)) };
    if draft.part > 1 {
        pair.key = draft.lane(LaneOp::Sort { width: draft.segment() }, inputs, StepType::DATA);
        pair.rider = has_riders.then(|| draft.riders(pair.key, StepType::Like(1)));
    }
    let mut size = 2 * draft.part;
    while size <= draft.width.next_power_of_two() {
        pair = pair.sorted_with(draft, size - 1, size / 2);
        let mut distance = size / 4;
        while distance > 0 {
            pair = pair.sorted_with(draft, distance, distance);
            distance /= 2;
        }
        size *= 2;
    }
    (pair.key, pair.rider)
}

/// A key and its value.
#[derive(Clone, Copy)]
struct Pair {
    key: Operand,
    rider: Option<Operand>,
}

impl Pair {
    /// The lesser of the own pair and the pair at `number ^ mask` where `bit` of the number is clear, else the greater.
    fn sorted_with(self, draft: &mut Draft, mask: u32, bit: u32) -> Pair {
        let other = self.from(draft, mask);
        let number = draft.number();
        let masked = draft.alu(AluOp::And, number, Operand::Const(bit));
        let is_lower = draft.alu(AluOp::Eq, masked, Operand::Const(0));
        // Both invocations decide alike, even where keys are not ordered.
        let (if_lower, if_upper) = (other.is_below(draft, self), self.is_below(draft, other));
        let swaps = draft.select(is_lower, if_lower, if_upper);
        let key = draft.select(swaps, other.key, self.key);
        let riders = self.rider.zip(other.rider);
        Pair { key, rider: riders.map(|(own, other)| draft.select(swaps, other, own)) }
    }

    fn is_below(self, draft: &mut Draft, other: Pair) -> Operand {
        let less = draft.compare(CompareOp::Lt, self.key, other.key);
        let Some((own, others)) = self.rider.zip(other.rider) else { return less };
        let equal = draft.compare(CompareOp::Eq, self.key, other.key);
        let rider_less = draft.compare(CompareOp::Lt, own, others);
        let both = draft.alu(AluOp::BoolAnd, equal, rider_less);
        draft.alu(AluOp::BoolOr, less, both)
    }

    /// The pair of the invocation at `number ^ mask`; the own one if there is no such invocation.
    fn from(self, draft: &mut Draft, mask: u32) -> Pair {
        if mask < draft.part
            && let Some(width) = Width::new(2 * mask)
        {
            let swap = LaneOp::Swap(Swap::Butterfly, width);
            let mut moved = |value: Operand| {
                let ty = draft.ty(value);
                draft.lane(swap, &[value], ty)
            };
            return Pair { key: moved(self.key), rider: self.rider.map(moved) };
        }
        let number = draft.number();
        let values: Vec<Operand> = [Some(self.key), self.rider].into_iter().flatten().collect();
        let sent = draft.exchange(Owner::Invocation, number, &values, None);
        let mut source = draft.alu(AluOp::Xor, number, Operand::Const(mask));
        if !draft.width.is_power_of_two() {
            let exists = draft.alu(AluOp::Lt, source, Operand::Const(draft.width));
            source = draft.select(exists, source, number);
        }
        let key = draft.get(sent, 0, source);
        Pair { key, rider: self.rider.map(|_| draft.get(sent, 1, source)) }
    }
}
