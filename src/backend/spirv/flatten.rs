//! Selections without branches, for `-O` and `-Os`: both sides of a short, purely computational selection are written,
//! and `OpSelect` chooses each resulting value.
//!
//! A side qualifies if running it speculatively has no observable effect: it reads only values and memory that is
//! always accessible, writes only promoted variables, and contains no operation that is undefined for some operand.

use super::function::Body;
use super::promote::State;
use crate::ir::{
    BinaryOp, BlockId, ControlHint, InstFlags, InstId, MathFn, Op as O, Scalar, Space, Type, TypeId, Types, Value,
    Values,
};
use rspirv::spirv::{Op, Word};
use std::ops::Range;

/// Instructions of both sides together, and choices after them.
const FEW: u32 = 8;
/// The limit for a selection with a `flatten` attribute.
const MANY: u32 = 64;

/// The instructions that a selection without branches may have.
const fn most(hint: ControlHint) -> u32 {
    match hint {
        ControlHint::DontFlatten => 0,
        ControlHint::Flatten => MANY,
        _ => FEW,
    }
}

/// The results of one side of a selection.
struct Side {
    /// State of the variables that the selection stores to.
    state: State,
    given: Option<Word>,
}

impl Body<'_, '_> {
    /// Writes a selection without branches, if it qualifies; returns its value, or 0 if it has none.
    pub fn flattened(
        &mut self,
        condition: Value,
        blocks: (BlockId, BlockId),
        hint: ControlHint,
        ty: TypeId,
    ) -> Option<Word> {
        if !self.m.optimizes {
            return None;
        }
        let cost = self.choices(self.at, ty)? + self.side_cost(blocks.0)? + self.side_cost(blocks.1)?;
        if cost > most(hint) {
            return None;
        }
        let (list, condition) = (self.stored_by(self.at), self.value(condition));
        Some(self.choose_side(condition, blocks, list, ty))
    }

    fn choose_side(&mut self, condition: Word, blocks: (BlockId, BlockId), list: Range<usize>, ty: TypeId) -> Word {
        let before = self.state(list.clone());
        let then = self.side(blocks.0, list.clone());
        self.set_state(list.clone(), &before);
        let otherwise = self.side(blocks.1, list.clone());
        (self.decorations, self.shares) = (0, true);
        let mut after = before;
        for (at, local) in self.promoted.listed(list.clone()).collect::<Vec<_>>().into_iter().enumerate() {
            after[at] = self.choice(condition, self.f.locals[local].ty, [then.state[at], otherwise.state[at]]);
        }
        self.set_state(list, &after);
        match (then.given, otherwise.given) {
            (Some(then), Some(otherwise)) => self.choice(condition, ty, [then, otherwise]),
            _ => 0,
        }
    }

    /// Writes a side into the block being written.
    fn side(&mut self, block: BlockId, list: Range<usize>) -> Side {
        let (f, mut given) = (self.f, None);
        for id in &f.blocks[block].insts {
            match f.insts[*id].op {
                O::Yield(value) => given = Some(self.value(value)),
                _ => self.instruction(*id),
            }
        }
        Side { state: self.state(list), given }
    }

    /// One of two values of a type. A select with a constant `bool` is a conjunction or disjunction.
    fn choice(&mut self, condition: Word, ty: TypeId, [then, otherwise]: [Word; 2]) -> Word {
        if then == otherwise {
            return then;
        }
        self.m.need_narrow_type(ty);
        let (module, word) = (self.m.module, self.m.value_type(ty));
        if ty == Types::BOOL {
            match [then, otherwise].map(|word| self.m.constants.bits(word)) {
                [Some(1), Some(0)] => return condition,
                [Some(1), _] => return self.emit(Op::LogicalOr, word, &[condition, otherwise]),
                [_, Some(0)] => return self.emit(Op::LogicalAnd, word, &[condition, then]),
                _ => {}
            }
        }
        let condition = match module.types.get(ty) {
            Type::Vector { size, .. } if !self.m.version.has_1_4() => {
                let bools = self.m.vector_type(Scalar::BOOL, size);
                self.splat(bools, condition, size)
            }
            _ => condition,
        };
        self.emit(Op::Select, word, &[condition, then, otherwise])
    }

    /// The selects after a selection; `None` if one of them is impossible.
    fn choices(&self, selection: InstId, ty: TypeId) -> Option<u32> {
        let list = self.stored_by(selection);
        let locals = self.promoted.listed(list.clone()).map(|local| self.f.locals[local].ty);
        let can_choose = locals.chain([ty]).all(|ty| self.can_choose(ty));
        can_choose.then_some(list.len() as u32 + u32::from(ty != Types::VOID))
    }

    /// Returns true for the types that can be selected, and for no type.
    fn can_choose(&self, ty: TypeId) -> bool {
        ty == Types::VOID || matches!(self.m.module.types.get(ty), Type::Scalar(_) | Type::Vector { .. })
    }

    /// The instructions that a side adds; `None` if it does not qualify, or is too long in any case.
    fn side_cost(&self, block: BlockId) -> Option<u32> {
        let insts = &self.f.blocks[block].insts;
        insts.iter().try_fold(0, |sum, id| Some(sum + self.cost(*id)?).filter(|sum| *sum <= MANY))
    }

    fn cost(&self, id: InstId) -> Option<u32> {
        let inst = &self.f.insts[id];
        if inst.flags.intersects(!(InstFlags::PRECISE | InstFlags::RELAXED)) {
            return None;
        }
        match inst.op {
            O::Yield(_) => Some(0),
            O::If { then, otherwise, .. } => {
                Some(self.side_cost(then)? + self.side_cost(otherwise)? + self.choices(id, inst.ty)?)
            }
            O::Access { indices, .. } => self.is_fixed(indices).then_some(0),
            O::Load(pointer) => self.is_always_there(pointer).then_some(0),
            O::Store { pointer, .. } => self.promoted_at(pointer).map(|_| 0),
            O::Binary(op, operand, _) => self.cost_of(op, operand),
            O::Math(function, _) => is_short(function).then_some(1),
            O::Convert(from) => self.is_total_conversion(from, inst.ty).then_some(1),
            O::Unary(..)
            | O::Bitcast(_)
            | O::Select { .. }
            | O::Construct(_)
            | O::Splat(_)
            | O::Extract { .. }
            | O::Insert { .. }
            | O::Shuffle { .. } => self.can_choose(inst.ty).then_some(1),
            _ => None,
        }
    }

    fn is_fixed(&self, indices: Values) -> bool {
        self.f.values(indices).iter().all(|index| matches!(index, Value::Const(_)))
    }

    /// Returns true if a pointer without an index that is computed leads to a value, an input or a push constant.
    fn is_always_there(&self, pointer: Value) -> bool {
        self.promoted_at(pointer).is_some()
            || self.pointee_of(pointer).is_some_and(|(space, _)| {
                matches!(space, Space::Input | Space::PushConstant) && self.is_constant(space, pointer)
            })
    }

    /// The cost of a binary operator; `None` for integer operators that are undefined for some operands.
    fn cost_of(&self, op: BinaryOp, operand: Value) -> Option<u32> {
        let ty = self.type_of(operand)?;
        let scalar = self.m.module.types.number_of(ty).filter(|_| self.can_choose(ty))?;
        match op {
            BinaryOp::Div | BinaryOp::Rem if !scalar.is_float() => None,
            BinaryOp::Div | BinaryOp::Rem => Some(4),
            _ => Some(1),
        }
    }

    /// Returns false for conversions of floats to integers, which are undefined out of range.
    fn is_total_conversion(&self, from: Value, to: TypeId) -> bool {
        let number = |ty| self.m.module.types.number_of(ty);
        let from = self.type_of(from).and_then(number);
        match (from, number(to).filter(|_| self.can_choose(to))) {
            (Some(from), Some(to)) => {
                from.encoding().is_none() && to.encoding().is_none() && (!from.is_float() || !to.is_int())
            }
            _ => false,
        }
    }
}

/// Returns true for the built-in functions that take hardware one or two instructions.
const fn is_short(function: MathFn) -> bool {
    use MathFn as F;
    matches!(
        function,
        F::Abs
            | F::Sign
            | F::Floor
            | F::Trunc
            | F::RoundEven
            | F::Ceil
            | F::Fract
            | F::Min
            | F::Max
            | F::Clamp
            | F::Mix
            | F::Step
            | F::IsNan
            | F::IsInf
            | F::Fma
            | F::Any
            | F::All
            | F::BitCount
    )
}
