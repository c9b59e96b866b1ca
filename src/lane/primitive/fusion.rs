//! The arithmetic instructions that can take a DPP operand.
//!
//! Source: LLVM's assembler for every generation. Multiplication of 32-bit integers, all 64-bit arithmetic except
//! bitwise operations (which are two of 32 bits), and packed arithmetic never support DPP. 16-bit integer arithmetic is
//! VOP3 on RDNA 1 and 2, where only VOP1 and VOP2 support it.

use super::{NvOp, Primitive};
use crate::lane::op::ReduceOp;
use crate::lane::request::{LaneType, ScalarKind};
use crate::profile::{Feature, Profile};

/// Operators with an instruction that supports DPP, for one kind of operand.
struct DppOperators {
    ops: &'static [ReduceOp],
    kinds: &'static [ScalarKind],
    widths: &'static [u8],
    needs: Feature,
}

const BITWISE: &[ReduceOp] = &[ReduceOp::And, ReduceOp::Or, ReduceOp::Xor];
const INTEGERS: &[ScalarKind] = &[ScalarKind::Sint, ScalarKind::Uint];

/// V_ADD_U32, V_MIN_I32 and so on; V_AND_B32, one for each 32 bits; V_ADD_U16 and so on; V_ADD_F32, V_ADD_F16 and so
/// on.
static ROWS: &[DppOperators] = &[
    DppOperators {
        ops: &[ReduceOp::Add, ReduceOp::Min, ReduceOp::Max],
        kinds: INTEGERS,
        widths: &[32],
        needs: Feature::AmdDpp16,
    },
    DppOperators { ops: BITWISE, kinds: INTEGERS, widths: &[8, 16, 32, 64], needs: Feature::AmdDpp16 },
    DppOperators {
        ops: &[ReduceOp::Add, ReduceOp::Mul, ReduceOp::Min, ReduceOp::Max],
        kinds: INTEGERS,
        widths: &[16],
        needs: Feature::AmdDppShort,
    },
    DppOperators {
        ops: &[ReduceOp::Add, ReduceOp::Mul, ReduceOp::Min, ReduceOp::Max],
        kinds: &[ScalarKind::Float],
        widths: &[16, 32],
        needs: Feature::AmdDpp16,
    },
];

/// Returns true if `own op primitive(moved)` is one instruction for values of this type, per component and 32 bits.
///
/// NVIDIA's QSWZ itself adds an operand (NV_shader_thread_group).
pub fn carries(profile: &Profile, op: ReduceOp, ty: LaneType, primitive: Primitive) -> bool {
    if let Primitive::Nv(NvOp::QuadSwizzle(_)) = primitive {
        return op == ReduceOp::Add && ty.is_float() && ty.width == 32;
    }
    let fits =
        |row: &DppOperators| row.ops.contains(&op) && row.kinds.contains(&ty.kind) && row.widths.contains(&ty.width);
    primitive.fuses() && ROWS.iter().any(|row| fits(row) && profile.has(row.needs))
}
