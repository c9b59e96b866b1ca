//! The names of warnings, by which they are turned off, on, or into errors: `-Wno-divergent-lanes`,
//! `-Werror=divergent-lanes`.

use super::nearest::nearest;
use super::{Code, Severity};
use std::fmt;

/// A kind of message that can be turned off.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Warning {
    pub name: &'static str,
    pub code: Code,
    /// Whether it is given where nobody asks for it.
    pub is_on: bool,
    /// What is warned of.
    pub about: &'static str,
}

macro_rules! warnings {
    ($($name:literal $code:ident $is_on:literal $about:literal;)+) => {
        /// All of them: those of cross-lane operations, then the others, each in the order of the codes.
        pub static ALL: &[Warning] =
            &[$(Warning { name: $name, code: Code::$code, is_on: $is_on, about: $about }),+];
    };
}

warnings! {
    "unfilled-segments" SEGMENT_NOT_FULL true "the workgroup leaves a segment unfilled that an operation reads";
    "divergent-lanes" LANES_APART true "some of the lanes that an operation reads can miss it";
    "undefined-lanes" RESULT_ELSEWHERE true "the result of a reduce is used in lanes that do not have it";
    "varying-index" INDEX_VARIES true "an index that must be the same in all lanes, as a broadcast's, differs";
    "wave-size" WAVE_SIZE false "an operation means something else with another subgroup size (given with --wave-size any)";

    "extra-text" EXTRA_TEXT true "text after a directive that takes none";
    "undefined-macro" UNDEFINED_IS_ZERO true "a name that is no macro counts as 0 in an #if";
    "extension-ignored" EXTENSION_IGNORED true "an extension that is asked for is not available";
    "extension-late" EXTENSION_LATE true "an #extension line stands after the first token";
    "reserved-name" RESERVED_NAME true "a macro's name is reserved";
    "defined-from-macro" DEFINED_FROM_MACRO true "a macro produces `defined`";
    "include-implied" INCLUDE_IMPLIED true "an #include without the extension for it";
    "division-by-zero" DIVISION_BY_ZERO true "an integer is divided by zero";
    "writeonly-read" WRITEONLY_READ true "memory that is writeonly is read";
    "override-default" OVERRIDE_WITHOUT_DEFAULT true "an override has no default value";
    "unused-buffer" UNUSED_BUFFER true "contents are given for a buffer that is not used";
}

/// The kind of a message, where it has one.
pub fn of(code: Code) -> Option<&'static Warning> {
    ALL.iter().find(|warning| warning.code == code)
}

/// The kind of a name.
pub fn named(name: &str) -> Option<&'static Warning> {
    ALL.iter().find(|warning| warning.name == name)
}

/// What an option says about one kind, or about all.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Word {
    On,
    Off,
    Error,
    NoError,
}

/// One option, as it stands behind `-W`: `NAME`, `no-NAME`, `error=NAME`, `no-error=NAME`, `error` or `no-error`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "cli", derive(serde::Deserialize), serde(try_from = "String"))]
pub struct Choice {
    word: Word,
    /// None for all kinds.
    warning: Option<&'static Warning>,
}

impl Choice {
    /// Gives a kind of message where it would not be given.
    pub const fn on(warning: &'static Warning) -> Choice {
        Choice { word: Word::On, warning: Some(warning) }
    }
}

/// No warning has the name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UnknownWarning(pub String);

impl fmt::Display for UnknownWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let UnknownWarning(name) = self;
        write!(f, "there is no warning `{name}`; ")?;
        match nearest(name, ALL.iter().map(|warning| warning.name)) {
            Some(near) => write!(f, "did you mean `{near}`?"),
            None => f.write_str("`crosslane compile --help` lists them"),
        }
    }
}

impl std::error::Error for UnknownWarning {}

impl std::str::FromStr for Choice {
    type Err = UnknownWarning;

    fn from_str(text: &str) -> Result<Choice, UnknownWarning> {
        let (word, name) = match text.split_once('=') {
            Some(("error", name)) => (Word::Error, name),
            Some(("no-error", name)) => (Word::NoError, name),
            _ if text == "error" => return Ok(Choice { word: Word::Error, warning: None }),
            _ if text == "no-error" => return Ok(Choice { word: Word::NoError, warning: None }),
            _ => text.strip_prefix("no-").map_or((Word::On, text), |name| (Word::Off, name)),
        };
        let warning = named(name).ok_or_else(|| UnknownWarning(name.to_string()))?;
        Ok(Choice { word, warning: Some(warning) })
    }
}

impl TryFrom<String> for Choice {
    type Error = UnknownWarning;

    fn try_from(text: String) -> Result<Choice, UnknownWarning> {
        text.parse()
    }
}

impl fmt::Display for Choice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.warning.map(|warning| warning.name);
        match (self.word, name) {
            (Word::On, name) => f.write_str(name.unwrap_or_default()),
            (Word::Off, name) => write!(f, "no-{}", name.unwrap_or_default()),
            (Word::Error, Some(name)) => write!(f, "error={name}"),
            (Word::NoError, Some(name)) => write!(f, "no-error={name}"),
            (Word::Error, None) => f.write_str("error"),
            (Word::NoError, None) => f.write_str("no-error"),
        }
    }
}

/// What becomes of warnings: the options in their order. A later one about the same kind wins; one about a single kind
/// wins over those about all, as with gcc.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Choices<'a> {
    /// `-Werror`; a `no-error` or `error` among the options speaks later.
    pub deny: bool,
    /// `-w`: what is no error is not given.
    pub silent: bool,
    pub list: &'a [Choice],
}

impl Choices<'_> {
    /// Whether messages with a code are given, which are this bad by themselves.
    pub fn wants(&self, code: Code, own: Severity) -> bool {
        self.severity(code, own).is_some()
    }

    /// How bad a message is then; none if it is not given.
    pub fn severity(&self, code: Code, own: Severity) -> Option<Severity> {
        let Some(warning) = of(code).filter(|_| own != Severity::Error) else { return Some(own) };
        let about = |choice: &&Choice| choice.warning.is_some_and(|other| other.code == code);
        let mut is_on = warning.is_on;
        let mut denied = None;
        for choice in self.list.iter().filter(about) {
            match choice.word {
                Word::On => is_on = true,
                Word::Off => is_on = false,
                Word::Error => (is_on, denied) = (true, Some(true)),
                Word::NoError => denied = Some(false),
            }
        }
        let denied = denied.unwrap_or(self.denies_all() && own == Severity::Warning);
        match (is_on, denied) {
            (false, _) => None,
            (true, true) => Some(Severity::Error),
            (true, false) => (!self.silent).then_some(own),
        }
    }

    fn denies_all(&self) -> bool {
        let about_all = self.list.iter().rev().find(|choice| choice.warning.is_none());
        about_all.map_or(self.deny, |choice| choice.word == Word::Error)
    }
}

#[cfg(test)]
mod tests {
    use super::super::codes;
    use super::*;

    fn list(words: &[&str]) -> Vec<Choice> {
        words.iter().map(|word| word.parse().expect("a choice")).collect()
    }

    fn severity(words: &[&str], code: Code, own: Severity) -> Option<Severity> {
        Choices { list: &list(words), ..Choices::default() }.severity(code, own)
    }

    #[test]
    fn every_warning_has_a_name() {
        for (code, _) in codes::ALL.iter().filter(|(code, _)| !code.0.starts_with('E')) {
            assert!(of(*code).is_some(), "{code}");
        }
        let mut names: Vec<&str> = ALL.iter().map(|warning| warning.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), ALL.len(), "two have one name");
        // `no-` in front turns one off.
        assert!(names.iter().all(|name| !name.starts_with("no-") && *name != "error"));
    }

    #[test]
    fn the_last_option_about_a_kind_wins() {
        let lanes = |words: &[&str]| severity(words, Code::LANES_APART, Severity::Warning);
        assert_eq!(lanes(&[]), Some(Severity::Warning));
        assert_eq!(lanes(&["no-divergent-lanes"]), None);
        assert_eq!(lanes(&["no-divergent-lanes", "divergent-lanes"]), Some(Severity::Warning));
        assert_eq!(lanes(&["error=divergent-lanes"]), Some(Severity::Error));
        assert_eq!(lanes(&["error", "no-error=divergent-lanes"]), Some(Severity::Warning));
        assert_eq!(lanes(&["error", "no-error"]), Some(Severity::Warning));
        assert_eq!(lanes(&["error", "no-divergent-lanes"]), None);
        assert_eq!(lanes(&["no-unfilled-segments"]), Some(Severity::Warning));
    }

    #[test]
    fn silence_is_for_what_is_no_error() {
        let silent = Choices { silent: true, list: &list(&["error=divergent-lanes"]), deny: false };
        assert_eq!(silent.severity(Code::LANES_APART, Severity::Warning), Some(Severity::Error));
        assert_eq!(silent.severity(Code::SEGMENT_NOT_FULL, Severity::Warning), None);
        assert_eq!(silent.severity(Code::UNKNOWN_NAME, Severity::Error), Some(Severity::Error));
    }

    #[test]
    fn notes_are_given_where_they_are_asked_for_and_are_no_warnings() {
        assert_eq!(severity(&[], Code::WAVE_SIZE, Severity::Note), None);
        assert_eq!(severity(&["wave-size", "error"], Code::WAVE_SIZE, Severity::Note), Some(Severity::Note));
        assert_eq!(severity(&["error=wave-size"], Code::WAVE_SIZE, Severity::Note), Some(Severity::Error));
    }

    #[test]
    fn unknown_names_are_told_with_the_nearest() {
        let said = |text: &str| text.parse::<Choice>().expect_err("there is none").to_string();
        assert_eq!(said("no-divergent-lane"), "there is no warning `divergent-lane`; did you mean `divergent-lanes`?");
        assert_eq!(said("error=xyz"), "there is no warning `xyz`; `crosslane compile --help` lists them");
    }

    #[test]
    fn choices_are_written_as_they_are_read() {
        for text in ["wave-size", "no-wave-size", "error=wave-size", "no-error=wave-size", "error", "no-error"] {
            assert_eq!(text.parse::<Choice>().expect("a choice").to_string(), text);
        }
    }
}
