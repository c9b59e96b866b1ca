//! `#include` and constructs that span files.

use super::*;

const ENABLE: &str = "#version 450\n#extension GL_GOOGLE_include_directive : require\n";

fn run_files(lines: &str, files: &[(&'static str, &'static str)]) -> Outcome {
    run_with(&format!("{ENABLE}{lines}"), &Files(files.to_vec()), &[])
}

#[test]
fn included_text_takes_the_place_of_the_line() {
    let outcome = run_files("a\n#include \"x\"\nb\n#include <x>\nc", &[("x", "[\n#define M 1\nM ]")]);
    assert_eq!(outcome.text, "a [ 1 ] b [ 1 ] c");
    assert_eq!(outcome.codes(), []);
    assert_eq!(outcome.sources.files().len(), 3);
}

#[test]
fn file_and_line_are_those_of_the_included_file() {
    let outcome = run_files("#include \"x\"\n__FILE__ __LINE__", &[("x", "\n__FILE__ __LINE__\n@")]);
    assert_eq!(outcome.text, "\"x\" 2 \"main.comp\" 4");
    assert!(outcome.messages().contains("x:3:1"), "{}", outcome.messages());
}

#[test]
fn includes_need_their_extension() {
    let outcome = run_with("#version 450\n#include \"x\"\n#include \"x\"", &Files(vec![("x", "a")]), &[]);
    assert_eq!(outcome.codes(), [Code::INCLUDE_IMPLIED]);
    assert_eq!(outcome.text, "a a");
    let suggestion = outcome.diagnostics.iter().next().unwrap().suggestion.clone().unwrap();
    assert_eq!(outcome.sources.locate(suggestion.span.lo).unwrap().line, 2);
}

#[test]
fn includes_that_fail() {
    let outcome = run_files("#include \"no\"\na", &[]);
    assert_eq!(outcome.codes(), [Code::INCLUDE_FAILED]);
    assert!(outcome.messages().contains("looked for a/x, b/x"));
    assert_eq!(run_files("#include x", &[]).codes(), [Code::BAD_DIRECTIVE]);
    assert_eq!(run_files("#include \"x", &[]).codes(), [Code::BAD_DIRECTIVE]);
    assert_eq!(run_files("#include", &[]).codes(), [Code::BAD_DIRECTIVE]);
}

#[test]
fn circles_are_errors_that_name_the_chain() {
    let files = [("a", "#include \"b\"\n"), ("b", "#include \"c\"\n"), ("c", "#include \"a\"\n")];
    let outcome = run_files("#include \"a\"\nend", &files);
    assert_eq!(outcome.codes(), [Code::INCLUDE_CYCLE]);
    assert!(outcome.messages().contains("a → b → c → a"), "{}", outcome.messages());
    assert_eq!(outcome.text, "end");
}

#[test]
fn guarded_files_may_include_each_other() {
    let files = [
        ("a", "#ifndef A\n#define A\n#include \"b\"\na\n#endif\n"),
        ("b", "#if !defined(B)\n#define B\n#include \"a\"\nb\n#endif\n"),
        ("c", "#pragma once\n#include \"c\"\nc"),
    ];
    let outcome = run_files("#include \"a\"\n#include \"c\"\n#include \"c\"", &files);
    assert_eq!(outcome.codes(), [], "{}", outcome.messages());
    assert_eq!(outcome.text, "b a c");
}

#[test]
fn a_group_ends_in_the_file_that_opens_it() {
    let outcome = run_files("#include \"x\"\na", &[("x", "#if 1\n")]);
    assert_eq!(outcome.codes(), [Code::UNTERMINATED_IF]);
    let outcome = run_files("#if 1\n#include \"x\"\n#endif", &[("x", "#endif\n")]);
    assert_eq!(outcome.codes(), [Code::CONDITIONAL_ORDER]);
}

#[test]
fn deep_includes_are_bounded() {
    struct Endless;
    impl Loader for Endless {
        fn load(&self, _: &str, _: IncludeKind, from: &str) -> Result<Loaded, LoadError> {
            Ok(Loaded { name: format!("{from}x").into(), text: "#include \"x\"\n".into() })
        }
    }
    let outcome = run_with(&format!("{ENABLE}#include \"x\""), &Endless, &[]);
    assert_eq!(outcome.codes(), [Code::INCLUDE_CYCLE]);
}

#[test]
fn a_version_line_in_an_included_file_is_too_late() {
    assert_eq!(run_files("#include \"x\"", &[("x", "#version 450\n")]).codes(), [Code::VERSION_PLACE]);
}
