//! How many registers a program declares, compared with the driver's own listing for the same GLSL.
//!
//! Only the driver can produce that listing: its numbers are obtained on the GPU and kept in `docs/verified/nv.md`,
//! with which programs are compared everywhere. Cross-lane operations that OpenGL's GLSL does not have are replaced by
//! equivalents, if there are any.

use std::collections::BTreeMap;
use std::path::Path;

use super::kernel::{PLAIN, builds, program_of};
use super::{PROFILE, expressed, fixtures, language};
use support::compiler::{self, Target};
use support::fixture::{Build, Fixture, Language};
use support::opengl;
use support::shader::Shader;

/// 32-bit components that two programs for one shader declare.
pub struct Row {
    pub name: String,
    pub ours: u32,
    /// `None` if the driver's GLSL does not have what the shader uses.
    pub driver: Option<u32>,
}

/// Every GLSL shader: its name, its program, and its source in the driver's GLSL.
fn programs() -> Result<Vec<(String, String, String)>, String> {
    let lanes = fixtures().map(|fixture| (fixture, builds(fixture).last().copied().unwrap_or(PLAIN)));
    let all = lanes.chain(language::FIXTURES.iter().map(|fixture| (fixture, PLAIN)));
    let glsl = all.filter(|(fixture, _)| fixture.languages().contains(&Language::Glsl));
    let mut programs = glsl.map(|(fixture, build)| of_fixture(fixture, build)).collect::<Result<Vec<_>, _>>()?;
    for path in expressed() {
        let shader = Shader::read(&path)?;
        let name = path.file_stem().unwrap_or_default().to_string_lossy();
        programs.push((format!("core/{name}"), program_of(&shader, PROFILE)?.text, shader.source));
    }
    Ok(programs)
}

fn of_fixture(fixture: &Fixture, build: Build) -> Result<(String, String, String), String> {
    let program = compiler::program(Target { fixture, language: Language::Glsl, profile: PROFILE, build })?;
    let source = for_driver(&fixture.source(Language::Glsl)?, build.width);
    Ok((fixture.name.to_owned(), program.text, source))
}

/// The comparison for every GLSL shader, with the GPU's driver. `CROSSLANE_LISTINGS=FOLDER` keeps both texts.
pub fn rows() -> Result<Vec<Row>, String> {
    Ok(programs()?.into_iter().map(row).collect())
}

fn row((name, ours, source): (String, String, String)) -> Row {
    let listing = opengl::listing(&source);
    if let Ok(folder) = std::env::var("CROSSLANE_LISTINGS") {
        let kept = format!("{ours}\n{}\n", listing.clone().unwrap_or_else(|why| why));
        std::fs::write(format!("{folder}/{}.txt", name.replace('/', "-")), kept).expect("a folder that can be written");
    }
    Row { name, ours: components(&ours), driver: listing.ok().map(|text| components(&text)) }
}

/// Programs that may declare more than the driver's, and how much: a dynamically indexed array takes a register per
/// word; reductions over some lanes keep their masks in addition to the masks over all lanes, and an address kept for
/// other lanes; values that the text loads early are needed at its end.
const MORE: [(&str, u32); 4] =
    [("core/private_structs", 788), ("core/returns_from_loops", 36), ("activity_folds", 28), ("core/shared_loads", 32)];

/// Checks that no other program declares more than the driver's listing, according to the page.
pub fn compared() -> Result<(), String> {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/verified/nv.md");
    let page = std::fs::read_to_string(&page).map_err(|e| format!("{}: {e}", page.display()))?;
    let section = page.split("\n## ").find(|section| section.starts_with("Registers"));
    let known: BTreeMap<&str, u32> = section.unwrap_or_default().lines().filter_map(driver_count).collect();
    if known.is_empty() {
        return Err("the page has no table of registers".to_owned());
    }
    let more = |(name, ours, _): &(String, String, String)| {
        let (ours, driver) = (components(ours), *known.get(&name[..])?);
        let allowed = MORE.iter().find(|(more, _)| more == name).map_or(driver, |(_, most)| *most);
        (ours > allowed).then(|| format!("{name}: {ours} components, the driver's has {driver}"))
    };
    let found: Vec<String> = programs()?.iter().filter_map(more).collect();
    if found.is_empty() { Ok(()) } else { Err(found.join("\n")) }
}

/// The shader and the driver's count in a row of the page's table of registers.
fn driver_count(row: &str) -> Option<(&str, u32)> {
    match row.trim_matches('|').split('|').map(str::trim).collect::<Vec<_>>()[..] {
        [name, _, count] => Some((name, count.parse().ok()?)),
        _ => None,
    }
}

/// Number of 32-bit components that a program declares: four for each `TEMP`, which are whole registers, and eight for
/// each `LONG TEMP`. Halves count as half. Scratch variables are included on both sides.
pub fn components(text: &str) -> u32 {
    let declared = |(keyword, each): (&str, u32)| {
        let lists = text.lines().filter_map(move |line| line.trim().strip_prefix(keyword)?.strip_suffix(';'));
        lists.flat_map(|list| list.split(',')).map(|name| each * length(name)).sum::<u32>()
    };
    [("TEMP ", 4), ("LONG TEMP ", 8), ("SHORT TEMP ", 2)].into_iter().map(declared).sum()
}

/// Elements of a variable: the number in brackets, or one.
fn length(name: &str) -> u32 {
    let inside = name.split_once('[').and_then(|(_, rest)| rest.split(']').next());
    inside.and_then(|count| count.trim().parse().ok()).unwrap_or(1)
}

/// Operations in the driver's GLSL that replace those of the portable interface; `{Op}` is each operator.
const NATIVE: &[(&str, &str)] = &[
    ("butterfly(v, w)", "subgroupShuffleXor(v, uint(w) / 2u)"),
    ("allReduce{Op}(v, w)", "subgroupClustered{Op}(v, w)"),
    ("reduce{Op}(v, w)", "subgroupClustered{Op}(v, w)"),
    ("bpermute(v, i)", "subgroupShuffle(v, (i) & 31u)"),
    ("broadcast(v, i)", "subgroupShuffle(v, i)"),
    ("broadcastFirst(v)", "subgroupBroadcastFirst(v)"),
    ("ballot(p)", "subgroupBallot(p)"),
    ("laneIndex()", "gl_SubgroupInvocationID"),
    ("laneCount()", "gl_SubgroupSize"),
    ("segmentLast(w)", "((gl_SubgroupInvocationID & (w - 1u)) == w - 1u)"),
    ("allQuad(p)", "subgroupClusteredAnd(p, 4)"),
    ("anyQuad(p)", "subgroupClusteredOr(p, 4)"),
];

/// Replacements for segments of the whole warp.
const NATIVE_WHOLE: &[(&str, &str)] =
    &[("inclusive{Op}(v, w)", "subgroupInclusive{Op}(v)"), ("exclusive{Op}(v, w)", "subgroupExclusive{Op}(v)")];

const OPERATORS: [&str; 7] = ["Add", "Mul", "Min", "Max", "And", "Or", "Xor"];

const EXTENSIONS: [&str; 10] = [
    "GL_KHR_shader_subgroup_basic",
    "GL_KHR_shader_subgroup_vote",
    "GL_KHR_shader_subgroup_ballot",
    "GL_KHR_shader_subgroup_arithmetic",
    "GL_KHR_shader_subgroup_shuffle",
    "GL_KHR_shader_subgroup_shuffle_relative",
    "GL_KHR_shader_subgroup_clustered",
    "GL_KHR_shader_subgroup_quad",
    "GL_NV_shader_thread_group",
    "GL_NV_shader_thread_shuffle",
];

/// The source in the driver's GLSL.
fn for_driver(source: &str, width: Option<usize>) -> String {
    let mut head: Vec<String> = EXTENSIONS.iter().map(|name| format!("#extension {name} : enable")).collect();
    head.extend(width.map(|width| format!("#define WIDTH {width}")));
    let whole = if width == Some(32) { NATIVE_WHOLE } else { &[] };
    for (ours, theirs) in NATIVE.iter().chain(whole) {
        let operators: &[&str] = if ours.contains("{Op}") { &OPERATORS } else { &[""] };
        let define = |op: &&str| format!("#define {} {}", ours.replace("{Op}", op), theirs.replace("{Op}", op));
        head.extend(operators.iter().map(define));
    }
    for kind in ["", "Float"] {
        head.extend((0..4).map(|lane| format!("#define quadSwizzle{kind}{lane}(v) subgroupQuadBroadcast(v, {lane}u)")));
        head.push(format!("#define quadSwizzle{kind}X(v) subgroupQuadSwapHorizontal(v)"));
        head.push(format!("#define quadSwizzle{kind}Y(v) subgroupQuadSwapVertical(v)"));
    }
    let kept = source.lines().filter(|line| !line.contains("GL_CROSSLANE"));
    let with_head = |line: &str| {
        if line.starts_with("#version") { format!("{line}\n{}", head.join("\n")) } else { line.to_owned() }
    };
    kept.map(with_head).collect::<Vec<_>>().join("\n")
}
