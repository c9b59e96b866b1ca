//! Reads files that users name: only regular ones, up to a size limit. A pipe or a device could block or never end.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

/// Bytes of a shader, and of each file that it includes.
pub const SHADER_LIMIT: u64 = 64 << 20;

/// Maximum size of a manifest, and of all argument files together.
pub const TEXT_LIMIT: u64 = 16 << 20;

/// The contents of a regular file of at most `limit` bytes.
///
/// # Errors
/// Returns an error if the file cannot be read, is a directory, a pipe or a device, or has more bytes.
pub fn bytes(path: &Path, limit: u64) -> io::Result<Vec<u8>> {
    let meta = fs::metadata(path)?;
    if meta.is_dir() {
        return Err(io::Error::new(io::ErrorKind::IsADirectory, "it is a directory"));
    }
    if !meta.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"));
    }
    if meta.len() > limit {
        return Err(too_large(limit));
    }
    up_to(File::open(path)?, meta.len() as usize, limit)
}

/// Reads a file as text.
///
/// # Errors
/// Like [`bytes`]. Also returns an error if the file is not UTF-8.
pub fn text(path: &Path, limit: u64) -> io::Result<String> {
    utf8(bytes(path, limit)?)
}

/// # Errors
/// Returns the place of the first byte that is not UTF-8.
pub fn utf8(bytes: Vec<u8>) -> io::Result<String> {
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        io::Error::new(io::ErrorKind::InvalidData, format!("it is not UTF-8 (byte {at})"))
    })
}

/// All of standard input.
///
/// # Errors
/// Returns an error if standard input cannot be read or has more than `limit` bytes.
pub fn stdin(limit: u64) -> io::Result<Vec<u8>> {
    up_to(io::stdin().lock(), 0, limit)
}

/// The rest of a stream; `expected` bytes, if it is as long as expected.
fn up_to(stream: impl Read, expected: usize, limit: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(expected);
    stream.take(limit + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit { Err(too_large(limit)) } else { Ok(bytes) }
}

fn too_large(limit: u64) -> io::Error {
    io::Error::new(io::ErrorKind::FileTooLarge, format!("it has more than {limit} bytes"))
}
