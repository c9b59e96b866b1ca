//! Metal's language on a CPU: a compiler of C++ takes the texts with `metal/metal_stdlib`, in which the threads of a
//! workgroup are fibers and the lanes of a SIMD-group run its functions together.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

use serde::Deserialize;

use super::lavapipe::{Buffers, Request};

/// Lanes of a SIMD-group.
pub const LANES: usize = 32;

/// A kernel with its reflection and what it is run on.
#[derive(Debug, Clone)]
pub struct Job {
    pub text: String,
    pub reflection: String,
    pub request: Request,
}

#[derive(Deserialize)]
struct Reflection {
    workgroup_size: [u32; 3],
    metal: Metal,
}

#[derive(Deserialize)]
struct Metal {
    function: String,
    sizes: Vec<String>,
    slots: Vec<Slot>,
}

#[derive(Deserialize)]
struct Slot {
    name: String,
    binding: Option<u32>,
    kind: String,
    index: u32,
}

/// The buffers after each run of each kernel; all of them are one program.
pub fn run(jobs: &[Job]) -> Result<Vec<Result<Vec<Buffers>, String>>, String> {
    let reflections = jobs.iter().map(|job| serde_json::from_str(&job.reflection).map_err(|e| e.to_string()));
    let reflections = reflections.collect::<Result<Vec<Reflection>, String>>()?;
    let folder = Folder::new()?;
    let program = folder.build(&source(jobs, &reflections)?)?;
    let runs = jobs.iter().zip(&reflections).enumerate();
    Ok(runs.map(|(number, (job, reflection))| runs_of(&program, number, job, reflection)).collect())
}

fn runs_of(program: &Path, number: usize, job: &Job, reflection: &Reflection) -> Result<Vec<Buffers>, String> {
    job.request.runs.iter().map(|before| one_run(program, number, job, reflection, before)).collect()
}

fn one_run(
    program: &Path,
    number: usize,
    job: &Job,
    reflection: &Reflection,
    before: &Buffers,
) -> Result<Buffers, String> {
    let of_name = |name: &String| {
        let slot = reflection.metal.slots.iter().find(|slot| slot.name == *name)?;
        before.get(slot.binding? as usize).map(|words| words.len() as u32 * 4)
    };
    let sizes: Vec<u32> = reflection.metal.sizes.iter().map(|name| of_name(name).unwrap_or(0)).collect();
    let buffers: Vec<&Slot> = reflection.metal.slots.iter().filter(|slot| slot.kind == "buffer").collect();
    let held = |slot: &Slot| match slot.binding {
        Some(binding) => before.get(binding as usize).cloned().unwrap_or_default(),
        None => sizes.clone(),
    };
    let mut words: Vec<u32> = job.request.groups.into_iter().chain(reflection.workgroup_size).collect();
    words.push(buffers.len() as u32);
    for slot in &buffers {
        let content = held(slot);
        words.extend([slot.index, content.len() as u32]);
        words.extend(content);
    }
    let mut left = asked(program, number, &words)?.into_iter();
    let mut after = before.clone();
    for slot in &buffers {
        let content: Vec<u32> = left.by_ref().take(held(slot).len()).collect();
        if let Some(buffer) = slot.binding.and_then(|binding| after.get_mut(binding as usize)) {
            *buffer = content;
        }
    }
    Ok(after)
}

fn asked(program: &Path, number: usize, words: &[u32]) -> Result<Vec<u32>, String> {
    let mut command = Command::new(program);
    let mut child = command
        .arg(number.to_string())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|e| e.to_string())?;
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let mut input = child.stdin.take().ok_or("a pipe")?;
    input.write_all(&bytes).map_err(|e| e.to_string())?;
    drop(input);
    let output = child.wait_with_output().map_err(|e| e.to_string())?;
    if !output.status.success() {
        return Err(format!("the kernel ended with {}", output.status));
    }
    Ok(output.stdout.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect())
}

/// All kernels, each in a namespace, and the function that picks one.
fn source(jobs: &[Job], reflections: &[Reflection]) -> Result<String, String> {
    let mut whole = String::from("#include \"metal_stdlib\"\n#include \"dispatch.h\"\n");
    for (number, (job, reflection)) in jobs.iter().zip(reflections).enumerate() {
        let _ = writeln!(whole, "namespace k{number} {{\n{}", known(&job.text));
        let call = call(&job.text, &reflection.metal.function)?;
        let _ =
            writeln!(whole, "static void invoke(const Invocation& at, char** buffers, char* shared) {{\n{call}}}\n}}");
    }
    whole.push_str("int main(int, char** arguments) {\n    switch (std::atoi(arguments[1])) {\n");
    for number in 0..jobs.len() {
        let _ = writeln!(whole, "    case {number}: return dispatch(k{number}::invoke);");
    }
    whole.push_str("    }\n    return 1;\n}\n");
    Ok(whole)
}

/// Says that a compiler takes texts of any stage, whose textures nothing runs; otherwise its words, in which `k` and a
/// number is a text.
pub fn takes(texts: &[&str]) -> Result<(), String> {
    let mut whole = String::from("#include \"metal_stdlib\"\n#include \"textures.h\"\n");
    for (number, text) in texts.iter().enumerate() {
        let _ = writeln!(whole, "namespace k{number} {{\n{}}}", known(text));
    }
    Folder::new()?.compile(&whole, &["-fsyntax-only"])
}

/// A text as the compiler knows it.
fn known(text: &str) -> String {
    let mut known = String::with_capacity(text.len() * 2);
    for line in text.lines().filter(|line| !line.starts_with("#include")) {
        // Memory of workgroups is ordinary memory here: one of two functions that differ in that alone takes another type.
        let line = line.replace("threadgroup A *", "volatile A *").replace(") index(", "), index(");
        known.push_str(&with_region(with_calls(&line)));
        known.push('\n');
    }
    for line in text.lines().filter_map(|line| line.strip_prefix("#define ")) {
        let _ = writeln!(known, "#undef {}", line.split(' ').next().unwrap_or_default());
    }
    known
}

/// The call of a kernel with an argument for each of its parameters, which have a line each.
fn call(text: &str, function: &str) -> Result<String, String> {
    let head = format!("kernel void {function}(");
    let lines = text.lines().skip_while(|line| !line.ends_with(&head)).skip(1).take_while(|line| *line != ") {");
    let mut arguments = Vec::new();
    let mut shared = 0;
    for line in lines {
        let line = line.trim().trim_start_matches(", ");
        let (declared, attribute) = line.split_once(" [[").unwrap_or((line, ""));
        let attribute = attribute.trim_end_matches(']');
        let (ty, _) = declared.rsplit_once(' ').ok_or("a parameter without a name")?;
        let memory = |at: String| format!("*reinterpret_cast<std::remove_reference_t<{ty}>*>({at})");
        arguments.push(match attribute {
            "" => {
                shared += 1;
                memory(format!("shared + SHARED * {}", shared - 1))
            }
            "thread_position_in_grid" => "at.in_grid()".to_owned(),
            "threadgroup_position_in_grid" => "at.of_group()".to_owned(),
            "thread_position_in_threadgroup" => "at.in_group()".to_owned(),
            "threadgroups_per_grid" => "at.groups_all()".to_owned(),
            "thread_index_in_threadgroup" => "at.index".to_owned(),
            "thread_index_in_simdgroup" => "at.lane()".to_owned(),
            "threads_per_simdgroup" => "metal::LANES".to_owned(),
            "simdgroup_index_in_threadgroup" => "at.subgroup()".to_owned(),
            "simdgroups_per_threadgroup" => "at.subgroups()".to_owned(),
            other => match other.strip_prefix("buffer(") {
                Some(index) => memory(format!("buffers[{}]", index.trim_end_matches(')'))),
                None => return Err(format!("an argument that is {other}")),
            },
        });
    }
    Ok(format!("    {function}({});\n", arguments.join(", ")))
}

/// A line with swizzles as calls.
fn with_calls(line: &str) -> String {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut parts = line.split('.');
    let mut made = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let end = part.find(|c| !is_part(c)).unwrap_or(part.len());
        let (word, rest) = part.split_at(end);
        let places: Option<Vec<String>> = word.chars().map(|c| "xyzw".find(c).map(|place| place.to_string())).collect();
        match places.filter(|places| (2..=4).contains(&places.len())) {
            Some(places) => {
                let _ = write!(made, ".sw<{}>(){rest}", places.join(", "));
            }
            None => {
                let _ = write!(made, ".{part}");
            }
        }
    }
    made
}

/// A line with the constructs that begin there as regions, which threads leave together.
fn with_region(line: String) -> String {
    const HEADS: [&str; 3] = ["if (", "while(", "switch("];
    let words = line.trim_start();
    let is_type = ["struct ", "typedef ", "namespace ", "enum "].iter().any(|word| words.starts_with(word));
    if is_type || !line.ends_with('{') {
        return line;
    }
    let indent = &line[..line.len() - words.len()];
    match HEADS.iter().find(|head| words.starts_with(**head)) {
        Some(&"while(") => format!("{indent}if (metal::Region all; true) {words} metal::Region part;"),
        Some(&"switch(") => format!("{indent}switch (metal::Region all; {}", &words["switch(".len()..]),
        Some(head) => format!("{indent}if (metal::Region all; {} metal::Region part;", &words[head.len()..]),
        None => format!("{line} metal::Region part;"),
    }
}

/// A folder of this program's, which goes when it ends.
struct Folder(PathBuf);

impl Folder {
    fn new() -> Result<Folder, String> {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("crosslane-metal-{}-{number}", std::process::id()));
        std::fs::create_dir(&path).map_err(|e| e.to_string())?;
        Ok(Folder(path))
    }

    fn build(&self, source: &str) -> Result<PathBuf, String> {
        let program = self.0.join("kernels");
        self.compile(source, &["-o", &program.display().to_string()])?;
        Ok(program)
    }

    /// Nothing is contracted, constants have the precision of their operands, and integers wrap.
    fn compile(&self, source: &str, more: &[&str]) -> Result<(), String> {
        let text = self.0.join("kernels.cpp");
        std::fs::write(&text, source).map_err(|e| e.to_string())?;
        let header = Path::new(env!("CARGO_MANIFEST_DIR")).join("metal");
        let options = ["-std=gnu++17", "-O0", "-w", "-fwrapv", "-fsingle-precision-constant", "-ffp-contract=off"];
        let mut command = Command::new("g++");
        command.args(options).arg("-I").arg(header).arg(&text).args(more);
        let output = command.output().map_err(|e| format!("g++: {e}"))?;
        if output.status.success() {
            return Ok(());
        }
        let said = String::from_utf8_lossy(&output.stderr);
        Err(format!("g++: {}", said.lines().take(20).collect::<Vec<_>>().join("\n")))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        // The kernels are judged, not the folder.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
