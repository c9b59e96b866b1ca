//! The support table: each profile's lowering of each operation, from the same planner that compiles.

use super::catalog::{self, Sample};
use super::planner::unproven;
use super::request::{Refusal, Request};
use super::spanning::{self, Given};
use crate::profile::Profile;
use std::fmt;

/// A profile's support of a family of operations.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Support {
    /// Minimum and maximum number of instructions of the supported forms; `None` if none is supported. Hoistable setup
    /// is not counted.
    pub instructions: Option<(usize, usize)>,
    /// The forms that are wider than the subgroup and exchange values in workgroup memory.
    pub wider: Option<Wider>,
    /// Why some or all forms cannot be done.
    pub refusal: Option<Refusal>,
}

/// Forms that are wider than the subgroup.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Wider {
    /// Lanes of the subgroup.
    pub than: u32,
    /// Minimum and maximum number of barriers.
    pub barriers: (usize, usize),
}

/// One line of the table.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Line {
    pub family: &'static str,
    /// One entry for each requested profile.
    pub support: Vec<Support>,
}

/// The support table of some profiles, in the order of the catalog.
pub fn table(profiles: &[Profile]) -> Vec<Line> {
    let samples = catalog::all();
    let mut families: Vec<&'static str> = Vec::new();
    samples.iter().for_each(|sample| {
        if !families.contains(&sample.family) {
            families.push(sample.family);
        }
    });
    let line = |family| {
        let members: Vec<&Sample> = samples.iter().filter(|sample| sample.family == family).collect();
        Line { family, support: supports(&members, profiles) }
    };
    families.into_iter().map(line).collect()
}

/// The support of one family by each profile; profiles with the same plans are queried once.
fn supports(members: &[&Sample], profiles: &[Profile]) -> Vec<Support> {
    let mut all: Vec<Support> = Vec::with_capacity(profiles.len());
    for profile in profiles {
        let alike = profiles.iter().zip(&all).find(|(other, _)| other.plans_like(profile));
        let known = alike.map(|(_, support)| support.clone().renamed(&profile.name));
        all.push(known.unwrap_or_else(|| support(members, profile)));
    }
    all
}

/// A profile's support of the forms of one family.
fn support(members: &[&Sample], profile: &Profile) -> Support {
    let mut support = Support { instructions: None, wider: None, refusal: None };
    for sample in members {
        let request = sample.request();
        match unproven(&request, profile) {
            Ok(plan) => support.instructions = Some(widen(support.instructions, plan.count())),
            Err(Refusal::TooWide { size, .. }) if let Some(barriers) = barriers(&request, size, profile) => {
                let known = support.wider.map(|wider| wider.barriers);
                support.wider = Some(Wider { than: size, barriers: widen(known, barriers) });
            }
            Err(refusal) => support.refusal = support.refusal.or(Some(refusal)),
        }
    }
    support
}

/// The barriers of an operation over subgroups of `size` lanes, if the profile can do it through workgroup memory.
fn barriers(request: &Request, size: u32, profile: &Profile) -> Option<usize> {
    let given = Given::of(request, profile.reproducible);
    let program = spanning::plan(request.op, given, size).filter(|_| !request.fragment)?;
    let is_possible = program.inside(request).iter().all(|inside| unproven(inside, profile).is_ok());
    is_possible.then(|| program.barriers())
}

impl Support {
    /// This support for another profile with equal plans.
    fn renamed(mut self, name: &str) -> Support {
        if let Some(Refusal::NoHardware { profile, .. }) = &mut self.refusal {
            *profile = name.into();
        }
        self
    }
}

fn widen(range: Option<(usize, usize)>, count: usize) -> (usize, usize) {
    range.map_or((count, count), |(least, most)| (least.min(count), most.max(count)))
}

impl fmt::Display for Support {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let reason = self.refusal.as_ref().map(Refusal::reason);
        let Some(range) = self.instructions else {
            f.write_str("no")?;
            return reason.map_or(Ok(()), |reason| write!(f, ": {reason}"));
        };
        match range {
            (_, 0..=1) => f.write_str("native")?,
            (least, most) if least == most => write!(f, "{most} instructions")?,
            (least, most) => write!(f, "{least} to {most} instructions")?,
        }
        if let Some(Wider { than, barriers: (least, most) }) = self.wider {
            match (least, most) {
                (_, 0) => write!(f, "; wider than {than} lanes without barriers")?,
                (_, 1) => write!(f, "; wider than {than} lanes with 1 barrier")?,
                (least, most) if least == most => write!(f, "; wider than {than} lanes with {most} barriers")?,
                (least, most) => write!(f, "; wider than {than} lanes with {least} to {most} barriers")?,
            }
        }
        match &self.refusal {
            None => Ok(()),
            Some(Refusal::TooWide { size, .. }) => write!(f, ", up to {size} lanes wide"),
            Some(refusal) => write!(f, "; some forms not: {}", refusal.reason()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::Feature;

    fn cell(profile: Profile, family: &str) -> String {
        let table = table(&[profile]);
        let line = table.iter().find(|line| line.family == family).expect("a family of the catalog");
        line.support[0].to_string()
    }

    #[test]
    fn the_table_tells_native_lowered_and_refused() {
        let old = || Profile::named("spirv-1.3").expect("built in");
        assert_eq!(cell(old(), "butterfly"), "native");
        assert_eq!(cell(old(), "allReduce"), "native");
        assert_eq!(cell(old(), "partition"), "3 to 4 instructions");
        assert_eq!(cell(old().with_wave_size(Some(32)), "allReduce"), "native; wider than 32 lanes with 1 barrier");
    }

    #[test]
    fn refusals_name_the_oldest_profile_that_can() {
        let mut poor = Profile::named("spirv-1.6").expect("built in");
        poor.features = poor.features.without(Feature::Shuffle);
        poor.name = "poor".into();
        assert_eq!(cell(poor, "bpermute"), "no: lacks shuffle; spirv-1.3 is the oldest that can");
    }
}
