//! Groups of questions: by the repositories that are searched, by kind and by language.

use std::collections::BTreeSet;

use crate::graded::{GradedQuestion, Measured, Reach};
use crate::mean::Mean;
use crate::questions::QuestionKind;

/// A group of repositories, and the way in which they are searched.
pub(crate) struct Group {
    pub(crate) name: &'static str,
    reach: Reach,
    /// `Some(true)` for repositories with tests and documents, `Some(false)` for repositories without them,
    /// `None` for all repositories.
    checkout: Option<bool>,
}

static GROUPS: [Group; 4] = [
    Group { name: "one at a time", reach: Reach::Alone, checkout: None },
    Group { name: "packages", reach: Reach::Alone, checkout: Some(false) },
    Group { name: "whole checkouts", reach: Reach::Alone, checkout: Some(true) },
    Group { name: "all at once", reach: Reach::Together, checkout: None },
];

impl Group {
    /// The groups that have questions.
    pub(crate) fn all(measured: &Measured) -> Vec<&'static Group> {
        GROUPS.iter().filter(|group| group.questions(measured).next().is_some()).collect()
    }

    /// The mean grades of the questions in a part of the group. Nonsense questions have no answers, so they
    /// are omitted.
    pub(crate) fn mean(&self, measured: &Measured, part: &GroupPart) -> Mean {
        Mean::of(measured.asked.iter().filter(|asked| self.has(asked) && part.has(asked)))
    }

    fn has(&self, asked: &GradedQuestion) -> bool {
        asked.reach == self.reach
            && self.checkout.is_none_or(|checkout| asked.checkout == checkout)
            && asked.kind != QuestionKind::Nonsense
    }

    /// The kinds of questions in the group.
    pub(crate) fn kinds(&self, measured: &Measured) -> Vec<GroupPart> {
        let found: BTreeSet<QuestionKind> = self.questions(measured).map(|asked| asked.kind).collect();
        found.into_iter().map(GroupPart::Kind).collect()
    }

    /// The languages of the repositories in the group.
    pub(crate) fn languages(&self, measured: &Measured) -> Vec<GroupPart> {
        let found: BTreeSet<&String> = self.questions(measured).map(|asked| &asked.language).collect();
        found.into_iter().cloned().map(GroupPart::Language).collect()
    }

    fn questions<'a>(&'a self, measured: &'a Measured) -> impl Iterator<Item = &'a GradedQuestion> {
        measured.asked.iter().filter(|asked| self.has(asked))
    }
}

/// A part of the questions of a group.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum GroupPart {
    All,
    Kind(QuestionKind),
    Language(String),
}

impl GroupPart {
    pub(crate) fn name(&self) -> &str {
        match self {
            GroupPart::All => "all",
            GroupPart::Kind(kind) => kind.as_str(),
            GroupPart::Language(language) => language,
        }
    }

    fn has(&self, asked: &GradedQuestion) -> bool {
        match self {
            GroupPart::All => true,
            GroupPart::Kind(kind) => asked.kind == *kind,
            GroupPart::Language(language) => asked.language == *language,
        }
    }
}
