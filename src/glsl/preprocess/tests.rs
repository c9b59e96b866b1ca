//! Tests of the preprocessor: its output, and the message for each mistake.

mod conditionals;
mod directives;
mod files;
mod macros;
mod output;

use super::*;
use crate::glsl::token::TokenKind;
use crate::limits::Limits;
use crate::source::{IncludeKind, LoadError, Loaded, NoIncludes};

/// Two extensions, one that this target lacks, and the target's width.
struct TestDialects;

impl Dialects for TestDialects {
    fn extension(&self, name: &str) -> Option<ExtensionInfo> {
        match name {
            "GL_KHR_shader_subgroup_basic" => Some(ExtensionInfo { value: 1, unavailable: None }),
            "GL_CROSSLANE_shuffle" => Some(ExtensionInfo { value: 3, unavailable: None }),
            "GL_CROSSLANE_permute" => Some(ExtensionInfo { value: 1, unavailable: Some("no permute here".into()) }),
            _ => None,
        }
    }

    fn predefined(&self, name: &str) -> Option<u32> {
        (name == "CROSSLANE_SUBGROUP_SIZE").then_some(32)
    }

    fn client(&self, name: &str) -> Option<u32> {
        (name == "VULKAN").then_some(100)
    }

    fn extension_names(&self) -> Box<dyn Iterator<Item = &str> + '_> {
        Box::new(["GL_KHR_shader_subgroup_basic", "GL_CROSSLANE_shuffle", "GL_CROSSLANE_permute"].into_iter())
    }
}

/// Files by name; quoted and angled includes are the same.
struct Files(Vec<(&'static str, &'static str)>);

impl Loader for Files {
    fn load(&self, name: &str, _: IncludeKind, _: &str) -> Result<Loaded, LoadError> {
        let found = self.0.iter().find(|(known, _)| *known == name);
        let (name, text) = found.ok_or_else(|| LoadError::NotFound(vec!["a/x".into(), "b/x".into()]))?;
        Ok(Loaded { name: (*name).into(), text: (*text).into() })
    }
}

/// The result of a run.
struct Outcome {
    stream: TokenStream,
    /// The spellings of the tokens with single spaces between them.
    text: String,
    sources: SourceMap,
    interner: Interner,
    diagnostics: Diagnostics,
}

impl Outcome {
    fn codes(&self) -> Vec<Code> {
        self.diagnostics.iter().map(|diagnostic| diagnostic.code).collect()
    }

    fn messages(&self) -> String {
        crate::diagnostic::render::human(&self.sources, &self.diagnostics)
    }
}

fn run_with(text: &str, loader: &dyn Loader, macros: &[MacroOption]) -> Outcome {
    let mut sources = SourceMap::new();
    let main = sources.add("main.comp", text).unwrap();
    let mut interner = Interner::new();
    let mut diagnostics = Diagnostics::new();
    let options = PreprocessOptions {
        dialects: &TestDialects,
        stage: None,
        macros,
        default_version: None,
        forced_version: None,
        names_profile: None,
        preamble: "",
        limits: Limits::default(),
    };
    let stream = preprocess(main, &mut sources, loader, &options, &mut interner, &mut diagnostics);
    let text = spell(&stream, &interner);
    Outcome { stream, text, sources, interner, diagnostics }
}

fn spell(stream: &TokenStream, interner: &Interner) -> String {
    let words = stream.tokens.iter().map(|token| match token.kind() {
        TokenKind::Word(name) => interner.text(name).to_string(),
        TokenKind::String(body) => format!("\"{}\"", interner.text(body)),
        TokenKind::Punct(punct) => punct.text().to_string(),
        TokenKind::Literal(id) => match stream.literals[id.0 as usize] {
            crate::glsl::token::Literal::Int { value, .. } => value.to_string(),
            crate::glsl::token::Literal::Float { value, .. } => format!("{value:?}"),
        },
        TokenKind::End => String::new(),
    });
    words.collect::<Vec<_>>().join(" ").trim_end().to_string()
}

/// Runs lines below `#version 450`.
fn run(lines: &str) -> Outcome {
    run_with(&format!("#version 450\n{lines}"), &NoIncludes, &[])
}

fn run_es(lines: &str) -> Outcome {
    run_with(&format!("#version 310 es\n{lines}"), &NoIncludes, &[])
}

/// The tokens of lines without errors.
fn expands(lines: &str) -> String {
    let outcome = run(lines);
    assert_eq!(outcome.codes(), [], "{}", outcome.messages());
    outcome.text
}

/// Asserts the codes of all messages.
fn gives(lines: &str, codes: &[Code]) -> Outcome {
    let outcome = run(lines);
    assert_eq!(outcome.codes(), codes, "{lines}\n{}", outcome.messages());
    outcome
}
