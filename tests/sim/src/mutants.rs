//! Bugs to plant, each of which some seed must show.
//!
//! Each changes what a wrapper around the production code does, in exactly the way in which the bug would: the production
//! code itself is never built differently. `tests/mutants` plants those of the same names in the production code.
//!
//! | bug | planted in |
//! |---|---|
//! | no-epoch-check, counter-instead-of-set, cancelled-sync-goes-on | `environment.rs`: commands on their way to the store of runs |
//! | late-upsert-after-retire, retire-overwrites-a-published-mark, sweep-by-range | `records.rs`: writes and sweeps of a store |
//! | unhide-before-sweep | `scheduler.rs`: the list of what is to be swept |
//! | next-gen-and-hidden-read-apart, view-filter-dropped | `reader.rs`: taking a view, reading under it |
//! | lease-lost-in-mid-run | `cloner.rs`: the heartbeat |
//! | publishing-takes-its-time | `worker.rs`: how long a handler may take |
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
    /// `begin` takes the epoch of whoever asks.
    NoEpochCheck = "no-epoch-check",
    /// An end that is told twice counts twice.
    CounterInsteadOfSet = "counter-instead-of-set",
    /// Staging overwrites a record that is there, with the mark that ended it.
    UpsertAfterRetire = "late-upsert-after-retire",
    /// A sweep removes all that was ended up to the newest generation, not what is listed.
    SweepByRange = "sweep-by-range",
    /// An aborted generation is forgotten when it is listed, not when it is swept.
    UnhideBeforeSweep = "unhide-before-sweep",
    /// A view is made of two reads.
    ViewReadApart = "next-gen-and-hidden-read-apart",
    /// A cloner that has lost its lease takes it anew and goes on with what it has read.
    LeaseLostInMidRun = "lease-lost-in-mid-run",
    /// Retiring writes its mark over any other.
    RetireOverPublished = "retire-overwrites-a-published-mark",
    /// A store answers without looking at generations.
    ViewFilterDropped = "view-filter-dropped",
    /// A delivery is acknowledged before its work is done.
    AckBeforeWrite = "ack-before-write",
    /// A publication may be written long after the time that stands in it.
    PublishingTakesItsTime = "publishing-takes-its-time",
    /// Cancelling clears what was asked, and leaves the lease with whoever is at it.
    CancelledSyncGoesOn = "cancelled-sync-goes-on",
    /// A new owner of a key does not reckon with what its predecessor used.
    QuotaForgotten = "quota-forgotten-by-a-new-owner",
}

impl Mutant {
    pub fn parse(word: &str) -> Result<Self, String> {
        let found = Self::ALL.iter().find(|mutant| mutant.name() == word);
        let names = || Self::ALL.iter().map(|mutant| mutant.name()).collect::<Vec<_>>().join(", ");
        found.copied().ok_or_else(|| format!("no mutant is called `{word}`; there are: {}", names()))
    }
}
