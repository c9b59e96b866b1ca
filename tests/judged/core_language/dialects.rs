//! Every shader among the fixtures in the dialects of GLSL and HLSL: glslang or DXC accepts the text, or the shader is
//! refused because the language lacks something.

use std::collections::BTreeSet;
use std::path::Path;

use crosslane::compile::{Input, Language, Options};
use crosslane::ir::Stage;
use crosslane::source::NoIncludes;
use support::trial::{Trial, judged};
use support::{by_text, dxc, fixture, judge, opengl};

/// Profiles for OpenGL and OpenGL ES, and the minimum number of shaders that each can express.
const OPENGL: [(&str, usize); 11] = [
    ("glsl-330", 100),
    ("glsl-400", 100),
    ("glsl-410", 100),
    ("glsl-420", 200),
    ("glsl-430", 240),
    ("glsl-440", 240),
    ("glsl-450-opengl", 300),
    ("glsl-460-opengl", 300),
    ("glsl-es-300", 60),
    ("glsl-es-310", 200),
    ("glsl-es-320-khr", 220),
];

/// Profiles for Direct3D.
const DIRECT3D: [(&str, usize); 7] = [
    ("hlsl-5.0", 160),
    ("hlsl-5.1", 160),
    ("hlsl-6.1", 200),
    ("hlsl-6.2", 200),
    ("hlsl-6.3", 200),
    ("hlsl-6.4", 200),
    ("hlsl-6.8", 200),
];

/// Messages of NVIDIA's driver about things that the language has, or that the source has too.
const UNKNOWN_TO_NVIDIA: [&str; 7] = [
    // Extensions that it does not have, some of them only in early versions.
    " not supported",
    "undefined variable \"helperInvocationEXT\"",
    "requires \"#",
    // Components of different types in one location, as in the source.
    "Expected same underlying base data type",
    // Arrays of matrices that differ in the order of rows and columns.
    "assignment of incompatible types",
    "should have value 1 for passthrough geometry shaders",
    "for layout specifier 'binding'",
];

/// vkd3d's HLSL compiler for Shader Model 5, installed if `judges.sh` fetched the newest judges.
const VKD3D: &str = "bin/newest/vkd3d-compiler";

/// Messages of vkd3d about things that the language has.
const UNKNOWN_TO_VKD3D: [&str; 12] = [
    "not yet implemented",
    "Method 'CalculateLevelOfDetail",
    "Method 'GetDimensions",
    "Method 'Interlocked",
    "Method 'Load",
    "Function \"EvaluateAttribute",
    "Function \"GetRenderTargetSamplePosition",
    "Function \"isnan",
    "Function \"reversebits",
    "Unknown modifier \"",
    "Invalid semantic 'SV_Depth",
    // Literals of doubles.
    "syntax error, unexpected NEW_IDENTIFIER, expecting",
];

/// What it refuses in some shaders only: it evaluates unreachable code, and has no register spaces for the views of
/// Shader Model 5.1.
const WRONG_IN_VKD3D: [&str; 3] =
    ["Division by zero", "UAV index (0) must be higher than the maximum render target index", "RasterizerOrdered"];

/// The message with which DXC fails on correct texts.
const DEFECT_OF_DXC: &str = "Internal Compiler error: cast<X>() argument of incompatible type";

/// DXC crashes on some loops with unreachable statements. It does not compile for Shader Model 5, which keeps them.
const CRASH_OF_DXC: &str = "DXC ends the process";

/// Parts of Shader Model 6.8 that DXC does not know, although it is the newest that it reads.
const UNKNOWN_TO_DXC: [&str; 3] = ["SampleCmpGrad", "SampleCmpBias", "SV_Start"];

const FOLDERS: [&str; 4] = ["core", "graphics", "graphics/primitives", "stages"];

/// Messages of glslang about things that the language has.
const UNKNOWN_TO_GLSLANG: [&str; 13] = [
    "extension not supported: GL_EXT_clip_cull_distance",
    "extension not supported: GL_ARB_cull_distance",
    "extension not supported: GL_ARB_conservative_depth",
    "extension not supported: GL_ARB_arrays_of_arrays",
    "extension not supported: GL_ARB_fragment_layer_viewport",
    "extension not supported: GL_ARB_texture_query_levels",
    "extension not supported: GL_NV_shader_thread_group",
    // Of GL_ARB_cull_distance.
    "'gl_PerVertex' : block redeclaration has extra members",
    // GL_ARB_shader_draw_parameters is for all versions from 140 on.
    "'gl_Base",
    "'gl_DrawIDARB' : undeclared identifier",
    // GL_ARB_shader_viewport_layer_array is for all versions from 410 on, GL_ARB_fragment_layer_viewport from 150 on.
    "'gl_Layer' : undeclared identifier",
    // GL_NVX_multiview_per_view_attributes is for GLSL ES too.
    "'gl_PositionPerViewNV' : undeclared identifier",
    // A component of a vector is not an array element.
    "variable indexing fragment shader output array",
];

pub fn trials() -> impl Iterator<Item = Trial> {
    let (es, desktop) = (OPENGL[8..].iter(), OPENGL[..8].iter());
    let trials = [
        ("opengl", desktop.copied().collect::<Vec<_>>(), "bin/glslangValidator", glslang_takes as Takes),
        ("opengl_es", es.copied().collect(), "bin/glslangValidator", glslang_takes),
        ("direct3d", DIRECT3D.to_vec(), dxc::JUDGE, direct3d_takes),
    ];
    let trial = |(name, profiles, needs, takes): (_, Vec<(&'static str, usize)>, _, Takes)| {
        judged(format!("dialects::{name}"), &[needs], move || check(&profiles, takes))
    };
    trials.into_iter().map(trial)
}

/// Major and minor.
type Version = (u8, u8);

/// A judge of a stage's text in a version of the language.
type Takes = fn(&str, Stage, Version) -> Result<(), String>;

/// Checks the texts of all shaders in several versions. A text that an early version accepts is also accepted by later
/// ones; a driver judges it again.
fn check(profiles: &[(&str, usize)], takes: Takes) -> Result<(), String> {
    let mut counts = vec![0; profiles.len()];
    let mut wrong = Vec::new();
    for path in FOLDERS.iter().flat_map(|folder| fixture::files(&format!("fixtures/{folder}"))) {
        let mut taken = BTreeSet::new();
        for (count, (profile, _)) in counts.iter_mut().zip(profiles) {
            match written(&path, profile)? {
                Some((text, stage, version)) if opengl::is_asked() || taken.insert(bare(&text)) => {
                    let said = takes(&text, stage, version).err();
                    wrong.extend(said.map(|said| format!("{} for {profile}: {said}\n{text}", path.display())));
                    *count += 1;
                }
                Some(_) => *count += 1,
                None => {}
            }
        }
    }
    let few = counts.iter().zip(profiles).filter(|(count, (_, least))| *count < least);
    wrong.extend(few.map(|(count, (profile, _))| format!("{profile}: {count} are written")));
    if opengl::is_asked() {
        counts.iter().zip(profiles).for_each(|(count, (profile, _))| eprintln!("{profile}: {count} shaders"));
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n")) }
}

/// A text without the lines that name versions and extensions.
fn bare(text: &str) -> String {
    let is_kept = |line: &&str| !line.starts_with("#version") && !line.starts_with("#extension");
    text.lines().filter(is_kept).collect::<Vec<_>>().join("\n")
}

/// The text of a shader in the language of a profile; `None` if it is refused.
fn written(path: &Path, profile: &str) -> Result<Option<(String, Stage, Version)>, String> {
    let Some(stage) = super::stages::stage(path) else { return Ok(None) };
    let source = std::fs::read_to_string(path).map_err(|e| e.to_string())?;
    let input = Input { name: "shader", bytes: source.as_bytes(), language: Language::Glsl };
    let options = Options { stage: Some(stage), ..Options::new(by_text::named(profile)?) };
    let text = by_text::text(&input, &options, &NoIncludes)?;
    Ok(text.ok().map(|text| (text, stage, options.profile.version)))
}

fn glslang_takes(text: &str, stage: Stage, _: Version) -> Result<(), String> {
    match judge::glslang_takes(text, stage.ending()) {
        Err(said) if !UNKNOWN_TO_GLSLANG.iter().any(|known| said.contains(known)) => Err(said),
        _ if opengl::is_asked() => driver_takes(text, stage),
        _ => Ok(()),
    }
}

/// The driver of the machine's GPU compiles the text.
fn driver_takes(text: &str, stage: Stage) -> Result<(), String> {
    match opengl::takes(text, stage) {
        Err(said) if !UNKNOWN_TO_NVIDIA.iter().any(|known| said.contains(known)) => Err(said),
        _ => Ok(()),
    }
}

/// DXC reads earlier versions as its first one.
fn direct3d_takes(text: &str, stage: Stage, version: Version) -> Result<(), String> {
    const FIRST: Version = (6, 0);
    const NEWEST: Version = (6, 7);
    if version > NEWEST && UNKNOWN_TO_DXC.iter().any(|word| text.contains(word)) {
        return Ok(());
    }
    if version < FIRST {
        let later = ["Wave", "Quad", "int64_t", "float16_t"].into_iter().find(|word| text.contains(word));
        later.map_or(Ok(()), |word| Err(format!("`{word}` is of Shader Model 6")))?;
        vkd3d_takes(text, stage, version)?;
    }
    match dxc::takes(text, stage, version.clamp(FIRST, NEWEST)) {
        Err(said) if said.contains(DEFECT_OF_DXC) || version < FIRST && said.contains(CRASH_OF_DXC) => Ok(()),
        other => other,
    }
}

fn vkd3d_takes(text: &str, stage: Stage, (major, minor): Version) -> Result<(), String> {
    let kind = match stage {
        Stage::Vertex => "vs",
        Stage::Fragment => "ps",
        Stage::Compute => "cs",
        // It compiles no other stages.
        _ => return Ok(()),
    };
    if judge::find(VKD3D).is_none() {
        return Ok(());
    }
    let profile = format!("{kind}_{major}_{minor}");
    let arguments = ["-x", "hlsl", "-b", "dxbc-tpf", "-p", &profile, "-o", "/dev/null", "-"];
    match judge::filter(VKD3D, &arguments, text.as_bytes()) {
        Err(said) if !UNKNOWN_TO_VKD3D.iter().chain(&WRONG_IN_VKD3D).any(|known| said.contains(known)) => Err(said),
        _ => Ok(()),
    }
}
