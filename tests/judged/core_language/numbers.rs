//! Shaders that only the SPIR-V target supports: every shader in `fixtures/spirv` is valid from its first profile on,
//! requires no capability or extension that glslang's module does without, has the same number of the relevant
//! instructions, and is refused by the other targets. Shaders that only the newest judges support
//! (`// judged by the newest`) are judged only by these, if installed.

use std::collections::BTreeMap;
use std::path::Path;

use crosslane::compile::{Artifact, Compilation, Input, Language, Options, Verdict, compile};
use crosslane::diagnostic::{Code, Severity, render};
use crosslane::ir::Stage;
use crosslane::source::NoIncludes;

use super::stages::stage;
use support::rival::PROFILES;
use support::snapshot;
use support::{compiler, judge};

/// Profiles of targets that support none of this.
const OTHERS: [&str; 2] = ["nv-ampere", "gfx1100-wave32"];

/// Parts of the names of the instructions in question.
const TOLD: [&str; 9] = [
    "CooperativeMatrix",
    "RayQuery",
    "MicroTriangle",
    "AttachmentRead",
    "OpAtomic",
    "ReadClock",
    "OpDot",
    "BitcastExtract",
    "OpTypeFloat",
];

/// Decorations that both compilers write in the same place.
const DECORATIONS: [&str; 3] = ["PerPrimitive", "ExplicitInterpAMD", "SaturatedToLargest"];

pub fn check(path: &Path) -> Result<(), String> {
    let source = std::fs::read_to_string(path).map_err(|e| e.to_string())?;
    let stage = stage(path).ok_or("the end of its name says no stage")?;
    let newest = source.lines().any(|line| line == "// judged by the newest");
    let first = source.lines().find_map(|line| line.strip_prefix("// from ")).unwrap_or(PROFILES[0].0);
    for (profile, environment) in PROFILES.into_iter().skip_while(|(profile, _)| *profile != first) {
        let module = ours(&source, stage, profile).map_err(|e| format!("{profile}: {e}"))?;
        if !newest {
            judge::spirv_val(&module, environment, false).map_err(|e| format!("{profile}: {e}"))?;
        }
        judge::newest_spirv_val(&module, environment, false).map_err(|e| format!("{profile}, newest: {e}"))?;
    }
    OTHERS.into_iter().try_for_each(|profile| refused(&source, stage, profile))?;
    let ours = ours(&source, stage, "spirv-1.6")?;
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let text = crosslane::backend::spirv::disassemble(&ours)?;
    snapshot::hold("spirv", &name, "the SPIR-V target alone takes it", &text);
    let judges = if newest { judge::newest() } else { Some(judge::Edition::Stable) };
    let Some(judges) = judges else { return Ok(()) };
    let theirs = judge::glslang_of(judges, &source, stage.ending(), &[])?;
    Content::of(judges, &ours)?.within(&Content::of(judges, &theirs)?)
}

fn verdict(source: &str, stage: Stage, profile: &str) -> Result<Compilation, String> {
    let options = Options { stage: Some(stage), ..compiler::named(profile)? };
    let input = Input { name: "shader", bytes: source.as_bytes(), language: Language::Glsl };
    Ok(compile(&input, &options, &NoIncludes))
}

fn ours(source: &str, stage: Stage, profile: &str) -> Result<Vec<u32>, String> {
    let done = verdict(source, stage, profile)?;
    match done.verdict {
        Verdict::Done(Artifact::Spirv(words)) => Ok(words),
        _ => Err(render::human(&done.sources, &done.diagnostics)),
    }
}

/// Checks that another target refuses the shader, and at which place.
fn refused(source: &str, stage: Stage, profile: &str) -> Result<(), String> {
    let done = verdict(source, stage, profile)?;
    let errors: Vec<_> = done.diagnostics.iter().filter(|d| d.severity == Severity::Error).collect();
    let known = [Code::PROFILE_LACKS, Code::NOT_SUPPORTED, Code::NOT_IN_KERNELS];
    match errors.iter().all(|error| known.contains(&error.code) && !error.span().is_none()) && !errors.is_empty() {
        true => Ok(()),
        false => Err(format!("{profile}: {}", render::human(&done.sources, &done.diagnostics))),
    }
}

/// The features that a module requires, and the number of each instruction on which both compilers agree.
#[derive(Default)]
struct Content {
    asked: Vec<String>,
    counted: BTreeMap<String, usize>,
}

impl Content {
    fn of(judges: judge::Edition, module: &[u32]) -> Result<Content, String> {
        let mut content = Content::default();
        for line in judge::spirv_dis_of(judges, module)?.lines() {
            let words: Vec<&str> = line.split_whitespace().collect();
            let Some(at) = words.iter().position(|word| word.starts_with("Op")) else { continue };
            content.instruction(words[at], &words[at + 1..]);
        }
        Ok(content)
    }

    fn instruction(&mut self, opcode: &str, operands: &[&str]) {
        let text = operands.iter().filter(|word| !word.starts_with('%')).copied().collect::<Vec<_>>().join(" ");
        match opcode {
            // Either of these lines requires an extension that only adds an instruction set.
            "OpCapability" | "OpExtension" | "OpExtInstImport" => self.asked.push(text),
            "OpTypeCooperativeMatrixKHR" => {}
            "OpCooperativeMatrixLoadKHR"
            | "OpCooperativeMatrixStoreKHR"
            | "OpCooperativeMatrixLoadNV"
            | "OpCooperativeMatrixStoreNV" => self.count(opcode.to_owned()),
            // Memory access operands are left out here too: glslang does not state visibility to other invocations.
            "OpCooperativeMatrixLoadTensorNV" | "OpCooperativeMatrixStoreTensorNV" => {
                self.count(format!("{opcode} {}", text.split(' ').next_back().unwrap_or_default()));
            }
            "OpExecutionMode" | "OpDecorateId" | "OpDecorateString" | "OpMemoryModel" | "OpMatrixTimesScalar" => {
                self.count(format!("{opcode} {text}"));
            }
            "OpExtInst" => self.count(format!("{opcode} {text}")),
            "OpDecorate" | "OpMemberDecorate" if DECORATIONS.iter().any(|part| text.contains(part)) => self.count(text),
            // The sign extension of narrow integers is irrelevant for texels of 32 bits.
            _ if opcode.contains("Sparse") => {
                let parts = text.split('|').filter(|part| !["SignExtend", "ZeroExtend"].contains(part));
                self.count(format!("{opcode} {}", parts.collect::<Vec<_>>().join("|")));
            }
            _ if TOLD.iter().any(|part| opcode.contains(part)) => self.count(format!("{opcode} {text}")),
            _ => {}
        }
    }

    fn count(&mut self, what: String) {
        *self.counted.entry(what).or_default() += 1;
    }

    fn within(&self, theirs: &Content) -> Result<(), String> {
        let more: Vec<&String> = self.asked.iter().filter(|asked| !theirs.asked.contains(asked)).collect();
        if !more.is_empty() {
            return Err(format!("glslang does without {more:?}"));
        }
        match self.counted == theirs.counted {
            true => Ok(()),
            false => Err(format!("ours: {:#?}\nglslang's: {:#?}", self.counted, theirs.counted)),
        }
    }
}
