//! The rules, one table per generation: pairs of instructions that need a distance, and the fix.
//!
//! Sources: LLVM's `GCNHazardRecognizer`, the wait-state tables in AMD's ISA guides (GCN 3, Vega, CDNA 3), and ACO's
//! `aco_insert_NOPs` for hazards that LLVM does not handle. There are no rules for instructions that are never selected
//! (GDS, messages, MFMA and dot products, indexed registers, LDS_DIRECT), nor for gfx10.1's branches to the distance
//! 0x3f, which the assembler avoids. Two rules that are not about pairs are in `forwarding` and `clause`. A VOPD pair
//! counts as one vector instruction with the reads and writes of both.

use crate::backend::amd::arch::Arch;
use crate::backend::amd::view::{Kinds, Roles, Traits};
use crate::profile::processor::Hazards;

/// The registers that connect an event to others.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Touch {
    /// None: the event itself.
    Nothing,
    /// Registers of a kind that it reads in one of these roles, or in any role if none is named.
    Reads(Kinds, Roles),
    Writes(Kinds, Roles),
}

/// Instructions with any of some traits and none of others, by the registers they access.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Event {
    /// Empty for all instructions.
    pub traits: Traits,
    pub without: Traits,
    pub touch: Touch,
}

/// The event or count that ends a rule's hazard.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Clock {
    /// Wait states.
    States,
    /// Vector instructions.
    Vector,
    /// Only the instructions that end it.
    None,
}

/// The instruction or distance that satisfies a rule.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Cure {
    /// Inserts the missing number of wait states.
    States,
    /// An instruction before the last one.
    Before(Fix),
}

/// Instructions that mend.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fix {
    /// Wait until a field of DEPCTR is zero.
    Wait(&'static str),
    /// Wait until all stores have completed.
    WaitForStores,
    /// A move of the first vector operand onto itself.
    IdleMove,
    /// `s_mov_b32 null, 0`
    MoveToNull,
    /// `s_mov_b64 vcc, vcc`
    RewriteVcc,
}

/// A rule: `first`, optionally `middle`, and `last` too soon after, on the same register if all use one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Hazard {
    /// The rule in words.
    pub name: &'static str,
    pub first: Event,
    pub middle: Option<Event>,
    pub last: Event,
    /// The first instruction endangers both registers of an aligned pair.
    pub in_pairs: bool,
    pub clock: Clock,
    /// The number of ticks that the clock must count between the first (or the middle) instruction and the last one.
    pub reach: u8,
    /// Instructions that end the hazard before the middle one, and after it.
    pub ends: [Traits; 2],
    /// True if the first instruction affects only one middle instruction: whatever ends that hazard ends all.
    pub arms_once: bool,
    pub cure: Cure,
}

const ANY: Roles = Roles::empty();
const NONE: Traits = Traits::empty();
const SCALARS: Kinds = Kinds::SCALAR.union(Kinds::VCC);
const MEMORY: Traits = Traits::LOAD.union(Traits::STORE);
/// Instructions issued only after all earlier vector instructions.
pub const FLUSHES: Traits = MEMORY.union(Traits::LDS).union(Traits::VA_VDST);

const fn event(traits: Traits, touch: Touch) -> Event {
    Event { traits, without: NONE, touch }
}

const fn writes(traits: Traits, kinds: Kinds) -> Event {
    event(traits, Touch::Writes(kinds, ANY))
}

const fn reads(traits: Traits, kinds: Kinds) -> Event {
    event(traits, Touch::Reads(kinds, ANY))
}

/// A minimum number of wait states between two instructions.
const fn states(name: &'static str, first: Event, last: Event, reach: u8) -> Hazard {
    Hazard {
        name,
        first,
        middle: None,
        last,
        in_pairs: false,
        clock: Clock::States,
        reach,
        ends: [NONE; 2],
        arms_once: false,
        cure: Cure::States,
    }
}

/// An instruction between two others, unless one that ends the hazard is there.
const fn fixed(name: &'static str, first: Event, last: Event, ends: Traits, fix: Fix) -> Hazard {
    Hazard { clock: Clock::None, ends: [ends, ends], cure: Cure::Before(fix), ..states(name, first, last, 1) }
}

// gfx6 to gfx9.

pub const MOVED: Hazard = states(
    "a vector register is written, then read from other lanes",
    writes(NONE, Kinds::VECTOR),
    event(Traits::DPP, Touch::Reads(Kinds::VECTOR, Roles::MOVED)),
    2,
);
const EXEC_THEN_DPP: Hazard = states(
    "a vector instruction writes EXEC, then lanes are moved",
    writes(Traits::VALU, Kinds::EXEC),
    event(Traits::DPP, Touch::Nothing),
    5,
);
const LANE_SELECT: Hazard = states(
    "a vector instruction writes a scalar register, which then selects a lane",
    writes(Traits::VALU, SCALARS),
    event(Traits::READLANE.union(Traits::WRITELANE), Touch::Reads(SCALARS, Roles::LANE_SELECT)),
    4,
);
const SCALAR_THEN_MEMORY: Hazard = states(
    "a vector instruction writes a scalar register, then an access to memory reads it",
    writes(Traits::VALU, SCALARS),
    reads(MEMORY, SCALARS),
    5,
);
const SCALAR_THEN_LOAD: Hazard = states(
    "a vector instruction writes a scalar register, then a scalar load reads it",
    writes(Traits::VALU, SCALARS),
    reads(Traits::SMEM, SCALARS),
    4,
);
const DIV_FMAS: Hazard = states(
    "a vector instruction writes VCC, then V_DIV_FMAS reads it",
    writes(Traits::VALU, Kinds::VCC),
    reads(Traits::DIV_FMAS, Kinds::VCC),
    4,
);
const LONG_STORE: Hazard = states(
    "more than 64 bits are stored, then a vector instruction overwrites them",
    event(MEMORY, Touch::Reads(Kinds::VECTOR, Roles::LONG_DATA)),
    writes(Traits::VALU, Kinds::VECTOR),
    1,
);
/// Scalar loads may complete between a write of VCC and the branch, and leave VCCZ unchanged.
const STALE_VCCZ: Hazard = fixed(
    "a scalar load is under way, then a branch looks at VCCZ",
    event(Traits::SMEM, Touch::Nothing),
    event(Traits::TESTS_VCC, Touch::Nothing),
    Traits::NO_LGKM,
    Fix::RewriteVcc,
);
const HALF_VCC: Hazard = fixed(
    "half of VCC is written, then a branch looks at VCCZ",
    event(Traits::HALF_VCC, Touch::Nothing),
    event(Traits::TESTS_VCC, Touch::Nothing),
    Traits::WHOLE_VCC,
    Fix::RewriteVcc,
);
// CDNA 3 on.

const LONG_STORE_3: Hazard = Hazard { reach: 2, ..LONG_STORE };
const SCALAR_THEN_VECTOR: Hazard = states(
    "a vector instruction writes a scalar register, then another one reads it",
    writes(Traits::VALU, SCALARS),
    reads(Traits::VALU, SCALARS),
    2,
);
const VECTOR_THEN_READLANE: Hazard = states(
    "a vector register is written, then a lane of it is read",
    writes(Traits::VALU, Kinds::VECTOR),
    reads(Traits::READLANE, Kinds::VECTOR),
    1,
);
const EXEC_THEN_LANE: Hazard = states(
    "a vector instruction writes EXEC, then a lane is read or written",
    writes(Traits::VALU, Kinds::EXEC),
    event(Traits::READLANE.union(Traits::WRITELANE), Touch::Nothing),
    4,
);
const EXEC_AS_DATA: Hazard = states(
    "a vector instruction writes EXEC, then another one reads it as data",
    writes(Traits::VALU, Kinds::EXEC),
    event(Traits::VALU, Touch::Reads(Kinds::EXEC, Roles::NAMED)),
    2,
);
const TRANS_THEN_VECTOR: Hazard = states(
    "a transcendental instruction writes a vector register, then another kind reads it",
    writes(Traits::TRANS, Kinds::VECTOR),
    Event { without: Traits::TRANS, ..reads(Traits::VALU, Kinds::VECTOR) },
    1,
);
const HALF_THEN_VECTOR: Hazard = states(
    "half of a vector register is written, then it is read",
    event(Traits::VALU, Touch::Writes(Kinds::VECTOR, Roles::HALF)),
    reads(Traits::VALU, Kinds::VECTOR),
    1,
);
const VECTOR_THEN_SWAP: Hazard = states(
    "a vector register is written, then its rows are swapped",
    writes(Traits::VALU, Kinds::VECTOR),
    reads(Traits::SWAP, Kinds::VECTOR),
    2,
);
const EXEC_THEN_SWAP: Hazard = states(
    "a vector instruction writes EXEC, then rows are swapped",
    writes(Traits::VALU, Kinds::EXEC),
    event(Traits::SWAP, Touch::Nothing),
    4,
);

// RDNA 1; the first one also affects later ones. V_NOP does not count.

const EXEC_THEN_PERMLANE: Hazard = fixed(
    "a vector instruction writes EXEC, then PERMLANE is the next one",
    writes(Traits::VALU, Kinds::EXEC),
    event(Traits::PERMLANE, Touch::Nothing),
    Traits::VALU,
    Fix::IdleMove,
);
pub const EXEC_READ_THEN_WRITTEN: Hazard = fixed(
    "EXEC is read outside the vector unit, then a vector instruction writes it",
    Event { without: Traits::VALU, ..reads(NONE, Kinds::EXEC) },
    writes(Traits::VALU, Kinds::EXEC),
    Traits::VALU_TO_SCALAR.union(Traits::SA_SDST),
    Fix::Wait("depctr_sa_sdst"),
);
const READ_BY_MEMORY: Kinds = SCALARS.union(Kinds::EXEC);
/// A hazard between accesses of one kind, which waiting for them resolves.
const fn read_then_scalar(name: &'static str, by: Traits, wait: Traits) -> Hazard {
    let ends = Traits::VALU.union(Traits::VM_VSRC).union(wait);
    fixed(name, reads(by, READ_BY_MEMORY), SCALAR_WRITE, ends, Fix::Wait("depctr_vm_vsrc"))
}
const SCALAR_WRITE: Event = writes(Traits::SALU.union(Traits::SMEM), READ_BY_MEMORY);
const LDS_THEN_SCALAR: Hazard =
    read_then_scalar("workgroup memory reads a scalar register, then it is written", Traits::LDS, Traits::NO_LGKM);
const LOAD_THEN_SCALAR: Hazard =
    read_then_scalar("a load reads a scalar register, then it is written", Traits::LOAD, Traits::NO_LOADS);
const STORE_THEN_SCALAR: Hazard =
    read_then_scalar("a store reads a scalar register, then it is written", Traits::STORE, Traits::NO_STORES);
const SMEM_THEN_VECTOR: Hazard = fixed(
    "a scalar load reads a scalar register, then a vector instruction writes it",
    reads(Traits::SMEM, SCALARS),
    writes(Traits::VALU, SCALARS),
    Traits::SALU.union(Traits::NO_LGKM),
    Fix::MoveToNull,
);
const fn across_branch(name: &'static str, first: Traits, last: Traits) -> Hazard {
    Hazard {
        middle: Some(event(Traits::BRANCH, Touch::Nothing)),
        ..fixed(
            name,
            event(first, Touch::Nothing),
            event(last, Touch::Nothing),
            MEMORY.union(Traits::LDS).union(Traits::NO_STORES),
            Fix::WaitForStores,
        )
    }
}
const LDS_BRANCH_MEMORY: Hazard =
    across_branch("workgroup memory, then a branch, then another memory", Traits::LDS, MEMORY);
const MEMORY_BRANCH_LDS: Hazard =
    across_branch("memory, then a branch, then that of the workgroup", MEMORY, Traits::LDS);

// RDNA 3.

const SCALAR_READERS: Traits = Traits::VALU.union(Traits::SALU).union(Traits::BRANCH);
const MASK_READ: Event = event(Traits::VALU, Touch::Reads(SCALARS, Roles::MASK));
/// The hazard lasts until the register is written again (LLVM since pull request 138663).
const fn mask_rewritten(name: &'static str, by: Traits, kinds: Kinds, end: Traits, field: &'static str) -> Hazard {
    Hazard {
        middle: Some(writes(by, kinds)),
        ends: [NONE, end],
        arms_once: true,
        ..fixed(name, MASK_READ, reads(SCALAR_READERS, kinds), NONE, Fix::Wait(field))
    }
}
const MASK_BY_SCALAR: Hazard = mask_rewritten(
    "a mask is read, then written by a scalar instruction, then read",
    Traits::SALU,
    SCALARS,
    Traits::SA_SDST,
    "depctr_sa_sdst",
);
const MASK_BY_VECTOR: Hazard = mask_rewritten(
    "a mask is read, then written by a vector instruction, then read",
    Traits::VALU,
    Kinds::SCALAR,
    Traits::VA_SDST,
    "depctr_va_sdst",
);
const VCC_BY_VECTOR: Hazard = mask_rewritten(
    "VCC is read as a mask, then written by a vector instruction, then read",
    Traits::VALU,
    Kinds::VCC,
    Traits::VA_VCC,
    "depctr_va_vcc",
);
/// For [`Forwarding`](super::forwarding::Forwarding).
pub const PARTIAL_FORWARDING: Fix = Fix::Wait("depctr_va_vdst");
const TRANS_USE: Hazard = Hazard {
    clock: Clock::Vector,
    reach: 6,
    ..fixed(
        "a transcendental instruction writes a vector register, which is read soon",
        writes(Traits::TRANS, Kinds::VECTOR),
        reads(Traits::VALU, Kinds::VECTOR),
        FLUSHES,
        Fix::Wait("depctr_va_vdst"),
    )
};

// RDNA 4.

/// Once a vector instruction has read a pair, the hazard of writing it never ends.
const fn rewritten(
    name: &'static str,
    by: Traits,
    kinds: Kinds,
    last: Traits,
    end: Traits,
    field: &'static str,
) -> Hazard {
    Hazard {
        middle: Some(writes(by, kinds)),
        in_pairs: true,
        ends: [NONE, end],
        ..fixed(name, reads(Traits::VALU, kinds), reads(last, kinds), NONE, Fix::Wait(field))
    }
}
const REWRITTEN_BY_SCALAR: Hazard = rewritten(
    "a vector instruction reads a pair, a scalar one writes one of it, then that is read",
    Traits::SALU,
    SCALARS,
    SCALAR_READERS,
    Traits::SA_SDST,
    "depctr_sa_sdst",
);
const REWRITTEN_BY_VECTOR: Hazard = rewritten(
    "a vector instruction reads a pair, another one writes one of it, then that is read",
    Traits::VALU,
    Kinds::SCALAR,
    Traits::VALU,
    Traits::VA_SDST,
    "depctr_va_sdst",
);
const VCC_REWRITTEN_BY_VECTOR: Hazard = rewritten(
    "a vector instruction reads VCC, which another one writes and another one reads",
    Traits::VALU,
    Kinds::VCC,
    Traits::VALU,
    Traits::VA_VCC,
    "depctr_va_vcc",
);

/// The rules of one processor and wave size.
#[derive(Debug)]
pub struct Table {
    pub rows: &'static [Hazard],
    /// [`Forwarding`](super::forwarding::Forwarding) goes wrong.
    pub forwards_partially: bool,
    /// Accesses that run again after a page fault (LLVM: `FeatureSupportsXNACK`; on RDNA 1 only scalar loads are
    /// affected).
    pub replays: Traits,
}

const ACCESSES: Traits = MEMORY.union(Traits::SMEM);
const NO_RULES: Table = Table { rows: &[], forwards_partially: false, replays: NONE };
const GCN3: &[Hazard] = &[MOVED, EXEC_THEN_DPP, LANE_SELECT, SCALAR_THEN_MEMORY, DIV_FMAS, LONG_STORE, HALF_VCC];

/// The rules for a processor's code.
pub const fn of(arch: &Arch) -> &'static Table {
    match (arch.processor.hazards, arch.wave) {
        (Hazards::Gcn1, _) => &Table {
            rows: &[LANE_SELECT, SCALAR_THEN_MEMORY, SCALAR_THEN_LOAD, DIV_FMAS, STALE_VCCZ, HALF_VCC],
            ..NO_RULES
        },
        (Hazards::Gcn2, _) => {
            &Table { rows: &[LANE_SELECT, SCALAR_THEN_MEMORY, DIV_FMAS, LONG_STORE, STALE_VCCZ, HALF_VCC], ..NO_RULES }
        }
        (Hazards::Gcn3, _) => &Table { rows: GCN3, ..NO_RULES },
        (Hazards::Vega, _) => &Table { rows: GCN3, replays: ACCESSES, ..NO_RULES },
        (Hazards::Cdna3, _) => &Table {
            rows: &[
                MOVED,
                EXEC_THEN_DPP,
                LANE_SELECT,
                SCALAR_THEN_MEMORY,
                DIV_FMAS,
                LONG_STORE_3,
                HALF_VCC,
                SCALAR_THEN_VECTOR,
                VECTOR_THEN_READLANE,
                EXEC_THEN_LANE,
                EXEC_AS_DATA,
                TRANS_THEN_VECTOR,
                HALF_THEN_VECTOR,
                VECTOR_THEN_SWAP,
                EXEC_THEN_SWAP,
            ],
            replays: ACCESSES,
            ..NO_RULES
        },
        (Hazards::Rdna1, _) => &Table {
            rows: &[
                EXEC_THEN_PERMLANE,
                EXEC_READ_THEN_WRITTEN,
                LDS_THEN_SCALAR,
                LOAD_THEN_SCALAR,
                STORE_THEN_SCALAR,
                SMEM_THEN_VECTOR,
                LDS_BRANCH_MEMORY,
                MEMORY_BRANCH_LDS,
            ],
            replays: Traits::SMEM,
            ..NO_RULES
        },
        (Hazards::None, _) => &NO_RULES,
        (Hazards::Rdna3, 32) => &Table { rows: &[EXEC_THEN_PERMLANE, TRANS_USE], ..NO_RULES },
        (Hazards::Rdna3, _) => &Table {
            rows: &[EXEC_THEN_PERMLANE, TRANS_USE, MASK_BY_SCALAR, MASK_BY_VECTOR, VCC_BY_VECTOR],
            forwards_partially: true,
            ..NO_RULES
        },
        (Hazards::Rdna35, 32) => &Table { rows: &[EXEC_THEN_PERMLANE], ..NO_RULES },
        (Hazards::Rdna35, _) => &Table {
            rows: &[EXEC_THEN_PERMLANE, MASK_BY_SCALAR, MASK_BY_VECTOR, VCC_BY_VECTOR],
            forwards_partially: true,
            ..NO_RULES
        },
        (Hazards::Rdna4, _) => &Table {
            rows: &[EXEC_THEN_PERMLANE, REWRITTEN_BY_SCALAR, REWRITTEN_BY_VECTOR, VCC_REWRITTEN_BY_VECTOR],
            ..NO_RULES
        },
    }
}
