//! Memory: atomic operations, barriers, and inputs at other places of the pixel.

use super::dialect::is_common;
use super::{Dialect, versions};
use crate::backend::source::constants::component;
use crate::backend::source::expr::Expr;
use crate::backend::source::function::Body;
use crate::grammar::{self, Lowering};
use crate::ir::{AtomicOp, InterpolateAt, MemoryKinds, Op, Order, Scalar, Scope, Space, Type, Value, Values};

impl Dialect {
    pub fn array_length(&self, b: &mut Body, block: Value) -> Expr {
        let of = match b.pointee_of(block).map(|(_, ty)| b.t.types.get(ty)) {
            Some(Type::Struct(of)) => of,
            _ => match b.t.types.referred(b.type_of(block)) {
                Some(of) => of,
                None => return b.t.broken("the length of something other than a block"),
            },
        };
        let last = b.t.types.structs[of].members.len() as u32 - 1;
        let path = b.value(block);
        let array = b.member(block, 0, path, of, last);
        Expr::call("uint", &[array.part(".length()")])
    }

    pub fn atomic(
        &self,
        b: &mut Body,
        op: AtomicOp,
        pointer: Value,
        args: Values,
        how: (Scope, Order),
    ) -> Option<Expr> {
        let Some((space, ty)) = b.pointee_of(pointer) else {
            return Some(b.t.stand_in("atomic operations on such memory"));
        };
        let Some(scalar) = b.t.types.scalar_of(ty) else {
            return Some(b.t.stand_in("atomic operations on such types"));
        };
        let place = b.value(pointer);
        let mut args = b.list(args);
        self.need_atomic(b, op, scalar);
        let is_store = op == AtomicOp::Store;
        let op = self.plain_atomic(b, op, &mut args, scalar);
        let is_scoped = how.1 != Order::Relaxed || matches!(op, AtomicOp::Load | AtomicOp::Store);
        let name = match op {
            AtomicOp::Load => "atomicLoad",
            AtomicOp::Store => "atomicStore",
            AtomicOp::Add | AtomicOp::Sub => "atomicAdd",
            AtomicOp::Min => "atomicMin",
            AtomicOp::Max => "atomicMax",
            AtomicOp::And => "atomicAnd",
            AtomicOp::Or => "atomicOr",
            AtomicOp::Xor => "atomicXor",
            AtomicOp::Exchange => "atomicExchange",
            AtomicOp::CompareExchange => "atomicCompSwap",
        };
        match op {
            AtomicOp::Sub => args[0] = Expr::unary("-", &args[0]),
            // The comparand comes first in the language.
            AtomicOp::CompareExchange => args.swap(0, 1),
            _ => {}
        }
        args.insert(0, place);
        if is_scoped {
            let kinds = if space == Space::Workgroup { MemoryKinds::SHARED } else { MemoryKinds::BUFFER };
            self.add_scope(b, &mut args, op, kinds, how);
        }
        let call = Expr::call(name, &args).reading_memory(true);
        if is_store {
            b.line(call.text);
            return None;
        }
        Some(call)
    }

    /// The operation that replaces a load or a store if the language has none.
    pub fn plain_atomic(&self, b: &mut Body, op: AtomicOp, args: &mut Vec<Expr>, scalar: Scalar) -> AtomicOp {
        match op {
            _ if self.is_vulkan => op,
            AtomicOp::Load => {
                args.push(b.t.literal(scalar, 0));
                AtomicOp::Add
            }
            AtomicOp::Store => AtomicOp::Exchange,
            _ => op,
        }
    }

    fn need_atomic(&self, b: &mut Body, op: AtomicOp, scalar: Scalar) {
        match (scalar.is_float(), scalar.width, op) {
            (true, _, AtomicOp::Min | AtomicOp::Max) | (true, 16, _) => b.t.need("GL_EXT_shader_atomic_float2"),
            (true, ..) => b.t.need("GL_EXT_shader_atomic_float"),
            (false, 64, _) => b.t.need("GL_EXT_shader_atomic_int64"),
            _ => {}
        }
    }

    fn need_scopes(&self, b: &mut Body) {
        if !self.is_vulkan {
            b.t.lacks("scopes and orders of memory accesses");
        }
        b.t.need("GL_KHR_memory_scope_semantics");
    }

    /// Scope, kinds of memory and order as constant arguments (GL_KHR_memory_scope_semantics).
    pub fn add_scope(
        &self,
        b: &mut Body,
        args: &mut Vec<Expr>,
        op: AtomicOp,
        kinds: MemoryKinds,
        (scope, order): (Scope, Order),
    ) {
        self.need_scopes(b);
        let kinds = if order == Order::Relaxed { "0".to_string() } else { kinds_text(kinds) };
        let mut words = vec![scope_text(scope).to_string(), kinds.clone(), order_text(order).to_string()];
        if op == AtomicOp::CompareExchange {
            let unequal = match order {
                Order::Release => Order::Relaxed,
                Order::AcquireRelease => Order::Acquire,
                other => other,
            };
            words.extend([kinds, order_text(unequal).to_string()]);
        }
        args.extend(words.into_iter().map(Expr::primary));
    }

    pub fn barrier(&self, b: &mut Body, execution: Option<Scope>, memory: Scope, kinds: MemoryKinds, order: Order) {
        if order == Order::AcquireRelease
            && let Some((name, extensions)) = barrier_name(execution, memory, kinds)
        {
            if let Some(extension) = self.preferred(extensions) {
                b.t.need(extension);
            }
            return b.line(format!("{name}()"));
        }
        if kinds.contains(MemoryKinds::OUTPUT) {
            b.t.unsupported("barriers of outputs");
        }
        self.need_scopes(b);
        let (storage, semantics) = match kinds.is_empty() {
            true => ("0".to_string(), order_text(Order::Relaxed)),
            false => (kinds_text(kinds), order_text(order)),
        };
        let memory = scope_text(memory);
        match execution {
            Some(scope) => b.line(format!("controlBarrier({}, {memory}, {storage}, {semantics})", scope_text(scope))),
            None if kinds.is_empty() || order == Order::Relaxed => {}
            None => b.line(format!("memoryBarrier({memory}, {storage}, {semantics})")),
        }
    }

    pub fn interpolate(&self, b: &mut Body, at: InterpolateAt, pointer: Value, args: Values) -> Expr {
        // ES, and versions before 440, do not accept components of an interpolant.
        let (whole, part) = match pointer {
            Value::Inst(id) if self.is_es || self.number < 440 => match b.f.insts[id].op {
                Op::Access { base, indices } if b.pointee_of(base).is_some_and(|(_, ty)| b.t.shape(ty).is_some()) => {
                    (base, b.f.values(indices).first().copied())
                }
                Op::Access { .. }
                    if b.pointee_of(pointer).is_some_and(|(_, ty)| b.t.types.components(ty) == Some(1)) =>
                {
                    b.t.lacks("interpolation of a component of an element");
                    (pointer, None)
                }
                _ => (pointer, None),
            },
            _ => (pointer, None),
        };
        self.require(b.t, &versions::SAMPLES);
        let mut list = vec![b.value(whole)];
        list.extend(b.list(args));
        let name = match at {
            InterpolateAt::Centroid => "interpolateAtCentroid",
            InterpolateAt::Sample => "interpolateAtSample",
            InterpolateAt::Offset => "interpolateAtOffset",
            InterpolateAt::Vertex => return b.t.stand_in("values of a vertex"),
        };
        let call = Expr::call(name, &list);
        let Some(index) = part else { return call };
        match b.t.module.known_u32(index) {
            Some(known) => call.part(&component(known)),
            None => {
                let index = b.value(index).text;
                call.part(&format!("[{index}]"))
            }
        }
    }
}

/// The barrier function, and the extensions that provide it.
fn barrier_name(
    execution: Option<Scope>,
    memory: Scope,
    kinds: MemoryKinds,
) -> Option<(&'static str, grammar::ExtensionSet)> {
    let wanted = Lowering::Barrier { execution, memory, kinds };
    let all = grammar::FUNCTIONS.iter().flat_map(|function| function.overloads);
    let found = all.filter(|row| is_common(row) && row.lowering == wanted);
    found.min_by_key(|row| !row.extensions.is_empty()).map(|row| (row.name, row.extensions))
}

const fn scope_text(scope: Scope) -> &'static str {
    match scope {
        Scope::Invocation => "gl_ScopeInvocation",
        Scope::Subgroup => "gl_ScopeSubgroup",
        Scope::Workgroup => "gl_ScopeWorkgroup",
        Scope::QueueFamily => "gl_ScopeQueueFamily",
        Scope::Device => "gl_ScopeDevice",
    }
}

const fn order_text(order: Order) -> &'static str {
    match order {
        Order::Relaxed => "gl_SemanticsRelaxed",
        Order::Acquire => "gl_SemanticsAcquire",
        Order::Release => "gl_SemanticsRelease",
        Order::AcquireRelease => "gl_SemanticsAcquireRelease",
    }
}

fn kinds_text(kinds: MemoryKinds) -> String {
    const WORDS: [(MemoryKinds, &str); 3] = [
        (MemoryKinds::BUFFER, "gl_StorageSemanticsBuffer"),
        (MemoryKinds::SHARED, "gl_StorageSemanticsShared"),
        (MemoryKinds::IMAGE, "gl_StorageSemanticsImage"),
    ];
    let words: Vec<&str> = WORDS.iter().filter(|(kind, _)| kinds.contains(*kind)).map(|(_, word)| *word).collect();
    words.join(" | ")
}
