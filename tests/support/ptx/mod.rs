//! Runs PTX on the CPU, from the text alone, as the PTX ISA defines it.
//!
//! It shares no code with the compiler. Each lane has its own program counter and the lanes run in one of several
//! orders, all of which hardware from sm_70 on allows. At a `.sync` instruction, exactly the lanes in its mask must
//! meet, at the same place and with the same mask. Errors are: a lane that waits for one that never arrives; a mask
//! with a lane that has ended or that the workgroup does not have; a mask without the lane itself. Behaviour that the
//! specification leaves undefined is an error, or gives bits that no correct program depends on. Rounding is exact
//! where the hardware's is not.

mod arithmetic;
mod machine;
mod parse;

use super::lavapipe::{Buffers, Request};
use crosslane::backend::ptx::Program;
use crosslane::backend::ptx::reflection::{ParameterKind, Reflection};
use machine::{Group, Memory};

/// The order in which the lanes of a workgroup run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Schedule {
    /// Each lane as far as possible, first lane first.
    Ascending,
    /// Each lane as far as possible, last lane first.
    Descending,
    /// A few instructions of each lane in turn, across several workgroups, in an order chosen by this number.
    Mixed(u64),
}

/// Workgroups that run concurrently.
const AT_ONCE: usize = 8;

/// The schedules that tests try.
pub const SCHEDULES: [Schedule; 3] =
    [Schedule::Ascending, Schedule::Descending, Schedule::Mixed(0x9e37_79b9_7f4a_7c15)];

/// The buffers after each run of a program over the case of a request.
pub fn run(program: &Program, request: &Request, schedule: Schedule) -> Result<Vec<Buffers>, String> {
    let code = parse::program(&program.text)?;
    request.runs.iter().map(|before| run_once(&code, &program.reflection, request, before, schedule)).collect()
}

fn run_once(
    code: &parse::Program,
    reflection: &Reflection,
    request: &Request,
    before: &Buffers,
    schedule: Schedule,
) -> Result<Buffers, String> {
    let bytes = |words: &Vec<u32>| words.iter().flat_map(|word| word.to_le_bytes()).collect();
    let mut memory = Memory::new(before.iter().map(bytes).collect(), arguments(reflection, request, before));
    let [x, y, z] = request.groups;
    let groups = (0..z).flat_map(|z| (0..y).flat_map(move |y| (0..x).map(move |x| [x, y, z])));
    let groups: Vec<[u32; 3]> = groups.collect();
    // In a mixed order several workgroups run concurrently, otherwise one after the other.
    let at_once = if matches!(schedule, Schedule::Mixed(_)) { AT_ONCE } else { 1 };
    for numbers in groups.chunks(at_once) {
        let new = |group: &[u32; 3]| Group::new(code, [*group, request.groups], schedule);
        let mut running: Vec<Group<'_>> = numbers.iter().map(new).collect();
        while !running.is_empty() {
            let rounds = running.into_iter().map(|mut group| Ok(group.run(&mut memory)?.then_some(group)));
            running = rounds.collect::<Result<Vec<_>, String>>()?.into_iter().flatten().collect();
        }
    }
    let words = |bytes: &Vec<u8>| bytes.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect();
    Ok(memory.buffers.iter().map(words).collect())
}

/// The arguments by parameter name, passed according to the reflection.
fn arguments(reflection: &Reflection, request: &Request, before: &Buffers) -> Vec<(String, Vec<u8>)> {
    let value = |parameter: &crosslane::backend::ptx::reflection::Parameter| {
        let binding = parameter.buffer.as_ref().map_or(0, |buffer| buffer.binding);
        let mut bytes = match parameter.kind {
            ParameterKind::Address => Memory::address(binding as usize).to_le_bytes().to_vec(),
            ParameterKind::Bytes => {
                let words = before.get(binding as usize).map_or(0, Vec::len) as u64;
                (4 * words).to_le_bytes().to_vec()
            }
            ParameterKind::PushConstants => request.push_with(|binding| Memory::address(binding as usize)),
        };
        bytes.resize(parameter.size as usize, 0);
        (parameter.name.clone(), bytes)
    };
    reflection.parameters.iter().map(value).collect()
}
