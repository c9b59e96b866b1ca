//! The Metal Shading Language (Apple's specification of the language; section numbers of version 3.2).

mod argument_buffers;
mod bits;
mod capture;
mod constants;
mod crowds;
mod dialect;
mod entry;
mod function;
mod globals;
mod helpers;
mod host;
mod image;
mod lane;
mod locations;
mod math;
mod memory;
mod mesh;
mod names;
mod order;
mod rays;
mod reflection;
mod stage;
mod tessellation;
mod types;

pub(super) use self::lane::function;
use super::expr::Expr;
use super::function::{Body, Made};
use super::image::ImageCall;
use super::inout::References;
use super::lane::Arg;
use super::language::{Language, Ordering};
use super::layout::Packing;
use super::lines;
use super::place::{Address, Form};
use super::ports;
use super::tree;
use super::writer::{Shader, Writer};
use crate::backend::losses::{self, Kept};
use crate::backend::written::Unit;
use crate::backend::{Made as Result, Options};
use crate::diagnostic::Diagnostic;
use crate::ir::{
    AtomicOp, BinaryOp, BuiltIn, ConstId, ControlHint, Ending, EntryPoint, FuncId, Global, GlobalId, ImageOp,
    ImageParts, ImageType, InstFlags, InstId, InterpolateAt, MathFn, MemoryKinds, Module, Order, Param, RayOp, Scalar,
    Scope, Space, StructId, Type, TypeId, Types, UnaryOp, Value, Values,
};
use crate::lane::{GroupOp, LaneFact};
use crate::profile::Profile;
use argument_buffers::ArgumentBuffer;
use capture::Capture;
use crowds::{Owner, OwnerNames};
use mesh::Mesh;
use rustc_hash::{FxHashMap, FxHashSet};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use tessellation::Tessellation;

/// What a function uses in addition to its parameters and variables. The language has no global variables.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Extra {
    /// A variable of the module.
    Global(GlobalId),
    /// A built-in value, by its index in the ports.
    BuiltIn(usize),
    /// The sizes of buffers.
    Sizes,
    /// The number of the lane's thread in its SIMD-group.
    Lane,
    /// The threads of a SIMD-group.
    Lanes,
    /// All inputs at locations.
    Inputs,
    /// The structs of an owner of inputs or outputs.
    Own(Owner),
}

/// Names for values that the source does not name.
#[derive(Default)]
struct OwnNames {
    sizes: String,
    lane: String,
    lanes: String,
    inputs: String,
}

/// MSL-specific facts about a module.
#[derive(Default)]
pub(super) struct State {
    /// Uses of the function being written.
    used: BTreeSet<Extra>,
    /// Uses of each earlier function, in the order of its additional parameters.
    extras: FxHashMap<FuncId, Rc<[Extra]>>,
    /// The private variables that each function so far, or one of its callees, changes.
    changed: FxHashMap<FuncId, BTreeSet<GlobalId>>,
    names: OwnNames,
    /// Buffers whose size the shader queries, in the order of the buffer of sizes.
    sized: Vec<GlobalId>,
    /// Samplers of the source's combined textures.
    sampler_names: FxHashMap<GlobalId, String>,
    /// True if some array of textures or samplers has any length.
    has_handles: bool,
    /// True if some array is assigned, passed or returned whole.
    has_array_values: bool,
    /// The locations that several variables share.
    parted: BTreeMap<locations::Place, locations::Whole>,
    /// The locations of inputs that the shader interpolates at other places of the pixel.
    pulled: BTreeSet<locations::Place>,
    /// The names of variables in memory that invocations share.
    owners: BTreeMap<Owner, OwnerNames>,
    tessellation: Tessellation,
    mesh: Mesh,
    /// The resources of the raster order group.
    ordered: BTreeSet<GlobalId>,
    /// The memory barriers that a part of the workgroup may not reach.
    parted_fences: FxHashSet<(FuncId, InstId)>,
    /// True if there are ray queries, and such with flags.
    has_rays: bool,
    has_ray_parameters: bool,
    /// The compute kernel in place of a vertex stage.
    capture: Option<Capture>,
    argument_buffers: Vec<ArgumentBuffer>,
}

/// The facts of the stage that its host must know.
#[derive(Default)]
pub(super) struct Facts {
    pub tessellation: Tessellation,
    pub mesh: Mesh,
    pub argument_buffers: Vec<ArgumentBuffer>,
}

impl State {
    pub fn facts(self) -> Facts {
        let State { tessellation, mesh, argument_buffers, .. } = self;
        Facts { tessellation, mesh, argument_buffers }
    }
}

pub(super) const MSL: Msl = Msl;

/// MSL.
#[derive(Debug)]
pub(super) struct Msl;

impl Language for Msl {
    fn name(&self) -> &'static str {
        "MSL"
    }

    fn lacks_line(&self, module: &Module, image: ImageType) -> bool {
        let chosen = ImageParts::BIAS | ImageParts::GRADIENTS | ImageParts::MIN_LOD | ImageParts::OFFSET;
        image.depth || !image.storage && lines::are_sampled_with(module, chosen)
    }

    fn line_directive(&self, line: u32, (_, file): (usize, &str)) -> Option<String> {
        Some(tree::line_directive(line, file))
    }

    fn spelled(&self, name: &str) -> String {
        names::spelled(name)
    }

    fn joins_functions(&self, module: &Module) -> bool {
        mesh::joins(module)
    }

    fn reshape(&self, module: &mut Cow<Module>) {
        mesh::outline(module);
        mesh::return_after_ends(module);
    }

    fn head(&self, t: &Writer) -> Vec<String> {
        let mut lines = vec!["#include <metal_stdlib>".to_string()];
        lines.extend(t.msl.has_rays.then(|| "#include <metal_raytracing>".to_string()));
        lines.push("#include <simd/simd.h>".to_string());
        lines.extend([String::new(), "using namespace metal;".to_string()]);
        if t.msl.has_ray_parameters {
            lines.push(String::new());
            lines.extend(rays::PARAMETERS.iter().map(|line| (*line).to_string()));
        }
        let macros = self.patch_macro(t);
        if !macros.is_empty() {
            lines.push(String::new());
            lines.extend(macros);
        }
        if t.msl.has_handles {
            lines.push(String::new());
            lines.extend(helpers::HANDLE.iter().map(|line| (*line).to_string()));
        }
        if t.msl.has_array_values {
            lines.push(String::new());
            let rows: &[&str] = if t.msl.mesh.payload.is_some() { &helpers::OF_PAYLOADS } else { &[] };
            let (end, others) = helpers::ARRAY.split_last().unwrap_or((&"", &[]));
            lines.extend(others.iter().chain(rows).chain([end]).map(|line| (*line).to_string()));
        }
        lines
    }

    fn stage(&self, t: &mut Writer, entry: &EntryPoint) -> Vec<String> {
        t.find_ports(entry);
        t.ports.entry = entry_name(t, &entry.name);
        let [sizes, lane, lanes] = ["buffer_sizes", "lane_index", "lane_count"].map(|name| t.names.unique(name, None));
        t.msl.names = OwnNames { sizes, lane, lanes, inputs: String::new() };
        if ports::zeroed(t.module).next().is_some() {
            t.note_built_in(BuiltIn::LocalInvocationIndex, "local_index", Types::U32);
        }
        self.note_positions(t);
        self.find_tessellation(t, entry);
        self.find_mesh(t, entry);
        self.check_stage(t, entry);
        self.find_parted(t);
        self.find_pulled(t);
        self.find_capture(t, entry);
        self.find_ordered(t, entry);
        self.find_parted_fences(t, entry);
        self.find_sized(t);
        self.find_array_values(t);
        t.sized = self.sized_names(t);
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

    fn array_name(&self, t: &mut Writer, ty: TypeId) -> Option<String> {
        let Type::Array { element, len, .. } = t.types.get(ty) else { return None };
        let logical = t.types.logical(ty);
        if !t.is_array_value(logical) {
            return None;
        }
        t.msl.has_array_values = true;
        let (of, len) = (t.type_name(element), t.length(len));
        Some(format!("Array<{of}, {len}>"))
    }

    fn open_length(&self) -> &'static str {
        "1"
    }

    fn constant_words(&self) -> &'static str {
        "constant "
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
        self.initial(t, id)
    }

    fn specialization(&self, t: &mut Writer, name: &str, number: u32, scalar: Scalar, default: u64) {
        self.specialization(t, name, number, scalar, default);
    }

    fn declare(&self, t: &mut Writer, id: GlobalId, global: &Global) -> String {
        self.declare(t, id, global)
    }

    fn block_variable(&self, t: &mut Writer, id: GlobalId, of: StructId) -> Option<String> {
        Some(self.block_variable(t, id, of))
    }

    /// Metal Feature Set Tables: entries of argument tables.
    fn most_slots(&self, kind: &'static str) -> (u32, u32) {
        let most = match kind {
            "buffer" => 30,
            "texture" => 127,
            argument_buffers::ID => return (u32::MAX, u32::MAX),
            _ => 15,
        };
        (0, most)
    }

    fn built_in(&self, b: &mut Body, of: BuiltIn, space: Space) -> Option<Expr> {
        self.built_in(b, of, space)
    }

    fn built_in_scalar(&self, t: &mut Writer, id: GlobalId) -> Option<Scalar> {
        self.given_scalar(t, id)
    }

    fn form(&self, t: &mut Writer, id: GlobalId) -> Form {
        self.form(t, id)
    }

    fn element_suffix(&self, t: &mut Writer, array: TypeId) -> &'static str {
        if self.is_open(t, array) { ".value" } else { "" }
    }

    fn block_arrays_point(&self) -> bool {
        true
    }

    fn packed_name(&self, t: &mut Writer, scalar: Scalar, size: u8) -> String {
        self.packed_name(t, scalar, size)
    }

    fn pad_lines(&self, packing: Packing, offset: u32, bytes: u32) -> Vec<String> {
        self.pad_lines(packing, offset, bytes)
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
        ""
    }

    fn leave_entry(&self, b: &mut Body) {
        self.leave_entry(b);
    }

    fn call(&self, b: &mut Body, callee: FuncId, name: &str, args: Vec<Made>) -> Expr {
        self.call(b, callee, name, args)
    }

    fn references(&self) -> References {
        References::Parts
    }

    fn first_value(&self, b: &mut Body, value: Value, ty: TypeId) -> String {
        self.first_value(b, value, ty)
    }

    /// The language has no hints for selections; pragmas of loops are separate lines.
    fn hint(&self, _: &mut Body, _: ControlHint) -> &'static str {
        ""
    }

    fn discard(&self, b: &mut Body) {
        self.discard(b);
    }

    fn demote(&self, b: &mut Body) {
        b.line("discard_fragment()".to_string());
    }

    /// Raster order groups order the accesses themselves.
    fn interlock(&self, _: &mut Body, _: bool) {}

    fn print(&self, b: &mut Body, _: &str, _: Vec<Expr>) {
        b.t.unsupported("printing");
    }

    fn construct(&self, b: &mut Body, ty: TypeId, parts: Vec<Expr>) -> Expr {
        self.construct(b, ty, parts)
    }

    fn splat(&self, t: &mut Writer, ty: TypeId, part: Expr) -> Expr {
        self.splat(t, ty, &part)
    }

    fn choice(&self, _: &mut Body, [condition, accept, reject]: &[Expr; 3], _: TypeId) -> Expr {
        Expr::choice(condition, accept, reject)
    }

    fn mixed(&self, b: &mut Body, parts: &[Expr; 3], ty: TypeId) -> Expr {
        self.mixed(b, parts, ty)
    }

    fn unary(&self, t: &mut Writer, op: UnaryOp, a: &Expr, of: TypeId) -> Expr {
        self.unary(t, op, a, of)
    }

    fn has_undefined_overflow(&self) -> bool {
        true
    }

    fn binary(&self, t: &mut Writer, op: BinaryOp, both: [&Expr; 2], of: [TypeId; 2]) -> Option<Expr> {
        Some(self.binary(t, op, both, of))
    }

    fn remainder(&self, b: &mut Body, _: [Expr; 2], _: TypeId) -> Expr {
        b.t.broken("an operator that the language has")
    }

    fn function_of(&self, t: &mut Writer, function: MathFn, args: &[Expr], of: &[TypeId], ty: TypeId) -> Option<Expr> {
        self.function_of(t, function, args, of, ty)
    }

    fn math(&self, b: &mut Body, function: MathFn, args: Values, ty: TypeId) -> Made {
        self.math(b, function, args, ty)
    }

    fn converted(&self, t: &mut Writer, value: &Expr, from: TypeId, to: TypeId) -> Expr {
        self.converted(t, value, from, to)
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
        self.member_of_element(t, id)
    }

    fn access(&self, b: &mut Body, id: InstId, base: Value, indices: Values, flags: InstFlags) -> Made {
        b.place_of(id, base, indices, flags)
    }

    fn load(&self, b: &mut Body, pointer: Value, ty: TypeId) -> Made {
        if let Some(whole) = self.load_all(b, pointer, ty) {
            return Made::One(whole);
        }
        b.load_place(pointer)
    }

    fn store(&self, b: &mut Body, pointer: Value, value: Value) {
        self.store(b, pointer, value);
    }

    fn non_uniform(&self, _: &mut Writer, index: &str) -> String {
        index.to_string()
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

    fn end(&self, b: &mut Body, ending: Ending, args: Values) {
        self.end(b, ending, args);
    }

    fn fact(&self, b: &mut Body, fact: LaneFact) -> Expr {
        self.fact(b, fact)
    }

    fn group(&self, b: &mut Body, op: GroupOp, args: &[Arg]) -> Expr {
        self.group(b, op, args)
    }
}

/// The name of the entry point: the language reserves `main`.
fn entry_name(t: &mut Writer, name: &str) -> String {
    let name = if name == "main" { "main0" } else { name };
    t.names.unique(name, None)
}

/// Warnings about qualifiers that the language cannot keep.
pub(super) fn losses(module: &Module, profile: &Profile) -> Vec<Diagnostic> {
    let kept = Kept {
        precise: false,
        can_be_precise: true,
        coherent_since: Some((3, 2)),
        coherent_images: true,
        point_sizes: true,
    };
    losses::losses(module, profile, kept)
}

/// The unit that runs a line.
pub(super) fn unit(line: &str) -> Unit {
    const CONTROL: [&str; 8] = ["if (", "for (", "while (", "do {", "}", "break", "continue", "switch ("];
    let line = line.trim();
    match line {
        _ if line.contains("simd_") || line.contains("quad_") => Unit::Subgroup,
        _ if CONTROL.iter().any(|word| line.starts_with(word)) => Unit::Control,
        _ => Unit::Arithmetic,
    }
}
