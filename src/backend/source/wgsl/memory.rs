//! Memory: atomic operations (WGSL 17.8) and barriers (WGSL 17.11).

use super::Wgsl;
use super::function::address_of;
use crate::backend::source::expr::{Expr, Level};
use crate::backend::source::function::Body;
use crate::backend::source::place::Address;
use crate::backend::source::tree::{Kind, Stmt};
use crate::backend::source::writer::Writer;
use crate::ir::{
    AtomicOp, Function, GlobalId, InstFlags, InstId, MemoryKinds, Module, Op, Scope, StructId, Type, Value, Values,
};
use crate::limits;

/// Memory that `storageBarrier` orders.
const BUFFERS: MemoryKinds = MemoryKinds::BUFFER.union(MemoryKinds::ATOMIC_COUNTER);

impl Wgsl {
    /// Finds the members and variables that atomic operations access, which have separate types.
    pub fn find_atomics(&self, t: &mut Writer) {
        let module = t.module;
        for (_, f) in module.functions.iter() {
            for (_, inst) in f.insts.iter() {
                let Op::Atomic { pointer, .. } = inst.op else { continue };
                let Some((global, member)) = reached(t, f, pointer) else { continue };
                t.atomic_globals.insert(global);
                t.atomic_members.extend(member);
            }
        }
        // Structs are shared, so accesses to one with such a member go through it.
        let of_structs: Vec<GlobalId> =
            module.globals.iter().filter(|(_, global)| holds_atomics(t, global.ty)).map(|(id, _)| id).collect();
        t.atomic_globals.extend(of_structs);
    }

    /// Refuses memory without a layout in the language; blocks are refused at their declaration.
    pub fn refuse_bytes(&self, b: &mut Body, address: &Address) {
        if address.global.is_none() {
            b.t.unsupported("buffer references");
        }
    }

    /// The elements of the array at the end of a block.
    pub fn array_length(&self, b: &mut Body, block: Value) -> Expr {
        let Some((_, ty)) = b.pointee_of(block) else { return b.t.stand_in("buffer references") };
        let Type::Struct(of) = b.t.types.get(ty) else {
            return b.t.broken("the length of something else than a block");
        };
        let last = b.t.types.structs[of].members.len() as u32 - 1;
        let whole = b.value(block);
        let path = match block {
            Value::Global(id) if b.t.is_elements(id) => whole,
            _ => {
                let names = b.t.member_names(of);
                whole.part(&format!(".{}", names[last as usize]))
            }
        };
        Expr::call("arrayLength", &[address_of(&path)]).reading_memory(false)
    }

    pub fn atomic(&self, b: &mut Body, op: AtomicOp, pointer: Value, args: Values) -> Option<Expr> {
        let args = b.list(args);
        let pointee = b.pointee_of(pointer).map(|(_, pointee)| pointee)?;
        if b.t.shape(pointee).is_none_or(|(scalar, size)| !scalar.is_int() || scalar.width != 32 || size != 1) {
            return Some(b.t.lacking("atomic operations on such values"));
        }
        let Some(place) = b.laid_path(pointer).filter(|place| place.is_atomic) else {
            return Some(b.t.stand_in("atomic operations on components of vectors"));
        };
        let place = address_of(&place.path);
        let name = match op {
            AtomicOp::Add => "atomicAdd",
            AtomicOp::Sub => "atomicSub",
            AtomicOp::Min => "atomicMin",
            AtomicOp::Max => "atomicMax",
            AtomicOp::And => "atomicAnd",
            AtomicOp::Or => "atomicOr",
            AtomicOp::Xor => "atomicXor",
            AtomicOp::Exchange => "atomicExchange",
            AtomicOp::Load => return Some(Expr::call("atomicLoad", &[place]).reading_memory(true)),
            AtomicOp::Store => {
                let call = Expr::call("atomicStore", &[place, args[0].clone()]);
                b.line(call.text);
                return None;
            }
            AtomicOp::CompareExchange => return Some(self.compare_exchange(b, &place, &args, pointee)),
        };
        Some(Expr::call(name, &[place, args[0].clone()]).reading_memory(true))
    }

    /// The language's exchange may fail spuriously, so it is repeated until it does not.
    fn compare_exchange(&self, b: &mut Body, place: &Expr, args: &[Expr], ty: crate::ir::TypeId) -> Expr {
        let [value, compared] = [0, 1].map(|at| b.plain(args[at].clone(), ty));
        let before = b.variable("before", ty);
        let call = Expr::call("atomicCompareExchangeWeak", &[place.clone(), compared.clone(), value]);
        let body = b.within(|b| {
            let attempt = Expr::primary(b.named("attempt"));
            b.define_as(&attempt.text, &call);
            b.line(format!("{} = {}.old_value", before.text, attempt.text));
            let differs = Expr::binary("!=", Level::Equality, &before, &compared);
            let condition = Expr::binary("||", Level::LogicalOr, &attempt.part(".exchanged"), &differs);
            let then = vec![Stmt::new(b.origin, Kind::Line("break;".to_string()))];
            b.push(Kind::If { condition, then, otherwise: Vec::new(), hint: "" });
        });
        b.push(Kind::For { first: None, condition: None, steps: Vec::new(), body, hint: "" });
        before
    }

    /// Consecutive barriers become one: the language's barriers also order workgroup memory.
    pub fn barrier(&self, b: &mut Body) {
        let Some(run) = run_of(b) else { return };
        let mut all = MemoryKinds::empty();
        let mut waits = false;
        for id in run {
            let inst = &b.f.insts[id];
            let Op::Barrier { execution, memory, kinds, .. } = inst.op else { continue };
            b.t.span = inst.span;
            waits |= execution == Some(Scope::Workgroup);
            if execution.unwrap_or(memory) == Scope::Subgroup {
                b.t.lacks("barriers of the subgroup");
            } else if !matches!(memory, Scope::Workgroup | Scope::Subgroup) && is_coherent(b.t.module) {
                b.t.lacks("memory barriers of the device, which accesses to `coherent` memory need");
            }
            all |= kinds;
        }
        if !waits {
            b.t.lacks("memory barriers apart from `barrier()`");
        }
        let others = all.intersects(BUFFERS) || all.contains(MemoryKinds::IMAGE);
        let rows = [
            ("storageBarrier()", all.intersects(BUFFERS)),
            ("textureBarrier()", all.contains(MemoryKinds::IMAGE)),
            ("workgroupBarrier()", all.contains(MemoryKinds::SHARED) || !others),
        ];
        for (line, is_there) in rows {
            if is_there {
                b.line(line.to_string());
            }
        }
    }
}

/// The consecutive barriers from the current one on; `None` if one precedes it.
fn run_of(b: &Body) -> Option<Vec<InstId>> {
    let (block, at) = b.uses.place(b.current?)?;
    let list = &b.f.blocks[block].insts;
    let is_barrier = |id: &InstId| matches!(b.f.insts[*id].op, Op::Barrier { .. });
    let before = (at as usize).checked_sub(1).and_then(|before| list.get(before));
    let run = || list[at as usize..].iter().copied().take_while(is_barrier).collect();
    (!before.is_some_and(is_barrier)).then(run)
}

/// Returns true if some access must be seen by other workgroups.
fn is_coherent(module: &Module) -> bool {
    let shared = InstFlags::COHERENT | InstFlags::VOLATILE;
    module.functions.iter().any(|(_, f)| f.insts.iter().any(|(_, inst)| inst.flags.intersects(shared)))
}

/// The variable that an atomic operation accesses, and the last member on the path.
fn reached(t: &mut Writer, f: &Function, pointer: Value) -> Option<(GlobalId, Option<(StructId, u32)>)> {
    let (base, indices) = match pointer {
        Value::Inst(id) => match f.insts[id].op {
            Op::Access { base, indices } => (base, f.values(indices)),
            _ => return None,
        },
        other => (other, [].as_slice()),
    };
    let Value::Global(global) = base else { return None };
    let mut ty = t.module.globals[global].ty;
    let mut found = None;
    for index in indices {
        let number = t.module.known_u32(*index).unwrap_or(0);
        match t.types.get(ty) {
            Type::Struct(of) => found = Some((of, number)),
            Type::Vector { .. } | Type::Matrix { .. } => return None,
            _ => {}
        }
        ty = t.types.element(ty, number)?;
    }
    Some((global, found))
}

/// Returns true if a type contains a member that atomic operations access.
fn holds_atomics(t: &Writer, ty: crate::ir::TypeId) -> bool {
    limits::spend(1);
    match t.types.get(ty) {
        Type::Array { element, .. } => holds_atomics(t, element),
        Type::Struct(of) => {
            let members = &t.types.structs[of].members;
            (0..).zip(members).any(|(n, member)| t.atomic_members.contains(&(of, n)) || holds_atomics(t, member.ty))
        }
        _ => false,
    }
}
