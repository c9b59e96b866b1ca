//! Copies that happen all at once, made one after the other.

use std::collections::BTreeSet;

/// The next thing to do.
pub enum Step<'a, C> {
    Copy(C),
    /// Each copy that is left writes a register that another still reads: what the first one overwrites is to be kept in a
    /// register of its own, for those that read it.
    OpenRing(&'a mut [C]),
}

/// Makes copies in an order in which each register is read before it is written. `written` is the register that a copy
/// writes, if others can read it, and `read` adds those that it reads.
pub fn in_order<C, R: Ord>(
    mut pending: Vec<C>,
    written: impl Fn(&C) -> Option<R>,
    read: impl Fn(&C, &mut BTreeSet<R>),
    mut act: impl FnMut(Step<'_, C>),
) {
    while !pending.is_empty() {
        let mut awaited = BTreeSet::new();
        pending.iter().for_each(|copy| read(copy, &mut awaited));
        let is_free = |copy: &C| written(copy).is_none_or(|to| !awaited.contains(&to));
        let (free, held): (Vec<C>, Vec<C>) = pending.into_iter().partition(is_free);
        pending = held;
        if free.is_empty() {
            act(Step::OpenRing(&mut pending));
        }
        free.into_iter().for_each(|copy| act(Step::Copy(copy)));
    }
}
