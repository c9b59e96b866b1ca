//! Compares modules with the original compiler's: both are valid and have the same interface to the pipeline.

use std::collections::{BTreeMap, BTreeSet};
use support::judge;

/// The words of a module, in binary or as numbers in a text, and the format of that text: the first line, the first
/// number and what follows it.
pub fn module(bytes: &[u8]) -> Option<(Vec<u32>, BTreeSet<String>)> {
    if bytes.starts_with(&0x0723_0203_u32.to_le_bytes()) {
        let words = bytes.chunks_exact(4).map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]]));
        return Some((words.collect(), BTreeSet::new()));
    }
    let text = std::str::from_utf8(bytes).ok().filter(|text| text.contains("0x07230203"))?;
    let (head, numbers) = text.split_at(text.find("0x07230203")?);
    let parts = numbers.split("0x").skip(1).map(|part| part.split_at(8));
    let (words, between): (Vec<u32>, BTreeSet<&str>) =
        parts.map(|(number, rest)| (u32::from_str_radix(number, 16).unwrap(), rest)).unzip();
    let head = head.lines().filter(|line| !line.trim_start().starts_with("//")).map(str::trim);
    Some((words, between.into_iter().chain(head).map(str::to_string).collect()))
}

/// Checks that both modules are valid and have the same interface: stages, locations and bindings by name, and their
/// device requirements.
pub fn interfaces(is_opengl: bool, theirs: &[u32], mine: &[u32]) -> Result<(), String> {
    // Vulkan 1.0 accepts version 1.0.
    let environment = match mine[1] {
        _ if is_opengl => "opengl4.5",
        0x0001_0000 => "vulkan1.0",
        _ => "vulkan1.3",
    };
    judge::spirv_val(mine, environment, true)?;
    let (mut theirs, mut mine) = (Interface::of(theirs)?, Interface::of(mine)?);
    if is_opengl {
        // There is one set, and glslang writes it even for uniforms without a binding.
        [&mut theirs, &mut mine].into_iter().for_each(Interface::forget_sets);
    }
    if theirs == mine { Ok(()) } else { Err(format!("{theirs:#?} there, {mine:#?} here")) }
}

/// Decorations visible to the pipeline or to the code that fills a buffer. Modules declare different parts of the
/// blocks of built-in variables.
const DECORATIONS: [&str; 20] = [
    "Location",
    "Component",
    "Index",
    "Binding",
    "DescriptorSet",
    "SpecId",
    "InputAttachmentIndex",
    "Flat",
    "NoPerspective",
    "Centroid",
    "Sample",
    "Patch",
    "Offset",
    "ArrayStride",
    "MatrixStride",
    "RowMajor",
    "ColMajor",
    "NonReadable",
    "NonWritable",
    "XfbBuffer",
];

/// The interface of a module to the pipeline.
#[derive(PartialEq, Eq, Debug, Default)]
struct Interface {
    /// Stage and name.
    entry_point: String,
    version: u32,
    extensions: BTreeSet<String>,
    capabilities: BTreeSet<String>,
    /// Sorted lists of names and decorations, one for each variable with a location or binding and each block.
    places: Vec<Vec<String>>,
    modes: BTreeSet<String>,
}

impl Interface {
    fn of(module: &[u32]) -> Result<Interface, String> {
        let mut interface = Interface { version: module[1], ..Interface::default() };
        let (mut places, mut names) = (BTreeMap::<String, Vec<String>>::new(), BTreeMap::new());
        for line in judge::spirv_dis(module)?.lines() {
            let words: Vec<&str> = line.split_whitespace().collect();
            match words[..] {
                ["OpCapability", name] => drop(interface.capabilities.insert(name.to_string())),
                ["OpExtension", name] => drop(interface.extensions.insert(name.to_string())),
                ["OpEntryPoint", stage, _, name, ..] => interface.entry_point = format!("{stage} {name}"),
                ["OpExecutionMode", _, ref mode @ ..] => drop(interface.modes.insert(mode.join(" "))),
                ["OpDecorate", id, kind, ref rest @ ..] if DECORATIONS.contains(&kind) => {
                    places.entry(id.to_string()).or_default().push(format!("{kind} {}", rest.join(" ")));
                }
                ["OpMemberDecorate", id, at, kind, ref rest @ ..] if DECORATIONS.contains(&kind) => {
                    places.entry(id.to_string()).or_default().push(format!("{at} {kind} {}", rest.join(" ")));
                }
                ["OpDecorate", id, kind @ ("Block" | "BufferBlock")] if !id.starts_with("%gl_") => {
                    places.entry(id.to_string()).or_default().push(kind.into());
                }
                ["OpName", id, name] if name != "\"\"" => drop(names.insert(id.to_string(), name.to_string())),
                _ => {}
            }
        }
        places.iter_mut().for_each(|(id, place)| place.extend(names.remove(id)));
        interface.places = places.into_values().filter(|place| *place != ["Block"]).collect();
        interface.places.iter_mut().for_each(|place| place.sort());
        interface.places.sort();
        // Each stage's capability implies the first, each subgroup operation's the second.
        interface.capabilities.remove("Shader");
        interface.capabilities.remove("GroupNonUniform");
        // glslang gives task and mesh shaders `LocalSizeId`.
        interface.modes.retain(|mode| !mode.starts_with("LocalSize") || interface.entry_point.starts_with("GLCompute"));
        Ok(interface)
    }

    fn forget_sets(&mut self) {
        self.places.iter_mut().for_each(|place| place.retain(|word| !word.starts_with("DescriptorSet")));
    }
}
