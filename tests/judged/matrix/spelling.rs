//! Rows that have a name but no spelling in WGSL yet: forms that write through their arguments, that mix generic
//! arguments or return another type, or that test something other than a bool.

use std::collections::BTreeMap;
use std::sync::{LazyLock, Mutex};

use crosslane::grammar::{Mode, Shape, TypeExpr};

use super::compile::Source;
use super::rows::Unit;
use super::stage::PROFILES;

/// The front end's messages about them.
pub const SAID: [&str; 2] = ["no WGSL spelling yet", "value doesn't match the type"];

/// The findings so far, by group of rows.
static KNOWN: LazyLock<Mutex<BTreeMap<String, bool>>> = LazyLock::new(Mutex::default);

/// Returns true if the front end reports that it has no spelling for a unit's row. Only the forms above may be
/// reported.
pub fn is_missing(unit: &Unit) -> bool {
    may_be_missing(unit) && {
        let mut known = KNOWN.lock().expect("no thread panics while asking");
        *known.entry(unit.row().group()).or_insert_with(|| says_so(unit))
    }
}

fn may_be_missing(unit: &Unit) -> bool {
    let params = unit.row().params();
    let tests = params.iter().any(|param| matches!(param.ty, TypeExpr::Test(shape) if shape != Shape::BOOL));
    let generic = params.iter().filter(|param| param.ty == TypeExpr::Generic).count();
    let other_result = generic > 0 && !unit.row().gives_generic();
    tests || other_result || generic > 1 || params.iter().any(|param| param.mode != Mode::In)
}

fn says_so(unit: &Unit) -> bool {
    let profile = PROFILES.iter().find(|profile| &*profile.name == "spirv-1.6").expect("a built-in profile");
    let made = Source::new(unit, &unit.types[..1], profile).make(profile);
    made.err().is_some_and(|said| SAID.iter().any(|words| said.contains(words)))
}
