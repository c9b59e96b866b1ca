//! Pipeline stages, and their settings for the primitives that pass through them.

use super::{BuiltIn, Interpolation, Space};
use serde::Deserialize;

/// Pipeline stage of an entry point.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Deserialize)]
pub enum Stage {
    Vertex,
    Fragment,
    Compute,
    Geometry,
    TessControl,
    TessEvaluation,
    Task,
    Mesh,
    RayGeneration,
    Intersection,
    AnyHit,
    ClosestHit,
    Miss,
    Callable,
}

/// The names of a stage.
struct StageRow {
    stage: Stage,
    /// In messages.
    name: &'static str,
    /// File extension and short name.
    ending: &'static str,
    /// In `#pragma shader_stage(…)` and options.
    word: &'static str,
}

const ROWS: [StageRow; Stage::ALL.len()] = [
    StageRow { stage: Stage::Vertex, name: "vertex", ending: "vert", word: "vertex" },
    StageRow { stage: Stage::Fragment, name: "fragment", ending: "frag", word: "fragment" },
    StageRow { stage: Stage::Compute, name: "compute", ending: "comp", word: "compute" },
    StageRow { stage: Stage::Geometry, name: "geometry", ending: "geom", word: "geometry" },
    StageRow { stage: Stage::TessControl, name: "tessellation control", ending: "tesc", word: "tesscontrol" },
    StageRow { stage: Stage::TessEvaluation, name: "tessellation evaluation", ending: "tese", word: "tesseval" },
    StageRow { stage: Stage::Task, name: "task", ending: "task", word: "task" },
    StageRow { stage: Stage::Mesh, name: "mesh", ending: "mesh", word: "mesh" },
    StageRow { stage: Stage::RayGeneration, name: "ray generation", ending: "rgen", word: "raygen" },
    StageRow { stage: Stage::Intersection, name: "intersection", ending: "rint", word: "intersection" },
    StageRow { stage: Stage::AnyHit, name: "any-hit", ending: "rahit", word: "anyhit" },
    StageRow { stage: Stage::ClosestHit, name: "closest-hit", ending: "rchit", word: "closesthit" },
    StageRow { stage: Stage::Miss, name: "miss", ending: "rmiss", word: "miss" },
    StageRow { stage: Stage::Callable, name: "callable", ending: "rcall", word: "callable" },
];

impl Stage {
    /// Every stage, in the order of the numbers that they have as variants.
    pub const ALL: [Stage; 14] = [
        Stage::Vertex,
        Stage::Fragment,
        Stage::Compute,
        Stage::Geometry,
        Stage::TessControl,
        Stage::TessEvaluation,
        Stage::Task,
        Stage::Mesh,
        Stage::RayGeneration,
        Stage::Intersection,
        Stage::AnyHit,
        Stage::ClosestHit,
        Stage::Miss,
        Stage::Callable,
    ];

    /// Its name in messages.
    pub const fn name(self) -> &'static str {
        ROWS[self as usize].name
    }

    /// Its file extension, without the dot.
    pub const fn ending(self) -> &'static str {
        ROWS[self as usize].ending
    }

    /// Its name in `#pragma shader_stage(…)` and in options.
    pub const fn word(self) -> &'static str {
        ROWS[self as usize].word
    }

    /// The stage of this [`Stage::word`] or [`Stage::ending`].
    pub fn named(word: &str) -> Option<Stage> {
        ROWS.iter().find(|row| row.word == word || row.ending == word).map(|row| row.stage)
    }

    /// Returns true if invocations form workgroups, whose size the shader declares.
    pub const fn has_workgroups(self) -> bool {
        matches!(self, Stage::Compute | Stage::Task | Stage::Mesh)
    }

    /// Returns true if it is of ray tracing pipelines.
    pub const fn is_of_rays(self) -> bool {
        self as usize >= Stage::RayGeneration as usize
    }

    /// Returns true if an invocation may continue in another subgroup or lane after it calls a shader (Vulkan 1.3
    /// section "Shader Call Instructions"). Any-hit shaders call none.
    pub const fn changes_lanes(self) -> bool {
        self.is_of_rays() && !matches!(self, Stage::AnyHit)
    }

    /// Returns true if shaders have inputs or outputs in this space.
    pub const fn has_ports(self, space: Space) -> bool {
        match self {
            Stage::Mesh => matches!(space, Space::Output),
            Stage::Vertex | Stage::Fragment | Stage::Geometry | Stage::TessControl | Stage::TessEvaluation => true,
            _ => false,
        }
    }

    /// Returns true if its inputs or outputs in this space are passed to or from another stage.
    pub const fn passes(self, space: Space) -> bool {
        match self {
            Stage::Vertex | Stage::Mesh => matches!(space, Space::Output),
            Stage::Fragment => matches!(space, Space::Input),
            Stage::Geometry | Stage::TessControl | Stage::TessEvaluation => true,
            _ => false,
        }
    }

    /// The owners of an input's or output's values, with one array element each; `None` if the invocation is the only
    /// owner.
    pub const fn crowd(self, space: Space, interpolation: Interpolation) -> Option<Crowd> {
        match (self, space, interpolation) {
            (Stage::Fragment, Space::Input, Interpolation::PerVertex) => Some(Crowd::Corners),
            (Stage::Geometry, Space::Input, _) => Some(Crowd::InputVertices),
            (_, _, Interpolation::Patch) => None,
            (Stage::TessControl | Stage::TessEvaluation, Space::Input, _) => Some(Crowd::PatchVertices),
            (Stage::TessControl, Space::Output, _) => Some(Crowd::OutputVertices),
            (Stage::Mesh, Space::Output, Interpolation::PerPrimitive { .. }) => Some(Crowd::OutputPrimitives),
            (Stage::Mesh, Space::Output, _) => Some(Crowd::MeshVertices),
            _ => None,
        }
    }
}

/// The dimension of an array of stage inputs or outputs.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Crowd {
    /// The vertices of the triangle of a fragment.
    Corners,
    /// The vertices of a geometry shader's input primitive.
    InputVertices,
    /// The maximum number of vertices in a patch.
    PatchVertices,
    /// The vertices that the shader assigns.
    OutputVertices,
    /// The vertices and the primitives that a mesh shader assigns at most, and the vertices of all these primitives.
    MeshVertices,
    OutputPrimitives,
    PrimitiveVertices,
}

impl BuiltIn {
    /// The owners of the elements of a built-in array, unless there is one element per block.
    pub const fn crowd(self) -> Option<Crowd> {
        use BuiltIn as B;
        match self {
            B::PrimitivePointIndices | B::PrimitiveLineIndices | B::PrimitiveTriangleIndices => {
                Some(Crowd::OutputPrimitives)
            }
            B::PrimitiveIndicesNv => Some(Crowd::PrimitiveVertices),
            _ => None,
        }
    }
}

/// A shader's input or output primitives and their tessellation, as SPIR-V's execution modes (section 3.6).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum PrimitiveMode {
    InputPoints,
    InputLines,
    InputLinesAdjacency,
    /// Taken in by geometry shaders, and the domain of tessellation.
    Triangles,
    InputTrianglesAdjacency,
    Quads,
    Isolines,
    Invocations(u32),
    OutputPoints,
    OutputLineStrip,
    OutputTriangleStrip,
    OutputLines,
    OutputTriangles,
    /// The maximum number of vertices that a geometry or mesh shader writes, or the number of vertices in a patch.
    OutputVertices(u32),
    /// The maximum number of primitives that a mesh shader writes.
    OutputPrimitives(u32),
    SpacingEqual,
    SpacingFractionalEven,
    SpacingFractionalOdd,
    VertexOrderCw,
    VertexOrderCcw,
    PointMode,
}

impl PrimitiveMode {
    /// Vertices per primitive of geometry shader inputs or mesh shader outputs.
    pub const fn vertices(self) -> Option<u32> {
        Some(match self {
            PrimitiveMode::InputPoints | PrimitiveMode::OutputPoints => 1,
            PrimitiveMode::InputLines | PrimitiveMode::OutputLines => 2,
            PrimitiveMode::Triangles | PrimitiveMode::OutputTriangles => 3,
            PrimitiveMode::InputLinesAdjacency => 4,
            PrimitiveMode::InputTrianglesAdjacency => 6,
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_in_the_order_of_stages() {
        for (stage, row) in Stage::ALL.into_iter().zip(&ROWS) {
            assert_eq!(stage, row.stage);
            assert_eq!(Stage::named(row.word), Some(stage));
            assert_eq!(Stage::named(stage.ending()), Some(stage));
        }
    }
}
