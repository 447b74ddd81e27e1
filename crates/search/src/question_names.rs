//! Resolves the names that a question mentions, so that a mistyped name finds its definition and an absent
//! name is reported.

use cairn_domain::{Scope, View};
use cairn_ports::{NameMatch, ResolvedSymbol, SymbolHit};
use cairn_question::{MentionKind, ParsedQuery};
use cairn_ranking::{QueryWords, estimate_tokens};

use crate::changed::Definitions;
use crate::repositories::KnownRepository;
use crate::resolve::{NameRequest, Resolved, Substitution};
use crate::{QueryError, QueryErrorCode, Searcher};

/// Maximum number of names of a question that are resolved.
const MAX_NAMES: usize = 3;
/// Maximum number of definitions of a near name that become candidates.
const MAX_NEAR: usize = 5;
/// Names with a lower score do not come before other results, because the question may be a name in a text.
pub(crate) const MIN_LEADING_SCORE: u32 = 750;
/// Tokens of a note in addition to its names.
const NOTE_TOKENS: usize = 30;

/// A name in a question that no symbol has exactly.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NameNote {
    pub requested: String,
    /// Whether the name is the name of a file.
    pub is_file: bool,
    /// The name that was used instead; None if the name is absent.
    pub substitution: Option<Substitution>,
    /// Near names, if the name is absent.
    pub similar: Vec<String>,
}

/// The names of a question that no symbol has exactly.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct QuestionNames {
    pub(crate) notes: Vec<NameNote>,
    /// Definitions of near names, the best first.
    pub(crate) near: Vec<SymbolHit>,
    /// The definitions of the nearest names, if the whole question is a wrongly written name. They come
    /// before all other results.
    pub(crate) leading: Vec<SymbolHit>,
    /// Whether a symbol has one of the names, in any case or style.
    pub(crate) has_exact: bool,
}

impl QuestionNames {
    pub(crate) fn note(&mut self, requested: &str, substitution: Option<Substitution>, similar: Vec<String>) {
        self.notes.push(NameNote { requested: requested.to_owned(), is_file: false, substitution, similar });
    }

    /// The tokens that the notes need in an answer.
    pub(crate) fn num_tokens(&self) -> usize {
        let tokens = |note: &NameNote| {
            let used = note.substitution.iter().flat_map(|used| used.similar.iter().chain([&used.used]));
            let names = note.similar.iter().chain([&note.requested]).chain(used);
            names.map(|name| estimate_tokens(name)).sum::<usize>() + NOTE_TOKENS
        };
        self.notes.iter().map(tokens).sum()
    }
}

impl Searcher {
    pub(crate) async fn names_in(
        &self,
        view: &View,
        (scope, selected): (&Scope, &[KnownRepository]),
        (parsed, text): (&ParsedQuery, &str),
    ) -> Result<QuestionNames, QueryError> {
        let mut found = QuestionNames::default();
        let whole = QueryWords::of(text).whole;
        for name in names_of(parsed) {
            match self.definitions(view, scope, selected, NameRequest::uncounted(name)).await {
                Ok(Definitions::Changed(changed)) => {
                    found.has_exact = true;
                    found.note(name, Some(changed.substitution.clone()), Vec::new());
                }
                Ok(Definitions::Indexed(resolved)) => {
                    found.has_exact |= resolved.is_same_name();
                    let Some(substitution) = &resolved.substitution else { continue };
                    found.note(name, Some(substitution.clone()), Vec::new());
                    if resolved.is_same_name() {
                        continue;
                    }
                    if whole.as_deref() == Some(name) && substitution.score >= MIN_LEADING_SCORE {
                        found.leading = leading(&resolved);
                    }
                    found.near.extend(resolved.definitions.into_iter().take(MAX_NEAR).map(hit_of));
                }
                Err(error) if error.code == QueryErrorCode::NotFound => found.note(name, None, error.similar_symbols),
                Err(error) => return Err(error),
            }
        }
        Ok(found)
    }
}

/// The best definitions of the nearest name, then of the other near names.
pub(crate) fn leading(resolved: &Resolved) -> Vec<SymbolHit> {
    let best = resolved.definitions.iter().take(MAX_NEAR);
    best.chain(&resolved.near).cloned().map(hit_of).collect()
}

fn hit_of(hit: ResolvedSymbol) -> SymbolHit {
    SymbolHit { repository: hit.repository, symbol: hit.symbol, matched: NameMatch::Fuzzy, score: hit.score / 10 }
}

/// The names of code in a question, without duplicates.
pub(crate) fn names_of(parsed: &ParsedQuery) -> Vec<&str> {
    if parsed.file_name.is_some() {
        return Vec::new();
    }
    let is_name = |kind: MentionKind| {
        matches!(kind, MentionKind::Code | MentionKind::Class | MentionKind::Function | MentionKind::Symbol)
    };
    let mentioned = parsed.mentions.iter().filter(|mention| is_name(mention.kind)).map(|mention| mention.text.as_str());
    let related = parsed.relationship.iter().map(|asked| asked.name.as_str());
    let mut names: Vec<&str> = Vec::new();
    for name in related.chain(mentioned).map(|name| name.trim_end_matches("()")) {
        if !name.contains(char::is_whitespace) && !names.contains(&name) {
            names.push(name);
        }
    }
    names.truncate(MAX_NAMES);
    names
}

#[cfg(test)]
mod tests {
    use cairn_question::ParseOptions;

    use super::*;

    #[test]
    fn only_names_of_code_are_resolved() {
        let check = |question: &str, expect: &[&str]| {
            let parsed = ParsedQuery::new(question, ParseOptions::default());
            assert_eq!(names_of(&parsed), expect, "{question}");
        };
        check("getUserDta", &["getUserDta"]);
        check("what calls validate_token", &["validate_token"]);
        check("where is `render()` and Parser::parse", &["render", "Parser::parse"]);
        check("what calls render", &["render"]);
        check("how does authentication work", &[]);
        check("config.json", &[]);
    }
}
