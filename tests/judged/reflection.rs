//! The output of `--emit reflection` for every fixture, compared with SPIRV-Cross's reflection of the module.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crosslane::backend::DebugInfo;
use crosslane::compile::{Artifact, EmitKind, Input, Language, Options, Verdict, compile};
use crosslane::diagnostic::render;
use crosslane::glsl::preprocess::MacroOption;
use crosslane::ir::Stage;
use crosslane::profile::Profile;
use crosslane::source::NoIncludes;
use serde_json::Value;
use support::trial::{Trial, judged};
use support::{fixture, judge};

/// Modules that SPIRV-Cross cannot read.
const UNREAD: [&str; 13] = [
    "spirv/encoded_floats.comp",
    "spirv/encoded_matrices.comp",
    "spirv/matrix_blocks.comp",
    "spirv/matrix_integers.comp",
    "spirv/matrix_memory.comp",
    "spirv/matrix_nvidia.comp",
    "spirv/matrix_products.comp",
    "spirv/matrix_tensors.comp",
    "spirv/vectors.comp",
    "spirv/vectors.frag",
    "stages/rays_hits.rchit",
    "stages/rays_hits.rgen",
    "stages/rays_hits.rmiss",
];

pub fn trials() -> Vec<Trial> {
    let judges = ["bin/spirv-cross"];
    let folders = fixture::FOLDERS.into_iter().map(|folder| (folder, fixture::files(&format!("fixtures/{folder}"))));
    let row = |folder: &str, path: PathBuf| {
        let name = format!("{folder}/{}", path.file_name().unwrap_or_default().to_string_lossy());
        judged(name.clone(), &judges, move || check(&name, &path))
    };
    folders.flat_map(|(folder, paths)| paths.into_iter().map(move |path| row(folder, path))).collect()
}

fn check(name: &str, path: &Path) -> Result<(), String> {
    let source = std::fs::read_to_string(path).map_err(|e| e.to_string())?;
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    let entries = ["@compute", "@vertex", "@fragment"].map(|word| source.matches(word).count());
    if ending == "wgsl" && entries.iter().sum::<usize>() != 1 {
        // A reflection describes one entry point.
        return Ok(());
    }
    let Artifact::Spirv(module) = made(&source, ending, EmitKind::Binary)? else { return Err("no module".into()) };
    let Artifact::Text(text) = made(&source, ending, EmitKind::Reflection)? else { return Err("no text".into()) };
    let ours: Value = serde_json::from_str(&text).map_err(|e| e.to_string())?;
    let theirs = match judge::spirv_cross(&module) {
        Err(_) if UNREAD.contains(&name) => return Ok(()),
        Ok(_) if UNREAD.contains(&name) => return Err("SPIRV-Cross reads it by now".into()),
        theirs => theirs?,
    };
    let theirs: Value = serde_json::from_str(&theirs).map_err(|e| format!("{e}: {theirs}"))?;
    let (mine, others) = (Ours(&ours).facts(), Theirs(&theirs).facts());
    let difference = |one: &BTreeSet<String>, other: &BTreeSet<String>| -> String {
        one.difference(other).map(|fact| format!("\n  {fact}")).collect()
    };
    let unknown = difference(&Theirs(&theirs).constants(), &Ours(&ours).constants());
    if !unknown.is_empty() {
        return Err(format!("specialization constants that only SPIRV-Cross says:{unknown}"));
    }
    let is_size = |fact: &String| fact.starts_with("workgroup size");
    let mine = if others.iter().any(is_size) { mine } else { mine.into_iter().filter(|f| !is_size(f)).collect() };
    match (difference(&mine, &others), difference(&others, &mine)) {
        (more, less) if more.is_empty() && less.is_empty() => Ok(()),
        (more, less) => Err(format!("only ours:{more}\nonly SPIRV-Cross's:{less}")),
    }
}

fn made(source: &str, ending: &str, emit: EmitKind) -> Result<Artifact, String> {
    let language = if ending == "wgsl" { Language::Wgsl } else { Language::Glsl };
    let width = MacroOption::Define { name: "WIDTH".to_owned(), value: "8".to_owned() };
    let profile = Profile::named("spirv-1.6").ok_or("no profile")?;
    let options = Options {
        stage: Stage::named(ending),
        debug: DebugInfo::Names,
        emit,
        macros: if language == Language::Glsl { vec![width] } else { Vec::new() },
        ..Options::new(profile)
    };
    let done = compile(&Input { name: "shader", bytes: source.as_bytes(), language }, &options, &NoIncludes);
    match done.verdict {
        Verdict::Done(artifact) => Ok(artifact),
        _ => Err(render::human(&done.sources, &done.diagnostics)),
    }
}

fn list<'v>(of: &'v Value, key: &str) -> &'v [Value] {
    of[key].as_array().map_or(&[], Vec::as_slice)
}

fn text<'v>(of: &'v Value, key: &str) -> &'v str {
    of[key].as_str().unwrap_or_default()
}

/// `, KEY N` if there is a number.
fn number(of: &Value, key: &str) -> String {
    of[key].as_u64().map(|number| format!(", {key} {number}")).unwrap_or_default()
}

fn numbers(values: &[Value]) -> Vec<u64> {
    values.iter().filter_map(Value::as_u64).collect()
}

/// A reflection of ours as facts.
struct Ours<'v>(&'v Value);

/// A specialization constant on either side.
fn constant(of: &Value, ty: String, default: &str) -> String {
    let default = of[default].as_f64().or(of[default].as_bool().map(f64::from)).map(|number| number as f32);
    format!("{ty} {}{}: {default:?}", text(of, "name"), number(of, "id"))
}

impl Ours<'_> {
    fn constants(&self) -> BTreeSet<String> {
        let word = |it: &Value| if it["type"] == "bool" { "bool".to_owned() } else { glsl_type(text(it, "type")) };
        list(self.0, "spec_constants").iter().map(|it| constant(it, word(it), "default")).collect()
    }

    fn facts(&self) -> BTreeSet<String> {
        let mut facts = BTreeSet::new();
        for (key, ports) in [("input", list(self.0, "inputs")), ("output", list(self.0, "outputs"))] {
            for port in ports.iter().filter(|port| !self.is_built_in(port)) {
                self.variable(&mut facts, key, port, &number(port, "location"));
            }
        }
        // The payload of NVIDIA's form is an input or an output of SPIR-V, with a layout.
        let is_laid_out = |of: &Value| {
            let of_struct = of["struct"].as_u64().map(|at| &self.0["structs"][at as usize]);
            of_struct.is_some_and(|of| !of["bytes"].is_null())
        };
        let task = list(self.0, "payloads").iter().filter(|it| it["kind"] == "task-payload" && is_laid_out(it));
        let key = if self.0["stage"] == "task" { "output" } else { "input" };
        task.for_each(|payload| self.variable(&mut facts, key, payload, ""));
        for resource in list(self.0, "resources") {
            let kind = match text(resource, "kind") {
                "sampled_texture" => "textures",
                "storage_texel_buffer" | "image" => "images",
                "uniform_buffer" => "ubos",
                "storage_buffer" => "ssbos",
                "texture" | "uniform_texel_buffer" => "separate_images",
                "sampler" => "separate_samplers",
                "input_attachment" => "subpass_inputs",
                // The only type given by number that a fixture binds is an acceleration structure.
                "acceleration_structure" | "other" => "acceleration_structures",
                // SPIRV-Cross does not know color attachments that are read directly.
                "tile" => continue,
                other => other,
            };
            let place = format!("{}{}", number(resource, "set"), number(resource, "binding"));
            self.variable(&mut facts, kind, resource, &place);
        }
        if !self.0["push_constants"].is_null() {
            self.variable(&mut facts, "push_constants", &self.0["push_constants"], "");
        }
        if let Some(size) = self.0["workgroup_size"].as_array().filter(|_| self.0["stage"] == "compute") {
            facts.insert(format!("workgroup size {:?}", numbers(size)));
        }
        facts
    }

    fn is_built_in(&self, port: &Value) -> bool {
        let is_it = |of: &Value| !of["built_in"].is_null() || text(of, "name").starts_with("gl_");
        let members = port["struct"].as_u64().map(|at| list(&self.0["structs"][at as usize], "members"));
        is_it(port) || members.is_some_and(|members| members.iter().all(is_it))
    }

    fn variable(&self, facts: &mut BTreeSet<String>, key: &str, of: &Value, place: &str) {
        let array = numbers(list(of, "array"));
        let is_opaque = !of["image"].is_null()
            || matches!(text(of, "type"), "sampler" | "acceleration-structure")
            || text(of, "kind") == "other";
        let (ty, name) = match () {
            () if is_opaque => ("opaque".to_owned(), text(of, "name")),
            () if of["struct"].is_null() => (glsl_type(text(of, "type")), text(of, "name")),
            () => ("struct".to_owned(), ""),
        };
        let at = format!("{key} {name}{place}");
        facts.insert(format!("{at}: {ty} {array:?}"));
        self.members(facts, &at, of, 0);
    }

    fn members(&self, facts: &mut BTreeSet<String>, at: &str, of: &Value, depth: usize) {
        let Some(structure) = of["struct"].as_u64().filter(|_| depth < 8 && !text(of, "type").starts_with("ref<"))
        else {
            return;
        };
        for member in list(&self.0["structs"][structure as usize], "members") {
            let name = format!("{at}.{}", text(member, "name"));
            let is_reference = text(member, "type").starts_with("ref<");
            let ty = match () {
                () if is_reference => "reference".to_owned(),
                () if member["struct"].is_null() => glsl_type(text(member, "type")),
                () => "struct".to_owned(),
            };
            let is_port = at.starts_with("input") || at.starts_with("output");
            let offset = if is_port { String::new() } else { number(member, "offset") };
            let places = format!("{}{offset}", number(member, "location"));
            let strides = numbers(list(member, "array_strides"));
            let stride = strides.first().map(|stride| format!(", array_stride {stride}")).unwrap_or_default();
            let matrix = number(member, "matrix_stride");
            let rows = if member["row_major"] == true { ", rows" } else { "" };
            let array = numbers(list(member, "array"));
            facts.insert(format!("{name}: {ty} {array:?}{places}{stride}{matrix}{rows}"));
            self.members(facts, &name, member, depth + 1);
        }
    }
}

/// The GLSL name of `vec3<f32>` and so on. A `bool` in memory is a number.
fn glsl_type(ty: &str) -> String {
    let (shape, scalar) = ty.trim_end_matches('>').split_once('<').unwrap_or(("", ty));
    let (word, prefix) = match scalar {
        "f16" => ("float16_t", "f16"),
        "f32" => ("float", ""),
        "f64" => ("double", "d"),
        "bool" | "u32" => ("uint", "u"),
        "i8" => ("int8_t", "i8"),
        "u8" => ("uint8_t", "u8"),
        "i16" => ("int16_t", "i16"),
        "u16" => ("uint16_t", "u16"),
        "i32" => ("int", "i"),
        "i64" => ("int64_t", "i64"),
        "u64" => ("uint64_t", "u64"),
        other => (other, ""),
    };
    let square = shape.strip_prefix("mat").and_then(|size| size.split_once('x')).filter(|(c, r)| c == r);
    match square {
        _ if shape.is_empty() => word.to_owned(),
        Some((size, _)) => format!("{prefix}mat{size}"),
        None => format!("{prefix}{shape}"),
    }
}

/// SPIRV-Cross begins with the innermost array.
fn lengths(of: &Value) -> Vec<u64> {
    numbers(list(of, "array")).into_iter().rev().collect()
}

/// A reflection of SPIRV-Cross as facts.
struct Theirs<'v>(&'v Value);

impl Theirs<'_> {
    fn facts(&self) -> BTreeSet<String> {
        let mut facts = BTreeSet::new();
        for (key, list_of) in [("input", "inputs"), ("output", "outputs")] {
            for port in list(self.0, list_of).iter().filter(|port| !self.is_built_in(port)) {
                self.variable(&mut facts, key, port, &number(port, "location"));
            }
        }
        const KINDS: [&str; 9] = [
            "ubos",
            "ssbos",
            "textures",
            "separate_images",
            "separate_samplers",
            "images",
            "subpass_inputs",
            "acceleration_structures",
            "push_constants",
        ];
        for kind in KINDS {
            for resource in list(self.0, kind) {
                let place = format!("{}{}", number(resource, "set"), number(resource, "binding"));
                self.variable(&mut facts, kind, resource, &place);
            }
        }
        let entry = &self.0["entryPoints"][0];
        // It gives numbers in place of sizes that are specialization constants.
        let is_open = list(entry, "workgroup_size_is_spec_constant_id").contains(&Value::Bool(true));
        if let Some(size) = entry["workgroup_size"].as_array().filter(|_| entry["mode"] == "comp" && !is_open) {
            facts.insert(format!("workgroup size {:?}", numbers(size)));
        }
        facts
    }

    /// The specialization constants that the module has.
    fn constants(&self) -> BTreeSet<String> {
        let of = list(self.0, "specialization_constants").iter();
        of.map(|it| constant(it, text(it, "type").to_owned(), "default_value")).collect()
    }

    /// Blocks of built-in variables are listed too.
    fn is_built_in(&self, port: &Value) -> bool {
        text(port, "name").starts_with("gl_")
    }

    fn variable(&self, facts: &mut BTreeSet<String>, key: &str, of: &Value, place: &str) {
        let array = lengths(of);
        let is_struct = text(of, "type").starts_with('_');
        let is_opaque = !is_struct && !matches!(key, "input" | "output");
        let (ty, name) = match () {
            () if is_opaque => ("opaque", text(of, "name")),
            () if is_struct => ("struct", ""),
            () => (text(of, "type"), text(of, "name")),
        };
        let at = format!("{key} {name}{place}");
        facts.insert(format!("{at}: {ty} {array:?}"));
        self.members(facts, &at, text(of, "type"), 0);
    }

    fn members(&self, facts: &mut BTreeSet<String>, at: &str, ty: &str, depth: usize) {
        for member in list(&self.0["types"][ty], "members").iter().filter(|_| depth < 8) {
            let name = format!("{at}.{}", text(member, "name"));
            let of = text(member, "type");
            let is_reference = member["physical_pointer"] == true;
            let word = match () {
                () if is_reference => "reference",
                () if of.starts_with('_') => "struct",
                () => of,
            };
            // Transform feedback has offsets too.
            let is_port = at.starts_with("input") || at.starts_with("output");
            let offset = if is_port { String::new() } else { number(member, "offset") };
            let places = format!("{}{offset}", number(member, "location"));
            let (stride, matrix) = (number(member, "array_stride"), number(member, "matrix_stride"));
            let rows = if member["row_major"] == true { ", rows" } else { "" };
            let array = lengths(member);
            facts.insert(format!("{name}: {word} {array:?}{places}{stride}{matrix}{rows}"));
            if !is_reference {
                self.members(facts, &name, of, depth + 1);
            }
        }
    }
}
