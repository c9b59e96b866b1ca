//! Types (WGSL 6): logical types, and types with a memory layout (14.4).

use super::Wgsl;
use crate::backend::source::image::{ImageUse, is_depth};
use crate::backend::source::layout::{self, Fit, How, Packing, Part};
use crate::backend::source::writer::Writer;
use crate::diagnostic::Code;
use crate::ir::format::format_name;
use crate::ir::{
    ArrayLen, ImageDim, ImageType, MatrixLayout, Scalar, ScalarKind, StructId, Type, TypeId, print::scalar_name,
};

/// The formats of storage textures by SPIR-V's numbers (section 3.11, Image Format; WGSL 6.5.1).
const FORMATS: [(u8, &str); 39] = [
    (1, "rgba32float"),
    (2, "rgba16float"),
    (3, "r32float"),
    (4, "rgba8unorm"),
    (5, "rgba8snorm"),
    (6, "rg32float"),
    (7, "rg16float"),
    (8, "rg11b10ufloat"),
    (9, "r16float"),
    (10, "rgba16unorm"),
    (11, "rgb10a2unorm"),
    (12, "rg16unorm"),
    (13, "rg8unorm"),
    (14, "r16unorm"),
    (15, "r8unorm"),
    (16, "rgba16snorm"),
    (17, "rg16snorm"),
    (18, "rg8snorm"),
    (19, "r16snorm"),
    (20, "r8snorm"),
    (21, "rgba32sint"),
    (22, "rgba16sint"),
    (23, "rgba8sint"),
    (24, "r32sint"),
    (25, "rg32sint"),
    (26, "rg16sint"),
    (27, "rg8sint"),
    (28, "r16sint"),
    (29, "r8sint"),
    (30, "rgba32uint"),
    (31, "rgba16uint"),
    (32, "rgba8uint"),
    (33, "r32uint"),
    (34, "rgb10a2uint"),
    (35, "rg32uint"),
    (36, "rg16uint"),
    (37, "rg8uint"),
    (38, "r16uint"),
    (39, "r8uint"),
];

/// The name of a scalar, and the suffix of its vectors and matrices.
const fn named(scalar: Scalar) -> Option<(&'static str, &'static str)> {
    Some(match (scalar.kind, scalar.width) {
        (ScalarKind::Bool, _) => ("bool", "<bool>"),
        (ScalarKind::Sint, 32) => ("i32", "i"),
        (ScalarKind::Uint, 32) => ("u32", "u"),
        (ScalarKind::Float, 32) => ("f32", "f"),
        (ScalarKind::Float, 16) => ("f16", "h"),
        _ => return None,
    })
}

impl Wgsl {
    pub fn vector_name(&self, t: &mut Writer, scalar: Scalar, size: u8) -> String {
        let Some((name, letter)) = named(scalar) else {
            let message = t.options.profile.lacks_type(&scalar_name(scalar), scalar.is_float(), scalar.width);
            t.fail(Code::NOT_SUPPORTED, message);
            return "u32".to_string();
        };
        if scalar == Scalar::F16 {
            t.need("f16");
        }
        if size == 1 { name.to_string() } else { format!("vec{size}{letter}") }
    }

    pub fn matrix_name(&self, t: &mut Writer, scalar: Scalar, columns: u8, rows: u8) -> String {
        let _ = self.vector_name(t, scalar, 1);
        let letter = named(scalar).map_or("f", |(_, letter)| letter);
        format!("mat{columns}x{rows}{letter}")
    }

    pub fn handle_name(&self, t: &mut Writer, ty: Type) -> String {
        match ty {
            Type::Pointer { pointee, .. } => t.type_name(pointee),
            Type::Image(image) | Type::SampledImage(image) => self.texture_name(t, image, ImageUse::default()),
            Type::Sampler => "sampler".to_string(),
            Type::BufferReference { .. } => t.not_yet("buffer references"),
            Type::AccelerationStructure | Type::RayQuery => t.not_yet("ray queries"),
            Type::AtomicCounter => t.not_yet("atomic counters"),
            Type::CooperativeMatrix(_) => t.not_yet("cooperative matrices"),
            Type::HitObject { .. } => t.not_yet("hit objects"),
            _ => t.not_yet("types of SPIR-V's own"),
        }
    }

    /// The type of a texture by the operations on it (WGSL 6.5).
    pub fn texture_name(&self, t: &mut Writer, image: ImageType, of: ImageUse) -> String {
        self.texture(t, image, of).unwrap_or_else(|lacking| {
            t.lacks(&lacking);
            "texture_2d<f32>".to_string()
        })
    }

    /// The type, or the kind of textures that the language does not have.
    fn texture(&self, t: &mut Writer, image: ImageType, of: ImageUse) -> Result<String, String> {
        let shape = match (image.dim, image.arrayed) {
            (ImageDim::D1, _) => "1d",
            (ImageDim::D2, false) => "2d",
            (ImageDim::D2, true) => "2d_array",
            (ImageDim::D3, _) => "3d",
            (ImageDim::Cube, _) if image.storage => return Err("storage textures of cubes".to_string()),
            (ImageDim::Cube, false) => "cube",
            (ImageDim::Cube, true) => "cube_array",
            (ImageDim::Buffer, _) => return Err("texel buffers".to_string()),
            (ImageDim::Rect, _) => return Err("rectangle textures".to_string()),
            (ImageDim::SubpassInput | ImageDim::Tile, _) => return Err("reads of color attachments".to_string()),
        };
        if image.multisampled && image.storage {
            return Err("storage textures of several samples".to_string());
        }
        if image.multisampled && image.arrayed {
            return Err("arrays of multisampled textures".to_string());
        }
        if image.storage {
            let format = FORMATS.iter().find(|(number, _)| *number == image.format).map(|(_, name)| name);
            let format = format.ok_or_else(|| match format_name(image.format) {
                Some(name) => format!("storage textures of the format {name}"),
                None => "storage textures without a format".to_string(),
            })?;
            let access = match (of.reads, of.writes) {
                (true, true) => "read_write",
                (true, false) => "read",
                (false, _) => "write",
            };
            return Ok(format!("texture_storage_{shape}<{format}, {access}>"));
        }
        let samples = if image.multisampled { "multisampled_" } else { "" };
        if is_depth(image, of) {
            return Ok(format!("texture_depth_{samples}{shape}"));
        }
        let texel = self.vector_name(t, Scalar { width: 32, ..image.sampled }, 1);
        Ok(format!("texture_{samples}{shape}<{texel}>"))
    }

    pub fn array_name(&self, t: &mut Writer, ty: TypeId) -> Option<String> {
        let Type::Array { element, len, .. } = t.types.get(ty) else { return None };
        let of = t.type_name(element);
        if let ArrayLen::Spec(_) = len {
            t.lacks("arrays with a specialization constant as their length, except in workgroup memory");
            return Some(of);
        }
        Some(array_of(&of, &t.length(len)))
    }

    /// The type of memory.
    pub fn memory_type(&self, t: &mut Writer, ty: TypeId, how: How, is_atomic: bool) -> String {
        let stored = |scalar: Scalar| match scalar.is_bool() && how.packing == Packing::Sized {
            true => Scalar::U32,
            false => scalar,
        };
        match t.types.get(ty) {
            Type::Scalar(scalar) if is_atomic => format!("atomic<{}>", self.vector_name(t, stored(scalar), 1)),
            Type::Scalar(scalar) | Type::Vector { scalar, .. } => {
                let size = t.types.components(ty).unwrap_or(1);
                match layout::fit(t, ty, how, false) {
                    Some(Fit::First(size)) => self.vector_name(t, stored(scalar), size),
                    Some(Fit::Wrapped) => self.wrapper(t, stored(scalar), size, how.stride.unwrap_or(0)),
                    _ => self.vector_name(t, stored(scalar), size),
                }
            }
            Type::Array { element, len, stride } => {
                let how = stride.map_or(how, |stride| how.element(stride));
                let of = self.memory_type(t, element, how, is_atomic);
                let length = match len {
                    ArrayLen::Spec(_) if how.packing == Packing::Sized => {
                        t.lacks("arrays with a specialization constant as their length, except in workgroup memory");
                        "1".to_string()
                    }
                    _ => t.length(len),
                };
                array_of(&of, &length)
            }
            Type::Matrix { scalar, columns, rows, layout: Some(layout) }
                if !layout::is_natural(scalar, rows, layout) =>
            {
                self.matrix_as_array(t, (scalar, columns, rows), layout, how)
            }
            Type::Struct(_) => t.laid_name(ty, how, false),
            _ => t.type_name(ty),
        }
    }

    /// A matrix in memory whose layout differs from the language's: an array of its columns, or of its rows.
    fn matrix_as_array(
        &self,
        t: &mut Writer,
        (scalar, columns, rows): (Scalar, u8, u8),
        layout: MatrixLayout,
        how: How,
    ) -> String {
        let (count, size) = if layout.row_major { (rows, columns) } else { (columns, rows) };
        let part = t.types.vector(scalar, size);
        let of = self.memory_type(t, part, how.element(layout.stride), false);
        array_of(&of, &count.to_string())
    }

    /// A struct of a value and its padding to a stride.
    fn wrapper(&self, t: &mut Writer, scalar: Scalar, size: u8, stride: u32) -> String {
        let of = self.vector_name(t, scalar, size);
        if let Some(known) = t.wgsl.wrappers.get(&(of.clone(), stride)) {
            return known.clone();
        }
        let name = t.names.unique("Strided", None);
        t.wgsl.wrappers.insert((of.clone(), stride), name.clone());
        t.declare_struct(&name, vec![format!("    @size({stride}) value: {of},")]);
        name
    }

    /// The members of a struct in memory: a size attribute moves the next member.
    pub fn member_lines(&self, t: &mut Writer, of: StructId, how: How, names: &[String]) -> Vec<String> {
        let Some(laid) = layout::lay_out(t, of, how) else {
            t.lacks(CLOSE);
            return Vec::new();
        };
        let members = t.types.structs[of].members.clone();
        let mut lines: Vec<String> = Vec::new();
        let mut start = 0;
        for part in &laid.parts {
            match part {
                Part::Pad { offset, bytes } => match lines.last_mut() {
                    Some(line) => *line = format!("    @size({}) {}", offset + bytes - start, line.trim_start()),
                    None => lines.push(format!("    @size({bytes}) pad: u32,")),
                },
                Part::Member(index) => {
                    let member = &members[*index];
                    start = member.offset.unwrap_or(0);
                    let is_atomic = t.atomic_members.contains(&(of, *index as u32));
                    let ty = self.memory_type(t, member.ty, laid.members[*index].0, is_atomic);
                    t.push_member(&mut lines, member.span, format!("    {}: {ty},", names[*index]));
                }
            }
        }
        lines
    }
}

/// The layouts that the language does not have.
pub(super) const CLOSE: &str = "layout with members or elements as close to each other as here";

/// An array; without a length it ends a block.
fn array_of(element: &str, length: &str) -> String {
    if length.is_empty() { format!("array<{element}>") } else { format!("array<{element}, {length}>") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::Options;
    use crate::backend::source::wgsl::WGSL;
    use crate::ir::Module;
    use crate::profile::Profile;

    #[test]
    fn textures_are_named_by_shape_and_use() {
        let module = Module::default();
        let options = Options::new(Profile::named("wgsl").unwrap());
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
        let mut name = |image, of| WGSL.texture_name(&mut t, image, of);
        assert_eq!(name(plain, ImageUse::default()), "texture_2d<f32>");
        assert_eq!(name(plain, used(false, false, true)), "texture_depth_2d");
        let sampled = ImageType { multisampled: true, sampled: Scalar::U32, ..plain };
        assert_eq!(name(sampled, ImageUse::default()), "texture_multisampled_2d<u32>");
        let storage = ImageType { storage: true, format: 33, sampled: Scalar::U32, ..plain };
        assert_eq!(name(storage, used(true, false, false)), "texture_storage_2d<r32uint, read>");
        assert_eq!(name(storage, used(true, true, false)), "texture_storage_2d<r32uint, read_write>");
        assert!(t.diagnostics.is_empty());
    }
}
