//! One draw through both compilers: a fragment shader and the vertex shader beside it, or one that several share.

use std::path::{Path, PathBuf};

use crosslane::ir::Stage;

use support::lavapipe::{Buffers, Request, Scene};
use support::plan::Plan;
use support::rival::{self, ours_of, theirs_of};

/// The sources of a draw and how it is run.
pub struct Sources {
    pub vertex: String,
    pub fragment: String,
    pub plan: Plan,
}

impl Sources {
    /// Those of the fragment shader at `path`, whose comments are the plan.
    pub fn read(path: &Path) -> Result<Self, String> {
        let fragment = read(path)?;
        let plan = Plan::read(&fragment)?;
        let own = path.with_extension("vert");
        let vertex = read(&if own.exists() { own } else { shared(plan.vertex()) })?;
        Ok(Self { vertex, fragment, plan })
    }

    /// Our modules for a profile: fragment, vertex.
    pub fn ours(&self, profile: &str) -> Result<Vec<Vec<u32>>, String> {
        let fragment = ours_of("fragment", &self.fragment, Stage::Fragment, profile)?;
        Ok(vec![fragment, ours_of("vertex", &self.vertex, Stage::Vertex, profile)?])
    }

    /// What two modules leave.
    pub fn run(&self, request: &Request, modules: &[Vec<u32>]) -> Result<Vec<Buffers>, String> {
        let scene = |scene: &Scene| Scene { vertex: modules[1].clone(), ..scene.clone() };
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
    let theirs = [theirs_of(&sources.fragment, "frag")?, theirs_of(&sources.vertex, "vert")?];
    let text = format!("{}\n{}", sources.fragment, sources.vertex);
    if super::is_not_run(&super::name(path)) {
        return rival::hold_profiles(&text, &[], &[], |profile| sources.ours(profile), |_| Ok(Vec::new()));
    }
    let left = sources.run(&request, &theirs).map_err(|e| format!("glslang's module: {e}"))?;
    let run = |modules: &[Vec<u32>]| sources.run(&request, modules);
    rival::hold_profiles(&text, &sources.plan.judged(), &left, |profile| sources.ours(profile), run)
}
