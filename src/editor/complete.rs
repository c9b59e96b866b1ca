//! Completion: the words that fit at a position.

use super::lookup::span_of;
use super::scan::{Kind as Lexeme, Scanned};
use super::words;
use super::{Analysis, Place, Source};
use crate::compile::Language;
use crate::glsl::keyword::{self, WordClass};
use crate::glsl::preprocess::directive_names;
use crate::glsl::types::{TypeName, type_name};
use crate::grammar::{self, ExtensionSet, Overload};
use crate::ir::Stage;
use crate::symbols::{Declaration, Kind, TypeOf};
use rustc_hash::FxHashSet;
use std::ops::Range;

/// The class of a completion.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum CompletionKind {
    Function,
    Variable,
    Constant,
    Struct,
    Member,
    Type,
    Keyword,
    Macro,
    Extension,
}

/// A completion.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Completion {
    pub label: String,
    pub kind: CompletionKind,
    /// A signature or a type.
    pub detail: String,
    /// Markdown.
    pub doc: String,
    /// A line that the word also needs: its place and its text.
    pub line: Option<(Place, String)>,
}

impl Completion {
    fn new(label: impl Into<String>, kind: CompletionKind) -> Completion {
        Completion { label: label.into(), kind, detail: String::new(), doc: String::new(), line: None }
    }

    fn about(self, detail: impl Into<String>, doc: impl Into<String>) -> Completion {
        Completion { detail: detail.into(), doc: doc.into(), ..self }
    }
}

/// The place of the word at the cursor.
struct Cursor<'a> {
    scanned: &'a Scanned,
    /// Number of the file.
    file: usize,
    /// The letters before the cursor.
    prefix: &'a str,
    /// Start of the word.
    start: usize,
}

impl Analysis {
    /// The words that fit at a position. If you have typed the first letters of a word, only words with this prefix are
    /// listed, ignoring case.
    pub fn completions(&self, position: u32, source: &Source<'_>) -> Vec<Completion> {
        let Some(cursor) = self.cursor(position) else { return Vec::new() };
        let before = cursor.scanned.before(cursor.start);
        if let Some(directive) = self.directive_before(&cursor, before) {
            return self.in_directive(&cursor, directive);
        }
        if let Some(point) = before.filter(|at| cursor.scanned.tokens[*at].kind == Lexeme::Punct(b'.')) {
            return self.members_at(&cursor, point);
        }
        let mut all = self.declared_names(position);
        all.extend(self.macro_names());
        match self.language {
            Language::Glsl => self.glsl_words(&cursor, source, &mut all),
            Language::Wgsl => wgsl_words(&cursor, &mut all),
        }
        all.retain(|item| starts_with(&item.label, cursor.prefix));
        let mut seen = FxHashSet::default();
        all.retain(|item| seen.insert(item.label.clone()));
        all
    }

    /// `None` inside comments, strings and numbers.
    fn cursor(&self, position: u32) -> Option<Cursor<'_>> {
        let (file, scanned) = self.scanned_at(position)?;
        let text = &self.sources.files()[file].text;
        let offset = (position - self.sources.files()[file].base) as usize;
        let inside = scanned.at(offset).map(|at| &scanned.tokens[at]);
        match inside {
            Some(token) if token.kind == Lexeme::Word => {
                let start = token.range.start;
                Some(Cursor { scanned, file, prefix: text.get(start..offset)?, start })
            }
            Some(token) if token.kind == Lexeme::Number && token.range.end >= offset => None,
            Some(token) if token.kind == Lexeme::Comment => {
                let is_line = text[token.range.clone()].starts_with("//");
                let is_inside = offset > token.range.start && (is_line || offset < token.range.end);
                (!is_inside).then_some(Cursor { scanned, file, prefix: "", start: offset })
            }
            Some(token) if token.kind == Lexeme::Text && offset < token.range.end => None,
            _ => Some(Cursor { scanned, file, prefix: "", start: offset }),
        }
    }

    /// The directive on the cursor's line: its name, which is empty directly after the `#`.
    fn directive_before(&self, cursor: &Cursor<'_>, before: Option<usize>) -> Option<&str> {
        let before = before?;
        let text = &self.sources.files()[cursor.file].text;
        let token = &cursor.scanned.tokens[before];
        if !token.in_directive || text[token.range.end..cursor.start].contains('\n') {
            return None;
        }
        match cursor.scanned.directive(before) {
            Some(name) if cursor.scanned.tokens[name].range.start < cursor.start => {
                Some(&text[cursor.scanned.tokens[name].range.clone()])
            }
            _ => Some(""),
        }
    }

    fn in_directive(&self, cursor: &Cursor<'_>, directive: &str) -> Vec<Completion> {
        let mut all: Vec<Completion> = match directive {
            "" => directive_names().map(|name| Completion::new(name, CompletionKind::Keyword)).collect(),
            "extension" => grammar::EXTENSIONS
                .iter()
                .map(|extension| Completion::new(extension.name, CompletionKind::Extension).about("", extension.doc))
                .collect(),
            "if" | "ifdef" | "ifndef" | "elif" | "undef" => self.macro_names(),
            _ => Vec::new(),
        };
        all.retain(|item| starts_with(&item.label, cursor.prefix));
        all
    }

    /// The declared names that can be seen from a position, the innermost first.
    fn declared_names(&self, position: u32) -> Vec<Completion> {
        let is_seen = |declaration: &&Declaration| match (declaration.kind, declaration.scope) {
            (Kind::Member, _) => declaration.is_free && declaration.name.hi <= position,
            (Kind::Block, _) => false,
            (_, Some(scope)) => scope.lo <= position && position <= scope.hi && declaration.name.hi <= position,
            // WGSL allows any order; in GLSL an include may come from anywhere.
            (_, None) => true,
        };
        let mut seen: Vec<&Declaration> = self.known().declarations.iter().filter(is_seen).collect();
        seen.sort_by_key(|declaration| std::cmp::Reverse(declaration.scope.map_or(0, |scope| scope.lo)));
        seen.into_iter().map(|declaration| self.declared(declaration)).collect()
    }

    fn declared(&self, declaration: &Declaration) -> Completion {
        let kind = match declaration.kind {
            Kind::Function => CompletionKind::Function,
            Kind::Constant => CompletionKind::Constant,
            Kind::Struct | Kind::Block => CompletionKind::Struct,
            Kind::Alias => CompletionKind::Type,
            Kind::Member if !declaration.is_free => CompletionKind::Member,
            _ => CompletionKind::Variable,
        };
        Completion::new(self.text(declaration.name), kind).about(self.head(declaration), "")
    }

    fn macro_names(&self) -> Vec<Completion> {
        self.all_macros().map(|span| Completion::new(self.text(span), CompletionKind::Macro)).collect()
    }

    /// The members of the expression before a dot, or the components of a vector.
    fn members_at(&self, cursor: &Cursor<'_>, point: usize) -> Vec<Completion> {
        let Some((declaration, brackets)) = self.declaration_before(cursor, point) else { return Vec::new() };
        let (name, dimensions) = match (declaration.ty, &declaration.inferred) {
            (Some(ty), _) => (self.text(ty.name), ty.dimensions),
            (None, Some(written)) => element(written),
            (None, None) => return Vec::new(),
        };
        if brackets < dimensions {
            let is_glsl = self.language == Language::Glsl;
            let length = Completion::new("length", CompletionKind::Function).about("int length()", "");
            return is_glsl.then_some(length).into_iter().collect();
        }
        if let Some(owner) = declaration.ty.and_then(|ty| self.owner(ty)) {
            let members = self.known().declarations.iter().filter(|member| member.owner == Some(owner));
            return members.map(|member| self.declared(member)).collect();
        }
        let size = self.components(name, brackets - dimensions);
        let letters = "xyzw".chars().take(size);
        letters.map(|letter| Completion::new(letter, CompletionKind::Member)).collect()
    }

    /// The name of the struct or block declared as a type.
    pub(super) fn owner(&self, ty: TypeOf) -> Option<crate::source::Span> {
        if self.known().by_name.contains_key(&ty.name) {
            return Some(ty.name);
        }
        let name = self.text(ty.name);
        let is_it = |declaration: &&Declaration| {
            matches!(declaration.kind, Kind::Struct | Kind::Block) && self.text(declaration.name) == name
        };
        // A forward declaration gets its members later.
        let has_members = |declaration: &&Declaration| {
            self.known().declarations.iter().any(|member| member.owner == Some(declaration.name))
        };
        let mut all = self.known().declarations.iter().filter(is_it);
        all.find(has_members).map(|declaration| declaration.name)
    }

    /// Components of a vector type, or of a column of a matrix that was indexed once.
    fn components(&self, name: &str, indices: u32) -> usize {
        match (self.language, type_name(name)) {
            (Language::Glsl, Some(TypeName::Basic(basic) | TypeName::Explicit(basic) | TypeName::Extended(basic))) => {
                let wanted = u32::from(basic.is_matrix());
                if indices == wanted { basic.rows.into() } else { 0 }
            }
            (Language::Wgsl, _) => {
                let size = name.strip_prefix("vec").and_then(|rest| rest.chars().next()?.to_digit(10));
                if indices == 0 { size.unwrap_or(0) as usize } else { 0 }
            }
            _ => 0,
        }
    }

    /// The declaration with the type of the expression that ends before a token, and the number of indices applied to
    /// it.
    fn declaration_before(&self, cursor: &Cursor<'_>, point: usize) -> Option<(&Declaration, u32)> {
        let tokens = &cursor.scanned.tokens;
        let (mut at, mut brackets) = (point.checked_sub(1)?, 0);
        loop {
            match tokens[at].kind {
                Lexeme::Punct(b']') => (at, brackets) = (opening(cursor.scanned, at)?.checked_sub(1)?, brackets + 1),
                Lexeme::Punct(b')') => at = opening(cursor.scanned, at)?.checked_sub(1)?,
                Lexeme::Word => break,
                _ => return None,
            }
        }
        let base = self.sources.files()[cursor.file].base;
        let before = at.checked_sub(1).filter(|before| tokens[*before].kind == Lexeme::Punct(b'.'));
        let word = span_of(base, &tokens[at].range);
        let declaration = match before {
            Some(point) => {
                let (outer, brackets) = self.declaration_before(cursor, point)?;
                let owner = outer.ty.filter(|ty| brackets == ty.dimensions).and_then(|ty| self.owner(ty))?;
                let is_it =
                    |member: &&Declaration| member.owner == Some(owner) && self.text(member.name) == self.text(word);
                self.known().declarations.iter().find(is_it)?
            }
            None => self.declaration_at(word.lo)?,
        };
        Some((declaration, brackets))
    }

    fn glsl_words(&self, cursor: &Cursor<'_>, source: &Source<'_>, all: &mut Vec<Completion>) {
        let enabled = self.enabled();
        let stage = source.options[0].stage.unwrap_or(Stage::Compute);
        let is_listed = |name: &str, needs: ExtensionSet| match cursor.prefix {
            "" => needs.is_empty() || needs.intersects(enabled),
            prefix => starts_with(name, prefix),
        };
        for function in grammar::FUNCTIONS {
            let mut fitting = function.overloads.iter().filter(|overload| overload.glsl);
            let Some(first) = fitting.next().filter(|first| is_listed(first.name, first.extensions)) else { continue };
            let mut item = of_overload(first, fitting.count(), cursor.prefix.is_empty());
            if !first.extensions.is_empty() && !first.extensions.intersects(enabled) {
                item.line = first.extensions.iter().next().and_then(|extension| self.extension_line(extension.name));
            }
            all.push(item);
        }
        let variables = grammar::VARIABLES.iter().filter(|variable| variable.stages.contains(stage));
        for variable in variables.filter(|variable| is_listed(variable.name, variable.extensions)) {
            let item = Completion::new(variable.name, CompletionKind::Variable);
            all.push(item.about(words::variable(variable), variable.doc));
        }
        for constant in grammar::CONSTANTS.iter().filter(|constant| is_listed(constant.name, constant.extensions)) {
            let item = Completion::new(constant.name, CompletionKind::Constant);
            all.push(item.about(words::constant(constant), constant.doc));
        }
        all.extend(keyword::words(self.words_of()).filter_map(|(word, class)| match class {
            WordClass::Reserved => None,
            WordClass::Type => Some(Completion::new(word, CompletionKind::Type)),
            _ => Some(Completion::new(word, CompletionKind::Keyword)),
        }));
    }

    /// The extensions that `#extension` lines enable.
    fn enabled(&self) -> ExtensionSet {
        let mut set = ExtensionSet::default();
        for (index, file) in self.sources.files().iter().enumerate() {
            let tokens = &self.scan(index).tokens;
            for three in tokens.windows(3).filter(|three| three[0].kind == Lexeme::Hash) {
                let text = |at: usize| &file.text[three[at].range.clone()];
                if let Some(extension) = grammar::extension(text(2)).filter(|_| text(1) == "extension") {
                    set.enable(extension);
                }
            }
        }
        set
    }

    /// The line that enables an extension, after the shader's `#version` line.
    fn extension_line(&self, name: &str) -> Option<(Place, String)> {
        let file = self.sources.files().first()?;
        let hashes = self.scan(0).tokens.windows(2).filter(|two| two[0].kind == Lexeme::Hash);
        let version = hashes.map(|two| two[1].range.clone()).find(|range| &file.text[range.clone()] == "version");
        let line_end =
            |range: Range<usize>| file.text[range.end..].find('\n').map_or(file.text.len(), |n| range.end + n + 1);
        let at = version.map_or(0, line_end);
        let place = Place { file: file.name.clone(), start: at, end: at };
        Some((place, format!("#extension {name} : require\n")))
    }
}

/// The innermost element type of a WGSL type, and the number of array dimensions.
fn element(ty: &str) -> (&str, u32) {
    let name = ty.trim_start_matches("array<");
    (name, ((ty.len() - name.len()) / "array<".len()) as u32)
}

/// The opening bracket of a closing one.
fn opening(scanned: &Scanned, close: usize) -> Option<usize> {
    let mut depth = 0usize;
    for at in (0..=close).rev() {
        match scanned.tokens[at].kind {
            Lexeme::Punct(b')' | b']') => depth += 1,
            Lexeme::Punct(b'(' | b'[') => depth = depth.checked_sub(1)?,
            Lexeme::Punct(b';' | b'{' | b'}') => return None,
            _ => {}
        }
        if depth == 0 {
            return Some(at);
        }
    }
    None
}

/// One item for several overloads. A long list has no documentation.
fn of_overload(first: &Overload, others: usize, brief: bool) -> Completion {
    let more = if others > 0 { format!(" (+{others})") } else { String::new() };
    let doc = if brief { "" } else { first.doc };
    Completion::new(first.name, CompletionKind::Function).about(format!("{}{more}", first.signature), doc)
}

fn wgsl_words(cursor: &Cursor<'_>, all: &mut Vec<Completion>) {
    for name in grammar::wgsl_function_names() {
        let mut overloads = grammar::wgsl_functions(name);
        let Some(first) = overloads.next() else { continue };
        let item = of_overload(first, overloads.count(), cursor.prefix.is_empty());
        all.push(Completion { label: name.into(), ..item });
    }
    if !cursor.prefix.is_empty() {
        all.extend(naga::keywords::wgsl::RESERVED.iter().map(|word| Completion::new(*word, CompletionKind::Keyword)));
    }
}

fn starts_with(word: &str, prefix: &str) -> bool {
    word.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix))
}
