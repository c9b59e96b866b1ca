//! The fixtures in `fixtures/graphics`, whose comments say how to run them: as assembly, and as the driver's own GLSL
//! for the same source.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crosslane::backend::nv::Program;
use crosslane::compile::{Input, Language, Options};
use crosslane::ir::Stage;
use crosslane::profile::Profile;

use super::beside;
use super::dialect::{self, Facts};
use super::formats::FLOAT;
use super::scenes::alike;
use super::stage;
use super::verified::reason;
use super::{NEW_AND_OLD, expressed};
use support::case::Column;
use support::compare::{self, Closeness};
use support::device::gl::{Format, Scene};
use support::device::{ImageBinding, ImageKind, Resources};
use support::lavapipe::{self, Buffers, Request};
use support::plan::Plan;
use support::rival::{self, Judged};
use support::scalar::Type;
use support::{compiler, fixture, opengl};

/// A stage's source.
struct Source {
    name: String,
    stage: Stage,
    text: String,
}

/// A dispatch, or a draw with its two stages, vertex first.
pub struct Case {
    pub name: String,
    sources: Vec<Source>,
    pub request: Request,
    pub judged: Vec<Judged>,
}

/// Shaders for which the driver's own GLSL gives different results, for reasons unrelated to crosslane.
static DRIVER_DIFFERS: &[(&str, &str)] = &[
    ("vertex_buffers.frag", "the driver's GLSL gives no elements to the buffer of a vertex shader, `length()` is 0"),
    ("arithmetic_int16.comp", "it shifts bits from beyond the sixteen into a `uint16_t`"),
    ("constant_bits.comp", "it takes constant subnormal halves for zero"),
    ("extremes.comp", "it loses the sign of a negation in the minimum or maximum of three"),
    ("float_operators.comp", "it takes the opposite of a comparison with NaN for the opposite comparison"),
    ("long_integers.comp", "it extends the sign of a `uint` that becomes an `int64_t`"),
    ("predicates.comp", "it takes -1 and 1.0 for the same truth"),
    ("preprocessor.comp", "it expands a macro again that its own expansion names"),
    ("long_shifts.comp", "it adds the wrong word of numbers shifted by more than 32"),
    ("narrow_moves.comp", "it confuses values of 16 bits that shuffles move together"),
    ("negative_shifts.comp", "it takes numbers for positive that an arithmetic shift keeps negative"),
    ("signed_fields.comp", "it takes the sign of a field along into unsigned divisions"),
    ("std140.comp", "it loses a swizzled store to a matrix in a struct"),
    ("swizzle_targets.comp", "operands with side effects are evaluated in an order of its own"),
    ("workgroups.comp", "it takes `gl_WorkGroupSize` in the initial value of a constant for zero, now and then"),
];

/// Shaders for which the driver's Vulkan gives different results too.
static VULKAN_DIFFERS: &[(&str, &str)] = &[
    ("dot_products.comp", "its sums of 64 bits do not saturate"),
    ("extremes.comp", "it loses the sign of a negation in the minimum or maximum of three"),
    ("narrow_moves.comp", "it confuses values of 16 bits that shuffles move together"),
    ("negative_shifts.comp", "it takes numbers for positive that an arithmetic shift keeps negative"),
    ("signed_fields.comp", "it takes the sign of a field along into unsigned divisions"),
    ("shared_blocks.comp", "it reads another component of a matrix in rows in shared memory"),
];

/// The outcome of a run on the GPU.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Outcome {
    /// The same bits as the driver's own shader.
    Same,
    /// The same up to the order of roundings.
    Close,
    /// The driver does not accept such GLSL; its Vulkan gives the same results for glslang's module.
    Vulkan,
    /// It ran, but the driver does not accept such GLSL, for the given reason.
    Alone(String),
}

/// The shaders of the core language that assembly can express, by name.
pub fn core() -> Result<Vec<Case>, String> {
    expressed().iter().map(|path| Case::read(path)).collect()
}

/// All fixtures, by name.
pub fn cases() -> Result<Vec<Case>, String> {
    let files = ["fixtures/graphics", "fixtures/graphics/quads"].into_iter().flat_map(fixture::files);
    files.filter(|path| path.extension().is_some_and(|end| end != "vert")).map(|path| Case::read(&path)).collect()
}

fn read(path: &Path) -> Result<Source, String> {
    let text = std::fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
    let stage = match path.extension().and_then(|end| end.to_str()) {
        Some("vert") => Stage::Vertex,
        Some("frag") => Stage::Fragment,
        _ => Stage::Compute,
    };
    Ok(Source { name: path.file_name().unwrap_or_default().to_string_lossy().into_owned(), stage, text })
}

/// A vertex shader that several fragment shaders share.
fn shared(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/graphics/vertex").join(name).with_extension("vert")
}

impl Source {
    fn program(&self, profile: &str, request: &Request) -> Result<Program, String> {
        let input = Input { name: &self.name, bytes: self.text.as_bytes(), language: Language::Glsl };
        let profile = Profile::named(profile).ok_or_else(|| format!("no profile {profile}"))?;
        let options = Options { stage: Some(self.stage), ..compiler::exact(profile) };
        compiler::nv_program(&input, &options, &request.settings())
    }
}

impl Case {
    pub fn read(path: &Path) -> Result<Case, String> {
        let main = read(path)?;
        let plan = Plan::read(&main.text).map_err(|why| format!("{}: {why}", main.name))?;
        let name = main.name.clone();
        let mut sources = vec![main];
        if sources[0].stage == Stage::Fragment {
            let own = path.with_extension("vert");
            sources.insert(0, read(&if own.exists() { own } else { shared(plan.vertex()) })?);
        }
        Ok(Case { name, sources, request: plan.request(), judged: plan.judged() })
    }

    /// Modules for the stages to compare with: glslang's, or crosslane's where glslang does not know quad swizzles.
    pub fn modules(&self) -> Result<Vec<Vec<u32>>, String> {
        let is_own = self
            .sources
            .iter()
            .any(|source| source.text.contains("GL_CROSSLANE_") || source.text.contains("quadSwizzle"));
        let module = |source: &Source| match is_own {
            true => rival::ours_of(&source.name, &source.text, source.stage, "spirv-1.6"),
            false => rival::theirs_of(&source.text, source.stage.ending()),
        };
        self.sources.iter().map(module).collect()
    }

    /// The kernel for AMD's hardware; the only stage is a compute shader.
    pub fn amd_program(&self, profile: &Profile) -> Result<crosslane::backend::amd::Program, String> {
        let [source] = &self.sources[..] else { return Err("one stage is expected".to_owned()) };
        let input = Input { name: &source.name, bytes: source.text.as_bytes(), language: Language::Glsl };
        compiler::amd_program(&input, &compiler::exact(profile.clone()), &self.request.settings())
    }

    /// Returns true if linear filters take part.
    pub fn is_filtered(&self) -> bool {
        let is_linear = |resources: &Resources| {
            let combined = |image: &ImageBinding| matches!(image.kind, ImageKind::Combined(sampler) if sampler.linear);
            resources.samplers.iter().any(|it| it.sampler.linear) || resources.images.iter().any(combined)
        };
        self.request.others.iter().any(is_linear)
    }

    /// The programs, vertex before fragment.
    pub fn programs(&self, profile: &str) -> Result<Vec<Program>, String> {
        self.sources.iter().map(|source| source.program(profile, &self.request)).collect()
    }

    /// Why each stage is refused, if it is.
    pub fn refusals(&self, profile: &str) -> Vec<(String, String)> {
        let why = |source: &Source| Some((source.name.clone(), source.program(profile, &self.request).err()?));
        self.sources.iter().filter_map(why).collect()
    }

    /// Runs the assembly and the driver's own compilation on every pattern.
    pub fn on_gpu(&self, profile: &str) -> Result<Outcome, String> {
        let programs = self.programs(profile)?;
        let (mut outcome, mut left) = (Ok(Outcome::Same), Vec::new());
        for (n, scene) in self.scenes()?.iter().enumerate() {
            let ours = opengl::run_scene(programs.to_vec(), scene.clone()).map_err(|why| format!("assembly: {why}"))?;
            if outcome == Ok(Outcome::Same) {
                outcome = self.beside(&ours, scene).map_err(|why| format!("pattern {n}: {why}"));
            }
            left.push(self.words(&ours, n));
        }
        match self.known(outcome, DRIVER_DIFFERS)? {
            Outcome::Alone(why) if lavapipe::own_driver().is_some() => {
                let found = beside::agree(self, &left).map(|()| Outcome::Vulkan);
                let found = found.map_err(|differs| format!("beside Vulkan ({why}): {differs}"));
                self.known(found, VULKAN_DIFFERS)
            }
            other => Ok(other),
        }
    }

    /// The outcome of a comparison, unless the shader is known to differ.
    fn known(&self, found: Result<Outcome, String>, list: &[(&str, &str)]) -> Result<Outcome, String> {
        match (found, list.iter().find(|(name, _)| *name == self.name)) {
            (Err(_), Some((_, why))) => Ok(Outcome::Alone((*why).to_owned())),
            (other, _) => other,
        }
    }

    fn scenes(&self) -> Result<Vec<Scene>, String> {
        let vertex = &self.sources[0].text;
        let written = (1..=8).find(|count| vertex.contains(&format!("float gl_ClipDistance[{count}];")));
        stage::scenes(&self.request, written.unwrap_or(0))
    }

    fn beside(&self, ours: &Scene, scene: &Scene) -> Result<Outcome, String> {
        let (driven, units) = stage::driver(scene);
        let theirs = match opengl::run_scene_glsl(self.glsl(scene, &units), driven) {
            Ok(theirs) => theirs,
            Err(why) => return Ok(Outcome::Alone(why)),
        };
        let (before, theirs) = (self.left(scene), self.left(&theirs));
        if before == theirs {
            return Err("the driver's run left nothing".to_owned());
        }
        compare(&self.left(ours), &theirs)
    }

    /// The contents after a run, in the form of Vulkan runs: all buffers, images and the framebuffer.
    fn words(&self, scene: &Scene, run: usize) -> Buffers {
        let buffer = |(binding, before): (u32, &Vec<u32>)| {
            let after = scene.storage.iter().find(|(at, _)| *at == binding);
            after.map_or_else(|| before.clone(), |(_, bytes)| lavapipe::to_words(bytes))
        };
        let images = scene.textures.iter().filter(|texture| texture.is_image).map(|texture| texture.levels.concat());
        let images = images.chain(scene.drawn.iter().cloned()).map(|bytes| lavapipe::to_words(&bytes));
        (0..).zip(&self.request.runs[run]).map(buffer).chain(images).collect()
    }

    /// The contents after a run: buffers, images and the framebuffer.
    fn left(&self, scene: &Scene) -> Vec<Left> {
        let how = |binding: u32| {
            let judged = self.judged.get(binding as usize).filter(|how| how.kind == Type::F32);
            judged.map_or(How::Bits, |how| match how.closeness {
                Closeness::Same => How::Rounded,
                close @ Closeness::Within(_) => How::Close(close),
            })
        };
        let of = |format: Format| if format.component == FLOAT { How::Rounded } else { How::Bits };
        let buffers = scene.storage.iter().filter(|(binding, _)| *binding != stage::PUSH);
        let buffers = buffers.map(|(binding, bytes)| (format!("buffer {binding}"), how(*binding), bytes.clone()));
        let images = scene.textures.iter().filter(|texture| texture.is_image).enumerate();
        let images = images.map(|(n, it)| (format!("image {n}"), of(it.format), it.levels.concat()));
        let formats = scene.draw.colours.iter().map(|format| of(*format)).chain([How::Rounded]);
        let drawn = formats.zip(&scene.drawn).enumerate();
        let drawn = drawn.map(|(n, (how, bytes))| (format!("attachment {n}"), how, bytes.clone()));
        buffers.chain(images).chain(drawn).collect()
    }

    /// The source that the driver itself compiles.
    fn glsl(&self, scene: &Scene, units: &BTreeMap<u32, u32>) -> Vec<String> {
        let mut elements = BTreeMap::new();
        for texture in &scene.textures {
            let count: &mut u32 = elements.entry(texture.at.binding).or_default();
            *count = (*count).max(texture.at.element + 1);
        }
        let facts = Facts {
            units,
            elements: &elements,
            constants: &self.request.spec_constants,
            first_vertex: scene.draw.vertices.start,
        };
        self.sources.iter().map(|source| dialect::opengl(&source.text, &facts)).collect()
    }
}

/// A result of a run: its name, how to compare it, and its bytes.
type Left = (String, How, Vec<u8>);

/// How the results of two runs are compared.
#[derive(Clone, Copy, PartialEq)]
enum How {
    Bits,
    /// Floats that the order of roundings may part.
    Rounded,
    /// Floats of functions that have a precision.
    Close(Closeness),
}

/// How close two runs are; an error if they differ by more than float rounding.
fn compare(ours: &[Left], theirs: &[Left]) -> Result<Outcome, String> {
    let differ = ours.iter().zip(theirs).filter(|(ours, theirs)| ours.2 != theirs.2);
    let judge = |((name, how, ours), (.., theirs)): (&Left, &Left)| {
        let same = match how {
            How::Bits => Err(first_difference(ours, theirs)),
            How::Rounded => alike(ours, theirs),
            How::Close(closeness) => {
                let expected: Column = lavapipe::to_words(theirs).into_iter().map(Some).collect();
                compare::compare(Type::F32, *closeness, &expected, &lavapipe::to_words(ours), 1)
            }
        };
        same.err().map(|why| format!("{name}: {why}"))
    };
    let mut differ = differ.peekable();
    let outcome = if differ.peek().is_none() { Outcome::Same } else { Outcome::Close };
    let wrong: Vec<String> = differ.filter_map(judge).collect();
    if wrong.is_empty() { Ok(outcome) } else { Err(wrong.join("; ")) }
}

fn first_difference(ours: &[u8], theirs: &[u8]) -> String {
    let wrong = ours.iter().zip(theirs).filter(|(a, b)| a != b).count();
    let at = ours.iter().zip(theirs).position(|(a, b)| a != b).unwrap_or_default() / 16 * 16;
    let shown = |bytes: &[u8]| format!("{:02x?}", &bytes[at..bytes.len().min(at + 16)]);
    format!("{wrong} of {} bytes differ; from byte {at} on {} and should be {}", ours.len(), shown(ours), shown(theirs))
}

/// Every stage that the newest profile refuses, and why; one per line.
pub fn refusals() -> Result<String, String> {
    let mut lines: Vec<String> = Vec::new();
    for case in cases()? {
        let refused = case.refusals(NEW_AND_OLD[0]).into_iter();
        lines.extend(refused.map(|(name, why)| format!("{name}: {}\n", reason(&why))));
    }
    Ok(lines.concat())
}
