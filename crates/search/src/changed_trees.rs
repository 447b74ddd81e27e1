//! The changed files of the repositories in scope, and a report on the changed files that were not read.

use std::cmp::Reverse;
use std::sync::Arc;

use cairn_domain::Source;
use cairn_redaction::Message;
use futures::future::join_all;

use crate::changed_files::ChangedTree;
use crate::repositories::KnownRepository;
use crate::{NextCall, QueryError, Searcher};

/// Maximum number of repositories whose changed files are read for one question.
const MAX_REPOSITORIES: usize = 16;
/// Maximum number of repositories that a report names.
const MAX_NAMED: usize = 3;

pub(crate) struct ChangedTrees<'a> {
    pub(crate) trees: Vec<(&'a KnownRepository, Arc<ChangedTree>)>,
    /// Number of further repositories whose source is on this machine, but whose changed files were not
    /// requested.
    num_left_out: usize,
}

/// The changed files that were not read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Unread {
    files: Message,
    /// The call that indexes a repository with changed files that were not read.
    indexing: Option<NextCall>,
}

impl Searcher {
    /// The changed files of the repositories. The most recently indexed repositories come first, because the
    /// caller is probably working in them.
    pub(crate) async fn changed_trees<'a>(&self, selected: &'a [KnownRepository]) -> ChangedTrees<'a> {
        let Some(changed) = &self.changed else { return ChangedTrees { trees: Vec::new(), num_left_out: 0 } };
        let is_local = |source: &Source| matches!(source, Source::WorkTree { .. } | Source::Directory { .. });
        let mut known: Vec<&KnownRepository> =
            selected.iter().filter(|known| known.published.is_some() && is_local(&known.record.source)).collect();
        known.sort_by_key(|known| Reverse(known.published.as_ref().map(|published| published.indexed_at_ms)));
        let num_left_out = known.len().saturating_sub(MAX_REPOSITORIES);
        known.truncate(MAX_REPOSITORIES);
        let read = async |known: &'a KnownRepository| (known, changed.changed_files(&known.record).await);
        ChangedTrees { trees: join_all(known.into_iter().map(read)).await, num_left_out }
    }
}

impl ChangedTrees<'_> {
    /// The changed files whose definitions are unknown. `None` if all changed files were read.
    pub(crate) fn unread(&self) -> Option<Unread> {
        self.unread_if(|tree| !tree.left_out.is_empty())
    }

    /// The changed files whose paths are unknown. `None` if all paths are known.
    pub(crate) fn unlisted(&self) -> Option<Unread> {
        self.unread_if(|_| false)
    }

    fn unread_if(&self, has_unread_files: impl Fn(&ChangedTree) -> bool) -> Option<Unread> {
        let is_named = |tree: &ChangedTree| tree.is_unread || has_unread_files(tree);
        let named: Vec<_> = self.trees.iter().filter(|(_, tree)| is_named(tree)).collect();
        let mut facts: Vec<Message> = named.iter().take(MAX_NAMED).map(|(known, tree)| fact(known, tree)).collect();
        let num_more = self.num_left_out + named.len() - facts.len();
        facts.extend(
            (num_more > 0).then(|| Message::from("the changed files of ").and(num_more).and(" more repositories")),
        );
        let indexing = named.first().map(|(known, _)| known.indexing_of_changes());
        (!facts.is_empty()).then(|| Unread { files: Message::joined(facts, ", "), indexing })
    }
}

impl KnownRepository {
    /// The call that indexes the changed files. The call contains the path of the repository, because on the
    /// command line a name may also be the path of a folder.
    pub(crate) fn indexing_of_changes(&self) -> NextCall {
        NextCall {
            tool: "index_repository",
            reason: "indexes the changed files".into(),
            arguments: vec![("path", self.record.source.location().to_owned())],
        }
    }
}

fn fact(known: &KnownRepository, tree: &ChangedTree) -> Message {
    if tree.is_unread {
        return Message::from("the changed files of ").and(&known.record.name);
    }
    let num_left_out = tree.left_out.len();
    let message = Message::default().and(num_left_out).and(" of ").and(num_left_out + tree.files.len());
    message.and(" changed files of ").and(&known.record.name)
}

impl Unread {
    /// A part of a sentence: describes the files that were not searched.
    pub(crate) fn part(&self) -> Message {
        Message::from("not searched: ").and(self.files.clone())
    }

    /// A sentence that describes the files that were not searched.
    fn sentence(&self) -> Message {
        Message::from("Not searched: ").and(self.files.clone()).and(".")
    }

    /// Adds the files, and the call that indexes them, to the error for an absent name.
    pub(crate) fn added_to(&self, mut error: QueryError) -> QueryError {
        error.hint = Some(Message::joined([self.part()].into_iter().chain(error.hint.take()), "; "));
        if let Some(call) = &self.indexing {
            error = error.next_first(call.clone());
        }
        QueryError { unread: Some(Box::new(self.sentence())), ..error }
    }
}
