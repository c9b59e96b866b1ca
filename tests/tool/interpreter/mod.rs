//! Tests the interpreter of AMD assembly with programs from other projects, and each of its rules with a program that
//! follows it and one that does not.

mod cases;
mod llvm;
mod rules;
