//! Kernels whose file names, lines, buffers and members have non-ASCII names, in GLSL and WGSL.

use super::program::{INVOCATIONS, RESULTS};
use super::rng::Rng;

/// Parts of names: letters from several scripts, some of them combining.
const LETTERS: [&str; 8] = ["größe", "été", "Ωmega", "длина", "数据", "naïve", "ñ", "ſtraße"];

/// The name of the file of a seed, with a directory at times.
pub fn file(seed: u64) -> String {
    let rng = &mut Rng::new(seed ^ 0x11e5);
    let directory = if rng.once_in(2) { format!("home/{}/", rng.pick(&LETTERS)) } else { String::new() };
    format!("{directory}{}{seed}{}", rng.pick(&LETTERS), if is_wgsl(seed) { ".wgsl" } else { ".comp" })
}

/// Returns true for seeds whose kernel is WGSL, where resources and members have such names too.
pub const fn is_wgsl(seed: u64) -> bool {
    seed.is_multiple_of(2)
}

/// The source for a seed.
pub fn kernel(seed: u64) -> String {
    if is_wgsl(seed) { wgsl(&mut Rng::new(seed ^ 0x77)) } else { with_lines(seed) }
}

/// A kernel of formulas with directives of lines, which go up, down, and to other files.
fn with_lines(seed: u64) -> String {
    let rng = &mut Rng::new(seed ^ 0x1e);
    let mut text = String::new();
    for (n, line) in super::formulas::kernel(seed).lines().enumerate() {
        if n == 1 {
            text += "#extension GL_GOOGLE_cpp_style_line_directive : require\n";
        }
        if n > 1 && rng.once_in(3) {
            let number = [0, 1, 100, 7, 65536][rng.below(5)];
            text += &match rng.below(3) {
                0 => format!("#line {number}\n"),
                1 => format!("#line {number} \"{}.glsl\"\n", rng.pick(&LETTERS)),
                _ => format!("#line {number} \"quoted \\\"{}\\\".h\"\n", rng.pick(&LETTERS)).replace("\\\"", "'"),
            };
        }
        text += line;
        text.push('\n');
    }
    text
}

fn wgsl(rng: &mut Rng) -> String {
    let mut names: Vec<&str> = LETTERS.to_vec();
    let mut name = || names.remove(rng.below(names.len()));
    let [given, out, kept, block, member, function] = [(); 6].map(|()| name());
    let lines: String =
        (0..8).map(|n| format!("    {out}.{member}[at + {n}u] = {function}(x + {n}u, {});\n", tree(rng, 3))).collect();
    format!(
        "struct {block} {{ {member}: array<u32> }}
@group(0) @binding(0) var<storage, read> {given}: array<u32>;
@group(0) @binding(1) var<storage, read_write> {out}: {block};
@group(0) @binding(2) var<storage, read_write> {kept}: array<u32>;
var<workgroup> geteilt_{member}: array<u32, {INVOCATIONS}>;
fn {function}(a: u32, b: u32) -> u32 {{ return (a ^ b) * 3u; }}
@compute @workgroup_size({INVOCATIONS})
fn main(@builtin(local_invocation_index) i: u32) {{
    let at = i * {RESULTS}u;
    let x = {given}[i]; let y = {given}[i + {INVOCATIONS}u];
    geteilt_{member}[i] = x;
    workgroupBarrier();
    let z = geteilt_{member}[(i + 1u) % {INVOCATIONS}u];
{lines}    {kept}[i] = z;
}}
"
    )
}

fn tree(rng: &mut Rng, depth: usize) -> String {
    if depth == 0 {
        return (*rng.pick(&["x", "y", "z", "i", "7u", "0x80000000u"])).to_owned();
    }
    let (a, b) = (tree(rng, depth - 1), tree(rng, depth - 1));
    match rng.below(7) {
        n @ 0..=4 => format!("({a} {} {b})", ["+", "-", "^", "&", "|"][n]),
        5 => format!("max({a}, {b})"),
        _ => format!("select({a}, {b}, {a} < {b})"),
    }
}
