//! The first bytes of every artifact: `CAIRN`, its kind, its version. The rest is one zstd frame with a checksum.

use crate::codec::{Decode, DecodeError, Encode, Reader};

/// What an artifact is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ArtifactKind {
    SourcePack,
    FactsPack,
    Manifest,
    Plan,
    Links,
    Patterns,
    Vectors,
}

impl ArtifactKind {
    fn number(self) -> u8 {
        match self {
            ArtifactKind::SourcePack => 1,
            ArtifactKind::FactsPack => 2,
            ArtifactKind::Manifest => 3,
            ArtifactKind::Plan => 4,
            ArtifactKind::Links => 5,
            ArtifactKind::Patterns => 6,
            ArtifactKind::Vectors => 7,
        }
    }

    /// The version that is written today.
    fn version(self) -> u8 {
        1
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
    if reader.take(1, "an artifact's kind")?[0] != kind.number() {
        return reader.fail("an artifact of another kind");
    }
    if reader.take(1, "a version")?[0] != kind.version() {
        return reader.fail("a version that this build can read");
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

/// Decodes an artifact of one value; nothing may follow it.
pub fn decode<T: Decode>(kind: ArtifactKind, bytes: &[u8]) -> Result<T, DecodeError> {
    let body = decompress(check_header(kind, bytes)?)?;
    let mut reader = Reader(&body);
    let value = T::decode(&mut reader)?;
    if reader.0.is_empty() { Ok(value) } else { reader.fail("the end of the artifact") }
}

/// Level 1: measured on source text, a quarter of the size at ten times the speed of level 9.
const LEVEL: i32 = 1;

pub(crate) fn compress(body: &[u8]) -> Vec<u8> {
    zstd::bulk::compress(body, LEVEL).expect("compressing to memory has no failure but exhausted memory")
}

pub(crate) fn decompress(frame: &[u8]) -> Result<Vec<u8>, DecodeError> {
    zstd::stream::decode_all(frame).map_err(|_| DecodeError { expected: "a sound zstd frame", bytes_left: frame.len() })
}
