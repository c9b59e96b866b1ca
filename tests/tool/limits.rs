//! The limits in [`Options`]: each of them ends a compilation with its own code, and the defaults do not.

use crosslane::compile::{Compilation, EmitKind, Input, Language, Options, Verdict, compile};
use crosslane::diagnostic::{Code, Severity};
use crosslane::limits::{Limits, Taken};
use crosslane::profile::Profile;
use crosslane::source::{IncludeKind, LoadError, Loaded, Loader, NoIncludes};
use std::process::Command;
use std::time::Duration;
use support::heap;
use support::shapes::{self, PROFILES, Shape};

const HEAD: &str = "#version 460\n#extension GL_GOOGLE_include_directive : require\nlayout(local_size_x = 32) in;\n\
                    layout(std430, binding = 0) buffer Data { float data[]; };\n";

/// Includes that contain one line, and that include themselves through `next`.
struct Files;

impl Loader for Files {
    fn load(&self, name: &str, _: IncludeKind, _: &str) -> Result<Loaded, LoadError> {
        let text = match name.strip_prefix("deep").and_then(|depth| depth.parse::<u32>().ok()) {
            Some(depth) => format!("#include \"deep{}\"\n", depth + 1),
            None => "// nothing\n".to_string(),
        };
        Ok(Loaded { name: name.into(), text: text.into() })
    }
}

fn compiled(text: &str, language: Language, profile: &str, limits: Limits) -> Compilation {
    let options = Options { limits, ..Options::new(Profile::named(profile).expect("a built-in profile")) };
    let input = Input { name: "a.comp", bytes: text.as_bytes(), language };
    match language {
        Language::Glsl => compile(&input, &options, &Files),
        Language::Wgsl => compile(&input, &options, &NoIncludes),
    }
}

/// The codes of all errors.
fn codes(compilation: &Compilation) -> Vec<Code> {
    compilation
        .diagnostics
        .iter()
        .filter(|message| message.severity == Severity::Error)
        .map(|message| message.code)
        .collect()
}

/// A shader that compiles, but not with these limits, on each kind of target.
fn ends(text: &str, limits: Limits, code: Code) {
    for profile in ["spirv-1.5", "nv-hopper", "gfx1100"] {
        let free = compiled(text, Language::Glsl, profile, Limits::default());
        assert!(matches!(free.verdict, Verdict::Done(_)), "{profile}: {:?}", free.diagnostics);
        let bound = compiled(text, Language::Glsl, profile, limits);
        assert_eq!((codes(&bound), &bound.verdict), (vec![code], &Verdict::ShaderWrong), "{profile}");
    }
}

fn body(text: &str) -> String {
    format!("{HEAD}void main() {{\n{text}\n}}\n")
}

#[test]
fn steps_are_limited() {
    let text = body(&"data[0] += 1.0;\n".repeat(1000));
    ends(&text, Limits { steps: 1000, ..Limits::default() }, Code::STEPS_EXCEEDED);
}

/// The front end's memory counts too: with this few steps the back ends are never reached.
#[test]
fn memory_is_limited() {
    let text = body(&"data[0] += 1.0;\n".repeat(1000));
    ends(&text, Limits { memory: 20_000, ..Limits::default() }, Code::MEMORY_EXCEEDED);
}

/// Steps are deterministic: once enough, a number of steps is always enough.
#[test]
fn steps_are_deterministic() {
    let text = body("for (int i = 0; i < 9; ++i) { if (data[i] > 1.0) { data[i + 9] += float(i); } }");
    for profile in ["spirv-1.5", "nv-hopper", "gfx1100"] {
        let compiles = |steps: u64| {
            let limits = Limits { steps, ..Limits::default() };
            matches!(compiled(&text, Language::Glsl, profile, limits).verdict, Verdict::Done(_))
        };
        let (mut low, mut high) = (1, 1 << 24);
        while low < high {
            let middle = (low + high) / 2;
            if compiles(middle) { high = middle } else { low = middle + 1 }
        }
        assert!(low > 50, "{profile}: {low}");
        assert!((0..5).all(|_| compiles(low) && !compiles(low - 1)), "{profile}: {low}");
    }
}

#[test]
fn wgsl_is_limited_on_its_large_stack_too() {
    let head = "@group(0) @binding(0) var<storage, read_write> data: array<f32>;\n@compute @workgroup_size(32)\n";
    for count in [100, 5000] {
        let text = format!("{head}fn main() {{ {} }}", "data[0] += 1.0;\n".repeat(count));
        let free = compiled(&text, Language::Wgsl, "spirv-1.5", Limits::default());
        assert!(matches!(free.verdict, Verdict::Done(_)), "{:?}", free.diagnostics);
        let limits = Limits { steps: 90, ..Limits::default() };
        let bound = compiled(&text, Language::Wgsl, "spirv-1.5", limits);
        assert_eq!(codes(&bound), [Code::STEPS_EXCEEDED]);
    }
}

#[test]
fn includes_are_limited() {
    let text = format!("{HEAD}{}void main() {{ data[0] = 1.0; }}\n", "#include \"one\"\n".repeat(10));
    ends(&text, Limits { includes: 9, ..Limits::default() }, Code::INCLUDE_LIMIT);
    let enough = Limits { includes: 10, ..Limits::default() };
    assert_eq!(codes(&compiled(&text, Language::Glsl, "spirv-1.5", enough)), []);
    let deep = format!("{HEAD}#include \"deep0\"\nvoid main() {{ }}\n");
    for (include_depth, said) in [(5, "more than 5 deep"), (64, "more than 64 deep")] {
        let limits = Limits { include_depth, ..Limits::default() };
        let bound = compiled(&deep, Language::Glsl, "spirv-1.5", limits);
        assert_eq!(codes(&bound), [Code::INCLUDE_CYCLE]);
        assert!(bound.diagnostics.iter().any(|message| message.message.contains(said)));
    }
}

#[test]
fn bytes_of_the_source_are_limited() {
    let text = format!("{HEAD}#include \"one\"\nvoid main() {{ data[0] = 1.0; }}\n");
    let all = text.len() as u64 + "// nothing\n".len() as u64;
    let enough = Limits { source_bytes: all, ..Limits::default() };
    assert_eq!(codes(&compiled(&text, Language::Glsl, "spirv-1.5", enough)), []);
    ends(&text, Limits { source_bytes: all - 1, ..Limits::default() }, Code::TOO_LARGE);
    ends(&text, Limits { source_bytes: 20, ..Limits::default() }, Code::TOO_LARGE);
}

#[test]
fn tokens_of_macros_are_limited() {
    let text = format!("{HEAD}#define A data[0] += 1.0;\n#define B A A A A\nvoid main() {{ B B }}\n");
    ends(&text, Limits { macro_tokens: 50, ..Limits::default() }, Code::MACRO_LIMIT);
}

/// Preprocessing alone is limited too.
#[test]
fn preprocessing_is_limited() {
    let profile = Profile::named("spirv-1.5").expect("a built-in profile");
    let limits = Limits { macro_tokens: 10, ..Limits::default() };
    let options = Options { limits, emit: EmitKind::Preprocessed, ..Options::new(profile) };
    let text = format!("{HEAD}#define A 1 2 3 4 5 6\nA A\n");
    let input = Input { name: "a.comp", bytes: text.as_bytes(), language: Language::Glsl };
    assert_eq!(codes(&compile(&input, &options, &NoIncludes)), [Code::MACRO_LIMIT]);
}

/// The limits that growing shapes are compiled within.
const SMALL: Limits = Limits { steps: 1 << 18, memory: 1 << 23, ..Limits::DEFAULT };

/// Time allowed per step, in a build with few optimisations that verifies every form.
const STEP: Duration = Duration::from_nanos(1000);

/// Bytes and time that are not counted: tables, stacks, the first step over a limit.
const FREE_BYTES: usize = 4 << 20;
const FREE_TIME: Duration = Duration::from_millis(100);

/// A size that exceeds the limits for every shape.
const LARGE: usize = 2000;

/// The processor time used by this thread and those that it waits for.
fn processor_time() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the structure is the function's to fill.
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &raw mut time) };
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// What a compilation within the limits used too much of.
fn excess(shape: &'static Shape, profile: &'static str) -> Option<String> {
    let text = (shape.text)(LARGE);
    let thread = std::thread::Builder::new().stack_size(2 << 20);
    let compile = move || {
        let start = processor_time();
        let (compilation, peak) = heap::peak_of(|| shape.compile_within(&text, profile, SMALL));
        (compilation.taken, processor_time() - start, peak)
    };
    let (taken, time, peak) = thread.spawn(compile).expect("a thread starts").join().expect("it ends well");
    let (most_time, most_bytes) = (FREE_TIME + STEP * taken.steps as u32, FREE_BYTES + 2 * taken.memory as usize);
    (time > most_time || peak > most_bytes).then(|| {
        let Taken { steps, memory } = taken;
        format!("{profile}: {}: {time:?} for {steps} steps, {peak} bytes for {memory}", shape.name)
    })
}

/// Limits work for every shape and writer: time is bounded by counted steps, memory by counted bytes. Nothing else may
/// run in the process at the same time.
#[test]
#[ignore = "the next test runs it in a process of its own"]
fn shapes_alone() {
    let pairs = shapes::all().flat_map(|shape| PROFILES.map(|profile| (shape, profile)));
    let found: Vec<String> = pairs.filter_map(|(shape, profile)| excess(shape, profile)).collect();
    assert!(found.is_empty(), "{} beyond the limits:\n{}", found.len(), found.join("\n"));
}

#[test]
fn growing_shapes_keep_to_limits() {
    let program = std::env::current_exe().expect("the test has a file");
    let run = Command::new(program).args(["limits::shapes_alone", "--exact", "--ignored"]).output().expect("it runs");
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stdout));
}

/// The largest allowed exponent of steps as a function of size.
const MOST_GROWTH: f64 = 1.2;

/// The shape that grows quadratically in kernels: each exit of a loop passes on every variable, so there are as many
/// values as exits times variables, as in any SSA form.
const SQUARE: (&str, [&str; 3]) = ("breaks with many variables", ["nv-hopper", "gfx1100-wave32", "ptx-sm80"]);

/// Sizes that double: more parts than variables are split into, and large enough for quadratic terms to outweigh linear
/// ones.
const DOUBLING: [usize; 5] = [260, 520, 1040, 2080, 4160];

/// The exponents of steps as a function of the bytes of source and output, over each two successive doublings, as far
/// as it compiles.
fn exponents(shape: &'static Shape, profile: &'static str) -> impl Iterator<Item = f64> {
    let measured = move |size| {
        let text = (shape.text)(size);
        let compilation = shape.compile(&text, profile);
        let Verdict::Done(artifact) = compilation.verdict else { return None };
        Some([text.len() + artifact.to_bytes().len(), compilation.taken.steps as usize].map(|n| n as f64))
    };
    let mut sizes = DOUBLING.into_iter().map_while(measured);
    let (mut first, mut second) = (sizes.next(), sizes.next());
    sizes.map_while(move |third| {
        let (low, middle) = (first?, second?);
        (first, second) = (second, Some(third));
        let [bytes, steps] = [0, 1].map(|which| ((third[which] - middle[which]) / (middle[which] - low[which])).log2());
        let is_constant = third[1] < middle[1] * 1.01;
        Some(if is_constant { 0.0 } else { steps / bytes })
    })
}

/// The growth exponent of a shape: the minimum, because what begins at some size makes one doubling steep and not the
/// next.
fn growth(shape: &'static Shape, profile: &'static str) -> Option<f64> {
    let mut least = None;
    for exponent in exponents(shape, profile) {
        least = Some(least.map_or(exponent, |least: f64| least.min(exponent)));
        if exponent <= MOST_GROWTH {
            break;
        }
    }
    least
}

/// Counted steps grow in proportion to input and output, and [`growing_shapes_keep_to_limits`] bounds time by them.
/// WGSL is left out, because its growth is naga's.
#[test]
fn steps_grow_in_proportion() {
    let shapes = || shapes::all().filter(|shape| shape.extension != "wgsl");
    let is_bounded = |shape: &Shape, profile| shape.name != SQUARE.0 || !SQUARE.1.contains(&profile);
    let pairs = shapes().flat_map(|shape| PROFILES.map(|profile| (shape, profile)));
    let found: Vec<String> = pairs
        .filter(|(shape, profile)| is_bounded(shape, profile))
        .filter_map(|(shape, profile)| {
            let growth = growth(shape, profile)?;
            (growth > MOST_GROWTH).then(|| format!("    {} for {profile}: {growth:.2}", shape.name))
        })
        .collect();
    assert!(found.is_empty(), "{} shapes grow too fast:\n{}", found.len(), found.join("\n"));
}
