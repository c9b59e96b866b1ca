//! Cross-lane instructions: moves of values between lanes.
//!
//! Values move word by word; bools are moved as 0 and 1.

use super::arithmetic::{number, one};
use super::emit::FALSE;
use super::{Selector, Words};
use crate::backend::amd::machine::{Dpp, Modifiers, Operand, Special, is_inline};
use crate::backend::amd::mnemonic::{Generation, Operation, combine_operation, mover};
use crate::ir::Scalar;
use crate::kernel::{Def, InstId, Ty, Value};
use crate::lane::primitive::{Dpp16, Fetch, LdsOp, PermlaneOp, ScalarOp};
use crate::lane::{LaneType, Primitive, ReduceOp};

/// The result for the other instruction of a swap.
#[derive(Clone, Debug)]
pub struct Swapped {
    op: PermlaneOp,
    args: [Value; 2],
    words: Words,
}

impl Selector<'_> {
    pub fn primitive(&mut self, inst: InstId, primitive: Primitive, ty: Scalar) {
        let args = self.kernel.args(inst);
        let words = match primitive {
            Primitive::Scalar(op) => self.scalar_primitive(inst, op, ty, args),
            Primitive::Permlane(op @ (PermlaneOp::SwapFirst { .. } | PermlaneOp::SwapSecond { .. })) => {
                self.swap(op, [args[0], args[1]])
            }
            Primitive::Group(_) | Primitive::Nv(_) => self.refused("a cross-lane instruction of other hardware"),
            _ if ty.is_bool() => self.move_bools(primitive, args),
            _ => {
                let value = self.words(args[0]);
                self.move_words(primitive, &value, args)
            }
        };
        self.result(inst, words);
    }

    // Movers.

    /// The operand with the destination's old value, if that matters.
    fn old_value(&self, primitive: Primitive, args: &[Value]) -> Option<Value> {
        let indices = primitive.instruction().index_operands();
        let old = (args.len() == 2 + indices).then(|| args[1]);
        match primitive {
            Primitive::Dpp16(dpp) if dpp.writes_all() => None,
            _ => old.filter(|old| !matches!(self.kernel.values[*old].def, Def::Undef)),
        }
    }

    fn move_words(&mut self, primitive: Primitive, value: &[Operand], args: &[Value]) -> Words {
        let old = self.old_value(primitive, args).map(|old| self.words(old));
        self.move_over(primitive, value, old, args)
    }

    /// One instruction per word of the moved value, on top of the old value of the destination.
    fn move_over(&mut self, primitive: Primitive, value: &[Operand], old: Option<Words>, args: &[Value]) -> Words {
        let index = self.index_operand(primitive, args);
        let moved = value.iter().enumerate().map(|(n, word)| {
            let to = self.vectors(1);
            if let Some(old) = &old {
                self.move_to(to, old[n]);
            }
            let source = self.in_vector(*word);
            self.move_word(primitive, to, source, index, old.is_some());
            to
        });
        moved.collect()
    }

    fn index_operand(&mut self, primitive: Primitive, args: &[Value]) -> Operand {
        let indices = primitive.instruction().index_operands();
        match args.last() {
            Some(index) if indices > 0 => {
                let index = self.word(*index);
                self.in_vector(index)
            }
            _ => FALSE,
        }
    }

    fn move_word(&mut self, primitive: Primitive, to: Operand, source: Operand, index: Operand, keeps: bool) {
        let dpp = |dpp| Modifiers { dpp: Some(dpp), ..Modifiers::default() };
        match primitive {
            Primitive::Dpp16(rows) => {
                self.vectors_only(Operation::Move, to, &[source], dpp(Dpp::Rows(rows))).keeps = keeps;
            }
            Primitive::Dpp8(eights) => {
                self.vectors_only(Operation::Move, to, &[source], dpp(Dpp::Eights(eights))).keeps = keeps;
            }
            Primitive::Permlane(op) => self.permlane(op, to, source, index, keeps),
            Primitive::Lds(op) => self.through_lds(op, to, source, index),
            _ => {
                self.refused("this cross-lane instruction");
            }
        }
    }

    /// Bools as numbers, and back to a mask.
    fn move_bools(&mut self, primitive: Primitive, args: &[Value]) -> Words {
        let value = self.mask(args[0]);
        let sent = self.choose_bit(value);
        let old = self.old_value(primitive, args).map(|old| {
            let old = self.mask(old);
            one(self.choose_bit(old))
        });
        let moved = self.move_over(primitive, &[sent], old, args);
        let mask = self.compare_lanes("ne_u32", FALSE, moved[0]);
        self.words_of(mask, self.arch.mask_width())
    }

    /// 1 in the lanes of a mask, 0 in others.
    fn choose_bit(&mut self, mask: Operand) -> Operand {
        match mask {
            Operand::Constant(bits @ (0 | u32::MAX)) => self.in_vector(number(bits & 1)),
            mask => self.choose(mask, number(1), FALSE),
        }
    }

    fn permlane(&mut self, op: PermlaneOp, to: Operand, source: Operand, index: Operand, keeps: bool) {
        let (uses, fetch): (Words, _) = match op {
            PermlaneOp::Row { selectors, fetch, .. } => {
                let [low, high] = self.selectors(selectors);
                ([source, low, high].into_iter().collect(), fetch)
            }
            PermlaneOp::RowVar { fetch, .. } => ([source, index].into_iter().collect(), fetch),
            PermlaneOp::Half => (one(source), Fetch::default()),
            PermlaneOp::Shared { high } => return self.through_shared(high, to, source),
            PermlaneOp::SwapFirst { .. } | PermlaneOp::SwapSecond { .. } => return,
        };
        let Some(operation) = mover(op.into()) else { return };
        let inst = self.raw(operation, &[to], &uses);
        inst.keeps = keeps;
        if fetch != Fetch::default() {
            inst.modifiers.op_sel = u8::from(fetch.inactive) | u8::from(fetch.bound_ctrl) << 1;
            inst.modifiers.op_sel_count = 2;
        }
    }

    /// The two words of a row's selectors. The instruction has room for one literal; the other goes to a scalar
    /// register.
    fn selectors(&mut self, selectors: u64) -> [Operand; 2] {
        let words = [selectors as u32, (selectors >> 32) as u32];
        let [low, high] = words.map(number);
        match words.into_iter().any(is_inline) || words[0] == words[1] {
            true => [low, high],
            false => [self.in_scalar(low), high],
        }
    }

    /// Moves the rows of one half through the register that both halves share.
    fn through_shared(&mut self, high: bool, to: Operand, source: Operand) {
        let shared = Operand::Special(Special::SharedVector);
        let own = Dpp16::new(crate::lane::primitive::DppControl::QuadPerm(0b1110_0100));
        let rows = Dpp16 { row_mask: if high { 0xc } else { 0x3 }, bound_ctrl: false, ..own };
        let modifiers = Modifiers { dpp: Some(Dpp::Rows(rows)), ..Modifiers::default() };
        self.needs.shared_vector = true;
        self.raw(Operation::Move, &[shared], &[source]).modifiers = modifiers;
        self.raw(Operation::Move, &[to], &[shared]);
    }

    fn through_lds(&mut self, op: LdsOp, to: Operand, source: Operand, index: Operand) {
        let Some(operation) = mover(op.into()) else { return self.bounce(to, source, index) };
        match op {
            LdsOp::Swizzle(swizzle) => {
                self.raw(operation, &[to], &[source]).modifiers.offset = swizzle.offset().into();
            }
            LdsOp::Bpermute { offset, .. } | LdsOp::Permute { offset, .. } => {
                self.raw(operation, &[to], &[index, source]).modifiers.offset = offset.into();
            }
            LdsOp::Bounce => self.bounce(to, source, index),
        }
    }

    /// Writes to the lane's own word of memory and reads another lane's. The lanes of a wave run in lockstep and its
    /// memory operations stay in order. Words outside the wave's part are undefined and must not be read.
    fn bounce(&mut self, to: Operand, source: Operand, address: Operand) {
        let (Some(own), Some(offset)) = (self.start.own_word, self.subject.interface.wave_memory) else {
            self.refused("a move through workgroup memory");
            return;
        };
        self.raw(Operation::LdsWrite, &[], &[own.own, source]).modifiers.offset = offset;
        let inside = number(4 * self.arch.wave - 4);
        let mut address = self.vector(Operation::AndB32, &[inside, address]);
        if let Some(part) = own.part {
            address = self.vector(Operation::AddU32, &[part, address]);
        }
        self.raw(Operation::LdsRead, &[to], &[address]).modifiers.offset = offset;
    }

    /// One instruction writes both registers of a swap; the instruction for the second finds its words there.
    fn swap(&mut self, op: PermlaneOp, args: [Value; 2]) -> Words {
        if let Some(swapped) = self.swapped.take()
            && swapped.op == op
            && swapped.args == args
        {
            return swapped.words;
        }
        let (Some(operation), Some((fetch, other_op))) = (mover(op.into()), other_half(op)) else {
            return self.refused("this swap");
        };
        let is_first = matches!(op, PermlaneOp::SwapFirst { .. });
        let [other, own] = args.map(|value| self.words(value));
        let (mut mine, mut others) = (Words::new(), Words::new());
        for (own, other) in own.iter().zip(&other) {
            let pair = [self.vectors(1), self.vectors(1)];
            self.move_to(pair[0], *own);
            self.move_to(pair[1], *other);
            let defs = if is_first { pair } else { [pair[1], pair[0]] };
            let inst = self.raw(operation, &defs, &[]);
            inst.keeps = true;
            inst.modifiers.swap_fetch = [fetch.bound_ctrl, fetch.inactive];
            mine.push(pair[0]);
            others.push(pair[1]);
        }
        self.swapped = Some(Swapped { op: other_op, args: [args[1], args[0]], words: others });
        mine
    }

    /// `own op moved` with DPP, one instruction for each word.
    pub fn combine_moved(&mut self, op: ReduceOp, ty: Scalar, primitive: Primitive, args: &[Value]) -> Words {
        let lane_ty = LaneType::scalar(ty.kind, ty.width);
        let (Some(operation), Some(dpp)) = (combine_operation(op, lane_ty), carried(primitive)) else {
            return self.refused("this arithmetic on a moved operand");
        };
        let keeps = matches!(primitive, Primitive::Dpp16(dpp) if !dpp.writes_all());
        let (own, moved) = (self.words(args[0]), self.words(args[1]));
        let modifiers = Modifiers { dpp: Some(dpp), ..Modifiers::default() };
        let folded = own.iter().zip(&moved).map(|(own, moved)| {
            let to = self.vectors(1);
            let own = match keeps {
                true => {
                    self.move_to(to, *own);
                    to
                }
                false => *own,
            };
            self.vectors_only(operation, to, &[*moved, own], modifiers).keeps = keeps;
            if ty.width == 16 { self.low_half(to) } else { to }
        });
        folded.collect()
    }

    // Scalars.

    fn scalar_primitive(&mut self, inst: InstId, op: ScalarOp, ty: Scalar, args: &[Value]) -> Words {
        match op {
            ScalarOp::ReadLane | ScalarOp::ReadFirstLane => self.read_lane(op, args),
            ScalarOp::WriteLane => self.write_lane(ty, args),
            ScalarOp::CountBelowLow => self.count_below(Operation::CountBelowLow, 0, args),
            ScalarOp::CountBelowHigh => self.count_below(Operation::CountBelowHigh, 1, args),
            ScalarOp::Ballot => self.ballot(args[0]),
            ScalarOp::BallotFalse => self.ballot_false(args[0]),
            ScalarOp::Active => self.active(inst),
            ScalarOp::OwnBit => self.words(args[0]),
            ScalarOp::CountLanes => {
                one(self.number_of_mask(Operation::ScalarBitCount, Operation::ScalarBitCount64, args[0]))
            }
            ScalarOp::LowestLane => {
                one(self.number_of_mask(Operation::ScalarFindLsb, Operation::ScalarFindLsb64, args[0]))
            }
            ScalarOp::LanesAbove => {
                one(self.number_of_mask(Operation::ScalarLeadingZeros, Operation::ScalarLeadingZeros64, args[0]))
            }
            ScalarOp::WholeQuads => {
                let mask = self.mask(args[0]);
                let quads = self.on_masks(Operation::WholeQuads, Operation::WholeQuads64, &[mask]);
                self.words_of(quads, self.arch.mask_width())
            }
        }
    }

    /// One lane's words as scalars. A scalar is the same in every lane.
    fn read_lane(&mut self, op: ScalarOp, args: &[Value]) -> Words {
        let value = match self.kernel.ty(args[0]) {
            Ty::Bool => {
                let mask = self.mask(args[0]);
                one(self.choose_bit(mask))
            }
            _ => self.words(args[0]),
        };
        let lane = match op {
            ScalarOp::ReadLane => Some(self.lane_select(args[1])),
            _ => None,
        };
        let read: Words = value
            .iter()
            .map(|word| match lane {
                _ if !self.is_vector(*word) => *word,
                Some(lane) => {
                    let to = self.scalars(1);
                    self.raw(Operation::ReadLane, &[to], &[*word, lane]);
                    to
                }
                None => self.in_scalar(*word),
            })
            .collect();
        if self.kernel.ty(args[0]) != Ty::Bool {
            return read;
        }
        self.compare_scalars("lg_u32", read[0], FALSE);
        let mask = self.mask_of_condition();
        self.words_of(mask, self.arch.mask_width())
    }

    /// A lane index as an operand: a constant or a scalar.
    fn lane_select(&mut self, lane: Value) -> Operand {
        match self.word(lane) {
            Operand::Constant(lane) => number(lane & (self.arch.wave - 1)),
            word => self.scalar_operand(word),
        }
    }

    /// Writes a scalar into one lane of the old value. Before gfx10 a lane index that is not a constant goes to M0.
    fn write_lane(&mut self, ty: Scalar, args: &[Value]) -> Words {
        if ty.is_bool() {
            return self.refused("a bool written to one lane");
        }
        let (value, old) = (self.words(args[0]), self.words(args[1]));
        let mut lane = self.lane_select(args[2]);
        let by_m0 = self.arch.generation < Generation::Rdna1 && !matches!(lane, Operand::Constant(_));
        if by_m0 {
            let m0 = Operand::Special(Special::M0);
            self.raw(Operation::ScalarMove, &[m0], &[lane]);
            lane = m0;
        }
        let written = value.iter().zip(&old).map(|(value, old)| {
            let to = self.vectors(1);
            self.move_to(to, *old);
            let is_literal = matches!(value, Operand::Constant(bits) if !is_inline(*bits));
            let value = if is_literal || self.is_vector(*value) { self.in_scalar(*value) } else { *value };
            self.raw(Operation::WriteLane, &[to], &[value, lane]).keeps = true;
            to
        });
        let written = written.collect();
        if by_m0 && self.arch.generation < Generation::Vega {
            self.unclamp_shared();
        }
        written
    }

    fn count_below(&mut self, operation: Operation, half: usize, args: &[Value]) -> Words {
        let mask = self.words(args[0]).get(half).copied().unwrap_or(FALSE);
        let count = self.word(args[1]);
        one(self.vector(operation, &[mask, count]))
    }
}

/// The primitive for the other register of a swap.
const fn other_half(op: PermlaneOp) -> Option<(Fetch, PermlaneOp)> {
    match op {
        PermlaneOp::SwapFirst { block, fetch } => Some((fetch, PermlaneOp::SwapSecond { block, fetch })),
        PermlaneOp::SwapSecond { block, fetch } => Some((fetch, PermlaneOp::SwapFirst { block, fetch })),
        _ => None,
    }
}

/// The controls of an operand that moves inside an arithmetic instruction.
const fn carried(primitive: Primitive) -> Option<Dpp> {
    match primitive {
        Primitive::Dpp16(rows) => Some(Dpp::Rows(rows)),
        Primitive::Dpp8(eights) => Some(Dpp::Eights(eights)),
        _ => None,
    }
}
