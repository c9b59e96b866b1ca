//! What AMD's instructions are called, by generation: one row an operation, one column a generation.
//!
//! The names are those of LLVM's assembler, which takes every one of them (tests ask it). A cell is empty where the
//! generation has no such instruction; whoever picks instructions must have something else there. Which instructions can
//! carry DPP is told in [`crate::lane::primitive`]; operands are written by whoever picks the instruction.

/// The generations whose instructions have names of their own, oldest first.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Generation {
    /// gfx6 and gfx7.
    Gcn1,
    /// gfx8.
    Gcn3,
    /// gfx9: Vega and CDNA.
    Vega,
    /// gfx10: RDNA 1 and 2.
    Rdna1,
    /// gfx11: RDNA 3 and 3.5.
    Rdna3,
    /// gfx12: RDNA 4.
    Rdna4,
}

/// How the names of processors begin.
static PROCESSORS: &[(&str, Generation)] = &[
    ("gfx6", Generation::Gcn1),
    ("gfx7", Generation::Gcn1),
    ("gfx8", Generation::Gcn3),
    ("gfx9", Generation::Vega),
    ("gfx10", Generation::Rdna1),
    ("gfx11", Generation::Rdna3),
    ("gfx12", Generation::Rdna4),
];

impl Generation {
    /// The generation of a processor such as `gfx1030`.
    pub fn of(processor: &str) -> Option<Generation> {
        PROCESSORS.iter().find(|(prefix, _)| processor.starts_with(prefix)).map(|(_, generation)| *generation)
    }
}

/// How one generation writes one instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Spelling {
    pub name: &'static str,
    pub form: Form,
}

/// What is special about an instruction's operands or its DPP form.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    Plain,
    /// It also writes a carry, behind the destination.
    Carry,
    /// It exists with three operands only, so its DPP form is `_e64_dpp`.
    Vop3,
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

            /// How a generation writes it; none if it has no such instruction.
            pub const fn spelling(self, generation: Generation) -> Option<Spelling> {
                const TABLE: &[[Option<Spelling>; 6]] = &[$($row),+];
                TABLE[self as usize][generation as usize]
            }
        }
    };
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
    FindLsb = since_rdna3("v_ffbl_b32", "v_ctz_i32_b32"),
    LeadingZeros = since_rdna3("v_ffbh_u32", "v_clz_i32_u32"),
    AddF32 = ever("v_add_f32"),
    MulF32 = ever("v_mul_f32"),
    MinF32 = renamed("v_min_f32", "v_min_num_f32"),
    MaxF32 = renamed("v_max_f32", "v_max_num_f32"),
    Move = ever("v_mov_b32"),
    Select = ever("v_cndmask_b32"),
    // Its relation and type are part of the name: V_CMP_EQ_U32.
    Compare = ever("v_cmp"),

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
    ScalarLeadingZeros = since_rdna3("s_flbit_i32_b32", "s_clz_i32_u32"),
    ScalarLeadingZeros64 = since_rdna3("s_flbit_i32_b64", "s_clz_i32_u64"),
    WholeQuads = ever("s_wqm_b32"),
    WholeQuads64 = ever("s_wqm_b64"),
    ScalarSelect = ever("s_cselect_b32"),
    ScalarSelect64 = ever("s_cselect_b64"),
    CompareEqual = ever("s_cmp_eq_u32"),
    CompareDifferent = ever("s_cmp_lg_u32"),
    CompareEqual64 = from_gcn3("s_cmp_eq_u64"),
    CompareDifferent64 = from_gcn3("s_cmp_lg_u64"),
    // Waves of 32 lanes exist from gfx10 on.
    SaveExecOr = [None, None, None, plain("s_or_saveexec_b32"), plain("s_or_saveexec_b32"), plain("s_or_saveexec_b32")],
    SaveExecOr64 = ever("s_or_saveexec_b64"),

    // Waiting: for the local data share, and for a number of cycles.
    WaitLds = renamed("s_waitcnt lgkmcnt(0)", "s_wait_dscnt 0x0"),
    Nop = ever("s_nop"),
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::{Profile, Target};

    #[test]
    fn every_processor_has_a_generation() {
        for profile in Profile::all().filter(|profile| profile.target == Target::Amd) {
            assert!(Generation::of(&profile.processor).is_some(), "{}", profile.name);
        }
        assert_eq!(Generation::of("gfx1030"), Some(Generation::Rdna1));
        assert_eq!(Generation::of("gfx90a"), Some(Generation::Vega));
        assert_eq!(Generation::of("sm_90"), None);
    }

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
            for generation in PROCESSORS.iter().map(|(_, generation)| *generation) {
                let name = operation.spelling(generation).map_or("v_", |spelling| spelling.name);
                assert!(["v_", "s_", "ds_"].iter().any(|unit| name.starts_with(unit)), "{name}");
            }
        }
    }
}
