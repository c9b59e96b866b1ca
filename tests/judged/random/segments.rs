//! Random kernels with segments that span subgroups, up to the workgroup: they give the same in subgroups of every size,
//! on every target.

use std::ops::Range;

use support::across::{self, TARGETS, Text};
#[allow(dead_code)]
use support::generator::{program, segments};
use support::lavapipe::Request;
use support::pattern::{Domain, PATTERNS};
use support::scalar::Type;
use support::trial::{Trial, judged};
use support::{outcomes, seeds};

/// Kernels that each run of the tests tries.
const USUAL: u64 = 200;

/// One kernel in this number also runs on a target.
const EVERY: u64 = 5;

pub fn trials() -> Vec<Trial> {
    let batch = |seeds: Range<u64>| {
        judged(format!("segments_{}", seeds.start), &across::judges(), move || outcomes::each(seeds, check))
    };
    seeds::batches(USUAL).map(batch).collect()
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
