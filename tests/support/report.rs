//! Pages under `docs/verified`: sections, each written by its own program.

use std::path::Path;

/// Replaces a section of a page, from its line `## TITLE` to the next such line, or appends it.
pub fn replace(path: &Path, title: &str, body: &str) -> Result<(), String> {
    let page = std::fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))?;
    std::fs::write(path, replaced(&page, title, body)).map_err(|e| format!("{}: {e}", path.display()))
}

fn replaced(page: &str, title: &str, body: &str) -> String {
    let heading = format!("## {title}\n");
    let section = format!("{heading}\n{}\n", body.trim_end());
    let Some(start) = page.find(&heading) else { return format!("{}\n\n{section}", page.trim_end()) };
    let behind = start + heading.len();
    let rest = page[behind..].find("\n## ").map_or("", |at| &page[behind + at..]);
    format!("{}{section}{rest}", &page[..start])
}

/// A table of Markdown.
pub fn table(head: &[&str], rows: &[Vec<String>]) -> String {
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let head: Vec<String> = head.iter().map(ToString::to_string).collect();
    let rule = format!("|{}\n", "---|".repeat(head.len()));
    let rows: String = rows.iter().map(|row| line(row)).collect();
    line(&head) + &rule + &rows
}
