//! The lines of a plan for a draw:
//!
//! ```text
//! // vertex wedge                    the vertex shader of `fixtures/graphics/vertex`; by default `full_screen`
//! // target 16x16 layers=2 samples=4 multiview
//! // color rgba32f                   a color attachment, by location; a number after it is the relative error allowed
//! // depth 0.5                       a depth attachment with this initial value
//! // attribute 0 rgb32f exact-f32    an input of the vertex shader; with `instance` one value per instance
//! // draw 3 1                        vertices and instances, also as `4..7`
//! // meshes 2 1 1                    workgroups of the task or mesh shader
//! // topology strip                  points, lines, adjacent, triangles, strip or patches=3
//! // dual-source                     blends with the second source
//! ```

use std::ops::Range;

use crate::device::{Attribute, Image, Rate, Target, Topology, View};

use super::resource::{bytes_of, extent, judged_of};
use super::{Fill, fill_of};
use crate::compare::Closeness;
use crate::lavapipe::Scene;
use crate::pattern::Pattern;
use crate::rival::Judged;

/// The words that begin such a line.
pub const WORDS: [&str; 9] =
    ["vertex", "target", "color", "depth", "attribute", "draw", "meshes", "topology", "dual-source"];

#[derive(Debug, Clone)]
struct Input {
    location: u32,
    format: String,
    fill: Fill,
    rate: Rate,
}

/// The values that the lines give.
#[derive(Debug)]
pub struct Lines {
    pub vertex: String,
    size: [u32; 3],
    layers: u32,
    samples: u32,
    multiview: bool,
    colors: Vec<(String, Closeness)>,
    depth: Option<f32>,
    inputs: Vec<Input>,
    vertices: Range<u32>,
    instances: Range<u32>,
    meshes: [u32; 3],
    topology: Topology,
    dual_source: bool,
}

impl Default for Lines {
    fn default() -> Self {
        Self {
            vertex: "full_screen".to_owned(),
            size: [16, 16, 1],
            layers: 1,
            samples: 1,
            multiview: false,
            colors: Vec::new(),
            depth: None,
            inputs: Vec::new(),
            vertices: 0..3,
            instances: 0..1,
            meshes: [1; 3],
            topology: Topology::Triangles,
            dual_source: false,
        }
    }
}

impl Lines {
    /// Parses a line; `None` if it is not valid.
    pub fn line(&mut self, words: &[&str]) -> Option<()> {
        match words {
            ["vertex", name] => self.vertex = (*name).to_owned(),
            ["target", size, more @ ..] => {
                self.size = extent(size)?;
                more.iter().try_for_each(|word| self.target(word))?;
            }
            ["color", format, share @ ..] => {
                bytes_of(format)?;
                let closeness = share.first().map_or(Some(Closeness::Same), |s| s.parse().ok().map(Closeness::Within));
                self.colors.push(((*format).to_owned(), closeness?));
            }
            ["depth", value] => self.depth = Some(value.parse().ok()?),
            ["attribute", location, format, fill, rate @ ..] => self.inputs.push(Input {
                location: location.parse().ok()?,
                format: (*format).to_owned(),
                fill: fill_of(fill)?.0,
                rate: if rate.is_empty() { Rate::Vertex } else { Rate::Instance },
            }),
            ["draw", vertices, instances @ ..] => {
                self.vertices = range(vertices)?;
                self.instances = instances.first().map_or(Some(0..1), |word| range(word))?;
            }
            ["meshes", counts @ ..] => {
                let counts: Result<Vec<u32>, _> = counts.iter().map(|count| count.parse()).collect();
                self.meshes = counts.ok()?.try_into().ok()?;
            }
            ["topology", name] => self.topology = topology(name)?,
            ["dual-source"] => self.dual_source = true,
            _ => return None,
        }
        Some(())
    }

    fn target(&mut self, word: &str) -> Option<()> {
        match word.split_once('=') {
            Some(("layers", count)) => self.layers = count.parse().ok()?,
            Some(("samples", count)) => self.samples = count.parse().ok()?,
            None if word == "multiview" => self.multiview = true,
            _ => return None,
        }
        Some(())
    }

    /// Returns true if there are no targets.
    pub fn is_empty(&self) -> bool {
        self.colors.is_empty() && self.depth.is_none()
    }

    /// Returns true if any vertex input contains more than zeros.
    pub fn vary(&self) -> bool {
        self.inputs.iter().any(|input| matches!(input.fill, Fill::From(_)))
    }

    /// How the targets are compared.
    pub fn judged(&self) -> impl Iterator<Item = Judged> {
        let colors = self.colors.iter().map(|(format, closeness)| judged_of(format, *closeness));
        colors.chain(self.depth.map(|_| judged_of("d32", Closeness::Same)))
    }

    /// The scene with the inputs of one pattern and no vertex shader yet; `None` without targets.
    pub fn make(&self, pattern: Pattern) -> Option<Scene> {
        let target = Target {
            colors: self.colors.iter().map(|(format, _)| self.image(format, &[0; 4])).collect(),
            depth: self.depth.map(|depth| self.image("d32", &depth.to_le_bytes())),
            multiview: self.multiview,
        };
        target.images().next()?;
        Some(Scene {
            vertex: Vec::new(),
            between: Vec::new(),
            attributes: self.inputs.iter().map(|input| self.attribute(input, pattern)).collect(),
            topology: self.topology,
            vertices: self.vertices.clone(),
            instances: self.instances.clone(),
            meshes: self.meshes,
            target,
            dual_source: self.dual_source,
        })
    }

    /// An image with one word everywhere.
    fn image(&self, format: &str, word: &[u8; 4]) -> Image {
        let view = if self.layers > 1 { View::PlaneArray } else { View::Plane };
        let (size, layers, samples) = (self.size, self.layers, self.samples);
        let mut image = Image { format: format.to_owned(), view, size, layers, levels: 1, samples, data: Vec::new() };
        let bytes = image.texels() * bytes_of(format).unwrap_or(4);
        image.data = word.iter().copied().cycle().take(bytes).collect();
        image
    }

    fn attribute(&self, input: &Input, pattern: Pattern) -> Attribute {
        let last = if input.rate == Rate::Vertex { self.vertices.end } else { self.instances.end };
        let bytes = last as usize * bytes_of(&input.format).unwrap_or(4);
        let data = input.fill.bytes(pattern, 1000 + input.location, bytes);
        Attribute { location: input.location, format: input.format.clone(), rate: input.rate, data }
    }
}

/// `3` or `4..7`.
fn range(word: &str) -> Option<Range<u32>> {
    match word.split_once("..") {
        Some((start, end)) => Some(start.parse().ok()?..end.parse().ok()?),
        None => Some(0..word.parse().ok()?),
    }
}

fn topology(name: &str) -> Option<Topology> {
    match name {
        "points" => Some(Topology::Points),
        "lines" => Some(Topology::Lines),
        "triangles" => Some(Topology::Triangles),
        "strip" => Some(Topology::Strip),
        "adjacent" => Some(Topology::Adjacent),
        _ => name.strip_prefix("patches=")?.parse().ok().map(Topology::Patches),
    }
}
