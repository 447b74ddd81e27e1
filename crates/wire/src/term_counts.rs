//! Encodes and decodes term counts.
//!
//! Terms are hashes, so the differences between sorted terms are small numbers that cannot be compressed
//! further. The counts, however, are mostly 1 and can be compressed. Therefore the differences and the counts
//! are two separate lists.

use cairn_domain::{TermCounts, WordPair};

use crate::codec::{Decode, DecodeError, Encode, Reader};

impl Encode for TermCounts {
    fn encode(&self, out: &mut Vec<u8>) {
        let TermCounts { num_chunks, terms, pairs } = self;
        num_chunks.encode(out);
        let mut previous = 0;
        let difference = |(term, _): &(u32, i32)| term.wrapping_sub(std::mem::replace(&mut previous, *term));
        terms.iter().map(difference).collect::<Vec<u32>>().encode(out);
        terms.iter().map(|(_, count)| i64::from(*count)).collect::<Vec<i64>>().encode(out);
        pairs.iter().map(|(pair, _)| pair.clone()).collect::<Vec<WordPair>>().encode(out);
        pairs.iter().map(|(_, count)| i64::from(*count)).collect::<Vec<i64>>().encode(out);
    }
}

impl Encode for WordPair {
    fn encode(&self, out: &mut Vec<u8>) {
        let WordPair { word, other } = self;
        word.encode(out);
        other.encode(out);
    }
}

impl Decode for WordPair {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(Self { word: Decode::decode(reader)?, other: Decode::decode(reader)? })
    }
}

/// Decodes both versions. Version 1 ends after the counts of the terms.
impl Decode for TermCounts {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let num_chunks = Decode::decode(reader)?;
        let (differences, counts): (Vec<u32>, Vec<i64>) = (Decode::decode(reader)?, Decode::decode(reader)?);
        if differences.len() != counts.len() || differences.iter().skip(1).any(|difference| *difference == 0) {
            return reader.fail("as many counts as different terms");
        }
        let mut term = 0_u32;
        let mut terms = Vec::with_capacity(counts.len());
        for (difference, count) in differences.into_iter().zip(counts) {
            let (Some(next), Ok(count)) = (term.checked_add(difference), i32::try_from(count)) else {
                return reader.fail("terms in ascending order with counts of 32 bits");
            };
            term = next;
            terms.push((term, count));
        }
        let pairs = if reader.0.is_empty() { Vec::new() } else { pairs(reader)? };
        Ok(TermCounts { num_chunks, terms, pairs })
    }
}

fn pairs(reader: &mut Reader<'_>) -> Result<Vec<(WordPair, i32)>, DecodeError> {
    let (pairs, counts): (Vec<WordPair>, Vec<i64>) = (Decode::decode(reader)?, Decode::decode(reader)?);
    let counts: Result<Vec<i32>, _> = counts.into_iter().map(i32::try_from).collect();
    match counts {
        Ok(counts) if counts.len() == pairs.len() && pairs.is_sorted_by(|left, right| left < right) => {
            Ok(pairs.into_iter().zip(counts).collect())
        }
        _ => reader.fail("pairs in ascending order with counts of 32 bits"),
    }
}
