//! Floats of at most 16 bits in listings. rspirv prints their constants as 32-bit floats or as integers, and cannot
//! parse types of fewer than 16 bits. `bfloat16_t` replaces such types for rspirv, and this module writes the lines of
//! all of them.

use super::encoded::{name, number};
use super::listing::in_columns;
use super::unknown::{HEADER, instructions};
use crate::ir::{Encoding, Format};
use rspirv::spirv::{FPEncoding, Op, Word};
use rustc_hash::FxHashMap;

/// The lines of types and constants, by their ids.
#[derive(Default)]
pub struct SmallFloats(FxHashMap<Word, String>);

const TYPE: Word = Op::TypeFloat as Word;
const CONSTANT: Word = Op::Constant as Word;
const SPEC_CONSTANT: Word = Op::SpecConstant as Word;

impl SmallFloats {
    /// The module as rspirv reads it, and the lines that it shows otherwise.
    pub fn replaced(words: &[Word]) -> (Vec<Word>, SmallFloats) {
        let (mut known, mut lines) = (words[..HEADER.min(words.len())].to_vec(), FxHashMap::default());
        let mut formats: FxHashMap<Word, Format> = FxHashMap::default();
        for (_, instruction) in instructions(words) {
            let opcode = instruction[0] & 0xffff;
            match *instruction {
                [_, id, width @ ..=16, ref encoding @ ..] if opcode == TYPE => {
                    formats.extend(format(encoding).map(|format| (id, format)));
                    let words = std::iter::once(width.to_string()).chain(encoding.iter().map(|number| name(*number)));
                    lines.insert(id, format!("%{id} = OpTypeFloat {}", words.collect::<Vec<_>>().join(" ")));
                    known.extend([4 << 16 | TYPE, id, 16, FPEncoding::BFloat16KHR as Word]);
                    continue;
                }
                [_, ty, id, bits] if matches!(opcode, CONSTANT | SPEC_CONSTANT) => {
                    if let Some(format) = formats.get(&ty) {
                        let spec = if opcode == SPEC_CONSTANT { "Spec" } else { "" };
                        let value = value(*format, bits);
                        lines.insert(id, format!("%{id} = Op{spec}Constant %{ty} {value}"));
                    }
                }
                _ => {}
            }
            known.extend_from_slice(instruction);
        }
        (known, SmallFloats(lines))
    }

    /// The text of the module with these lines.
    pub fn put_back(&self, text: String) -> String {
        if self.0.is_empty() {
            return text;
        }
        let line = |line: &str| {
            let id = line.trim_start().strip_prefix('%').and_then(|rest| rest.split(' ').next()?.parse().ok());
            id.and_then(|id: Word| self.0.get(&id)).map_or_else(|| format!("{line}\n"), |own| in_columns(own))
        };
        text.lines().map(line).collect()
    }
}

/// The format given by the operands of a type after its width.
fn format(encoding: &[Word]) -> Option<Format> {
    match encoding {
        [] => Some(Format::HALF),
        [encoding] => Encoding::ALL.into_iter().find(|known| number(*known) == *encoding).map(Encoding::format),
        _ => None,
    }
}

/// The number for some bits, or the bits if it is an infinity or a NaN.
fn value(format: Format, bits: Word) -> String {
    let value = format.decode(bits.into());
    if value.is_finite() { value.to_string() } else { format!("{bits:#x}") }
}

#[cfg(test)]
mod tests {
    use crate::backend::spirv::disassemble;

    #[test]
    fn constants_are_listed_by_their_values() {
        let head = [0x0723_0203, 0x0001_0600, 0, 20, 0];
        let types = [4 << 16 | 22, 5, 8, 4214, 4 << 16 | 22, 6, 4, 4225, 3 << 16 | 22, 7, 16, 4 << 16 | 22, 4, 16, 0];
        let constants = [4 << 16 | 43, 5, 8, 0x7e, 4 << 16 | 43, 6, 9, 11, 4 << 16 | 43, 7, 10, 0x3e00];
        let others = [4 << 16 | 50, 4, 11, 0x3fa0, 4 << 16 | 43, 7, 12, 0x7c00];
        let text = disassemble(&[&head[..], &types, &constants, &others].concat()).expect("a module");
        let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| line.starts_with('%')).collect();
        let expected = [
            "%5 = OpTypeFloat 8 Float8E4M3EXT",
            "%6 = OpTypeFloat 4 Float4E2M1EXT",
            "%7 = OpTypeFloat 16",
            "%4 = OpTypeFloat 16 BFloat16KHR",
            "%8 = OpConstant %5 448",
            "%9 = OpConstant %6 -1.5",
            "%10 = OpConstant %7 1.5",
            "%11 = OpSpecConstant %4 1.25",
            "%12 = OpConstant %7 0x7c00",
        ];
        assert_eq!(lines, expected);
    }
}
