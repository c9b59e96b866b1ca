//! Values that equal constants because a condition holds.

use crate::ir::Scalar;
use crate::kernel::{BinOp, CmpOp, InstId, Kernel, Op, Ty, UnOp, Value};
use crate::limits;
use rustc_hash::FxHashMap;
use std::collections::hash_map::Entry;

/// Constants that values equal at this point of the walk.
#[derive(Default)]
pub struct Facts {
    constants: FxHashMap<Value, Value>,
    /// Values in `constants`, in the order in which they became known.
    learned: Vec<Value>,
}

impl Facts {
    /// Number of values known; [`Facts::forget`] returns to it.
    pub fn known(&self) -> usize {
        self.learned.len()
    }

    /// Learns all consequences of `condition` being `truth`, up to `left` derived facts.
    pub fn hold(&mut self, kernel: &mut Kernel, condition: Value, truth: bool, left: &mut usize) {
        let mut open = vec![(condition, truth)];
        while let Some((value, truth)) = open.pop() {
            limits::spend(1);
            if kernel.as_constant(value).is_some() {
                continue;
            }
            let constant = kernel.constant(Ty::Bool, truth.into());
            if !self.learn(value, constant) {
                continue;
            }
            let (Some(inst), Some(fewer)) = (kernel.definition(value), left.checked_sub(1)) else { continue };
            *left = fewer;
            let args = kernel.args(inst);
            match (kernel.insts[inst].op, truth) {
                (Op::Un(UnOp::Not, _), _) => open.push((args[0], !truth)),
                (Op::Bin(BinOp::And, _), true) | (Op::Bin(BinOp::Or, _), false) => {
                    open.extend(args.iter().map(|arg| (*arg, truth)));
                }
                (Op::Cmp(CmpOp::Eq, scalar), true) | (Op::Cmp(CmpOp::Ne, scalar), false) if !scalar.is_float() => {
                    self.equal(kernel, args[0], args[1]);
                }
                (Op::Convert(from, Scalar::BOOL), false) if !from.is_float() => {
                    let arg = args[0];
                    let zero = kernel.constant(kernel.ty(arg), 0);
                    self.equal(kernel, arg, zero);
                }
                _ => {}
            }
        }
    }

    /// Learns that two values are equal, if one of them is a constant.
    fn equal(&mut self, kernel: &Kernel, a: Value, b: Value) {
        match (kernel.as_constant(a), kernel.as_constant(b)) {
            (None, Some(_)) => _ = self.learn(a, b),
            (Some(_), None) => _ = self.learn(b, a),
            _ => {}
        }
    }

    /// Records the constant that a value equals. Returns false if one was known.
    fn learn(&mut self, value: Value, constant: Value) -> bool {
        let Entry::Vacant(entry) = self.constants.entry(value) else { return false };
        entry.insert(constant);
        self.learned.push(value);
        true
    }

    /// Forgets all but the first `known` values.
    pub fn forget(&mut self, known: usize) {
        for value in self.learned.drain(known..) {
            self.constants.remove(&value);
        }
    }

    /// Replaces operands by the constants that they equal. Returns true if any changed.
    pub fn apply(&self, kernel: &mut Kernel, inst: InstId) -> bool {
        if self.constants.is_empty() {
            return false;
        }
        let mut changed = false;
        for arg in kernel.args_mut(inst) {
            if let Some(constant) = self.constants.get(arg) {
                *arg = *constant;
                changed = true;
            }
        }
        changed
    }
}
