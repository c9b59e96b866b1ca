//! Types: their names, and the declarations of structs.

use super::writer::Writer;
use crate::diagnostic::Code;
use crate::ir::{
    ArrayLen, ConstId, ImageDim, ImageType, Scalar, ScalarKind, StructId, Type, TypeId, print::scalar_name,
};
use std::rc::Rc;

/// How a scalar is called, how its vectors begin, and the extension that brings it.
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

impl Writer<'_> {
    /// The name of a vector, or of a scalar where `size` is 1.
    pub fn vector_name(&mut self, scalar: Scalar, size: u8) -> String {
        let Some(row) = ROWS.iter().find(|row| row.scalar == scalar) else {
            return self.not_yet(&format!("type {}", scalar_name(scalar)));
        };
        let profile = &self.options.profile;
        if !scalar.is_bool() && !profile.has_width(scalar.is_float(), scalar.width) {
            let text = profile.lacks_type(&scalar_name(scalar), scalar.is_float(), scalar.width);
            self.fail(Code::NOT_SUPPORTED, text);
        }
        if let Some(extension) = row.extension {
            self.need(extension);
        }
        if size == 1 { row.name.to_string() } else { format!("{}{size}", row.vector) }
    }

    fn matrix_name(&mut self, scalar: Scalar, columns: u8, rows: u8) -> String {
        let vector = self.vector_name(scalar, 2);
        let stem = vector.replace("vec2", "mat");
        if columns == rows { format!("{stem}{columns}") } else { format!("{stem}{columns}x{rows}") }
    }

    /// A type as it begins a declaration, and what follows the name: the lengths of arrays.
    pub fn declared(&mut self, id: TypeId) -> (String, String) {
        let mut dims = String::new();
        let mut ty = id;
        while let Type::Array { element, len, .. } = self.types.get(ty) {
            dims.push_str(&format!("[{}]", self.length(len)));
            ty = element;
        }
        (self.base_name(ty), dims)
    }

    /// A type where a name of one is wanted: constructors and results.
    pub fn type_name(&mut self, id: TypeId) -> String {
        let (base, dims) = self.declared(id);
        base + &dims
    }

    pub fn length(&mut self, len: ArrayLen) -> String {
        match len {
            ArrayLen::Fixed(len) => len.to_string(),
            ArrayLen::Runtime => String::new(),
            ArrayLen::Spec(id) => self.named_length(id),
        }
    }

    /// The name of a length that specialization constants give: compilers tell arrays of other expressions apart, though
    /// these be equal.
    fn named_length(&mut self, id: ConstId) -> String {
        let text = self.constant(id).text;
        if text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_') {
            return text;
        }
        if let Some(known) = self.lengths.get(&id) {
            return known.clone();
        }
        let name = self.names.unique("array_length", None);
        let ty = self.type_name(self.module.constants.get(id).ty);
        self.specializations.push(format!("const {ty} {name} = {text};"));
        self.lengths.insert(id, name.clone());
        name
    }

    fn base_name(&mut self, id: TypeId) -> String {
        match self.types.get(id) {
            Type::Void => "void".to_string(),
            Type::Scalar(scalar) => self.vector_name(scalar, 1),
            Type::Vector { scalar, size } => self.vector_name(scalar, size),
            Type::Matrix { scalar, columns, rows, .. } => self.matrix_name(scalar, columns, rows),
            Type::Struct(of) => self.struct_name(of),
            Type::Pointer { pointee, .. } => self.base_name(pointee),
            Type::Image(image) => self.image_name(image, false),
            Type::SampledImage(image) => self.image_name(image, true),
            Type::Sampler => "sampler".to_string(),
            Type::BufferReference { pointee } => self.reference_name(pointee),
            Type::AccelerationStructure | Type::RayQuery => self.not_yet("ray queries"),
            Type::CooperativeMatrix(_) => self.not_yet("cooperative matrices"),
            Type::HitObject { .. } => self.not_yet("hit objects"),
            Type::Foreign(_) => {
                self.unsupported("types of SPIR-V's own");
                String::new()
            }
            Type::Array { .. } => String::new(),
        }
    }

    fn not_yet(&mut self, construct: &str) -> String {
        self.unsupported(construct);
        String::new()
    }

    /// The struct that stands for itself and for all of its layouts.
    pub fn logical(&self, id: StructId) -> StructId {
        self.types.structs[id].logical.unwrap_or(id)
    }

    /// The name of a struct, which is declared where it is not yet.
    pub fn struct_name(&mut self, id: StructId) -> String {
        let id = self.logical(id);
        let name = match self.struct_names.get(&id) {
            Some(known) => known.clone(),
            // Those of operations with two results.
            None => {
                let name = self.types.structs[id].name.clone();
                self.names.unique(&name, None)
            }
        };
        self.struct_names.insert(id, name.clone());
        if !self.declared_structs.insert(id) {
            return name;
        }
        let item = self.types.structs[id].clone();
        let members = self.member_names(id);
        let mut lines = vec![format!("struct {name} {{")];
        for (member, named) in item.members.iter().zip(members.iter()) {
            let (ty, dims) = self.declared(member.ty);
            lines.push(format!("    {ty} {named}{dims};"));
        }
        lines.push("};".to_string());
        self.structs.extend(lines);
        name
    }

    /// The names of a struct's members.
    pub fn member_names(&mut self, id: StructId) -> Rc<[String]> {
        let id = self.logical(id);
        if let Some(known) = self.members.get(&id) {
            return known.clone();
        }
        let mut names = super::names::Names::default();
        let item = &self.types.structs[id];
        let made: Rc<[String]> = item.members.iter().map(|member| names.unique(&member.name, None)).collect();
        self.members.insert(id, made.clone());
        made
    }

    /// The name of an image type, with a sampler or without.
    pub fn image_name(&mut self, image: ImageType, has_sampler: bool) -> String {
        let prefix = match (image.sampled.kind, image.sampled.width) {
            (ScalarKind::Sint, 64) => "i64",
            (ScalarKind::Uint, 64) => "u64",
            (ScalarKind::Float, 16) => "f16",
            (ScalarKind::Sint, _) => "i",
            (ScalarKind::Uint, _) => "u",
            _ => "",
        };
        match image.sampled.width {
            64 => self.need("GL_EXT_shader_image_int64"),
            16 => self.need("GL_AMD_gpu_shader_half_float_fetch"),
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
            ImageDim::Tile => return self.not_yet("reads of color attachments"),
        };
        if self.dialect.is_es && matches!(image.dim, ImageDim::D1 | ImageDim::Rect) {
            self.lacks("textures of one dimension");
        }
        let stem = match (image.dim, has_sampler, image.storage) {
            (ImageDim::SubpassInput, ..) => "subpassInput",
            (_, true, _) => "sampler",
            (_, _, true) => "image",
            _ => "texture",
        };
        if !self.dialect.is_vulkan && matches!(stem, "texture" | "subpassInput") {
            self.lacks("textures apart from their samplers");
        }
        let samples = if image.multisampled { "MS" } else { "" };
        let layers = if image.arrayed { "Array" } else { "" };
        let shadow = if image.depth && has_sampler { "Shadow" } else { "" };
        format!("{prefix}{stem}{dim}{samples}{layers}{shadow}")
    }

    /// Scalar and number of components of a scalar or vector.
    pub fn shape(&self, id: TypeId) -> Option<(Scalar, u8)> {
        Some((self.types.scalar_of(id)?, self.types.components(id)?))
    }
}
