//! `check` and `explain` agree with `compile` about each shader and profile, and nothing ends in an internal error:
//! every fixture for every profile.

use crosslane::compile::{Compilation, Input, Language, Options, Verdict, compile};
use crosslane::diagnostic::Code;
use crosslane::explain::support::{Matrix, Support, matrix};
use crosslane::explain::{End, Failure, OnProfile, Report, explain};
use crosslane::ir::Stage;
use crosslane::profile::Profile;
use crosslane::source::NoIncludes;
use std::path::{Path, PathBuf};
use support::fixture;

/// The smallest number of profiles for which fixtures are done, wrong, and refused.
const ENOUGH: [usize; 3] = [24000, 4000, 8000];

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

/// A shader with the options for the profiles in question.
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

    /// How compilation ends for each profile, or the internal errors.
    fn compiled(&self) -> Result<Vec<End>, Vec<String>> {
        let mut defects = Vec::new();
        let end = |options: &Options| {
            let Compilation { verdict, diagnostics, .. } = compile(&self.input(), options, &NoIncludes);
            let defect = diagnostics.iter().find(|diagnostic| diagnostic.code == Code::INTERNAL);
            defects.extend(defect.map(|is| format!("{} -p {}: {is:?}", self.path.display(), options.profile.name)));
            match verdict {
                Verdict::Done(_) => End::Done,
                Verdict::ShaderWrong => End::ShaderWrong,
                Verdict::ProfileLacks => End::ProfileLacks,
            }
        };
        let ends = self.options.iter().map(end).collect();
        if defects.is_empty() { Ok(ends) } else { Err(defects) }
    }

    /// The wrong answers, given how compilation really ends.
    fn untruths(&self, ends: &[End]) -> Vec<String> {
        let checked = matrix(&self.input(), &self.options, &NoIncludes).map(|matrix| of_matrix(&matrix));
        let explained = explain(&self.input(), &self.options, &NoIncludes).map(|report| of_report(&report));
        let mut found = self.compared("check", ends, checked);
        found.extend(self.compared("explain", ends, explained));
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
    /// True if a message gives the reason.
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

/// Returns true for shaders that `check` accepts and `compile` does not, because they have no entry point.
fn is_library(question: &Question) -> bool {
    matrix(&question.input(), &question.options[..1], &NoIncludes).is_ok_and(|matrix| matrix.library)
}

/// The built-in profiles, and one of a language in subgroups of a known size, which some shaders exceed.
fn profiles() -> Vec<Profile> {
    let small = Profile::named("spirv-1.6").unwrap().with_wave_size(Some(16));
    Profile::all().chain([small]).collect()
}

fn judge(path: &Path) -> ([usize; 3], Vec<String>) {
    let question = Question::new(path, profiles());
    if is_library(&question) {
        return ([0; 3], Vec::new());
    }
    let ends = match question.compiled() {
        Ok(ends) => ends,
        Err(defects) => return ([0; 3], defects),
    };
    let count = |of: End| ends.iter().filter(|end| **end == of).count();
    let counts = [End::Done, End::ShaderWrong, End::ProfileLacks].map(count);
    (counts, question.untruths(&ends))
}

/// Letters for the answers to operations: inside the subgroup, over several subgroups, removed, refused, absent.
const LETTERS: [char; 5] = ['y', 's', 'g', 'n', '-'];

fn letters(rows: impl Iterator<Item = usize>) -> String {
    rows.map(|kind| LETTERS[kind]).collect()
}

fn of_support(support: &Support) -> usize {
    match support {
        Support::Yes { .. } => 0,
        Support::Spanning(_) => 1,
        Support::Gone => 2,
        Support::No { .. } => 3,
        Support::Absent => 4,
    }
}

fn of_profile(on: &OnProfile) -> usize {
    match on {
        OnProfile::Planned(_) => 0,
        OnProfile::Spanning(_) => 1,
        OnProfile::Gone => 2,
        OnProfile::Refused { .. } => 3,
        OnProfile::Absent => 4,
    }
}

#[test]
fn operations_over_several_subgroups_compile_as_told() {
    let sized = |lanes| Profile::named("spirv-1.6").unwrap().with_wave_size(Some(lanes));
    let named = |name| Profile::named(name).unwrap();
    let any = || named("spirv-1.3");
    let small = || vec![named("ptx-sm70"), named("nv-hopper"), named("gfx1100"), sized(16), sized(4)];
    for (shader, profiles, expected) in [
        ("fixtures/explain/spanning.comp", vec![any(), sized(64)], "yyyy"),
        ("fixtures/explain/spanning.comp", small()[..4].to_vec(), "ssys"),
        ("fixtures/explain/spanning.comp", vec![sized(4)], "ssss"),
        ("fixtures/explain/spanning_divergent.comp", vec![sized(64)], "yyy"),
        ("fixtures/explain/spanning_divergent.comp", vec![any()], "yny"),
        ("fixtures/explain/spanning_divergent.comp", small()[..4].to_vec(), "sny"),
        ("fixtures/explain/spanning.frag", vec![sized(64)], "y"),
        ("fixtures/explain/spanning.frag", vec![any(), named("nv-hopper"), sized(16)], "n"),
    ] {
        for profile in profiles {
            let name = format!("{shader} -p {} in subgroups of {:?}", profile.name, profile.wave_size);
            let question = Question::new(Path::new(shader), vec![sized(64), profile]);
            let ends = question.compiled().unwrap();
            assert_eq!(question.untruths(&ends), Vec::<String>::new(), "{name}");
            assert_eq!(ends[1] == End::Done, !expected.contains('n'), "{name}");
            let checked = matrix(&question.input(), &question.options, &NoIncludes).unwrap();
            let explained = explain(&question.input(), &question.options, &NoIncludes).unwrap();
            let checked = checked.operations.iter().map(|operation| of_support(&operation.profiles[1]));
            let explained = explained.operations.iter().map(|operation| of_profile(&operation.profiles[1]));
            assert_eq!([letters(checked), letters(explained)], [expected, expected], "{name}");
        }
    }
}

#[test]
fn check_and_explain_say_what_compile_says() {
    let mut paths = Vec::new();
    shaders("fixtures", &mut paths);
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let found: Vec<_> = std::thread::scope(|scope| {
        let paths = &paths;
        let part = |at: usize| {
            let own = paths.iter().skip(at).step_by(threads);
            scope.spawn(move || own.map(|path| judge(path)).collect::<Vec<_>>())
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
