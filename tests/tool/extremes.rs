//! Extreme inputs: huge, deeply nested, or no text at all. Each must end by itself within a short time, with success or
//! a clean error, on a stack of 2 MB; never with a panic, a stack overflow or a hang. The inputs are generated here.

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use support::judge;

/// For the compiler alone, without `spirv-val`, which takes several times as long for the deepest of these modules.
/// Generous, because builds with debug assertions are tens of times slower than release builds.
const PATIENCE: Duration = if cfg!(debug_assertions) { Duration::from_secs(20) } else { Duration::from_secs(2) };

const HEAD: &str = "#version 460\nlayout(local_size_x = 32) in;\n\
                    layout(std430, binding = 0) buffer Data { float data[]; };\n";
const WGSL_HEAD: &str = "@group(0) @binding(0) var<storage, read_write> data: array<f32>;\n";

/// How a case must end.
#[derive(Clone, Copy, PartialEq, Debug)]
enum End {
    Compiles,
    /// With an error of this code.
    Error(&'static str),
}

use End::{Compiles, Error};

fn shader(globals: &str, body: &str) -> String {
    format!("{HEAD}{globals}\nvoid main() {{\n{body}\n}}\n")
}

fn body(text: &str) -> String {
    shader("", text)
}

fn wgsl(globals: &str, body: &str) -> String {
    format!("{WGSL_HEAD}{globals}\n@compute @workgroup_size(32)\nfn main() {{\n{body}\n}}\n")
}

fn repeat(count: usize, one: impl Fn(usize) -> String) -> String {
    (0..count).map(one).collect()
}

fn nested(count: usize, open: &str, middle: &str, close: &str) -> String {
    format!("{}{middle}{}", open.repeat(count), close.repeat(count))
}

/// Runs the command in its own folder on a stack of 2 MB.
struct Run {
    folder: PathBuf,
}

impl Run {
    fn new() -> Run {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let folder = std::env::temp_dir().join(format!("crosslane-extremes-{}-{count}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        Run { folder }
    }

    fn file(&self, name: &str, bytes: impl AsRef<[u8]>) {
        fs::write(self.folder.join(name), bytes).unwrap();
    }

    fn compile(&self, arguments: &str) -> Output {
        let start = Instant::now();
        let command = format!("ulimit -s 2048; exec \"$0\" compile {arguments}");
        let output = Command::new("sh")
            .args(["-c", &command, env!("CARGO_BIN_EXE_crosslane")])
            .current_dir(&self.folder)
            .env_remove("CROSSLANE_SPIRV_VAL")
            .stdin(Stdio::null())
            .output()
            .unwrap();
        assert!(start.elapsed() < PATIENCE, "took {:?}", start.elapsed());
        output
    }

    /// Compiles a text and checks how that ends.
    fn check(&self, name: &str, file: &str, text: impl AsRef<[u8]>, end: End) {
        self.file(file, text);
        let output = self.compile(&format!("{file} -o out.spv"));
        let messages = String::from_utf8_lossy(&output.stderr);
        let shown: String = messages.chars().take(600).collect();
        let status = output.status.code().unwrap_or(-1);
        match end {
            Compiles => {
                assert_eq!(status, 0, "{name}: {shown}");
                self.validate().unwrap_or_else(|e| panic!("{name}: {e}"));
            }
            Error(code) => {
                assert!(matches!(status, 1 | 3), "{name}: status {status}: {shown}");
                assert!(messages.contains(&format!("error[{code}]")), "{name}: {shown}");
            }
        }
        assert!(!messages.contains("panicked") && messages.len() < 64 << 10, "{name}: {shown}");
    }

    /// Judges the module, if there is a judge.
    fn validate(&self) -> Result<(), String> {
        if judge::find("bin/spirv-val").is_none() {
            return Ok(());
        }
        let bytes = fs::read(self.folder.join("out.spv")).map_err(|e| e.to_string())?;
        let words: Vec<u32> = bytes.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect();
        judge::spirv_val(&words, "vulkan1.1", true)
    }
}

impl Drop for Run {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

fn glsl_cases(cases: &[(&str, String, End)]) {
    let run = Run::new();
    for (name, text, end) in cases {
        run.check(name, "a.comp", text, *end);
    }
}

fn wgsl_cases(cases: &[(&str, String, End)]) {
    let run = Run::new();
    for (name, text, end) in cases {
        run.check(name, "a.wgsl", text, *end);
    }
}

#[test]
fn odd_bytes() {
    let run = Run::new();
    let good = body("data[0] = 1.0;");
    run.check("NUL", "a.comp", good.replace("1.0", "1.0\0"), Error("E0003"));
    run.check("NULs only", "a.comp", vec![0u8; 1000], Error("E0003"));
    let mut bytes = good.clone().into_bytes();
    bytes.extend([0xff, 0xfe, b'\n']);
    run.check("no UTF-8", "a.comp", &bytes, Error("E0001"));
    run.check("no UTF-8 at all", "a.comp", [0x80u8; 5000], Error("E0001"));
    run.check("no UTF-8", "a.wgsl", &bytes, Error("E0001"));
    let comment = [good.as_bytes(), b"// caf\xe9 /* \xff */\n/* \x80 */"].concat();
    run.check("no UTF-8 in comments", "a.comp", comment, Compiles);
    run.check("byte order mark", "a.comp", format!("\u{feff}{good}"), Compiles);
    run.check("carriage returns", "a.comp", good.replace('\n', "\r\n"), Compiles);
    run.check("only carriage returns", "a.comp", good.replace('\n', "\r"), Compiles);
    run.check("empty", "a.comp", "", Error("E0101"));
    run.check("a comment", "a.comp", "// nothing", Error("E0101"));
    run.check("half a comment", "a.comp", "/* nothing", Error("E0120"));
    run.check("only #version", "a.comp", "#version 460", Error("E0406"));
    let good = wgsl("", "data[0] = 1.0;");
    run.check("byte order mark", "a.wgsl", format!("\u{feff}{good}"), Compiles);
    run.check("carriage returns", "a.wgsl", good.replace('\n', "\r\n"), Compiles);
    run.check("NUL", "a.wgsl", good.replace("1.0", "1.0\0"), Error("E0600"));
    run.check("empty", "a.wgsl", "", Error("E0602"));
}

#[test]
fn ten_megabytes_in_a_line() {
    const SIZE: usize = 10_000_000;
    glsl_cases(&[
        ("comment", body(&format!("data[0] = 1.0; //{}", "x".repeat(SIZE))), Compiles),
        ("blanks", body(&format!("data[0] = {}1.0;", " ".repeat(SIZE))), Compiles),
        ("word", body(&format!("float {} = 1.0;", "x".repeat(SIZE))), Compiles),
        ("number", body(&format!("int x = {};", "1".repeat(SIZE))), Error("E0122")),
        ("characters", body(&format!("data[0] = {};", "@".repeat(SIZE))), Error("E0003")),
        ("macro", format!("{HEAD}#define A {}\nvoid main() {{ A }}\n", "x ".repeat(SIZE / 2)), Error("E0123")),
    ]);
    wgsl_cases(&[("comment", wgsl("", &format!("//{}", "x".repeat(SIZE))), Compiles)]);
}

#[test]
fn deep_nesting() {
    const DEEP: usize = 10_000;
    let too_deep = |text: &str| body(text);
    glsl_cases(&[
        ("parentheses", too_deep(&format!("float x = {};", nested(DEEP, "(", "1.0", ")"))), Error("E0201")),
        ("open parentheses", too_deep(&format!("float x = {}", "(".repeat(DEEP))), Error("E0201")),
        ("closing parentheses", too_deep(&format!("float x = {}", ")".repeat(DEEP))), Error("E0200")),
        ("braces", too_deep(&nested(DEEP, "{", "", "}")), Error("E0201")),
        ("open braces", too_deep(&"{".repeat(DEEP)), Error("E0201")),
        ("brackets", too_deep(&format!("data{} = 1.0;", nested(DEEP, "[data", "0", "]"))), Error("E0201")),
        ("unary operators", too_deep(&format!("float x = {}1.0;", "- ".repeat(DEEP))), Error("E0201")),
        ("ternaries", too_deep(&format!("float x = {}1.0;", "true ? 1.0 : ".repeat(DEEP))), Error("E0201")),
        (
            "ternaries inside",
            too_deep(&format!("float x = {};", nested(DEEP, "true ? ", "1.0", " : 1.0"))),
            Error("E0201"),
        ),
        ("calls", too_deep(&format!("float x = {};", nested(DEEP, "sin(", "1.0", ")"))), Error("E0201")),
        ("constructors", too_deep(&format!("float x = {};", nested(DEEP, "float(", "1.0", ")"))), Error("E0201")),
        ("assignments", too_deep(&format!("float x; {}1.0;", "x = ".repeat(DEEP))), Error("E0201")),
        ("members", shader("struct S { float x; } s;", &format!("data[0] = s{};", ".x".repeat(DEEP))), Error("E0201")),
        ("initializers", too_deep(&format!("float x = {};", nested(DEEP, "{", "1.0", "}"))), Error("E0201")),
        ("loops", too_deep(&nested(1000, "for (;;) {", "", "}")), Error("E0201")),
        ("ifs", too_deep(&nested(1000, "if (data[0] > 1.0) {", "", "}")), Error("E0201")),
        ("conditions", format!("{HEAD}#if {}\n#endif\n", nested(DEEP, "(", "1", ")")), Error("E0201")),
        ("structs", format!("{HEAD}{}", nested(DEEP, "struct S {", "float x;", "} s;")), Error("E0201")),
    ]);
}

/// Just below the limits, where every pass still recurses.
#[test]
fn nesting_that_is_allowed() {
    let arrays = format!("float x{} = {};", "[1]".repeat(250), nested(250, "{", "1.0", "}"));
    glsl_cases(&[
        ("ternaries", body(&format!("data[0] = {}1.0;", "data[0] > 1.0 ? 1.0 : ".repeat(250))), Compiles),
        ("calls", body(&format!("data[0] = {};", nested(120, "sin(", "data[0]", ")"))), Compiles),
        ("sums", body(&format!("data[0] = {}1.0;", "data[1] + ".repeat(990))), Compiles),
        (
            "conjunctions",
            body(&format!("bool b = {}true; data[0] = float(b);", "data[1] > 1.0 && ".repeat(990))),
            Compiles,
        ),
        ("commas", body(&format!("data[0] = ({}1.0);", "data[1], ".repeat(900))), Compiles),
        ("swizzles", body(&format!("vec4 v = vec4(1); data[0] = v{}.x;", ".xyzw".repeat(900))), Compiles),
        ("ifs", body(&format!("{} data[0] += 1.0;", "if (data[0] > 1.0) ".repeat(250))), Compiles),
        ("loops", body(&format!("{} data[0] += 1.0;", "for (int i = 0; i < 2; ++i) ".repeat(250))), Compiles),
        ("whiles", body(&format!("{} data[0] += 1.0;", "while (data[0] > 1.0) ".repeat(250))), Compiles),
        ("switches", body(&nested(120, "switch (int(data[0])) { case 0: ", "data[0] += 1.0;", "}")), Compiles),
        (
            "returns",
            shader(
                &format!(
                    "float f() {{ {} }}",
                    nested(120, "if (data[0] > 1.0) { return 1.0; } else {", "return 2.0;", "}")
                ),
                "data[0] = f();",
            ),
            Compiles,
        ),
        ("arrays", body(&format!("{arrays} data[0] = 1.0;")), Compiles),
        (
            "else ifs",
            body(&format!(
                "if (data[0] > 1.0) data[0] = 1.0; {}",
                repeat(240, |i| format!("else if (data[0] == {i}.0) data[0] = 2.0;\n"))
            )),
            Compiles,
        ),
    ]);
}

#[test]
fn long_texts() {
    let else_ifs = repeat(20_000, |i| format!("else if (data[0] == {i}.0) data[0] = 2.0;\n"));
    let cases = repeat(5_000, |i| format!("case {i}: data[0] = {i}.0; break;\n"));
    let falls = repeat(5_000, |i| format!("case {i}: data[0] += {i}.0;\n"));
    let chain = repeat(10_000, |i| format!("float f{}(float x) {{ return f{i}(x) + 1.0; }}\n", i + 1));
    let doubling = repeat(60, |i| format!("float f{}(float x) {{ return f{i}(x) + f{i}(x); }}\n", i + 1));
    let variables = repeat(20_000, |i| format!("float x{i} = data[{i}];\n"));
    glsl_cases(&[
        ("else ifs", body(&format!("if (data[0] > 1.0) data[0] = 1.0; {else_ifs}")), Error("E0201")),
        ("a sum", body(&format!("data[0] = {}1.0;", "data[1] + ".repeat(100_000))), Compiles),
        ("statements", body(&"data[0] += 1.0;\n".repeat(100_000)), Compiles),
        ("variables", body(&variables), Compiles),
        ("cases", body(&format!("switch (int(data[0])) {{ {cases} }}")), Compiles),
        ("cases that fall through", body(&format!("switch (int(data[0])) {{ {falls} }}")), Compiles),
        (
            "a chain of functions",
            shader(&format!("float f0(float x) {{ return x; }}\n{chain}"), "data[0] = f10000(1.0);"),
            Compiles,
        ),
        (
            "calls that double",
            shader(&format!("float f0(float x) {{ return x; }}\n{doubling}"), "data[0] = f60(1.0);"),
            Compiles,
        ),
        ("returns", body(&"if (data[0] > 1.0) return;\n".repeat(10_000)), Compiles),
        ("errors", body(&"data[0] = ;\n".repeat(50_000)), Error("E0200")),
        ("arguments", body(&format!("data[0] = max({}1.0);", "1.0, ".repeat(50_000))), Error("E0302")),
    ]);
}

#[test]
fn macros() {
    let doubling =
        |first: &str, next: &dyn Fn(usize) -> String| format!("{HEAD}#define A0{first}\n{}", repeat(60, next));
    let plain = |i: usize| format!("#define A{} A{i} A{i}\n", i + 1);
    let calling = |i: usize| format!("#define A{}(x) A{i}(A{i}(x))\n", i + 1);
    let deep = repeat(10_000, |i| format!("#define A{} A{i}\n", i + 1));
    glsl_cases(&[
        ("doubling", format!("{}void main() {{ data[0] = A60 1.0; }}\n", doubling(" 1.0 +", &plain)), Error("E0123")),
        ("doubling nothing", format!("{}void main() {{ data[0] = A60 1.0; }}\n", doubling("", &plain)), Error("E0123")),
        ("doubling in a condition", format!("{}#if A60 1\n#endif\n", doubling(" 1 +", &plain)), Error("E0123")),
        (
            "doubling calls",
            format!("{}void main() {{ data[0] = A60(1.0); }}\n", doubling("(x) x x", &calling)),
            Error("E0123"),
        ),
        ("a chain", format!("{HEAD}#define A0 1.0\n{deep}void main() {{ data[0] = A10000; }}\n"), Compiles),
        (
            "nested calls",
            format!("{HEAD}#define F(x) x\nvoid main() {{ data[0] = {}; }}\n", nested(10_000, "F(", "1.0", ")")),
            Error("E0123"),
        ),
        (
            "pasting",
            format!("{HEAD}#define P(a) {}a\nvoid main() {{ int P(xxxxxxxxxx) = 1; }}\n", "a##".repeat(20_000)),
            Error("E0123"),
        ),
        (
            "nested conditions",
            format!("{}void main() {{ }}\n", HEAD.to_string() + &nested(10_000, "#if 1\n", "", "#endif\n")),
            Compiles,
        ),
    ]);
}

#[test]
fn includes() {
    let run = Run::new();
    let include = "#extension GL_GOOGLE_include_directive : require\n#include";
    run.check("itself", "a.comp", format!("#version 460\n{include} \"a.comp\"\n"), Error("E0118"));
    for i in 0..300 {
        run.file(&format!("i{i}.glsl"), format!("#include \"i{}.glsl\"\n", i + 1));
    }
    run.check("deep", "b.comp", format!("#version 460\n{include} \"i0.glsl\"\n"), Error("E0118"));
    run.file("two.glsl", "#include \"one.glsl\"\n#include \"one.glsl\"\n");
    run.file("one.glsl", "float x;\n");
    run.check("a folder", "c.comp", format!("#version 460\n{include} \".\"\n"), Error("E0117"));
}

#[test]
fn large_types() {
    let structs =
        |count: usize, one: &dyn Fn(usize) -> String| format!("struct S0 {{ float x; }};\n{}", repeat(count, one));
    let chain = |i: usize| format!("struct S{} {{ S{i} x; }};\n", i + 1);
    let double = |i: usize| format!("struct S{} {{ S{i} x; S{i} y; }};\n", i + 1);
    glsl_cases(&[
        ("2^31 elements", body("float x[2147483648u];"), Error("E0403")),
        ("dimensions", body(&format!("float x{};", "[2]".repeat(10_000))), Error("E0403")),
        ("dimensions of one", body(&format!("float x{};", "[1]".repeat(10_000))), Error("E0201")),
        ("a product", shader("shared float x[70000][70000];", ""), Error("E0403")),
        ("structs in structs", shader(&structs(10_000, &chain), "S10000 s;"), Error("E0201")),
        ("structs that double", shader(&structs(60, &double), "S60 s; S60 t; t = s;"), Error("E0403")),
        ("comparing", body("float x[1000000]; float y[1000000]; if (x == y) data[0] = 1.0;"), Error("E0305")),
        ("comparing less", body("float x[1000]; float y[1000]; if (x == y) data[0] = 1.0;"), Compiles),
        (
            "copying",
            shader("layout(binding = 1) buffer B { float b[1000000]; };", "float x[1000000] = b; b = x;"),
            Error("E0700"),
        ),
        (
            "a large constant",
            shader(&format!("const float c[] = {{ {} }};", "1.0, ".repeat(20_000)), "data[0] = c[int(data[1])];"),
            Compiles,
        ),
    ]);
}

#[test]
fn wgsl_extremes() {
    const DEEP: usize = 10_000;
    let functions = repeat(DEEP, |i| format!("fn g{}(x: f32) -> f32 {{ return g{i}(x); }}\n", i + 1));
    let mut cases = String::new();
    (0..5000).for_each(|i| writeln!(cases, "case {i}: {{ data[0] = 1.0; }}").unwrap());
    wgsl_cases(&[
        ("parentheses", wgsl("", &format!("data[0] = {};", nested(DEEP, "(", "1.0", ")"))), Error("E0201")),
        ("braces", wgsl("", &nested(DEEP, "{", "", "}")), Error("E0201")),
        ("operators", wgsl("", &format!("data[0] = {}1.0;", "-".repeat(DEEP))), Error("E0201")),
        ("a sum", wgsl("", &format!("data[0] = {}1.0;", "data[1] + ".repeat(DEEP))), Error("E0201")),
        (
            "else ifs",
            wgsl("", &format!("if data[0] > 1.0 {{}} {}", "else if data[0] > 2.0 {}".repeat(DEEP))),
            Error("E0201"),
        ),
        ("types", wgsl(&format!("var<private> a: {};", nested(DEEP, "array<", "f32", ", 2>")), ""), Error("E0201")),
        (
            "a chain of functions",
            wgsl(&format!("fn g0(x: f32) -> f32 {{ return x; }}\n{functions}"), "data[0] = g10000(1.0);"),
            Error("E0201"),
        ),
        ("cases", wgsl("", &format!("switch i32(data[0]) {{ {cases} default: {{}} }}")), Compiles),
        ("statements", wgsl("", &"data[0] += 1.0;\n".repeat(100_000)), Error("E0201")),
    ]);
}

#[test]
fn files_that_are_none() {
    let run = Run::new();
    fs::create_dir(run.folder.join("folder.comp")).unwrap();
    run.file("a.comp", body("data[0] = 1.0;"));
    for arguments in ["folder.comp", "missing.comp", "a.comp -o folder.comp", "a.comp -o missing/a.spv", "a.comp -o ''"]
    {
        let output = run.compile(arguments);
        let messages = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{arguments}: {messages}");
        assert!(messages.starts_with("error: "), "{arguments}: {messages}");
    }
}
