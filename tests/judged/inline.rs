//! Shaders that contain their own expected messages: each file in `fixtures/bad` and `fixtures/said` begins with its
//! command line and has each message below the line that it concerns. `tests/README.md` explains the notation;
//! `CROSSLANE_BLESS=1` writes it.
//!
//! Messages and outputs are compared as whole files, so that nothing can be left out.

use serde::Deserialize;
use std::fmt::Write;
use std::fs;
use std::process::{Command, Output};
use support::trial::{Trial, trial};
use support::{bless, root};

/// The prefix of each kind of line that the runner writes.
const MESSAGE: &str = "//~ ";
const PRINTED: &str = "//>";
const STATUS: &str = "// exit status ";
const COMMAND: &str = "// crosslane ";

/// One line of `--message-format json`.
#[derive(Deserialize)]
struct Message {
    severity: String,
    code: Option<String>,
    message: String,
    labels: Vec<Label>,
    notes: Vec<String>,
    suggestion: Option<Suggestion>,
}

#[derive(Deserialize)]
struct Suggestion {
    column: usize,
    end_column: usize,
    replacement: String,
    text: String,
}

#[derive(Deserialize)]
struct Label {
    file: String,
    line: usize,
    column: usize,
    /// The lines that the runner writes are not counted between the two.
    end_line: usize,
    end_column: usize,
    text: String,
    primary: bool,
}

pub fn trials() -> Vec<Trial> {
    let bad = files("fixtures/bad");
    let count = bad.len();
    let mut trials: Vec<Trial> = bad.into_iter().map(|name| case(name, true)).collect();
    trials.extend(files("fixtures/said").into_iter().map(|name| case(name, false)));
    trials.push(trial("there_are_enough_bad_shaders", move || enough(count)));
    trials
}

fn enough(count: usize) -> Result<(), String> {
    if count < 120 { Err(format!("{count} shaders")) } else { Ok(()) }
}

/// The files of a folder, named from the project's root.
fn files(folder: &str) -> Vec<String> {
    let entries = fs::read_dir(root().join(folder)).expect("a folder").map(|entry| entry.expect("an entry"));
    let files = entries.filter(|entry| entry.path().is_file());
    let mut names: Vec<String> =
        files.map(|file| format!("{folder}/{}", file.file_name().into_string().expect("UTF-8"))).collect();
    names.sort();
    names
}

fn case(name: String, is_bad: bool) -> Trial {
    trial(name.clone(), move || {
        let text = fs::read_to_string(root().join(&name)).map_err(|error| error.to_string())?;
        let output = run(&name, &text)?;
        if is_bad && output.status.success() {
            return Err("nothing is wrong with this shader".to_owned());
        }
        bless::hold(&name, &written(&name, &text, &output)?)
    })
}

/// Runs the command line in the first line on its file; in GLSL ES that line follows the version, which must come
/// first. The shader's output is discarded.
fn run(name: &str, text: &str) -> Result<Output, String> {
    let line = text.lines().find(|line| !line.starts_with("#version")).unwrap_or_default();
    let command = line.strip_prefix(COMMAND).ok_or(format!("{name}: the first line is no `{COMMAND}…`"))?;
    let mut words: Vec<&str> = command.split_whitespace().collect();
    words.extend([name, "--message-format", "json"]);
    if words[0] == "compile" && !words.contains(&"-o") {
        words.extend(["-o", "/dev/null"]);
    }
    let mut process = Command::new(env!("CARGO_BIN_EXE_crosslane"));
    process.current_dir(root()).args(words).env_remove("COLUMNS");
    process.output().map_err(|error| error.to_string())
}

/// The file as it should be.
fn written(name: &str, text: &str, output: &Output) -> Result<String, String> {
    let said = String::from_utf8_lossy(&output.stderr);
    let mut messages: Vec<Message> = said.lines().map(message).collect::<Result<_, _>>()?;
    if let Some(warning) = messages.iter().find(|message| message.severity == "warning" && !message.has_help()) {
        return Err(format!("a warning without help: {}", warning.message));
    }
    let lines: Vec<&str> = text.lines().collect();
    let is_own = |line: &&str| [MESSAGE, PRINTED, STATUS].iter().any(|start| line.starts_with(start));
    let own: Vec<bool> = lines.iter().map(is_own).collect();
    for label in messages.iter_mut().flat_map(|message| &mut message.labels) {
        label.end_line -= own.iter().take(label.end_line).skip(label.line).filter(|is_own| **is_own).count();
    }
    let mut file = String::new();
    // A message must not end the comment that contains it.
    let mut put = |line: &str| match line.strip_prefix(MESSAGE) {
        Some(message) => file += &format!("{MESSAGE}{}\n", message.replace("*/", "* /")),
        None => file += &format!("{line}\n"),
    };
    for (n, line) in lines.iter().enumerate().filter(|(n, _)| !own[*n]) {
        put(line);
        let here =
            |label: &Label| label.file == name && !own.get(label.line - 1).unwrap_or(&true) && label.line == n + 1;
        messages.iter().flat_map(|message| message.lines(here, "")).for_each(|line| put(&line));
    }
    let elsewhere = |label: &Label| label.file != name || *own.get(label.line - 1).unwrap_or(&true);
    let at_end = format!("{name}:{}:", lines.len() + 1);
    let last = messages.iter().flat_map(|message| message.lines(elsewhere, name));
    last.for_each(|line| put(&line.replace(&at_end, "the end:")));
    let printed = String::from_utf8_lossy(&output.stdout);
    printed.lines().for_each(|line| put(format!("{PRINTED} {line}").trim_end()));
    put(&format!("{STATUS}{}", output.status.code().ok_or("it ended by a signal")?));
    Ok(file)
}

fn message(line: &str) -> Result<Message, String> {
    serde_json::from_str(line).map_err(|_| format!("no message in JSON: {line}"))
}

impl Message {
    /// Returns true if it says what to write instead.
    fn has_help(&self) -> bool {
        self.suggestion.is_some() || self.notes.iter().any(|note| note.starts_with("help: "))
    }

    /// The lines about the labels to be shown here. `file` names the shader where its name is needed; the message
    /// itself goes with its first label, or in this list if it has none.
    fn lines(&self, is_here: impl Fn(&Label) -> bool, file: &str) -> Vec<String> {
        let mut lines = Vec::new();
        if self.labels.is_empty() && !file.is_empty() {
            lines.push(format!("{MESSAGE}{}: {}", self.head(), self.message));
            lines.extend(self.trailer());
        }
        for label in self.labels.iter().filter(|label| is_here(label)) {
            let place = label.place(file);
            if label.primary {
                lines.push(format!("{MESSAGE}{place} {}: {}{}", self.head(), self.message, label.said()));
                lines.extend(self.trailer());
            } else {
                lines.push(format!("{MESSAGE}{place}{}", label.said()));
            }
        }
        lines
    }

    /// `error[E0402]`.
    fn head(&self) -> String {
        self.code.as_ref().map_or_else(|| self.severity.clone(), |code| format!("{}[{code}]", self.severity))
    }

    /// Notes and the suggestion.
    fn trailer(&self) -> Vec<String> {
        let notes = self.notes.iter().flat_map(|note| note.lines()).map(|line| format!("{MESSAGE}  = {line}"));
        let suggestion = self.suggestion.iter().map(|suggestion| {
            let Suggestion { column, end_column, replacement, text } = suggestion;
            format!("{MESSAGE}  = {column}..{end_column} {replacement:?}: {text}")
        });
        notes.chain(suggestion).collect()
    }
}

impl Label {
    /// `44..47`: columns that count from 1 and exclude the end, preceded by the file where it is not obvious.
    fn place(&self, file: &str) -> String {
        let mut place = String::new();
        if !file.is_empty() {
            let _ = write!(place, "{}:{}:", self.file, self.line);
        }
        let lines = self.end_line - self.line;
        let below = if lines == 0 { String::new() } else { format!("{lines} lines below, ") };
        let _ = write!(place, "{}..{below}{}", self.column, self.end_column);
        place
    }

    fn said(&self) -> String {
        if self.text.is_empty() { String::new() } else { format!(": {}", self.text) }
    }
}
