//! Operations on segments of any width and on the workgroup, in control flow that is the same for the whole workgroup: in
//! loops, branches and functions, and between other uses of workgroup memory.

use super::rng::Rng;

/// Invocations of the workgroups, the usual ones several times.
const WORKGROUPS: [usize; 8] = [128, 64, 128, 256, 128, 512, 96, 320];

/// Words of the results of an invocation.
pub const RESULTS: usize = 4;

/// The words of the buffer that control flow depends on.
pub const TURNS: [u32; 4] = [0, 1, 2, 3];

/// Deepest nesting of statements.
const DEEPEST: usize = 3;

const WIDTHS: [usize; 9] = [2, 4, 8, 16, 32, 64, 128, 256, 512];
const FOLDS: [&str; 7] = ["Add", "Mul", "Min", "Max", "And", "Or", "Xor"];
const FORMS: [&str; 3] = ["allReduce", "inclusive", "exclusive"];

/// A kernel of one workgroup.
pub struct Kernel {
    pub source: String,
    pub invocations: usize,
}

/// The kernel for a seed.
pub fn kernel(seed: u64) -> Kernel {
    let mut maker = Maker::new(seed);
    let functions: String = (0..maker.rng.below(3)).map(|_| maker.function()).collect();
    let body: String = (0..3 + maker.rng.below(5)).map(|_| maker.statement(0)).collect();
    maker.kernel(&functions, &body)
}

/// A kernel of operations alone, all of which every invocation runs once.
pub fn straight(seed: u64) -> Kernel {
    let mut maker = Maker::new(seed);
    maker.invocations = maker.invocations.next_power_of_two();
    let mix = "    a = a * 7u + i; b ^= a >> 5; f = small(a + b); c = ((a ^ b) & 4u) != 0u;\n";
    let body: String = (0..3 + maker.rng.below(5)).map(|_| maker.operation() + mix).collect();
    maker.kernel("", &body)
}

struct Maker {
    rng: Rng,
    invocations: usize,
    /// Loops so far, which name their counters.
    loops: usize,
    functions: usize,
}

impl Maker {
    fn new(seed: u64) -> Maker {
        let mut rng = Rng::new(seed ^ 0x5e63);
        let invocations = *rng.pick(&WORKGROUPS);
        Maker { rng, invocations, loops: 0, functions: 0 }
    }

    fn kernel(self, functions: &str, body: &str) -> Kernel {
        let invocations = self.invocations;
        let source = format!(
            "#version 450
#extension GL_CROSSLANE_portable : require
layout(local_size_x = {invocations}) in;
layout(std430, binding = 0) readonly buffer In {{ uint given[]; }};
layout(std430, binding = 1) buffer Out {{ uint o[]; }};
layout(std430, binding = 2) readonly buffer Turns {{ uint turns[]; }};
shared uint own[{invocations}];
uint i = gl_LocalInvocationIndex;
float small(uint v) {{ return float(int(v & 1023u) - 512) * 0.125; }}
{functions}void main() {{
    uint a = given[i], b = a * 2654435761u + i;
    float f = small(a);
    bool c = (a & 4u) != 0u;
{body}    o[{RESULTS}u * i] = a;
    o[{RESULTS}u * i + 1u] = b;
    o[{RESULTS}u * i + 2u] = floatBitsToUint(f);
    o[{RESULTS}u * i + 3u] = uint(c);
}}
"
        );
        Kernel { source, invocations }
    }

    /// A width of which the workgroup has whole segments.
    fn width(&mut self) -> usize {
        let fits = |width: &&usize| self.invocations.is_multiple_of(**width);
        let count = WIDTHS.iter().take_while(fits).count();
        *self.rng.pick(&WIDTHS[..count])
    }

    /// A function of two values with an operation or two.
    fn function(&mut self) -> String {
        let number = self.functions;
        self.functions += 1;
        let body: String = (0..1 + self.rng.below(2)).map(|_| self.operation()).collect();
        format!(
            "uint g{number}(uint a, uint b) {{\n    float f = small(b);\n    bool c = (b & 1u) != 0u;\n{body}    \
             return c ? a ^ b : a + floatBitsToUint(f);\n}}\n"
        )
    }

    fn statement(&mut self, depth: usize) -> String {
        let pad = "    ".repeat(depth);
        let choices = if depth < DEEPEST { 10 } else { 7 };
        let text = match self.rng.below(choices) {
            0..=3 => self.operation(),
            4 => self.arithmetic(),
            5 => self.memory(),
            6 => self.call(),
            7 => self.branch(depth),
            _ => self.turns(depth),
        };
        text.lines().map(|line| format!("{pad}{line}\n")).collect()
    }

    fn operation(&mut self) -> String {
        if self.rng.once_in(4) {
            return self.of_workgroup();
        }
        let (width, form, fold) = (self.width(), *self.rng.pick(&FORMS), *self.rng.pick(&FOLDS));
        let bits = *self.rng.pick(&FOLDS[4..]);
        let order = *self.rng.pick(&["Add", "Min", "Max"]);
        let text = match self.rng.below(10) {
            0 => format!("a = {form}{fold}{width}(a ^ b);"),
            1 => format!("b += {form}{fold}{width}(b >> 3);"),
            2 => format!("f = small(floatBitsToUint({form}{order}{width}(f)));"),
            3 => format!("c = {form}{bits}{width}(c);"),
            4 => format!("a ^= {}{width}(b);", self.rng.pick(&["butterfly", "reverse"])),
            5 => format!("b = segmentedReduce{order}(a, (b & 3u) == 0u, {width});"),
            6 => format!("bitonicSort{width}(a);"),
            7 => format!("{{ uint key = b & 15u; bitonicSort{width}(key, a); b ^= key; }}"),
            8 => format!("{{ uint last = reduce{fold}{width}(a); b ^= segmentLast{width}() ? last : 1u; }}"),
            _ => {
                let (order, width) = (*self.rng.pick(&["Add", "Min", "Max"]), self.width());
                format!(
                    "{{ vec2 v = {form}{order}{width}(vec2(f, small(b))); f = small(floatBitsToUint(v.x + v.y)); }}"
                )
            }
        };
        format!("    {text}\n")
    }

    /// An operation over the whole workgroup.
    fn of_workgroup(&mut self) -> String {
        let form = *self.rng.pick(&["AllReduce", "Inclusive", "Exclusive"]);
        let (fold, order) = (*self.rng.pick(&FOLDS), *self.rng.pick(&["Add", "Min", "Max"]));
        let bits = *self.rng.pick(&FOLDS[4..]);
        let index = self.rng.below(self.invocations);
        let text = match self.rng.below(11) {
            0 => format!("a = workgroup{form}{fold}(a ^ b);"),
            1 => format!("b += workgroup{form}{fold}(b >> 3);"),
            2 => format!("f = small(floatBitsToUint(workgroup{form}{order}(f)));"),
            3 => format!("c = workgroup{form}{bits}(c);"),
            4 => format!("a ^= workgroupBroadcast(b, {index}u);"),
            5 => format!("b = workgroupSegmentedReduce{order}(a, (b & 3u) == 0u);"),
            6 => format!("f = small(floatBitsToUint(workgroupSegmentedReduce{order}(f, c)));"),
            7 => "{ uint key = b & 15u; workgroupBitonicSort(key, a); b ^= key; }".to_owned(),
            8 => format!("{{ uint last = workgroupReduce{fold}(a); b ^= workgroupLast() ? last : 1u; }}"),
            9 => "a += workgroupBallotCount(c) + uint(workgroupAllEqual(a & 1u));".to_owned(),
            _ => "c = workgroupAny(a > b) != workgroupAll(c || f < 1.0);".to_owned(),
        };
        format!("    {text}\n")
    }

    /// Control flow that parts the invocations, without operations on segments.
    fn arithmetic(&mut self) -> String {
        let lines = [
            "a = a * 7u + i;",
            "b ^= a >> 5;",
            "if ((a & 1u) != 0u) b += 3u; else a ^= b;",
            "for (uint k = 0u; k < (b & 3u); k++) a = a * 5u + k;",
            "c = c != (a > b);",
            "f = small(a + b);",
        ];
        format!("    {}\n", self.rng.pick(&lines))
    }

    fn memory(&mut self) -> String {
        let (by, all) = (1 + self.rng.below(self.invocations - 1), self.invocations);
        format!("    own[i] = a;\n    barrier();\n    b += own[(i + {by}u) % {all}u];\n    barrier();\n")
    }

    fn call(&mut self) -> String {
        match self.functions {
            0 => self.operation(),
            count => format!("    a = g{}(a, b);\n", self.rng.below(count)),
        }
    }

    fn block(&mut self, depth: usize) -> String {
        (0..1 + self.rng.below(2)).map(|_| self.statement(depth + 1)).collect()
    }

    fn branch(&mut self, depth: usize) -> String {
        let condition = match self.rng.below(3) {
            0 => format!("turns[{}] > {}u", self.rng.below(4), self.rng.below(4)),
            1 => "gl_WorkGroupID.x == 0u".to_owned(),
            _ => format!("turns[{}] == turns[{}]", self.rng.below(4), self.rng.below(4)),
        };
        let (then, otherwise) = (self.block(depth), self.block(depth));
        if self.rng.once_in(2) {
            return format!("    if ({condition}) {{\n{then}    }}\n");
        }
        format!("    if ({condition}) {{\n{then}    }} else {{\n{otherwise}    }}\n")
    }

    fn turns(&mut self, depth: usize) -> String {
        let (number, of) = (self.loops, self.rng.below(4));
        self.loops += 1;
        let body = self.block(depth);
        let leave = match self.rng.below(4) {
            0 => format!("    if (turns[{}] == n{number}) break;\n", self.rng.below(4)),
            1 => format!("    if (turns[{}] == n{number}) continue;\n", self.rng.below(4)),
            _ => String::new(),
        };
        let after = if leave.is_empty() { String::new() } else { self.operation() };
        format!("    for (uint n{number} = 0u; n{number} < turns[{of}]; n{number}++) {{\n{body}{leave}{after}    }}\n")
    }
}
