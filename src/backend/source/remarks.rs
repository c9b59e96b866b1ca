//! Comments of the source: where they are, and the declarations that they belong to.

use super::writer::Writer;
use crate::ir::{GlobalId, Module};
use crate::source::{SourceFile, SourceLanguage, SourceMap, Span};
use rustc_hash::FxHashMap;

/// A comment of the source. Positions are those of the [`SourceMap`].
#[derive(Clone, Debug)]
pub(super) struct Comment {
    /// From its first sign to its last.
    pub span: Span,
    pub lines: Vec<String>,
    /// Start of its line, where code precedes it there.
    pub trails: Option<u32>,
    /// The code after it.
    pub next: u32,
    /// The first `;` or brace after it, which ends the declaration that `next` begins.
    pub end: u32,
    /// True if an empty line or a directive separates it from the code after it.
    is_apart: bool,
    /// True if no code precedes it in its file.
    is_first: bool,
    /// The outermost braces around it.
    pub body: Option<Span>,
}

/// The comments of a declaration.
#[derive(Clone, Default, Debug)]
pub(super) struct Beside {
    pub before: Vec<String>,
    /// The comment at the end of its line.
    pub after: Option<String>,
}

/// The comments of a module's source.
#[derive(Debug)]
pub(super) struct Remarks {
    /// Those at the top of the main file, which belong to all of it.
    pub head: Vec<String>,
    /// Those of declarations, by the positions of these.
    declared: FxHashMap<u32, Beside>,
    /// Those in bodies of functions.
    pub bodies: Vec<Comment>,
}

impl Remarks {
    pub fn of(module: &Module, sources: &SourceMap) -> Remarks {
        let anchors = Anchors::of(module);
        let mut remarks = Remarks { head: Vec::new(), declared: FxHashMap::default(), bodies: Vec::new() };
        for (index, file) in sources.files().iter().enumerate() {
            let found = comments(file, sources.language == SourceLanguage::Wgsl);
            for comment in found.into_iter().filter(|comment| !sources.is_skipped(comment.span.lo)) {
                match index == 0 && comment.is_first && comment.is_apart {
                    true => remarks.head.extend(comment.lines),
                    false => remarks.add(comment, &anchors),
                }
            }
        }
        remarks
    }

    fn add(&mut self, comment: Comment, anchors: &Anchors) {
        match anchors.of_comment(&comment) {
            Some((at, true)) if comment.lines.len() == 1 => {
                self.declared.entry(at).or_default().after.get_or_insert(comment.lines[0].clone());
            }
            Some((at, _)) => self.declared.entry(at).or_default().before.extend(comment.lines),
            None if comment.body.is_some() => self.bodies.push(comment),
            None => {}
        }
    }
}

/// The positions of declarations, in ascending order.
struct Anchors {
    /// Of functions, variables and structs.
    outer: Vec<u32>,
    /// Of members of structs and blocks.
    members: Vec<u32>,
}

impl Anchors {
    fn of(module: &Module) -> Anchors {
        let structs = || module.types.structs.iter();
        let members = structs().flat_map(|(_, item)| item.members.iter().map(|member| member.span.lo));
        let functions = module.functions.iter().map(|(_, function)| function.span.lo);
        let globals = module.globals.iter().map(|(_, global)| global.span.lo);
        let outer = functions.chain(globals).chain(structs().map(|(_, item)| item.span.lo));
        Anchors { outer: sorted(outer), members: sorted(members) }
    }

    /// The declaration that a comment belongs to, with true where it is at the end of the declaration's line.
    fn of_comment(&self, comment: &Comment) -> Option<(u32, bool)> {
        let among = if comment.body.is_some() { &self.members } else { &self.outer };
        let first_from = |from: u32| among.get(among.partition_point(|at| *at < from)).copied();
        if let Some(line) = comment.trails {
            let last = among[..among.partition_point(|at| *at < comment.span.lo)].last();
            return last.filter(|at| **at >= line).map(|at| (*at, true));
        }
        first_from(comment.next).filter(|at| *at <= comment.end).map(|at| (at, false))
    }
}

fn sorted(positions: impl Iterator<Item = u32>) -> Vec<u32> {
    let mut sorted: Vec<u32> = positions.filter(|at| *at != 0).collect();
    sorted.sort_unstable();
    sorted.dedup();
    sorted
}

impl Writer<'_> {
    /// The comments of declarations at positions; each is written once.
    pub fn remarks_at(&mut self, spans: &[Span]) -> Beside {
        let Some(remarks) = &mut self.remarks else { return Beside::default() };
        let mut all = Beside::default();
        for found in spans.iter().filter_map(|span| remarks.declared.remove(&span.lo)) {
            all.before.extend(found.before);
            all.after = all.after.or(found.after);
        }
        all
    }

    /// The comments of a variable and of its block.
    fn remarks_of(&mut self, id: GlobalId) -> Beside {
        let global = &self.module.globals[id];
        let mut spans = vec![global.span];
        if let Some(of) = self.block_of(global.ty) {
            let item = &self.types.structs[of];
            spans.push(item.span);
            spans.extend(item.members.iter().map(|member| member.span));
        }
        self.remarks_at(&spans)
    }

    /// Adds the comments of a variable to its declaration, which begins at an index of the list, if it is there.
    pub fn remark_on(&mut self, id: GlobalId, first: usize) {
        let beside = self.remarks_of(id);
        match self.variables.get_mut(first) {
            Some(line) => beside.put(line),
            None if beside.is_empty() => {}
            None => drop(self.loose_remarks.insert(id, beside)),
        }
    }

    /// Adds the comments of an input or output to the member of a struct that it is.
    pub fn remark_on_port(&mut self, id: GlobalId, line: Option<&mut String>) {
        if let Some(line) = line {
            self.loose_remarks.remove(&id).unwrap_or_else(|| self.remarks_of(id)).put(line);
        }
    }

    /// Adds the comments of a variable to the parameter of the entry point that it is.
    pub fn remark_on_argument(&mut self, id: GlobalId, text: Option<&mut String>) {
        if let Some(text) = text {
            let beside = self.loose_remarks.remove(&id).unwrap_or_else(|| self.remarks_of(id));
            let before: String = beside.all().iter().map(|line| format!("{line}\n    ")).collect();
            text.insert_str(0, &before);
        }
    }

    /// Adds the line of a member with its comments.
    pub fn push_member(&mut self, lines: &mut Vec<String>, span: Span, mut line: String) {
        self.remarks_at(&[span]).put(&mut line);
        lines.push(line);
    }
}

impl Beside {
    fn is_empty(&self) -> bool {
        self.before.is_empty() && self.after.is_none()
    }

    /// All of them, as lines.
    pub fn all(mut self) -> Vec<String> {
        self.before.extend(self.after);
        self.before
    }

    /// Adds the comments to the line of a declaration.
    pub fn put(self, line: &mut String) {
        if let Some(after) = self.after {
            line.push(' ');
            line.push_str(&after);
        }
        let margin = line[..line.len() - line.trim_start().len()].to_string();
        let before: String = self.before.iter().map(|text| format!("{margin}{text}\n")).collect();
        line.insert_str(0, &before);
    }
}

/// The comments of a file.
fn comments(file: &SourceFile, is_wgsl: bool) -> Vec<Comment> {
    let mut scan = Scan { text: &file.text, base: file.base, is_wgsl, ..Scan::default() };
    while scan.at < scan.text.len() {
        scan.step();
    }
    scan.code(scan.at);
    scan.ends(scan.at);
    scan.closes(scan.at);
    scan.found
}

/// The line that a [`Scan`] is in.
#[derive(Default)]
struct Line {
    start: usize,
    has_code: bool,
    has_comment: bool,
}

/// A walk through a text. Every comment from `before` on waits for code, from `unended` on for the end of a declaration, and from
/// `inside` on for the end of the body.
#[derive(Default)]
struct Scan<'a> {
    text: &'a str,
    base: u32,
    /// WGSL has block comments that nest (section 3.3, Comments), no directives, and no lines that go on after a backslash.
    is_wgsl: bool,
    at: usize,
    found: Vec<Comment>,
    line: Line,
    has_code: bool,
    depth: u32,
    /// The outermost brace.
    open: usize,
    before: usize,
    /// The first comment that nothing separates from the code after it so far, and the first that no directive follows.
    joined: usize,
    undirected: usize,
    unended: usize,
    inside: usize,
}

impl Scan<'_> {
    fn step(&mut self) {
        let rest = &self.text.as_bytes()[self.at..];
        match rest {
            [b'\n', ..] => self.newline(),
            [b'/', b'/', ..] => self.comment(self.at + line_length(rest, self.is_wgsl)),
            [b'/', b'*', ..] => self.comment(self.at + block_length(rest, self.is_wgsl)),
            [b'#', ..] if !self.line.has_code => self.directive(rest),
            [b'"', ..] => self.string(rest),
            [byte, ..] if byte.is_ascii_whitespace() => self.at += 1,
            [byte, ..] => self.sign(*byte),
            [] => {}
        }
    }

    fn string(&mut self, rest: &[u8]) {
        self.code(self.at);
        let length = rest[1..].iter().position(|byte| matches!(byte, b'"' | b'\n')).unwrap_or(rest.len() - 1);
        self.at += 1 + length + usize::from(rest.get(1 + length) == Some(&b'"'));
    }

    fn newline(&mut self) {
        if !self.line.has_code && !self.line.has_comment {
            self.part();
        }
        self.at += 1;
        self.line = Line { start: self.at, ..Line::default() };
    }

    /// Separates the comments so far from the code after them.
    fn part(&mut self) {
        let first = self.before.max(self.joined);
        self.found[first..].iter_mut().for_each(|comment| comment.is_apart = true);
        self.joined = self.found.len();
    }

    fn sign(&mut self, sign: u8) {
        self.code(self.at);
        match sign {
            b'{' => {
                self.ends(self.at);
                if self.depth == 0 {
                    (self.open, self.inside) = (self.at, self.found.len());
                }
                self.depth += 1;
            }
            b'}' => {
                self.ends(self.at);
                self.depth = self.depth.saturating_sub(1);
                if self.depth == 0 {
                    self.closes(self.at);
                }
            }
            b';' => self.ends(self.at),
            _ => {}
        }
        self.at += 1;
    }

    fn comment(&mut self, end: usize) {
        let column = self.at - self.line.start;
        let span = Span::new(self.position(self.at), self.position(end));
        let trails = self.line.has_code.then(|| self.position(self.line.start));
        let lines = lines_of(&self.text[self.at..end], column);
        let body = (self.depth > 0).then(|| Span::new(self.position(self.open), u32::MAX));
        let is_first = !self.has_code;
        self.found.push(Comment {
            span,
            lines,
            trails,
            next: u32::MAX,
            end: u32::MAX,
            is_apart: false,
            is_first,
            body,
        });
        if let Some(last) = self.text[self.at..end].rfind('\n') {
            self.line = Line { start: self.at + last + 1, ..Line::default() };
        }
        self.line.has_comment = true;
        self.at = end;
    }

    /// Skips a directive, which separates comments from the code after it.
    fn directive(&mut self, rest: &[u8]) {
        self.part();
        if self.depth == 0 && !is_conditional(rest) {
            // What a directive defines has no place in the output.
            let (first, at) = (self.before.max(self.undirected), self.position(self.at));
            self.found[first..].iter_mut().for_each(|comment| comment.end = comment.end.min(at));
            self.undirected = self.found.len();
        }
        let length = line_length(rest, false);
        let block = self.text[self.at..self.at + length].find("/*");
        self.at += match block {
            Some(start) => start + block_length(&rest[start..], false),
            None => length,
        };
        self.line.has_comment = true;
    }

    /// Notes that there is code at an offset.
    fn code(&mut self, at: usize) {
        let position = self.position(at);
        self.found[self.before..].iter_mut().for_each(|comment| comment.next = position);
        self.before = self.found.len();
        (self.line.has_code, self.has_code) = (true, true);
    }

    fn ends(&mut self, at: usize) {
        let position = self.position(at);
        self.found[self.unended..].iter_mut().for_each(|comment| comment.end = comment.end.min(position));
        self.unended = self.found.len();
    }

    fn closes(&mut self, at: usize) {
        let position = self.position(at);
        let bodies = self.found[self.inside..].iter_mut().filter_map(|comment| comment.body.as_mut());
        bodies.for_each(|body| body.hi = position);
        self.inside = self.found.len();
    }

    fn position(&self, at: usize) -> u32 {
        self.base + at as u32
    }
}

/// Returns true if a line begins a group, another one, or ends it.
fn is_conditional(rest: &[u8]) -> bool {
    let word = rest[1..].trim_ascii_start();
    [b"if".as_slice(), b"el", b"endif"].iter().any(|start| word.starts_with(start))
}

/// The bytes up to the end of a line, with the lines that a backslash joins to it.
fn line_length(rest: &[u8], is_wgsl: bool) -> usize {
    let mut at = 0;
    while let Some(length) = rest[at..].iter().position(|byte| *byte == b'\n') {
        at += length;
        let line = rest[..at].strip_suffix(b"\r").unwrap_or(&rest[..at]);
        if is_wgsl || !line.ends_with(b"\\") {
            return at;
        }
        at += 1;
    }
    rest.len()
}

/// The bytes of a comment in `/*` and `*/`.
fn block_length(rest: &[u8], nests: bool) -> usize {
    let (mut at, mut depth) = (0, 0);
    while at + 1 < rest.len() {
        match &rest[at..at + 2] {
            b"/*" if nests || depth == 0 => depth += 1,
            b"*/" => depth -= 1,
            _ => {
                at += 1;
                continue;
            }
        }
        at += 2;
        if depth == 0 {
            return at;
        }
    }
    rest.len()
}

/// The lines of a comment that begins in a column, as every language takes them.
fn lines_of(text: &str, column: usize) -> Vec<String> {
    let is_block = text.starts_with("/*");
    let inner = text.trim_start_matches("/*").trim_end_matches("*/");
    let is_safe =
        is_block && text.ends_with("*/") && !inner.contains("/*") && !inner.contains("*/") && !text.contains('\\');
    if is_safe {
        return text
            .lines()
            .enumerate()
            .map(|(index, line)| if index == 0 { line.trim_end().to_string() } else { dedented(line, column) })
            .collect();
    }
    let text = if is_block { inner } else { &text[2..] };
    let lines = text.lines().map(|line| line.trim_end_matches(|c: char| c.is_whitespace() || c == '\\'));
    let lines: Vec<String> = lines
        .map(|line| format!("//{}{line}", if line.starts_with([' ', '/']) || !is_block { "" } else { " " }))
        .collect();
    if lines.is_empty() { vec!["//".to_string()] } else { lines }
}

/// A line without the white space in front of a column.
fn dedented(line: &str, column: usize) -> String {
    let margin = line.bytes().take(column).take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    line[margin..].trim_end().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str, is_wgsl: bool) -> Vec<Comment> {
        let mut map = SourceMap::new();
        let file = map.add("a", text).unwrap();
        comments(map.file(file), is_wgsl)
    }

    fn lines(text: &str) -> Vec<Vec<String>> {
        found(text, false).into_iter().map(|comment| comment.lines).collect()
    }

    #[test]
    fn a_backslash_joins_lines_in_glsl_alone() {
        let text = "// one \\\ntwo\nfloat x;";
        assert_eq!(lines(text), [["// one", "//two"]]);
        assert_eq!(found(text, true)[0].lines, ["// one"]);
    }

    #[test]
    fn blocks_nest_in_wgsl_alone() {
        let text = "/* a /* b */ c */ x";
        assert_eq!(lines(text), [["// a /* b"]]);
        assert_eq!(found(text, true)[0].lines, ["// a /* b */ c"]);
    }

    #[test]
    fn blocks_keep_their_shape() {
        assert_eq!(lines("    /* a\n     * b\n       c */\nx"), [["/* a", " * b", "   c */"]]);
    }

    #[test]
    fn comments_know_the_code_around_them() {
        let text = "int a; // after\n\n// before\nint b;\nvoid f() {\n    // inside\n    a = 1;\n}\n";
        let found = found(text, false);
        let [after, before, inside] = found.as_slice() else { panic!("{found:?}") };
        assert_eq!((after.trails, before.trails), (Some(1), None));
        let rest = &text[before.next as usize - 1..before.end as usize - 1];
        assert_eq!(rest, "int b");
        let body = inside.body.expect("a body");
        assert_eq!(&text[body.lo as usize - 1..body.hi as usize], "{\n    // inside\n    a = 1;\n}");
    }

    #[test]
    fn strings_and_directives_hold_no_comments_of_declarations() {
        let text = "#define N 4 // of it\nvoid f() { debugPrintfEXT(\"// no\"); }";
        assert!(found(text, false).is_empty());
    }
}
