//! The codec of term counts.
//!
//! Terms are hashes, so their differences are small numbers that cannot be compressed further, and their
//! counts are mostly 1. Therefore the differences and the counts are two separate lists.

use cairn_domain::TermCounts;

use crate::codec::{Decode, DecodeError, Encode, Reader};

impl Encode for TermCounts {
    fn encode(&self, out: &mut Vec<u8>) {
        let TermCounts { num_chunks, terms } = self;
        num_chunks.encode(out);
        let mut previous = 0;
        let difference = |(term, _): &(u32, i32)| term.wrapping_sub(std::mem::replace(&mut previous, *term));
        terms.iter().map(difference).collect::<Vec<u32>>().encode(out);
        terms.iter().map(|(_, count)| i64::from(*count)).collect::<Vec<i64>>().encode(out);
    }
}

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
        Ok(TermCounts { num_chunks, terms })
    }
}
