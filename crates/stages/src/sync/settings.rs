//! The settings of a snapshot: its `.cairn.yaml` and `.cairnignore` files, combined with the caller's and the
//! operator's settings. All settings are compiled and checked before any other file is read.

use std::sync::Arc;

use cairn_config::{Ceilings, Operator, RepositorySettings, SETTINGS_FILE, TagRule, TagRules};
use cairn_domain::{Digest, Digester, RepoPath};
use cairn_inventory::{InvalidRules, PatternCost, Patterns, RuleFile, RuleSettings, Rules, UnusableLines};
use cairn_pipeline::StageError;
use cairn_ports::{SnapshotTree, SyncMeter};
use cairn_redaction::{IgnorePattern, Message, Redactor, SecretsIgnore, SensitiveNames, is_sensitive, quoted};
use cairn_wire::{FileError, RequestSettings};

use super::budget::check;
use super::ceiling::Ceiling;
use super::on_change::OnChange;
use super::refusal::invalid;
use super::settings_files::{IGNORE_FILE, SettingsFiles};

/// The combined settings of a run.
pub(crate) struct Effective {
    /// Redacted text of `.cairn.yaml`.
    pub text: String,
    pub repository: RepositorySettings,
    pub rule_settings: RuleSettings,
    pub rules: Rules,
    pub tags: TagRules,
    pub navigation: Patterns,
    pub redactor: Redactor,
    /// Digest of `secrets.ignore`. Facts keys depend on this digest.
    pub ignore_digest: Digest,
    /// Patterns for files that are not searched for secrets.
    pub unsearched: Patterns,
    /// Digest of all settings above.
    pub digest: Digest,
    /// The errors of those settings files that cannot be read or used, and that therefore have no effect.
    pub errors: Vec<FileError>,
}

pub(crate) fn read(
    tree: &dyn SnapshotTree,
    operator: &Operator,
    request: &RequestSettings,
    meter: &Arc<SyncMeter>,
    on_change: OnChange,
) -> Result<Effective, StageError> {
    let files = SettingsFiles::read(tree, &operator.ceilings, meter, on_change)?;
    let text = files.yaml;
    let as_written = RepositorySettings::parse(&text).map_err(invalid)?;
    let ignore = secrets_ignore(&as_written.secrets_ignore, &operator.ceilings)?;
    let redactor = Redactor::new(&ignore).map_err(invalid)?;
    let (text, repository) = redacted(text, as_written, &redactor)?;
    let rule_settings = RuleSettings {
        attribute_files: files.attribute_files,
        ..rule_settings(&repository, operator, request, files.ignore_files)
    };
    let rules = compile(&rule_settings, &repository, operator, meter)?;
    let errors = redacted_errors(files.errors, &rules, &redactor);
    let tags = tag_rules(&repository.tags, &operator.ceilings)?;
    let navigation = Patterns::compile("navigation_docs", &repository.navigation_docs).map_err(all_invalid)?;
    let globs: Vec<String> = ignore.path_globs().map(ToOwned::to_owned).collect();
    let unsearched = Patterns::compile("secrets.ignore", &globs).map_err(all_invalid)?;
    Ok(Effective {
        text,
        tags,
        navigation,
        redactor,
        ignore_digest: ignore.digest(),
        unsearched,
        digest: digest(&rules, &repository, operator),
        rule_settings,
        rules,
        repository,
        errors,
    })
}

/// The errors of files that cannot be read, and of lines that cannot be used, without secrets.
fn redacted_errors(of_files: Vec<FileError>, rules: &Rules, redactor: &Redactor) -> Vec<FileError> {
    let unusable = |lines: &UnusableLines| FileError { file: lines.file.to_string(), message: lines.to_string() };
    let errors = of_files.into_iter().chain(rules.unusable_lines().iter().map(unusable));
    let redacted = |FileError { file, message }| FileError {
        file: redactor.redact(&file).text.into_owned(),
        message: redactor.redact(&message).text.into_owned(),
    };
    errors.map(redacted).collect()
}

fn digest(rules: &Rules, repository: &RepositorySettings, operator: &Operator) -> Digest {
    Digester::new("settings")
        .bytes(&rules.digest().0)
        .bytes(&repository.digest().0)
        .list(&operator.sensitive_add, |digester, name| digester.text(name))
        .list(&operator.sensitive_allow, |digester, name| digester.text(name))
        .digest()
}

/// Compiles `secrets.ignore` within its ceilings. The number of patterns is checked before any pattern is
/// compiled.
fn secrets_ignore(lines: &[String], ceilings: &Ceilings) -> Result<SecretsIgnore, StageError> {
    let (what, num_patterns) = ("patterns in `secrets.ignore`", lines.len() as u64);
    check(what, num_patterns, ceilings.max_secret_patterns, Ceiling::SecretPatterns)?;
    let mut ignore = SecretsIgnore::default();
    let mut num_bytes = 0;
    for line in lines {
        let pattern = IgnorePattern::parse(line).map_err(invalid)?;
        num_bytes += pattern.compiled_bytes() as u64;
        let what = "bytes of compiled patterns in `secrets.ignore`";
        check(what, num_bytes, ceilings.max_secret_pattern_bytes, Ceiling::SecretPatternBytes)?;
        ignore.patterns.push(pattern);
    }
    Ok(ignore)
}

/// Compiles `tags` within its ceilings. The numbers of rules, patterns and tags are checked before any
/// pattern is compiled.
fn tag_rules(rules: &[TagRule], ceilings: &Ceilings) -> Result<TagRules, StageError> {
    check("rules in `tags`", rules.len() as u64, ceilings.max_tag_rules, Ceiling::TagRules)?;
    let num_patterns: usize = rules.iter().map(|rule| rule.globs.len() + rule.languages.len()).sum();
    let what = "globs and languages in `tags`";
    check(what, num_patterns as u64, ceilings.max_tag_patterns, Ceiling::TagPatterns)?;
    TagRules::compile(rules).map_err(all_invalid)
}

/// Checks the patterns of the rule files against their ceilings, before any pattern is compiled.
fn check_patterns(settings: &RuleSettings, ceilings: &Ceilings) -> Result<(), StageError> {
    let PatternCost { num_patterns, compiled_bytes } = settings.pattern_cost();
    let what = "patterns in `.cairnignore` and `.gitattributes` files";
    check(what, num_patterns, ceilings.max_rule_patterns, Ceiling::RulePatterns)?;
    let what = "bytes of compiled patterns in `.cairnignore` and `.gitattributes` files";
    check(what, compiled_bytes, ceilings.max_rule_pattern_bytes, Ceiling::RulePatternBytes)
}

/// Checks the settings of a call before anything is registered or changed.
pub fn check_request(operator: &Operator, request: &RequestSettings) -> Result<(), StageError> {
    path_rules(Vec::new(), operator, request, &Arc::default()).map(drop)
}

/// Removes secrets from comments and descriptions in the settings, because these texts become part of
/// artifacts and answers. The patterns of `secrets.ignore` are not changed. If the redacted text cannot be
/// parsed, the settings are invalid.
fn redacted(
    text: String,
    as_written: RepositorySettings,
    redactor: &Redactor,
) -> Result<(String, RepositorySettings), StageError> {
    let redacted = redactor.redact(&text);
    let Some(first) = redacted.findings.first() else { return Ok((text, as_written)) };
    let message = || {
        let place = Message::from("`.cairn.yaml` line ").and(u64::from(first.line));
        let what = place.and(" contains text that looks like a secret (").and(quoted(&first.rule));
        what.and("); remove it, or add a pattern for it to `secrets.ignore`")
    };
    let settings = RepositorySettings::parse(&redacted.text).map_err(|_| invalid(message()))?;
    let repository = RepositorySettings { secrets_ignore: as_written.secrets_ignore, ..settings };
    Ok((redacted.text.into_owned(), repository))
}

/// Creates the rules for reading a tree on disk. `files` contains the bytes of the tree's settings files. The
/// sync later applies the same rules again. After the sync was stopped, the decisions of the rules are not
/// valid.
pub fn path_rules(
    files: Vec<(RepoPath, Vec<u8>)>,
    operator: &Operator,
    request: &RequestSettings,
    meter: &Arc<SyncMeter>,
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
    compile(&rule_settings(&repository, operator, request, ignore_files), &repository, operator, meter)
}

/// Compiles the rules. After the sync was stopped, the compiled rules make no valid decisions.
fn compile(
    settings: &RuleSettings,
    repository: &RepositorySettings,
    operator: &Operator,
    meter: &Arc<SyncMeter>,
) -> Result<Rules, StageError> {
    check_patterns(settings, &operator.ceilings)?;
    let sensitive = sensitive_names(repository, operator)?;
    let rules = Rules::compile(settings, move |path| is_sensitive(path, &sensitive).is_some()).map_err(invalid)?;
    let meter = Arc::clone(meter);
    Ok(rules.stopped_by(move || meter.is_stopped()))
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
        // Attribute files are needed only for decisions about contents, not for decisions about paths.
        attribute_files: Vec::new(),
        max_file_size: request.max_file_size.or(repository.max_file_size).or(operator.max_file_size),
        generated: operator.generated,
    }
}

/// Combines the names of sensitive files. A repository may add names, but only the operator may remove names.
fn sensitive_names(repository: &RepositorySettings, operator: &Operator) -> Result<SensitiveNames, StageError> {
    let added = [&operator.sensitive_add[..], &repository.sensitive].concat();
    SensitiveNames::new(&added, &operator.sensitive_allow).map_err(invalid)
}

fn all_invalid(errors: Vec<cairn_inventory::InvalidPattern>) -> StageError {
    invalid(InvalidRules { patterns: errors, file_size: None })
}

#[cfg(test)]
mod tests {
    use cairn_ports::FailureCode;

    use super::*;

    #[test]
    fn tags_have_ceilings() {
        let rule = |number: usize, num_globs: usize, num_languages: usize| TagRule {
            tag: format!("t{number}"),
            globs: vec!["*".to_owned(); num_globs],
            languages: vec!["python".to_owned(); num_languages],
        };
        let check = |rules: &[TagRule], expect: Option<&str>| {
            let error = tag_rules(rules, &Ceilings::default()).err();
            let is_over = error.as_ref().is_some_and(|error| error.code == FailureCode::OverBudget);
            let message = error.map(|error| error.chain()).unwrap_or_default();
            assert_eq!(is_over, expect.is_some(), "{message}");
            assert!(message.contains(expect.unwrap_or_default()), "{message}");
        };
        let rules = |num_rules: usize, num_globs: usize, num_languages: usize| -> Vec<TagRule> {
            (0..num_rules).map(|number| rule(number, num_globs, num_languages)).collect()
        };
        check(&rules(200, 1, 0), None);
        check(&rules(201, 1, 0), Some("201 rules in `tags`; the limit is 200 (`ceilings.max_tag_rules`)"));
        check(&rules(100, 5, 5), None);
        check(&rules(100, 5, 6), Some("1100 globs and languages in `tags`; the limit is 1000"));
        let budget =
            |num_tags: usize| super::super::budget::check_tags(&vec![String::new(); num_tags], &Ceilings::default());
        assert!(budget(20).is_ok() && budget(21).is_err());
    }

    #[test]
    fn patterns_of_rule_files_have_ceilings() {
        let file = |path: &str, line: &dyn Fn(usize) -> String, num_lines: usize| RuleFile {
            path: RepoPath::parse(path).expect("a path"),
            text: (0..num_lines).map(line).collect(),
        };
        let check = |settings: &RuleSettings, expect: Option<&str>| {
            let message = check_patterns(settings, &Ceilings::default()).err().map(|error| error.chain());
            assert_eq!(message.is_some(), expect.is_some(), "{message:?}");
            assert!(message.unwrap_or_default().contains(expect.unwrap_or_default()), "{expect:?}");
        };
        let ignoring = |line: &dyn Fn(usize) -> String, num_lines: usize| RuleSettings {
            ignore_files: vec![file(".cairnignore", line, num_lines)],
            ..RuleSettings::default()
        };
        let marking = |line: &dyn Fn(usize) -> String, num_lines: usize| RuleSettings {
            attribute_files: vec![file(".gitattributes", line, num_lines)],
            ..RuleSettings::default()
        };
        let name = |number: usize| format!("name{number}\n");
        let wildcard = |number: usize| format!("a?{number}.c\n");
        let mark = |number: usize| format!("/services/team-{number}/**/*.pb.go linguist-generated\n");
        check(&ignoring(&name, 20_000), None);
        check(&ignoring(&name, 50_001), Some("50001 patterns in `.cairnignore` and `.gitattributes` files"));
        check(&ignoring(&wildcard, 2_000), None);
        let generated = |number: usize| format!("/sdk/src/models/operations/foo_{number:05}.ts linguist-generated\n");
        check(&marking(&generated, 20_000), None);
        check(&ignoring(&wildcard, 40_000), Some("ceilings.max_rule_pattern_bytes"));
        check(&marking(&mark, 2_000), None);
        check(&marking(&mark, 40_000), Some("ceilings.max_rule_pattern_bytes"));
        check(&marking(&|number| format!("*.{number} text\n"), 100_000), None);
        check(&ignoring(&|_| "a?1.c\n".to_owned(), 100_000), None);
    }

    #[test]
    fn messages_about_patterns_are_bounded() {
        let fault = |number: usize| cairn_inventory::InvalidPattern {
            field: "tags",
            pattern: quoted(&format!("IGNORE{number} {}", "x".repeat(500))),
            message: "the pattern is empty".to_owned().into(),
        };
        let message = all_invalid((0..1_000).map(fault).collect()).chain();
        assert!(message.len() < 1_000 && message.contains("more"), "{} bytes", message.len());
    }
}
