//! Explains why a requested name is absent: which words of the name the index contains, which other
//! repository defines the name, and which repositories are not indexed.

use cairn_domain::View;
use cairn_ports::NameMatch;
use cairn_ranking::keywords;
use cairn_redaction::{Given, Message, Own};

use crate::repositories::{KnownRepository, MAX_NOT_INDEXED, name_of, names_of_unpublished, some_names};
use crate::{NextCall, QueryError, QueryErrorCode, Searcher};

/// Maximum number of definitions in other repositories that are looked up.
const MAX_ELSEWHERE: usize = 20;
/// Maximum number of calls that an error suggests.
const MAX_CALLS: usize = 2;

impl Searcher {
    /// Adds the explanation to the error for an absent name. Other errors are not changed.
    pub(crate) async fn explain_absent_name(
        &self,
        error: QueryError,
        name: &str,
        view: &View,
        selected: &[KnownRepository],
    ) -> Result<QueryError, QueryError> {
        if error.code != QueryErrorCode::NotFound || !error.similar_files.is_empty() {
            return Ok(error);
        }
        let mut facts: Vec<Message> = error.hint.iter().cloned().collect();
        let mut calls = Vec::new();
        if let Some(repository) = self.defining_repository(name, view, selected).await? {
            let fact = Message::from("repository ").and(Given(&repository));
            facts.push(fact.and(" defines ").and(Given(name)));
            calls.push(NextCall {
                tool: "read_code",
                reason: Message::from("reads the definition in ").and(Given(&repository)),
                arguments: vec![("symbol", name.to_owned()), ("repository", repository)],
            });
        }
        calls.extend(error.next_calls.iter().filter(|call| call.tool != "search_code").cloned());
        let words = keywords(name);
        let frequencies = self.frequencies(selected, &words.join(" ")).await?;
        let counts = words.iter().map(|word| (word, frequencies.num_chunks_with(word)));
        let mut present: Vec<_> = counts.filter(|(_, num_chunks)| *num_chunks > 0).collect();
        present.sort_by_key(|(_, num_chunks)| *num_chunks);
        match present.first() {
            Some((word, num_chunks)) => calls.push(NextCall {
                tool: "search_code",
                reason: Message::default().and(*num_chunks).and(" chunks contain ").and(Given(word)),
                arguments: vec![("query", (*word).clone())],
            }),
            None if frequencies.num_chunks() > 0 => {
                let fact = Message::from("none of the ").and(frequencies.num_chunks());
                facts.push(fact.and(" indexed chunks contains a word of the name"));
            }
            // Without term counts, it is not known whether the index contains the words of the name, so a
            // search for them stays among the suggestions.
            None => calls.extend(error.next_calls.iter().filter(|call| call.tool == "search_code").cloned()),
        }
        let not_indexed = names_of_unpublished(selected);
        if let Some(names) = some_names(&not_indexed, not_indexed.len(), MAX_NOT_INDEXED) {
            facts.push(Message::from("not indexed yet: ").and(Own(names)));
        }
        calls.truncate(MAX_CALLS);
        let hint = (!facts.is_empty()).then(|| Message::joined(facts, "; "));
        Ok(QueryError { hint, next_calls: calls, ..error })
    }

    /// A repository that was not searched, that the caller may see, and that defines exactly this name.
    async fn defining_repository(
        &self,
        name: &str,
        view: &View,
        selected: &[KnownRepository],
    ) -> Result<Option<String>, QueryError> {
        let all = self.repositories(view).await?;
        if all.len() == selected.len() {
            return Ok(None);
        }
        let last = name.rsplit(['.', ':', '#', '/']).next().unwrap_or(name);
        let scope = self.scope_of(&all);
        let hits = self.names.symbols(view, &scope, last, &[NameMatch::Exact], MAX_ELSEWHERE).await?;
        let is_meant = |hit: &&cairn_ports::SymbolHit| name == last || hit.symbol.qualified_name.ends_with(name);
        Ok(hits.iter().find(is_meant).map(|hit| name_of(&all, hit.repository)))
    }
}
