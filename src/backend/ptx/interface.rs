//! The parameters of a kernel: the addresses of the buffers in the order of set and binding, the sizes of buffers that
//! the kernel queries, and the push constants.

use crate::diagnostic::{Code, Diagnostic};
use crate::kernel::tree::Tree;
use crate::kernel::{BufferKind, Kernel, MemorySpace, Op};

/// Bytes of workgroup memory that a kernel may declare.
const SHARED_BYTES: u32 = 49152;
/// Bytes of parameters.
const PARAMETER_BYTES: u32 = 4352;
/// Invocations in each dimension.
const GROUP_LIMITS: [u32; 3] = [1024, 1024, 64];
/// Bytes of memory of an invocation.
const PRIVATE_BYTES: u32 = 512 << 10;

/// The names of the push constants, of workgroup memory and of private memory.
pub const PUSH: &str = "push";
pub const SHARED: &str = "shared_memory";
pub const PRIVATE: &str = "private_memory";

/// Everything that the kernel shares with its caller.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Interface {
    /// Name of the entry point.
    pub symbol: String,
    /// Slots by the kernel's buffer index.
    pub slots: Vec<Slot>,
    /// Bytes of push constants, a multiple of four.
    pub push_bytes: u32,
}

/// A buffer of the kernel.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Slot {
    /// The parameter with its address.
    pub address: String,
    /// The parameter with its size in bytes, if the kernel queries it.
    pub size: Option<String>,
    /// True if the kernel accesses the binding.
    pub is_used: bool,
}

impl Interface {
    /// Names every parameter.
    ///
    /// # Errors
    /// Reports resources beyond the limits of the hardware.
    pub fn of(kernel: &Kernel) -> Result<Interface, Vec<Diagnostic>> {
        let letter = |kind| if kind == BufferKind::Uniform { 'u' } else { 's' };
        let slot = |(n, buffer): (usize, &crate::kernel::Buffer)| Slot {
            address: format!("{}{n}", letter(buffer.kind)),
            size: None,
            is_used: false,
        };
        let mut slots: Vec<Slot> = kernel.buffers.iter().enumerate().map(slot).collect();
        for inst in Tree::new(kernel).insts(kernel) {
            match kernel.insts[inst].op {
                Op::BufferBytes(buffer) => {
                    let slot = &mut slots[buffer as usize];
                    slot.size = Some(format!("{}_bytes", slot.address));
                }
                Op::Load(access) | Op::Store(access) | Op::Atomic { access, .. } => {
                    if let MemorySpace::Buffer(buffer) = access.space {
                        slots[buffer as usize].is_used = true;
                    }
                }
                _ => {}
            }
        }
        let interface =
            Interface { symbol: symbol(&kernel.name), slots, push_bytes: kernel.push_bytes.next_multiple_of(4) };
        let errors = excesses(kernel, &interface);
        if errors.is_empty() { Ok(interface) } else { Err(errors) }
    }

    /// The size parameters, in the order of their buffers.
    pub fn sizes(&self) -> impl Iterator<Item = &str> {
        self.slots.iter().filter_map(|slot| slot.size.as_deref())
    }
}

/// A name that PTX accepts.
fn symbol(name: &str) -> String {
    let taken: String = name.chars().map(|c| if c.is_ascii_alphanumeric() || c == '_' { c } else { '_' }).collect();
    // A single underscore, or a name that starts with a digit, is invalid.
    if taken.starts_with(|c: char| c.is_ascii_alphabetic()) { taken } else { format!("k{taken}") }
}

fn excesses(kernel: &Kernel, interface: &Interface) -> Vec<Diagnostic> {
    let [x, y, z] = kernel.workgroup_size;
    let too_wide = [x, y, z].iter().zip(GROUP_LIMITS).any(|(size, limit)| *size > limit);
    let addresses = interface.slots.len() + interface.sizes().count();
    let parameters = (8 * addresses as u32).saturating_add(interface.push_bytes);
    let found = [
        (
            kernel.shared_bytes > SHARED_BYTES,
            format!("{} bytes of workgroup memory; kernels have {SHARED_BYTES}", kernel.shared_bytes),
        ),
        (
            kernel.private_bytes > PRIVATE_BYTES,
            format!("{} bytes of memory an invocation; kernels have {PRIVATE_BYTES}", kernel.private_bytes),
        ),
        (parameters > PARAMETER_BYTES, format!("{parameters} bytes of parameters; kernels have {PARAMETER_BYTES}")),
        (too_wide, format!("a workgroup of {x} x {y} x {z}; the maximum is 1024 x 1024 x 64")),
    ];
    let excess = |(_, what)| {
        Diagnostic::error(Code::NOT_SUPPORTED, format!("the shader has {what}")).at(kernel.span, "this entry point")
    };
    found.into_iter().filter(|(exceeds, _)| *exceeds).map(excess).collect()
}
