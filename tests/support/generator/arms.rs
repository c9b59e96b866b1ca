//! Random control flow around cross-lane operations: in every kind of branch, and before every kind of exit from loops.
//!
//! The operations work over the active lanes, so every result is defined under any mask. Barriers are placed only where
//! all invocations of the workgroup arrive, often soon after calls from which invocations return at different places.
//! One kernel in three also has integers of other widths.

use super::program::RESULTS;
use super::rng::Rng;

/// Maximum nesting of constructs; less in functions. NVIDIA's driver reconverges invocations only up to some depth.
const DEEPEST: usize = 4;
const DEEPEST_IN_FUNCTION: usize = 2;

/// Iterations after which a loop without its own bound ends.
const ROUNDS: usize = 18;

/// The source for a seed, with this many invocations per workgroup.
pub fn kernel(seed: u64, invocations: usize) -> String {
    let mut rng = Rng::new(seed ^ 0xa235);
    let returns = rng.once_in(2);
    let others = if rng.once_in(3) { vec![*rng.pick(&NARROW), *rng.pick(&WIDE)] } else { Vec::new() };
    let mut arms =
        Arms { rng, text: String::new(), indent: 0, budget: 0, names: 0, open: Vec::new(), jumps: Jumps::None, others };
    arms.head(invocations);
    arms.helper();
    arms.meeting();
    arms.main(returns);
    arms.text
}

/// The jumps that can end a block, besides those out of the enclosing loops.
#[derive(Clone, Copy, PartialEq)]
enum Jumps {
    None,
    /// `return` from `main`.
    Return,
    /// `return` of a value.
    Value,
}

/// A construct that is being written.
#[derive(Clone, Copy, PartialEq)]
enum Open {
    Branch,
    Switch,
    Loop,
}

struct Arms {
    rng: Rng,
    text: String,
    indent: usize,
    /// Statements that may still be generated.
    budget: usize,
    names: usize,
    open: Vec<Open>,
    jumps: Jumps,
    /// Types of other widths: of the variables `v0`, `v1` and of workgroup memory.
    others: Vec<&'static str>,
}

const EXTENSIONS: [&str; 4] = ["basic", "vote", "ballot", "arithmetic"];

const NARROW: [&str; 4] = ["int8_t", "uint8_t", "int16_t", "uint16_t"];
const WIDE: [&str; 2] = ["int64_t", "uint64_t"];

impl Arms {
    fn line(&mut self, line: &str) {
        self.text += &"    ".repeat(self.indent);
        self.text += line;
        self.text.push('\n');
    }

    fn fresh(&mut self) -> String {
        self.names += 1;
        format!("n{}", self.names)
    }

    fn head(&mut self, invocations: usize) {
        self.line("#version 450");
        EXTENSIONS.iter().for_each(|name| self.line(&format!("#extension GL_KHR_shader_subgroup_{name} : require")));
        if !self.others.is_empty() {
            self.line("#extension GL_EXT_shader_explicit_arithmetic_types : require");
            for width in ["int8", "int16", "int64"] {
                self.line(&format!("#extension GL_EXT_shader_subgroup_extended_types_{width} : require"));
            }
        }
        self.line(&format!("layout(local_size_x = {invocations}) in;"));
        self.line("layout(std430, binding = 0) readonly buffer In { uint given[]; };");
        self.line("layout(std430, binding = 1) buffer Out { uint o[]; };");
        self.line(&format!("shared uint sh[{invocations}];"));
        self.line("uint i, x, y, r, s;");
        for (n, ty) in self.others.clone().iter().enumerate() {
            self.line(&format!("shared {ty} sh{n}[{invocations}];"));
            self.line(&format!("{ty} v{n};"));
        }
        self.line("uint both(uvec4 mask) { return mask.x ^ (mask.y * 3u); }");
    }

    /// A function that returns early, which the passes inline.
    fn helper(&mut self) {
        self.line("uint helper(uint v) {");
        (self.budget, self.jumps) = (6, Jumps::Value);
        self.block(3);
        self.line("    return v ^ s;");
        self.line("}");
    }

    /// A function with barriers, which all invocations call and from which all return at the same place.
    fn meeting(&mut self) {
        let distance = 1 + self.rng.below(7);
        self.line("uint meeting(uint v) {");
        if self.rng.once_in(2) {
            self.line("    r += helper(v);");
        }
        if self.rng.once_in(2) {
            self.line("    if ((given[0] & 2u) == 0u) return v;");
        }
        self.line("    sh[i] = v;");
        self.line("    barrier();");
        self.line(&format!("    v ^= sh[(i + {distance}u) % gl_WorkGroupSize.x];"));
        if self.rng.once_in(2) {
            self.line("    if (v < x) s += helper(y); else r ^= helper(v & 7u);");
        }
        self.line("    barrier();");
        if self.rng.once_in(2) {
            self.line("    if (v > r) return v ^ s;");
        }
        self.line("    return v + r;");
        self.line("}");
    }

    fn main(&mut self, returns: bool) {
        self.line("void main() {");
        self.indent += 1;
        let few = *self.rng.pick(&[1, 3, 7]);
        self.line("i = gl_LocalInvocationIndex;");
        self.line(&format!("x = given[i] & {few}u; y = (given[i] >> 7) & 15u; r = 1u; s = i;"));
        for (n, ty) in self.others.clone().iter().enumerate() {
            self.line(&format!("v{n} = {ty}(given[i] >> {n}); sh{n}[i] = v{n};"));
        }
        self.indent -= 1;
        self.jumps = if returns { Jumps::Return } else { Jumps::None };
        for _ in 0..2 {
            self.budget = 9;
            self.block(4);
            if !returns {
                self.exchange();
            }
        }
        let others = (0..self.others.len()).map(|n| format!("uint(v{n})"));
        let results = ["r", "s", "x", "y"].map(str::to_owned).into_iter().chain(others);
        for (n, value) in results.enumerate() {
            self.line(&format!("    o[i * {RESULTS}u + {n}u] = {value};"));
        }
        self.line("}");
    }

    /// Shared memory between barriers, sometimes in a loop that all invocations run alike.
    fn exchange(&mut self) {
        let distance = 1 + self.rng.below(7);
        let rounds = 1 + self.rng.below(3);
        let n = self.fresh();
        self.indent += 1;
        self.line(&format!("for (uint {n} = 0u; {n} < {rounds}u; {n}++) {{"));
        self.indent += 1;
        match self.rng.below(3) {
            0 => self.line("r ^= meeting(s);"),
            1 => self.returns_apart(),
            _ => {}
        }
        self.line("sh[i] = r;");
        self.line("barrier();");
        self.line(&format!("s ^= sh[(i + {distance}u) % gl_WorkGroupSize.x];"));
        for n in 0..self.others.len() {
            self.line(&format!("v{n} ^= sh{n}[(i + {distance}u) % gl_WorkGroupSize.x];"));
        }
        self.line("barrier();");
        for n in 0..self.others.len() {
            self.line(&format!("sh{n}[i] = v{n};"));
        }
        let operation = self.operation();
        self.line(&format!("r += {operation};"));
        self.indent -= 1;
        self.line("}");
        self.indent -= 1;
    }

    fn block(&mut self, count: usize) {
        self.indent += 1;
        for _ in 0..1 + self.rng.below(count) {
            self.statement();
        }
        self.indent -= 1;
    }

    /// Calls in arms, from which invocations return early just before a barrier.
    fn returns_apart(&mut self) {
        let condition = self.condition();
        self.line(&format!("if ({condition}) {{"));
        self.line("    r += helper(x);");
        self.line("} else {");
        self.line("    s ^= helper(y); x = (s + r) & 7u;");
        self.line("}");
    }

    /// A block that occasionally ends with a jump.
    fn arm(&mut self, of: Open, leaves: bool) {
        self.open.push(of);
        self.block(3);
        if leaves && let Some(jump) = self.jump() {
            self.line(&format!("    {jump}"));
        }
        self.open.pop();
    }

    /// A jump allowed here.
    fn jump(&mut self) -> Option<&'static str> {
        let mut allowed = Vec::new();
        if self.open.iter().any(|open| *open != Open::Branch) {
            allowed.extend(["break;"; 3]);
        }
        if self.open.contains(&Open::Loop) {
            allowed.extend(["continue;"; 2]);
        }
        allowed.extend(match self.jumps {
            Jumps::None => None,
            Jumps::Return => Some("return;"),
            Jumps::Value => Some("return r * 7u + s;"),
        });
        (!allowed.is_empty()).then(|| *self.rng.pick(&allowed))
    }

    fn statement(&mut self) {
        if self.budget == 0 {
            return self.lanes();
        }
        self.budget -= 1;
        let deepest = if self.jumps == Jumps::Value { DEEPEST_IN_FUNCTION } else { DEEPEST };
        let nests = self.open.len() < deepest;
        let loops = self.open.iter().filter(|open| **open == Open::Loop).count() < 2;
        match self.rng.below(16) {
            0..=3 if nests => self.branch(),
            4..=7 if nests && loops => self.repeat(),
            8 if nests => self.switch(),
            9 if self.jumps != Jumps::Value => self.line("r ^= helper(x);"),
            10 => self.atomic(),
            12 if !self.others.is_empty() => self.other_width(),
            11 => {
                let change = *self.rng.pick(&["x = (x * 3u + 1u) & 7u;", "y ^= r & 7u;", "s = s * 5u + x;"]);
                self.line(change);
            }
            _ => self.lanes(),
        }
    }

    fn condition(&mut self) -> String {
        let n = self.rng.below(8);
        match self.rng.below(9) {
            0 => "(x & 1u) == 0u".to_owned(),
            1 => format!("x > {}u", n / 2),
            2 => format!("y == {n}u"),
            3 => format!("i < {}u", n * 5),
            4 => "(r & 1u) != 0u".to_owned(),
            5 => "subgroupElect()".to_owned(),
            6 => format!("subgroupAny(y == {n}u)"),
            7 => "subgroupBroadcastFirst(x) == x".to_owned(),
            _ => format!("((s >> {n}) & 1u) == 0u"),
        }
    }

    /// An expression over the active lanes.
    fn operation(&mut self) -> String {
        let value = *self.rng.pick(&["x", "y", "r", "s", "(x + i)"]);
        let fold = *self.rng.pick(&["Add", "Min", "Max", "And", "Or", "Xor"]);
        match self.rng.below(9) {
            0 => "both(subgroupBallot(true))".to_owned(),
            1 => format!("both(subgroupBallot({}))", self.condition()),
            2 => "subgroupBallotBitCount(subgroupBallot(true))".to_owned(),
            3 => format!("subgroup{fold}({value})"),
            4 => format!("subgroupInclusive{fold}({value})"),
            5 => format!("subgroupExclusiveAdd({value})"),
            6 => format!("subgroupBroadcastFirst({value})"),
            7 => format!("uint(subgroupAllEqual({value}))"),
            _ => format!("uint(subgroupAll({}))", self.condition()),
        }
    }

    fn lanes(&mut self) {
        let operation = self.operation();
        let target = *self.rng.pick(&["r = r * 5u +", "r ^=", "s +="]);
        self.line(&format!("{target} {operation};"));
    }

    /// An update of a variable of another width, possibly by cross-lane operations.
    fn other_width(&mut self) {
        let n = self.rng.below(self.others.len());
        let (v, ty) = (format!("v{n}"), self.others[n]);
        let value = *self.rng.pick(&["x", "y", "r", "s"]);
        let line = match self.rng.below(5) {
            0 => format!("{v} = {v} * {ty}(3) + {ty}({value});"),
            1 => format!("r ^= uint(subgroupBroadcastFirst({v})) + uint({v});"),
            2 => format!("{v} += subgroupAdd({ty}({value}));"),
            3 => format!("{v} ^= subgroupExclusiveXor({v});"),
            _ => format!("if ({v} > {ty}(11)) s += uint(subgroupMin({v})); else {v} = {ty}({value});"),
        };
        self.line(&line);
    }

    /// A sum that does not depend on the order of the invocations.
    fn atomic(&mut self) {
        let place = format!("o[(x & 7u) * {RESULTS}u + 9u]");
        let value = self.operation();
        if self.rng.once_in(2) {
            self.line(&format!("if (subgroupElect()) atomicAdd({place}, {value});"));
        } else {
            self.line(&format!("atomicAdd({place}, {value});"));
        }
    }

    fn branch(&mut self) {
        let condition = self.condition();
        let leaves = [(); 2].map(|()| self.rng.once_in(2));
        self.line(&format!("if ({condition}) {{"));
        self.arm(Open::Branch, leaves[0]);
        if self.rng.once_in(2) {
            self.line("} else {");
            self.arm(Open::Branch, leaves[1]);
        }
        self.line("}");
    }

    /// A `switch` whose cases have one value or several, with `default` anywhere among them, and which may fall
    /// through.
    fn switch(&mut self) {
        let mask = *self.rng.pick(&[3, 7]);
        let value = *self.rng.pick(&["x", "y", "subgroupBroadcastFirst(y)", "(r >> 3)"]);
        let count = 2 + self.rng.below(3);
        let mut arms = vec![Vec::new(); count];
        // Values without a label go to `default`, if there is one.
        for n in (0..=mask).filter(|n| n % 3 != 1) {
            arms[self.rng.below(count)].push(format!("case {n}u:"));
        }
        if !self.rng.once_in(5) {
            let arm = self.rng.below(count);
            let at = self.rng.below(arms[arm].len() + 1);
            arms[arm].insert(at, "default:".to_owned());
        }
        arms.retain(|labels| !labels.is_empty());
        self.line(&format!("switch ({value} & {mask}u) {{"));
        for labels in arms {
            labels.iter().for_each(|label| self.line(label));
            let leaves = self.rng.once_in(2);
            self.arm(Open::Switch, leaves);
        }
        self.line("}");
    }

    fn repeat(&mut self) {
        let n = self.fresh();
        let times = 2 + self.rng.below(4);
        let leaves = self.rng.once_in(8);
        match self.rng.below(5) {
            0 => {
                self.line(&format!("for (uint {n} = 0u; {n} < {times}u; {n}++) {{"));
                self.arm(Open::Loop, leaves);
                self.line("}");
            }
            1 => {
                self.line(&format!("for (uint {n} = 0u; {n} < (y & 3u) + 1u; {n}++) {{"));
                self.arm(Open::Loop, leaves);
                self.line("}");
            }
            2 => {
                self.line(&format!("uint {n} = 0u;"));
                self.line("do {");
                self.arm(Open::Loop, leaves);
                let condition = self.condition();
                self.line(&format!("}} while (++{n} < {times}u && {condition});"));
            }
            _ => self.until_left(&n),
        }
    }

    /// A loop that invocations leave group by group.
    fn until_left(&mut self, n: &str) {
        let condition = *self.rng.pick(&["subgroupBroadcastFirst(x) == x", "subgroupElect()", "subgroupMin(y) == y"]);
        self.line(&format!("uint {n} = 0u;"));
        self.line("for (;;) {");
        self.open.push(Open::Loop);
        self.indent += 1;
        self.line(&format!("if (++{n} > {ROUNDS}u) break;"));
        if self.rng.once_in(2) {
            self.lanes();
        }
        self.line(&format!("if ({condition}) {{"));
        self.open.push(Open::Branch);
        self.block(3);
        let ends = self.jumps != Jumps::None && self.rng.once_in(3);
        let jump = match self.jumps {
            Jumps::Return if ends => "return;",
            Jumps::Value if ends => "return r;",
            _ => "break;",
        };
        self.line(&format!("    {jump}"));
        self.open.pop();
        self.line("}");
        match self.rng.below(4) {
            0 | 1 => self.statement(),
            2 => self.repeat_apart(),
            _ => {}
        }
        self.indent -= 1;
        self.open.pop();
        self.line("}");
    }

    /// A loop whose trip count differs among invocations, at the end of the body of another loop.
    fn repeat_apart(&mut self) {
        let n = self.fresh();
        let update = *self.rng.pick(&["r += y", "s = s * 3u + r", "r ^= s << 1"]);
        self.line(&format!("for (uint {n} = 0u; {n} < (y & 3u); {n}++) {{"));
        self.line(&format!("    {update};"));
        self.line("}");
    }
}
