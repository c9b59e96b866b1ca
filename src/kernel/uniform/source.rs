//! The uniformity of an instruction's result, from its operands.

use super::Extent;
use crate::ir::{BuiltIn, ImageOp};
use crate::kernel::{BinOp, Def, InstId, Kernel, MemoryAccess, MemorySpace, Op, Value};
use crate::lane::primitive::{NvOp, ScalarOp};
use crate::lane::{Depends, GroupOp, GroupReduce, LaneFact, LaneOp, Primitive};

/// The sources of results.
pub struct Sources<'k> {
    pub kernel: &'k Kernel,
    pub wave_size: u32,
}

impl Sources<'_> {
    /// The extent of an instruction's results, given the extents of its operands.
    pub fn result(&self, inst: InstId, op: &Op, args: Vec<Extent>) -> Extent {
        let all = args.iter().copied().min().unwrap_or(Extent::Dispatch);
        match *op {
            Op::BuiltIn(built_in, component) => self.built_in(built_in, component),
            Op::Fact(LaneFact::Size) => Extent::Dispatch,
            Op::Fact(_) | Op::Atomic { .. } | Op::CombineMoved { .. } | Op::Input { .. } => Extent::Lane,
            Op::Interpolate { .. } => Extent::Lane,
            Op::Image { op, .. } => all.min(image(op)),
            Op::Load(access) => all.min(self.memory(access)),
            Op::Lane { op, .. } => self.lane(op, all),
            Op::Prim { primitive, .. } if is_uniform(primitive, self.wave_size) => Extent::Wave,
            Op::Prim { .. } => Extent::Lane,
            Op::Bin(op, _) if all == Extent::Lane && self.drops_lane(inst, op) => Extent::Wave,
            _ => all,
        }
    }

    /// Invocations are counted along x, then y, then z; a wave has consecutive ones.
    fn built_in(&self, built_in: BuiltIn, component: u8) -> Extent {
        // The components of built-ins other than invocation numbers count beyond the three dimensions.
        let row: u32 = self.kernel.workgroup_size.iter().take(usize::from(component)).product();
        match built_in {
            BuiltIn::NumWorkgroups | BuiltIn::NumSubgroups => Extent::Dispatch,
            BuiltIn::WarpsPerSmNv | BuiltIn::SmCountNv => Extent::Dispatch,
            BuiltIn::WorkgroupId => Extent::Workgroup,
            BuiltIn::SubgroupId | BuiltIn::WarpIdNv | BuiltIn::SmIdNv => Extent::Wave,
            BuiltIn::LocalInvocationId if component > 0 && row.is_multiple_of(self.wave_size) => Extent::Wave,
            _ => Extent::Lane,
        }
    }

    /// Returns true if an operation with a constant removes the bits in which the index differs within a wave.
    fn drops_lane(&self, inst: InstId, op: BinOp) -> bool {
        let [value, by] = self.kernel.args(inst) else { return false };
        let Some(by) = self.kernel.as_constant(*by).filter(|_| self.counts_lanes(*value)) else { return false };
        let size = u64::from(self.wave_size);
        match op {
            BinOp::Shr => by >= u64::from(self.wave_size.trailing_zeros()),
            BinOp::And => by & (size - 1) == 0,
            BinOp::Div => by != 0 && by.is_multiple_of(size),
            _ => false,
        }
    }

    /// Returns true if a value is the invocation index in the workgroup, so that waves start at multiples of their
    /// size.
    fn counts_lanes(&self, value: Value) -> bool {
        let Def::Inst(inst, _) = self.kernel.values[value].def else { return false };
        let in_row = self.kernel.workgroup_size[1..] == [1, 1];
        match self.kernel.insts[inst].op {
            Op::BuiltIn(BuiltIn::LocalInvocationIndex, _) => true,
            Op::BuiltIn(BuiltIn::LocalInvocationId, 0) => in_row || self.row_is_waves(),
            _ => false,
        }
    }

    fn row_is_waves(&self) -> bool {
        self.kernel.workgroup_size[0].is_multiple_of(self.wave_size)
    }

    /// How uniform the values are if invocations read the same place at once.
    fn memory(&self, access: MemoryAccess) -> Extent {
        if access.volatile || access.coherent {
            return Extent::Lane;
        }
        match access.space {
            MemorySpace::Push => Extent::Dispatch,
            MemorySpace::Private(_) => Extent::Lane,
            MemorySpace::Buffer(buffer) => match self.kernel.buffers.get(buffer as usize) {
                Some(buffer) if buffer.is_constant() => Extent::Dispatch,
                // Another invocation may write it, if only through another buffer.
                _ => Extent::Wave,
            },
            MemorySpace::Shared | MemorySpace::Physical => Extent::Wave,
        }
    }

    /// The results of cross-lane operations. A move of a uniform value may still be undefined in some lanes, so only
    /// operations whose result all active lanes share count.
    fn lane(&self, op: LaneOp, all: Extent) -> Extent {
        let signature = op.signature();
        match signature.depends {
            Depends::Size => Extent::Dispatch,
            Depends::Operands => all,
            Depends::Span if signature.span.is_whole(self.wave_size) => Extent::Wave,
            Depends::Span | Depends::Named | Depends::Lane | Depends::Any => Extent::Lane,
        }
    }
}

/// How uniform the results are if lanes make the same image query or access.
fn image(op: ImageOp) -> Extent {
    match op {
        ImageOp::Size | ImageOp::Levels | ImageOp::Samples => Extent::Dispatch,
        ImageOp::Fetch | ImageOp::Gather => Extent::Wave,
        _ => Extent::Lane,
    }
}

/// Returns true if a primitive gives all active lanes the same result.
fn is_uniform(primitive: Primitive, wave_size: u32) -> bool {
    match primitive {
        Primitive::Group(GroupOp::Broadcast | GroupOp::BroadcastFirst | GroupOp::Ballot | GroupOp::Vote(_)) => true,
        Primitive::Group(GroupOp::Reduce(_, reach) | GroupOp::ReduceAmd(_, reach)) if reach == GroupReduce::Reduce => {
            true
        }
        Primitive::Group(GroupOp::Reduce(_, GroupReduce::Clustered(width))) => width.lanes_in(wave_size) >= wave_size,
        Primitive::Nv(NvOp::Vote(_) | NvOp::Ballot | NvOp::Reduce(_) | NvOp::MatchAll) => true,
        Primitive::Scalar(op) => ScalarOp::is_scalar(op),
        _ => false,
    }
}
