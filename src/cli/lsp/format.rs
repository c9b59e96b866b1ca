//! Formatters: programs that read a shader from standard input and write it to standard output.

use crate::compile::Language;
use lsp_types::FormattingOptions;
use serde_json::Value;
use std::io::{ErrorKind, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;

/// The formatter of a language.
struct Row {
    language: Language,
    /// The language's name in settings and messages.
    word: &'static str,
    name: &'static str,
    program: &'static str,
}

const ROWS: [Row; 2] = [
    Row { language: Language::Glsl, word: "glsl", name: "GLSL", program: "clang-format" },
    Row { language: Language::Wgsl, word: "wgsl", name: "WGSL", program: "wgslfmt" },
];

/// The formatters that the settings name, in the order of [`ROWS`].
#[derive(Debug, Default)]
pub struct Formatters([Option<Vec<String>>; 2]);

impl Formatters {
    /// Takes `formatters` of the settings: for a language a program, or a list of a program and its arguments.
    pub fn of(settings: &Value) -> Formatters {
        let all = settings.pointer("/crosslane/formatters").or_else(|| settings.get("formatters"));
        Formatters(ROWS.map(|row| match all?.get(row.word)? {
            Value::String(program) => (!program.is_empty()).then(|| vec![program.clone()]),
            Value::Array(words) => {
                let words: Vec<String> = words.iter().filter_map(|word| Some(word.as_str()?.into())).collect();
                (!words.is_empty()).then_some(words)
            }
            _ => None,
        }))
    }
}

/// Formats a text. Also returns the program's name.
///
/// # Errors
/// Returns an error if the program is missing or fails.
pub fn formatted(
    chosen: &Formatters,
    language: Language,
    path: &Path,
    text: &str,
    options: &FormattingOptions,
) -> Result<(String, String), String> {
    let at = ROWS.iter().position(|row| row.language == language).unwrap_or(0);
    let words = match &chosen.0[at] {
        Some(words) => words.clone(),
        None => [ROWS[at].program.to_string()].into_iter().chain(usual_arguments(language, path, options)).collect(),
    };
    let (program, arguments) = words.split_first().ok_or("a formatter has a name")?;
    let new = run(program, arguments, path, text).map_err(|error| match error.kind() {
        ErrorKind::NotFound => format!(
            "cannot find `{program}`, which formats {}: install it, or choose another program with the setting `formatters.{}`",
            ROWS[at].name, ROWS[at].word
        ),
        _ => format!("`{program}`: {error}"),
    })?;
    Ok((program.clone(), new))
}

fn usual_arguments(language: Language, path: &Path, options: &FormattingOptions) -> Vec<String> {
    match language {
        Language::Glsl => clang_format(path, options),
        Language::Wgsl => wgslfmt(options),
    }
}

/// The indentation that `wgslfmt` has without a choice.
const WGSLFMT_INDENT: u32 = 4;

/// The editor's indentation. Without `-`, `wgslfmt` rewrites all files of the folder in place.
fn wgslfmt(options: &FormattingOptions) -> Vec<String> {
    let indent = match (options.insert_spaces, options.tab_size) {
        (false, _) => vec!["--tabs".into()],
        (true, WGSLFMT_INDENT) => Vec::new(),
        (true, size) => vec!["--indent-width".into(), size.to_string()],
    };
    indent.into_iter().chain(["-".into()]).collect()
}

/// The style file above the shader, otherwise the editor's indentation.
fn clang_format(path: &Path, options: &FormattingOptions) -> Vec<String> {
    let is_styled = |folder: &Path| [".clang-format", "_clang-format"].iter().any(|name| folder.join(name).is_file());
    let style = match path.ancestors().skip(1).any(is_styled) {
        true => "file".into(),
        false => {
            let (size, tabs) = (options.tab_size, if options.insert_spaces { "Never" } else { "Always" });
            format!(
                "{{BasedOnStyle: LLVM, IndentWidth: {size}, TabWidth: {size}, UseTab: {tabs}, ColumnLimit: 0, ReflowComments: false}}"
            )
        }
    };
    // The file extension selects clang-format's language.
    let name = path.with_extension("cpp");
    vec![format!("--style={style}"), format!("--assume-filename={}", name.display()), "--sort-includes=0".into()]
}

fn run(program: &str, arguments: &[String], path: &Path, text: &str) -> std::io::Result<String> {
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    path.parent().filter(|folder| folder.is_dir()).map(|folder| command.current_dir(folder));
    let mut child = command.spawn()?;
    let input = child.stdin.take();
    let output = thread::scope(|scope| {
        // A program may exit without reading its input.
        scope.spawn(move || input.map(|mut input| input.write_all(text.as_bytes())));
        child.wait_with_output()
    })?;
    if !output.status.success() {
        let why = String::from_utf8_lossy(&output.stderr);
        return Err(std::io::Error::other(why.trim().to_string()));
    }
    String::from_utf8(output.stdout).map_err(std::io::Error::other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wgslfmt_reads_standard_input() {
        let options = |tab_size, insert_spaces| FormattingOptions { tab_size, insert_spaces, ..Default::default() };
        assert_eq!(wgslfmt(&options(4, true)), ["-"]);
        assert_eq!(wgslfmt(&options(2, true)), ["--indent-width", "2", "-"]);
        assert_eq!(wgslfmt(&options(2, false)), ["--tabs", "-"]);
    }
}
