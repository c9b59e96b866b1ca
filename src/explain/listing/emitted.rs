//! The lines that a back end has written for a kernel's cross-lane operations.

use super::{Line, Listing, Unit, Unwritten};
use crate::backend::written::Written;
use crate::backend::{Backend, KernelWriter, Made, ModuleWriter, Options};
use crate::ir::{FuncId, InstId, Module};
use crate::kernel::{Kernel, Origin};
use crate::profile::Profile;
use crate::source::SourceMap;

/// The code of a kernel for one profile.
#[derive(Debug)]
pub struct Emitted {
    code: Vec<Written>,
    /// For each operation, the setups that it needs.
    set_ups: Vec<Vec<u32>>,
    /// For each operation, the name of its result, if the back end records it.
    results: Vec<Option<String>>,
    unit: fn(&str) -> Unit,
}

impl Emitted {
    /// The program of a kernel whose cross-lane operations are lowered.
    ///
    /// # Errors
    /// Reports constructs that the target cannot express.
    pub fn of_kernel(
        backend: &Backend,
        writer: &KernelWriter,
        kernel: &Kernel,
        profile: &Profile,
    ) -> Result<Emitted, Unwritten> {
        let code = (writer.written)(kernel, &Options::new(profile.clone()), &SourceMap::default());
        let code = code.map_err(Unwritten::because)?;
        Ok(Emitted { code, set_ups: kernel.set_ups.clone(), results: Vec::new(), unit: backend.unit })
    }

    /// The text of a module, with the operations in the order of their numbers.
    ///
    /// # Errors
    /// Reports constructs that the target cannot express.
    pub fn of_module(
        backend: &Backend,
        writer: &ModuleWriter,
        module: &Module,
        options: &Options,
        sources: &SourceMap,
    ) -> Made<(Emitted, Vec<(FuncId, InstId)>)> {
        let code = (writer.written)(module, options, sources)?;
        let (operations, results) = code.operations.into_iter().unzip();
        Ok((Emitted { code: code.lines, set_ups: code.set_ups, results, unit: backend.unit }, operations))
    }

    /// The lines of all operations, which are components of one operation.
    pub fn whole(&self) -> Listing {
        self.listing(&(0..self.set_ups.len() as u32).collect::<Vec<_>>())
    }

    /// The lines of some operations, which are components of one, with the setup code between them.
    pub fn listing(&self, operations: &[u32]) -> Listing {
        let needed = |number: u32| operations.iter().any(|n| self.set_ups[*n as usize].contains(&number));
        let is_own = |origin: Origin| match origin {
            Origin::Operation(number) | Origin::Within(number) => operations.contains(&number),
            Origin::Code | Origin::SetUp(_) => false,
        };
        let is_set_up = |origin: Origin| matches!(origin, Origin::SetUp(number) if needed(number));
        let start = self.code.iter().position(|written| is_own(written.origin)).unwrap_or(self.code.len());
        let (before, after) = self.code.split_at(start);
        let lines = self.lines(after, |origin| is_own(origin) || is_set_up(origin));
        // The operation may consist of setup instructions alone.
        let gives = |origin| if after.is_empty() { is_set_up(origin) } else { is_own(origin) };
        let said: Vec<String> = operations.iter().filter_map(|n| self.results.get(*n as usize)?.clone()).collect();
        Listing {
            inputs: self.joined(self.inputs(is_own)),
            setup: self.lines(before, is_set_up),
            wait_states: lines.iter().filter_map(states).sum(),
            set_up_among: self.lines(after, is_set_up).iter().filter(|line| line.unit.works()).count(),
            lines,
            results: if said.is_empty() { self.joined(self.results(gives)) } else { said },
        }
    }

    /// For each line of the program's text, the operations that it implements.
    pub fn marks(&self, text: &str) -> Vec<Vec<u32>> {
        let lines: Vec<&str> = text.lines().map(str::trim).collect();
        let mut marks = vec![Vec::new(); lines.len()];
        let mut next = 0;
        for written in &self.code {
            // The text has other lines between these, such as labels, but the order is the same.
            for line in written.text.lines().map(str::trim) {
                let Some(skipped) = lines[next..].iter().position(|other| *other == line) else { continue };
                marks[next + skipped] = self.operations_of(written.origin);
                next += skipped + 1;
            }
        }
        marks
    }

    fn operations_of(&self, origin: Origin) -> Vec<u32> {
        match origin {
            Origin::Operation(number) | Origin::Within(number) => vec![number],
            Origin::SetUp(set_up) => {
                let numbered = (0..).zip(&self.set_ups);
                numbered.filter(|(_, needed)| needed.contains(&set_up)).map(|(number, _)| number).collect()
            }
            Origin::Code => Vec::new(),
        }
    }

    fn lines(&self, code: &[Written], is_shown: impl Fn(Origin) -> bool) -> Vec<Line> {
        let shown = code.iter().filter(|written| is_shown(written.origin)).flat_map(|written| written.text.lines());
        let shown: Vec<&str> = shown.collect();
        let margin = shown.iter().map(|line| line.len() - line.trim_start().len()).min().unwrap_or(0);
        shown.iter().map(|line| Line { text: line[margin..].into(), unit: (self.unit)(line.trim_start()) }).collect()
    }

    /// Registers that form one operand somewhere, written as that operand: `s[2:3]`.
    fn joined(&self, names: Vec<String>) -> Vec<String> {
        let mut joined: Vec<(String, String)> = Vec::new();
        for name in names {
            let digits = name.trim_start_matches(|c: char| !c.is_ascii_digit());
            let pair = joined.last().map(|(first, _)| format!("{first}:{digits}]"));
            match (pair.filter(|pair| self.code.iter().any(|line| line.text.contains(pair))), joined.last_mut()) {
                (Some(pair), Some((_, last))) => *last = pair,
                _ => joined.push((name.replace(digits, &format!("[{digits}")), name)),
            }
        }
        joined.into_iter().map(|(_, name)| name).collect()
    }

    /// The registers that the lines read before they write them.
    fn inputs(&self, is_own: impl Fn(Origin) -> bool) -> Vec<String> {
        let (mut found, mut written): (Vec<String>, Vec<&String>) = (Vec::new(), Vec::new());
        for line in self.code.iter().filter(|line| is_own(line.origin)) {
            let new = line.reads.iter().filter(|name| !written.contains(name));
            new.for_each(|name| add(&mut found, name));
            written.extend(&line.writes);
        }
        found
    }

    /// The registers that the lines write and other lines read.
    fn results(&self, is_own: impl Fn(Origin) -> bool) -> Vec<String> {
        let (mut found, mut held): (Vec<String>, Vec<&String>) = (Vec::new(), Vec::new());
        for line in &self.code {
            if is_own(line.origin) {
                held.extend(&line.writes);
            } else {
                line.reads.iter().filter(|name| held.contains(name)).for_each(|name| add(&mut found, name));
                held.retain(|name| !line.writes.contains(name));
            }
        }
        found
    }
}

fn add(names: &mut Vec<String>, name: &String) {
    if !names.contains(name) {
        names.push(name.clone());
    }
}

/// Wait states of an AMD line.
fn states(line: &Line) -> Option<u32> {
    Some(line.text.strip_prefix("s_nop ")?.parse::<u32>().ok()? + 1)
}
