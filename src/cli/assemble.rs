//! Code objects for AMD's runtimes and cubins for NVIDIA's: runs the vendors' assemblers on the text of a kernel.
//!
//! LLVM's assembler and linker are searched for by name: `llvm-mc` and `ld.lld` with a version suffix, newest first,
//! then without, version 19 or newer. Older assemblers do not know code object version 5 for all processors.

use super::CommandError;
use crate::profile::{Processor, Profile};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// The oldest version that is accepted, and the newest that is searched for by suffix.
const OLDEST: u32 = 19;
const NEWEST: u32 = 40;

/// The bytes of the code object for a kernel's text.
///
/// # Errors
/// Returns an error if the tools are not found, cannot be run, or refuse the text.
pub fn code_object(text: &[u8], profile: &Profile, directory: Option<&Path>) -> Result<Vec<u8>, CommandError> {
    let assembler = find("llvm-mc", directory)?;
    let linker = find("ld.lld", directory)?;
    let folder = Folder::new()?;
    let [source, object, linked] = ["kernel.s", "kernel.o", "kernel.hsaco"].map(|name| folder.0.join(name));
    std::fs::write(&source, text)
        .map_err(|error| CommandError(format!("cannot write {}: {error}", source.display())))?;
    let mut assemble = Command::new(&assembler);
    assemble.args(["-triple=amdgcn-amd-amdhsa", "-filetype=obj"]).arg(format!("-mcpu={}", profile.processor));
    if profile.wave_size == Some(64) && Processor::named(&profile.processor).is_some_and(Processor::has_both_waves) {
        assemble.arg("-mattr=+wavefrontsize64,-wavefrontsize32");
    }
    run(assemble.arg("-o").arg(&object).arg(&source))?;
    run(Command::new(&linker).arg("-shared").arg("-o").arg(&linked).arg(&object))?;
    std::fs::read(&linked).map_err(|error| CommandError(format!("cannot read {}: {error}", linked.display())))
}

/// The bytes of the cubin for a kernel's text and the profile's architecture. `CROSSLANE_PTXAS` names `ptxas`; the
/// default is the one on the PATH.
///
/// # Errors
/// Returns an error if the tool is not found, cannot be run, or refuses the text.
pub fn cubin(text: &[u8], profile: &Profile) -> Result<Vec<u8>, CommandError> {
    let named = std::env::var_os("CROSSLANE_PTXAS").filter(|name| !name.is_empty());
    let assembler = named.unwrap_or_else(|| "ptxas".into());
    if Command::new(&assembler).arg("--version").stdin(Stdio::null()).output().is_err() {
        let place = assembler.to_string_lossy().into_owned();
        return Err(CommandError(format!(
            "--emit cubin: {place} cannot be run; install CUDA's ptxas, or name it in CROSSLANE_PTXAS"
        )));
    }
    let folder = Folder::new()?;
    let [source, object] = ["kernel.ptx", "kernel.cubin"].map(|name| folder.0.join(name));
    std::fs::write(&source, text)
        .map_err(|error| CommandError(format!("cannot write {}: {error}", source.display())))?;
    run(Command::new(&assembler).arg(format!("-arch={}", profile.processor)).arg("-o").arg(&object).arg(&source))?;
    std::fs::read(&object).map_err(|error| CommandError(format!("cannot read {}: {error}", object.display())))
}

/// A tool in a directory or on the PATH.
fn find(tool: &str, directory: Option<&Path>) -> Result<OsString, CommandError> {
    let numbered = (OLDEST..=NEWEST).rev().map(|version| format!("{tool}-{version}"));
    let names = numbered.chain([tool.to_owned()]);
    let place = |name: String| directory.map_or(OsString::from(&name), |directory| directory.join(&name).into());
    let found = names.map(place).find(|program| version(program).is_some_and(|version| version >= OLDEST));
    found.ok_or_else(|| {
        let place = directory.map_or("on the PATH".to_owned(), |directory| format!("in {}", directory.display()));
        let packages = "llvm and lld (Debian: llvm-22 lld-22)";
        CommandError(format!(
            "--emit hsaco: {tool} of version {OLDEST} or later is not {place}; install {packages}, or name their \
             directory with --llvm-dir"
        ))
    })
}

/// The version that a tool reports, or `None` if it cannot be run.
fn version(program: &OsString) -> Option<u32> {
    let said = Command::new(program).arg("--version").stdin(Stdio::null()).output().ok()?;
    let text = String::from_utf8_lossy(&said.stdout).into_owned();
    // "LLVM version 22.1.8", "Debian LLD 22.1.8 (compatible with GNU linkers)".
    let words = text.split_whitespace().zip(text.split_whitespace().skip(1));
    let number = words.filter(|(word, _)| matches!(*word, "version" | "LLD")).map(|(_, number)| number).next()?;
    number.split('.').next()?.parse().ok()
}

fn run(command: &mut Command) -> Result<(), CommandError> {
    let name = command.get_program().to_string_lossy().into_owned();
    let done = command.stdin(Stdio::null()).output();
    let done = done.map_err(|error| CommandError(format!("cannot run {name}: {error}")))?;
    match done.status.success() {
        true => Ok(()),
        false => Err(CommandError(format!("{name} failed: {}", String::from_utf8_lossy(&done.stderr).trim_end()))),
    }
}

/// A directory for the files between the tools, gone with its owner.
struct Folder(PathBuf);

impl Folder {
    /// A folder with a unique name: names are tried until one is free.
    fn new() -> Result<Folder, CommandError> {
        let parent = std::env::temp_dir();
        let mut failure = None;
        for n in 0..1000 {
            let path = parent.join(format!("crosslane-{}-{n}", std::process::id()));
            match std::fs::create_dir(&path) {
                Ok(()) => return Ok(Folder(path)),
                Err(error) => failure = Some(error),
            }
        }
        let reason = failure.map(|error| error.to_string()).unwrap_or_default();
        Err(CommandError(format!("cannot make a directory in {}: {reason}", parent.display())))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // A leftover in the system's temporary directory is harmless.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
