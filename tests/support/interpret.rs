//! Passes a program its arguments and buffers, runs its text, and returns the results.

use crate::amd::memory::{Bytes, Memory, texel};
use crate::amd::target::Target;
use crate::amd::{self, Dispatch, Executed, Traced};
use crate::device::{ImageKind, Resources, Sampler};
use crate::lavapipe::{Buffers, Request, to_words};
use crate::nv::picture;
use crate::nv::pictures::packed;
use crosslane::backend::amd::reflection::{Argument, ArgumentKind};
use crosslane::backend::amd::{Program, Reflection};

/// Marks words in a buffer where a program wrote an undefined value.
const UNDEFINED: u32 = 0x5bad_c0de;

/// The order of a workgroup's waves between barriers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// The simulator's order.
    Ascending,
    /// That order in one run and the opposite in the next, where nothing may depend on it.
    Both,
    /// All workgroups concurrently.
    Together,
}

/// The buffers after each run of a program over the case of a request.
pub fn interpret(program: &Program, processor: &str, request: &Request, order: Order) -> Result<Vec<Buffers>, String> {
    let reflection = &program.reflection;
    let target = Target::new(processor, reflection.subgroup_size as usize)?;
    let read = amd::Program::read(&program.text, target)?;
    amd::walk(&read)?;
    let backwards = |n: usize| order == Order::Both && n % 2 == 1;
    let order = |n| [backwards(n), order == Order::Together];
    let run = |(n, before): (usize, &Buffers)| run_once(&read, reflection, request, (n, before), order(n));
    request.runs.iter().enumerate().map(|case| run(case).map(|(after, _)| after)).collect()
}

/// Counts the instructions of a program's first run over the request's case.
pub fn traced(program: &Program, processor: &str, request: &Request) -> Result<Traced, String> {
    let reflection = &program.reflection;
    let target = Target::new(processor, reflection.subgroup_size as usize)?;
    let read = amd::Program::read(&program.text, target)?;
    let before = request.runs.first().ok_or("there is no run")?;
    run_once(&read, reflection, request, (0, before), [false; 2]).map(|(_, executed)| Traced::new(&read, executed))
}

/// One run; the waves of a workgroup run in ascending or descending order, and workgroups possibly concurrently.
fn run_once(
    program: &amd::Program,
    reflection: &Reflection,
    request: &Request,
    (run, before): (usize, &Buffers),
    [backwards, together]: [bool; 2],
) -> Result<(Buffers, Executed), String> {
    let mut memory = Memory::default();
    let mut addresses = Vec::new();
    for (binding, words) in before.iter().enumerate() {
        let writable =
            reflection.arguments.iter().any(|argument| is_buffer(argument, binding) && argument.writable == Some(true));
        let writable = writable || request.addresses.iter().any(|(_, addressed)| *addressed == binding as u32);
        addresses.push(memory.add(words.iter().flat_map(|word| word.to_le_bytes()).collect(), writable));
    }
    let resources = request.others.get(run).cloned().unwrap_or_default();
    let descriptors = descriptors(reflection, &resources, &mut memory, &program.target)?;
    let mut arguments = arguments(reflection, request, before, &addresses);
    for (at, words) in &descriptors {
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        arguments[*at..*at + bytes.len()].copy_from_slice(&bytes);
    }
    let (groups, group_size) = (request.groups, reflection.workgroup_size);
    let executed =
        amd::run(program, &mut memory, &Dispatch { groups, group_size, arguments: &arguments, backwards, together })?;
    let after = addresses.iter().map(|address| memory.block(*address).map(words).unwrap_or_default());
    let after = after.chain(left(reflection, &resources, &memory));
    Ok((after.collect(), executed))
}

fn is_picture(argument: &Argument) -> bool {
    matches!(argument.kind, ArgumentKind::Image | ArgumentKind::TexelBuffer)
}

/// The pictures and samplers of a run in argument order; returns their descriptors and where these go.
fn descriptors(
    reflection: &Reflection,
    resources: &Resources,
    memory: &mut Memory,
    target: &Target,
) -> Result<Vec<(usize, Vec<u32>)>, String> {
    let mut descriptors = Vec::new();
    for argument in reflection.arguments.iter().filter(|argument| is_picture(argument)) {
        let at = place(argument);
        let picture = picture(at, None, resources)?;
        let words = texel::descriptor(memory.pictures.len(), &picture, target);
        if 4 * words.len() != argument.size as usize {
            return Err(format!("{} has {} bytes", argument.name, argument.size));
        }
        descriptors.push((argument.offset as usize, words));
        memory.pictures.push((picture, argument.writable == Some(true)));
    }
    for argument in reflection.arguments.iter().filter(|argument| argument.kind == ArgumentKind::Sampler) {
        descriptors.push((argument.offset as usize, texel::sampler_descriptor(memory.samplers.len())));
        memory.samplers.push(sampler(place(argument), resources).ok_or("no sampler is bound")?);
    }
    Ok(descriptors)
}

/// Binding and element.
fn place(argument: &Argument) -> [u32; 2] {
    [argument.binding.unwrap_or(0), argument.element.unwrap_or(0)]
}

/// The sampler that is bound, alone or with a texture.
fn sampler(at: [u32; 2], resources: &Resources) -> Option<Sampler> {
    let alone = resources.samplers.iter().find(|it| [it.binding, it.element] == at).map(|it| it.sampler);
    let combined = resources.images.iter().find_map(|image| match image.kind {
        ImageKind::Combined(sampler) if [image.binding, image.element] == at => Some(sampler),
        _ => None,
    });
    alone.or(combined)
}

/// The words of texel buffers and writable images after a run.
fn left(reflection: &Reflection, resources: &Resources, memory: &Memory) -> Buffers {
    let of = |at: [u32; 2], format: &str, before: &[u8]| {
        let mut pictures = reflection.arguments.iter().filter(|argument| is_picture(argument)).zip(&memory.pictures);
        let found = pictures.find(|(argument, _)| [argument.binding, argument.element] == at.map(Some));
        // Multisampled images are not compared.
        let found = found.filter(|(_, (picture, _))| picture.samples < 2);
        let bytes = found.map(|(_, (picture, _))| {
            picture.levels[0].iter().flat_map(|texel| packed(format, *texel)).collect::<Vec<u8>>()
        });
        to_words(&bytes.unwrap_or_else(|| before.to_vec()))
    };
    let texels = resources.texels.iter().filter(|texels| texels.storage);
    let images = resources.images.iter().filter(|image| image.kind == ImageKind::Storage);
    let texels = texels.map(|it| of([it.binding, it.element], &it.format, &it.data));
    texels.chain(images.map(|it| of([it.binding, it.element], &it.image.format, &it.image.data))).collect()
}

fn is_buffer(argument: &Argument, binding: usize) -> bool {
    matches!(argument.kind, ArgumentKind::Storage | ArgumentKind::Uniform) && argument.binding == Some(binding as u32)
}

/// The words of a block, with a marker where they are undefined.
pub(crate) fn words(block: &Bytes) -> Vec<u32> {
    let words = block.bytes().chunks_exact(4).zip(block.undefined_bits().chunks_exact(4));
    let word = |(bytes, undefined): (&[u8], &[u8])| {
        let is_defined = undefined.iter().all(|bits| *bits == 0);
        if is_defined { u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]) } else { UNDEFINED }
    };
    words.map(word).collect()
}

/// The segment of arguments, filled by the reflection.
pub(crate) fn arguments(reflection: &Reflection, request: &Request, before: &Buffers, addresses: &[u64]) -> Vec<u8> {
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
            ArgumentKind::Image | ArgumentKind::TexelBuffer | ArgumentKind::Sampler => Vec::new(),
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
