//! Finds the hits that mention the name of another hit.
//!
//! The names are searched in the texts, because the edges of the graph would need one more call to a store.

use rustc_hash::FxHashMap;

use cairn_domain::ChunkKind;

use crate::TextFacts;
use crate::hit::RankedHit;
use crate::text_facts::{MIN_IDENTIFIER, identifier_hash};

/// A name with more definitions among the hits is ignored, because a mention may mean any of them.
const MAX_DEFINITIONS: usize = 3;

/// For each hit, the indexes of the other hits of the same repository whose code contains the name of the
/// hit. `texts` contains the facts about the text of each hit.
pub(crate) fn mentioned_by(hits: &[RankedHit], texts: &[&TextFacts]) -> Vec<Vec<usize>> {
    let mut definitions: FxHashMap<&str, Vec<usize>> = FxHashMap::default();
    for (index, hit) in hits.iter().enumerate() {
        if let Some(name) = name(hit) {
            definitions.entry(name).or_default().push(index);
        }
    }
    definitions.retain(|_, indexes| indexes.len() <= MAX_DEFINITIONS);
    let mut found: Vec<Vec<usize>> = vec![Vec::new(); hits.len()];
    for (name, defined) in definitions {
        let hash = identifier_hash(name);
        let mentions = texts.iter().enumerate().filter(|(_, text)| text.has_identifier(hash));
        for (index, _) in mentions {
            for defined in &defined {
                let is_same_repository = hits[*defined].chunk.repository == hits[index].chunk.repository;
                if *defined != index && is_same_repository {
                    found[*defined].push(index);
                }
            }
        }
    }
    found
}

/// The short name of the symbol whose code is in the chunk.
fn name(hit: &RankedHit) -> Option<&str> {
    use ChunkKind::{Class, Function, Group, Method, Summary};
    let symbol = hit.chunk.symbol.as_deref()?;
    let name = symbol.rsplit('.').next().unwrap_or(symbol);
    (name.len() >= MIN_IDENTIFIER && matches!(hit.chunk.kind, Function | Method | Class | Group | Summary))
        .then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_chunks::hit;

    fn check(hits: &[(&str, &str)], expect: &[&[usize]]) {
        let hits: Vec<RankedHit> = hits.iter().map(|(symbol, text)| hit(symbol, text)).collect();
        let texts: Vec<TextFacts> = hits.iter().map(|hit| TextFacts::read(&hit.chunk.text)).collect();
        assert_eq!(mentioned_by(&hits, &texts.iter().collect::<Vec<_>>()), expect);
    }

    #[test]
    fn names_are_found_in_the_code_of_other_hits() {
        check(&[("send", "send_all()"), ("Queue.retry", "send(); send()"), ("run", "retry()")], &[&[1], &[2], &[]]);
        // Comments are not searched, and a hit does not mention itself.
        check(&[("send", "fn send() { send() }"), ("retry", "// send\nx()")], &[&[], &[]]);
        // Short names and names with many definitions are ignored.
        check(&[("run", ""), ("retry", "run()")], &[&[], &[]]);
        let many = [("send", "a"), ("a.send", "b"), ("b.send", "c"), ("c.send", "d"), ("retry", "send()")];
        check(&many, &[&[], &[], &[], &[], &[]]);
        check(&many[1..], &[&[3], &[3], &[3], &[]]);
    }
}
