//! What makes kernels smaller and faster without changing what they compute: one file a pass.
//!
//! Every pass keeps the rules of the form ([`super::verify`]) and takes time in proportion to the kernel's size. Floats
//! are never re-associated or contracted; a result that was undefined may become any value. Cross-lane operations stay
//! where they are, because moving one would change which lanes take part.

mod address;
mod control;
mod copy;
mod dead;
mod early;
mod fold;
mod forward;
mod hoist;
mod join;
mod memory;
mod merge;
mod pack;
mod promote;
mod range;
mod share;
mod unroll;

use super::Kernel;

/// One pass: changes a kernel and gives whether it did.
type Pass = fn(&mut Kernel) -> bool;

/// What is run again and again, while there is something to do, in this order.
const CLEANING: &[Pass] = &[merge::run, forward::run, control::run, early::run, dead::run];

/// Rounds of cleaning at most: each mostly finds what the one before has laid open, and soon nothing is left.
const ROUNDS: usize = 4;

/// Makes a kernel as simple as can be told without a target.
pub fn optimize(kernel: &mut Kernel) {
    clean(kernel);
    if unroll::run(kernel) {
        clean(kernel);
    }
    if promote::run(kernel) {
        clean(kernel);
    }
    hoist::run(kernel);
    address::run(kernel);
    clean(kernel);
    pack::run(kernel);
}

/// What is left to do where moves between lanes cost as much as other instructions, and one memory access takes as long as
/// another: as few of both as can be. For kernels whose cross-lane operations are lowered.
pub(super) fn gather(kernel: &mut Kernel) {
    share::run(kernel);
    join::run(kernel);
}

/// Simplifies without copying anything, until every pass in its turn has found nothing.
pub(super) fn clean(kernel: &mut Kernel) {
    let mut idle = 0;
    for pass in CLEANING.iter().cycle().take(ROUNDS * CLEANING.len()) {
        idle = if pass(kernel) { 0 } else { idle + 1 };
        if idle == CLEANING.len() {
            return;
        }
    }
}

#[cfg(test)]
mod tests;
