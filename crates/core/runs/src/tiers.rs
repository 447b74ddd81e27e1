//! Decides which files of a store one step of maintenance rewrites.
//!
//! The *tier* of a file is the base-4 logarithm of the number of its live rows. If a tier of small
//! files has `FILES_PER_TIER` files, these files and all smaller files become one file. So each row is
//! rewritten about once for each tier, and the number of small files grows with the logarithm of the number
//! of rows. A file with too many dead rows is also rewritten.

const FILES_PER_TIER: usize = 4;
/// A file with fewer live rows belongs to the lowest tier.
const TINY_ROWS: u32 = 64;

/// The limits of one store.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Tiers {
    /// Maximum number of rows that a step reads. A step may read more rows only if it reads a single file.
    pub step_rows: u32,
    /// A file is rewritten if the share of its dead rows is at least one divided by this number. A tiny file
    /// is rewritten if any row is dead.
    pub dead_part: u32,
}

/// The number of rows of a file, and the number of its dead rows. No reader sees a dead row.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Size {
    pub rows: u32,
    pub dead: u32,
}

impl Size {
    fn live(self) -> u32 {
        self.rows.saturating_sub(self.dead)
    }
}

impl Tiers {
    /// The positions in `sizes` of the files that the next step merges into one file, in ascending order. The
    /// list is empty if no file must be rewritten.
    pub fn next_group(self, sizes: &[Size]) -> Vec<usize> {
        let tier = |size: &Size| self.tier(*size);
        let is_full = |full: &u32| sizes.iter().filter(|size| tier(size) == Some(*full)).count() >= FILES_PER_TIER;
        let full = sizes.iter().filter_map(tier).filter(is_full).max();
        let is_small = |size: &Size| tier(size).zip(full).is_some_and(|(tier, full)| tier <= full);
        let is_wanted = |size: &Size| self.has_too_many_dead(*size) || is_small(size);
        let mut wanted: Vec<usize> = (0..sizes.len()).filter(|number| is_wanted(&sizes[*number])).collect();
        wanted.sort_by_key(|number| (sizes[*number].live(), *number));
        let mut num_rows = 0_u32;
        let fits = |number: &usize| {
            let is_first = num_rows == 0;
            num_rows = num_rows.saturating_add(sizes[*number].rows.max(1));
            is_first || num_rows <= self.step_rows
        };
        let mut group: Vec<usize> = wanted.into_iter().take_while(fits).collect();
        // Rewriting a single file gains nothing, unless rows are dead.
        if let [single] = group[..]
            && !self.has_too_many_dead(sizes[single])
        {
            group.clear();
        }
        group.sort_unstable();
        group
    }

    /// The tier of a file. `None` for a large file, which belongs to no tier and is rewritten only because of
    /// its dead rows. The limit for large files is low enough that one step can read all files of a full
    /// tier.
    fn tier(self, size: Size) -> Option<u32> {
        let is_large = size.live() >= self.step_rows / FILES_PER_TIER as u32;
        (!is_large).then(|| (size.live() / TINY_ROWS).checked_ilog(4).map_or(0, |tier| tier + 1))
    }

    fn has_too_many_dead(self, size: Size) -> bool {
        size.dead > 0 && (size.rows < TINY_ROWS || size.dead >= size.rows / self.dead_part)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TIERS: Tiers = Tiers { step_rows: 16_384, dead_part: 8 };

    #[test]
    fn full_tiers_and_dead_rows_are_rewritten() {
        let check = |sizes: &[(u32, u32)], expect: &[usize]| {
            let sizes: Vec<Size> = sizes.iter().map(|(rows, dead)| Size { rows: *rows, dead: *dead }).collect();
            assert_eq!(TIERS.next_group(&sizes), expect, "{sizes:?}");
        };
        check(&[], &[]);
        check(&[(40, 0), (40, 0), (40, 0)], &[]);
        check(&[(40, 0), (40, 0), (40, 0), (63, 0)], &[0, 1, 2, 3]);
        check(&[(40, 0), (40, 0), (40, 0), (64, 0)], &[]);
        // If a tier is full, the files of smaller tiers are also merged, but not the files of larger tiers.
        check(&[(9, 0), (300, 0), (1_200, 0), (300, 0), (900, 0), (300, 0), (20_000, 0)], &[0, 1, 3, 4, 5]);
        check(&[(40, 1)], &[0]);
        check(&[(800, 99)], &[]);
        check(&[(800, 100)], &[0]);
        check(&[(0, 0), (0, 0), (0, 0), (0, 0)], &[0, 1, 2, 3]);
        // A step reads a bounded number of rows. The files with the fewest live rows are read first.
        check(&[(16_000, 2_000), (15_000, 2_000), (9, 0)], &[1]);
        check(&[(40_000, 9_000), (30, 1)], &[1]);
        check(&[(40_000, 9_000)], &[0]);
        check(&[(4_095, 0); 9], &[0, 1, 2, 3]);
        check(&[(4_096, 0); 9], &[]);
    }

    /// Adds files of different sizes, and executes one step after each added file.
    #[test]
    fn num_files_and_rewritten_rows_stay_bounded() {
        let mut seed = 7_u64;
        let (mut files, mut num_added, mut num_rewritten): (Vec<Size>, u64, u64) = (Vec::new(), 0, 0);
        for _ in 0..2_000 {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            let rows = (seed >> 33) as u32 % 120;
            num_added += u64::from(rows);
            files.push(Size { rows, dead: 0 });
            let group = TIERS.next_group(&files);
            let rows: u32 = group.iter().map(|number| files[*number].rows).sum();
            assert!(rows <= TIERS.step_rows);
            num_rewritten += u64::from(rows);
            for number in group.iter().rev() {
                files.remove(*number);
            }
            files.extend((!group.is_empty()).then_some(Size { rows, dead: 0 }));
            let num_small = files.iter().filter(|size| TIERS.tier(**size).is_some()).count();
            assert!(num_small <= 16, "{files:?}");
        }
        assert!(num_rewritten <= 5 * num_added, "{num_rewritten} of {num_added}");
    }
}
