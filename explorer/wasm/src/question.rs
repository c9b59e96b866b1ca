//! Requests of the page.

use serde::Deserialize;
use std::collections::BTreeMap;

/// A question.
#[derive(Deserialize)]
#[serde(tag = "ask", rename_all = "camelCase")]
pub enum Question {
    /// The built-in profiles, and the names that shaders may have.
    Profiles,
    /// Takes a shader, whose language and stage its name says, for some profiles: messages, colours, operations, outputs.
    Open {
        name: String,
        text: String,
        profiles: Vec<String>,
    },
    Complete {
        at: usize,
    },
    Hover {
        at: usize,
    },
    /// The part of a report that is about one operation, as HTML.
    Explain {
        operation: usize,
    },
    /// Which of all profiles can run the shader.
    Check,
    Run(Request),
    /// The WGSL for subgroups of so many lanes.
    Wgsl {
        lanes: u32,
    },
    /// Compares what another machine left in the buffers of the last run.
    Compare {
        words: Vec<Vec<u32>>,
        within: f64,
    },
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
