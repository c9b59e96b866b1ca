//! GLSL. Descriptor sets, narrow and wide types, buffer references, layouts, specialization constants and push
//! constants are preserved.

mod bits;
mod constants;
mod dialect;
mod entry;
mod function;
mod globals;
mod image;
mod lane;
mod layout;
mod math;
mod memory;
mod names;
mod primitives;
mod rays;
mod reflection;
mod types;
mod versions;

pub(super) use dialect::Dialect;

use super::combine;
use super::expr::{Expr, Level};
use super::function::{Body, Made};
use super::image::ImageCall;
use super::lane::Arg;
use super::language::{Language, Ordering};
use super::writer::{Shader, Writer};
use crate::backend::written::Unit;
use crate::backend::{Made as Result, Options};
use crate::grammar;
use crate::ir::{
    AtomicOp, BinaryOp, Binding, BuiltIn, ConstId, ControlHint, Ending, EntryPoint, FuncId, Global, GlobalId, ImageOp,
    ImageType, InterpolateAt, MathFn, MemoryKinds, Module, Order, Param, RayOp, Scalar, Scope, Space, Type, TypeId,
    UnaryOp, Value, Values,
};
use crate::lane::{GroupOp, LaneFact};
use dialect::Lanes;

impl Language for Dialect {
    fn name(&self) -> &'static str {
        self.language
    }

    fn spelled(&self, name: &str) -> String {
        names::spelled(name)
    }

    fn line_directive(&self, line: u32, (index, file): (usize, &str)) -> Option<String> {
        // Names of files are strings without escapes.
        let is_name = self.names_files && !file.contains(|c: char| c == '"' || c.is_control());
        Some(if is_name { format!("#line {line} \"{file}\"") } else { format!("#line {line} {index}") })
    }

    fn jumps_after_arms(&self) -> bool {
        self.lanes == Lanes::Nv
    }

    fn head(&self, t: &Writer) -> Vec<String> {
        let (newer, extensions) = rays::NEWER;
        let is_newer = extensions.iter().any(|name| t.extensions.contains(name));
        let mut head = vec![self.version_line(if is_newer { newer } else { 0 })];
        if self.names_files && t.options.manner.notes.lines {
            head.push("#extension GL_GOOGLE_cpp_style_line_directive : require".to_string());
        }
        head.extend(t.extensions.iter().map(|name| format!("#extension {name} : require")));
        if self.is_es {
            head.extend(["", "precision highp float;", "precision highp int;"].map(str::to_string));
        }
        head
    }

    fn stage(&self, t: &mut Writer, entry: &EntryPoint) -> Vec<String> {
        if self.lanes == Lanes::Amd {
            let name = t.names.unique(lane::SHUFFLE, None);
            t.helper_names.insert(lane::SHUFFLE, name);
        }
        self.entry_layouts(t, entry)
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

    fn nest_arrays(&self, t: &mut Writer) {
        self.require(t, &versions::ARRAYS_OF_ARRAYS);
    }

    fn has_extension(&self, name: &str) -> bool {
        self.has_extension(name)
    }

    fn joins_functions(&self, module: &Module) -> bool {
        !self.is_vulkan && combine::has_parameters(module)
    }

    fn has_relative_layers(&self) -> bool {
        true
    }

    fn joins_samplers(&self) -> bool {
        !self.is_vulkan
    }

    fn has_sets(&self) -> bool {
        self.is_vulkan
    }

    fn puts_references_last(&self) -> bool {
        true
    }

    /// Each sampler of an array becomes part of another pair.
    fn lacks_arrays_of(&self, ty: Type) -> bool {
        !self.is_vulkan && ty == Type::Sampler
    }

    fn has_attachments(&self) -> bool {
        self.is_vulkan
    }

    fn has_port_blocks(&self) -> bool {
        self.has(&versions::PORT_BLOCKS)
    }

    fn has_port_locations(&self) -> bool {
        self.has(&versions::PORT_LOCATIONS)
    }

    fn lacks_line(&self, _: &Module, _: ImageType) -> bool {
        self.is_es
    }

    fn specializes_first(&self) -> bool {
        !self.is_vulkan
    }

    fn handle_name(&self, t: &mut Writer, ty: Type) -> String {
        self.handle_name(t, ty)
    }

    fn constant_words(&self) -> &'static str {
        "const "
    }

    fn literal(&self, t: &mut Writer, scalar: Scalar, bits: u64) -> Expr {
        self.literal(t, scalar, bits)
    }

    fn zero(&self, t: &mut Writer, ty: TypeId) -> Expr {
        self.zero(t, ty)
    }

    fn composite(&self, t: &mut Writer, ty: TypeId, parts: &[Expr]) -> Expr {
        Expr::call(&t.type_name(ty), parts)
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

    fn built_in(&self, b: &mut Body, of: BuiltIn, space: Space) -> Option<Expr> {
        self.built_in_name(b.t, of, space).map(Expr::primary)
    }

    fn built_in_scalar(&self, t: &mut Writer, id: GlobalId) -> Option<Scalar> {
        if t.module.globals[id].binding == Binding::BuiltIn(BuiltIn::InstanceIndex) {
            return Some(Scalar::I32);
        }
        Some(grammar::variable(&t.global(id))?.ty.scalar())
    }

    fn signature(&self, b: &mut Body, name: &str, params: &[String], entry: Option<&EntryPoint>) -> String {
        self.signature(b, name, params, entry)
    }

    fn parameter(&self, b: &mut Body, index: u32, param: &Param, name: &str) -> String {
        self.parameter(b, index, param, name)
    }

    fn precise_word(&self, t: &mut Writer) -> &'static str {
        self.require(t, &versions::PRECISE);
        "precise "
    }

    fn call(&self, b: &mut Body, _: FuncId, name: &str, args: Vec<Made>) -> Expr {
        let args: Vec<Expr> = args.into_iter().map(|arg| b.single(arg)).collect();
        Expr::call(name, &args)
    }

    fn hint(&self, b: &mut Body, hint: ControlHint) -> &'static str {
        self.hint(b, hint)
    }

    fn discard(&self, b: &mut Body) {
        b.line("discard".to_string());
    }

    fn demote(&self, b: &mut Body) {
        const DEMOTE: &str = "GL_EXT_demote_to_helper_invocation";
        // The two cannot be distinguished without cross-lane operations or derivatives.
        if !self.has_extension(DEMOTE) && !super::uses::asks_neighbours(b.t.module) {
            return b.line("discard".to_string());
        }
        b.t.need(DEMOTE);
        b.line("demote".to_string());
    }

    fn interlock(&self, b: &mut Body, begin: bool) {
        b.t.need("GL_ARB_fragment_shader_interlock");
        let name = if begin { "beginInvocationInterlockARB" } else { "endInvocationInterlockARB" };
        b.line(format!("{name}()"));
    }

    fn print(&self, b: &mut Body, text: &str, args: Vec<Expr>) {
        self.print(b, text, args);
    }

    fn end(&self, b: &mut Body, ending: Ending, args: Values) {
        self.end(b, ending, args);
    }

    fn construct(&self, b: &mut Body, ty: TypeId, parts: Vec<Expr>) -> Expr {
        Expr::call(&b.t.type_name(ty), &parts)
    }

    fn splat(&self, t: &mut Writer, ty: TypeId, part: Expr) -> Expr {
        Expr::call(&t.type_name(ty), &[part])
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

    fn binary(&self, t: &mut Writer, op: BinaryOp, both: [&Expr; 2], of: [TypeId; 2]) -> Option<Expr> {
        self.binary(t, op, both, of)
    }

    fn remainder(&self, b: &mut Body, both: [Expr; 2], ty: TypeId) -> Expr {
        self.remainder(b, both, ty)
    }

    fn equal(&self, a: &Expr, b: &Expr, _: u8) -> Expr {
        Expr::binary("==", Level::Equality, a, b)
    }

    fn unequal(&self, a: &Expr, b: &Expr, _: u8) -> Expr {
        Expr::binary("!=", Level::Equality, a, b)
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

    fn element_part(&self, t: &mut Writer, id: GlobalId) -> Option<String> {
        self.member_of_blocks(t, id)
    }

    fn load(&self, b: &mut Body, pointer: Value, _: TypeId) -> Made {
        Made::One(b.load_path(pointer))
    }

    fn store(&self, b: &mut Body, pointer: Value, value: Value) {
        let value = b.value(value);
        b.store_path(pointer, value);
    }

    fn non_uniform(&self, t: &mut Writer, index: &str) -> String {
        t.need("GL_EXT_nonuniform_qualifier");
        format!("nonuniformEXT({index})")
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

    fn combined(&self, b: &mut Body, args: Values, ty: TypeId) -> Made {
        let args = b.list(args);
        Made::One(Expr::call(&b.t.type_name(ty), &args))
    }

    fn resident(&self, b: &mut Body, op: ImageOp, asked: &ImageCall, texel: TypeId) -> Option<[Expr; 2]> {
        self.resident(b, op, asked, texel)
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

    fn count_scalar(&self) -> Scalar {
        Scalar::I32
    }

    fn ballot_of_mask(&self, b: &mut Body, mask: &Expr) -> Expr {
        self.mask_as_ballot(b, mask)
    }

    fn group(&self, b: &mut Body, op: GroupOp, args: &[Arg]) -> Expr {
        self.group(b, op, args)
    }
}

/// The unit that runs a line.
pub(super) fn unit(line: &str) -> Unit {
    const LANES: [&str; 9] =
        ["subgroup", "Invocation", "shuffle", "ballot", "Ballot", "anyThread", "allThreads", "mbcnt", "quadSwizzle"];
    const CONTROL: [&str; 8] = ["if (", "for (", "while (", "do {", "}", "break", "continue", "switch ("];
    let line = line.trim();
    match line {
        _ if LANES.iter().any(|word| calls(line, word)) => Unit::Subgroup,
        _ if CONTROL.iter().any(|word| line.starts_with(word)) => Unit::Control,
        _ => Unit::Arithmetic,
    }
}

/// Returns true if a line calls a function whose name contains a word.
fn calls(line: &str, word: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    line.split_inclusive(|c| !is_part(c)).any(|part| part.ends_with('(') && part.contains(word))
}
