//! A kernel as text for people: `--emit kernel`.
//!
//! Everything that a kernel states is shown; values and constructs are numbered in the order of the text, so that the same
//! kernel always gives the same text. The text is for reading; nothing reads it back.

mod body;
mod operation;

use super::{Buffer, Kernel, Ty};
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
    let mut text = format!("kernel {}, workgroup {x} x {y} x {z} {{\n", kernel.name);
    for (index, buffer) in kernel.buffers.iter().enumerate() {
        text += &buffer_text(index, buffer);
    }
    let memories = [("push", kernel.push_bytes), ("shared", kernel.shared_bytes), ("private", kernel.private_bytes)];
    for (name, bytes) in memories.into_iter().filter(|(_, bytes)| *bytes > 0) {
        writeln!(text, "    {name} {bytes} bytes").expect("a string takes everything");
    }
    text
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
