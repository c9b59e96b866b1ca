//! naga at work: parses and validates, and turns what it says into our messages.
//!
//! naga reports one error a run. Its panics are caught and reported as defects of naga.

use super::builtin::Site;
use super::carrier::Carriers;
use super::guard;
use super::offsets::Offsets;
use crate::diagnostic::nearest::nearest;
use crate::diagnostic::{Code, Diagnostic};
use crate::grammar;
use crate::source::Span;
use naga::front::wgsl;
use naga::valid::{Capabilities, ModuleInfo, ValidationError, ValidationFlags, Validator};
use naga::{Module, WithSpan};
use std::error::Error;

/// Reads the rewritten text.
///
/// # Errors
/// What naga finds wrong with it.
pub(super) fn parse(text: &str, offsets: &Offsets) -> Result<Module, Box<Diagnostic>> {
    match guard::caught(|| wgsl::parse_str(text)) {
        Ok(Ok(module)) => Ok(module),
        Ok(Err(error)) => Err(Box::new(syntax_error(&error, text, offsets))),
        Err(panic) => Err(Box::new(naga_failed("reading", &panic))),
    }
}

/// Checks a module against the rules of WGSL.
///
/// # Errors
/// The first rule that it breaks.
pub(super) fn validate(
    module: &mut Module,
    carriers: &Carriers,
    offsets: &Offsets,
) -> Result<ModuleInfo, Box<Diagnostic>> {
    let sizes = flatten_workgroups(module);
    let result =
        guard::caught(|| Validator::new(ValidationFlags::all(), capabilities()).validate(module).map_err(Box::new));
    for (entry, size) in module.entry_points.iter_mut().zip(sizes) {
        entry.workgroup_size = size;
    }
    match result {
        Ok(Ok(info)) => Ok(info),
        Ok(Err(error)) => Err(Box::new(invalid(&error, &carriers.sites, offsets))),
        Err(panic) => Err(Box::new(naga_failed("checking", &panic))),
    }
}

/// naga refuses subgroup indices in workgroups of several dimensions, which WGSL allows; it is shown flat ones. Gives
/// the true sizes.
fn flatten_workgroups(module: &mut Module) -> Vec<[u32; 3]> {
    let flatten = |entry: &mut naga::EntryPoint| {
        let size = entry.workgroup_size;
        if size.iter().all(|n| *n > 0) && size[1].max(size[2]) > 1 {
            entry.workgroup_size = [size[0].max(size[1]).max(size[2]), 1, 1];
        }
        size
    };
    module.entry_points.iter_mut().map(flatten).collect()
}

/// All that naga can check, but for atomics beyond 32-bit integers.
fn capabilities() -> Capabilities {
    Capabilities::all()
        .difference(Capabilities::SHADER_INT64_ATOMIC_MIN_MAX)
        .difference(Capabilities::SHADER_INT64_ATOMIC_ALL_OPS)
        .difference(Capabilities::SHADER_FLOAT32_ATOMIC)
        .difference(Capabilities::TEXTURE_INT64_ATOMIC)
}

fn naga_failed(doing: &str, panic: &str) -> Diagnostic {
    let first = panic.lines().next().unwrap_or("");
    Diagnostic::error(Code::NAGA_FAILED, format!("naga failed in {doing} the module: {first}"))
        .note("this is a defect of naga, which reads WGSL for crosslane, and not of the shader")
}

fn syntax_error(error: &wgsl::ParseError, text: &str, offsets: &Offsets) -> Diagnostic {
    let mut out = Diagnostic::error(Code::WGSL_SYNTAX, first_sentence(error.message()));
    for (index, (span, text)) in error.labels().enumerate() {
        let span = offsets.span(span);
        out = if index == 0 { out.at(span, text) } else { out.with(span, text) };
    }
    let out = error.notes().fold(out, |out, note| out.note(note));
    let out = if out.span().is_none() { out.note("this is in a definition from the command line") } else { out };
    let Some(name) = unknown_name(error, text) else { return out };
    let out = explained(out, name);
    match nearest(name, grammar::wgsl_function_names()) {
        Some(name) => {
            let span = out.span();
            out.suggest(span, name, format!("did you mean `{name}`?"))
        }
        None => out,
    }
}

/// The name that an error says nobody declares.
fn unknown_name<'a>(error: &wgsl::ParseError, text: &'a str) -> Option<&'a str> {
    let (span, _) = error.labels().next()?;
    let name = text.get(span.to_range()?)?;
    error.message().starts_with("no definition in scope").then_some(name)
}

/// Says when crosslane's own constants are there.
fn explained(error: Diagnostic, name: &str) -> Diagnostic {
    match name {
        "CROSSLANE_SUBGROUP_SIZE" => {
            error.note("it needs `enable crosslane;` and a profile or `--wave-size` that fixes the subgroup size")
        }
        _ if name.starts_with("CROSSLANE_TARGET_") => error.note("it needs `enable crosslane;`"),
        _ => error,
    }
}

/// Messages of ours have no capital and no stop.
fn first_sentence(text: &str) -> String {
    text.trim_end_matches('.').to_string()
}

/// The innermost cause says most; the ones around it say where.
fn invalid(error: &WithSpan<ValidationError>, sites: &[Site], offsets: &Offsets) -> Diagnostic {
    let outermost = error.as_inner();
    let chain = causes(outermost);
    let message = chain.last().cloned().unwrap_or_else(|| first_sentence(&outermost.to_string()));
    let mut out = Diagnostic::error(Code::WGSL_INVALID, message);
    let mut primary = Span::NONE;
    // naga adds spans from the inside out.
    for (index, (span, text)) in error.spans().enumerate() {
        let span = offsets.span(*span);
        if index == 0 {
            primary = span;
        }
        out = if index == 0 { out.at(span, plain_label(text)) } else { out.with(span, plain_label(text)) };
    }
    if !chain.is_empty() {
        out = out.note(first_sentence(&outermost.to_string()));
    }
    match site_around(primary, sites) {
        Some(site) => site
            .builtin
            .signatures()
            .into_iter()
            .fold(out, |out, signature| out.note(format!("`{}` is declared as `{signature}`", site.name))),
        None => out,
    }
}

/// What an error says was its cause, from the outside in.
fn causes(error: &dyn Error) -> Vec<String> {
    let mut list = Vec::new();
    let mut next = error.source();
    while let Some(cause) = next {
        list.push(first_sentence(&cause.to_string()));
        next = cause.source();
    }
    list
}

/// naga's labels name its arenas; people know none.
fn plain_label(text: &str) -> &str {
    if text.starts_with("naga::") { "here" } else { text }
}

fn site_around(span: Span, sites: &[Site]) -> Option<&Site> {
    let inside = |site: &&Site| site.span.lo <= span.lo && span.hi <= site.span.hi;
    sites.iter().filter(inside).min_by_key(|site| site.span.hi - site.span.lo)
}
