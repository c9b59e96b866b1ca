//! The names of opaque types (GLSL 4.60 section 4.1.7, GL_KHR_vulkan_glsl).

use crate::ir::format::format;
use crate::ir::{ImageDim, ImageType, Scalar, Type};

/// The stems between the letter of the texels' scalar and the dimension.
const STEMS: [&str; 5] = ["sampler", "image", "texture", "subpassInput", "attachmentEXT"];

/// Scalars of texels, by prefix.
const PREFIXES: [(&str, Scalar); 5] =
    [("i64", Scalar::I64), ("u64", Scalar::U64), ("i", Scalar::I32), ("u", Scalar::U32), ("", Scalar::F32)];

/// The opaque type called `name`; `None` if it is unknown or unsupported.
pub fn named(name: &str) -> Option<Type> {
    match name {
        "sampler" | "samplerShadow" => return Some(Type::Sampler),
        "accelerationStructureEXT" | "accelerationStructureNV" => return Some(Type::AccelerationStructure),
        "atomic_uint" => return Some(Type::AtomicCounter),
        "rayQueryEXT" => return Some(Type::RayQuery),
        "hitObjectNV" => return Some(Type::HitObject { nvidia: true }),
        "hitObjectEXT" => return Some(Type::HitObject { nvidia: false }),
        _ => {}
    }
    PREFIXES.into_iter().find_map(|(prefix, scalar)| image(name.strip_prefix(prefix)?, scalar))
}

fn image(name: &str, sampled: Scalar) -> Option<Type> {
    let stem = STEMS.into_iter().find(|stem| name.starts_with(stem))?;
    let rest = &name[stem.len()..];
    let (shape, depth) = match rest.strip_suffix("Shadow") {
        Some(shape) if stem == "sampler" && sampled == Scalar::F32 => (shape, true),
        _ => (rest, false),
    };
    let (shape, arrayed) = shape.strip_suffix("Array").map_or((shape, false), |shape| (shape, true));
    let (shape, multisampled) = shape.strip_suffix("MS").map_or((shape, false), |shape| (shape, true));
    let dim = dimension(shape, stem)?;
    if !exists(dim, arrayed, multisampled, depth) || sampled.width == 64 && stem != "image" {
        return None;
    }
    let storage = matches!(stem, "image" | "subpassInput" | "attachmentEXT");
    let image = ImageType { sampled, dim, arrayed, multisampled, depth, storage, format: 0 };
    // Texel buffers have no sampler, whatever their name.
    Some(if stem == "sampler" && dim != ImageDim::Buffer { Type::SampledImage(image) } else { Type::Image(image) })
}

fn dimension(shape: &str, stem: &str) -> Option<ImageDim> {
    Some(match shape {
        "" if stem == "subpassInput" => ImageDim::SubpassInput,
        "" if stem == "attachmentEXT" => ImageDim::Tile,
        _ if matches!(stem, "subpassInput" | "attachmentEXT") => return None,
        "1D" => ImageDim::D1,
        "2D" => ImageDim::D2,
        "3D" => ImageDim::D3,
        "Cube" => ImageDim::Cube,
        "2DRect" => ImageDim::Rect,
        "Buffer" => ImageDim::Buffer,
        _ => return None,
    })
}

/// Returns true if the language has this combination.
fn exists(dim: ImageDim, arrayed: bool, multisampled: bool, depth: bool) -> bool {
    match dim {
        ImageDim::D2 => !(multisampled && depth),
        ImageDim::D1 | ImageDim::Cube => !multisampled,
        ImageDim::Rect => !arrayed && !multisampled,
        ImageDim::D3 | ImageDim::Buffer => !arrayed && !multisampled && !depth,
        ImageDim::SubpassInput => !arrayed && !depth,
        ImageDim::Tile => !arrayed && !multisampled && !depth,
    }
}

/// Returns true if a format (by SPIR-V's number) supports atomic operations on its texels: GLSL 4.60 section 8.12,
/// GL_EXT_shader_atomic_float and GL_EXT_shader_image_int64.
pub fn is_atomic(number: u8) -> bool {
    ["r32i", "r32ui", "r32f", "r64i", "r64ui"].iter().filter_map(|name| format(name)).any(|(known, _)| known == number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_what_they_are() {
        let Some(Type::SampledImage(shadow)) = named("samplerCubeArrayShadow") else { panic!("a sampler") };
        assert!(shadow.arrayed && shadow.depth && shadow.dim == ImageDim::Cube);
        let Some(Type::Image(image)) = named("uimage2DMSArray") else { panic!("an image") };
        assert!(image.arrayed && image.multisampled && image.storage && image.sampled == Scalar::U32);
        assert!(matches!(named("isubpassInputMS"), Some(Type::Image(input)) if input.multisampled));
        assert!(matches!(named("iattachmentEXT"), Some(Type::Image(tile)) if tile.dim == ImageDim::Tile));
        assert_eq!(named("samplerBuffer"), named("textureBuffer"));
        assert_eq!(named("samplerShadow"), Some(Type::Sampler));
    }

    #[test]
    fn other_names_are_none() {
        for name in [
            "sampler",
            "sampler3DShadow",
            "isampler2DShadow",
            "image2DRectArray",
            "subpassInput2D",
            "u64texture2D",
            "attachmentEXTMS",
        ] {
            let expected = (name == "sampler").then_some(Type::Sampler);
            assert_eq!(named(name), expected, "{name}");
        }
    }
}
