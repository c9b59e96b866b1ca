//! Runs a program of the pseudo-code.

use super::Texts;
use super::call::builtin;
use super::operate::{binary, power, scaled, unary};
use super::parse::{Expression, Lambda, Program, Statement};
use super::value::{Sort, Value, mask};
use std::rc::Rc;

/// Vector registers in all lanes.
pub type Registers = Vec<[u32; 64]>;

#[derive(Debug, Clone)]
enum Slot {
    Free,
    /// Its type changes with each assignment.
    Loose(Value),
    /// Its type was declared, or is a register's.
    Fixed(Value),
    Array(Vec<Value>),
}

/// How execution continues after a statement.
enum Flow {
    Next,
    Break,
    Return(Value),
}

/// The assigned bits of a variable.
struct Place {
    variable: usize,
    /// Indices of an array, or a lane and a register.
    elements: Vec<usize>,
    low: u32,
    /// The whole variable if `None`.
    width: Option<u32>,
    sort: Option<Sort>,
}

/// One run of one text.
pub struct Run<'t> {
    texts: &'t Texts,
    program: Rc<Program>,
    slots: Vec<Slot>,
    vectors: Option<usize>,
    memory: Option<usize>,
    result: Option<usize>,
    ieee: bool,
    pub registers: Registers,
    /// The assigned bits of `D0`.
    pub written: u128,
}

impl<'t> Run<'t> {
    pub fn new(texts: &'t Texts, name: &str) -> Result<Self, String> {
        let program = texts.program(name)?;
        let [vectors, memory, result] = ["VGPR", "MEM", "D0"].map(|name| program.variable(name));
        let slots = vec![Slot::Free; program.names.len()];
        let mut run =
            Self { texts, program, slots, vectors, memory, result, ieee: false, registers: Vec::new(), written: 0 };
        run.set("ROUND_MODE", Value::int(0));
        run.set("ROUND_TOWARD_ZERO", Value::int(3));
        run.set("PI", Value::float(std::f64::consts::PI, 64));
        run.set("INF", Value::float(f64::INFINITY, 64));
        run.set("NAN", Value::float(f64::NAN, 64));
        for width in [32, 64] {
            run.set(&format!("UNDERFLOW_F{width}"), Value::float(0.0, width));
            run.set(&format!("OVERFLOW_F{width}"), Value::float(f64::INFINITY, width));
        }
        Ok(run)
    }

    /// Gives a variable a value whose type stays, if the text uses the variable.
    pub fn set(&mut self, name: &str, value: Value) {
        if let Some(variable) = self.program.variable(name) {
            self.slots[variable] = Slot::Fixed(value);
        }
    }

    /// Sets the mode of minima and maxima.
    pub fn set_mode(&mut self, ieee: bool) {
        self.ieee = ieee;
        self.set("WAVE_MODE.IEEE", Value::bool(ieee));
    }

    pub fn set_array(&mut self, name: &str, values: Vec<Value>) {
        if let Some(variable) = self.program.variable(name) {
            self.slots[variable] = Slot::Array(values);
        }
    }

    pub fn get(&self, name: &str) -> Option<Value> {
        match self.slots[self.program.variable(name)?] {
            Slot::Fixed(value) | Slot::Loose(value) => Some(value),
            _ => None,
        }
    }

    /// Returns true if the text uses the variable.
    pub fn names(&self, name: &str) -> bool {
        self.program.variable(name).is_some()
    }

    pub fn run(&mut self) -> Result<(), String> {
        self.written = 0;
        let program = self.program.clone();
        self.block(&program.body).map(drop)
    }

    fn block(&mut self, statements: &[Statement]) -> Result<Flow, String> {
        for statement in statements {
            match self.statement(statement)? {
                Flow::Next => {}
                flow => return Ok(flow),
            }
        }
        Ok(Flow::Next)
    }

    fn statement(&mut self, statement: &Statement) -> Result<Flow, String> {
        match statement {
            Statement::Assign(places, operator, value) => self.assign(places, operator, value)?,
            Statement::If(arms, otherwise) => {
                for (condition, body) in arms {
                    if self.value(condition)?.is_true() {
                        return self.block(body);
                    }
                }
                return self.block(otherwise);
            }
            Statement::For(variable, bounds, body) => return self.repeat(*variable, bounds, body),
            Statement::Declare(variable, width, sort, count) => self.declare(*variable, *width, *sort, *count),
            Statement::Break => return Ok(Flow::Break),
            Statement::Return(value) => return Ok(Flow::Return(self.value(value)?)),
            // A call for its effect: waits and no-operations have none here.
            Statement::Evaluate(Expression::Call(name, _)) if ["s_nop", "nop"].contains(&&name[..]) => {}
            Statement::Evaluate(value) => drop(self.value(value)?),
        }
        Ok(Flow::Next)
    }

    fn repeat(&mut self, variable: usize, bounds: &[Expression; 2], body: &[Statement]) -> Result<Flow, String> {
        let (first, last) = (self.value(&bounds[0])?, self.value(&bounds[1])?);
        for n in first.whole()..=last.whole() {
            self.slots[variable] = Slot::Loose(Value::new(n as u128, first.width, first.sort));
            match self.block(body)? {
                Flow::Next => {}
                Flow::Break => break,
                flow => return Ok(flow),
            }
        }
        Ok(Flow::Next)
    }

    fn declare(&mut self, variable: usize, width: u32, sort: Sort, count: Option<usize>) {
        let zero = Value::new(0, width, sort);
        // Values given by the caller are not declared again.
        if let Slot::Free | Slot::Loose(_) = self.slots[variable] {
            self.slots[variable] = count.map_or(Slot::Fixed(zero), |count| Slot::Array(vec![zero; count]));
        }
    }

    fn assign(&mut self, places: &[Expression], operator: &str, value: &Expression) -> Result<(), String> {
        let mut value = self.value(value)?;
        for expression in places {
            if let Expression::Joined(parts) = expression {
                self.assign_joined(parts, value)?;
                continue;
            }
            if !operator.is_empty() {
                value = binary(operator, self.value(expression)?, value)?;
            }
            let place = self.place(expression)?;
            self.write(&place, value)?;
        }
        Ok(())
    }

    fn assign_joined(&mut self, parts: &[Expression], value: Value) -> Result<(), String> {
        let mut low = 0;
        for part in parts.iter().rev() {
            let place = self.place(part)?;
            let width = place.width.ok_or("a part has no width")?;
            self.write(&place, Value::new(value.bits >> low, width, Sort::Unsigned))?;
            low += width;
        }
        Ok(())
    }

    fn place(&mut self, expression: &Expression) -> Result<Place, String> {
        match expression {
            Expression::Variable(variable) => {
                Ok(Place { variable: *variable, elements: Vec::new(), low: 0, width: None, sort: None })
            }
            Expression::Seen(of, width, sort) => {
                Ok(Place { width: Some(*width), sort: Some(*sort), ..self.place(of)? })
            }
            Expression::Index(of, index) => {
                let index = self.value(index)?.whole();
                let mut place = self.place(of)?;
                if self.is_list(&place) {
                    place.elements.push(usize::try_from(index).map_err(|_| "an index is negative")?);
                    return Ok(place);
                }
                Ok(Place { low: place.low + index as u32, width: Some(1), sort: None, ..place })
            }
            Expression::Slice(of, ends) => {
                let (last, first) = (self.value(&ends[0])?.whole() as u32, self.value(&ends[1])?.whole() as u32);
                let place = self.place(of)?;
                let width = (last + 1).checked_sub(first).ok_or("bits are assigned the wrong way round")?;
                Ok(Place { low: place.low + first, width: Some(width), sort: None, ..place })
            }
            _ => Err("this cannot be assigned".to_owned()),
        }
    }

    /// Returns true if an index selects an element instead of a bit.
    fn is_list(&self, place: &Place) -> bool {
        let wanted = match self.slots[place.variable] {
            _ if self.vectors == Some(place.variable) => 2,
            _ if self.memory == Some(place.variable) => 1,
            Slot::Array(_) => 1,
            _ => 0,
        };
        place.elements.len() < wanted
    }

    fn write(&mut self, place: &Place, value: Value) -> Result<(), String> {
        if self.vectors == Some(place.variable) {
            let [lane, register] = place.elements[..] else { return Err("a register of no lane".to_owned()) };
            let register = self.registers.get_mut(register).ok_or("no such vector register")?;
            *register.get_mut(lane).ok_or("no such lane")? = value.whole() as u32;
            return Ok(());
        }
        let whole = place.width.is_none() && place.elements.is_empty();
        match &mut self.slots[place.variable] {
            Slot::Array(values) => {
                let value = merged(values[place.elements[0]], place, value);
                values[place.elements[0]] = value;
            }
            Slot::Fixed(old) => {
                *old = merged(*old, place, value);
                if self.result == Some(place.variable) {
                    self.written |= mask(place.width.unwrap_or(old.width)) << place.low;
                }
            }
            slot if whole => *slot = Slot::Loose(value),
            Slot::Loose(old) => *old = merged(*old, place, value),
            slot => *slot = Slot::Loose(merged(Value::unsigned(0, 64), place, value)),
        }
        Ok(())
    }

    fn value(&mut self, expression: &Expression) -> Result<Value, String> {
        match expression {
            Expression::Number(value) => Ok(*value),
            Expression::Variable(variable) => self.variable(*variable),
            Expression::Seen(of, width, sort) => self.seen(of, *width, *sort),
            Expression::Index(of, index) => self.index(of, index),
            Expression::Slice(of, ends) => {
                let (last, first) = (self.value(&ends[0])?.bits as u32, self.value(&ends[1])?.bits as u32);
                Ok(slice(self.value(of)?, last, first))
            }
            Expression::Part(of, ends) => {
                let (first, count) = (self.value(&ends[0])?.bits as u32, self.value(&ends[1])?.bits as u32);
                Ok(slice(self.value(of)?, first + count - 1, first))
            }
            Expression::Unary(sign, of) => Ok(unary(sign, self.value(of)?)),
            Expression::Binary(sign, sides) => self.binary(sign, &sides[0], &sides[1]),
            Expression::Choice(three) => {
                let chosen = if self.value(&three[0])?.is_true() { 1 } else { 2 };
                self.value(&three[chosen])
            }
            Expression::Cast(width, sort, of) => self.cast(*width, *sort, of),
            Expression::Call(name, arguments) => self.call(name, arguments),
            Expression::Joined(parts) => {
                let mut joined = Value::unsigned(0, 0);
                for part in parts {
                    let part = self.value(part)?;
                    let bits = if joined.width == 0 { 0 } else { joined.bits << part.width };
                    joined = Value::new(bits | part.bits, joined.width + part.width, Sort::Unsigned);
                }
                Ok(joined)
            }
        }
    }

    fn variable(&self, variable: usize) -> Result<Value, String> {
        match self.slots[variable] {
            Slot::Fixed(value) | Slot::Loose(value) => Ok(value),
            _ => Err(format!("{} has no value", self.program.names[variable])),
        }
    }

    /// Infinities and the like are numbers of the type; everything else is reinterpreted.
    fn seen(&mut self, of: &Expression, width: u32, sort: Sort) -> Result<Value, String> {
        let value = self.value(of)?;
        match of {
            Expression::Variable(variable) if ["INF", "NAN"].contains(&&self.program.names[*variable][..]) => {
                Ok(value.converted(width, sort))
            }
            _ => Ok(value.seen_as(width, sort)),
        }
    }

    fn index(&mut self, of: &Expression, index: &Expression) -> Result<Value, String> {
        let at = self.value(index)?.bits as usize;
        match of {
            Expression::Index(list, lane) if matches!(**list, Expression::Variable(v) if self.vectors == Some(v)) => {
                let lane = self.value(lane)?.bits as usize;
                let register = self.registers.get(at).ok_or("no such vector register")?;
                register.get(lane).map(|bits| Value::unsigned((*bits).into(), 32)).ok_or("no such lane".to_owned())
            }
            Expression::Variable(variable) if self.memory == Some(*variable) => self.variable(*variable),
            Expression::Variable(variable) => match &self.slots[*variable] {
                Slot::Array(values) => values.get(at).copied().ok_or("an index is too large".to_owned()),
                _ => Ok(slice(self.variable(*variable)?, at as u32, at as u32)),
            },
            _ => Ok(slice(self.value(of)?, at as u32, at as u32)),
        }
    }

    fn binary(&mut self, sign: &str, left: &Expression, right: &Expression) -> Result<Value, String> {
        if let (true, Expression::Seen(of, ..)) = (sign == "==", right)
            && matches!(**of, Expression::Variable(v) if self.program.names[v] == "DENORM")
        {
            return Ok(Value::bool(self.value(left)?.is_denormal()));
        }
        // A zero that is written with its sign is that zero alone.
        if let (true, Expression::Unary(sign @ ("+" | "-"), of)) = (sign == "==", right)
            && matches!(**of, Expression::Number(value) if value.is_float() && value.number() == 0.0)
        {
            let left = self.value(left)?;
            return Ok(Value::bool(left.number() == 0.0 && left.number().is_sign_negative() == (*sign == "-")));
        }
        // A product with a power of two is not rounded twice.
        if sign == "*" {
            if let Some(by) = self.power_of_two(right)? {
                return Ok(scaled(self.value(left)?, by));
            }
            if let Some(by) = self.power_of_two(left)? {
                return Ok(scaled(self.value(right)?, by));
            }
        }
        let left = self.value(left)?;
        match sign {
            "&&" if !left.is_true() => Ok(Value::bool(false)),
            "||" if left.is_true() => Ok(Value::bool(true)),
            _ => binary(sign, left, self.value(right)?),
        }
    }

    fn power_of_two(&mut self, expression: &Expression) -> Result<Option<i128>, String> {
        match expression {
            Expression::Cast(_, Sort::Float, of) => self.power_of_two(of),
            Expression::Binary("**", sides) => {
                let (base, exponent) = (self.value(&sides[0])?, self.value(&sides[1])?);
                Ok((base.is_float() && base.number() == 2.0 && !exponent.is_float()).then(|| exponent.whole()))
            }
            _ => Ok(None),
        }
    }

    fn cast(&mut self, width: u32, sort: Sort, of: &Expression) -> Result<Value, String> {
        if width > 128 {
            return Err(format!("{width} bits are too many"));
        }
        if let (Sort::Float, Expression::Binary("**", sides)) = (sort, of) {
            return Ok(Value::float(power(self.value(&sides[0])?, self.value(&sides[1])?)?, width));
        }
        Ok(self.value(of)?.converted(width, sort))
    }

    fn call(&mut self, name: &str, arguments: &[Expression]) -> Result<Value, String> {
        // The caller provides the only place in memory.
        if name.starts_with("Calc") {
            return Ok(Value::unsigned(0, 64));
        }
        let arguments: Vec<Value> = arguments.iter().map(|value| self.value(value)).collect::<Result<_, _>>()?;
        let program = self.program.clone();
        if let Some(lambda) = program.lambdas.iter().find(|lambda| lambda.name == name) {
            return self.apply(lambda, &arguments);
        }
        let down = self.get("ROUND_MODE").is_some_and(|mode| mode.bits == 3);
        match builtin(name, &arguments, down) {
            Some(value) => Ok(value),
            None => self.instruction(name, &arguments),
        }
    }

    fn apply(&mut self, lambda: &Lambda, arguments: &[Value]) -> Result<Value, String> {
        for (parameter, value) in lambda.parameters.iter().zip(arguments) {
            self.slots[*parameter] = Slot::Loose(*value);
        }
        match self.block(&lambda.body)? {
            Flow::Return(value) => Ok(value),
            _ => Err(format!("{} has no result", lambda.name)),
        }
    }

    /// Another instruction called as a function: its result, with the type at the end of its name.
    fn instruction(&mut self, name: &str, arguments: &[Value]) -> Result<Value, String> {
        if self.texts.text(name).is_none() {
            return Err(format!("{name} is not defined"));
        }
        let mut run = Run::new(self.texts, name)?;
        for (source, value) in ["S0", "S1", "S2"].into_iter().zip(arguments) {
            run.set(source, *value);
        }
        run.set("D0", Value::unsigned(0, 64));
        run.set_mode(self.ieee);
        run.run()?;
        let (_, suffix) = name.rsplit_once('_').ok_or("a name without a type")?;
        let width = suffix[1..].parse().map_err(|_| "a name without a type")?;
        let sort = Sort::named(&suffix[..1].to_ascii_uppercase()).ok_or("a name without a type")?;
        Ok(run.get("D0").ok_or("there is no result")?.seen_as(width, sort))
    }
}

/// Bits of a value; reversed if the last one is below the first.
fn slice(value: Value, last: u32, first: u32) -> Value {
    let (low, high) = (first.min(last), first.max(last));
    let width = high - low + 1;
    let bits = if low >= 128 { 0 } else { value.bits >> low & mask(width) };
    let bits = if last < first { bits.reverse_bits() >> (128 - width) } else { bits };
    Value::new(bits, width, Sort::Unsigned)
}

/// A value with the bits of a place replaced.
fn merged(old: Value, place: &Place, value: Value) -> Value {
    let width = place.width.unwrap_or(old.width);
    let sort = place.sort.unwrap_or(if place.width.is_none() { old.sort } else { Sort::Unsigned });
    let field = mask(width) << place.low;
    let bits = value.converted(width, sort).bits << place.low;
    Value::new(old.bits & !field | bits & field, old.width.max(place.low + width).min(128), old.sort)
}
