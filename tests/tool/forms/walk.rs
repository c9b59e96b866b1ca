//! The walk over the tables: the calls, shaders with several calls each, and their outcomes.

use crosslane::compile::{self, Artifact, Input, Options, Verdict, compile};
use crosslane::diagnostic::{Code, render};
use crosslane::grammar::{Lowering, Mode, Overload, Param, Rule, Shape, TypeExpr, Variable};
use crosslane::ir::Stage;
use crosslane::lane::Width;
use crosslane::profile::Profile;
use crosslane::source::NoIncludes;
use std::collections::{BTreeMap, BTreeSet};
use support::judge;

/// Calls per shader. If one is refused, the shader is halved until that call is the only one.
const TOGETHER: usize = 48;

/// How a language writes calls.
pub struct Language {
    pub kind: compile::Language,
    /// The functions and variables that it has.
    pub rows: fn() -> Vec<Row>,
    /// True if it has a type.
    pub has: fn(Shape) -> bool,
    /// True if a constant is required although the row does not require it.
    pub wants_constant: fn(&Overload, &Param) -> bool,
    /// A value of a type, computed from the word `v`.
    pub value: fn(Shape) -> String,
    /// A constant vector or scalar of `uint`s.
    pub constant: fn(&[u32]) -> String,
    /// A declaration of a variable, and how a call hands it over.
    pub variable: fn(&str, Shape) -> (String, String),
    /// The declaration of a constant `r` with a value.
    pub result: fn(Shape, &str) -> String,
    /// A component of a value as a `uint`.
    pub word: fn(Shape, &str) -> String,
    /// A complete shader from statements; its `v` may be a compile-time constant.
    pub shader: fn(Given, &str) -> String,
}

/// The source of all argument values.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Given {
    /// A word from a buffer, which differs from lane to lane.
    Loaded,
    Constant,
}

/// A row of the tables under the name that a language has for it.
#[derive(Clone, Copy)]
pub enum Row {
    Function(&'static str, &'static Overload),
    Variable(&'static str, &'static Variable),
}

/// A statement, and the name of its row.
#[derive(Clone)]
struct Statement {
    family: &'static str,
    text: String,
}

/// The results of all calls.
#[derive(Default)]
pub struct Found {
    pub compiled: usize,
    /// Rows with a call that the profile refuses, with the codes.
    pub refused: BTreeMap<&'static str, BTreeSet<String>>,
}

/// Compiles every call of a language.
pub fn walk(language: &Language, given: Given, profile: &str) -> Found {
    walk_some(language, given, profile, 1, 0)
}

/// Compiles a call for each family, and of the other calls those whose number divided by `parts` leaves the remainder
/// `part`.
pub fn walk_some(language: &Language, given: Given, profile: &str, parts: usize, part: usize) -> Found {
    let profile = Profile::named(profile).expect("a built-in profile");
    let lanes = profile.wave_size.unwrap_or(32);
    let profile = profile.with_wave_size(Some(lanes));
    let options = Options { no_warnings: true, ..Options::new(profile) };
    let mut found = Found::default();
    let mut families = BTreeSet::new();
    let mut statements = statements(language).into_iter().enumerate().collect::<Vec<_>>();
    statements.retain(|(n, statement)| families.insert(statement.family) || n % parts == part);
    let statements: Vec<Statement> = statements.into_iter().map(|(_, statement)| statement).collect();
    for some in statements.chunks(TOGETHER) {
        try_all(language, given, &options, some, &mut found);
    }
    found
}

fn try_all(language: &Language, given: Given, options: &Options, some: &[Statement], found: &mut Found) {
    let body: String = some.iter().map(|statement| statement.text.as_str()).collect();
    let text = (language.shader)(given, &body);
    let input = Input { name: "calls", bytes: text.as_bytes(), language: language.kind };
    let compiled = compile(&input, options, &NoIncludes);
    match (compiled.verdict, some) {
        (Verdict::Done(artifact), _) => {
            judged(&artifact).unwrap_or_else(|problem| panic!("{problem}{text}"));
            found.compiled += some.len();
        }
        (Verdict::ProfileLacks, [one]) => {
            let codes = compiled.diagnostics.iter().filter(|message| message.code.is_refusal());
            found.refused.entry(one.family).or_default().extend(codes.map(|message| message.code.to_string()));
        }
        (Verdict::ShaderWrong, [one]) if compiled.diagnostics.iter().all(|m| m.code == Code::MISSING_EXTENSION) => {
            found.refused.entry(one.family).or_default().insert(Code::MISSING_EXTENSION.to_string());
        }
        (Verdict::ShaderWrong, [one]) => {
            panic!("{}{}", one.text, render::human(&compiled.sources, &compiled.diagnostics));
        }
        _ => {
            let (first, second) = some.split_at(some.len() / 2);
            try_all(language, given, options, first, found);
            try_all(language, given, options, second, found);
        }
    }
}

/// Checks that `spirv-val` accepts a module; texts are judged by the tests that run them.
fn judged(artifact: &Artifact) -> Result<(), String> {
    match artifact {
        Artifact::Spirv(words) if judge::need_or_skip("bin/spirv-val").is_some() => {
            judge::spirv_val(words, "vulkan1.3", false)
        }
        _ => Ok(()),
    }
}

/// Rows of a family that take the same types, by what distinguishes them.
type Groups = BTreeMap<(&'static str, u128, usize), Vec<(&'static str, &'static Overload)>>;

/// The calls: each row with at least one type, and each type with at least one of the rows that a family's pattern
/// makes for it.
fn statements(language: &Language) -> Vec<Statement> {
    let (mut groups, mut statements) = (Groups::new(), Vec::new());
    for row in (language.rows)() {
        match row {
            Row::Function(name, row) => {
                groups.entry((row.family, row.generic.0, row.params.len())).or_default().push((name, row));
            }
            Row::Variable(name, row) if (language.has)(row.ty) => {
                let text = format!("{{ {}{} }}\n", (language.result)(row.ty, name), words(language, row.ty, "r"));
                statements.push(Statement { family: row.name, text });
            }
            Row::Variable(..) => {}
        }
    }
    statements.extend(groups.values().flat_map(|rows| group(language, rows)));
    statements
}

fn group(language: &Language, rows: &[(&'static str, &'static Overload)]) -> Vec<Statement> {
    let mut statements = Vec::new();
    for (n, (name, row)) in rows.iter().enumerate() {
        let single = row.generic.is_empty().then_some(Shape::BOOL);
        let types: Vec<Shape> = row.generic.iter().chain(single).filter(|ty| takes(language, row, *ty)).collect();
        if types.is_empty() {
            continue;
        }
        let own = types.iter().enumerate().filter(|(at, _)| at % rows.len() == n % types.len());
        let text = |ty| Statement { family: row.family, text: function(language, name, row, ty) };
        statements.extend(own.map(|(_, ty)| text(*ty)));
    }
    statements
}

/// Returns true if a row is about lanes and compute shaders have it.
pub fn is_wanted(row: &Overload) -> bool {
    // Wider than the profiles' subgroups are.
    if matches!(row.lowering, Lowering::Lane { op, .. } if op.width().and_then(Width::lanes) == Some(64)) {
        return false;
    }
    let lane = match row.lowering {
        Lowering::Barrier { .. } => row.dialect != "glsl_core",
        of => of.is_of_lanes(),
    };
    lane && row.stages.contains(Stage::Compute)
}

fn takes(language: &Language, row: &Overload, generic: Shape) -> bool {
    let shapes = row.params.iter().map(|param| param.ty).chain([row.ret]);
    shapes.filter_map(|ty| ty.shape(generic)).all(language.has)
}

fn function(language: &Language, name: &str, row: &Overload, generic: Shape) -> String {
    let (mut before, mut arguments, mut after) = (String::new(), Vec::new(), String::new());
    for (n, param) in row.params.iter().enumerate() {
        let shape = param.ty.shape(generic).expect("lane operations take no images");
        if param.mode == Mode::In {
            arguments.push(argument(language, row, param, shape));
            continue;
        }
        let variable = format!("p{n}");
        let (declaration, handed) = (language.variable)(&variable, shape);
        before += &declaration;
        after += &words(language, shape, &variable);
        arguments.push(handed);
    }
    let call = format!("{name}({})", arguments.join(", "));
    let call = match row.ret.shape(generic) {
        Some(shape) => (language.result)(shape, &call) + &words(language, shape, "r"),
        None => call + ";",
    };
    format!("{{ {before}{call}{after} }}\n")
}

fn argument(language: &Language, row: &Overload, param: &Param, shape: Shape) -> String {
    let number = match param.rule {
        Rule::None if (language.wants_constant)(row, param) => 3,
        Rule::Width { .. } => 8,
        Rule::Log2 { .. } => 2,
        Rule::Range { high, .. } => high,
        Rule::None => return (language.value)(shape),
    };
    match param.ty {
        TypeExpr::Is(_) => (language.constant)(&vec![number; shape.size().into()]),
        _ => (language.value)(shape),
    }
}

/// Statements that add all components of a value to the stored result.
fn words(language: &Language, shape: Shape, name: &str) -> String {
    let word = |component: &str| format!(" sum += {};", (language.word)(shape, &format!("{name}{component}")));
    match shape.size() {
        1 => word(""),
        size => [".x", ".y", ".z", ".w"].iter().take(size.into()).map(|component| word(component)).collect(),
    }
}
