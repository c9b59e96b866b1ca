//! The pass before naga: `enable` lines that naga does not know, crosslane's built-ins, constants from outside.
//!
//! The text stays as it is except these: `enable subgroups;` and `enable crosslane;` become blanks, calls of built-ins
//! become carriers (see [`super::builtin`]), and stubs and constants follow at the end. Names that the module declares
//! itself are never touched. Arguments are counted here; their types and values are judged after naga.

use super::builtin::{self, Builtin, Passing, Signature, Site};
use super::carrier::THROUGH;
use super::language;
use super::lexer::{Kind, Token};
use super::offsets::Edit;
use super::wide;
use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::grammar::Shape;
use crate::source::Span;
use rustc_hash::FxHashSet;

/// The subgroup shuffles that can carry; the first that the module does not declare as something else is taken.
const SHUFFLES: [&str; 4] = ["subgroupShuffleXor", "subgroupShuffleUp", "subgroupShuffleDown", "subgroupShuffle"];

/// The extensions of `enable` that crosslane has and naga has not.
const ENABLED: [&str; 2] = ["subgroups", "crosslane"];

/// Built-in values of the extension `subgroups`.
const OF_SUBGROUPS: [&str; 4] = ["num_subgroups", "subgroup_id", "subgroup_invocation_id", "subgroup_size"];

/// The findings of the pass.
#[derive(Debug, Default)]
pub(super) struct Prepared {
    pub edits: Vec<Edit>,
    pub sites: Vec<Site>,
    /// Declarations that follow the text.
    pub tail: String,
    /// The prefix of the stubs' names.
    pub prefix: String,
    /// True if `enable crosslane;` is there.
    pub crosslane: bool,
    /// True if `enable subgroups;` is there, or `enable crosslane;`, which includes it.
    subgroups: bool,
    /// True if uniform buffers have the layout of storage buffers.
    pub standard_layout: bool,
    /// True if there is a call of a subgroup function that naga knows.
    pub native: bool,
}

/// Something between brackets.
struct Bracket {
    close: u8,
    /// The call whose arguments these are.
    call: Option<Call>,
}

/// A call of a built-in that is being read.
struct Call {
    name: Token,
    open: Token,
    commas: Vec<Token>,
    /// End of the last token before the current one.
    last: u32,
    empty: bool,
}

/// The state of the pass.
struct Pass<'a> {
    source: &'a str,
    base: u32,
    tokens: &'a [Token],
    declared: FxHashSet<&'a str>,
    shuffle: &'static str,
    out: Prepared,
    /// Parameters and results of the stubs.
    stubs: Vec<(Vec<Passing>, Option<Shape>)>,
    diagnostics: &'a mut Diagnostics,
}

/// Reads a text whose first byte has position `base`.
pub(super) fn prepare(source: &str, base: u32, tokens: &[Token], diagnostics: &mut Diagnostics) -> Prepared {
    let declared = declared(source, tokens);
    let mut pass = Pass {
        source,
        base,
        tokens,
        shuffle: SHUFFLES.iter().find(|name| !declared.contains(*name)).unwrap_or(&SHUFFLES[0]),
        declared,
        out: Prepared { prefix: unused_prefix(source), ..Prepared::default() },
        stubs: Vec::new(),
        diagnostics,
    };
    pass.byte_order_mark();
    let body = pass.directives();
    pass.out.edits.extend(language::edits(source, tokens, body, &pass.out.prefix));
    pass.values_of_subgroups(body);
    pass.numbers_of_64_bits(body);
    pass.calls(body);
    pass.write_stubs();
    pass.out
}

/// Names that functions, structs and aliases of the module have.
fn declared<'a>(source: &'a str, tokens: &[Token]) -> FxHashSet<&'a str> {
    let pairs = tokens.windows(2).filter(|pair| pair[1].kind == Kind::Word);
    let named = pairs.filter(|pair| matches!(pair[0].text(source), "fn" | "struct" | "alias"));
    named.map(|pair| pair[1].text(source)).collect()
}

/// Returns true if a `<` after this name opens a template list (WGSL 6.9, 3.9).
fn is_generator(name: &str) -> bool {
    let named = matches!(name, "array" | "atomic" | "bitcast" | "binding_array" | "ptr" | "vec2" | "vec3" | "vec4");
    named || (name.len() == 6 && name.starts_with("mat") && name.as_bytes()[4] == b'x')
}

/// A start of names that the text has nowhere.
fn unused_prefix(source: &str) -> String {
    let mut prefix = String::from("crosslane_call");
    while source.contains(prefix.as_str()) {
        prefix.push('_');
    }
    prefix
}

impl<'a> Pass<'a> {
    fn span(&self, lo: u32, hi: u32) -> Span {
        Span::new(self.base + lo, self.base + hi)
    }

    fn text(&self, at: usize) -> &'a str {
        self.tokens.get(at).map_or("", |token| token.text(self.source))
    }

    /// naga takes no byte order mark.
    fn byte_order_mark(&mut self) {
        if self.source.starts_with('\u{FEFF}') {
            self.blank(0, 3);
        }
    }

    fn blank(&mut self, lo: u32, hi: u32) {
        self.out.edits.push(Edit { lo, hi, text: " ".repeat((hi - lo) as usize) });
    }

    /// The directives at the start of the module (WGSL 4); gives the token after them.
    fn directives(&mut self) -> usize {
        let mut at = 0;
        while matches!(self.text(at), "enable" | "requires" | "diagnostic") {
            let Some(len) = self.tokens[at..].iter().position(|token| token.is(b';')) else { return at };
            match self.text(at) {
                "enable" => {
                    let ours = self.take_names(at, at + len, &ENABLED);
                    self.out.crosslane |= ours.contains(&"crosslane");
                    self.out.subgroups |= !ours.is_empty();
                }
                "requires" => {
                    self.refuse_unread(at, at + len);
                    let ours = self.take_names(at, at + len, &language::READ);
                    self.out.standard_layout |= ours.contains(&language::STANDARD_LAYOUT);
                }
                _ => {}
            }
            at += len + 1;
        }
        at
    }

    /// Takes names out of `enable a, b;` or `requires a, b;`, from token `first` to its semicolon; names that naga knows
    /// stay. Returns the removed ones.
    fn take_names(&mut self, first: usize, semicolon: usize, ours: &[&str]) -> Vec<&'a str> {
        let words = (first + 1..semicolon).filter(|at| self.tokens[*at].kind == Kind::Word);
        let (taken, rest): (Vec<&str>, Vec<&str>) = words.map(|at| self.text(at)).partition(|name| ours.contains(name));
        if taken.is_empty() {
            return taken;
        }
        let (lo, hi) = (self.tokens[first].lo, self.tokens[semicolon].hi);
        if rest.is_empty() {
            self.blank(lo, hi);
        } else {
            self.out.edits.push(Edit { lo, hi, text: format!("{} {};", self.text(first), rest.join(", ")) });
        }
        taken
    }

    /// Names in `requires` that other compilers know.
    fn refuse_unread(&mut self, first: usize, semicolon: usize) {
        for at in first + 1..semicolon {
            let (name, token) = (self.text(at), self.tokens[at]);
            if language::NOT_READ.contains(&name) {
                let message = format!("crosslane does not read the language extension `{name}` yet");
                let error = Diagnostic::error(Code::NOT_SUPPORTED, message);
                self.diagnostics.push(error.at(self.span(token.lo, token.hi), "required here"));
            }
        }
    }

    /// Built-in values of subgroups need the extension, as its functions do (WGSL 4.1.1).
    fn values_of_subgroups(&mut self, from: usize) {
        for at in from..self.tokens.len().saturating_sub(3) {
            let is_one = self.text(at) == "@"
                && self.text(at + 1) == "builtin"
                && self.text(at + 2) == "("
                && OF_SUBGROUPS.contains(&self.text(at + 3));
            if is_one {
                self.need_subgroups(self.tokens[at + 3], "a built-in value of the extension `subgroups`");
            }
        }
    }

    /// The first number of 64 bits without `enable crosslane;` is an error.
    fn numbers_of_64_bits(&mut self, from: usize) {
        let Some((token, name)) = wide::first(self.source, &self.tokens[from..]).filter(|_| !self.out.crosslane) else {
            return;
        };
        let error = Diagnostic::error(Code::WGSL_INVALID, format!("WGSL has no type `{name}`"));
        self.diagnostics.push(error.at(self.span(token.lo, token.hi), "crosslane has it as an extension").suggest(
            self.span(0, 0),
            "enable crosslane;\n",
            "add `enable crosslane;` at the start of the module",
        ));
    }

    /// The first use without the extension is an error.
    fn need_subgroups(&mut self, name: Token, what: &str) {
        if std::mem::replace(&mut self.out.subgroups, true) {
            return;
        }
        let message = format!("`{}` needs `enable subgroups;`", name.text(self.source));
        let error = Diagnostic::error(Code::WGSL_INVALID, message).at(self.span(name.lo, name.hi), what).suggest(
            self.span(0, 0),
            "enable subgroups;\n",
            "add `enable subgroups;` at the start of the module",
        );
        self.diagnostics.push(error);
    }

    /// Walks the module and rewrites calls of built-ins.
    fn calls(&mut self, from: usize) {
        let mut frames: Vec<Bracket> = Vec::new();
        for at in from..self.tokens.len() {
            let token = self.tokens[at];
            if let Some(call) = frames.last_mut().and_then(|frame| frame.call.as_mut()) {
                call.see(token);
            }
            if matches!(token.kind, Kind::Punct(b')' | b']' | b'}' | b';')) {
                abandon_templates(&mut frames);
            }
            match token.kind {
                Kind::Punct(b'(') => frames.push(Bracket { close: b')', call: self.call_at(at) }),
                Kind::Punct(b'[') => frames.push(Bracket { close: b']', call: None }),
                Kind::Punct(b'{') => frames.push(Bracket { close: b'}', call: None }),
                Kind::Punct(b'<') if self.opens_template(at) => frames.push(Bracket { close: b'>', call: None }),
                Kind::Punct(close) if frames.last().is_some_and(|frame| frame.close == close) => {
                    if let Some(call) = frames.pop().and_then(|frame| frame.call) {
                        self.finish(call, at);
                    }
                    if let Some(outer) = frames.last_mut().and_then(|frame| frame.call.as_mut()) {
                        outer.last = token.hi;
                    }
                }
                _ => {}
            }
        }
    }

    fn opens_template(&self, at: usize) -> bool {
        at.checked_sub(1).is_some_and(|before| is_generator(self.text(before)))
    }

    /// The call of a built-in whose parenthesis is at token `at`.
    fn call_at(&mut self, at: usize) -> Option<Call> {
        let name = *self.tokens.get(at.checked_sub(1)?)?;
        let before = at.checked_sub(2).map_or("", |before| self.text(before));
        let text = name.text(self.source);
        let is_call = name.kind == Kind::Word && !matches!(before, "fn" | "." | "@") && !self.declared.contains(text);
        self.out.native |= is_call && builtin::is_native(text);
        if is_call && builtin::is_of_subgroups(text) {
            self.need_subgroups(name, "a function of the extension `subgroups`");
        }
        if !is_call || builtin::find(text).is_none() {
            return None;
        }
        if builtin::needs_enable(text) && !self.out.crosslane {
            self.missing_enable(name);
            return None;
        }
        Some(Call::new(name, self.tokens[at]))
    }

    fn missing_enable(&mut self, name: Token) {
        let text = name.text(self.source);
        let message = format!("the function `{text}` is not known without `enable crosslane;`");
        let start = self.span(0, 0);
        let error = Diagnostic::error(Code::UNKNOWN_FUNCTION, message)
            .at(self.span(name.lo, name.hi), "a built-in function of crosslane's")
            .suggest(start, "enable crosslane;\n", "add `enable crosslane;` at the start of the module");
        self.diagnostics.push(error);
    }

    /// Ends a call whose closing parenthesis is at token `at`.
    fn finish(&mut self, call: Call, at: usize) {
        let close = self.tokens[at];
        let name = call.name.text(self.source);
        let arguments = call.arguments(self.base, self.source);
        let span = self.span(call.name.lo, close.hi);
        let Some(known) = builtin::find(name) else { return };
        let Some(fitting) = known.with_arguments(arguments.len()) else {
            self.wrong_count(name, &known, arguments.len(), span);
            return;
        };
        let signature = fitting.signature();
        self.rewrite(&call, close, &signature);
        self.out.sites.push(Site { name: name.into(), builtin: fitting, signature, span, arguments });
    }

    fn wrong_count(&mut self, name: &str, known: &Builtin, count: usize, span: Span) {
        let arguments = if count == 1 { "argument" } else { "arguments" };
        let message = format!("`{name}` does not take {count} {arguments}");
        let mut error = Diagnostic::error(Code::NO_OVERLOAD, message).at(span, "in this call");
        for signature in known.signatures() {
            error = error.note(format!("it is declared as `{signature}`"));
        }
        self.diagnostics.push(error);
    }

    /// Puts the carrier around the arguments. The call has its index in the list of sites.
    fn rewrite(&mut self, call: &Call, close: Token, signature: &Signature) {
        let stub = self.stub(&signature.others, signature.ret);
        let others = self.brackets(&signature.others);
        let lead = others.first().map_or(String::new(), |(before, _)| format!(", {before}"));
        let start = format!("({}u{lead}", self.out.sites.len());
        let end = others.last().map_or(String::new(), |(_, after)| after.clone()) + ")";
        let mut edits: Vec<(Token, String)> = Vec::with_capacity(call.commas.len() + 3);
        let mut commas = call.commas.iter();
        match (signature.data, others.is_empty()) {
            (false, _) => edits.extend([(call.name, stub), (call.open, start), (close, end)]),
            (true, true) => edits.extend([(call.name, self.shuffle.into()), (close, format!(", {stub}{start}{end})"))]),
            (true, false) => {
                let first = commas.next().map(|comma| (*comma, format!(", {stub}{start}")));
                edits.extend([(call.name, self.shuffle.into()), (close, format!("{end})"))].into_iter().chain(first));
            }
        }
        // A comma after the last argument goes.
        let between = others.windows(2).map(|pair| format!("{}, {}", pair[0].1, pair[1].0));
        edits.extend(commas.copied().zip(between.chain(std::iter::once(String::new()))));
        self.out.edits.extend(edits.into_iter().map(|(token, text)| Edit { lo: token.lo, hi: token.hi, text }));
    }

    /// The text before and after each argument of a stub.
    fn brackets(&mut self, passings: &[Passing]) -> Vec<(String, String)> {
        let through = passings.contains(&Passing::Through).then(|| self.stub(&[], Some(Shape::U32)));
        let open = through.map_or(String::new(), |stub| format!("{}({stub}({THROUGH}u), ", self.shuffle));
        let bracket = |passing: &Passing| match passing {
            Passing::Typed(_) => (String::new(), String::new()),
            Passing::Through => (open.clone(), ")".to_string()),
        };
        passings.iter().map(bracket).collect()
    }

    /// The name of the stub with these parameters and this result.
    fn stub(&mut self, params: &[Passing], ret: Option<Shape>) -> String {
        let known = self.stubs.iter().position(|stub| stub.0 == params && stub.1 == ret);
        let number = known.unwrap_or_else(|| {
            self.stubs.push((params.to_vec(), ret));
            self.stubs.len() - 1
        });
        format!("{}{number}", self.out.prefix)
    }

    fn write_stubs(&mut self) {
        for (number, (params, ret)) in self.stubs.iter().enumerate() {
            let types = params.iter().map(|passing| match passing {
                Passing::Typed(shape) => builtin::type_name(*shape),
                Passing::Through => builtin::type_name(Shape::U32),
            });
            let params: String = types.enumerate().map(|(n, ty)| format!(", a{n}: {ty}")).collect();
            let body =
                ret.map(builtin::type_name).map_or("{ }".into(), |ret| format!("-> {ret} {{ return {ret}(); }}"));
            self.out.tail += &format!("\nfn {}{number}(call: u32{params}) {body}", self.out.prefix);
        }
    }
}

/// Forgets template lists that turn out to be none.
fn abandon_templates(frames: &mut Vec<Bracket>) {
    while frames.last().is_some_and(|frame| frame.close == b'>') {
        frames.pop();
    }
}

impl Call {
    fn new(name: Token, open: Token) -> Call {
        Call { name, open, commas: Vec::new(), last: open.hi, empty: true }
    }

    fn see(&mut self, token: Token) {
        if token.is(b',') {
            self.commas.push(token);
        } else if !token.is(b')') {
            self.last = token.hi;
        }
        self.empty &= token.is(b')');
    }

    /// The stretches between the commas; one comma may trail.
    fn arguments(&self, base: u32, source: &str) -> Vec<Span> {
        if self.empty {
            return Vec::new();
        }
        let blanks = |at: u32| source[at as usize..].find(|c: char| !c.is_ascii_whitespace()).unwrap_or(0) as u32;
        let behind = |token: &Token| token.hi + blanks(token.hi);
        let mut lo = behind(&self.open);
        let mut list = Vec::with_capacity(self.commas.len() + 1);
        for comma in &self.commas {
            list.push(Span::new(base + lo, base + comma.lo));
            lo = behind(comma);
        }
        if self.last > lo {
            list.push(Span::new(base + lo, base + self.last));
        }
        list
    }
}
