//! The names of the fixtures: in a valid shader, each word that is a declared name is resolved.

use super::lookup::span_of;
use super::scan::Kind as Lexeme;
use super::{Analysis, Source};
use crate::compile::{Input, Language, Options};
use crate::ir::Stage;
use crate::profile::Profile;
use crate::source::NoIncludes;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn analysis(path: &str, text: &str, language: Language) -> Analysis {
    let mut options = Options::new(Profile::named("spirv-1.6").expect("a built-in profile"));
    let ending = Path::new(path).extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    options.stage = Stage::ALL.into_iter().find(|stage| stage.ending() == ending);
    let input = Input { name: path, bytes: text.as_bytes(), language };
    Analysis::new(&Source { input, options: &[options], loader: &NoIncludes, is_header: false })
}

/// All shaders of a folder of fixtures.
fn fixtures(folder: &str) -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures").join(folder);
    let mut paths: Vec<PathBuf> = fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.is_file());
    paths.sort();
    let read = |path: &PathBuf| String::from_utf8_lossy(&fs::read(path).unwrap()).into_owned();
    paths.iter().map(|path| (path.to_string_lossy().into(), read(path))).collect()
}

/// Words with a declared name that nothing resolved. Names in layouts, in attributes and after a `.` have other
/// meanings.
fn unresolved(analysis: &Analysis) -> Vec<String> {
    let declared: BTreeSet<&str> =
        analysis.known().declarations.iter().map(|declaration| analysis.text(declaration.name)).collect();
    let file = &analysis.sources.files()[0];
    let scanned = analysis.scan(0);
    let mut missing = Vec::new();
    let mut layout = 0;
    for (at, token) in scanned.tokens.iter().enumerate() {
        let text = &file.text[token.range.clone()];
        let after = |word: &str| at > 0 && &file.text[scanned.tokens[at - 1].range.clone()] == word;
        layout = match token.kind {
            Lexeme::Punct(b'(') if layout > 0 || after("layout") || after("spirv_instruction") => layout + 1,
            Lexeme::Punct(b')') if layout > 0 => layout - 1,
            _ => layout,
        };
        let span = span_of(file.base, &token.range);
        let is_free = token.kind == Lexeme::Word && !token.in_directive && layout == 0 && !after(".") && !after("[");
        let is_known =
            analysis.known().by_name.contains_key(&span) || analysis.known().uses.iter().any(|use_| use_.at == span);
        // A built-in overload of the name, or a built-in variable that is only declared again.
        let is_builtin = analysis.builtin(text).is_some();
        if is_free && declared.contains(text) && !is_known && !is_builtin && !analysis.is_macro(text) {
            missing.push(format!("{text} at {}", file.line_of(token.range.start as u32) + 1));
        }
    }
    missing
}

#[test]
fn every_use_of_a_declared_name_is_resolved() {
    let mut count = 0;
    let mut wrong = Vec::new();
    for folder in ["glsl", "core", "graphics", "language"] {
        for (path, text) in fixtures(folder).into_iter().filter(|(path, _)| !path.ends_with(".wgsl")) {
            // Text that conditionals exclude is not resolved.
            if text.contains("#if") || text.contains("spirv_") {
                continue;
            }
            let analysis = analysis(&path, &text, Language::Glsl);
            if analysis.is_right() {
                count += 1;
                wrong.extend(unresolved(&analysis).into_iter().map(|name| format!("{path}: {name}")));
            }
        }
    }
    assert!(count > 60, "{count} shaders were looked at");
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn a_wrong_shader_keeps_its_names() {
    let text = "#version 450\nfloat twice(float x) { return x + x; }\nvoid main() {\n    float a = 1.0;\n    twi\n    a = twice(a);\n}\n";
    let analysis = analysis("a.comp", text, Language::Glsl);
    assert!(!analysis.is_right());
    let at = |text_at: &str| analysis.position("a.comp", text.find(text_at).unwrap()).unwrap();
    let defined = analysis.definition(at("twice(a)"));
    assert_eq!(defined, [analysis.known().by_name.keys().copied().find(|span| span.lo == at("twice(float")).unwrap()]);
    let options = [Options::new(Profile::named("spirv-1.6").unwrap())];
    let input = Input { name: "a.comp", bytes: text.as_bytes(), language: Language::Glsl };
    let source = Source { input, options: &options, loader: &NoIncludes, is_header: false };
    let labels: Vec<String> =
        analysis.completions(at("twi\n") + 3, &source).into_iter().map(|item| item.label).collect();
    assert_eq!(labels, ["twice"]);
}

#[test]
fn names_are_completed_with_what_they_need() {
    let text = "#version 450\nvoid main() { allReduceAd }\n";
    let analysis = analysis("a.comp", text, Language::Glsl);
    let options = [Options::new(Profile::named("spirv-1.6").unwrap())];
    let input = Input { name: "a.comp", bytes: text.as_bytes(), language: Language::Glsl };
    let source = Source { input, options: &options, loader: &NoIncludes, is_header: false };
    let at = analysis.position("a.comp", text.find("Ad ").unwrap() + 2).unwrap();
    let all = analysis.completions(at, &source);
    let eight = all.iter().find(|item| item.label == "allReduceAdd8").expect("it is among them");
    let (place, line) = eight.line.as_ref().expect("it needs an extension");
    assert_eq!((place.start, line.as_str()), (13, "#extension GL_CROSSLANE_shuffle : require\n"));
    assert!(all.iter().all(|item| item.label.to_ascii_lowercase().starts_with("allreducead")), "{all:?}");
}
