//! Chooses instructions for a kernel's operations.
//!
//! A value is a register of its size: bools are predicates, 8- and 16-bit values are in 16 bits, a mask of lanes is one
//! word. 8-bit integers are re-extended by the kernel's rule after each operation that may break it.

mod apart;
mod arithmetic;
mod atomic;
mod convert;
pub mod flow;
mod lane;
mod logic;
mod memory;
mod narrow;
mod truth;

use super::interface::Interface;
use super::isa::Isa;
use crate::backend::negations;
use crate::backend::truth::ONE;
use crate::diagnostic::{Code, Diagnostic, cannot_write};
use crate::ir::{BuiltIn, Scalar};
use crate::kernel::tree::Tree;
use crate::kernel::uniform::Uniformity;
use crate::kernel::{BinOp, Def, InstId, Kernel, Op, Origin, Ty, Value};
use crate::lane::WARP;
use crate::limits;
use crate::source::Span;
use apart::Apart;
use flow::{Asks, Lanes, OpenConstruct};
use rustc_hash::FxHashMap;
use std::fmt;

/// A size of registers.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Class {
    Pred,
    Half,
    Word,
    Long,
}

impl Class {
    pub const ALL: [Class; 4] = [Class::Pred, Class::Half, Class::Word, Class::Long];

    /// The class of a value of a type.
    pub const fn of(ty: Ty) -> Class {
        match ty {
            Ty::Bool => Class::Pred,
            Ty::B16 => Class::Half,
            Ty::B32 | Ty::Mask => Class::Word,
            Ty::B64 => Class::Long,
        }
    }

    /// The type in declarations and moves.
    pub const fn ty(self) -> &'static str {
        match self {
            Class::Pred => "pred",
            Class::Half => "b16",
            Class::Word => "b32",
            Class::Long => "b64",
        }
    }

    /// The prefix of register names.
    pub const fn prefix(self) -> &'static str {
        match self {
            Class::Pred => "%p",
            Class::Half => "%h",
            Class::Word => "%r",
            Class::Long => "%d",
        }
    }
}

/// A register.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Reg {
    pub class: Class,
    pub number: u32,
}

impl fmt::Display for Reg {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}{}", self.class.prefix(), self.number)
    }
}

/// A line of the code.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Line {
    Inst(String, Origin),
    Label(String, Origin),
    /// The origin of the lines that follow.
    Source(Span),
}

impl Line {
    /// The origin of the line.
    pub const fn origin(&self) -> Origin {
        match self {
            Line::Inst(_, origin) | Line::Label(_, origin) => *origin,
            Line::Source(_) => Origin::Code,
        }
    }
}

/// The code of a kernel.
#[derive(Debug)]
pub struct Selected {
    pub lines: Vec<Line>,
    /// Registers of each class.
    pub counts: [u32; 4],
    /// True if the kernel accesses private memory.
    pub uses_private: bool,
}

/// Chooses instructions for a whole kernel.
///
/// # Errors
/// Returns one diagnostic for each operation that the target cannot express.
pub fn select(kernel: &Kernel, interface: &Interface, isa: Isa, debug: bool) -> Result<Selected, Vec<Diagnostic>> {
    let tree = Tree::new(kernel);
    let uniformity = Uniformity::new(kernel, WARP);
    let asks = Asks::of(kernel, &tree, &uniformity);
    let apart = Apart::of(kernel, &tree, &uniformity, isa);
    let mut selector = Selector {
        kernel,
        interface,
        isa,
        debug,
        uniformity: &uniformity,
        asks: &asks,
        apart: &apart,
        leaving: tree.leaving(kernel),
        tree: &tree,
        valids: lane::valids(kernel, &tree),
        lines: Vec::new(),
        counts: [0; 4],
        values: vec![None; kernel.values.len()],
        predicates: logic::Predicates::default(),
        hidden_one: None,
        buffers: vec![None; kernel.buffers.len()],
        frames: Vec::new(),
        lanes: Lanes::All,
        whole: None,
        goal: None,
        labels: 0,
        floats_unsigned: kernel.insts.iter().any(|(_, inst)| inst.op.floats_unsigned()),
        negated_factors: negations::of_fused(kernel, &tree, NARROWEST_NEGATION),
        uses_private: false,
        span: Span::NONE,
        origin: Origin::Code,
        line: None,
        errors: Vec::new(),
    };
    selector.body();
    let Selector { lines, counts, uses_private, errors, .. } = selector;
    if errors.is_empty() { Ok(Selected { lines, counts, uses_private }) } else { Err(errors) }
}

/// The narrowest floats with `neg` in every version, which the assembler turns into a modifier.
const NARROWEST_NEGATION: u8 = 32;

pub(super) struct Selector<'k> {
    kernel: &'k Kernel,
    interface: &'k Interface,
    isa: Isa,
    /// Emit the source line of the code.
    debug: bool,
    tree: &'k Tree,
    uniformity: &'k Uniformity,
    asks: &'k Asks,
    apart: &'k Apart,
    /// Constructs from inside which control may go beyond their end.
    leaving: Vec<bool>,
    /// The instruction that reads the predicate of a shuffle.
    valids: FxHashMap<InstId, InstId>,
    lines: Vec<Line>,
    counts: [u32; 4],
    /// The registers of each value of the kernel.
    values: Vec<Option<Reg>>,
    predicates: logic::Predicates,
    /// A register with the bits of 1.0 that the assembler cannot see through, if the kernel needs it.
    hidden_one: Option<Reg>,
    /// The addresses of the buffers.
    buffers: Vec<Option<Reg>>,
    /// The enclosing constructs, innermost last.
    frames: Vec<OpenConstruct>,
    /// The lanes that run the next instructions.
    lanes: Lanes,
    /// The lanes of the warp that belong to the workgroup; `None` if workgroups fill their warps.
    whole: Option<Reg>,
    /// The target of a lane that leaves several constructs: the number of its goal, or 0.
    goal: Option<Reg>,
    labels: u32,
    /// True if the kernel converts unsigned words to floats somewhere.
    floats_unsigned: bool,
    /// True for float negations that only fused multiply-adds use.
    negated_factors: Vec<bool>,
    uses_private: bool,
    span: Span,
    origin: Origin,
    /// The text of the last comment.
    line: Option<Span>,
    errors: Vec<Diagnostic>,
}

impl Selector<'_> {
    // Messages.

    fn refuse(&mut self, message: impl Into<String>) {
        Diagnostic::needed(Code::NOT_SUPPORTED, message, self.span).join(&mut self.errors);
    }

    /// Refuses an operation, and returns a register so that selection can continue and find more errors.
    fn refused(&mut self, what: &str, class: Class) -> Reg {
        self.refuse(cannot_write(what, "PTX"));
        self.reg(class)
    }

    // Writing.

    fn reg(&mut self, class: Class) -> Reg {
        let count = &mut self.counts[class as usize];
        *count += 1;
        Reg { class, number: *count - 1 }
    }

    fn push(&mut self, text: String) {
        limits::spend(1);
        limits::hold::<Line>(1);
        limits::write(text.len());
        self.lines.push(Line::Inst(text, self.origin));
    }

    /// An instruction with a result: its name and its operands, separated by commas.
    fn inst(&mut self, class: Class, name: impl fmt::Display, operands: impl fmt::Display) -> Reg {
        let to = self.reg(class);
        self.push(format!("{name} {to}, {operands};"));
        to
    }

    fn word(&mut self, name: impl fmt::Display, operands: impl fmt::Display) -> Reg {
        self.inst(Class::Word, name, operands)
    }

    fn copy(&mut self, to: Reg, from: impl fmt::Display) {
        self.push(format!("mov.{} {to}, {from};", to.class.ty()));
    }

    // Values.

    fn class(&self, value: Value) -> Class {
        Class::of(self.kernel.ty(value))
    }

    /// The bits of a known value; an undefined value has arbitrary bits.
    fn known(&self, value: Value) -> Option<u64> {
        match self.kernel.values[value].def {
            Def::Const(bits) => Some(bits),
            Def::Undef => Some(0),
            Def::Inst(..) | Def::Param(..) => None,
        }
    }

    /// Returns true if a value is constant or already computed.
    fn is_at_hand(&self, value: Value) -> bool {
        self.known(value).is_some() || self.values[value.index()].is_some()
    }

    /// A value in a register.
    fn arg(&mut self, value: Value) -> Reg {
        match (self.known(value), self.values[value.index()]) {
            (None, Some(reg)) => reg,
            (None, None) => self.reg(self.class(value)),
            (Some(bits), _) => {
                let class = self.class(value);
                if let Some(one) = self.hidden(class, bits) {
                    return one;
                }
                let text = bits_text(class, bits);
                self.inst(class, format_args!("mov.{}", class.ty()), text)
            }
        }
    }

    /// A value as an operand of an instruction on integers or bits, which accepts constants of all sizes; predicates
    /// are in registers.
    fn operand(&mut self, value: Value) -> String {
        match (self.known(value), self.class(value)) {
            (Some(bits), class @ (Class::Half | Class::Word | Class::Long)) if self.hidden(class, bits).is_none() => {
                bits_text(class, bits)
            }
            _ => self.arg(value).to_string(),
        }
    }

    /// The register with a constant that the assembler must not see.
    fn hidden(&self, class: Class, bits: u64) -> Option<Reg> {
        self.hidden_one.filter(|_| class == Class::Word && bits as u32 == ONE)
    }

    /// A value as an operand of an instruction on values of a type.
    fn typed(&mut self, scalar: Scalar, value: Value) -> String {
        match (self.known(value), scalar.is_float(), scalar.width) {
            (Some(bits), true, 32) => format!("0f{:08X}", bits as u32),
            (Some(bits), true, 64) => format!("0d{bits:016X}"),
            (_, true, 16) => self.arg(value).to_string(),
            _ => self.operand(value),
        }
    }

    fn give(&mut self, value: Value, reg: Reg) {
        self.values[value.index()] = Some(reg);
    }

    /// Gives the only result of an instruction.
    fn result(&mut self, inst: InstId, reg: Reg) {
        if let Some(value) = self.kernel.result(inst) {
            self.give(value, reg);
        }
    }

    /// Emits the origin of an instruction.
    fn begin(&mut self, inst: InstId) {
        let data = &self.kernel.insts[inst];
        (self.span, self.origin) = (data.span, data.origin);
        if self.debug && !data.span.is_none() && self.line != Some(data.span) {
            self.lines.push(Line::Source(data.span));
            self.line = Some(data.span);
        }
    }

    /// An operation other than control flow; `rest` are the instructions after it in its block.
    fn plain(&mut self, inst: InstId, rest: &[InstId]) {
        let kernel = self.kernel;
        let args = kernel.args(inst);
        let reg = match kernel.insts[inst].op {
            Op::Un(_, scalar) if self.negated_factors[inst.index()] => {
                let a = self.arg(args[0]);
                self.inst(arithmetic::class(scalar), format_args!("neg.{}", arithmetic::ty(scalar)), a)
            }
            Op::Un(op, scalar) => self.unary(op, scalar, args[0]),
            Op::Bin(op, scalar) => self.binary(op, scalar, [args[0], args[1]]),
            Op::Cmp(op, scalar) => self.compare(op, scalar, [args[0], args[1]]),
            Op::Tern(op, scalar) => self.ternary(op, scalar, [args[0], args[1], args[2]]),
            Op::BitInsert(scalar) => self.bit_insert(scalar, args),
            Op::Select => self.select(args[0], args[1], args[2]),
            Op::Convert(from, to) => self.convert(from, to, args[0]),
            Op::Join => {
                let [low, high] = [args[0], args[1]].map(|arg| self.arg(arg));
                self.join([low, high])
            }
            Op::Low => self.halves(args[0])[0],
            Op::High => self.halves(args[0])[1],
            Op::BuiltIn(built_in, component) => self.built_in(built_in, component),
            Op::Load(access) => return self.load(inst, access),
            Op::Store(access) => return self.store(inst, access),
            Op::Atomic { op, ty, access, scope, order } => return self.atomic(inst, op, ty, access, (scope, order)),
            Op::BufferBytes(buffer) => self.buffer_bytes(buffer),
            Op::Barrier { execution, memory, kinds, order } => {
                return self.barrier(inst, execution, (memory, kinds, order));
            }
            Op::Prim { primitive, ty } => return self.primitive(inst, primitive, ty, rest),
            Op::Fact(fact) => self.fact(fact),
            Op::MaskAlu(op) => self.mask_arithmetic(op, args),
            Op::MaskFromWords => self.arg(args[0]),
            Op::Lane { .. } | Op::CombineMoved { .. } | Op::Whole { .. } => {
                self.refused("a cross-lane operation of other hardware", Class::Word)
            }
            Op::Image { .. } | Op::Input { .. } | Op::Interpolate { .. } => self.refused("this input", Class::Word),
            Op::Output { .. } | Op::Kill | Op::Derivative(_) => self.refused("this operation", Class::Word),
            Op::If { .. } | Op::Loop { .. } | Op::Scope { .. } => return,
            Op::Yield | Op::Exit(_) | Op::Continue(_) | Op::Repeat | Op::Return | Op::Unreachable => return,
        };
        self.result(inst, reg);
    }

    /// A 64-bit value from a low and a high word.
    fn join(&mut self, [low, high]: [Reg; 2]) -> Reg {
        self.inst(Class::Long, "mov.b64", format_args!("{{{low}, {high}}}"))
    }

    /// The low and the high word of a value.
    fn halves(&mut self, long: Value) -> [Reg; 2] {
        let long = self.arg(long);
        self.split(long)
    }

    fn split(&mut self, long: Reg) -> [Reg; 2] {
        let [low, high] = [self.reg(Class::Word), self.reg(Class::Word)];
        self.push(format!("mov.b64 {{{low}, {high}}}, {long};"));
        [low, high]
    }

    fn select(&mut self, condition: Value, accept: Value, reject: Value) -> Reg {
        let (class, condition) = (self.class(accept), self.arg(condition));
        if class != Class::Pred {
            let [accept, reject] = [accept, reject].map(|value| self.operand(value));
            return self.inst(
                class,
                format_args!("selp.{}", class.ty()),
                format_args!("{accept}, {reject}, {condition}"),
            );
        }
        self.select_predicate(condition, accept, reject)
    }

    /// A select between predicates, which `selp` does not support. A known operand saves some of the four instructions.
    fn select_predicate(&mut self, condition: Reg, accept: Value, reject: Value) -> Reg {
        let [known_accept, known_reject] = [accept, reject].map(|value| self.known(value).map(|bits| bits != 0));
        let (yes, otherwise) = match (known_accept, known_reject) {
            (_, Some(false)) => (Some((BinOp::And, accept)), None),
            (Some(true), _) => (Some((BinOp::Or, reject)), None),
            (Some(false), _) => (None, Some((BinOp::And, reject))),
            (_, Some(true)) => (None, Some((BinOp::Or, accept))),
            (None, None) => (Some((BinOp::And, accept)), Some((BinOp::And, reject))),
        };
        let yes = yes.map(|(op, value)| self.logic_with(op, condition, value));
        let no = otherwise.map(|(op, value)| {
            let inverse = self.inverse(condition);
            self.logic_with(op, inverse, value)
        });
        match (yes, no) {
            (Some(yes), Some(no)) => self.logic(BinOp::Or, yes, no),
            (Some(made), None) | (None, Some(made)) => made,
            (None, None) => condition,
        }
    }

    fn logic_with(&mut self, op: BinOp, a: Reg, b: Value) -> Reg {
        let b = self.arg(b);
        self.logic(op, a, b)
    }

    /// A special register.
    fn special(&mut self, name: &str) -> Reg {
        self.word("mov.u32", name)
    }

    fn built_in(&mut self, built_in: BuiltIn, component: u8) -> Reg {
        let axis = ["x", "y", "z"][usize::from(component.min(2))];
        match built_in {
            BuiltIn::WorkgroupId => self.special(&format!("%ctaid.{axis}")),
            BuiltIn::NumWorkgroups => self.special(&format!("%nctaid.{axis}")),
            BuiltIn::LocalInvocationId => self.special(&format!("%tid.{axis}")),
            BuiltIn::LocalInvocationIndex => self.local_index(),
            BuiltIn::WarpIdNv => self.special("%warpid"),
            BuiltIn::SmIdNv => self.special("%smid"),
            BuiltIn::WarpsPerSmNv => self.special("%nwarpid"),
            BuiltIn::SmCountNv => self.special("%nsmid"),
            _ => self.refused("this built-in variable", Class::Word),
        }
    }

    /// The invocation's number in its workgroup.
    fn local_index(&mut self) -> Reg {
        let [x, y, z] = self.kernel.workgroup_size;
        let mut index = self.special("%tid.x");
        if y > 1 {
            let row = self.special("%tid.y");
            index = self.word("mad.lo.s32", format_args!("{row}, {x}, {index}"));
        }
        if z > 1 {
            let plane = self.special("%tid.z");
            index = self.word("mad.lo.s32", format_args!("{plane}, {}, {index}", x * y));
        }
        index
    }
}

/// A constant in PTX's notation for bits.
fn bits_text(class: Class, bits: u64) -> String {
    match class {
        Class::Pred => (bits & 1).to_string(),
        Class::Half => (bits as i16).to_string(),
        Class::Word => (bits as i32).to_string(),
        Class::Long => (bits as i64).to_string(),
    }
}
