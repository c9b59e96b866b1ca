//! Requests of the page.

use crosslane::backend::Optimize;
use serde::Deserialize;
use std::collections::BTreeMap;

/// A question.
#[derive(Deserialize)]
#[serde(tag = "ask", rename_all = "camelCase")]
pub enum Question {
    /// The built-in profiles, and the names that shaders may have.
    Profiles,
    /// Takes a shader for some profiles: messages, colours, operations, outputs.
    Open(Shader),
    Complete(Position),
    Hover(Position),
    /// The part of a report that is about one operation, as HTML.
    Explain {
        operation: usize,
    },
    /// Which of all profiles can run the shader.
    Check,
    Run(Request),
    /// One execution of an operation in a run, with the values of all lanes after each step.
    Steps {
        operation: usize,
        execution: usize,
        run: Request,
    },
    /// The WGSL for subgroups of this many lanes; without a number, of any size.
    Wgsl {
        lanes: Option<u32>,
    },
    /// The WGSL of a fragment shader, with what it binds.
    Draw {
        lanes: Option<u32>,
        fills: BTreeMap<String, String>,
    },
    /// Compares what another machine left in the buffers of the last run.
    Compare {
        words: Vec<Vec<u32>>,
        within: f64,
    },
    /// A file of the output for a profile.
    Emit {
        profile: String,
        form: Form,
    },
}

/// A shader, whose language and stage its name says.
#[derive(Deserialize)]
pub struct Shader {
    pub name: String,
    pub text: String,
    /// The files that it may include.
    #[serde(default)]
    pub files: Vec<File>,
    pub profiles: Vec<String>,
    #[serde(default)]
    pub options: Choices,
}

#[derive(Deserialize)]
pub struct File {
    pub name: String,
    pub text: String,
}

/// The options of `crosslane compile` that the page has.
#[derive(Clone, Default, Deserialize)]
#[serde(default)]
pub struct Choices {
    /// As `-D` has them.
    pub defines: Vec<String>,
    pub entry: Option<String>,
    pub optimize: Optimize,
    /// A number, or `any`; the profile's own where there is none.
    pub wave: Option<String>,
}

/// A position in a file.
#[derive(Deserialize)]
pub struct Position {
    /// The shader itself where there is none.
    pub file: Option<String>,
    pub at: usize,
}

/// The contents of a file.
#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Form {
    Text,
    Binary,
    Reflection,
}

/// A run on the simulator.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Request {
    pub profile: String,
    /// Lanes of a wave where the profile does not say.
    pub lanes: u32,
    pub groups: [u32; 3],
    /// Contents by the places of the buffers; those that nobody gives are the usual ones.
    pub fills: BTreeMap<String, String>,
    pub push: String,
    /// Types by the places of the buffers, as their numbers are shown.
    pub types: BTreeMap<String, String>,
    /// Numbers of a buffer that are shown.
    pub shown: usize,
}
