//! Compares a buffer with its expected contents and reports the differences.

use super::case::Column;
use super::scalar::Type;

/// How close a result must be.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Closeness {
    /// The same bits; all NaNs are equal.
    Same,
    /// Within this share of the expected value, or of one if that is smaller: for functions for which Vulkan specifies
    /// a precision.
    Within(f32),
}

/// How many differences a message shows.
const SHOWN: usize = 8;

/// An error that lists the first differences, if any.
pub fn compare(
    kind: Type,
    closeness: Closeness,
    expected: &Column,
    got: &[u32],
    per_slot: usize,
) -> Result<(), String> {
    if expected.len() != got.len() {
        return Err(format!("{} words expected, the buffer has {}", expected.len(), got.len()));
    }
    let differs = |(index, want): (usize, &Option<u32>)| {
        let want = (*want)?;
        (!same(kind, closeness, want, got[index])).then(|| line(kind, index, per_slot, want, got[index]))
    };
    let wrong: Vec<String> = expected.iter().enumerate().filter_map(differs).collect();
    if wrong.is_empty() {
        return Ok(());
    }
    let rest = wrong.len().saturating_sub(SHOWN);
    let more = if rest > 0 { format!("\n  … and {rest} more") } else { String::new() };
    Err(format!("{} of {} words differ\n{}{more}", wrong.len(), got.len(), wrong[..wrong.len() - rest].join("\n")))
}

fn line(kind: Type, index: usize, per_slot: usize, want: u32, got: u32) -> String {
    let place = match per_slot {
        1 => format!("slot {index}"),
        _ => format!("slot {}, word {}", index / per_slot, index % per_slot),
    };
    format!("  {place}: expected {}, got {}", kind.show(want), kind.show(got))
}

fn same(kind: Type, closeness: Closeness, want: u32, got: u32) -> bool {
    if want == got {
        return true;
    }
    let (a, b) = (f32::from_bits(want), f32::from_bits(got));
    match (kind, closeness) {
        (Type::F32, _) if a.is_nan() => b.is_nan(),
        (Type::F32, Closeness::Within(share)) => (a - b).abs() <= share * a.abs().max(1.0),
        _ => false,
    }
}
