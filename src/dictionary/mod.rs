//! The dictionary of cross-lane operations: the names that languages have for them.
//!
//! Most names come from the language tables ([`crate::grammar`]) and from the back ends' plans for every profile. The rows of
//! [`SPELLINGS`] have the names of other languages. [`search`] finds a name, [`advice`] words it for a message.

pub mod advice;
pub mod search;
mod targets;

use crate::grammar::{
    EXTENSIONS, FUNCTIONS, Lowering, SPELLINGS, Spelling, VARIABLES, VariableSource, wgsl_function_names,
    wgsl_functions,
};
use crate::ir::Scope;
use crate::ir::derived::{Derived, SUM_OF_WORKGROUP};
use crate::lane::{Group, LaneOp, Members, QuadMove, Width};
use std::borrow::Cow;
use std::sync::LazyLock;

/// All names; those of the languages' tables first.
pub fn entries() -> &'static [Entry] {
    static ALL: LazyLock<Vec<Entry>> = LazyLock::new(|| {
        let mut all = of_tables();
        for entry in targets::of_targets() {
            if !all.contains(&entry) {
                all.push(entry);
            }
        }
        all
    });
    &ALL
}

/// A name in a language, and what it is to an operation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Entry {
    pub name: Cow<'static, str>,
    pub language: &'static str,
    pub means: Means,
    /// The difference, or the advice where there is no counterpart; may be empty.
    pub note: &'static str,
}

impl Entry {
    /// The entry of a row of [`SPELLINGS`].
    fn of(row: &Spelling) -> Entry {
        Entry {
            name: row.name.into(),
            language: row.language,
            means: row.op.map_or(Means::Nothing, Means::Is),
            note: row.note,
        }
    }
}

/// The relation of a name to an operation.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Means {
    /// The operation itself.
    Is(LaneOp),
    /// An extension that brings the operation.
    Brings(LaneOp),
    /// Nothing that crosslane has.
    Nothing,
}

impl Means {
    /// The operation, if there is one.
    pub const fn op(self) -> Option<LaneOp> {
        match self {
            Means::Is(op) | Means::Brings(op) => Some(op),
            Means::Nothing => None,
        }
    }
}

/// The width of segments in examples.
const WIDTH: Width = Width::new(8).expect("a power of two");

/// The operation that stands for those that differ only in a width, a lane or a mask.
pub fn general(op: LaneOp) -> LaneOp {
    use LaneOp as O;
    let any = |mv| if matches!(mv, QuadMove::Lane(_)) { QuadMove::Lane(2) } else { mv };
    let wide = |group| match group {
        Group::Segment(width) if width != Width::WORKGROUP => Group::Segment(WIDTH),
        group => group,
    };
    match op {
        O::Quad { mv, float_only } => O::Quad { mv: any(mv), float_only },
        O::QuadAdd(mv) => O::QuadAdd(any(mv)),
        O::QuadPermute(_) => O::QuadPermute(0x1b),
        O::QuadPermuteZero(_) => O::QuadPermuteZero(0x1b),
        O::SwizzleMasked { .. } => O::SwizzleMasked { and: 24, or: 3, xor: 4 },
        O::Vote { op, group } => O::Vote { op, group: wide(group) },
        O::LaneIndex(group) => O::LaneIndex(wide(group)),
        O::LaneCount(group) => O::LaneCount(wide(group)),
        op if op.width().and_then(Width::lanes).is_some() => op.with_width(WIDTH),
        op => op,
    }
}

/// The operation of a function; one of an example's width where an argument says the width.
fn op_of(lowering: Lowering) -> Option<LaneOp> {
    match lowering {
        Lowering::Lane { op, constant_arg: Some(_) } => Some(general(op.with_width(WIDTH))),
        Lowering::Lane { op, .. } | Lowering::LaneAndValid { op, .. } => Some(op),
        Lowering::Barrier { execution: Some(Scope::Subgroup), .. } => Some(LaneOp::Sync),
        Lowering::Derived(of) => of_derived(of),
        _ => None,
    }
}

/// The operation that a function is made of.
const fn of_derived(of: Derived) -> Option<LaneOp> {
    match of {
        Derived::CountInWorkgroup => Some(SUM_OF_WORKGROUP),
        Derived::BallotWord => Some(LaneOp::Ballot(Group::Subgroup)),
        Derived::Lanes(op) => Some(LaneOp::LaneMask(op, Group::Warp)),
        Derived::IsFirstLane => Some(LaneOp::Elect),
        Derived::SubgroupSize | Derived::Log2SubgroupSize => Some(LaneOp::LaneCount(Group::Subgroup)),
        Derived::Three(_) => None,
    }
}

/// A way to call an operation in GLSL.
struct Call {
    op: LaneOp,
    dialect: &'static str,
    name: &'static str,
    extensions: Vec<&'static str>,
    /// Brackets and parameters; empty for variables.
    params: String,
    /// True if an argument says the width, of which the operation has an example.
    takes_width: bool,
}

/// All ways, function by function.
fn calls() -> Vec<Call> {
    let functions = FUNCTIONS.iter().flat_map(|function| function.overloads).filter_map(|overload| {
        let params: Vec<&str> = overload.params.iter().map(|param| param.name).collect();
        Some(Call {
            op: op_of(overload.lowering)?,
            dialect: overload.dialect,
            name: overload.name,
            extensions: overload.extensions.iter().map(|extension| extension.name).collect(),
            params: format!("({})", params.join(", ")),
            takes_width: matches!(overload.lowering, Lowering::Lane { constant_arg: Some(_), .. }),
        })
    });
    let variables = VARIABLES.iter().filter_map(|variable| {
        let VariableSource::Lane(op) = variable.source else { return None };
        let extensions = variable.extensions.iter().map(|extension| extension.name).collect();
        let params = String::new();
        Some(Call { op, dialect: variable.dialect, name: variable.name, extensions, params, takes_width: false })
    });
    functions.chain(variables).collect()
}

/// The language of a call: the vendor's or Khronos' GLSL, by the name of the extension, or Quadrants.
fn language_of(call: &Call) -> &'static str {
    let vendor = call.extensions.first().and_then(|name| name.split('_').nth(1)).unwrap_or("KHR");
    match (call.dialect, vendor) {
        ("quadrants", _) => "Quadrants",
        (_, "CROSSLANE") => "crosslane",
        (_, "KHR") => "GLSL (KHR)",
        (_, "EXT") => "GLSL (EXT)",
        (_, "NV") => "GLSL (NV)",
        (_, "AMD") => "GLSL (AMD)",
        (_, "ARB") => "GLSL (ARB)",
        _ => "GLSL",
    }
}

/// The names that the tables of the languages say.
pub fn of_tables() -> Vec<Entry> {
    let mut entries: Vec<Entry> = Vec::new();
    let mut add = |name: Cow<'static, str>, language, means, note| {
        let entry = Entry { name, language, means, note };
        if !entries.contains(&entry) {
            entries.push(entry);
        }
    };
    let calls = calls();
    for call in &calls {
        add(call.name.into(), language_of(call), Means::Is(call.op), "");
    }
    for variable in VARIABLES {
        if let (VariableSource::Lane(op), Some(name)) = (variable.source, variable.wgsl) {
            add(name.into(), "WGSL", Means::Is(op), "a function, which WGSL gets from crosslane");
        }
    }
    for name in wgsl_function_names().filter(|name| FUNCTIONS.iter().all(|function| function.name != *name)) {
        wgsl_functions(name).filter_map(|overload| op_of(overload.lowering)).for_each(|op| {
            add(name.into(), "WGSL", Means::Is(op), "");
        });
    }
    for Entry { name, language, means, note } in SPELLINGS.iter().map(Entry::of) {
        add(name, language, means, note);
    }
    for call in &calls {
        let brings = |name: &&&str| EXTENSIONS.iter().any(|extension| extension.name == **name);
        for name in call.extensions.iter().filter(brings) {
            add((*name).into(), "GLSL extension", Means::Brings(general(call.op)), "");
        }
    }
    entries
}

/// A portable way to write an operation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Portable {
    pub name: &'static str,
    /// Brackets and parameters; empty for variables.
    pub params: String,
    /// Where it does the same; empty for everywhere.
    pub when: &'static str,
}

/// The portable ways to write an operation: crosslane's and Khronos' names, otherwise a vendor's name that every profile takes as
/// well.
pub fn portable(op: LaneOp) -> Vec<Portable> {
    static CALLS: LazyLock<Vec<Call>> = LazyLock::new(calls);
    let call = |op: LaneOp, is_meant: &dyn Fn(&str) -> bool, when| {
        let those = || CALLS.iter().filter(|call| is_meant(call.dialect));
        let exact = those().find(|call| call.op == op && !call.takes_width);
        let found = exact.or_else(|| those().find(|call| general(call.op) == general(op)));
        found.map(|call| Portable { name: call.name, params: call.params.clone(), when })
    };
    let ways = ["portable", "workgroup", "khr_shader_subgroup"].map(|dialect| call(op, &|known| known == dialect, ""));
    let mut ways: Vec<Portable> = ways.into_iter().flatten().collect();
    if let LaneOp::Reduce { op, kind, width, members: Members::Active } = op {
        let of_all = LaneOp::Reduce { op, kind, width, members: Members::All };
        ways.extend(call(of_all, &|known| known == "portable", "where all lanes are active"));
    }
    if ways.is_empty() {
        ways.extend(call(op, &|_| true, ""));
    }
    ways
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_portable_name_has_the_width_that_is_meant() {
        let sum = |lanes| LaneOp::Reduce {
            op: crate::lane::ReduceOp::Add,
            kind: crate::lane::ReduceKind::AllReduce,
            width: Width::new(lanes).expect("a power of two"),
            members: Members::All,
        };
        assert_eq!(portable(sum(16))[0].name, "allReduceAdd16");
        assert_eq!(portable(sum(8))[0].name, "allReduceAdd8");
    }
}
