//! AMD's assembly language: so far what its instructions are called.

pub mod mnemonic;
