//! Draws and dispatches with textures and images: their texts are snapshots, and on a GPU each is run both as assembly
//! and, from the same source, as the driver's own GLSL.

use crosslane::backend::nv::Program;
use crosslane::compile::{self, Input, Options};
use crosslane::glsl::preprocess::MacroOption;
use crosslane::ir::Stage;
use crosslane::kernel::Specializations;
use std::path::{Path, PathBuf};
use support::device::gl::{Attribute, Draw, Format, Numbers, Scene, Shape, Spot, Texture};
use support::device::{Address, Rate};

use super::formats::{self, FLOAT, INT, UINT};
use super::{PROFILE, SEEN};
use support::{compiler, opengl};

/// A source with its name and stage.
#[derive(Clone)]
pub struct Source {
    name: String,
    stage: Stage,
    macros: Vec<(String, String)>,
}

/// A scene and its shaders.
pub struct Case {
    pub name: String,
    sources: Vec<Source>,
    pub scene: Scene,
}

impl Source {
    fn new(name: &str, macros: &[(&str, &str)]) -> Source {
        let stage = match name.rsplit_once('.') {
            Some((_, "vert")) => Stage::Vertex,
            Some((_, "frag")) => Stage::Fragment,
            _ => Stage::Compute,
        };
        let macros = macros.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        Source { name: name.to_owned(), stage, macros }
    }

    fn text(&self) -> Result<String, String> {
        let path: PathBuf = [env!("CARGO_MANIFEST_DIR"), "fixtures", "scenes", &self.name].iter().collect();
        std::fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))
    }

    /// For the driver, which takes no macros from outside.
    fn glsl(&self) -> Result<String, String> {
        let text = self.text()?;
        let (before, after) = text.split_once("#version 460\n").ok_or("every scene says its version")?;
        let defines: String = self.macros.iter().map(|(name, value)| format!("#define {name} {value}\n")).collect();
        Ok(format!("#version 460 compatibility\n{defines}{before}{after}"))
    }

    fn program(&self, profile: &str) -> Result<Program, String> {
        let text = self.text()?;
        let input = Input { name: &self.name, bytes: text.as_bytes(), language: compile::Language::Glsl };
        let define =
            |(name, value): &(String, String)| MacroOption::Define { name: name.clone(), value: value.clone() };
        let macros = self.macros.iter().map(define).collect();
        let options = Options { stage: Some(self.stage), macros, ..compiler::named(profile)? };
        compiler::nv_program(&input, &options, &Specializations::new())
    }
}

impl Case {
    /// The programs, vertex before fragment.
    pub fn programs(&self, profile: &str) -> Result<Vec<Program>, String> {
        self.sources.iter().map(|source| source.program(profile)).collect()
    }

    /// The format of its images; by default the widest.
    pub fn format(&self) -> &'static str {
        let named = self.name.strip_prefix("format_");
        formats::storable().map(|(name, _)| name).find(|name| named == Some(*name)).unwrap_or("rgba32f")
    }

    /// The texts of all programs.
    pub fn text(&self) -> Result<String, String> {
        Ok(self.programs(SEEN)?.into_iter().map(|program| program.text).collect::<Vec<_>>().join("\n"))
    }

    /// Runs the assembly and the driver's own compilation; the results must be the same.
    pub fn on_gpu(&self, profile: &str) -> Result<(), String> {
        let ours = opengl::run_scene(self.programs(profile)?, self.scene.clone())?;
        let glsl = self.sources.iter().map(Source::glsl).collect::<Result<Vec<_>, _>>()?;
        let theirs = opengl::run_scene_glsl(glsl, self.scene.clone())?;
        same(&ours, &theirs)
    }
}

/// Checks that two runs gave the same results: equal bits, or floats that differ by rounding.
fn same(ours: &Scene, theirs: &Scene) -> Result<(), String> {
    let bytes = theirs.drawn.iter().chain(theirs.storage.iter().map(|(_, bytes)| bytes));
    if bytes.flatten().all(|byte| *byte == 0) {
        return Err("the driver's run left nothing".to_owned());
    }
    for (n, (ours, theirs)) in ours.drawn.iter().zip(&theirs.drawn).enumerate() {
        alike(ours, theirs).map_err(|why| format!("attachment {n}: {why}"))?;
    }
    for ((binding, ours), (_, theirs)) in ours.storage.iter().zip(&theirs.storage) {
        alike(ours, theirs).map_err(|why| format!("buffer {binding}: {why}"))?;
    }
    for (ours, theirs) in ours.textures.iter().zip(&theirs.textures) {
        for (left, right) in ours.levels.iter().zip(&theirs.levels) {
            alike(left, right).map_err(|why| format!("image {}: {why}", ours.at.binding))?;
        }
    }
    Ok(())
}

/// How far results may differ by the order of roundings.
const TOLERANCE: f32 = 1e-4;

/// Returns true if two words are neither equal nor floats that are close; all NaNs are equal. Small integers look like
/// subnormal floats.
fn differs((a, b): (&u32, &u32)) -> bool {
    let (x, y) = (f32::from_bits(*a), f32::from_bits(*b));
    let close = (x - y).abs() < TOLERANCE * x.abs().max(y.abs()).max(1e-3);
    let are_nan = x.is_nan() && y.is_nan();
    a != b && !are_nan && (x.is_subnormal() || y.is_subnormal() || !close)
}

/// Checks that bytes are equal words, or floats that are close.
pub fn alike(ours: &[u8], theirs: &[u8]) -> Result<(), String> {
    let words = |bytes: &[u8]| -> Vec<u32> {
        bytes.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect()
    };
    let (ours, theirs) = (words(ours), words(theirs));
    match ours.iter().zip(&theirs).position(differs) {
        None if ours.len() == theirs.len() => Ok(()),
        None => Err("another size".to_owned()),
        Some(at) => {
            let (a, b) = (ours[at], theirs[at]);
            let wrong = ours.iter().zip(&theirs).filter(|pair| differs(*pair)).count();
            let floats = (f32::from_bits(a), f32::from_bits(b));
            Err(format!("word {at} is {a:#x} and should be {b:#x} ({floats:?}; {wrong} of {} differ)", ours.len()))
        }
    }
}

// Bindings.

/// Pseudo-random numbers, the same in every run.
fn noise(seed: u32) -> impl Iterator<Item = u32> {
    std::iter::successors(Some(seed.wrapping_mul(2_654_435_769) | 1), |state| {
        let next = state ^ state << 13;
        let next = next ^ next >> 17;
        Some(next ^ next << 5)
    })
    .skip(4)
}

/// Bytes of texels: floats between -1 and 1 in steps that every format represents closely, or small integers.
fn texels(component: u32, count: usize, seed: u32) -> Vec<u8> {
    let word = |bits: u32| match component {
        FLOAT => ((bits % 129) as f32 / 64.0 - 1.0).to_bits(),
        INT => (bits % 200) as i32 as u32,
        _ => bits % 100,
    };
    noise(seed).take(count).flat_map(|bits| word(bits).to_le_bytes()).collect()
}

const RGBA32F: Format = Format { internal: 0x8814, external: 0x1908, component: FLOAT };
const RGBA32I: Format = Format { internal: 0x8D82, external: 0x8D99, component: INT };
const RGBA32UI: Format = Format { internal: 0x8D70, external: 0x8D99, component: UINT };
const R32UI: Format = Format { internal: 0x8236, external: 0x8D94, component: UINT };
const R32I: Format = Format { internal: 0x8235, external: 0x8D94, component: INT };
const R32F: Format = Format { internal: 0x822E, external: 0x1903, component: FLOAT };
const DEPTH: Format = Format { internal: 0x8CAC, external: 0x1902, component: FLOAT };

/// Components of an uploaded texel.
fn components(format: Format) -> usize {
    if matches!(format.external, 0x1908 | 0x8D99) { 4 } else { 1 }
}

fn texture(binding: u32, shape: Shape, size: [u32; 3], format: Format, levels: u32) -> Texture {
    let texels_of = |level: u32| {
        let halved = |size: u32| (size >> level).max(1);
        let layered = !matches!(shape, Shape::D3);
        let height = if shape == Shape::D1Array { size[1] } else { halved(size[1]) };
        let depth = if layered { size[2] } else { halved(size[2]) };
        (halved(size[0]) * height * depth) as usize * components(format)
    };
    let levels =
        (0..levels).map(|level| texels(format.component, texels_of(level), 17 * binding + level + 1)).collect();
    Texture {
        at: Spot { set: 0, binding, element: 0 },
        sampler: None,
        is_image: false,
        shape,
        size,
        format,
        samples: 1,
        levels,
        linear: false,
        address: Address::Clamp,
        compares: false,
    }
}

fn linear(texture: Texture) -> Texture {
    Texture { linear: true, ..texture }
}

fn compared(binding: u32, shape: Shape, size: [u32; 3], levels: u32) -> Texture {
    let mut made = texture(binding, shape, size, DEPTH, levels);
    for level in &mut made.levels {
        for bytes in level.chunks_exact_mut(4) {
            let value = f32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
            bytes.copy_from_slice(&(value.abs()).to_le_bytes());
        }
    }
    Texture { compares: true, ..made }
}

fn image(binding: u32, shape: Shape, size: [u32; 3], format: Format) -> Texture {
    Texture { is_image: true, ..texture(binding, shape, size, format, 1) }
}

// Draws.

/// Two triangles over the framebuffer with a corner cut off, with vertices at different depths.
fn attributes() -> Vec<Attribute> {
    let corners: [[f32; 4]; 6] = [
        [-1.0, -1.0, 0.0, 1.0],
        [2.0, -2.0, 0.5, 2.0],
        [-1.5, 1.5, 0.25, 1.5],
        [2.0, -2.0, 0.5, 2.0],
        [0.9, 0.8, 0.75, 1.0],
        [-1.5, 1.5, 0.25, 1.5],
    ];
    let tint = |n: usize| [0.25 * n as f32, 1.0 - 0.125 * n as f32, 0.5 + 0.0625 * (n * n) as f32, 0.375];
    let floats = |list: Vec<[f32; 4]>| list.into_iter().flatten().map(f32::to_bits).collect();
    let counts = (0..6_u32).flat_map(|n| [n, 100 * n, n.wrapping_sub(3), 7 * n + 1]).collect();
    let of = |location, numbers, component, words: Vec<u32>| {
        let bytes = words.into_iter().flat_map(u32::to_le_bytes).collect();
        Attribute { location, components: 4, component, numbers, rate: Rate::Vertex, bytes }
    };
    vec![
        of(0, Numbers::Floats, FLOAT, floats(corners.to_vec())),
        of(1, Numbers::Floats, FLOAT, floats((0..6).map(tint).collect())),
        of(2, Numbers::Integers, INT, counts),
    ]
}

/// The format of four components of a kind.
fn colour_format(component: u32) -> Format {
    match component {
        INT => RGBA32I,
        UINT => RGBA32UI,
        _ => RGBA32F,
    }
}

fn drawn(name: &str, colours: &[u32], depth: bool, textures: Vec<Texture>) -> Case {
    let sources = vec![Source::new("corners.vert", &[]), Source::new(&format!("{name}.frag"), &[])];
    let draw = Draw {
        size: [31, 23],
        colours: colours.iter().map(|component| colour_format(*component)).collect(),
        depth: depth.then_some(1.0),
        vertices: 0..6,
        attributes: attributes(),
        instances: 0..1,
        ..Draw::default()
    };
    Case { name: name.to_owned(), sources, scene: Scene { draw, textures, ..Scene::default() } }
}

/// Several instances, the first of which is not number 0.
fn instances() -> Case {
    let mut case = drawn("instances", &[FLOAT, INT], false, vec![linear(texture(0, Shape::D2, [8, 8, 1], RGBA32F, 3))]);
    case.sources[0] = Source::new("instances.vert", &[]);
    case.scene.draw.instances = 2..7;
    let moves = (0..8).flat_map(|n| [0.2 * n as f32 - 0.8, 0.1 * n as f32 - 0.4, 0.0, 0.0]);
    case.scene.uniform = vec![(0, moves.flat_map(|value: f32| value.to_le_bytes()).collect())];
    case
}

/// Fragments that write to images and buffers; an image is larger than the framebuffer.
fn stores() -> Case {
    let list = vec![image(0, Shape::D2, [16, 16, 1], R32UI), image(1, Shape::D2, [32, 41, 1], RGBA32F)];
    let mut case = drawn("stores", &[FLOAT], true, list);
    case.scene.storage = vec![(0, vec![0; 4 * 64])];
    case
}

fn sampled_textures() -> Vec<Texture> {
    vec![
        linear(texture(0, Shape::D2, [16, 16, 1], RGBA32F, 5)),
        linear(texture(1, Shape::D3, [8, 8, 8], RGBA32F, 4)),
        linear(texture(2, Shape::Cube, [8, 8, 6], RGBA32F, 4)),
        linear(texture(3, Shape::D2Array, [8, 8, 3], RGBA32F, 4)),
        compared(4, Shape::D2, [16, 16, 1], 5),
        linear(texture(5, Shape::CubeArray, [8, 8, 12], RGBA32F, 4)),
        linear(texture(6, Shape::D1, [16, 1, 1], RGBA32F, 5)),
        compared(7, Shape::D2Array, [8, 8, 3], 4),
        compared(8, Shape::Cube, [8, 8, 6], 4),
    ]
}

// Dispatches.

fn dispatched(name: &str, macros: &[(&str, &str)], words: usize, textures: Vec<Texture>) -> Case {
    let sources = vec![Source::new(&format!("{name}.comp"), macros)];
    let storage = vec![(0, vec![0; 4 * words])];
    Case { name: name.to_owned(), sources, scene: Scene { groups: [1, 1, 1], textures, storage, ..Scene::default() } }
}

fn texels_by_number() -> Case {
    let list = vec![
        texture(0, Shape::D2, [16, 16, 1], RGBA32F, 5),
        texture(1, Shape::D2Array, [8, 8, 3], RGBA32I, 1),
        texture(2, Shape::Buffer, [64, 1, 1], RGBA32UI, 1),
        texture(3, Shape::D1Array, [16, 3, 1], RGBA32F, 1),
        texture(4, Shape::D3, [8, 8, 8], RGBA32F, 4),
        texture(5, Shape::Rect, [8, 8, 1], RGBA32F, 1),
    ];
    dispatched("texels", &[], 64 * 8 * 4, list)
}

fn textures() -> Case {
    let list = vec![
        linear(texture(0, Shape::D2, [16, 16, 1], RGBA32F, 5)),
        linear(texture(1, Shape::D3, [8, 8, 8], RGBA32F, 4)),
        linear(texture(2, Shape::Cube, [8, 8, 6], RGBA32F, 4)),
        linear(texture(3, Shape::D2Array, [8, 8, 3], RGBA32F, 4)),
        linear(texture(4, Shape::CubeArray, [8, 8, 12], RGBA32F, 4)),
        linear(texture(5, Shape::D1, [16, 1, 1], RGBA32F, 5)),
        texture(6, Shape::D1Array, [16, 3, 1], RGBA32F, 5),
        texture(7, Shape::D2, [8, 8, 1], RGBA32I, 4),
        texture(8, Shape::Buffer, [64, 1, 1], RGBA32UI, 1),
        texture(9, Shape::Rect, [8, 8, 1], RGBA32F, 1),
    ];
    dispatched("textures", &[], 64 * 16 * 4, list)
}

fn shadows() -> Case {
    let list = vec![
        compared(0, Shape::D2, [16, 16, 1], 5),
        compared(1, Shape::D1, [16, 1, 1], 5),
        compared(2, Shape::D2Array, [8, 8, 3], 4),
        compared(3, Shape::Cube, [8, 8, 6], 4),
        compared(4, Shape::D1Array, [16, 3, 1], 5),
        compared(5, Shape::Rect, [8, 8, 1], 1),
    ];
    dispatched("shadows", &[], 64 * 4 * 4, list)
}

fn shapes() -> Case {
    let list = vec![
        image(0, Shape::D1, [8, 1, 1], RGBA32F),
        image(1, Shape::D1Array, [8, 3, 1], RGBA32F),
        image(2, Shape::D2Array, [8, 8, 3], RGBA32F),
        image(3, Shape::D3, [8, 8, 4], RGBA32F),
        image(4, Shape::Cube, [8, 8, 6], RGBA32F),
        image(5, Shape::CubeArray, [8, 8, 12], RGBA32F),
        image(6, Shape::Buffer, [64, 1, 1], RGBA32F),
        image(7, Shape::Rect, [8, 8, 1], RGBA32F),
    ];
    dispatched("shapes", &[], 64 * 4 * 4, list)
}

fn atomics() -> Case {
    let list = vec![
        image(0, Shape::D2, [8, 8, 1], R32UI),
        image(1, Shape::D3, [8, 8, 2], R32I),
        image(2, Shape::D1, [64, 1, 1], R32F),
        image(3, Shape::D2Array, [8, 8, 2], R32UI),
    ];
    let mut case = dispatched("atomics", &[], 64, list);
    for texture in &mut case.scene.textures {
        // Every invocation exchanges its own texel and sees the uploaded value.
        texture.levels[0].iter_mut().for_each(|byte| *byte = if texture.at.binding == 2 { 0 } else { *byte & 3 });
    }
    case
}

fn formatless() -> Case {
    let halves = Format { internal: 0x881A, external: 0x1908, component: FLOAT };
    let bytes = Format { internal: 0x8D7C, external: 0x8D99, component: UINT };
    let list = vec![
        image(0, Shape::D2, [8, 8, 1], halves),
        image(1, Shape::D2, [8, 8, 1], halves),
        image(2, Shape::D2, [8, 8, 1], bytes),
    ];
    dispatched("formatless", &[], 64 * 4, list)
}

fn separate() -> Case {
    let picture = |element: u32, sampler: u32| Texture {
        at: Spot { set: 0, binding: 0, element },
        sampler: Some(Spot { binding: sampler, ..Spot::default() }),
        ..texture(0, Shape::D2, [8, 8, 1], RGBA32F, 1)
    };
    dispatched("separate", &[], 64 * 4, vec![picture(0, 2), picture(1, 2), picture(1, 3)])
}

fn format(name: &'static str, packed: Format) -> Case {
    let component = formats::widened(name);
    let external = if component == FLOAT { 0x1908 } else { 0x8D99 };
    let (ty, texel) = match component {
        FLOAT => ("image2D", "vec4"),
        INT => ("iimage2D", "ivec4"),
        _ => ("uimage2D", "uvec4"),
    };
    let format = Format { external, component, ..packed };
    let list = [0, 1].map(|binding| image(binding, Shape::D2, [8, 8, 1], format)).to_vec();
    let macros = [("FORMAT", name), ("IMAGE", ty), ("TEXEL", texel)];
    Case { name: format!("format_{name}"), ..dispatched("format", &macros, 64 * 4, list) }
}

/// All draws and dispatches.
pub fn cases() -> Vec<Case> {
    let drawn_cases = [
        drawn("varyings", &[FLOAT, UINT, INT, FLOAT], true, Vec::new()),
        drawn("discards", &[FLOAT], false, Vec::new()),
        drawn("derivatives", &[FLOAT; 3], false, Vec::new()),
        drawn("quads", &[FLOAT; 4], false, Vec::new()),
        drawn("quads_float", &[FLOAT, FLOAT, UINT], false, Vec::new()),
        drawn("warps", &[UINT, UINT, FLOAT], false, Vec::new()),
        drawn("places", &[FLOAT; 2], false, Vec::new()),
        drawn("samples", &[FLOAT, INT], false, Vec::new()),
        stores(),
        drawn("sampled", &[FLOAT; 5], false, sampled_textures()),
        instances(),
    ];
    let dispatched_cases = [texels_by_number(), formatless(), textures(), shadows(), shapes(), atomics(), separate()];
    drawn_cases
        .into_iter()
        .chain(dispatched_cases)
        .chain(formats::storable().map(|(name, packed)| format(name, packed)))
        .collect()
}

/// The driver accepts the programs for every stage fixture that assembly can express.
pub fn loads() -> Result<(), String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/stages");
    let mut names: Vec<String> = Vec::new();
    for file in std::fs::read_dir(&folder).map_err(|e| e.to_string())? {
        names.push(file.map_err(|e| e.to_string())?.file_name().to_string_lossy().into_owned());
    }
    names.sort();
    let programs = names.iter().map(|name| Source::new(&format!("../stages/{name}"), &[]).program(PROFILE));
    let mut wrong = Vec::new();
    for (name, program) in names.iter().zip(programs) {
        let Ok(program) = program else { continue };
        wrong.extend(opengl::load(program).err().map(|why| format!("{name}: {why}")));
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n")) }
}

/// Every shader in the folder is part of a scene.
pub fn complete() -> Result<(), String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/scenes");
    let cases = cases();
    let used = |name: &str| cases.iter().flat_map(|case| &case.sources).any(|source| source.name == name);
    let files = std::fs::read_dir(&folder).map_err(|e| e.to_string())?;
    for file in files {
        let name = file.map_err(|e| e.to_string())?.file_name().to_string_lossy().into_owned();
        if !used(&name) {
            return Err(format!("no scene uses {name}"));
        }
    }
    Ok(())
}
