//! The code of a resolved call.

use super::resolve::{Candidate, MOST_ARGS};
use super::{Argument, Called, Env, image, scopes};
use crate::glsl::convert;
use crate::grammar::{Instruction, Lowering, Mode, ResultSlot, TypeExpr};
use crate::ir::build::Builder;
use crate::ir::{
    AtomicOp, BinaryOp, ForeignInstruction, MathFn, MemoryKinds, Order, Passing, Requirements, Scalar, TypeId, Types,
    Value,
};
use crate::lane::LaneOp;
use smallvec::SmallVec;

/// Operands of an operation: the arguments that are read, converted to their parameters' types.
struct Operands {
    values: [Value; MOST_ARGS],
    len: usize,
}

impl Operands {
    fn collect(builder: &mut Builder<'_>, chosen: &Candidate, args: &[Argument], skip: Option<usize>) -> Operands {
        let filler = builder.const_u32(0);
        let mut operands = Operands { values: [filler; MOST_ARGS], len: 0 };
        for (index, (param, arg)) in chosen.overload.params.iter().zip(args).enumerate() {
            let read = matches!(param.mode, Mode::In | Mode::InOut) && skip != Some(index);
            if read {
                operands.values[operands.len] = operand(builder, chosen, index, arg.value);
                operands.len += 1;
            }
        }
        operands
    }

    fn values(&self) -> &[Value] {
        &self.values[..self.len]
    }
}

pub(super) fn operand(builder: &mut Builder<'_>, chosen: &Candidate, index: usize, value: Value) -> Value {
    if chosen.whole.is_some() && chosen.overload.params[index].ty == TypeExpr::Generic {
        return value;
    }
    if chosen.overload.params[index].ty.is_exact() {
        return value;
    }
    let ty = chosen.param(index).intern(&mut builder.module.types);
    let value = convert::numeric(builder, value, ty);
    match chosen.overload.params[index].ty {
        TypeExpr::Splat => builder.splat(value, chosen.generic.size()),
        TypeExpr::Test(_) => builder.convert(value, Types::BOOL),
        _ => value,
    }
}

/// Emits the operation and delivers its results as its row states.
pub fn emit(builder: &mut Builder<'_>, env: &Env<'_>, chosen: &Candidate, args: &[Argument]) -> Called {
    let overload = chosen.overload;
    let ty = match (overload.ret, chosen.whole) {
        (TypeExpr::Generic, Some(whole)) => whole,
        (ret, _) => ret.shape(chosen.generic).map_or(Types::VOID, |shape| shape.intern(&mut builder.module.types)),
    };
    let skip = match overload.lowering {
        Lowering::Lane { constant_arg, .. } => constant_arg.map(usize::from),
        _ => None,
    };
    let is_image = matches!(overload.lowering, Lowering::Image { .. });
    let operands = match is_image {
        true => Operands { values: [builder.const_u32(0); MOST_ARGS], len: 0 },
        false => Operands::collect(builder, chosen, args, skip),
    };
    let has_counters = env.profile.client.row().has_default_block;
    let (has_quads, wave_size) = (env.has_quads(), env.wave_size);
    let operation = Operation { has_quads, wave_size, has_counters, chosen, args, ty };
    let parts = operation.emit(builder, operands.values());
    operation.deliver(builder, parts)
}

/// Operands of an atomic operation in addition to the memory.
const fn atomic_operands(op: AtomicOp) -> usize {
    match op {
        AtomicOp::Load => 0,
        AtomicOp::CompareExchange => 2,
        _ => 1,
    }
}

/// The results of an operation: none, one value, or two.
#[derive(Clone, Copy)]
pub(super) enum Parts {
    None,
    One(Value),
    Two(Value, Value),
}

pub(super) struct Operation<'a> {
    /// True if derivatives and levels of detail come from neighbours in quads.
    pub has_quads: bool,
    /// Lanes of a subgroup if the number is known.
    pub wave_size: Option<u32>,
    /// True if the language has atomic counters.
    pub has_counters: bool,
    pub chosen: &'a Candidate,
    pub args: &'a [Argument],
    /// Type that the call returns.
    pub ty: TypeId,
}

impl Operation<'_> {
    fn emit(&self, builder: &mut Builder<'_>, operands: &[Value]) -> Parts {
        let first = operands.first().copied();
        match (self.chosen.overload.lowering, operands) {
            (Lowering::Math(function), _) => self.math(builder, function, operands),
            (Lowering::Unary(op), [a]) => Parts::One(builder.unary(op, *a)),
            (Lowering::Binary(op), [a, b]) => Parts::One(builder.binary(op, *a, *b)),
            (Lowering::Bitcast, [a]) => Parts::One(builder.bitcast(*a, self.ty)),
            (Lowering::Saturated, [value]) => Parts::One(self.saturated(builder, *value)),
            (Lowering::Select, [reject, accept, condition]) => Parts::One(builder.select(*condition, *accept, *reject)),
            (Lowering::Hint, _) if self.ty == Types::VOID => Parts::None,
            (Lowering::Hint, [value, ..]) => Parts::One(*value),
            (Lowering::Atomic(op), _) => self.atomic(builder, op, operands),
            (Lowering::Count { up }, _) => self.count(builder, up),
            (Lowering::Image { op, roles }, _) => image::emit(builder, self, op, roles),
            (Lowering::Barrier { execution, memory, kinds }, _) => {
                let kinds = self.ordered(kinds);
                builder.barrier(execution, memory, kinds, Order::AcquireRelease);
                Parts::None
            }
            (Lowering::Pixel { stencil }, _) => Parts::One(builder.pixel(stencil)),
            (Lowering::Interlock { begin }, _) => {
                builder.interlock(begin);
                Parts::None
            }
            (Lowering::End(ending), _) => {
                builder.end(ending, operands);
                Parts::None
            }
            (Lowering::ScopedBarrier { waits }, _) => {
                scopes::barrier(builder, waits, operands);
                Parts::None
            }
            (Lowering::Lane { op, constant_arg }, _) => self.lane(builder, op, constant_arg, operands),
            (Lowering::Instruction(row), _) => Parts::One(self.instruction(builder, row, operands)),
            (Lowering::Derived(of), _) => Parts::One(builder.derived(of, self.ty, operands, self.wave_size)),
            (Lowering::LaneAndValid { op, valid }, _) => {
                let value = builder.lane_as(op, self.ty, operands);
                Parts::Two(value, builder.lane(valid, Types::BOOL, &operands[1..]))
            }
            _ => first.map_or(Parts::None, Parts::One),
        }
    }

    /// The value converted to the type of the argument.
    fn saturated(&self, builder: &mut Builder<'_>, value: Value) -> Value {
        let ty = self.chosen.generic.intern(&mut builder.module.types);
        builder.convert_saturated(value, ty)
    }

    fn math(&self, builder: &mut Builder<'_>, function: MathFn, operands: &[Value]) -> Parts {
        if function.is_derivative() && !self.has_quads {
            return Parts::One(builder.zero(self.ty));
        }
        if function.is_derivative() && self.chosen.generic.scalar() == Scalar::F16 {
            return Parts::One(self.half_derivative(builder, function, operands[0]));
        }
        match self.chosen.overload.results.len() {
            2 => {
                let pair = builder.math(function, operands);
                Parts::Two(builder.extract(pair, 0), builder.extract(pair, 1))
            }
            _ => Parts::One(builder.math_as(function, self.ty, operands)),
        }
    }

    /// Derivatives are computed in 32 bits, because no target supports 16 (SPIR-V 1.6 section 3.42.16).
    fn half_derivative(&self, builder: &mut Builder<'_>, function: MathFn, half: Value) -> Value {
        let wide = self.chosen.generic.with_scalar(Scalar::F32).intern(&mut builder.module.types);
        let value = builder.convert(half, wide);
        let derivative = builder.math_as(function, wide, &[value]);
        builder.convert(derivative, self.ty)
    }

    fn instruction(&self, builder: &mut Builder<'_>, row: &Instruction, operands: &[Value]) -> Value {
        let first = row.first.map(|number| builder.const_u32(number));
        let operands: SmallVec<[Value; MOST_ARGS]> = first.into_iter().chain(operands.iter().copied()).collect();
        let instruction = builder.known_instruction(ForeignInstruction {
            set: row.set.map(Into::into),
            opcode: row.opcode,
            arguments: vec![Passing::Value; operands.len()],
            requires: Requirements {
                extensions: row.extension.into_iter().map(Into::into).collect(),
                capabilities: row.capability.into_iter().collect(),
            },
        });
        builder.foreign(instruction, &operands, self.ty)
    }

    /// Atomics without a scope have queue family scope, and order nothing (GLSL 4.60 section 8.11).
    fn atomic(&self, builder: &mut Builder<'_>, op: AtomicOp, operands: &[Value]) -> Parts {
        let Some(memory) = self.args.first() else { return Parts::None };
        let swapped;
        let (operands, how) = operands.split_at(atomic_operands(op).min(operands.len()));
        let operands = match (op, operands) {
            (AtomicOp::CompareExchange, [compare, new]) => {
                swapped = [*new, *compare];
                &swapped[..]
            }
            _ => operands,
        };
        let (scope, order) = scopes::of_atomic(builder, how);
        Parts::One(builder.atomic(op, memory.value, operands, scope, order))
    }

    /// The memory that a barrier orders. A barrier for all memory includes atomic counters, if the language has them.
    fn ordered(&self, kinds: MemoryKinds) -> MemoryKinds {
        let all = MemoryKinds::BUFFER | MemoryKinds::SHARED | MemoryKinds::IMAGE;
        if self.has_counters && kinds.contains(all) { kinds | MemoryKinds::ATOMIC_COUNTER } else { kinds }
    }

    /// One step of an atomic counter (GLSL 4.60 section 8.10).
    fn count(&self, builder: &mut Builder<'_>, up: bool) -> Parts {
        let Some(counter) = self.args.first() else { return Parts::None };
        let (op, one) = (if up { AtomicOp::Add } else { AtomicOp::Sub }, builder.const_u32(1));
        let (scope, order) = scopes::of_atomic(builder, &[]);
        let before = builder.atomic(op, counter.value, &[one], scope, order);
        Parts::One(if up { before } else { builder.binary(BinaryOp::Sub, before, one) })
    }

    fn lane(&self, builder: &mut Builder<'_>, op: LaneOp, constant_arg: Option<u8>, operands: &[Value]) -> Parts {
        let constants = constant_arg.map(|index| self.constants(builder, usize::from(index)));
        let op = constants.and_then(|constants| op.with_constants(&constants)).unwrap_or(op);
        let ty = self.lane_type(builder, operands);
        let value = builder.lane_as(op, ty, operands);
        match self.chosen.overload.results.len() {
            2 => Parts::Two(builder.extract(value, 0), builder.extract(value, 1)),
            _ => Parts::One(value),
        }
    }

    /// The components of a constant argument, which have been checked.
    fn constants(&self, builder: &Builder<'_>, index: usize) -> SmallVec<[u32; 4]> {
        let rule = self.chosen.overload.params[index].rule;
        let values = super::check::known_values(builder, &self.args[index]);
        values.into_iter().filter_map(|value| u32::try_from(value).ok()).map(|value| rule.meant(value)).collect()
    }

    /// Type of the operation's result: the return type, or the type of the operands that are written back.
    fn lane_type(&self, builder: &mut Builder<'_>, operands: &[Value]) -> TypeId {
        match operands {
            _ if self.chosen.overload.results.is_empty() => self.ty,
            [key, value] => {
                let (key, value) = (builder.type_of(*key), builder.type_of(*value));
                builder.module.types.pair(key, value)
            }
            [key] => builder.type_of(*key),
            _ => self.ty,
        }
    }

    fn deliver(&self, builder: &mut Builder<'_>, parts: Parts) -> Called {
        let mut result = Called::default();
        let parts = match parts {
            Parts::None => return result,
            Parts::One(value) => [Some(value), None],
            Parts::Two(first, second) => [Some(first), Some(second)],
        };
        let places: &[ResultSlot] = match self.chosen.overload.results {
            [] => &[ResultSlot::Return],
            places => places,
        };
        for (place, value) in places.iter().zip(parts.into_iter().flatten()) {
            match place {
                ResultSlot::Return => result.value = Some(value).filter(|_| self.ty != Types::VOID),
                ResultSlot::Argument(index) => result.writes.push(self.write(builder, usize::from(*index), value)),
            }
        }
        result
    }

    fn write(&self, builder: &mut Builder<'_>, argument: usize, value: Value) -> (usize, Value) {
        (argument, convert::numeric(builder, value, self.args[argument].ty))
    }
}
