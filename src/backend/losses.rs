//! Warnings about qualifiers that the text cannot express.

use crate::diagnostic::{Code, Diagnostic, cannot_write};
use crate::ir::{
    Access, Binding, BuiltIn, Function, Global, Inst, InstFlags, Module, Op, Space, Type, Value, can_contract,
};
use crate::profile::Profile;
use crate::source::Span;

/// The qualifiers that a language's texts keep.
#[derive(Clone, Copy, Debug)]
pub struct Kept {
    /// True if contraction of floats can be prevented, and is.
    pub precise: bool,
    /// True if the language can prevent contraction.
    pub can_be_precise: bool,
    /// The first version with device-coherent buffers; `None` if there is none.
    pub coherent_since: Option<(u8, u8)>,
    /// True if images can be coherent too, and are.
    pub coherent_images: bool,
    /// True if points can be of several pixels.
    pub point_sizes: bool,
}

/// The qualifiers of memory that is visible to other invocations immediately.
pub const SEEN_BY_OTHERS: Access = Access::COHERENT.union(Access::VOLATILE).union(Access::DEVICE);

/// The qualifiers of a variable and of the members of its block.
pub fn shared_access(module: &Module, global: &Global) -> Access {
    let of_members = members(module, global).map(|(access, ..)| access);
    of_members.fold(global.access, Access::union)
}

/// The qualifiers, places and bindings of the members of a variable's block.
fn members<'m>(module: &'m Module, global: &Global) -> impl Iterator<Item = (Access, Span, Binding)> + use<'m> {
    let members = match module.types.get(global.ty) {
        Type::Struct(id) => module.types.structs[id].members.as_slice(),
        _ => &[],
    };
    members.iter().map(|member| (member.access, member.span, member.binding))
}

/// A warning for the first of each kind of qualifier that is lost.
pub fn losses(module: &Module, profile: &Profile, kept: Kept) -> Vec<Diagnostic> {
    let name = profile.target.row().language;
    let precise = precise(module).filter(|_| !kept.precise).map(|span| {
        let message = if kept.can_be_precise {
            format!("{}: this may be contracted with other operations", cannot_write("`precise`", name))
        } else {
            format!("{name} has no `precise`: this may be contracted with other operations")
        };
        let warning = Diagnostic::warning(Code::PRECISE_LOST, message).at(span, "");
        warning.help("where its last bits matter, compile for SPIR-V or an assembly target")
    });
    let lost = |span, message, help: &str| Diagnostic::warning(Code::QUALIFIER_LOST, message).at(span, "").help(help);
    let atomics = "use atomic functions for what other invocations read";
    let coherent = coherent(module, profile, kept).map(|span| match kept.coherent_since {
        Some((major, minor)) if profile.version < (major, minor) => lost(
            span,
            format!(
                "{name} has coherent memory from {major}.{minor} on: other invocations may not see what is written here"
            ),
            atomics,
        ),
        Some(_) => lost(span, cannot_write("coherent images", name), atomics),
        None => lost(
            span,
            format!(
                "{name} has no coherent memory: other invocations may not see what is written here, but by atomics"
            ),
            atomics,
        ),
    });
    let invariant = invariant(module).map(|span| {
        let help = "passes that must agree on this output should use one compiled shader";
        lost(span, cannot_write("invariant outputs but the position", name), help)
    });
    let feedback = module.feedback.first().map(|fed| {
        let message = format!("{name} has no transform feedback: the pipeline says which outputs it keeps");
        lost(module.globals[fed.global].span, message, "name the outputs to keep where the pipeline is made")
    });
    let size = point_size(module).filter(|_| !kept.point_sizes).map(|span| {
        let message = format!("{name} has no sizes of points: they are one pixel wide");
        lost(span, message, "draw larger points as two triangles each")
    });
    precise.into_iter().chain(coherent).chain(invariant).chain(feedback).chain(size).collect()
}

/// The first operation on floats that is `precise`.
fn precise(module: &Module) -> Option<Span> {
    let is_precise = |inst: &&Inst| {
        let may_round = matches!(inst.op, Op::Binary(..) | Op::Math(..)) && can_contract(inst, &module.types);
        inst.flags.contains(InstFlags::PRECISE) && may_round
    };
    let mut all = module.functions.iter().flat_map(|(_, f)| f.insts.iter().map(|(_, inst)| inst));
    all.find(is_precise).map(|inst| inst.span)
}

/// The first variable that is declared coherent and cannot be.
fn coherent(module: &Module, profile: &Profile, kept: Kept) -> Option<Span> {
    let keeps = |space| {
        let is_kept = space == Space::Storage || kept.coherent_images;
        is_kept && kept.coherent_since.is_some_and(|since| profile.version >= since)
    };
    let is_lost = |global: &&Global| {
        matches!(global.space, Space::Storage | Space::Handle)
            && shared_access(module, global).intersects(SEEN_BY_OTHERS)
            && !keeps(global.space)
    };
    module.globals.iter().map(|(_, global)| global).find(is_lost).map(|global| global.span)
}

/// The first output that is `invariant` and not the position.
fn invariant(module: &Module) -> Option<Span> {
    let outputs = module.globals.iter().map(|(_, global)| global).filter(|global| global.space == Space::Output);
    let parts = outputs.flat_map(|global| {
        let whole = (global.access, global.span, global.binding);
        std::iter::once(whole).chain(members(module, global))
    });
    let is_lost = |(access, _, binding): &(Access, Span, Binding)| {
        access.contains(Access::INVARIANT) && *binding != Binding::BuiltIn(BuiltIn::Position)
    };
    parts.into_iter().find(is_lost).map(|(_, span, _)| span)
}

/// The first store of a point size other than 1.
fn point_size(module: &Module) -> Option<Span> {
    const SIZE: BuiltIn = BuiltIn::PointSize;
    let one = u64::from(1.0f32.to_bits());
    let bits = |value| if let Value::Const(id) = value { module.constants.bits(id) } else { None };
    let mut all = module.functions.iter().flat_map(|(_, f)| f.insts.iter().map(move |(_, inst)| (f, inst)));
    let is_lost = |(f, inst): &(&Function, &Inst)| match inst.op {
        Op::Store { pointer, value } => is_output(module, f, pointer, SIZE) && bits(value) != Some(one),
        Op::Call(_, args) => f.values(args).iter().any(|arg| is_output(module, f, *arg, SIZE)),
        _ => false,
    };
    all.find(is_lost).map(|(_, inst)| inst.span)
}

/// Returns true for a pointer to a built-in output.
pub fn is_output(module: &Module, f: &Function, pointer: Value, of: BuiltIn) -> bool {
    let is_it = |binding| binding == Binding::BuiltIn(of);
    let (base, indices) = match pointer {
        Value::Global(base) => (base, &[][..]),
        Value::Inst(at) => match f.insts[at].op {
            Op::Access { base: Value::Global(base), indices } => (base, f.values(indices)),
            _ => return false,
        },
        _ => return false,
    };
    let global = &module.globals[base];
    let member = match (module.types.get(module.types.innermost(global.ty)), indices) {
        (Type::Struct(of), [.., index]) => module
            .known_u32(*index)
            .and_then(|index| module.types.structs[of].members.get(index as usize))
            .is_some_and(|member| is_it(member.binding)),
        _ => false,
    };
    global.space == Space::Output && (member || is_it(global.binding))
}
