//! The facts about stage inputs, mainly invocation indices. Invocations are counted along x, then y, then z, and a
//! subgroup has consecutive ones, as in all drivers that fill their subgroups.

use super::Work;
use super::fact::{Alike, Fact};
use crate::ir::{Binding, BuiltIn, GlobalId, Interpolation, Stage};

impl Work<'_> {
    /// The facts about a stage input.
    pub fn input(&self, id: GlobalId) -> Fact {
        match self.module.globals[id].binding {
            Binding::BuiltIn(built_in) => self.built_in(built_in),
            // A quad belongs to one triangle.
            Binding::Location { interpolation: Interpolation::Flat, .. } if self.stage == Stage::Fragment => quad(),
            _ => Fact::LANE,
        }
    }

    fn built_in(&self, built_in: BuiltIn) -> Fact {
        use BuiltIn as B;
        match built_in {
            B::NumWorkgroups | B::WorkgroupId | B::NumSubgroups | B::DeviceIndex | B::DrawIndex => Fact::PLAIN,
            B::SmIdNv | B::WarpsPerSmNv | B::SmCountNv => Fact::PLAIN,
            B::SubgroupId | B::WarpIdNv => Fact::new(Alike::of(Alike::WHOLE)),
            B::LocalInvocationIndex => Fact::index(7),
            B::LocalInvocationId | B::GlobalInvocationId => Fact { whole: Some(built_in), ..Fact::LANE },
            B::FrontFacing | B::PrimitiveId | B::Layer | B::ViewportIndex | B::ViewIndex
                if self.stage == Stage::Fragment =>
            {
                quad()
            }
            _ => Fact::LANE,
        }
    }

    /// The facts about a component of such a vector.
    pub fn component(&self, whole: BuiltIn, n: u8) -> Fact {
        if self.group[usize::from(n).min(2)] == Some(1) {
            return Fact::PLAIN;
        }
        let row: Option<u32> = self.group[..usize::from(n).min(3)].iter().copied().product();
        let fact = match (n, row) {
            (0, _) => Fact::index(self.index_bits()),
            (_, Some(row)) => Fact::new(Alike::of(row.trailing_zeros().min(7) as u8)),
            (_, None) => Fact::LANE,
        };
        let own = self.group[usize::from(n).min(2)].map_or(0, |size| size.trailing_zeros().min(7) as u8);
        let index = if whole == BuiltIn::GlobalInvocationId { fact.index.min(own) } else { fact.index };
        Fact { index, ..fact }
    }

    /// The number of low bits of the x index that equal the lane index.
    fn index_bits(&self) -> u8 {
        match self.group {
            [_, Some(1), Some(1)] => 7,
            [Some(x), ..] => x.trailing_zeros().min(7) as u8,
            _ => 0,
        }
    }
}

fn quad() -> Fact {
    Fact::new(Alike::of(2))
}
