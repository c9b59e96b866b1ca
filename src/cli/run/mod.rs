//! `crosslane run`: runs one compute shader on the CPU or a GPU, with buffers that the command line fills, prints and
//! writes.

mod bind;
mod machine;
mod request;
mod table;

use super::args::{Machine, RunArgs};
use super::compile::options;
use super::output::{Sink, to_stdout};
use super::{CommandError, Exit, Outcome, input, messages};
use crate::build::claims::Claims;
use crate::build::files::FileLoader;
use crate::compile::{EmitKind, Input, Options};
use crate::diagnostic::{Code, Diagnostic};
use crate::ir::Stage;
use crate::kernel::Kernel;
use crate::sim::Memory;
use crate::simulate::fill::Slot;
use crate::simulate::{self, Found, Semantics, compare, numbers};
use bind::{bind, check_push, number, place, shown, unused};
use machine::{Stop, Work};
use request::{Print, Request, check_wave};

pub fn run(args: &RunArgs, claims: &Claims) -> Outcome {
    let request = Request::read(args, claims)?;
    let mut shader = match read(args, &request, claims)? {
        Ok(shader) => shader,
        Err(found) => return Ok(report(&found, args)),
    };
    let kernel = &shader.shader.kernel;
    let before = bind(kernel, &request.fills)?;
    check_push(kernel, &request.push)?;
    let shown = shown(kernel, &request)?;
    if !args.messages.no_warnings {
        unused(kernel, &request.fills).for_each(|warning| shader.found.diagnostics.push(warning));
    }
    let left = match shader.run(args, &request, &before) {
        Ok(left) => left,
        Err(Stop::Machine(error)) => return Err(error),
        Err(Stop::Shader(problems)) => {
            problems.into_iter().for_each(|problem| shader.found.diagnostics.push(problem));
            return Ok(report(&shader.found, args));
        }
    };
    messages::print(&args.messages, &shader.found.sources, &shader.found.diagnostics);
    show(&shader.shader, &left, &shown)?;
    write(kernel, &left, &request.outs, claims)?;
    Ok(Exit::Done)
}

/// A shader that can run, with its messages.
struct Shader {
    shader: simulate::Shader,
    options: Options,
    found: Found,
}

impl Shader {
    /// Runs on the first machine, compares the other machines with it, and returns the contents of the buffers.
    fn run(&self, args: &RunArgs, request: &Request, before: &[Memory]) -> Result<Vec<Memory>, Stop> {
        let Shader { shader, options, found } = self;
        let work = Work { args, request, options, shader, sources: &found.sources };
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
        let shader = &self.shader;
        for (n, buffer) in shader.kernel.buffers.iter().enumerate() {
            let found = compare::compare(&shader.module, shader.ty(buffer), [&ours[n], &theirs[n]], within);
            let Some((first, count)) = found else { continue };
            let [x, y] = first.numbers;
            let place = format!("byte {} of buffer `{}` (binding {})", first.byte, buffer.name, number(buffer));
            let message = format!("{} has {x} at {place} and {} has {y}", a.name(), b.name());
            let error = Diagnostic::error(Code::MACHINES_DIFFER, message);
            return Err(error.note(format!("{count} numbers of this buffer differ")));
        }
        Ok(())
    }
}

/// Prints the messages of a shader that cannot run or did not finish.
fn report(found: &Found, args: &RunArgs) -> Exit {
    messages::print(&args.messages, &found.sources, &found.diagnostics);
    if found.diagnostics.errors_are_refusals() { Exit::ProfileLacks } else { Exit::ShaderWrong }
}

/// The shader to run, or its messages.
fn read(args: &RunArgs, request: &Request, claims: &Claims) -> Result<Result<Shader, Found>, CommandError> {
    let shader = input::read(&args.source, claims)?;
    let options = Options {
        stage: shader.stage.or(Some(Stage::Compute)),
        emit: EmitKind::Ir,
        ..options(&args.source, &args.messages, &shader, request.profile.clone())?
    };
    let loader = FileLoader { directories: args.source.include_dirs.clone(), claims: claims.clone() };
    let input = Input { name: &shader.name, bytes: &shader.bytes, language: shader.language };
    let semantics = if args.reference { Semantics::Meaning } else { Semantics::Plans };
    let (read, found) = simulate::read(&input, &options, request.usual_wave, &request.settings, &loader, semantics);
    let Some(shader) = read else { return Ok(Err(found)) };
    check_wave(&request.profile, Some(shader.wave_size))?;
    Ok(Ok(Shader { shader, options, found }))
}

fn show(shader: &simulate::Shader, memories: &[Memory], prints: &[Print]) -> Result<(), CommandError> {
    for print in prints {
        let n = place(&shader.kernel, print.slot)?;
        let (buffer, memory) = (&shader.kernel.buffers[n], &memories[n]);
        let title = format!("{} `{}`", number(buffer), buffer.name);
        let text = match print.element {
            Some(element) => table::print(&title, numbers::all(element, memory.len()), memory, print.limit),
            None => {
                let declared = numbers::numbers(&shader.module, shader.ty(buffer), memory.len());
                table::print(&title, declared, memory, print.limit)
            }
        };
        to_stdout(text.as_bytes())?;
    }
    Ok(())
}

fn write(kernel: &Kernel, memories: &[Memory], outs: &[(Slot, Sink)], claims: &Claims) -> Result<(), CommandError> {
    outs.iter().try_for_each(|(slot, sink)| sink.write(memories[place(kernel, *slot)?].bytes(), claims))
}
