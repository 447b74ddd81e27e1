//! A question with the grades of its results.

use std::time::Duration;

use crate::grade::Grades;
use crate::questions::QuestionKind;

/// The repositories in which a question is asked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Reach {
    /// Only the repository that the question is about.
    Alone,
    /// All repositories of both halves together. The request names no repository.
    Together,
}

/// The grades of one question.
#[derive(Clone, Debug)]
pub(crate) struct GradedQuestion {
    pub(crate) id: String,
    pub(crate) kind: QuestionKind,
    pub(crate) language: String,
    pub(crate) checkout: bool,
    pub(crate) reach: Reach,
    pub(crate) grades: Grades,
    pub(crate) num_results: usize,
    /// The reason why a question of the kind `nonsense` has no answer.
    pub(crate) absent: Option<String>,
    /// The relevance score, if it was computed.
    pub(crate) score: Option<i64>,
    pub(crate) took: Duration,
}

/// The questions that one setting of the ranking, or another program, has answered.
pub(crate) struct Measured {
    pub(crate) setting: String,
    /// Whether the answers come from the program that is compared with the shipped ranking.
    pub(crate) is_compared: bool,
    pub(crate) asked: Vec<GradedQuestion>,
}
