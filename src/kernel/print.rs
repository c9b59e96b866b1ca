//! A kernel as text for people: `--emit kernel`.
//!
//! The text shows everything in a kernel except source positions; values and constructs are numbered in text order, so
//! the same kernel always gives the same text. Constants have 32 bits unless they name another type. The tests parse
//! the text (`tests/support/kernel`).

mod body;
mod operation;

use super::{BindingPoint, Buffer, BufferWrites, Choices, Image, Kernel, LaneContract, Ty};
use crate::ir::print::{scalar_name, snake};
use crate::ir::{DepthPromise, FragmentModes};
use crate::kernel::Stage;
use crate::source::SourceMap;
use body::Body;
use std::fmt::Write;

/// The text of a kernel. With `sources`, each instruction that starts a new source line shows its place.
pub fn print(kernel: &Kernel, sources: Option<&SourceMap>) -> String {
    let mut body = Body::new(kernel, sources);
    body.block(kernel.body);
    let text = body.finish();
    format!("{}{text}}}\n", head(kernel))
}

/// The declarations of a kernel.
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
        let wide = if input.wide { " wide" } else { "" };
        let line = format!("    input {} {}: {interpolation} {sampling}{wide}\n", input.location, name(&input.name));
        text += &line;
    }
    for output in &kernel.outputs {
        text += &format!("    output {}: {}\n", name(&output.name), operation::site_text(output.site));
    }
    text += &modes_text(kernel.fragment);
    text += &contract_text(kernel.lanes);
    for (operation, set_ups) in kernel.set_ups.iter().enumerate().filter(|(_, set_ups)| !set_ups.is_empty()) {
        let set_ups: String = set_ups.iter().map(|set_up| format!(" {set_up}")).collect();
        text += &format!("    operation {operation} needs{set_ups}\n");
    }
    let memories = [("push", kernel.push_bytes), ("shared", kernel.shared_bytes), ("private", kernel.private_bytes)];
    for (name, bytes) in memories.into_iter().filter(|(_, bytes)| *bytes > 0) {
        writeln!(text, "    {name} {bytes} bytes").expect("a string takes everything");
    }
    for (index, variable) in kernel.private.iter().enumerate() {
        let super::PrivateVariable { start, bytes, align } = variable;
        text += &format!("    variable {index}: {bytes} bytes at {start} align {align}\n");
    }
    text
}

fn name(name: &str) -> &str {
    if name.is_empty() { "_" } else { name }
}

fn modes_text(modes: FragmentModes) -> String {
    let flags = [
        (modes.early_tests, "early_tests"),
        (modes.early_and_late_tests, "early_and_late_tests"),
        (modes.full_quads, "full_quads"),
        (modes.quad_derivatives, "quad_derivatives"),
        (modes.post_depth_coverage, "post_depth_coverage"),
        (modes.override_coverage, "override_coverage"),
    ];
    let mut words: Vec<String> = flags.iter().filter(|(set, _)| *set).map(|(_, word)| (*word).to_owned()).collect();
    words.extend(modes.non_coherent.iter_names().map(|(name, _)| format!("non_coherent.{}", name.to_lowercase())));
    if modes.depth != DepthPromise::Any {
        words.push(format!("depth.{}", snake(modes.depth)));
    }
    if let Some(interlock) = modes.interlock {
        let (sample, ordered) = (interlock.of_sample, interlock.ordered);
        let of = if sample { ".sample" } else { ".pixel" };
        words.push(format!("interlock{of}{}", if ordered { ".ordered" } else { "" }));
    }
    if words.is_empty() { String::new() } else { format!("    modes {}\n", words.join(" ")) }
}

fn contract_text(LaneContract { widest, whole_subgroup }: LaneContract) -> String {
    let whole = if whole_subgroup { " whole subgroup" } else { "" };
    widest.map(|lanes| format!("    lanes {lanes}{whole}\n")).unwrap_or_default()
}

fn image_text(index: usize, image: &Image) -> String {
    let sampler = image.sampler.map(|sampler| format!(", sampler {}", point_text(sampler, image.sampler_choices)));
    let sampler = sampler.unwrap_or_default();
    let shape = format!("{} {}", scalar_name(image.ty.sampled), snake(image.ty.dim));
    let format = format!(" format {}", image.ty.format);
    let flags = [
        (image.ty.arrayed, " array"),
        (image.ty.multisampled, " multisampled"),
        (image.ty.depth, " depth"),
        (!image.ty.storage, " sampled"),
        (image.ty.format != 0, &format),
        (image.compares, " compares"),
        (image.writable, " writable"),
        (image.coherent, " coherent"),
        (image.volatile, " volatile"),
    ];
    let flags: String = flags.iter().filter(|(set, _)| *set).map(|(_, word)| *word).collect();
    format!(
        "    image {index} {}: {} {shape}{flags}{sampler}\n",
        name(&image.name),
        point_text(image.place, image.choices)
    )
}

/// `set 0 binding 1 element 0`, followed by `of 3` if an index selects from three, and `step 2` for their stride.
fn point_text(BindingPoint { set, binding, element }: BindingPoint, Choices { count, step }: Choices) -> String {
    let of = if count > 1 { format!(" of {count}") } else { String::new() };
    let by = if step > 1 { format!(" step {step}") } else { String::new() };
    format!("set {set} binding {binding} element {element}{of}{by}")
}

fn buffer_text(index: usize, buffer: &Buffer) -> String {
    let Buffer { kind, set, binding, element, bytes, writes, .. } = buffer;
    let access = match writes {
        BufferWrites::Here => "",
        BufferWrites::Elsewhere => " read-only",
        BufferWrites::Never => " constant",
    };
    let element = if *element == 0 { String::new() } else { format!(" element {element}") };
    let name = name(&buffer.name);
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
