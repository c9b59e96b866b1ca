//! Fixtures of graphics on the interpreter of the text, beside glslang's modules of the same sources on lavapipe.

use crosslane::target::nv::Program;

use crate::graphics::Case;
use crate::support::compare::Closeness;
use crate::support::lavapipe::{Buffers, Request, Scene};
use crate::support::rival::{self, Judged, theirs_of};
use crate::support::{glasm, scalar::Type};
use crate::PROFILE;

/// How far floats may be apart that filters and interpolation have rounded.
const ROUNDED: f32 = 1e-4;

/// Runs both and compares what they leave.
pub fn check(case: &Case) -> Result<(), String> {
    let programs = case.programs(PROFILE)?;
    let ours = interpreted(&programs, &case.request)?;
    let theirs = expected(case)?;
    let judged: Vec<Judged> = case.judged.iter().map(|how| loose(*how)).collect();
    for (run, (ours, theirs)) in ours.iter().zip(&theirs).enumerate() {
        rival::differences(&judged, theirs, ours).map_err(|why| format!("run {run}: {why}"))?;
    }
    Ok(())
}

fn loose(how: Judged) -> Judged {
    match (how.kind, how.closeness) {
        (Type::F32, Closeness::Same) => Judged { closeness: Closeness::Within(ROUNDED), ..how },
        _ => how,
    }
}

fn interpreted(programs: &[Program], request: &Request) -> Result<Vec<Buffers>, String> {
    match programs {
        [program] => glasm::dispatch(&program.text, &program.reflection, request),
        [vertex, fragment] => {
            let both = [vertex.clone(), fragment.clone()];
            (0..request.runs.len()).map(|run| glasm::draw::run(&both, request, run)).collect()
        }
        _ => Err("one program or two".to_owned()),
    }
}

/// What glslang's modules leave.
fn expected(case: &Case) -> Result<Vec<Buffers>, String> {
    let modules: Vec<Vec<u32>> = case.stages().map(|(text, stage)| theirs_of(text, stage)).collect::<Result<_, _>>()?;
    let scene = |scene: &Scene| Scene { vertex: modules[0].clone(), ..scene.clone() };
    let scenes = case.request.scenes.iter().map(scene).collect();
    rival::run(&Request { scenes, ..case.request.clone() }, &modules[modules.len() - 1])
}
