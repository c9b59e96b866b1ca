//! Random control flow around cross-lane operations: in every kind of arm, and before every kind of exit from loops.
//!
//! The operations work over the active lanes, so every result is defined under any mask. Barriers come only where all
//! invocations of the workgroup arrive.

use super::program::RESULTS;
use super::rng::Rng;

/// Constructs inside constructs; fewer in the function. NVIDIA's driver joins invocations from only so many.
const DEEPEST: usize = 4;
const DEEPEST_IN_FUNCTION: usize = 2;

/// Iterations after which a loop without a bound of its own ends.
const ROUNDS: usize = 18;

/// The source that a seed stands for, with a workgroup of so many invocations.
pub fn kernel(seed: u64, invocations: usize) -> String {
    let mut rng = Rng::new(seed ^ 0xa235);
    let returns = rng.once_in(2);
    let mut arms =
        Arms { rng, text: String::new(), indent: 0, budget: 0, names: 0, open: Vec::new(), jumps: Jumps::None };
    arms.head(invocations);
    arms.helper();
    arms.main(returns);
    arms.text
}

/// The ends that a block may have, besides the jumps out of the loops around it.
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
    /// Statements that may still be made.
    budget: usize,
    names: usize,
    open: Vec<Open>,
    jumps: Jumps,
}

const EXTENSIONS: [&str; 4] = ["basic", "vote", "ballot", "arithmetic"];

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
        self.line(&format!("layout(local_size_x = {invocations}) in;"));
        self.line("layout(std430, binding = 0) readonly buffer In { uint given[]; };");
        self.line("layout(std430, binding = 1) buffer Out { uint o[]; };");
        self.line(&format!("shared uint sh[{invocations}];"));
        self.line("uint i, x, y, r, s;");
        self.line("uint both(uvec4 mask) { return mask.x ^ (mask.y * 3u); }");
    }

    /// A function that returns early, which the passes take into its callers.
    fn helper(&mut self) {
        self.line("uint helper(uint v) {");
        (self.budget, self.jumps) = (6, Jumps::Value);
        self.block(3);
        self.line("    return v ^ s;");
        self.line("}");
    }

    fn main(&mut self, returns: bool) {
        self.line("void main() {");
        self.indent += 1;
        let few = *self.rng.pick(&[1, 3, 7]);
        self.line("i = gl_LocalInvocationIndex;");
        self.line(&format!("x = given[i] & {few}u; y = (given[i] >> 7) & 15u; r = 1u; s = i;"));
        self.indent -= 1;
        self.jumps = if returns { Jumps::Return } else { Jumps::None };
        for _ in 0..2 {
            self.budget = 9;
            self.block(4);
            if !returns {
                self.exchange();
            }
        }
        for (n, name) in ["r", "s", "x", "y"].iter().enumerate() {
            self.line(&format!("    o[i * {RESULTS}u + {n}u] = {name};"));
        }
        self.line("}");
    }

    /// Shared memory between barriers, at times in a loop that all invocations run alike.
    fn exchange(&mut self) {
        let distance = 1 + self.rng.below(7);
        let rounds = 1 + self.rng.below(3);
        let n = self.fresh();
        self.indent += 1;
        self.line(&format!("for (uint {n} = 0u; {n} < {rounds}u; {n}++) {{"));
        self.indent += 1;
        self.line("sh[i] = r;");
        self.line("barrier();");
        self.line(&format!("s ^= sh[(i + {distance}u) % gl_WorkGroupSize.x];"));
        self.line("barrier();");
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

    /// A block that now and then ends with a jump.
    fn arm(&mut self, of: Open, leaves: bool) {
        self.open.push(of);
        self.block(3);
        if leaves && let Some(jump) = self.jump() {
            self.line(&format!("    {jump}"));
        }
        self.open.pop();
    }

    /// A jump that is allowed here.
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

    fn switch(&mut self) {
        let selector = *self.rng.pick(&["x & 3u", "y & 3u", "subgroupBroadcastFirst(y) & 3u"]);
        self.line(&format!("switch ({selector}) {{"));
        for label in ["case 0u:", "case 2u:", "default:"] {
            self.line(label);
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

    /// A loop that invocations leave one group after the other.
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

    /// A loop whose rounds differ among invocations, at the end of the body of another loop.
    fn repeat_apart(&mut self) {
        let n = self.fresh();
        let update = *self.rng.pick(&["r += y", "s = s * 3u + r", "r ^= s << 1"]);
        self.line(&format!("for (uint {n} = 0u; {n} < (y & 3u); {n}++) {{"));
        self.line(&format!("    {update};"));
        self.line("}");
    }
}
