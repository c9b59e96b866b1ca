//! A program before register allocation: lines of instructions and structured control flow over virtual registers.
//!
//! A virtual register holds one value: 32 bits (a component of a `TEMP`) or 64 (a component of a `LONG TEMP`). Some
//! need a certain component, because an instruction writes there. Some are members of a group that shares one register,
//! because an instruction accesses them as one vector.

use crate::kernel::Origin;
use crate::source::Span;
use smallvec::SmallVec;
use std::borrow::Cow;

/// A virtual register: its number in [`Registers`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Reg(pub u32);

impl Reg {
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// Size of a register's components.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Class {
    /// 32 bits.
    Word,
    /// 64 bits.
    Long,
}

/// Components that a register may use, bit 0 for `x`.
pub type Components = u8;

pub const X: Components = 1;
pub const Y: Components = 2;
pub const W: Components = 8;
pub const ANY: Components = 15;
/// The component of the first result of `PK64` (NV_gpu_program5, section 2.X.8.Z), and of the low half from `UP2H`.
pub const X_OR_Z: Components = 5;

/// The facts about a virtual register.
#[derive(Clone, Copy, Debug)]
pub struct RegInfo {
    pub class: Class,
    pub allowed: Components,
    /// The group whose other members share its register.
    pub group: Option<u32>,
}

/// All virtual registers of a program.
#[derive(Debug, Default)]
pub struct Registers {
    pub regs: Vec<RegInfo>,
    groups: u32,
}

impl Registers {
    pub fn add(&mut self, class: Class, allowed: Components) -> Reg {
        self.regs.push(RegInfo { class, allowed, group: None });
        Reg(self.regs.len() as u32 - 1)
    }

    /// `count` registers in the components `x`, `y` and so on of one register.
    pub fn add_vector(&mut self, class: Class, count: usize) -> SmallVec<[Reg; 4]> {
        let group = self.groups;
        self.groups += 1;
        let mut member = |n: usize| {
            self.regs.push(RegInfo { class, allowed: 1 << n, group: Some(group) });
            Reg(self.regs.len() as u32 - 1)
        };
        (0..count).map(&mut member).collect()
    }

    pub fn class(&self, reg: Reg) -> Class {
        self.regs[reg.index()].class
    }
}

/// How the bits of a constant are written.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Kind {
    Uint,
    Sint,
    Float,
}

/// The start of an access to memory or to an array of variables.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ArrayRef {
    /// Name of the variable.
    pub array: Cow<'static, str>,
    pub index: Option<Reg>,
    pub offset: u32,
    /// Component of the element, for arrays of variables.
    pub component: Option<char>,
}

/// An operand that an instruction reads.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Operand {
    Reg(Reg),
    /// Registers that form a vector in one variable.
    Vector(SmallVec<[Reg; 4]>),
    Constant(u32, Kind),
    /// Four constants.
    Constants([u32; 4]),
    /// A scalar that the program environment provides.
    Named(Cow<'static, str>),
    Array(ArrayRef),
    /// Components of one register as a texture offset.
    Offset(SmallVec<[Reg; 4]>),
}

impl Operand {
    /// The registers that are read.
    pub fn regs(&self) -> impl Iterator<Item = Reg> + '_ {
        let (one, many): (Option<Reg>, &[Reg]) = match self {
            Operand::Reg(reg) => (Some(*reg), &[]),
            Operand::Vector(regs) | Operand::Offset(regs) => (None, regs),
            Operand::Array(place) => (place.index, &[]),
            Operand::Constant(..) | Operand::Constants(_) | Operand::Named(_) => (None, &[]),
        };
        one.into_iter().chain(many.iter().copied())
    }
}

/// The test that a condition applies to a bool.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Test {
    True,
    False,
}

impl Test {
    pub const fn inverted(self) -> Test {
        match self {
            Test::True => Test::False,
            Test::False => Test::True,
        }
    }
}

/// A destination of an instruction.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Dest {
    /// No named result: a store or a barrier.
    None,
    /// One register, or components of one.
    Regs(SmallVec<[Reg; 4]>),
    /// The scratch register, because the result is unused and the syntax requires one.
    Scratch,
    /// An element of an array.
    Array(ArrayRef),
}

/// Prefixes of the names of shuffles, votes, quad swizzles and derivatives.
const LANE_OPERATIONS: [&str; 4] = ["SHF", "TG", "QSWZ", "DD"];

/// One instruction.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Inst {
    /// Name with all modifiers.
    pub name: Cow<'static, str>,
    pub dest: Dest,
    pub sources: SmallVec<[Operand; 3]>,
    /// It only writes if this bool is true.
    pub guard: Option<Reg>,
    /// True if it has side effects: it stays even if its target is not read.
    pub effect: bool,
    pub origin: Origin,
}

impl Inst {
    /// The registers that it writes.
    pub fn written(&self) -> &[Reg] {
        match &self.dest {
            Dest::Regs(regs) => regs,
            _ => &[],
        }
    }

    /// The registers that it reads, including the target if it keeps the old value.
    pub fn read(&self) -> impl Iterator<Item = Reg> + '_ {
        let kept = if self.guard.is_some() { self.written() } else { &[] };
        let index = match &self.dest {
            Dest::Array(place) => place.index,
            _ => None,
        };
        let sources = self.sources.iter().flat_map(Operand::regs);
        sources.chain(self.guard).chain(index).chain(kept.iter().copied())
    }

    /// The places in memory and arrays that it touches.
    pub fn arrays(&self) -> impl Iterator<Item = &ArrayRef> {
        let target = match &self.dest {
            Dest::Array(place) => Some(place),
            _ => None,
        };
        let read = self.sources.iter().filter_map(|source| match source {
            Operand::Array(place) => Some(place),
            _ => None,
        });
        target.into_iter().chain(read)
    }

    /// Returns true if it depends on other lanes.
    pub fn is_cross_lane(&self) -> bool {
        LANE_OPERATIONS.iter().any(|name| self.name.starts_with(name))
    }

    /// Source and target, if it copies one register to another.
    pub fn copies(&self) -> Option<(Reg, Reg)> {
        match (&self.dest, &self.sources[..], self.guard) {
            (Dest::Regs(to), [Operand::Reg(from)], None) if self.name.starts_with("MOV.U") && to.len() == 1 => {
                Some((*from, to[0]))
            }
            _ => None,
        }
    }
}

/// One line of a program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Line {
    Inst(Box<Inst>),
    /// Starts lines that run if a bool passes the test.
    If(Reg, Test),
    Else,
    EndIf,
    /// Starts a loop, with this number of iterations if it is given.
    Repeat(Option<u32>),
    EndRepeat,
    /// Leaves the innermost `Repeat`.
    Break,
    BreakIf(Reg, Test),
    /// A break that is never taken; the loader requires one in each `Repeat` without a number.
    BreakNever,
    Return,
    /// Makes a helper of a fragment's invocation.
    Kill,
    /// The source of the lines from here on.
    Source(Span),
    /// The cross-lane operation of the lines from here on.
    Lane(Span),
    /// The origin of the control flow from here on; instructions have their own.
    Origin(Origin),
    /// A removed instruction.
    Empty,
}

impl Line {
    /// Returns true if it executes nothing.
    pub const fn is_remark(&self) -> bool {
        matches!(self, Line::Source(_) | Line::Lane(_) | Line::Origin(_) | Line::Empty)
    }

    /// Registers that it reads.
    pub fn for_each_read(&self, mut visit: impl FnMut(Reg)) {
        match self {
            Line::Inst(inst) => inst.read().for_each(visit),
            Line::If(reg, _) | Line::BreakIf(reg, _) => visit(*reg),
            _ => {}
        }
    }

    /// Registers that it writes.
    pub fn written(&self) -> &[Reg] {
        match self {
            Line::Inst(inst) => inst.written(),
            _ => &[],
        }
    }
}
