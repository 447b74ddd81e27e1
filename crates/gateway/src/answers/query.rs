//! A parsed question.

use cairn_question::{
    Cut, Expansion, FileNameQuery, Filters, FlowAsked, Mention, ParsedQuery, PatternAsked, RelationshipAsked, Replaced,
    Since, StatedFilter, Strategy, SymbolAsked, TypeReason,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A parsed question: its type and the reason, the strategy, and the names, filters and other wordings.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct QueryReport {
    /// The question without white space around it. A long question is shortened.
    pub text: String,
    /// Set if the question was shortened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cut: Option<QueryCut>,
    /// `symbol`, `relationship`, `flow`, `pattern` or `concept`.
    pub query_type: String,
    /// Whether the caller chose the type.
    pub forced: bool,
    pub reason: QueryReason,
    pub strategy: QueryStrategy,
    /// Set if the question asks for a named definition.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub symbol: Option<QuerySymbol>,
    /// Set if the question asks for a relation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub relationship: Option<QueryRelationship>,
    /// Set if the question asks for a flow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub flow: Option<QueryFlow>,
    /// Set if the question asks for a pattern.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pattern: Option<QueryPattern>,
    /// `find`, `explain`, `list`, `compare`, `how`, `why`, `debug` or `general`.
    pub intent: String,
    pub keywords: Vec<String>,
    pub mentions: Vec<QueryMention>,
    pub filters: QueryFilters,
    /// The question without the words that state filters.
    pub text_without_filters: String,
    pub expansions: Vec<QueryExpansion>,
    /// Set if the whole question looks like the name of a file or directory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_name: Option<QueryFileName>,
}

/// The sizes of a question that was shortened.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct QueryCut {
    pub original_bytes: usize,
    pub used_bytes: usize,
}

/// The reason why a question has its type.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct QueryReason {
    /// The name of the reason, such as `relationship_words`.
    pub code: String,
    /// The reason as a sentence.
    pub text: String,
}

/// The strategy of retrieval for a type of question.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct QueryStrategy {
    /// Whether the hybrid search over vectors and terms is part of the strategy.
    pub semantic: bool,
    /// Whether the index of names is read first.
    pub symbols: bool,
    /// Whether the index of patterns is read first.
    pub patterns: bool,
    /// Whether results are extended with their neighbours in the graph.
    pub graph: bool,
    pub graph_depth: u32,
    /// The number of results if the caller sets no limit.
    pub limit: u32,
}

/// The name whose definition a question asks for.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct QuerySymbol {
    pub name: String,
    /// Whether the question asks only for this definition.
    pub is_whole: bool,
}

/// The relation that a question asks for.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct QueryRelationship {
    /// For example `callers`.
    pub relation: String,
    /// `in`, `out` or `both`.
    pub direction: String,
    pub name: String,
    /// The kind that the question states for the name: `file`, `directory`, `module`, `package` or `symbol`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// The second name, for example `B` in "does A call B".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub other: Option<String>,
}

/// The two ends of a flow, or its subject.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct QueryFlow {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
}

/// The kind of code whose usual form a question asks for.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct QueryPattern {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
}

/// Code that a question mentions.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct QueryMention {
    pub text: String,
    /// `code`, `quoted`, `file`, `directory`, `class`, `function` or `symbol`.
    pub kind: String,
    /// From 0 to 1.
    pub confidence: f64,
}

/// The filters that a question states in words.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct QueryFilters {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kinds: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub directories: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub modules: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub languages: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<QuerySince>,
    /// `exclude` or `only`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tests: Option<String>,
    /// The words that state each filter, in the order of the question.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stated: Vec<QueryStatedFilter>,
}

/// The words of a question that state a filter.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct QueryStatedFilter {
    /// The field of the filters, for example `languages`.
    pub filter: String,
    pub words: String,
}

/// Only code that changed since this time.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum QuerySince {
    /// The number of days before today. 0 means today.
    DaysAgo(u32),
    HoursAgo(u32),
    Date {
        year: u32,
        month: u32,
        day: u32,
    },
    /// The last day with this month and day of the month.
    DayOfYear {
        month: u32,
        day: u32,
    },
}

/// Another wording of a question.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct QueryExpansion {
    pub text: String,
    /// The word that was replaced. Absent if the wording consists of the keywords.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replaced: Option<QueryReplaced>,
}

/// A word and the synonym that replaces it.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct QueryReplaced {
    pub word: String,
    pub synonym: String,
    /// `configured`, `shipped` or `learned`.
    pub source: String,
}

/// The name of a file or directory that is the whole question.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct QueryFileName {
    pub name: String,
    /// `file_name`, `name_start`, `document_id`, `path` or `glob`.
    pub kind: String,
    /// The directory that the question states after a glob.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
}

impl QueryReport {
    pub(super) fn of(query: &ParsedQuery) -> Self {
        Self {
            text: query.text.clone(),
            cut: query.cut.map(|Cut { original_bytes, used_bytes }| QueryCut { original_bytes, used_bytes }),
            query_type: query.query_type.to_string(),
            forced: query.forced,
            reason: QueryReason::of(&query.reason),
            strategy: QueryStrategy::of(query.strategy),
            symbol: query.symbol.as_ref().map(QuerySymbol::of),
            relationship: query.relationship.as_ref().map(QueryRelationship::of),
            flow: query.flow.as_ref().map(QueryFlow::of),
            pattern: query.pattern.as_ref().map(|PatternAsked { subject }| QueryPattern { subject: subject.clone() }),
            intent: query.intent.as_str().to_owned(),
            keywords: query.keywords.clone(),
            mentions: query.mentions.iter().map(QueryMention::of).collect(),
            filters: QueryFilters::of(&query.filters),
            text_without_filters: query.text_without_filters.clone(),
            expansions: query.expansions.iter().map(QueryExpansion::of).collect(),
            file_name: query.file_name.as_ref().map(QueryFileName::of),
        }
    }
}

impl QueryReason {
    fn of(reason: &TypeReason) -> Self {
        Self { code: reason.code().to_owned(), text: reason.to_string() }
    }
}

impl QueryStrategy {
    fn of(strategy: Strategy) -> Self {
        let Strategy { semantic, symbols, patterns, graph, graph_depth, limit } = strategy;
        Self { semantic, symbols, patterns, graph, graph_depth, limit }
    }
}

impl QuerySymbol {
    fn of(asked: &SymbolAsked) -> Self {
        Self { name: asked.name.clone(), is_whole: asked.is_whole }
    }
}

impl QueryRelationship {
    fn of(asked: &RelationshipAsked) -> Self {
        Self {
            relation: asked.relation.as_str().to_owned(),
            direction: asked.direction.as_str().to_owned(),
            name: asked.name.clone(),
            kind: asked.kind.map(|kind| kind.as_str().to_owned()),
            other: asked.other.clone(),
        }
    }
}

impl QueryFlow {
    fn of(FlowAsked { from, to, subject }: &FlowAsked) -> Self {
        Self { from: from.clone(), to: to.clone(), subject: subject.clone() }
    }
}

impl QueryMention {
    fn of(mention: &Mention) -> Self {
        let Mention { text, kind, confidence, lines: _ } = mention;
        Self { text: text.clone(), kind: kind.as_str().to_owned(), confidence: f64::from(*confidence) / 100.0 }
    }
}

impl QueryFilters {
    fn of(filters: &Filters) -> Self {
        let Filters { kinds, files, directories, modules, languages, since, tests, stated } = filters;
        let owned = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        Self {
            kinds: owned(kinds),
            files: files.clone(),
            directories: directories.clone(),
            modules: modules.clone(),
            languages: owned(languages),
            since: since.map(QuerySince::of),
            tests: tests.map(|tests| tests.as_str().to_owned()),
            stated: stated.iter().map(QueryStatedFilter::of).collect(),
        }
    }
}

impl QueryStatedFilter {
    fn of(stated: &StatedFilter) -> Self {
        Self { filter: stated.filter.as_str().to_owned(), words: stated.words.clone() }
    }
}

impl QuerySince {
    fn of(since: Since) -> Self {
        match since {
            Since::DaysAgo(days) => Self::DaysAgo(days),
            Since::HoursAgo(hours) => Self::HoursAgo(hours),
            Since::Date { year, month, day } => Self::Date { year, month, day },
            Since::DayOfYear { month, day } => Self::DayOfYear { month, day },
        }
    }
}

impl QueryExpansion {
    fn of(expansion: &Expansion) -> Self {
        let replaced = |Replaced { word, synonym, source }: &Replaced| QueryReplaced {
            word: word.clone(),
            synonym: synonym.clone(),
            source: source.as_str().to_owned(),
        };
        Self { text: expansion.text.clone(), replaced: expansion.replaced.as_ref().map(replaced) }
    }
}

impl QueryFileName {
    fn of(asked: &FileNameQuery) -> Self {
        Self { name: asked.name.clone(), kind: asked.kind.as_str().to_owned(), place: asked.place.clone() }
    }
}

#[cfg(test)]
mod tests {
    use cairn_question::{ParseOptions, QueryType};
    use serde_json::{Value, json};

    use super::*;

    fn parsed(question: &str, forced_type: Option<QueryType>) -> ParsedQuery {
        ParsedQuery::new(question, ParseOptions { forced_type, ..ParseOptions::default() })
    }

    /// The report has the fields of the parsed question, and no others.
    #[test]
    fn report_is_the_parsed_question() {
        let long = format!("where is {} parsed", "the date ".repeat(300));
        let questions = [
            "validateToken",
            "what calls the validate token function",
            "does login call hashPassword",
            "who imports the auth module",
            "path from login to session",
            "how does a request travel through the service",
            "how do importers work",
            "conventions for errors",
            "classes in auth.py changed since last week without tests",
            "python functions in the billing module changed in the last 3 hours",
            "where is `render()` used since 2024-03-01",
            "only tests in src/api that parse the config database error",
            "ADR-025",
            "*.test.ts",
            &long,
        ];
        for question in questions {
            for forced in [None].into_iter().chain(QueryType::ALL.map(Some)) {
                let query = parsed(question, forced);
                let report = QueryReport::of(&query);
                assert_eq!(json!(report), json!(query), "{question}");
                let read: QueryReport = serde_json::from_value(json!(query)).expect("a report");
                assert_eq!(read, report, "{question}");
            }
        }
    }

    #[test]
    fn report_states_filters_and_mentions() {
        let report = json!(QueryReport::of(&parsed("classes in auth.py since last week", None)));
        assert_eq!(report["filters"]["files"], json!(["auth.py"]));
        assert_eq!(report["mentions"][0], json!({"text": "auth.py", "kind": "file", "confidence": 0.95}));
        assert!(report["filters"]["since"].is_object(), "{report}");
        assert_eq!(report["relationship"], Value::Null);
    }
}
