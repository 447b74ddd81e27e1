//! The ceilings that are checked while a source is listed. A few objects of git can represent a million paths
//! or gigabytes of paths, so these ceilings are checked before the entries are built.

use cairn_config::Operator;
use cairn_ports::ListedSoFar;

/// For each path, the limit on the total length of the paths grows by this number of bytes. Therefore a large
/// repository may have many paths, but a small repository cannot have gigabytes of paths.
const BYTES_PER_PATH: u64 = 160;

/// The ceilings of the operator for a listing.
#[derive(Clone, Copy)]
pub(super) struct ListingCeilings {
    max_paths: u64,
    max_path_bytes: u64,
    max_repeated: u64,
}

impl ListingCeilings {
    pub(super) fn of(operator: &Operator) -> Self {
        Self {
            max_paths: operator.sources.max_entries,
            max_path_bytes: operator.ceilings.max_total_path_bytes,
            max_repeated: operator.ceilings.max_repeated_paths,
        }
    }

    /// Returns a message with the figure, the limit and the setting if a ceiling is exceeded.
    pub(super) fn check(self, listed: ListedSoFar) -> Result<(), String> {
        let ListedSoFar { num_paths, path_bytes, num_repeated, is_complete, .. } = listed;
        if num_paths > self.max_paths {
            let limit = self.max_paths;
            return Err(format!(
                "the source has at least {num_paths} paths; the limit is {limit} (`sources.max_entries`)"
            ));
        }
        // Until the listing is complete, the number of paths may still grow to the limit.
        let most_paths = if is_complete { num_paths } else { self.max_paths };
        let limit = self.max_path_bytes.saturating_add(most_paths.saturating_mul(BYTES_PER_PATH));
        if path_bytes > limit {
            return Err(format!(
                "the paths of the source have at least {path_bytes} bytes in total; the limit is {limit} \
                 (`ceilings.max_total_path_bytes`)"
            ));
        }
        let limit = self.max_repeated.saturating_add(num_paths.saturating_sub(num_repeated));
        if num_repeated > limit {
            return Err(format!(
                "the source has {num_repeated} paths with the same content as other paths; the limit is {limit} \
                 (`ceilings.max_repeated_paths`)"
            ));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(listed: ListedSoFar, expect: Option<&str>) {
        let error = ListingCeilings::of(&Operator::default()).check(listed).err();
        match expect {
            Some(part) => assert!(error.as_ref().is_some_and(|error| error.contains(part)), "{listed:?}: {error:?}"),
            None => assert_eq!(error, None, "{listed:?}"),
        }
    }

    fn listed(num_paths: u64, bytes_per_path: u64, num_repeated: u64) -> ListedSoFar {
        let path_bytes = num_paths * bytes_per_path;
        ListedSoFar { num_paths, path_bytes, num_repeated, is_complete: true, ..ListedSoFar::default() }
    }

    #[test]
    fn large_normal_trees_are_within_the_ceilings() {
        check(listed(1_000_000, 120, 0), None);
        check(listed(1_000_000, 120, 600_000), None);
        check(listed(250_000, 200, 249_999), None);
        check(listed(4_000, 4_096, 3_999), None);
    }

    #[test]
    fn hostile_trees_exceed_a_ceiling() {
        check(listed(1_000_001, 100, 0), Some("1000001 paths; the limit is 1000000 (`sources.max_entries`)"));
        check(listed(33_000, 4_096, 0), Some("the limit is 22057216 (`ceilings.max_total_path_bytes`)"));
        check(listed(960_000, 20, 959_999), Some("959999 paths with the same content as other paths"));
        check(listed(960_000, 20, 959_980), Some("the limit is 250020 (`ceilings.max_repeated_paths`)"));
    }

    #[test]
    fn incomplete_listings_are_checked_against_the_largest_limit() {
        let long = ListedSoFar { is_complete: false, ..listed(33_000, 4_096, 0) };
        check(long, None);
        check(ListedSoFar { path_bytes: 200 << 20, ..long }, Some("at least 209715200 bytes in total"));
    }
}
