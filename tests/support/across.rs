//! One text in subgroups of every size: in the simulator, and on targets of every kind.

use crosslane::compile::{Artifact, Input, Language, Options, Verdict, compile};
use crosslane::ir::{Scope, Stage};
use crosslane::kernel::{Kernel, Op, Specializations};
use crosslane::profile::{Profile, Target};
use crosslane::source::NoIncludes;

use super::interpret::{self, Order};
use super::lavapipe::{self, Buffers, Request};
use super::{compiler, dawn, dxc, nv, ptx, simulator};

/// Targets: a profile, and the lanes of the driver's subgroups if it chooses them.
pub const TARGETS: [(&str, usize); 12] = [
    ("ptx-sm70", 32),
    ("spirv-1.6", 4),
    ("gfx1100-wave32", 32),
    ("nv-volta", 32),
    ("spirv-1.3", 8),
    ("wgsl", 4),
    ("gfx900", 64),
    ("glsl-450-khr", 8),
    ("gfx1200-wave32", 32),
    ("hlsl-6.2", 8),
    ("spirv-1.5", 16),
    ("wgsl", 8),
];

/// What the targets need.
pub fn judges() -> Vec<&'static str> {
    [&["bin/glslangValidator", "lvp.json", dxc::JUDGE][..], &dawn::JUDGES].concat()
}

/// A shader whose second buffer has the results.
pub struct Text<'a> {
    pub name: &'a str,
    pub source: &'a str,
    pub request: Request,
    /// Words of the results of an invocation.
    pub results: usize,
}

impl Text<'_> {
    fn input(&self) -> Input<'_> {
        Input { name: self.name, bytes: self.source.as_bytes(), language: Language::Glsl }
    }

    fn kernel(&self, lanes: usize, reproducible: bool) -> Result<Kernel, String> {
        let mut options = ordered("spirv-1.6");
        options.profile.reproducible = reproducible;
        options.profile = options.profile.with_wave_size(Some(lanes as u32));
        compiler::parsed(&self.input(), &options, &Specializations::new())
    }

    /// The buffers after a run in the simulator.
    ///
    /// # Errors
    /// Returns why it does not run, or that a result is undefined.
    pub fn simulated(&self, lanes: usize) -> Result<Vec<Buffers>, String> {
        let after = simulator::run(&self.kernel(lanes, true)?, lanes, &self.request)?;
        if after.iter().any(|run| run[1].undefined.contains(&true)) {
            return Err(format!("a word is undefined in {lanes} lanes"));
        }
        Ok(after.into_iter().map(|run| run.into_iter().map(|buffer| buffer.words).collect()).collect())
    }

    /// Removes one barrier of the kernel at a time. Returns how many removals the simulator notices, and how many it does
    /// not.
    ///
    /// # Errors
    /// Returns why it does not compile.
    pub fn without_barriers(&self, lanes: usize) -> Result<[usize; 2], String> {
        let kernel = self.kernel(lanes, false)?;
        let mut counts = [0; 2];
        for (block, data) in kernel.blocks.iter() {
            for (at, inst) in data.insts.iter().enumerate() {
                if !matches!(kernel.insts[*inst].op, Op::Barrier { execution: Some(Scope::Workgroup), .. }) {
                    continue;
                }
                let mut without = kernel.clone();
                without.blocks[block].insts.remove(at);
                counts[usize::from(simulator::run(&without, lanes, &self.request).is_ok())] += 1;
            }
        }
        Ok(counts)
    }

    /// Runs it in the simulator in subgroups of every size, which must leave the same. Returns that.
    ///
    /// # Errors
    /// Returns the first difference.
    pub fn simulated_alike(&self) -> Result<Vec<Buffers>, String> {
        let expected = self.simulated(64)?;
        for lanes in simulator::LANES {
            self.same(&format!("simulated in {lanes} lanes"), &expected, &self.simulated(lanes)?)?;
        }
        Ok(expected)
    }

    /// Compares the run on a target.
    ///
    /// # Errors
    /// Returns the first difference.
    pub fn check_target(&self, (name, lanes): (&str, usize), expected: &[Buffers]) -> Result<(), String> {
        self.check(name, &ordered(name), lanes, expected)
    }

    /// Compares the run with these options.
    ///
    /// # Errors
    /// Returns the first difference.
    pub fn check(&self, name: &str, options: &Options, lanes: usize, expected: &[Buffers]) -> Result<(), String> {
        let who = format!("{name} in {lanes} lanes");
        let after = self.on_target(options, lanes).map_err(|why| format!("{who}: {why}"))?;
        self.same(&who, expected, &after)
    }

    fn on_target(&self, options: &Options, lanes: usize) -> Result<Vec<Buffers>, String> {
        let (input, settings) = (&self.input(), Specializations::new());
        let request = &self.request;
        match options.profile.target {
            Target::Ptx => ptx::run(&compiler::ptx_program(input, options, &settings)?, request, ptx::SCHEDULES[0]),
            Target::Nv => {
                let program = compiler::nv_program(input, options, &settings)?;
                nv::run(&program.text, &program.reflection, request)
            }
            Target::Amd => {
                let program = compiler::amd_program(input, options, &settings)?;
                interpret::interpret(&program, &options.profile.processor, request, Order::Ascending)
            }
            target => match (target, artifact(input, options)?) {
                (Target::Wgsl, Artifact::Text(text)) => dawn::run(lanes, &text, request),
                (_, artifact) => {
                    let spirv = compiler::module_of(target, artifact, Stage::Compute)?;
                    lavapipe::run(lanes, &Request { spirv, ..request.clone() })
                }
            },
        }
    }

    /// Compares the results of two runs.
    ///
    /// # Errors
    /// Returns the first difference.
    pub fn same(&self, who: &str, expected: &[Buffers], got: &[Buffers]) -> Result<(), String> {
        for (run, (expected, got)) in expected.iter().zip(got).enumerate() {
            if let Some(at) = (0..expected[1].len()).find(|at| expected[1][*at] != got[1][*at]) {
                let (want, got) = (expected[1][at], got[1][at]);
                let place = format!("word {} of invocation {}", at % self.results, at / self.results);
                return Err(format!("{who}, run {run}: {place} is {got:#x} instead of {want:#x}"));
            }
        }
        Ok(())
    }
}

/// The options for a profile by name, with sums in the guaranteed order.
///
/// # Panics
/// If there is no such profile.
pub fn ordered(profile: &str) -> Options {
    let profile = Profile::named(profile).expect("a built-in profile");
    compiler::exact(Profile { reproducible: true, ..profile })
}

fn artifact(input: &Input<'_>, options: &Options) -> Result<Artifact, String> {
    let made = compile(input, options, &NoIncludes);
    let messages: Vec<_> = made.diagnostics.iter().collect();
    match made.verdict {
        Verdict::Done(artifact) => Ok(artifact),
        Verdict::ShaderWrong | Verdict::ProfileLacks => Err(format!("{messages:?}")),
    }
}
