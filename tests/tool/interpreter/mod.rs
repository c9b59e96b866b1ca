//! The interpreter of AMD assembly is held against programs that this project did not write, and each of its rules against
//! a program that keeps it and one that does not.

mod cases;
mod llvm;
mod rules;
