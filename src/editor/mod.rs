//! Answers for editors about a shader: messages, names, costs, completion. This module uses no files and no processes,
//! so that the language server and a web page can share it.
//!
//! All answers come from the compiler: names from the front end, words from the language tables, costs from the
//! planner. For a shader with errors, a similar shader without errors completes them: its last good version, or the
//! shader without its wrong statements.

mod calls;
pub mod complete;
mod heal;
mod hover;
mod layout;
mod lookup;
mod near;
mod outline;
mod pieces;
mod rename;
mod scan;
mod signature;
mod structure;
pub mod textmate;
mod texts;
pub mod tokens;
mod words;

pub use calls::{Calls, Function};
pub use complete::{Completion, CompletionKind};
pub use hover::{Hover, price};
pub use layout::white_space;
pub use outline::Outline;
pub use rename::RenameError;
pub use signature::{Signature, SignatureHelp};
pub use structure::Fold;
pub use tokens::{SemanticToken, TokenKind};

use crate::compile::{Artifact, Input, Language, Options, Reading, Readings, Verdict};
use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::explain::marks::marks;
use crate::explain::prices::{Answer, Priced, prices};
use crate::ir::Module;
use crate::source::{IncludeKind, Loader, SourceMap, Span};
use crate::symbols::{Declaration, Symbols, Use};
use lookup::Names;
use near::Near;
use rustc_hash::FxHashMap;
use scan::Scanned;
use std::ops::Range;
use std::sync::{Arc, OnceLock};

/// A shader and how it is read.
pub struct Source<'a> {
    pub input: Input<'a>,
    /// One for each profile of interest, at least one. They differ only in the profile.
    pub options: &'a [Options],
    pub loader: &'a dyn Loader,
    /// True for an include file, which needs no entry point.
    pub is_header: bool,
}

/// A stretch of a file.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Place {
    pub file: Arc<str>,
    pub start: usize,
    pub end: usize,
}

/// A message, with the profiles that it is about if these are not all.
#[derive(Clone, Debug)]
pub struct Message {
    pub diagnostic: Diagnostic,
    pub profiles: Vec<String>,
}

impl Message {
    /// The message with its label, its notes and its profiles.
    pub fn text(&self) -> String {
        let Message { diagnostic, profiles } = self;
        let label = diagnostic.labels.iter().find(|label| label.primary).map_or("", |label| &label.text);
        let mut text = diagnostic.title();
        if !text.contains(label) {
            text += &format!(": {label}");
        }
        if !profiles.is_empty() {
            text += &format!(" (on {})", profiles.join(", "));
        }
        diagnostic.notes.iter().for_each(|note| text += &format!("\n{note}"));
        text
    }
}

/// An analysed shader.
pub struct Analysis {
    language: Language,
    sources: Arc<SourceMap>,
    /// The shader for the first profile.
    reading: Arc<Reading>,
    compiled: OnceLock<Compiled>,
    /// The names that the front end recorded.
    own: Resolved,
    /// The recorded names and, in a shader with errors, the names of its last good version.
    all: OnceLock<Resolved>,
    /// The last version without errors.
    last: Option<Arc<Analysis>>,
    /// This version without the statements that have errors.
    healed: OnceLock<Option<Arc<Analysis>>>,
    scans: Vec<OnceLock<Scanned>>,
    names: OnceLock<Names>,
    profiles: Vec<String>,
    priced: OnceLock<Vec<Priced>>,
}

impl Analysis {
    /// Parses a shader. It is compiled for the profiles on the first question that needs the results.
    pub fn new(source: &Source<'_>) -> Analysis {
        let first = &source.options[0];
        let (reading, symbols) = Reading::with_symbols(&source.input, first, source.loader);
        let sources = reading.shared_sources();
        let scans = sources.files().iter().map(|_| OnceLock::new()).collect();
        let mut analysis = Analysis {
            language: source.input.language,
            sources,
            reading: Arc::new(reading),
            compiled: OnceLock::new(),
            own: Resolved::default(),
            all: OnceLock::new(),
            last: None,
            healed: OnceLock::new(),
            scans,
            names: OnceLock::new(),
            profiles: source.options.iter().map(|options| options.profile.name.to_string()).collect(),
            priced: OnceLock::new(),
        };
        analysis.own = analysis.settled(symbols);
        analysis
    }

    /// Reads a new version of a shader. If it has errors, `last`, its last good version, completes the answers.
    pub fn after(source: &Source<'_>, last: Option<Arc<Analysis>>) -> Analysis {
        let mut analysis = Analysis::new(source);
        if analysis.is_right() {
            return analysis;
        }
        let is_alike = |last: &Arc<Analysis>| last.profiles == analysis.profiles && last.language == analysis.language;
        analysis.last = last.filter(is_alike);
        if analysis.last.is_none() {
            analysis.heal(source);
        }
        analysis
    }

    /// The last good version, for later versions.
    pub fn good(self: &Arc<Self>) -> Option<Arc<Analysis>> {
        let near = || self.last.clone().or_else(|| self.healed.get()?.clone());
        if self.is_right() { Some(self.clone()) } else { near() }
    }

    fn heal(&self, source: &Source<'_>) -> Option<&Arc<Analysis>> {
        self.healed.get_or_init(|| heal::healed(self, source).map(Arc::new)).as_ref()
    }

    /// The names of the shader, resolved.
    fn known(&self) -> &Resolved {
        let near = || self.last.as_ref().or_else(|| self.healed.get()?.as_ref());
        if self.is_right() {
            return &self.own;
        }
        self.all.get_or_init(|| {
            let mut all = self.own.clone();
            near().into_iter().for_each(|near| Near::new(near, self).add_names(&mut all));
            all
        })
    }

    /// Adds the uses of known names. A name in a macro call is recorded at its position among the arguments.
    fn settled(&self, Symbols { declarations, uses }: Symbols) -> Resolved {
        let mut resolved = Resolved::default();
        declarations.into_iter().for_each(|declaration| resolved.add(Some(declaration)));
        let (mut shown, mut hidden) = (Vec::new(), Vec::new());
        for use_ in uses.into_iter().filter(|use_| resolved.by_name.contains_key(&use_.declared)) {
            let name = self.sources.text(use_.declared);
            if self.sources.text(use_.at) == name {
                shown.push(use_);
                continue;
            }
            let argument = |at: Span| Use { at, ..use_ };
            let before = shown.len();
            shown.extend(self.words_in(use_.at).filter(|at| self.sources.text(*at) == name).map(argument));
            if shown.len() == before {
                hidden.push(use_);
            }
        }
        for list in [&mut shown, &mut hidden] {
            list.sort_unstable();
            list.dedup();
        }
        // A declaration's own name does not count as a use.
        shown.retain(|use_| use_.at != use_.declared);
        shown.dedup_by_key(|use_| use_.at);
        Resolved { uses: shown, hidden, ..resolved }
    }

    pub fn language(&self) -> Language {
        self.language
    }

    /// The sources that the spans of messages point into.
    pub fn sources(&self) -> &SourceMap {
        &self.sources
    }

    /// The messages about the shader and its includes.
    pub fn messages(&self, source: &Source<'_>) -> &[Message] {
        &self.compiled(source).messages
    }

    /// The output of each profile, in their order.
    pub fn outputs(&self, source: &Source<'_>) -> &[Output] {
        &self.compiled(source).outputs
    }

    fn compiled(&self, source: &Source<'_>) -> &Compiled {
        self.compiled.get_or_init(|| Compiled::new(self.readings(source), source))
    }

    /// The readings of the shader so far.
    fn readings<'a>(&self, source: &Source<'a>) -> Readings<'a> {
        let others = self.compiled.get().map(|compiled| &compiled.outputs);
        let others = others.into_iter().flatten().map(|output| output.reading.clone());
        Readings::new(source.input, source.loader, [self.reading.clone()].into_iter().chain(others).collect())
    }

    /// Returns true if the shader has no errors.
    fn is_right(&self) -> bool {
        self.reading.module().is_some()
    }

    /// The names of all files of the shader, its own first.
    pub fn files(&self) -> impl Iterator<Item = &Arc<str>> {
        self.sources.files().iter().map(|file| &file.name)
    }

    /// The names of the profiles.
    pub fn profiles(&self) -> &[String] {
        &self.profiles
    }

    /// The position of a byte of a file, or `None` if the shader does not contain the file.
    pub fn position(&self, file: &str, offset: usize) -> Option<u32> {
        let file = self.sources.files().iter().find(|known| *known.name == *file)?;
        (offset <= file.text.len()).then(|| file.base + offset as u32)
    }

    /// The place of a span, or `None` for [`Span::NONE`].
    pub fn place(&self, span: Span) -> Option<Place> {
        if span.is_none() {
            return None;
        }
        let (file, Range { start, end }) = self.sources.resolve(span)?;
        Some(Place { file: self.sources.file(file).name.clone(), start, end })
    }

    /// The operations with their cost on each profile, planned on the first call. A shader with errors has the
    /// operations of its last good version, and new ones of the shader without its wrong statements.
    pub fn prices(&self, source: &Source<'_>) -> &[Priced] {
        self.priced.get_or_init(|| {
            let mut all = prices(&mut self.readings(source), source.options);
            if self.is_right() || !all.is_empty() {
                return all;
            }
            let last = self.last.iter().flat_map(|last| Near::new(last, self).prices(source));
            all.extend(last);
            let healed = self.heal(source).map(|healed| Near::new(healed, self).prices(source));
            // An operation may look unused because its only use is a statement with an error.
            let is_used = |new: &Priced| new.answers.iter().any(|answer| *answer != Answer::Gone);
            let place = |of: &Priced| (of.file.clone(), of.range.start);
            let known: Vec<_> = all.iter().map(place).collect();
            let is_new = |new: &Priced| is_used(new) && !known.contains(&place(new));
            all.extend(healed.into_iter().flatten().filter(is_new));
            all.sort_by_key(|priced| (priced.file.clone(), priced.range.start));
            all
        })
    }

    /// The cost of each operation in a part of a file on the first profile: where the operation ends, and the cost as
    /// text.
    pub fn hints(&self, source: &Source<'_>, file: &str, range: &Range<usize>) -> Vec<(usize, String)> {
        let here = |priced: &&Priced| *priced.file == *file && range.contains(&priced.range.start);
        let shown = self.prices(source).iter().filter(here);
        shown.filter_map(|priced| Some((priced.range.end, hover::price(priced.answers.first()?)?))).collect()
    }

    /// Loads the file that an `#include` at a position names: its name, and the span of the directive's operand.
    pub fn included(&self, position: u32, loader: &dyn Loader) -> Option<(Span, Arc<str>)> {
        let (index, scanned) = self.scanned_at(position)?;
        let file = &self.sources.files()[index];
        let (range, name, kind) = scanned.include_at((position - file.base) as usize, &file.text)?;
        let span = Span::new(file.base + range.start as u32, file.base + range.end as u32);
        Some((span, loader.load(name, kind, &file.name).ok()?.name))
    }

    /// The edit of a suggestion. Suggestions differ only in their text, so the text identifies one.
    pub fn fix(&self, diagnostic: &Diagnostic) -> Option<(Place, String, String)> {
        let suggestion = diagnostic.suggestion.as_ref()?;
        // An edit that changes nothing fixes nothing.
        let place = self.place(suggestion.span)?;
        Some((place, suggestion.replacement.clone(), suggestion.text.clone()))
    }

    fn scan(&self, index: usize) -> &Scanned {
        self.scans[index].get_or_init(|| Scanned::new(&self.sources.files()[index].text, self.language))
    }

    /// The tokens of the file that contains a position.
    fn scanned_at(&self, position: u32) -> Option<(usize, &Scanned)> {
        let index = self.sources.file_at(position)?.0 as usize;
        Some((index, self.scan(index)))
    }

    /// The words in a span.
    fn words_in(&self, span: Span) -> impl Iterator<Item = Span> {
        let base = self.sources.file_at(span.lo).map_or(0, |file| self.sources.file(file).base);
        let words = self.scanned_at(span.lo).into_iter().flat_map(|(_, scanned)| scanned.words());
        words
            .map(move |range| Span::new(base + range.start as u32, base + range.end as u32))
            .filter(move |word| span.lo <= word.lo && word.hi <= span.hi)
    }
}

/// The names of a shader, each use with its declaration.
#[derive(Clone, Debug, Default)]
struct Resolved {
    declarations: Vec<Declaration>,
    /// Sorted by place, without duplicates.
    uses: Vec<Use>,
    /// Uses whose name comes from a macro.
    hidden: Vec<Use>,
    by_name: FxHashMap<Span, usize>,
}

impl Resolved {
    fn add(&mut self, declaration: Option<Declaration>) {
        let Some(declaration) = declaration else { return };
        self.by_name.insert(declaration.name, self.declarations.len());
        self.declarations.push(declaration);
    }

    /// The use at a word.
    fn use_at(&self, word: Span) -> Option<&Use> {
        self.uses.binary_search_by_key(&word, |use_| use_.at).ok().map(|at| &self.uses[at])
    }
}

/// The output of the shader on one profile.
pub struct Output {
    /// `None` if the shader has errors or the profile cannot express it.
    pub artifact: Option<Artifact>,
    reading: Arc<Reading>,
}

impl Output {
    /// The parsed shader, or `None` if it has errors.
    pub fn module(&self) -> Option<&Module> {
        self.reading.module()
    }

    /// For each line of the output text with these options, the places of the operations that it implements.
    pub fn marks(&self, text: &str, options: &Options) -> Vec<Vec<Span>> {
        marks(text, &self.reading, options)
    }
}

/// The results of compiling a shader for the profiles.
struct Compiled {
    /// The messages of all profiles, each once.
    messages: Vec<Message>,
    outputs: Vec<Output>,
}

impl Compiled {
    fn new(mut readings: Readings<'_>, source: &Source<'_>) -> Compiled {
        let mut messages: Vec<Message> = Vec::new();
        let mut outputs = Vec::new();
        for options in source.options {
            let reading = readings.get(options);
            let compiled = reading.compile(options);
            add_messages(&mut messages, &compiled.diagnostics, &options.profile.name, source.is_header);
            let artifact = match compiled.verdict {
                Verdict::Done(artifact) => Some(artifact),
                Verdict::ShaderWrong | Verdict::ProfileLacks => None,
            };
            outputs.push(Output { artifact, reading });
        }
        let count = source.options.len();
        messages.iter_mut().filter(|message| message.profiles.len() == count).for_each(|m| m.profiles.clear());
        Compiled { messages, outputs }
    }
}

fn add_messages(all: &mut Vec<Message>, diagnostics: &Diagnostics, profile: &str, is_header: bool) {
    let is_wanted =
        |diagnostic: &&Diagnostic| !(is_header && matches!(diagnostic.code, Code::NO_MAIN | Code::ENTRY_POINT));
    for diagnostic in diagnostics.iter().filter(is_wanted) {
        match all.iter_mut().find(|message| message.diagnostic == *diagnostic) {
            Some(known) if known.profiles.iter().any(|name| name == profile) => {}
            Some(known) => known.profiles.push(profile.into()),
            None => all.push(Message { diagnostic: diagnostic.clone(), profiles: vec![profile.into()] }),
        }
    }
}

/// The name in an `#include`, and how it is written.
type IncludeName<'a> = (Range<usize>, &'a str, IncludeKind);

#[cfg(test)]
mod tests;
