//! Non-uniform indices into arrays of resources: drivers look at the image operand of an operation (Vulkan 1.3,
//! VUID-RuntimeSpirv-NonUniform-06274), so that is what must be decorated, however the index was written. lavapipe
//! gives the same results with and without the decorations, so the module's text is judged here.

use std::collections::BTreeSet;

use support::{judge, rival};

/// A shader in which all images are selected by such indices.
const SHADER: &str = include_str!("../../../fixtures/graphics/non_uniform_forms.comp");

/// The operations that take an image, a sampled image, or a pointer to a texel.
const OPERATIONS: [&str; 5] =
    ["OpImageSampleExplicitLod", "OpImageFetch", "OpImageRead", "OpImageWrite", "OpAtomicIAdd"];

pub fn check() -> Result<(), String> {
    for (profile, _) in rival::PROFILES {
        let text = judge::spirv_dis(&rival::ours("marks", SHADER, profile)?)?;
        let unmarked = unmarked(&text);
        if !unmarked.is_empty() {
            return Err(format!("{profile}: not marked is what these take:\n{}", unmarked.join("\n")));
        }
    }
    Ok(())
}

/// The operations on images that are not decorated; all of [`OPERATIONS`] if one of them does not occur at all.
fn unmarked(text: &str) -> Vec<String> {
    let lines: Vec<Vec<&str>> = text.lines().map(|line| line.split_whitespace().collect()).collect();
    let mark = |words: &Vec<&str>| {
        (words.first() == Some(&"OpDecorate") && words[2] == "NonUniform").then(|| words[1].to_owned())
    };
    let marked: BTreeSet<String> = lines.iter().filter_map(mark).collect();
    let taken = |words: &Vec<&str>| {
        let at = words.iter().position(|word| OPERATIONS.contains(word))?;
        // The type of the result precedes the image.
        let image = words[at + if at == 0 { 1 } else { 2 }];
        Some((words[at].to_owned(), image.to_owned(), words.join(" ")))
    };
    let taken: Vec<_> = lines.iter().filter_map(taken).collect();
    let missing = OPERATIONS.iter().filter(|name| taken.iter().all(|(found, ..)| found != *name));
    let bare = taken.iter().filter(|(_, image, _)| !marked.contains(image)).map(|(.., line)| line.clone());
    missing.map(|name| format!("no {name}")).chain(bare).collect()
}
