//! Computes logarithms and fractions with integers only. The last bit of a logarithm that libm computes
//! depends on the platform, but numbers that are stored or that affect the ranking must be equal on all
//! platforms.

/// Computes `log2(numerator / denominator)` in units of `2^-fraction_bits`, rounded down.
///
/// The result is 0 if the ratio is below 1. `denominator` must not be 0. `fraction_bits` is at most 16.
pub(crate) fn log2_of_ratio(numerator: u64, denominator: u64, fraction_bits: u32) -> u32 {
    if numerator <= denominator {
        return 0;
    }
    let ratio = (u128::from(numerator) << 62) / u128::from(denominator);
    let whole_bits = ratio.ilog2() - 62;
    let mut mantissa = (ratio >> whole_bits) as u64;
    let mut logarithm = whole_bits;
    for _ in 0..fraction_bits {
        // The mantissa is in [1, 2) with 62 fraction bits. The integer bit of its square is the next bit of
        // the result.
        let square = (u128::from(mantissa) * u128::from(mantissa)) >> 62;
        let bit = (square >> 63) as u32;
        mantissa = (square >> bit) as u64;
        logarithm = logarithm << 1 | bit;
    }
    logarithm
}

/// The number 1 in millionths, the unit of ranking points.
pub(crate) const ONE: u64 = 1_000_000;

/// `part / whole` in millionths, between 0 and 1. If `whole` is not positive, the result is 0.
pub(crate) fn share(part: i64, whole: i64) -> u64 {
    if whole <= 0 {
        return 0;
    }
    let part = u128::from(part.clamp(0, whole).unsigned_abs());
    (part * u128::from(ONE) / u128::from(whole.unsigned_abs())) as u64
}

/// `points · factor`, where all values are in millionths.
pub(crate) fn times(points: u64, factor: u64) -> u64 {
    (u128::from(points) * u128::from(factor) / u128::from(ONE)) as u64
}

/// `points / divisor`, where all values are in millionths. The result is 0 if the divisor is 0.
pub(crate) fn over(points: u64, divisor: u64) -> u64 {
    (u128::from(points) * u128::from(ONE)).checked_div(u128::from(divisor)).unwrap_or(0) as u64
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn logarithms_have_known_values() {
        for (numerator, denominator, expect) in
            [(1, 1, 0), (1, 2, 0), (2, 1, 16), (4, 1, 32), (3, 1, 25), (3, 2, 9), (u64::MAX, 1, 1023), (8, 0x8000, 0)]
        {
            assert_eq!(log2_of_ratio(numerator, denominator, 4), expect, "{numerator}/{denominator}");
        }
    }

    proptest! {
        #[test]
        fn logarithms_agree_with_floats(numerator in 1u64..1 << 40, denominator in 1u64..1 << 40) {
            let exact = (numerator as f64 / denominator as f64).log2().max(0.0) * 1024.0;
            let found = f64::from(log2_of_ratio(numerator, denominator, 10));
            prop_assert!(found <= exact + 1e-6 && exact < found + 1.0 + 1e-6, "{found} {exact}");
        }
    }
}
