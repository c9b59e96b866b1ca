//! Shaders that the simulator judges: those of the core language, and random ones.
//!
//! For test binaries that include the `generator` module.

use crate::compare::Closeness;
use crate::fixture;
use crate::generator::{arms, formulas, lanes as random_lanes, memory, names, program, waits, wide};
use crate::lavapipe::{Buffers, Request};
use crate::pattern::{Domain, PATTERNS};
use crate::plan::Plan;
use crate::rival::{self, Judged};
use crate::scalar::Type;
use crate::{compiler, reduce, simulator, watchdog};
use crosslane::backend::DebugInfo;
use crosslane::compile::{self, Input, Options};
use crosslane::profile::Profile;
use std::path::{Path, PathBuf};

/// The files of the core language.
pub fn sources() -> Vec<PathBuf> {
    let mut paths = fixture::files("fixtures/core");
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "comp"));
    paths
}

/// Shaders whose results depend on a square root or a quotient: here they must be close, elsewhere equal.
const CLOSE: &[&str] = &["constant_floats.comp"];

/// A shader and how to run it.
#[derive(Clone)]
pub struct Shader {
    pub name: String,
    pub source: String,
    pub request: Request,
    language: compile::Language,
    judged: Vec<Judged>,
    seed: Option<u64>,
}

impl Shader {
    /// A file of the core language.
    pub fn read(path: &Path) -> Result<Shader, String> {
        let source = std::fs::read_to_string(path).map_err(|e| e.to_string())?;
        let plan = Plan::read(&source)?;
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let mut judged = plan.judged();
        if CLOSE.contains(&&name[..]) {
            judged.iter_mut().for_each(|how| how.closeness = Closeness::Within(1e-6));
        }
        Ok(Shader { name, source, request: plan.request(), language: compile::Language::Glsl, judged, seed: None })
    }

    /// A random kernel. Its own block also contains floats, whose zeros may differ in sign.
    pub fn random(seed: u64) -> Shader {
        Shader::made(seed, program::kernel(seed), program::INVOCATIONS)
    }

    /// A random kernel with cross-lane operations.
    pub fn with_lanes(seed: u64) -> Shader {
        Shader::made(seed, program::lane_kernel(seed), random_lanes::invocations(seed))
    }

    /// A random kernel with cross-lane operations in arms and loops.
    pub fn arms(seed: u64) -> Shader {
        let invocations = random_lanes::invocations(seed);
        Shader::made(seed, arms::kernel(seed, invocations), invocations)
    }

    /// A random kernel of narrow and wide types.
    pub fn wide(seed: u64) -> Shader {
        Shader::made(seed, wide::kernel(seed), program::INVOCATIONS)
    }

    /// A random kernel of integer formulas.
    pub fn formulas(seed: u64) -> Shader {
        Shader::made(seed, formulas::kernel(seed), program::INVOCATIONS)
    }

    /// A random kernel with accesses to memory that has several names; all words are compared.
    pub fn memory(seed: u64) -> Shader {
        let mut shader = Shader::made(seed, memory::kernel(seed), program::INVOCATIONS);
        shader.judged.push(shader.judged[0]);
        shader.request.push_constants = vec![0; 8];
        shader.request.addresses = vec![memory::ADDRESS];
        shader
    }

    /// A random kernel whose workgroups wait for each other.
    pub fn waits(seed: u64) -> Shader {
        let mut shader = Shader::made(seed, waits::kernel(seed), waits::INVOCATIONS);
        let results = waits::GROUPS as usize * waits::INVOCATIONS;
        shader.request.groups = [waits::GROUPS, 1, 1];
        for run in &mut shader.request.runs {
            run.truncate(1);
            run.extend([vec![0; results], vec![0; waits::WORDS], vec![0; waits::WORDS]]);
        }
        shader
    }

    /// A random kernel with names that are not ASCII.
    pub fn names(seed: u64) -> Shader {
        let language = if names::is_wgsl(seed) { compile::Language::Wgsl } else { compile::Language::Glsl };
        Shader {
            name: names::file(seed),
            source: names::kernel(seed),
            language,
            ..Shader::made(seed, String::new(), program::INVOCATIONS)
        }
    }

    /// In every third one counted loops request unrolling, and in every second one the input is constant.
    fn made(seed: u64, source: String, invocations: usize) -> Shader {
        let source = if seed.is_multiple_of(3) { program::unrolled(&source) } else { source };
        let source = if seed.is_multiple_of(2) { program::with_constant_input(&source) } else { source };
        let given = Domain::Any(Type::I32);
        let results = invocations * program::RESULTS;
        let run = |&pattern| {
            vec![given.words(pattern, 3, 2 * invocations), vec![0; results], vec![0; program::MEMORY * invocations]]
        };
        let request = Request::new(Vec::new(), 1, PATTERNS[..2].iter().map(run).collect());
        let judged = vec![Judged { kind: Type::I32, closeness: Closeness::Same }; 2];
        Shader {
            name: format!("seed {seed}"),
            source,
            request,
            language: compile::Language::Glsl,
            judged,
            seed: Some(seed),
        }
    }

    pub fn input(&self) -> Input<'_> {
        Input { name: &self.name, bytes: self.source.as_bytes(), language: self.language }
    }

    /// The options for a built-in profile. Kernels with non-ASCII names also get line information.
    pub fn options(&self, profile: &str) -> Result<Options, String> {
        let options = options(profile)?;
        let debug = if self.name.is_ascii() { options.debug } else { DebugInfo::Lines };
        Ok(Options { debug, ..options })
    }

    /// The error from `hold`, with the name of the file with a random kernel's text, reduced if requested.
    pub fn blamed<T>(&self, hold: impl Fn(&Shader) -> Result<T, String>) -> Result<T, String> {
        hold(self).map_err(|why| {
            let kept = self.seed.map(|seed| program::keep(seed, &self.reduced(&why, hold))).unwrap_or_default();
            format!("{}: {why}\n{kept}", self.name)
        })
    }

    /// The text without the lines that are not needed for buffers to differ.
    fn reduced<T>(&self, why: &str, hold: impl Fn(&Shader) -> Result<T, String>) -> String {
        if !reduce::is_asked() || !rival::is_difference(why) {
            return self.source.clone();
        }
        let with = |source: &str| Shader { source: source.to_owned(), ..self.clone() };
        reduce::kernel(&self.source, |source| hold(&with(source)).is_err_and(|why| rival::is_difference(&why)))
    }

    /// The name, and the file in which the text is kept.
    fn described(&self, profile: &str) -> String {
        let kept = self.seed.map(|seed| program::keep(seed, &self.source)).unwrap_or_default();
        format!("{}, {profile}, {kept}", self.name)
    }

    /// Runs it with `runner` and in the simulator with this many lanes; reports where they differ.
    pub fn hold(
        &self,
        profile: &str,
        lanes: usize,
        runner: impl FnOnce(Request) -> Result<Vec<Buffers>, String>,
    ) -> Result<(), String> {
        let profile = profile.to_owned();
        let kernel = compiler::parsed(&self.input(), &self.options(&profile)?, &self.request.settings())?;
        let model = simulator::run(&kernel, lanes, &self.request)?;
        let watched = self.clone();
        let watch = watchdog::watch(move || watched.described(&profile));
        let after = runner(self.request.clone())?;
        drop(watch);
        model.iter().zip(&after).try_for_each(|(model, after)| rival::same(&self.judged, model, after))
    }
}

/// Makes a random kernel from a seed.
pub type Maker = fn(u64) -> Shader;

/// The kinds of random kernels, each with the name of its tests.
pub const RANDOM: [(&str, Maker); 8] = [
    ("random", Shader::random),
    ("lanes", Shader::with_lanes),
    ("arms", Shader::arms),
    ("wide", Shader::wide),
    ("formulas", Shader::formulas),
    ("memory", Shader::memory),
    ("waits", Shader::waits),
    ("names", Shader::names),
];

/// The options for a built-in profile, for results that are compared.
pub fn options(profile: &str) -> Result<Options, String> {
    Profile::named(profile).map(compiler::exact).ok_or_else(|| format!("no profile {profile}"))
}
