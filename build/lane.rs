//! The textual form of lane operations: `Reduce(Add, AllReduce, 16, All)`, fields in the order of `LaneOp`'s.

/// The source in which the operations and the words in their fields are declared.
const VOCABULARY: &str = concat!(include_str!("../src/lane/op.rs"), include_str!("../src/lane/swap.rs"));

/// The declaration of an enum of the vocabulary, on one line and without comments.
fn body(name: &str) -> String {
    let start = format!("pub enum {name} {{\n");
    let rest = VOCABULARY.split_once(&start).map_or("", |(_, rest)| rest);
    let lines = rest.lines().take_while(|line| *line != "}").map(str::trim);
    lines.filter(|line| !line.starts_with("//")).collect()
}

/// Labels and types of a variant's fields, with empty labels for tuple variants; `None` if the variant is not declared.
fn fields(variant: &str) -> Option<Vec<(String, String)>> {
    let body = body("LaneOp");
    let mut rest = body.as_str();
    while !rest.is_empty() {
        let (name, after) = rest.split_at(rest.find(|c: char| !c.is_alphanumeric()).unwrap_or(rest.len()));
        let (list, after) = match after.trim_start().strip_prefix(['(', '{']) {
            Some(list) => list.split_once([')', '}'])?,
            None => ("", after),
        };
        if name == variant {
            let parts = list.split(',').map(str::trim).filter(|field| !field.is_empty());
            let labelled = |field: &str| match field.split_once(':') {
                Some((label, ty)) => (label.to_owned(), ty.trim().to_owned()),
                None => (String::new(), field.to_owned()),
            };
            return Some(parts.map(labelled).collect());
        }
        rest = after.trim_start_matches(',');
    }
    None
}

/// A lane operation as Rust text, and the constant parameter that completes it, if any.
pub struct LaneText {
    pub rust: String,
    pub constant_arg: Option<usize>,
}

/// Translates `text`; `$name` in a field names one of `params`, whose value goes there.
pub fn operation(text: &str, params: &[String]) -> Result<LaneText, String> {
    let (name, args) = match text.split_once('(') {
        Some((name, rest)) => (name, rest.strip_suffix(')').ok_or_else(|| format!("`{text}`: `)` is missing"))?),
        None => (text, ""),
    };
    let fields = fields(name).ok_or_else(|| format!("`{name}` is not a lane operation"))?;
    let args: Vec<&str> = args.split(',').map(str::trim).filter(|arg| !arg.is_empty()).collect();
    if args.len() != fields.len() {
        return Err(format!("`{text}`: {name} has {} fields", fields.len()));
    }
    let mut constant_arg = None;
    let mut parts = Vec::new();
    for ((label, ty), arg) in fields.into_iter().zip(args) {
        if let Some(param) = arg.strip_prefix('$') {
            constant_arg =
                Some(params.iter().position(|p| p == param).ok_or_else(|| format!("no parameter `{param}`"))?);
        }
        parts.push((label, value(&ty, arg)?));
    }
    Ok(LaneText { rust: constructor(name, &parts), constant_arg })
}

fn constructor(name: &str, parts: &[(String, String)]) -> String {
    let joined = |show: &dyn Fn(&(String, String)) -> String| parts.iter().map(show).collect::<Vec<_>>().join(", ");
    match parts.first() {
        None => format!("LaneOp::{name}"),
        Some((label, _)) if label.is_empty() => format!("LaneOp::{name}({})", joined(&|(_, value)| value.clone())),
        Some(_) => format!("LaneOp::{name} {{ {} }}", joined(&|(label, value)| format!("{label}: {value}"))),
    }
}

fn value(ty: &str, text: &str) -> Result<String, String> {
    match ty {
        "QuadMove" => quad_move(text),
        "Width" => width(text),
        // The placeholder until the argument is known.
        "Group" if text == "Workgroup" => Ok("Group::Segment(Width::WORKGROUP)".into()),
        "Group" if text.starts_with('$') => Ok("Group::Segment(Width::SUBGROUP)".into()),
        "u8" if text.starts_with('$') => Ok("0".into()),
        "u8" => text.parse::<u8>().map(|b| b.to_string()).map_err(|_| format!("`{text}` is not a byte")),
        "bool" => text.parse::<bool>().map(|b| b.to_string()).map_err(|_| format!("`{text}` is not a bool")),
        _ if body(ty).split(',').any(|word| word == text) => Ok(format!("{ty}::{text}")),
        _ => Err(format!("`{text}` is not a {ty}")),
    }
}

fn quad_move(text: &str) -> Result<String, String> {
    match text {
        "0" | "1" | "2" | "3" => Ok(format!("QuadMove::Lane({text})")),
        "X" | "Y" | "Diagonal" => Ok(format!("QuadMove::{text}")),
        _ => Err(format!("`{text}` is not a move inside a quad")),
    }
}

/// A number of lanes, `Subgroup`, `Workgroup`, or `$name` (replaced by the whole subgroup).
fn width(text: &str) -> Result<String, String> {
    match text.parse::<u32>() {
        Ok(lanes) if lanes.is_power_of_two() && lanes <= 1024 => Ok(format!("width({lanes})")),
        Err(_) if text == "Workgroup" => Ok("Width::WORKGROUP".into()),
        Err(_) if text == "Subgroup" || text.starts_with('$') => Ok("Width::SUBGROUP".into()),
        _ => Err(format!("`{text}` is not a width")),
    }
}
