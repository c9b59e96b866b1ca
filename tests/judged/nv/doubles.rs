//! 64-bit attributes in the text's interpreter, compared with the contents of their buffers: lavapipe reads zeros
//! there.

use super::PROFILE;
use super::graphics;
use support::lavapipe::to_words;
use support::nv;

/// The fixture whose vertex shader has such attributes; it draws flat values from the first vertex.
const FIXTURE: &str = "vertex_doubles.frag";

pub fn check() -> Result<(), String> {
    let case = graphics::cases()?.into_iter().find(|case| case.name == FIXTURE).ok_or("the fixture is gone")?;
    let programs = <[_; 2]>::try_from(case.programs(PROFILE)?).map_err(|_| "a draw has two programs")?;
    (0..case.request.runs.len()).try_for_each(|run| {
        let left = nv::draw::run(&programs, &case.request, run)?;
        let attributes = case.request.scenes[run].attributes.iter();
        let words: Vec<Vec<u32>> = attributes.map(|attribute| to_words(&attribute.data)).collect();
        for (n, expected) in expected(&words).iter().enumerate() {
            if left[n].chunks(expected.len()).any(|texel| texel != expected) {
                return Err(format!("run {run}, attachment {n}: {:x?} and should be {expected:x?}", &left[n][..8]));
            }
        }
        Ok(())
    })
}

/// The texel of each attachment: two doubles, the only one and the third of four, and a sum of the first and the
/// fourth.
fn expected(words: &[Vec<u32>]) -> [Vec<u32>; 3] {
    let [pair, one, four] = [0, 1, 2].map(|n| &words[n]);
    let double = |at: usize| f64::from_bits(u64::from(four[at]) | u64::from(four[at + 1]) << 32);
    let sum = (double(0) + double(6) * 0.5) as f32;
    [pair[..4].to_vec(), [&one[..2], &four[4..6]].concat(), vec![sum.to_bits()]]
}
