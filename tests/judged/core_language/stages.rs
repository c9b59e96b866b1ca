//! Shaders for all stages, and images in compute shaders: every shader in `fixtures/stages` is valid for every profile,
//! requires no capability that glslang's module does not, and uses images, interfaces and derivatives alike: the same
//! number of each opcode with the same image operands, and the same decorations on the interface to the pipeline.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crosslane::compile::{Artifact, Input, Language, Options, Verdict, compile};
use crosslane::diagnostic::render;
use crosslane::ir::Stage;
use crosslane::source::NoIncludes;

use support::rival::{self, PROFILES};
use support::{compiler, judge};

/// The stage named by a file's extension.
pub fn stage(path: &Path) -> Option<Stage> {
    Stage::named(path.extension()?.to_str()?)
}

pub fn check(path: &Path) -> Result<(), String> {
    let source = std::fs::read_to_string(path).map_err(|e| e.to_string())?;
    if path.extension().is_some_and(|end| end == "wgsl") {
        return check_twins(path, &source);
    }
    let stage = stage(path).ok_or("the end of its name says no stage")?;
    for (profile, environment) in rival::profiles_of(&source) {
        let module = rival::ours_of("shader", &source, stage, profile)?;
        judge::spirv_val(&module, environment, false).map_err(|e| format!("{profile}: {e}"))?;
        judge::newest_spirv_val(&module, environment, false).map_err(|e| format!("{profile}, newest: {e}"))?;
    }
    let ours = Features::of(&rival::ours_of("shader", &source, stage, "spirv-1.6")?)?;
    let theirs = Features::of(&judge::glslang_stage(&source, stage.ending())?)?;
    ours.interface_within(&theirs)?;
    ours.within(&theirs)
}

/// Checks a shader in `fixtures/opengl` in the same way, in its module for OpenGL; for Vulkan it is refused or gives a
/// different module.
pub fn check_opengl(path: &Path) -> Result<(), String> {
    let source = std::fs::read_to_string(path).map_err(|e| e.to_string())?;
    let stage = stage(path).ok_or("the end of its name says no stage")?;
    for profile in ["spirv-1.0-opengl", "spirv-1.0-opengl -O", "spirv-1.0-opengl -Os"] {
        let module = rival::ours_of("shader", &source, stage, profile)?;
        judge::spirv_val(&module, "opengl4.5", false).map_err(|e| format!("{profile}: {e}"))?;
    }
    let module = rival::ours_of("shader", &source, stage, "spirv-1.0-opengl")?;
    let theirs = Features::of(&judge::glslang_opengl(&source, stage.ending())?)?;
    let ours = Features::of(&module)?;
    ours.interface_within(&theirs)?;
    ours.within(&theirs)?;
    if ours.atomics != theirs.atomics {
        return Err(format!("atomic operations: {:?}, glslang's: {:?}", ours.atomics, theirs.atomics));
    }
    match rival::ours_of("shader", &source, stage, "spirv-1.0") {
        Ok(same) if same == module => Err("Vulkan's module is the same".into()),
        _ => Ok(()),
    }
}

/// Checks that a module has no input, output or uniform that another lacks, and the same execution modes.
pub fn has_interface_of(ours: &[u32], theirs: &[u32]) -> Result<(), String> {
    let (ours, theirs) = (Features::of(ours)?, Features::of(theirs)?);
    let places: Vec<_> = ours.locations.difference(&theirs.locations).collect();
    if !places.is_empty() {
        return Err(format!("locations that are not the source's: {places:?} of {:?}", theirs.locations));
    }
    let modes = |of: &Features| -> BTreeMap<String, usize> {
        of.counted
            .iter()
            .filter(|(what, _)| what.starts_with("OpExecutionMode"))
            .map(|(w, n)| (w.clone(), *n))
            .collect()
    };
    let (mine, wanted) = (modes(&ours), modes(&theirs));
    if mine == wanted { Ok(()) } else { Err(format!("modes: {mine:?}, of the source: {wanted:?}")) }
}

/// Checks that every entry point of a WGSL module is valid for every profile, and matches the GLSL shader named by a
/// line `// ENTRY is FILE`.
fn check_twins(path: &Path, source: &str) -> Result<(), String> {
    let lines = source.lines().filter_map(|line| line.strip_prefix("// ")?.split_once(" is "));
    let twins: Vec<(&str, &str)> = lines.collect();
    if twins.is_empty() {
        return Err("no line `// ENTRY is FILE`".into());
    }
    for (entry, file) in twins {
        for (profile, environment) in PROFILES {
            let module = entry_of(source, entry, profile)?;
            judge::spirv_val(&module, environment, false).map_err(|e| format!("{entry}, {profile}: {e}"))?;
        }
        let twin = path.with_file_name(file);
        let text = std::fs::read_to_string(&twin).map_err(|e| format!("{file}: {e}"))?;
        let stage = stage(&twin).ok_or_else(|| format!("{file} is not a stage"))?;
        let theirs = Features::of(&rival::ours_of("shader", &text, stage, "spirv-1.6")?)?;
        let mine = Features::of(&entry_of(source, entry, "spirv-1.6")?)?;
        mine.within(&theirs).map_err(|e| format!("{entry} and {file}: {e}"))?;
    }
    Ok(())
}

fn entry_of(source: &str, entry: &str, profile: &str) -> Result<Vec<u32>, String> {
    let options = Options { entry: Some(entry.into()), ..compiler::named(profile)? };
    module(source, Language::Wgsl, &options)
}

fn module(source: &str, language: Language, options: &Options) -> Result<Vec<u32>, String> {
    let input = Input { name: "shader", bytes: source.as_bytes(), language };
    let done = compile(&input, options, &NoIncludes);
    match done.verdict {
        Verdict::Done(Artifact::Spirv(words)) => Ok(words),
        _ => Err(render::human(&done.sources, &done.diagnostics)),
    }
}

/// The features that a module requires, and its use of the pipeline.
#[derive(Default)]
struct Features {
    capabilities: Vec<String>,
    /// Image and fragment opcodes with their image operands, and execution modes.
    counted: BTreeMap<String, usize>,
    built_ins: BTreeSet<String>,
    /// Atomic operations.
    atomics: BTreeSet<String>,
    /// The first location of each input, output, uniform and counter.
    locations: BTreeSet<(String, String)>,
}

impl Features {
    fn of(module: &[u32]) -> Result<Features, String> {
        let mut features = Features::default();
        for line in judge::spirv_dis(module)?.lines() {
            let words: Vec<&str> = line.split_whitespace().collect();
            let Some(at) = words.iter().position(|word| word.starts_with("Op")) else { continue };
            features.instruction(words[at], &words[at + 1..]);
        }
        features.locations = locations(module)?;
        Ok(features)
    }

    fn instruction(&mut self, opcode: &str, operands: &[&str]) {
        match opcode {
            "OpCapability" => self.capabilities.push(operands[0].to_owned()),
            // glslang writes the sizes of task and mesh shaders as `LocalSizeId`, and a mode where crosslane shifts the
            // fragment's position.
            "OpExecutionMode" if ["LocalSize", "PixelCenterInteger"].contains(&operands[1]) => {}
            "OpExecutionMode" => self.count(format!("{opcode} {}", operands[1..].join(" "))),
            "OpEntryPoint" => self.count(format!("{opcode} {}", operands[0])),
            "OpVariable" if operands[1].ends_with("KHR") || operands[1].starts_with("HitObject") => {
                self.count(format!("{opcode} {}", operands[1]))
            }
            "OpDecorate" if is_of_interface(operands[1]) => self.count(operands[1..].join(" ")),
            "OpMemberDecorate" if matches!(operands[2], "Patch" | "PerTaskNV") => self.count(operands[2].into()),
            "OpDecorate" if operands[1] == "BuiltIn" => _ = self.built_ins.insert(operands[2].to_owned()),
            "OpMemberDecorate" if operands[2] == "BuiltIn" => _ = self.built_ins.insert(operands[3].to_owned()),
            "OpImage" => {}
            "OpAtomicIIncrement" => _ = self.atomics.insert("OpAtomicIAdd".into()),
            "OpAtomicIDecrement" => _ = self.atomics.insert("OpAtomicISub".into()),
            _ if opcode.starts_with("OpAtomic") => _ = self.atomics.insert(opcode.to_owned()),
            _ if is_of_fragments(opcode) => self.count(format!("{opcode} {}", image_operands(operands))),
            _ => {}
        }
    }

    fn count(&mut self, what: String) {
        *self.counted.entry(what).or_default() += 1;
    }

    fn within(&self, theirs: &Features) -> Result<(), String> {
        let more: Vec<&String> =
            self.capabilities.iter().filter(|c| *c != "Shader" && !theirs.capabilities.contains(c)).collect();
        if !more.is_empty() {
            // glslang leaves out capabilities that others imply.
            return Err(format!("capabilities that glslang does without: {more:?}"));
        }
        match self.counted == theirs.counted {
            true => Ok(()),
            false => Err(format!("ours: {:#?}\nglslang's: {:#?}", self.counted, theirs.counted)),
        }
    }
}

impl Features {
    /// Inputs, outputs and built-in variables are among glslang's, which also lists unused ones.
    fn interface_within(&self, theirs: &Features) -> Result<(), String> {
        let places: Vec<_> = self.locations.difference(&theirs.locations).collect();
        if !places.is_empty() {
            return Err(format!("locations that are not glslang's: {places:?} of {:?}", theirs.locations));
        }
        let is_of_primitives = self.counted.keys().any(|what| what.starts_with("OpExecutionMode OutputVertices"));
        let is_of_rays = self.counted.keys().any(|what| what.starts_with("OpEntryPoint") && what.ends_with("KHR"));
        if is_of_rays && self.built_ins != theirs.built_ins {
            return Err(format!("built-in variables: {:?}, glslang's: {:?}", self.built_ins, theirs.built_ins));
        }
        let more: Vec<_> = self.built_ins.difference(&theirs.built_ins).collect();
        match is_of_primitives && !more.is_empty() {
            true => Err(format!("built-in variables that glslang's module has not: {more:?}")),
            false => Ok(()),
        }
    }
}

/// The storage class and first location of each input, output and uniform, taken from the variable or its first member,
/// and the offset of each atomic counter.
fn locations(module: &[u32]) -> Result<BTreeSet<(String, String)>, String> {
    let text = judge::spirv_dis(module)?;
    let lines: Vec<Vec<&str>> = text.lines().map(|line| line.split_whitespace().collect()).collect();
    let made = |id: &str| lines.iter().find(|words| words.len() > 2 && words[0] == id && words[1] == "=");
    let located = |id: &str, member: bool| {
        let found = lines.iter().find(|words| match words[..] {
            ["OpDecorate", of, "Location" | "Offset", _] => !member && of == id,
            ["OpMemberDecorate", of, "0", "Location", _] => member && of == id,
            _ => false,
        });
        found.and_then(|words| words.last().copied())
    };
    let mut found = BTreeSet::new();
    for words in &lines {
        let [id, "=", "OpVariable", pointer, class, ..] = words[..] else { continue };
        if !CLASSES.contains(&class) {
            continue;
        }
        let mut of = made(pointer).and_then(|words| words.last().copied()).unwrap_or_default();
        while let Some([_, _, "OpTypeArray", element, _]) = made(of).map(Vec::as_slice) {
            of = element;
        }
        if let Some(location) = located(id, false).or(located(of, true)) {
            found.insert((class.to_owned(), location.to_owned()));
        }
    }
    Ok(found)
}

/// Storage classes of variables with locations, or offsets.
const CLASSES: [&str; 4] = ["Input", "Output", "UniformConstant", "AtomicCounter"];

/// Returns true if both compilers write it in the same place. Locations of blocks may be on the variable or on the
/// members, and `Index 0` and `Flat` on built-in variables are optional.
fn is_of_interface(decoration: &str) -> bool {
    const WATCHED: [&str; 10] = [
        "Component",
        "NoPerspective",
        "Centroid",
        "Sample",
        "Binding",
        "DescriptorSet",
        "InputAttachmentIndex",
        "OverrideCoverageNV",
        "Patch",
        "PassthroughNV",
    ];
    WATCHED.contains(&decoration)
}

fn is_of_fragments(opcode: &str) -> bool {
    const STARTS: [&str; 18] = [
        "OpTraceRay",
        "OpHitObject",
        "OpReorderThread",
        "OpWritePackedPrimitiveIndices",
        "OpExecuteCallable",
        "OpReportIntersection",
        "OpIgnoreIntersection",
        "OpEmit",
        "OpSetMeshOutputs",
        "OpEndPrimitive",
        "OpEndStream",
        "OpControlBarrier",
        "OpImage",
        "OpDPd",
        "OpFwidth",
        "OpKill",
        "OpTerminate",
        "OpDemote",
    ];
    STARTS.iter().any(|start| opcode.starts_with(start))
}

/// The words of the image operands' mask. The sign extension of narrow integers is irrelevant for texels of 32 bits.
fn image_operands(operands: &[&str]) -> String {
    const MASK: [&str; 7] = ["Bias", "Lod", "Grad", "ConstOffset", "Offset", "ConstOffsets", "Sample"];
    const EXTENDED: [&str; 2] = ["SignExtend", "ZeroExtend"];
    let is_mask = |word: &&&str| word.split('|').all(|part| MASK.contains(&part) || EXTENDED.contains(&part));
    let parts = operands.iter().filter(is_mask).flat_map(|word| word.split('|'));
    parts.filter(|part| MASK.contains(part)).collect::<Vec<_>>().join(" ")
}
