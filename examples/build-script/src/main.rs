//! Prints what the build script produced and runs the shader on crosslane's simulator: waves of 32 lanes that sum up
//! segments of eight.

mod shaders {
    include!(concat!(env!("OUT_DIR"), "/shaders.rs"));
}

use crosslane::compile::{Input, Language, Options, parse};
use crosslane::glsl::preprocess::MacroOption;
use crosslane::kernel::{Specializations, lower};
use crosslane::profile::Profile;
use crosslane::sim::{Dispatch, Memory, Program};
use crosslane::source::{IncludeKind, LoadError, Loaded, Loader};
use shaders::reduce;

/// Invocations in the only workgroup.
const COUNT: u32 = 64;

fn main() {
    let facts = reduce::SPIRV_1_5_REFLECTION;
    println!(
        "{}: {} words of SPIR-V, {} bytes of assembly",
        facts.entry_point,
        reduce::SPIRV_1_5.len(),
        reduce::NV_VOLTA.len()
    );
    println!(
        "workgroup {:?}, buffer `{}` at binding {}",
        facts.workgroup_size, facts.buffers[0].name, facts.buffers[0].binding
    );
    let sums = simulate(include_bytes!("../shaders/reduce.comp"));
    println!("sums of eight: {:?}", sums.chunks(8).map(|segment| segment[0]).collect::<Vec<_>>());
    let expected = |n: u32| (n / 8 * 8..n / 8 * 8 + 8).sum::<u32>();
    assert!(sums.iter().zip(0..).all(|(sum, n)| *sum == expected(n)), "{sums:?}");
}

/// The one file that the shader includes.
struct Embedded;

impl Loader for Embedded {
    fn load(&self, name: &str, _: IncludeKind, _: &str) -> Result<Loaded, LoadError> {
        match name {
            "tools/index.glsl" => {
                Ok(Loaded { name: name.into(), text: include_str!("../shaders/tools/index.glsl").into() })
            }
            _ => Err(LoadError::NotFound(Vec::new())),
        }
    }
}

/// Runs a shader on a buffer that starts as 0, 1, 2, … and returns it.
fn simulate(source: &[u8]) -> Vec<u32> {
    let input = Input { name: "reduce.comp", bytes: source, language: Language::Glsl };
    let profile = Profile::named("spirv-1.5").expect("a built-in profile");
    let width = MacroOption::Define { name: "WIDTH".into(), value: "8".into() };
    let options = Options { macros: vec![width], ..Options::new(profile) };
    let module = parse(&input, &options, &Embedded).module.expect("the build script compiled it");
    let kernel = lower(&module, &Specializations::new()).expect("it is a compute shader");
    let program = Program::new(&kernel, 32).expect("it runs on 32 lanes");
    let words: Vec<u8> = (0..COUNT).flat_map(u32::to_le_bytes).collect();
    let mut buffers = [Memory::from(words)];
    program.run(&Dispatch::new([1, 1, 1]), &mut buffers).expect("it does nothing wrong");
    buffers[0].bytes().chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect()
}
