//! The debug information of a shader (NonSemantic.Shader.DebugInfo.100) compared with glslang's `-gVS`: each
//! instruction has a line, operations with visible effects have glslang's lines, and functions and variables have the
//! names, types and lines of their declarations.

use crosslane::backend::DebugInfo;
use crosslane::compile::{Artifact, Input, Language, Options, Verdict, compile};
use crosslane::diagnostic::render;
use crosslane::ir::Stage;
use crosslane::source::NoIncludes;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use support::{compiler, judge, rival};

pub const FIXTURES: [&str; 38] = [
    "core/arrays.comp",
    "core/atomics.comp",
    "core/bool_operators.comp",
    "core/choices.comp",
    "core/double_functions.comp",
    "core/functions.comp",
    "core/int_operators.comp",
    "core/loops.comp",
    "core/matrices.comp",
    "core/memory_scopes_barriers.comp",
    "core/packing.comp",
    "core/private_structs.comp",
    "core/push_constants.comp",
    "core/references.comp",
    "core/run_time_length.comp",
    "graphics/clipping.vert",
    "graphics/derivatives.frag",
    "graphics/discard_in_functions.frag",
    "graphics/early_tests.frag",
    "graphics/gathers.comp",
    "graphics/image_atomics.comp",
    "graphics/image_shapes.comp",
    "graphics/image_stores.frag",
    "stages/geometry.geom",
    "stages/mesh.mesh",
    "stages/rays_any.rahit",
    "stages/rays_boxes.rint",
    "stages/rays_called.rcall",
    "stages/rays_closest.rchit",
    "stages/rays_generation.rgen",
    "stages/rays_missed.rmiss",
    "stages/task.task",
    "stages/tess_control.tesc",
    "stages/tess_evaluation.tese",
    "wgsl/activity_loop.wgsl",
    "wgsl/kernel_prefix_sum.wgsl",
    "wgsl/kernel_histogram.wgsl",
    "wgsl/kernel_compaction.wgsl",
];

pub fn check(name: &str) -> Result<(), String> {
    let path = support::root().join("fixtures").join(name);
    let source = std::fs::read_to_string(&path).map_err(|e| e.to_string())?;
    let ending = Path::new(name).extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    let is_wgsl = ending == "wgsl";
    let theirs = (!is_wgsl).then(|| judge::glslang_with(&source, ending, &["-gVS"])).transpose()?;
    let theirs = theirs.map(|words| Told::of(&words)).transpose()?;
    let can = |profile: &str| !source.contains("enable crosslane;") || rival::has_subgroups(profile);
    for (profile, environment) in rival::profiles_of(&source).filter(|(profile, _)| can(profile)) {
        let words = compiled(&source, ending, profile)?;
        judge::spirv_val(&words, environment, true).map_err(|e| format!("{profile}: {e}"))?;
        let mine = Told::of(&words)?;
        mine.holds(&source).map_err(|e| format!("{profile}: {e}"))?;
        theirs.as_ref().map_or(Ok(()), |theirs| mine.agrees(theirs)).map_err(|e| format!("{profile}: {e}"))?;
    }
    Ok(())
}

fn compiled(source: &str, ending: &str, profile: &str) -> Result<Vec<u32>, String> {
    let options = Options { stage: Stage::named(ending), debug: DebugInfo::Full, ..compiler::named(profile)? };
    let language = if ending == "wgsl" { Language::Wgsl } else { Language::Glsl };
    let input = Input { name: "shader", bytes: source.as_bytes(), language };
    let done = compile(&input, &options, &NoIncludes);
    match done.verdict {
        Verdict::Done(Artifact::Spirv(words)) => Ok(words),
        _ => Err(render::human(&done.sources, &done.diagnostics)),
    }
}

/// A declaration: name, type, number of the argument.
type Declared = (String, String, Option<u32>);

/// The debug information of a module.
#[derive(Default, Debug)]
struct Told {
    /// Instructions without a line.
    nowhere: Vec<String>,
    /// Opcodes of operations with visible effects, with their lines.
    effects: BTreeSet<(String, u32)>,
    functions: BTreeSet<(String, u32)>,
    locals: BTreeSet<(Declared, u32)>,
    globals: BTreeSet<(Declared, u32)>,
}

impl Told {
    fn of(module: &[u32]) -> Result<Told, String> {
        let text = judge::spirv_dis(module)?;
        let lines: Vec<Vec<&str>> = text.lines().map(|line| line.split_whitespace().collect()).collect();
        let mut reader = Reader::default();
        lines.iter().for_each(|words| reader.line(words));
        Ok(reader.told)
    }

    /// The lines of declarations contain their names, and every instruction has a line.
    fn holds(&self, source: &str) -> Result<(), String> {
        if let Some(first) = self.nowhere.first() {
            return Err(format!("{} instructions have no line: {first}", self.nowhere.len()));
        }
        let lines: Vec<&str> = source.lines().collect();
        let is_word = |c: char| !c.is_alphanumeric() && c != '_';
        for ((name, ..), line) in self.locals.iter().chain(&self.globals) {
            let text = lines.get(*line as usize - 1).copied().unwrap_or_default();
            if !name.is_empty() && !text.split(is_word).any(|word| word == name) {
                return Err(format!("`{name}` is not declared in line {line}: {text}"));
            }
        }
        Ok(())
    }

    /// glslang describes a declaration of each global variable with the line of its first use.
    fn agrees(&self, theirs: &Told) -> Result<(), String> {
        let places = |told: &Told| told.globals.iter().map(|(declared, _)| declared.clone()).collect::<BTreeSet<_>>();
        let (mine, known) = (places(self), places(theirs));
        alone("globals", &mine, &known)?;
        alone("functions", &self.functions, &theirs.functions)?;
        // A variable without initializer has the line of its first use there.
        let known = |(declared, line): &&(Declared, u32)| {
            theirs.locals.iter().any(|(other, later)| other == declared && later >= line)
        };
        let locals: BTreeSet<_> = self.locals.iter().filter(|local| !known(local)).collect();
        alone("locals", &locals, &BTreeSet::new())?;
        alone("effects", &self.effects, &theirs.effects)?;
        alone("effects of theirs", &theirs.effects, &self.effects)
    }
}

/// Checks that all of the first are among the second.
fn alone<T: Ord + std::fmt::Debug>(what: &str, of: &BTreeSet<T>, among: &BTreeSet<T>) -> Result<(), String> {
    let alone: Vec<&T> = of.difference(among).collect();
    if alone.is_empty() { Ok(()) } else { Err(format!("{what}: {alone:?}, not among {among:?}")) }
}

/// Reads a listing line by line.
#[derive(Default)]
struct Reader {
    told: Told,
    texts: BTreeMap<String, String>,
    numbers: BTreeMap<String, u32>,
    types: BTreeMap<String, String>,
    /// In a function, the line of the next instruction in this block.
    place: Option<u32>,
    inside: bool,
}

impl Reader {
    fn line(&mut self, words: &[&str]) {
        match words {
            [id, "=", "OpString", text @ ..] => drop(self.texts.insert(id.to_string(), text.join(" "))),
            [id, "=", "OpConstant", _, value] => {
                self.numbers.extend(value.parse().ok().map(|value| (id.to_string(), value)));
            }
            [id, "=", "OpTypeVoid"] => drop(self.types.insert(id.to_string(), "void".into())),
            [id, "=", "OpExtInst", _, _, op, operands @ ..] if op.starts_with("Debug") => self.debug(id, op, operands),
            [_, "=", "OpLabel"] => (self.place, self.inside) = (None, true),
            ["OpFunctionEnd"] => self.inside = false,
            [_, "=", "OpVariable" | "OpPhi", ..] => {}
            [_, "=", op, ..] | [op, ..] if self.inside => self.instruction(op, words),
            _ => {}
        }
    }

    fn instruction(&mut self, op: &str, words: &[&str]) {
        let Some(line) = self.place else { return self.told.nowhere.push(words.join(" ")) };
        let starts = ["OpAtomic", "OpImageSample", "OpImageGather", "OpImageWrite", "OpDPd", "OpFwidth", "OpEmit"];
        let op = if op == "OpTerminateInvocation" { "OpKill" } else { op };
        let is_seen =
            matches!(op, "OpFunctionCall" | "OpControlBarrier" | "OpMemoryBarrier" | "OpKill" | "OpReturnValue");
        if is_seen || starts.iter().any(|start| op.starts_with(start)) {
            self.told.effects.insert((op.to_string(), line));
        }
    }

    fn debug(&mut self, id: &str, op: &str, operands: &[&str]) {
        let text = |at: usize| self.texts.get(operands[at]).cloned().unwrap_or_default().trim_matches('"').to_string();
        let number = |at: usize| operands.get(at).and_then(|id| self.numbers.get(*id)).copied();
        let ty = |at: usize| self.types.get(operands[at]).cloned().unwrap_or_default();
        let is = match op {
            "DebugLine" => return self.place = number(1),
            // References: glslang describes them later than the variables.
            "DebugTypeBasic" if number(2) == Some(1) => String::new(),
            "DebugTypeBasic" => text(0),
            "DebugTypeVector" => format!("{}*{}", ty(0), number(1).unwrap_or(0)),
            "DebugTypeMatrix" => format!("{}*{}", ty(0), number(1).unwrap_or(0)),
            "DebugTypeArray" => format!("{}[{}]", ty(0), number(1).unwrap_or(0)),
            "DebugTypePointer" => ty(0),
            // glslang calls an acceleration structure a struct.
            "DebugTypeComposite" if text(6).starts_with('@') => "opaque".into(),
            "DebugTypeComposite" if number(1) == Some(1) => format!("struct {}", text(0)),
            "DebugTypeComposite" => "opaque".into(),
            "DebugFunction" => {
                self.told.functions.insert((text(0), number(3).unwrap_or(0)));
                return;
            }
            "DebugLocalVariable" => {
                self.told.locals.insert(((text(0), ty(1), number(7)), number(3).unwrap_or(0)));
                return;
            }
            "DebugGlobalVariable" => {
                self.told.globals.insert(((text(0), ty(1), None), number(3).unwrap_or(0)));
                return;
            }
            _ => return,
        };
        self.types.insert(id.to_string(), is);
    }
}
