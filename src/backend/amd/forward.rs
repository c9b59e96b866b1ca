//! Instructions that may run earlier: the search that fills wait states.
//!
//! An instruction of the same block may move forward if no instruction that it passes writes its operands, or reads or
//! writes its results.

/// An instruction of a block as the search sees it.
pub trait Step {
    /// The reads and writes of the instructions in between.
    type Passed: Default;

    /// Returns true if it may move at all.
    fn is_movable(&self) -> bool;

    /// Returns true if nothing may pass it.
    fn is_fence(&self) -> bool;

    /// Records its reads and writes.
    fn pass(&self, passed: &mut Self::Passed);

    /// Returns true if it depends on no passed instruction.
    fn is_free_of(&self, passed: &Self::Passed) -> bool;
}

/// The first instruction after the next one that may run before it and that `fits`; examines `window` of them.
pub fn earlier<'a, S: Step + 'a>(
    next: impl Iterator<Item = &'a S>,
    window: usize,
    fits: impl Fn(&S) -> bool,
) -> Option<usize> {
    let mut passed = S::Passed::default();
    for (n, step) in next.enumerate().take(window) {
        if n > 0 && step.is_movable() && step.is_free_of(&passed) && fits(step) {
            return Some(n);
        }
        if step.is_fence() {
            return None;
        }
        step.pass(&mut passed);
    }
    None
}
