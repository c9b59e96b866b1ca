//! The names of GLSL's built-in types, and how types are called in messages.
//!
//! Maps `vec3`, `dmat2x4`, `u32vec2` and so on to types of [`crate::ir`]. It also knows the names of unsupported types,
//! which get a separate error instead of "unknown name". Structs are not here but in the scopes of name resolution.

use super::opaque;
use crate::ir::{
    ArrayLen, Constants, CooperativeMatrix, Encoding, ImageDim, ImageType, MatrixRole, Scalar, ScalarKind, Type,
    TypeId, Types,
};
use std::fmt::Write;

/// A type's name with its article, for messages: "a `vec2`", "an `int`".
pub fn with_article(name: &str) -> String {
    let article = if name.starts_with(['i', 'a']) { "an" } else { "a" };
    format!("{article} `{name}`")
}

/// A number of things, for messages: "1 argument", "2 arguments".
pub fn counted(count: usize, thing: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {thing}{plural}")
}

/// A scalar, vector or matrix by its shape. Scalars and vectors have one column.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Basic {
    pub scalar: Scalar,
    /// 1, or 2 to 4 for a matrix.
    pub columns: u8,
    /// Components of the scalar (1), the vector, or each column.
    pub rows: u8,
}

impl Basic {
    pub const fn vector(scalar: Scalar, size: u8) -> Basic {
        Basic { scalar, columns: 1, rows: size }
    }

    pub const fn matrix(scalar: Scalar, columns: u8, rows: u8) -> Basic {
        Basic { scalar, columns, rows }
    }

    /// The shape of a type; `None` for anything except scalars, vectors and logical matrices.
    pub fn of(types: &Types, id: TypeId) -> Option<Basic> {
        match types.get(id) {
            Type::Scalar(scalar) => Some(Basic::vector(scalar, 1)),
            Type::Vector { scalar, size } => Some(Basic::vector(scalar, size)),
            Type::Matrix { scalar, columns, rows, layout: None } => Some(Basic::matrix(scalar, columns, rows)),
            _ => None,
        }
    }

    /// The type of this shape.
    pub fn intern(self, types: &mut Types) -> TypeId {
        match self.columns {
            1 => types.vector(self.scalar, self.rows),
            _ => types.matrix(self.scalar, self.columns, self.rows),
        }
    }

    pub const fn is_scalar(self) -> bool {
        self.columns == 1 && self.rows == 1
    }

    pub const fn is_matrix(self) -> bool {
        self.columns > 1
    }

    /// The shape with other scalars.
    #[must_use]
    pub const fn with_scalar(self, scalar: Scalar) -> Basic {
        Basic { scalar, ..self }
    }
}

/// The type that a name refers to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TypeName {
    Void,
    Basic(Basic),
    /// A name from the explicit-arithmetic extensions for a type that also has a plain name (`float32_t`, `u32vec3`).
    /// Without such an extension it is an ordinary identifier.
    Explicit(Basic),
    /// A type that only an extension provides ([`super::extended`]).
    Extended(Basic),
    /// An image, a sampler, or both in one.
    Opaque(Type),
}

/// The type that `name` refers to (GLSL 4.60 section 4.1, GL_EXT_shader_explicit_arithmetic_types); `None` if it does
/// not name a built-in type.
pub fn type_name(name: &str) -> Option<TypeName> {
    let supported = plain(name).or_else(|| explicit(name)).or_else(|| encoded(name));
    supported.or_else(|| opaque::named(name).map(TypeName::Opaque))
}

/// The type of a supported name, plain or explicit.
pub fn named(types: &mut Types, name: &str) -> Option<TypeId> {
    match type_name(name)? {
        TypeName::Void => Some(Types::VOID),
        TypeName::Basic(basic) | TypeName::Explicit(basic) | TypeName::Extended(basic) => Some(basic.intern(types)),
        TypeName::Opaque(ty) => Some(types.intern(ty)),
    }
}

fn plain(name: &str) -> Option<TypeName> {
    let scalar = match name {
        "void" => return Some(TypeName::Void),
        "bool" => Scalar::BOOL,
        "int" => Scalar::I32,
        "uint" => Scalar::U32,
        "float" => Scalar::F32,
        "double" => Scalar::F64,
        _ => return plain_vector(name).or_else(|| plain_matrix(name)).map(TypeName::Basic),
    };
    Some(TypeName::Basic(Basic::vector(scalar, 1)))
}

/// The parts before and after the stem of a name with a prefix of at most one letter.
fn split_stem<'n>(name: &'n str, stem: &str) -> Option<(&'n str, &'n str)> {
    [0, 1].into_iter().find_map(|at| {
        let (prefix, rest) = name.split_at_checked(at)?;
        Some((prefix, rest.strip_prefix(stem)?))
    })
}

fn plain_vector(name: &str) -> Option<Basic> {
    let (prefix, size) = split_stem(name, "vec")?;
    let scalar = match prefix {
        "" => Scalar::F32,
        "i" => Scalar::I32,
        "u" => Scalar::U32,
        "b" => Scalar::BOOL,
        "d" => Scalar::F64,
        _ => return None,
    };
    Some(Basic::vector(scalar, dimension(size)?))
}

fn plain_matrix(name: &str) -> Option<Basic> {
    let (prefix, size) = split_stem(name, "mat")?;
    let scalar = match prefix {
        "" => Scalar::F32,
        "d" => Scalar::F64,
        _ => return None,
    };
    matrix(scalar, size)
}

/// `size` is `N` or `CxR`.
fn matrix(scalar: Scalar, size: &str) -> Option<Basic> {
    let (columns, rows) = size.split_once('x').unwrap_or((size, size));
    Some(Basic::matrix(scalar, dimension(columns)?, dimension(rows)?))
}

fn dimension(text: &str) -> Option<u8> {
    match text {
        "2" => Some(2),
        "3" => Some(3),
        "4" => Some(4),
        _ => None,
    }
}

/// `int32_t`, `f64vec3`, `float16_t`, `f32mat2x3` and the like.
fn explicit(name: &str) -> Option<TypeName> {
    let (kind, rest) = explicit_kind(name)?;
    let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let width: u8 = rest[..digits].parse().ok()?;
    let scalar = Scalar { kind, width };
    let tail = &rest[digits..];
    let shape = if tail == "_t" {
        Basic::vector(scalar, 1)
    } else if let Some(size) = tail.strip_prefix("vec") {
        Basic::vector(scalar, dimension(size)?)
    } else {
        matrix(scalar, tail.strip_prefix("mat")?)?
    };
    sized(shape)
}

/// `bfloat16_t`, `fe4m3vec2` and the like.
fn encoded(name: &str) -> Option<TypeName> {
    Encoding::ALL.into_iter().find_map(|encoding| {
        let size = match name.strip_prefix(encoding.name()) {
            _ if name == encoded_word(encoding) => 1,
            tail => dimension(tail?.strip_prefix("vec")?)?,
        };
        Some(TypeName::Extended(Basic::vector(Scalar::encoded(encoding), size)))
    })
}

const fn encoded_word(encoding: Encoding) -> &'static str {
    match encoding {
        Encoding::BFloat16 => "bfloat16_t",
        Encoding::E4M3 => "floate4m3_t",
        Encoding::E5M2 => "floate5m2_t",
        Encoding::E2M1 => "floate2m1_t",
    }
}

/// Kind of the scalar and the text after its letter or word. `int8_t` has the word, `i8vec2` the letter.
fn explicit_kind(name: &str) -> Option<(ScalarKind, &str)> {
    let spellings: [(&str, &str, ScalarKind); 3] =
        [("uint", "u", ScalarKind::Uint), ("int", "i", ScalarKind::Sint), ("float", "f", ScalarKind::Float)];
    spellings.into_iter().find_map(|(word, letter, kind)| {
        let prefix = if name.ends_with("_t") { word } else { letter };
        name.strip_prefix(prefix).map(|rest| (kind, rest))
    })
}

fn sized(shape: Basic) -> Option<TypeName> {
    if shape.is_matrix() && !shape.scalar.is_float() {
        return None;
    }
    match (shape.scalar.kind, shape.scalar.width) {
        (_, 32) | (ScalarKind::Float, 64) => Some(TypeName::Explicit(shape)),
        (_, 16 | 64) | (ScalarKind::Sint | ScalarKind::Uint, 8) => Some(TypeName::Extended(shape)),
        _ => None,
    }
}

/// The name of a type as GLSL writes it: `uvec4`, `mat2x3`, `float[4]`, a struct's own name.
pub fn display(types: &Types, constants: &Constants, id: TypeId) -> String {
    let mut text = String::new();
    write_type(&mut text, types, constants, id);
    text
}

fn write_type(out: &mut String, types: &Types, constants: &Constants, id: TypeId) {
    match types.get(id) {
        Type::Void => out.push_str("void"),
        Type::Scalar(scalar) => out.push_str(scalar_word(scalar)),
        Type::Vector { scalar, size } => push(out, format_args!("{}vec{size}", prefix(scalar))),
        Type::Matrix { scalar, columns, rows, .. } => write_matrix(out, scalar, columns, rows),
        Type::Array { .. } => write_array(out, types, constants, id),
        Type::Struct(id) => out.push_str(&types.structs[id].name),
        Type::Pointer { pointee, .. } => write_type(out, types, constants, pointee),
        Type::BufferReference { pointee, .. } => out.push_str(&types.structs[pointee].name),
        Type::Image(image) => write_image(out, if image.storage { "image" } else { "texture" }, image),
        Type::SampledImage(image) => write_image(out, "sampler", image),
        Type::Sampler => out.push_str("sampler"),
        Type::AtomicCounter => out.push_str("atomic_uint"),
        Type::AccelerationStructure => out.push_str("accelerationStructureEXT"),
        Type::RayQuery => out.push_str("rayQueryEXT"),
        Type::HitObject { nvidia } => out.push_str(if nvidia { "hitObjectNV" } else { "hitObjectEXT" }),
        Type::Foreign(_) => out.push_str("spirv_type"),
        Type::CooperativeMatrix(matrix) => write_cooperative(out, types, constants, matrix),
    }
}

fn write_cooperative(out: &mut String, types: &Types, constants: &Constants, matrix: CooperativeMatrix) {
    if matrix.is_vector() {
        out.push_str("coopvecNV<");
        write_type(out, types, constants, matrix.element);
        return match constants.as_int(types, matrix.columns) {
            Some(number) => push(out, format_args!(", {number}>")),
            None => out.push_str(", constant>"),
        };
    }
    let scalar = types.scalar_of(matrix.element).filter(|_| matrix.role == MatrixRole::Any);
    match scalar {
        Some(Scalar { kind, width }) => push(out, format_args!("{}coopmatNV<{width}", matrix_letter(kind))),
        None => {
            out.push_str("coopmat<");
            write_type(out, types, constants, matrix.element);
        }
    }
    match constants.as_int(types, matrix.scope) {
        Some(2) => out.push_str(", gl_ScopeWorkgroup"),
        Some(_) => out.push_str(", gl_ScopeSubgroup"),
        None => out.push_str(", constant"),
    }
    for number in [matrix.rows, matrix.columns] {
        match constants.as_int(types, number) {
            Some(number) => push(out, format_args!(", {number}")),
            None => out.push_str(", constant"),
        }
    }
    match scalar {
        Some(_) => out.push('>'),
        None => push(out, format_args!(", gl_MatrixUse{:?}>", matrix.role)),
    }
}

/// The first letter of the types of GL_NV_cooperative_matrix.
const fn matrix_letter(of: ScalarKind) -> char {
    match of {
        ScalarKind::Float | ScalarKind::Encoded(_) => 'f',
        ScalarKind::Sint => 'i',
        ScalarKind::Uint | ScalarKind::Bool => 'u',
    }
}

/// Writing to a `String` cannot fail.
fn push(out: &mut String, text: std::fmt::Arguments<'_>) {
    out.write_fmt(text).expect("a String takes any text");
}

fn write_matrix(out: &mut String, scalar: Scalar, columns: u8, rows: u8) {
    let prefix = prefix(scalar);
    match columns == rows {
        true => push(out, format_args!("{prefix}mat{columns}")),
        false => push(out, format_args!("{prefix}mat{columns}x{rows}")),
    }
}

/// GLSL lists the outer dimension first, so the element's own brackets come after.
fn write_array(out: &mut String, types: &Types, constants: &Constants, id: TypeId) {
    let mut brackets = String::new();
    let mut inner = id;
    while let Type::Array { element, len, .. } = types.get(inner) {
        match len {
            ArrayLen::Fixed(len) => push(&mut brackets, format_args!("[{len}]")),
            ArrayLen::Spec(len) => write_spec_length(&mut brackets, types, constants, len),
            ArrayLen::Runtime => brackets.push_str("[]"),
        }
        inner = element;
    }
    write_type(out, types, constants, inner);
    out.push_str(&brackets);
}

fn write_spec_length(out: &mut String, types: &Types, constants: &Constants, len: crate::ir::ConstId) {
    match constants.as_int(types, len) {
        Some(len) => push(out, format_args!("[{len}]")),
        None => out.push_str("[constant]"),
    }
}

fn write_image(out: &mut String, stem: &str, image: ImageType) {
    let dim = match image.dim {
        ImageDim::D1 => "1D",
        ImageDim::D2 => "2D",
        ImageDim::D3 => "3D",
        ImageDim::Cube => "Cube",
        ImageDim::Rect => "2DRect",
        ImageDim::Buffer => "Buffer",
        ImageDim::SubpassInput => "subpassInput",
        ImageDim::Tile => "attachmentEXT",
    };
    let stem = if matches!(image.dim, ImageDim::SubpassInput | ImageDim::Tile) { "" } else { stem };
    let samples = if image.multisampled { "MS" } else { "" };
    let array = if image.arrayed { "Array" } else { "" };
    let shadow = if image.depth { "Shadow" } else { "" };
    push(out, format_args!("{}{stem}{dim}{samples}{array}{shadow}", prefix(image.sampled)));
}

fn scalar_word(scalar: Scalar) -> &'static str {
    match (scalar.kind, scalar.width) {
        (ScalarKind::Bool, _) => "bool",
        (ScalarKind::Sint, 8) => "int8_t",
        (ScalarKind::Sint, 16) => "int16_t",
        (ScalarKind::Sint, 64) => "int64_t",
        (ScalarKind::Sint, _) => "int",
        (ScalarKind::Uint, 8) => "uint8_t",
        (ScalarKind::Uint, 16) => "uint16_t",
        (ScalarKind::Uint, 64) => "uint64_t",
        (ScalarKind::Uint, _) => "uint",
        (ScalarKind::Float, 16) => "float16_t",
        (ScalarKind::Float, 64) => "double",
        (ScalarKind::Float, _) => "float",
        (ScalarKind::Encoded(encoding), _) => encoded_word(encoding),
    }
}

/// The prefix of `vec` and `mat`.
fn prefix(scalar: Scalar) -> &'static str {
    match (scalar.kind, scalar.width) {
        (ScalarKind::Bool, _) => "b",
        (ScalarKind::Sint, 8) => "i8",
        (ScalarKind::Sint, 16) => "i16",
        (ScalarKind::Sint, 64) => "i64",
        (ScalarKind::Sint, _) => "i",
        (ScalarKind::Uint, 8) => "u8",
        (ScalarKind::Uint, 16) => "u16",
        (ScalarKind::Uint, 64) => "u64",
        (ScalarKind::Uint, _) => "u",
        (ScalarKind::Float, 16) => "f16",
        (ScalarKind::Float, 64) => "d",
        (ScalarKind::Float, _) => "",
        (ScalarKind::Encoded(encoding), _) => encoding.name(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn round_trip(name: &str) {
        let (mut types, constants) = (Types::new(), Constants::default());
        let id = named(&mut types, name).expect(name);
        assert_eq!(display(&types, &constants, id), name);
    }

    #[test]
    fn names_and_types_correspond() {
        for name in ["void", "bool", "int", "uint", "float", "double"] {
            round_trip(name);
        }
        for size in 2..=4 {
            ["", "i", "u", "b", "d"].iter().for_each(|p| round_trip(&format!("{p}vec{size}")));
            ["", "d"].iter().for_each(|p| round_trip(&format!("{p}mat{size}")));
            ["bf16", "fe4m3", "fe5m2", "fe2m1"].iter().for_each(|p| round_trip(&format!("{p}vec{size}")));
        }
        ["dmat2x3", "bfloat16_t", "floate4m3_t", "floate5m2_t", "floate2m1_t"].iter().for_each(|name| round_trip(name));
    }

    #[test]
    fn square_matrices_have_two_names() {
        assert_eq!(type_name("mat3"), type_name("mat3x3"));
    }

    #[test]
    fn explicit_names_are_the_plain_types() {
        for (explicit, plain) in
            [("int32_t", "int"), ("float64_t", "double"), ("u32vec4", "uvec4"), ("f32mat2x3", "mat2x3")]
        {
            let mut types = Types::new();
            assert_eq!(named(&mut types, explicit), named(&mut types, plain), "{explicit}");
        }
        assert!(matches!(type_name("f64vec2"), Some(TypeName::Explicit(_))));
    }

    #[test]
    fn extended_types_are_recognized() {
        for name in ["int8_t", "float16_t", "u64vec2", "f16mat4"] {
            assert!(matches!(type_name(name), Some(TypeName::Extended(_))), "{name}");
        }
    }

    #[test]
    fn other_names_are_no_types() {
        for name in [
            "vec5",
            "vec",
            "mat",
            "imat2",
            "i32mat2",
            "int32",
            "int7_t",
            "images",
            "sampler2",
            "texture_x",
            "float8_t",
            "vector",
        ] {
            assert_eq!(type_name(name), None, "{name}");
        }
    }

    #[test]
    fn arrays_show_the_outer_dimension_first() {
        let (mut types, constants) = (Types::new(), Constants::default());
        let inner = types.array(Types::F32, ArrayLen::Fixed(3));
        let outer = types.array(inner, ArrayLen::Fixed(2));
        assert_eq!(display(&types, &constants, outer), "float[2][3]");
    }
}
