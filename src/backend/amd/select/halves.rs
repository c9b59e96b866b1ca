//! Facts about 16-bit values, found before selection: which of them may be in either half of a register, and which
//! conversions and shifts their users absorb.

use super::Subject;
use super::arithmetic::number;
use crate::backend::amd::machine::Operand;
use crate::backend::amd::mnemonic::Operation;
use crate::ir::{Scalar, ScalarKind};
use crate::kernel::{BinOp, InstId, Kernel, Op, TernOp, UnOp, Value};

/// A value of 16 bits in half of a word.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Half {
    pub word: Operand,
    pub is_high: bool,
    /// True if the other half is zero. Only a lower half can be clean.
    pub is_clean: bool,
}

impl Half {
    /// A value alone in its word.
    pub const fn clean(word: Operand) -> Half {
        Half { word, is_high: false, is_clean: true }
    }

    /// A value with any bits next to it.
    pub const fn of(word: Operand, is_high: bool) -> Half {
        Half { word, is_high, is_clean: false }
    }

    /// A clean half if the word is constant.
    pub fn folded(self) -> Half {
        match self.word {
            Operand::Constant(bits) => Half::clean(number(bits >> (16 * u32::from(self.is_high)) & 0xffff)),
            _ => self,
        }
    }
}

/// Limit of the operations that absorb a conversion: each one's encoding grows by a word.
const MOST_USERS: u32 = 4;

/// 16-bit values and their places.
#[derive(Debug)]
pub struct Halves {
    /// True for values whose users all read only half of a register.
    open: Vec<bool>,
    /// True for instructions without separate code.
    absorbed: Vec<bool>,
    /// Places of open values whose word also has other bits.
    held: Vec<Option<Half>>,
}

/// A conversion from 16 bits that are not a byte.
fn is_from_half(from: Scalar, to: Scalar) -> bool {
    from.width == 16 && !to.is_bool()
}

/// Returns true if an instruction can read a 16-bit value from half of a register.
fn takes_half(op: Op, is_negated_factor: bool) -> bool {
    match op {
        Op::Convert(from, to) => is_from_half(from, to),
        Op::Un(op, scalar) => is_float16(scalar) && (is_negated_factor || !matches!(op, UnOp::Neg | UnOp::Abs)),
        Op::Bin(_, scalar) | Op::Cmp(_, scalar) | Op::Tern(TernOp::Fma, scalar) => is_float16(scalar),
        Op::Store(access) => access.bytes == 2,
        _ => false,
    }
}

/// Returns true if an instruction may leave a 16-bit result in half of a register.
fn gives_half(op: Op) -> bool {
    match op {
        Op::Convert(_, to) => to.width == 16,
        Op::Un(_, scalar) | Op::Bin(_, scalar) | Op::Tern(TernOp::Fma, scalar) => is_float16(scalar),
        Op::Load(access) => access.bytes == 2,
        _ => false,
    }
}

pub fn is_float16(scalar: Scalar) -> bool {
    scalar.is_float() && scalar.width == 16
}

fn is_float32(scalar: Scalar) -> bool {
    scalar.is_float() && scalar.width == 32
}

/// Returns true if V_FMA_MIX does the work of an operation on 32-bit floats.
pub fn is_mixable(op: Op) -> bool {
    match op {
        Op::Tern(TernOp::Fma, scalar) | Op::Bin(BinOp::Add | BinOp::Sub | BinOp::Mul, scalar) => is_float32(scalar),
        _ => false,
    }
}

impl Halves {
    /// The facts about a kernel; some negations are modifiers of fused operations.
    pub fn of(subject: Subject<'_>, negated: &[bool]) -> Halves {
        let Subject { kernel, tree, .. } = subject;
        let insts = tree.insts(kernel);
        let open = open(kernel, &insts, negated);
        let absorbed = absorbed(subject, &insts, &open, negated);
        Halves { open, absorbed, held: vec![None; kernel.values.len()] }
    }

    pub fn is_open(&self, value: Value) -> bool {
        self.open[value.index()]
    }

    pub fn is_absorbed(&self, inst: InstId) -> bool {
        self.absorbed[inst.index()]
    }

    pub fn held(&self, value: Value) -> Option<Half> {
        self.held[value.index()]
    }

    pub fn hold(&mut self, value: Value, half: Half) {
        self.held[value.index()] = Some(half);
    }
}

fn open(kernel: &Kernel, insts: &[InstId], negated: &[bool]) -> Vec<bool> {
    let mut open = vec![false; kernel.values.len()];
    for inst in insts.iter().filter(|inst| gives_half(kernel.insts[**inst].op)) {
        kernel.results(*inst).for_each(|result| open[result.index()] = true);
    }
    for inst in insts.iter().filter(|inst| !takes_half(kernel.insts[**inst].op, negated[inst.index()])) {
        kernel.args(*inst).iter().for_each(|arg| open[arg.index()] = false);
    }
    open
}

/// Instructions that their users absorb: conversions that become operands of V_FMA_MIX, and shifts to the lower half.
fn absorbed(subject: Subject<'_>, insts: &[InstId], open: &[bool], negated: &[bool]) -> Vec<bool> {
    let kernel = subject.kernel;
    let mut users = vec![0; kernel.insts.len()];
    let mut absorbed = vec![false; kernel.insts.len()];
    insts.iter().for_each(|inst| absorbed[inst.index()] = is_converted_half(subject, *inst) || is_upper(kernel, *inst));
    for user in insts {
        let op = kernel.insts[*user].op;
        let is_mixed = is_mixable(op) || negated[user.index()] && matches!(op, Op::Un(_, scalar) if is_float32(scalar));
        let is_cut = is_cut(kernel, *user) && kernel.result(*user).is_some_and(|result| open[result.index()]);
        for made in kernel.args(*user).iter().filter_map(|arg| kernel.definition(*arg)) {
            users[made.index()] += 1;
            let is_conversion = matches!(kernel.insts[made].op, Op::Convert(..));
            absorbed[made.index()] &= if is_conversion { is_mixed } else { is_cut };
        }
    }
    for inst in insts {
        absorbed[inst.index()] &= (1..=MOST_USERS).contains(&users[inst.index()]);
    }
    absorbed
}

/// A conversion of a varying float from 16 to 32 bits.
fn is_converted_half(subject: Subject<'_>, inst: InstId) -> bool {
    let Subject { kernel, arch, .. } = subject;
    let is_conversion = matches!(kernel.insts[inst].op, Op::Convert(from, to) if is_float16(from) && is_float32(to));
    let has_mix = arch.processor.has_fma_mix && Operation::FmaMixF32.spelling(arch.generation).is_some();
    is_conversion && has_mix && !subject.uniformity.is_uniform(kernel.args(inst)[0])
}

/// A shift of a word that leaves its upper half.
fn is_upper(kernel: &Kernel, inst: InstId) -> bool {
    let is_shift = matches!(kernel.insts[inst].op, Op::Bin(BinOp::Shr, scalar) if scalar == Scalar::U32);
    is_shift && kernel.as_constant(kernel.args(inst)[1]) == Some(16)
}

/// Returns true if an instruction takes the lower half of a 32-bit word as an integer.
fn is_cut(kernel: &Kernel, inst: InstId) -> bool {
    let is_word = |scalar: Scalar| scalar.width == 32 && matches!(scalar.kind, ScalarKind::Sint | ScalarKind::Uint);
    matches!(kernel.insts[inst].op, Op::Convert(from, to) if is_word(from) && to.width == 16 && to.is_int())
}

/// The word whose upper half is this value, after an absorbed shift.
pub fn upper_of(kernel: &Kernel, halves: &Halves, value: Value) -> Option<Value> {
    let inst = kernel.definition(value).filter(|inst| is_upper(kernel, *inst) && halves.is_absorbed(*inst))?;
    Some(kernel.args(inst)[0])
}
