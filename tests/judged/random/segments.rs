//! Random kernels with segments that span subgroups, up to the workgroup: they give the same in subgroups of every size,
//! on every target.

use std::ops::Range;

use support::across::{self, TARGETS, Text};
#[allow(dead_code)]
use support::generator::{program, segments};
use support::lavapipe::Request;
use support::pattern::{Domain, PATTERNS};
use support::scalar::Type;
use support::trial::{Trial, judged, trial};
use support::{outcomes, seeds, simulator};

/// Kernels that each run of the tests tries.
const USUAL: u64 = 200;

/// Kernels of which each barrier is removed in turn.
const ORDERS: u64 = 100;

/// One kernel in this number also runs on a target.
const EVERY: u64 = 5;

pub fn trials() -> Vec<Trial> {
    let batch = |seeds: Range<u64>| {
        judged(format!("segments_{}", seeds.start), &across::judges(), move || outcomes::each(seeds, check))
    };
    let barriers = trial("barriers".to_owned(), every_barrier_counts);
    seeds::batches(USUAL).map(batch).chain([barriers]).collect()
}

fn check(seed: u64) -> Result<(), String> {
    let kernel = segments::kernel(seed);
    let held = agree(seed, &kernel);
    let held = held.map_err(|why| format!("seed {seed}: {why}\n{}", program::keep(seed, &kernel.source)));
    outcomes::counted("simulator", "segments", held.map(|()| true)).map(|_| ())
}

fn agree(seed: u64, kernel: &segments::Kernel) -> Result<(), String> {
    let (source, request) = (&*kernel.source, request(kernel.invocations));
    let text = Text { name: "segments.comp", source, request, results: segments::RESULTS };
    let expected = text.simulated_alike()?;
    match seed.is_multiple_of(EVERY) {
        true => text.check_target(TARGETS[(seed / EVERY) as usize % TARGETS.len()], &expected),
        false => Ok(()),
    }
}

/// The simulator sees a race where a barrier is missing. Where it does not, waves store what is there already, or the
/// workgroup has one wave.
fn every_barrier_counts() -> Result<(), String> {
    let mut removed = seeds::batches(ORDERS).flatten().map(|seed| {
        let kernel = segments::straight(seed);
        let (source, request) = (&*kernel.source, request(kernel.invocations));
        let text = Text { name: "segments.comp", source, request, results: segments::RESULTS };
        text.without_barriers(simulator::LANES[seed as usize % simulator::LANES.len()])
    });
    let add = |[a, b]: [usize; 2], counts: Result<[usize; 2], String>| counts.map(|[c, d]| [a + c, b + d]);
    let [noticed, missed] = removed.try_fold([0, 0], add)?;
    match missed * 50 <= noticed {
        true => Ok(()),
        false => Err(format!("{missed} removed barriers make no difference, {noticed} do")),
    }
}

fn request(invocations: usize) -> Request {
    let run = |pattern| {
        vec![
            Domain::Any(Type::U32).words(pattern, 1, invocations),
            vec![0; invocations * segments::RESULTS],
            segments::TURNS.to_vec(),
        ]
    };
    Request::new(Vec::new(), 1, PATTERNS[..2].iter().map(|pattern| run(*pattern)).collect())
}
