//! The options of a run as data, checked as far as possible without the shader.

use super::machine::{self, Opened};
use super::table;
use crate::build::claims::Claims;
use crate::cli::args::{Machine, RunArgs};
use crate::cli::output::Sink;
use crate::cli::{CommandError, compile, profiles};
use crate::kernel::Specializations;
use crate::profile::Profile;
use crate::sim::MAX_WAVE;
use crate::simulate::element::Element;
use crate::simulate::fill::{self, MOST_BYTES, Slot};
use std::path::{Path, PathBuf};

/// The run that the command line describes.
pub struct Request {
    /// The profile with the sizes that the user promises.
    pub profile: Profile,
    /// Lanes of a wave where the profile and the shader leave the choice.
    pub usual_wave: u32,
    pub machines: Vec<(Machine, Opened)>,
    pub fills: Vec<(Slot, Vec<u8>)>,
    pub push: Vec<u8>,
    pub settings: Specializations,
    pub groups: [u32; 3],
    pub prints: Vec<Print>,
    pub outs: Vec<(Slot, Sink)>,
}

/// A buffer to print.
#[derive(Clone, Copy)]
pub struct Print {
    pub slot: Slot,
    /// The type of all its numbers; `None` for the types that the shader declares.
    pub element: Option<Element>,
    pub limit: usize,
}

impl Request {
    /// # Errors
    /// Returns an error if an option cannot be understood, or a file cannot be read.
    pub fn read(args: &RunArgs, claims: &Claims) -> Result<Request, CommandError> {
        let profile = promising(profiles::find(&args.profile, claims)?, args)?;
        let opened = |on: &Machine| Ok((*on, machine::open(*on, &profile)?));
        let machines = args.on.iter().map(opened).collect::<Result<Vec<_>, CommandError>>()?;
        let usual_wave = machine::usual_wave(&machines);
        Ok(Request {
            profile,
            usual_wave,
            machines,
            fills: args.buffer.iter().map(|text| fill_of(text, claims)).collect::<Result<_, _>>()?,
            push: args.push.as_deref().map_or(Ok(Vec::new()), |text| bytes(text, claims))?,
            settings: compile::settings(&args.set)?,
            groups: groups(&args.groups)?,
            prints: args.print.iter().map(|text| print_of(text)).collect::<Result<_, _>>()?,
            outs: args.out.iter().map(|text| out_of(text)).collect::<Result<_, _>>()?,
        })
    }
}

/// The profile with the promise of `--wave-size`, if its hardware has such waves; the meaning of operations is independent of
/// hardware.
fn promising(profile: Profile, args: &RunArgs) -> Result<Profile, CommandError> {
    let profile = args.wave_size.map_or(profile.clone(), |size| profile.with_wave_size(size));
    match profile.check_wave_size() {
        Err(why) if !args.reference => Err(CommandError(why)),
        _ => check_wave(&profile, profile.wave_size).map(|()| profile),
    }
}

/// # Errors
/// Returns an error if waves have more lanes than the simulator's.
pub fn check_wave(profile: &Profile, lanes: Option<u32>) -> Result<(), CommandError> {
    match lanes.filter(|lanes| *lanes > MAX_WAVE) {
        None => Ok(()),
        Some(lanes) => {
            let name = &profile.name;
            Err(CommandError(format!("{name} has waves of {lanes} lanes; `run` has at most {MAX_WAVE} (--wave-size)")))
        }
    }
}

fn fill_of(text: &str, claims: &Claims) -> Result<(Slot, Vec<u8>), CommandError> {
    let (place, what) = sides("--buffer", text)?;
    Ok((slot(place)?, bytes(what, claims)?))
}

/// The two sides of `A=B`.
fn sides<'a>(option: &str, text: &'a str) -> Result<(&'a str, &'a str), CommandError> {
    let parted = text.split_once('=');
    parted.ok_or_else(|| CommandError(format!("{option} {text}: there is no `=` in it")))
}

fn slot(text: &str) -> Result<Slot, CommandError> {
    fill::slot(text).map_err(CommandError)
}

/// The contents that are not a file.
const FORMS: &str = "; contents without a file are zeros:TYPE:COUNT, iota:TYPE:COUNT, random:TYPE:COUNT:SEED, or values as in f32:1,2,3";

/// The bytes that a text describes, otherwise the contents of the file that it names.
fn bytes(text: &str, claims: &Claims) -> Result<Vec<u8>, CommandError> {
    if let Some(described) = fill::bytes(text) {
        return described.map_err(CommandError);
    }
    let read = claims.read(Path::new(text), MOST_BYTES as u64);
    // A text with a colon is hardly meant as a file.
    let forms = if text.contains(':') { FORMS } else { "" };
    read.map_err(|error| CommandError(format!("cannot read {text}: {error}{forms}")))
}

fn out_of(text: &str) -> Result<(Slot, Sink), CommandError> {
    let (place, file) = sides("--out", text)?;
    Ok((slot(place)?, Sink::new(PathBuf::from(file))))
}

fn print_of(text: &str) -> Result<Print, CommandError> {
    let mut parts = text.split(':').peekable();
    let place = slot(parts.next().unwrap_or_default())?;
    let is_type = |part: &&str| !part.starts_with(|c: char| c.is_ascii_digit());
    let element = parts.next_if(is_type).map(|name| {
        Element::named(name).ok_or_else(|| {
            CommandError(format!("--print {text}: there is no type `{name}`; there are {}", Element::names()))
        })
    });
    let limit = match parts.next() {
        None => table::SHOWN,
        Some(count) => {
            count.parse().map_err(|_| CommandError(format!("--print {text}: `{count}` is not a number of elements")))?
        }
    };
    Ok(Print { slot: place, element: element.transpose()?, limit })
}

/// One to three numbers separated by commas.
fn groups(text: &str) -> Result<[u32; 3], CommandError> {
    let wrong = || CommandError(format!("--groups {text}: write X, X,Y or X,Y,Z"));
    let mut groups = [1; 3];
    for (n, part) in text.split(',').enumerate() {
        *groups.get_mut(n).ok_or_else(wrong)? = part.trim().parse().map_err(|_| wrong())?;
    }
    Ok(groups)
}
