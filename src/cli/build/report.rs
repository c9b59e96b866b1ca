//! The reports of `crosslane build`: progress, the messages of all shaders, a table. Everything goes to standard error.
//!
//! Messages are in the manifest's order, regardless of the order in which jobs finished. A message that several outputs
//! of a shader share appears once.

use super::super::Exit;
use super::super::args::{BuildArgs, MessageArgs, MessageFormat};
use super::super::messages::{self, Said};
use super::engine::{Done, Fate};
use super::plan::{Job, Plan};
use crate::build::write::Written;
use crate::diagnostic::visible::visible;
use crate::diagnostic::{Code, Diagnostic};
use indicatif::{ProgressBar, ProgressStyle};
use std::fmt::Write as _;
use std::io::{self, IsTerminal, Write as _};
use std::sync::OnceLock;

/// Shows the progress of a build: a bar on a terminal, a line elsewhere.
pub struct Progress {
    is_shown: bool,
    bar: OnceLock<ProgressBar>,
}

impl Progress {
    pub fn new(args: &BuildArgs) -> Progress {
        Progress { is_shown: is_talkative(args), bar: OnceLock::new() }
    }

    /// Shows nothing.
    pub fn silent() -> Progress {
        Progress { is_shown: false, bar: OnceLock::new() }
    }

    /// Starts the display: `count` of `total` outputs must be made.
    pub fn start(&self, count: usize, total: usize) {
        if !self.is_shown || count == 0 {
            return;
        }
        if !io::stderr().is_terminal() {
            messages::say(&format!("building {count} of {total} outputs"));
            return;
        }
        let style = ProgressStyle::with_template("{bar:30} {pos}/{len} outputs");
        let bar = ProgressBar::new(count as u64);
        let _ = self.bar.set(match style {
            Ok(style) => bar.with_style(style),
            Err(_) => bar,
        });
    }

    pub fn tick(&self) {
        if let Some(bar) = self.bar.get() {
            bar.inc(1);
        }
    }

    pub fn end(&self) {
        if let Some(bar) = self.bar.get() {
            bar.finish_and_clear();
        }
    }
}

fn is_talkative(args: &BuildArgs) -> bool {
    !args.quiet && args.messages.message_format == MessageFormat::Human
}

/// Prints the results of a plan.
pub fn print(args: &BuildArgs, plan: &Plan, results: &[Done]) -> Exit {
    let mut text = Vec::new();
    let pairs: Vec<(&Job, &Done)> = plan.jobs.iter().zip(results).collect();
    for group in pairs.chunk_by(|(one, _), (other, _)| one.group == other.group) {
        group_messages(&args.messages, group, &mut text);
        if is_talkative(args) && !io::stderr().is_terminal() {
            text.extend(visible(&count_written(group)).as_bytes());
        }
    }
    if is_talkative(args) {
        text.extend(visible(&table(&pairs)).as_bytes());
    }
    // A standard error that cannot be written has nowhere to complain.
    let _ = io::stderr().lock().write_all(&text);
    worst(results)
}

/// Prints only the messages of all shaders.
pub fn messages_of(args: &MessageArgs, plan: &Plan, results: &[Done]) -> Exit {
    let mut text = Vec::new();
    let pairs: Vec<(&Job, &Done)> = plan.jobs.iter().zip(results).collect();
    for group in pairs.chunk_by(|(one, _), (other, _)| one.group == other.group) {
        group_messages(args, group, &mut text);
    }
    let _ = io::stderr().lock().write_all(&text);
    worst(results)
}

/// How many outputs of a shader were written.
fn count_written(group: &[(&Job, &Done)]) -> String {
    let shader = group[0].0.shader.path.display();
    match group.iter().filter(|(_, done)| matches!(done.fate, Fate::Made(Written::New))).count() {
        0 => String::new(),
        1 => format!("{shader}: 1 output\n"),
        many => format!("{shader}: {many} outputs\n"),
    }
}

/// The messages of one shader, each once, then the errors of its outputs.
fn group_messages(args: &MessageArgs, group: &[(&Job, &Done)], text: &mut Vec<u8>) {
    let said = group.iter().filter_map(|(job, done)| {
        let made = done.compilation.as_ref()?;
        Some(Said { output: &job.output, sources: &made.sources, diagnostics: &made.diagnostics })
    });
    text.extend(messages::once(args, &said.collect::<Vec<_>>(), group.len()));
    group.iter().for_each(|(job, done)| text.extend(problem(args, job, &done.fate)));
}

/// The error of an output that is not about its shader.
fn problem(args: &MessageArgs, job: &Job, fate: &Fate) -> Vec<u8> {
    let output = job.output.display();
    let (code, text) = match fate {
        Fate::Broken(why) => (Code::OUTPUT_FAILED, why.clone()),
        Fate::Differs { is_missing: true } => (Code::OUTPUT_DIFFERS, format!("{output} is missing")),
        Fate::Differs { is_missing: false } => (Code::OUTPUT_DIFFERS, format!("{output} is not what would be made")),
        _ => return Vec::new(),
    };
    messages::plain(args, Diagnostic::error(code, text))
}

/// How the whole build ended.
fn worst(results: &[Done]) -> Exit {
    Exit::worst(results.iter().map(|done| exit(&done.fate)))
}

fn exit(fate: &Fate) -> Exit {
    match fate {
        Fate::Skipped | Fate::Made(_) => Exit::Done,
        Fate::Differs { .. } => Exit::ShaderWrong,
        Fate::Failed(exit) => *exit,
        Fate::Broken(_) | Fate::NotTried => Exit::CommandWrong,
    }
}

/// A line of the table: outputs by result.
#[derive(Clone, Copy, Default)]
struct Tally {
    written: usize,
    same: usize,
    skipped: usize,
    failed: usize,
}

impl Tally {
    fn count(&mut self, fate: &Fate) {
        match fate {
            Fate::Skipped => self.skipped += 1,
            Fate::Made(Written::New) => self.written += 1,
            Fate::Made(Written::Same) => self.same += 1,
            _ => self.failed += 1,
        }
    }
}

/// A row for each profile, in the manifest's order; one line if there was nothing to do.
fn table(pairs: &[(&Job, &Done)]) -> String {
    let mut rows: Vec<(&str, Tally)> = Vec::new();
    let mut total = Tally::default();
    for (job, done) in pairs {
        let at = rows.iter().position(|(name, _)| *name == job.target.name()).unwrap_or_else(|| {
            rows.push((job.target.name(), Tally::default()));
            rows.len() - 1
        });
        rows[at].1.count(&done.fate);
        total.count(&done.fate);
    }
    if total.skipped == pairs.len() {
        return format!("all {} outputs are up to date\n", pairs.len());
    }
    rows.push(("all", total));
    let width = rows.iter().map(|(name, _)| name.len()).max().unwrap_or(0).max("profile".len());
    let mut text = format!("{:width$}  written   same  skipped  failed\n", "profile");
    for (name, row) in rows {
        // Writing into a `String` cannot fail.
        let _ = writeln!(text, "{name:width$}  {:7}  {:5}  {:7}  {:6}", row.written, row.same, row.skipped, row.failed);
    }
    text
}
