//! Bugs to plant. For each of them at least one seed must show a violation.
//!
//! Each mutant changes a wrapper around the production code so that it behaves as if the code had the bug.
//! The production code itself is not changed. `tests/mutants` plants the bugs of the same names in the
//! production code.
//!
//! | bug | planted in |
//! |---|---|
//! | no-epoch-check, counter-instead-of-set | `environment.rs`: commands to the store of runs |
//! | cancelled-sync-goes-on | `environment.rs`: commands to the store of runs |
//! | late-upsert-after-retire, sweep-by-range | `records.rs`: writes and sweeps of a store |
//! | retire-overwrites-a-published-mark | `records.rs`: writes of a store |
//! | unhide-before-sweep | `scheduler.rs`: the list of generations to sweep |
//! | next-gen-and-hidden-read-apart, view-filter-dropped | `reader.rs`: taking a view, reading under it |
//! | lease-lost-in-mid-run | `cloner.rs`: the heartbeat |
//! | publishing-takes-its-time | `worker.rs`: the time that a handler may take |
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
    /// `begin` accepts the epoch of any caller.
    NoEpochCheck = "no-epoch-check",
    /// An end that is reported twice counts twice.
    CounterInsteadOfSet = "counter-instead-of-set",
    /// Staging overwrites an existing record, with the mark that ended it.
    UpsertAfterRetire = "late-upsert-after-retire",
    /// A sweep removes every record that ended up to the newest generation, instead of the listed ones.
    SweepByRange = "sweep-by-range",
    /// An aborted generation is forgotten when it is listed, not when it is swept.
    UnhideBeforeSweep = "unhide-before-sweep",
    /// A view is made of two reads.
    ViewReadApart = "next-gen-and-hidden-read-apart",
    /// A cloner that has lost its lease takes it again and continues with the data it has read.
    LeaseLostInMidRun = "lease-lost-in-mid-run",
    /// Retiring overwrites any other mark.
    RetireOverPublished = "retire-overwrites-a-published-mark",
    /// A store ignores generations when it answers.
    ViewFilterDropped = "view-filter-dropped",
    /// A delivery is acknowledged before its work is done.
    AckBeforeWrite = "ack-before-write",
    /// A publication may be written long after its own timestamp.
    PublishingTakesItsTime = "publishing-takes-its-time",
    /// Cancelling clears the request and leaves the lease with its holder.
    CancelledSyncGoesOn = "cancelled-sync-goes-on",
    /// A new owner of a key ignores the usage of its predecessor.
    QuotaForgotten = "quota-forgotten-by-a-new-owner",
}

impl Mutant {
    pub fn parse(word: &str) -> Result<Self, String> {
        let found = Self::ALL.iter().find(|mutant| mutant.name() == word);
        let names = || Self::ALL.iter().map(|mutant| mutant.name()).collect::<Vec<_>>().join(", ");
        found.copied().ok_or_else(|| format!("no mutant is called `{word}`; there are: {}", names()))
    }
}
