//! Computes Shannon entropy in integers, so that a threshold gives the same decision on every machine.

/// Maximum number of bytes that are measured. If a value is longer, its remaining bytes are ignored.
const LONGEST: usize = 256;

/// `LOG2[n]` is log2(n) in units of 1/65536 bit.
static LOG2: [u32; LONGEST + 1] = log2_table();

const fn log2_table() -> [u32; LONGEST + 1] {
    let mut table = [0; LONGEST + 1];
    let mut number = 1;
    while number <= LONGEST {
        table[number] = log2(number as u64);
        number += 1;
    }
    table
}

/// Computes log2 by repeated squaring of the mantissa, one binary digit at a time.
const fn log2(number: u64) -> u32 {
    let whole = 63 - number.leading_zeros();
    let mut mantissa = (number << 31) >> whole;
    let mut result = whole;
    let mut digit = 0;
    while digit < 16 {
        mantissa = (mantissa * mantissa) >> 31;
        result <<= 1;
        if mantissa >= 1 << 32 {
            mantissa >>= 1;
            result |= 1;
        }
        digit += 1;
    }
    result
}

/// The entropy of the bytes in hundredths of a bit per byte. The entropy is 0 for `aaaa` and at most 800.
pub(crate) fn centibits(value: &[u8]) -> u32 {
    let value = &value[..value.len().min(LONGEST)];
    if value.is_empty() {
        return 0;
    }
    let mut counts = [0u16; 256];
    for byte in value {
        counts[usize::from(*byte)] += 1;
    }
    let total = value.len();
    let weighted: u64 = counts.iter().map(|count| u64::from(*count) * u64::from(LOG2[usize::from(*count)])).sum();
    let bits = u64::from(LOG2[total]) - weighted / total as u64;
    (bits * 100 / 65536) as u32
}

/// The number of distinct bytes in the value.
pub(crate) fn num_distinct(value: &[u8]) -> usize {
    let mut seen = [false; 256];
    value.iter().filter(|byte| !std::mem::replace(&mut seen[usize::from(**byte)], true)).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(value: &str, expect: u32) {
        assert_eq!(centibits(value.as_bytes()), expect, "{value}");
    }

    #[test]
    fn entropy_is_computed_over_bytes() {
        check("", 0);
        check("aaaaaaaa", 0);
        check("abababab", 100);
        check("abcdefgh", 300);
        check("0123456789abcdef", 400);
        check("aab", 91);
    }

    #[test]
    fn only_beginning_of_long_values_counts() {
        assert_eq!(centibits(&[b'x'; 100_000]), 0);
        assert_eq!(num_distinct(b"abcabc"), 3);
    }
}
