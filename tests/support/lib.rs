//! The judges, interpreters, tables and generators that the tests share. The formulas and interpreters here share no code
//! with the compiler.

use std::path::Path;

pub mod aco;
pub mod across;
pub mod amd;
pub mod assembler;
pub mod bless;
pub mod by_text;
pub mod case;
pub mod compare;
pub mod compiler;
pub mod cuda;
pub mod dawn;
pub mod device;
pub mod dxc;
pub mod dxil;
pub mod emulator;
pub mod fixture;
pub mod generator;
pub mod heap;
pub mod helper;
pub mod hlsl;
pub mod interpret;
pub mod judge;
pub mod kernel;
pub mod lavapipe;
pub mod memo;
pub mod metal;
pub mod nv;
pub mod opengl;
pub mod outcomes;
pub mod pattern;
pub mod pcode;
pub mod plan;
pub mod ptx;
pub mod ptxas;
pub mod radv;
pub mod rates;
pub mod reduce;
pub mod reference;
pub mod report;
pub mod rival;
pub mod scalar;
pub mod seeds;
pub mod shader;
pub mod shapes;
pub mod simulator;
pub mod snapshot;
pub mod tables;
pub mod tally;
pub mod trial;
pub mod watchdog;
pub mod whole;

/// The folder of the project.
pub fn root() -> &'static Path {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).expect("this crate lies two folders below the project's")
}
