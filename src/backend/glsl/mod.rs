//! GLSL as a target, written from the typed form: descriptor sets, narrow and wide types, buffer references, layouts,
//! specialization constants and push constants stay as they are.
//!
//! Structured control flow stays. Values with a single use are written in place; all others get a name. One file per
//! subject: `dialect` (versions and extensions), `names`, `types`, `constants`, `globals`, `layout` (of blocks), `entry`,
//! `uses` (of values and variables), `function`, `memory`, `control`, `exits` (jumps out of arms with cross-lane
//! operations), `math`, `bits`, `image`, `inout` (arguments that functions write), `lane`, `expr` and `tree` (expressions
//! and statements as text).

mod bits;
mod constants;
mod control;
mod dialect;
mod entry;
mod exits;
mod expr;
mod function;
mod globals;
mod image;
mod inout;
mod lane;
mod layout;
mod math;
mod memory;
mod names;
mod reflection;
mod tree;
mod types;
mod uses;
mod writer;

use super::written::{Code, Unit};
use super::{Artifact, Backend, Form, Made, ModuleWriter, Options, Writer as BackendWriter};
use crate::ir::Module;
use crate::source::SourceMap;
use writer::Writer;

/// The row of the back end.
pub(super) const BACKEND: Backend = Backend {
    units: &[Unit::Subgroup, Unit::Arithmetic, Unit::Control],
    unit,
    mnemonic: |_| None,
    writer: BackendWriter::Module(ModuleWriter { write, written, losses: |_, _| Vec::new() }),
};

fn write(module: &Module, form: Form, options: &Options, _: &SourceMap) -> Made<Artifact> {
    let module = &*options.places.applied(module, options.profile.target);
    let shader = Writer::new(module, options).run()?;
    Ok(Artifact::Text(match form {
        Form::Binary | Form::Text => shader.text(),
        Form::Reflection => reflection::json(&shader, module, options)?,
    }))
}

fn written(module: &Module, options: &Options, _: &SourceMap) -> Made<Code> {
    Ok(Writer::new(&options.places.applied(module, options.profile.target), options).run()?.code())
}

/// The unit that runs a line.
fn unit(line: &str) -> Unit {
    const LANES: [&str; 9] =
        ["subgroup", "Invocation", "shuffle", "ballot", "Ballot", "anyThread", "allThreads", "mbcnt", "quadSwizzle"];
    const CONTROL: [&str; 8] = ["if (", "for (", "while (", "do {", "}", "break", "continue", "switch ("];
    let line = line.trim();
    match line {
        _ if LANES.iter().any(|word| calls(line, word)) => Unit::Subgroup,
        _ if CONTROL.iter().any(|word| line.starts_with(word)) => Unit::Control,
        _ => Unit::Arithmetic,
    }
}

/// Returns true if a line calls a function whose name holds a word.
fn calls(line: &str, word: &str) -> bool {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    line.split_inclusive(|c| !is_part(c)).any(|part| part.ends_with('(') && part.contains(word))
}
