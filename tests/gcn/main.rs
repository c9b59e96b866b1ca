//! The interpreter of AMD assembly is held against programs that this project did not write, and each of its rules against
//! a program that keeps it and one that does not.

// The interpreter is shared with another test binary; neither uses all of it.
#[allow(dead_code)]
#[path = "../support/gcn/mod.rs"]
mod gcn;
#[allow(dead_code)]
#[path = "../support/judge.rs"]
mod judge;

mod cases;
mod llvm;
mod rules;
