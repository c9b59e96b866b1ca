//! `docs/verified/ops.md`: how many cells each family has on each profile, and how each is tested. The numbers come
//! from the tables; the page is written when all cells pass, and compared with the tables in every later run.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crosslane::profile::Profile;

use super::refusal::{Asked, REASONS};
use super::rows::{ROWS, Unit, units};
use super::stage::{PROFILES, of};
use support::{bless, report};

/// Cells and how they are shown.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
struct Count {
    /// Proven by the lane engine and simulated.
    right: usize,
    interpreted: usize,
    validated: usize,
    executed: usize,
    lowered: usize,
    /// By reason.
    refused: [usize; REASONS_LEN],
}

/// The length of [`REASONS`].
const REASONS_LEN: usize = 8;

impl Count {
    fn add(&mut self, unit: &Unit, profile: &Profile) {
        let stages = of(profile, unit);
        for ty in &unit.types {
            if let Some(reason) = (Asked { profile, unit, ty: *ty }).reason() {
                let at = REASONS.iter().position(|known| std::ptr::eq(known, reason)).expect("it is one of them");
                self.refused[at] += 1;
                continue;
            }
            self.right += 1;
            self.interpreted += usize::from(stages.interpreted);
            self.validated += usize::from(stages.validated);
            self.executed += usize::from(stages.executed);
            self.lowered += usize::from(stages.lowered);
        }
    }

    fn cells(self) -> usize {
        self.right + self.refused.iter().sum::<usize>()
    }

    fn show(self) -> String {
        match (self.right, self.refused.iter().sum::<usize>()) {
            (right, 0) => right.to_string(),
            (right, refused) => format!("{right} + {refused} refused"),
        }
    }
}

/// The counts of each profile.
struct Counts {
    families: Vec<String>,
    /// By profile, then family.
    of: Vec<Vec<Count>>,
}

fn counts() -> Counts {
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    let mut families = Vec::new();
    for row in ROWS.iter() {
        let name = format!("{} | `{}`", row.dialect, row.family);
        places.entry(name.clone()).or_insert_with(|| {
            families.push(name);
            families.len() - 1
        });
    }
    let mut of = vec![vec![Count::default(); families.len()]; PROFILES.len()];
    for unit in units() {
        let family = places[&format!("{} | `{}`", unit.row().dialect, unit.row().family)];
        for (counts, profile) in of.iter_mut().zip(PROFILES.iter()) {
            counts[family].add(&unit, profile);
        }
    }
    Counts { families, of }
}

/// The page.
fn page() -> String {
    let counts = counts();
    let all: usize = counts.of.iter().flatten().map(|count| count.cells()).sum();
    let refused: usize = counts.of.iter().flatten().map(|count| count.refused.iter().sum::<usize>()).sum();
    let head = HEAD.replace("$ALL", &all.to_string()).replace("$RIGHT", &(all - refused).to_string());
    format!(
        "{}\n## Profiles\n\n{}\n## Families\n\n{}\n{}",
        head.replace("$REFUSED", &refused.to_string()),
        of_profiles(&counts),
        FAMILIES,
        of_families(&counts)
    )
}

fn of_profiles(counts: &Counts) -> String {
    let reasons: Vec<&str> = REASONS.iter().map(|reason| reason.title).collect();
    let row = |(profile, of): (&Profile, &Vec<Count>)| {
        let sum = |part: &dyn Fn(&Count) -> usize| of.iter().map(part).sum::<usize>().to_string();
        let shown = [
            sum(&|count| count.cells()),
            sum(&|count| count.right),
            sum(&|count| count.interpreted),
            sum(&|count| count.validated),
            sum(&|count| count.executed),
            sum(&|count| count.lowered),
        ];
        let refused = (0..REASONS.len()).map(|n| sum(&|count| count.refused[n]));
        std::iter::once(profile.name.to_string()).chain(shown).chain(refused).collect::<Vec<_>>()
    };
    let rows: Vec<Vec<String>> = PROFILES.iter().zip(&counts.of).map(row).collect();
    let first = [
        "profile",
        "cells",
        "proven and simulated",
        "listing interpreted",
        "validated",
        "run on lavapipe",
        "lowered by RADV",
    ];
    report::table(&[&first[..], &reasons].concat(), &rows)
}

/// A column for all profiles that have the same numbers.
fn of_families(counts: &Counts) -> String {
    let shown = |of: &Vec<Count>| of.iter().map(|count| count.show()).collect::<Vec<_>>();
    let mut columns: Vec<(String, Vec<String>)> = Vec::new();
    for (profile, of) in PROFILES.iter().zip(&counts.of) {
        let column = shown(of);
        match columns.iter_mut().find(|(_, known)| *known == column) {
            Some((names, _)) => *names += &format!(", {}", profile.name),
            None => columns.push((profile.name.to_string(), column)),
        }
    }
    let head: Vec<&str> =
        std::iter::once("dialect | family").chain(columns.iter().map(|(names, _)| &**names)).collect();
    let row = |(n, family): (usize, &String)| {
        std::iter::once(family.clone()).chain(columns.iter().map(|(_, column)| column[n].clone())).collect()
    };
    let rows: Vec<Vec<String>> = counts.families.iter().enumerate().map(row).collect();
    report::table(&head, &rows).replacen("|---|", "|---|---|", 1)
}

fn path() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/verified/ops.md")
}

/// The section about the latest run.
const RUN: &str = "## Run\n";

/// The text before the first run.
const NEVER: &str = "\nThe counts are those of the tables. All cells together were not run yet; `ops-nvidia.md` holds what a GPU ran whole.\n";

/// Writes the page and returns the number of cells.
pub fn write() -> Result<(), String> {
    let today = std::process::Command::new("date").arg("-I").output().map_err(|e| e.to_string())?;
    let today = String::from_utf8_lossy(&today.stdout).trim().to_owned();
    let page = format!("{}\n{RUN}\n{today}: all cells were right.\n", page());
    page.lines().filter(|line| line.starts_with("**")).for_each(|line| println!("{line}"));
    std::fs::write(path(), page).map_err(|e| format!("{}: {e}", path().display()))
}

/// Checks that the page agrees with the tables.
pub fn is_current() -> Result<(), String> {
    let there = std::fs::read_to_string(path()).unwrap_or_default();
    // The sentence about the latest run is excluded.
    let (there, run) = there.split_once(RUN).unwrap_or((&there, NEVER));
    let (there, page) = (there.trim_end(), page());
    let page = page.trim_end();
    if there != page && bless::is_asked() {
        let text = format!("{page}\n\n{RUN}{run}");
        return std::fs::write(path(), text).map_err(|e| format!("{}: {e}", path().display()));
    }
    let differs = there.lines().zip(page.lines()).find(|(one, other)| one != other);
    match differs {
        None if there == page => Ok(()),
        None => Err("docs/verified/ops.md: more or fewer lines than the tables give".to_owned()),
        Some((one, other)) => Err(format!(
            "docs/verified/ops.md is not what the tables give: CROSSLANE_MATRIX=all runs all cells and writes it, \
             CROSSLANE_BLESS=1 writes the counts alone\n  is:        \
             {one}\n  should be: {other}"
        )),
    }
}

const HEAD: &str = "# Every operation on every profile

A cell is a row of the language tables that returns a value across lanes, with a type, a width, a front end and a profile. The
cells come from the compiler's own tables (`grammar/*.toml`, `profiles/*.toml`), so a new row is a new cell. A row is called
with every scalar type that it accepts, and with vectors of each, whose length rotates from cell to cell; with every width up
to 64; in GLSL and, if it has a name there, in WGSL.

Each cell is proven: the tests of the lane engine prove its plan on every lane, or the plan is checked for the cell. The cell is
simulated with the profile's plan. For NVIDIA's and AMD's hardware, an interpreter that shares no code with the compiler runs the
listing. For SPIR-V, `spirv-val` validates the module, and lavapipe runs it if 4 to 16 lanes suffice. For WGSL, GLSL and HLSL,
the module comes from the text, by naga, glslang and DXC; Dawn also runs WGSL. GLSL with NVIDIA's and AMD's functions is read back
and simulated, and a C++ compiler compiles MSL, which then runs. Mesa's RADV compiles the AMD instructions that lavapipe lacks,
without a device. All results are compared with formulas in plain Rust (`tests/judged/matrix/formula.rs`), bit by bit where they are
defined; a row without a formula fails. Inputs contain no NaN and no subnormal; if the profile does not fix the order of float
reductions, the inputs are exact in every order.

**$ALL cells: $RIGHT that must be right, $REFUSED that must be refused, for a reason.**

```sh
CROSSLANE_MATRIX=all cargo test --release --test judged matrix::    # all of them; writes this page when all are right
cargo test --test judged matrix::                                   # a part with every row, type, width and profile
```
";

const FAMILIES: &str =
    "Cells that must be right, and cells that the profile must reject. Profiles with equal numbers share a column.
";
