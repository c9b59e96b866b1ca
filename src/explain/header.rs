//! `crosslane.glsl`: the portable names as functions on Khronos' subgroup extensions, for editors and for other
//! compilers.
//!
//! `header.glsl` has a reference implementation of each operation in GLSL; the language tables list the functions. When
//! crosslane itself compiles the file, it only enables the built-in functions.

use crate::glsl::types::display;
use crate::grammar::{FUNCTIONS, Lowering, Overload, Shape};
use crate::ir::{Constants, Scalar, ScalarKind, Types};
use crate::lane::{AluOp, Group, LaneOp, QuadMove, ReduceKind, ReduceOp, VoteOp, Width};
use std::fmt::Write;

/// The macros that define the functions.
const MACROS: &str = include_str!("header.glsl");

const HEAD: &str = "\
// crosslane's portable cross-lane operations, written on GL_KHR_shader_subgroup_*.
// Written by `crosslane ops --header`; not to be edited.
//
// For editors and for compilers that lack these functions. Include the file after the `#version` line. crosslane takes a shader
// that includes it with `#extension GL_CROSSLANE_portable` as `require`, as `enable`, or without that line; other compilers
// refuse `require`. Float reductions and scans add in the order of `--reproducible`. Widths may be variables here, and must be
// constants for crosslane. Define CROSSLANE_DOUBLES for doubles, and CROSSLANE_WORKGROUP as the number of invocations of a workgroup
// for functions over the workgroup, which have no doubles. Types of extensions and names of widths above 64 are missing. The file
// needs GLSL 4.50 for Vulkan 1.1.
#ifndef CROSSLANE_GLSL
#define CROSSLANE_GLSL
#ifndef GL_CROSSLANE_shuffle
";

/// The other branch of `HEAD`: crosslane has the functions built in, so it only enables them.
const BUILT_IN: &str = "\
#else
#extension GL_CROSSLANE_portable : enable
#endif
#endif
";

/// A function that the language tables lower to a sum, not to a lane operation.
const WORKGROUP_COUNT: &str = "uint workgroupBallotCount(bool p) { return workgroupAllReduceAdd(uint(p)); }\n";

/// The file.
pub fn header() -> String {
    let (doubles, others): (Vec<Function>, Vec<Function>) =
        functions("portable").partition(|function| function.has_double);
    let of_workgroup: Vec<Function> = functions("workgroup").filter(|function| !function.has_double).collect();
    let mut text = format!("{HEAD}{MACROS}\n");
    put(&mut text, &others);
    text += "#ifdef CROSSLANE_DOUBLES\n";
    put(&mut text, &doubles);
    text += "#endif\n#ifdef CROSSLANE_WORKGROUP\n";
    put(&mut text, &of_workgroup);
    text += WORKGROUP_COUNT;
    text += "#endif\n";
    text += BUILT_IN;
    text
}

/// Lines of functions, each once. Writing into a `String` cannot fail.
fn put(text: &mut String, functions: &[Function]) {
    let mut lines: Vec<&str> = Vec::new();
    for function in functions {
        if !lines.contains(&function.line.as_str()) {
            lines.push(&function.line);
            let _ = writeln!(text, "{}", function.line);
        }
    }
}

/// A line that defines the functions of one name on one type.
struct Function {
    line: String,
    has_double: bool,
}

/// All functions of a dialect; functions of plain keys follow the pairs that they are built from.
fn functions(dialect: &'static str) -> impl Iterator<Item = Function> {
    let all =
        move || FUNCTIONS.iter().flat_map(|function| function.overloads).filter(move |row| row.dialect == dialect);
    let is_sort = |row: &&Overload| matches!(row.lowering, Lowering::Lane { op: LaneOp::Sort { .. }, .. });
    let is_sort_of_keys = move |row: &&'static Overload| is_sort(row) && row.results.len() == 1;
    let first = all().filter(move |row| !is_sort_of_keys(row));
    first.chain(all().filter(is_sort_of_keys)).flat_map(of_overload)
}

fn of_overload(row: &'static Overload) -> Vec<Function> {
    let Lowering::Lane { op, .. } = row.lowering else { return Vec::new() };
    let name = row.name.trim_end_matches(|c: char| c.is_ascii_digit());
    let name = if matches!(op, LaneOp::Quad { .. }) { row.name } else { name };
    if row.generic.is_empty() {
        return line_without_types(op, name).map(|line| Function { line, has_double: false }).into_iter().collect();
    }
    let function = |shape: Shape| {
        let is_pair = row.results.len() == 2;
        let value = row.params.get(1).filter(|_| is_pair).and_then(|param| param.ty.shape(shape));
        let has_double = [Some(shape), value].into_iter().flatten().any(|shape| shape.scalar() == Scalar::F64);
        let all_known = [Some(shape), value].into_iter().flatten().all(is_of_the_language);
        let line = match op {
            // The form without a width.
            LaneOp::Swap(..) if row.name == name && row.params.len() == 1 => {
                Some(format!("CROSSLANE_WHOLE({}, {name})", word(shape)))
            }
            _ => line(op, name, shape, value),
        };
        line.filter(|_| all_known).map(|line| Function { line, has_double })
    };
    row.generic.iter().filter_map(function).collect()
}

/// Returns true if a type needs no extension.
pub fn is_of_the_language(shape: Shape) -> bool {
    let scalar = shape.scalar();
    matches!(scalar, Scalar::BOOL | Scalar::F64) || scalar.width == 32
}

/// The first part of a macro's name.
fn prefix(op: LaneOp) -> &'static str {
    let width = op.signature().span.width();
    if width == Some(Width::WORKGROUP) { "CROSSLANE_WORKGROUP" } else { "CROSSLANE" }
}

fn line_without_types(op: LaneOp, name: &str) -> Option<String> {
    let of = prefix(op);
    Some(match op {
        LaneOp::Vote { op, group: Group::Segment(_) } => {
            format!("{of}_VOTE({name}, {})", if op == VoteOp::All { "crosslane_all" } else { "crosslane_any" })
        }
        LaneOp::Vote { op: VoteOp::All, .. } => format!("CROSSLANE_QUAD_VOTE({name}, And)"),
        LaneOp::Vote { .. } => format!("CROSSLANE_QUAD_VOTE({name}, Or)"),
        LaneOp::Ballot(_) => format!("CROSSLANE_BALLOT({name})"),
        LaneOp::LaneIndex(_) => format!("CROSSLANE_FACT({name}, gl_SubgroupInvocationID)"),
        LaneOp::LaneCount(_) => format!("CROSSLANE_FACT({name}, gl_SubgroupSize)"),
        LaneOp::SegmentLast(_) => format!("{of}_LAST({name})"),
        _ => return None,
    })
}

/// The line for a type; `value` is the type of the values that are sorted with the keys.
fn line(op: LaneOp, name: &str, shape: Shape, value: Option<Shape>) -> Option<String> {
    let (of, ty) = (prefix(op), word(shape));
    Some(match op {
        LaneOp::Quad { mv: QuadMove::Lane(lane), .. } => format!("CROSSLANE_QUAD_LANE({ty}, {name}, {lane}u)"),
        LaneOp::Quad { mv: QuadMove::X, .. } => format!("CROSSLANE_QUAD_SWAP({ty}, {name}, Horizontal)"),
        LaneOp::Quad { mv: QuadMove::Y, .. } => format!("CROSSLANE_QUAD_SWAP({ty}, {name}, Vertical)"),
        LaneOp::Swap(swap, _) => {
            let (op, by) = swap.row().mask;
            format!("CROSSLANE_SWAP({ty}, {name}, width {} {by}u)", if op == AluOp::Shr { ">>" } else { "-" })
        }
        LaneOp::Bpermute => format!("CROSSLANE_BPERMUTE({ty}, {name})"),
        LaneOp::Permute => format!("CROSSLANE_PERMUTE({ty}, {name})"),
        LaneOp::Broadcast => format!("CROSSLANE_BROADCAST({ty}, {name})"),
        LaneOp::BroadcastFirst => format!("CROSSLANE_BROADCAST_FIRST({ty}, {name})"),
        LaneOp::Reduce { .. } if shape.scalar().is_bool() => {
            format!("{of}_OF_BOOLS({ty}, {}, {name})", word(shape.with_scalar(Scalar::U32)))
        }
        LaneOp::Reduce { op, kind, .. } => fold(of, op, kind, name, shape),
        LaneOp::Segmented { op, .. } => format!("{of}_SEGMENTED({ty}, {name}, {op:?})"),
        LaneOp::BroadcastInWorkgroup => format!("{of}_BROADCAST({ty}, {name})"),
        LaneOp::Vote { op: VoteOp::Equal, group: Group::Segment(_) } => format!("{of}_EQUAL({ty}, {name})"),
        LaneOp::Sort { .. } => match value {
            Some(value) => format!("{of}_SORT_PAIRS({ty}, {}, {name})", word(value)),
            None => format!("{of}_SORT_KEYS({ty}, {name})"),
        },
        _ => return None,
    })
}

fn fold(of: &str, op: ReduceOp, kind: ReduceKind, name: &str, shape: Shape) -> String {
    let ty = word(shape);
    match kind {
        ReduceKind::Inclusive => format!("{of}_INCLUSIVE({ty}, {name}, {op:?})"),
        ReduceKind::Exclusive => {
            format!("{of}_EXCLUSIVE({ty}, {name}, {op:?}, {})", identity(op, shape.scalar()))
        }
        _ => format!("{of}_REDUCE({ty}, {name}, {op:?})"),
    }
}

/// The identity of a reduction, as a scalar of the type.
fn identity(op: ReduceOp, scalar: Scalar) -> &'static str {
    match (op, scalar.kind, scalar.width) {
        (ReduceOp::Min, ScalarKind::Float, 64) => "packDouble2x32(uvec2(0u, 0x7ff00000u))",
        (ReduceOp::Max, ScalarKind::Float, 64) => "packDouble2x32(uvec2(0u, 0xfff00000u))",
        (ReduceOp::Min, ScalarKind::Float, _) => "uintBitsToFloat(0x7f800000u)",
        (ReduceOp::Max, ScalarKind::Float, _) => "uintBitsToFloat(0xff800000u)",
        (ReduceOp::Min, ScalarKind::Sint, _) => "0x7fffffff",
        (ReduceOp::Max, ScalarKind::Sint, _) => "int(0x80000000u)",
        (ReduceOp::Min | ReduceOp::And, _, _) => "0xffffffffu",
        (ReduceOp::Mul, _, _) => "1",
        _ => "0",
    }
}

/// The name of a scalar or vector type in GLSL.
fn word(shape: Shape) -> String {
    let mut types = Types::new();
    let id = shape.intern(&mut types);
    display(&types, &Constants::default(), id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_portable_operation_has_its_functions() {
        let dialects = ["portable", "workgroup"];
        let rows = FUNCTIONS.iter().flat_map(|function| function.overloads);
        let portable = rows.filter(|row| dialects.contains(&row.dialect));
        let of_lanes = portable.filter(|row| matches!(row.lowering, Lowering::Lane { .. }));
        let all: Vec<&'static Overload> = of_lanes.collect();
        for row in &all {
            let has_functions = |other: &&&'static Overload| other.name == row.name && !of_overload(other).is_empty();
            let of_extensions_alone = !row.generic.is_empty() && !row.generic.iter().any(is_of_the_language);
            assert!(all.iter().any(|other| has_functions(&other)) || of_extensions_alone, "{}", row.signature);
        }
    }
}
