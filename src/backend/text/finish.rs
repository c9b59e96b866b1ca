//! From naga's text to ours: calls that stand for the language's own functions become those, and calls that mark where the
//! lines of a cross-lane operation begin and end become comments.

use super::Shader;
use super::language::{self, Needs};
use super::translator::{Translator, source_span};
use super::uniform::{self, Parted};
use crate::backend::written::{Code, Written, names_in};
use crate::ir::{FuncId, InstId, Module, print::lane_text};
use crate::kernel::Origin;
use crate::lane::LaneOp;
use crate::limits;
use crate::source::Span;
use naga::valid::{ShaderStages, SubgroupOperationSet, ValidationFlags, Validator};
use naga::{Expression, FunctionArgument, FunctionResult, Handle, MathFunction, Statement};
use std::collections::BTreeMap;

/// The content of a call of the marking function.
#[derive(Clone, Debug)]
enum Note {
    Operation(u32),
    SetUp(u32),
    End,
}

/// The places of cross-lane operations.
#[derive(Debug)]
pub(super) struct Notes {
    notes: Vec<Note>,
    /// The operations, with what is said of them.
    operations: Vec<((FuncId, InstId), String)>,
    set_ups: u32,
    /// The extensions and rules that the text begins with.
    pub needs: Needs,
    /// The prefix of the names of functions that stand for others: no other name in the module begins with it.
    prefix: String,
    marker: Option<Handle<naga::Function>>,
    /// Functions that stand for the language's own, by their names there and the types of their arguments.
    stand_ins: BTreeMap<(&'static str, Vec<Handle<naga::Type>>), Handle<naga::Function>>,
}

impl Notes {
    pub fn new(module: &Module) -> Notes {
        let mut prefix = "crosslane_".to_string();
        let names = || {
            let globals = module.globals.iter().map(|(_, global)| &*global.name);
            let functions = module.functions.iter().map(|(_, function)| &*function.name);
            globals.chain(functions).chain(module.types.structs.iter().map(|(_, item)| &*item.name))
        };
        while names().any(|name| name.starts_with(&prefix)) {
            prefix.insert(0, 'x');
        }
        Notes {
            notes: Vec::new(),
            operations: Vec::new(),
            set_ups: 0,
            needs: Needs::default(),
            prefix,
            marker: None,
            stand_ins: BTreeMap::new(),
        }
    }

    fn add(&mut self, note: Note) -> u32 {
        self.notes.push(note);
        self.notes.len() as u32 - 1
    }

    /// Begins the lines of an operation.
    pub fn begin(&mut self, at: (FuncId, InstId), op: LaneOp, rule: &str) -> u32 {
        self.operations.push((at, format!("{}: {rule}", lane_text(op))));
        self.add(Note::Operation(self.operations.len() as u32 - 1))
    }

    /// Begins the lines of a set-up step.
    pub fn begin_setup(&mut self) -> u32 {
        self.set_ups += 1;
        self.add(Note::SetUp(self.set_ups - 1))
    }

    /// Ends the lines of what began last.
    pub fn end(&mut self) -> u32 {
        self.add(Note::End)
    }

    /// The function whose calls mark places.
    pub fn function(&mut self, out: &mut naga::Module) -> Handle<naga::Function> {
        *self.marker.get_or_insert_with(|| {
            let ty = number(out);
            let name = Some("number".to_string());
            let arguments = vec![FunctionArgument { name, ty, binding: None }];
            let name = Some(format!("{}note", self.prefix));
            out.functions.append(naga::Function { name, arguments, ..naga::Function::default() }, naga::Span::UNDEFINED)
        })
    }

    /// The function that stands for one of the language's own, of these types.
    pub fn stand_in(
        &mut self,
        spelled: &'static str,
        arguments: &[Handle<naga::Type>],
        ty: Handle<naga::Type>,
        out: &mut naga::Module,
    ) -> Handle<naga::Function> {
        *self.stand_ins.entry((spelled, arguments.to_vec())).or_insert_with(|| {
            let argument = |ty: &Handle<naga::Type>| FunctionArgument { name: None, ty: *ty, binding: None };
            let name = Some(format!("{}{spelled}", self.prefix));
            let arguments = arguments.iter().map(argument).collect();
            let mut function = naga::Function { name, arguments, ..naga::Function::default() };
            function.result = Some(FunctionResult { ty, binding: None });
            let value = function.expressions.append(Expression::ZeroValue(ty), naga::Span::UNDEFINED);
            function.body.push(Statement::Return { value: Some(value) }, naga::Span::UNDEFINED);
            out.functions.append(function, naga::Span::UNDEFINED)
        })
    }

    /// A line that calls the language's own functions. naga numbers functions of the same name.
    fn respelled(&self, line: &str) -> String {
        limits::spend(1 + self.stand_ins.len() * self.stand_ins.len());
        limits::hold::<String>(1);
        limits::write(2 * line.len());
        let mut line = line.to_string();
        for (name, _) in self.stand_ins.keys() {
            line = line.replace(&format!("{}{name}(", self.prefix), &format!("{name}("));
            for n in 1..self.stand_ins.len() {
                line = line.replace(&format!("{}{name}_{n}(", self.prefix), &format!("{name}("));
            }
        }
        line
    }

    /// The number of a call that marks a place.
    fn marked(&self, line: &str) -> Option<&Note> {
        let rest = line.trim().strip_prefix(&*self.prefix)?.strip_prefix("note(")?;
        self.notes.get(rest.strip_suffix("u);")?.parse::<usize>().ok()?)
    }
}

fn number(out: &mut naga::Module) -> Handle<naga::Type> {
    let inner = naga::TypeInner::Scalar(naga::Scalar::U32);
    out.types.insert(naga::Type { name: None, inner }, naga::Span::UNDEFINED)
}

impl Translator<'_> {
    /// `lanes_below(count)`: word `w` has the bits below `count - 32 * w`.
    pub fn lanes_below_function(&mut self) -> Handle<naga::Function> {
        if let Some(known) = self.lanes_below {
            return known;
        }
        let (word, ballot) = (self.vector(naga::Scalar::U32, 1), self.vector(naga::Scalar::U32, 4));
        let argument = FunctionArgument { name: Some("count".into()), ty: word, binding: None };
        let result = Some(FunctionResult { ty: ballot, binding: None });
        let name = Some("lanes_below".to_string());
        let mut f = naga::Function { name, arguments: vec![argument], result, ..naga::Function::default() };
        let span = naga::Span::UNDEFINED;
        let literal =
            |f: &mut naga::Function, value| f.expressions.append(Expression::Literal(naga::Literal::U32(value)), span);
        let count = f.expressions.append(Expression::FunctionArgument(0), span);
        let (all, none, most) = (literal(&mut f, u32::MAX), literal(&mut f, 0), literal(&mut f, 32));
        let bases = [0, 32, 64, 96].map(|base| literal(&mut f, base));
        let start = f.expressions.len();
        let mut math = |fun, args: [Handle<Expression>; 2], third| {
            let [arg, arg1] = args;
            f.expressions.append(Expression::Math { fun, arg, arg1: Some(arg1), arg2: third, arg3: None }, span)
        };
        let mut words = Vec::new();
        let mut tops = Vec::new();
        for base in bases {
            tops.push((base, math(MathFunction::Max, [count, base], None)));
        }
        for (base, top) in tops {
            let left = f
                .expressions
                .append(Expression::Binary { op: naga::BinaryOperator::Subtract, left: top, right: base }, span);
            let least =
                Expression::Math { fun: MathFunction::Min, arg: left, arg1: Some(most), arg2: None, arg3: None };
            let bits = f.expressions.append(least, span);
            let low = MathFunction::ExtractBits;
            let low = Expression::Math { fun: low, arg: all, arg1: Some(none), arg2: Some(bits), arg3: None };
            words.push(f.expressions.append(low, span));
        }
        let value = f.expressions.append(Expression::Compose { ty: ballot, components: words }, span);
        f.body.push(Statement::Emit(f.expressions.range_from(start)), span);
        f.body.push(Statement::Return { value: Some(value) }, span);
        let made = self.out.functions.append(f, span);
        self.lanes_below = Some(made);
        made
    }
}

/// A refusal of naga's or of the language's rules: a sentence that says why, and its place.
pub(super) struct Refusal {
    pub why: String,
    pub span: Span,
}

/// The text of a module, with what it begins with.
///
/// # Errors
/// If the language cannot express it.
pub(super) fn to_text(mut module: naga::Module) -> Result<(String, Parted), Refusal> {
    limits::spend(work_of(&module));
    naga::compact::compact(&mut module, naga::compact::KeepUnused::Yes);
    let flags = ValidationFlags::all() - ValidationFlags::CONTROL_FLOW_UNIFORMITY;
    let mut validator = Validator::new(flags, language::CAPABILITIES);
    validator.subgroup_stages(ShaderStages::all()).subgroup_operations(SubgroupOperationSet::all());
    let info = validator.validate(&module).map_err(|error| {
        let defined = error.spans().find(|(span, _)| span.is_defined());
        let span = defined.map_or(Span::NONE, |(span, _)| source_span(*span));
        Refusal { why: chain(&error.into_inner()), span }
    })?;
    let parted = uniform::parted(&module);
    let text = language::text_of(&module, &info).map_err(|why| Refusal { why, span: Span::NONE })?;
    Ok((text, parted))
}

/// The work of naga on a module: in proportion to what functions hold, but for each variable, type and argument it looks
/// at all others.
fn work_of(module: &naga::Module) -> usize {
    let functions =
        || module.functions.iter().map(|(_, f)| f).chain(module.entry_points.iter().map(|entry| &entry.function));
    let linear: usize = functions().map(|f| f.expressions.len() + f.local_variables.len()).sum();
    let parts = module.types.iter().map(|(_, ty)| match &ty.inner {
        naga::TypeInner::Struct { members, .. } => members.len(),
        _ => 1,
    });
    let squares = parts.chain([module.global_variables.len(), functions().count()]).map(|count| count * count);
    WORK_PER_EXPRESSION * linear + squares.sum::<usize>()
}

/// Steps that naga takes for an expression: compaction, validation, names, text.
const WORK_PER_EXPRESSION: usize = 8;

/// An error with what it says of its cause.
pub(super) fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text.push_str(": ");
        text.push_str(&error.to_string());
        cause = error.source();
    }
    text
}

impl Shader {
    /// The lines of the program with the calls that mark places, without the definitions of functions that stand for others.
    fn lines(&self) -> Vec<String> {
        let mut lines = Vec::new();
        let mut rest = self.text.lines().peekable();
        let prefix = &*self.notes.prefix;
        while let Some(line) = rest.next().map(str::trim_end) {
            if !line.starts_with(' ') && line.contains(prefix) {
                rest.by_ref().find(|line| *line == "}");
                rest.next_if(|line| line.is_empty());
                continue;
            }
            lines.push(self.notes.respelled(line));
        }
        lines
    }

    /// The text with a comment on each operation.
    pub fn text(&self) -> String {
        let lines = self.lines();
        let mut text = String::new();
        for line in lines {
            match self.notes.marked(&line) {
                None => text.push_str(&line),
                Some(Note::Operation(n)) => {
                    let margin = &line[..line.len() - line.trim_start().len()];
                    text.push_str(margin);
                    text.push_str("// ");
                    text.push_str(&self.notes.operations[*n as usize].1);
                }
                Some(Note::SetUp(_) | Note::End) => continue,
            }
            text.push('\n');
        }
        language::complete(text, &self.notes.needs)
    }

    /// The lines with their origins.
    pub fn code(&self) -> Code {
        let mut lines = Vec::new();
        let mut origin = Origin::Code;
        for line in self.lines() {
            match self.notes.marked(&line) {
                Some(Note::Operation(n)) => origin = Origin::Operation(*n),
                Some(Note::SetUp(n)) => origin = Origin::SetUp(*n),
                Some(Note::End) => origin = Origin::Code,
                None => lines.push(written(origin, &line)),
            }
        }
        Code::of(lines, self.notes.operations.iter().map(|(at, _)| *at))
    }
}

/// A line with the names that it defines and uses.
fn written(origin: Origin, line: &str) -> Written {
    let (writes, reads) = match language::named(line.trim()) {
        Some((name, rest)) => (vec![name.to_string()], names_in(rest)),
        None => (Vec::new(), names_in(line)),
    };
    Written { origin, text: format!("{line}\n"), reads, writes }
}
