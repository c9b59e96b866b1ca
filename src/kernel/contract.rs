//! The requirements of a kernel's cross-lane operations on its subgroup and workgroup. They are computed before
//! lowering, while the operations are still in the kernel.

use super::{Kernel, Op};
use crate::ir::{self, EntryPoint, InstFlags, Module, Value, calls};
use crate::lane::{LaneOp, Reads, Span, WARP, Width};
use crate::profile::{Profile, WaveSize};
use crate::source;

/// The demands, in lanes.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct LaneContract {
    /// Lanes of the widest explicit segment of an operation; `None` without cross-lane operations.
    pub widest: Option<u32>,
    /// True if an operation needs every lane of the subgroup.
    pub whole_subgroup: bool,
}

impl LaneContract {
    /// The demands of a kernel's operations.
    pub fn of(kernel: &Kernel) -> LaneContract {
        let mut contract = LaneContract::default();
        for (id, inst) in kernel.insts.iter() {
            if let Op::Lane { op, .. } = &inst.op {
                contract
                    .add(*op, least_lanes(*op, || kernel.args(id).last().and_then(|last| kernel.as_constant(*last))));
            }
        }
        contract
    }

    /// The requirements of the operations that an entry point reaches, in a module without open specialization
    /// constants.
    pub fn of_entry(module: &Module, entry: &EntryPoint) -> LaneContract {
        let mut contract = LaneContract::default();
        for demand in demands(module, entry) {
            contract.add(demand.op, demand.lanes);
        }
        contract
    }

    fn add(&mut self, op: LaneOp, lanes: u32) {
        self.widest = self.widest.max(Some(lanes));
        self.whole_subgroup |= takes_whole_subgroup(op);
    }

    /// Smallest subgroup for which all operations are defined.
    pub fn least_subgroup_size(self) -> u32 {
        self.widest.unwrap_or(1)
    }

    /// Smallest subgroup for which the operations are defined, or the promised one if it is larger.
    pub fn least_of(self, profile: &Profile) -> u32 {
        self.least_subgroup_size().max(profile.promise.map_or(1, WaveSize::least))
    }

    /// The workgroup's number of invocations must be a multiple of this, so that all segments are full; `None` if it is
    /// the subgroup size and the driver chooses that.
    pub fn workgroup_multiple(self, subgroup_size: Option<u32>) -> Option<u32> {
        if self.whole_subgroup { subgroup_size } else { Some(self.least_subgroup_size()) }
    }
}

/// A cross-lane operation of the source.
#[derive(Clone, Copy, Debug)]
pub struct Demand {
    pub op: LaneOp,
    /// Smallest subgroup for which it is defined.
    pub lanes: u32,
    pub span: source::Span,
}

/// The operations that an entry point reaches in every subgroup, in a module whose constants have values.
pub fn demands(module: &Module, entry: &EntryPoint) -> impl Iterator<Item = Demand> {
    calls::callees_first(module, [entry.function]).into_iter().flat_map(|id| {
        let function = &module.functions[id];
        function.insts.iter().filter_map(|(_, inst)| {
            let ir::Op::Lane(op, args) = inst.op else { return None };
            if inst.flags.contains(InstFlags::GUARDED) {
                return None;
            }
            let last = || match function.values(args).last() {
                Some(Value::Const(id)) => module.constants.bits(*id),
                _ => None,
            };
            Some(Demand { op, lanes: least_lanes(op, last), span: inst.span })
        })
    })
}

/// Smallest subgroup for which a cross-lane operation is defined, given the value of its last operand.
fn least_lanes(op: LaneOp, width: impl Fn() -> Option<u64>) -> u32 {
    let signature = op.signature();
    op.stated_lanes(|| width().map(|width| width as u32)).unwrap_or(match (op, signature.span) {
        // Facts are defined whichever lanes there are.
        _ if signature.params.is_empty() => 1,
        (_, Span::Operand) | (LaneOp::SwizzleMasked { .. }, _) => WARP,
        (_, span) => span.lanes(),
    })
}

/// Returns true if every lane of the subgroup must run the operation.
fn takes_whole_subgroup(op: LaneOp) -> bool {
    op.width() == Some(Width::SUBGROUP) && op.signature().reads != Reads::Active
}
