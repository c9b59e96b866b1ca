//! The syntax tree of a GLSL shader, with spans and before names are resolved.
//!
//! It covers the whole grammar of GLSL 4.60 (section 9) and GLSL ES 3.20 (section 9) for all stages, aggregate
//! initializers, string literals and the attributes of GL_EXT_control_flow_attributes. Nodes live in [`Arena`]s and
//! refer to each other by handle; lists of nodes are ranges of shared [`Pools`]. No node owns heap memory.
//!
//! The tree does not distinguish types, variables and functions, and does not check where qualifiers are allowed: the
//! semantic analysis does.

use super::token::{LiteralId, Symbol};
use crate::ir::arena::{Arena, Handle};
use crate::source::Span;
use std::fmt;
use std::marker::PhantomData;
use std::ops::Index;

pub type ExprId = Handle<Expr>;
pub type StmtId = Handle<Stmt>;
pub type DeclId = Handle<Decl>;
pub type TypeId = Handle<TypeSpec>;
pub type StructId = Handle<StructSpec>;
pub type FunctionId = Handle<Function>;

/// A whole shader.
///
/// Indexed by a handle, it returns the node; by a [`List`], the slice: `&ast[id]`, `&ast[list]`.
#[derive(Debug, Default)]
pub struct Ast {
    /// Functions and declarations at global scope, in the order of the source.
    pub items: Vec<Item>,
    pub exprs: Arena<Expr>,
    pub stmts: Arena<Stmt>,
    pub decls: Arena<Decl>,
    pub types: Arena<TypeSpec>,
    pub structs: Arena<StructSpec>,
    pub functions: Arena<Function>,
    pub pools: Pools,
}

impl Ast {
    /// An empty tree with room for a source of this many tokens.
    pub fn for_tokens(tokens: usize) -> Ast {
        Ast {
            items: Vec::with_capacity(16),
            exprs: Arena::with_capacity(tokens / 2),
            stmts: Arena::with_capacity(tokens / 8),
            decls: Arena::with_capacity(tokens / 16),
            types: Arena::with_capacity(tokens / 8),
            pools: Pools::for_tokens(tokens),
            ..Ast::default()
        }
    }
}

macro_rules! nodes {
    ($($field:ident: $node:ty),+ $(,)?) => {
        $(impl Index<Handle<$node>> for Ast {
            type Output = $node;
            fn index(&self, id: Handle<$node>) -> &$node {
                &self.$field[id]
            }
        })+
    };
}

nodes! { exprs: Expr, stmts: Stmt, decls: Decl, types: TypeSpec, structs: StructSpec, functions: Function }

/// A run of neighbours in the pool of its item type.
pub struct List<T> {
    start: u32,
    len: u32,
    of: PhantomData<fn() -> T>,
}

impl<T> List<T> {
    pub const EMPTY: List<T> = List { start: 0, len: 0, of: PhantomData };

    pub const fn len(self) -> usize {
        self.len as usize
    }

    pub const fn is_empty(self) -> bool {
        self.len == 0
    }
}

impl<T> Clone for List<T> {
    fn clone(&self) -> Self {
        *self
    }
}
impl<T> Copy for List<T> {}
impl<T> fmt::Debug for List<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "#{}+{}", self.start, self.len)
    }
}

/// An item type that has a pool.
pub trait Pooled: Copy {
    fn pool(pools: &Pools) -> &Vec<Self>;
    fn pool_mut(pools: &mut Pools) -> &mut Vec<Self>;
}

macro_rules! pools {
    ($($field:ident: $item:ty),+ $(,)?) => {
        /// The items of all lists, one vector per item type.
        #[derive(Debug, Default)]
        pub struct Pools {
            $($field: Vec<$item>),+
        }

        $(impl Pooled for $item {
            fn pool(pools: &Pools) -> &Vec<Self> {
                &pools.$field
            }
            fn pool_mut(pools: &mut Pools) -> &mut Vec<Self> {
                &mut pools.$field
            }
        })+
    };
}

pools! {
    exprs: ExprId,
    stmts: StmtId,
    names: Name,
    qualifiers: Qualifier,
    layout_ids: LayoutId,
    dimensions: Dimension,
    declarators: Declarator,
    members: Member,
    params: Param,
    arms: IfArm,
    attributes: Attribute,
    spirv_args: SpirvArg,
}

impl Pools {
    /// Copies items to the end of their pool and returns their list.
    pub fn append<T: Pooled>(&mut self, items: &[T]) -> List<T> {
        if items.is_empty() {
            return List::EMPTY;
        }
        let pool = T::pool_mut(self);
        let start = pool.len() as u32;
        pool.extend_from_slice(items);
        List { start, len: items.len() as u32, of: PhantomData }
    }

    /// Pools with room for a source of this many tokens.
    pub fn for_tokens(tokens: usize) -> Pools {
        Pools {
            exprs: Vec::with_capacity(tokens / 16),
            stmts: Vec::with_capacity(tokens / 8),
            qualifiers: Vec::with_capacity(tokens / 16),
            declarators: Vec::with_capacity(tokens / 16),
            members: Vec::with_capacity(tokens / 32),
            ..Pools::default()
        }
    }
}

impl<T: Pooled> Index<List<T>> for Ast {
    type Output = [T];
    fn index(&self, list: List<T>) -> &[T] {
        &T::pool(&self.pools)[list.start as usize..][..list.len()]
    }
}

/// A word and where it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Name {
    pub symbol: Symbol,
    pub span: Span,
}

/// Something at global scope.
#[derive(Clone, Copy, Debug)]
pub struct Item {
    pub kind: ItemKind,
    pub span: Span,
    /// Index of the first token: an [`ExtensionUse`](super::token::ExtensionUse) with a `token` not above it precedes
    /// the item.
    pub token: u32,
}

#[derive(Clone, Copy, Debug)]
pub enum ItemKind {
    /// A function with a body.
    Function(FunctionId),
    /// Everything else, including prototypes.
    Decl(DeclId),
}

/// A function prototype or definition (section 6.1).
#[derive(Clone, Copy, Debug)]
pub struct Function {
    /// Qualifiers of the return type, including `subroutine(…)`.
    pub qualifiers: List<Qualifier>,
    pub return_type: TypeId,
    pub name: Name,
    /// Empty for `(void)`.
    pub params: List<Param>,
    /// Such as `[[subgroup_uniform_control_flow]]`.
    pub attributes: List<Attribute>,
    /// The statements between the braces; `None` for a prototype.
    pub body: Option<Body>,
    /// From the return type to the closing parenthesis.
    pub span: Span,
}

/// The body of a function.
#[derive(Clone, Copy, Debug)]
pub struct Body {
    pub stmts: List<StmtId>,
    /// Span from brace to brace.
    pub span: Span,
}

/// A parameter of a function.
#[derive(Clone, Copy, Debug)]
pub struct Param {
    pub qualifiers: List<Qualifier>,
    pub ty: TypeId,
    pub name: Option<Name>,
    /// The brackets after the name.
    pub dimensions: List<Dimension>,
    pub span: Span,
}

/// A declaration, global or local.
#[derive(Clone, Copy, Debug)]
pub struct Decl {
    /// The qualifiers before the type, in source order.
    pub qualifiers: List<Qualifier>,
    pub kind: DeclKind,
    pub span: Span,
}

#[derive(Clone, Copy, Debug)]
pub enum DeclKind {
    /// `type a, b = 1, c[2];`. Without declarators it may still define a struct: `struct S { … };`.
    Variables {
        ty: TypeId,
        declarators: List<Declarator>,
    },
    /// An interface block (section 4.3.9).
    Block(Block),
    Prototype(FunctionId),
    /// `precision mediump float;`
    Precision {
        precision: Precision,
        ty: TypeId,
    },
    /// Qualifiers for names that are declared elsewhere, `invariant gl_Position;`, or the forward declaration of a
    /// buffer reference, `layout(buffer_reference) buffer Node;`.
    Requalify(List<Name>),
    /// Qualifiers alone: `layout(local_size_x = 64) in;`
    Defaults,
}

/// The part of an interface block after the qualifiers.
#[derive(Clone, Copy, Debug)]
pub struct Block {
    pub name: Name,
    pub members: List<Member>,
    /// Instance name with its array dimensions; it never has an initialiser.
    pub instance: Option<Declarator>,
}

/// A name that a declaration introduces.
#[derive(Clone, Copy, Debug)]
pub struct Declarator {
    pub name: Name,
    /// The brackets after the name.
    pub dimensions: List<Dimension>,
    /// An expression, or an [`ExprKind::Aggregate`].
    pub init: Option<ExprId>,
    pub span: Span,
}

/// One pair of brackets in a type or declarator.
#[derive(Clone, Copy, Debug)]
pub struct Dimension {
    pub size: Option<ExprId>,
    pub span: Span,
}

/// A line of members in a struct or interface block.
#[derive(Clone, Copy, Debug)]
pub struct Member {
    pub qualifiers: List<Qualifier>,
    pub ty: TypeId,
    /// At least one; without initialisers.
    pub declarators: List<Declarator>,
    pub span: Span,
}

/// A type with the brackets written right after it.
#[derive(Clone, Copy, Debug)]
pub struct TypeSpec {
    pub kind: TypeKind,
    pub dimensions: List<Dimension>,
    pub span: Span,
}

#[derive(Clone, Copy, Debug)]
pub enum TypeKind {
    /// A built-in type's keyword or an identifier; unresolved.
    Named(Name),
    Struct(StructId),
    /// `coopmat<element, …>` (GL_KHR_cooperative_matrix).
    Matrix(MatrixSpec),
    /// `tensorLayoutNV<…>`, `tensorViewNV<…>` (GL_NV_cooperative_matrix2).
    Tensor(TensorSpec),
    /// `spirv_type(…)` (GL_EXT_spirv_intrinsics).
    Spirv(List<SpirvArg>),
}

/// One argument of `spirv_type` and similar qualifiers: `value`, or `key = value`.
#[derive(Clone, Copy, Debug)]
pub struct SpirvArg {
    pub key: Option<Name>,
    pub value: SpirvValue,
    pub span: Span,
}

#[derive(Clone, Copy, Debug)]
pub enum SpirvValue {
    Expr(ExprId),
    Type(TypeId),
    /// `[a, b]`
    List(List<ExprId>),
}

/// The qualifiers of GL_EXT_spirv_intrinsics.
#[rustfmt::skip]
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum SpirvWord {
    Instruction, Decorate, DecorateId, DecorateString, ExecutionMode, ExecutionModeId, StorageClass, ByReference, Literal,
}

impl SpirvWord {
    /// Returns true if parentheses follow.
    pub const fn has_args(self) -> bool {
        !matches!(self, SpirvWord::ByReference | SpirvWord::Literal)
    }
}

/// A type with parameters: an element type, if the type has one, then numbers.
#[derive(Clone, Copy, Debug)]
pub struct MatrixSpec {
    pub name: Name,
    pub element: Option<TypeId>,
    pub parameters: List<ExprId>,
}

/// A type that describes a tensor, by numbers.
#[derive(Clone, Copy, Debug)]
pub struct TensorSpec {
    pub name: Name,
    pub parameters: List<ExprId>,
}

/// The definition of a struct.
#[derive(Clone, Copy, Debug)]
pub struct StructSpec {
    pub name: Option<Name>,
    pub members: List<Member>,
    pub span: Span,
}

/// One qualifier of a declaration (section 4.2 onwards).
#[derive(Clone, Copy, Debug)]
pub struct Qualifier {
    pub kind: QualifierKind,
    pub span: Span,
}

#[derive(Clone, Copy, Debug)]
pub enum QualifierKind {
    Storage(Storage),
    Layout(List<LayoutId>),
    Memory(Memory),
    Interpolation(Interpolation),
    Precision(Precision),
    Precise,
    Invariant,
    /// `nonuniformEXT` (GL_EXT_nonuniform_qualifier).
    NonUniform,
    /// `subroutine`, or `subroutine(A, B)` with the subroutine types.
    Subroutine(List<Name>),
    /// `spirv_decorate(…)` and its kin.
    Spirv(SpirvWord, List<SpirvArg>),
}

/// `name` or `name = value` between the parentheses of `layout`.
#[derive(Clone, Copy, Debug)]
pub struct LayoutId {
    /// An identifier, or the keyword `shared`.
    pub name: Name,
    pub value: Option<ExprId>,
    pub span: Span,
}

/// Storage qualifiers (section 4.3), including the auxiliary ones.
#[rustfmt::skip]
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Storage {
    Const, In, Out, InOut, Centroid, Patch, Sample, Uniform, Buffer, Shared, Attribute, Varying, TileImage,
    TaskPayload, TaskMemory, PerView, Ray(RayStorage),
}

/// The variables that pass between the shaders of a ray tracing pipeline (GL_EXT_ray_tracing, GL_NV_ray_tracing), and
/// the variables of hit objects (GL_EXT_shader_invocation_reorder, GL_NV_shader_invocation_reorder).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum RayStorage {
    Payload,
    PayloadNv,
    PayloadIn,
    PayloadInNv,
    HitAttribute,
    HitAttributeNv,
    HitObjectAttribute,
    HitObjectAttributeNv,
    CallableData,
    CallableDataNv,
    CallableDataIn,
    CallableDataInNv,
}

/// Memory qualifiers (section 4.10), including the ones of GL_KHR_memory_scope_semantics, GL_EXT_ray_tracing and
/// GL_EXT_nontemporal_keyword.
#[rustfmt::skip]
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Memory {
    Coherent, Volatile, Restrict, ReadOnly, WriteOnly,
    DeviceCoherent, QueueFamilyCoherent, WorkgroupCoherent, SubgroupCoherent, NonPrivate,
    ShaderCallCoherent, NonTemporal,
}

/// Interpolation qualifiers (section 4.5).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Interpolation {
    Smooth,
    Flat,
    NoPerspective,
    /// GL_EXT_fragment_shader_barycentric.
    PerVertex,
    /// GL_AMD_shader_explicit_vertex_parameter.
    Explicit,
    /// GL_EXT_mesh_shader and GL_NV_mesh_shader.
    PerPrimitive {
        nvidia: bool,
    },
}

/// Precision qualifiers (section 4.7.2).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Precision {
    Low,
    Medium,
    High,
}

/// A statement (section 6).
#[derive(Clone, Copy, Debug)]
pub struct Stmt {
    pub kind: StmtKind,
    /// `[[unroll]]` and its like, before the statement.
    pub attributes: List<Attribute>,
    pub span: Span,
}

#[derive(Clone, Copy, Debug)]
pub enum StmtKind {
    /// A lone `;`.
    Empty,
    Expr(ExprId),
    Decl(DeclId),
    /// A compound statement.
    Compound(List<StmtId>),
    /// The `if` and all its `else if`s as one flat list, so that long chains do not nest. At least one arm.
    If {
        arms: List<IfArm>,
        otherwise: Option<StmtId>,
    },
    /// The body holds [`StmtKind::Case`] and [`StmtKind::Default`] labels among its statements.
    Switch {
        selector: ExprId,
        body: List<StmtId>,
    },
    Case(ExprId),
    Default,
    While {
        condition: Condition,
        body: StmtId,
    },
    DoWhile {
        body: StmtId,
        condition: ExprId,
    },
    /// `init` is a statement of kind `Expr` or `Decl`.
    For {
        init: Option<StmtId>,
        condition: Option<Condition>,
        step: Option<ExprId>,
        body: StmtId,
    },
    Break,
    Continue,
    Return(Option<ExprId>),
    Discard,
    /// `demote;` (GL_EXT_demote_to_helper_invocation).
    Demote,
    /// `terminateInvocation;` (GL_EXT_terminate_invocation).
    TerminateInvocation,
    /// `ignoreIntersectionEXT;` and `terminateRayEXT;` (GL_EXT_ray_tracing).
    IgnoreIntersection,
    TerminateRay,
}

/// `if (condition) body`.
#[derive(Clone, Copy, Debug)]
pub struct IfArm {
    pub condition: ExprId,
    pub body: StmtId,
}

/// The condition of a `while` or `for`.
#[derive(Clone, Copy, Debug)]
pub enum Condition {
    Expr(ExprId),
    /// `bool b = …`: a [`DeclKind::Variables`] with one declarator that has an initialiser.
    Decl(DeclId),
}

/// `name` or `name(args)` between `[[` and `]]`.
#[derive(Clone, Copy, Debug)]
pub struct Attribute {
    pub name: Name,
    pub args: List<ExprId>,
    pub span: Span,
}

/// An expression (section 5). The span includes enclosing parentheses.
#[derive(Clone, Copy, Debug)]
pub struct Expr {
    pub kind: ExprKind,
    pub span: Span,
}

#[derive(Clone, Copy, Debug)]
pub enum ExprKind {
    /// Index into the token stream's literals.
    Literal(LiteralId),
    Bool(bool),
    /// The body of a string literal.
    String(Symbol),
    Name(Symbol),
    Unary {
        op: UnaryOp,
        operand: ExprId,
    },
    /// `++` and `--`.
    Step {
        op: StepOp,
        operand: ExprId,
    },
    Binary {
        op: BinaryOp,
        left: ExprId,
        right: ExprId,
    },
    /// `=` if `op` is `None`, otherwise `op=`.
    Assign {
        op: Option<BinaryOp>,
        target: ExprId,
        value: ExprId,
    },
    Conditional {
        condition: ExprId,
        then: ExprId,
        otherwise: ExprId,
    },
    /// `left, right`.
    Comma {
        left: ExprId,
        right: ExprId,
    },
    Index {
        base: ExprId,
        index: ExprId,
    },
    /// A member or a swizzle.
    Field {
        base: ExprId,
        name: Name,
    },
    /// `base.length()`, the only method there is (section 4.1.9).
    Length {
        base: ExprId,
    },
    /// A call of a function, or a constructor of a struct or of a type without a keyword.
    Call {
        callee: Name,
        args: List<ExprId>,
    },
    /// A constructor: a type keyword, or any type with brackets, as in `vec2(…)`, `float[3](…)` and `S[](…)`.
    Construct {
        ty: TypeId,
        args: List<ExprId>,
    },
    /// `{ a, b }`, in initialisers only (section 4.1.11).
    Aggregate(List<ExprId>),
}

/// Prefix operators without side effect.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum UnaryOp {
    Plus,
    Minus,
    /// `!`
    Not,
    /// `~`
    BitNot,
}

/// Increments and decrements.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum StepOp {
    PreIncrement,
    PreDecrement,
    PostIncrement,
    PostDecrement,
}

/// Infix operators, without assignment and comma.
#[rustfmt::skip]
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum BinaryOp {
    Mul, Div, Mod, Add, Sub, ShiftLeft, ShiftRight,
    Less, Greater, LessEqual, GreaterEqual, Equal, NotEqual,
    BitAnd, BitXor, BitOr, And, Xor, Or,
}
