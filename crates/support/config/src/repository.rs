//! The settings of a repository, in `.cairn.yaml`.

use cairn_domain::{Digest, Digester, RepoPath};

/// The name of the settings file, which is in the root of the repository.
pub const SETTINGS_FILE: &str = ".cairn.yaml";

/// The settings of a repository. If the repository has no settings file, the fields have their default
/// values.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct RepositorySettings {
    pub name: Option<String>,
    /// The branch to index instead of the default branch. This setting has no effect on a working tree, which
    /// is indexed in its state on disk.
    pub branch: Option<String>,
    /// Sorted by path.
    pub modules: Vec<ModuleSettings>,
    pub include: Vec<String>,
    pub exclude: Vec<String>,
    pub include_override: Vec<String>,
    /// Globs of navigation documents, in addition to the built-in names.
    pub navigation_docs: Vec<String>,
    pub pattern_detection: PatternDetection,
    /// Patterns that suppress false positives of the secret rules.
    pub secrets_ignore: Vec<String>,
    /// The maximum file size in bytes, not larger than the hard cap. 0 means the hard cap. `None` means the
    /// operator's limit, or the default if the operator has set no limit.
    pub max_file_size: Option<u64>,
    /// Sorted by tag.
    pub tags: Vec<TagRule>,
    /// Globs of sensitive names, in addition to the built-in globs. A repository cannot remove built-in
    /// globs.
    pub sensitive: Vec<String>,
}

/// A module that the settings describe.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ModuleSettings {
    /// The directory or file of the module.
    pub path: RepoPath,
    /// The name, if it differs from the name that is derived from the path.
    pub name: Option<String>,
    pub description: Option<String>,
}

/// The settings for finding patterns.
#[derive(Clone, PartialEq, Debug)]
pub struct PatternDetection {
    pub enabled: bool,
    /// At least 2.
    pub min_cluster_size: u32,
    /// Greater than 0, and at most 1.
    pub similarity_threshold: f64,
    /// Globs of the directories in which patterns are searched for. An empty list means all directories.
    pub directories: Vec<String>,
}

impl Default for PatternDetection {
    fn default() -> Self {
        Self { enabled: true, min_cluster_size: 5, similarity_threshold: 0.8, directories: Vec::new() }
    }
}

/// The rule for a tag: a file has the tag if it matches one of the globs, or if its language is one of the
/// languages.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct TagRule {
    pub tag: String,
    pub globs: Vec<String>,
    pub languages: Vec<String>,
}

impl RepositorySettings {
    /// A digest that changes if, and only if, the meaning of a setting changes.
    pub fn digest(&self) -> Digest {
        let texts = |digester: Digester, list: &[String]| digester.list(list, |digester, text| digester.text(text));
        let detection = &self.pattern_detection;
        let mut digester = Digester::new("repository-settings")
            .option(self.name.as_deref(), Digester::text)
            .option(self.branch.as_deref(), Digester::text)
            .list(&self.modules, |digester, module| {
                digester
                    .text(module.path.as_str())
                    .option(module.name.as_deref(), Digester::text)
                    .option(module.description.as_deref(), Digester::text)
            })
            .flag(detection.enabled)
            .number(u64::from(detection.min_cluster_size))
            .number(detection.similarity_threshold.to_bits())
            .option(self.max_file_size, Digester::number)
            .list(&self.tags, |digester, rule| texts(texts(digester.text(&rule.tag), &rule.globs), &rule.languages));
        let lists = [
            &self.include,
            &self.exclude,
            &self.include_override,
            &self.navigation_docs,
            &detection.directories,
            &self.secrets_ignore,
            &self.sensitive,
        ];
        for list in lists {
            digester = texts(digester, list);
        }
        digester.digest()
    }
}
