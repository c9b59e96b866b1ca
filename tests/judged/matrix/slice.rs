//! The part of the matrix in every test run: each group of rows is tested in one unit per target, with changing widths,
//! front ends and profiles.

use std::collections::BTreeSet;

use crosslane::profile::{Profile, Target};

use super::kind::Type;
use super::rows::{Unit, units};
use super::stage::PROFILES;
use support::fixture::Language;

/// A unit and the name of a profile.
pub type Part = Vec<(Unit, &'static str)>;

/// The part for group number `n`: one of the WGSL units if WGSL has the rows, otherwise a GLSL unit. The units in the
/// language that has all types share these among them.
pub fn of(n: usize, units: &[Unit]) -> Part {
    let in_language = |language| units.iter().filter(|unit| unit.language == language).collect::<Vec<_>>();
    let (glsl, wgsl) = (in_language(Language::Glsl), in_language(Language::Wgsl));
    let is_wgsl = |turn: usize| glsl.is_empty() || turn == n % Target::ALL.len() && !wgsl.is_empty();
    let others = (0..Target::ALL.len()).filter(|turn| glsl.is_empty() || !is_wgsl(*turn)).count();
    let mut share = 0;
    let mut take = |turn: usize, target: Target| {
        let units = if is_wgsl(turn) { &wgsl } else { &glsl };
        let unit = thinned(units[(n + 5 * turn) % units.len()], others, n + share);
        share += usize::from(glsl.is_empty() || !is_wgsl(turn));
        let profiles: Vec<&'static Profile> = PROFILES.iter().filter(|profile| profile.target == target).collect();
        (unit, &*profiles[(n / 2 + turn) % profiles.len()].name)
    };
    let targets = Target::ALL.into_iter().enumerate();
    targets.map(|(turn, target)| take(turn, target)).filter(|(unit, _)| !unit.types.is_empty()).collect()
}

/// A unit with one of `shares` shares of its types; a scalar and its vectors stay together.
fn thinned(unit: &Unit, shares: usize, share: usize) -> Unit {
    let mut kinds: Vec<_> = unit.types.iter().map(|ty| ty.map(|ty| ty.kind)).collect();
    kinds.dedup();
    let place = |ty: &Option<Type>| kinds.iter().position(|kind| *kind == ty.map(|ty| ty.kind)).unwrap_or(0);
    let keeps = |ty: &Option<Type>| kinds.len() == 1 || place(ty) % shares == share % shares;
    Unit { types: unit.types.iter().copied().filter(keeps).collect(), ..unit.clone() }
}

/// Checks that every row (whatever its width), each of its types, every width and every profile is in some part.
pub fn holds_everything(parts: &[Part]) -> Result<(), String> {
    let held = || parts.iter().flatten();
    let types = |units: &mut dyn Iterator<Item = &Unit>| -> BTreeSet<_> {
        let kinds = units.flat_map(|unit| unit.types.iter().map(|ty| (unit.row().group(), ty.map(|ty| ty.kind))));
        kinds.collect()
    };
    let all = units();
    let missing: Vec<_> =
        types(&mut all.iter()).difference(&types(&mut held().map(|(unit, _)| unit))).cloned().collect();
    let widths = |units: &mut dyn Iterator<Item = &Unit>| units.map(|unit| unit.width).collect::<BTreeSet<_>>();
    let profiles: BTreeSet<&str> = held().map(|(_, name)| *name).collect();
    let absent: Vec<_> =
        PROFILES.iter().filter(|profile| !profiles.contains(&*profile.name)).map(|p| &p.name).collect();
    let narrow: Vec<_> =
        widths(&mut all.iter()).difference(&widths(&mut held().map(|(unit, _)| unit))).copied().collect();
    if missing.is_empty() && absent.is_empty() && narrow.is_empty() {
        return Ok(());
    }
    Err(format!("rows {missing:?}, profiles {absent:?}, widths {narrow:?} are in no part"))
}
