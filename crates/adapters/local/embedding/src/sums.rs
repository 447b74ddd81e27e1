//! Computes weighted sums of rows. The inner loop has one variant for each instruction set.
//!
//! All variants add the same integers, so their results are identical.

/// Number of dimensions of a vector. The number is a compile-time constant, because the inner loop must be
/// fast.
pub(crate) const DIMENSIONS: usize = 256;

/// The variant of the loop for this processor.
#[derive(Clone, Copy)]
pub(crate) struct Sum {
    #[cfg(target_arch = "x86_64")]
    has_avx2: bool,
}

impl Sum {
    pub(crate) fn detect() -> Self {
        Self {
            #[cfg(target_arch = "x86_64")]
            has_avx2: std::arch::is_x86_feature_detected!("avx2"),
        }
    }

    /// Sums up the rows, each multiplied by its weight. The elements of rows are signed bytes, and weights
    /// are less than 2^15.
    pub(crate) fn of(self, shares: &[i32], rows: &[&[u8; DIMENSIONS]]) -> [i32; DIMENSIONS] {
        #[cfg(target_arch = "x86_64")]
        if self.has_avx2 {
            // SAFETY: `detect` found that the processor has AVX2.
            return unsafe { sum_avx2(shares, rows) };
        }
        sum_portable(shares, rows)
    }
}

/// Adds four rows at a time, so that the sum is read and written once for four rows.
#[inline(always)]
fn sum_portable(shares: &[i32], rows: &[&[u8; DIMENSIONS]]) -> [i32; DIMENSIONS] {
    let mut sum = [0; DIMENSIONS];
    let (share_blocks, last_shares) = shares.as_chunks::<4>();
    let (row_blocks, last_rows) = rows.as_chunks::<4>();
    for (shares, rows) in share_blocks.iter().zip(row_blocks) {
        for dimension in 0..DIMENSIONS {
            let element = |row: usize| shares[row] * i32::from(rows[row][dimension].cast_signed());
            sum[dimension] += element(0) + element(1) + element(2) + element(3);
        }
    }
    for (share, row) in last_shares.iter().zip(last_rows) {
        for (element, byte) in sum.iter_mut().zip(*row) {
            *element += share * i32::from(byte.cast_signed());
        }
    }
    sum
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn sum_avx2(shares: &[i32], rows: &[&[u8; DIMENSIONS]]) -> [i32; DIMENSIONS] {
    sum_portable(shares, rows)
}

/// Computes dot products of rows with the fastest instructions of this processor.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Dots {
    #[cfg(target_arch = "x86_64")]
    has_avx2: bool,
}

impl Dots {
    pub(crate) fn detect() -> Self {
        Self {
            #[cfg(target_arch = "x86_64")]
            has_avx2: std::arch::is_x86_feature_detected!("avx2"),
        }
    }

    #[inline]
    pub(crate) fn of(self, left: &[u8; DIMENSIONS], right: &[u8; DIMENSIONS]) -> i32 {
        #[cfg(target_arch = "x86_64")]
        if self.has_avx2 {
            // SAFETY: `detect` found that the processor has AVX2.
            return unsafe { dot_avx2(left, right) };
        }
        dot_portable(left, right)
    }
}

/// The products of two elements fit in 16 bits, and the sum of 256 products fits in 32 bits.
#[inline(always)]
fn dot_portable(left: &[u8; DIMENSIONS], right: &[u8; DIMENSIONS]) -> i32 {
    let mut sum = 0;
    for (left, right) in left.iter().zip(right) {
        sum += i32::from(i16::from(left.cast_signed()) * i16::from(right.cast_signed()));
    }
    sum
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
fn dot_avx2(left: &[u8; DIMENSIONS], right: &[u8; DIMENSIONS]) -> i32 {
    dot_portable(left, right)
}

/// Prefetches a row, because the table does not fit into the processor's first-level caches.
#[inline]
pub(crate) fn prefetch(row: &[u8; DIMENSIONS]) {
    #[cfg(target_arch = "x86_64")]
    for line in row.as_chunks::<64>().0 {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        // SAFETY: this is a prefetch hint for an address within the row. The program reads no memory.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(line.as_ptr().cast()) };
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = row;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_implementations_give_the_same_dot_product() {
        let rows: [[u8; DIMENSIONS]; 3] = [
            std::array::from_fn(|index| index as u8),
            std::array::from_fn(|index| 255 - index as u8),
            [0x80; DIMENSIONS],
        ];
        for left in &rows {
            for right in &rows {
                let expect: i32 =
                    left.iter().zip(right).map(|(left, right)| i32::from(*left as i8) * i32::from(*right as i8)).sum();
                assert_eq!((Dots::detect().of(left, right), dot_portable(left, right)), (expect, expect));
            }
        }
    }

    #[test]
    fn all_implementations_give_the_same_sum() {
        let up: [u8; DIMENSIONS] = std::array::from_fn(|index| index as u8);
        let down: [u8; DIMENSIONS] = std::array::from_fn(|index| 255 - index as u8);
        let shares = [1, 77, 30_000, 0, 5, 30_000, 9];
        for count in 0..=shares.len() {
            let rows: Vec<&[u8; DIMENSIONS]> = [&up, &down].into_iter().cycle().take(count).collect();
            let found = Sum::detect().of(&shares[..count], &rows);
            assert_eq!(found, sum_portable(&shares[..count], &rows));
            let expect: i32 =
                shares[..count].iter().zip([1, -2].into_iter().cycle()).map(|(share, byte)| share * byte).sum();
            assert_eq!(found[1], expect);
        }
    }
}
