//! Explains why a requested name is absent: which words of the name the index contains, which other
//! repository defines the name, and which repositories are not indexed.

use cairn_domain::{Scope, View};
use cairn_name_match::plain_name;
use cairn_ports::{NameMatch, SymbolHit};
use cairn_ranking::{AnswerRelevance, RankedHit, ScopeFrequencies, keywords};
use cairn_redaction::{Given, Message, Own};

use crate::chunk_id::id_of_chunk;
use crate::prepared_query::PreparedQuery;
use crate::repositories::{
    KnownRepository, MAX_NOT_INDEXED, NOTHING_INDEXED, name_of, names_of_unpublished, some_names,
};
use crate::{NameNote, NextCall, QueryError, QueryErrorCode, Searcher};

/// Maximum number of definitions that are looked up in other repositories.
const MAX_ELSEWHERE: usize = 20;
/// Maximum number of hits whose texts are compared with a name.
const MAX_COMPARED: usize = 100;
/// Maximum number of calls that an error suggests.
const MAX_CALLS: usize = 2;
/// Minimum number of bytes of a word that an error suggests to search. Most chunks contain shorter words,
/// such as `fn`.
const MIN_SEARCHED_BYTES: usize = 3;

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
        let mut explanation = Explanation { facts: error.hint.iter().cloned().collect(), calls: Vec::new() };
        if let Some(repository) = self.defining_repository(name, view, selected).await? {
            explanation.add_definition(name, repository);
        }
        let is_search = |call: &NextCall| call.tool == "search_code";
        let (searches, others): (Vec<NextCall>, Vec<NextCall>) = error.next_calls.iter().cloned().partition(is_search);
        explanation.calls.extend(others);
        let words = keywords(name);
        let frequencies = self.frequencies(selected, &words.join(" ")).await?;
        explanation.add_words(&words, &frequencies, searches);
        explanation.add_not_indexed(selected);
        Ok(explanation.added_to(error))
    }

    /// The sentences for names that no searched repository defines, but another repository that the caller
    /// may see.
    pub(crate) async fn notes_of_definitions_elsewhere(
        &self,
        names: &[NameNote],
        view: &View,
        selected: &[KnownRepository],
    ) -> Result<Vec<Message>, QueryError> {
        let mut notes = Vec::new();
        for name in names.iter().filter(|name| !name.is_file).map(|name| &name.requested) {
            if let Some(repository) = self.defining_repository(name, view, selected).await? {
                let note = Message::from("Repository ").and(Given(&repository)).and(" defines ").and(Given(name));
                notes.push(note.and(", but was not searched."));
            }
        }
        Ok(notes)
    }

    /// If no code in scope has the name in a relationship question, and no good hit mentions it: the
    /// relevance of an answer without results. The text of a hit may mention a name that the code does not
    /// define, such as a function of a library. The hits must be those of a search without filters.
    pub(crate) async fn unmentioned_name(
        &self,
        query: &PreparedQuery,
        scope: &Scope,
        hits: &[RankedHit],
    ) -> Result<Option<AnswerRelevance>, QueryError> {
        let Some(asked) = query.parsed.relationship.as_ref().filter(|_| query.names.related.nodes.is_empty()) else {
            return Ok(None);
        };
        let name = plain_name(asked.name.trim_end_matches("()"));
        let is_absent = |note: &NameNote| note.requested == asked.name && note.is_absent();
        if !is_compound(&name) || !query.names.notes.iter().any(is_absent) {
            return Ok(None);
        }
        let last = name.rsplit('.').next().unwrap_or(&name).to_lowercase();
        let compared = &hits[..hits.len().min(MAX_COMPARED)];
        let ids = compared.iter().map(|hit| id_of_chunk(&hit.chunk)).collect();
        let chunks = self.fetch_texts(&query.view, scope, ids).await?;
        let is_mentioned = chunks.values().any(|chunk| chunk.text.to_lowercase().contains(&last));
        Ok((!is_mentioned).then(|| AnswerRelevance::without_words(vec![name], Some(compared.len()))))
    }

    /// A repository that was not searched, that the caller may see, and that defines exactly this name.
    async fn defining_repository(
        &self,
        name: &str,
        view: &View,
        selected: &[KnownRepository],
    ) -> Result<Option<String>, QueryError> {
        let is_selected = |known: &KnownRepository| selected.iter().any(|one| one.record.id == known.record.id);
        let all = self.repositories(view).await?;
        let others: Vec<KnownRepository> = all.into_iter().filter(|known| !is_selected(known)).collect();
        if others.is_empty() {
            return Ok(None);
        }
        let name = &plain_name(name);
        let last = name.rsplit('.').next().unwrap_or(name);
        let hits = self.names.symbols(view, &self.scope_of(&others), last, &[NameMatch::Exact], MAX_ELSEWHERE).await?;
        let is_whole = |before: &str| before.is_empty() || before.ends_with('.');
        let is_meant = |hit: &&SymbolHit| {
            name == last || hit.symbol.qualified_name.strip_suffix(name.as_str()).is_some_and(is_whole)
        };
        Ok(hits.iter().find(is_meant).map(|hit| name_of(&others, hit.repository)))
    }
}

/// Whether a name consists of several words, so that it is not an ordinary word of a sentence.
fn is_compound(name: &str) -> bool {
    let has_capital = name.chars().skip(1).any(char::is_uppercase) && name.chars().any(char::is_lowercase);
    !name.contains(char::is_whitespace) && (has_capital || name.contains(['_', '.']))
}

/// The facts that explain why a name is absent, and the calls that the error suggests, best first.
struct Explanation {
    facts: Vec<Message>,
    calls: Vec<NextCall>,
}

impl Explanation {
    fn add_definition(&mut self, name: &str, repository: String) {
        let fact = Message::from("repository ").and(Given(&repository));
        self.facts.push(fact.and(" defines ").and(Given(name)));
        self.calls.push(NextCall {
            tool: "read_code",
            reason: Message::from("reads the definition in ").and(Given(&repository)),
            arguments: vec![("symbol", name.to_owned()), ("repository", repository)],
        });
    }

    /// Suggests a search for the rarest word of the name that the index contains. `searches` are the searches
    /// that the error already suggests.
    fn add_words(&mut self, words: &[String], frequencies: &ScopeFrequencies, searches: Vec<NextCall>) {
        let counts = words.iter().map(|word| (word, frequencies.num_chunks_with(word)));
        let present: Vec<_> = counts.filter(|(_, num_chunks)| *num_chunks > 0).collect();
        let searched = present.iter().filter(|(word, _)| word.len() >= MIN_SEARCHED_BYTES);
        match searched.min_by_key(|(_, num_chunks)| *num_chunks) {
            Some((word, num_chunks)) => self.calls.push(NextCall {
                tool: "search_code",
                reason: Message::default().and(*num_chunks).and(" chunks contain ").and(Given(word)),
                arguments: vec![("query", (*word).clone())],
            }),
            None if !present.is_empty() => {}
            None if frequencies.num_chunks() > 0 => {
                let fact = Message::from("none of the ").and(frequencies.num_chunks());
                self.facts.push(fact.and(" indexed chunks contains a word of the name"));
            }
            // Without term counts, it is not known whether the index contains the words of the name, so a
            // search for these words stays among the suggestions.
            None => self.calls.extend(searches),
        }
    }

    fn add_not_indexed(&mut self, selected: &[KnownRepository]) {
        if selected.is_empty() {
            self.facts = vec![NOTHING_INDEXED.into()];
        }
        let not_indexed = names_of_unpublished(selected);
        if let Some(names) = some_names(&not_indexed, not_indexed.len(), MAX_NOT_INDEXED) {
            self.facts.push(Message::from("not indexed yet: ").and(Own(names)));
        }
    }

    fn added_to(self, error: QueryError) -> QueryError {
        let Self { facts, mut calls } = self;
        calls.truncate(MAX_CALLS);
        let hint = (!facts.is_empty()).then(|| Message::joined(facts, "; "));
        QueryError { hint, next_calls: calls, ..error }
    }
}
