//! Random formulas over integers: deep trees of operations that compilers combine, minima, maxima, negations, absolute
//! values, comparisons and selections, over few values. Each kernel computes several, so that one run tries many.

use super::program::{INVOCATIONS, RESULTS};
use super::rng::Rng;

/// Formulas in a kernel.
const FORMULAS: usize = 16;

/// Depth of a formula's tree.
const DEPTH: usize = 4;

const CONSTANTS: [&str; 9] = ["0", "1", "2", "3", "31", "1000", "0x7fffffff", "-1", "-44"];
const COMPARISONS: [&str; 6] = ["<", "<=", ">", ">=", "==", "!="];

/// The kernel for a seed, as GLSL. It reads `given` and writes each formula's value to `o`.
pub fn kernel(seed: u64) -> String {
    let mut formulas = Formulas { rng: Rng::new(seed) };
    let results: String = (0..FORMULAS)
        .map(|at| {
            let ty = *formulas.rng.pick(&["int", "uint"]);
            format!("    o[at + {at}] = int({});\n", formulas.tree(ty, DEPTH))
        })
        .collect();
    format!(
        "#version 450\nlayout(local_size_x = {INVOCATIONS}) in;\n\
         layout(std430, binding = 0) readonly buffer In {{ int given[]; }};\n\
         layout(std430, binding = 1) buffer Out {{ int o[]; }};\n\
         layout(std430, binding = 2) buffer Mem {{ int kept[]; }};\n\
         void main() {{\n    uint at = gl_LocalInvocationIndex * {RESULTS}u;\n    \
         int x = given[gl_LocalInvocationIndex], y = given[gl_LocalInvocationIndex + {INVOCATIONS}u];\n    \
         uint u = gl_LocalInvocationIndex, v = uint(x) >> 27;\n{results}    kept[gl_LocalInvocationIndex] = x;\n}}\n"
    )
}

struct Formulas {
    rng: Rng,
}

impl Formulas {
    /// A formula of this type.
    fn tree(&mut self, ty: &'static str, depth: usize) -> String {
        if depth == 0 || self.rng.once_in(9) {
            return self.leaf(ty);
        }
        let a = self.operand(ty, depth - 1);
        match self.rng.below(16) {
            0..=2 => format!("(-{a})"),
            3 => format!("(~{a})"),
            4 if ty == "int" => format!("abs({a})"),
            5..=11 => format!("{}({a}, {})", self.rng.pick(&["min", "max"]), self.operand(ty, depth - 1)),
            12 => format!("({a} {} {})", self.rng.pick(&["+", "-", "&", "^"]), self.operand(ty, depth - 1)),
            13 => format!("{ty}({a} {} {})", self.rng.pick(&COMPARISONS), self.constant(ty)),
            14 => format!("{ty}(bitCount({a}))"),
            _ => {
                let condition = format!("{} {} {a}", self.leaf(ty), self.rng.pick(&COMPARISONS));
                format!("({condition} ? {} : {})", self.operand(ty, depth - 1), self.operand(ty, depth - 1))
            }
        }
    }

    /// A formula of this type, possibly converted from the other one.
    fn operand(&mut self, ty: &'static str, depth: usize) -> String {
        if self.rng.once_in(3) {
            let other = if ty == "int" { "uint" } else { "int" };
            return format!("{ty}({})", self.tree(other, depth));
        }
        self.tree(ty, depth)
    }

    fn leaf(&mut self, ty: &'static str) -> String {
        if self.rng.once_in(4) { self.constant(ty) } else { format!("{ty}({})", self.rng.pick(&["x", "y", "u", "v"])) }
    }

    fn constant(&mut self, ty: &str) -> String {
        format!("{ty}({})", self.rng.pick(&CONSTANTS))
    }
}
