//! Converts a sum of integers to a vector of small integers.

use cairn_domain::DenseVector;

use crate::sums::DIMENSIONS;

/// The length to which vectors are scaled before rounding. An element of a unit vector is about 1/16, so most
/// scaled elements are about 25, and few exceed 127 (see the test of the shipped model).
const LENGTH: f64 = 400.0;

/// `clamp(round(s · v / |v|), ±127)`. The sum must not be zero.
///
/// The result is the same on every machine, because the squares are added in a fixed order, and IEEE 754
/// defines square root, division and multiplication exactly.
pub(crate) fn quantize(sum: &[i32; DIMENSIONS]) -> DenseVector {
    let mut squares = 0.0;
    for element in sum {
        squares += f64::from(*element) * f64::from(*element);
    }
    let scale = LENGTH / f64::sqrt(squares);
    DenseVector(sum.iter().map(|element| rounded(f64::from(*element) * scale)).collect())
}

/// Rounds half away from zero. The function adds a half and truncates, because the library's `round` is a
/// function call on old processors.
fn rounded(value: f64) -> i8 {
    let value = (value + 0.5_f64.copysign(value)) as i32;
    value.clamp(-127, 127) as i8
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(elements: &[i32]) -> Vec<i8> {
        let mut sum = [0; DIMENSIONS];
        sum[..elements.len()].copy_from_slice(elements);
        quantize(&sum).0
    }

    #[test]
    fn vectors_have_one_length_and_clamped_elements() {
        assert_eq!(of(&[5])[0], 127);
        assert_eq!(of(&[-5])[0], -127);
        assert_eq!(of(&[1; 256]), [25; 256]);
        assert_eq!(of(&[i32::MAX; 256]), [25; 256]);
        assert_eq!(of(&[i32::MIN; 256]), [-25; 256]);
        assert_eq!(of(&[3; 16])[..17], [[100; 16].as_slice(), &[0]].concat()[..]);
    }

    #[test]
    fn halves_are_rounded_away_from_zero() {
        for (value, expect) in [(0.5, 1), (-0.5, -1), (0.49, 0), (-0.49, 0), (1.5, 2), (200.0, 127), (-200.0, -127)] {
            assert_eq!(rounded(value), expect, "{value}");
        }
    }
}
