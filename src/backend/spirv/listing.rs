//! SPIR-V words as text: rspirv's notation in SPIRV-Tools' column layout.

use super::small_floats::SmallFloats;
use super::unknown::Unknown;
use rspirv::binary::{Consumer, Disassemble, ParseAction, Parser};
use rspirv::dr::{Instruction, Loader, ModuleHeader};
use rspirv::spirv::{Op, Word};
use rustc_hash::FxHashMap;

/// rspirv's loader, with placeholders for instructions that it does not know.
struct Reader {
    loader: Loader,
    modes: Vec<Instruction>,
    /// Extended instructions outside functions, by their results; the loader gets undefined values instead.
    notes: FxHashMap<Word, Instruction>,
    in_function: bool,
}

impl Consumer for Reader {
    fn initialize(&mut self) -> ParseAction {
        self.loader.initialize()
    }

    fn finalize(&mut self) -> ParseAction {
        self.loader.finalize()
    }

    fn consume_header(&mut self, header: ModuleHeader) -> ParseAction {
        self.loader.consume_header(header)
    }

    fn consume_instruction(&mut self, instruction: Instruction) -> ParseAction {
        if instruction.class.opcode == Op::ExecutionModeId {
            self.modes.push(instruction);
            return ParseAction::Continue;
        }
        self.in_function = match instruction.class.opcode {
            Op::Function => true,
            Op::FunctionEnd => false,
            _ => self.in_function,
        };
        if let (Op::ExtInst, false, Some(id)) = (instruction.class.opcode, self.in_function, instruction.result_id) {
            let stand_in = Instruction::new(Op::Undef, instruction.result_type, Some(id), Vec::new());
            self.notes.insert(id, instruction);
            return self.loader.consume_instruction(stand_in);
        }
        self.loader.consume_instruction(instruction)
    }
}

/// The assembly text of a module. Instructions unknown to rspirv are shown as words: in place inside functions,
/// otherwise first.
///
/// # Errors
/// Returns a sentence with the reason that the words are not a module.
pub fn disassemble(words: &[u32]) -> Result<String, String> {
    let (words, small) = SmallFloats::replaced(words);
    let text = known(&words).or_else(|failure| {
        let unknown = Unknown::find(&words);
        if unknown.is_empty() {
            return Err(failure);
        }
        known(&unknown.replaced(&words)).map(|text| unknown.put_back(&words, &text))
    })?;
    Ok(small.put_back(text))
}

/// The text of a module without numbers unknown to rspirv.
fn known(words: &[u32]) -> Result<String, String> {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let mut reader =
        Reader { loader: Loader::new(), modes: Vec::new(), notes: FxHashMap::default(), in_function: false };
    Parser::new(&bytes, &mut reader).parse().map_err(|state| state.to_string())?;
    let mut module = reader.loader.module();
    module.execution_modes.extend(reader.modes);
    for instruction in &mut module.types_global_values {
        if let Some(note) = instruction.result_id.and_then(|id| reader.notes.remove(&id)) {
            *instruction = note;
        }
    }
    Ok(module.disassemble().lines().map(in_columns).collect())
}

/// Aligns result ids and opcodes in columns. Comments stay in place.
pub(super) fn in_columns(line: &str) -> String {
    if line.starts_with(';') {
        return format!("{line}\n");
    }
    match line.split_once(" = ") {
        // rspirv puts two spaces on either side of the result type.
        Some((id, rest)) if id.starts_with('%') => format!("{id:>10} = {}\n", rest.replacen("  ", " ", 2)),
        _ => format!("{:13}{line}\n", ""),
    }
}

#[cfg(test)]
mod tests {
    use super::in_columns;

    #[test]
    fn lines_fall_into_columns() {
        assert_eq!(in_columns("%8 = OpVariable  %7  Input"), "        %8 = OpVariable %7 Input\n");
        assert_eq!(in_columns("OpStore %40 %39"), "             OpStore %40 %39\n");
        assert_eq!(in_columns("; Bound: 9"), "; Bound: 9\n");
    }
}
