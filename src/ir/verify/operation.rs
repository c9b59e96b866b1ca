//! Rules of pure operations and of operands of control flow.

use super::body::Body;
use super::{Check, ensure};
use crate::ir::typing;
use crate::ir::{BinaryOp, FuncId, Inst, Op, Passing, Scalar, Type, TypeId, Types, UnaryOp, Value, Values};

impl Body<'_> {
    /// The rule for an instruction's operands and result.
    pub fn operation(&mut self, inst: &Inst) -> Check {
        let ty = inst.ty;
        match inst.op {
            Op::Unary(op, a) => self.unary(op, ty, a),
            Op::Binary(op, a, b) => self.binary(op, ty, a, b),
            Op::Math(function, args) => self.math(function, ty, args),
            Op::Convert(a) => self.convert(ty, a),
            Op::Bitcast(a) => self.bitcast(ty, a),
            Op::Select { condition, accept, reject } => self.select(ty, condition, accept, reject),
            Op::Construct(parts) => self.construct(ty, parts),
            Op::Splat(a) => self.splat(ty, a),
            Op::Extract { composite, index } => self.part(composite, index).and_then(|part| self.expect(ty, part)),
            Op::ExtractDynamic { composite, index } => self.dynamic_part(ty, composite, index),
            Op::Insert { composite, index, part } => self.insert(ty, composite, index, part),
            Op::InsertDynamic { composite, index, part } => self.insert_dynamic(ty, composite, index, part),
            Op::Shuffle { a, b, mask } => self.shuffle(ty, a, b, mask),
            Op::Lane(op, args) => self.lane(op, ty, args),
            Op::Call(callee, args) => self.call(ty, callee, args),
            Op::Cooperative(op, args) => self.cooperative(ty, op, args),
            Op::Foreign(instruction, args) => self.foreign(instruction, args),
            _ => self.memory(inst),
        }
    }

    /// Rules of control flow, as far as operands go.
    pub fn flow_operands(&mut self, inst: &Inst) -> Check {
        if !matches!(inst.op, Op::If { .. }) {
            self.expect(inst.ty, Types::VOID)?;
        }
        match inst.op {
            Op::If { condition, .. } => self.bool_value(condition),
            Op::Switch { selector, .. } => self.int_value(selector),
            Op::Return(None) => self.expect(Types::VOID, self.function.ret),
            Op::Return(Some(value)) => {
                let ty = self.value(value)?;
                self.expect(ty, self.function.ret)
            }
            _ => Ok(()),
        }
    }

    fn unary(&mut self, op: UnaryOp, ty: TypeId, a: Value) -> Check {
        let of = self.value(a)?;
        self.expect(ty, of)?;
        let scalar = self.number(of)?;
        let allowed = match op {
            UnaryOp::Neg => scalar.is_number(),
            UnaryOp::Not => scalar.is_int(),
            UnaryOp::LogicalNot => scalar.is_bool(),
        };
        ensure!(allowed, "not for {}", self.name(of));
        Ok(())
    }

    fn binary(&mut self, op: BinaryOp, ty: TypeId, a: Value, b: Value) -> Check {
        let (a, b) = (self.value(a)?, self.value(b)?);
        match op {
            _ if !typing::is_by_component(op) => self.product(op, a, b)?,
            _ if self.types.cooperative(a).is_some() => {
                self.expect(b, a)?;
                let of_bits = self.types.cooperative(a).is_some_and(|of| of.is_vector()) && is_of_bits(op);
                let fits = takes(op, self.number(a)?) && (is_elementwise(op) || of_bits);
                ensure!(fits, "not for {}", self.name(a));
            }
            BinaryOp::Shl | BinaryOp::Shr => {
                let ((left, size), (right, count)) = (self.shape(a)?, self.shape(b)?);
                ensure!(left.is_int() && right.is_int() && size == count, "not for {}", self.name(b));
            }
            _ => {
                self.expect(b, a)?;
                let scalar = self.number(a)?;
                ensure!(takes(op, scalar), "not for {}", self.name(a));
            }
        }
        let expected = typing::binary(self.types, op, a, b).ok_or("operands that give no result")?;
        self.expect(ty, expected)
    }

    /// Sizes of a product of matrices, vectors and scalars.
    fn product(&self, op: BinaryOp, a: TypeId, b: TypeId) -> Check {
        let size = |ty| typing::matrix_size(self.types, ty);
        let vector = |ty| self.types.components(ty).filter(|size| *size > 1);
        let fits = match op {
            BinaryOp::TimesScalar => {
                let scales =
                    size(a).is_some() || self.types.components(a).is_some() || self.types.cooperative(a).is_some();
                scales && self.types.components(b) == Some(1)
            }
            BinaryOp::MatrixTimesVector => size(a).is_some_and(|(_, columns, _)| vector(b) == Some(columns)),
            BinaryOp::VectorTimesMatrix => size(b).is_some_and(|(_, _, rows)| vector(a) == Some(rows)),
            BinaryOp::MatrixTimesMatrix => size(a).zip(size(b)).is_some_and(|(a, b)| a.1 == b.2),
            _ => vector(a).is_some() && vector(b).is_some(),
        };
        let kinds = (self.types.number_of(a), self.types.number_of(b));
        let same = kinds.0 == kinds.1 && kinds.0.is_some_and(Scalar::is_number);
        ensure!(fits && same, "not for {} and {}", self.name(a), self.name(b));
        Ok(())
    }

    fn convert(&mut self, ty: TypeId, a: Value) -> Check {
        let from = self.value(a)?;
        if self.same_matrix_size(from, ty) {
            return self.number(from).and(self.number(ty)).map(|_| ());
        }
        let ((source, size), (target, count)) = (self.shape(from)?, self.shape(ty)?);
        let encoded = source.encoding().or(target.encoding()).is_some();
        ensure!(
            size == count && !(encoded && (source.is_bool() || target.is_bool())),
            "from {} to {}",
            self.name(from),
            self.name(ty)
        );
        Ok(())
    }

    fn bitcast(&mut self, ty: TypeId, a: Value) -> Check {
        let from = self.value(a)?;
        let bits = |body: &Self, ty: TypeId| match body.types.get(ty) {
            Type::BufferReference { .. } => Some(64),
            _ => body
                .shape(ty)
                .ok()
                .filter(|(scalar, _)| !scalar.is_bool())
                .map(|(s, n)| u32::from(s.width) * u32::from(n)),
        };
        let (from_bits, to_bits) = (bits(self, from), bits(self, ty));
        ensure!(from_bits.is_some() && from_bits == to_bits, "from {} to {}", self.name(from), self.name(ty));
        Ok(())
    }

    fn select(&mut self, ty: TypeId, condition: Value, accept: Value, reject: Value) -> Check {
        let (flag, accept, reject) = (self.value(condition)?, self.value(accept)?, self.value(reject)?);
        self.expect(accept, ty)?;
        self.expect(reject, ty)?;
        let (scalar, size) = self.shape(flag)?;
        ensure!(scalar.is_bool(), "the condition is {}", self.name(flag));
        ensure!(size == 1 || self.types.components(ty) == Some(size), "{} for {}", self.name(flag), self.name(ty));
        Ok(())
    }

    fn construct(&mut self, ty: TypeId, parts: Values) -> Check {
        let parts = self.list_types(parts)?;
        if let Type::Vector { scalar, size } = self.types.get(ty) {
            let mut count = 0;
            for part in parts {
                let (kind, size) = self.shape(part)?;
                ensure!(kind == scalar, "{} in {}", self.name(part), self.name(ty));
                count += u32::from(size);
            }
            ensure!(count == u32::from(size), "{count} components of {}", self.name(ty));
            return Ok(());
        }
        ensure!(!super::is_laid_out(self.types, ty), "values have no layout");
        let expected = self.part_count(ty)?;
        let fits = parts.len() == expected as usize || super::is_whole_vector(self.module, ty, parts.len());
        ensure!(fits, "{} parts instead of {expected}", parts.len());
        for (index, part) in parts.iter().enumerate() {
            let element = self.types.element(ty, index as u32).ok_or("no such part")?;
            self.expect(*part, element)?;
        }
        Ok(())
    }

    /// The number of parts of a composite of known length.
    pub fn part_count(&self, ty: TypeId) -> Result<u32, String> {
        match self.types.get(ty) {
            Type::CooperativeMatrix(_) => Ok(1),
            _ => self.types.part_count(ty).ok_or_else(|| format!("{} has no number of parts", self.name(ty))),
        }
    }

    fn splat(&mut self, ty: TypeId, a: Value) -> Check {
        let of = self.value(a)?;
        let (scalar, size) = self.shape(ty)?;
        ensure!(size > 1 && self.types.get(of) == Type::Scalar(scalar), "{} in {}", self.name(of), self.name(ty));
        Ok(())
    }

    /// Type of part `index` of a value.
    fn part(&mut self, composite: Value, index: u32) -> Result<TypeId, String> {
        let of = self.value(composite)?;
        ensure!(self.is_open(of) || index < self.part_count(of)?, "{} has no part {index}", self.name(of));
        self.types.element(of, index).ok_or_else(|| "no such part".to_owned())
    }

    fn dynamic_part(&mut self, ty: TypeId, composite: Value, index: Value) -> Check {
        let of = self.value(composite)?;
        let is_uniform = matches!(self.types.get(of), Type::Vector { .. } | Type::Matrix { .. } | Type::Array { .. });
        ensure!(is_uniform, "{} has no index", self.name(of));
        self.int_value(index)?;
        let part = self.types.element(of, 0).ok_or("no such part")?;
        self.expect(ty, part)
    }

    fn insert(&mut self, ty: TypeId, composite: Value, index: u32, part: Value) -> Check {
        let (of, expected, found) = (self.value(composite)?, self.part(composite, index)?, self.value(part)?);
        self.expect(ty, of)?;
        self.expect(found, expected)
    }

    fn insert_dynamic(&mut self, ty: TypeId, composite: Value, index: Value, part: Value) -> Check {
        let (of, found) = (self.value(composite)?, self.value(part)?);
        ensure!(matches!(self.types.get(of), Type::Vector { .. }), "{} is not a vector", self.name(of));
        self.int_value(index)?;
        self.expect(ty, of)?;
        let expected = self.part(composite, 0)?;
        self.expect(found, expected)
    }

    fn shuffle(&mut self, ty: TypeId, a: Value, b: Value, mask: [u8; 4]) -> Check {
        let (a, b) = (self.value(a)?, self.value(b)?);
        let ((left, count), (right, more), (scalar, size)) = (self.shape(a)?, self.shape(b)?, self.shape(ty)?);
        ensure!(count > 1 && more > 1 && size > 1, "a shuffle is of vectors");
        ensure!(left == scalar && right == scalar, "{} and {} in {}", self.name(a), self.name(b), self.name(ty));
        let picked = &mask[..usize::from(size)];
        ensure!(picked.iter().all(|at| *at < count + more), "the mask {picked:?} reaches past the operands");
        Ok(())
    }

    fn call(&mut self, ty: TypeId, callee: FuncId, args: Values) -> Check {
        let function = self.module.functions.get(callee).ok_or("the function does not exist")?;
        self.calls.push(callee.index());
        let args = self.list_types(args)?;
        ensure!(args.len() == function.params.len(), "{} arguments of `{}`", args.len(), function.name);
        for (arg, param) in args.iter().zip(&function.params) {
            self.expect(*arg, param.ty)?;
        }
        self.expect(ty, function.ret)
    }
}

impl Body<'_> {
    /// Checks how the arguments of a foreign instruction are passed; its meaning is unknown here.
    fn foreign(&mut self, instruction: u32, args: Values) -> Check {
        let known = self.module.foreign.instructions.get(instruction as usize);
        let known = known.ok_or("there is no such foreign instruction")?;
        let types = self.list_types(args)?;
        ensure!(types.len() == known.arguments.len(), "{} arguments", types.len());
        for ((value, ty), passing) in self.list(args)?.iter().zip(types).zip(&known.arguments) {
            let fits = match passing {
                Passing::Value => self.types.pointee(ty).is_none(),
                Passing::Reference => self.types.pointee(ty).is_some(),
                Passing::Literal => matches!(value, Value::Const(_)),
            };
            ensure!(fits, "{} is passed as {passing:?}", self.name(ty));
        }
        Ok(())
    }
}

/// Returns true if an operation works on all elements of cooperative matrices.
const fn is_elementwise(op: BinaryOp) -> bool {
    matches!(op, BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Div)
}

/// Returns true for bit operations, which cooperative vectors also support.
const fn is_of_bits(op: BinaryOp) -> bool {
    matches!(op, BinaryOp::And | BinaryOp::Or | BinaryOp::Xor | BinaryOp::Shl | BinaryOp::Shr)
}

/// Returns true if a component-wise operation on operands of one type supports this scalar.
fn takes(op: BinaryOp, scalar: Scalar) -> bool {
    match op {
        BinaryOp::And | BinaryOp::Or | BinaryOp::Xor => scalar.is_int() || scalar.is_bool(),
        BinaryOp::LogicalAnd | BinaryOp::LogicalOr => scalar.is_bool(),
        BinaryOp::Eq | BinaryOp::Ne => scalar.encoding().is_none(),
        _ => scalar.is_number(),
    }
}
