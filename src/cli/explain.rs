//! `crosslane explain`: the code of each cross-lane operation of a shader, as text, JSON or a page.
//!
//! Exit code: the worst of `compile`'s for the profiles.

use super::args::{ExplainArgs, MessageArgs, PlaceArgs, SourceArgs};
use super::endings::Format;
use super::input::{self, Shader};
use super::output::{Sink, to_stdout};
use super::{CommandError, Exit, Outcome, compile, messages, profiles, terminal};
use crate::build::claims::Claims;
use crate::build::files::FileLoader;
use crate::compile::{Input, Options};
use crate::diagnostic::visible::visible;
use crate::explain::{End, Failure, explain, html, json, text};
use crate::profile::Profile;

/// The default width in columns.
const USUAL_WIDTH: usize = 100;

pub fn run(args: &ExplainArgs, claims: &Claims) -> Outcome {
    let sized = |name: &String| profiles::promising(profiles::find(name, claims)?, args.wave_size);
    let chosen = args.profile.iter().map(sized).collect::<Result<_, _>>()?;
    let page = args.html.clone().map(|path| Sink::of_format(path, Format::Html)).transpose()?;
    let source = Source::read(&args.source, &args.messages, &args.places, chosen, claims)?;
    let report = match explain(&source.input(), &source.options, &source.loader) {
        Ok(report) => report,
        Err(failure) => return Ok(failed(&args.messages, &failure)),
    };
    match page {
        Some(sink) => sink.write(html::page(&report).as_bytes(), claims)?,
        None if args.json => to_stdout(json::json(&report).as_bytes())?,
        None => to_stdout(visible(&text::text(&report, width(args))).as_bytes())?,
    }
    Ok(exit(&report.ends))
}

/// The worst of several compilations.
pub fn exit(ends: &[End]) -> Exit {
    if ends.contains(&End::ShaderWrong) {
        Exit::ShaderWrong
    } else if ends.contains(&End::ProfileLacks) {
        Exit::ProfileLacks
    } else {
        Exit::Done
    }
}

fn width(args: &ExplainArgs) -> usize {
    args.width.or_else(terminal::columns).unwrap_or(USUAL_WIDTH)
}

/// A shader with the options of each requested profile.
pub struct Source {
    shader: Shader,
    pub options: Vec<Options>,
    pub loader: FileLoader,
}

impl Source {
    pub fn read(
        args: &SourceArgs,
        messages: &MessageArgs,
        places: &PlaceArgs,
        profiles: Vec<Profile>,
        claims: &Claims,
    ) -> Result<Source, CommandError> {
        let shader = input::read(args, claims)?;
        let places = compile::places(places, profiles.iter().map(|profile| profile.target))?;
        let options = profiles.into_iter().map(|profile| {
            let options = compile::options(args, messages, &shader, profile)?;
            Ok(Options { places: places.clone(), ..options })
        });
        let options = options.collect::<Result<_, CommandError>>()?;
        let loader = FileLoader { directories: args.include_dirs.clone(), claims: claims.clone() };
        Ok(Source { shader, options, loader })
    }

    pub fn input(&self) -> Input<'_> {
        Input { name: &self.shader.name, bytes: &self.shader.bytes, language: self.shader.language }
    }
}

/// Prints the reason that a shader cannot be explained.
pub fn failed(args: &MessageArgs, failure: &Failure) -> Exit {
    messages::print(args, &failure.sources, &failure.diagnostics);
    if failure.is_refusal() { Exit::ProfileLacks } else { Exit::ShaderWrong }
}
