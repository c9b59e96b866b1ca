//! Cooperative matrices (SPV_KHR_cooperative_matrix): their types, conversions, and what only they do.

use super::Emitter;
use super::function::{Body, FEW};
use super::model::Direction;
use super::types::Key;
use crate::ir::{CooperativeMatrix, InstFlags, MatrixOp, MatrixRole, Scalar, ScalarKind, Space, TypeId, Value, Values};
use rspirv::spirv::{CooperativeMatrixOperands, CooperativeMatrixUse, Op, Word};
use smallvec::SmallVec;

/// Signs of A, B, C and the result.
const SIGNS: [CooperativeMatrixOperands; 4] = [
    CooperativeMatrixOperands::MATRIX_A_SIGNED_COMPONENTS_KHR,
    CooperativeMatrixOperands::MATRIX_B_SIGNED_COMPONENTS_KHR,
    CooperativeMatrixOperands::MATRIX_C_SIGNED_COMPONENTS_KHR,
    CooperativeMatrixOperands::MATRIX_RESULT_SIGNED_COMPONENTS_KHR,
];

const fn spirv_use(role: MatrixRole) -> CooperativeMatrixUse {
    match role {
        MatrixRole::A => CooperativeMatrixUse::MatrixAKHR,
        MatrixRole::B => CooperativeMatrixUse::MatrixBKHR,
        MatrixRole::Accumulator => CooperativeMatrixUse::MatrixAccumulatorKHR,
    }
}

impl Emitter<'_> {
    pub fn cooperative_type(&mut self, matrix: CooperativeMatrix) -> Word {
        let element = self.value_type(matrix.element);
        self.need_narrow_type(matrix.element);
        self.cooperative_type_of(matrix, element)
    }

    /// The type of matrices of the same shape whose elements have the type `element`.
    fn cooperative_type_of(&mut self, matrix: CooperativeMatrix, element: Word) -> Word {
        let [scope, rows, columns] = [matrix.scope, matrix.rows, matrix.columns].map(|id| self.constant(id));
        let role = self.u32(spirv_use(matrix.role) as Word);
        let operands = [element, scope, rows, columns, role];
        self.keyed(Key::Cooperative(operands), |m, id| {
            m.out.globals.named(Op::TypeCooperativeMatrixKHR, id, &operands);
        })
    }
}

impl Body<'_, '_> {
    pub fn cooperative(&mut self, ty: TypeId, op: MatrixOp, args: Values, flags: InstFlags) -> Word {
        match (op, self.f.values(args)) {
            (MatrixOp::Load, [pointer, layout, stride]) => {
                let mut operands: SmallVec<[Word; FEW]> =
                    [*pointer, *layout, *stride].into_iter().map(|value| self.value(value)).collect();
                self.access_operands(&mut operands, (self.space_of(*pointer), *pointer), flags, Direction::Reads);
                let ty = self.m.value_type(ty);
                self.emit(Op::CooperativeMatrixLoadKHR, ty, &operands)
            }
            (MatrixOp::Store, [pointer, ..]) => {
                let mut operands = self.values(args);
                self.access_operands(&mut operands, (self.space_of(*pointer), *pointer), flags, Direction::Writes);
                self.emit_void(Op::CooperativeMatrixStoreKHR, &operands);
                0
            }
            (MatrixOp::MulAdd { saturating }, values) => self.multiply_add(ty, values, saturating),
            (MatrixOp::Length(of), _) => {
                let (ty, of) = (self.m.scalar_type(Scalar::U32), self.m.value_type(of));
                self.emit(Op::CooperativeMatrixLengthKHR, ty, &[of])
            }
            _ => self.m.internal("an operation on matrices with other operands"),
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
        if !mask.is_empty() {
            operands.push(mask.bits());
        }
        let ty = self.m.value_type(ty);
        self.emit(Op::CooperativeMatrixMulAddKHR, ty, &operands)
    }

    /// The elements of a matrix as other numbers: between integers the width first, in the sign of the source.
    pub fn convert_cooperative(&mut self, value: Word, (from, to): (Scalar, Scalar), ty: TypeId) -> Word {
        use ScalarKind::{Float, Sint, Uint};
        let word = self.m.value_type(ty);
        let op = match (from.kind, to.kind) {
            (Float, Float) => Op::FConvert,
            (Float, Sint) => Op::ConvertFToS,
            (Float, Uint) => Op::ConvertFToU,
            (Sint, Float) => Op::ConvertSToF,
            (Uint, Float) => Op::ConvertUToF,
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
