//! Random kernels have the same results before and after each pass.

mod image;
mod memory;
mod strength_reduction;

use super::{GATHERING, OPTIMIZING, Pass, REDUCING, REPEATING, UNROLL_FURTHER, optimize};
use crate::kernel::print::print;
use crate::kernel::tree::Tree;
use crate::kernel::verify::verify;
use crate::kernel::{Kernel, random};

/// Number of kernels to try.
const KERNELS: u64 = 60;

/// All passes of a target without lanes together.
const OPTIMIZE: Pass = Pass::new("optimize", |kernel| {
    optimize(kernel);
    true
});

fn check(kernel: &Kernel, what: &str) {
    if let Err(errors) = verify(kernel) {
        panic!("{what}: {errors:#?}\n{}", print(kernel, None));
    }
}

/// Every word defined before is the same.
fn same(before: &[Option<u32>], after: &[Option<u32>]) -> bool {
    before.iter().zip(after).all(|(before, after)| before.is_none() || before == after)
}

#[test]
fn passes_change_no_result() {
    let (mut runs, mut repeated) = (0, 0);
    for seed in 0..KERNELS {
        let kernel = random::kernel(seed, true);
        for lanes in [8, 32] {
            let Some(before) = random::run_generated(&kernel, lanes) else { continue };
            runs += 1;
            for pass in OPTIMIZING
                .into_iter()
                .chain(REDUCING)
                .chain(GATHERING)
                .chain(REPEATING)
                .chain([UNROLL_FURTHER, OPTIMIZE])
            {
                let mut changed = kernel.clone();
                repeated += u32::from((pass.run)(&mut changed) && pass.name == REPEATING[0].name);
                let what = format!("seed {seed}, {lanes} lanes, {}", pass.name);
                check(&changed, &what);
                let after = random::run(&changed, lanes);
                let is_same = after.as_ref().is_ok_and(|after| same(&before, after));
                assert!(is_same, "{what}: {:?}\n{}\n{}", after.err(), print(&kernel, None), print(&changed, None));
            }
        }
    }
    assert!(runs > KERNELS, "only {runs} runs gave something");
    assert!(repeated > 10, "only {repeated} kernels had a loop to repeat");
}

#[test]
fn optimizing_leaves_less_than_half() {
    let size = |kernel: &Kernel| Tree::new(kernel).insts(kernel).len();
    let mut sizes = (0, 0);
    for seed in 0..KERNELS {
        let mut kernel = random::kernel(seed, true);
        sizes.0 += size(&kernel);
        optimize(&mut kernel);
        sizes.1 += size(&kernel);
    }
    assert!(2 * sizes.1 < sizes.0, "{sizes:?}");
}

#[test]
fn variables_of_few_words_are_values_in_the_end() {
    for seed in 0..KERNELS {
        let mut kernel = random::kernel(seed, true);
        optimize(&mut kernel);
        assert_eq!(kernel.private_bytes, 0, "seed {seed}\n{}", print(&kernel, None));
    }
}
