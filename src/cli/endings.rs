//! The endings that file names have by custom, and what they promise of the contents. A file whose name promises something
//! else than what would be written is refused: `-o shader.wgsl` does not translate to WGSL.

use super::CommandError;
use super::args::Emit;
use crate::profile::Target;
use std::path::Path;

/// What is written to a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    Spirv,
    SpirvText,
    Glasm,
    AmdAssembly,
    CodeObject,
    Reflection,
    Ir,
    Kernel,
    Preprocessed,
    Dependencies,
    Html,
    Ninja,
}

impl Format {
    /// As messages call it.
    fn name(self) -> &'static str {
        match self {
            Format::Spirv => "a SPIR-V module",
            Format::SpirvText => "SPIR-V as text",
            Format::Glasm => "NVIDIA assembly",
            Format::AmdAssembly => "AMD assembly",
            Format::CodeObject => "an AMD code object",
            Format::Reflection => "a reflection in JSON",
            Format::Ir => "the intermediate form",
            Format::Kernel => "the kernel form",
            Format::Preprocessed => "preprocessed GLSL",
            Format::Dependencies => "the names of dependencies",
            Format::Html => "a page in HTML",
            Format::Ninja => "a file for ninja",
        }
    }

    /// What `--emit` writes, where it does not depend on the target.
    pub fn of_emit(emit: Emit) -> Option<Format> {
        match emit {
            Emit::Hsaco => Some(Format::CodeObject),
            Emit::Ir => Some(Format::Ir),
            Emit::Kernel => Some(Format::Kernel),
            Emit::Reflection => Some(Format::Reflection),
            Emit::Preprocessed => Some(Format::Preprocessed),
            Emit::Spirv | Emit::SpirvText | Emit::Nv | Emit::S => None,
        }
    }

    /// What a target writes.
    pub fn of_target(target: Target, is_assembly: bool) -> Format {
        match target {
            Target::Spirv if is_assembly => Format::SpirvText,
            Target::Spirv => Format::Spirv,
            Target::Nv => Format::Glasm,
            Target::Amd => Format::AmdAssembly,
        }
    }
}

/// Endings with the formats that they are right for; none where nothing here writes what they promise.
static ENDINGS: &[(&str, &[Format])] = &[
    ("spv", &[Format::Spirv]),
    ("spvasm", &[Format::SpirvText]),
    ("glasm", &[Format::Glasm]),
    ("s", &[Format::SpirvText, Format::Glasm, Format::AmdAssembly]),
    ("asm", &[Format::SpirvText, Format::Glasm, Format::AmdAssembly]),
    ("hsaco", &[Format::CodeObject]),
    ("co", &[Format::CodeObject]),
    ("o", &[Format::Spirv, Format::CodeObject]),
    ("json", &[Format::Reflection, Format::Dependencies]),
    ("ir", &[Format::Ir, Format::Kernel]),
    ("d", &[Format::Dependencies]),
    ("html", &[Format::Html]),
    ("htm", &[Format::Html]),
    ("ninja", &[Format::Ninja]),
    // GLSL.
    ("glsl", &[Format::Preprocessed]),
    ("comp", &[Format::Preprocessed]),
    ("vert", &[Format::Preprocessed]),
    ("frag", &[Format::Preprocessed]),
    ("tesc", &[Format::Preprocessed]),
    ("tese", &[Format::Preprocessed]),
    ("geom", &[Format::Preprocessed]),
    ("mesh", &[Format::Preprocessed]),
    ("task", &[Format::Preprocessed]),
    // Other shading languages, and what other compilers make.
    ("wgsl", &[]),
    ("hlsl", &[]),
    ("metal", &[]),
    ("msl", &[]),
    ("air", &[]),
    ("metallib", &[]),
    ("slang", &[]),
    ("cl", &[]),
    ("cu", &[]),
    ("hip", &[]),
    ("ptx", &[]),
    ("cubin", &[]),
    ("fatbin", &[]),
    ("dxil", &[]),
    ("dxbc", &[]),
    ("cso", &[]),
    ("ll", &[]),
    ("bc", &[]),
    // Source text of programs.
    ("c", &[]),
    ("h", &[]),
    ("cpp", &[]),
    ("hpp", &[]),
    ("rs", &[]),
    ("toml", &[]),
];

/// # Errors
/// When the ending of an output's name promises another format. An ending that is not in the table promises nothing.
pub fn check(path: &Path, format: Format) -> Result<(), CommandError> {
    let Some(ending) = path.extension().and_then(|ending| ending.to_str()) else { return Ok(()) };
    let known = ENDINGS.iter().find(|(known, _)| ending.eq_ignore_ascii_case(known));
    match known {
        Some((_, right)) if !right.contains(&format) => Err(contradiction(path, ending, format, right)),
        _ => Ok(()),
    }
}

fn contradiction(path: &Path, ending: &str, format: Format, right: &[Format]) -> CommandError {
    let promise = match right {
        [] => "crosslane writes no such files".to_string(),
        right => {
            format!("that ending is for {}", right.iter().map(|format| format.name()).collect::<Vec<_>>().join(" or "))
        }
    };
    CommandError(format!("{}: what would be written is {}, not .{ending}: {promise}", path.display(), format.name()))
}
