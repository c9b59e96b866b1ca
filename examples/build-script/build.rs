//! Compiles every shader in `shaders/` for Vulkan 1.2 and for NVIDIA's Volta.

use crosslane::build::{Builder, Error};

fn main() -> Result<(), Error> {
    println!("cargo::rerun-if-changed=build.rs");
    Builder::new().profile("spirv-1.5").profile("nv-volta").define("WIDTH", "8").compile_dir("shaders")
}
