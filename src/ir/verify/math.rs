//! Rules of built-in functions: a row describes each operand.

use super::body::Body;
use super::{Check, ensure};
use crate::ir::typing;
use crate::ir::{MathFn, Scalar, Type, TypeId, Types, Values};

/// The kind of a built-in function's operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    /// A float, or a vector of floats.
    Float,
    /// An integer, or a vector of integers.
    Int,
    /// A float or an integer, or a vector of them.
    Number,
    /// A number as above, or a float type that only supports such products.
    Factor,
    /// The type of the first operand.
    Same,
    /// A scalar of the first operand's kind.
    Part,
    /// Integers, as many as the first operand has components.
    Exponent,
    /// Integers of the first operand's width and size, signed or unsigned.
    Matching,
    /// A 32-bit integer.
    Word,
    /// An integer scalar.
    Count,
    /// A vector of bools.
    Flags,
    Matrix,
    Square,
    /// A vector of three floats.
    Space,
    /// Exactly this many of 32-bit floats.
    Floats(u8),
    /// Exactly this many of `u32`.
    Words(u8),
    Double,
}

/// The operands of a function.
fn operands(function: MathFn) -> &'static [Kind] {
    use Kind::*;
    use MathFn::*;
    match function {
        Atan2 | Pow | Step | Distance | Reflect => &[Float, Same],
        Abs | Sign => &[Number],
        Mod | Min | Max => &[Number, Same],
        Dot => &[Factor, Same],
        Clamp => &[Number, Same, Same],
        Mix | SmoothStep | Fma | FaceForward => &[Float, Same, Same],
        Ldexp => &[Float, Exponent],
        Refract => &[Float, Same, Part],
        Cross => &[Space, Same],
        PackSnorm4x8 | PackUnorm4x8 => &[Floats(4)],
        PackSnorm2x16 | PackUnorm2x16 | PackHalf2x16 => &[Floats(2)],
        UnpackSnorm4x8 | UnpackUnorm4x8 | UnpackSnorm2x16 | UnpackUnorm2x16 | UnpackHalf2x16 => &[Words(1)],
        PackDouble2x32 => &[Words(2)],
        UnpackDouble2x32 => &[Double],
        MatrixCompMult => &[Matrix, Same],
        Transpose => &[Matrix],
        Determinant | Inverse => &[Square],
        Any | All => &[Flags],
        DotInt => &[Int, Matching],
        DotIntAccSat => &[Int, Matching, Count],
        DotPacked => &[Word, Word],
        DotPackedAccSat => &[Word, Word, Word],
        AddCarry | SubBorrow | MulExtended => &[Int, Same],
        BitfieldExtract => &[Int, Count, Count],
        BitfieldInsert => &[Int, Same, Count, Count],
        BitfieldReverse | BitCount | FindLsb | FindMsb | CountLeadingZeros | CountTrailingZeros => &[Int],
        IsHelper => &[],
        _ => &[Float],
    }
}

const fn is_int_dot(function: MathFn) -> bool {
    use MathFn::*;
    matches!(function, DotInt | DotIntAccSat | DotPacked | DotPackedAccSat)
}

impl Body<'_> {
    pub fn math(&mut self, function: MathFn, ty: TypeId, args: Values) -> Check {
        let args = self.list_types(args)?;
        let kinds = operands(function);
        ensure!(args.len() == kinds.len(), "{} operands instead of {}", args.len(), kinds.len());
        for (index, (arg, kind)) in args.iter().zip(kinds).enumerate() {
            ensure!(self.is_kind(*kind, *arg, args[0]), "operand {index} is {}, not {kind:?}", self.name(*arg));
        }
        let expected = typing::math(self.types, function, &args).ok_or("operands that give no result")?;
        self.math_result(function, ty, expected)
    }

    fn is_kind(&self, kind: Kind, ty: TypeId, first: TypeId) -> bool {
        let shape = self.shape(ty).ok();
        let scalar = |test: fn(Scalar) -> bool| shape.is_some_and(|(scalar, _)| test(scalar));
        match kind {
            Kind::Float => scalar(Scalar::is_float),
            Kind::Int => scalar(Scalar::is_int),
            Kind::Number => scalar(Scalar::is_number),
            Kind::Factor => scalar(|scalar| scalar.is_number() || scalar == Scalar::BF16),
            Kind::Same => ty == first,
            Kind::Part => shape.is_some_and(|(scalar, size)| size == 1 && self.types.scalar_of(first) == Some(scalar)),
            Kind::Exponent => scalar(Scalar::is_int) && self.types.components(ty) == self.types.components(first),
            Kind::Matching => shape.zip(self.shape(first).ok()).is_some_and(|((scalar, size), (of, count))| {
                scalar.is_int() && scalar.width == of.width && size == count
            }),
            Kind::Word => shape.is_some_and(|(scalar, size)| scalar.is_int() && scalar.width == 32 && size == 1),
            Kind::Count => scalar(Scalar::is_int) && self.types.components(ty) == Some(1),
            Kind::Flags => scalar(Scalar::is_bool),
            Kind::Matrix => typing::matrix_size(self.types, ty).is_some(),
            Kind::Square => typing::matrix_size(self.types, ty).is_some_and(|(_, columns, rows)| columns == rows),
            Kind::Space => shape.is_some_and(|(scalar, size)| scalar.is_float() && size == 3),
            Kind::Floats(count) => shape == Some((Scalar::F32, count)),
            Kind::Words(count) => shape == Some((Scalar::U32, count)),
            Kind::Double => shape == Some((Scalar::F64, 1)),
        }
    }

    /// Bit counts may return any integer; structs of two results are identified by their members.
    fn math_result(&mut self, function: MathFn, ty: TypeId, expected: TypeId) -> Check {
        let is_count = matches!(function, MathFn::BitCount | MathFn::FindLsb | MathFn::FindMsb);
        let any_int = self.types.scalar_of(ty).is_some_and(Scalar::is_int);
        if is_count && any_int && self.types.components(ty) == self.types.components(expected) {
            return Ok(());
        }
        if is_int_dot(function) {
            return self.int_dot_result(function, ty, expected);
        }
        self.expect_members(ty, expected)
    }

    /// A sum of products is a scalar at least as wide as the factors.
    fn int_dot_result(&mut self, function: MathFn, ty: TypeId, of: TypeId) -> Check {
        let ((scalar, size), (factor, count)) = (self.shape(ty)?, self.shape(of)?);
        let wide = scalar.is_int() && size == 1 && scalar.width >= factor.width.max(32);
        let vectors = matches!(function, MathFn::DotInt | MathFn::DotIntAccSat);
        ensure!(wide && (count > 1) == vectors, "{} of {}", self.name(ty), self.name(of));
        Ok(())
    }

    /// Equal types, or structs whose members have equal types.
    pub fn expect_members(&self, ty: TypeId, expected: TypeId) -> Check {
        let (Type::Struct(found), Type::Struct(wanted)) = (self.types.get(ty), self.types.get(expected)) else {
            return self.expect(ty, expected);
        };
        let members = |id| -> Vec<TypeId> {
            let item: &crate::ir::Struct = &self.types.structs[id];
            item.members.iter().map(|member| member.ty).collect()
        };
        ensure!(members(found) == members(wanted), "a struct of other members than {}", self.name(expected));
        ensure!(ty != Types::VOID, "no result");
        Ok(())
    }
}
