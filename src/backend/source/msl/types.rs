//! The names of types (sections 2.1 to 2.10). Matrices are named as the module has them, columns first.

use super::Msl;
use super::dialect::Part;
use crate::backend::source::image::{ImageUse, is_depth};
use crate::backend::source::writer::Writer;
use crate::ir::{ImageDim, ImageType, Scalar, ScalarKind, Type, TypeId, print::scalar_name};

/// The names of scalars, whose vectors add the number of components.
const SCALARS: [(Scalar, &str); 11] = [
    (Scalar::BOOL, "bool"),
    (Scalar::I32, "int"),
    (Scalar::U32, "uint"),
    (Scalar::F32, "float"),
    (Scalar::F16, "half"),
    (Scalar::I8, "char"),
    (Scalar::U8, "uchar"),
    (Scalar::I16, "short"),
    (Scalar::U16, "ushort"),
    (Scalar::I64, "long"),
    (Scalar::U64, "ulong"),
];

/// The name of a vector or scalar, if the language has one.
pub(super) fn vector_text(t: &Writer, ty: TypeId) -> String {
    let Some((scalar, size)) = t.shape(ty) else { return String::new() };
    let row = SCALARS.iter().find(|(of, _)| *of == scalar);
    let name = row.map_or_else(|| scalar_name(scalar), |(_, name)| (*name).to_string());
    if size == 1 { name } else { format!("{name}{size}") }
}

impl Msl {
    pub fn vector_name(&self, t: &mut Writer, scalar: Scalar, size: u8) -> String {
        let Some((_, name)) = SCALARS.iter().find(|(of, _)| *of == scalar) else {
            t.lacks(&format!("type {}", scalar_name(scalar)));
            return "int".to_string();
        };
        if scalar.width == 64 {
            self.needs_for(t, Part::WideIntegers, &format!("type {} in all memory", scalar_name(scalar)));
        }
        if size == 1 { (*name).to_string() } else { format!("{name}{size}") }
    }

    pub fn matrix_name(&self, t: &mut Writer, scalar: Scalar, columns: u8, rows: u8) -> String {
        format!("{}{columns}x{rows}", t.vector_name(scalar, 1))
    }

    /// A resource type without knowledge of its use.
    pub fn handle_name(&self, t: &mut Writer, ty: Type) -> String {
        match ty {
            Type::Pointer { pointee, .. } => t.type_name(pointee),
            Type::Image(image) | Type::SampledImage(image) => self.texture_name(
                t,
                image,
                ImageUse { reads: true, writes: true, compares: false, ..ImageUse::default() },
            ),
            Type::Sampler => "sampler".to_string(),
            // The address, which casts to pointers.
            Type::BufferReference { .. } => self.vector_name(t, Scalar::U64, 1),
            Type::AccelerationStructure => self.ray_type(t, super::rays::STRUCTURE),
            Type::RayQuery => self.ray_type(t, super::rays::QUERY),
            Type::CooperativeMatrix(_) => t.not_yet("cooperative matrices"),
            Type::HitObject { .. } => t.not_yet("hit objects"),
            _ => t.not_yet("types of SPIR-V's own"),
        }
    }

    fn none_such(&self, t: &mut Writer, construct: &str) -> String {
        t.lacks(construct);
        "int".to_string()
    }

    /// The type of a texture (section 2.9) by the operations on it.
    pub(super) fn texture_name(&self, t: &mut Writer, image: ImageType, of: ImageUse) -> String {
        let is_depth = is_depth(image, of);
        let shape = match (image.dim, image.multisampled) {
            (ImageDim::D1, _) => "1d",
            (ImageDim::D2, false) => "2d",
            (ImageDim::D2, true) if of.writes => {
                return self.none_such(t, "writes to textures of several samples");
            }
            (ImageDim::D2, true) => "2d_ms",
            (ImageDim::D3, _) => "3d",
            (ImageDim::Cube, _) => "cube",
            (ImageDim::Buffer, _) => "_buffer",
            (ImageDim::Rect, _) => return self.none_such(t, "textures with coordinates in texels"),
            (ImageDim::Tile | ImageDim::SubpassInput, _) => return t.not_yet("reads of color attachments"),
        };
        let stem = if is_depth { "depth" } else { "texture" };
        let layers = if image.arrayed { "_array" } else { "" };
        let texel = self.texel_name(t, image);
        let is_written = image.is_writable();
        let access = match (is_written, of.reads, of.writes) {
            (false, ..) => "",
            (true, _, false) => ", access::read",
            (true, false, true) => ", access::write",
            (true, true, true) => ", access::read_write",
        };
        let is_coherent = is_written && of.is_coherent && self.has(t, Part::CoherentMemory);
        let coherence = if is_coherent { ", memory_coherence_device" } else { "" };
        format!("{stem}{shape}{layers}<{texel}{access}{coherence}>")
    }

    /// The type of a texel's components.
    fn texel_name(&self, t: &mut Writer, image: ImageType) -> String {
        let scalar = image.sampled;
        match (scalar.kind, scalar.width) {
            (ScalarKind::Float | ScalarKind::Sint | ScalarKind::Uint, 16 | 32) => t.vector_name(scalar, 1),
            _ => self.none_such(t, "textures of such texels"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::Options;
    use crate::backend::source::msl::MSL;
    use crate::ir::Module;
    use crate::profile::Profile;

    #[test]
    fn textures_are_named_by_shape_and_use() {
        let module = Module::default();
        let options = Options::new(Profile::named("msl-3.0").unwrap());
        let mut t = Writer::new(&module, &options);
        let plain = ImageType {
            sampled: Scalar::F32,
            dim: ImageDim::D2,
            arrayed: false,
            multisampled: false,
            depth: false,
            storage: false,
            format: 0,
        };
        let used = |reads, writes, compares| ImageUse { reads, writes, compares, ..ImageUse::default() };
        let mut name = |image, of| MSL.texture_name(&mut t, image, of);
        assert_eq!(name(plain, ImageUse::default()), "texture2d<float>");
        assert_eq!(name(plain, used(false, false, true)), "depth2d<float>");
        assert_eq!(
            name(ImageType { arrayed: true, multisampled: true, ..plain }, ImageUse::default()),
            "texture2d_ms_array<float>"
        );
        assert_eq!(
            name(ImageType { dim: ImageDim::Buffer, sampled: Scalar::U32, ..plain }, ImageUse::default()),
            "texture_buffer<uint>"
        );
        let storage = ImageType { storage: true, ..plain };
        assert_eq!(name(storage, used(true, false, false)), "texture2d<float, access::read>");
        assert_eq!(name(storage, used(false, true, false)), "texture2d<float, access::write>");
        assert_eq!(name(storage, used(true, true, false)), "texture2d<float, access::read_write>");
        assert!(t.diagnostics.is_empty());
    }
}
