//! WGSL language extensions (WGSL 4.1.2) that naga does not know: accepts their names in `requires`, and rewrites their
//! syntax to forms that naga reads.
//!
//! - An assignment to a swizzle, `v.zx = e;`, becomes a block with a variable of the swizzle's type. The left side is
//!   evaluated once and first, as WGSL requires, and the components are written after `e` is known.
//! - `@builtin(global_invocation_index)` and `@builtin(workgroup_index)` get the names of built-in values that compute
//!   shaders do not have: [`LINEAR`]. naga reads these, [`as_known`] hides them from its validator, and the translation
//!   computes them.
//! - The depth mode of `@builtin(frag_depth, less)` is dropped. It is only a promise, and nothing else depends on it.

use super::lexer::{Kind, Token};
use super::offsets::Edit;
use naga::{Binding, BuiltIn, Module, TypeInner};

/// The names that `requires` accepts in addition to naga's.
pub(super) const READ: [&str; 9] = [
    "fragment_depth",
    "immediate_address_space",
    "linear_indexing",
    "subgroup_id",
    "subgroup_uniformity",
    "swizzle_assignment",
    "texture_and_sampler_let",
    "texture_formats_tier1",
    STANDARD_LAYOUT,
];

/// Uniform buffers have the layout of storage buffers.
pub(super) const STANDARD_LAYOUT: &str = "uniform_buffer_standard_layout";

/// Names that other compilers know and crosslane refuses.
pub(super) const NOT_READ: [&str; 2] = ["buffer_view", "sized_binding_array"];

/// The built-in values of `linear_indexing`, with the names and values in naga that replace them.
pub(super) const LINEAR: [(&str, &str, BuiltIn); 2] = [
    ("global_invocation_index", "geometry_index", BuiltIn::GeometryIndex),
    ("workgroup_index", "instance_custom_data", BuiltIn::InstanceCustomData),
];

/// Built-in values of type `u32` that every compute shader can have, used as substitutes.
const KNOWN: [BuiltIn; 5] = [
    BuiltIn::LocalInvocationIndex,
    BuiltIn::SubgroupSize,
    BuiltIn::SubgroupInvocationId,
    BuiltIn::SubgroupId,
    BuiltIn::NumSubgroups,
];

/// naga's note, reworded if it is about an assignment to a swizzle that was not rewritten.
pub(super) fn explained(note: &str) -> &str {
    match note {
        "WGSL does not support assignments to swizzles" => {
            "a swizzle that is assigned to names each component once, outside of the header of a `for`"
        }
        _ => note,
    }
}

/// The edits that rewrite the extensions' syntax for naga, from token `from` on. No name starts with `prefix`.
pub(super) fn edits(source: &str, tokens: &[Token], from: usize, prefix: &str) -> Vec<Edit> {
    let members = members(source, tokens);
    let mut rewriter = Rewriter { source, tokens, members, prefix, edits: Vec::new() };
    for at in from..tokens.len() {
        rewriter.built_in(at);
    }
    rewriter.swizzles(from);
    rewriter.edits
}

/// Names with a `:` after them, which may be members of structs.
fn members<'a>(source: &'a str, tokens: &[Token]) -> Vec<&'a str> {
    let pairs = tokens.windows(2).filter(|pair| pair[0].kind == Kind::Word && pair[1].is(b':'));
    pairs.map(|pair| pair[0].text(source)).collect()
}

/// The components of a swizzle, if it has several that are all different.
fn components(name: &str) -> Option<&str> {
    let is_of = |set: &str| name.chars().all(|c| set.contains(c));
    let differ = name.char_indices().all(|(at, c)| !name[..at].contains(c));
    ((2..=4).contains(&name.len()) && (is_of("xyzw") || is_of("rgba")) && differ).then_some(name)
}

/// Words that start statements other than assignments.
const STATEMENTS: [&str; 16] = [
    "break",
    "case",
    "const",
    "const_assert",
    "continue",
    "continuing",
    "default",
    "discard",
    "else",
    "for",
    "if",
    "let",
    "loop",
    "return",
    "switch",
    "var",
];

struct Rewriter<'a> {
    source: &'a str,
    tokens: &'a [Token],
    members: Vec<&'a str>,
    prefix: &'a str,
    edits: Vec<Edit>,
}

impl Rewriter<'_> {
    fn text(&self, at: usize) -> &str {
        self.tokens.get(at).map_or("", |token| token.text(self.source))
    }

    fn is(&self, at: usize, punct: u8) -> bool {
        self.tokens.get(at).is_some_and(|token| token.is(punct))
    }

    fn replace(&mut self, (lo, hi): (u32, u32), text: String) {
        self.edits.push(Edit { lo, hi, text });
    }

    /// The name after `@builtin(` at token `at`.
    fn built_in(&mut self, at: usize) {
        if !(self.is(at, b'@') && self.text(at + 1) == "builtin" && self.is(at + 2, b'(')) {
            return;
        }
        let Some(name) = self.tokens.get(at + 3).copied() else { return };
        if let Some((_, theirs, _)) = LINEAR.iter().find(|(ours, ..)| *ours == name.text(self.source)) {
            if !self.source.contains(theirs) {
                self.replace((name.lo, name.hi), (*theirs).to_owned());
            }
            return;
        }
        let has_mode = self.text(at + 3) == "frag_depth"
            && self.is(at + 4, b',')
            && matches!(self.text(at + 5), "any" | "greater" | "less");
        if has_mode {
            let (lo, hi) = (self.tokens[at + 4].lo, self.tokens[at + 5].hi);
            self.replace((lo, hi), " ".repeat((hi - lo) as usize));
        }
    }

    /// Assignments to swizzles among the statements.
    fn swizzles(&mut self, from: usize) {
        let (mut open, mut start) = (Vec::new(), from);
        for at in from..self.tokens.len() {
            match self.tokens[at].kind {
                Kind::Punct(bracket @ (b'(' | b'[' | b'{')) => open.push(bracket),
                Kind::Punct(b')' | b']' | b'}') => drop(open.pop()),
                Kind::Punct(b'.') if open.last() == Some(&b'{') => self.swizzle(start, at),
                _ => {}
            }
            if matches!(self.tokens[at].kind, Kind::Punct(b'{' | b'}' | b';')) {
                start = at + 1;
            }
        }
    }

    /// The assignment that starts at token `start`, if its target ends in a swizzle after the point at token `at`.
    fn swizzle(&mut self, start: usize, at: usize) {
        let Some(components) = components(self.text(at + 1)).map(str::to_owned) else { return };
        let Some(after) = self.assigned(at + 2).filter(|_| self.is_place(start, at)) else { return };
        if self.members.contains(&components.as_str()) {
            return;
        }
        let Some(end) = self.end_of_statement(after) else { return };
        let number = self.edits.len();
        let (pointer, value) = (format!("{}_p{number}", self.prefix), format!("{}_v{number}", self.prefix));
        let [first, point, last] = [start, at, end].map(|at| self.tokens[at]);
        let has_index = (start..at).any(|at| self.is(at, b'['));
        let place = match has_index {
            true => format!("(*{pointer})"),
            false => self.source[first.lo as usize..point.lo as usize].to_owned(),
        };
        let ends = self.tokens[after - 1].hi;
        let operator = &self.source[self.tokens[at + 2].lo as usize..ends as usize];
        let before = format!("var {value} = {place}.{components}; {value} {operator}");
        let writes: String = components
            .chars()
            .zip("xyzw".chars())
            .map(|(to, from)| format!(" {place}.{to} = {value}.{from};"))
            .collect();
        if has_index {
            // The left side stays in place and is evaluated there.
            self.replace((first.lo, first.lo), format!("{{ let {pointer} = &("));
            self.replace((point.lo, ends), format!("); {before}"));
        } else {
            self.replace((first.lo, ends), format!("{{ {before}"));
        }
        self.replace((last.lo, last.hi), format!(";{writes} }}"));
    }

    /// The token after the operator of an assignment that starts at token `at`.
    fn assigned(&self, at: usize) -> Option<usize> {
        let adjacent = |at: usize| self.tokens.get(at + 1).is_some_and(|next| next.lo == self.tokens[at].hi);
        if self.is(at, b'=') {
            return (!(self.is(at + 1, b'=') && adjacent(at))).then_some(at + 1);
        }
        let Kind::Punct(operator) = self.tokens.get(at)?.kind else { return None };
        let length = match operator {
            b'+' | b'-' | b'*' | b'/' | b'%' | b'&' | b'|' | b'^' => 1,
            b'<' | b'>' if self.is(at + 1, operator) && adjacent(at) => 2,
            _ => return None,
        };
        let equals = at + length;
        (self.is(equals, b'=') && adjacent(equals - 1)).then_some(equals + 1)
    }

    /// Returns true if tokens can be the left side of an assignment: names, members, indices and dereferences.
    fn is_place(&self, start: usize, end: usize) -> bool {
        let mut depth = 0usize;
        let plain = (start..end).all(|at| {
            let kind = self.tokens[at].kind;
            match kind {
                Kind::Punct(b'(' | b'[') => depth += 1,
                Kind::Punct(b')' | b']') => depth = depth.saturating_sub(1),
                _ => {}
            }
            depth > 0 || matches!(kind, Kind::Word | Kind::Punct(b'.' | b')' | b']' | b'*' | b'&'))
        });
        plain && start < end && !STATEMENTS.contains(&self.text(start))
    }

    /// The semicolon after token `from`.
    fn end_of_statement(&self, from: usize) -> Option<usize> {
        (from..self.tokens.len()).find(|at| self.is(*at, b';'))
    }
}

/// The changed bindings of a module, to be undone.
pub(super) struct Hidden(Vec<(BuiltIn, BuiltIn)>);

/// Replaces the values of [`LINEAR`] by ones that naga's validator accepts in compute shaders. Returns false if there
/// are not enough.
pub(super) fn as_known(module: &mut Module) -> Option<Hidden> {
    let used = built_ins(module);
    let mut free = KNOWN.into_iter().filter(|known| !used.contains(known));
    let linear = LINEAR.into_iter().map(|(.., of)| of).filter(|of| used.contains(of));
    let pairs: Option<Vec<_>> = linear.map(|of| Some((of, free.next()?))).collect();
    let hidden = Hidden(pairs?);
    rename(module, |of| hidden.0.iter().find(|(ours, _)| *ours == of).map(|(_, known)| *known));
    Some(hidden)
}

impl Hidden {
    /// Restores the values.
    pub(super) fn undo(self, module: &mut Module) {
        rename(module, |of| self.0.iter().find(|(_, known)| *known == of).map(|(ours, _)| *ours));
    }
}

/// The built-in values that a module names anywhere.
fn built_ins(module: &mut Module) -> Vec<BuiltIn> {
    let mut used = Vec::new();
    rename(module, |of| {
        used.push(of);
        None
    });
    used
}

fn rename(module: &mut Module, mut new: impl FnMut(BuiltIn) -> Option<BuiltIn>) {
    let mut change = |binding: &mut Option<Binding>| {
        if let Some(Binding::BuiltIn(of)) = binding
            && let Some(new) = new(*of)
        {
            *of = new;
            return true;
        }
        false
    };
    for entry in &mut module.entry_points {
        for argument in &mut entry.function.arguments {
            change(&mut argument.binding);
        }
    }
    let structs: Vec<_> = module.types.iter().map(|(handle, ty)| (handle, ty.clone())).collect();
    for (handle, mut ty) in structs {
        let TypeInner::Struct { members, .. } = &mut ty.inner else { continue };
        let mut changed = false;
        for member in members {
            changed |= change(&mut member.binding);
        }
        if changed {
            module.types.replace(handle, ty);
        }
    }
}
