//! The instructions that can be paired (VOPD), and the constraints on their registers.
//!
//! Sources: "VOPD" in AMD's RDNA 3, RDNA 3.5 and RDNA 4 ISA guides, LLVM's `checkVOPDRegConstraints`, and LLVM's pull
//! request 220348: on RDNA 3 the two sources at each port must be an even and an odd register, because otherwise the
//! hardware may not wait for one of them.

use crate::backend::amd::arch::{Arch, Dual};
use crate::backend::amd::machine::{File, Inst, Operand, RegisterRange, Special, is_inline};
use crate::backend::amd::mnemonic::Operation;
use smallvec::{SmallVec, smallvec};

/// How an operand is read. Each of the three ports reads one vector register for each half.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Port {
    /// A vector or scalar register, or a constant.
    First,
    Second,
    Third,
    /// A constant in the code.
    Literal,
    /// VCC, which is not named.
    Mask,
}

/// The equivalent operation with its operands at other ports.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Other {
    None,
    /// The operation with its first two operands swapped.
    Swapped(Operation),
    /// A move reads its source as the second operand of a sum with zero.
    Sum,
}

/// An operation that can be a half.
struct Row {
    operation: Operation,
    /// The ports of its operands, in text order.
    ports: &'static [Port],
    /// It reads its destination at the third port.
    accumulates: bool,
    /// True if it must be the second half.
    is_second: bool,
    other: Other,
}

const fn row(operation: Operation, ports: &'static [Port], other: Other) -> Row {
    Row { operation, ports, accumulates: false, is_second: false, other }
}

/// A row for a commutative operation on two operands.
const fn sum(operation: Operation) -> Row {
    row(operation, TWO, Other::Swapped(operation))
}

const fn second(row: Row) -> Row {
    Row { is_second: true, ..row }
}

const TWO: &[Port] = &[Port::First, Port::Second];
const WITH_ADDEND: &[Port] = &[Port::First, Port::Second, Port::Literal];
const WITH_FACTOR: &[Port] = &[Port::First, Port::Literal, Port::Third];
const SELECT: &[Port] = &[Port::First, Port::Second, Port::Mask];

static ROWS: &[Row] = &[
    Row { accumulates: true, ..sum(Operation::FmacF32) },
    row(Operation::FmaakF32, WITH_ADDEND, Other::Swapped(Operation::FmaakF32)),
    row(Operation::FmamkF32, WITH_FACTOR, Other::None),
    sum(Operation::MulF32),
    sum(Operation::AddF32),
    row(Operation::SubF32, TWO, Other::Swapped(Operation::SubrevF32)),
    row(Operation::Move, &[Port::First], Other::Sum),
    row(Operation::Select, SELECT, Other::None),
    sum(Operation::MaxF32),
    sum(Operation::MinF32),
    second(sum(Operation::AddU32)),
    second(row(Operation::ShlB32, TWO, Other::None)),
    second(sum(Operation::AndB32)),
];

/// The rules of a processor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rules {
    /// The number of vector register banks at each port. The halves must read from different banks.
    banks: [u16; 3],
    /// The second of two moves reads its source at the third port, wherever it is.
    moves_apart: bool,
    /// A half may write a register that the other half reads.
    overwrites: bool,
}

const RDNA3: Rules = Rules { banks: [2, 2, 2], moves_apart: false, overwrites: true };
const RDNA4: Rules = Rules { banks: [4, 4, 2], moves_apart: true, overwrites: false };

/// The rules for pairs; `None` if the processor has none.
pub const fn rules(arch: &Arch) -> Option<&'static Rules> {
    match (arch.processor.dual, arch.wave) {
        (Dual::Rdna3, 32) => Some(&RDNA3),
        (Dual::Rdna4, 32) => Some(&RDNA4),
        _ => None,
    }
}

/// An instruction as half of a pair.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Half {
    pub operation: Operation,
    pub uses: SmallVec<[Operand; 4]>,
    is_second: bool,
    result: u16,
    /// The vector register that each port reads.
    vectors: [Option<u16>; 3],
    /// Its scalar register, VCC or literal: at most one.
    scalar: Option<Scalar>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Scalar {
    Register(u16),
    Vcc,
    Literal(u32),
}

/// The ways to use an instruction as one half of a pair.
pub fn halves(inst: &Inst) -> SmallVec<[Half; 2]> {
    let known = inst.operation().and_then(|operation| ROWS.iter().find(|row| row.operation == operation));
    let Some(row) = known.filter(|_| inst.modifiers.is_empty() && inst.second.is_none()) else {
        return SmallVec::new();
    };
    let Some(result) = inst.defs.first().and_then(|result| vector(*result)) else { return SmallVec::new() };
    let other = match (row.other, &inst.uses[..]) {
        (Other::Swapped(operation), [a, b, rest @ ..]) => {
            let uses = [*b, *a].into_iter().chain(rest.iter().copied()).collect();
            Half::new(Row { operation, ..*row }, uses, result)
        }
        (Other::Sum, [source]) => {
            Half::new(second(sum(Operation::AddU32)), smallvec![Operand::Constant(0), *source], result)
        }
        _ => None,
    };
    Half::new(Row { ..*row }, inst.uses.clone(), result).into_iter().chain(other).collect()
}

impl Half {
    fn new(row: Row, uses: SmallVec<[Operand; 4]>, result: u16) -> Option<Half> {
        let third = row.accumulates.then_some(result);
        let half = Half {
            operation: row.operation,
            uses: SmallVec::new(),
            is_second: row.is_second,
            result,
            vectors: [None, None, third],
            scalar: None,
        };
        let is_complete = row.ports.len() == uses.len();
        let read = row.ports.iter().zip(&uses).try_fold(half, |half, (port, operand)| half.reading(*port, *operand));
        read.filter(|_| is_complete).map(|half| Half { uses, ..half })
    }

    /// This half with one more operand, if its port can read it.
    fn reading(mut self, port: Port, operand: Operand) -> Option<Half> {
        match (port, operand) {
            (Port::First, Operand::Constant(bits)) if is_inline(bits) => {}
            (Port::First | Port::Literal, Operand::Constant(bits)) => self.add(Scalar::Literal(bits))?,
            (Port::First, Operand::Hardware(RegisterRange { file: File::Scalar, first, count: 1 })) => {
                self.add(Scalar::Register(first))?;
            }
            (Port::Mask, Operand::Special(Special::Vcc | Special::VccLow)) => self.add(Scalar::Vcc)?,
            (Port::First | Port::Second | Port::Third, operand) => self.vectors[port as usize] = Some(vector(operand)?),
            _ => return None,
        }
        Some(self)
    }

    fn add(&mut self, scalar: Scalar) -> Option<()> {
        let fits = self.scalar.is_none_or(|other| other == scalar);
        self.scalar = Some(scalar);
        fits.then_some(())
    }

    fn reads(&self, register: u16) -> bool {
        self.vectors.contains(&Some(register))
    }
}

impl Rules {
    /// Returns true if the two can be paired in this order.
    pub fn take(&self, first: &Half, second: &Half) -> bool {
        !first.is_second
            && first.result % 2 != second.result % 2
            && self.banks_differ(first, second)
            && !matches!((first.scalar, second.scalar), (Some(Scalar::Literal(a)), Some(Scalar::Literal(b))) if a != b)
            && (self.overwrites || !first.reads(second.result) && !second.reads(first.result))
    }

    fn banks_differ(&self, first: &Half, second: &Half) -> bool {
        let are_moves = first.operation == Operation::Move && second.operation == Operation::Move;
        let ports = self.banks.iter().zip(first.vectors).zip(second.vectors);
        let differs = |((banks, a), b): ((&u16, Option<u16>), Option<u16>)| match (a, b) {
            (Some(a), Some(b)) => a % banks != b % banks,
            _ => true,
        };
        self.moves_apart && are_moves || ports.into_iter().all(differs)
    }
}

fn vector(operand: Operand) -> Option<u16> {
    match operand {
        Operand::Hardware(RegisterRange { file: File::Vector, first, count: 1 }) => Some(first),
        _ => None,
    }
}
