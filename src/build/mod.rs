//! What build scripts and the command line share beside the compiler: files that are read, files that are written whole,
//! and what an output hangs on. The compiler itself does none of that.

pub mod deps;
pub mod files;
pub mod kind;
pub mod write;
