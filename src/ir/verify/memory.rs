//! Rules of pointers and memory, and the operands of the remaining operations.

use super::body::Body;
use super::{Check, ensure};
use crate::ir::{
    ArrayLen, AtomicOp, Inst, InterpolateAt, Op, RayOp, RaySubject, Scalar, Space, Type, TypeId, Types, Value, Values,
};

impl Body<'_> {
    pub fn memory(&mut self, inst: &Inst) -> Check {
        match inst.op {
            Op::Access { base, indices } => self.access(inst.ty, base, indices),
            Op::Load(pointer) => {
                let (_, logical) = self.pointee(pointer)?;
                self.expect(inst.ty, logical)
            }
            Op::Store { pointer, value } => self.store(inst.ty, pointer, value),
            Op::ArrayLength { block } => self.array_length(inst.ty, block),
            Op::Atomic { op, pointer, args, .. } => self.atomic(inst.ty, op, pointer, args),
            Op::Image { op, parts, operands } => self.image(inst.ty, op, parts, operands),
            Op::Interpolate { at, pointer, args } => self.interpolate(inst.ty, at, pointer, args),
            Op::Ray { op, on, args } => self.ray(inst.ty, op, on, args),
            Op::Print { text, args } => {
                ensure!((text as usize) < self.module.texts.len(), "there is no such text");
                self.list_types(args)?;
                self.expect(inst.ty, Types::VOID)
            }
            Op::PixelDepth => self.expect(inst.ty, Types::F32),
            Op::PixelStencil => self.expect(inst.ty, Types::U32),
            Op::Barrier { .. } | Op::Demote | Op::Interlock { .. } => self.expect(inst.ty, Types::VOID),
            _ => self.flow_operands(inst),
        }
    }

    /// Space and logical type of a pointer's target, which must be loadable.
    fn pointee(&mut self, pointer: Value) -> Result<(Space, TypeId), String> {
        let ty = self.value(pointer)?;
        let Some((space, pointee)) = self.types.pointee(ty) else {
            return Err(format!("{} is not a pointer", self.name(ty)));
        };
        let is_open = matches!(self.types.get(pointee), Type::Array { len: ArrayLen::Runtime, .. });
        ensure!(!is_open, "a run-time array is not a value");
        Ok((space, self.types.logical(pointee)))
    }

    fn interpolate(&mut self, ty: TypeId, at: InterpolateAt, pointer: Value, args: Values) -> Check {
        let (space, of) = self.pointee(pointer)?;
        ensure!(space == Space::Input, "nothing is interpolated in {space:?} space");
        let (scalar, _) = self.shape(of)?;
        ensure!(scalar.is_float() || at == InterpolateAt::Vertex, "{} is not interpolated", self.name(of));
        let args = self.list_types(args)?;
        let expected = match at {
            InterpolateAt::Centroid => None,
            InterpolateAt::Sample => Some(Types::I32),
            InterpolateAt::Vertex => Some(Types::U32),
            InterpolateAt::Offset => Some(self.types.vector(Scalar::F32, 2)),
        };
        ensure!(args.len() == usize::from(expected.is_some()), "{} arguments", args.len());
        args.iter().zip(expected).try_for_each(|(arg, expected)| self.expect(*arg, expected))?;
        self.expect(ty, of)
    }

    fn ray(&mut self, ty: TypeId, op: RayOp, on: Value, args: Values) -> Check {
        let of = self.value(on)?;
        match op.subject() {
            RaySubject::Address => ensure!(self.shape(of)? == (Scalar::U32, 2), "an address of {}", self.name(of)),
            RaySubject::Structure => {
                ensure!(self.types.get(of) == Type::AccelerationStructure, "{} is not a structure", self.name(of));
            }
            RaySubject::Query => {
                let pointee = self.types.pointee(of).map(|(_, pointee)| self.types.get(pointee));
                ensure!(pointee == Some(Type::RayQuery), "{} is not a pointer to a ray query", self.name(of));
            }
        }
        let (found, wanted) = (self.list_types(args)?, op.operands());
        ensure!(found.len() == wanted.len(), "{} operands instead of {}", found.len(), wanted.len());
        for (found, wanted) in found.into_iter().zip(wanted) {
            let wanted = wanted.ty(self.types);
            self.expect(found, wanted)?;
        }
        let result = op.result(self.types);
        self.expect(ty, result)
    }

    fn access(&mut self, ty: TypeId, base: Value, indices: Values) -> Check {
        let of = self.value(base)?;
        let indices = self.list(indices)?;
        let (space, mut pointee) = match self.types.get(of) {
            Type::BufferReference { pointee, .. } => (Space::Physical, self.types.intern(Type::Struct(pointee))),
            Type::Pointer { space, pointee } => {
                ensure!(!matches!(base, Value::Inst(_)), "the chain is not flat: its base is an instruction");
                ensure!(!indices.is_empty(), "no index");
                (space, pointee)
            }
            _ => return Err(format!("{} is not a pointer", self.name(of))),
        };
        for index in indices {
            pointee = self.step(pointee, *index)?;
        }
        let expected = self.types.pointer(space, pointee);
        self.expect(ty, expected)
    }

    /// Type of a part of memory.
    fn step(&mut self, of: TypeId, index: Value) -> Result<TypeId, String> {
        self.int_value(index)?;
        let known = match index {
            Value::Const(id) => self.module.constants.bits(id),
            _ => None,
        };
        let is_struct = matches!(self.types.get(of), Type::Struct(_));
        ensure!(!is_struct || known.is_some(), "the member of {} is not constant", self.name(of));
        if let (Some(index), Ok(count), false) = (known, self.part_count(of), self.is_open(of)) {
            ensure!(index < u64::from(count), "{} has no part {index}", self.name(of));
        }
        let part = self.types.element(of, known.unwrap_or(0) as u32);
        part.ok_or_else(|| format!("{} has no parts", self.name(of)))
    }

    fn store(&mut self, ty: TypeId, pointer: Value, value: Value) -> Check {
        let (space, logical) = self.pointee(pointer)?;
        let read_only = matches!(
            space,
            Space::Uniform | Space::PushConstant | Space::ShaderRecord | Space::Input | Space::Handle | Space::Loose
        );
        ensure!(!read_only, "memory in {space:?} space cannot be written");
        let found = self.value(value)?;
        self.expect(found, logical)?;
        self.expect(ty, Types::VOID)
    }

    fn array_length(&mut self, ty: TypeId, block: Value) -> Check {
        let of = self.value(block)?;
        let last = match self.types.pointee(of).map(|(_, pointee)| self.types.get(pointee)) {
            Some(Type::Struct(id)) => self.types.structs[id].members.last().map(|member| self.types.get(member.ty)),
            _ => None,
        };
        let is_open = matches!(last, Some(Type::Array { len: ArrayLen::Runtime, .. }));
        ensure!(is_open, "{} ends in no run-time array", self.name(of));
        self.expect(ty, Types::U32)
    }

    fn atomic(&mut self, ty: TypeId, op: AtomicOp, pointer: Value, args: Values) -> Check {
        let (space, of) = self.pointee(pointer)?;
        let counts = self.types.get(of) == Type::AtomicCounter;
        let of = if counts { Types::U32 } else { of };
        let shared = matches!(space, Space::Storage | Space::TaskPayload | Space::Workgroup | Space::Physical);
        ensure!(shared || counts, "no atomics in {space:?} space");
        let taken = match self.types.get(of) {
            Type::Scalar(scalar) => atomic_takes(op, scalar),
            Type::Vector { scalar: Scalar::F16, size: 2 | 4 } => op.takes_vectors(),
            _ => return Err(format!("{} is not a scalar", self.name(of))),
        };
        ensure!(taken, "not for {}", self.name(of));
        let args = self.list_types(args)?;
        let count = match op {
            AtomicOp::Load => 0,
            AtomicOp::CompareExchange => 2,
            _ => 1,
        };
        ensure!(args.len() == count, "{} arguments instead of {count}", args.len());
        args.iter().try_for_each(|arg| self.expect(*arg, of))?;
        self.expect(ty, if op == AtomicOp::Store { Types::VOID } else { of })
    }
}

/// Floats can be moved, added and compared, not more.
fn atomic_takes(op: AtomicOp, scalar: Scalar) -> bool {
    match op {
        AtomicOp::And | AtomicOp::Or | AtomicOp::Xor | AtomicOp::Sub | AtomicOp::CompareExchange => scalar.is_int(),
        _ => scalar.is_number(),
    }
}
