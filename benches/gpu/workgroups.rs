//! Operations over the workgroup and over segments as SPIR-V, beside GLSL that was written by hand for the size and
//! compiled by glslang.
//!
//! crosslane's module comes in two forms: for subgroups of any size, of which the driver keeps the branch that fits,
//! and for subgroups of 32 lanes alone.

use crosslane::compile::{Input, Language, Options, Verdict, compile};
use crosslane::profile::Profile;
use crosslane::run::Job;
use crosslane::run::vulkan::Device;
use crosslane::source::NoIncludes;
use support::device::vulkan::Timed;
use support::rates::{self, GROUP, GROUPS, Ratio, Turns, geometric_mean, microseconds};
use support::{judge, report};

use crate::SPIRV;

/// How often each kernel is measured: the number of rounds, and of runs per round.
const TURNS: usize = 7;
const RUNS: u32 = 5;

/// The profile of the module for subgroups of any size.
const ANY: &str = "spirv-1.6";

/// Operations, each with a function that does the same.
fn rows() -> [(&'static str, String); 5] {
    [
        ("workgroupAllReduceAdd(v)", WHOLE.to_owned()),
        ("workgroupInclusiveAdd(v)", scan("Inclusive", "own")),
        ("workgroupExclusiveAdd(v)", scan("Exclusive", "own + v")),
        ("allReduceAdd(v, 16)", "T by_hand(T v) { return subgroupClusteredAdd(v, 16); }".to_owned()),
        ("inclusiveAdd(v, 32)", "T by_hand(T v) { return subgroupInclusiveAdd(v); }".to_owned()),
    ]
}

const WHOLE: &str = "shared T parts[32];
T by_hand(T v) {
    T own = subgroupAdd(v);
    if (subgroupElect()) parts[gl_SubgroupID] = own;
    barrier();
    T all = subgroupAdd(gl_SubgroupInvocationID < gl_NumSubgroups ? parts[gl_SubgroupInvocationID] : T(0));
    barrier();
    return all;
}";

/// A scan; `sum` is the sum of a subgroup in its last lane.
fn scan(form: &str, sum: &str) -> String {
    format!(
        "shared T parts[32];
T by_hand(T v) {{
    T own = subgroup{form}Add(v);
    if (gl_SubgroupInvocationID == 31u) parts[gl_SubgroupID] = {sum};
    barrier();
    T before = subgroupExclusiveAdd(gl_SubgroupInvocationID < gl_NumSubgroups ? parts[gl_SubgroupInvocationID] : T(0));
    before = subgroupBroadcast(before, gl_SubgroupID);
    barrier();
    return before + own;
}}"
    )
}

const EXTENSIONS: [&str; 5] = [
    "KHR_shader_subgroup_basic",
    "KHR_shader_subgroup_ballot",
    "KHR_shader_subgroup_arithmetic",
    "KHR_shader_subgroup_clustered",
    "KHR_shader_subgroup_shuffle",
];

/// The page's section.
pub fn section(device: &Device) -> String {
    let mut measured: Vec<(Vec<String>, Ratio)> = Vec::new();
    for (ours, theirs) in &rows() {
        let groups: &[u32] = if ours.starts_with("workgroup") { &[128, 256, 512, 1024] } else { &[256] };
        for (group, ty) in groups.iter().flat_map(|group| [(*group, "uint"), (*group, "float")]) {
            measured.push(Comparison { ours, theirs, ty, group }.measure(device));
        }
    }
    let mean = geometric_mean(&measured.iter().map(|(_, ratio)| ratio.middle).collect::<Vec<_>>());
    let cells: Vec<Vec<String>> = measured.into_iter().map(|(cells, _)| cells).collect();
    let head =
        ["operation", "any size, µs", "32 lanes, µs", "by hand, µs", "any size to by hand", "any size to 32 lanes"];
    format!(
        "On {}, a million invocations do an operation 256 times and add up the results: medians of {TURNS} rounds of {RUNS} runs. The modules \
         for any size are for `{ANY}`, those for 32 lanes for `{SPIRV}` with `--wave-size 32`. Geometric mean beside the GLSL by hand: {}.\n\n{}",
        device.info().name,
        mean.map_or("–".to_owned(), |mean| format!("{mean:.3}")),
        report::table(&head, &cells)
    )
}

#[derive(Clone, Copy)]
struct Comparison<'a> {
    ours: &'a str,
    theirs: &'a str,
    ty: &'static str,
    group: u32,
}

impl Comparison<'_> {
    fn measure(self, device: &Device) -> (Vec<String>, Ratio) {
        let next = if self.ty == "float" { "sum * 0.01 + v" } else { "sum ^ v" };
        let kernel =
            |extensions: &[&str], operation: &str| rates::kernel_of(self.group, self.ty, extensions, operation, next);
        let by_hand = format!("#define T {}\n{}\nvoid main()", self.ty, self.theirs);
        let theirs = kernel(&EXTENSIONS, "by_hand(v)").replace("void main()", &by_hand);
        let ours = kernel(&["CROSSLANE_portable"], self.ours);
        let modules = [
            module(&ours, ANY, None),
            module(&ours, SPIRV, Some(32)),
            judge::glslang(&theirs).unwrap_or_else(|why| panic!("{}: {why}", self.ours)),
        ];
        let groups = [GROUP * GROUPS / self.group, 1, 1];
        let buffers = rates::buffers(self.ty, GROUP * GROUPS);
        let load = |spirv: &Vec<u32>| Timed::new(device, &Job::new(spirv, groups), &buffers);
        let programs = modules.each_ref().map(|spirv| load(spirv).unwrap_or_else(|why| panic!("{}: {why}", self.ours)));
        let mut times = [Turns::new(), Turns::new(), Turns::new()];
        for turn in 0..=TURNS {
            for (program, times) in programs.iter().zip(&mut times) {
                let run = program.time(groups, RUNS).expect("it was loaded");
                // The first round only wakes the clocks.
                if turn > 0 {
                    times.push(run);
                }
            }
        }
        let [any, known, theirs] = &times;
        let time = |turns: &Turns| format!("{:.1}", microseconds(turns));
        let (beside, fold) = (Ratio::new(any, theirs), Ratio::new(any, known));
        let name = format!("`{}`, {}, {}", self.ours, self.ty, self.group);
        (vec![name, time(any), time(known), time(theirs), beside.to_string(), fold.to_string()], beside)
    }
}

fn module(source: &str, profile: &str, lanes: Option<u32>) -> Vec<u32> {
    let mut options = Options::new(Profile::named(profile).expect("a built-in profile"));
    options.profile = options.profile.with_wave_size(lanes);
    let input = Input { name: "bench.comp", bytes: source.as_bytes(), language: Language::Glsl };
    match compile(&input, &options, &NoIncludes).verdict {
        Verdict::Done(crosslane::compile::Artifact::Spirv(words)) => words,
        _ => panic!("no module of\n{source}"),
    }
}
