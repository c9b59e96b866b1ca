//! What a program's names in the outside world are: which binding point of OpenGL each buffer has, and which local
//! parameter holds what.
//!
//! Storage buffers are `program.storage[n]`, uniform buffers `program.buffer[n]`, each numbered in the order of set and
//! binding. Push constants are local parameters from 0 on, four words each; behind them come the sizes of the buffers whose
//! size the program asks for, since `program.storagelen` is zero for assembly programs (NV_shader_storage_buffer_object).

use crate::diagnostic::{Code, Diagnostic};
use crate::kernel::tree::Tree;
use crate::kernel::{BufferKind, Kernel, MemorySpace, Op};
use std::collections::BTreeSet;

/// Storage blocks that a compute program of NVIDIA's drivers can use.
const STORAGE_LIMIT: u32 = 16;
/// Bindings of NV_parameter_buffer_object in a compute program of NVIDIA's drivers.
const UNIFORM_LIMIT: u32 = 14;
/// Local parameters of a program there, of four words each.
const PARAMETER_LIMIT: u32 = 512;
/// Bytes of a parameter buffer that every implementation of NV_gpu_program4 on NVIDIA's hardware can read.
const UNIFORM_BYTES: u32 = 65536;
/// Bytes of workgroup memory that NVIDIA's drivers give a program.
const SHARED_BYTES: u32 = 49152;
/// Invocations in each dimension and together: `MAX_COMPUTE_WORK_GROUP_SIZE` of NVIDIA's drivers.
const GROUP_LIMITS: [u32; 3] = [1024, 1024, 64];
const INVOCATION_LIMIT: u32 = 1024;

/// A buffer of the kernel as the program and the caller know it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Slot {
    /// Name of the variable.
    pub name: String,
    /// Number of the binding point of its kind.
    pub point: u32,
    /// The word of the local parameters that holds its size in bytes, if the program asks for it.
    pub size_word: Option<u32>,
    /// Whether the program touches what is bound.
    pub is_used: bool,
}

/// Everything that the program shares with its caller.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Interface {
    /// By the kernel's numbers of buffers.
    pub slots: Vec<Slot>,
    /// Words of push constants.
    pub push_words: u32,
    /// Words of local parameters, the sizes of buffers included.
    pub parameter_words: u32,
}

/// What a program uses that must be declared or asked for.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Needs {
    /// Names behind `OPTION`.
    pub options: BTreeSet<&'static str>,
    /// Whether a local parameter is read.
    pub parameters: bool,
}

impl Interface {
    /// Gives every buffer its place.
    ///
    /// # Errors
    /// With what is more than NVIDIA's drivers offer.
    pub fn of(kernel: &Kernel, tree: &Tree) -> Result<Interface, Vec<Diagnostic>> {
        let mut interface = Interface { push_words: kernel.push_bytes.div_ceil(4), ..Interface::default() };
        interface.parameter_words = interface.push_words;
        let (mut storage, mut uniform) = (0, 0);
        for buffer in &kernel.buffers {
            let (letter, count) = match buffer.kind {
                BufferKind::Storage => ('s', &mut storage),
                BufferKind::Uniform => ('u', &mut uniform),
            };
            interface.slots.push(Slot {
                name: format!("{letter}{count}"),
                point: *count,
                size_word: None,
                is_used: false,
            });
            *count += 1;
        }
        interface.note_uses(kernel, tree);
        let errors = excesses(kernel, [storage, uniform, interface.parameters()]);
        if errors.is_empty() { Ok(interface) } else { Err(errors) }
    }

    fn note_uses(&mut self, kernel: &Kernel, tree: &Tree) {
        let mut asked = vec![false; self.slots.len()];
        for inst in tree.insts(kernel) {
            match kernel.insts[inst].op {
                Op::BufferBytes(buffer) => asked[buffer as usize] = true,
                Op::Load(access) | Op::Store(access) | Op::Atomic { access, .. } => {
                    if let MemorySpace::Buffer(buffer) = access.space {
                        self.slots[buffer as usize].is_used = true;
                    }
                }
                _ => {}
            }
        }
        for (slot, _) in self.slots.iter_mut().zip(asked).filter(|(_, asked)| *asked) {
            slot.size_word = Some(self.parameter_words);
            self.parameter_words += 1;
        }
    }

    /// The variable of a buffer.
    pub fn slot(&self, buffer: u32) -> &Slot {
        &self.slots[buffer as usize]
    }

    /// Local parameters, each of four words.
    pub fn parameters(&self) -> u32 {
        self.parameter_words.div_ceil(4)
    }
}

/// A word of the local parameters as an operand.
pub fn parameter(word: u32) -> String {
    format!("c[{}].{}", word / 4, ['x', 'y', 'z', 'w'][word as usize % 4])
}

fn excesses(kernel: &Kernel, [storage, uniform, parameters]: [u32; 3]) -> Vec<Diagnostic> {
    let [x, y, z] = kernel.workgroup_size;
    let too_wide = [x, y, z].iter().zip(GROUP_LIMITS).any(|(size, limit)| *size > limit);
    let large = kernel.buffers.iter().any(|b| b.kind == BufferKind::Uniform && b.bytes > UNIFORM_BYTES);
    let found = [
        (storage > STORAGE_LIMIT, format!("{storage} storage buffers; programs can use {STORAGE_LIMIT}")),
        (uniform > UNIFORM_LIMIT, format!("{uniform} uniform buffers; programs can use {UNIFORM_LIMIT}")),
        (
            parameters > PARAMETER_LIMIT,
            format!("{parameters} local parameters for push constants and sizes; programs have {PARAMETER_LIMIT}"),
        ),
        (large, format!("a uniform buffer of more than {UNIFORM_BYTES} bytes")),
        (
            kernel.shared_bytes > SHARED_BYTES,
            format!("{} bytes of workgroup memory; programs have {SHARED_BYTES}", kernel.shared_bytes),
        ),
        (
            too_wide || kernel.invocations() > INVOCATION_LIMIT,
            format!("a workgroup of {x} x {y} x {z}; the greatest has 1024 x 1024 x 64, and 1024 invocations"),
        ),
    ];
    let excess = |(_, what)| Diagnostic::error(Code::NOT_SUPPORTED, format!("the shader has {what}"));
    found.into_iter().filter(|(exceeds, _)| *exceeds).map(excess).collect()
}
