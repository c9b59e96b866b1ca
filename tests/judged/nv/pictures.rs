//! Scenes in the text's interpreter: dispatches that address texels, compared with formulas.

use std::collections::BTreeMap;

use support::device::gl::{Scene, Shape, Texture};

use super::PROFILE;
use super::scenes::{Case, alike};
use support::lavapipe::Request;
use support::nv::{self, Picture, Pictures, pictures::kept, sample::NEAREST};

/// A texel as four words.
type Texel = [u32; 4];

/// A formula: the expected contents of the buffer, and of the images that the case writes.
type Formula = fn(&Case, &[Picture]) -> (Vec<Texel>, BTreeMap<usize, Vec<Texel>>);

/// Invocations in each dimension.
const SIDE: usize = 8;

/// The formula of a case, if it has one.
pub fn formula(case: &Case) -> Option<Formula> {
    match &case.name[..] {
        "texels" => Some(texels),
        "shapes" => Some(shapes),
        name if name.starts_with("format_") => Some(format),
        _ => None,
    }
}

/// Runs a case's text and compares the results with its formula.
pub fn against_formula(case: &Case, formula: Formula) -> Result<(), String> {
    let programs = case.programs(PROFILE)?;
    let program = programs.first().ok_or("a program")?;
    let pictures = pictures(case);
    let all: Vec<Picture> = case.scene.textures.iter().map(|texture| picture(case, texture)).collect();
    let (found, images) = formula(case, &all);
    let buffers = vec![vec![0; case.scene.storage[0].1.len() / 4]];
    let request = Request::new(Vec::new(), 1, vec![buffers]);
    let (after, left) = nv::run_with(&program.text, &program.reflection, &request, pictures)?;
    let words: Vec<u32> = found.concat();
    alike(&bytes(&after[0]), &bytes(&words)).map_err(|why| format!("buffer: {why}"))?;
    for (number, expected) in images {
        let left = left[number].levels[0].concat();
        alike(&bytes(&left), &bytes(&expected.concat())).map_err(|why| format!("image {number}: {why}"))?;
    }
    Ok(())
}

fn bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// The bound textures and images, by unit: bindings are numbered from 0.
fn pictures(case: &Case) -> Pictures {
    let Scene { textures, .. } = &case.scene;
    let of = |is_image| textures.iter().filter(move |it| it.is_image == is_image).map(|it| picture(case, it)).collect();
    Pictures { textures: of(false), images: of(true) }
}

fn picture(case: &Case, texture: &Texture) -> Picture {
    let target = match texture.shape {
        Shape::D1 => "1D",
        Shape::D1Array => "ARRAY1D",
        Shape::D2 => "2D",
        Shape::D2Array => "ARRAY2D",
        Shape::D3 => "3D",
        Shape::Cube => "CUBE",
        Shape::CubeArray => "ARRAYCUBE",
        Shape::Rect => "RECT",
        Shape::Buffer => "BUFFER",
    };
    let format = case.format();
    let texels = |level: &Vec<u8>| {
        let words: Vec<u32> = level.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect();
        let texel = |four: &[u32]| [four[0], four[1], four[2], four[3]];
        words.chunks_exact(4).map(texel).map(|it| if texture.is_image { kept(format, it) } else { it }).collect()
    };
    let size = texture.size.map(|size| size as usize);
    Picture {
        target,
        size,
        levels: texture.levels.iter().map(texels).collect(),
        format: format.to_owned(),
        sampler: NEAREST,
        samples: 1,
    }
}

/// Every invocation's position.
fn places() -> impl Iterator<Item = (usize, usize)> {
    (0..SIDE).flat_map(|y| (0..SIDE).map(move |x| (x, y)))
}

fn floats(values: [usize; 4]) -> Texel {
    values.map(|value| (value as f32).to_bits())
}

fn sum(a: Texel, b: Texel) -> Texel {
    std::array::from_fn(|n| (f32::from_bits(a[n]) + f32::from_bits(b[n])).to_bits())
}

fn plus(a: Texel, by: f32) -> Texel {
    a.map(|word| (f32::from_bits(word) + by).to_bits())
}

fn texels(_: &Case, bound: &[Picture]) -> (Vec<Texel>, BTreeMap<usize, Vec<Texel>>) {
    let texel = |n: usize, level: usize, at: usize| bound[n].levels[level][at];
    let of = |(x, y): (usize, usize)| {
        [
            texel(0, 1, y + 8 * x),
            texel(1, 0, x + 8 * y + 128).map(|word| (word as i32 as f32).to_bits()),
            texel(2, 0, x + 8 * y).map(|word| (word as f32).to_bits()),
            sum(texel(3, 0, x + 16), texel(5, 0, x + 8 * y)),
            texel(4, 1, x / 2 + 4 * (y / 2) + 48),
            texel(0, 1, x + 8 * y),
            floats([8, 8, 3, 8]),
            floats([16, 3, 4, 64]),
        ]
    };
    (places().flat_map(of).collect(), BTreeMap::new())
}

fn format(case: &Case, bound: &[Picture]) -> (Vec<Texel>, BTreeMap<usize, Vec<Texel>>) {
    let read = bound[0].levels[0].clone();
    let mut written = vec![[0; 4]; SIDE * SIDE];
    for (x, y) in places() {
        let [a, b, c, d] = read[x + SIDE * y];
        written[y + SIDE * x] = kept(case.format(), [d, c, b, a]);
    }
    (read, BTreeMap::from([(1, written)]))
}

fn shapes(_: &Case, bound: &[Picture]) -> (Vec<Texel>, BTreeMap<usize, Vec<Texel>>) {
    let before: Vec<Vec<Texel>> = bound.iter().map(|picture| picture.levels[0].clone()).collect();
    let mut after = before.clone();
    let mut found = Vec::new();
    for (x, y) in places() {
        let flat = x + SIDE * y;
        let face = SIDE * SIDE;
        let first = [before[1][x + SIDE * (y & 1)], before[2][flat + face], before[3][flat + 2 * face]];
        let others = [before[4][flat + 4 * face], before[5][flat + 9 * face]];
        let six = first.into_iter().fold(before[0][x], sum);
        let six = sum(six, others[0]);
        let six = sum(six, others[1]);
        let eight = sum(sum(six, before[6][flat]), before[7][flat]);
        found.extend([eight, floats([8, 8, 3, 64]), floats([8, 8, 3, 8]), floats([4, 8, 8, 2])]);
        if y == 0 {
            after[0][x] = floats([x; 4]);
        }
        if y < 2 {
            after[1][x + SIDE * y] = floats([x, y, 1, 2]);
        }
        after[2][flat] = six;
        after[3][y + SIDE * x + 3 * face] = plus(six, 1.0);
        after[4][flat + 5 * face] = plus(six, 2.0);
        after[5][flat + 11 * face] = plus(six, 3.0);
        after[6][flat] = plus(six, 4.0);
        after[7][y + SIDE * x] = plus(six, 5.0);
    }
    (found, after.into_iter().enumerate().collect())
}
