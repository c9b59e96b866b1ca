//! Constants from the command line, `-D NAME=VALUE`, and crosslane's own `CROSSLANE_…`.
//!
//! A value is a WGSL expression. If the module declares `override NAME`, the value becomes the override's default. If
//! the module uses the name without declaring it, `const NAME = VALUE;` is appended to the text. A definition that does
//! neither has no effect and gets a warning. crosslane's own constants need `enable crosslane;`; the targets are bools.

use super::WgslOptions;
use super::lexer::{self, Kind, Token};
use super::offsets::Edit;
use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::profile::Target;
use crate::source::Span;
use rustc_hash::{FxHashMap, FxHashSet};

/// The names that the text uses, and the names that it declares at module scope.
struct Names<'a> {
    used: FxHashSet<&'a str>,
    declared: FxHashMap<&'a str, Declared>,
}

/// A declaration: its name's token, and whether it is an `override`.
#[derive(Clone, Copy)]
struct Declared {
    name: usize,
    is_override: bool,
}

fn names<'a>(source: &'a str, tokens: &[Token]) -> Names<'a> {
    let mut names = Names { used: FxHashSet::default(), declared: FxHashMap::default() };
    let (mut depth, mut declaring, mut is_override) = (0u32, false, false);
    for (at, token) in tokens.iter().enumerate() {
        let text = token.text(source);
        match token.kind {
            Kind::Punct(b'{') => depth += 1,
            Kind::Punct(b'}') => depth = depth.saturating_sub(1),
            Kind::Word if depth == 0 && matches!(text, "const" | "override" | "fn" | "struct" | "alias" | "var") => {
                (declaring, is_override) = (true, text == "override");
                continue;
            }
            // `var<storage, read> name`: the words in the template list count as names too, which is harmless.
            Kind::Word if declaring => drop(names.declared.insert(text, Declared { name: at, is_override })),
            Kind::Word => drop(names.used.insert(text)),
            _ => {}
        }
        declaring &= matches!(token.kind, Kind::Punct(b'<' | b'>' | b',')) || is_space(text);
    }
    names
}

/// Returns true for words between `var<` and `>`.
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

/// The changes for constants from outside.
#[derive(Default, Debug)]
pub(super) struct Added {
    /// Declarations to append to the text.
    pub tail: String,
    /// New defaults of overrides.
    pub edits: Vec<Edit>,
}

/// A text and the position of its first byte.
#[derive(Clone, Copy)]
pub(super) struct Text<'a> {
    pub source: &'a str,
    pub base: u32,
    pub tokens: &'a [Token],
}

/// The declarations to add and the defaults to replace; `crosslane` is true if the module has `enable crosslane;`.
pub(super) fn constants(
    text: Text<'_>,
    crosslane: bool,
    options: &WgslOptions<'_>,
    diagnostics: &mut Diagnostics,
) -> Added {
    let own = if crosslane { own_constants(options) } else { Vec::new() };
    let mut added = Added::default();
    if options.defines.is_empty() && own.is_empty() {
        return added;
    }
    let names = names(text.source, text.tokens);
    let is_free = |name: &str| names.used.contains(name) && !names.declared.contains_key(name);
    for (name, value) in own.iter().filter(|(name, _)| is_free(name)) {
        added.tail += &format!("\nconst {name} = {value};");
    }
    for (name, value) in options.defines {
        match names.declared.get(name.as_str()) {
            _ if !is_expression(value) && (is_free(name) || names.declared.contains_key(name.as_str())) => {
                diagnostics.push(bad_define(name, value));
            }
            Some(Declared { name, is_override: true }) => added.edits.extend(text.new_default(*name, value)),
            Some(declared) => diagnostics.push(declared_anyway(name, text.span(declared.name))),
            None if is_free(name) => added.tail += &format!("\nconst {name} = {value};"),
            None => diagnostics.push(unused(name)),
        }
    }
    added
}

impl Text<'_> {
    fn span(self, token: usize) -> Span {
        let Token { lo, hi, .. } = self.tokens[token];
        Span::new(self.base + lo, self.base + hi)
    }

    /// Replaces or adds the default of the override whose name is this token; `None` if its end is missing.
    fn new_default(self, name: usize, value: &str) -> Option<Edit> {
        let rest = &self.tokens[name..];
        let end = rest.iter().find(|token| token.is(b';'))?.lo;
        let start = rest.iter().take_while(|token| token.lo < end).find(|token| token.is(b'='));
        Some(Edit { lo: start.map_or(end, |token| token.lo), hi: end, text: format!(" = {value}") })
    }
}

fn own_constants(options: &WgslOptions<'_>) -> Vec<(&'static str, String)> {
    let constant = |target: Target| (target.row().define, (options.target == target).to_string());
    let mut list: Vec<_> = Target::ALL.into_iter().map(constant).collect();
    list.extend(options.wave_size.map(|size| ("CROSSLANE_SUBGROUP_SIZE", format!("{size}u"))));
    list
}

/// Returns true if a value can only be an expression: it contains no statement, and its brackets match.
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
    // A comment could swallow the text after it.
    !tokens.is_empty() && open.is_empty() && !value.contains("//") && !value.contains("/*") && !value.contains('\n')
}

/// The module defines the name itself.
fn declared_anyway(name: &str, at: Span) -> Diagnostic {
    let message = format!("the definition of `{name}` from the command line has no effect");
    Diagnostic::warning(Code::DEFINE_WITHOUT_EFFECT, message)
        .at(at, "the module declares it, and not as an `override`")
        .note("WGSL has no preprocessor: a definition is the default of an `override`, or a constant that the module lacks")
        .help(format_args!("declare it as `override {name}`, or leave the option out"))
}

fn unused(name: &str) -> Diagnostic {
    let message = format!("the definition of `{name}` from the command line has no effect: the module does not use it");
    Diagnostic::warning(Code::DEFINE_WITHOUT_EFFECT, message)
        .help("leave the option out, or check the spelling of the name")
}

fn bad_define(name: &str, value: &str) -> Diagnostic {
    let message = format!("`{value}`, the value of `{name}` from the command line, is not a WGSL expression");
    Diagnostic::error(Code::BAD_DEFINE, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn added(source: &str, crosslane: bool, defines: &[(String, String)]) -> (String, usize) {
        let (text, diagnostics) = treated(source, crosslane, defines);
        (text.strip_prefix(source).unwrap_or(&text).to_string(), diagnostics.error_count())
    }

    fn treated(source: &str, crosslane: bool, defines: &[(String, String)]) -> (String, Diagnostics) {
        let options = WgslOptions { defines, wave_size: Some(32), ..WgslOptions::default() };
        let mut diagnostics = Diagnostics::new();
        let text = Text { source, base: 0, tokens: &lexer::tokens(source) };
        let added = constants(text, crosslane, &options, &mut diagnostics);
        let (text, _) = super::super::offsets::apply(source, 0, added.edits);
        (text + &added.tail, diagnostics)
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
    fn overrides_get_new_defaults() {
        let with = |source: &str| treated(source, false, &define("N", "8")).0;
        assert_eq!(with("@id(3) override N: u32 = 4 + 1; const M = 1;"), "@id(3) override N: u32  = 8; const M = 1;");
        assert_eq!(with("override N: u32; const M = 2;"), "override N: u32 = 8; const M = 2;");
        assert_eq!(with("override N = 2u;"), "override N  = 8;");
    }

    #[test]
    fn definitions_without_effect_are_warned_of() {
        for source in ["const N = 1; const M = N;", "var<private> N: u32; fn f() { N = 1u; }", "fn f() { }"] {
            let (text, diagnostics) = treated(source, false, &define("N", "8"));
            assert_eq!(text, source);
            assert_eq!(diagnostics.iter().map(|d| d.code).collect::<Vec<_>>(), [Code::DEFINE_WITHOUT_EFFECT]);
        }
    }

    #[test]
    fn values_are_expressions() {
        for source in ["fn f() { let x = N; }", "override N: u32;"] {
            for value in ["1; var<private> y: u32 = 2", "(1", "1 // x", ""] {
                assert_eq!(added(source, false, &define("N", value)), (String::new(), 1), "{value}");
            }
        }
    }
}
