//! A [`Spanning`] under construction.

use super::{Column, Exchange, Owner, SpanOp, SpanStep, Spanning, Tail};
use crate::lane::op::{LaneOp, ReduceOp, Width};
use crate::lane::plan::{AluOp, CompareOp, Operand, StepOp, StepType};

pub(super) struct Draft {
    pub width: u32,
    pub part: u32,
    number: Option<Operand>,
    steps: Vec<SpanStep>,
    exchanges: Vec<Exchange>,
    tail: Option<Tail>,
}

impl Draft {
    pub fn new(width: u32, part: u32) -> Draft {
        Draft { width, part, number: None, steps: Vec::new(), exchanges: Vec::new(), tail: None }
    }

    pub fn finish(self, result: Operand, second: Option<Operand>) -> Spanning {
        let Draft { width, part, steps, exchanges, tail, .. } = self;
        Spanning { width, part, steps, exchanges, tail, result, second }
    }

    pub fn ty(&self, operand: Operand) -> StepType {
        match operand {
            Operand::Input(n) => StepType::Like(n),
            Operand::Step(n) => self.steps[usize::from(n)].ty,
            Operand::Bool(_) => StepType::Bool,
            Operand::Const(_) => StepType::Index,
            Operand::Setup(_) | Operand::None => StepType::None,
        }
    }

    fn push(&mut self, op: SpanOp, operands: &[Operand], ty: StepType) -> Operand {
        let mut args = [Operand::None; 3];
        args[..operands.len()].copy_from_slice(operands);
        self.steps.push(SpanStep { op, args, ty });
        Operand::Step(self.steps.len() as u16 - 1)
    }

    fn plain(&mut self, op: StepOp, operands: &[Operand], ty: StepType) -> Operand {
        self.push(SpanOp::Plain(op), operands, ty)
    }

    /// A cross-lane operation inside the subgroup.
    pub fn lane(&mut self, op: LaneOp, operands: &[Operand], ty: StepType) -> Operand {
        self.push(SpanOp::Lane(op), operands, ty)
    }

    pub fn riders(&mut self, sort: Operand, ty: StepType) -> Operand {
        self.push(SpanOp::Riders, &[sort], ty)
    }

    /// The number of the invocation.
    pub fn number(&mut self) -> Operand {
        if self.number.is_none() {
            self.number = Some(self.push(SpanOp::Number, &[], StepType::Index));
        }
        self.number.unwrap_or(Operand::Const(0))
    }

    pub fn alu(&mut self, op: AluOp, a: Operand, b: Operand) -> Operand {
        match (op, a, b) {
            (_, Operand::Const(x), Operand::Const(y)) => op.on_constants(x, y),
            (AluOp::Add | AluOp::Shr | AluOp::Shl, _, Operand::Const(0)) => Some(a),
            (AluOp::And, _, Operand::Const(u32::MAX)) => Some(a),
            (AluOp::Add, Operand::Const(0), _) => Some(b),
            _ => None,
        }
        .unwrap_or_else(|| self.plain(StepOp::Alu(op), &[a, b], op.result()))
    }

    pub fn combine(&mut self, op: ReduceOp, a: Operand, b: Operand) -> Operand {
        let ty = self.ty(a);
        self.plain(StepOp::Combine(op), &[a, b], ty)
    }

    pub fn compare(&mut self, op: CompareOp, a: Operand, b: Operand) -> Operand {
        self.plain(StepOp::Compare(op), &[a, b], StepType::Bool)
    }

    pub fn select(&mut self, condition: Operand, accept: Operand, reject: Operand) -> Operand {
        let ty = self.ty(accept);
        self.plain(StepOp::Select, &[condition, accept, reject], ty)
    }

    /// A value that changes no other one that is combined with it.
    pub fn neutral(&mut self, op: ReduceOp, ty: StepType) -> Operand {
        match ty {
            StepType::Bool => Operand::Bool(op == ReduceOp::And),
            StepType::Index => Operand::Const(match op {
                ReduceOp::Add | ReduceOp::Max | ReduceOp::Or | ReduceOp::Xor => 0,
                ReduceOp::Mul => 1,
                ReduceOp::Min | ReduceOp::And => u32::MAX,
            }),
            _ => self.plain(StepOp::Neutral(op), &[], ty),
        }
    }

    pub fn identity(&mut self, op: ReduceOp, ty: StepType) -> Operand {
        self.plain(StepOp::Identity(op), &[], ty)
    }

    /// The number of the invocation in its aligned block of `size` invocations.
    pub fn within(&mut self, size: u32) -> Operand {
        let number = self.number();
        match size.is_power_of_two() {
            true => self.alu(AluOp::And, number, Operand::Const(size - 1)),
            // The workgroup is the only segment.
            false => number,
        }
    }

    /// Limits the steps that follow to the parts where a condition is true.
    pub fn only_where(&mut self, condition: Operand) {
        self.tail = Some(Tail { start: self.steps.len() as u16, condition });
    }

    /// The width of the parts as a segment.
    pub fn segment(&self) -> Width {
        Width::new(self.part).unwrap_or(Width::SUBGROUP)
    }

    /// Number of a segment's parts.
    pub fn parts(&self) -> u32 {
        self.width / self.part
    }

    /// Writes each value to the slot in its own column if the condition is true, then waits for the workgroup.
    pub fn exchange(&mut self, owner: Owner, slot: Operand, values: &[Operand], condition: Option<Operand>) -> u8 {
        let exchange = self.exchanges.len() as u8;
        let columns = values.iter().map(|value| self.ty(*value)).collect();
        self.exchanges.push(Exchange { owner, columns });
        for (value, of) in values.iter().zip(0..) {
            let args = [slot, *value, condition.unwrap_or(Operand::None)];
            let given = if condition.is_some() { 3 } else { 2 };
            self.push(SpanOp::Put(Column { exchange, value: of }), &args[..given], StepType::None);
        }
        self.push(SpanOp::Barrier, &[], StepType::None);
        exchange
    }

    pub fn get(&mut self, exchange: u8, value: u8, slot: Operand) -> Operand {
        let ty = self.exchanges[usize::from(exchange)].columns[usize::from(value)];
        self.push(SpanOp::Get(Column { exchange, value }), &[slot], ty)
    }
}
