//! Checks instructions that the shader gives by number against SPIR-V's grammar: the number of operands and their
//! kinds. Numbers that are not in the grammar are written unchanged. Meaning is not checked.

use super::Emitter;
use super::words::Words;
use crate::diagnostic::Code;
use rspirv::binary::{Consumer, DecodeError, ParseAction, ParseState, parse_words};
use rspirv::dr::{Instruction, ModuleHeader};
use rspirv::grammar::reflect;
use rspirv::spirv::{MAGIC_NUMBER, Op, Word};

/// Instructions with more operands in revisions of SPIR-V that rspirv does not know: here, the kind of a query's hit.
const GROWN: [Word; 1] = [Op::HitObjectRecordFromQueryEXT as Word];

/// Instructions that structure functions, other than block terminators.
const STRUCTURE: [Op; 8] = [
    Op::Function,
    Op::FunctionParameter,
    Op::FunctionEnd,
    Op::Label,
    Op::Phi,
    Op::Variable,
    Op::SelectionMerge,
    Op::LoopMerge,
];

/// Accepts everything and stores nothing.
struct Nothing;

impl Consumer for Nothing {
    fn initialize(&mut self) -> ParseAction {
        ParseAction::Continue
    }

    fn finalize(&mut self) -> ParseAction {
        ParseAction::Continue
    }

    fn consume_header(&mut self, _: ModuleHeader) -> ParseAction {
        ParseAction::Continue
    }

    fn consume_instruction(&mut self, _: Instruction) -> ParseAction {
        ParseAction::Continue
    }
}

/// The opcodes of types are recognised by their names.
fn is_type(op: Op) -> bool {
    format!("{op:?}").starts_with("Type")
}

/// Returns true if an operand is only wrong because the grammar lacks its number.
const fn is_unknown(error: &DecodeError) -> bool {
    !matches!(
        error,
        DecodeError::StreamExpected(..) | DecodeError::LimitReached(..) | DecodeError::DecodeStringFailed(..)
    )
}

/// Returns true if the tables contain the numbers of an instruction. If other numbers determine its operands, its
/// opcode is enough.
pub fn is_known(instruction: &[Word]) -> bool {
    let opcode = instruction.first().map_or(0, |head| head & 0xffff);
    let Some(op) = Op::from_u32(opcode) else { return false };
    if matches!(op, Op::Constant | Op::SpecConstant | Op::Switch | Op::ExtInst) {
        return true;
    }
    let mut module = vec![MAGIC_NUMBER, 0x0001_0600, 0, Word::MAX, 0];
    module.extend_from_slice(instruction);
    !matches!(parse_words(&module, &mut Nothing), Err(ParseState::OperandError(error)) if is_unknown(&error))
}

impl Emitter<'_> {
    /// Returns true if a type may have this opcode; otherwise reports it.
    pub fn is_type_opcode(&mut self, opcode: Word) -> bool {
        let is_type = Op::from_u32(opcode).is_none_or(is_type);
        if !is_type {
            self.fail(Code::BAD_DECLARATION, format!("{opcode} is not the opcode of a type in SPIR-V"));
        }
        is_type
    }

    /// Returns true if an instruction in a function may have this opcode; otherwise reports it.
    pub fn is_body_opcode(&mut self, opcode: Word) -> bool {
        let Some(op) = Op::from_u32(opcode) else { return true };
        let is_structure = STRUCTURE.contains(&op) || reflect::is_block_terminator(op);
        if is_structure {
            self.unsupported("instructions by number that functions are made of");
        }
        !is_structure
    }

    /// Reads an instruction back; `set` is the extended set that it names by this id.
    pub fn check_form(&mut self, set: Option<(Word, &str)>, instruction: &[Word]) {
        let mut module = Words::default();
        module.extend(&[MAGIC_NUMBER, self.version.word(), 0, self.last + 1, 0]);
        if let Some((id, name)) = set {
            let start = module.begin(Op::ExtInstImport);
            module.push(id);
            module.string(name);
            module.end(start);
        }
        module.extend(instruction);
        let Err(state) = parse_words(module.as_slice(), &mut Nothing) else { return };
        let what = match state {
            ParseState::OperandExpected(..) => "operands are missing".to_owned(),
            ParseState::OperandExceeded(..) if GROWN.contains(&(instruction[0] & 0xffff)) => return,
            ParseState::OperandExceeded(..) => "it has fewer operands".to_owned(),
            ParseState::OpcodeUnknown(..) => return,
            ParseState::OperandError(error) if is_unknown(&error) => return,
            ParseState::OperandError(error) => {
                let text = error.to_string();
                text.split(" at index").next().unwrap_or_default().to_owned()
            }
            _ => "it has another form".to_owned(),
        };
        self.fail(Code::BAD_DECLARATION, format!("SPIR-V has no such instruction: {what}"));
    }
}
