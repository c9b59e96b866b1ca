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
    pub given: Given,
    /// The subject of the warning.
    pub about: &'static str,
}

impl Warning {
    /// Returns true if it is about cross-lane operations and barriers, about values that are not there, or about reads
    /// of memory that is `writeonly` and writes of memory that is `readonly`: what other compilers of the language do not
    /// look for.
    pub fn is_of_analysis(&self) -> bool {
        self.code.0.starts_with("W05")
            || matches!(
                self.code,
                Code::UNINITIALIZED | Code::MISSING_RETURN | Code::WRITEONLY_READ | Code::READONLY_WRITTEN
            )
    }
}

/// When a kind of message is given without its own name among the options.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Given {
    Always,
    /// With `-Wall` or `-Wextra`: working shaders are full of it.
    WithAll,
    Never,
}

macro_rules! warnings {
    ($($name:literal $code:ident $given:ident $about:literal;)+) => {
        /// All of them: those of cross-lane operations, then the others, each in the order of the codes.
        pub static ALL: &[Warning] =
            &[$(Warning { name: $name, code: Code::$code, given: Given::$given, about: $about }),+];
    };
}

warnings! {
    "unfilled-segments" SEGMENT_NOT_FULL Always "the workgroup leaves a segment unfilled that an operation reads";
    "divergent-lanes" LANES_APART Always "some of the lanes that an operation reads can miss it";
    "undefined-lanes" RESULT_ELSEWHERE Always "the result of a reduce is used in lanes that do not have it";
    "varying-index" INDEX_VARIES Always "an index that must be the same in all lanes, as a broadcast's, differs";
    "lane-outside" LANE_OUTSIDE Always "a constant lane or distance leaves the subgroup, or the quad";
    "divergent-barrier" BARRIER_APART Always "some invocations of the workgroup can miss a barrier";
    "wave-size" WAVE_SIZE Never "an operation means something else with another subgroup size (given with --wave-size any)";

    "extra-text" EXTRA_TEXT Always "text after a directive that takes none";
    "undefined-macro" UNDEFINED_IS_ZERO WithAll "an undefined name counts as 0 in an #if (given with -Wall)";
    "extension-ignored" EXTENSION_IGNORED Always "an extension that is asked for is not available";
    "extension-late" EXTENSION_LATE WithAll "an #extension line comes after the first token (given with -Wall)";
    "reserved-name" RESERVED_NAME Always "a macro's name is reserved";
    "defined-from-macro" DEFINED_FROM_MACRO Always "a macro produces `defined`";
    "include-implied" INCLUDE_IMPLIED WithAll "an #include without the extension for it (given with -Wall)";
    "version-forced" VERSION_FORCED Always "the command line puts another version in the place of the shader's";
    "empty-body" EMPTY_BODY Always "a `;` in front of a block is the whole body of a loop or an `if`";
    "division-by-zero" DIVISION_BY_ZERO Always "an integer is divided by zero";
    "writeonly-read" WRITEONLY_READ Always "memory that is writeonly is read";
    "readonly-written" READONLY_WRITTEN Always "memory that is readonly is written";
    "uninitialized" UNINITIALIZED Always "a variable is read that certainly has no value yet";
    "missing-return" MISSING_RETURN Always "a function with a result can end without a `return`";
    "override-default" OVERRIDE_WITHOUT_DEFAULT Always "an override has no default value";
    "unused-define" DEFINE_WITHOUT_EFFECT Always "a definition has no effect on a WGSL module";
    "precise-lost" PRECISE_LOST Always "`precise` is not kept in the target's language";
    "qualifier-lost" QUALIFIER_LOST Always "`coherent`, `volatile`, `invariant`, a size of points or transform feedback is not kept in the target's language";
    "not-unrolled" NOT_UNROLLED Always "a loop that `[[unroll]]` asks to unroll stays a loop";
    "unused-buffer" UNUSED_BUFFER Always "contents are given for a buffer that is not used";
}

/// The kind of a message, where it has one.
pub fn of(code: Code) -> Option<&'static Warning> {
    ALL.iter().find(|warning| warning.code == code)
}

/// The kind of a name.
pub fn named(name: &str) -> Option<&'static Warning> {
    ALL.iter().find(|warning| warning.name == name)
}

/// The word of an option about one kind, or about all.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Word {
    On,
    Off,
    Error,
    NoError,
}

/// One option, as it follows `-W`: `NAME`, `no-NAME`, `error=NAME`, `no-error=NAME`, `error`, `no-error`, `all` (or `extra`,
/// which means the same) or `no-all`.
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

    /// Does not give a kind of message.
    pub const fn off(warning: &'static Warning) -> Choice {
        Choice { word: Word::Off, warning: Some(warning) }
    }
}

/// No warning has the name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UnknownWarning(pub String);

impl fmt::Display for UnknownWarning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let UnknownWarning(name) = self;
        write!(f, "unknown warning `{name}`; ")?;
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
            _ if matches!(text, "all" | "extra") => return Ok(Choice { word: Word::On, warning: None }),
            _ if matches!(text, "no-all" | "no-extra") => return Ok(Choice { word: Word::Off, warning: None }),
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
            (Word::On, name) => f.write_str(name.unwrap_or("all")),
            (Word::Off, name) => write!(f, "no-{}", name.unwrap_or("all")),
            (Word::Error, Some(name)) => write!(f, "error={name}"),
            (Word::NoError, Some(name)) => write!(f, "no-error={name}"),
            (Word::Error, None) => f.write_str("error"),
            (Word::NoError, None) => f.write_str("no-error"),
        }
    }
}

/// The choices of warnings: the options in their order. A later one about the same kind wins; one about a single kind
/// wins over those about all, as with gcc.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Choices<'a> {
    /// `-Werror`; a `no-error` or `error` among the options speaks later.
    pub deny: bool,
    /// `-w`: what is not an error is not given.
    pub silent: bool,
    pub list: &'a [Choice],
}

impl Choices<'_> {
    /// Returns true if messages with a code are given, which are this bad by themselves.
    pub fn wants(&self, code: Code, own: Severity) -> bool {
        self.severity(code, own).is_some()
    }

    /// How bad a message is then; none if it is not given.
    pub fn severity(&self, code: Code, own: Severity) -> Option<Severity> {
        let Some(warning) = of(code).filter(|_| own != Severity::Error) else { return Some(own) };
        let about = |choice: &&Choice| choice.warning.is_some_and(|other| other.code == code);
        let mut is_on = self.gives(warning.given);
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
        self.last_about_all(|word| matches!(word, Word::Error | Word::NoError))
            .map_or(self.deny, |word| word == Word::Error)
    }

    fn gives(&self, given: Given) -> bool {
        let all = || self.last_about_all(|word| matches!(word, Word::On | Word::Off)) == Some(Word::On);
        given == Given::Always || given == Given::WithAll && all()
    }

    /// The last of some options about all kinds.
    fn last_about_all(&self, of: impl Fn(Word) -> bool) -> Option<Word> {
        let words = self.list.iter().rev().filter(|choice| choice.warning.is_none()).map(|choice| choice.word);
        words.into_iter().find(|word| of(*word))
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
        assert!(names.iter().all(|name| !name.starts_with("no-") && !["error", "all", "extra"].contains(name)));
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
    fn some_are_given_with_all_only() {
        let late = |words: &[&str]| severity(words, Code::EXTENSION_LATE, Severity::Warning);
        assert_eq!(late(&[]), None);
        assert_eq!(late(&["error"]), None);
        for all in ["all", "extra", "extension-late"] {
            assert_eq!(late(&[all]), Some(Severity::Warning), "{all}");
        }
        assert_eq!(late(&["error", "all"]), Some(Severity::Error));
        assert_eq!(late(&["all", "no-extension-late"]), None);
        assert_eq!(late(&["all", "no-all"]), None);
        assert_eq!(severity(&["all"], Code::WAVE_SIZE, Severity::Note), None);
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
        assert_eq!(said("no-divergent-lane"), "unknown warning `divergent-lane`; did you mean `divergent-lanes`?");
        assert_eq!(said("error=xyz"), "unknown warning `xyz`; `crosslane compile --help` lists them");
    }

    #[test]
    fn choices_are_written_as_they_are_read() {
        let all = [
            "wave-size",
            "no-wave-size",
            "error=wave-size",
            "no-error=wave-size",
            "error",
            "no-error",
            "all",
            "no-all",
        ];
        for text in all {
            assert_eq!(text.parse::<Choice>().expect("a choice").to_string(), text);
        }
    }
}
