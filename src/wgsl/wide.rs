//! Numbers of 64 bits: naga reads them, WGSL does not have them, and `enable crosslane;` allows them.

use super::lexer::{Kind, Token};
use super::suggest;

/// The types with the suffix of their numbers.
const TYPES: [(&str, &str); 3] = [("f64", "lf"), ("i64", "li"), ("u64", "lu")];

/// The first token that is a type of 64 bits or a number of one, and the type.
pub(super) fn first(source: &str, tokens: &[Token]) -> Option<(Token, &'static str)> {
    let is_declared = |name: &str| {
        let mut declared = tokens.windows(3).filter_map(|three| suggest::declared(three, source));
        declared.any(|declared| declared == name)
    };
    tokens.iter().find_map(|token| {
        let text = token.text(source);
        let (name, _) = TYPES.iter().find(|(name, suffix)| match token.kind {
            Kind::Word => text == *name,
            Kind::Number => text.ends_with(suffix) && !text.starts_with("0x"),
            Kind::Punct(_) => false,
        })?;
        (token.kind == Kind::Number || !is_declared(name)).then_some((*token, *name))
    })
}
