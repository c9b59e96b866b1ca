//! The code of a program line by line, with what each line was made for.

use crate::kernel::Origin;

/// A line, or the few that stand for one instruction.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Written {
    pub origin: Origin,
    /// As it stands in the program, with its margin and the line break.
    pub text: String,
    /// Names of the registers that it reads and writes.
    pub reads: Vec<String>,
    pub writes: Vec<String>,
}
