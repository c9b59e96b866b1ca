//! NVIDIA's OpenGL in a process of its own, on machines that have it.

use std::sync::Mutex;

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
struct Job {
    /// None to ask for the device's name and limits.
    program: Option<Program>,
    request: Request,
}

#[derive(Serialize, Deserialize)]
struct Answer {
    runs: Vec<Buffers>,
    said: String,
}

static HELPER: Mutex<Option<Helper>> = Mutex::new(None);

/// Whether programs are to be run.
pub fn is_asked() -> bool {
    std::env::var_os(ASKED).is_some()
}

/// The buffers after each run of a program.
pub fn run(program: Program, request: Request) -> Result<Vec<Buffers>, String> {
    ask(&Job { program: Some(program), request }).map(|answer| answer.runs)
}

/// What the device says about itself.
pub fn describe() -> Result<String, String> {
    let request = Request::new(Vec::new(), 1, Vec::new());
    ask(&Job { program: None, request }).map(|answer| answer.said)
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
    let Some(program) = &job.program else {
        let limits = device.limits().into_iter().map(|(name, value)| format!("{name} {value}"));
        let said: Vec<String> =
            [device.info().name.clone(), device.info().version.clone()].into_iter().chain(limits).collect();
        return Ok(Answer { runs: Vec::new(), said: said.join("\n") });
    };
    let loaded = device.load(program).map_err(|e| e.to_string())?;
    let mut bound = job.request.bindings();
    for buffers in &mut bound {
        loaded.run(job.request.groups, &job.request.push_constants, buffers).map_err(|e| e.to_string())?;
    }
    Ok(Answer { runs: all_words(&bound), said: loaded.note.clone() })
}
