//! Rewrites a fixture's GLSL for Vulkan as the driver's own GLSL for OpenGL: the same shader, with other names where
//! the two differ. No computation is changed.
//!
//! OpenGL has units instead of image bindings, a buffer instead of push constants, numbers instead of specialization
//! constants, and no separate samplers or subpass inputs: shaders with those stay unchanged, and the driver refuses
//! them.

use std::collections::BTreeMap;

use super::stage::PUSH;

/// The facts that a shader gets as constants instead of from a pipeline.
pub struct Facts<'a> {
    /// The unit of each binding of textures and images.
    pub units: &'a BTreeMap<u32, u32>,
    /// Elements of each such binding.
    pub elements: &'a BTreeMap<u32, u32>,
    /// Specialization constants and the bits of their values.
    pub constants: &'a [(u32, u32)],
    /// The number of the draw's first vertex, which OpenGL provides only for indexed draws.
    pub first_vertex: u32,
}

/// Words in Vulkan's GLSL and in OpenGL's.
const WORDS: &[(&str, &str)] = &[
    ("gl_VertexIndex", "gl_VertexID"),
    ("gl_InstanceIndex", "(gl_BaseInstance + gl_InstanceID)"),
    ("nonuniformEXT", ""),
    ("terminateInvocation", "discard"),
    // In shaders for OpenGL ES, the driver computes with halves where crosslane computes with floats.
    ("mediump", "highp"),
    ("lowp", "highp"),
];

/// Vulkan GLSL extensions, and their OpenGL equivalents.
const EXTENSIONS: &[(&str, &[&str])] = &[
    ("GL_EXT_nonuniform_qualifier", &["GL_NV_gpu_shader5"]),
    ("GL_EXT_terminate_invocation", &[]),
    ("GL_EXT_shader_atomic_float", &["GL_NV_shader_atomic_float"]),
    ("GL_EXT_shader_16bit_storage", &[]),
    ("GL_EXT_shader_explicit_arithmetic_types_int64", &["GL_NV_gpu_shader5", "GL_ARB_gpu_shader_int64"]),
    ("GL_EXT_shader_explicit_arithmetic_types_float16", &["GL_NV_gpu_shader5"]),
    ("GL_EXT_shader_explicit_arithmetic_types_int16", &["GL_NV_gpu_shader5"]),
    ("GL_EXT_debug_printf", &[]),
];

/// The whole shader.
pub fn opengl(source: &str, facts: &Facts<'_>) -> String {
    let text: String = source.lines().map(|line| self::line(line, facts) + "\n").collect();
    words(&text).replace("gl_BaseVertex", &facts.first_vertex.to_string())
}

fn line(line: &str, facts: &Facts<'_>) -> String {
    if line.starts_with("//") {
        return line.to_owned();
    }
    if line.starts_with("#version") && !line.ends_with("es") {
        return "#version 460 compatibility".to_owned();
    }
    if let Some(rest) = line.strip_prefix("#extension ") {
        return extension(rest);
    }
    if line.starts_with("layout(origin_upper_left)") {
        // The first row is the lowest in OpenGL, and the first in both.
        return String::new();
    }
    if line.starts_with("layout(local_size_x_id = ") {
        return local_size(line, facts.constants);
    }
    if let Some(rest) = line.strip_prefix("layout(constant_id = ") {
        return constant(rest, facts.constants).unwrap_or_else(|| line.to_owned());
    }
    let push = format!("layout(std430, binding = {PUSH}) readonly buffer");
    sized(&bound(&line.replace("layout(push_constant) uniform", &push), facts.units), facts)
}

/// The words after `#extension`.
fn extension(rest: &str) -> String {
    let name = rest.split([' ', ':']).next().unwrap_or_default();
    let enable = |name: &&str| format!("#extension {name} : enable");
    match EXTENSIONS.iter().find(|(known, _)| *known == name) {
        Some((_, names)) => names.iter().map(enable).collect::<Vec<_>>().join("\n"),
        None => enable(&name),
    }
}

/// `N) const TYPE NAME = VALUE;` with the value that the pipeline sets.
fn constant(rest: &str, constants: &[(u32, u32)]) -> Option<String> {
    let (id, rest) = rest.split_once(')')?;
    let (before, _) = rest.split_once('=')?;
    let ty = before.split_whitespace().nth(1)?;
    let id: u32 = id.parse().ok()?;
    let Some((_, bits)) = constants.iter().find(|(known, _)| *known == id) else { return Some(rest.to_owned()) };
    let value = if ty == "float" { format!("{:?}", f32::from_bits(*bits)) } else { format!("{ty}({bits}u)") };
    Some(format!("{before}= {value};"))
}

/// With numbers instead of specialization constants for the sides of a workgroup.
fn local_size(line: &str, constants: &[(u32, u32)]) -> String {
    let side = |part: &str| match part.split_once("_id = ") {
        Some((name, rest)) => {
            let (number, behind) = number(rest);
            let known = constants.iter().find(|(id, _)| Some(*id) == number);
            format!("{name} = {}{behind}", known.map_or(1, |(_, value)| *value))
        }
        None => part.to_owned(),
    };
    line.split(", ").map(side).collect::<Vec<_>>().join(", ")
}

/// Adds the unit of each binding; buffers keep theirs.
fn bound(line: &str, units: &BTreeMap<u32, u32>) -> String {
    const BINDING: &str = "binding = ";
    let Some(at) = line.find(BINDING).filter(|_| !line.contains(" buffer ") && !line.contains("std140")) else {
        return line.to_owned();
    };
    let (before, rest) = line.split_at(at + BINDING.len());
    let (binding, behind) = number(rest);
    let unit = binding.and_then(|binding| units.get(&binding));
    unit.map_or_else(|| line.to_owned(), |unit| format!("{before}{unit}{behind}"))
}

/// The number at the beginning of a text, and the rest of it.
fn number(text: &str) -> (Option<u32>, &str) {
    let (digits, behind) = text.split_at(text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len()));
    (digits.parse().ok(), behind)
}

/// Adds the number of elements to an array of textures without one.
fn sized(line: &str, facts: &Facts<'_>) -> String {
    let Some((before, behind)) = line.split_once("[];").filter(|(before, _)| before.contains(" uniform ")) else {
        return line.to_owned();
    };
    let is_there = |(binding, unit): &(&u32, &u32)| {
        facts.elements.contains_key(binding) && before.contains(&format!("binding = {unit})"))
    };
    let count = facts.units.iter().find(is_there).map_or(1, |(binding, _)| facts.elements[binding]);
    format!("{before}[{count}];{behind}")
}

/// Replaces words by OpenGL's.
fn words(text: &str) -> String {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find(is_part) {
        out.push_str(&rest[..start]);
        let end = rest[start..].find(|c| !is_part(c)).map_or(rest.len(), |at| start + at);
        let word = &rest[start..end];
        out.push_str(WORDS.iter().find(|(known, _)| *known == word).map_or(word, |(_, other)| other));
        rest = &rest[end..];
    }
    out + rest
}
