//! Finds names that are near a requested name.
//!
//! A name is folded into words: `getUserById`, `get_user_by_id` and `get user by id` have the same words. A
//! requested name can match a name in two ways, and the higher score is used:
//!
//! - by its letters: a few letters are wrong, missing, added or swapped;
//! - by its words: the words have a different order, or some words are missing, added, abbreviated, inflected
//!   or replaced by words with the same meaning.
//!
//! The score of a name depends only on the requested name and on the name itself. The score does not depend
//! on other names, so it is the same on every back end. All scores are integers in thousandths.

mod align;
mod antonyms;
mod candidates;
mod distance;
mod files;
mod fold;
mod lexicon;
mod near;
mod near_index;
mod other_spellings;
mod reasons;
mod receiver;
mod same;
mod sound;
mod spelling;
mod table;
mod wanted;
mod word_match;

pub use distance::{bounded_distance, closeness};
pub use files::{PathPart, PathScore, WantedFile};
pub use fold::{fold_words, folded};
pub use near::{MIN_SCORE, NearName, near_names, score_name};
pub use near_index::NearIndex;
pub use other_spellings::other_spellings;
pub use reasons::{Reason, Reasons};
pub use receiver::OwnerScores;
pub use same::SameName;
pub use spelling::{has_arity, plain_name};
pub use table::{MemoryTable, NameTable};
pub use wanted::{LearnedAbbreviation, WantedName};
