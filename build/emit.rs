//! Writes the tables as Rust text: extensions, functions, variables and constants, each sorted by name.

use crate::expand;
use crate::lane;
use crate::param::{self, Param};
use crate::row::{Constant, Defaults, Extension, Function, Instruction, Spelling, Table, Variable};
use crate::shape;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// All tables as one Rust source text.
pub fn tables(tables: &[Table]) -> Result<String, String> {
    let extensions = Extensions::collect(tables)?;
    let mut out = String::from("// Generated from grammar/*.toml by build.rs.\n");
    dialects(&mut out, tables);
    extensions.emit(&mut out)?;
    functions(&mut out, tables, &extensions)?;
    variables(&mut out, tables, &extensions)?;
    constants(&mut out, tables, &extensions)?;
    unsupported(&mut out, tables);
    spellings(&mut out, tables)?;
    Ok(out)
}

/// Writing to a `String` cannot fail.
fn line(out: &mut String, text: std::fmt::Arguments<'_>) {
    writeln!(out, "{text}").expect("a String takes any text");
}

fn dialects(out: &mut String, tables: &[Table]) {
    line(out, format_args!("pub static DIALECTS: &[Dialect] = &["));
    for table in tables {
        line(out, format_args!("    Dialect {{ name: {:?}, doc: {:?} }},", table.dialect, table.doc));
    }
    line(out, format_args!("];"));
}

/// The extensions of all files. The index of an extension in name order is its bit in a set.
struct Extensions<'a> {
    rows: BTreeMap<&'a str, (&'a Table, &'a Extension)>,
}

impl<'a> Extensions<'a> {
    fn collect(tables: &'a [Table]) -> Result<Extensions<'a>, String> {
        let mut rows = BTreeMap::new();
        for (table, row) in tables.iter().flat_map(|table| table.extension.iter().map(move |row| (table, row))) {
            if rows.insert(row.name.as_str(), (table, row)).is_some() {
                return Err(format!("grammar: extension {} has two rows", row.name));
            }
        }
        match rows.len() {
            0..=256 => Ok(Extensions { rows }),
            many => Err(format!("grammar: {many} extensions, and sets hold 256")),
        }
    }

    fn place(&self, name: &str) -> Result<usize, String> {
        let place = self.rows.keys().position(|known| *known == name);
        place.ok_or_else(|| format!("there is no extension row for {name}"))
    }

    /// Rust text for the words of a set.
    fn set<'n>(&self, names: impl IntoIterator<Item = &'n str>) -> Result<String, String> {
        let mut words = [0u128; 2];
        for name in names {
            let at = self.place(name)?;
            words[at / 128] |= 1 << (at % 128);
        }
        Ok(format!("{words:?}"))
    }

    /// The extension itself and everything it enables, directly or indirectly.
    fn closure(&self, name: &str) -> Result<String, String> {
        let mut seen = BTreeSet::from([name]);
        let mut queue = vec![name];
        while let Some(next) = queue.pop() {
            let (_, row) = self.rows.get(next).ok_or_else(|| format!("{name} implies {next}, which has no row"))?;
            queue.extend(row.implies.iter().map(String::as_str).filter(|implied| seen.insert(implied)));
        }
        self.set(seen)
    }

    fn emit(&self, out: &mut String) -> Result<(), String> {
        line(out, format_args!("pub static EXTENSIONS: &[Extension] = &["));
        for (table, row) in self.rows.values() {
            let enables = self.closure(&row.name)?;
            let needs: Vec<String> = row.needs.iter().map(|n| format!("Feature::{}", pascal(n))).collect();
            let targets: Vec<String> = row.targets.iter().map(|n| format!("Target::{}", pascal(n))).collect();
            line(
                out,
                format_args!(
                    "    Extension {{ name: {:?}, value: {}, dialect: {:?}, enables: ExtensionSet({enables}), needs: &[{}], \
                     targets: &[{}], client: {}, doc: {:?} }},",
                    row.name,
                    row.value,
                    table.dialect,
                    needs.join(", "),
                    targets.join(", "),
                    client(row.client.as_deref())?,
                    row.doc
                ),
            );
        }
        line(out, format_args!("];"));
        Ok(())
    }
}

/// Rust text for the only API that has a row, if it is limited to one.
fn client(name: Option<&str>) -> Result<&'static str, String> {
    match name {
        None => Ok("None"),
        Some("vulkan") => Ok("Some(Client::Vulkan)"),
        Some("opengl") => Ok("Some(Client::OpenGl)"),
        Some(other) => Err(format!("`{other}` is not an API")),
    }
}

/// `shuffle-relative` as a Rust variant.
fn pascal(name: &str) -> String {
    name.split('-').map(|word| word[..1].to_ascii_uppercase() + &word[1..]).collect()
}

fn functions(out: &mut String, tables: &[Table], extensions: &Extensions) -> Result<(), String> {
    let mut glsl: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let mut wgsl: BTreeMap<String, Vec<(String, usize)>> = BTreeMap::new();
    for (table, row) in tables.iter().flat_map(|table| table.function.iter().map(move |row| (table, row))) {
        let located = |reason| format!("grammar: {}: function `{}`: {reason}", table.dialect, row.name);
        for flat in expand::function(table, row).map_err(located)? {
            let overloads = glsl.entry(flat.name.clone()).or_default();
            if let Some(name) = wgsl_name(&table.defaults, &flat) {
                wgsl.entry(name).or_default().push((flat.name.clone(), overloads.len()));
            }
            overloads.push(overload(table, &row.name, &flat, extensions).map_err(located)?);
        }
    }
    let places: Vec<&String> = glsl.keys().collect();
    line(out, format_args!("pub static FUNCTIONS: &[Function] = &["));
    for (name, overloads) in &glsl {
        line(out, format_args!("    Function {{ name: {name:?}, overloads: &[\n{}    ] }},", overloads.concat()));
    }
    line(out, format_args!("];\npub static WGSL_FUNCTIONS: &[WgslFunction] = &["));
    for (name, overloads) in &wgsl {
        let place = |function: &String| places.binary_search(&function).expect("every function was collected");
        let refs: Vec<String> = overloads.iter().map(|(f, at)| format!("({}, {at})", place(f))).collect();
        line(out, format_args!("    WgslFunction {{ name: {name:?}, overloads: &[{}] }},", refs.join(", ")));
    }
    line(out, format_args!("];"));
    Ok(())
}

/// The function's name in WGSL, if it has one.
fn wgsl_name(defaults: &Defaults, row: &Function) -> Option<String> {
    match &row.wgsl {
        Some(name) => Some(name.clone()).filter(|name| !name.is_empty()),
        None => (defaults.wgsl || !row.glsl).then(|| row.name.clone()),
    }
}

fn overload(table: &Table, family: &str, row: &Function, extensions: &Extensions) -> Result<String, String> {
    let params = row.params.iter().map(|text| param::parse(text)).collect::<Result<Vec<_>, _>>()?;
    let generic = row.generic.as_deref();
    let types = shape::set(generic.unwrap_or(""))?;
    let rust = params.iter().map(|p| p.rust(generic.is_some())).collect::<Result<Vec<_>, _>>()?.join(", ");
    let returns = row.returns.as_deref().unwrap_or("void");
    let ret = shape::expression(returns, generic.is_some())?;
    let names: Vec<String> = params.iter().map(|p| p.name.clone()).collect();
    let lowering = lowering(row, &names)?;
    let results = results(row, &names)?;
    let requires = requires(&table.defaults, &row.extensions, extensions)?;
    let earlier = extensions.set(row.earlier.iter().map(String::as_str))?;
    let stages = stages(row.stages.as_ref().or(table.defaults.stages.as_ref()))?;
    let (core, es) = versions(&table.defaults, row.core, row.es);
    Ok(format!(
        "        Overload {{ name: {:?}, family: {family:?}, dialect: {:?}, glsl: {}, signature: {:?}, types: {:?}, \
         generic: ShapeSet({types}), params: &[{rust}], ret: {ret}, lowering: {lowering}, results: &[{results}], \
         extensions: ExtensionSet({requires}), earlier: ExtensionSet({earlier}), stages: {stages}, core: {core}, es: {es}, \
         doc: {:?} }},\n",
        row.name,
        table.dialect,
        row.glsl,
        signature(row, &params, returns),
        generic.unwrap_or(""),
        row.doc
    ))
}

/// The declaration as shown in messages.
fn signature(row: &Function, params: &[Param], returns: &str) -> String {
    let shown = |p: &Param| {
        let mode = match p.mode {
            "Out" => "out ",
            "InOut" | "Memory" => "inout ",
            _ => "",
        };
        format!("{}{mode}{} {}", if p.constant { "const " } else { "" }, shown_type(&p.ty), p.name)
    };
    let params: Vec<String> = params.iter().map(shown).collect();
    format!("{} {}({})", shown_type(returns), row.name, params.join(", "))
}

fn shown_type(ty: &str) -> &str {
    match ty {
        "T.scalar" | "T.splat" => "scalar",
        "T.bool" => "genB",
        "T.int" => "genI",
        "T.uint" => "genU",
        "T.float" => "genF",
        "T.transposed" => "transposed",
        _ => ty,
    }
}

/// Rust text for the function's lowering. Each row has exactly one of the operation keys.
fn lowering(row: &Function, params: &[String]) -> Result<String, String> {
    let plain = [&row.math, &row.unary, &row.binary, &row.atomic, &row.ends];
    let keys = plain.into_iter().chain([&row.barrier, &row.image, &row.lane, &row.special]);
    let instructions = usize::from(row.instruction.is_some());
    if keys.filter(|key| key.is_some()).count() + instructions != 1 {
        return Err(
            "one of math, unary, binary, atomic, ends, barrier, image, lane, special, instruction is wanted".into()
        );
    }
    if let Some(instruction) = &row.instruction {
        return Ok(instruction_text(instruction));
    }
    if let Some(barrier) = &row.barrier {
        return barrier_text(barrier);
    }
    if let Some(image) = &row.image {
        return image_text(image, params);
    }
    if let Some(lane) = &row.lane {
        return lane_text(lane, row.valid.as_deref(), params);
    }
    if let Some(special) = &row.special {
        return special_text(special);
    }
    let simple = [("Math(MathFn", &row.math), ("Unary(UnaryOp", &row.unary), ("Binary(BinaryOp", &row.binary)];
    let simple = simple.into_iter().chain([("Atomic(AtomicOp", &row.atomic), ("End(Ending", &row.ends)]);
    let found = simple.into_iter().find_map(|(kind, text)| Some((kind, text.as_ref()?)));
    let (kind, text) = found.expect("one of the keys is there, and it is none of the others");
    Ok(format!("Lowering::{kind}::{text})"))
}

/// `Workgroup/Workgroup SHARED`: the invocations that wait (`-` for none), the memory scope and the kinds of memory.
fn barrier_text(text: &str) -> Result<String, String> {
    if let Some(rest) = text.strip_prefix("arguments") {
        return Ok(format!("Lowering::ScopedBarrier {{ waits: {} }}", rest == " wait"));
    }
    let wrong = || format!("`{text}` is not a barrier: `execution/memory KIND…`");
    let (scopes, kinds) = text.split_once(' ').ok_or_else(wrong)?;
    let (execution, memory) = scopes.split_once('/').ok_or_else(wrong)?;
    let execution = if execution == "-" { "None".into() } else { format!("Some(Scope::{execution})") };
    let kinds = kinds.split_whitespace().map(|kind| format!(".union(MemoryKinds::{kind})")).collect::<String>();
    Ok(format!(
        "Lowering::Barrier {{ execution: {execution}, memory: Scope::{memory}, kinds: MemoryKinds::empty(){kinds} }}"
    ))
}

/// The arguments of image operations, named as in the specification.
const IMAGE_ROLES: &[(&str, &str)] = &[
    ("P", "Coordinate"),
    ("bias", "Bias"),
    ("lod", "Lod"),
    ("dPdx", "GradientX"),
    ("dPdy", "GradientY"),
    ("offset", "Offset"),
    ("offsets", "Offsets"),
    ("comp", "Component"),
    ("refZ", "Reference"),
    ("sample", "Sample"),
    ("compare", "Compared"),
    ("data", "Data"),
    ("image", "Image"),
    ("sampler", "Image"),
    ("texture", "Image"),
    ("subpass", "Image"),
    ("attachment", "Image"),
    ("target", "Image"),
    ("weights", "Other"),
    ("reference", "Other"),
    ("referenceP", "OtherCoordinate"),
    ("size", "Extent"),
    ("scope", "How"),
    ("storage", "How"),
    ("semantics", "How"),
    ("storageUnequal", "How"),
    ("semanticsUnequal", "How"),
    ("lodClamp", "MinLod"),
    ("texel", "Texel"),
];

fn image_text(op: &str, params: &[String]) -> Result<String, String> {
    let role = |name: &String| {
        let found = IMAGE_ROLES.iter().find(|(known, _)| known == name);
        found
            .map(|(_, role)| format!("ImageRole::{role}"))
            .ok_or_else(|| format!("`{name}` is not a part of an image operation"))
    };
    let roles = params.iter().map(role).collect::<Result<Vec<_>, _>>()?.join(", ");
    let op = match op.split_once(' ') {
        Some(("Atomic", op)) => format!("ImageOp::Atomic(AtomicOp::{op}, Scope::Device, Order::Relaxed)"),
        _ => format!("ImageOp::{op}"),
    };
    Ok(format!("Lowering::Image {{ op: {op}, roles: &[{roles}] }}"))
}

fn lane_text(lane: &str, valid: Option<&str>, params: &[String]) -> Result<String, String> {
    let op = lane::operation(lane, params)?;
    let Some(valid) = valid else {
        return Ok(format!("Lowering::Lane {{ op: {}, constant_arg: {:?} }}", op.rust, op.constant_arg));
    };
    let valid = lane::operation(valid, params)?.rust;
    Ok(format!("Lowering::LaneAndValid {{ op: {}, valid: {valid} }}", op.rust))
}

fn instruction_text(row: &Instruction) -> String {
    let Instruction { set, opcode, capability, extension, first } = row;
    format!(
        "Lowering::Instruction(&Instruction {{ set: {set:?}, opcode: {opcode}, capability: {capability:?}, \
         extension: {extension:?}, first: {first:?} }})"
    )
}

fn special_text(text: &str) -> Result<String, String> {
    match text {
        "bitcast" => Ok("Lowering::Bitcast".into()),
        "select" => Ok("Lowering::Select".into()),
        "saturated" => Ok("Lowering::Saturated".into()),
        "pixel-depth" => Ok("Lowering::Pixel { stencil: false }".into()),
        "pixel-stencil" => Ok("Lowering::Pixel { stencil: true }".into()),
        "interlock-begin" => Ok("Lowering::Interlock { begin: true }".into()),
        "interlock-end" => Ok("Lowering::Interlock { begin: false }".into()),
        "count-up" => Ok("Lowering::Count { up: true }".into()),
        "count-down" => Ok("Lowering::Count { up: false }".into()),
        "hint" => Ok("Lowering::Hint".into()),
        "workgroup-count" => Ok("Lowering::Derived(Derived::CountInWorkgroup)".into()),
        "ballot-word" => Ok("Lowering::Derived(Derived::BallotWord)".into()),
        "first-lane" => Ok("Lowering::Derived(Derived::IsFirstLane)".into()),
        "subgroup-size" => Ok("Lowering::Derived(Derived::SubgroupSize)".into()),
        "log2-subgroup-size" => Ok("Lowering::Derived(Derived::Log2SubgroupSize)".into()),
        "three-Min" | "three-Middle" | "three-Max" => {
            Ok(format!("Lowering::Derived(Derived::Three(Rank::{}))", text.trim_start_matches("three-")))
        }
        _ => match text.strip_prefix("lanes-") {
            Some(op) => Ok(format!("Lowering::Derived(Derived::Lanes(MaskOp::{op}))")),
            None => Err(format!("`{text}` is not a special function")),
        },
    }
}

fn results(row: &Function, params: &[String]) -> Result<String, String> {
    let place = |text: &String| match params.iter().position(|p| p == text) {
        Some(at) => Ok(format!("ResultSlot::Argument({at})")),
        None if text == "return" => Ok("ResultSlot::Return".to_string()),
        None => Err(format!("no parameter `{text}`")),
    };
    Ok(row.results.iter().map(place).collect::<Result<Vec<_>, _>>()?.join(", "))
}

fn requires(defaults: &Defaults, own: &Option<Vec<String>>, extensions: &Extensions) -> Result<String, String> {
    extensions.set(
        own.iter()
            .chain(own.is_none().then_some(&defaults.extensions).into_iter().flatten())
            .flatten()
            .map(String::as_str),
    )
}

fn versions(defaults: &Defaults, core: Option<u16>, es: Option<u16>) -> (u16, u16) {
    (core.or(defaults.core).unwrap_or(140), es.or(defaults.es).unwrap_or(300))
}

/// The stages as rows name them, with their variants.
const STAGES: &[(&str, &str)] = &[
    ("vertex", "Vertex"),
    ("fragment", "Fragment"),
    ("compute", "Compute"),
    ("geometry", "Geometry"),
    ("tess-control", "TessControl"),
    ("tess-evaluation", "TessEvaluation"),
    ("task", "Task"),
    ("mesh", "Mesh"),
    ("ray-generation", "RayGeneration"),
    ("intersection", "Intersection"),
    ("any-hit", "AnyHit"),
    ("closest-hit", "ClosestHit"),
    ("miss", "Miss"),
    ("callable", "Callable"),
];

fn stages(names: Option<&Vec<String>>) -> Result<String, String> {
    let Some(names) = names else { return Ok("Stages::of(&Stage::ALL)".into()) };
    stage_set(names)
}

fn stage_set(names: &[String]) -> Result<String, String> {
    let variant = |name: &String| {
        let known = STAGES.iter().find(|(known, _)| known == name);
        known.map(|(_, variant)| format!("Stage::{variant}")).ok_or_else(|| format!("`{name}` is not a stage"))
    };
    Ok(format!("Stages::of(&[{}])", names.iter().map(variant).collect::<Result<Vec<_>, _>>()?.join(", ")))
}

fn variables(out: &mut String, tables: &[Table], extensions: &Extensions) -> Result<(), String> {
    let mut rows = BTreeMap::new();
    let mut wgsl = BTreeMap::new();
    for (table, row) in tables.iter().flat_map(|table| table.variable.iter().map(move |row| (table, row))) {
        let located = |reason| format!("grammar: {}: variable `{}`: {reason}", table.dialect, row.name);
        for flat in expand::variable(table, row).map_err(located)? {
            wgsl.extend(flat.wgsl.clone().map(|name| (name, flat.name.clone())));
            let text = variable(table, &flat, extensions).map_err(located)?;
            let stages = flat.stages.clone().unwrap_or_default();
            if rows.insert((flat.name.clone(), stages), text).is_some() {
                return Err(located("two rows for the same stages".to_string()));
            }
        }
    }
    line(out, format_args!("pub static VARIABLES: &[Variable] = &[\n{}];", rows.values().cloned().collect::<String>()));
    let places: Vec<&String> = rows.keys().map(|(name, _)| name).collect();
    line(out, format_args!("pub static WGSL_VARIABLES: &[(&str, u16)] = &["));
    for (name, variable) in &wgsl {
        let place = places.partition_point(|name| *name < variable);
        line(out, format_args!("    ({name:?}, {place}),"));
    }
    line(out, format_args!("];"));
    Ok(())
}

fn variable(table: &Table, row: &Variable, extensions: &Extensions) -> Result<String, String> {
    let ty = row.ty.as_deref().unwrap_or("float");
    let shape = shape::number(ty).ok_or_else(|| format!("`{ty}` is not a type"))?;
    let source = match (&row.builtin, &row.lane, row.special.as_deref(), row.location) {
        (None, None, None, None) if row.block.is_some() => format!(
            "VariableSource::Blocks(&Blocks {{ name: {:?}, members: &{:?}, of_primitives: {} }})",
            row.block.as_deref().unwrap_or_default(),
            row.members,
            row.of_primitives
        ),
        (Some(builtin), None, Some("transposed"), None) => format!("VariableSource::Transposed(BuiltIn::{builtin})"),
        (Some(builtin), None, None, None) => format!("VariableSource::BuiltIn(BuiltIn::{builtin})"),
        (None, Some(lane), None, None) => format!("VariableSource::Lane({})", lane::operation(lane, &[])?.rust),
        (None, None, Some("workgroup-size"), None) => "VariableSource::WorkgroupSize".to_string(),
        (None, None, None, Some(location)) => format!("VariableSource::Output({location})"),
        _ => return Err("one of builtin, lane, special, location, block is wanted".into()),
    };
    let requires = requires(&table.defaults, &row.extensions, extensions)?;
    let earlier = extensions.set(row.earlier.iter().map(String::as_str))?;
    let stages = stages(row.stages.as_ref().or(table.defaults.stages.as_ref()))?;
    let output = stage_set(&row.output)?;
    let (core, es) = versions(&table.defaults, row.core, row.es);
    let array = row.array;
    let client = client(row.client.as_deref())?;
    Ok(format!(
        "    Variable {{ name: {:?}, wgsl: {:?}, dialect: {:?}, ty: Shape({shape}), array: {array:?}, source: {source}, \
         output: {output}, extensions: ExtensionSet({requires}), earlier: ExtensionSet({earlier}), stages: {stages}, client: {client}, core: {core}, until: {:?}, es: {es}, doc: {:?} }},\n",
        row.name, row.wgsl, table.dialect, row.until, row.doc
    ))
}

fn constants(out: &mut String, tables: &[Table], extensions: &Extensions) -> Result<(), String> {
    let mut rows = BTreeMap::new();
    for (table, row) in tables.iter().flat_map(|table| table.constant.iter().map(move |row| (table, row))) {
        let located = |reason| format!("grammar: {}: constant `{}`: {reason}", table.dialect, row.name);
        for flat in expand::constant(table, row).map_err(located)? {
            let text = constant(table, &flat, extensions).map_err(located)?;
            rows.insert(flat.name, text);
        }
    }
    line(out, format_args!("pub static CONSTANTS: &[Constant] = &[\n{}];", rows.into_values().collect::<String>()));
    Ok(())
}

fn constant(table: &Table, row: &Constant, extensions: &Extensions) -> Result<String, String> {
    let (core, es) = versions(&table.defaults, row.core, row.es);
    let requires = extensions.set(row.extensions.iter().flatten().map(String::as_str))?;
    Ok(format!(
        "    Constant {{ name: {:?}, value: &{:?}, unsigned: {}, extensions: ExtensionSet({requires}), core: {core}, \
         es: {es}, doc: {:?} }},\n",
        row.name, row.value, row.unsigned, row.doc
    ))
}

fn unsupported(out: &mut String, tables: &[Table]) {
    let groups = tables.iter().flat_map(|table| &table.unsupported);
    let rows: BTreeMap<&String, &String> =
        groups.flat_map(|group| group.names.iter().map(|name| (name, &group.what))).collect();
    line(out, format_args!("pub static UNSUPPORTED: &[(&str, &str)] = &["));
    for (name, what) in rows {
        line(out, format_args!("    ({name:?}, {what:?}),"));
    }
    line(out, format_args!("];"));
}

/// In row order.
fn spellings(out: &mut String, tables: &[Table]) -> Result<(), String> {
    line(out, format_args!("pub static SPELLINGS: &[Spelling] = &["));
    for (table, row) in tables.iter().flat_map(|table| table.spelling.iter().map(move |row| (table, row))) {
        for flat in expand::spelling(table, row)? {
            let located = |reason| format!("grammar: {}: spelling {:?}: {reason}", table.dialect, flat.names);
            let op = flat.lane.as_ref().map(|lane| lane::operation(lane, &[])).transpose().map_err(located)?;
            let op = op.map_or("None".into(), |op| format!("Some({})", op.rust));
            for name in &flat.names {
                let Spelling { language, note, .. } = &flat;
                line(
                    out,
                    format_args!(
                        "    Spelling {{ name: {name:?}, language: {language:?}, op: {op}, note: {note:?} }},"
                    ),
                );
            }
        }
    }
    line(out, format_args!("];"));
    Ok(())
}
