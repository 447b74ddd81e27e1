//! Plans an expression: computes a query of trigrams that every text with a match satisfies.
//!
//! For each part of the expression, the plan contains the set of strings that the part can match, if the set
//! is small. Otherwise, the plan contains the strings with which the matches of the part can begin, the
//! strings with which they can end, and a query. The sets of neighbouring parts are joined, so that the query
//! contains trigrams that span several parts. Russ Cox described this method for Google Code Search. All
//! strings are folded (`fold`), so case is ignored.

use std::collections::BTreeSet;

use regex_syntax::hir::{Class, Hir, HirKind, Repetition};

use crate::fold::{fold, fold_into};
use crate::query::GramQuery;

/// Maximum number of texts in a set.
const MAX_TEXTS: usize = 48;
/// A character class of the expression is replaced by its characters if it has at most this many distinct
/// folded characters.
const MAX_CLASS: usize = 16;
/// A character class with more characters than this is not folded.
const MAX_UNFOLDED_CLASS: u32 = 64;
/// Maximum number of repetitions of a part that are planned as a sequence.
const MAX_REPEATED: u32 = 8;
/// Maximum total size of the texts in a set that results from joining two sets.
const MAX_JOINED_BYTES: usize = 8 << 10;
/// Texts at the start and at the end of matches are shortened to this number of bytes. The query already
/// contains the trigrams of the longer texts, and two bytes are enough to form a trigram with the next byte.
const EDGE_BYTES: usize = 2;

type Texts = BTreeSet<Vec<u8>>;

/// The texts that a part of an expression matches.
#[derive(Clone)]
enum Matches {
    /// The part matches exactly these texts.
    Only(Texts),
    /// The part matches texts that start with one of `starts`, end with one of `ends`, and satisfy the query.
    Within { starts: Texts, ends: Texts, query: GramQuery },
}

/// Returns a query that every text with a match of the expression satisfies.
pub(crate) fn plan(expression: &Hir) -> GramQuery {
    match matches_of(expression) {
        Matches::Only(texts) => GramQuery::of_any(texts.iter()),
        Matches::Within { starts, ends, query } => {
            GramQuery::and(vec![query, GramQuery::of_any(starts.iter()), GramQuery::of_any(ends.iter())])
        }
    }
}

fn matches_of(expression: &Hir) -> Matches {
    match expression.kind() {
        HirKind::Empty | HirKind::Look(_) => Matches::empty(),
        HirKind::Literal(literal) => match str::from_utf8(&literal.0) {
            Ok(text) => {
                let mut folded = Vec::with_capacity(text.len());
                fold_into(text, &mut folded);
                Matches::Only(Texts::from([folded]))
            }
            Err(_) => Matches::anything(),
        },
        HirKind::Class(class) => of_class(class),
        HirKind::Repetition(repetition) => of_repetition(repetition),
        HirKind::Capture(capture) => matches_of(&capture.sub),
        HirKind::Concat(parts) => parts.iter().map(matches_of).fold(Matches::empty(), Matches::then),
        HirKind::Alternation(parts) => {
            parts.iter().map(matches_of).reduce(Matches::or).unwrap_or_else(|| Matches::Only(Texts::new()))
        }
    }
}

fn of_class(class: &Class) -> Matches {
    let characters: Option<BTreeSet<char>> = match class {
        Class::Unicode(class) => {
            let size: u32 = class.ranges().iter().map(|range| range.end() as u32 - range.start() as u32 + 1).sum();
            let listed = || class.ranges().iter().flat_map(|range| range.start()..=range.end()).map(fold).collect();
            (size <= MAX_UNFOLDED_CLASS).then(listed)
        }
        Class::Bytes(class) if class.is_ascii() => {
            let listed = class.ranges().iter().flat_map(|range| range.start()..=range.end());
            Some(listed.map(|byte| fold(char::from(byte))).collect())
        }
        Class::Bytes(_) => None,
    };
    match characters.filter(|characters| characters.len() <= MAX_CLASS) {
        Some(characters) => {
            Matches::Only(characters.iter().map(|character| character.to_string().into_bytes()).collect())
        }
        None => Matches::anything(),
    }
}

fn of_repetition(repetition: &Repetition) -> Matches {
    let (min, max) = (repetition.min, repetition.max);
    if min == 0 {
        let is_optional = max == Some(1);
        return if is_optional { matches_of(&repetition.sub).or(Matches::empty()) } else { Matches::anything() };
    }
    let written = min.min(MAX_REPEATED);
    // The repeated part is planned once, because otherwise the work would grow exponentially with the depth
    // of nested repetitions.
    let once = matches_of(&repetition.sub);
    let mut all = once.clone();
    for _ in 1..written {
        all = all.then(once.clone());
    }
    // More repetitions may follow. Every match still starts and ends with one of the texts.
    if max == Some(written) { all } else { all.inexact() }
}

impl Matches {
    fn empty() -> Self {
        Matches::Only(Texts::from([Vec::new()]))
    }

    fn anything() -> Self {
        let unknown = Texts::from([Vec::new()]);
        Matches::Within { starts: unknown.clone(), ends: unknown, query: GramQuery::All }
    }

    /// Describes the same matches by their starts, their ends and a query.
    fn inexact(self) -> Self {
        match self {
            Matches::Only(texts) => {
                let query = GramQuery::of_any(texts.iter());
                Matches::Within { starts: shortened(&texts, start), ends: shortened(&texts, end), query }
            }
            within => within,
        }
    }

    fn parts(self) -> (Texts, Texts, GramQuery) {
        match self.inexact() {
            Matches::Within { starts, ends, query } => (starts, ends, query),
            Matches::Only(texts) => (texts.clone(), texts, GramQuery::All),
        }
    }

    /// The matches of the sequence that consists of this part and the next part.
    fn then(self, next: Matches) -> Self {
        match (self, next) {
            (Matches::Only(first), Matches::Only(next)) => match joined(&first, &next) {
                Some(texts) => Matches::Only(texts),
                None => followed(Matches::Only(first).inexact(), Matches::Only(next).inexact()),
            },
            (Matches::Only(first), Matches::Within { starts, ends, query }) => match joined(&first, &starts) {
                Some(starts) => Matches::Within { starts, ends, query }.bounded(),
                None => followed(Matches::Only(first).inexact(), Matches::Within { starts, ends, query }),
            },
            (Matches::Within { starts, ends, query }, Matches::Only(next)) => match joined(&ends, &next) {
                Some(ends) => Matches::Within { starts, ends, query }.bounded(),
                None => followed(Matches::Within { starts, ends, query }, Matches::Only(next).inexact()),
            },
            (first, next) => followed(first, next),
        }
    }

    fn or(self, other: Matches) -> Self {
        match (self, other) {
            (Matches::Only(mut first), Matches::Only(other)) if first.len() + other.len() <= 4 * MAX_TEXTS => {
                first.extend(other);
                Matches::Only(first)
            }
            (first, other) => {
                let ((mut starts, mut ends, query), (other_starts, other_ends, other_query)) =
                    (first.parts(), other.parts());
                starts.extend(other_starts);
                ends.extend(other_ends);
                let query = GramQuery::or(vec![query, other_query]);
                Matches::Within { starts, ends, query }.bounded()
            }
        }
    }

    /// Moves the trigrams of the starts and ends to the query, and shortens the starts and ends.
    fn bounded(self) -> Self {
        let Matches::Within { starts, ends, query } = self else { return self };
        let query = GramQuery::and(vec![query, GramQuery::of_any(starts.iter()), GramQuery::of_any(ends.iter())]);
        Matches::Within { starts: shortened(&starts, start), ends: shortened(&ends, end), query }
    }
}

/// The matches of two parts in sequence, if they cannot be joined into one small set.
fn followed(first: Matches, next: Matches) -> Matches {
    let ((starts, first_ends, first_query), (next_starts, ends, next_query)) = (first.parts(), next.parts());
    let between = joined(&first_ends, &next_starts).map_or(GramQuery::All, |texts| GramQuery::of_any(texts.iter()));
    Matches::Within { starts, ends, query: GramQuery::and(vec![first_query, next_query, between]) }
}

/// Each text of the first set followed by each text of the second set. `None` if the result would be too
/// large.
fn joined(first: &Texts, next: &Texts) -> Option<Texts> {
    if first.len() * next.len() > MAX_TEXTS {
        // If one of the sets has only one text, the other set may have more texts.
        if first.len().min(next.len()) != 1 || first.len().max(next.len()) > 4 * MAX_TEXTS {
            return None;
        }
    }
    let size = |texts: &Texts| texts.iter().map(Vec::len).sum::<usize>();
    if size(first) * next.len() + size(next) * first.len() > MAX_JOINED_BYTES {
        return None;
    }
    Some(first.iter().flat_map(|text| next.iter().map(move |next| [text.as_slice(), next].concat())).collect())
}

fn start(text: &[u8]) -> &[u8] {
    &text[..text.len().min(EDGE_BYTES)]
}

fn end(text: &[u8]) -> &[u8] {
    &text[text.len().saturating_sub(EDGE_BYTES)..]
}

/// The shortened texts. If there are too many texts, the set contains only the empty text, which permits
/// every text.
fn shortened(texts: &Texts, shorten: fn(&[u8]) -> &[u8]) -> Texts {
    let short: Texts = texts.iter().map(|text| shorten(text).to_vec()).collect();
    if short.len() > MAX_TEXTS { Texts::from([Vec::new()]) } else { short }
}
