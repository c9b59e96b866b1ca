//! Combines instructions that only move bytes: into `V_PERM_B32`, which selects any bytes of two registers, or into a
//! conversion of one byte, `V_CVT_F32_UBYTE`.
//!
//! Source: "V_PERM_B32" and "V_CVT_F32_UBYTE0" in AMD's GCN 3, Vega, RDNA 2 and RDNA 3 ISA guides.

use super::Walk;
use super::rows::{Encoding, Uses};
use crate::backend::amd::machine::{Code, File, Inst, Modifiers, Operand, Slice};
use crate::backend::amd::mnemonic::Operation;
use smallvec::{SmallVec, smallvec};

/// A byte of a result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Byte {
    Zero,
    Ones,
    /// A byte of a register, 0 the lowest.
    Of(Operand, u8),
}

/// The bytes of a word, the lowest first.
type Bytes = [Byte; 4];

/// The instructions that compute the parts of a word, each after its operands.
#[derive(Debug, Default)]
struct Makers {
    all: SmallVec<[usize; 8]>,
    /// The number of makers without other uses.
    single: usize,
}

/// Maximum number of instructions to look through.
const DEPTH: u32 = 3;

/// `V_PERM_B32` selects a byte of its second operand by 0 to 3, of its first by 4 to 7, and constants.
const SELECT_FIRST: u8 = 4;
const SELECT_ZERO: u8 = 12;
const SELECT_ONES: u8 = 13;

fn constant(bits: u32) -> Option<Bytes> {
    let byte = |byte: u8| match byte {
        0 => Some(Byte::Zero),
        0xff => Some(Byte::Ones),
        _ => None,
    };
    let [a, b, c, d] = bits.to_le_bytes().map(byte);
    Some([a?, b?, c?, d?])
}

/// The number of whole bytes in a shift amount.
fn whole_bytes(amount: Operand) -> Option<usize> {
    match amount {
        Operand::Constant(bits) if bits < 32 && bits.is_multiple_of(8) => Some(bits as usize / 8),
        _ => None,
    }
}

fn zip(a: Bytes, b: Bytes, join: impl Fn(Byte, Byte) -> Option<Byte>) -> Option<Bytes> {
    let joined: SmallVec<[Byte; 4]> = a.into_iter().zip(b).map_while(|(a, b)| join(a, b)).collect();
    joined.as_slice().try_into().ok()
}

fn and(a: Bytes, b: Bytes) -> Option<Bytes> {
    zip(a, b, |a, b| match (a, b) {
        (Byte::Zero, _) | (_, Byte::Zero) => Some(Byte::Zero),
        (Byte::Ones, other) | (other, Byte::Ones) => Some(other),
        _ => (a == b).then_some(a),
    })
}

fn or(a: Bytes, b: Bytes) -> Option<Bytes> {
    zip(a, b, |a, b| match (a, b) {
        (Byte::Zero, other) | (other, Byte::Zero) => Some(other),
        (Byte::Ones, _) | (_, Byte::Ones) => Some(Byte::Ones),
        _ => (a == b).then_some(a),
    })
}

/// A sum without carries.
fn sum(a: Bytes, b: Bytes) -> Option<Bytes> {
    zip(a, b, |a, b| match (a, b) {
        (Byte::Zero, other) | (other, Byte::Zero) => Some(other),
        _ => None,
    })
}

fn not(bytes: Bytes) -> Option<Bytes> {
    zip(bytes, bytes, |byte, _| match byte {
        Byte::Zero => Some(Byte::Ones),
        Byte::Ones => Some(Byte::Zero),
        Byte::Of(..) => None,
    })
}

fn up(bytes: Bytes, by: usize) -> Bytes {
    std::array::from_fn(|n| n.checked_sub(by).map_or(Byte::Zero, |n| bytes[n]))
}

fn down(bytes: Bytes, by: usize) -> Bytes {
    std::array::from_fn(|n| bytes.get(n + by).copied().unwrap_or(Byte::Zero))
}

fn lowest(bytes: Bytes, count: usize) -> Bytes {
    std::array::from_fn(|n| if n < count { bytes[n] } else { Byte::Zero })
}

/// The operands and the selector of `V_PERM_B32`; `None` if the bytes come from more than two registers.
fn selection(bytes: Bytes) -> Option<([Operand; 2], u32)> {
    let mut sources: SmallVec<[Operand; 4]> = SmallVec::new();
    let selected = bytes.map(|byte| match byte {
        Byte::Zero => SELECT_ZERO,
        Byte::Ones => SELECT_ONES,
        Byte::Of(source, n) => {
            let at = sources.iter().position(|known| *known == source).unwrap_or_else(|| {
                sources.push(source);
                sources.len() - 1
            });
            n + SELECT_FIRST * (at == 0) as u8
        }
    });
    let sources = match sources[..] {
        [one] => [one; 2],
        [one, other] => [one, other],
        _ => return None,
    };
    Some((sources, u32::from_le_bytes(selected)))
}

/// The bytes that `V_PERM_B32` selects from its operands.
fn selected(first: Bytes, second: Bytes, selector: u32) -> Option<Bytes> {
    let byte = |select: u8| match select {
        0..SELECT_FIRST => Some(second[usize::from(select)]),
        SELECT_FIRST..8 => Some(first[usize::from(select - SELECT_FIRST)]),
        SELECT_ZERO => Some(Byte::Zero),
        SELECT_ONES => Some(Byte::Ones),
        _ => None,
    };
    let [a, b, c, d] = selector.to_le_bytes().map(byte);
    Some([a?, b?, c?, d?])
}

impl Walk<'_> {
    /// Combines an instruction and its operands' single-use producers into one `V_PERM_B32`, if they only move bytes.
    pub fn permute_bytes(&mut self, at: usize) {
        if Operation::PermuteBytes.spelling(self.arch.generation).is_none() {
            return;
        }
        let found = (1..=DEPTH).rev().find_map(|depth| {
            let mut makers = Makers::default();
            let (sources, selector) = selection(self.bytes_of(at, depth, &mut makers)?)?;
            Some((makers, sources, selector))
        });
        let Some((makers, [a, b], selector)) = found else { return };
        let selector = Operand::Constant(selector);
        let has_literals = self.arch.has_long_literals();
        // A new scalar register replaces a literal, at the cost of a scalar instruction.
        let next = Operand::Reg(Slice { reg: self.next_register(), first: 0, count: 1 });
        let third = if has_literals { selector } else { next };
        let pays = makers.single > usize::from(!has_literals);
        let fits = if has_literals {
            self.fits(Encoding::Long, &[a, b, third])
        } else {
            [a, b].iter().all(|s| self.is_vector(s))
        };
        if !pays || !fits {
            return;
        }
        if !has_literals {
            self.new_register(File::Scalar, 1);
            let span = self.block.insts[at].span;
            self.put_before(at, Inst { span, ..Inst::real(Operation::ScalarMove, &[third], &[selector]) });
        }
        let outer = &self.block.insts[at];
        let defs = outer.defs[..1].into();
        let by =
            Inst { code: Code::Real(Operation::PermuteBytes), defs, uses: smallvec![a, b, third], ..outer.clone() };
        self.replace(at, makers.all.into_iter().rev(), by);
    }

    /// Makes a conversion to a float read its byte directly from a word.
    pub fn convert_byte(&mut self, at: usize) {
        let outer = &self.block.insts[at];
        let is_it =
            outer.operation() == Some(Operation::Convert) && ["f32_u32", "f32_i32"].contains(&outer.modifiers.suffix);
        if !is_it || outer.modifiers != (Modifiers { suffix: outer.modifiers.suffix, ..Modifiers::default() }) {
            return;
        }
        let mut makers = Makers::default();
        let Some([Byte::Of(word, n), Byte::Zero, Byte::Zero, Byte::Zero]) =
            self.operand_bytes(at, 0, DEPTH, &mut makers)
        else {
            return;
        };
        if makers.all.is_empty() {
            return;
        }
        let mut by = Inst { uses: Uses::from_slice(&[word]), ..outer.clone() };
        by.modifiers.suffix = ["f32_ubyte0", "f32_ubyte1", "f32_ubyte2", "f32_ubyte3"][usize::from(n)];
        self.replace(at, makers.all.into_iter().rev(), by);
    }

    /// The bytes of an instruction's result, if it only moves bytes.
    fn bytes_of(&self, at: usize, depth: u32, makers: &mut Makers) -> Option<Bytes> {
        use Operation as O;
        let inst = &self.block.insts[at];
        if !inst.modifiers.is_empty() || inst.keeps {
            return None;
        }
        let uses = &inst.uses;
        let mut of = |n: usize| self.operand_bytes(at, n, depth, makers);
        match inst.operation()? {
            O::AndB32 => and(of(0)?, of(1)?),
            O::OrB32 => or(of(0)?, of(1)?),
            O::AddU32 => sum(of(0)?, of(1)?),
            O::Or3B32 => or(or(of(0)?, of(1)?)?, of(2)?),
            O::AndOrB32 => or(and(of(0)?, of(1)?)?, of(2)?),
            O::ShlB32 => Some(up(of(1)?, whole_bytes(uses[0])?)),
            O::ShrB32 => Some(down(of(1)?, whole_bytes(uses[0])?)),
            O::ShlOrB32 => or(up(of(0)?, whole_bytes(uses[1])?), of(2)?),
            O::ShlAddU32 => sum(up(of(0)?, whole_bytes(uses[1])?), of(2)?),
            O::BfeU32 => Some(lowest(down(of(0)?, whole_bytes(uses[1])?), whole_bytes(uses[2])?)),
            O::BfiB32 => {
                let mask = of(0)?;
                or(and(mask, of(1)?)?, and(not(mask)?, of(2)?)?)
            }
            O::AlignBits => {
                let by = whole_bytes(uses[2])?;
                or(down(of(1)?, by), if by == 0 { [Byte::Zero; 4] } else { up(of(0)?, 4 - by) })
            }
            O::PermuteBytes => match uses[2] {
                Operand::Constant(selector) => selected(of(0)?, of(1)?, selector),
                _ => None,
            },
            _ => None,
        }
    }

    /// The bytes of an operand, looking through its definition if that only moves bytes.
    fn operand_bytes(&self, at: usize, slot: usize, depth: u32, makers: &mut Makers) -> Option<Bytes> {
        let operand = self.block.insts[at].uses[slot];
        match operand {
            Operand::Constant(bits) => constant(bits),
            Operand::Reg(slice) if slice.count == 1 => {
                let made = if depth > 0 { self.made_bytes(at, slot, depth - 1, makers) } else { None };
                Some(made.unwrap_or_else(|| std::array::from_fn(|n| Byte::Of(operand, n as u8))))
            }
            _ => None,
        }
    }

    fn made_bytes(&self, at: usize, slot: usize, depth: u32, makers: &mut Makers) -> Option<Bytes> {
        let inner = self.repeatable(at, slot)?;
        let known = (makers.all.len(), makers.single);
        let bytes = self.bytes_of(inner, depth, makers);
        if bytes.is_none() {
            makers.all.truncate(known.0);
            makers.single = known.1;
        } else {
            makers.all.push(inner);
            makers.single += usize::from(self.maker(at, slot).is_some());
        }
        bytes
    }
}
