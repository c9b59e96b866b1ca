//! A kernel as machine instructions, first with virtual registers, then with hardware registers.
//!
//! A [`Function`] is a list of blocks in text order. A block falls through to the next one unless it ends with
//! `s_branch` or `s_endpgm`; the branches at its end name their targets. This form is not SSA: parameters of blocks and
//! results of constructs are registers that several instructions write.
//!
//! **Liveness.** Vector instructions only write the active lanes, and inactive lanes keep their values in the same
//! registers meanwhile. Liveness therefore follows the text: along the successors of blocks, and from the block of an
//! `if` to that of its `else`. Three rules keep it exact:
//! - A definition of a whole register kills the earlier value, unless the instruction [`Inst::keeps`] it.
//! - A definition of part of a register ([`Slice`]) never kills.
//! - A register that is written in parts, or by different lanes at different places, starts with [`Pseudo::Declare`],
//!   which kills and has no code; all later writes keep. So the register is live without gaps while an inactive lane
//!   has a value in it, and whole-wave code, which writes all lanes, may use every register that is not live there.
//!
//! A loop's parameter that is also its result (`kept`) does not keep. Between its last use and its next value its
//! register may contain something else, but only in the lanes that repeat the loop: such a loop has no whole-wave code.
//!
//! A register has one place for its whole life, or is in memory: each use loads it, and each definition stores it under
//! the EXEC of that instruction. The instruction must not move in between, where EXEC may be smaller.

use super::arch::Arch;
use super::mnemonic::Operation;
use crate::kernel::Origin;
use crate::lane::primitive::{Dpp8, Dpp16};
use crate::limits;
use crate::source::Span;
use smallvec::SmallVec;

/// A virtual register: its number in [`Function::registers`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Reg(pub u32);

impl Reg {
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// A file of registers.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum File {
    /// 32 bits in each lane.
    Vector,
    /// 32 bits per wave. A lane mask is one or two of them.
    Scalar,
}

/// The facts about a virtual register.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RegInfo {
    pub file: File,
    /// Consecutive hardware registers of 32 bits.
    pub width: u8,
    /// The first hardware register, if the hardware fills it at the start of the kernel. It stays there.
    pub fixed: Option<u16>,
}

impl RegInfo {
    /// The alignment of its first hardware register, in registers. Scalar pairs are even and longer ones start at
    /// multiples of 4 (GCN 3 ISA, "SGPR alignment"); vector pairs are even from CDNA 2 on.
    pub const fn alignment(&self, arch: &Arch) -> u16 {
        match (self.file, self.width) {
            (_, 0 | 1) => 1,
            (File::Scalar, 2) => 2,
            (File::Scalar, _) => 4,
            (File::Vector, _) => {
                if arch.processor.even_pairs {
                    2
                } else {
                    1
                }
            }
        }
    }
}

/// Some of the 32-bit parts of a virtual register.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Slice {
    pub reg: Reg,
    pub first: u8,
    pub count: u8,
}

impl Slice {
    /// Only part `n` of it.
    #[must_use]
    pub const fn part(self, n: u8) -> Slice {
        Slice { reg: self.reg, first: self.first + n, count: 1 }
    }
}

/// Consecutive hardware registers.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct RegisterRange {
    pub file: File,
    pub first: u16,
    pub count: u8,
}

impl RegisterRange {
    /// The individual registers.
    pub fn each(self) -> impl Iterator<Item = u16> {
        self.first..self.first + u16::from(self.count)
    }
}

/// Registers with a purpose. None of them is ever allocated.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Special {
    /// The wave's carries and comparisons: VCC, or VCC_LO in waves of 32 lanes.
    Vcc,
    VccLow,
    VccHigh,
    /// The active lanes: EXEC, or EXEC_LO in waves of 32 lanes.
    Exec,
    ExecLow,
    ExecHigh,
    M0,
    /// A destination that discards the result, from gfx10 on.
    Null,
    /// A vector register shared by both halves of a wave, with a number above all others (gfx10, waves of 64 lanes).
    SharedVector,
    /// A register of the trap handler; some contain the workgroup indices (gfx12).
    Ttmp(u8),
}

/// An operand that an instruction reads or writes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Operand {
    /// Parts of a virtual register, before allocation.
    Reg(Slice),
    /// Hardware registers, after allocation.
    Hardware(RegisterRange),
    Special(Special),
    /// A 32-bit constant: inline if the hardware has it, otherwise a literal; see [`is_inline`]. 64-bit operands
    /// sign-extend an inline integer.
    Constant(u32),
    /// An inline float of a 64-bit operand: the bits of the double, one of [`INLINE_FLOATS`].
    Double(u64),
    /// No address register (`off`).
    Off,
    /// The target block of a branch.
    Label(Label),
    /// A field of a waiting instruction, and its number: `vmcnt(2)`, `depctr_va_vdst(0)`. Blanks separate the fields of
    /// one instruction.
    Field(&'static str, u8),
}

impl Operand {}

/// The floats with inline constants, and their negatives; 1/(2π) from gfx8 on.
pub const INLINE_FLOATS: [f64; 4] = [0.5, 1.0, 2.0, 4.0];

/// Returns true if 32-bit operands read a constant without a literal: integers from -16 to 64, and some floats.
pub fn is_inline(bits: u32) -> bool {
    (-16..=64).contains(&(bits as i32)) || INLINE_FLOATS.iter().any(|float| (*float as f32).to_bits() == bits & !SIGN)
}

const SIGN: u32 = 1 << 31;

/// Returns true if operands that are 16-bit floats read a constant without a literal.
pub fn is_inline_half(bits: u32) -> bool {
    inline_half(bits).is_some() || (0..=64).contains(&bits)
}

/// The inline float of 16 bits that has these bits.
pub fn inline_half(bits: u32) -> Option<f64> {
    let size = match bits & 0x7fff {
        0x3800 => 0.5,
        0x3c00 => 1.0,
        0x4000 => 2.0,
        0x4400 => 4.0,
        _ => return None,
    };
    (bits <= 0xffff).then_some(if bits & 0x8000 == 0 { size } else { -size })
}

/// A block's number in [`Function::blocks`], whatever its position.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Label(pub u32);

/// Instructions that the hardware does not have. All except [`Pseudo::Fence`] are gone after register allocation; the
/// pass that inserts waits removes fences.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pseudo {
    /// Its definitions start here, with arbitrary bits.
    Declare,
    /// The definition gets the bits of the use, a register of the same file and width. It becomes moves, or nothing if
    /// both have the same place. Vector copies write the active lanes.
    Copy,
    Fence(Fence),
}

/// Memory operations that are complete and visible before the instructions after a fence run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Fence {
    /// Loads and stores of buffers.
    pub buffers: bool,
    /// Workgroup memory.
    pub shared: bool,
    /// Other waves of the workgroup, or of the device, must see this one's writes: caches that they do not share are
    /// written back. `None`: only waits for accesses.
    pub release: Option<Reach>,
    /// How far away the writes are that must be seen: caches that are not shared with the writer are invalidated.
    pub acquire: Option<Reach>,
}

/// How far an access or fence must be seen.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Reach {
    Workgroup,
    Device,
}

/// The operation of an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Code {
    Real(Operation),
    Pseudo(Pseudo),
}

/// The source lanes of the first use.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Dpp {
    Rows(Dpp16),
    Eights(Dpp8),
}

/// The memory that an access to buffers or scratch may reach.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Region {
    #[default]
    Buffers,
    /// Read-only while the kernel runs.
    Constant,
    /// Private memory.
    Private,
}

/// The coordinates of an image instruction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ImageShape {
    Line,
    Plane,
    Volume,
    Cube,
    LineArray,
    PlaneArray,
    /// Multisampled 2D images, with the sample index as the last coordinate.
    PlaneSamples,
    PlaneSamplesArray,
}

impl ImageShape {
    /// Returns true if a coordinate is a layer or a face.
    pub const fn is_arrayed(self) -> bool {
        matches!(self, Self::LineArray | Self::PlaneArray | Self::PlaneSamplesArray | Self::Cube)
    }
}

/// How an image instruction addresses texels.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ImageAccess {
    pub shape: ImageShape,
    /// Bit `n`: component `n` is moved.
    pub components: u8,
    /// Number of address operands; one if all its words are in consecutive registers.
    pub address: u8,
    /// Descriptors after the address: the image's and the sampler's.
    pub descriptors: u8,
    /// Coordinates count texels instead of going from 0 to 1.
    pub in_texels: bool,
}

/// The halves of its operands that a packed or mixed instruction reads, bit `n` for use `n`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct HalfSelect {
    /// `op_sel`: the lower result uses the upper half. For V_FMA_MIX: a 16-bit operand is the upper half.
    pub lower: u8,
    /// `op_sel_hi`: the upper result uses the upper half. For V_FMA_MIX: the operand has 16 bits.
    pub upper: u8,
}

/// The part of a register for an operand, extended to a word.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Part {
    /// The first bit.
    first: u8,
    /// 8, 16 or 32 bits.
    bits: u8,
    /// True if it is extended by its sign.
    pub is_signed: bool,
}

impl Default for Part {
    fn default() -> Part {
        Part { first: 0, bits: 32, is_signed: false }
    }
}

impl Part {
    /// A byte or half of a register; `None` for other bits.
    pub fn new(first: u32, bits: u32, is_signed: bool) -> Option<Part> {
        let is_part = matches!(bits, 8 | 16) && first.is_multiple_of(bits) && first < 32;
        is_part.then_some(Part { first: first as u8, bits: bits as u8, is_signed })
    }

    /// Its word in the text.
    pub const fn name(self) -> &'static str {
        match (self.bits, self.first) {
            (8, 0) => "BYTE_0",
            (8, 8) => "BYTE_1",
            (8, 16) => "BYTE_2",
            (8, _) => "BYTE_3",
            (16, 0) => "WORD_0",
            (16, _) => "WORD_1",
            _ => "DWORD",
        }
    }
}

/// The parts of the first two operands.
pub type Parts = [Part; 2];

/// The modifiers after an instruction's operands, or on them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Modifiers {
    pub dpp: Option<Dpp>,
    /// The prefix of the name for the kind of memory access: `flat_`, `global_`, `buffer_` or `scratch_`.
    pub prefix: &'static str,
    /// The suffix of the name after an underscore: the relation and type of a comparison.
    pub suffix: &'static str,
    /// Bit `n`: use `n` is negated.
    pub neg: u8,
    /// Bit `n`: takes the absolute value of use `n`, before any negation.
    pub abs: u8,
    /// Bits of `op_sel`, the first use's first; PERMLANE16's are `fi` and `bound_ctrl`.
    pub op_sel: u8,
    /// Number of bits of `op_sel` in the text; none if 0.
    pub op_sel_count: u8,
    /// The half selection of an instruction on halves of registers.
    pub halves: Option<HalfSelect>,
    /// The parts of an instruction that reads parts of registers (SDWA).
    pub parts: Option<Parts>,
    pub clamp: bool,
    /// Bytes added to the address; of DS_SWIZZLE its mode.
    pub offset: u32,
    /// The second offset of an access to two places; both in units of the element.
    pub second: Option<u32>,
    /// The address of a buffer instruction has 64 bits (`addr64`, gfx6 and gfx7).
    pub addr64: bool,
    /// The address of a buffer instruction is an offset in a register (`offen`).
    pub offen: bool,
    /// The address of a buffer instruction is a number of elements in a register (`idxen`).
    pub idxen: bool,
    /// The access of an image instruction.
    pub image: Option<ImageAccess>,
    /// An atomic returns the old value.
    pub returns: bool,
    /// The scope in which others must see the access, or it must see theirs; `None` if that does not matter.
    pub coherent: Option<Reach>,
    pub region: Region,
    /// `bound_ctrl` and `fi` of PERMLANE16_SWAP and PERMLANE32_SWAP.
    pub swap_fetch: [bool; 2],
    /// Bits of DEPCTR or counters for waiting instructions.
    pub immediate: Option<u32>,
}

impl Modifiers {
    /// Returns true if there are none: a comparison with the default, without calls that compare text.
    pub fn is_empty(&self) -> bool {
        matches!(
            self,
            Modifiers {
                dpp: None,
                prefix: "",
                suffix: "",
                neg: 0,
                abs: 0,
                op_sel: 0,
                op_sel_count: 0,
                halves: None,
                parts: None,
                clamp: false,
                offset: 0,
                second: None,
                addr64: false,
                offen: false,
                idxen: false,
                image: None,
                returns: false,
                coherent: None,
                region: Region::Buffers,
                swap_fetch: [false, false],
                immediate: None,
            }
        )
    }

    /// Returns true if a store or an atomic names its data before the address.
    pub fn is_data_first(&self) -> bool {
        self.prefix == "buffer_" || self.image.is_some()
    }
}

/// One instruction.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Inst {
    pub code: Code,
    /// The operands that it writes, in text order, including carries and masks of comparisons.
    pub defs: SmallVec<[Operand; 2]>,
    /// The operands that it reads, in text order.
    pub uses: SmallVec<[Operand; 4]>,
    pub modifiers: Modifiers,
    /// Its definitions keep old bits or old lanes, so it reads them too: their values start elsewhere.
    pub keeps: bool,
    /// The source that it was made from.
    pub span: Span,
    /// True if it is part of a cross-lane operation.
    pub is_lane: bool,
    pub origin: Origin,
    /// The second half of a VOPD pair. Both read before either writes.
    pub second: Option<Box<Inst>>,
}

impl Inst {
    pub fn new(code: Code, defs: &[Operand], uses: &[Operand]) -> Inst {
        Inst {
            code,
            defs: defs.into(),
            uses: uses.into(),
            modifiers: Modifiers::default(),
            keeps: false,
            span: Span::NONE,
            is_lane: false,
            origin: Origin::Code,
            second: None,
        }
    }

    pub fn real(operation: Operation, defs: &[Operand], uses: &[Operand]) -> Inst {
        Inst::new(Code::Real(operation), defs, uses)
    }

    /// This instruction with an origin.
    #[must_use]
    pub fn made_for(self, origin: Origin) -> Inst {
        Inst { origin, ..self }
    }

    /// The instruction itself, then the second one in it.
    pub fn halves(&self) -> impl Iterator<Item = &Inst> {
        std::iter::once(self).chain(self.second.as_deref())
    }

    pub fn operation(&self) -> Option<Operation> {
        match self.code {
            Code::Real(operation) => Some(operation),
            Code::Pseudo(_) => None,
        }
    }

    /// Virtual registers that it reads, including registers that its definitions keep.
    pub fn reads(&self) -> impl Iterator<Item = Slice> + '_ {
        let kept: &[Operand] = if self.keeps { &self.defs } else { &[] };
        self.uses.iter().chain(kept).filter_map(slice)
    }

    /// Virtual registers that it writes, and whether the write kills the old value.
    pub fn writes<'f>(&'f self, registers: &'f [RegInfo]) -> impl Iterator<Item = (Slice, bool)> + 'f {
        self.defs.iter().filter_map(slice).map(|slice| {
            let is_whole = slice.count == registers[slice.reg.index()].width;
            (slice, is_whole && !self.keeps)
        })
    }

    /// Hardware registers that it reads, after register allocation.
    pub fn hardware_read(&self) -> impl Iterator<Item = RegisterRange> + '_ {
        let kept: &[Operand] = if self.keeps { &self.defs } else { &[] };
        self.uses.iter().chain(kept).filter_map(hardware)
    }

    /// Hardware registers that it writes, after register allocation.
    pub fn hardware_written(&self) -> impl Iterator<Item = RegisterRange> + '_ {
        self.defs.iter().filter_map(hardware)
    }

    /// Special registers that it reads, named or not.
    pub fn specials_read(&self) -> Specials {
        let named = Specials::of(&self.uses);
        self.operation().map_or(named, |operation| named.and(operation.effects().reads))
    }

    /// Special registers that it writes, named or not.
    pub fn specials_written(&self) -> Specials {
        let named = Specials::of(&self.defs);
        self.operation().map_or(named, |operation| named.and(operation.effects().writes))
    }
}

fn slice(operand: &Operand) -> Option<Slice> {
    match operand {
        Operand::Reg(slice) => Some(*slice),
        _ => None,
    }
}

fn hardware(operand: &Operand) -> Option<RegisterRange> {
    match operand {
        Operand::Hardware(place) => Some(*place),
        _ => None,
    }
}

bitflags::bitflags! {
    /// A set of special registers.
    #[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
    pub struct Specials: u8 {
        /// The condition code of the scalar unit.
        const SCC = 1;
        const VCC = 2;
        const EXEC = 4;
        const M0 = 8;
    }
}

impl Specials {
    /// The special registers among operands.
    fn of(operands: &[Operand]) -> Specials {
        operands.iter().fold(Specials::empty(), |set, operand| match operand {
            Operand::Special(Special::Vcc | Special::VccLow | Special::VccHigh) => set | Specials::VCC,
            Operand::Special(Special::Exec | Special::ExecLow | Special::ExecHigh) => set | Specials::EXEC,
            Operand::Special(Special::M0) => set | Specials::M0,
            _ => set,
        })
    }

    const fn and(self, others: Specials) -> Specials {
        self.union(others)
    }
}

/// The registers that an operation reads and writes implicitly.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Effects {
    pub reads: Specials,
    pub writes: Specials,
}

/// Instructions with one entry, at the start. Branches are only at the end.
#[derive(Clone, Debug)]
pub struct Block {
    pub label: Label,
    pub insts: Vec<Inst>,
}

/// A whole kernel.
#[derive(Clone, Debug, Default)]
pub struct Function {
    /// In text order; the first one is the entry.
    pub blocks: Vec<Block>,
    pub registers: Vec<RegInfo>,
    /// How scratch memory is accessed; `None` if the kernel has none, so that nothing can be spilled.
    pub scratch: Option<Scratch>,
    /// Bytes of scratch memory of one invocation for variables, before any spills. Spilled registers follow.
    pub scratch_bytes: u32,
}

/// How an invocation accesses its scratch memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Scratch {
    /// `buffer_load_dword v, vaddr, resource, 0 offen offset:N`, or with `off` and no `offen`: four scalar registers
    /// that are live throughout. The offset has 12 bits.
    Buffer { resource: Slice },
    /// `scratch_load_dword v, vaddr, off offset:N`, or `v, off, off offset:N`.
    Instructions,
}

impl Function {
    /// A new virtual register.
    pub fn register(&mut self, file: File, width: u8) -> Slice {
        limits::hold::<RegInfo>(1);
        self.registers.push(RegInfo { file, width, fixed: None });
        Slice { reg: Reg(self.registers.len() as u32 - 1), first: 0, count: width }
    }

    /// A virtual register that the hardware has filled at the start.
    pub fn fixed_register(&mut self, file: File, first: u16, width: u8) -> Slice {
        let slice = self.register(file, width);
        self.registers[slice.reg.index()].fixed = Some(first);
        slice
    }

    /// Positions of the blocks by their labels.
    pub fn positions(&self) -> Vec<usize> {
        let count = self.blocks.iter().map(|block| block.label.0 as usize + 1).max().unwrap_or(0);
        let mut positions = vec![usize::MAX; count];
        for (at, block) in self.blocks.iter().enumerate() {
            positions[block.label.0 as usize] = at;
        }
        positions
    }

    /// Positions of the blocks that may run after one; `positions` come from [`Function::positions`].
    pub fn successors(&self, at: usize, positions: &[usize]) -> SmallVec<[usize; 2]> {
        let insts = &self.blocks[at].insts;
        let branches = insts.iter().rev().take_while(|inst| inst.operation().is_some_and(Operation::ends_block));
        let mut successors: SmallVec<[usize; 2]> = branches
            .flat_map(|inst| inst.uses.iter())
            .filter_map(|operand| match operand {
                Operand::Label(label) => Some(positions[label.0 as usize]),
                _ => None,
            })
            .collect();
        let last = insts.last().and_then(Inst::operation);
        if last.is_none_or(|last| !last.is_final()) && at + 1 < self.blocks.len() {
            successors.push(at + 1);
        }
        successors
    }
}
