//! One draw into images: the stages, the vertices and the targets.

use std::ops::Range;

use crosslane::ir::Stage;
use serde::{Deserialize, Serialize};

use super::Image;

/// A stage of a draw.
#[derive(Debug, Clone, Copy)]
pub struct Shader<'a> {
    /// The SPIR-V module, one element per word.
    pub spirv: &'a [u32],
    /// The name of the entry point.
    pub entry: &'a str,
}

impl<'a> Shader<'a> {
    /// `main` of a module.
    pub fn new(spirv: &'a [u32]) -> Self {
        Self { spirv, entry: "main" }
    }
}

/// When a vertex input advances to its next value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Rate {
    /// At each vertex.
    Vertex,
    /// At each instance.
    Instance,
}

/// An input of the vertex stage.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attribute {
    /// The input's location.
    pub location: u32,
    /// The format of a value, as an [`Image`] names it.
    pub format: String,
    /// When the input advances.
    pub rate: Rate,
    /// The values.
    pub data: Vec<u8>,
}

/// How vertices form primitives.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Topology {
    /// A point each.
    Points,
    /// A line each two.
    Lines,
    /// A triangle each three.
    #[default]
    Triangles,
    /// Each vertex forms a triangle with the two before it.
    Strip,
    /// A line each four, with the vertices before and after it.
    Adjacent,
    /// Patches of this many vertices.
    Patches(u32),
}

/// One draw. Depths are tested (less or equal) and written if the target has a depth image; nothing is culled.
#[derive(Debug, Clone)]
pub struct Draw<'a> {
    /// The vertex stage; `None` if mesh shaders make the primitives.
    pub vertex: Option<Shader<'a>>,
    /// The fragment stage.
    pub fragment: Shader<'a>,
    /// The stages between them.
    pub between: Vec<(Stage, Shader<'a>)>,
    /// The inputs of the vertex stage.
    pub attributes: &'a [Attribute],
    /// How the vertices form primitives.
    pub topology: Topology,
    /// `gl_VertexIndex`.
    pub vertices: Range<u32>,
    /// `gl_InstanceIndex`.
    pub instances: Range<u32>,
    /// Workgroups of the task or mesh stage to start, if there is no vertex stage.
    pub meshes: [u32; 3],
    /// The push-constant block of both stages, from offset 0; a multiple of four bytes.
    pub push_constants: &'a [u8],
    /// Specialization constants of both stages: the `SpecId` and the 32 bits of the value.
    pub spec_constants: &'a [(u32, u32)],
    /// Multiplies the target by the fragment's second source (`layout(index = 1)`) and adds the first.
    pub dual_source: bool,
}

impl<'a> Draw<'a> {
    /// The stages, in pipeline order.
    pub fn shaders(&self) -> impl Iterator<Item = (Stage, Shader<'a>)> {
        let first = self.vertex.map(|vertex| (Stage::Vertex, vertex)).into_iter();
        first.chain(self.between.iter().copied()).chain([(Stage::Fragment, self.fragment)])
    }
}

/// The images drawn into: all with the same size, number of layers and number of samples.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Target {
    /// The colours by location.
    pub colors: Vec<Image>,
    /// The depths.
    pub depth: Option<Image>,
    /// Draws once into each layer (`gl_ViewIndex`); otherwise the vertex stage chooses it (`gl_Layer`).
    pub multiview: bool,
}

impl Target {
    /// All images, colours first.
    pub fn images(&self) -> impl Iterator<Item = &Image> {
        self.colors.iter().chain(&self.depth)
    }

    /// All images, mutable.
    pub fn images_mut(&mut self) -> impl Iterator<Item = &mut Image> {
        self.colors.iter_mut().chain(&mut self.depth)
    }
}
