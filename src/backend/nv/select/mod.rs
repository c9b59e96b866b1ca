//! Chooses instructions for a kernel's operations.
//!
//! Bools are -1 and 0 in 32 bits, the results of integer comparisons and the operands of votes and `CMP.S`. A mask of
//! lanes is one word, because a warp has 32. 16-bit values are in the low half of a word, with a zero upper half, and
//! are widened for arithmetic. No instruction works on vectors here: every operation is scalar.

mod arithmetic;
mod atomic;
mod convert;
mod flow;
mod format;
mod image;
mod join;
mod lane;
pub mod memory;
mod narrow;
pub mod port;
pub mod private;
pub mod stage;
mod texture;
mod truth;
mod wide;

use super::exits::Exits;
use super::interface::{Interface, Needs};
use super::machine::{ANY, Class, Components, Dest, Inst, Kind, Line, Operand, Reg, Registers, Test, X_OR_Z};
use super::votes::Votes;
use crate::backend::Options;
use crate::diagnostic::{Code, Diagnostic, cannot_write};
use crate::ir::Scalar;
use crate::kernel::pass::Count;
use crate::kernel::tree::Tree;
use crate::kernel::{BlockId, Def, InstId, Kernel, Op, Origin, Ty, Value};
use crate::limits;
use crate::source::Span;
use smallvec::{SmallVec, smallvec};
use std::borrow::Cow;

/// A program before its registers have places.
#[derive(Debug)]
pub struct Selected {
    pub lines: Vec<Line>,
    pub registers: Registers,
    pub needs: Needs,
}

/// Chooses instructions for a whole kernel.
///
/// # Errors
/// Returns one diagnostic for each operation that the target cannot express.
pub fn select(
    kernel: &Kernel,
    tree: &Tree,
    interface: &Interface,
    options: &Options,
) -> Result<Selected, Vec<Diagnostic>> {
    let exits = Exits::of(kernel, tree, options.profile.lane_nesting);
    let votes = (exits.has_lanes() && !kernel.is_straight()).then(|| Votes::new(kernel, tree));
    let mut selector = Selector {
        kernel,
        interface,
        debug: options.debug.has_lines(),
        exits,
        votes,
        lines: Vec::new(),
        registers: Registers::default(),
        values: vec![None; kernel.values.len()],
        needs: Needs::default(),
        open: Vec::new(),
        arms: Vec::new(),
        counted: None,
        tree,
        span: Span::NONE,
        origin: Origin::Code,
        is_exact: true,
        flow_origin: Origin::Code,
        line: None,
        lane_comment: None,
        errors: Vec::new(),
        floats_unsigned: kernel.insts.iter().any(|(_, inst)| inst.op.floats_unsigned()),
    };
    selector.body();
    selector.join_loops();
    selector.part_truths();
    let Selector { lines, registers, needs, errors, .. } = selector;
    if errors.is_empty() { Ok(Selected { lines, registers, needs }) } else { Err(errors) }
}

struct Selector<'k> {
    kernel: &'k Kernel,
    interface: &'k Interface,
    /// Emit the source line of the code.
    debug: bool,
    exits: Exits,
    /// `None` if no branch can depend on a vote.
    votes: Option<Votes>,
    lines: Vec<Line>,
    registers: Registers,
    /// The operand of each value of the kernel.
    values: Vec<Option<Operand>>,
    needs: Needs,
    /// The enclosing constructs that jumps leave, innermost last.
    open: Vec<flow::Open>,
    /// The conditions of the enclosing branches, innermost last.
    arms: Vec<(Reg, Test)>,
    /// The enclosing loop with a known trip count. It contains no other loop.
    counted: Option<(InstId, Count)>,
    tree: &'k Tree,
    /// Span of the instruction being selected.
    span: Span,
    origin: Origin,
    /// True if the driver must not contract it.
    is_exact: bool,
    /// The origin of the last line of control flow.
    flow_origin: Origin,
    /// The line that the last comments gave.
    line: Option<Line>,
    lane_comment: Option<Line>,
    errors: Vec<Diagnostic>,
    /// True if the kernel converts unsigned words to floats somewhere.
    floats_unsigned: bool,
}

impl<'k> Selector<'k> {
    // Messages.

    fn refuse(&mut self, message: impl Into<String>) {
        Diagnostic::needed(Code::NOT_SUPPORTED, message, self.span).join(&mut self.errors);
    }

    /// Refuses an operation, and returns an operand so that selection can continue and find more errors.
    fn refused(&mut self, what: &str) -> Operand {
        self.refuse(cannot_write(what, "NVIDIA assembly"));
        Operand::Constant(0, Kind::Uint)
    }

    // Writing.

    fn push(&mut self, name: impl Into<Cow<'static, str>>, target: Dest, sources: &[Operand]) -> &mut Inst {
        limits::spend(1);
        limits::hold::<Inst>(1);
        let (sources, origin) = (sources.into(), self.origin);
        let inst = Inst { name: name.into(), dest: target, sources, guard: None, effect: false, origin };
        self.lines.push(Line::Inst(Box::new(inst)));
        let Some(Line::Inst(inst)) = self.lines.last_mut() else { unreachable!("it was just pushed") };
        inst
    }

    /// An instruction for its effect alone.
    fn effect(&mut self, name: impl Into<Cow<'static, str>>, sources: &[Operand]) {
        self.push(name, Dest::None, sources).effect = true;
    }

    fn write(&mut self, name: impl Into<Cow<'static, str>>, to: Reg, sources: &[Operand]) {
        self.push(name, Dest::Regs(smallvec![to]), sources);
    }

    /// An instruction whose 32-bit result may be in one of these components.
    fn word_in(&mut self, allowed: Components, name: impl Into<Cow<'static, str>>, sources: &[Operand]) -> Operand {
        let to = self.registers.add(Class::Word, allowed);
        self.write(name, to, sources);
        Operand::Reg(to)
    }

    /// An instruction with a 32-bit result.
    fn word(&mut self, name: impl Into<Cow<'static, str>>, sources: &[Operand]) -> Operand {
        self.word_in(ANY, name, sources)
    }

    /// An instruction with a 64-bit result.
    fn long(&mut self, name: impl Into<Cow<'static, str>>, sources: &[Operand]) -> Operand {
        let to = self.registers.add(Class::Long, ANY);
        self.write(name, to, sources);
        Operand::Reg(to)
    }

    /// Copies into a register of the operand's size.
    fn copy(&mut self, to: Reg, from: Operand) {
        let name = match self.registers.class(to) {
            Class::Word => "MOV.U",
            Class::Long => "MOV.U64",
        };
        self.write(name, to, &[from]);
    }

    // Operands.

    fn class(&self, value: Value) -> Class {
        if self.kernel.ty(value) == Ty::B64 { Class::Long } else { Class::Word }
    }

    /// A value of up to 32 bits as an operand of an instruction with constants of this kind.
    fn arg(&mut self, value: Value, kind: Kind) -> Operand {
        match self.kernel.values[value].def {
            Def::Const(bits) => self.constant(word_bits(self.kernel.ty(value), bits), kind),
            Def::Undef => self.constant(0, kind),
            Def::Inst(..) | Def::Param(..) => match self.values[value.index()].clone() {
                // A constant is stored as bits; its reader decides how to write it.
                Some(Operand::Constant(bits, _)) => self.constant(bits, kind),
                Some(operand) => operand,
                None => Operand::Constant(0, kind),
            },
        }
    }

    fn uint(&mut self, value: Value) -> Operand {
        self.arg(value, Kind::Uint)
    }

    /// A value of 64 bits, always in a register.
    fn long_arg(&mut self, value: Value) -> Operand {
        match self.kernel.values[value].def {
            Def::Const(bits) => self.long_constant(bits),
            Def::Undef => self.long_constant(0),
            Def::Inst(..) | Def::Param(..) => match self.values[value.index()].clone() {
                Some(operand) => operand,
                None => self.long_constant(0),
            },
        }
    }

    /// A value of any type.
    fn any_arg(&mut self, value: Value) -> Operand {
        match self.class(value) {
            Class::Word => self.uint(value),
            Class::Long => self.long_arg(value),
        }
    }

    /// A constant operand. Floats that a short decimal number does not represent exactly are moved as bits, so that
    /// nothing depends on the driver's parser; infinity and NaN have no literals at all.
    fn constant(&mut self, bits: u32, kind: Kind) -> Operand {
        if kind == Kind::Float && !is_short(f32::from_bits(bits)) {
            return self.word("MOV.U", &[Operand::Constant(bits, Kind::Uint)]);
        }
        Operand::Constant(bits, kind)
    }

    fn long_constant(&mut self, bits: u64) -> Operand {
        let words = Operand::Constants([bits as u32, (bits >> 32) as u32, 0, 0]);
        self.join(words)
    }

    /// A 64-bit value from a vector of two words.
    fn join(&mut self, words: Operand) -> Operand {
        let to = self.registers.add(Class::Long, X_OR_Z);
        self.write("PK64.U", to, &[words]);
        Operand::Reg(to)
    }

    /// The low and the high word of a 64-bit value.
    fn split(&mut self, long: Operand) -> [Operand; 2] {
        let words = self.registers.add_vector(Class::Word, 2);
        self.push("UP64.U", Dest::Regs(words.clone()), &[long]);
        [Operand::Reg(words[0]), Operand::Reg(words[1])]
    }

    /// The operand in a register.
    fn in_reg(&mut self, operand: Operand) -> Reg {
        match operand {
            Operand::Reg(reg) => reg,
            other => {
                let to = self.registers.add(Class::Word, ANY);
                self.write("MOV.U", to, &[other]);
                to
            }
        }
    }

    /// The group of a register.
    fn group_of(&self, operand: &Operand) -> Option<u32> {
        match operand {
            Operand::Reg(reg) => self.registers.regs[reg.index()].group,
            _ => None,
        }
    }

    /// Operands in order as a vector: components of one register if possible, constants, or copies.
    fn vector(&mut self, operands: &[Operand], class: Class) -> Operand {
        let group = operands.first().and_then(|first| self.group_of(first));
        if group.is_some() && operands.iter().all(|operand| self.group_of(operand) == group) {
            return Operand::Vector(operands.iter().flat_map(Operand::regs).collect());
        }
        let constants: Option<Vec<u32>> = operands
            .iter()
            .map(|operand| match operand {
                Operand::Constant(bits, Kind::Uint) => Some(*bits),
                _ => None,
            })
            .collect();
        if let (Some(constants), Class::Word) = (constants, class) {
            let mut four = [0; 4];
            four[..constants.len()].copy_from_slice(&constants);
            return Operand::Constants(four);
        }
        let members = self.registers.add_vector(class, operands.len());
        for (to, from) in members.iter().zip(operands) {
            self.copy(*to, from.clone());
        }
        Operand::Vector(members)
    }

    // Instructions of the kernel.

    fn give(&mut self, value: Value, operand: Operand) {
        self.values[value.index()] = Some(operand);
    }

    /// Gives the only result of an instruction.
    fn result(&mut self, inst: InstId, operand: Operand) {
        if let Some(value) = self.kernel.result(inst) {
            self.give(value, operand);
        }
    }

    /// An operation other than control flow; `rest` are the instructions after it in its block.
    fn plain(&mut self, inst: InstId, rest: &[InstId]) {
        let kernel = self.kernel;
        let args = kernel.args(inst);
        let operand = match kernel.insts[inst].op {
            Op::Un(op, scalar) => self.unary(op, scalar, args[0]),
            Op::Bin(op, scalar) => self.binary(op, scalar, [args[0], args[1]]),
            Op::Cmp(op, scalar) => self.compare(op, scalar, [args[0], args[1]]),
            Op::Tern(op, scalar) => self.ternary(op, scalar, [args[0], args[1], args[2]]),
            Op::BitInsert(scalar) => self.bit_insert(scalar, args),
            Op::Select => self.select(args[0], args[1], args[2]),
            Op::Convert(from, to) => self.convert(from, to, args[0]),
            Op::Join => {
                let words = [self.uint(args[0]), self.uint(args[1])];
                let words = self.vector(&words, Class::Word);
                self.join(words)
            }
            Op::Low => self.half(args[0], 0),
            Op::High => self.half(args[0], 1),
            Op::BuiltIn(built_in, component) => self.built_in(built_in, component),
            Op::Load(access) => return self.load(inst, access),
            Op::Store(access) => return self.store(inst, access),
            Op::Atomic { op, ty, access, .. } => return self.atomic(inst, op, ty, access),
            Op::BufferBytes(buffer) => self.buffer_bytes(buffer),
            Op::Barrier { execution, memory, kinds, order } => return self.barrier(execution, memory, kinds, order),
            Op::Prim { primitive, ty } => return self.primitive(inst, primitive, ty, rest),
            Op::Fact(fact) => self.fact(fact),
            Op::MaskAlu(op) => self.mask_arithmetic(op, args),
            Op::MaskFromWords => self.uint(args[0]),
            Op::Image { op, image, parts } => return self.image(inst, op, image, parts),
            Op::Input { location, component } => self.input(location, component),
            Op::Interpolate { at, location, component } => self.interpolate(at, [location, component.into()], args),
            Op::Output { site, component } => return self.output(site, component, args[0]),
            Op::Kill => return self.kill(),
            Op::Derivative(function) => self.derivative(function, args[0]),
            Op::Lane { .. } => self.refused("a cross-lane operation that was not lowered"),
            Op::CombineMoved { op, ty, primitive } => self.combine_moved(op, ty, primitive, [args[0], args[1]]),
            Op::Whole { .. } => self.refused("code that all lanes of a wave run"),
            Op::If { .. } | Op::Loop { .. } | Op::Scope { .. } => return,
            Op::Yield | Op::Exit(_) | Op::Continue(_) | Op::Repeat | Op::Return | Op::Unreachable => return,
        };
        self.result(inst, operand);
    }

    fn half(&mut self, long: Value, which: usize) -> Operand {
        let long = self.long_arg(long);
        self.word_in(1 << which, "UP64.U", &[long])
    }

    /// `a || b` and `a && b` for bools, ignoring the bits of `b` where it does not count. Selects take longer on an
    /// H100: a kernel that sorts by `||` took 1.16 times as long, one that loops on `&&` 1.03 times.
    fn select_truth(&mut self, condition: &Operand, accept: Value, reject: Value) -> Option<Operand> {
        let bool = |value| (self.kernel.ty(value) == Ty::Bool).then(|| self.kernel.as_constant(value)).flatten();
        let (name, other) = match (bool(accept), bool(reject)) {
            (Some(1), _) => ("OR.U", reject),
            (_, Some(0)) => ("AND.U", accept),
            _ => return None,
        };
        let other = self.arg(other, Kind::Uint);
        Some(self.word(name, &[condition.clone(), other]))
    }

    fn select(&mut self, condition: Value, accept: Value, reject: Value) -> Operand {
        let condition = self.uint(condition);
        if let Some(truth) = self.select_truth(&condition, accept, reject) {
            return truth;
        }
        if self.class(accept) == Class::Word {
            let (accept, reject) = (self.arg(accept, Kind::Sint), self.arg(reject, Kind::Sint));
            let condition = Operand::Reg(self.in_reg(condition));
            return self.word("CMP.S", &[condition, accept, reject]);
        }
        let (accept, reject) = (self.long_arg(accept), self.long_arg(reject));
        let condition = self.in_reg(condition);
        let to = self.registers.add(Class::Long, ANY);
        self.write("MOV.U64", to, &[reject]);
        self.push("MOV.U64", Dest::Regs(smallvec![to]), &[accept]).guard = Some(condition);
        Operand::Reg(to)
    }
}

/// The word for a constant: bools are -1 and 0, masks their low 32 lanes.
const fn word_bits(ty: Ty, bits: u64) -> u32 {
    match ty {
        Ty::Bool => (bits as u32).wrapping_neg(),
        _ => bits as u32,
    }
}

/// Returns true if a decimal number of few digits is exactly this float.
fn is_short(value: f32) -> bool {
    let scaled = value * 1024.0;
    scaled.is_finite() && scaled.trunc() == scaled && value.abs() < 65536.0 && value.to_bits() != 0x8000_0000
}

/// Scalars that 32-bit registers hold unchanged.
fn is_word(scalar: Scalar) -> bool {
    scalar.width == 32
}

/// A list of operands.
type Operands = SmallVec<[Operand; 4]>;

/// A block and the instructions after an instruction in it.
fn rest_of(kernel: &Kernel, block: BlockId, at: usize) -> &[InstId] {
    kernel.blocks[block].insts.get(at + 1..).unwrap_or(&[])
}
