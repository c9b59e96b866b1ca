//! Values that shells complete: the names of profiles and operations. The engine takes a list with commas apart itself.

use crate::dictionary::of_tables;
use crate::profile::Profile;
use clap_complete::engine::{ArgValueCompleter, CompletionCandidate, PathCompleter, ValueCompleter};
use std::ffi::OsStr;

/// Names of profiles, and files that are profiles.
pub fn profiles() -> ArgValueCompleter {
    ArgValueCompleter::new(|word: &OsStr| {
        let profiles = Profile::built_in().iter().filter(|profile| begins(&profile.name, word));
        let named = profiles
            .map(|profile| CompletionCandidate::new(&*profile.name).help(Some(profile.description.to_string().into())));
        let is_profile = |path: &std::path::Path| path.extension().is_some_and(|ending| ending == "toml");
        // Without a letter, files would hide the names.
        let files = if word.is_empty() { Vec::new() } else { PathCompleter::any().filter(is_profile).complete(word) };
        named.chain(files).collect()
    })
}

/// Names of operations in all languages.
pub fn operations() -> ArgValueCompleter {
    ArgValueCompleter::new(|word: &OsStr| {
        let mut names: Vec<_> = of_tables().into_iter().map(|entry| entry.name).collect();
        names.retain(|name| begins(name, word));
        names.sort_unstable();
        names.dedup();
        names.into_iter().map(|name| CompletionCandidate::new(name.into_owned())).collect()
    })
}

fn begins(name: &str, word: &OsStr) -> bool {
    word.to_str().is_some_and(|word| name.starts_with(word))
}
