//! Helpers for the rows of the fixture tables: results side by side, one rule for many operators.

use crate::case::{Case, Column, Wave, interleave};
use crate::reference::Lane;
use crate::scalar::{Op, Reduce, Scalar};

/// A rule with one operand: the result in each lane of an operation on input 0.
pub type Rule<T, R = T> = fn(&[Lane<T>]) -> Vec<Lane<R>>;

/// One result after the other for each invocation, each a rule over input 0.
pub fn moves<T: Scalar, R: Scalar>(case: &Case<'_>, rules: &[Rule<T, R>]) -> Vec<Column> {
    side_by_side(rules.iter().map(|rule| case.each_wave(|w| rule(&w.get::<T>(0)))))
}

/// A reduction or scan: operator, lanes, width.
pub type ReduceRule<T> = fn(Op, &[Lane<T>], usize) -> Vec<Lane<T>>;

/// The reduction of input 0 by each operator.
pub fn reductions<T: Reduce>(case: &Case<'_>, ops: &[Op], rule: ReduceRule<T>) -> Vec<Column> {
    side_by_side(ops.iter().map(|&op| case.each_wave(|w| rule(op, &w.get::<T>(0), w.width()))))
}

/// A rule over a subgroup with all its inputs.
pub type WaveRule<R> = fn(&Wave<'_>) -> Vec<Lane<R>>;

/// Results for one output buffer, each a rule over a subgroup.
pub fn results<R: Scalar>(case: &Case<'_>, rules: &[WaveRule<R>]) -> Vec<Column> {
    side_by_side(rules.iter().map(|rule| case.each_wave(|w| rule(&w))))
}

/// A rule of one operand and a width.
pub type WidthRule<T> = fn(&[Lane<T>], usize) -> Vec<Lane<T>>;

/// Moves of input 0 as vectors with `N` components, one vector per rule.
pub fn vector_moves<T: Scalar, const N: usize>(case: &Case<'_>, rules: &[WidthRule<T>]) -> Vec<Column> {
    let component = |rule: &WidthRule<T>, n| case.each_wave(|w| rule(&w.component::<T>(0, n, N), w.width()));
    side_by_side(rules.iter().flat_map(|rule| (0..N).map(move |n| component(rule, n))))
}

/// The columns as the words of one buffer.
pub fn side_by_side(columns: impl Iterator<Item = Column>) -> Vec<Column> {
    vec![interleave(&columns.collect::<Vec<_>>())]
}

/// `before` where `changed` is `None`, in the lanes where `before` is active: a store in a branch over the buffer's
/// previous contents.
pub fn over<T: Scalar>(before: &[Lane<T>], changed: &[Lane<T>]) -> Vec<Lane<T>> {
    before.iter().zip(changed).map(|(old, new)| new.or(*old)).collect()
}
