//! Recognises binary content by its bytes. File names are not used.

use memchr::memchr;

/// The first bytes of binary formats. No text begins with one of these sequences. Formats whose first bytes
/// are plain letters are not listed if their NUL bytes identify them.
const MAGIC: &[&[u8]] = &[
    b"%PDF-",
    b"\x89PNG",
    b"\xff\xd8\xff",
    b"GIF87a",
    b"GIF89a",
    b"\x1f\x8b",
    b"BZh91AY&SY",
    b"\xfd7zXZ",
    b"\x28\xb5\x2f\xfd",
    b"7z\xbc\xaf\x27\x1c",
    b"PK\x03\x04",
    b"PK\x05\x06",
    b"Rar!\x1a\x07",
    b"\x7fELF",
    b"\xca\xfe\xba\xbe",
    b"\xfe\xed\xfa\xce",
    b"\xfe\xed\xfa\xcf",
    b"\xce\xfa\xed\xfe",
    b"\xcf\xfa\xed\xfe",
    b"\0asm",
    b"!<arch>\n",
    b"\xd0\xcf\x11\xe0",
    b"SQLite format 3",
    b"wOFF",
    b"wOF2",
    b"\x93NUMPY",
    b"\x89HDF",
    // The start of a Git LFS pointer file. A pointer file is a short text that replaces a file in the
    // repository. The replaced file, which is stored elsewhere, is nearly always binary.
    b"version https://git-lfs.github.com/spec/",
];

pub(crate) fn has_magic(bytes: &[u8]) -> bool {
    MAGIC.iter().any(|magic| bytes.starts_with(magic))
}

pub(crate) fn has_nul(bytes: &[u8]) -> bool {
    memchr(0, bytes).is_some()
}

/// Whether more than one byte in thirty is a control character. Call this only with bytes that are not valid
/// UTF-8. Text in legacy encodings contains no control characters. In compressed or packed data, about one
/// byte in ten is a control character.
pub(crate) fn is_mostly_control(bytes: &[u8]) -> bool {
    let is_control = |byte: &&u8| matches!(byte, 0x01..=0x08 | 0x0b | 0x0e..=0x1a | 0x1c..=0x1f | 0x7f);
    bytes.iter().filter(is_control).count() * 30 > bytes.len()
}
