//! Stores texts in compressed form. Rows are packed into blocks, so that similar adjacent rows are compressed
//! together. A read decompresses little more than the rows that it needs.
//!
//! A stream of blocks consists of an index and the data. An index entry has 12 bytes: the first row, the
//! length of the packed bytes, and the end of the compressed frame (u32 each). The packed bytes are the
//! lengths of the rows (u32 each), followed by the rows. Each zstd frame contains a checksum, which every
//! read verifies.

use std::cell::RefCell;
use std::io;

use zstd::bulk::{Compressor, Decompressor};

const ENTRY_BYTES: usize = 12;
/// This level is fast. On source code, the next higher levels save only a few percent.
const COMPRESSION_LEVEL: i32 = 3;
/// Maximum size of a block. Without the limit, a damaged length could allocate all memory.
const MAX_PACKED_BYTES: u32 = 1 << 28;

#[derive(Default, Debug)]
pub(crate) struct EncodedBlocks {
    pub(crate) index: Vec<u8>,
    pub(crate) data: Vec<u8>,
}

/// Packs rows 0, 1, 2 … into blocks of about `block_bytes`.
pub(crate) fn encode<'a>(rows: impl Iterator<Item = &'a [u8]>, block_bytes: usize) -> io::Result<EncodedBlocks> {
    let mut compressor = Compressor::new(COMPRESSION_LEVEL)?;
    compressor.include_checksum(true)?;
    let mut encoded = EncodedBlocks::default();
    let mut pending: Vec<&[u8]> = Vec::new();
    let (mut first_row, mut num_bytes) = (0u32, 0);
    for row in rows {
        pending.push(row);
        num_bytes += row.len();
        if num_bytes >= block_bytes {
            flush(&mut compressor, &mut encoded, first_row, &pending)?;
            first_row += pending.len() as u32;
            pending.clear();
            num_bytes = 0;
        }
    }
    if !pending.is_empty() {
        flush(&mut compressor, &mut encoded, first_row, &pending)?;
    }
    Ok(encoded)
}

fn flush(
    compressor: &mut Compressor<'_>,
    encoded: &mut EncodedBlocks,
    first_row: u32,
    rows: &[&[u8]],
) -> io::Result<()> {
    let mut packed: Vec<u8> = rows.iter().flat_map(|row| (row.len() as u32).to_le_bytes()).collect();
    rows.iter().for_each(|row| packed.extend_from_slice(row));
    encoded.data.extend(compressor.compress(&packed)?);
    for field in [first_row, packed.len() as u32, encoded.data.len() as u32] {
        encoded.index.extend(field.to_le_bytes());
    }
    Ok(())
}

/// A stream of blocks, read in place.
#[derive(Clone, Copy)]
pub(crate) struct Blocks<'a> {
    index: &'a [[u8; ENTRY_BYTES]],
    data: &'a [u8],
    num_rows: u32,
}

#[derive(Clone, Copy)]
struct Entry {
    first_row: u32,
    packed_bytes: u32,
    end: u32,
}

impl<'a> Blocks<'a> {
    /// Returns `None` if the index has an incomplete entry.
    pub(crate) fn new(index: &'a [u8], data: &'a [u8], num_rows: u32) -> Option<Self> {
        let (index, []) = index.as_chunks() else { return None };
        Some(Self { index, data, num_rows })
    }

    fn entry(&self, block: usize) -> Option<Entry> {
        let (fields, _) = self.index.get(block)?.as_chunks::<4>();
        let field = |index: usize| u32::from_le_bytes(fields[index]);
        Some(Entry { first_row: field(0), packed_bytes: field(1), end: field(2) })
    }

    /// The block that contains the row.
    fn block_of(&self, row: u32) -> usize {
        let first_row = |entry: &[u8; ENTRY_BYTES]| u32::from_le_bytes([entry[0], entry[1], entry[2], entry[3]]);
        self.index.partition_point(|entry| first_row(entry) <= row).saturating_sub(1)
    }

    /// Decompresses a block. Returns `None` if the block is damaged.
    fn read(&self, block: usize) -> Option<Block> {
        let entry = self.entry(block)?;
        let start = if block == 0 { 0 } else { self.entry(block - 1)?.end };
        let end_row = self.entry(block + 1).map_or(self.num_rows, |next| next.first_row);
        let frame = self.data.get(start as usize..entry.end as usize)?;
        if entry.packed_bytes > MAX_PACKED_BYTES {
            return None;
        }
        let packed = decompress(frame, entry.packed_bytes as usize).ok()?;
        let num_rows = end_row.checked_sub(entry.first_row)? as usize;
        let lengths = packed.get(..num_rows.checked_mul(4)?)?.as_chunks::<4>().0;
        let mut ends = Vec::with_capacity(num_rows + 1);
        let mut end = 4 * num_rows;
        ends.push(end);
        for length in lengths {
            end = end.checked_add(u32::from_le_bytes(*length) as usize)?;
            ends.push(end);
        }
        (end == packed.len()).then_some(Block { first_row: entry.first_row, packed, ends })
    }
}

thread_local! {
    /// Each thread reuses its decompressor, because creating one takes longer than decompressing a small
    /// block.
    static DECOMPRESSOR: RefCell<Option<Decompressor<'static>>> = const { RefCell::new(None) };
}

fn decompress(frame: &[u8], num_bytes: usize) -> io::Result<Vec<u8>> {
    DECOMPRESSOR.with_borrow_mut(|slot| match slot {
        Some(decompressor) => decompressor.decompress(frame, num_bytes),
        None => slot.insert(Decompressor::new()?).decompress(frame, num_bytes),
    })
}

/// Reads rows one after the other, and caches the last block.
pub(crate) struct BlockReader<'a> {
    blocks: Blocks<'a>,
    current: Option<(usize, Block)>,
}

impl<'a> BlockReader<'a> {
    pub(crate) fn new(blocks: Blocks<'a>) -> Self {
        Self { blocks, current: None }
    }

    /// The bytes of a row. `None` if the block of the row is damaged.
    pub(crate) fn row(&mut self, row: u32) -> Option<&[u8]> {
        let number = self.blocks.block_of(row);
        if self.current.as_ref().is_none_or(|(current, _)| *current != number) {
            self.current = Some((number, self.blocks.read(number)?));
        }
        self.current.as_ref().and_then(|(_, block)| block.row(row))
    }
}

/// A decompressed block.
struct Block {
    first_row: u32,
    packed: Vec<u8>,
    ends: Vec<usize>,
}

impl Block {
    /// The bytes of a row, by its number in the segment. `None` if the block does not contain the row.
    fn row(&self, row: u32) -> Option<&[u8]> {
        let index = row.checked_sub(self.first_row)? as usize;
        self.packed.get(*self.ends.get(index)?..*self.ends.get(index + 1)?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reader<'a>(encoded: &'a EncodedBlocks, data: &'a [u8], num_rows: u32) -> BlockReader<'a> {
        BlockReader::new(Blocks::new(&encoded.index, data, num_rows).expect("fits"))
    }

    #[test]
    fn rows_are_read_back() {
        let rows: Vec<Vec<u8>> = (0..1000usize).map(|row| vec![row as u8; row % 97]).collect();
        for block_bytes in [1, 1000, 1 << 20] {
            let encoded = encode(rows.iter().map(Vec::as_slice), block_bytes).expect("compresses");
            let mut reader = reader(&encoded, &encoded.data, 1000);
            for (number, row) in (0..).zip(&rows) {
                assert_eq!(reader.row(number), Some(row.as_slice()), "{number} in blocks of {block_bytes}");
            }
        }
    }

    #[test]
    fn damaged_block_is_detected() {
        let rows = [b"some text that is long enough".as_slice(), b"and another one"];
        let encoded = encode(rows.into_iter(), 1 << 15).expect("compresses");
        for position in 0..encoded.data.len() {
            let mut data = encoded.data.clone();
            data[position] ^= 1;
            let read = reader(&encoded, &data, 2).row(0).map(<[u8]>::to_vec);
            assert!(read.is_none_or(|read| read == rows[0]), "byte {position}");
        }
        assert!(reader(&encoded, &encoded.data[1..], 2).row(0).is_none());
        assert!(reader(&encoded, &encoded.data, 3).row(0).is_none());
        assert!(Blocks::new(&encoded.index[1..], &encoded.data, 2).is_none());
    }
}
