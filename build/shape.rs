//! Type expressions of rows: single types, sets of types, and types that depend on the generic parameter.
//!
//! A shape has a number that `src/grammar/shape.rs` shares: four sizes for each scalar kind, then the matrices.

/// Scalar kinds in the order of their numbers, with the prefixes of their vectors.
const KINDS: [(&str, &str); 5] = [("float", ""), ("int", "i"), ("uint", "u"), ("bool", "b"), ("double", "d")];
/// Kinds of the generic families, by their letter.
const FAMILIES: [char; 5] = ['F', 'I', 'U', 'B', 'D'];
const FIRST_MATRIX: u32 = 20;

/// The number of the type called `name`.
pub fn number(name: &str) -> Option<u32> {
    let scalar = KINDS.iter().position(|(word, _)| *word == name).map(|kind| kind as u32 * 4);
    scalar.or_else(|| vector(name)).or_else(|| matrix(name))
}

fn vector(name: &str) -> Option<u32> {
    let (prefix, size) = name.split_once("vec")?;
    let kind = KINDS.iter().position(|(_, p)| *p == prefix)? as u32;
    Some(kind * 4 + dimension(size)? - 1)
}

fn matrix(name: &str) -> Option<u32> {
    let (prefix, size) = name.split_once("mat")?;
    let double = ["", "d"].iter().position(|p| *p == prefix)? as u32;
    let (columns, rows) = size.split_once('x').unwrap_or((size, size));
    Some(matrix_number(double, dimension(columns)?, dimension(rows)?))
}

fn matrix_number(double: u32, columns: u32, rows: u32) -> u32 {
    FIRST_MATRIX + double * 9 + (columns - 2) * 3 + rows - 2
}

fn dimension(text: &str) -> Option<u32> {
    text.parse().ok().filter(|size| (2..=4).contains(size))
}

/// The bits of a list such as `genF genI mat4`.
pub fn set(text: &str) -> Result<u64, String> {
    text.split_whitespace().map(family).try_fold(0, |all, bits| Ok(all | bits?))
}

fn family(word: &str) -> Result<u64, String> {
    let split = word.char_indices().next_back().map(|(at, letter)| (&word[..at], letter));
    let kind = split.and_then(|(_, letter)| FAMILIES.iter().position(|f| *f == letter));
    let known = match (split.map(|(stem, _)| stem), kind) {
        (Some("gen"), Some(kind)) => Some(0xf << (kind * 4)),
        (Some("vec"), Some(kind)) => Some(0xe << (kind * 4)),
        (Some("scalar"), Some(kind)) => Some(1 << (kind * 4)),
        (Some("mat"), Some(kind)) => double(kind).map(|d| 0x1ff << (FIRST_MATRIX + d * 9)),
        (Some("square"), Some(kind)) => double(kind).map(|d| 0x111 << (FIRST_MATRIX + d * 9)),
        _ => number(word).map(|n| 1 << n),
    };
    known.ok_or_else(|| format!("`{word}` is neither a type nor a family of types"))
}

fn double(kind: usize) -> Option<u32> {
    match FAMILIES[kind] {
        'F' => Some(0),
        'D' => Some(1),
        _ => None,
    }
}

/// Rust text of a type expression.
pub fn expression(text: &str, generic: bool) -> Result<String, String> {
    let dependent = match text {
        "void" => return Ok("TypeExpr::Void".into()),
        "T" => "Generic",
        "T.scalar" => "ScalarOf",
        "T.splat" => "Splat",
        "T.bool" => "BoolOf",
        "T.int" => "IntOf",
        "T.uint" => "UintOf",
        "T.float" => "FloatOf",
        "T.transposed" => "Transposed",
        _ => {
            let shape = number(text).ok_or_else(|| format!("`{text}` is no type"))?;
            return Ok(format!("TypeExpr::Is(Shape({shape}))"));
        }
    };
    match generic {
        true => Ok(format!("TypeExpr::{dependent}")),
        false => Err(format!("`{text}` without a key `T`")),
    }
}
