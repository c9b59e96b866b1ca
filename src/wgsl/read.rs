//! naga at work: parses and validates, and turns what it says into our messages.
//!
//! naga reports one error a run. Its panics are caught and reported as defects of naga.

use super::builtin::Site;
use super::carrier::Carriers;
use super::guard;
use super::offsets::Offsets;
use super::suggest;
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use naga::front::wgsl;
use naga::valid::{Capabilities, ExpressionError, ModuleInfo, ValidationError, ValidationFlags, Validator};
use naga::{Module, ScalarKind, TypeInner, WithSpan};
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
    let added = error.labels().next().is_some() && out.span().is_none();
    let out = if added { out.note("this is in a definition from the command line") } else { out };
    let Some(word) = blamed_word(error, text) else { return out };
    let (out, meant) = match error.message() {
        message if message.starts_with("no definition in scope") => {
            (explained(out, word), suggest::for_name(word, text))
        }
        message if message.starts_with("unknown enable-extension") => {
            (out, suggest::for_extension(word).map(str::to_string))
        }
        _ => return out,
    };
    let Some(meant) = meant else { return out };
    let (span, advice) = (out.span(), format!("did you mean `{meant}`?"));
    out.suggest(span, meant, advice)
}

/// The text that an error points at.
fn blamed_word<'a>(error: &wgsl::ParseError, text: &'a str) -> Option<&'a str> {
    let (span, _) = error.labels().next()?;
    text.get(span.to_range()?)
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

/// Messages of ours have no stop, and people know no handles: naga's `[3]` and `Some([3])` are left out, with what is
/// printed of the inner form of types.
fn first_sentence(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for word in words(text.trim_end_matches('.')) {
        let bare = word.trim_end_matches(',');
        let needed = [" for", " with", " and"].iter().any(|end| out.ends_with(end));
        let word = match () {
            () if is_handle(bare) && needed => "this",
            () if bare.is_empty() || is_handle(bare) || bare.starts_with("(of type ") => continue,
            () => word,
        };
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(word);
    }
    out
}

/// Words, and stretches between parentheses as one.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0i32;
    text.split(move |c: char| {
        depth += i32::from(c == '(') - i32::from(c == ')');
        c == ' ' && depth <= 0
    })
}

/// Whether a word is an index into one of naga's arenas.
fn is_handle(word: &str) -> bool {
    let inner = word.strip_prefix("Some(").and_then(|rest| rest.strip_suffix(')')).unwrap_or(word);
    let digits = inner.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    digits.is_some_and(|digits| digits.bytes().all(|b| b.is_ascii_digit()))
}

/// The innermost cause says most; the ones around it say where.
fn invalid(error: &WithSpan<ValidationError>, sites: &[Site], offsets: &Offsets) -> Diagnostic {
    let outermost = error.as_inner();
    let chain = causes(outermost);
    let plain = chain.last().cloned().unwrap_or_else(|| first_sentence(&outermost.to_string()));
    let message = operand_types(outermost).unwrap_or(plain);
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

/// What naga prints of types is their inner form; the error that people meet most is said in WGSL's words.
fn operand_types(outermost: &ValidationError) -> Option<String> {
    let mut error: &dyn Error = outermost;
    while let Some(cause) = error.source() {
        error = cause;
    }
    match error.downcast_ref::<ExpressionError>()? {
        ExpressionError::InvalidBinaryOperandTypes { op, lhs_type, rhs_type, .. } => {
            let (left, right) = (type_text(lhs_type)?, type_text(rhs_type)?);
            Some(format!("the operation {op:?} does not take operands of types `{left}` and `{right}`"))
        }
        _ => None,
    }
}

/// A scalar, vector or matrix type as it is written.
fn type_text(ty: &TypeInner) -> Option<String> {
    let scalar = |of: naga::Scalar| {
        let letter = match of.kind {
            ScalarKind::Bool => return Some("bool".to_string()),
            ScalarKind::Sint => 'i',
            ScalarKind::Uint => 'u',
            ScalarKind::Float => 'f',
            _ => return None,
        };
        Some(format!("{letter}{}", 8 * u32::from(of.width)))
    };
    Some(match *ty {
        TypeInner::Scalar(of) => scalar(of)?,
        TypeInner::Vector { size, scalar: of } => format!("vec{}<{}>", size as u8, scalar(of)?),
        TypeInner::Matrix { columns, rows, scalar: of } => {
            format!("mat{}x{}<{}>", columns as u8, rows as u8, scalar(of)?)
        }
        _ => return None,
    })
}

/// naga's labels name its arenas; people know none.
fn plain_label(text: &str) -> &str {
    if text.starts_with("naga::") { "here" } else { text }
}

fn site_around(span: Span, sites: &[Site]) -> Option<&Site> {
    let inside = |site: &&Site| site.span.lo <= span.lo && span.hi <= site.span.hi;
    sites.iter().filter(inside).min_by_key(|site| site.span.hi - site.span.lo)
}
