//! MSL: the row of the language, and where resources are bound.
//!
//! Buffers, textures and samplers have numbers of their own in the language: each kind is numbered from 0 in the order of
//! sets and bindings. The buffer with the sizes of runtime arrays comes after all others.

use super::language::{Asked, Constants, Language, Sizing, c_type};
use super::reflection;
use super::sizes::macro_name;
use crate::lane::{GroupOp, VoteOp};
use naga::back::msl::{BindSamplerTarget, BindTarget, EntryPointResources, Options, PipelineOptions, write_string};
use naga::valid::{Capabilities, ModuleInfo};
use naga::{AddressSpace, ArraySize, GlobalVariable, ResourceBinding, StorageAccess, TypeInner};
use rustc_hash::FxHashSet;

/// The descriptor set of the push constants, after the sets of all resources.
const PUSH_SET: u32 = u32::MAX;

pub(super) static MSL: Language = Language {
    capabilities: Capabilities::SUBGROUP
        .union(Capabilities::SHADER_FLOAT16)
        .union(Capabilities::SHADER_FLOAT16_IN_FLOAT32)
        .union(Capabilities::CUBE_ARRAY_TEXTURES)
        .union(Capabilities::PRIMITIVE_INDEX)
        .union(Capabilities::MULTISAMPLED_SHADING)
        .union(Capabilities::DUAL_SOURCE_BLENDING),
    write: text,
    complete: |text, _| text,
    reflection: reflection::metal,
    stands_in: function,
    namespace: "metal::",
    most_lanes: 32,
    naming: named,
    lane_words: &["simd_", "quad_"],
    control_words: &["if ", "} else", "while", "for ", "}", "{", "break", "continue", "switch", "case ", "default"],
    constants: Constants::Macros,
    sizing: Sizing {
        length: ["[", "]"],
        // The one member of a struct.
        declares: |line| line.contains(" inner[") && !line.contains(['=', '.', '(']),
        workgroup: "[[max_total_threads_per_threadgroup(",
        multiplies: true,
        signed: |number| format!("({number})"),
        type_name: c_type,
        bits: |kind, value| format!("as_type<{}>({value})", c_type(kind)),
        choice: |condition, accept, reject| format!("({condition} ? {accept} : {reject})"),
    },
    push_constants: Some(ResourceBinding { group: PUSH_SET, binding: 0 }),
    folds_unsigned_bits: false,
    missing_built_ins: &[],
    divides_into_waves: false,
    fragments_have_w: false,
    has_frexp: true,
    has_inverse: false,
    has_offsets_of_all: true,
    compares_at_level_0: false,
    has_subgroup_barriers: false,
    has_endless_loops: true,
};

/// The functions of the language for what naga's form lacks.
fn function(op: GroupOp) -> Option<&'static str> {
    Some(match op {
        GroupOp::Elect => "simd_is_first",
        GroupOp::QuadVote(VoteOp::All) => "quad_all",
        GroupOp::QuadVote(VoteOp::Any) => "quad_any",
        _ => return None,
    })
}

/// The name and the expression of a line such as `metal::float2 moved = _e3;`.
fn named(line: &str) -> Option<(&str, &str)> {
    let (left, right) = line.split_once(" = ")?;
    let (ty, name) = left.split_once(' ')?;
    let is_word = |word: &str| word.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | ':'));
    (is_word(ty) && is_word(name)).then_some((name, right))
}

/// The kind of a number, in whose space a resource has one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    Buffer,
    Texture,
    Sampler,
}

impl Kind {
    pub const fn name(self) -> &'static str {
        match self {
            Kind::Buffer => "buffer",
            Kind::Texture => "texture",
            Kind::Sampler => "sampler",
        }
    }
}

/// A resource with its number.
#[derive(Clone, Debug)]
pub(super) struct Slot {
    pub name: String,
    /// None for push constants and for the buffer of sizes.
    pub binding: Option<ResourceBinding>,
    pub kind: Kind,
    pub index: u8,
    is_written: bool,
}

/// The resources of a module with their numbers, the buffer of sizes last if some array has a size that only the run knows.
pub(super) fn slots(module: &naga::Module) -> Vec<Slot> {
    let mut bound: Vec<(ResourceBinding, &GlobalVariable)> =
        module.global_variables.iter().filter_map(|(_, variable)| Some((variable.binding?, variable))).collect();
    bound.sort_by_key(|(binding, _)| (binding.group, binding.binding));
    let mut next = [0u8; 3];
    let mut number = |kind: Kind| {
        let index = next[kind as usize];
        next[kind as usize] = index.saturating_add(1);
        index
    };
    let mut slots: Vec<Slot> = bound
        .iter()
        .map(|(binding, variable)| {
            let kind = match module.types[variable.ty].inner {
                TypeInner::Image { .. } => Kind::Texture,
                TypeInner::Sampler { .. } => Kind::Sampler,
                _ => Kind::Buffer,
            };
            let is_written = match variable.space {
                AddressSpace::Storage { access } => access.contains(StorageAccess::STORE),
                _ => false,
            };
            let name = variable.name.clone().unwrap_or_default();
            let binding = Some(*binding).filter(|binding| binding.group != PUSH_SET);
            Slot { name, binding, kind, index: number(kind), is_written }
        })
        .collect();
    if bound.iter().any(|(_, variable)| has_runtime_array(module, variable)) {
        let (name, kind) = ("_buffer_sizes".to_string(), Kind::Buffer);
        slots.push(Slot { name, binding: None, kind, index: number(kind), is_written: false });
    }
    slots
}

fn has_runtime_array(module: &naga::Module, variable: &GlobalVariable) -> bool {
    let is_runtime = |ty| matches!(module.types[ty].inner, TypeInner::Array { size: ArraySize::Dynamic, .. });
    match &module.types[variable.ty].inner {
        TypeInner::Struct { members, .. } => members.last().is_some_and(|member| is_runtime(member.ty)),
        _ => is_runtime(variable.ty),
    }
}

fn resources(slots: &[Slot]) -> EntryPointResources {
    let mut made = EntryPointResources::default();
    for slot in slots {
        let target = BindTarget {
            buffer: (slot.kind == Kind::Buffer).then_some(slot.index),
            texture: (slot.kind == Kind::Texture).then_some(slot.index),
            sampler: (slot.kind == Kind::Sampler).then_some(BindSamplerTarget::Resource(slot.index)),
            external_texture: None,
            mutable: slot.is_written,
        };
        match (slot.binding, &*slot.name) {
            (Some(binding), _) => drop(made.resources.insert(binding, target)),
            (None, "_buffer_sizes") => made.sizes_buffer = Some(slot.index),
            (None, _) => drop(made.resources.insert(ResourceBinding { group: PUSH_SET, binding: 0 }, target)),
        }
    }
    made
}

fn text(module: &naga::Module, info: &ModuleInfo, asked: &Asked) -> Result<String, String> {
    let slots = slots(module);
    let per_entry = module.entry_points.iter().map(|entry| (entry.name.clone(), resources(&slots)));
    let options = Options {
        lang_version: asked.profile.version,
        per_entry_point_map: per_entry.collect(),
        fake_missing_bindings: false,
        zero_initialize_workgroup_memory: asked.zeroes_shared,
        force_loop_bounding: false,
        ..Options::default()
    };
    let (text, _) = write_string(module, info, &options, &PipelineOptions::default())
        .map_err(|error| super::finish::chain(&error))?;
    Ok(mended(&text, module, info, asked))
}

/// The text with specialization constants as macros. Each entry point begins with the variables of its invocation.
fn mended(text: &str, module: &naga::Module, info: &ModuleInfo, asked: &Asked) -> String {
    let is_private = |variable: &GlobalVariable| variable.space == AddressSpace::Private;
    let of_entry = |index: usize| {
        let used = info.get_entry_point(index);
        let all = module.global_variables.iter().filter(|(_, variable)| is_private(variable));
        all.filter(|(handle, _)| !used[*handle].is_empty()).map(|(handle, _)| handle).collect::<Vec<_>>()
    };
    let mut entries = (0..module.entry_points.len()).map(of_entry);
    let mut left = Vec::new().into_iter();
    let mut opens = false;
    let mut whole = String::with_capacity(text.len());
    for line in text.lines() {
        if ["kernel void ", "vertex ", "fragment "].iter().any(|stage| line.contains(stage)) && line.ends_with('(') {
            left = entries.next().unwrap_or_default().into_iter();
            opens = true;
        } else if opens && line == ") {" {
            opens = false;
        } else if !opens && let Some(variable) = left.next() {
            let constant = asked.macros.iter().find(|(made, _)| *made == variable);
            whole.push_str(&constant.map_or_else(|| line.to_string(), |(_, number)| by_macro(line, *number)));
            whole.push('\n');
            continue;
        }
        whole.push_str(line.trim_end());
        whole.push('\n');
    }
    with_defaults(&with_textures(&whole), module, asked)
}

/// The name after the type of each texture whose type begins so.
fn textures<'t>(text: &'t str, ty: &str) -> FxHashSet<&'t str> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let declared = text.lines().filter_map(|line| {
        let (_, named) = line.split_once(ty)?.1.split_once("> ")?;
        named.split(|c| !is_part(c)).next()
    });
    declared.collect()
}

/// The text with gradients of the texture's dimensions, and with a fence after each write to a texture that is read too,
/// which a thread needs to read what it wrote (MSL 6.12, Texture Functions).
fn with_textures(text: &str) -> String {
    let [cubes, solids] = ["metal::texturecube", "metal::texture3d"].map(|ty| textures(text, ty));
    let in_both_ways = text.lines().filter(|line| line.contains("metal::access::read_write> "));
    let in_both_ways = in_both_ways.collect::<Vec<_>>().join("\n");
    let in_both_ways = textures(&in_both_ways, "metal::texture");
    let mut whole = String::with_capacity(text.len());
    for line in text.lines() {
        let words = line.trim_start();
        let calls =
            |names: &FxHashSet<&str>, of: &str| names.iter().any(|name| line.contains(&format!(" {name}.{of}(")));
        let gradient = match () {
            () if calls(&cubes, "sample") => "metal::gradientcube(",
            () if calls(&solids, "sample") => "metal::gradient3d(",
            () => "metal::gradient2d(",
        };
        whole.push_str(&line.replace("metal::gradient2d(", gradient));
        whole.push('\n');
        let written = words.split_once(".write(").map(|(name, _)| name).filter(|name| in_both_ways.contains(name));
        if let Some(name) = written {
            whole.push_str(&format!("{}{name}.fence();\n", &line[..line.len() - words.len()]));
        }
    }
    whole
}

/// The line of a variable that starts with what a macro says.
fn by_macro(line: &str, number: u32) -> String {
    match line.split_once(" = ") {
        Some((declared, _)) => format!("{declared} = {};", macro_name(number)),
        None => line.to_string(),
    }
}

/// The text after the values that macros have where nobody defines them.
fn with_defaults(text: &str, module: &naga::Module, asked: &Asked) -> String {
    let mut defaults = String::new();
    for (variable, number) in asked.macros {
        let init = module.global_variables[*variable].init.map(|init| &module.global_expressions[init]);
        let value = match init {
            Some(naga::Expression::Literal(naga::Literal::U32(value))) => format!("{value}u"),
            Some(naga::Expression::Literal(naga::Literal::I32(i32::MIN))) => "(-2147483647 - 1)".to_string(),
            Some(naga::Expression::Literal(naga::Literal::I32(value))) => format!("({value})"),
            Some(naga::Expression::Literal(naga::Literal::Bool(value))) => value.to_string(),
            Some(naga::Expression::Literal(naga::Literal::F32(value))) => format!("({value:?})"),
            Some(naga::Expression::Literal(naga::Literal::F16(value))) => format!("({value:?}h)"),
            _ => continue,
        };
        let by = macro_name(*number);
        defaults.push_str(&format!("#ifndef {by}\n#define {by} {value}\n#endif\n"));
    }
    match text.split_once("using metal::uint;\n") {
        Some((before, after)) if !defaults.is_empty() => format!("{before}using metal::uint;\n\n{defaults}{after}"),
        _ => text.to_string(),
    }
}

/// The name that the entry point has in the text, where `main` and other words are reserved.
pub(super) fn entry_name(text: &str) -> Option<&str> {
    let line = text.lines().find(|line| {
        line.ends_with('(') && ["kernel void ", "vertex ", "fragment "].iter().any(|stage| line.contains(stage))
    })?;
    line.strip_suffix('(')?.rsplit(' ').next()
}

/// The resources with an array of a size that only the run knows, in the order in which the buffer of sizes has them.
pub(super) fn sized(module: &naga::Module) -> Vec<String> {
    let with_array = module.global_variables.iter().filter(|(_, variable)| has_runtime_array(module, variable));
    with_array.map(|(_, variable)| variable.name.clone().unwrap_or_default()).collect()
}
