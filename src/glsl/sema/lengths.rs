//! Arrays without a size inside blocks, before the last member: their constant indices determine their length (GLSL
//! 4.60 section 4.1.9). A shader with such arrays is resolved twice, because offsets depend on lengths: the first time
//! finds the largest indices, the second time uses the resulting sizes. Blocks of buffer references need explicit
//! sizes.

use super::Sema;
use super::lvalue::LValue;
use crate::diagnostic::{Code, Diagnostic};
use crate::ir::build::Builder;
use crate::ir::{ArrayLen, StructId, Type, TypeId, Value};
use crate::source::Span;

/// A member whose length is not known yet, and its minimum length.
#[derive(Debug)]
pub struct Open {
    /// Index among the open members of the shader.
    number: usize,
    block: StructId,
    member: u32,
    declared: Span,
    pub length: u32,
}

impl Sema<'_> {
    /// The type of a member that is not the last one, with the length that was found if it is an array. `Err` is the
    /// index of an array without a length so far.
    pub fn with_length(&mut self, b: &mut Builder<'_>, ty: TypeId) -> Result<TypeId, usize> {
        let Type::Array { element, len: ArrayLen::Runtime, .. } = b.module.types.get(ty) else { return Ok(ty) };
        let number = self.open_count;
        self.open_count += 1;
        match self.lengths.get(number) {
            Some(length) => Ok(b.module.types.array(element, ArrayLen::Fixed(*length))),
            None => Err(number),
        }
    }

    /// Remembers a member of a block that has been laid out.
    pub fn open_member(&mut self, b: &Builder<'_>, ty: TypeId, number: usize, member: u32, declared: Span) {
        if let Type::Struct(block) = b.module.types.get(ty) {
            self.open_members.push(Open { number, block, member, declared, length: 1 });
        }
    }

    /// The open member that a place denotes.
    pub fn find_open(&self, b: &mut Builder<'_>, lvalue: &LValue) -> Option<usize> {
        if self.open_members.is_empty() {
            return None;
        }
        let Value::Global(id) = lvalue.root else { return None };
        let (last, path) = lvalue.path.split_last()?;
        let mut ty = b.module.globals[id].ty;
        for index in path {
            ty = b.module.types.element(ty, known(b, *index).unwrap_or(0))?;
        }
        let Type::Struct(block) = b.module.types.get(ty) else { return None };
        let member = known(b, *last)?;
        self.open_members.iter().position(|open| open.block == block && open.member == member)
    }

    /// Extends an open member to include an index.
    pub fn note_member_index(&mut self, b: &mut Builder<'_>, lvalue: &LValue, at: Value, span: Span) {
        let Some(slot) = self.find_open(b, lvalue) else { return };
        let open = &mut self.open_members[slot];
        let declared = open.declared;
        match known(b, at) {
            Some(at) => open.length = open.length.max(at.saturating_add(1)),
            None => {
                let message = "this array needs a size before it is indexed at run time";
                let diagnostic = Diagnostic::error(Code::BAD_TYPE, message).at(span, "not constant");
                self.report(diagnostic.with(declared, "only the last member of a storage block can do without"));
            }
        }
    }

    /// Reports an open member that is used as a whole, so that no index shows its length.
    pub fn refuse_open(&mut self, b: &mut Builder<'_>, lvalue: &LValue, span: Span) -> Option<()> {
        let Some(slot) = self.find_open(b, lvalue) else { return Some(()) };
        let declared = self.open_members[slot].declared;
        let diagnostic = Diagnostic::error(Code::BAD_TYPE, "this array needs a size before it is handed over");
        self.report(diagnostic.at(span, "used as a whole").with(declared, "no size"));
        None
    }

    /// The lengths of the open members, if there are any: in the order of their numbers.
    pub fn found_lengths(&self) -> Option<Vec<u32>> {
        let mut found: Vec<(usize, u32)> = self.open_members.iter().map(|open| (open.number, open.length)).collect();
        found.sort_unstable();
        (!found.is_empty()).then(|| found.into_iter().map(|(_, length)| length).collect())
    }
}

pub fn known(b: &Builder<'_>, index: Value) -> Option<u32> {
    match index {
        Value::Const(id) => b.module.constants.as_int(&b.module.types, id).and_then(|at| u32::try_from(at).ok()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use crate::compile::{Artifact, Input, Language, Options, Verdict, compile};
    use crate::profile::Profile;
    use crate::source::NoIncludes;

    const SHADER: &str = "#version 450
        layout(local_size_x = 4) in;
        struct Cell { uint x; vec3 y; };
        const int LAST = 2 + 1;
        layout(std430, binding = 0) buffer A { uint first[FOUR], between; Cell cells[TWO]; uint grid[THREE][3];
                                               float unused[ONE]; uint rest[]; } a;
        layout(std140, binding = 1) uniform B { int steps[THREE]; int behind; };
        layout(std430, binding = 2) buffer C { uvec2 pairs[FOUR]; uint last; } c[2];
        void main() {
            uint i = gl_LocalInvocationIndex;
            a.rest[i] = a.first[LAST] + a.first[0] + a.between + uint(steps[LAST - 1] + behind);
            a.grid[2][i % 3u] = a.cells[1].x + uint(a.cells[1].y.z) + uint(a.rest.length());
            c[1].last = c[0].pairs[3].x + c[1].pairs[1].y;
        }";

    fn module(lengths: [&str; 4]) -> Vec<u32> {
        let names = ["ONE", "TWO", "THREE", "FOUR"];
        let text = names.iter().zip(lengths).fold(SHADER.to_owned(), |text, (name, length)| text.replace(name, length));
        let options = Options::new(Profile::named("spirv-1.6").unwrap());
        let input = Input { name: "shader", bytes: text.as_bytes(), language: Language::Glsl };
        let done = compile(&input, &options, &NoIncludes);
        match done.verdict {
            Verdict::Done(Artifact::Spirv(words)) => words,
            _ => panic!("{:#?}", done.diagnostics),
        }
    }

    #[test]
    fn the_largest_constant_indices_are_sizes() {
        let sized = module(["1", "2", "3", "4"]);
        assert_eq!(module([""; 4]), sized);
        assert_eq!(module(["1", "", "3", ""]), sized);
        assert_ne!(module(["1", "2", "4", "4"]), sized);
    }
}
