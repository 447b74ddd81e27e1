//! Bugs that can be planted. For each bug, at least one seed must show a violation.
//!
//! Each mutant changes a wrapper around the production code, so that the simulation behaves as if the code
//! had the bug. The production code itself is not changed. `tests/mutants` plants bugs with the same names in
//! the production code.
//!
//! | bug | planted in |
//! |---|---|
//! | no-epoch-check, counter-instead-of-set | `environment.rs`: commands to the store of runs |
//! | cancelled-sync-continues | `environment.rs`: commands to the store of runs |
//! | late-upsert-after-retire, sweep-by-range | `records.rs`: writes and sweeps of a store |
//! | retire-overwrites-a-published-mark | `records.rs`: writes of a store |
//! | unhide-before-sweep | `scheduler.rs`: the list of generations to sweep |
//! | view-read-in-two-steps, view-filter-dropped | `reader.rs`: taking a view, and reading with it |
//! | lease-lost-mid-run | `cloner.rs`: the heartbeat |
//! | publishing-has-no-deadline | `worker.rs`: the time that a handler may take |
//! | ack-before-write | `broker.rs`: answering a delivery |
//! | quota-forgotten-by-a-new-owner | `quota.rs`: taking a key over |

macro_rules! mutants {
    ($($(#[$doc:meta])* $name:ident = $word:literal),+ $(,)?) => {
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub enum Mutant {
            $($(#[$doc])* $name),+
        }

        impl Mutant {
            pub const ALL: &[Mutant] = &[$(Mutant::$name),+];

            pub fn name(self) -> &'static str {
                match self {
                    $(Mutant::$name => $word),+
                }
            }
        }
    };
}

mutants! {
    /// `begin` accepts an outdated lease epoch.
    NoEpochCheck = "no-epoch-check",
    /// The end of a part is counted twice if it is reported twice.
    CounterInsteadOfSet = "counter-instead-of-set",
    /// Staging overwrites an existing record, including the mark that ended the record.
    UpsertAfterRetire = "late-upsert-after-retire",
    /// A sweep removes all records that ended at or before the newest generation, instead of the listed
    /// records.
    SweepByRange = "sweep-by-range",
    /// An aborted generation is forgotten when it is listed for the sweep, instead of after it was swept.
    UnhideBeforeSweep = "unhide-before-sweep",
    /// A view is composed of two separate reads.
    ViewReadInTwoSteps = "view-read-in-two-steps",
    /// A cloner that has lost its lease takes a new lease, and continues with the data that it has already
    /// read.
    LeaseLostMidRun = "lease-lost-mid-run",
    /// Retiring overwrites a mark that another generation has set.
    RetireOverPublished = "retire-overwrites-a-published-mark",
    /// A store does not filter by generation when it answers.
    ViewFilterDropped = "view-filter-dropped",
    /// A delivery is acknowledged before its work is done.
    AckBeforeWrite = "ack-before-write",
    /// A publication may be written long after its timestamp.
    PublishingHasNoDeadline = "publishing-has-no-deadline",
    /// Cancelling removes the request, but does not take the lease away from its holder.
    CancelledSyncContinues = "cancelled-sync-continues",
    /// A new owner of a key ignores the quota that the previous owner has used.
    QuotaForgotten = "quota-forgotten-by-a-new-owner",
}

impl Mutant {
    pub fn parse(word: &str) -> Result<Self, String> {
        let found = Self::ALL.iter().find(|mutant| mutant.name() == word);
        let names = || Self::ALL.iter().map(|mutant| mutant.name()).collect::<Vec<_>>().join(", ");
        found.copied().ok_or_else(|| format!("no mutant is called `{word}`; there are: {}", names()))
    }
}
