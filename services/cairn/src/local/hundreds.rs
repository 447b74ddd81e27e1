//! Counts files in steps of one hundred, to report progress.

use std::sync::atomic::{AtomicU64, Ordering};

/// Progress is reported each time this number of files has been read.
const FILES_PER_REPORT: u64 = 100;

/// Reports each multiple of one hundred that a growing number reaches or passes. Each multiple is reported
/// only once.
#[derive(Debug, Default)]
pub struct Hundreds {
    reported: AtomicU64,
}

impl Hundreds {
    /// The multiples of one hundred up to `number` that were not yet returned.
    pub fn passed(&self, number: u64) -> impl Iterator<Item = u64> + use<> {
        let hundreds = number / FILES_PER_REPORT;
        let before = self.reported.fetch_max(hundreds, Ordering::Relaxed);
        (before + 1..=hundreds).map(|hundred| hundred * FILES_PER_REPORT)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_hundred_is_reported_once() {
        let hundreds = Hundreds::default();
        let check = |number: u64, expect: &[u64]| {
            assert_eq!(hundreds.passed(number).collect::<Vec<_>>(), expect, "{number}");
        };
        check(0, &[]);
        check(99, &[]);
        check(100, &[100]);
        check(150, &[]);
        check(430, &[200, 300, 400]);
        check(430, &[]);
        check(200, &[]);
        check(500, &[500]);
    }
}
