//! The cross-lane instructions of hardware: every move, reduction and vote that is a single instruction on some target.
//!
//! One file per family of instructions. Each has its exact lane map ([`Instruction::source`]), its result in lanes
//! without a source ([`Source`]), the features that it needs, and, if planners search for it, a solver that finds its
//! parameters for a wanted [`LaneMap`]. The planner, the checker and the simulator share these maps. This module does
//! not contain target syntax; costs are in the profiles ([`crate::profile::cost`]).
//!
//! Operands of a move: the moved value; the old value of the destination if the instruction may keep it; then its index
//! operands. A constant parameter is part of the primitive.

pub mod amd_dpp;
pub mod amd_lds;
pub mod amd_permlane;
pub mod amd_scalar;
pub mod fusion;
pub mod group;
pub mod map;
pub mod nv;

#[cfg(test)]
mod tests;

pub use amd_dpp::{Dpp8, Dpp16, DppControl};
pub use amd_lds::{LdsOp, Reach, Swizzle};
pub use amd_permlane::{Fetch, PermlaneOp};
pub use amd_scalar::ScalarOp;
pub use group::{GroupOp, GroupReduce};
pub use map::{Arg, LaneMap, Move};
pub use nv::NvOp;

use super::value::Lanes;
use crate::profile::{CostClass, Feature, FeatureSet, Profile};

/// One cross-lane instruction, including its constant parameters; run-time parameters are operands of the step.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Primitive {
    /// The portable subgroup instructions.
    Group(GroupOp),
    /// NVIDIA: shuffles, quad swizzles, votes.
    Nv(NvOp),
    /// AMD: data-parallel primitives over rows of 16 lanes, on an operand of an arithmetic instruction or of a move.
    Dpp16(Dpp16),
    /// AMD: the same over groups of 8 lanes.
    Dpp8(Dpp8),
    /// AMD: moves through the crossbar of the local data share.
    Lds(LdsOp),
    /// AMD: moves between and inside rows by the vector unit.
    Permlane(PermlaneOp),
    /// AMD: between vector lanes and scalar registers, and masks of lanes.
    Scalar(ScalarOp),
}

/// The source of a move's result in one lane.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Source {
    /// The moved operand of this lane.
    Lane(u32),
    /// The lane is not written: the old contents of the destination.
    Old,
    /// Zero.
    Zero,
    /// The lane's own moved operand, because its source is out of range.
    Own,
    /// Any bits.
    Undefined,
}

/// The values of an index operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Index<'a> {
    /// Uniform: one value in all lanes.
    Uniform(u32),
    /// One per lane.
    Row(&'a [u32]),
}

impl Index<'_> {
    /// Its value in one lane; 0 for a lane without one.
    pub fn at(self, lane: u32) -> u32 {
        match self {
            Index::Uniform(value) => value,
            Index::Row(row) => row.get(lane as usize).copied().unwrap_or(0),
        }
    }
}

/// The interface that all families of primitives share.
pub trait Instruction {
    /// The features that the profile must have, all of them.
    fn needs(&self) -> FeatureSet;

    /// Returns true if parameters are in range and right for waves of `size` lanes on hardware with these features.
    fn fits(&self, size: u32, features: FeatureSet) -> bool {
        let _ = (size, features);
        true
    }

    /// How many index operands follow the values.
    fn index_operands(&self) -> usize {
        0
    }

    /// Returns true if the index operands must be the same in all active lanes, because they are scalar registers.
    fn index_is_uniform(&self) -> bool {
        false
    }

    /// Returns true if the value must be the same in all active lanes, for the same reason.
    fn value_is_uniform(&self) -> bool {
        false
    }

    /// The source of lane `i`; `None` if the instruction does not move values.
    fn source(&self, i: u32, index: &[Index], lanes: Lanes) -> Option<Source>;

    /// The class of its cost; `None` for instructions without a cost.
    fn cost_class(&self) -> Option<CostClass>;
}

impl Primitive {
    /// The family's answers.
    pub fn instruction(&self) -> &dyn Instruction {
        match self {
            Primitive::Group(op) => op,
            Primitive::Nv(op) => op,
            Primitive::Dpp16(op) => op,
            Primitive::Dpp8(op) => op,
            Primitive::Lds(op) => op,
            Primitive::Permlane(op) => op,
            Primitive::Scalar(op) => op,
        }
    }

    /// Returns true if an instruction with these parameters exists for waves of `size` lanes on hardware with these
    /// features.
    pub fn exists(&self, size: u32, features: FeatureSet) -> bool {
        let instruction = self.instruction();
        features.has_all(instruction.needs()) && instruction.fits(size, features)
    }

    /// Returns true if a profile has it. If the subgroup size is unknown, the features decide.
    pub fn is_legal(&self, profile: &Profile) -> bool {
        match profile.wave_size {
            Some(size) => self.exists(size, profile.features),
            None => profile.features.has_all(self.instruction().needs()),
        }
    }

    /// Returns true if an arithmetic instruction can take the moved value as its operand; [`fusion`] lists these
    /// instructions.
    pub fn fuses(&self) -> bool {
        matches!(self, Primitive::Dpp16(_) | Primitive::Dpp8(_) | Primitive::Nv(NvOp::QuadSwizzle(_)))
    }

    /// Returns true if it only waits for the active lanes and has no result.
    pub const fn is_sync(self) -> bool {
        matches!(self, Primitive::Group(GroupOp::Sync) | Primitive::Nv(NvOp::Sync))
    }

    /// Returns true if it copies values between lanes, and therefore has a lane map.
    pub fn moves_values(&self) -> bool {
        let instruction = self.instruction();
        let index = [Index::Uniform(0); 2];
        instruction.source(0, &index[..instruction.index_operands()], Lanes::full(64)).is_some()
    }

    /// Returns true if it moves 64 bits at once on a profile (64-bit DPP exists only with `row_newbcast`; CDNA 3 ISA,
    /// DPP).
    pub fn moves_64_bits(&self, profile: &Profile) -> bool {
        let broadcasts = matches!(self, Primitive::Dpp16(Dpp16 { control: DppControl::RowNewBcast(_), .. }));
        broadcasts && profile.has(Feature::AmdDpp64)
    }
}

macro_rules! from_family {
    ($($family:ident($op:ident)),+ $(,)?) => {
        $(impl From<$op> for Primitive {
            fn from(op: $op) -> Primitive {
                Primitive::$family(op)
            }
        })+
    };
}

from_family!(Group(GroupOp), Nv(NvOp), Dpp16(Dpp16), Dpp8(Dpp8), Lds(LdsOp), Permlane(PermlaneOp), Scalar(ScalarOp),);
