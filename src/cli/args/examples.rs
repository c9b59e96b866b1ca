//! The ends of the subcommands' help: examples, each of which the tests run.

use crate::diagnostic::warning;

pub const COMPILE: &str = "\
Examples:
  crosslane compile reduce.comp
  crosslane compile reduce.comp -p gfx1100 -o reduce.s
  crosslane compile shaders/reduce.comp sum.comp -p spirv-1.6,ptx-sm80 -o out
  crosslane compile reduce.comp -p hlsl-6.6 -DSIZE=64 -I include -o -
  crosslane compile mesh.vert mesh.frag -p msl-3.0 -o out";

pub const BUILD: &str = "\
Examples:
  crosslane build
  crosslane build --check
  crosslane build --emit-ninja=build.ninja";

pub const SNAPSHOT: &str = "\
Examples:
  crosslane snapshot --accept
  crosslane snapshot --check";

pub const RUN: &str = "\
Examples:
  crosslane run reduce.comp --buffer 0=iota:f32:64
  crosslane run reduce.comp -p gfx900 --buffer 0=in.bin --print 0 --out 0=out.bin
  crosslane run reduce.comp --buffer 0=random:f32:64:7 --keep-undefined --print 0:u32:4
  crosslane run reduce.comp --on sim,vulkan --buffer 0=random:f32:64:1 --within 1e-5";

pub const EXPLAIN: &str = "\
Examples:
  crosslane explain reduce.comp -p gfx1100
  crosslane explain reduce.comp -p nv-ampere,gfx900,spirv-1.6
  crosslane explain reduce.comp -p gfx1100 --html report.html
  crosslane explain reduce.wgsl -p wgsl --json";

pub const CHECK: &str = "\
Examples:
  crosslane check reduce.comp
  crosslane check reduce.comp -p spirv-1.3,gfx1100,ptx-sm80
  crosslane check reduce.wgsl -p wgsl --all-profiles --json";

pub const PROFILES: &str = "\
Examples:
  crosslane profiles
  crosslane profiles gfx1100,nv-ampere
  crosslane profiles --json";

pub const OPS: &str = "\
Examples:
  crosslane ops
  crosslane ops allReduce -p gfx1100,nv-ampere
  crosslane ops allReduceAdd8
  crosslane ops __shfl_up_sync
  crosslane ops WaveActiveSum -p hlsl-6.6,gfx1100
  crosslane ops 'cub::WarpReduce<float>' --json
  crosslane ops DS_SWIZZLE_B32";

pub const LSP: &str = "\
Examples:
  crosslane lsp
  crosslane lsp -p gfx1100,spirv-1.6";

pub const SCHEMA: &str = "\
Examples:
  crosslane schema > reflection.schema.json";

pub const WARNINGS: &str = "\
Examples:
  crosslane warnings
  crosslane compile reduce.comp -Wno-wave-size -Werror=divergent-lanes";

pub const EXPLAIN_CODE: &str = "\
Examples:
  crosslane explain-code E0301";

pub const COMPLETIONS: &str = "\
Examples:
  crosslane completions bash > crosslane.bash
  crosslane completions zsh > _crosslane
  crosslane completions fish > crosslane.fish";

pub const MAN: &str = "\
Examples:
  crosslane man > crosslane.1
  crosslane man --out-dir man";

/// The end of the long help of `warnings`: the list, and examples.
pub fn warnings() -> String {
    format!("Warnings:\n{}\n{WARNINGS}", kinds("  "))
}

/// The kinds of warnings, a line each.
pub fn kinds(indent: &str) -> String {
    let width = warning::ALL.iter().map(|kind| kind.name.len()).max().unwrap_or(0);
    let line = |kind: &warning::Warning| format!("{indent}{:width$}  {}  {}\n", kind.name, kind.code, kind.about);
    warning::ALL.iter().map(line).collect()
}
