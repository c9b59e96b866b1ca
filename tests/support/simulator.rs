//! The simulator: kernels on a chosen number of lanes, in this process.

use crosslane::kernel::Kernel;
use crosslane::sim::{Dispatch, Memory, Program, Undefined, address_of};

use super::case::Column;
use super::lavapipe::Request;

/// The wave sizes with which everything is tried.
pub const LANES: [usize; 5] = [4, 8, 16, 32, 64];

/// A buffer after a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct After {
    pub words: Vec<u32>,
    /// Whether each word is undefined.
    pub undefined: Vec<bool>,
}

impl After {
    /// The values that another run must reproduce: everything that is defined.
    pub fn column(&self) -> Column {
        self.words.iter().zip(&self.undefined).map(|(word, undefined)| (!undefined).then_some(*word)).collect()
    }
}

impl From<&Memory> for After {
    fn from(memory: &Memory) -> Self {
        let words = memory.bytes().chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]));
        let undefined = (0..memory.len() / 4).map(|n| memory.is_undefined(4 * n, 4)).collect();
        Self { words: words.collect(), undefined }
    }
}

/// The buffers after each run of a request, binding by binding. Undefined values may be stored.
pub fn run(kernel: &Kernel, lanes: usize, request: &Request) -> Result<Vec<Vec<After>>, String> {
    let program = Program::new(kernel, lanes as u32).map_err(|refusal| refusal.message)?;
    let place = |binding| kernel.buffers.iter().position(|buffer| buffer.binding == binding).unwrap_or(0);
    let push = request.push_with(|binding| address_of(place(binding)));
    let dispatch = Dispatch { push: &push, undefined: Undefined::Keep, ..Dispatch::new(request.groups) };
    request.runs.iter().map(|before| run_once(kernel, &program, &dispatch, before)).collect()
}

fn run_once(
    kernel: &Kernel,
    program: &Program<'_>,
    dispatch: &Dispatch<'_>,
    before: &[Vec<u32>],
) -> Result<Vec<After>, String> {
    let memory = |words: &Vec<u32>| Memory::from(words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<_>>());
    let mut all: Vec<Memory> = before.iter().map(memory).collect();
    let bindings: Vec<usize> = kernel.buffers.iter().map(|buffer| buffer.binding as usize).collect();
    let mut buffers: Vec<Memory> = bindings.iter().map(|n| std::mem::take(&mut all[*n])).collect();
    let outcome = program.run(dispatch, &mut buffers);
    outcome.map_err(|fault| format!("{:?} {:?}", fault.diagnostic(), fault.at))?;
    for (n, buffer) in bindings.into_iter().zip(buffers) {
        all[n] = buffer;
    }
    Ok(all.iter().map(After::from).collect())
}
