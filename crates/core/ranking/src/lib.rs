//! Computes how well passages match a question, and the order of the results.
//!
//! Every function here is pure and uses only integers. The same inputs give the same order on every machine
//! and with every store. This crate does not depend on how vectors are stored or fetched.

mod asked_file;
mod asked_kind;
mod budget;
mod candidate;
mod code_lines;
mod declared;
mod definitions;
mod expansion;
mod file_kinds;
mod fixed;
mod frequencies;
mod hit;
mod list_points;
mod matched_words;
mod mentions;
mod named_repository;
mod path_match;
mod priors;
mod query_words;
mod rank;
mod relevance;
mod repository_evidence;
mod repository_words;
mod scope_frequencies;
mod second_stage;
mod signals;
mod similarity;
mod sparse;
mod standard;
mod stem;
mod story;
mod subjects;
mod taught;
mod term_counts;
mod terms;
#[cfg(test)]
mod test_chunks;
mod text_facts;
mod via;
mod weights;
mod word_match;
mod word_pairs;
mod words;
mod work_questions;

pub use asked_file::asks_for_file;
pub use budget::{Cut, Fit, ShownLines, estimate_tokens, fit, fit_at_least_one, lines_around, truncate_lines};
pub use candidate::{Candidate, Definition, Exactness, Lists, RelationRank};
pub use definitions::{DefinitionContext, definition_key, path_distance};
pub use expansion::{Expansion, expand, lead_with_path};
pub use file_kinds::FileKind;
pub use frequencies::{DocumentFrequencies, FrequencyCounter, InvalidFrequencies, shipped_frequencies};
pub use hit::{Contribution, Place, RankedHit, Scores};
pub use list_points::{Listed, ScoreRange};
pub use matched_words::is_comparable;
pub use named_repository::RepositoryMentions;
pub use priors::{Prior, Subjects};
pub use query_words::{QueryWords, Spelling, is_end_of_path, keywords};
pub use rank::{RankQuery, Ranking, rank};
pub use relevance::{
    AnswerRelevance, DenseEvidence, Evidence, KeywordEvidence, is_abbreviation, keywords_for_relevance, looks_random,
};
pub use repository_words::{QuestionWord, RepositoryWords};
pub use scope_frequencies::ScopeFrequencies;
pub use second_stage::{SecondStage, hits_of_second_stage, rerank};
pub use signals::{Signal, Signals};
pub use similarity::{MAX_EDIT_DISTANCE, MIN_FUZZY_PERCENT, are_near, fold_style, similarity_percent};
pub use sparse::{MAX_QUERY_TERMS, PassageFields, add_synonyms, passage_terms, query_terms};
pub use stem::is_stop_word;
pub use story::{EndMatch, Ends, Link, Relevance, Story, best_story};
pub use taught::is_shortening;
pub use term_counts::{TermCounter, sum_of_counts};
pub use terms::{StopWords, terms};
pub use text_facts::{FactsOfTexts, TextFacts, WordKey};
pub use via::{Via, via_text};
pub use weights::Weights;
pub use word_match::{EqualWords, WordSimilarity};
pub use word_pairs::{LearnedWords, MAX_LEARNED};
pub use words::words;
