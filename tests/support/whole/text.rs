//! The texts of a kernel for different compilers.

use std::collections::BTreeSet;

/// The kernels' operations in terms of Khronos'.
const KHR: &str = include_str!("../../../benches/gpu/khr.glsl");

/// Prefix of lines that require an extension only crosslane has.
const OURS: &str = "#extension GL_CROSSLANE_";

/// Prefix of lines that `KHR` also has. Its functions come first, and NVIDIA's compiler does not accept such a line
/// after a function.
const THEIRS: &str = "#extension GL_KHR_shader_subgroup_";

/// The text with macros.
pub fn defined(text: &str, defines: &[(&str, &str)]) -> String {
    after_version(text, &macros(defines))
}

/// The text with macros, for compilers that know Khronos' operations only.
pub fn in_khr(text: &str, defines: &[(&str, &str)]) -> String {
    if !text.contains(OURS) {
        return defined(text, defines);
    }
    let is_kept = |line: &&str| ![OURS, THEIRS].iter().any(|start| line.starts_with(start));
    let theirs: String = text.lines().filter(is_kept).map(|line| format!("{line}\n")).collect();
    after_version(&theirs, &format!("{KHR}{}", macros(defines)))
}

fn macros(defines: &[(&str, &str)]) -> String {
    defines.iter().map(|(name, value)| format!("#define {name} {value}\n")).collect()
}

fn after_version(text: &str, inserted: &str) -> String {
    let line = text.find("#version").unwrap_or(0);
    let end = text[line..].find('\n').map_or(text.len(), |length| line + length + 1);
    format!("{}{inserted}{}", &text[..end], &text[end..])
}

/// The text for NVIDIA's OpenGL compiler: without specialization constants, push constants, loop attributes and Vulkan
/// extensions; with OpenGL's extensions before all declarations, and without names that are keywords there.
pub fn for_opengl(text: &str, constants: &[(u32, u32)]) -> String {
    let lines = text.lines().filter(|line| !line.starts_with("#extension GL_EXT_"));
    let (extensions, lines): (Vec<&str>, Vec<&str>) = lines.partition(|line| line.starts_with("#extension"));
    let as_here = |line: &str| renamed(&specialized(&line.replace("[[unroll]]", ""), constants));
    let lines: Vec<String> = lines.into_iter().map(as_here).collect();
    let text = lines.join("\n").replace("layout (push_constant)", "layout (std140, binding = 0)") + "\n";
    let mut inserted: String = extensions.iter().map(|line| format!("{line}\n")).collect();
    if text.contains("uint32_t") {
        inserted += "#define uint32_t uint\n";
    }
    after_version(&text, &inserted)
}

/// A line with another name for `packed`.
fn renamed(line: &str) -> String {
    let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let pieces = line.split_inclusive(|c: char| !is_word(c));
    let other = |piece: &str| match piece.strip_prefix("packed") {
        Some(rest) if !rest.starts_with(is_word) => format!("packed_{rest}"),
        _ => piece.to_owned(),
    };
    pieces.map(other).collect()
}

/// A line with the value of a specialization constant instead of its number.
fn specialized(line: &str, constants: &[(u32, u32)]) -> String {
    let Some((before, id, after)) = numbered(line, "constant_id") else { return with_size(line, constants) };
    let layout = before.rfind("layout").unwrap_or(before.len());
    let declared = after.trim_start_matches([')', ' ']);
    let value = constants.iter().find(|(known, _)| *known == id).map(|(_, value)| value);
    let Some((value, (head, _))) = value.zip(declared.split_once('=')) else {
        return format!("{}{declared}", &before[..layout]);
    };
    let ty = head.split_whitespace().nth(1).unwrap_or("uint");
    format!("{}{head}= {ty}({value}u);", &before[..layout])
}

/// A line with a size of workgroups instead of a constant's number.
fn with_size(line: &str, constants: &[(u32, u32)]) -> String {
    let Some((before, id, after)) = numbered(line, "local_size_x_id") else { return line.to_owned() };
    let value = constants.iter().find(|(known, _)| *known == id).map_or(1, |(_, value)| *value);
    format!("{before}local_size_x = {value}{after}")
}

/// The text before a qualifier `NAME = NUMBER`, its number, and the text after it.
fn numbered<'t>(line: &'t str, name: &str) -> Option<(&'t str, u32, &'t str)> {
    let (before, after) = line.split_once(name)?;
    let after = after.trim_start().strip_prefix('=')?.trim_start();
    let end = after.find(|c: char| !c.is_ascii_digit())?;
    Some((before, after[..end].parse().ok()?, &after[end..]))
}

/// A preprocessed text without unused structures and functions.
pub fn trimmed(text: &str) -> String {
    let lines = text.lines().filter(|line| !line.trim().is_empty() && !line.starts_with("#line"));
    let mut items = items(&lines.map(|line| format!("{line}\n")).collect::<String>());
    loop {
        let words: Vec<BTreeSet<&str>> = items.iter().map(|item| words(item).collect()).collect();
        let is_used = |n: usize| {
            let name = name(&items[n]);
            name.is_none_or(|name| name == "main" || (0..items.len()).any(|m| m != n && words[m].contains(name)))
        };
        let kept: Vec<String> = (0..items.len()).filter(|n| is_used(*n)).map(|n| items[n].clone()).collect();
        if kept.len() == items.len() {
            return kept.concat();
        }
        items = kept;
    }
}

/// The declarations in a text, and its preprocessor lines.
fn items(text: &str) -> Vec<String> {
    let mut items = vec![String::new()];
    let mut depth = 0;
    for line in text.lines() {
        let item = items.last_mut().expect("there is always one");
        *item += line;
        item.push('\n');
        depth += line.matches(['{', '(']).count();
        depth -= line.matches(['}', ')']).count().min(depth);
        let is_function = item.contains('{') && name(item).is_some();
        let ends = line.ends_with(';') || line.starts_with('#') || (is_function && line.ends_with('}'));
        if depth == 0 && ends {
            items.push(String::new());
        }
    }
    items
}

/// The name of a structure or function that an item declares.
fn name(item: &str) -> Option<&str> {
    let head = item.split(['{', '(', ';', '=']).next()?;
    let words: Vec<&str> = head.split_whitespace().collect();
    match words[..] {
        ["struct", name] => Some(name),
        [_, name] if item[head.len()..].starts_with('(') => Some(name),
        _ => None,
    }
}

fn words(item: &str) -> impl Iterator<Item = &str> {
    item.split(|c: char| !c.is_ascii_alphanumeric() && c != '_')
}
