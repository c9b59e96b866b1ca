//! The tables that the build script generated.

use super::{
    Blocks, Constant, Dialect, Extension, ExtensionSet, Function, ImageRole, Instruction, Lowering, Mode, Opaque,
    OpaqueClass, Overload, Param, ResultSlot, Rule, Shape, ShapeSet, Spelling, Stages, TypeExpr, Variable,
    VariableSource, WgslFunction,
};
use crate::ir::derived::{Derived, Rank};
use crate::ir::{
    AtomicOp, BinaryOp, BlockWindow, BuiltIn, Ending, ImageDim, ImageOp, MathFn, MemoryKinds, Order, Scope, Stage,
    UnaryOp,
};
use crate::lane::{
    CountOp, Group, LaneOp, MaskOp, Members, QuadMove, ReduceKind, ReduceOp, ShuffleMode, Swap, VoteOp, Width,
};
use crate::profile::{Client, Feature, Target};

/// A width that the build script has checked.
const fn width(lanes: u32) -> Width {
    Width::new(lanes).expect("the build script takes powers of two up to 1024 only")
}

include!(concat!(env!("OUT_DIR"), "/tables.rs"));
