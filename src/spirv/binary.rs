//! The words of a module: its instructions, and a listing with one line for each, which messages point into.

use super::fault::{Fault, Read};
use crate::limits;
use rspirv::grammar::{INSTRUCTION_TABLE, LogicalOperand, OperandKind, OperandQuantifier};
use rspirv::spirv::{self, Op, Word};
use rustc_hash::FxHashMap;
use std::fmt::Write as _;

/// Words before the first instruction.
const HEADER: usize = 5;

/// Returns true if bytes begin with SPIR-V's magic number, in either byte order.
pub fn is_module(bytes: &[u8]) -> bool {
    bytes.first_chunk().is_some_and(|first| order(*first).is_some())
}

/// How words are made of bytes.
fn order(magic: [u8; 4]) -> Option<fn([u8; 4]) -> Word> {
    match spirv::MAGIC_NUMBER {
        number if u32::from_le_bytes(magic) == number => Some(u32::from_le_bytes),
        number if u32::from_be_bytes(magic) == number => Some(u32::from_be_bytes),
        _ => None,
    }
}

/// The words of a module; `None` if the bytes are not one.
pub fn words(bytes: &[u8]) -> Option<Vec<Word>> {
    let read = order(*bytes.first_chunk()?)?;
    limits::hold::<u8>(bytes.len());
    Some(bytes.chunks_exact(4).map(|word| read([word[0], word[1], word[2], word[3]])).collect())
}

/// One instruction.
#[derive(Clone, Copy, Debug)]
pub struct Insn<'w> {
    pub op: Op,
    /// Ids of the result type and the result; 0 if there is none.
    pub ty: Word,
    pub id: Word,
    /// The other operands.
    pub args: &'w [Word],
    /// Its first word.
    pub at: u32,
    /// Its number, which is its line in the listing.
    pub line: u32,
    /// What its operands are, results among them.
    kinds: &'static [LogicalOperand],
}

impl Insn<'_> {
    /// Operand `n`.
    pub fn arg(&self, n: usize) -> Read<Word> {
        self.args.get(n).copied().ok_or_else(|| self.wrong("an operand is missing"))
    }

    /// Returns true if all its operands are ids.
    pub fn takes_ids_alone(&self) -> bool {
        self.kinds.iter().all(|operand| is_result(operand.kind) || is_id(operand.kind))
    }

    /// Returns true if it declares a type: only such instructions and those of debug information have a result without
    /// a type outside of functions.
    pub fn declares_type(&self) -> bool {
        use Op::{DecorationGroup, ExtInstImport, String};
        self.id != 0 && self.ty == 0 && !matches!(self.op, DecorationGroup | ExtInstImport | String)
    }

    /// A fault of the module.
    #[cold]
    pub fn wrong(&self, message: impl Into<String>) -> Box<Fault> {
        Fault::wrong(Some((self.op, self.at, self.line)), message.into())
    }

    /// Something that is not read.
    #[cold]
    pub fn unread(&self, message: impl Into<String>) -> Box<Fault> {
        Fault::unread(Some((self.op, self.at, self.line)), message.into())
    }
}

/// The parts of an instruction's operands that every instruction of an opcode has.
#[derive(Clone, Copy)]
struct Shape {
    op: Op,
    kinds: &'static [LogicalOperand],
    has_type: bool,
    has_id: bool,
    least: usize,
}

fn shape(opcode: Word) -> Option<Shape> {
    let row = INSTRUCTION_TABLE.lookup_opcode(opcode)?;
    let has = |kind| row.operands.iter().any(|operand| operand.kind == kind);
    let least = row.operands.iter().filter(|operand| operand.quantifier == OperandQuantifier::One).count();
    Some(Shape {
        op: row.opcode,
        kinds: row.operands,
        has_type: has(OperandKind::IdResultType),
        has_id: has(OperandKind::IdResult),
        least,
    })
}

/// The instructions of a module.
///
/// # Errors
/// Returns an error if the words do not form instructions.
pub fn instructions(words: &[Word]) -> Read<Vec<Insn<'_>>> {
    let mut found = Vec::new();
    let mut shapes: FxHashMap<Word, Option<Shape>> = FxHashMap::default();
    if words.len() < HEADER {
        return Err(Fault::wrong(None, format!("the module ends in its header, at word {}", words.len())));
    }
    let mut at = HEADER;
    while let Some(first) = words.get(at) {
        let (opcode, count) = (first & 0xFFFF, (first >> 16) as usize);
        let Some(operands) = words.get(at + 1..at + count) else {
            let message = format!("the instruction at word {at} has {count} words, and the module {}", words.len());
            return Err(Fault::wrong(None, message));
        };
        let Some(shape) = *shapes.entry(opcode).or_insert_with(|| shape(opcode)) else {
            let message =
                format!("the instruction at word {at} has the number {opcode}, which crosslane does not know");
            return Err(Fault::unread(None, message));
        };
        if operands.len() < shape.least {
            let message =
                format!("`Op{:?}` at word {at} has {} operands; it needs {}", shape.op, operands.len(), shape.least);
            return Err(Fault::wrong(None, message));
        }
        limits::spend(1);
        limits::hold::<Insn<'_>>(1);
        let named = usize::from(shape.has_type) + usize::from(shape.has_id);
        let ty = if shape.has_type { operands[0] } else { 0 };
        let id = if shape.has_id { operands[named - 1] } else { 0 };
        let (args, line) = (&operands[named..], found.len() as u32);
        found.push(Insn { op: shape.op, ty, id, args, at: at as u32, line, kinds: shape.kinds });
        at += count;
    }
    Ok(found)
}

/// The text of a literal string, and the words after it.
pub fn string(words: &[Word]) -> Option<(String, &[Word])> {
    let end = words.iter().position(|word| word.to_le_bytes().contains(&0))?;
    let bytes: Vec<u8> = words[..=end].iter().flat_map(|word| word.to_le_bytes()).collect();
    let length = bytes.iter().position(|byte| *byte == 0)?;
    Some((String::from_utf8_lossy(&bytes[..length]).into_owned(), &words[end + 1..]))
}

/// The listing, and the offset of each line.
pub fn listing(insns: &[Insn<'_>]) -> (String, Vec<u32>) {
    let (mut text, mut starts) = (String::new(), Vec::with_capacity(insns.len()));
    for insn in insns {
        starts.push(text.len() as u32);
        list(&mut text, insn);
    }
    limits::write(text.len());
    (text, starts)
}

fn list(text: &mut String, insn: &Insn<'_>) {
    if insn.id != 0 {
        let _ = write!(text, "%{} = ", insn.id);
    }
    let _ = write!(text, "Op{:?}", insn.op);
    if insn.ty != 0 {
        let _ = write!(text, " %{}", insn.ty);
    }
    let mut kinds = insn.kinds.iter().filter(|operand| !is_result(operand.kind));
    let mut kind = kinds.next();
    let mut rest = insn.args;
    while let Some((word, more)) = rest.split_first() {
        let of = kind.map(|operand| operand.kind);
        rest = match of.filter(|of| *of == OperandKind::LiteralString).and_then(|_| string(rest)) {
            Some((shown, after)) => {
                let _ = write!(text, " {shown:?}");
                after
            }
            None => {
                let sign = if of.is_some_and(is_id) { "%" } else { "" };
                let _ = write!(text, " {sign}{word}");
                more
            }
        };
        if kind.is_none_or(|operand| operand.quantifier != OperandQuantifier::ZeroOrMore) {
            kind = kinds.next();
        }
    }
    text.push('\n');
}

const fn is_id(kind: OperandKind) -> bool {
    matches!(kind, OperandKind::IdRef | OperandKind::IdScope | OperandKind::IdMemorySemantics)
}

const fn is_result(kind: OperandKind) -> bool {
    matches!(kind, OperandKind::IdResultType | OperandKind::IdResult)
}
