//! AMD's pseudo-code for its instructions: a parser and an interpreter of the language, for the texts that
//! `scripts/judges.sh` fetches. The texts themselves are not in this repository, and no code is shared with the
//! interpreter of AMD assembly that they judge.
//!
//! A text defines one instruction: in one lane if it uses the lane's operands `S0` to `S2` and its result `D0`, or in
//! the wave if it uses registers of several lanes. What a text leaves open is interpreted as follows: `ldexp` and a
//! product with a power of two round once, a comparison with `+0.0` or `-0.0` respects the sign, an underflow is zero
//! and an overflow infinite, a conversion to an integer truncates and saturates, and the other functions that no text
//! defines are the IEEE 754 functions of the same name, rounded once.

mod call;
mod lex;
mod operate;
mod parse;
mod run;
mod value;

pub use run::{Registers, Run};
pub use value::{Sort, Value};

use parse::Program;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

/// The texts of an architecture, each parsed on demand.
pub struct Texts {
    texts: BTreeMap<String, String>,
    programs: RefCell<BTreeMap<String, Result<Rc<Program>, String>>>,
}

impl Texts {
    /// Reads a Python module with one dictionary: lines of `Kind.NAME: 'text',`.
    pub fn read(module: &str) -> Result<Self, String> {
        let entries = module.lines().filter_map(|line| line.trim().split_once("Op."));
        let mut texts = BTreeMap::new();
        for (_, entry) in entries.filter(|(_, entry)| entry.contains(": ")) {
            let (name, literal) = entry.split_once(": ").ok_or("an entry without a text")?;
            let literal = literal.strip_suffix(',').unwrap_or(literal);
            texts.insert(plain_name(name), unquoted(literal).ok_or_else(|| format!("{name} is not a string"))?);
        }
        if texts.is_empty() {
            Err("no pseudo-code is here".to_owned())
        } else {
            Ok(Self { texts, programs: RefCell::default() })
        }
    }

    /// The names, as the assembler writes them without the suffix of an encoding.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.texts.keys().map(String::as_str)
    }

    pub fn text(&self, name: &str) -> Option<&str> {
        self.texts.get(name).map(String::as_str)
    }

    /// The program of an instruction, or why it cannot be read.
    pub fn program(&self, name: &str) -> Result<Rc<Program>, String> {
        if let Some(program) = self.programs.borrow().get(name) {
            return program.clone();
        }
        let text = self.texts.get(name).ok_or_else(|| format!("there is no text of {name}"));
        let program = text.and_then(|text| Program::read(text)).map(Rc::new);
        self.programs.borrow_mut().insert(name.to_owned(), program.clone());
        program
    }
}

fn plain_name(name: &str) -> String {
    let name = name.strip_suffix("_E32").or(name.strip_suffix("_E64")).unwrap_or(name);
    name.to_ascii_lowercase()
}

/// The value of a Python string literal, in quotes of either kind.
fn unquoted(literal: &str) -> Option<String> {
    let quote = literal.chars().next().filter(|c| ['\'', '"'].contains(c))?;
    let inner = literal.strip_prefix(quote)?.strip_suffix(quote)?;
    let mut text = String::new();
    let mut chars = inner.chars();
    while let Some(c) = chars.next() {
        text.push(match c {
            '\\' => match chars.next()? {
                'n' => '\n',
                't' => '\t',
                other => other,
            },
            _ => c,
        });
    }
    Some(text)
}
