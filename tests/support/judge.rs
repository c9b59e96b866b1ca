//! Finds and runs the judges: programs that check the compiler's output and that this project did not write.
//!
//! `scripts/judges.sh` unpacks them; `CROSSLANE_JUDGES` names the folder, by default `target/judges`. A test without
//! its judge is skipped on a person's machine and fails if `CI=true`.

use crate::memo::Memo;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

/// The folder that `scripts/judges.sh` fills.
pub fn folder() -> PathBuf {
    let default = || crate::root().join("target/judges");
    std::env::var_os("CROSSLANE_JUDGES").map_or_else(default, PathBuf::from)
}

/// Where a judge is, if it is there: a file of the folder, or a program of the system. `quick` uses no program.
pub fn find(name: &str) -> Option<PathBuf> {
    Some(folder().join(name)).filter(|path| path.exists()).or_else(|| program(name))
}

fn program(name: &str) -> Option<PathBuf> {
    let searched = std::env::var_os("PATH").filter(|_| !is_quick())?;
    std::env::split_paths(&searched).map(|folder| folder.join(name)).find(|path| path.is_file())
}

/// Returns true in `scripts/test.sh quick`: tests run without judges, and for one processor of each kind.
pub fn is_quick() -> bool {
    std::env::var_os("CROSSLANE_QUICK").is_some()
}

/// Returns true if a missing judge is a failure.
pub fn required() -> bool {
    std::env::var_os("CI").is_some_and(|value| value == "true")
}

/// The path of a judge, or a message that says how to install it.
pub fn need(name: &str) -> Result<PathBuf, String> {
    find(name).ok_or_else(|| format!("no {} (run scripts/test.sh)", folder().join(name).display()))
}

/// The path of a judge for a test; `None` if it is missing and not required.
///
/// # Panics
/// When it is missing and required.
pub fn need_or_skip(name: &str) -> Option<PathBuf> {
    let why = match need(name) {
        Ok(path) => return Some(path),
        Err(why) => why,
    };
    assert!(!required(), "{why}");
    eprintln!("skipped: {why}");
    None
}

/// The set of judges: those of the stable suite, or the newest, which `scripts/judges.sh DIR newest` unpacks.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Edition {
    Stable,
    Newest,
}

impl Edition {
    fn program(self, name: &str) -> String {
        match self {
            Edition::Stable => format!("bin/{name}"),
            Edition::Newest => format!("bin/newest/{name}"),
        }
    }
}

/// The newest judges, if they are there.
pub fn newest() -> Option<Edition> {
    find(&Edition::Newest.program("glslangValidator")).map(|_| Edition::Newest)
}

/// Checks that `spirv-val` accepts the module for a `--target-env` such as `vulkan1.1`; returns its message otherwise.
/// `scalar` allows blocks with scalar layout.
pub fn spirv_val(module: &[u32], environment: &str, scalar: bool) -> Result<(), String> {
    validated(Edition::Stable, module, environment, scalar)
}

/// Like [`spirv_val`], with the newest version, if installed.
pub fn newest_spirv_val(module: &[u32], environment: &str, scalar: bool) -> Result<(), String> {
    let newest = find(&Edition::Newest.program("spirv-val"));
    newest.map_or(Ok(()), |_| validated(Edition::Newest, module, environment, scalar))
}

fn validated(judges: Edition, module: &[u32], environment: &str, scalar: bool) -> Result<(), String> {
    let mut arguments = vec!["--target-env", environment];
    arguments.extend(scalar.then_some("--scalar-block-layout"));
    arguments.push("-");
    filter(&judges.program("spirv-val"), &arguments, &bytes(module)).map(drop)
}

/// The judge's disassembly of a module.
pub fn spirv_dis(module: &[u32]) -> Result<String, String> {
    spirv_dis_of(Edition::Stable, module)
}

pub fn spirv_dis_of(judges: Edition, module: &[u32]) -> Result<String, String> {
    let text = filter(&judges.program("spirv-dis"), &["--no-color", "-"], &bytes(module))?;
    String::from_utf8(text).map_err(|e| e.to_string())
}

/// SPIRV-Cross's description of a module's interface, as JSON.
pub fn spirv_cross(module: &[u32]) -> Result<String, String> {
    let text = filter("bin/spirv-cross", &["-", "--reflect"], &bytes(module))?;
    String::from_utf8(text).map_err(|e| e.to_string())
}

/// SPIRV-Cross's text for a module.
pub fn spirv_cross_text(module: &[u32], options: &[&str]) -> Result<String, String> {
    let text = filter("bin/spirv-cross", &[&["-"], options].concat(), &bytes(module))?;
    String::from_utf8(text).map_err(|e| e.to_string())
}

/// Compiles a compute shader of plain GLSL for Vulkan 1.3 with glslang.
pub fn glslang(source: &str) -> Result<Vec<u32>, String> {
    glslang_stage(source, "comp")
}

/// glslang's module for a shader, with its stage given by the extension of its files.
pub fn glslang_stage(source: &str, stage: &str) -> Result<Vec<u32>, String> {
    glslang_with(source, stage, &[])
}

/// Like [`glslang_stage`], with more options.
pub fn glslang_with(source: &str, stage: &str, options: &[&str]) -> Result<Vec<u32>, String> {
    glslang_of(Edition::Stable, source, stage, options)
}

/// Returns an error if glslang rejects a shader for OpenGL or OpenGL ES.
pub fn glslang_takes(source: &str, stage: &str) -> Result<(), String> {
    let program = Edition::Stable.program("glslangValidator");
    filter(&program, &["--stdin", "-S", stage], source.as_bytes()).map(drop)
}

/// glslang's module for OpenGL.
pub fn glslang_opengl(source: &str, stage: &str) -> Result<Vec<u32>, String> {
    glslang_run(Edition::Stable, source, stage, &["-G"])
}

pub fn glslang_of(judges: Edition, source: &str, stage: &str, options: &[&str]) -> Result<Vec<u32>, String> {
    glslang_run(judges, source, stage, &[&["--target-env", "vulkan1.3"], options].concat())
}

fn glslang_run(judges: Edition, source: &str, stage: &str, options: &[&str]) -> Result<Vec<u32>, String> {
    static MADE: Memo<Vec<u32>> = Memo::empty();
    MADE.get((judges, source, stage, options), || glslang_anew(judges, source, stage, options))
}

fn glslang_anew(judges: Edition, source: &str, stage: &str, options: &[&str]) -> Result<Vec<u32>, String> {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let path = std::env::temp_dir().join(format!("crosslane-{}-{count}.spv", std::process::id()));
    let name = path.to_str().ok_or("the temporary folder's name is not UTF-8")?;
    let arguments = ["--stdin", "-S", stage, "-o", name];
    filter(&judges.program("glslangValidator"), &[&arguments, options].concat(), source.as_bytes())?;
    let made = std::fs::read(&path).map_err(|e| e.to_string())?;
    std::fs::remove_file(&path).map_err(|e| e.to_string())?;
    Ok(words(&made))
}

/// The modules that glslang makes for several shaders of a stage, in one process of shaderc's: it initialises itself
/// only once.
pub fn glslang_all(sources: &[&str], stage: &str) -> Vec<Result<Vec<u32>, String>> {
    static COUNT: AtomicUsize = AtomicUsize::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let folder = std::env::temp_dir().join(format!("crosslane-{}-all-{count}", std::process::id()));
    let names: Vec<String> = (0..sources.len()).map(|n| format!("{n}.{stage}")).collect();
    let said = if sources.is_empty() { Ok(String::new()) } else { glslang_in(&folder, &names, sources) };
    let one = |name: &String| {
        let said = said.as_ref().map_err(|e| format!("{}: {e}", folder.display()))?;
        let of_it = || said.lines().filter(|line| line.starts_with(name)).collect::<Vec<_>>().join("\n");
        std::fs::read(folder.join(format!("{name}.spv"))).map(|made| words(&made)).map_err(|_| of_it())
    };
    let made = names.iter().map(one).collect();
    // The shaders are judged, not the folder.
    let _ = std::fs::remove_dir_all(&folder);
    made
}

/// Everything that it prints about the sources in a folder.
fn glslang_in(folder: &Path, names: &[String], sources: &[&str]) -> std::io::Result<String> {
    std::fs::create_dir(folder)?;
    for (name, source) in names.iter().zip(sources) {
        std::fs::write(folder.join(name), source)?;
    }
    let program = need("bin/glslc").map_err(std::io::Error::other)?;
    let mut command = Command::new(program);
    let output =
        command.args(["-c", "--target-env=vulkan1.3", "-x", "glsl"]).args(names).current_dir(folder).output()?;
    Ok(String::from_utf8_lossy(&output.stderr).into_owned())
}

fn words(made: &[u8]) -> Vec<u32> {
    made.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect()
}

fn bytes(module: &[u32]) -> Vec<u8> {
    module.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// Runs a judge on `input`: returns its output, or everything it prints as the error.
pub fn filter(name: &str, arguments: &[&str], input: &[u8]) -> Result<Vec<u8>, String> {
    let path = need(name)?;
    let mut child = Command::new(&path)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|e| format!("{}: {e}", path.display()))?;
    let mut stdin = child.stdin.take().expect("standard input was asked for");
    // A judge that stops reading early gives the reason in its output.
    let _ = stdin.write_all(input);
    drop(stdin);
    let output = child.wait_with_output().map_err(|e| e.to_string())?;
    if output.status.success() {
        return Ok(output.stdout);
    }
    Err(format!("{name}: {}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr)))
}
