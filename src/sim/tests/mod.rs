//! Kernels built by hand, run and compared with their formulas.

mod control;
mod faults;
mod memory;
mod waves;

use super::{Dispatch, Fault, Memory, Program};
use crate::ir::{BuiltIn, Scalar};
use crate::kernel::{BinOp, Buffer, Builder, CmpOp, Kernel, MemoryAccess, MemorySpace, Op, Ty, Value};

const U32: Scalar = Scalar::U32;

/// A 32-bit access to storage buffer `n`.
fn word(n: u32) -> MemoryAccess {
    access(MemorySpace::Buffer(n), 4)
}

fn access(space: MemorySpace, bytes: u8) -> MemoryAccess {
    MemoryAccess { space, offset: 0, bytes, components: 1, align: bytes.into(), coherent: false, volatile: false }
}

/// A kernel of workgroups of `size` invocations that is being written, with two storage buffers.
struct Shader {
    b: Builder,
    /// The invocation's number in its workgroup, and in the grid.
    local: Value,
    global: Value,
}

impl Shader {
    fn new(size: u32) -> Shader {
        let mut kernel = Kernel::new("main", [size, 1, 1]);
        for binding in 0..2 {
            kernel.buffers.push(Buffer::storage(if binding == 0 { "input" } else { "output" }, binding));
        }
        let mut b = Builder::new(kernel);
        let local = b.value(Op::BuiltIn(BuiltIn::LocalInvocationIndex, 0), &[], Ty::B32);
        let group = b.value(Op::BuiltIn(BuiltIn::WorkgroupId, 0), &[], Ty::B32);
        let count = b.u32(size);
        let first = b.bin(BinOp::Mul, U32, group, count);
        let global = b.bin(BinOp::Add, U32, first, local);
        Shader { b, local, global }
    }

    /// Four times a number.
    fn address(&mut self, index: Value) -> Value {
        let two = self.b.u32(2);
        self.b.bin(BinOp::Shl, U32, index, two)
    }

    /// This invocation's word of the input buffer.
    fn input(&mut self) -> Value {
        let address = self.address(self.global);
        self.b.load(word(0), address)[0]
    }

    /// Writes this invocation's word of the output buffer.
    fn output(&mut self, value: Value) {
        let address = self.address(self.global);
        self.b.store(word(1), address, &[value]);
    }

    fn less(&mut self, a: Value, limit: u32) -> Value {
        let limit = self.b.u32(limit);
        self.b.cmp(CmpOp::Lt, U32, a, limit)
    }

    /// An `If` with results; two functions write its blocks and return the yielded values.
    fn select(
        &mut self,
        condition: Value,
        tys: &[Ty],
        f: impl FnOnce(&mut Shader) -> Vec<Value>,
        g: impl FnOnce(&mut Shader) -> Vec<Value>,
    ) -> Vec<Value> {
        let (then, otherwise) = (self.b.kernel.add_block(&[]), self.b.kernel.add_block(&[]));
        let inst = self.b.inst(Op::If { then, otherwise }, &[condition], tys);
        let outer = self.b.switch_to(then);
        let values = f(self);
        self.b.effect(Op::Yield, &values);
        self.b.switch_to(otherwise);
        let values = g(self);
        self.b.effect(Op::Yield, &values);
        self.b.switch_to(outer);
        self.b.kernel.results(inst).collect()
    }

    /// An `If` without results and without another branch.
    fn when(&mut self, condition: Value, f: impl FnOnce(&mut Shader)) {
        let then = |shader: &mut Shader| {
            f(shader);
            Vec::new()
        };
        self.select(condition, &[], then, |_| Vec::new());
    }

    fn finish(mut self) -> Kernel {
        self.b.effect(Op::Return, &[]);
        self.b.kernel
    }

    /// Runs `groups` workgroups with waves of `lanes` lanes and returns the output's words.
    fn run(self, lanes: u32, groups: u32, input: &[u32]) -> Result<Vec<u32>, Box<Fault>> {
        run(&self.finish(), lanes, &Dispatch::new([groups, 1, 1]), input)
    }
}

fn run(kernel: &Kernel, lanes: u32, dispatch: &Dispatch, input: &[u32]) -> Result<Vec<u32>, Box<Fault>> {
    let bytes: Vec<u8> = input.iter().flat_map(|word| word.to_le_bytes()).collect();
    let invocations = kernel.invocations() * dispatch.groups.iter().product::<u32>();
    let mut buffers = [Memory::from(bytes), Memory::from(vec![0; 4 * invocations as usize])];
    Program::new(kernel, lanes).expect("it can be simulated").run(dispatch, &mut buffers)?;
    Ok(buffers[1].bytes().chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect())
}

/// The tested wave sizes.
const SIZES: [u32; 5] = [4, 8, 16, 32, 64];
