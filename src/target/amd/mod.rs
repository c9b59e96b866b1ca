//! AMD's assembly language: what its instructions are called, and kernels made of them.

pub mod arch;
pub mod hazards;
pub mod live;
pub mod machine;
pub mod mnemonic;
pub mod registers;
pub mod unit;
pub mod view;
pub mod waits;
