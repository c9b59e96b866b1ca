//! Suggestions for unknown words of a WGSL text. Only messages use it.

use super::lexer::{Kind, Token, tokens};
use crate::diagnostic::nearest::nearest;
use crate::grammar;

/// Words of GLSL and HLSL with their counterparts, and predeclared types that are often misspelt.
#[rustfmt::skip]
static FOREIGN: &[(&str, &str)] = &[
    ("bool2", "vec2<bool>"), ("float", "f32"), ("float2", "vec2f"), ("float3", "vec3f"), ("float4", "vec4f"),
    ("half", "f16"), ("int", "i32"), ("int2", "vec2i"), ("int3", "vec3i"), ("int4", "vec4i"), ("ivec2", "vec2i"),
    ("ivec3", "vec3i"), ("ivec4", "vec4i"), ("uint", "u32"), ("uvec2", "vec2u"), ("uvec3", "vec3u"), ("uvec4", "vec4u"),
    ("barrier", "workgroupBarrier"), ("lerp", "mix"), ("mod", "%"), ("inversesqrt", "inverseSqrt"), ("frac", "fract"),
];

/// Words after which a name is declared.
const DECLARING: [&str; 7] = ["let", "var", "const", "fn", "struct", "alias", "override"];

/// The word that `name` should be: a counterpart, otherwise the nearest that the module declares or crosslane has.
pub(super) fn for_name(name: &str, text: &str) -> Option<String> {
    if let Some((_, ours)) = FOREIGN.iter().find(|(foreign, _)| *foreign == name) {
        return Some((*ours).to_string());
    }
    let tokens = tokens(text);
    let declared = tokens.windows(3).filter_map(|three| declared(three, text));
    // Stubs that the pass before naga has added are not names of the user's.
    let known = declared
        .filter(|name| !name.starts_with("crosslane_call"))
        .chain(grammar::wgsl_function_names().map(|name| name as &str));
    nearest(name, known).map(str::to_string)
}

/// The name that the second token is, where it is declared there: after a keyword or its template, or before `:`.
fn declared<'t>(three: &[Token], text: &'t str) -> Option<&'t str> {
    let [before, name, after] = three else { return None };
    let named = DECLARING.contains(&before.text(text)) || before.is(b'>') || after.is(b':');
    (name.kind == Kind::Word && named).then(|| &text[name.lo as usize..name.hi as usize])
}

/// The extension that `enable name;` should name.
pub(super) fn for_extension(name: &str) -> Option<&'static str> {
    nearest(name, ["crosslane", "subgroups", "f16"])
}
