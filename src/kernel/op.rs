//! The operations of a kernel. All work on scalars; the scalar type in an operation selects the arithmetic.
//!
//! Operands are in brackets, in order. Types: the operands and the result of arithmetic have the scalar's type.

use super::stage::Site;
use super::{BlockId, InstId, Ty};
use crate::ir::{
    AtomicOp, BuiltIn, ImageOp, ImageParts, InterpolateAt, MathFn, MemoryKinds, Order, Scalar, ScalarKind, Scope,
};
use crate::lane::{AluOp, LaneFact, LaneOp, Primitive, ReduceOp};
use serde::Deserialize;

/// `[a]`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Deserialize)]
pub enum UnOp {
    /// Integers wrap.
    Neg,
    /// Bitwise complement of integers, logical of bools.
    Not,
    Abs,
    // Floats only.
    Floor,
    Ceil,
    Trunc,
    RoundEven,
    Sqrt,
    InverseSqrt,
    Exp2,
    Log2,
    /// The sine of radians in any range.
    Sin,
    Cos,
    // Integers only.
    /// Number of set bits, in the operand's type.
    BitCount,
    BitReverse,
    /// Index of the lowest set bit; -1 if none is set.
    FindLsb,
    /// Index of the highest set bit (of a negative signed number: the highest clear bit); -1 if there is none.
    FindMsb,
}

/// `[a, b]`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Deserialize)]
pub enum BinOp {
    /// Integers wrap.
    Add,
    Sub,
    Mul,
    /// High half of the integer product, signed or unsigned by the scalar.
    MulHigh,
    /// Integers truncate toward zero; by zero and on overflow: undefined.
    Div,
    /// Integers only: remainder with the sign of the dividend; by zero: undefined.
    Rem,
    /// Floats: if one operand is a NaN, the other one; either zero of a pair of zeros.
    Min,
    Max,
    /// Integers bit by bit, bools logically.
    And,
    Or,
    Xor,
    /// The amount has 32 bits and is below the width; the result is undefined elsewhere.
    Shl,
    /// Arithmetic for signed, logical for unsigned.
    Shr,
}

/// `[a, b]`, returns a bool. Floats: false with a NaN, except `Ne`, which is true.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Deserialize)]
pub enum CmpOp {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

/// Three operands.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Deserialize)]
pub enum TernOp {
    /// `[a, b, c]`: `a * b + c` of floats, rounded once.
    Fma,
    /// `[base, offset, bits]`: integers of the scalar's type, offset and bits of 32 bits; extended by the scalar's
    /// sign; 0 if bits is 0, undefined if the field exceeds the value.
    BitExtract,
}

/// Memory that an access touches. Addresses are bytes from its start.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum MemorySpace {
    /// Buffer `n` of [`super::Kernel::buffers`].
    Buffer(u32),
    /// Push constants.
    Push,
    /// Memory of the workgroup.
    Shared,
    /// Private memory: variable `n` of [`super::Kernel::private`], which must contain all addresses. Offsets are bytes
    /// from the start of the whole memory; the offset is not below the variable's start.
    Private(u32),
    /// Physical memory, with 64-bit addresses.
    Physical,
}

/// The access of a load, a store or an atomic.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct MemoryAccess {
    pub space: MemorySpace,
    /// Bytes added to the address operand.
    pub offset: u32,
    /// Bytes of a component: 1, 2, 4 or 8. A byte is zero-extended to 16 bits and truncated from them.
    pub bytes: u8,
    /// Consecutive components, 1 to 4.
    pub components: u8,
    /// The known alignment of address plus offset, in bytes.
    pub align: u32,
    /// Writes must be visible to other invocations, or theirs to this one, without an atomic.
    pub coherent: bool,
    pub volatile: bool,
}

impl MemoryAccess {
    /// Consecutive 32-bit words, `offset` bytes after an address that is a multiple of four.
    pub const fn words(space: MemorySpace, offset: u32, components: u8) -> MemoryAccess {
        MemoryAccess { space, offset, bytes: 4, components, align: 4, coherent: false, volatile: false }
    }

    /// Type of a component.
    pub const fn component(&self) -> Ty {
        match self.bytes {
            1 | 2 => Ty::B16,
            4 => Ty::B32,
            _ => Ty::B64,
        }
    }
}

/// One operation. Values are visible in the rest of their block and in nested blocks; a loop's continuing block sees
/// its own parameters and values outside the loop, but nothing of the body. Terminators only occur at the end of a
/// block: `Yield`, `Exit`, `Continue`, `Repeat`, `Return`, `Unreachable`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Op {
    Un(UnOp, Scalar),
    Bin(BinOp, Scalar),
    Cmp(CmpOp, Scalar),
    Tern(TernOp, Scalar),
    /// `[base, insert, offset, bits]`: see [`TernOp::BitExtract`].
    BitInsert(Scalar),
    /// `[condition, accept, reject]`, values of any type.
    Select,
    /// `[a]`: as `ir::Op::Convert`, from the first type to the second.
    Convert(Scalar, Scalar),
    /// `[low, high]` of 32 bits: 64 bits.
    Join,
    /// `[a]` of 64 bits: its low 32 bits.
    Low,
    /// `[a]` of 64 bits: its high 32 bits.
    High,

    /// `[]`: a component of a built-in input, with the type from [`super::stage::built_in_input`]. Others are computed
    /// from these.
    BuiltIn(BuiltIn, u8),
    /// `[]`: a component of an input's location: 32 bits, or 64 if the input is wide.
    Input {
        location: u32,
        component: u8,
    },
    /// `[]`, `[sample]` or `[x, y]`, 32 bits: a component of a float input, at another position in the pixel.
    Interpolate {
        at: InterpolateAt,
        location: u32,
        component: u8,
    },
    /// `[value]` of 32 bits: a component of an output, once on each path to the end of the invocation.
    Output {
        site: Site,
        component: u8,
    },
    /// `[]`: turns a fragment's invocation into a helper, whose later outputs and stores are discarded. It continues.
    Kill,
    /// `[a]` of 32-bit floats: its derivative in the quad; one of the six functions of `x` and `y`.
    Derivative(MathFn),
    /// An operation on image `n` of [`super::Kernel::images`]; operands and results as in [`super::image`].
    Image {
        op: ImageOp,
        image: u32,
        parts: ImageParts,
    },

    /// `[address]`: as many results as components.
    Load(MemoryAccess),
    /// `[address, components…]`.
    Store(MemoryAccess),
    /// `[address, arguments…]`: see [`AtomicOp`]. No result for `Store`, the old value for the others, the value for
    /// `Load`.
    Atomic {
        op: AtomicOp,
        ty: Scalar,
        access: MemoryAccess,
        scope: Scope,
        order: Order,
    },
    /// `[]`: size in bytes of the memory bound to buffer `n`. 32 bits.
    BufferBytes(u32),
    Barrier {
        execution: Option<Scope>,
        memory: Scope,
        kinds: MemoryKinds,
        order: Order,
    },

    /// A cross-lane operation with the operands in [`LaneOp`], each one scalar. `ty` are the scalar types of its first
    /// and second operand, `BOOL` for a ballot or a missing operand. Ballots are masks.
    Lane {
        op: LaneOp,
        ty: [Scalar; 2],
    },
    /// An instruction that moves or combines values across lanes, with the operands in [`Primitive`]; values have type
    /// `ty`. READFIRSTLANE also takes and returns a mask.
    Prim {
        primitive: Primitive,
        ty: Scalar,
    },
    /// `[own, moved, operands of the primitive…]`: `own op primitive(moved)` as one instruction.
    CombineMoved {
        op: ReduceOp,
        ty: Scalar,
        primitive: Primitive,
    },
    /// A fact of a lane about itself: 32 bits, or a mask.
    Fact(LaneFact),
    /// Arithmetic on masks: the operations of [`AluOp`] that take or return ballots. `BallotFromMask` takes 64 bits.
    MaskAlu(AluOp),
    /// `[w0, w1, w2, w3]` of 32 bits: the mask with these words; the last two have no lanes.
    MaskFromWords,

    /// `[condition]`: runs one of the two blocks. Results: the values that this block yields.
    If {
        then: BlockId,
        otherwise: BlockId,
    },
    /// `[initial values of the body's parameters…]`: runs `body`; its `Continue` runs `continuing` with that
    /// terminator's operands, whose `Repeat` runs `body` again. Results: the values of the `Exit` or `Repeat` that
    /// leaves the loop.
    Loop {
        body: BlockId,
        continuing: BlockId,
    },
    /// `[]`: runs a block that an `Exit` may leave early. Results: the values that it yields, or those of the `Exit`.
    Scope {
        body: BlockId,
    },
    /// `[]`: runs a block in all lanes of the wave, active or not (AMD's whole-wave mode). The block is straight-line
    /// code that touches no memory. In lanes that were not active, values from outside are undefined there, except for
    /// constants and values that are uniform by definition, such as ballots. Results: the yielded values, in the active
    /// lanes.
    Whole {
        body: BlockId,
    },
    /// `[results…]`: ends a block of an `If`, or the block of a `Scope` or `Whole`.
    Yield,
    /// `[results…]`: leaves an enclosing `Loop` or `Scope`.
    Exit(InstId),
    /// `[parameters of continuing…]`: from the body of an enclosing loop.
    Continue(InstId),
    /// `[leave, parameters of body…, results…]`: ends `continuing`; leaves the loop if `leave` is true.
    Repeat,
    /// `[]`: ends the invocation.
    Return,
    Unreachable,
}

impl Op {
    /// Returns true if it converts unsigned words to floats, as unsigned divisions do. In that case NVIDIA's compilers
    /// keep the sign of extracted signed fields although they are read as unsigned.
    pub const fn floats_unsigned(&self) -> bool {
        match self {
            Op::Convert(from, to) => matches!(from.kind, ScalarKind::Uint) && to.is_float(),
            Op::Bin(BinOp::Div | BinOp::Rem, scalar) => matches!(scalar.kind, ScalarKind::Uint) && scalar.width <= 32,
            _ => false,
        }
    }

    /// Returns true if it ends a block.
    pub const fn is_terminator(&self) -> bool {
        matches!(self, Op::Yield | Op::Exit(_) | Op::Continue(_) | Op::Repeat | Op::Return | Op::Unreachable)
    }

    /// Returns true if it has nested blocks.
    pub const fn is_structured(&self) -> bool {
        matches!(self, Op::If { .. } | Op::Loop { .. } | Op::Scope { .. } | Op::Whole { .. })
    }

    /// Returns true if its result depends on which lanes are active, or on their values.
    pub const fn is_cross_lane(self) -> bool {
        matches!(self, Op::Lane { .. } | Op::Prim { .. } | Op::CombineMoved { .. })
    }

    /// Returns true if its result depends on its operands alone: it may be moved, shared and dropped.
    pub const fn is_pure(&self) -> bool {
        use Op as O;
        let arithmetic =
            matches!(self, O::Un(..) | O::Bin(..) | O::Cmp(..) | O::Tern(..) | O::BitInsert(_) | O::Select);
        let conversion = matches!(self, O::Convert(..) | O::Join | O::Low | O::High);
        let of_invocation =
            matches!(self, O::BuiltIn(..) | O::Input { .. } | O::Interpolate { .. } | O::BufferBytes(_) | O::Fact(_));
        arithmetic || conversion || of_invocation || matches!(self, O::MaskAlu(_) | O::MaskFromWords)
    }
}
