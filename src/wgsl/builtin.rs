//! Which names of a WGSL text are crosslane's own built-in functions, and what stands in for them when naga reads it.
//!
//! naga types calls of its own functions only. A call whose result has the type of its first argument is carried by a
//! subgroup shuffle, whose index is a call of a stub with the other arguments; any other call is one of a stub. A stub's
//! first argument is the number of the call, so what the user wrote can never be mistaken for a carrier.

use crate::grammar::{self, Lowering, Mode, Overload, Shape, TypeExpr, Variable};
use crate::ir::{Scalar, ScalarKind};
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

/// Built-ins of WGSL's own `subgroups` extension that naga lacks; they need no `enable crosslane;`.
const STANDARD: &[&str] = &["subgroupElect"];

/// The dialect whose GLSL names WGSL has too.
const KHRONOS: &str = "khr_shader_subgroup";

/// A name of crosslane's.
#[derive(Clone, Debug)]
pub(super) enum Builtin {
    Function(Vec<&'static Overload>),
    Variable(&'static Variable),
}

/// The built-in that a name stands for; none for names that naga knows or nobody does.
pub(super) fn find(name: &str) -> Option<Builtin> {
    if NATIVE.binary_search(&name).is_ok() {
        return None;
    }
    if let Some(variable) = grammar::wgsl_variable(name) {
        return Some(Builtin::Variable(variable));
    }
    let mut overloads: Vec<_> = grammar::wgsl_functions(name).collect();
    if overloads.is_empty() && name.starts_with("subgroup") {
        overloads.extend(grammar::functions(name).iter().filter(|o| o.dialect == KHRONOS));
    }
    let is_known =
        |of: Lowering| matches!(of, Lowering::Lane { .. } | Lowering::LaneAndValid { .. } | Lowering::Derived(_));
    overloads.retain(|o| is_known(o.lowering));
    (!overloads.is_empty()).then_some(Builtin::Function(overloads))
}

/// Whether naga knows the name as a function of a value and a lane, delta or mask.
pub(super) fn takes_lane(name: &str) -> bool {
    name == "quadBroadcast" || name == "subgroupBroadcast" || name.starts_with("subgroupShuffle")
}

/// Whether a name needs `enable crosslane;`.
pub(super) fn needs_enable(name: &str) -> bool {
    !STANDARD.contains(&name)
}

/// How a call reaches naga.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Signature {
    /// Whether the first argument gives the result its type and travels in the shuffle.
    pub data: bool,
    /// Types of the other arguments.
    pub fixed: Vec<Shape>,
    /// What the stub returns.
    pub ret: Shape,
}

/// The reason why a form of a built-in has no WGSL carrier.
pub(super) const NO_CARRIER: &str = "this form has no WGSL spelling yet";

impl Builtin {
    /// The forms that take `count` arguments.
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

    /// How a call goes to naga; none for forms that write through their arguments or mix several generic ones.
    pub(super) fn signature(&self) -> Option<Signature> {
        match self {
            Builtin::Variable(variable) => Some(Signature { data: false, fixed: Vec::new(), ret: variable.ty }),
            Builtin::Function(overloads) => overloads.first().and_then(|overload| signature(overload)),
        }
    }
}

fn signature(of: &Overload) -> Option<Signature> {
    let data = of.ret == TypeExpr::Generic;
    let generic_first = of.params.first().is_some_and(|p| p.ty == TypeExpr::Generic);
    if data != generic_first || of.params.iter().any(|p| p.mode != Mode::In) {
        return None;
    }
    let fixed = of.params.iter().skip(usize::from(data)).map(|p| match p.ty {
        TypeExpr::Is(shape) => Some(shape),
        // Of the scalars that are tested against zero WGSL has the bool.
        TypeExpr::Test(_) => Some(Shape::BOOL),
        _ => None,
    });
    let fixed = fixed.collect::<Option<Vec<Shape>>>()?;
    let ret = match of.ret {
        TypeExpr::Is(shape) => shape,
        TypeExpr::Generic => Shape::vector(Scalar::U32, 1)?,
        _ => return None,
    };
    Some(Signature { data, fixed, ret })
}

/// WGSL's name of a scalar or vector type.
pub(super) fn type_name(shape: Shape) -> String {
    let Scalar { kind, width } = shape.scalar();
    let scalar = match kind {
        ScalarKind::Bool => "bool".into(),
        ScalarKind::Sint => format!("i{width}"),
        ScalarKind::Uint => format!("u{width}"),
        ScalarKind::Float => format!("f{width}"),
    };
    match shape.size() {
        1 => scalar,
        size => format!("vec{size}<{scalar}>"),
    }
}

/// One call of a built-in of crosslane's.
#[derive(Clone, Debug)]
pub(super) struct Site {
    pub name: Box<str>,
    /// The forms that take as many arguments as the call has.
    pub builtin: Builtin,
    /// Whether the first argument travels in a shuffle.
    pub data: bool,
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
        let shuffle = find("shuffleXorNV").unwrap();
        let signature = shuffle.with_arguments(3).unwrap().signature().unwrap();
        assert!(signature.data);
        assert_eq!(signature.fixed.len(), 2);
        assert!(shuffle.with_arguments(4).is_none());
        let ballot = find("ballot").unwrap().signature().unwrap();
        assert_eq!((ballot.data, type_name(ballot.ret)), (false, "vec4<u32>".into()));
        assert!(find("bitonicSort16").unwrap().with_arguments(1).unwrap().signature().is_none());
    }
}
