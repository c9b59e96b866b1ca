//! WGSL: what it has, what naga's writer makes of it, and what that leaves to be mended.

use crate::backend::losses::Kept;
use crate::backend::written::Unit;
use crate::diagnostic::cannot_write;
use crate::ir::ScalarKind;
use crate::lane::GroupOp;
use crate::limits;
use naga::valid::{Capabilities, ModuleInfo};

/// Numbers of lanes, distances and masks that are constants must be below this (WGSL 17.12).
pub(super) const MOST_LANES: u32 = 128;

/// The qualifiers that are kept.
pub(super) const KEPT: Kept =
    Kept { precise: false, can_be_precise: false, coherent_since: None, coherent_images: false };

/// The extensions and rules that a text begins with.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Needs {
    /// True if something of the language's subgroups is used.
    pub subgroups: bool,
    /// True if derivatives are taken where control flow may part.
    pub parted_derivatives: bool,
}

/// The capabilities that modules may use.
pub(super) const CAPABILITIES: Capabilities = Capabilities::SUBGROUP
    .union(Capabilities::SHADER_FLOAT16)
    .union(Capabilities::SHADER_FLOAT16_IN_FLOAT32)
    .union(Capabilities::CUBE_ARRAY_TEXTURES)
    .union(Capabilities::PRIMITIVE_INDEX)
    .union(Capabilities::MULTISAMPLED_SHADING)
    .union(Capabilities::DUAL_SOURCE_BLENDING)
    .union(Capabilities::MEMORY_DECORATION_COHERENT);

/// WGSL, W3C Candidate Recommendation Draft: the sections on `override` declarations, behaviors of statements, attributes,
/// entry points and their resources, memory layout, and built-in functions for textures, atomics and synchronization.
const ABSENT: &[&str] = &[
    "arrays of blocks, textures and samplers",
    "arrays with a specialization constant",
    "atomic operations on",
    "barriers of the subgroup",
    "buffers that vertex shaders write",
    "comparisons at a level",
    "critical sections",
    "early tests of fragments",
    "gathers of a component that is not a constant",
    "instructions of SPIR-V",
    "interpolation at another place",
    "layout with members or elements as close",
    "loops that never end",
    "memory barriers",
    "offsets of samples that are not constants",
    "printing",
    "residency of texels",
    "samples of 1D textures with biases or gradients",
    "samples of textures of integers",
    "specialization constants with numbers above 65535",
    "storage textures of several samples",
    "two specialization constants of one number",
    "two variables at one binding",
];

/// The message about a construct that is not in the text: the language does not have it, or it is not written yet.
pub(super) fn lacks(construct: &str, name: &str) -> String {
    if ABSENT.iter().any(|absent| construct.starts_with(absent)) {
        format!("{name} has no {construct}")
    } else {
        cannot_write(construct, name)
    }
}

/// The function of the language for a lane operation that naga's form lacks.
pub(super) fn stands_in(op: GroupOp) -> Option<&'static str> {
    (op == GroupOp::Elect).then_some("subgroupElect")
}

/// The unit that runs a line.
pub(super) fn unit(line: &str) -> Unit {
    const LANES: [&str; 2] = ["subgroup", "quad"];
    const CONTROL: [&str; 6] = ["if ", "loop ", "}", "break", "continue", "switch "];
    let line = line.trim();
    match line {
        _ if LANES.iter().any(|word| line.contains(word)) => Unit::Subgroup,
        _ if CONTROL.iter().any(|word| line.starts_with(word)) => Unit::Control,
        _ => Unit::Arithmetic,
    }
}

/// The name and the expression of a line that names a value.
pub(super) fn named(line: &str) -> Option<(&str, &str)> {
    line.strip_prefix("let ")?.split_once(" = ")
}

/// An integer type.
pub(super) fn type_name(kind: ScalarKind) -> &'static str {
    if kind == ScalarKind::Sint { "i32" } else { "u32" }
}

/// The largest finite number as naga writes it, which some compilers round up to what has no form, and its exact form.
const GREATEST: [&str; 2] = ["340282350000000000000000000000000000000f", "0x1.fffffep+127f"];

/// naga puts the attributes of a variable on a line of their own.
pub(super) fn text_of(module: &naga::Module, info: &ModuleInfo) -> Result<String, String> {
    let flags = naga::back::wgsl::WriterFlags::empty();
    let mut writer = naga::back::wgsl::Writer::new(limits::Text::default(), flags);
    writer.write(module, info).map_err(|error| super::finish::chain(&error))?;
    let text = writer.finish().0;
    limits::write(text.len());
    let mut joined = String::with_capacity(text.len());
    for line in text.lines() {
        joined.push_str(&line.trim_end().replace(GREATEST[0], GREATEST[1]));
        joined.push(if line.starts_with("@group") { ' ' } else { '\n' });
    }
    Ok(joined)
}

/// The language wants extensions before all else, and rules after them.
pub(super) fn complete(text: String, needs: &Needs) -> String {
    let heads = [
        (needs.subgroups, "enable subgroups;"),
        (needs.subgroups, "diagnostic(off, subgroup_uniformity);"),
        (needs.parted_derivatives, "diagnostic(off, derivative_uniformity);"),
    ];
    let heads: Vec<&str> = heads.into_iter().filter(|(is_needed, _)| *is_needed).map(|(_, line)| line).collect();
    let gap = if heads.is_empty() { None } else { Some("") };
    let lines = || heads.iter().copied().chain(gap).chain(text.lines());
    let is_enable = |line: &&str| line.starts_with("enable ");
    let mut all = String::with_capacity(text.len() + 128);
    for line in lines().filter(is_enable).chain(lines().filter(|line| !is_enable(line))) {
        all.push_str(line);
        all.push('\n');
    }
    all
}
