//! HLSL for Shader Model 6 (Microsoft's reference and the specifications of the DirectX Shader Compiler).

mod bits;
mod constants;
mod corners;
mod entry;
mod function;
mod globals;
mod helpers;
mod host;
mod hull;
mod image;
mod lane;
mod math;
mod memory;
mod names;
mod primitives;
mod rays;
mod reflection;
mod stage;
mod tessellation;
mod types;
mod validity;

pub(super) use self::lane::intrinsic;
use super::expr::Expr;
use super::function::{Body, Made};
use super::image::ImageCall;
use super::inout::References;
use super::lane::Arg;
use super::language::{Language, Ordering};
use super::layout::Packing;
use super::place::{Address, Form};
use super::tree::{self, Kind, Stmt};
use super::writer::{Shader, Writer};
use crate::backend::losses::{self, Kept};
use crate::backend::written::Unit;
use crate::backend::{Made as Result, Options};
use crate::diagnostic::Diagnostic;
use crate::ir::{
    AtomicOp, BinaryOp, Binding, BuiltIn, ConstId, ConstValue, ControlHint, Ending, EntryPoint, FuncId, Function,
    Global, GlobalId, ImageOp, InstFlags, InstId, InterpolateAt, LocalId, MathFn, MemoryKinds, Module, Order, Param,
    RayOp, ResourceClass, Scalar, Scope, Space, Stage, Type, TypeId, UnaryOp, Value, Values,
};
use crate::lane::{GroupOp, LaneFact};
use crate::profile::Profile;
use rustc_hash::{FxHashMap, FxHashSet};

/// HLSL-specific facts about a module.
#[derive(Default)]
pub(super) struct State {
    /// True if the last component of the fragment's position is used.
    reads_w: bool,
    /// True if the rasterizer orders the memory accesses of fragments.
    is_ordered: bool,
    /// Samplers of the source's combined textures.
    sampler_names: FxHashMap<GlobalId, String>,
    /// Interface blocks whose structs are declared.
    declared_ports: FxHashSet<GlobalId>,
    primitive_names: primitives::Names,
    tessellation: tessellation::Names,
    /// The variable from which functions read the input vertices.
    shared_vertices: Option<String>,
    /// The type of the payload that task shaders hand to mesh shaders.
    payload_type: Option<String>,
    /// The type and the struct name of values passed between ray tracing stages.
    passed: FxHashMap<GlobalId, (String, String)>,
}

/// HLSL of one Shader Model.
#[derive(Debug)]
pub(super) struct Hlsl {
    /// True if registers have spaces, and blocks are `ConstantBuffer<T>` (Shader Model 5.1).
    has_spaces: bool,
    /// True for 64-bit integers and interpolation by the shader (Shader Model 6.0).
    has_long: bool,
}

/// Shader Model 6.
pub(super) static HLSL: Hlsl = Hlsl { has_spaces: true, has_long: true };
static MODEL_5_1: Hlsl = Hlsl { has_long: false, has_spaces: true };
static MODEL_5_0: Hlsl = Hlsl { has_long: false, has_spaces: false };

impl Hlsl {
    pub fn of(profile: &Profile) -> &'static Hlsl {
        match profile.version {
            (0..=4, _) | (5, 0) => &MODEL_5_0,
            (5, _) => &MODEL_5_1,
            _ => &HLSL,
        }
    }
}

impl Hlsl {
    /// The attribute of a loop that is not unrolled.
    const LOOP: &str = "[loop] ";
}

impl Language for Hlsl {
    fn name(&self) -> &'static str {
        "HLSL"
    }

    fn has_sets(&self) -> bool {
        self.has_spaces
    }

    /// Read-only buffers and images use registers of textures too.
    fn numbered_with(&self, class: ResourceClass) -> ResourceClass {
        if class == ResourceClass::UniformBlock { class } else { ResourceClass::Texture }
    }

    /// The slots of Direct3D 11.1 (its specification, section 4.4.3); for constant buffers, without the slots of push
    /// constants and the host. Unordered access views in fragment shaders are numbered after the render targets.
    fn numbers(&self, module: &Module, class: ResourceClass) -> (u32, u32) {
        let most = match class {
            ResourceClass::UniformBlock => globals::LAST_CONSTANTS - 3,
            ResourceClass::Sampler | ResourceClass::SampledTexture => 15,
            ResourceClass::Texture | ResourceClass::AccelerationStructure => 127,
            ResourceClass::StorageBlock | ResourceClass::Image => 63,
        };
        let is_fragment = module.entry_points.first().is_some_and(|entry| entry.stage == Stage::Fragment);
        let is_view = matches!(class, ResourceClass::StorageBlock | ResourceClass::Image);
        let targets =
            module.globals.iter().filter(|(_, global)| global.space == Space::Output).filter_map(|(_, global)| {
                match global.binding {
                    Binding::Location { location, .. } => location.map(|at| at + module.types.locations(global.ty)),
                    _ => None,
                }
            });
        (if is_fragment && is_view { targets.max().unwrap_or(0) } else { 0 }, most)
    }

    fn falls_through(&self) -> bool {
        self.has_long
    }

    fn continues_from_switches(&self) -> bool {
        self.has_long
    }

    /// Shader Model 5.0 only accepts constants as their indices.
    fn lacks_arrays_of(&self, _: Type) -> bool {
        !self.has_spaces
    }

    /// The slots of Direct3D 11.1 (its specification, section 4.4.3).
    fn most_slots(&self, kind: &'static str) -> (u32, u32) {
        match kind {
            _ if self.has_spaces => (u32::MAX, u32::MAX),
            "b" => (0, 13),
            "s" => (0, 15),
            "t" => (0, 127),
            _ => (0, 63),
        }
    }

    fn line_directive(&self, line: u32, (_, file): (usize, &str)) -> Option<String> {
        Some(tree::line_directive(line, file))
    }

    fn spelled(&self, name: &str) -> String {
        names::spelled(name)
    }

    fn head(&self, _: &Writer) -> Vec<String> {
        Vec::new()
    }

    fn has_many_entries(&self, module: &Module) -> bool {
        hull::is_divided(module)
    }

    fn divided(&self, module: &Module) -> Result<Option<Module>> {
        hull::divided(module)
    }

    fn stage(&self, t: &mut Writer, entry: &EntryPoint) -> Vec<String> {
        // The two functions of a control shader have the same stage.
        if t.module.entry_points.first().is_some_and(|first| first.function != entry.function) {
            return Vec::new();
        }
        t.find_ports(entry);
        self.declare_ports(t, entry);
        self.check_stage(t, entry);
        Vec::new()
    }

    fn reflection(&self, shader: &Shader, module: &Module, options: &Options) -> Result<String> {
        reflection::json(shader, module, options)
    }

    fn vector_name(&self, t: &mut Writer, scalar: Scalar, size: u8) -> String {
        self.vector_name(t, scalar, size)
    }

    fn matrix_name(&self, t: &mut Writer, scalar: Scalar, columns: u8, rows: u8) -> String {
        self.matrix_name(t, scalar, columns, rows)
    }

    fn handle_name(&self, t: &mut Writer, ty: Type) -> String {
        self.handle_name(t, ty)
    }

    fn member_words(&self, t: &Writer, ty: TypeId) -> &'static str {
        globals::matrix_order(t, ty)
    }

    fn constant_words(&self) -> &'static str {
        "static const "
    }

    fn constant(&self, b: &mut Body, id: ConstId) -> Expr {
        self.constant(b, id)
    }

    fn literal(&self, t: &mut Writer, scalar: Scalar, bits: u64) -> Expr {
        self.literal(t, scalar, bits)
    }

    fn zero(&self, t: &mut Writer, ty: TypeId) -> Expr {
        self.zero(t, ty)
    }

    fn composite(&self, t: &mut Writer, ty: TypeId, parts: &[Expr]) -> Expr {
        self.composite(t, ty, parts)
    }

    fn initial(&self, t: &mut Writer, id: ConstId) -> String {
        let constant = t.module.constants.get(id);
        match constant.value {
            ConstValue::Zero | ConstValue::Undef => t.zero(constant.ty).text,
            _ => t.spelled(id).text,
        }
    }

    fn specialization(&self, t: &mut Writer, name: &str, number: u32, scalar: Scalar, default: u64) {
        self.specialization(t, name, number, scalar, default);
    }

    fn declare(&self, t: &mut Writer, id: GlobalId, global: &Global) -> String {
        self.declare(t, id, global)
    }

    fn built_in(&self, b: &mut Body, of: BuiltIn, space: Space) -> Option<Expr> {
        let given = b.t.ports.find(of, space)?;
        Some(Expr::primary(match space {
            Space::Output if self.is_member(b.t, of) => format!("{}.{}", b.t.ports.output, given.name),
            _ => given.name.clone(),
        }))
    }

    fn built_in_scalar(&self, t: &mut Writer, id: GlobalId) -> Option<Scalar> {
        self.given_scalar(t, id)
    }

    fn form(&self, t: &mut Writer, id: GlobalId) -> Form {
        self.form(t, id)
    }

    fn pad_lines(&self, packing: Packing, offset: u32, bytes: u32) -> Vec<String> {
        globals::pad_lines(packing, offset, bytes / 4)
    }

    fn read_bytes(&self, b: &mut Body, address: &Address, scalar: Scalar, at: (u32, u8)) -> Expr {
        self.read_bytes(b, address, scalar, at)
    }

    fn write_bytes(&self, b: &mut Body, address: &Address, shape: (Scalar, u8), value: &Expr) {
        self.write_bytes(b, address, shape, value);
    }

    fn begin(&self, b: &mut Body) {
        self.begin(b);
    }

    fn signature(&self, b: &mut Body, name: &str, params: &[String], entry: Option<&EntryPoint>) -> String {
        self.signature(b, name, params, entry)
    }

    fn parameter(&self, b: &mut Body, index: u32, param: &Param, name: &str) -> String {
        self.parameter(b, index, param, name)
    }

    fn precise_word(&self, _: &mut Writer) -> &'static str {
        "precise "
    }

    fn leave_entry(&self, b: &mut Body) {
        self.leave_entry(b);
    }

    fn call(&self, b: &mut Body, _: FuncId, name: &str, args: Vec<Made>) -> Expr {
        self.call(b, name, args)
    }

    /// DXC copies arguments for DXIL, but not for SPIR-V.
    fn references(&self) -> References {
        References::Hidden
    }

    /// By the rules of 2018 the variable stays in scope to the end of the block around the loop.
    fn ends_counters(&self) -> bool {
        false
    }

    fn first_value(&self, b: &mut Body, value: Value, _: TypeId) -> String {
        self.first_value(b, value)
    }

    fn hint(&self, _: &mut Body, hint: ControlHint) -> &'static str {
        match hint {
            // The language refuses to unroll loops if it cannot determine the trip count.
            ControlHint::None | ControlHint::Unroll => "",
            ControlHint::DontUnroll => Self::LOOP,
            ControlHint::Flatten => "[flatten] ",
            ControlHint::DontFlatten => "[branch] ",
        }
    }

    fn selector(&self, t: &mut Writer, value: &Expr, ty: TypeId) -> String {
        constants::typed(t, value, ty).text
    }

    fn discard(&self, b: &mut Body) {
        self.discard(b);
    }

    fn demote(&self, b: &mut Body) {
        b.push(Kind::Demote);
    }

    /// Rasterizer-ordered views are enough.
    fn interlock(&self, _: &mut Body, _: bool) {}

    fn print(&self, b: &mut Body, _: &str, _: Vec<Expr>) {
        b.t.unsupported("printing");
    }

    fn end(&self, b: &mut Body, ending: Ending, args: Values) {
        self.end(b, ending, args);
    }

    fn construct(&self, b: &mut Body, ty: TypeId, parts: Vec<Expr>) -> Expr {
        self.construct(b, ty, parts)
    }

    fn splat(&self, t: &mut Writer, ty: TypeId, part: Expr) -> Expr {
        self.splat(t, ty, &part)
    }

    /// The language has no selects between arrays or structs.
    fn picks(&self, t: &Writer, ty: TypeId) -> bool {
        !matches!(t.types.get(ty), Type::Struct(_) | Type::Array { .. })
    }

    fn choice(&self, b: &mut Body, parts: &[Expr; 3], ty: TypeId) -> Expr {
        self.choice(b, parts, ty)
    }

    fn mixed(&self, b: &mut Body, [c, a, r]: &[Expr; 3], ty: TypeId) -> Expr {
        b.chosen_apart([c, a, r], ty)
    }

    fn unary(&self, t: &mut Writer, op: UnaryOp, a: &Expr, _: TypeId) -> Expr {
        self.unary(t, op, a)
    }

    fn binary(&self, t: &mut Writer, op: BinaryOp, both: [&Expr; 2], of: [TypeId; 2]) -> Option<Expr> {
        self.binary(t, op, both, of)
    }

    fn remainder(&self, b: &mut Body, both: [Expr; 2], ty: TypeId) -> Expr {
        self.remainder(b, both, ty)
    }

    fn function_of(&self, t: &mut Writer, function: MathFn, args: &[Expr], of: &[TypeId], ty: TypeId) -> Option<Expr> {
        self.function_of(t, function, args, of, ty)
    }

    fn math(&self, b: &mut Body, function: MathFn, args: Values, ty: TypeId) -> Made {
        self.math(b, function, args, ty)
    }

    fn reinterpreted(&self, t: &mut Writer, value: &Expr, from: TypeId, to: TypeId) -> Expr {
        self.reinterpreted(t, value, from, to)
    }

    fn param(&self, b: &mut Body, index: u32) -> Made {
        self.param(b, index)
    }

    fn global(&self, b: &mut Body, id: GlobalId) -> Made {
        self.global(b, id)
    }

    fn element_part(&self, t: &mut Writer, id: GlobalId) -> Option<String> {
        self.member_of(t, id)
    }

    fn joins_functions(&self, module: &Module) -> bool {
        primitives::joins(module)
    }

    fn access(&self, b: &mut Body, id: InstId, base: Value, indices: Values, flags: InstFlags) -> Made {
        b.place_of(id, base, indices, flags)
    }

    fn load(&self, b: &mut Body, pointer: Value, ty: TypeId) -> Made {
        let several = self.all_of_crowd(b, pointer, ty).or_else(|| self.load_distances(b, pointer, ty));
        several.unwrap_or_else(|| b.load_place(pointer))
    }

    fn store(&self, b: &mut Body, pointer: Value, value: Value) {
        if self.is_part_of_given_matrix(b, pointer) {
            b.t.unsupported("stores to parts of matrices that mesh shaders give out");
        } else if !self.store_distances(b, pointer, value) {
            b.store_place(pointer, value);
        }
    }

    fn unset(&self, module: &Module, f: &Function) -> FxHashSet<LocalId> {
        validity::unset(module, f)
    }

    fn polish(&self, _: &mut Body, code: &mut Vec<Stmt>) {
        // DXIL's validator requires it.
        if self.has_long {
            validity::mend_loops(code);
        }
    }

    fn non_uniform(&self, _: &mut Writer, index: &str) -> String {
        format!("NonUniformResourceIndex({index})")
    }

    fn array_length(&self, b: &mut Body, block: Value) -> Expr {
        self.array_length(b, block)
    }

    fn atomic(&self, b: &mut Body, op: AtomicOp, pointer: Value, args: Values, how: Ordering) -> Option<Expr> {
        self.atomic(b, op, pointer, args, how)
    }

    fn barrier(&self, b: &mut Body, execution: Option<Scope>, memory: Scope, kinds: MemoryKinds, order: Order) {
        self.barrier(b, execution, memory, kinds, order);
    }

    fn interpolate(&self, b: &mut Body, at: InterpolateAt, pointer: Value, args: Values) -> Expr {
        self.interpolate(b, at, pointer, args)
    }

    fn image(&self, b: &mut Body, op: ImageOp, call: &ImageCall, ty: TypeId) -> Option<Expr> {
        self.image(b, op, call, ty)
    }

    fn ray(&self, b: &mut Body, op: RayOp, on: Value, args: Values, ty: TypeId) -> Option<Expr> {
        self.ray(b, op, on, args, ty)
    }

    fn foreign(&self, b: &mut Body, at: u32, args: Values, ty: TypeId) -> Option<Expr> {
        self.foreign(b, at, args, ty)
    }

    fn fact(&self, b: &mut Body, fact: LaneFact) -> Expr {
        self.fact(b, fact)
    }

    fn group(&self, b: &mut Body, op: GroupOp, args: &[Arg]) -> Expr {
        self.group(b, op, args)
    }
}

/// Warnings about qualifiers that the language cannot keep.
pub(super) fn losses(module: &Module, profile: &Profile) -> Vec<Diagnostic> {
    let since = Some((0, 0));
    let kept =
        Kept { precise: true, can_be_precise: true, coherent_since: since, coherent_images: true, point_sizes: false };
    losses::losses(module, profile, kept)
}

/// The unit that runs a line.
pub(super) fn unit(line: &str) -> Unit {
    const CONTROL: [&str; 9] = ["if (", "for (", "while (", "do {", "}", "break", "continue", "switch (", "["];
    let line = line.trim();
    match line {
        _ if line.contains("Wave") || line.contains("Quad") => Unit::Subgroup,
        _ if CONTROL.iter().any(|word| line.starts_with(word)) => Unit::Control,
        _ => Unit::Arithmetic,
    }
}
