//! The operands and the active lanes that a plan is tested with.

use super::{Effort, TermRow};
use crate::lane::check::terms::Term;
use crate::lane::op::LaneOp;
use crate::lane::plan::Activity;
use crate::lane::request::{Known, Request, ScalarKind};
use crate::lane::signature::Role;
use crate::lane::value::{LaneValue, low_bits};

/// One choice of the varying operands.
#[derive(Clone, Copy, Debug)]
pub struct Pattern {
    seed: u64,
    /// Every operand but the moved value is the same in all lanes.
    uniform: bool,
    /// Index among the uniform choices, or among the others.
    step: u32,
}

/// A generator of pseudo-random numbers (xorshift64*), the same in every run.
struct Random(u64);

impl Random {
    fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    /// Uniform enough in `0..limit`.
    fn below(&mut self, limit: u32) -> u32 {
        ((self.next() >> 33) % u64::from(limit)) as u32
    }

    fn bits(&mut self) -> u128 {
        u128::from(self.next()) << 64 | u128::from(self.next())
    }
}

/// The role of operand `n` of an operation on values of this kind, as the checker distinguishes them: everything that
/// is moved or reduced is [`Role::Data`], except bools, which keep their own role.
pub(crate) fn role(op: LaneOp, n: usize, kind: ScalarKind) -> Role {
    match op.signature().role(n) {
        Some(Role::Key) => Role::Key,
        Some(role) if role.is_value() && kind == ScalarKind::Bool => Role::Bool,
        Some(Role::Rider) => Role::Key,
        Some(Role::Class) => Role::Class,
        Some(role) if role.is_value() => Role::Data,
        Some(role) => role,
        None => Role::Index,
    }
}

/// The choices that a request is tested with: a single one if nothing varies except moved values.
pub fn patterns(request: &Request, effort: Effort) -> Vec<Pattern> {
    let fixed = |n: usize| {
        let input = request.inputs[n];
        matches!(input.known, Known::Constant(_))
            || known_row(request, n).is_some()
            || role(request.op, n, input.ty.kind) == Role::Data
    };
    let count = match effort {
        _ if (0..request.inputs.len()).all(fixed) => 1,
        // Networks are long, and fewer runs find as many errors.
        Effort::Glance => 2,
        Effort::Quick if matches!(request.op, LaneOp::Sort { .. } | LaneOp::Reduce { .. }) => 3,
        Effort::Quick => 6,
        Effort::Thorough => 48,
    };
    (0..count).map(|n| Pattern { seed: n + 1, uniform: n % 2 == 0, step: n as u32 / 2 }).collect()
}

/// An operand whose value in each lane is known from the request.
fn known_row<'a>(request: &'a Request<'_>, n: usize) -> Option<&'a [u32]> {
    if n == 1 { request.index.as_deref() } else { None }
}

/// The choices for mask number `n`: all of them if all lanes are active, otherwise a few, different for each mask.
pub fn some_of<T>(patterns: &[T], n: usize, effort: Effort) -> impl Iterator<Item = &T> {
    let few = if effort == Effort::Thorough && n > 0 { 4 } else { patterns.len() };
    let first = if few < patterns.len() { few * n % patterns.len() } else { 0 };
    patterns.iter().cycle().skip(first).take(few.min(patterns.len()))
}

/// Values of all operands.
pub fn rows(request: &Request, size: u32, pattern: &Pattern) -> Vec<TermRow> {
    let mut random = Random::new(pattern.seed);
    let row = |(n, input): (usize, &crate::lane::request::Input)| match input.known {
        _ if known_row(request, n).is_some_and(|row| row.len() >= size as usize) => {
            let row = known_row(request, n).into_iter().flatten();
            row.take(size as usize).map(|index| LaneValue::Index(*index)).collect()
        }
        Known::Constant(value) if role(request.op, n, input.ty.kind) != Role::Data => {
            vec![LaneValue::Index(value); size as usize]
        }
        known if known != Known::Varying && is_written(request.op, n) => {
            vec![LaneValue::Data(Term::Leaf { input: n as u8, label: 0 }); size as usize]
        }
        known => {
            let role = role(request.op, n, input.ty.kind);
            let pattern = Pattern { uniform: pattern.uniform || known == Known::Uniform, ..*pattern };
            row(role, n as u8, size, &pattern, &mut random)
        }
    };
    request.inputs.iter().enumerate().map(row).collect()
}

/// Returns true if operand `n` is moved and may still be uniform, and the plan uses that fact.
fn is_written(op: LaneOp, n: usize) -> bool {
    op.signature().role(n) == Some(Role::Same)
}

fn row(role: Role, input: u8, size: u32, pattern: &Pattern, random: &mut Random) -> TermRow {
    let leaf = |label| LaneValue::Data(Term::Leaf { input, label });
    match role {
        Role::Key | Role::Rider => (0..size).map(|_| leaf(random.below(size * 2))).collect(),
        Role::Class => classes(pattern, size, random).into_iter().map(leaf).collect(),
        Role::Bool => predicates(pattern, size, random).into_iter().map(LaneValue::Bool).collect(),
        Role::Index => indices(pattern, size, random).into_iter().map(LaneValue::Index).collect(),
        Role::NvWidth => spread(pattern, size, || 2 << random.below(5)).into_iter().map(LaneValue::Index).collect(),
        Role::Mask => {
            let mask = || LaneValue::Ballot(ballot(random) & u128::from(u64::MAX));
            spread(pattern, size, mask)
        }
        Role::Partition => partition(&classes(pattern, size, random)).into_iter().map(LaneValue::Ballot).collect(),
        Role::Ballot => spread(pattern, size, || ballot(random)).into_iter().map(LaneValue::Ballot).collect(),
        Role::Data | Role::Same | Role::Number | Role::SameNumber | Role::Bits => (0..size).map(leaf).collect(),
    }
}

/// One value for all lanes, or one for each.
fn spread<T: Clone>(pattern: &Pattern, size: u32, mut next: impl FnMut() -> T) -> Vec<T> {
    match pattern.uniform {
        true => vec![next(); size as usize],
        false => (0..size).map(|_| next()).collect(),
    }
}

/// Uniform indices: all small ones, then random ones. Other indices: random, within the subgroup and slightly beyond.
fn indices(pattern: &Pattern, size: u32, random: &mut Random) -> Vec<u32> {
    let limit = if random.below(2) == 0 { size } else { size.max(32) + 9 };
    match pattern.uniform {
        true if pattern.step < 3 => vec![pattern.step; size as usize],
        true => vec![random.below(limit); size as usize],
        false => (0..size).map(|_| random.below(limit)).collect(),
    }
}

/// Dense and sparse ballots, with bits above the subgroup too.
fn ballot(random: &mut Random) -> u128 {
    match random.below(4) {
        0 => 0,
        1 => random.bits() & random.bits() & random.bits(),
        _ => random.bits(),
    }
}

/// All false, all true, all but one, random.
fn predicates(pattern: &Pattern, size: u32, random: &mut Random) -> Vec<bool> {
    let odd = random.below(size);
    match (pattern.uniform, pattern.step % 4) {
        (true, step) => (0..size).map(|lane| (lane == odd && step > 1) ^ (step % 2 == 0)).collect(),
        (false, 0) => (0..size).map(|_| random.below(8) == 0).collect(),
        (false, 1) => (0..size).map(|_| random.below(8) != 0).collect(),
        (false, _) => (0..size).map(|_| random.below(2) == 0).collect(),
    }
}

/// All equal, all but one equal, a NaN among equals, two values, equal within segments of one size.
fn classes(pattern: &Pattern, size: u32, random: &mut Random) -> Vec<u32> {
    let odd = random.below(size);
    let among = |lane: u32, other: u32| if lane == odd { other } else { 7 };
    let shift = pattern.step % 6 + 1;
    match (pattern.uniform, pattern.step % 3) {
        (true, 0) => vec![7; size as usize],
        (true, 1) => (0..size).map(|lane| among(lane, 8)).collect(),
        (true, _) => (0..size).map(|lane| among(lane, Term::NAN)).collect(),
        (false, 0) => (0..size).map(|_| random.below(2)).collect(),
        (false, _) => (0..size).map(|lane| lane >> shift).collect(),
    }
}

/// For each lane the lanes of its class.
fn partition(classes: &[u32]) -> Vec<u128> {
    let members =
        |class: &u32| (0..).zip(classes).filter(|(_, other)| *other == class).map(|(lane, _)| 1 << lane).sum();
    classes.iter().map(members).collect()
}

/// Sets of active lanes to try, none of them empty.
pub fn masks(size: u32, activity: Activity, effort: Effort) -> Vec<u128> {
    let mut masks = vec![low_bits(size)];
    if activity != Activity::Full {
        masks.extend(first_lanes(size, effort));
    }
    if activity == Activity::Any {
        masks.extend(single_lanes(size, effort));
        masks.extend(random_masks(size, effort));
    }
    masks
}

fn first_lanes(size: u32, effort: Effort) -> Vec<u128> {
    let chosen: &[u32] = match effort {
        Effort::Glance => &[size / 2 + 3],
        _ => &[1, 3, 6, size / 2, size / 2 + 3],
    };
    let wanted = |n: &u32| effort == Effort::Thorough || chosen.contains(n);
    (1..size).filter(wanted).map(low_bits).collect()
}

fn single_lanes(size: u32, effort: Effort) -> Vec<u128> {
    let wanted = |n: &u32| match effort {
        Effort::Glance => false,
        Effort::Quick => [size / 3, size - 1].contains(n),
        Effort::Thorough => true,
    };
    (0..size).filter(wanted).map(|lane| 1 << lane).collect()
}

fn random_masks(size: u32, effort: Effort) -> Vec<u128> {
    let mut random = Random::new(u64::from(size));
    let count = match effort {
        Effort::Glance => 1,
        Effort::Quick => 5,
        Effort::Thorough => 64,
    };
    let mut mask = |n: u32| match n % 3 {
        0 => random.bits(),
        1 => random.bits() | random.bits(),
        _ => random.bits() & random.bits(),
    };
    (0..count).map(&mut mask).map(|mask| mask & low_bits(size)).filter(|mask| *mask != 0).collect()
}
