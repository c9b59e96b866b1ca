//! Calls in GLSL.

use super::walk::{Given, Language, Row, is_wanted};
use crosslane::compile;
use crosslane::grammar::{EXTENSIONS, FUNCTIONS, Shape, VARIABLES, VariableSource};
use crosslane::ir::{Scalar, ScalarKind, Stage};

pub const LANGUAGE: Language = Language {
    kind: compile::Language::Glsl,
    rows,
    has: |_| true,
    wants_constant: |_, _| false,
    value,
    constant,
    variable: |name, shape| (format!("{} {name} = {};", type_name(shape), value(shape)), name.into()),
    result: |shape, value| format!("{} r = {value};", type_name(shape)),
    word: |_, value| format!("uint({value})"),
    shader: |given, body| {
        let v = match given {
            Given::Loaded => "uint v = data[gl_GlobalInvocationID.x]",
            Given::Constant => "const uint v = 5u",
        };
        let lines: String =
            EXTENSIONS.iter().map(|extension| format!("#extension {} : enable\n", extension.name)).collect();
        format!(
            "#version 460\n{lines}layout(local_size_x = 64) in;\n\
             layout(std430, binding = 0) buffer Data {{ uint data[]; }};\n\
             void main() {{\n{v};\nuint sum = 0u;\n{body}\
             data[gl_GlobalInvocationID.x] = sum;\n}}\n"
        )
    },
};

fn rows() -> Vec<Row> {
    let functions = FUNCTIONS.iter().flat_map(|function| function.overloads).filter(|row| row.glsl && is_wanted(row));
    let is_lane = |source| matches!(source, VariableSource::Lane(_));
    let variables = VARIABLES.iter().filter(|row| row.stages.contains(Stage::Compute));
    let variables = variables.filter(|row| is_lane(row.source) || row.wgsl.is_some());
    functions.map(|row| Row::Function(row.name, row)).chain(variables.map(|row| Row::Variable(row.name, row))).collect()
}

fn scalar_names(scalar: Scalar) -> (String, String) {
    let (name, prefix) = match (scalar.kind, scalar.width) {
        (ScalarKind::Bool, _) => ("bool", "b"),
        (ScalarKind::Sint, 32) => ("int", "i"),
        (ScalarKind::Uint, 32) => ("uint", "u"),
        (ScalarKind::Float, 32) => ("float", ""),
        (ScalarKind::Float, 64) => ("double", "d"),
        (ScalarKind::Sint, width) => return (format!("int{width}_t"), format!("i{width}")),
        (ScalarKind::Uint, width) => return (format!("uint{width}_t"), format!("u{width}")),
        (ScalarKind::Float, width) => return (format!("float{width}_t"), format!("f{width}")),
        (ScalarKind::Encoded(_), _) => panic!("no cross-lane operation takes encoded floats"),
    };
    (name.into(), prefix.into())
}

fn type_name(shape: Shape) -> String {
    let (scalar, prefix) = scalar_names(shape.scalar());
    if shape.size() == 1 { scalar } else { format!("{prefix}vec{}", shape.size()) }
}

fn value(shape: Shape) -> String {
    let (scalar, _) = scalar_names(shape.scalar());
    let scalar = if shape.scalar().is_bool() { "v > 3u".into() } else { format!("{scalar}(v)") };
    if shape.size() == 1 { scalar } else { format!("{}({scalar})", type_name(shape)) }
}

fn constant(numbers: &[u32]) -> String {
    match numbers {
        [one] => format!("{one}u"),
        more => format!("uvec{}({}u)", more.len(), more[0]),
    }
}
