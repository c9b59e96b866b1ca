//! The names of types.

use super::{Dialect, versions};
use crate::backend::source::image::Root;
use crate::backend::source::writer::Writer;
use crate::diagnostic::Code;
use crate::ir::{ImageDim, ImageType, Scalar, ScalarKind, Type, print::scalar_name};

/// The name of a scalar, the prefix of its vectors, and its extension.
struct ScalarRow {
    scalar: Scalar,
    name: &'static str,
    vector: &'static str,
    extension: Option<&'static str>,
}

const fn row(scalar: Scalar, name: &'static str, vector: &'static str, extension: Option<&'static str>) -> ScalarRow {
    ScalarRow { scalar, name, vector, extension }
}

const ROWS: [ScalarRow; 12] = [
    row(Scalar::BOOL, "bool", "bvec", None),
    row(Scalar::I32, "int", "ivec", None),
    row(Scalar::U32, "uint", "uvec", None),
    row(Scalar::F32, "float", "vec", None),
    row(Scalar::F64, "double", "dvec", None),
    row(Scalar::F16, "float16_t", "f16vec", Some("GL_EXT_shader_explicit_arithmetic_types_float16")),
    row(Scalar::I8, "int8_t", "i8vec", Some("GL_EXT_shader_explicit_arithmetic_types_int8")),
    row(Scalar::U8, "uint8_t", "u8vec", Some("GL_EXT_shader_explicit_arithmetic_types_int8")),
    row(Scalar::I16, "int16_t", "i16vec", Some("GL_EXT_shader_explicit_arithmetic_types_int16")),
    row(Scalar::U16, "uint16_t", "u16vec", Some("GL_EXT_shader_explicit_arithmetic_types_int16")),
    row(Scalar::I64, "int64_t", "i64vec", Some("GL_EXT_shader_explicit_arithmetic_types_int64")),
    row(Scalar::U64, "uint64_t", "u64vec", Some("GL_EXT_shader_explicit_arithmetic_types_int64")),
];

impl Dialect {
    /// The name of a vector, or of a scalar if `size` is 1.
    pub fn vector_name(&self, t: &mut Writer, scalar: Scalar, size: u8) -> String {
        let Some(row) = ROWS.iter().find(|row| row.scalar == scalar) else {
            return t.not_yet(&format!("type {}", scalar_name(scalar)));
        };
        let profile = &t.options.profile;
        if !scalar.is_bool() && !profile.has_width(scalar.is_float(), scalar.width) {
            let text = profile.lacks_type(&scalar_name(scalar), scalar.is_float(), scalar.width);
            t.fail(Code::NOT_SUPPORTED, text);
        }
        let is_long = scalar.is_int() && scalar.width == 64;
        let of_opengl = (is_long && !self.is_vulkan && !self.is_es).then_some("GL_ARB_gpu_shader_int64");
        match of_opengl.filter(|_| row.extension.is_some()).or(row.extension) {
            Some(extension) if self.has_extension(extension) => t.need(extension),
            Some(_) => t.lacks(&format!("type {}", scalar_name(scalar))),
            None => {}
        }
        if size == 1 { row.name.to_string() } else { format!("{}{size}", row.vector) }
    }

    pub fn matrix_name(&self, t: &mut Writer, scalar: Scalar, columns: u8, rows: u8) -> String {
        let vector = t.vector_name(scalar, 2);
        let stem = vector.replace("vec2", "mat");
        if columns == rows { format!("{stem}{columns}") } else { format!("{stem}{columns}x{rows}") }
    }

    /// The name of an image type, with a sampler or without.
    fn image_name(&self, t: &mut Writer, image: ImageType, has_sampler: bool) -> String {
        let prefix = match (image.sampled.kind, image.sampled.width) {
            (ScalarKind::Sint, 64) => "i64",
            (ScalarKind::Uint, 64) => "u64",
            (ScalarKind::Float, 16) => "f16",
            (ScalarKind::Sint, _) => "i",
            (ScalarKind::Uint, _) => "u",
            _ => "",
        };
        match image.sampled.width {
            64 => t.need("GL_EXT_shader_image_int64"),
            16 => t.need("GL_AMD_gpu_shader_half_float_fetch"),
            _ => {}
        }
        let dim = match image.dim {
            ImageDim::D1 => "1D",
            ImageDim::D2 => "2D",
            ImageDim::D3 => "3D",
            ImageDim::Cube => "Cube",
            ImageDim::Rect => "2DRect",
            ImageDim::Buffer => "Buffer",
            ImageDim::SubpassInput => "",
            ImageDim::Tile => return t.not_yet("reads of color attachments"),
        };
        self.require_image(t, image);
        if self.is_es && image.dim == ImageDim::Rect {
            t.lacks("rectangle textures");
        }
        if self.is_es && image.storage && image.multisampled {
            t.lacks("images of several samples");
        }
        let stem = match (image.dim, has_sampler, image.storage) {
            (ImageDim::SubpassInput, ..) => "subpassInput",
            (_, true, _) => "sampler",
            (_, _, true) => "image",
            // Buffers have no samplers: the two types are equivalent, and the older one needs no extension.
            (ImageDim::Buffer, ..) => "sampler",
            _ => "texture",
        };
        if !self.is_vulkan && matches!(stem, "texture" | "subpassInput") {
            t.lacks("textures apart from their samplers");
        }
        let samples = if image.multisampled { "MS" } else { "" };
        let layers = if image.arrayed { "Array" } else { "" };
        let shadow = if image.depth && has_sampler { "Shadow" } else { "" };
        format!("{prefix}{stem}{dim}{samples}{layers}{shadow}")
    }

    /// Requires the version or extension of an image type.
    fn require_image(&self, t: &mut Writer, image: ImageType) {
        let parts = [
            (image.storage, &versions::IMAGES),
            (image.multisampled, &versions::MULTISAMPLED),
            (image.multisampled && image.arrayed, &versions::MULTISAMPLED_ARRAYS),
            (image.dim == ImageDim::Cube && image.arrayed, &versions::CUBE_ARRAYS),
            (image.dim == ImageDim::Buffer, &versions::TEXEL_BUFFERS),
        ];
        parts.into_iter().filter(|(has, _)| *has).for_each(|(_, part)| self.require(t, part));
    }

    pub fn handle_name(&self, t: &mut Writer, ty: Type) -> String {
        match ty {
            Type::Pointer { pointee, .. } => t.type_name(pointee),
            Type::Image(image) => self.image_name(t, image, false),
            Type::SampledImage(image) => self.image_name(t, image, true),
            Type::Sampler => "sampler".to_string(),
            Type::BufferReference { pointee } => self.reference_name(t, pointee),
            Type::AccelerationStructure | Type::RayQuery | Type::HitObject { .. } => self.ray_type(t, ty),
            Type::AtomicCounter => t.not_yet("atomic counters"),
            Type::CooperativeMatrix(_) => t.not_yet("cooperative matrices"),
            _ => t.not_yet("types of SPIR-V's own"),
        }
    }
}

/// The type of a sampler, with or without comparison.
pub(super) fn sampler_name(t: &mut Writer, root: Root) -> &'static str {
    if t.image_use(root).compares { "samplerShadow" } else { "sampler" }
}
