//! Reads the settings of a repository.

use cairn_domain::{InvalidPath, RepoPath};
use cairn_inventory::FileSizeLimit;
use cairn_redaction::Message;

use crate::InvalidSettings;
use crate::reader::{At, Reader};
use crate::repository::{ModuleSettings, PatternDetection, RepositorySettings, SETTINGS_FILE, TagRule};
use crate::tree::{Node, Value};

/// Maximum length of a tag. The tags of a file are stored with the file and with each of its chunks.
const MAX_TAG_BYTES: usize = 100;

const KEYS: &[&str] = &[
    "name",
    "branch",
    "modules",
    "include",
    "exclude",
    "include_override",
    "navigation_docs",
    "pattern_detection",
    "secrets",
    "max_file_size",
    "tags",
    "sensitive",
];

impl RepositorySettings {
    /// Parses the text of a `.cairn.yaml`. The error lists all faults with their lines.
    pub fn parse(text: &str) -> Result<Self, InvalidSettings> {
        let node = Node::from_yaml(text)
            .map_err(|fault| InvalidSettings { file: SETTINGS_FILE.to_owned(), faults: vec![fault] })?;
        let mut reader = Reader::default();
        let settings = read(&mut reader, &At::root(&node));
        reader.finish(SETTINGS_FILE, settings)
    }
}

fn read(reader: &mut Reader, root: &At<'_>) -> RepositorySettings {
    let mut settings = RepositorySettings::default();
    for (key, at) in reader.mapping(root, KEYS) {
        match key {
            "name" => settings.name = repository_name(reader, &at),
            "branch" => settings.branch = branch_name(reader, &at),
            "modules" => settings.modules = modules(reader, &at),
            "include" => settings.include = reader.globs(&at),
            "exclude" => settings.exclude = reader.globs(&at),
            "include_override" => settings.include_override = reader.globs(&at),
            "navigation_docs" => settings.navigation_docs = reader.globs(&at),
            "pattern_detection" => settings.pattern_detection = pattern_detection(reader, &at),
            "secrets" => settings.secrets_ignore = secrets_ignore(reader, &at),
            "max_file_size" => settings.max_file_size = max_file_size(reader, &at),
            "tags" => settings.tags = tags(reader, &at),
            "sensitive" => settings.sensitive = reader.globs(&at),
            _ => {}
        }
    }
    settings
}

/// Reads a repository name. The name must be usable in a path on the command line, and must fit on one line
/// of an answer.
pub(crate) fn repository_name(reader: &mut Reader, at: &At<'_>) -> Option<String> {
    let name = reader.text(at)?;
    let fits = |character: char| character.is_alphanumeric() || "._-+/@~".contains(character);
    let parts_fit = name.split('/').all(|part| !matches!(part, "" | "." | ".."));
    if name.len() <= 200 && name.chars().all(fits) && parts_fit && !name.starts_with('-') {
        return Some(name);
    }
    reader.fault(at, "a name has at most 200 letters, digits and `._-+@~`, with `/` between its parts");
    None
}

/// Reads the name of a branch: git must permit the name, and git must not mistake it for a command-line
/// option.
pub(crate) fn branch_name(reader: &mut Reader, at: &At<'_>) -> Option<String> {
    let name = reader.text(at)?;
    let forbidden = |character: char| character.is_control() || " ~^:?*[\\".contains(character);
    let bad_part = |part: &str| part.is_empty() || part.starts_with('.') || part.ends_with(".lock");
    let bad = name.starts_with('-')
        || name.ends_with('.')
        || name.contains("..")
        || name.contains("@{")
        || name == "@"
        || name.len() > 250
        || name.chars().any(forbidden)
        || name.split('/').any(bad_part);
    if bad {
        reader.fault(at, "is not the name of a branch");
        return None;
    }
    Some(name)
}

pub(crate) fn max_file_size(reader: &mut Reader, at: &At<'_>) -> Option<u64> {
    let provided = reader.bytes(at)?;
    match FileSizeLimit::new(provided) {
        Ok(_) => Some(provided),
        Err(error) => {
            let message = Message::from("is above the maximum (max_allowed: ").and(error.max_allowed);
            reader.fault(at, message.and(", provided: ").and(provided).and(")"));
            None
        }
    }
}

/// Reads modules. Each module has the form `path: description` or `path: {name, description}`.
fn modules(reader: &mut Reader, at: &At<'_>) -> Vec<ModuleSettings> {
    let mut modules = Vec::new();
    for (path, at) in reader.entries(at) {
        let path = match RepoPath::parse(path.trim_end_matches('/')) {
            Ok(path) => path,
            Err(error) => {
                reader.fault(&at, path_fault(&error));
                continue;
            }
        };
        let mut module = ModuleSettings { path, name: None, description: None };
        match at.node.value {
            Value::Text(_) => module.description = reader.text(&at),
            _ => {
                for (key, at) in reader.mapping(&at, &["name", "description"]) {
                    match key {
                        "name" => module.name = reader.text(&at),
                        _ => module.description = reader.text(&at),
                    }
                }
            }
        }
        modules.push(module);
    }
    modules.sort_by(|left, right| left.path.cmp(&right.path));
    modules
}

/// The message about an invalid path. The message does not contain the path, because the key of the fault
/// contains the path.
fn path_fault(error: &InvalidPath) -> &'static str {
    match error {
        InvalidPath::Empty => "the path is empty",
        InvalidPath::Absolute(_) => "the path is absolute; paths are relative to the repository's root",
        InvalidPath::BadPart(_) => "the path has an empty, `.` or `..` part",
        InvalidPath::BadEscape(_) => "the path has a malformed escape (expected `\\\\` or `\\xHH`)",
    }
}

fn pattern_detection(reader: &mut Reader, at: &At<'_>) -> PatternDetection {
    let mut detection = PatternDetection::default();
    let keys = &["enabled", "min_cluster_size", "similarity_threshold", "directories"];
    for (key, at) in reader.mapping(at, keys) {
        match key {
            "enabled" => detection.enabled = reader.flag(&at).unwrap_or(detection.enabled),
            "min_cluster_size" => {
                let size = reader.integer(&at, 2..=1_000_000).and_then(|size| u32::try_from(size).ok());
                detection.min_cluster_size = size.unwrap_or(detection.min_cluster_size);
            }
            "similarity_threshold" => {
                detection.similarity_threshold = reader.share(&at).unwrap_or(detection.similarity_threshold);
            }
            _ => detection.directories = reader.globs(&at),
        }
    }
    detection
}

fn secrets_ignore(reader: &mut Reader, at: &At<'_>) -> Vec<String> {
    let mut ignored = Vec::new();
    for (_, at) in reader.mapping(at, &["ignore"]) {
        ignored = reader.texts(&at).into_iter().map(|(text, _)| text).collect();
    }
    ignored
}

/// Reads tags. Each tag has the form `tag: glob`, `tag: [globs]` or `tag: {globs, languages}`.
fn tags(reader: &mut Reader, at: &At<'_>) -> Vec<TagRule> {
    let mut rules = Vec::new();
    for (tag, at) in reader.entries(at) {
        if tag.len() > MAX_TAG_BYTES {
            reader.fault(&at, Message::from("a tag has at most ").and(MAX_TAG_BYTES).and(" bytes"));
            continue;
        }
        let mut rule = TagRule { tag: tag.to_owned(), ..TagRule::default() };
        match at.node.value {
            Value::Text(_) | Value::List(_) => rule.globs = reader.globs(&at),
            _ => {
                for (key, at) in reader.mapping(&at, &["globs", "languages"]) {
                    match key {
                        "globs" => rule.globs = reader.globs(&at),
                        _ => rule.languages = reader.texts(&at).into_iter().map(|(text, _)| text).collect(),
                    }
                }
            }
        }
        rules.push(rule);
    }
    rules.sort_by(|left, right| left.tag.cmp(&right.tag));
    rules
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TagRules;

    const FULL: &str = "\
name: acme/shop
branch: release/1.x
modules:
  src/auth: Signing in and out
  src/pay/:
    name: payments
    description: Invoices and refunds
include: ['*.go', 'docs/**']
exclude:
  - '*_gen.go'
include_override: vendor/ours/**
navigation_docs: [docs/GUIDE.md]
pattern_detection:
  enabled: false
  min_cluster_size: 3
  similarity_threshold: 0.9
  directories: [src/]
secrets:
  ignore: [example-key]
max_file_size: 2 MiB
tags:
  infra: deploy/**
  web: ['*.ts', '*.tsx']
  backend: {globs: [svc/**], languages: [Go]}
sensitive: ['*.tfvars']
";

    #[test]
    fn every_key_is_read() {
        let settings = RepositorySettings::parse(FULL).expect("valid");
        assert_eq!(settings.name.as_deref(), Some("acme/shop"));
        assert_eq!(settings.branch.as_deref(), Some("release/1.x"));
        let modules: Vec<(&str, Option<&str>, Option<&str>)> = settings
            .modules
            .iter()
            .map(|module| (module.path.as_str(), module.name.as_deref(), module.description.as_deref()))
            .collect();
        let expected = [
            ("src/auth", None, Some("Signing in and out")),
            ("src/pay", Some("payments"), Some("Invoices and refunds")),
        ];
        assert_eq!(modules, expected);
        assert_eq!((settings.include.len(), settings.exclude.len()), (2, 1));
        assert_eq!(settings.include_override, ["vendor/ours/**"]);
        let detection = &settings.pattern_detection;
        assert_eq!((detection.enabled, detection.min_cluster_size), (false, 3));
        assert_eq!((detection.similarity_threshold, detection.directories.as_slice()), (0.9, &["src/".to_owned()][..]));
        assert_eq!(settings.secrets_ignore, ["example-key"]);
        assert_eq!(settings.max_file_size, Some(2 * 1024 * 1024));
        assert_eq!((settings.sensitive.len(), settings.navigation_docs.len()), (1, 1));
        let tags = TagRules::compile(&settings.tags).expect("valid");
        let of = |path: &str, language| tags.tags(&RepoPath::parse(path).expect("path"), language);
        assert_eq!(of("deploy/a.go", Some("go")), [".go", "backend", "infra"]);
        assert_eq!(of("ui/a.tsx", Some("tsx")), [".tsx", "web"]);
        assert_eq!(of("README.md", None), [".md"]);
    }

    #[test]
    fn empty_files_are_the_default() {
        for text in ["", "# nothing\n", "---\n", "include:\n", "{}"] {
            assert_eq!(RepositorySettings::parse(text), Ok(RepositorySettings::default()), "{text:?}");
        }
    }

    fn check_fault(text: &str, line: Option<u32>, key: &str, message: &str) {
        let error = RepositorySettings::parse(text).expect_err(text);
        let fault = &error.faults[0];
        assert_eq!((fault.line, fault.key.as_written()), (line, key), "{text}: {error}");
        assert!(fault.message.as_str().contains(message), "{text}: {error}");
    }

    #[test]
    fn faults_name_key_line_and_nearest_known_key() {
        check_fault("name: a\nexlude: [x]\n", Some(2), "exlude", "the nearest known key is `exclude`");
        check_fault("Include: [x]\n", Some(1), "Include", "`include`");
        check_fault("pattern_detection:\n  min_size: 3\n", Some(2), "pattern_detection.min_size", "`min_cluster_size`");
        check_fault("secrets:\n  ignored: [a]\n", Some(2), "secrets.ignored", "`ignore`");
        check_fault("exclude:\n  - ok\n  - '['\n", Some(3), "exclude[1]", "invalid pattern «[»: «");
        check_fault("max_file_size: 20000000\n", Some(1), "max_file_size", "max_allowed: 10485760, provided: 20000000");
        check_fault("max_file_size: big\n", Some(1), "max_file_size", "found text «big»");
        check_fault("max_file_size: -1\n", Some(1), "max_file_size", "found a whole number «-1»");
        check_fault("name: 12\n", Some(1), "name", "put it in quotes");
        check_fault("name: ../x\n", Some(1), "name", "a name has");
        check_fault("branch: --upload-pack=x\n", Some(1), "branch", "not the name of a branch");
        check_fault("include: {a: b}\n", Some(1), "include", "expected a list");
        check_fault("modules:\n  ../up: x\n", Some(2), "modules.../up", "part");
        check_fault(
            "pattern_detection:\n  similarity_threshold: 1.5\n",
            Some(2),
            "pattern_detection.similarity_threshold",
            "at most 1",
        );
        check_fault("pattern_detection:\n  enabled: maybe\n", Some(2), "pattern_detection.enabled", "true or false");
        check_fault("tags:\n  a: {glob: x}\n", Some(2), "tags.a.glob", "`globs`");
        check_fault("- a\n- b\n", Some(1), "", "expected a mapping");
        let long = "t".repeat(MAX_TAG_BYTES + 1);
        check_fault(&format!("tags:\n  {long}: '*'\n"), Some(2), &format!("tags.{long}"), "at most 100 bytes");
        check_fault("name: a\nname: b\n", Some(2), "", "uplicate");
        check_fault("name: [a\n", Some(1), "", "unclosed bracket");
        check_fault(&"# long\n".repeat(100_000), None, "", "too long");
    }

    #[test]
    fn all_faults_are_reported_at_once() {
        let error =
            RepositorySettings::parse("nam: a\ninclude: ['[', '{']\nmax_file_size: 1 TB\n").expect_err("faults");
        let lines: Vec<Option<u32>> = error.faults.iter().map(|fault| fault.line).collect();
        assert_eq!(lines, [Some(1), Some(2), Some(2), Some(3)]);
        let text = error.to_string();
        assert!(text.starts_with("invalid settings in .cairn.yaml: line 1: «nam»: unknown key"), "{text}");
    }

    #[test]
    fn hostile_files_are_refused_quickly() {
        let bomb: String = (0..30).fold("a0: &a0 [x]\n".to_owned(), |text, level| {
            text + &format!("a{}: &a{} [{}]\n", level + 1, level + 1, format!("*a{level},").repeat(10))
        });
        for text in [bomb, "[".repeat(100_000), "a:\n ".repeat(5_000), "\u{0}".to_owned()] {
            assert!(RepositorySettings::parse(&text).is_err());
        }
    }

    #[test]
    fn digest_changes_with_the_meaning() {
        let of = |text: &str| RepositorySettings::parse(text).expect("valid").digest();
        assert_eq!(of("include: [a]\n"), of("# comment\ninclude:\n- 'a'\n"));
        let texts =
            ["", "include: [a]", "exclude: [a]", "name: a", "branch: a", "secrets: {ignore: [a]}", "tags: {a: b}"];
        for (index, left) in texts.iter().enumerate() {
            for right in &texts[index + 1..] {
                assert_ne!(of(left), of(right), "{left} {right}");
            }
        }
    }
}
