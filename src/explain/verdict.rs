//! The compiler's answers about a shader. Each profile compiles it, and only that compilation can refuse it.

use super::shader::{Cell, Failure, Shader, worst_of_all};
use crate::compile::{Compilation, Options, Readings, Verdict};
use crate::diagnostic::{Code, Diagnostic, Severity};
use crate::warn;

/// The end of a compilation, and the cause if there is no output.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum End {
    Done,
    ShaderWrong,
    ProfileLacks,
}

/// A profile's answer about a whole shader.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Answer {
    pub end: End,
    /// The reason that there is no output, if the answers about operations do not show it.
    pub reason: Option<String>,
    /// Fewest lanes that a subgroup must have, where a driver may choose fewer.
    pub least_lanes: Option<u32>,
    /// Lanes of a subgroup, if the profile or the shader fixes them.
    pub wave_size: Option<u32>,
}

impl Answer {
    /// Returns true if there is an output.
    pub fn can(&self) -> bool {
        self.end == End::Done
    }
}

/// The answers of the profiles of some options to a shader that was parsed for them; `is_no` selects the answers that
/// refuse an operation. A library has nothing to compile, so every profile that reads it succeeds.
///
/// # Errors
/// Returns an error if the shader is wrong for all profiles.
pub fn answers<T>(
    readings: &mut Readings<'_>,
    options: &[Options],
    shader: &Shader<T>,
    is_no: impl Fn(&T) -> bool,
) -> Result<Vec<Answer>, Failure> {
    let mut answers = Vec::new();
    let mut wrong = Vec::new();
    for (n, options) in options.iter().enumerate() {
        let reading = readings.get(options);
        let narrowed = reading.narrowed(options);
        let profile = narrowed.as_ref().map_or(&options.profile, |options| &options.profile);
        let wave_size = profile.wave_size;
        if reading.is_library() && !reading.messages(options).has_errors() {
            answers.push(Answer { end: End::Done, reason: None, least_lanes: None, wave_size });
            continue;
        }
        let made = reading.compile(options);
        let refuses = |cell: &Cell<T>| matches!(cell, Cell::Answers(all) if all.iter().any(&is_no));
        let is_told = shader.rows.iter().any(|row| refuses(&row.cells[n]));
        let written = reading.written(profile).ok();
        let least_lanes = written.and_then(|module| warn::least_lanes(&module, profile));
        answers.push(Answer { end: end(&made.verdict), reason: reason(&made, is_told), least_lanes, wave_size });
        if made.verdict == Verdict::ShaderWrong {
            wrong.push(Failure { diagnostics: made.diagnostics, sources: made.sources });
        }
    }
    worst_of_all(wrong, options.len()).map_or(Ok(answers), Err)
}

fn end(verdict: &Verdict) -> End {
    match verdict {
        Verdict::Done(_) => End::Done,
        Verdict::ShaderWrong => End::ShaderWrong,
        Verdict::ProfileLacks => End::ProfileLacks,
    }
}

/// The first error, except errors about operations that are reported elsewhere.
fn reason(made: &Compilation, is_told: bool) -> Option<String> {
    let is_of_operation = |error: &Diagnostic| [Code::PROFILE_LACKS, Code::TOO_WIDE].contains(&error.code);
    let errors = made.diagnostics.iter().filter(|message| message.severity == Severity::Error);
    errors.into_iter().find(|error| !is_told || !is_of_operation(error)).map(text)
}

/// A message with its source text.
fn text(error: &Diagnostic) -> String {
    match error.labels.iter().find(|label| label.primary) {
        Some(label) if !label.text.is_empty() => format!("{}: {}", error.message, label.text),
        _ => error.message.clone(),
    }
}
