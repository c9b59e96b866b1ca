//! A reducer for random kernels: it removes blocks and lines from a kernel as long as the rest still fails.
//!
//! The generators write one statement per line, with `{` at the end of a block's first line and `}` at the start of its
//! last line; that is all that the reducer knows about the language. A rest that does not compile fails differently, so
//! it is rejected.

use std::ops::Range;

/// Returns true if failures are to be reduced, according to `CROSSLANE_REDUCE`.
pub fn is_asked() -> bool {
    std::env::var_os("CROSSLANE_REDUCE").is_some()
}

/// The lines of `source` that are needed for it to fail; `fails` runs a candidate.
pub fn kernel(source: &str, fails: impl Fn(&str) -> bool) -> String {
    let mut lines: Vec<&str> = source.lines().collect();
    while let Some(fewer) = smaller(&lines, &fails) {
        lines = fewer;
    }
    joined(&lines)
}

fn joined(lines: &[&str]) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// One pass over all lines from the last to the first, so that uses are removed before declarations; `None` if nothing
/// can be removed.
fn smaller<'s>(lines: &[&'s str], fails: impl Fn(&str) -> bool) -> Option<Vec<&'s str>> {
    let mut left = lines.to_vec();
    for at in (0..lines.len()).rev() {
        let taken = candidates(&left, at).into_iter().find(|fewer| fails(&joined(fewer)));
        left = taken.unwrap_or(left);
    }
    (left.len() < lines.len()).then_some(left)
}

/// The kernel without the line or block at `at`, and with a block replaced by its body.
fn candidates<'s>(lines: &[&'s str], at: usize) -> Vec<Vec<&'s str>> {
    match lines.get(at) {
        Some(line) if !is_kept(line) => {
            let whole = extent(lines, at);
            let body = whole.start + 1..whole.end - 1;
            let unwrapped = (whole.len() > 1).then(|| spliced(lines, &whole, &lines[body]));
            [spliced(lines, &whole, &[])].into_iter().chain(unwrapped).collect()
        }
        _ => Vec::new(),
    }
}

fn spliced<'s>(lines: &[&'s str], range: &Range<usize>, with: &[&'s str]) -> Vec<&'s str> {
    [&lines[..range.start], with, &lines[range.end..]].concat()
}

/// Prefixes of lines that keep loops finite, variables defined and buffers bound.
const KEPT: [&str; 8] = ["}", "#", "layout(", "if (++", "i = gl_", "x = given[", "o[i", "at = "];

fn is_kept(line: &str) -> bool {
    let line = line.trim_start();
    KEPT.iter().any(|start| line.starts_with(start))
}

/// A line, or the block that it opens, to the `}` of its depth.
fn extent(lines: &[&str], at: usize) -> Range<usize> {
    if !lines[at].ends_with('{') {
        return at..at + 1;
    }
    let depth = |line: &str| line.len() - line.trim_start().len();
    let closes =
        |line: &&str| depth(line) == depth(lines[at]) && line.trim_start().starts_with('}') && !line.ends_with('{');
    let length = lines[at + 1..].iter().position(closes).map_or(0, |last| last + 1);
    at..at + 1 + length
}

#[cfg(test)]
mod tests {
    use super::kernel;

    const SOURCE: &str = "#version 450\nvoid main() {\n    uint n = 0u;\n    for (;;) {\n        if (++n > 18u) break;\n        \
                          if (n > 2u) {\n            a();\n        } else {\n            b();\n        }\n        c();\n    }\n    d();\n}\n";

    /// Lines that a failure does not need go, with their blocks; a bound of a loop goes with its loop alone.
    #[test]
    fn a_kernel_keeps_the_lines_that_fail() {
        let reduced = kernel(SOURCE, |text| text.contains("c();") && text.contains("main"));
        assert_eq!(reduced, "#version 450\nvoid main() {\n        c();\n}\n");
        assert_eq!(kernel(SOURCE, |text| text == SOURCE), SOURCE);
    }
}
