//! Calls: of the user's functions, of built-in functions, and constructors of structs.

use super::expressions::Lowered;
use super::functions::Mode;
use super::lvalue::LValue;
use super::overloads::Overloaded;
use super::scope::{Entity, SetId};
use super::{Sema, did_you_mean, memory};
use crate::diagnostic::{Code, Diagnostic};
use crate::glsl::ast::{ExprId, List, Name};
use crate::glsl::builtin::{self, Argument, Called, Candidate};
use crate::glsl::types::{counted, type_name};
use crate::grammar::{self, Overload};
use crate::ir::build::Builder;
use crate::ir::{Space, TypeId, Types, Value};
use crate::source::Span;
use smallvec::{SmallVec, smallvec};

/// Number of arguments that is usually enough; more go to the heap.
const FEW: usize = 4;

/// An argument of a call of a user's function: its place, if it has one, and its value if it has been read.
pub struct Given {
    pub value: Option<Value>,
    pub lvalue: Option<LValue>,
    pub ty: TypeId,
    pub span: Span,
}

impl Given {
    /// The argument for a parameter of a built-in function.
    fn lowered(self, mode: grammar::Mode) -> Option<Lowered> {
        match (self.value, self.lvalue) {
            (Some(value), _) if mode == grammar::Mode::In => Some(Lowered::Value(value)),
            (_, Some(lvalue)) => Some(Lowered::LValue(lvalue)),
            (value, None) => value.map(Lowered::Value),
        }
    }
}

/// Arguments of a built-in call, and their places if they have one.
#[derive(Default)]
struct Passed {
    arguments: SmallVec<[Argument; FEW]>,
    lvalues: SmallVec<[(usize, LValue); 2]>,
}

impl Passed {
    fn add(&mut self, index: usize, argument: Option<(Argument, Option<LValue>)>) {
        if let Some((argument, lvalue)) = argument {
            self.arguments.push(argument);
            self.lvalues.extend(lvalue.map(|lvalue| (index, lvalue)));
        }
    }
}

impl Sema<'_> {
    pub fn call(&mut self, b: &mut Builder<'_>, callee: Name, args: List<ExprId>, whole: Span) -> Option<Lowered> {
        match self.scopes.get(callee.symbol).map(|declared| &declared.entity) {
            Some(&Entity::Type(ty)) => {
                self.scopes.used(callee.symbol, callee.span);
                let args = self.operands(b, args)?;
                self.construct_type(b, ty, &args, whole).map(Lowered::Value)
            }
            Some(&Entity::Functions(set)) => self.call_user(b, callee, set, args, whole),
            Some(Entity::Error) => None,
            Some(_) => {
                let message = format!("`{}` is not a function", self.text(callee.symbol));
                self.error(Code::UNKNOWN_FUNCTION, callee.span, message, "called here");
                None
            }
            None => self.call_undeclared(b, callee, args, whole),
        }
    }

    /// A call of an undeclared function, nearly always a built-in one.
    fn call_undeclared(
        &mut self,
        b: &mut Builder<'_>,
        callee: Name,
        args: List<ExprId>,
        whole: Span,
    ) -> Option<Lowered> {
        let overloads = builtin::named(self.text(callee.symbol));
        if !overloads.is_empty() {
            return self.call_builtin(b, callee, overloads, args, whole);
        }
        self.call_of_extension(b, callee, args, whole)
    }

    /// A call of a type, or of an extension's function that is not in the table of built-in functions. These are rare.
    #[cold]
    fn call_of_extension(
        &mut self,
        b: &mut Builder<'_>,
        callee: Name,
        args: List<ExprId>,
        whole: Span,
    ) -> Option<Lowered> {
        if let Some(made) = self.call_matrix(b, callee, args, whole) {
            return made;
        }
        if let Some(made) = self.call_with_memory(b, callee, args, whole) {
            return made;
        }
        if let Some(function) = super::ray_tracing::function(self.text(callee.symbol)) {
            return self.ray_call(b, function, callee, args, whole);
        }
        if let Some(function) = super::ray_query::function(self.text(callee.symbol)) {
            return self.ray_function(b, function, callee, args, whole);
        }
        if let Some(function) = super::hit_objects::function(self.text(callee.symbol)) {
            return self.hit_object_call(b, &function, callee, args, whole);
        }
        if self.text(callee.symbol) == "nonuniformEXT" {
            self.need_non_uniform(callee.span)?;
            return self.mark_non_uniform(b, args, whole);
        }
        if type_name(self.text(callee.symbol)).is_some() {
            let ty = self.named_type(b, callee);
            let args = self.operands(b, args);
            return self.construct_type(b, ty?, &args?, whole).map(Lowered::Value);
        }
        self.unknown_function(callee);
        None
    }

    /// Reports a call with the wrong number of arguments.
    pub fn wrong_count(&mut self, name: &str, wanted: usize, whole: Span) {
        self.wrong_counts(name, wanted, wanted, whole);
    }

    /// Reports a wrong number of arguments, for a function that takes `least` to `most`.
    pub fn wrong_counts(&mut self, name: &str, least: usize, most: usize, whole: Span) {
        let wanted = match most.saturating_sub(least) {
            0 => counted(least, "argument"),
            1 => format!("{least} or {most} arguments"),
            _ if most == usize::MAX => format!("{} or more", counted(least, "argument")),
            _ => format!("{least} to {most} arguments"),
        };
        let message = format!("`{name}` takes {wanted}");
        self.error(Code::NO_OVERLOAD, whole, message, "another number");
    }

    /// A call of a name with user functions; built-in functions may have the name too.
    fn call_user(
        &mut self,
        b: &mut Builder<'_>,
        callee: Name,
        set: SetId,
        args: List<ExprId>,
        whole: Span,
    ) -> Option<Lowered> {
        let name = self.text(callee.symbol);
        let takes_count = self.sets[set.0 as usize].overloads.iter().any(|s| s.params.len() == args.len());
        if !takes_count && !grammar::functions(name).is_empty() {
            return self.call_undeclared(b, callee, args, whole);
        }
        let rivals = self.builtin_rivals(callee);
        let given = self.given(b, set, rivals, args)?;
        match self.choose(b, set, rivals, &given, callee)? {
            Overloaded::User(index) => {
                self.scopes.note(callee.span, self.sets[set.0 as usize].overloads[index].span);
                self.emit_call(b, set, index, given, whole)
            }
            Overloaded::Builtin(chosen) => self.call_rival(b, callee, &chosen, args, given, whole),
        }
    }

    /// Evaluates arguments. A user's function reads places after all arguments, as in other compilers. A built-in
    /// function reads each before the next is evaluated, so if both compete, that value is kept with the place.
    fn given(
        &mut self,
        b: &mut Builder<'_>,
        set: SetId,
        rivals: &[Overload],
        args: List<ExprId>,
    ) -> Option<Vec<Given>> {
        let ast = self.ast;
        let mut given = Vec::with_capacity(args.len());
        for (index, arg) in ast[args].iter().enumerate() {
            let Some(mut one) = self.given_one(b, *arg) else { continue };
            let competes = one.value.is_none() && !rivals.is_empty();
            if competes && self.only_reads(set, rivals, args.len(), index) {
                let lvalue = one.lvalue.as_ref()?;
                one.value = self.read_anyway(b, lvalue, one.span);
                one.value?;
            }
            given.push(one);
        }
        (given.len() == args.len()).then_some(given)
    }

    fn given_one(&mut self, b: &mut Builder<'_>, arg: ExprId) -> Option<Given> {
        let span = self.ast[arg].span;
        match self.lower(b, arg)? {
            Lowered::Value(value) => Some(Given { value: Some(value), lvalue: None, ty: b.type_of(value), span }),
            Lowered::LValue(lvalue) => {
                let ty = memory::value_type(b, &lvalue);
                Some(Given { value: None, lvalue: Some(lvalue), ty, span })
            }
            Lowered::Void => {
                self.error(Code::TYPE_MISMATCH, span, "a `void` function returns no value", "a value is needed here");
                None
            }
        }
    }

    fn emit_call(
        &mut self,
        b: &mut Builder<'_>,
        set: SetId,
        index: usize,
        given: Vec<Given>,
        whole: Span,
    ) -> Option<Lowered> {
        let signature = &mut self.sets[set.0 as usize].overloads[index];
        signature.called.get_or_insert(whole);
        self.calls_unfinished |= !signature.finished;
        let (id, ret) = (signature.id, signature.ret);
        if let Some(instruction) = signature.instruction {
            let params = signature.params.clone();
            return self.emit_instruction(b, (instruction, ret), &params, given, whole);
        }
        let mut values: SmallVec<[Value; FEW]> = SmallVec::new();
        let mut outs: SmallVec<[(LValue, Value, Span); 2]> = SmallVec::new();
        for (at, arg) in given.into_iter().enumerate() {
            let param = self.sets[set.0 as usize].overloads[index].params[at];
            values.push(match param.mode {
                Mode::In | Mode::Reference | Mode::Literal => self.pass_in(b, &arg, param.ty)?,
                Mode::Named => self.pass_named(b, &arg)?,
                Mode::Out | Mode::InOut => {
                    let memory = self.pass_memory(b, &arg, param.ty, param.mode)?;
                    outs.push((arg.lvalue?, memory, arg.span));
                    memory
                }
            });
        }
        b.span = whole;
        let result = b.call(id, &values);
        for (lvalue, memory, span) in outs {
            b.span = span;
            let value = b.load(memory);
            self.write(b, &lvalue, value, span, span)?;
        }
        Some(if ret == Types::VOID { Lowered::Void } else { Lowered::Value(result) })
    }

    pub fn pass_in(&mut self, b: &mut Builder<'_>, arg: &Given, ty: TypeId) -> Option<Value> {
        let value = match (&arg.lvalue, &arg.value) {
            (Some(lvalue), _) => self.read_anyway(b, lvalue, arg.span)?,
            (None, value) => (*value)?,
        };
        self.coerce(b, value, ty, arg.span)
    }

    /// The variable, or the part of one, that a parameter represents.
    fn pass_named(&mut self, b: &mut Builder<'_>, arg: &Given) -> Option<Value> {
        let Some(lvalue) = &arg.lvalue else {
            self.error(Code::TYPE_MISMATCH, arg.span, "a variable is needed here", "not a variable");
            return None;
        };
        b.span = arg.span;
        Some(memory::marked_pointer(b, lvalue))
    }

    /// A fresh variable that carries an `out` or `inout` argument.
    fn pass_memory(&mut self, b: &mut Builder<'_>, arg: &Given, ty: TypeId, mode: Mode) -> Option<Value> {
        let Some(lvalue) = &arg.lvalue else {
            let message = "an `out` argument must be a variable";
            self.error(Code::NOT_WRITABLE, arg.span, message, "not a variable");
            return None;
        };
        self.writable(b, lvalue, arg.span)?;
        b.span = arg.span;
        let memory = b.local("argument", ty, None);
        if mode == Mode::InOut {
            let value = self.read_anyway(b, lvalue, arg.span)?;
            b.store(memory, value);
        }
        Some(memory)
    }

    fn call_builtin(
        &mut self,
        b: &mut Builder<'_>,
        callee: Name,
        overloads: &'static [Overload],
        args: List<ExprId>,
        whole: Span,
    ) -> Option<Lowered> {
        let name = self.text(callee.symbol);
        let modes = builtin::modes(overloads, args.len());
        let mut passed = Passed::default();
        let ast = self.ast;
        for (index, arg) in ast[args].iter().enumerate() {
            let mode = modes.get(index).copied().unwrap_or(grammar::Mode::In);
            if let Some(lowered) = self.lower(b, *arg) {
                passed.add(index, self.builtin_argument(b, name, (*arg, lowered), mode));
            }
        }
        if passed.arguments.len() < args.len() {
            return None;
        }
        b.span = whole;
        let values: SmallVec<[Value; FEW]> = passed.arguments.iter().map(|argument| argument.value).collect();
        if let Some(value) = self.vector_math(b, name, &values) {
            return Some(Lowered::Value(value));
        }
        if let Some(value) = self.saturated_matrix(b, name, &passed.arguments) {
            let called = Called { value: None, writes: smallvec![(0, value)] };
            return self.finish_builtin(b, called, &passed, whole);
        }
        let called = builtin::call(b, &self.env, (name, overloads), callee.span, &passed.arguments);
        let called = self.check(called)?;
        self.finish_builtin(b, called, &passed, whole)
    }

    /// A call of a built-in overload that fits better than the user's functions of its name.
    fn call_rival(
        &mut self,
        b: &mut Builder<'_>,
        callee: Name,
        chosen: &Candidate,
        args: List<ExprId>,
        given: Vec<Given>,
        whole: Span,
    ) -> Option<Lowered> {
        let name = self.text(callee.symbol);
        let ast = self.ast;
        let mut passed = Passed::default();
        let params = chosen.overload.params.iter();
        for (index, ((param, given), arg)) in params.zip(given).zip(&ast[args]).enumerate() {
            if let (grammar::Mode::In, Some(lvalue)) = (param.mode, &given.lvalue) {
                self.check_image_access(b, name, lvalue, given.span)?;
            }
            let lowered = given.lowered(param.mode)?;
            passed.add(index, Some(self.builtin_argument(b, name, (*arg, lowered), param.mode)?));
        }
        b.span = whole;
        let called = builtin::call_chosen(b, &self.env, chosen, callee.span, &passed.arguments);
        let called = self.check(called)?;
        self.finish_builtin(b, called, &passed, whole)
    }

    /// Stores the `out` results of a built-in function.
    fn finish_builtin(&mut self, b: &mut Builder<'_>, called: Called, passed: &Passed, whole: Span) -> Option<Lowered> {
        for (index, value) in called.writes {
            if let Some((_, lvalue)) = passed.lvalues.iter().find(|(of, _)| *of == index) {
                let span = passed.arguments[index].span;
                self.write(b, lvalue, value, span, whole)?;
            }
        }
        Some(called.value.map_or(Lowered::Void, Lowered::Value))
    }

    /// An argument in the form that its parameter needs: a value, a place to write, or a pointer to memory.
    fn builtin_argument(
        &mut self,
        b: &mut Builder<'_>,
        name: &str,
        (arg, lowered): (ExprId, Lowered),
        mode: grammar::Mode,
    ) -> Option<(Argument, Option<LValue>)> {
        let span = self.ast[arg].span;
        match mode {
            grammar::Mode::In => {
                let value = match lowered {
                    Lowered::LValue(lvalue) => {
                        self.check_image_access(b, name, &lvalue, span)?;
                        self.read_anyway(b, &lvalue, span)?
                    }
                    lowered => self.value_of(b, lowered, span)?,
                };
                Some((Argument { value, ty: b.type_of(value), is_place: false, span }, None))
            }
            grammar::Mode::Memory => {
                let lvalue = self.atomic_target(b, name, arg, lowered)?;
                let (value, ty) = (memory::marked_pointer(b, &lvalue), memory::value_type(b, &lvalue));
                Some((Argument { value, ty, is_place: true, span }, Some(lvalue)))
            }
            grammar::Mode::Counter => {
                let lvalue = self.counter_target(b, lowered, span)?;
                let (value, ty) = (memory::marked_pointer(b, &lvalue), Types::U32);
                Some((Argument { value, ty, is_place: true, span }, Some(lvalue)))
            }
            grammar::Mode::Out => {
                let lvalue = self.target_of(b, lowered, arg)?;
                let ty = memory::value_type(b, &lvalue);
                Some((Argument { value: b.undef(ty), ty, is_place: true, span }, Some(lvalue)))
            }
            // A sort takes a second variable or a constant width there, so resolution handles arguments that are not
            // lvalues.
            grammar::Mode::InOut => match lowered {
                Lowered::LValue(lvalue) => {
                    let value = self.read_anyway(b, &lvalue, span)?;
                    Some((Argument { value, ty: b.type_of(value), is_place: true, span }, Some(lvalue)))
                }
                lowered => {
                    let value = self.value_of(b, lowered, span)?;
                    Some((Argument { value, ty: b.type_of(value), is_place: false, span }, None))
                }
            },
        }
    }

    /// The memory of an atomic function, or its image, which is named by its variable.
    fn atomic_target(&mut self, b: &mut Builder<'_>, name: &str, arg: ExprId, lowered: Lowered) -> Option<LValue> {
        let span = self.ast[arg].span;
        if !name.starts_with("image") {
            let lvalue = self.target_of(b, lowered, arg)?;
            self.check_atomic(&lvalue, span)?;
            return Some(lvalue);
        }
        match lowered {
            Lowered::LValue(lvalue) if lvalue.space == Space::Handle => {
                self.check_image_access(b, name, &lvalue, span)?;
                Some(lvalue)
            }
            Lowered::Value(_) => {
                self.unsupported(span, "atomic operations on images that are parameters are");
                None
            }
            _ => {
                self.error(Code::NOT_WRITABLE, span, "an image is needed here", "not an image");
                None
            }
        }
    }

    /// Atomic operations work on buffer and shared memory (GLSL 4.60 section 8.11).
    fn check_atomic(&mut self, lvalue: &LValue, span: Span) -> Option<()> {
        let atomic = matches!(lvalue.space, Space::Storage | Space::TaskPayload | Space::Workgroup | Space::Physical);
        if atomic && lvalue.swizzle.is_none() {
            return Some(());
        }
        let message = "atomic operations work on buffer and shared variables only";
        self.error(Code::NOT_ATOMIC_MEMORY, span, message, "not in a buffer and not shared");
        None
    }

    fn unknown_function(&mut self, callee: Name) {
        let name = self.text(callee.symbol);
        if let Some(what) = grammar::unsupported_function(name) {
            self.unsupported(callee.span, &format!("`{name}`: {what} are"));
            return;
        }
        if let Some(diagnostic) = builtin::misspelt_width(name, callee.span) {
            self.report(diagnostic);
            return;
        }
        let message = format!("no function `{name}` is known");
        let diagnostic = Diagnostic::error(Code::UNKNOWN_FUNCTION, message).at(callee.span, "not declared");
        if let Some((_, later)) = self.ast.functions.iter().find(|(_, function)| function.name.symbol == callee.symbol)
        {
            let diagnostic = diagnostic.with(later.name.span, "declared here, after the call");
            self.report(
                diagnostic.help("move the function in front of the call, or declare it there: its head with a `;`"),
            );
            return;
        }
        let users = self.sets.iter().map(|set| self.words.text(set.name));
        let builtins = grammar::FUNCTIONS.iter().map(|function| function.name);
        self.report(did_you_mean(diagnostic, name, callee.span, users.chain(builtins)));
    }
}
