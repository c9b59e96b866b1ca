//! A draw or a dispatch with textures and buffers: from bytes to bytes, both for assembly programs and for the driver's
//! own shaders.

use super::Painter;
use super::draw::{Draw, draw};
use super::shader::{Shader, Using};
use super::texture::{Shape, Spot, Texture, Textures};
use crosslane::backend::nv::reflection::{
    FRAGMENT_PROGRAM, Image, ImageBinding, ImageKind, SamplerBinding, VERTEX_PROGRAM,
};
use crosslane::run::gl::{Buffers, Program};
use crosslane::run::{BufferBinding, RunError};
use serde::{Deserialize, Serialize};

/// Resources of a run, which replaces them by their contents after it.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Scene {
    pub draw: Draw,
    /// Workgroups, of a dispatch.
    pub groups: [u32; 3],
    pub push: Vec<u8>,
    pub textures: Vec<Texture>,
    /// Contents of the storage buffers at set 0 and these bindings.
    pub storage: Vec<(u32, Vec<u8>)>,
    pub uniform: Vec<(u32, Vec<u8>)>,
    /// The contents of each attachment after the draw, then the depth.
    pub drawn: Vec<Vec<u8>>,
}

/// The programs of a run.
pub enum Programs<'p, 'd> {
    /// A compute program, or a vertex and a fragment program.
    Assembly(&'p [Program<'d>]),
    Glsl(&'p Shader<'d>),
}

impl Painter {
    /// Runs a scene.
    ///
    /// # Errors
    /// Returns [`RunError`]; the scene may then be partly changed.
    pub fn run_scene(&self, programs: &Programs<'_, '_>, scene: &mut Scene) -> Result<(), RunError> {
        let mut buffers: Vec<BufferBinding> = Vec::new();
        buffers.extend(scene.storage.iter().map(|(binding, data)| BufferBinding::storage(0, *binding, data.clone())));
        buffers.extend(scene.uniform.iter().map(|(binding, data)| BufferBinding::uniform(0, *binding, data.clone())));
        let (bound, mut texels) = (programs.bind(scene, &buffers)?, Buffers::new(&self.device));
        let mut textures = Textures::new(self);
        let mut names = Vec::new();
        for texture in &scene.textures {
            let name = textures.add(texture, |bytes| texels.add(bytes))?;
            names.push(name);
            programs.units(texture).into_iter().try_for_each(|unit| textures.bind(name, texture, unit))?;
        }
        programs.with(self, || match scene.groups {
            [0, ..] => draw(self, &scene.draw).map(|drawn| scene.drawn = drawn),
            groups => self.device.dispatch(groups).and_then(|()| self.device.wait()),
        })?;
        bound.iter().try_for_each(|bound| bound.read_all(&mut buffers))?;
        for ((_, data), buffer) in scene.storage.iter_mut().zip(buffers) {
            *data = buffer.data;
        }
        read_textures(&textures, &texels, &names, &mut scene.textures)
    }
}

/// Reads the contents of images, and of the buffers that images show.
fn read_textures(
    textures: &Textures<'_>,
    texels: &Buffers<'_>,
    names: &[u32],
    list: &mut [Texture],
) -> Result<(), RunError> {
    let shown = list.iter().filter(|texture| texture.shape == Shape::Buffer);
    let first = |texture: &Texture| texture.levels.first().cloned().unwrap_or_default();
    let mut buffers: Vec<BufferBinding> = shown.map(|texture| BufferBinding::storage(0, 0, first(texture))).collect();
    texels.read_all(&mut buffers)?;
    let mut shown = buffers.into_iter();
    for (texture, name) in list.iter_mut().zip(names) {
        if texture.shape == Shape::Buffer {
            texture.levels = shown.next().map(|buffer| buffer.data).into_iter().collect();
        } else if texture.is_image {
            textures.read(*name, texture)?;
        }
    }
    Ok(())
}

impl<'d> Programs<'_, 'd> {
    /// Binds buffers and sets parameters.
    fn bind(&self, scene: &Scene, buffers: &[BufferBinding]) -> Result<Vec<Buffers<'d>>, RunError> {
        match self {
            Programs::Assembly(programs) => {
                let first = [scene.draw.vertices.start, scene.draw.instances.start];
                programs.iter().map(|program| program.bind(&scene.push, buffers, first)).collect()
            }
            Programs::Glsl(shader) => shader.bind(buffers).map(|bound| vec![bound]),
        }
    }

    /// The units for a texture: in the driver's own shader, those of its bindings.
    fn units(&self, texture: &Texture) -> Vec<u32> {
        match self {
            Programs::Assembly(programs) => programs.iter().flat_map(|program| units(program, texture)).collect(),
            Programs::Glsl(_) => vec![texture.at.binding + texture.at.element],
        }
    }

    /// Runs something while the programs are in use.
    fn with(&self, painter: &Painter, run: impl FnOnce() -> Result<(), RunError>) -> Result<(), RunError> {
        match self {
            Programs::Glsl(shader) => {
                let _using = Using::new(shader);
                run()
            }
            Programs::Assembly(programs) => {
                programs.iter().for_each(Program::enable);
                let outcome = run();
                for target in [VERTEX_PROGRAM, FRAGMENT_PROGRAM] {
                    // SAFETY: a context is current.
                    unsafe { (painter.gl.glDisable)(target) };
                }
                outcome
            }
        }
    }
}

/// The units for a texture in an assembly program.
fn units<'p>(program: &'p Program<'_>, texture: &Texture) -> impl Iterator<Item = u32> + use<'p> {
    let wanted = (texture.at, texture.sampler, texture.is_image);
    let is_it = move |place: &&ImageBinding| {
        let Image { set, binding, element, ref sampler, kind, .. } = place.image;
        let sampler = sampler.map(|SamplerBinding { set, binding, element }| Spot { set, binding, element });
        (Spot { set, binding, element }, sampler, kind == ImageKind::Image) == wanted
    };
    program.reflection().images.iter().filter(is_it).map(|place| place.gl_unit)
}
