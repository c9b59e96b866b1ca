//! `crosslane check`: the profiles that can run a shader.
//!
//! The exit code is `compile`'s for the named profile, or the worst one of several. Without a named profile the matrix
//! is the result, so the code is 0 if any profile can run the shader.

use super::args::CheckArgs;
use super::explain::{Source, exit, failed};
use super::output::to_stdout;
use super::{CommandError, Exit, Outcome, profiles, terminal};
use crate::build::claims::Claims;
use crate::diagnostic::visible::visible;
use crate::explain::support::matrix;
use crate::explain::{End, json};
use crate::profile::Profile;

pub fn run(args: &CheckArgs, claims: &Claims) -> Outcome {
    let (chosen, named) = chosen(args, claims)?;
    let source = Source::read(&args.source, &args.messages, &args.places, chosen, claims)?;
    let matrix = match matrix(&source.input(), &source.options, &source.loader) {
        Ok(matrix) => matrix,
        Err(failure) => return Ok(failed(&args.messages, &failure)),
    };
    let text = if args.json {
        json::json(&matrix)
    } else {
        visible(&matrix.text(args.width.or_else(terminal::columns))).into_owned()
    };
    to_stdout(text.as_bytes())?;
    let asked: Vec<End> = matrix.ends.iter().zip(&named).filter(|(_, named)| **named).map(|(end, _)| *end).collect();
    Ok(match asked.as_slice() {
        [] if matrix.ends.contains(&End::Done) => Exit::Done,
        [] => exit(&matrix.ends),
        asked => exit(asked),
    })
}

/// The profiles to check, and which of them were named.
fn chosen(args: &CheckArgs, claims: &Claims) -> Result<(Vec<Profile>, Vec<bool>), CommandError> {
    let sized = |name: &String| profiles::promising(profiles::find(name, claims)?, args.wave_size);
    let named: Vec<Profile> = args.profile.iter().map(sized).collect::<Result<_, _>>()?;
    if !args.all_profiles && !named.is_empty() {
        let all = vec![true; named.len()];
        return Ok((named, all));
    }
    let is_named = |profile: &Profile| named.iter().any(|named| named.name == profile.name);
    let own = named.iter().filter(|profile| !profile.is_builtin).cloned();
    // A named profile may have another subgroup size.
    let built_in = |profile: Profile| named.iter().find(|named| named.name == profile.name).cloned().unwrap_or(profile);
    let profiles: Vec<Profile> = Profile::all().map(built_in).chain(own).collect();
    let flags = profiles.iter().map(is_named).collect();
    Ok((profiles, flags))
}
