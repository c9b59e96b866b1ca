//! One launch of a ray tracing pipeline: its shaders by stage and number, and the records that refer to them.

use serde::{Deserialize, Serialize};

/// A shader other than the ray generation shader.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Numbered {
    /// The stage, as the extension of its files.
    pub ending: String,
    /// Its hit group, or its record in the miss or callable table.
    pub number: u32,
    /// The SPIR-V module, whose entry point is `main`.
    pub spirv: Vec<u32>,
}

/// One launch.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Launch {
    /// All shaders except the ray generation shader.
    pub shaders: Vec<Numbered>,
    /// The hit group of each record in the hit table. A group without shaders is one for triangles.
    pub hits: Vec<u32>,
    /// Invocations in each dimension.
    pub size: [u32; 3],
}

impl Launch {
    /// The index in [`Launch::shaders`] of the shader with this stage and number.
    pub fn place(&self, ending: &str, number: u32) -> Option<usize> {
        self.shaders.iter().position(|shader| shader.ending == ending && shader.number == number)
    }

    /// Number of shaders for a stage that has its own table.
    pub fn count(&self, ending: &str) -> u32 {
        self.shaders.iter().filter(|shader| shader.ending == ending).count() as u32
    }

    /// Hit groups.
    pub fn groups(&self) -> u32 {
        self.hits.iter().max().map_or(0, |last| last + 1)
    }
}
