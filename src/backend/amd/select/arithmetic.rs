//! Arithmetic on 32-bit integers and on bools, by the scalar unit if possible.

use super::emit::{EXEC, FALSE, TRUE, part};
use super::halves::is_float16;
use super::{Selector, Words};
use crate::backend::amd::machine::{File, Inst, Operand, Specials};
use crate::backend::amd::mnemonic::{Generation, Operation};
use crate::ir::{Scalar, ScalarKind};
use crate::kernel::{BinOp, CmpOp, InstId, Origin, TernOp, UnOp, Value};

/// A scalar comparison executed at its use.
#[derive(Clone, Copy, Debug)]
pub struct ScalarTest {
    pub relation: &'static str,
    pub operands: [Operand; 2],
    pub origin: Origin,
}

/// A constant of 32 bits.
pub const fn number(bits: u32) -> Operand {
    Operand::Constant(bits)
}

/// The operands of a select in the order of the condition code: first the one for a set code. `is_set` is true if the
/// condition is true when the code is set.
pub const fn by_code(is_set: bool, [accept, reject]: [Operand; 2]) -> [Operand; 2] {
    if is_set { [accept, reject] } else { [reject, accept] }
}

/// The relation of a vector comparison.
pub fn relation(op: CmpOp, scalar: Scalar) -> &'static str {
    let row: [&'static str; 6] = match (scalar.kind, scalar.width) {
        (ScalarKind::Float, 64) => ["eq_f64", "neq_f64", "lt_f64", "le_f64", "gt_f64", "ge_f64"],
        (ScalarKind::Float, _) => ["eq_f32", "neq_f32", "lt_f32", "le_f32", "gt_f32", "ge_f32"],
        (ScalarKind::Sint, 64) => ["eq_i64", "ne_i64", "lt_i64", "le_i64", "gt_i64", "ge_i64"],
        (_, 64) => ["eq_u64", "ne_u64", "lt_u64", "le_u64", "gt_u64", "ge_u64"],
        (ScalarKind::Sint, _) => ["eq_i32", "ne_i32", "lt_i32", "le_i32", "gt_i32", "ge_i32"],
        _ => ["eq_u32", "ne_u32", "lt_u32", "le_u32", "gt_u32", "ge_u32"],
    };
    row[op as usize]
}

/// The relation of a scalar comparison of 32 bits.
fn scalar_relation(op: CmpOp, scalar: Scalar) -> &'static str {
    let row: [&'static str; 6] = match scalar.kind {
        ScalarKind::Float => ["eq_f32", "neq_f32", "lt_f32", "le_f32", "gt_f32", "ge_f32"],
        ScalarKind::Sint => ["eq_i32", "lg_i32", "lt_i32", "le_i32", "gt_i32", "ge_i32"],
        _ => ["eq_u32", "lg_u32", "lt_u32", "le_u32", "gt_u32", "ge_u32"],
    };
    row[op as usize]
}

/// Instructions on two 32-bit integers: vector and scalar. Vector shifts take the amount first.
fn integer_operations(op: BinOp, is_signed: bool) -> Option<(Operation, Operation)> {
    use Operation as O;
    Some(match op {
        BinOp::Add => (O::AddU32, O::ScalarAdd),
        BinOp::Sub => (O::SubU32, O::ScalarSub),
        BinOp::Mul => (O::MulLoU32, O::ScalarMul),
        BinOp::MulHigh if is_signed => (O::MulHiI32, O::ScalarMulHiI32),
        BinOp::MulHigh => (O::MulHiU32, O::ScalarMulHiU32),
        BinOp::Min if is_signed => (O::MinI32, O::ScalarMinI32),
        BinOp::Max if is_signed => (O::MaxI32, O::ScalarMaxI32),
        BinOp::Min => (O::MinU32, O::ScalarMinU32),
        BinOp::Max => (O::MaxU32, O::ScalarMaxU32),
        BinOp::And => (O::AndB32, O::ScalarAnd),
        BinOp::Or => (O::OrB32, O::ScalarOr),
        BinOp::Xor => (O::XorB32, O::ScalarXor),
        BinOp::Shl => (O::ShlB32, O::ScalarShl),
        BinOp::Shr if is_signed => (O::AshrI32, O::ScalarAshr),
        BinOp::Shr => (O::ShrB32, O::ScalarShr),
        BinOp::Div | BinOp::Rem => return None,
    })
}

/// A list of one word.
pub fn one(word: Operand) -> Words {
    [word].into_iter().collect()
}

impl Selector<'_> {
    pub fn exists(&self, operation: Operation) -> bool {
        operation.spelling(self.arch.generation).is_some()
    }

    pub fn unary(&mut self, op: UnOp, scalar: Scalar, a: Value) -> Words {
        if scalar.is_bool() {
            let mask = self.mask(a);
            let not = self.on_masks(Operation::ScalarNot, Operation::ScalarNot64, &[mask]);
            return self.words_of(not, self.arch.mask_width());
        }
        if is_float16(scalar) && !matches!(op, UnOp::Neg | UnOp::Abs) {
            return one(self.half_unary(op, scalar, a));
        }
        let words = self.words(a);
        match (scalar.width, scalar.is_float()) {
            (64, true) => self.double_unary(op, &words),
            (64, false) => self.long_unary(op, scalar, &words),
            (32, true) => one(self.float_unary(op, words[0])),
            (32, false) => one(self.word_unary(op, scalar, words[0])),
            _ => one(self.narrow_unary(op, scalar, words[0])),
        }
    }

    pub fn word_unary(&mut self, op: UnOp, scalar: Scalar, a: Operand) -> Operand {
        use Operation as O;
        let is_scalar = !self.is_vector(a);
        match op {
            UnOp::Neg => self.word_binary(BinOp::Sub, scalar, [FALSE, a]),
            UnOp::Not if is_scalar => self.scalar(O::ScalarNot, &[a]),
            UnOp::Not => self.vector(O::NotB32, &[a]),
            UnOp::Abs if !scalar.is_signed() => a,
            UnOp::Abs if is_scalar => self.scalar(O::ScalarAbs, &[a]),
            UnOp::Abs => {
                let negated = self.vector(O::SubU32, &[FALSE, a]);
                self.vector(O::MaxI32, &[a, negated])
            }
            UnOp::BitCount if is_scalar => self.scalar(O::ScalarBitCount, &[a]),
            UnOp::BitCount => self.vector(O::BitCount, &[a, FALSE]),
            UnOp::BitReverse if is_scalar => self.scalar(O::ScalarReverse, &[a]),
            UnOp::BitReverse => self.vector(O::ReverseBits, &[a]),
            UnOp::FindLsb if is_scalar => self.scalar(O::ScalarFindLsb, &[a]),
            UnOp::FindLsb => self.vector(O::FindLsb, &[a]),
            UnOp::FindMsb => self.find_msb(scalar.is_signed(), a),
            _ => self.refused("this operation on integers")[0],
        }
    }

    /// Counts equal bits from the top; the count is -1 if all are equal.
    fn find_msb(&mut self, is_signed: bool, a: Operand) -> Operand {
        use Operation as O;
        let none = number(u32::MAX);
        if self.is_vector(a) {
            let count = self.vector(if is_signed { O::SignBits } else { O::LeadingZeros }, &[a]);
            let found = self.vector(O::SubU32, &[number(31), count]);
            let some = self.compare_lanes("ne_u32", none, count);
            return self.choose(some, found, none);
        }
        let count = self.scalar(if is_signed { O::ScalarSignBits } else { O::ScalarLeadingZeros }, &[a]);
        let found = self.scalar(O::ScalarSub, &[number(31), count]);
        self.compare_scalars("lg_u32", count, none);
        self.scalar(O::ScalarSelect, &[found, none])
    }

    pub fn binary(&mut self, op: BinOp, scalar: Scalar, args: [Value; 2]) -> Words {
        if scalar.is_bool() {
            return self.bool_binary(op, args);
        }
        if is_float16(scalar) {
            return self.half_binary(op, scalar, args);
        }
        let short = if op == BinOp::Mul && scalar.width == 32 { self.short_factors(args) } else { None };
        let [a, b] = args.map(|arg| self.words(arg));
        match (scalar.width, scalar.is_float()) {
            (32, false) if let Some(is_signed) = short => one(self.short_product(is_signed, [a[0], b[0]])),
            (64, true) => self.double_binary(op, &a, &b),
            (64, false) => self.long_binary(op, scalar, &a, &b),
            (32, true) => one(self.float_binary(op, [a[0], b[0]])),
            (32, false) => one(self.word_binary(op, scalar, [a[0], b[0]])),
            _ => one(self.narrow_binary(op, scalar, [a[0], b[0]])),
        }
    }

    /// Returns `Some(false)` for factors that fit in 24 unsigned bits, `Some(true)` if they fit in 24 signed bits,
    /// otherwise `None`.
    fn short_factors(&self, factors: [Value; 2]) -> Option<bool> {
        let fit = |least: i64, most: i64| {
            factors.iter().all(|factor| match self.kernel.as_constant(*factor) {
                Some(bits) => (least..=most).contains(&(bits as u32 as i32).into()),
                None => self.ranges.of(self.kernel, *factor).most <= most as u64,
            })
        };
        const HALF: i64 = 1 << 23;
        if fit(0, 2 * HALF - 1) { Some(false) } else { fit(-HALF, HALF - 1).then_some(true) }
    }

    /// A product of numbers of 24 bits, for which the vector unit has an instruction that is faster.
    pub fn short_product(&mut self, is_signed: bool, [a, b]: [Operand; 2]) -> Operand {
        match [a, b].iter().any(|word| self.is_vector(*word)) {
            true => self.vector(if is_signed { Operation::MulI24 } else { Operation::MulU24 }, &[a, b]),
            false => self.scalar(Operation::ScalarMul, &[a, b]),
        }
    }

    fn bool_binary(&mut self, op: BinOp, args: [Value; 2]) -> Words {
        let [a, b] = args.map(|arg| self.mask(arg));
        let operations = match op {
            BinOp::And => (Operation::ScalarAnd, Operation::ScalarAnd64),
            BinOp::Or => (Operation::ScalarOr, Operation::ScalarOr64),
            BinOp::Xor => (Operation::ScalarXor, Operation::ScalarXor64),
            _ => return self.refused("this operation on bools"),
        };
        let mask = self.on_masks(operations.0, operations.1, &[a, b]);
        self.words_of(mask, self.arch.mask_width())
    }

    pub fn word_binary(&mut self, op: BinOp, scalar: Scalar, [a, b]: [Operand; 2]) -> Operand {
        let is_scalar = !self.is_vector(a) && !self.is_vector(b);
        let Some((vector, of_scalars)) = integer_operations(op, scalar.is_signed()) else {
            let result = self.divide(op, scalar.is_signed(), [a, b]);
            return if is_scalar { self.scalar_operand(result) } else { result };
        };
        match op {
            _ if is_scalar && self.exists(of_scalars) => self.scalar(of_scalars, &[a, b]),
            BinOp::Shl | BinOp::Shr => self.vector(vector, &[b, a]),
            _ => self.vector(vector, &[a, b]),
        }
    }

    /// A product with a constant.
    pub fn multiply_by(&mut self, a: Operand, factor: u32) -> Operand {
        match factor.is_power_of_two() {
            true => self.word_binary(BinOp::Shl, Scalar::U32, [a, number(factor.trailing_zeros())]),
            false => self.word_binary(BinOp::Mul, Scalar::U32, [a, number(factor)]),
        }
    }

    // Comparisons.

    pub fn comparison(&mut self, inst: InstId, op: CmpOp, scalar: Scalar, args: [Value; 2]) {
        if scalar.is_bool() {
            let mask = self.compare_bools(op, args);
            return self.result_mask(inst, mask);
        }
        if let Some(mask) = self.constant_mask(inst) {
            return self.result_mask(inst, mask);
        }
        if is_float16(scalar) {
            let mask = self.half_compare(op, scalar, args);
            return self.result_mask(inst, mask);
        }
        let [a, b] = args.map(|arg| self.words(arg));
        let is_scalar = [&a, &b].iter().all(|words| words.iter().all(|word| !self.is_vector(*word)));
        let is_for_scalar_unit = !scalar.is_float() || self.arch.processor.has_scalar_floats;
        if is_scalar && is_for_scalar_unit && scalar.width == 32 {
            let (relation, operands) = (scalar_relation(op, scalar), [a[0], b[0]]);
            let test = ScalarTest { relation, operands, origin: self.origin };
            return self.compare_later(inst, test);
        }
        let mask = self.compare_words(op, scalar, &a, &b);
        self.result_mask(inst, mask);
    }

    /// The mask of a comparison in the shader's own code that only depends on the lane. A literal has 32 bits.
    fn constant_mask(&mut self, inst: InstId) -> Option<Operand> {
        let result = self.kernel.result(inst)?;
        let set = self.known_set(result).filter(|_| self.arch.wave == 32 && self.origin == Origin::Code)?;
        let mask = number(set as u32);
        Some(if self.uses[result.index()] == 1 { mask } else { self.mask_in_register(mask) })
    }

    pub fn compare_words(&mut self, op: CmpOp, scalar: Scalar, a: &[Operand], b: &[Operand]) -> Operand {
        match scalar.width {
            64 => {
                let (a, b) = (self.whole(a, File::Vector), self.whole(b, File::Vector));
                self.compare_lanes(relation(op, scalar), a, b)
            }
            32 => self.compare_lanes(relation(op, scalar), a[0], b[0]),
            _ => self.narrow_compare(op, scalar, [a[0], b[0]]),
        }
    }

    fn result_mask(&mut self, inst: InstId, mask: Operand) {
        let words = self.words_of(mask, self.arch.mask_width());
        self.result(inst, words);
    }

    fn compare_bools(&mut self, op: CmpOp, args: [Value; 2]) -> Operand {
        let [a, b] = args.map(|arg| self.mask(arg));
        let different = self.on_masks(Operation::ScalarXor, Operation::ScalarXor64, &[a, b]);
        match op {
            CmpOp::Ne => different,
            CmpOp::Eq => self.on_masks(Operation::ScalarNot, Operation::ScalarNot64, &[different]),
            _ => self.refused("this comparison of bools")[0],
        }
    }

    /// A comparison with one use is deferred to it, so that the condition code can be used directly.
    pub fn compare_later(&mut self, inst: InstId, test: ScalarTest) {
        let Some(value) = self.kernel.result(inst) else { return };
        if self.uses[value.index()] == 1 {
            self.late[value.index()] = Some(test);
            return;
        }
        let mask = self.tested_mask(test);
        self.give_one(value, mask);
    }

    /// Compares into the condition code. Returns true if the code is set when the comparison is true.
    fn test(&mut self, test: ScalarTest) -> bool {
        let user = std::mem::replace(&mut self.origin, test.origin);
        let is_set = self.compare_into_condition(test);
        self.origin = user;
        is_set
    }

    fn compare_into_condition(&mut self, ScalarTest { relation, operands: [a, b], .. }: ScalarTest) -> bool {
        let wants_some = relation.starts_with("lg");
        // Negative zero equals zero as a float.
        if b == FALSE && (wants_some || relation.starts_with("eq")) && !relation.ends_with("f32") {
            if self.is_in_condition(a) {
                return wants_some;
            }
            if relation.ends_with("64") && self.arch.generation < Generation::Gcn3 {
                let to = self.scalars(2);
                self.raw(Operation::ScalarOr64, &[to], &[a, a]);
                return wants_some;
            }
        }
        self.compare_scalars(relation, a, b);
        true
    }

    /// Returns true if the condition code shows that a register is not zero: it is unchanged since the logic that wrote
    /// the register.
    fn is_in_condition(&self, register: Operand) -> bool {
        use Operation as O;
        let last = self.block.insts.iter().rev().find(|inst| inst.specials_written().contains(Specials::SCC));
        last.filter(|inst| inst.defs.first() == Some(&register)).and_then(Inst::operation).is_some_and(|operation| {
            matches!(operation, O::ScalarAnd | O::ScalarOr | O::ScalarXor | O::ScalarAndNot | O::ScalarNot)
                || matches!(
                    operation,
                    O::ScalarAnd64 | O::ScalarOr64 | O::ScalarXor64 | O::ScalarAndNot64 | O::ScalarNot64
                )
        })
    }

    /// The mask of a comparison: all lanes or none.
    pub fn tested_mask(&mut self, test: ScalarTest) -> Operand {
        let is_set = self.test(test);
        self.on_masks(Operation::ScalarSelect, Operation::ScalarSelect64, &by_code(is_set, [TRUE, FALSE]))
    }

    /// Puts a uniform condition into the condition code. Returns true if it is set when the condition is true.
    #[must_use]
    pub fn condition(&mut self, value: Value) -> bool {
        if let Some(test) = self.late[value.index()].take() {
            return self.test(test);
        }
        let mask = self.mask(value);
        self.on_masks(Operation::ScalarAnd, Operation::ScalarAnd64, &[mask, EXEC]);
        true
    }

    // Choices.

    pub fn select(&mut self, condition: Value, accept: Value, reject: Value) -> Words {
        if matches!(self.kernel.ty(accept), crate::kernel::Ty::Bool) {
            return self.select_masks(condition, accept, reject);
        }
        let (accept, reject) = (self.words(accept), self.words(reject));
        let pairs: Vec<[Operand; 2]> = accept.iter().copied().zip(reject).map(|(a, b)| [a, b]).collect();
        let is_scalar = pairs.iter().flatten().all(|word| !self.is_vector(*word));
        if is_scalar && self.is_uniform(condition) {
            let is_set = self.condition(condition);
            return pairs.into_iter().map(|pair| self.scalar_choice(by_code(is_set, pair))).collect();
        }
        let mask = self.mask(condition);
        pairs.into_iter().map(|[accept, reject]| self.choose(mask, accept, reject)).collect()
    }

    /// A select by the condition code, which moves of literals do not change.
    fn scalar_choice(&mut self, pair: [Operand; 2]) -> Operand {
        self.scalar(Operation::ScalarSelect, &pair)
    }

    fn select_masks(&mut self, condition: Value, accept: Value, reject: Value) -> Words {
        let [condition, accept, reject] = [condition, accept, reject].map(|value| self.mask(value));
        let taken = self.on_masks(Operation::ScalarAnd, Operation::ScalarAnd64, &[accept, condition]);
        let other = self.on_masks(Operation::ScalarAndNot, Operation::ScalarAndNot64, &[reject, condition]);
        let mask = self.on_masks(Operation::ScalarOr, Operation::ScalarOr64, &[taken, other]);
        self.words_of(mask, self.arch.mask_width())
    }

    // Bit fields and three operands.

    pub fn ternary(&mut self, op: TernOp, scalar: Scalar, args: [Value; 3]) -> Words {
        if op == TernOp::Fma {
            return self.fused(scalar, args);
        }
        let [a, b, c] = args.map(|arg| self.words(arg));
        match (op, scalar.width) {
            (TernOp::BitExtract, 64) => self.long_extract(scalar, &a, b[0], c[0]),
            (TernOp::BitExtract, 32) => one(self.extract(scalar.is_signed(), a[0], b[0], c[0])),
            (TernOp::BitExtract, _) => one(self.narrow_extract(scalar, a[0], b[0], c[0])),
            _ => self.refused("this operation"),
        }
    }

    /// `a * b + c`; operands may be negated by modifiers.
    fn fused(&mut self, scalar: Scalar, args: [Value; 3]) -> Words {
        let is_negated =
            |arg: Value| self.kernel.definition(arg).is_some_and(|inst| self.negated_factors[inst.index()]);
        let neg = args.iter().enumerate().fold(0, |bits, (n, arg)| bits | u8::from(is_negated(*arg)) << n);
        if is_float16(scalar) {
            return self.half_fused(args, neg);
        }
        let words = args.map(|arg| self.words(arg));
        if scalar.width == 64 {
            let operands = words.map(|words| self.double_operand(&words));
            let sum = self.vectors(2);
            self.vector_to(Operation::FmaF64, sum, &operands).modifiers.neg = neg;
            return self.words_of(sum, 2);
        }
        let words = words.map(|words| words[0]);
        if neg == 0 && self.is_for_scalar_unit(&words) {
            return one(self.scalar_fused(words));
        }
        let sum = self.vectors(1);
        self.vector_to(Operation::FmaF32, sum, &words).modifiers.neg = neg;
        one(sum)
    }

    /// V_BFE only uses five bits of the field width: a field of 32 bits starts at 0 and is the whole word.
    pub fn extract(&mut self, is_signed: bool, base: Operand, offset: Operand, bits: Operand) -> Operand {
        let operation = if is_signed { Operation::BfeI32 } else { Operation::BfeU32 };
        match bits {
            Operand::Constant(32) => base,
            Operand::Constant(_) => self.vector(operation, &[base, offset, bits]),
            _ => {
                let field = self.vector(operation, &[base, offset, bits]);
                let bits = self.in_vector(bits);
                let is_whole = self.compare_lanes("eq_u32", number(32), bits);
                self.choose(is_whole, base, field)
            }
        }
    }

    pub fn bit_insert(&mut self, scalar: Scalar, args: &[Value]) -> Words {
        let words: Vec<Words> = args.iter().map(|arg| self.words(*arg)).collect();
        let [base, insert, offset, bits] = &words[..] else { return self.refused("this operation") };
        match scalar.width {
            64 => self.long_insert(base, insert, offset[0], bits[0]),
            _ => one(self.insert(base[0], insert[0], offset[0], bits[0])),
        }
    }

    /// The bits in `((1 << bits) - 1) << offset` come from the inserted value.
    fn insert(&mut self, base: Operand, insert: Operand, offset: Operand, bits: Operand) -> Operand {
        let ones = self.low_ones(bits);
        let mask = self.word_binary(BinOp::Shl, Scalar::U32, [ones, offset]);
        let moved = self.word_binary(BinOp::Shl, Scalar::U32, [insert, offset]);
        self.vector(Operation::BfiB32, &[mask, moved, base])
    }

    /// A mask of 0 to 32 ones from the lowest bit on.
    pub fn low_ones(&mut self, bits: Operand) -> Operand {
        if let Operand::Constant(bits) = bits {
            return number(((1_u64 << bits.min(32)) - 1) as u32);
        }
        // Half of the mask for one more bit: a shift by 32 would be one by 0.
        let one = [number(0), number(1)];
        let pair = self.whole(&one, File::Vector);
        let spare = self.word_binary(BinOp::Sub, Scalar::U32, [number(32), bits]);
        let spare = self.in_vector(spare);
        let above = self.long_shift(BinOp::Shr, false, pair, spare);
        self.word_binary(BinOp::Sub, Scalar::U32, [part(above, 0), number(1)])
    }
}

/// Returns true if a generation names the amount of 64-bit shifts last.
pub fn shifts_backward(generation: Generation) -> bool {
    generation == Generation::Gcn1
}
