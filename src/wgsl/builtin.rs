//! Finds calls of crosslane's built-in functions in a WGSL text, and chooses the carriers that replace them for naga.
//!
//! naga assigns types only to calls of its own functions. A call whose result has the type of its first argument
//! becomes a subgroup shuffle, with a call of a stub as the index; the stub takes the other arguments. Any other call
//! becomes a call of a stub. A stub's first argument is the number of the call, so that user code cannot be mistaken
//! for a carrier.
//!
//! An argument that has no type in a stub (a generic parameter, or a pointer that the call writes through) becomes the
//! index of a shuffle of a number, because naga checks the index's type only in validation.

use crate::grammar::{self, Mode, Overload, Param, Shape, TypeExpr, Variable};
use crate::ir::Scalar;
use crate::source::Span;

/// Subgroup built-ins that naga 30 knows itself, in order.
const NATIVE: &[&str] = &[
    "quadBroadcast",
    "quadSwapDiagonal",
    "quadSwapX",
    "quadSwapY",
    "subgroupAdd",
    "subgroupAll",
    "subgroupAnd",
    "subgroupAny",
    "subgroupBallot",
    "subgroupBarrier",
    "subgroupBroadcast",
    "subgroupBroadcastFirst",
    "subgroupExclusiveAdd",
    "subgroupExclusiveMul",
    "subgroupInclusiveAdd",
    "subgroupInclusiveMul",
    "subgroupMax",
    "subgroupMin",
    "subgroupMul",
    "subgroupOr",
    "subgroupShuffle",
    "subgroupShuffleDown",
    "subgroupShuffleUp",
    "subgroupShuffleXor",
    "subgroupXor",
];

/// Built-ins of WGSL's `subgroups` extension that naga lacks. They need no `enable crosslane;`.
const STANDARD: &[&str] = &["subgroupElect"];

/// A name that crosslane handles.
#[derive(Clone, Debug)]
pub(super) enum Builtin {
    Function(Vec<&'static Overload>),
    Variable(&'static Variable),
}

/// The built-in with this name; `None` for naga's names and unknown ones.
pub(super) fn find(name: &str) -> Option<Builtin> {
    if is_native(name) {
        return None;
    }
    if let Some(variable) = grammar::wgsl_variable(name) {
        return Some(Builtin::Variable(variable));
    }
    let overloads: Vec<_> = grammar::wgsl_functions(name).collect();
    (!overloads.is_empty()).then_some(Builtin::Function(overloads))
}

/// Returns true if naga knows the name as a subgroup function.
pub(super) fn is_native(name: &str) -> bool {
    NATIVE.binary_search(&name).is_ok()
}

/// Returns true if a function belongs to WGSL's extension `subgroups` (WGSL 17.12 and 17.13).
pub(super) fn is_of_subgroups(name: &str) -> bool {
    is_native(name) || STANDARD.contains(&name)
}

/// Returns true if a name needs `enable crosslane;`.
pub(super) fn needs_enable(name: &str) -> bool {
    !STANDARD.contains(&name)
}

/// How a call reaches naga.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Signature {
    /// True if the first argument gives the result its type and is the shuffle's value.
    pub data: bool,
    /// The other arguments.
    pub others: Vec<Passing>,
    /// The result type of the stub.
    pub ret: Option<Shape>,
}

/// How a stub gets an argument.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Passing {
    /// As a parameter of this type, which naga checks.
    Typed(Shape),
    /// Passed through, whatever its type.
    Through,
}

impl Builtin {
    /// The overloads with `count` parameters.
    pub(super) fn with_arguments(&self, count: usize) -> Option<Builtin> {
        match self {
            Builtin::Variable(_) => (count == 0).then(|| self.clone()),
            Builtin::Function(overloads) => {
                let fitting: Vec<_> = overloads.iter().copied().filter(|o| o.params.len() == count).collect();
                (!fitting.is_empty()).then_some(Builtin::Function(fitting))
            }
        }
    }

    /// The declarations, for messages.
    pub(super) fn signatures(&self) -> Vec<&'static str> {
        match self {
            Builtin::Function(overloads) => overloads.iter().map(|o| o.signature).collect(),
            Builtin::Variable(_) => vec!["no arguments"],
        }
    }

    /// How a call goes to naga.
    pub(super) fn signature(&self) -> Signature {
        match self {
            Builtin::Variable(variable) => Signature { data: false, others: Vec::new(), ret: Some(variable.ty) },
            Builtin::Function(overloads) => signature(overloads),
        }
    }
}

/// The common signature of all forms with as many arguments.
fn signature(forms: &[&'static Overload]) -> Signature {
    let first = forms[0];
    let data = first.ret == TypeExpr::Generic && forms.iter().all(|form| is_generic_input(form.params));
    let others = (usize::from(data)..first.params.len()).map(|at| passing(forms, at)).collect();
    let ret = if data { Some(Shape::U32) } else { first.ret.shape(Shape::BOOL) };
    Signature { data, others, ret }
}

fn is_generic_input(params: &[Param]) -> bool {
    params.first().is_some_and(|param| param.ty == TypeExpr::Generic && param.mode == Mode::In)
}

/// An argument gets a typed parameter if it has the same type in all overloads and is only read.
fn passing(forms: &[&'static Overload], at: usize) -> Passing {
    let typed = |form: &&Overload| match form.params[at] {
        Param { ty: TypeExpr::Is(shape), mode: Mode::In, .. } => Some(shape),
        _ => None,
    };
    let first = forms.first().and_then(typed);
    match first.filter(|_| forms.iter().all(|form| typed(form) == first)) {
        Some(shape) => Passing::Typed(shape),
        None => Passing::Through,
    }
}

/// WGSL's name of a scalar or vector type.
pub(super) fn type_name(shape: Shape) -> String {
    let Scalar { kind, width } = shape.scalar();
    let scalar = kind.name(width);
    match shape.size() {
        1 => scalar,
        size => format!("vec{size}<{scalar}>"),
    }
}

/// One call of a crosslane built-in.
#[derive(Clone, Debug)]
pub(super) struct Site {
    pub name: Box<str>,
    /// The overloads with as many parameters as the call has arguments.
    pub builtin: Builtin,
    pub signature: Signature,
    /// From the name to the closing parenthesis.
    pub span: Span,
    pub arguments: Vec<Span>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn native_names_are_sorted_and_left_to_naga() {
        assert!(NATIVE.is_sorted());
        assert!(NATIVE.iter().all(|name| find(name).is_none()));
        assert!(find("butterfly16").is_some());
        assert!(find("subgroupElect").is_some());
        assert!(find("subgroupInclusiveMin").is_some());
        assert!(find("sin").is_none());
    }

    #[test]
    fn forms_go_by_the_number_of_arguments() {
        let signature = |name: &str, count| find(name).unwrap().with_arguments(count).unwrap().signature();
        let shuffle = signature("shuffleXorNV", 3);
        assert!(shuffle.data);
        assert_eq!(shuffle.others.len(), 2);
        assert_eq!(signature("shuffleXorNV", 4).others[2], Passing::Through);
        assert!(find("shuffleXorNV").unwrap().with_arguments(5).is_none());
        let ballot = signature("ballot", 1);
        assert_eq!((ballot.data, ballot.ret.map(type_name)), (false, Some("vec4<u32>".into())));
    }

    #[test]
    fn what_has_no_type_of_its_own_is_handed_through() {
        let signature = |name: &str, count| find(name).unwrap().with_arguments(count).unwrap().signature();
        let sort = signature("bitonicSort16", 1);
        assert_eq!((sort.data, &*sort.others, sort.ret), (false, &[Passing::Through][..], None));
        // The second argument is a value to sort along, or a width.
        assert_eq!(signature("bitonicSort", 2).others, [Passing::Through, Passing::Through]);
        let equal = signature("subgroupAllEqual", 1);
        assert_eq!((equal.data, equal.ret), (false, Some(Shape::BOOL)));
        assert_eq!(signature("writeInvocationAMD", 3).others[0], Passing::Through);
    }
}
