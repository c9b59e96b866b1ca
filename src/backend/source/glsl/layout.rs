//! Blocks: finds the layout rule that gives their members' offsets.

use super::{Dialect, versions};
use crate::backend::source::writer::Writer;
use crate::ir::layout::{Layouts, MemberRule, Rule};
use crate::ir::{Space, StructId, Type, TypeId};

/// The declaration of a block.
pub(in crate::backend::source) struct BlockLayout {
    /// `std430` and the like.
    pub rule: &'static str,
    /// The `layout(…)` qualifiers of each member.
    pub members: Vec<String>,
}

const RULES: [(Rule, &str, Option<&str>); 3] = [
    (Rule::Std430, "std430", None),
    (Rule::Std140, "std140", None),
    (Rule::Scalar, "scalar", Some("GL_EXT_scalar_block_layout")),
];

/// Maximum number of offsets tested one by one.
const MOST_OFFSETS: usize = 8;

impl Dialect {
    /// The layout of a block; `None` if no rule matches.
    pub fn block_layout(&self, t: &mut Writer, id: StructId, space: Space) -> Option<BlockLayout> {
        let uniform_first = [1, 0, 2];
        let order = if space == Space::Uniform { uniform_first } else { [0, 1, 2] };
        for explicit in [false, true] {
            for at in order {
                let (rule, name, extension) = RULES[at];
                if space == Space::Uniform && rule == Rule::Std430 {
                    continue;
                }
                if explicit && !self.has(&versions::OFFSETS) || !self.is_vulkan && rule == Rule::Scalar {
                    continue;
                }
                let Some(members) = self.members_by(t, id, rule, explicit) else { continue };
                if explicit {
                    self.require(t, &versions::OFFSETS);
                }
                if let Some(extension) = extension {
                    t.need(extension);
                }
                return Some(BlockLayout { rule: name, members });
            }
        }
        None
    }

    /// The qualifiers that give members their offsets under a layout rule: explicit offsets where the rule differs, if
    /// the language has them.
    fn members_by(&self, t: &mut Writer, id: StructId, rule: Rule, has_offsets: bool) -> Option<Vec<String>> {
        let laid = t.types.structs[id].clone();
        let logical = laid.logical?;
        let mut rules = Vec::new();
        for member in &laid.members {
            let order = [false, true].into_iter().find(|row_major| {
                let ty = t.types.logical(member.ty);
                let found = Layouts::new().lay_out(&mut t.scratch, ty, rule, *row_major);
                found.is_ok_and(|found| self.lies_alike(t, found.ty, member.ty))
            })?;
            rules.push(MemberRule { offset: None, align: None, row_major: Some(order) });
        }
        let offsets: Vec<_> = laid.members.iter().map(|member| member.offset).collect();
        let mut given = 0;
        while let Some(first) = self.misplaced(t, logical, rule, &rules, &offsets)? {
            // A member with an explicit offset that still differs cannot have it.
            if !has_offsets || rules[first].offset.is_some() {
                return None;
            }
            given += 1;
            let upto = if given > MOST_OFFSETS { rules.len() } else { first + 1 };
            (first..upto).for_each(|at| rules[at].offset = offsets[at]);
        }
        let said = laid.members.iter().zip(&rules).map(|(member, rule)| {
            let offset = rule.offset.map(|offset| format!("offset = {offset}"));
            let has_rows = rule.row_major == Some(true) && self.has_matrix(t, member.ty);
            let order = has_rows.then(|| "row_major".to_string());
            offset.into_iter().chain(order).collect::<Vec<_>>().join(", ")
        });
        Some(said.collect())
    }

    /// The first member with a wrong offset; the outer `None` if the rule cannot lay out the struct.
    fn misplaced(
        &self,
        t: &mut Writer,
        logical: StructId,
        rule: Rule,
        rules: &[MemberRule],
        offsets: &[Option<u32>],
    ) -> Option<Option<usize>> {
        let made = Layouts::new().lay_out_struct(&mut t.scratch, logical, rule, false, rules).ok()?;
        let Type::Struct(made) = t.scratch.types.get(made.ty) else { return None };
        let made = t.scratch.types.structs[made].members.iter().map(|member| member.offset);
        Some(made.zip(offsets).position(|(made, wanted)| made != *wanted))
    }

    fn has_matrix(&self, t: &Writer, ty: TypeId) -> bool {
        match t.types.get(ty) {
            Type::Matrix { .. } => true,
            Type::Array { element, .. } => self.has_matrix(t, element),
            Type::Struct(id) => t.types.structs[id].members.iter().any(|member| self.has_matrix(t, member.ty)),
            _ => false,
        }
    }

    /// Returns true if a type of the scratch module has the memory layout of a type of the module.
    fn lies_alike(&self, t: &Writer, made: TypeId, laid: TypeId) -> bool {
        match (t.scratch.types.get(made), t.types.get(laid)) {
            (Type::Array { element: a, stride: first, .. }, Type::Array { element: b, stride: second, .. }) => {
                first == second && self.lies_alike(t, a, b)
            }
            (Type::Struct(a), Type::Struct(b)) => {
                let (a, b) = (&t.scratch.types.structs[a].members, &t.types.structs[b].members);
                a.len() == b.len()
                    && a.iter().zip(b).all(|(a, b)| a.offset == b.offset && self.lies_alike(t, a.ty, b.ty))
            }
            (a, b) => a == b,
        }
    }
}
