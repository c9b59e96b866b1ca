//! The rows of the tables of instructions: a name, the processors that have it, and a function.

/// An instruction of a table.
pub struct Row<F> {
    name: &'static str,
    /// The first and the last version that has it under this name and with this meaning.
    since: u32,
    until: u32,
    pub signature: &'static str,
    pub apply: F,
}

/// A version later than all others.
pub const NOW: u32 = 9999;

pub const fn row<F: Copy>(name: &'static str, since: u32, until: u32, signature: &'static str, apply: F) -> Row<F> {
    Row { name, since, until, signature, apply }
}

/// An instruction of all processors.
pub const fn ever<F: Copy>(name: &'static str, signature: &'static str, apply: F) -> Row<F> {
    row(name, 600, NOW, signature, apply)
}

/// The row for an instruction name on a processor.
pub fn find<F>(tables: &[&'static [Row<F>]], name: &str, version: u32) -> Option<&'static Row<F>> {
    let mut rows = tables.iter().copied().flatten();
    rows.find(|row| row.name == name && (row.since..=row.until).contains(&version))
}

/// The names of all rows.
pub fn names<F>(tables: &[&'static [Row<F>]]) -> impl Iterator<Item = &'static str> + use<F> {
    tables.iter().copied().flatten().map(|row| row.name).collect::<Vec<_>>().into_iter()
}
