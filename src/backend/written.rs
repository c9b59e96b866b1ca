//! The code of a program line by line, with the operation of each line.

use crate::ir::{FuncId, InstId};
use crate::kernel::Origin;
use rustc_hash::FxHashSet;
use serde::Serialize;

/// A line, or several that represent one instruction.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Written {
    pub origin: Origin,
    /// The text in the program, with its indentation and the line break.
    pub text: String,
    /// Names of the registers that it reads and writes.
    pub reads: Vec<String>,
    pub writes: Vec<String>,
}

/// The code of a module as text, line by line.
#[derive(Debug)]
pub struct Code {
    pub lines: Vec<Written>,
    /// For each operation, the setups that it needs.
    pub set_ups: Vec<Vec<u32>>,
    /// The operations by their numbers, with the names of their results.
    pub operations: Vec<((FuncId, InstId), Option<String>)>,
}

impl Code {
    /// The text lines of operations in the order of their numbers: the result of each is defined by its last line.
    pub fn of(lines: Vec<Written>, operations: impl Iterator<Item = (FuncId, InstId)>) -> Code {
        let result = |n: usize| {
            let own = lines.iter().rev().find(|line| line.origin == Origin::Operation(n as u32));
            own.and_then(|line| line.writes.first().cloned())
        };
        let operations: Vec<_> = operations.enumerate().map(|(n, at)| (at, result(n))).collect();
        let set_ups = (0..operations.len() as u32).map(|n| set_ups(&lines, n)).collect();
        Code { set_ups, operations, lines }
    }
}

/// The names in a line of text.
pub fn names_in(text: &str) -> Vec<String> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    let words = text.split(|c| !is_part(c)).filter(|word| word.starts_with(|c: char| !c.is_ascii_digit()));
    words.map(str::to_string).collect()
}

/// The setups that the lines of an operation name, directly or indirectly.
fn set_ups(lines: &[Written], operation: u32) -> Vec<u32> {
    let own = lines.iter().filter(|line| line.origin == Origin::Operation(operation));
    let mut named: FxHashSet<&String> = own.flat_map(|line| &line.reads).collect();
    let mut found = Vec::new();
    for line in lines.iter().rev() {
        if let Origin::SetUp(set_up) = line.origin
            && line.writes.iter().any(|name| named.contains(name))
        {
            named.extend(&line.reads);
            found.push(set_up);
        }
    }
    found.reverse();
    found
}

/// The unit that runs an instruction.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unit {
    /// AMD's vector unit.
    Vector,
    /// AMD's scalar unit.
    Scalar,
    /// AMD's pipe to the local data share.
    Lds,
    /// NVIDIA's shuffles and quad swizzles.
    Shuffle,
    /// NVIDIA's votes and ballots.
    Vote,
    /// NVIDIA's and SPIR-V's arithmetic.
    Arithmetic,
    /// AMD's access to buffers and scratch memory.
    Memory,
    /// Branches and loops.
    Control,
    /// SPIR-V's subgroup instructions, whatever the driver compiles them to.
    Subgroup,
    /// No unit: it waits.
    Wait,
    /// No unit: it is a branch target.
    Label,
}

impl Unit {
    /// Returns true if a line of it is an instruction with an effect.
    pub const fn works(self) -> bool {
        !matches!(self, Unit::Wait | Unit::Label)
    }

    /// Its name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Unit::Vector => "vector",
            Unit::Scalar => "scalar",
            Unit::Lds => "LDS",
            Unit::Shuffle => "shuffle",
            Unit::Vote => "vote",
            Unit::Arithmetic => "arithmetic",
            Unit::Memory => "memory",
            Unit::Control => "control",
            Unit::Subgroup => "subgroup",
            Unit::Wait => "wait",
            Unit::Label => "label",
        }
    }
}
