//! Evaluation of pure operations on constants, with the meaning that [`super::op`] gives them.
//!
//! [`fold`] gives a constant, or none where the value is not known (an operand is `Undef`) or not defined (an integer
//! division by zero): the caller then emits an instruction or reports. Where an operand hangs on a specialization
//! constant the result is a [`ConstValue::SpecOp`], if SPIR-V can compute it when a pipeline is made.

mod composite;
mod spec;

use super::{BinaryOp, ConstId, Constants, MathFn, TypeId, Types, UnaryOp};
pub use spec::Specializer;

/// A pure operation without its operands; they are listed in the order of [`super::Op`]'s fields.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Expr {
    Unary(UnaryOp),
    Binary(BinaryOp),
    Math(MathFn),
    Convert,
    Bitcast,
    Select,
    Construct,
    Splat,
    Extract(u32),
    ExtractDynamic,
    Insert(u32),
    InsertDynamic,
    Shuffle([u8; 4]),
}

/// The types and constants of a module, which folding adds to.
pub(crate) struct Folder<'a> {
    pub types: &'a mut Types,
    pub constants: &'a mut Constants,
}

/// The constant that `expr` gives with type `ty`.
pub fn fold(types: &mut Types, constants: &mut Constants, expr: Expr, ty: TypeId, args: &[ConstId]) -> Option<ConstId> {
    let mut folder = Folder { types, constants };
    match expr {
        Expr::Construct => folder.construct(ty, args),
        Expr::Splat => folder.splat(ty, args[0]),
        Expr::Extract(index) => folder.extract(args[0], index),
        Expr::ExtractDynamic => {
            let index = folder.index(args[1])?;
            folder.extract(args[0], index)
        }
        Expr::Insert(index) => folder.insert(args[0], index, args[1]),
        Expr::InsertDynamic => {
            let index = folder.index(args[1])?;
            folder.insert(args[0], index, args[2])
        }
        Expr::Shuffle(mask) => folder.shuffle(ty, args[0], args[1], mask),
        _ => None,
    }
}
