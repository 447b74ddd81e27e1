//! Standardises values, so that values of different kinds can be added.
//!
//! A standardised value is the distance from the mean, divided by the standard deviation. The shares and the
//! ranks of a list are compared with its best value, so they are nearly equal in the middle of the list, where
//! most answers are. Standardised values separate the values there, too.

/// The number 1 among standardised values, which are counted in thousandths.
pub(crate) const STANDARD: i64 = 1_000;
/// Larger distances from the mean are treated as this distance, so that a single value cannot decide alone.
const MAX_DISTANCE: i64 = 6 * STANDARD;

/// The standardised values, in thousandths, between -6 and 6. All results are 0 if all values are equal.
///
/// `slack` is added to the standard deviation. It has the unit of the values. With it, small differences
/// between values that are almost equal stay small.
pub(crate) fn standardised(values: &[i64], slack: i64) -> Vec<i64> {
    let scaled: Vec<i128> = values.iter().map(|value| i128::from(*value) * i128::from(STANDARD)).collect();
    let count = scaled.len().max(1) as i128;
    let mean = scaled.iter().sum::<i128>() / count;
    let variance = scaled.iter().map(|value| (value - mean) * (value - mean)).sum::<i128>() / count;
    let deviation = variance.isqrt() + i128::from(slack) * i128::from(STANDARD);
    if deviation == 0 {
        return vec![0; values.len()];
    }
    let most = i128::from(MAX_DISTANCE);
    let distance = |value: &i128| ((value - mean) * i128::from(STANDARD) / deviation).clamp(-most, most) as i64;
    scaled.iter().map(distance).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(values: &[i64], slack: i64, expect: &[i64]) {
        assert_eq!(standardised(values, slack), expect, "{values:?} {slack}");
    }

    #[test]
    fn distances_are_divided_by_the_standard_deviation() {
        check(&[], 0, &[]);
        check(&[7], 0, &[0]);
        check(&[7, 7, 7], 0, &[0, 0, 0]);
        check(&[1, 3], 0, &[-1_000, 1_000]);
        // The mean is 5 and the standard deviation is 2.
        check(&[2, 4, 4, 4, 5, 5, 7, 9], 0, &[-1_500, -500, -500, -500, 0, 0, 1_000, 2_000]);
        check(&[2, 4, 4, 4, 5, 5, 7, 9], 2, &[-750, -250, -250, -250, 0, 0, 500, 1_000]);
        check(&[-160_000, 160_000], 0, &[-1_000, 1_000]);
    }

    #[test]
    fn single_large_value_is_limited() {
        let mut values = vec![0; 99];
        values.push(1_000);
        let found = standardised(&values, 0);
        assert_eq!((found[0], found[99]), (-100, 6_000));
    }

    proptest! {
        #[test]
        fn standardised_values_keep_the_order(values in prop::collection::vec(-1_000_000i64..1_000_000, 1..20)) {
            let found = standardised(&values, 0);
            for (left, right) in values.iter().zip(&found) {
                for (other_left, other_right) in values.iter().zip(&found) {
                    prop_assert!(left > other_left || right <= other_right);
                }
            }
            prop_assert!(found.iter().all(|value| value.abs() <= MAX_DISTANCE));
        }
    }
}
