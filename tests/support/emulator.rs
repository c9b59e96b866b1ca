//! An emulator of AMD's processors from another project, in place of this project's interpreter: `CROSSLANE_EMULATOR`
//! is its command, and `CROSSLANE_EMULATED` lists the profiles that it supports, separated by commas. `tinygrad.py`
//! next to this file wraps tinygrad's emulator.
//!
//! It receives linked machine code, the bytes of memory, and the address of the arguments; each job is a line of JSON.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::sync::{Mutex, MutexGuard, PoisonError};

use crosslane::backend::amd::Program;
use crosslane::profile::Profile;
use serde::Serialize;

use super::assembler;
use super::helper::{Helper, Pool};
use super::interpret;
use super::lavapipe::{Buffers, Request, to_words};

/// Names the command.
const ASKED: &str = "CROSSLANE_EMULATOR";
/// Names the profiles.
const EMULATED: &str = "CROSSLANE_EMULATED";

/// The address of the first block, and the distance to the next one. Blocks are placed so that the memory behind them
/// is unmapped.
const FIRST: u64 = 0x100_0000_0000;
const APART: u64 = 1 << 32;
/// The start of each block is a multiple of this.
const ALIGNED: u64 = 256;

/// A run of a kernel.
#[derive(Serialize)]
struct Job<'a> {
    processor: &'a str,
    /// The linked program.
    code: &'a Path,
    groups: [u32; 3],
    group_size: [u32; 3],
    /// True if workgroups wait for each other.
    together: bool,
    /// The address of the arguments.
    arguments: u64,
    blocks: Vec<Block>,
}

/// Bytes in memory, as hexadecimal digits. The response has those of each block after the run.
#[derive(Serialize)]
struct Block {
    address: u64,
    bytes: String,
}

static EMULATORS: Pool = Pool::new();

/// The kernels that were run, by profile.
static RAN: Mutex<BTreeMap<String, u64>> = Mutex::new(BTreeMap::new());

fn ran() -> MutexGuard<'static, BTreeMap<String, u64>> {
    RAN.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns true if an emulator is to run kernels.
pub fn is_asked() -> bool {
    std::env::var_os(ASKED).is_some()
}

/// Returns true if a profile's kernels can be run: on an emulator, if it supports the profile.
pub fn has(profile: &str) -> bool {
    !is_asked() || std::env::var(EMULATED).unwrap_or_default().split(',').any(|name| name == profile)
}

/// The buffers after each run of a program over the case of a request.
///
/// # Errors
/// Returns the emulator's message, for example about an unsupported instruction.
pub fn run(program: &Program, profile: &Profile, request: &Request, together: bool) -> Result<Vec<Buffers>, String> {
    let wave = program.reflection.subgroup_size;
    assembler::linked(&program.text, &profile.processor, wave, |code| {
        let run = |before: &Buffers| run_once(program, &profile.processor, request, before, (code, together));
        let after = request.runs.iter().map(run).collect();
        *ran().entry(profile.name.to_string()).or_default() += 1;
        after
    })?
}

fn run_once(
    program: &Program,
    processor: &str,
    request: &Request,
    before: &Buffers,
    (code, together): (&Path, bool),
) -> Result<Buffers, String> {
    let reflection = &program.reflection;
    let mut contents: Vec<Vec<u8>> =
        before.iter().map(|words| words.iter().flat_map(|it| it.to_le_bytes()).collect()).collect();
    let mut addresses: Vec<u64> = contents.iter().enumerate().map(|(n, bytes)| address(n, bytes.len())).collect();
    contents.push(interpret::arguments(reflection, request, before, &addresses));
    addresses.push(address(contents.len(), contents[before.len()].len()));
    let block = |(bytes, &address): (&Vec<u8>, &u64)| Block { address, bytes: digits(bytes) };
    let job = Job {
        processor,
        code,
        groups: request.groups,
        group_size: reflection.workgroup_size,
        together,
        arguments: addresses[before.len()],
        blocks: contents.iter().zip(&addresses).map(block).collect(),
    };
    let after = EMULATORS.ask::<Result<Vec<String>, String>>(start, &job)??;
    after.iter().take(before.len()).map(|text| words(text)).collect()
}

/// The address of a block: it ends at the end of a page, or slightly before.
fn address(number: usize, size: usize) -> u64 {
    FIRST + (number as u64 + 1) * APART - (size as u64).next_multiple_of(ALIGNED)
}

fn start() -> Result<Helper, String> {
    let command = std::env::var(ASKED).map_err(|e| e.to_string())?;
    Helper::start(Command::new("sh").args(["-c", &format!("exec {command}")]).current_dir(super::root()))
}

fn digits(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn words(digits: &str) -> Result<Vec<u32>, String> {
    let byte = |at| digits.get(at..at + 2).and_then(|two| u8::from_str_radix(two, 16).ok()).ok_or("no bytes");
    let bytes: Result<Vec<u8>, &str> = (0..digits.len()).step_by(2).map(byte).collect();
    Ok(to_words(&bytes?))
}

/// Prints how many kernels were run, and ends the processes.
pub fn stop() {
    for (profile, count) in &*ran() {
        eprintln!("  {profile:16} {count} kernels on the emulator");
    }
    EMULATORS.stop();
}
