//! A whole random kernel: structs, constants, blocks, shared memory, functions, and a `main` that writes out all it
//! has.

use super::lanes;
use super::scope::{EFFECTS, Function, Mode, Program};
use super::types::{BOOL, FLOAT, INT, Kind, Ty, UINT};

/// Invocations, all in one workgroup.
pub const INVOCATIONS: usize = 8;
/// Words that one invocation writes.
pub const RESULTS: usize = 32;
/// Words for each invocation of the block that kernels work in; enough for any set of members.
pub const MEMORY: usize = 1024;

/// Built-in functions that kernels overload. They take only scalars and vectors, so that other parameters are new.
const BUILT_INS: [&str; 8] = ["abs", "sign", "min", "max", "clamp", "floor", "bitfieldExtract", "dot"];

/// The source for a seed.
pub fn kernel(seed: u64) -> String {
    write(Program::new(seed), &[])
}

/// The source for a seed with cross-lane operations, and with the workgroup from [`lanes::invocations`].
#[allow(dead_code)]
pub fn lane_kernel(seed: u64) -> String {
    let program = Program { invocations: lanes::invocations(seed), ..Program::new(seed) };
    write(program, &lanes::EXTENSIONS)
}

fn write(mut program: Program, extensions: &[&str]) -> String {
    program.head(extensions);
    program.types();
    program.constants();
    program.memory();
    for _ in 0..2 + program.rng.below(2) {
        program.function();
    }
    program.main(!extensions.is_empty());
    program.text
}

/// A kernel whose counted loops request unrolling.
pub fn unrolled(source: &str) -> String {
    let (version, rest) = source.split_once('\n').unwrap_or((source, ""));
    let extension = "#extension GL_EXT_control_flow_attributes : require";
    let asked = rest.replace("for (int ", "[[unroll]] for (int ").replace("for (uint ", "[[unroll]] for (uint ");
    format!("{version}\n{extension}\n{asked}")
}

/// A kernel whose input is in a buffer that is never written.
pub fn with_constant_input(source: &str) -> String {
    source.replace("readonly buffer In", "readonly restrict buffer In")
}

/// Writes a failing kernel to a file and returns its path.
pub fn keep(seed: u64, source: &str) -> String {
    let path = std::env::temp_dir().join(format!("crosslane-random-{seed}.comp"));
    std::fs::write(&path, source).map(|()| path.display().to_string()).unwrap_or_default()
}

impl Program {
    fn head(&mut self, extensions: &[&str]) {
        self.line("#version 450");
        extensions.iter().for_each(|name| self.line(&format!("#extension {name} : require")));
        self.line(&format!("layout(local_size_x = {}) in;", self.invocations));
        self.line("layout(std430, binding = 0) readonly buffer In { int given[]; };");
        self.line("layout(std430, binding = 1) buffer Out { int o[]; };");
        self.line("uint at;");
        self.line("int e0 = 1, e1 = 2, e2 = 3;");
        self.line("int tick(inout int e, int x) { e = e * 31 + x; return e & 7; }");
        self.limits();
        self.line("int sum = 0;");
        self.line("void put(int x) { sum = sum * 31 + x; }");
        self.line("void done() { o[at++] = sum; sum = 0; }");
    }

    /// `lim` keeps floats small and multiples of a quarter.
    fn limits(&mut self) {
        self.line("float lim(float x) { return floor(clamp(x, -8.0, 8.0) * 4.0) / 4.0; }");
        for size in 2..=4 {
            self.line(&format!("vec{size} lim(vec{size} x) {{ return floor(clamp(x, -8.0, 8.0) * 4.0) / 4.0; }}"));
        }
        for columns in 2..=4 {
            for rows in 2..=4 {
                let name = Ty::Matrix(columns, rows).name();
                let parts: Vec<String> = (0..columns).map(|c| format!("lim(x[{c}])")).collect();
                self.line(&format!("{name} lim({name} x) {{ return {name}({}); }}", parts.join(", ")));
            }
        }
    }

    fn types(&mut self) {
        for index in 0..1 + self.rng.below(2) {
            let count = 1 + self.rng.below(3);
            let members: Vec<Ty> = (0..count).map(|_| Ty::random(&mut self.rng, index)).collect();
            let text: Vec<String> = members.iter().enumerate().map(|(m, ty)| format!("{} m{m};", ty.name())).collect();
            self.line(&format!("struct S{index} {{ {} }};", text.join(" ")));
            self.structs.0.push(members);
        }
    }

    fn constants(&mut self) {
        self.constant = true;
        for index in 0..3 {
            let ty = if index == 0 { INT } else { Ty::random(&mut self.rng, 0) };
            let name = self.fresh("C");
            // Deep expressions only for integers: floats must not have many products.
            let depth = if matches!(ty, Ty::Vector(Kind::Int | Kind::Uint, _)) { 2 } else { 1 };
            let value = self.expr(&ty, depth);
            self.line(&format!("const {} {name} = {value};", ty.name()));
            self.declare(&name, &ty, false, true);
        }
        self.constant = false;
    }

    /// Globals, shared memory and a storage block, each with a part for every invocation.
    fn memory(&mut self) {
        for _ in 0..2 {
            let ty = Ty::random(&mut self.rng, self.structs.0.len());
            let name = self.fresh("g");
            self.constant = self.rng.once_in(2);
            let value = self.expr(&ty, 1);
            self.constant = false;
            self.line(&format!("{} {name} = {value};", ty.name()));
            self.declare(&name, &ty, true, false);
        }
        // Large workgroups have room for small types only.
        let is_large = self.invocations > INVOCATIONS;
        let ty = if is_large { INT } else { Ty::random(&mut self.rng, self.structs.0.len()) };
        self.line(&format!("shared {} sh[{}];", ty.name(), self.invocations));
        self.declare("sh[gl_LocalInvocationIndex]", &ty, true, false);
        let mut members = String::new();
        for index in 0..2 {
            let ty = self.random_in_buffer();
            let major = if self.rng.once_in(3) { "layout(row_major) " } else { "" };
            members += &format!("{major}{} b{index}[{}]; ", ty.name(), self.invocations);
            self.declare(&format!("b{index}[gl_LocalInvocationIndex]"), &ty, true, false);
        }
        let layout = self.rng.pick(&["std430", "std140"]);
        self.line(&format!("layout({layout}, binding = 2) buffer Mem {{ {members}}};"));
    }

    /// A type without bools: glslang makes invalid modules for composites in buffers that contain some.
    fn random_in_buffer(&mut self) -> Ty {
        loop {
            let ty = Ty::random(&mut self.rng, self.structs.0.len());
            if !self.structs.has_bools(&ty) {
                return ty;
            }
        }
    }

    fn function(&mut self) {
        let known = self.variables.len();
        let structs = self.structs.0.len();
        let returns = !self.rng.once_in(3);
        let ret = returns.then(|| Ty::random(&mut self.rng, structs));
        let mut function = Function { name: self.fresh("f"), params: Vec::new(), ret: ret.clone() };
        if self.rng.once_in(2) {
            function.name = "same".to_string();
        }
        let mut written = Vec::new();
        for _ in 0..1 + self.rng.below(3) {
            let mode = *self.rng.pick(&[Mode::In, Mode::In, Mode::Out, Mode::InOut]);
            // In expressions `out` arguments are the variables for effects.
            let ty = if mode != Mode::In && returns { INT } else { Ty::random(&mut self.rng, structs) };
            let name = self.fresh("p");
            written.push((name.clone(), mode, ty.clone()));
            function.params.push((mode, ty));
        }
        if self.rng.once_in(3) && function.params.iter().any(|(_, ty)| !matches!(ty, Ty::Vector(..))) {
            function.name = self.rng.pick(&BUILT_INS).to_string();
        }
        let types = |f: &Function| f.params.iter().map(|(_, ty)| ty.clone()).collect::<Vec<_>>();
        if self.functions.iter().any(|f| f.name == function.name && types(f) == types(&function)) {
            function.name = self.fresh("f");
        }
        self.write_function(&function, &written);
        self.variables.truncate(known);
        self.functions.push(function);
    }

    fn write_function(&mut self, function: &Function, params: &[(String, Mode, Ty)]) {
        let word = |mode: &Mode| ["", "out ", "inout "][*mode as usize];
        let list: Vec<String> =
            params.iter().map(|(name, mode, ty)| format!("{}{} {name}", word(mode), ty.name())).collect();
        let ret = function.ret.as_ref().map_or("void".to_string(), Ty::name);
        self.line(&format!("{ret} {}({}) {{", function.name, list.join(", ")));
        self.indent += 1;
        for (name, mode, ty) in params {
            if *mode == Mode::Out {
                let value = self.expr(ty, 1);
                self.line(&format!("{name} = {value};"));
            }
            self.declare(name, ty, true, false);
        }
        self.indent -= 1;
        self.budget = 2 + self.rng.below(5);
        self.calls = 2;
        self.ret.clone_from(&function.ret);
        self.block(4);
        if let Some(ty) = &function.ret {
            let value = self.expr(ty, 2);
            self.line(&format!("    return {value};"));
        }
        self.ret = None;
        self.line("}");
    }

    fn main(&mut self, has_lanes: bool) {
        self.line("void main() {");
        self.indent += 1;
        self.line("at = gl_LocalInvocationIndex * 32u;");
        let second = format!("given[gl_LocalInvocationIndex + {}u]", self.invocations);
        self.line(&format!("int x = given[gl_LocalInvocationIndex], y = {second};"));
        self.line("uint u = uint(y) * 7u + 1u; float f = float(x & 31) * 0.25 - 3.0;");
        self.line("bool c = (x & 1) != 0, d = x > y;");
        for memory in ["sh[gl_LocalInvocationIndex]", "b0[gl_LocalInvocationIndex]", "b1[gl_LocalInvocationIndex]"] {
            self.initialize(memory);
        }
        for (name, ty) in [("x", INT), ("y", INT), ("u", UINT), ("f", FLOAT), ("c", BOOL)] {
            self.declare(name, &ty, true, false);
        }
        self.declare("d", &BOOL, false, false);
        for _ in 0..2 {
            self.budget = 1;
            self.declaration();
        }
        let known = self.variables.clone();
        self.calls = 3;
        self.indent -= 1;
        for _ in 0..if has_lanes { 4 } else { 1 } {
            self.budget = if has_lanes { 1 + self.rng.below(4) } else { 5 + self.rng.below(8) };
            self.block(12);
            self.indent += 1;
            (0..if has_lanes { 3 } else { 0 }).for_each(|_| self.lane_statement());
            self.indent -= 1;
        }
        self.indent += 1;
        for variable in &known {
            self.write_down(&variable.name, &variable.ty.clone());
        }
        for effect in EFFECTS {
            self.line(&format!("put({effect}); done();"));
        }
        self.indent -= 1;
        self.line("}");
    }

    /// Memory starts as one of the exact floats, computed without reading memory.
    fn initialize(&mut self, name: &str) {
        let place = self.variables.iter().position(|v| v.name == name).expect("declared with the memory");
        let ty = self.variables[place].ty.clone();
        let hidden: Vec<_> = self.variables.iter().filter(|v| v.constant).cloned().collect();
        let all = std::mem::replace(&mut self.variables, hidden);
        self.constant = true;
        let value = self.expr(&ty, 1);
        self.constant = false;
        self.variables = all;
        self.line(&format!("{name} = {value};"));
    }

    /// Writes out every part of a value.
    fn write_down(&mut self, name: &str, ty: &Ty) {
        self.parts(name, ty, 0);
        self.line("done();");
    }

    fn parts(&mut self, path: &str, ty: &Ty, depth: usize) {
        match ty {
            Ty::Vector(kind, 1) => {
                let value = match kind {
                    Kind::Float => format!("int(lim({path}) * 4.0)"),
                    _ => format!("int({path})"),
                };
                self.line(&format!("put({value});"));
            }
            Ty::Vector(kind, size) => self.each(path, &Ty::Vector(*kind, 1), *size, depth),
            Ty::Matrix(columns, rows) => self.each(path, &Ty::Vector(Kind::Float, *rows), *columns, depth),
            Ty::Array(element, len) => self.each(path, element, *len, depth),
            Ty::Struct(index) => {
                for (member, ty) in self.structs.0[*index].clone().iter().enumerate() {
                    self.parts(&format!("{path}.m{member}"), ty, depth);
                }
            }
        }
    }

    fn each(&mut self, path: &str, part: &Ty, count: u8, depth: usize) {
        self.line(&format!("for (int i{depth} = 0; i{depth} < {count}; i{depth}++) {{"));
        self.indent += 1;
        self.parts(&format!("{path}[i{depth}]"), part, depth + 1);
        self.indent -= 1;
        self.line("}");
    }
}
