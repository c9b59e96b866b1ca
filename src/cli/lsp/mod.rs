//! `crosslane lsp`: a language server over standard input and output. This module handles the protocol and the files;
//! everything about shaders comes from [`crate::editor`].
//!
//! Messages are processed in order. A shader is parsed again on a request about it, or when the client has been quiet
//! for a moment, so that a burst of edits costs one parse.

mod answers;
mod convert;
mod documents;
mod format;
mod inbox;
mod manifest;
mod navigate;
mod project;
mod publish;
mod server;
mod shape;
mod workspace;

use super::args::LspArgs;
use super::{CommandError, Exit, Outcome};
use inbox::{Inbox, Received};
use lsp_server::{ErrorCode, Message, RequestId, Response};
use lsp_types::{
    CallHierarchyServerCapability, CodeActionKind, CodeActionOptions, CodeActionProviderCapability, CompletionOptions,
    FoldingRangeProviderCapability, HoverProviderCapability, OneOf, PositionEncodingKind, RenameOptions,
    SelectionRangeProviderCapability, SemanticTokensFullOptions, SemanticTokensLegend, SemanticTokensOptions,
    SemanticTokensServerCapabilities, ServerCapabilities, SignatureHelpOptions, TextDocumentSyncCapability,
    TextDocumentSyncKind, TypeDefinitionProviderCapability, WorkDoneProgressOptions,
    WorkspaceFoldersServerCapabilities, WorkspaceServerCapabilities,
};
use serde_json::{Value, json};
use server::{Outbox, Server};
use std::io;
use std::sync::mpsc::{Receiver, channel};
use std::thread;

pub fn run(args: &LspArgs) -> Outcome {
    let (outbox, messages) = channel();
    let writer = thread::spawn(move || write(&messages));
    serve(Inbox::of_stdin(), outbox, args);
    // The writer ends when all senders are gone.
    writer.join().map_err(|_| CommandError("internal error: the thread that writes has failed".into()))?;
    Ok(Exit::Done)
}

/// Writes messages until there are no more, or the client stops reading.
fn write(messages: &Receiver<Message>) {
    let mut output = io::stdout().lock();
    while let Ok(message) = messages.recv() {
        if message.write(&mut output).is_err() {
            return;
        }
    }
}

/// Serves a client until it exits or disconnects.
fn serve(mut inbox: Inbox, outbox: Outbox, args: &LspArgs) {
    let Some((id, params)) = initialize(&mut inbox, &outbox) else { return };
    let encodings = params.pointer("/capabilities/general/positionEncodings").and_then(Value::as_array);
    let is_utf8 = encodings.is_some_and(|known| known.contains(&json!(PositionEncodingKind::UTF8)));
    let result = json!({
        "capabilities": capabilities(is_utf8),
        "serverInfo": { "name": "crosslane", "version": crate::version::TEXT },
    });
    // A client that has disconnected gets nothing.
    let _ = outbox.send(Response::new_ok(id, result).into());
    let mut server = Server::new(outbox, is_utf8, &args.profile, params.get("initializationOptions"));
    server.workspace.begin(&params);
    server.run(&mut inbox);
}

/// The first valid `initialize` request, with its parameters; others get an error. `None` if the client exits before
/// it.
fn initialize(inbox: &mut Inbox, outbox: &Outbox) -> Option<(RequestId, Value)> {
    loop {
        let (id, code, why) = match inbox.next()? {
            Received::Message(Message::Request(of)) if of.method == "initialize" && of.params.is_object() => {
                return Some((of.id, of.params));
            }
            Received::Message(Message::Request(of)) if of.method == "initialize" => {
                (of.id, ErrorCode::InvalidParams, "`initialize` has an object as its parameters".to_string())
            }
            Received::Message(Message::Request(of)) => {
                (of.id, ErrorCode::ServerNotInitialized, format!("`initialize` comes before `{}`", of.method))
            }
            Received::Message(Message::Notification(of)) if of.method == "exit" => return None,
            Received::Message(_) => continue,
            other => {
                server::refuse(outbox, other);
                continue;
            }
        };
        let _ = outbox.send(Response::new_err(id, code as i32, why).into());
    }
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
        workspace_symbol_provider: Some(OneOf::Left(true)),
        workspace: Some(WorkspaceServerCapabilities {
            workspace_folders: Some(WorkspaceFoldersServerCapabilities {
                supported: Some(true),
                change_notifications: Some(OneOf::Left(true)),
            }),
            ..Default::default()
        }),
        type_definition_provider: Some(TypeDefinitionProviderCapability::Simple(true)),
        call_hierarchy_provider: Some(CallHierarchyServerCapability::Simple(true)),
        folding_range_provider: Some(FoldingRangeProviderCapability::Simple(true)),
        selection_range_provider: Some(SelectionRangeProviderCapability::Simple(true)),
        document_formatting_provider: Some(OneOf::Left(true)),
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
