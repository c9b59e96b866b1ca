//! The user's functions: signatures, overloads, definitions, and errors in their call graph.

use super::Sema;
use super::lvalue::{LValue, Mutability};
use super::scope::{Entity, SetId};
use crate::diagnostic::{Code, Diagnostic};
use crate::glsl::ast::{self, FunctionId, List};
use crate::glsl::token::Symbol;
use crate::ir::build::Builder;
use crate::ir::calls::{callees, callees_first};
use crate::ir::flow::DeadEnds;
use crate::ir::{ArrayLen, FuncId, Function, InstFlags, Module, Param, Space, Type, TypeId, Types, Value};
use crate::source::Span;
use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::SmallVec;

/// The direction of a parameter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mode {
    In,
    Out,
    InOut,
    /// The pointer itself; instructions by number only.
    Reference,
    /// The words of a constant; instructions by number only.
    Literal,
    /// The variable itself, which is not a value.
    Named,
}

/// The memory space of variables for parameters of a type; `None` for value types.
fn variable_space(types: &Types, ty: TypeId) -> Option<Space> {
    let mut inner = ty;
    while let Type::Array { element, .. } = types.get(inner) {
        inner = element;
    }
    match types.get(inner) {
        Type::RayQuery | Type::HitObject { .. } => Some(Space::Private),
        Type::AtomicCounter => Some(Space::Handle),
        Type::Image(_) | Type::Sampler | Type::SampledImage(_) | Type::AccelerationStructure if inner != ty => {
            Some(Space::Handle)
        }
        _ => None,
    }
}

/// One parameter of a signature.
#[derive(Clone, Copy, Debug)]
pub struct Parameter {
    pub ty: TypeId,
    pub mode: Mode,
}

/// The parameters of a function; few functions have more.
pub type Parameters = SmallVec<[Parameter; 4]>;

/// One overload.
#[derive(Clone, Debug)]
pub struct Signature {
    pub id: FuncId,
    pub params: Parameters,
    pub ret: TypeId,
    /// The index of the instruction that it declares, if it does.
    pub instruction: Option<u32>,
    pub span: Span,
    pub defined: bool,
    /// Its body has been lowered to the end.
    pub finished: bool,
    /// Its first call; a function that is never called need not be defined.
    pub called: Option<Span>,
}

impl Signature {
    /// The types of the parameters.
    pub fn types(&self) -> impl Iterator<Item = TypeId> {
        self.params.iter().map(|param| param.ty)
    }
}

/// The overloads of one name.
#[derive(Debug)]
pub struct FunctionSet {
    pub name: Symbol,
    /// Nearly always one.
    pub overloads: SmallVec<[Signature; 1]>,
    /// The index of each overload except the first by the types of its parameters, which are unique.
    by_types: FxHashMap<SmallVec<[TypeId; 4]>, usize>,
}

impl FunctionSet {
    /// The index of the overload with exactly these parameter types.
    pub fn exact(&self, types: impl Iterator<Item = TypeId>) -> Option<usize> {
        let types: SmallVec<[TypeId; 4]> = types.collect();
        match self.overloads.first() {
            Some(first) if first.types().eq(types.iter().copied()) => Some(0),
            _ => self.by_types.get(&types).copied(),
        }
    }

    fn push(&mut self, signature: Signature) -> usize {
        let index = self.overloads.len();
        if index > 0 {
            self.by_types.insert(signature.types().collect(), index);
        }
        self.overloads.push(signature);
        index
    }
}

impl Sema<'_> {
    pub fn prototype(&mut self, module: &mut Module, id: FunctionId) {
        let function = self.ast[id];
        let mut b = Builder::outside(module);
        let Some((params, ret)) = self.signature(&mut b, &function) else { return };
        let Some(qualifier) = self.instruction_qualifier(function.qualifiers) else {
            self.refuse_passing(&params, &function);
            if let Some((set, overload)) = self.add_overload(module, &function, params, ret) {
                self.take_arguments(module, &function, set, overload);
            }
            return;
        };
        match self.declare_instruction(&mut b, qualifier, &params) {
            Some(instruction) => self.add_instruction(module, &function, (params, ret), instruction),
            None => self.declare_broken(function.name),
        }
    }

    pub fn function_definition(&mut self, module: &mut Module, id: FunctionId) {
        let function = self.ast[id];
        let signature = self.signature(&mut Builder::outside(module), &function);
        let Some(body) = function.body else { return };
        let Some((params, ret)) = signature else {
            self.declare_broken(function.name);
            return;
        };
        self.refuse_passing(&params, &function);
        self.refuse_body(&function);
        let Some((set, overload)) = self.add_overload(module, &function, params, ret) else { return };
        self.read_reconvergence(function.attributes, self.text(function.name.symbol) == "main");
        let mark = self.diagnostics.mark();
        self.define(module, &function, body, set, overload);
        let refusals = self.diagnostics.take_refusals(mark);
        if !refusals.is_empty() {
            let id = self.sets[set.0 as usize].overloads[overload].id;
            self.refusals.push((id, refusals));
        }
    }

    /// Reports unsupported constructs in the functions that the entry point reaches. Other functions are never
    /// compiled, and headers are full of them.
    pub fn report_refusals(&mut self, module: &Module, entry: FuncId) {
        if self.refusals.is_empty() {
            return;
        }
        let reached: FxHashSet<FuncId> = callees_first(module, [entry]).into_iter().collect();
        for (id, refusals) in std::mem::take(&mut self.refusals) {
            if reached.contains(&id) {
                refusals.into_iter().for_each(|refusal| self.report(refusal));
            }
        }
    }

    /// The name of a function with a wrong signature; calls of it are not reported.
    fn declare_broken(&mut self, name: ast::Name) {
        if self.scopes.get(name.symbol).is_none() {
            self.scopes.declare(name.symbol, Entity::Error, name.span);
        }
    }

    fn signature(&mut self, b: &mut Builder<'_>, function: &ast::Function) -> Option<(Parameters, TypeId)> {
        self.qualifiers(function.qualifiers);
        let ret = self.type_spec(b, function.return_type);
        let ast = self.ast;
        let mut params = Parameters::new();
        for param in &ast[function.params] {
            params.extend(self.parameter(b, param));
        }
        let span = ast[function.return_type].span;
        let ret = ret.filter(|ret| self.refuse_opaque(b, *ret, span).is_some());
        let ret = ret.filter(|ret| self.is_sized(b, *ret, span))?;
        self.refuse_valueless(b, ret, span)?;
        (params.len() == function.params.len()).then_some((params, ret))
    }

    fn parameter(&mut self, b: &mut Builder<'_>, param: &ast::Param) -> Option<Parameter> {
        let qualifiers = self.qualifiers(param.qualifiers);
        let misplaced = qualifiers.uniform.or(qualifiers.buffer).or(qualifiers.shared).or(qualifiers.tile);
        if let Some(span) = misplaced {
            self.error(Code::BAD_QUALIFIER, span, "a parameter is `in`, `out` or `inout`", "not on a parameter");
        }
        let ty = self.type_spec(b, param.ty)?;
        let ty = self.with_dimensions(b, ty, param.dimensions)?;
        if ty == Types::VOID {
            self.error(Code::BAD_TYPE, param.span, "a parameter cannot be `void`", "this parameter");
            return None;
        }
        if !self.is_sized(b, ty, param.span) {
            return None;
        }
        self.refuse_decorations(param.qualifiers);
        let mode = match (qualifiers.inout, qualifiers.output) {
            _ if qualifiers.by_reference => Mode::Reference,
            _ if qualifiers.literal => Mode::Literal,
            (Some(_), _) => Mode::InOut,
            (None, Some(_)) => Mode::Out,
            (None, None) => Mode::In,
        };
        if let (true, Some(span)) = (self.is_opaque(b, ty), qualifiers.inout.or(qualifiers.output)) {
            let message = "an image or sampler is an `in` parameter: it cannot be assigned";
            self.error(Code::BAD_QUALIFIER, span, message, "not here");
        }
        let mode =
            if variable_space(&b.module.types, ty).is_some() && mode != Mode::Reference { Mode::Named } else { mode };
        if let (Some(span), Mode::Out | Mode::InOut) = (qualifiers.constant, mode) {
            self.error(Code::BAD_QUALIFIER, span, "an `out` parameter cannot be `const`", "not here");
        }
        Some(Parameter { ty, mode })
    }

    fn is_sized(&mut self, b: &Builder<'_>, ty: TypeId, span: Span) -> bool {
        let sized = !matches!(b.module.types.get(ty), Type::Array { len: ArrayLen::Runtime, .. });
        if !sized {
            self.error(Code::BAD_TYPE, span, "this array needs a size", "no size");
        }
        sized
    }

    /// Adds a signature under its name; returns the overload if it is new or only declared so far.
    fn add_overload(
        &mut self,
        module: &mut Module,
        function: &ast::Function,
        params: Parameters,
        ret: TypeId,
    ) -> Option<(SetId, usize)> {
        let set = self.function_set(function.name)?;
        if let Some(index) = self.sets[set.0 as usize].exact(params.iter().map(|param| param.ty)) {
            return self.redeclare(function, set, index, &params, ret);
        }
        let name = self.text(function.name.symbol);
        let id = module.functions.push(Function::new(name, function.span, Vec::new(), ret));
        if function.body.is_none() {
            stand_in(module, id, function.span, Vec::new());
        }
        let (span, defined) = (function.name.span, function.body.is_some());
        let signature = Signature { id, params, ret, instruction: None, span, defined, finished: false, called: None };
        Some((set, self.sets[set.0 as usize].push(signature)))
    }

    /// Gives parameters to the placeholder body of a function that is only declared so far, because others may call it.
    fn take_arguments(&mut self, module: &mut Module, function: &ast::Function, set: SetId, overload: usize) {
        let signature = &self.sets[set.0 as usize].overloads[overload];
        if !signature.defined {
            let params = self.ir_params(module, function, signature);
            stand_in(module, signature.id, function.span, params);
        }
    }

    /// Enters a function that is an instruction. The function that replaces it is never called.
    fn add_instruction(
        &mut self,
        module: &mut Module,
        function: &ast::Function,
        (params, ret): (Parameters, TypeId),
        instruction: u32,
    ) {
        let Some((set, overload)) = self.add_overload(module, function, params, ret) else { return };
        let signature = &mut self.sets[set.0 as usize].overloads[overload];
        (signature.defined, signature.finished) = (true, true);
        signature.instruction = Some(instruction);
    }

    fn redeclare(
        &mut self,
        function: &ast::Function,
        set: SetId,
        index: usize,
        params: &[Parameter],
        ret: TypeId,
    ) -> Option<(SetId, usize)> {
        let known = &mut self.sets[set.0 as usize].overloads[index];
        let (span, first) = (function.name.span, known.span);
        let modes = |list: &[Parameter]| list.iter().map(|p| p.mode).collect::<Vec<_>>();
        let complaint = if known.ret != ret {
            "overloads cannot differ in the return type only"
        } else if modes(&known.params) != modes(params) {
            "the parameters' qualifiers differ from the earlier declaration's"
        } else if known.defined && function.body.is_some() {
            "this function is defined twice"
        } else {
            known.defined |= function.body.is_some();
            self.scopes.note(span, first);
            return Some((set, index));
        };
        let diagnostic = Diagnostic::error(Code::REDECLARED, complaint);
        self.report(diagnostic.at(span, "the second one").with(first, "the first one"));
        None
    }

    fn function_set(&mut self, name: ast::Name) -> Option<SetId> {
        match self.scopes.get(name.symbol).map(|declared| &declared.entity) {
            Some(Entity::Functions(set)) => return Some(*set),
            Some(Entity::Error) => return None,
            _ => {}
        }
        let set = SetId(self.sets.len() as u32);
        self.sets.push(FunctionSet { name: name.symbol, overloads: SmallVec::new(), by_types: FxHashMap::default() });
        self.check_es_overload(self.text(name.symbol), name.span);
        self.declare(name, Entity::Functions(set));
        Some(set)
    }

    fn define(&mut self, module: &mut Module, function: &ast::Function, body: ast::Body, set: SetId, overload: usize) {
        let signature = self.sets[set.0 as usize].overloads[overload].clone();
        let params = self.ir_params(module, function, &signature);
        let mut b = Builder::define(module, signature.id, function.span, params);
        // In nearly every shader, an instruction has at least six bytes of text.
        b.expect((body.span.hi - body.span.lo) as usize / 6);
        self.check_usable(&b, function, &signature);
        (self.return_type, self.returns) = (signature.ret, false);
        self.set_precise(&mut b, function);
        self.non_uniform.clear();
        self.scopes.enter();
        self.declare_params(&mut b, function.params, &signature);
        self.statements(&mut b, body.stmts);
        self.scopes.leave();
        b.span = body.span;
        self.check_returns(&b, function, signature.ret);
        b.span = Span::new(body.span.hi.saturating_sub(1), body.span.hi);
        let falls_off = self.end_of_body(&mut b, signature.ret) && signature.ret != Types::VOID;
        b.finish_into(Some(signature.id));
        if falls_off && self.returns {
            self.warn_of_end(&module.functions[signature.id], function);
        }
        self.sets[set.0 as usize].overloads[overload].finished = true;
    }

    /// Parameters are variables, and storage extensions alone do not allow variables of their types. A result is a
    /// value like one loaded from a block: it can be converted.
    fn check_usable(&mut self, b: &Builder<'_>, function: &ast::Function, signature: &Signature) {
        let ast = self.ast;
        for (param, known) in ast[function.params].iter().zip(&signature.params) {
            self.usable(b, known.ty, param.span);
        }
    }

    /// A function with a result must return one (GLSL 4.60 section 6.1). Paths without a `return` leave it undefined.
    /// This is an error only if no path has one, because a path may be impossible.
    fn check_returns(&mut self, b: &Builder<'_>, function: &ast::Function, ret: TypeId) {
        if ret == Types::VOID || self.returns {
            return;
        }
        let name = self.text(function.name.symbol);
        let message =
            format!("the function `{name}` returns nothing, but is declared to return `{}`", self.type_name(b, ret));
        self.error(Code::BAD_STATEMENT, function.name.span, message, "no `return` in its body");
    }

    /// Warns if control can reach the `return` that replaces a missing one at the end of a body.
    fn warn_of_end(&mut self, function: &Function, written: &ast::Function) {
        let end = function.blocks[function.body].insts.last();
        if end.is_some_and(|end| DeadEnds::of(function).has(*end)) {
            let message = format!("the function `{}` can end without a `return`", function.name);
            let warning = Diagnostic::warning(Code::MISSING_RETURN, message);
            let warning = warning.at(written.name.span, "its result is undefined then");
            self.report(warning.help("end it with a `return` of a value"));
        }
    }

    /// A function that falls off its end returns an undefined value. Returns true if it might.
    fn end_of_body(&mut self, b: &mut Builder<'_>, ret: TypeId) -> bool {
        if b.is_terminated() {
            return false;
        }
        if ret == Types::VOID {
            b.ret(None);
        } else {
            let nothing = b.undef(ret);
            b.ret(Some(nothing));
        }
        true
    }

    /// A function that declares anything `precise` is computed without contraction as a whole; GLSL 4.60 section 4.9
    /// requires that only for values that flow into the variable.
    fn set_precise(&mut self, b: &mut Builder<'_>, function: &ast::Function) {
        let span = function.body.map_or(Span::NONE, |body| body.span);
        let precise = self.precise.iter().any(|at| at.lo >= span.lo && at.hi <= span.hi);
        b.flags.set(InstFlags::PRECISE, precise);
    }

    fn ir_params(&self, module: &mut Module, function: &ast::Function, signature: &Signature) -> Vec<Param> {
        let written = self.ast[function.params].iter().zip(&signature.params);
        written
            .map(|(param, known)| {
                let name = param.name.map_or("", |name| self.text(name.symbol)).into();
                let ty = match known.mode {
                    Mode::In | Mode::Reference | Mode::Literal => known.ty,
                    Mode::Out | Mode::InOut => module.types.pointer(Space::Function, known.ty),
                    Mode::Named => {
                        let space = variable_space(&module.types, known.ty).unwrap_or(Space::Private);
                        module.types.pointer(space, known.ty)
                    }
                };
                let span = param.name.map_or(param.span, |name| name.span);
                Param { name, span, ty, is_out: known.mode == Mode::Out }
            })
            .collect()
    }

    fn declare_params(&mut self, b: &mut Builder<'_>, params: List<ast::Param>, signature: &Signature) {
        let ast = self.ast;
        for (index, (param, known)) in ast[params].iter().zip(&signature.params).enumerate() {
            let Some(name) = param.name else { continue };
            let value = Value::Param(index as u32);
            let constant = self.qualifiers(param.qualifiers).constant.is_some();
            let marked = ast[param.qualifiers].iter().any(|q| matches!(q.kind, ast::QualifierKind::NonUniform));
            self.non_uniform_declarations.extend(marked.then_some(param.span));
            self.non_uniform.extend(marked.then_some(value));
            let entity = match known.mode {
                Mode::In if constant || self.is_opaque(b, known.ty) => Entity::Value(value),
                Mode::In | Mode::Reference | Mode::Literal => self.parameter_copy(b, name, value, known.ty),
                Mode::Out | Mode::InOut => Entity::LValue(LValue::new(value, Space::Function, known.ty)),
                Mode::Named => {
                    let space = variable_space(&b.module.types, known.ty).unwrap_or(Space::Private);
                    let access = self.qualifiers(param.qualifiers).access;
                    Entity::LValue(LValue { access, ..LValue::new(value, space, known.ty) })
                }
            };
            self.declare(name, entity);
        }
    }

    /// An `in` parameter may be written inside the function, so it lives in a variable.
    fn parameter_copy(&mut self, b: &mut Builder<'_>, name: ast::Name, value: Value, ty: TypeId) -> Entity {
        b.span = name.span;
        let root = b.variable(self.text(name.symbol), ty, None);
        b.store(root, value);
        Entity::LValue(LValue { mutability: Mutability::Writable, ..LValue::new(root, Space::Function, ty) })
    }

    /// Functions that the entry point reaches must be defined; in a shader without one, all that are called. Each is
    /// reported once.
    pub fn check_definitions(&mut self, module: &Module) {
        let is_missing = |s: &Signature| !s.defined && s.called.is_some();
        if !self.sets.iter().flat_map(|set| &set.overloads).any(is_missing) {
            return;
        }
        let reached: Option<FxHashSet<FuncId>> =
            self.find_main().map(|main| callees_first(module, [main]).into_iter().collect());
        let mut missing = Vec::new();
        for set in &mut self.sets {
            let undefined = set.overloads.iter_mut().filter(|s| is_missing(s));
            for signature in undefined.filter(|s| reached.as_ref().is_none_or(|reached| reached.contains(&s.id))) {
                missing.extend(signature.called.take().map(|call| (set.name, call, signature.span)));
            }
        }
        for (name, call, prototype) in missing {
            let message = format!("function `{}` is called but never defined", self.text(name));
            let diagnostic = Diagnostic::error(Code::NOT_DEFINED, message).at(call, "called here");
            self.report(diagnostic.with(prototype, "declared here"));
        }
    }

    /// GLSL forbids recursion, direct or not (section 6.1.2, static recursion).
    pub fn check_recursion(&mut self, module: &Module) {
        if !self.calls_unfinished {
            return;
        }
        if let Some((caller, span)) = find_cycle(module) {
            let name = &module.functions[caller].name;
            let message = format!("function `{name}` calls itself, directly or through others");
            self.error(Code::RECURSION, span, message, "this call makes the recursion");
        }
    }
}

/// Gives a function that is only declared a body that is never run.
fn stand_in(module: &mut Module, id: FuncId, at: Span, params: Vec<Param>) {
    let mut b = Builder::define(module, id, at, params);
    b.unreachable();
    b.finish_into(Some(id));
}

/// A recursive call, found depth-first over the call graph with an explicit stack.
fn find_cycle(module: &Module) -> Option<(FuncId, Span)> {
    let calls: Vec<Vec<(FuncId, Span)>> =
        module.functions.iter().map(|(_, function)| callees(function).collect()).collect();
    let mut done = vec![false; calls.len()];
    let mut open = vec![false; calls.len()];
    for start in module.functions.handles() {
        let mut stack = vec![(start, 0)];
        while let Some((id, next)) = stack.pop() {
            if done[id.index()] {
                continue;
            }
            open[id.index()] = true;
            let Some((callee, span)) = calls[id.index()].get(next) else {
                (done[id.index()], open[id.index()]) = (true, false);
                continue;
            };
            if open[callee.index()] {
                return Some((*callee, *span));
            }
            stack.push((id, next + 1));
            stack.push((*callee, 0));
        }
    }
    None
}
