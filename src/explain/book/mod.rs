//! The book's pages about operations: their meaning, their calls, and their code on every profile.
//!
//! Everything on a page comes from the compiler: calls from the language tables, meaning and pictures from the check of
//! plans, code from the planner. [`topics`] has the examples and groups operations into pages.

mod calls;
mod markdown;
pub mod topics;

use super::OnProfile;
use super::lowering::{self, Lowering};
use super::operations::Site;
use crate::lane::{Activity, Input, LaneOp};
use crate::profile::Profile;
use crate::source::Span;
use topics::{Example, TOPICS};

/// One page.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Page {
    /// The file's name.
    pub file: String,
    /// Markdown.
    pub text: String,
}

/// The answer of all profiles that lower an example in the same way.
pub(super) struct Answer {
    pub profiles: Vec<String>,
    pub on_profile: OnProfile,
}

/// All pages for some profiles, the table of contents first.
pub fn pages(profiles: &[Profile]) -> Vec<Page> {
    let contents = Page { file: "index.md".into(), text: markdown::contents(TOPICS) };
    let page = |topic: &topics::Topic| {
        let examples: Vec<(&Example, Vec<Answer>)> =
            topic.examples.iter().map(|example| (example, answers(&example.site(), profiles))).collect();
        Page {
            file: format!("{}.md", topic.slug),
            text: markdown::page(topic.title, &calls::on_page(topic.slug), &examples),
        }
    };
    [contents].into_iter().chain(TOPICS.iter().map(page)).collect()
}

/// The answers of the profiles to an operation. Profiles with the same answer share one.
pub(super) fn answers(site: &Site, profiles: &[Profile]) -> Vec<Answer> {
    let mut answers: Vec<Answer> = Vec::new();
    for profile in profiles {
        let on_profile = lowering::of(site, profile);
        match answers.iter_mut().find(|answer| is_same(&answer.on_profile, &on_profile)) {
            Some(answer) => answer.profiles.push(profile.name.to_string()),
            None => answers.push(Answer { profiles: vec![profile.name.to_string()], on_profile }),
        }
    }
    answers
}

impl Example {
    fn site(&self) -> Site {
        site(self.op, self.inputs.to_vec())
    }
}

/// The site of an operation outside any shader.
pub(super) fn site(op: LaneOp, inputs: Vec<Input>) -> Site {
    Site {
        parts: 1,
        op,
        inputs,
        span: Span::default(),
        inst: None,
        fragment: false,
        activity: Activity::Any,
        index: None,
        whole: None,
        listing: None,
        wide: None,
    }
}

/// Returns true if a reader would see the same answer for two profiles.
fn is_same(one: &OnProfile, other: &OnProfile) -> bool {
    let numbers = |lowering: &Lowering| (lowering.cost.instructions, lowering.cost.latency, lowering.cost.waits);
    match (one, other) {
        (OnProfile::Planned(one), OnProfile::Planned(other)) => one.is_like(other) && numbers(one) == numbers(other),
        (OnProfile::Spanning(one), OnProfile::Spanning(other)) => one.is_like(other),
        (OnProfile::Refused { .. }, OnProfile::Refused { .. }) => one == other,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page_of(slug: &str, profiles: &[&str]) -> String {
        let profiles: Vec<Profile> =
            profiles.iter().map(|name| Profile::named(name).expect("a built-in profile")).collect();
        let file = format!("{slug}.md");
        pages(&profiles).into_iter().find(|page| page.file == file).expect("a page").text
    }

    #[test]
    fn a_page_has_calls_meaning_picture_and_lines() {
        let page = page_of("butterfly", &["spirv-1.3", "nv-ampere", "nv-hopper"]);
        for part in
            ["# Butterflies", "`butterfly{W}(v)`", "v[i ^ 4]", "lanes 0 to 7", "SHFXOR.U", "**nv-ampere, nv-hopper**"]
        {
            assert!(page.contains(part), "{part} is not in\n{page}");
        }
    }

    #[test]
    fn a_refusal_says_why() {
        let page = page_of("bpermute", &["nv-fermi", "nv-hopper"]);
        assert!(page.contains("**nv-fermi**: no: ") && page.contains("**nv-hopper**"), "{page}");
    }
}
