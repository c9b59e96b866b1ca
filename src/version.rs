//! The inputs of this program, as hashes computed by the build script: 16 hexadecimal digits each.

include!(concat!(env!("OUT_DIR"), "/hashes.rs"));
