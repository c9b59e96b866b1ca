//! Primitives as instructions: what moves values between lanes, and what makes masks and scalars of them.

use super::emit::Waits;
use super::operand::{Arg, Instruction, is_inline};
use super::place::Place;
use super::{Done, Lister, Placed, Unwritten, vector_number};
use crate::backend::amd::dpp;
use crate::backend::amd::mnemonic::{Generation, Operation, fold_operation};
use crate::lane::primitive::{Fetch, LdsOp, PermlaneOp, ScalarOp};
use crate::lane::{FoldOp, LaneType, Operand, Primitive, Step};
use crate::profile::Feature;

impl Lister<'_> {
    pub(super) fn primitive(&mut self, step: &Step, primitive: Primitive, at: usize) -> Placed {
        match primitive {
            Primitive::Scalar(op) => self.scalar_primitive(step, op, at),
            Primitive::Permlane(op @ (PermlaneOp::SwapFirst { .. } | PermlaneOp::SwapSecond { .. })) => {
                self.swap(step, op, at)
            }
            Primitive::Group(_) | Primitive::Nv(_) => Err(Unwritten("an instruction of another vendor".into())),
            _ if self.operand_ty(step.args[0]).kind == LaneType::BOOL.kind => self.move_bools(step, primitive, at),
            _ => self.mover(step, primitive, at),
        }
    }

    /// One instruction for each register of the moved value.
    fn mover(&mut self, step: &Step, primitive: Primitive, at: usize) -> Placed {
        let ty = self.request.ty(step.ty);
        let value = self.place(step.args[0])?;
        let old = self.old_operand(step, primitive);
        let written = match old {
            Operand::None => self.over(ty, step.args[0], at),
            old => self.destination(ty, old, at)?,
        };
        for (n, register) in written.iter().enumerate() {
            let source = self.in_vector(value.word(n)?)?;
            self.move_word(step, primitive, Arg::Vector(*register), source)?;
        }
        Ok(Place::Vector(written))
    }

    /// The operand whose value the destination must hold before.
    fn old_operand(&self, step: &Step, primitive: Primitive) -> Operand {
        let indices = primitive.instruction().index_operands();
        let has_old = step.operands().len() == 2 + indices;
        match primitive {
            Primitive::Dpp16(dpp) if dpp.writes_all() => Operand::None,
            _ if has_old => step.args[1],
            _ => Operand::None,
        }
    }

    fn move_word(&mut self, step: &Step, primitive: Primitive, written: Arg, source: Arg) -> Done {
        let index = self.index_operand(step, primitive)?;
        let waits = Waits::new(self.cost(primitive.instruction().cost_class()), source, index);
        let instruction = match primitive {
            Primitive::Dpp16(dpp) => dpp_move(written, source, dpp::controls(&dpp)),
            Primitive::Dpp8(dpp) => dpp_move(written, source, dpp::controls8(&dpp)),
            Primitive::Permlane(op) => return self.permlane(op, written, source, index, waits),
            Primitive::Lds(op) => return self.through_lds(op, written, source, index, waits),
            _ => return Err(Unwritten(format!("{primitive:?}"))),
        };
        self.writer.put(&instruction, waits)
    }

    /// The index operand, in a vector register where the instruction wants one there.
    fn index_operand(&mut self, step: &Step, primitive: Primitive) -> Result<Option<Arg>, Unwritten> {
        let indices = primitive.instruction().index_operands();
        let Some(operand) = step.operands().len().checked_sub(indices).and_then(|n| step.operands()[n..].first())
        else {
            return Ok(None);
        };
        let index = self.place(*operand)?.word(0)?;
        let uniform = primitive.instruction().index_is_uniform();
        Ok(Some(if uniform { index } else { self.in_vector(index)? }))
    }

    /// A vector register that holds the operand: itself, or a copy. Copies of constants belong to the set-up.
    pub(super) fn in_vector(&mut self, arg: Arg) -> Result<Arg, Unwritten> {
        if arg.is_vector() {
            return Ok(arg);
        }
        let copy = self.fresh_vector();
        match arg {
            Arg::Number(_) => self.in_setup(|lister| lister.writer.plain(Operation::Move, &[copy], &[arg]))?,
            _ => self.writer.plain(Operation::Move, &[copy], &[arg])?,
        }
        Ok(copy)
    }

    /// The same place as an operand's, whatever it is called at the time.
    fn same(&self, operand: Operand) -> Placed {
        match operand {
            Operand::Step(n) if self.steps.get(usize::from(n)) == Some(&Place::Active) => Ok(Place::Active),
            operand => self.place(operand),
        }
    }

    /// Operands of one instruction that reads so many scalar registers beside: those beyond what the hardware reads, and
    /// constants that are no part of the instruction, go to vector registers.
    pub(super) fn readable<const N: usize>(&mut self, args: [Arg; N], scalars: u32) -> Result<[Arg; N], Unwritten> {
        let wide = self.profile.has(Feature::AmdTwoScalars);
        let mut room = if wide { 2_u32 } else { 1 }.saturating_sub(scalars);
        let mut readable = args;
        for arg in &mut readable {
            let takes_room = !arg.is_vector() && (arg.is_literal() || !matches!(arg, Arg::Number(_)));
            match takes_room {
                true if room == 0 || (arg.is_literal() && !wide) => *arg = self.in_vector(*arg)?,
                true => room -= 1,
                false => {}
            }
        }
        Ok(readable)
    }

    /// Registers for a result: those of an operand of the same type that nobody needs any more, else fresh ones. Every
    /// instruction must read no other words of it than the one that it writes.
    pub(super) fn over(&mut self, ty: LaneType, operand: Operand, at: usize) -> Vec<u32> {
        match self.place(operand) {
            Ok(Place::Vector(registers)) if self.is_last_use(operand, &registers, at) => registers,
            _ => self.fresh_vectors(ty),
        }
    }

    /// Registers for a result, holding what `old` holds: its own where nobody needs them any more, else copies.
    pub(super) fn destination(&mut self, ty: LaneType, old: Operand, at: usize) -> Result<Vec<u32>, Unwritten> {
        if old == Operand::None {
            return Ok(self.fresh_vectors(ty));
        }
        match self.place(old)? {
            Place::Vector(registers) if self.is_last_use(old, &registers, at) => Ok(registers),
            place => self.copies(ty, &place),
        }
    }

    /// Fresh registers with the words of a place.
    fn copies(&mut self, ty: LaneType, place: &Place) -> Result<Vec<u32>, Unwritten> {
        let copies = self.fresh_vectors(ty);
        for (n, copy) in copies.iter().enumerate() {
            self.writer.plain(Operation::Move, &[Arg::Vector(*copy)], &[place.word(n)?])?;
        }
        Ok(copies)
    }

    /// `own op moved` with DPP, one instruction for each register.
    pub(super) fn fold_moved(&mut self, step: &Step, op: FoldOp, primitive: Primitive, at: usize) -> Placed {
        let ty = self.request.ty(step.ty);
        let operation = fold_operation(op, ty).ok_or_else(|| Unwritten(format!("{op:?} of {ty:?}")))?;
        let (modifiers, keeps) = match primitive {
            Primitive::Dpp16(dpp) => (dpp::controls(&dpp), !dpp.writes_all()),
            Primitive::Dpp8(dpp) => (dpp::controls8(&dpp), false),
            _ => return Err(Unwritten(format!("{primitive:?} takes part in no arithmetic"))),
        };
        let (own, moved) = (self.place(step.args[0])?, self.place(step.args[1])?);
        let written = if keeps { self.destination(ty, step.args[0], at)? } else { self.over(ty, step.args[0], at) };
        for (n, register) in written.iter().enumerate() {
            let (own, moved) = (self.in_vector(own.word(n)?)?, self.in_vector(moved.word(n)?)?);
            let mut instruction = Instruction::new(operation, &[Arg::Vector(*register)], &[moved, own]);
            (instruction.suffix, instruction.modifiers) = ("_dpp".into(), modifiers.clone());
            let waits = Waits::new(self.cost(primitive.instruction().cost_class()), moved, None);
            self.writer.put(&instruction, waits)?;
        }
        Ok(Place::Vector(written))
    }

    /// Bools travel as 0 and 1.
    fn move_bools(&mut self, step: &Step, primitive: Primitive, at: usize) -> Placed {
        let _ = at;
        let Place::Mask(mask) = self.place(step.args[0])? else { return Err(Unwritten("a vector of bools".into())) };
        if self.old_operand(step, primitive) != Operand::None {
            return Err(Unwritten("a move of bools that leaves lanes alone".into()));
        }
        let (number, moved) = (self.fresh_vector(), self.fresh_vector());
        self.writer.plain(Operation::Select, &[number], &[Arg::Number(0), Arg::Number(1), mask])?;
        self.move_word(step, primitive, moved, number)?;
        let result = self.fresh_mask();
        self.compare_words("ne_u32", result, Arg::Number(0), moved)?;
        [number, moved].into_iter().for_each(|arg| self.vectors.release(vector_number(arg), 1));
        Ok(Place::Mask(result))
    }

    fn permlane(&mut self, op: PermlaneOp, written: Arg, source: Arg, index: Option<Arg>, waits: Waits) -> Done {
        let (operation, read, fetch) = match op {
            PermlaneOp::Row { across, selectors, fetch } => {
                let selectors = self.selectors(selectors)?;
                (if across { Operation::PermlaneX16 } else { Operation::Permlane16 }, selectors.to_vec(), fetch)
            }
            PermlaneOp::RowVar { across, fetch } => {
                let index = index.into_iter().collect();
                (if across { Operation::PermlaneX16Var } else { Operation::Permlane16Var }, index, fetch)
            }
            PermlaneOp::Half => (Operation::Permlane64, Vec::new(), Fetch::default()),
            PermlaneOp::Shared { high } => return self.through_shared(high, written, source),
            PermlaneOp::SwapFirst { .. } | PermlaneOp::SwapSecond { .. } => {
                return Err(Unwritten("half of a swap".into()));
            }
        };
        let read: Vec<Arg> = std::iter::once(source).chain(read).collect();
        let mut instruction = Instruction::new(operation, &[written], &read);
        if fetch != Fetch::default() {
            instruction.modifiers = format!("op_sel:[{},{}]", u8::from(fetch.inactive), u8::from(fetch.bound_ctrl));
        }
        self.writer.put(&instruction, waits)
    }

    /// The two words of a row's selectors. The instruction has room for one literal; the other waits in a scalar register.
    fn selectors(&mut self, selectors: u64) -> Result<[Arg; 2], Unwritten> {
        let words = [selectors as u32, (selectors >> 32) as u32];
        let [low, high] = words.map(Arg::Number);
        if words.into_iter().any(is_inline) {
            return Ok([low, high]);
        }
        let kept = self.fresh_scalar();
        self.in_setup(|lister| lister.writer.plain(Operation::ScalarMove, &[kept], &[low]))?;
        Ok([kept, high])
    }

    /// The rows of one half into the register that both halves share, and from it into both.
    fn through_shared(&mut self, high: bool, written: Arg, source: Arg) -> Done {
        let shared = self.fresh_vector();
        let controls = format!("quad_perm:[0,1,2,3] row_mask:{} bank_mask:0xf", if high { "0xc" } else { "0x3" });
        self.writer.put(&dpp_move(shared, source, controls), Waits::default())?;
        self.writer.plain(Operation::Move, &[written], &[shared])?;
        self.vectors.release(vector_number(shared), 1);
        Ok(())
    }

    fn through_lds(&mut self, op: LdsOp, written: Arg, source: Arg, index: Option<Arg>, waits: Waits) -> Done {
        let index = index.unwrap_or(Arg::Number(0));
        let (operation, read, offset) = match op {
            LdsOp::Swizzle(swizzle) => (Operation::Swizzle, vec![source], format!("{:#x}", swizzle.offset())),
            LdsOp::Bpermute { offset, fetch_inactive: true, .. } => {
                (Operation::BpermuteFetchInactive, vec![index, source], offset.to_string())
            }
            LdsOp::Bpermute { offset, .. } => (Operation::Bpermute, vec![index, source], offset.to_string()),
            LdsOp::Permute { offset, .. } => (Operation::Permute, vec![index, source], offset.to_string()),
            LdsOp::Bounce => return self.bounce(written, source, index),
        };
        let mut instruction = Instruction::new(operation, &[written], &read);
        if offset != "0" {
            instruction.modifiers = format!("offset:{offset}");
        }
        self.writer.put(&instruction, waits)
    }

    /// Into the lane's own word of memory, and from another lane's.
    fn bounce(&mut self, written: Arg, source: Arg, address: Arg) -> Done {
        let own = self.own_address()?;
        self.writer.plain(Operation::LdsWrite, &[], &[own, source])?;
        self.writer.plain(Operation::LdsRead, &[written], &[address])
    }

    /// The address of the lane's own word. (Before gfx9 M0 must not clamp it: that is for the start of the kernel.)
    fn own_address(&mut self) -> Result<Arg, Unwritten> {
        if let Some(address) = self.own_address {
            return Ok(address);
        }
        let address = self.in_setup(|lister| {
            let (index, address) = (lister.lane_index()?, lister.fresh_vector());
            lister.writer.plain(Operation::ShlB32, &[address], &[Arg::Number(2), index])?;
            Ok(address)
        })?;
        self.own_address = Some(address);
        Ok(address)
    }

    /// Both registers of a swap are written by one instruction; the step for the second finds its register there.
    fn swap(&mut self, step: &Step, op: PermlaneOp, at: usize) -> Placed {
        if let Some(second) = self.swapped.take() {
            return Ok(Place::Vector(second));
        }
        let (operation, fetch) = match op {
            PermlaneOp::SwapFirst { block, fetch } | PermlaneOp::SwapSecond { block, fetch } => {
                (if block == 16 { Operation::Permlane16Swap } else { Operation::Permlane32Swap }, fetch)
            }
            _ => return Err(Unwritten("no swap".into())),
        };
        let is_first = matches!(op, PermlaneOp::SwapFirst { .. });
        let ty = self.request.ty(step.ty);
        let paired = self.plan.steps.get(at + 1).is_some_and(|next| is_other_half(step, next));
        // The step for the other register reads the same operands.
        let last = if paired { at + 1 } else { at };
        // The first operand is the other register of the pair, the second the one that this step writes.
        let mine = self.destination(ty, step.args[1], last)?;
        let other = if step.args[0] == step.args[1] {
            self.copies(ty, &self.place(step.args[0])?)?
        } else {
            self.destination(ty, step.args[0], last)?
        };
        for (mine, other) in mine.iter().zip(&other) {
            let pair = [Arg::Vector(*mine), Arg::Vector(*other)];
            let pair = if is_first { pair } else { [pair[1], pair[0]] };
            let mut instruction = Instruction::new(operation, &pair, &[]);
            if fetch != Fetch::default() {
                instruction.suffix = "_e64".into();
                let (bound, inactive) = (u8::from(fetch.bound_ctrl), u8::from(fetch.inactive));
                instruction.modifiers = format!("bound_ctrl:{bound} fi:{inactive}");
            }
            let class = Primitive::Permlane(op).instruction().cost_class();
            let mut waits = Waits::new(self.cost(class), pair[0], None);
            waits.moved[1] = pair[1].registers().next();
            self.writer.put(&instruction, waits)?;
        }
        if paired {
            self.swapped = Some(other);
        }
        Ok(Place::Vector(mine))
    }

    fn scalar_primitive(&mut self, step: &Step, op: ScalarOp, at: usize) -> Placed {
        match op {
            ScalarOp::ReadLane | ScalarOp::ReadFirstLane => self.read_lane(step, op),
            ScalarOp::WriteLane => self.write_lane(step, at),
            ScalarOp::CountBelowLow | ScalarOp::CountBelowHigh => self.count_below(step, op),
            ScalarOp::Ballot => self.mask_of_active(step, false),
            ScalarOp::BallotFalse => self.mask_of_active(step, true),
            ScalarOp::OwnBit => self.same(step.args[0]),
            ScalarOp::Active => Ok(Place::Active),
            ScalarOp::WholeQuads => {
                let (mask, result) = (self.mask(step.args[0])?, self.fresh_mask());
                self.writer.plain(self.sized(Operation::WholeQuads, Operation::WholeQuads64), &[result], &[mask])?;
                Ok(Place::Mask(result))
            }
        }
    }

    /// One lane's registers as scalars.
    fn read_lane(&mut self, step: &Step, op: ScalarOp) -> Placed {
        let value = self.place(step.args[0])?;
        let lane = match op {
            ScalarOp::ReadLane => Some(self.lane_select(step.args[1])?),
            _ => None,
        };
        let operation = if lane.is_some() { Operation::ReadLane } else { Operation::ReadFirstLane };
        let words = super::words(self.request.ty(step.ty)) * u32::from(self.request.ty(step.ty).components);
        let first = self.scalars.take(words, words.min(2));
        for n in 0..words {
            let source = value.word(n as usize)?;
            let read: Vec<Arg> = std::iter::once(source).chain(lane).collect();
            let instruction = Instruction::new(operation, &[Arg::Scalar(first + n)], &read);
            let cost = self.cost(Primitive::Scalar(op).instruction().cost_class());
            self.writer.put(&instruction, Waits::new(cost, source, lane))?;
        }
        Ok(Place::Scalar((first..first + words).collect()))
    }

    /// A lane's number as the instruction takes it: a constant or a scalar.
    fn lane_select(&mut self, operand: Operand) -> Result<Arg, Unwritten> {
        let lane = self.place(operand)?.word(0)?;
        match lane {
            Arg::Number(n) => Ok(Arg::Number(n & (self.writer.wave - 1))),
            lane if !lane.is_vector() => Ok(lane),
            lane => {
                let scalar = self.fresh_scalar();
                let cost = self.cost(Primitive::Scalar(ScalarOp::ReadFirstLane).instruction().cost_class());
                let instruction = Instruction::new(Operation::ReadFirstLane, &[scalar], &[lane]);
                self.writer.put(&instruction, Waits::new(cost, lane, None))?;
                Ok(scalar)
            }
        }
    }

    /// A scalar into one lane of what was there before.
    fn write_lane(&mut self, step: &Step, at: usize) -> Placed {
        let ty = self.request.ty(step.ty);
        let value = self.place(step.args[0])?;
        let mut lane = self.lane_select(step.args[2])?;
        let written = self.destination(ty, step.args[1], at)?;
        if self.writer.generation < Generation::Rdna1 && matches!(lane, Arg::Scalar(_)) {
            self.writer.plain(Operation::ScalarMove, &[Arg::M0], &[lane])?;
            lane = Arg::M0;
        }
        for (n, register) in written.iter().enumerate() {
            let source = self.in_scalar(value.word(n)?)?;
            let instruction = Instruction::new(Operation::WriteLane, &[Arg::Vector(*register)], &[source, lane]);
            let cost = self.cost(Primitive::Scalar(ScalarOp::WriteLane).instruction().cost_class());
            self.writer.put(&instruction, Waits::new(cost, source, Some(lane)))?;
        }
        Ok(Place::Vector(written))
    }

    /// A scalar register or inline constant with the operand's value, which is the same in all lanes.
    fn in_scalar(&mut self, arg: Arg) -> Result<Arg, Unwritten> {
        if !arg.is_vector() && !arg.is_literal() {
            return Ok(arg);
        }
        let scalar = self.fresh_scalar();
        let operation = if arg.is_vector() { Operation::ReadFirstLane } else { Operation::ScalarMove };
        self.writer.plain(operation, &[scalar], &[arg])?;
        Ok(scalar)
    }

    fn count_below(&mut self, step: &Step, op: ScalarOp) -> Placed {
        let (operation, half) = match op {
            ScalarOp::CountBelowLow => (Operation::CountBelowLow, 0),
            _ => (Operation::CountBelowHigh, 1),
        };
        let mask = self.place(step.args[0])?.word(half)?;
        let count = self.place(step.args[1])?.word(0)?;
        let result = self.fresh_vector();
        self.writer.plain(operation, &[result], &[mask, count])?;
        Ok(Place::Vector(vec![vector_number(result)]))
    }
}

fn dpp_move(written: Arg, source: Arg, controls: String) -> Instruction {
    let mut instruction = Instruction::new(Operation::Move, &[written], &[source]);
    (instruction.suffix, instruction.modifiers) = ("_dpp".into(), controls);
    instruction
}

/// Whether a step is the other register of the same swap.
fn is_other_half(step: &Step, next: &Step) -> bool {
    use crate::lane::StepOp;
    let block = |step: &Step| match step.op {
        StepOp::Prim(Primitive::Permlane(PermlaneOp::SwapFirst { block, .. })) => Some((block, true)),
        StepOp::Prim(Primitive::Permlane(PermlaneOp::SwapSecond { block, .. })) => Some((block, false)),
        _ => None,
    };
    let mirrored = step.args[0] == next.args[1] && step.args[1] == next.args[0];
    match (block(step), block(next)) {
        (Some((a, first)), Some((b, second))) => mirrored && a == b && first != second,
        _ => false,
    }
}
