//! The dependencies of an output, as text for build tools: rules for make and ninja, JSON, or plain paths.
//!
//! The rules have the form of `gcc -M`: blanks, `#` and `$` in names are escaped for make and ninja. A name that a form
//! cannot express is an error; it is never omitted.

use serde::Serialize;
use std::fmt::Write;

/// The forms.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Format {
    /// A make rule.
    Make,
    /// A make rule on one line.
    Line,
    /// One object with `inputs` and `outputs`.
    Json,
    /// The inputs alone, each ended by a NUL.
    Zero,
}

/// Outputs and the files that they are made from.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub struct Deps {
    pub targets: Vec<RuleTarget>,
    /// The shader first.
    pub inputs: Vec<String>,
    /// Also write an empty rule for each included file, so that make does not stop when one disappears.
    pub phony: bool,
}

/// The target of a rule.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum RuleTarget {
    /// A path, escaped if necessary.
    Path(String),
    /// Text of a makefile.
    Verbatim(String),
}

impl RuleTarget {
    fn text(&self) -> &str {
        match self {
            RuleTarget::Path(text) | RuleTarget::Verbatim(text) => text,
        }
    }
}

/// A name that the form cannot express.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Inexpressible(pub String);

impl Deps {
    /// The text of a dependency file.
    ///
    /// # Errors
    /// Returns the first name that the form cannot express: a line break in a rule, a NUL between NULs.
    pub fn to_text(&self, format: Format) -> Result<String, Inexpressible> {
        match format {
            Format::Make => self.make(" \\\n  "),
            Format::Line => self.make(" "),
            Format::Json => Ok(self.json()),
            Format::Zero => self.zero(),
        }
    }

    /// With `between` before each input.
    fn make(&self, between: &str) -> Result<String, Inexpressible> {
        let inputs = self.inputs.iter().map(|name| escaped(name)).collect::<Result<Vec<_>, _>>()?;
        let target = |target: &RuleTarget| match target {
            RuleTarget::Path(path) => escaped(path),
            RuleTarget::Verbatim(text) => Ok(text.clone()),
        };
        let targets = self.targets.iter().map(target).collect::<Result<Vec<_>, _>>()?;
        let mut text = format!("{}:", targets.join(" "));
        for input in &inputs {
            // Writing into a `String` cannot fail; the same below.
            let _ = write!(text, "{between}{input}");
        }
        text.push('\n');
        for input in inputs.iter().skip(1).filter(|_| self.phony) {
            let _ = write!(text, "\n{input}:\n");
        }
        Ok(text)
    }

    fn json(&self) -> String {
        #[derive(Serialize)]
        struct Json<'a> {
            inputs: &'a [String],
            outputs: Vec<&'a str>,
        }
        let outputs = self.targets.iter().map(RuleTarget::text).collect();
        serde_json::to_string(&Json { inputs: &self.inputs, outputs }).expect("names always serialize") + "\n"
    }

    fn zero(&self) -> Result<String, Inexpressible> {
        match self.inputs.iter().find(|name| name.contains('\0')) {
            Some(bad) => Err(Inexpressible(bad.clone())),
            None => Ok(self.inputs.iter().fold(String::new(), |text, name| text + name + "\0")),
        }
    }
}

/// A name as GNU make and ninja read it: a backslash before blanks and `#`, with the backslashes before those doubled,
/// and `$` doubled.
fn escaped(name: &str) -> Result<String, Inexpressible> {
    let mut out = String::with_capacity(name.len());
    let mut backslashes = 0;
    for character in name.chars() {
        match character {
            '\n' | '\r' | '\0' => return Err(Inexpressible(name.to_string())),
            ' ' | '\t' => out.extend(std::iter::repeat_n('\\', backslashes + 1)),
            '#' => out.push('\\'),
            '$' => out.push('$'),
            _ => {}
        }
        backslashes = if character == '\\' { backslashes + 1 } else { 0 };
        out.push(character);
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(phony: bool) -> Deps {
        let targets = vec![RuleTarget::Path("out dir/a.spv".into()), RuleTarget::Verbatim("$(X)".into())];
        Deps { targets, inputs: vec!["a.comp".into(), "b#$.glsl".into()], phony }
    }

    #[test]
    fn rules_are_escaped_for_make() {
        let text = sample(false).to_text(Format::Make).unwrap();
        assert_eq!(text, "out\\ dir/a.spv $(X): \\\n  a.comp \\\n  b\\#$$.glsl\n");
        assert!(sample(true).to_text(Format::Make).unwrap().ends_with("\n\nb\\#$$.glsl:\n"));
        assert_eq!(escaped("a\\ b").unwrap(), "a\\\\\\ b");
    }

    #[test]
    fn names_of_windows_keep_their_backslashes_and_drives() {
        let inputs = vec!["C:\\shaders\\a.comp".into(), "C:\\my inc\\b.glsl".into()];
        let deps = Deps { targets: vec![RuleTarget::Path("D:\\out\\a.spv".into())], inputs, phony: false };
        let rule = "D:\\out\\a.spv: \\\n  C:\\shaders\\a.comp \\\n  C:\\my\\ inc\\b.glsl\n";
        assert_eq!(deps.to_text(Format::Make).unwrap(), rule);
        let json = deps.to_text(Format::Json).unwrap();
        assert!(json.starts_with(r#"{"inputs":["C:\\shaders\\a.comp","C:\\my inc\\b.glsl"]"#), "{json}");
    }

    #[test]
    fn other_forms_hold_names_as_they_are() {
        let json = sample(false).to_text(Format::Json).unwrap();
        assert_eq!(json, "{\"inputs\":[\"a.comp\",\"b#$.glsl\"],\"outputs\":[\"out dir/a.spv\",\"$(X)\"]}\n");
        assert_eq!(sample(false).to_text(Format::Zero).unwrap(), "a.comp\0b#$.glsl\0");
    }

    #[test]
    fn a_name_that_a_form_cannot_hold_is_an_error() {
        let deps = Deps { inputs: vec!["a\nb".into()], ..Deps::default() };
        assert_eq!(deps.to_text(Format::Make), Err(Inexpressible("a\nb".into())));
        assert!(deps.to_text(Format::Zero).is_ok());
    }
}
