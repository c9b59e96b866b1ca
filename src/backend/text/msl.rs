//! MSL: the row of the language, and where resources are bound.
//!
//! Buffers, textures and samplers have numbers of their own in the language: each kind is numbered from 0 in the order of
//! sets and bindings, around the numbers that options choose. The buffer with the sizes of runtime arrays comes last.

use super::language::{Asked, Constants, Language, Sizing, c_type};
use super::reflection;
use super::sizes::macro_name;
use super::slots::{self, Most, Slot};
use crate::backend::losses::Kept;
use crate::backend::places::Places;
use crate::lane::{GroupOp, VoteOp};
use crate::limits;
use crate::source::Span;
use naga::back::msl::{BindSamplerTarget, BindTarget, EntryPointResources, Options, PipelineOptions, Writer};
use naga::valid::{Capabilities, ModuleInfo};
use naga::{AddressSpace, ArraySize, GlobalVariable, ResourceBinding, TypeInner};
use rustc_hash::FxHashSet;
use std::collections::BTreeSet;

const BUFFER: &str = "buffer";

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
    slots,
    most_slots: most,
    has_uniformity: false,
    has_vertex_writes: true,
    kept: Kept { precise: false, can_be_precise: true, coherent_since: Some((3, 2)), coherent_images: false },
    absent: ABSENT,
    has_inverse: false,
    compares_at_level_0: false,
    has_subgroup_barriers: false,
    has_endless_loops: true,
};

/// Numbers of resources end as in Apple's table of feature sets.
const ABSENT: &[&str] = &["buffer ", "instructions of SPIR-V", "sampler ", "texture "];

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

/// The buffer with the sizes of runtime arrays.
const SIZES: &str = "_buffer_sizes";

/// The resources of a module with their numbers: the chosen ones, then the others in order, each the first that is free of
/// its kind; the buffer of sizes last if some array has a size that only the run knows.
fn slots(module: &naga::Module, places: &Places) -> Vec<Slot> {
    let kind = |variable: &GlobalVariable| match module.types[variable.ty].inner {
        TypeInner::Image { .. } => "texture",
        TypeInner::Sampler { .. } => "sampler",
        _ => BUFFER,
    };
    const OPEN: u32 = u32::MAX;
    let mut slots = slots::of_variables(module, places, &MSL, |variable, _, place| {
        let space = place.and_then(|place| place.group).unwrap_or(0);
        (kind(variable), space, place.map_or(OPEN, |place| place.number))
    });
    if module.global_variables.iter().any(|(_, variable)| has_runtime_array(module, variable)) {
        let (name, kind, index) = (SIZES.to_string(), BUFFER, OPEN);
        let span = Span::NONE;
        slots.push(Slot { name, key: None, binding: None, kind, space: 0, index, is_written: false, span });
    }
    for at in 0..slots.len() {
        if slots[at].index == OPEN {
            let kind = slots[at].kind;
            limits::spend(slots.len());
            let taken: BTreeSet<u32> = slots.iter().filter(|slot| slot.kind == kind).map(|slot| slot.index).collect();
            slots[at].index = (0..).find(|index| !taken.contains(index)).unwrap_or(OPEN);
        }
    }
    slots
}

/// Metal Feature Set Tables: entries of argument tables.
const fn most(kind: &str) -> Most {
    let index = match kind.as_bytes() {
        b"buffer" => 30,
        b"texture" => 127,
        _ => 15,
    };
    Most { space: 0, index }
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
        let index = u8::try_from(slot.index).unwrap_or(u8::MAX);
        let target = BindTarget {
            buffer: (slot.kind == BUFFER).then_some(index),
            texture: (slot.kind == "texture").then_some(index),
            sampler: (slot.kind == "sampler").then_some(BindSamplerTarget::Resource(index)),
            external_texture: None,
            mutable: slot.kind == BUFFER && slot.is_written,
        };
        match slot.key {
            Some(key) => drop(made.resources.insert(key, target)),
            None => made.sizes_buffer = Some(index),
        }
    }
    made
}

fn text(module: &naga::Module, info: &ModuleInfo, asked: &Asked) -> Result<String, String> {
    let per_entry = module.entry_points.iter().map(|entry| (entry.name.clone(), resources(asked.slots)));
    let options = Options {
        lang_version: asked.profile.version,
        per_entry_point_map: per_entry.collect(),
        fake_missing_bindings: false,
        zero_initialize_workgroup_memory: asked.zeroes_shared,
        force_loop_bounding: false,
        ..Options::default()
    };
    let mut writer = Writer::new(limits::Text::default());
    writer.write(module, info, &options, &PipelineOptions::default()).map_err(|error| super::finish::chain(&error))?;
    Ok(mended(&writer.finish().0, module, info, asked))
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
        limits::write(2 * line.len());
        if ["kernel void ", "vertex ", "fragment "].iter().any(|stage| line.contains(stage)) && line.ends_with('(') {
            left = entries.next().unwrap_or_default().into_iter();
            opens = true;
        } else if opens && line == ") {" {
            opens = false;
        } else if !opens && let Some(variable) = left.next() {
            limits::spend(asked.macros.len());
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
        limits::spend(cubes.len() + solids.len());
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

/// The text after the default values of macros.
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
