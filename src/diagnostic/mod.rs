//! The compiler's messages about a shader: codes, labels on spans, notes and suggestions.
//!
//! Front ends, planner and targets push [`Diagnostic`]s into one [`Diagnostics`]. [`render`] turns them into text for
//! people (codespan-reporting) or JSON lines for tools. Nothing here prints.

pub mod allow;
pub mod codes;
pub mod nearest;
pub mod render;
pub mod visible;
pub mod warning;

use crate::source::Span;
pub use codes::Code;

/// The severity of a message. Only [`Severity::Error`] stops a compilation.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Severity {
    Note,
    Warning,
    Error,
}

/// Text attached to a span of source.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Label {
    pub span: Span,
    pub text: String,
    /// True for the label that marks the error itself; other labels give context.
    pub primary: bool,
}

/// A replacement that would fix the error.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Suggestion {
    pub span: Span,
    pub replacement: String,
    /// Sentence that introduces it, such as "did you mean `butterfly16`?".
    pub text: String,
}

/// One message.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Diagnostic {
    pub severity: Severity,
    pub code: Code,
    pub message: String,
    pub labels: Vec<Label>,
    pub notes: Vec<String>,
    pub suggestion: Option<Box<Suggestion>>,
}

/// Functions that create messages are cold, so that the compiler keeps their code out of hot paths.
impl Diagnostic {
    #[cold]
    pub fn new(severity: Severity, code: Code, message: impl Into<String>) -> Diagnostic {
        Diagnostic { severity, code, message: message.into(), labels: Vec::new(), notes: Vec::new(), suggestion: None }
    }

    #[cold]
    pub fn error(code: Code, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(Severity::Error, code, message)
    }

    #[cold]
    pub fn warning(code: Code, message: impl Into<String>) -> Diagnostic {
        Diagnostic::new(Severity::Warning, code, message)
    }

    /// Adds the primary label.
    #[must_use]
    #[cold]
    pub fn at(mut self, span: Span, text: impl Into<String>) -> Diagnostic {
        self.labels.push(Label { span, text: text.into(), primary: true });
        self
    }

    /// An error about a requirement, at its place if it has one.
    #[cold]
    pub fn needed(code: Code, message: impl Into<String>, span: Span) -> Diagnostic {
        let error = Diagnostic::error(code, message);
        if span.is_none() { error } else { error.at(span, "needed here") }
    }

    /// Adds the message to others, unless it is already there.
    #[cold]
    pub fn join(self, others: &mut Vec<Diagnostic>) {
        if !others.contains(&self) {
            others.push(self);
        }
    }

    /// Adds a label that gives context.
    #[must_use]
    #[cold]
    pub fn with(mut self, span: Span, text: impl Into<String>) -> Diagnostic {
        self.labels.push(Label { span, text: text.into(), primary: false });
        self
    }

    /// Adds a line after the source excerpt.
    #[must_use]
    pub fn note(mut self, text: impl Into<String>) -> Diagnostic {
        self.notes.push(text.into());
        self
    }

    /// Adds advice on what to write instead, if no single replacement is enough.
    #[must_use]
    pub fn help(self, text: impl std::fmt::Display) -> Diagnostic {
        self.note(format!("help: {text}"))
    }

    /// Adds a replacement that would fix the error.
    #[must_use]
    pub fn suggest(mut self, span: Span, replacement: impl Into<String>, text: impl Into<String>) -> Diagnostic {
        self.suggestion = Some(Box::new(Suggestion { span, replacement: replacement.into(), text: text.into() }));
        self
    }

    /// The message with the option that controls it, in gcc's format.
    pub fn title(&self) -> String {
        match warning::of(self.code) {
            Some(kind) => format!("{} [-W{}]", self.message, kind.name),
            None => self.message.clone(),
        }
    }

    /// The span of the first primary label.
    pub fn span(&self) -> Span {
        self.labels.iter().find(|l| l.primary).map_or(Span::NONE, |l| l.span)
    }
}

/// Errors after which a run stops adding more.
pub const ERROR_LIMIT: usize = 20;

/// Warnings after which a run stops adding more.
pub const WARNING_LIMIT: usize = 100;

/// The message about a construct that the language has and crosslane cannot write yet.
pub fn cannot_write(construct: &str, language: &str) -> String {
    format!("crosslane cannot write {construct} as {language} yet")
}

/// The messages of one run, in the order of discovery.
#[derive(Clone, Debug, Default)]
pub struct Diagnostics {
    list: Vec<Diagnostic>,
    errors: usize,
    warnings: usize,
    suppressed: usize,
}

impl Diagnostics {
    pub fn new() -> Diagnostics {
        Diagnostics::default()
    }

    /// Adds a message. Errors past [`ERROR_LIMIT`] and warnings past [`WARNING_LIMIT`] are only counted. An error with
    /// the code and the exact span of the previous one adds nothing and is dropped.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        let (count, limit) = match diagnostic.severity {
            Severity::Error => (&mut self.errors, ERROR_LIMIT),
            Severity::Warning => (&mut self.warnings, WARNING_LIMIT),
            Severity::Note => return self.list.push(diagnostic),
        };
        let repeats = diagnostic.severity == Severity::Error && repeats(self.list.last(), &diagnostic);
        if repeats {
            return;
        }
        if *count >= limit {
            self.suppressed += 1;
            return;
        }
        *count += 1;
        self.list.push(diagnostic);
    }

    /// Takes the result. Adds the messages of a failure.
    pub fn take<T>(&mut self, made: Result<T, Vec<Diagnostic>>) -> Option<T> {
        made.map_err(|messages| messages.into_iter().for_each(|message| self.push(message))).ok()
    }

    /// Returns true if there are no messages.
    pub fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    pub fn has_errors(&self) -> bool {
        self.errors > 0
    }

    /// Returns true if there are errors and all of them are limits of the profile or of crosslane.
    pub fn errors_are_refusals(&self) -> bool {
        let mut errors = self.list.iter().filter(|d| d.severity == Severity::Error);
        self.errors > 0 && errors.all(|d| d.code.is_refusal())
    }

    /// True when further errors would only be counted. A front end may stop then.
    pub fn is_full(&self) -> bool {
        self.errors >= ERROR_LIMIT
    }

    pub fn error_count(&self) -> usize {
        self.errors
    }

    /// The number of messages counted but not kept.
    pub fn suppressed(&self) -> usize {
        self.suppressed
    }

    pub fn iter(&self) -> impl Iterator<Item = &Diagnostic> {
        self.list.iter()
    }

    /// Number of messages so far, for [`Diagnostics::take_refusals`].
    pub fn mark(&self) -> usize {
        self.list.len()
    }

    /// The messages that came after a mark.
    pub fn since(&mut self, mark: usize) -> impl Iterator<Item = &mut Diagnostic> {
        self.list[mark..].iter_mut()
    }

    /// Removes the warnings and notes that came after a mark.
    pub fn forget_since(&mut self, mark: usize) {
        let warnings = self.list.split_off(mark).iter().filter(|d| d.severity == Severity::Warning).count();
        self.warnings -= warnings;
    }

    /// Removes the refusals (E07xx) that came after a mark, because the refused code may turn out to be unused.
    pub fn take_refusals(&mut self, mark: usize) -> Vec<Diagnostic> {
        let recent = self.list.split_off(mark);
        let (refusals, kept): (Vec<_>, Vec<_>) = recent.into_iter().partition(|d| d.code.is_refusal());
        self.list.extend(kept);
        self.errors -= refusals.iter().filter(|d| d.severity == Severity::Error).count();
        refusals
    }

    /// Gives every message that is not an error the severity that `judge` returns, and drops the message if that is
    /// `None`.
    pub fn judge(&mut self, mut judge: impl FnMut(&mut Diagnostic) -> Option<Severity>) {
        let mut kept = |diagnostic: &mut Diagnostic| {
            let is_error = diagnostic.severity == Severity::Error;
            let severity = if is_error { Some(Severity::Error) } else { judge(diagnostic) };
            diagnostic.severity = severity.unwrap_or(diagnostic.severity);
            self.errors += usize::from(!is_error && severity == Some(Severity::Error));
            severity.is_some()
        };
        self.list.retain_mut(&mut kept);
    }
}

fn repeats(old: Option<&Diagnostic>, new: &Diagnostic) -> bool {
    old.is_some_and(|old| old.code == new.code && old.span() == new.span() && !new.span().is_none())
}
