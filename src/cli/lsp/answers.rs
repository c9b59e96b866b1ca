//! One function for each request.

use super::convert::{Lines, completion_kind, symbol_kind, tokens};
use super::manifest;
use super::publish::LineCache;
use super::server::{Known, Server, is_manifest, path, source};
use super::{navigate, shape};
use crate::editor::{Completion, Outline, Place};
use lsp_types::request::{
    CallHierarchyIncomingCalls, CallHierarchyOutgoingCalls, CallHierarchyPrepare, CodeActionRequest,
    Completion as CompletionRequest, DocumentHighlightRequest, DocumentSymbolRequest, FoldingRangeRequest, Formatting,
    GotoDefinition, GotoTypeDefinition, HoverRequest, InlayHintRequest, PrepareRenameRequest, References, Rename,
    Request, SelectionRangeRequest, SemanticTokensFullRequest, SignatureHelpRequest, WorkspaceSymbolRequest,
};
use lsp_types::{
    CodeAction, CodeActionKind, CodeActionOrCommand, CodeActionParams, CompletionItem, CompletionList,
    CompletionParams, CompletionResponse, DocumentHighlight, DocumentHighlightParams, DocumentSymbol,
    DocumentSymbolParams, DocumentSymbolResponse, Documentation, GotoDefinitionParams, Hover, HoverContents,
    HoverParams, InlayHint, InlayHintKind, InlayHintLabel, InlayHintParams, Location, MarkupContent, MarkupKind,
    ParameterInformation, ParameterLabel, Position, PrepareRenameResponse, ReferenceParams, RenameParams,
    SemanticTokens, SemanticTokensParams, SignatureHelp, SignatureHelpParams, SignatureInformation,
    TextDocumentPositionParams, TextEdit, Uri, WorkspaceEdit,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};

/// An answer, or the reason that there is none.
pub type Answer<T> = Result<T, String>;

/// The answer to a request; `None` for unknown requests.
pub fn answer(server: &mut Server<'_>, method: &str, params: Value) -> Option<Answer<Value>> {
    Some(match method {
        HoverRequest::METHOD => with(server, params, hover),
        CompletionRequest::METHOD => with(server, params, completion),
        SignatureHelpRequest::METHOD => with(server, params, signature_help),
        GotoDefinition::METHOD => with(server, params, definition),
        References::METHOD => with(server, params, references),
        DocumentHighlightRequest::METHOD => with(server, params, highlights),
        DocumentSymbolRequest::METHOD => with(server, params, symbols),
        SemanticTokensFullRequest::METHOD => with(server, params, semantic_tokens),
        InlayHintRequest::METHOD => with(server, params, inlay_hints),
        CodeActionRequest::METHOD => with(server, params, code_actions),
        PrepareRenameRequest::METHOD => with(server, params, prepare_rename),
        Rename::METHOD => with(server, params, rename),
        FoldingRangeRequest::METHOD => with(server, params, shape::folding),
        SelectionRangeRequest::METHOD => with(server, params, shape::selections),
        Formatting::METHOD => with(server, params, shape::formatting),
        GotoTypeDefinition::METHOD => with(server, params, navigate::type_definition),
        WorkspaceSymbolRequest::METHOD => with(server, params, navigate::symbols),
        CallHierarchyPrepare::METHOD => with(server, params, navigate::prepare_calls),
        CallHierarchyIncomingCalls::METHOD => with(server, params, navigate::incoming),
        CallHierarchyOutgoingCalls::METHOD => with(server, params, navigate::outgoing),
        _ => return None,
    })
}

fn with<P: DeserializeOwned, R: Serialize>(
    server: &mut Server<'_>,
    params: Value,
    act: impl FnOnce(&mut Server<'_>, P) -> Answer<R>,
) -> Answer<Value> {
    let params = serde_json::from_value(params).map_err(|error| error.to_string())?;
    let result = act(server, params)?;
    serde_json::to_value(result).map_err(|error| error.to_string())
}

/// An open text and the shader that gives it its meaning.
pub struct Target {
    pub path: PathBuf,
    root: PathBuf,
}

impl Target {
    pub fn of(server: &mut Server<'_>, uri: &Uri) -> Option<Target> {
        let path = path(uri);
        let root = server.root(&path)?;
        server.read(&root)?;
        Some(Target { path, root })
    }

    pub fn known<'s>(&self, server: &'s Server<'_>) -> Option<&'s Known> {
        server.get(&self.root)
    }

    /// A position in a file that is not open but that an open shader includes.
    pub fn included(server: &mut Server<'_>, of: &TextDocumentPositionParams) -> Option<(Target, u32)> {
        let path = path(&of.text_document.uri);
        let name = path.to_string_lossy();
        let root = server.readers(&name).into_iter().next()?;
        let known = server.get(&root)?;
        let file = known.analysis.sources().files().iter().find(|file| *file.name == *name)?;
        let offset = Lines::new(&file.text, server.is_utf8).offset(of.position);
        let position = known.analysis.position(&name, offset)?;
        Some((Target { path, root }, position))
    }

    /// The position in the shader's sources.
    pub fn position(&self, server: &Server<'_>, at: Position) -> Option<u32> {
        let text = &server.documents.get(&self.path)?.text;
        let offset = Lines::new(text, server.is_utf8).offset(at);
        self.known(server)?.analysis.position(&self.path.to_string_lossy(), offset)
    }
}

/// The text, the shader and the position of a request.
pub fn at(server: &mut Server<'_>, of: &TextDocumentPositionParams) -> Option<(Target, u32)> {
    let target = Target::of(server, &of.text_document.uri)?;
    let position = target.position(server, of.position)?;
    Some((target, position))
}

/// Answers a request about an open manifest.
fn of_manifest<T>(
    server: &Server<'_>,
    of: &TextDocumentPositionParams,
    ask: impl FnOnce(&str, &Lines<'_>, Position) -> T,
) -> Option<T> {
    let path = path(&of.text_document.uri);
    let document = server.documents.get(&path).filter(|_| is_manifest(&path))?;
    Some(ask(&document.text, &Lines::new(&document.text, server.is_utf8), of.position))
}

fn hover(server: &mut Server<'_>, params: HoverParams) -> Answer<Option<Hover>> {
    let of = params.text_document_position_params;
    if let Some(hover) = of_manifest(server, &of, manifest::hover) {
        return Ok(hover);
    }
    let Some((target, position)) = at(server, &of) else { return Ok(None) };
    let Some(known) = target.known(server) else { return Ok(None) };
    let overlay = server.overlay(&known.shader);
    let found = known.analysis.hover(position, &source(&known.shader, &overlay));
    Ok(found.map(|found| {
        let contents = HoverContents::Markup(MarkupContent { kind: MarkupKind::Markdown, value: found.text });
        let place = known.analysis.place(found.at);
        Hover { contents, range: place.map(|place| LineCache::new(known, server.is_utf8).range(&place)) }
    }))
}

fn completion(server: &mut Server<'_>, params: CompletionParams) -> Answer<Option<CompletionResponse>> {
    let of = params.text_document_position;
    if let Some(items) = of_manifest(server, &of, manifest::completions) {
        return Ok(Some(CompletionResponse::Array(items)));
    }
    let Some((target, position)) = at(server, &of) else { return Ok(None) };
    let Some(known) = target.known(server) else { return Ok(None) };
    let overlay = server.overlay(&known.shader);
    let found = known.analysis.completions(position, &source(&known.shader, &overlay));
    let mut lines = LineCache::new(known, server.is_utf8);
    let items = found.into_iter().enumerate().map(|(n, item)| completed(item, n, &target, &mut lines)).collect();
    // More letters may give other completions.
    Ok(Some(CompletionResponse::List(CompletionList { is_incomplete: true, items })))
}

fn completed(item: Completion, number: usize, target: &Target, lines: &mut LineCache<'_>) -> CompletionItem {
    let markup = |value| Documentation::MarkupContent(MarkupContent { kind: MarkupKind::Markdown, value });
    let line = item.line.filter(|(place, _)| Path::new(&*place.file) == target.path);
    let edits = line.map(|(place, text)| vec![TextEdit { range: lines.range(&place), new_text: text }]);
    CompletionItem {
        label: item.label,
        kind: Some(completion_kind(item.kind)),
        detail: (!item.detail.is_empty()).then_some(item.detail),
        documentation: (!item.doc.is_empty()).then(|| markup(item.doc)),
        // Keeps the order of the list.
        sort_text: Some(format!("{number:05}")),
        additional_text_edits: edits,
        ..Default::default()
    }
}

fn signature_help(server: &mut Server<'_>, params: SignatureHelpParams) -> Answer<Option<SignatureHelp>> {
    let Some((target, position)) = at(server, &params.text_document_position_params) else { return Ok(None) };
    let found = target.known(server).and_then(|known| known.analysis.signature_help(position));
    Ok(found.map(|found| SignatureHelp {
        signatures: found.signatures.into_iter().map(signature).collect(),
        active_signature: Some(found.active as u32),
        active_parameter: Some(found.parameter as u32),
    }))
}

fn signature(of: crate::editor::Signature) -> SignatureInformation {
    let units = |at: usize| of.label[..at].encode_utf16().count() as u32;
    let parameter = |range: &std::ops::Range<usize>| ParameterInformation {
        label: ParameterLabel::LabelOffsets([units(range.start), units(range.end)]),
        documentation: None,
    };
    SignatureInformation {
        parameters: Some(of.parameters.iter().map(parameter).collect()),
        documentation: (!of.doc.is_empty()).then(|| Documentation::String(of.doc.clone())),
        label: of.label,
        active_parameter: None,
    }
}

pub fn locations(server: &Server<'_>, known: &Known, places: impl Iterator<Item = Place>) -> Vec<Location> {
    let mut lines = LineCache::new(known, server.is_utf8);
    let mut all: Vec<Location> = Vec::new();
    for place in places {
        let Some(uri) = server.documents.uri(Path::new(&*place.file)) else { continue };
        let location = Location { uri, range: lines.range(&place) };
        if !all.contains(&location) {
            all.push(location);
        }
    }
    all
}

fn definition(server: &mut Server<'_>, params: GotoDefinitionParams) -> Answer<Vec<Location>> {
    let Some((target, position)) = at(server, &params.text_document_position_params) else { return Ok(Vec::new()) };
    let Some(known) = target.known(server) else { return Ok(Vec::new()) };
    let overlay = server.overlay(&known.shader);
    if let Some((_, file)) = known.analysis.included(position, &overlay) {
        let uri = server.documents.uri(Path::new(&*file));
        return Ok(uri.map(|uri| Location { uri, range: Default::default() }).into_iter().collect());
    }
    let spans = known.analysis.definition(position);
    Ok(locations(server, known, spans.into_iter().filter_map(|span| known.analysis.place(span))))
}

/// The places of a name in all open shaders that read the file of its declaration.
fn places(server: &mut Server<'_>, of: &TextDocumentPositionParams) -> Vec<Location> {
    let Some((target, position)) = at(server, of) else { return Vec::new() };
    let Some(known) = target.known(server) else { return Vec::new() };
    let spans = known.analysis.references(position);
    let declared = known.analysis.definition(position).first().and_then(|span| known.analysis.place(*span));
    let mut all = locations(server, known, spans.into_iter().filter_map(|span| known.analysis.place(span)));
    let Some(declared) = declared else { return all };
    for reader in server.readers(&declared.file).into_iter().filter(|reader| *reader != target.root) {
        let Some(other) = server.get(&reader) else { continue };
        let Some(position) = other.analysis.position(&declared.file, declared.start) else { continue };
        let spans = other.analysis.references(position);
        let found = locations(server, other, spans.into_iter().filter_map(|span| other.analysis.place(span)));
        all.extend(found.into_iter().filter(|location| !all.contains(location)).collect::<Vec<_>>());
    }
    all
}

fn references(server: &mut Server<'_>, params: ReferenceParams) -> Answer<Vec<Location>> {
    let of = params.text_document_position;
    let mut all = places(server, &of);
    if !params.context.include_declaration {
        let definition = at(server, &of).and_then(|(target, position)| {
            let known = target.known(server)?;
            let spans = known.analysis.definition(position);
            Some(locations(server, known, spans.into_iter().filter_map(|span| known.analysis.place(span))))
        });
        let definition = definition.unwrap_or_default();
        all.retain(|location| !definition.contains(location));
    }
    Ok(all)
}

fn highlights(server: &mut Server<'_>, params: DocumentHighlightParams) -> Answer<Vec<DocumentHighlight>> {
    let Some((target, position)) = at(server, &params.text_document_position_params) else { return Ok(Vec::new()) };
    let Some(known) = target.known(server) else { return Ok(Vec::new()) };
    let spans = known.analysis.references(position);
    let places: BTreeSet<Place> = spans.into_iter().filter_map(|span| known.analysis.place(span)).collect();
    let mut lines = LineCache::new(known, server.is_utf8);
    let here = places.iter().filter(|place| Path::new(&*place.file) == target.path);
    Ok(here.map(|place| DocumentHighlight { range: lines.range(place), kind: None }).collect())
}

fn symbols(server: &mut Server<'_>, params: DocumentSymbolParams) -> Answer<Option<DocumentSymbolResponse>> {
    let Some(target) = Target::of(server, &params.text_document.uri) else { return Ok(None) };
    let Some(known) = target.known(server) else { return Ok(None) };
    let outline = known.analysis.outline(&target.path.to_string_lossy());
    let mut lines = LineCache::new(known, server.is_utf8);
    let list = outline.into_iter().map(|item| symbol(item, &mut lines)).collect();
    Ok(Some(DocumentSymbolResponse::Nested(list)))
}

fn symbol(item: Outline, lines: &mut LineCache<'_>) -> DocumentSymbol {
    let children = item.children.into_iter().map(|child| symbol(child, lines)).collect();
    #[expect(deprecated, reason = "the field must be given")]
    DocumentSymbol {
        name: item.name,
        detail: Some(item.detail),
        kind: symbol_kind(item.kind),
        tags: None,
        deprecated: None,
        range: lines.range(&item.whole),
        selection_range: lines.range(&item.at),
        children: Some(children),
    }
}

fn semantic_tokens(server: &mut Server<'_>, params: SemanticTokensParams) -> Answer<Option<SemanticTokens>> {
    let Some(target) = Target::of(server, &params.text_document.uri) else { return Ok(None) };
    let Some(known) = target.known(server) else { return Ok(None) };
    let Some(document) = server.documents.get(&target.path) else { return Ok(None) };
    let found = known.analysis.semantic_tokens(&target.path.to_string_lossy());
    let data = tokens(&Lines::new(&document.text, server.is_utf8), &found);
    Ok(Some(SemanticTokens { result_id: None, data }))
}

fn inlay_hints(server: &mut Server<'_>, params: InlayHintParams) -> Answer<Option<Vec<InlayHint>>> {
    let Some(target) = Target::of(server, &params.text_document.uri) else { return Ok(None) };
    let Some(known) = target.known(server) else { return Ok(None) };
    let Some(document) = server.documents.get(&target.path) else { return Ok(None) };
    let lines = Lines::new(&document.text, server.is_utf8);
    let range = lines.offset(params.range.start)..lines.offset(params.range.end);
    let overlay = server.overlay(&known.shader);
    let hints = known.analysis.hints(&source(&known.shader, &overlay), &target.path.to_string_lossy(), &range);
    let hint = |(at, text): (usize, String)| InlayHint {
        position: lines.position(at),
        label: InlayHintLabel::String(text),
        kind: Some(InlayHintKind::PARAMETER),
        tooltip: known.analysis.profiles().first().map(|name| format!("on {name}").into()),
        padding_left: Some(true),
        padding_right: None,
        text_edits: None,
        data: None,
    };
    Ok(Some(hints.into_iter().map(hint).collect()))
}

fn code_actions(server: &mut Server<'_>, params: CodeActionParams) -> Answer<Vec<CodeActionOrCommand>> {
    let Some(target) = Target::of(server, &params.text_document.uri) else { return Ok(Vec::new()) };
    let Some(known) = target.known(server) else { return Ok(Vec::new()) };
    let mut lines = LineCache::new(known, server.is_utf8);
    let mut actions = Vec::new();
    let overlay = server.overlay(&known.shader);
    for message in known.analysis.messages(&source(&known.shader, &overlay)) {
        let Some(at) = known.analysis.place(message.diagnostic.span()) else { continue };
        let range = lines.range(&at);
        let touches = range.start <= params.range.end && params.range.start <= range.end;
        if Path::new(&*at.file) != target.path || !touches {
            continue;
        }
        let Some((place, replacement, title)) = known.analysis.fix(&message.diagnostic) else { continue };
        let Some(uri) = server.documents.uri(Path::new(&*place.file)) else { continue };
        let edit = TextEdit { range: lines.range(&place), new_text: replacement };
        let code = message.diagnostic.code.to_string();
        let is_it = |shown: &&lsp_types::Diagnostic| {
            let of = &shown.code;
            shown.range == range && matches!(of, Some(lsp_types::NumberOrString::String(text)) if *text == code)
        };
        let solved: Vec<lsp_types::Diagnostic> = params.context.diagnostics.iter().filter(is_it).cloned().collect();
        actions.push(CodeActionOrCommand::CodeAction(CodeAction {
            title,
            kind: Some(CodeActionKind::QUICKFIX),
            diagnostics: (!solved.is_empty()).then_some(solved),
            edit: Some(workspace_edit([(uri, vec![edit])])),
            is_preferred: Some(true),
            ..Default::default()
        }));
    }
    Ok(actions)
}

#[allow(clippy::mutable_key_type, reason = "the protocol's types have URIs as keys")]
fn workspace_edit(files: impl IntoIterator<Item = (Uri, Vec<TextEdit>)>) -> WorkspaceEdit {
    let changes: HashMap<Uri, Vec<TextEdit>> = files.into_iter().collect();
    WorkspaceEdit { changes: Some(changes), ..Default::default() }
}

fn prepare_rename(server: &mut Server<'_>, of: TextDocumentPositionParams) -> Answer<Option<PrepareRenameResponse>> {
    let Some((target, position)) = at(server, &of) else { return Ok(None) };
    let Some(known) = target.known(server) else { return Ok(None) };
    let span = known.analysis.can_rename(position).map_err(|why| why.to_string())?;
    let place = known.analysis.place(span);
    Ok(place.map(|place| PrepareRenameResponse::Range(LineCache::new(known, server.is_utf8).range(&place))))
}

/// The name is changed in all open shaders that read the file of its declaration.
fn rename(server: &mut Server<'_>, params: RenameParams) -> Answer<Option<WorkspaceEdit>> {
    let of = params.text_document_position;
    let Some((target, position)) = at(server, &of) else { return Ok(None) };
    let declared = target.known(server).and_then(|known| {
        let first = *known.analysis.definition(position).first()?;
        known.analysis.place(first)
    });
    let Some(declared) = declared else { return Ok(None) };
    let mut readers = server.readers(&declared.file);
    // If others include a header, they know more about it than the header alone.
    if readers.iter().any(|reader| server.get(reader).is_some_and(|known| !known.shader.is_header)) {
        readers.retain(|reader| server.get(reader).is_some_and(|known| !known.shader.is_header));
    }
    let mut edits: Vec<(Uri, Vec<TextEdit>)> = Vec::new();
    for reader in readers {
        let Some(known) = server.get(&reader) else { continue };
        let Some(position) = known.analysis.position(&declared.file, declared.start) else { continue };
        let overlay = server.overlay(&known.shader);
        let places = known.analysis.rename(position, &params.new_name, &source(&known.shader, &overlay));
        for Location { uri, range } in locations(server, known, places.map_err(|why| why.to_string())?.into_iter()) {
            let edit = TextEdit { range, new_text: params.new_name.clone() };
            match edits.iter_mut().find(|(known, _)| *known == uri) {
                Some((_, list)) if list.contains(&edit) => {}
                Some((_, list)) => list.push(edit),
                None => edits.push((uri, vec![edit])),
            }
        }
    }
    Ok(Some(workspace_edit(edits)))
}
