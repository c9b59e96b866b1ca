//! The messages about calls of built-in functions.

use super::resolve::{Candidate, Failure};
use super::{Argument, Env};
use crate::diagnostic::{Code, Diagnostic};
use crate::glsl::types;
use crate::grammar::{self, ExtensionSet, Overload, Param, VARIABLES, Variable, VariableSource};
use crate::ir::{Module, Value};
use crate::source::Span;

/// Maximum number of candidates in a message.
const SHOWN: usize = 6;

/// A name without rows.
pub fn unknown_function(name: &str, span: Span) -> Diagnostic {
    Diagnostic::error(Code::UNKNOWN_FUNCTION, format!("no function `{name}` is known")).at(span, "not declared")
}

/// A name such as `reduceAdd12`: a valid function name, except that no function has this width.
pub fn misspelt_width(name: &str, span: Span) -> Option<Diagnostic> {
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let width = Some(&name[stem.len()..]).filter(|digits| !digits.is_empty())?;
    grammar::functions(stem).iter().find(|overload| overload.glsl && overload.family.ends_with("{W}"))?;
    let message = format!("`{stem}` does not exist for a width of {width}");
    let diagnostic = Diagnostic::error(Code::WIDTH_INVALID, message).at(span, "not a width of this function");
    Some(diagnostic.note("the widths are the powers of two from 2 to 1024"))
}

/// None of the extensions with `name` is enabled.
pub fn missing_extension(env: &Env<'_>, name: &str, span: Span, any_of: ExtensionSet) -> Diagnostic {
    let names: Vec<&str> = any_of.iter().map(|extension| extension.name).collect();
    let message = format!("`{name}` needs the extension {}", names.join(" or "));
    let diagnostic = Diagnostic::error(Code::MISSING_EXTENSION, message).at(span, "the extension is not enabled");
    let Some(first) = names.first() else { return diagnostic };
    let line = format!("#extension {first} : require");
    let text = format!("add the line `{line}`");
    match env.version.span {
        Span::NONE => diagnostic.note(text),
        // Behind the `#version` line.
        Span { hi, .. } => diagnostic.suggest(Span::new(hi, hi), format!("\n{line}"), text),
    }
}

/// An argument has a type that only blocks may contain unless `extension` is enabled.
pub fn storage_only(name: &str, extension: &str, span: Span) -> Diagnostic {
    let message = format!("`{name}` of this type needs the extension {extension}");
    let diagnostic = Diagnostic::error(Code::MISSING_EXTENSION, message).at(span, "only blocks may hold it");
    diagnostic.note(format!("add `#extension {extension} : require`"))
}

/// A cross-lane operation on a type for which it needs `extension`.
pub fn extended_lanes(name: &str, extension: &str, span: Span) -> Diagnostic {
    let message = format!("`{name}` on this type needs the extension {extension}");
    let diagnostic = Diagnostic::error(Code::MISSING_EXTENSION, message).at(span, "the extension is not enabled");
    diagnostic.note(format!("add `#extension {extension} : require`"))
}

/// The language has `name` from version `first` on, or (0) never; earlier versions need one of the extensions
/// `earlier`.
pub fn needs_version(env: &Env<'_>, name: &str, span: Span, first: u16, earlier: ExtensionSet) -> Diagnostic {
    let language = if env.is_es() { "GLSL ES" } else { "GLSL" };
    let message = match first {
        0 => format!("`{name}` does not exist in {language}"),
        _ => format!("`{name}` exists from {language} {first} on; this shader is written in {}", env.version.number),
    };
    let diagnostic = Diagnostic::error(Code::NEEDS_VERSION, message).at(span, "not part of this version");
    let names: Vec<&str> = earlier.iter().map(|extension| extension.name).collect();
    match names[..] {
        [] => diagnostic,
        _ => diagnostic.note(format!("{} brings it to earlier versions", names.join(" or "))),
    }
}

/// The language once had `name`.
pub fn removed(name: &str, span: Span) -> Diagnostic {
    let message = format!("`{name}` does not exist in this version of GLSL any more");
    let diagnostic = Diagnostic::error(Code::NEEDS_VERSION, message).at(span, "removed");
    diagnostic.note("declare an output instead: `layout(location = 0) out vec4 color;`")
}

/// A built-in variable of the GLSL for another API.
pub fn other_client(env: &Env<'_>, variable: &Variable, span: Span) -> Diagnostic {
    let message = format!("`{}` does not exist in shaders for {}", variable.name, env.profile.client.name());
    let diagnostic = Diagnostic::error(Code::WRONG_STAGE, message).at(span, "belongs to another language");
    let here = |row: &&Variable| row.client == Some(env.profile.client) && env.has_stage(row.stages);
    let (stem, _) = variable.name.split_at(variable.name.find('_').map_or(0, |at| at + 4));
    match VARIABLES.iter().filter(here).find(|row| row.name.starts_with(stem)) {
        Some(row) => diagnostic.note(format!("they have `{}`: {}", row.name, row.doc)),
        None => diagnostic,
    }
}

pub fn wrong_stage(env: &Env<'_>, name: &str, span: Span) -> Diagnostic {
    let stage = env.stage.name();
    let message = format!("`{name}` does not exist in {stage} shaders");
    let diagnostic = Diagnostic::error(Code::WRONG_STAGE, message).at(span, "used here");
    let here = VARIABLES.iter().filter(|variable| env.has_stage(variable.stages));
    let holder = here
        .into_iter()
        .find(|variable| matches!(variable.source, VariableSource::Blocks(blocks) if blocks.members.contains(&name)));
    match holder {
        Some(holder) => diagnostic.note(format!("it is a member of `{}[i]`", holder.name)),
        None => diagnostic,
    }
}

pub fn not_constant(name: &str, param: &Param, arg: &Argument) -> Diagnostic {
    let message = format!("`{name}`: the argument `{}` must be a constant expression", param.name);
    let diagnostic = Diagnostic::error(Code::ARGUMENT_NOT_CONSTANT, message);
    match arg.value {
        Value::Const(_) => diagnostic
            .at(arg.span, "depends on a specialization constant")
            .note("the value must be known when the shader is compiled, not only when the pipeline is made"),
        _ => diagnostic.at(arg.span, "its value is not known when the shader is compiled"),
    }
}

/// The message for a call that fits no overload.
pub fn failure(module: &Module, name: &str, span: Span, args: &[Argument], failure: &Failure) -> Diagnostic {
    match failure {
        Failure::Count(overloads) => {
            let message = format!("`{name}` does not take {}", count(args.len()));
            candidates(Diagnostic::error(Code::NO_OVERLOAD, message).at(span, "wrong number of arguments"), overloads)
        }
        Failure::Types(overloads) => {
            let message = format!("no overload of `{name}` takes ({})", type_list(module, args));
            let diagnostic = Diagnostic::error(Code::NO_OVERLOAD, message).at(span, "no overload fits");
            candidates(with_types(diagnostic, module, args), overloads)
        }
        Failure::NotWritable(index) => {
            let message = format!("`{name}` writes to its argument {}, which must be a variable", index + 1);
            Diagnostic::error(Code::NO_OVERLOAD, message).at(args[*index].span, "cannot be written")
        }
        Failure::Ambiguous(a, b) => ambiguous(module, name, span, args, [a, b]),
    }
}

fn ambiguous(module: &Module, name: &str, span: Span, args: &[Argument], rivals: [&Candidate; 2]) -> Diagnostic {
    let message = format!("the call `{name}({})` is ambiguous", type_list(module, args));
    let diagnostic = Diagnostic::error(Code::AMBIGUOUS_CALL, message).at(span, "more than one overload fits");
    let diagnostic = with_types(diagnostic, module, args);
    let overloads = rivals.map(|candidate| candidate.overload);
    candidates(diagnostic, &overloads).note("convert an argument to choose one")
}

fn count(args: usize) -> String {
    match args {
        0 => "an empty argument list".into(),
        1 => "one argument".into(),
        _ => format!("{args} arguments"),
    }
}

fn type_list(module: &Module, args: &[Argument]) -> String {
    let names: Vec<String> = args.iter().map(|arg| types::display(&module.types, &module.constants, arg.ty)).collect();
    names.join(", ")
}

fn with_types(diagnostic: Diagnostic, module: &Module, args: &[Argument]) -> Diagnostic {
    let name = |arg: &Argument| types::display(&module.types, &module.constants, arg.ty);
    args.iter().filter(|arg| !arg.span.is_none()).fold(diagnostic, |d, arg| d.with(arg.span, name(arg)))
}

/// An overload as messages show it.
pub fn declaration(overload: &Overload) -> String {
    match overload.types {
        "" => overload.signature.to_string(),
        types => format!("{}  where T is {types}", overload.signature),
    }
}

/// Adds a note for each candidate, equal ones once.
fn candidates(mut diagnostic: Diagnostic, overloads: &[&Overload]) -> Diagnostic {
    let mut shown: Vec<String> = Vec::new();
    for overload in overloads {
        let line = declaration(overload);
        if !shown.contains(&line) {
            shown.push(line);
        }
    }
    let rest = shown.len().saturating_sub(SHOWN);
    for line in shown.into_iter().take(SHOWN) {
        diagnostic = diagnostic.note(format!("candidate: {line}"));
    }
    if rest > 0 { diagnostic.note(format!("and {rest} more")) } else { diagnostic }
}
