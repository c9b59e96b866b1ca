//! Time to simulate a reduction of a million numbers: `fixtures/glsl/kernel_block_reduction.comp`, 64 invocations per
//! workgroup, in waves of each size.
//!
//! `cargo bench -p crosslane-criterion --bench simulate`

use criterion::{Criterion, criterion_group, criterion_main};
use crosslane::compile::{Input, Language, Options, parse};
use crosslane::kernel::pass::optimize;
use crosslane::kernel::{Kernel, Specializations, lower};
use crosslane::profile::Profile;
use crosslane::sim::{Dispatch, Memory, Program};
use crosslane::source::NoIncludes;

const SOURCE: &str = include_str!("../../fixtures/glsl/kernel_block_reduction.comp");

/// Invocations per workgroup, and workgroups.
const GROUP: u32 = 64;
const GROUPS: u32 = (1 << 20) / GROUP;

/// The kernel after the passes, as the simulator runs it.
fn kernel() -> Kernel {
    let profile = Profile::named("spirv-1.6").expect("it is built in");
    let input = Input { name: "reduction.comp", bytes: SOURCE.as_bytes(), language: Language::Glsl };
    let module = parse(&input, &Options::new(profile), &NoIncludes).module.expect("the fixture compiles");
    let mut kernel = lower(&module, &Specializations::new()).expect("the fixture is a kernel");
    optimize(&mut kernel);
    kernel
}

fn reduce(program: &Program, input: &[u8]) -> u32 {
    let mut buffers = [Memory::from(input.to_vec()), Memory::from(vec![0; 4 * GROUPS as usize])];
    program.run(&Dispatch::new([GROUPS, 1, 1]), &mut buffers).expect("the fixture runs");
    let sums = buffers[1].bytes().chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]));
    sums.fold(0, u32::wrapping_add)
}

fn simulate(c: &mut Criterion) {
    let kernel = kernel();
    let input: Vec<u8> = (0..GROUP * GROUPS).flat_map(u32::to_le_bytes).collect();
    let expected = (0..GROUP * GROUPS).fold(0, u32::wrapping_add);
    let mut group = c.benchmark_group("reduce a million numbers");
    group.sample_size(10);
    for lanes in [8, 32, 64] {
        let program = Program::new(&kernel, lanes).expect("the fixture fits");
        assert_eq!(reduce(&program, &input), expected);
        group.bench_function(format!("{lanes} lanes"), |b| b.iter(|| reduce(&program, &input)));
    }
}

criterion_group!(benches, simulate);
criterion_main!(benches);
