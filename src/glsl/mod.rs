//! The GLSL front end: [`preprocess`] into a [`token`] stream, [`parse`] into an [`ast`], resolve into [`crate::ir`].

pub mod ast;
pub mod builtin;
pub mod convert;
mod dialects;
pub mod dump;
pub mod env;
mod foreign;
mod key;
pub mod keyword;
pub mod lex;
pub mod number;
pub mod parse;
pub mod preprocess;
mod sema;
pub mod token;
pub mod types;

use crate::compile::Options;
use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::ir::{Module, Stage};
use crate::source::{FileId, Loader, SourceMap, Span};
use dialects::ProfileDialects;
use env::Env;
use preprocess::PreprocessOptions;
pub use sema::resolve;
use token::Interner;

/// Compiles a shader that has been added to `sources`; none when it is wrong.
pub fn compile(
    file: FileId,
    sources: &mut SourceMap,
    loader: &dyn Loader,
    options: &Options,
    diagnostics: &mut Diagnostics,
) -> Option<Module> {
    if options.stage != Stage::Compute {
        refuse_stage(file, sources, diagnostics);
        return None;
    }
    let mut words = Interner::new();
    let dialects = ProfileDialects(&options.profile);
    let settings = PreprocessOptions { dialects: &dialects, macros: &options.macros, default_version: None };
    let stream = preprocess::preprocess(file, sources, loader, &settings, &mut words, diagnostics);
    let tree = parse::parse(&stream, &words, diagnostics);
    if diagnostics.has_errors() {
        return None;
    }
    let env = Env::new(stream.version, options.stage, &options.profile);
    let module = resolve(&tree, &stream, &words, env, diagnostics);
    (!diagnostics.has_errors()).then_some(module)
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

fn refuse_stage(file: FileId, sources: &SourceMap, diagnostics: &mut Diagnostics) {
    let base = sources.file(file).base;
    let message = "vertex and fragment shaders are not supported yet; compute shaders are";
    diagnostics.push(Diagnostic::error(Code::NOT_SUPPORTED, message).at(Span::new(base, base), "this shader"));
}
