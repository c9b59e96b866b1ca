//! `crosslane run`: one compute shader on the CPU or a GPU, over buffers that the command line fills, prints and writes.

mod bind;
mod compare;
mod element;
mod fill;
mod machine;
mod request;
mod table;

use super::args::{Machine, RunArgs};
use super::compile::options;
use super::output::{Sink, to_stdout};
use super::{CommandError, Exit, Outcome, input, messages};
use crate::build::claims::Claims;
use crate::build::files::FileLoader;
use crate::compile::{EmitKind, Input, Options, parse};
use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::guard::bounded;
use crate::ir::{Binding, Module, Stage, TypeId, Types};
use crate::kernel::pass::optimize;
use crate::kernel::{Buffer, Kernel, finish, lower};
use crate::sim::Memory;
use crate::source::SourceMap;
use bind::{bind, check_push, number, place, shown, unused};
use fill::Slot;
use machine::{Stop, Work};
use request::{Print, Request};

pub fn run(args: &RunArgs, claims: &Claims) -> Outcome {
    let request = Request::read(args, claims)?;
    let mut shader = match read(args, &request, claims)? {
        Ok(shader) => shader,
        Err(found) => return Ok(found.report(args)),
    };
    let before = bind(&shader.kernel, &request.fills)?;
    check_push(&shader.kernel, &request.push)?;
    let shown = shown(&shader.kernel, &request)?;
    if !args.messages.no_warnings {
        unused(&shader.kernel, &request.fills).for_each(|warning| shader.found.diagnostics.push(warning));
    }
    let left = match shader.run(args, &request, &before) {
        Ok(left) => left,
        Err(Stop::Machine(error)) => return Err(error),
        Err(Stop::Shader(problems)) => {
            problems.into_iter().for_each(|problem| shader.found.diagnostics.push(problem));
            return Ok(shader.found.report(args));
        }
    };
    messages::print(&args.messages, &shader.found.sources, &shader.found.diagnostics);
    show(&shader.kernel, &left, &shown)?;
    write(&shader.kernel, &left, &request.outs, claims)?;
    Ok(Exit::Done)
}

/// A shader that can run.
struct Shader {
    module: Module,
    options: Options,
    kernel: Kernel,
    found: Found,
}

impl Shader {
    /// Runs the first machine and compares the others with it; returns the contents of the buffers.
    fn run(&self, args: &RunArgs, request: &Request, before: &[Memory]) -> Result<Vec<Memory>, Stop> {
        let Shader { module, options, kernel, found } = self;
        let work = Work { args, request, options, module, kernel, sources: &found.sources };
        let mut first: Option<(Machine, Vec<Memory>)> = None;
        for (machine, opened) in &request.machines {
            let left = opened.run(&work, before)?;
            match &first {
                None => first = Some((*machine, left)),
                Some((other, known)) => self.hold([(*other, known), (*machine, &left)], args.within)?,
            }
        }
        Ok(first.map(|(_, left)| left).unwrap_or_default())
    }

    /// Refuses buffers that differ.
    fn hold(&self, [(a, ours), (b, theirs)]: [(Machine, &[Memory]); 2], within: f64) -> Result<(), Diagnostic> {
        for (n, buffer) in self.kernel.buffers.iter().enumerate() {
            let found = compare::compare(&self.module, self.ty(buffer), [&ours[n], &theirs[n]], within);
            let Some((first, count)) = found else { continue };
            let [x, y] = first.numbers;
            let place = format!("byte {} of buffer `{}` (binding {})", first.byte, buffer.name, number(buffer));
            let message = format!("{} has {x} at {place} and {} has {y}", a.name(), b.name());
            let error = Diagnostic::error(Code::MACHINES_DIFFER, message);
            return Err(error.note(format!("{count} numbers of this buffer differ")));
        }
        Ok(())
    }

    /// The type of what a buffer holds.
    fn ty(&self, buffer: &Buffer) -> TypeId {
        let at = Binding::Resource { set: buffer.set, binding: buffer.binding };
        let global = self.module.globals.iter().find(|(_, global)| global.binding == at);
        global.map_or(Types::VOID, |(_, global)| global.ty)
    }
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

/// The shader to run, or its messages.
fn read(args: &RunArgs, request: &Request, claims: &Claims) -> Result<Result<Shader, Found>, CommandError> {
    let shader = input::read(&args.source, claims)?;
    let options = Options {
        stage: shader.stage.or(Some(Stage::Compute)),
        emit: EmitKind::Ir,
        deny_warnings: args.messages.deny_warnings,
        no_warnings: args.messages.no_warnings,
        warnings: args.messages.warnings.clone(),
        ..options(&args.source, &shader, request.profile.clone())?
    };
    let loader = FileLoader { directories: args.source.include_dirs.clone(), claims: claims.clone() };
    let input = Input { name: &shader.name, bytes: &shader.bytes, language: shader.language };
    let parsed = parse(&input, &options, &loader);
    let mut found = Found { diagnostics: parsed.diagnostics, sources: parsed.sources };
    let Some(module) = parsed.module else { return Ok(Err(found)) };
    let prepared = bounded(options.limits, || prepare(&module, request, args.reference));
    Ok(match prepared.unwrap_or_else(|failure| Err(vec![failure])) {
        Ok(kernel) => Ok(Shader { module, options, kernel, found }),
        Err(messages) => {
            messages.into_iter().for_each(|message| found.diagnostics.push(message));
            Err(found)
        }
    })
}

/// The kernel that a profile of hardware runs; for SPIR-V, whose drivers choose, the optimised one.
fn prepare(module: &Module, request: &Request, reference: bool) -> Result<Kernel, Vec<Diagnostic>> {
    if !reference && request.profile.target.is_hardware() {
        return finish(module, &request.settings, &request.profile);
    }
    let mut kernel = lower(module, &request.settings)?;
    if !reference {
        optimize(&mut kernel);
    }
    Ok(kernel)
}

fn show(kernel: &Kernel, memories: &[Memory], prints: &[Print]) -> Result<(), CommandError> {
    for print in prints {
        let n = place(kernel, print.slot)?;
        let title = format!("{} `{}`", number(&kernel.buffers[n]), kernel.buffers[n].name);
        to_stdout(table::print(&title, print.element, &memories[n], print.limit).as_bytes())?;
    }
    Ok(())
}

fn write(kernel: &Kernel, memories: &[Memory], outs: &[(Slot, Sink)], claims: &Claims) -> Result<(), CommandError> {
    outs.iter().try_for_each(|(slot, sink)| sink.write(memories[place(kernel, *slot)?].bytes(), claims))
}
