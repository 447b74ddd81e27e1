//! Encodes edge lists. A list contains all edges of one source that began with the same generation, and needs
//! about five bytes for each edge.
//!
//! An edge consists of a head byte (kind, resolution, two flags), the target, the line and optional fields.
//! The target and the line are stored as differences from the previous edge. The flags state which optional
//! fields follow: a confidence other than 100, and the site. The key of an edge is a hash of owner, source,
//! kind, target and the ordinal of the site. Only the ordinal is stored, because the list contains the other
//! values. The ordinal is omitted if it equals the number of earlier edges with the same kind and target. A
//! key that is not such a hash is stored completely.
//!
//! A list ends with a checksum, because SQLite has no checksums and a damaged list must not be decoded as
//! different edges.

use cairn_domain::{EdgeKey, EdgeKind, EdgeRecord, Key128, NodeKey, RepositoryId, Resolution};
use cairn_wire::{Decode, DecodeError, Encode, Reader};
use rustc_hash::FxHashMap;

const SITE_FOLLOWS: u8 = 0x40;
const CONFIDENCE_FOLLOWS: u8 = 0x80;
const KIND_BITS: u8 = 4;
const CHECKSUM_BYTES: usize = 4;
/// A key is stored completely if its ordinal exceeds the expected ordinal by at least this number.
const ORDINALS_TRIED: u32 = 16;

/// The part of an edge's key that does not follow from owner, source, kind and target.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Site {
    Ordinal(u32),
    Key(EdgeKey),
}

/// An edge in an edge list.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct ListedEdge {
    pub(crate) kind: EdgeKind,
    pub(crate) target: i64,
    pub(crate) line: u32,
    pub(crate) resolution: Resolution,
    pub(crate) confidence_percent: u8,
    pub(crate) site: Site,
}

impl ListedEdge {
    /// `expected` is the number of earlier edges of the list with the same kind and target.
    pub(crate) fn of(edge: &EdgeRecord, target: i64, expected: u32, sites: &mut Sites) -> Self {
        let ordinal = sites.ordinal(edge, expected);
        Self {
            kind: edge.kind,
            target,
            line: edge.line,
            resolution: edge.resolution,
            confidence_percent: edge.confidence_percent,
            site: ordinal.map_or(Site::Key(edge.key), Site::Ordinal),
        }
    }

    pub(crate) fn key(&self, owner: RepositoryId, source: NodeKey, target: NodeKey) -> EdgeKey {
        match self.site {
            Site::Ordinal(ordinal) => EdgeKey::derive(owner, source, self.kind, target, ordinal),
            Site::Key(key) => key,
        }
    }
}

/// Finds the ordinals of keys, for one source, kind and target at a time. The derived keys are cached. So for
/// any order of the edges, each key is derived about once.
#[derive(Default)]
pub(crate) struct Sites {
    of: Option<(NodeKey, EdgeKind, NodeKey)>,
    known: FxHashMap<EdgeKey, u32>,
    num_known: u32,
}

impl Sites {
    fn ordinal(&mut self, edge: &EdgeRecord, expected: u32) -> Option<u32> {
        let derive = |ordinal| EdgeKey::derive(edge.owner, edge.source, edge.kind, edge.target, ordinal);
        if derive(expected) == edge.key {
            return Some(expected);
        }
        let of = Some((edge.source, edge.kind, edge.target));
        if self.of != of {
            *self = Self { of, ..Self::default() };
        }
        let end = expected + ORDINALS_TRIED;
        self.known.extend((self.num_known..end).map(|ordinal| (derive(ordinal), ordinal)));
        self.num_known = self.num_known.max(end);
        self.known.get(&edge.key).copied()
    }
}

/// Counts the edges of each kind and target. The writer and the reader of a list must count in the same way.
#[derive(Default)]
pub(crate) struct Ordinals(FxHashMap<(EdgeKind, i64), u32>);

impl Ordinals {
    pub(crate) fn next(&mut self, kind: EdgeKind, target: i64) -> u32 {
        let count = self.0.entry((kind, target)).or_default();
        *count += 1;
        *count - 1
    }
}

pub(crate) fn encode(source: i64, edges: &[ListedEdge]) -> Vec<u8> {
    let mut out = Vec::with_capacity(edges.len() * 5);
    let mut ordinals = Ordinals::default();
    let (mut last_target, mut last_line) = (source, 0_i64);
    for edge in edges {
        let head = out.len();
        edge.kind.encode(&mut out);
        edge.resolution.encode(&mut out);
        let resolution = out.pop().unwrap_or_default();
        out[head] |= resolution << KIND_BITS;
        (edge.target - last_target).encode(&mut out);
        (i64::from(edge.line) - last_line).encode(&mut out);
        if edge.confidence_percent != 100 {
            out[head] |= CONFIDENCE_FOLLOWS;
            out.push(edge.confidence_percent);
        }
        let expected = ordinals.next(edge.kind, edge.target);
        if edge.site != Site::Ordinal(expected) {
            out[head] |= SITE_FOLLOWS;
            encode_site(edge.site, &mut out);
        }
        (last_target, last_line) = (edge.target, i64::from(edge.line));
    }
    let checksum = checksum(source, &out);
    out.extend_from_slice(&checksum);
    out
}

/// Computes FNV-1a with 32 bits over the source and the edges. FNV-1a is sufficient, because lists have few
/// bytes and only accidental damage must be detected.
fn checksum(source: i64, edges: &[u8]) -> [u8; CHECKSUM_BYTES] {
    let step = |hash: u32, byte: &u8| (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193);
    source.to_le_bytes().iter().chain(edges).fold(0x811C_9DC5, step).to_le_bytes()
}

fn encode_site(site: Site, out: &mut Vec<u8>) {
    match site {
        Site::Ordinal(ordinal) => (u64::from(ordinal) + 1).encode(out),
        Site::Key(key) => {
            0_u64.encode(out);
            key.0.0.encode(out);
        }
    }
}

pub(crate) fn decode(source: i64, payload: &[u8]) -> Result<Vec<ListedEdge>, DecodeError> {
    let split = payload.len().checked_sub(CHECKSUM_BYTES);
    let (payload, sum) =
        payload.split_at(split.ok_or(DecodeError::Malformed { expected: "a checksum", bytes_left: 0 })?);
    if sum != checksum(source, payload) {
        return Err(DecodeError::Malformed { expected: "the list's checksum", bytes_left: payload.len() });
    }
    let mut reader = Reader(payload);
    let mut edges = Vec::with_capacity(payload.len() / 4);
    let mut ordinals = Ordinals::default();
    let (mut last_target, mut last_line) = (source, 0);
    while !reader.0.is_empty() {
        let edge = decode_edge(&mut reader, &mut ordinals, last_target, last_line)?;
        (last_target, last_line) = (edge.target, i64::from(edge.line));
        edges.push(edge);
    }
    Ok(edges)
}

fn decode_edge(
    reader: &mut Reader<'_>,
    ordinals: &mut Ordinals,
    last_target: i64,
    last_line: i64,
) -> Result<ListedEdge, DecodeError> {
    let head = reader.take(1, "an edge")?[0];
    let kind = EdgeKind::decode(&mut Reader(&[head & ((1 << KIND_BITS) - 1)]))?;
    let resolution = Resolution::decode(&mut Reader(&[(head >> KIND_BITS) & 3]))?;
    let target = last_target.wrapping_add(i64::decode(reader)?);
    let line = u32::try_from(last_line.wrapping_add(i64::decode(reader)?));
    let line = line.or_else(|_| reader.fail("a line"))?;
    let confidence_percent = if head & CONFIDENCE_FOLLOWS != 0 { u8::decode(reader)? } else { 100 };
    let expected = ordinals.next(kind, target);
    let site = if head & SITE_FOLLOWS != 0 { decode_site(reader)? } else { Site::Ordinal(expected) };
    Ok(ListedEdge { kind, target, line, resolution, confidence_percent, site })
}

fn decode_site(reader: &mut Reader<'_>) -> Result<Site, DecodeError> {
    match u64::decode(reader)? {
        0 => Ok(Site::Key(EdgeKey(Key128(Decode::decode(reader)?)))),
        ordinal => match u32::try_from(ordinal - 1) {
            Ok(ordinal) => Ok(Site::Ordinal(ordinal)),
            Err(_) => reader.fail("an ordinal"),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const OWNER: RepositoryId = RepositoryId(Key128([1; 16]));
    const SOURCE: NodeKey = NodeKey(Key128([2; 16]));
    const TARGET: NodeKey = NodeKey(Key128([3; 16]));

    fn record(key: EdgeKey, line: u32, confidence_percent: u8) -> EdgeRecord {
        EdgeRecord {
            key,
            owner: OWNER,
            kind: EdgeKind::Follows,
            source: SOURCE,
            target: TARGET,
            line,
            resolution: Resolution::Ambiguous,
            confidence_percent,
        }
    }

    fn check(records: &[EdgeRecord], num_bytes: usize) {
        let (mut ordinals, mut sites) = (Ordinals::default(), Sites::default());
        let list = |edge| ListedEdge::of(edge, 7, ordinals.next(EdgeKind::Follows, 7), &mut sites);
        let edges: Vec<ListedEdge> = records.iter().map(list).collect();
        let bytes = encode(5, &edges);
        assert_eq!(bytes.len(), num_bytes + CHECKSUM_BYTES);
        let decoded = decode(5, &bytes).expect("what was encoded");
        assert_eq!(decoded, edges);
        for (edge, record) in decoded.iter().zip(records) {
            assert_eq!(edge.key(OWNER, SOURCE, TARGET), record.key);
        }
        for end in 0..bytes.len() {
            assert!(decode(5, &bytes[..end]).is_err(), "a torn list");
        }
        for index in 0..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[index] ^= 0x10;
            assert!(decode(5, &damaged).is_err(), "a changed byte");
        }
    }

    #[test]
    fn keys_of_any_parts_are_read_back() {
        let derived = |ordinal| EdgeKey::derive(OWNER, SOURCE, EdgeKind::Follows, TARGET, ordinal);
        check(&[], 0);
        check(&[record(derived(0), 9, 100), record(derived(1), 12, 100)], 6);
        check(&[record(derived(3), 9, 100)], 4);
        check(&[record(derived(0), 9, 40)], 4);
        check(&[record(derived(0), u32::MAX, 100)], 7);
        check(&[record(EdgeKey(Key128([9; 16])), 9, 100)], 20);
    }

    #[test]
    fn edges_of_one_line_are_read_in_any_order() {
        let derived = |ordinal| EdgeKey::derive(OWNER, SOURCE, EdgeKind::Follows, TARGET, ordinal);
        check(&[2, 0, 1, 3].map(|ordinal| record(derived(ordinal), 9, 100)), 15);
        let mut sites = Sites::default();
        let ordinals = (0..5_000)
            .rev()
            .map(|ordinal| ListedEdge::of(&record(derived(ordinal), 9, 100), 7, 4_990, &mut sites).site);
        assert!(ordinals.eq((0..5_000).rev().map(Site::Ordinal)));
    }
}
