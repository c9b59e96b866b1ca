//! One launch of a ray tracing pipeline: its shaders by stage and number, and the records that lead to them.

use serde::{Deserialize, Serialize};

/// A shader beside the one that generates rays.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Numbered {
    /// The stage, by the end of its files.
    pub ending: String,
    /// The hit group that it is of, or the record of the miss or callable table.
    pub number: u32,
    /// The SPIR-V module, whose entry point is `main`.
    pub spirv: Vec<u32>,
}

/// One launch.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Launch {
    /// All shaders but the one that generates rays.
    pub shaders: Vec<Numbered>,
    /// The hit group of each record of the hit table. A group without shaders is one of triangles.
    pub hits: Vec<u32>,
    /// Invocations in each dimension.
    pub size: [u32; 3],
}

impl Launch {
    /// The place among [`Launch::shaders`] of the one of this stage and number.
    pub fn place(&self, ending: &str, number: u32) -> Option<usize> {
        self.shaders.iter().position(|shader| shader.ending == ending && shader.number == number)
    }

    /// Shaders of a stage that has a table of its own.
    pub fn count(&self, ending: &str) -> u32 {
        self.shaders.iter().filter(|shader| shader.ending == ending).count() as u32
    }

    /// Hit groups.
    pub fn groups(&self) -> u32 {
        self.hits.iter().max().map_or(0, |last| last + 1)
    }
}
