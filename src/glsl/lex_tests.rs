//! Tests of the lexer: spellings, spans, lines and errors.

use super::*;

fn lex(text: &str) -> (Vec<PpToken>, Interner) {
    let mut interner = Interner::new();
    let mut lexer = Lexer::new(text.into(), 1);
    let mut tokens = Vec::new();
    loop {
        let token = lexer.next(&mut interner);
        if token.kind() == PpKind::End {
            return (tokens, interner);
        }
        tokens.push(token);
    }
}

fn spellings(text: &str) -> Vec<String> {
    let (tokens, interner) = lex(text);
    tokens.iter().map(|token| token.kind().spelling(&interner).into_owned()).collect()
}

fn spans(text: &str) -> Vec<(u32, u32)> {
    lex(text).0.iter().map(|token| (token.span.lo - 1, token.span.hi - 1)).collect()
}

#[test]
fn takes_the_longest_operator() {
    assert_eq!(
        spellings("a<<=b>>c<=d++ +e^^f|=~g"),
        "a <<= b >> c <= d ++ + e ^^ f |= ~ g".split(' ').collect::<Vec<_>>()
    );
    for punct in Punct::ALL {
        assert_eq!(spellings(punct.text()), [punct.text()]);
    }
}

#[test]
fn numbers_hold_together() {
    let numbers = ["1", "0x1Fu", "1.5e-3f", ".5", "1.", "1e+4lf", "017", "3us", "2.0hf"];
    for number in numbers {
        assert_eq!(spellings(number), [number]);
    }
    assert_eq!(spellings("0xe+1"), ["0xe", "+", "1"]);
    assert_eq!(spellings("a.x+1.0.y"), ["a", ".", "x", "+", "1.0", ".", "y"]);
}

#[test]
fn lines_and_comments_are_space() {
    let (tokens, _) = lex("a/*x\n*/b // c\r\n#d");
    let flags: Vec<(bool, bool)> = tokens.iter().map(|token| (token.spaced, token.first)).collect();
    assert_eq!(flags, [(false, true), (true, false), (true, true), (false, false)]);
}

#[test]
fn continued_lines_join_and_keep_their_places() {
    assert_eq!(spellings("ab\\\ncd + 1\\\r\n2"), ["abcd", "+", "12"]);
    assert_eq!(spans("ab\\\ncd + 1"), [(0, 6), (7, 8), (9, 10)]);
    assert_eq!(spellings("// x \\\n y\nz"), ["z"]);
    assert_eq!(spans("a\\\n b"), [(0, 1), (4, 5)]);
}

#[test]
fn a_byte_order_mark_is_skipped() {
    assert_eq!(spans("\u{feff}a"), [(3, 4)]);
}

#[test]
fn bad_characters_come_in_runs() {
    let kinds: Vec<PpKind> = lex("a\0\0äö@$b'").0.iter().map(|token| token.kind()).collect();
    let invalid: Vec<PpKind> = kinds.iter().copied().filter(|kind| matches!(kind, PpKind::Invalid(_))).collect();
    let expected = [Invalid::Nul, Invalid::NonAscii, Invalid::Character, Invalid::Character];
    assert_eq!(invalid, expected.map(PpKind::Invalid));
    assert_eq!(spans("ä"), [(0, 2)]);
}

#[test]
fn comments_and_strings_need_their_end() {
    assert_eq!(lex("a /* b").0[1].kind(), PpKind::Invalid(Invalid::Comment));
    assert_eq!(spans("a /* b")[1], (2, 4));
    assert_eq!(lex("/*/").0[0].kind(), PpKind::Invalid(Invalid::Comment));
    assert_eq!(lex("\"ab\nc").0[0].kind(), PpKind::Invalid(Invalid::String));
    assert_eq!(spellings("\"a\\\"b\" c"), ["\"a\\\"b\"", "c"]);
    assert_eq!(lex("\"ä\"").0.len(), 1);
}

#[test]
fn lines_are_read_by_themselves() {
    let mut interner = Interner::new();
    let mut lexer = Lexer::new("a b /* c\n */ d\ne".into(), 0);
    let mut count = 0;
    while lexer.next_in_line(&mut interner).is_some() {
        count += 1;
    }
    assert_eq!(count, 3);
    assert!(lexer.next(&mut interner).first);
}

#[test]
fn the_rest_of_a_line_is_raw() {
    let mut lexer = Lexer::new("  don't @ /* x */ stop  // now\nb".into(), 0);
    let (text, span) = lexer.rest_of_line();
    assert_eq!((text, span), ("don't @ /* x */ stop", Span::new(2, 22)));
    assert_eq!(lexer.next_line(), 31);
}

#[test]
fn header_names_are_raw() {
    let mut lexer = Lexer::new(" <a//b.h> \"c\n".into(), 0);
    assert_eq!(
        lexer.header_name().map(|(kind, name, _)| (kind, name.to_string())),
        Some((IncludeKind::Angled, "a//b.h".into()))
    );
    assert!(lexer.header_name().is_none());
}

#[test]
fn skipping_finds_directives_only() {
    let mut interner = Interner::new();
    let mut lexer = Lexer::new(" it's @ # no\n/*\n# no */ x\n // # no\n /**/ # endif".into(), 0);
    assert_eq!(lexer.skip_group(&mut interner).kind(), PpKind::Hash);
    assert!(matches!(lexer.next(&mut interner).kind(), PpKind::Word(_)));
    assert_eq!(lexer.skip_group(&mut interner).kind(), PpKind::End);
}

#[test]
fn pasted_text_is_one_token_or_none() {
    let mut interner = Interner::new();
    assert_eq!(single_token("<<=", &mut interner), Some(PpKind::Punct(Punct::ShiftLeftEqual)));
    assert!(matches!(single_token("x1", &mut interner), Some(PpKind::Word(_))));
    assert_eq!(single_token("+x", &mut interner), None);
    assert_eq!(single_token("//", &mut interner), None);
}
