//! The bindings of a run, at the places given by a program's reflection: buffers, local parameters, textures and
//! images.

use crate::device::{Image, ImageKind, Resources, Sampler, View};
use crosslane::backend::nv::Reflection;
use crosslane::backend::nv::reflection::{self, BindingKind, ImageBinding};

use super::pictures::{packed, unpacked};
use super::sample::NEAREST;
use super::{Memory, Picture, Pictures, parameters};
use crate::lavapipe::{Buffers, Request, to_words};

/// Everything of one run.
pub struct Bound<'r> {
    reflection: &'r Reflection,
    buffers: Buffers,
    resources: Resources,
    pub memory: Memory,
}

impl<'r> Bound<'r> {
    pub fn new(reflection: &'r Reflection, request: &Request, run: usize) -> Result<Self, String> {
        let buffers = request.runs.get(run).cloned().ok_or("there is no such run")?;
        let resources = request.others.get(run).cloned().unwrap_or_default();
        let mut words = parameters(reflection, request, &buffers);
        if let Some(scene) = request.scenes.get(run) {
            let firsts = [
                (reflection.base_instance_word, scene.instances.start),
                (reflection.base_vertex_word, scene.vertices.start),
            ];
            firsts.into_iter().for_each(|(word, first)| word.into_iter().for_each(|word| words[word as usize] = first));
        }
        let mut memory =
            Memory { storage: Vec::new(), uniform: Vec::new(), parameters: words, pictures: Pictures::default() };
        for place in &reflection.buffers {
            let words = buffers.get(place.binding as usize).cloned().unwrap_or_default();
            let bytes = words.iter().flat_map(|word| word.to_le_bytes()).collect();
            let list = if place.kind == BindingKind::Storage { &mut memory.storage } else { &mut memory.uniform };
            list.push(bytes);
        }
        for place in &reflection.images {
            let sampler = place.image.sampler.map(|sampler| [sampler.binding, sampler.element]);
            let picture = picture([place.image.binding, place.image.element], sampler, &resources)?;
            let pictures = &mut memory.pictures;
            let is_image = place.image.kind == reflection::ImageKind::Image;
            if is_image { &mut pictures.images } else { &mut pictures.textures }.push(picture);
        }
        Ok(Bound { reflection, buffers, resources, memory })
    }

    /// The contents afterwards, in the order of a [`Request`]'s answers.
    pub fn after(&self) -> Buffers {
        let mut after = self.buffers.clone();
        for place in self.reflection.buffers.iter().filter(|place| place.kind == BindingKind::Storage) {
            after[place.binding as usize] = to_words(&self.memory.storage[place.gl_index as usize]);
        }
        let texels = self.resources.texels.iter().filter(|texels| texels.storage);
        after.extend(texels.map(|it| to_words(&self.left([it.binding, it.element], &it.format, &it.data))));
        let images = self.resources.images.iter().filter(|image| image.kind == ImageKind::Storage);
        after.extend(images.map(|it| to_words(&self.left([it.binding, it.element], &it.image.format, &it.image.data))));
        after
    }

    /// The current bytes of an image; unchanged if the program does not use it.
    fn left(&self, at: [u32; 2], format: &str, before: &[u8]) -> Vec<u8> {
        let is_it = |place: &&ImageBinding| {
            place.image.kind == reflection::ImageKind::Image && [place.image.binding, place.image.element] == at
        };
        let Some(place) = self.reflection.images.iter().find(is_it) else { return before.to_vec() };
        let picture = &self.memory.pictures.images[place.gl_unit as usize];
        if picture.samples > 1 {
            return before.to_vec();
        }
        picture.levels[0].iter().flat_map(|texel| packed(format, *texel)).collect()
    }
}

/// The picture at a binding and element, with the sampler at another binding and element.
pub fn picture(at: [u32; 2], sampler: Option<[u32; 2]>, resources: &Resources) -> Result<Picture, String> {
    if let Some(texels) = resources.texels.iter().find(|texels| [texels.binding, texels.element] == at) {
        let format = texels.format.clone();
        let levels = vec![texels_of(&format, &texels.data)];
        let size = [levels[0].len(), 1, 1];
        return Ok(Picture { target: "BUFFER", size, levels, format, sampler: NEAREST, samples: 1 });
    }
    let found = resources.images.iter().find(|image| [image.binding, image.element] == at).ok_or("nothing is bound")?;
    let apart = sampler.and_then(|sampler| {
        let found = resources.samplers.iter().find(|it| [it.binding, it.element] == sampler);
        found.map(|found| found.sampler)
    });
    let sampler = match found.kind {
        ImageKind::Combined(sampler) => sampler,
        _ => apart.unwrap_or(NEAREST),
    };
    Ok(of_image(&found.image, sampler))
}

fn texels_of(format: &str, bytes: &[u8]) -> Vec<[u32; 4]> {
    bytes.chunks_exact(packed(format, [0; 4]).len()).map(|bytes| unpacked(format, bytes)).collect()
}

fn of_image(image: &Image, sampler: Sampler) -> Picture {
    let [width, height, depth] = image.size.map(|size| size as usize);
    let layers = image.layers as usize;
    let (target, size) = match image.view {
        View::Line => ("1D", [width, 1, 1]),
        View::LineArray => ("ARRAY1D", [width, layers, 1]),
        View::Plane if image.samples > 1 => ("2DMS", [width, height, 1]),
        View::PlaneArray if image.samples > 1 => ("ARRAY2DMS", [width, height, layers]),
        View::Plane => ("2D", [width, height, 1]),
        View::PlaneArray => ("ARRAY2D", [width, height, layers]),
        View::Volume => ("3D", [width, height, depth]),
        View::Cube => ("CUBE", [width, height, 6]),
        View::CubeArray => ("ARRAYCUBE", [width, height, layers]),
    };
    let all = texels_of(&image.format, &image.data);
    let mut rest = &all[..];
    let mut levels = Vec::new();
    for level in 0..image.levels {
        let count = image.size_of(level).iter().product::<u32>() * image.layers;
        let (texels, behind) = rest.split_at(count as usize);
        levels.push(texels.to_vec());
        rest = behind;
    }
    // Images of more samples start as the first texel everywhere.
    let samples = image.samples.max(1) as usize;
    if samples > 1 {
        levels = vec![vec![all[0]; all.len() * samples]];
    }
    Picture { target, size, levels, format: image.format.clone(), sampler, samples }
}
