//! The GLSL front end: [`preprocess`] into a [`token`] stream, [`parse`] into an [`ast`], resolve into [`crate::ir`].

pub mod ast;
pub mod builtin;
mod chunk;
pub mod convert;
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

use crate::compile::Options;
use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::ir::{Module, Stage};
use crate::source::{FileId, Loader, SourceMap};
use dialects::ProfileDialects;
use env::Env;
use preprocess::PreprocessOptions;
pub use sema::resolve;
use token::{GlslProfile, Interner, Version};

/// Compiles a shader that has been added to `sources`; none when it is wrong.
pub fn compile(
    file: FileId,
    sources: &mut SourceMap,
    loader: &dyn Loader,
    options: &Options,
    diagnostics: &mut Diagnostics,
) -> Option<Module> {
    let mut words = Interner::new();
    let dialects = ProfileDialects(&options.profile);
    let settings = PreprocessOptions { dialects: &dialects, macros: &options.macros, default_version: None };
    let stream = preprocess::preprocess(file, sources, loader, &settings, &mut words, diagnostics);
    check_stage(&stream.version, options.stage, diagnostics);
    let tree = parse::parse(&stream, &words, diagnostics);
    if diagnostics.has_errors() {
        return None;
    }
    let env = Env::new(stream.version, options.stage, &options.profile);
    let module = resolve(&tree, &stream, &words, env, diagnostics);
    (!diagnostics.has_errors()).then_some(module)
}

/// GLSL has compute shaders from 4.30 on.
fn check_stage(version: &Version, stage: Stage, diagnostics: &mut Diagnostics) {
    let too_old = version.number < 430 && version.profile != GlslProfile::Es;
    if stage == Stage::Compute && too_old {
        let message = format!("GLSL {} has no compute shaders", version.number);
        diagnostics.push(Diagnostic::error(Code::VERSION_UNSUPPORTED, message).at(version.span, "430 and later have"));
    }
}

/// Preprocesses a shader to text (`-E`).
pub fn preprocess_only(
    file: FileId,
    sources: &mut SourceMap,
    loader: &dyn Loader,
    options: &Options,
    diagnostics: &mut Diagnostics,
) -> String {
    let mut words = Interner::new();
    let dialects = ProfileDialects(&options.profile);
    let settings = PreprocessOptions { dialects: &dialects, macros: &options.macros, default_version: None };
    preprocess::preprocess_to_text(file, sources, loader, &settings, &mut words, diagnostics)
}
