//! Comments of the source: their positions, and the declarations that they belong to.

use super::writer::Writer;
use crate::ir::{GlobalId, Module};
use crate::source::{SourceFile, SourceLanguage, SourceMap, Span};
use rustc_hash::FxHashMap;

/// A comment of the source. Positions refer to the [`SourceMap`].
#[derive(Clone, Debug)]
pub(super) struct Comment {
    /// From its first sign to its last.
    pub span: Span,
    pub lines: Vec<String>,
    /// Start of its line, if code precedes it there.
    pub trails: Option<u32>,
    /// The code after it.
    pub next: u32,
    /// The first `;` or brace after it, which ends the declaration that starts at `next`.
    pub end: u32,
    /// True if an empty line or a directive separates it from the code after it.
    is_apart: bool,
    /// Offset of its last line.
    last_line: usize,
    /// Position of the innermost brace around it.
    pub block: u32,
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
    /// The comments at the top of the main file, which belong to the whole file.
    pub head: Vec<String>,
    /// Comments of declarations, by the position of the declaration.
    declared: FxHashMap<u32, Beside>,
    /// Comments in function bodies.
    pub bodies: Vec<Comment>,
}

impl Remarks {
    pub fn of(module: &Module, sources: &SourceMap) -> Remarks {
        let anchors = Anchors::of(module);
        let mut remarks = Remarks { head: Vec::new(), declared: FxHashMap::default(), bodies: Vec::new() };
        for (index, file) in sources.files().iter().enumerate() {
            for comment in comments(file, sources) {
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
    /// Positions of functions, variables and structs.
    outer: Vec<u32>,
    /// Positions of members of structs and blocks.
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

    /// The declaration that a comment belongs to, with true if it is at the end of the declaration's line.
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

    /// Adds the comments of a variable to its declaration, if that is in the list from index `first` on.
    pub fn remark_on(&mut self, id: GlobalId, first: usize) {
        let beside = self.remarks_of(id);
        match self.variables.get_mut(first) {
            Some(line) => beside.put(line),
            None if beside.is_empty() => {}
            None => drop(self.loose_remarks.insert(id, beside)),
        }
    }

    /// Adds the comments of an input or output to the struct member that represents it.
    pub fn remark_on_port(&mut self, id: GlobalId, line: Option<&mut String>) {
        if let Some(line) = line {
            self.loose_remarks.remove(&id).unwrap_or_else(|| self.remarks_of(id)).put(line);
        }
    }

    /// Adds the comments of a variable to the entry point parameter that represents it.
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

    /// All remarks, as lines.
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
fn comments(file: &SourceFile, sources: &SourceMap) -> Vec<Comment> {
    let is_wgsl = sources.language == SourceLanguage::Wgsl;
    let mut scan = Scan { text: &file.text, base: file.base, is_wgsl, ..Scan::default() };
    while scan.at < scan.text.len() {
        match sources.skipped_at(scan.position(scan.at)) {
            Some(skipped) => scan.at = ((skipped.hi - file.base) as usize).min(scan.text.len()),
            None => scan.step(),
        }
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

/// A walk through a text. Every comment from `before` on waits for code, from `unended` on for the end of a
/// declaration, and from `inside` on for the end of the body.
#[derive(Default)]
struct Scan<'a> {
    text: &'a str,
    base: u32,
    /// WGSL has nested block comments (section 3.3, Comments), no directives, and no line continuation.
    is_wgsl: bool,
    at: usize,
    found: Vec<Comment>,
    line: Line,
    has_code: bool,
    /// The enclosing braces, the outermost first.
    blocks: Vec<usize>,
    before: usize,
    /// The first comment that directly precedes the code after it so far, and the first that no directive follows.
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
            [b'/', b'/', ..] => self.comment(self.at + comment_length(&self.text[self.at..], self.is_wgsl)),
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
                if self.blocks.is_empty() {
                    self.inside = self.found.len();
                }
                self.blocks.push(self.at);
            }
            b'}' => {
                self.ends(self.at);
                self.blocks.pop();
                if self.blocks.is_empty() {
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
        let body = self.blocks.first().map(|open| Span::new(self.position(*open), u32::MAX));
        let is_first = !self.has_code;
        let last = self.text[self.at..end].rfind('\n').map(|last| self.at + last + 1);
        self.found.push(Comment {
            span,
            lines,
            trails,
            next: u32::MAX,
            end: u32::MAX,
            is_apart: false,
            last_line: last.unwrap_or(self.line.start),
            block: self.position(self.blocks.last().copied().unwrap_or_default()),
            is_first,
            body,
        });
        if let Some(start) = last {
            self.line = Line { start, ..Line::default() };
        }
        self.line.has_comment = true;
        self.at = end;
    }

    /// Skips a directive, which separates comments from the code after it.
    fn directive(&mut self, rest: &[u8]) {
        self.part();
        if self.blocks.is_empty() && !is_conditional(rest) {
            // Definitions of directives have no place in the output.
            let (first, at) = (self.before.max(self.undirected), self.position(self.at));
            self.found[first..].iter_mut().for_each(|comment| comment.end = comment.end.min(at));
            self.undirected = self.found.len();
        }
        let length = line_length(rest);
        let block = self.text[self.at..self.at + length].find("/*");
        self.at += match block {
            Some(start) => start + block_length(&rest[start..], false),
            None => length,
        };
        self.line.has_comment = true;
    }

    /// Notes that there is code at an offset.
    fn code(&mut self, at: usize) {
        let (position, line) = (self.position(at), self.line.start);
        for comment in &mut self.found[self.before..] {
            comment.next = position;
            // A comment in front of code on its line belongs to that code.
            comment.trails = comment.trails.filter(|_| comment.last_line != line);
        }
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

/// Returns true if a line starts, continues or ends a conditional group.
fn is_conditional(rest: &[u8]) -> bool {
    let word = rest[1..].trim_ascii_start();
    [b"if".as_slice(), b"el", b"endif"].iter().any(|start| word.starts_with(start))
}

/// Characters that end a line in WGSL (section 3.2, Blankspace and Line Breaks). In the other languages most of them
/// are white space.
const BREAKS: [char; 7] = ['\n', '\u{b}', '\u{c}', '\r', '\u{85}', '\u{2028}', '\u{2029}'];

/// The bytes of a comment up to the end of its line.
fn comment_length(rest: &str, is_wgsl: bool) -> usize {
    match is_wgsl {
        true => rest.find(BREAKS).unwrap_or(rest.len()),
        false => line_length(rest.as_bytes()),
    }
}

/// The bytes up to the end of a line, including continued lines.
fn line_length(rest: &[u8]) -> usize {
    let mut at = 0;
    while let Some(length) = rest[at..].iter().position(|byte| *byte == b'\n') {
        at += length;
        let line = rest[..at].strip_suffix(b"\r").unwrap_or(&rest[..at]);
        if !line.ends_with(b"\\") {
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

/// The lines of a comment that starts in a column, in a form that every language accepts.
fn lines_of(text: &str, column: usize) -> Vec<String> {
    // A character that ends a line in only some languages would end the comment there.
    let text = &*text.replace("\r\n", "\n").replace(|c| c != '\n' && BREAKS.contains(&c), " ");
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

/// A line without the white space before a column.
fn dedented(line: &str, column: usize) -> String {
    let margin = line.bytes().take(column).take_while(|byte| matches!(byte, b' ' | b'\t')).count();
    line[margin..].trim_end().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str, is_wgsl: bool) -> Vec<Comment> {
        let mut map = SourceMap::new();
        map.language = if is_wgsl { SourceLanguage::Wgsl } else { SourceLanguage::Unknown };
        let file = map.add("a", text).unwrap();
        comments(map.file(file), &map)
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
    fn what_ends_a_line_in_wgsl_ends_no_comment() {
        assert_eq!(lines("// one\u{c}two\u{2028}three\nx"), [["// one two three"]]);
        assert_eq!(found("// one\u{2028}two", true)[0].lines, ["// one"]);
    }

    #[test]
    fn comments_in_front_of_code_do_not_trail() {
        let found = found("a = 1; /* b */ b = 2; // c\n", false);
        let trails: Vec<bool> = found.iter().map(|comment| comment.trails.is_some()).collect();
        assert_eq!(trails, [false, true]);
    }

    #[test]
    fn strings_and_directives_hold_no_comments_of_declarations() {
        let text = "#define N 4 // of it\nvoid f() { debugPrintfEXT(\"// no\"); }";
        assert!(found(text, false).is_empty());
    }
}
