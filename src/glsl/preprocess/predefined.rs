//! Macros that no line of the shader defines (GLSL 4.60 section 3.3), resolved when a shader first uses their name.

use super::{Dialects, Preprocessor, extension};
use crate::glsl::lex::{PpKind, PpToken};
use crate::glsl::token::{GlslProfile, Interner, Symbol, Version};
use crate::ir::Stage;
use crate::source::Span;

/// The value of a predefined macro.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Builtin {
    Line,
    File,
    Version,
    Value(u32),
}

/// Names that the preprocessor itself defines, and that shaders cannot define or undefine.
pub(super) fn is_fixed(name: &str) -> bool {
    matches!(name, "__LINE__" | "__FILE__" | "__VERSION__" | "defined")
}

/// The predefined macro of this name.
pub(super) fn find(
    name: Symbol,
    words: &Interner,
    version: Version,
    stage: Stage,
    dialects: &dyn Dialects,
) -> Option<Builtin> {
    match words.bytes(name) {
        b"__LINE__" => Some(Builtin::Line),
        b"__FILE__" => Some(Builtin::File),
        b"__VERSION__" => Some(Builtin::Version),
        b"VULKAN" => dialects.client("VULKAN").map(Builtin::Value),
        [b'G', b'L', b'_', ..] => gl_macro(words.text(name), version.profile, stage, dialects).map(Builtin::Value),
        bytes if bytes.starts_with(b"CROSSLANE_") => dialects.predefined(words.text(name)).map(Builtin::Value),
        _ => None,
    }
}

fn gl_macro(name: &str, profile: GlslProfile, stage: Stage, dialects: &dyn Dialects) -> Option<u32> {
    let es = profile == GlslProfile::Es;
    match name {
        "GL_core_profile" => (!es).then_some(1),
        "GL_compatibility_profile" => (profile == GlslProfile::Compatibility).then_some(1),
        _ if is_of_stage(name, stage) => (!es).then_some(1),
        "GL_ES" | "GL_es_profile" | "GL_FRAGMENT_PRECISION_HIGH" => es.then_some(1),
        _ if dialects.client(name).is_some() => dialects.client(name),
        _ => extension::find(name, dialects).filter(|info| info.unavailable.is_none()).map(|info| info.value),
    }
}

/// Returns true for the macro of a stage, such as `GL_VERTEX_SHADER` and, for stages from extensions,
/// `GL_ANY_HIT_SHADER_EXT` (as in glslang, whose headers for GL_EXT_spirv_intrinsics need them).
fn is_of_stage(name: &str, stage: Stage) -> bool {
    let ending = if stage >= Stage::Task { "_SHADER_EXT" } else { "_SHADER" };
    let word = name.strip_prefix("GL_").and_then(|name| name.strip_suffix(ending));
    word.is_some_and(|word| {
        let spelled = stage.name().bytes().map(|c| if c.is_ascii_lowercase() { c.to_ascii_uppercase() } else { b'_' });
        word.bytes().eq(spelled)
    })
}

impl Preprocessor<'_> {
    /// The value of a predefined macro at `name`.
    pub(super) fn builtin(&mut self, builtin: Builtin, name: PpToken) -> PpToken {
        let kind = match builtin {
            Builtin::Value(value) => self.number(value),
            Builtin::Version => self.number(u32::from(self.output.version.number)),
            Builtin::Line => {
                let line = self.sources.locate(last_byte(name.span)).map_or(0, |at| at.line);
                self.number(line)
            }
            Builtin::File if self.file_names => {
                let file = self.sources.locate(last_byte(name.span)).map_or("".into(), |at| at.file);
                PpKind::String(self.interner.intern(&file))
            }
            Builtin::File => {
                let number = self.input().string_number;
                self.number(number)
            }
        };
        name.with(kind)
    }

    fn number(&mut self, value: u32) -> PpKind {
        PpKind::Number(self.interner.intern(&value.to_string()))
    }
}

/// The line of a multi-line macro call is its last line.
fn last_byte(span: Span) -> u32 {
    span.hi.max(span.lo + 1) - 1
}
