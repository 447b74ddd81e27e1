//! The types of questions, their strategies, and the reasons for a type.

use std::fmt;

use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};

use crate::relation::Relation;

/// The type of a question. The type decides the strategy of retrieval.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum QueryType {
    /// Asks for a definition by its name.
    Symbol,
    /// Asks for code that is related to the named code, such as its callers.
    Relationship,
    /// Asks for the path of a request or of data through the code.
    Flow,
    /// Asks for the usual form of some kind of code.
    Pattern,
    /// Asks about a topic.
    Concept,
}

impl QueryType {
    pub const ALL: [Self; 5] = [Self::Symbol, Self::Relationship, Self::Flow, Self::Pattern, Self::Concept];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Symbol => "symbol",
            Self::Relationship => "relationship",
            Self::Flow => "flow",
            Self::Pattern => "pattern",
            Self::Concept => "concept",
        }
    }

    /// The type with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|query_type| query_type.as_str() == name)
    }

    pub fn strategy(self) -> Strategy {
        let (semantic, symbols, patterns, graph_depth, limit) = match self {
            Self::Symbol => (false, true, false, 0, 10),
            Self::Relationship => (false, true, false, 1, 20),
            Self::Flow => (true, false, false, 3, 15),
            Self::Pattern => (true, false, true, 0, 5),
            Self::Concept => (true, false, false, 1, 10),
        };
        Strategy { semantic, symbols, patterns, graph: graph_depth > 0, graph_depth, limit }
    }
}

impl fmt::Display for QueryType {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// The strategy of retrieval for a type of question.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
pub struct Strategy {
    /// Whether the hybrid search over vectors and terms is part of the strategy.
    pub semantic: bool,
    /// Whether the index of names is read first.
    pub symbols: bool,
    /// Whether the index of patterns is read first.
    pub patterns: bool,
    /// Whether results are extended with their neighbours in the graph.
    pub graph: bool,
    /// The maximum number of edges between a result and its neighbours in the answer; 0 if the strategy does
    /// not use the graph.
    pub graph_depth: u32,
    /// The number of results if the caller sets no limit.
    pub limit: u32,
}

/// The reason for the type of a question. `Display` prints the reason as one sentence.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum TypeReason {
    /// The question is only a quoted term or a code span, with optional lead-ins such as "find".
    OnlySpan {
        term: String,
    },
    /// The question is only the name of a file, with optional lead-ins such as "find".
    FileName {
        name: String,
    },
    /// The question has the form "how do X work".
    HowDoTheyWork {
        subject: String,
        names_known: bool,
    },
    PatternWords {
        words: String,
    },
    RelationshipWords {
        words: String,
        relation: Relation,
        name: String,
    },
    FlowWords {
        words: String,
    },
    Identifier {
        name: String,
    },
    /// The question asks for the definition of a word.
    Definition {
        name: String,
    },
    /// No test applies.
    NoTest,
    /// The caller chose the type.
    Forced {
        detected: QueryType,
    },
}

impl TypeReason {
    /// The name by which answers refer to the reason.
    pub fn code(&self) -> &'static str {
        match self {
            Self::OnlySpan { .. } => "only_span",
            Self::FileName { .. } => "file_name",
            Self::HowDoTheyWork { .. } => "how_do_they_work",
            Self::PatternWords { .. } => "pattern_words",
            Self::RelationshipWords { .. } => "relationship_words",
            Self::FlowWords { .. } => "flow_words",
            Self::Identifier { .. } => "identifier",
            Self::Definition { .. } => "definition",
            Self::NoTest => "no_test",
            Self::Forced { .. } => "forced",
        }
    }
}

impl fmt::Display for TypeReason {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OnlySpan { term } => write!(out, "The question is only the quoted term \"{term}\"."),
            Self::FileName { name } => {
                write!(out, "The question is only the name \"{name}\", which looks like a file.")
            }
            Self::HowDoTheyWork { subject, names_known: true } => {
                write!(out, "The question has the form \"how do … work\", and \"{subject}\" names a pattern.")
            }
            Self::HowDoTheyWork { subject, names_known: false } => {
                write!(out, "The question has the form \"how do … work\" about \"{subject}\".")
            }
            Self::PatternWords { words } => write!(out, "The words \"{words}\" ask for the usual form of something."),
            Self::RelationshipWords { words, relation, name } => {
                let relation = relation.as_str().replace('_', " ");
                write!(out, "The words \"{words}\" next to \"{name}\" ask for a relation: {relation}.")
            }
            Self::FlowWords { words } => write!(out, "The words \"{words}\" ask for a path through the code."),
            Self::Identifier { name } => write!(out, "The word \"{name}\" looks like an identifier."),
            Self::Definition { name } => write!(out, "The question asks for the definition of \"{name}\"."),
            Self::NoTest => write!(out, "No word of the question asks for a pattern, a relation, a flow or a name."),
            Self::Forced { detected } => {
                write!(out, "The caller chose the type; without this choice, it would be {detected}.")
            }
        }
    }
}

impl Serialize for TypeReason {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut fields = serializer.serialize_struct("TypeReason", 2)?;
        fields.serialize_field("code", self.code())?;
        fields.serialize_field("text", &self.to_string())?;
        fields.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_type_has_the_limit_and_depth_of_its_strategy() {
        let check = |query_type: QueryType, flags: [bool; 4], graph_depth: u32, limit: u32| {
            let [semantic, symbols, patterns, graph] = flags;
            let expect = Strategy { semantic, symbols, patterns, graph, graph_depth, limit };
            assert_eq!(query_type.strategy(), expect, "{query_type}");
        };
        check(QueryType::Symbol, [false, true, false, false], 0, 10);
        check(QueryType::Relationship, [false, true, false, true], 1, 20);
        check(QueryType::Flow, [true, false, false, true], 3, 15);
        check(QueryType::Pattern, [true, false, true, false], 0, 5);
        check(QueryType::Concept, [true, false, false, true], 1, 10);
    }

    #[test]
    fn types_have_names() {
        for query_type in QueryType::ALL {
            assert_eq!(QueryType::from_name(query_type.as_str()), Some(query_type));
        }
        assert_eq!(QueryType::from_name("Symbol"), None);
    }
}
