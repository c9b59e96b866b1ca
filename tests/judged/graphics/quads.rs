//! Quad swizzles and votes in fragments, compared with formulas: a quad is an aligned 2 x 2 square of pixels, its lanes
//! in row order. Each shader draws a function of the pixel, moved between lanes, over the whole target and over a wedge
//! whose edges leave helper invocations in quads.
//!
//! Votes are compared only in whole quads. Without quad control in the profile they are clustered reductions, in which
//! Vulkan does not guarantee that helper invocations take part; VK_KHR_shader_quad_control exists for that. lavapipe
//! leaves them out (glslang's `subgroupClusteredOr(p, 4u)` at an edge also ignores the neighbour beyond it). It also
//! clips the triangle that covers the whole target into two, whose common edge crosses the target.

use std::path::Path;

use super::render::{Sources, shared};
use support::rival::{PROFILES, has_subgroups};
use support::trial::{Trial, judged};

/// Pixels in a row and in a column.
const SIDE: u32 = 16;

/// The value of an output at a pixel.
type Formula = fn(output: usize, x: u32, y: u32) -> [u32; 4];

/// A shader, the words per pixel of its outputs, and the number of outputs before the one that marks drawn pixels.
struct Row {
    name: &'static str,
    words: usize,
    outputs: usize,
    formula: Formula,
    /// The shapes to draw.
    shapes: &'static [&'static str],
}

static ROWS: &[Row] = &[
    Row {
        name: "swizzle_float",
        words: 1,
        outputs: 6,
        formula: |n, x, y| moved(n, x, y, float),
        shapes: &[FULL, WEDGE],
    },
    Row { name: "swizzle_int", words: 1, outputs: 6, formula: |n, x, y| moved(n, x, y, int), shapes: &[FULL, WEDGE] },
    Row {
        name: "swizzle_vectors",
        words: 4,
        outputs: 6,
        formula: |n, x, y| moved(n, x, y, vector),
        shapes: &[FULL, WEDGE],
    },
    Row { name: "swizzle_bool", words: 1, outputs: 6, formula: |n, x, y| moved(n, x, y, flag), shapes: &[FULL, WEDGE] },
    Row { name: "swizzle_long", words: 2, outputs: 6, formula: |n, x, y| moved(n, x, y, long), shapes: &[FULL, WEDGE] },
    Row {
        name: "swizzle_narrow",
        words: 1,
        outputs: 6,
        formula: |n, x, y| moved(n, x, y, narrow),
        shapes: &[FULL, WEDGE],
    },
    Row {
        name: "swizzle_float_only",
        words: 2,
        outputs: 6,
        formula: |n, x, y| moved(n, x, y, pair),
        shapes: &[FULL, WEDGE],
    },
    Row { name: "swizzle_nv", words: 1, outputs: 6, formula: with_operand, shapes: &[FULL, WEDGE] },
    Row { name: "votes", words: 1, outputs: 4, formula: votes, shapes: &[WEDGE] },
];

/// A vertex shader that covers the target.
const FULL: &str = "full_screen";

/// A vertex shader with slanting edges.
const WEDGE: &str = "wedge";

pub fn trials() -> impl Iterator<Item = Trial> {
    let each = |row: &'static Row| row.shapes.iter().map(move |shape| (row, *shape));
    ROWS.iter().flat_map(each).map(|(row, shape)| {
        let name = format!("quads_{}_{shape}", row.name);
        judged(name, &["bin/spirv-val", "lvp.json"], move || check(row, shape))
    })
}

fn check(row: &Row, shape: &str) -> Result<(), String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/graphics/quads").join(row.name);
    let mut sources = Sources::read(&path.with_extension("frag"))?;
    sources.vertex = Some(std::fs::read_to_string(shared(shape)).map_err(|e| e.to_string())?);
    let mut request = sources.plan.request();
    // Nothing is read, so one run is enough.
    request.runs.truncate(1);
    request.others.truncate(1);
    request.scenes.truncate(1);
    for (profile, _) in PROFILES.into_iter().filter(|(profile, _)| has_subgroups(profile)) {
        let left = sources.run(&request, &sources.ours(profile)?).map_err(|e| format!("{profile}: {e}"))?;
        compare(row, &left[0], shape == WEDGE).map_err(|e| format!("{profile}: {e}"))?;
    }
    Ok(())
}

fn compare(row: &Row, left: &[Vec<u32>], partial: bool) -> Result<(), String> {
    let [outputs @ .., mark] = left else { return Err("nothing was drawn into".to_owned()) };
    if outputs.len() != row.outputs {
        return Err(format!("{} outputs, not {}", outputs.len(), row.outputs));
    }
    check_coverage(mark, partial)?;
    for (n, words) in outputs.iter().enumerate() {
        for (x, y) in pixels().filter(|&(x, y)| row.is_compared(mark, x, y)) {
            let got = &words[(y * SIDE + x) as usize * row.words..][..row.words];
            let expected = &(row.formula)(n, x, y)[..row.words];
            if got != expected {
                return Err(format!("output {n}, pixel ({x}, {y}): {got:x?}, not {expected:x?}"));
            }
        }
    }
    Ok(())
}

impl Row {
    /// Returns true if a pixel was drawn, and its whole quad if required.
    fn is_compared(&self, mark: &[u32], x: u32, y: u32) -> bool {
        let whole = self.shapes.contains(&FULL) || drawn_in_quad(mark, x, y) == 4;
        whole && mark[(y * SIDE + x) as usize] == 1
    }
}

fn pixels() -> impl Iterator<Item = (u32, u32)> {
    (0..SIDE * SIDE).map(|pixel| (pixel % SIDE, pixel / SIDE))
}

/// Number of pixels drawn in the quad around a pixel.
fn drawn_in_quad(mark: &[u32], x: u32, y: u32) -> usize {
    let drawn = |n| source(n, x, y);
    (0..4).map(drawn).filter(|(x, y)| mark[(y * SIDE + x) as usize] == 1).count()
}

/// Checks that everything was drawn, or that there are both whole and partial quads.
fn check_coverage(mark: &[u32], partial: bool) -> Result<(), String> {
    let quads = pixels().filter(|(x, y)| x & 1 == 0 && y & 1 == 0);
    let counts: Vec<usize> = quads.map(|(x, y)| drawn_in_quad(mark, x, y)).collect();
    let whole = counts.iter().filter(|&&count| count == 4).count();
    let broken = counts.iter().filter(|&&count| count != 0 && count != 4).count();
    match partial {
        true if broken < 8 || whole < 8 => Err(format!("only {broken} quads have helper invocations, {whole} none")),
        false if whole != counts.len() => Err("the target is not drawn whole".to_owned()),
        _ => Ok(()),
    }
}

/// The pixel that mode `n` of 0, 1, 2, 3, X, Y reads.
fn source(n: usize, x: u32, y: u32) -> (u32, u32) {
    match n {
        4 => (x ^ 1, y),
        5 => (x, y ^ 1),
        lane => (x & !1 | lane as u32 & 1, y & !1 | lane as u32 >> 1),
    }
}

fn moved(n: usize, x: u32, y: u32, value: fn(u32, u32) -> [u32; 4]) -> [u32; 4] {
    let (x, y) = source(n, x, y);
    value(x, y)
}

fn float(x: u32, y: u32) -> [u32; 4] {
    [(x as f32 * 3.0 - y as f32 * 5.0 + 0.25).to_bits(), 0, 0, 0]
}

fn int(x: u32, y: u32) -> [u32; 4] {
    [(x * 1000).wrapping_sub(y * 77), 0, 0, 0]
}

fn vector(x: u32, y: u32) -> [u32; 4] {
    [x, y, x * y, x.wrapping_mul(0x9e37_79b9) ^ y]
}

fn flag(x: u32, y: u32) -> [u32; 4] {
    [((x * 5 + y * 3) >> 2) & 1, 0, 0, 0]
}

fn long(x: u32, y: u32) -> [u32; 4] {
    [x * 7 + y, 0x8000_0000 | x << 8 | y, 0, 0]
}

/// A 16-bit integer in the low half, and a 16-bit float that counts quarters in the high half.
fn narrow(x: u32, y: u32) -> [u32; 4] {
    [((x * 300 + y) & 0xffff) | ((x + 16 * y) << 16), 0, 0, 0]
}

fn pair(x: u32, y: u32) -> [u32; 4] {
    [(x as f32 * 0.5 - y as f32).to_bits(), (y as f32 * 8.0 + x as f32).to_bits(), 0, 0]
}

/// NVIDIA's functions add the lane's own operand to the moved one.
fn with_operand(n: usize, x: u32, y: u32) -> [u32; 4] {
    let [moved, ..] = moved(n, x, y, float);
    [(f32::from_bits(moved) + (x * 16 + y) as f32).to_bits(), 0, 0, 0]
}

/// Any and all over the quad, then both among the lanes of the left column; the other lanes get 7.
fn votes(n: usize, x: u32, y: u32) -> [u32; 4] {
    let (left, top) = (x & !1, y & !1);
    let flag = |dx, dy| flag(left + dx, top + dy)[0];
    let whole = [flag(0, 0), flag(1, 0), flag(0, 1), flag(1, 1)];
    let lanes = if n < 2 { &whole[..] } else { &[whole[0], whole[2]][..] };
    let vote = if n & 1 == 0 { lanes.contains(&1) } else { !lanes.contains(&0) };
    [if n >= 2 && x & 1 == 1 { 7 } else { vote.into() }, 0, 0, 0]
}
