//! `check` and `explain` say of each shader and profile what `compile` says: all fixtures, each for some of the profiles, for all
//! of them with `CROSSLANE_TRUTH=all`.

use crosslane::compile::{Input, Language, Options, Verdict, compile};
use crosslane::explain::support::{Matrix, Support, matrix};
use crosslane::explain::{End, Failure, OnProfile, Report, explain};
use crosslane::ir::Stage;
use crosslane::profile::Profile;
use crosslane::source::NoIncludes;
use std::path::{Path, PathBuf};
use support::fixture;

/// `check` asks about one profile in so many, `explain` about one in so many of these.
const PARTS: [usize; 2] = [8, 4];

/// The smallest number of profiles for which fixtures are done, wrong, and refused.
const ENOUGH: [usize; 3] = [3000, 500, 1000];

fn shaders(folder: &str, found: &mut Vec<PathBuf>) {
    for path in fixture::entries(folder) {
        let ending = path.extension().and_then(|ending| ending.to_str());
        match ending {
            None if path.is_dir() => shaders(path.to_str().unwrap(), found),
            Some(ending) if ending == "wgsl" || Stage::named(ending).is_some() => found.push(path),
            _ => {}
        }
    }
}

/// A shader with the options of the profiles that are asked.
struct Question {
    path: PathBuf,
    bytes: Vec<u8>,
    options: Vec<Options>,
}

impl Question {
    fn new(path: &Path, profiles: Vec<Profile>) -> Question {
        let stage = path.extension().and_then(|ending| Stage::named(ending.to_str()?));
        let options = profiles.into_iter().map(|profile| Options { stage, ..Options::new(profile) }).collect();
        Question { path: path.to_path_buf(), bytes: std::fs::read(path).unwrap(), options }
    }

    fn input(&self) -> Input<'_> {
        let is_wgsl = self.path.extension().is_some_and(|ending| ending == "wgsl");
        let language = if is_wgsl { Language::Wgsl } else { Language::Glsl };
        Input { name: "shader", bytes: &self.bytes, language }
    }

    fn compiled(&self) -> Vec<End> {
        let end = |options: &Options| match compile(&self.input(), options, &NoIncludes).verdict {
            Verdict::Done(_) => End::Done,
            Verdict::ShaderWrong => End::ShaderWrong,
            Verdict::ProfileLacks => End::ProfileLacks,
        };
        self.options.iter().map(end).collect()
    }

    /// What is untrue of the answers, given the true ends.
    fn untruths(&self, ends: &[End], asks_explain: bool) -> Vec<String> {
        let checked = matrix(&self.input(), &self.options, &NoIncludes).map(|matrix| of_matrix(&matrix));
        let mut found = self.compared("check", ends, checked);
        if asks_explain {
            let explained = explain(&self.input(), &self.options, &NoIncludes).map(|report| of_report(&report));
            found.extend(self.compared("explain", ends, explained));
        }
        found
    }

    fn compared(&self, command: &str, ends: &[End], answers: Result<Vec<Answer>, Failure>) -> Vec<String> {
        let answers = match answers {
            Ok(answers) => answers,
            Err(failure) => {
                let end = if failure.is_refusal() { End::ProfileLacks } else { End::ShaderWrong };
                let is_true = ends.contains(&end) && !ends.contains(&End::Done);
                let said = || format!("{command} {}: {end:?} for all, compile says {ends:?}", self.path.display());
                return if is_true { Vec::new() } else { vec![said()] };
            }
        };
        let wrong = |((options, end), answer): ((&Options, &End), Answer)| {
            let is_true = answer.end == *end && (*end != End::Done) == answer.has_reason;
            let place = format!("{command} {} -p {}", self.path.display(), options.profile.name);
            (!is_true).then(|| format!("{place}: {answer:?}, compile says {end:?}"))
        };
        self.options.iter().zip(ends).zip(answers).filter_map(wrong).collect()
    }
}

/// The answer of a command for a profile.
#[derive(Debug)]
struct Answer {
    end: End,
    /// True if something says why not.
    has_reason: bool,
}

fn of_matrix(matrix: &Matrix) -> Vec<Answer> {
    let answer = |(n, end): (usize, &End)| {
        let is_no = |support: &Support| matches!(support, Support::No { .. });
        let has_no = matrix.operations.iter().any(|operation| is_no(&operation.profiles[n]));
        assert_eq!(matrix.can[n], *end == End::Done);
        Answer { end: *end, has_reason: has_no || matrix.profiles[n].refused.is_some() }
    };
    matrix.ends.iter().enumerate().map(answer).collect()
}

fn of_report(report: &Report) -> Vec<Answer> {
    let answer = |(n, end): (usize, &End)| {
        let is_no = |on: &OnProfile| matches!(on, OnProfile::Refused { .. });
        let has_no = report.operations.iter().any(|operation| is_no(&operation.profiles[n]));
        Answer { end: *end, has_reason: has_no || report.profiles[n].refused.is_some() }
    };
    report.ends.iter().enumerate().map(answer).collect()
}

/// The profiles that shader number `n` is asked about.
fn profiles(n: usize, part: usize) -> Vec<Profile> {
    let chosen = Profile::all().enumerate().filter(|(at, _)| (at + n).is_multiple_of(part));
    chosen.map(|(_, profile)| profile).collect()
}

/// True of shaders that `check` takes and `compile` does not: they have no entry point.
fn is_library(question: &Question) -> bool {
    matrix(&question.input(), &question.options[..1], &NoIncludes).is_ok_and(|matrix| matrix.library)
}

fn judge(n: usize, path: &Path, of_all: bool) -> ([usize; 3], Vec<String>) {
    let [part, explained] = if of_all { [1, 1] } else { PARTS };
    let question = Question::new(path, profiles(n, part));
    if is_library(&question) {
        return ([0; 3], Vec::new());
    }
    let ends = question.compiled();
    let count = |of: End| ends.iter().filter(|end| **end == of).count();
    let counts = [End::Done, End::ShaderWrong, End::ProfileLacks].map(count);
    (counts, question.untruths(&ends, n.is_multiple_of(explained)))
}

#[test]
fn check_and_explain_say_what_compile_says() {
    let of_all = std::env::var("CROSSLANE_TRUTH").is_ok_and(|asked| asked == "all");
    let mut paths = Vec::new();
    shaders("fixtures", &mut paths);
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let found: Vec<_> = std::thread::scope(|scope| {
        let paths = &paths;
        let part = |at: usize| {
            let own = paths.iter().enumerate().skip(at).step_by(threads);
            scope.spawn(move || own.map(|(n, path)| judge(n, path, of_all)).collect::<Vec<_>>())
        };
        let parts: Vec<_> = (0..threads).map(part).collect();
        parts.into_iter().flat_map(|part| part.join().unwrap()).collect()
    });
    let untrue: Vec<&String> = found.iter().flat_map(|(_, untrue)| untrue).collect();
    assert!(untrue.is_empty(), "{} untrue answers:\n{untrue:#?}", untrue.len());
    let counts = found.iter().fold([0; 3], |sum, (counts, _)| [0, 1, 2].map(|n| sum[n] + counts[n]));
    assert!(counts.iter().zip(ENOUGH).all(|(count, least)| *count >= least), "{counts:?}");
    eprintln!("{counts:?}");
}
