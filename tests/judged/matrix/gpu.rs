//! The matrix on an NVIDIA GPU: assembly for Hopper through OpenGL, SPIR-V through Vulkan, PTX through CUDA.
//!
//! ```sh
//! CROSSLANE_MATRIX=gpu CROSSLANE_GL=1 CROSSLANE_DRIVER_LANES=32 CROSSLANE_VERIFIED=docs/verified/ops-nvidia.md \
//!     cargo test --release --test judged matrix::
//! CROSSLANE_MATRIX=gpu CROSSLANE_CUDA=1 CROSSLANE_VERIFIED=docs/verified/ops-cuda.md cargo test --release --test judged matrix::
//! ```
//!
//! Without `CROSSLANE_GL`, `CROSSLANE_DRIVER_LANES` or `CROSSLANE_CUDA` the corresponding part is skipped; without
//! `CROSSLANE_VERIFIED` no page is written.

use std::collections::BTreeMap;
use std::sync::{LazyLock, Mutex};

use crosslane::profile::{Profile, Target};

use super::judge::Outcome;
use super::rows::Unit;
use super::stage;
use support::{cuda, lavapipe, opengl, report};

/// The profiles that run there.
const PROFILES: [&str; 8] = [
    "nv-hopper",
    "spirv-1.6",
    "spirv-1.6 --reproducible",
    "spirv-nv-partitioned",
    "spirv-nvidia",
    "ptx-sm30",
    "ptx-sm70",
    "ptx-sm90",
];

/// Lanes of its subgroups.
pub const LANES: usize = 32;

/// Cells of a family on a profile.
#[derive(Clone, Copy, Default)]
struct Count {
    right: usize,
    refused: usize,
    wrong: usize,
}

/// The counts so far, by dialect, family and profile.
static COUNTS: LazyLock<Mutex<BTreeMap<(String, String), Count>>> = LazyLock::new(Mutex::default);

/// Returns true if a profile is run on the GPU.
pub fn runs(profile: &Profile) -> bool {
    let asked = match profile.target {
        Target::Nv => opengl::is_asked(),
        Target::Ptx => cuda::is_asked(),
        _ => lavapipe::own_driver().is_some(),
    };
    asked && PROFILES.contains(&&*profile.name)
}

/// Records the results for a unit.
pub fn record(unit: &Unit, profile: &str, done: &Result<Outcome, String>) {
    let family = format!("{} | `{}`", unit.row().dialect, unit.row().family);
    let mut counts = COUNTS.lock().expect("no thread panics while counting");
    let count = counts.entry((family, profile.to_owned())).or_default();
    match done {
        Ok(outcome) => {
            count.right += outcome.right;
            count.refused += outcome.refused;
        }
        Err(_) => count.wrong += unit.types.len(),
    }
}

/// Writes the table that `CROSSLANE_VERIFIED` names.
pub fn write() -> Result<(), String> {
    let Some(path) = std::env::var_os("CROSSLANE_VERIFIED") else { return Ok(()) };
    let counts = COUNTS.lock().map_err(|_| "a count is broken")?;
    let asked = |name: &&str| stage::PROFILES.iter().any(|profile| &*profile.name == *name && runs(profile));
    let profiles: Vec<&str> = PROFILES.into_iter().filter(asked).collect();
    let families: Vec<&String> = counts.keys().map(|(family, _)| family).collect();
    let mut rows: Vec<Vec<String>> = Vec::new();
    for family in families.iter().enumerate().filter(|(n, f)| *n == 0 || families[n - 1] != **f).map(|(_, f)| f) {
        let of = |profile: &&str| counts.get(&((*family).clone(), (*profile).to_owned())).copied();
        let cells = profiles.iter().map(|profile| of(profile).map_or_else(|| "not run".to_owned(), Count::show));
        rows.push(std::iter::once((*family).clone()).chain(cells).collect());
    }
    let total = |profile: &&str| {
        let own = counts.iter().filter(|((_, name), _)| name == profile).map(|(_, count)| *count);
        own.fold(Count::default(), Count::and).show()
    };
    rows.push(std::iter::once("all |".to_owned()).chain(profiles.iter().map(total)).collect());
    let head = [&["dialect | family"][..], &profiles].concat();
    let table = report::table(&head, &rows).replacen("|---|", "|---|---|", 1);
    std::fs::write(&path, format!("{}\n{table}", HEAD)).map_err(|e| format!("{}: {e}", path.to_string_lossy()))
}

impl Count {
    fn and(self, other: Self) -> Self {
        Self { right: self.right + other.right, refused: self.refused + other.refused, wrong: self.wrong + other.wrong }
    }

    fn show(self) -> String {
        let parts = [(self.right, "right"), (self.refused, "refused"), (self.wrong, "WRONG")];
        let parts = parts.into_iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}"));
        parts.collect::<Vec<_>>().join(", ")
    }
}

const HEAD: &str = "# The matrix on an NVIDIA GPU

Every operation, type, width and front end, as `docs/verified/ops.md` counts them, with 32 lanes: assembly through OpenGL,
SPIR-V through Vulkan, PTX through CUDA, each result held against the formulas in `tests/judged/matrix`. Refused are clusters of 64 lanes in
SPIR-V, types that a language lacks, and what needs a number of lanes that is known beforehand.

```sh
CROSSLANE_MATRIX=gpu CROSSLANE_GL=1 CROSSLANE_DRIVER_LANES=32 CROSSLANE_VERIFIED=docs/verified/ops-nvidia.md \\
    cargo test --release --test judged matrix::
CROSSLANE_MATRIX=gpu CROSSLANE_CUDA=1 CROSSLANE_VERIFIED=docs/verified/ops-cuda.md cargo test --release --test judged matrix::
```
";
