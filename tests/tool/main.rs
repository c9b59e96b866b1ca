//! The command and the library as their users see them, and checks on the whole repository.

mod assembly;
mod bazel;
mod book;
mod bounds;
mod build;
mod build_faults;
mod builder;
mod cli;
mod clip_space;
mod cmake;
mod commands;
mod constant_buffers;
mod contraction;
mod deps;
mod device;
mod dictionary;
mod estimates;
mod explain;
mod extremes;
mod files;
mod folder;
mod forms;
mod fuzz;
mod glsl_out;
mod hlsl_out;
mod interpreter;
mod layers;
mod limits;
mod linked;
mod loaders;
mod lsp;
mod machine;
mod machines;
mod meson;
mod mistakes;
mod msl_out;
mod ninja;
mod notes;
mod profiles;
mod program;
mod promise;
mod rendered;
mod run;
mod shapes;
mod snapshot;
mod spanning;
mod stand_in;
mod terminal;
mod truth;
mod versions;
mod warnings;
mod wgsl_out;
mod without;

/// Tests of limits measure the memory of a compilation.
#[global_allocator]
static ALLOCATOR: support::heap::Counting = support::heap::Counting;
