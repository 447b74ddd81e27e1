//! A pack contains many records in one artifact. Each record can be read alone.
//!
//! Records are collected in groups. Each group is one zstd frame, so small files compress as well as large
//! files. Reading one record requires decompressing only one group. The index at the end contains the
//! position and checksum of each group, and the position of each record in its group.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bytes::Bytes;

use crate::codec::{Decode, DecodeError, Encode, Reader, record};
use crate::envelope::{ArtifactKind, HEADER_BYTES, check_header, compress, decompress, put_header};

/// Minimum size of a group before compression. Large groups are suitable for most packs, because their
/// records are read in order.
const GROUP_BYTES: usize = 128 * 1024;
/// Minimum size of a group in a source pack, from which exact search reads single texts. Smaller groups make
/// these reads faster, but the pack becomes larger.
const SOURCE_GROUP_BYTES: usize = 32 * 1024;

#[derive(Clone, PartialEq, Debug)]
struct Group {
    offset: u64,
    size_bytes: u32,
    /// The first eight bytes of the BLAKE3 hash of the compressed frame.
    checksum: [u8; 8],
}
record!(Group { offset, size_bytes, checksum });

#[derive(Clone, PartialEq, Debug)]
struct BlobSpan {
    group: u32,
    offset: u32,
    size_bytes: u32,
}
record!(BlobSpan { group, offset, size_bytes });

struct Index {
    groups: Vec<Group>,
    places: Vec<BlobSpan>,
}
record!(Index { groups, places });

/// Writes a pack record by record.
pub struct PackWriter {
    group_bytes: usize,
    out: Vec<u8>,
    open_group: Vec<u8>,
    index: Index,
    raw_bytes: usize,
}

impl PackWriter {
    pub fn new(kind: ArtifactKind) -> Self {
        let mut out = Vec::new();
        put_header(kind, &mut out);
        let group_bytes = if kind == ArtifactKind::SourcePack { SOURCE_GROUP_BYTES } else { GROUP_BYTES };
        Self {
            group_bytes,
            out,
            open_group: Vec::new(),
            index: Index { groups: Vec::new(), places: Vec::new() },
            raw_bytes: 0,
        }
    }

    /// Adds a record and returns its slot, which is the number of records before it.
    pub fn push(&mut self, record: &impl Encode) -> u32 {
        let start = self.open_group.len();
        record.encode(&mut self.open_group);
        let size_bytes = self.open_group.len() - start;
        let group = self.index.groups.len() as u32;
        self.index.places.push(BlobSpan { group, offset: start as u32, size_bytes: size_bytes as u32 });
        self.raw_bytes += size_bytes;
        if self.open_group.len() >= self.group_bytes {
            self.close_group();
        }
        self.index.places.len() as u32 - 1
    }

    pub fn num_records(&self) -> usize {
        self.index.places.len()
    }

    /// Returns the size of all records before compression.
    pub fn raw_bytes(&self) -> usize {
        self.raw_bytes
    }

    pub fn finish(mut self) -> Vec<u8> {
        self.end_group();
        let mut index = Vec::new();
        self.index.encode(&mut index);
        let index = compress(&index);
        self.out.extend_from_slice(&index);
        self.out.extend_from_slice(&checksum(&index));
        self.out.extend_from_slice(&(index.len() as u64).to_le_bytes());
        self.out
    }

    fn places_in_closed_groups(&self) -> usize {
        let closed = self.index.groups.len() as u32;
        self.index.places.partition_point(|place| place.group < closed)
    }

    /// Ends the current group, so that later records can be read without the earlier records.
    pub fn end_group(&mut self) {
        if !self.open_group.is_empty() || self.index.places.len() > self.places_in_closed_groups() {
            self.close_group();
        }
    }

    fn close_group(&mut self) {
        let frame = compress(&self.open_group);
        self.index.groups.push(Group {
            offset: self.out.len() as u64,
            size_bytes: frame.len() as u32,
            checksum: checksum(&frame),
        });
        self.out.extend_from_slice(&frame);
        self.open_group.clear();
    }
}

fn checksum(bytes: &[u8]) -> [u8; 8] {
    let mut short = [0; 8];
    short.copy_from_slice(&blake3::hash(bytes).as_bytes()[..8]);
    short
}

/// A pack whose records can be read by several threads.
pub struct Pack {
    bytes: Bytes,
    index: Index,
    /// The size of each group before compression.
    group_sizes: Vec<usize>,
    /// Whether the checksum of each group was verified. The bytes do not change, so once is enough.
    is_verified: Vec<AtomicBool>,
}

impl Pack {
    pub fn open(kind: ArtifactKind, bytes: Bytes) -> Result<Self, DecodeError> {
        check_header(kind, &bytes)?;
        let fail = |expected| DecodeError::Malformed { expected, bytes_left: bytes.len() };
        let trailer_at = bytes.len().checked_sub(16).ok_or_else(|| fail("a pack's trailer"))?;
        let mut index_size = [0; 8];
        index_size.copy_from_slice(&bytes[trailer_at + 8..]);
        let index_at = (trailer_at as u64).checked_sub(u64::from_le_bytes(index_size));
        let index_at = index_at.filter(|at| *at >= HEADER_BYTES as u64).ok_or_else(|| fail("a pack's index"))? as usize;
        let frame = &bytes[index_at..trailer_at];
        if checksum(frame) != bytes[trailer_at..trailer_at + 8] {
            return Err(fail("a pack's index that matches its checksum"));
        }
        let index = Index::decode(&mut Reader(&decompress(frame)?))?;
        let mut group_sizes = vec![0; index.groups.len()];
        for place in &index.places {
            let size = group_sizes.get_mut(place.group as usize).ok_or_else(|| fail("a record within a group"))?;
            *size = (*size).max(place.offset as usize + place.size_bytes as usize);
        }
        let is_verified = index.groups.iter().map(|_| AtomicBool::new(false)).collect();
        Ok(Self { bytes, index, group_sizes, is_verified })
    }

    pub fn num_records(&self) -> u32 {
        self.index.places.len() as u32
    }

    /// The approximate memory size of the pack.
    pub fn size_bytes(&self) -> usize {
        self.bytes.len() + 24 * (self.index.groups.len() + self.index.places.len())
    }

    /// Verifies the checksum of a group when it is read for the first time, and decompresses the group.
    fn group(&self, number: u32) -> Result<Vec<u8>, DecodeError> {
        let fail = |expected| DecodeError::Malformed { expected, bytes_left: 0 };
        let group = self.index.groups.get(number as usize).ok_or_else(|| fail("a group of the pack"))?;
        let end = group.offset.checked_add(u64::from(group.size_bytes)).ok_or_else(|| fail("a group's end"))?;
        let range = group.offset as usize..end as usize;
        let frame = self.bytes.get(range).ok_or_else(|| fail("a group within the pack"))?;
        let is_verified = &self.is_verified[number as usize];
        if !is_verified.load(Ordering::Relaxed) {
            if checksum(frame) != group.checksum {
                return Err(fail("a group that matches its checksum"));
            }
            is_verified.store(true, Ordering::Relaxed);
        }
        decompress_sized(frame, self.group_sizes[number as usize])
    }
}

thread_local! {
    /// Decompressors are reused, because creating a decompressor takes as long as decompressing a small
    /// group.
    static DECOMPRESSOR: RefCell<Option<zstd::bulk::Decompressor<'static>>> = const { RefCell::new(None) };
}

/// Decompresses a frame whose content has at most this size.
fn decompress_sized(frame: &[u8], size_bytes: usize) -> Result<Vec<u8>, DecodeError> {
    let decompressed = DECOMPRESSOR.with_borrow_mut(|decompressor| {
        if decompressor.is_none() {
            *decompressor = zstd::bulk::Decompressor::new().ok();
        }
        decompressor.as_mut().and_then(|decompressor| decompressor.decompress(frame, size_bytes).ok())
    });
    // If another build wrote the pack, a group may contain more bytes than its records. Such a group does not
    // fit into `size_bytes`, so it is decompressed without this limit.
    decompressed.map_or_else(|| decompress(frame), Ok)
}

/// Reads records of a pack. The reader keeps the last group in memory, so that each group is decompressed
/// only once if the records are read in order.
pub struct PackReader {
    pack: Arc<Pack>,
    open: Option<(u32, Vec<u8>)>,
}

impl PackReader {
    pub fn open(kind: ArtifactKind, bytes: Bytes) -> Result<Self, DecodeError> {
        Ok(Self::of(Arc::new(Pack::open(kind, bytes)?)))
    }

    pub fn of(pack: Arc<Pack>) -> Self {
        Self { pack, open: None }
    }

    pub fn num_records(&self) -> u32 {
        self.pack.num_records()
    }

    pub fn read<T: Decode>(&mut self, slot: u32) -> Result<T, DecodeError> {
        let fail = |expected| DecodeError::Malformed { expected, bytes_left: 0 };
        let pack = Arc::clone(&self.pack);
        let place = pack.index.places.get(slot as usize).ok_or_else(|| fail("a slot of the pack"))?;
        let group = self.group(place.group)?;
        let end = place.offset as usize + place.size_bytes as usize;
        let record = group.get(place.offset as usize..end).ok_or_else(|| fail("a record within its group"))?;
        let mut reader = Reader(record);
        let value = T::decode(&mut reader)?;
        if reader.0.is_empty() { Ok(value) } else { reader.fail("the end of the record") }
    }

    fn group(&mut self, number: u32) -> Result<&[u8], DecodeError> {
        if self.open.as_ref().is_none_or(|(open, _)| *open != number) {
            self.open = Some((number, self.pack.group(number)?));
        }
        Ok(self.open.as_ref().map_or(&[], |(_, group)| group))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pack(records: &[String]) -> Bytes {
        let mut writer = PackWriter::new(ArtifactKind::SourcePack);
        for record in records {
            writer.push(record);
        }
        Bytes::from(writer.finish())
    }

    #[test]
    fn records_are_read_in_any_order() {
        let records: Vec<String> = (0..300).map(|number| "x".repeat(number * 7)).collect();
        let mut reader = PackReader::open(ArtifactKind::SourcePack, pack(&records)).expect("a sound pack");
        assert_eq!(reader.num_records(), 300);
        for slot in [299, 0, 150, 151, 1] {
            assert_eq!(reader.read::<String>(slot).expect("a record"), records[slot as usize]);
        }
        assert!(reader.read::<String>(300).is_err());
    }

    #[test]
    fn empty_pack_can_be_opened() {
        assert_eq!(
            PackReader::open(ArtifactKind::FactsPack, {
                Bytes::from(PackWriter::new(ArtifactKind::FactsPack).finish())
            })
            .expect("a sound pack")
            .num_records(),
            0
        );
    }

    #[test]
    fn any_damaged_byte_is_noticed() {
        let records: Vec<String> = (0..50).map(|number| format!("record {number} {}", "abc".repeat(number))).collect();
        let sound = pack(&records);
        for position in 0..sound.len() {
            let mut damaged = sound.to_vec();
            damaged[position] ^= 0x55;
            let read = PackReader::open(ArtifactKind::SourcePack, Bytes::from(damaged))
                .and_then(|mut reader| (0..50).map(|slot| reader.read::<String>(slot)).collect::<Result<Vec<_>, _>>());
            assert!(read.is_err(), "byte {position}");
        }
        for length in 0..sound.len() {
            assert!(PackReader::open(ArtifactKind::SourcePack, sound.slice(..length)).is_err(), "length {length}");
        }
    }
}
