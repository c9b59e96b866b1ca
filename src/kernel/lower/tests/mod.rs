//! Lowering of whole shaders: kernels, rejections, and results in the simulator.

mod control;
mod limits;
mod made;
mod math;
mod memory;
mod narrow;
mod settings;
mod stage;

use super::{Specializations, lower};
use crate::compile::Options;
use crate::diagnostic::{Diagnostic, Diagnostics, render};
use crate::glsl;
use crate::glsl::preprocess::MacroOption;
use crate::ir::Module;
use crate::kernel::{Kernel, Op, print, verify};
use crate::profile::Profile;
use crate::sim::{Dispatch, Memory, Program};
use crate::source::{NoIncludes, SourceMap};
use crate::wgsl::{self, WgslOptions};
use std::fs;
use std::path::{Path, PathBuf};

/// The module for a shader.
fn module(name: &str, text: &str) -> Result<Module, String> {
    let mut sources = SourceMap::new();
    let file = sources.add(name, text).map_err(|error| format!("{error:?}"))?;
    let mut diagnostics = Diagnostics::new();
    let module = if name.ends_with(".wgsl") {
        let defines = [("WIDTH".to_owned(), "8".to_owned())];
        let options = WgslOptions { defines: &defines, ..WgslOptions::default() };
        wgsl::compile(file, &sources, &options, &mut diagnostics, None)
    } else {
        let profile = Profile::named("spirv-1.6").ok_or("no such profile")?;
        let width = MacroOption::Define { name: "WIDTH".to_owned(), value: "8".to_owned() };
        let options = Options { macros: vec![width], ..Options::new(profile) };
        glsl::compile(file, &mut sources, &NoIncludes, &options.glsl(), &mut diagnostics, None)
    };
    module.ok_or_else(|| render::human(&sources, &diagnostics))
}

/// A kernel of GLSL text, with settings.
fn specialized(text: &str, settings: &[(&str, &str)]) -> Result<Kernel, Vec<Diagnostic>> {
    let module = module("test.comp", text).unwrap_or_else(|why| panic!("{why}"));
    let mut given = Specializations::new();
    settings.iter().for_each(|(name, value)| given.set(name, value));
    let kernel = lower(&module, &given)?;
    sound(&kernel);
    Ok(kernel)
}

fn sound(kernel: &Kernel) {
    if let Err(errors) = verify::verify(kernel) {
        panic!("{}\n{}", errors[0], print::print(kernel, None));
    }
}

fn kernel(text: &str) -> Kernel {
    specialized(text, &[]).unwrap_or_else(|errors| panic!("{errors:?}"))
}

/// A kernel whose invocation reads `v = x[i]` and runs some statements, which may write `y[i]`.
fn with_body(globals: &str, body: &str) -> Kernel {
    kernel(&format!(
        "#version 450
layout(local_size_x = 8) in;
layout(std430, binding = 0) buffer Input {{ uint x[]; }};
layout(std430, binding = 1) buffer Output {{ uint y[]; }};
{globals}
void main() {{
    uint i = gl_GlobalInvocationID.x;
    uint v = x[i];
{body}
}}
"
    ))
}

/// The words of the second buffer after one workgroup of eight has run with these words in the first.
fn run(kernel: &Kernel, input: &[u32]) -> Vec<u32> {
    let program = Program::new(kernel, 4).expect("waves of 4 are right for every kernel");
    let bytes = |words: &[u32]| words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>();
    let mut buffers = [Memory::from(bytes(input)), Memory::from(vec![0; 4 * input.len()])];
    program.run(&Dispatch::new([1, 1, 1]), &mut buffers).unwrap_or_else(|fault| panic!("{fault:?}"));
    buffers[1].bytes().chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect()
}

/// How many instructions of a kernel are of a kind.
fn count(kernel: &Kernel, is: impl Fn(&Op) -> bool) -> usize {
    kernel.insts.iter().filter(|(_, inst)| is(&inst.op)).count()
}

/// The codes of the errors about a shader.
fn codes(result: Result<Kernel, Vec<Diagnostic>>) -> Vec<&'static str> {
    result.err().unwrap_or_default().iter().map(|error| error.code.0).collect()
}

fn fixtures() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    let mut paths = Vec::new();
    for folder in ["glsl", "wgsl", "core", "language"] {
        let entries = fs::read_dir(root.join(folder)).expect("the fixtures are there");
        paths.extend(entries.map(|entry| entry.expect("an entry can be read").path()));
    }
    paths.sort();
    paths
}

#[test]
fn every_fixture_becomes_a_sound_kernel() {
    for path in fixtures() {
        let name = path.display().to_string();
        let text = fs::read_to_string(&path).expect("a fixture is text");
        let module = module(&name, &text).unwrap_or_else(|why| panic!("{name}: {why}"));
        let kernel = lower(&module, &Specializations::new()).unwrap_or_else(|errors| panic!("{name}: {errors:?}"));
        sound(&kernel);
    }
}

#[test]
fn kernels_are_the_same_each_time() {
    let text = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/core/structs.comp"));
    let text = text.expect("a fixture is text");
    assert_eq!(print::print(&kernel(&text), None), print::print(&kernel(&text), None));
}
