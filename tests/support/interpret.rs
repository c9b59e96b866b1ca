//! Gives a program its arguments and buffers, runs its text, and hands back what it left.

use crate::amd::memory::{Bytes, Memory};
use crate::amd::target::Target;
use crate::amd::{self, Dispatch, Executed};
use crate::lavapipe::{Buffers, Request};
use crosslane::backend::amd::reflection::{Argument, ArgumentKind};
use crosslane::backend::amd::{Program, Reflection};

/// Stands in a buffer where a program left something undefined.
const UNDEFINED: u32 = 0x5bad_c0de;

/// The order of a workgroup's waves between barriers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// The simulator's.
    Ascending,
    /// That in one run and the opposite in the next, where nothing may depend on it.
    Both,
}

/// The buffers after each run of a program over the case of a request.
pub fn interpret(program: &Program, processor: &str, request: &Request, order: Order) -> Result<Vec<Buffers>, String> {
    let reflection = &program.reflection;
    let target = Target::new(processor, reflection.subgroup_size as usize)?;
    let read = amd::Program::read(&program.text, target)?;
    amd::walk(&read)?;
    let backwards = |n: usize| order == Order::Both && n % 2 == 1;
    let run = |(n, before): (usize, &Buffers)| run_once(&read, reflection, request, before, backwards(n));
    request.runs.iter().enumerate().map(|case| run(case).map(|(after, _)| after)).collect()
}

/// Counts the instructions of a program's first run over the request's case.
pub fn executed(program: &Program, processor: &str, request: &Request) -> Result<Executed, String> {
    let reflection = &program.reflection;
    let target = Target::new(processor, reflection.subgroup_size as usize)?;
    let read = amd::Program::read(&program.text, target)?;
    let before = request.runs.first().ok_or("there is no run")?;
    run_once(&read, reflection, request, before, false).map(|(_, executed)| executed)
}

/// One run; the waves of a workgroup go in one order or the other.
fn run_once(
    program: &amd::Program,
    reflection: &Reflection,
    request: &Request,
    before: &Buffers,
    backwards: bool,
) -> Result<(Buffers, Executed), String> {
    let mut memory = Memory::default();
    let mut addresses = Vec::new();
    for (binding, words) in before.iter().enumerate() {
        let writable =
            reflection.arguments.iter().any(|argument| is_buffer(argument, binding) && argument.writable == Some(true));
        let writable = writable || request.addresses.iter().any(|(_, addressed)| *addressed == binding as u32);
        addresses.push(memory.add(words.iter().flat_map(|word| word.to_le_bytes()).collect(), writable));
    }
    let arguments = arguments(reflection, request, before, &addresses);
    let (groups, group_size) = (request.groups, reflection.workgroup_size);
    let executed = amd::run(program, &mut memory, &Dispatch { groups, group_size, arguments: &arguments, backwards })?;
    let after = addresses.iter().map(|address| memory.block(*address).map(words).unwrap_or_default());
    Ok((after.collect(), executed))
}

fn is_buffer(argument: &Argument, binding: usize) -> bool {
    matches!(argument.kind, ArgumentKind::Storage | ArgumentKind::Uniform) && argument.binding == Some(binding as u32)
}

/// The words of a block, with a mark where they are undefined.
pub(crate) fn words(block: &Bytes) -> Vec<u32> {
    let words = block.bytes().chunks_exact(4).zip(block.undefined_bits().chunks_exact(4));
    let word = |(bytes, undefined): (&[u8], &[u8])| {
        let is_defined = undefined.iter().all(|bits| *bits == 0);
        if is_defined { u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]) } else { UNDEFINED }
    };
    words.map(word).collect()
}

/// The segment of arguments, filled by the reflection.
fn arguments(reflection: &Reflection, request: &Request, before: &Buffers, addresses: &[u64]) -> Vec<u8> {
    let mut bytes = vec![0; reflection.argument_bytes as usize];
    for argument in &reflection.arguments {
        let binding = argument.binding.unwrap_or(0) as usize;
        let value = match argument.kind {
            ArgumentKind::Storage | ArgumentKind::Uniform => {
                addresses.get(binding).copied().unwrap_or(0).to_le_bytes().to_vec()
            }
            ArgumentKind::Bytes => (4 * before.get(binding).map_or(0, Vec::len) as u32).to_le_bytes().to_vec(),
            ArgumentKind::PushConstants => {
                request.push_with(|binding| addresses.get(binding as usize).copied().unwrap_or(0))
            }
            ArgumentKind::WorkgroupCount => {
                request.groups[usize::from(argument.axis.unwrap_or(0))].to_le_bytes().to_vec()
            }
        };
        let at = argument.offset as usize;
        let size = value.len().min(argument.size as usize);
        bytes[at..at + size].copy_from_slice(&value[..size]);
    }
    bytes
}
