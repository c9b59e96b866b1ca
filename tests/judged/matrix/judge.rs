//! Runs a unit's cells on a profile, in every way that can test them, and compares the results with the formulas.

use std::collections::HashSet;

use crosslane::kernel::print;
use crosslane::lane::check::Effort;
use crosslane::profile::{Profile, Target};

use super::compile::{Made, Source};
use super::gpu;
use super::kind::Type;
use super::prove::prove;
use super::refusal::{Asked, LACKS_TYPE};
use super::rows::Unit;
use super::shader::Shader;
use super::stage::{Stages, of};
use support::case::Column;
use support::interpret::{self, Order};
use support::lavapipe::{self, Buffers, Request};
use support::{compiler, cuda, dawn, judge, metal, nv, opengl, ptx, radv, simulator};

/// Number of types in one shader for lavapipe.
const TOGETHER: usize = 5;

/// How much is run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mode {
    /// A part, in which widths, front ends and profiles take turns.
    Slice,
    All,
    /// On a GPU alone.
    Gpu,
}

impl Mode {
    /// How plans that are not of the catalog are checked.
    fn effort(self) -> Effort {
        if self == Self::All { Effort::Quick } else { Effort::Glance }
    }
}

/// The texts of a unit that already ran: the same text gives the same results.
#[derive(Default)]
pub struct Seen(HashSet<String>);

impl Seen {
    fn is_new(&mut self, what: &str, lanes: usize, ordered: bool, text: &str) -> bool {
        self.0.insert(format!("{what} {lanes} {ordered}\n{text}"))
    }
}

/// The correct cells of a unit on a profile.
#[derive(Default)]
pub struct Outcome {
    pub right: usize,
    pub refused: usize,
}

/// Judges all cells of a unit on a profile.
pub fn judge(unit: &Unit, profile: &Profile, mode: Mode, seen: &mut Seen) -> Result<Outcome, String> {
    let asked = |ty: &Option<Type>| Asked { profile, unit, ty: *ty };
    let (refused, taken): (Vec<_>, Vec<_>) = unit.types.iter().copied().partition(|ty| asked(ty).reason().is_some());
    let spans = profile.wave_size.is_some() || unit.spans_subgroups();
    if mode == Mode::Gpu && !spans && unit.least() > gpu::LANES {
        return Ok(Outcome { right: 0, refused: unit.types.len() });
    }
    if mode != Mode::Gpu {
        refused.iter().try_for_each(|ty| hold_refusal(&asked(ty)))?;
        taken
            .iter()
            .try_for_each(|ty| prove(unit, *ty, profile, mode.effort()).map_err(|why| format!("{ty:?}: {why}")))?;
    }
    // The time lavapipe's compiler takes grows faster than the shader.
    let most = if !profile.target.is_hardware() && mode != Mode::Gpu { TOGETHER } else { taken.len().max(1) };
    taken.chunks(most).try_for_each(|part| run(unit, part, profile, mode, seen))?;
    Ok(Outcome { right: taken.len(), refused: refused.len() })
}

fn hold_refusal(asked: &Asked<'_>) -> Result<(), String> {
    let reason = asked.reason().ok_or("nothing refuses it")?;
    // HLSL has values of more types than its cross-lane operations support here, and no driver runs those.
    if asked.profile.target == Target::Hlsl && reason.title == LACKS_TYPE {
        return Ok(());
    }
    let source = Source::new(asked.unit, &[asked.ty], asked.profile);
    match source.make(asked.profile) {
        Err(said) => reason.hold(asked, &said),
        Ok(_) => Err(format!("{:?} compiles, though it is {}", asked.ty, reason.title)),
    }
}

fn run(unit: &Unit, types: &[Option<Type>], profile: &Profile, mode: Mode, seen: &mut Seen) -> Result<(), String> {
    let source = Source::new(unit, types, profile);
    let made = source.make(profile).map_err(|why| alone(unit, types, profile, &why))?;
    let run = Run { unit, profile, source: &source, stages: of(profile, unit) };
    if mode == Mode::Gpu {
        return run.on_gpu(made).map_err(|why| format!("{why}\n{}", source.text));
    }
    let done = run.simulate(seen).and_then(|()| run.execute(made, seen));
    done.map_err(|why| format!("{why}\n{}", source.text))
}

/// The first type refused on its own, with the reason.
fn alone(unit: &Unit, types: &[Option<Type>], profile: &Profile, why: &str) -> String {
    let fails = |ty: &&Option<Type>| Source::new(unit, &[**ty], profile).make(profile).is_err();
    let first = types.iter().find(fails);
    let said = first.and_then(|ty| Source::new(unit, &[*ty], profile).make(profile).err());
    format!("must compile ({first:?}): {}", said.unwrap_or_else(|| why.to_owned()))
}

/// Cells on a profile.
struct Run<'r> {
    unit: &'r Unit,
    profile: &'r Profile,
    source: &'r Source,
    stages: Stages,
}

impl Run<'_> {
    fn shader(&self) -> &Shader {
        &self.source.shader
    }

    fn request(&self, module: Vec<u32>, lanes: usize) -> Request {
        Request::new(module, 1, self.shader().before(self.spanned(lanes), self.profile.reproducible))
    }

    /// The lanes that a call works on: a segment may span subgroups of a known size.
    fn spanned(&self, lanes: usize) -> usize {
        lanes.max(self.unit.width.unwrap_or(1))
    }

    /// Checks the output buffer after each run.
    fn hold(&self, lanes: usize, who: &str, after: &[Buffers]) -> Result<(), String> {
        let expected = self.shader().after(self.spanned(lanes), self.profile.reproducible);
        for (pattern, (column, buffers)) in expected.iter().zip(after).enumerate() {
            let wrong = |why| format!("{who}, {lanes} lanes, pattern {pattern}: {why}");
            compare(self.shader(), column, &buffers[1]).map_err(wrong)?;
        }
        Ok(())
    }

    /// One of the subgroup sizes in which the operation is defined, chosen in turn; all of them if the profile is requested by
    /// name.
    fn defined_sizes(&self, sizes: &[usize]) -> Vec<usize> {
        let least = if self.unit.spans_subgroups() { self.profile.least_wave_size() as usize } else { usize::MAX };
        let least = least.min(self.unit.least());
        self.sizes(sizes.iter().copied().filter(|size| *size >= least).collect())
    }

    /// One of these sizes, or all of them.
    fn sizes(&self, sizes: Vec<usize>) -> Vec<usize> {
        if sizes.is_empty() || super::asks_for(&self.profile.name) {
            return sizes;
        }
        let profile = self.profile.name.len() as u64 + u64::from(self.profile.version.1);
        vec![sizes[((self.unit.turn() + profile) % sizes.len() as u64) as usize]]
    }

    /// The sizes that the simulator has for the operation: all of them, except for shuffles with NVIDIA's widths.
    fn simulated_sizes(&self) -> Vec<usize> {
        let fits = |size: &usize| *size >= self.unit.least() || !self.unit.row().family.contains("NV");
        simulator::LANES.into_iter().filter(fits).collect()
    }

    fn simulate(&self, seen: &mut Seen) -> Result<(), String> {
        let own = self.profile.wave_size.map(|size| vec![size as usize]);
        for lanes in own.unwrap_or_else(|| self.sizes(self.simulated_sizes())) {
            let kernel = self.source.kernel(self.profile, lanes)?;
            let text = print::print(&kernel, None);
            if !seen.is_new("simulated", lanes, self.profile.reproducible, &text) {
                continue;
            }
            let after = simulator::run(&kernel, lanes, &self.request(Vec::new(), lanes))?;
            let defined = self.shader().after(self.spanned(lanes), self.profile.reproducible);
            for (column, buffers) in defined.iter().zip(&after) {
                let undefined = |at: &usize| column[*at].is_some() && buffers[1].undefined[*at];
                if let Some(at) = (0..column.len()).find(undefined) {
                    return Err(format!(
                        "simulated, {lanes} lanes: word {at} ({}) is undefined",
                        self.shader().cell_of(at)
                    ));
                }
            }
            self.hold(lanes, "simulated", &words(after))?;
        }
        Ok(())
    }

    fn execute(&self, made: Made, seen: &mut Seen) -> Result<(), String> {
        match made {
            Made::Spirv(module) => self.execute_module(&module, seen),
            Made::Wgsl(text, module) => {
                judge::spirv_val(&module, environment(self.profile), false)?;
                self.execute_text(&text, seen)
            }
            Made::Glsl(text, module) => {
                judge::spirv_val(&module, environment(self.profile), false)?;
                self.lower(&module)?;
                self.read_back(&text, seen).map_err(|why| format!("{why}\n{text}"))
            }
            Made::Msl(text, reflection) => {
                let lanes = metal::LANES;
                if !seen.is_new("MSL", lanes, self.profile.reproducible, &text) {
                    return Ok(());
                }
                let job = metal::Job { text, reflection, request: self.request(Vec::new(), lanes) };
                let after = metal::run(std::slice::from_ref(&job))?.remove(0);
                let held = after.and_then(|after| self.hold(lanes, "C++", &after));
                held.map_err(|why| format!("{why}\n{}", job.text))
            }
            Made::Nv(program) => {
                let text = program.text.replace(&*self.profile.name, "");
                if !seen.is_new("listing", 32, true, &text) {
                    return Ok(());
                }
                let after = nv::run(&program.text, &program.reflection, &self.request(Vec::new(), 32))?;
                self.hold(32, "the listing", &after)
            }
            Made::Ptx(program) => {
                for schedule in ptx::SCHEDULES {
                    let after = ptx::run(&program, &self.request(Vec::new(), 32), schedule)?;
                    self.hold(32, "the listing", &after)?;
                }
                Ok(())
            }
            Made::Amd(program) => {
                let lanes = self.profile.wave_size.unwrap_or(64) as usize;
                let request = self.request(Vec::new(), lanes);
                let after = interpret::interpret(&program, &self.profile.processor, &request, Order::Ascending)?;
                self.hold(lanes, "the listing", &after)
            }
        }
    }

    fn execute_module(&self, module: &[u32], seen: &mut Seen) -> Result<(), String> {
        judge::spirv_val(module, environment(self.profile), false)?;
        self.lower(module)?;
        let sizes = if self.stages.executed { self.defined_sizes(&lavapipe::LANES) } else { Vec::new() };
        for lanes in sizes {
            // Everything except the version.
            let text = format!("{:?}", &module[2..]);
            if seen.is_new("lavapipe", lanes, self.profile.reproducible, &text) {
                self.hold(lanes, "lavapipe", &twice(lanes, &self.request(module.to_vec(), lanes))?)?;
            }
        }
        Ok(())
    }

    fn lower(&self, module: &[u32]) -> Result<(), String> {
        if self.stages.lowered {
            let family = radv::FAMILIES[(self.unit.turn() % radv::FAMILIES.len() as u64) as usize];
            radv::listing(module, 2, family)?;
        }
        Ok(())
    }

    /// Simulates a GLSL text.
    fn read_back(&self, text: &str, seen: &mut Seen) -> Result<(), String> {
        let own = self.profile.wave_size.map(|size| vec![size as usize]);
        for lanes in own.unwrap_or_else(|| self.defined_sizes(&simulator::LANES)) {
            if seen.is_new("read back", lanes, self.profile.reproducible, text) {
                let kernel = compiler::kernel_of_text(text)?;
                let after = simulator::run(&kernel, lanes, &self.request(Vec::new(), lanes))?;
                self.hold(lanes, "read back", &words(after))?;
            }
        }
        Ok(())
    }

    fn execute_text(&self, text: &str, seen: &mut Seen) -> Result<(), String> {
        let sizes = if self.stages.executed { self.defined_sizes(&lavapipe::LANES) } else { Vec::new() };
        for lanes in sizes {
            if seen.is_new("Dawn", lanes, self.profile.reproducible, text) {
                for constants in self.promises(lanes, text) {
                    let request = Request { spec_constants: constants, ..self.request(Vec::new(), lanes) };
                    let after = dawn::run(lanes, text, &request);
                    self.hold(lanes, "Dawn", &after.map_err(|why| format!("{why}\n{text}"))?)?;
                }
            }
        }
        Ok(())
    }

    /// The values that a host may give the constants of a WGSL text: none, and the size of subgroups if that is one of them.
    fn promises(&self, lanes: usize, text: &str) -> Vec<Vec<(u32, u32)>> {
        let declares = |line: &&str| line.contains("override subgroup_min_size");
        let number =
            text.lines().find(declares).and_then(|line| line.strip_prefix("@id(")?.split_once(')')?.0.parse().ok());
        let promise = number.map(|number| vec![(number, lanes as u32)]);
        std::iter::once(Vec::new()).chain(promise).collect()
    }

    fn on_gpu(&self, made: Made) -> Result<(), String> {
        match made {
            Made::Spirv(module) | Made::Wgsl(_, module) => {
                let lanes = lavapipe::own_driver().ok_or("CROSSLANE_DRIVER_LANES says how many lanes the GPU has")?;
                let after = lavapipe::run(lanes, &self.request(module, lanes))?;
                self.hold(lanes, "Vulkan", &after)
            }
            Made::Nv(program) => {
                let after = opengl::run(program, self.request(Vec::new(), 32))?;
                self.hold(32, "OpenGL", &after)
            }
            Made::Ptx(program) => {
                let after = cuda::run(&program, &self.request(Vec::new(), 32))?;
                self.hold(32, "CUDA", &after)
            }
            Made::Amd(_) | Made::Msl(..) | Made::Glsl(..) => Err("it does not run here".to_owned()),
        }
    }
}

/// The words in the simulator's buffers.
fn words(after: Vec<Vec<simulator::After>>) -> Vec<Buffers> {
    after.into_iter().map(|run| run.into_iter().map(|buffer| buffer.words).collect()).collect()
}

/// Runs a module on lavapipe, and again in a new process if the first run did not end: an endless loop does so twice.
fn twice(lanes: usize, request: &Request) -> Result<Vec<Buffers>, String> {
    let first = lavapipe::run(lanes, request);
    if lavapipe::is_stuck(&first) { lavapipe::run(lanes, request) } else { first }
}

/// The minimum environment for a profile's modules, as named by `spirv-val`.
fn environment(profile: &Profile) -> &'static str {
    if let Some(environment) = profile.client.row().environment {
        return environment;
    }
    match (profile.target, profile.version) {
        (Target::Spirv, (1, 0)) => "vulkan1.0",
        (Target::Spirv, (1, 1..=3)) => "vulkan1.1",
        (Target::Spirv, (1, 4)) => "vulkan1.1spv1.4",
        (Target::Spirv, (1, 5)) => "vulkan1.2",
        _ => "vulkan1.3",
    }
}

/// How many differences a message shows.
const SHOWN: usize = 4;

fn compare(shader: &Shader, expected: &Column, got: &[u32]) -> Result<(), String> {
    let wrong: Vec<usize> =
        (0..expected.len()).filter(|at| expected[*at].is_some_and(|want| want != got[*at])).collect();
    let line = |at: &usize| {
        let want = expected[*at].unwrap_or_default();
        format!("  word {at} ({}): expected {want:#x}, got {:#x}", shader.cell_of(*at), got[*at])
    };
    match wrong.len() {
        0 => Ok(()),
        count => {
            let lines: Vec<String> = wrong.iter().take(SHOWN).map(line).collect();
            Err(format!("{count} of {} words differ\n{}", expected.len(), lines.join("\n")))
        }
    }
}
