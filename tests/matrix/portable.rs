//! One shader a family, the same input, the same bits: from the simulator, from SPIR-V with folds in the fixed order on
//! lavapipe, from NVIDIA's listing and from AMD's.

use crosslane::profile::{Profile, Target};
use libtest_mimic::{Failed, Trial};

use crate::compile::{Made, Source};
use crate::interpret::{self, Order};
use crate::kind::{Kind, Type};
use crate::rows::{Unit, units};
use crate::shader::Shader;
use crate::stage::PROFILES;
use crate::support::fixture::Language;
use crate::support::lavapipe::{self, Buffers, Request};
use crate::support::{glasm, simulator};

/// The width of the segments, which subgroups of every size here have.
const WIDTH: usize = 16;

/// A trial for each family of the portable interface whose forms say a width.
pub fn trials() -> Vec<Trial> {
    let portable = |unit: &Unit| {
        let says = unit.row().arguments.iter().all(|domain| *domain != crate::domain::Domain::Width);
        unit.row().dialect == "portable" && unit.width == Some(WIDTH) && unit.language == Language::Glsl && says
    };
    let mut all: Vec<Unit> = units().into_iter().filter(portable).collect();
    all.dedup_by_key(|unit| unit.row().title());
    let trial = |unit: Unit| {
        let name = format!("portable::{}", unit.row().title());
        Trial::test(name, move || same_everywhere(&unit).map_err(Failed::from))
    };
    all.into_iter().map(trial).collect()
}

/// Types whose results the claim is about in every engine here.
fn types(unit: &Unit) -> Vec<Option<Type>> {
    let wanted =
        |ty: &Option<Type>| ty.is_none_or(|ty| [Kind::F32, Kind::I32, Kind::U32, Kind::Bool].contains(&ty.kind));
    unit.types.iter().copied().filter(wanted).collect()
}

fn same_everywhere(unit: &Unit) -> Result<(), String> {
    let types = types(unit);
    let shader = Shader::new(unit, &types);
    let before = shader.before(WIDTH, true);
    let defined = shader.after(WIDTH, true);
    let mut first: Option<(String, Vec<Buffers>)> = None;
    for profile in PROFILES.iter().filter(|profile| claims(profile)) {
        let source = Source::new(unit, &types, profile);
        for (who, after) in results(&source, profile, &before)? {
            let Some((other, known)) = &first else {
                first = Some((who, after));
                continue;
            };
            for (pattern, ((one, two), column)) in known.iter().zip(&after).zip(&defined).enumerate() {
                let differs = (0..column.len()).find(|at| column[*at].is_some() && one[1][*at] != two[1][*at]);
                if let Some(at) = differs {
                    let (a, b) = (one[1][at], two[1][at]);
                    return Err(format!("pattern {pattern}, word {at}: {a:#x} from {other}, {b:#x} from {who}"));
                }
            }
        }
    }
    Ok(())
}

/// Whether a profile promises the order of folds.
fn claims(profile: &Profile) -> bool {
    profile.reproducible && &*profile.name != "nv-fermi"
}

/// What each engine leaves, by name.
fn results(source: &Source, profile: &Profile, before: &[Buffers]) -> Result<Vec<(String, Vec<Buffers>)>, String> {
    let request = |module| Request::new(module, 1, before.to_vec());
    let name = |who: &str| format!("{who} ({})", profile.name);
    let lanes = profile.wave_size.map_or(WIDTH, |size| size as usize);
    let simulated = simulator::run(&source.kernel(profile, lanes)?, lanes, &request(Vec::new()))?;
    let simulated = simulated.into_iter().map(|run| run.into_iter().map(|buffer| buffer.words).collect()).collect();
    let after = match source.make(profile)? {
        Made::Spirv(module) => lavapipe::run(WIDTH, &request(module))?,
        Made::Nv(program) => glasm::run(&program.text, &program.reflection, &request(Vec::new()))?,
        Made::Amd(program) => {
            interpret::interpret(&program, &profile.processor, &request(Vec::new()), Order::Ascending)?
        }
    };
    let who = if profile.target == Target::Spirv { "lavapipe" } else { "the listing" };
    Ok(vec![(name("the simulator"), simulated), (name(who), after)])
}
