//! Function bodies: which values are written at their uses and which get a name.

use super::constants::component;
use super::expr::{Expr, Reads};
use super::inout::Copies;
use super::names::Names;
use super::place::{Address, LaidPath};
use super::runs::Runs;
use super::tree::{Declared, Kind, Lines, Stmt, Syntax};
use super::uses::Uses;
use super::writer::Writer;
use crate::backend::written::Written;
use crate::ir::{
    self, BlockId, EntryPoint, FuncId, Function, Inst, InstFlags, InstId, LocalId, Op, Param, Scalar, Space, Type,
    TypeId, Types, Value, Values,
};
use crate::kernel::Origin;
use crate::limits;
use crate::source::Span;
use rustc_hash::{FxHashMap, FxHashSet};

/// Maximum length of an expression to inline into another one.
const LONGEST: usize = 100;

/// A function as text in parts.
#[derive(Debug)]
pub(super) struct Definition {
    pub span: Span,
    /// Comments and directives before it.
    pub before: Vec<String>,
    head: String,
    pub body: Vec<Stmt>,
    syntax: &'static Syntax,
}

impl Definition {
    /// Its lines, with or without the comments on cross-lane operations.
    pub fn lines(&self, has_comments: bool) -> Vec<Written> {
        let mut whole = Lines::indented(0, self.syntax);
        let line = |text: &str| Stmt::new(Origin::Code, Kind::Line(text.to_string()));
        let before = self.before.iter().map(String::as_str);
        whole.block(&before.chain([self.head.as_str()]).map(line).collect::<Vec<_>>());
        let mut inner = Lines::indented(1, self.syntax);
        inner.block(&self.body);
        let is_kept = |text: &str| has_comments || !text.trim_start().starts_with("// ");
        whole.lines.extend(inner.lines.into_iter().filter(|line| is_kept(&line.text)));
        let mut end = Lines::indented(0, self.syntax);
        end.block(&[line("}")]);
        whole.lines.extend(end.lines);
        whole.lines
    }
}

/// The expressions of a result.
#[derive(Clone, Debug)]
pub(super) enum Made {
    One(Expr),
    /// A function with two results.
    Pair([Expr; 2]),
    /// An address in an untyped buffer.
    Bytes(Address),
    /// A place whose layout differs from its logical type.
    Laid(LaidPath),
}

/// The function being written.
pub(super) struct Body<'t, 'a> {
    pub t: &'t mut Writer<'a>,
    pub f: &'a Function,
    pub id: FuncId,
    pub names: Names,
    pub uses: Uses,
    /// Stores combined into one assignment.
    pub runs: Runs,
    /// The entry point, if this is its function.
    pub entry: Option<&'a EntryPoint>,
    pub values: FxHashMap<InstId, Made>,
    /// The instruction being written.
    pub current: Option<InstId>,
    pub params: Vec<String>,
    pub locals: FxHashMap<LocalId, String>,
    /// Variables declared with their first value.
    pub waiting: FxHashSet<LocalId>,
    /// Variables that are names of values.
    pub fixed: FxHashSet<LocalId>,
    /// Variables whose values must not be contracted.
    pub exact: FxHashSet<LocalId>,
    copies: Copies,
    /// Variables that are read before they have a value, if the language requires one.
    unset: FxHashSet<LocalId>,
    /// The last variable declared with its first value, and its name.
    pub declared: Option<(LocalId, String)>,
    /// The statements at the start of the function, in scope in all of it.
    pub setup: Vec<Stmt>,
    pub blocks: Vec<Vec<Stmt>>,
    /// The enclosing constructs, innermost last.
    pub around: Vec<super::exits::Around>,
    /// Switches around that are loops which run once, the innermost last.
    pub chains: Vec<super::arms::Chain>,
    /// State inside loops that returns leave through a flag.
    pub returns: Option<super::exits::Returns>,
    pub origin: Origin,
    pub lane_setup: super::lane::Setup,
    /// Values of the selections being written, the innermost last.
    pub yields: Vec<Option<Expr>>,
}

impl<'a> Writer<'a> {
    pub fn function(&mut self, id: FuncId, entry: Option<&'a EntryPoint>) -> Definition {
        let f = &self.module.functions[id];
        self.span = f.span;
        let language = self.language;
        let name = match entry {
            Some(entry) => language.entry_name(entry),
            None => self.function_names.get(&id).cloned().unwrap_or_default(),
        };
        let mut body = Body::new(self, id, entry);
        language.begin(&mut body);
        let params = body.parameters();
        let mut code = body.block_of(f.body);
        if entry.is_some() && !code.last().is_some_and(Stmt::jumps) {
            code.extend(body.within(|body| language.leave_entry(body)));
        }
        language.polish(&mut body, &mut code);
        let head = language.signature(&mut body, &name, &params, entry);
        let mut statements = std::mem::take(&mut body.setup);
        statements.extend(code);
        if f.ret == Types::VOID
            && statements.last().is_some_and(|last| matches!(&last.kind, Kind::Line(text) if text == "return;"))
        {
            statements.pop();
        }
        let syntax = language.syntax();
        let before = self.remarks_at(&[f.span]).all();
        Definition { span: f.span, before, head, body: statements, syntax }
    }
}

impl<'t, 'a> Body<'t, 'a> {
    fn new(t: &'t mut Writer<'a>, id: FuncId, entry: Option<&'a EntryPoint>) -> Body<'t, 'a> {
        let f = &t.module.functions[id];
        let exact = exact_locals(f, &t.types);
        let runs = Runs::of(t.module, f, t.language.assigns_components());
        let pure = t.pure();
        let mut uses = Uses::of(f, &t.types, &runs, pure);
        let copies = Copies::of(t, f, &uses);
        uses.declare(f, &copies.passed);
        let names = Names::new(t.language);
        let unset = t.language.unset(t.module, f);
        Body {
            t,
            f,
            id,
            names,
            uses,
            runs,
            entry,
            values: FxHashMap::default(),
            current: None,
            params: Vec::new(),
            locals: FxHashMap::default(),
            waiting: FxHashSet::default(),
            fixed: FxHashSet::default(),
            exact,
            copies,
            unset,
            declared: None,
            setup: Vec::new(),
            blocks: Vec::new(),
            around: Vec::new(),
            chains: Vec::new(),
            returns: None,
            origin: Origin::Code,
            lane_setup: super::lane::Setup::default(),
            yields: Vec::new(),
        }
    }

    fn parameters(&mut self) -> Vec<String> {
        let mut list = Vec::new();
        for (index, param) in (0..).zip(&self.f.params) {
            self.t.span = param.span;
            let name = self.named(if param.name.is_empty() { "parameter" } else { &param.name });
            let language = self.t.language;
            list.push(language.parameter(self, index, param, &name));
            self.params.push(name);
        }
        list
    }

    /// The keyword before a parameter's type, and the type of its variable.
    pub fn mode_of(&mut self, param: &Param) -> (&'static str, TypeId) {
        match self.t.types.pointee(param.ty) {
            Some((Space::Function | Space::Private, pointee)) => {
                (if param.is_out { "out " } else { "inout " }, pointee)
            }
            Some((Space::Handle, pointee)) => ("", pointee),
            Some(_) => {
                self.t.unsupported("parameters that point to memory");
                ("", param.ty)
            }
            None => ("", param.ty),
        }
    }

    /// An unused name in this scope.
    pub fn named(&mut self, name: &str) -> String {
        self.names.unique(name, Some(&self.t.names))
    }

    /// The statements of a block of instructions.
    pub fn block_of(&mut self, block: BlockId) -> Vec<Stmt> {
        self.blocks.push(Vec::new());
        self.block(block);
        self.blocks.pop().unwrap_or_default()
    }

    /// The statements of `write`, as a separate block.
    pub fn within(&mut self, write: impl FnOnce(&mut Self)) -> Vec<Stmt> {
        self.blocks.push(Vec::new());
        write(self);
        self.blocks.pop().unwrap_or_default()
    }

    fn block(&mut self, block: BlockId) {
        let f = self.f;
        for (index, id) in (0..).zip(&f.blocks[block].insts) {
            for local in self.uses.declared_at((block, index)).to_vec() {
                self.declare(local, &f.insts[*id]);
            }
            self.instruction(*id, &f.insts[*id]);
            let made = self.blocks.last_mut().map(|open| open.iter_mut()).unwrap_or_default();
            made.rev().take_while(|stmt| stmt.span.is_none()).for_each(|stmt| stmt.span = f.insts[*id].span);
        }
    }

    pub fn push(&mut self, kind: Kind) {
        limits::hold::<Stmt>(1);
        let stmt = Stmt::new(self.origin, kind);
        match self.blocks.last_mut() {
            Some(block) => block.push(stmt),
            None => self.setup.push(stmt),
        }
    }

    /// A line at the start of the function, without its semicolon.
    pub fn setup_line(&mut self, text: String) {
        self.setup.push(Stmt::new(self.origin, Kind::Line(text + ";")));
    }

    /// A one-line statement, without its semicolon.
    pub fn line(&mut self, text: String) {
        self.push(Kind::Line(text + ";"));
    }

    fn declare(&mut self, local: LocalId, next: &Inst) {
        if self.copies.passed.contains_key(&local) {
            return;
        }
        let item = &self.f.locals[local];
        let outside = std::mem::replace(&mut self.t.span, item.span);
        if item.span == crate::source::Span::NONE {
            self.t.span = outside;
        }
        let first = match next.op {
            Op::Store { pointer: Value::Local(to), value } if to == local && item.init.is_none() => Some(value),
            _ => None,
        };
        let name = match first.and_then(|value| self.param_of(local, value)) {
            Some(param) => param,
            None => self.named(if item.name.is_empty() { "variable" } else { &item.name }),
        };
        self.locals.insert(local, name.clone());
        if first.is_some() {
            self.waiting.insert(local);
        } else {
            let (ty, dims) = self.local_type(local);
            let value = match item.init {
                Some(init) => Some(self.t.initial(init)),
                None => self.unset.contains(&local).then(|| self.t.zero(item.ty).text),
            };
            self.push(Kind::Define(Declared { ty, name, dims, value, is_fixed: false }));
            let declared = self.blocks.last_mut().and_then(|open| open.last_mut());
            declared.into_iter().for_each(|stmt| stmt.span = item.span);
        }
        self.t.span = outside;
    }

    /// The type at the start of a variable's declaration.
    pub fn local_type(&mut self, id: LocalId) -> (String, String) {
        let (ty, dims) = self.t.declared(self.f.locals[id].ty);
        let language = self.t.language;
        let word = if self.exact.contains(&id) { language.precise_word(self.t) } else { "" };
        (format!("{word}{ty}"), dims)
    }

    /// The parameter that can serve as a variable: its only use is the store that initialises the variable, once per
    /// call.
    fn param_of(&self, id: LocalId, value: Value) -> Option<String> {
        let Value::Param(index) = value else { return None };
        if self.blocks.len() != 1 {
            return None;
        }
        let param = &self.f.params[index as usize];
        let is_alike = param.ty == self.f.locals[id].ty && param.name == self.f.locals[id].name;
        let is_kept = !self.t.language.has_fixed_names() || self.uses.is_given_once(self.f, &self.t.types, id);
        let is_it = is_alike && is_kept && self.uses.param_count(index) == 1 && !self.exact.contains(&id);
        is_it.then(|| self.params[index as usize].clone())
    }

    /// Gives a value a name here.
    pub fn name(&mut self, base: &str, ty: TypeId, value: &Expr) -> Expr {
        self.define(base, ty, Some(value.text.clone()), true)
    }

    /// Declares a variable with its first value.
    pub fn changing(&mut self, base: &str, ty: TypeId, value: &Expr) -> Expr {
        self.define(base, ty, Some(value.text.clone()), false)
    }

    /// Declares a variable without a value.
    pub fn variable(&mut self, base: &str, ty: TypeId) -> Expr {
        self.define(base, ty, None, false)
    }

    /// Gives a value of a type without a name this name.
    pub fn define_as(&mut self, name: &str, value: &Expr) {
        let (name, value) = (name.to_string(), Some(value.text.clone()));
        self.push(Kind::Define(Declared { ty: String::new(), name, dims: String::new(), value, is_fixed: true }));
    }

    fn define(&mut self, base: &str, ty: TypeId, value: Option<String>, is_fixed: bool) -> Expr {
        let name = self.named(base);
        let (ty, dims) = self.t.declared(ty);
        self.push(Kind::Define(Declared { ty, name: name.clone(), dims, value, is_fixed }));
        Expr::primary(name)
    }

    fn instruction(&mut self, id: InstId, inst: &Inst) {
        limits::spend(1);
        limits::hold::<(InstId, Made)>(1);
        self.t.span = inst.span;
        let is_part = self.uses.is_joined(id) && !matches!(inst.op, Op::Extract { .. });
        if is_part || self.copies.skipped.contains(&id) || self.runs.stands_elsewhere(id) {
            return;
        }
        self.current = Some(id);
        let Some(made) = self.operation(id, inst) else { return };
        let made = match made {
            Made::One(value) => Made::One(self.settle(id, inst, value)),
            other => other,
        };
        self.values.insert(id, made);
    }

    /// The value at its use, or its name.
    fn settle(&mut self, id: InstId, inst: &Inst, value: Expr) -> Expr {
        if self.is_pointer(inst) || inst.ty == Types::VOID || self.uses.is_joined(id) {
            return value;
        }
        // An image and its sampler cannot be assigned to a variable.
        if self.is_handle(inst.ty) {
            return value;
        }
        if !self.uses.is_used(id) {
            let is_atomic = matches!(inst.op, Op::Image { op: ir::ImageOp::Atomic(..), .. });
            let acts = matches!(inst.op, Op::Call(..) | Op::Atomic { .. } | Op::Ray { .. } | Op::Foreign(..));
            if !value.is_plain() && (is_atomic || acts) {
                self.line(value.text.clone());
            }
            return value;
        }
        let is_exact = is_exact(inst, &self.t.types) && !self.is_in_exact(id);
        let is_short = value.text.len() <= LONGEST;
        let is_path = value.is_plain() && value.reads.is_empty();
        let can_move = match inst.op {
            _ if is_exact => false,
            _ if is_path => true,
            Op::Load(_) | Op::Extract { .. } if value.is_plain() && !value.reads.memory => {
                self.uses.is_stable(self.f, id, &value.reads)
            }
            Op::Call(..) | Op::Atomic { .. } if self.uses.is_taken_next(self.f, id) => true,
            Op::Call(callee, _) if is_short && self.uses.is_pure(callee) => self.can_come_later(id, &value),
            Op::Call(..) | Op::Atomic { .. } => false,
            Op::Ray { op: ir::RayOp::Proceed, .. } | Op::Foreign(..) => {
                self.uses.is_taken_next(self.f, id) || self.uses.is_next_condition(self.f, id)
            }
            Op::Image { op, .. } if self.uses.is_taken_next(self.f, id) => op != ir::ImageOp::Size,
            Op::Image { op, .. } if is_short && op.is_lookup() => self.can_come_later(id, &value),
            Op::Image { .. } => false,
            Op::Math(function, _) if function.is_derivative() => self.uses.is_taken_next(self.f, id),
            Op::Interpolate { .. } => self.uses.is_taken_next(self.f, id),
            _ => (is_short || self.uses.is_stored(self.f, id)) && self.uses.can_move(self.f, id, &value.reads),
        };
        let comes_later = matches!(inst.op, Op::Image { .. } | Op::Call(..));
        if can_move {
            return if comes_later { value.reading_memory(true) } else { value };
        }
        let base = self.base_of(inst);
        if is_exact {
            let name = self.named(&base);
            let (ty, dims) = self.t.declared(inst.ty);
            let language = self.t.language;
            let ty = format!("{}{ty}", language.precise_word(self.t));
            let value = Some(value.text);
            self.push(Kind::Define(Declared { ty, name: name.clone(), dims, value, is_fixed: true }));
            return Expr::primary(name);
        }
        self.name(&base, inst.ty, &value)
    }

    /// Returns true if a result that depends on memory, or on the participating invocations, can be computed at its
    /// use.
    fn can_come_later(&self, id: InstId, value: &Expr) -> bool {
        let reads = value.clone().reading_memory(true).reads;
        self.uses.is_always_taken(self.f, id) && self.uses.can_move(self.f, id, &reads)
    }

    /// Returns true if the only use of a result is part of an exact expression, or a store to an exact variable.
    fn is_in_exact(&self, id: InstId) -> bool {
        let Some(user) = self.uses.only_user(self.f, id).map(|user| &self.f.insts[user]) else { return false };
        let is_stored = matches!(user.op, Op::Store { pointer: Value::Local(_), value } if value == Value::Inst(id));
        is_stored || is_exact(user, &self.t.types)
    }

    /// The base of a value's name, from the variable or function that it comes from.
    fn base_of(&self, inst: &Inst) -> String {
        let of = |name: &str| if name.is_empty() { "t".to_string() } else { name.to_string() };
        match inst.op {
            Op::Load(Value::Local(id)) => of(&self.f.locals[id].name),
            Op::Load(Value::Global(id)) => of(&self.t.module.globals[id].name),
            Op::Call(callee, _) => format!("{}_result", of(&self.t.module.functions[callee].name)),
            Op::Image { .. } => "texel".to_string(),
            Op::Atomic { .. } => "before".to_string(),
            _ => "t".to_string(),
        }
    }

    fn is_pointer(&self, inst: &Inst) -> bool {
        matches!(self.t.types.get(inst.ty), Type::Pointer { .. })
    }

    /// Returns true if a type is a storage image, or an array of them.
    pub fn is_image(&self, ty: TypeId) -> bool {
        match self.t.types.get(ty) {
            Type::Array { element, .. } => self.is_image(element),
            Type::Image(image) => image.storage,
            _ => false,
        }
    }

    pub fn is_handle(&self, ty: TypeId) -> bool {
        matches!(
            self.t.types.get(ty),
            Type::Image(_) | Type::Sampler | Type::SampledImage(_) | Type::AccelerationStructure
        )
    }

    /// The text of an operand.
    pub fn value(&mut self, value: Value) -> Expr {
        match value {
            Value::Const(id) => self.t.language.constant(self, id),
            Value::Param(index) => {
                let language = self.t.language;
                let made = language.param(self, index);
                self.single(made)
            }
            Value::Global(id) => {
                let language = self.t.language;
                let made = language.global(self, id);
                self.single(made)
            }
            Value::Local(id) if self.copies.passed.contains_key(&id) => self.value(self.copies.passed[&id]),
            Value::Local(id) => match self.locals.get(&id) {
                Some(name) if self.fixed.contains(&id) => Expr::primary(name.clone()),
                Some(name) => Expr::primary(name.clone()).reading(&Reads::local(id)),
                None => self.t.broken("a variable before its declaration"),
            },
            Value::Inst(id) => match self.values.get(&id) {
                Some(Made::One(value)) => value.clone(),
                Some(Made::Pair(parts)) => {
                    let (parts, ty) = (parts.clone(), self.f.insts[id].ty);
                    let language = self.t.language;
                    language.construct(self, ty, parts.to_vec())
                }
                Some(Made::Bytes(_) | Made::Laid(_)) => self.t.broken("an address as a value"),
                None => self.t.broken("a value before its instruction"),
            },
        }
    }

    /// The expression that contains an operand.
    pub fn made(&mut self, value: Value) -> Made {
        let language = self.t.language;
        match value {
            Value::Param(index) => language.param(self, index),
            Value::Global(id) => language.global(self, id),
            Value::Local(id) if self.copies.passed.contains_key(&id) => self.made(self.copies.passed[&id]),
            Value::Inst(id) => match self.values.get(&id) {
                Some(made) => made.clone(),
                None => Made::One(self.t.broken("a value before its instruction")),
            },
            other => Made::One(self.value(other)),
        }
    }

    /// The single expression of a result.
    pub fn single(&mut self, made: Made) -> Expr {
        match made {
            Made::One(value) => value,
            Made::Pair(_) | Made::Bytes(_) | Made::Laid(_) => self.t.broken("an address as a value"),
        }
    }

    pub fn list(&mut self, list: Values) -> Vec<Expr> {
        let f = self.f;
        f.values(list).iter().map(|value| self.value(*value)).collect()
    }

    /// The type of an operand that is not a variable.
    pub fn type_of(&self, value: Value) -> TypeId {
        match value {
            Value::Inst(id) => self.f.insts[id].ty,
            Value::Const(id) => self.t.module.constants.get(id).ty,
            Value::Param(index) => self.f.params[index as usize].ty,
            Value::Global(id) => self.t.module.globals[id].ty,
            Value::Local(id) => self.f.locals[id].ty,
        }
    }

    pub fn shape_of(&self, value: Value) -> Option<(Scalar, u8)> {
        self.t.shape(self.type_of(value))
    }

    fn operation(&mut self, id: InstId, inst: &Inst) -> Option<Made> {
        let language = self.t.language;
        Some(Made::One(match inst.op {
            Op::Unary(ir::UnaryOp::Neg, a)
                if self.shape_of(a).is_some_and(|(scalar, _)| scalar == Scalar::I32)
                    && language.has_undefined_overflow()
                    && self.has_negation(a) =>
            {
                Expr::unary("-", &self.value(a))
            }
            Op::Unary(op, a) => {
                let (of, a) = (self.type_of(a), self.value(a));
                self.t.unary(op, &a, of)
            }
            Op::Binary(op, a, b) => self.binary(op, a, b),
            Op::Math(function, args) => return Some(language.math(self, function, args, inst.ty)),
            Op::Convert(a) => {
                let (of, a) = (self.type_of(a), self.value(a));
                self.t.converted(&a, of, inst.ty)
            }
            Op::Bitcast(a) => {
                let (of, a) = (self.type_of(a), self.value(a));
                self.t.reinterpreted(&a, of, inst.ty)
            }
            Op::Select { condition, accept, reject } => self.select(condition, accept, reject, inst.ty),
            Op::Construct(parts) => {
                let parts = self.parts_of(parts, inst.ty);
                language.construct(self, inst.ty, parts)
            }
            Op::Splat(a) => {
                let a = self.value(a);
                let whole = language.splat(self.t, inst.ty, a.clone());
                Expr { component: Some(Box::new(a)), ..whole }
            }
            Op::Extract { composite, index } => return self.extract(composite, index),
            Op::ExtractDynamic { composite, index } => {
                let (composite, index) = (self.value(composite), self.value(index));
                composite.part(&format!("[{}]", index.text)).reading(&index.reads)
            }
            Op::Insert { composite, index, part } => self.insert(composite, index, part, inst.ty),
            Op::InsertDynamic { composite, index, part } => {
                let [value, index, part] = [composite, index, part].map(|value| self.value(value));
                let copy = self.changing("changed", inst.ty, &value);
                self.line(format!("{}[{}] = {}", copy.text, index.text, part.text));
                copy
            }
            Op::Shuffle { a, b, mask } => self.shuffle(a, b, mask, inst.ty),
            Op::Access { base, indices } => return Some(language.access(self, id, base, indices, inst.flags)),
            Op::Load(pointer) => return Some(language.load(self, pointer, inst.ty)),
            Op::Store { pointer, value } => {
                self.store(pointer, value);
                return None;
            }
            Op::ArrayLength { block } => language.array_length(self, block),
            Op::Atomic { op, pointer, args, scope, order } => {
                return language.atomic(self, op, pointer, args, (scope, order)).map(Made::One);
            }
            Op::Image { op, parts, operands } => return self.image(op, parts, operands, inst.ty),
            Op::Lane(op, args) => return self.lane(id, op, args, inst.ty),
            Op::Call(callee, args) => {
                let f = self.f;
                let args: Vec<Made> = f.values(args).iter().map(|arg| self.made(*arg)).collect();
                let Some(name) = self.t.function_names.get(&callee).cloned() else {
                    return Some(Made::One(self.t.broken("a call of a function that is not written")));
                };
                let call = language.call(self, callee, &name, args).reading_memory(true);
                if inst.ty == Types::VOID {
                    self.line(call.text);
                    return None;
                }
                call
            }
            Op::Interpolate { at, pointer, args } => language.interpolate(self, at, pointer, args),
            Op::Barrier { execution, memory, kinds, order } => {
                language.barrier(self, execution, memory, kinds, order);
                return None;
            }
            Op::Ray { op, on, args } => return language.ray(self, op, on, args, inst.ty).map(Made::One),
            Op::Cooperative(..) => self.t.stand_in("cooperative matrices"),
            Op::Foreign(at, args) => return language.foreign(self, at, args, inst.ty).map(Made::One),
            Op::Print { text, args } => {
                let args = self.list(args);
                let text = self.t.module.texts.get(text as usize).map_or("", |text| text);
                language.print(self, text, args);
                return None;
            }
            Op::PixelDepth | Op::PixelStencil => self.t.stand_in("reads of the pixel"),
            Op::Interlock { begin } => {
                language.interlock(self, begin);
                return None;
            }
            _ => return self.control(inst).map(Made::One),
        }))
    }

    /// The parts of a composite; parts of a vector may be vectors.
    fn parts_of(&mut self, parts: Values, ty: TypeId) -> Vec<Expr> {
        let f = self.f;
        if !matches!(self.t.types.get(ty), Type::Vector { .. }) {
            return self.list(parts);
        }
        self.vector_parts(f.values(parts))
    }

    /// The parts of a vector.
    pub fn vector_parts(&mut self, parts: &[Value]) -> Vec<Expr> {
        let parts = super::uses::parts_of(self.f, &self.t.types, parts);
        let wholes = parts.into_iter().map(|part| match part {
            super::uses::Part::One(one) => one,
            super::uses::Part::Whole(whole, _) => whole,
        });
        wholes.map(|value| self.value(value)).collect()
    }

    fn extract(&mut self, composite: Value, index: u32) -> Option<Made> {
        if let Value::Inst(id) = composite
            && let Some(Made::Pair(parts)) = self.values.get(&id)
        {
            return parts.get(index as usize).cloned().map(Made::One);
        }
        let ty = self.type_of(composite);
        let base = self.value(composite);
        let suffix = self.suffix(ty, index);
        Some(Made::One(base.part(&suffix)))
    }

    /// The suffix that selects a part of a composite.
    pub fn suffix(&mut self, ty: TypeId, index: u32) -> String {
        match self.t.types.get(ty) {
            Type::Vector { .. } => component(index),
            Type::Struct(of) => {
                let names = self.t.member_names(of);
                names.get(index as usize).map_or_else(String::new, |name| format!(".{name}"))
            }
            _ => format!("[{index}]"),
        }
    }

    fn insert(&mut self, composite: Value, index: u32, part: Value, ty: TypeId) -> Expr {
        let (value, part) = (self.value(composite), self.value(part));
        let copy = self.changing("changed", ty, &value);
        let suffix = self.suffix(ty, index);
        self.line(format!("{}{suffix} = {}", copy.text, part.text));
        copy
    }

    fn shuffle(&mut self, a: Value, b: Value, mask: [u8; 4], ty: TypeId) -> Expr {
        let size = self.t.types.components(ty).unwrap_or(1);
        let first = self.shape_of(a).map_or(1, |(_, size)| size);
        let used = &mask[..usize::from(size)];
        let letter = |at: u8| component(at.into())[1..].to_string();
        let values = [self.value(a), self.value(b)];
        for (value, base) in [(&values[0], 0), (&values[1], first)] {
            let size_of = self.shape_of(if base == 0 { a } else { b }).map_or(1, |(_, size)| size);
            if size_of > 1 && used.iter().all(|at| *at >= base && *at < base + size_of) {
                let letters: String = used.iter().map(|at| letter(at - base)).collect();
                return value.swizzle(&letters);
            }
        }
        let second_size = self.shape_of(b).map_or(1, |(_, size)| size);
        let values = [(a, first), (b, second_size)].map(|(value, _)| {
            let ty = self.type_of(value);
            let made = self.value(value);
            if made.is_plain() { made } else { self.name("t", ty, &made) }
        });
        let parts: Vec<Expr> = used
            .iter()
            .map(|at| {
                let (of, at, size) = if *at < first { (0, *at, first) } else { (1, *at - first, second_size) };
                if size == 1 { values[of].clone() } else { values[of].part(&component(at.into())) }
            })
            .collect();
        let language = self.t.language;
        language.construct(self, ty, parts)
    }

    /// A select for each component separately.
    pub fn chosen_apart(&mut self, [c, a, r]: [&Expr; 3], ty: TypeId) -> Expr {
        let size = self.t.types.components(ty).unwrap_or(1);
        let bools = self.t.types.vector(Scalar::BOOL, size);
        let [c, a, r] = [(c, bools), (a, ty), (r, ty)].map(|(value, ty)| self.plain(value.clone(), ty));
        let parts: Vec<Expr> = (0..u32::from(size))
            .map(|n| self.t.language.picked([&c, &a, &r].map(|part| part.part(&component(n)))))
            .collect();
        let language = self.t.language;
        language.construct(self, ty, parts)
    }

    fn select(&mut self, condition: Value, accept: Value, reject: Value, ty: TypeId) -> Expr {
        let is_vector = self.shape_of(condition).is_some_and(|(_, size)| size > 1);
        let [c, a, r] = [condition, accept, reject].map(|value| self.value(value));
        let language = self.t.language;
        if !is_vector {
            return language.choice(self, &[c, a, r], ty);
        }
        language.mixed(self, &[c, a, r], ty)
    }
}

/// Returns true if the result of arithmetic must not be contracted.
fn is_exact(inst: &Inst, types: &Types) -> bool {
    inst.flags.contains(InstFlags::PRECISE)
        && types.scalar_of(inst.ty).is_some_and(Scalar::is_float)
        && matches!(inst.op, Op::Binary(..) | Op::Math(..) | Op::Unary(..))
}

/// The variables that exact results are stored to.
fn exact_locals(f: &Function, types: &Types) -> FxHashSet<LocalId> {
    let stored = f.insts.iter().filter_map(|(_, inst)| match inst.op {
        Op::Store { pointer: Value::Local(to), value: Value::Inst(id) } if is_exact(&f.insts[id], types) => Some(to),
        _ => None,
    });
    stored.collect()
}
