//! A fixture: a kernel in `fixtures/`, its buffers, and their expected contents.

use std::path::PathBuf;

use super::case::{Case, Column};
use super::compare::{Closeness, compare};
use super::lavapipe::{self, Buffers, Request};
use super::pattern::{Domain, PATTERNS, Pattern};
use super::scalar::Type;
use super::simulator::{self, After};
use crosslane::kernel::Kernel;

/// The folders under `fixtures` whose shaders compile to SPIR-V, except those with WGSL.
pub const FOLDERS: [&str; 10] = [
    "core",
    "glsl",
    "graphics",
    "graphics/primitives",
    "graphics/quads",
    "graphics/rays",
    "graphics/vertex",
    "language",
    "spirv",
    "stages",
];

/// The files and folders of a folder of the repository, by name.
pub fn entries(folder: &str) -> Vec<PathBuf> {
    let folder = crate::root().join(folder);
    let entries = std::fs::read_dir(folder).expect("the fixtures are part of the repository");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("a readable folder").path()).collect();
    paths.sort();
    paths
}

/// The files of a folder of the repository, by name.
pub fn files(folder: &str) -> Vec<PathBuf> {
    let mut paths = entries(folder);
    paths.retain(|path| path.extension().is_some());
    paths
}

/// The languages that fixtures are written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    Glsl,
    Wgsl,
}

impl Language {
    /// The folder under `fixtures/`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Glsl => "glsl",
            Self::Wgsl => "wgsl",
        }
    }

    fn extension(self) -> &'static str {
        match self {
            Self::Glsl => "comp",
            Self::Wgsl => "wgsl",
        }
    }
}

/// How many words a buffer has.
#[derive(Debug, Clone, Copy)]
pub enum Count {
    /// This many per invocation.
    PerSlot(usize),
    /// This many per workgroup.
    PerGroup(usize),
    /// This many in all.
    Fixed(usize),
}

/// One storage buffer; its index in the fixture's list is its binding in set 0.
#[derive(Debug, Clone, Copy)]
pub enum Buffer {
    /// Filled from a domain before the run.
    In(Domain, Count),
    /// Zeros before the run, compared after it.
    Out(Type, Count, Closeness),
    /// Both an input and an output.
    InOut(Domain, Count),
}

/// One word per invocation, from a domain.
pub const fn input(domain: Domain) -> Buffer {
    Buffer::In(domain, Count::PerSlot(1))
}

/// `n` words per invocation, from a domain.
pub const fn inputs(domain: Domain, n: usize) -> Buffer {
    Buffer::In(domain, Count::PerSlot(n))
}

/// One result per invocation.
pub const fn output(kind: Type) -> Buffer {
    outputs(kind, 1)
}

/// `n` results side by side for each invocation.
pub const fn outputs(kind: Type, n: usize) -> Buffer {
    Buffer::Out(kind, Count::PerSlot(n), Closeness::Same)
}

/// One result per invocation, within a share of the expected value.
pub const fn output_within(share: f32) -> Buffer {
    Buffer::Out(Type::F32, Count::PerSlot(1), Closeness::Within(share))
}

/// The contents of a kernel's output buffers, in the order of the bindings.
pub type Expectation = fn(&Case<'_>) -> Vec<Column>;

/// A kernel and its expected results.
#[derive(Debug, Clone, Copy)]
pub struct Fixture {
    /// The file's stem; the kernel exists in at least one language.
    pub name: &'static str,
    /// The folder under `fixtures/`, if it is not the language's own.
    pub folder: Option<&'static str>,
    /// The values of WIDTH to compile it with; empty if it takes none.
    pub widths: &'static [usize],
    /// The largest WIDTH that the kernel can be compiled with; 0 if it takes none.
    pub widest: usize,
    /// Invocations per workgroup in the source.
    pub written_group: usize,
    /// Invocations per workgroup when compiled and run.
    pub group: usize,
    /// Workgroups to run.
    pub groups: usize,
    /// The buffers, binding by binding.
    pub buffers: &'static [Buffer],
    /// Compile reductions and scans in the fixed order, whatever the profile.
    pub reproducible: bool,
    /// It has blocks with scalar layout, for which `spirv-val` needs an option.
    pub scalar: bool,
    /// The formulas.
    pub expect: Expectation,
}

/// One way to compile a kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Build {
    /// The value of WIDTH.
    pub width: Option<usize>,
    /// The subgroup size that the profile fixes; `None` for the driver's own.
    pub wave: Option<u32>,
}

impl Build {
    /// The description in a snapshot.
    pub fn description(self) -> String {
        self.width.map(|width| format!("WIDTH={width}")).unwrap_or_default()
    }
}

/// A message with the lanes and width that it is about.
fn place(build: Build, lanes: usize, why: &str) -> String {
    format!("{lanes} lanes, width {}: {why}", build.width.unwrap_or(lanes))
}

/// The widths that forms can have and that lavapipe can run.
pub const WIDTHS: &[usize] = &[2, 4, 8, 16];

impl Fixture {
    /// A kernel without a width, with two workgroups of 64.
    pub const fn new(name: &'static str, buffers: &'static [Buffer], expect: Expectation) -> Self {
        Self {
            name,
            folder: None,
            widths: &[],
            widest: 0,
            written_group: 64,
            group: 64,
            groups: 2,
            buffers,
            reproducible: false,
            scalar: false,
            expect,
        }
    }

    /// The same kernel, compiled with each of [`WIDTHS`].
    pub const fn with_widths(self) -> Self {
        Self { widths: WIDTHS, widest: 64, ..self }
    }

    /// The same kernel; its WIDTH is at most `widest`.
    pub const fn up_to(self, widest: usize) -> Self {
        Self { widest, ..self }
    }

    /// The same kernel, whose source has another number of invocations per workgroup.
    pub const fn with_group(self, group: usize) -> Self {
        Self { written_group: group, group, ..self }
    }

    /// The same kernel, compiled with another number of invocations per workgroup than its source has.
    pub const fn resized(self, group: usize) -> Self {
        Self { group, ..self }
    }

    /// The same kernel, with its reductions in the fixed order.
    pub const fn in_order(self) -> Self {
        Self { reproducible: true, ..self }
    }

    /// The same kernel; some of its blocks have scalar layout.
    pub const fn with_scalar_layout(self) -> Self {
        Self { scalar: true, ..self }
    }

    /// The same kernel, in a folder that the languages share.
    pub const fn in_folder(self, folder: &'static str) -> Self {
        Self { folder: Some(folder), ..self }
    }

    /// The kernel's source in a language.
    pub fn path(&self, language: Language) -> PathBuf {
        let folder = crate::root().join("fixtures").join(self.folder.unwrap_or(language.name()));
        folder.join(format!("{}.{}", self.name, language.extension()))
    }

    /// The kernel's source in a language, with the required number of invocations.
    pub fn source(&self, language: Language) -> Result<String, String> {
        let path = self.path(language);
        let text = std::fs::read_to_string(&path).map_err(|e| format!("{}: {e}", path.display()))?;
        if self.group == self.written_group {
            return Ok(text);
        }
        let spelled: &[(&str, &str)] = match language {
            Language::Glsl => &[("local_size_x = ", ")")],
            Language::Wgsl => &[("@workgroup_size(", ")"), ("group.x * ", " ")],
        };
        let resize = |text: String, (before, after): &(&str, &str)| {
            let with = |size: usize| format!("{before}{size}{after}");
            text.replace(&with(self.written_group), &with(self.group))
        };
        let resized = spelled.iter().fold(text.clone(), resize);
        if resized == text { Err(format!("{}: no workgroup size", path.display())) } else { Ok(resized) }
    }

    /// The languages that the kernel is written in.
    pub fn languages(&self) -> Vec<Language> {
        [Language::Glsl, Language::Wgsl].into_iter().filter(|&l| self.path(l).exists()).collect()
    }

    /// The builds that run on any driver: one for each width, or one without a width.
    pub fn builds(&self) -> Vec<Build> {
        let any = |width| Build { width, wave: None };
        if self.widths.is_empty() { vec![any(None)] } else { self.widths.iter().map(|&w| any(Some(w))).collect() }
    }

    /// The builds for wider subgroups of a size fixed beforehand: these are validated and not run.
    pub fn wide_builds(&self) -> impl Iterator<Item = Build> {
        let build = |(width, wave)| Build { width: Some(width), wave: Some(wave) };
        [(16, 32), (32, 32), (32, 64), (64, 64)].into_iter().filter(|(width, _)| *width <= self.widest).map(build)
    }

    /// Runs a compiled module on `lanes` lanes with every pattern; returns the differences from the formulas, if any.
    pub fn run(&self, module: &[u32], build: Build, lanes: usize) -> Result<(), String> {
        let runs = self.runs();
        let after = self.outcome(module, lanes, &runs).map_err(|why| place(build, lanes, &why))?;
        self.judge(build, lanes, &runs, |run, expected| self.compare(expected, &after[run]))
    }

    /// Simulates a kernel in the same way; compared values must be defined there.
    pub fn simulate(&self, kernel: &Kernel, build: Build, lanes: usize) -> Result<(), String> {
        let runs = self.runs();
        let request = Request::new(Vec::new(), self.groups as u32, runs.clone());
        let after = simulator::run(kernel, lanes, &request).map_err(|why| place(build, lanes, &why))?;
        self.judge(build, lanes, &runs, |run, expected| self.compare_simulated(expected, &after[run]))
    }

    /// The buffers before each run, as a request without a module.
    pub fn request(&self) -> Request {
        Request::new(Vec::new(), self.groups as u32, self.runs())
    }

    /// Compares the results of each run of [`Fixture::request`] with the formulas.
    pub fn judge_runs(&self, build: Build, lanes: usize, after: &[Buffers]) -> Result<(), String> {
        self.judge(build, lanes, &self.runs(), |run, expected| self.compare(expected, &after[run]))
    }

    /// Compares the results of each run with those of a simulation, where these are defined.
    pub fn judge_against(&self, model: &[Vec<After>], after: &[Buffers]) -> Result<(), String> {
        for (pattern, (model, after)) in PATTERNS.iter().zip(model.iter().zip(after)) {
            let outputs = (0..self.buffers.len()).filter(|&n| self.judged(n).is_some());
            let expected: Vec<Column> = outputs.map(|n| model[n].column()).collect();
            self.compare(&expected, after).map_err(|why| format!("pattern {pattern:?}: {why}"))?;
        }
        Ok(())
    }

    /// Compares each run with the formulas' results.
    fn judge(
        &self,
        build: Build,
        lanes: usize,
        runs: &[Buffers],
        compare: impl Fn(usize, &[Column]) -> Result<(), String>,
    ) -> Result<(), String> {
        let width = build.width.unwrap_or(lanes);
        for (run, (pattern, before)) in PATTERNS.iter().zip(runs).enumerate() {
            let case = Case { subgroup: lanes, width, group: self.group, groups: self.groups, inputs: before };
            compare(run, &(self.expect)(&case))
                .map_err(|why| place(build, lanes, &format!("pattern {pattern:?}: {why}")))?;
        }
        Ok(())
    }

    /// Compares the results of a simulation: equal words, none of them undefined.
    fn compare_simulated(&self, expected: &[Column], after: &[After]) -> Result<(), String> {
        let words: Buffers = after.iter().map(|buffer| buffer.words.clone()).collect();
        self.compare(expected, &words)?;
        let outputs = (0..self.buffers.len()).filter(|&n| self.judged(n).is_some());
        for (n, column) in outputs.zip(expected) {
            let wrong = (0..column.len()).find(|&word| column[word].is_some() && after[n].undefined[word]);
            wrong.map_or(Ok(()), |word| Err(format!("binding {n}: word {word} is undefined")))?;
        }
        Ok(())
    }

    /// Runs a compiled module and another one that must behave the same.
    pub fn run_against(&self, module: &[u32], model: &[u32], lanes: usize) -> Result<(), String> {
        let runs = self.runs();
        let ours = self.outcome(module, lanes, &runs)?;
        let theirs = self.outcome(model, lanes, &runs).map_err(|why| format!("the model: {why}"))?;
        for ((pattern, ours), theirs) in PATTERNS.iter().zip(&ours).zip(&theirs) {
            self.compare(&self.columns(theirs), ours).map_err(|why| format!("pattern {pattern:?}: {why}"))?;
        }
        Ok(())
    }

    /// Simulates a kernel with eight lanes, and runs a module that must do the same.
    pub fn simulate_against(&self, kernel: &Kernel, model: &[u32]) -> Result<(), String> {
        let runs = self.runs();
        let ours = simulator::run(kernel, 8, &Request::new(Vec::new(), self.groups as u32, runs.clone()))?;
        let theirs = self.outcome(model, 8, &runs).map_err(|why| format!("the model: {why}"))?;
        for ((pattern, ours), theirs) in PATTERNS.iter().zip(&ours).zip(&theirs) {
            self.compare_simulated(&self.columns(theirs), ours).map_err(|why| format!("pattern {pattern:?}: {why}"))?;
        }
        Ok(())
    }

    /// The contents of the output buffers, as an expectation.
    fn columns(&self, after: &Buffers) -> Vec<Column> {
        let outputs = (0..self.buffers.len()).filter(|&n| self.judged(n).is_some());
        outputs.map(|n| after[n].iter().map(|&word| Some(word)).collect()).collect()
    }

    /// The buffers before each run, a run for each pattern.
    fn runs(&self) -> Vec<Buffers> {
        PATTERNS.iter().map(|&pattern| self.fill(pattern)).collect()
    }

    /// The buffers after each run.
    fn outcome(&self, module: &[u32], lanes: usize, runs: &[Buffers]) -> Result<Vec<Buffers>, String> {
        lavapipe::run(lanes, &Request::new(module.to_vec(), self.groups as u32, runs.to_vec()))
    }

    fn compare(&self, expected: &[Column], after: &Buffers) -> Result<(), String> {
        let outputs: Vec<_> = (0..self.buffers.len()).filter_map(|n| Some((n, self.judged(n)?))).collect();
        assert_eq!(expected.len(), outputs.len(), "{}: one column for each output", self.name);
        for ((n, (kind, closeness)), column) in outputs.into_iter().zip(expected) {
            compare(kind, closeness, column, &after[n], self.per_slot(n)).map_err(|e| format!("binding {n}: {e}"))?;
        }
        Ok(())
    }

    fn judged(&self, binding: usize) -> Option<(Type, Closeness)> {
        match self.buffers[binding] {
            Buffer::In(..) => None,
            Buffer::Out(kind, _, closeness) => Some((kind, closeness)),
            Buffer::InOut(domain, _) => Some((domain.kind(), Closeness::Same)),
        }
    }

    fn fill(&self, pattern: Pattern) -> Buffers {
        (0..self.buffers.len()).map(|n| self.fill_one(n, pattern)).collect()
    }

    fn fill_one(&self, binding: usize, pattern: Pattern) -> Vec<u32> {
        match self.buffers[binding] {
            Buffer::In(domain, count) | Buffer::InOut(domain, count) => {
                domain.words(pattern, binding as u32, self.words(count))
            }
            Buffer::Out(_, count, _) => vec![0; self.words(count)],
        }
    }

    fn words(&self, count: Count) -> usize {
        match count {
            Count::PerSlot(n) => n * self.group * self.groups,
            Count::PerGroup(n) => n * self.groups,
            Count::Fixed(n) => n,
        }
    }

    fn per_slot(&self, binding: usize) -> usize {
        match self.buffers[binding] {
            Buffer::In(_, count) | Buffer::InOut(_, count) | Buffer::Out(_, count, _) => match count {
                Count::PerSlot(n) => n,
                Count::PerGroup(_) | Count::Fixed(_) => 1,
            },
        }
    }
}
