//! Random kernels of memory accesses leave the same bytes before and after each pass, both alone and among other
//! passes.
//!
//! `CROSSLANE_RANDOM=SEED:COUNT` tests other kernels than the default ones.

use super::super::{GATHERING, OPTIMIZING, Pass, REDUCING, REPEATING, UNROLL_FURTHER};
use super::OPTIMIZE;
use crate::kernel::Kernel;
use crate::kernel::print::print;
use crate::kernel::random::memory::{kernel, run};
use crate::kernel::verify::verify;

/// Kernels that are usually tried.
const USUAL: u64 = 100;

/// The seeds to try.
fn seeds() -> std::ops::Range<u64> {
    let Ok(asked) = std::env::var("CROSSLANE_RANDOM") else { return 0..USUAL };
    let parsed = asked.split_once(':').and_then(|(seed, count)| Some((seed.parse().ok()?, count.parse::<u64>().ok()?)));
    let (first, count) = parsed.expect("CROSSLANE_RANDOM is SEED:COUNT");
    first..first + count
}

/// Every pass, all passes of a target, and the gathering passes after these.
fn passes() -> impl Iterator<Item = (String, Vec<Pass>)> {
    let single =
        OPTIMIZING.into_iter().chain(REDUCING).chain(GATHERING).chain(REPEATING).chain([UNROLL_FURTHER, OPTIMIZE]);
    let after = GATHERING.into_iter().chain(REPEATING).chain(OPTIMIZING);
    let single = single.map(|pass| (pass.name.to_owned(), vec![pass]));
    single.chain(after.map(|pass| (format!("optimize, {}", pass.name), vec![OPTIMIZE, pass])))
}

/// The difference caused by passes, if any.
fn difference(kernel: &Kernel, before: &[Option<u8>], passes: &[Pass], changes: &mut bool) -> Option<String> {
    let mut changed = kernel.clone();
    *changes = passes.iter().fold(false, |_, pass| (pass.run)(&mut changed));
    if let Err(errors) = verify(&changed) {
        return Some(format!("{errors:?}\n{}", print(&changed, None)));
    }
    let after = match run(&changed) {
        Ok(after) => after,
        Err(why) => return Some(format!("{why:?}\n{}", print(&changed, None))),
    };
    let differs = |at: &usize| before[*at].is_some() && before[*at] != after[*at];
    let at = (0..before.len()).find(differs)?;
    Some(format!("byte {at}\n{}", print(&changed, None)))
}

#[test]
fn passes_change_no_byte() {
    let (mut runs, mut changed, mut wrong) = (0, std::collections::BTreeMap::<String, u32>::new(), Vec::new());
    let seeds = seeds();
    for seed in seeds.clone() {
        let kernel = kernel(seed);
        let before = match run(&kernel) {
            Ok(before) => before,
            Err(crate::sim::FaultKind::Steps { .. }) => continue,
            Err(why) => panic!("seed {seed}: {why:?}\n{}", print(&kernel, None)),
        };
        runs += 1;
        for (name, passes) in passes() {
            let mut changes = false;
            if let Some(why) = difference(&kernel, &before, &passes, &mut changes) {
                wrong.push(format!("seed {seed}, {name}: {why}\n// before\n{}", print(&kernel, None)));
            }
            *changed.entry(name).or_default() += u32::from(changes);
        }
    }
    let heads: Vec<&str> = wrong.iter().filter_map(|why: &String| why.lines().next()).collect();
    assert!(wrong.is_empty(), "{} of {runs} kernels:\n{}\n{}", wrong.len(), heads.join("\n"), wrong[0]);
    let count = (seeds.end - seeds.start) as u32;
    assert!(runs * 10 > count * 9, "only {runs} of {count} kernels end");
    eprintln!("{runs} kernels; changed by {changed:?}");
}
