//! The meaning of other compilers' options, one row each. `--help` and the guide list the same rows.

use crate::diagnostic::nearest::nearest;
use std::fmt::Write;

/// How an option takes its value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Takes {
    Nothing,
    /// The value follows directly.
    Joined,
    /// A value may follow directly.
    Perhaps,
    /// The value is the next word.
    Next,
    /// The value follows directly or is the next word.
    Either,
    /// The next words: an optional stage, then this many values.
    StageAnd(usize),
    /// The next words: an optional stage, then all words that start with digits.
    Numbers,
}

/// The meaning of an option.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Means {
    /// An option of `crosslane compile`; the value is put after it.
    Ours(&'static str),
    /// The stand-in handles it itself.
    Own,
    /// No effect, with the reason.
    Nothing(&'static str),
    /// Not possible, with the reason.
    Refused(&'static str),
}

/// One option.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Flag {
    pub name: &'static str,
    pub takes: Takes,
    pub means: Means,
    /// The difference from the other compiler, if any.
    pub differs: &'static str,
}

/// A row.
pub const fn flag(name: &'static str, takes: Takes, means: Means) -> Flag {
    Flag { name, takes, means, differs: "" }
}

impl Flag {
    /// This row with a note.
    pub const fn but(self, differs: &'static str) -> Flag {
        Flag { differs, ..self }
    }

    /// The words of `crosslane compile` for the option.
    pub fn words(&self, value: &str) -> Option<String> {
        let Means::Ours(ours) = self.means else { return None };
        Some(if ours.ends_with('=') { format!("{ours}{value}") } else { ours.to_string() })
    }
}

/// An option as it was found: its row and its values.
pub struct Found<'a> {
    pub flag: &'static Flag,
    pub values: Vec<&'a str>,
}

impl Found<'_> {
    /// The first value, or an empty string.
    pub fn value(&self) -> &str {
        self.values.first().copied().unwrap_or_default()
    }
}

/// A word of a command line.
pub enum Word<'a> {
    Option(Found<'a>),
    Input(&'a str),
    /// An option without its value.
    Missing(&'static Flag),
    Unknown(&'a str),
}

/// The words of a command line, one by one.
pub struct Reader<'a> {
    table: &'static [Flag],
    stages: &'a [&'a str],
    words: &'a [String],
}

impl<'a> Reader<'a> {
    /// `stages` are the names that may be before values of some options.
    pub fn new(table: &'static [Flag], stages: &'a [&'a str], words: &'a [String]) -> Reader<'a> {
        Reader { table, stages, words }
    }

    fn option(&mut self, flag: &'static Flag, word: &'a str) -> Word<'a> {
        let rest = &word[flag.name.len()..];
        let values = match flag.takes {
            Takes::Nothing => Some(Vec::new()),
            Takes::Joined if rest.is_empty() && !flag.name.ends_with('=') => None,
            Takes::Joined | Takes::Perhaps => Some(vec![rest]),
            Takes::Either if !rest.is_empty() => Some(vec![rest]),
            Takes::Next | Takes::Either => self.take(1),
            Takes::Numbers => Some([self.stage(), self.while_some(|words| usize::from(is_number(&words[0])))].concat()),
            Takes::StageAnd(count) => self.groups(count),
        };
        values.map_or(Word::Missing(flag), |values| Word::Option(Found { flag, values }))
    }

    /// Perhaps a stage, `count` values, and more such groups as long as all but their first are numbers.
    fn groups(&mut self, count: usize) -> Option<Vec<&'a str>> {
        let is_group =
            |words: &[String]| count > 1 && words.len() >= count && words[1..count].iter().all(|word| is_number(word));
        let (stage, first) = (self.stage(), self.take(count)?);
        Some([stage, first, self.while_some(|words| if is_group(words) { count } else { 0 })].concat())
    }

    fn stage(&mut self) -> Vec<&'a str> {
        let stages = self.stages;
        let named = self.words.first().is_some_and(|word| stages.contains(&word.as_str()));
        self.take(usize::from(named)).unwrap_or_default()
    }

    /// Takes words from the head of the rest, as many as `count` returns, until it returns none.
    fn while_some(&mut self, count: impl Fn(&[String]) -> usize) -> Vec<&'a str> {
        let mut values = Vec::new();
        while let Some(more) = Some(self.words).filter(|words| !words.is_empty()).map(&count).filter(|more| *more > 0) {
            values.extend(self.take(more).unwrap_or_default());
        }
        values
    }

    fn take(&mut self, count: usize) -> Option<Vec<&'a str>> {
        let (taken, rest) = self.words.split_at_checked(count)?;
        self.words = rest;
        Some(taken.iter().map(String::as_str).collect())
    }
}

fn is_number(word: &str) -> bool {
    word.starts_with(|c: char| c.is_ascii_digit())
}

impl<'a> Iterator for Reader<'a> {
    type Item = Word<'a>;

    fn next(&mut self) -> Option<Word<'a>> {
        let word = *self.take(1)?.first()?;
        if word == "-" || !word.starts_with('-') {
            return Some(Word::Input(word));
        }
        Some(match find(self.table, word) {
            Some(flag) => self.option(flag, word),
            None => Word::Unknown(word),
        })
    }
}

/// The row of a word: the row with the longest name that equals it or, if a value may follow directly, starts it.
pub fn find(table: &'static [Flag], word: &str) -> Option<&'static Flag> {
    let fits = |flag: &&Flag| match flag.takes {
        Takes::Joined | Takes::Either | Takes::Perhaps => word.starts_with(flag.name),
        _ => word == flag.name,
    };
    table.iter().filter(fits).max_by_key(|flag| flag.name.len())
}

/// The error for an unknown option, with a suggestion.
pub fn unknown(table: &[Flag], word: &str) -> String {
    let name = word.split_inclusive('=').next().unwrap_or(word);
    match nearest(name, table.iter().map(|flag| flag.name)) {
        Some(near) => format!("unknown argument: '{word}'; did you mean '{near}'?"),
        None => format!("unknown argument: '{word}'"),
    }
}

/// One line per option.
pub fn help(table: &[Flag]) -> String {
    let mut text = String::new();
    for flag in table {
        let name = format!("{}{}", flag.name, shape(flag.takes));
        // Writing into a string cannot fail.
        let _ = writeln!(text, "  {name:<34}  {}", about(flag));
    }
    text
}

fn shape(takes: Takes) -> &'static str {
    match takes {
        Takes::Nothing => "",
        Takes::Joined => "<value>",
        Takes::Perhaps => "[value]",
        Takes::Next => " <value>",
        Takes::Either => "[ ]<value>",
        Takes::Numbers => " [stage] <n>…",
        Takes::StageAnd(1) => " [stage] <n>",
        Takes::StageAnd(_) => " [stage] <name> <set> …",
    }
}

fn about(flag: &Flag) -> String {
    let text = match flag.means {
        Means::Ours(ours) => format!("`compile {ours}`"),
        Means::Own => "as there".to_string(),
        Means::Nothing(why) => format!("without effect: {why}"),
        Means::Refused(why) => format!("refused: {why}"),
    };
    if flag.differs.is_empty() { text } else { format!("{text}; {}", flag.differs) }
}

#[cfg(test)]
mod tests {
    use super::*;

    static TABLE: &[Flag] = &[
        flag("-O", Takes::Nothing, Means::Own),
        flag("-D", Takes::Joined, Means::Ours("-D=")),
        flag("-o", Takes::Either, Means::Own),
        flag("--base", Takes::StageAnd(1), Means::Own),
    ];

    fn read(words: &[&str]) -> Vec<String> {
        let words: Vec<String> = words.iter().map(|word| word.to_string()).collect();
        let show = |word: Word<'_>| match word {
            Word::Option(found) => format!("{} {:?}", found.flag.name, found.values),
            Word::Input(name) => name.to_string(),
            Word::Missing(flag) => format!("{}?", flag.name),
            Word::Unknown(word) => format!("!{word}"),
        };
        Reader::new(TABLE, &["vert"], &words).map(show).collect()
    }

    #[test]
    fn values_follow_as_the_table_says() {
        assert_eq!(
            read(&["-O", "-DX=1", "-ox", "-o", "y", "a.comp"]),
            ["-O []", "-D [\"X=1\"]", "-o [\"x\"]", "-o [\"y\"]", "a.comp"]
        );
        assert_eq!(
            read(&["--base", "vert", "3", "--base", "4", "-"]),
            ["--base [\"vert\", \"3\"]", "--base [\"4\"]", "-"]
        );
    }

    #[test]
    fn what_is_missing_or_unknown_is_said() {
        assert_eq!(read(&["-O3", "-D", "-o"]), ["!-O3", "-D?", "-o?"]);
        assert_eq!(unknown(TABLE, "--bas"), "unknown argument: '--bas'; did you mean '--base'?");
    }
}
