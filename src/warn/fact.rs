//! The facts about a value in the lanes of a subgroup: how many neighbours certainly share it, and the other properties
//! that matter for conditions on the lane index.

use crate::ir::{BuiltIn, ConstId, InstId};
use crate::lane::Width;
use crate::source::Span;

/// In how large groups something is the same.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Alike {
    /// The binary logarithm of the lanes of an aligned segment; [`Alike::WHOLE`] for any subgroup, [`Alike::GROUP`] for
    /// the workgroup.
    pub lanes: u8,
    /// Parameters of the function that it also depends on, one bit each; the last bit represents all further ones.
    pub params: u32,
}

impl Alike {
    /// More than the largest subgroup, of 128 lanes, needs.
    pub const WHOLE: u8 = 8;
    /// All subgroups of the workgroup.
    pub const GROUP: u8 = 9;
    pub const ALL: Alike = Alike::of(Alike::GROUP);
    /// A part without information.
    const UNSET: Alike = Alike::of(u8::MAX);
    pub const LANE: Alike = Alike::of(0);

    pub const fn of(lanes: u8) -> Alike {
        Alike { lanes, params: 0 }
    }

    /// The likeness that depends on parameter `n` alone.
    pub fn param(n: usize) -> Alike {
        Alike { lanes: Alike::GROUP, params: 1 << n.min(31) }
    }

    #[must_use]
    pub fn meet(self, other: Alike) -> Alike {
        Alike { lanes: self.lanes.min(other.lanes), params: self.params | other.params }
    }
}

/// The only lanes in which a condition holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Picks {
    /// The number of known low bits of the lane index.
    pub bits: u8,
    pub lane: u8,
}

/// The one lane of each segment that has the result of a reduction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Held {
    pub width: Width,
    /// True for its lowest lane, false for its highest.
    pub is_low: bool,
    /// The reduction.
    pub at: Span,
}

/// The origin of a value that is the same throughout an invocation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Origin {
    Const(ConstId),
    /// The result of an instruction of the function, outside of loops.
    Inst(InstId),
}

/// Parts of a composite value that are tracked separately. All further parts count as the last one.
pub const PARTS: usize = 8;

/// The facts about a value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Fact {
    pub alike: Alike,
    /// Derived from an unknown value, such as a parameter of a function whose calls were not visited yet: only `alike`
    /// has information.
    pub is_open: bool,
    /// The number of low bits that equal the bits of the lane index; higher bits are uniform in such a segment.
    pub index: u8,
    /// The number of its low bits that are zero. 8 means at least as many as any subgroup size has.
    pub zeros: u8,
    /// True if neighbouring segments certainly differ in it, for some segments smaller than a subgroup.
    pub varies: bool,
    /// Its bits, if it is one scalar in all lanes.
    pub number: Option<u64>,
    pub picks: Option<Picks>,
    /// Undefined in all lanes but these.
    pub held: Option<Held>,
    /// The vector of a built-in variable, with different facts about its components.
    pub whole: Option<BuiltIn>,
    /// The value that it equals in all lanes, on every path.
    pub origin: Option<Origin>,
    /// The group size within which each part of a composite value is uniform; `None` if only the whole is known.
    pub parts: Option<[Alike; PARTS]>,
}

impl Fact {
    /// Uniform.
    pub const PLAIN: Fact = Fact::new(Alike::ALL);
    /// Anything.
    pub const LANE: Fact = Fact::new(Alike::LANE);
    /// Unknown so far.
    pub const OPEN: Fact = Fact { is_open: true, ..Fact::PLAIN };

    pub const fn new(alike: Alike) -> Fact {
        Fact {
            alike,
            is_open: false,
            index: 0,
            zeros: 0,
            varies: false,
            number: None,
            picks: None,
            held: None,
            whole: None,
            origin: None,
            parts: None,
        }
    }

    /// A composite value of these parts, in order.
    pub fn composed(parts: impl Iterator<Item = Fact>) -> Fact {
        let mut all = Fact::PLAIN;
        let mut alike = [Alike::UNSET; PARTS];
        for (n, part) in parts.enumerate() {
            all = all.mix(part);
            let slot = &mut alike[n.min(PARTS - 1)];
            *slot = slot.meet(part.alike);
        }
        Fact { parts: Some(alike), ..all }
    }

    /// The facts about part `n` of a composite value.
    #[must_use]
    pub fn part(self, n: u64) -> Fact {
        let Some(parts) = self.parts else { return self.made() };
        let alike = match parts[(n as usize).min(PARTS - 1)] {
            Alike::UNSET => Alike::ALL,
            alike => alike,
        };
        // The result of a reduction differs from lane to lane.
        let held = self.held.filter(|_| alike.lanes == 0);
        Fact { is_open: self.is_open, held, ..Fact::new(alike) }
    }

    /// The facts about a composite value of which only part `n` is known.
    #[must_use]
    pub fn only_part(self, n: u64) -> Fact {
        let mut parts = [Alike::UNSET; PARTS];
        parts[(n as usize).min(PARTS - 1)] = self.alike;
        Fact { parts: Some(parts), ..self.made() }
    }

    /// These facts with a different group size, of the whole and of each part.
    #[must_use]
    pub fn regrouped(self, new: impl Fn(Alike) -> Alike) -> Fact {
        let new = |alike| if alike == Alike::UNSET { alike } else { new(alike) };
        Fact { alike: new(self.alike), parts: self.parts.map(|parts| parts.map(new)), ..self }
    }

    /// These facts outside their function.
    #[must_use]
    pub fn outside(self) -> Fact {
        Fact { origin: None, ..self }
    }

    /// The lane's index, as far as its low bits tell.
    pub fn index(bits: u8) -> Fact {
        Fact { index: bits, varies: bits > 0, ..Fact::LANE }
    }

    /// A constant with these bits.
    pub fn constant(bits: u64) -> Fact {
        Fact { zeros: bits.trailing_zeros().min(8) as u8, number: Some(bits), ..Fact::PLAIN }
    }

    /// These facts for a value that may be one of several. A single number is uniform on every path.
    #[must_use]
    pub fn settled(self) -> Fact {
        if self.number.is_some() { Fact { alike: Alike::ALL, ..self } } else { self }
    }

    /// The facts about a value that is one of two.
    #[must_use]
    pub fn meet(self, other: Fact) -> Fact {
        let alike = self.alike.meet(other.alike);
        // An open value is visited again when it is known, with its parts.
        let parts = match (self.parts, other.parts) {
            (None, None) => None,
            (None, parts) if self.is_open => parts,
            (parts, None) if other.is_open => parts,
            (a, b) => {
                let (a, b) = (a.unwrap_or([self.alike; PARTS]), b.unwrap_or([other.alike; PARTS]));
                Some(std::array::from_fn(|n| a[n].meet(b[n])))
            }
        };
        if self.is_open || other.is_open {
            return Fact { alike, parts, ..if self.is_open { other } else { self } };
        }
        Fact {
            alike,
            parts,
            is_open: false,
            index: self.index.min(other.index),
            zeros: self.zeros.min(other.zeros),
            varies: self.varies && other.varies,
            number: self.number.filter(|number| other.number == Some(*number)),
            picks: self.picks.filter(|picks| other.picks == Some(*picks)),
            held: self.held.filter(|held| other.held.is_some_and(|other| held.is_like(other))),
            whole: self.whole.filter(|whole| other.whole == Some(*whole)),
            origin: self.origin.filter(|origin| other.origin == Some(*origin)),
        }
    }

    /// The facts about an arithmetic result with these two operands.
    #[must_use]
    pub fn mix(self, other: Fact) -> Fact {
        let is_open = self.is_open || other.is_open;
        Fact { is_open, held: self.held.or(other.held), ..Fact::new(self.alike.meet(other.alike)) }
    }

    /// The facts about an arithmetic result with this operand.
    #[must_use]
    pub fn made(self) -> Fact {
        self.mix(Fact::PLAIN)
    }

    /// These facts for a value that is selected per group of lanes.
    #[must_use]
    pub fn chosen(self, by: Alike) -> Fact {
        self.regrouped(|alike| alike.meet(by))
    }
}

impl Held {
    fn is_like(self, other: Held) -> bool {
        (self.width, self.is_low) == (other.width, other.is_low)
    }
}

/// Merges another possible value into the facts of a place. Returns true if anything changed.
pub fn lower(slot: &mut Option<Fact>, by: Fact) -> bool {
    let new = slot.map_or(by, |old| old.meet(by));
    slot.replace(new) != Some(new)
}
