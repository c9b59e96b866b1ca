//! Comments and lines of the source in shading languages: `--comments` and `--line-directives`.

use crosslane::backend::{Artifact, Manner, Notes};
use crosslane::compile::{Input, Language, Options, Verdict, compile};
use crosslane::ir::Stage;
use crosslane::profile::Profile;
use crosslane::source::NoIncludes;
use std::path::{Path, PathBuf};
use support::fixture;

use crate::folder::{Folder, status, stderr};

const SHADER: &str = "// Licence of the file.

#version 450

/* The material,
 * in two lines. */
layout(set = 0, binding = 0) uniform Material {
    vec4 color; // linear
    // From 0 to 1.
    float roughness;
} material;

// The albedo.
layout(set = 0, binding = 1) uniform sampler2D albedo; // sRGB
layout(location = 0) in vec2 uv; // from 0 to 1
layout(location = 0) out vec4 result;

#if 0
// Left out.
#endif
const int COUNT = 4; // folded

// Lambert's law.
float lambert(vec3 light, vec3 n) {
    // Clamp the back side.
    float d = dot(n, light);
    return max(d, 0.0); // done
}

void main() {
    vec4 texel = texture(albedo, uv); // the texel
    // Go round.
    for (int i = 0; i < COUNT; i++) {
        // Add up.
        texel.rgb += lambert(vec3(0, 0, 1), texel.xyz);
        // At the end of the loop.
    }
    if (texel.a < 0.5) {
        discard;
    }
    // Otherwise.
    else if (texel.a < 0.7) {
        texel.a = 0.7; /* least */
    }
    result = texel * material.color * material.roughness;
}
";

fn compiled(name: &str, profile: &str, options: &[&str]) -> String {
    let folder = Folder::new(&format!("notes-{name}-{profile}"));
    folder.file("a.frag", SHADER);
    let output = folder.run(&[&["compile", "a.frag", "-p", profile, "-o", "-"], options].concat());
    assert_eq!(status(&output), 0, "{}", stderr(&output));
    String::from_utf8(output.stdout).expect("a text")
}

/// The lines with a comment, without their margins.
fn commented(text: &str) -> Vec<&str> {
    text.lines()
        .map(str::trim)
        .filter(|line| line.contains("//") || line.contains("/*") || line.ends_with("*/"))
        .collect()
}

#[test]
fn comments_stay_with_what_they_are_about() {
    let text = compiled("comments", "glsl", &["--comments"]);
    let expected = [
        "// Licence of the file.",
        "/* The material,",
        "* in two lines. */",
        "vec4 color; // linear",
        "// From 0 to 1.",
        "// The albedo.",
        "layout(set = 0, binding = 1) uniform sampler2D albedo; // sRGB",
        "layout(location = 0) in vec2 uv; // from 0 to 1",
        "// Lambert's law.",
        "// Clamp the back side.",
        "return max(d, 0.0); // done",
        "vec4 texel = texture(albedo, uv); // the texel",
        "// Go round.",
        "// Add up.",
        "// At the end of the loop.",
        "// Otherwise.",
        "texel.w = 0.7; /* least */",
    ];
    assert_eq!(commented(&text), expected, "{text}");
    let pairs = [
        ("// From 0 to 1.\n", "    float roughness;"),
        ("// Go round.\n", "    for (int i = 0; i < 4; i++) {"),
        ("// At the end of the loop.\n", "    }"),
        ("} else if (texel.w < 0.7) {\n", "        // Otherwise."),
    ];
    for (first, second) in pairs {
        assert!(text.contains(&format!("{first}{second}")), "{first}{second}: {text}");
    }
}

#[test]
fn members_and_arguments_keep_theirs_in_every_language() {
    let hold = |profile: &str, lines: &[&str]| {
        let text = compiled("languages", profile, &["--comments"]);
        lines.iter().for_each(|line| assert!(text.contains(line), "{line}: {text}"));
    };
    hold("hlsl-6.6", &["    float4 color; // linear\n    // From 0 to 1.\n", "    float2 uv : LOC0; // from 0 to 1\n"]);
    hold("msl-3.0", &["    // The albedo.\n    // sRGB\n    texture2d<float> albedo [[texture(0)]]"]);
    hold("wgsl", &["// The albedo.\n@group(0) @binding(1) var albedo: texture_2d<f32>; // sRGB\n"]);
}

/// The line numbers that directives give the lines of a text, as a preprocessor counts them.
fn numbered(text: &str) -> Vec<(usize, &str)> {
    let mut number = None;
    let mut lines = Vec::new();
    for line in text.lines() {
        if let Some(rest) = line.strip_prefix("#line ") {
            number = rest.split(' ').next().and_then(|word| word.parse().ok());
        } else {
            lines.extend(number.map(|number| (number, line.trim())));
            number = number.map(|number: usize| number + 1);
        }
    }
    lines
}

#[test]
fn directives_give_statements_the_lines_of_their_source() {
    for (profile, named) in [
        ("glsl", "#line 24 \"a.frag\""),
        ("hlsl-6.6", "#line 24 \"a.frag\""),
        ("msl-3.0", "#line 24 \"a.frag\""),
        ("glsl-es-320-khr", "#line 24 0"),
    ] {
        let text = compiled("lines", profile, &["--line-directives"]);
        assert!(text.contains(named), "{text}");
        let numbered = numbered(&text);
        let line_of = |part: &str| numbered.iter().find(|(_, line)| line.contains(part)).map(|(number, _)| *number);
        let source = |part: &str| SHADER.lines().position(|line| line.contains(part)).map(|index| index + 1);
        for (part, of) in [
            ("return max(", "return max("),
            ("for (int", "for (int"),
            (" += lambert(", " += lambert("),
            ("texel.w = 0.7", "texel.a = 0.7"),
            ("result = ", "result = "),
        ] {
            assert_eq!(line_of(part), source(of), "{part}: {text}");
        }
    }
    assert_eq!(compiled("lines", "wgsl", &["--line-directives"]), compiled("lines-off", "wgsl", &[]));
}

/// A text without comments, empty lines, line directives and trailing white space.
fn bare(text: &str) -> String {
    let mut rest = text;
    let mut kept = String::new();
    while !rest.is_empty() {
        let length = match rest {
            _ if rest.starts_with("//") || rest.starts_with("#line ") => rest.find('\n').unwrap_or(rest.len()),
            _ if rest.starts_with("/*") => rest.find("*/").map_or(rest.len(), |end| end + 2),
            _ => {
                let next = rest.chars().next().map_or(0, char::len_utf8);
                kept.push_str(&rest[..next]);
                next
            }
        };
        rest = &rest[length..];
    }
    kept.lines().map(str::trim_end).filter(|line| !line.trim().is_empty()).map(|line| line.to_string() + "\n").collect()
}

/// Enabling comments and directives changes only comments and directives.
#[test]
fn every_fixture_says_the_same_with_them() {
    let folders = fixture::FOLDERS.iter().chain(&["opengl", "wgsl"]);
    let paths: Vec<PathBuf> = folders.flat_map(|folder| fixture::files(&format!("fixtures/{folder}"))).collect();
    let mut seen = 0;
    for path in &paths {
        let bytes = std::fs::read(path).expect("a fixture");
        for profile in ["glsl-450-khr", "hlsl-6.7", "msl-3.1", "wgsl"] {
            let Some(plain) = text_of(path, &bytes, profile, Notes::default()) else { continue };
            let noted = text_of(path, &bytes, profile, Notes { comments: true, lines: true }).expect("as without them");
            let head = "#extension GL_GOOGLE_cpp_style_line_directive : require\n";
            assert_eq!(bare(&noted).replace(head, ""), bare(&plain), "{} for {profile}\n{noted}", path.display());
            seen += usize::from(noted.len() > plain.len());
        }
    }
    assert!(seen > paths.len(), "{seen} texts have notes");
}

fn text_of(path: &Path, bytes: &[u8], profile: &str, notes: Notes) -> Option<String> {
    let ending = path.extension().and_then(|ending| ending.to_str());
    let language = if ending == Some("wgsl") { Language::Wgsl } else { Language::Glsl };
    let stage = ending.and_then(Stage::named);
    let manner = Manner { notes, ..Manner::default() };
    let options = Options { stage, manner, ..Options::new(Profile::named(profile).expect("a profile")) };
    let input = Input { name: "shader", bytes, language };
    match compile(&input, &options, &NoIncludes).verdict {
        Verdict::Done(Artifact::Text(text)) => Some(text),
        _ => None,
    }
}
