//! Dawn, Chromium's implementation of WebGPU, on lavapipe: WGSL as browsers accept it. A Node.js process runs the jobs.
//! If `CROSSLANE_CHROMIUM` names a headless Chromium, one of its pages runs the jobs with 4 lanes, on the driver that
//! it ships.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;

use serde::Serialize;

use super::helper::Helper;
use super::judge;
use super::lavapipe::{self, Buffers, LANES, Request};

/// The files that must be among the judges.
pub const JUDGES: [&str; 2] = [PACKAGE, "lvp.json"];

const PACKAGE: &str = "dawn/node_modules/webgpu/package.json";

/// Names a headless Chromium that runs the jobs with [`SWIFTSHADER`] lanes.
const CHROMIUM: &str = "CROSSLANE_CHROMIUM";
/// Lanes of Chromium's own driver.
const SWIFTSHADER: usize = 4;

/// One kernel and the buffers of its runs; buffer `n` is binding `n` in group 0.
#[derive(Serialize)]
struct Job<'a> {
    text: &'a str,
    entry: &'a str,
    groups: [u32; 3],
    /// Values of overrides by their numbers.
    constants: BTreeMap<String, u32>,
    bindings: Vec<Bound>,
    runs: &'a [Buffers],
}

/// A variable of the text in group 0: `GPUBindGroupLayoutEntry`.
#[derive(Serialize)]
struct Bound {
    binding: u32,
    /// `GPUBufferBindingType`
    kind: &'static str,
}

/// The process for each of [`LANES`].
static HELPERS: [Mutex<Option<Helper>>; LANES.len()] = [const { Mutex::new(None) }; LANES.len()];

/// Runs a text on the buffers of a request, with `lanes` lanes.
pub fn run(lanes: usize, text: &str, request: &Request) -> Result<Vec<Buffers>, String> {
    let index = LANES.iter().position(|&n| n == lanes).ok_or("lavapipe has 4, 8 or 16 lanes")?;
    let mut slot = HELPERS[index].lock().map_err(|_| "an earlier test broke its helper")?;
    if slot.is_none() {
        *slot = Some(start(lanes)?);
    }
    let job = Job {
        text,
        entry: &request.entry,
        groups: request.groups,
        constants: request.spec_constants.iter().map(|(id, bits)| (id.to_string(), *bits)).collect(),
        bindings: text.lines().filter_map(bound).collect(),
        runs: &request.runs,
    };
    let answer = slot.as_mut().expect("just started").ask(&job);
    if answer.is_err() {
        *slot = None;
    }
    answer?
}

fn bound(line: &str) -> Option<Bound> {
    let (binding, rest) = line.strip_prefix("@group(0) @binding(")?.split_once(") var<")?;
    let kind = match rest.split_once('>')?.0 {
        "uniform" => "uniform",
        "storage" | "storage, read" => "read-only-storage",
        _ => "storage",
    };
    Some(Bound { binding: binding.parse().ok()?, kind })
}

fn start(lanes: usize) -> Result<Helper, String> {
    let (script, argument) = match std::env::var_os(CHROMIUM).filter(|_| lanes == SWIFTSHADER) {
        Some(program) => ("chromium.mjs", PathBuf::from(program)),
        None => {
            let package = judge::need(PACKAGE)?;
            ("dawn.mjs", package.ancestors().nth(3).ok_or("no folder of packages")?.to_owned())
        }
    };
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join(script);
    // Dawn writes warnings to the standard output.
    let mut command = Command::new("sh");
    command.args(["-c", "exec node \"$0\" \"$1\" 3>&1 >/dev/null"]).arg(script).arg(argument).stderr(Stdio::null());
    lavapipe::choose(&mut command, lanes)?;
    Helper::start(&mut command)
}

/// Returns Tint's message as an error if it rejects a text for any stage.
pub fn takes(text: &str) -> Result<(), String> {
    const LANES: usize = 8;
    run(LANES, text, &Request::new(Vec::new(), 1, Vec::new())).map(drop)
}

/// Ends every process.
pub fn stop() {
    for slot in &HELPERS {
        if let Ok(mut slot) = slot.lock() {
            *slot = None;
        }
    }
}
