//! Constants from outside: `-D NAME=VALUE` and crosslane's own `CROSSLANE_…`, as module constants after the text.
//!
//! A constant is added when the text uses its name and declares nothing of that name at module scope. A value is a WGSL
//! expression: `-D N=32` makes `const N = 32;`. crosslane's own need `enable crosslane;`; the targets are bools.

use super::WgslOptions;
use super::lexer::{self, Kind, Token};
use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::profile::Target;
use rustc_hash::FxHashSet;

/// What the text uses and what it declares at module scope.
struct Names<'a> {
    used: FxHashSet<&'a str>,
    declared: FxHashSet<&'a str>,
}

fn names<'a>(source: &'a str, tokens: &[Token]) -> Names<'a> {
    let mut names = Names { used: FxHashSet::default(), declared: FxHashSet::default() };
    let (mut depth, mut declaring) = (0u32, false);
    for token in tokens {
        let text = token.text(source);
        match token.kind {
            Kind::Punct(b'{') => depth += 1,
            Kind::Punct(b'}') => depth = depth.saturating_sub(1),
            Kind::Word if depth == 0 && matches!(text, "const" | "override" | "fn" | "struct" | "alias" | "var") => {
                declaring = true;
                continue;
            }
            Kind::Word => {
                // `var<storage, read> name`: what stands between the brackets is taken for names too, harmlessly.
                let set = if declaring { &mut names.declared } else { &mut names.used };
                set.insert(text);
            }
            _ => {}
        }
        declaring &= matches!(token.kind, Kind::Punct(b'<' | b'>' | b',')) || is_space(text);
    }
    names
}

/// Words that stand between `var<` and `>`.
fn is_space(word: &str) -> bool {
    const SPACES: [&str; 10] = [
        "storage",
        "workgroup",
        "private",
        "uniform",
        "immediate",
        "push_constant",
        "read",
        "write",
        "read_write",
        "function",
    ];
    SPACES.contains(&word)
}

/// The declarations to add; `crosslane` tells whether the module has `enable crosslane;`.
pub(super) fn declarations(
    source: &str,
    tokens: &[Token],
    crosslane: bool,
    options: &WgslOptions<'_>,
    diagnostics: &mut Diagnostics,
) -> String {
    let own = if crosslane { own_constants(options) } else { Vec::new() };
    if options.defines.is_empty() && own.is_empty() {
        return String::new();
    }
    let names = names(source, tokens);
    let wanted = |name: &str| names.used.contains(name) && !names.declared.contains(name);
    let mut out = String::new();
    for (name, value) in own.iter().filter(|(name, _)| wanted(name)) {
        out += &format!("\nconst {name} = {value};");
    }
    for (name, value) in options.defines.iter().filter(|(name, _)| wanted(name)) {
        match is_expression(value) {
            true => out += &format!("\nconst {name} = {value};"),
            false => diagnostics.push(bad_define(name, value)),
        }
    }
    out
}

fn own_constants(options: &WgslOptions<'_>) -> Vec<(&'static str, String)> {
    let mut list = vec![
        ("CROSSLANE_TARGET_SPIRV", (options.target == Target::Spirv).to_string()),
        ("CROSSLANE_TARGET_NV", (options.target == Target::Nv).to_string()),
        ("CROSSLANE_TARGET_AMD", (options.target == Target::Amd).to_string()),
    ];
    list.extend(options.wave_size.map(|size| ("CROSSLANE_SUBGROUP_SIZE", format!("{size}u"))));
    list
}

/// Whether a value can be nothing but an expression: no statement ends or opens in it, and its brackets match.
fn is_expression(value: &str) -> bool {
    let tokens = lexer::tokens(value);
    let mut open = Vec::new();
    for token in &tokens {
        match token.kind {
            Kind::Punct(b'(') => open.push(b')'),
            Kind::Punct(b'[') => open.push(b']'),
            Kind::Punct(close @ (b')' | b']')) if open.pop() != Some(close) => return false,
            Kind::Punct(b';' | b'{' | b'}' | b'@') => return false,
            _ => {}
        }
    }
    // A comment could swallow what follows.
    !tokens.is_empty() && open.is_empty() && !value.contains("//") && !value.contains("/*") && !value.contains('\n')
}

fn bad_define(name: &str, value: &str) -> Diagnostic {
    let message = format!("`{value}`, the value of `{name}` from the command line, is not a WGSL expression");
    Diagnostic::error(Code::BAD_DEFINE, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn added(source: &str, crosslane: bool, defines: &[(String, String)]) -> (String, usize) {
        let options = WgslOptions { defines, wave_size: Some(32), ..WgslOptions::default() };
        let mut diagnostics = Diagnostics::new();
        let text = declarations(source, &lexer::tokens(source), crosslane, &options, &mut diagnostics);
        (text, diagnostics.error_count())
    }

    fn define(name: &str, value: &str) -> Vec<(String, String)> {
        vec![(name.into(), value.into())]
    }

    #[test]
    fn only_what_is_used_is_added() {
        let source = "const A = CROSSLANE_SUBGROUP_SIZE; fn f() { if CROSSLANE_TARGET_NV { } }";
        let (text, _) = added(source, true, &[]);
        assert_eq!(text, "\nconst CROSSLANE_TARGET_NV = false;\nconst CROSSLANE_SUBGROUP_SIZE = 32u;");
        assert_eq!(added(source, false, &[]).0, "");
        assert_eq!(added("fn f() { let x = N; }", false, &define("N", "8")).0, "\nconst N = 8;");
    }

    #[test]
    fn declared_names_win() {
        for source in
            ["const N = 1; const M = N;", "override N: u32; const M = N;", "var<private> N: u32; fn f() { N = 1u; }"]
        {
            assert_eq!(added(source, false, &define("N", "8")).0, "", "{source}");
        }
    }

    #[test]
    fn values_are_expressions() {
        let source = "fn f() { let x = N; }";
        for value in ["1; var<private> y: u32 = 2", "(1", "1 // x", ""] {
            assert_eq!(added(source, false, &define("N", value)), (String::new(), 1), "{value}");
        }
    }
}
