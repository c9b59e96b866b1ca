//! Random kernels for tests: control flow, loops, memory and cross-lane operations, deterministic for each seed.
//!
//! Each invocation reads its own words of the input and writes its own words of the output, so that there are no races.
//! Values that may be undefined (from lanes that do not take part, or uninitialized memory) are tracked and reach
//! neither conditions nor addresses.

pub mod memory;
mod statement;
mod value;

use crate::ir::{BuiltIn, Scalar, ScalarKind};
use crate::kernel::{
    BinOp, Buffer, BufferWrites, Builder, CmpOp, InstId, Kernel, MemoryAccess, MemorySpace, Op, PrivateVariable, Ty,
    Value, verify,
};
use crate::sim::{Dispatch, FaultKind, Memory, Program, Undefined};

/// Words that each invocation reads and writes.
const WORDS: u32 = 8;

/// Workgroups of a run.
const GROUPS: u32 = 2;

const U64: Scalar = Scalar { kind: ScalarKind::Uint, width: 64 };

/// Scalar types of the values.
const SCALARS: [Scalar; 5] = [Scalar::BOOL, Scalar::U32, Scalar::I32, Scalar::F32, U64];

/// A value that can be used.
#[derive(Clone, Copy)]
struct Known {
    scalar: Scalar,
    value: Value,
    /// Never undefined.
    defined: bool,
}

/// A construct that can be left.
#[derive(Clone)]
struct Leavable {
    inst: InstId,
    results: Vec<Scalar>,
    /// The counter of a loop while its body is written: the first operand for its continuing block, before values of
    /// the results' types.
    counter: Option<Value>,
}

/// A generator of kernels.
pub struct Generator {
    seed: u64,
    b: Builder,
    values: Vec<Known>,
    targets: Vec<Leavable>,
    /// Eight times four times the number of the invocation in the grid, and in the workgroup.
    own: Value,
    own_shared: Value,
    /// The remaining number of instructions.
    room: u32,
    depth: u32,
    /// True if there are cross-lane operations.
    lanes: bool,
    /// The addresses in a kernel of memory accesses; empty for other kernels.
    places: memory::Places,
}

/// The kernel of a seed. With `lanes` it has cross-lane operations.
pub fn kernel(seed: u64, lanes: bool) -> Kernel {
    let size = [8, 20, 32, 40, 64][(seed % 5) as usize];
    let mut kernel = Kernel::new("random", [size, 1, 1]);
    for (binding, writes) in [(0, BufferWrites::Elsewhere), (1, BufferWrites::Here)] {
        kernel.buffers.push(Buffer { writes, ..Buffer::storage("words", binding) });
    }
    kernel.shared_bytes = size * WORDS * 4;
    kernel.private_bytes = 2 * WORDS * 4;
    kernel.private = [0, WORDS * 4].map(|start| PrivateVariable { start, bytes: WORDS * 4, align: 4 }).into();
    let mut generator = Generator::new(seed, Builder::new(kernel), lanes);
    generator.write(size);
    assert_eq!(verify::verify(&generator.b.kernel), Ok(()), "seed {seed}");
    generator.b.kernel
}

/// Runs a kernel and returns the words of the output, `None` for undefined ones. An error describes the failure.
pub fn run(kernel: &Kernel, lanes: u32) -> Result<Vec<Option<u32>>, FaultKind> {
    run_watched(kernel, lanes).map(|[output, _]| output)
}

/// Runs a generated kernel. Returns `None` if it is not a valid test: if a condition or an address depends on an
/// undefined number, or if it does not end. Any other failure is an error.
pub fn run_generated(kernel: &Kernel, lanes: u32) -> Option<Vec<Option<u32>>> {
    match run(kernel, lanes) {
        Ok(words) => Some(words),
        Err(FaultKind::Undefined(_) | FaultKind::Steps { .. }) => None,
        Err(kind) => panic!("{kind:?}"),
    }
}

/// Runs a kernel and also returns the words of a third buffer, which starts with all bits set.
pub fn run_watched(kernel: &Kernel, lanes: u32) -> Result<[Vec<Option<u32>>; 2], FaultKind> {
    let words = kernel.invocations() * GROUPS * WORDS;
    let input: Vec<u8> = (0..words).flat_map(|n| (n.wrapping_mul(0x9e37_79b1) >> (n % 29)).to_le_bytes()).collect();
    let output: Vec<u8> = vec![0; 4 * words as usize];
    let mut buffers = [Memory::from(input), Memory::from(output), Memory::from(vec![0xff; 16])];
    let dispatch = Dispatch { undefined: Undefined::Keep, max_steps: 100_000, ..Dispatch::new([GROUPS, 1, 1]) };
    let program = Program::new(kernel, lanes).expect("a kernel that the simulator takes");
    program.run(&dispatch, &mut buffers).map_err(|fault| fault.kind)?;
    Ok([read_words(&buffers[1]), read_words(&buffers[2])])
}

fn read_words(memory: &Memory) -> Vec<Option<u32>> {
    let word = |at: usize| memory.bytes()[at..at + 4].try_into().map(u32::from_le_bytes).expect("four bytes");
    let defined = |at: &usize| !memory.is_undefined(*at, 4);
    (0..memory.len()).step_by(4).map(|at| Some(at).filter(defined).map(word)).collect()
}

impl Generator {
    fn new(seed: u64, mut b: Builder, lanes: bool) -> Generator {
        let zero = b.u32(0);
        let seed = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
        Generator {
            seed,
            b,
            values: Vec::new(),
            targets: Vec::new(),
            own: zero,
            own_shared: zero,
            room: 80,
            depth: 0,
            lanes,
            places: memory::Places::default(),
        }
    }

    /// A number below `limit`.
    fn below(&mut self, limit: u32) -> u32 {
        self.seed ^= self.seed << 13;
        self.seed ^= self.seed >> 7;
        self.seed ^= self.seed << 17;
        (self.seed >> 32) as u32 % limit
    }

    fn chance(&mut self, of: u32) -> bool {
        self.below(of) == 0
    }

    fn one_of<T: Copy>(&mut self, list: &[T]) -> T {
        list[self.below(list.len() as u32) as usize]
    }

    fn add(&mut self, scalar: Scalar, value: Value, defined: bool) {
        self.values.push(Known { scalar, value, defined });
    }

    fn write(&mut self, size: u32) {
        let local = self.b.value(Op::BuiltIn(BuiltIn::LocalInvocationIndex, 0), &[], Ty::B32);
        let group = self.b.value(Op::BuiltIn(BuiltIn::WorkgroupId, 0), &[], Ty::B32);
        let (size, stride) = (self.b.u32(size), self.b.u32(WORDS * 4));
        let first = self.b.bin(BinOp::Mul, Scalar::U32, group, size);
        let global = self.b.bin(BinOp::Add, Scalar::U32, first, local);
        self.own = self.b.bin(BinOp::Mul, Scalar::U32, global, stride);
        self.own_shared = self.b.bin(BinOp::Mul, Scalar::U32, local, stride);
        self.add(Scalar::U32, local, true);
        self.add(Scalar::U32, global, true);
        self.read_inputs();
        self.statements(16);
        for word in 0..WORDS / 2 {
            self.store_something(MemorySpace::Buffer(1), word);
        }
        self.b.effect(Op::Return, &[]);
    }
}

impl Generator {
    /// An unknown value of each type.
    fn read_inputs(&mut self) {
        let values = self.b.load(MemoryAccess::words(MemorySpace::Buffer(0), 0, 4), self.own);
        for (value, scalar) in values.iter().zip([Scalar::U32, Scalar::I32, Scalar::U32, Scalar::U32]) {
            self.add(scalar, *value, true);
        }
        let float = self.b.convert(Scalar::I32, Scalar::F32, values[1]);
        let long = self.b.value(Op::Join, &values[2..], Ty::B64);
        let half = self.b.u32(0x4000_0000);
        for value in &values[..2] {
            let truth = self.b.cmp(CmpOp::Lt, Scalar::U32, *value, half);
            self.add(Scalar::BOOL, truth, true);
        }
        self.add(Scalar::F32, float, true);
        self.add(U64, long, true);
    }
}
