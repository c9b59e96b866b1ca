//! The rows as written in the files. See `grammar/README.md` for the meaning of each key.

use serde::Deserialize;
use std::collections::BTreeMap;

/// One file: a dialect.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Table {
    /// Short name, such as `portable`.
    pub dialect: String,
    pub doc: String,
    #[serde(default)]
    pub defaults: Defaults,
    /// Named pattern values that rows share.
    #[serde(default)]
    pub sets: BTreeMap<String, BTreeMap<String, String>>,
    #[serde(default)]
    pub extension: Vec<Extension>,
    #[serde(default)]
    pub function: Vec<Function>,
    #[serde(default)]
    pub variable: Vec<Variable>,
    #[serde(default)]
    pub constant: Vec<Constant>,
    #[serde(default)]
    pub unsupported: Vec<Unsupported>,
    #[serde(default)]
    pub spelling: Vec<Spelling>,
}

/// The defaults for a file's rows.
#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
pub struct Defaults {
    pub extensions: Option<Vec<String>>,
    pub stages: Option<Vec<String>>,
    pub core: Option<u16>,
    pub es: Option<u16>,
    /// True if the functions exist in WGSL under the same name.
    #[serde(default)]
    pub wgsl: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Extension {
    pub name: String,
    #[serde(default = "one")]
    pub value: u32,
    #[serde(default)]
    pub implies: Vec<String>,
    /// Profile features, one of which is enough.
    #[serde(default)]
    pub needs: Vec<String>,
    /// Targets that can do part of it; empty for all.
    #[serde(default)]
    pub targets: Vec<String>,
    /// The API whose GLSL alone has it.
    pub client: Option<String>,
    pub doc: String,
}

fn one() -> u32 {
    1
}

/// Values of a pattern parameter: the name of a set, a plain list, or texts with the values of `{Name:}`.
#[derive(Deserialize, Clone)]
#[serde(untagged)]
pub enum Values {
    Set(String),
    List(Vec<String>),
    Map(BTreeMap<String, String>),
}

/// Where a segment width comes from.
#[derive(Deserialize, Clone, Copy, PartialEq)]
#[serde(rename_all = "lowercase")]
pub enum WidthForm {
    /// A number in the name.
    Named,
    /// A constant last argument `W`.
    Argument,
    /// The whole subgroup, without a width.
    Subgroup,
}

#[derive(Deserialize, Clone)]
#[serde(deny_unknown_fields)]
pub struct Function {
    pub name: String,
    #[serde(default)]
    pub with: BTreeMap<String, Values>,
    #[serde(default)]
    pub widths: Vec<WidthForm>,
    /// Types that the generic parameter stands for.
    #[serde(rename = "T")]
    pub generic: Option<String>,
    #[serde(default)]
    pub params: Vec<String>,
    pub returns: Option<String>,
    /// Where the parts of the operation's result go: `return` or an out parameter.
    #[serde(default)]
    pub results: Vec<String>,
    pub math: Option<String>,
    pub unary: Option<String>,
    pub binary: Option<String>,
    pub atomic: Option<String>,
    pub barrier: Option<String>,
    /// An operation on an image; the names of the other arguments give their roles.
    pub image: Option<String>,
    pub lane: Option<String>,
    /// With `lane`: an operation on the arguments after the first; its result is the second result.
    pub valid: Option<String>,
    /// `bitcast`, `select`, `saturated`, `hint`, or one of the functions composed of lane operations.
    pub special: Option<String>,
    /// Ends the invocation.
    pub ends: Option<String>,
    /// An instruction that only SPIR-V has.
    pub instruction: Option<Instruction>,
    pub extensions: Option<Vec<String>>,
    /// Extensions that provide it in versions before `core` and `es`.
    #[serde(default)]
    pub earlier: Vec<String>,
    pub stages: Option<Vec<String>>,
    pub core: Option<u16>,
    pub es: Option<u16>,
    /// Its name in WGSL if different; empty if WGSL does not have it.
    pub wgsl: Option<String>,
    /// False for functions that only WGSL has.
    #[serde(default = "yes")]
    pub glsl: bool,
    pub doc: String,
}

fn yes() -> bool {
    true
}

/// An instruction of SPIR-V, by its number.
#[derive(Deserialize, Clone)]
#[serde(deny_unknown_fields)]
pub struct Instruction {
    /// The extended instruction set it belongs to; without one the number is an opcode.
    pub set: Option<String>,
    pub opcode: u32,
    /// The number of the capability it needs.
    pub capability: Option<u32>,
    /// The SPIR-V extension it needs.
    pub extension: Option<String>,
    /// A constant operand before the arguments.
    pub first: Option<u32>,
}

#[derive(Deserialize, Clone)]
#[serde(deny_unknown_fields)]
pub struct Variable {
    pub name: String,
    #[serde(default)]
    pub with: BTreeMap<String, Values>,
    #[serde(rename = "type")]
    pub ty: Option<String>,
    pub builtin: Option<String>,
    /// For an array of blocks: the block's name, the variables that are its members, and whether there is one block per
    /// primitive rather than per vertex.
    pub block: Option<String>,
    #[serde(default)]
    pub members: Vec<String>,
    #[serde(default)]
    pub of_primitives: bool,
    pub lane: Option<String>,
    /// `workgroup-size`; `transposed` next to a built-in matrix.
    pub special: Option<String>,
    /// Location of the output that it stands for.
    pub location: Option<u32>,
    /// Stages in which it is an output; in the others it is an input.
    #[serde(default)]
    pub output: Vec<String>,
    /// Number of elements if it is an array; 0 if the shader sizes it.
    pub array: Option<u32>,
    pub extensions: Option<Vec<String>>,
    /// Extensions that provide it in versions before `core` and `es`.
    #[serde(default)]
    pub earlier: Vec<String>,
    pub stages: Option<Vec<String>>,
    /// The API whose GLSL alone has it.
    pub client: Option<String>,
    pub core: Option<u16>,
    /// Last version of the core language that has it.
    pub until: Option<u16>,
    pub es: Option<u16>,
    /// The WGSL function that replaces it.
    pub wgsl: Option<String>,
    pub doc: String,
}

#[derive(Deserialize, Clone)]
#[serde(deny_unknown_fields)]
pub struct Constant {
    pub name: String,
    #[serde(default)]
    pub with: BTreeMap<String, Values>,
    /// One or three components.
    pub value: Vec<i32>,
    /// True for a `uint`.
    #[serde(default)]
    pub unsigned: bool,
    pub extensions: Option<Vec<String>>,
    pub core: Option<u16>,
    pub es: Option<u16>,
    pub doc: String,
}

/// Functions that the languages have and crosslane does not have yet.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Unsupported {
    pub what: String,
    pub names: Vec<String>,
}

/// Names for a cross-lane operation in another language.
#[derive(Deserialize, Clone)]
#[serde(deny_unknown_fields)]
pub struct Spelling {
    pub language: String,
    pub names: Vec<String>,
    #[serde(default)]
    pub with: BTreeMap<String, Values>,
    /// The operation, if there is a counterpart.
    pub lane: Option<String>,
    /// The difference, or advice if there is no counterpart.
    #[serde(default)]
    pub note: String,
}
