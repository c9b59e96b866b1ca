//! The blocks of a shader as Rust structs of the same layout. Padding is explicit, so that no byte is undefined, and
//! the offsets are checked when the structs are compiled.

use super::rust::{identifier, no_keyword};
use crate::backend::reflection::{Interface, ResourceKind, Shape, Structure};
use std::fmt::Write;

/// Limit of the nesting of layouts, for callers that provide their own memory.
const DEPTH: usize = 64;

/// A type of Rust.
#[derive(Clone)]
struct Type {
    text: String,
    size: u32,
    align: u32,
    /// Its value with all bits 0.
    zero: String,
}

impl Type {
    fn array(self, count: u32) -> Option<Type> {
        let Type { text, size, align, zero } = self;
        let size = size.checked_mul(count)?;
        Some(Type { text: format!("[{text}; {count}]"), size, align, zero: format!("[{zero}; {count}]") })
    }
}

/// The Rust type of a scalar in memory: `u16` for a half, `u32` for a `bool`.
fn scalar(name: &str) -> Option<Type> {
    let (text, size) = match name {
        "f32" | "i32" | "u32" => (name, 4),
        "f64" | "i64" | "u64" => (name, 8),
        "i16" | "u16" => (name, 2),
        "i8" | "u8" => (name, 1),
        "f16" => ("u16", 2),
        "bool" => ("u32", 4),
        _ => return None,
    };
    let zero = if text.starts_with('f') { "0.0" } else { "0" };
    Some(Type { text: text.into(), size, align: size, zero: zero.into() })
}

/// Writes the structs of one shader.
struct Writer<'i> {
    structs: &'i [Structure],
    /// The names of the structs, by index.
    names: Vec<String>,
    derives: &'static str,
    /// The result for each struct tried so far.
    made: Vec<Option<Option<Type>>>,
    out: String,
}

/// The text of the blocks that a caller fills or reads, and of the structs in them; empty if there are none. With
/// `bytemuck` the structs derive its traits.
pub fn text(interface: &Interface, bytemuck: bool) -> String {
    let structs = &interface.structs;
    let derives = match bytemuck {
        true => "Clone, Copy, PartialEq, Debug, bytemuck::Pod, bytemuck::Zeroable",
        false => "Clone, Copy, PartialEq, Debug",
    };
    let (names, made) = (unique_names(structs), vec![None; structs.len()]);
    let mut writer = Writer { structs, names, derives, made, out: String::new() };
    let is_buffer = |kind| matches!(kind, ResourceKind::UniformBuffer | ResourceKind::StorageBuffer);
    let buffers = interface.resources.iter().filter(|resource| is_buffer(resource.kind)).map(|buffer| &buffer.shape);
    let others = [&interface.push_constants, &interface.shader_record].into_iter().flatten().map(|block| &block.shape);
    for place in buffers.chain(others).filter_map(|shape| shape.structure) {
        writer.structure(place, 0);
    }
    writer.out
}

/// Valid Rust names; structs with the same name get a number.
fn unique_names(structs: &[Structure]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for item in structs {
        let mut plain = no_keyword(identifier(&item.name));
        if scalar(&plain).is_some() || plain == "usize" {
            plain.push('_');
        }
        let is_taken = |name: &String| names.contains(name);
        let numbered = (2..).map(|number| format!("{plain}_{number}"));
        let name = std::iter::once(plain.clone()).chain(numbered).find(|name| !is_taken(name));
        names.push(name.unwrap_or_default());
    }
    names
}

impl Writer<'_> {
    /// The struct at an index, written once; `None` if Rust cannot express it.
    fn structure(&mut self, place: usize, depth: usize) -> Option<Type> {
        if let Some(made) = &self.made[place] {
            return made.clone();
        }
        // A struct that a reference leads back to is only an address.
        self.made[place] = Some(None);
        let made = (depth < DEPTH).then(|| self.fields(place, depth)).flatten();
        self.made[place] = Some(made.clone());
        made
    }

    fn fields(&mut self, place: usize, depth: usize) -> Option<Type> {
        let (item, name) = (&self.structs[place], self.names[place].clone());
        let (mut fields, mut checks, mut zeros) = (String::new(), String::new(), String::new());
        let (mut end, mut align, mut pads) = (0, 1, 0);
        let mut pad = |fields: &mut String, zeros: &mut String, bytes: u32| {
            let _ = write!(fields, "            #[doc(hidden)]\n            pub _pad{pads}: [u8; {bytes}],\n");
            let _ = write!(zeros, "_pad{pads}: [0; {bytes}], ");
            pads += 1;
        };
        for member in &item.members {
            let (field, offset) = (no_keyword(identifier(&member.name)), member.offset?);
            let ty = self.shape(&member.shape, &format!("{name}_{field}"), depth)?;
            if member.shape.array.first() == Some(&0) {
                let _ = write!(
                    self.out,
                    "\n        /// An element of `{}`, of which `{}` has as many as are bound, from byte {offset} on.\n        \
                     pub type {name}_{field} = {};\n",
                    member.name, item.name, ty.text
                );
                break;
            }
            if offset < end || offset % ty.align != 0 {
                return None;
            }
            if offset > end {
                pad(&mut fields, &mut zeros, offset - end);
            }
            let _ = writeln!(fields, "            pub {field}: {},", ty.text);
            let _ = writeln!(checks, "            assert!(core::mem::offset_of!({name}, {field}) == {offset});");
            let _ = write!(zeros, "{field}: {}, ", ty.zero);
            (end, align) = (offset.checked_add(ty.size)?, align.max(ty.align));
        }
        if end == 0 {
            return None;
        }
        let size = end.next_multiple_of(align);
        if size > end {
            pad(&mut fields, &mut zeros, size - end);
        }
        let _ = write!(
            self.out,
            "\n        /// `{}`, {size} bytes.\n        #[derive({})]\n        #[repr(C)]\n        pub struct {name} {{\n{fields}        \
             }}\n\n        impl {name} {{\n            /// All bits are 0.\n            pub const ZERO: {name} = {name} {{ {} }};\n        \
             }}\n\n        const _: () = {{\n{checks}            assert!(core::mem::size_of::<{name}>() == {size});\n        }};\n",
            item.name,
            self.derives,
            zeros.trim_end_matches(", "),
        );
        Some(Type { zero: format!("{name}::ZERO"), text: name, size, align })
    }

    /// The type of a member, or the element of an array that only the run sizes.
    fn shape(&mut self, shape: &Shape, name: &str, depth: usize) -> Option<Type> {
        let mut ty = self.single(shape, depth)?;
        if shape.array.len() != shape.array_strides.len() {
            return None;
        }
        for (level, (count, stride)) in shape.array.iter().zip(&shape.array_strides).enumerate().rev() {
            ty = self.strided(ty, *stride, name, level)?;
            ty = if *count == 0 { ty } else { ty.array(*count)? };
        }
        Some(ty)
    }

    fn single(&mut self, shape: &Shape, depth: usize) -> Option<Type> {
        if let Some(place) = shape.structure {
            let made = self.structure(place, depth + 1);
            return if shape.ty.starts_with("ref<") { scalar("u64") } else { made };
        }
        let Some((kind, of)) = shape.ty.strip_suffix('>').and_then(|ty| ty.split_once('<')) else {
            return scalar(&shape.ty);
        };
        let of = scalar(of)?;
        if let Some(size) = kind.strip_prefix("vec") {
            return of.array(size.parse().ok()?);
        }
        let (columns, rows) = kind.strip_prefix("mat")?.split_once('x')?;
        let lines = if shape.row_major { rows } else { columns };
        let per_line = shape.matrix_stride? / of.size;
        of.array(per_line)?.array(lines.parse().ok()?)
    }

    /// An array element with this stride in bytes: a struct with padding if it is shorter.
    fn strided(&mut self, ty: Type, stride: u32, name: &str, level: usize) -> Option<Type> {
        if ty.size == stride {
            return Some(ty);
        }
        let bytes = stride.checked_sub(ty.size).filter(|_| stride.is_multiple_of(ty.align))?;
        let name = if level == 0 { format!("{name}_item") } else { format!("{name}_item{level}") };
        let (text, align, zero, derives) = (&ty.text, ty.align, &ty.zero, self.derives);
        let _ = write!(
            self.out,
            "\n        /// An element, {stride} bytes.\n        #[derive({derives})]\n        #[repr(C)]\n        pub struct {name} {{\n            \
             pub value: {text},\n            #[doc(hidden)]\n            pub _pad0: [u8; {bytes}],\n        }}\n\n        impl {name} {{\n            \
             /// All bits are 0.\n            pub const ZERO: {name} = {name} {{ value: {zero}, _pad0: [0; {bytes}] }};\n        }}\n\n        \
             const _: () = assert!(core::mem::size_of::<{name}>() == {stride});\n"
        );
        Some(Type { zero: format!("{name}::ZERO"), text: name, size: stride, align })
    }
}
