//! What ends the reading of a module: a rule of SPIR-V that it breaks, or something that is not read.

use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use rspirv::spirv::Op;

/// The result of reading a part.
pub type Read<T> = Result<T, Box<Fault>>;

/// Why a module is not read.
#[derive(Debug)]
pub struct Fault {
    code: Code,
    message: String,
    /// The line of the instruction in the listing.
    line: Option<u32>,
}

impl Fault {
    /// A fault of the module, at an instruction with its first word and its line.
    pub fn wrong(at: Option<(Op, u32, u32)>, message: String) -> Box<Fault> {
        Fault::of(Code::BAD_MODULE, at, message)
    }

    /// Something that is not read.
    pub fn unread(at: Option<(Op, u32, u32)>, message: String) -> Box<Fault> {
        Fault::of(Code::MODULE_NOT_READ, at, message)
    }

    fn of(code: Code, at: Option<(Op, u32, u32)>, message: String) -> Box<Fault> {
        let message = match at {
            Some((op, word, _)) => format!("`Op{op:?}` at word {word}: {message}"),
            None => message,
        };
        Box::new(Fault { code, message, line: at.map(|(.., line)| line) })
    }

    /// The message, with the span of the instruction.
    pub fn diagnostic(self, span: impl Fn(u32) -> Span) -> Diagnostic {
        let error = Diagnostic::error(self.code, self.message);
        match self.line {
            Some(line) => error.at(span(line), "this instruction"),
            None => error,
        }
    }
}
