//! lavapipe with a chosen number of lanes, each number in separate processes.
//!
//! Mesa reads `LP_NATIVE_VECTOR_WIDTH` once per process, so a test binary starts itself again with the driver's
//! variables set (that process only runs [`serve`]) and sends it jobs, one line of JSON each.

use std::cell::OnceCell;
use std::ops::Range;
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard};

use crosslane::ir::Stage;
use crosslane::kernel::Specializations;
use crosslane::run::vulkan::Device;
use crosslane::run::vulkan::parts;
use crosslane::run::{BufferBinding, Job, OpenError, RunError};
use serde::{Deserialize, Serialize};

use super::device::{Attribute, Draw, ImageKind, Launch, Resources, Shader, Target, Topology, vulkan};
use super::helper::{self, Helper};
use super::judge;
use super::memo::Memo;

/// The subgroup sizes that lavapipe can have.
pub const LANES: [usize; 3] = [4, 8, 16];

/// Lanes of the machine's own Vulkan driver, to run the fixtures there too, as for the table in `docs/verified`.
const OWN: &str = "CROSSLANE_DRIVER_LANES";

/// The lanes of the machine's own driver, if the tests are to use it.
pub fn own_driver() -> Option<usize> {
    std::env::var(OWN).ok()?.parse().ok()
}

/// Set in the helper process: the number of lanes it was started for.
const ROLE: &str = "CROSSLANE_TEST_LAVAPIPE";

/// Dispatches of one kernel, each on its own storage buffers; buffer `n` is binding `n` in set 0.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Request {
    pub spirv: Vec<u32>,
    pub entry: String,
    pub groups: [u32; 3],
    pub push_constants: Vec<u8>,
    pub spec_constants: Vec<(u32, u32)>,
    /// Offsets in the push constants, in bytes, that receive the address of a binding.
    pub addresses: Vec<(usize, u32)>,
    /// The bindings that are uniform blocks.
    pub uniforms: Vec<u32>,
    pub runs: Vec<Buffers>,
    /// For each run, the bindings besides the buffers; empty if there are none.
    pub others: Vec<Resources>,
    /// For each run, the draw, if the module is a fragment shader.
    pub scenes: Vec<Scene>,
    /// The launch, if the module is a ray generation shader.
    pub launch: Option<Launch>,
}

/// The words of each buffer after one dispatch, followed by those of texel buffers, storage images and targets.
pub type Buffers = Vec<Vec<u32>>;

/// A draw with its resources and target.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Scene {
    /// Empty if mesh shaders take its place.
    pub vertex: Vec<u32>,
    /// The stages between vertices and fragments, by the extensions of their files.
    pub between: Vec<(String, Vec<u32>)>,
    pub attributes: Vec<Attribute>,
    pub topology: Topology,
    pub vertices: Range<u32>,
    pub instances: Range<u32>,
    /// Workgroups of the task or mesh shader.
    pub meshes: [u32; 3],
    pub target: Target,
    pub dual_source: bool,
}

impl Request {
    /// Runs `main` over `groups` workgroups in one dimension.
    pub fn new(spirv: Vec<u32>, groups: u32, runs: Vec<Buffers>) -> Self {
        let entry = "main".to_string();
        let (push_constants, spec_constants, uniforms, addresses) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        let (groups, others, scenes) = ([groups, 1, 1], Vec::new(), Vec::new());
        let launch = None;
        Self { spirv, entry, groups, push_constants, addresses, spec_constants, uniforms, runs, others, scenes, launch }
    }

    /// The buffers to bind for each run.
    pub fn bindings(&self) -> Vec<Vec<BufferBinding>> {
        let bind = |(n, words): (usize, &Vec<u32>)| {
            let uniform = self.uniforms.contains(&(n as u32));
            let make = if uniform { BufferBinding::uniform } else { BufferBinding::storage };
            let address_at = self.addresses.iter().find(|(_, binding)| *binding == n as u32).map(|(at, _)| *at);
            BufferBinding { address_at, ..make(0, n as u32, to_bytes(words)) }
        };
        self.runs.iter().map(|run| run.iter().enumerate().map(bind).collect()).collect()
    }
}

impl Request {
    /// The resources of each run: blocks in other sets, and everything that is not a block.
    fn resources(&self) -> Vec<Resources> {
        let mut others = self.others.iter().cloned();
        let all = |mut buffers: Vec<BufferBinding>| {
            let other = others.next().unwrap_or_default();
            buffers.extend(other.buffers);
            Resources { buffers, ..other }
        };
        self.bindings().into_iter().map(all).collect()
    }

    /// The locations of the bindings.
    pub fn slots(&self) -> Vec<parts::Slot> {
        self.resources().first().map(parts::Resources::slots).unwrap_or_default()
    }

    /// Returns true if it needs a device opened for ray tracing.
    fn has_rays(&self) -> bool {
        self.others.iter().any(|resources| !resources.structures.is_empty())
    }

    /// The push constants, with the address from `of` for each binding that needs one.
    pub fn push_with(&self, of: impl Fn(u32) -> u64) -> Vec<u8> {
        let mut push = self.push_constants.clone();
        for (at, binding) in &self.addresses {
            push[*at..][..8].copy_from_slice(&of(*binding).to_le_bytes());
        }
        push
    }

    /// The specialization constants for crosslane's own kernels.
    pub fn settings(&self) -> Specializations {
        let mut settings = Specializations::new();
        self.spec_constants.iter().for_each(|(id, bits)| settings.set_bits(*id, (*bits).into()));
        settings
    }
}

/// The buffers after each run, or an error.
type Response = Result<Vec<Buffers>, String>;

/// Place for a helper that is running.
type Slot = Mutex<Option<Helper>>;

/// Maximum number of helpers for one number of lanes. A process compiles one shader after another, which takes most of
/// the time.
const MOST: usize = 8;

/// The helpers for each of [`LANES`], and for the machine's own driver.
static HELPERS: [[Slot; MOST]; LANES.len() + 1] = [const { [const { Mutex::new(None) }; MOST] }; LANES.len() + 1];

/// A helper's slot among those for one number of lanes: a free one, or the next to become free.
fn slot(of: &[Slot; MOST]) -> Result<MutexGuard<'_, Option<Helper>>, String> {
    static TURN: AtomicUsize = AtomicUsize::new(0);
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let used = &of[..cores.min(MOST)];
    let free = used.iter().find_map(|slot| slot.try_lock().ok());
    let wait = || used[TURN.fetch_add(1, Ordering::Relaxed) % used.len()].lock();
    free.map_or_else(wait, Ok).map_err(|_| "an earlier test broke its helper".to_string())
}

/// Runs a job on lavapipe with `lanes` lanes.
pub fn run(lanes: usize, request: &Request) -> Response {
    static LEFT: Memo<Vec<Buffers>> = Memo::empty();
    let question = serde_json::to_string(request).map_err(|e| e.to_string())?;
    LEFT.get((lanes, question), || run_anew(lanes, request))
}

fn run_anew(lanes: usize, request: &Request) -> Response {
    let own = || (own_driver() == Some(lanes)).then_some(LANES.len());
    let index = own().or_else(|| LANES.iter().position(|&n| n == lanes)).ok_or("lavapipe has 4, 8 or 16 lanes")?;
    let mut slot = slot(&HELPERS[index])?;
    // After hundreds of shaders, lavapipe occasionally crashes. A shader that causes it also crashes a new process.
    ask(&mut slot, lanes, request).or_else(|_| ask(&mut slot, lanes, request))?
}

/// Sends a job to a helper, starting one if needed. An error means that the helper died.
fn ask(slot: &mut Option<Helper>, lanes: usize, request: &Request) -> Result<Response, String> {
    if slot.is_none() {
        *slot = Some(start(lanes)?);
    }
    let answer = slot.as_mut().expect("just started").ask(request);
    if answer.as_ref().map_or(true, is_stuck) {
        // A helper that died or hangs only affects its own test: the next one gets a new helper.
        *slot = None;
    }
    answer
}

/// Returns true if a shader did not end, so that its process must be replaced.
pub fn is_stuck<T>(answer: &Result<T, String>) -> bool {
    answer.as_ref().is_err_and(|why| why.contains("did not end"))
}

/// Ends every helper.
pub fn stop() {
    for slot in HELPERS.as_flattened() {
        if let Ok(mut slot) = slot.lock() {
            *slot = None;
        }
    }
}

fn start(lanes: usize) -> Result<Helper, String> {
    let mut command = helper::command()?;
    if own_driver() != Some(lanes) {
        choose(&mut command, lanes)?;
    }
    Helper::start(command.env(ROLE, lanes.to_string()))
}

/// Has a process load lavapipe with `lanes` lanes as its Vulkan driver.
pub fn choose(command: &mut Command, lanes: usize) -> Result<(), String> {
    let manifest = judge::need("lvp.json")?;
    command
        .env("VK_ICD_FILENAMES", &manifest)
        .env("VK_DRIVER_FILES", &manifest)
        .env("LP_NATIVE_VECTOR_WIDTH", (lanes * 32).to_string())
        // The disk cache ignores the width and would return code for another one.
        .env("MESA_SHADER_CACHE_DISABLE", "true")
        // Kernels run once: LLVM's optimizations cost far more than they save.
        .env("GALLIVM_PERF", "nopt");
    Ok(())
}

/// If this process is a helper: serves jobs until its input ends, and returns true.
pub fn serve() -> bool {
    let Some(lanes) = std::env::var(ROLE).ok().and_then(|v| v.parse().ok()) else { return false };
    let device = open(lanes, Device::open);
    let for_rays = OnceCell::new();
    helper::serve(|request: Request| -> Response {
        let opened = || open(lanes, Device::open_for_rays);
        let device = if request.has_rays() { for_rays.get_or_init(opened) } else { &device };
        device.as_ref().map_err(Clone::clone).and_then(|device| answer(device, &request))
    });
    true
}

fn open(lanes: u32, by: fn() -> Result<Device, OpenError>) -> Result<Device, String> {
    let device = by().map_err(|e| e.to_string())?;
    let found = device.info().subgroup_size;
    if found != lanes {
        return Err(format!("{} has {found} lanes instead of {lanes}", device.info().name));
    }
    Ok(device)
}

fn answer(device: &Device, request: &Request) -> Response {
    let done = match &request.launch {
        Some(launch) => trace(device, request, launch),
        None if request.scenes.is_empty() => dispatch(device, request),
        None => draw(device, request),
    };
    done.map_err(|e| e.to_string())
}

fn dispatch(device: &Device, request: &Request) -> Result<Vec<Buffers>, RunError> {
    let job = Job {
        entry: &request.entry,
        push_constants: &request.push_constants,
        spec_constants: &request.spec_constants,
        ..Job::new(&request.spirv, request.groups)
    };
    let mut bound = request.resources();
    let Some(first) = bound.first() else { return Ok(Vec::new()) };
    let kernel = device.prepare(&job, first)?;
    for resources in &mut bound {
        kernel.run(job.groups, job.push_constants, resources)?;
    }
    Ok(bound.iter().map(|resources| contents(resources, None)).collect())
}

fn draw(device: &Device, request: &Request) -> Result<Vec<Buffers>, RunError> {
    let once = |(mut resources, scene): (Resources, &Scene)| {
        let draw = Draw {
            vertex: Some(Shader::new(&scene.vertex)).filter(|vertex| !vertex.spirv.is_empty()),
            fragment: Shader::new(&request.spirv),
            between: between(scene),
            attributes: &scene.attributes,
            topology: scene.topology,
            vertices: scene.vertices.clone(),
            instances: scene.instances.clone(),
            meshes: scene.meshes,
            push_constants: &request.push_constants,
            spec_constants: &request.spec_constants,
            dual_source: scene.dual_source,
        };
        let mut target = scene.target.clone();
        vulkan::draw(device, &draw, &mut resources, &mut target)?;
        Ok(contents(&resources, Some(&target)))
    };
    request.resources().into_iter().zip(&request.scenes).map(once).collect()
}

fn trace(device: &Device, request: &Request, launch: &Launch) -> Result<Vec<Buffers>, RunError> {
    let common = vulkan::Common {
        generation: &request.spirv,
        push_constants: &request.push_constants,
        spec_constants: &request.spec_constants,
    };
    let once = |mut resources: Resources| {
        vulkan::trace(device, &common, launch, &mut resources)?;
        Ok(contents(&resources, None))
    };
    request.resources().into_iter().map(once).collect()
}

/// The stages between the vertices and the fragments.
fn between(scene: &Scene) -> Vec<(Stage, Shader<'_>)> {
    let stage = |end: &str| Stage::named(end).expect("the plan names stages");
    scene.between.iter().map(|(end, spirv)| (stage(end), Shader::new(spirv))).collect()
}

/// The contents after a run, but for blocks of other sets.
fn contents(resources: &Resources, target: Option<&Target>) -> Buffers {
    let buffers = resources.buffers.iter().filter(|buffer| buffer.set == 0).map(|buffer| &buffer.data);
    let texels = resources.texels.iter().filter(|texels| texels.storage).map(|texels| &texels.data);
    let images = resources.images.iter().filter(|image| image.kind == ImageKind::Storage);
    let drawn = target.into_iter().flat_map(Target::images).map(|image| &image.data);
    let all = buffers.chain(texels).chain(images.map(|binding| &binding.image.data)).chain(drawn);
    all.map(|data| to_words(data)).collect()
}

/// The contents of the buffers after each run.
pub fn all_words(bound: &[Vec<BufferBinding>]) -> Vec<Buffers> {
    bound.iter().map(|run| run.iter().map(|b| to_words(&b.data)).collect()).collect()
}

fn to_bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// Bytes as words, padded with zeros.
pub fn to_words(bytes: &[u8]) -> Vec<u32> {
    let word = |bytes: &[u8]| bytes.iter().rev().fold(0, |word, &byte| word << 8 | u32::from(byte));
    bytes.chunks(4).map(word).collect()
}
