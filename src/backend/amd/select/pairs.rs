//! Pairs of operations on 16-bit floats that become one packed instruction.
//!
//! A pair starts where two values are stored in one word, and continues to its operands as long as that saves
//! instructions: two operands in the halves of one word are free, others take an instruction to combine. The packed
//! instruction replaces the later operation, so the earlier operation's result must not be used before that.

use super::Subject;
use super::halves::{Halves, is_float16};
use super::memory::packs;
use crate::backend::amd::mnemonic::Operation;
use crate::kernel::{BinOp, InstId, Kernel, Op, Origin, TernOp, Value};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// Maximum distance of the two operations, in instructions of the kernel.
const REACH: u32 = 64;
/// Maximum number of operations in the chains of a pair.
const DEPTH: u32 = 16;

/// Two operations that become one instruction.
#[derive(Clone, Copy, Debug)]
pub struct Pair {
    /// The operations whose results are the lower and the upper half.
    pub insts: [InstId; 2],
    /// True if the first two operands of the second one are swapped.
    pub swaps: bool,
    /// The later one, which the instruction replaces.
    pub at: InstId,
}

/// The pairs of a kernel.
#[derive(Debug, Default)]
pub struct Pairs {
    pairs: Vec<Pair>,
    /// The pair of each instruction that is part of one.
    of: FxHashMap<InstId, usize>,
}

impl Pairs {
    /// The pair that an instruction is part of.
    pub fn of(&self, inst: InstId) -> Option<Pair> {
        self.of.get(&inst).map(|n| self.pairs[*n])
    }

    fn add(&mut self, pair: Pair) {
        pair.insts.iter().for_each(|inst| {
            self.of.insert(*inst, self.pairs.len());
        });
        self.pairs.push(pair);
    }

    /// Takes the last pairs out again.
    fn cut(&mut self, count: usize) {
        for pair in self.pairs.drain(count..) {
            pair.insts.iter().for_each(|inst| {
                self.of.remove(inst);
            });
        }
    }
}

/// Finds the pairs of a kernel.
pub fn find(subject: Subject<'_>, halves: &Halves, negated: &[bool]) -> Pairs {
    if Operation::PackedAddF16.spelling(subject.arch.generation).is_none() {
        return Pairs::default();
    }
    let Subject { kernel, tree, .. } = subject;
    let insts = tree.insts(kernel);
    if !insts.iter().any(|inst| is_pairable(kernel.insts[*inst].op)) {
        return Pairs::default();
    }
    let mut search = Search::new(subject, halves, negated, &insts);
    for inst in insts.iter().rev() {
        if matches!(kernel.insts[*inst].op, Op::Store(access) if packs(access)) {
            kernel.args(*inst)[1..].chunks_exact(2).for_each(|pair| search.begin([pair[0], pair[1]]));
        }
    }
    search.pairs
}

/// Returns true for an operation that one instruction performs on both halves.
fn is_pairable(op: Op) -> bool {
    match op {
        Op::Tern(TernOp::Fma, scalar) => is_float16(scalar),
        Op::Bin(op, scalar) => is_float16(scalar) && op != BinOp::Div && op != BinOp::Rem,
        _ => false,
    }
}

/// Returns true if the first two operands may change places.
fn commutes(op: Op) -> bool {
    !matches!(op, Op::Bin(BinOp::Sub, _))
}

/// The place of an instruction.
#[derive(Clone, Copy, Debug)]
struct Place {
    block: u32,
    /// Its number in the block.
    number: u32,
    /// Constructs of the block before it.
    constructs: u32,
}

/// A word with two 16-bit values.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Word {
    /// The word with this index in a load's result.
    Loaded(InstId, usize),
    Value(Value),
}

struct Search<'s> {
    kernel: &'s Kernel,
    halves: &'s Halves,
    negated: &'s [bool],
    places: FxHashMap<InstId, Place>,
    /// The instructions that use each result of an operation that may be paired.
    users: FxHashMap<Value, SmallVec<[InstId; 2]>>,
    pairs: Pairs,
}

impl<'s> Search<'s> {
    fn new(subject: Subject<'s>, halves: &'s Halves, negated: &'s [bool], insts: &[InstId]) -> Search<'s> {
        let Subject { kernel, tree, .. } = subject;
        let mut places = FxHashMap::default();
        for block in &tree.blocks {
            let mut constructs = 0;
            for (number, inst) in kernel.blocks[*block].insts.iter().enumerate() {
                let place = Place { block: block.index() as u32, number: number as u32, constructs };
                places.insert(*inst, place);
                constructs += u32::from(kernel.insts[*inst].op.is_structured());
            }
        }
        let mut users: FxHashMap<Value, SmallVec<[InstId; 2]>> = FxHashMap::default();
        for inst in insts {
            for arg in kernel.args(*inst) {
                if kernel.definition(*arg).is_some_and(|made| is_pairable(kernel.insts[made].op)) {
                    users.entry(*arg).or_default().push(*inst);
                }
            }
        }
        Search { kernel, halves, negated, places, users, pairs: Pairs::default() }
    }

    /// Starts with two values stored in one word.
    fn begin(&mut self, values: [Value; 2]) {
        let before = self.pairs.pairs.len();
        // The word need not be combined.
        if self.pair(values, DEPTH).is_some_and(|saved| saved < 0) {
            self.pairs.cut(before);
        }
    }

    /// Pairs the operations that define two values. Returns the number of instructions that this saves; `None` if it is
    /// impossible.
    fn pair(&mut self, values: [Value; 2], depth: u32) -> Option<i32> {
        let [Some(low), Some(high)] = values.map(|value| self.kernel.definition(value)) else { return None };
        if let Some(known) = self.pairs.of(low) {
            return known.insts.contains(&high).then_some(0).filter(|_| low != high);
        }
        let at = self.later(values, [low, high]).filter(|_| depth > 0 && self.pairs.of(high).is_none())?;
        let [a, b] = [low, high].map(|inst| SmallVec::<[Value; 3]>::from_slice(self.kernel.args(inst)));
        let op = self.kernel.insts[low].op;
        let alike = |this: &Self, others: [usize; 2]| (0..2).filter(|n| this.are_alike([a[*n], b[others[*n]]])).count();
        let swaps = commutes(op) && alike(self, [1, 0]) > alike(self, [0, 1]);
        let mut operands: SmallVec<[[Value; 2]; 3]> = a.iter().zip(&b).map(|(a, b)| [*a, *b]).collect();
        if swaps {
            (operands[0][1], operands[1][1]) = (b[1], b[0]);
        }
        if operands.iter().any(|[a, b]| self.is_negated(*a) != self.is_negated(*b)) {
            return None;
        }
        self.pairs.add(Pair { insts: [low, high], swaps, at });
        Some(1 + operands.into_iter().map(|operands| self.operands(operands, depth - 1)).sum::<i32>())
    }

    /// Instructions saved by taking two operands as the halves of a word; negative if that costs one.
    fn operands(&mut self, operands: [Value; 2], depth: u32) -> i32 {
        let operands = operands.map(|value| self.positive(value));
        let constants = operands.map(|value| self.kernel.as_constant(value).is_some());
        if operands[0] == operands[1] || constants == [true; 2] || self.share_word(operands) {
            return 0;
        }
        let before = self.pairs.pairs.len();
        match self.pair(operands, depth) {
            Some(saved) if saved >= 0 => saved,
            _ => {
                self.pairs.cut(before);
                -1
            }
        }
    }

    /// Returns true if two operands are likely to be the halves of one word.
    fn are_alike(&self, operands: [Value; 2]) -> bool {
        let operands = operands.map(|value| self.positive(value));
        let ops = operands.map(|value| self.kernel.definition(value).map(|inst| self.kernel.insts[inst].op));
        operands[0] == operands[1] || self.share_word(operands) || ops[0] == ops[1] && ops[0].is_some_and(is_pairable)
    }

    fn is_negated(&self, value: Value) -> bool {
        self.kernel.definition(value).is_some_and(|inst| self.negated[inst.index()])
    }

    /// The operand of a negation, if the negation is a modifier.
    fn positive(&self, value: Value) -> Value {
        match self.kernel.definition(value) {
            Some(inst) if self.negated[inst.index()] => self.kernel.args(inst)[0],
            _ => value,
        }
    }

    fn share_word(&self, values: [Value; 2]) -> bool {
        let [low, high] = values.map(|value| self.word(value));
        low.is_some() && low == high
    }

    /// The word that contains a value together with another one.
    fn word(&self, value: Value) -> Option<Word> {
        let inst = self.kernel.definition(value).filter(|_| self.halves.is_open(value))?;
        match self.kernel.insts[inst].op {
            Op::Load(access) if packs(access) => {
                let number = self.kernel.results(inst).position(|result| result == value)?;
                (number < usize::from(access.components) / 2 * 2).then_some(Word::Loaded(inst, number / 2))
            }
            Op::Convert(from, to) if from.width == 32 && from.is_int() && to.is_int() => {
                let arg = self.kernel.args(inst)[0];
                Some(Word::Value(super::halves::upper_of(self.kernel, self.halves, arg).unwrap_or(arg)))
            }
            _ => None,
        }
    }

    /// The later one of two operations that can be paired.
    fn later(&self, values: [Value; 2], insts: [InstId; 2]) -> Option<InstId> {
        let [low, high] = insts.map(|inst| self.kernel.insts[inst].op);
        let is_own = |inst: InstId| {
            let data = &self.kernel.insts[inst];
            data.origin == Origin::Code && self.kernel.result(inst).is_some_and(|result| self.halves.is_open(result))
        };
        if low != high || !is_pairable(low) || insts[0] == insts[1] || !insts.into_iter().all(is_own) {
            return None;
        }
        let [a, b] = insts.map(|inst| self.places.get(&inst).copied());
        let (a, b) = (a?, b?);
        let is_near = a.block == b.block && a.constructs == b.constructs && a.number.abs_diff(b.number) <= REACH;
        let (first, at, end) = if a.number < b.number { (values[0], insts[1], b) } else { (values[1], insts[0], a) };
        let waits = || self.users.get(&first).into_iter().flatten().all(|user| self.runs_after(*user, end));
        (is_near && waits()).then_some(at)
    }

    /// Returns true if an instruction, or its pair, comes after a position. In other blocks it always does, because
    /// there is no construct between the operations of a pair.
    fn runs_after(&self, user: InstId, end: Place) -> bool {
        let user = self.pairs.of(user).map_or(user, |pair| pair.at);
        self.places.get(&user).is_some_and(|place| place.block != end.block || place.number > end.number)
    }
}
