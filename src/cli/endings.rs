//! The usual file extensions and the formats that they imply. An output whose extension implies another format is
//! refused: `-o shader.wgsl` does not translate to WGSL.

use super::CommandError;
use super::args::Emit;
use crate::compile::EmitKind;
use crate::profile::Target;
use std::path::Path;

/// The format of a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    Spirv,
    SpirvText,
    NvAssembly,
    AmdAssembly,
    Ptx,
    Cubin,
    Wgsl,
    Glsl,
    Hlsl,
    Msl,
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
    /// The name in messages.
    pub fn name(self) -> &'static str {
        match self {
            Format::Spirv => "a SPIR-V module",
            Format::SpirvText => "SPIR-V as text",
            Format::NvAssembly => "NVIDIA assembly",
            Format::AmdAssembly => "AMD assembly",
            Format::Ptx => "PTX",
            Format::Cubin => "a cubin",
            Format::Wgsl => "WGSL",
            Format::Glsl => "GLSL",
            Format::Hlsl => "HLSL",
            Format::Msl => "MSL",
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

    /// The default extension of its files: the first one that fits it.
    pub fn ending(self) -> &'static str {
        let found = ENDINGS.iter().find(|(_, formats)| formats.contains(&self));
        found.expect("every format has an ending").0
    }

    /// The format of a target's output, as text or binary; some targets only have text.
    pub fn of_target(target: Target, is_assembly: bool) -> Format {
        let of_target = || FORMS.iter().filter(|form| form.target == Some(target));
        let form =
            of_target().find(|form| is_assembly && form.kind == EmitKind::Assembly).or_else(|| of_target().next());
        form.expect("each target has a form").format
    }
}

/// A form of output.
pub struct Form {
    emit: Emit,
    /// The only target whose profiles produce it, if it is specific to one.
    pub target: Option<Target>,
    pub kind: EmitKind,
    pub format: Format,
}

const fn form(emit: Emit, target: Option<Target>, kind: EmitKind, format: Format) -> Form {
    Form { emit, target, kind, format }
}

/// Every form; the first of a target is its default.
static FORMS: &[Form] = &[
    form(Emit::Spirv, Some(Target::Spirv), EmitKind::Binary, Format::Spirv),
    form(Emit::SpirvText, Some(Target::Spirv), EmitKind::Assembly, Format::SpirvText),
    form(Emit::Nv, Some(Target::Nv), EmitKind::Binary, Format::NvAssembly),
    form(Emit::S, Some(Target::Amd), EmitKind::Binary, Format::AmdAssembly),
    form(Emit::Hsaco, Some(Target::Amd), EmitKind::Binary, Format::CodeObject),
    form(Emit::Ptx, Some(Target::Ptx), EmitKind::Binary, Format::Ptx),
    form(Emit::Cubin, Some(Target::Ptx), EmitKind::Binary, Format::Cubin),
    form(Emit::Wgsl, Some(Target::Wgsl), EmitKind::Binary, Format::Wgsl),
    form(Emit::Glsl, Some(Target::Glsl), EmitKind::Binary, Format::Glsl),
    form(Emit::Hlsl, Some(Target::Hlsl), EmitKind::Binary, Format::Hlsl),
    form(Emit::Msl, Some(Target::Msl), EmitKind::Binary, Format::Msl),
    form(Emit::Ir, None, EmitKind::Ir, Format::Ir),
    form(Emit::Kernel, None, EmitKind::Kernel, Format::Kernel),
    form(Emit::Reflection, None, EmitKind::Reflection, Format::Reflection),
    form(Emit::Preprocessed, None, EmitKind::Preprocessed, Format::Preprocessed),
];

impl Emit {
    /// The form that `--emit` selects.
    pub fn form(self) -> &'static Form {
        FORMS.iter().find(|form| form.emit == self).expect("every form has a row")
    }
}

/// Extensions and the formats that they fit; none if crosslane does not write the format.
static ENDINGS: &[(&str, &[Format])] = &[
    ("spv", &[Format::Spirv]),
    ("spvasm", &[Format::SpirvText]),
    ("glasm", &[Format::NvAssembly]),
    ("s", &[Format::SpirvText, Format::NvAssembly, Format::AmdAssembly]),
    ("asm", &[Format::SpirvText, Format::NvAssembly, Format::AmdAssembly]),
    ("ptx", &[Format::Ptx]),
    ("cubin", &[Format::Cubin]),
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
    ("glsl", &[Format::Glsl, Format::Preprocessed]),
    ("comp", &[Format::Glsl, Format::Preprocessed]),
    ("vert", &[Format::Glsl, Format::Preprocessed]),
    ("frag", &[Format::Glsl, Format::Preprocessed]),
    ("tesc", &[Format::Preprocessed]),
    ("tese", &[Format::Preprocessed]),
    ("geom", &[Format::Preprocessed]),
    ("mesh", &[Format::Preprocessed]),
    ("task", &[Format::Preprocessed]),
    ("rgen", &[Format::Preprocessed]),
    ("rint", &[Format::Preprocessed]),
    ("rahit", &[Format::Preprocessed]),
    ("rchit", &[Format::Preprocessed]),
    ("rmiss", &[Format::Preprocessed]),
    ("rcall", &[Format::Preprocessed]),
    // Other shading languages, and outputs of other compilers.
    ("wgsl", &[Format::Wgsl]),
    ("hlsl", &[Format::Hlsl]),
    ("metal", &[Format::Msl]),
    ("msl", &[Format::Msl]),
    ("air", &[]),
    ("metallib", &[]),
    ("slang", &[]),
    ("cl", &[]),
    ("cu", &[]),
    ("hip", &[]),
    ("fatbin", &[]),
    ("dxil", &[]),
    ("dxbc", &[]),
    ("cso", &[]),
    ("ll", &[]),
    ("bc", &[]),
    // Source code of programs.
    ("c", &[]),
    ("h", &[]),
    ("cpp", &[]),
    ("hpp", &[]),
    ("rs", &[]),
    ("toml", &[]),
];

/// The default profile for an output's extension.
pub fn profile(path: &Path) -> Option<&'static str> {
    let ending = path.extension()?.to_str()?;
    let (_, formats) = ENDINGS.iter().find(|(known, _)| ending.eq_ignore_ascii_case(known))?;
    let made = FORMS.iter().find(|form| formats.contains(&form.format))?;
    made.target?.row().profile
}

/// The kind of an input by its extension, if crosslane cannot read it.
pub fn unreadable(path: &Path) -> Option<String> {
    let ending = path.extension()?.to_str()?;
    let (known, formats) = ENDINGS.iter().find(|(known, _)| ending.eq_ignore_ascii_case(known))?;
    Some(formats.first().map_or_else(|| format!("a .{known} file"), |format| format.name().to_string()))
}

/// # Errors
/// Returns an error if the extension of an output implies another format. Extensions that are not in the table are
/// accepted.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_target_writes_files_with_its_own_ending() {
        for target in Target::ALL {
            let path = format!("a{}", target.row().ending);
            assert!(check(Path::new(&path), Format::of_target(target, false)).is_ok(), "{path}");
            assert_eq!(Format::of_target(target, false).ending(), &target.row().ending[1..]);
            assert_eq!(Format::of_target(target, true).ending(), &target.row().text_ending[1..]);
        }
    }
}
