//! The expressions of a loop's body that its `continuing` block uses.
//!
//! In WGSL a `continuing` block sees the declarations of its loop's body; in `ir` it does not, so the translator
//! carries these values in variables.

use naga::{Arena, Block, Expression, GatherMode, Handle, ImageQuery, SampleLevel, Statement, SwitchCase};
use rustc_hash::FxHashSet;
use smallvec::{SmallVec, smallvec};

type Id = Handle<Expression>;

/// The expressions of a function that no statement names: calls of crosslane's built-ins, which naga does not know.
pub(super) trait Hidden {
    /// The argument that an expression represents.
    fn behind(&self, of: Id) -> Option<Id>;
    /// An expression that gets its value together with this result of a call.
    fn made_with(&self, result: Id) -> Option<Id>;
}

/// Expressions that the top level of `body` evaluates and that `continuing` or `break_if` needs, in ascending order.
pub(super) fn shared_values(
    expressions: &Arena<Expression>,
    hidden: &impl Hidden,
    body: &Block,
    continuing: &Block,
    break_if: Option<Id>,
) -> Vec<Id> {
    let mut wanted: Vec<Id> = break_if.into_iter().collect();
    continuing.iter().for_each(|statement| used(statement, &mut wanted));
    if wanted.is_empty() {
        return wanted;
    }
    let mut made = FxHashSet::default();
    body.iter().for_each(|statement| results(statement, &mut made));
    let more: Vec<Id> = made.iter().filter_map(|result| hidden.made_with(*result)).collect();
    made.extend(more);
    let (mut seen, mut shared) = (FxHashSet::default(), Vec::new());
    while let Some(id) = wanted.pop() {
        if !seen.insert(id) {
            continue;
        }
        let expression = &expressions[id];
        let from_body = made.contains(&id);
        if from_body {
            shared.push(id);
        }
        // A value of the body is carried itself; a pointer is rebuilt from its operands.
        if !from_body || matches!(expression, Expression::Access { .. } | Expression::AccessIndex { .. }) {
            operands(expression, &mut wanted);
            wanted.extend(hidden.behind(id));
        }
    }
    shared.sort_unstable_by_key(|id| id.index());
    shared
}

/// Expressions that get their value at this statement.
fn results(statement: &Statement, into: &mut FxHashSet<Id>) {
    match statement {
        Statement::Emit(range) => into.extend(range.clone()),
        Statement::Call { result, .. } | Statement::Atomic { result, .. } => into.extend(*result),
        Statement::WorkGroupUniformLoad { result, .. }
        | Statement::SubgroupBallot { result, .. }
        | Statement::SubgroupGather { result, .. }
        | Statement::SubgroupCollectiveOperation { result, .. } => {
            into.insert(*result);
        }
        _ => {}
    }
}

/// The expressions used by a statement and by everything nested in it.
fn used(statement: &Statement, into: &mut Vec<Id>) {
    match statement {
        Statement::Emit(range) => into.extend(range.clone()),
        Statement::If { condition: one, .. } | Statement::Switch { selector: one, .. } => into.push(*one),
        Statement::Loop { break_if, .. } => into.extend(*break_if),
        Statement::Return { value } => into.extend(*value),
        Statement::Store { pointer, value } => into.extend([*pointer, *value]),
        Statement::Atomic { pointer, fun, value, .. } => {
            into.extend([*pointer, *value]);
            if let naga::AtomicFunction::Exchange { compare } = fun {
                into.extend(*compare);
            }
        }
        Statement::WorkGroupUniformLoad { pointer, .. } => into.push(*pointer),
        Statement::ImageStore { image, coordinate, array_index, value }
        | Statement::ImageAtomic { image, coordinate, array_index, value, .. } => {
            into.extend([*image, *coordinate, *value]);
            into.extend(*array_index);
        }
        // The operands that a call of a built-in hides are found through its result.
        Statement::Call { arguments, result, .. } => into.extend(arguments.iter().chain(result)),
        Statement::SubgroupBallot { predicate, .. } => into.extend(*predicate),
        Statement::SubgroupCollectiveOperation { argument, .. } => into.push(*argument),
        Statement::SubgroupGather { mode, argument, .. } => {
            into.push(*argument);
            into.extend(gather_index(*mode));
        }
        _ => {}
    }
    blocks(statement).into_iter().flatten().for_each(|inner| used(inner, into));
}

/// The blocks of a statement.
pub(super) fn blocks(statement: &Statement) -> SmallVec<[&Block; 4]> {
    match statement {
        Statement::Block(block) => smallvec![block],
        Statement::If { accept, reject, .. } => smallvec![accept, reject],
        Statement::Loop { body, continuing, .. } => smallvec![body, continuing],
        Statement::Switch { cases, .. } => cases.iter().map(|SwitchCase { body, .. }| body).collect(),
        _ => SmallVec::new(),
    }
}

/// The blocks of a statement, to be changed.
pub(super) fn blocks_mut(statement: &mut Statement) -> SmallVec<[&mut Block; 4]> {
    match statement {
        Statement::Block(block) => smallvec![block],
        Statement::If { accept, reject, .. } => smallvec![accept, reject],
        Statement::Loop { body, continuing, .. } => smallvec![body, continuing],
        Statement::Switch { cases, .. } => cases.iter_mut().map(|SwitchCase { body, .. }| body).collect(),
        _ => SmallVec::new(),
    }
}

/// The index operand of a gather.
pub(super) fn gather_index(mut mode: GatherMode) -> Option<Id> {
    gather_index_mut(&mut mode).copied()
}

/// The index operand of a gather.
pub(super) fn gather_index_mut(mode: &mut GatherMode) -> Option<&mut Id> {
    match mode {
        GatherMode::Broadcast(index)
        | GatherMode::Shuffle(index)
        | GatherMode::ShuffleDown(index)
        | GatherMode::ShuffleUp(index)
        | GatherMode::ShuffleXor(index)
        | GatherMode::QuadBroadcast(index) => Some(index),
        GatherMode::BroadcastFirst | GatherMode::QuadSwap(_) => None,
    }
}

/// The operands of an expression; ray queries are rejected elsewhere.
pub(super) fn operands(expression: &Expression, into: &mut Vec<Id>) {
    match *expression {
        Expression::Compose { ref components, .. } => into.extend(components),
        Expression::Access { base, index } => into.extend([base, index]),
        Expression::AccessIndex { base, .. } => into.push(base),
        Expression::Splat { value: one, .. }
        | Expression::Swizzle { vector: one, .. }
        | Expression::Load { pointer: one }
        | Expression::Unary { expr: one, .. }
        | Expression::Relational { argument: one, .. }
        | Expression::As { expr: one, .. }
        | Expression::ArrayLength(one) => into.push(one),
        Expression::Binary { left, right, .. } => into.extend([left, right]),
        Expression::Select { condition, accept, reject } => into.extend([condition, accept, reject]),
        Expression::Math { arg, arg1, arg2, arg3, .. } => {
            into.push(arg);
            into.extend([arg1, arg2, arg3].into_iter().flatten());
        }
        Expression::Derivative { expr, .. } => into.push(expr),
        Expression::ImageSample { image, sampler, coordinate, array_index, offset, level, depth_ref, .. } => {
            into.extend([image, sampler, coordinate]);
            into.extend([array_index, offset, depth_ref].into_iter().flatten());
            into.extend(level_operands(level).into_iter().flatten());
        }
        Expression::ImageLoad { image, coordinate, array_index, sample, level } => {
            into.extend([image, coordinate]);
            into.extend([array_index, sample, level].into_iter().flatten());
        }
        Expression::ImageQuery { image, query } => {
            into.push(image);
            if let ImageQuery::Size { level } = query {
                into.extend(level);
            }
        }
        _ => {}
    }
}

fn level_operands(level: SampleLevel) -> [Option<Id>; 2] {
    match level {
        SampleLevel::Auto | SampleLevel::Zero => [None, None],
        SampleLevel::Exact(level) | SampleLevel::Bias(level) => [Some(level), None],
        SampleLevel::Gradient { x, y } => [Some(x), Some(y)],
    }
}
