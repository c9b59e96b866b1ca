//! Runs `spirv-val` on each module in builds with debug assertions. The environment variable `CROSSLANE_SPIRV_VAL`
//! names the program; the tests set it. A module that fails validation is a bug in crosslane.

use super::Version;
use crate::diagnostic::{Code, Diagnostic};
use crate::profile::Client;
use rustc_hash::{FxHashSet, FxHasher};
use std::ffi::OsStr;
use std::hash::{Hash, Hasher};
use std::io::{self, Write};
use std::process::{Command, Stdio};
use std::sync::Mutex;

/// Modules already judged by this process.
static JUDGED: Mutex<Option<FxHashSet<u64>>> = Mutex::new(None);

/// The validator's error about a module; `None` if there is no validator.
pub(super) fn refusal(words: &[u32], version: Version, client: Client) -> Option<Diagnostic> {
    let judge = std::env::var_os("CROSSLANE_SPIRV_VAL").filter(|judge| !judge.is_empty())?;
    let environment = client.row().environment.unwrap_or_else(|| environment(version));
    if !is_new(words, environment) {
        return None;
    }
    let said = match run(&judge, words, environment) {
        Ok(said) => said?,
        Err(error) => format!("{}: {error}", judge.display()),
    };
    Some(Diagnostic::error(Code::INTERNAL, "spirv-val refuses the module").note(said))
}

fn is_new(words: &[u32], environment: &str) -> bool {
    let mut hasher = FxHasher::default();
    (words, environment).hash(&mut hasher);
    let mut judged = JUDGED.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    judged.get_or_insert_default().insert(hasher.finish())
}

/// The first version of Vulkan that loads a version of SPIR-V.
const fn environment(version: Version) -> &'static str {
    match version {
        Version::V1_0 => "vulkan1.0",
        Version::V1_1 | Version::V1_2 | Version::V1_3 => "vulkan1.1",
        Version::V1_4 => "vulkan1.1spv1.4",
        Version::V1_5 => "vulkan1.2",
        Version::V1_6 => "vulkan1.3",
    }
}

/// The judge's output for a module that it refuses.
fn run(judge: &OsStr, words: &[u32], environment: &str) -> io::Result<Option<String>> {
    // Blocks with scalar layout need a device feature, which the module cannot state.
    let mut child = Command::new(judge)
        .args(["--target-env", environment, "--scalar-block-layout", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    if let Some(mut stdin) = child.stdin.take() {
        // A validator that stops reading early gives the reason in its output.
        let _ = stdin.write_all(&bytes);
    }
    let output = child.wait_with_output()?;
    let said = || String::from_utf8_lossy(&[output.stderr.as_slice(), &output.stdout].concat()).into_owned();
    Ok((!output.status.success()).then(said))
}
