//! Blocks: which rule of the language puts their members where they are.

use super::writer::Writer;
use crate::ir::layout::{Layouts, MemberRule, Rule};
use crate::ir::{Space, StructId, Type, TypeId};

/// How a block is to be declared.
pub(super) struct BlockLayout {
    /// `std430` and the like.
    pub rule: &'static str,
    /// For each member what `layout(…)` says.
    pub members: Vec<String>,
}

const RULES: [(Rule, &str, Option<&str>); 3] = [
    (Rule::Std430, "std430", None),
    (Rule::Std140, "std140", None),
    (Rule::Scalar, "scalar", Some("GL_EXT_scalar_block_layout")),
];

/// Offsets that are looked for one by one at most.
const MOST_OFFSETS: usize = 8;

impl Writer<'_> {
    /// The layout of a block; none where no rule gives it.
    pub fn block_layout(&mut self, id: StructId, space: Space) -> Option<BlockLayout> {
        let uniform_first = [1, 0, 2];
        let order = if space == Space::Uniform { uniform_first } else { [0, 1, 2] };
        for explicit in [false, true] {
            for at in order {
                let (rule, name, extension) = RULES[at];
                if space == Space::Uniform && rule == Rule::Std430 {
                    continue;
                }
                if self.dialect.is_es && (explicit || rule == Rule::Scalar) {
                    continue;
                }
                let Some(members) = self.members_by(id, rule, explicit) else { continue };
                if let Some(extension) = extension {
                    self.need(extension);
                }
                return Some(BlockLayout { rule: name, members });
            }
        }
        None
    }

    /// The qualifiers of members by which a rule puts them where they are: offsets where it would not, if the language has them.
    fn members_by(&mut self, id: StructId, rule: Rule, has_offsets: bool) -> Option<Vec<String>> {
        let laid = self.types.structs[id].clone();
        let logical = laid.logical?;
        let mut rules = Vec::new();
        for member in &laid.members {
            let order = [false, true].into_iter().find(|row_major| {
                let ty = self.types.logical(member.ty);
                let found = Layouts::new().lay_out(&mut self.scratch, ty, rule, *row_major);
                found.is_ok_and(|found| self.lies_alike(found.ty, member.ty))
            })?;
            rules.push(MemberRule { offset: None, align: None, row_major: Some(order) });
        }
        let offsets: Vec<_> = laid.members.iter().map(|member| member.offset).collect();
        let mut given = 0;
        while let Some(first) = self.misplaced(logical, rule, &rules, &offsets)? {
            // A member that lies elsewhere although it says where it lies cannot lie there.
            if !has_offsets || rules[first].offset.is_some() {
                return None;
            }
            given += 1;
            let upto = if given > MOST_OFFSETS { rules.len() } else { first + 1 };
            (first..upto).for_each(|at| rules[at].offset = offsets[at]);
        }
        let said = laid.members.iter().zip(&rules).map(|(member, rule)| {
            let offset = rule.offset.map(|offset| format!("offset = {offset}"));
            let has_rows = rule.row_major == Some(true) && self.has_matrix(member.ty);
            let order = has_rows.then(|| "row_major".to_string());
            offset.into_iter().chain(order).collect::<Vec<_>>().join(", ")
        });
        Some(said.collect())
    }

    /// The first member that lies elsewhere than it must; none at all where the rule does not lay the struct out.
    fn misplaced(
        &mut self,
        logical: StructId,
        rule: Rule,
        rules: &[MemberRule],
        offsets: &[Option<u32>],
    ) -> Option<Option<usize>> {
        let made = Layouts::new().lay_out_struct(&mut self.scratch, logical, rule, false, rules).ok()?;
        let Type::Struct(made) = self.scratch.types.get(made.ty) else { return None };
        let made = self.scratch.types.structs[made].members.iter().map(|member| member.offset);
        Some(made.zip(offsets).position(|(made, wanted)| made != *wanted))
    }

    fn has_matrix(&self, ty: TypeId) -> bool {
        match self.types.get(ty) {
            Type::Matrix { .. } => true,
            Type::Array { element, .. } => self.has_matrix(element),
            Type::Struct(id) => self.types.structs[id].members.iter().any(|member| self.has_matrix(member.ty)),
            _ => false,
        }
    }

    /// Returns true if a type of the scratch module lies in memory as one of the module.
    fn lies_alike(&self, made: TypeId, laid: TypeId) -> bool {
        match (self.scratch.types.get(made), self.types.get(laid)) {
            (Type::Array { element: a, stride: s, .. }, Type::Array { element: b, stride: t, .. }) => {
                s == t && self.lies_alike(a, b)
            }
            (Type::Struct(a), Type::Struct(b)) => {
                let (a, b) = (&self.scratch.types.structs[a].members, &self.types.structs[b].members);
                a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.offset == b.offset && self.lies_alike(a.ty, b.ty))
            }
            (a, b) => a == b,
        }
    }
}
