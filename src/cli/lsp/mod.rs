//! `crosslane lsp`: a language server over standard input and output. It knows the protocol and the files; what it says of
//! shaders comes from [`crate::editor`].
//!
//! Messages are taken in their order. A shader is read again when somebody asks about it, or when nothing else is to do, so
//! that a burst of edits costs one reading.

mod answers;
mod convert;
mod documents;
mod manifest;
mod project;
mod publish;
mod server;

use super::args::LspArgs;
use super::{CommandError, Exit, Outcome};
use lsp_server::Connection;
use lsp_types::{
    CodeActionKind, CodeActionOptions, CodeActionProviderCapability, CompletionOptions, HoverProviderCapability,
    InitializeParams, OneOf, PositionEncodingKind, RenameOptions, SemanticTokensFullOptions, SemanticTokensLegend,
    SemanticTokensOptions, SemanticTokensServerCapabilities, ServerCapabilities, SignatureHelpOptions,
    TextDocumentSyncCapability, TextDocumentSyncKind, WorkDoneProgressOptions,
};
use serde_json::json;
use server::Server;

pub fn run(args: &LspArgs) -> Outcome {
    let (connection, threads) = Connection::stdio();
    serve(&connection, args)?;
    // The writer thread ends when all senders are gone.
    drop(connection);
    threads.join().map_err(|error| CommandError(format!("the connection failed: {error}")))?;
    Ok(Exit::Done)
}

/// Speaks with a client until it says that it is done.
fn serve(connection: &Connection, args: &LspArgs) -> Result<(), CommandError> {
    let failed = |error: &dyn std::fmt::Display| CommandError(format!("the connection failed: {error}"));
    let (id, params) = connection.initialize_start().map_err(|error| failed(&error))?;
    let params: InitializeParams = serde_json::from_value(params).map_err(|error| failed(&error))?;
    let encodings = params.capabilities.general.as_ref().and_then(|general| general.position_encodings.as_ref());
    let is_utf8 = encodings.is_some_and(|known| known.contains(&PositionEncodingKind::UTF8));
    let result = json!({
        "capabilities": capabilities(is_utf8),
        "serverInfo": { "name": "crosslane", "version": crate::version::TEXT },
    });
    connection.initialize_finish(id, result).map_err(|error| failed(&error))?;
    Server::new(connection, is_utf8, &args.profile, params.initialization_options).run()
}

fn capabilities(is_utf8: bool) -> ServerCapabilities {
    let characters = |text: &str| Some(text.chars().map(String::from).collect());
    let work_done_progress_options = WorkDoneProgressOptions::default();
    ServerCapabilities {
        position_encoding: is_utf8.then_some(PositionEncodingKind::UTF8),
        text_document_sync: Some(TextDocumentSyncCapability::Kind(TextDocumentSyncKind::INCREMENTAL)),
        hover_provider: Some(HoverProviderCapability::Simple(true)),
        completion_provider: Some(CompletionOptions { trigger_characters: characters(".#"), ..Default::default() }),
        signature_help_provider: Some(SignatureHelpOptions {
            trigger_characters: characters("(,"),
            ..Default::default()
        }),
        definition_provider: Some(OneOf::Left(true)),
        references_provider: Some(OneOf::Left(true)),
        document_highlight_provider: Some(OneOf::Left(true)),
        document_symbol_provider: Some(OneOf::Left(true)),
        code_action_provider: Some(CodeActionProviderCapability::Options(CodeActionOptions {
            code_action_kinds: Some(vec![CodeActionKind::QUICKFIX]),
            ..Default::default()
        })),
        rename_provider: Some(OneOf::Right(RenameOptions { prepare_provider: Some(true), work_done_progress_options })),
        inlay_hint_provider: Some(OneOf::Left(true)),
        semantic_tokens_provider: Some(SemanticTokensServerCapabilities::SemanticTokensOptions(
            SemanticTokensOptions {
                legend: SemanticTokensLegend {
                    token_types: convert::token_types(),
                    token_modifiers: convert::token_modifiers(),
                },
                full: Some(SemanticTokensFullOptions::Bool(true)),
                ..Default::default()
            },
        )),
        ..Default::default()
    }
}
