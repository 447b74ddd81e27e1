//! Builds the sentences about the edges of a name.

use cairn_question::{Relation, RelationshipAsked};
use cairn_redaction::{Given, Message, Phrase, Whole, quoted};

use crate::named_code::NamedCode;

/// Maximum number of chunks that come before other results because they have the requested relation to a
/// name.
pub(crate) const MAX_RELATED: usize = 60;

/// The number of nodes that the edges connect with the name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Counted {
    pub(crate) num: usize,
    /// Whether more such nodes may exist.
    pub(crate) is_cut: bool,
    /// Whether the answer shows the sites of all these nodes.
    pub(crate) is_all_shown: bool,
}

/// The maximum value of `limit` of `analyze_relationship`.
const MAX_LIMIT: usize = 500;

/// The sentence for a name without edges of the requested relation. If some code with the name was left out,
/// the sentence is only about the considered code.
pub(crate) fn no_edges(asked: &RelationshipAsked, named: &NamedCode) -> Message {
    let message = Message::from("The graph contains no ").and(words_of(asked.relation)).and(" ");
    let message = message.and(if named.is_cut() { "the considered code called " } else { "" });
    message.and(Given(&asked.name)).and("; the results are found by words.")
}

/// The sentence for a question with two names, if the graph contains no edge between them, or no node that
/// has the relation to both.
pub(crate) fn no_edge_to(asked: &RelationshipAsked, other: &str) -> Message {
    let (name, words, other) = (Given(&asked.name), words_of(asked.relation), Given(other));
    match asked.relation {
        Relation::Related => {
            Message::from("The graph contains no edge between ").and(name).and(" and ").and(other).and(".")
        }
        relation if relation.direction() == cairn_question::Direction::In => {
            let message = Message::from("The graph contains nothing that is among both the ").and(words).and(" ");
            message.and(name).and(" and the ").and(words).and(" ").and(other).and(".")
        }
        _ => {
            let message = Message::default().and(other).and(" is not among the ").and(words).and(" ");
            message.and(name).and(" in the graph.")
        }
    }
}

/// The sentence that states that not all chunks are shown. `None` if all chunks are shown. The sentence
/// suggests a call that lists all edges; `target` is the `target` argument of this call.
pub(crate) fn shown_first(
    asked: &RelationshipAsked,
    counted: Counted,
    num_shown: usize,
    target: Option<String>,
) -> Option<Message> {
    if counted.is_all_shown && !counted.is_cut {
        return None;
    }
    let at_least = if counted.is_cut { "at least " } else { "" };
    let (words, num) = (words_of(asked.relation), counted.num);
    let message = Message::from("The graph contains ").and(at_least).and(num).and(" ").and(words).and(" ");
    let message = message.and(Given(&asked.name)).and("; the first ").and(num_shown).and(" places are shown first.");
    // A call with a shortened target would not work.
    let is_exact = |target: &String| quoted(target).as_str() == target;
    let Some((target, mode)) = target.filter(is_exact).zip(mode_of(asked.relation)) else { return Some(message) };
    // The limit is doubled, because a node may have several edges.
    let limit = (2 * num).min(MAX_LIMIT);
    let message = message.and(" All: `analyze_relationship` with `target: ");
    let message = match target == asked.name {
        true => message.and(Phrase(&target)),
        false => message.and(Whole(quoted(&target))),
    };
    let message = message.and("`, `mode: \"").and(mode);
    Some(message.and("\"`, `limit: ").and(limit).and("`."))
}

/// The words before the name in a sentence, for example "callers of".
fn words_of(relation: Relation) -> &'static str {
    match relation {
        Relation::Callers => "callers of",
        Relation::Callees => "callees of",
        Relation::CallHierarchy => "callers or callees of",
        Relation::Users => "users of",
        Relation::Uses => "code used by",
        Relation::Importers => "importers of",
        Relation::Imports => "imports of",
        Relation::Dependents => "dependents of",
        Relation::Dependencies => "dependencies of",
        Relation::Subtypes => "subtypes of",
        Relation::Supertypes => "supertypes of",
        Relation::Hierarchy => "subtypes or supertypes of",
        Relation::Overrides => "overrides of",
        Relation::Overridden => "methods overridden by",
        Relation::Creators => "creators of",
        Relation::Related => "code related to",
    }
}

/// The mode of `analyze_relationship` that lists all edges of the relation.
fn mode_of(relation: Relation) -> Option<&'static str> {
    Some(match relation {
        Relation::Callers | Relation::Creators | Relation::CallHierarchy => "callers",
        Relation::Callees => "callees",
        Relation::Users | Relation::Importers | Relation::Dependents | Relation::Related => "dependents",
        Relation::Uses | Relation::Imports | Relation::Dependencies => "dependencies",
        Relation::Subtypes | Relation::Supertypes | Relation::Hierarchy => "inheritance",
        Relation::Overrides | Relation::Overridden => return None,
    })
}
