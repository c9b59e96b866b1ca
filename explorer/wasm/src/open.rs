//! A shader that is open in the page.

use crate::answer::{self, Explained, Fix, Opened};
use crate::units::Units;
use crosslane::build::kind;
use crosslane::compile::{Artifact, Compilation, EmitKind, Input, Language, Options, Verdict, compile};
use crosslane::diagnostic::{Diagnostic, Severity};
use crosslane::editor::{Analysis, Completion, Message, Place, Source, TokenKind, price};
use crosslane::explain::{Report, explain, html};
use crosslane::kernel;
use crosslane::limits::Limits;
use crosslane::profile::Profile;
use crosslane::source::NoIncludes;
use crosslane::source::Span;
use std::cell::OnceCell;
use std::path::Path;

/// A shader, and what is known of it.
pub struct Open {
    pub name: String,
    text: String,
    language: Language,
    options: Vec<Options>,
    analysis: Analysis,
    pub units: Units,
    report: OnceCell<Result<Report, String>>,
}

/// A page is for shaders of people, who wait for it.
const LIMITS: (u64, u64) = (1 << 31, 1 << 30);

/// The options of a shader for one profile.
fn options(kind: kind::Kind, profile: Profile) -> Options {
    let limits = Limits { steps: LIMITS.0, memory: LIMITS.1, ..Limits::default() };
    Options { stage: kind.stage, emit: EmitKind::Assembly, limits, ..Options::new(profile) }
}

impl Open {
    pub fn new(name: String, text: String, profiles: &[String]) -> Result<Open, String> {
        let kind = kind::of(Path::new(&name)).ok_or_else(|| format!("`{name}` says no language"))?;
        let named = |name: &String| Profile::named(name).ok_or_else(|| Profile::unknown(name));
        let profiles = profiles.iter().map(named).collect::<Result<Vec<_>, _>>()?;
        if profiles.is_empty() {
            return Err("no profile is chosen".into());
        }
        let options: Vec<Options> = profiles.into_iter().map(|profile| options(kind, profile)).collect();
        let input = Input { name: &name, bytes: text.as_bytes(), language: kind.language };
        let source = Source { input, options: &options, loader: &NoIncludes, is_header: false };
        let analysis = Analysis::new(&source);
        let units = Units::new(&text);
        Ok(Open { name, text, language: kind.language, options, analysis, units, report: OnceCell::new() })
    }

    pub fn input(&self) -> Input<'_> {
        Input { name: &self.name, bytes: self.text.as_bytes(), language: self.language }
    }

    fn source(&self) -> Source<'_> {
        Source { input: self.input(), options: &self.options, loader: &NoIncludes, is_header: false }
    }

    /// The options of this shader for another profile.
    pub fn options_for(&self, profile: Profile) -> Options {
        Options { profile, ..self.options[0].clone() }
    }

    /// Where a span is in the text.
    pub fn place(&self, span: Span) -> Option<(usize, usize)> {
        self.analysis.place(span).map(|place| self.range(&place))
    }

    fn range(&self, place: &Place) -> (usize, usize) {
        (self.units.unit(place.start), self.units.unit(place.end))
    }

    /// The line that holds a byte, counted from 1.
    fn line(&self, byte: usize) -> u32 {
        self.text[..byte.min(self.text.len())].matches('\n').count() as u32 + 1
    }

    pub fn answer(&self) -> Opened {
        let source = self.source();
        let mut tokens = Vec::new();
        for token in self.analysis.semantic_tokens(&self.name) {
            let class = TokenKind::ALL.iter().position(|kind| *kind == token.kind).unwrap_or(0);
            tokens.extend([self.units.unit(token.range.start), self.units.unit(token.range.end), class]);
        }
        let priced = self.analysis.prices(&source);
        let operations = priced.iter().map(|priced| answer::Operation {
            from: self.units.unit(priced.range.start),
            to: self.units.unit(priced.range.end),
            line: self.line(priced.range.start),
            code: self.text.get(priced.range.clone()).unwrap_or_default().into(),
            name: priced.name.clone(),
            meaning: priced.meaning.clone(),
            formula: priced.formula.clone(),
            prices: priced.answers.iter().map(price).collect(),
        });
        Opened {
            messages: self.analysis.messages(&self.source()).iter().map(|message| self.message(message)).collect(),
            tokens,
            classes: TokenKind::ALL.iter().map(|kind| format!("{kind:?}").to_lowercase()).collect(),
            operations: operations.collect(),
            outputs: (0..self.options.len()).map(|n| self.output(n)).collect(),
        }
    }

    fn message(&self, message: &Message) -> answer::Message {
        let diagnostic = &message.diagnostic;
        let place = self.analysis.place(diagnostic.span());
        let (from, to) = place.as_ref().map_or((0, 0), |place| self.range(place));
        let text = message.text();
        answer::Message {
            from,
            to,
            severity: match diagnostic.severity {
                Severity::Error => "error",
                Severity::Warning => "warning",
                Severity::Note => "info",
            },
            code: diagnostic.code.to_string(),
            title: text.lines().next().unwrap_or_default().into(),
            text,
            line: place.map_or(1, |place| self.line(place.start)),
            fix: self.analysis.fix(diagnostic).map(|(place, insert, title)| self.fix(&place, insert, title)),
        }
    }

    fn fix(&self, place: &Place, insert: String, title: String) -> Fix {
        let (from, to) = self.range(place);
        Fix { from, to, insert, title }
    }

    fn output(&self, n: usize) -> answer::Output {
        let (output, options) = (&self.analysis.outputs(&self.source())[n], &self.options[n]);
        let profile = options.profile.name.to_string();
        let Some(Artifact::Text(text)) = &output.artifact else {
            let is_about = |message: &&Message| message.profiles.is_empty() || message.profiles.contains(&profile);
            let errors = self.analysis.messages(&self.source()).iter().filter(|message| is_error(&message.diagnostic));
            let refused = errors.filter(is_about).map(Message::text).next();
            return answer::Output { profile, text: None, refused, marks: Vec::new() };
        };
        let lines = output.marks(text, options).into_iter().enumerate();
        let marks = lines.map(|(line, spans)| (line, self.numbers(&spans))).filter(|(_, all)| !all.is_empty());
        answer::Output { profile, text: Some(text.clone()), refused: None, marks: marks.collect() }
    }

    /// The numbers of the operations at some places.
    fn numbers(&self, spans: &[Span]) -> Vec<usize> {
        let source = self.source();
        let priced = self.analysis.prices(&source);
        let places = spans.iter().filter_map(|span| self.analysis.place(*span));
        let at = |place: Place| {
            let is_it = move |range: &std::ops::Range<usize>| (range.start, range.end) == (place.start, place.end);
            priced.iter().enumerate().filter(move |(_, priced)| is_it(&priced.range)).map(|(n, _)| n)
        };
        let mut numbers: Vec<usize> = places.flat_map(at).collect();
        numbers.sort_unstable();
        numbers.dedup();
        numbers
    }

    pub fn completions(&self, at: usize) -> Vec<answer::Completion> {
        let Some(position) = self.analysis.position(&self.name, self.units.byte(at)) else { return Vec::new() };
        let found = self.analysis.completions(position, &self.source());
        let one = |item: Completion| answer::Completion {
            label: item.label,
            kind: format!("{:?}", item.kind).to_lowercase(),
            detail: item.detail,
            doc: item.doc,
            line: item.line.map(|(place, text)| self.fix(&place, text, String::new())),
        };
        found.into_iter().map(one).collect()
    }

    pub fn hover(&self, at: usize) -> Option<answer::Hover> {
        let position = self.analysis.position(&self.name, self.units.byte(at))?;
        let hover = self.analysis.hover(position, &self.source())?;
        let (from, to) = self.place(hover.at)?;
        Some(answer::Hover { from, to, text: hover.text })
    }

    /// The part of the report that is about an operation.
    pub fn explain(&self, operation: usize) -> Result<Explained, String> {
        let report = self.report.get_or_init(|| {
            let report = explain(&self.input(), &self.options, &NoIncludes);
            report.map_err(|failure| first_error(failure.diagnostics.iter()))
        });
        let report = report.as_ref().map_err(Clone::clone)?;
        if operation >= report.operations.len() {
            return Err("the shader has no such operation".into());
        }
        Ok(Explained { html: html::section(report, operation), style: html::STYLE })
    }

    /// The program for a browser whose subgroups have so many lanes.
    pub fn wgsl(&self, lanes: u32) -> Result<answer::Wgsl, String> {
        let profile = Profile::named("wgsl").ok_or("unknown profile `wgsl`")?;
        let options = self.options_for(profile.with_wave_size(Some(lanes)));
        let Compilation { verdict, diagnostics, .. } = compile(&self.input(), &options, &NoIncludes);
        let entry = self.entry();
        Ok(match verdict {
            Verdict::Done(Artifact::Text(text)) => answer::Wgsl { text: Some(text), entry, refused: None },
            _ => answer::Wgsl { text: None, entry, refused: Some(first_error(diagnostics.iter())) },
        })
    }

    /// The name of the entry point.
    fn entry(&self) -> String {
        let module = self.analysis.outputs(&self.source()).iter().find_map(|output| output.module());
        let entry = module.and_then(|module| kernel::only_entry(module).ok());
        entry.map_or_else(|| "main".into(), |entry| entry.name.to_string())
    }
}

fn is_error(diagnostic: &Diagnostic) -> bool {
    diagnostic.severity == Severity::Error
}

/// The first error in words.
pub fn first_error<'a>(mut messages: impl Iterator<Item = &'a Diagnostic>) -> String {
    let first = messages.find(|message| is_error(message)).cloned();
    first.map(|diagnostic| Message { diagnostic, profiles: Vec::new() }.text()).unwrap_or_default()
}
