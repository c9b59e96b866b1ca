//! The unit that runs an operation, and its implicit reads and writes.
//!
//! The prefix of a mnemonic determines the unit. Source of the effects: the instruction descriptions in AMD's GCN 3,
//! RDNA 2 and RDNA 3 ISA guides.

use super::machine::{Effects, Specials};
use super::mnemonic::{Generation, Operation};

/// The unit that runs an operation.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Unit {
    Scalar,
    /// Loads of the scalar unit: they arrive in any order.
    ScalarMemory,
    Vector,
    /// The slower part of the vector unit: reciprocals, roots, exponentials and so on.
    Transcendental,
    /// Workgroup memory and its crossbar.
    Lds,
    /// Buffers and scratch.
    Memory,
    /// Branches, barriers, waiting, the end.
    Control,
}

/// The generations in which to look up a name.
const GENERATIONS: [Generation; 6] =
    [Generation::Gcn1, Generation::Gcn3, Generation::Vega, Generation::Rdna1, Generation::Rdna3, Generation::Rdna4];

impl Operation {
    /// Its name in the first generation that has it.
    fn first_name(self) -> &'static str {
        GENERATIONS.iter().find_map(|generation| self.spelling(*generation)).map_or("", |spelling| spelling.name)
    }

    pub fn unit(self) -> Unit {
        use Operation as O;
        let name = self.first_name();
        match self {
            O::RcpF32 | O::RsqF32 | O::SqrtF32 | O::ExpF32 | O::LogF32 | O::SinF32 | O::CosF32 => Unit::Transcendental,
            O::RcpF64 | O::RsqF64 => Unit::Transcendental,
            O::Barrier | O::BarrierSignal | O::BarrierWait | O::Nop | O::Clause | O::End => Unit::Control,
            _ if self.ends_block() => Unit::Control,
            _ if name.starts_with("v_") => Unit::Vector,
            _ if name.starts_with("ds") => Unit::Lds,
            _ if name.starts_with("s_load") => Unit::ScalarMemory,
            _ if name.starts_with("s_wait") => Unit::Control,
            _ if name.starts_with("s_") => Unit::Scalar,
            _ => Unit::Memory,
        }
    }

    /// Returns true if it only reads buffers or scratch.
    pub const fn is_load(self) -> bool {
        use Operation as O;
        matches!(self, O::LoadU8 | O::LoadI8 | O::LoadU16 | O::LoadI16 | O::Load32 | O::Load64 | O::Load96 | O::Load128)
            || matches!(self, O::LoadTexel | O::ImageLoad | O::ImageLoadLevel | O::ImageSize)
            || self.takes_sampler()
    }

    /// Returns true if it reads a texture through a sampler.
    pub const fn takes_sampler(self) -> bool {
        matches!(self, Operation::ImageSample | Operation::ImageGather)
    }

    /// Returns true if it only reads workgroup memory.
    pub const fn is_shared_load(self) -> bool {
        use Operation as O;
        matches!(self, O::LdsReadU8 | O::LdsReadU16 | O::LdsRead | O::LdsRead64 | O::LdsRead128)
            || matches!(self, O::LdsReadTwo | O::LdsReadTwo64)
    }

    /// Returns true if it is a read-modify-write of buffers.
    pub fn is_atomic(self) -> bool {
        let name = self.first_name();
        name.starts_with("atomic_") || name.starts_with("image_atomic_")
    }

    /// Returns true if it only occurs at the end of a block.
    pub const fn ends_block(self) -> bool {
        use Operation as O;
        let on_condition = matches!(self, O::BranchScc0 | O::BranchScc1 | O::BranchVccZero | O::BranchVccSome);
        on_condition || matches!(self, O::Branch | O::BranchExecZero | O::BranchExecSome | O::End)
    }

    /// Returns true if nothing after it runs.
    pub const fn is_final(self) -> bool {
        matches!(self, Operation::Branch | Operation::End)
    }

    /// Special registers that it reads and writes implicitly.
    pub fn effects(self) -> Effects {
        let (reads, writes) = match self.unit() {
            Unit::Vector if self.ignores_exec() => (Specials::empty(), Specials::empty()),
            Unit::Vector if self.takes_vcc() => (Specials::EXEC | Specials::VCC, Specials::empty()),
            Unit::Vector if self == Operation::CompareExec => (Specials::EXEC, Specials::EXEC),
            // Before gfx9 M0 is the limit of addresses in workgroup memory.
            Unit::Lds => (Specials::EXEC | Specials::M0, Specials::empty()),
            Unit::Vector | Unit::Transcendental | Unit::Memory => (Specials::EXEC, Specials::empty()),
            Unit::Scalar => self.scalar_effects(),
            Unit::Control => (self.tested(), Specials::empty()),
            Unit::ScalarMemory => (Specials::empty(), Specials::empty()),
        };
        Effects { reads, writes }
    }

    /// Returns true if it works on single lanes, active or not.
    const fn ignores_exec(self) -> bool {
        matches!(self, Operation::ReadLane | Operation::WriteLane)
    }

    /// Returns true if it reads VCC without naming it.
    const fn takes_vcc(self) -> bool {
        matches!(self, Operation::DivFmasF32 | Operation::DivFmasF64)
    }

    /// The special registers that a branch tests.
    const fn tested(self) -> Specials {
        use Operation as O;
        match self {
            O::BranchScc0 | O::BranchScc1 => Specials::SCC,
            O::BranchVccZero | O::BranchVccSome => Specials::VCC,
            O::BranchExecZero | O::BranchExecSome => Specials::EXEC,
            _ => Specials::empty(),
        }
    }

    /// Returns true for scalar float arithmetic and conversions, which do not change the condition code (RDNA 3.5 ISA,
    /// "SOP2 Instructions", "SOP1 Instructions").
    pub const fn is_scalar_float(self) -> bool {
        use Operation as O;
        matches!(self, O::ScalarAddF32 | O::ScalarSubF32 | O::ScalarMulF32 | O::ScalarFmacF32)
            || matches!(self, O::ScalarMinF32 | O::ScalarMaxF32 | O::ScalarConvert)
            || matches!(self, O::ScalarFloorF32 | O::ScalarCeilF32 | O::ScalarTruncF32 | O::ScalarRoundF32)
    }

    fn scalar_effects(self) -> (Specials, Specials) {
        use Operation as O;
        let none = Specials::empty();
        match self {
            O::SaveExecOr | O::SaveExecOr64 | O::SaveExecAnd | O::SaveExecAnd64 => {
                (Specials::EXEC, Specials::EXEC | Specials::SCC)
            }
            O::ScalarSelect | O::ScalarSelect64 => (Specials::SCC, none),
            O::ScalarAddCarryIn | O::ScalarSubCarryIn => (Specials::SCC, Specials::SCC),
            O::ScalarMove | O::ScalarMove64 | O::ScalarMul | O::ScalarMulHiU32 | O::ScalarMulHiI32 => (none, none),
            operation if operation.is_scalar_float() => (none, none),
            O::ScalarFindLsb64 | O::ScalarLeadingZeros64 => (none, none),
            O::ScalarReverse | O::ScalarSignBits | O::ScalarFindLsb | O::ScalarLeadingZeros => (none, none),
            _ => (none, Specials::SCC),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn units_and_effects() {
        assert_eq!(Operation::LoadScalar64.unit(), Unit::ScalarMemory);
        assert_eq!(Operation::Load128.unit(), Unit::Memory);
        assert_eq!(Operation::LdsAtomic.unit(), Unit::Lds);
        assert_eq!(Operation::RcpF32.unit(), Unit::Transcendental);
        assert_eq!(Operation::ScalarAnd64.effects().writes, Specials::SCC);
        assert_eq!(Operation::ScalarMove.effects().writes, Specials::empty());
        assert_eq!(Operation::SaveExecAnd64.effects().writes, Specials::EXEC | Specials::SCC);
        assert_eq!(Operation::BranchExecZero.effects().reads, Specials::EXEC);
        assert_eq!(Operation::AddF32.effects().reads, Specials::EXEC);
        assert_eq!(Operation::Swizzle.effects().reads, Specials::EXEC | Specials::M0);
    }
}
