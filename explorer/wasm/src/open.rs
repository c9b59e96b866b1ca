//! A shader that is open in the page.

use crate::answer::{self, Explained, Fix, Opened};
use crate::draw::compiled;
use crate::files::Files;
use crate::question::{Choices, File, Position, Shader};
use crosslane::build::kind::{self, Kind};
use crosslane::compile::{Artifact, EmitKind, Input, Options};
use crosslane::diagnostic::{Diagnostic, Severity};
use crosslane::editor::{Analysis, Completion, Message, Output, Place, Source, TokenKind, price};
use crosslane::explain::prices::Priced;
use crosslane::explain::{Report, explain, html};
use crosslane::ir::Module;
use crosslane::kernel;
use crosslane::profile::Profile;
use crosslane::source::Span;
use std::cell::OnceCell;
use std::path::Path;

/// A shader, and what is known of it.
pub struct Open {
    files: Files,
    kind: Kind,
    choices: Choices,
    /// One for each profile.
    options: Vec<Options>,
    /// For each profile why it has no waves of the chosen size.
    unfit: Vec<Option<String>>,
    analysis: Analysis,
    report: OnceCell<Result<Report, String>>,
}

impl Open {
    pub fn new(shader: Shader) -> Result<Open, String> {
        let Shader { name, text, files, profiles, options: choices } = shader;
        let kind = kind::of(Path::new(&name)).ok_or_else(|| format!("`{name}` says no language"))?;
        let files = Files::new(File { name, text }, files);
        let (mut options, mut unfit) = (Vec::new(), Vec::new());
        for name in &profiles {
            let own = named(name)?;
            let with_waves = choices.with_waves(own.clone());
            unfit.push(with_waves.as_ref().err().cloned());
            options.push(choices.options(kind, with_waves.unwrap_or(own))?);
        }
        if options.is_empty() {
            return Err("no profile is chosen".into());
        }
        let analysis = Analysis::new(&source(&files, kind, &options));
        Ok(Open { files, kind, choices, options, unfit, analysis, report: OnceCell::new() })
    }

    pub fn input(&self) -> Input<'_> {
        input(&self.files, self.kind)
    }

    pub fn files(&self) -> &Files {
        &self.files
    }

    fn source(&self) -> Source<'_> {
        source(&self.files, self.kind, &self.options)
    }

    /// A profile with the chosen waves.
    pub fn profile(&self, name: &str) -> Result<Profile, String> {
        self.choices.with_waves(named(name)?)
    }

    /// The options of this shader for another profile.
    pub fn options_for(&self, profile: Profile) -> Options {
        Options { profile, ..self.options[0].clone() }
    }

    /// The options for a browser with subgroups of this size; without one, of any size.
    pub fn for_browser(&self, lanes: Option<u32>) -> Result<Options, String> {
        Ok(self.options_for(named("wgsl")?.with_wave_size(lanes)))
    }

    fn range(&self, place: &Place) -> (usize, usize) {
        let unit = |byte| self.files.units(&place.file).map_or(byte, |units| units.unit(byte));
        (unit(place.start), unit(place.end))
    }

    /// The line of a file that holds a byte, counted from 1.
    fn line(&self, file: &str, byte: usize) -> u32 {
        let text = self.files.text(file);
        text.as_bytes()[..byte.min(text.len())].iter().filter(|byte| **byte == b'\n').count() as u32 + 1
    }

    pub fn answer(&self) -> Opened {
        let tokens = self.files.names().map(|file| (file.to_owned(), self.tokens(file)));
        Opened {
            stage: self.stage(),
            files: self.analysis.files().map(ToString::to_string).collect(),
            messages: self.messages().iter().map(|message| self.message(message)).collect(),
            tokens: tokens.filter(|(_, tokens)| !tokens.is_empty()).collect(),
            classes: TokenKind::ALL.iter().map(|kind| format!("{kind:?}").to_lowercase()).collect(),
            operations: self.operations(),
            outputs: (0..self.options.len()).map(|n| self.output(n)).collect(),
        }
    }

    fn tokens(&self, file: &str) -> Vec<usize> {
        let mut tokens = Vec::new();
        let Some(units) = self.files.units(file) else { return tokens };
        for token in self.analysis.semantic_tokens(file) {
            let class = TokenKind::ALL.iter().position(|kind| *kind == token.kind).unwrap_or(0);
            tokens.extend([units.unit(token.range.start), units.unit(token.range.end), class]);
        }
        tokens
    }

    fn operations(&self) -> Vec<answer::Operation> {
        let one = |priced: &Priced| {
            let place = Place { file: priced.file.clone(), start: priced.range.start, end: priced.range.end };
            let (from, to) = self.range(&place);
            answer::Operation {
                file: priced.file.to_string(),
                from,
                to,
                line: self.line(&priced.file, priced.range.start),
                code: self.files.text(&priced.file).get(priced.range.clone()).unwrap_or_default().into(),
                name: priced.name.clone(),
                meaning: priced.meaning.clone(),
                formula: priced.formula.clone(),
                prices: priced.answers.iter().map(price).collect(),
            }
        };
        self.analysis.prices(&self.source()).iter().map(one).collect()
    }

    fn messages(&self) -> &[Message] {
        self.analysis.messages(&self.source())
    }

    fn message(&self, message: &Message) -> answer::Message {
        let diagnostic = &message.diagnostic;
        let place = self.analysis.place(diagnostic.span());
        let (from, to) = place.as_ref().map_or((0, 0), |place| self.range(place));
        let text = message.text();
        answer::Message {
            file: place.as_ref().map_or(self.input().name, |place| &place.file).into(),
            from,
            to,
            severity: match diagnostic.severity {
                Severity::Error => "error",
                Severity::Warning => "warning",
                Severity::Note => "info",
            },
            code: diagnostic.code.to_string(),
            profiles: message.profiles.clone(),
            title: text.lines().next().unwrap_or_default().into(),
            text,
            line: place.map_or(1, |place| self.line(&place.file, place.start)),
            fix: self.analysis.fix(diagnostic).map(|(place, insert, title)| self.fix(&place, insert, title)),
        }
    }

    fn fix(&self, place: &Place, insert: String, title: String) -> Fix {
        let (from, to) = self.range(place);
        Fix { file: place.file.to_string(), from, to, insert, title }
    }

    fn output(&self, n: usize) -> answer::Output {
        let (output, options) = (&self.analysis.outputs(&self.source())[n], &self.options[n]);
        let profile = options.profile.name.to_string();
        let refused = |why: Option<String>| answer::Output {
            profile: profile.clone(),
            text: None,
            refused: why,
            marks: Vec::new(),
        };
        if self.unfit[n].is_some() {
            return refused(self.unfit[n].clone());
        }
        let Some(Artifact::Text(text)) = &output.artifact else {
            let is_about = |message: &&Message| message.profiles.is_empty() || message.profiles.contains(&profile);
            let errors = self.messages().iter().filter(|message| is_error(&message.diagnostic));
            return refused(errors.filter(is_about).map(Message::text).next());
        };
        let lines = output.marks(text, options).into_iter().enumerate();
        let marks = lines.map(|(line, spans)| (line, self.numbers(&spans))).filter(|(_, all)| !all.is_empty());
        let marks = marks.collect();
        answer::Output { profile, text: Some(text.clone()), refused: None, marks }
    }

    /// The numbers of the operations at some places.
    fn numbers(&self, spans: &[Span]) -> Vec<usize> {
        let source = self.source();
        let priced = self.analysis.prices(&source);
        let places = spans.iter().filter_map(|span| self.analysis.place(*span));
        let at = |place: Place| {
            let key = (place.file.clone(), place.start, place.end);
            let of = |priced: &Priced| (priced.file.clone(), priced.range.start, priced.range.end);
            priced.iter().enumerate().filter(move |(_, priced)| of(priced) == key).map(|(n, _)| n)
        };
        let mut numbers: Vec<usize> = places.flat_map(at).collect();
        numbers.sort_unstable();
        numbers.dedup();
        numbers
    }

    /// A position of the page in the sources.
    fn position(&self, position: &Position) -> Option<u32> {
        let file = position.file.as_deref().unwrap_or(self.input().name);
        self.analysis.position(file, self.files.units(file)?.byte(position.at))
    }

    pub fn completions(&self, position: &Position) -> Vec<answer::Completion> {
        let Some(position) = self.position(position) else { return Vec::new() };
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

    pub fn hover(&self, position: &Position) -> Option<answer::Hover> {
        let hover = self.analysis.hover(self.position(position)?, &self.source())?;
        let (from, to) = self.range(&self.analysis.place(hover.at)?);
        Some(answer::Hover { from, to, text: hover.text })
    }

    /// What `explain` reports of the shader.
    pub fn report(&self) -> Result<&Report, String> {
        let report = self.report.get_or_init(|| {
            let report = explain(&self.input(), &self.options, &self.files);
            report.map_err(|failure| first_error(failure.diagnostics.iter()))
        });
        report.as_ref().map_err(Clone::clone)
    }

    /// The part of the report that is about an operation.
    pub fn explain(&self, operation: usize) -> Result<Explained, String> {
        let report = self.report()?;
        if operation >= report.operations.len() {
            return Err("the shader has no such operation".into());
        }
        Ok(Explained { html: html::section(report, operation), style: html::STYLE })
    }

    /// The program for a browser with subgroups of this size; without one, of any size.
    pub fn wgsl(&self, lanes: Option<u32>) -> Result<answer::Wgsl, String> {
        let options = self.for_browser(lanes)?;
        let entry = self.entry();
        let made = |emit| compiled(self, &options, emit);
        Ok(match made(EmitKind::Assembly).and_then(|text| Ok((text, made(EmitKind::Reflection)?))) {
            Ok((text, reflection)) => {
                answer::Wgsl { text: Some(text), reflection: Some(reflection), entry, refused: None }
            }
            Err(refused) => answer::Wgsl { text: None, reflection: None, entry, refused: Some(refused) },
        })
    }

    /// The shader as it was read, where some profile can read it.
    fn module(&self) -> Option<&Module> {
        self.analysis.outputs(&self.source()).iter().find_map(Output::module)
    }

    fn stage(&self) -> Option<&'static str> {
        let mut stages = self.module()?.entry_points.iter().map(|entry| entry.stage);
        let first = stages.next()?;
        stages.all(|stage| stage == first).then(|| first.ending())
    }

    /// The name of the entry point.
    fn entry(&self) -> String {
        let entry = self.module().and_then(|module| kernel::only_entry(module).ok());
        entry.map_or_else(|| "main".into(), |entry| entry.name.to_string())
    }
}

fn named(name: &str) -> Result<Profile, String> {
    Profile::named(name).ok_or_else(|| Profile::unknown(name))
}

fn input(files: &Files, kind: Kind) -> Input<'_> {
    let File { name, text } = files.shader();
    Input { name, bytes: text.as_bytes(), language: kind.language }
}

fn source<'a>(files: &'a Files, kind: Kind, options: &'a [Options]) -> Source<'a> {
    Source { input: input(files, kind), options, loader: files, is_header: false }
}

fn is_error(diagnostic: &Diagnostic) -> bool {
    diagnostic.severity == Severity::Error
}

/// The first error in words.
pub fn first_error<'a>(mut messages: impl Iterator<Item = &'a Diagnostic>) -> String {
    let first = messages.find(|message| is_error(message)).cloned();
    first.map(|diagnostic| Message { diagnostic, profiles: Vec::new() }.text()).unwrap_or_default()
}
