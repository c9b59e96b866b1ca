//! Module-scope variables, which are declared at their first use.

use super::binary::Insn;
use super::fault::Read;
use super::module::{Decorated, Place, Reader};
use super::types::{Shape, access_of, location_of};
use crate::backend::spirv::inverse::{built_in_of, mask_of};
use crate::ir::{Access, Binding, ConstId, Global, GlobalId, Module, Space, StructId, Type, TypeId};
use crate::lane::{Group, LaneOp};
use rspirv::spirv::{BuiltIn as Number, Decoration, Word};

/// The cross-lane operation that a built-in input is.
fn lane_op(number: Number) -> Option<LaneOp> {
    match number {
        Number::SubgroupSize => Some(LaneOp::LaneCount(Group::Subgroup)),
        Number::SubgroupLocalInvocationId => Some(LaneOp::LaneIndex(Group::Subgroup)),
        number => mask_of(number).map(|mask| LaneOp::LaneMask(mask, Group::Subgroup)),
    }
}

impl Reader<'_> {
    /// What a module-scope variable is.
    pub fn place(&mut self, m: &mut Module, from: &Insn<'_>, id: Word) -> Read<Place> {
        if let Some(known) = self.places.get(&id) {
            return Ok(known.clone());
        }
        let line = *self.variables.get(&id).ok_or_else(|| from.wrong(format!("%{id} is not a variable")))?;
        let insn = self.insns[line];
        let Shape::Pointer { class, pointee } = self.ty(&insn, insn.ty)?.shape else {
            return Err(insn.wrong("its type is not a pointer"));
        };
        if insn.arg(0)? != class as Word {
            return Err(insn.wrong("it has another storage class than its type"));
        }
        let number = self.number(id, Decoration::BuiltIn);
        if let Some(op) = number.and_then(Number::from_u32).and_then(lane_op) {
            self.places.insert(id, Place::Lane(op));
            return Ok(Place::Lane(op));
        }
        refuse(&insn, self.decorations(id))?;
        let space = self.space_of(&insn, class, pointee)?;
        let ty = self.memory_type(m, &insn, space, pointee)?;
        if space.is_laid_out()
            && !matches!(m.types.get(m.types.innermost(ty)), Type::Struct(of) if m.types.structs[of].block)
        {
            return Err(insn.wrong("it is not a block"));
        }
        let init = self.initial(m, &insn, ty)?;
        let place = match self.members_of(m, &insn, space, ty) {
            Some(globals) if init.is_none() => Place::Members(globals),
            Some(_) => return Err(insn.unread("initial values of blocks of built-in variables are not read")),
            None => {
                let binding = self.binding(&insn, space)?;
                Place::Global(self.add(m, &insn, (space, ty), binding, init))
            }
        };
        self.places.insert(id, place.clone());
        Ok(place)
    }

    /// Returns true if a variable is an array.
    pub fn is_array(&self, from: &Insn<'_>, id: Word) -> Read<bool> {
        let line = *self.variables.get(&id).ok_or_else(|| from.wrong(format!("%{id} is not a variable")))?;
        let insn = self.insns[line];
        let Shape::Pointer { pointee, .. } = self.ty(&insn, insn.ty)?.shape else { return Ok(false) };
        Ok(matches!(self.ty(&insn, pointee)?.shape, Shape::Array { .. }))
    }

    fn initial(&self, m: &Module, insn: &Insn<'_>, ty: TypeId) -> Read<Option<ConstId>> {
        let Some(id) = insn.args.get(1) else { return Ok(None) };
        let init = self.constant(insn, *id)?;
        match m.constants.get(init).ty == ty {
            true => Ok(Some(init)),
            false => Err(insn.wrong("the initial value has another type")),
        }
    }

    fn add(
        &self,
        m: &mut Module,
        insn: &Insn<'_>,
        (space, ty): (Space, TypeId),
        binding: Binding,
        init: Option<ConstId>,
    ) -> GlobalId {
        let mut access = access_of(self.decorations(insn.id));
        if let (Space::Storage, Some(Type::Struct(of))) = (space, Some(m.types.get(m.types.innermost(ty)))) {
            access |= common_access(m, of);
        }
        let (name, span) = (self.name(insn.id).into(), self.span(insn.line));
        m.globals.push(Global { name, span, space, ty, binding, access, init })
    }

    fn binding(&self, insn: &Insn<'_>, space: Space) -> Read<Binding> {
        let list = self.decorations(insn.id);
        let of = |decoration| self.number(insn.id, decoration);
        Ok(match space {
            Space::Uniform | Space::Storage | Space::Handle => {
                let binding = of(Decoration::Binding);
                let binding = binding.ok_or_else(|| insn.unread("a resource without a `Binding` is not read"))?;
                let set = of(Decoration::DescriptorSet).unwrap_or(0);
                match of(Decoration::InputAttachmentIndex) {
                    Some(index) => Binding::Attachment { set, binding, index },
                    None => Binding::Resource { set, binding },
                }
            }
            Space::Input | Space::Output => match of(Decoration::BuiltIn) {
                Some(number) => {
                    let known = Number::from_u32(number).and_then(built_in_of);
                    let known =
                        known.ok_or_else(|| insn.unread(format!("the built-in variable {number} is not read")))?;
                    Binding::BuiltIn(known)
                }
                None => location_of(list),
            },
            _ => Binding::None,
        })
    }

    /// The variables for the members of a block of built-in inputs or outputs; `None` for other variables.
    fn members_of(&mut self, m: &mut Module, insn: &Insn<'_>, space: Space, ty: TypeId) -> Option<Vec<GlobalId>> {
        if !matches!(space, Space::Input | Space::Output) {
            return None;
        }
        let (of, len) = match m.types.get(ty) {
            Type::Struct(of) => (of, None),
            Type::Array { element, len, .. } => match m.types.get(element) {
                Type::Struct(of) => (of, Some(len)),
                _ => return None,
            },
            _ => return None,
        };
        let members = m.types.structs[of].members.clone();
        let is_built_in = |binding: &Binding| matches!(binding, Binding::BuiltIn(_));
        if members.is_empty() || !members.iter().all(|member| is_built_in(&member.binding)) {
            return None;
        }
        let made = members.into_iter().map(|member| {
            let ty = len.map_or(member.ty, |len| m.types.array(member.ty, len));
            let (name, span, binding) = (member.name, self.span(insn.line), member.binding);
            m.globals.push(Global { name, span, space, ty, binding, access: member.access, init: None })
        });
        Some(made.collect())
    }
}

/// Refuses decorations that say what `ir` would have to keep.
pub fn refuse(insn: &Insn<'_>, list: &[Decorated<'_>]) -> Read<()> {
    let matters = |(decoration, operands): &&Decorated<'_>| match decoration {
        Decoration::Stream => operands.first() != Some(&0),
        Decoration::XfbBuffer | Decoration::XfbStride | Decoration::PassthroughNV | Decoration::PerTaskNV => true,
        Decoration::PerViewNV | Decoration::ViewportRelativeNV | Decoration::SecondaryViewportRelativeNV => true,
        Decoration::OverrideCoverageNV | Decoration::WeightTextureQCOM => true,
        Decoration::BlockMatchTextureQCOM | Decoration::BlockMatchSamplerQCOM => true,
        _ => false,
    };
    match list.iter().find(matters) {
        Some((decoration, _)) => Err(insn.unread(format!("the decoration `{decoration:?}` is not read"))),
        None => Ok(()),
    }
}

/// The qualifiers that all members of a block have.
fn common_access(m: &Module, of: StructId) -> Access {
    let shared = Access::READONLY | Access::WRITEONLY | Access::COHERENT | Access::VOLATILE;
    let members = m.types.structs[of].members.iter().map(|member| member.access & shared);
    members.reduce(|all, one| all & one).unwrap_or_default()
}
