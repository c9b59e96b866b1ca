//! Answers to the page.

use crosslane::explain::picture::Executed;
use crosslane::ir::Stage;
use crosslane::profile::Profile;
use serde::Serialize;
use std::collections::BTreeMap;

/// A question without an answer.
#[derive(Serialize)]
pub struct Failed {
    pub error: String,
}

/// The profiles and the endings of file names.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Choices {
    profiles: Vec<OneProfile>,
    /// Endings of names, each with what it means.
    kinds: Vec<(&'static str, String)>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct OneProfile {
    name: &'static str,
    description: &'static str,
    target: &'static str,
    wave_size: Option<u32>,
    is_hardware: bool,
    /// Endings of its files, and of its text files if text is a separate format.
    ending: &'static str,
    text_ending: &'static str,
}

pub fn profiles() -> Choices {
    let one = |profile: &'static Profile| OneProfile {
        name: &profile.name,
        description: &profile.description,
        target: profile.target.name(),
        wave_size: profile.wave_size,
        is_hardware: profile.target.is_hardware(),
        ending: profile.target.row().ending,
        text_ending: profile.target.row().text_ending,
    };
    let stages = Stage::ALL.into_iter().map(|stage| (stage.ending(), format!("GLSL, {}", stage.name())));
    Choices {
        profiles: Profile::built_in().iter().map(one).collect(),
        kinds: std::iter::once(("wgsl", "WGSL".to_owned())).chain(stages).collect(),
    }
}

/// A shader as it was understood.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Opened {
    pub messages: Vec<Message>,
    /// The ending that says the stage of its entry points; none if they have several, or the shader is wrong.
    pub stage: Option<&'static str>,
    /// The files that were read.
    pub files: Vec<String>,
    /// For each of them three numbers for each coloured word: where it begins and ends, and its class in `classes`.
    pub tokens: BTreeMap<String, Vec<usize>>,
    pub classes: Vec<String>,
    pub operations: Vec<Operation>,
    /// One for each profile.
    pub outputs: Vec<Output>,
}

#[derive(Serialize)]
pub struct Message {
    pub file: String,
    pub from: usize,
    pub to: usize,
    /// `error`, `warning` or `info`
    pub severity: &'static str,
    pub code: String,
    pub text: String,
    /// The first line of the text, for a list.
    pub title: String,
    /// The profiles that it is about, if these are not all.
    pub profiles: Vec<String>,
    pub line: u32,
    pub fix: Option<Fix>,
}

/// The edit that a message suggests.
#[derive(Serialize)]
pub struct Fix {
    pub file: String,
    pub from: usize,
    pub to: usize,
    pub insert: String,
    pub title: String,
}

#[derive(Serialize)]
pub struct Operation {
    pub file: String,
    pub from: usize,
    pub to: usize,
    pub line: u32,
    pub code: String,
    pub name: String,
    pub meaning: String,
    pub formula: String,
    /// One for each profile.
    pub prices: Vec<Option<String>>,
}

#[derive(Serialize)]
pub struct Output {
    pub profile: String,
    /// None where the shader is wrong, or the profile cannot express it.
    pub text: Option<String>,
    /// The first error of the profile, where it has no text.
    pub refused: Option<String>,
    /// Lines of the text that operations have, each with the numbers of these.
    pub marks: Vec<(usize, Vec<usize>)>,
}

#[derive(Serialize)]
pub struct Completion {
    pub label: String,
    pub kind: String,
    pub detail: String,
    pub doc: String,
    /// A line that the word needs too.
    pub line: Option<Fix>,
}

#[derive(Serialize)]
pub struct Hover {
    pub from: usize,
    pub to: usize,
    /// Markdown.
    pub text: String,
}

#[derive(Serialize)]
pub struct Explained {
    pub html: String,
    pub style: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RunAnswer {
    pub buffers: Vec<Buffer>,
    pub push_bytes: u32,
    pub workgroup: [u32; 3],
    /// Lanes of a wave.
    pub lanes: u32,
    /// Why there are no results.
    pub fault: Option<String>,
}

/// An execution of an operation.
#[derive(Serialize)]
pub struct Steps {
    /// All executions of the run that were kept.
    pub executions: Vec<Execution>,
    /// The one that was asked for, with the values of all lanes.
    pub executed: Option<Executed>,
    /// Why the run ended early.
    pub fault: Option<String>,
}

/// Who ran an operation.
#[derive(Serialize)]
pub struct Execution {
    pub workgroup: [u32; 3],
    pub wave: u32,
    /// The number of the component of a vector, or of the copy of the operation.
    pub part: usize,
    /// How often the wave has run it before.
    pub round: usize,
}

/// A fragment shader for the browser's GPU.
#[derive(Serialize)]
pub struct Drawing {
    pub text: Option<String>,
    pub refused: Option<String>,
    /// What `--emit reflection` prints.
    pub reflection: Option<String>,
    pub buffers: Vec<Filled>,
}

/// The contents of a buffer.
#[derive(Serialize)]
pub struct Filled {
    pub slot: String,
    pub fill: String,
    pub words: Vec<u32>,
}

/// A file.
#[derive(Serialize)]
pub struct Emitted {
    pub name: String,
    pub bytes: Vec<u8>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Buffer {
    pub slot: String,
    pub name: String,
    pub set: u32,
    pub binding: u32,
    pub is_uniform: bool,
    pub is_writable: bool,
    pub bytes: usize,
    pub fill: String,
    pub ty: String,
    /// The numbers before and after the run.
    pub before: Vec<String>,
    pub after: Vec<String>,
    /// All of the content before the run.
    pub words: Vec<u32>,
}

/// A program for the browser's GPU.
#[derive(Serialize)]
pub struct Wgsl {
    pub text: Option<String>,
    /// The output's reflection, as JSON.
    pub reflection: Option<String>,
    pub entry: String,
    pub refused: Option<String>,
}

/// A place where two machines differ, for each buffer that has one.
#[derive(Serialize)]
pub struct Difference {
    pub slot: String,
    pub text: String,
}
