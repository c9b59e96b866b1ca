//! LLVM's assembler and linker, and the handling of a missing one.

use crate::judge;
use crosslane::profile::processor::Processor;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The programs that must be there.
const NEEDED: [&str; 2] = ["llvm-mc-22", "ld.lld-22"];

/// Returns true if assembler and linker are installed; where they are required, their absence is an error.
pub fn are_there() -> Result<bool, String> {
    if judge::is_quick() {
        return Ok(false);
    }
    static MISSING: OnceLock<Option<&str>> = OnceLock::new();
    let runs = |name: &&str| Command::new(name).arg("--version").stdout(Stdio::null()).status().is_ok();
    let missing = MISSING.get_or_init(|| NEEDED.into_iter().find(|name| !runs(name)));
    match missing {
        None => Ok(true),
        Some(name) if judge::required() => Err(format!("no {name} (run scripts/test.sh)")),
        Some(name) => {
            eprintln!("skipped: no {name} (run scripts/test.sh)");
            Ok(false)
        }
    }
}

/// The options for LLVM's programs that select a processor, and the wave size if it supports two.
pub fn options(processor: &str, wave: u32) -> Vec<String> {
    let mut options = vec![format!("-mcpu={processor}")];
    if wave == 64 && Processor::named(processor).is_some_and(Processor::has_both_waves) {
        options.push("-mattr=+wavefrontsize64,-wavefrontsize32".to_owned());
    }
    options
}

/// Assembles and links a program for a processor.
pub fn build(text: &str, processor: &str, wave: u32) -> Result<(), String> {
    if !are_there()? {
        return Ok(());
    }
    linked(text, processor, wave, |_| ())
}

/// Assembles and links a program, and hands the file to `work`, after which it is gone.
pub fn linked<T>(text: &str, processor: &str, wave: u32, work: impl FnOnce(&Path) -> T) -> Result<T, String> {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let stem = std::env::temp_dir().join(format!("crosslane-amd-{}-{count}", std::process::id()));
    let files = ["s", "o", "hsaco"].map(|extension| stem.with_extension(extension));
    let written = std::fs::write(&files[0], text).map_err(|e| e.to_string());
    let done = written.and_then(|()| link(&files, processor, wave)).map(|()| work(&files[2]));
    files.iter().for_each(|file| drop(std::fs::remove_file(file)));
    done
}

/// The bytes of a program's code, without the padding after its end.
///
/// # Errors
/// Fails if no assembler is installed or the assembler rejects the program.
pub fn code_bytes(text: &str, processor: &str, wave: u32) -> Result<usize, String> {
    let code = text.split_once(".Lmain_end:").map_or(text, |(code, _)| code);
    let mut assembler = Command::new(NEEDED[0]);
    assembler.args(["-triple=amdgcn-amd-amdhsa", "-show-encoding"]).args(options(processor, wave));
    let said = piped(&mut assembler, code.to_owned())?;
    let encodings = said.lines().filter_map(|line| line.split_once("encoding: [")?.1.split(']').next());
    Ok(encodings.map(|bytes| bytes.split(',').count()).sum())
}

/// The cycles that instructions without jumps take in a wave alone on a SIMD, according to LLVM's scheduling model for
/// a processor, which includes waits for memory. Barriers are left out.
///
/// # Errors
/// Fails if the analyzer is not installed or does not accept the text.
pub fn modelled_cycles(text: &str, processor: &str, wave: u32) -> Result<u64, String> {
    let mut analyzer = Command::new("llvm-mca-22");
    analyzer.args(["-mtriple=amdgcn-amd-amdhsa", "-iterations=1", "-instruction-info=0", "-resource-pressure=0"]);
    let others = text.lines().filter(|line| !line.trim_start().starts_with("s_barrier"));
    let text: String = others.map(|line| format!("{line}\n")).collect();
    let said = piped(analyzer.args(options(processor, wave)), text)?;
    let cycles = said.lines().find_map(|line| line.strip_prefix("Total Cycles:"));
    cycles.and_then(|cycles| cycles.trim().parse().ok()).ok_or_else(|| format!("llvm-mca says no cycles:\n{said}"))
}

/// The output of a program that reads a text.
fn piped(command: &mut Command, text: String) -> Result<String, String> {
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|e| format!("{}: {e}", command.get_program().to_string_lossy()))?;
    let mut stdin = child.stdin.take().ok_or("standard input was asked for")?;
    let writer = std::thread::spawn(move || stdin.write_all(text.as_bytes()));
    let output = child.wait_with_output().map_err(|e| e.to_string())?;
    writer.join().map_err(|_| "the writer panicked")?.map_err(|e| e.to_string())?;
    if output.status.success() {
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    } else {
        Err(String::from_utf8_lossy(&output.stderr).into_owned())
    }
}

/// Assembles and links programs, each with its name for messages, in one run: starting LLVM takes longer than its work.
pub fn build_all(programs: &[(&str, &str)], processor: &str, wave: u32) -> Result<(), String> {
    let alone = |&(name, text): &(&str, &str)| Some(format!("{name}: {}", build(text, processor, wave).err()?));
    // Each numbers its files from 1.
    let (with_files, others): (Vec<_>, Vec<_>) = programs.iter().partition(|(_, text)| text.contains("\t.file "));
    if let Some(why) = with_files.into_iter().find_map(alone) {
        return Err(why);
    }
    let joined: String = others.iter().enumerate().map(|(n, (_, text))| apart(text, n)).collect();
    let Err(why) = build(&joined, processor, wave) else { return Ok(()) };
    Err(others.into_iter().find_map(alone).unwrap_or(why))
}

/// A program with unique names for its kernel and labels, and without comments.
fn apart(text: &str, number: usize) -> String {
    let code = text.lines().map(|line| line.split(';').next().unwrap_or_default());
    let renamed = |line: &str| line.replace(".L", &format!(".L{number}_")).replace("main", &format!("main_{number}"));
    code.map(|line| renamed(line) + "\n").collect()
}

fn link([source, object, linked]: &[PathBuf; 3], processor: &str, wave: u32) -> Result<(), String> {
    let mut assembler = Command::new(NEEDED[0]);
    assembler.args(["-triple=amdgcn-amd-amdhsa", "-filetype=obj"]).args(options(processor, wave));
    run(assembler.arg(source).arg("-o").arg(object))?;
    run(Command::new(NEEDED[1]).arg("-shared").arg(object).arg("-o").arg(linked as &Path))
}

fn run(command: &mut Command) -> Result<(), String> {
    let output = command.output().map_err(|e| e.to_string())?;
    if output.status.success() && output.stderr.is_empty() {
        return Ok(());
    }
    Err(String::from_utf8_lossy(&output.stderr).into_owned())
}

/// Checks that assembly is ASCII, including comments, which is all that every assembler accepts.
pub fn is_ascii(text: &str) -> Result<(), String> {
    match text.lines().enumerate().find(|(_, line)| !line.is_ascii()) {
        Some((n, line)) => Err(format!("line {}: it is not ASCII: {line}", n + 1)),
        None => Ok(()),
    }
}
