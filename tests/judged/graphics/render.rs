//! One draw through both compilers: a fragment shader, its own vertex shader or a shared one, and the shaders for other
//! stages next to it.

use std::path::{Path, PathBuf};

use crosslane::ir::Stage;

use super::theirs;
use support::lavapipe::{Buffers, Request, Scene};
use support::plan::Plan;
use support::rival::{self, ours_of, theirs_of};

/// The stages between vertices and fragments, and those that make primitives without vertices, in pipeline order.
const BETWEEN: [Stage; 5] = [Stage::TessControl, Stage::TessEvaluation, Stage::Geometry, Stage::Task, Stage::Mesh];

/// The sources for a draw, and how to run it.
pub struct Sources {
    pub fragment: String,
    /// `None` if a mesh shader makes the primitives.
    pub vertex: Option<String>,
    /// The stages between vertex and fragment, or in place of the vertex stage.
    pub between: Vec<(Stage, String)>,
    pub plan: Plan,
}

impl Sources {
    /// Reads the sources for the fragment shader at `path`, whose comments are the plan.
    pub fn read(path: &Path) -> Result<Self, String> {
        let fragment = read(path)?;
        let plan = Plan::read(&fragment)?;
        let own = path.with_extension("vert");
        let has_mesh = path.with_extension(Stage::Mesh.ending()).exists();
        let vertex = (!has_mesh).then(|| read(&if own.exists() { own } else { shared(plan.vertex()) })).transpose()?;
        let beside = BETWEEN.into_iter().map(|stage| (stage, path.with_extension(stage.ending())));
        let between = beside.filter(|(_, path)| path.exists()).map(|(stage, path)| Ok((stage, read(&path)?)));
        let between = between.collect::<Result<_, String>>()?;
        Ok(Self { vertex, fragment, between, plan })
    }

    /// All texts with their stages: fragment, vertex, then those between.
    pub fn all(&self) -> impl Iterator<Item = (Stage, &str)> {
        let vertex = self.vertex.as_deref().map(|text| (Stage::Vertex, text));
        let ends = [(Stage::Fragment, self.fragment.as_str())].into_iter().chain(vertex);
        ends.chain(self.between.iter().map(|(stage, text)| (*stage, text.as_str())))
    }

    /// glslang's modules, in that order.
    pub fn theirs(&self) -> Result<Vec<Vec<u32>>, String> {
        self.all().map(|(stage, text)| theirs_of(text, stage.ending())).collect()
    }

    /// Our modules for a profile.
    pub fn ours(&self, profile: &str) -> Result<Vec<Vec<u32>>, String> {
        self.all().map(|(stage, text)| ours_of(stage.name(), text, stage, profile)).collect()
    }

    /// Runs the modules and returns the contents of the buffers.
    pub fn run(&self, request: &Request, modules: &[Vec<u32>]) -> Result<Vec<Buffers>, String> {
        let stages = self.between.iter().map(|(stage, _)| stage.ending().to_owned());
        let (ends, rest) = modules.split_at(modules.len() - self.between.len());
        let between: Vec<_> = stages.zip(rest.iter().cloned()).collect();
        let vertex = ends.get(1).cloned().unwrap_or_default();
        let scene = |scene: &Scene| Scene { vertex: vertex.clone(), between: between.clone(), ..scene.clone() };
        let scenes = request.scenes.iter().map(scene).collect();
        rival::run(&Request { scenes, ..request.clone() }, &modules[0])
    }
}

fn read(path: &Path) -> Result<String, String> {
    std::fs::read_to_string(path).map_err(|e| format!("{}: {e}", path.display()))
}

/// A vertex shader that several fragment shaders share.
pub fn shared(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/graphics/vertex").join(name).with_extension("vert")
}

pub fn check(path: &Path) -> Result<(), String> {
    let sources = Sources::read(path)?;
    let request = sources.plan.request();
    if request.scenes.is_empty() {
        return Err("the comments name nothing to draw into".to_owned());
    }
    let text = sources.all().map(|(_, text)| text).collect::<Vec<_>>().join("\n");
    if super::is_not_run(&super::name(path)) {
        sources.theirs()?;
        return rival::hold_profiles(&text, &[], &[], |profile| sources.ours(profile), |_| Ok(Vec::new()));
    }
    let left = theirs::left(path, || sources.run(&request, &sources.theirs()?))?;
    let run = |modules: &[Vec<u32>]| sources.run(&request, modules);
    rival::hold_profiles(&text, &sources.plan.judged(), &left, |profile| sources.ours(profile), run)
}
