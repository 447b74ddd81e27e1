//! Checks loose objects before libgit2 reads them, because libgit2 never returns from the read of an object
//! whose file is truncated.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use flate2::bufread::ZlibDecoder;
use git2::Oid;

/// The longest header of an object: its type and its size.
const MAX_HEADER_BYTES: u64 = 64;

/// Whether the file of a loose object contains as many bytes as its header states. Also true if this
/// directory has no such loose file.
pub(crate) fn is_complete(objects: &Path, id: Oid) -> bool {
    let name = id.to_string();
    let (directory, file) = name.split_at(2);
    match File::open(objects.join(directory).join(file)) {
        Ok(file) => has_stated_size(BufReader::new(file)).unwrap_or(false),
        Err(_) => true,
    }
}

fn has_stated_size(mut file: impl BufRead) -> io::Result<bool> {
    // In an old format of git, the file does not start with a zlib stream.
    if !matches!(file.fill_buf()?, [first, second, ..] if is_zlib(*first, *second)) {
        return Ok(true);
    }
    let mut content = BufReader::new(ZlibDecoder::new(file));
    let mut header = Vec::new();
    content.by_ref().take(MAX_HEADER_BYTES).read_until(0, &mut header)?;
    let digits = header.strip_suffix(b"\0").and_then(|header| header.rsplit(|byte| *byte == b' ').next());
    let size = digits.and_then(|digits| std::str::from_utf8(digits).ok()?.parse::<u64>().ok());
    let Some(size) = size else { return Ok(false) };
    Ok(io::copy(&mut content.take(size), &mut io::sink())? == size)
}

fn is_zlib(first: u8, second: u8) -> bool {
    first & 0x8f == 0x08 && u16::from_be_bytes([first, second]).is_multiple_of(31)
}
