//! How types are written: `f32`, `vec3<u32>`, `mat4x3<f32>`, `[f32; 8]`, `ptr<storage, T>`.

use super::{snake, space_name};
use crate::ir::{ArrayLen, ConstId, ImageDim, ImageType, MatrixLayout, Scalar, StructId, Type, TypeId, Types};

/// A type's text in a message, with the declared names of structs.
pub fn type_name(types: &Types, ty: TypeId) -> String {
    let mut text = String::new();
    write_type(&mut text, types, ty, &|id| types.structs[id].name.to_string(), &|_| "spec".to_owned());
    text
}

/// Appends a type's text; the caller names structs and specialization-constant lengths.
pub fn write_type(
    out: &mut String,
    types: &Types,
    ty: TypeId,
    struct_name: &dyn Fn(StructId) -> String,
    length: &dyn Fn(ConstId) -> String,
) {
    let text = match types.get(ty) {
        Type::Void => "void".to_owned(),
        Type::Scalar(scalar) => scalar_name(scalar),
        Type::Vector { scalar, size } => format!("vec{size}<{}>", scalar_name(scalar)),
        Type::Matrix { scalar, columns, rows, layout } => {
            format!("mat{columns}x{rows}<{}{}>", scalar_name(scalar), layout_text(layout))
        }
        Type::Array { element, len, stride } => {
            out.push('[');
            write_type(out, types, element, struct_name, length);
            array_tail(len, stride, length)
        }
        Type::Struct(id) => struct_name(id),
        Type::Pointer { space, pointee } => {
            out.push_str(&format!("ptr<{}, ", space_name(space)));
            write_type(out, types, pointee, struct_name, length);
            ">".to_owned()
        }
        Type::BufferReference { pointee } => {
            format!("ref<{} align {}>", struct_name(pointee), types.reference_align(pointee))
        }
        Type::Image(image) => image_text("image", image),
        Type::SampledImage(image) => image_text("sampled", image),
        Type::Sampler => "sampler".to_owned(),
        Type::AtomicCounter => "atomic-counter".to_owned(),
        Type::AccelerationStructure => "acceleration-structure".to_owned(),
        Type::RayQuery => "ray-query".to_owned(),
        Type::HitObject { nvidia } => if nvidia { "hit-object-nv" } else { "hit-object" }.to_owned(),
        Type::Foreign(index) => format!("foreign<{index}>"),
        Type::CooperativeMatrix(matrix) => {
            out.push_str("cooperative<");
            write_type(out, types, matrix.element, struct_name, length);
            let [scope, rows, columns] = [matrix.scope, matrix.rows, matrix.columns].map(length);
            format!(", scope {scope}, {rows} x {columns}, {}>", snake(matrix.role))
        }
    };
    out.push_str(&text);
}

pub fn scalar_name(scalar: Scalar) -> String {
    scalar.kind.name(scalar.width)
}

fn layout_text(layout: Option<MatrixLayout>) -> String {
    match layout {
        None => String::new(),
        Some(layout) => format!(" stride {}{}", layout.stride, if layout.row_major { " row-major" } else { "" }),
    }
}

/// The text after the element type: `; 8 stride 16]`.
fn array_tail(len: ArrayLen, stride: Option<u32>, length: &dyn Fn(ConstId) -> String) -> String {
    let count = match len {
        ArrayLen::Fixed(count) => format!("; {count}"),
        ArrayLen::Spec(id) => format!("; {}", length(id)),
        ArrayLen::Runtime => String::new(),
    };
    let stride = stride.map(|stride| format!(" stride {stride}")).unwrap_or_default();
    format!("{count}{stride}]")
}

fn image_text(word: &str, image: ImageType) -> String {
    let dim = match image.dim {
        ImageDim::D1 => "1d",
        ImageDim::D2 => "2d",
        ImageDim::D3 => "3d",
        ImageDim::Cube => "cube",
        ImageDim::Rect => "rect",
        ImageDim::Buffer => "buffer",
        ImageDim::SubpassInput => "subpass",
        ImageDim::Tile => "tile",
    };
    let flags = [
        (image.arrayed, " array"),
        (image.multisampled, " multisampled"),
        (image.depth, " depth"),
        (image.storage, " storage"),
    ];
    let flags: String = flags.iter().filter(|(set, _)| *set).map(|(_, word)| *word).collect();
    let format = if image.format == 0 { String::new() } else { format!(" format {}", image.format) };
    format!("{word}<{dim} {}{flags}{format}>", scalar_name(image.sampled))
}
