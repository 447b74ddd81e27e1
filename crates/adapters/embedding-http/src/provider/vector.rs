//! Converts a provider's vector to a vector of small integers.

use cairn_domain::DenseVector;

/// Computes `clamp(round(scale · v / |v|), ±127)`. Returns `None` if all elements become zero. Most providers
/// return vectors of length 1, up to 32-bit precision. Normalising again also handles vectors of other
/// lengths.
pub(super) fn quantize(vector: &[f32], scale: u32) -> Option<DenseVector> {
    let mut squares = 0.0;
    for value in vector {
        squares += f64::from(*value) * f64::from(*value);
    }
    if squares <= 0.0 {
        return None;
    }
    let factor = f64::from(scale) / squares.sqrt();
    let rounded = |value: &f32| (f64::from(*value) * factor).round().clamp(-127.0, 127.0) as i8;
    let vector: Vec<i8> = vector.iter().map(rounded).collect();
    vector.iter().any(|value| *value != 0).then_some(DenseVector(vector))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_are_scaled_rounded_and_clamped() {
        let check = |vector: &[f32], scale, expect: &[i8]| {
            assert_eq!(quantize(vector, scale), Some(DenseVector(expect.to_vec())), "{vector:?}");
        };
        check(&[0.6, -0.8], 100, &[60, -80]);
        check(&[6.0, -8.0], 100, &[60, -80]);
        check(&[0.6, -0.8], 200, &[120, -127]);
        check(&[1.0, 0.004, 0.006], 100, &[100, 0, 1]);
        check(&[f32::MAX, f32::MAX], 100, &[71, 71]);
        check(&[f32::MIN_POSITIVE, 0.0], 100, &[100, 0]);
        assert_eq!(quantize(&[0.0, -0.0], 100), None);
        assert_eq!(quantize(&[0.1; 400], 9), None, "every element is rounded to zero");
    }
}
