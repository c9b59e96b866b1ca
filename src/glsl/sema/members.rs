//! Members of structs and blocks by their names.

use super::Sema;
use crate::diagnostic::Code;
use crate::glsl::ast;
use crate::glsl::token::Symbol;
use crate::ir::{Name, StructId, Types};
use rustc_hash::{FxHashMap, FxHashSet};

/// Maximum number of members for a linear search.
const FEW: usize = 16;

/// The numbers of the members of structs that have many.
#[derive(Default)]
pub struct MemberNumbers {
    of: FxHashMap<StructId, FxHashMap<Name, usize>>,
}

impl MemberNumbers {
    /// The number of the member with a name.
    pub fn find(&mut self, types: &Types, of: StructId, name: &str) -> Option<usize> {
        let members = &types.structs[of].members;
        if members.len() <= FEW {
            return members.iter().position(|member| member.name == *name);
        }
        let numbers = self.of.entry(of).or_default();
        if numbers.is_empty() {
            numbers.extend(members.iter().enumerate().rev().map(|(number, member)| (member.name.clone(), number)));
        }
        numbers.get(&Name::from(name)).copied()
    }
}

impl Sema<'_> {
    /// Checks that members of one struct or block have different names; `names` contains the names so far.
    pub fn check_new_member(&mut self, names: &mut FxHashSet<Symbol>, name: ast::Name) {
        if !names.insert(name.symbol) {
            let message = format!("there are two members `{}`", self.text(name.symbol));
            self.error(Code::REDECLARED, name.span, message, "the second one");
        }
    }
}
