//! Pages as Markdown.

use super::Answer;
use super::calls::Call;
use super::topics::{Example, Topic};
use crate::explain::meaning::meaning;
use crate::explain::{OnProfile, text};
use std::fmt::{Display, Write};

/// A page that grows. Writing into a `String` cannot fail.
struct Markdown(String);

/// The table of contents.
pub fn contents(topics: &[Topic]) -> String {
    let mut page = Markdown::new("Operations");
    page.line(
        "In the names of functions, `{W}` is the width of a segment, `{Op}` an operator, and `{mode}` a lane or an axis.",
    );
    page.line("`genF genI genU genB genD` are `float int uint bool double` and their vectors, `genJ genV` 8-bit, 16-bit and 64-bit");
    page.line("integers, `genH` 16-bit floats.\n");
    page.line(
        "`i` is the lane's index, `S` the subgroup size, `v[j]` the value that lane `j` passed, `base` the first",
    );
    page.line("lane of its segment, `local` the index in the segment.\n");
    page.line("| page | example | result in lane `i` |\n|---|---|---|");
    for topic in topics {
        let first = &topic.examples[0];
        let formula = cell(&meaning(first.op).formula);
        page.line(format_args!("| [{}]({}.md) | `{}` | `{formula}` |", topic.title, topic.slug, cell(first.call)));
    }
    page.0
}

/// One page.
pub fn page(title: &str, calls: &[Call], examples: &[(&Example, Vec<Answer>)]) -> String {
    let mut page = Markdown::new(title);
    page.calls(calls);
    for (example, answers) in examples {
        page.example(example, answers);
    }
    page.0
}

impl Markdown {
    fn new(title: &str) -> Markdown {
        Markdown(format!("<!-- Written by `crosslane ops --pages`; not to be edited. -->\n# {title}\n\n"))
    }

    fn line(&mut self, text: impl Display) {
        let _ = writeln!(self.0, "{text}");
    }

    fn calls(&mut self, calls: &[Call]) {
        self.line("| call | types | turned on by | |\n|---|---|---|---|");
        for call in calls {
            let extensions: Vec<String> = call.extensions.iter().map(|name| format!("`{name}`")).collect();
            let names: Vec<String> = call.names.iter().map(|name| format!("`{name}{}`", call.params)).collect();
            let types = if call.types.is_empty() { String::new() } else { format!("`{}`", call.types) };
            let (names, extensions, doc) = (names.join(" "), extensions.join(" "), cell(call.doc));
            self.line(format_args!("| {names} | {types} | {extensions} | {doc} |"));
        }
        self.line("");
    }

    fn example(&mut self, example: &Example, answers: &[Answer]) {
        let meaning = meaning(example.op);
        self.line(format_args!("## `{}`\n\n{}: `{}`\n", example.call, text::capital(&meaning.words), meaning.formula));
        let planned = answers.iter().find_map(|answer| match &answer.on_profile {
            OnProfile::Planned(lowering) => lowering.picture.as_ref(),
            _ => None,
        });
        if let Some(picture) = planned {
            self.block(text::picture(picture).iter());
        }
        answers.iter().for_each(|answer| self.answer(answer));
    }

    fn block(&mut self, lines: impl Iterator<Item = impl Display>) {
        self.line("```text");
        lines.for_each(|line| self.line(line));
        self.line("```\n");
    }

    fn answer(&mut self, answer: &Answer) {
        let profiles = answer.profiles.join(", ");
        match &answer.on_profile {
            OnProfile::Planned(lowering) => {
                self.line(format_args!("**{profiles}**: {}\n", lowering.rule));
                self.block(text::chosen(lowering).iter());
            }
            OnProfile::Spanning(spanned) => {
                self.line(format_args!("**{profiles}**: {}\n", spanned.title()));
                self.block(text::spanned(spanned).iter());
            }
            OnProfile::Refused { reason } => self.line(format_args!("**{profiles}**: no: {reason}\n")),
            OnProfile::Gone | OnProfile::Absent => {}
        }
    }
}

/// Text in a cell of a table.
fn cell(text: &str) -> String {
    text.replace('|', "\\|")
}
