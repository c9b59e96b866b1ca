//! Arithmetic: operators, conversions and built-in functions as tables from operation and scalar kind to an opcode, a
//! GLSL.std.450 instruction, or a short expansion (SPIR-V 1.6 section 3.49.11 on; extended instruction set
//! GLSL.std.450).
//!
//! Operations on matrices that SPIR-V lacks go column by column.

use super::constants::shape;
use super::function::Body;
use crate::ir::{BinaryOp, MathFn, Scalar, ScalarKind, Type, TypeId, Value, Values};
use rspirv::spirv::GlslStd450Op as G;
use rspirv::spirv::{Op, Word};

/// Opcode of a binary operator by kind of operand: bool, signed, unsigned, float; `Nop` if there is none.
const BINARY: [(BinaryOp, [Op; 4]); 18] = [
    (BinaryOp::Add, [Op::Nop, Op::IAdd, Op::IAdd, Op::FAdd]),
    (BinaryOp::Sub, [Op::Nop, Op::ISub, Op::ISub, Op::FSub]),
    (BinaryOp::Mul, [Op::Nop, Op::IMul, Op::IMul, Op::FMul]),
    (BinaryOp::Div, [Op::Nop, Op::SDiv, Op::UDiv, Op::FDiv]),
    (BinaryOp::Rem, [Op::Nop, Op::SRem, Op::UMod, Op::FRem]),
    (BinaryOp::And, [Op::LogicalAnd, Op::BitwiseAnd, Op::BitwiseAnd, Op::Nop]),
    (BinaryOp::Or, [Op::LogicalOr, Op::BitwiseOr, Op::BitwiseOr, Op::Nop]),
    (BinaryOp::Xor, [Op::LogicalNotEqual, Op::BitwiseXor, Op::BitwiseXor, Op::Nop]),
    (BinaryOp::Shl, [Op::Nop, Op::ShiftLeftLogical, Op::ShiftLeftLogical, Op::Nop]),
    (BinaryOp::Shr, [Op::Nop, Op::ShiftRightArithmetic, Op::ShiftRightLogical, Op::Nop]),
    (BinaryOp::LogicalAnd, [Op::LogicalAnd, Op::Nop, Op::Nop, Op::Nop]),
    (BinaryOp::LogicalOr, [Op::LogicalOr, Op::Nop, Op::Nop, Op::Nop]),
    (BinaryOp::Eq, [Op::LogicalEqual, Op::IEqual, Op::IEqual, Op::FOrdEqual]),
    (BinaryOp::Ne, [Op::LogicalNotEqual, Op::INotEqual, Op::INotEqual, Op::FUnordNotEqual]),
    (BinaryOp::Lt, [Op::Nop, Op::SLessThan, Op::ULessThan, Op::FOrdLessThan]),
    (BinaryOp::Le, [Op::Nop, Op::SLessThanEqual, Op::ULessThanEqual, Op::FOrdLessThanEqual]),
    (BinaryOp::Gt, [Op::Nop, Op::SGreaterThan, Op::UGreaterThan, Op::FOrdGreaterThan]),
    (BinaryOp::Ge, [Op::Nop, Op::SGreaterThanEqual, Op::UGreaterThanEqual, Op::FOrdGreaterThanEqual]),
];

/// The opcode of an operator on scalars and vectors of a kind. Rows are in the order of [`BinaryOp`].
pub(super) fn binary_opcode(op: BinaryOp, kind: ScalarKind) -> Option<Op> {
    let (_, row) = BINARY.get(op as usize)?;
    row.get(kind.column()).copied().filter(|op| *op != Op::Nop)
}

/// The conversion between two kinds, at least one of them a float.
pub(super) const fn float_conversion(from: ScalarKind, to: ScalarKind) -> Option<Op> {
    use ScalarKind::{Encoded, Float, Sint, Uint};
    Some(match (from, to) {
        (Float | Encoded(_), Float | Encoded(_)) => Op::FConvert,
        (Float | Encoded(_), Sint) => Op::ConvertFToS,
        (Float | Encoded(_), Uint) => Op::ConvertFToU,
        (Sint, Float | Encoded(_)) => Op::ConvertSToF,
        (Uint, Float | Encoded(_)) => Op::ConvertUToF,
        _ => return None,
    })
}

/// Arithmetic that a driver may contract unless forbidden (section 3.20, NoContraction).
pub(super) const fn can_contract(op: Op) -> bool {
    matches!(
        op,
        Op::FAdd
            | Op::FSub
            | Op::FMul
            | Op::FDiv
            | Op::FNegate
            | Op::FRem
            | Op::FMod
            | Op::Dot
            | Op::VectorTimesScalar
            | Op::MatrixTimesScalar
            | Op::VectorTimesMatrix
            | Op::MatrixTimesVector
            | Op::MatrixTimesMatrix
            | Op::OuterProduct
    )
}

/// A call of a built-in function.
struct Call<'w> {
    args: &'w [Word],
    /// Result type in the IR.
    ty: TypeId,
    /// Scalar of the first argument.
    scalar: Scalar,
    size: u8,
}

/// The implementation of a function for one kind of scalar.
#[derive(Clone, Copy)]
enum Form {
    No,
    Core(Op),
    Ext(G),
    /// The argument itself.
    Same,
    Expand(fn(&mut Body<'_, '_>, &Call<'_>) -> Word),
}

use Form::{Core, Expand, Ext, No, Same};

/// Forms for bool, signed, unsigned and float operands.
type Forms = [Form; 4];

const fn float(op: G) -> Forms {
    [No, No, No, Ext(op)]
}

const fn by_kind(signed: G, unsigned: G, float: G) -> Forms {
    [No, Ext(signed), Ext(unsigned), Ext(float)]
}

const fn integer(op: Op) -> Forms {
    [No, Core(op), Core(op), No]
}

const fn derivative(op: Op) -> Forms {
    [No, No, No, Core(op)]
}

const fn unsigned(op: G) -> Forms {
    [No, No, Ext(op), No]
}

/// How each function is computed, in the order of [`MathFn`].
static FUNCTIONS: [(MathFn, Forms); 94] = {
    use MathFn as F;
    [
        (F::Radians, float(G::Radians)),
        (F::Degrees, float(G::Degrees)),
        (F::Sin, float(G::Sin)),
        (F::Cos, float(G::Cos)),
        (F::Tan, float(G::Tan)),
        (F::Asin, float(G::Asin)),
        (F::Acos, float(G::Acos)),
        (F::Atan, float(G::Atan)),
        (F::Atan2, float(G::Atan2)),
        (F::Sinh, float(G::Sinh)),
        (F::Cosh, float(G::Cosh)),
        (F::Tanh, float(G::Tanh)),
        (F::Asinh, float(G::Asinh)),
        (F::Acosh, float(G::Acosh)),
        (F::Atanh, float(G::Atanh)),
        (F::Pow, float(G::Pow)),
        (F::Exp, float(G::Exp)),
        (F::Log, float(G::Log)),
        (F::Exp2, float(G::Exp2)),
        (F::Log2, float(G::Log2)),
        (F::Sqrt, float(G::Sqrt)),
        (F::InverseSqrt, float(G::InverseSqrt)),
        (F::Abs, [No, Ext(G::SAbs), Same, Ext(G::FAbs)]),
        (F::Sign, [No, Ext(G::SSign), Expand(sign_of_unsigned), Ext(G::FSign)]),
        (F::Floor, float(G::Floor)),
        (F::Trunc, float(G::Trunc)),
        (F::Round, float(G::Round)),
        (F::RoundEven, float(G::RoundEven)),
        (F::Ceil, float(G::Ceil)),
        (F::Fract, float(G::Fract)),
        (F::Mod, [No, No, No, Core(Op::FMod)]),
        (F::Modf, float(G::ModfStruct)),
        (F::Min, by_kind(G::SMin, G::UMin, G::FMin)),
        (F::Max, by_kind(G::SMax, G::UMax, G::FMax)),
        (F::Clamp, by_kind(G::SClamp, G::UClamp, G::FClamp)),
        (F::Mix, float(G::FMix)),
        (F::Step, float(G::Step)),
        (F::SmoothStep, float(G::SmoothStep)),
        (F::IsNan, [No, No, No, Core(Op::IsNan)]),
        (F::IsInf, [No, No, No, Core(Op::IsInf)]),
        (F::Fma, float(G::Fma)),
        (F::Frexp, float(G::FrexpStruct)),
        (F::Ldexp, float(G::Ldexp)),
        (F::PackSnorm4x8, float(G::PackSnorm4x8)),
        (F::UnpackSnorm4x8, unsigned(G::UnpackSnorm4x8)),
        (F::PackUnorm4x8, float(G::PackUnorm4x8)),
        (F::UnpackUnorm4x8, unsigned(G::UnpackUnorm4x8)),
        (F::PackSnorm2x16, float(G::PackSnorm2x16)),
        (F::UnpackSnorm2x16, unsigned(G::UnpackSnorm2x16)),
        (F::PackUnorm2x16, float(G::PackUnorm2x16)),
        (F::UnpackUnorm2x16, unsigned(G::UnpackUnorm2x16)),
        (F::PackHalf2x16, float(G::PackHalf2x16)),
        (F::UnpackHalf2x16, unsigned(G::UnpackHalf2x16)),
        (F::PackDouble2x32, unsigned(G::PackDouble2x32)),
        (F::UnpackDouble2x32, float(G::UnpackDouble2x32)),
        (F::Length, float(G::Length)),
        (F::Distance, float(G::Distance)),
        (F::Dot, [No, Expand(integer_dot), Expand(integer_dot), Expand(float_dot)]),
        (F::Cross, float(G::Cross)),
        (F::Normalize, float(G::Normalize)),
        (F::FaceForward, float(G::FaceForward)),
        (F::Reflect, float(G::Reflect)),
        (F::Refract, float(G::Refract)),
        (F::MatrixCompMult, [No, No, No, Expand(component_product)]),
        (F::Transpose, [No, No, No, Core(Op::Transpose)]),
        (F::Determinant, float(G::Determinant)),
        (F::Inverse, float(G::MatrixInverse)),
        (F::Any, [Expand(any), No, No, No]),
        (F::All, [Expand(all), No, No, No]),
        (F::AddCarry, [No, No, Core(Op::IAddCarry), No]),
        (F::SubBorrow, [No, No, Core(Op::ISubBorrow), No]),
        (F::MulExtended, [No, Core(Op::SMulExtended), Core(Op::UMulExtended), No]),
        (F::BitfieldExtract, [No, Core(Op::BitFieldSExtract), Core(Op::BitFieldUExtract), No]),
        (F::BitfieldInsert, integer(Op::BitFieldInsert)),
        (F::BitfieldReverse, integer(Op::BitReverse)),
        (F::BitCount, integer(Op::BitCount)),
        (F::FindLsb, [No, Ext(G::FindILsb), Ext(G::FindILsb), No]),
        (F::FindMsb, [No, Ext(G::FindSMsb), Ext(G::FindUMsb), No]),
        (F::CountLeadingZeros, [No, Expand(leading_zeros), Expand(leading_zeros), No]),
        (F::CountTrailingZeros, [No, Expand(trailing_zeros), Expand(trailing_zeros), No]),
        // These depend on the signs of two operands: see `dot`.
        (F::DotInt, [No, No, No, No]),
        (F::DotIntAccSat, [No, No, No, No]),
        (F::DotPacked, [No, No, No, No]),
        (F::DotPackedAccSat, [No, No, No, No]),
        (F::DerivX, derivative(Op::DPdx)),
        (F::DerivY, derivative(Op::DPdy)),
        (F::DerivWidth, derivative(Op::Fwidth)),
        (F::DerivXFine, derivative(Op::DPdxFine)),
        (F::DerivYFine, derivative(Op::DPdyFine)),
        (F::DerivWidthFine, derivative(Op::FwidthFine)),
        (F::DerivXCoarse, derivative(Op::DPdxCoarse)),
        (F::DerivYCoarse, derivative(Op::DPdyCoarse)),
        (F::DerivWidthCoarse, derivative(Op::FwidthCoarse)),
        // It has no operands.
        (F::IsHelper, [No, No, No, No]),
    ]
};

/// The functions that an instruction computes for some kinds of operands: bool, signed, unsigned, float.
pub fn functions_of(op: Op) -> Option<(MathFn, [bool; 4])> {
    function_with(|form| matches!(form, Core(of) if *of == op))
}

/// The functions that an instruction of GLSL.std.450 computes for some kinds of operands.
pub fn functions_of_set(op: G) -> Option<(MathFn, [bool; 4])> {
    function_with(|form| matches!(form, Ext(of) if *of == op))
}

fn function_with(is_it: impl Fn(&Form) -> bool) -> Option<(MathFn, [bool; 4])> {
    let kinds = |forms: &Forms| forms.each_ref().map(&is_it);
    FUNCTIONS.iter().map(|(function, forms)| (*function, kinds(forms))).find(|(_, kinds)| kinds.contains(&true))
}

/// The operator that an instruction computes for some kinds of operands.
pub fn operators_of(op: Op) -> Option<(BinaryOp, [bool; 4])> {
    let kinds = |row: &[Op; 4]| row.map(|of| of == op && of != Op::Nop);
    BINARY.iter().map(|(operator, row)| (*operator, kinds(row))).find(|(_, kinds)| kinds.contains(&true))
}

impl Body<'_, '_> {
    pub fn math(&mut self, function: MathFn, args: Values, ty: TypeId) -> Word {
        let f = self.f;
        if super::dot::is_int_dot(function) {
            return self.int_dot(function, f.values(args), ty);
        }
        if function == MathFn::IsHelper {
            return self.is_helper(ty);
        }
        let types = &self.m.module.types;
        let first = f.values(args).first().and_then(|value| self.type_of(*value));
        let Some((scalar, size)) = first.and_then(|ty| Some((types.scalar_of(ty)?, types.components(ty).unwrap_or(1))))
        else {
            return self.m.internal("a built-in function of no arguments");
        };
        let args = self.values(args);
        let word = self.m.value_type(ty);
        if scalar.encoding().is_some() {
            return self.encoded_math(function, &args, (ty, size));
        }
        match FUNCTIONS[function as usize].1[scalar.kind.column()] {
            No => self.m.unsupported("this built-in function on this type"),
            Same => args[0],
            Core(op) => self.emit(op, word, &args),
            Ext(op) => self.extended(self.without_nan(op), word, &args),
            Expand(expand) => expand(self, &Call { args: &args, ty, scalar, size }),
        }
    }

    /// The instruction that returns the operand that is not a NaN, if the options require it.
    fn without_nan(&self, op: G) -> G {
        match op {
            G::FMin if self.m.options.manner.nan_clamp => G::NMin,
            G::FMax if self.m.options.manner.nan_clamp => G::NMax,
            G::FClamp if self.m.options.manner.nan_clamp => G::NClamp,
            _ => op,
        }
    }

    /// SPIR-V 1.6 includes the demotion, but not this query, which is still in the extension.
    fn is_helper(&mut self, ty: TypeId) -> Word {
        self.m.needs.extension("SPV_EXT_demote_to_helper_invocation");
        let ty = self.m.value_type(ty);
        self.emit(Op::IsHelperInvocationEXT, ty, &[])
    }

    /// An instruction of GLSL.std.450.
    pub fn extended(&mut self, op: G, ty: Word, args: &[Word]) -> Word {
        let mut operands = [0; 6];
        operands[..2].copy_from_slice(&self.m.extended(op));
        let count = args.len().min(4);
        operands[2..2 + count].copy_from_slice(&args[..count]);
        self.emit(Op::ExtInst, ty, &operands[..2 + count])
    }

    /// An opcode on scalars or vectors, or on each column of matrices.
    pub fn by_column(&mut self, op: Op, ty: TypeId, args: &[Word]) -> Word {
        let word = self.m.value_type(ty);
        let Some((scalar, columns, rows)) = self.columns_of(ty) else { return self.emit(op, word, args) };
        let column = self.m.vector_type(scalar, rows);
        let results: Vec<Word> = (0..Word::from(columns))
            .map(|index| {
                let parts: Vec<Word> =
                    args.iter().map(|arg| self.emit(Op::CompositeExtract, column, &[*arg, index])).collect();
                self.emit(op, column, &parts)
            })
            .collect();
        self.emit(Op::CompositeConstruct, word, &results)
    }

    pub fn binary(&mut self, op: BinaryOp, a: Value, b: Value, ty: TypeId) -> Word {
        let operand = self.type_of(a).unwrap_or(ty);
        let kind = self.m.module.types.number_of(operand).map_or(ScalarKind::Uint, |scalar| scalar.kind);
        let words = [self.value(a), self.value(b)];
        let word = self.m.value_type(ty);
        match op {
            BinaryOp::TimesScalar => self.times_scalar(words, ty),
            BinaryOp::MatrixTimesVector => self.emit(Op::MatrixTimesVector, word, &words),
            BinaryOp::VectorTimesMatrix => self.emit(Op::VectorTimesMatrix, word, &words),
            BinaryOp::MatrixTimesMatrix => self.emit(Op::MatrixTimesMatrix, word, &words),
            BinaryOp::OuterProduct => self.emit(Op::OuterProduct, word, &words),
            _ => match binary_opcode(op, kind) {
                Some(_) if self.can_simplify(operand, ty) => self.simplified(op, ty, words),
                Some(op) => self.by_column(op, ty, &words),
                None => self.m.internal("an operator on operands that it does not take"),
            },
        }
    }

    fn times_scalar(&mut self, [vector, scalar]: [Word; 2], ty: TypeId) -> Word {
        let word = self.m.value_type(ty);
        match self.m.module.types.get(ty) {
            Type::CooperativeMatrix(of) if of.is_vector() => self.emit(Op::VectorTimesScalar, word, &[vector, scalar]),
            Type::Matrix { .. } | Type::CooperativeMatrix(_) => {
                self.emit(Op::MatrixTimesScalar, word, &[vector, scalar])
            }
            Type::Vector { scalar: of, .. } if of.is_float() => {
                self.emit(Op::VectorTimesScalar, word, &[vector, scalar])
            }
            Type::Vector { size, .. } => {
                let splat = self.splat(word, scalar, size);
                self.emit(Op::IMul, word, &[vector, splat])
            }
            Type::Scalar(of) => {
                let op = if of.is_float() { Op::FMul } else { Op::IMul };
                self.emit(op, word, &[vector, scalar])
            }
            _ => self.m.internal("a product of such types"),
        }
    }

    pub fn bitcast(&mut self, value: Value, ty: TypeId) -> Word {
        let word = self.m.value_type(ty);
        let from = self.type_of(value);
        let same = from.is_some_and(|from| self.m.value_type(from) == word);
        let value = self.value(value);
        if same { value } else { self.emit(self.bitcast_op(from, ty), word, &[value]) }
    }

    /// Conversions between references and numbers need their own instructions; pairs of words do not.
    fn bitcast_op(&self, from: Option<TypeId>, to: TypeId) -> Op {
        let types = &self.m.module.types;
        let refers = |ty: TypeId| types.referred(ty).is_some();
        let is_scalar = |ty: TypeId| matches!(types.get(ty), Type::Scalar(_));
        match from {
            Some(from) if refers(from) && is_scalar(to) => Op::ConvertPtrToU,
            Some(from) if is_scalar(from) && refers(to) => Op::ConvertUToPtr,
            _ => Op::Bitcast,
        }
    }

    pub fn convert(&mut self, value: Value, ty: TypeId) -> Word {
        let types = &self.m.module.types;
        let source = self.type_of(value);
        if let (Some(source), Some(target)) = (source.and_then(|from| types.cooperative(from)), types.cooperative(ty)) {
            return self.convert_cooperative(value, (source, target), ty);
        }
        let source = source.and_then(|from| types.number_of(from));
        let (Some(from), Some(to)) = (source, types.number_of(ty)) else {
            return self.m.internal("a conversion of such types");
        };
        let value = self.value(value);
        if from == to {
            return value;
        }
        if let Some((_, size)) = shape(types, ty) {
            return self.convert_vector(value, (from, to), size);
        }
        self.convert_matrix(value, (from, to), ty)
    }

    fn convert_matrix(&mut self, value: Word, (from, to): (Scalar, Scalar), ty: TypeId) -> Word {
        let Some((_, columns, rows)) = self.columns_of(ty) else {
            return self.m.internal("a conversion of such types");
        };
        let column = self.m.vector_type(from, rows);
        let mut converted = Vec::with_capacity(usize::from(columns));
        for index in 0..Word::from(columns) {
            let part = self.emit(Op::CompositeExtract, column, &[value, index]);
            converted.push(self.convert_vector(part, (from, to), rows));
        }
        let word = self.m.value_type(ty);
        self.emit(Op::CompositeConstruct, word, &converted)
    }

    fn convert_vector(&mut self, value: Word, (from, to): (Scalar, Scalar), size: u8) -> Word {
        let ty = self.m.vector_type(to, size);
        match (from.kind, to.kind) {
            (ScalarKind::Bool, _) => {
                let one = self.m.splat_constant(to, size, to.one_bits());
                let zero = self.m.splat_constant(to, size, 0);
                self.emit(Op::Select, ty, &[value, one, zero])
            }
            (kind, ScalarKind::Bool) => {
                let zero = self.m.splat_constant(from, size, 0);
                let op = if kind == ScalarKind::Float { Op::FUnordNotEqual } else { Op::INotEqual };
                self.emit(op, ty, &[value, zero])
            }
            (from_kind, to_kind) => match float_conversion(from_kind, to_kind) {
                Some(op) => self.emit(op, ty, &[value]),
                None => self.convert_integer(value, (from, to), size),
            },
        }
    }

    /// The width first, in the source's signedness (`OpUConvert` needs an unsigned result), then the signedness.
    fn convert_integer(&mut self, value: Word, (from, to): (Scalar, Scalar), size: u8) -> Word {
        let resized = if from.width == to.width {
            value
        } else {
            let ty = self.m.vector_type(Scalar { kind: from.kind, width: to.width }, size);
            let op = if from.is_signed() { Op::SConvert } else { Op::UConvert };
            self.emit(op, ty, &[value])
        };
        if from.kind == to.kind {
            return resized;
        }
        let ty = self.m.vector_type(to, size);
        self.emit(Op::Bitcast, ty, &[resized])
    }
}

fn any(body: &mut Body, call: &Call) -> Word {
    reduce_bools(body, call, Op::Any)
}

fn all(body: &mut Body, call: &Call) -> Word {
    reduce_bools(body, call, Op::All)
}

fn reduce_bools(body: &mut Body, call: &Call, op: Op) -> Word {
    if call.size == 1 {
        return call.args[0];
    }
    let ty = body.m.value_type(call.ty);
    body.emit(op, ty, call.args)
}

fn float_dot(body: &mut Body, call: &Call) -> Word {
    let ty = body.m.value_type(call.ty);
    let op = if call.size == 1 { Op::FMul } else { Op::Dot };
    body.emit(op, ty, call.args)
}

/// A sum of products; `OpSDot` would need another capability.
fn integer_dot(body: &mut Body, call: &Call) -> Word {
    let (vector, ty) = (body.m.vector_type(call.scalar, call.size), body.m.scalar_type(call.scalar));
    let products = body.emit(Op::IMul, vector, call.args);
    if call.size == 1 {
        return products;
    }
    let first = body.emit(Op::CompositeExtract, ty, &[products, 0]);
    (1..Word::from(call.size)).fold(first, |sum, index| {
        let next = body.emit(Op::CompositeExtract, ty, &[products, index]);
        body.emit(Op::IAdd, ty, &[sum, next])
    })
}

fn component_product(body: &mut Body, call: &Call) -> Word {
    body.by_column(Op::FMul, call.ty, call.args)
}

fn sign_of_unsigned(body: &mut Body, call: &Call) -> Word {
    let (ty, one) = (body.m.value_type(call.ty), body.m.splat_constant(call.scalar, call.size, 1));
    body.extended(G::UMin, ty, &[call.args[0], one])
}

/// `31 - FindUMsb(x)`: the search returns -1 for zero.
fn leading_zeros(body: &mut Body, call: &Call) -> Word {
    let ty = body.m.value_type(call.ty);
    let scalar = body.m.module.types.scalar_of(call.ty).unwrap_or(call.scalar);
    let most = body.m.splat_constant(scalar, call.size, 31);
    let found = body.extended(G::FindUMsb, ty, &[call.args[0]]);
    body.emit(Op::ISub, ty, &[most, found])
}

/// `min(FindILsb(x), 32)` as unsigned numbers: the search returns -1 for zero.
fn trailing_zeros(body: &mut Body, call: &Call) -> Word {
    let ty = body.m.value_type(call.ty);
    let scalar = body.m.module.types.scalar_of(call.ty).unwrap_or(call.scalar);
    let width = body.m.splat_constant(scalar, call.size, 32);
    let found = body.extended(G::FindILsb, ty, &[call.args[0]]);
    body.extended(G::UMin, ty, &[found, width])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_stand_in_the_order_of_the_operators() {
        for (index, (op, _)) in BINARY.iter().enumerate() {
            assert_eq!(*op as usize, index, "{op:?}");
        }
        assert_eq!(BinaryOp::TimesScalar as usize, BINARY.len());
        assert_eq!(ScalarKind::Float.column(), 3);
        assert_eq!(binary_opcode(BinaryOp::Lt, ScalarKind::Uint), Some(Op::ULessThan));
        assert_eq!(binary_opcode(BinaryOp::Lt, ScalarKind::Bool), None);
        assert_eq!(binary_opcode(BinaryOp::OuterProduct, ScalarKind::Float), None);
    }

    #[test]
    fn identity_of_unsigned_numbers_costs_nothing() {
        assert!(matches!(FUNCTIONS[MathFn::Abs as usize].1[ScalarKind::Uint.column()], Form::Same));
    }

    #[test]
    fn rows_stand_in_the_order_of_the_functions() {
        for (index, (function, _)) in FUNCTIONS.iter().enumerate() {
            assert_eq!(*function as usize, index, "{function:?}");
        }
        assert_eq!(FUNCTIONS.len(), MathFn::IsHelper as usize + 1);
    }
}
