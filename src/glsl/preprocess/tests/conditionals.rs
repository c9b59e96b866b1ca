//! Conditional groups and the expressions in them.

use super::*;

/// Returns true if an expression counts as true, without a message.
fn holds(expression: &str) -> bool {
    expands(&format!("#if {expression}\nyes\n#endif")) == "yes"
}

#[test]
fn operators_have_their_precedence() {
    for expression in [
        "1 + 2 * 3 == 7",
        "(1 + 2) * 3 == 9",
        "10 - 4 - 3 == 3",
        "7 / 2 == 3 && -7 / 2 == -3 && -7 % 3 == -1",
        "1 << 4 == 16 && 256 >> 4 == 16",
        "(6 & 3 | 8 ^ 1) == 11",
        "~0 == -1 && !0 && !!5",
        "1 < 2 && 2 <= 2 && 3 > 2 && 3 >= 3 && 1 != 2",
        "- - 3 == +3",
        "0x10 == 16 && 010 == 8 && 5u == 5",
        "1 || 0 && 0",
        "4 & 2 == 2 | 4",
        "0xFFFFFFFF > 0",
    ] {
        assert!(holds(expression), "{expression}");
    }
}

#[test]
fn operands_that_do_not_matter_need_no_value() {
    assert!(!holds("0 && 1 / 0"));
    assert!(holds("1 || 1 % 0"));
    assert!(!holds("0 && UNDEFINED"));
}

#[test]
fn defined_asks_for_a_name_and_does_not_expand_it() {
    assert!(holds("defined VULKAN && defined(VULKAN) && !defined NO"));
    assert_eq!(expands("#define A B\n#if defined(A) && !defined(B)\nyes\n#endif"), "yes");
    assert_eq!(expands("#ifdef GL_CROSSLANE_shuffle\n1\n#endif\n#ifdef GL_CROSSLANE_permute\n2\n#endif"), "1");
    gives("#define D defined(VULKAN)\n#if D\n#endif", &[Code::DEFINED_FROM_MACRO]);
    gives("#if defined\n#endif", &[Code::BAD_CONDITION]);
    gives("#if defined(VULKAN\n#endif", &[Code::BAD_CONDITION]);
}

#[test]
fn macros_are_expanded_in_expressions() {
    assert_eq!(
        expands("#define MAX(a, b) ((a) * ((a) > (b)) + (b) * ((b) >= (a)))\n#if MAX(3, 4) == 4\nyes\n#endif"),
        "yes"
    );
    assert_eq!(expands("#if __VERSION__ >= 450 && __LINE__ == 2\nyes\n#endif"), "yes");
}

#[test]
fn names_that_are_no_macro_count_as_zero_or_are_errors() {
    gives("#if X\n#endif", &[Code::UNDEFINED_IS_ZERO]);
    gives("#if X\n#elif X || Y\n#endif", &[Code::UNDEFINED_IS_ZERO; 2]);
    assert_eq!(run_es("#if X\n#endif").codes(), [Code::UNDEFINED_IN_CONDITION]);
    assert_eq!(run_es("#if defined(X) && X > 1\n#endif").codes(), []);
}

#[test]
fn wrong_expressions_are_errors() {
    for expression in
        ["", "1 +", "(1", "1)", "1 2", "1.0", "1 / 0", "1 % 0", "1 << 64", "1 << -1", "* 2", "\"a\"", "08", "1 ? 2 : 3"]
    {
        gives(&format!("#if {expression}\n#endif"), &[Code::BAD_CONDITION]);
    }
    let deep = "(".repeat(10_000) + "1" + &")".repeat(10_000);
    gives(&format!("#if {deep}\n#endif"), &[Code::TOO_DEEP]);
    gives(&format!("#if {}1\n#endif", "!".repeat(10_000)), &[Code::TOO_DEEP]);
}

#[test]
fn exactly_one_group_is_used() {
    let groups = |n: i32| {
        expands(&format!("#define N {n}\n#if N == 0\na\n#elif N == 1\nb\n#elif N < 3\nc\n#else\nd\n#endif\ne"))
    };
    assert_eq!([0, 1, 2, 3].map(groups), ["a e", "b e", "c e", "d e"]);
    assert_eq!(expands("#ifndef A\n#define A 1\n#endif\n#ifdef A\nyes\n#else\nno\n#endif"), "yes");
}

#[test]
fn skipped_text_may_be_garbage() {
    let lines = "#if 0\nit's @ \"open\n# 12 nonsense\n#unknown ä\n#include <no>\n#if )(\n#elif +\n#else junk\n#endif junk\n/* #endif */\n#else\nyes\n#endif";
    assert_eq!(expands(lines), "yes");
    assert_eq!(expands("#if 1\nyes\n#elif 1 / 0\nno\n#elif ) garbage\n#else\nno\n#endif"), "yes");
    assert_eq!(expands("#if 0\n#if 1\nno\n#else\nno\n#endif\nno\n#elif 1\n#if 0\n#else\nyes\n#endif\n#endif"), "yes");
}

#[test]
fn directives_that_fit_no_group_are_errors() {
    for line in ["#endif", "#else", "#elif 1"] {
        gives(line, &[Code::CONDITIONAL_ORDER]);
    }
    gives("#if 1\n#else\n#else\n#endif", &[Code::CONDITIONAL_ORDER]);
    gives("#if 1\n#else\n#elif 1\n#endif", &[Code::CONDITIONAL_ORDER]);
    gives("#if 0\n#else\n#elif 1\n#endif", &[Code::CONDITIONAL_ORDER]);
}

#[test]
fn groups_must_end_in_their_file() {
    let outcome = gives("a\n#if 1\n#ifdef X\n", &[Code::UNTERMINATED_IF, Code::UNTERMINATED_IF]);
    assert!(outcome.messages().contains("main.comp:3:1"), "{}", outcome.messages());
    gives("#if 0\n/* open", &[Code::UNTERMINATED_COMMENT, Code::UNTERMINATED_IF]);
}

#[test]
fn text_behind_directives_is_warned_of() {
    gives("#if 1\n#else junk\n#endif X // fine", &[Code::EXTRA_TEXT; 2]);
    gives("#ifdef VULKAN junk\n#endif X", &[Code::EXTRA_TEXT, Code::EXTRA_TEXT]);
    expands("#if 1 // a\n#else /* b */\n#endif // c");
}
