//! The languages that naga's writers make, one row each.

use super::slots::{Most, Slot};
use super::{Shader, reflection};
use crate::backend::losses::Kept;
use crate::backend::places::Places;
use crate::backend::written::Unit;
use crate::backend::{Made, Options};
use crate::diagnostic::cannot_write;
use crate::ir::{Module, ScalarKind};
use crate::lane::GroupOp;
use crate::limits;
use crate::profile::{Profile, Target};
use naga::valid::{Capabilities, ModuleInfo};
use naga::{Handle, ResourceBinding};

/// Everything that sets a language apart besides its [`crate::profile::target::TargetRow`].
pub(super) struct Language {
    /// The capabilities that its modules may use.
    pub capabilities: Capabilities,
    /// The text of a valid module: naga's writer with its options, and what that leaves to be mended.
    pub write: fn(&naga::Module, &ModuleInfo, &Asked) -> Result<String, String>,
    /// The whole text from the commented lines, with what begins it.
    pub complete: fn(String, &Needs) -> String,
    /// The resources that the caller must bind and the values that it must set, as JSON.
    pub reflection: fn(&Shader, &Module, &Options) -> Made<String>,
    /// The function of the language for a lane operation that naga's form lacks.
    pub stands_in: fn(GroupOp) -> Option<&'static str>,
    /// The text before the names of those functions.
    pub namespace: &'static str,
    /// Numbers of lanes, distances and masks that are constants must be below this.
    pub most_lanes: u32,
    /// The name and the expression of a line that names a value.
    pub naming: fn(&str) -> Option<(&str, &str)>,
    /// Parts of the names of functions that reach other lanes.
    pub lane_words: &'static [&'static str],
    /// The first words of lines of control flow.
    pub control_words: &'static [&'static str],
    /// The form of specialization constants.
    pub constants: Constants,
    /// The spelling of sizes that they give.
    pub sizing: Sizing,
    /// The place of the buffer that push constants are in; none where the language has no such buffer.
    pub push_constants: Option<ResourceBinding>,
    /// The numbers of resources, where each kind has its own.
    pub slots: fn(&naga::Module, &Places) -> Vec<Slot>,
    /// The largest ones of a kind.
    pub most_slots: fn(&str) -> Most,
    /// True if a text is invalid where control flow parts around a barrier.
    pub has_uniformity: bool,
    /// True if vertex shaders may write to buffers.
    pub has_vertex_writes: bool,
    /// The qualifiers that are kept.
    pub kept: Kept,
    /// The first words of constructs that the language does not have, as its specification says. All others that are not
    /// written are what crosslane lacks.
    pub absent: &'static [&'static str],
    /// True if naga's writer has a function for the inverse of a matrix.
    pub has_inverse: bool,
    /// True if the writer keeps level 0 of comparisons where derivatives would give another.
    pub compares_at_level_0: bool,
    pub has_subgroup_barriers: bool,
    /// True if loops may have no way out.
    pub has_endless_loops: bool,
}

/// The extensions and rules that a text begins with.
#[derive(Clone, Copy, Default, Debug)]
pub(super) struct Needs {
    /// True if something of the language's subgroups is used.
    pub subgroups: bool,
    /// True if derivatives are taken where control flow may part.
    pub parted_derivatives: bool,
}

/// The requirements of a shader to its writer.
pub(super) struct Asked<'a> {
    pub profile: &'a Profile,
    /// True if workgroup memory starts as zeros.
    pub zeroes_shared: bool,
    /// The numbers of resources.
    pub slots: &'a [Slot],
    /// Variables that stand for specialization constants, with their numbers.
    pub macros: &'a [(Handle<naga::GlobalVariable>, u32)],
}

/// The form of specialization constants.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Constants {
    /// Overrides of the language.
    Overrides,
    /// Macros, whose value by default is that of the constant.
    Macros,
}

/// The spelling of sizes in declarations.
#[derive(Clone, Copy)]
pub(super) struct Sizing {
    /// The text before and after the length of an array.
    pub length: [&'static str; 2],
    /// Returns true if a line may declare an array; numbers in other lines are others.
    pub declares: fn(&str) -> bool,
    /// The text before the size of a workgroup; a parenthesis follows it.
    pub workgroup: &'static str,
    /// True if that is a product.
    pub multiplies: bool,
    /// A number that is signed, another type of a number, the bits of another type, and a choice.
    pub signed: fn(i32) -> String,
    pub type_name: fn(ScalarKind) -> &'static str,
    pub bits: fn(ScalarKind, &str) -> String,
    pub choice: fn(&str, &str, &str) -> String,
}

impl Language {
    /// The row of a target.
    pub fn of(target: Target) -> &'static Language {
        match target {
            Target::Wgsl => &WGSL,
            Target::Msl => &super::msl::MSL,
            Target::Spirv | Target::Nv | Target::Amd | Target::Ptx | Target::Glsl | Target::Hlsl => {
                unreachable!("naga's writers make no {}", target.name())
            }
        }
    }

    /// The message about a construct that is not in the text: the language does not have it, or it is not written yet.
    pub fn lacks(&self, construct: &str, name: &str) -> String {
        if self.absent.iter().any(|absent| construct.starts_with(absent)) {
            format!("{name} has no {construct}")
        } else {
            cannot_write(construct, name)
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

/// The capabilities that every language has.
pub(super) const CAPABILITIES: Capabilities = Capabilities::SUBGROUP
    .union(Capabilities::SHADER_FLOAT16)
    .union(Capabilities::SHADER_FLOAT16_IN_FLOAT32)
    .union(Capabilities::CUBE_ARRAY_TEXTURES)
    .union(Capabilities::PRIMITIVE_INDEX)
    .union(Capabilities::MULTISAMPLED_SHADING)
    .union(Capabilities::DUAL_SOURCE_BLENDING)
    .union(Capabilities::MEMORY_DECORATION_COHERENT);

pub(super) static WGSL: Language = Language {
    capabilities: CAPABILITIES,
    write: wgsl_text,
    complete: wgsl_complete,
    reflection: reflection::webgpu,
    stands_in: |op| (op == GroupOp::Elect).then_some("subgroupElect"),
    namespace: "",
    // WGSL 17.12.
    most_lanes: 128,
    naming: |line| line.strip_prefix("let ")?.split_once(" = "),
    lane_words: &["subgroup", "quad"],
    control_words: &["if ", "loop ", "}", "break", "continue", "switch "],
    constants: Constants::Overrides,
    sizing: Sizing {
        length: [", ", ">"],
        declares: |_| true,
        workgroup: "@workgroup_size(",
        multiplies: false,
        signed: |number| format!("{number}i"),
        type_name: wgsl_type,
        bits: |kind, value| format!("bitcast<{}>({value})", wgsl_type(kind)),
        choice: |condition, accept, reject| format!("select({reject}, {accept}, {condition})"),
    },
    push_constants: None,
    slots: |_, _| Vec::new(),
    most_slots: |_| Most { space: 0, index: 0 },
    has_uniformity: true,
    has_vertex_writes: false,
    kept: Kept { precise: false, can_be_precise: false, coherent_since: None, coherent_images: false },
    absent: WGSL_ABSENT,
    has_inverse: true,
    compares_at_level_0: true,
    has_subgroup_barriers: false,
    has_endless_loops: false,
};

/// WGSL, W3C Candidate Recommendation Draft: the sections on `override` declarations, behaviors of statements, attributes,
/// entry points and their resources, memory layout, and built-in functions for textures, atomics and synchronization.
const WGSL_ABSENT: &[&str] = &[
    "arrays of blocks, textures and samplers",
    "arrays with a specialization constant",
    "atomic operations on",
    "barriers of the subgroup",
    "buffers that vertex shaders write",
    "comparisons at a level",
    "critical sections",
    "early tests of fragments",
    "gathers of a component that is not a constant",
    "instructions of SPIR-V",
    "interpolation at another place",
    "layout with members or elements as close",
    "loops that never end",
    "memory barriers",
    "offsets of samples that are not constants",
    "printing",
    "residency of texels",
    "samples of 1D textures with biases or gradients",
    "samples of textures of integers",
    "specialization constants with numbers above 65535",
    "storage textures of several samples",
    "two specialization constants of one number",
    "two variables at one binding",
];

/// An integer type in the languages that are like C.
pub(super) fn c_type(kind: ScalarKind) -> &'static str {
    if kind == ScalarKind::Sint { "int" } else { "uint" }
}

fn wgsl_type(kind: ScalarKind) -> &'static str {
    if kind == ScalarKind::Sint { "i32" } else { "u32" }
}

/// The largest finite number as naga writes it, which some compilers round up to what has no form, and its exact form.
const GREATEST: [&str; 2] = ["340282350000000000000000000000000000000f", "0x1.fffffep+127f"];

/// naga puts the attributes of a variable on a line of their own.
fn wgsl_text(module: &naga::Module, info: &ModuleInfo, _: &Asked) -> Result<String, String> {
    let flags = naga::back::wgsl::WriterFlags::empty();
    let mut writer = naga::back::wgsl::Writer::new(limits::Text::default(), flags);
    writer.write(module, info).map_err(|error| super::finish::chain(&error))?;
    let text = writer.finish().0;
    limits::write(text.len());
    let mut joined = String::with_capacity(text.len());
    for line in text.lines() {
        joined.push_str(&line.trim_end().replace(GREATEST[0], GREATEST[1]));
        joined.push(if line.starts_with("@group") { ' ' } else { '\n' });
    }
    Ok(joined)
}

/// The language wants extensions before all else, and rules after them.
fn wgsl_complete(text: String, needs: &Needs) -> String {
    let heads = [
        (needs.subgroups, "enable subgroups;"),
        (needs.subgroups, "diagnostic(off, subgroup_uniformity);"),
        (needs.parted_derivatives, "diagnostic(off, derivative_uniformity);"),
    ];
    let heads: Vec<&str> = heads.into_iter().filter(|(is_needed, _)| *is_needed).map(|(_, line)| line).collect();
    let gap = if heads.is_empty() { None } else { Some("") };
    let lines = || heads.iter().copied().chain(gap).chain(text.lines());
    let is_enable = |line: &&str| line.starts_with("enable ");
    let mut all = String::with_capacity(text.len() + 128);
    for line in lines().filter(is_enable).chain(lines().filter(|line| !is_enable(line))) {
        all.push_str(line);
        all.push('\n');
    }
    all
}
