//! `crosslane run`: one compute shader on the CPU, over buffers that the command line fills, prints and writes.

mod bind;
mod element;
mod fill;
mod request;
mod table;

use super::args::RunArgs;
use super::compile::macros;
use super::output::{Sink, to_stdout};
use super::{CommandError, Exit, Outcome, input, messages};
use crate::build::files::FileLoader;
use crate::compile::{EmitKind, Input, Options, parse};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::ir::Module;
use crate::kernel::pass::optimize;
use crate::kernel::{Kernel, finish, lower};
use crate::profile::Target;
use crate::sim::{Dispatch, Memory, Program, Undefined};
use crate::source::SourceMap;
use bind::{bind, check_push, number, place, shown, unused};
use fill::Slot;
use request::{Print, Request};

pub fn run(args: &RunArgs) -> Outcome {
    let request = Request::read(args)?;
    let (kernel, mut found) = match kernel(args, &request)? {
        Ok(done) => done,
        Err(found) => return Ok(found.report(args)),
    };
    let mut memories = bind(&kernel, &request.fills)?;
    check_push(&kernel, &request.push)?;
    let shown = shown(&kernel, &request)?;
    if !args.messages.no_warnings {
        unused(&kernel, &request.fills).for_each(|warning| found.diagnostics.push(warning));
    }
    if let Err(problem) = simulate(args, &request, &kernel, &mut memories) {
        found.diagnostics.push(problem);
        return Ok(found.report(args));
    }
    messages::print(&args.messages, &found.sources, &found.diagnostics);
    show(&kernel, &memories, &shown, &request.outs)?;
    Ok(Exit::Done)
}

/// The messages about a shader, and its sources.
struct Found {
    diagnostics: Diagnostics,
    sources: SourceMap,
}

impl Found {
    /// Prints the messages of a shader that cannot run, or not to its end.
    fn report(&self, args: &RunArgs) -> Exit {
        messages::print(&args.messages, &self.sources, &self.diagnostics);
        if self.diagnostics.errors_are_refusals() { Exit::ProfileLacks } else { Exit::ShaderWrong }
    }
}

/// The kernel to run, or the shader's messages.
fn kernel(args: &RunArgs, request: &Request) -> Result<Result<(Kernel, Found), Found>, CommandError> {
    let shader = input::read(&args.source)?;
    let options = Options {
        stage: shader.stage,
        entry: args.source.entry.clone(),
        macros: macros(&args.source.defines, &args.source.undefines)?,
        emit: EmitKind::Ir,
        deny_warnings: args.messages.deny_warnings,
        no_warnings: args.messages.no_warnings,
        ..Options::new(request.profile.clone())
    };
    let loader = FileLoader { directories: args.source.include_dirs.clone() };
    let input = Input { name: &shader.name, bytes: &shader.bytes, language: shader.language };
    let parsed = parse(&input, &options, &loader);
    let mut found = Found { diagnostics: parsed.diagnostics, sources: parsed.sources };
    let Some(module) = parsed.module else { return Ok(Err(found)) };
    Ok(match prepare(&module, request, args.reference) {
        Ok(kernel) => Ok((kernel, found)),
        Err(messages) => {
            messages.into_iter().for_each(|message| found.diagnostics.push(message));
            Err(found)
        }
    })
}

/// The kernel that a profile of hardware runs; for SPIR-V, whose drivers choose, the optimised one.
fn prepare(module: &Module, request: &Request, reference: bool) -> Result<Kernel, Vec<Diagnostic>> {
    if !reference && request.profile.target != Target::Spirv {
        // Its warnings speak of what a run shows.
        return finish(module, 0, &request.settings, &request.profile).map(|finished| finished.kernel);
    }
    let mut kernel = lower(module, 0, &request.settings)?;
    if !reference {
        optimize(&mut kernel);
    }
    Ok(kernel)
}

fn simulate(args: &RunArgs, request: &Request, kernel: &Kernel, memories: &mut [Memory]) -> Result<(), Diagnostic> {
    let undefined = if args.keep_undefined { Undefined::Keep } else { Undefined::Refuse };
    let dispatch = Dispatch { groups: request.groups, push: &request.push, max_steps: args.max_steps, undefined };
    let program = Program::new(kernel, request.wave_size)?;
    program.run(&dispatch, memories).map_err(|fault| fault.diagnostic())
}

fn show(kernel: &Kernel, memories: &[Memory], prints: &[Print], outs: &[(Slot, Sink)]) -> Result<(), CommandError> {
    for print in prints {
        let n = place(kernel, print.slot)?;
        let title = format!("{} `{}`", number(&kernel.buffers[n]), kernel.buffers[n].name);
        to_stdout(table::print(&title, print.element, &memories[n], print.limit).as_bytes())?;
    }
    for (slot, sink) in outs {
        sink.write(memories[place(kernel, *slot)?].bytes())?;
    }
    Ok(())
}
