//! Replacements of values.

use crate::kernel::{InstId, Kernel, Value};

/// Replacements of values. A value without a replacement stays itself.
#[derive(Clone, Debug, Default)]
pub struct Names {
    map: Vec<Option<Value>>,
}

impl Names {
    /// Replaces `value` by `by`. Chains are followed; cycles must not be created.
    pub fn replace(&mut self, value: Value, by: Value) {
        debug_assert!(value != by, "a value replaces itself");
        if self.map.len() <= value.index() {
            self.map.resize(value.index() + 1, None);
        }
        self.map[value.index()] = Some(by);
    }

    /// Replaces the first value of each pair by the second.
    pub fn replace_all(&mut self, values: impl IntoIterator<Item = Value>, by: impl IntoIterator<Item = Value>) {
        for (value, by) in values.into_iter().zip(by) {
            self.replace(value, by);
        }
    }

    /// Undoes the replacement of a value.
    pub fn restore(&mut self, value: Value) {
        if let Some(by) = self.map.get_mut(value.index()) {
            *by = None;
        }
    }

    /// The replacement of a value.
    pub fn get(&self, mut value: Value) -> Value {
        while let Some(Some(by)) = self.map.get(value.index()) {
            value = *by;
        }
        value
    }

    /// Renames the operands of an instruction.
    pub fn apply(&self, kernel: &mut Kernel, inst: InstId) {
        for arg in kernel.args_mut(inst) {
            *arg = self.get(*arg);
        }
    }

    /// Renames all operands in a kernel.
    pub fn apply_all(&self, kernel: &mut Kernel) {
        if self.map.is_empty() {
            return;
        }
        for block in kernel.blocks.handles() {
            for at in 0..kernel.blocks[block].insts.len() {
                self.apply(kernel, kernel.blocks[block].insts[at]);
            }
        }
    }
}
