//! The plan of a test run, from the comments at the start of a fixture, one item per line:
//!
//! ```text
//! // groups 2                    workgroups, in one dimension; 1 by default
//! // buffer 0 any-i32 64         a storage buffer: binding, initial values, words; compared afterwards
//! // buffer 1 zero-f32 64        initially zero; compared as floats, with all NaNs alike
//! // buffer 2 zero-f32 64 1e-5   compared within that relative error
//! // uniform 3 exact-f32 16      a uniform block
//! // push any-u32 4              push constants
//! // address 8 1                 the push constants hold the address of binding 1 from byte 8 on
//! // from spirv-1.5              the first profile that can express it; by default spirv-1.3
//! // spec 7 12                   the pipeline sets the specialization constant 7 to 12
//! // launch 16 16 1              invocations of a ray generation shader
//! // hits 0 0 1                  the hit group of each record of the hit table
//! ```
//!
//! Bindings of buffers are in ascending order from 0. `resource` parses the lines for images and samplers, `draw` those
//! for vertex and fragment shaders.

mod draw;
mod resource;

use super::compare::Closeness;
use super::device::Launch;
use super::lavapipe::{Buffers, Request};
use super::pattern::{Domain, PATTERNS, Pattern};
use super::rival::Judged;
use super::scalar::Type;

/// The content of a buffer before the run.
#[derive(Debug, Clone, Copy)]
enum Fill {
    Zero,
    From(Domain),
}

impl Fill {
    fn words(self, pattern: Pattern, salt: u32, count: usize) -> Vec<u32> {
        match self {
            Self::Zero => vec![0; count],
            Self::From(domain) => domain.words(pattern, salt, count),
        }
    }

    fn bytes(self, pattern: Pattern, salt: u32, count: usize) -> Vec<u8> {
        let words = self.words(pattern, salt, count.div_ceil(4));
        words.iter().flat_map(|word| word.to_le_bytes()).take(count).collect()
    }
}

#[derive(Debug, Clone, Copy)]
struct Place {
    fill: Fill,
    words: usize,
    judged: Judged,
}

/// A fixture's plan.
#[derive(Debug, Default)]
pub struct Plan {
    groups: u32,
    places: Vec<Place>,
    uniforms: Vec<u32>,
    push: Option<(Fill, usize)>,
    addresses: Vec<(usize, u32)>,
    spec: Vec<(u32, u32)>,
    resources: resource::Lines,
    draw: draw::Lines,
    launch: Option<[u32; 3]>,
    hits: Vec<u32>,
}

impl Plan {
    /// Reads the comments at the top of a source.
    pub fn read(source: &str) -> Result<Self, String> {
        let mut plan = Self { groups: 1, ..Self::default() };
        // GLSL ES begins with its version.
        let lines = source.lines().skip_while(|line| line.starts_with("#version"));
        let comments = lines.map_while(|line| line.strip_prefix("// "));
        for line in comments {
            let words: Vec<&str> = line.split_whitespace().collect();
            plan.line(&words).ok_or_else(|| format!("not understood: {line}"))?;
        }
        Ok(plan)
    }

    fn line(&mut self, words: &[&str]) -> Option<()> {
        match words {
            ["groups", count] => self.groups = count.parse().ok()?,
            ["spec", id, value] => self.spec.push((id.parse().ok()?, value.parse().ok()?)),
            ["address", at, binding] => self.addresses.push((at.parse().ok()?, binding.parse().ok()?)),
            ["push", fill, count] => self.push = Some((fill_of(fill)?.0, count.parse().ok()?)),
            [what @ ("buffer" | "uniform"), binding, fill, count, share @ ..] => {
                let (fill, kind) = fill_of(fill)?;
                let closeness = match share {
                    [] => Closeness::Same,
                    [share, ..] => Closeness::Within(share.parse().ok()?),
                };
                let words = count.parse().ok()?;
                if *what == "uniform" {
                    self.uniforms.push(binding.parse().ok()?);
                }
                self.places.push(Place { fill, words, judged: Judged { kind, closeness } });
                (binding.parse::<usize>().ok()? + 1 == self.places.len()).then_some(())?;
            }
            ["launch", x, y, z] => self.launch = Some([x.parse().ok()?, y.parse().ok()?, z.parse().ok()?]),
            ["hits", groups @ ..] => {
                self.hits = groups.iter().map(|group| group.parse()).collect::<Result<_, _>>().ok()?;
            }
            [word, ..] if resource::WORDS.contains(word) => self.resources.line(words)?,
            [word, ..] if draw::WORDS.contains(word) => self.draw.line(words)?,
            // Any other line is prose.
            _ => {}
        }
        Some(())
    }

    /// The name of the vertex shader for a fragment shader that does not have its own.
    pub fn vertex(&self) -> &str {
        &self.draw.vertex
    }

    /// How each buffer is compared, followed by the images.
    pub fn judged(&self) -> Vec<Judged> {
        let buffers = self.places.iter().map(|place| place.judged);
        buffers.chain(self.resources.judged()).chain(self.draw.judged()).collect()
    }

    /// One dispatch for each input pattern, without a module yet; the push constants are from the second pattern.
    pub fn request(&self) -> Request {
        let patterns = self.patterns();
        let runs = patterns.iter().map(|&pattern| self.buffers(pattern)).collect();
        let push = self.push.map(|(fill, count)| fill.words(PATTERNS[1], 77, count)).unwrap_or_default();
        Request {
            push_constants: push.iter().flat_map(|word| word.to_le_bytes()).collect(),
            addresses: self.addresses.clone(),
            spec_constants: self.spec.clone(),
            uniforms: self.uniforms.clone(),
            others: patterns.iter().map(|&pattern| self.resources.make(pattern)).collect(),
            scenes: patterns.iter().filter_map(|&pattern| self.draw.make(pattern)).collect(),
            launch: self.launch.map(|size| Launch { shaders: Vec::new(), hits: self.hits.clone(), size }),
            ..Request::new(Vec::new(), self.groups, runs)
        }
    }

    /// The patterns to run: one if nothing depends on it, and two for draws and launches, which are compiled each time.
    fn patterns(&self) -> &'static [Pattern] {
        let varies = |fill: &Fill| matches!(fill, Fill::From(_));
        let inputs = self.places.iter().any(|place| varies(&place.fill)) || self.resources.vary() || self.draw.vary();
        match (inputs, self.draw.is_empty() && self.launch.is_none()) {
            (false, false) => &PATTERNS[1..2],
            (true, false) => &PATTERNS[1..3],
            _ => &PATTERNS,
        }
    }

    fn buffers(&self, pattern: Pattern) -> Buffers {
        self.places.iter().enumerate().map(|(n, place)| place.fill.words(pattern, n as u32, place.words)).collect()
    }
}

/// `zero-u32`, `any-f32`, `exact-i32`, `factors`, `rounding`, `unit`, `below-16`.
fn fill_of(word: &str) -> Option<(Fill, Type)> {
    let (shape, of) = word.split_once('-').unwrap_or((word, ""));
    let kind = match of {
        "f32" => Type::F32,
        "i32" => Type::I32,
        "bool" => Type::Bool,
        _ => Type::U32,
    };
    let domain = match shape {
        "zero" => return Some((Fill::Zero, kind)),
        "any" => Domain::Any(kind),
        "exact" => Domain::Exact(kind),
        "factors" => Domain::Factors,
        "rounding" => Domain::Rounding,
        "unit" => Domain::Unit,
        "below" => Domain::Below(of.parse().ok()?),
        _ => return None,
    };
    Some((Fill::From(domain), domain.kind()))
}
