//! Cooperative matrices (SPV_KHR_cooperative_matrix, SPV_NV_cooperative_matrix2): their types, conversions and special
//! operations.

use super::Emitter;
use super::capability::DECODE_VECTOR;
use super::function::{Body, FEW};
use super::math::float_conversion;
use super::model::Direction;
use super::types::Key;
use crate::ir::{
    CooperativeMatrix, Decoders, InstFlags, MatrixOp, MatrixRole, Scalar, ScalarKind, Space, TypeId, Types, Value,
    Values,
};
use rspirv::spirv::{
    Capability, CooperativeMatrixLayout, CooperativeMatrixOperands, CooperativeMatrixUse, MemoryAccess, Op,
    TensorAddressingOperands, Word,
};
use smallvec::{SmallVec, smallvec};

/// The tensor addressing operand of SPV_NV_cooperative_matrix_decode_vector, which rspirv does not list yet.
const DECODE_VECTOR_FUNC: Word = 4;

/// Signs of A, B, C and the result.
const SIGNS: [CooperativeMatrixOperands; 4] = [
    CooperativeMatrixOperands::MATRIX_A_SIGNED_COMPONENTS_KHR,
    CooperativeMatrixOperands::MATRIX_B_SIGNED_COMPONENTS_KHR,
    CooperativeMatrixOperands::MATRIX_C_SIGNED_COMPONENTS_KHR,
    CooperativeMatrixOperands::MATRIX_RESULT_SIGNED_COMPONENTS_KHR,
];

const fn spirv_use(role: MatrixRole) -> Option<CooperativeMatrixUse> {
    match role {
        MatrixRole::A => Some(CooperativeMatrixUse::MatrixAKHR),
        MatrixRole::B => Some(CooperativeMatrixUse::MatrixBKHR),
        MatrixRole::Accumulator => Some(CooperativeMatrixUse::MatrixAccumulatorKHR),
        MatrixRole::Any | MatrixRole::Vector => None,
    }
}

/// The instructions on matrices of one extension.
struct Instructions {
    load: Op,
    store: Op,
    multiply: Op,
    length: Op,
}

const fn instructions(of: MatrixRole) -> Instructions {
    match of {
        MatrixRole::Any => Instructions {
            load: Op::CooperativeMatrixLoadNV,
            store: Op::CooperativeMatrixStoreNV,
            multiply: Op::CooperativeMatrixMulAddNV,
            length: Op::CooperativeMatrixLengthNV,
        },
        _ => Instructions {
            load: Op::CooperativeMatrixLoadKHR,
            store: Op::CooperativeMatrixStoreKHR,
            multiply: Op::CooperativeMatrixMulAddKHR,
            length: Op::CooperativeMatrixLengthKHR,
        },
    }
}

impl Emitter<'_> {
    pub fn cooperative_type(&mut self, matrix: CooperativeMatrix) -> Word {
        let element = self.value_type(matrix.element);
        self.need_narrow_type(matrix.element);
        self.need_encoded_matrix(matrix.element);
        self.cooperative_type_of(matrix, element)
    }

    /// The type of matrices of the same shape with elements of type `element`.
    fn cooperative_type_of(&mut self, matrix: CooperativeMatrix, element: Word) -> Word {
        if matrix.is_vector() {
            let operands = [element, self.constant(matrix.columns)];
            self.needs.op(Op::TypeVectorIdEXT);
            return self.keyed(Key::CooperativeVector(operands), |m, id| {
                m.out.globals.named(Op::TypeVectorIdEXT, id, &operands);
            });
        }
        let [scope, rows, columns] = [matrix.scope, matrix.rows, matrix.columns].map(|id| self.constant(id));
        let (op, role) = match spirv_use(matrix.role) {
            Some(role) => (Op::TypeCooperativeMatrixKHR, self.u32(role as Word)),
            None => (Op::TypeCooperativeMatrixNV, 0),
        };
        self.needs.op(op);
        let operands = [element, scope, rows, columns, role];
        self.keyed(Key::Cooperative(operands), |m, id| {
            m.declare_workgroup_sizes();
            m.out.globals.named(op, id, if role == 0 { &operands[..4] } else { &operands });
        })
    }

    /// The number of elements of a matrix per invocation, as a constant; the instruction returns a `uint`.
    pub fn matrix_length(&mut self, of: TypeId, ty: TypeId) -> Word {
        let Some(matrix) = self.module.types.cooperative(of) else { return self.internal("the length of such a type") };
        let of = self.value_type(of);
        let length = self.spec_word(instructions(matrix.role).length, Types::U32, &[of]);
        self.spec_convert(Types::U32, ty, length)
    }

    /// Declares sizes from the pipeline before the first type of matrices with workgroup scope: spirv-val derives the
    /// number of invocations from them.
    fn declare_workgroup_sizes(&mut self) {
        let module = self.module;
        let sizes = module.entry_points.iter().map(|entry| entry.workgroup_size);
        for size in sizes.filter(|size| size.iter().any(|id| module.constants.is_spec(*id))).flatten() {
            self.constant(size);
        }
    }
}

impl Body<'_, '_> {
    pub fn cooperative(&mut self, ty: TypeId, op: MatrixOp, args: Values, flags: InstFlags) -> Word {
        match (op, self.f.values(args)) {
            (MatrixOp::Load, [pointer, layout, stride]) => {
                let role = self.role(ty);
                let mut operands: SmallVec<[Word; FEW]> = smallvec![self.value(*pointer)];
                operands.extend(self.layout_operands(role, *layout, *stride));
                self.access_operands(&mut operands, (self.space_of(*pointer), *pointer), flags, Direction::Reads);
                let load = instructions(role).load;
                let ty = self.m.value_type(ty);
                self.emit(load, ty, &operands)
            }
            (MatrixOp::Store, [pointer, matrix, layout, stride]) => {
                let role = self.role(self.type_of(*matrix).unwrap_or(ty));
                let mut operands: SmallVec<[Word; FEW]> = smallvec![self.value(*pointer), self.value(*matrix)];
                operands.extend(self.layout_operands(role, *layout, *stride));
                self.access_operands(&mut operands, (self.space_of(*pointer), *pointer), flags, Direction::Writes);
                self.emit_void(instructions(role).store, &operands);
                0
            }
            (MatrixOp::LoadVector, [pointer, _]) => {
                let mut operands = self.values(args);
                self.access_operands(&mut operands, (self.space_of(*pointer), *pointer), flags, Direction::Reads);
                let ty = self.m.value_type(ty);
                self.emit(Op::CooperativeVectorLoadNV, ty, &operands)
            }
            (MatrixOp::StoreVector, [pointer, ..]) => {
                let mut operands = self.values(args);
                self.access_operands(&mut operands, (self.space_of(*pointer), *pointer), flags, Direction::Writes);
                self.emit_void(Op::CooperativeVectorStoreNV, &operands);
                0
            }
            (MatrixOp::MulAdd { saturating }, values) => self.multiply_add(ty, values, saturating),
            (MatrixOp::LoadTensor(decoders), [pointer, kept, layout, view @ ..]) => {
                let tensor = (*pointer, *kept, *layout);
                self.load_tensor(ty, tensor, (view.first().copied(), decoders), flags)
            }
            (MatrixOp::StoreTensor, [pointer, value, layout, view @ ..]) => {
                let mut operands = self.tensor_operands((*pointer, *value, *layout), flags, Direction::Writes);
                self.tensor_addressing(&mut operands, view.first().copied(), Decoders::default());
                self.emit_void(Op::CooperativeMatrixStoreTensorNV, &operands);
                0
            }
            (MatrixOp::Reduce { parts, combine }, [matrix]) => {
                let operands = [self.value(*matrix), parts as Word, self.callee(combine)];
                let ty = self.m.value_type(ty);
                self.emit(Op::CooperativeMatrixReduceNV, ty, &operands)
            }
            (MatrixOp::PerElement(function), [matrix, rest @ ..]) => {
                let mut operands: SmallVec<[Word; FEW]> = smallvec![self.value(*matrix), self.callee(function)];
                operands.extend(rest.iter().map(|value| self.value(*value)));
                let ty = self.m.value_type(ty);
                self.emit(Op::CooperativeMatrixPerElementOpNV, ty, &operands)
            }
            (MatrixOp::Transpose, [matrix]) => {
                let operands = [self.value(*matrix)];
                let ty = self.m.value_type(ty);
                self.emit(Op::CooperativeMatrixTransposeNV, ty, &operands)
            }
            (MatrixOp::Length(of), _) => {
                let length = instructions(self.role(of)).length;
                let (ty, of) = (self.m.scalar_type(Scalar::U32), self.m.value_type(of));
                self.emit(length, ty, &[of])
            }
            _ => self.m.internal("an operation on matrices with other operands"),
        }
    }

    /// How a matrix is in memory, in the order of its extension's instructions.
    fn layout_operands(&mut self, role: MatrixRole, layout: Value, stride: Value) -> [Word; 2] {
        const BLOCKED: [u32; 2] = [
            CooperativeMatrixLayout::RowBlockedInterleavedARM as u32,
            CooperativeMatrixLayout::ColumnBlockedInterleavedARM as u32,
        ];
        if let Value::Const(id) = layout
            && self.m.default_bits(id).is_some_and(|bits| BLOCKED.contains(&(bits as u32)))
        {
            self.m.needs.capability(Capability::CooperativeMatrixLayoutsARM);
        }
        match role {
            MatrixRole::Any => [stride, layout],
            _ => [layout, stride],
        }
        .map(|value| self.value(value))
    }

    fn role(&self, of: TypeId) -> MatrixRole {
        self.m.module.types.cooperative(of).map_or(MatrixRole::Accumulator, |matrix| matrix.role)
    }

    fn load_tensor(
        &mut self,
        ty: TypeId,
        tensor: (Value, Value, Value),
        (view, decoders): (Option<Value>, Decoders),
        flags: InstFlags,
    ) -> Word {
        let mut operands = self.tensor_operands(tensor, flags, Direction::Reads);
        self.tensor_addressing(&mut operands, view, decoders);
        let ty = self.m.value_type(ty);
        self.emit(Op::CooperativeMatrixLoadTensorNV, ty, &operands)
    }

    /// Pointer, matrix, layout, and the memory operands, which are mandatory here.
    fn tensor_operands(
        &mut self,
        (pointer, matrix, layout): (Value, Value, Value),
        flags: InstFlags,
        direction: Direction,
    ) -> SmallVec<[Word; FEW]> {
        let mut operands: SmallVec<[Word; FEW]> =
            [pointer, matrix, layout].into_iter().map(|value| self.value(value)).collect();
        let before = operands.len();
        self.access_operands(&mut operands, (self.space_of(pointer), pointer), flags, direction);
        if operands.len() == before {
            operands.push(MemoryAccess::NONE.bits());
        }
        operands
    }

    fn tensor_addressing(&mut self, operands: &mut SmallVec<[Word; FEW]>, view: Option<Value>, decoders: Decoders) {
        let mut mask = TensorAddressingOperands::NONE;
        mask.set(TensorAddressingOperands::TENSOR_VIEW, view.is_some());
        mask.set(TensorAddressingOperands::DECODE_FUNC, decoders.scalar.is_some());
        operands.push(mask.bits() | decoders.vector.map_or(0, |_| DECODE_VECTOR_FUNC));
        operands.extend(view.map(|view| self.value(view)));
        if let Some(decode) = decoders.scalar {
            self.m.needs.capability(Capability::CooperativeMatrixBlockLoadsNV);
            operands.push(self.callee(decode));
        }
        if let Some(decode) = decoders.vector {
            self.m.needs.unlisted(DECODE_VECTOR);
            operands.push(self.callee(decode));
        }
    }

    fn space_of(&self, pointer: Value) -> Space {
        self.pointee_of(pointer).map_or(Space::Private, |(space, _)| space)
    }

    fn multiply_add(&mut self, ty: TypeId, values: &[Value], saturating: bool) -> Word {
        let types = &self.m.module.types;
        let of = values.iter().map(|value| self.type_of(*value).unwrap_or(ty)).chain([ty]);
        let signed = of.map(|ty| types.number_of(ty).is_some_and(Scalar::is_signed));
        let mut mask = CooperativeMatrixOperands::empty();
        SIGNS.into_iter().zip(signed).for_each(|(bit, signed)| mask.set(bit, signed));
        mask.set(CooperativeMatrixOperands::SATURATING_ACCUMULATION_KHR, saturating);
        let mut operands: SmallVec<[Word; FEW]> = values.iter().map(|value| self.value(*value)).collect();
        let multiply = instructions(self.role(ty)).multiply;
        if !mask.is_empty() && multiply == Op::CooperativeMatrixMulAddKHR {
            operands.push(mask.bits());
        }
        let ty = self.m.value_type(ty);
        self.emit(multiply, ty, &operands)
    }

    /// The elements of a matrix as other numbers, or the matrix in another role.
    pub fn convert_cooperative(
        &mut self,
        value: Value,
        (from, to): (CooperativeMatrix, CooperativeMatrix),
        ty: TypeId,
    ) -> Word {
        let value = self.value(value);
        let types = &self.m.module.types;
        let turned = from.role != to.role;
        let numbers = [from, to].map(|matrix| types.scalar_of(matrix.element));
        let [Some(number), Some(target)] = numbers else {
            return self.m.internal("a conversion of such types");
        };
        if turned {
            self.m.needs.op(Op::CooperativeMatrixConvertNV);
        }
        if number == target {
            let ty = self.m.value_type(ty);
            return self.emit(Op::CooperativeMatrixConvertNV, ty, &[value]);
        }
        let only_sign = number.is_int() && target.is_int() && number.width == target.width;
        let value = if turned && only_sign {
            let element = self.m.value_type(from.element);
            let between = self.m.cooperative_type_of(to, element);
            self.emit(Op::CooperativeMatrixConvertNV, between, &[value])
        } else {
            value
        };
        self.convert_elements(value, (number, target), ty)
    }

    /// Between integers the width first, in the sign of the source.
    fn convert_elements(&mut self, value: Word, (from, to): (Scalar, Scalar), ty: TypeId) -> Word {
        use ScalarKind::{Sint, Uint};
        let word = self.m.value_type(ty);
        if let Some(op) = float_conversion(from.kind, to.kind) {
            return self.emit(op, word, &[value]);
        }
        let op = match (from.kind, to.kind) {
            _ if from.width == to.width => Op::Bitcast,
            (Sint, Sint) => Op::SConvert,
            (Uint, Uint) => Op::UConvert,
            _ => return self.convert_in_two_steps(value, (from, to), ty),
        };
        self.emit(op, word, &[value])
    }

    fn convert_in_two_steps(&mut self, value: Word, (from, to): (Scalar, Scalar), ty: TypeId) -> Word {
        let Some(matrix) = self.m.module.types.cooperative(ty) else {
            return self.m.internal("a conversion of such types");
        };
        let element = Scalar { kind: from.kind, width: to.width };
        let element = self.m.scalar_type(element);
        let resized = self.m.cooperative_type_of(matrix, element);
        let op = if from.is_signed() { Op::SConvert } else { Op::UConvert };
        let between = self.emit(op, resized, &[value]);
        let word = self.m.value_type(ty);
        self.emit(Op::Bitcast, word, &[between])
    }
}
