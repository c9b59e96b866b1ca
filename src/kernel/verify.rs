//! Verifies a kernel: each use has a definition that dominates it, each operand has the right type, and control flow is
//! nested as described in [`super::op`].
//!
//! It runs after lowering and after passes, in tests and debug builds. An error is a bug in the compiler, never in a
//! shader, and its message is for the author of the pass. Targets and their limits play no role.

mod flow;
mod lane;
mod memory;
mod operation;
mod stage;

use super::{BlockId, BufferKind, Def, InstId, Kernel, Value};
use crate::diagnostic::{Code, Diagnostic};
use crate::source::Span;
use flow::BlockRole;
use std::fmt;

/// A violation of the form's rules in a kernel.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct VerifyError {
    pub message: String,
    pub span: Span,
}

impl fmt::Display for VerifyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl VerifyError {
    /// The message that a user would see.
    pub fn diagnostic(&self) -> Diagnostic {
        let message = format!("the compiler made an invalid kernel: {}", self.message);
        let diagnostic =
            Diagnostic::error(Code::INTERNAL, message).note("this is a defect of crosslane; please report it");
        if self.span.is_none() { diagnostic } else { diagnostic.at(self.span, "while compiling this") }
    }
}

/// The result of one rule: an error if it is violated.
type Check<T = ()> = Result<T, String>;

/// Returns an error with a formatted message unless the condition holds.
macro_rules! ensure {
    ($condition:expr, $($message:tt)+) => {
        if !$condition {
            return Err(format!($($message)+));
        }
    };
}
use ensure;

/// Checks all invariants that [`super::op`] states for a kernel.
///
/// # Errors
/// Returns all violations, in text order.
pub fn verify(kernel: &Kernel) -> Result<(), Vec<VerifyError>> {
    let mut verifier = Verifier::new(kernel);
    verifier.declared();
    verifier.block(kernel.body, BlockRole::Body);
    if verifier.errors.is_empty() { Ok(()) } else { Err(verifier.errors) }
}

struct Verifier<'k> {
    kernel: &'k Kernel,
    /// Values that can be used at the current point.
    visible: Vec<bool>,
    /// Blocks and instructions that the walk has met.
    met: (Vec<bool>, Vec<bool>),
    /// The enclosing blocks.
    frames: Vec<BlockRole>,
    errors: Vec<VerifyError>,
}

impl Verifier<'_> {
    fn new(kernel: &Kernel) -> Verifier<'_> {
        let is_constant = |def: Def| matches!(def, Def::Const(_) | Def::Undef);
        Verifier {
            kernel,
            visible: kernel.values.iter().map(|(_, value)| is_constant(value.def)).collect(),
            met: (vec![false; kernel.blocks.len()], vec![false; kernel.insts.len()]),
            frames: Vec::new(),
            errors: Vec::new(),
        }
    }

    fn report(&mut self, check: Check, span: Span, what: impl FnOnce() -> String) {
        if let Err(message) = check {
            self.errors.push(VerifyError { message: format!("{}: {message}", what()), span });
        }
    }

    /// The declarations of the kernel.
    fn declared(&mut self) {
        let kernel = self.kernel;
        let size = kernel.workgroup_size;
        self.report(workgroup_check(size), Span::NONE, || "workgroup size".to_owned());
        for buffer in &kernel.buffers {
            let changes = buffer.kind == BufferKind::Uniform && !buffer.is_constant();
            let check = if changes { Err("it is uniform and not constant".to_owned()) } else { Ok(()) };
            self.report(check, buffer.span, || format!("buffer {}", buffer.name));
        }
    }

    /// Walks a block. Its definitions are not visible after it.
    fn block(&mut self, block: BlockId, frame: BlockRole) {
        if std::mem::replace(&mut self.met.0[block.index()], true) {
            self.report(Err("two instructions hold it".to_owned()), Span::NONE, || format!("block {block:?}"));
            return;
        }
        let insts = &self.kernel.blocks[block].insts;
        self.frames.push(frame);
        let params = &self.kernel.blocks[block].params;
        params.iter().for_each(|param| self.visible[param.index()] = true);
        if insts.is_empty() {
            self.report(Err("it is empty".to_owned()), Span::NONE, || format!("block {block:?}"));
        }
        for (place, inst) in insts.iter().enumerate() {
            self.inst(*inst, place + 1 == insts.len());
        }
        for value in insts.iter().flat_map(|inst| self.kernel.results(*inst)).chain(params.iter().copied()) {
            self.visible[value.index()] = false;
        }
        self.frames.pop();
    }

    fn inst(&mut self, inst: InstId, is_last: bool) {
        let check = self.inst_check(inst, is_last);
        let span = self.kernel.insts[inst].span;
        self.report(check, span, || format!("{inst:?} {:?}", self.kernel.insts[inst].op));
        self.inner(inst);
        self.kernel.results(inst).for_each(|value| self.visible[value.index()] = true);
    }

    fn inst_check(&mut self, inst: InstId, is_last: bool) -> Check {
        let op = self.kernel.insts[inst].op;
        ensure!(!std::mem::replace(&mut self.met.1[inst.index()], true), "it is in two places");
        ensure!(op.is_terminator() == is_last, "terminators are at the end of a block and nowhere else");
        for arg in self.kernel.args(inst) {
            ensure!(self.visible[arg.index()], "operand {arg:?} is not defined here");
        }
        for (n, result) in self.kernel.results(inst).enumerate() {
            ensure!(self.kernel.values[result].def == Def::Inst(inst, n as u32), "its result {result:?} is another's");
        }
        self.whole_check(inst)?;
        if op.is_terminator() || op.is_structured() { self.flow_check(inst) } else { self.signature_check(inst) }
    }
}

fn workgroup_check(size: [u32; 3]) -> Check {
    let invocations = size.iter().try_fold(1u32, |product, size| product.checked_mul(*size));
    ensure!(invocations.is_some_and(|count| count > 0), "{size:?} is not a number of invocations");
    Ok(())
}

impl Verifier<'_> {
    /// The types of values, for messages and comparison.
    fn types(&self, values: impl IntoIterator<Item = Value>) -> Vec<super::Ty> {
        values.into_iter().map(|value| self.kernel.ty(value)).collect()
    }
}

#[cfg(test)]
mod tests;
