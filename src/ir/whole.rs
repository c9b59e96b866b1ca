//! Cross-lane moves of structs, arrays and matrices: one move for each scalar or vector in them. Both front ends use
//! this module, so targets never see a lane operation on anything larger than a vector.
//!
//! Two kinds of values are refused: types without a known number of parts or without bits that a lane could pass on
//! (opaque types, addresses, arrays whose length is known only at run time or pipeline creation), and values of more
//! than [`MOST_MOVES`] parts.

use super::build::Builder;
use super::types::{ArrayLen, Scalar, Type, TypeId, Types};
use super::{StructId, Value};
use crate::lane::LaneOp;
use smallvec::SmallVec;
use std::fmt;

/// Limit of the moves for one value; larger values would need a loop.
pub const MOST_MOVES: u32 = 256;

/// The moves that make up a value.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Moves {
    /// Scalars and vectors.
    pub count: u32,
    /// Their scalars, each once.
    pub scalars: SmallVec<[Scalar; 4]>,
}

/// The reason that a value cannot be moved; its `Display` describes the value or its part.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unmovable {
    Opaque,
    Address,
    /// Floats that cross-lane operations do not support.
    Encoded,
    /// The length of an array is known only at run time or pipeline creation.
    Length,
    TooMany,
}

impl fmt::Display for Unmovable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Unmovable::Opaque => f.write_str("holds an image or a sampler"),
            Unmovable::Address => f.write_str("holds an address"),
            Unmovable::Length => f.write_str("holds an array whose length is not known when the shader is compiled"),
            Unmovable::Encoded => f.write_str("holds floats that are only stored and converted"),
            Unmovable::TooMany => write!(f, "is made of more than {MOST_MOVES} scalars and vectors"),
        }
    }
}

/// Returns true if values of a type are moved part by part.
pub fn is_whole(types: &Types, ty: TypeId) -> bool {
    matches!(types.get(ty), Type::Struct(_) | Type::Array { .. } | Type::Matrix { .. })
}

/// The moves that a value of a type is split into.
///
/// # Errors
/// Returns an error if the type cannot be moved.
pub fn moves(types: &Types, ty: TypeId) -> Result<Moves, Unmovable> {
    let mut moves = Moves::default();
    add(types, ty, 1, &mut moves)?;
    Ok(moves)
}

/// Adds `times` values of a type.
fn add(types: &Types, ty: TypeId, times: u32, moves: &mut Moves) -> Result<(), Unmovable> {
    match types.get(ty) {
        Type::Scalar(scalar) | Type::Vector { scalar, .. } => add_leaves(scalar, times, moves),
        Type::Matrix { scalar, columns, .. } => add_leaves(scalar, times.saturating_mul(columns.into()), moves),
        Type::Array { element, len: ArrayLen::Fixed(len), .. } => add(types, element, times.saturating_mul(len), moves),
        Type::Array { .. } => Err(Unmovable::Length),
        Type::Struct(id) => add_members(types, id, times, moves),
        Type::BufferReference { .. } | Type::Pointer { .. } => Err(Unmovable::Address),
        _ => Err(Unmovable::Opaque),
    }
}

fn add_members(types: &Types, id: StructId, times: u32, moves: &mut Moves) -> Result<(), Unmovable> {
    types.structs[id].members.iter().try_for_each(|member| add(types, member.ty, times, moves))
}

fn add_leaves(scalar: Scalar, times: u32, moves: &mut Moves) -> Result<(), Unmovable> {
    if scalar.encoding().is_some() {
        return Err(Unmovable::Encoded);
    }
    moves.count = moves.count.saturating_add(times);
    if !moves.scalars.contains(&scalar) {
        moves.scalars.push(scalar);
    }
    if moves.count > MOST_MOVES { Err(Unmovable::TooMany) } else { Ok(()) }
}

/// Parts of a type that [`moves`] accepts.
fn part_count(types: &Types, ty: TypeId) -> u32 {
    match types.get(ty) {
        Type::Struct(id) => types.structs[id].members.len() as u32,
        Type::Array { len: ArrayLen::Fixed(len), .. } => len,
        Type::Matrix { columns, .. } => columns.into(),
        _ => 0,
    }
}

impl Builder<'_> {
    /// A move of a value of any type that [`moves`] accepts: its parts, then combined again.
    pub fn lane_move(&mut self, op: LaneOp, ty: TypeId, args: &[Value]) -> Value {
        if !is_whole(&self.module.types, ty) {
            return self.lane(op, ty, args);
        }
        let mut parts: SmallVec<[Value; 8]> = SmallVec::new();
        for index in 0..part_count(&self.module.types, ty) {
            let mut operands: SmallVec<[Value; 4]> = SmallVec::from_slice(args);
            for operand in operands.iter_mut().take(op.signature().moved()) {
                *operand = self.extract(*operand, index);
            }
            let part = self.type_of(operands[0]);
            parts.push(self.lane_move(op, part, &operands));
        }
        self.construct(ty, &parts)
    }
}
