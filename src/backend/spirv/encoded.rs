//! Floats without arithmetic (SPV_KHR_bfloat16, SPV_EXT_float8, SPV_EXT_ocp_microscaling_types): their encodings, the
//! requirements of matrices of them, and their dot product.

use super::Emitter;
use super::function::Body;
#[cfg(debug_assertions)]
use crate::ir::Types;
use crate::ir::{Encoding, MathFn, Scalar, ScalarKind, TypeId};
use rspirv::spirv::{Capability, FPEncoding, Op, Word};

/// Float4E2M1EXT, which rspirv does not list yet.
const FLOAT_E2M1: Word = 4225;

/// SPIR-V's number (section 3.51, FP Encoding).
pub(super) const fn number(encoding: Encoding) -> Word {
    match encoding {
        Encoding::BFloat16 => FPEncoding::BFloat16KHR as Word,
        Encoding::E4M3 => FPEncoding::Float8E4M3EXT as Word,
        Encoding::E5M2 => FPEncoding::Float8E5M2EXT as Word,
        Encoding::E2M1 => FLOAT_E2M1,
    }
}

/// The name of an encoding in SPIR-V; its number if the name is unknown.
pub(super) fn name(number: Word) -> String {
    match FPEncoding::from_u32(number) {
        Some(encoding) => format!("{encoding:?}"),
        None if number == FLOAT_E2M1 => "Float4E2M1EXT".to_owned(),
        None => number.to_string(),
    }
}

/// Returns true if a module uses such floats, which some validators do not know.
#[cfg(debug_assertions)]
pub(super) fn any(types: &Types) -> bool {
    types.iter().any(|(id, _)| types.number_of(id).is_some_and(|scalar| scalar.encoding().is_some()))
}

impl Emitter<'_> {
    /// Requests the capability for cooperative matrices with elements of this type.
    pub fn need_encoded_matrix(&mut self, element: TypeId) {
        match self.module.types.scalar_of(element).map(|scalar| scalar.kind) {
            Some(ScalarKind::Encoded(Encoding::BFloat16)) => {
                self.needs.capability(Capability::BFloat16CooperativeMatrixKHR);
            }
            Some(ScalarKind::Encoded(_)) => self.needs.capability(Capability::Float8CooperativeMatrixEXT),
            _ => {}
        }
    }
}

impl Body<'_, '_> {
    /// A dot product, which there is of vectors alone.
    pub fn encoded_math(&mut self, function: MathFn, args: &[Word], (ty, size): (TypeId, u8)) -> Word {
        let (MathFn::Dot, [x, y]) = (function, args) else {
            return self.m.unsupported("this built-in function on this type");
        };
        self.m.needs.capability(Capability::BFloat16DotProductKHR);
        let factors = if size == 1 { self.widened([*x, *y]) } else { [*x, *y] };
        let result = self.m.value_type(ty);
        self.emit(Op::Dot, result, &factors)
    }

    /// The scalars as vectors whose second product is -0, which changes no sum.
    fn widened(&mut self, [x, y]: [Word; 2]) -> [Word; 2] {
        let ty = self.m.vector_type(Scalar::BF16, 2);
        let zeros = [0, 0x8000].map(|bits| self.m.splat_constant(Scalar::BF16, 1, bits));
        [[x, zeros[0]], [y, zeros[1]]].map(|pair| self.emit(Op::CompositeConstruct, ty, &pair))
    }
}
