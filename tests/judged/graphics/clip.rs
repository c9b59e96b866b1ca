//! Clip spaces: a vertex shader compiled for another clip space draws the same as when its author changes the position.

use std::path::Path;

use crosslane::compile::{Artifact, Input, Language, Options, Verdict, compile};
use crosslane::ir::{ClipSpace, DepthRange, Stage};
use crosslane::source::NoIncludes;

use super::render::Sources;
use support::compiler;
use support::rival::{self, ours_of, theirs_of};

const PROFILE: &str = "spirv-1.5";

/// Fixtures whose fragments see positions or the facing of primitives.
const FIXTURES: [&str; 2] = ["frag_coord", "facing"];

/// The clip spaces, with the source lines that have the same effect.
const CHANGES: [(ClipSpace, &str); 4] = [
    (ClipSpace { flip_y: true, depth: DepthRange::Source }, FLIP),
    (
        ClipSpace { flip_y: false, depth: DepthRange::FromOpenGl },
        "gl_Position.z = (gl_Position.z + gl_Position.w) * 0.5;",
    ),
    (ClipSpace { flip_y: false, depth: DepthRange::ToOpenGl }, "gl_Position.z = 2.0 * gl_Position.z - gl_Position.w;"),
    (
        ClipSpace { flip_y: true, depth: DepthRange::FromOpenGl },
        "gl_Position.yz = vec2(-gl_Position.y, (gl_Position.z + gl_Position.w) * 0.5);",
    ),
];

const FLIP: &str = "gl_Position.y = -gl_Position.y;";

pub fn check() -> Result<(), String> {
    FIXTURES.iter().try_for_each(|name| check_one(name).map_err(|why| format!("{name}: {why}")))
}

fn check_one(name: &str) -> Result<(), String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/graphics").join(name).with_extension("frag");
    let sources = Sources::read(&path)?;
    let (request, judged) = (sources.plan.request(), sources.plan.judged());
    let vertex = sources.vertex.as_deref().ok_or("no vertex shader")?;
    let plain = sources.run(&request, &sources.theirs()?)?;
    for (space, line) in CHANGES {
        let by_hand = [theirs_of(&sources.fragment, "frag")?, theirs_of(&changed(vertex, line)?, "vert")?];
        let ours = [ours_of(name, &sources.fragment, Stage::Fragment, PROFILE)?, compiled(name, vertex, space)?];
        let (theirs, ours) = (sources.run(&request, &by_hand)?, sources.run(&request, &ours)?);
        let mut runs = theirs.iter().zip(&ours);
        runs.try_for_each(|(theirs, ours)| rival::differences(&judged, theirs, ours))
            .map_err(|why| format!("{space:?}: {why}"))?;
        let is_same =
            plain.iter().zip(&theirs).all(|(plain, theirs)| rival::differences(&judged, plain, theirs).is_ok());
        if is_same && space.flip_y {
            return Err(format!("{space:?} changes nothing"));
        }
    }
    Ok(())
}

/// The shader with a line added at its end.
fn changed(vertex: &str, line: &str) -> Result<String, String> {
    let (body, rest) = vertex.rsplit_once('}').ok_or("no function")?;
    Ok(format!("{body}{line} }}{rest}"))
}

fn compiled(name: &str, source: &str, clip_space: ClipSpace) -> Result<Vec<u32>, String> {
    let options = Options { stage: Some(Stage::Vertex), clip_space, ..compiler::named(PROFILE)? };
    let input = Input { name, bytes: source.as_bytes(), language: Language::Glsl };
    match compile(&input, &options, &NoIncludes).verdict {
        Verdict::Done(Artifact::Spirv(words)) => Ok(words),
        other => Err(format!("{other:?}")),
    }
}
