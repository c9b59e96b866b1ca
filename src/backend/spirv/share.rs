//! Writes equal instructions once: a pure instruction is not written again if an equal one is on every path to it.
//! Parts of a constructed composite are replaced by its operands.
//!
//! Only instructions that depend on nothing but their operands are shared: not on other invocations or on memory that
//! may change, and without effects. Read-only memory changes where invocations synchronize, so loads from it belong to
//! an epoch: the time between two such points.

use super::function::Body;
use rspirv::spirv::{GlslStd450Op, Op, Word};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

/// Maximum number of steps back through the construction of a composite.
const STEPS: usize = 64;

/// Opcode, decorations, epoch, result type, operands.
type Key = SmallVec<[Word; 8]>;

/// The instructions that can be reused at the current position.
#[derive(Default)]
pub(super) struct Shared {
    known: FxHashMap<Key, Word>,
    /// The keys of `known`, newest last.
    order: Vec<Key>,
    /// The operands of instructions that construct composites, or compute with a constant, by their results.
    made: FxHashMap<Word, (Op, SmallVec<[Word; 8]>)>,
    /// The number of instructions so far that may make other invocations' writes visible.
    pub epoch: Word,
}

impl Shared {
    pub fn clear(&mut self) {
        self.known.clear();
        self.order.clear();
        self.made.clear();
        self.epoch = 0;
    }

    /// The position that [`Shared::leave`] returns to.
    pub fn mark(&self) -> usize {
        self.order.len()
    }

    /// Forgets instructions since a mark, because they are not on all later paths.
    pub fn leave(&mut self, mark: usize) {
        for key in self.order.drain(mark..) {
            self.known.remove(&key);
        }
    }

    pub fn find(&self, key: &Key) -> Option<Word> {
        self.known.get(key).copied()
    }

    pub fn add(&mut self, key: Key, word: Word) {
        self.order.push(key.clone());
        self.known.insert(key, word);
    }

    /// Records how a value was made: the operands of `OpCompositeInsert`, of an operator on a value and a constant, or
    /// one operand per element of a composite.
    pub fn note(&mut self, op: Op, word: Word, operands: &[Word]) {
        self.made.insert(word, (op, SmallVec::from_slice(operands)));
    }

    /// Opcode and operands of a recorded operator.
    pub fn operands(&self, word: Word) -> Option<(Op, [Word; 2])> {
        let (op, operands) = self.made.get(&word)?;
        let operands = operands.as_slice().try_into().ok()?;
        (!is_composite(*op)).then_some((*op, operands))
    }

    /// The value of a part of a composite, as far as its construction is known; the rest of the path remains.
    fn source(&self, composite: &mut Word, path: &mut SmallVec<[Word; 4]>) {
        for _ in 0..STEPS {
            let Some((op, operands)) = self.made.get(composite) else { return };
            match (op, operands.as_slice()) {
                (Op::CompositeInsert, [part, _, at @ ..]) if path.starts_with(at) => {
                    *composite = *part;
                    path.drain(..at.len());
                }
                (Op::CompositeInsert, [_, base, at @ ..]) if !at.starts_with(path) => *composite = *base,
                (Op::CompositeConstruct, elements) => {
                    let Some(element) = path.first().and_then(|index| elements.get(*index as usize)) else { return };
                    *composite = *element;
                    path.remove(0);
                }
                _ => return,
            }
            if path.is_empty() {
                return;
            }
        }
    }
}

impl Body<'_, '_> {
    /// The key of an instruction. The epoch is 0 if it only depends on its operands.
    pub fn key(&self, epoch: Word, op: Op, ty: Word, operands: &[Word]) -> Key {
        let mut key: Key = SmallVec::with_capacity(4 + operands.len());
        key.extend([op as Word, self.decorations, epoch, ty]);
        key.extend_from_slice(operands);
        key
    }

    /// Part of a composite; the composite itself for an empty path.
    pub fn extract(&mut self, ty: Word, composite: Word, path: &[Word]) -> Word {
        let (mut composite, mut path) = (composite, SmallVec::from_slice(path));
        if self.shares {
            self.shared.source(&mut composite, &mut path);
        }
        if path.is_empty() {
            return composite;
        }
        let mut operands: SmallVec<[Word; 8]> = SmallVec::new();
        operands.push(composite);
        operands.extend(path);
        self.emit(Op::CompositeExtract, ty, &operands)
    }
}

/// Returns true if a function of GLSL.std.450 depends on its operands alone.
pub(super) fn is_pure_function(number: Word) -> bool {
    const OTHERS: [GlslStd450Op; 5] = [
        GlslStd450Op::Modf,
        GlslStd450Op::Frexp,
        GlslStd450Op::InterpolateAtCentroid,
        GlslStd450Op::InterpolateAtSample,
        GlslStd450Op::InterpolateAtOffset,
    ];
    OTHERS.iter().all(|other| *other as Word != number)
}

/// Returns true if the result depends only on the operands, and there are no effects.
pub(super) const fn is_pure(op: Op) -> bool {
    is_composite(op) || is_conversion(op) || is_arithmetic(op) || is_comparison(op) || is_of_bits(op)
}

const fn is_composite(op: Op) -> bool {
    matches!(
        op,
        Op::AccessChain
            | Op::CompositeConstruct
            | Op::CompositeExtract
            | Op::CompositeInsert
            | Op::CopyLogical
            | Op::CopyObject
            | Op::Select
            | Op::Transpose
            | Op::VectorExtractDynamic
            | Op::VectorInsertDynamic
            | Op::VectorShuffle
    )
}

const fn is_conversion(op: Op) -> bool {
    matches!(
        op,
        Op::Bitcast
            | Op::ConvertFToS
            | Op::ConvertFToU
            | Op::ConvertSToF
            | Op::ConvertUToF
            | Op::FConvert
            | Op::QuantizeToF16
            | Op::SConvert
            | Op::UConvert
    )
}

const fn is_arithmetic(op: Op) -> bool {
    matches!(
        op,
        Op::Dot
            | Op::FAdd
            | Op::FDiv
            | Op::FMod
            | Op::FMul
            | Op::FNegate
            | Op::FRem
            | Op::FSub
            | Op::IAdd
            | Op::IAddCarry
            | Op::IMul
            | Op::ISub
            | Op::ISubBorrow
            | Op::MatrixTimesMatrix
            | Op::MatrixTimesScalar
            | Op::MatrixTimesVector
            | Op::OuterProduct
            | Op::SDiv
            | Op::SMod
            | Op::SMulExtended
            | Op::SNegate
            | Op::SRem
            | Op::UDiv
            | Op::UMod
            | Op::UMulExtended
            | Op::VectorTimesMatrix
            | Op::VectorTimesScalar
    )
}

const fn is_comparison(op: Op) -> bool {
    matches!(
        op,
        Op::All
            | Op::Any
            | Op::FOrdEqual
            | Op::FOrdGreaterThan
            | Op::FOrdGreaterThanEqual
            | Op::FOrdLessThan
            | Op::FOrdLessThanEqual
            | Op::FUnordNotEqual
            | Op::IEqual
            | Op::INotEqual
            | Op::IsInf
            | Op::IsNan
            | Op::LogicalAnd
            | Op::LogicalEqual
            | Op::LogicalNot
            | Op::LogicalNotEqual
            | Op::LogicalOr
            | Op::SGreaterThan
            | Op::SGreaterThanEqual
            | Op::SLessThan
            | Op::SLessThanEqual
            | Op::UGreaterThan
            | Op::UGreaterThanEqual
            | Op::ULessThan
            | Op::ULessThanEqual
    )
}

const fn is_of_bits(op: Op) -> bool {
    matches!(
        op,
        Op::BitCount
            | Op::BitFieldInsert
            | Op::BitFieldSExtract
            | Op::BitFieldUExtract
            | Op::BitReverse
            | Op::BitwiseAnd
            | Op::BitwiseOr
            | Op::BitwiseXor
            | Op::Not
            | Op::ShiftLeftLogical
            | Op::ShiftRightArithmetic
            | Op::ShiftRightLogical
    )
}
