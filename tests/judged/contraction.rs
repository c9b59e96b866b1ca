//! Contraction of floats: random chains of products and sums, compiled as users compile them.
//!
//! AMD and PTX texts must give the same bits as the simulator running the kernel after the pass. Those results, and the
//! results of NVIDIA's assembly, which the driver contracts, must lie within the rounding errors of the chain;
//! `precise` results have only one correct value. `CROSSLANE_RANDOM=SEED:COUNT` runs other chains.

use crosslane::compile::{self, Input, Language, Options};
use crosslane::ir::{FpContract, InstFlags, Module};
use crosslane::kernel::{self, Kernel, Op, Specializations, TernOp};
use crosslane::profile::{Profile, Target};
use crosslane::source::NoIncludes;
use support::generator::contraction::Chain;
use support::generator::program::{INVOCATIONS, RESULTS, keep};
use support::interpret::{Order, interpret};
use support::lavapipe::{Buffers, Request};
use support::pattern::{Domain, PATTERNS};
use support::ptx::SCHEDULES;
use support::scalar::Type;
use support::trial::{Trial, trial};
use support::{compiler, nv, ptx, seeds, simulator};

/// Chains that each run of the tests tries.
const USUAL: u64 = 60;

/// Minimum average number of fused operations per chain on processors where they are fast.
const FEWEST: usize = 3;

/// The profiles that chains use in turn.
const PROFILES: [&str; 9] =
    ["gfx1100", "ptx-sm70", "nv-hopper", "gfx900", "gfx1201", "ptx-sm30", "gfx942", "gfx803", "gfx1030-wave64"];

pub fn trials() -> Vec<Trial> {
    let batch = |seeds: std::ops::Range<u64>| trial(format!("seeds_{}", seeds.start), move || hold(seeds));
    seeds::batches(USUAL).map(batch).collect()
}

/// Holds some chains, each for three profiles, and counts the fused operations.
fn hold(seeds: std::ops::Range<u64>) -> Result<(), String> {
    let (mut fast, mut fused) = (0, 0);
    for seed in seeds {
        let chain = Chain::new(seed);
        for turn in 0..3 {
            let name = PROFILES[(seed as usize + 3 * turn) % PROFILES.len()];
            let profile = Profile::named(name).ok_or_else(|| format!("no profile {name}"))?;
            let found = Judged { seed, chain: &chain, profile: &profile }.hold();
            let found = found.map_err(|why| format!("seed {seed}, {name}: {why}\n{}", keep(seed, &chain.source)))?;
            let is_fast = profile.fast_fma().contains(&chain.width.bits());
            if !is_fast && found > 0 {
                return Err(format!("seed {seed}, {name}: {found} operations are fused and slow"));
            }
            (fast, fused) = (fast + usize::from(is_fast), fused + found);
        }
    }
    if fused < FEWEST * fast { Err(format!("{fused} fused operations in {fast} kernels")) } else { Ok(()) }
}

struct Judged<'a> {
    seed: u64,
    chain: &'a Chain,
    profile: &'a Profile,
}

impl Judged<'_> {
    /// Gives the number of fused operations.
    fn hold(&self) -> Result<usize, String> {
        let (request, lanes) = (request(), self.profile.wave_size.unwrap_or(32) as usize);
        let kernel = self.kernel(FpContract::Fast)?;
        let model = simulator::run(&kernel, lanes, &request)?;
        let after = self.run(&request)?;
        let exact = self.kernel(FpContract::Off)?;
        if fused(&exact) > 0 || !arithmetic(&exact).all(|flags| flags.contains(InstFlags::PRECISE)) {
            return Err("contraction is off, and not all is exact".to_owned());
        }
        let uncontracted = simulator::run(&exact, lanes, &request)?;
        for (n, before) in request.runs.iter().enumerate() {
            let [model, uncontracted] = [&model[n][1].words, &uncontracted[n][1].words];
            self.chain.judge(&before[0], uncontracted).map_err(|why| format!("without contraction, {why}"))?;
            self.chain.judge(&before[0], &after[n][1])?;
            self.is_model(model, &after[n][1])?;
        }
        Ok(fused(&kernel))
    }

    fn options(&self, fp_contract: FpContract) -> Options {
        Options { fp_contract, ..Options::new(self.profile.clone()) }
    }

    fn module(&self, fp_contract: FpContract) -> Result<Module, String> {
        let parsed = compile::parse(&self.input(), &self.options(fp_contract), &NoIncludes);
        parsed.module.ok_or_else(|| format!("{:?}", parsed.diagnostics))
    }

    fn kernel(&self, fp_contract: FpContract) -> Result<Kernel, String> {
        let made = kernel::finish(&self.module(fp_contract)?, &Specializations::new(), self.profile);
        made.map_err(|errors| format!("{errors:?}"))
    }

    fn input(&self) -> Input<'_> {
        Input { name: "chain.comp", bytes: self.chain.source.as_bytes(), language: Language::Glsl }
    }

    /// The buffers after running the text.
    fn run(&self, request: &Request) -> Result<Vec<Buffers>, String> {
        let (options, none) = (self.options(FpContract::Fast), Specializations::new());
        match self.profile.target {
            Target::Amd => {
                let program = compiler::amd_program(&self.input(), &options, &none)?;
                interpret(&program, &self.profile.processor, request, Order::Ascending)
            }
            Target::Ptx => {
                let program = compiler::ptx_program(&self.input(), &options, &none)?;
                ptx::run(&program, request, SCHEDULES[self.seed as usize % SCHEDULES.len()])
            }
            _ => {
                let program = compiler::nv_program(&self.input(), &options, &none)?;
                nv::run(&program.text, &program.reflection, request)
            }
        }
    }

    fn is_model(&self, model: &[u32], after: &[u32]) -> Result<(), String> {
        let differs = model.iter().zip(after).position(|(model, after)| model != after);
        match differs {
            Some(at) => Err(format!("word {at} is {:#x}, in the simulator {:#x}", after[at], model[at])),
            None => Ok(()),
        }
    }
}

fn request() -> Request {
    let given = Domain::Any(Type::I32);
    let run = |&pattern| vec![given.words(pattern, 3, 2 * INVOCATIONS), vec![0; 2 * RESULTS * INVOCATIONS]];
    Request::new(Vec::new(), 1, PATTERNS[..2].iter().map(run).collect())
}

fn fused(kernel: &Kernel) -> usize {
    kernel.insts.iter().filter(|(_, inst)| matches!(inst.op, Op::Tern(TernOp::Fma, _))).count()
}

/// The flags of products and sums of floats.
fn arithmetic(kernel: &Kernel) -> impl Iterator<Item = InstFlags> {
    use crosslane::kernel::BinOp::{Add, Mul, Sub};
    let of = |op| matches!(op, Op::Bin(Add | Sub | Mul, ty) if ty.is_float());
    kernel.insts.iter().filter(move |(_, inst)| of(inst.op)).map(|(_, inst)| inst.flags)
}
