//! Signature help: the signatures of the function whose arguments you are typing.

use super::Analysis;
use super::scan::Kind as Lexeme;
use super::words::Builtin;
use crate::symbols::Kind;
use std::ops::Range;

/// Limit of the signatures listed per function.
const MOST: usize = 32;

/// One signature.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Signature {
    pub label: String,
    /// The bytes of each parameter in the label.
    pub parameters: Vec<Range<usize>>,
    pub doc: String,
}

/// The signatures of a call.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SignatureHelp {
    pub signatures: Vec<Signature>,
    /// The first signature with enough parameters for the arguments so far.
    pub active: usize,
    /// Number of the argument at the position.
    pub parameter: usize,
}

impl Analysis {
    /// The signatures of the call around a position.
    pub fn signature_help(&self, position: u32) -> Option<SignatureHelp> {
        let (index, scanned) = self.scanned_at(position)?;
        let file = &self.sources.files()[index];
        let end = scanned.before((position - file.base) as usize)?;
        let (mut depth, mut parameter, mut at) = (0usize, 0, end);
        let open = loop {
            match scanned.tokens[at].kind {
                Lexeme::Punct(b')' | b']') => depth += 1,
                Lexeme::Punct(b'(') if depth == 0 => break at,
                Lexeme::Punct(b'(' | b'[') => depth = depth.saturating_sub(1),
                Lexeme::Punct(b',') if depth == 0 => parameter += 1,
                Lexeme::Punct(b';' | b'{' | b'}') => return None,
                _ => {}
            }
            at = at.checked_sub(1)?;
        };
        let callee = open.checked_sub(1).filter(|at| scanned.tokens[*at].kind == Lexeme::Word)?;
        let signatures = self.signatures(&file.text[scanned.tokens[callee].range.clone()]);
        let takes = |signature: &Signature| signature.parameters.len() > parameter;
        let active = signatures.iter().position(takes).unwrap_or(0);
        (!signatures.is_empty()).then_some(SignatureHelp { signatures, active, parameter })
    }

    fn signatures(&self, name: &str) -> Vec<Signature> {
        let named = |kind: Kind| {
            let is_it = move |declaration: &&crate::symbols::Declaration| {
                declaration.kind == kind && self.text(declaration.name) == name
            };
            self.known().declarations.iter().filter(is_it)
        };
        let mut all: Vec<Signature> =
            named(Kind::Function).map(|declaration| Signature::new(self.head(declaration), "")).collect();
        for declaration in named(Kind::Struct) {
            let members = self.known().declarations.iter().filter(|member| member.owner == Some(declaration.name));
            let members: Vec<String> = members.map(|member| self.member_text(member)).collect();
            all.push(Signature::new(format!("{name}({})", members.join(", ")), ""));
        }
        if let Some(Builtin::Function(overloads)) = self.builtin(name) {
            all.extend(overloads.iter().map(|overload| Signature::new(overload.signature.into(), overload.doc)));
        }
        all.dedup();
        all.truncate(MOST);
        all
    }

    fn member_text(&self, member: &crate::symbols::Declaration) -> String {
        let (before, written) = (self.text(member.before), self.text(member.written));
        format!("{before} {written}").trim().into()
    }
}

impl Signature {
    fn new(label: String, doc: &str) -> Signature {
        Signature { parameters: parameters(&label), label, doc: doc.into() }
    }
}

/// The parts between the outermost brackets, at their commas.
fn parameters(label: &str) -> Vec<Range<usize>> {
    let Some(open) = label.find('(') else { return Vec::new() };
    let (mut depth, mut start, mut parts) = (0usize, open + 1, Vec::new());
    for (at, c) in label.char_indices().skip_while(|(at, _)| *at <= open) {
        match c {
            '(' | '[' | '<' => depth += 1,
            ')' if depth == 0 => {
                parts.push(start..at);
                break;
            }
            ')' | ']' | '>' => depth = depth.saturating_sub(1),
            ',' if depth == 0 => {
                parts.push(start..at);
                start = at + 1;
            }
            _ => {}
        }
    }
    parts.retain(|part| !matches!(label[part.clone()].trim(), "" | "void"));
    let trimmed = |part: Range<usize>| {
        let text = &label[part.clone()];
        let lead = text.len() - text.trim_start().len();
        part.start + lead..part.start + lead + text.trim().len()
    };
    parts.into_iter().map(trimmed).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_at_the_commas_of_the_outermost_brackets() {
        let texts = |label: &'static str| parameters(label).into_iter().map(|part| &label[part]).collect::<Vec<_>>();
        assert_eq!(texts("float f(float a, vec2[2] b)"), ["float a", "vec2[2] b"]);
        assert_eq!(texts("fn f(a: ptr<function, f32>) -> f32"), ["a: ptr<function, f32>"]);
        assert!(texts("void main(void)").is_empty());
    }
}
