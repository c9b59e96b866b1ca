//! The textual form of lane operations: `Reduce(Add, AllReduce, 16, All)`, fields in the order of `LaneOp`'s.

/// The values that a field may hold.
#[derive(Clone, Copy)]
enum Field {
    ReduceOp,
    ReduceKind,
    Members,
    ShuffleMode,
    QuadMove,
    VoteOp,
    Group,
    MaskOp,
    CountOp,
    Width,
    Bool,
    Byte,
}

/// Operations with the fields' names; an empty name stands for a tuple variant.
#[rustfmt::skip]
const OPERATIONS: &[(&str, &[(&str, Field)])] = &[
    ("Quad", &[("mv", Field::QuadMove), ("float_only", Field::Bool)]),
    ("QuadAdd", &[("", Field::QuadMove)]),
    ("QuadPermute", &[("", Field::Byte)]),
    ("QuadPermuteZero", &[("", Field::Byte)]),
    ("SwizzleMasked", &[("and", Field::Byte), ("or", Field::Byte), ("xor", Field::Byte)]),
    ("QuadBroadcast", &[]),
    ("Butterfly", &[("", Field::Width)]),
    ("Shuffle", &[("", Field::ShuffleMode)]),
    ("Rotate", &[("", Field::Width)]),
    ("Bpermute", &[]),
    ("Permute", &[]),
    ("ShuffleNv", &[("", Field::ShuffleMode)]),
    ("ShuffleNvValid", &[("", Field::ShuffleMode)]),
    ("Broadcast", &[]),
    ("BroadcastFirst", &[]),
    ("WriteLane", &[]),
    ("Reduce", &[("op", Field::ReduceOp), ("kind", Field::ReduceKind), ("width", Field::Width), ("members", Field::Members)]),
    ("Segmented", &[("op", Field::ReduceOp), ("width", Field::Width)]),
    ("Partitioned", &[("op", Field::ReduceOp), ("kind", Field::ReduceKind)]),
    ("Partition", &[]),
    ("Sort", &[("width", Field::Width)]),
    ("Vote", &[("op", Field::VoteOp), ("group", Field::Group)]),
    ("Elect", &[]),
    ("Ballot", &[("", Field::Group)]),
    ("InverseBallot", &[]),
    ("BallotBit", &[]),
    ("BallotCount", &[("", Field::CountOp)]),
    ("BallotFindLsb", &[]),
    ("BallotFindMsb", &[]),
    ("MaskedCount", &[]),
    ("LaneIndex", &[("", Field::Group)]),
    ("LaneCount", &[("", Field::Group)]),
    ("SegmentLast", &[("", Field::Width)]),
    ("LaneMask", &[("", Field::MaskOp), ("", Field::Group)]),
    ("ActiveMask", &[]),
    ("Sync", &[]),
];

/// A lane operation as Rust text, and the constant parameter that says the rest of it, if one does.
pub struct LaneText {
    pub rust: String,
    pub constant_arg: Option<usize>,
}

/// Translates `text`; `$name` in a field names one of `params`, whose value says what belongs there.
pub fn operation(text: &str, params: &[String]) -> Result<LaneText, String> {
    let (name, args) = match text.split_once('(') {
        Some((name, rest)) => (name, rest.strip_suffix(')').ok_or_else(|| format!("`{text}`: `)` is missing"))?),
        None => (text, ""),
    };
    let (_, fields) = OPERATIONS
        .iter()
        .find(|(known, _)| *known == name)
        .ok_or_else(|| format!("`{name}` is not a lane operation"))?;
    let args: Vec<&str> = args.split(',').map(str::trim).filter(|arg| !arg.is_empty()).collect();
    if args.len() != fields.len() {
        return Err(format!("`{text}`: {name} has {} fields", fields.len()));
    }
    let mut constant_arg = None;
    let mut parts = Vec::new();
    for ((label, field), arg) in fields.iter().zip(args) {
        if let Some(param) = arg.strip_prefix('$') {
            constant_arg =
                Some(params.iter().position(|p| p == param).ok_or_else(|| format!("no parameter `{param}`"))?);
        }
        parts.push((*label, value(*field, arg)?));
    }
    Ok(LaneText { rust: constructor(name, &parts), constant_arg })
}

fn constructor(name: &str, parts: &[(&str, String)]) -> String {
    let joined = |show: &dyn Fn(&(&str, String)) -> String| parts.iter().map(show).collect::<Vec<_>>().join(", ");
    match parts.first() {
        None => format!("LaneOp::{name}"),
        Some(("", _)) => format!("LaneOp::{name}({})", joined(&|(_, value)| value.clone())),
        Some(_) => format!("LaneOp::{name} {{ {} }}", joined(&|(label, value)| format!("{label}: {value}"))),
    }
}

fn value(field: Field, text: &str) -> Result<String, String> {
    let (ty, words): (&str, &[&str]) = match field {
        Field::ReduceOp => ("ReduceOp", &["Add", "Mul", "Min", "Max", "And", "Or", "Xor"]),
        Field::ReduceKind => ("ReduceKind", &["Reduce", "ReduceLow", "AllReduce", "Inclusive", "Exclusive"]),
        Field::Members => ("Members", &["All", "Active"]),
        Field::ShuffleMode => ("ShuffleMode", &["Index", "Xor", "Up", "Down"]),
        Field::VoteOp => ("VoteOp", &["All", "Any", "Equal"]),
        Field::Group if text.starts_with('$') => return Ok("Group::Segment(Width::SUBGROUP)".into()),
        Field::Group => ("Group", &["Subgroup", "Quad", "Warp"]),
        Field::MaskOp => ("MaskOp", &["Eq", "Ge", "Gt", "Le", "Lt"]),
        Field::CountOp => ("CountOp", &["All", "Inclusive", "Exclusive"]),
        Field::QuadMove => return quad_move(text),
        Field::Width => return width(text),
        // What is in until the argument is known.
        Field::Byte if text.starts_with('$') => return Ok("0".into()),
        Field::Byte => return text.parse::<u8>().map(|b| b.to_string()).map_err(|_| format!("`{text}` is not a byte")),
        Field::Bool => {
            return text.parse::<bool>().map(|b| b.to_string()).map_err(|_| format!("`{text}` is not a bool"));
        }
    };
    match words.contains(&text) {
        true => Ok(format!("{ty}::{text}")),
        false => Err(format!("`{text}` is none of {words:?}")),
    }
}

fn quad_move(text: &str) -> Result<String, String> {
    match text {
        "0" | "1" | "2" | "3" => Ok(format!("QuadMove::Lane({text})")),
        "X" | "Y" | "Diagonal" => Ok(format!("QuadMove::{text}")),
        _ => Err(format!("`{text}` is not a move inside a quad")),
    }
}

/// A number of lanes, `Subgroup`, or `$name` (for which the whole subgroup stands in).
fn width(text: &str) -> Result<String, String> {
    match text.parse::<u32>() {
        Ok(lanes) if lanes.is_power_of_two() && lanes <= 128 => Ok(format!("width({lanes})")),
        Err(_) if text == "Subgroup" || text.starts_with('$') => Ok("Width::SUBGROUP".into()),
        _ => Err(format!("`{text}` is not a width")),
    }
}
