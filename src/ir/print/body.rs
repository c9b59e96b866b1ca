//! Prints functions: one instruction per line, nested blocks indented.

use super::lane::lane_text;
use super::words::{barrier_text, flags_text, hint_text, snake};
use super::{Printer, unique};
use crate::ir::{BlockId, Case, FuncId, Function, ImageOp, Inst, InstId, MatrixOp, Op, Types, Value, Values};
use std::sync::Arc;

/// Column of source positions.
const COMMENT_COLUMN: usize = 72;

/// A function with the numbers of its values.
struct Body<'p, 'm> {
    printer: &'p mut Printer<'m>,
    function: &'m Function,
    /// Number of each instruction's result, in text order; 0 if it was not printed yet.
    numbers: Vec<u32>,
    next: u32,
    params: Vec<String>,
    locals: Vec<String>,
    depth: usize,
    /// File and line of the previous instruction.
    place: Option<(Arc<str>, u32)>,
}

impl<'m> Printer<'m> {
    pub fn function(&mut self, id: FuncId) {
        let module = self.module;
        let function = &module.functions[id];
        let params = unique(function.params.iter().map(|param| &*param.name));
        let locals = unique(function.locals.iter().map(|(_, local)| &*local.name));
        self.signature(id, function, &params);
        let numbers = vec![0; function.insts.len()];
        let mut body = Body { printer: self, function, numbers, next: 1, params, locals, depth: 1, place: None };
        body.local_lines();
        body.block(function.body);
        self.out.push_str("}\n");
    }

    fn signature(&mut self, id: FuncId, function: &Function, names: &[String]) {
        let params = function.params.iter().zip(names);
        let params: Vec<String> = params.map(|(param, name)| format!("{name}: {}", self.type_text(param.ty))).collect();
        let name = self.names.functions[id.index()].clone();
        self.put(format_args!("fn {name}({})", params.join(", ")));
        if function.ret != Types::VOID {
            let ret = self.type_text(function.ret);
            self.put(format_args!(" -> {ret}"));
        }
        self.out.push_str(" {\n");
    }
}

impl Body<'_, '_> {
    fn local_lines(&mut self) {
        for (id, local) in self.function.locals.iter() {
            let (name, ty) = (&self.locals[id.index()], self.printer.type_text(local.ty));
            let restrict = if local.restrict { " restrict" } else { "" };
            let init = local.init.map(|init| format!(" = {}", self.printer.constant(init))).unwrap_or_default();
            self.printer.put(format_args!("    local ${name}: {ty}{restrict}{init}\n"));
        }
    }

    fn indent(&mut self) {
        for _ in 0..self.depth {
            self.printer.out.push_str("    ");
        }
    }

    fn line(&mut self, text: &str) {
        self.indent();
        self.printer.out.push_str(text);
        self.printer.out.push('\n');
    }

    fn nested(&mut self, block: BlockId) {
        self.depth += 1;
        self.block(block);
        self.depth -= 1;
    }

    fn block(&mut self, block: BlockId) {
        let function = self.function;
        for id in &function.blocks[block].insts {
            self.inst(*id, &function.insts[*id]);
        }
    }

    fn inst(&mut self, id: InstId, inst: &Inst) {
        match inst.op {
            Op::If { .. } | Op::Loop { .. } | Op::Switch { .. } => self.construct(id, inst),
            _ => {
                let text = self.operation(inst) + &flags_text(inst.flags);
                let result = self.result(id, inst);
                let start = self.printer.out.len();
                self.indent();
                self.printer.out.push_str(&(result + &text));
                self.origin(inst, start);
                self.printer.out.push('\n');
            }
        }
    }

    /// `%3: f32 = `, or nothing if there is no result.
    fn result(&mut self, id: InstId, inst: &Inst) -> String {
        if inst.ty == Types::VOID {
            return String::new();
        }
        self.numbers[id.index()] = self.next;
        self.next += 1;
        format!("%{}: {} = ", self.next - 1, self.printer.type_text(inst.ty))
    }

    /// The source place of the line that starts at `start`, if it changed.
    fn origin(&mut self, inst: &Inst, start: usize) {
        let Some(place) = self.printer.sources.and_then(|sources| sources.locate(inst.span.lo)) else { return };
        let place = Some((place.file, place.line));
        if self.place == place {
            return;
        }
        let pad = COMMENT_COLUMN.saturating_sub(self.printer.out.len() - start);
        self.place = place;
        if let Some((file, line)) = &self.place {
            self.printer.put(format_args!("{:pad$}  // {file}:{line}", ""));
        }
    }

    fn construct(&mut self, id: InstId, inst: &Inst) {
        let result = self.result(id, inst);
        match inst.op {
            Op::If { condition, then, otherwise, hint } => {
                let condition = format!("{}{}", self.value(condition), hint_text(hint));
                self.branches(&format!("{result}if {condition}"), &format!("unless {condition}"), then, otherwise);
            }
            Op::Loop { body, continuing, break_if, hint } => {
                self.line(&format!("loop{} {{", hint_text(hint)));
                self.nested(body);
                if !self.function.blocks[continuing].insts.is_empty() {
                    self.line("} continuing {");
                    self.nested(continuing);
                }
                let end = break_if.map(|value| format!(" break if {}", self.value(value))).unwrap_or_default();
                self.line(&format!("}}{end}"));
            }
            Op::Switch { selector, cases, hint } => {
                let selector = self.value(selector);
                self.line(&format!("switch {selector}{} {{", hint_text(hint)));
                let function = self.function;
                self.depth += 1;
                function.arms(cases).iter().for_each(|case| self.case(case));
                self.depth -= 1;
                self.line("}");
            }
            _ => {}
        }
    }

    /// Both branches, or only the one that is not empty.
    fn branches(&mut self, head: &str, negated: &str, then: BlockId, otherwise: BlockId) {
        let is_empty = |block: BlockId| self.function.blocks[block].insts.is_empty();
        let (no_then, no_otherwise) = (is_empty(then), is_empty(otherwise));
        let negate = no_then && !no_otherwise;
        self.line(&format!("{} {{", if negate { negated } else { head }));
        self.nested(if negate { otherwise } else { then });
        if !negate && !no_otherwise {
            self.line("} else {");
            self.nested(otherwise);
        }
        self.line("}");
    }

    fn case(&mut self, case: &Case) {
        let mut labels: Vec<String> = case.values.iter().map(|value| format!("case {value}")).collect();
        if case.default {
            labels.push("default".to_owned());
        }
        self.line(&format!("{} {{", labels.join(", ")));
        self.nested(case.body);
        self.line(if case.falls_through { "} falls through" } else { "}" });
    }

    fn value(&self, value: Value) -> String {
        match value {
            Value::Inst(id) => format!("%{}", self.numbers[id.index()]),
            Value::Const(id) => self.printer.constant(id),
            Value::Param(index) => self.params[index as usize].clone(),
            Value::Global(id) => format!("@{}", self.printer.names.globals[id.index()]),
            Value::Local(id) => format!("${}", self.locals[id.index()]),
        }
    }

    fn values(&self, list: Values) -> String {
        let values = self.function.values(list).iter();
        values.map(|value| self.value(*value)).collect::<Vec<_>>().join(", ")
    }

    /// A word followed by values.
    fn word(&self, word: impl Into<String>, values: &[Value]) -> String {
        let values: Vec<String> = values.iter().map(|value| self.value(*value)).collect();
        format!("{} {}", word.into(), values.join(", ")).trim_end().to_owned()
    }

    fn operation(&self, inst: &Inst) -> String {
        match inst.op {
            Op::Unary(op, a) => self.word(snake(op), &[a]),
            Op::Binary(op, a, b) => self.word(snake(op), &[a, b]),
            Op::Math(function, args) => self.word(snake(function), self.function.values(args)),
            Op::Convert(a) => self.word("convert", &[a]),
            Op::Bitcast(a) => self.word("bitcast", &[a]),
            Op::Select { condition, accept, reject } => self.word("select", &[condition, accept, reject]),
            Op::Construct(parts) => self.word("construct", self.function.values(parts)),
            Op::Splat(a) => self.word("splat", &[a]),
            Op::Extract { composite, index } => format!("extract {}, {index}", self.value(composite)),
            Op::ExtractDynamic { composite, index } => self.word("extract_dynamic", &[composite, index]),
            Op::Insert { composite, index, part } => {
                format!("insert {}, {index}, {}", self.value(composite), self.value(part))
            }
            Op::InsertDynamic { composite, index, part } => self.word("insert_dynamic", &[composite, index, part]),
            Op::Shuffle { a, b, mask } => {
                let size = self.printer.module.types.components(inst.ty).unwrap_or(4);
                self.shuffle(a, b, &mask[..usize::from(size)])
            }
            _ => self.memory(&inst.op),
        }
    }

    /// `swizzle v.yx` of one vector, `shuffle a, b [0, 3]` of two.
    fn shuffle(&self, a: Value, b: Value, mask: &[u8]) -> String {
        let letters: Option<String> = mask.iter().map(|at| "xyzw".chars().nth(usize::from(*at))).collect();
        match letters.filter(|_| a == b) {
            Some(letters) => format!("swizzle {}.{letters}", self.value(a)),
            None => format!("{} {mask:?}", self.word("shuffle", &[a, b])),
        }
    }

    fn memory(&self, op: &Op) -> String {
        match *op {
            Op::Access { base, indices } => format!("access {}[{}]", self.value(base), self.values(indices)),
            Op::Load(pointer) => self.word("load", &[pointer]),
            Op::Store { pointer, value } => self.word("store", &[pointer, value]),
            Op::ArrayLength { block } => self.word("array_length", &[block]),
            Op::Atomic { op, pointer, args, scope, order } => {
                let mut operands = vec![pointer];
                operands.extend_from_slice(self.function.values(args));
                self.word(format!("atomic.{}.{}.{}", snake(op), snake(scope), snake(order)), &operands)
            }
            Op::Image { op, parts, operands } => {
                let names: String = parts.iter_names().map(|(name, _)| format!(" {}", name.to_lowercase())).collect();
                self.word(format!("image.{}{names}:", image_word(op)), self.function.values(operands))
            }
            Op::Ray { op, on, args } => {
                let mut operands = vec![on];
                operands.extend_from_slice(self.function.values(args));
                self.word(format!("ray.{}", snake(op)), &operands)
            }
            Op::Interpolate { at, pointer, args } => {
                let mut operands = vec![pointer];
                operands.extend_from_slice(self.function.values(args));
                self.word(format!("interpolate.{}", snake(at)), &operands)
            }
            Op::Print { text, args } => {
                let text = self.printer.module.texts.get(text as usize).map_or("", |text| text);
                self.word(format!("print {text:?}:"), self.function.values(args))
            }
            Op::Barrier { execution, memory, kinds, order } => barrier_text(execution, memory, kinds, order),
            Op::Cooperative(op, args) => self.cooperative(op, args),
            Op::Foreign(instruction, args) => self.foreign(instruction, args),
            Op::Lane(op, args) => self.word(format!("lane {}", lane_text(op)), self.function.values(args)),
            _ => self.flow(op),
        }
    }

    fn cooperative(&self, op: MatrixOp, args: Values) -> String {
        let word = match op {
            MatrixOp::Load => "load".to_owned(),
            MatrixOp::Store => "store".to_owned(),
            MatrixOp::MulAdd { saturating: false } => "mul_add".to_owned(),
            MatrixOp::MulAdd { saturating: true } => "mul_add.saturating".to_owned(),
            MatrixOp::Length(of) => format!("length {}", self.printer.type_text(of)),
            MatrixOp::LoadTensor(_) => "load_tensor".to_owned(),
            MatrixOp::StoreTensor => "store_tensor".to_owned(),
            MatrixOp::Reduce { parts, .. } => format!("reduce.{}", snake(parts)),
            MatrixOp::PerElement(_) => "per_element".to_owned(),
            MatrixOp::Transpose => "transpose".to_owned(),
            MatrixOp::LoadVector => "load_vector".to_owned(),
            MatrixOp::StoreVector => "store_vector".to_owned(),
        };
        let callees = op.callees().into_iter().flatten().map(|callee| &*self.printer.names.functions[callee.index()]);
        let word = callees.fold(word, |word, callee| format!("{word} {callee}"));
        self.word(format!("cooperative.{word}"), self.function.values(args))
    }

    /// `foreign GLSL.std.450 35: …`
    fn foreign(&self, instruction: u32, args: Values) -> String {
        let known = &self.printer.module.foreign.instructions[instruction as usize];
        let set = known.set.as_ref().map_or("", |set| set);
        let word = format!("foreign {set} {}:", known.opcode).replace("  ", " ");
        self.word(word, self.function.values(args))
    }

    fn flow(&self, op: &Op) -> String {
        match *op {
            Op::Call(callee, args) => {
                format!("call {}({})", self.printer.names.functions[callee.index()], self.values(args))
            }
            Op::Return(value) => self.word("return", value.as_slice()),
            Op::Yield(value) => self.word("yield", &[value]),
            ref other => snake(other),
        }
    }
}

fn image_word(op: ImageOp) -> String {
    match op {
        ImageOp::Atomic(op, ..) => format!("atomic.{}", snake(op)),
        op => snake(op),
    }
}
