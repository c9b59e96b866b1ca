//! Makes the outputs of a plan: skips current ones, compiles the rest in parallel, and writes the results. A shader is
//! parsed once for all its outputs whose profiles and macros give it the same meaning. Prints nothing; `report` prints
//! the results.

use super::super::{CommandError, Exit};
use super::plan::{Job, Plan, Shader};
use super::report::Progress;
use super::snapshot::snapshot;
use super::sources::{Content, Folders, Sources, TreeLoader};
use super::state::{self, Entry, OutDir, hex};
use super::tokens::Tokens;
use super::watch::Stamps;
use crate::build::read;
use crate::build::write::Written;
use crate::compile::{Compilation, EmitKind, Input, Options, Places, Reading, Verdict, read_alike};
use crate::diagnostic::warning::Choice;
use crate::explain::explain;
use rayon::prelude::*;
use std::cell::{Cell, RefCell};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use xxhash_rust::xxh3::xxh3_128;

/// The outcome of an output.
pub enum Fate {
    /// None of its inputs has changed.
    Skipped,
    Made(Written),
    /// Out of date; the run only compares.
    Differs {
        is_missing: bool,
    },
    /// Not made; the messages show why.
    Failed(Exit),
    /// It could not be read, proven or written.
    Broken(String),
    /// Not tried, because an earlier write to the folder failed.
    NotTried,
}

/// A finished job.
pub struct Done {
    pub fate: Fate,
    /// Messages about the shader; `None` if it was skipped.
    pub compilation: Option<Compilation>,
    entry: Option<Entry>,
}

impl Done {
    fn broken(why: String) -> Done {
        Done { fate: Fate::Broken(why), compilation: None, entry: None }
    }
}

/// Choices of the command line that override a plan.
pub struct Choices {
    pub deny_warnings: bool,
    pub no_warnings: bool,
    /// Applied after the manifest's.
    pub warnings: Vec<Choice>,
    /// Compare only; write nothing.
    pub is_check: bool,
    pub jobs: Option<usize>,
    /// The kind of output that overrides the manifest's.
    pub emit: Option<EmitKind>,
}

/// A shader that was read for several jobs.
struct Read {
    reading: Reading,
    /// See [`TreeLoader`].
    is_at_fault: bool,
    /// The paths searched for.
    files: Vec<String>,
}

/// Builds a plan.
pub struct Engine<'a> {
    pub plan: &'a Plan,
    pub choices: &'a Choices,
    sources: Sources,
    tree: Folders,
    /// A write failed: the disk may be full, and the next write would fail too.
    is_stopped: AtomicBool,
}

impl<'a> Engine<'a> {
    /// `folder` is the manifest's: includes are below it or in the include directories.
    pub fn new(plan: &'a Plan, choices: &'a Choices, folder: &Path) -> Engine<'a> {
        let named = plan.jobs.iter().flat_map(|job| &job.common.loader.directories).map(PathBuf::as_path);
        let outputs = plan.jobs.iter().map(|job| job.output.clone()).collect();
        let tree = Folders::new(std::iter::once(folder).chain(named), outputs);
        Engine { plan, choices, sources: Sources::new(&plan.claims), tree, is_stopped: AtomicBool::new(false) }
    }

    /// Makes every output; the results are in the order of the jobs.
    ///
    /// # Errors
    /// Returns an error if a folder of outputs cannot be written at all, or the state cannot be saved.
    pub fn run(&self, progress: &Progress) -> Result<Vec<Done>, CommandError> {
        let total = self.plan.jobs.len();
        if self.choices.is_check {
            let compared = self.spread((0..total).collect(), &|job, read| self.compare(job, read), progress);
            return Ok(all(total, compared));
        }
        let mut dirs = state::open(&self.plan.out_dirs, &self.plan.claims)?;
        let keys: Vec<String> = self.plan.jobs.iter().map(|job| self.key(job)).collect();
        let is_stale = |n: &usize| !self.is_current(&self.plan.jobs[*n], &keys[*n], &dirs);
        let stale: Vec<usize> = (0..total).filter(is_stale).collect();
        let make = |n: usize, read: Option<&Read>| self.make(n, read, &keys[n], &dirs);
        let mut results = self.spread(stale, &make, progress);
        for (n, done) in &mut results {
            let job = &self.plan.jobs[*n];
            dirs[job.out_dir].remember(&job.name, done.entry.take());
        }
        let saved: Vec<_> = dirs.iter_mut().map(OutDir::save).collect();
        let is_broken = self.is_stopped.load(Ordering::Relaxed);
        // The output that did not fit has already reported the full disk.
        saved.into_iter().filter(|_| !is_broken).collect::<Result<Vec<()>, _>>()?;
        Ok(all(total, results))
    }

    /// Adds every file that was read or searched for, with its state before that.
    pub fn add_stamps(&self, stamps: &mut Stamps) {
        self.sources.add_stamps(stamps);
    }

    fn is_current(&self, job: &Job, key: &str, dirs: &[OutDir]) -> bool {
        let entry = dirs[job.out_dir].entry(&job.name);
        entry.is_some_and(|entry| entry.is_current(key, &job.output, &self.sources, dirs[job.out_dir].saved()))
    }

    /// The listing of every job below its cost, in the form of snapshots.
    pub fn listings(&self, progress: &Progress) -> Vec<(Done, Option<String>)> {
        let all = (0..self.plan.jobs.len()).collect();
        let made = self.spread(all, &|n, read| self.listing(&self.plan.jobs[n], read), progress);
        made.into_iter().map(|(_, listing)| listing).collect()
    }

    fn listing(&self, job: &Job, read: Option<&Read>) -> (Done, Option<String>) {
        let (done, _, bytes) = self.compile(job, read);
        let Some(bytes) = bytes else { return (done, None) };
        let options = [self.options(job)];
        let report = self.with_source(job, |input, loader| explain(input, &options, loader).ok());
        let report = report.ok().flatten();
        (done, Some(snapshot(job, &String::from_utf8_lossy(&bytes), report.as_ref())))
    }

    /// Runs jobs on as many threads as there are rights to; the results are in the order of the numbers.
    fn spread<T: Send>(
        &self,
        numbers: Vec<usize>,
        make: &(dyn Fn(usize, Option<&Read>) -> T + Sync),
        progress: &Progress,
    ) -> Vec<(usize, T)> {
        progress.start(numbers.len(), self.plan.jobs.len());
        if numbers.is_empty() {
            return Vec::new();
        }
        let tokens = Tokens::new(self.choices.jobs);
        let one = |n: usize, read: Option<&Read>| {
            let done = {
                let _token = tokens.take();
                make(n, read)
            };
            progress.tick();
            (n, done)
        };
        let units: Vec<&[usize]> = numbers.chunk_by(|a, b| self.share_reading(*a, *b)).collect();
        let read = |unit: &[usize]| {
            let _token = tokens.take();
            self.read(unit)
        };
        let pool = rayon::ThreadPoolBuilder::new().num_threads(tokens.threads.min(numbers.len())).build();
        match pool {
            Ok(pool) => pool.install(|| {
                let all = |unit: &[usize]| -> Vec<(usize, T)> {
                    let read = read(unit);
                    unit.par_iter().map(|n| one(*n, read.as_ref())).collect()
                };
                units.into_par_iter().flat_map_iter(all).collect()
            }),
            // If no thread can be created, this one does the work.
            Err(_) => numbers.iter().map(|n| one(*n, None)).collect(),
        }
    }

    /// Returns true if two jobs have the same shader with the same meaning.
    fn share_reading(&self, a: usize, b: usize) -> bool {
        let (a, b) = (&self.plan.jobs[a], &self.plan.jobs[b]);
        // Shaders of a program also depend on the stages that they are linked with.
        a.others.is_empty()
            && a.group == b.group
            && a.macros == b.macros
            && read_alike(&a.target.profile, &b.target.profile)
    }

    /// Parses the shader of several jobs; `None` if there is nothing to share, or no shader.
    fn read(&self, unit: &[usize]) -> Option<Read> {
        let [first, _, ..] = unit else { return None };
        let job = &self.plan.jobs[*first];
        let options = self.options(job);
        let made = self.with_source(job, |input, loader| {
            let reading = Reading::new(input, &options, loader);
            Read { reading, is_at_fault: loader.is_at_fault.get(), files: loader.tried.take() }
        });
        made.ok()
    }

    fn make(&self, number: usize, read: Option<&Read>, key: &str, dirs: &[OutDir]) -> Done {
        if self.is_stopped.load(Ordering::Relaxed) {
            return Done { fate: Fate::NotTried, compilation: None, entry: None };
        }
        let job = &self.plan.jobs[number];
        let (mut done, files, bytes) = self.compile(job, read);
        let Some(bytes) = bytes else { return done };
        match dirs[job.out_dir].write(&job.name, &bytes, number) {
            Ok(written) => done.fate = Fate::Made(written),
            Err(error) => {
                self.is_stopped.store(true, Ordering::Relaxed);
                return Done::broken(format!("cannot write {}: {error}", job.output.display()));
            }
        }
        // An output with messages is made again next time, so that the messages appear again.
        let is_silent = done.compilation.as_ref().is_some_and(|made| made.diagnostics.iter().next().is_none());
        if is_silent {
            let digest = self.sources.digest(files.iter().map(String::as_str));
            done.entry = Some(Entry::new(key.to_string(), files, digest, &job.output, &bytes));
        }
        done
    }

    /// Makes an output in memory and compares it with the file on disk.
    fn compare(&self, number: usize, read: Option<&Read>) -> Done {
        let job = &self.plan.jobs[number];
        let (mut done, _, bytes) = self.compile(job, read);
        let Some(bytes) = bytes else { return done };
        done.fate = match read::bytes(&job.output, bytes.len() as u64) {
            Ok(found) if found == bytes => Fate::Skipped,
            _ => Fate::Differs { is_missing: !job.output.exists() },
        };
        done
    }

    /// Compiles a shader that is linked with the other stages of its program. Returns the result, whether the files
    /// were at fault, and the paths that were searched for.
    fn linked(&self, job: &Job, options: &Options) -> Result<(Compilation, bool, Vec<String>), String> {
        let (mut is_at_fault, mut files) = (false, Vec::new());
        let mut readings = Vec::new();
        for shader in std::iter::once(&job.shader).chain(job.others.iter()) {
            let options = Options { stage: shader.kind.stage, ..options.clone() };
            let (reading, fault, tried) = self.with_shader(job, shader, |input, loader| {
                let reading = Reading::new(input, &options, loader);
                (reading, loader.is_at_fault.get(), loader.tried.take())
            })?;
            readings.push(reading);
            is_at_fault |= fault;
            files.extend(tried);
        }
        if readings.len() > 1 {
            Reading::link(&mut readings.iter_mut().collect::<Vec<_>>());
        }
        Ok((readings.swap_remove(0).compile(options), is_at_fault, files))
    }

    /// Calls `f` with a job's shader and its includes.
    ///
    /// # Errors
    /// Returns the reason that the shader cannot be read.
    fn with_source<T>(&self, job: &Job, f: impl FnOnce(&Input<'_>, &TreeLoader<'_>) -> T) -> Result<T, String> {
        self.with_shader(job, &job.shader, f)
    }

    /// Calls `f` with another stage of the job's program.
    fn with_shader<T>(
        &self,
        job: &Job,
        shader: &Shader,
        f: impl FnOnce(&Input<'_>, &TreeLoader<'_>) -> T,
    ) -> Result<T, String> {
        let name = shader.path.display().to_string();
        let source = self.sources.get(&shader.path);
        let bytes = match &source.content {
            Content::Text(text) => text.as_bytes(),
            Content::Bytes(bytes) => bytes,
            Content::Missing => return Err(format!("{name} is gone")),
            Content::Unreadable(why) => return Err(why.clone()),
        };
        let loader = TreeLoader {
            sources: &self.sources,
            files: &job.common.loader,
            tree: &self.tree,
            tried: RefCell::new(vec![name.clone()]),
            is_at_fault: Cell::new(false),
        };
        Ok(f(&Input { name: &name, bytes, language: shader.kind.language }, &loader))
    }

    /// The bytes of an output, if the shader is valid, with the paths that were searched for. Reuses shaders that other
    /// jobs have parsed.
    fn compile(&self, job: &Job, read: Option<&Read>) -> (Done, Vec<String>, Option<Vec<u8>>) {
        if let Err(why) = job.target.prove() {
            return (Done::broken(why), Vec::new(), None);
        }
        let options = self.options(job);
        let made = match read.filter(|read| read.reading.serves(&options.profile)) {
            Some(read) => Ok((read.reading.compile(&options), read.is_at_fault, read.files.clone())),
            None => self.linked(job, &options),
        };
        let (compilation, is_at_fault, files) = match made {
            Ok(made) => made,
            Err(why) => return (Done::broken(why), Vec::new(), None),
        };
        let (fate, bytes) = match &compilation.verdict {
            Verdict::Done(artifact) => (Fate::Made(Written::Same), Some(artifact.to_bytes())),
            _ if is_at_fault => (Fate::Failed(Exit::CommandWrong), None),
            Verdict::ShaderWrong => (Fate::Failed(Exit::ShaderWrong), None),
            Verdict::ProfileLacks => (Fate::Failed(Exit::ProfileLacks), None),
        };
        (Done { fate, compilation: Some(compilation), entry: None }, files, bytes)
    }

    fn options(&self, job: &Job) -> Options {
        let settings = &job.common.settings;
        Options {
            stage: job.shader.kind.stage,
            entry: settings.entry.clone(),
            bounds_checks: settings.bounds_checks,
            fp_contract: settings.fp_contract(),
            clip_space: settings.clip_space(),
            places: Places {
                push_constants: settings.push_constants,
                resources: settings.places.clone(),
                inputs: settings.vertex_inputs.clone(),
                argument_buffers: settings.argument_buffers,
            },
            macros: job.macros.to_vec(),
            emit: self.choices.emit.unwrap_or(settings.emit.kind()),
            debug: settings.debug.into(),
            manner: settings.manner(),
            deny_warnings: settings.deny_warnings || self.choices.deny_warnings,
            no_warnings: settings.no_warnings || self.choices.no_warnings,
            warnings: settings.warnings.iter().chain(&self.choices.warnings).copied().collect(),
            plans: job.target.plans.clone(),
            ..Options::new(job.target.profile.clone())
        }
    }

    /// Hash of every input of an output except files.
    fn key(&self, job: &Job) -> String {
        let Choices { deny_warnings, no_warnings, warnings, .. } = self.choices;
        let warnings: String = warnings.iter().map(|choice| format!(" {choice}")).collect();
        let (path, target) = (job.shader.path.display(), job.target.identity());
        let settings = &job.common.settings_text;
        let others: Vec<&Path> = job.others.iter().map(|other| &*other.path).collect();
        let macros = &job.macros;
        let text =
            format!("{path}\n{others:?}\n{target}\n{macros:?}\n{settings}\n{deny_warnings} {no_warnings}{warnings}");
        hex(xxh3_128(text.as_bytes()))
    }
}

/// A result for every job; unfinished jobs were skipped.
fn all(total: usize, done: Vec<(usize, Done)>) -> Vec<Done> {
    let skipped = || Done { fate: Fate::Skipped, compilation: None, entry: None };
    let mut all: Vec<Done> = std::iter::repeat_with(skipped).take(total).collect();
    done.into_iter().for_each(|(n, done)| all[n] = done);
    all
}
