//! RADV without a device: Mesa's driver for AMD's hardware compiles a module and prints its instructions; nothing runs.
//!
//! It comes with lavapipe. A driver without a device cannot be closed, so each module has its own process, which exits
//! with the driver open.

use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::OnceLock;

use ash::vk;
use crosslane::run::Job;
use crosslane::run::vulkan::Device;
use crosslane::run::vulkan::parts::{Layout, Slot, compute_pipeline};

use super::{helper, judge};

/// Mesa's names for hardware of each generation that it still supports and whose listing it prints.
pub const FAMILIES: [&str; 5] = ["polaris10", "vega10", "navi10", "navi21", "navi31"];

/// Set in the process that opens the driver, to the numbers of a [`Shader`].
const ROLE: &str = "CROSSLANE_TEST_RADV";

/// A compute shader that RADV is to compile.
#[derive(Clone, Copy, Default)]
pub struct Shader<'s> {
    pub module: &'s [u32],
    /// Storage buffers, at the first bindings of set 0.
    pub buffers: usize,
    /// The places of other resources.
    pub others: &'s [Slot],
    pub push_bytes: usize,
    /// The lanes per wave, unless the driver chooses.
    pub wave: Option<u32>,
    /// Specialization constants, by their numbers.
    pub constants: &'s [(u32, u32)],
}

/// RADV's assembly for a compute shader with this many storage buffers, for a hardware family by Mesa's name such as
/// `navi31`.
pub fn listing(module: &[u32], buffers: usize, family: &str) -> Result<String, String> {
    compiled(&Shader { module, buffers, ..Shader::default() }, family, "asm,nocache")
}

/// The assembly and the statistics for a compute shader. The statistics are lines `NAME: NUMBER` after
/// `*** SHADER STATS ***`.
pub fn measured(shader: &Shader<'_>, family: &str) -> Result<String, String> {
    compiled(shader, family, "asm,shaderstats,nocache")
}

/// NIR and ACO's own form of a compute shader, from which the registers of its arguments can be determined.
pub fn intermediate(shader: &Shader<'_>, family: &str) -> Result<String, String> {
    compiled(shader, family, "nir,ir,nocache")
}

/// RADV's output for a shader with these words in `RADV_DEBUG`.
fn compiled(shader: &Shader<'_>, family: &str, debug: &str) -> Result<String, String> {
    let manifest = manifest()?;
    let constants = shader.constants.iter().flat_map(|(id, value)| [*id as usize, *value as usize]);
    let heads = [shader.buffers, shader.others.len(), shader.push_bytes, shader.wave.unwrap_or(0) as usize];
    let others =
        shader.others.iter().flat_map(|slot| [slot.set, slot.binding, slot.element, slot.kind.as_raw() as u32]);
    let numbers = heads.into_iter().chain(others.map(|number| number as usize)).chain(constants);
    let role: Vec<String> = numbers.map(|number| number.to_string()).collect();
    let mut command = helper::command()?;
    command
        .env(ROLE, role.join(" "))
        .env("VK_ICD_FILENAMES", &manifest)
        .env("VK_DRIVER_FILES", &manifest)
        .env("RADV_FORCE_FAMILY", family)
        .env("RADV_DEBUG", debug)
        .env("MESA_SHADER_CACHE_DISABLE", "true");
    let piped = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = piped.spawn().map_err(|e| e.to_string())?;
    let bytes: Vec<u8> = shader.module.iter().flat_map(|word| word.to_le_bytes()).collect();
    let mut stdin = child.stdin.take().expect("standard input was asked for");
    stdin.write_all(&bytes).map_err(|e| e.to_string())?;
    drop(stdin);
    let output = child.wait_with_output().map_err(|e| e.to_string())?;
    let said = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    if output.status.success() { Ok(said) } else { Err(format!("RADV for {family}: {}\n{said}", output.status)) }
}

/// The driver's manifest, written once: another process may be reading it.
fn manifest() -> Result<PathBuf, String> {
    static MANIFEST: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    MANIFEST.get_or_init(written_manifest).clone()
}

/// Writes the driver's manifest into the temporary folder.
fn written_manifest() -> Result<PathBuf, String> {
    let lavapipe = std::fs::read_to_string(judge::need("lvp.json")?).map_err(|e| e.to_string())?;
    let path = std::env::temp_dir().join(format!("crosslane-radeon-{}.json", std::process::id()));
    let text = lavapipe.replace("libvulkan_lvp.so", "libvulkan_radeon.so");
    std::fs::write(&path, text).map_err(|e| e.to_string())?;
    Ok(path)
}

/// If this process is to open the driver: compiles the module on its standard input, and exits.
pub fn serve() -> bool {
    let Ok(role) = std::env::var(ROLE) else { return false };
    let numbers: Vec<u32> = role.split(' ').filter_map(|number| number.parse().ok()).collect();
    let code = match make(&numbers) {
        Ok(()) => 0,
        Err(why) => {
            eprintln!("{why}");
            1
        }
    };
    std::process::exit(code)
}

/// Makes a pipeline from a module and leaves everything open. The numbers are a [`Shader`]'s.
fn make(numbers: &[u32]) -> Result<(), String> {
    let lacks = || format!("{ROLE} lacks numbers");
    let [buffers, others, push_bytes, wave, rest @ ..] = numbers else { return Err(lacks()) };
    let (others, constants) = rest.split_at_checked(4 * *others as usize).ok_or_else(lacks)?;
    let mut bytes = Vec::new();
    std::io::stdin().read_to_end(&mut bytes).map_err(|e| e.to_string())?;
    let words: Vec<u32> = bytes.chunks_exact(4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect();
    let device = Device::open().map_err(|e| e.to_string())?;
    let constants: Vec<(u32, u32)> = constants.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect();
    let required_subgroup_size = (*wave > 0).then_some(*wave);
    let job = Job { entry: "main", spec_constants: &constants, required_subgroup_size, ..Job::new(&words, [1, 1, 1]) };
    let slot = |set, binding, element, kind| Slot { set, binding, element, kind };
    let blocks = (0..*buffers).map(|n| slot(0, n, 0, vk::DescriptorType::STORAGE_BUFFER));
    let others = others.chunks_exact(4).map(|o| slot(o[0], o[1], o[2], vk::DescriptorType::from_raw(o[3] as i32)));
    let slots = blocks.chain(others).collect();
    let layout = Layout::new(&device, vk::ShaderStageFlags::COMPUTE, slots, *push_bytes as usize);
    let made = layout.and_then(|layout| {
        let made = compute_pipeline(&device, &job, layout.pipeline.get());
        std::mem::forget(layout);
        made.map(std::mem::forget)
    });
    std::mem::forget(device);
    made.map_err(|e| e.to_string())
}
