//! A kernel as text for people: `--emit kernel`.
//!
//! Everything that a kernel states is shown; values and constructs are numbered in the order of the text, so that the same
//! kernel always gives the same text. The text is for reading; nothing reads it back.

mod body;
mod operation;

use super::{BindingPoint, Buffer, Image, Kernel, Ty};
use crate::ir::Stage;
use crate::ir::print::snake;
use crate::source::SourceMap;
use body::Body;
use std::fmt::Write;

/// The text of a kernel. With `sources` each instruction that begins a new source line says where it comes from.
pub fn print(kernel: &Kernel, sources: Option<&SourceMap>) -> String {
    let mut body = Body::new(kernel, sources);
    body.block(kernel.body);
    let text = body.finish();
    format!("{}{text}}}\n", head(kernel))
}

/// What the kernel declares.
fn head(kernel: &Kernel) -> String {
    let [x, y, z] = kernel.workgroup_size;
    let mut text = match kernel.stage {
        Stage::Compute => format!("kernel {}, workgroup {x} x {y} x {z} {{\n", kernel.name),
        stage => format!("{} kernel {} {{\n", stage.name(), kernel.name),
    };
    for (index, buffer) in kernel.buffers.iter().enumerate() {
        text += &buffer_text(index, buffer);
    }
    for (index, image) in kernel.images.iter().enumerate() {
        text += &image_text(index, image);
    }
    for input in &kernel.inputs {
        let (interpolation, sampling) = (snake(input.interpolation), snake(input.sampling));
        let line = format!("    input {} {}: {interpolation} {sampling}\n", input.location, input.name);
        text += &line;
    }
    let memories = [("push", kernel.push_bytes), ("shared", kernel.shared_bytes), ("private", kernel.private_bytes)];
    for (name, bytes) in memories.into_iter().filter(|(_, bytes)| *bytes > 0) {
        writeln!(text, "    {name} {bytes} bytes").expect("a string takes everything");
    }
    text
}

fn image_text(index: usize, image: &Image) -> String {
    let point = |BindingPoint { set, binding, element }| format!("set {set} binding {binding} element {element}");
    let sampler = image.sampler.map(|sampler| format!(", sampler {}", point(sampler))).unwrap_or_default();
    let what = if image.ty.storage { format!("format {}", image.ty.format) } else { "sampled".to_owned() };
    let shape = format!("{}{}", snake(image.ty.dim), if image.ty.arrayed { " array" } else { "" });
    format!("    image {index} {}: {} {shape} {what}{sampler}\n", image.name, point(image.place))
}

fn buffer_text(index: usize, buffer: &Buffer) -> String {
    let Buffer { name, kind, set, binding, element, bytes, writable, .. } = buffer;
    let access = if *writable { "" } else { " read-only" };
    let element = if *element == 0 { String::new() } else { format!(" element {element}") };
    let name = if name.is_empty() { "_" } else { name };
    format!("    buffer {index} {name}: {} set {set} binding {binding}{element}, {bytes} bytes{access}\n", snake(kind))
}

/// The name of a type.
pub fn type_name(ty: Ty) -> &'static str {
    match ty {
        Ty::Bool => "bool",
        Ty::B16 => "b16",
        Ty::B32 => "b32",
        Ty::B64 => "b64",
        Ty::Mask => "mask",
    }
}

#[cfg(test)]
mod tests;
