//! Compute shaders on the simulator: from source text to final buffer contents. This library uses no files, so that the
//! command `run` and a web page can share it.

pub mod compare;
pub mod element;
pub mod fill;
pub mod numbers;
pub mod usual;

use crate::backend::Made;
use crate::compile::{Input, Options, Parsed, parse};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::guard::bounded;
use crate::ir::spanning::spanned_apart;
use crate::ir::{Binding, Module, TypeId, Types};
use crate::kernel::pass::optimize;
use crate::kernel::{Buffer, BufferKind, Kernel, Specializations, finish, lower};
use crate::limits::Limits;
use crate::profile::Profile;
use crate::sim::{Dispatch, Execution, Memory, Program};
use crate::source::{Loader, SourceMap, Span};
use fill::Slot;

/// The meaning of cross-lane operations in a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Semantics {
    /// The instructions of the profile's plans, for a hardware profile.
    Plans,
    /// The definition of each operation.
    Meaning,
}

/// A shader that can run.
#[derive(Debug)]
pub struct Shader {
    pub module: Module,
    pub kernel: Kernel,
    /// Lanes of its waves.
    pub wave_size: u32,
}

/// The messages about a shader, and the sources that their spans point into.
#[derive(Debug)]
pub struct Found {
    pub diagnostics: Diagnostics,
    pub sources: SourceMap,
}

/// Parses a compute shader for a run on the profile of these options, in waves of the `usual` size where the profile and the
/// shader's own promise allow it, otherwise of the nearest one. Returns `None` and adds errors to the messages if it is wrong or
/// the profile cannot run it.
pub fn read(
    input: &Input<'_>,
    options: &Options,
    usual: u32,
    settings: &Specializations,
    loader: &dyn Loader,
    semantics: Semantics,
) -> (Option<Shader>, Found) {
    let (parsed, options) = sized(input, options, usual, loader);
    let mut found = Found { diagnostics: parsed.diagnostics, sources: parsed.sources };
    let Some((module, options)) = parsed.module.zip(found.diagnostics.take(options)) else { return (None, found) };
    let kernel = bounded(options.limits, || kernel(&module, &options, settings, semantics));
    let kernel = found.diagnostics.take(kernel.unwrap_or_else(|failure| Err(vec![failure])));
    let wave_size = options.profile.wave_size.unwrap_or(usual);
    (kernel.map(|kernel| Shader { module, kernel, wave_size }), found)
}

/// A shader that was parsed for waves of a known size, and the options with that size. The shader's own promise is only known
/// when it has been parsed; another size then means another parse, because its text may ask for the size.
fn sized(input: &Input<'_>, options: &Options, usual: u32, loader: &dyn Loader) -> (Parsed, Made<Options>) {
    let at = |profile: &Profile| Options { profile: profile.sized(usual), ..options.clone() };
    let first = at(&options.profile);
    let parsed = parse(input, &first, loader);
    let narrowed = |parsed: &Parsed| match &parsed.module {
        Some(module) => Ok(at(&*module.profile(&options.profile)?)),
        None => Ok(first.clone()),
    };
    match narrowed(&parsed) {
        Ok(chosen) if chosen.profile.wave_size != first.profile.wave_size => {
            let parsed = parse(input, &chosen, loader);
            let chosen = narrowed(&parsed);
            (parsed, chosen)
        }
        chosen => (parsed, chosen),
    }
}

/// The kernel that a hardware profile runs, or the optimised kernel for profiles whose drivers decide.
fn kernel(
    module: &Module,
    options: &Options,
    settings: &Specializations,
    semantics: Semantics,
) -> Result<Kernel, Vec<Diagnostic>> {
    if semantics == Semantics::Plans && options.profile.target.is_hardware() {
        return finish(module, settings, &options.profile);
    }
    let mut kernel = lower(&*spanned_apart(module, &options.profile)?, settings)?;
    if semantics == Semantics::Plans {
        optimize(&mut kernel);
    }
    Ok(kernel)
}

impl Shader {
    /// The type of a buffer's contents.
    pub fn ty(&self, buffer: &Buffer) -> TypeId {
        let at = Binding::Resource { set: buffer.set, binding: buffer.binding };
        let global = self.module.globals.iter().find(|(_, global)| global.binding == at);
        global.map_or(Types::VOID, |(_, global)| global.ty)
    }
}

/// A buffer in words: its place, kind, name and minimum size.
pub fn describe(buffer: &Buffer) -> String {
    let kind = match buffer.kind {
        BufferKind::Uniform => "uniform",
        BufferKind::Storage => "storage",
    };
    format!("binding {} ({kind} buffer `{}`, at least {} bytes)", Slot::of(buffer), buffer.name, buffer.bytes)
}

/// The memory of a buffer with these bytes.
///
/// # Errors
/// Returns an error if there are fewer bytes than the buffer needs.
pub fn contents(buffer: &Buffer, bytes: Vec<u8>) -> Result<Memory, String> {
    match bytes.len() < buffer.bytes as usize {
        true => Err(format!("{} bytes are too few for {}", bytes.len(), describe(buffer))),
        false => Ok(Memory::from(bytes)),
    }
}

/// Runs a kernel over its buffers, in waves of this many lanes, and returns their final contents.
///
/// # Errors
/// Returns the error that ended the run.
pub fn run(
    kernel: &Kernel,
    wave_size: u32,
    dispatch: &Dispatch<'_>,
    mut buffers: Vec<Memory>,
) -> Result<Vec<Memory>, Diagnostic> {
    bounded(Limits::default(), || {
        let program = Program::new(kernel, wave_size)?;
        program.run(dispatch, &mut buffers).map_err(|fault| fault.diagnostic())
    })??;
    Ok(buffers)
}

/// Runs a kernel, and returns the executions of the cross-lane operations at a place, with the fault if one ended the run.
pub fn watch(
    kernel: &Kernel,
    wave_size: u32,
    dispatch: &Dispatch<'_>,
    mut buffers: Vec<Memory>,
    span: Span,
) -> (Vec<Execution>, Option<Diagnostic>) {
    let watched = bounded(Limits::default(), || {
        let (executions, ended) = Program::new(kernel, wave_size)?.watch(dispatch, &mut buffers, span);
        Ok((executions, ended.err().map(|fault| fault.diagnostic())))
    });
    watched.and_then(|watched| watched).unwrap_or_else(|failure: Diagnostic| (Vec::new(), Some(failure)))
}
