//! Runs NVIDIA assembly on the CPU, from the text alone, as NV_gpu_program5 defines it.
//!
//! It shares no code with the compiler. All warps of a workgroup run in lockstep, which is possible for any program
//! whose barriers are in uniform control flow. Behaviour that the specification leaves undefined is an error, or gives
//! bits that no correct program depends on. Rounding is exact where the hardware's is not, and subnormals are kept.

pub mod draw;
mod lanes;
mod lookup;
mod machine;
mod parse;
pub mod pictures;
mod resources;
pub mod sample;
mod scalar;

use super::lavapipe::{Buffers, Request};
use crosslane::backend::nv::Reflection;
use crosslane::backend::nv::reflection::BindingKind;
use machine::Machine;
pub use pictures::Picture;
pub use resources::picture;

/// The buffers after each run of a program over the case of a request.
pub fn run(text: &str, reflection: &Reflection, request: &Request) -> Result<Vec<Buffers>, String> {
    let program = parse::program(text)?;
    request
        .runs
        .iter()
        .map(|before| run_once(&program, reflection, request, before, Pictures::default()))
        .map(|run| run.map(|(after, _)| after))
        .collect()
}

/// Textures and images by their units.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Pictures {
    pub textures: Vec<Picture>,
    pub images: Vec<Picture>,
}

/// Reads a program without running it.
pub fn read(text: &str) -> Result<(), String> {
    parse::program(text).map(drop)
}

/// Runs a dispatch and returns the contents after each run, in the order of lavapipe's answers: buffers, texel buffers,
/// images.
pub fn dispatch(text: &str, reflection: &Reflection, request: &Request) -> Result<Vec<Buffers>, String> {
    let program = parse::program(text)?;
    let once = |run: usize| {
        let mut bound = resources::Bound::new(reflection, request, run)?;
        for group in 0..request.groups[0] {
            Machine::new(&program, &mut bound.memory, [group, 0, 0], request.groups).run()?;
        }
        Ok(bound.after())
    };
    (0..request.runs.len()).map(once).collect()
}

/// The buffers and images after one run.
pub fn run_with(
    text: &str,
    reflection: &Reflection,
    request: &Request,
    pictures: Pictures,
) -> Result<(Buffers, Vec<Picture>), String> {
    let before = request.runs.first().ok_or("a run")?;
    run_once(&parse::program(text)?, reflection, request, before, pictures)
}

fn run_once(
    program: &parse::Program,
    reflection: &Reflection,
    request: &Request,
    before: &Buffers,
    pictures: Pictures,
) -> Result<(Buffers, Vec<Picture>), String> {
    let parameters = parameters(reflection, request, before);
    let mut memory = Memory { storage: Vec::new(), uniform: Vec::new(), parameters, pictures };
    for place in &reflection.buffers {
        let words = before.get(place.binding as usize).cloned().unwrap_or_default();
        let bytes = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let list = if place.kind == BindingKind::Storage { &mut memory.storage } else { &mut memory.uniform };
        assert_eq!(place.gl_index as usize, list.len(), "binding points are numbered in order");
        list.push(bytes);
    }
    let [x, y, z] = request.groups;
    for group in (0..z).flat_map(|z| (0..y).flat_map(move |y| (0..x).map(move |x| [x, y, z]))) {
        Machine::new(program, &mut memory, group, request.groups).run()?;
    }
    let mut after = before.clone();
    for place in reflection.buffers.iter().filter(|place| place.kind == BindingKind::Storage) {
        let bytes = &memory.storage[place.gl_index as usize];
        after[place.binding as usize] =
            bytes.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect();
    }
    Ok((after, memory.pictures.images))
}

/// Memory that all workgroups share.
struct Memory {
    storage: Vec<Vec<u8>>,
    uniform: Vec<Vec<u8>>,
    /// Words of the local parameters.
    parameters: Vec<u32>,
    pictures: Pictures,
}

/// The local parameters, set according to the reflection.
fn parameters(reflection: &Reflection, request: &Request, before: &Buffers) -> Vec<u32> {
    let mut words = vec![0; reflection.local_parameters as usize * 4];
    for (word, bytes) in words.iter_mut().zip(request.push_constants.chunks_exact(4)) {
        *word = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
    }
    for place in &reflection.buffers {
        if let Some(word) = place.size_word {
            words[word as usize] = before.get(place.binding as usize).map_or(0, |words| words.len() as u32 * 4);
        }
    }
    words
}
