//! `BAR` alone orders shared memory: a million barriers, after which no invocation may read a stale value.

use super::PROFILE;
use super::kernel::program_of;
use std::path::Path;
use support::opengl;
use support::shader::Shader;

const FIXTURE: &str = "fixtures/core/handing_on.comp";
const GROUPS: u32 = 1024;
/// Rounds of each workgroup, of two barriers.
const ROUNDS: u32 = 1024;

pub fn check() -> Result<(), String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(FIXTURE);
    let mut shader = Shader::read(&path)?;
    shader.request.groups = [GROUPS, 1, 1];
    shader.request.spec_constants = vec![(0, ROUNDS)];
    let program = program_of(&shader, PROFILE)?;
    if program.text.contains("MEMBAR") || !program.text.contains("BAR;") {
        return Err(format!("the program does not wait by BAR alone:\n{}", program.text));
    }
    let after = opengl::run(program, shader.request)?;
    match after[0][0][0] {
        0 => Ok(()),
        late => Err(format!("{late} reads of {} were late", u64::from(GROUPS * ROUNDS) * 256)),
    }
}
