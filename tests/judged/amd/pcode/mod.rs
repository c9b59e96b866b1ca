//! AMD's own pseudo-code judges the interpreter of AMD assembly: every instruction that it supports is compared with
//! the text for RDNA 3, RDNA 4 and CDNA, or is listed with the reason why not.

mod atomics;
mod compare;
mod differences;
mod language;
mod operands;

use compare::{Case, Subject};
use differences::{DIFFERENCES, RENAMED, UNCOMPARED};
use std::collections::{BTreeMap, BTreeSet};
use support::amd::single::{self, Atom, Form};
use support::amd::target::Target;
use support::pcode::Texts;
use support::trial::{Trial, judged, trial};
use support::{bless, judge};

/// An architecture with texts for its instructions.
struct Architecture {
    name: &'static str,
    title: &'static str,
    /// The processor on which the interpreter runs the instructions.
    processor: &'static str,
    waves: &'static [usize],
}

static ARCHITECTURES: [Architecture; 3] = [
    Architecture { name: "rdna3", title: "RDNA 3", processor: "gfx1151", waves: &[64, 32] },
    Architecture { name: "rdna4", title: "RDNA 4", processor: "gfx1201", waves: &[64, 32] },
    Architecture { name: "cdna", title: "CDNA", processor: "gfx950", waves: &[64] },
];

/// Rounds of operands for each instruction, 64 sets in each.
const ROUNDS: usize = 50;
/// Rounds for waves of the second size.
const FEW: usize = 6;
/// Differences that a message shows.
const SHOWN: usize = 12;

pub fn trials() -> Vec<Trial> {
    let files: Vec<String> = ARCHITECTURES.iter().map(Architecture::file).collect();
    let all: Vec<&str> = files.iter().map(String::as_str).collect();
    let one = |(architecture, file): (&'static Architecture, &&str)| {
        judged(format!("pcode::{}", architecture.name), &[*file], move || architecture.hold())
    };
    let mut trials: Vec<Trial> = ARCHITECTURES.iter().zip(&all).map(one).collect();
    trials.push(judged("pcode::page", &all, hold_page));
    trials.push(trial("pcode::names_have_one_row", names_have_one_row));
    trials.push(trial("pcode::language", language::hold));
    trials.push(trial("pcode::finds", language::finds));
    trials
}

/// The instructions of an architecture, by how they are checked.
struct Known {
    /// The name of each text, and the forms for waves of each size.
    compared: BTreeMap<String, (String, Vec<(Target, Form)>)>,
    listed: BTreeSet<&'static str>,
    control: Vec<String>,
    /// Atomic operations, whose values are compared.
    atomics: BTreeMap<String, Atom>,
    memory: Vec<String>,
}

impl Architecture {
    fn file(&self) -> String {
        format!("pcode/{}.py", self.name)
    }

    fn texts(&self) -> Result<Texts, String> {
        let path = judge::need(&self.file())?;
        let module = std::fs::read_to_string(&path).map_err(|why| format!("{}: {why}", path.display()))?;
        Texts::read(&module)
    }

    /// Sorts the interpreter's instructions; one without a text must be listed.
    fn known(&self, texts: &Texts) -> Result<Known, String> {
        let targets = self.waves.iter().map(|wave| Target::new(self.processor, *wave));
        let targets: Vec<Target> = targets.collect::<Result<_, _>>()?;
        let listed: BTreeSet<&str> = self.listed().collect();
        let mut names: BTreeSet<String> = single::names().into_iter().collect();
        names.extend(texts.names().map(str::to_owned));
        let mut known = Known {
            compared: BTreeMap::new(),
            listed: listed.clone(),
            control: single::control_names(&targets[0]),
            atomics: BTreeMap::new(),
            memory: Vec::new(),
        };
        for name in texts.names().filter(|name| single::reaches_memory(name, &targets[0])) {
            match single::atom(name, &targets[0]).filter(|_| texts.program(name).is_ok()) {
                Some(atom) => drop(known.atomics.insert(name.to_owned(), atom)),
                None => known.memory.push(name.to_owned()),
            }
        }
        for name in names {
            let form = |target: &Target| single::form(&name, target).map(|form| (*target, form));
            let forms: Vec<(Target, Form)> = targets.iter().filter_map(form).collect();
            match (text_name(&name, texts), forms.is_empty()) {
                (_, true) => {}
                (Some(text), _) => drop(known.compared.insert(name, (text, forms))),
                (None, _) if listed.contains(&name[..]) => {}
                (None, _) => return Err(format!("{name} has no text and is not listed in differences.rs")),
            }
        }
        match listed.iter().find(|name| known.compared.contains_key(**name)) {
            Some(name) => Err(format!("{name} is listed in differences.rs and has a text")),
            None => Ok(known),
        }
    }

    fn listed(&self) -> impl Iterator<Item = &'static str> + use<> {
        let name = self.name;
        UNCOMPARED.iter().filter(move |(of, ..)| *of == name).flat_map(|(_, names, _)| names.iter().copied())
    }

    fn hold(&self) -> Result<(), String> {
        let texts = self.texts()?;
        let known = self.known(&texts)?;
        let (mut wrong, mut seen) = (Vec::new(), BTreeSet::new());
        for (name, (text, forms)) in &known.compared {
            for (n, (target, form)) in forms.iter().enumerate() {
                let subject = Subject { texts: &texts, name, text, form: form.clone(), target: *target };
                let cases = subject.differences(if n == 0 { ROUNDS } else { FEW });
                match cases.map(|cases| sort(name, &cases, &mut seen)) {
                    Ok(None) => {}
                    Ok(Some(case)) => wrong.push(format!("{name} in waves of {}: {case:x?}", target.wave)),
                    Err(why) => wrong.push(format!("{name}: {why}")),
                }
            }
        }
        for (name, atom) in &known.atomics {
            match atomics::differences(&texts, name, *atom).map(|cases| sort(name, &cases, &mut seen)) {
                Ok(None) => {}
                Ok(Some(case)) => wrong.push(format!("{name}: {case:x?}")),
                Err(why) => wrong.push(format!("{name}: {why}")),
            }
        }
        wrong.extend(known.stale(&seen));
        wrong.truncate(SHOWN);
        if wrong.is_empty() { Ok(()) } else { Err(wrong.join("\n")) }
    }
}

impl Known {
    fn has(&self, name: &str) -> bool {
        self.compared.contains_key(name) || self.atomics.contains_key(name)
    }

    /// Rows of the table for which no difference occurred.
    fn stale(&self, seen: &BTreeSet<(usize, String)>) -> Vec<String> {
        let rows = DIFFERENCES.iter().enumerate().flat_map(|(row, of)| of.names.iter().map(move |name| (row, *name)));
        let vanished = rows.filter(|(row, name)| self.has(name) && !seen.contains(&(*row, (*name).to_owned())));
        vanished.map(|(row, name)| format!("{name} does not differ any more: {}", DIFFERENCES[row].why)).collect()
    }

    /// How many differ for some operands.
    fn differing(&self) -> usize {
        let rows = DIFFERENCES.iter().flat_map(|row| row.names);
        rows.filter(|name| self.has(name)).count()
    }
}

/// The name that the texts have for an instruction.
fn text_name(name: &str, texts: &Texts) -> Option<String> {
    let both = RENAMED.iter().flat_map(|(old, new)| [(*old, *new), (*new, *old)]);
    let renamed = both.filter(|(from, _)| name.contains(from)).map(|(from, to)| name.replace(from, to));
    std::iter::once(name.to_owned()).chain(renamed).find(|name| texts.text(name).is_some())
}

/// Records the rows that differences belong to; returns the first difference that belongs to none.
fn sort(name: &str, cases: &[Case], seen: &mut BTreeSet<(usize, String)>) -> Option<Case> {
    for case in cases {
        let fits = |row: &differences::Difference| row.names.contains(&name) && (row.is)(case);
        match DIFFERENCES.iter().position(fits) {
            Some(row) => drop(seen.insert((row, name.to_owned()))),
            None => return Some(*case),
        }
    }
    None
}

fn names_have_one_row() -> Result<(), String> {
    let mut seen = BTreeSet::new();
    let mut names = DIFFERENCES.iter().flat_map(|row| row.names);
    names
        .find(|name| !seen.insert(**name))
        .map_or(Ok(()), |name| Err(format!("{name} is in two rows of differences.rs")))
}

/// The page with the figures between two marks.
const PAGE: &str = "docs/verified/amd.md";
const BEGIN: &str = "<!-- figures of the pseudo-code -->\n";
const END: &str = "<!-- end -->\n";

fn hold_page() -> Result<(), String> {
    let path = support::root().join(PAGE);
    let page = std::fs::read_to_string(&path).map_err(|why| format!("{PAGE}: {why}"))?;
    let (before, rest) = page.split_once(BEGIN).ok_or("the page has no place for the figures")?;
    let (_, after) = rest.split_once(END).ok_or("the page's figures do not end")?;
    bless::hold(PAGE, &format!("{before}{BEGIN}{}{END}{after}", figures()?))
}

fn figures() -> Result<String, String> {
    let mut text = "\n| architecture | run here as | compared | of atomics the values | of both differ for some operands | without a \
                    text | other memory | waits, branches and the like |\n|---|---|---|---|---|---|---|---|\n"
        .to_owned();
    for architecture in &ARCHITECTURES {
        let known = architecture.known(&architecture.texts()?)?;
        text += &format!(
            "| {} | {} | {} | {} | {} | {} | {} | {} |\n",
            architecture.title,
            architecture.processor,
            known.compared.len(),
            known.atomics.len(),
            known.differing(),
            known.listed.len(),
            known.memory.len(),
            known.control.len()
        );
    }
    text += "\n| instructions | the difference |\n|---|---|\n";
    for row in DIFFERENCES {
        let names: Vec<String> = row.names.iter().map(|name| format!("`{name}`")).collect();
        text += &format!("| {} | {} |\n", names.join(", "), row.why);
    }
    for (architecture, names, why) in UNCOMPARED {
        let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
        text += &format!("| {} of {architecture}, not compared | {why} |\n", names.join(", "));
    }
    Ok(text + "\n")
}
