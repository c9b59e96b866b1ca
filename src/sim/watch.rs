//! The executions of chosen cross-lane operations, with the values of every lane.

use super::fault::Fault;
use super::group::Env;
use super::memory::Memory;
use super::program::{Inst, Program, RowIndex};
use super::wave::Wave;
use super::{Dispatch, program::InstIndex};
use crate::ir::Scalar;
use crate::kernel::Op;
use crate::lane::LaneOp;
use crate::source::Span;

/// Executions that are kept; a run continues without keeping more.
const MOST_KEPT: usize = 4096;

/// The bits of a value in each lane; none where it is undefined.
pub type Row = Vec<Option<u64>>;

/// One execution of a cross-lane operation by one wave.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Execution {
    pub op: LaneOp,
    /// Types of its first and its second operand.
    pub types: [Scalar; 2],
    pub workgroup: [u32; 3],
    /// Number of the wave in the workgroup.
    pub wave: u32,
    /// Number of the instruction in the program: each component of a vector has its own.
    pub inst: u32,
    /// Lanes of the wave.
    pub size: u32,
    /// Bit `i` for lane `i` that runs it.
    pub active: u64,
    pub operands: Vec<Row>,
    pub results: Vec<Row>,
}

/// The place that is watched, and its executions so far.
pub(super) struct Watch {
    span: Span,
    executions: Vec<Execution>,
}

impl Program<'_> {
    /// Runs the kernel, and returns the executions of the cross-lane operations at a place, also if the run ends with a fault.
    ///
    /// # Panics
    /// When there are fewer buffers than the kernel has.
    pub fn watch(
        &self,
        dispatch: &Dispatch,
        buffers: &mut [Memory],
        span: Span,
    ) -> (Vec<Execution>, Result<(), Box<Fault>>) {
        assert!(buffers.len() >= self.kernel.buffers.len(), "every buffer of the kernel is needed");
        let mut env = Env::new(self, dispatch, buffers);
        env.watch = Some(Watch { span, executions: Vec::new() });
        let ended = env.run();
        (env.watch.map(|watch| watch.executions).unwrap_or_default(), ended)
    }
}

impl Watch {
    /// Keeps an operation that a wave has just run, if it is at the place. Its operands have rows of their own, which it left as
    /// they were.
    pub fn keep(&mut self, program: &Program, wave: &Wave, workgroup: [u32; 3], inst: &Inst, op: Op) {
        let Op::Lane { op, ty } = op else { return };
        if inst.span != self.span || self.executions.len() >= MOST_KEPT {
            return;
        }
        let inst_index: InstIndex = wave.place - 1;
        self.executions.push(Execution {
            op,
            types: ty,
            workgroup,
            wave: wave.index,
            inst: inst_index,
            size: wave.size as u32,
            active: wave.active,
            operands: program.args(inst).iter().map(|row| values(wave, *row)).collect(),
            results: (inst.out..inst.out + inst.results).map(|row| values(wave, row)).collect(),
        });
    }
}

fn values(wave: &Wave, row: RowIndex) -> Row {
    let undefined = wave.undefined[row as usize];
    let value = |(lane, bits): (usize, &u64)| (undefined >> lane & 1 == 0).then_some(*bits);
    wave.row(row).iter().enumerate().map(value).collect()
}
