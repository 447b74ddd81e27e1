//! Reads the question files.

use std::path::Path;

use anyhow::Context;
use serde::Deserialize;

use crate::choices::{Half, NonsenseSet};

/// The questions about one repository.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct QuestionFile {
    pub(crate) source: SourcePackage,
    #[serde(rename = "question")]
    pub(crate) questions: Vec<EvalQuestion>,
}

/// A package of a public registry.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct SourcePackage {
    pub(crate) id: String,
    pub(crate) registry: Registry,
    pub(crate) package: String,
    pub(crate) version: String,
    pub(crate) license: String,
    pub(crate) language: String,
    /// Whether the sources contain tests and documents.
    pub(crate) checkout: bool,
    /// Folders that do not contain sources, for example compiled copies. These folders are not indexed.
    #[serde(default)]
    pub(crate) exclude: Vec<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Registry {
    Go,
    Pypi,
    Crates,
    Npm,
    Maven,
    Debian,
}

#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct EvalQuestion {
    pub(crate) id: String,
    pub(crate) kind: QuestionKind,
    pub(crate) text: String,
    #[serde(default, rename = "answer")]
    pub(crate) answers: Vec<ExpectedAnswer>,
    /// The reason why a question of the kind `nonsense` has no answer.
    pub(crate) absent: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum QuestionKind {
    Behaviour,
    Architecture,
    Symbol,
    Relationship,
    Flow,
    Pattern,
    File,
    Nonsense,
}

impl QuestionKind {
    pub(crate) const ALL: [QuestionKind; 8] = [
        QuestionKind::Behaviour,
        QuestionKind::Architecture,
        QuestionKind::Symbol,
        QuestionKind::Relationship,
        QuestionKind::Flow,
        QuestionKind::Pattern,
        QuestionKind::File,
        QuestionKind::Nonsense,
    ];

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            QuestionKind::Behaviour => "behaviour",
            QuestionKind::Architecture => "architecture",
            QuestionKind::Symbol => "symbol",
            QuestionKind::Relationship => "relationship",
            QuestionKind::Flow => "flow",
            QuestionKind::Pattern => "pattern",
            QuestionKind::File => "file",
            QuestionKind::Nonsense => "nonsense",
        }
    }
}

#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ExpectedAnswer {
    pub(crate) path: String,
    /// First and last line, from 1. `None` if the answer is a file or a directory.
    pub(crate) lines: Option<[u32; 2]>,
    /// 2 if the place answers the question, 1 if it is only useful.
    pub(crate) grade: u32,
}

/// The questions of a file in the folder `nonsense`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct NonsenseFile {
    #[serde(rename = "question")]
    questions: Vec<NonsenseQuestion>,
}

/// A question without an answer in its repository.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct NonsenseQuestion {
    id: String,
    repository: String,
    absent: String,
    text: String,
}

/// Adds the nonsense questions of one set to the questions about their repositories. Questions about other
/// repositories are omitted.
pub(crate) fn add_nonsense(set: &Path, nonsense: NonsenseSet, files: &mut [QuestionFile]) -> anyhow::Result<()> {
    let path = set.join("nonsense").join(nonsense.as_str()).with_extension("toml");
    let text = std::fs::read_to_string(&path).with_context(|| format!("reading {}", path.display()))?;
    let nonsense: NonsenseFile = toml::from_str(&text).with_context(|| format!("reading {}", path.display()))?;
    for NonsenseQuestion { id, repository, absent, text } in nonsense.questions {
        if let Some(file) = files.iter_mut().find(|file| file.source.id == repository) {
            file.questions.push(EvalQuestion {
                id,
                kind: QuestionKind::Nonsense,
                text,
                answers: Vec::new(),
                absent: Some(absent),
            });
        }
    }
    Ok(())
}

/// Reads the files of one half, sorted by id. `only` selects repositories of this half. An empty list selects
/// all repositories.
pub(crate) fn read(set: &Path, half: Half, only: &[String]) -> anyhow::Result<Vec<QuestionFile>> {
    let text = |path: &Path| std::fs::read_to_string(path).with_context(|| format!("reading {}", path.display()));
    let kept = text(&set.join("kept.txt"))?;
    let kept: Vec<&str> = kept.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let folder = set.join("questions");
    let entries = std::fs::read_dir(&folder).with_context(|| format!("reading {}", folder.display()))?;
    let mut files = Vec::new();
    for entry in entries {
        let path = entry?.path();
        if path.extension().is_none_or(|extension| extension != "toml") {
            continue;
        }
        let file: QuestionFile =
            toml::from_str(&text(&path)?).with_context(|| format!("reading {}", path.display()))?;
        let is_kept = kept.contains(&file.source.id.as_str());
        let is_wanted = only.is_empty() || only.contains(&file.source.id);
        if is_wanted && is_kept == (half == Half::Kept) {
            files.push(file);
        }
    }
    files.sort_by(|left, right| left.source.id.cmp(&right.source.id));
    let missing = only.iter().find(|id| files.iter().all(|file| file.source.id != **id));
    if let Some(id) = missing {
        anyhow::bail!("the {} half has no repository `{id}`", half.as_str());
    }
    anyhow::ensure!(!files.is_empty(), "{} has no question files of the {} half", folder.display(), half.as_str());
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nonsense_questions_belong_to_repositories_for_tuning() {
        let set = Path::new(env!("CARGO_MANIFEST_DIR"));
        for nonsense in [NonsenseSet::Fitting, NonsenseSet::Aside, NonsenseSet::Late] {
            let mut files = read(set, Half::Tuning, &[]).expect("read");
            let num_before: usize = files.iter().map(|file| file.questions.len()).sum();
            add_nonsense(set, nonsense, &mut files).expect("read");
            let num_after: usize = files.iter().map(|file| file.questions.len()).sum();
            let text = std::fs::read_to_string(set.join("nonsense").join(nonsense.as_str()).with_extension("toml"));
            let num_written = text.expect("a file").matches("[[question]]").count();
            assert_eq!(num_after - num_before, num_written, "{nonsense:?}");
            assert!(num_written >= 250, "{nonsense:?}: {num_written}");
        }
    }

    #[test]
    fn all_question_files_are_read() {
        let set = Path::new(env!("CARGO_MANIFEST_DIR"));
        let (tuning, kept) = (read(set, Half::Tuning, &[]).expect("read"), read(set, Half::Kept, &[]).expect("read"));
        assert_eq!((tuning.len(), kept.len()), (15, 9));
        for file in tuning.iter().chain(&kept) {
            for question in &file.questions {
                assert_eq!(question.answers.is_empty(), question.kind == QuestionKind::Nonsense, "{}", question.id);
                assert_eq!(question.absent.is_some(), question.kind == QuestionKind::Nonsense, "{}", question.id);
            }
        }
        let one = read(set, Half::Tuning, &["go-asynq".to_owned()]).expect("read");
        assert_eq!(one.len(), 1);
        assert!(read(set, Half::Kept, &["go-asynq".to_owned()]).is_err());
    }
}
