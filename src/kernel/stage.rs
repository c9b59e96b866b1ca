//! The inputs and outputs of a vertex or fragment shader, word by word.

use super::{Kernel, Ty};
use crate::ir::{self, BuiltIn, Interpolation, Sampling};
use crate::source::Span;
use serde::Deserialize;

/// The pipeline stages that have kernels.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
pub enum Stage {
    Vertex,
    Fragment,
    Compute,
}

impl Stage {
    /// The stage of an entry point, if it has kernels.
    pub const fn of(stage: ir::Stage) -> Option<Stage> {
        Some(match stage {
            ir::Stage::Vertex => Stage::Vertex,
            ir::Stage::Fragment => Stage::Fragment,
            ir::Stage::Compute => Stage::Compute,
            _ => return None,
        })
    }

    /// The corresponding pipeline stage.
    pub const fn of_pipeline(self) -> ir::Stage {
        match self {
            Stage::Vertex => ir::Stage::Vertex,
            Stage::Fragment => ir::Stage::Fragment,
            Stage::Compute => ir::Stage::Compute,
        }
    }

    /// Its name in messages.
    pub const fn name(self) -> &'static str {
        self.of_pipeline().name()
    }
}

/// The source of an input or the destination of an output.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Site {
    Location(u32),
    /// The second source for blending the colour of a location.
    SecondSource(u32),
    BuiltIn(BuiltIn),
}

impl Site {
    /// The second source of a location.
    pub const fn second(self) -> Site {
        match self {
            Site::Location(location) => Site::SecondSource(location),
            other => other,
        }
    }
}

/// A location that is read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Input {
    pub name: Box<str>,
    pub location: u32,
    /// True for 64-bit components: a vertex attribute whose whole vector is at one location.
    pub wide: bool,
    pub interpolation: Interpolation,
    pub sampling: Sampling,
    pub span: Span,
}

impl Input {
    /// The type of a component.
    pub const fn component(&self) -> Ty {
        if self.wide { Ty::B64 } else { Ty::B32 }
    }
}

/// A written output.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Output {
    pub name: Box<str>,
    pub site: Site,
    pub span: Span,
}

impl Kernel {
    /// The input at a location.
    pub fn input(&self, location: u32) -> Option<&Input> {
        let found = self.inputs.binary_search_by_key(&location, |input| input.location);
        found.ok().map(|at| &self.inputs[at])
    }

    /// The output at a site.
    pub fn output(&self, site: Site) -> Option<&Output> {
        let found = self.outputs.binary_search_by_key(&site, |output| output.site);
        found.ok().map(|at| &self.outputs[at])
    }
}

/// Distances to planes that clip, to planes that cull, and to both together.
pub const DISTANCES: u8 = 8;

/// Type and number of a built-in input's components; `None` if it is not an input of a kernel, or is computed from
/// others.
pub const fn built_in_input(built_in: BuiltIn) -> Option<(Ty, u8)> {
    use BuiltIn as B;
    Some(match built_in {
        B::WorkgroupId | B::NumWorkgroups | B::LocalInvocationId => (Ty::B32, 3),
        B::LocalInvocationIndex | B::SubgroupId | B::NumSubgroups => (Ty::B32, 1),
        B::WarpIdNv | B::SmIdNv | B::WarpsPerSmNv | B::SmCountNv => (Ty::B32, 1),
        B::FragCoord => (Ty::B32, 4),
        B::PointCoord | B::SamplePosition => (Ty::B32, 2),
        B::FrontFacing | B::HelperInvocation => (Ty::Bool, 1),
        B::SampleId | B::SampleMask | B::PrimitiveId => (Ty::B32, 1),
        B::VertexIndex | B::InstanceIndex | B::BaseVertex | B::BaseInstance | B::DrawIndex => (Ty::B32, 1),
        B::Layer | B::ViewportIndex => (Ty::B32, 1),
        B::ClipDistance | B::CullDistance => (Ty::B32, DISTANCES),
        _ => return None,
    })
}

/// Returns true if a built-in input belongs to a stage.
pub const fn belongs(built_in: BuiltIn, stage: Stage) -> bool {
    use BuiltIn as B;
    match built_in {
        B::WarpIdNv | B::SmIdNv | B::WarpsPerSmNv | B::SmCountNv => true,
        B::FragCoord | B::PointCoord | B::FrontFacing | B::HelperInvocation => matches!(stage, Stage::Fragment),
        B::SampleId | B::SamplePosition | B::SampleMask | B::PrimitiveId => matches!(stage, Stage::Fragment),
        B::Layer | B::ViewportIndex => matches!(stage, Stage::Fragment),
        B::ClipDistance | B::CullDistance => matches!(stage, Stage::Fragment),
        B::VertexIndex | B::InstanceIndex => matches!(stage, Stage::Vertex),
        B::BaseVertex | B::BaseInstance | B::DrawIndex => matches!(stage, Stage::Vertex),
        _ => matches!(stage, Stage::Compute),
    }
}
