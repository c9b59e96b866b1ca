//! Other tools' spellings of our options. clap would read the single-dash words of glslc and glslang as clusters of
//! letters, so they are replaced by the equivalent long options.

use super::dropin::{environment, flags, glslc};
use std::ffi::OsString;

/// A word, or the prefix of a word with a value, and crosslane's spelling.
static SPELLINGS: &[(&str, Spelling)] = &[
    ("-Werror", Spelling::Word("--deny-warnings")),
    ("-fshader-stage=", Spelling::Prefix("--stage=")),
    ("-fentry-point=", Spelling::Prefix("--entry=")),
    ("-fdiagnostics-color=", Spelling::Prefix("--color=")),
    ("--target-env=", Spelling::TargetEnvironment),
    ("--target-spv=", Spelling::Prefix("--environment=")),
    ("-mfmt=", Spelling::Prefix("--words=")),
    ("-g", Spelling::Word("--debug=lines")),
    ("-g0", Spelling::Word("--debug=none")),
    ("-g1", Spelling::Word("--debug=lines")),
    ("-g2", Spelling::Word("--debug=full")),
    ("-gV", Spelling::Word("--debug=full")),
    ("-gVS", Spelling::Word("--debug=full")),
    ("-MF", Spelling::Valued("--deps-file")),
    ("-MT", Spelling::Valued("--deps-target")),
    ("-MQ", Spelling::Valued("--deps-target-quoted")),
    ("-MP", Spelling::Word("--deps-phony")),
    ("-MD", Spelling::Word("--deps")),
    ("-MMD", Spelling::Word("--deps")),
    ("-M", Spelling::Word("--deps-only")),
    ("-MM", Spelling::Word("--deps-only")),
    ("-O0", Spelling::Word("--optimize=none")),
    ("-O", Spelling::Word("--optimize=speed")),
    ("-Os", Spelling::Word("--optimize=size")),
    ("-c", Spelling::Nothing),
];

#[derive(Clone, Copy)]
enum Spelling {
    Word(&'static str),
    /// The value follows directly.
    Prefix(&'static str),
    /// The value follows directly or is the next word.
    Valued(&'static str),
    /// glslc's target environments name the SPIR-V version that they imply.
    TargetEnvironment,
    /// Requests the default.
    Nothing,
}

/// The foreign options that start with `start`.
pub fn starting_with(start: &str) -> Vec<&'static str> {
    SPELLINGS.iter().map(|(theirs, _)| *theirs).filter(|theirs| theirs.starts_with(start)).collect()
}

/// Rewrites the arguments (program name first). Unknown arguments and everything after `--` stay.
pub fn translate(arguments: Vec<OsString>) -> Vec<OsString> {
    let mut only_files = false;
    let mut out = Vec::with_capacity(arguments.len());
    for argument in arguments {
        only_files |= argument == "--";
        if only_files {
            out.push(argument);
        } else {
            out.extend(translate_one(argument));
        }
    }
    out
}

fn translate_one(argument: OsString) -> Option<OsString> {
    let Some(text) = argument.to_str() else { return Some(argument) };
    for (theirs, spelling) in SPELLINGS {
        match spelling {
            Spelling::Word(ours) | Spelling::Valued(ours) if text == *theirs => return Some(ours.into()),
            Spelling::Valued(ours) if text.starts_with(theirs) => {
                return Some(format!("{ours}={}", &text[theirs.len()..]).into());
            }
            Spelling::Nothing if text == *theirs => return None,
            Spelling::Prefix(ours) if text.starts_with(theirs) => {
                return Some(format!("{ours}{}", &text[theirs.len()..]).into());
            }
            Spelling::TargetEnvironment if text.starts_with(theirs) => {
                let name = &text[theirs.len()..];
                return Some(format!("--environment={}", environment::named(name).unwrap_or(name)).into());
            }
            _ => {}
        }
    }
    Some(of_table(text).map_or_else(|| argument.clone(), OsString::from))
}

/// glslc's options about the language and the module.
fn of_table(text: &str) -> Option<String> {
    let flag = flags::find(glslc::FLAGS, text).filter(|_| text.starts_with("-f") || text.starts_with("-std="))?;
    flag.words(&text[flag.name.len()..])
}

#[cfg(test)]
mod tests {
    use super::translate;

    fn translated(words: &[&str]) -> Vec<String> {
        let words = words.iter().map(Into::into).collect();
        translate(words).into_iter().map(|word| word.into_string().unwrap()).collect()
    }

    #[test]
    fn glslc_spellings_become_ours() {
        let ours =
            translated(&["crosslane", "compile", "-fshader-stage=comp", "--target-env=vulkan1.2", "-O", "-Werror"]);
        let expected =
            ["crosslane", "compile", "--stage=comp", "--environment=spirv-1.5", "--optimize=speed", "--deny-warnings"];
        assert_eq!(ours, expected);
        let environment = |name| translated(&["crosslane", "compile", name])[2].clone();
        assert_eq!(environment("--target-env=vulkan"), "--environment=spirv-1.0");
        assert_eq!(environment("--target-env=opengl"), "--environment=spirv-1.0-opengl");
        assert_eq!(environment("--target-env=metal"), "--environment=metal");
    }

    #[test]
    fn values_of_gcc_may_follow_directly() {
        let ours = translated(&["crosslane", "compile", "-MD", "-MFa.d", "-MT", "b", "-MM"]);
        assert_eq!(ours[2..], ["--deps", "--deps-file=a.d", "--deps-target", "b", "--deps-only"]);
    }

    #[test]
    fn names_after_two_dashes_are_files() {
        assert_eq!(translated(&["crosslane", "--", "-O"]), ["crosslane", "--", "-O"]);
    }
}
