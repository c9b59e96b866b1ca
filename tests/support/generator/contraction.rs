//! Random chains of products and sums of floats, some of which are `precise`, with their possible values: whether or
//! not products and sums are contracted, each lies within the rounding errors of the chain, and `precise` ones have
//! only one possible value.

use super::program::{INVOCATIONS, RESULTS};
use super::rng::Rng;
use std::fmt::Write;

/// Values that a chain computes.
const STEPS: usize = 18;

/// Initial values.
const LEAVES: usize = 4;

/// The largest absolute value in a chain, so that halves can hold all values.
const LARGEST: f64 = 16384.0;

/// A width of floats.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Width {
    Half,
    Single,
    Double,
}

impl Width {
    /// The width of the kernel of a seed; most are of 32 bits.
    pub const fn of(seed: u64) -> Width {
        match seed % 6 {
            0 => Width::Half,
            3 => Width::Double,
            _ => Width::Single,
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Width::Half => "float16_t",
            Width::Single => "float",
            Width::Double => "double",
        }
    }

    pub const fn bits(self) -> u8 {
        match self {
            Width::Half => 16,
            Width::Single => 32,
            Width::Double => 64,
        }
    }

    /// The bits of a word that become sign and fraction of a value: those that the type represents exactly.
    const fn kept(self) -> u32 {
        match self {
            Width::Half => 0x807f_e000,
            Width::Single | Width::Double => 0x807f_ffff,
        }
    }

    /// The share of a value that rounding changes at most, and the least change of a subnormal.
    fn unit(self) -> (f64, f64) {
        match self {
            Width::Half => (2f64.powi(-11), 2f64.powi(-25)),
            Width::Single => (2f64.powi(-24), 2f64.powi(-150)),
            Width::Double => (2f64.powi(-53), f64::MIN_POSITIVE),
        }
    }
}

/// One value, computed from earlier ones.
#[derive(Clone, Copy, Debug)]
enum Step {
    Product([usize; 2]),
    Sum([usize; 2], bool),
    /// `a * b + c`, `a * b - c` or `c - a * b`, with one operand of each.
    Fused([usize; 3], Form),
    /// `a * b + c * d` or its difference.
    Products([usize; 4], bool),
    /// `a * b + c` of initial values, `precise`.
    Precise([usize; 3]),
    /// The value before, changed in every second invocation: `v = v * a + b`.
    Branch([usize; 3]),
}

#[derive(Clone, Copy, Debug)]
enum Form {
    Plus,
    Minus,
    From,
    Negated,
}

/// A value of the reference, and how far a result may be from it.
#[derive(Clone, Copy, Default, Debug)]
struct Bounded {
    value: f64,
    error: f64,
}

/// The kernel of a seed.
#[derive(Debug)]
pub struct Chain {
    pub width: Width,
    steps: Vec<Step>,
    pub source: String,
}

impl Chain {
    pub fn new(seed: u64) -> Chain {
        let (mut rng, width) = (Rng::new(seed), Width::of(seed));
        let mut largest = vec![2.0; LEAVES];
        let mut steps = Vec::new();
        while steps.len() < STEPS {
            let step = random(&mut rng, largest.len());
            let size = size(step, &largest);
            if size <= LARGEST {
                steps.push(step);
                largest.push(size);
            }
        }
        let source = source(width, &steps);
        Chain { width, steps, source }
    }

    /// The words that hold a value.
    const fn words(&self) -> usize {
        if self.width.bits() == 64 { 2 } else { 1 }
    }

    /// Reports which result of an invocation its chain cannot have.
    pub fn judge(&self, given: &[u32], after: &[u32]) -> Result<(), String> {
        for invocation in 0..INVOCATIONS {
            let leaves = [given[invocation], given[invocation + INVOCATIONS]];
            let mut values = self.leaves(leaves);
            for (at, step) in self.steps.iter().enumerate() {
                let expected = self.value(*step, &values, invocation);
                values.push(expected);
                let got = self.read(&after[invocation * 2 * RESULTS..], at);
                let is_right = (got - expected.value).abs() <= 2.0 * expected.error;
                if !is_right {
                    return Err(format!("invocation {invocation}, t{at} ({step:?}): {got:e}, expected {expected:?}"));
                }
            }
        }
        Ok(())
    }

    fn read(&self, words: &[u32], at: usize) -> f64 {
        let word = |n: usize| words[at * self.words() + n];
        match self.width {
            Width::Double => f64::from_bits(u64::from(word(1)) << 32 | u64::from(word(0))),
            _ => f64::from(f32::from_bits(word(0))),
        }
    }

    /// The initial values of a chain, as computed by [`source`].
    fn leaves(&self, given: [u32; 2]) -> Vec<Bounded> {
        let leaf = |bits: u32| {
            let wide = f64::from(f32::from_bits(bits & self.width.kept() | 0x3f80_0000));
            Bounded { value: wide, error: 0.0 }
        };
        let [x, y] = given;
        vec![leaf(x), leaf(y), leaf(x.wrapping_mul(0x9e37_79b9)), leaf(y.wrapping_mul(0x85eb_ca6b))]
    }

    fn value(&self, step: Step, values: &[Bounded], invocation: usize) -> Bounded {
        let (get, negated) = (|n: usize| values[n], |of: Bounded| Bounded { value: -of.value, ..of });
        match step {
            Step::Product([a, b]) => self.product(get(a), get(b)),
            Step::Sum([a, b], is_plus) => self.sum(get(a), if is_plus { get(b) } else { negated(get(b)) }),
            Step::Fused([a, b, c], form) => {
                let product = self.product(get(a), get(b));
                match form {
                    Form::Plus => self.sum(product, get(c)),
                    Form::Minus => self.sum(product, negated(get(c))),
                    Form::From => self.sum(get(c), negated(product)),
                    Form::Negated => self.sum(negated(product), negated(get(c))),
                }
            }
            Step::Products([a, b, c, d], is_plus) => {
                let (first, second) = (self.product(get(a), get(b)), self.product(get(c), get(d)));
                self.sum(first, if is_plus { second } else { negated(second) })
            }
            Step::Precise(leaves) => self.precise_value(leaves.map(|n| values[n].value)),
            Step::Branch([a, _, _]) if invocation.is_multiple_of(2) => get(a),
            Step::Branch([a, b, c]) => {
                let product = self.product(get(a), get(b));
                self.sum(product, get(c))
            }
        }
    }

    fn product(&self, a: Bounded, b: Bounded) -> Bounded {
        let error = a.value.abs() * b.error + b.value.abs() * a.error + a.error * b.error;
        self.rounded(a.value * b.value, error)
    }

    fn sum(&self, a: Bounded, b: Bounded) -> Bounded {
        self.rounded(a.value + b.value, a.error + b.error)
    }

    /// The result of an operation whose operands carry an error into it.
    fn rounded(&self, value: f64, carried: f64) -> Bounded {
        let (share, least) = self.width.unit();
        let size = value.abs() * (1.0 + 4.0 * share) + carried;
        Bounded { value, error: (carried + size * share + least) * 1.001 }
    }

    /// The only value of `a * b + c` with two roundings. For halves it is computed in 64 bits, which can hold their
    /// products.
    fn precise_value(&self, [a, b, c]: [f64; 3]) -> Bounded {
        let value = match self.width {
            Width::Half => {
                let half = |value| crate::amd::float::from_half(crate::amd::float::to_half(value));
                half(half(a * b) + c)
            }
            Width::Single => f64::from((a as f32) * (b as f32) + (c as f32)),
            Width::Double => a * b + c,
        };
        Bounded { value, error: 0.0 }
    }
}

fn random(rng: &mut Rng, known: usize) -> Step {
    // Recent values are likelier, so that chains are long.
    let any = |rng: &mut Rng| match rng.once_in(2) {
        true => known - 1 - rng.below(known.min(4)),
        false => rng.below(known),
    };
    match rng.below(12) {
        0 | 1 => Step::Product([any(rng), any(rng)]),
        2 => Step::Sum([any(rng), any(rng)], rng.once_in(2)),
        3..=6 => {
            let form = *rng.pick(&[Form::Plus, Form::Minus, Form::From, Form::Negated]);
            Step::Fused([any(rng), any(rng), any(rng)], form)
        }
        7 | 8 => Step::Products([any(rng), any(rng), any(rng), any(rng)], rng.once_in(2)),
        9 | 10 => Step::Precise([rng.below(LEAVES), rng.below(LEAVES), rng.below(LEAVES)]),
        _ => Step::Branch([any(rng), any(rng), any(rng)]),
    }
}

/// The largest magnitude of a step's value.
fn size(step: Step, largest: &[f64]) -> f64 {
    let get = |n: usize| largest[n];
    match step {
        Step::Product([a, b]) => get(a) * get(b),
        Step::Sum([a, b], _) => get(a) + get(b),
        Step::Fused([a, b, c], _) | Step::Precise([a, b, c]) => get(a) * get(b) + get(c),
        Step::Branch([a, b, c]) => (get(a) * get(b) + get(c)).max(get(a)),
        Step::Products([a, b, c, d], _) => get(a) * get(b) + get(c) * get(d),
    }
}

fn source(width: Width, steps: &[Step]) -> String {
    let ty = width.name();
    let mut body = String::new();
    for (at, step) in steps.iter().enumerate() {
        let name = name(at + LEAVES);
        let _ = match (text(*step), step) {
            (text, Step::Branch([a, ..])) => {
                writeln!(body, "    {ty} {name} = {};\n    if ((i & 1u) != 0u) {{ {name} = {text}; }}", self::name(*a))
            }
            (text, _) => writeln!(body, "    {ty} {name} = {text};"),
        };
    }
    (0..steps.len()).for_each(|at| body += &stored(width, at));
    format!(
        "#version 450\n#extension GL_EXT_shader_explicit_arithmetic_types_float16 : require\n\
         layout(local_size_x = {INVOCATIONS}) in;\n\
         layout(std430, binding = 0) readonly buffer In {{ uint given[]; }};\n\
         layout(std430, binding = 1) buffer Out {{ uint o[]; }};\n\
         {ty} leaf(uint bits) {{ return {ty}(uintBitsToFloat(bits & {:#x}u | 0x3f800000u)); }}\n\
         {ty} exact({ty} a, {ty} b, {ty} c) {{ precise {ty} r = a * b + c; return r; }}\n\
         void main() {{\n    uint i = gl_LocalInvocationIndex, at = i * {}u;\n    \
         uint x = given[i], y = given[i + {INVOCATIONS}u];\n    \
         {ty} v0 = leaf(x), v1 = leaf(y), v2 = leaf(x * 0x9e3779b9u), v3 = leaf(y * 0x85ebca6bu);\n{body}}}\n",
        width.kept(),
        2 * RESULTS
    )
}

fn name(value: usize) -> String {
    if value < LEAVES { format!("v{value}") } else { format!("t{}", value - LEAVES) }
}

fn text(step: Step) -> String {
    let sign = |is_plus: bool| if is_plus { '+' } else { '-' };
    match step {
        Step::Product([a, b]) => format!("{} * {}", name(a), name(b)),
        Step::Sum([a, b], is_plus) => format!("{} {} {}", name(a), sign(is_plus), name(b)),
        Step::Fused([a, b, c], form) => {
            let (product, c) = (format!("{} * {}", name(a), name(b)), name(c));
            match form {
                Form::Plus => format!("{product} + {c}"),
                Form::Minus => format!("{product} - {c}"),
                Form::From => format!("{c} - {product}"),
                Form::Negated => format!("-({product}) - {c}"),
            }
        }
        Step::Products([a, b, c, d], is_plus) => {
            format!("{} * {} {} {} * {}", name(a), name(b), sign(is_plus), name(c), name(d))
        }
        Step::Precise([a, b, c]) => format!("exact({}, {}, {})", name(a), name(b), name(c)),
        Step::Branch([a, b, c]) => format!("{} * {} + {}", name(a), name(b), name(c)),
    }
}

/// A line that stores a value as the judge reads it.
fn stored(width: Width, at: usize) -> String {
    match width {
        Width::Double => format!(
            "    {{ uvec2 w = unpackDouble2x32(t{at}); o[at + {}u] = w.x; o[at + {}u] = w.y; }}\n",
            2 * at,
            2 * at + 1
        ),
        _ => format!("    o[at + {at}u] = floatBitsToUint(float(t{at}));\n"),
    }
}
