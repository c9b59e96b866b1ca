//! The shader's buffers and their contents from the command line.

use super::request::{Print, Request};
use super::table;
use crate::cli::CommandError;
use crate::diagnostic::{Code, Diagnostic};
use crate::kernel::{Buffer, Kernel};
use crate::sim::Memory;
use crate::simulate::fill::Slot;
use crate::simulate::{contents, describe};

/// Warnings about contents for buffers that the shader does not use.
pub fn unused<'a>(kernel: &'a Kernel, fills: &'a [(Slot, Vec<u8>)]) -> impl Iterator<Item = Diagnostic> + 'a {
    let unused = fills.iter().filter(|(slot, _)| !kernel.buffers.iter().any(|buffer| is_at(buffer, *slot)));
    unused.map(|(slot, _)| {
        let warning = Diagnostic::warning(Code::UNUSED_BUFFER, format!("the shader uses no buffer at binding {slot}"));
        let used: Vec<String> = kernel.buffers.iter().map(describe).collect();
        match used.is_empty() {
            true => warning.help("leave its `--buffer` out"),
            false => warning.help(format_args!("it uses {}", used.join(", "))),
        }
    })
}

/// The contents of the kernel's buffers, in their order.
pub fn bind(kernel: &Kernel, fills: &[(Slot, Vec<u8>)]) -> Result<Vec<Memory>, CommandError> {
    let missing: Vec<String> =
        kernel.buffers.iter().filter(|buffer| filled(fills, buffer).is_none()).map(describe).collect();
    if !missing.is_empty() {
        let example =
            kernel.buffers.iter().find(|buffer| filled(fills, buffer).is_none()).map_or(String::new(), number);
        return Err(CommandError(format!(
            "no data for {}; use --buffer {example}=FILE or --buffer {example}=zeros:u32:64",
            missing.join(", ")
        )));
    }
    let content = |buffer: &Buffer| contents(buffer, filled(fills, buffer).unwrap_or_default().to_vec());
    kernel.buffers.iter().map(content).collect::<Result<_, String>>().map_err(CommandError)
}

/// The contents of a buffer from the last `--buffer` for it.
fn filled<'a>(fills: &'a [(Slot, Vec<u8>)], buffer: &Buffer) -> Option<&'a [u8]> {
    fills.iter().rev().find(|(slot, _)| is_at(buffer, *slot)).map(|(_, bytes)| bytes.as_slice())
}

fn is_at(buffer: &Buffer, slot: Slot) -> bool {
    Slot::of(buffer) == slot
}

/// A buffer's place in the form of the options.
pub fn number(buffer: &Buffer) -> String {
    Slot::of(buffer).to_string()
}

pub fn check_push(kernel: &Kernel, push: &[u8]) -> Result<(), CommandError> {
    match push.len() < kernel.push_bytes as usize {
        true => Err(CommandError(format!(
            "the shader has {} bytes of push constants and {} are given; use --push FILE or --push f32:1,2,3",
            kernel.push_bytes,
            push.len()
        ))),
        false => Ok(()),
    }
}

/// The buffers to print: the requested ones, otherwise all that may have changed.
pub fn shown(kernel: &Kernel, request: &Request) -> Result<Vec<Print>, CommandError> {
    let asked = request.prints.iter().map(|print| print.slot).chain(request.outs.iter().map(|(slot, _)| *slot));
    for slot in asked {
        place(kernel, slot)?;
    }
    if !(request.prints.is_empty() && request.outs.is_empty()) {
        return Ok(request.prints.clone());
    }
    let written = kernel.buffers.iter().filter(|buffer| buffer.is_writable());
    Ok(written.map(|buffer| Print { slot: Slot::of(buffer), element: None, limit: table::SHOWN }).collect())
}

/// Number of the buffer at a place.
pub fn place(kernel: &Kernel, slot: Slot) -> Result<usize, CommandError> {
    kernel.buffers.iter().position(|buffer| is_at(buffer, slot)).ok_or_else(|| {
        let known: Vec<String> = kernel.buffers.iter().map(|b| format!("{} (`{}`)", number(b), b.name)).collect();
        CommandError(format!("the shader has no buffer at binding {slot}; it has {}", known.join(", ")))
    })
}
