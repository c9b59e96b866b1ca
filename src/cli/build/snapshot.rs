//! `crosslane snapshot`: compares the listings of a manifest's outputs with the committed ones, and shows readable
//! differences and changes in cost. Accepting a listing writes it; nothing else is written.

use super::super::args::SnapshotArgs;
use super::super::messages::colour;
use super::super::output::to_stdout;
use super::super::{CommandError, Exit, Outcome};
use super::engine::{Choices, Done, Engine};
use super::manifest::Manifest;
use super::plan::{Job, Plan};
use super::report::{self, Progress};
use crate::build::claims::Claims;
use crate::build::files::normal;
use crate::build::read;
use crate::build::walk::{self, Reach};
use crate::build::write::{is_left_over, whole};
use crate::compile::EmitKind;
use crate::diagnostic::visible::visible;
use crate::explain::{OnProfile, Report};
use crate::source::SOURCE_LIMIT;
use similar::TextDiff;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// The rule between the facts and the listing.
const RULE: &str = "---\n";
/// Extension of the files.
const EXTENSION: &str = "snap";

/// A listing that differs from the committed one.
struct Change {
    path: PathBuf,
    /// The committed listing; `None` for a new one.
    old: Option<String>,
    /// The current listing; `None` if nothing produces it any more.
    new: Option<String>,
}

pub fn run(args: &SnapshotArgs, claims: &Claims) -> Outcome {
    let manifest = Manifest::read(&args.manifest, claims)?;
    let plan = Plan::new(&manifest, claims)?;
    let choices = Choices {
        deny_warnings: args.messages.deny_warnings,
        no_warnings: args.messages.no_warnings,
        warnings: args.messages.warnings.clone(),
        is_check: true,
        jobs: args.jobs,
        emit: Some(EmitKind::Assembly),
    };
    let engine = Engine::new(&plan, &choices, manifest.folder());
    let made = engine.listings(&Progress::silent());
    let folder = normal(&manifest.folder().join(&args.dir));
    let (results, texts): (Vec<Done>, Vec<Option<String>>) = made.into_iter().unzip();
    let exit = report::messages_of(&args.messages, &plan, &results);
    let changes = changes(&folder, &plan, &texts, args.accept || args.review)?;
    let open = settle(args, changes, claims)?;
    Ok(if exit == Exit::Done && open > 0 { Exit::ShaderWrong } else { exit })
}

/// The file of a listing: `snapshots/sub/a.wave64.gfx1100.snap`.
fn path(folder: &Path, job: &Job) -> PathBuf {
    folder.join(Path::new(&job.name).with_extension(EXTENSION))
}

/// The differences in the plan's order, then the listings that nothing produces any more. A shader with errors changes
/// nothing.
fn changes(folder: &Path, plan: &Plan, texts: &[Option<String>], accepts: bool) -> Result<Vec<Change>, CommandError> {
    let mut changes = Vec::new();
    let mut left = existing(folder, accepts)?;
    let mut made: BTreeMap<PathBuf, (&Job, &str)> = BTreeMap::new();
    for (job, text) in plan.jobs.iter().zip(texts) {
        let path = path(folder, job);
        left.remove(&path);
        let Some(new) = text else { continue };
        match made.insert(path.clone(), (job, new)) {
            Some((other, text)) if text != new => return Err(twins(&path, [other, job])),
            Some(_) => continue,
            None => {}
        }
        let old = read(&path)?;
        if old.as_deref() != Some(new) {
            changes.push(Change { path, old, new: Some(new.clone()) });
        }
    }
    for path in left {
        // Other tools use this extension too; leave their files alone.
        let old = read::text(&path, SOURCE_LIMIT).ok().filter(|text| is_ours(text));
        if old.is_some() {
            changes.push(Change { path, old, new: None });
        }
    }
    Ok(changes)
}

/// Returns true if a text has the form of crosslane's snapshots.
fn is_ours(text: &str) -> bool {
    let mut lines = text.lines();
    lines.next().is_some_and(|line| line.starts_with("shader: "))
        && lines.next().is_some_and(|line| line.starts_with("target: "))
        && text.contains(RULE)
}

fn twins(path: &Path, jobs: [&Job; 2]) -> CommandError {
    let [one, two] = jobs.map(|job| job.output.display());
    CommandError(format!("two different listings are called {}: those of {one} and {two}", path.display()))
}

fn read(path: &Path) -> Result<Option<String>, CommandError> {
    match read::text(path, SOURCE_LIMIT) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(CommandError(format!("cannot read {}: {error}", path.display()))),
    }
}

/// The snapshots that are there, by name. A run that accepts some removes temporary files.
fn existing(folder: &Path, accepts: bool) -> Result<BTreeSet<PathBuf>, CommandError> {
    if !walk::here(folder).exists() {
        return Ok(BTreeSet::new());
    }
    let tree = walk::below(folder, Reach { hidden: true, ..Reach::default() });
    let cannot = |(folder, error): (PathBuf, _)| CommandError(format!("cannot read {}: {error}", folder.display()));
    let mut files = tree.map_err(cannot)?.files;
    // Files from a killed run.
    for path in files.iter().filter(|path| accepts && is_left_over(path)) {
        let _ = fs::remove_file(path);
    }
    files.retain(|path| path.extension().is_some_and(|ending| ending == EXTENSION));
    Ok(files.into_iter().collect())
}

/// Shows or accepts each change, and returns the number of open ones.
fn settle(args: &SnapshotArgs, changes: Vec<Change>, claims: &Claims) -> Result<usize, CommandError> {
    let mut open = 0;
    let mut is_asking = args.review;
    for change in changes {
        if !args.accept {
            to_stdout(change.text(args.check, colour(args.messages.color)).as_bytes())?;
        }
        let answer = if is_asking { ask()? } else { Answer::Skip };
        is_asking &= answer != Answer::Quit;
        if args.accept || answer == Answer::Accept {
            change.accept(claims)?;
        } else {
            open += 1;
        }
    }
    Ok(open)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Answer {
    Accept,
    Skip,
    Quit,
}

/// Asks on standard error. The end of the input counts as an answer.
fn ask() -> Result<Answer, CommandError> {
    loop {
        let _ = write!(io::stderr(), "accept? [a]ccept, [s]kip, [q]uit: ");
        let mut line = String::new();
        let read = io::stdin().read_line(&mut line);
        let count = read.map_err(|error| CommandError(format!("cannot read standard input: {error}")))?;
        match line.trim() {
            "a" | "accept" | "y" => return Ok(Answer::Accept),
            "s" | "skip" | "n" => return Ok(Answer::Skip),
            "q" | "quit" => return Ok(Answer::Quit),
            _ if count == 0 => return Ok(Answer::Quit),
            _ => {}
        }
    }
}

impl Change {
    fn accept(&self, claims: &Claims) -> Result<(), CommandError> {
        let cannot = |error: io::Error| CommandError(format!("cannot write {}: {error}", self.path.display()));
        let Some(new) = &self.new else { return fs::remove_file(&self.path).map_err(cannot) };
        fs::create_dir_all(self.path.parent().unwrap_or(Path::new(""))).map_err(cannot)?;
        whole(&self.path, new.as_bytes(), claims).map(drop).map_err(cannot)
    }

    /// A line with its name and its change in cost; then the lines that differ, unless only names are requested.
    fn text(&self, is_brief: bool, is_coloured: bool) -> String {
        let kind = match (&self.old, &self.new) {
            (None, _) => "new",
            (_, None) => "nothing makes it any more",
            _ => "changed",
        };
        let (old, new) = (self.old.as_deref().unwrap_or_default(), self.new.as_deref().unwrap_or_default());
        // Writing into a `String` cannot fail, here and below.
        let mut text = visible(&format!("{}: {kind}{}\n", self.path.display(), costs(old, new))).into_owned();
        if !is_brief && kind == "changed" {
            let diff = TextDiff::from_lines(old, new);
            diff.unified_diff()
                .context_radius(3)
                .to_string()
                .lines()
                .for_each(|line| coloured(&mut text, &visible(line), is_coloured));
        }
        text
    }
}

fn coloured(text: &mut String, line: &str, is_coloured: bool) {
    let code = match line.as_bytes().first() {
        Some(b'+') if is_coloured => "\x1b[32m",
        Some(b'-') if is_coloured => "\x1b[31m",
        _ => return text.push_str(&format!("{line}\n")),
    };
    let _ = writeln!(text, "{code}{line}\x1b[0m");
}

/// `, lines 40 to 38`: the facts that differ.
fn costs(old: &str, new: &str) -> String {
    let facts = |text: &'_ str| -> Vec<(String, String)> {
        let head = text.split_once(RULE).map_or("", |(head, _)| head);
        head.lines().filter_map(|line| line.split_once(": ")).map(|(key, value)| (key.into(), value.into())).collect()
    };
    let (old, new) = (facts(old), facts(new));
    let changed = |(key, value): &(String, String)| {
        let (_, before) = old.iter().find(|(known, _)| known == key)?;
        (before != value).then(|| format!(", {key} {before} to {value}"))
    };
    new.iter().filter_map(changed).collect()
}

/// The text of a snapshot: its facts, then the listing.
pub fn snapshot(job: &Job, listing: &str, report: Option<&Report>) -> String {
    let lines = listing.lines().filter(|line| !line.trim().is_empty()).count();
    let mut text = format!("shader: {}\ntarget: {}\nlines: {lines}\n", job.shader.path.display(), job.target.name());
    if let Some(report) = report {
        let costs = report.operations.iter().filter_map(|operation| match operation.profiles.first() {
            Some(OnProfile::Planned(lowering)) => Some((lowering.cost.instructions, lowering.cost.latency)),
            Some(OnProfile::Spanning(spanned)) => Some((spanned.extent.instructions, spanned.extent.latency)),
            _ => None,
        });
        let (mut operations, mut instructions, mut latency) = (0, 0, 0);
        for (own, cycles) in costs {
            operations += 1;
            instructions += u64::from(own);
            latency += u64::from(cycles);
        }
        let _ = writeln!(text, "cross-lane operations: {operations}\ntheir instructions: {instructions}");
        let _ = writeln!(text, "their latency: {latency} cycles");
    }
    text + RULE + listing
}
