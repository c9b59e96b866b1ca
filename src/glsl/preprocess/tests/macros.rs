//! Macro definition and expansion.

use super::*;

#[test]
fn object_macros_expand_and_nest() {
    assert_eq!(expands("#define A B + 1\n#define B 2\nA A"), "2 + 1 2 + 1");
    assert_eq!(expands("#define EMPTY\na EMPTY b"), "a b");
    assert_eq!(expands("#define A(x) x\n#undef A\nA(1)"), "A ( 1 )");
}

#[test]
fn a_macro_is_not_expanded_in_itself() {
    assert_eq!(expands("#define a a + b\n#define b a\na"), "a + a");
    assert_eq!(expands("#define f(x) x + f(x)\nf(1)"), "1 + f ( 1 )");
    assert_eq!(expands("#define f(x) f(x + 1)\nf(f(z))"), "f ( f ( z + 1 ) + 1 )");
    assert_eq!(expands("#define z z[0]\n#define f(a) a\nf(z) f(f(z))"), "z [ 0 ] z [ 0 ]");
}

#[test]
fn the_standard_example_of_rescanning() {
    let lines = "#define x 3
#define f(a) f(x * (a))
#undef x
#define x 2
#define g f
#define z z[0]
#define h g(~
#define m(a) a(w)
#define w 0,1
#define t(a) a
f(y+1) + f(f(z)) % t(t(g)(0) + t)(1);
g(x+(3,4)-w) | h 5) & m
(f)^m(m);";
    let expected = "f ( 2 * ( y + 1 ) ) + f ( 2 * ( f ( 2 * ( z [ 0 ] ) ) ) ) % f ( 2 * ( 0 ) ) + t ( 1 ) ; \
        f ( 2 * ( 2 + ( 3 , 4 ) - 0 , 1 ) ) | f ( 2 * ( ~ 5 ) ) & f ( 2 * ( 0 , 1 ) ) ^ m ( 0 , 1 ) ;";
    assert_eq!(expands(lines), expected);
}

#[test]
fn a_function_macro_needs_its_parenthesis() {
    assert_eq!(expands("#define F(x) [x]\nF F (1) F\n(2) F"), "F [ 1 ] [ 2 ] F");
    assert_eq!(expands("#define F (x)\nF"), "( x )");
    assert_eq!(expands("#define F() 7\nF() F( ) F"), "7 7 F");
}

#[test]
fn arguments_span_lines_and_nest() {
    assert_eq!(expands("#define F(a, b) b a\nF((1, 2),\n  [3]\n) end"), "[ 3 ] ( 1 , 2 ) end");
    assert_eq!(expands("#define F(a, b) <a|b>\nF(,) F(x,)"), "< | > < x | >");
    assert_eq!(expands("#define ID(x) x\n#define ADD(a, b) (a + b)\nADD(ID(ADD(1, 2)), ID(3))"), "( ( 1 + 2 ) + 3 )");
}

#[test]
fn wrong_argument_lists_are_errors() {
    gives("#define F(a, b) a b\nF(1)", &[Code::MACRO_ARGUMENTS]);
    gives("#define F() 1\nF(2)", &[Code::MACRO_ARGUMENTS]);
    gives("#define F(a) a\nF(1, 2)", &[Code::MACRO_ARGUMENTS]);
    gives("#define F(a) a\nF(1", &[Code::MACRO_ARGUMENTS]);
    gives("#define F(a) a\nF(\n#define G\n1)", &[Code::MACRO_ARGUMENTS]);
}

#[test]
fn pasting_joins_tokens() {
    assert_eq!(expands("#define CAT(a, b) a ## b\nCAT(fo, o) CAT(1, 2) CAT(<, <=) CAT(x, 1)"), "foo 12 <<= x1");
    assert_eq!(expands("#define CAT(a, b) a ## b\nCAT(, b) CAT(a,) [CAT(,)]"), "b a [ ]");
    assert_eq!(expands("#define T(a, b, c) a ## b ## c\nT(x, , z) T(, , z) T(x, y, )"), "xz z xy");
    assert_eq!(expands("#define V vec ## 4\nV"), "vec4");
    assert_eq!(expands("#define CAT(a, b) a ## b\nCAT(x y, z w)"), "x yz w");
}

#[test]
fn operands_of_pasting_are_not_expanded_but_its_result_is() {
    let lines = "#define CAT(a, b) a ## b\n#define XCAT(a, b) CAT(a, b)\n#define ONE 1\n#define x1 ok\n";
    assert_eq!(expands(&format!("{lines}CAT(x, ONE) XCAT(x, ONE)")), "xONE ok");
    assert_eq!(expands("#define hash_hash(a) pre_ ## a(a)\n#define pre_k(z) z + 1\nhash_hash(k)"), "k + 1");
}

#[test]
fn wrong_pasting_is_an_error() {
    gives("#define CAT(a, b) a ## b\nCAT(+, x)", &[Code::BAD_PASTE]);
    gives("#define CAT(a) ## a", &[Code::BAD_MACRO]);
    gives("#define CAT(a) a ##", &[Code::BAD_MACRO]);
    assert_eq!(run_es("#define CAT(a, b) a ## b").codes(), [Code::BAD_MACRO]);
}

#[test]
fn stringizing_keeps_what_was_written() {
    assert_eq!(expands("#define S(x) #x\nS(12  3) S( aaa ) S() S(a+b)"), r#""12 3" "aaa" "" "a+b""#);
    assert_eq!(expands("#define S(x) # x\nS(a\n  b /* c */ c)"), r#""a b c""#);
    assert_eq!(expands("#define F(x, y) x, #y, #y, y\nF(1, two)"), r#"1 , "two" , "two" , two"#);
    let escaped = r#""\"a\\n\"" "f(\"b\")" "(1, 2)""#;
    assert_eq!(expands("#define S(x) #x\nS(\"a\\n\") S(f(\"b\")) S((1, 2))"), escaped);
}

#[test]
fn stringized_arguments_are_not_expanded() {
    let lines = "#define S(x) #x\n#define XS(x) S(x)\n#define ONE 1\n#define MAX(a, b) a > b ? a :b\n";
    assert_eq!(expands(&format!("{lines}S(ONE) XS(ONE) XS(MAX(3, 4))")), r#""ONE" "1" "3 > 4 ? 3 :4""#);
    assert_eq!(expands(&format!("{lines}S(S(a)) XS(S(a))")), r#""S(a)" "\"a\"""#);
    assert_eq!(expands("#define CPU(x)\n#define NAME(T) CPU(text = \"a_\" #T \"_b\";)\nNAME(int) 1"), "1");
}

#[test]
fn wrong_stringizing_is_an_error() {
    gives("#define S(x) #y", &[Code::BAD_MACRO]);
    gives("#define S(x) x #", &[Code::BAD_MACRO]);
    gives("#define S(x) ###x", &[Code::BAD_MACRO]);
    gives("#define S #x", &[Code::BAD_MACRO]);
    gives("#define S(x) x ## #x\nS(a)", &[Code::BAD_PASTE]);
    assert_eq!(run_es("#define S(x) #x").codes(), [Code::BAD_MACRO]);
    let nested = (0..16).fold("a".to_owned(), |inner, _| format!("XS({inner})"));
    gives(&format!("#define S(x) #x\n#define XS(x) S(x)\n{nested}"), &[Code::MACRO_LIMIT]);
}

#[test]
fn malformed_definitions_are_errors() {
    gives("#define", &[Code::BAD_DIRECTIVE]);
    gives("#define 1", &[Code::BAD_DIRECTIVE]);
    gives("#define F(a", &[Code::BAD_MACRO]);
    gives("#define F(a,) a", &[Code::BAD_MACRO]);
    gives("#define F(a, a) a", &[Code::BAD_MACRO]);
    gives("#define F(1) a", &[Code::BAD_MACRO]);
}

#[test]
fn redefinition_must_be_the_same() {
    expands("#define A 1 + 2\n#define A   1 + /**/ 2\n#define F(x) (x)\n#define F(x) (x)");
    gives("#define A 1\n#define A 2", &[Code::MACRO_REDEFINED]);
    gives("#define A 1\n#define A", &[Code::MACRO_REDEFINED]);
    gives("#define A 1+2\n#define A 1 + 2", &[Code::MACRO_REDEFINED]);
    gives("#define F(x) 1\n#define F(y) 1", &[Code::MACRO_REDEFINED]);
    gives("#define F(x) x\n#define F x", &[Code::MACRO_REDEFINED]);
    expands("#define A 1\n#undef A\n#define A 2\n#undef NEVER");
}

#[test]
fn reserved_names_are_kept() {
    gives("#define GL_x 1", &[Code::RESERVED_MACRO]);
    gives("#undef __LINE__", &[Code::RESERVED_MACRO]);
    gives("#define defined 1", &[Code::RESERVED_MACRO]);
    gives("#define VULKAN 7", &[Code::MACRO_REDEFINED]);
    gives("#define a__b 1", &[Code::RESERVED_NAME]);
}

#[test]
fn predefined_macros() {
    assert_eq!(expands("__VERSION__ VULKAN GL_core_profile GL_ES GL_es_profile"), "450 100 1 GL_ES GL_es_profile");
    assert_eq!(run_es("__VERSION__ GL_core_profile GL_ES GL_es_profile").text, "310 GL_core_profile 1 1");
    assert_eq!(expands("__LINE__\n\n#define L __LINE__\nL\n__FILE__"), "2 5 0");
    assert_eq!(expands("#define F(x) x __LINE__\nF(\n1\n)"), "1 5");
    assert_eq!(expands("CROSSLANE_SUBGROUP_SIZE CROSSLANE_OTHER"), "32 CROSSLANE_OTHER");
    let names = "GL_CROSSLANE_shuffle GL_CROSSLANE_permute GL_GOOGLE_include_directive";
    assert_eq!(expands(names), "3 GL_CROSSLANE_permute 1");
}

#[test]
fn tokens_of_a_macro_have_the_span_of_its_call() {
    let outcome = run("#define IN(x) (x)\n#define OUT(x) IN(x) + x\na OUT(b) c");
    let spans: Vec<&str> = outcome.stream.tokens.iter().map(|token| outcome.sources.text(token.span)).collect();
    assert_eq!(spans, ["a", "OUT(b)", "OUT(b)", "OUT(b)", "OUT(b)", "OUT(b)", "c", ""]);
}

#[test]
fn expansion_is_bounded() {
    let mut lines = "#define A0 x x\n".to_string();
    for n in 1..40 {
        lines += &format!("#define A{n} A{} A{}\n", n - 1, n - 1);
    }
    gives(&format!("{lines}A39"), &[Code::MACRO_LIMIT]);
    let lines = "#define D(x) x x\n".to_string() + &"D(".repeat(60) + "y" + &")".repeat(60);
    gives(&lines, &[Code::MACRO_LIMIT]);
}

#[test]
fn nested_calls_are_bounded() {
    let lines = "#define I(x) x\n".to_string() + &"I(".repeat(10_000) + "y" + &")".repeat(10_000);
    gives(&lines, &[Code::MACRO_LIMIT]);
    let lines = "#define I(x) x\n".to_string() + &"I(".repeat(450) + "y" + &")".repeat(450);
    assert_eq!(expands(&lines), "y");
}

#[test]
fn options_define_and_undefine() {
    let macros = [
        MacroOption::define("A"),
        MacroOption::define("B=2 + 3"),
        MacroOption::define("F(x)=[x]"),
        MacroOption::define("C=1\n#define D 1"),
        MacroOption::Undefine("A".into()),
        MacroOption::Undefine("GL_CROSSLANE_shuffle".into()),
        MacroOption::define("CROSSLANE_SUBGROUP_SIZE=8"),
    ];
    let text = "#version 450\nA B F(1) D GL_CROSSLANE_shuffle CROSSLANE_SUBGROUP_SIZE";
    let outcome = run_with(text, &NoIncludes, &macros);
    assert_eq!(outcome.text, "A 2 + 3 [ 1 ] D GL_CROSSLANE_shuffle 8");
    let outcome = run_with("#version 450\n#define B 1", &NoIncludes, &macros[..2]);
    assert!(outcome.messages().contains("<command line>:2:9"), "{}", outcome.messages());
}

#[test]
fn a_name_without_a_value_may_be_defined_again_without_one() {
    let text = "#version 450\n#define X\n";
    let codes = |option: &str| run_with(text, &NoIncludes, &[MacroOption::define(option)]).codes();
    assert_eq!(codes("X"), []);
    assert_eq!(codes("X="), []);
    assert_eq!(codes("X=1"), [Code::MACRO_REDEFINED]);
}
