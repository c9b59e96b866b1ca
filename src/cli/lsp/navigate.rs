//! Requests for type definitions, call hierarchies and workspace symbols.

use super::answers::{Answer, Target, at, locations};
use super::convert::symbol_kind;
use super::publish::LineCache;
use super::server::{Known, Server};
use super::workspace;
use crate::editor::{Calls, Function, Outline};
use crate::symbols::Kind;
use lsp_types::{
    CallHierarchyIncomingCall, CallHierarchyIncomingCallsParams, CallHierarchyItem, CallHierarchyOutgoingCall,
    CallHierarchyOutgoingCallsParams, CallHierarchyPrepareParams, GotoDefinitionParams, Location, OneOf, Range,
    TextDocumentIdentifier, TextDocumentPositionParams, WorkspaceSymbol, WorkspaceSymbolParams,
};
use rustc_hash::FxHashSet;
use std::path::{Path, PathBuf};

pub fn type_definition(server: &mut Server<'_>, params: GotoDefinitionParams) -> Answer<Vec<Location>> {
    let Some((target, position)) = at(server, &params.text_document_position_params) else { return Ok(Vec::new()) };
    let Some(known) = target.known(server) else { return Ok(Vec::new()) };
    let place = known.analysis.type_definition(position).and_then(|span| known.analysis.place(span));
    Ok(locations(server, known, place.into_iter()))
}

pub fn prepare_calls(
    server: &mut Server<'_>,
    params: CallHierarchyPrepareParams,
) -> Answer<Option<Vec<CallHierarchyItem>>> {
    let Some((target, position)) = at(server, &params.text_document_position_params) else { return Ok(None) };
    let Some(known) = target.known(server) else { return Ok(None) };
    let function = known.analysis.function_at(position);
    Ok(function.and_then(|function| item(server, known, function)).map(|item| vec![item]))
}

fn item(server: &Server<'_>, known: &Known, function: Function) -> Option<CallHierarchyItem> {
    let mut lines = LineCache::new(known, server.is_utf8);
    let place = known.analysis.place(function.name)?;
    let selection_range = lines.range(&place);
    let whole = known.analysis.place(function.whole).filter(|whole| whole.file == place.file);
    Some(CallHierarchyItem {
        name: known.analysis.sources().text(function.name).into(),
        kind: symbol_kind(Kind::Function),
        tags: None,
        detail: None,
        uri: server.documents.uri(Path::new(&*place.file))?,
        range: whole.map_or(selection_range, |whole| lines.range(&whole)),
        selection_range,
        data: None,
    })
}

/// The calls of an item: the item at the other end of each, and the ranges.
fn calls(
    server: &mut Server<'_>,
    of: CallHierarchyItem,
    ask: impl FnOnce(&Known, u32) -> Calls,
) -> Vec<(CallHierarchyItem, Vec<Range>)> {
    let text_document = TextDocumentIdentifier { uri: of.uri };
    let of = TextDocumentPositionParams { text_document, position: of.selection_range.start };
    let Some((target, position)) = any(server, &of) else { return Vec::new() };
    let Some(known) = target.known(server) else { return Vec::new() };
    let mut lines = LineCache::new(known, server.is_utf8);
    let found = ask(known, position).into_iter().filter_map(|(function, spans)| {
        let places = spans.into_iter().filter_map(|span| known.analysis.place(span));
        Some((item(server, known, function)?, places.map(|place| lines.range(&place)).collect()))
    });
    found.collect()
}

/// A position in an open text, or in a file that an open shader includes.
fn any(server: &mut Server<'_>, of: &TextDocumentPositionParams) -> Option<(Target, u32)> {
    at(server, of).or_else(|| Target::included(server, of))
}

pub fn incoming(
    server: &mut Server<'_>,
    params: CallHierarchyIncomingCallsParams,
) -> Answer<Vec<CallHierarchyIncomingCall>> {
    let found = calls(server, params.item, |known, position| known.analysis.callers(position));
    Ok(found.into_iter().map(|(from, from_ranges)| CallHierarchyIncomingCall { from, from_ranges }).collect())
}

pub fn outgoing(
    server: &mut Server<'_>,
    params: CallHierarchyOutgoingCallsParams,
) -> Answer<Vec<CallHierarchyOutgoingCall>> {
    let found = calls(server, params.item, |known, position| known.analysis.callees(position));
    Ok(found.into_iter().map(|(to, from_ranges)| CallHierarchyOutgoingCall { to, from_ranges }).collect())
}

/// The names in the workspace's shaders and their includes that contain the letters of the query in order. Open shaders come first.
pub fn symbols(server: &mut Server<'_>, params: WorkspaceSymbolParams) -> Answer<Vec<WorkspaceSymbol>> {
    let open: Vec<PathBuf> = server.documents.open.keys().cloned().collect();
    let (mut all, mut files): (Vec<WorkspaceSymbol>, FxHashSet<String>) = Default::default();
    for path in open {
        if server.read(&path).is_none() {
            continue;
        }
        let Some(known) = server.get(&path) else { continue };
        let new = known.analysis.files().filter(|file| files.insert(file.to_string()));
        all.extend(new.flat_map(|file| symbols_of(server, known, file)));
    }
    for found in workspace::closed(server) {
        all.extend(found.into_iter().filter(|(file, _)| files.insert(file.clone())).flat_map(|(_, symbols)| symbols));
    }
    all.retain(|symbol| is_meant(&symbol.name, &params.query));
    all.truncate(MOST);
    Ok(all)
}

/// Symbols of an answer.
const MOST: usize = 5000;

/// The names that a file of a shader declares.
pub fn symbols_of(server: &Server<'_>, known: &Known, file: &str) -> Vec<WorkspaceSymbol> {
    let mut lines = LineCache::new(known, server.is_utf8);
    let outlines = known.analysis.outline(file).into_iter();
    outlines.filter_map(|outline| symbol(server, outline, &mut lines)).collect()
}

fn symbol(server: &Server<'_>, of: Outline, lines: &mut LineCache<'_>) -> Option<WorkspaceSymbol> {
    let uri = server.documents.uri(Path::new(&*of.at.file))?;
    let location = OneOf::Left(Location { uri, range: lines.range(&of.at) });
    Some(WorkspaceSymbol {
        name: of.name,
        kind: symbol_kind(of.kind),
        tags: None,
        container_name: None,
        location,
        data: None,
    })
}

fn is_meant(name: &str, query: &str) -> bool {
    let mut letters = name.chars().flat_map(char::to_lowercase);
    query.chars().flat_map(char::to_lowercase).all(|wanted| letters.any(|letter| letter == wanted))
}
