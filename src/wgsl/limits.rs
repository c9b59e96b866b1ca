//! Limits the nesting of a text, so that naga's recursion does not overflow the stack.
//!
//! Recursion depends on three things: brackets, chains of operators or of `else if`, and templates. Each is counted,
//! and a text that exceeds [`NESTING_LIMIT`] or [`CHAIN_LIMIT`] is refused. A text within these limits needs at most
//! [`STACK`] bytes.

use super::lexer::{Kind, Token};

/// Open brackets at one point.
const NESTING_LIMIT: u32 = 200;
/// Operators in one expression, or links of an `else if` chain.
const CHAIN_LIMIT: u32 = 1000;
/// Tokens of one declaration: naga's time grows with the square of a function's length.
const LENGTH_LIMIT: u32 = 1 << 16;
/// Depth up to which any thread's stack is large enough.
const SHALLOW: u32 = 40;
/// Text length up to which any thread's stack is large enough: long texts may have long chains of declarations.
const SHORT: usize = 48 << 10;
/// Stack size of the thread for deep texts. Only the used part is ever backed by memory.
pub(super) const STACK: usize = 256 << 20;

/// The counts so far.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Depth {
    deepest: u32,
}

/// The place and the reason of a text that is too deep.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct TooDeep {
    pub at: Token,
    pub what: &'static str,
}

impl Depth {
    /// Returns true if the text needs a thread with a larger stack.
    pub(super) fn needs_stack(self, len: usize) -> bool {
        self.deepest > SHALLOW || len > SHORT
    }
}

/// The running counts.
#[derive(Default)]
struct Counter {
    open: u32,
    chain: u32,
    templates: u32,
    elses: u32,
    /// Tokens since the start of the declaration.
    length: u32,
    depth: Depth,
}

/// Measures a text.
///
/// # Errors
/// Returns the first place where the source exceeds a limit.
pub(super) fn measure(source: &str, tokens: &[Token]) -> Result<Depth, TooDeep> {
    let mut counter = Counter::default();
    for token in tokens {
        counter.count(source, *token);
        let what = match () {
            () if counter.open > NESTING_LIMIT => "brackets are nested too deep",
            () if counter.templates > NESTING_LIMIT => "templates are nested too deep",
            () if counter.chain > CHAIN_LIMIT => "the expression has too many operators",
            () if counter.elses > CHAIN_LIMIT / 4 => "the chain of `else if` is too long",
            () if counter.length > LENGTH_LIMIT => "this declaration is too long",
            () => continue,
        };
        return Err(TooDeep { at: *token, what });
    }
    Ok(counter.depth)
}

impl Counter {
    fn count(&mut self, source: &str, token: Token) {
        self.length += 1;
        match token.kind {
            Kind::Punct(b'(') => self.open += 1,
            Kind::Punct(b'[') => {
                self.open += 1;
                self.chain += 1;
            }
            Kind::Punct(b')' | b']') => self.open = self.open.saturating_sub(1),
            Kind::Punct(b'{') => {
                self.open += 1;
                self.end_statement();
            }
            Kind::Punct(b'}') => {
                self.open = self.open.saturating_sub(1);
                self.end_statement();
            }
            Kind::Punct(b';') => {
                self.end_statement();
                self.elses = 0;
            }
            Kind::Punct(b',') => self.chain = 0,
            Kind::Punct(b'<') => {
                self.templates += 1;
                self.chain += 1;
            }
            Kind::Punct(b'>') => {
                self.templates = self.templates.saturating_sub(1);
                self.chain += 1;
            }
            Kind::Punct(_) => self.chain += 1,
            Kind::Word if token.text(source) == "else" => self.elses += 1,
            Kind::Word | Kind::Number => {}
        }
        let deepest = self.open + self.chain / 4 + self.elses + self.templates;
        self.depth.deepest = self.depth.deepest.max(deepest);
    }

    fn end_statement(&mut self) {
        (self.chain, self.templates) = (0, 0);
        if self.open == 0 {
            self.length = 0;
        }
    }
}

/// Tokens of a function for which each further token takes one more step: naga walks over the types of all expressions
/// before each one.
const WALKED_IN_A_STEP: usize = 256;

/// Upper bound of the bytes per token in naga's module and ours.
const BYTES_PER_TOKEN: usize = 256;

/// Counts the work on a text against the limits of the compilation. Text outside functions counts like a function.
pub(super) fn count(tokens: &[Token]) {
    let (mut depth, mut inside, mut outside) = (0_usize, 0_usize, 0_usize);
    let mut steps = tokens.len();
    for token in tokens {
        match token.kind {
            Kind::Punct(b'{') => depth += 1,
            Kind::Punct(b'}') => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > 0 {
            inside += 1;
        } else {
            outside += 1;
            steps += inside * inside / WALKED_IN_A_STEP;
            inside = 0;
        }
    }
    crate::limits::spend(steps + outside * outside / WALKED_IN_A_STEP);
    crate::limits::hold::<[u8; BYTES_PER_TOKEN]>(tokens.len());
}

#[cfg(test)]
mod tests {
    use super::super::lexer::tokens;
    use super::*;

    fn measured(source: &str) -> Result<Depth, &'static str> {
        measure(source, &tokens(source)).map_err(|e| e.what)
    }

    #[test]
    fn deep_texts_are_refused() {
        assert!(measured(&"(".repeat(300)).is_err());
        assert!(measured(&format!("let a = {}1;", "1+".repeat(2000))).is_err());
        assert!(measured(&format!("let a = {}1;", "-".repeat(2000))).is_err());
        assert!(measured(&"ptr<function,".repeat(300)).is_err());
        assert!(measured(&"if a {} else ".repeat(600)).is_err());
    }

    #[test]
    fn usual_texts_are_shallow() {
        let source = "fn f() { if a { b = c(1, 2)[3]; } else if d { e = 1; } }\n".repeat(20);
        assert!(!measured(&source).unwrap().needs_stack(source.len()));
        assert!(measured(&format!("let a = array({});", "1 + 2, ".repeat(5000))).is_ok());
    }
}
