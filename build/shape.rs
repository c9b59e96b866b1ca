//! Type expressions of rows: single types, sets of types, and types that depend on the generic parameter.
//!
//! A shape has a number, which `src/grammar/shape.rs` also uses: four sizes for each scalar kind, then the matrices.

use crate::opaque;

/// Scalar kinds in number order, with the prefixes of their vectors.
#[rustfmt::skip]
const KINDS: [(&str, &str); 16] = [
    ("float", ""), ("int", "i"), ("uint", "u"), ("bool", "b"), ("double", "d"), ("float16_t", "f16"),
    ("int8_t", "i8"), ("uint8_t", "u8"), ("int16_t", "i16"), ("uint16_t", "u16"), ("int64_t", "i64"), ("uint64_t", "u64"),
    ("bfloat16_t", "bf16"), ("floate4m3_t", "fe4m3"), ("floate5m2_t", "fe5m2"), ("floate2m1_t", "fe2m1"),
];
/// Kinds in each generic family, by letter: `J` and `V` are the signed and unsigned integers of other widths.
const FAMILIES: [(char, &[usize]); 8] = [
    ('F', &[0]),
    ('I', &[1]),
    ('U', &[2]),
    ('B', &[3]),
    ('D', &[4]),
    ('H', &[5]),
    ('J', &[6, 8, 10]),
    ('V', &[7, 9, 11]),
];
/// Prefixes of the matrix scalars.
const MATRIX_PREFIXES: [&str; 3] = ["", "d", "f16"];
const FIRST_MATRIX: u32 = 64;

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
    let kind = MATRIX_PREFIXES.iter().position(|p| *p == prefix)? as u32;
    let (columns, rows) = size.split_once('x').unwrap_or((size, size));
    Some(matrix_number(kind, dimension(columns)?, dimension(rows)?))
}

fn matrix_number(kind: u32, columns: u32, rows: u32) -> u32 {
    FIRST_MATRIX + kind * 9 + (columns - 2) * 3 + rows - 2
}

fn dimension(text: &str) -> Option<u32> {
    text.parse().ok().filter(|size| (2..=4).contains(size))
}

/// The bits of a list such as `genF genI mat4`.
pub fn set(text: &str) -> Result<u128, String> {
    text.split_whitespace().map(family).try_fold(0, |all, bits| Ok(all | bits?))
}

fn family(word: &str) -> Result<u128, String> {
    let split = word.char_indices().next_back().map(|(at, letter)| (&word[..at], letter));
    let kinds = split.and_then(|(_, letter)| FAMILIES.iter().find(|(f, _)| *f == letter)).map(|(_, kinds)| *kinds);
    let known = match (split.map(|(stem, _)| stem), kinds) {
        (Some("gen"), Some(kinds)) => Some(vectors(kinds, 0xf)),
        (Some("vec"), Some(kinds)) => Some(vectors(kinds, 0xe)),
        (Some("scalar"), Some(kinds)) => Some(vectors(kinds, 1)),
        (Some("mat"), Some(kinds)) => matrix_kind(kinds).map(|kind| 0x1ff << (FIRST_MATRIX + kind * 9)),
        (Some("square"), Some(kinds)) => matrix_kind(kinds).map(|kind| 0x111 << (FIRST_MATRIX + kind * 9)),
        _ => number(word).map(|n| 1 << n),
    };
    known.ok_or_else(|| format!("`{word}` is neither a type nor a family of types"))
}

/// The sizes in `mask` for each kind.
fn vectors(kinds: &[usize], mask: u128) -> u128 {
    kinds.iter().fold(0, |all, kind| all | mask << (kind * 4))
}

/// The index of the matrix kind whose scalars are of a family's first kind.
fn matrix_kind(kinds: &[usize]) -> Option<u32> {
    let (_, prefix) = KINDS[*kinds.first()?];
    MATRIX_PREFIXES.iter().position(|p| *p == prefix).map(|kind| kind as u32)
}

/// Rust text for a type expression.
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
        _ => return independent(text, generic),
    };
    match generic {
        true => Ok(format!("TypeExpr::{dependent}")),
        false => Err(format!("`{text}` without a key `T`")),
    }
}

/// A single type, an array of one, an opaque type or vector with the scalar `T`, or `T.` and the scalar that replaces
/// `T`'s.
fn independent(text: &str, generic: bool) -> Result<String, String> {
    if let Some(opaque) = text.strip_prefix("T.").filter(|_| generic).and_then(opaque::expression) {
        return Ok(format!("TypeExpr::Opaque({opaque})"));
    }
    if let Some(size) = text.strip_prefix("T.vec").filter(|_| generic).and_then(dimension) {
        return Ok(format!("TypeExpr::VectorOf({size})"));
    }
    if let Some((element, count)) = text.strip_suffix(']').and_then(|text| text.split_once('[')) {
        let shape = number(element).ok_or_else(|| format!("`{element}` is not a type"))?;
        return Ok(format!("TypeExpr::Array(Shape({shape}), {count})"));
    }
    let (form, name) = match (text.strip_prefix("T."), text.strip_suffix('?')) {
        (Some(name), _) if generic => ("Of", name),
        (_, Some(name)) => ("Test", name),
        _ => ("Is", text),
    };
    let shape = number(name).ok_or_else(|| format!("`{text}` is not a type"))?;
    Ok(format!("TypeExpr::{form}(Shape({shape}))"))
}
