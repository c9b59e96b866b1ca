//! `shaders.rs`: the outputs of a build as Rust constants, one module per shader, with the resources that callers must
//! bind.
//!
//! SPIR-V becomes a `&[u32]` of numbers, so that it is aligned and the same on every machine; assembly becomes `&str`.
//! Blocks become structs of the same layout. The file needs only `core`, and bytemuck if requested.

use super::blocks;
use crate::backend::reflection::{BindingKind, Reflection};
use crate::compile::Artifact;
use std::fmt::Write;

/// The types of bindings.
const TYPES: &str = "\
/// The resources that a kernel's caller must bind and the values that it must set.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(dead_code)]
pub struct Reflection {
    pub entry_point: &'static str,
    /// Invocations of a workgroup in x, y, z.
    pub workgroup_size: [u32; 3],
    /// Lanes of a subgroup; none if the driver decides.
    pub subgroup_size: Option<u32>,
    /// Fewest lanes of a subgroup with which all operations are defined, or more if that was promised.
    pub least_subgroup_size: u32,
    /// Bytes of workgroup memory.
    pub shared_bytes: u32,
    /// Bytes of push constants.
    pub push_bytes: u32,
    pub buffers: &'static [Buffer],
}

/// A buffer that is to be bound.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(dead_code)]
pub struct Buffer {
    pub name: &'static str,
    pub set: u32,
    pub binding: u32,
    pub kind: BufferKind,
    /// The smallest size in bytes.
    pub bytes: u32,
    pub writable: bool,
}

/// The descriptor type of a buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(dead_code)]
pub enum BufferKind {
    Storage,
    Uniform,
}
";

/// Words of a line of numbers.
const LINE: usize = 8;

/// One output.
pub struct Item {
    /// The shader's path, for the documentation.
    pub shader: String,
    /// Module of the shader.
    pub module: String,
    pub profile: String,
    /// Ending of the shader's file, with the dot.
    pub ending: &'static str,
    pub artifact: Artifact,
    pub reflection: Reflection,
    pub least_subgroup_size: u32,
}

/// The text of the file; the items of one module are together. Writing into a `String` cannot fail, here and below.
pub fn text(items: &[Item], bytemuck: bool) -> String {
    let mut text = format!("// Written by crosslane.\n\n{TYPES}");
    for group in items.chunk_by(|one, other| one.module == other.module) {
        let _ = write!(text, "\n/// `{}`\n#[allow(dead_code)]\npub mod {} {{\n", group[0].shader, group[0].module);
        text.push_str("    use super::*;\n");
        group.iter().for_each(|item| constants(&mut text, item));
        block_modules(&mut text, group, bytemuck);
        text.push_str("}\n");
    }
    text
}

/// A module of blocks, or one per profile if macros make them different.
fn block_modules(text: &mut String, group: &[Item], bytemuck: bool) {
    let blocks: Vec<String> = group.iter().map(|item| blocks::text(&item.reflection.interface, bytemuck)).collect();
    let is_one = blocks.windows(2).all(|pair| pair[0] == pair[1]);
    for (item, blocks) in group.iter().zip(&blocks).filter(|(_, blocks)| !blocks.is_empty()) {
        let name = if is_one { "blocks".to_owned() } else { format!("blocks_{}", module_name(&item.profile)) };
        let _ = write!(
            text,
            "\n    /// The memory of buffers and push constants.\n    #[allow(dead_code, non_camel_case_types, non_snake_case)]\n    \
             pub mod {name} {{\n{}    }}\n",
            blocks.trim_start_matches('\n')
        );
        if is_one {
            break;
        }
    }
}

fn constants(text: &mut String, item: &Item) {
    let name = constant_name(&item.profile);
    let _ = writeln!(text, "\n    /// For {}.", item.profile);
    match &item.artifact {
        Artifact::Spirv(words) => {
            let _ = writeln!(text, "    pub const {name}: &[u32] = &[");
            for line in words.chunks(LINE) {
                let numbers: Vec<String> = line.iter().map(|word| format!("{word:#010x}")).collect();
                let _ = writeln!(text, "        {},", numbers.join(", "));
            }
            text.push_str("    ];\n");
        }
        Artifact::Text(source) => {
            let _ = writeln!(text, "    pub const {name}: &str = {source:?};");
        }
    }
    reflection(text, &name, &item.reflection, item.least_subgroup_size);
}

fn reflection(text: &mut String, name: &str, it: &Reflection, least: u32) {
    let _ = writeln!(
        text,
        "    /// The resources that its caller must bind.\n    pub const {name}_REFLECTION: Reflection = Reflection {{"
    );
    let _ = writeln!(text, "        entry_point: {:?},", it.entry_point);
    let _ = writeln!(text, "        workgroup_size: {:?},", it.workgroup_size);
    let _ = writeln!(text, "        subgroup_size: {:?},\n        least_subgroup_size: {least},", it.subgroup_size);
    let _ = writeln!(text, "        shared_bytes: {},\n        push_bytes: {},", it.shared_bytes, it.push_bytes);
    text.push_str("        buffers: &[\n");
    for buffer in &it.buffers {
        let kind = match buffer.kind {
            BindingKind::Storage => "Storage",
            BindingKind::Uniform => "Uniform",
        };
        let place = format!("set: {}, binding: {}", buffer.set, buffer.binding);
        let size = format!("bytes: {}, writable: {}", buffer.bytes, buffer.writable);
        let name = &buffer.name;
        let _ = writeln!(text, "            Buffer {{ name: {name:?}, {place}, kind: BufferKind::{kind}, {size} }},");
    }
    text.push_str("        ],\n    };\n");
}

/// `spirv-1.5` becomes `SPIRV_1_5`.
pub fn constant_name(profile: &str) -> String {
    identifier(profile).to_ascii_uppercase()
}

/// A shader's path as the name of a module: `sub/b-2` becomes `sub_b_2`.
pub fn module_name(stem: &str) -> String {
    no_keyword(identifier(stem).to_ascii_lowercase())
}

/// A name that is not a keyword.
pub fn no_keyword(name: String) -> String {
    if KEYWORDS.contains(&name.as_str()) { name + "_" } else { name }
}

pub fn identifier(text: &str) -> String {
    let plain: String = text.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    if plain.starts_with(|c: char| c.is_ascii_digit()) { format!("_{plain}") } else { plain }
}

/// Words that cannot be module names (The Rust Reference, "Keywords").
const KEYWORDS: &[&str] = &[
    "abstract", "as", "async", "await", "become", "box", "break", "const", "continue", "crate", "do", "dyn", "else",
    "enum", "extern", "false", "final", "fn", "for", "gen", "if", "impl", "in", "let", "loop", "macro", "match", "mod",
    "move", "mut", "override", "priv", "pub", "ref", "return", "self", "static", "struct", "super", "trait", "true",
    "try", "type", "typeof", "unsafe", "unsized", "use", "virtual", "where", "while", "yield", "_",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_rusts() {
        assert_eq!(constant_name("spirv-1.5"), "SPIRV_1_5");
        assert_eq!(["sub/b-2", "loop", "2d", "p.vert"].map(module_name), ["sub_b_2", "loop_", "_2d", "p_vert"]);
    }
}
