//! The names of types. A matrix of C columns and R rows is `floatCxR`: its columns are the language's rows, so that
//! indices keep their meaning, and products swap their operands.

use super::Hlsl;
use crate::backend::source::writer::Writer;
use crate::diagnostic::Code;
use crate::ir::format::{components, format_name};
use crate::ir::{ImageDim, ImageType, Scalar, ScalarKind, Type, print::scalar_name};
use crate::profile::Feature;

/// The names of scalars; their vectors add the number of components.
const SCALARS: [(Scalar, &str); 10] = [
    (Scalar::BOOL, "bool"),
    (Scalar::I32, "int"),
    (Scalar::U32, "uint"),
    (Scalar::F32, "float"),
    (Scalar::F64, "double"),
    (Scalar::F16, "float16_t"),
    (Scalar::I16, "int16_t"),
    (Scalar::U16, "uint16_t"),
    (Scalar::I64, "int64_t"),
    (Scalar::U64, "uint64_t"),
];

impl Hlsl {
    pub fn vector_name(&self, t: &mut Writer, scalar: Scalar, size: u8) -> String {
        let Some((_, name)) = SCALARS.iter().find(|(of, _)| *of == scalar) else {
            let text = format!("HLSL has no type {}", scalar_name(scalar));
            t.fail(Code::NOT_SUPPORTED, text);
            return "int".to_string();
        };
        let profile = &t.options.profile;
        // Cross-lane operations support fewer types; the planner gets those from the profile.
        if scalar.width == 16 && !profile.has(Feature::ExtendedTypes) {
            let text = format!("{} has no type {}", profile.language(), scalar_name(scalar));
            t.fail(Code::NOT_SUPPORTED, text);
        }
        if scalar.width == 64 && scalar.is_int() && !self.has_long {
            t.lacks(&format!("type {} before Shader Model 6.0", scalar_name(scalar)));
        }
        if size == 1 { (*name).to_string() } else { format!("{name}{size}") }
    }

    pub fn matrix_name(&self, t: &mut Writer, scalar: Scalar, columns: u8, rows: u8) -> String {
        format!("{}{columns}x{rows}", t.vector_name(scalar, 1))
    }

    pub fn handle_name(&self, t: &mut Writer, ty: Type) -> String {
        match ty {
            Type::Pointer { pointee, .. } => t.type_name(pointee),
            Type::Image(image) | Type::SampledImage(image) => self.image_name(t, image),
            Type::Sampler => "SamplerState".to_string(),
            Type::BufferReference { .. } => self.none_such(t, "buffer references"),
            Type::AccelerationStructure => "RaytracingAccelerationStructure".to_string(),
            Type::RayQuery => self.query_type(t),
            Type::AtomicCounter => t.not_yet("atomic counters"),
            Type::CooperativeMatrix(_) => t.not_yet("cooperative matrices"),
            Type::HitObject { .. } => t.not_yet("hit objects"),
            _ => t.not_yet("types of SPIR-V's own"),
        }
    }

    fn none_such(&self, t: &mut Writer, construct: &str) -> String {
        t.lacks(construct);
        String::new()
    }

    fn image_name(&self, t: &mut Writer, image: ImageType) -> String {
        let texel = self.texel_name(t, image);
        let layers = if image.arrayed { "Array" } else { "" };
        let name = match (image.dim, image.multisampled, image.is_writable()) {
            (ImageDim::D1, ..) => "Texture1D",
            (ImageDim::D2, true, true) => return t.not_yet("storage textures of several samples"),
            (ImageDim::D2, true, _) => "Texture2DMS",
            (ImageDim::D2, false, _) => "Texture2D",
            (ImageDim::D3, ..) => "Texture3D",
            // A writable cube is an array of its faces.
            (ImageDim::Cube, _, true) => return format!("{}Texture2DArray<{texel}>", t.hlsl.writable_word()),
            (ImageDim::Cube, ..) => "TextureCube",
            (ImageDim::Buffer, ..) => "Buffer",
            (ImageDim::Rect, ..) => return self.none_such(t, "textures with coordinates in texels"),
            (ImageDim::Tile | ImageDim::SubpassInput, ..) => return self.none_such(t, "reads of color attachments"),
        };
        let writable = if image.is_writable() { t.hlsl.writable_word() } else { "" };
        format!("{writable}{name}{layers}<{texel}>")
    }

    /// The type of a texel: for storage images from their format, because the language must know its components and
    /// range.
    fn texel_name(&self, t: &mut Writer, image: ImageType) -> String {
        let size = if image.is_writable() { components(image.format) as u8 } else { 4 };
        let name = t.vector_name(image.sampled, size);
        let range = match format_name(image.format) {
            Some(format) if image.storage && format.ends_with("_snorm") => "snorm ",
            Some(format) if image.storage && image.sampled.kind == ScalarKind::Float && is_normalized(format) => {
                "unorm "
            }
            _ => "",
        };
        format!("{range}{name}")
    }
}

/// Returns true for normalized formats, which have no other suffix.
fn is_normalized(format: &str) -> bool {
    !format.ends_with(['f', 'i']) && !format.ends_with("ui")
}
