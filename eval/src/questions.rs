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
    /// First and last line. Line numbers start at 1. `None` if the answer is a file or a directory.
    pub(crate) lines: Option<[u32; 2]>,
    /// 2 if the place answers the question, 1 if the place only helps to answer it.
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

/// Adds each nonsense question of one set to the question file of its repository. Questions about
/// repositories that are not in `files` are omitted.
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

/// All question files, sorted by id, and the repositories that are held out.
pub(crate) struct QuestionSet {
    files: Vec<QuestionFile>,
    kept: Vec<String>,
}

impl QuestionSet {
    pub(crate) fn read(set: &Path) -> anyhow::Result<Self> {
        let text = |path: &Path| std::fs::read_to_string(path).with_context(|| format!("reading {}", path.display()));
        let kept = text(&set.join("kept.txt"))?;
        let kept = kept.lines().map(str::trim).filter(|line| !line.is_empty()).map(str::to_owned).collect();
        let folder = set.join("questions");
        let entries = std::fs::read_dir(&folder).with_context(|| format!("reading {}", folder.display()))?;
        let mut files: Vec<QuestionFile> = Vec::new();
        for entry in entries {
            let path = entry?.path();
            if path.extension().is_some_and(|extension| extension == "toml") {
                let file = toml::from_str(&text(&path)?).with_context(|| format!("reading {}", path.display()))?;
                files.push(file);
            }
        }
        anyhow::ensure!(!files.is_empty(), "{} has no question files", folder.display());
        files.sort_by(|left, right| left.source.id.cmp(&right.source.id));
        Ok(Self { files, kept })
    }

    /// The files of both halves.
    pub(crate) fn all(&self) -> &[QuestionFile] {
        &self.files
    }

    /// The files of one half. `only` contains the ids of the wanted repositories of this half. If `only` is
    /// empty, all repositories of the half are selected.
    pub(crate) fn half(&self, half: Half, only: &[String]) -> anyhow::Result<Vec<QuestionFile>> {
        let is_wanted = |file: &&QuestionFile| {
            self.kept.contains(&file.source.id) == (half == Half::Kept)
                && (only.is_empty() || only.contains(&file.source.id))
        };
        let files: Vec<QuestionFile> = self.files.iter().filter(is_wanted).cloned().collect();
        let missing = only.iter().find(|id| files.iter().all(|file| file.source.id != **id));
        if let Some(id) = missing {
            anyhow::bail!("the {} half has no repository `{id}`", half.as_str());
        }
        anyhow::ensure!(!files.is_empty(), "the {} half has no question files", half.as_str());
        Ok(files)
    }

    /// The packages that are searched for a question that names no repository: the packages of both halves,
    /// or the packages in `only`.
    pub(crate) fn searched(&self, only: &[String]) -> Vec<&SourcePackage> {
        let packages = self.files.iter().map(|file| &file.source);
        packages.filter(|package| only.is_empty() || only.contains(&package.id)).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::shared_words::SharedWords;

    /// Licences that allow anyone to use, change and distribute the sources for any purpose. Licences that
    /// also require the publication of changes are excluded.
    const PERMISSIVE: [&str; 11] = [
        "Apache-2.0",
        "BSD-2-Clause",
        "BSD-3-Clause",
        "BSL-1.0",
        "CC0-1.0",
        "ISC",
        "MIT",
        "MIT-0",
        "PostgreSQL",
        "Unlicense",
        "Zlib",
    ];

    fn set() -> QuestionSet {
        QuestionSet::read(Path::new(env!("CARGO_MANIFEST_DIR"))).expect("the question files")
    }

    fn num_questions(files: &[QuestionFile]) -> usize {
        files.iter().map(|file| file.questions.len()).sum()
    }

    #[test]
    fn nonsense_questions_belong_to_tuning_repositories() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
        for nonsense in [NonsenseSet::Fitting, NonsenseSet::Aside, NonsenseSet::Late, NonsenseSet::Fresh] {
            let mut files = set().half(Half::Tuning, &[]).expect("read");
            let num_before = num_questions(&files);
            add_nonsense(folder, nonsense, &mut files).expect("read");
            let num_after = num_questions(&files);
            let text = std::fs::read_to_string(folder.join("nonsense").join(nonsense.as_str()).with_extension("toml"));
            let num_written = text.expect("a file").matches("[[question]]").count();
            assert_eq!(num_after - num_before, num_written, "{nonsense:?}");
            assert!(num_written >= 250, "{nonsense:?}: {num_written}");
        }
    }

    #[test]
    fn halves_are_disjoint_and_cover_the_set() {
        let set = set();
        let (tuning, kept) = (set.half(Half::Tuning, &[]).expect("read"), set.half(Half::Kept, &[]).expect("read"));
        assert_eq!(tuning.len() + kept.len(), set.all().len());
        assert_eq!(kept.len(), set.kept.len(), "kept.txt names each repository of the kept half once");
        let one = set.half(Half::Tuning, &["go-asynq".to_owned()]).expect("read");
        assert_eq!(one.len(), 1);
        assert!(set.half(Half::Kept, &["go-asynq".to_owned()]).is_err());
    }

    /// If a question names no repository, both halves are searched, regardless of the half to which the
    /// question belongs.
    #[test]
    fn both_halves_are_searched_together() {
        let set = set();
        let searched = |only: &[String]| set.searched(only).into_iter().map(|package| &package.id).collect::<Vec<_>>();
        assert_eq!(searched(&[]), set.all().iter().map(|file| &file.source.id).collect::<Vec<_>>());
        assert_eq!(searched(&["go-asynq".to_owned()]), ["go-asynq"]);
    }

    #[test]
    fn question_set_is_large_and_half_of_it_is_held_out() {
        let set = set();
        let (all, kept) = (set.all(), set.half(Half::Kept, &[]).expect("read"));
        let languages: BTreeSet<&str> = all.iter().map(|file| file.source.language.as_str()).collect();
        let num_checkouts = all.iter().filter(|file| file.source.checkout).count();
        assert!(num_questions(all) >= 600, "{} questions", num_questions(all));
        assert!(all.len() >= 24, "{} repositories", all.len());
        assert!(languages.len() >= 14, "{languages:?}");
        assert!(num_checkouts >= 16, "{num_checkouts} checkouts");
        assert!(2 * num_questions(&kept) >= num_questions(all), "{} of {}", num_questions(&kept), num_questions(all));
    }

    /// The last part of a package name: the name of a Go module without its version, or of a Maven artifact.
    fn short_name(package: &str) -> &str {
        let is_version = |part: &str| part.len() > 1 && part.starts_with('v') && part[1..].parse::<u32>().is_ok();
        package.rsplit(['/', ':']).find(|part| !is_version(part)).unwrap_or(package)
    }

    #[test]
    fn set_contains_no_package_that_is_kept_for_evaluation() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../training/exclusions.txt");
        let text = std::fs::read_to_string(path).expect("the list of excluded packages");
        let lines = text.lines().filter(|line| !line.starts_with(['#', '[']));
        let excluded: BTreeSet<&str> = lines.flat_map(str::split_whitespace).collect();
        assert!(excluded.len() > 100, "{} packages", excluded.len());
        for SourcePackage { id, package, .. } in set().all().iter().map(|file| &file.source) {
            for name in [package.as_str(), short_name(package)] {
                assert!(!excluded.contains(name), "{id}: {name} is an excluded package");
            }
        }
    }

    /// At least half of the questions about behaviour and architecture are asked in words that the paths of
    /// their answers do not contain. `cairn eval --check` also compares the names of the symbols.
    #[test]
    fn half_of_the_questions_share_no_word_with_their_paths() {
        let mut shared = SharedWords::default();
        for file in set().all() {
            shared += SharedWords::count(&file.questions, Path::new("no sources"));
        }
        assert!(shared.is_at_most_half(), "{shared:?}");
    }

    #[test]
    fn licenses_are_permissive() {
        for SourcePackage { id, license, .. } in set().all().iter().map(|file| &file.source) {
            let mut choices = license.split(" OR ");
            assert!(choices.any(|choice| PERMISSIVE.contains(&choice)), "{id} has the license {license}");
        }
    }

    #[test]
    fn question_ids_are_unique_and_only_nonsense_has_no_answers() {
        let (set, mut ids) = (set(), BTreeSet::new());
        for question in set.all().iter().flat_map(|file| &file.questions) {
            assert!(ids.insert(&question.id), "{} occurs twice", question.id);
            assert_eq!(question.answers.is_empty(), question.kind == QuestionKind::Nonsense, "{}", question.id);
            assert_eq!(question.absent.is_some(), question.kind == QuestionKind::Nonsense, "{}", question.id);
            assert!(question.answers.iter().all(|answer| [1, 2].contains(&answer.grade)), "{}", question.id);
        }
    }
}
