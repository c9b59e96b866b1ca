//! Draws with a vertex and a fragment program: vertices, coverage, fragments in quads, and targets.
//!
//! One sample per pixel, one draw without views, positions in front of the eye. Fragments of a primitive run together,
//! eight quads per warp; a quad that a primitive touches has all four lanes, with helpers outside the primitive.

use std::collections::BTreeMap;

use crate::device::{Rate, Topology};
use crosslane::backend::nv::Program;

use super::machine::{Around, Inputs, Machine, Mask, Row};
use super::parse;
use super::pictures::{kept, packed, unpacked};
use super::resources::Bound;
use crate::lavapipe::{Buffers, Request, Scene, to_words};

/// The results of a vertex program.
#[derive(Clone)]
struct Vertex {
    /// The position in pixels, the depth, and one over `w`.
    place: [f32; 3],
    inverse: f32,
    results: BTreeMap<String, [u32; 4]>,
}

/// A point or a triangle, with its number in its instance.
struct Primitive {
    vertices: Vec<Vertex>,
    number: u32,
}

/// Steps of a pixel that places of vertices have.
const STEPS: f32 = 256.0;

/// The buffers, images and attachments after one run.
pub fn run(programs: &[Program; 2], request: &Request, number: usize) -> Result<Buffers, String> {
    let [vertex, fragment] = programs;
    let scene = request.scenes.get(number).ok_or("nothing is drawn")?;
    let first = scene.target.images().next().ok_or("nothing is drawn into")?;
    if first.samples > 1 || scene.target.multiview {
        return Err("samples and views are not interpreted".to_owned());
    }
    let vertices = vertices(vertex, request, number, scene)?;
    let parsed = parse::program(&fragment.text)?;
    let mut bound = Bound::new(&fragment.reflection, request, number)?;
    let mut target = Target::new(scene);
    for primitive in primitives(scene, &vertices)? {
        target.draw(&parsed, &mut bound, &primitive)?;
    }
    let mut after = bound.after();
    after.extend(target.bytes().iter().map(|bytes| to_words(bytes)));
    Ok(after)
}

// Vertices.

/// The vertices of every instance, one after the other.
fn vertices(program: &Program, request: &Request, number: usize, scene: &Scene) -> Result<Vec<Vertex>, String> {
    let parsed = parse::program(&program.text)?;
    let mut bound = Bound::new(&program.reflection, request, number)?;
    let numbers: Vec<(u32, u32)> = scene
        .instances
        .clone()
        .flat_map(|instance| scene.vertices.clone().map(move |vertex| (vertex, instance)))
        .collect();
    let row = |of: &dyn Fn((u32, u32)) -> u32| vec![numbers.iter().map(|both| u64::from(of(*both))).collect::<Row>()];
    let named = BTreeMap::from([
        ("vertex.id".to_owned(), row(&|(vertex, _)| vertex)),
        ("vertex.instance".to_owned(), row(&|(_, instance)| instance - scene.instances.start)),
    ]);
    let around = Around { named, ..Around::default() };
    let mut machine = Machine::with_lanes(&parsed, &mut bound.memory, numbers.len(), [[0; 3]; 2], around);
    for attribute in &parsed.attributes {
        let given = scene.attributes.iter().find(|given| given.location as usize == attribute.number);
        let given = given.ok_or("an attribute has no values")?;
        let is_long = attribute.qualifiers.contains("LONG");
        let letters = given.format.chars().take_while(char::is_ascii_alphabetic).count();
        let bytes = if is_long { letters * 8 } else { packed(&given.format, [0; 4]).len() };
        let value = |(vertex, instance): (u32, u32)| {
            let at = if given.rate == Rate::Vertex { vertex } else { instance } as usize;
            let value = &given.data[at * bytes..][..bytes];
            if is_long { longs(value) } else { unpacked(&given.format, value).map(u64::from) }
        };
        for component in 0..4 {
            let row = numbers.iter().map(|both| value(*both)[component]).collect();
            machine.preset(attribute.first + component, row);
        }
    }
    machine.run()?;
    let words = |lane: usize| -> BTreeMap<String, [u32; 4]> {
        let word = |first: usize| std::array::from_fn(|n| machine.register(first + n)[lane] as u32);
        parsed.results.iter().map(|(name, first)| (name.clone(), word(*first))).collect()
    };
    Ok((0..numbers.len()).map(|lane| placed(words(lane), scene)).collect())
}

/// The components of a 64-bit float value; missing ones are 0, 0 and 1.
fn longs(bytes: &[u8]) -> [u64; 4] {
    let mut out = [0, 0, 0, 1.0_f64.to_bits()];
    for (component, bytes) in out.iter_mut().zip(bytes.chunks_exact(8)) {
        *component = bytes.iter().rev().fold(0, |all, byte| all << 8 | u64::from(*byte));
    }
    out
}

fn placed(results: BTreeMap<String, [u32; 4]>, scene: &Scene) -> Vertex {
    let [x, y, z, w] = results.get("result.position").copied().unwrap_or_default().map(f32::from_bits);
    let size = scene.target.images().next().map_or([1; 3], |image| image.size);
    let place = |value: f32, size: u32| (value / w + 1.0) / 2.0 * size as f32;
    Vertex { place: [place(x, size[0]), place(y, size[1]), z / w], inverse: 1.0 / w, results }
}

fn primitives(scene: &Scene, vertices: &[Vertex]) -> Result<Vec<Primitive>, String> {
    let mut list = Vec::new();
    for instance in vertices.chunks(scene.vertices.len().max(1)) {
        let triangle = |n: usize, [a, b, c]: [usize; 3]| Primitive {
            vertices: [a, b, c].map(|at| instance[at].clone()).to_vec(),
            number: n as u32,
        };
        match scene.topology {
            Topology::Points => {
                let point =
                    |(n, vertex): (usize, &Vertex)| Primitive { vertices: vec![vertex.clone()], number: n as u32 };
                list.extend(instance.iter().enumerate().map(point));
            }
            Topology::Triangles => {
                list.extend((0..instance.len() / 3).map(|n| triangle(n, [3 * n, 3 * n + 1, 3 * n + 2])))
            }
            // Every other triangle is reversed, so that all face the same way; the first vertex stays.
            Topology::Strip => list.extend(
                (0..instance.len().saturating_sub(2))
                    .map(|n| triangle(n, if n % 2 == 0 { [n, n + 1, n + 2] } else { [n, n + 2, n + 1] })),
            ),
            Topology::Lines | Topology::Adjacent | Topology::Patches(_) => {
                return Err("lines and patches are not interpreted".to_owned());
            }
        }
    }
    Ok(list)
}

// Coverage.

impl Primitive {
    /// Twice the area; its sign gives the facing.
    fn area(&self) -> f32 {
        let [a, b, c] = [0, 1, 2].map(|n| self.vertices[n].place);
        (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
    }

    fn is_point(&self) -> bool {
        self.vertices.len() == 1
    }

    fn point_size(&self) -> f32 {
        self.word("result.pointsize", 0).map_or(1.0, f32::from_bits)
    }

    fn word(&self, name: &str, component: usize) -> Option<u32> {
        self.vertices[0].results.get(name).map(|words| words[component])
    }

    /// The vertices' weights at a position, in the plane of the screen.
    fn shares(&self, [x, y]: [f32; 2]) -> [f32; 3] {
        if self.is_point() {
            return [1.0, 0.0, 0.0];
        }
        let area = self.area();
        let side = |a: usize, b: usize| {
            let (a, b) = (self.vertices[a].place, self.vertices[b].place);
            ((b[0] - a[0]) * (y - a[1]) - (b[1] - a[1]) * (x - a[0])) / area
        };
        [side(1, 2), side(2, 0), side(0, 1)]
    }

    /// Returns true if the primitive covers the middle of a pixel: positions are rounded to steps, and of two triangles
    /// that share an edge only one covers the pixels on it.
    fn covers(&self, x: u32, y: u32) -> bool {
        let here = [x as f32 + 0.5, y as f32 + 0.5];
        if self.is_point() {
            let (center, half) = (self.vertices[0].place, self.point_size() / 2.0);
            return (0..2).all(|n| (center[n] - half..center[n] + half).contains(&here[n]));
        }
        let step = |value: f32| f64::from((value * STEPS).round());
        let corners = [0, 1, 2].map(|n| [step(self.vertices[n].place[0]), step(self.vertices[n].place[1])]);
        let here = here.map(|value| f64::from(value * STEPS));
        let turn = if self.area() < 0.0 { -1.0 } else { 1.0 };
        [(0, 1), (1, 2), (2, 0)].into_iter().all(|(a, b)| {
            let (a, b) = if turn < 0.0 { (corners[b], corners[a]) } else { (corners[a], corners[b]) };
            let side = (b[0] - a[0]) * (here[1] - a[1]) - (b[1] - a[1]) * (here[0] - a[0]);
            let owns = (a[1] == b[1] && b[0] > a[0]) || b[1] < a[1];
            side > 0.0 || side == 0.0 && owns
        })
    }

    /// A component of a result, interpolated at a position.
    fn interpolated(&self, name: &str, component: usize, qualifiers: &str, place: [f32; 2]) -> u32 {
        if qualifiers.contains("FLAT") || self.is_point() {
            return self.word(name, component).unwrap_or_default();
        }
        let value = |n: usize| {
            let words = self.vertices[n].results.get(name).copied().unwrap_or_default();
            f32::from_bits(words[component])
        };
        let shares = self.shares(place);
        let linear = qualifiers.contains("NOPERSPECTIVE");
        let weight = |n: usize| if linear { shares[n] } else { shares[n] * self.vertices[n].inverse };
        let total: f32 = (0..3).map(weight).sum();
        ((0..3).map(|n| value(n) * weight(n)).sum::<f32>() / total).to_bits()
    }

    fn depth(&self, place: [f32; 2]) -> f32 {
        let shares = self.shares(place);
        self.vertices.iter().zip(shares).map(|(vertex, share)| vertex.place[2] * share).sum()
    }

    fn inverse(&self, place: [f32; 2]) -> f32 {
        self.vertices.iter().zip(self.shares(place)).map(|(vertex, share)| vertex.inverse * share).sum()
    }

    /// Returns true if all vertices are beyond one cull plane (OpenGL 4.6, section 13.5).
    fn is_culled(&self) -> bool {
        let planes = (0..8).map(|n| format!("result.cull[{n}]"));
        let distance = |vertex: &Vertex, name: &String| vertex.results.get(name).map(|words| f32::from_bits(words[0]));
        let is_beyond = |name: &String, vertex: &Vertex| distance(vertex, name).is_some_and(|distance| distance < 0.0);
        planes.into_iter().any(|name| self.vertices.iter().all(|vertex| is_beyond(&name, vertex)))
    }

    /// Returns true if no plane clips a position.
    fn is_kept(&self, place: [f32; 2]) -> bool {
        let planes = (0..8).map(|n| format!("result.clip[{n}]"));
        let mut planes = planes.filter(|name| self.vertices[0].results.contains_key(name));
        planes.all(|name| f32::from_bits(self.interpolated(&name, 0, "", place)) >= 0.0)
    }
}

// Fragments.

/// The target of a draw: four words per pixel, layer by layer.
struct Target<'s> {
    scene: &'s Scene,
    size: [u32; 2],
    colours: Vec<Vec<[u32; 4]>>,
    depth: Option<Vec<f32>>,
}

impl<'s> Target<'s> {
    fn new(scene: &'s Scene) -> Self {
        let [width, height, _] = scene.target.images().next().map_or([1; 3], |image| image.size);
        let colours = scene.target.colors.iter().map(|image| vec![kept(&image.format, [0; 4]); image.texels()]);
        let depth =
            scene.target.depth.as_ref().map(|image| {
                image.data.chunks_exact(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect()
            });
        Target { scene, size: [width, height], colours: colours.collect(), depth }
    }

    fn bytes(&self) -> Vec<Vec<u8>> {
        let images = self.scene.target.colors.iter().zip(&self.colours);
        let colours =
            images.map(|(image, texels)| texels.iter().flat_map(|texel| packed(&image.format, *texel)).collect());
        let depth = self.depth.iter().map(|depths| depths.iter().flat_map(|depth| depth.to_le_bytes()).collect());
        colours.chain(depth).collect()
    }

    /// Runs the fragments of a primitive and stores their results.
    fn draw(&mut self, program: &parse::Program, bound: &mut Bound, primitive: &Primitive) -> Result<(), String> {
        if primitive.is_culled() {
            return Ok(());
        }
        let layer = primitive.word("result.layer", 0).unwrap_or(0);
        let early = program.options.iter().any(|option| option == "NV_early_fragment_tests");
        let covered = |at: &[u32; 2]| {
            let [x, y] = *at;
            let is_inside = x < self.size[0] && y < self.size[1];
            let place = [x as f32 + 0.5, y as f32 + 0.5];
            is_inside
                && primitive.covers(x, y)
                && primitive.is_kept(place)
                && (!early || self.passes(layer, *at, primitive.depth(place)))
        };
        let mut lanes: Vec<[u32; 2]> = Vec::new();
        let quads =
            (0..self.size[1].div_ceil(2)).flat_map(|y| (0..self.size[0].div_ceil(2)).map(move |x| [2 * x, 2 * y]));
        for [x, y] in quads {
            let quad = [[x, y], [x + 1, y], [x, y + 1], [x + 1, y + 1]];
            if quad.iter().any(covered) {
                lanes.extend(quad);
            }
        }
        if lanes.is_empty() {
            return Ok(());
        }
        let helpers: Mask = lanes.iter().map(|at| !covered(at)).collect();
        let around = around(primitive, program, &lanes, helpers, layer);
        let mut machine = Machine::with_lanes(program, &mut bound.memory, lanes.len(), [[0; 3]; 2], around);
        for attribute in &program.attributes {
            for component in 0..4 {
                let inputs = machine.around.inputs.as_ref().ok_or("fragments have inputs")?;
                let row = (0..lanes.len()).map(|lane| u64::from(inputs(attribute.number, component, lane, [0.0; 2])));
                let row = row.collect();
                machine.preset(attribute.first + component, row);
            }
        }
        machine.run()?;
        let left: Vec<usize> = (0..lanes.len()).filter(|lane| !machine.helpers()[*lane]).collect();
        let word = |name: &str, lane: usize| -> Option<[u32; 4]> {
            let first = *program.results.get(name)?;
            Some(std::array::from_fn(|n| machine.register(first + n)[lane] as u32))
        };
        for lane in left {
            let place = lanes[lane].map(|at| at as f32 + 0.5);
            let depth = word("result.depth", lane).map_or(primitive.depth(place), |words| f32::from_bits(words[2]));
            let colour = |n: usize, part: &str| {
                let plain = if n == 0 { "result.color".to_owned() } else { format!("result.color[{n}]") };
                word(&(plain + part), lane)
            };
            let all: Vec<_> = (0..self.colours.len()).map(|n| [colour(n, ""), colour(n, ".secondary")]).collect();
            self.take(layer, lanes[lane], depth, early, &all);
        }
        Ok(())
    }

    fn index(&self, layer: u32, [x, y]: [u32; 2]) -> usize {
        ((layer * self.size[1] + y) * self.size[0] + x) as usize
    }

    fn passes(&self, layer: u32, at: [u32; 2], depth: f32) -> bool {
        self.depth.as_ref().is_none_or(|depths| depth <= depths[self.index(layer, at)])
    }

    /// Tests a fragment and stores its results.
    fn take(&mut self, layer: u32, at: [u32; 2], depth: f32, tested: bool, colours: &[[Option<[u32; 4]>; 2]]) {
        let index = self.index(layer, at);
        if !tested && !self.passes(layer, at, depth) {
            return;
        }
        self.depth.iter_mut().for_each(|depths| depths[index] = depth);
        for (n, [primary, secondary]) in colours.iter().enumerate() {
            let Some(words) = primary else { continue };
            let format = &self.scene.target.colors[n].format;
            let before = self.colours[n][index];
            let blended = |at: usize| match secondary.filter(|_| self.scene.dual_source) {
                Some(factor) => {
                    let [new, old, factor] = [words[at], before[at], factor[at]].map(f32::from_bits);
                    (new + old * factor).to_bits()
                }
                None => words[at],
            };
            self.colours[n][index] = kept(format, std::array::from_fn(blended));
        }
    }
}

/// The environment of a primitive's fragments.
fn around(primitive: &Primitive, program: &parse::Program, lanes: &[[u32; 2]], helpers: Mask, layer: u32) -> Around {
    let float = |value: f32| u64::from(value.to_bits());
    let row =
        |of: &dyn Fn([f32; 2]) -> u64| -> Row { lanes.iter().map(|at| of(at.map(|at| at as f32 + 0.5))).collect() };
    let position = [
        row(&|place| float(place[0])),
        row(&|place| float(place[1])),
        row(&|place| float(primitive.depth(place))),
        row(&|place| float(primitive.inverse(place))),
    ];
    let is_front = primitive.is_point() || primitive.area() > 0.0;
    let facing = row(&|_| float(if is_front { 1.0 } else { -1.0 }));
    let corner = |n: usize| primitive.vertices[0].place[n] - primitive.point_size() / 2.0;
    let within = |n: usize| row(&|place| float((place[n] - corner(n)) / primitive.point_size()));
    let viewport = primitive.word("result.viewport", 0).unwrap_or(0);
    let thread = (0..lanes.len() as u64).map(|lane| lane % 32).collect();
    let mut named = BTreeMap::from([
        ("fragment.position".to_owned(), position.to_vec()),
        ("fragment.facing".to_owned(), vec![facing]),
        ("fragment.pointcoord".to_owned(), vec![within(0), within(1)]),
        ("fragment.threadid".to_owned(), vec![thread]),
        ("fragment.layer".to_owned(), vec![row(&|_| layer.into())]),
        ("fragment.viewport".to_owned(), vec![row(&|_| viewport.into())]),
        ("fragment.sampleid".to_owned(), vec![row(&|_| 0)]),
        ("fragment.samplemask".to_owned(), vec![helpers.iter().map(|helps| u64::from(!helps)).collect()]),
        ("primitive.id".to_owned(), vec![row(&|_| primitive.number.into())]),
    ]);
    for (n, kind) in (0..8).flat_map(|n| ["clip", "cull"].map(|kind| (n, kind))) {
        let name = format!("result.{kind}[{n}]");
        let distance = row(&|place| primitive.interpolated(&name, 0, "", place).into());
        named.insert(format!("fragment.{kind}[{n}]"), vec![distance]);
    }
    Around { named, inputs: Some(inputs(primitive, program, lanes)), helpers }
}

fn inputs(primitive: &Primitive, program: &parse::Program, lanes: &[[u32; 2]]) -> Inputs {
    let qualifiers: BTreeMap<usize, String> =
        program.attributes.iter().map(|attribute| (attribute.number, attribute.qualifiers.clone())).collect();
    let primitive = Primitive { vertices: primitive.vertices.clone(), number: primitive.number };
    let lanes = lanes.to_vec();
    Box::new(move |number, component, lane, [dx, dy]| {
        let [x, y] = lanes[lane].map(|at| at as f32 + 0.5);
        primitive.interpolated(&format!("result.attrib[{number}]"), component, &qualifiers[&number], [x + dx, y + dy])
    })
}
