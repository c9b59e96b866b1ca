//! The lines of a plan for images, texel buffers and samplers of set 0:
//!
//! ```text
//! // texels 3 r32ui 64 any-u32                a `samplerBuffer`: binding, format, texels, initial values
//! // stored-texels 3 r32ui 64 zero-u32        an `imageBuffer`
//! // image 4 rgba32f 2d 8x8 zero-f32          a storage image, compared afterwards
//! // texture 5 rgba8 2d-array 8x4 layers=3 levels=2 any-u32
//! // sampled 5.1 rgba8 2d 8x8 any-u32 linear repeat    element 1 of an array of `sampler2D`
//! // sampler 6 clamp compare                  a `sampler`
//! // input 7 rgba32f 2d 16x16 exact-f32       a `subpassInput`
//! // structure 8                              an acceleration structure
//! // structure 8 address=16                   the push constants hold its address from byte 16 on
//! ```
//!
//! By default, samplers take the nearest texel and clamp. A number at the end of an image's line is the relative error
//! allowed in comparisons.

use crate::device::{
    Address, Image, ImageBinding, ImageKind, Resources, Sampler, SamplerBinding, StructureBinding, TexelBinding, View,
};

use super::{Fill, fill_of};
use crate::compare::Closeness;
use crate::pattern::Pattern;
use crate::rival::Judged;
use crate::scalar::Type;

/// The words that begin such a line.
pub const WORDS: [&str; 8] =
    ["texels", "stored-texels", "image", "texture", "sampled", "sampler", "input", "structure"];

/// The bytes of a texel of each format that a plan may name.
static FORMATS: &[(&str, usize)] = &[
    ("rgba32f", 16),
    ("rgba32i", 16),
    ("rgba32ui", 16),
    ("rgb32f", 12),
    ("rgb32i", 12),
    ("rgb32ui", 12),
    ("rg32f", 8),
    ("rg32i", 8),
    ("rg32ui", 8),
    ("r32f", 4),
    ("r32i", 4),
    ("r32ui", 4),
    ("r64i", 8),
    ("r64ui", 8),
    ("rgba64f", 32),
    ("rgb64f", 24),
    ("rg64f", 16),
    ("r64f", 8),
    ("rgba16f", 8),
    ("rgba16i", 8),
    ("rgba16ui", 8),
    ("rgba16", 8),
    ("rgba16_snorm", 8),
    ("rg16f", 4),
    ("rg16i", 4),
    ("rg16ui", 4),
    ("rg16", 4),
    ("rg16_snorm", 4),
    ("r16f", 2),
    ("r16i", 2),
    ("r16ui", 2),
    ("r16", 2),
    ("r16_snorm", 2),
    ("rgba8", 4),
    ("rgba8i", 4),
    ("rgba8ui", 4),
    ("rgba8_snorm", 4),
    ("rg8", 2),
    ("rg8i", 2),
    ("rg8ui", 2),
    ("rg8_snorm", 2),
    ("r8", 1),
    ("r8i", 1),
    ("r8ui", 1),
    ("r8_snorm", 1),
    ("rgb10_a2", 4),
    ("rgb10_a2ui", 4),
    ("r11f_g11f_b10f", 4),
    ("d32", 4),
];

/// The shapes by their names.
static VIEWS: &[(&str, View)] = &[
    ("1d", View::Line),
    ("1d-array", View::LineArray),
    ("2d", View::Plane),
    ("2d-array", View::PlaneArray),
    ("3d", View::Volume),
    ("cube", View::Cube),
    ("cube-array", View::CubeArray),
];

/// The bytes of a texel.
pub fn bytes_of(format: &str) -> Option<usize> {
    FORMATS.iter().find(|(name, _)| *name == format).map(|(_, bytes)| *bytes)
}

/// How texels of a format are compared.
pub fn judged_of(format: &str, closeness: Closeness) -> Judged {
    let float = format.ends_with("32f") || format == "d32";
    Judged { kind: if float { Type::F32 } else { Type::U32 }, closeness }
}

/// A binding and the element of its array.
#[derive(Debug, Clone, Copy)]
struct Spot(u32, u32);

impl Spot {
    fn read(word: &str) -> Option<Self> {
        let (binding, element) = word.split_once('.').unwrap_or((word, "0"));
        Some(Self(binding.parse().ok()?, element.parse().ok()?))
    }
}

#[derive(Debug, Clone)]
struct Texels {
    at: Spot,
    storage: bool,
    format: String,
    count: usize,
    fill: Fill,
}

#[derive(Debug, Clone)]
struct Picture {
    at: Spot,
    kind: ImageKind,
    image: Image,
    fill: Fill,
    closeness: Closeness,
}

/// The values that the lines give.
#[derive(Debug, Default)]
pub struct Lines {
    texels: Vec<Texels>,
    pictures: Vec<Picture>,
    samplers: Vec<(Spot, Sampler)>,
    structures: Vec<StructureBinding>,
}

impl Lines {
    /// Parses a line; `None` if it is not valid.
    pub fn line(&mut self, words: &[&str]) -> Option<()> {
        match words {
            [what @ ("texels" | "stored-texels"), at, format, count, fill] => self.texels.push(Texels {
                at: Spot::read(at)?,
                storage: *what == "stored-texels",
                format: (*format).to_owned(),
                count: count.parse().ok()?,
                fill: fill_of(fill)?.0,
            }),
            [what @ ("image" | "texture" | "sampled" | "input"), at, format, view, size, more @ ..] => {
                let picture = Picture::read(what, Spot::read(at)?, format, view, size, more)?;
                self.pictures.push(picture);
            }
            ["sampler", at, more @ ..] => {
                let mut how = NEAREST;
                more.iter().try_for_each(|word| sampling(&mut how, word))?;
                self.samplers.push((Spot::read(at)?, how));
            }
            ["structure", at, address @ ..] => {
                let Spot(binding, element) = Spot::read(at)?;
                let address = address.first().map(|word| word.strip_prefix("address=")?.parse().ok());
                let address_at = if let Some(at) = address { Some(at?) } else { None };
                self.structures.push(StructureBinding { set: 0, binding, element, address_at });
            }
            _ => return None,
        }
        Some(())
    }

    /// Returns true if any resource contains more than zeros.
    pub fn vary(&self) -> bool {
        let texels = self.texels.iter().map(|texels| texels.fill);
        texels.chain(self.pictures.iter().map(|picture| picture.fill)).any(|fill| matches!(fill, Fill::From(_)))
    }

    /// How writable resources are compared.
    pub fn judged(&self) -> impl Iterator<Item = Judged> {
        let texels = self.texels.iter().filter(|texels| texels.storage);
        let texels = texels.map(|texels| judged_of(&texels.format, Closeness::Same));
        let images = self.pictures.iter().filter(|picture| picture.kind == ImageKind::Storage);
        texels.chain(images.map(|picture| judged_of(&picture.image.format, picture.closeness)))
    }

    /// All resources with the contents of one pattern.
    pub fn make(&self, pattern: Pattern) -> Resources {
        Resources {
            buffers: Vec::new(),
            texels: self.texels.iter().map(|texels| texels.make(pattern)).collect(),
            images: self.pictures.iter().map(|picture| picture.make(pattern)).collect(),
            samplers: self
                .samplers
                .iter()
                .map(|(Spot(binding, element), sampler)| SamplerBinding {
                    set: 0,
                    binding: *binding,
                    element: *element,
                    sampler: *sampler,
                })
                .collect(),
            structures: self.structures.clone(),
        }
    }
}

impl Texels {
    fn make(&self, pattern: Pattern) -> TexelBinding {
        let Self { at: Spot(binding, element), storage, ref format, count, fill } = *self;
        let data = fill.bytes(pattern, binding * 16 + element, count * bytes_of(format).unwrap_or(4));
        TexelBinding { set: 0, binding, element, storage, format: format.clone(), data }
    }
}

impl Picture {
    fn read(what: &str, at: Spot, format: &str, view: &str, size: &str, more: &[&str]) -> Option<Self> {
        bytes_of(format)?;
        let view = VIEWS.iter().find(|(name, _)| *name == view)?.1;
        let layers = if matches!(view, View::Cube | View::CubeArray) { 6 } else { 1 };
        let image = Image {
            format: format.to_owned(),
            view,
            size: extent(size)?,
            layers,
            levels: 1,
            samples: 1,
            data: Vec::new(),
        };
        let kind = match what {
            "image" => ImageKind::Storage,
            "texture" => ImageKind::Sampled,
            "sampled" => ImageKind::Combined(NEAREST),
            _ => ImageKind::Input,
        };
        let mut picture = Self { at, kind, image, fill: Fill::Zero, closeness: Closeness::Same };
        more.iter().try_for_each(|word| picture.word(word))?;
        Some(picture)
    }

    /// Parses one of the words at the end of a line.
    fn word(&mut self, word: &str) -> Option<()> {
        if let Some((name, number)) = word.split_once('=') {
            let field = match name {
                "layers" => &mut self.image.layers,
                "levels" => &mut self.image.levels,
                "samples" => &mut self.image.samples,
                _ => return None,
            };
            *field = number.parse().ok()?;
        } else if let Some((fill, _)) = fill_of(word) {
            self.fill = fill;
        } else if let Ok(share) = word.parse() {
            self.closeness = Closeness::Within(share);
        } else {
            let ImageKind::Combined(how) = &mut self.kind else { return None };
            sampling(how, word)?;
        }
        Some(())
    }

    fn make(&self, pattern: Pattern) -> ImageBinding {
        let Spot(binding, element) = self.at;
        let bytes = self.image.texels() * bytes_of(&self.image.format).unwrap_or(4);
        let data = self.fill.bytes(pattern, binding * 16 + element, bytes);
        ImageBinding { set: 0, binding, element, kind: self.kind, image: Image { data, ..self.image.clone() } }
    }
}

/// `8`, `8x4` or `8x4x2`.
pub fn extent(word: &str) -> Option<[u32; 3]> {
    let mut size = [1; 3];
    for (n, part) in word.split('x').enumerate() {
        *size.get_mut(n)? = part.parse().ok()?;
    }
    Some(size)
}

const NEAREST: Sampler = Sampler { linear: false, address: Address::Clamp, compare: false };

fn sampling(how: &mut Sampler, word: &str) -> Option<()> {
    match word {
        "linear" => how.linear = true,
        "compare" => how.compare = true,
        "repeat" => how.address = Address::Repeat,
        "mirror" => how.address = Address::Mirror,
        "border" => how.address = Address::Border,
        "clamp" => how.address = Address::Clamp,
        _ => return None,
    }
    Some(())
}
