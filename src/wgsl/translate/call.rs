//! Calls. Functions are translated when they are first called, once for each set of memory that they are handed.
//!
//! A pointer to a variable of the caller stays a pointer parameter. A pointer into such a variable goes through a copy,
//! because SPIR-V can only pass whole variables and WGSL forbids aliases (WGSL 11.4). A pointer to module-scope memory
//! (private, workgroup, buffers) creates a separate version of the function, with the pointer's run-time indices as
//! parameters.

use super::function::{Argument, Body, Origin, Slot};
use super::memory::PointerPath;
use super::{Outcome, Shader};
use crate::diagnostic::Code;
use crate::ir::{self, FuncId, GlobalId, Param, Stage, TypeId, Types, Value};
use naga::{Expression, Handle, TypeInner};
use rustc_hash::FxHashMap;

/// Versions of functions after which a shader is refused.
const VERSION_LIMIT: usize = 4096;

/// One step from module-scope memory to the target of a pointer argument.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Step {
    Constant(Value),
    /// Becomes a parameter of this type.
    Dynamic(TypeId),
}

/// The argument of a function version for one of naga's parameters.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Taken {
    /// The value, or a pointer to a variable of the caller.
    Parameter,
    Memory {
        of: GlobalId,
        path: Vec<Step>,
        /// True if it is accessed under a condition, which becomes a parameter.
        conditional: bool,
    },
}

/// A function with the module-scope memory that it is handed.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Version {
    stage: Stage,
    function: Handle<naga::Function>,
    takes: Vec<Taken>,
}

/// Functions declared so far, and functions whose bodies are not translated yet.
#[derive(Default)]
pub(super) struct Functions {
    known: FxHashMap<Version, FuncId>,
    waiting: Vec<(Version, FuncId)>,
}

impl Shader<'_> {
    /// Translates the requested function bodies, and the bodies that these request.
    pub(super) fn finish_functions(&mut self, out: &mut ir::Module) {
        while let Some((version, id)) = self.functions.waiting.pop() {
            let made = self.function_body(out, &version, id);
            self.keep_error(made);
        }
    }

    fn version(&mut self, out: &mut ir::Module, version: Version, at: naga::Span) -> Outcome<FuncId> {
        if let Some(known) = self.functions.known.get(&version) {
            return Ok(*known);
        }
        if self.functions.known.len() >= VERSION_LIMIT {
            let message =
                format!("more than {VERSION_LIMIT} functions, with those that are made for each pointer handed over");
            return Err(self.fail(Code::TOO_DEEP, message, at, "this call needs one more"));
        }
        let (params, _) = self.parameters(out, &version)?;
        let ret = self.return_type(out, version.function)?;
        let function = &self.naga.functions[version.function];
        let span = self.span(self.naga.functions.get_span(version.function));
        let name = function.name.as_deref().unwrap_or("");
        let id = out.functions.push(ir::Function::new(name, span, params, ret));
        self.functions.known.insert(version.clone(), id);
        self.functions.waiting.push((version, id));
        Ok(id)
    }

    fn return_type(&mut self, out: &mut ir::Module, function: Handle<naga::Function>) -> Outcome<TypeId> {
        match &self.naga.functions[function].result {
            Some(result) => self.logical(out, result.ty),
            None => Ok(Types::VOID),
        }
    }

    /// The parameters of a version, and the values of naga's parameters.
    fn parameters(&mut self, out: &mut ir::Module, version: &Version) -> Outcome<(Vec<Param>, Vec<Argument>)> {
        let (mut params, mut arguments) = (Vec::new(), Vec::new());
        let naga = self.naga;
        for (argument, taken) in naga.functions[version.function].arguments.iter().zip(&version.takes) {
            let name = argument.name.as_deref().unwrap_or("");
            let slot = match taken {
                Taken::Parameter => {
                    let value = add_param(&mut params, name, self.logical(out, argument.ty)?);
                    match naga.types[argument.ty].inner {
                        TypeInner::Pointer { .. } | TypeInner::ValuePointer { .. } => {
                            Slot::Pointer(PointerPath::of(value))
                        }
                        _ => Slot::Value(value),
                    }
                }
                Taken::Memory { of, path, conditional } => {
                    let indices = path.iter().map(|step| match step {
                        Step::Constant(value) => *value,
                        Step::Dynamic(ty) => add_param(&mut params, name, *ty),
                    });
                    let (root, indices) = (Value::Global(*of), indices.collect());
                    let only_if = conditional.then(|| add_param(&mut params, name, Types::BOOL));
                    Slot::Pointer(PointerPath { root, indices, only_if })
                }
            };
            arguments.push(slot);
        }
        Ok((params, arguments))
    }

    fn function_body(&mut self, out: &mut ir::Module, version: &Version, id: FuncId) -> Outcome<()> {
        let (params, arguments) = self.parameters(out, version)?;
        let (ret, span) = (out.functions[id].ret, out.functions[id].span);
        let naga = self.naga;
        let origin = Origin {
            function: &naga.functions[version.function],
            info: &self.info[version.function],
            key: super::super::carrier::FunctionKey::Function(version.function),
        };
        let mut body = Body::new(self, out, origin, span, params, ret);
        body.arguments = arguments;
        body.run()?;
        body.b.finish_into(Some(id));
        Ok(())
    }
}

fn add_param(params: &mut Vec<Param>, name: &str, ty: TypeId) -> Value {
    params.push(Param { name: name.into(), span: crate::source::Span::NONE, ty, is_out: false });
    Value::Param(params.len() as u32 - 1)
}

/// A variable that replaces a part of another one during a call.
struct Copy {
    stand_in: Value,
    home: PointerPath,
}

impl Body<'_, '_, '_> {
    pub(super) fn call(
        &mut self,
        function: Handle<naga::Function>,
        arguments: &[Handle<Expression>],
        result: Option<Handle<Expression>>,
        at: naga::Span,
    ) -> Outcome<()> {
        if self.shader.carriers.is_stub(function) {
            return self.stub_call(arguments, result, at);
        }
        let (mut takes, mut values, mut copies) = (Vec::new(), Vec::new(), Vec::new());
        for argument in arguments {
            let taken = match self.slot(*argument)? {
                Slot::Value(value) => {
                    values.push(value);
                    Taken::Parameter
                }
                Slot::Pointer(path) => self.pass_pointer(path, &mut values, &mut copies),
            };
            takes.push(taken);
        }
        let version = Version { stage: self.shader.stage, function, takes };
        let callee = self.shader.version(self.b.module, version, at)?;
        let value = self.b.call(callee, &values);
        self.copy_back(copies);
        if let Some(result) = result {
            self.set(result, Slot::Value(value));
        }
        Ok(())
    }

    fn pass_pointer(&mut self, path: PointerPath, values: &mut Vec<Value>, copies: &mut Vec<Copy>) -> Taken {
        if let Value::Global(of) = path.root {
            let steps = path.indices.iter().map(|index| self.step(*index, values)).collect();
            values.extend(path.only_if);
            return Taken::Memory { of, path: steps, conditional: path.only_if.is_some() };
        }
        values.push(if path.indices.is_empty() { path.root } else { self.copy_in(path, copies) });
        Taken::Parameter
    }

    fn step(&mut self, index: Value, values: &mut Vec<Value>) -> Step {
        if let Value::Const(_) = index {
            return Step::Constant(index);
        }
        values.push(index);
        Step::Dynamic(self.b.type_of(index))
    }

    fn copy_in(&mut self, home: PointerPath, copies: &mut Vec<Copy>) -> Value {
        let value = self.load_path(&home);
        let ty = self.b.type_of(value);
        let stand_in = self.b.local("", ty, None);
        self.b.store(stand_in, value);
        copies.push(Copy { stand_in, home });
        stand_in
    }

    fn copy_back(&mut self, copies: Vec<Copy>) {
        for Copy { stand_in, home } in copies {
            let value = self.b.load(stand_in);
            self.store_path(&home, value);
        }
    }
}
