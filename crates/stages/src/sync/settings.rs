//! The settings of a snapshot: its own `.cairn.yaml` and `.cairnignore` files, with the caller's and the operator's on
//! top. Everything is compiled, and every fault found, before any other file is read.

use cairn_config::{Operator, RepositorySettings, SETTINGS_FILE, TagRules};
use cairn_domain::{Digest, Digester, EntryKind, RepoPath};
use cairn_inventory::{Patterns, RuleFile, RuleSettings, Rules};
use cairn_pipeline::StageError;
use cairn_ports::{FailureCode, SnapshotTree, TreeEntry};
use cairn_redaction::{Redactor, SecretsIgnore, SensitiveNames, is_sensitive};
use cairn_wire::RequestSettings;

use super::of_source;

const IGNORE_FILE: &str = ".cairnignore";
const ATTRIBUTE_FILE: &str = ".gitattributes";
/// Settings larger than this are no settings.
const MAX_SETTINGS_BYTES: u64 = 1024 * 1024;

/// What holds for a run.
pub(crate) struct Effective {
    /// Text of `.cairn.yaml`, redacted like every other.
    pub text: String,
    pub repository: RepositorySettings,
    pub rule_settings: RuleSettings,
    pub rules: Rules,
    pub tags: TagRules,
    pub navigation: Patterns,
    pub redactor: Redactor,
    /// Of `secrets.ignore`: stands in facts keys.
    pub ignore_digest: Digest,
    /// Files in which secrets are not searched for.
    pub unsearched: Patterns,
    /// Of everything above.
    pub digest: Digest,
}

pub(crate) fn read(
    tree: &dyn SnapshotTree,
    operator: &Operator,
    request: &RequestSettings,
) -> Result<Effective, StageError> {
    let text = read_text(tree, |entry| entry.path.as_str() == SETTINGS_FILE)?.pop().map(|(_, text)| text);
    let text = text.unwrap_or_default();
    let as_written = RepositorySettings::parse(&text).map_err(invalid)?;
    let ignore = SecretsIgnore::parse(&as_written.secrets_ignore).map_err(invalid)?;
    let redactor = Redactor::new(&ignore).map_err(invalid)?;
    let (text, repository) = redacted(text, as_written, &redactor)?;
    let ignore_files = read_text(tree, |entry| entry.path.file_name() == IGNORE_FILE)?;
    let attribute_files = read_text(tree, |entry| entry.path.file_name() == ATTRIBUTE_FILE)?;
    let rule_settings = RuleSettings {
        attribute_files: rule_files(attribute_files),
        ..rule_settings(&repository, operator, request, rule_files(ignore_files))
    };
    let sensitive = sensitive_names(&repository, operator)?;
    let rules =
        Rules::compile(&rule_settings, move |path| is_sensitive(path, &sensitive).is_some()).map_err(invalid)?;
    let tags = TagRules::compile(&repository.tags).map_err(all_invalid)?;
    let navigation = Patterns::compile("navigation_docs", &repository.navigation_docs).map_err(all_invalid)?;
    let globs: Vec<String> = ignore.path_globs().map(ToOwned::to_owned).collect();
    let unsearched = Patterns::compile("secrets.ignore", &globs).map_err(all_invalid)?;
    let digest = Digester::new("settings")
        .bytes(&rules.digest().0)
        .bytes(&repository.digest().0)
        .list(&operator.sensitive_add, |digester, name| digester.text(name))
        .list(&operator.sensitive_allow, |digester, name| digester.text(name))
        .digest();
    Ok(Effective {
        text,
        rule_settings,
        rules,
        tags,
        navigation,
        redactor,
        ignore_digest: ignore.digest(),
        unsearched,
        digest,
        repository,
    })
}

fn rule_files(texts: Vec<(RepoPath, String)>) -> Vec<RuleFile> {
    texts.into_iter().map(|(path, text)| RuleFile { path, text }).collect()
}

/// The settings without secrets in comments and descriptions, since they become part of artifacts and answers. What is
/// silenced stays as it is written. A secret that cannot be taken out is a fault of the settings.
fn redacted(
    text: String,
    as_written: RepositorySettings,
    redactor: &Redactor,
) -> Result<(String, RepositorySettings), StageError> {
    let redacted = redactor.redact(&text);
    let Some(first) = redacted.findings.first() else { return Ok((text, as_written)) };
    let message = || {
        format!(
            "`{SETTINGS_FILE}` line {} holds what looks like a secret ({}); remove it, or silence it in `secrets.ignore`",
            first.line, first.rule
        )
    };
    let settings = RepositorySettings::parse(&redacted.text).map_err(|_| invalid(message()))?;
    let repository = RepositorySettings { secrets_ignore: as_written.secrets_ignore, ..settings };
    Ok((redacted.text.into_owned(), repository))
}

/// The rules by which a tree on disk may be read at all, from the bytes of its settings files: the same that the run applies again.
pub fn path_rules(
    files: Vec<(RepoPath, Vec<u8>)>,
    operator: &Operator,
    request: &RequestSettings,
) -> Result<Rules, StageError> {
    let mut text = String::new();
    let mut ignore_files = Vec::new();
    for (path, bytes) in files {
        let Ok(content) = String::from_utf8(bytes) else { continue };
        if path.as_str() == SETTINGS_FILE {
            text = content;
        } else if path.file_name() == IGNORE_FILE {
            ignore_files.push(RuleFile { path, text: content });
        }
    }
    let repository = RepositorySettings::parse(&text).map_err(invalid)?;
    compile(&rule_settings(&repository, operator, request, ignore_files), &repository, operator)
}

fn compile(settings: &RuleSettings, repository: &RepositorySettings, operator: &Operator) -> Result<Rules, StageError> {
    let sensitive = sensitive_names(repository, operator)?;
    Rules::compile(settings, move |path| is_sensitive(path, &sensitive).is_some()).map_err(invalid)
}

fn rule_settings(
    repository: &RepositorySettings,
    operator: &Operator,
    request: &RequestSettings,
    ignore_files: Vec<RuleFile>,
) -> RuleSettings {
    let include = if request.include.is_empty() { &repository.include } else { &request.include };
    RuleSettings {
        include: include.clone(),
        exclude: [&repository.exclude[..], &request.exclude].concat(),
        include_override: [&repository.include_override[..], &request.include_override].concat(),
        ignore_files,
        // They say nothing of paths, only of contents.
        attribute_files: Vec::new(),
        max_file_size: request.max_file_size.or(repository.max_file_size).or(operator.max_file_size),
        generated: operator.generated,
    }
}

/// The repository may add; only the operator may take away.
fn sensitive_names(repository: &RepositorySettings, operator: &Operator) -> Result<SensitiveNames, StageError> {
    let added = [&operator.sensitive_add[..], &repository.sensitive].concat();
    SensitiveNames::new(&added, &operator.sensitive_allow).map_err(invalid)
}

/// Texts of the tree's files that are wanted. What is not readable or no text is left to the inventory.
fn read_text(
    tree: &dyn SnapshotTree,
    wanted: impl Fn(&TreeEntry) -> bool,
) -> Result<Vec<(RepoPath, String)>, StageError> {
    let is_file = |entry: &&TreeEntry| {
        matches!(entry.kind, EntryKind::File | EntryKind::Executable)
            && entry.size_bytes <= MAX_SETTINGS_BYTES
            && entry.unreadable.is_none()
    };
    let mut texts = Vec::new();
    let mut reader = None;
    for entry in tree.entries().iter().filter(is_file).filter(|entry| wanted(entry)) {
        if reader.is_none() {
            reader = Some(tree.reader().map_err(of_source)?);
        }
        let Some(reader) = reader.as_mut() else { continue };
        if let Ok(text) = String::from_utf8(reader.read(entry).map_err(of_source)?) {
            texts.push((entry.path.clone(), text));
        }
    }
    Ok(texts)
}

fn invalid(error: impl std::fmt::Display) -> StageError {
    StageError::permanent(FailureCode::InvalidSettings, error.to_string())
}

fn all_invalid(errors: Vec<cairn_inventory::InvalidPattern>) -> StageError {
    invalid(errors.into_iter().map(|error| error.to_string()).collect::<Vec<_>>().join("; "))
}
