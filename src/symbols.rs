//! The names of a shader: declarations and uses. Front ends fill it only for editors.

use crate::source::Span;
use std::sync::Arc;

/// The names of one compilation.
#[derive(Clone, Debug, Default)]
pub struct Symbols {
    pub declarations: Vec<Declaration>,
    pub uses: Vec<Use>,
}

/// A use of a name, or a further declaration of it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Use {
    /// The name, or the call of a macro that gave it.
    pub at: Span,
    /// The name at its first declaration.
    pub declared: Span,
}

/// The kind of a declared name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    Function,
    Parameter,
    Local,
    Global,
    Constant,
    Struct,
    /// An interface block.
    Block,
    Member,
    Alias,
}

/// A declared name. Spans without text are [`Span::NONE`].
#[derive(Clone, Debug)]
pub struct Declaration {
    /// The name. Its place identifies the declaration.
    pub name: Span,
    pub kind: Kind,
    /// The text before the name that belongs to the declaration: qualifiers and type.
    pub before: Span,
    /// The name and the text after it: dimensions, or the parameters of a function.
    pub written: Span,
    /// The whole declaration, with the body of a function.
    pub whole: Span,
    /// The range where the name has this meaning; `None` for global names.
    pub scope: Option<Span>,
    pub ty: Option<TypeOf>,
    /// The inferred type, if none is written.
    pub inferred: Option<Arc<str>>,
    /// Name of the struct or block of a member.
    pub owner: Option<Span>,
    /// True if a member's name is used without an instance, as in a block without an instance name.
    pub is_free: bool,
    /// True if it is a function with a body.
    pub has_body: bool,
}

/// The type of a declared name, as far as members and elements need it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TypeOf {
    /// Place of the type's name, or the name of the struct or block that is defined with it.
    pub name: Span,
    /// Pairs of brackets.
    pub dimensions: u32,
}
