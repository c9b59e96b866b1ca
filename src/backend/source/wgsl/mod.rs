//! WGSL (W3C Candidate Recommendation Draft; sections are its).

mod bits;
mod constants;
mod entry;
mod function;
mod globals;
mod helpers;
mod image;
mod lane;
mod math;
mod memory;
mod names;
mod reflection;
mod stage;
mod types;
mod uniform;

pub(super) use self::lane::function;
use super::expr::{Expr, Level};
use super::function::{Body, Made};
use super::image::ImageCall;
use super::inout::References;
use super::lane::Arg;
use super::language::{Language, Ordering};
use super::layout::How;
use super::lines;
use super::place::{Address, Form};
use super::tree::{Declared, Kind, Stmt, Syntax};
use super::writer::{Shader, Writer};
use crate::backend::losses::{self, Kept};
use crate::backend::written::Unit;
use crate::backend::{Made as Result, Options};
use crate::diagnostic::Diagnostic;
use crate::ir::{
    AtomicOp, BinaryOp, BuiltIn, ConstId, ControlHint, EntryPoint, FuncId, Global, GlobalId, ImageOp, ImageParts,
    ImageType, InstFlags, InstId, InterpolateAt, LocalId, MathFn, MemoryKinds, Module, Order, Param, Scalar, Scope,
    Space, StructId, Type, TypeId, UnaryOp, Value, Values,
};
use crate::lane::{GroupOp, LaneFact};
use crate::profile::Profile;
use rustc_hash::{FxHashMap, FxHashSet};
use stage::Port;
use std::borrow::Cow;
use std::collections::BTreeSet;

/// WGSL-specific facts about a module.
#[derive(Default)]
pub(super) struct State {
    /// The inputs and outputs that each function uses, directly or through calls.
    uses: FxHashMap<FuncId, BTreeSet<Port>>,
    /// Inputs and outputs that functions other than entry points use.
    shared: BTreeSet<Port>,
    /// Inputs and outputs with a private variable.
    private: BTreeSet<Port>,
    /// Their places in the current entry point.
    places: FxHashMap<Port, String>,
    outputs: entry::Outputs,
    /// True if some entry point has a struct of outputs.
    has_outputs: bool,
    /// Names of this lane's number and of the number of lanes.
    lane_names: [String; 2],
    /// Samplers of the source's combined textures.
    samplers: FxHashMap<GlobalId, String>,
    /// The constants that names in the current function represent.
    named_constants: FxHashMap<LocalId, ConstId>,
    /// Functions added to the text, by the type of their operands.
    helpers: FxHashMap<(&'static str, TypeId), String>,
    /// Samplers of parameters with combined textures.
    param_samplers: FxHashMap<(FuncId, u32), String>,
    /// Wrapper structs that pad a value to a stride.
    wrappers: FxHashMap<(String, u32), String>,
    /// Variables that functions load or store as a whole.
    copied: Option<FxHashSet<GlobalId>>,
    /// True if derivatives are taken in possibly divergent control flow.
    has_parted_derivatives: bool,
}

pub(super) const WGSL: Wgsl = Wgsl;

/// WGSL.
#[derive(Debug)]
pub(super) struct Wgsl;

/// Statements of the language (WGSL 9).
const SYNTAX: Syntax = Syntax {
    around: ["", ""],
    declared: |Declared { ty, name, value, is_fixed, .. }| match value {
        Some(value) if *is_fixed => format!("let {name} = {value}"),
        Some(value) => format!("var {name} = {value}"),
        None => format!("var {name}: {ty}"),
    },
    labels: |labels| match labels {
        [] => vec!["default:".to_string()],
        [only] if only == "default" => vec!["default:".to_string()],
        several => {
            let values: Vec<&str> = several.iter().map(|label| label.trim_start_matches("case ")).collect();
            vec![format!("case {}:", values.join(", "))]
        }
    },
    arms: 1,
    arm_end: None,
    endless: "loop",
    repeated: "loop",
    ends: |ends| {
        let lines = ["    continuing {", &format!("        break if {};", ends.text), "    }", "}"].map(str::to_string);
        lines.to_vec()
    },
};

impl Language for Wgsl {
    fn name(&self) -> &'static str {
        "WGSL"
    }

    fn reshape(&self, module: &mut Cow<Module>) {
        if stage::lacks_position(module) {
            stage::add_position(module.to_mut());
        }
    }

    fn assigns_components(&self) -> bool {
        false
    }

    fn lacks_line(&self, module: &Module, image: ImageType) -> bool {
        let chosen = ImageParts::BIAS | ImageParts::GRADIENTS | ImageParts::OFFSET;
        image.arrayed || image.depth || !image.storage && lines::are_sampled_with(module, chosen)
    }

    fn lacks_arrays_of(&self, _: Type) -> bool {
        true
    }

    fn spelled(&self, name: &str) -> String {
        names::spelled(name)
    }

    fn has_many_entries(&self, _: &Module) -> bool {
        true
    }

    fn entry_name(&self, entry: &EntryPoint) -> String {
        entry.name.to_string()
    }

    fn syntax(&self) -> &'static Syntax {
        &SYNTAX
    }

    fn head(&self, t: &Writer) -> Vec<String> {
        let mut lines: Vec<String> = t.extensions.iter().map(|name| format!("enable {name};")).collect();
        if t.extensions.contains("subgroups") {
            lines.push("diagnostic(off, subgroup_uniformity);".to_string());
        }
        if t.wgsl.has_parted_derivatives {
            lines.push("diagnostic(off, derivative_uniformity);".to_string());
        }
        lines
    }

    fn stage(&self, t: &mut Writer, entry: &EntryPoint) -> Vec<String> {
        self.check_stage(t, entry);
        let is_first = t.module.entry_points.first().is_some_and(|first| first.function == entry.function);
        if is_first {
            t.find_ports(entry);
            self.name_port_structs(t);
            t.wgsl.lane_names = ["lane_index", "lane_count"].map(|name| t.names.unique(name, None));
            self.find_uses(t);
            self.find_atomics(t);
            self.check_uniformity(t);
        }
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
        self.array_name(t, ty)
    }

    fn member_line(&self, ty: &str, name: &str, _: &str) -> String {
        format!("    {name}: {ty},")
    }

    fn struct_end(&self) -> &'static str {
        "}"
    }

    fn parts_structs(&self) -> bool {
        true
    }

    fn constant_words(&self) -> &'static str {
        "const "
    }

    fn constant_line(&self, [_, name, _, value]: [&str; 4]) -> String {
        format!("const {name} = {value};")
    }

    fn names_constant(&self, t: &Writer, id: ConstId) -> bool {
        self.is_constant(t, id)
    }

    fn length_text(&self, t: &mut Writer, id: ConstId) -> Option<String> {
        Some(t.constant(id).text)
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

    fn block_variable(&self, t: &mut Writer, id: GlobalId, of: StructId) -> Option<String> {
        Some(self.block_variable(t, id, of))
    }

    fn declare(&self, t: &mut Writer, id: GlobalId, global: &Global) -> String {
        self.declare(t, id, global)
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

    fn member_lines(&self, t: &mut Writer, of: StructId, how: How, names: &[String]) -> Vec<String> {
        self.member_lines(t, of, how, names)
    }

    fn read_bytes(&self, b: &mut Body, address: &Address, _: Scalar, _: (u32, u8)) -> Expr {
        self.refuse_bytes(b, address);
        Expr::primary("0")
    }

    fn write_bytes(&self, b: &mut Body, address: &Address, _: (Scalar, u8), _: &Expr) {
        self.refuse_bytes(b, address);
    }

    fn assigns_swizzles(&self) -> bool {
        false
    }

    fn atomic_read(&self, place: &Expr) -> Expr {
        Expr::call("atomicLoad", &[function::address_of(place)]).reading_memory(true)
    }

    fn atomic_write(&self, place: &Expr, value: &Expr) -> String {
        Expr::call("atomicStore", &[function::address_of(place), value.clone()]).text
    }

    fn begin(&self, b: &mut Body) {
        self.begin(b);
    }

    fn polish(&self, b: &mut Body, code: &mut Vec<Stmt>) {
        self.polish(b, code);
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

    fn can_name(&self, b: &mut Body, local: LocalId, value: Value) -> bool {
        self.can_name(b, local, value)
    }

    fn references(&self) -> References {
        References::Variables
    }

    fn has_fixed_names(&self) -> bool {
        true
    }

    fn hint(&self, _: &mut Body, _: ControlHint) -> &'static str {
        ""
    }

    fn has_endless_loops(&self) -> bool {
        false
    }

    fn has_continuing(&self) -> bool {
        true
    }

    fn most_steps(&self) -> usize {
        1
    }

    fn falls_through(&self) -> bool {
        false
    }

    fn discard(&self, b: &mut Body) {
        self.discard(b);
    }

    fn demote(&self, b: &mut Body) {
        b.push(Kind::Demote);
    }

    fn interlock(&self, b: &mut Body, _: bool) {
        b.t.lacks("critical sections");
    }

    fn print(&self, b: &mut Body, _: &str, _: Vec<Expr>) {
        b.t.lacks("printing");
    }

    fn construct(&self, b: &mut Body, ty: TypeId, parts: Vec<Expr>) -> Expr {
        self.construct(b, ty, &parts)
    }

    fn splat(&self, t: &mut Writer, ty: TypeId, part: Expr) -> Expr {
        Expr::call(&t.type_name(ty), &[part])
    }

    fn picks(&self, t: &Writer, ty: TypeId) -> bool {
        t.shape(ty).is_some()
    }

    fn picked(&self, parts: [Expr; 3]) -> Expr {
        self.select(&parts)
    }

    fn choice(&self, b: &mut Body, parts: &[Expr; 3], ty: TypeId) -> Expr {
        self.choice(b, parts, ty)
    }

    fn mixed(&self, _: &mut Body, parts: &[Expr; 3], _: TypeId) -> Expr {
        self.select(parts)
    }

    fn unary(&self, t: &mut Writer, op: UnaryOp, a: &Expr, of: TypeId) -> Expr {
        self.unary(t, op, a, of)
    }

    fn guarded(&self, b: &mut Body, op: BinaryOp, values: [Value; 2], both: [Expr; 2]) -> [Expr; 2] {
        self.guarded(b, op, values, both)
    }

    fn binary(&self, t: &mut Writer, op: BinaryOp, both: [&Expr; 2], of: [TypeId; 2]) -> Option<Expr> {
        Some(self.binary(t, op, both, of))
    }

    fn infix(&self, op: (&str, Level), a: &Expr, b: &Expr) -> Expr {
        math::infix(op, a, b)
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

    fn access(&self, b: &mut Body, id: InstId, base: Value, indices: Values, flags: InstFlags) -> Made {
        b.place_of(id, base, indices, flags)
    }

    fn load(&self, b: &mut Body, pointer: Value, _: TypeId) -> Made {
        self.load(b, pointer)
    }

    fn store(&self, b: &mut Body, pointer: Value, value: Value) {
        b.store_place(pointer, value);
    }

    fn non_uniform(&self, _: &mut Writer, index: &str) -> String {
        index.to_string()
    }

    fn array_length(&self, b: &mut Body, block: Value) -> Expr {
        self.array_length(b, block)
    }

    fn atomic(&self, b: &mut Body, op: AtomicOp, pointer: Value, args: Values, _: Ordering) -> Option<Expr> {
        self.atomic(b, op, pointer, args)
    }

    fn barrier(&self, b: &mut Body, _: Option<Scope>, _: Scope, _: MemoryKinds, _: Order) {
        self.barrier(b);
    }

    fn interpolate(&self, b: &mut Body, _: InterpolateAt, _: Value, _: Values) -> Expr {
        b.t.lacking("interpolation at another place")
    }

    fn image(&self, b: &mut Body, op: ImageOp, call: &ImageCall, ty: TypeId) -> Option<Expr> {
        self.image(b, op, call, ty)
    }

    fn fact(&self, b: &mut Body, fact: LaneFact) -> Expr {
        self.fact(b, fact)
    }

    fn bits_of(&self, t: &mut Writer, value: &Expr, (scalar, size): (Scalar, u8)) -> Expr {
        let [own, wide, words] = [scalar, Scalar::F32, Scalar::U32].map(|scalar| t.types.vector(scalar, size));
        let wide_value = t.converted(value, own, wide);
        t.reinterpreted(&wide_value, wide, words)
    }

    fn ballot_of_mask(&self, b: &mut Body, _: &Expr) -> Expr {
        b.t.lacking("masks of 64 bits")
    }

    fn group(&self, b: &mut Body, op: GroupOp, args: &[Arg]) -> Expr {
        self.group(b, op, args)
    }
}

/// Warnings about qualifiers that the language cannot keep.
pub(super) fn losses(module: &Module, profile: &Profile) -> Vec<Diagnostic> {
    let kept = Kept {
        precise: false,
        can_be_precise: false,
        coherent_since: None,
        coherent_images: false,
        point_sizes: false,
    };
    losses::losses(module, profile, kept)
}

/// The unit that runs a line.
pub(super) fn unit(line: &str) -> Unit {
    const CONTROL: [&str; 9] = ["if ", "loop ", "for ", "while ", "continuing ", "}", "break", "continue", "switch "];
    let line = line.trim();
    match line {
        _ if line.contains("subgroup") || line.contains("quad") => Unit::Subgroup,
        _ if CONTROL.iter().any(|word| line.starts_with(word)) => Unit::Control,
        _ => Unit::Arithmetic,
    }
}
