//! A kernel flattened for one wave size: a list of instructions, numbered rows, resolved jumps.
//!
//! Every value has its own row. The result rows of a straight-line instruction follow the rows of its operands, so that
//! both can be borrowed at once. Structured instructions become entries, moves of values and exits; [`super::wave`]
//! explains how they run.

use crate::diagnostic::{Code, Diagnostic};
use crate::ir::Scope;
use crate::kernel::buffers_only;
use crate::kernel::{BlockId, Def, InstId, Kernel, MemorySpace, Op, Ty, Value};
use crate::lane::LaneOp;
use crate::source::Span;
use rustc_hash::FxHashMap;

/// Number of a row.
pub(super) type RowIndex = u32;

/// Number of an instruction.
pub(super) type InstIndex = u32;

/// The effect of an instruction.
#[derive(Clone, Copy, Debug)]
pub(super) enum Action {
    /// The operation alone.
    Straight(Op),
    /// `[condition]`: lanes with a true condition continue, the others run `otherwise` after them; all meet at `after`.
    If {
        otherwise: InstIndex,
        after: InstIndex,
    },
    /// `[initial parameters…]`, moved to the result rows.
    Loop {
        continuing: InstIndex,
        after: InstIndex,
    },
    Scope {
        after: InstIndex,
    },
    /// `[values…]`, moved to the result rows: leaves the structure at nesting level `depth`.
    Exit {
        depth: u32,
    },
    /// `[values…]`, moved to the result rows: waits for the loop's `continuing`.
    Continue {
        depth: u32,
    },
    /// `[leave, parameters…, results…]`: goes back to `body`. The parameters' rows start at `params`, the results' at
    /// the result rows.
    Repeat {
        body: InstIndex,
        params: RowIndex,
        count: u32,
    },
    /// All lanes of the wave continue, active or not.
    Whole,
    /// `[values…]`, moved to the result rows: the lanes that were active continue.
    EndWhole,
    /// Waits for the other waves.
    Barrier,
    Return,
    Unreachable,
}

/// One instruction.
#[derive(Clone, Copy, Debug)]
pub(super) struct Inst {
    pub action: Action,
    /// The operands' rows in [`Program::operands`].
    pub args: (u32, u32),
    /// The first of the result rows.
    pub out: RowIndex,
    /// Number of result rows of a straight instruction.
    pub results: u32,
    pub span: Span,
}

/// A kernel that can run.
#[derive(Clone, Debug)]
pub struct Program<'a> {
    pub(super) kernel: &'a Kernel,
    pub(super) wave_size: u32,
    pub(super) code: Vec<Inst>,
    pub(super) operands: Vec<RowIndex>,
    /// The type of each row.
    pub(super) rows: Vec<Ty>,
    /// Rows that never change, with their bits; `None` for undefined ones.
    pub(super) constants: Vec<(RowIndex, Option<u64>)>,
    /// True if waves of a workgroup wait for each other.
    pub(super) has_barrier: bool,
}

/// Lanes of the largest wave that can be simulated: masks are 64 bits wide.
pub const MAX_WAVE: u32 = 64;

impl<'a> Program<'a> {
    /// # Errors
    /// Returns an error if the kernel has operations that span more lanes than a wave has, which cannot be simulated.
    pub fn new(kernel: &'a Kernel, wave_size: u32) -> Result<Program<'a>, Diagnostic> {
        if !wave_size.is_power_of_two() || wave_size > MAX_WAVE {
            return Err(Diagnostic::error(Code::INTERNAL, format!("a wave of {wave_size} lanes cannot be simulated")));
        }
        buffers_only::check(kernel).map_err(|mut errors| errors.swap_remove(0))?;
        fits(kernel)?;
        let program = Program {
            kernel,
            wave_size,
            code: Vec::new(),
            operands: Vec::new(),
            rows: Vec::new(),
            constants: Vec::new(),
            has_barrier: false,
        };
        let mut flattener = Flattener { program, row_of: FxHashMap::default(), open: Vec::new() };
        flattener.constants();
        flattener.block(kernel.body)?;
        Ok(flattener.program)
    }

    pub(super) fn args(&self, inst: &Inst) -> &[RowIndex] {
        &self.operands[inst.args.0 as usize..inst.args.1 as usize]
    }

    /// Types of the operands.
    pub(super) fn tys(&self, inst: &Inst) -> impl Iterator<Item = Ty> {
        self.args(inst).iter().map(|row| self.rows[*row as usize])
    }

    /// The bits of a row that is the same constant everywhere.
    pub(super) fn constant(&self, row: RowIndex) -> Option<u64> {
        self.constants.get(row as usize).and_then(|(_, bits)| *bits)
    }
}

/// Maximum number of simulated invocations in a workgroup, and of bytes in its memory.
const MOST_INVOCATIONS: u64 = 1 << 16;
const MOST_BYTES: u64 = 1 << 30;

/// Checks that a workgroup has a size that can be simulated.
fn fits(kernel: &Kernel) -> Result<(), Diagnostic> {
    let sizes = kernel.workgroup_size.iter().map(|size| u64::from(*size));
    let invocations = sizes.fold(1, u64::saturating_mul);
    let bytes = invocations.saturating_mul(kernel.private_bytes.into()).saturating_add(kernel.shared_bytes.into());
    match invocations <= MOST_INVOCATIONS && bytes <= MOST_BYTES {
        true => Ok(()),
        false => Err(Diagnostic::error(Code::NOT_SUPPORTED, "the workgroup is too large to be simulated")),
    }
}

struct Flattener<'a> {
    program: Program<'a>,
    row_of: FxHashMap<Value, RowIndex>,
    /// The structures around the current block.
    open: Vec<Open>,
}

/// A structure that is being flattened.
#[derive(Clone, Copy)]
struct Open {
    inst: InstId,
    /// First row of its results.
    results: RowIndex,
    /// First row of the parameters of a loop's `continuing`.
    continuing: RowIndex,
    /// The start of a loop's body, and the first row of its parameters.
    body: (InstIndex, RowIndex),
}

impl Flattener<'_> {
    /// Constants come first, so that their rows have the lowest numbers.
    fn constants(&mut self) {
        for (value, data) in self.program.kernel.values.iter() {
            let bits = match data.def {
                Def::Const(bits) => Some(bits),
                Def::Undef => None,
                Def::Inst(..) | Def::Param(..) => continue,
            };
            let row = self.row(value);
            self.program.constants.push((row, bits));
        }
    }

    fn row(&mut self, value: Value) -> RowIndex {
        let row = self.program.rows.len() as RowIndex;
        self.row_of.insert(value, row);
        self.program.rows.push(self.program.kernel.ty(value));
        row
    }

    /// Allocates consecutive rows and returns the first one.
    fn fresh(&mut self, values: impl Iterator<Item = Value>) -> RowIndex {
        let first = self.program.rows.len() as RowIndex;
        values.for_each(|value| {
            self.row(value);
        });
        first
    }

    fn here(&self) -> InstIndex {
        self.program.code.len() as InstIndex
    }

    fn block(&mut self, block: BlockId) -> Result<(), Diagnostic> {
        let kernel = self.program.kernel;
        for inst in &kernel.blocks[block].insts {
            self.inst(*inst)?;
        }
        let ends = kernel.blocks[block].insts.last().is_some_and(|inst| kernel.insts[*inst].op.is_terminator());
        if !ends {
            self.emit(Action::Unreachable, (0, 0), 0, Span::NONE);
        }
        Ok(())
    }

    fn emit(&mut self, action: Action, args: (u32, u32), out: RowIndex, span: Span) -> InstIndex {
        self.program.code.push(Inst { action, args, out, results: 0, span });
        self.here() - 1
    }

    /// The operands' rows, in the program's list.
    fn args(&mut self, inst: InstId) -> Result<(u32, u32), Diagnostic> {
        let start = self.program.operands.len() as u32;
        for value in self.program.kernel.args(inst) {
            let row =
                self.row_of.get(value).ok_or_else(|| self.malformed(inst, "a value is used before it is made"))?;
            self.program.operands.push(*row);
        }
        Ok((start, self.program.operands.len() as u32))
    }

    fn malformed(&self, inst: InstId, what: &str) -> Diagnostic {
        let inst = &self.program.kernel.insts[inst];
        Diagnostic::error(Code::INTERNAL, format!("the kernel cannot run: {what}"))
            .at(inst.span, format!("{:?}", inst.op))
    }

    fn inst(&mut self, id: InstId) -> Result<(), Diagnostic> {
        let (op, span) = (self.program.kernel.insts[id].op, self.program.kernel.insts[id].span);
        let args = self.args(id)?;
        match op {
            Op::If { then, otherwise } => self.selection(id, args, then, otherwise),
            Op::Loop { body, continuing } => self.repetition(id, args, body, continuing),
            Op::Scope { body } => self.scope(id, args, body),
            Op::Whole { body } => self.whole(id, args, body),
            Op::Yield if self.ends_whole() => self.end_whole(args, span),
            Op::Yield => self.leave(id, args, self.open.len().checked_sub(1)),
            Op::Exit(target) => self.leave(id, args, self.depth(target)),
            Op::Continue(target) => self.carry_on(id, args, target),
            Op::Repeat => self.repeat(id, args),
            Op::Return => self.plain(Action::Return, args, span),
            Op::Unreachable => self.plain(Action::Unreachable, args, span),
            Op::Barrier { execution: Some(scope), .. } if scope > Scope::Subgroup => {
                self.program.has_barrier = true;
                self.plain(Action::Barrier, args, span)
            }
            // Lanes run in lockstep and memory writes take effect at once, so only waiting for other waves has an
            // effect.
            Op::Barrier { .. } | Op::Lane { op: LaneOp::Sync, .. } => Ok(()),
            Op::Prim { primitive, .. } if primitive.is_sync() => Ok(()),
            _ => self.straight(id, op, args),
        }
    }

    fn plain(&mut self, action: Action, args: (u32, u32), span: Span) -> Result<(), Diagnostic> {
        self.emit(action, args, 0, span);
        Ok(())
    }

    fn straight(&mut self, id: InstId, op: Op, args: (u32, u32)) -> Result<(), Diagnostic> {
        self.refuse(id, op)?;
        let kernel = self.program.kernel;
        let out = self.fresh(kernel.results(id));
        let place = self.emit(Action::Straight(op), args, out, kernel.insts[id].span);
        self.program.code[place as usize].results = kernel.results(id).len() as u32;
        Ok(())
    }

    /// Refuses instructions that cannot be simulated.
    fn refuse(&self, id: InstId, op: Op) -> Result<(), Diagnostic> {
        let span = self.program.kernel.insts[id].span;
        match op {
            Op::Load(access) | Op::Store(access) | Op::Atomic { access, .. } => match access.space {
                MemorySpace::Buffer(n) if n as usize >= self.program.kernel.buffers.len() => {
                    Err(self.malformed(id, "there is no such buffer"))
                }
                _ => Ok(()),
            },
            Op::Lane { op, .. } => match op.width().and_then(|width| width.lanes()) {
                Some(lanes) if lanes > self.program.wave_size => {
                    let size = self.program.wave_size;
                    let message = format!("the operation spans {lanes} lanes and the subgroup has {size}");
                    Err(Diagnostic::error(Code::TOO_WIDE, message).at(span, "too wide"))
                }
                _ => Ok(()),
            },
            _ => Ok(()),
        }
    }

    fn depth(&self, target: InstId) -> Option<usize> {
        self.open.iter().rposition(|open| open.inst == target)
    }

    fn enter(&mut self, inst: InstId) {
        self.open.push(Open { inst, results: 0, continuing: 0, body: (0, 0) });
    }

    /// The last entered structure.
    fn innermost(&mut self) -> &mut Open {
        self.open.last_mut().expect("a structure is open while its blocks are flattened")
    }

    /// Numbers the results of the structure, which its exits write.
    fn number_results(&mut self, id: InstId) {
        let results = self.fresh(self.program.kernel.results(id));
        self.innermost().results = results;
    }

    fn selection(&mut self, id: InstId, args: (u32, u32), then: BlockId, otherwise: BlockId) -> Result<(), Diagnostic> {
        self.enter(id);
        self.number_results(id);
        let span = self.program.kernel.insts[id].span;
        let entry = self.emit(Action::If { otherwise: 0, after: 0 }, args, 0, span);
        self.block(then)?;
        let second = self.here();
        self.block(otherwise)?;
        let after = self.here();
        self.program.code[entry as usize].action = Action::If { otherwise: second, after };
        self.open.pop();
        Ok(())
    }

    fn repetition(
        &mut self,
        id: InstId,
        args: (u32, u32),
        body: BlockId,
        continuing: BlockId,
    ) -> Result<(), Diagnostic> {
        let kernel = self.program.kernel;
        self.enter(id);
        self.number_results(id);
        let params = self.fresh(kernel.blocks[body].params.iter().copied());
        let carried = self.fresh(kernel.blocks[continuing].params.iter().copied());
        let entry = self.emit(Action::Loop { continuing: 0, after: 0 }, args, params, kernel.insts[id].span);
        let start = self.here();
        let open = self.innermost();
        (open.body, open.continuing) = ((start, params), carried);
        self.block(body)?;
        let second = self.here();
        self.block(continuing)?;
        let after = self.here();
        self.program.code[entry as usize].action = Action::Loop { continuing: second, after };
        self.open.pop();
        Ok(())
    }

    fn scope(&mut self, id: InstId, args: (u32, u32), body: BlockId) -> Result<(), Diagnostic> {
        self.enter(id);
        self.number_results(id);
        let entry = self.emit(Action::Scope { after: 0 }, args, 0, self.program.kernel.insts[id].span);
        self.block(body)?;
        let after = self.here();
        self.program.code[entry as usize].action = Action::Scope { after };
        self.open.pop();
        Ok(())
    }

    fn whole(&mut self, id: InstId, args: (u32, u32), body: BlockId) -> Result<(), Diagnostic> {
        self.enter(id);
        self.number_results(id);
        self.emit(Action::Whole, args, 0, self.program.kernel.insts[id].span);
        self.block(body)?;
        self.open.pop();
        Ok(())
    }

    /// Returns true if the current block runs with all lanes.
    fn ends_whole(&self) -> bool {
        self.open.last().is_some_and(|open| matches!(self.program.kernel.insts[open.inst].op, Op::Whole { .. }))
    }

    fn end_whole(&mut self, args: (u32, u32), span: Span) -> Result<(), Diagnostic> {
        let out = self.innermost().results;
        self.emit(Action::EndWhole, args, out, span);
        Ok(())
    }

    fn leave(&mut self, id: InstId, args: (u32, u32), depth: Option<usize>) -> Result<(), Diagnostic> {
        let depth = depth.ok_or_else(|| self.malformed(id, "it leaves what is not open"))?;
        let out = self.open[depth].results;
        self.emit(Action::Exit { depth: depth as u32 }, args, out, self.program.kernel.insts[id].span);
        Ok(())
    }

    fn carry_on(&mut self, id: InstId, args: (u32, u32), target: InstId) -> Result<(), Diagnostic> {
        let depth = self.depth(target).ok_or_else(|| self.malformed(id, "it continues what is not open"))?;
        let out = self.open[depth].continuing;
        self.emit(Action::Continue { depth: depth as u32 }, args, out, self.program.kernel.insts[id].span);
        Ok(())
    }

    fn repeat(&mut self, id: InstId, args: (u32, u32)) -> Result<(), Diagnostic> {
        let kernel = self.program.kernel;
        let open = *self.open.last().ok_or_else(|| self.malformed(id, "it repeats what is not open"))?;
        let Op::Loop { body, .. } = kernel.insts[open.inst].op else {
            return Err(self.malformed(id, "it repeats what is not a loop"));
        };
        let count = kernel.blocks[body].params.len() as u32;
        let action = Action::Repeat { body: open.body.0, params: open.body.1, count };
        self.emit(action, args, open.results, kernel.insts[id].span);
        Ok(())
    }
}
