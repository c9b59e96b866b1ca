//! The facts about the result of one instruction, from the facts about its operands.

use super::fact::{Alike, Fact, Held, Picks};
use super::walk::Walk;
use crate::ir::{BinaryOp, ImageOp, Inst, MathFn, Op, Type, UnaryOp, Value, Values};
use crate::lane::{Depends, Group, LaneOp, ReduceKind, Width};

impl Walk<'_> {
    /// The facts about an instruction's result, without memory and control flow.
    pub fn result(&self, inst: &Inst) -> Fact {
        let mut is_open = false;
        inst.op.each_operand(self.function, |value| is_open |= self.fact(value).is_open);
        Fact { is_open, ..self.made_by(inst) }
    }

    /// The facts if all operands are known.
    fn made_by(&self, inst: &Inst) -> Fact {
        match inst.op {
            Op::Binary(op, a, b) => self.binary(op, a, b),
            Op::Unary(op, a) => unary(op, self.fact(a)),
            Op::Convert(a) | Op::Bitcast(a) => self.converted(inst, self.fact(a)),
            Op::Select { condition, accept, reject } => {
                let (accept, reject) = (self.fact(accept), self.fact(reject));
                let is_choice = accept.origin.is_none() || accept.origin != reject.origin;
                let value = accept.meet(reject);
                if is_choice { value.chosen(self.fact(condition).alike) } else { value }
            }
            Op::Extract { composite, index } => {
                let fact = self.fact(composite);
                fact.whole.map_or(fact.part(index.into()), |whole| self.work.component(whole, index as u8))
            }
            Op::Construct(list) => self.composed(inst, self.values(list)),
            Op::Insert { composite, index, part } => {
                // The replaced part still counts.
                self.fact(composite).meet(self.fact(part).only_part(index.into()))
            }
            Op::Lane(op, args) => self.lane(op, args, inst),
            Op::Foreign(..)
            | Op::Atomic { .. }
            | Op::Image { op: ImageOp::Atomic(..), .. }
            | Op::Math(MathFn::IsHelper, _) => Fact::LANE,
            _ => self.mixed(inst),
        }
    }

    /// A composite value; a vector may consist of others.
    fn composed(&self, inst: &Inst, parts: &[Value]) -> Fact {
        let types = &self.work.module.types;
        let all = match types.get(inst.ty) {
            Type::Vector { size, .. } => usize::from(size),
            _ => parts.len(),
        };
        if parts.len() == all { Fact::composed(parts.iter().map(|part| self.fact(*part))) } else { self.mixed(inst) }
    }

    /// Arithmetic without special rules.
    fn mixed(&self, inst: &Inst) -> Fact {
        let mut all = Fact::PLAIN;
        inst.op.each_operand(self.function, |value| all = all.mix(self.fact(value)));
        all
    }

    /// A number that stays an integer keeps its low bits.
    fn converted(&self, inst: &Inst, fact: Fact) -> Fact {
        let types = &self.work.module.types;
        let is_int = types.scalar_of(inst.ty).is_some_and(|scalar| scalar.is_int());
        if is_int {
            Fact { whole: None, number: None, origin: None, ..fact }
        } else {
            Fact { varies: fact.varies, ..fact.made() }
        }
    }

    /// The bits of a scalar with one value wherever it is known.
    pub fn constant(&self, value: Value) -> Option<u64> {
        self.fact(value).number
    }

    fn binary(&self, op: BinaryOp, a: Value, b: Value) -> Fact {
        use BinaryOp as O;
        let (x, y) = (self.fact(a), self.fact(b));
        match (op, x.number, y.number) {
            (O::LogicalAnd, Some(0), _) | (O::LogicalAnd, _, Some(0)) => Fact::constant(0),
            (O::LogicalOr, Some(1), _) | (O::LogicalOr, _, Some(1)) => Fact::constant(1),
            (O::Eq, None, Some(c)) => Fact { picks: picks(x, c), ..x.mix(y) },
            (O::Eq, Some(c), None) => Fact { picks: picks(y, c), ..x.mix(y) },
            (O::Lt, None, Some(1)) => Fact { picks: picks(x, 0), ..ordered(x, y, 1) },
            (O::Lt | O::Ge, None, c) => ordered(x, y, c.unwrap_or(1_u64 << y.zeros)),
            (O::Gt | O::Le, None, Some(c)) => ordered(x, y, c.wrapping_add(1)),
            (O::Gt | O::Le, c, None) => ordered(y, x, c.unwrap_or(1_u64 << x.zeros)),
            (O::Lt | O::Ge, Some(c), None) => ordered(y, x, c.wrapping_add(1)),
            // A boolean that became a number.
            (O::Ne, None, Some(0)) => Fact { picks: x.picks, ..x.mix(y) },
            (O::LogicalAnd, ..) => Fact { picks: x.picks.or(y.picks), ..self.guarded(x, y) },
            (O::LogicalOr, ..) => self.guarded(x, y),
            (O::And, None, Some(c)) => self.masked(x, c),
            (O::And, Some(c), None) => self.masked(y, c),
            (O::Rem, None, Some(c)) if c.is_power_of_two() => self.masked(x, c - 1),
            (O::Rem, None, None) => {
                let index = x.index.min(y.zeros);
                Fact { index, varies: index > 0, ..x.mix(y) }
            }
            (O::Div, None, None) => grouped(x, y.zeros).mix(y),
            (O::Mul, None, None) => Fact { zeros: (x.zeros + y.zeros).min(8), ..x.mix(y) },
            (O::Rem, None, Some(c)) if c > 1 => Fact { index: x.index.min(zeros(c)), varies: x.index > 0, ..x.made() },
            (O::Shr, None, Some(c)) => self.shifted(x, c.min(64) as u8),
            (O::Div, None, Some(c)) if c > 0 => self.shifted(x, zeros(c)),
            (O::Shl, None, Some(c)) => scaled(x, c.min(8) as u8),
            (O::Mul, None, Some(c)) if c > 0 => scaled(x, zeros(c)),
            (O::Mul, Some(c), None) if c > 0 => scaled(y, zeros(c)),
            (O::Add | O::Sub | O::Xor | O::Or, ..) => self.offset(op, x, y),
            _ => x.mix(y),
        }
    }

    /// A conjunction or disjunction: one operand may restrict where the other is examined.
    fn guarded(&self, x: Fact, y: Fact) -> Fact {
        let parts = |fact: Fact, held: Held| self.lanes(fact.alike) < self.work.bits(held.width);
        let of = |own: Fact, other: Fact| own.held.filter(|held| other.held.is_some() || !parts(other, *held));
        Fact { held: of(x, y).or(of(y, x)), ..x.mix(y) }
    }

    /// A sum. An index plus a uniform value still distinguishes lanes, and keeps its low bits if that value has none.
    fn offset(&self, op: BinaryOp, x: Fact, y: Fact) -> Fact {
        let uniform = |fact: Fact| self.lanes(fact.alike) >= self.work.size;
        let (own, by) = if uniform(y) { (x, y) } else { (y, x) };
        let all = Fact { zeros: x.zeros.min(y.zeros), ..x.mix(y) };
        if !uniform(by) {
            return all;
        }
        let is_reversed = op == BinaryOp::Sub && uniform(x);
        let index = if is_reversed { 0 } else { own.index.min(by.zeros) };
        Fact { index, varies: own.varies && op != BinaryOp::Or, ..all }
    }

    fn masked(&self, x: Fact, mask: u64) -> Fact {
        let kept = x.index.min(mask.trailing_ones().min(8) as u8);
        let seen = mask & ((1_u64 << x.index.min(self.work.least_size())) - 1);
        let grouped = Fact { index: kept, varies: x.varies && seen != 0, ..grouped(x, zeros(mask)) };
        Fact { zeros: x.zeros.max(zeros(mask)), ..grouped }
    }

    /// A shift. Eight low zeros represent an unknown number: the low zeros of a subgroup size that only the driver
    /// knows.
    fn shifted(&self, x: Fact, by: u8) -> Fact {
        let varies = x.varies && by < x.index.min(self.work.least_size());
        let zeros = if by > 0 && x.zeros == 8 { 0 } else { x.zeros.saturating_sub(by) };
        Fact { zeros, varies, ..grouped(x, by) }
    }

    /// The result of a cross-lane operation. A move may be undefined in some lanes, so only moves that give all lanes
    /// of a group one value are useful.
    fn lane(&self, op: LaneOp, args: Values, inst: &Inst) -> Fact {
        use LaneOp as O;
        let (signature, args) = (op.signature(), self.values(args));
        match op {
            O::LaneIndex(Group::Warp) => Fact::index(5),
            O::LaneIndex(_) => Fact::index(7),
            O::LaneCount(Group::Subgroup) => {
                Fact { zeros: self.work.lanes.map_or(8, |_| self.work.size), ..Fact::PLAIN }
            }
            O::Reduce { kind: kind @ (ReduceKind::Reduce | ReduceKind::ReduceLow), width, .. } => {
                let held = Held { width, is_low: kind == ReduceKind::ReduceLow, at: inst.span };
                Fact { held: Some(held), ..Fact::LANE }
            }
            O::Elect => Fact { picks: Some(Picks { bits: 7, lane: 0 }), ..Fact::LANE },
            _ => match signature.depends {
                Depends::Size => Fact::PLAIN,
                Depends::Operands => self.mixed(inst),
                Depends::Named => args.get(1).map_or(Fact::LANE, |lane| Fact::new(self.fact(*lane).alike)),
                Depends::Span => signature.span.width().map_or(Fact::LANE, |width| Fact::new(Alike::of(bits(width)))),
                Depends::Lane | Depends::Any => Fact::LANE,
            },
        }
    }
}

/// Bits of a lane's number in a segment.
fn bits(width: Width) -> u8 {
    width.lanes().map_or(Alike::WHOLE, |lanes| lanes.ilog2() as u8)
}

/// The number of low zeros, at most 8: a subgroup size has no more bits.
fn zeros(number: u64) -> u8 {
    number.trailing_zeros().min(8) as u8
}

/// Arithmetic that only depends on the bits above `bits`.
fn grouped(x: Fact, bits: u8) -> Fact {
    let all = x.made();
    let segment = bits.min(x.index);
    match all.alike.params {
        _ if segment == 0 => all,
        0 => Fact { alike: Alike::of(all.alike.lanes.max(segment)), ..all },
        // The lane index in all calls of the function: its known bits no longer depend on the caller.
        _ => Fact { alike: Alike::of(segment), ..all },
    }
}

/// True if a number is below a limit: the same wherever its bits above the limit's zeros are.
fn ordered(x: Fact, y: Fact, limit: u64) -> Fact {
    let grouped = grouped(x, zeros(limit));
    grouped.mix(y)
}

fn scaled(x: Fact, by: u8) -> Fact {
    Fact { zeros: (x.zeros + by).min(8), varies: x.varies, ..x.made() }
}

/// The lanes whose index equals a number, as far as a value shows it.
fn picks(x: Fact, number: u64) -> Option<Picks> {
    (x.index > 0).then(|| Picks { bits: x.index, lane: (number & ((1_u64 << x.index) - 1)) as u8 })
}

fn unary(op: UnaryOp, x: Fact) -> Fact {
    match (op, x.number) {
        (UnaryOp::LogicalNot, Some(bits)) => Fact::constant(bits ^ 1),
        _ => Fact { varies: x.varies && op != UnaryOp::LogicalNot, ..x.made() },
    }
}
