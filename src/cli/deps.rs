//! The dependency options of `compile` (`-M`, `-MD` and the rest): the place of the dependency file, and the name of
//! the output in it.

use super::CommandError;
use super::args::{CompileArgs, DepsArgs, DepsFormat};
use super::compile::default_output;
use super::dropin::trace;
use super::endings::Format as Contents;
use super::input;
use super::output::Sink;
use crate::build::claims::Claims;
use crate::build::deps::{Deps, Format, Inexpressible, RuleTarget};
use crate::build::files::{Include, not_utf8};
use crate::profile;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A request to list the files that are read.
pub struct Request {
    sink: Option<Sink>,
    deps: Deps,
    format: Format,
    /// Names as glslc writes them, with these include directories.
    as_glslc: Option<Vec<PathBuf>>,
    /// The shader came from standard input, which a rule cannot name.
    from_stdin: bool,
}

impl Request {
    /// # Errors
    /// Returns an error if the place of the file or the name of the output is unknown.
    pub fn new(args: &CompileArgs, sink: &Sink, target: profile::Target) -> Result<Request, CommandError> {
        let options = &args.deps;
        let mut request = Request {
            sink: place(args, sink)?,
            deps: Deps { phony: options.deps_phony, ..Deps::default() },
            format: format(options.deps_format),
            as_glslc: (options.deps_format == DepsFormat::Line).then(|| args.source.include_dirs.clone()),
            from_stdin: input::is_stdin(&args.source.input),
        };
        if request.sink.is_some() {
            request.deps.targets = targets(args, sink, target)?;
        }
        Ok(request)
    }

    /// Writes the names of the shader, its includes, and a profile's files.
    ///
    /// # Errors
    /// Returns an error if the names cannot be written in this form or to this file.
    pub fn write(
        mut self,
        shader: &Path,
        includes: &[Include],
        profile: &[Arc<str>],
        claims: &Claims,
    ) -> Result<(), CommandError> {
        let Some(sink) = &self.sink else { return Ok(()) };
        let shader = (!self.from_stdin).then(|| name(shader)).transpose()?;
        let includes = match (&self.as_glslc, &shader) {
            (Some(directories), Some(root)) => trace::as_glslc(root, includes, directories),
            _ => includes.iter().map(|include| include.name.to_string()).collect(),
        };
        let mut seen = BTreeSet::new();
        let files = shader.into_iter().chain(includes).chain(profile.iter().map(ToString::to_string));
        self.deps.inputs = files.filter(|name| seen.insert(name.clone())).collect();
        let text = self.deps.to_text(self.format).map_err(|Inexpressible(name)| {
            CommandError(format!(
                "a dependency file of this format cannot contain the name {name:?}; use --deps-format json"
            ))
        })?;
        sink.write(text.as_bytes(), claims)
    }
}

/// The place of the dependencies: `-MF`'s file; otherwise for `-M` the place of the output, for `-MD` a file next to
/// the output.
fn place(args: &CompileArgs, sink: &Sink) -> Result<Option<Sink>, CommandError> {
    let DepsArgs { deps_only, deps, deps_file, .. } = &args.deps;
    if let Some(file) = deps_file {
        return match args.any_ending {
            true => Ok(Some(Sink::new(file.clone()))),
            false => Sink::of_format(file.clone(), Contents::Dependencies).map(Some),
        };
    }
    match sink {
        _ if *deps_only => Ok(Some(args.output.clone().map_or(Sink::Stdout, Sink::new))),
        _ if !deps => Ok(None),
        Sink::File(output) => Ok(Some(Sink::File(with_suffix(output)))),
        Sink::Stdout => {
            Err(CommandError("the output goes to standard output: use -MF to name the dependency file".into()))
        }
    }
}

fn with_suffix(output: &Path) -> PathBuf {
    let mut name = output.as_os_str().to_os_string();
    name.push(".d");
    PathBuf::from(name)
}

/// `-MT` and `-MQ`, otherwise the output; for `-M`, as in gcc, the output of compiling without `-o`.
fn targets(args: &CompileArgs, sink: &Sink, target: profile::Target) -> Result<Vec<RuleTarget>, CommandError> {
    let verbatim = args.deps.deps_target.iter().map(|name| RuleTarget::Verbatim(name.clone()));
    let quoted = args.deps.deps_target_quoted.iter().map(|name| RuleTarget::Path(name.clone()));
    let named: Vec<RuleTarget> = verbatim.chain(quoted).collect();
    if !named.is_empty() {
        return Ok(named);
    }
    let path = match sink {
        Sink::File(output) if !args.deps.deps_only => output.clone(),
        _ if input::is_stdin(&args.source.input) => {
            return Err(CommandError("the output has no name: use -MT to give it one".into()));
        }
        _ => default_output(args, target)?,
    };
    Ok(vec![RuleTarget::Path(name(&path)?)])
}

/// The text of a path.
fn name(path: &Path) -> Result<String, CommandError> {
    path.to_str().map(str::to_string).ok_or_else(|| CommandError(not_utf8(path)))
}

fn format(name: DepsFormat) -> Format {
    match name {
        DepsFormat::Make => Format::Make,
        DepsFormat::Line => Format::Line,
        DepsFormat::Json => Format::Json,
        DepsFormat::Zero => Format::Zero,
    }
}
