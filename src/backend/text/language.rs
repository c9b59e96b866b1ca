//! The languages that naga's writers make, one row each.

use super::{Shader, reflection};
use crate::backend::written::Unit;
use crate::backend::{Made, Options};
use crate::ir::Module;
use crate::lane::GroupOp;
use crate::profile::Target;
use naga::valid::{Capabilities, ModuleInfo};

/// Everything that sets a language apart beside its [`crate::profile::target::TargetRow`].
pub(super) struct Language {
    /// The capabilities that its modules may use.
    pub capabilities: Capabilities,
    /// The text of a valid module: naga's writer with its options, and what that leaves to be mended.
    pub write: fn(&naga::Module, &ModuleInfo) -> Result<String, String>,
    /// The whole text from the commented lines; true if lane operations are used.
    pub complete: fn(String, bool) -> String,
    /// The resources that the caller must bind and the values that it must set, as JSON.
    pub reflection: fn(&Shader, &Module, &Options) -> Made<String>,
    /// The function of the language for a lane operation that naga's form lacks.
    pub stands_in: fn(GroupOp) -> Option<&'static str>,
    /// Numbers of lanes, distances and masks that are constants must be below this.
    pub most_lanes: u32,
    /// The name and the expression of a line that names a value.
    pub naming: fn(&str) -> Option<(&str, &str)>,
    /// Parts of the names of functions that reach other lanes.
    pub lane_words: &'static [&'static str],
    /// The first words of lines of control flow.
    pub control_words: &'static [&'static str],
    /// True if specialization constants stay adjustable, sizes among them.
    pub has_overrides: bool,
    pub has_push_constants: bool,
    pub has_subgroup_barriers: bool,
    /// True if loops may have no way out.
    pub has_endless_loops: bool,
}

impl Language {
    /// The row of a target.
    pub fn of(target: Target) -> &'static Language {
        match target {
            Target::Wgsl => &WGSL,
            Target::Spirv | Target::Nv | Target::Amd | Target::Ptx | Target::Glsl => {
                unreachable!("naga's writers make no {}", target.name())
            }
        }
    }

    /// The unit that runs a line.
    pub fn unit(&self, line: &str) -> Unit {
        let line = line.trim();
        match line {
            _ if self.lane_words.iter().any(|word| line.contains(word)) => Unit::Subgroup,
            _ if self.control_words.iter().any(|word| line.starts_with(word)) => Unit::Control,
            _ => Unit::Arithmetic,
        }
    }
}

pub(super) static WGSL: Language = Language {
    capabilities: Capabilities::SUBGROUP
        .union(Capabilities::SHADER_FLOAT16)
        .union(Capabilities::SHADER_FLOAT16_IN_FLOAT32)
        .union(Capabilities::CUBE_ARRAY_TEXTURES)
        .union(Capabilities::PRIMITIVE_INDEX)
        .union(Capabilities::MULTISAMPLED_SHADING)
        .union(Capabilities::DUAL_SOURCE_BLENDING),
    write: wgsl_text,
    complete: wgsl_complete,
    reflection: reflection::webgpu,
    stands_in: |op| (op == GroupOp::Elect).then_some("subgroupElect"),
    // WGSL 17.12.
    most_lanes: 128,
    naming: |line| line.strip_prefix("let ")?.split_once(" = "),
    lane_words: &["subgroup", "quad"],
    control_words: &["if ", "loop ", "}", "break", "continue", "switch "],
    has_overrides: true,
    has_push_constants: false,
    has_subgroup_barriers: false,
    has_endless_loops: false,
};

/// naga puts the attributes of a variable on a line of their own.
fn wgsl_text(module: &naga::Module, info: &ModuleInfo) -> Result<String, String> {
    let flags = naga::back::wgsl::WriterFlags::empty();
    let text = naga::back::wgsl::write_string(module, info, flags).map_err(|error| super::finish::chain(&error))?;
    let mut joined = String::with_capacity(text.len());
    for line in text.lines() {
        joined.push_str(line.trim_end());
        joined.push(if line.starts_with("@group") { ' ' } else { '\n' });
    }
    Ok(joined)
}

/// The language wants extensions before all else.
fn wgsl_complete(text: String, uses_subgroups: bool) -> String {
    let head = if uses_subgroups { "enable subgroups;\ndiagnostic(off, subgroup_uniformity);\n\n" } else { "" };
    let lines = || head.lines().chain(text.lines());
    let is_enable = |line: &&str| line.starts_with("enable ");
    let mut all = String::with_capacity(head.len() + text.len());
    for line in lines().filter(is_enable).chain(lines().filter(|line| !is_enable(line))) {
        all.push_str(line);
        all.push('\n');
    }
    all
}
