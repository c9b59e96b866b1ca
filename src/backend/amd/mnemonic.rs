//! The names of AMD's instructions by generation: one row per operation, one column per generation.
//!
//! The names follow LLVM's assembler, and a test assembles each of them. A cell is empty if the generation lacks the
//! instruction; the selector must then use another one. [`crate::lane::primitive`] lists the instructions that support
//! DPP. The selector writes the operands.

use super::dpp;
use crate::lane::primitive::{LdsOp, PermlaneOp, ScalarOp};
use crate::lane::request::ScalarKind;
use crate::lane::{LaneType, Primitive, ReduceOp};
pub use crate::profile::processor::Generation;
use std::borrow::Cow;

/// The spelling of an instruction in one generation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Spelling {
    pub name: &'static str,
    pub form: Form,
}

/// The special forms of an instruction's operands or of its DPP encoding.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    Plain,
    /// It also writes a carry, after the destination.
    Carry,
    /// It only exists with three operands, so its DPP form is `_e64_dpp`.
    Vop3,
    /// It computes both halves of the result, each from halves of the operands.
    Packed,
    /// Each operand is a 32-bit float, or 16 bits in half of a register.
    Mixed,
}

const fn plain(name: &'static str) -> Option<Spelling> {
    Some(Spelling { name, form: Form::Plain })
}

const fn carry(name: &'static str) -> Option<Spelling> {
    Some(Spelling { name, form: Form::Carry })
}

const fn vop3(name: &'static str) -> Option<Spelling> {
    Some(Spelling { name, form: Form::Vop3 })
}

/// From gfx9 on, in one form.
const fn from_vega(name: &'static str, form: Form) -> [Option<Spelling>; 6] {
    let row = Some(Spelling { name, form });
    [None, None, row, row, row, row]
}

/// The same on all generations.
const fn ever(name: &'static str) -> [Option<Spelling>; 6] {
    [plain(name); 6]
}

/// The same on all generations from gfx8 on: 16-bit arithmetic.
const fn from_gcn3(name: &'static str) -> [Option<Spelling>; 6] {
    [None, plain(name), plain(name), plain(name), plain(name), plain(name)]
}

/// One name before gfx12 and one since.
const fn renamed(old: &'static str, new: &'static str) -> [Option<Spelling>; 6] {
    [plain(old), plain(old), plain(old), plain(old), plain(old), plain(new)]
}

/// One name before gfx11 and one since.
const fn since_rdna3(old: &'static str, new: &'static str) -> [Option<Spelling>; 6] {
    [plain(old), plain(old), plain(old), plain(old), plain(new), plain(new)]
}

/// Arithmetic of 16-bit integers: VOP2 on gfx8 and gfx9, VOP3 since.
const fn short(old: &'static str, new: &'static str) -> [Option<Spelling>; 6] {
    [None, plain(old), plain(old), vop3(new), vop3(new), vop3(new)]
}

/// From one generation on: this many columns are empty.
const fn since(first: Generation, name: &'static str) -> [Option<Spelling>; 6] {
    let mut row = [None; 6];
    let mut column = first as usize;
    while column < 6 {
        row[column] = plain(name);
        column += 1;
    }
    row
}

/// Float minima and maxima, from one generation on, and their name since gfx12. Three-operand forms are used from gfx9
/// on, where they keep subnormals like the two-operand forms.
const fn minimum_of_floats(first: Generation, old: &'static str, new: &'static str) -> [Option<Spelling>; 6] {
    let mut row = since(first, old);
    row[Generation::Rdna4 as usize] = plain(new);
    row
}

/// Minima and maxima of two 16-bit floats, and their name since gfx12.
const fn packed_extreme(old: &'static str, new: &'static str) -> [Option<Spelling>; 6] {
    let mut row = from_vega(old, Form::Packed);
    row[Generation::Rdna4 as usize] = Some(Spelling { name: new, form: Form::Packed });
    row
}

/// Buffer instructions: the address space precedes the name (`flat_`, `global_` and so on).
const fn memory(old: &'static str, new: &'static str) -> [Option<Spelling>; 6] {
    since_rdna3(old, new)
}

/// The name of a move. Moves that are part of another instruction only show as modifiers.
pub fn of(primitive: Primitive, _: ScalarKind) -> Option<Cow<'static, str>> {
    match primitive {
        Primitive::Dpp16(rows) => Some(dpp::control(rows.control).into()),
        Primitive::Dpp8(_) => Some("dpp8".into()),
        Primitive::Lds(LdsOp::Bounce) => Some("through LDS".into()),
        Primitive::Permlane(PermlaneOp::Shared { .. }) => Some("shared VGPR".into()),
        _ => mover(primitive)?.name().map(Cow::from),
    }
}

/// The operation of a primitive; `None` if it takes several, or is part of another.
pub const fn mover(primitive: Primitive) -> Option<Operation> {
    use Operation as O;
    use PermlaneOp as P;
    Some(match primitive {
        Primitive::Lds(LdsOp::Swizzle(_)) => O::Swizzle,
        Primitive::Lds(LdsOp::Bpermute { fetch_inactive: true, .. }) => O::BpermuteFetchInactive,
        Primitive::Lds(LdsOp::Bpermute { .. }) => O::Bpermute,
        Primitive::Lds(LdsOp::Permute { .. }) => O::Permute,
        Primitive::Permlane(P::Row { across: false, .. }) => O::Permlane16,
        Primitive::Permlane(P::Row { .. }) => O::PermlaneX16,
        Primitive::Permlane(P::RowVar { across: false, .. }) => O::Permlane16Var,
        Primitive::Permlane(P::RowVar { .. }) => O::PermlaneX16Var,
        Primitive::Permlane(P::Half) => O::Permlane64,
        Primitive::Permlane(P::SwapFirst { block: 16, .. } | P::SwapSecond { block: 16, .. }) => O::Permlane16Swap,
        Primitive::Permlane(P::SwapFirst { .. } | P::SwapSecond { .. }) => O::Permlane32Swap,
        Primitive::Scalar(ScalarOp::ReadLane) => O::ReadLane,
        Primitive::Scalar(ScalarOp::ReadFirstLane) => O::ReadFirstLane,
        Primitive::Scalar(ScalarOp::WriteLane) => O::WriteLane,
        Primitive::Scalar(ScalarOp::CountBelowLow) => O::CountBelowLow,
        Primitive::Scalar(ScalarOp::CountBelowHigh) => O::CountBelowHigh,
        Primitive::Scalar(ScalarOp::Ballot | ScalarOp::BallotFalse | ScalarOp::Active) => return None,
        Primitive::Scalar(ScalarOp::OwnBit | ScalarOp::WholeQuads) => return None,
        Primitive::Scalar(ScalarOp::CountLanes) => O::ScalarBitCount,
        Primitive::Scalar(ScalarOp::LowestLane) => O::ScalarFindLsb,
        Primitive::Scalar(ScalarOp::LanesAbove) => O::ScalarLeadingZeros,
        Primitive::Lds(LdsOp::Bounce) | Primitive::Permlane(P::Shared { .. }) => return None,
        Primitive::Dpp16(_) | Primitive::Dpp8(_) | Primitive::Group(_) | Primitive::Nv(_) => return None,
    })
}

macro_rules! operations {
    ($($name:ident = $row:expr,)+) => {
        /// An operation of the vector or scalar unit, or of the crossbar of the local data share.
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
        #[allow(missing_docs)]
        pub enum Operation {
            $($name,)+
        }

        impl Operation {
            /// Every operation, in the order of the table.
            pub const ALL: &[Operation] = &[$(Operation::$name),+];

            /// Its spelling in a generation; `None` if it does not exist there.
            pub const fn spelling(self, generation: Generation) -> Option<Spelling> {
                const TABLE: &[[Option<Spelling>; 6]] = &[$($row),+];
                TABLE[self as usize][generation as usize]
            }

            /// Its name on the oldest generation that has it.
            pub fn name(self) -> Option<&'static str> {
                const TABLE: &[[Option<Spelling>; 6]] = &[$($row),+];
                TABLE[self as usize].iter().flatten().next().map(|spelling| spelling.name)
            }
        }
    };
}

impl Operation {
    /// The width in bits of the floats in the suffix of an instruction; 32 if it has none.
    pub fn float_width(self, generation: Generation, suffix: &str) -> u8 {
        let name = self.spelling(generation).map_or("", |spelling| spelling.name);
        let ends = |end: &str| name.ends_with(end) || suffix.ends_with(end);
        if ends("_f64") {
            64
        } else if ends("_f16") {
            16
        } else {
            32
        }
    }
}

operations! {
    // Vector unit, 32 bits. V_ADD_I32 and gfx8's V_ADD_U32 add integers of both kinds and write a carry.
    AddU32 = [
        carry("v_add_i32"), carry("v_add_u32"), plain("v_add_u32"), plain("v_add_nc_u32"), plain("v_add_nc_u32"),
        plain("v_add_nc_u32"),
    ],
    SubU32 = [
        carry("v_sub_i32"), carry("v_sub_u32"), plain("v_sub_u32"), plain("v_sub_nc_u32"), plain("v_sub_nc_u32"),
        plain("v_sub_nc_u32"),
    ],
    MulLoU32 = ever("v_mul_lo_u32"),
    MulHiU32 = ever("v_mul_hi_u32"),
    MinU32 = ever("v_min_u32"),
    MaxU32 = ever("v_max_u32"),
    MinI32 = ever("v_min_i32"),
    MaxI32 = ever("v_max_i32"),
    AndB32 = ever("v_and_b32"),
    OrB32 = ever("v_or_b32"),
    XorB32 = ever("v_xor_b32"),
    NotB32 = ever("v_not_b32"),
    ShlB32 = ever("v_lshlrev_b32"),
    ShrB32 = ever("v_lshrrev_b32"),
    BitCount = ever("v_bcnt_u32_b32"),
    // Bytes of two words by index, the second word's first.
    PermuteBytes = from_gcn3("v_perm_b32"),
    FindLsb = since_rdna3("v_ffbl_b32", "v_ctz_i32_b32"),
    LeadingZeros = since_rdna3("v_ffbh_u32", "v_clz_i32_u32"),
    AddF32 = ever("v_add_f32"),
    MulF32 = ever("v_mul_f32"),
    MinF32 = renamed("v_min_f32", "v_min_num_f32"),
    MaxF32 = renamed("v_max_f32", "v_max_num_f32"),
    Move = ever("v_mov_b32"),
    Select = ever("v_cndmask_b32"),
    // The name includes relation and type: V_CMP_EQ_U32.
    Compare = ever("v_cmp"),
    CompareExec = since(Generation::Rdna1, "v_cmpx"),

    // Two steps in one instruction. The name lists the steps; the first step's operands precede the second's.
    ShlAddU32 = since(Generation::Vega, "v_lshl_add_u32"),
    AddShlU32 = since(Generation::Vega, "v_add_lshl_u32"),
    Add3U32 = since(Generation::Vega, "v_add3_u32"),
    XorAddU32 = since(Generation::Vega, "v_xad_u32"),
    ShlOrB32 = since(Generation::Vega, "v_lshl_or_b32"),
    AndOrB32 = since(Generation::Vega, "v_and_or_b32"),
    Or3B32 = since(Generation::Vega, "v_or3_b32"),
    Xor3B32 = since(Generation::Rdna1, "v_xor3_b32"),
    Min3U32 = ever("v_min3_u32"),
    Max3U32 = ever("v_max3_u32"),
    Median3U32 = ever("v_med3_u32"),
    Min3I32 = ever("v_min3_i32"),
    Max3I32 = ever("v_max3_i32"),
    Median3I32 = ever("v_med3_i32"),
    Min3F32 = minimum_of_floats(Generation::Vega, "v_min3_f32", "v_min3_num_f32"),
    Max3F32 = minimum_of_floats(Generation::Vega, "v_max3_f32", "v_max3_num_f32"),
    Median3F32 = minimum_of_floats(Generation::Vega, "v_med3_f32", "v_med3_num_f32"),
    MaxMinU32 = since(Generation::Rdna3, "v_maxmin_u32"),
    MinMaxU32 = since(Generation::Rdna3, "v_minmax_u32"),
    MaxMinI32 = since(Generation::Rdna3, "v_maxmin_i32"),
    MinMaxI32 = since(Generation::Rdna3, "v_minmax_i32"),
    MaxMinF32 = minimum_of_floats(Generation::Rdna3, "v_maxmin_f32", "v_maxmin_num_f32"),
    MinMaxF32 = minimum_of_floats(Generation::Rdna3, "v_minmax_f32", "v_minmax_num_f32"),

    // Products of the low 24 bits, at the rate of a sum.
    MulU24 = ever("v_mul_u32_u24"),
    MulI24 = ever("v_mul_i32_i24"),
    MadU24 = ever("v_mad_u32_u24"),
    MadI24 = ever("v_mad_i32_i24"),

    // 16 bits.
    AddU16 = short("v_add_u16", "v_add_nc_u16"),
    MulLoU16 = short("v_mul_lo_u16", "v_mul_lo_u16"),
    MinU16 = short("v_min_u16", "v_min_u16"),
    MaxU16 = short("v_max_u16", "v_max_u16"),
    MinI16 = short("v_min_i16", "v_min_i16"),
    MaxI16 = short("v_max_i16", "v_max_i16"),
    AddF16 = from_gcn3("v_add_f16"),
    MulF16 = from_gcn3("v_mul_f16"),
    MinF16 = [
        None, plain("v_min_f16"), plain("v_min_f16"), plain("v_min_f16"), plain("v_min_f16"), plain("v_min_num_f16"),
    ],
    MaxF16 = [
        None, plain("v_max_f16"), plain("v_max_f16"), plain("v_max_f16"), plain("v_max_f16"), plain("v_max_num_f16"),
    ],

    // 64 bits.
    AddF64 = ever("v_add_f64"),
    MulF64 = ever("v_mul_f64"),
    MinF64 = renamed("v_min_f64", "v_min_num_f64"),
    MaxF64 = renamed("v_max_f64", "v_max_num_f64"),
    AddWithCarryOut = [
        carry("v_add_i32"), carry("v_add_u32"), carry("v_add_co_u32"), carry("v_add_co_u32"), carry("v_add_co_u32"),
        carry("v_add_co_u32"),
    ],
    AddWithCarryIn = [
        carry("v_addc_u32"), carry("v_addc_u32"), carry("v_addc_co_u32"), carry("v_add_co_ci_u32"),
        carry("v_add_co_ci_u32"), carry("v_add_co_ci_u32"),
    ],

    // gfx6 and gfx7 name the amount last.
    ShlB64 = [
        plain("v_lshl_b64"), plain("v_lshlrev_b64"), plain("v_lshlrev_b64"), plain("v_lshlrev_b64"),
        plain("v_lshlrev_b64"), plain("v_lshlrev_b64"),
    ],

    // Between lanes.
    ReadLane = ever("v_readlane_b32"),
    ReadFirstLane = ever("v_readfirstlane_b32"),
    WriteLane = ever("v_writelane_b32"),
    CountBelowLow = ever("v_mbcnt_lo_u32_b32"),
    CountBelowHigh = ever("v_mbcnt_hi_u32_b32"),
    Permlane16 = [None, None, None, plain("v_permlane16_b32"), plain("v_permlane16_b32"), plain("v_permlane16_b32")],
    PermlaneX16 =
        [None, None, None, plain("v_permlanex16_b32"), plain("v_permlanex16_b32"), plain("v_permlanex16_b32")],
    Permlane16Var = [None, None, None, None, None, plain("v_permlane16_var_b32")],
    PermlaneX16Var = [None, None, None, None, None, plain("v_permlanex16_var_b32")],
    Permlane64 = [None, None, None, None, plain("v_permlane64_b32"), plain("v_permlane64_b32")],
    // gfx950 alone.
    Permlane16Swap = [None, None, plain("v_permlane16_swap_b32"), None, None, None],
    Permlane32Swap = [None, None, plain("v_permlane32_swap_b32"), None, None, None],
    Swizzle = ever("ds_swizzle_b32"),
    Bpermute = from_gcn3("ds_bpermute_b32"),
    BpermuteFetchInactive = [None, None, None, None, None, plain("ds_bpermute_fi_b32")],
    Permute = from_gcn3("ds_permute_b32"),
    LdsWrite = since_rdna3("ds_write_b32", "ds_store_b32"),
    LdsRead = since_rdna3("ds_read_b32", "ds_load_b32"),

    // Scalar unit: 32 bits, and masks of 64 lanes.
    ScalarMove = ever("s_mov_b32"),
    ScalarMove64 = ever("s_mov_b64"),
    ScalarAdd = ever("s_add_i32"),
    ScalarSub = ever("s_sub_i32"),
    ScalarMul = ever("s_mul_i32"),
    ScalarMinU32 = ever("s_min_u32"),
    ScalarMaxU32 = ever("s_max_u32"),
    ScalarMinI32 = ever("s_min_i32"),
    ScalarMaxI32 = ever("s_max_i32"),
    ScalarShl = ever("s_lshl_b32"),
    ScalarShr = ever("s_lshr_b32"),
    ScalarAnd = ever("s_and_b32"),
    ScalarAnd64 = ever("s_and_b64"),
    ScalarOr = ever("s_or_b32"),
    ScalarOr64 = ever("s_or_b64"),
    ScalarXor = ever("s_xor_b32"),
    ScalarXor64 = ever("s_xor_b64"),
    ScalarNot = ever("s_not_b32"),
    ScalarNot64 = ever("s_not_b64"),
    ScalarAndNot = since_rdna3("s_andn2_b32", "s_and_not1_b32"),
    ScalarAndNot64 = since_rdna3("s_andn2_b64", "s_and_not1_b64"),
    ScalarBitCount = ever("s_bcnt1_i32_b32"),
    ScalarBitCount64 = ever("s_bcnt1_i32_b64"),
    ScalarFindLsb = since_rdna3("s_ff1_i32_b32", "s_ctz_i32_b32"),
    ScalarFindLsb64 = since_rdna3("s_ff1_i32_b64", "s_ctz_i32_b64"),
    ScalarLeadingZeros64 = since_rdna3("s_flbit_i32_b64", "s_clz_i32_u64"),
    ScalarLeadingZeros = since_rdna3("s_flbit_i32_b32", "s_clz_i32_u32"),
    WholeQuads = ever("s_wqm_b32"),
    WholeQuads64 = ever("s_wqm_b64"),
    ScalarSelect = ever("s_cselect_b32"),
    ScalarSelect64 = ever("s_cselect_b64"),
    // Waves of 32 lanes exist from gfx10 on.
    SaveExecOr = [None, None, None, plain("s_or_saveexec_b32"), plain("s_or_saveexec_b32"), plain("s_or_saveexec_b32")],
    SaveExecOr64 = ever("s_or_saveexec_b64"),

    // Scalar unit, more arithmetic. Of S_ADD_U32 and S_SUB_U32 the condition code is the carry.
    ScalarAddCarryOut = ever("s_add_u32"),
    ScalarAddCarryIn = ever("s_addc_u32"),
    ScalarSubCarryOut = ever("s_sub_u32"),
    ScalarSubCarryIn = ever("s_subb_u32"),
    ScalarMulHiU32 = since(Generation::Vega, "s_mul_hi_u32"),
    ScalarMulHiI32 = since(Generation::Vega, "s_mul_hi_i32"),
    ScalarAshr = ever("s_ashr_i32"),
    ScalarShl64 = ever("s_lshl_b64"),
    ScalarShr64 = ever("s_lshr_b64"),
    ScalarAshr64 = ever("s_ashr_i64"),
    ScalarShl1Add = since(Generation::Vega, "s_lshl1_add_u32"),
    ScalarShl2Add = since(Generation::Vega, "s_lshl2_add_u32"),
    ScalarShl3Add = since(Generation::Vega, "s_lshl3_add_u32"),
    ScalarShl4Add = since(Generation::Vega, "s_lshl4_add_u32"),
    ScalarOrNot = since_rdna3("s_orn2_b32", "s_or_not1_b32"),
    ScalarOrNot64 = since_rdna3("s_orn2_b64", "s_or_not1_b64"),
    ScalarBfeU32 = ever("s_bfe_u32"),
    ScalarBfeI32 = ever("s_bfe_i32"),
    ScalarAbs = ever("s_abs_i32"),
    ScalarReverse = ever("s_brev_b32"),
    ScalarSignBits = since_rdna3("s_flbit_i32", "s_cls_i32"),
    // The name includes relation and type: S_CMP_LT_U32.
    ScalarCompare = ever("s_cmp"),
    // Floats of the scalar unit, not on gfx1100 to gfx1103.
    ScalarAddF32 = since(Generation::Rdna3, "s_add_f32"),
    ScalarSubF32 = since(Generation::Rdna3, "s_sub_f32"),
    ScalarMulF32 = since(Generation::Rdna3, "s_mul_f32"),
    ScalarFmacF32 = since(Generation::Rdna3, "s_fmac_f32"),
    ScalarMinF32 = minimum_of_floats(Generation::Rdna3, "s_min_f32", "s_min_num_f32"),
    ScalarMaxF32 = minimum_of_floats(Generation::Rdna3, "s_max_f32", "s_max_num_f32"),
    ScalarFloorF32 = since(Generation::Rdna3, "s_floor_f32"),
    ScalarCeilF32 = since(Generation::Rdna3, "s_ceil_f32"),
    ScalarTruncF32 = since(Generation::Rdna3, "s_trunc_f32"),
    ScalarRoundF32 = since(Generation::Rdna3, "s_rndne_f32"),
    // The name includes the types of result and operand: S_CVT_F32_U32.
    ScalarConvert = since(Generation::Rdna3, "s_cvt"),
    SaveExecAnd = since(Generation::Rdna1, "s_and_saveexec_b32"),
    SaveExecAnd64 = ever("s_and_saveexec_b64"),
    LoadScalar32 = since_rdna3("s_load_dword", "s_load_b32"),
    LoadScalar64 = since_rdna3("s_load_dwordx2", "s_load_b64"),
    LoadScalar128 = since_rdna3("s_load_dwordx4", "s_load_b128"),
    LoadScalar256 = since_rdna3("s_load_dwordx8", "s_load_b256"),
    Branch = ever("s_branch"),
    BranchScc0 = ever("s_cbranch_scc0"),
    BranchScc1 = ever("s_cbranch_scc1"),
    BranchVccZero = ever("s_cbranch_vccz"),
    BranchVccSome = ever("s_cbranch_vccnz"),
    BranchExecZero = ever("s_cbranch_execz"),
    BranchExecSome = ever("s_cbranch_execnz"),
    End = ever("s_endpgm"),
    Barrier = [
        plain("s_barrier"), plain("s_barrier"), plain("s_barrier"), plain("s_barrier"), plain("s_barrier"), None,
    ],
    BarrierSignal = since(Generation::Rdna4, "s_barrier_signal"),
    BarrierWait = since(Generation::Rdna4, "s_barrier_wait"),

    // Vector unit, more integers. gfx6 and gfx7 name the amount of 64-bit shifts last.
    AshrI32 = ever("v_ashrrev_i32"),
    ShrB64 = [
        plain("v_lshr_b64"), plain("v_lshrrev_b64"), plain("v_lshrrev_b64"), plain("v_lshrrev_b64"),
        plain("v_lshrrev_b64"), plain("v_lshrrev_b64"),
    ],
    AshrI64 = [
        plain("v_ashr_i64"), plain("v_ashrrev_i64"), plain("v_ashrrev_i64"), plain("v_ashrrev_i64"),
        plain("v_ashrrev_i64"), plain("v_ashrrev_i64"),
    ],
    MulHiI32 = ever("v_mul_hi_i32"),
    SubWithCarryOut = [
        carry("v_sub_i32"), carry("v_sub_u32"), carry("v_sub_co_u32"), carry("v_sub_co_u32"), carry("v_sub_co_u32"),
        carry("v_sub_co_u32"),
    ],
    SubWithCarryIn = [
        carry("v_subb_u32"), carry("v_subb_u32"), carry("v_subb_co_u32"), carry("v_sub_co_ci_u32"),
        carry("v_sub_co_ci_u32"), carry("v_sub_co_ci_u32"),
    ],
    BfeU32 = ever("v_bfe_u32"),
    BfeI32 = ever("v_bfe_i32"),
    BfiB32 = ever("v_bfi_b32"),
    ReverseBits = ever("v_bfrev_b32"),
    SignBits = since_rdna3("v_ffbh_i32", "v_cls_i32"),
    AlignBits = ever("v_alignbit_b32"),

    // Floats of 32 bits.
    SubF32 = ever("v_sub_f32"),
    // The second operand minus the first.
    SubrevF32 = ever("v_subrev_f32"),
    FmaF32 = ever("v_fma_f32"),
    // Not on gfx900.
    FmacF32 = since(Generation::Vega, "v_fmac_f32"),
    FmaakF32 = since(Generation::Rdna1, "v_fmaak_f32"),
    FmamkF32 = since(Generation::Rdna1, "v_fmamk_f32"),
    FloorF32 = ever("v_floor_f32"),
    CeilF32 = ever("v_ceil_f32"),
    TruncF32 = ever("v_trunc_f32"),
    RoundF32 = ever("v_rndne_f32"),
    FractF32 = ever("v_fract_f32"),
    RcpF32 = ever("v_rcp_f32"),
    RsqF32 = ever("v_rsq_f32"),
    SqrtF32 = ever("v_sqrt_f32"),
    ExpF32 = ever("v_exp_f32"),
    LogF32 = ever("v_log_f32"),
    SinF32 = ever("v_sin_f32"),
    CosF32 = ever("v_cos_f32"),
    CubeFace = ever("v_cubeid_f32"),
    CubeS = ever("v_cubesc_f32"),
    CubeT = ever("v_cubetc_f32"),
    CubeMajor = ever("v_cubema_f32"),
    LdexpF32 = ever("v_ldexp_f32"),
    DivScaleF32 = ever("v_div_scale_f32"),
    DivFmasF32 = ever("v_div_fmas_f32"),
    DivFixupF32 = ever("v_div_fixup_f32"),

    // Not on gfx900.
    FmaMixF32 = from_vega("v_fma_mix_f32", Form::Mixed),

    // Floats of 16 bits.
    SubF16 = from_gcn3("v_sub_f16"),
    FmaF16 = from_gcn3("v_fma_f16"),

    // Two 16-bit floats.
    PackedAddF16 = from_vega("v_pk_add_f16", Form::Packed),
    PackedMulF16 = from_vega("v_pk_mul_f16", Form::Packed),
    PackedFmaF16 = from_vega("v_pk_fma_f16", Form::Packed),
    PackedMinF16 = packed_extreme("v_pk_min_f16", "v_pk_min_num_f16"),
    PackedMaxF16 = packed_extreme("v_pk_max_f16", "v_pk_max_num_f16"),

    // Doubles. gfx6 does not round them to integers.
    FmaF64 = ever("v_fma_f64"),
    FloorF64 = ever("v_floor_f64"),
    CeilF64 = ever("v_ceil_f64"),
    TruncF64 = ever("v_trunc_f64"),
    RoundF64 = ever("v_rndne_f64"),
    RcpF64 = ever("v_rcp_f64"),
    RsqF64 = ever("v_rsq_f64"),
    LdexpF64 = ever("v_ldexp_f64"),
    DivScaleF64 = ever("v_div_scale_f64"),
    DivFmasF64 = ever("v_div_fmas_f64"),
    DivFixupF64 = ever("v_div_fixup_f64"),

    // Conversions. The name includes the types of result and operand: V_CVT_F32_U32.
    Convert = ever("v_cvt"),

    // Buffers and scratch.
    LoadU8 = memory("load_ubyte", "load_u8"),
    LoadI8 = memory("load_sbyte", "load_i8"),
    LoadU16 = memory("load_ushort", "load_u16"),
    LoadI16 = memory("load_sshort", "load_i16"),
    Load32 = memory("load_dword", "load_b32"),
    Load64 = memory("load_dwordx2", "load_b64"),
    Load96 = [
        None, plain("load_dwordx3"), plain("load_dwordx3"), plain("load_dwordx3"), plain("load_b96"), plain("load_b96"),
    ],
    Load128 = memory("load_dwordx4", "load_b128"),
    Store8 = memory("store_byte", "store_b8"),
    Store16 = memory("store_short", "store_b16"),
    // The upper half of a register.
    Store16High = [
        None, None, plain("store_short_d16_hi"), plain("store_short_d16_hi"), plain("store_d16_hi_b16"),
        plain("store_d16_hi_b16"),
    ],
    Store32 = memory("store_dword", "store_b32"),
    Store64 = memory("store_dwordx2", "store_b64"),
    Store96 = [
        None, plain("store_dwordx3"), plain("store_dwordx3"), plain("store_dwordx3"), plain("store_b96"),
        plain("store_b96"),
    ],
    Store128 = memory("store_dwordx4", "store_b128"),
    AtomicSwap = memory("atomic_swap", "atomic_swap_b32"),
    AtomicCompareSwap = memory("atomic_cmpswap", "atomic_cmpswap_b32"),
    AtomicAdd = memory("atomic_add", "atomic_add_u32"),
    AtomicSub = memory("atomic_sub", "atomic_sub_u32"),
    AtomicMinI = memory("atomic_smin", "atomic_min_i32"),
    AtomicMinU = memory("atomic_umin", "atomic_min_u32"),
    AtomicMaxI = memory("atomic_smax", "atomic_max_i32"),
    AtomicMaxU = memory("atomic_umax", "atomic_max_u32"),
    AtomicAnd = memory("atomic_and", "atomic_and_b32"),
    AtomicOr = memory("atomic_or", "atomic_or_b32"),
    AtomicXor = memory("atomic_xor", "atomic_xor_b32"),
    AtomicSwap64 = memory("atomic_swap_x2", "atomic_swap_b64"),
    AtomicCompareSwap64 = memory("atomic_cmpswap_x2", "atomic_cmpswap_b64"),
    AtomicAdd64 = memory("atomic_add_x2", "atomic_add_u64"),
    AtomicSub64 = memory("atomic_sub_x2", "atomic_sub_u64"),
    AtomicMinI64 = memory("atomic_smin_x2", "atomic_min_i64"),
    AtomicMinU64 = memory("atomic_umin_x2", "atomic_min_u64"),
    AtomicMaxI64 = memory("atomic_smax_x2", "atomic_max_i64"),
    AtomicMaxU64 = memory("atomic_umax_x2", "atomic_max_u64"),
    AtomicAnd64 = memory("atomic_and_x2", "atomic_and_b64"),
    AtomicOr64 = memory("atomic_or_x2", "atomic_or_b64"),
    AtomicXor64 = memory("atomic_xor_x2", "atomic_xor_b64"),

    // Texels: of texel buffers, and of images.
    LoadTexel = ever("load_format"),
    StoreTexel = ever("store_format"),
    ImageLoad = ever("image_load"),
    ImageLoadLevel = ever("image_load_mip"),
    ImageStore = ever("image_store"),
    ImageSize = ever("image_get_resinfo"),
    ImageSample = ever("image_sample"),
    ImageGather = ever("image_gather4"),
    ImageSwap = ever("image_atomic_swap"),
    ImageCompareSwap = ever("image_atomic_cmpswap"),
    ImageAdd = renamed("image_atomic_add", "image_atomic_add_uint"),
    ImageSub = renamed("image_atomic_sub", "image_atomic_sub_uint"),
    ImageMinI = renamed("image_atomic_smin", "image_atomic_min_int"),
    ImageMinU = renamed("image_atomic_umin", "image_atomic_min_uint"),
    ImageMaxI = renamed("image_atomic_smax", "image_atomic_max_int"),
    ImageMaxU = renamed("image_atomic_umax", "image_atomic_max_uint"),
    ImageAnd = ever("image_atomic_and"),
    ImageOr = ever("image_atomic_or"),
    ImageXor = ever("image_atomic_xor"),

    // Workgroup memory. Atomics come with and without a result.
    LdsReadU8 = since_rdna3("ds_read_u8", "ds_load_u8"),
    LdsReadU16 = since_rdna3("ds_read_u16", "ds_load_u16"),
    LdsRead64 = since_rdna3("ds_read_b64", "ds_load_b64"),
    LdsRead128 = [
        None, plain("ds_read_b128"), plain("ds_read_b128"), plain("ds_read_b128"), plain("ds_load_b128"),
        plain("ds_load_b128"),
    ],
    LdsWrite8 = since_rdna3("ds_write_b8", "ds_store_b8"),
    LdsWrite16 = since_rdna3("ds_write_b16", "ds_store_b16"),
    LdsWrite16High = [
        None, None, plain("ds_write_b16_d16_hi"), plain("ds_write_b16_d16_hi"), plain("ds_store_b16_d16_hi"),
        plain("ds_store_b16_d16_hi"),
    ],
    LdsWrite64 = since_rdna3("ds_write_b64", "ds_store_b64"),
    LdsWrite128 = [
        None, plain("ds_write_b128"), plain("ds_write_b128"), plain("ds_write_b128"), plain("ds_store_b128"),
        plain("ds_store_b128"),
    ],
    LdsReadTwo = since_rdna3("ds_read2_b32", "ds_load_2addr_b32"),
    LdsReadTwo64 = since_rdna3("ds_read2_b64", "ds_load_2addr_b64"),
    LdsWriteTwo = since_rdna3("ds_write2_b32", "ds_store_2addr_b32"),
    LdsWriteTwo64 = since_rdna3("ds_write2_b64", "ds_store_2addr_b64"),
    LdsSwap = since_rdna3("ds_wrxchg_rtn_b32", "ds_storexchg_rtn_b32"),
    LdsCompareSwap = since_rdna3("ds_cmpst_rtn_b32", "ds_cmpstore_rtn_b32"),
    LdsSwap64 = since_rdna3("ds_wrxchg_rtn_b64", "ds_storexchg_rtn_b64"),
    LdsCompareSwap64 = since_rdna3("ds_cmpst_rtn_b64", "ds_cmpstore_rtn_b64"),
    // The name continues with the operation, `_rtn` if there is a result, and the type: DS_ADD_RTN_U32.
    LdsAtomic = ever("ds"),

    // Waiting: for the local data share, for counters, and for a number of cycles.
    Nop = ever("s_nop"),
    WaitCounters = [
        plain("s_waitcnt"), plain("s_waitcnt"), plain("s_waitcnt"), plain("s_waitcnt"), plain("s_waitcnt"), None,
    ],
    WaitStores =
        [None, None, None, plain("s_waitcnt_vscnt"), plain("s_waitcnt_vscnt"), plain("s_wait_storecnt")],
    WaitLoads = since(Generation::Rdna4, "s_wait_loadcnt"),
    WaitLdsCount = since(Generation::Rdna4, "s_wait_dscnt"),
    WaitSamples = since(Generation::Rdna4, "s_wait_samplecnt"),
    WaitScalarLoads = since(Generation::Rdna4, "s_wait_kmcnt"),
    WaitLoadsAndLds = since(Generation::Rdna4, "s_wait_loadcnt_dscnt"),
    WaitStoresAndLds = since(Generation::Rdna4, "s_wait_storecnt_dscnt"),
    // For other instructions in flight (DEPCTR).
    WaitDependencies =
        [None, None, None, plain("s_waitcnt_depctr"), plain("s_waitcnt_depctr"), plain("s_wait_alu")],
    VectorNop = ever("v_nop"),
    // Runs the following accesses without other waves' accesses in between; the operand is their number minus one.
    Clause = since(Generation::Rdna1, "s_clause"),

    // Caches between invocations' writes and others' reads.
    InvalidateVectorCache = [
        plain("buffer_wbinvl1"), plain("buffer_wbinvl1_vol"), plain("buffer_wbinvl1_vol"), plain("buffer_gl0_inv"),
        plain("buffer_gl0_inv"), plain("global_inv scope:SCOPE_SE"),
    ],
    InvalidateArrayCache = [
        None, None, None, plain("buffer_gl1_inv"), plain("buffer_gl1_inv"), plain("global_inv scope:SCOPE_DEV"),
    ],
    // CDNA 3 only: its chiplets have separate second-level caches.
    InvalidateSecondCache = [None, None, plain("buffer_inv sc1"), None, None, None],
    WriteBackSecondCache = [None, None, plain("buffer_wbl2 sc1"), None, None, None],
}

/// The instruction that reduces values of a type, one per register; `None` if it takes several.
pub fn combine_operation(op: ReduceOp, ty: LaneType) -> Option<Operation> {
    use ReduceOp as F;
    use ScalarKind::{Bool, Float, Sint};
    Some(match (op, ty.kind, ty.width) {
        (_, Bool, _) | (_, Float, 8) => return None,
        (F::And, _, _) => Operation::AndB32,
        (F::Or, _, _) => Operation::OrB32,
        (F::Xor, _, _) => Operation::XorB32,
        (F::Add, Float, 16) => Operation::AddF16,
        (F::Mul, Float, 16) => Operation::MulF16,
        (F::Min, Float, 16) => Operation::MinF16,
        (F::Max, Float, 16) => Operation::MaxF16,
        (F::Add, Float, 32) => Operation::AddF32,
        (F::Mul, Float, 32) => Operation::MulF32,
        (F::Min, Float, 32) => Operation::MinF32,
        (F::Max, Float, 32) => Operation::MaxF32,
        (F::Add, _, 16) => Operation::AddU16,
        (F::Mul, _, 16) => Operation::MulLoU16,
        (F::Min, Sint, 16) => Operation::MinI16,
        (F::Max, Sint, 16) => Operation::MaxI16,
        (F::Min, _, 16) => Operation::MinU16,
        (F::Max, _, 16) => Operation::MaxU16,
        (F::Add, _, 32) => Operation::AddU32,
        (F::Mul, _, 32) => Operation::MulLoU32,
        (F::Min, Sint, 32) => Operation::MinI32,
        (F::Max, Sint, 32) => Operation::MaxI32,
        (F::Min, _, 32) => Operation::MinU32,
        (F::Max, _, 32) => Operation::MaxU32,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::Processor;

    #[test]
    fn the_add_of_each_generation() {
        let add = |generation| Operation::AddU32.spelling(generation);
        assert_eq!(add(Generation::Gcn3), carry("v_add_u32"));
        assert_eq!(add(Generation::Vega), plain("v_add_u32"));
        assert_eq!(add(Generation::Rdna1), plain("v_add_nc_u32"));
        assert_eq!(Operation::AddF16.spelling(Generation::Gcn1), None);
    }

    #[test]
    fn units_show_in_names() {
        for operation in Operation::ALL {
            for generation in Processor::names().filter_map(Processor::named).map(|processor| processor.generation) {
                let name = operation.spelling(generation).map_or("v_", |spelling| spelling.name);
                let units = ["v_", "s_", "ds", "load_", "store_", "atomic_", "buffer_", "global_", "image_"];
                assert!(units.iter().any(|unit| name.starts_with(unit)), "{name}");
            }
        }
    }
}
