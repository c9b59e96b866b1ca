//! The operations of a function body.

use super::arena::Handle;
use super::constant::ConstId;
use super::image::{ImageOp, ImageParts};
use super::ray::RayOp;
use super::{Block, FuncId, GlobalId, Local, MatrixOp};
use crate::lane::LaneOp;
use serde::Deserialize;

pub type BlockId = Handle<Block>;
pub type LocalId = Handle<Local>;
pub type InstId = Handle<super::Inst>;

/// An operand: the source of a value.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Value {
    Inst(InstId),
    Const(ConstId),
    /// Parameter `n` of the function.
    Param(u32),
    /// Pointer to a module-scope variable.
    Global(GlobalId),
    /// Pointer to a variable of the function.
    Local(LocalId),
}

/// A list of operands in [`super::Function::operands`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Values {
    pub start: u32,
    pub len: u32,
}

/// A list of cases in [`super::Function::cases`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct Cases {
    pub start: u32,
    pub len: u32,
}

/// One arm of a switch.
#[derive(Clone, Debug)]
pub struct Case {
    /// Selector values, as bits; several if labels share an arm.
    pub values: Vec<u64>,
    /// True if `default` is among the labels.
    pub default: bool,
    pub body: BlockId,
    /// Control falls through to the next arm if `body` ends without a terminator.
    pub falls_through: bool,
}

/// On scalars and vectors, component by component; the operand's type determines the kind of arithmetic.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum UnaryOp {
    /// Arithmetic negation; integers wrap.
    Neg,
    /// Bitwise complement of integers.
    Not,
    LogicalNot,
}

/// On scalars and vectors of one type, component by component, unless noted otherwise.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum BinaryOp {
    /// Integers wrap.
    Add,
    Sub,
    Mul,
    /// Integers truncate toward zero; division by zero and overflow are undefined.
    Div,
    /// Remainder with the sign of the dividend (`a - b * trunc(a / b)`); by zero: undefined value.
    Rem,
    /// Bit by bit on integers, logical on bools.
    And,
    Or,
    Xor,
    /// The shift amount may have another integer type; amounts of at least the width are undefined.
    Shl,
    /// Arithmetic for signed, logical for unsigned.
    Shr,
    LogicalAnd,
    LogicalOr,
    /// Comparisons return bools. Float comparisons are ordered (false with a NaN), except `Ne`, which is true with a
    /// NaN.
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    /// Scalar, vector or matrix times scalar.
    TimesScalar,
    MatrixTimesVector,
    VectorTimesMatrix,
    MatrixTimesMatrix,
    /// `c * transpose(r)` of a column and a row vector.
    OuterProduct,
}

/// Built-in functions with the meaning of GLSL 4.60 chapter 8 (GLSL.std.450 in SPIR-V), typed by operands and result.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Deserialize)]
pub enum MathFn {
    // 8.1 angles and trigonometry
    Radians,
    Degrees,
    Sin,
    Cos,
    Tan,
    Asin,
    Acos,
    Atan,
    Atan2,
    Sinh,
    Cosh,
    Tanh,
    Asinh,
    Acosh,
    Atanh,
    // 8.2 exponentials
    Pow,
    Exp,
    Log,
    Exp2,
    Log2,
    Sqrt,
    InverseSqrt,
    // 8.3 common
    Abs,
    Sign,
    Floor,
    Trunc,
    Round,
    RoundEven,
    Ceil,
    Fract,
    /// `x - y * floor(x / y)`.
    Mod,
    /// Result: struct of fraction and whole part.
    Modf,
    Min,
    Max,
    Clamp,
    /// `x * (1 - a) + y * a`.
    Mix,
    Step,
    SmoothStep,
    IsNan,
    IsInf,
    Fma,
    /// Result: struct of significand and exponent (signed integer).
    Frexp,
    Ldexp,
    // 8.4 packing
    PackSnorm4x8,
    UnpackSnorm4x8,
    PackUnorm4x8,
    UnpackUnorm4x8,
    PackSnorm2x16,
    UnpackSnorm2x16,
    PackUnorm2x16,
    UnpackUnorm2x16,
    PackHalf2x16,
    UnpackHalf2x16,
    PackDouble2x32,
    UnpackDouble2x32,
    // 8.5 geometric
    Length,
    Distance,
    Dot,
    Cross,
    Normalize,
    FaceForward,
    Reflect,
    Refract,
    // 8.6 matrix
    MatrixCompMult,
    Transpose,
    Determinant,
    Inverse,
    // 8.7 relational
    Any,
    All,
    // 8.8 integer
    /// Result: struct of sum and carry.
    AddCarry,
    /// Result: struct of difference and borrow.
    SubBorrow,
    /// Result: struct of the low and high half of the product; signed or unsigned by operand type.
    MulExtended,
    /// Operands: base, offset, bits.
    BitfieldExtract,
    /// Operands: base, insert, offset, bits.
    BitfieldInsert,
    BitfieldReverse,
    BitCount,
    FindLsb,
    FindMsb,
    /// WGSL: leading and trailing zero counts.
    CountLeadingZeros,
    CountTrailingZeros,
    // GL_EXT_integer_dot_product: each operand is signed or unsigned independently.
    /// Sum of the products of integer components, in the result's type.
    DotInt,
    /// A dot product added to the third operand, saturating.
    DotIntAccSat,
    /// Sum of the products of the four bytes of two words.
    DotPacked,
    DotPackedAccSat,
    // 8.14 derivatives, of the neighbours in a quad
    DerivX,
    DerivY,
    /// Sum of the absolute values of both.
    DerivWidth,
    DerivXFine,
    DerivYFine,
    DerivWidthFine,
    DerivXCoarse,
    DerivYCoarse,
    DerivWidthCoarse,
    /// True if the invocation is a helper now; no operands (GL_EXT_demote_to_helper_invocation).
    IsHelper,
}

impl MathFn {
    /// Returns true if it depends on the other invocations of a quad.
    pub const fn is_derivative(self) -> bool {
        use MathFn::*;
        matches!(
            self,
            DerivX
                | DerivY
                | DerivWidth
                | DerivXFine
                | DerivYFine
                | DerivWidthFine
                | DerivXCoarse
                | DerivYCoarse
                | DerivWidthCoarse
        )
    }
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Deserialize)]
pub enum AtomicOp {
    Load,
    Store,
    Add,
    Sub,
    Min,
    Max,
    And,
    Or,
    Xor,
    Exchange,
    /// Arguments: new value, comparand. Result: the old value.
    CompareExchange,
}

impl AtomicOp {
    /// Returns true if it supports vectors of halves (SPV_NV_shader_atomic_fp16_vector).
    pub const fn takes_vectors(self) -> bool {
        matches!(self, AtomicOp::Add | AtomicOp::Min | AtomicOp::Max | AtomicOp::Exchange)
    }
}

/// The position in the pixel at which a fragment input is interpolated.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Deserialize)]
pub enum InterpolateAt {
    Centroid,
    Sample,
    Offset,
    /// The value of one vertex, by a constant number.
    Vertex,
}

/// The set of invocations that an operation is ordered with.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Deserialize)]
pub enum Scope {
    Invocation,
    Subgroup,
    Workgroup,
    QueueFamily,
    Device,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Deserialize)]
pub enum Order {
    Relaxed,
    Acquire,
    Release,
    AcquireRelease,
}

bitflags::bitflags! {
    /// The memory that a barrier orders.
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
    pub struct MemoryKinds: u8 {
        /// Uniform and storage buffers, and memory accessed through references.
        const BUFFER = 1;
        const SHARED = 2;
        const IMAGE = 4;
        const ATOMIC_COUNTER = 8;
        const OUTPUT = 16;
    }

    /// Guarantees and permissions of one instruction.
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
    pub struct InstFlags: u16 {
        /// `precise`: no contraction, no re-association.
        const PRECISE = 1;
        /// `mediump`/`lowp`: 16 bits of precision are enough.
        const RELAXED = 2;
        /// `nonuniformEXT`.
        const NON_UNIFORM = 4;
        /// Access to memory that is coherent, or volatile.
        const COHERENT = 8;
        const VOLATILE = 16;
        /// Coherent for the whole device.
        const DEVICE = 32;
        /// A conversion to an encoded float saturates at the largest number of the sign.
        const SATURATED = 64;
        /// The source requests that a loop be unrolled (`[[unroll]]`) or not (`[[dont_unroll]]`); on loops of the
        /// kernel form.
        const UNROLL = 128;
        const DONT_UNROLL = 256;
        /// A cross-lane operation that runs only where the subgroup is at least as wide as its segment.
        const GUARDED = 512;
    }
}

/// The effect of the end of an invocation.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Deserialize)]
pub enum Ending {
    /// Launches mesh workgroups, in the number of the three operands; they see the payload of the task shader.
    MeshTasks,
    /// The hit is rejected.
    IgnoreIntersection,
    /// The hit is accepted and ends the ray.
    TerminateRay,
}

/// The author's hint for a loop or selection (GL_EXT_control_flow_attributes).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum ControlHint {
    #[default]
    None,
    Unroll,
    DontUnroll,
    Flatten,
    DontFlatten,
}

/// One operation. Its instruction has the result type.
///
/// Control flow is structured. A block runs from its first instruction to its last; a terminator (`Break`, `Continue`,
/// `Return`, `Yield`, `Discard`, `End`, `Unreachable`) ends it early and is always its last instruction. Values are
/// visible in the rest of their block and in nested blocks; a loop's `continuing` block does not see the values of its
/// body.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Op {
    Unary(UnaryOp, Value),
    Binary(BinaryOp, Value, Value),
    Math(MathFn, Values),
    /// Numeric conversion to the result type, component by component: int to int keeps low bits (sign-extending signed
    /// sources), float to int truncates (undefined out of range), bool gives 0 or 1, to bool is `!= 0`. Encoded floats
    /// ([`super::Encoding`]) are never converted to or from bool.
    Convert(Value),
    /// The same bits as another type of the same size.
    Bitcast(Value),
    /// `condition ? accept : reject`, both evaluated; a scalar bool, or a bool vector for component-wise choice.
    Select {
        condition: Value,
        accept: Value,
        reject: Value,
    },
    /// A composite of the result type. Vector: scalars and vectors whose components add up. Matrix: columns. Array and
    /// struct: the elements. Cooperative matrix: one value for all its elements.
    Construct(Values),
    /// A vector with all components equal to the scalar.
    Splat(Value),
    /// Component, column, element or member of a composite value.
    Extract {
        composite: Value,
        index: u32,
    },
    /// Component of a vector, or column of a matrix, or element of an array *value*, by a run-time index.
    ExtractDynamic {
        composite: Value,
        index: Value,
    },
    /// The composite with one part replaced.
    Insert {
        composite: Value,
        index: u32,
        part: Value,
    },
    /// A vector with one component replaced, by a run-time index.
    InsertDynamic {
        composite: Value,
        index: Value,
        part: Value,
    },
    /// A vector of components of `a` followed by `b`, as many as the result type has.
    Shuffle {
        a: Value,
        b: Value,
        mask: [u8; 4],
    },

    /// Pointer to a part: indices into structs (constant), arrays, matrices, vectors. `base` is a variable, a parameter
    /// or a buffer reference, never another `Access`: chains are flat.
    Access {
        base: Value,
        indices: Values,
    },
    /// Gives the logical type of the pointee.
    Load(Value),
    /// Takes the logical type of the pointee.
    Store {
        pointer: Value,
        value: Value,
    },
    /// Elements of the run-time array at the end of the block that `block` points to. `u32`.
    ArrayLength {
        block: Value,
    },
    /// Arguments: see [`AtomicOp`].
    Atomic {
        op: AtomicOp,
        pointer: Value,
        args: Values,
        scope: Scope,
        order: Order,
    },
    /// The value of a fragment input at another position in the pixel: the operand is absent, a sample number, or an
    /// offset from the centre.
    Interpolate {
        at: InterpolateAt,
        pointer: Value,
        args: Values,
    },
    /// Prints a text of [`super::Module::texts`] with its arguments, if a caller listens.
    Print {
        text: u32,
        args: Values,
    },
    /// Waits for the invocations of `execution` (if any) and orders memory.
    Barrier {
        execution: Option<Scope>,
        memory: Scope,
        kinds: MemoryKinds,
        order: Order,
    },

    /// An operation on an image; operands as in [`ImageOp`].
    Image {
        op: ImageOp,
        parts: ImageParts,
        operands: Values,
    },

    /// Something done with a ray query; `on` points to it, or is an address. Operands as [`RayOp`] lists them.
    Ray {
        op: RayOp,
        on: Value,
        args: Values,
    },

    /// A cross-lane operation; operands as [`LaneOp`] lists them.
    Lane(LaneOp, Values),
    /// An operation that only cooperative matrices have; operands as in [`MatrixOp`].
    Cooperative(MatrixOp, Values),
    /// A foreign SPIR-V instruction: its index in [`super::Foreign::instructions`], and its arguments.
    Foreign(u32, Values),

    Call(FuncId, Values),
    /// With a result type other than void both blocks end in `Yield`.
    If {
        condition: Value,
        then: BlockId,
        otherwise: BlockId,
        hint: ControlHint,
    },
    /// Repeats `body`, then `continuing`; exits after `continuing` if `break_if` (a value in it) is true, and at
    /// `Break`.
    Loop {
        body: BlockId,
        continuing: BlockId,
        break_if: Option<Value>,
        hint: ControlHint,
    },
    /// Starts exactly one arm, or none if no label matches and there is no default.
    Switch {
        selector: Value,
        cases: Cases,
        hint: ControlHint,
    },
    /// Leaves the innermost loop or switch.
    Break,
    /// Goes to the `continuing` block of the innermost loop.
    Continue,
    Return(Option<Value>),
    /// Gives an `If` its value.
    Yield(Value),
    /// Ends a fragment invocation.
    Discard,
    /// Ends an invocation of another stage.
    End(Ending, Values),
    /// Turns a fragment invocation into a helper; not a terminator.
    Demote,
    /// The depth or the stencil value that the pixel has so far (GL_EXT_shader_tile_image).
    PixelDepth,
    PixelStencil,
    /// Begins or ends the critical section of a fragment shader.
    Interlock {
        begin: bool,
    },
    Unreachable,
}

impl Op {
    /// Returns true if the result depends only on the operands' values.
    pub const fn is_arithmetic(&self) -> bool {
        matches!(
            self,
            Op::Unary(..)
                | Op::Binary(..)
                | Op::Math(..)
                | Op::Convert(_)
                | Op::Bitcast(_)
                | Op::Select { .. }
                | Op::Construct(_)
                | Op::Splat(_)
                | Op::Extract { .. }
                | Op::ExtractDynamic { .. }
                | Op::Insert { .. }
                | Op::InsertDynamic { .. }
                | Op::Shuffle { .. }
        )
    }

    /// The functions that an instruction calls.
    pub const fn callees(&self) -> [Option<FuncId>; 2] {
        match self {
            Op::Call(callee, _) => [Some(*callee), None],
            Op::Cooperative(op, _) => op.callees(),
            _ => [None, None],
        }
    }

    /// Returns true if an instruction calls functions.
    pub const fn calls(&self) -> bool {
        !matches!(self.callees(), [None, None])
    }

    /// Returns true if writes of other invocations may become visible through an instruction, because it orders memory
    /// or runs code that may.
    pub const fn synchronizes(&self) -> bool {
        match self {
            Op::Barrier { .. } | Op::Interlock { .. } | Op::Ray { .. } | Op::Foreign(..) => true,
            Op::Atomic { order, .. } | Op::Image { op: ImageOp::Atomic(_, _, order), .. } => {
                !matches!(order, Order::Relaxed)
            }
            _ => self.calls(),
        }
    }

    /// Calls `see` for each operand, in the order of the fields; `function` contains the operation. The condition that
    /// ends a loop is a value of its `continuing` block, not an operand.
    pub fn each_operand(&self, function: &super::Function, mut see: impl FnMut(Value)) {
        if !matches!(self, Op::Loop { .. }) {
            let _ = self.map_operands(|value| {
                see(value);
                value
            });
        }
        function.values(self.list()).iter().for_each(|value| see(*value));
    }

    /// The operation with other operands, keeping its operand list.
    #[must_use]
    pub fn map_operands(self, mut map: impl FnMut(Value) -> Value) -> Op {
        let mut op = self;
        let (first, more): (Option<&mut Value>, [Option<&mut Value>; 2]) = match &mut op {
            Op::Unary(_, a) | Op::Convert(a) | Op::Bitcast(a) | Op::Splat(a) | Op::Load(a) | Op::Yield(a) => {
                (Some(a), [None, None])
            }
            Op::Extract { composite: a, .. }
            | Op::ArrayLength { block: a }
            | Op::Return(Some(a))
            | Op::If { condition: a, .. }
            | Op::Switch { selector: a, .. }
            | Op::Access { base: a, .. }
            | Op::Atomic { pointer: a, .. }
            | Op::Interpolate { pointer: a, .. }
            | Op::Ray { on: a, .. } => (Some(a), [None, None]),
            Op::Loop { break_if, .. } => (break_if.as_mut(), [None, None]),
            Op::Binary(_, a, b)
            | Op::Store { pointer: a, value: b }
            | Op::ExtractDynamic { composite: a, index: b }
            | Op::Insert { composite: a, part: b, .. }
            | Op::Shuffle { a, b, .. } => (Some(a), [Some(b), None]),
            Op::Select { condition: a, accept: b, reject: c }
            | Op::InsertDynamic { composite: a, index: b, part: c } => (Some(a), [Some(b), Some(c)]),
            _ => (None, [None, None]),
        };
        for operand in first.into_iter().chain(more.into_iter().flatten()) {
            *operand = map(*operand);
        }
        op
    }

    /// The operand list; empty if there is none.
    fn list(&self) -> Values {
        let mut found = Values::default();
        let _ = self.map_list(|list| {
            found = list;
            list
        });
        found
    }

    /// The operation with another operand list, if it has one.
    #[must_use]
    pub fn map_list(self, map: impl FnOnce(Values) -> Values) -> Op {
        let mut op = self;
        if let Op::Image { operands: list, .. }
        | Op::Math(_, list)
        | Op::Construct(list)
        | Op::Lane(_, list)
        | Op::Call(_, list)
        | Op::Cooperative(_, list)
        | Op::Foreign(_, list)
        | Op::End(_, list)
        | Op::Access { indices: list, .. }
        | Op::Atomic { args: list, .. }
        | Op::Interpolate { args: list, .. }
        | Op::Ray { args: list, .. }
        | Op::Print { args: list, .. } = &mut op
        {
            *list = map(*list);
        }
        op
    }

    /// Returns true for a barrier at which the workgroup waits.
    pub const fn waits_for_workgroup(&self) -> bool {
        matches!(self, Op::Barrier { execution: Some(Scope::Workgroup), .. })
    }

    /// Returns true if it ends a block.
    pub const fn is_terminator(&self) -> bool {
        matches!(
            self,
            Op::Break | Op::Continue | Op::Return(_) | Op::Yield(_) | Op::Discard | Op::End(..) | Op::Unreachable
        )
    }
}
