//! The rows of the language tables that give a value across lanes, and their cells: a row, a type, a width and a front
//! end. A new row makes new cells automatically.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use crosslane::grammar::{
    self, Extension, ExtensionSet, FUNCTIONS, Overload, ResultSlot, Rule, Shape, TypeExpr, VARIABLES, Variable,
    VariableSource,
};
use crosslane::ir::Scalar;

use super::domain::{Domain, mix};
use super::formula::{self, Formula};
use super::kind::{Kind, Type};
use support::fixture::Language;

/// A row of the tables.
pub struct Row {
    pub call: Callee,
    pub dialect: &'static str,
    /// Its name with placeholders, which rows with the same meaning share.
    pub family: String,
    /// The words that replace the placeholders.
    pub words: Vec<(&'static str, &'static str)>,
    /// The name in each language that has it.
    pub glsl: Option<&'static str>,
    pub wgsl: Option<&'static str>,
    pub formula: &'static Formula,
    /// The domain of each argument, widths included, in the order of the parameters.
    pub arguments: Vec<Domain>,
}

/// The declaration of a row.
#[derive(Clone, Copy)]
pub enum Callee {
    Function(&'static Overload),
    Variable(&'static Variable),
}

/// Some of a row's cells: one width and one front end, with a cell for each type.
#[derive(Clone)]
pub struct Unit {
    pub row: usize,
    /// The form's width, if it has one.
    pub width: Option<usize>,
    pub language: Language,
    pub types: Vec<Option<Type>>,
}

/// WGSL's own names for rows with another name.
const WGSL_QUADS: [(&str, &str); 4] = [
    ("subgroupQuadBroadcast", "quadBroadcast"),
    ("subgroupQuadSwapHorizontal", "quadSwapX"),
    ("subgroupQuadSwapVertical", "quadSwapY"),
    ("subgroupQuadSwapDiagonal", "quadSwapDiagonal"),
];

/// The rows that WGSL's own `subgroups` extension has: only numbers, and only constant lanes.
#[rustfmt::skip]
const WGSL_OWN: &[&str] = &[
    "subgroupAdd", "subgroupAnd", "subgroupBroadcast", "subgroupBroadcastFirst", "subgroupExclusiveAdd",
    "subgroupExclusiveMul", "subgroupInclusiveAdd", "subgroupInclusiveMul", "subgroupMax", "subgroupMin",
    "subgroupMul", "subgroupOr", "subgroupShuffle", "subgroupShuffleDown", "subgroupShuffleUp", "subgroupShuffleXor",
    "subgroupXor", "quadBroadcast", "quadSwapX", "quadSwapY", "quadSwapDiagonal", "subgroupBallot",
];

/// The widest segment in the matrix: no hardware and no simulator here has wider subgroups. `fixtures::workgroups` judges
/// wider ones, and operations over the workgroup.
const WIDEST: u32 = 64;

/// Every row, in the order of the tables.
pub static ROWS: LazyLock<Vec<Row>> = LazyLock::new(|| {
    let wgsl = wgsl_names();
    let functions = FUNCTIONS.iter().flat_map(|function| function.overloads);
    let functions = functions
        .filter(|overload| overload.lowering.is_of_lanes() && !is_wider(overload))
        .flat_map(|overload| function_rows(overload, &wgsl));
    let variables = VARIABLES.iter().filter(|variable| matches!(variable.source, VariableSource::Lane(_)));
    functions.chain(variables.map(variable_row)).collect()
});

/// Returns true for a function over more invocations than the matrix has in a subgroup.
fn is_wider(overload: &Overload) -> bool {
    overload.dialect == "workgroup" || overload.named_width().is_some_and(|lanes| lanes > WIDEST)
}

/// The WGSL name of each row that has one.
fn wgsl_names() -> BTreeMap<*const Overload, &'static str> {
    let names = grammar::wgsl_function_names();
    names
        .flat_map(|name| grammar::wgsl_functions(name).map(move |overload| (std::ptr::from_ref(overload), name)))
        .collect()
}

fn function_rows(overload: &'static Overload, wgsl: &BTreeMap<*const Overload, &'static str>) -> Vec<Row> {
    let khronos = overload.dialect == "khr_shader_subgroup" && overload.name.starts_with("subgroup");
    let own = wgsl.get(&std::ptr::from_ref(overload)).copied().or(khronos.then_some(overload.name));
    let row = |glsl, wgsl| make(Callee::Function(overload), overload.family, overload.name, glsl, wgsl);
    let named = row(overload.glsl.then_some(overload.name), own);
    let other = WGSL_QUADS.iter().find(|(name, _)| *name == overload.name);
    std::iter::once(named).chain(other.map(|(_, name)| row(None, Some(*name)))).collect()
}

fn variable_row(variable: &'static Variable) -> Row {
    let family = masked(variable.name);
    make(Callee::Variable(variable), &family, variable.name, Some(variable.name), variable.wgsl)
}

/// The name of a variable with its comparison as a placeholder, as the tables write it.
fn masked(name: &str) -> String {
    let comparison = ["Eq", "Ge", "Gt", "Le", "Lt"].into_iter().find(|word| name.contains(&format!("{word}Mask")));
    comparison.map_or_else(|| name.to_owned(), |word| name.replace(&format!("{word}Mask"), "{M}Mask"))
}

/// # Panics
/// If the row has no formula.
fn make(call: Callee, family: &str, name: &str, glsl: Option<&'static str>, wgsl: Option<&'static str>) -> Row {
    let params: &[grammar::Param] = match call {
        Callee::Function(overload) => overload.params,
        Callee::Variable(_) => &[],
    };
    let width = |rule: Rule| match rule {
        Rule::Width { .. } => Some(Domain::Width),
        Rule::Log2 { .. } => Some(Domain::Log2),
        _ => None,
    };
    let said = params.iter().filter(|param| width(param.rule).is_none()).count();
    let formula = formula::of(family, said).unwrap_or_else(|| panic!("no formula for {family} with {said} arguments"));
    let mut domains = formula.arguments.iter().copied();
    let domain =
        |param: &grammar::Param| width(param.rule).or_else(|| domains.next()).expect("as many as were counted");
    Row {
        call,
        dialect: match call {
            Callee::Function(overload) => overload.dialect,
            Callee::Variable(variable) => variable.dialect,
        },
        words: words(family, name).unwrap_or_else(|| panic!("{name} is not {family}")),
        family: family.to_owned(),
        glsl,
        wgsl,
        formula,
        arguments: params.iter().map(domain).collect(),
    }
}

/// The words that can replace placeholders.
#[rustfmt::skip]
const WORDS: &[&str] = &[
    "allThreadsEqual", "allInvocationsEqual", "allThreads", "allInvocations", "anyThread", "anyInvocation",
    "InclusiveScan", "ExclusiveScan", "Inclusive", "Exclusive", "NonUniform", "Horizontal", "Vertical", "Diagonal",
    "Down", "down", "Add", "Mul", "Min", "Max", "And", "Xor", "add", "mul", "min", "max", "and", "xor", "All", "Any",
    "all", "any", "LSB", "MSB", "Up", "Or", "or", "up", "",
];
/// Shorter words that can replace placeholders.
#[rustfmt::skip]
const SHORT: &[&str] = &[
    "Eq", "Ge", "Gt", "Le", "Lt", "eq", "ge", "gt", "le", "lt", "64", "32", "16", "8", "4", "2", "X", "Y", "0", "1",
    "3", "",
];

/// The words that a name has for the family's placeholders: each word once, the empty one last.
fn words(family: &str, name: &str) -> Option<Vec<(&'static str, &'static str)>> {
    const PLACEHOLDERS: [&str; 11] = ["mode", "Op", "op", "W", "F", "K", "U", "M", "m", "E", "D"];
    let Some((before, rest)) = family.split_once('{') else { return (family == name).then(Vec::new) };
    let (placeholder, after) = rest.split_once('}')?;
    let known = PLACEHOLDERS.into_iter().chain(["d"]).find(|known| *known == placeholder)?;
    let name = name.strip_prefix(before)?;
    WORDS.iter().chain(SHORT).find_map(|word| {
        let mut found = words(after, name.strip_prefix(word)?)?;
        found.insert(0, (known, word));
        Some(found)
    })
}

impl Row {
    pub fn name(&self, language: Language) -> Option<&'static str> {
        match language {
            Language::Glsl => self.glsl,
            Language::Wgsl => self.wgsl,
        }
    }

    /// Returns true if WGSL itself has it.
    pub fn is_wgsls_own(&self) -> bool {
        self.wgsl.is_some_and(|name| WGSL_OWN.contains(&name))
    }

    /// A name for messages.
    pub fn title(&self) -> &'static str {
        self.glsl.or(self.wgsl).expect("a row has a name")
    }

    /// The key of rows that differ in widths alone.
    pub fn group(&self) -> String {
        let words: Vec<&str> = self.words.iter().filter(|(name, _)| *name != "W").map(|(_, word)| *word).collect();
        let types: Vec<String> = self.params().iter().filter(|p| !is_width(p)).map(|p| format!("{:?}", p.ty)).collect();
        let native = self.glsl.is_none();
        format!("{}::{}::{}::{}{native}", self.dialect, self.family, words.join("_"), types.join("_"))
    }

    pub fn params(&self) -> &'static [grammar::Param] {
        match self.call {
            Callee::Function(overload) => overload.params,
            Callee::Variable(_) => &[],
        }
    }

    pub fn extensions(&self) -> ExtensionSet {
        match self.call {
            Callee::Function(overload) => overload.extensions,
            Callee::Variable(variable) => variable.extensions,
        }
    }

    /// The `#extension` that a shader enables for it: one that the profile supports, if possible.
    pub fn extension(&self, available: impl Fn(&Extension) -> bool) -> Option<&'static Extension> {
        let mut all = self.extensions().iter();
        self.extensions().iter().find(|extension| available(extension)).or_else(|| all.next())
    }

    /// The operator of a reduction.
    pub fn op(&self) -> Option<support::scalar::Op> {
        formula::operator(&self.words)
    }

    /// The widths of its forms.
    fn widths(&self) -> Vec<Option<usize>> {
        let named = self.words.iter().find(|(name, _)| *name == "W").and_then(|(_, word)| word.parse().ok());
        let powers = |low: u32, high: u32| -> Vec<Option<usize>> {
            let all = (0..=WIDEST.ilog2()).map(|log2| 1u32 << log2);
            all.filter(|lanes| (low..=high).contains(lanes)).map(|lanes| Some(lanes as usize)).collect()
        };
        let said = self.params().iter().find_map(|param| match param.rule {
            Rule::Width { low, high } => Some(powers(low, high)),
            Rule::Log2 { low, high } => Some(powers(1 << low, 1 << high)),
            _ => None,
        });
        said.unwrap_or_else(|| vec![named])
    }

    /// The types with which a language can call it: every scalar, and one vector length for each.
    fn types(&self, language: Language, width: Option<usize>, at: usize) -> Vec<Option<Type>> {
        let Callee::Function(overload) = self.call else { return vec![None] };
        if overload.generic.is_empty() {
            let own = overload.params.iter().filter_map(|param| param.ty.shape(Shape::BOOL));
            let has_all = own.into_iter().all(|shape| Kind::of(shape.scalar()).is_in(language));
            return has_all.then_some(None).into_iter().collect();
        }
        let own = language == Language::Wgsl && self.is_wgsls_own();
        let fits = |scalar: Scalar| {
            !(own && scalar == Scalar::BOOL)
                && self.fixed_kinds().chain([Kind::of(scalar)]).all(|kind| kind.is_in(language))
        };
        let scalars = overload.generic.iter().filter(|shape| shape.size() == 1 && !shape.is_matrix());
        let sizes = |shape: Shape| {
            let turn = mix((at * 64 + width.unwrap_or(0)) as u64 * 16 + u64::from(shape.0)) % 3;
            let vector =
                Shape::vector(shape.scalar(), 2 + turn as u8).filter(|shape| overload.generic.contains(*shape));
            std::iter::once(shape).chain(vector)
        };
        scalars.filter(|shape| fits(shape.scalar())).flat_map(sizes).map(|shape| Some(Type::of(shape))).collect()
    }

    /// The scalars of parameters whose type is not `T`.
    fn fixed_kinds(&self) -> impl Iterator<Item = Kind> {
        self.params().iter().filter_map(|param| match param.ty {
            TypeExpr::Is(shape) | TypeExpr::Test(shape) => Some(Kind::of(shape.scalar())),
            _ => None,
        })
    }

    /// The type of a parameter if `T` is `generic`.
    pub fn parameter(&self, n: usize, generic: Option<Type>) -> Type {
        Type::of(self.params()[n].ty.shape(shape(generic)).expect("parameters have types"))
    }

    /// The types of the results, in the formula's order: the returned value, then those written.
    pub fn results(&self, generic: Option<Type>) -> Vec<Type> {
        match self.call {
            Callee::Variable(variable) => vec![Type::of(variable.ty)],
            Callee::Function(overload) => {
                let returned = overload.ret.shape(shape(generic)).map(Type::of);
                let written = (0..overload.params.len()).filter(|n| self.is_written(*n));
                returned.into_iter().chain(written.map(|n| self.parameter(n, generic))).collect()
            }
        }
    }

    /// Returns true if it returns a `T`.
    pub fn gives_generic(&self) -> bool {
        matches!(self.call, Callee::Function(overload) if overload.ret == TypeExpr::Generic)
    }

    /// Returns true if a call writes an argument.
    pub fn is_written(&self, n: usize) -> bool {
        let Callee::Function(overload) = self.call else { return false };
        overload.results.contains(&ResultSlot::Argument(n as u8))
    }
}

fn is_width(param: &grammar::Param) -> bool {
    matches!(param.rule, Rule::Width { .. } | Rule::Log2 { .. })
}

/// The shape of a type; an arbitrary one for rows without a type.
fn shape(generic: Option<Type>) -> Shape {
    let Some(ty) = generic else { return Shape::BOOL };
    let all = (0..48).map(Shape);
    all.into_iter().find(|shape| Type::of(*shape) == ty).expect("every type of the matrix is a shape of the tables")
}

/// A type's shape in the tables.
pub fn shape_of(ty: Type) -> Shape {
    shape(Some(ty))
}

/// Every cell, in the order of the rows.
pub fn units() -> Vec<Unit> {
    let of_row = |(at, row): (usize, &Row)| {
        let languages = [Language::Glsl, Language::Wgsl].into_iter().filter(|language| row.name(*language).is_some());
        let make = |language| {
            let unit = move |width| Unit { row: at, width, language, types: ROWS[at].types(language, width, at) };
            ROWS[at].widths().into_iter().map(unit).filter(|unit| !unit.types.is_empty()).collect::<Vec<_>>()
        };
        languages.flat_map(make).collect::<Vec<_>>()
    };
    ROWS.iter().enumerate().flat_map(of_row).collect()
}

impl Unit {
    pub fn row(&self) -> &'static Row {
        &ROWS[self.row]
    }

    /// A hash of the unit, by which variants take turns.
    pub fn turn(&self) -> u64 {
        mix(self.row as u64 * 256 + self.width.unwrap_or(0) as u64 * 2 + u64::from(self.language == Language::Wgsl))
    }

    pub fn title(&self) -> String {
        let width = self.width.map_or_else(String::new, |width| format!(", width {width}"));
        format!("{} {} ({}{width})", self.language.name(), self.row().title(), self.row().dialect)
    }

    /// Returns true if its segments may span subgroups whose size a driver chooses. Khronos's clusters and NVIDIA's widths may
    /// not.
    pub fn spans_subgroups(&self) -> bool {
        let family = self.row().family.as_str();
        self.width.is_some() && !family.contains("Clustered") && !family.contains("NV")
    }

    /// The fewest lanes that a subgroup must have, unless its segments span subgroups.
    pub fn least(&self) -> usize {
        self.width.unwrap_or(4).max(4)
    }
}
