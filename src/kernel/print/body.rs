//! Prints blocks: one instruction per line, nested blocks indented.

use super::operation::words_of;
use super::type_name;
use crate::ir::Scalar;
use crate::ir::print::flags_text;
use crate::kernel::{BlockId, Def, InstId, Kernel, Op, Origin, Ty, Value};
use crate::source::{SourceMap, Span};
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Column of source positions.
const COMMENT_COLUMN: usize = 72;

/// The text so far, with the numbers of its values and constructs.
pub struct Body<'k> {
    kernel: &'k Kernel,
    sources: Option<&'k SourceMap>,
    out: String,
    /// Number of each value, in text order; 0 if it was not printed yet.
    numbers: Vec<u32>,
    next: u32,
    /// Numbers of loops and scopes, which terminators name.
    labels: FxHashMap<InstId, u32>,
    depth: usize,
    /// File and line of the previous instruction.
    place: Option<(Arc<str>, u32)>,
}

impl<'k> Body<'k> {
    pub fn new(kernel: &'k Kernel, sources: Option<&'k SourceMap>) -> Body<'k> {
        let numbers = vec![0; kernel.values.len()];
        let labels = FxHashMap::default();
        Body { kernel, sources, out: String::new(), numbers, next: 1, labels, depth: 1, place: None }
    }

    pub fn finish(self) -> String {
        self.out
    }

    pub fn block(&mut self, block: BlockId) {
        let kernel = self.kernel;
        for id in &kernel.blocks[block].insts {
            match kernel.insts[*id].op {
                op if op.is_structured() => self.construct(*id),
                // The closing brace is enough.
                Op::Yield if kernel.args(*id).is_empty() => {}
                _ => self.inst(*id),
            }
        }
    }

    fn inst(&mut self, id: InstId) {
        let inst = &self.kernel.insts[id];
        let operation = self.operation(id);
        let text = format!("{}{operation}{}", self.results(id), self.marks(id));
        self.line(&text, inst.span);
    }

    /// Flags, and the origin of the instruction: ` !precise !operation.0`.
    fn marks(&self, id: InstId) -> String {
        let inst = &self.kernel.insts[id];
        let origin = match inst.origin {
            Origin::Code => String::new(),
            Origin::Operation(number) => format!(" !operation.{number}"),
            Origin::SetUp(number) => format!(" !set_up.{number}"),
            Origin::Within(number) => format!(" !within.{number}"),
        };
        flags_text(inst.flags) + &origin
    }

    /// A line, with its source place if that changed.
    fn line(&mut self, text: &str, span: Span) {
        let start = self.out.len();
        self.out.push_str(&"    ".repeat(self.depth));
        self.out.push_str(text);
        let place = self.sources.and_then(|sources| sources.locate(span.lo)).map(|place| (place.file, place.line));
        if let Some((file, line)) = place.as_ref().filter(|_| self.place != place) {
            let pad = COMMENT_COLUMN.saturating_sub(self.out.len() - start);
            self.out.push_str(&format!("{:pad$}  // {file}:{line}", ""));
            self.place = place;
        }
        self.out.push('\n');
    }

    /// `%3: b32, %4: bool = `, or nothing if there is no result.
    fn results(&mut self, id: InstId) -> String {
        let results: Vec<String> = self.kernel.results(id).map(|value| self.declare(value)).collect();
        if results.is_empty() { String::new() } else { format!("{} = ", results.join(", ")) }
    }

    /// Gives a value its number.
    fn declare(&mut self, value: Value) -> String {
        self.numbers[value.index()] = self.next;
        self.next += 1;
        format!("%{}: {}", self.next - 1, type_name(self.kernel.ty(value)))
    }

    fn construct(&mut self, id: InstId) {
        let (kernel, span) = (self.kernel, self.kernel.insts[id].span);
        let (results, marks) = (self.results(id), self.marks(id));
        match kernel.insts[id].op {
            Op::If { then, otherwise } => {
                self.line(&format!("{results}if {}{marks} {{", self.list(id)), span);
                self.nested(then);
                if !self.is_empty(otherwise) {
                    self.line("} else {", Span::NONE);
                    self.nested(otherwise);
                }
            }
            Op::Loop { body, continuing } => {
                let label = self.label(id);
                let params = self.initialized(body, kernel.args(id));
                self.line(&format!("{results}loop {label}{params}{marks} {{"), span);
                self.nested(body);
                let params = self.initialized(continuing, &[]);
                self.line(&format!("}} continuing{params} {{"), Span::NONE);
                self.nested(continuing);
            }
            Op::Scope { body } => {
                let label = self.label(id);
                self.line(&format!("{results}scope {label}{marks} {{"), span);
                self.nested(body);
            }
            Op::Whole { body } => {
                self.line(&format!("{results}whole{marks} {{"), span);
                self.nested(body);
            }
            _ => {}
        }
        self.line("}", Span::NONE);
    }

    fn nested(&mut self, block: BlockId) {
        self.depth += 1;
        self.block(block);
        self.depth -= 1;
    }

    /// Returns true if a block does nothing and yields nothing.
    fn is_empty(&self, block: BlockId) -> bool {
        let yields_nothing = |id: &InstId| self.kernel.insts[*id].op == Op::Yield && self.kernel.args(*id).is_empty();
        matches!(self.kernel.blocks[block].insts.as_slice(), [only] if yields_nothing(only))
    }

    /// The parameters of a block with their initial values, if known: ` (%1: b32 = 0)`.
    fn initialized(&mut self, block: BlockId, values: &[Value]) -> String {
        let kernel = self.kernel;
        let mut texts = Vec::new();
        for (n, param) in kernel.blocks[block].params.iter().enumerate() {
            let initial = values.get(n).map(|value| format!(" = {}", self.value(*value, None))).unwrap_or_default();
            texts.push(self.declare(*param) + &initial);
        }
        if texts.is_empty() { String::new() } else { format!(" ({})", texts.join(", ")) }
    }

    /// Gives a construct its number.
    fn label(&mut self, id: InstId) -> String {
        let next = self.labels.len() as u32 + 1;
        format!("@{}", self.labels.entry(id).or_insert(next))
    }

    fn operation(&self, id: InstId) -> String {
        let words = words_of(&self.kernel.insts[id].op);
        let target = words.target.map(|target| match self.labels.get(&target) {
            Some(label) => format!(" @{label}"),
            None => " @?".to_owned(),
        });
        let values = self.kernel.args(id);
        let mut text = words.text + &target.unwrap_or_default();
        if let Some((address, rest)) = values.split_first().filter(|_| words.is_access) {
            text += &format!("[{}{}]", self.value(*address, None), words.offset);
            text += &self.tail(rest, words.scalar);
        } else {
            text += &self.tail(values, words.scalar);
        }
        text + &words.after
    }

    /// Operands after a space.
    fn tail(&self, values: &[Value], scalar: Option<Scalar>) -> String {
        let values: Vec<String> = values.iter().map(|value| self.value(*value, scalar)).collect();
        if values.is_empty() { String::new() } else { format!(" {}", values.join(", ")) }
    }

    fn list(&self, id: InstId) -> String {
        self.tail(self.kernel.args(id), None).trim_start().to_owned()
    }

    fn value(&self, value: Value, scalar: Option<Scalar>) -> String {
        let data = self.kernel.values[value];
        match data.def {
            Def::Const(bits) if data.ty == Ty::Bool => (bits != 0).to_string(),
            Def::Const(bits) => number(bits, scalar.filter(|scalar| Ty::of(*scalar) == data.ty)) + &of_type(data.ty),
            Def::Undef => "undef".to_owned() + &of_type(data.ty),
            Def::Inst(..) | Def::Param(..) => match self.numbers[value.index()] {
                0 => format!("%?{}", value.index()),
                number => format!("%{number}"),
            },
        }
    }
}

/// The type of a constant, unless it has 32 bits.
fn of_type(ty: Ty) -> String {
    if ty == Ty::B32 { String::new() } else { format!(":{}", type_name(ty)) }
}

/// A constant, as a float if the operation uses floats and the text is exact.
fn number(bits: u64, scalar: Option<Scalar>) -> String {
    let float = match scalar {
        Some(Scalar::F32) => Some(f64::from(f32::from_bits(bits as u32))),
        Some(Scalar::F64) => Some(f64::from_bits(bits)),
        _ => None,
    };
    match float {
        Some(float) if float.is_finite() && scalar == Some(Scalar::F32) => format!("{:?}", float as f32),
        Some(float) if float.is_finite() => format!("{float:?}"),
        _ if bits < 1 << 16 => bits.to_string(),
        _ => format!("{bits:#x}"),
    }
}
