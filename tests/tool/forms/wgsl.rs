//! Calls in WGSL.

use super::walk::{Given, Language, Row, is_wanted};
use crosslane::compile;
use crosslane::grammar::{self, Shape, VARIABLES};
use crosslane::ir::{Scalar, ScalarKind, Stage};

pub const LANGUAGE: Language = Language {
    kind: compile::Language::Wgsl,
    rows,
    has,
    // WGSL's own function only takes constant expressions.
    wants_constant: |row, param| row.name == "subgroupBroadcast" && param.name == "id",
    value,
    constant,
    variable: |name, shape| (format!("var {name} = {};", value(shape)), format!("&{name}")),
    result: |_, value| format!("let r = {value};"),
    word: |shape, value| match shape.scalar() {
        Scalar::BOOL => format!("select(0u, 1u, {value})"),
        _ => format!("u32({value})"),
    },
    shader: |given, body| {
        let v = match given {
            Given::Loaded => "let v = data[g.x]",
            Given::Constant => "const v = 5u",
        };
        format!(
            "enable f16;\nenable crosslane;\n@group(0) @binding(0) var<storage, read_write> data: array<u32>;\n\
             @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) g: vec3<u32>) {{\n\
             {v}; var sum = 0u;\n{body}data[g.x] = sum;\n}}\n"
        )
    },
};

fn rows() -> Vec<Row> {
    let functions =
        grammar::wgsl_function_names().flat_map(|name| grammar::wgsl_functions(name).map(move |row| (name, row)));
    let functions = functions.filter(|(_, row)| is_wanted(row)).map(|(name, row)| Row::Function(name, row));
    let variables = VARIABLES.iter().filter(|row| row.stages.contains(Stage::Compute));
    let calls = variables.filter_map(|row| {
        let name: &'static str = format!("{}()", row.wgsl?).leak();
        Some(Row::Variable(name, row))
    });
    functions.chain(calls).collect()
}

/// WGSL has no integers of 8 and 16 bits.
fn has(shape: Shape) -> bool {
    let Scalar { kind, width } = shape.scalar();
    !matches!((kind, width), (ScalarKind::Sint | ScalarKind::Uint, 8 | 16))
}

fn value(shape: Shape) -> String {
    let name = shape.scalar().kind.name(shape.scalar().width);
    let scalar = if shape.scalar().is_bool() { "v > 3u".into() } else { format!("{name}(v)") };
    if shape.size() == 1 { scalar } else { format!("vec{}<{name}>({scalar})", shape.size()) }
}

fn constant(numbers: &[u32]) -> String {
    match numbers {
        [one] => format!("{one}u"),
        more => format!("vec{}<u32>({}u)", more.len(), more[0]),
    }
}
