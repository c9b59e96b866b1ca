//! NVIDIA's OpenGL in a helper process, on machines that have it.

use std::sync::Mutex;

use crosslane::backend::nv::Program;
use crosslane::ir::Stage;
use crosslane::run::RunError;
use crosslane::run::gl::{Device, Program as Loaded};
use serde::{Deserialize, Serialize};

use super::device::gl::{Painter, Programs, Scene};
use super::helper::{self, Helper};
use super::lavapipe::{Buffers, Request, all_words, is_stuck};

/// Asks the tests to run programs on the machine's GPU.
const ASKED: &str = "CROSSLANE_GL";
/// Set in the helper process.
const ROLE: &str = "CROSSLANE_TEST_OPENGL";

#[derive(Serialize, Deserialize)]
enum Job {
    /// The device's name, version and limits, a line each.
    Describe,
    Run(Box<(Program, Request)>),
    /// The driver's own assembly for a GLSL shader.
    List(String),
    /// Asks the driver to compile a GLSL shader of a stage, by the ending of its name.
    Take(String, String),
    /// Lets the driver load a program.
    Load(Box<Program>),
    /// A scene by assembly programs.
    Scene(Box<(Vec<Program>, Scene)>),
    /// A scene with the driver's own compilation of a compute shader, or of vertex and fragment shaders.
    SceneGlsl(Box<(Vec<String>, Scene)>),
}

#[derive(Serialize, Deserialize)]
enum Answer {
    Runs(Vec<Buffers>),
    Said(String),
    Scene(Box<Scene>),
}

static HELPER: Mutex<Option<Helper>> = Mutex::new(None);

/// Returns true if programs are to be run.
pub fn is_asked() -> bool {
    std::env::var_os(ASKED).is_some()
}

/// The buffers after each run of a program.
pub fn run(program: Program, request: Request) -> Result<Vec<Buffers>, String> {
    match ask(&Job::Run(Box::new((program, request))))? {
        Answer::Runs(runs) => Ok(runs),
        Answer::Said(said) => Err(said),
        Answer::Scene(_) => Err("a scene came back where buffers were asked for".to_owned()),
    }
}

/// Lets the driver load a program.
pub fn load(program: Program) -> Result<(), String> {
    said(&Job::Load(Box::new(program))).map(|_| ())
}

/// Lets the driver compile a GLSL shader.
pub fn takes(text: &str, stage: Stage) -> Result<(), String> {
    said(&Job::Take(stage.ending().to_owned(), text.to_owned())).map(drop)
}

/// Runs the programs of a scene and returns its contents.
pub fn run_scene(programs: Vec<Program>, scene: Scene) -> Result<Scene, String> {
    ran(&Job::Scene(Box::new((programs, scene))))
}

/// Runs the driver's own compilation of shaders and returns the contents of the scene.
pub fn run_scene_glsl(sources: Vec<String>, scene: Scene) -> Result<Scene, String> {
    ran(&Job::SceneGlsl(Box::new((sources, scene))))
}

/// The buffers after each run of a compute shader that the driver compiles.
pub fn run_glsl(source: &str, request: &Request) -> Result<Vec<Buffers>, String> {
    let bytes = |words: &Vec<u32>| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
    let words = |bytes: &[u8]| bytes.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect();
    let one = |buffers: &Buffers| {
        let all = (0..).zip(buffers.iter().map(bytes));
        let (uniform, storage) = all.partition(|(binding, _)| request.uniforms.contains(binding));
        let scene = Scene { groups: request.groups, uniform, storage, ..Scene::default() };
        let after = run_scene_glsl(vec![source.to_owned()], scene)?;
        let mut left: Vec<(u32, Vec<u8>)> = after.uniform.into_iter().chain(after.storage).collect();
        left.sort_by_key(|(binding, _)| *binding);
        Ok(left.iter().map(|(_, bytes)| words(bytes)).collect())
    };
    request.runs.iter().map(one).collect()
}

fn ran(job: &Job) -> Result<Scene, String> {
    match ask(job)? {
        Answer::Scene(scene) => Ok(*scene),
        Answer::Said(_) | Answer::Runs(_) => Err("no scene came back".to_owned()),
    }
}

/// The device's description of itself.
pub fn describe() -> Result<String, String> {
    said(&Job::Describe)
}

/// The assembly that the driver makes for a GLSL compute shader.
pub fn listing(glsl: &str) -> Result<String, String> {
    said(&Job::List(glsl.to_owned()))
}

fn said(job: &Job) -> Result<String, String> {
    match ask(job)? {
        Answer::Said(said) => Ok(said),
        Answer::Runs(_) | Answer::Scene(_) => Err("buffers came back where words were asked for".to_owned()),
    }
}

fn ask(job: &Job) -> Result<Answer, String> {
    let mut slot = HELPER.lock().map_err(|_| "an earlier test broke the helper".to_string())?;
    if slot.is_none() {
        *slot = Some(Helper::start(helper::command()?.env(ROLE, "1"))?);
    }
    let answer: Result<Result<Answer, String>, String> = slot.as_mut().expect("just started").ask(job);
    if answer.as_ref().map_or(true, is_stuck) {
        *slot = None;
    }
    answer?
}

/// Ends the helper.
pub fn stop() {
    if let Ok(mut slot) = HELPER.lock() {
        *slot = None;
    }
}

/// If this process is the helper: serves jobs until its input ends, and returns true.
pub fn serve() -> bool {
    if std::env::var_os(ROLE).is_none() {
        return false;
    }
    let painter = Painter::open().map_err(|e| e.to_string());
    helper::serve(|job: Job| painter.as_ref().map_err(Clone::clone).and_then(|painter| answer(painter, &job)));
    true
}

fn answer(painter: &Painter, job: &Job) -> Result<Answer, String> {
    let device = &painter.device;
    match job {
        Job::Describe => Ok(Answer::Said(description(device))),
        Job::Run(what) => execute(device, &what.0, &what.1).map(Answer::Runs).map_err(|e| e.to_string()),
        Job::Load(program) => {
            device.load(program).map(|loaded| Answer::Said(loaded.note.clone())).map_err(|e| e.to_string())
        }
        Job::Take(ending, glsl) => {
            let stage = Stage::named(ending).ok_or("no such stage")?;
            painter.takes(stage, glsl).map(|()| Answer::Said(String::new())).map_err(|e| e.to_string())
        }
        Job::Scene(what) => draw(painter, &what.0, what.1.clone()).map_err(|e| e.to_string()),
        Job::SceneGlsl(what) => draw_glsl(painter, &what.0, what.1.clone()).map_err(|e| e.to_string()),
        Job::List(glsl) => {
            let shader = painter.compile(glsl).map_err(|e| e.to_string())?;
            shader.listing().map(Answer::Said).ok_or_else(|| "the driver's binary holds no listing".to_owned())
        }
    }
}

fn draw(painter: &Painter, programs: &[Program], mut scene: Scene) -> Result<Answer, RunError> {
    let loaded: Vec<Loaded<'_>> =
        programs.iter().map(|program| painter.device.load(program)).collect::<Result<_, _>>()?;
    painter.run_scene(&Programs::Assembly(&loaded), &mut scene)?;
    Ok(Answer::Scene(Box::new(scene)))
}

fn draw_glsl(painter: &Painter, sources: &[String], mut scene: Scene) -> Result<Answer, RunError> {
    let shader = match sources {
        [vertex, fragment] => painter.link(vertex, fragment)?,
        others => painter.compile(&others.concat())?,
    };
    painter.run_scene(&Programs::Glsl(&shader), &mut scene)?;
    Ok(Answer::Scene(Box::new(scene)))
}

fn description(device: &Device) -> String {
    let limits = device.limits().into_iter().map(|(name, value)| format!("{name} {value}"));
    let info = device.info();
    [info.name.clone(), info.version.clone()].into_iter().chain(limits).collect::<Vec<_>>().join("\n")
}

fn execute(device: &Device, program: &Program, request: &Request) -> Result<Vec<Buffers>, RunError> {
    let loaded = device.load(program)?;
    let mut bound = request.bindings();
    for buffers in &mut bound {
        loaded.run(request.groups, &request.push_constants, buffers)?;
    }
    Ok(all_words(&bound))
}
