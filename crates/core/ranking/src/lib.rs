//! Computes how well passages match a question, and the order of the results.
//!
//! Every function here is pure and uses only integers. The same inputs give the same order on every machine
//! and with every store. This crate does not depend on how vectors are stored or fetched.

mod budget;
mod fixed;
mod frequencies;
mod list_points;
mod path_match;
mod priors;
mod query_words;
mod rank;
mod similarity;
mod sparse;
mod stem;
mod terms;
#[cfg(test)]
mod test_chunks;
mod words;

pub use budget::{Cut, Fit, estimate_tokens, fit, truncate_lines};
pub use frequencies::{DocumentFrequencies, FrequencyCounter, InvalidFrequencies, shipped_frequencies};
pub use list_points::{Listed, ScoreRange};
pub use priors::{Prior, Subjects};
pub use query_words::{QueryWords, Spelling, is_end_of_path, keywords};
pub use rank::{Candidate, Contribution, Definition, Exactness, Lists, Place, RankedHit, rank};
pub use similarity::{MAX_EDIT_DISTANCE, MIN_FUZZY_PERCENT, are_near, file_name_score, fold_style, similarity_percent};
pub use sparse::{MAX_QUERY_TERMS, PassageFields, passage_terms, query_terms};
pub use stem::is_stop_word;
pub use terms::{StopWords, terms};
pub use words::words;
