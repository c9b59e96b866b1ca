//! Name and type resolution: the syntax tree becomes [`crate::ir`].
//!
//! One pass over the items in source order. Functions are lowered in order; [`scope`] resolves names, and [`lvalue`]
//! describes the memory that an expression denotes. An unsupported construct is an error with its span. After an error
//! lowering continues, so that one run reports many, and the module is discarded.

mod access;
mod aggregate;
mod assign;
mod automatic;
mod blocks;
mod builtin_variables;
mod calls;
mod choice;
mod constants;
mod construct;
mod cooperative;
mod cooperative_nv;
mod declarations;
mod default_block;
mod derivatives;
mod expressions;
mod extent;
mod feedback;
mod fragment;
mod functions;
pub mod hit_objects;
mod interface;
mod lengths;
mod locations;
mod loops;
mod lvalue;
mod members;
mod memory;
mod mesh;
mod non_uniform;
mod open_arrays;
mod operators;
mod overloads;
mod passthrough;
mod pipeline;
pub mod primitives;
mod qualifiers;
pub mod ray_query;
pub mod ray_tracing;
mod redeclare;
mod references;
mod resources;
mod scope;
mod spirv;
mod stage;
mod statements;
mod switch;
mod tensors;
mod tiles;
mod types;
mod vectors;

use super::ast::{self, Ast, DeclKind, ItemKind};
use super::env::Env;
use super::foreign;
use super::token::{Interner, Symbol, TokenStream};
use crate::diagnostic::nearest::nearest;
use crate::diagnostic::{Code, Diagnostic, Diagnostics};
use crate::ir::build::Builder;
use crate::ir::by_name;
use crate::ir::layout::Layouts;
use crate::ir::{
    ConstId, FragmentModes, FuncId, GlobalId, LayerModes, Module, Reconvergence, Space, TypeId, Types, Value,
};
use crate::source::Span;
use crate::symbols::Use;
use functions::FunctionSet;
use rustc_hash::{FxHashMap, FxHashSet};
use scope::Scopes;

/// Lowers a shader. If it has errors, they are reported and the module must not be used. Uses of names are recorded if
/// a list for them is passed.
pub fn resolve(
    ast: &Ast,
    stream: &TokenStream,
    words: &Interner,
    env: Env<'_>,
    diagnostics: &mut Diagnostics,
    mut uses: Option<&mut Vec<Use>>,
) -> Module {
    let mark = diagnostics.mark();
    let (module, found) =
        resolve_with(ast, stream, words, env.clone(), diagnostics, Found::default(), uses.as_deref_mut());
    match found {
        Some(found) if !diagnostics.has_errors() => {
            diagnostics.forget_since(mark);
            resolve_with(ast, stream, words, env, diagnostics, found, uses).0
        }
        _ => module,
    }
}

/// The findings of a first resolution that a second one needs: the lengths of arrays in blocks and of arrays over
/// vertices.
#[derive(Default)]
struct Found {
    lengths: Vec<u32>,
    counts: primitives::Counts,
}

/// Lowers a shader with the known array lengths, and returns any new lengths.
fn resolve_with(
    ast: &Ast,
    stream: &TokenStream,
    words: &Interner,
    env: Env<'_>,
    diagnostics: &mut Diagnostics,
    known: Found,
    uses: Option<&mut Vec<Use>>,
) -> (Module, Option<Found>) {
    let mut module = Module::new();
    let mut sema = Sema { lengths: known.lengths, ..Sema::new(ast, stream, words, env, diagnostics) };
    if uses.is_some() {
        sema.scopes.record_uses();
    }
    sema.primitives.counts = known.counts;
    for item in &ast.items {
        if sema.diagnostics.is_full() {
            break;
        }
        sema.item(&mut module, item);
    }
    sema.finish(&mut module);
    if let Some(uses) = uses {
        *uses = sema.scopes.take_uses();
    }
    let (lengths, counts) = (sema.found_lengths(), sema.primitives.counts);
    let found = lengths.is_some() || sema.primitives.early;
    (module, found.then(|| Found { lengths: lengths.unwrap_or_default(), counts }))
}

/// The state of a resolution. The module under construction travels next to it, in a [`Builder`].
struct Sema<'a> {
    ast: &'a Ast,
    stream: &'a TokenStream,
    words: &'a Interner,
    env: Env<'a>,
    diagnostics: &'a mut Diagnostics,
    scopes: Scopes,
    sets: Vec<FunctionSet>,
    workgroup: interface::Workgroup,
    block_defaults: blocks::Defaults,
    layouts: Layouts,
    members: members::MemberNumbers,
    extents: extent::Extents,
    /// Globals whose initial value is computed at the start of the entry point.
    deferred: Vec<(GlobalId, ast::ExprId)>,
    /// Private copies of dynamically indexed constant composites.
    constant_memory: FxHashMap<ConstId, GlobalId>,
    builtins: FxHashMap<(crate::ir::BuiltIn, Space), GlobalId>,
    /// Built-in variables that are outputs at locations, by location.
    located: Vec<(u32, GlobalId)>,
    /// Place of the declaration of the derivative group.
    derivatives_at: Span,
    passed: passthrough::Passed,
    /// Variables whose length depends on their constant indices.
    open_arrays: Vec<open_arrays::OpenArray>,
    /// Arrays of resources whose length depends on their constant indices, and the length so far.
    open_resources: Vec<(GlobalId, u32)>,
    /// Arrays in blocks whose length depends on their constant indices, and their number so far.
    open_members: Vec<lengths::Open>,
    open_count: usize,
    /// The lengths of these arrays, as far as found.
    lengths: Vec<u32>,
    /// Results of `nonuniformEXT`.
    non_uniform: FxHashSet<Value>,
    fragment: FragmentModes,
    /// The centres of pixels are at integers.
    has_integer_centers: bool,
    /// Locations of color attachments that are read.
    tiles: Vec<tiles::Taken>,
    automatic: automatic::Automatic,
    counters: default_block::Counters,
    layer: LayerModes,
    primitives: primitives::Primitives,
    /// Built-in variables that are arrays of blocks; their members are separate variables.
    built_in_blocks: Vec<(GlobalId, &'static crate::grammar::Blocks, Space)>,
    feedback: feedback::Captured,
    /// Number of `#extension` lines that are in force.
    extensions_applied: usize,
    /// Return type of the function being lowered.
    return_type: TypeId,
    /// The function has a `return` so far.
    returns: bool,
    /// Numbers of specialization constants, and the place of each declaration.
    constant_ids: FxHashMap<u32, Span>,
    /// The core built-in types by the symbol of their name; `VOID` if not looked up yet.
    plain_types: Vec<TypeId>,
    /// The unsupported constructs, by the function that uses them.
    refusals: Vec<(FuncId, Vec<Diagnostic>)>,
    /// Buffer reference blocks announced but not defined yet.
    references: Vec<references::Announced>,
    /// A function was called before its definition was complete, which every recursion requires.
    calls_unfinished: bool,
    /// Declarations that are `precise`.
    precise: Vec<Span>,
    /// Declarations that are `nonuniformEXT`.
    non_uniform_declarations: Vec<Span>,
    /// Loops and switches, and loops, around the statement being lowered.
    breakable: u32,
    continuable: u32,
    reconvergence: Reconvergence,
}

impl<'a> Sema<'a> {
    fn new(
        ast: &'a Ast,
        stream: &'a TokenStream,
        words: &'a Interner,
        env: Env<'a>,
        diagnostics: &'a mut Diagnostics,
    ) -> Sema<'a> {
        Sema {
            ast,
            stream,
            words,
            env: Env { derivatives: derivatives::named(ast, words), ..env },
            diagnostics,
            scopes: Scopes::new(words.len()),
            sets: Vec::new(),
            workgroup: interface::Workgroup::default(),
            block_defaults: blocks::Defaults::default(),
            layouts: Layouts::with_open_members(),
            members: members::MemberNumbers::default(),
            extents: extent::Extents::default(),
            deferred: Vec::new(),
            constant_memory: FxHashMap::default(),
            builtins: FxHashMap::default(),
            located: Vec::new(),
            derivatives_at: Span::NONE,
            passed: Vec::new(),
            open_arrays: Vec::new(),
            open_resources: Vec::new(),
            open_members: Vec::new(),
            open_count: 0,
            lengths: Vec::new(),
            non_uniform: FxHashSet::default(),
            fragment: FragmentModes {
                lower_left_origin: env.profile.client.row().lower_left_origin,
                ..FragmentModes::default()
            },
            has_integer_centers: false,
            tiles: Vec::new(),
            automatic: automatic::Automatic::default(),
            counters: default_block::Counters::default(),
            layer: LayerModes::default(),
            primitives: primitives::Primitives::default(),
            built_in_blocks: Vec::new(),
            feedback: feedback::Captured::default(),
            extensions_applied: 0,
            return_type: Types::VOID,
            returns: false,
            constant_ids: FxHashMap::default(),
            plain_types: vec![Types::VOID; words.len()],
            refusals: Vec::new(),
            references: Vec::new(),
            calls_unfinished: false,
            precise: declarations_with(ast, words, "precise", |kind| matches!(kind, ast::QualifierKind::Precise)),
            non_uniform_declarations: declarations_with(ast, words, "nonuniformEXT", |kind| {
                matches!(kind, ast::QualifierKind::NonUniform)
            }),
            breakable: 0,
            continuable: 0,
            reconvergence: Reconvergence::Default,
        }
    }

    fn item(&mut self, module: &mut Module, item: &ast::Item) {
        self.apply_extensions(item.token);
        match item.kind {
            ItemKind::Function(id) => self.function_definition(module, id),
            ItemKind::Decl(id) => self.global_declaration(module, id),
        }
    }

    /// Puts the `#extension` lines before token `token` in force.
    fn apply_extensions(&mut self, token: u32) {
        let uses = &self.stream.extensions;
        while let Some(line) = uses.get(self.extensions_applied).filter(|line| line.token <= token) {
            self.env.apply(self.words.text(line.name), line.behavior);
            self.extensions_applied += 1;
        }
    }

    fn global_declaration(&mut self, module: &mut Module, id: ast::DeclId) {
        let decl = &self.ast[id];
        if let DeclKind::Prototype(function) = decl.kind {
            self.prototype(module, function);
            return;
        }
        let mut b = Builder::outside(module);
        match decl.kind {
            DeclKind::Variables { ty, declarators } => self.global_variables(&mut b, decl, ty, declarators),
            DeclKind::Block(block) => self.block(&mut b, decl, &block),
            DeclKind::Defaults => self.default_qualifiers(&mut b, decl),
            DeclKind::Requalify(names) => self.requalify(&mut b, decl, names),
            DeclKind::Precision { ty, .. } => self.check_precision(&mut b, ty),
            DeclKind::Prototype(_) => {}
        }
    }

    /// Completes the module with facts that depend on the whole shader.
    fn finish(&mut self, module: &mut Module) {
        self.check_definitions(module);
        self.check_references();
        self.check_recursion(module);
        if self.diagnostics.has_errors() {
            return;
        }
        self.close_arrays(module);
        self.close_resources(module);
        self.check_locations(module);
        self.check_uniform_locations(module);
        self.close_feedback(module);
        module.layer = self.layer;
        self.entry_point(module);
        self.bind_rest(module);
        by_name::bind(module);
    }

    fn text(&self, symbol: Symbol) -> &'a str {
        self.words.text(symbol)
    }

    #[cold]
    fn report(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    /// The value, or none once the error is reported.
    fn check<T>(&mut self, result: Result<T, Diagnostic>) -> Option<T> {
        result.map_err(|diagnostic| self.report(diagnostic)).ok()
    }

    #[cold]
    fn error(&mut self, code: Code, span: Span, message: impl Into<String>, label: impl Into<String>) {
        self.report(Diagnostic::error(code, message).at(span, label));
    }

    /// Reports a construct of the language that this front end does not support yet.
    #[cold]
    fn unsupported(&mut self, span: Span, what: &str) {
        self.error(Code::NOT_SUPPORTED, span, format!("{what} not supported yet"), "used here");
    }

    fn type_name(&self, b: &Builder<'_>, ty: TypeId) -> String {
        tensors::name(b, ty).unwrap_or_else(|| super::types::display(&b.module.types, &b.module.constants, ty))
    }
}

/// Adds the suggested spelling of `wrong`, if there is one.
fn did_you_mean<'n>(
    diagnostic: Diagnostic,
    wrong: &str,
    span: Span,
    names: impl IntoIterator<Item = &'n str>,
) -> Diagnostic {
    if let Some(advice) = foreign::advice(wrong) {
        return diagnostic.help(advice);
    }
    match foreign::counterpart(wrong).or_else(|| nearest(wrong, names)) {
        Some(near) => diagnostic.suggest(span, near, format!("did you mean `{near}`?")),
        None => diagnostic,
    }
}

/// Declarations with a qualifier; few shaders use the word at all.
fn declarations_with(ast: &Ast, words: &Interner, name: &str, is_wanted: fn(ast::QualifierKind) -> bool) -> Vec<Span> {
    if words.get(name).is_none() {
        return Vec::new();
    }
    let has = |decl: &ast::Decl| ast[decl.qualifiers].iter().any(|qualifier| is_wanted(qualifier.kind));
    ast.decls.iter().filter(|(_, decl)| has(decl)).map(|(_, decl)| decl.span).collect()
}
