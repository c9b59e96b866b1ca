//! Every primitive against independent formulas from the vendors' documents: shifted arrays, loops over rows and banks,
//! bits combined one by one.

mod amd_dpp;
mod amd_lds;
mod amd_permlane;
mod amd_scalar;
mod legality;
mod nv;
mod sequences;
mod solve;

use super::{Index, Primitive, Source};
use crate::lane::value::Lanes;

/// The source of each lane of a wave.
fn sources(primitive: impl Into<Primitive>, index: &[Index], lanes: Lanes) -> Vec<Source> {
    let primitive = primitive.into();
    let source = |i| primitive.instruction().source(i, index, lanes).expect("a mover");
    (0..lanes.size).map(source).collect()
}

/// Numbers that are random enough and always the same.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, end: u32) -> u32 {
        (self.next() >> 20) as u32 % end
    }
}

/// The full mask, and others with single lanes, first lanes and random lanes active.
fn masks(size: u32) -> Vec<Lanes> {
    let mut random = Random(0x1234_5678_9abc_def1);
    let all = Lanes::full(size).active;
    let chosen = (0..6).map(|_| u128::from(random.next()) & all);
    let fixed = [all, 1, 1 << (size - 1), 0xff, 0x5555_5555_5555_5555 & all, all & !0xf0];
    fixed.into_iter().chain(chosen).map(|active| Lanes { size, active }).collect()
}
