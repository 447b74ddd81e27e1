//! Standardises values, so that values of different kinds can be added.
//!
//! A standardised value is the distance from the mean or the median, divided by the standard deviation. The
//! shares and the ranks of a list are relative to its best value, so they are nearly equal in the middle of
//! the list, where most answers are. Standardised values differ even in the middle of the list.

/// The standardised value 1, in thousandths.
pub(crate) const STANDARD: i64 = 1_000;
/// Larger distances are treated as this distance, so that a single value cannot decide alone.
const MAX_DISTANCE: i64 = 4 * STANDARD;
/// Larger distances below the median are treated as this distance, because all values far below the median
/// are equivalent.
const MAX_BELOW_MEDIAN: i64 = STANDARD;

/// The distances from the mean, in thousandths of the standard deviation, limited to 4 standard deviations.
/// All results are 0 if all values are equal.
pub(crate) fn standardised(values: &[i64]) -> Vec<i64> {
    let values = Values::of(values);
    values.distances(values.mean, 0, MAX_DISTANCE)
}

/// The distances from the median, in thousandths of the standard deviation, limited to 1 standard deviation
/// below the median and 4 above.
///
/// `slack` is added to the standard deviation and has the unit of the values. With it, small differences
/// between values that are almost equal stay small.
pub(crate) fn above_median(values: &[i64], slack: i64) -> Vec<i64> {
    let values = Values::of(values);
    values.distances(values.median(), slack, MAX_BELOW_MEDIAN)
}

/// Values with three decimal places.
struct Values {
    scaled: Vec<i128>,
    mean: i128,
    deviation: i128,
}

impl Values {
    fn of(values: &[i64]) -> Self {
        let scaled: Vec<i128> = values.iter().map(|value| i128::from(*value) * i128::from(STANDARD)).collect();
        let count = scaled.len().max(1) as i128;
        let mean = scaled.iter().sum::<i128>() / count;
        let variance = scaled.iter().map(|value| (value - mean) * (value - mean)).sum::<i128>() / count;
        Self { scaled, mean, deviation: variance.isqrt() }
    }

    /// The value in the middle; of two values in the middle, the higher one.
    fn median(&self) -> i128 {
        let mut sorted = self.scaled.clone();
        sorted.sort_unstable();
        sorted.get(sorted.len() / 2).copied().unwrap_or_default()
    }

    fn distances(&self, middle: i128, slack: i64, most_below: i64) -> Vec<i64> {
        let deviation = self.deviation + i128::from(slack) * i128::from(STANDARD);
        if deviation == 0 {
            return vec![0; self.scaled.len()];
        }
        let (least, most) = (-i128::from(most_below), i128::from(MAX_DISTANCE));
        let distance = |value: &i128| ((value - middle) * i128::from(STANDARD) / deviation).clamp(least, most) as i64;
        self.scaled.iter().map(distance).collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn distances_from_the_mean_are_divided_by_the_standard_deviation() {
        let check = |values: &[i64], expect: &[i64]| assert_eq!(standardised(values), expect, "{values:?}");
        check(&[], &[]);
        check(&[7], &[0]);
        check(&[7, 7, 7], &[0, 0, 0]);
        check(&[1, 3], &[-1_000, 1_000]);
        // The mean is 5 and the standard deviation is 2.
        check(&[2, 4, 4, 4, 5, 5, 7, 9], &[-1_500, -500, -500, -500, 0, 0, 1_000, 2_000]);
        check(&[-160_000, 160_000], &[-1_000, 1_000]);
    }

    #[test]
    fn distances_from_the_median_have_a_lower_limit() {
        let check = |values: &[i64], slack: i64, expect: &[i64]| {
            assert_eq!(above_median(values, slack), expect, "{values:?} {slack}");
        };
        check(&[], 0, &[]);
        check(&[7, 7], 5, &[0, 0]);
        // The median is 5 and the standard deviation is 2.
        check(&[2, 4, 4, 4, 5, 5, 7, 9], 0, &[-1_000, -500, -500, -500, 0, 0, 1_000, 2_000]);
        check(&[2, 4, 4, 4, 5, 5, 7, 9], 2, &[-750, -250, -250, -250, 0, 0, 500, 1_000]);
    }

    #[test]
    fn single_large_value_is_limited() {
        let mut values = vec![0; 99];
        values.push(1_000);
        let found = standardised(&values);
        assert_eq!((found[0], found[99]), (-100, 4_000));
        let found = above_median(&values, 0);
        assert_eq!((found[0], found[99]), (0, 4_000));
    }

    proptest! {
        #[test]
        fn standardised_values_keep_the_order(values in prop::collection::vec(-1_000_000i64..1_000_000, 1..20)) {
            for found in [standardised(&values), above_median(&values, 20)] {
                for (left, right) in values.iter().zip(&found) {
                    for (other_left, other_right) in values.iter().zip(&found) {
                        prop_assert!(left > other_left || right <= other_right);
                    }
                }
                prop_assert!(found.iter().all(|value| value.abs() <= MAX_DISTANCE));
            }
        }
    }
}
