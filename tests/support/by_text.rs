//! GLSL shaders through a shading language: the generated text, compiled to a module again.

use crosslane::compile::{
    Artifact, Compilation, EmitKind, Input, Language, Options, Place, Places, Reading, Verdict, compile,
};
use crosslane::diagnostic::{Code, Severity, render};
use crosslane::ir::Stage;
use crosslane::profile::{Profile, Target};
use crosslane::run::BufferBinding;
use crosslane::source::{Loader, NoIncludes};

use super::device::{ImageKind, Resources, SamplerBinding, View};
use super::lavapipe::Request;
use super::{compiler, dawn, dxc, dxil, judge};

/// A module made from generated text.
#[derive(Debug, Clone)]
pub struct Made {
    pub module: Vec<u32>,
    /// For WGSL, the resources that become separate variables there.
    apart: Option<Apart>,
}

/// The bindings of resources that are separate in WGSL, all in set 0.
#[derive(Debug, Clone, Default)]
struct Apart {
    /// Combined textures, with the sampler's binding.
    samplers: Vec<(u32, u32)>,
    /// Elements of arrays: the array's binding, the element, and its own binding.
    elements: Vec<(u32, u32, u32)>,
    /// Textures of two dimensions.
    planes: Vec<u32>,
}

/// The outcome of a shader.
#[derive(Debug, Clone)]
pub enum Outcome {
    Made(Made),
    /// The language, or the back end so far, cannot express it.
    Refused(String),
}

/// The module for a GLSL shader through a profile's language (for WGSL, Tint must accept it too); messages other than
/// about what cannot be expressed are an error.
pub fn make(profile: &str, name: &str, source: &str, stage: Stage) -> Result<Outcome, String> {
    make_all(profile, name, &[(stage, source)]).map(|mut made| made.remove(0))
}

/// The modules for the stages of one program. In HLSL each stage finds the outputs of the previous one.
pub fn make_all(profile: &str, name: &str, stages: &[(Stage, &str)]) -> Result<Vec<Outcome>, String> {
    let options = options(profile)?;
    let target = options.profile.target;
    let texts = linked(profile, name, stages)?;
    if target == Target::Hlsl && judge::find(dxc::JUDGE).is_some() {
        agree(stages, &texts, options.profile.version)?;
    }
    texts.into_iter().zip(stages).map(|(text, (stage, _))| made(&options, *stage, text)).collect()
}

/// The SPIR-V modules that DXC makes from the HLSL of a program's stages.
pub fn hlsl_modules(profile: &str, name: &str, stages: &[(Stage, &str)]) -> Result<Vec<Vec<u32>>, String> {
    let module = |(text, (stage, _)): (Result<String, Refusal>, &(Stage, &str))| {
        dxc::stage_module(&text.map_err(|refusal| refusal.said)?, *stage)
    };
    linked(profile, name, stages)?.into_iter().zip(stages).map(module).collect()
}

/// The options for generating texts.
fn options(profile: &str) -> Result<Options, String> {
    let mut options = Options::new(named(profile)?);
    options.places.push_constants = (options.profile.target == Target::Wgsl).then_some(PUSH_CONSTANTS);
    Ok(options)
}

/// The texts for the stages of one program, or why the language does not express them.
pub fn linked(profile: &str, name: &str, stages: &[(Stage, &str)]) -> Result<Vec<Result<String, Refusal>>, String> {
    let options = options(profile)?;
    let of = |stage| Options { stage: Some(stage), ..options.clone() };
    let read = |(stage, source): &(Stage, &str)| {
        let input = Input { name, bytes: source.as_bytes(), language: Language::Glsl };
        Reading::new(&input, &of(*stage), &NoIncludes)
    };
    let mut readings: Vec<Reading> = stages.iter().map(read).collect();
    Reading::link(&mut readings.iter_mut().collect::<Vec<_>>());
    let texts = readings.iter().zip(stages).map(|(reading, (stage, _))| text_of(reading.compile(&of(*stage))));
    texts.collect()
}

/// Pairs of consecutive stages, with the parts of their containers that describe the values passed between them. A
/// geometry shader's inputs are not checked.
const FOLLOWING: [(Stage, &[u8; 4], Stage, &[u8; 4]); 5] = [
    (Stage::Vertex, b"OSG1", Stage::TessControl, b"ISG1"),
    (Stage::TessControl, b"OSG1", Stage::TessEvaluation, b"ISG1"),
    (Stage::TessControl, b"PSG1", Stage::TessEvaluation, b"PSG1"),
    (Stage::TessEvaluation, b"OSG1", Stage::Fragment, b"ISG1"),
    (Stage::Vertex, b"OSG1", Stage::Fragment, b"ISG1"),
];

/// Holds that each stage of a program finds its inputs.
fn agree(stages: &[(Stage, &str)], texts: &[Result<String, Refusal>], version: (u8, u8)) -> Result<(), String> {
    let has = |of: Stage| stages.iter().any(|(stage, _)| *stage == of);
    let signature = |of: Stage, part| {
        let at = stages.iter().position(|(stage, _)| *stage == of)?;
        let container = dxc::container(texts[at].as_ref().ok()?, of, version);
        Some(container.map(|container| dxil::signature(&container, part).unwrap_or_default()))
    };
    let is_apart = |before, after| {
        let between = [Stage::TessEvaluation, Stage::Geometry].into_iter().any(|of| of != before && has(of));
        after == Stage::Fragment && between
    };
    for (before, given, after, taken) in FOLLOWING {
        if is_apart(before, after) || !has(before) || !has(after) {
            continue;
        }
        if let (Some(outputs), Some(inputs)) = (signature(before, given), signature(after, taken)) {
            dxil::agree(&outputs?, &inputs?).map_err(|why| format!("{before:?} and {after:?}: {why}"))?;
        }
    }
    Ok(())
}

/// The outcome for a text.
fn made(options: &Options, stage: Stage, text: Result<String, Refusal>) -> Result<Outcome, String> {
    let target = options.profile.target;
    match text {
        Ok(text) => {
            if target == Target::Wgsl {
                dawn::takes(&text).map_err(|why| format!("{why}\n{text}"))?;
            }
            if target == Target::Hlsl && judge::find(dxc::JUDGE).is_some() {
                dxc::takes(&text, stage, options.profile.version)?;
            }
            let apart = (target == Target::Wgsl).then(|| apart(&text));
            // DXC's SPIR-V lacks functions of fragments that DXIL has.
            let module = match target {
                Target::Hlsl if stage != Stage::Compute => Vec::new(),
                _ => compiler::module_of(target, Artifact::Text(text), stage)?,
            };
            Ok(Outcome::Made(Made { module, apart }))
        }
        Err(refusal) => Ok(Outcome::Refused(refusal.said)),
    }
}

/// The text in Metal's language for a compute shader and its reflection, or why the language does not express it.
pub fn metal(
    profile: &str,
    name: &str,
    source: &str,
    argument_buffers: bool,
) -> Result<Result<[String; 2], Refusal>, String> {
    let input = Input { name, bytes: source.as_bytes(), language: Language::Glsl };
    let places = Places { argument_buffers, ..Places::default() };
    let options = Options { stage: Some(Stage::Compute), places, ..Options::new(named(profile)?) };
    let with = |emit| text(&input, &Options { emit, ..options.clone() }, &NoIncludes);
    let made = match with(EmitKind::Binary)? {
        Ok(made) => made,
        Err(refusal) => return Ok(Err(refusal)),
    };
    Ok(with(EmitKind::Reflection)?.map(|reflection| [made, reflection]))
}

/// The uniform buffer with push constants in WGSL, in the last group that every device has.
pub const PUSH_CONSTANTS: Place = Place { group: Some(3), number: 0 };

/// A built-in profile.
pub fn named(profile: &str) -> Result<Profile, String> {
    Profile::named(profile).ok_or_else(|| format!("no profile {profile}"))
}

/// Why a language does not express a shader.
#[derive(Debug, Clone)]
pub struct Refusal {
    /// The first message.
    pub first: String,
    /// All messages, rendered for people.
    pub said: String,
}

/// The error for a profile whose output is not text.
pub const WORDS: &str = "words came out where text was asked for";

/// The text for a shader; messages other than about what cannot be expressed are an error.
pub fn text(input: &Input<'_>, options: &Options, loader: &dyn Loader) -> Result<Result<String, Refusal>, String> {
    text_of(compile(input, options, loader))
}

fn text_of(done: Compilation) -> Result<Result<String, Refusal>, String> {
    match done.verdict {
        Verdict::Done(Artifact::Text(text)) => Ok(Ok(text)),
        Verdict::Done(Artifact::Spirv(_)) => Err(WORDS.to_owned()),
        Verdict::ShaderWrong | Verdict::ProfileLacks => {
            let said = render::human(&done.sources, &done.diagnostics);
            let errors = || done.diagnostics.iter().filter(|message| message.severity == Severity::Error);
            let is_lack = errors().all(|error| [Code::NOT_SUPPORTED, Code::PROFILE_LACKS].contains(&error.code));
            let first = errors().next().map(|error| error.message.to_string()).unwrap_or_default();
            if is_lack { Ok(Err(Refusal { first, said })) } else { Err(said) }
        }
    }
}

/// The samplers that are named after textures, and the elements that are named after arrays.
fn apart(text: &str) -> Apart {
    let variables: Vec<(u32, &str)> = text.lines().filter_map(variable).collect();
    let of = |name: &str| variables.iter().find(|(_, other)| *other == name).map(|(binding, _)| *binding);
    let sampler = |(binding, name): &(u32, &str)| Some((of(name.strip_suffix("_sampler")?)?, *binding));
    let element = |(binding, name): &(u32, &str)| {
        let (array, number) = name.rsplit_once('_')?;
        Some((of(&format!("{array}_0"))?, number.parse().ok()?, *binding))
    };
    Apart {
        samplers: variables.iter().filter_map(sampler).collect(),
        elements: variables.iter().filter_map(element).collect(),
        planes: text.lines().filter(|line| line.contains("_2d")).filter_map(variable).map(|(at, _)| at).collect(),
    }
}

/// Binding and name of a resource.
fn variable(line: &str) -> Option<(u32, &str)> {
    let (binding, rest) = line.strip_prefix("@group(0) @binding(")?.split_once(')')?;
    let (name, _) = rest.split_once("var")?.1.split_once(':')?;
    Some((binding.parse().ok()?, name.rsplit(' ').next()?))
}

/// The same run with textures and samplers separate, and with push constants in a buffer, where the modules of the
/// stages have them so.
pub fn split(request: &Request, stages: &[Made]) -> Request {
    if stages.iter().all(|made| made.apart.is_none()) {
        return request.clone();
    }
    let all = || stages.iter().filter_map(|made| made.apart.as_ref());
    let apart = Apart {
        samplers: all().flat_map(|apart| apart.samplers.iter().copied()).collect(),
        elements: all().flat_map(|apart| apart.elements.iter().copied()).collect(),
        planes: all().flat_map(|apart| apart.planes.iter().copied()).collect(),
    };
    let push = &request.push_constants;
    let others = (0..request.runs.len()).map(|run| {
        let resources = request.others.get(run).cloned().unwrap_or_default();
        let mut split = split_resources(&resources, &apart);
        if let Place { group: Some(set), number } = PUSH_CONSTANTS
            && !push.is_empty()
        {
            let padded =
                push.iter().copied().chain(std::iter::repeat_n(0, push.len().next_multiple_of(16) - push.len()));
            split.buffers.push(BufferBinding::uniform(set, number, padded.collect()));
        }
        split
    });
    Request { others: others.collect(), push_constants: Vec::new(), ..request.clone() }
}

impl Apart {
    /// Moves an element of an array to its own binding.
    fn place(&self, binding: &mut u32, element: &mut u32) {
        if let Some((.., own)) = self.elements.iter().find(|(array, number, _)| (array, number) == (binding, element)) {
            (*binding, *element) = (*own, 0);
        }
    }
}

fn split_resources(resources: &Resources, apart: &Apart) -> Resources {
    let mut split = resources.clone();
    split.buffers.iter_mut().for_each(|it| apart.place(&mut it.binding, &mut it.element));
    split.samplers.iter_mut().for_each(|it| apart.place(&mut it.binding, &mut it.element));
    for image in &mut split.images {
        apart.place(&mut image.binding, &mut image.element);
        if image.kind == ImageKind::Input {
            image.kind = ImageKind::Sampled;
        }
        image.image.view = match image.image.view {
            View::Line if apart.planes.contains(&image.binding) => View::Plane,
            View::LineArray => View::PlaneArray,
            other => other,
        };
        let ImageKind::Combined(sampler) = image.kind else { continue };
        image.kind = ImageKind::Sampled;
        let own = apart.samplers.iter().filter(|(texture, _)| *texture == image.binding);
        split.samplers.extend(own.map(|(_, binding)| SamplerBinding {
            set: 0,
            binding: *binding,
            element: 0,
            sampler,
        }));
    }
    split
}
