//! Debug information for texts with unusual lines: `#line` directives beyond the text, backwards and with names;
//! characters that some consider ends of lines or strings. The modules must be valid: `spirv-val` looks each
//! `DebugLine` up in the source text.

use crosslane::backend::DebugInfo;
use crosslane::compile::{Artifact, Input, Language, Options, Verdict, compile};
use crosslane::diagnostic::render;
use crosslane::source::NoIncludes;

use support::rival::PROFILES;
use support::{compiler, judge};

/// The shader's name, which a directive may also use.
const NAME: &str = "shader.comp";

/// A shader with places for insertions: before the first declaration, before `main`, in `main`, and before its last
/// statement.
const SHADER: [&str; 5] = [
    "#version 450\n#extension GL_GOOGLE_cpp_style_line_directive : enable\n",
    "layout(local_size_x = 1) in;\nlayout(binding = 0) buffer Out { uint o[]; };\nstruct S { uint a; };\n\
     uint f(uint x) {\n    return x + 1u;\n}\n",
    "void main() {\n    uint v = o[1];\n",
    "    { uint w = f(v); S s; s.a = w; o[0] = v + w + s.a; }\n",
    "    o[2] = v;\n}\n",
];

/// The insertions.
const INSERTED: &[[&str; 4]] = &[
    ["", "", "#line 100\n", ""],
    ["", "", "#line 0\n", ""],
    ["#line 0\n", "", "", ""],
    ["", "#line 2\n", "#line 1\n", "#line 3\n"],
    ["", "", "    o[3] = v +\n#line 20\n  f(\n#line 3\n v);\n", ""],
    ["", "", "        o[3] =    v +\n#line 5\n                f(\n#line 5\n v);\n", ""],
    ["", "", "#line 4294967294\n\n\n", ""],
    ["", "#line 7 \"other.glsl\"\n", "#line 100 \"shader.comp\"\n", ""],
    ["", "#line 700 \"shader.comp\"\n", "", "#line 5 \"shader.comp\"\n"],
    ["", "#line 5 1\n", "#line 500 0\n", ""],
    ["// a\0b\n", "/* \0 */", "", ""],
    ["// \x0c\x0b x\n\x0c", "", "", ""],
    ["/* \u{e4}\u{6f22}\u{1f600} */", "", "/* \u{e4}\u{2028}\u{85} */", ""],
    ["", "", "    o[2] = v + \\\n  3u; // a \\\n b\n", ""],
    ["#define M(x) { uint q = x; \\\n  o[4] = q; }\n", "", "    M(v)\n", ""],
];

/// Line endings that replace `\n`.
const ENDS: [&str; 3] = ["\n", "\r\n", "\r"];

pub fn check() -> Result<(), String> {
    let texts = INSERTED.iter().flat_map(|inserted| ENDS.map(|end| text(inserted).replace('\n', end)));
    texts.chain(long()).try_for_each(|text| valid(&text).map_err(|e| format!("{:.400}\n{e}", text.escape_debug())))
}

fn text(inserted: &[&str; 4]) -> String {
    let between = inserted.iter().chain(&[""]);
    SHADER.iter().zip(between).flat_map(|(part, inserted)| [*part, *inserted]).collect()
}

/// Texts and lines that are too long for a single instruction.
fn long() -> [String; 3] {
    let line = format!("/*{}*/ o[2] = v;\n", "x".repeat(300_000));
    let lines = "// yyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyyy\r\n".repeat(9000);
    let returns = format!("/*{}*/", format!("{}\r", "y".repeat(999)).repeat(600));
    [["", "", &line, ""], [&lines, "", "", ""], [&returns, "", "", ""]].map(|inserted| text(&inserted))
}

fn valid(text: &str) -> Result<(), String> {
    let profiles = PROFILES.into_iter().filter(|(profile, _)| profile.starts_with("spirv-1.6"));
    profiles.into_iter().try_for_each(|(profile, environment)| {
        let options = Options { debug: DebugInfo::Full, ..compiler::named(profile)? };
        let input = Input { name: NAME, bytes: text.as_bytes(), language: Language::Glsl };
        let done = compile(&input, &options, &NoIncludes);
        let Verdict::Done(Artifact::Spirv(words)) = done.verdict else {
            return Err(render::human(&done.sources, &done.diagnostics));
        };
        judge::spirv_val(&words, environment, true)?;
        judge::newest_spirv_val(&words, environment, true).map_err(|e| format!("newest: {e}"))
    })
}
