//! The same shaders compiled through shading languages: the result behaves like glslang's module, or the shader is
//! refused because the language or the writer lacks something.

use std::path::Path;

use crosslane::compile::{Input, Language, Options};
use crosslane::ir::Stage;
use crosslane::profile::Target;
use crosslane::source::NoIncludes;
use support::by_text::{self, Outcome};
use support::plan::Plan;
use support::trial::{Trial, judged};
use support::{dawn, dxc, fixture, judge, metal, outcomes, rival};

/// The profiles with the programs that judge them.
static WAYS: [(&str, &[&str]); 3] =
    [("hlsl-6.5", &[dxc::JUDGE]), ("wgsl", &dawn::JUDGES), ("glsl-450-khr", &["bin/glslangValidator"])];

/// Fixtures that do not test a language here.
static LEFT_OUT: &[(&str, &str, &str)] = &[
    ("hlsl-6.5", "atomics", "DXC's SPIR-V has signed minima of unsigned words"),
    ("hlsl-6.5", "component_atomics", "DXC's SPIR-V has signed minima of unsigned words"),
    ("hlsl-6.5", "float_operators", "DXC's SPIR-V says that a NaN differs from nothing"),
    ("hlsl-6.5", "handing_on", MACROS),
    ("hlsl-6.5", "halves", HALVES),
    ("hlsl-6.5", "mixed_halves", HALVES),
    ("hlsl-6.5", "narrow_overloads", WORDS),
    ("hlsl-6.5", "spec_constants", MACROS),
    ("hlsl-6.5", "spec_constants_kinds", MACROS),
    ("hlsl-6.5", "spec_constants_sizes", MACROS),
    ("hlsl-6.5", "storage_16bit", WORDS),
    ("hlsl-6.5", "storage_halves", WORDS),
    ("hlsl-6.5", "spec_vector_choices", MACROS),
    ("hlsl-6.5", "std140", "DXC's SPIR-V makes structs of other layouts' members"),
    ("hlsl-6.5", "two_steps", COUNT),
    ("hlsl-6.5", "workgroups", COUNT),
    ("msl-3.0", "exact_float_functions", "Metal's `sign` keeps the sign of zeros"),
    ("msl-3.0", "lanes_of_1_0", LANES),
    ("msl-3.0", "returns_from_loops", LANES),
    ("msl-3.0", "spec_constants", SIZES),
    ("msl-3.0", "spec_constants_sizes", SIZES),
    ("msl-3.0", "unrolled_loops", LANES),
    ("wgsl", "float_operators", CONTRACTED),
];

/// Without `precise`, which the languages lack or the writer does not write.
const CONTRACTED: &str = "products may be contracted with sums";

const COUNT: &str = "no buffer with the number of workgroups is bound";

const HALVES: &str = "DXC makes no SPIR-V of the bits of halves";

const WORDS: &str = "DXC's SPIR-V stores whole words to byte-address buffers";

const LANES: &str = "it says how many lanes a subgroup has";

const SIZES: &str = "specialization constants say the size of a workgroup, which is the default here";

const MACROS: &str = "specialization constants are macros, which keep their defaults here";

/// The kind under which the outcomes are counted.
const KIND: &str = "core";

pub fn trials() -> impl Iterator<Item = Trial> {
    let usual = ["bin/glslangValidator", "bin/spirv-val", "lvp.json"];
    let by_way = WAYS.iter().flat_map(move |(profile, own)| {
        let judges: Vec<&str> = usual.iter().chain(*own).copied().collect();
        let is_left_out = move |stem: &str| LEFT_OUT.iter().any(|(of, name, _)| of == profile && *name == stem);
        let fixtures = fixture::files("fixtures/core").into_iter().filter(move |path| !is_left_out(&super::stem(path)));
        fixtures.map(move |path| {
            judged(format!("texts::{profile}::{}", super::stem(&path)), &judges, move || check(&path, profile))
        })
    });
    const OF_METAL: [&str; 3] = [metal::JUDGE, "bin/glslangValidator", "lvp.json"];
    let parts = (0..METAL_PARTS)
        .map(|part| judged(format!("texts::{METAL}::part_{part}"), &OF_METAL, move || check_metal(part, false)));
    // A part shows that argument buffers are the same resources.
    let parts = parts.chain([judged(format!("texts::{METAL}::sets"), &OF_METAL, || check_metal(0, true))]);
    let metal = METAL_STAGED.map(|profile| {
        judged(format!("texts::stages::{profile}"), &[metal::JUDGE], move || check_metal_stages(profile))
    });
    by_way.chain(parts).chain(metal).chain(of_stages()).chain([judged("texts::dxc", &[dxc::JUDGE], dxc_judges)])
}

/// The profiles whose texts for all stages a compiler accepts.
const STAGED: [(&str, &[&str]); 3] = [
    ("glsl-450-khr", &["bin/glslangValidator", "bin/spirv-val"]),
    ("hlsl-6.5", &[dxc::JUDGE]),
    ("hlsl-6.7", &[dxc::JUDGE]),
];

/// A trial for every shader of a stage that has its own text.
fn of_stages() -> impl Iterator<Item = Trial> {
    STAGED.iter().flat_map(|(profile, judges)| {
        let of_glsl = |path: &std::path::PathBuf| super::stages::stage(path).is_some();
        fixture::files("fixtures/stages").into_iter().filter(of_glsl).map(move |path| {
            let name = path.file_name().map(|name| name.to_string_lossy().replace('.', "_")).unwrap_or_default();
            judged(format!("texts::stages::{profile}::{name}"), judges, move || check_stage(&path, profile))
        })
    })
}

/// The versions of Metal's language in which a C++ compiler accepts the texts of all stages.
const METAL_STAGED: [&str; 3] = ["msl-3.0", "msl-3.1", "msl-3.2"];

/// All texts are compiled as one program, because starting a compiler takes time.
fn check_metal_stages(profile: &'static str) -> Result<(), String> {
    const STAGES: &str = "stages";
    let mut texts = Vec::new();
    for path in fixture::files("fixtures/stages") {
        let Some(stage) = super::stages::stage(&path) else { continue };
        let source = std::fs::read_to_string(&path).map_err(|e| e.to_string())?;
        let input = Input { name: &super::stem(&path), bytes: source.as_bytes(), language: Language::Glsl };
        let options = Options { stage: Some(stage), ..Options::new(by_text::named(profile)?) };
        match by_text::text(&input, &options, &NoIncludes)? {
            Ok(text) => texts.push(text),
            Err(_) => outcomes::refused(profile, STAGES),
        }
    }
    metal::takes(&texts.iter().map(String::as_str).collect::<Vec<_>>())?;
    texts.iter().try_for_each(|_| outcomes::counted(profile, STAGES, Ok(())).map(drop))
}

/// Checks that a compiler accepts the text, and that glslang's module for it has the interface of its module for the
/// source.
fn check_stage(path: &Path, profile: &'static str) -> Result<(), String> {
    const STAGES: &str = "stages";
    let source = std::fs::read_to_string(path).map_err(|e| e.to_string())?;
    let stage = super::stages::stage(path).ok_or("the end of its name says no stage")?;
    let input = Input { name: &super::stem(path), bytes: source.as_bytes(), language: Language::Glsl };
    let options = Options { stage: Some(stage), ..Options::new(by_text::named(profile)?) };
    let Ok(text) = by_text::text(&input, &options, &NoIncludes)? else {
        outcomes::refused(profile, STAGES);
        return Ok(());
    };
    let of_text = |why: String| format!("{why}\n{text}");
    if options.profile.target == Target::Hlsl {
        dxc::takes(&text, stage, options.profile.version)?;
    } else {
        let made = judge::glslang_stage(&text, stage.ending()).map_err(of_text)?;
        judge::spirv_val(&made, "vulkan1.3", false).map_err(of_text)?;
        super::stages::has_interface_of(&made, &judge::glslang_stage(&source, stage.ending())?).map_err(of_text)?;
    }
    outcomes::counted(profile, STAGES, Ok(())).map(drop)
}

/// Metal's language, which a C++ compiler accepts with the help of a header: many texts per program, because the header
/// takes time to compile.
const METAL: &str = "msl-3.0";
const METAL_PARTS: usize = 6;

fn check_metal(part: usize, argument_buffers: bool) -> Result<(), String> {
    let mut jobs = Vec::new();
    let is_left_out = |stem: &str| LEFT_OUT.iter().any(|(of, name, _)| *of == METAL && *name == stem);
    let fixtures = fixture::files("fixtures/core").into_iter().filter(|path| !is_left_out(&super::stem(path)));
    for path in fixtures.skip(part).step_by(METAL_PARTS) {
        let name = super::stem(&path);
        let source = std::fs::read_to_string(&path).map_err(|e| e.to_string())?;
        let plan = Plan::read(&source)?;
        match by_text::metal(METAL, &name, &source, argument_buffers)? {
            Ok([text, reflection]) => {
                jobs.push((name, source, metal::Job { text, reflection, request: plan.request() }, plan))
            }
            Err(_) => outcomes::refused(METAL, KIND),
        }
    }
    let programs: Vec<metal::Job> = jobs.iter().map(|(.., job, _)| job.clone()).collect();
    let left = metal::run(&programs)?;
    let wrong = jobs.iter().zip(left).filter_map(|((name, source, job, plan), ours)| {
        let held = ours.and_then(|ours| {
            let theirs = rival::run(&plan.request(), &rival::theirs(source)?)?;
            let judged = plan.judged();
            theirs.iter().zip(&ours).try_for_each(|(theirs, ours)| rival::differences(&judged, theirs, ours))
        });
        match held {
            Ok(()) => outcomes::counted(METAL, KIND, Ok(())).map(drop).err(),
            Err(why) => Some(format!("{name}: {why}\n{}", job.text)),
        }
    });
    let wrong: Vec<String> = wrong.collect();
    if wrong.is_empty() { Ok(()) } else { Err(format!("{} are wrong\n{}", wrong.len(), wrong.join("\n"))) }
}

/// Checks that Microsoft's compiler is called correctly: it refuses a text with the right reason and accepts it without
/// the fault, even after a text that crashes its process.
fn dxc_judges() -> Result<(), String> {
    let takes =
        |body: &str| dxc::takes(&format!("[numthreads(1, 1, 1)]\nvoid main() {{ {body} }}\n"), Stage::Compute, (6, 5));
    let said = |body, word| match takes(body) {
        Err(why) if why.contains(word) => Ok(()),
        said => Err(format!("{said:?}")),
    };
    said("undeclared();", "'undeclared'")?;
    said("for (;;) { break; break; }", "DXC ends the process on this text")?;
    takes("")
}

fn check(path: &Path, profile: &'static str) -> Result<(), String> {
    let source = std::fs::read_to_string(path).map_err(|e| e.to_string())?;
    let plan = Plan::read(&source)?;
    let made = match by_text::make(profile, &super::stem(path), &source, Stage::Compute)? {
        Outcome::Made(made) => made,
        Outcome::Refused(_) => {
            outcomes::refused(profile, KIND);
            return Ok(());
        }
    };
    judge::spirv_val(&made.module, "vulkan1.3", true)?;
    let request = plan.request();
    let theirs = rival::run(&request, &rival::theirs(&source)?).map_err(|e| format!("glslang's module: {e}"))?;
    let ours = rival::run(&by_text::split(&request, std::slice::from_ref(&made)), &made.module)?;
    let judged = plan.judged();
    theirs.iter().zip(&ours).try_for_each(|(theirs, ours)| rival::differences(&judged, theirs, ours))?;
    outcomes::counted(profile, KIND, Ok(())).map(drop)
}
