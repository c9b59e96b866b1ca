//! The book under `docs/`: generated pages match the program's output, links are valid, the table of contents has every
//! page, and the shaders in it compile.

use crate::folder::{Folder, status, stderr};
use crosslane::compile::{Input, Language, Options, Verdict, compile};
use crosslane::diagnostic::{Code, render};
use crosslane::profile::{Profile, WaveSize};
use crosslane::source::NoIncludes;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use support::bless;

const GENERATED: &str = "docs/operations";

pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// All pages, named from `docs/`.
pub fn pages() -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::new();
    let mut folders = vec![root().join("docs")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path()) {
            if entry.is_dir() {
                folders.push(entry);
            } else if entry.extension().is_some_and(|ending| ending == "md") {
                found.insert(entry.strip_prefix(root().join("docs")).expect("inside").to_owned());
            }
        }
    }
    found
}

pub fn text(page: &Path) -> String {
    fs::read_to_string(root().join("docs").join(page)).expect("a page")
}

#[test]
fn generated_pages_are_fresh() {
    let folder = Folder::new("book");
    let output = folder.run(&["ops", "--pages", "pages"]);
    assert_eq!(status(&output), 0, "{}", stderr(&output));
    let mut written = BTreeSet::new();
    for entry in fs::read_dir(folder.0.join("pages")).unwrap().map(|entry| entry.unwrap()) {
        let name = entry.file_name().into_string().unwrap();
        let text = fs::read_to_string(entry.path()).unwrap();
        bless::hold(&format!("{GENERATED}/{name}"), &text).unwrap_or_else(|why| panic!("{why}"));
        written.insert(name);
    }
    let committed = fs::read_dir(root().join(GENERATED)).unwrap();
    let committed: BTreeSet<String> = committed.map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    assert_eq!(committed, written, "pages that the program does not write");
}

/// The targets of a page's links to files; code blocks have none.
fn links(text: &str) -> Vec<String> {
    let outside: String = text.split("\n```").step_by(2).collect();
    let targets = outside.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    targets.filter(|link| !link.contains("://")).map(str::to_owned).collect()
}

/// The anchors that GitHub and mdBook give to the headings of a page.
fn anchors(text: &str) -> BTreeSet<String> {
    let headings =
        text.lines().filter_map(|line| line.strip_prefix('#')).map(|line| line.trim_start_matches('#').trim());
    let kept = |c: char| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_');
    headings
        .map(|heading| heading.to_lowercase().chars().filter(|c| kept(*c)).collect::<String>().replace(' ', "-"))
        .collect()
}

/// Each link leads to a file and to a heading in it; links of the book lead to pages of the book.
#[test]
fn links_lead_to_files() {
    let of_the_book = pages().into_iter().map(|page| (Path::new("docs").join(page), true));
    let others =
        ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "tests/README.md", "grammar/README.md"];
    for (page, is_in_book) in of_the_book.chain(others.map(|name| (PathBuf::from(name), false))) {
        let text = fs::read_to_string(root().join(&page)).expect("a page");
        for link in links(&text) {
            let (file, anchor) = link.split_once('#').unwrap_or((&link, ""));
            let target = match file {
                "" => root().join(&page),
                _ => root().join(page.parent().expect("a folder")).join(file),
            };
            let target = target.canonicalize().unwrap_or_else(|_| panic!("{}: no {link}", page.display()));
            assert!(
                !is_in_book || target.starts_with(root().join("docs")),
                "{}: {link} leaves the book",
                page.display()
            );
            if !anchor.is_empty() {
                let there = anchors(&fs::read_to_string(&target).expect("a page"));
                assert!(there.contains(anchor), "{}: no {link}", page.display());
            }
        }
    }
}

#[test]
fn the_table_of_contents_has_every_page() {
    let summary = Path::new("SUMMARY.md");
    let listed: BTreeSet<PathBuf> = links(&text(summary)).into_iter().map(PathBuf::from).collect();
    let mut all = pages();
    all.remove(summary);
    assert_eq!(listed, all);
}

#[test]
fn the_page_on_warnings_has_them_all() {
    let text = text(Path::new("guide/warnings.md"));
    for kind in crosslane::diagnostic::warning::ALL {
        let row = format!("| `{}` | {} | {} |", kind.name, kind.code, kind.about);
        assert!(text.contains(&row), "no row {row}");
    }
}

/// The blocks of a page in a language: the place where each begins, and its text.
pub fn blocks(text: &str, language: &str) -> Vec<(usize, String)> {
    let mut blocks = Vec::new();
    let mut open: Option<(usize, String)> = None;
    for (n, line) in text.lines().enumerate() {
        match &mut open {
            Some(_) if line == "```" => blocks.extend(open.take()),
            Some((_, text)) => *text += &format!("{line}\n"),
            None if line.strip_prefix("```") == Some(language) => open = Some((n + 2, String::new())),
            None => {}
        }
    }
    blocks
}

#[test]
fn shaders_in_the_book_compile_without_warnings() {
    let mut count = 0;
    for (page, text) in pages_and_readme() {
        for (name, language) in [("glsl", Language::Glsl), ("wgsl", Language::Wgsl)] {
            for (line, shader) in blocks(&text, name) {
                compiles(&format!("{page}:{line}"), &shader, language);
                count += 1;
            }
        }
    }
    assert!(count > 5, "{count} shaders");
}

/// The names and texts of the pages that show shaders and transcripts.
pub fn pages_and_readme() -> impl Iterator<Item = (String, String)> {
    let readme = fs::read_to_string(root().join("README.md")).expect("a page");
    let pages = pages().into_iter().map(|page| (page.display().to_string(), text(&page)));
    pages.chain([("README.md".to_owned(), readme)])
}

/// The commands in a block of transcripts, each with the output shown.
fn transcripts(block: &str) -> Vec<(&str, String)> {
    let Some(block) = block.strip_prefix("$ crosslane ") else { return Vec::new() };
    let each = block.split("\n$ crosslane ").filter_map(|one| one.split_once('\n'));
    each.map(|(command, shown)| (command, format!("{}\n", shown.trim_end()))).collect()
}

/// Compares each transcript with the output of its command; a line `…` in it stands for omitted lines.
#[test]
fn transcripts_in_the_book_are_real() {
    let mut count = 0;
    for (page, text) in pages_and_readme() {
        for (line, block) in blocks(&text, "text") {
            for (command, shown) in transcripts(&block) {
                shows(&format!("{page}:{line}"), command, &shown);
                count += 1;
            }
        }
    }
    assert!(count > 7, "{count} transcripts");
}

fn shows(place: &str, command: &str, shown: &str) {
    let words: Vec<&str> = command.split(' ').collect();
    let output = Command::new(env!("CARGO_BIN_EXE_crosslane")).args(words).current_dir(root()).output();
    let output = output.expect("it runs");
    let said = String::from_utf8([output.stdout, output.stderr].concat()).expect("it prints text");
    let mut rest = &*said;
    for part in shown.split("…\n") {
        let at = rest.find(part).unwrap_or_else(|| panic!("{place}: `{command}` does not print:\n{part}"));
        rest = &rest[at + part.len()..];
    }
}

/// The README's outputs are the code of the shader that it shows.
#[test]
fn the_readme_shows_its_shader() {
    let readme = fs::read_to_string(root().join("README.md")).expect("a page");
    let shown: Vec<String> = blocks(&readme, "glsl").into_iter().map(|(_, shader)| shader).collect();
    assert_eq!(shown, [fs::read_to_string(root().join("fixtures/explain/sum.comp")).expect("a fixture")]);
}

/// The tutorial's shaders are the ones in its transcripts.
#[test]
fn the_tutorial_shows_its_shaders() {
    let shown = blocks(&text(Path::new("guide/tutorial.md")), "glsl");
    let names = ["2_uniform", "3_one_lane", "4_vector"];
    let files = names.map(|name| fs::read_to_string(root().join(format!("examples/tutorial/{name}.comp"))).unwrap());
    assert_eq!(shown.into_iter().map(|(_, shader)| shader).collect::<Vec<_>>(), files);
}

/// Codes about commands, files, limits, targets and runs, which no shader alone causes.
const WITHOUT_EXAMPLE: &[&str] = &[
    "E0001", "E0002", "E0004", "E0005", "E0006", "E0007", "E0008", "E0009", "E0117", "E0118", "E0123", "E0125",
    "E0126", "E0201", "E0510", "E0604", "E0605", "E0704", "N0500", "W0106", "W0107", "W0601", "W0700", "W0701",
    "W0702", "W0800",
];

/// Each section on the page of messages has prose, a wrong example that causes its code, and a corrected one without
/// messages.
#[test]
fn examples_of_messages_give_their_codes_and_are_mended() {
    let text = text(Path::new("guide/messages.md"));
    for (code, _) in crosslane::diagnostic::codes::ALL {
        let start = text.find(&format!("\n## {}: ", code.0)).expect("a section");
        let section = &text[start + 1..];
        let section = &section[..section.find("\n## ").unwrap_or(section.len())];
        let prose = section.lines().skip(1).find(|line| !line.is_empty()).unwrap_or_default();
        assert!(!prose.is_empty() && !prose.starts_with("```"), "{code} has no prose");
        let is_rest = ["E07", "E08", "E09"].iter().any(|group| code.0.starts_with(group));
        let needs_none = is_rest || WITHOUT_EXAMPLE.contains(&code.0);
        let count = examples(code.0, section);
        assert!(needs_none || count > 0, "{code} has no example with its correction");
    }
}

/// Checks the examples of a section against its code; returns how many have corrections.
fn examples(code: &str, section: &str) -> usize {
    let mut count = 0;
    for (name, language) in [("glsl", Language::Glsl), ("wgsl", Language::Wgsl)] {
        let wrong = blocks(section, &format!("{name},{code}"));
        let fixed = blocks(section, &format!("{name},fixed"));
        assert!(fixed.len() <= wrong.len(), "{code}");
        wrong.iter().for_each(|(_, shader)| gives(code, shader, language, &[code]));
        fixed.iter().for_each(|(_, shader)| gives(code, shader, language, &[]));
        count += fixed.len();
    }
    count
}

fn gives(name: &str, shader: &str, language: Language, codes: &[&str]) {
    let input = Input { name, bytes: shader.as_bytes(), language };
    let mut options = Options::new(profile("spirv-1.5"));
    if [Code::NARROW_SUBGROUPS.0, Code::TOO_WIDE.0].contains(&name) {
        options.profile.promise = None;
    }
    if name.starts_with('W') {
        options.warnings.push("all".parse().expect("a choice"));
    }
    let made = compile(&input, &options, &NoIncludes);
    let given: Vec<&str> = made.diagnostics.iter().map(|diagnostic| diagnostic.code.0).collect();
    assert_eq!(given, codes, "{shader}{}", render::human(&made.sources, &made.diagnostics));
}

fn compiles(name: &str, shader: &str, language: Language) {
    for profile in ["spirv-1.5", "nv-ampere", "gfx900", "gfx1100"] {
        let input = Input { name, bytes: shader.as_bytes(), language };
        let made = compile(&input, &Options::new(self::profile(profile)), &NoIncludes);
        let messages = render::human(&made.sources, &made.diagnostics);
        assert!(matches!(made.verdict, Verdict::Done(_)) && messages.is_empty(), "{profile}: {messages}");
    }
}

/// A built-in profile with subgroups that are wide enough for the book's shaders.
fn profile(name: &str) -> Profile {
    Profile::named(name).expect("built in").with_wave_size(WaveSize::Least(32))
}
