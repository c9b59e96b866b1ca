//! Shaders that grow with a number: one construct, nested or repeated `n` times. Tests compile them at many sizes, and
//! `benches/growth.rs` measures how compile time grows with them.

use crosslane::backend::{Manner, Optimize};
use crosslane::compile::{Compilation, Input, Language, Options, compile};
use crosslane::ir::Stage;
use crosslane::limits::Limits;
use crosslane::profile::Profile;
use crosslane::source::NoIncludes;

/// The profiles for which shapes are compiled, one per writer, with the command-line options that change the way there.
pub const PROFILES: [&str; 10] = [
    "spirv-1.6",
    "spirv-1.6 -O",
    "nv-hopper",
    "gfx1100-wave32",
    "ptx-sm80",
    "wgsl",
    "hlsl-6.5",
    "msl-3.0",
    "glsl-450-khr",
    "glsl-450-amd",
];

/// A family of shaders.
#[derive(Clone, Copy)]
pub struct Shape {
    pub name: &'static str,
    /// The file extension, which determines the language and the stage.
    pub extension: &'static str,
    /// The shader of a size.
    pub text: fn(usize) -> String,
}

impl Shape {
    /// Compiles a shader of this shape for one of the [`PROFILES`].
    pub fn compile(&self, text: &str, profile: &str) -> Compilation {
        self.compile_within(text, profile, Limits::default())
    }

    /// Like `compile`, with limits.
    pub fn compile_within(&self, text: &str, profile: &str, limits: Limits) -> Compilation {
        let (profile, optimize) = match profile.strip_suffix(" -O") {
            Some(profile) => (profile, Optimize::Speed),
            None => (profile, Optimize::None),
        };
        let manner = Manner { optimize, ..Manner::default() };
        let mut options =
            Options { limits, manner, ..Options::new(Profile::named(profile).expect("a built-in profile")) };
        options.stage = match self.extension {
            "vert" => Some(Stage::Vertex),
            "frag" => Some(Stage::Fragment),
            _ => None,
        };
        let language = if self.extension == "wgsl" { Language::Wgsl } else { Language::Glsl };
        compile(&Input { name: self.name, bytes: text.as_bytes(), language }, &options, &NoIncludes)
    }
}

const fn shape(extension: &'static str, name: &'static str, text: fn(usize) -> String) -> Shape {
    Shape { name, extension, text }
}

const HEAD: &str = "#version 460\n#extension GL_CROSSLANE_portable : require\nlayout(local_size_x = 32) in;\n\
                    layout(std430, binding = 0) buffer Data { float data[]; };\n";
const WGSL_HEAD: &str = "@group(0) @binding(0) var<storage, read_write> data: array<f32>;\n";

/// A compute shader with these global declarations and this body of `main`.
fn comp(globals: &str, body: &str) -> String {
    format!("{HEAD}{globals}\nvoid main() {{\n{body}\n}}\n")
}

fn frag(globals: &str, body: &str) -> String {
    format!("#version 460\n{globals}\nvoid main() {{\n{body}\n}}\n")
}

fn wgsl(globals: &str, body: &str) -> String {
    format!("{WGSL_HEAD}{globals}\n@compute @workgroup_size(32)\nfn main() {{\n{body}\n}}\n")
}

fn repeat(count: usize, one: impl Fn(usize) -> String) -> String {
    (0..count).fold(String::new(), |text, n| text + &one(n))
}

fn nested(count: usize, open: &str, middle: &str, close: &str) -> String {
    format!("{}{middle}{}", open.repeat(count), close.repeat(count))
}

/// A value that is read, changed by these statements, and stored.
fn around(statements: &str) -> String {
    comp("", &format!("float x = data[0];\n{statements}\ndata[1] = x;"))
}

fn in_loop(statements: &str) -> String {
    around(&format!("for (int i = 0; i < 100; ++i) {{\n{statements}\n}}"))
}

/// Every shape.
pub fn all() -> impl Iterator<Item = &'static Shape> {
    DEEP.iter().chain(LONG)
}

/// Functions `f0` to `fN`, each calling the one before, and a call of the last.
fn chain(count: usize, first: &str, next: impl Fn(usize) -> String) -> String {
    comp(&format!("{first}\n{}", repeat(count, next)), &format!("data[1] = f{count}(data[0]);"))
}

/// Constructs inside constructs.
const DEEP: &[Shape] = &[
    shape("comp", "parentheses", |n| around(&format!("x = {};", nested(n, "(", "x", ")")))),
    shape("comp", "unary operators", |n| around(&format!("x = {}x;", "- ".repeat(n)))),
    shape("comp", "ternaries", |n| around(&format!("x = {}1.0;", "x > 1.0 ? 1.0 : ".repeat(n)))),
    shape("comp", "ternaries in ternaries", |n| around(&format!("x = {};", nested(n, "x > 1.0 ? ", "x", " : 1.0")))),
    shape("comp", "ternaries in conditions", |n| {
        around(&format!("bool b = {}; x = float(b);", nested(n, "(", "x > 1.0", " ? x > 2.0 : x > 3.0)")))
    }),
    shape("comp", "nested calls of built-ins", |n| around(&format!("x = {};", nested(n, "sin(", "x", ")")))),
    shape("comp", "nested calls of lane operations", |n| {
        around(&format!("x = {};", nested(n, "allReduceAdd8(", "x", ")")))
    }),
    shape("comp", "nested constructors", |n| around(&format!("x = {};", nested(n, "float(", "x", ")")))),
    shape("comp", "nested indices", |n| around(&format!("x = {};", nested(n, "data[int(", "x", ")]")))),
    shape("comp", "assignments", |n| around(&format!("{}1.0;", "x = ".repeat(n)))),
    shape("comp", "commas", |n| around(&format!("x = ({}1.0);", "x += 1.0, ".repeat(n)))),
    shape("comp", "swizzles", |n| around(&format!("vec4 v = vec4(x); x = v{}.x;", ".yxwz".repeat(n)))),
    shape("comp", "conjunctions", |n| around(&format!("x = float({}true);", "x > 1.0 && ".repeat(n)))),
    shape("comp", "sums to the right", |n| around(&format!("x = {};", nested(n, "x + (", "x", ")")))),
    shape("comp", "braces", |n| around(&nested(n, "{", "x += 1.0;", "}"))),
    shape("comp", "ifs", |n| around(&format!("{} x += 1.0;", "if (x > 1.0) ".repeat(n)))),
    shape("comp", "ifs with elses", |n| {
        around(&nested(n, "if (x > data[1]) { x += 1.0; } else { x += 2.0;", "x += 1.0;", "}"))
    }),
    shape("comp", "else ifs", |n| {
        around(&format!("if (x > 1.0) x = 1.0; {}", repeat(n, |i| format!("else if (x == {i}.5) x = {i}.0;\n"))))
    }),
    shape("comp", "fors", |n| around(&format!("{} x += 1.0;", "for (int i = 0; i < 2; ++i) ".repeat(n)))),
    shape("comp", "whiles", |n| around(&format!("{} x += 1.0;", "while (x < 9.0) ".repeat(n)))),
    shape("comp", "do whiles", |n| around(&nested(n, "do {", "x += 1.0;", "} while (x < 9.0);"))),
    shape("comp", "switches", |n| {
        around(&nested(n, "switch (int(x)) { case 0: x += 1.0; break; default: ", "x += 1.0;", "}"))
    }),
    shape("comp", "structs in structs", |n| {
        let structs = repeat(n, |i| format!("struct S{} {{ S{i} x; }};\n", i + 1));
        comp(&format!("struct S0 {{ float x; }};\n{structs}"), &format!("S{n} s; s{}.x = 1.0;", ".x".repeat(n)))
    }),
    shape("comp", "arrays of arrays", |n| {
        comp("", &format!("float x{0}; x{1} = 1.0;", "[1]".repeat(n), "[0]".repeat(n)))
    }),
    shape("comp", "initialisers", |n| {
        comp("", &format!("float x{} = {};", "[1]".repeat(n), nested(n, "{", "data[0]", "}")))
    }),
    shape("comp", "a chain of functions", |n| {
        chain(n, "float f0(float x) { return x * data[3]; }", |i| {
            format!("float f{}(float x) {{ return f{i}(x) + 1.0; }}\n", i + 1)
        })
    }),
    shape("comp", "a chain of functions backwards", |n| {
        let prototypes = repeat(n + 1, |i| format!("float f{i}(float x);\n"));
        let bodies = repeat(n, |i| format!("float f{}(float x) {{ return f{}(x) + 1.0; }}\n", n - i, n - i - 1));
        let last = "float f0(float x) { return x; }";
        comp(&format!("{prototypes}{bodies}{last}"), &format!("data[1] = f{n}(data[0]);"))
    }),
    shape("comp", "a chain of functions that return early", |n| {
        chain(n, "float f0(float x) { return x; }", |i| {
            format!("float f{}(float x) {{ if (x > {i}.5) return 1.0; return f{i}(x) + 1.0; }}\n", i + 1)
        })
    }),
    shape("comp", "a chain of functions with loops", |n| {
        chain(n, "float f0(float x) { return x; }", |i| {
            format!("float f{}(float x) {{ while (x < {i}.5) x = f{i}(x) + 1.0; return x; }}\n", i + 1)
        })
    }),
    shape("comp", "a chain of functions with lane operations", |n| {
        chain(n, "float f0(float x) { return x; }", |i| {
            format!("float f{}(float x) {{ return f{i}(allReduceAdd8(x)) + 1.0; }}\n", i + 1)
        })
    }),
    shape("comp", "a chain of macros", |n| {
        let defines = repeat(n, |i| format!("#define A{} A{i}\n", i + 1));
        format!("{HEAD}#define A0 1.0\n{defines}void main() {{ data[0] = A{n}; }}\n")
    }),
    shape("comp", "nested calls of a macro", |n| {
        format!("{HEAD}#define F(x) x\nvoid main() {{ data[0] = {}; }}\n", nested(n, "F(", "1.0", ")"))
    }),
    shape("comp", "nested conditions", |n| format!("{HEAD}{}", nested(n, "#if 1\n", "void main() { }\n", "#endif\n"))),
    shape("comp", "parentheses in a condition", |n| {
        format!("{HEAD}#if {}\nvoid main() {{ }}\n#endif\n", nested(n, "(", "1", ")"))
    }),
    shape("wgsl", "WGSL conditions of conditions", |n| {
        let both = |i| format!("let b{} = (b{i} & (data[{i}] > 1.0)) & (b{i} & (data[{i}] < 2.0));\n", i + 1);
        wgsl("", &format!("let b0 = data[0] > 3.0;\n{} if b{n} {{ data[1] = 1.0; }}", repeat(n, both)))
    }),
    shape("wgsl", "WGSL parentheses", |n| wgsl("", &format!("data[0] = {};", nested(n, "(", "data[1]", ")")))),
    shape("wgsl", "WGSL unary operators", |n| wgsl("", &format!("data[0] = {}data[1];", "-".repeat(n)))),
    shape("wgsl", "WGSL sums", |n| wgsl("", &format!("data[0] = {}1.0;", "data[1] + ".repeat(n)))),
    shape("wgsl", "WGSL calls", |n| wgsl("", &format!("data[0] = {};", nested(n, "sin(", "data[1]", ")")))),
    shape("wgsl", "WGSL braces", |n| wgsl("", &nested(n, "{", "data[0] += 1.0;", "}"))),
    shape("wgsl", "WGSL ifs", |n| wgsl("", &nested(n, "if data[0] > 1.0 {", "data[0] += 1.0;", "}"))),
    shape("wgsl", "WGSL else ifs", |n| {
        wgsl(
            "",
            &format!(
                "if data[0] > 1.0 {{ data[1] = 0.5; }} {}",
                repeat(n, |i| format!("else if data[0] > {i}.0 {{ data[1] = {i}.0; }}\n"))
            ),
        )
    }),
    shape("wgsl", "WGSL loops", |n| wgsl("", &nested(n, "loop { if data[0] > 1.0 { break; }", "data[0] += 1.0;", "}"))),
    shape("wgsl", "WGSL switches", |n| {
        wgsl("", &nested(n, "switch i32(data[0]) { case 0: { data[1] = 1.0; } default: {", "data[0] += 1.0;", "} }"))
    }),
    shape("wgsl", "WGSL arrays", |n| {
        wgsl(
            &format!("var<private> a: {};", nested(n, "array<", "f32", ", 1>")),
            &format!("a{} = data[0];", "[0]".repeat(n)),
        )
    }),
    shape("wgsl", "WGSL structs in structs", |n| {
        let structs = repeat(n, |i| format!("struct S{} {{ x: S{i}, }}\n", i + 1));
        wgsl(
            &format!("struct S0 {{ x: f32, }}\n{structs}var<private> s: S{n};"),
            &format!("s{}.x = 1.0;", ".x".repeat(n)),
        )
    }),
    shape("wgsl", "WGSL aliases", |n| {
        let aliases = repeat(n, |i| format!("alias A{} = A{i};\n", i + 1));
        wgsl(&format!("alias A0 = f32;\n{aliases}"), &format!("data[0] = A{n}(1);"))
    }),
    shape("wgsl", "WGSL constants of constants", |n| {
        let constants = repeat(n, |i| format!("const C{} = C{i} + 1.0;\n", i + 1));
        wgsl(&format!("const C0 = 1.0;\n{constants}"), &format!("data[0] = C{n};"))
    }),
    shape("wgsl", "WGSL constants of later constants", |n| {
        let constants = repeat(n, |i| format!("const C{i} = C{} + 1.0;\n", i + 1));
        wgsl(&format!("{constants}const C{n} = 1.0;\n"), "data[0] = C0;")
    }),
    shape("wgsl", "WGSL overrides of overrides", |n| {
        let constants = repeat(n, |i| format!("override C{} = C{i} + 1.0;\n", i + 1));
        wgsl(&format!("override C0 = 1.0;\n{constants}"), &format!("data[0] = C{n};"))
    }),
    shape("wgsl", "a chain of WGSL lets", |n| {
        let lets = repeat(n, |i| format!("let x{} = x{i} + 1.5;\n", i + 1));
        wgsl("", &format!("let x0 = data[0];\n{lets}data[0] = x{n};"))
    }),
    shape("wgsl", "a chain of WGSL functions", |n| {
        let functions = repeat(n, |i| format!("fn f{}(x: f32) -> f32 {{ return f{i}(x) + 1.0; }}\n", i + 1));
        wgsl(&format!("fn f0(x: f32) -> f32 {{ return x; }}\n{functions}"), &format!("data[0] = f{n}(data[1]);"))
    }),
];

/// Constructs after constructs.
const LONG: &[Shape] = &[
    shape("comp", "sums", |n| around(&format!("x = {}1.0;", "data[1] + ".repeat(n)))),
    shape("comp", "statements", |n| around(&"x = x * 1.5 + data[2];\n".repeat(n))),
    shape("comp", "updates of memory", |n| comp("", &"data[0] += 1.0;\n".repeat(n))),
    shape("comp", "variables", |n| comp("", &repeat(n, |i| format!("float x{i} = data[{i}];\n")))),
    shape("comp", "variables that live long", |n| {
        let sum = repeat(n, |i| format!("data[{i}] = x{i};\n"));
        comp("", &format!("{}\n{sum}", repeat(n, |i| format!("float x{i} = data[{}];\n", i + n))))
    }),
    shape("comp", "scopes", |n| around(&"{ float y = x; x += y; }\n".repeat(n))),
    shape("comp", "branches", |n| around(&repeat(n, |i| format!("if (x > {i}.5) x += data[{i}];\n")))),
    shape("comp", "branches with stores", |n| around(&repeat(n, |i| format!("if (x > {i}.5) data[{i}] = x;\n")))),
    shape("comp", "branches around lane operations", |n| {
        around(&repeat(n, |i| format!("if (x > {i}.5) x = allReduceAdd8(x);\n")))
    }),
    shape("comp", "choices", |n| around(&repeat(n, |i| format!("x = x > {i}.5 ? x * 2.0 : data[{i}];\n")))),
    shape("comp", "returns", |n| around(&repeat(n, |i| format!("if (data[{i}] > 1.0) return;\n")))),
    shape("comp", "returns of values", |n| {
        let returns = repeat(n, |i| format!("if (x > {i}.5) return {i}.0;\n"));
        comp(&format!("float f(float x) {{ {returns} return x; }}"), "data[0] = f(data[1]);")
    }),
    shape("comp", "returns in a loop", |n| in_loop(&repeat(n, |i| format!("if (data[{i}] > x) return;\nx += 1.0;\n")))),
    shape("comp", "breaks", |n| in_loop(&repeat(n, |i| format!("if (data[{i}] > x) break;\nx += 1.0;\n")))),
    shape("comp", "continues", |n| in_loop(&repeat(n, |i| format!("if (data[{i}] > x) continue;\nx += 1.0;\n")))),
    shape("comp", "breaks with many variables", |n| {
        let variables = repeat(n, |i| format!("float x{i} = data[{i}];\n"));
        let steps = repeat(n, |i| format!("x{i} += 1.0; if (data[{i}] > x{i}) break;\n"));
        let stores = repeat(n, |i| format!("data[{i}] = x{i};\n"));
        comp("", &format!("{variables}for (int i = 0; i < 100; ++i) {{ {steps} }}\n{stores}"))
    }),
    shape("comp", "variables around a loop", |n| {
        let variables = repeat(n, |i| format!("float x{i} = data[{i}];\n"));
        let steps = repeat(n, |i| format!("x{i} += x{};\n", (i + 1) % n));
        let stores = repeat(n, |i| format!("data[{i}] = x{i};\n"));
        comp("", &format!("{variables}for (int i = 0; i < int(data[0]); ++i) {{ {steps} }}\n{stores}"))
    }),
    shape("comp", "variables in branches", |n| {
        let variables = repeat(n, |i| format!("float x{i} = data[{i}];\n"));
        let steps = repeat(n, |i| format!("if (x{i} > 1.0) {{ x{i} += 1.0; }} else {{ x{} = 2.0; }}\n", (i + 1) % n));
        let stores = repeat(n, |i| format!("data[{i}] = x{i};\n"));
        comp("", &format!("{variables}{steps}{stores}"))
    }),
    shape("comp", "loops", |n| around(&"while (x < data[1]) x += 1.5;\n".repeat(n))),
    shape("comp", "loops that are unrolled", |n| around(&"for (int i = 0; i < 4; ++i) x += data[i];\n".repeat(n))),
    shape("comp", "rounds of a loop", |n| around(&format!("for (int i = 0; i < {n}; ++i) x += data[i];\n"))),
    shape("comp", "cases", |n| {
        around(&format!("switch (int(x)) {{ {} }}", repeat(n, |i| format!("case {i}: x = {i}.5; break;\n"))))
    }),
    shape("comp", "cases with loops", |n| {
        let case = |i| format!("case {i}: for (int j = 0; j < int(x); ++j) x += data[j + {i}]; break;\n");
        around(&format!("switch (int(x)) {{ {} }}", repeat(n, case)))
    }),
    shape("comp", "cases that fall through", |n| {
        around(&format!("switch (int(x)) {{ {} }}", repeat(n, |i| format!("case {i}: x += {i}.5;\n"))))
    }),
    shape("comp", "labels of one case", |n| {
        around(&format!("switch (int(x)) {{ {} x = 1.5; }}", repeat(n, |i| format!("case {i}: \n"))))
    }),
    shape("comp", "cases that return", |n| {
        around(&format!("switch (int(x)) {{ {} }}", repeat(n, |i| format!("case {i}: x = {i}.5; return;\n"))))
    }),
    shape("comp", "switches in a row", |n| {
        around(&"switch (int(x)) { case 0: x += 1.0; break; case 1: x = 2.0; default: x += 3.0; }\n".repeat(n))
    }),
    shape("comp", "lane operations", |n| around(&"x = allReduceAdd8(x);\n".repeat(n))),
    shape("comp", "shuffles", |n| around(&"x = bpermute(x, uint(x));\n".repeat(n))),
    shape("comp", "barriers", |n| {
        comp("shared float s[32];", &repeat(n, |i| format!("s[{}] = data[{i}]; barrier();\n", i % 32)))
    }),
    shape("comp", "calls of one function", |n| {
        comp("float f(float x) { return x * data[3]; }", &"data[0] = f(data[0]);\n".repeat(n))
    }),
    shape("comp", "functions", |n| {
        let calls = repeat(n, |i| format!("x = f{i}(x);\n"));
        let functions = repeat(n, |i| format!("float f{i}(float x) {{ return x * data[3]; }}\n"));
        comp(&functions, &format!("float x = data[0]; {calls} data[0] = x;"))
    }),
    shape("comp", "overloads of one name", |n| {
        let overloads = repeat(n, |i| format!("struct S{i} {{ float x; }};\nfloat f(S{i} s) {{ return s.x; }}\n"));
        let calls = repeat(n, |i| format!("data[{i}] = f(S{i}(data[{i}]));\n"));
        comp(&overloads, &calls)
    }),
    shape("comp", "parameters", |n| {
        let parameters = repeat(n, |i| format!("float x{i}, "));
        let arguments = repeat(n, |i| format!("data[{i}], "));
        comp(&format!("float f({parameters} float y) {{ return y; }}"), &format!("data[0] = f({arguments} data[1]);"))
    }),
    shape("comp", "members of a block", |n| {
        let members = repeat(n, |i| format!("float m{i};\n"));
        comp(&format!("layout(binding = 1) buffer B {{ {members} }};"), &repeat(n, |i| format!("data[{i}] = m{i};\n")))
    }),
    shape("comp", "members of a block with offsets", |n| {
        let members = repeat(n, |i| format!("layout(offset = {}) float m{i};\n", i * 8));
        comp(&format!("layout(binding = 1) buffer B {{ {members} }};"), &repeat(n, |i| format!("data[{i}] = m{i};\n")))
    }),
    shape("comp", "members of a struct", |n| {
        let members = repeat(n, |i| format!("float m{i};\n"));
        let sets = repeat(n, |i| format!("s.m{i} = data[{i}];\n"));
        comp(&format!("struct S {{ {members} }};"), &format!("S s; {sets} data[0] = s.m0;"))
    }),
    shape("comp", "copies of a struct", |n| {
        let members = repeat(n, |i| format!("float m{i};\n"));
        comp(
            &format!("struct S {{ {members} }};\nlayout(binding = 1) buffer B {{ S b[2]; }};"),
            "S s = b[0]; S t = s; if (data[0] > 1.0) t = b[1]; b[1] = t;",
        )
    }),
    shape("comp", "members that lanes exchange", |n| {
        let members = repeat(n, |i| format!("float m{i};\n"));
        comp(
            &format!("struct S {{ {members} }};\nlayout(binding = 1) buffer B {{ S b[2]; }};"),
            "b[1] = broadcast(b[0], 3u);",
        )
    }),
    shape("comp", "elements that are compared", |n| {
        comp(
            "",
            &format!(
                "float x[{n}]; float y[{n}]; x[int(data[0])] = 1.0; y[int(data[1])] = 2.0; if (x == y) data[0] = 1.0;"
            ),
        )
    }),
    shape("comp", "elements of a private array", |n| {
        comp("", &format!("float x[{n}]; x[int(data[0])] = 1.0; data[1] = x[int(data[1])];"))
    }),
    shape("comp", "elements that are initialised", |n| {
        let values = repeat(n, |i| format!("data[{i}], "));
        comp("", &format!("float x[] = {{ {values} 1.0 }}; data[1] = x[int(data[1])];"))
    }),
    shape("comp", "elements of a constant array", |n| {
        let values = repeat(n, |i| format!("{i}.5, "));
        comp(&format!("const float x[] = {{ {values} 1.0 }};"), "data[1] = x[int(data[1])];")
    }),
    shape("comp", "private arrays", |n| {
        let uses =
            repeat(n, |i| format!("float x{i}[4]; x{i}[int(data[{i}])] = 1.0; data[{i}] = x{i}[int(data[1])];\n"));
        comp("", &uses)
    }),
    shape("comp", "private arrays that live long", |n| {
        let uses = repeat(n, |i| format!("float x{i}[4]; x{i}[int(data[{i}])] = 1.0;\n"));
        comp("", &format!("{uses}{}", repeat(n, |i| format!("data[{i}] = x{i}[int(data[1])];\n"))))
    }),
    shape("comp", "shared variables", |n| {
        let declarations = repeat(n, |i| format!("shared float s{i};\n"));
        let uses = repeat(n, |i| format!("s{i} = data[{i}]; barrier(); data[{i}] = s{i};\n"));
        comp(&declarations, &uses)
    }),
    shape("comp", "global variables", |n| {
        let declarations = repeat(n, |i| format!("float g{i};\n"));
        let uses = repeat(n, |i| format!("g{i} = data[{i}]; f(); data[{i}] = g{i};\n"));
        comp(&format!("{declarations} void f() {{ g0 += data[0]; }}"), &uses)
    }),
    shape("comp", "constants", |n| {
        let constants = repeat(n, |i| format!("const float c{} = c{i} * 1.5;\n", i + 1));
        comp(&format!("const float c0 = 1.0;\n{constants}"), &format!("data[0] = c{n};"))
    }),
    shape("comp", "specialisation constants", |n| {
        let constants = repeat(n, |i| format!("layout(constant_id = {i}) const float c{i} = {i}.5;\n"));
        comp(&constants, &repeat(n, |i| format!("data[{i}] = c{i};\n")))
    }),
    shape("comp", "buffers", |n| {
        let buffers = repeat(n, |i| format!("layout(binding = {}) buffer B{i} {{ float b{i}[]; }};\n", i + 1));
        comp(&buffers, &repeat(n, |i| format!("data[{i}] = b{i}[{i}];\n")))
    }),
    shape("comp", "elements of an array of buffers", |n| {
        comp(&format!("layout(binding = 1) buffer B {{ float x; }} b[{n}];"), "data[0] = b[0].x; data[1] = b[1].x;")
    }),
    shape("comp", "elements of shared memory", |n| {
        comp(&format!("shared float s[{n}];"), "s[int(data[0])] = 1.0; barrier(); data[1] = s[int(data[1])];")
    }),
    shape("comp", "macros", |n| {
        format!(
            "{HEAD}{}void main() {{ {} }}\n",
            repeat(n, |i| format!("#define A{i} {i}.5\n")),
            repeat(n, |i| format!("data[{i}] = A{i};\n"))
        )
    }),
    shape("comp", "parameters of a macro", |n| {
        let (names, values) = (repeat(n, |i| format!("a{i}, ")), repeat(n, |i| format!("{i}.0, ")));
        format!("{HEAD}#define F({names}b) b\nvoid main() {{ data[0] = F({values}1.0); }}\n")
    }),
    shape("comp", "pasted tokens", |n| {
        format!("{HEAD}#define F(a) float x##a = data[a];\nvoid main() {{ {} }}\n", repeat(n, |i| format!("F({i})\n")))
    }),
    shape("comp", "elifs", |n| format!("{HEAD}#if 0\n{}#else\nvoid main() {{ }}\n#endif\n", "#elif 0\n".repeat(n))),
    shape("comp", "line directives", |n| around(&repeat(n, |i| format!("#line {i}\nx += 1.0;\n")))),
    shape("comp", "comments", |n| around(&"x += 1.0; // one more\n/* and */\n".repeat(n))),
    shape("comp", "blank lines", |n| around(&"\n".repeat(n))),
    shape("comp", "line continuations", |n| around(&"\\\n".repeat(n))),
    shape("comp", "a long name", |n| around(&format!("float {} = x;", "y".repeat(n)))),
    shape("comp", "errors", |n| comp("", &"data[0] = ;\n".repeat(n))),
    shape("comp", "unknown names", |n| comp("", &repeat(n, |i| format!("data[0] = nothing{i};\n")))),
    shape("comp", "redeclared names", |n| comp("", &"float x;\n".repeat(n))),
    shape("comp", "warnings", |n| comp("", &"if (data[0] > 1.0) data[1] = allReduceAdd8(data[1]);\n".repeat(n))),
    shape("comp", "unused prototypes", |n| comp(&repeat(n, |i| format!("float f{i}(float x);\n")), "data[0] = 1.0;")),
    shape("comp", "atomics", |n| {
        comp("layout(binding = 1) buffer B { uint b[]; };", &"atomicAdd(b[0], 1u);\n".repeat(n))
    }),
    shape("comp", "matrix products", |n| {
        around(&format!("mat4 m = mat4(x); {} x = m[0].x;", "m = m * mat4(data[0]);\n".repeat(n)))
    }),
    shape("comp", "vectors indexed at run time", |n| {
        around(&format!("vec4 v = vec4(x); {} x = v.x;", "v[int(data[0]) & 3] = v[int(data[1]) & 3];\n".repeat(n)))
    }),
    shape("comp", "arrays indexed in a row", |n| {
        around(&format!("float a[8]; {} x = a[2];", "a[int(data[0]) & 7] = x; x += a[int(data[1]) & 7];\n".repeat(n)))
    }),
    shape("comp", "textures", |n| {
        let textures = repeat(n, |i| format!("layout(binding = {}) uniform sampler2D t{i};\n", i + 1));
        comp(&textures, &repeat(n, |i| format!("data[{i}] = textureLod(t{i}, vec2(0), 0.0).x;\n")))
    }),
    shape("frag", "elements of an output", |n| {
        frag(&format!("layout(location = 0) in float c[3];\nlayout(location = 0) out float o[{n}];"), "o[0] = c[0];")
    }),
    shape("frag", "elements of an input", |n| {
        frag(&format!("layout(location = 0) in float c[{n}];\nlayout(location = 0) out float o;"), "o = c[0];")
    }),
    shape("frag", "inputs", |n| {
        let inputs = repeat(n, |i| format!("layout(location = {i}) in float c{i};\n"));
        frag(
            &format!("{inputs}layout(location = 0) out float o;"),
            &format!("o = 0.0; {}", repeat(n, |i| format!("o += c{i};\n"))),
        )
    }),
    shape("vert", "outputs", |n| {
        let outputs = repeat(n, |i| format!("layout(location = {i}) out float c{i};\n"));
        frag(&outputs, &repeat(n, |i| format!("c{i} = {i}.0;\n")))
    }),
    shape("frag", "discards", |n| {
        frag(
            "layout(location = 0) in float c;\nlayout(location = 0) out float o;",
            &format!("{} o = c;", repeat(n, |i| format!("if (c > {i}.5) discard;\n"))),
        )
    }),
    shape("wgsl", "WGSL statements", |n| wgsl("", &"data[0] += 1.0;\n".repeat(n))),
    shape("wgsl", "WGSL cases", |n| {
        wgsl(
            "",
            &format!(
                "switch i32(data[0]) {{ {} default: {{}} }}",
                repeat(n, |i| format!("case {i}: {{ data[0] = 1.0; }}\n"))
            ),
        )
    }),
    shape("wgsl", "WGSL functions", |n| {
        let functions = repeat(n, |i| format!("fn f{i}(x: f32) -> f32 {{ return x * data[3]; }}\n"));
        wgsl(&functions, &repeat(n, |i| format!("data[0] = f{i}(data[1]);\n")))
    }),
    shape("wgsl", "WGSL variables", |n| wgsl("", &repeat(n, |i| format!("var x{i} = data[{i}]; data[{i}] = x{i};\n")))),
    shape("wgsl", "WGSL private variables", |n| {
        wgsl(
            &repeat(n, |i| format!("var<private> g{i}: f32;\n")),
            &repeat(n, |i| format!("g{i} = data[{i}]; data[{i}] = g{i};\n")),
        )
    }),
    shape("wgsl", "WGSL breaks", |n| {
        wgsl("", &format!("loop {{ {} }}", repeat(n, |i| format!("if data[{i}] > 1.0 {{ break; }}\n"))))
    }),
    shape("wgsl", "WGSL returns", |n| wgsl("", &repeat(n, |i| format!("if data[{i}] > 1.0 {{ return; }}\n")))),
    shape("wgsl", "WGSL members", |n| {
        let members = repeat(n, |i| format!("m{i}: f32,\n"));
        wgsl(
            &format!("struct S {{ {members} }}\n@group(0) @binding(1) var<storage, read_write> s: S;"),
            &repeat(n, |i| format!("data[{i}] = s.m{i};\n")),
        )
    }),
    shape("wgsl", "WGSL overrides", |n| {
        wgsl(&repeat(n, |i| format!("override C{i} = {i}.5;\n")), &repeat(n, |i| format!("data[{i}] = C{i};\n")))
    }),
    shape("wgsl", "WGSL elements", |n| {
        wgsl("", &format!("var a = array({}); data[0] = a[i32(data[1])];", repeat(n, |i| format!("f32({i}), "))))
    }),
    shape("wgsl", "WGSL lane operations", |n| {
        wgsl("", &"data[0] = subgroupAdd(data[0]);\n".repeat(n)).replacen("@group", "enable subgroups;\n@group", 1)
    }),
];
