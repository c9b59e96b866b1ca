//! One launch of a ray tracing pipeline through both compilers: a ray generation shader, and the shaders for other
//! stages whose file names begin with its name. `NAME.END` is number 0 of a stage and `NAME.N.END` number `N`: a hit
//! group, or a record in the miss or callable table. Ray queries in compute and fragment shaders are tested as ordinary
//! dispatches and draws.

use std::path::{Path, PathBuf};

use crosslane::ir::Stage;

use super::{JUDGES, name, render, text};
use support::by_text::{self, Outcome};
use support::device::{Launch, Numbered};
use support::fixture;
use support::lavapipe::{Buffers, Request};
use support::plan::Plan;
use support::rival::{self, ours_of, theirs_of};
use support::trial::{Trial, judged};

const FOLDER: &str = "fixtures/graphics/rays";

pub fn trials() -> Vec<Trial> {
    let row = |path: PathBuf| {
        let check = match stage(&path)? {
            Stage::RayGeneration => check,
            Stage::Compute => super::check,
            Stage::Fragment => render::check,
            _ => return None,
        };
        Some(judged(format!("rays::{}", name(&path)), &JUDGES, move || check(&path)))
    };
    let by_text = |path: PathBuf| {
        let check = match stage(&path)? {
            Stage::RayGeneration => check_text,
            Stage::Compute => |path: &Path| text::check_compute(&text::GLSL, path),
            Stage::Fragment => |path: &Path| text::check_draw(&text::GLSL, path),
            _ => return None,
        };
        Some(judged(format!("rays::{}::{}", text::GLSL.profile, name(&path)), &JUDGES, move || check(&path)))
    };
    let files = fixture::files(FOLDER);
    files.iter().cloned().filter_map(row).chain(files.iter().cloned().filter_map(by_text)).collect()
}

/// Checks a launch through GLSL.
fn check_text(path: &Path) -> Result<(), String> {
    let sources = Sources::read(path)?;
    let plan = Plan::read(&sources.0[0].text)?;
    let mut made = Vec::new();
    for shader in &sources.0 {
        match by_text::make(text::GLSL.profile, &name(path), &shader.text, shader.stage)? {
            Outcome::Made(text) => made.push(text.module),
            Outcome::Refused(said) => return Err(said),
        }
    }
    let request = plan.request();
    let theirs = sources.run(&request, &sources.theirs()?).map_err(|e| format!("glslang's modules: {e}"))?;
    let ours = sources.run(&request, &made)?;
    check_written(&plan, &ours)?;
    let runs = theirs.iter().zip(&ours);
    runs.into_iter().try_for_each(|(theirs, ours)| rival::differences(&plan.judged(), theirs, ours))
}

/// The stage named by a file's extension.
fn stage(path: &Path) -> Option<Stage> {
    Stage::named(path.extension()?.to_str()?)
}

/// A shader of a launch.
struct Shader {
    stage: Stage,
    number: u32,
    text: String,
}

/// The shaders of a launch, ray generation first.
struct Sources(Vec<Shader>);

impl Sources {
    fn read(path: &Path) -> Result<Self, String> {
        let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let files = fixture::files(FOLDER).into_iter();
        let mut all = Vec::new();
        for file in files.filter(|file| file != path) {
            let Some((stage, number)) = part_of(&stem, &file) else { continue };
            all.push(Shader { stage, number, text: read(&file)? });
        }
        all.sort_by_key(|shader| (shader.stage, shader.number));
        all.insert(0, Shader { stage: Stage::RayGeneration, number: 0, text: read(path)? });
        Ok(Self(all))
    }

    fn theirs(&self) -> Result<Vec<Vec<u32>>, String> {
        self.0.iter().map(|shader| theirs_of(&shader.text, shader.stage.ending())).collect()
    }

    fn ours(&self, profile: &str) -> Result<Vec<Vec<u32>>, String> {
        self.0.iter().map(|shader| ours_of(shader.stage.name(), &shader.text, shader.stage, profile)).collect()
    }

    fn run(&self, request: &Request, modules: &[Vec<u32>]) -> Result<Vec<Buffers>, String> {
        let others = self.0.iter().zip(modules).skip(1);
        let numbered = others.map(|(shader, spirv)| Numbered {
            ending: shader.stage.ending().to_owned(),
            number: shader.number,
            spirv: spirv.clone(),
        });
        let launch = request.launch.clone().ok_or("the comments say no size of a launch")?;
        let launch = Some(Launch { shaders: numbered.collect(), ..launch });
        rival::run(&Request { launch, ..request.clone() }, &modules[0])
    }
}

/// The stage and number in the name of a file, if it belongs to the launch `stem`.
fn part_of(stem: &str, file: &Path) -> Option<(Stage, u32)> {
    let name = file.file_name()?.to_str()?;
    let rest = name.strip_prefix(stem)?.strip_prefix('.')?;
    let (number, ending) = rest.rsplit_once('.').unwrap_or(("0", rest));
    Some((Stage::named(ending)?, number.parse().ok()?))
}

fn read(path: &Path) -> Result<String, String> {
    std::fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))
}

fn check(path: &Path) -> Result<(), String> {
    let sources = Sources::read(path)?;
    let texts: Vec<&str> = sources.0.iter().map(|shader| shader.text.as_str()).collect();
    let plan = Plan::read(texts[0])?;
    let request = plan.request();
    let left = sources.run(&request, &sources.theirs()?).map_err(|e| format!("glslang's modules: {e}"))?;
    check_written(&plan, &left)?;
    let run = |modules: &[Vec<u32>]| sources.run(&request, modules);
    rival::hold_profiles(&texts.join("\n"), &plan.judged(), &left, |profile| sources.ours(profile), run)
}

/// Something must have been stored: rays that hit nothing would prove nothing.
fn check_written(plan: &Plan, left: &[Buffers]) -> Result<(), String> {
    let before = plan.request().runs;
    let changed =
        |(before, after): (&Buffers, &Buffers)| before.iter().zip(after).any(|(before, after)| before != after);
    match before.iter().zip(left).all(changed) {
        true => Ok(()),
        false => Err("glslang's modules leave all buffers as they were".to_owned()),
    }
}
