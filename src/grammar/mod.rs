//! The languages as data: every built-in function, variable, constant and extension of every dialect.
//!
//! The build script turns `grammar/*.toml` into `static` tables, so nothing is parsed or allocated at start-up. Front
//! ends look up names here and interpret the rows; the documentation is printed from the same rows. This module neither
//! resolves overloads nor emits code.

mod extensions;
pub(crate) mod key;
mod opaque;
mod rule;
mod shape;
mod tables;

pub use extensions::{Extension, ExtensionSet};
pub use opaque::{Opaque, OpaqueClass};
pub use rule::{RuleError, size_unknown};
pub use shape::{Shape, ShapeSet};
pub use tables::{CONSTANTS, DIALECTS, EXTENSIONS, FUNCTIONS, SPELLINGS, VARIABLES};

use crate::ir::derived::Derived;
use crate::ir::{AtomicOp, BinaryOp, BuiltIn, Ending, ImageOp, MathFn, MemoryKinds, Scope, Stage, UnaryOp};
use crate::lane::LaneOp;
use crate::profile::Client;
use key::Key;
use tables::{UNSUPPORTED, WGSL_FUNCTIONS, WGSL_VARIABLES};

/// One file of the tables.
#[derive(Clone, Copy, Debug)]
pub struct Dialect {
    pub name: &'static str,
    pub doc: &'static str,
}

/// A built-in function with all its overloads.
#[derive(Debug)]
pub struct Function {
    /// GLSL's name.
    pub name: &'static str,
    pub overloads: &'static [Overload],
}

/// A WGSL name and its overloads, as pairs of function and overload.
#[derive(Debug)]
struct WgslFunction {
    name: &'static str,
    overloads: &'static [(u16, u16)],
}

/// One form of a built-in function.
#[derive(Debug)]
pub struct Overload {
    pub name: &'static str,
    /// The row's name with its pattern parameters, such as `allReduce{Op}{W}`.
    pub family: &'static str,
    pub dialect: &'static str,
    /// False for functions that only WGSL has.
    pub glsl: bool,
    /// The declaration as messages show it.
    pub signature: &'static str,
    /// The types of the generic parameter `T` as the row writes them; empty without one.
    pub types: &'static str,
    /// The types of `T` as a set.
    pub generic: ShapeSet,
    pub params: &'static [Param],
    pub ret: TypeExpr,
    pub lowering: Lowering,
    /// Destinations of the parts of the operation's result; empty if the result is returned.
    pub results: &'static [ResultSlot],
    /// One of these must be enabled; empty if none is needed.
    pub extensions: ExtensionSet,
    /// Any of these adds it to earlier versions that lack it.
    pub earlier: ExtensionSet,
    pub stages: Stages,
    /// First version of the core and ES languages with it; 0 for none.
    pub core: u16,
    pub es: u16,
    pub doc: &'static str,
}

impl Overload {
    /// The width of segments that its name ends with.
    pub fn named_width(&self) -> Option<u32> {
        let digits = self.name.len() - self.name.trim_end_matches(|c: char| c.is_ascii_digit()).len();
        let width = self.name[self.name.len() - digits..].parse().ok();
        width.filter(|_| self.family.ends_with("{W}"))
    }
}

/// A parameter of a built-in function.
#[derive(Debug)]
pub struct Param {
    pub name: &'static str,
    pub ty: TypeExpr,
    pub mode: Mode,
    /// True if the argument must be a constant expression.
    pub constant: bool,
    /// The rule for an argument with a known value.
    pub rule: Rule,
}

/// The direction of a parameter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mode {
    In,
    Out,
    InOut,
    /// A pointer to memory that atomic operations work on.
    Memory,
    /// A pointer to an atomic counter.
    Counter,
}

/// Limits of a constant argument; bounds are inclusive.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rule {
    None,
    /// A power of two, no larger than the subgroup size if that is fixed.
    Width {
        low: u32,
        high: u32,
    },
    /// The logarithm of such a width.
    Log2 {
        low: u32,
        high: u32,
    },
    Range {
        low: u32,
        high: u32,
    },
}

/// A type in terms of the generic parameter `T`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TypeExpr {
    Void,
    Is(Shape),
    /// `T`.
    Generic,
    /// The scalar that `T` is made of.
    ScalarOf,
    /// A scalar of that type, which the operation takes as a `T` with all components equal.
    Splat,
    /// `T` with components of this type instead.
    BoolOf,
    IntOf,
    UintOf,
    FloatOf,
    /// A scalar that the operation compares with zero.
    Test(Shape),
    /// `T` with components of this scalar.
    Of(Shape),
    /// A vector of this many scalars `T`.
    VectorOf(u8),
    /// An image with texels of the scalar `T`; it has no shape.
    Opaque(Opaque),
    Transposed,
    /// An array of this many elements; it has no shape.
    Array(Shape, u32),
}

impl TypeExpr {
    /// Returns true if an argument must have exactly this type: nothing converts to opaque types and arrays.
    pub const fn is_exact(self) -> bool {
        matches!(self, TypeExpr::Opaque(_) | TypeExpr::Array(..))
    }

    /// The type for a choice of `T`; `None` for `void`, opaque types and arrays.
    pub fn shape(self, generic: Shape) -> Option<Shape> {
        use crate::ir::Scalar;
        match self {
            TypeExpr::Void | TypeExpr::Opaque(_) | TypeExpr::Array(..) => None,
            TypeExpr::VectorOf(size) => Shape::vector(generic.scalar(), size),
            TypeExpr::Is(shape) | TypeExpr::Test(shape) => Some(shape),
            TypeExpr::Generic => Some(generic),
            TypeExpr::ScalarOf | TypeExpr::Splat => Shape::vector(generic.scalar(), 1),
            TypeExpr::BoolOf => Some(generic.with_scalar(Scalar::BOOL)),
            TypeExpr::IntOf => Some(generic.with_scalar(Scalar::I32)),
            TypeExpr::UintOf => Some(generic.with_scalar(Scalar::U32)),
            TypeExpr::FloatOf => Some(generic.with_scalar(Scalar::F32)),
            TypeExpr::Of(scalar) => Some(generic.with_scalar(scalar.scalar())),
            TypeExpr::Transposed => Some(generic.transposed()),
        }
    }
}

/// The lowering of a call; the operands are the arguments that are read, in order.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Lowering {
    Math(MathFn),
    Unary(UnaryOp),
    Binary(BinaryOp),
    Bitcast,
    /// A conversion to the type of the `out` argument that saturates at its maximum.
    Saturated,
    /// `mix` with bools: rejected value, accepted value, condition.
    Select,
    Atomic(AtomicOp),
    /// An atomic counter: increments and returns the old value, or decrements and returns the new value.
    Count {
        up: bool,
    },
    Barrier {
        execution: Option<Scope>,
        memory: Scope,
        kinds: MemoryKinds,
    },
    /// Ends the invocation.
    End(Ending),
    /// Returns the first argument if there is a result; the other arguments have no effect.
    Hint,
    /// Scopes, kinds of memory and order are constant arguments; the first is the execution scope.
    ScopedBarrier {
        waits: bool,
    },
    /// An image operation; `roles` names its arguments.
    Image {
        op: ImageOp,
        roles: &'static [ImageRole],
    },
    /// The constant argument `constant_arg`, if there is one, completes the operation and is not an operand.
    Lane {
        op: LaneOp,
        constant_arg: Option<u8>,
    },
    /// The depth or the stencil value of the pixel.
    Pixel {
        stencil: bool,
    },
    /// The start or the end of a critical section.
    Interlock {
        begin: bool,
    },
    /// A composition of lane operations and arithmetic.
    Derived(Derived),
    /// An instruction that only SPIR-V has.
    Instruction(&'static Instruction),
    /// `op` on all operands, and `valid` on all but the first.
    LaneAndValid {
        op: LaneOp,
        valid: LaneOp,
    },
}

impl Lowering {
    /// Returns true for functions whose result depends on the lanes of a subgroup.
    pub const fn is_of_lanes(self) -> bool {
        match self {
            Lowering::Lane { .. } | Lowering::LaneAndValid { .. } => true,
            Lowering::Derived(of) => of.is_of_lanes(),
            _ => false,
        }
    }
}

/// An instruction of SPIR-V, by its number.
#[derive(Debug, PartialEq, Eq)]
pub struct Instruction {
    /// The extended instruction set of the instruction; `None` for a core opcode.
    pub set: Option<&'static str>,
    pub opcode: u32,
    /// The capability that it needs, by number.
    pub capability: Option<u32>,
    /// The extension of SPIR-V that it needs.
    pub extension: Option<&'static str>,
    /// A constant operand before the arguments.
    pub first: Option<u32>,
}

/// The role of an argument of an image operation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ImageRole {
    Image,
    Coordinate,
    Bias,
    Lod,
    GradientX,
    GradientY,
    Offset,
    Offsets,
    Component,
    Reference,
    Sample,
    Compared,
    Data,
    Other,
    OtherCoordinate,
    Extent,
    /// Scope, kinds of memory and order of an atomic operation.
    How,
    MinLod,
    /// The result of the operation next to the code of its residency.
    Texel,
}

/// The destination of a result.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ResultSlot {
    Return,
    Argument(u8),
}

/// A set of pipeline stages.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Stages(u16);

impl Stages {
    /// The set of these stages.
    pub const fn of(stages: &[Stage]) -> Stages {
        let (mut bits, mut at) = (0, 0);
        while at < stages.len() {
            bits |= 1 << stages[at] as u16;
            at += 1;
        }
        Stages(bits)
    }

    pub const fn contains(self, stage: Stage) -> bool {
        self.0 & 1 << stage as u16 != 0
    }
}

/// A built-in variable.
#[derive(Debug)]
pub struct Variable {
    pub name: &'static str,
    /// The function that WGSL has for it.
    pub wgsl: Option<&'static str>,
    pub dialect: &'static str,
    pub ty: Shape,
    /// Array size, if the variable is an array; 0 if the shader sets the size.
    pub array: Option<u32>,
    pub source: VariableSource,
    /// Stages that write it; the other stages read it.
    pub output: Stages,
    pub extensions: ExtensionSet,
    /// Any of these adds it to earlier versions that lack it.
    pub earlier: ExtensionSet,
    pub stages: Stages,
    /// The only API whose GLSL has it, if not all do.
    pub client: Option<Client>,
    pub core: u16,
    /// Last version of the core language that has it.
    pub until: Option<u16>,
    pub es: u16,
    pub doc: &'static str,
}

/// The source of a built-in variable's value.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum VariableSource {
    BuiltIn(BuiltIn),
    /// The matrix that a built-in variable is, transposed.
    Transposed(BuiltIn),
    /// An operation without operands.
    Lane(LaneOp),
    /// The constant from the entry point's local size.
    WorkgroupSize,
    /// The output at a location.
    Output(u32),
    Blocks(&'static Blocks),
}

/// An array of blocks whose members are built-in variables.
#[derive(PartialEq, Eq, Debug)]
pub struct Blocks {
    pub name: &'static str,
    pub members: &'static [&'static str],
    /// One per primitive instead of one per vertex.
    pub of_primitives: bool,
}

/// A built-in constant: an `int`, a `uint`, or an `ivec3`.
#[derive(Debug)]
pub struct Constant {
    pub name: &'static str,
    pub value: &'static [i32],
    pub unsigned: bool,
    pub extensions: ExtensionSet,
    pub core: u16,
    pub es: u16,
    pub doc: &'static str,
}

/// A name in a language that crosslane does not read, or does not write so.
#[derive(Debug)]
pub struct Spelling {
    pub name: &'static str,
    pub language: &'static str,
    /// The operation, if there is a counterpart.
    pub op: Option<LaneOp>,
    /// The difference, or advice if there is no counterpart; may be empty.
    pub note: &'static str,
}

/// The GLSL function called `name`.
pub fn functions(name: &str) -> &'static [Overload] {
    let mut slot = Key::of(name.as_bytes()).slot(FUNCTION_SLOTS - 1);
    while let Some(at) = FUNCTION_TABLE[slot].checked_sub(1) {
        let function = &FUNCTIONS[usize::from(at)];
        if function.name == name {
            return function.overloads;
        }
        slot = (slot + 1) % FUNCTION_SLOTS;
    }
    &[]
}

/// Slots of the hash table of functions: a power of two, at least twice the number of functions.
const FUNCTION_SLOTS: usize = (FUNCTIONS.len() * 2).next_power_of_two();
/// Position in [`FUNCTIONS`] plus one, 0 for none, by [`Key`], with linear probing.
static FUNCTION_TABLE: [u16; FUNCTION_SLOTS] = function_table();

const fn function_table() -> [u16; FUNCTION_SLOTS] {
    let mut table = [0; FUNCTION_SLOTS];
    let mut at = 0;
    while at < FUNCTIONS.len() {
        let mut slot = Key::of(FUNCTIONS[at].name.as_bytes()).slot(FUNCTION_SLOTS - 1);
        while table[slot] != 0 {
            slot = (slot + 1) % FUNCTION_SLOTS;
        }
        at += 1;
        table[slot] = at as u16;
    }
    table
}

/// The WGSL overloads of `name`.
pub fn wgsl_functions(name: &str) -> impl Iterator<Item = &'static Overload> {
    let found = WGSL_FUNCTIONS.binary_search_by(|f| f.name.cmp(name));
    let places = found.map_or(&[][..], |at| WGSL_FUNCTIONS[at].overloads);
    places.iter().map(|(function, overload)| &FUNCTIONS[usize::from(*function)].overloads[usize::from(*overload)])
}

/// The functions that crosslane adds to WGSL.
pub fn wgsl_function_names() -> impl Iterator<Item = &'static str> {
    WGSL_FUNCTIONS.iter().map(|f| f.name)
}

/// The GLSL variable `name`: the first if stages have different ones.
pub fn variable(name: &str) -> Option<&'static Variable> {
    variables(name).first()
}

/// The GLSL variables `name`: one, or several of different stages.
pub fn variables(name: &str) -> &'static [Variable] {
    let first = VARIABLES.partition_point(|v| v.name < name);
    let count = VARIABLES[first..].iter().take_while(|v| v.name == name).count();
    &VARIABLES[first..first + count]
}

/// The variable that WGSL reads by calling `name`.
pub fn wgsl_variable(name: &str) -> Option<&'static Variable> {
    let found = WGSL_VARIABLES.binary_search_by(|(known, _)| (*known).cmp(name));
    found.ok().map(|at| &VARIABLES[usize::from(WGSL_VARIABLES[at].1)])
}

/// The constant called `name`.
pub fn constant(name: &str) -> Option<&'static Constant> {
    CONSTANTS.binary_search_by(|c| c.name.cmp(name)).ok().map(|at| &CONSTANTS[at])
}

/// The extension called `name`.
pub fn extension(name: &str) -> Option<&'static Extension> {
    EXTENSIONS.binary_search_by(|e| e.name.cmp(name)).ok().map(|at| &EXTENSIONS[at])
}

/// The name of the feature that a function belongs to, if the language has the function and crosslane does not support
/// it.
pub fn unsupported_function(name: &str) -> Option<&'static str> {
    UNSUPPORTED.binary_search_by(|(known, _)| (*known).cmp(name)).ok().map(|at| UNSUPPORTED[at].1)
}

#[cfg(test)]
mod tests;
