//! Queries of trigrams.

use crate::grams::{Gram, grams_of};

/// Maximum number of trigrams of one text in a query.
const MAX_GRAMS: usize = 48;

/// A condition on the trigrams of a text.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum GramQuery {
    /// Every text satisfies the query.
    All,
    /// No text satisfies the query.
    Nothing,
    Gram(Gram),
    /// At least two queries, sorted and different.
    And(Vec<GramQuery>),
    /// At least two queries, sorted and different.
    Or(Vec<GramQuery>),
}

impl GramQuery {
    /// The query for texts that contain this folded text. A long text has more trigrams than are needed to
    /// find it, so only some of them are used.
    pub(crate) fn of_text(folded: &[u8]) -> Self {
        let grams: Vec<Gram> = grams_of(folded).collect();
        let step = grams.len().div_ceil(MAX_GRAMS).max(1);
        Self::and(grams.into_iter().step_by(step).map(GramQuery::Gram).collect())
    }

    /// The query for texts that contain at least one of these folded texts.
    pub(crate) fn of_any<'a>(folded: impl Iterator<Item = &'a Vec<u8>>) -> Self {
        Self::or(folded.map(|text| Self::of_text(text)).collect())
    }

    pub(crate) fn and(queries: Vec<GramQuery>) -> Self {
        let mut parts = Vec::new();
        for query in queries {
            match query {
                GramQuery::All => {}
                GramQuery::Nothing => return GramQuery::Nothing,
                GramQuery::And(inner) => parts.extend(inner),
                other => parts.push(other),
            }
        }
        join(parts, GramQuery::All, GramQuery::And)
    }

    pub(crate) fn or(queries: Vec<GramQuery>) -> Self {
        let mut parts = Vec::new();
        for query in queries {
            match query {
                GramQuery::All => return GramQuery::All,
                GramQuery::Nothing => {}
                GramQuery::Or(inner) => parts.extend(inner),
                other => parts.push(other),
            }
        }
        join(parts, GramQuery::Nothing, GramQuery::Or)
    }

    /// Whether a text with these trigrams satisfies the query.
    pub fn accepts(&self, has: &impl Fn(Gram) -> bool) -> bool {
        match self {
            GramQuery::All => true,
            GramQuery::Nothing => false,
            GramQuery::Gram(gram) => has(*gram),
            GramQuery::And(parts) => parts.iter().all(|part| part.accepts(has)),
            GramQuery::Or(parts) => parts.iter().any(|part| part.accepts(has)),
        }
    }
}

fn join(mut parts: Vec<GramQuery>, none: GramQuery, many: fn(Vec<GramQuery>) -> GramQuery) -> GramQuery {
    parts.sort_unstable();
    parts.dedup();
    match parts.len() {
        0 => none,
        1 => parts.remove(0),
        _ => many(parts),
    }
}
