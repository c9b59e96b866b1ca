//! The steps of a program over several subgroups as short formulas.

use crate::explain::lowering::Lowering;
use crate::ir::print::lane_text;
use crate::lane::spanning::{Column, SpanOp, SpanStep, Spanning};
use crate::lane::{AluOp, CompareOp, LaneOp, Operand, ReduceOp, StepOp};
use serde::Serialize;

/// Letters of a formula that is repeated instead of named.
const SHORT: usize = 20;
/// Letters of a formula that gets a name even if it is used once.
const LONG: usize = 60;

/// The kind of a step.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Phase {
    /// A cross-lane operation inside each subgroup.
    Subgroup,
    /// A write of workgroup memory.
    Write,
    /// A barrier.
    Wait,
    /// A read of workgroup memory.
    Read,
    /// Arithmetic of each invocation.
    Combine,
    Result,
}

impl Phase {
    /// Its name in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Phase::Subgroup => "in each subgroup",
            Phase::Write => "write",
            Phase::Wait => "wait",
            Phase::Read => "read",
            Phase::Combine => "combine",
            Phase::Result => "result",
        }
    }
}

/// One step.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct SpanLine {
    pub phase: Phase,
    pub text: String,
    /// The code of an operation inside the subgroup; `None` if an earlier step shows it, or the shader has no code for
    /// it.
    pub lowering: Option<Box<Lowering>>,
}

impl SpanLine {
    /// Returns true if a reader would see the same.
    pub fn is_like(&self, other: &SpanLine) -> bool {
        let is_code = match (&self.lowering, &other.lowering) {
            (Some(one), Some(other)) => one.is_like(other),
            (one, other) => one.is_none() && other.is_none(),
        };
        is_code && (self.phase, &self.text) == (other.phase, &other.text)
    }
}

/// The steps of an operation's program, given the code of each operation inside the subgroup.
pub fn steps(op: LaneOp, program: &Spanning, waits: bool, inside: Vec<Option<Lowering>>) -> Vec<SpanLine> {
    let mut writer = Writer { op, program, uses: uses(program), values: Vec::new(), lines: Vec::new(), names: 0 };
    if waits {
        writer.line(Phase::Wait, "for the workgroup, which may still read the memory".into());
    }
    let mut inside = inside.into_iter();
    for (n, step) in program.steps.iter().enumerate() {
        if let Some(tail) = program.tail.filter(|tail| usize::from(tail.start) == n) {
            let condition = writer.value(tail.condition).text;
            writer.line(Phase::Combine, format!("what follows only where {condition}"));
        }
        let value = writer.step(n, step);
        writer.values.push(value);
        if let (SpanOp::Lane(_), Some(line)) = (step.op, writer.lines.last_mut()) {
            line.lowering = inside.next().flatten().map(Box::new);
        }
    }
    let results = [Some(program.result), program.second].into_iter().flatten();
    let results: Vec<String> = results.map(|result| writer.value(result).text).collect();
    writer.line(Phase::Result, results.join(" and "));
    writer.lines
}

/// For each step, the number of operands and results that are its value.
fn uses(program: &Spanning) -> Vec<usize> {
    let mut uses = vec![0; program.steps.len()];
    let operands = program.steps.iter().flat_map(SpanStep::operands).chain([&program.result]);
    for operand in operands.chain(&program.second) {
        if let Operand::Step(n) = operand {
            uses[usize::from(*n)] += 1;
        }
    }
    uses
}

/// A formula.
#[derive(Clone)]
struct Formula {
    text: String,
    binds: Binds,
}

/// How closely the outer operator of a formula binds. An operand that does not bind closer has brackets.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Binds {
    Choice,
    /// Bitwise operators, whose precedence differs among languages.
    Bits,
    Logic,
    Comparison,
    Sum,
    Product,
    Atom,
}

impl Formula {
    fn atom(text: impl Into<String>) -> Formula {
        Formula { text: text.into(), binds: Binds::Atom }
    }

    fn within(&self, outer: Binds) -> String {
        if self.binds > outer { self.text.clone() } else { format!("({})", self.text) }
    }
}

struct Writer<'a> {
    op: LaneOp,
    program: &'a Spanning,
    uses: Vec<usize>,
    /// The values of the steps so far.
    values: Vec<Formula>,
    lines: Vec<SpanLine>,
    names: u32,
}

impl Writer<'_> {
    fn line(&mut self, phase: Phase, text: String) {
        self.lines.push(SpanLine { phase, text, lowering: None });
    }

    /// Adds a line that names a value.
    fn named(&mut self, phase: Phase, value: &str) -> Formula {
        self.names += 1;
        let name = format!("t{}", self.names);
        self.line(phase, format!("{name} = {value}"));
        Formula::atom(name)
    }

    fn value(&self, operand: Operand) -> Formula {
        match operand {
            Operand::Input(n) => {
                let param = self.op.signature().params.get(usize::from(n));
                let name = param.map_or("index", |param| param.name);
                Formula::atom(if name == "before" { "value" } else { name })
            }
            Operand::Step(n) => self.values[usize::from(n)].clone(),
            Operand::Bool(value) => Formula::atom(value.to_string()),
            Operand::Const(value) if value > u32::MAX / 2 => Formula::atom(format!("~{}", !value)),
            Operand::Const(value) => Formula::atom(value.to_string()),
            Operand::Setup(_) | Operand::None => Formula::atom(""),
        }
    }

    /// The value of a step; an empty formula if it has none.
    fn step(&mut self, n: usize, step: &SpanStep) -> Formula {
        let args: Vec<Formula> = step.operands().iter().map(|arg| self.value(*arg)).collect();
        match (step.op, args.as_slice()) {
            (SpanOp::Lane(op), args) => {
                let args: Vec<&str> = args.iter().map(|arg| &*arg.text).collect();
                self.named(Phase::Subgroup, &format!("{}({})", lane_text(op), args.join(", ")))
            }
            (SpanOp::Riders, [sort]) => Formula::atom(format!("values({})", sort.text)),
            (SpanOp::Number, _) => Formula::atom("number"),
            (SpanOp::Plain(op), args) => {
                let value = plain(op, step.args, args);
                let length = value.text.len();
                match length > LONG || length > SHORT && self.uses[n] > 1 {
                    true => self.named(Phase::Combine, &value.text),
                    false => value,
                }
            }
            (SpanOp::Put(column), [slot, value, condition @ ..]) => {
                let place = self.slot(column, slot);
                let condition = condition.first().map(|is| format!(", where {}", is.text)).unwrap_or_default();
                self.line(Phase::Write, format!("{place} = {}{condition}", value.text));
                Formula::atom("")
            }
            (SpanOp::Get(column), [slot]) => {
                let place = self.slot(column, slot);
                self.named(Phase::Read, &place)
            }
            (SpanOp::Barrier, _) => {
                self.line(Phase::Wait, "for the workgroup".into());
                Formula::atom("")
            }
            (SpanOp::Riders | SpanOp::Put(_) | SpanOp::Get(_), _) => Formula::atom(""),
        }
    }

    fn slot(&self, column: Column, slot: &Formula) -> String {
        let exchange = &self.program.exchanges[usize::from(column.exchange)];
        let part = if exchange.columns.len() > 1 { format!(".{}", column.value) } else { String::new() };
        format!("memory{part}[{}]", slot.text)
    }
}

/// Arithmetic on formulas; the operands say which of them are constants.
fn plain(op: StepOp, operands: [Operand; 3], args: &[Formula]) -> Formula {
    match (op, args) {
        (StepOp::Alu(op), [a]) => {
            let sign = if op == AluOp::BoolNot { "!" } else { "~" };
            Formula::atom(format!("{sign}{}", a.within(Binds::Product)))
        }
        (StepOp::Alu(op), [a, b]) => match (op, operands[1]) {
            (AluOp::Shr, Operand::Const(by)) => binary("/", a, &Formula::atom((1_u64 << by).to_string())),
            (AluOp::And, Operand::Const(mask)) if mask > 0 && (mask & mask.wrapping_add(1)) == 0 => {
                binary("%", a, &Formula::atom((u64::from(mask) + 1).to_string()))
            }
            (op, _) => binary(alu(op), a, b),
        },
        (StepOp::Combine(op), [a, b]) => match op {
            ReduceOp::Add => binary("+", a, b),
            ReduceOp::Mul => binary("*", a, b),
            ReduceOp::And => binary("&", a, b),
            ReduceOp::Or => binary("|", a, b),
            ReduceOp::Xor => binary("^", a, b),
            ReduceOp::Min => Formula::atom(format!("min({}, {})", a.text, b.text)),
            ReduceOp::Max => Formula::atom(format!("max({}, {})", a.text, b.text)),
        },
        (StepOp::Compare(op), [a, b]) => binary(if op == CompareOp::Lt { "<" } else { "==" }, a, b),
        (StepOp::Select, args @ [_, _, _]) => {
            let [condition, accept, reject] = [0, 1, 2].map(|n| args[n].within(Binds::Choice));
            Formula { text: format!("{condition} ? {accept} : {reject}"), binds: Binds::Choice }
        }
        _ => Formula::atom("identity"),
    }
}

fn binary(sign: &str, a: &Formula, b: &Formula) -> Formula {
    let (binds, inner) = match sign {
        "*" | "/" | "%" => (Binds::Product, Binds::Product),
        "+" | "-" => (Binds::Sum, Binds::Sum),
        "&&" | "||" => (Binds::Logic, Binds::Logic),
        "&" | "|" | "^" | "<<" | ">>" => (Binds::Bits, Binds::Sum),
        _ => (Binds::Comparison, Binds::Comparison),
    };
    Formula { text: format!("{} {sign} {}", a.within(inner), b.within(inner)), binds }
}

const fn alu(op: AluOp) -> &'static str {
    match op {
        AluOp::Add => "+",
        AluOp::Sub => "-",
        AluOp::Mul => "*",
        AluOp::And => "&",
        AluOp::Or => "|",
        AluOp::Xor => "^",
        AluOp::Shl => "<<",
        AluOp::Shr => ">>",
        AluOp::Eq => "==",
        AluOp::Ne | AluOp::BoolXor => "!=",
        AluOp::Lt => "<",
        AluOp::Le => "<=",
        AluOp::Gt => ">",
        AluOp::Ge => ">=",
        AluOp::BoolAnd => "&&",
        AluOp::BoolOr => "||",
        _ => "?",
    }
}
