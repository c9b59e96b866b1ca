//! Instructions for the passes after register allocation: the hardware registers that they read and write, and how.

use super::arch::Arch;
use super::machine::{Code, Dpp, File, HalfSelect, Inst, Modifiers, Operand, RegisterRange, Special, Specials};
use super::mnemonic::Operation;
use super::unit::Unit;
use smallvec::SmallVec;

/// A 32-bit register, with all files in one numbering: scalar ones by their encoding, followed by vector ones.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Cell(u16);

const VCC: u16 = 106;
const TTMP: u16 = 108;
const M0: u16 = 124;
const EXEC: u16 = 126;
const SCC: u16 = 128;
const VECTORS: u16 = 256;

impl Cell {
    /// How many there are.
    pub const COUNT: usize = 512;
    /// The first one.
    pub const FIRST: Cell = Cell(0);
    /// Used for an event without a register.
    pub const NONE: Cell = Cell(u16::MAX);

    pub const fn of(file: File, number: u16) -> Cell {
        match file {
            File::Scalar => Cell(number),
            File::Vector => Cell(VECTORS + number),
        }
    }

    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// The lower one of an aligned pair.
    pub const fn pair(self) -> Cell {
        Cell(self.0 & !1)
    }

    pub const fn kind(self) -> Kinds {
        match self.0 {
            0..VCC => Kinds::SCALAR,
            VCC | 107 => Kinds::VCC,
            EXEC | 127 => Kinds::EXEC,
            VECTORS..=511 => Kinds::VECTOR,
            _ => Kinds::empty(),
        }
    }
}

bitflags::bitflags! {
    /// Kinds of registers.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub struct Kinds: u8 {
        const VECTOR = 1;
        /// Allocated scalar registers.
        const SCALAR = 2;
        const VCC = 4;
        const EXEC = 8;
    }
}

bitflags::bitflags! {
    /// The roles of an operand. A rule without roles applies to all.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub struct Roles: u8 {
        /// Read from other lanes (DPP).
        const MOVED = 1;
        /// The number of a lane.
        const LANE_SELECT = 2;
        /// A mask of lanes: for a select, or carries.
        const MASK = 4;
        /// Stored data of more than 64 bits.
        const LONG_DATA = 8;
        /// Stored data.
        const DATA = 16;
        /// Named in the text.
        const NAMED = 32;
        /// Only half of its bits are written.
        const HALF = 64;
    }
}

bitflags::bitflags! {
    /// The traits of an instruction.
    #[derive(Clone, Copy, PartialEq, Eq, Debug)]
    pub struct Traits: u32 {
        const VALU = 1;
        const TRANS = 1 << 1;
        const SALU = 1 << 2;
        const SMEM = 1 << 3;
        /// Loads from buffers and scratch, and atomics with a result.
        const LOAD = 1 << 4;
        /// Stores to buffers and scratch, and atomics without a result.
        const STORE = 1 << 5;
        const LDS = 1 << 6;
        const BRANCH = 1 << 7;
        /// It branches on VCCZ.
        const TESTS_VCC = 1 << 8;
        const DPP = 1 << 9;
        const PERMLANE = 1 << 10;
        const SWAP = 1 << 11;
        const READLANE = 1 << 12;
        const WRITELANE = 1 << 13;
        const DIV_FMAS = 1 << 14;
        /// A vector instruction that writes scalar registers.
        const VALU_TO_SCALAR = 1 << 15;
        /// A scalar instruction that writes EXEC.
        const SALU_TO_EXEC = 1 << 16;
        /// A scalar instruction that writes half of VCC, or all of it.
        const HALF_VCC = 1 << 17;
        const WHOLE_VCC = 1 << 18;
        /// A vector instruction without effect.
        const IDLE = 1 << 19;
        // Waits until all of a kind have completed.
        const NO_LOADS = 1 << 20;
        const NO_STORES = 1 << 21;
        const NO_LGKM = 1 << 22;
        const VA_VDST = 1 << 23;
        const VA_SDST = 1 << 24;
        const VA_VCC = 1 << 25;
        const SA_SDST = 1 << 26;
        const VM_VSRC = 1 << 27;
    }
}

/// A register that is read or written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Access {
    pub cell: Cell,
    pub roles: Roles,
}

/// An instruction after register allocation.
#[derive(Clone, Debug)]
pub struct View {
    pub traits: Traits,
    pub reads: SmallVec<[Access; 8]>,
    pub writes: SmallVec<[Access; 4]>,
    /// Its wait states.
    pub states: u8,
}

impl View {
    pub fn new(inst: &Inst, arch: &Arch) -> View {
        let mut view = View::of_one(inst, arch);
        for second in inst.second.iter().map(|second| View::of_one(second, arch)) {
            view.traits |= second.traits;
            view.reads.extend(second.reads);
            view.writes.extend(second.writes);
        }
        view
    }

    fn of_one(inst: &Inst, arch: &Arch) -> View {
        let mut view = View { traits: Traits::empty(), reads: SmallVec::new(), writes: SmallVec::new(), states: 1 };
        let Code::Real(operation) = inst.code else { return view };
        for (n, operand) in inst.uses.iter().enumerate() {
            let roles = use_roles(operation, inst, n);
            each(*operand, arch, |cell| view.reads.push(Access { cell, roles }));
        }
        for operand in &inst.defs {
            let roles = if writes_half(operation, inst) { Roles::NAMED | Roles::HALF } else { Roles::NAMED };
            each(*operand, arch, |cell| view.writes.push(Access { cell, roles }));
            if inst.keeps {
                each(*operand, arch, |cell| view.reads.push(Access { cell, roles: Roles::NAMED }));
            }
        }
        let effects = operation.effects();
        let mask = if view_mask(operation) { Roles::MASK } else { Roles::empty() };
        implied(effects.reads, arch, |cell| view.reads.push(Access { cell, roles: mask }));
        implied(effects.writes, arch, |cell| view.writes.push(Access { cell, roles: Roles::empty() }));
        view.traits = unit_traits(operation, inst) | own_traits(operation, inst);
        view.add_traits(inst);
        if let (Operation::Nop, Some(Operand::Constant(more))) = (operation, inst.uses.first()) {
            view.states = (more + 1).min(255) as u8;
        }
        view
    }

    /// Traits that follow from the registers.
    fn add_traits(&mut self, inst: &Inst) {
        let scalars = Kinds::SCALAR.union(Kinds::VCC);
        let writes = |kinds: Kinds| self.writes.iter().any(|access| kinds.intersects(access.cell.kind()));
        let mut more = Traits::empty();
        if self.traits.contains(Traits::VALU) {
            more.set(Traits::VALU_TO_SCALAR, writes(scalars));
        } else if self.traits.contains(Traits::SALU) {
            let is_half = matches!(inst.defs.first(), Some(Operand::Special(Special::VccLow | Special::VccHigh)));
            more.set(Traits::SALU_TO_EXEC, writes(Kinds::EXEC));
            more.set(Traits::HALF_VCC, is_half);
            more.set(Traits::WHOLE_VCC, writes(Kinds::VCC) && !is_half);
        }
        more.set(Traits::WHOLE_VCC, more.contains(Traits::WHOLE_VCC) || self.writes_vcc_by_vector());
        self.traits |= more;
    }

    fn writes_vcc_by_vector(&self) -> bool {
        let is_vcc = |access: &Access| access.cell.kind() == Kinds::VCC;
        self.traits.contains(Traits::VALU) && self.writes.iter().any(is_vcc)
    }
}

fn each(operand: Operand, arch: &Arch, mut see: impl FnMut(Cell)) {
    match operand {
        Operand::Hardware(RegisterRange { file, first, count }) => {
            (first..first + u16::from(count)).for_each(|number| see(Cell::of(file, number)));
        }
        Operand::Special(special) => special_cells(special, arch).into_iter().for_each(see),
        _ => {}
    }
}

fn special_cells(special: Special, arch: &Arch) -> SmallVec<[Cell; 2]> {
    let whole = |low: u16| (low..low + u16::from(arch.mask_width())).map(Cell).collect();
    let one = |number: u16| [Cell(number)].into_iter().collect();
    match special {
        Special::Vcc => whole(VCC),
        Special::VccLow => one(VCC),
        Special::VccHigh => one(VCC + 1),
        Special::Exec => whole(EXEC),
        Special::ExecLow => one(EXEC),
        Special::ExecHigh => one(EXEC + 1),
        Special::M0 => one(M0),
        Special::Ttmp(number) => one(TTMP + u16::from(number)),
        Special::Null => SmallVec::new(),
        // It is numbered above all others, whatever its number.
        Special::SharedVector => [Cell::of(File::Vector, 255)].into_iter().collect(),
    }
}

fn implied(specials: Specials, arch: &Arch, mut see: impl FnMut(Cell)) {
    if specials.contains(Specials::SCC) {
        see(Cell(SCC));
    }
    for (set, special) in [(Specials::VCC, Special::Vcc), (Specials::EXEC, Special::Exec), (Specials::M0, Special::M0)]
    {
        if specials.contains(set) {
            special_cells(special, arch).into_iter().for_each(&mut see);
        }
    }
}

/// Returns true if VCC is a mask when it is read implicitly.
const fn view_mask(operation: Operation) -> bool {
    matches!(operation, Operation::DivFmasF32 | Operation::DivFmasF64)
}

fn use_roles(operation: Operation, inst: &Inst, n: usize) -> Roles {
    use Operation as O;
    let role = match (operation, n) {
        (O::ReadLane | O::WriteLane, 1) => Roles::LANE_SELECT,
        (O::Select | O::AddWithCarryIn | O::SubWithCarryIn, 2) => Roles::MASK,
        (_, 0) if inst.modifiers.dpp.is_some() => Roles::MOVED,
        _ if operation.unit() == Unit::Memory && data_of(operation, &inst.modifiers) == Some(n) => {
            let is_long = matches!(inst.uses[n], Operand::Hardware(place) if place.count > 2);
            if is_long { Roles::DATA | Roles::LONG_DATA } else { Roles::DATA }
        }
        _ => Roles::empty(),
    };
    role | Roles::NAMED
}

/// The operand that is stored: the first of a buffer or image instruction, otherwise the one after the address. A
/// buffer atomic that returns the old value has its data in the result's register, which nothing uses until the result
/// arrives.
fn data_of(operation: Operation, modifiers: &Modifiers) -> Option<usize> {
    let is_first = modifiers.is_data_first();
    if operation.is_load() || is_first && modifiers.returns {
        return None;
    }
    Some(usize::from(!is_first))
}

/// Returns true if the destination is half of a register (`op_sel` after the operands'), or LLVM treats it as one: for
/// a packed instruction, the bit that selects the upper half of its first operand is at that position.
fn writes_half(operation: Operation, inst: &Inst) -> bool {
    let Modifiers { op_sel, halves, .. } = inst.modifiers;
    let is_upper = |halves: HalfSelect| halves.upper & 1 != 0;
    operation.unit() == Unit::Vector && (op_sel >> inst.uses.len() & 1 != 0 || halves.is_some_and(is_upper))
}

fn unit_traits(operation: Operation, inst: &Inst) -> Traits {
    match operation.unit() {
        Unit::Vector => Traits::VALU,
        Unit::Transcendental => Traits::VALU | Traits::TRANS,
        Unit::Scalar => Traits::SALU,
        Unit::ScalarMemory => Traits::SMEM,
        Unit::Lds => Traits::LDS,
        Unit::Memory if operation.is_load() || inst.modifiers.returns => Traits::LOAD,
        Unit::Memory => Traits::STORE,
        Unit::Control => waited(operation, inst),
    }
}

fn own_traits(operation: Operation, inst: &Inst) -> Traits {
    use Operation as O;
    let own = match operation {
        O::Branch | O::BranchScc0 | O::BranchScc1 | O::BranchExecZero | O::BranchExecSome => Traits::BRANCH,
        O::BranchVccZero | O::BranchVccSome => Traits::BRANCH | Traits::TESTS_VCC,
        O::Permlane16 | O::PermlaneX16 | O::Permlane16Var | O::PermlaneX16Var | O::Permlane64 => Traits::PERMLANE,
        O::Permlane16Swap | O::Permlane32Swap => Traits::SWAP,
        O::ReadLane | O::ReadFirstLane => Traits::READLANE,
        O::WriteLane => Traits::WRITELANE,
        O::DivFmasF32 | O::DivFmasF64 => Traits::DIV_FMAS,
        O::VectorNop => Traits::IDLE,
        _ => Traits::empty(),
    };
    match inst.modifiers.dpp {
        Some(Dpp::Rows(_) | Dpp::Eights(_)) => own | Traits::DPP,
        None => own,
    }
}

/// The events that a waiting instruction completes.
fn waited(operation: Operation, inst: &Inst) -> Traits {
    if operation == Operation::WaitStores {
        let is_zero = inst.uses.last() == Some(&Operand::Constant(0));
        return if is_zero { Traits::NO_STORES } else { Traits::empty() };
    }
    let fields = inst.uses.iter().map(|operand| match operand {
        Operand::Field("vmcnt", 0) => Traits::NO_LOADS,
        Operand::Field("lgkmcnt", 0) => Traits::NO_LGKM,
        Operand::Field("depctr_va_vdst", 0) => Traits::VA_VDST,
        Operand::Field("depctr_va_sdst", 0) => Traits::VA_SDST,
        Operand::Field("depctr_va_vcc", 0) => Traits::VA_VCC,
        Operand::Field("depctr_sa_sdst", 0) => Traits::SA_SDST,
        Operand::Field("depctr_vm_vsrc", 0) => Traits::VM_VSRC,
        _ => Traits::empty(),
    });
    fields.fold(Traits::empty(), Traits::union)
}
