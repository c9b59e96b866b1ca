//! `#version`, `#extension`, `#pragma`, `#error`, `#line`, and lines that are not directives.

use super::*;
use crate::glsl::token::ExtensionBehavior;
use crate::limits::Limits;

fn version_of(text: &str) -> (Version, Vec<Code>) {
    let outcome = run_with(text, &NoIncludes, &[]);
    let codes = outcome.codes();
    (outcome.stream.version, codes)
}

#[test]
fn versions_that_are_supported() {
    let cases = [
        ("#version 450", 450, GlslProfile::Core),
        ("\u{feff}// c\r\n  # version 430 core\r\n", 430, GlslProfile::Core),
        ("/* a\n */#version 460 compatibility // x", 460, GlslProfile::Compatibility),
        ("#version 310 es", 310, GlslProfile::Es),
        (" #version 320 es", 320, GlslProfile::Es),
    ];
    for (text, number, profile) in cases {
        let (version, codes) = version_of(text);
        assert_eq!((version.number, version.profile), (number, profile), "{text}");
        assert_eq!(codes, [], "{text}");
    }
}

#[test]
fn versions_that_are_not() {
    for text in [
        "#version 110",
        "#version 300 es",
        "#version 310",
        "#version 450 es",
        "#version",
        "#version x",
        "#version 450 core 1",
    ] {
        assert_eq!(version_of(text).1, [Code::VERSION_UNSUPPORTED], "{text}");
    }
    assert_eq!(version_of("").1, [Code::VERSION_MISSING]);
    assert_eq!(version_of("void main() {}").1, [Code::VERSION_MISSING]);
    assert_eq!(version_of("#define A\n#version 450").1, [Code::VERSION_MISSING, Code::VERSION_PLACE]);
    assert_eq!(version_of("#version 450\n#version 450").1, [Code::VERSION_PLACE]);
    assert_eq!(version_of("\n#version 310 es").1, [Code::VERSION_PLACE]);
}

#[test]
fn a_default_version_replaces_a_missing_line() {
    let default = Version { number: 320, profile: GlslProfile::Es, span: Span::NONE };
    let mut sources = SourceMap::new();
    let main = sources.add("m", "__VERSION__ GL_ES").unwrap();
    let (mut interner, mut diagnostics) = (Interner::new(), Diagnostics::new());
    let options = PreprocessOptions {
        dialects: &TestDialects,
        stage: None,
        macros: &[],
        default_version: Some(default),
        forced_version: None,
        names_profile: None,
        preamble: "",
        limits: Limits::default(),
    };
    let stream = preprocess(main, &mut sources, &NoIncludes, &options, &mut interner, &mut diagnostics);
    assert_eq!(spell(&stream, &interner), "320 1");
    assert!(!diagnostics.has_errors());
}

#[test]
fn extensions_are_recorded_with_their_place() {
    let outcome = run("#extension GL_CROSSLANE_shuffle : require\n#extension all : warn\na\nb");
    let uses: Vec<_> =
        outcome.stream.extensions.iter().map(|e| (outcome.interner.text(e.name), e.behavior, e.token)).collect();
    let expected = [("GL_CROSSLANE_shuffle", ExtensionBehavior::Require, 0), ("all", ExtensionBehavior::Warn, 0)];
    assert_eq!(uses, expected);
    assert_eq!(outcome.codes(), []);
}

#[test]
fn extensions_that_cannot_be_had() {
    gives("#extension GL_NO : require", &[Code::EXTENSION_UNKNOWN]);
    gives("#extension GL_NO : enable", &[Code::EXTENSION_IGNORED]);
    gives("#extension GL_NO : warn\n#extension GL_NO : disable", &[Code::EXTENSION_IGNORED; 2]);
    let outcome = gives("#extension GL_CROSSLANE_permute : require", &[Code::PROFILE_LACKS]);
    assert!(outcome.messages().contains("no permute here"));
    let outcome = gives("#extension GL_CROSSLANE_shufle : require", &[Code::EXTENSION_UNKNOWN]);
    assert!(outcome.messages().contains("did you mean `GL_CROSSLANE_shuffle`?"));
    assert!(outcome.stream.extensions.is_empty());
}

#[test]
fn extension_lines_have_one_form() {
    gives("#extension all : require", &[Code::EXTENSION_BEHAVIOR]);
    gives("#extension all : enable", &[Code::EXTENSION_BEHAVIOR]);
    gives("#extension GL_CROSSLANE_shuffle : requires", &[Code::EXTENSION_BEHAVIOR]);
    for line in [
        "#extension",
        "#extension GL_x",
        "#extension GL_x enable",
        "#extension GL_x : enable more",
        "#extension 1 : enable",
    ] {
        gives(line, &[Code::BAD_DIRECTIVE]);
    }
}

#[test]
fn extension_lines_come_first() {
    gives("int a;\n#extension GL_CROSSLANE_shuffle : enable", &[Code::EXTENSION_LATE]);
    assert_eq!(run_es("int a;\n#extension GL_CROSSLANE_shuffle : enable").codes(), [Code::EXTENSION_LATE]);
}

#[test]
fn pragmas_are_recorded() {
    let outcome = run("a\n#pragma  optimize(off) // x\n#pragma STDGL invariant(all)\nb");
    let texts: Vec<_> = outcome.stream.pragmas.iter().map(|p| (outcome.interner.text(p.text), p.token)).collect();
    assert_eq!(texts, [("optimize(off)", 1), ("STDGL invariant(all)", 1)]);
}

#[test]
fn the_shader_can_raise_errors() {
    let outcome = gives("#error don't use @ this", &[Code::USER_ERROR]);
    assert!(outcome.messages().contains("don't use @ this"));
    gives("#error", &[Code::USER_ERROR]);
}

#[test]
fn line_directives_renumber() {
    assert_eq!(expands("#line 100\n__LINE__ __FILE__\n__LINE__"), "100 0 101");
    assert_eq!(expands("#define N 7\n#line N * 2 3\n__LINE__ __FILE__"), "14 3");
    let lines = "#extension GL_GOOGLE_cpp_style_line_directive : enable\n#line 9 \"other.glsl\"\n__LINE__ __FILE__";
    assert_eq!(expands(lines), "9 \"other.glsl\"");
    gives("#line 0\n@\n#line 4294967295\n\n\n@", &[Code::BAD_CHARACTER; 2]).messages();
    let outcome = gives("#line 40\n@", &[Code::BAD_CHARACTER]);
    assert!(outcome.messages().contains("main.comp:40:1"));
}

#[test]
fn wrong_line_directives_are_errors() {
    gives("#line", &[Code::BAD_CONDITION]);
    gives("#line x y", &[Code::UNDEFINED_IS_ZERO, Code::UNDEFINED_IS_ZERO]);
    gives("#line 1 2 3", &[Code::BAD_DIRECTIVE]);
    gives("#line 1 \"name\"", &[Code::BAD_DIRECTIVE]);
    gives("#line 0 - 1", &[Code::BAD_DIRECTIVE]);
}

#[test]
fn unknown_directives_are_errors() {
    let outcome = gives("#defin A 1", &[Code::BAD_DIRECTIVE]);
    assert!(outcome.messages().contains("did you mean `#define`?"));
    gives("#12", &[Code::BAD_DIRECTIVE]);
    assert_eq!(expands("#\n # // nothing\na"), "a");
}

#[test]
fn a_hash_elsewhere_is_an_error() {
    gives("a # define B", &[Code::STRAY_HASH]);
    gives("## a", &[Code::STRAY_HASH]);
}

#[test]
fn bad_characters_and_numbers_are_errors() {
    gives("a\0b", &[Code::BAD_CHARACTER]);
    gives("ä", &[Code::BAD_CHARACTER]);
    gives("// ä \0\n/* ö */ \"ü\"", &[]);
    gives("1.5x 0x", &[Code::BAD_NUMBER; 2]);
    gives("/* a", &[Code::UNTERMINATED_COMMENT]);
    gives("\"a", &[Code::UNTERMINATED_STRING]);
}
