//! Requests about the structure of a text: folding, selection ranges and formatting.

use super::answers::{Answer, Target};
use super::convert::Lines;
use super::format::formatted;
use super::publish::LineCache;
use super::server::Server;
use crate::editor::{Fold, Place, white_space};
use lsp_types::{
    DocumentFormattingParams, FoldingRange, FoldingRangeKind, FoldingRangeParams, SelectionRange, SelectionRangeParams,
    TextEdit,
};

pub fn folding(server: &mut Server<'_>, params: FoldingRangeParams) -> Answer<Vec<FoldingRange>> {
    let Some(target) = Target::of(server, &params.text_document.uri) else { return Ok(Vec::new()) };
    let Some(known) = target.known(server) else { return Ok(Vec::new()) };
    let Some(document) = server.documents.get(&target.path) else { return Ok(Vec::new()) };
    let lines = Lines::new(&document.text, server.is_utf8);
    let folds = known.analysis.folds(&target.path.to_string_lossy());
    Ok(folds.into_iter().filter_map(|fold| folded(fold, &lines)).collect())
}

/// The folded lines. The line with the closing brace or directive stays visible.
fn folded(Fold { range, is_comment }: Fold, lines: &Lines<'_>) -> Option<FoldingRange> {
    let lsp_types::Range { start, end } = lines.range(range);
    let end_line = end.line.checked_sub(u32::from(!is_comment))?;
    let kind = Some(if is_comment { FoldingRangeKind::Comment } else { FoldingRangeKind::Region });
    let fold =
        FoldingRange { start_line: start.line, end_line, kind: kind.filter(|_| is_comment), ..Default::default() };
    (start.line < end_line).then_some(fold)
}

pub fn selections(server: &mut Server<'_>, params: SelectionRangeParams) -> Answer<Vec<SelectionRange>> {
    let Some(target) = Target::of(server, &params.text_document.uri) else { return Ok(Vec::new()) };
    let Some(known) = target.known(server) else { return Ok(Vec::new()) };
    let mut lines = LineCache::new(known, server.is_utf8);
    let grown = |at| {
        let places =
            target.position(server, at).map(|position| known.analysis.selections(position)).unwrap_or_default();
        nested(&places, &mut lines).unwrap_or(SelectionRange { range: lsp_types::Range::new(at, at), parent: None })
    };
    Ok(params.positions.into_iter().map(grown).collect())
}

fn nested(places: &[Place], lines: &mut LineCache<'_>) -> Option<SelectionRange> {
    places
        .iter()
        .rev()
        .fold(None, |parent, place| Some(SelectionRange { range: lines.range(place), parent: parent.map(Box::new) }))
}

pub fn formatting(server: &mut Server<'_>, params: DocumentFormattingParams) -> Answer<Vec<TextEdit>> {
    let Some(target) = Target::of(server, &params.text_document.uri) else { return Ok(Vec::new()) };
    let (Some(known), Some(document)) = (target.known(server), server.documents.get(&target.path)) else {
        return Ok(Vec::new());
    };
    let language = known.shader.language;
    let (program, new) = formatted(&server.formatters, language, &target.path, &document.text, &params.options)?;
    let Some(changes) = white_space(&document.text, &new, language) else {
        return Err(format!("`{program}` changed more than white space, so the text was left as it is"));
    };
    let lines = Lines::new(&document.text, server.is_utf8);
    Ok(changes.into_iter().map(|(range, new_text)| TextEdit { range: lines.range(range), new_text }).collect())
}
