//! LLVM's assembler accepts the AMD lines in `explain`: every line of every plan, chosen or rejected, for every
//! operation in the catalog on every profile.
//!
//! All lines for one processor go to one run of `llvm-mc`. Without it the test is skipped on a person's machine and
//! fails if `CI=true`; `scripts/test.sh` installs it.

use crosslane::explain::listing::{Line, Unit, list};
use crosslane::lane::primitive::{Arg, Move, amd_dpp, amd_lds, amd_permlane, amd_scalar};
use crosslane::lane::{
    Activity, Input, LaneMap, LaneOp, LaneType, Operand, Plan, ReduceKind, ReduceOp, Request, Step, StepOp, StepType,
    candidates, catalog,
};
use crosslane::profile::{FeatureSet, Profile, Target};
use std::collections::BTreeSet;
use std::io::Write;
use std::process::{Command, Stdio};
use support::assembler::options;
use support::judge;

/// The assembler for a processor: some are supported only by newer ones.
fn assembler(processor: &str) -> Option<&'static str> {
    let knows = |name: &&&str| {
        let mut asked = Command::new(name);
        asked.args(["-triple=amdgcn", "--filetype=null", "/dev/null"]).arg(format!("-mcpu={processor}"));
        asked
            .output()
            .is_ok_and(|output| !String::from_utf8_lossy(&output.stderr).contains("not a recognized processor"))
    };
    ["llvm-mc-19", "llvm-mc-22"].iter().find(knows).copied()
}

/// Assembles lines for a profile; returns what the assembler rejects.
fn assemble(profile: &Profile, lines: &BTreeSet<String>) -> Result<(), String> {
    let Some(assembler) = assembler(&profile.processor) else {
        let missing = format!("no llvm-mc for {} (run scripts/test.sh)", profile.processor);
        if judge::required() {
            return Err(missing);
        }
        eprintln!("skipped: {missing}");
        return Ok(());
    };
    let mut command = Command::new(assembler);
    command.args(["-triple=amdgcn-amd-amdhsa", "-filetype=null"]);
    command.args(options(&profile.processor, profile.wave_size.unwrap_or(64)));
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|e| e.to_string())?;
    let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
    let mut stdin = child.stdin.take().expect("standard input was asked for");
    let words = std::thread::spawn(move || stdin.write_all(text.as_bytes()));
    let output = child.wait_with_output().map_err(|e| e.to_string())?;
    let _ = words.join();
    if output.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&output.stderr).into_owned()) }
}

fn amd() -> impl Iterator<Item = Profile> {
    Profile::all().filter(|profile| profile.target == Target::Amd)
}

fn add(lines: &mut BTreeSet<String>, more: &[Line]) {
    // Branch targets are not among the lines.
    let is_alone = |line: &&Line| !matches!(line.unit, Unit::Control | Unit::Label);
    lines.extend(more.iter().filter(is_alone).map(|line| line.text.clone()));
}

/// A plan of one move.
fn one_move(map: &LaneMap, step: Move, old: bool) -> Plan {
    let index = match step.args[0] {
        Arg::None => None,
        Arg::Const(value) => Some(Operand::Const(value)),
    };
    let values = [Some(Operand::Input(0)), old.then_some(Operand::Input(0)), index];
    let mut args = [Operand::None; 3];
    values.into_iter().flatten().zip(&mut args).for_each(|(value, arg)| *arg = value);
    Plan {
        rule: "one move",
        setup: Vec::new(),
        steps: vec![Step { op: StepOp::Prim(step.primitive), args, ty: StepType::DATA }],
        result: Operand::Step(0),
        second: None,
        assumes: Activity::Full,
        whole: 0..0,
        turns: None,
        fork: None,
        uniform: false,
        least_size: map.size(),
    }
}

/// Maps that some instruction on some profile implements.
fn maps(size: u32) -> Vec<LaneMap> {
    let xors = (1..size).map(|k| LaneMap::of_lanes(size, |i| i ^ k));
    let around = [1, 2, 5, 16].into_iter().map(|k| LaneMap::of_lanes(size, |i| (i + k) % size));
    let in_rows = [1, 5, 15].into_iter().map(|k| LaneMap::of_lanes(size, |i| (i & !15) | ((i + k) & 15)));
    let broadcasts = [0, 3, 31].into_iter().map(|k| LaneMap::of_lanes(size, |_| k));
    let of_rows = [0, 3, 15].into_iter().map(|k| LaneMap::of_lanes(size, |i| (i & !15) | k));
    let of_eights = [7, 3].into_iter().map(|k| LaneMap::of_lanes(size, |i| (i & !7) | ((i * 3 + k) & 7)));
    xors.chain(around).chain(in_rows).chain(broadcasts).chain(of_rows).chain(of_eights).collect()
}

type Solver = fn(&LaneMap, FeatureSet) -> Option<Move>;

/// The solvers for AMD's instructions, and whether these read the previous contents of the register.
const SOLVERS: [(Solver, bool); 7] = [
    (amd_dpp::solve_dpp16, true),
    (amd_dpp::solve_dpp8, false),
    (amd_permlane::solve_row, true),
    (amd_permlane::solve_half, false),
    (amd_permlane::solve_swap, true),
    (amd_scalar::solve_read, false),
    (amd_lds::solve_swizzle, false),
];

/// Every single move that a profile has is written in a form that the assembler accepts, for one-word and two-word
/// values.
#[test]
fn moves_assemble() {
    for profile in amd() {
        let mut lines = BTreeSet::new();
        for map in maps(profile.wave_size.unwrap_or(64)) {
            let found = SOLVERS.iter().filter_map(|(solve, keeps)| Some((solve(&map, profile.features)?, *keeps)));
            for (found, keeps) in found {
                for width in [32, 64] {
                    let value = LaneType { width, ..LaneType::U32 };
                    let inputs = [Input::varying(value), Input::varying(LaneType::U32)];
                    let plan = one_move(&map, found, keeps);
                    let op = LaneOp::Bpermute;
                    let request = Request {
                        op,
                        inputs: (&inputs).into(),
                        activity: Activity::Full,
                        index: None,
                        fragment: false,
                    };
                    let listing = list(&plan, &request, &profile).unwrap_or_else(|e| panic!("{found:?}: {e:?}"));
                    add(&mut lines, &listing.setup);
                    add(&mut lines, &listing.lines);
                }
            }
        }
        assert!(lines.len() > 20, "{}: {} lines", profile.name, lines.len());
        assemble(&profile, &lines).unwrap_or_else(|words| panic!("{}:\n{words}", profile.name));
    }
}

/// Every line that `explain` shows for an operation in the catalog, on the profiles whose names have one of these
/// prefixes.
fn plans_assemble(names: &[&str], waves: u32) {
    let mut wrong = Vec::new();
    let is_named = |profile: &Profile| names.iter().any(|name| profile.name.starts_with(name));
    for profile in amd().filter(|profile| is_named(profile) && profile.wave_size == Some(waves)) {
        let mut found = Found::default();
        catalog::all().iter().filter(|sample| is_tried(sample)).for_each(|sample| found.sample(sample, &profile));
        assert!(found.lines.len() > 100, "{}: {} lines", profile.name, found.lines.len());
        found.wrong.extend(assemble(&profile, &found.lines).err());
        wrong.extend(found.wrong.iter().map(|text| format!("{}: {text}", profile.name)));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Reductions with other operators differ only in one name, for which a width or two are enough.
fn is_tried(sample: &catalog::Sample) -> bool {
    match sample.op {
        LaneOp::Reduce {
            op: ReduceOp::Add | ReduceOp::Mul, kind: ReduceKind::Reduce | ReduceKind::AllReduce, ..
        } => true,
        LaneOp::Reduce { width, .. } => [Some(8), Some(64), None].contains(&width.lanes()),
        _ => true,
    }
}

#[test]
fn plans_for_gcn_assemble() {
    plans_assemble(&["gfx6", "gfx7", "gfx8", "gfx900", "gfx906"], 64);
}

#[test]
fn plans_for_cdna_assemble() {
    plans_assemble(&["gfx908", "gfx90a", "gfx942", "gfx950"], 64);
}

#[test]
fn plans_for_rdna_assemble() {
    plans_assemble(&["gfx10", "gfx11", "gfx12"], 32);
}

#[test]
fn plans_for_long_waves_of_rdna_assemble() {
    plans_assemble(&["gfx10", "gfx11", "gfx12"], 64);
}

/// The results of a profile's plans.
#[derive(Default)]
struct Found {
    lines: BTreeSet<String>,
    wrong: BTreeSet<String>,
}

impl Found {
    fn sample(&mut self, sample: &catalog::Sample, profile: &Profile) {
        let request = sample.request();
        let Ok(found) = candidates(&request, profile) else { return };
        for candidate in std::iter::once(&found.chosen).chain(&found.others) {
            let name = format!("{} by {}", sample.family, candidate.plan.rule);
            match list(&candidate.plan, &request, profile) {
                Ok(listing) => {
                    add(&mut self.lines, &listing.setup);
                    add(&mut self.lines, &listing.lines);
                }
                Err(reason) => drop(self.wrong.insert(format!("{name}: {}", reason.0))),
            }
        }
    }
}
