//! Reads a question: its type, its intent, the names and filters in it, and other wordings of it.
//!
//! [`ParsedQuery::new`] is a pure function of the question and of [`ParseOptions`]. The rules are data:
//! phrases that match the words of a question (see `phrase.rs`), tables of words, verbs and nouns, and a
//! table of synonyms.

mod classify;
mod cut;
mod definition_line;
mod expansions;
mod explain;
mod file_name;
mod filters;
mod flow;
mod identifiers;
mod intent;
mod keywords;
mod members;
mod mentions;
mod names;
mod parsed;
mod pattern;
mod phrase;
mod positions;
mod query_type;
mod relation;
mod relation_words;
mod relationship;
mod second_name;
mod symbol;
mod synonyms;
mod tokens;
mod vocabulary;

pub use crate::cut::Cut;
pub use crate::expansions::{Expansion, MAX_EXPANSIONS, Replaced};
pub use crate::file_name::{FileNameKind, FileNameQuery, is_written_like_a_file, only_word};
pub use crate::filters::{FilterName, Filters, Since, StatedFilter, TestsWanted};
pub use crate::identifiers::is_file_text as is_file_name;
pub use crate::identifiers::{is_identifier_text, path_and_name};
pub use crate::intent::Intent;
pub use crate::keywords::is_stop_word;
pub use crate::mentions::{Mention, MentionKind};
pub use crate::parsed::{FlowAsked, ParseOptions, ParsedQuery, PatternAsked, RelationshipAsked};
pub use crate::pattern::names_a_pattern;
pub use crate::positions::{Lines, file_and_lines};
pub use crate::query_type::{QueryType, Strategy, TypeReason};
pub use crate::relation::{Direction, NamedKind, Relation};
pub use crate::symbol::SymbolAsked;
pub use crate::synonyms::{LearnedPair, SynonymEntry, SynonymSource, Synonyms};
