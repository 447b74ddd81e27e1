//! Encodes the list of the files that contain a trigram.
//!
//! A list that contains all files of the layer is encoded as zero bytes. In other lists, the distances
//! between the numbers of the files are written as Golomb-Rice codes: the low bits of the distance, and the
//! rest in unary code. The number of low bits is computed from the number of files, so it is not stored.
//! Frequent trigrams need about one bit for each file of the layer, and rare trigrams two bytes for each file
//! in the list.

/// The number of low bits that gives short codes for the mean distance in the list.
fn low_bits(num_listed: usize, num_files: usize) -> u32 {
    let typical_distance = (num_files * 11 / 16) / num_listed.max(1);
    typical_distance.checked_ilog2().unwrap_or(0)
}

/// Appends the list. `listed` is sorted and contains no number twice.
pub(crate) fn put(listed: &[u32], num_files: usize, out: &mut Vec<u8>) {
    if listed.len() == num_files {
        return;
    }
    let low_bits = low_bits(listed.len(), num_files);
    let (mut word, mut num_bits) = (0_u64, 0_u32);
    let mut push = |value: u64, count: u32, out: &mut Vec<u8>| {
        word |= value << num_bits;
        num_bits += count;
        while num_bits >= 8 {
            out.push(word as u8);
            word >>= 8;
            num_bits -= 8;
        }
    };
    let mut next = 0;
    for number in listed {
        let distance = number - next;
        next = number + 1;
        push(u64::from(distance & ((1 << low_bits) - 1)), low_bits, out);
        for _ in 0..distance >> low_bits {
            push(1, 1, out);
        }
        push(0, 1, out);
    }
    // The last byte is filled with zeros.
    push(0, 7, out);
}

/// Reads a list with this number of entries. `None` if the bytes are damaged.
pub(crate) fn read(bytes: &[u8], num_listed: usize, num_files: usize) -> Option<Vec<u32>> {
    if num_listed > num_files {
        return None;
    }
    if num_listed == num_files {
        return Some((0..num_files as u32).collect());
    }
    let low_bits = low_bits(num_listed, num_files);
    let mut bits = Bits { bytes, position: 0 };
    let mut listed = Vec::with_capacity(num_listed);
    let mut next = 0_u32;
    for _ in 0..num_listed {
        let low = bits.take(low_bits)?;
        let high = bits.take_unary()?;
        let number = next.checked_add(high.checked_shl(low_bits)? | low)?;
        if number as usize >= num_files {
            return None;
        }
        listed.push(number);
        next = number + 1;
    }
    Some(listed)
}

struct Bits<'a> {
    bytes: &'a [u8],
    /// Position in the list, in bits.
    position: usize,
}

impl Bits<'_> {
    /// At least 56 bits, starting at the position. Bits after the end are zeros.
    fn word(&self) -> u64 {
        let rest = self.bytes.get(self.position / 8..).unwrap_or_default();
        let word = match rest.first_chunk::<8>() {
            Some(bytes) => u64::from_le_bytes(*bytes),
            None => {
                let mut bytes = [0; 8];
                bytes[..rest.len()].copy_from_slice(rest);
                u64::from_le_bytes(bytes)
            }
        };
        word >> (self.position % 8)
    }

    fn take(&mut self, count: u32) -> Option<u32> {
        let value = (self.word() & ((1 << count) - 1)) as u32;
        self.position += count as usize;
        (self.position <= self.bytes.len() * 8).then_some(value)
    }

    fn take_unary(&mut self) -> Option<u32> {
        let mut count = 0;
        loop {
            let ones = self.word().trailing_ones().min(56);
            count += ones;
            self.position += ones as usize;
            if ones < 56 {
                self.position += 1;
                return (self.position <= self.bytes.len() * 8).then_some(count);
            }
            if self.position > self.bytes.len() * 8 {
                return None;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(listed: &[u32], num_files: usize) -> usize {
        let mut bytes = Vec::new();
        put(listed, num_files, &mut bytes);
        assert_eq!(read(&bytes, listed.len(), num_files).as_deref(), Some(listed), "{num_files}");
        bytes.len()
    }

    #[test]
    fn lists_are_read_as_written() {
        assert_eq!(check(&[0, 1, 2], 3), 0);
        check(&[0], 1_000_000);
        check(&[999_999], 1_000_000);
        check(&[0, 999_999], 1_000_000);
        check(&(0..999).collect::<Vec<_>>(), 1_000);
        check(&(900..1_000).collect::<Vec<_>>(), 1_000);
        let num_bytes = check(&(0..1_000).step_by(10).collect::<Vec<_>>(), 1_000);
        assert!(num_bytes <= 64, "{num_bytes}");
    }

    proptest::proptest! {
        #[test]
        fn random_lists_are_read_as_written(
            listed in proptest::collection::btree_set(0_u32..5_000, 0..400),
            more in 0_usize..100_000,
        ) {
            let listed: Vec<u32> = listed.into_iter().collect();
            check(&listed, listed.last().map_or(0, |last| *last as usize + 1) + more);
        }

        #[test]
        fn damaged_lists_cause_no_panic(
            bytes in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..40),
            num_listed in 0_usize..100,
            num_files in 0_usize..10_000,
        ) {
            let _ = read(&bytes, num_listed, num_files);
        }
    }
}
