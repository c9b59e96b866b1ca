//! `docs/verified/cuda.md`: the tests of this group that a GPU ran.
//!
//! ```sh
//! CROSSLANE_CUDA=1 CROSSLANE_RANDOM=1:1000 CROSSLANE_VERIFIED=docs/verified/cuda.md cargo test --release --test judged ptx::
//! ```

use libtest_mimic::Arguments;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Mutex;
use support::{cuda, report};

/// How many were right and how many wrong, by kind and profile.
static COUNTS: Mutex<BTreeMap<(&'static str, String), [usize; 2]>> = Mutex::new(BTreeMap::new());

/// The kinds of tests in the order of the page.
const KINDS: [(&str, &str); 12] = [
    ("fixture", "fixtures, every width, against formulas"),
    ("language", "fixtures of the language, against the simulator"),
    ("resized", "fixtures with workgroups that fill their last warp or not, against the simulator"),
    ("core", "shaders of the core language"),
    ("random", "random kernels of plain types"),
    ("lanes", "random kernels with cross-lane operations"),
    ("arms", "random kernels with such operations in arms and loops"),
    ("wide", "random kernels of narrow and wide types"),
    ("formulas", "random kernels of integer formulas"),
    ("memory", "random kernels of accesses to memory with several names"),
    ("waits", "random kernels whose workgroups wait for each other"),
    ("names", "random kernels with names that are not ASCII"),
];

/// Counts the outcome of a test.
pub fn record(kind: &'static str, profile: &str, is_right: bool) {
    let mut counts = COUNTS.lock().expect("no thread panics while counting");
    counts.entry((kind, profile.to_owned())).or_default()[usize::from(!is_right)] += 1;
}

/// Writes the section "Tests" of the page named by `CROSSLANE_VERIFIED`, if the GPU ran this group; the other sections
/// come from `benches/cuda.rs`.
pub fn write(arguments: &Arguments) {
    let page = std::env::var_os("CROSSLANE_VERIFIED").filter(|_| cuda::is_asked());
    let Some(page) = page.filter(|_| arguments.filter.as_deref() == Some("ptx::")) else { return };
    let page = Path::new(&page);
    if !page.exists() {
        std::fs::write(page, INTRODUCTION).unwrap_or_else(|why| panic!("{}: {why}", page.display()));
    }
    report::replace(page, "Tests", &section()).unwrap_or_else(|why| panic!("{why}"));
}

fn section() -> String {
    let counts = COUNTS.lock().expect("no thread panics while counting");
    let shown = |[right, wrong]: [usize; 2]| match wrong {
        0 => format!("{right} right"),
        _ => format!("{right} right, {wrong} WRONG"),
    };
    let cell = |kind, profile: &str| counts.get(&(kind, profile.to_owned())).copied().unwrap_or_default();
    let row = |(kind, title): (&'static str, &str)| {
        let cells = super::ON_GPU.iter().map(|profile| shown(cell(kind, profile)));
        std::iter::once(title.to_owned()).chain(cells).collect::<Vec<_>>()
    };
    let rows: Vec<Vec<String>> = KINDS.into_iter().map(row).collect();
    let device = cuda::describe().unwrap_or_else(|why| why);
    let head = [&["tests"][..], &super::ON_GPU].concat();
    format!("{COMMAND}\n\n{device}\n\n{}", report::table(&head, &rows))
}

const INTRODUCTION: &str = "# PTX on a GPU

Kernels that CUDA's driver assembled and ran; [ops-cuda.md](ops-cuda.md) has every operation, type and width.
";

const COMMAND: &str = "```sh
CROSSLANE_CUDA=1 CROSSLANE_RANDOM=1:1000 CROSSLANE_VERIFIED=docs/verified/cuda.md cargo test --release --test judged ptx::
```";
