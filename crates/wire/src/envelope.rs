//! The envelope of every artifact. The first bytes are `CAIRN`, the kind, and the version. The remaining
//! bytes are one zstd frame with a checksum.
//!
//! If the format of an artifact changes, the version of its kind is increased. The code can still read the
//! older versions.

use crate::codec::{Decode, DecodeError, Encode, Reader};

/// The kind of an artifact.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ArtifactKind {
    SourcePack,
    FactsPack,
    Manifest,
    Plan,
    Patterns,
    OutlinePack,
    LinkState,
    LinkGroup,
    TermCounts,
}

impl ArtifactKind {
    pub const ALL: [ArtifactKind; 9] = [
        ArtifactKind::SourcePack,
        ArtifactKind::FactsPack,
        ArtifactKind::Manifest,
        ArtifactKind::Plan,
        ArtifactKind::Patterns,
        ArtifactKind::OutlinePack,
        ArtifactKind::LinkState,
        ArtifactKind::LinkGroup,
        ArtifactKind::TermCounts,
    ];

    /// The name of the kind in errors and golden files.
    pub fn as_str(self) -> &'static str {
        match self {
            ArtifactKind::SourcePack => "source pack",
            ArtifactKind::FactsPack => "facts pack",
            ArtifactKind::Manifest => "manifest",
            ArtifactKind::Plan => "plan",
            ArtifactKind::Patterns => "list of patterns",
            ArtifactKind::OutlinePack => "outline pack",
            ArtifactKind::LinkState => "link state",
            ArtifactKind::LinkGroup => "link group",
            ArtifactKind::TermCounts => "table of term counts",
        }
    }

    fn number(self) -> u8 {
        match self {
            ArtifactKind::SourcePack => 1,
            ArtifactKind::FactsPack => 2,
            ArtifactKind::Manifest => 3,
            ArtifactKind::Plan => 4,
            // Number 5 is no longer used: earlier builds used it for a link summary that was not divided into
            // groups.
            ArtifactKind::Patterns => 6,
            ArtifactKind::OutlinePack => 7,
            ArtifactKind::LinkState => 8,
            ArtifactKind::LinkGroup => 9,
            ArtifactKind::TermCounts => 10,
        }
    }

    /// The version that this build writes.
    pub fn version(self) -> u8 {
        match self {
            ArtifactKind::Manifest => 4,
            ArtifactKind::Plan | ArtifactKind::TermCounts => 2,
            _ => 1,
        }
    }
}

pub(crate) const HEADER_BYTES: usize = 7;

pub(crate) fn put_header(kind: ArtifactKind, out: &mut Vec<u8>) {
    out.extend_from_slice(b"CAIRN");
    out.push(kind.number());
    out.push(kind.version());
}

pub(crate) fn check_header(kind: ArtifactKind, bytes: &[u8]) -> Result<&[u8], DecodeError> {
    let mut reader = Reader(bytes);
    if reader.take(5, "the mark CAIRN")? != b"CAIRN" {
        return reader.fail("the mark CAIRN");
    }
    let found = reader.take(1, "an artifact's kind")?[0];
    if found != kind.number() {
        return Err(DecodeError::OtherKind { wanted: kind.as_str(), found });
    }
    let found = reader.take(1, "a version")?[0];
    // A newer version of a kind adds fields at the end, so that one reader can read all versions.
    if !(1..=kind.version()).contains(&found) {
        return Err(DecodeError::UnknownVersion { kind: kind.as_str(), found, newest: kind.version() });
    }
    Ok(reader.0)
}

/// Encodes one value as an artifact.
pub fn encode(kind: ArtifactKind, value: &impl Encode) -> Vec<u8> {
    let mut body = Vec::new();
    value.encode(&mut body);
    let mut out = Vec::with_capacity(HEADER_BYTES + body.len() / 3);
    put_header(kind, &mut out);
    out.extend_from_slice(&compress(&body));
    out
}

/// Decodes an artifact that contains one value. Further bytes after the value are an error.
pub fn decode<T: Decode>(kind: ArtifactKind, bytes: &[u8]) -> Result<T, DecodeError> {
    let body = decompress(check_header(kind, bytes)?)?;
    let mut reader = Reader(&body);
    let value = T::decode(&mut reader)?;
    if reader.0.is_empty() { Ok(value) } else { reader.fail("the end of the artifact") }
}

/// Compression level. In a measurement with source text, level 1 reduced the size to a quarter and was ten
/// times as fast as level 9.
const LEVEL: i32 = 1;

pub(crate) fn compress(body: &[u8]) -> Vec<u8> {
    let compress = || {
        let mut compressor = zstd::bulk::Compressor::new(LEVEL)?;
        compressor.include_checksum(true)?;
        compressor.compress(body)
    };
    compress().expect("compressing to memory has no failure but exhausted memory")
}

pub(crate) fn decompress(frame: &[u8]) -> Result<Vec<u8>, DecodeError> {
    zstd::stream::decode_all(frame).or_else(|_| Reader(frame).fail("a valid zstd frame"))
}
