//! `crosslane build` on 200 generated shaders and 6 profiles: everything, nothing changed, one shader changed. Prints
//! the best of several runs next to the time that starting a process and writing the same bytes take on their own.
//!
//! `cargo bench --bench batch`. The work folder is in the directory for temporary files: if that is a file system in
//! memory, disk speed plays no part.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const SHADERS: usize = 200;
const PROFILES: [&str; 6] = ["spirv-1.3", "spirv-1.5", "spirv-1.6", "nv-kepler", "nv-volta", "nv-hopper"];
const RUNS: usize = 5;

fn main() {
    let folder = std::env::temp_dir().join(format!("crosslane-batch-{}", std::process::id()));
    generate(&folder);
    let start = best(|| (), || crosslane(&folder, &["--version"]));
    let out = folder.join("out");
    let fresh = best(|| drop(fs::remove_dir_all(&out)), || crosslane(&folder, &["build", "-q"]));
    let unchanged = best(|| (), || crosslane(&folder, &["build", "-q"]));
    let mut turn = 0;
    let one = best(
        || {
            turn += 1;
            fs::write(folder.join("shaders/s7.comp"), shader(7, turn)).expect("the folder is ours");
        },
        || crosslane(&folder, &["build", "-q"]),
    );
    let (files, writing) = write_again(&folder);
    let each = fresh.saturating_sub(start + writing) / SHADERS as u32;
    println!("{SHADERS} shaders, {} profiles, {files} outputs", PROFILES.len());
    println!("start of a process      {}", milliseconds(start));
    println!("writing the outputs     {}", milliseconds(writing));
    println!(
        "fresh build             {}   {:.1} us a shader beyond start and writing",
        milliseconds(fresh),
        micros(each)
    );
    println!("nothing changed         {}", milliseconds(unchanged));
    println!("one shader changed      {}", milliseconds(one));
    fs::remove_dir_all(&folder).expect("the folder is ours");
}

fn generate(folder: &Path) {
    fs::create_dir_all(folder.join("shaders")).expect("temporary files can be made");
    for n in 0..SHADERS {
        fs::write(folder.join(format!("shaders/s{n}.comp")), shader(n, 0)).expect("the folder is ours");
    }
    fs::write(folder.join("shaders/common.glsl"), "const float SCALE = 0.5;\n").expect("the folder is ours");
    let manifest = format!("[[build]]\nshaders = [\"shaders/*.comp\"]\nprofiles = {PROFILES:?}\nout-dir = \"out\"\n");
    fs::write(folder.join("crosslane.toml"), manifest).expect("the folder is ours");
}

/// A block reduction that differs slightly from shader to shader.
fn shader(n: usize, turn: usize) -> String {
    let width = [2, 4, 8, 16, 32][n % 5];
    format!(
        "#version 450\n#extension GL_CROSSLANE_portable : require\n#extension GL_GOOGLE_include_directive : require\n\
         #include \"common.glsl\"\nlayout(local_size_x = 64) in;\n\
         layout(std430, binding = 0) buffer In {{ float a[]; }};\nlayout(std430, binding = 1) buffer Out {{ float b[]; }};\n\
         shared float parts[64];\n\
         void main() {{\n    uint i = gl_GlobalInvocationID.x;\n    float x = a[i] * SCALE + float({n}u + {turn}u);\n\
         \x20   float sum = allReduceAdd{width}(x);\n    float near = butterfly{width}(x);\n\
         \x20   parts[gl_LocalInvocationID.x] = sum;\n    barrier();\n\
         \x20   for (int k = 0; k < 4; ++k) near += parts[(gl_LocalInvocationID.x + uint(k)) & 63u];\n\
         \x20   float before = exclusiveAdd{width}(sum);\n    b[i] = near > sum ? near : before;\n}}\n"
    )
}

fn crosslane(folder: &Path, args: &[&str]) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_crosslane"));
    let status = command.args(args).current_dir(folder).stdout(Stdio::null()).status();
    assert!(status.is_ok_and(|status| status.success()), "crosslane {args:?}");
}

/// The shortest of several runs, each after some preparation.
fn best(mut prepare: impl FnMut(), run: impl Fn()) -> Duration {
    let mut once = || {
        prepare();
        let start = Instant::now();
        run();
        start.elapsed()
    };
    (0..RUNS).map(|_| once()).min().expect("there is at least one run")
}

/// Number of outputs, and the time it takes to write their bytes to new files.
fn write_again(folder: &Path) -> (usize, Duration) {
    let read = |path: PathBuf| (path.file_name().map(PathBuf::from), fs::read(&path));
    let entries = fs::read_dir(folder.join("out")).expect("it was built").flatten().map(|entry| read(entry.path()));
    let files: Vec<(PathBuf, Vec<u8>)> = entries.filter_map(|(name, bytes)| Some((name?, bytes.ok()?))).collect();
    let copy = folder.join("copy");
    let write = || {
        for (name, bytes) in &files {
            fs::write(copy.join(name), bytes).expect("the folder is ours");
        }
    };
    let prepare = || {
        let _ = fs::remove_dir_all(&copy);
        fs::create_dir(&copy).expect("the folder is ours");
    };
    (files.len(), best(prepare, write))
}

fn milliseconds(time: Duration) -> String {
    format!("{:8.2} ms", time.as_secs_f64() * 1e3)
}

fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}
