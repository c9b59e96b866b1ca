//! The typed, structured form between front ends and targets.
//!
//! A [`Module`] owns types, constants, variables and functions in arenas, which handles refer to. Function bodies are
//! lists of instructions in nested blocks ([`Op`]); cross-lane operations are ordinary instructions. The form does not
//! depend on a language or a target: front ends create it, `lane` plans its lane operations, targets read it.

pub mod arena;
pub mod build;
pub mod by_name;
pub mod calls;
pub mod clip;
pub mod constant;
pub mod converge_switches;
pub mod cooperative;
pub mod depth;
pub mod derived;
pub(crate) mod flow;
pub mod fold;
pub mod foreign;
pub mod format;
mod fp_contract;
pub mod image;
pub mod inline;
pub mod layout;
pub mod link;
pub mod name;
pub mod op;
pub mod optimize;
pub(crate) mod plain;
pub mod print;
pub mod private;
mod promise;
pub mod propagate;
mod ray;
pub mod slice;
pub mod spanning;
pub mod splice;
mod stage;
pub mod types;
pub mod typing;
pub mod uniform;
pub mod unroll;
pub mod verify;
pub mod whole;

use crate::profile::WaveSize;
use crate::source::Span;
pub use arena::{Arena, Handle};
pub use build::Builder;
pub use clip::{ClipSpace, DepthRange};
pub use constant::{ConstId, ConstValue, Constant, Constants, SpecOp};
pub use cooperative::{CooperativeMatrix, Decoders, MatrixOp, MatrixRole, Reduced};
pub use foreign::{
    Foreign, ForeignDecoration, ForeignInstruction, ForeignMode, ForeignOperand, ForeignType, OperandKind, Passing,
    Requirements,
};
pub use fp_contract::{FpContract, can_contract};
pub use image::{BlockWindow, ImageOp, ImageParts};
pub use name::Name;
pub use op::{
    AtomicOp, BinaryOp, BlockId, Case, Cases, ControlHint, Ending, InstFlags, InstId, InterpolateAt, LocalId, MathFn,
    MemoryKinds, Op, Order, Scope, UnaryOp, Value, Values,
};
pub use ray::{RayModes, RayOp, RayOperand, RaySubject};
use serde::Deserialize;
use smallvec::SmallVec;
pub use stage::{Crowd, PrimitiveMode, Stage};
pub use types::{
    Access, ArrayLen, Encoding, Format, ImageDim, ImageType, MatrixLayout, Member, Scalar, ScalarKind, Space, Struct,
    Type, TypeId, Types,
};

pub type StructId = Handle<Struct>;
pub type GlobalId = Handle<Global>;
pub type FuncId = Handle<Function>;

/// Built-in inputs and outputs. GLSL's and WGSL's names differ; these are SPIR-V's (section 3.21, BuiltIn).
///
/// Lane index, subgroup size and lane masks are cross-lane operations ([`crate::lane::LaneOp`]) and not listed here.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Deserialize)]
pub enum BuiltIn {
    NumWorkgroups,
    WorkgroupId,
    LocalInvocationId,
    GlobalInvocationId,
    LocalInvocationIndex,
    NumSubgroups,
    SubgroupId,
    DeviceIndex,
    Position,
    PointSize,
    ClipDistance,
    CullDistance,
    VertexIndex,
    InstanceIndex,
    /// The number of the vertex as OpenGL counts it; its number of the instance is `InstanceId`.
    VertexId,
    BaseVertex,
    BaseInstance,
    DrawIndex,
    ViewIndex,
    Layer,
    ViewportIndex,
    FragCoord,
    PointCoord,
    FrontFacing,
    SampleId,
    SamplePosition,
    SampleMask,
    FragDepth,
    HelperInvocation,
    ShadingRate,
    PrimitiveShadingRate,
    BaryCoord,
    BaryCoordNoPerspective,
    PrimitiveId,
    InvocationId,
    TessLevelOuter,
    TessLevelInner,
    TessCoord,
    PatchVertices,
    FragSize,
    FragInvocationCount,
    FragStencilRef,
    PrimitivePointIndices,
    PrimitiveLineIndices,
    PrimitiveTriangleIndices,
    CullPrimitive,
    PrimitiveIndicesNv,
    PrimitiveCountNv,
    TaskCountNv,
    MeshViewCountNv,
    MeshViewIndicesNv,
    LaunchId,
    LaunchSize,
    InstanceId,
    InstanceCustomIndex,
    RayGeometryIndex,
    WorldRayOrigin,
    WorldRayDirection,
    ObjectRayOrigin,
    ObjectRayDirection,
    RayTmin,
    RayTmax,
    IncomingRayFlags,
    HitKind,
    ObjectToWorld,
    WorldToObject,
    HitTriangleVertexPositions,
    CullMask,
    /// SPV_NV_cluster_acceleration_structure.
    ClusterId,
    CurrentRayTime,
    ViewportMask,
    SecondaryPosition,
    SecondaryViewportMask,
    PositionPerView,
    ViewportMaskPerView,
    /// AMD's barycentric coordinates (SPV_AMD_shader_explicit_vertex_parameter).
    BaryCoordNoPerspAmd,
    BaryCoordNoPerspCentroidAmd,
    BaryCoordNoPerspSampleAmd,
    BaryCoordSmoothAmd,
    BaryCoordSmoothCentroidAmd,
    BaryCoordSmoothSampleAmd,
    BaryCoordPullModelAmd,
    /// True if the primitive covers the whole pixel (SPV_EXT_fragment_fully_covered).
    FullyCovered,
    CoreIdArm,
    CoreCountArm,
    CoreMaxIdArm,
    WarpIdArm,
    WarpMaxIdArm,
    WarpIdNv,
    SmIdNv,
    WarpsPerSmNv,
    SmCountNv,
}

/// How a fragment input is interpolated.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Deserialize)]
pub enum Interpolation {
    #[default]
    Perspective,
    Linear,
    Flat,
    /// No interpolation: an array of the values of the primitive's vertices.
    PerVertex,
    /// No interpolation: `interpolateAtVertexAMD` returns the value of a vertex.
    Explicit,
    /// No interpolation: the value that a mesh shader gave the primitive. NVIDIA's extension is a separate feature.
    PerPrimitive {
        nvidia: bool,
    },
    /// No interpolation: the value of a patch.
    Patch,
}

/// The position in a pixel at which a fragment input is sampled.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Deserialize)]
pub enum Sampling {
    #[default]
    Center,
    Centroid,
    Sample,
}

/// How a variable or member meets the outside.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Binding {
    #[default]
    None,
    Resource {
        set: u32,
        binding: u32,
    },
    /// A subpass input: a resource with the number of the attachment that it reads.
    Attachment {
        set: u32,
        binding: u32,
        index: u32,
    },
    /// A color attachment that the pixel is read from.
    Tile {
        location: u32,
    },
    /// A uniform outside blocks, at its location. Images and samplers also have a binding, which the program can
    /// change.
    Uniform {
        location: u32,
        binding: Option<u32>,
    },
    /// An atomic counter: the binding of its buffer, and its offset in bytes.
    Counter {
        binding: u32,
        offset: u32,
    },
    /// `None` if the members of a block have their own locations.
    Location {
        location: Option<u32>,
        component: u32,
        index: u32,
        interpolation: Interpolation,
        sampling: Sampling,
    },
    BuiltIn(BuiltIn),
}

impl BuiltIn {
    /// Returns true if a fragment shader gets it from the previous stage.
    pub const fn is_passed_on(self) -> bool {
        matches!(
            self,
            BuiltIn::FragCoord
                | BuiltIn::ClipDistance
                | BuiltIn::CullDistance
                | BuiltIn::Layer
                | BuiltIn::ViewportIndex
        )
    }
}

impl Binding {
    /// How an input or output is interpolated.
    pub const fn interpolation(self) -> Interpolation {
        match self {
            Binding::Location { interpolation, .. } => interpolation,
            _ => Interpolation::Perspective,
        }
    }

    /// The same binding with another sampling.
    #[must_use]
    pub const fn sampled(self, sampling: Sampling) -> Binding {
        match self {
            Binding::Location { location, component, index, interpolation, .. } => {
                Binding::Location { location, component, index, interpolation, sampling }
            }
            other => other,
        }
    }

    /// The same binding with another interpolation.
    #[must_use]
    pub const fn interpolated(self, interpolation: Interpolation) -> Binding {
        match self {
            Binding::Location { location, component, index, sampling, .. } => {
                Binding::Location { location, component, index, interpolation, sampling }
            }
            other => other,
        }
    }
}

/// A module-scope variable.
#[derive(Clone, Debug)]
pub struct Global {
    pub name: Name,
    pub span: Span,
    pub space: Space,
    /// Type of the memory, with a layout if the space has one.
    pub ty: TypeId,
    pub binding: Binding,
    pub access: Access,
    /// For `Private`, `Loose` and `Workgroup`; zero or none for the last.
    pub init: Option<ConstId>,
}

/// An output, or a member of a block of outputs, that the pipeline writes to a buffer for vertices.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Feedback {
    pub global: GlobalId,
    pub member: Option<u32>,
    /// Number of the buffer, and the stride between vertices in bytes.
    pub buffer: u32,
    pub stride: u32,
    /// Offset in the vertex, in bytes.
    pub offset: u32,
}

/// A resource of another stage of the program.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Other {
    pub set: u32,
    pub binding: u32,
    pub class: ResourceClass,
    /// Elements of an array; 1 for other types, or if the length is unknown.
    pub count: u32,
}

/// The kind of binding of a resource.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum ResourceClass {
    UniformBlock,
    StorageBlock,
    /// A texture without its sampler.
    Texture,
    SampledTexture,
    Image,
    Sampler,
    AccelerationStructure,
}

/// A parameter. `in` parameters are values; `out` and `inout` parameters are pointers into `Function` space, which the
/// caller fills and reads back.
#[derive(Clone, Debug)]
pub struct Param {
    pub name: Name,
    /// Where it is declared.
    pub span: Span,
    pub ty: TypeId,
    /// True for an `out` parameter, whose target is initially undefined.
    pub is_out: bool,
}

/// A variable of a function: memory in `Function` space.
#[derive(Clone, Debug)]
pub struct Local {
    pub name: Name,
    pub span: Span,
    /// The part of the source in which its name is visible; for outermost names, the function. `None` if the source
    /// does not declare it.
    pub scope: Span,
    pub ty: TypeId,
    /// True if it is a buffer reference and the only one to its memory.
    pub restrict: bool,
    /// Value at each entry of the *function*.
    pub init: Option<ConstId>,
}

/// One instruction. `ty` is `Types::VOID` if there is no result.
#[derive(Clone, Copy, Debug)]
pub struct Inst {
    pub op: Op,
    pub ty: TypeId,
    pub span: Span,
    pub flags: InstFlags,
}

/// Instructions in execution order; most blocks have few.
#[derive(Clone, Debug, Default)]
pub struct Block {
    pub insts: SmallVec<[InstId; 4]>,
}

/// A function; `blocks[body]` is its entry.
#[derive(Clone, Debug)]
pub struct Function {
    pub name: Name,
    pub span: Span,
    pub params: Vec<Param>,
    pub ret: TypeId,
    pub locals: Arena<Local>,
    pub insts: Arena<Inst>,
    pub blocks: Arena<Block>,
    pub operands: Vec<Value>,
    pub cases: Vec<Case>,
    pub body: BlockId,
}

impl Function {
    /// A function with an empty body.
    pub fn new(name: &str, span: Span, params: Vec<Param>, ret: TypeId) -> Function {
        let mut function = Function { name: name.into(), span, params, ..Function::bodiless(ret) };
        function.body = function.blocks.push(Block::default());
        function
    }

    /// A function without blocks: a placeholder while a body is built, and for code outside functions.
    pub(super) fn bodiless(ret: TypeId) -> Function {
        Function {
            name: Name::default(),
            span: Span::NONE,
            params: Vec::new(),
            ret,
            locals: Arena::new(),
            insts: Arena::new(),
            blocks: Arena::new(),
            operands: Vec::new(),
            cases: Vec::new(),
            body: BlockId::from_index(0),
        }
    }

    /// The operands of a list.
    pub fn values(&self, list: Values) -> &[Value] {
        &self.operands[list.start as usize..(list.start + list.len) as usize]
    }

    /// Adds a list of operands.
    pub fn list(&mut self, values: &[Value]) -> Values {
        let start = self.operands.len() as u32;
        self.operands.extend_from_slice(values);
        Values { start, len: values.len() as u32 }
    }

    /// The arms of a switch.
    pub fn arms(&self, cases: Cases) -> &[Case] {
        &self.cases[cases.start as usize..(cases.start + cases.len) as usize]
    }

    /// The nested blocks of an instruction.
    pub fn inner_blocks(&self, op: Op) -> SmallVec<[BlockId; 4]> {
        match op {
            Op::If { then, otherwise, .. } => SmallVec::from_slice(&[then, otherwise]),
            Op::Loop { body, continuing, .. } => SmallVec::from_slice(&[body, continuing]),
            Op::Switch { cases, .. } => self.arms(cases).iter().map(|arm| arm.body).collect(),
            _ => SmallVec::new(),
        }
    }
}

/// An entry point of a pipeline stage.
#[derive(Clone, Debug)]
pub struct EntryPoint {
    pub name: Name,
    pub stage: Stage,
    /// It has no parameters and no result; stage inputs and outputs are globals.
    pub function: FuncId,
    /// Invocations per workgroup in x, y, z: `u32` constants, possibly specialization constants. Only for stages with
    /// workgroups.
    pub workgroup_size: [ConstId; 3],
    /// The reconvergence that the source requests.
    pub reconvergence: Reconvergence,
    /// The invocations of a compute shader that form the quads of derivatives.
    pub derivatives: Option<DerivativeGroup>,
    /// Fragment only.
    pub fragment: FragmentModes,
    /// Geometry, tessellation and mesh only.
    pub primitives: Vec<PrimitiveMode>,
}

/// The invocations of a workgroup that form a quad (GL_KHR_compute_shader_derivatives).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum DerivativeGroup {
    /// Two by two in x and y.
    Quads,
    /// Four invocations with consecutive indices.
    Linear,
}

bitflags::bitflags! {
    /// The parts of a pixel.
    #[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
    pub struct PixelParts: u8 {
        const COLOR = 1;
        const DEPTH = 2;
        const STENCIL = 4;
    }
}

/// The modes of a fragment shader's tests.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct FragmentModes {
    /// Depth and stencil are tested before the shader runs.
    pub early_tests: bool,
    /// The parts of the pixel that are read without waiting for earlier fragments (SPV_EXT_shader_tile_image).
    pub non_coherent: PixelParts,
    /// How the written depth compares to the interpolated one; matters if the shader writes depth.
    pub depth: DepthPromise,
    /// The fragment at the origin is the lower left one.
    pub lower_left_origin: bool,
    /// Every quad starts with all its four invocations.
    pub full_quads: bool,
    /// Derivatives are the quad's as long as it is complete.
    pub quad_derivatives: bool,
    /// The input sample mask covers the samples that passed the tests.
    pub post_depth_coverage: bool,
    /// The written sample mask replaces the coverage; otherwise it can only reduce it
    /// (SPV_NV_sample_mask_override_coverage).
    pub override_coverage: bool,
    /// The tests run both before and after the shader.
    pub early_and_late_tests: bool,
    /// The exclusion and order of critical sections (GL_ARB_fragment_shader_interlock).
    pub interlock: Option<Interlock>,
}

/// The meaning of the layer that is written (GL_NV_viewport_array2, GL_NV_stereo_view_rendering).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct LayerModes {
    /// True if it is added to the viewport index.
    pub viewport_relative: bool,
    /// The offset added to it in the second view.
    pub secondary_offset: Option<u32>,
}

/// The exclusion that a fragment shader's critical sections have (GL_ARB_fragment_shader_interlock).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Interlock {
    /// Excludes invocations of the same sample, rather than the same pixel.
    pub of_sample: bool,
    /// In the order of the primitives.
    pub ordered: bool,
}

/// The exclusion if a shader states none.
impl Default for Interlock {
    fn default() -> Interlock {
        Interlock { of_sample: false, ordered: true }
    }
}

/// How the depth that a fragment shader writes compares to the interpolated one.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Deserialize)]
pub enum DepthPromise {
    #[default]
    Any,
    Greater,
    Less,
    Unchanged,
}

/// Guarantees about where invocations reconverge.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Reconvergence {
    #[default]
    Default,
    /// GL_EXT_subgroup_uniform_control_flow.
    SubgroupUniform,
    /// GL_EXT_maximal_reconvergence.
    Maximal,
}

/// A whole shader.
#[derive(Clone, Debug, Default)]
pub struct Module {
    pub types: Types,
    pub constants: Constants,
    pub globals: Arena<Global>,
    pub functions: Arena<Function>,
    pub entry_points: Vec<EntryPoint>,
    /// The format strings of [`Op::Print`].
    pub texts: Vec<Name>,
    /// The entities given by SPIR-V numbers.
    pub foreign: Foreign,
    /// The outputs that transform feedback captures.
    pub feedback: Vec<Feedback>,
    /// Outputs of geometry shaders that are not of the vertex stream 0.
    pub streams: Vec<(GlobalId, u32)>,
    /// Inputs of geometry shaders that pass through to the next stage, used or not.
    pub passed: Vec<GlobalId>,
    /// The base of the layer that a vertex shader writes.
    pub layer: LayerModes,
    pub rays: RayModes,
    /// Task and mesh shaders use SPV_NV_mesh_shader.
    pub nvidia_meshes: bool,
    /// The resources of the stages linked with this one.
    pub others: Vec<Other>,
    /// The tessellation control stage of the same program, which reads the vertices.
    pub control: Option<std::sync::Arc<Module>>,
    /// The subgroup sizes that the shader itself promises, and the line that does.
    pub promise: Option<(WaveSize, Span)>,
    /// Names of specialization constants by `constant_id`, for `--set NAME=V` and debug names.
    pub spec_names: Vec<(u32, Name)>,
}

impl Module {
    pub fn new() -> Module {
        Module::default()
    }

    /// The low 32 bits of a known integer.
    pub fn known_u32(&self, value: Value) -> Option<u32> {
        let Value::Const(id) = value else { return None };
        self.constants.as_int(&self.types, id).map(|int| int as u32)
    }

    /// The type of an operand of `function` that is not a variable.
    pub fn value_type(&self, function: &Function, value: Value) -> Option<TypeId> {
        match value {
            Value::Inst(id) => Some(function.insts[id].ty),
            Value::Const(id) => Some(self.constants.get(id).ty),
            Value::Param(index) => Some(function.params[index as usize].ty),
            Value::Global(_) | Value::Local(_) => None,
        }
    }

    /// Space and pointee of a pointer operand of `function`. `types` are the module's types, possibly extended.
    pub fn pointee_of(&self, function: &Function, types: &Types, value: Value) -> Option<(Space, TypeId)> {
        match value {
            Value::Global(id) => Some((self.globals[id].space, self.globals[id].ty)),
            Value::Local(id) => Some((Space::Function, function.locals[id].ty)),
            other => types.pointee(self.value_type(function, other)?),
        }
    }

    /// Type of an operand of `function`. Interns the types of pointers to variables, hence `&mut`.
    pub fn type_of(&mut self, function: &Function, value: Value) -> TypeId {
        match value {
            Value::Inst(id) => function.insts[id].ty,
            Value::Const(id) => self.constants.get(id).ty,
            Value::Param(index) => function.params[index as usize].ty,
            Value::Global(id) => {
                let (space, ty) = (self.globals[id].space, self.globals[id].ty);
                self.types.pointer(space, ty)
            }
            Value::Local(id) => self.types.pointer(Space::Function, function.locals[id].ty),
        }
    }
}
