//! Tests that are rows of tables: shaders through the compiler, its interpreters and other people's judges.
//!
//! This binary has its own harness because the rows are only known at run time, and because it is also the helper
//! process that a driver runs in. It takes the arguments of any Rust test binary; `judged nv::` runs one group.

mod amd;
mod contraction;
mod core_language;
mod fixtures;
mod graphics;
mod inline;
mod matrix;
mod nv;
mod passes;
mod ptx;
mod random;
mod reflection;
mod side_by_side;
mod spirv_in;
mod trees;
mod whole;

use libtest_mimic::Arguments;
use std::path::Path;
use support::trial::Trial;
use support::{cuda, dawn, dxc, emulator, lavapipe, opengl, outcomes, radv};

/// The first part of the tests' names, and the function that lists them.
type Group = (&'static str, fn() -> Vec<Trial>);

const GROUPS: [Group; 16] = [
    ("amd", amd::trials),
    ("contraction", contraction::trials),
    ("core_language", core_language::trials),
    ("fixtures", fixtures::trials),
    ("graphics", graphics::trials),
    ("inline", inline::trials),
    ("matrix", matrix::trials),
    ("nv", nv::trials),
    ("passes", passes::trials),
    ("ptx", ptx::trials),
    ("random", random::trials),
    ("reflection", reflection::trials),
    ("side_by_side", side_by_side::trials),
    ("spirv_in", spirv_in::trials),
    ("trees", trees::trials),
    ("whole", whole::trials),
];

fn main() {
    if lavapipe::serve() || opengl::serve() || radv::serve() || dxc::serve() {
        return;
    }
    let page = std::env::var_os("CROSSLANE_VERIFIED");
    match page.filter(|_| !matrix::is_on_gpu() && !cuda::is_asked() && !trees::are_asked_for()) {
        Some(page) => nv::verified::write(Path::new(&page)).unwrap_or_else(|why| panic!("{why}")),
        None => test(&Arguments::from_args()),
    }
    stop();
}

/// Ends the helpers.
fn stop() {
    lavapipe::stop();
    dawn::stop();
    opengl::stop();
    dxc::stop();
}

fn test(arguments: &Arguments) {
    let groups = GROUPS.into_iter().filter(|(group, _)| can_match(group, arguments));
    let trials = groups.flat_map(|(group, trials)| trials().into_iter().map(move |trial| trial.of(group))).collect();
    let conclusion = libtest_mimic::run(arguments, trials);
    outcomes::state();
    emulator::stop();
    matrix::write_pages(arguments, &conclusion);
    ptx::verified::write(arguments);
    if conclusion.has_failed() {
        stop();
        conclusion.exit();
    }
}

/// Returns false if no test in the group can have the requested name. A runner that starts a process per test requests
/// one exact name, and listing the other groups would take longer than most tests.
fn can_match(group: &str, arguments: &Arguments) -> bool {
    let filter = arguments.filter.as_deref().unwrap_or_default();
    match filter.split_once("::") {
        Some((first, _)) => first == group || !arguments.exact && !GROUPS.iter().any(|(known, _)| *known == first),
        None => true,
    }
}
