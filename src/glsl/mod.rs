//! The GLSL front end: [`preprocess`] into a [`token`] stream, [`parse`] into an [`ast`], resolve into [`crate::ir`].

pub mod ast;
pub mod builtin;
mod chunk;
pub mod convert;
pub mod dialect;
mod dialects;
pub mod dump;
pub mod env;
pub mod extended;
mod foreign;
pub mod keyword;
pub mod lex;
pub mod number;
mod opaque;
pub mod parse;
pub mod preprocess;
mod sema;
pub mod token;
pub mod types;

use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::ir::{Module, Stage};
use crate::limits::Limits;
use crate::profile::Profile;
use crate::source::{FileId, Loader, SourceMap, Span};
use dialect::Dialect;
use dialects::ProfileDialects;
use env::Env;
use preprocess::{MacroOption, PreprocessOptions};
pub use sema::resolve;
use token::{ExtensionBehavior, GlslProfile, Interner, TokenStream};

/// What a GLSL shader is compiled with beside its text.
#[derive(Clone, Copy)]
pub struct GlslOptions<'a> {
    pub profile: &'a Profile,
    /// By default that of `#pragma shader_stage`, else compute.
    pub stage: Option<Stage>,
    /// `-D` and `-U`, in their order.
    pub macros: &'a [MacroOption],
    pub dialect: &'a Dialect,
    pub limits: Limits,
}

impl<'a> GlslOptions<'a> {
    fn preprocessing(&self, dialects: &'a ProfileDialects) -> PreprocessOptions<'a> {
        let Dialect { version, preamble, .. } = self.dialect;
        PreprocessOptions {
            dialects,
            macros: self.macros,
            preamble: preamble.as_deref().unwrap_or_default(),
            default_version: None,
            forced_version: *version,
            limits: self.limits,
        }
    }
}

/// Compiles a shader that has been added to `sources`; none when it is wrong.
pub fn compile(
    file: FileId,
    sources: &mut SourceMap,
    loader: &dyn Loader,
    options: &GlslOptions,
    diagnostics: &mut Diagnostics,
) -> Option<Module> {
    let mut words = Interner::new();
    let dialects = ProfileDialects(options.profile);
    let settings = options.preprocessing(&dialects);
    let stream = preprocess::preprocess(file, sources, loader, &settings, &mut words, diagnostics);
    let stage = stage(&stream, &words, options, diagnostics);
    check_stage(&stream, &words, stage, diagnostics);
    let tree = parse::parse(&stream, &words, diagnostics);
    if diagnostics.has_errors() {
        return None;
    }
    let env = Env { dialect: options.dialect, ..Env::new(stream.version, stage, options.profile) };
    let module = resolve(&tree, &stream, &words, env, diagnostics);
    (!diagnostics.has_errors()).then_some(module)
}

/// Whether a text names a version of the language that is read, as in `450core`.
pub fn is_version(text: &str) -> bool {
    dialect::version(text).is_some_and(preprocess::is_supported)
}

/// The stage that the options or `#pragma shader_stage(NAME)` name.
fn stage(stream: &TokenStream, words: &Interner, options: &GlslOptions, diagnostics: &mut Diagnostics) -> Stage {
    if let Some(stage) = options.stage {
        return stage;
    }
    let named = stream.pragmas.iter().find_map(|pragma| {
        let name = words.text(pragma.text).strip_prefix("shader_stage")?.trim().strip_prefix('(')?.strip_suffix(')')?;
        Some((name.trim(), pragma.span))
    });
    let stage = named.and_then(|(name, _)| Stage::named(name));
    let (message, span) = match named {
        Some((name, span)) => (format!("there is no shader stage `{name}`"), span),
        None => ("neither an option nor `#pragma shader_stage(…)` names the stage".to_string(), Span::NONE),
    };
    if stage.is_none() && (named.is_some() || options.dialect.needs_stage) {
        diagnostics.push(Diagnostic::error(Code::STAGE_UNKNOWN, message).at(span, ""));
    }
    stage.unwrap_or(Stage::Compute)
}

/// GLSL has compute shaders from 4.30 on, and in 4.20 by an extension.
fn check_stage(stream: &TokenStream, words: &Interner, stage: Stage, diagnostics: &mut Diagnostics) {
    const EXTENSION: &str = "GL_ARB_compute_shader";
    let version = &stream.version;
    if stage != Stage::Compute || version.profile == GlslProfile::Es || version.number >= 430 {
        return;
    }
    let mut uses = stream.extensions.iter().filter(|line| words.text(line.name) == EXTENSION);
    if version.number < 420 || !uses.any(|line| line.behavior != ExtensionBehavior::Disable) {
        let message = format!("GLSL {} has no compute shaders", version.number);
        let diagnostic = Diagnostic::error(Code::VERSION_UNSUPPORTED, message).at(version.span, "430 and later have");
        diagnostics.push(diagnostic.note(format!("{EXTENSION} brings them to 420")));
    }
}

/// Preprocesses a shader to text (`-E`).
pub fn preprocess_only(
    file: FileId,
    sources: &mut SourceMap,
    loader: &dyn Loader,
    options: &GlslOptions,
    diagnostics: &mut Diagnostics,
) -> String {
    let mut words = Interner::new();
    let dialects = ProfileDialects(options.profile);
    let settings = options.preprocessing(&dialects);
    preprocess::preprocess_to_text(file, sources, loader, &settings, &mut words, diagnostics)
}
