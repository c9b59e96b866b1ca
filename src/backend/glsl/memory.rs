//! Memory: paths to parts of variables, loads, stores, atomic operations and barriers.

use super::dialect::is_common;
use super::expr::Expr;
use super::function::Body;
use super::tree::Kind;
use crate::grammar::{self, Lowering};
use crate::ir::{
    AtomicOp, Binding, InstFlags, InstId, InterpolateAt, LocalId, MemoryKinds, Order, Scalar, Scope, Space, Type,
    TypeId, Value, Values,
};

impl Body<'_, '_> {
    /// Space and pointee of an operand that points.
    pub fn pointee_of(&self, value: Value) -> Option<(Space, TypeId)> {
        self.t.module.pointee_of(self.f, &self.t.types, value)
    }

    /// The path to a part of a variable, of a parameter, or of what a buffer reference points to.
    pub fn access(&mut self, id: InstId, base: Value, indices: Values, flags: InstFlags) -> Expr {
        let f = self.f;
        let indices = f.values(indices);
        let (space, mut ty) = match self.pointee_of(base) {
            Some(known) => known,
            None => match self.t.types.referred(self.type_of(base)) {
                Some(of) => (Space::Physical, self.t.types.find(Type::Struct(of)).unwrap_or(crate::ir::Types::VOID)),
                None => return self.t.broken("an access to something other than a variable"),
            },
        };
        let mut path = self.value(base).reading_memory(is_changing(space));
        let once = self.uses.count(id) == 1;
        for (at, index) in indices.iter().enumerate() {
            let known = self.t.module.known_u32(*index);
            match (self.t.types.get(ty), known) {
                (Type::Struct(of), Some(member)) => path = self.member(base, at, path, of, member),
                (Type::Vector { .. }, Some(n)) => path = path.part(&super::constants::component(n)),
                _ => {
                    let mut number = self.value(*index);
                    let is_stable = self.uses.is_stable(f, id, &number.reads);
                    let repeats = !number.reads.is_empty() && !is_stable || !number.is_plain() && !once;
                    if repeats && known.is_none() {
                        let ty = self.type_of(*index);
                        number = self.name("index", ty, &number);
                    }
                    let number = match known {
                        Some(known) => Expr::primary(known.to_string()),
                        None => number,
                    };
                    let is_marked =
                        flags.contains(InstFlags::NON_UNIFORM) && known.is_none() && space != Space::Function;
                    let text = if is_marked {
                        self.t.need("GL_EXT_nonuniform_qualifier");
                        format!("nonuniformEXT({})", number.text)
                    } else {
                        number.text.clone()
                    };
                    path = path.part(&format!("[{text}]")).reading(&number.reads);
                }
            }
            match self.t.types.element(ty, known.unwrap_or(0)) {
                Some(part) => ty = part,
                None => return self.t.broken("an access to a part that is not there"),
            }
        }
        path
    }

    /// A member of a struct or block, of which some have no name of their own.
    fn member(&mut self, base: Value, at: usize, path: Expr, of: crate::ir::StructId, member: u32) -> Expr {
        let item = &self.t.types.structs[of];
        if let Some(Binding::BuiltIn(built)) = item.members.get(member as usize).map(|member| member.binding) {
            let space = self.pointee_of(base).map_or(Space::Input, |(space, _)| space);
            return match self.t.built_in_name(built, space) {
                Some(name) => Expr::primary(name).reading(&path.reads),
                None => self.t.stand_in(&format!("built-in value {built:?}")),
            };
        }
        if let Value::Global(id) = base
            && at == 0
            && let Some(names) = self.t.block_members.get(&id)
        {
            let name = names.get(member as usize).cloned().unwrap_or_default();
            return Expr::primary(name).reading(&path.reads);
        }
        let names = self.t.member_names(of);
        path.part(&names.get(member as usize).map_or_else(String::new, |name| format!(".{name}")))
    }

    pub fn load(&mut self, pointer: Value) -> Expr {
        let place = self.value(pointer);
        let space = self.pointee_of(pointer).map(|(space, _)| space);
        let place = place.reading_memory(space.is_none_or(is_changing));
        match self.conversion_of(pointer) {
            Some((scalar, given)) if scalar != given => {
                let (_, ty) = self.pointee_of(pointer).unwrap_or((Space::Input, crate::ir::Types::U32));
                let size = self.t.types.components(ty).unwrap_or(1);
                let name = self.t.vector_name(scalar, size);
                Expr::call(&name, &[place])
            }
            _ => place,
        }
    }

    /// The scalar that the module has for a built-in value, and the one that the language has.
    fn conversion_of(&mut self, pointer: Value) -> Option<(Scalar, Scalar)> {
        let Value::Global(id) = pointer else { return None };
        let global = &self.t.module.globals[id];
        let Binding::BuiltIn(_) = global.binding else { return None };
        let name = self.t.global(id);
        let wanted = self.t.types.scalar_of(global.ty)?;
        let given = grammar::variable(&name)?.ty.scalar();
        Some((wanted, given))
    }

    pub fn store(&mut self, pointer: Value, value: Value) {
        if let Value::Local(id) = pointer
            && self.waiting.remove(&id)
        {
            return self.first_store(id, value);
        }
        let value = self.value(value);
        let place = self.value(pointer);
        let value = match self.conversion_of(pointer) {
            Some((wanted, given)) if wanted != given => {
                let name = self.t.vector_name(given, 1);
                Expr::call(&name, &[value])
            }
            _ => value,
        };
        match value.assigned.as_deref() {
            Some([op, left, right]) if *left == place.text => self.line(format!("{left} {op}= {right}")),
            _ => self.line(format!("{} = {}", place.text, value.text)),
        }
    }

    /// The store that declares a variable. Nothing is left of it where a parameter is the variable.
    fn first_store(&mut self, id: LocalId, value: Value) {
        let value = self.value(value).text;
        let name = self.locals[&id].clone();
        if name == value {
            return;
        }
        let (ty, dims) = self.local_type(id);
        self.push(Kind::Define { ty, name, dims, value: Some(value) });
    }

    pub fn array_length(&mut self, block: Value) -> Expr {
        let of = match self.pointee_of(block).map(|(_, ty)| self.t.types.get(ty)) {
            Some(Type::Struct(of)) => of,
            _ => match self.t.types.referred(self.type_of(block)) {
                Some(of) => of,
                None => return self.t.broken("the length of something other than a block"),
            },
        };
        let last = self.t.types.structs[of].members.len() as u32 - 1;
        let path = self.value(block);
        let array = self.member(block, 0, path, of, last);
        Expr::call("uint", &[array.part(".length()")])
    }

    pub fn atomic(&mut self, op: AtomicOp, pointer: Value, args: Values, how: (Scope, Order)) -> Option<Expr> {
        let Some((space, ty)) = self.pointee_of(pointer) else {
            return Some(self.t.stand_in("atomic operations on such memory"));
        };
        let Some(scalar) = self.t.types.scalar_of(ty) else {
            return Some(self.t.stand_in("atomic operations on such types"));
        };
        let place = self.value(pointer);
        let mut args = self.list(args);
        self.need_atomic(op, scalar);
        let is_store = op == AtomicOp::Store;
        let op = self.plain_atomic(op, &mut args, scalar);
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
            // The value that is compared with comes first in the language.
            AtomicOp::CompareExchange => args.swap(0, 1),
            _ => {}
        }
        args.insert(0, place);
        if is_scoped {
            let kinds = if space == Space::Workgroup { MemoryKinds::SHARED } else { MemoryKinds::BUFFER };
            self.add_scope(&mut args, op, kinds, how);
        }
        let call = Expr::call(name, &args).reading_memory(true);
        if is_store {
            self.line(call.text);
            return None;
        }
        Some(call)
    }

    /// The operation that stands for a load or a store where the language has none.
    pub fn plain_atomic(&mut self, op: AtomicOp, args: &mut Vec<Expr>, scalar: Scalar) -> AtomicOp {
        match op {
            _ if self.t.dialect.is_vulkan => op,
            AtomicOp::Load => {
                args.push(self.t.literal(scalar, 0));
                AtomicOp::Add
            }
            AtomicOp::Store => AtomicOp::Exchange,
            _ => op,
        }
    }

    fn need_atomic(&mut self, op: AtomicOp, scalar: Scalar) {
        match (scalar.is_float(), scalar.width, op) {
            (true, _, AtomicOp::Min | AtomicOp::Max) | (true, 16, _) => self.t.need("GL_EXT_shader_atomic_float2"),
            (true, ..) => self.t.need("GL_EXT_shader_atomic_float"),
            (false, 64, _) => self.t.need("GL_EXT_shader_atomic_int64"),
            _ => {}
        }
    }

    fn need_scopes(&mut self) {
        if !self.t.dialect.is_vulkan {
            self.t.lacks("scopes and orders of memory accesses");
        }
        self.t.need("GL_KHR_memory_scope_semantics");
    }

    /// Scope, kinds of memory and order as constant arguments (GL_KHR_memory_scope_semantics).
    pub fn add_scope(
        &mut self,
        args: &mut Vec<Expr>,
        op: AtomicOp,
        kinds: MemoryKinds,
        (scope, order): (Scope, Order),
    ) {
        self.need_scopes();
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

    pub fn barrier(&mut self, execution: Option<Scope>, memory: Scope, kinds: MemoryKinds, order: Order) {
        if order == Order::AcquireRelease
            && let Some((name, extensions)) = barrier_name(execution, memory, kinds)
        {
            if let Some(extension) = super::globals::preferred(extensions) {
                self.t.need(extension);
            }
            return self.line(format!("{name}()"));
        }
        if kinds.contains(MemoryKinds::OUTPUT) {
            self.t.unsupported("barriers of outputs");
        }
        self.need_scopes();
        let (storage, semantics) = match kinds.is_empty() {
            true => ("0".to_string(), order_text(Order::Relaxed)),
            false => (kinds_text(kinds), order_text(order)),
        };
        let memory = scope_text(memory);
        match execution {
            Some(scope) => {
                self.line(format!("controlBarrier({}, {memory}, {storage}, {semantics})", scope_text(scope)))
            }
            None if kinds.is_empty() || order == Order::Relaxed => {}
            None => self.line(format!("memoryBarrier({memory}, {storage}, {semantics})")),
        }
    }

    pub fn interpolate(&mut self, at: InterpolateAt, pointer: Value, args: Values) -> Expr {
        let mut list = vec![self.value(pointer)];
        list.extend(self.list(args));
        let name = match at {
            InterpolateAt::Centroid => "interpolateAtCentroid",
            InterpolateAt::Sample => "interpolateAtSample",
            InterpolateAt::Offset => "interpolateAtOffset",
            InterpolateAt::Vertex => return self.t.stand_in("values of a vertex"),
        };
        Expr::call(name, &list)
    }
}

/// Returns true if memory of a space can change later. Pointers to variables of functions are tracked on their own.
const fn is_changing(space: Space) -> bool {
    !matches!(space, Space::Uniform | Space::PushConstant | Space::Input | Space::Handle | Space::Function)
}

/// The function that waits or orders memory so, and the extensions of which one brings it.
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
