//! Advice about syntax errors in a WGSL text: the intended word, and WGSL's equivalents for the syntax of other
//! languages.

use super::lexer::{Kind, Token, tokens};
use crate::diagnostic::nearest::nearest;
use crate::grammar;
use naga::keywords::wgsl::BUILTIN_IDENTIFIERS;
use std::ops::Range;

/// Words of GLSL and HLSL with their counterparts, and predeclared types that are often misspelt.
#[rustfmt::skip]
static FOREIGN: &[(&str, &str)] = &[
    ("bool2", "vec2<bool>"), ("float", "f32"), ("float2", "vec2f"), ("float3", "vec3f"), ("float4", "vec4f"),
    ("half", "f16"), ("int", "i32"), ("int2", "vec2i"), ("int3", "vec3i"), ("int4", "vec4i"), ("ivec2", "vec2i"),
    ("ivec3", "vec3i"), ("ivec4", "vec4i"), ("uint", "u32"), ("uvec2", "vec2u"), ("uvec3", "vec3u"), ("uvec4", "vec4u"),
    ("barrier", "workgroupBarrier"), ("lerp", "mix"), ("mod", "%"), ("inversesqrt", "inverseSqrt"), ("frac", "fract"),
    ("rsqrt", "inverseSqrt"), ("atan2f", "atan2"), ("ddx", "dpdx"), ("ddy", "dpdy"), ("dFdx", "dpdx"), ("dFdy", "dpdy"),
    ("bitCount", "countOneBits"), ("bitfieldReverse", "reverseBits"), ("bitfieldExtract", "extractBits"),
    ("bitfieldInsert", "insertBits"), ("atomicCompSwap", "atomicCompareExchangeWeak"), ("True", "true"), ("False", "false"),
];

/// Words that start declarations in other languages, with WGSL's equivalents.
#[rustfmt::skip]
static DECLARATIONS: &[(&str, &str)] = &[
    ("function", "fn"), ("func", "fn"), ("def", "fn"), ("void", "fn"), ("layout", "@group(0) @binding(0) var"),
    ("uniform", "var<uniform>"), ("buffer", "var<storage, read_write>"), ("shared", "var<workgroup>"),
    ("groupshared", "var<workgroup>"), ("typedef", "alias"), ("using", "alias"), ("type", "alias"), ("static", "var<private>"),
];

/// Values of the attribute `@builtin` (WGSL 13.3.1.1).
#[rustfmt::skip]
static BUILTIN_VALUES: &[&str] = &[
    "vertex_index", "instance_index", "position", "front_facing", "frag_depth", "sample_index", "sample_mask",
    "primitive_index", "clip_distances", "local_invocation_id", "local_invocation_index", "global_invocation_id",
    "workgroup_id", "num_workgroups", "subgroup_invocation_id", "subgroup_size", "subgroup_id", "num_subgroups",
];

/// Words that start a declaration at module scope.
const ITEMS: [&str; 9] = ["fn", "struct", "var", "const", "override", "alias", "enable", "requires", "diagnostic"];

/// Words after which a name is declared.
const DECLARING: [&str; 7] = ["let", "var", "const", "fn", "struct", "alias", "override"];

/// Words that start a statement.
const STATEMENTS: [&str; 13] = [
    "let",
    "var",
    "const",
    "return",
    "if",
    "for",
    "while",
    "loop",
    "switch",
    "break",
    "continue",
    "discard",
    "continuing",
];

fn counterpart(table: &[(&'static str, &'static str)], name: &str) -> Option<String> {
    table.iter().find(|(foreign, _)| *foreign == name).map(|(_, ours)| (*ours).to_string())
}

/// The likely spelling of `name`: an equivalent, otherwise the most similar name in the module or the language.
pub(super) fn for_name(name: &str, text: &str) -> Option<String> {
    let tokens = tokens(text);
    let declared = tokens.windows(3).filter_map(|three| declared(three, text));
    // Exclude the stubs that the pass before naga has added.
    let known = declared
        .filter(|name| !name.starts_with("crosslane_call"))
        .chain(grammar::wgsl_function_names().map(|name| name as &str))
        .chain(BUILTIN_IDENTIFIERS.iter().copied())
        .chain(["true", "false"])
        .chain(FOREIGN.iter().map(|(foreign, _)| *foreign));
    let near = counterpart(FOREIGN, name).or_else(|| nearest(name, known).map(str::to_string))?;
    Some(counterpart(FOREIGN, &near).unwrap_or(near))
}

/// The second token, if it is declared there: after a keyword or its template, or before `:`.
pub(super) fn declared<'t>(three: &[Token], text: &'t str) -> Option<&'t str> {
    let [before, name, after] = three else { return None };
    let named = DECLARING.contains(&before.text(text)) || before.is(b'>') || after.is(b':');
    (name.kind == Kind::Word && named).then(|| &text[name.lo as usize..name.hi as usize])
}

/// The extension that `enable name;` should name.
pub(super) fn for_extension(name: &str) -> Option<&'static str> {
    nearest(name, ["crosslane", "subgroups", "f16"])
}

/// The built-in value that `@builtin(name)` should name.
pub(super) fn for_builtin(name: &str) -> Option<&'static str> {
    nearest(name, BUILTIN_VALUES.iter().copied())
}

/// The word that a declaration should start with.
pub(super) fn for_item(name: &str) -> Option<String> {
    counterpart(DECLARATIONS, name).or_else(|| nearest(name, ITEMS).map(str::to_string))
}

/// The end of the token before a position.
pub(super) fn end_before(text: &str, at: usize) -> Option<Range<usize>> {
    let token = tokens(text).into_iter().take_while(|token| (token.hi as usize) <= at).last()?;
    Some(token.lo as usize..token.hi as usize)
}

/// Advice about an error, from the tokens at and before its place.
pub(super) fn habit(message: &str, text: &str, place: &Range<usize>) -> Option<String> {
    let found = text.get(place.clone())?;
    let before = end_before(text, place.start).and_then(|before| text.get(before));
    let is_word = |word: &str| word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    match found {
        "?" => Some("WGSL has no `?:`: write `select(if_false, if_true, condition)`".into()),
        "++" | "--" => Some("`++` and `--` are statements in WGSL, not expressions: write `i++;` or `i += 1`".into()),
        ";" if message.starts_with("expected `,`") => {
            Some("members of a structure and parameters have `,` between them".into())
        }
        "'" | "\"" => Some("WGSL has no strings and no character constants".into()),
        "#" => Some("WGSL has no preprocessor: `override` and `const` take the place of `#define`".into()),
        _ if message.starts_with("expected `{`") => {
            Some("the bodies of functions, loops and `if` are in braces: `{ … }`".into())
        }
        name if message.starts_with("atomic variables cannot be accessed") => Some(format!(
            "`atomicLoad(&{name})` reads it, `atomicStore(&{name}, value)` writes it, `atomicAdd(&{name}, value)` adds to it"
        )),
        _ if message.starts_with("automatic conversions cannot convert") => {
            let wanted = message.split('`').nth_back(1)?;
            Some(format!("`{wanted}(…)` converts a value"))
        }
        name if message.starts_with("expected assignment") && is_word(name) => {
            Some(after_word(before.filter(|before| is_word(before))?, name))
        }
        _ => None,
    }
}

/// Advice about two consecutive words at the start of a statement.
fn after_word(first: &str, second: &str) -> String {
    if let Some(keyword) = nearest(first, STATEMENTS) {
        return format!("did you mean `{keyword}`?");
    }
    let ty = counterpart(FOREIGN, first).unwrap_or_else(|| first.to_string());
    format!("a declaration begins with `let` or `var`: `var {second}: {ty} = …;`")
}
