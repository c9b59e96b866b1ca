//! Formats named by GLSL's layout qualifiers, as OpenGL's numbers: for a texture, and for its texels in memory.

use support::device::gl::{Format, Numbers};

pub const FLOAT: u32 = 0x1406;
pub const INT: u32 = 0x1404;
pub const UINT: u32 = 0x1405;
const BYTE: u32 = 0x1400;
const UBYTE: u32 = 0x1401;
const SHORT: u32 = 0x1402;
const USHORT: u32 = 0x1403;
const HALF: u32 = 0x140B;
const DOUBLE: u32 = 0x140A;

/// Image formats, with `GL_RGBA32F` and so on and the type in which texels are packed: per component, or all components
/// together.
static IMAGES: &[(&str, u32, u32)] = &[
    ("rgba32f", 0x8814, FLOAT),
    ("rgba16f", 0x881A, HALF),
    ("rg32f", 0x8230, FLOAT),
    ("rg16f", 0x822F, HALF),
    ("r11f_g11f_b10f", 0x8C3A, 0x8C3B),
    ("r32f", 0x822E, FLOAT),
    ("r16f", 0x822D, HALF),
    ("rgba16", 0x805B, USHORT),
    ("rgb10_a2", 0x8059, 0x8368),
    ("rgba8", 0x8058, UBYTE),
    ("rg16", 0x822C, USHORT),
    ("rg8", 0x822B, UBYTE),
    ("r16", 0x822A, USHORT),
    ("r8", 0x8229, UBYTE),
    ("rgba16_snorm", 0x8F9B, SHORT),
    ("rgba8_snorm", 0x8F97, BYTE),
    ("rg16_snorm", 0x8F99, SHORT),
    ("rg8_snorm", 0x8F95, BYTE),
    ("r16_snorm", 0x8F98, SHORT),
    ("r8_snorm", 0x8F94, BYTE),
    ("rgba32i", 0x8D82, INT),
    ("rgba16i", 0x8D88, SHORT),
    ("rgba8i", 0x8D8E, BYTE),
    ("rg32i", 0x823B, INT),
    ("rg16i", 0x8239, SHORT),
    ("rg8i", 0x8237, BYTE),
    ("r32i", 0x8235, INT),
    ("r16i", 0x8233, SHORT),
    ("r8i", 0x8231, BYTE),
    ("rgba32ui", 0x8D70, UINT),
    ("rgba16ui", 0x8D76, USHORT),
    ("rgba8ui", 0x8D7C, UBYTE),
    ("rgb10_a2ui", 0x906F, 0x8368),
    ("rg32ui", 0x823C, UINT),
    ("rg16ui", 0x823A, USHORT),
    ("rg8ui", 0x8238, UBYTE),
    ("r32ui", 0x8236, UINT),
    ("r16ui", 0x8234, USHORT),
    ("r8ui", 0x8232, UBYTE),
];

/// Formats only for attributes; no texture has the 64-bit ones.
static ATTRIBUTES: &[(&str, u32, u32)] = &[
    ("rgb32f", 0x8815, FLOAT),
    ("rgb32i", 0x8D83, INT),
    ("rgb32ui", 0x8D71, UINT),
    ("r64f", 0, DOUBLE),
    ("rg64f", 0, DOUBLE),
    ("rgba64f", 0, DOUBLE),
];

/// `GL_RED`, `GL_RG`, `GL_RGB`, `GL_RGBA`, and the same of integers.
const COMPONENTS: [[u32; 4]; 2] = [[0x1903, 0x8227, 0x1907, 0x1908], [0x8D94, 0x8228, 0x8D98, 0x8D99]];

/// Depths.
const DEPTH: Format = Format { internal: 0x8CAC, external: 0x1902, component: FLOAT };

/// Formats that an image may have, with their packed texels.
pub fn storable() -> impl Iterator<Item = (&'static str, Format)> {
    IMAGES.iter().map(|(name, internal, component)| (*name, packed(name, *internal, *component)))
}

/// The format of this name.
pub fn named(name: &str) -> Option<Format> {
    if name == "d32" {
        return Some(DEPTH);
    }
    let (_, internal, component) = IMAGES.iter().chain(ATTRIBUTES).find(|(known, ..)| *known == name)?;
    Some(packed(name, *internal, *component))
}

fn packed(name: &str, internal: u32, component: u32) -> Format {
    let external = COMPONENTS[usize::from(is_integer(name))][components(name) as usize - 1];
    Format { internal, external, component }
}

/// The 32-bit type of a component in a shader.
pub fn widened(name: &str) -> u32 {
    match () {
        () if name.ends_with("ui") => UINT,
        () if name.ends_with('i') => INT,
        () => FLOAT,
    }
}

fn is_integer(name: &str) -> bool {
    widened(name) != FLOAT
}

/// Components of a texel.
pub fn components(name: &str) -> u32 {
    match name {
        "r11f_g11f_b10f" => 3,
        _ if name.starts_with("rgb10_a2") => 4,
        _ => name.chars().take_while(char::is_ascii_alphabetic).count() as u32,
    }
}

/// The numeric class in which an attribute's format reaches the shader.
pub fn numbers(name: &str) -> Numbers {
    match () {
        () if is_integer(name) => Numbers::Integers,
        () if name.ends_with("64f") => Numbers::Doubles,
        () if name.ends_with('f') => Numbers::Floats,
        () => Numbers::Shares,
    }
}
