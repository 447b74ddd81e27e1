//! The marks of the generations that ended a version.
//!
//! Several generations may end one version: one that was aborted and not swept yet, and the next, which retires the
//! version again. Which of them counts, only a view knows: the version is gone if *any* of them is published. So a mark is
//! never replaced. The latest stands in `gen_to`, where all but a few versions have their only one; those that it
//! followed stand in `earlier_ends`.
//!
//! Why both are kept instead of asking which of two is aborted: the port's `stage` says nothing of aborted generations,
//! and a mark that is kept beside another needs no answer. Writers of one version are rare (a repository has one
//! unfinished run), so a mark is added by compare and set: the write names the marks that it read.

use std::collections::BTreeSet;

use cairn_domain::GenerationId;
use qdrant_client::qdrant::{Condition, Filter, Value, ValuesCount};

use crate::fields::{EARLIER_ENDS, GEN_TO};
use crate::payload::Fields;

pub(crate) const OPEN: i64 = GenerationId::OPEN.0 as i64;

/// The generations that end a version; empty while it is open.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub(crate) struct Marks(BTreeSet<i64>);

impl Marks {
    pub(crate) fn read(fields: &Fields) -> Self {
        let ends = fields.integers(EARLIER_ENDS).into_iter().chain(fields.integer(GEN_TO));
        Self(ends.filter(|end| *end != OPEN).collect())
    }

    #[must_use]
    pub(crate) fn with(&self, generation: GenerationId) -> Self {
        Self(self.0.iter().copied().chain([generation.0 as i64]).collect())
    }

    #[must_use]
    pub(crate) fn without(&self, generation: GenerationId) -> Self {
        Self(self.0.iter().copied().filter(|end| *end != generation.0 as i64).collect())
    }

    /// The fields that hold them.
    pub(crate) fn fields(&self) -> [(String, Value); 2] {
        let (latest, earlier) = self.split();
        let earlier: Vec<Value> = earlier.into_iter().map(Value::from).collect();
        [(GEN_TO.to_owned(), Value::from(latest)), (EARLIER_ENDS.to_owned(), Value::from(earlier))]
    }

    fn split(&self) -> (i64, Vec<i64>) {
        let mut earlier: Vec<i64> = self.0.iter().copied().collect();
        let latest = earlier.pop().unwrap_or(OPEN);
        (latest, earlier)
    }

    /// Lets versions through that have exactly these marks.
    pub(crate) fn condition(&self) -> Condition {
        let (latest, earlier) = self.split();
        let mut must = vec![Condition::matches(GEN_TO, latest)];
        if earlier.is_empty() {
            must.push(Condition::is_empty(EARLIER_ENDS));
        } else {
            let count = earlier.len() as u64;
            must.push(Condition::values_count(
                EARLIER_ENDS,
                ValuesCount { gte: Some(count), lte: Some(count), ..ValuesCount::default() },
            ));
            must.extend(earlier.into_iter().map(|end| Condition::matches(EARLIER_ENDS, end)));
        }
        Filter::must(must).into()
    }
}

/// Lets versions through that one of the generations ends.
pub(crate) fn ended_by(generations: &[GenerationId]) -> Condition {
    let ends: Vec<i64> = generations.iter().map(|generation| generation.0 as i64).collect();
    Filter::should([Condition::matches(GEN_TO, ends.clone()), Condition::matches(EARLIER_ENDS, ends)]).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(marks: &Marks) -> Marks {
        Marks::read(&Fields::new("p", marks.fields().into_iter().collect()))
    }

    #[test]
    fn marks_add_up_and_are_taken_back_in_any_order() {
        let [five, nine, seven] = [5, 9, 7].map(GenerationId);
        let open = Marks::default();
        assert_eq!(open.split(), (OPEN, vec![]));
        let all = open.with(nine).with(five).with(seven).with(nine);
        assert_eq!(all.split(), (9, vec![5, 7]));
        assert_eq!(all.without(nine).split(), (7, vec![5]));
        assert_eq!(all.without(five).without(seven).without(nine), open);
        for marks in [&open, &all, &all.without(five)] {
            assert_eq!(read(marks), *marks);
        }
    }
}
