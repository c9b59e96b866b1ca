//! Programs by crosslane on the GPU compared with those by other compilers for the same work: whole kernels as NVIDIA
//! assembly next to the driver's program for the GLSL, as SPIR-V next to glslang's modules, and as PTX; then single
//! operations, and operations over the workgroup as SPIR-V. Everything in a row runs alternately in one process; times are
//! the GPU's own. Measures the interfaces that the machine has: NVIDIA's OpenGL, Vulkan and CUDA.
//!
//! `cargo bench --bench gpu -- WORD NAME…` does a part: `operations`; `workgroups`; `kernels`, optionally only those whose
//! names contain a NAME; `check` compares the results of kernels and measures nothing; `texts` prints kernels as passed to
//! the driver. `CROSSLANE_GGML` names the folder with ggml's shaders, `CROSSLANE_JUDGES` the folder with glslang.
//! `CROSSLANE_VERIFIED=docs/verified/speed-nvidia.md` writes the tables into that page. A wrong result makes the run
//! fail.

mod kernels;
mod operations;
mod overhead;
mod ways;
mod workgroups;

use crosslane::run::{cuda, vulkan};
use std::path::Path;
use std::process::ExitCode;
use support::device::gl::Painter;
use support::report;

/// The measured profile.
const PROFILE: &str = "nv-hopper";
const SPIRV: &str = "spirv-nvidia";
const PTX: &str = "ptx-sm90";

fn main() -> ExitCode {
    // Cargo passes `--bench` to benchmarks, and nothing when it only tests that they start.
    let words: Vec<String> = std::env::args().skip(1).collect();
    if !words.iter().any(|word| word == "--bench") {
        return ExitCode::SUCCESS;
    }
    let words: Vec<&str> = words.iter().map(String::as_str).filter(|word| !word.starts_with("--")).collect();
    let (part, names) = words.split_first().map_or(("", &words[..]), |(part, names)| (*part, names));
    if part == "texts" {
        return kernels::print_texts(names);
    }
    let painter = opened(Painter::open());
    let vulkan = opened(vulkan::Device::open());
    let cuda = opened(cuda::Device::open());
    let overhead = overhead::Overhead::measure(painter.as_ref(), cuda.as_ref());
    let devices =
        kernels::Devices { painter: painter.as_ref(), vulkan: vulkan.as_ref(), cuda: cuda.as_ref(), overhead };
    let mut sections = Vec::new();
    let mut are_right = true;
    match part {
        "check" => are_right = kernels::check_all(&devices, names),
        "" | "kernels" if painter.is_some() || vulkan.is_some() || cuda.is_some() => {
            let found = kernels::measure(&devices, names);
            are_right = found.are_right;
            sections.extend(found.sections);
        }
        _ => {}
    }
    if ["", "operations"].contains(&part) {
        sections.extend(
            painter.as_ref().map(|painter| ("Operations", operations::section(painter, cuda.as_ref(), overhead))),
        );
    }
    if ["", "workgroups"].contains(&part) {
        sections.extend(vulkan.as_ref().map(|device| ("The workgroup", workgroups::section(device))));
    }
    for (title, body) in &sections {
        println!("## {title}\n\n{body}\n");
    }
    if let Some(path) = std::env::var_os("CROSSLANE_VERIFIED") {
        let write = |(title, body): &(&str, String)| report::replace(Path::new(&path), title, body);
        sections.iter().try_for_each(write).unwrap_or_else(|why| panic!("{why}"));
    }
    if are_right { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// The device; `None` after printing why there is none.
fn opened<T, E: std::fmt::Display>(device: Result<T, E>) -> Option<T> {
    device.map_err(|why| eprintln!("left out: {why}")).ok()
}
