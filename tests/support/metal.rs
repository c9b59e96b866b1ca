//! Metal's language on a CPU: a C++ compiler takes the texts with `metal/metal_stdlib`, in which the threads of a
//! workgroup are fibers and the lanes of a SIMD-group execute its functions together.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

use serde::Deserialize;

use super::lavapipe::{Buffers, Request};

/// The buffer with the sizes of other buffers.
const SIZES: &str = "buffer_sizes";

/// Lanes of a SIMD-group.
pub const LANES: usize = 32;

/// The compiler of C++.
pub const JUDGE: &str = "g++";

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
    #[serde(default)]
    argument_buffers: Vec<Set>,
}

/// A set that is an argument buffer.
#[derive(Deserialize)]
struct Set {
    name: String,
    index: u32,
    members: Vec<Member>,
}

#[derive(Deserialize)]
struct Member {
    name: String,
    binding: u32,
    kind: String,
    /// The number among the buffers of a run.
    #[serde(skip)]
    index: u32,
}

/// The first number of buffers in argument buffers, which the language does not have.
const MEMBERS: u32 = 48;

impl Reflection {
    /// Treats the buffers in argument buffers as buffers with their own indices.
    fn with_members(mut self) -> Reflection {
        let Metal { slots, argument_buffers, .. } = &mut self.metal;
        slots.retain(|slot| argument_buffers.iter().all(|set| set.name != slot.name));
        let buffers = argument_buffers.iter_mut().flat_map(|set| &mut set.members).filter(|of| of.kind == "buffer");
        for (member, index) in buffers.zip(MEMBERS..) {
            member.index = index;
            let (name, kind) = (member.name.clone(), member.kind.clone());
            slots.push(Slot { name, binding: Some(member.binding), kind, index });
        }
        self
    }
}

#[derive(Deserialize)]
struct Slot {
    name: String,
    binding: Option<u32>,
    kind: String,
    index: u32,
}

/// The buffers after each run of each kernel; all kernels are compiled as one program.
pub fn run(jobs: &[Job]) -> Result<Vec<Result<Vec<Buffers>, String>>, String> {
    let read = |job: &Job| serde_json::from_str(&job.reflection).map_err(|e| e.to_string());
    let reflections = jobs.iter().map(|job| read(job).map(Reflection::with_members));
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
    let pointed = pointed(&reflection.metal.slots, &job.request.addresses);
    let bound = reflection.metal.slots.iter().filter(|slot| slot.kind == "buffer");
    // Arguments with the same binding are the same buffer.
    let mut buffers: Vec<&Slot> = Vec::new();
    let mut same: Vec<[u32; 2]> = Vec::new();
    for slot in bound.chain(&pointed) {
        match buffers.iter().find(|other| slot.binding.is_some() && other.binding == slot.binding) {
            Some(other) => same.push([slot.index, other.index]),
            None => buffers.push(slot),
        }
    }
    let pushed: Vec<u32> = job
        .request
        .push_constants
        .chunks(4)
        .map(|bytes| bytes.iter().rev().fold(0, |word, byte| word << 8 | u32::from(*byte)))
        .collect();
    let held = |slot: &Slot| match slot.binding {
        Some(binding) => before.get(binding as usize).cloned().unwrap_or_default(),
        None if slot.name == SIZES => sizes.clone(),
        None => pushed.clone(),
    };
    let mut words: Vec<u32> = job.request.groups.into_iter().chain(reflection.workgroup_size).collect();
    words.push(buffers.len() as u32);
    for slot in &buffers {
        let content = held(slot);
        words.extend([slot.index, content.len() as u32]);
        words.extend(content);
        let is_pushed = slot.binding.is_none() && slot.name != SIZES;
        let addresses = if is_pushed { job.request.addresses.as_slice() } else { &[] };
        words.push(addresses.len() as u32);
        for (at, binding) in addresses {
            let to = buffers.iter().find(|slot| slot.binding == Some(*binding)).ok_or("an address of no buffer")?;
            words.extend([*at as u32 / 4, to.index]);
        }
    }
    words.push(same.len() as u32);
    words.extend(same.iter().flatten());
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

/// Buffers that the text accesses only by address, at indices that the language does not have.
fn pointed(slots: &[Slot], addresses: &[(usize, u32)]) -> Vec<Slot> {
    let is_bound = |binding: &u32| slots.iter().any(|slot| slot.kind == "buffer" && slot.binding == Some(*binding));
    let alone: BTreeSet<u32> = addresses.iter().map(|(_, binding)| *binding).filter(|of| !is_bound(of)).collect();
    let slot =
        |(binding, index)| Slot { name: String::new(), binding: Some(binding), kind: "buffer".to_owned(), index };
    alone.into_iter().zip(32..).map(slot).collect()
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

/// All kernels, each in a namespace, and the function that selects one.
fn source(jobs: &[Job], reflections: &[Reflection]) -> Result<String, String> {
    let mut whole = String::from("#include \"metal_stdlib\"\n#include \"dispatch.h\"\n");
    for (number, (job, reflection)) in jobs.iter().zip(reflections).enumerate() {
        let macros = macros(&job.text, &job.request.spec_constants);
        let _ = writeln!(whole, "namespace k{number} {{\n{macros}{}", known(&job.text));
        let call = call(&job.text, &reflection.metal)?;
        let _ = writeln!(whole, "static void invoke(const Invocation& at, char** buffers) {{\n{call}}}\n}}");
    }
    whole.push_str("int main(int, char** arguments) {\n    switch (std::atoi(arguments[1])) {\n");
    for number in 0..jobs.len() {
        let _ = writeln!(whole, "    case {number}: return dispatch(k{number}::invoke);");
    }
    whole.push_str("    }\n    return 1;\n}\n");
    Ok(whole)
}

/// The values of specialization constants, of the types of their defaults.
fn macros(text: &str, values: &[(u32, u32)]) -> String {
    let mut made = String::new();
    for (number, bits) in values {
        let start = format!("#define CONSTANT_{number} ");
        let Some(default) = text.lines().find_map(|line| line.strip_prefix(&start)) else { continue };
        let value = match default {
            "true" | "false" => (*bits != 0).to_string(),
            _ if default.contains(['.', 'e']) => format!("as_type<float>({bits}u)"),
            _ if default.ends_with('u') => format!("{bits}u"),
            _ => format!("int({bits}u)"),
        };
        let _ = writeln!(made, "{start}{value}");
    }
    made
}

/// Checks that a compiler accepts texts for any stage, whose textures are not executed; returns its messages otherwise,
/// in which `k` and a number is a text.
pub fn takes(texts: &[&str]) -> Result<(), String> {
    let mut whole = String::from("#include \"metal_stdlib\"\n#include \"textures.h\"\n#include \"stages.h\"\n");
    for (number, text) in texts.iter().enumerate() {
        let _ = writeln!(whole, "namespace k{number} {{\n{}}}", known(text));
    }
    Folder::new()?.compile(&whole, &["-fsyntax-only"])
}

/// A text adapted to the compiler: its array template is the header's, and workgroup memory is shared by all threads.
fn known(text: &str) -> String {
    let mut known = String::with_capacity(text.len() * 2);
    let mut is_template = false;
    for line in text.lines().filter(|line| !line.starts_with("#include")) {
        is_template |= line == "template <typename T, size_t N>";
        if is_template {
            is_template = line != "};";
            continue;
        }
        let words = line.trim_start();
        let declares = words.starts_with("threadgroup ") && words.ends_with(';');
        let line = if declares { line.replacen("threadgroup", "static", 1) } else { line.to_owned() };
        known.push_str(&with_region(with_calls(&line)));
        known.push('\n');
    }
    for line in text.lines().filter_map(|line| line.strip_prefix("#define ")) {
        let _ = writeln!(known, "#undef {}", line.split(' ').next().unwrap_or_default());
    }
    known
}

/// The call of a kernel with an argument for each of its parameters.
fn call(text: &str, Metal { function, argument_buffers, .. }: &Metal) -> Result<String, String> {
    let (_, rest) = text.split_once(&format!("kernel void {function}(")).ok_or("no kernel")?;
    let (list, _) = rest.split_once(") {").ok_or("a head without an end")?;
    let (mut made, mut arguments) = (String::new(), Vec::new());
    for parameter in list.split(",\n").map(str::trim).filter(|parameter| !parameter.is_empty()) {
        let (declared, attribute) = parameter.split_once(" [[").ok_or("a parameter without an attribute")?;
        let (ty, _) = declared.rsplit_once(' ').ok_or("a parameter without a name")?;
        arguments.push(match attribute.trim_end_matches(']') {
            "thread_position_in_grid" => "at.in_grid()".to_owned(),
            "threadgroup_position_in_grid" => "at.of_group()".to_owned(),
            "thread_position_in_threadgroup" => "at.in_group()".to_owned(),
            "threadgroups_per_grid" => "at.groups_all()".to_owned(),
            "thread_index_in_threadgroup" => "at.index".to_owned(),
            "thread_index_in_simdgroup" => "at.lane()".to_owned(),
            "threads_per_simdgroup" => "metal::LANES".to_owned(),
            "simdgroup_index_in_threadgroup" => "at.subgroup()".to_owned(),
            "simdgroups_per_threadgroup" => "at.subgroups()".to_owned(),
            other => {
                let index = other.strip_prefix("buffer(").ok_or_else(|| format!("an argument that is {other}"))?;
                let index = index.trim_end_matches(')');
                match argument_buffers.iter().find(|set| set.index.to_string() == index) {
                    Some(set) => {
                        made += &filled(ty, set);
                        set.name.clone()
                    }
                    None => of_buffer(ty, &format!("buffers[{index}]")),
                }
            }
        });
    }
    Ok(format!("{made}    {function}({});\n", arguments.join(", ")))
}

/// An argument buffer with the addresses of its buffers.
fn filled(ty: &str, Set { name, members, .. }: &Set) -> String {
    let ty = ty.trim_start_matches("constant ").trim_end_matches('&');
    let buffers = members.iter().filter(|member| member.kind == "buffer");
    buffers.fold(format!("    {ty} {name} = {{}};\n"), |made, Member { name: of, index, .. }| {
        made + &format!("    {name}.{of} = reinterpret_cast<decltype({name}.{of})>(buffers[{index}]);\n")
    })
}

/// A buffer as an argument: a pointer, or the value it points to.
fn of_buffer(ty: &str, at: &str) -> String {
    match ty.strip_suffix('&') {
        Some(of) => format!("*reinterpret_cast<{of}*>({at})"),
        None => format!("reinterpret_cast<{ty}>({at})"),
    }
}

/// A line with swizzles as calls.
fn with_calls(line: &str) -> String {
    if let Some((place, op, value)) = line.strip_suffix(';').and_then(assignment)
        && let Some((path, word)) = place.rsplit_once('.')
        && word.len() > 1
        && let Some(places) = places_of(word)
    {
        let (path, places, value) = (with_calls(path), places.join(", "), with_calls(value));
        let before = if op.is_empty() { String::new() } else { format!("{path}.sw<{places}>() {op} ") };
        return format!("{path}.set<{places}>({before}({value}));");
    }
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let mut parts = line.split('.');
    let mut made = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let end = part.find(|c| !is_part(c)).unwrap_or(part.len());
        let (word, rest) = part.split_at(end);
        match places_of(word).filter(|places| (2..=4).contains(&places.len())) {
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

/// The target, the operator before the equals sign, and the value of an assignment.
fn assignment(line: &str) -> Option<(&str, &str, &str)> {
    let (place, value) = line.split_once("= ")?;
    let (place, op) = place.rsplit_once(' ')?;
    let is_operator = ["", "+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>"].contains(&op);
    is_operator.then_some((place, op, value))
}

/// The numbers of the components that a swizzle names.
fn places_of(word: &str) -> Option<Vec<String>> {
    word.chars().map(|c| "xyzw".find(c).map(|place| place.to_string())).collect()
}

/// A line whose constructs are regions that threads leave together.
fn with_region(line: String) -> String {
    const LOOPS: [&str; 3] = ["while (", "for (", "do {"];
    let words = line.trim_start();
    let is_type = ["struct ", "typedef ", "namespace ", "enum "].iter().any(|word| words.starts_with(word));
    if is_type || !line.ends_with('{') {
        return line;
    }
    let indent = &line[..line.len() - words.len()];
    match words {
        _ if LOOPS.iter().any(|head| words.starts_with(head)) => {
            format!("{indent}if (metal::Region whole_region; true) {words} metal::Region own_region;")
        }
        _ if words.starts_with("switch (") => {
            format!("{indent}switch (metal::Region whole_region; {}", &words["switch (".len()..])
        }
        _ if words.starts_with("if (") => {
            format!("{indent}if (metal::Region whole_region; {} metal::Region own_region;", &words["if (".len()..])
        }
        _ => format!("{line} metal::Region own_region;"),
    }
}

/// This program's folder, removed when the program ends.
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
        let options = [
            "-std=gnu++17",
            "-O0",
            "-w",
            "-fwrapv",
            "-fno-strict-aliasing",
            "-fsingle-precision-constant",
            "-ffp-contract=off",
        ];
        let mut command = Command::new(JUDGE);
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
