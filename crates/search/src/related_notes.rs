//! Builds the sentences about the edges of a name.

use cairn_question::{Relation, RelationshipAsked};
use cairn_redaction::{Given, Message, Phrase, Whole, quoted};

use crate::go_implementers::{Implementers, is_go};
use crate::named_code::NamedCode;

/// Maximum number of chunks that come before other results because they have the requested relation to a
/// name.
pub(crate) const MAX_RELATED: usize = 60;

/// The number of nodes that the edges connect with the name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Counted {
    pub(crate) relation: Relation,
    pub(crate) num: usize,
    /// The number of edges that lead to these nodes.
    pub(crate) num_edges: usize,
    /// Whether more such nodes may exist.
    pub(crate) is_cut: bool,
    /// Whether the answer shows the sites of all these nodes.
    pub(crate) is_all_shown: bool,
    /// Whether the answer also shows code that was found by the names of its methods, not by edges.
    pub(crate) has_others: bool,
}

/// The maximum value of `limit` of `analyze_relationship`.
const MAX_LIMIT: usize = 500;

/// The sentence for a name without edges of the requested relation. If some code with the name was left out,
/// the sentence is only about the considered code.
pub(crate) fn no_edges(asked: &RelationshipAsked, named: &NamedCode) -> Message {
    let message = Message::from("The graph contains no ").and(words_of(asked.relation)).and(" ");
    let message = message.and(if named.is_cut() { "the considered code called " } else { "" });
    let message = message.and(named.shown_name(&asked.name));
    let is_go = named.nodes.iter().all(|node| node.path.as_ref().is_some_and(is_go));
    let message = match asked.relation {
        Relation::Supertypes if is_go => message.and(", because Go code does not state which interfaces it implements"),
        _ => message,
    };
    message.and("; the results are found by words.")
}

/// The sentence about a Go type that has the methods of the interface in the question. `is_partial` is true
/// if not all methods of the interface were compared.
pub(crate) fn implements_by_names(name: Message, interface: Message, is_partial: bool) -> Message {
    let message = name.and(" has methods with the names of ").and(if is_partial { "many" } else { "all" });
    let message = message.and(" methods of ").and(interface);
    let message = message.and(". Go code does not state which interfaces a type implements, ");
    message.and("and the signatures are not compared.")
}

/// The sentences about Go types that were found because their methods have the same names as the methods of
/// the interface. `None` if there are no such types.
pub(crate) fn implemented_by_names(name: Message, implementers: &Implementers) -> Option<Message> {
    let num = implementers.num_types();
    let at_least = if implementers.is_cut { "at least " } else { "" };
    let types = if num == 1 { " type has" } else { " types have" };
    let methods = if implementers.is_partial { "many" } else { "all" };
    let message = Message::from("Go code does not state which types implement an interface: ").and(at_least).and(num);
    let message = message.and(types).and(" methods with the names of ").and(methods).and(" methods of ");
    let message = message.and(name);
    (num > 0).then(|| message.and(". The signatures are not compared, nor the methods of embedded types."))
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

/// The sentence that states how many chunks show edges of the name, because other results come after these
/// chunks. If not all chunks are shown, the sentence suggests a call that lists all edges. `None` if no chunk
/// is shown, or if all edges are shown between other code, so that the results with edges are not the first.
pub(crate) fn num_edges_shown(
    asked: &RelationshipAsked,
    counted: Counted,
    num_shown: usize,
    named: &NamedCode,
) -> Option<Message> {
    let (name, relation) = (named.shown_name(&asked.name), counted.relation);
    if num_shown == 0 {
        return None;
    }
    if counted.is_all_shown && !counted.is_cut {
        let message = match num_shown {
            1 => Message::from("The first result shows the "),
            num => Message::from("The first ").and(num).and(" results show the "),
        };
        let message = message.and(words_of(relation)).and(" ").and(name).and(" in the graph");
        let is_list = asked.other.is_none() && counted.num > 0 && !counted.has_others;
        return is_list.then(|| message.and("; all other results are found by words."));
    }
    let at_least = if counted.is_cut { "at least " } else { "" };
    let (words, num) = (words_of(relation), counted.num);
    let message = Message::from("The graph contains ").and(at_least).and(num).and(" ").and(words).and(" ");
    let message = message.and(name).and("; the first ").and(num_shown).and(" places are shown first.");
    // A call with a shortened target would not work.
    let is_exact = |target: &String| quoted(target).as_str() == target;
    let Some((target, mode)) = named.target(&asked.name).filter(is_exact).zip(mode_of(relation)) else {
        return Some(message);
    };
    let limit = counted.num_edges.max(num).min(MAX_LIMIT);
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
