//! The kernels that `benches/gpu` measures: each way of compiling them succeeds, and their assembly gives the
//! simulator's results. With `CROSSLANE_GGML`, ggml's kernels are included.

use support::trial::{Trial, judged, trial};
use support::whole::{self, Kernel, Origin, Row};
use support::{judge, nv};

const PROFILE: &str = "nv-hopper";

/// Kernels for which the interpreter takes seconds.
const SLOW: [&str; 4] = ["matmul by tiles of 4 by 4", "matmul by tiles of 8 by 8", "nbody", "ggml argsort"];

pub fn trials() -> Vec<Trial> {
    let compiled = judged("compile", &["bin/glslc", "bin/spirv-val"], compile);
    let is_kernel = |row: &&Row| !matches!(row.origin, Origin::Operation(_)) && !SLOW.contains(&row.name);
    let rows = whole::own().chain(whole::of_ggml().filter(|_| whole::has_ggml())).filter(is_kernel);
    let run = |row: &'static Row| trial(format!("text::{}", row.name), move || interpret(row));
    rows.map(run).chain([compiled]).collect()
}

/// The text's interpreter gives the same results as the simulator.
fn interpret(row: &'static Row) -> Result<(), String> {
    let kernel = Kernel::read(row)?;
    let program = kernel.nv(PROFILE)?;
    let after = nv::run(&program.text, &program.reflection, &kernel.request())?;
    kernel.hold(&kernel.simulated()?, &after[0])
}

fn compile() -> Result<(), String> {
    let kernels = whole::own().map(Kernel::read).collect::<Result<Vec<_>, _>>()?;
    for kernel in &kernels {
        let of_it = |why: String| format!("{}: {why}", kernel.row.name);
        nv::read(&kernel.nv(PROFILE).map_err(of_it)?.text).map_err(of_it)?;
        judge::spirv_val(&kernel.spirv("spirv-1.6").map_err(of_it)?, "vulkan1.3", false).map_err(of_it)?;
    }
    let theirs: Vec<&str> = kernels.iter().map(|kernel| kernel.theirs.as_str()).collect();
    let made = judge::glslang_all(&theirs, "comp");
    made.into_iter()
        .zip(&kernels)
        .try_for_each(|(made, kernel)| made.map(drop).map_err(|why| format!("{}: {why}", kernel.row.name)))
}
