//! The plan of a fixture in `fixtures/graphics` as scenes for OpenGL, one for each input pattern.
//!
//! Separately bound textures and samplers become one texture per pair. The driver's own GLSL numbers the units of
//! textures and images separately instead of using bindings, and has a buffer instead of push constants: see
//! [`driver`].

use std::collections::BTreeMap;

use support::device::gl::{Attribute, Draw, Scene, Shape, Spot, Texture};
use support::device::{self, Address, Image, ImageBinding, ImageKind, Resources, Sampler, View};

use super::formats;
use support::lavapipe::{self, Request};

/// The binding of the buffer for push constants in the driver's own GLSL; no fixture has this many buffers.
pub const PUSH: u32 = 15;

const NEAREST: Sampler = Sampler { linear: false, address: Address::Clamp, compare: false };

/// The scenes of a plan; `clip_distances` are as many as the vertex shader writes.
pub fn scenes(request: &Request, clip_distances: u32) -> Result<Vec<Scene>, String> {
    let nothing = Resources::default();
    let one = |(n, buffers): (usize, &Vec<Vec<u32>>)| {
        let resources = request.others.get(n).unwrap_or(&nothing);
        let draw = request.scenes.get(n).map(|scene| draw(scene, clip_distances)).transpose()?;
        let (mut storage, mut uniform) = (Vec::new(), Vec::new());
        for (binding, words) in (0..).zip(buffers) {
            let list = if request.uniforms.contains(&binding) { &mut uniform } else { &mut storage };
            list.push((binding, words.iter().flat_map(|word| word.to_le_bytes()).collect()));
        }
        let groups = if draw.is_some() { [0; 3] } else { request.groups };
        let (textures, push) = (textures(resources)?, request.push_constants.clone());
        Ok(Scene { draw: draw.unwrap_or_default(), groups, push, textures, storage, uniform, drawn: Vec::new() })
    };
    request.runs.iter().enumerate().map(one).collect()
}

fn format(name: &str) -> Result<support::device::gl::Format, String> {
    formats::named(name).ok_or_else(|| format!("OpenGL has no format {name}"))
}

// Draws.

fn draw(scene: &lavapipe::Scene, clip_distances: u32) -> Result<Draw, String> {
    let target = &scene.target;
    let first = target.images().next().ok_or("nothing is drawn into")?;
    let depth =
        target.depth.as_ref().and_then(|image| image.data.first_chunk()).map(|bytes| f32::from_le_bytes(*bytes));
    Ok(Draw {
        size: [first.size[0], first.size[1]],
        layers: if first.view == View::PlaneArray { first.layers } else { 0 },
        samples: first.samples,
        colours: target.colors.iter().map(|image| format(&image.format)).collect::<Result<_, _>>()?,
        depth,
        topology: scene.topology,
        vertices: scene.vertices.clone(),
        instances: scene.instances.clone(),
        attributes: scene.attributes.iter().map(attribute).collect::<Result<_, _>>()?,
        dual_source: scene.dual_source,
        clip_distances,
    })
}

fn attribute(given: &device::Attribute) -> Result<Attribute, String> {
    let name = &given.format[..];
    Ok(Attribute {
        location: given.location,
        components: formats::components(name),
        component: format(name)?.component,
        numbers: formats::numbers(name),
        rate: given.rate,
        bytes: given.data.clone(),
    })
}

// Textures and images.

fn textures(resources: &Resources) -> Result<Vec<Texture>, String> {
    let mut list = Vec::new();
    for texels in &resources.texels {
        let at = Spot { set: texels.set, binding: texels.binding, element: texels.element };
        let image = Image {
            format: texels.format.clone(),
            view: View::Line,
            size: [1; 3],
            layers: 1,
            levels: 1,
            samples: 1,
            data: texels.data.clone(),
        };
        let texture = texture(at, &image, NEAREST)?;
        list.push(Texture {
            is_image: texels.storage,
            shape: Shape::Buffer,
            levels: vec![texels.data.clone()],
            ..texture
        });
    }
    for binding in &resources.images {
        list.extend(bound(binding, resources)?);
    }
    Ok(list)
}

/// An image with its sampler, without one, or with each separately bound sampler.
fn bound(binding: &ImageBinding, resources: &Resources) -> Result<Vec<Texture>, String> {
    let at = Spot { set: binding.set, binding: binding.binding, element: binding.element };
    Ok(match binding.kind {
        ImageKind::Combined(sampler) => vec![texture(at, &binding.image, sampler)?],
        ImageKind::Storage => vec![Texture { is_image: true, ..texture(at, &binding.image, NEAREST)? }],
        ImageKind::Input => vec![texture(at, &binding.image, NEAREST)?],
        ImageKind::Sampled => {
            let mut list = vec![texture(at, &binding.image, NEAREST)?];
            for other in &resources.samplers {
                let sampler = Some(Spot { set: other.set, binding: other.binding, element: other.element });
                list.push(Texture { sampler, ..texture(at, &binding.image, other.sampler)? });
            }
            list
        }
    })
}

fn texture(at: Spot, image: &Image, sampler: Sampler) -> Result<Texture, String> {
    let [width, height, depth] = image.size;
    let (shape, size) = match image.view {
        View::Line => (Shape::D1, [width, 1, 1]),
        View::LineArray => (Shape::D1Array, [width, image.layers, 1]),
        View::Plane => (Shape::D2, [width, height, 1]),
        View::PlaneArray => (Shape::D2Array, [width, height, image.layers]),
        View::Volume => (Shape::D3, [width, height, depth]),
        View::Cube => (Shape::Cube, [width, height, 6]),
        View::CubeArray => (Shape::CubeArray, [width, height, image.layers]),
    };
    Ok(Texture {
        at,
        sampler: None,
        is_image: false,
        shape,
        size,
        format: format(&image.format)?,
        samples: image.samples,
        levels: levels(image),
        linear: sampler.linear,
        address: sampler.address,
        compares: sampler.compare,
    })
}

/// The bytes of each level.
fn levels(image: &Image) -> Vec<Vec<u8>> {
    let bytes = image.data.len() / image.texels().max(1);
    let mut rest = &image.data[..];
    let mut next = |level| {
        let texels = image.size_of(level).iter().product::<u32>() * image.layers;
        let (level, behind) = rest.split_at(rest.len().min(texels as usize * bytes));
        rest = behind;
        level.to_vec()
    };
    (0..image.levels).map(&mut next).collect()
}

// The driver's own GLSL.

/// A scene for the driver's own GLSL, and the unit of each binding of textures and images.
pub fn driver(scene: &Scene) -> (Scene, BTreeMap<u32, u32>) {
    let mut scene = scene.clone();
    let mut units = BTreeMap::new();
    for is_image in [false, true] {
        let mut list: Vec<&mut Texture> = scene.textures.iter_mut().filter(|it| it.is_image == is_image).collect();
        list.sort_by_key(|texture| (texture.at.binding, texture.at.element));
        for (unit, texture) in (0..).zip(list) {
            let first = *units.entry(texture.at.binding).or_insert(unit);
            texture.at = Spot { set: 0, binding: first, element: unit - first };
        }
    }
    if !scene.push.is_empty() {
        scene.storage.push((PUSH, scene.push.clone()));
    }
    (scene, units)
}
