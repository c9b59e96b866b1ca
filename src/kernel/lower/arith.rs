//! Operators, conversions, and construction and extraction of composites: component by component.

use super::pointer::Index;
use super::{Lower, Scalars};
use crate::ir::{self, BinaryOp, Op as IrOp, Scalar, ScalarKind, TypeId, UnaryOp};
use crate::kernel::{BinOp, CmpOp, Op, Ty, UnOp, Value};

impl Lower<'_> {
    /// An operation whose result depends only on its operands.
    pub fn pure(&mut self, inst: &ir::Inst) -> Scalars {
        match inst.op {
            IrOp::Unary(op, a) => self.unary(op, a),
            IrOp::Binary(op, a, b) => self.binary(op, a, b),
            IrOp::Math(function, args) => {
                let args = self.list(args);
                self.math(function, inst.ty, args)
            }
            IrOp::Convert(a) => self.convert_all(a, inst.ty),
            IrOp::Bitcast(a) => self.bitcast(a, inst.ty),
            IrOp::Select { condition, accept, reject } => self.select_all(condition, accept, reject),
            _ => self.composite(inst),
        }
    }

    fn composite(&mut self, inst: &ir::Inst) -> Scalars {
        match inst.op {
            IrOp::Construct(parts) => self.list(parts).iter().flat_map(|part| self.values(*part)).collect(),
            IrOp::Splat(a) => {
                let count = self.shapes.count(inst.ty).unwrap_or(1);
                Scalars::from_elem(self.scalar(a), count as usize)
            }
            IrOp::Extract { composite, index } => self.extract(composite, index),
            IrOp::ExtractDynamic { composite, index } => match self.index(index) {
                Index::Known(index) => self.extract(composite, index),
                Index::Computed(index) => self.extract_dynamic(composite, index),
            },
            IrOp::Insert { composite, index, part } => self.insert(composite, index, part),
            IrOp::InsertDynamic { composite, index, part } => self.insert_dynamic(composite, index, part),
            IrOp::Shuffle { a, b, mask } => {
                let size = self.shapes.count(inst.ty).unwrap_or(0) as usize;
                let from: Scalars = self.values(a).into_iter().chain(self.values(b)).collect();
                mask.iter().take(size).filter_map(|at| from.get(usize::from(*at)).copied()).collect()
            }
            _ => Scalars::new(),
        }
    }

    // Operators.

    fn unary(&mut self, op: UnaryOp, a: ir::Value) -> Scalars {
        let scalar = self.scalar_of(a);
        let op = match op {
            UnaryOp::Neg => UnOp::Neg,
            UnaryOp::Not | UnaryOp::LogicalNot => UnOp::Not,
        };
        self.values(a).into_iter().map(|a| self.b.un(op, scalar, a)).collect()
    }

    fn binary(&mut self, op: BinaryOp, a: ir::Value, b: ir::Value) -> Scalars {
        use BinaryOp as B;
        let scalar = self.scalar_of(a);
        match op {
            B::MatrixTimesVector | B::VectorTimesMatrix | B::MatrixTimesMatrix | B::OuterProduct => {
                self.product(op, scalar, a, b)
            }
            B::Shl | B::Shr => self.shift(op, scalar, a, b),
            B::TimesScalar => self.each(a, b, |lower, a, b| lower.b.bin(BinOp::Mul, scalar, a, b)),
            B::Rem if scalar.is_float() => self.each(a, b, |lower, a, b| lower.float_rest(scalar, a, b)),
            B::Eq | B::Ne | B::Lt | B::Le | B::Gt | B::Ge => {
                let op = comparison(op);
                self.each(a, b, |lower, a, b| lower.b.cmp(op, scalar, a, b))
            }
            _ => {
                let op = arithmetic(op);
                self.each(a, b, |lower, a, b| lower.b.bin(op, scalar, a, b))
            }
        }
    }

    /// Pairs of scalars; a single scalar on the right is repeated.
    fn each(&mut self, a: ir::Value, b: ir::Value, f: impl Fn(&mut Self, Value, Value) -> Value) -> Scalars {
        let (a, b) = (self.values(a), self.values(b));
        self.zip(&a, &b, f)
    }

    /// Pairs of scalars; a single scalar on the right is repeated.
    pub fn zip(&mut self, a: &[Value], b: &[Value], f: impl Fn(&mut Self, Value, Value) -> Value) -> Scalars {
        let Some(last) = b.last() else { return Scalars::new() };
        a.iter().enumerate().map(|(at, a)| f(self, *a, *b.get(at).unwrap_or(last))).collect()
    }

    /// The amount may have another integer type; it fits 32 bits.
    fn shift(&mut self, op: BinaryOp, scalar: Scalar, a: ir::Value, b: ir::Value) -> Scalars {
        let of_amount = self.scalar_of(b);
        let op = if op == BinaryOp::Shl { BinOp::Shl } else { BinOp::Shr };
        self.each(a, b, |lower, a, amount| {
            let amount = lower.resized(of_amount, 32, amount);
            lower.b.bin(op, scalar, a, amount)
        })
    }

    /// An integer in another width.
    pub fn resized(&mut self, from: Scalar, width: u8, value: Value) -> Value {
        self.converted(from, Scalar { width, ..from }, value)
    }

    /// `a - b * trunc(a / b)`.
    fn float_rest(&mut self, scalar: Scalar, a: Value, b: Value) -> Value {
        let quotient = self.b.bin(BinOp::Div, scalar, a, b);
        let whole = self.b.un(UnOp::Trunc, scalar, quotient);
        let product = self.b.bin(BinOp::Mul, scalar, b, whole);
        self.b.bin(BinOp::Sub, scalar, a, product)
    }

    fn select_all(&mut self, condition: ir::Value, accept: ir::Value, reject: ir::Value) -> Scalars {
        let (flags, accept, reject) = (self.values(condition), self.values(accept), self.values(reject));
        let Some(last) = flags.last() else { return Scalars::new() };
        let pairs = accept.iter().zip(&reject).enumerate();
        pairs.map(|(at, (a, r))| self.b.select(*flags.get(at).unwrap_or(last), *a, *r)).collect()
    }

    // Conversions.

    fn convert_all(&mut self, a: ir::Value, to: TypeId) -> Scalars {
        let from = self.scalar_of(a);
        let to = self.shapes.types.scalar_of(to).unwrap_or(from);
        self.values(a).into_iter().map(|a| self.converted(from, to, a)).collect()
    }

    /// A value in another type; the same value if the bits stay.
    pub fn converted(&mut self, from: Scalar, to: Scalar, value: Value) -> Value {
        let same_bits = from.is_int() && to.is_int() && from.width == to.width && from.width != 8;
        if from == to || same_bits { value } else { self.b.convert(from, to, value) }
    }

    /// A bitcast, lowest component first.
    fn bitcast(&mut self, a: ir::Value, to: TypeId) -> Scalars {
        let from = self.scalar_of(a);
        let values = self.values(a);
        let Some(to) = self.scalar_of_type(to) else { return values };
        if from.width == to.width {
            return values.into_iter().map(|a| self.reinterpreted(from, to, a)).collect();
        }
        if from.width < to.width { self.joined(from, to, &values) } else { self.split(from, to, &values) }
    }

    /// Reinterprets between types of one width: only 8-bit values change, because of their extension.
    fn reinterpreted(&mut self, from: Scalar, to: Scalar, value: Value) -> Value {
        if from.width == 8 { self.converted(from, to, value) } else { value }
    }

    /// Joins narrow components into wide ones.
    fn joined(&mut self, from: Scalar, to: Scalar, values: &[Value]) -> Scalars {
        let each = usize::from(to.width / from.width);
        values.chunks(each).map(|parts| self.join_parts(from, to, parts)).collect()
    }

    fn join_parts(&mut self, from: Scalar, to: Scalar, parts: &[Value]) -> Value {
        if from.width == 32 {
            return self.b.value(Op::Join, parts, Ty::B64);
        }
        let wide = unsigned(to.width);
        let mut whole = self.b.constant(Ty::of(wide), 0);
        for (at, part) in parts.iter().enumerate() {
            let part = self.reinterpreted(from, unsigned(from.width), *part);
            let part = self.b.convert(unsigned(from.width), wide, part);
            let amount = self.b.u32(at as u32 * u32::from(from.width));
            let part = self.b.bin(BinOp::Shl, wide, part, amount);
            whole = self.b.bin(BinOp::Or, wide, whole, part);
        }
        whole
    }

    /// Wide values as narrow parts.
    fn split(&mut self, from: Scalar, to: Scalar, values: &[Value]) -> Scalars {
        let each = u32::from(from.width / to.width);
        values
            .iter()
            .flat_map(|value| (0..each).map(move |at| (*value, at)))
            .map(|(v, at)| self.part(from, to, v, at))
            .collect()
    }

    fn part(&mut self, from: Scalar, to: Scalar, value: Value, at: u32) -> Value {
        if to.width == 32 {
            return self.b.value(if at == 0 { Op::Low } else { Op::High }, &[value], Ty::B32);
        }
        let amount = self.b.u32(at * u32::from(to.width));
        let shifted = self.b.bin(BinOp::Shr, unsigned(from.width), value, amount);
        let int = if to.is_float() { unsigned(to.width) } else { to };
        self.b.convert(unsigned(from.width), int, shifted)
    }

    // Composites.

    fn extract(&mut self, composite: ir::Value, index: u32) -> Scalars {
        let Some((first, count)) = self.range(composite, index) else { return self.no_part(composite) };
        let values = self.values(composite);
        values.get(first..first + count).map(Scalars::from_slice).unwrap_or_default()
    }

    /// The range of scalars of a composite that a part occupies.
    fn range(&mut self, composite: ir::Value, index: u32) -> Option<(usize, usize)> {
        let ty = self.type_of(composite)?;
        let (part, first) = self.shapes.value_part(ty, index)?;
        Some((first as usize, self.shapes.count(part)? as usize))
    }

    /// Zeros for a part outside an array whose size comes from a specialization constant.
    fn no_part(&mut self, composite: ir::Value) -> Scalars {
        let element = self.type_of(composite).and_then(|ty| self.shapes.types.element(ty, 0));
        let scalars = element.map(|element| self.shapes.scalars(element));
        scalars.map(|scalars| self.undefined(&scalars)).unwrap_or_default()
    }

    fn insert(&mut self, composite: ir::Value, index: u32, part: ir::Value) -> Scalars {
        let mut values = self.values(composite);
        let part = self.values(part);
        if let Some((first, count)) = self.range(composite, index).filter(|(_, count)| *count == part.len()) {
            values[first..first + count].copy_from_slice(&part);
        }
        values
    }

    fn insert_dynamic(&mut self, composite: ir::Value, index: ir::Value, part: ir::Value) -> Scalars {
        let (index, part) = (self.word(index), self.scalar(part));
        let values = self.values(composite);
        self.replace(&values, index, part)
    }

    /// One of a few values, by an index; the last one for all larger indices.
    pub fn pick(&mut self, values: &[Value], index: Value) -> Value {
        let Some((last, others)) = values.split_last() else { return self.b.u32(0) };
        others.iter().enumerate().rev().fold(*last, |rest, (at, value)| {
            let is_it = self.is_index(index, at);
            self.b.select(is_it, *value, rest)
        })
    }

    /// One of a few parts of a composite, by an index.
    pub fn pick_part(&mut self, values: &[Value], parts: usize, index: Value) -> Scalars {
        let each = values.len() / parts;
        let choices = |at: usize| -> Scalars { values.iter().skip(at).step_by(each.max(1)).copied().collect() };
        (0..each).map(|at| self.pick(&choices(at), index)).collect()
    }

    /// The values with one replaced, by an index.
    pub fn replace(&mut self, values: &[Value], index: Value, new: Value) -> Scalars {
        let replaced = values.iter().enumerate().map(|(at, old)| {
            let is_it = self.is_index(index, at);
            self.b.select(is_it, new, *old)
        });
        replaced.collect()
    }

    fn is_index(&mut self, index: Value, at: usize) -> Value {
        let at = self.b.u32(at as u32);
        self.b.cmp(CmpOp::Eq, Scalar::U32, index, at)
    }
}

/// The unsigned integer of a width.
pub const fn unsigned(width: u8) -> Scalar {
    Scalar { kind: ScalarKind::Uint, width }
}

fn comparison(op: BinaryOp) -> CmpOp {
    match op {
        BinaryOp::Eq => CmpOp::Eq,
        BinaryOp::Ne => CmpOp::Ne,
        BinaryOp::Lt => CmpOp::Lt,
        BinaryOp::Le => CmpOp::Le,
        BinaryOp::Gt => CmpOp::Gt,
        _ => CmpOp::Ge,
    }
}

/// The operation on scalars; other operations have been handled.
fn arithmetic(op: BinaryOp) -> BinOp {
    match op {
        BinaryOp::Sub => BinOp::Sub,
        BinaryOp::Mul => BinOp::Mul,
        BinaryOp::Div => BinOp::Div,
        BinaryOp::Rem => BinOp::Rem,
        BinaryOp::And | BinaryOp::LogicalAnd => BinOp::And,
        BinaryOp::Or | BinaryOp::LogicalOr => BinOp::Or,
        BinaryOp::Xor => BinOp::Xor,
        _ => BinOp::Add,
    }
}
