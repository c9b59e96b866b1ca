//! Moves within a segment that swap lanes in pairs, one row each.
//!
//! Planners, the reference, the descriptions and the notes read the row; the grammar names the move.

use super::plan::AluOp;
use serde::Deserialize;

/// A move that gives lane `i` the value of lane `i ^ mask`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Deserialize)]
pub enum Swap {
    /// `v[i ^ W / 2]`.
    Butterfly,
    /// `v[base + W - 1 - local]`.
    Reverse,
}

/// All properties of a swap.
#[derive(Debug)]
pub struct SwapRow {
    /// Its name in lists of operations.
    pub name: &'static str,
    /// The mask, as an operation on the segment's number of lanes.
    pub mask: (AluOp, u32),
    /// The result in lane `i` of a segment of this many lanes, or of the subgroup if there is no number.
    pub formula: fn(Option<u32>) -> String,
    /// The result as a phrase, in which `{}` is the segment.
    pub words: &'static str,
    /// The effect of a subgroup of another size.
    pub sized: &'static str,
}

impl Swap {
    /// All swaps.
    pub const ALL: [Swap; 2] = [Swap::Butterfly, Swap::Reverse];

    /// Its row of the table.
    pub const fn row(self) -> &'static SwapRow {
        match self {
            Swap::Butterfly => &SwapRow {
                name: "butterfly",
                mask: (AluOp::Shr, 1),
                formula: |lanes| format!("v[i ^ {}]", lanes.map_or("S / 2".into(), |lanes| (lanes / 2).to_string())),
                words: "the value of the lane half a segment away, in {}",
                sized: "from the lane half a subgroup away",
            },
            Swap::Reverse => &SwapRow {
                name: "reverse",
                mask: (AluOp::Sub, 1),
                formula: |lanes| match lanes {
                    Some(lanes) => format!("v[base + {} - local]", lanes - 1),
                    None => "v[S - 1 - i]".into(),
                },
                words: "the value of the mirrored lane in {}",
                sized: "from the lane as far from the other end of the subgroup",
            },
        }
    }

    /// Bits of a lane's number that change in a segment of this many lanes.
    pub const fn mask(self, lanes: u32) -> u32 {
        match self.row().mask {
            (AluOp::Shr, by) => lanes >> by,
            (AluOp::Sub, by) => lanes - by,
            _ => panic!("a swap's mask is a shift or a difference"),
        }
    }
}
