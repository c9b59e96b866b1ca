//! Random kernels with integers of 8, 16 and 64 bits, halves and doubles in addition to words and floats: arithmetic,
//! shifts, conversions, packing, comparisons, selections, loops, arrays, and functions with `inout` parameters.
//!
//! Every expression has one result: shifts stay below the width, divisors are not zero, floats are small multiples of a
//! quarter, which halves can hold, and become integers only where the type is large enough. Constant expressions that
//! glslang evaluates incorrectly are left out: `abs` and `sign` of integers that are not words.

use super::program::INVOCATIONS;
use super::rng::Rng;
use std::fmt::Write as _;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    Signed,
    Unsigned,
    Float,
    Bool,
}

/// A scalar type: its name, the prefix of its vectors, and its width.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kind {
    pub name: &'static str,
    vector: &'static str,
    pub class: Class,
    pub bits: u32,
}

const fn kind(name: &'static str, vector: &'static str, class: Class, bits: u32) -> Kind {
    Kind { name, vector, class, bits }
}

pub const BOOL: Kind = kind("bool", "bvec", Class::Bool, 1);
pub const UINT: Kind = kind("uint", "uvec", Class::Unsigned, 32);
pub const INT: Kind = kind("int", "ivec", Class::Signed, 32);

/// Types of which a kernel has some, besides words.
const OTHERS: [Kind; 9] = [
    kind("int8_t", "i8vec", Class::Signed, 8),
    kind("uint8_t", "u8vec", Class::Unsigned, 8),
    kind("int16_t", "i16vec", Class::Signed, 16),
    kind("uint16_t", "u16vec", Class::Unsigned, 16),
    kind("int64_t", "i64vec", Class::Signed, 64),
    kind("uint64_t", "u64vec", Class::Unsigned, 64),
    kind("float16_t", "f16vec", Class::Float, 16),
    kind("float", "vec", Class::Float, 32),
    kind("double", "dvec", Class::Float, 64),
];

/// Packing functions: width and size of their result, and of their operand.
pub const PACKING: [(&str, [u32; 2], [u32; 2]); 8] = [
    ("pack32", [32, 1], [8, 4]),
    ("pack32", [32, 1], [16, 2]),
    ("pack64", [64, 1], [16, 4]),
    ("pack64", [64, 1], [32, 2]),
    ("unpack8", [8, 4], [32, 1]),
    ("unpack16", [16, 2], [32, 1]),
    ("unpack16", [16, 4], [64, 1]),
    ("unpack32", [32, 2], [64, 1]),
];

impl Kind {
    pub fn is_integer(self) -> bool {
        matches!(self.class, Class::Signed | Class::Unsigned)
    }

    /// The vector with this many components, or the scalar.
    pub fn of(self, size: u32) -> String {
        if size == 1 { self.name.to_owned() } else { format!("{}{size}", self.vector) }
    }
}

#[derive(Debug, Clone)]
struct Variable {
    name: String,
    kind: Kind,
    size: u32,
    /// Elements, of an array.
    elements: Option<u32>,
    writable: bool,
}

/// A function that modifies its first argument by the second one.
#[derive(Debug, Clone)]
struct Function {
    name: String,
    changed: (Kind, u32),
    given: (Kind, u32),
}

/// The source for a seed.
pub fn kernel(seed: u64) -> String {
    let mut rng = Rng::new(seed);
    let mut kinds = vec![INT, UINT];
    let mut others = OTHERS.to_vec();
    for _ in 0..1 + rng.below(5) {
        kinds.push(others.remove(rng.below(others.len())));
    }
    let mut wide = Wide { rng, kinds, ..Wide::default() };
    wide.head();
    (0..1 + wide.rng.below(2)).for_each(|_| wide.function());
    wide.main();
    wide.text
}

#[derive(Default)]
pub struct Wide {
    pub rng: Rng,
    text: String,
    pub kinds: Vec<Kind>,
    variables: Vec<Variable>,
    functions: Vec<Function>,
    names: usize,
    loops: usize,
    budget: usize,
}

impl Wide {
    fn line(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    fn fresh(&mut self, prefix: &str) -> String {
        self.names += 1;
        format!("{prefix}{}", self.names)
    }

    fn declare(&mut self, name: &str, kind: Kind, size: u32, writable: bool) {
        self.variables.push(Variable { name: name.to_owned(), kind, size, elements: None, writable });
    }

    pub fn size(&mut self) -> u32 {
        *self.rng.pick(&[1, 1, 1, 2, 3, 4])
    }

    pub fn kind(&mut self) -> Kind {
        *self.rng.pick(&self.kinds)
    }

    pub fn integer(&mut self) -> Kind {
        let integers: Vec<Kind> = self.kinds.iter().copied().filter(|kind| kind.is_integer()).collect();
        *self.rng.pick(&integers)
    }

    // The kernel.

    fn head(&mut self) {
        self.line("#version 460");
        self.line("#extension GL_EXT_shader_explicit_arithmetic_types : require");
        self.line(&format!("layout(local_size_x = {INVOCATIONS}) in;"));
        self.line("layout(std430, binding = 0) readonly buffer In { uint given[]; };");
        self.line("layout(std430, binding = 1) buffer Out { uint o[]; };");
        self.memory();
        for kind in self.kinds.clone().into_iter().filter(|kind| kind.class == Class::Float) {
            for size in 1..=4 {
                let (ty, name) = (kind.of(size), kind.name);
                self.line(&format!(
                    "{ty} lim({ty} x) {{ return floor(clamp(x, {name}(-8), {name}(8)) * {name}(4)) / {name}(4); }}"
                ));
            }
        }
        self.line("uint sum = 0, at;");
        self.line("void put(uint x) { sum = sum * 31u + x; }");
        self.line("void done() { o[at++] = sum; sum = 0u; }");
    }

    /// A block whose members are at least words, which every target can store.
    fn memory(&mut self) {
        let stored: Vec<Kind> = self.kinds.iter().copied().filter(|kind| kind.bits >= 32).collect();
        let layout = *self.rng.pick(&["std430", "std140"]);
        let mut members = String::new();
        for n in 0..2 {
            let (kind, size) = (*self.rng.pick(&stored), self.size());
            write!(members, "{} m{n}; ", kind.of(size)).expect("a string takes all");
            self.declare(&format!("b[gl_LocalInvocationIndex].m{n}"), kind, size, true);
        }
        self.line(&format!("struct M {{ {members}}};"));
        self.line(&format!("layout({layout}, binding = 2) buffer Mem {{ M b[{INVOCATIONS}]; }};"));
    }

    fn function(&mut self) {
        let known = self.variables.len();
        let function =
            Function { name: self.fresh("f"), changed: (self.kind(), self.size()), given: (self.kind(), self.size()) };
        let [changed, given] = [function.changed, function.given].map(|(kind, size)| kind.of(size));
        self.line(&format!("void {}(inout {changed} p, {given} q) {{", function.name));
        self.declare("p", function.changed.0, function.changed.1, true);
        self.declare("q", function.given.0, function.given.1, true);
        self.budget = 3 + self.rng.below(4);
        self.block();
        self.variables.truncate(known);
        self.line("}");
        self.functions.push(function);
    }

    fn main(&mut self) {
        self.line("void main() {");
        self.line("uint id = gl_LocalInvocationIndex; at = id * 32u;");
        self.line(&format!("uint a = given[id], b0 = given[id + {INVOCATIONS}u]; bool c = (a & 1u) != 0u;"));
        let memory = std::mem::take(&mut self.variables);
        self.declare("a", UINT, 1, true);
        self.declare("b0", UINT, 1, true);
        self.declare("c", BOOL, 1, true);
        for kind in self.kinds.clone() {
            let (size, name) = (self.size(), self.fresh("x"));
            let parts: Vec<String> = (0..size).map(|_| self.start(kind)).collect();
            self.line(&format!("{0} {name} = {0}({1});", kind.of(size), parts.join(", ")));
            self.declare(&name, kind, size, true);
        }
        for place in memory {
            let value = self.expr(place.kind, place.size, 1);
            self.line(&format!("{} = {value};", place.name));
            self.variables.push(place);
        }
        (0..2).for_each(|_| self.array());
        let kept = self.variables.clone();
        self.budget = 12 + self.rng.below(8);
        self.block();
        kept.iter().for_each(|variable| self.write_down(variable));
        self.line("}");
    }

    /// A component computed from the kernel's input.
    fn start(&mut self, kind: Kind) -> String {
        let word = format!("{} >> {}", self.rng.pick(&["a", "b0"]), self.rng.below(9));
        match (kind.class, kind.bits) {
            (Class::Float, _) => format!("{0}(int({word} & 31u) - 16) * {0}(0.25)", kind.name),
            (_, 64) => format!("{}(pack64(uvec2({word}, b0 * 7u)))", kind.name),
            _ => format!("{}({word})", kind.name),
        }
    }

    /// An array, with elements selected at run time too.
    fn array(&mut self) {
        let (kind, size, name, count) = (self.kind(), self.size(), self.fresh("l"), 2 + self.rng.below(3) as u32);
        let values: Vec<String> = (0..count).map(|_| self.expr(kind, size, 1)).collect();
        let ty = kind.of(size);
        self.line(&format!("{ty} {name}[{count}] = {ty}[{count}]({});", values.join(", ")));
        self.variables.push(Variable { name, kind, size, elements: Some(count), writable: true });
    }

    fn write_down(&mut self, variable: &Variable) {
        let elements = (0..variable.elements.unwrap_or(1)).map(|n| match variable.elements {
            Some(_) => format!("{}[{n}]", variable.name),
            None => variable.name.clone(),
        });
        for element in elements {
            for n in 0..variable.size {
                let part = if variable.size == 1 { element.clone() } else { format!("{element}[{n}]") };
                self.line(&match (variable.kind.class, variable.kind.bits) {
                    (Class::Float, _) => format!("put(uint(int(lim({part}) * {}(4))));", variable.kind.name),
                    (_, 64) => format!("put(uint({part})); put(uint({part} >> 32));"),
                    _ => format!("put(uint({part}));"),
                });
            }
        }
        self.line("done();");
    }

    // Statements.

    fn block(&mut self) {
        let known = self.variables.len();
        for _ in 0..8 {
            if let Some(left) = self.budget.checked_sub(1) {
                self.budget = left;
                self.statement();
            }
        }
        self.variables.truncate(known);
    }

    fn statement(&mut self) {
        match self.rng.below(12) {
            0 | 1 => {
                let (kind, size, name) = (self.kind(), self.size(), self.fresh("v"));
                let value = self.expr(kind, size, 2);
                self.line(&format!("{} {name} = {value};", kind.of(size)));
                self.declare(&name, kind, size, true);
            }
            2 | 3 => {
                let condition = self.expr(BOOL, 1, 2);
                self.line(&format!("if ({condition}) {{"));
                self.block();
                if self.rng.once_in(2) {
                    self.line("} else {");
                    self.block();
                }
                self.line("}");
            }
            4 if self.loops < 2 => self.repeat(),
            5 if self.loops > 0 => {
                let (condition, jump) = (self.expr(BOOL, 1, 1), *self.rng.pick(&["break", "continue"]));
                self.line(&format!("if ({condition}) {jump};"));
            }
            6 => self.call(),
            _ => self.assign(),
        }
    }

    fn repeat(&mut self) {
        self.loops += 1;
        let (counter, name, times) = (self.integer(), self.fresh("k"), 1 + self.rng.below(4));
        let ty = counter.name;
        self.line(&format!("for ({ty} {name} = {ty}(0); {name} < {ty}({times}); {name}++) {{"));
        self.declare(&name, counter, 1, false);
        self.block();
        self.variables.retain(|variable| variable.name != name);
        self.line("}");
        self.loops -= 1;
    }

    /// A call whose first argument is a fresh variable, so that the function does not also read it under another name.
    fn call(&mut self) {
        let Some(function) = self.functions.last().cloned() else { return self.assign() };
        let (name, ty) = (self.fresh("t"), function.changed.0.of(function.changed.1));
        let start = self.expr(function.changed.0, function.changed.1, 1);
        let given = self.expr(function.given.0, function.given.1, 1);
        self.line(&format!("{ty} {name} = {start}; {}({name}, {given});", function.name));
        self.declare(&name, function.changed.0, function.changed.1, true);
    }

    fn assign(&mut self) {
        let writable: Vec<Variable> = self.variables.iter().filter(|variable| variable.writable).cloned().collect();
        let Some(variable) = (!writable.is_empty()).then(|| self.rng.pick(&writable).clone()) else { return };
        let size = 1 + self.rng.below(variable.size as usize) as u32;
        let target = self.part(&variable, size, true);
        let (kind, depth) = (variable.kind, 1 + self.rng.below(4));
        let value = self.expr(kind, size, depth);
        let line = match (kind.class, self.rng.below(4)) {
            (Class::Signed | Class::Unsigned, 0) => {
                format!("{target} {}= {value};", self.rng.pick(&["+", "-", "*", "&", "|", "^"]))
            }
            (Class::Signed | Class::Unsigned, 1) => {
                let (shift, by) = (*self.rng.pick(&["<<", ">>"]), self.rng.below(kind.bits as usize));
                format!("{target} {shift}= {by}; {target} ^= {value};")
            }
            (Class::Float, _) => format!("{target} = lim({value});"),
            _ => format!("{target} = {value};"),
        };
        self.line(&line);
    }

    // Parts of variables.

    fn part(&mut self, variable: &Variable, size: u32, distinct: bool) -> String {
        let path = match variable.elements {
            Some(count) if self.rng.once_in(2) => format!("{}[{}]", variable.name, self.rng.below(count as usize)),
            Some(count) => format!("{}[a % {count}u]", variable.name),
            None => variable.name.clone(),
        };
        if variable.size == 1 || (variable.size == size && self.rng.once_in(2)) {
            return path;
        }
        let mut letters: Vec<char> = "xyzw".chars().take(variable.size as usize).collect();
        let mut swizzle = String::new();
        for _ in 0..size {
            let at = self.rng.below(letters.len());
            swizzle.push(if distinct { letters.remove(at) } else { letters[at] });
        }
        format!("{path}.{swizzle}")
    }

    pub fn leaf(&mut self, kind: Kind, size: u32) -> String {
        let fits = |variable: &&Variable| variable.kind == kind && variable.size >= size;
        let found: Vec<Variable> = self.variables.iter().filter(fits).cloned().collect();
        if found.is_empty() || self.rng.once_in(5) {
            let parts: Vec<String> = (0..size).map(|_| self.literal(kind)).collect();
            return if size == 1 { parts.concat() } else { format!("{}({})", kind.of(size), parts.join(", ")) };
        }
        let variable = self.rng.pick(&found).clone();
        self.part(&variable, size, false)
    }

    fn literal(&mut self, kind: Kind) -> String {
        let small = self.rng.below(16) as u64;
        let top = 1_u64 << (kind.bits - 1);
        let number = *self.rng.pick(&[small, small, top - 1, top, top + small, (top - 1) * 2 + 1]);
        match (kind.class, kind.bits) {
            (Class::Bool, _) => ["false", "true"][small as usize & 1].to_owned(),
            (Class::Float, _) => format!("{}({:?})", kind.name, small as f64 / 4.0 - 2.0),
            (Class::Signed, 64) => format!("int64_t({number:#x}ul)"),
            (Class::Unsigned, 64) => format!("{number:#x}ul"),
            _ => format!("{}({:#x}u)", kind.name, number as u32),
        }
    }
}
