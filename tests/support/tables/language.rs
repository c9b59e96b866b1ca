//! The languages themselves: kernels without cross-lane operations, judged by another compiler.
//!
//! Formulas for them would only repeat the language's rules, so the expected results are those of glslang's module for
//! the GLSL source on the same driver; a WGSL kernel with the same name computes the same. The sources are in
//! `fixtures/language/`.

use crate::case::Column;
use crate::compare::Closeness;
use crate::compiler::Target;
use crate::fixture::{Buffer, Build, Count, Fixture, Language, input, outputs};
use crate::pattern::Domain;
use crate::scalar::Type;
use crate::{compiler, judge};

const WORDS: Domain = Domain::Any(Type::U32);
const NUMBERS: Domain = Domain::Exact(Type::F32);

pub static FIXTURES: &[Fixture] = &[
    against("control_flow", &[input(WORDS), outputs(Type::U32, 4)]),
    against("functions", &[input(WORDS), outputs(Type::U32, 8)]),
    against("vectors", &[input(WORDS), outputs(Type::U32, 16)]),
    against("matrices", &[input(NUMBERS), outputs(Type::F32, 16)]),
    against("aggregates", &[input(WORDS), outputs(Type::U32, 6)]),
    against("integers", &[input(WORDS), outputs(Type::U32, 20)]),
    // Drivers turn `float(int(x))` into `trunc(x)`, which may be -0: zeros compare equal.
    against("floats", &[input(NUMBERS), Buffer::Out(Type::F32, Count::PerSlot(32), Closeness::Within(0.0))]),
    // lavapipe's arc functions are off by 3e-4.
    against("approximations", &[input(NUMBERS), Buffer::Out(Type::F32, Count::PerSlot(26), Closeness::Within(5e-4))]),
    against("packing", &[input(WORDS), outputs(Type::U32, 8)]),
    against("layouts", &[input(NUMBERS), BLOCK, BLOCK, BLOCK, BLOCK]).with_group(1).with_scalar_layout(),
    against("memory", &[input(WORDS), outputs(Type::U32, 4)]),
    against("constants", &[input(WORDS), outputs(Type::U32, 8)]),
    against("doubles", &[input(WORDS), outputs(Type::U32, 12)]),
    against("scopes", &[input(WORDS), outputs(Type::U32, 4)]),
    against("half_arrays", &[input(WORDS), outputs(Type::U32, 4)]),
    against("continuing", &[input(WORDS), outputs(Type::U32, 8)]),
    against("split_halves", &[input(WORDS), outputs(Type::U32, 8)]),
];

/// Room for any layout of the block.
const BLOCK: Buffer = Buffer::Out(Type::F32, Count::Fixed(128), Closeness::Same);

const fn against(name: &'static str, buffers: &'static [Buffer]) -> Fixture {
    Fixture::new(name, buffers, |_| Vec::<Column>::new()).in_folder("language")
}

/// Simulates one source, and runs crosslane's module for it on lavapipe with eight lanes, where nothing may be
/// contracted.
pub fn simulate(fixture: &Fixture, language: Language) -> Result<(), String> {
    let fixture = &fixture.in_order();
    let target = Target { fixture, language, profile: "spirv-1.6", build: Build { width: None, wave: None } };
    fixture.simulate_against(&compiler::kernel(target)?, &compiler::spirv(target)?)
}

/// Runs crosslane's module for one source and glslang's for the GLSL on `lanes` lanes; returns the differences, if any.
pub fn run(fixture: &Fixture, language: Language, profile: &str, lanes: usize) -> Result<(), String> {
    let path = fixture.path(Language::Glsl);
    let source = std::fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
    let ours = compiler::spirv(Target { fixture, language, profile, build: Build { width: None, wave: None } })?;
    fixture.run_against(&ours, &judge::glslang(&source)?, lanes)
}
