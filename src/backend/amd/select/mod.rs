//! Chooses instructions for a kernel's operations.
//!
//! A value is a list of 32-bit words, each in a vector register, in a scalar one, or constant. Uniform values stay
//! scalar as long as the scalar unit can compute them. Bools are masks: bit `i` of a bool is lane `i`'s value, and bits
//! of lanes that were inactive at its definition are arbitrary. 16-bit values are in the low half of a word, with a
//! zero upper half, or in either half of a word if their users only read that half (`halves`); 8-bit integers are
//! extended to 16, as in the kernel form.

mod arithmetic;
mod atomic;
mod convert;
mod cube;
mod divide;
mod emit;
mod float;
mod flow;
mod half;
mod halves;
mod image;
mod lane;
mod mask;
mod memory;
mod narrow;
mod pairs;
mod sample;
mod start;
mod waterfall;
mod wide;

use super::arch::Arch;
use super::interface::{Interface, Needs};
use super::kept::Kept;
use super::machine::{Block, File, Function, Label, Operand, Special};
use super::quiet::QuietLoads;
use super::reconvergence::Reconvergence;
use crate::backend::negations;
use crate::diagnostic::{Code, Diagnostic, cannot_write};
use crate::kernel::lane_rows::LaneRows;
use crate::kernel::pass::range::Ranges;
use crate::kernel::tree::Tree;
use crate::kernel::uniform::Uniformity;
use crate::kernel::{Def, InstId, Kernel, Op, Origin, Ty, Value};
use crate::lane::plan::AluOp;
use crate::source::Span;
use emit::{FALSE, TRUE};
use halves::{Half, Halves};
use pairs::Pairs;
use smallvec::SmallVec;

/// The words of a value, the lowest first.
pub type Words = SmallVec<[Operand; 2]>;

/// A kernel as machine code, and its requirements.
#[derive(Debug)]
pub struct Selected {
    pub function: Function,
    pub needs: Needs,
}

/// The kernel, profile and facts that a selection works on.
#[derive(Clone, Copy)]
pub struct Subject<'k> {
    pub kernel: &'k Kernel,
    pub tree: &'k Tree,
    pub uniformity: &'k Uniformity,
    pub reconvergence: &'k Reconvergence,
    pub rows: &'k LaneRows,
    pub quiet: &'k QuietLoads,
    pub kept: &'k Kept,
    pub interface: &'k Interface,
    pub arch: Arch,
}

/// Selects instructions for a whole kernel. With `spills` it sets up what spilling needs.
///
/// # Errors
/// Returns one diagnostic for each operation that the target cannot express.
pub fn select(subject: Subject<'_>, spills: bool) -> Result<Selected, Vec<Diagnostic>> {
    let Subject { kernel, arch, .. } = subject;
    let negated_factors = negations::of_fused(kernel, subject.tree, 16);
    let halves = Halves::of(subject, &negated_factors);
    let mut selector = Selector {
        kernel,
        subject,
        arch,
        function: Function::default(),
        block: Block { label: Label(0), insts: Vec::new() },
        labels: 1,
        values: vec![None; kernel.values.len()],
        late: vec![None; kernel.values.len()],
        uses: uses(subject),
        scalar_chains: scalar_chains(subject),
        pairs: pairs::find(subject, &halves, &negated_factors),
        halves,
        negated_factors,
        ranges: Ranges::new(kernel),
        start: start::Start::default(),
        open: Vec::new(),
        needs: Needs::default(),
        span: Span::NONE,
        is_lane: false,
        is_exact: true,
        result_is_open: false,
        left_open: false,
        origin: Origin::Code,
        swapped: None,
        flat: Vec::new(),
        divided: divide::Divided::default(),
        literals: Vec::new(),
        descriptors: Vec::new(),
        image_operands: sample::ImageOperands::default(),
        clean_from: 0,
        errors: Vec::new(),
    };
    selector.begin_kernel(spills);
    selector.body();
    let Selector { mut function, block, needs, errors, .. } = selector;
    function.blocks.push(block);
    if errors.is_empty() { Ok(Selected { function, needs }) } else { Err(errors) }
}

/// The number of uses of each value, including uses of a loop result that it holds.
fn uses(subject: Subject<'_>) -> Vec<u32> {
    let mut uses = vec![0; subject.kernel.values.len()];
    for inst in subject.tree.insts(subject.kernel) {
        subject.kernel.args(inst).iter().for_each(|arg| uses[arg.index()] += 1);
    }
    subject.kept.holders().for_each(|param| uses[param.index()] += 1);
    uses
}

/// For each value, the number of consecutive operations on it that the scalar unit can do: integer arithmetic with a
/// uniform result.
fn scalar_chains(subject: Subject<'_>) -> Vec<u32> {
    let kernel = subject.kernel;
    let mut chains = vec![0; kernel.values.len()];
    for inst in subject.tree.insts(kernel).into_iter().rev() {
        let (Op::Un(_, scalar) | Op::Bin(_, scalar)) = kernel.insts[inst].op else { continue };
        let Some(result) = kernel.result(inst) else { continue };
        if scalar.is_int() && subject.uniformity.is_uniform(result) {
            let chain = 1 + chains[result.index()];
            kernel.args(inst).iter().for_each(|arg| chains[arg.index()] = chain.max(chains[arg.index()]));
        }
    }
    chains
}

struct Selector<'k> {
    kernel: &'k Kernel,
    subject: Subject<'k>,
    arch: Arch,
    function: Function,
    /// The block that is being written.
    block: Block,
    labels: u32,
    /// The words of each value of the kernel.
    values: Vec<Option<Words>>,
    /// Scalar comparisons with one use, which are executed there.
    late: Vec<Option<arithmetic::ScalarTest>>,
    uses: Vec<u32>,
    scalar_chains: Vec<u32>,
    /// True for negations that are modifiers of fused multiplications and additions.
    negated_factors: Vec<bool>,
    halves: Halves,
    pairs: Pairs,
    /// The ranges of the values so far.
    ranges: Ranges,
    start: start::Start,
    /// The enclosing constructs.
    open: Vec<flow::Open>,
    needs: Needs,
    /// Span of the instruction being selected.
    span: Span,
    is_lane: bool,
    /// True if its result is `precise`.
    is_exact: bool,
    /// True if nothing reads the upper half of the result's word.
    result_is_open: bool,
    /// True if an instruction has left bits there.
    left_open: bool,
    origin: Origin,
    /// The other register of the last swap.
    swapped: Option<lane::Swapped>,
    /// Addresses that the block has computed.
    flat: Vec<memory::FlatAddress>,
    /// Parts of divisions that the block has computed.
    divided: divide::Divided,
    /// Recent constants that the block has in scalar registers.
    literals: Vec<(u32, Operand)>,
    /// Descriptors that the block has loaded, with their places among the arguments.
    descriptors: Vec<(image::Place, Operand)>,
    image_operands: sample::ImageOperands,
    /// The last change of EXEC in the block.
    clean_from: usize,
    errors: Vec<Diagnostic>,
}

impl Selector<'_> {
    // Messages.

    fn refuse(&mut self, message: impl Into<String>) {
        Diagnostic::needed(Code::NOT_SUPPORTED, message, self.span).join(&mut self.errors);
    }

    /// Refuses an operation, and returns words so that selection can continue and find more errors.
    fn refused(&mut self, what: &str) -> Words {
        self.refuse(cannot_write(what, "AMD assembly"));
        [FALSE, FALSE].into_iter().collect()
    }

    // Values.

    /// Words of a type's values.
    fn width(&self, ty: Ty) -> u8 {
        match ty {
            Ty::B16 | Ty::B32 => 1,
            Ty::B64 => 2,
            Ty::Bool | Ty::Mask => self.arch.mask_width(),
        }
    }

    /// The words of a value.
    fn words(&mut self, value: Value) -> Words {
        let data = self.kernel.values[value];
        match data.def {
            Def::Const(bits) => constant_words(data.ty, bits, self.width(data.ty)),
            Def::Undef => constant_words(data.ty, 0, self.width(data.ty)),
            Def::Inst(inst, _) if self.halves.is_absorbed(inst) => self.absorbed_words(inst),
            Def::Inst(..) if self.halves.held(value).is_some() => {
                let half = self.half(value);
                [self.cleaned(half)].into_iter().collect()
            }
            Def::Inst(..) | Def::Param(..) => {
                if let Some(test) = self.late[value.index()].take() {
                    let mask = self.tested_mask(test);
                    return self.words_of(mask, self.arch.mask_width());
                }
                let missing = constant_words(data.ty, 0, self.width(data.ty));
                let words = self.values[value.index()].clone().unwrap_or(missing);
                match (words.first(), self.start.active) {
                    // All lanes run; the previous EXEC is saved elsewhere.
                    (Some(Operand::Special(Special::Exec | Special::ExecLow)), Some(saved)) => {
                        self.words_of(saved, self.arch.mask_width())
                    }
                    _ => words,
                }
            }
        }
    }

    /// A single-word value.
    fn word(&mut self, value: Value) -> Operand {
        self.words(value).first().copied().unwrap_or(FALSE)
    }

    /// A bool or a uniform mask as one operand.
    fn mask(&mut self, value: Value) -> Operand {
        let words = self.words(value);
        self.mask_of_words(&words)
    }

    fn mask_of_words(&mut self, words: &[Operand]) -> Operand {
        match words {
            [one] => *one,
            [Operand::Constant(a), Operand::Constant(b)] if a == b && is_sign(*a) => words[0],
            [Operand::Special(Special::ExecLow), Operand::Special(Special::ExecHigh)] => emit::EXEC,
            _ => self.whole(words, File::Scalar),
        }
    }

    /// A value of 64 bits in a pair of vector registers.
    fn vector_of(&mut self, value: Value) -> Operand {
        let words = self.words(value);
        self.whole(&words, File::Vector)
    }

    fn is_uniform(&self, value: Value) -> bool {
        self.subject.uniformity.is_uniform(value)
    }

    fn give(&mut self, value: Value, words: Words) {
        self.values[value.index()] = Some(words);
    }

    fn give_one(&mut self, value: Value, operand: Operand) {
        let words = self.words_of(operand, self.width(self.kernel.ty(value)));
        self.give(value, words);
    }

    /// Gives the only result of an instruction.
    fn result(&mut self, inst: InstId, words: Words) {
        if let Some(value) = self.kernel.result(inst) {
            self.give(value, words);
        }
    }

    // Instructions of the kernel.

    /// An operation that is not control flow, which is written elsewhere.
    fn plain(&mut self, inst: InstId) {
        let kernel = self.kernel;
        let args = kernel.args(inst);
        if let Some(value) = kernel.result(inst) {
            self.ranges.learn(kernel, &kernel.insts[inst].op, args, value);
        }
        if self.halves.is_absorbed(inst) || self.negates_absorbed(inst) {
            return;
        }
        if let Some(pair) = self.pairs.of(inst) {
            if pair.at == inst {
                self.pair(pair);
            }
            return;
        }
        (self.left_open, self.result_is_open) =
            (false, kernel.result(inst).is_some_and(|result| self.halves.is_open(result)));
        let words = match kernel.insts[inst].op {
            Op::Un(_, scalar) if self.negated_factors[inst.index()] && halves::is_float16(scalar) => {
                return self.pass_half(inst);
            }
            Op::Un(..) if self.negated_factors[inst.index()] => self.words(args[0]),
            op if self.is_mixed(op, args) => [self.mixed(op, args)].into_iter().collect(),
            Op::Convert(..) if self.takes_half_of_word(inst) => return,
            Op::Un(op, scalar) => self.unary(op, scalar, args[0]),
            Op::Bin(op, scalar) => self.binary(op, scalar, [args[0], args[1]]),
            Op::Cmp(op, scalar) => return self.comparison(inst, op, scalar, [args[0], args[1]]),
            Op::Tern(op, scalar) => self.ternary(op, scalar, [args[0], args[1], args[2]]),
            Op::BitInsert(scalar) => self.bit_insert(scalar, args),
            Op::Select => self.select(args[0], args[1], args[2]),
            Op::Convert(from, to) => self.convert(from, to, args[0]),
            Op::Join => [self.word(args[0]), self.word(args[1])].into_iter().collect(),
            Op::Low => self.words(args[0])[..1].into(),
            Op::High => self.words(args[0])[1..].into(),
            Op::BuiltIn(built_in, component) => self.built_in(built_in, component),
            Op::Load(access) => return self.load(inst, access),
            Op::Store(access) => return self.store(inst, access),
            Op::Atomic { op, ty, access, order, .. } => return self.atomic(inst, op, ty, access, order),
            Op::BufferBytes(buffer) => self.buffer_bytes(buffer),
            Op::Barrier { execution, memory, kinds, order } => return self.barrier(execution, memory, kinds, order),
            Op::Prim { primitive, ty } => return self.primitive(inst, primitive, ty),
            Op::CombineMoved { op, ty, primitive } => self.combine_moved(op, ty, primitive, args),
            Op::Fact(fact) => self.fact(fact),
            Op::MaskAlu(AluOp::BallotIsEmpty) => return self.is_empty(inst, args[0], true),
            Op::MaskAlu(AluOp::BallotIsSome) => return self.is_empty(inst, args[0], false),
            Op::MaskAlu(op) => self.mask_arithmetic(op, args),
            Op::MaskFromWords => self.mask_from_words(args),
            Op::Lane { .. } => self.refused("a cross-lane operation that was not lowered"),
            Op::Image { op, image, parts } => return self.image(inst, op, image, parts),
            Op::Input { .. } | Op::Interpolate { .. } => self.refused("this input"),
            Op::Output { .. } | Op::Kill | Op::Derivative(_) => self.refused("this operation"),
            Op::If { .. } | Op::Loop { .. } | Op::Scope { .. } | Op::Whole { .. } => return,
            Op::Yield | Op::Exit(_) | Op::Continue(_) | Op::Repeat | Op::Return | Op::Unreachable => return,
        };
        let words = self.uniform_words(inst, words);
        match (kernel.result(inst), &words[..]) {
            (Some(result), [word]) if self.left_open => self.halves.hold(result, Half::of(*word, false)),
            _ => self.result(inst, words),
        }
    }

    /// The words of a result: in scalar registers if the result is uniform, its operands are not, and more arithmetic
    /// follows than a single vector instruction does.
    fn uniform_words(&mut self, inst: InstId, words: Words) -> Words {
        let kernel = self.kernel;
        let Some(value) = kernel.result(inst) else { return words };
        let agrees = match kernel.insts[inst].op {
            Op::Bin(_, scalar) => scalar.is_int() && !kernel.args(inst).iter().all(|arg| self.is_uniform(*arg)),
            Op::BuiltIn(..) => true,
            _ => false,
        };
        match agrees && self.is_uniform(value) && self.scalar_chains[value.index()] > 2 {
            true => words.into_iter().map(|word| self.scalar_operand(word)).collect(),
            false => words,
        }
    }
}

/// The words of a constant. Bools are all ones or zero.
fn constant_words(ty: Ty, bits: u64, width: u8) -> Words {
    match ty {
        Ty::Bool => (0..width).map(|_| if bits & 1 != 0 { TRUE } else { FALSE }).collect(),
        _ => (0..width).map(|n| Operand::Constant((bits >> (32 * n)) as u32)).collect(),
    }
}

/// Returns true if a word is all ones or zero, so that 64 bits of it are a single constant.
const fn is_sign(bits: u32) -> bool {
    bits == 0 || bits == u32::MAX
}
