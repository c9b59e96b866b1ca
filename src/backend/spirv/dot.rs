//! Sums of products of integers (SPV_KHR_integer_dot_product, in SPIR-V 1.6).

use super::function::{Body, FEW};
use crate::ir::{MathFn, Scalar, TypeId, Value};
use rspirv::spirv::{Capability, Op, PackedVectorFormat, Word};
use smallvec::SmallVec;

/// Opcodes for signed, unsigned and mixed operands; then the saturating ones.
const OPCODES: [[Op; 3]; 2] = [[Op::SDot, Op::UDot, Op::SUDot], [Op::SDotAccSat, Op::UDotAccSat, Op::SUDotAccSat]];

pub(super) const fn is_int_dot(function: MathFn) -> bool {
    use MathFn::{DotInt, DotIntAccSat, DotPacked, DotPackedAccSat};
    matches!(function, DotInt | DotIntAccSat | DotPacked | DotPackedAccSat)
}

impl Body<'_, '_> {
    /// A signed operand comes before an unsigned one.
    pub fn int_dot(&mut self, function: MathFn, args: &[Value], ty: TypeId) -> Word {
        let [Some((left, size)), Some((right, _))] = [0, 1].map(|at| self.shape_of(*args.get(at)?)) else {
            return self.m.internal("a sum of products of operands that are not integers");
        };
        let packed = matches!(function, MathFn::DotPacked | MathFn::DotPackedAccSat);
        let saturates = matches!(function, MathFn::DotIntAccSat | MathFn::DotPackedAccSat);
        self.need_dot(left, size, packed);
        let signs = match (left.is_signed(), right.is_signed()) {
            (true, true) => 0,
            (false, false) => 1,
            _ => 2,
        };
        let mut operands: SmallVec<[Word; FEW]> = args.iter().map(|arg| self.value(*arg)).collect();
        if signs == 2 && !left.is_signed() {
            operands.swap(0, 1);
        }
        if packed {
            operands.push(PackedVectorFormat::PackedVectorFormat4x8Bit as Word);
        }
        let word = self.m.value_type(ty);
        self.emit(OPCODES[usize::from(saturates)][signs], word, &operands)
    }

    fn need_dot(&mut self, scalar: Scalar, size: u8, packed: bool) {
        let input = match (packed, scalar.width, size) {
            (true, ..) => Capability::DotProductInput4x8BitPacked,
            (false, 8, 4) => Capability::DotProductInput4x8Bit,
            _ => Capability::DotProductInputAll,
        };
        self.m.needs.capability(Capability::DotProduct);
        self.m.needs.capability(input);
    }
}
