//! Creates small git packs whose objects are large.

use sha1::{Digest, Sha1};

const BASE_BYTES: usize = 65_535;

/// A pack with one full object of 65,535 bytes, and a chain of deltas that each double the previous object.
/// The pack also contains `num_files` files, which are stored as deltas against the last object of the chain.
/// The first file has `file_bytes` bytes (less than 16 MB), and each following file is one byte larger.
pub fn delta_bomb(num_doublings: u32, num_files: u32, file_bytes: usize) -> Vec<u8> {
    let mut pack = b"PACK".to_vec();
    pack.extend(2u32.to_be_bytes());
    pack.extend((1 + num_doublings + num_files).to_be_bytes());
    let mut offset = pack.len();
    pack.extend(header(3, BASE_BYTES));
    pack.extend(stored(&vec![b'a'; BASE_BYTES]));
    let mut size = BASE_BYTES;
    for _ in 0..num_doublings {
        let here = pack.len();
        add_delta(&mut pack, here - offset, &doubling(size));
        (offset, size) = (here, size * 2);
    }
    for number in 0..num_files {
        let distance = pack.len() - offset;
        add_delta(&mut pack, distance, &start_of(size, file_bytes + number as usize));
    }
    let digest = Sha1::digest(&pack);
    pack.extend(digest);
    pack
}

fn add_delta(pack: &mut Vec<u8>, distance_to_base: usize, delta: &[u8]) {
    pack.extend(header(6, delta.len()));
    pack.extend(distance(distance_to_base));
    pack.extend(stored(delta));
}

/// A delta that copies the first `length` bytes of its base.
fn start_of(base_bytes: usize, length: usize) -> Vec<u8> {
    let mut delta = [varint(base_bytes), varint(length)].concat();
    delta.push(0xf0);
    delta.extend(&(length as u32).to_le_bytes()[..3]);
    delta
}

/// A delta that copies its base twice.
fn doubling(base_bytes: usize) -> Vec<u8> {
    const MAX_COPY_BYTES: usize = 0xff_ffff;
    let mut delta = [varint(base_bytes), varint(2 * base_bytes)].concat();
    for _ in 0..2 {
        for start in (0..base_bytes).step_by(MAX_COPY_BYTES) {
            let length = MAX_COPY_BYTES.min(base_bytes - start);
            delta.push(0xff);
            delta.extend((start as u32).to_le_bytes());
            delta.extend(&(length as u32).to_le_bytes()[..3]);
        }
    }
    delta
}

fn varint(mut value: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    while value >= 0x80 {
        bytes.push((value & 0x7f) as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
    bytes
}

/// The type and the size of an object, as a pack encodes them.
fn header(kind: u8, size: usize) -> Vec<u8> {
    let mut bytes = vec![(kind << 4) | (size & 0x0f) as u8];
    let rest = size >> 4;
    if rest > 0 {
        bytes[0] |= 0x80;
        bytes.extend(varint(rest));
    }
    bytes
}

/// The distance to the base of a delta, as a pack encodes it.
fn distance(mut value: usize) -> Vec<u8> {
    let mut bytes = vec![(value & 0x7f) as u8];
    while value >= 0x80 {
        value = (value >> 7) - 1;
        bytes.insert(0, (value & 0x7f) as u8 | 0x80);
    }
    bytes
}

/// A zlib stream without compression.
fn stored(bytes: &[u8]) -> Vec<u8> {
    let length = u16::try_from(bytes.len()).expect("one block");
    let mut stream = vec![0x78, 0x01, 0x01];
    stream.extend(length.to_le_bytes());
    stream.extend((!length).to_le_bytes());
    stream.extend(bytes);
    let (mut low, mut high) = (1u32, 0u32);
    for byte in bytes {
        low = (low + u32::from(*byte)) % 65_521;
        high = (high + low) % 65_521;
    }
    stream.extend(((high << 16) | low).to_be_bytes());
    stream
}
