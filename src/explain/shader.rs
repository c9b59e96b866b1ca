//! One shader for several profiles: its operations, each with an answer for every profile.

use super::operations::{self, CallSite, Facts, Lines, Site};
use crate::compile::{Options, Reading, Readings};
use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::guard;
use crate::profile::Profile;
use crate::source::SourceMap;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;

/// A shader that cannot be analysed: its messages.
#[derive(Debug)]
pub struct Failure {
    pub diagnostics: Diagnostics,
    pub sources: Arc<SourceMap>,
}

impl Failure {
    /// The messages of a reading, and more.
    fn new(reading: &Reading, options: &Options, more: Vec<Diagnostic>) -> Failure {
        let mut diagnostics = reading.messages(options);
        more.into_iter().for_each(|failure| diagnostics.push(failure));
        Failure { diagnostics, sources: reading.shared_sources() }
    }

    /// Returns true if the shader may be valid and the profile is the problem.
    pub fn is_refusal(&self) -> bool {
        self.diagnostics.errors_are_refusals()
    }
}

/// One operation with an answer per profile.
pub struct OperationRow<T> {
    pub site: Site,
    pub place: CallSite,
    pub cells: Vec<Cell<T>>,
}

/// One profile's lowering of an operation.
pub enum Cell<T> {
    /// The source for the profile does not have it.
    Absent,
    /// The kernel no longer contains it.
    Gone,
    /// One answer per copy with different facts; at least one.
    Answers(Vec<T>),
}

/// The operations of all profiles, in source order.
pub struct Shader<T> {
    pub rows: Vec<OperationRow<T>>,
    /// True if the module has no entry point. It is not compiled then, and has no rows.
    pub is_library: bool,
}

/// The key of an operation, independent of the profile: file, line, column, and its index among operations at the same
/// place.
type Key = (String, u32, u32, usize);

impl<T> Shader<T> {
    /// Parses a shader for the profiles of some options, which otherwise are equal, and asks for an answer to each
    /// operation. The answer can use its lines if they were requested.
    ///
    /// # Errors
    /// Returns an error if no profile's front end accepts the shader.
    pub fn read(
        readings: &mut Readings<'_>,
        options: &[Options],
        (lines, answer): (Lines, impl Fn(&Site, &Profile) -> T),
    ) -> Result<Shader<T>, Failure> {
        let mut rows: BTreeMap<Key, OperationRow<T>> = BTreeMap::new();
        let mut failures = Vec::new();
        let mut is_library = false;
        for (n, options) in options.iter().enumerate() {
            let (reading, options) = match read(readings, options) {
                Ok(read) => read,
                Err(failure) => {
                    failures.push(failure);
                    continue;
                }
            };
            let options = &*options;
            is_library |= reading.is_library();
            let answer = |site: &Site| answer(site, &options.profile);
            let added = guard::bounded(options.limits, || add(&mut rows, &reading, n, options, (lines, answer)));
            added.map_err(|failure| Failure::new(&reading, options, vec![failure]))?;
        }
        if let Some(worst) = worst_of_all(failures, options.len()) {
            return Err(worst);
        }
        Ok(Shader { rows: rows.into_values().map(|row| row.padded(options.len())).collect(), is_library })
    }
}

/// The failure to show if every profile has one: the first that is the shader's fault, otherwise the first.
pub fn worst_of_all(mut failures: Vec<Failure>, profiles: usize) -> Option<Failure> {
    let worst = failures.iter().position(|failure| !failure.is_refusal()).unwrap_or(0);
    (!failures.is_empty() && failures.len() == profiles).then(|| failures.swap_remove(worst))
}

impl<T> OperationRow<T> {
    fn padded(mut self, profiles: usize) -> OperationRow<T> {
        self.cells.resize_with(profiles, || Cell::Absent);
        self
    }
}

/// The shader for one profile, if it is valid, and the options as it narrows them.
fn read<'o>(readings: &mut Readings<'_>, options: &'o Options) -> Result<(Arc<Reading>, Cow<'o, Options>), Failure> {
    let reading = readings.get(options);
    if reading.module().is_none() || reading.messages(options).has_errors() {
        return Err(Failure::new(&reading, options, Vec::new()));
    }
    match reading.narrowed(options) {
        Ok(options) => Ok((reading, options)),
        Err(errors) => Err(Failure::new(&reading, options, errors)),
    }
}

/// Adds the answers for profile number `n`. If the back end rejects the shader, an operation has only the facts of the
/// module.
fn add<T>(
    rows: &mut BTreeMap<Key, OperationRow<T>>,
    reading: &Reading,
    n: usize,
    options: &Options,
    (lines, answer): (Lines, impl Fn(&Site) -> T),
) {
    let Some(module) = reading.module().filter(|module| !module.entry_points.is_empty()) else { return };
    let facts = Facts::of(reading, module, options, lines);
    let mut before: Option<Key> = None;
    for site in operations::sites(module) {
        let place = operations::call_site(reading.sources(), site.span);
        let mut key = (place.file.clone(), place.line, place.column, 0);
        if let Some(last) = before.filter(|last| (&last.0, last.1, last.2) == (&key.0, key.1, key.2)) {
            key.3 = last.3 + 1;
        }
        let answers: Vec<T> = facts.copies(&site).iter().map(&answer).collect();
        let cell = if answers.is_empty() { Cell::Gone } else { Cell::Answers(answers) };
        let row = rows.entry(key.clone()).or_insert_with(|| OperationRow { site, place, cells: Vec::new() });
        row.cells.resize_with(n, || Cell::Absent);
        row.cells.push(cell);
        before = Some(key);
    }
}
