//! Computes dot products of integer vectors with the fastest instructions of the processor.
//!
//! Every kernel returns the same integers: products of bytes are summed in 32 bits, which cannot overflow up
//! to 65,535 dimensions. A test compares the kernels.

/// The instruction set that a dot product uses.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kernel {
    Portable,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Avx512,
}

impl Kernel {
    /// The fastest kernel of this processor.
    pub(crate) fn best() -> Self {
        *Self::available().last().unwrap_or(&Kernel::Portable)
    }

    /// The kernels that this processor can run, in ascending order of speed.
    pub(crate) fn available() -> Vec<Self> {
        #[cfg_attr(not(target_arch = "x86_64"), expect(unused_mut, reason = "other processors have one kernel"))]
        let mut kernels = vec![Kernel::Portable];
        #[cfg(target_arch = "x86_64")]
        {
            if is_x86_feature_detected!("avx2") {
                kernels.push(Kernel::Avx2);
            }
            if is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512vnni") {
                kernels.push(Kernel::Avx512);
            }
        }
        kernels
    }
}

/// The vector of a query, prepared for the kernels.
pub(crate) struct QueryVector {
    kernel: Kernel,
    bytes: Vec<i8>,
    /// The elements of the vector as 16-bit integers.
    words: Vec<i16>,
    sum: i32,
}

impl QueryVector {
    pub(crate) fn new(kernel: Kernel, vector: &[i8]) -> Self {
        let words: Vec<i16> = vector.iter().map(|value| i16::from(*value)).collect();
        let sum = vector.iter().map(|value| i32::from(*value)).sum();
        Self { kernel, bytes: vector.to_vec(), words, sum }
    }

    pub(crate) fn dimensions(&self) -> usize {
        self.bytes.len()
    }

    /// Computes the dot product with each row of `matrix`. `scores` has one element for each row.
    pub(crate) fn score_rows(&self, matrix: &[u8], scores: &mut [i32]) {
        assert_eq!(matrix.len(), scores.len() * self.dimensions(), "the matrix has the question's dimensions");
        match self.kernel {
            Kernel::Portable => self.portable(matrix, scores),
            // SAFETY: `available` lists a kernel only if the processor has its instructions.
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx2 => unsafe { self.avx2(matrix, scores) },
            // SAFETY: `available` lists this kernel only if the processor has AVX-512F and VNNI.
            #[cfg(target_arch = "x86_64")]
            Kernel::Avx512 => unsafe { self.avx512(matrix, scores) },
        }
    }

    fn portable(&self, matrix: &[u8], scores: &mut [i32]) {
        for (row, score) in matrix.chunks_exact(self.dimensions().max(1)).zip(scores) {
            *score = dot(row, &self.words);
        }
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn avx2(&self, matrix: &[u8], scores: &mut [i32]) {
        use std::arch::x86_64::{
            _mm_loadu_si128, _mm256_add_epi32, _mm256_cvtepi8_epi16, _mm256_loadu_si256, _mm256_madd_epi16,
            _mm256_setzero_si256, _mm256_storeu_si256,
        };
        let (words, rest) = self.words.as_chunks::<16>();
        for (row, score) in matrix.chunks_exact(self.dimensions().max(1)).zip(scores) {
            let (blocks, tail) = row.as_chunks::<16>();
            let mut sums = _mm256_setzero_si256();
            for (block, words) in blocks.iter().zip(words) {
                // SAFETY: the two arrays have 16 and 32 bytes, and exactly these bytes are loaded; no
                // alignment is needed.
                let (block, words) =
                    unsafe { (_mm_loadu_si128(block.as_ptr().cast()), _mm256_loadu_si256(words.as_ptr().cast())) };
                sums = _mm256_add_epi32(sums, _mm256_madd_epi16(_mm256_cvtepi8_epi16(block), words));
            }
            let mut lanes = [0i32; 8];
            // SAFETY: the array has the 32 bytes that are stored.
            unsafe { _mm256_storeu_si256(lanes.as_mut_ptr().cast(), sums) };
            *score = lanes.iter().sum::<i32>() + dot(tail, rest);
        }
    }

    /// The instruction multiplies unsigned bytes by signed bytes. So 128 is added to each element of the
    /// rows, and 128 times the sum of the query's elements is subtracted from the result.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512f,avx512vnni")]
    fn avx512(&self, matrix: &[u8], scores: &mut [i32]) {
        use std::arch::x86_64::{
            _mm512_dpbusd_epi32, _mm512_loadu_si512, _mm512_reduce_add_epi32, _mm512_set1_epi8, _mm512_setzero_si512,
            _mm512_xor_si512,
        };
        let (bytes, rest) = self.bytes.as_chunks::<64>();
        let raised_by = 128 * (self.sum - rest.iter().map(|value| i32::from(*value)).sum::<i32>());
        let rest = &self.words[self.words.len() - rest.len()..];
        let sign = _mm512_set1_epi8(i8::MIN);
        for (row, score) in matrix.chunks_exact(self.dimensions().max(1)).zip(scores) {
            let (blocks, tail) = row.as_chunks::<64>();
            let mut sums = _mm512_setzero_si512();
            for (block, bytes) in blocks.iter().zip(bytes) {
                // SAFETY: both arrays have the 64 bytes that are loaded; no alignment is needed.
                let (block, bytes) =
                    unsafe { (_mm512_loadu_si512(block.as_ptr().cast()), _mm512_loadu_si512(bytes.as_ptr().cast())) };
                sums = _mm512_dpbusd_epi32(sums, _mm512_xor_si512(block, sign), bytes);
            }
            *score = _mm512_reduce_add_epi32(sums) - raised_by + dot(tail, rest);
        }
    }
}

fn dot(row: &[u8], words: &[i16]) -> i32 {
    row.iter().zip(words).map(|(value, word)| i32::from(*value as i8) * i32::from(*word)).sum()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn scores(kernel: Kernel, matrix: &[u8], question: &[i8], num_rows: usize) -> Vec<i32> {
        let mut scores = vec![0; num_rows];
        QueryVector::new(kernel, question).score_rows(matrix, &mut scores);
        scores
    }

    #[test]
    fn extremes_do_not_overflow() {
        for kernel in Kernel::available() {
            for (value, word, expect) in [(-128i8, -128i8, 16_384), (127, -128, -16_256), (-127, 127, -16_129)] {
                let found = scores(kernel, &[value as u8; 4096], &[word; 4096], 1);
                assert_eq!(found, [4096 * expect], "{kernel:?}");
            }
        }
    }

    proptest! {
        #[test]
        fn all_kernels_give_the_same_products(
            (question, matrix) in (1usize..300).prop_flat_map(|dimensions| (
                prop::collection::vec(any::<i8>(), dimensions),
                prop::collection::vec(any::<u8>(), dimensions * 3),
            )),
        ) {
            let exact: Vec<i32> = matrix
                .chunks_exact(question.len())
                .map(|row| row.iter().zip(&question).map(|(a, b)| i32::from(*a as i8) * i32::from(*b)).sum())
                .collect();
            for kernel in Kernel::available() {
                prop_assert_eq!(scores(kernel, &matrix, &question, 3), exact.clone(), "{:?}", kernel);
            }
        }
    }
}
