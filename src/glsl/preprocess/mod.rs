//! The GLSL preprocessor (GLSL 4.60 and GLSL ES 3.20, sections 3.3 to 3.5): a file in, a [`TokenStream`] or text out.
//!
//! It always returns a stream; errors in the text go to the [`Diagnostics`]. Macros of extensions and of the target are
//! looked up in [`Dialects`] when a shader first uses their names, so that none is defined needlessly. It reads no file
//! itself and does not know which names are keywords.

mod condition;
mod define;
mod directive;
mod evaluate;
mod expand;
mod extension;
mod include;
mod input;
mod predefined;
mod stream;
mod text;
mod version;

#[cfg(test)]
mod tests;

use super::lex::{PpKind, PpToken};
use super::token::{ExtensionUse, GlslProfile, Interner, Pragma, Symbol, TokenStream, Version};
use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::ir::Stage;
use crate::limits::Limits;
use crate::source::{FileId, Loader, SourceMap, Span};
use condition::Conditional;
use define::MacroTable;
pub use directive::names as directive_names;
use expand::Expansion;
use input::Input;
use rustc_hash::FxHashSet;
use std::borrow::Cow;
use std::sync::Arc;
pub use version::is_supported;

/// The facts about an extension that the preprocessor needs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ExtensionInfo {
    /// Value of the macro that has the extension's name.
    pub value: u32,
    /// The reason that the target lacks it. Its macro is then undefined, and `require` is an error.
    pub unavailable: Option<Cow<'static, str>>,
}

/// The extensions and target macros that a shader can use, looked up one by one.
pub trait Dialects {
    /// The extension of this name (such as `GL_KHR_shader_subgroup_basic`).
    fn extension(&self, name: &str) -> Option<ExtensionInfo>;

    /// Value of a macro that the target defines. It is only queried for names that begin with `CROSSLANE_`.
    fn predefined(&self, _name: &str) -> Option<u32> {
        None
    }

    /// The macro that a `#pragma` line sets, and its value.
    fn set_by(&self, _pragma: &str) -> Option<(&'static str, u32)> {
        None
    }

    /// Value of the macro that identifies the API, such as `VULKAN`.
    fn client(&self, _name: &str) -> Option<u32> {
        None
    }

    /// Names of all extensions, for suggestions.
    fn extension_names(&self) -> Box<dyn Iterator<Item = &str> + '_> {
        Box::new(std::iter::empty())
    }
}

/// `-D` or `-U`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum MacroOption {
    /// `name` may have parameters, as in `F(x)`.
    Define {
        name: String,
        value: String,
    },
    /// A name without a value, which then is 1.
    Name(String),
    Undefine(String),
}

impl MacroOption {
    /// The macro in the argument of `-D`: `NAME`, which is then 1, or `NAME=VALUE`.
    pub fn define(text: &str) -> MacroOption {
        match text.split_once('=') {
            Some((name, value)) => MacroOption::Define { name: name.to_string(), value: value.to_string() },
            None => MacroOption::Name(text.to_string()),
        }
    }

    /// Name and value of a definition.
    pub fn defined(&self) -> Option<(String, String)> {
        match self {
            MacroOption::Define { name, value } => Some((name.clone(), value.clone())),
            MacroOption::Name(name) => Some((name.clone(), "1".to_string())),
            MacroOption::Undefine(_) => None,
        }
    }

    /// # Errors
    /// When a macro cannot have its name.
    pub fn check(&self) -> Result<(), String> {
        match self {
            MacroOption::Define { name, .. } | MacroOption::Name(name) => {
                check_name(name.split('(').next().unwrap_or(name))
            }
            MacroOption::Undefine(name) => check_name(name),
        }
    }
}

/// # Errors
/// When a macro cannot have the name.
pub fn check_name(name: &str) -> Result<(), String> {
    let mut bytes = name.bytes();
    let word = |b: u8| b.is_ascii_alphanumeric() || b == b'_';
    let is_identifier = bytes.next().is_some_and(|b| word(b) && !b.is_ascii_digit()) && bytes.all(word);
    if is_identifier { Ok(()) } else { Err(format!("`{name}` is not a valid macro name")) }
}

/// The options that a caller can set.
pub struct PreprocessOptions<'a> {
    pub dialects: &'a dyn Dialects,
    /// The stage of the shader, unless `#pragma shader_stage` decides.
    pub stage: Option<Stage>,
    /// In the order of the command line.
    pub macros: &'a [MacroOption],
    /// Version of a shader without `#version` line, which is an error without this.
    pub default_version: Option<Version>,
    /// Version and profile that override the shader's own.
    pub forced_version: Option<(u16, GlslProfile)>,
    /// See [`crate::glsl::dialect::Dialect::names_profile`].
    pub names_profile: Option<bool>,
    /// Text that is read after the `#version` line, after the macros.
    pub preamble: &'a str,
    /// Only the limits on includes and macros apply.
    pub limits: Limits,
}

/// Preprocesses a file and its includes.
pub fn preprocess(
    main: FileId,
    sources: &mut SourceMap,
    loader: &dyn Loader,
    options: &PreprocessOptions<'_>,
    interner: &mut Interner,
    diagnostics: &mut Diagnostics,
) -> TokenStream {
    stream::finish(Preprocessor::new(main, sources, loader, options, interner, diagnostics))
}

/// Preprocesses to text for people: tokens stay on their lines, `#line` marks changes of file, and the `#version`,
/// `#extension` and `#pragma` lines are kept.
pub fn preprocess_to_text(
    main: FileId,
    sources: &mut SourceMap,
    loader: &dyn Loader,
    options: &PreprocessOptions<'_>,
    interner: &mut Interner,
    diagnostics: &mut Diagnostics,
) -> String {
    text::render(Preprocessor::new(main, sources, loader, options, interner, diagnostics), main)
}

/// The output of a run other than tokens: the lines that matter to the parser.
struct Output {
    /// Number of tokens so far.
    tokens: u32,
    version: Version,
    extensions: Vec<ExtensionUse>,
    pragmas: Vec<Pragma>,
    /// Lines that the text form keeps.
    kept: Vec<KeptLine>,
}

/// A directive's line and the number of tokens before it.
struct KeptLine {
    token: u32,
    span: Span,
}

/// The version that replaces a missing or wrong version line.
const FALLBACK_VERSION: Version = Version { number: 460, profile: GlslProfile::Core, span: Span::NONE };

/// The state of one run.
struct Preprocessor<'a> {
    sources: &'a mut SourceMap,
    loader: &'a dyn Loader,
    options: &'a PreprocessOptions<'a>,
    interner: &'a mut Interner,
    diagnostics: &'a mut Diagnostics,
    /// The current file and the files that include it; the main file comes first and stays.
    inputs: Vec<Input>,
    conditionals: Vec<Conditional>,
    macros: MacroTable,
    expansion: Expansion,
    /// Names of the files with `#pragma once`.
    once: FxHashSet<Arc<str>>,
    /// Files included so far.
    included: usize,
    /// An extension allows `#include`.
    includes: bool,
    /// An extension allows file names in `#line` and `__FILE__`.
    file_names: bool,
    /// An extension allows the shader to define macros of other extensions.
    stands_in: bool,
    /// The `#version` line names a profile.
    names_profile: bool,
    /// The stage that a pragma names.
    named_stage: Option<Stage>,
    /// The warnings so far, each reported once.
    warned: Warned,
    output: Output,
}

/// Warnings given only once.
#[derive(Default)]
struct Warned {
    late_extension: bool,
    /// Names that count as 0.
    zero: FxHashSet<Symbol>,
}

impl<'a> Preprocessor<'a> {
    /// A run that has read the `#version` line and not yet any token.
    fn new(
        main: FileId,
        sources: &'a mut SourceMap,
        loader: &'a dyn Loader,
        options: &'a PreprocessOptions<'a>,
        interner: &'a mut Interner,
        diagnostics: &'a mut Diagnostics,
    ) -> Preprocessor<'a> {
        let output = Output {
            tokens: 0,
            version: FALLBACK_VERSION,
            extensions: Vec::new(),
            pragmas: Vec::new(),
            kept: Vec::new(),
        };
        let mut run = Preprocessor {
            inputs: vec![Input::main(main, sources)],
            sources,
            loader,
            options,
            interner,
            diagnostics,
            conditionals: Vec::new(),
            macros: MacroTable::default(),
            expansion: Expansion::default(),
            once: FxHashSet::default(),
            included: 0,
            includes: false,
            file_names: false,
            stands_in: false,
            names_profile: false,
            named_stage: None,
            warned: Warned::default(),
            output,
        };
        run.read_version();
        run.enter_command_line();
        run
    }

    /// The stage of the shader, as far as known by now.
    fn stage(&self) -> Stage {
        self.options.stage.or(self.named_stage).unwrap_or(Stage::Compute)
    }

    /// The next token of the output, not yet checked for GLSL, or `None` at the end.
    fn next_token(&mut self) -> Option<PpToken> {
        let token = self.next_expanded();
        self.emitted(token)
    }

    /// Passes tokens that do not name macros, which are most of a shader, to `take` until it refuses one; then works
    /// like [`Self::next_token`].
    fn next_after(&mut self, mut take: impl FnMut(PpToken, &Interner) -> bool) -> Option<PpToken> {
        if !self.expansion.is_idle() {
            return self.next_token();
        }
        let (version, stage, dialects) = (self.output.version, self.stage(), self.options.dialects);
        let Input { lexer, pristine, .. } = self.inputs.last_mut().expect("the main file is never left");
        let mut taken = 0;
        let token = lexer.pass(self.interner, |token, words| {
            if let Some(name) = token.word()
                && self.macros.lookup(name, || predefined::find(name, words, version, stage, dialects)).is_some()
            {
                return false;
            }
            let takes = take(token, words);
            taken += u32::from(takes);
            takes
        });
        self.output.tokens += taken;
        *pristine &= taken == 0;
        let token = match self.admit(token) {
            Some(token) => self.expanded(token),
            None => self.next_expanded(),
        };
        self.emitted(token)
    }

    /// Counts a token of the output.
    fn emitted(&mut self, token: PpToken) -> Option<PpToken> {
        if token.kind() == PpKind::End || self.expansion.is_exhausted() {
            return None;
        }
        self.output.tokens += 1;
        Some(token)
    }

    /// Estimated number of tokens: in nearly every shader, a token has at least four bytes of text.
    fn expected_tokens(&self) -> usize {
        self.sources.file(self.inputs[0].file).text.len() / 4
    }

    fn is_es(&self) -> bool {
        self.output.version.profile == GlslProfile::Es
    }

    #[cold]
    fn error(&mut self, code: Code, span: Span, message: impl Into<String>, label: impl Into<String>) {
        self.diagnostics.push(Diagnostic::error(code, message).at(span, label));
    }

    #[cold]
    fn warn(&mut self, code: Code, span: Span, message: impl Into<String>, label: &str, help: &str) {
        self.diagnostics.push(Diagnostic::warning(code, message).at(span, label).help(help));
    }
}
