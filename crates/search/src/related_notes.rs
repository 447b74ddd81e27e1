//! Builds the sentences about the edges of a name.

use cairn_question::{Relation, RelationshipAsked};

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

/// The sentence for a name without edges of the requested relation.
pub(crate) fn no_edges(asked: &RelationshipAsked) -> String {
    let (name, words) = (&asked.name, words_of(asked.relation));
    format!("The graph contains no {words} `{name}`; the results are found by words.")
}

/// The sentence for a question with two names, if the graph contains no edge between them, or no node that
/// has the relation to both.
pub(crate) fn no_edge_to(asked: &RelationshipAsked, other: &str) -> String {
    let (name, words) = (&asked.name, words_of(asked.relation));
    match asked.relation {
        Relation::Related => format!("The graph contains no edge between `{name}` and `{other}`."),
        relation if relation.direction() == cairn_question::Direction::In => {
            format!("The graph contains nothing that is among both the {words} `{name}` and the {words} `{other}`.")
        }
        _ => format!("`{other}` is not among the {words} `{name}` in the graph."),
    }
}

/// The sentence that states that not all chunks are shown. `None` if all chunks are shown. The sentence
/// suggests a call that lists all edges; `target` is the `target` argument of this call.
pub(crate) fn shown_first(
    asked: &RelationshipAsked,
    counted: Counted,
    num_shown: usize,
    target: Option<String>,
) -> Option<String> {
    if counted.is_all_shown && !counted.is_cut {
        return None;
    }
    let at_least = if counted.is_cut { "at least " } else { "" };
    let (name, words, num) = (&asked.name, words_of(asked.relation), counted.num);
    // The limit is doubled, because a node may have several edges.
    let limit = (2 * num).min(MAX_LIMIT);
    let call = |(target, mode)| {
        format!(" All: `analyze_relationship` with `target: \"{target}\"`, `mode: \"{mode}\"`, `limit: {limit}`.")
    };
    let call = target.zip(mode_of(asked.relation)).map(call).unwrap_or_default();
    Some(format!(
        "The graph contains {at_least}{num} {words} `{name}`; the first {num_shown} places are shown first.{call}"
    ))
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
