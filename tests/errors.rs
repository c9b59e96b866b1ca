//! What wrong shaders are told: each file of `fixtures/bad` is compiled, and its rendered messages are a snapshot.
//!
//! A first line may set options: `// wave size: 32`, `// stage: fragment` or `// -DNAME=VALUE`. Includes come from
//! `fixtures/bad/include`. Every shader here is refused; a snapshot whose shader is gone is a failure too.

use crosslane::compile::{Compilation, Input, Language, Options, Verdict, compile};
use crosslane::diagnostic::render;
use crosslane::glsl::preprocess::MacroOption;
use crosslane::ir::Stage;
use crosslane::profile::Profile;
use crosslane::source::{IncludeKind, LoadError, Loaded, Loader};
use libtest_mimic::{Arguments, Failed, Trial};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Names of shaders and of includes are shown without their folder.
struct Includes;

impl Loader for Includes {
    fn load(&self, name: &str, _: IncludeKind, _: &str) -> Result<Loaded, LoadError> {
        let missing = |_| LoadError::NotFound(vec![format!("include/{name}")]);
        let text = fs::read_to_string(folder("fixtures/bad/include").join(name)).map_err(missing)?;
        Ok(Loaded { name: name.into(), text: text.into() })
    }
}

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let mut shaders: Vec<PathBuf> = files("fixtures/bad").into_iter().filter(|path| path.is_file()).collect();
    shaders.sort();
    let names: Vec<String> = shaders.iter().map(|path| file_name(path)).collect();
    let mut trials: Vec<Trial> = shaders.into_iter().map(trial).collect();
    trials.push(Trial::test("every_snapshot_has_its_shader", move || orphans(&names)));
    trials.push(Trial::test("there_are_enough_cases", enough));
    libtest_mimic::run(&arguments, trials).exit_code()
}

fn trial(path: PathBuf) -> Trial {
    Trial::test(file_name(&path), move || {
        let text = fs::read_to_string(&path)?;
        let made = compile_text(&file_name(&path), &text);
        if matches!(made.verdict, Verdict::Done(_)) || !made.diagnostics.has_errors() {
            return Err(Failed::from("this shader compiles"));
        }
        snapshot(&file_name(&path), &render::human(&made.sources, &made.diagnostics));
        Ok(())
    })
}

fn compile_text(name: &str, text: &str) -> Compilation {
    let language = if name.ends_with(".wgsl") { Language::Wgsl } else { Language::Glsl };
    let options = options(text.lines().next().unwrap_or_default());
    compile(&Input { name, bytes: text.as_bytes(), language }, &options, &Includes)
}

/// The options that the first line sets.
fn options(first: &str) -> Options {
    let mut options = Options::new(Profile::named("spirv-1.6").expect("a built-in profile"));
    if let Some(lanes) = first.strip_prefix("// wave size: ") {
        options.profile = options.profile.with_wave_size(lanes.parse().ok());
    } else if first == "// stage: fragment" {
        options.stage = Stage::Fragment;
    } else if let Some(define) = first.strip_prefix("// -D") {
        options.macros.push(MacroOption::define(define));
    }
    options
}

fn snapshot(name: &str, messages: &str) {
    let mut settings = insta::Settings::clone_current();
    settings.set_snapshot_path(folder("snapshots/errors"));
    settings.set_prepend_module_to_snapshot(false);
    settings.set_omit_expression(true);
    settings.bind(|| insta::assert_snapshot!(name, messages));
}

fn orphans(shaders: &[String]) -> Result<(), Failed> {
    for path in files("snapshots/errors") {
        let name = file_name(&path);
        let Some(shader) = name.strip_suffix(".snap") else { continue };
        if !shaders.iter().any(|known| known == shader) {
            return Err(Failed::from(format!("snapshots/errors/{name}: no such shader")));
        }
    }
    Ok(())
}

fn enough() -> Result<(), Failed> {
    let count = files("fixtures/bad").len();
    if count < 70 { Err(Failed::from(format!("{count} cases"))) } else { Ok(()) }
}

fn folder(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

fn files(path: &str) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder(path)).into_iter().flatten();
    entries.filter_map(|entry| entry.ok().map(|entry| entry.path())).collect()
}

fn file_name(path: &Path) -> String {
    path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned())
}
