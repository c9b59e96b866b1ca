//! A profile as a manifest names it: at a wave size, with its part of the output names and the hash of its contents.

use super::super::{CommandError, profiles};
use crate::build::claims::Claims;
use crate::build::files::{FileLoader, Recorder};
use crate::lane::Plans;
use crate::profile::{Profile, WaveSize};
use crate::source::{IncludeKind, Loader};
use std::path::Path;
use std::sync::{Arc, OnceLock};
use xxhash_rust::xxh3::Xxh3;

/// A profile at a wave size.
pub struct BuildTarget {
    pub profile: Profile,
    /// The argument of `-p` that names it.
    pub argument: String,
    /// The argument of `--wave-size`, if the profile alone does not determine it.
    pub wave_size: Option<String>,
    /// `.wave64.gfx1100`
    pub part: String,
    /// Files that it was read from; empty for a built-in profile.
    pub files: Vec<String>,
    /// Hash of their contents.
    hash: u128,
    proven: OnceLock<Result<(), String>>,
    /// The plans made for it so far.
    pub plans: Arc<Plans>,
}

impl BuildTarget {
    /// The profile with a name, an alias, or a file name relative to `folder`. Its plans are not proven yet.
    ///
    /// # Errors
    /// Returns an error if the profile does not exist or its file is invalid.
    pub fn read(name: &str, folder: &Path, claims: &Claims) -> Result<BuildTarget, CommandError> {
        let is_file = Path::new(name).extension().is_some_and(|extension| extension == "toml");
        let argument = if is_file { folder.join(name).display().to_string() } else { name.to_string() };
        let disk = FileLoader { claims: claims.clone(), ..FileLoader::default() };
        let recorder = Recorder::new(&disk);
        let profile = profiles::read(&argument, &recorder)?;
        let files: Vec<String> = recorder.into_found().iter().map(ToString::to_string).collect();
        let hash = hash(&files, &disk);
        let argument = if is_file { argument } else { profile.name.to_string() };
        let part = part(&profile.name);
        Ok(BuildTarget {
            profile,
            argument,
            wave_size: None,
            part,
            files,
            hash,
            proven: OnceLock::new(),
            plans: Arc::default(),
        })
    }

    /// The same hardware with another wave size: the profile's sibling if there is one.
    ///
    /// # Errors
    /// A sentence that says why it has no such waves.
    pub fn at_wave_size(&self, size: WaveSize) -> Result<BuildTarget, String> {
        let base = parts(&self.profile.name).0;
        let sibling = size.lanes().and_then(|lanes| Profile::named(&format!("{base}-wave{lanes}")));
        let (profile, argument, wave_size) = match sibling.filter(|_| self.files.is_empty()) {
            Some(sibling) => (sibling.clone(), sibling.name.to_string(), None),
            None => (self.profile.clone().promising(size)?, self.argument.clone(), Some(size.to_string())),
        };
        let part = match size {
            WaveSize::Any => format!(".{base}"),
            WaveSize::Least(_) => self.part.clone(),
            WaveSize::Fixed(lanes) => format!(".wave{lanes}.{base}"),
        };
        let (files, hash) = (self.files.clone(), self.hash);
        Ok(BuildTarget {
            profile,
            argument,
            wave_size,
            part,
            files,
            hash,
            proven: OnceLock::new(),
            plans: Arc::default(),
        })
    }

    /// Its name in messages.
    pub fn name(&self) -> &str {
        self.part.trim_start_matches('.')
    }

    /// Everything that distinguishes it from other targets, as text.
    pub fn identity(&self) -> String {
        format!("{} {:?} {:?} {:032x}", self.profile.name, self.profile.wave_size, self.profile.promise, self.hash)
    }

    /// Proves its plans, once, if it comes from a file. Built-in profiles are proven by crosslane's tests.
    ///
    /// # Errors
    /// Returns an error if a plan is wrong.
    pub fn prove(&self) -> Result<(), String> {
        let prove = || match self.files.is_empty() {
            true => Ok(()),
            false => profiles::prove(&self.profile).map_err(|CommandError(why)| format!("{}: {why}", self.argument)),
        };
        self.proven.get_or_init(prove).clone()
    }
}

/// The part of an output's name for the profile: `.wave64.gfx1100` for `gfx1100-wave64`.
pub fn part(profile: &str) -> String {
    let (base, lanes) = parts(profile);
    lanes.map_or(format!(".{base}"), |lanes| format!(".wave{lanes}.{base}"))
}

/// `gfx1100-wave64` is the hardware `gfx1100` with 64 lanes.
fn parts(name: &str) -> (&str, Option<u32>) {
    let split = name.rsplit_once("-wave").and_then(|(base, lanes)| Some((base, lanes.parse().ok()?)));
    split.map_or((name, None), |(base, lanes)| (base, Some(lanes)))
}

/// The hash reads the files again, so that it does not depend on earlier reads.
fn hash(files: &[String], disk: &FileLoader) -> u128 {
    let mut hash = Xxh3::new();
    for file in files {
        let text = disk.load(file, IncludeKind::Quoted, "").map(|loaded| loaded.text).unwrap_or_default();
        hash.update(format!("{file}\0{}\0", text.len()).as_bytes());
        hash.update(text.as_bytes());
    }
    hash.digest128()
}
