//! Resolves the names that a question mentions, so that a mistyped name finds its definition and an absent
//! name is reported.

use cairn_domain::{Scope, View};
use cairn_ports::{NameMatch, ResolvedSymbol, SymbolHit};
use cairn_question::{MentionKind, NamedKind, ParsedQuery, RelationshipAsked};
use cairn_ranking::{QueryWords, estimate_tokens};

use crate::changed::Definitions;
use crate::named_code::{NamedAs, NamedCode};
use crate::repositories::KnownRepository;
use crate::resolve::{MIN_LEADING_SCORE, NameRequest, Resolved, Substitution};
use crate::{QueryError, QueryErrorCode, Searcher};

/// Maximum number of names of a question that are resolved.
const MAX_NAMES: usize = 3;
/// Maximum number of definitions of a near name that become candidates.
const MAX_NEAR: usize = 5;
/// Number of tokens of a note in addition to its names.
const NOTE_TOKENS: usize = 30;

/// A name in a question that is not exactly the name of a symbol.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NameNote {
    pub requested: String,
    /// Whether the name is the name of a file.
    pub is_file: bool,
    /// The name that was used instead. `None` if the name is absent.
    pub substitution: Option<Substitution>,
    /// Near names, if the name is absent.
    pub similar: Vec<String>,
}

/// The names in a question that are not exactly the name of a symbol.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct QuestionNames {
    pub(crate) notes: Vec<NameNote>,
    /// Definitions of near names, best first.
    pub(crate) near: Vec<SymbolHit>,
    /// The definitions of the nearest names, if the whole question is a misspelled name. These definitions
    /// come before all other results.
    pub(crate) leading: Vec<SymbolHit>,
    /// Whether a symbol has one of the names, in any case or style.
    pub(crate) has_exact: bool,
    /// The nodes of the name in a relationship question.
    pub(crate) related: NamedCode,
    /// The nodes of the second name, for example `B` in "does A call B".
    pub(crate) other: NamedCode,
    /// Facts about the names that the caller must know, as sentences.
    pub(crate) facts: Vec<String>,
}

impl QuestionNames {
    pub(crate) fn note(&mut self, requested: &str, substitution: Option<Substitution>, similar: Vec<String>) {
        self.notes.push(NameNote { requested: requested.to_owned(), is_file: false, substitution, similar });
    }

    /// Adds the definitions to which a name was resolved. Returns whether they have a near name that may lead
    /// the answer.
    fn add(&mut self, name: &str, resolved: &Resolved) -> bool {
        self.has_exact |= resolved.is_same_name();
        let Some(substitution) = &resolved.substitution else { return false };
        self.note(name, Some(substitution.clone()), Vec::new());
        if resolved.is_same_name() {
            return false;
        }
        self.near.extend(resolved.definitions.iter().take(MAX_NEAR).cloned().map(hit_of));
        substitution.score >= MIN_LEADING_SCORE
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
        if let Some(asked) = &parsed.relationship {
            found.related = self.named_in(view, (scope, selected), (asked, &asked.name), &mut found).await?;
            if let Some(other) = &asked.other {
                found.other = self.named_in(view, (scope, selected), (asked, other), &mut found).await?;
            }
        }
        let whole = whole_name(parsed, text);
        for name in names_of(parsed) {
            match self.definitions(view, scope, selected, NameRequest::uncounted(name)).await {
                Ok(Definitions::Changed(changed)) => {
                    found.has_exact = true;
                    found.note(name, Some(changed.substitution.clone()), Vec::new());
                }
                Ok(Definitions::Indexed(resolved)) => {
                    if found.add(name, &resolved) && whole.as_deref() == Some(name) {
                        found.leading = leading(&resolved);
                    }
                }
                Err(error) if error.code == QueryErrorCode::NotFound => found.note(name, None, error.similar_symbols),
                Err(error) => return Err(error),
            }
        }
        Ok(found)
    }

    /// Resolves a name of a relationship question, and notes the differences from the requested name.
    async fn named_in(
        &self,
        view: &View,
        scope: (&Scope, &[KnownRepository]),
        (asked, name): (&RelationshipAsked, &str),
        found: &mut QuestionNames,
    ) -> Result<NamedCode, QueryError> {
        let name = name.trim_end_matches("()");
        Ok(match self.named_code(view, scope, asked, name).await? {
            NamedAs::Definitions(resolved) => {
                found.add(name, &resolved);
                NamedCode::of_definitions(&resolved)
            }
            NamedAs::Changed(substitution) => {
                found.has_exact = true;
                let used = &substitution.used;
                found
                    .facts
                    .push(format!("The relations of `{used}` are unknown until its repository is indexed again."));
                found.note(name, Some(substitution), Vec::new());
                NamedCode::default()
            }
            NamedAs::Place(place) => {
                found.has_exact = true;
                found.facts.extend(place.note.clone());
                place
            }
            NamedAs::Absent(similar) => {
                match asked.kind.filter(|kind| *kind != NamedKind::Symbol) {
                    Some(kind) => found.facts.push(format!("No {} is called \"{name}\".", kind.as_str())),
                    None => found.note(name, None, similar),
                }
                NamedCode::default()
            }
        })
    }
}

/// The name whose definition the question asks for, if the question asks only for this definition.
fn whole_name(parsed: &ParsedQuery, text: &str) -> Option<String> {
    let asked = parsed.symbol.as_ref().filter(|asked| asked.is_whole);
    asked.map(|asked| asked.name.clone()).or_else(|| QueryWords::of(text).whole)
}

/// The best definitions of the nearest name, then of the other near names.
pub(crate) fn leading(resolved: &Resolved) -> Vec<SymbolHit> {
    let best = resolved.definitions.iter().take(MAX_NEAR);
    best.chain(&resolved.near).cloned().map(hit_of).collect()
}

fn hit_of(hit: ResolvedSymbol) -> SymbolHit {
    SymbolHit { repository: hit.repository, symbol: hit.symbol, matched: NameMatch::Fuzzy, score: hit.score / 10 }
}

/// The names of code in a question, without duplicates. The names in a relationship question are not
/// included, because they are resolved in another way.
pub(crate) fn names_of(parsed: &ParsedQuery) -> Vec<&str> {
    if parsed.file_name.is_some() {
        return Vec::new();
    }
    let is_name = |kind: MentionKind| {
        matches!(kind, MentionKind::Code | MentionKind::Class | MentionKind::Function | MentionKind::Symbol)
    };
    let mentioned = parsed.mentions.iter().filter(|mention| is_name(mention.kind)).map(|mention| mention.text.as_str());
    let of_relation = parsed.relationship.iter().flat_map(|asked| [Some(&asked.name), asked.other.as_ref()]);
    let related: Vec<&str> = of_relation.flatten().map(|name| name.trim_end_matches("()")).collect();
    let asked = parsed.symbol.iter().map(|asked| asked.name.as_str());
    let mut names: Vec<&str> = Vec::new();
    for name in asked.chain(mentioned).map(|name| name.trim_end_matches("()")) {
        if !name.contains(char::is_whitespace) && !names.contains(&name) && !related.contains(&name) {
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
        check("what calls validate_token", &[]);
        check("what calls validate_token and Parser.parse", &["Parser.parse"]);
        check("find Button", &["Button"]);
        check("fn parse", &["parse"]);
        check("where is timeout defined", &["timeout"]);
        check("what is \"parse\"", &["parse"]);
        check("find \"connection refused\"", &[]);
        check("where is `render()` and Parser::parse", &["Parser::parse", "render"]);
        check("what calls render", &[]);
        check("how does authentication work", &[]);
        check("config.json", &[]);
    }
}
