//! The limits of [`Options`]: each of them ends a compilation with its own code, and the defaults do not.

use crosslane::compile::{Compilation, EmitKind, Input, Language, Options, Verdict, compile};
use crosslane::diagnostic::{Code, Severity};
use crosslane::limits::Limits;
use crosslane::profile::Profile;
use crosslane::source::{IncludeKind, LoadError, Loaded, Loader, NoIncludes};

const HEAD: &str = "#version 460\n#extension GL_GOOGLE_include_directive : require\nlayout(local_size_x = 32) in;\n\
                    layout(std430, binding = 0) buffer Data { float data[]; };\n";

/// Includes that hold a line, and include themselves through `next`.
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

/// The front end's memory is a part of it: with so few steps the back ends are never reached.
#[test]
fn memory_is_limited() {
    let text = body(&"data[0] += 1.0;\n".repeat(1000));
    ends(&text, Limits { memory: 20_000, ..Limits::default() }, Code::MEMORY_EXCEEDED);
}

/// A step is the same one every time: the smallest number that is enough is always enough.
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

/// The preprocessor alone keeps to the limits too.
#[test]
fn preprocessing_is_limited() {
    let profile = Profile::named("spirv-1.5").expect("a built-in profile");
    let limits = Limits { macro_tokens: 10, ..Limits::default() };
    let options = Options { limits, emit: EmitKind::Preprocessed, ..Options::new(profile) };
    let text = format!("{HEAD}#define A 1 2 3 4 5 6\nA A\n");
    let input = Input { name: "a.comp", bytes: text.as_bytes(), language: Language::Glsl };
    assert_eq!(codes(&compile(&input, &options, &NoIncludes)), [Code::MACRO_LIMIT]);
}
