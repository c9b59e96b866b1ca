//! Memory: paths to parts of variables, loads, stores, atomic operations and barriers.

use super::expr::Expr;
use super::function::Body;
use super::tree::{Declared, Kind};
use crate::ir::{Binding, BuiltIn, InstFlags, InstId, LocalId, Op, Scalar, Space, Type, TypeId, Value, Values};

impl Body<'_, '_> {
    /// Space and pointee of an operand that points.
    pub fn pointee_of(&self, value: Value) -> Option<(Space, TypeId)> {
        self.t.module.pointee_of(self.f, &self.t.types, value)
    }

    /// The path to a part of a variable, of a parameter, or of a buffer reference's target.
    pub fn path(&mut self, id: InstId, base: Value, indices: Values, flags: InstFlags) -> Expr {
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
        for (at, index) in indices.iter().enumerate() {
            let known = self.t.module.known_u32(*index);
            match (self.t.types.get(ty), known) {
                (Type::Struct(of), Some(member)) => path = self.member(base, at, path, of, member),
                (Type::Vector { .. }, Some(n)) => path = path.part(&super::constants::component(n)),
                _ => {
                    let number = self.index(id, *index);
                    let is_marked =
                        flags.contains(InstFlags::NON_UNIFORM) && known.is_none() && space != Space::Function;
                    let text = if is_marked {
                        let language = self.t.language;
                        language.non_uniform(self.t, &number.text)
                    } else {
                        number.text.clone()
                    };
                    path = path.part(&format!("[{text}]")).reading(&number.reads);
                }
            }
            if let (0, Value::Global(global)) = (at, base) {
                let language = self.t.language;
                if let Some(part) = language.element_part(self.t, global) {
                    path = path.part(&part);
                }
            }
            match self.t.types.element(ty, known.unwrap_or(0)) {
                Some(part) => ty = part,
                None => return self.t.broken("an access to a part that is not there"),
            }
        }
        path
    }

    /// An index of a path. It gets a name if it may change before the path's last use, or if it is more than a name and
    /// the path is used more than once.
    pub fn index(&mut self, path: InstId, index: Value) -> Expr {
        if let Some(known) = self.t.module.known_u32(index) {
            return Expr::primary(known.to_string());
        }
        self.held(path, index, "index")
    }

    /// A value in a path, with a name from this base if it needs one.
    pub fn held(&mut self, path: InstId, value: Value, base: &str) -> Expr {
        let made = self.value(value);
        let is_stable = self.uses.is_stable(self.f, path, &made.reads);
        let once = self.uses.count(path) == 1;
        if !made.reads.is_empty() && !is_stable || !made.is_plain() && !once {
            let ty = self.type_of(value);
            return self.name(base, ty, &made);
        }
        made
    }

    /// A member of a struct or block; some blocks have no instance name.
    pub fn member(&mut self, base: Value, at: usize, path: Expr, of: crate::ir::StructId, member: u32) -> Expr {
        let item = &self.t.types.structs[of];
        if let Some(Binding::BuiltIn(built)) = item.members.get(member as usize).map(|member| member.binding) {
            let space = self.pointee_of(base).map_or(Space::Input, |(space, _)| space);
            let language = self.t.language;
            if let (1.., Value::Global(global)) = (at, base)
                && language.element_part(self.t, global).is_some()
            {
                return path;
            }
            return match language.built_in(self, built, space) {
                Some(value) => value.reading(&path.reads),
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

    /// The value at a path.
    pub fn load_path(&mut self, pointer: Value) -> Expr {
        let place = self.value(pointer);
        let space = self.pointee_of(pointer).map(|(space, _)| space);
        let place = place.reading_memory(space.is_none_or(is_changing) || self.is_ray_end(pointer));
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

    /// Returns true for the end of a ray, which gets closer with each hit that an intersection shader reports.
    fn is_ray_end(&self, pointer: Value) -> bool {
        let is_it = |binding| binding == Binding::BuiltIn(BuiltIn::RayTmax);
        matches!(pointer, Value::Global(id) if is_it(self.t.module.globals[id].binding))
    }

    /// The module's scalar type for a built-in value, and the language's.
    fn conversion_of(&mut self, pointer: Value) -> Option<(Scalar, Scalar)> {
        let Value::Global(id) = pointer else { return None };
        let global = &self.t.module.globals[id];
        let Binding::BuiltIn(_) = global.binding else { return None };
        let language = self.t.language;
        let given = language.built_in_scalar(self.t, id)?;
        Some((self.t.types.scalar_of(global.ty)?, given))
    }

    pub fn store(&mut self, pointer: Value, value: Value) {
        if let Value::Local(id) = pointer
            && self.waiting.remove(&id)
        {
            return self.first_store(id, value);
        }
        if self.is_there(pointer, value) {
            return;
        }
        if let Some(store) = self.current
            && let Some(run) = self.runs.at(store).cloned()
            && (run.stores.len() > 1 || run.extracts.iter().all(|id| self.uses.is_joined(*id)))
        {
            return self.store_run(&run, store);
        }
        let language = self.t.language;
        language.store(self, pointer, value);
    }

    /// Returns true if a variable of the invocation is stored to itself. DXC never returns from such a store of a struct.
    fn is_there(&mut self, pointer: Value, value: Value) -> bool {
        let Value::Inst(id) = value else { return false };
        let is_own = matches!(self.f.insts[id].op, Op::Load(from) if from == pointer);
        let is_private = matches!(self.pointee_of(pointer), Some((Space::Function | Space::Private, _)));
        is_own && is_private && self.value(value).text == self.value(pointer).text
    }

    /// Stores to a path.
    pub fn store_path(&mut self, pointer: Value, value: Expr) {
        let place = self.value(pointer);
        let value = match self.conversion_of(pointer) {
            Some((wanted, given)) if wanted != given => {
                let name = self.t.vector_name(given, 1);
                Expr::call(&name, &[value])
            }
            _ => value,
        };
        self.assign(&place, &value);
    }

    /// The store that declares a variable. It is omitted if a parameter is the variable.
    fn first_store(&mut self, id: LocalId, value: Value) {
        let language = self.t.language;
        let given = value;
        let value = language.first_value(self, value, self.f.locals[id].ty);
        let name = self.locals[&id].clone();
        let language = self.t.language;
        let is_fixed = self.uses.is_given_once(self.f, &self.t.types, id) && language.can_name(self, id, given);
        if is_fixed && language.has_fixed_names() {
            self.fixed.insert(id);
        }
        if name == value {
            return;
        }
        let (ty, dims) = self.local_type(id);
        self.declared = Some((id, name.clone()));
        self.push(Kind::Define(Declared { ty, name, dims, value: Some(value), is_fixed }));
    }
}

/// Returns true if memory of a space can change later. Pointers to function variables are tracked separately.
pub(super) const fn is_changing(space: Space) -> bool {
    !matches!(space, Space::Uniform | Space::PushConstant | Space::Input | Space::Handle | Space::Function)
}
