//! NVIDIA's OpenGL in a process of its own, on machines that have it.

use std::sync::Mutex;

use crosslane::run::RunError;
use crosslane::run::gl::Device;
use crosslane::target::nv::Program;
use serde::{Deserialize, Serialize};

use super::helper::{self, Helper};
use super::lavapipe::{Buffers, Request, all_words};

/// Asks the tests to run programs on the machine's GPU.
const ASKED: &str = "CROSSLANE_GL";
/// Set in the helper process.
const ROLE: &str = "CROSSLANE_TEST_OPENGL";

#[derive(Serialize, Deserialize)]
enum Job {
    /// The device's name, version and limits, a line each.
    Describe,
    Run(Box<(Program, Request)>),
    /// The driver's own assembly of a GLSL shader.
    List(String),
}

#[derive(Serialize, Deserialize)]
enum Answer {
    Runs(Vec<Buffers>),
    Said(String),
}

static HELPER: Mutex<Option<Helper>> = Mutex::new(None);

/// Whether programs are to be run.
pub fn is_asked() -> bool {
    std::env::var_os(ASKED).is_some()
}

/// The buffers after each run of a program.
pub fn run(program: Program, request: Request) -> Result<Vec<Buffers>, String> {
    match ask(&Job::Run(Box::new((program, request))))? {
        Answer::Runs(runs) => Ok(runs),
        Answer::Said(said) => Err(said),
    }
}

/// What the device says about itself.
pub fn describe() -> Result<String, String> {
    said(&Job::Describe)
}

/// The assembly that the driver makes of a GLSL compute shader.
pub fn listing(glsl: &str) -> Result<String, String> {
    said(&Job::List(glsl.to_owned()))
}

fn said(job: &Job) -> Result<String, String> {
    match ask(job)? {
        Answer::Said(said) => Ok(said),
        Answer::Runs(_) => Err("buffers came back where words were asked for".to_owned()),
    }
}

fn ask(job: &Job) -> Result<Answer, String> {
    let mut slot = HELPER.lock().map_err(|_| "an earlier test broke the helper".to_string())?;
    if slot.is_none() {
        *slot = Some(Helper::start(helper::command()?.env(ROLE, "1"))?);
    }
    let answer: Result<Result<Answer, String>, String> = slot.as_mut().expect("just started").ask(job);
    if answer.is_err() {
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

/// If this process is the helper: serves jobs until its input ends, and says true.
pub fn serve() -> bool {
    if std::env::var_os(ROLE).is_none() {
        return false;
    }
    let device = Device::open().map_err(|e| e.to_string());
    helper::serve(|job: Job| device.as_ref().map_err(Clone::clone).and_then(|device| answer(device, &job)));
    true
}

fn answer(device: &Device, job: &Job) -> Result<Answer, String> {
    match job {
        Job::Describe => Ok(Answer::Said(description(device))),
        Job::Run(what) => execute(device, &what.0, &what.1).map(Answer::Runs).map_err(|e| e.to_string()),
        Job::List(glsl) => {
            let shader = device.compile(glsl).map_err(|e| e.to_string())?;
            shader.listing().map(Answer::Said).ok_or_else(|| "the driver's binary holds no listing".to_owned())
        }
    }
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
