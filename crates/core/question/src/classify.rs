//! Decides the type of a question. The tests have a fixed order: first lines of definitions, quoted terms,
//! file names, patterns, relations, flows, names, definitions. If no test applies, the question is about a
//! concept.

use std::ops::Range;

use crate::definition_line::defined_name;
use crate::file_name::FileNameQuery;
use crate::flow::{self, FlowFound};
use crate::names::text_of;
use crate::pattern::{self, PatternFound};
use crate::query_type::{QueryType, TypeReason};
use crate::relationship::{self, RelationFound};
use crate::symbol::{self, SymbolAsked};
use crate::tokens::Token;

/// The words of a question, and the facts about them that the tests use.
pub(crate) struct Reading<'a> {
    pub(crate) question: &'a str,
    pub(crate) tokens: &'a [Token],
    pub(crate) pattern_names: Option<&'a [String]>,
    pub(crate) file_name: Option<&'a FileNameQuery>,
    /// Whether the question was the first line of a definition. `question` then contains only the name.
    pub(crate) is_definition_line: bool,
}

/// The type of a question, the reason for the type, and the parts of the question that the strategy of this
/// type uses.
pub(crate) struct Classified {
    pub(crate) query_type: QueryType,
    pub(crate) reason: TypeReason,
    pub(crate) relation: Option<RelationFound>,
    pub(crate) flow: Option<FlowFound>,
    pub(crate) pattern: Option<PatternFound>,
    pub(crate) symbol: Option<SymbolAsked>,
}

impl Classified {
    fn new(query_type: QueryType, reason: TypeReason) -> Self {
        Self { query_type, reason, relation: None, flow: None, pattern: None, symbol: None }
    }

    fn of_symbol(reason: TypeReason, name: &str, is_whole: bool) -> Self {
        let name = name.trim_end_matches("()").to_owned();
        Self { symbol: Some(SymbolAsked { name, is_whole }), ..Self::new(QueryType::Symbol, reason) }
    }
}

type Test = fn(&Reading) -> Option<Classified>;

/// The tests, in the order in which they are tried. The first test that applies decides the type.
const TESTS: [Test; 8] =
    [definition_line, only_span, only_file_name, pattern, relationship, flow, identifier, definition];

pub(crate) fn classify(reading: &Reading) -> Classified {
    let found = TESTS.iter().find_map(|test| test(reading));
    found.unwrap_or_else(|| Classified::new(QueryType::Concept, TypeReason::NoTest))
}

fn definition_line(reading: &Reading) -> Option<Classified> {
    let name = reading.question;
    let reason = TypeReason::Definition { name: name.to_owned() };
    reading.is_definition_line.then(|| Classified::of_symbol(reason, name, true))
}

/// A question asks for a quoted term or code span if all other words of the question are lead-ins such as
/// "where" and "is": "where is `open` defined". But "where is `open` used" asks for a relation.
fn only_span(reading: &Reading) -> Option<Classified> {
    let index = symbol::only_span(reading.tokens)?;
    if relationship::find(reading.tokens).is_some() {
        return None;
    }
    let term = reading.tokens[index].text.clone();
    let name = defined_name(&term).unwrap_or_else(|| term.clone());
    Some(Classified::of_symbol(TypeReason::OnlySpan { term }, &name, true))
}

fn only_file_name(reading: &Reading) -> Option<Classified> {
    let name = reading.file_name?.name.clone();
    Some(Classified::new(QueryType::Symbol, TypeReason::FileName { name }))
}

fn pattern(reading: &Reading) -> Option<Classified> {
    let found = pattern::find(reading.tokens, reading.pattern_names)?;
    let reason = if found.asks_how_it_works {
        let subject = found.subject.as_ref().map(|range| reading.text(range)).unwrap_or_default();
        TypeReason::HowDoTheyWork { subject, names_known: reading.pattern_names.is_some() }
    } else {
        TypeReason::PatternWords { words: reading.words(&found.words) }
    };
    Some(Classified { pattern: Some(found), ..Classified::new(QueryType::Pattern, reason) })
}

fn relationship(reading: &Reading) -> Option<Classified> {
    let found = relationship::find(reading.tokens)?;
    let reason = TypeReason::RelationshipWords {
        words: reading.words(&found.words.clone().collect::<Vec<_>>()),
        relation: found.relation,
        name: reading.text(&found.name),
    };
    Some(Classified { relation: Some(found), ..Classified::new(QueryType::Relationship, reason) })
}

fn flow(reading: &Reading) -> Option<Classified> {
    let found = flow::find(reading.tokens)?;
    let reason = TypeReason::FlowWords { words: reading.words(&found.words) };
    Some(Classified { flow: Some(found), ..Classified::new(QueryType::Flow, reason) })
}

fn identifier(reading: &Reading) -> Option<Classified> {
    let index = symbol::identifier(reading.tokens)?;
    let name = reading.tokens[index].text.clone();
    let is_whole = symbol::is_only_name(reading.tokens, index);
    Some(Classified::of_symbol(TypeReason::Identifier { name: name.clone() }, &name, is_whole))
}

fn definition(reading: &Reading) -> Option<Classified> {
    let index = symbol::defined_word(reading.tokens)?;
    let name = reading.tokens[index].text.clone();
    Some(Classified::of_symbol(TypeReason::Definition { name: name.clone() }, &name, true))
}

impl Reading<'_> {
    pub(crate) fn text(&self, range: &Range<usize>) -> String {
        text_of(self.question, self.tokens, range)
    }

    /// The words at these positions. An ellipsis replaces each sequence of words that is left out between
    /// them.
    fn words(&self, positions: &[usize]) -> String {
        let mut text = String::new();
        for (index, position) in positions.iter().enumerate() {
            if index > 0 {
                let is_next = positions[index - 1] + 1 == *position;
                text.push_str(if is_next { " " } else { " … " });
            }
            text.push_str(&self.tokens[*position].text);
        }
        text
    }
}
