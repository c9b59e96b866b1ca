//! SPIR-V binaries as bytes, or as text for C compilers.

use super::args::{DialectArgs, WordForm};

/// The words in the format that the options select: bytes, or the text formats of glslc (`num`, `c`) and glslang.
pub fn written(words: &[u32], args: &DialectArgs) -> Vec<u8> {
    match (&args.array_name, args.words) {
        (Some(name), _) => format!("\t#pragma once\nconst uint32_t {name}[] = {{\n{}}};\n", lines(words)).into_bytes(),
        (None, WordForm::Bin) => words.iter().flat_map(|word| word.to_le_bytes()).collect(),
        (None, WordForm::Num) => (list(words) + "\n").into_bytes(),
        (None, WordForm::C) => format!("{{{}}}\n", list(words)).into_bytes(),
        (None, WordForm::Lines) => lines(words).into_bytes(),
    }
}

/// Four numbers a line, with commas between.
fn list(words: &[u32]) -> String {
    let numbers: Vec<String> = words.iter().map(|word| format!("{word:#010x}")).collect();
    numbers.chunks(4).map(|line| line.join(",")).collect::<Vec<_>>().join(",\n")
}

/// Eight numbers a line, each line after a tab.
fn lines(words: &[u32]) -> String {
    let numbers: Vec<String> = words.iter().map(|word| format!("{word:#010x}")).collect();
    let lines: Vec<String> = numbers.chunks(8).map(|line| format!("\t{}", line.join(","))).collect();
    lines.join(",\n") + "\n"
}
