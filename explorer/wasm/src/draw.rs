//! A fragment shader for the browser's GPU: its WGSL, what it binds, and the contents of its buffers.

use crate::answer::{Drawing, Filled};
use crate::open::{Open, first_error};
use crate::trial::{described, words};
use crosslane::backend::places::Places;
use crosslane::compile::{Artifact, Compilation, EmitKind, Options, Verdict, compile};
use serde::Deserialize;
use std::collections::BTreeMap;

/// The place of push constants, which WGSL lacks: the last group that every GPU has.
const PUSH_CONSTANTS: &str = "3:0";

/// Numbers in a storage buffer whose array has no length.
const OPEN: u32 = 64;

/// The part of a reflection that says the buffers.
#[derive(Deserialize)]
struct Reflection {
    buffers: Vec<Buffer>,
}

#[derive(Deserialize)]
struct Buffer {
    set: u32,
    binding: u32,
    bytes: u32,
}

pub fn draw(open: &Open, lanes: Option<u32>, fills: &BTreeMap<String, String>) -> Result<Drawing, String> {
    let push_constants = PUSH_CONSTANTS.parse().ok();
    let places = Places { push_constants, ..Places::default() };
    let options = Options { places, ..open.for_browser(lanes)? };
    let text = match compiled(open, &options, EmitKind::Assembly) {
        Ok(text) => text,
        Err(refused) => {
            return Ok(Drawing { text: None, refused: Some(refused), reflection: None, buffers: Vec::new() });
        }
    };
    let reflection = compiled(open, &options, EmitKind::Reflection)?;
    let known: Reflection = serde_json::from_str(&reflection).map_err(|error| error.to_string())?;
    let buffers = known.buffers.iter().map(|buffer| filled(buffer, fills)).collect::<Result<_, _>>()?;
    Ok(Drawing { text: Some(text), refused: None, reflection: Some(reflection), buffers })
}

pub fn compiled(open: &Open, options: &Options, emit: EmitKind) -> Result<String, String> {
    let options = Options { emit, ..options.clone() };
    let Compilation { verdict, diagnostics, .. } = compile(&open.input(), &options, open.files());
    match verdict {
        Verdict::Done(Artifact::Text(text)) => Ok(text),
        _ => Err(first_error(diagnostics.iter())),
    }
}

/// The contents of a buffer: those that are given, otherwise ones, which most uniforms bear.
fn filled(buffer: &Buffer, fills: &BTreeMap<String, String>) -> Result<Filled, String> {
    let Buffer { set, binding, bytes } = *buffer;
    let slot = if set == 0 { binding.to_string() } else { format!("{set}.{binding}") };
    let count = if bytes == 0 { OPEN } else { bytes.div_ceil(4) };
    let given = fills.get(&slot).filter(|fill| !fill.trim().is_empty());
    let fill = given.map_or_else(|| format!("f32:{}", vec!["1"; count as usize].join(",")), |fill| fill.trim().into());
    let content = described(&fill)?;
    match content.len() < bytes as usize {
        true => Err(format!("binding {slot} has {bytes} bytes; {} are too few", content.len())),
        false => Ok(Filled { slot, fill, words: words(&content) }),
    }
}
