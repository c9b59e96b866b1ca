//! Runs naga: parses, validates, and translates its messages into crosslane's.
//!
//! naga reports one error per run. A function with an error is emptied, or removed if it is an entry point, and the
//! module is parsed again, so that the errors of all functions are found. Panics in naga are caught and reported as
//! bugs in naga.

use super::builtin::Site;
use super::carrier::{Carriers, FunctionKey};
use super::language;
use super::lexer::{self, Kind};
use super::offsets::{self, Edit, Offsets};
use super::suggest;
use super::words::{self, Words};
use crate::diagnostic::{Code, Diagnostic};
use crate::guard;
use crate::source::Span;
use naga::front::wgsl;
use naga::valid::{Capabilities, ModuleInfo, ValidationError, ValidationFlags, Validator};
use naga::{Module, TypeInner, WithSpan};
use rustc_hash::FxHashSet;
use std::error::Error;
use std::ops::Range;

/// Errors in one module after which the search ends.
const MOST_ERRORS: usize = 16;

/// Parses the rewritten text. After an error it is parsed again with the suggested word, otherwise without the function
/// around the error.
///
/// # Errors
/// Returns all misspelt names and the first other error in each function, up to the first error outside functions.
pub(super) fn parse(original: &str, offsets: &Offsets) -> Result<Module, Vec<Diagnostic>> {
    let (mut edits, mut errors) = (Vec::<Edit>::new(), Vec::new());
    loop {
        let (text, inner) = offsets::apply(original, 0, edits.clone());
        let error = match guard::caught_panic(|| wgsl::parse_str(&text)) {
            Ok(Ok(module)) if errors.is_empty() => return Ok(module),
            Ok(Ok(_)) => return Err(errors),
            Ok(Err(error)) => error,
            // The changed text is not a file.
            Err(_) if !errors.is_empty() => return Err(errors),
            Err(panic) => return Err(vec![naga_failed("reading", &panic)]),
        };
        let places = Places { inner: &inner, outer: offsets };
        let place = error.labels().next().and_then(|(span, _)| places.before_edits(span));
        let follows = place.as_ref().is_some_and(|place| {
            edits.iter().any(|edit| place.start < edit.hi as usize && (edit.lo as usize) < place.end)
        });
        let said = syntax_error(&error, &text, places);
        let meant = said.suggestion.as_ref().map(|meant| meant.replacement.clone());
        let meant = meant.filter(|word| !follows && is_name(word) && error.message().starts_with(UNKNOWN_NAME));
        if !follows {
            errors.push(said);
        }
        let edit = match (place, meant) {
            (Some(place), Some(text)) => Some(Edit { lo: place.start as u32, hi: place.end as u32, text }),
            (Some(place), None) => body_around(original, place.start).map(blank),
            (None, _) => None,
        };
        let Some(edit) = edit.filter(|_| errors.len() < MOST_ERRORS) else { return Err(errors) };
        edits.retain(|earlier| earlier.hi <= edit.lo || edit.hi <= earlier.lo);
        edits.push(edit);
    }
}

/// The start of naga's message about a name that nothing declares.
const UNKNOWN_NAME: &str = "no definition in scope";

fn is_name(text: &str) -> bool {
    text.chars().all(|c| c.is_alphanumeric() || c == '_')
}

fn blank(body: Range<usize>) -> Edit {
    Edit { lo: body.start as u32, hi: body.end as u32, text: " ".repeat(body.len()) }
}

/// Positions of naga's text, mapped back through the edits after earlier errors and the edits of the pass before naga.
#[derive(Clone, Copy)]
struct Places<'a> {
    inner: &'a Offsets,
    outer: &'a Offsets,
}

impl Places<'_> {
    /// A position in the text before the edits after errors.
    fn before_edits(self, of: naga::Span) -> Option<Range<usize>> {
        of.to_range()?;
        let span = self.inner.span(of);
        Some(span.lo as usize..span.hi as usize)
    }

    fn span(self, of: naga::Span) -> Span {
        let before = self.before_edits(of).map(|place| naga::Span::new(place.start as u32, place.end as u32));
        before.map_or(Span::NONE, |before| self.outer.span(before))
    }
}

/// The text between the braces of the function around a position.
fn body_around(text: &str, at: usize) -> Option<Range<usize>> {
    let (mut depth, mut in_function, mut start) = (0usize, false, 0);
    for token in lexer::tokens(text) {
        match token.kind {
            Kind::Word if depth == 0 && token.text(text) == "fn" => in_function = true,
            Kind::Punct(b';') if depth == 0 => in_function = false,
            Kind::Punct(b'{') => {
                start = if depth == 0 { token.hi as usize } else { start };
                depth += 1;
            }
            Kind::Punct(b'}') => {
                depth = depth.checked_sub(1)?;
                let body = start..token.lo as usize;
                if depth == 0 && body.contains(&at) {
                    return in_function.then_some(body);
                }
                in_function &= depth > 0;
            }
            _ => {}
        }
    }
    None
}

/// A module's text, and the rules to check.
#[derive(Clone, Copy)]
pub(super) struct Checks<'a> {
    pub carriers: &'a Carriers,
    pub text: &'a str,
    pub offsets: &'a Offsets,
    /// True if uniform buffers may have the layout of storage buffers.
    pub standard_layout: bool,
}

/// Checks a module against the rules of WGSL.
///
/// # Errors
/// Returns the first violation in each function, up to the first one outside functions.
pub(super) fn validate(module: &mut Module, checks: Checks<'_>) -> Result<ModuleInfo, Vec<Diagnostic>> {
    check_locations(module, checks.offsets).map_err(|error| vec![*error])?;
    let Some(hidden) = language::as_known(module) else {
        let message =
            "crosslane does not read linear indices beside all other indices of invocations and subgroups yet";
        return Err(vec![Diagnostic::error(Code::NOT_SUPPORTED, message)]);
    };
    let sizes = flatten_workgroups(module);
    let result = validate_all(module, checks);
    hidden.undo(module);
    for (entry, size) in module.entry_points.iter_mut().zip(sizes) {
        entry.workgroup_size = size;
    }
    result
}

fn validate_all(module: &mut Module, checks: Checks<'_>) -> Result<ModuleInfo, Vec<Diagnostic>> {
    let Checks { text, offsets, standard_layout, .. } = checks;
    let mut flags = ValidationFlags::all();
    // naga computes the layouts, so only the rules of uniform buffers remain to be checked.
    flags.set(ValidationFlags::STRUCT_LAYOUTS, !standard_layout);
    let (mut errors, mut emptied) = (Vec::new(), FxHashSet::default());
    loop {
        let checked = || Validator::new(flags, capabilities()).validate(module).map_err(Box::new);
        let error = match guard::caught_panic(checked) {
            Ok(Ok(info)) if errors.is_empty() => return Ok(info),
            Ok(Ok(_)) => return Err(errors),
            Ok(Err(error)) => error,
            Err(_) if !errors.is_empty() => return Err(errors),
            Err(panic) => return Err(vec![naga_failed("checking", &panic)]),
        };
        let is_new = |function: &FunctionKey| matches!(function, FunctionKey::Entry(_)) || emptied.insert(*function);
        let function = blamed_function(module, error.as_inner()).filter(is_new);
        if function.is_some() || errors.is_empty() {
            let error = invalid(&error, module, checks);
            errors.push(match function {
                Some(FunctionKey::Entry(index)) if error.span().is_none() => {
                    error.at(offsets.span(name_span(text, &module.entry_points[index].name)), "this entry point")
                }
                _ => error,
            });
        }
        match function.filter(|_| errors.len() < MOST_ERRORS) {
            Some(FunctionKey::Function(handle)) => empty(&mut module.functions[handle]),
            Some(FunctionKey::Entry(index)) => drop(module.entry_points.remove(index)),
            None => return Err(errors),
        }
    }
}

/// The name in the declaration of a function.
fn name_span(text: &str, name: &str) -> naga::Span {
    let tokens = lexer::tokens(text);
    let mut pairs = tokens.windows(2);
    let declared = pairs.find(|pair| pair[0].text(text) == "fn" && pair[1].text(text) == name);
    declared.map_or(naga::Span::UNDEFINED, |pair| naga::Span::new(pair[1].lo, pair[1].hi))
}

/// The function that contains an error.
fn blamed_function(module: &Module, error: &ValidationError) -> Option<FunctionKey> {
    match error {
        ValidationError::Function { handle, .. } => Some(FunctionKey::Function(*handle)),
        ValidationError::EntryPoint { stage, name, .. } => {
            let is_it = |entry: &naga::EntryPoint| entry.stage == *stage && entry.name == *name;
            module.entry_points.iter().position(is_it).map(FunctionKey::Entry)
        }
        _ => None,
    }
}

/// Reduces a function to its declaration.
fn empty(function: &mut naga::Function) {
    function.expressions.clear();
    function.named_expressions.clear();
    function.local_variables.clear();
    function.body = naga::Block::new();
    if let Some(result) = &function.result {
        let value = function.expressions.append(naga::Expression::ZeroValue(result.ty), naga::Span::UNDEFINED);
        function.body.push(naga::Statement::Return { value: Some(value) }, naga::Span::UNDEFINED);
    }
}

/// Locations of an interface. Devices have at most a hundred, and naga keeps a bit for each up to the highest.
const LOCATIONS: u32 = 1 << 16;

/// Refuses locations that no device has.
fn check_locations(module: &Module, offsets: &Offsets) -> Result<(), Box<Diagnostic>> {
    let functions = module.entry_points.iter().map(|entry| &entry.function);
    let ports = functions.flat_map(|function| {
        let arguments = function.arguments.iter().map(|argument| (argument.ty, argument.binding.as_ref()));
        arguments.chain(function.result.iter().map(|result| (result.ty, result.binding.as_ref())))
    });
    for (ty, binding) in ports {
        let members = match &module.types[ty].inner {
            TypeInner::Struct { members, .. } => members.as_slice(),
            _ => &[],
        };
        let bindings = members.iter().filter_map(|member| member.binding.as_ref());
        let too_far = bindings.chain(binding).find_map(|binding| match binding {
            naga::Binding::Location { location, .. } => Some(*location).filter(|location| *location >= LOCATIONS),
            naga::Binding::BuiltIn(_) => None,
        });
        if let Some(location) = too_far {
            let message = format!("the location {location} is beyond the {LOCATIONS} that an interface can have");
            let span = offsets.span(module.types.get_span(ty));
            return Err(Box::new(Diagnostic::error(Code::WGSL_INVALID, message).at(span, "it is in this type")));
        }
    }
    Ok(())
}

/// naga refuses subgroup indices in workgroups of several dimensions, which WGSL allows, so it gets flat ones. Returns
/// the original sizes.
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

/// All of naga's capabilities, except float atomics and atomics on 64-bit texels.
fn capabilities() -> Capabilities {
    Capabilities::all().difference(Capabilities::SHADER_FLOAT32_ATOMIC).difference(Capabilities::TEXTURE_INT64_ATOMIC)
}

fn naga_failed(doing: &str, panic: &str) -> Diagnostic {
    let first = panic.lines().next().unwrap_or("");
    Diagnostic::error(Code::NAGA_FAILED, format!("naga failed in {doing} the module: {first}"))
        .note("this is a defect of naga, which reads WGSL for crosslane, and not of the shader")
}

fn syntax_error(error: &wgsl::ParseError, text: &str, places: Places<'_>) -> Diagnostic {
    if let Some(bitcast) = resizing_bitcast(error, text) {
        let message = "`bitcast` between elements of 16 and of 32 bits is not supported yet";
        let span = places.span(naga::Span::new(bitcast.start as u32, bitcast.end as u32));
        let note = "for floats, `pack2x16float` and `unpack2x16float` do the same";
        return Diagnostic::error(Code::NOT_SUPPORTED, message).at(span, "used here").note(note);
    }
    // naga quotes tokens in the style of a programming language.
    let message = uncapitalized(words::worded(&first_sentence(error.message())).replace('"', "`"));
    let source = error.labels().next().and_then(|(span, _)| text.get(span.to_range()?)).unwrap_or_default();
    let message = words::constructor(&message, source).unwrap_or(message);
    if let Some(missing) = missing_token(error, text, places, &message) {
        return missing;
    }
    let mut out = Diagnostic::error(Code::WGSL_SYNTAX, message);
    for (index, (span, text)) in error.labels().enumerate() {
        let (span, text) = (places.span(span), words::worded(plain_label(text)));
        // The message has the list.
        let text = if text.starts_with("expected global item") { "no declaration begins so".into() } else { text };
        out = if index == 0 { out.at(span, text) } else { out.with(span, text) };
    }
    let out = error.notes().map(language::explained).fold(out, |out, note| out.note(words::worded(note)));
    let added = error.labels().next().is_some() && out.span().is_none();
    let out = if added { out.note("this is in a definition from the command line") } else { out };
    advised(out, error, text)
}

/// The message about a `;` or `)` that is not there, after the token that it should follow.
fn missing_token(error: &wgsl::ParseError, text: &str, places: Places<'_>, message: &str) -> Option<Diagnostic> {
    let found = error.labels().next()?.0;
    let text_of = |place: &Range<usize>| text.get(place.clone());
    let missing = [";", ")"].into_iter().find(|missing| message.starts_with(&format!("expected `{missing}`")))?;
    let place = found.to_range().filter(|place| missing == ";" || text_of(place) == Some("{"))?;
    let habit = suggest::habit(message, text, &place);
    let before = suggest::end_before(text, place.start)?;
    let end = places.span(naga::Span::new(before.start as u32, before.end as u32)).hi;
    let after = Span::new(end, end);
    let out = Diagnostic::error(Code::WGSL_SYNTAX, message).at(after, format!("expected `{missing}`"));
    let out = out.with(places.span(found), "found instead");
    Some(match habit {
        Some(habit) => out.help(habit),
        None => out.suggest(after, missing, format!("add `{missing}` here")),
    })
}

/// Adds the likely intended spelling.
fn advised(out: Diagnostic, error: &wgsl::ParseError, text: &str) -> Diagnostic {
    let Some(place) = error.labels().next().and_then(|(span, _)| span.to_range()) else { return out };
    let Some(word) = text.get(place.clone()) else { return out };
    let message = error.message();
    let (out, meant) = match () {
        () if message.starts_with(UNKNOWN_NAME) => (explained(out, word), suggest::for_name(word, text)),
        () if message.starts_with("unknown enable-extension") => {
            (out, suggest::for_extension(word).map(str::to_string))
        }
        () if message.starts_with("unknown builtin") => (out, suggest::for_builtin(word).map(str::to_string)),
        () if message.starts_with("expected global item") => (out, suggest::for_item(word)),
        () => (out, None),
    };
    match (meant, suggest::habit(message, text, &place)) {
        (Some(meant), _) => {
            let (span, advice) = (out.span(), format!("did you mean `{meant}`?"));
            out.suggest(span, meant, advice)
        }
        (None, Some(habit)) => out.help(habit),
        (None, None) => out,
    }
}

/// A `bitcast` of halves in the statement with a type error: naga assumes that it keeps the size of the elements.
fn resizing_bitcast(error: &wgsl::ParseError, text: &str) -> Option<Range<usize>> {
    const OF_TYPES: [&str; 2] = ["automatic conversions cannot convert", "invalid field accessor"];
    const HALVES: [&str; 3] = ["f16", "vec2h", "vec4h"];
    let place = error.labels().next()?.0.to_range()?;
    let ends = [';', '{', '}'];
    let start = text.get(..place.start)?.rfind(ends)?;
    let rest = text.get(place.end..)?;
    let statement = &text[start..place.end + rest.find(ends).unwrap_or(rest.len())];
    let is_likely = OF_TYPES.iter().any(|message| error.message().starts_with(message))
        && HALVES.iter().any(|name| statement.contains(name));
    let at = start + statement.find("bitcast<").filter(|_| is_likely)?;
    Some(at..at + "bitcast".len())
}

/// Explains when crosslane's own constants exist.
fn explained(error: Diagnostic, name: &str) -> Diagnostic {
    match name {
        "CROSSLANE_SUBGROUP_SIZE" => {
            error.note("it needs `enable crosslane;` and a profile or `--wave-size` that fixes the subgroup size")
        }
        _ if name.starts_with("CROSSLANE_TARGET_") => error.note("it needs `enable crosslane;`"),
        _ => error,
    }
}

/// crosslane's messages have no final period. Handles mean nothing to users, so naga's `[3]` and `Some([3])` are
/// removed, as are the printed internals of types.
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

/// A sentence without its initial capital, unless the first word has more capitals.
fn uncapitalized(mut text: String) -> String {
    let is_word = |bytes: &[u8]| bytes[0].is_ascii_uppercase() && bytes[1].is_ascii_lowercase();
    if text.len() > 1 && is_word(text.as_bytes()) {
        text[..1].make_ascii_lowercase();
    }
    text
}

/// Words; text in parentheses counts as one word.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0i32;
    text.split(move |c: char| {
        depth += i32::from(c == '(') - i32::from(c == ')');
        c == ' ' && depth <= 0
    })
}

/// Returns true if a word is an index into one of naga's arenas.
fn is_handle(word: &str) -> bool {
    let inner = word.strip_prefix("Some(").and_then(|rest| rest.strip_suffix(')')).unwrap_or(word);
    let digits = inner.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
    digits.is_some_and(|digits| digits.bytes().all(|b| b.is_ascii_digit()))
}

/// The innermost cause says most; the ones around it say where.
fn invalid(error: &WithSpan<ValidationError>, module: &Module, checks: Checks<'_>) -> Diagnostic {
    let Checks { carriers: Carriers { sites, .. }, text, offsets, .. } = checks;
    let outermost = error.as_inner();
    let length = |span: naga::Span| span.to_range().map_or(usize::MAX, |range| range.len());
    let narrowest = error.spans().min_by_key(|(span, _)| length(*span));
    let source = narrowest.and_then(|(span, _)| text.get(span.to_range()?)).unwrap_or_default();
    let plain = || first_sentence(&innermost(outermost).to_string()).into();
    let Words { text: message, is_refusal, help } = words::of(outermost, module, source).unwrap_or_else(plain);
    let code = if is_refusal { Code::NOT_SUPPORTED } else { Code::WGSL_INVALID };
    let mut out = Diagnostic::error(code, message);
    let mut primary = Span::NONE;
    // naga adds spans from the inside out.
    for (index, (span, text)) in error.spans().enumerate() {
        let span = offsets.span(*span);
        if index == 0 {
            primary = span;
        }
        out = if index == 0 { out.at(span, plain_label(text)) } else { out.with(span, plain_label(text)) };
    }
    if primary == Span::NONE
        && let ValidationError::Type { handle, .. } = outermost
    {
        let of_type = module.global_variables.iter().find(|(_, variable)| variable.ty == *handle);
        out = match of_type {
            Some((variable, _)) => out.at(offsets.span(module.global_variables.get_span(variable)), "here"),
            None => out,
        };
    }
    out = match outermost {
        ValidationError::Function { name, .. } => out.note(format!("in the function `{name}`")),
        ValidationError::EntryPoint { name, .. } => out.note(format!("in the entry point `{name}`")),
        ValidationError::Type { name, .. } if !name.is_empty() => out.note(format!("in the type `{name}`")),
        _ => out,
    };
    let out = help.into_iter().fold(out, Diagnostic::help);
    match site_around(primary, sites) {
        Some(site) => site
            .builtin
            .signatures()
            .into_iter()
            .fold(out, |out, signature| out.note(format!("`{}` is declared as `{signature}`", site.name))),
        None => out,
    }
}

/// The cause of the causes.
fn innermost(error: &ValidationError) -> &dyn Error {
    let mut last: &dyn Error = error;
    while let Some(cause) = last.source() {
        last = cause;
    }
    last
}

/// naga's labels name its arenas, which users do not know.
fn plain_label(text: &str) -> &str {
    if text.starts_with("naga::") || text == "see msg" { "here" } else { text }
}

fn site_around(span: Span, sites: &[Site]) -> Option<&Site> {
    let inside = |site: &&Site| site.span.lo <= span.lo && span.hi <= site.span.hi;
    sites.iter().filter(inside).min_by_key(|site| site.span.hi - site.span.lo)
}
