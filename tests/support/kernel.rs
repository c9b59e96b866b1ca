//! Reads the textual kernel form, as written by `crosslane::kernel::print`.
//!
//! The form has one line per instruction. Values and constructs may have any name (`%sum`, `@outer`); comments begin
//! with `//`.

mod body;
mod header;
mod operation;
mod words;

use body::Body;
use crosslane::kernel::Kernel;
use std::fmt;
use words::Words;

/// Why a text is not a kernel.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ReadError {
    /// Counts from 1.
    pub line: usize,
    pub why: String,
}

impl fmt::Display for ReadError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}: {}", self.line, self.why)
    }
}

/// A part of a text, or why it is missing.
type Read<T> = Result<T, String>;

/// The non-empty lines of a text, without comments.
struct Lines<'t> {
    text: std::iter::Enumerate<std::str::Lines<'t>>,
    /// The number of the last line.
    number: usize,
}

impl<'t> Lines<'t> {
    fn new(text: &'t str) -> Lines<'t> {
        Lines { text: text.lines().enumerate(), number: 0 }
    }

    fn next(&mut self) -> Option<&'t str> {
        for (index, line) in self.text.by_ref() {
            self.number = index + 1;
            let code = line.split_once("//").map_or(line, |(code, _)| code).trim();
            if !code.is_empty() {
                return Some(code);
            }
        }
        None
    }

    fn need(&mut self) -> Read<&'t str> {
        self.next().ok_or_else(|| "the text ends here".to_owned())
    }
}

/// The kernel described by a text.
///
/// # Errors
/// Returns the first line that cannot be read. The kernel itself is left to the verifier.
pub fn read(text: &str) -> Result<Kernel, ReadError> {
    let mut lines = Lines::new(text);
    let read = read_lines(&mut lines);
    read.map_err(|why| ReadError { line: lines.number, why })
}

fn read_lines(lines: &mut Lines<'_>) -> Read<Kernel> {
    let mut kernel = header::head(&mut Words::new(lines.need()?))?;
    let mut line = lines.need()?;
    while header::declare(&mut kernel, line)? {
        line = lines.need()?;
    }
    let block = kernel.body;
    let mut body = Body::new(kernel, lines);
    body.block_from(block, line)?.end()?;
    let kernel = body.kernel;
    match lines.next() {
        Some(line) => Err(format!("`{line}` follows the kernel")),
        None => Ok(kernel),
    }
}
