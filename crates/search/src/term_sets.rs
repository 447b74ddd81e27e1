//! Compares texts by their terms.

use std::collections::BTreeSet;

use cairn_ranking::{StopWords, terms};

/// The terms of a text, without stop words.
pub(crate) fn term_set(text: &str) -> BTreeSet<u32> {
    let mut set = BTreeSet::new();
    terms(text, StopWords::Dropped, |term| {
        set.insert(term);
    });
    set
}
