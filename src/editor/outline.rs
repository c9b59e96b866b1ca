//! The declarations of a file as a tree.

use super::{Analysis, Place};
use crate::source::Span;
use crate::symbols::{Declaration, Kind};

/// A declaration and the declarations inside it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Outline {
    pub name: String,
    /// The declaration on one line.
    pub detail: String,
    pub kind: Kind,
    pub whole: Place,
    pub at: Place,
    pub children: Vec<Outline>,
}

impl Analysis {
    /// The declarations of a file in order. Names inside a function are its children; members are children of their
    /// struct or block.
    pub fn outline(&self, file: &str) -> Vec<Outline> {
        let Some(start) = self.position(file, 0) else { return Vec::new() };
        let end = self
            .sources
            .files()
            .iter()
            .find(|known| known.base == start)
            .map_or(start, |f| start + f.text.len() as u32);
        let here = |declaration: &&Declaration| declaration.name.lo >= start && declaration.name.hi <= end;
        let mut top: Vec<(&Declaration, Outline)> = Vec::new();
        let mut inner: Vec<(&Declaration, Outline)> = Vec::new();
        for declaration in self.known().declarations.iter().filter(here) {
            let Some(item) = self.outlined(declaration) else { continue };
            let is_inner = declaration.owner.is_some() || declaration.scope.is_some();
            if is_inner { inner.push((declaration, item)) } else { top.push((declaration, item)) }
        }
        for (declaration, item) in inner {
            let parent = top.iter_mut().find(|(parent, _)| match declaration.owner {
                Some(owner) => parent.name == owner,
                None => parent.kind == Kind::Function && contains(parent.whole, declaration.name),
            });
            if let Some((_, parent)) = parent {
                parent.children.push(item);
            }
        }
        top.into_iter().map(|(_, item)| item).collect()
    }

    fn outlined(&self, declaration: &Declaration) -> Option<Outline> {
        let at = self.place(declaration.name)?;
        // The call of a macro declared it.
        if self.text(declaration.name).contains(['(', ' ']) {
            return None;
        }
        let whole = self
            .place(declaration.whole)
            .filter(|whole| whole.file == at.file && whole.start <= at.start && at.end <= whole.end);
        Some(Outline {
            name: self.text(declaration.name).into(),
            detail: self.head(declaration),
            kind: declaration.kind,
            whole: whole.unwrap_or_else(|| at.clone()),
            at,
            children: Vec::new(),
        })
    }
}

fn contains(outer: Span, inner: Span) -> bool {
    outer.lo <= inner.lo && inner.hi <= outer.hi
}
