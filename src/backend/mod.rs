//! Back ends: each writes one output format, from a [`Module`] or from a [`Kernel`]. They do not know the source
//! language.
//!
//! The rest of the compiler accesses a back end through its [`Backend`] row, which is next to its code.

pub mod amd;
mod comment;
mod copies;
mod losses;
mod negations;
pub mod nv;
mod pieces;
pub mod places;
pub mod plans;
pub mod ptx;
mod range;
pub mod reflection;
mod source;
pub mod spirv;
mod truth;
pub mod written;

use crate::diagnostic::Diagnostic;
use crate::ir::{Binding, Global, Module, ScalarKind, Space};
use crate::kernel::Kernel;
use crate::lane::{Plan, Plans, Primitive};
use crate::profile::{Profile, Target};
use crate::source::SourceMap;
use places::Places;
use reflection::Interface;
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::fmt::Debug;
use std::sync::Arc;
use written::{Code, Unit, Written};

/// The result of a back end, or one diagnostic for each construct that the target, or crosslane so far, cannot express.
pub type Made<T> = Result<T, Vec<Diagnostic>>;

/// The row of a back end.
pub struct Backend {
    /// The units that run its instructions, in display order.
    pub units: &'static [Unit],
    /// The unit that runs a line.
    pub unit: fn(&str) -> Unit,
    /// The name of the instruction or function that moves or combines lane values of a kind; `None` if there is no
    /// single one. GLSL's names are in the language tables.
    pub mnemonic: fn(Primitive, ScalarKind) -> Option<Cow<'static, str>>,
    pub writer: Writer,
}

/// The form of program that a back end accepts.
pub enum Writer {
    /// A whole module, whose cross-lane operations the back end plans.
    Module(ModuleWriter),
    /// One entry point, whose cross-lane operations are lowered.
    Kernel(KernelWriter),
}

/// A back end for modules.
pub struct ModuleWriter {
    pub write: fn(&Module, Form, &Options, &SourceMap) -> Made<Artifact>,
    /// The lines of the text.
    pub written: fn(&Module, &Options, &SourceMap) -> Made<Code>,
    /// Warnings about qualifiers that the language cannot express.
    pub losses: fn(&Module, &Profile) -> Vec<Diagnostic>,
}

/// A back end for kernels.
pub struct KernelWriter {
    pub draft: fn(&Kernel, &Options, &SourceMap) -> Made<Arc<dyn Draft>>,
    /// True if a draft is right for every profile for which the kernel is.
    pub is_shared: bool,
    /// The lines of the code.
    pub written: fn(&Kernel, &Options, &SourceMap) -> Made<Vec<Written>>,
}

/// The program of a kernel.
pub trait Draft: Debug + Send + Sync {
    /// The text for a profile.
    fn text(&self, profile: &Profile) -> String;
    /// The resources that a caller must bind, the values that it must set, and the shader's interface, as JSON.
    fn reflection(&self, interface: &Interface) -> String;
}

/// The text of a kernel for one profile, and the facts that its caller must know.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Listed<R> {
    pub text: String,
    pub reflection: R,
}

/// The comments at the top of a hardware program's text: crosslane's version, the profile, and the promised subgroup size. Each
/// line begins with the mark of the language's comments.
fn head(mark: &str, profile: &Profile) -> String {
    let mut head = format!("{mark} crosslane {}\n{mark} profile {}\n", env!("CARGO_PKG_VERSION"), profile.name);
    if let Some(size) = profile.promised() {
        head += &format!("{mark} {}\n", size.remark());
    }
    head
}

impl<R: Serialize + Debug + Send + Sync> Draft for Listed<R> {
    fn text(&self, _: &Profile) -> String {
        self.text.clone()
    }

    fn reflection(&self, interface: &Interface) -> String {
        reflection::json(interface, &self.reflection)
    }
}

impl Backend {
    /// The back end of a target.
    pub const fn of(target: Target) -> &'static Backend {
        match target {
            Target::Spirv => &spirv::BACKEND,
            Target::Nv => &nv::BACKEND,
            Target::Amd => &amd::BACKEND,
            Target::Ptx => &ptx::BACKEND,
            Target::Wgsl => &source::WGSL,
            Target::Glsl => &source::GLSL,
            Target::Hlsl => &source::HLSL,
            Target::Msl => &source::MSL,
        }
    }
}

/// The form of an output.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Form {
    /// The target's default: binary if there is such a form.
    Binary,
    Text,
    /// The resources that the caller must bind and the values that it must set, as JSON.
    Reflection,
}

/// The output of a compilation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Artifact {
    /// SPIR-V words.
    Spirv(Vec<u32>),
    Text(String),
}

impl Artifact {
    /// The bytes of its file; SPIR-V in little-endian order.
    pub fn to_bytes(&self) -> Vec<u8> {
        match self {
            Artifact::Spirv(words) => words.iter().flat_map(|word| word.to_le_bytes()).collect(),
            Artifact::Text(text) => text.clone().into_bytes(),
        }
    }
}

/// The options of a back end.
#[derive(Clone, Debug)]
pub struct Options {
    pub profile: Profile,
    /// Name of the source file, for the headers of texts.
    pub source: String,
    pub debug: DebugInfo,
    pub manner: Manner,
    pub places: Places,
    /// A plan for every cross-lane operation of a module; `None` for the planner's choice.
    pub plan: Option<Plan>,
    /// The planner's choices for the profile so far.
    pub plans: Arc<Plans>,
}

impl Options {
    /// The defaults: no debug information, the planner's choice.
    pub fn new(profile: Profile) -> Options {
        Options {
            profile,
            source: String::new(),
            debug: DebugInfo::None,
            manner: Manner::default(),
            places: Places::default(),
            plan: None,
            plans: Arc::default(),
        }
    }
}

/// Options that do not change the meaning of a module.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Manner {
    /// `min`, `max` and `clamp` return the operand that is not a NaN.
    pub nan_clamp: bool,
    /// Unused variables that are still declared.
    pub keep_unused: Kept,
    pub optimize: Optimize,
    pub notes: Notes,
}

/// Parts of the source that shading-language output repeats.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug)]
pub struct Notes {
    /// The comments on declarations and statements.
    pub comments: bool,
    /// `#line` directives, which WGSL does not have.
    pub lines: bool,
}

/// How much work is done on SPIR-V before it is written.
#[derive(Clone, Copy, Default, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Optimize {
    /// The straight translation.
    #[default]
    None,
    /// For speed, and for size if speed is the same.
    Speed,
    /// For size.
    Size,
}

impl Optimize {
    /// Its word for `--optimize` and in manifests.
    pub const fn word(self) -> &'static str {
        match self {
            Optimize::None => "none",
            Optimize::Speed => "speed",
            Optimize::Size => "size",
        }
    }
}

/// Unused interface variables to keep.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Kept {
    #[default]
    None,
    /// Resources at bindings.
    Bindings,
    /// Also inputs, outputs and push constants.
    All,
}

impl Kept {
    /// Returns true if an unused variable is still declared.
    pub fn keeps(self, global: &Global) -> bool {
        let is_interface = matches!(global.space, Space::Input | Space::Output | Space::PushConstant);
        let least = match global.binding {
            Binding::Resource { .. }
            | Binding::Attachment { .. }
            | Binding::Uniform { .. }
            | Binding::Counter { .. } => Kept::Bindings,
            Binding::Location { .. } => Kept::All,
            Binding::None if is_interface => Kept::All,
            _ => return false,
        };
        self >= least
    }
}

/// The debug information in the output, from least to most.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub enum DebugInfo {
    #[default]
    None,
    /// Names of variables, types and functions. SPIR-V only.
    Names,
    /// Names, source text and lines.
    Lines,
    /// Lines, and also scopes, variables and types. SPIR-V only; other targets treat it as lines.
    Full,
}

impl DebugInfo {
    /// Returns true if source lines are recorded.
    pub fn has_lines(self) -> bool {
        self >= DebugInfo::Lines
    }
}

/// `true` means names and lines.
impl From<bool> for DebugInfo {
    fn from(lines: bool) -> DebugInfo {
        if lines { DebugInfo::Lines } else { DebugInfo::None }
    }
}
