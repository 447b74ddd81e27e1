//! Decides which repositories a question names.

use std::collections::BTreeSet;

use crate::priors::Prior;
use crate::{fold_style, is_stop_word};

/// The scores of the chunks of a repository are multiplied by this factor if the question names the
/// repository.
pub(crate) const NAMED_REPOSITORY: Prior = Prior { name: "repository", percent: 150 };

/// Minimum length of a repository's name. Shorter names are ignored, because a question often contains them
/// as words with a different meaning.
const MIN_NAME: usize = 3;
/// At most this number of adjacent words of a question are joined and compared with a name, for example "js
/// sdsl" with `js-sdsl`.
const MAX_WORDS: usize = 3;

/// The words of a question that may be the name of a repository. They are computed once, because a question
/// may search thousands of repositories.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RepositoryMentions(BTreeSet<String>);

impl RepositoryMentions {
    pub fn of(question: &str) -> Self {
        let words: Vec<String> = question
            .split(|character: char| character.is_whitespace() || ",;:?!\"'`()/".contains(character))
            .map(|word| fold_style(word.trim_end_matches('.')))
            .filter(|word| !word.is_empty())
            .collect();
        Self((1..=MAX_WORDS).flat_map(|length| words.windows(length).map(|words| words.concat())).collect())
    }

    /// Whether the question contains the last part of the repository's name, in any naming style.
    pub fn contain(&self, name: &str) -> bool {
        let name = name.split('@').next().unwrap_or(name);
        let last = name.trim_end_matches('/').rsplit('/').next().unwrap_or(name);
        let wanted = fold_style(last.strip_suffix(".git").unwrap_or(last));
        wanted.len() >= MIN_NAME && !is_stop_word(&wanted) && self.0.contains(&wanted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(question: &str, name: &str, expect: bool) {
        assert_eq!(RepositoryMentions::of(question).contain(name), expect, "{question} {name}");
    }

    #[test]
    fn repositories_are_named_in_any_style() {
        check("how does asynq retry?", "github.com/hibiken/asynq", true);
        check("retries in Asynq.", "asynq", true);
        check("red black trees of js sdsl", "js-sdsl", true);
        check("JsSdsl iterators", "typescript/js-sdsl", true);
        check("acme/shop checkout", "github.com/acme/shop", true);
        check("where are tasks", "github.com/hibiken/asynq", false);
        check("the tasks queue", "task", false);
        check("use of it", "acme/it", false);
        check("asynq at a tag", "github.com/hibiken/asynq@v1.0", true);
        check("", "asynq", false);
    }
}
