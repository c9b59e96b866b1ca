//! Instructions that may run earlier: the search that fills wait states.
//!
//! An instruction of the same block may come forward if none of the instructions that it passes writes what it reads,
//! or reads or writes what it writes.

/// An instruction of a block as the search sees it.
pub trait Step {
    /// The reads and writes of the instructions that are passed.
    type Passed: Default;

    /// Returns true if it may come forward at all.
    fn is_movable(&self) -> bool;

    /// Returns true if nothing passes it.
    fn is_fence(&self) -> bool;

    /// Notes what it reads and writes.
    fn pass(&self, passed: &mut Self::Passed);

    /// Returns true if it depends on nothing that is passed.
    fn is_free_of(&self, passed: &Self::Passed) -> bool;
}

/// The first of the instructions after the next one that may run before it, and `fits` there; `window` of them are examined.
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
