//! `explain` and `check` through the binary: their text for a few shaders and profiles as snapshots, their JSON, their
//! pages, and their exit status.

use crosslane::backend::{Backend, Form, Options, Writer};
use crosslane::compile;
use crosslane::explain::alone::alone;
use crosslane::explain::listing::list;
use crosslane::ir::{Module, Stage};
use crosslane::kernel::finish_by;
use crosslane::lane::planner::unproven;
use crosslane::lane::{Candidate, Candidates, Plan, PlanCost, Request, candidates, catalog};
use crosslane::profile::processor::Processor;
use crosslane::profile::{Profile, Target};
use crosslane::source::{NoIncludes, SourceMap};
use serde_json::Value;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::{Command, Output};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock};
use support::snapshot;

fn crosslane(args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_crosslane"));
    command.current_dir(env!("CARGO_MANIFEST_DIR")).args(args).env_remove("COLUMNS");
    command.output().expect("the program starts")
}

/// The output of a command that succeeds.
fn printed(args: &[&str]) -> String {
    let output = crosslane(args);
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).expect("UTF-8")
}

fn status(args: &[&str]) -> i32 {
    crosslane(args).status.code().expect("it ended by itself")
}

fn kept(name: &str, text: &str) {
    snapshot::hold("explain", name, "", text);
}

const TOUR: &str = "fixtures/explain/tour.comp";
const PROFILES: &[&str] = &["-p", "spirv-1.5", "-p", "nv-kepler"];

fn with_profiles<'a>(args: &[&'a str]) -> Vec<&'a str> {
    args.iter().chain(PROFILES).copied().collect()
}

#[test]
fn text_for_several_profiles() {
    kept("tour", &printed(&with_profiles(&["explain", TOUR])));
    kept("tour-wgsl", &printed(&["explain", "fixtures/explain/tour.wgsl", "-p", "nv-hopper"]));
}

const COPIES: &str = "fixtures/explain/copies.comp";

/// Copies of an operation made by unrolling and inlining, and the remainder of an unused one.
#[test]
fn copies_of_an_operation_are_told_apart() {
    kept("copies", &printed(&["explain", COPIES, "-p", "spirv-1.5", "-p", "gfx900"]));
}

/// Moves of a struct's parts are reported together, each kind once.
#[test]
fn structs_are_told_by_their_moves() {
    let text = printed(&["explain", "fixtures/explain/whole.comp", "-p", "spirv-1.5", "-p", "nv-kepler"]);
    assert!(text.contains("struct P of 3 members: 4 moves, 3 of them like this one"), "{text}");
    assert!(text.contains("array of 2 elements: 2 moves, all of them like this one"), "{text}");
    kept("whole", &text);
}

/// The proposal's sequences are named, and cost the least: DS_SWIZZLE before DPP, then DPP in ascending order.
#[test]
fn sequences_of_the_proposal_are_named() {
    let on = |profile| printed(&["explain", "fixtures/explain/proposal.comp", "-p", profile]);
    let forms = [
        ("gfx600", "ds_swizzle_b32"),
        ("gfx701", "ds_swizzle_b32"),
        ("gfx803", "row_bcast:31"),
        ("gfx900", "v_readlane_b32"),
    ];
    for (profile, line) in forms {
        let text = on(profile);
        assert!(text.matches("as in the 2016 proposal").count() == 2 && text.contains(line), "{text}");
    }
}

/// Returns true if a text contains lines in this order; margins may differ.
fn stand_in<'a>(shown: impl Iterator<Item = &'a str>, text: &str) -> bool {
    let mut rest = text.lines().map(str::trim);
    shown.map(str::trim).all(|line| rest.any(|other| other == line))
}

/// The texts of lines in the JSON of a lowering.
fn texts(lines: &Value) -> impl Iterator<Item = &str> {
    lines.as_array().into_iter().flatten().filter_map(|line| line["text"].as_str())
}

/// The lines shown for a shader are the emitted ones.
#[test]
fn shown_lines_are_those_of_the_program() {
    let profiles = ["spirv-1.3", "spirv-1.6", "nv-kepler", "gfx701", "gfx900", "gfx1100", "gfx1201"];
    let shaders = [TOUR, COPIES, "fixtures/explain/whole.comp", SPANNING];
    for (shader, profile) in shaders.into_iter().flat_map(|shader| profiles.map(|profile| (shader, profile))) {
        let report = printed(&["explain", shader, "-p", profile, "--json"]);
        let report: Value = serde_json::from_str(&report).expect("JSON");
        let program = printed(&["compile", shader, "-p", profile, "-S"]);
        let mut shown = 0;
        for operation in report["operations"].as_array().expect("a list") {
            let lowering = &operation["profiles"][0];
            for lowering in std::iter::once(lowering).chain(lowering["copies"].as_array().into_iter().flatten()) {
                let narrower = steps(&lowering["narrower"]).map(|step| &step["lowering"]);
                let codes = std::iter::once(lowering).chain(narrower);
                for lines in codes.flat_map(|code| [&code["setup"], &code["sequence"]]) {
                    assert!(stand_in(texts(lines), &program), "{shader} {profile}: {lines:#} is not in\n{program}");
                    shown += texts(lines).count();
                }
            }
        }
        assert!(shown > 0, "{shader} {profile}");
    }
}

/// The text compiled from a module for a profile, with one plan for all its operations.
fn program(module: &Module, plan: &Plan, profile: &Profile) -> String {
    let (options, none) = (Options::new(profile.clone()), SourceMap::default());
    let written = match &Backend::of(profile.target).writer {
        Writer::Kernel(writer) => {
            let draft = finish_by(module, plan, profile).and_then(|kernel| (writer.draft)(&kernel, &options, &none));
            draft.map(|draft| draft.text(profile))
        }
        Writer::Module(writer) => {
            let options = Options { plan: Some(plan.clone()), ..options };
            (writer.write)(module, Form::Text, &options, &none).map(|text| String::from_utf8(text.to_bytes()).unwrap())
        }
    };
    written.unwrap_or_else(|e| panic!("{}: {e:?}", profile.name))
}

/// Returns true if a line of a program belongs to a cross-lane operation only.
fn is_lane(line: &str) -> bool {
    let line = line.trim();
    let line = line.split_once(" = ").map_or(line, |(_, instruction)| instruction);
    let names = [
        "SHF",
        "TG",
        "QSWZ",
        "ds_swizzle",
        "ds_bpermute",
        "ds_permute",
        "v_permlane",
        "v_readlane",
        "v_writelane",
        "OpGroup",
        "OpControlBarrier",
        "OpLoopMerge",
    ];
    names.iter().any(|name| line.starts_with(name)) || line.contains("_dpp ")
}

/// The lines shown for one plan, with the planner's estimate.
pub struct Shown {
    pub profile: String,
    pub target: Target,
    pub operation: String,
    pub rule: &'static str,
    /// True for the chosen plan; the rejected plans follow it.
    pub is_chosen: bool,
    /// Instructions at the operation, instructions of the setup, wait states.
    pub priced: [u32; 3],
    pub written: [u32; 3],
    /// The number that decides, for the emitted instructions. Wait states are estimated, because others depend on the
    /// code around the operation.
    pub weighed: u64,
    lines: usize,
}

/// All plans for an operation, the chosen one first.
fn plans(request: &Request, profile: &Profile) -> Vec<Candidate> {
    let Ok(Candidates { chosen, others, .. }) = candidates(request, profile) else { return Vec::new() };
    assert_eq!(unproven(request, profile).as_ref(), Ok(&chosen.plan), "{}: another plan is compiled", profile.name);
    std::iter::once(chosen).chain(others).collect()
}

/// Checks that the lines shown for operations, with each of their plans, are those compiled from a module with only
/// that operation.
fn check_shown(profile: &Profile) -> Vec<Shown> {
    let mut all = Vec::new();
    for sample in catalog::all() {
        let request = sample.request();
        for (n, Candidate { plan, cost, .. }) in plans(&request, profile).into_iter().enumerate() {
            let what = format!("{}: {} by {}", profile.name, sample.family, plan.rule);
            let listing = match list(&plan, &request, profile) {
                Ok(listing) => listing,
                // Another plan may need a built-in value that the stage does not have.
                Err(_) if n > 0 => continue,
                Err(e) => panic!("{what}: {e:?}"),
            };
            let program = program(&alone(&request, profile), &plan, profile);
            for lines in [&listing.setup, &listing.lines] {
                let texts = lines.iter().map(|line| line.text.as_str());
                assert!(stand_in(texts, &program), "{what}: {lines:#?} is not in\n{program}");
            }
            let counted = listing.setup.iter().chain(&listing.lines).filter(|line| is_lane(&line.text)).count();
            assert_eq!(
                program.lines().filter(|line| is_lane(line)).count(),
                counted,
                "{what}: {listing:#?}\n{program}"
            );
            let [instructions, setup] = [listing.instructions() - listing.set_up_among, listing.set_up_instructions()]
                .map(|count| count as u32);
            all.push(Shown {
                profile: profile.name.to_string(),
                target: profile.target,
                operation: format!("{:?} of {:?}", sample.op, sample.inputs),
                rule: plan.rule,
                is_chosen: n == 0,
                priced: [cost.written(), cost.setup, cost.waits],
                written: [instructions, setup, listing.wait_states],
                weighed: PlanCost { instructions: instructions.saturating_sub(cost.rare), setup, ..cost }
                    .weighed(&profile.weights),
                lines: listing.setup.len() + listing.lines.len(),
            });
        }
    }
    all
}

/// The whole catalog on each kind of profile, in the order of the profiles.
pub fn shown_of_catalog() -> &'static [Shown] {
    static ALL: OnceLock<Vec<Shown>> = OnceLock::new();
    ALL.get_or_init(|| Target::ALL.map(|target| on_each(target, check_shown)).into_iter().flatten().flatten().collect())
}

/// One profile of each kind for which a target's programs differ.
fn kinds(target: Target) -> Vec<Profile> {
    let mut kinds: Vec<Profile> = Vec::new();
    let processor = |profile: &Profile| Processor::named(&profile.processor).map(|own| Processor { name: "", ..*own });
    for profile in Profile::all().filter(|profile| profile.target == target && has_compute(profile)) {
        if !kinds.iter().any(|kind| kind.plans_like(&profile) && processor(kind) == processor(&profile)) {
            kinds.push(profile);
        }
    }
    kinds
}

/// Returns true if a profile has compute shaders, for which operations are shown.
fn has_compute(profile: &Profile) -> bool {
    let bytes = b"#version 450\nlayout(local_size_x = 1) in;\nvoid main() {}\n";
    let input = compile::Input { name: "empty.comp", bytes, language: compile::Language::Glsl };
    let options = compile::Options { stage: Some(Stage::Compute), ..compile::Options::new(profile.clone()) };
    matches!(compile::compile(&input, &options, &NoIncludes).verdict, compile::Verdict::Done(_))
}

/// Runs work on the kinds of profiles of a target, on several threads.
fn on_each<T: Send>(target: Target, work: impl Fn(&Profile) -> T + Sync) -> Vec<T> {
    let kinds = kinds(target);
    let (next, done) = (AtomicUsize::new(0), Mutex::new(BTreeMap::new()));
    let take = || {
        while let Some((n, kind)) = Some(next.fetch_add(1, Ordering::Relaxed)).and_then(|n| Some((n, kinds.get(n)?))) {
            let result = work(kind);
            done.lock().expect("no thread panics with it").insert(n, result);
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(2, usize::from) {
            scope.spawn(take);
        }
    });
    done.into_inner().expect("no thread panics with it").into_values().collect()
}

#[test]
fn shown_lines_of_operations_are_those_of_their_programs() {
    let mut lines: BTreeMap<&str, usize> = BTreeMap::new();
    shown_of_catalog().iter().for_each(|shown| *lines.entry(&shown.profile).or_default() += shown.lines);
    let few: Vec<&&str> = lines.iter().filter(|(_, count)| **count <= 500).map(|(name, _)| name).collect();
    assert!(lines.len() > 20 && few == [&"hlsl-5.1", &"msl-ios-2.1", &"wgsl-nosubgroups"], "{lines:?}");
}

#[test]
fn wide_text_has_its_profiles_side_by_side() {
    let narrow = printed(&with_profiles(&["explain", TOUR]));
    let wide = printed(&with_profiles(&["explain", TOUR, "--width", "400"]));
    let both = |line: &str| line.contains("spirv-1.5: ") && line.contains("nv-kepler: ");
    assert!(wide.lines().any(both) && !narrow.lines().any(both));
    assert!(wide.lines().count() < narrow.lines().count());
}

#[test]
fn json_has_its_schema() {
    let text = printed(&with_profiles(&["explain", TOUR, "--json"]));
    let report: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(report["schema"], "crosslane-explain-1");
    assert_eq!(report["profiles"][1]["name"], "nv-kepler");
    assert_eq!(report["profiles"][1]["wave_size"], 32);
    let operations = report["operations"].as_array().expect("a list");
    assert!(operations.len() > 4);
    for operation in operations {
        let place = &operation["place"];
        assert!(place["line"].as_u64() > Some(0) && place["code"].as_str().is_some_and(|code| !code.is_empty()));
        let answers = operation["profiles"].as_array().expect("a list");
        assert_eq!(answers.len(), 2);
        answers.iter().for_each(check_lowering);
    }
}

/// Counts agree with lines, and every picture has a cell for each lane.
fn check_lowering(answer: &Value) {
    assert_eq!(answer["status"], "planned", "{answer}");
    let lines = answer["sequence"].as_array().expect("a list");
    let units = answer["units"].as_array().expect("a list");
    let counted: u64 = units.iter().filter_map(|unit| unit["count"].as_u64()).sum();
    assert_eq!(counted, lines.iter().filter(|line| line["unit"] != "wait" && line["unit"] != "label").count() as u64);
    for row in answer["picture"]["rows"].as_array().into_iter().flatten() {
        assert_eq!(row["cells"].as_array().map(Vec::len), answer["picture"]["lanes"].as_u64().map(|n| n as usize));
    }
}

/// A page, written to a file that is then removed.
fn page(args: &[&str]) -> String {
    let path: PathBuf = std::env::temp_dir().join(format!("crosslane-explain-{}.html", std::process::id()));
    let name = path.to_str().expect("UTF-8");
    assert_eq!(printed(&args.iter().copied().chain(["--html", name]).collect::<Vec<_>>()), "");
    let text = std::fs::read_to_string(&path).expect("a page");
    std::fs::remove_file(&path).expect("it was there");
    text
}

#[test]
fn pages_need_nothing_else_and_are_well_formed() {
    let page = page(&with_profiles(&["explain", TOUR]));
    let fetched = page.replace("xmlns=\"http://www.w3.org/2000/svg\"", "");
    for word in ["http:", "https:", "src=", "@import", "<script", "<link", "url(h"] {
        assert!(!fetched.contains(word), "{word}");
    }
    for text in ["allReduceAdd8(x[i])", "shuffleUpNV(", "<svg", "SHFXOR.U R1.y", "prefers-color-scheme", "<details>"] {
        assert!(page.contains(text), "{text}");
    }
    balanced(&page);
}

#[test]
fn a_page_begins_with_all_operations_on_all_profiles() {
    let page = page(&with_profiles(&["explain", TOUR]));
    let (table, rest) = page.split_once("</table>").expect("a table");
    let rows = table.matches("<tr>").count() - 1;
    assert_eq!(rows, rest.matches("<section id=\"op").count());
    assert_eq!(table.matches("<td").count(), rows * (table.matches("scope=\"col\"").count() - 1));
    for text in [" cycles</span>", " instructions</span>", "<a href=\"#op0\">"] {
        assert!(table.contains(text), "{text}");
    }
    for text in
        ["It is the cheapest: the next best way, ", "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"labels\""]
    {
        assert!(rest.contains(text), "{text}");
    }
}

/// Elements are closed in the reverse of the order in which they are opened.
fn balanced(page: &str) {
    const EMPTY: &[&str] = &["meta", "rect", "path", "!DOCTYPE"];
    let mut open: Vec<&str> = Vec::new();
    for tag in page.split('<').skip(1) {
        let (tag, _) = tag.split_once('>').expect("a tag ends");
        let name = tag.trim_start_matches('/').split([' ', '/', '\n']).next().unwrap_or_default();
        match tag.strip_prefix('/') {
            Some(_) => assert_eq!(open.pop(), Some(name)),
            None if EMPTY.contains(&name) || tag.ends_with('/') => {}
            None => open.push(name),
        }
    }
    assert!(open.is_empty(), "{open:?}");
}

#[test]
fn shaders_that_nothing_can_be_said_about() {
    assert_eq!(status(&["explain", "fixtures/bad/unknown_names.comp"]), 1);
    assert_eq!(status(&["explain", TOUR, "-p", "nonsense"]), 2);
    assert_eq!(status(&["explain", TOUR, "-p", "nv-fermi"]), 3);
    assert_eq!(status(&["check", TOUR, "-p", "nonsense"]), 2);
}

const SPANNING: &str = "fixtures/explain/spanning.comp";

#[test]
fn operations_over_several_subgroups_show_their_exchanges() {
    kept("spanning", &printed(&["explain", SPANNING, "-p", "nv-kepler"]));
    let small = ["explain", SPANNING, "-p", "spirv-1.6", "--wave-size", "16"];
    kept("spanning-16", &printed(&small));
    kept("spanning-any", &printed(&["explain", SPANNING, "-p", "spirv-1.6"]));
    kept("check-spanning", &printed(&["check", SPANNING, "-p", "spirv-1.3", "-p", "nv-kepler", "-p", "gfx1100"]));
    balanced(&page(&small));
}

/// The report states the bytes and barriers of the compiled program and shows its lines.
#[test]
fn exchanges_are_those_of_the_program() {
    for profile in ["nv-kepler", "ptx-sm70", "gfx1100"] {
        let report = printed(&["explain", SPANNING, "-p", profile, "--json"]);
        let program = printed(&["compile", SPANNING, "-p", profile, "-S"]);
        let report: Value = serde_json::from_str(&report).expect("JSON");
        let answers = || report["operations"].as_array().into_iter().flatten().map(|of| &of["profiles"][0]);
        let spanning: Vec<&Value> = answers().filter(|answer| answer["status"] == "spanning").collect();
        assert_eq!(spanning.len(), 3, "{profile}");
        for answer in &spanning {
            assert_eq!(answer["subgroups"], 2, "{profile}");
            let waits = steps(answer).filter(|step| step["phase"] == "wait").count();
            assert_eq!(answer["barriers"].as_u64(), Some(waits as u64), "{profile}: {answer:#}");
            for lines in steps(answer).flat_map(|step| [&step["lowering"]["setup"], &step["lowering"]["sequence"]]) {
                assert!(stand_in(texts(lines), &program), "{profile}: {lines:#} is not in\n{program}");
            }
        }
        let barriers: u64 = spanning.iter().filter_map(|answer| answer["barriers"].as_u64()).sum();
        assert_eq!(program.lines().filter(|line| is_wait(line)).count() as u64, barriers, "{profile}:\n{program}");
        // A slot for each of the four subgroups.
        assert!(spanning.iter().all(|answer| answer["shader_bytes"] == 16), "{profile}: {spanning:#?}");
    }
}

fn steps(answer: &Value) -> impl Iterator<Item = &Value> {
    answer["steps"].as_array().into_iter().flatten()
}

/// Returns true if a line of a program waits for the workgroup.
fn is_wait(line: &str) -> bool {
    ["BAR", "barrier.sync", "s_barrier"].iter().any(|name| line.trim_start().starts_with(name))
}

#[test]
fn an_operation_that_some_may_not_reach_gets_its_own_answer() {
    let output = crosslane(&["explain", "fixtures/explain/spanning_divergent.comp", "-p", "nv-kepler"]);
    assert_eq!(output.status.code(), Some(3));
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("nv-kepler: no: some invocations of the workgroup may not reach it"), "{text}");
    assert!(text.contains("nv-kepler: through workgroup memory: 2 subgroups of 32 lanes, 1 barrier"), "{text}");
}

#[test]
fn check_tells_who_can() {
    let text = printed(&["check", TOUR, "-p", "spirv-1.3", "-p", "nv-kepler"]);
    kept("check", &text);
    let all = printed(&["check", TOUR, "--all-profiles"]);
    assert!(
        all.contains("nv-fermi: extension not supported: GL_CROSSLANE_portable: the profile nv-fermi lacks nv-shuffle"),
        "{all}"
    );
}

#[test]
fn check_fails_for_named_profiles_only() {
    assert_eq!(status(&["check", TOUR, "-p", "spirv-1.3", "-p", "nv-fermi"]), 3);
    assert_eq!(status(&["check", TOUR, "--all-profiles"]), 0);
    assert_eq!(status(&["check", TOUR, "--all-profiles", "-p", "nv-fermi"]), 3);
    assert_eq!(status(&["check", "fixtures/bad/unknown_names.comp", "--all-profiles"]), 1);
}

#[test]
fn check_as_json() {
    let text = printed(&["check", TOUR, "--json", "--all-profiles"]);
    let matrix: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!(matrix["schema"], "crosslane-check-1");
    let (profiles, can) = (matrix["profiles"].as_array(), matrix["can"].as_array());
    assert_eq!(profiles.map(Vec::len), can.map(Vec::len));
    for operation in matrix["operations"].as_array().expect("a list") {
        assert_eq!(operation["profiles"].as_array().map(Vec::len), can.map(Vec::len));
    }
}
