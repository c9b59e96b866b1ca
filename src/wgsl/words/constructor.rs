//! Words for constructors with the wrong number of values.

/// The message of naga's front end about a constructor, in our words; `source` is the text at its place.
pub(in crate::wgsl) fn constructor(message: &str, source: &str) -> Option<String> {
    if let Some(counts) = message.strip_prefix("constructor expects ") {
        let (expected, given) = counts.split_once(" components, found ")?;
        return Some(miscounted(constructed(source), expected.parse().ok()?, given.parse().ok()?));
    }
    let ty = message.strip_prefix("type `")?.strip_suffix("` is not constructible")?;
    Some(match matrix(ty) {
        Some((columns, rows)) => format!(
            "`{ty}` takes {columns} columns, each a vector of {rows}, or {} numbers, column by column",
            columns * rows
        ),
        None => format!("no `{ty}` can be made of these arguments"),
    })
}

/// The message that a constructor takes another number of values.
pub(super) fn miscounted(ty: &str, expected: u32, given: u32) -> String {
    let part = match ty {
        _ if ty.starts_with("vec") => "component",
        _ if ty.starts_with("mat") => "column",
        _ if ty.starts_with("array") => "element",
        _ => "member",
    };
    let (ending, verb) = (if expected == 1 { "" } else { "s" }, if given == 1 { "is" } else { "are" });
    format!("`{ty}` has {expected} {part}{ending}, and {given} {verb} given")
}

/// The type in front of the arguments of a constructor.
pub(super) fn constructed(source: &str) -> &str {
    source.split('(').next().unwrap_or(source).trim_end()
}

/// Columns and rows of a matrix type.
fn matrix(ty: &str) -> Option<(u32, u32)> {
    let (columns, rest) = ty.strip_prefix("mat")?.split_once('x')?;
    Some((columns.parse().ok()?, rest.get(..1)?.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn constructors_count_their_parts() {
        let said = |message, source| constructor(message, source).expect("a message about a constructor");
        assert_eq!(
            said("constructor expects 4 components, found 3", "vec4<f32>(1.0, 2.0, 3.0)"),
            "`vec4<f32>` has 4 components, and 3 are given"
        );
        assert_eq!(
            said("type `mat2x3<f32>` is not constructible", "mat2x3<f32>"),
            "`mat2x3<f32>` takes 2 columns, each a vector of 3, or 6 numbers, column by column"
        );
        assert_eq!(
            said("type `sampler` is not constructible", "sampler"),
            "no `sampler` can be made of these arguments"
        );
        assert_eq!(miscounted("S", 1, 2), "`S` has 1 member, and 2 are given");
    }
}
