//! Functions that end in an infinite loop.
//!
//! WGSL 9.7.1 (Behavior Analysis) requires no `return` after a loop that no `break` leaves, because control never gets
//! there. naga adds a `return` at the end of every function and then reports its missing value, so this module adds a
//! zero.

use naga::{Block, Expression, Function, Module, Span, Statement};

/// Gives a value to the `return`s that naga has put after endless loops.
pub(super) fn give_values(module: &mut Module) {
    let functions = module.functions.iter_mut().map(|(_, function)| function);
    for function in functions.chain(module.entry_points.iter_mut().map(|entry| &mut entry.function)) {
        let Function { body, expressions, result, .. } = function;
        let Some(result) = result else { continue };
        let mut missing = Vec::new();
        returns(body, &mut missing);
        if !missing.is_empty() {
            let zero = expressions.append(Expression::ZeroValue(result.ty), Span::UNDEFINED);
            missing.into_iter().for_each(|value| *value = Some(zero));
        }
    }
}

/// The values of the `return`s after infinite loops at the ends of a block.
fn returns<'a>(block: &'a mut Block, into: &mut Vec<&'a mut Option<naga::Handle<Expression>>>) {
    match &mut block[..] {
        [.., Statement::Loop { body, break_if: None, .. }, Statement::Return { value }] => {
            into.extend(Some(value).filter(|value| value.is_none() && !leaves(body)));
        }
        [.., last @ (Statement::Block(_) | Statement::If { .. } | Statement::Switch { .. })] => {
            super::uses::blocks_mut(last).into_iter().for_each(|inner| returns(inner, into));
        }
        _ => {}
    }
}

/// Returns true if a `break` in the block exits the loop whose body it is.
fn leaves(body: &Block) -> bool {
    body.iter().any(|statement| match statement {
        Statement::Break => true,
        Statement::Block(block) => leaves(block),
        Statement::If { accept, reject, .. } => leaves(accept) || leaves(reject),
        _ => false,
    })
}
