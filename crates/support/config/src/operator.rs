//! The settings of the operator of this machine: `config.toml` and the environment.
//!
//! Each setting is one row of a table: its key in the file, its environment variable, and its reader.
//! Therefore every setting can be set both in the file and in the environment. The environment overrides the
//! file, and the file overrides the default.

use std::io;
use std::path::{Path, PathBuf};

use cairn_inventory::GeneratedPolicy;

use crate::fault::{FaultMessage, Key};
use crate::reader::{At, Reader, Setting, set};
use crate::repository::max_file_size;
use crate::secret::is_variable_name;
use crate::tree::{Node, Value};
use crate::{Ceilings, Fault, InvalidSettings, ceilings};

/// The operator's settings after validation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Operator {
    /// The directory of the index. None means `.cairn` in the current directory.
    pub home: Option<PathBuf>,
    pub sources: Sources,
    /// The maximum file size, in bytes, for repositories that set no limit. 0 means the hard cap.
    pub max_file_size: Option<u64>,
    pub generated: GeneratedPolicy,
    /// Globs of sensitive names, in addition to the built-in globs.
    pub sensitive_add: Vec<String>,
    /// Globs of names that are not sensitive. Only the operator can set these globs.
    pub sensitive_allow: Vec<String>,
    /// Words that may replace a word of a question, in addition to the built-in table. Sorted by word.
    pub synonyms: Vec<(String, Vec<String>)>,
    /// The number of worker threads. 0 means one thread per core.
    pub num_workers: u64,
    pub ceilings: Ceilings,
    pub first_use: FirstUse,
}

/// The limits for indexing a working tree when the first question about it is asked.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FirstUse {
    /// If a working tree has more files than this number, a question does not index it. 0 means that no
    /// question indexes a working tree.
    pub max_files: u64,
    pub max_bytes: u64,
    /// Maximum time for which a question waits for the index.
    pub timeout_seconds: u64,
}

impl Default for FirstUse {
    fn default() -> Self {
        Self { max_files: 20_000, max_bytes: 256 << 20, timeout_seconds: 120 }
    }
}

/// The rules and limits for fetching.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Sources {
    pub allow_http: bool,
    pub allow_file: bool,
    /// Permits URLs with loopback, private or link-local addresses.
    pub allow_private_addresses: bool,
    /// The file with the host keys that ssh trusts. Without this file, ssh is not used.
    pub ssh_known_hosts: Option<PathBuf>,
    pub ssh_key: Option<PathBuf>,
    /// The tenants whose repositories may be fetched by ssh. Empty means all tenants.
    pub ssh_tenants: Vec<String>,
    /// The name of the environment variable that contains the token, for each place. The token itself is
    /// never stored here. A place has the form `TENANT@HOST/PATH`; the tenant and the path are optional.
    /// Sorted by place.
    pub tokens: Vec<(String, String)>,
    pub fetch_timeout_seconds: u64,
    pub max_fetch_bytes: u64,
    /// The maximum memory of each git process that fetches.
    pub max_git_memory_bytes: u64,
    /// The maximum processor time of each git process that fetches.
    pub max_git_cpu_seconds: u64,
    /// The maximum number of paths in one tree.
    pub max_entries: u64,
}

impl Default for Operator {
    fn default() -> Self {
        Self {
            home: None,
            sources: Sources::default(),
            max_file_size: None,
            generated: GeneratedPolicy::Skip,
            sensitive_add: Vec::new(),
            sensitive_allow: Vec::new(),
            synonyms: Vec::new(),
            num_workers: 0,
            ceilings: Ceilings::default(),
            first_use: FirstUse::default(),
        }
    }
}

impl Default for Sources {
    fn default() -> Self {
        Self {
            allow_http: false,
            allow_file: false,
            allow_private_addresses: false,
            ssh_known_hosts: None,
            ssh_key: None,
            ssh_tenants: Vec::new(),
            tokens: Vec::new(),
            fetch_timeout_seconds: 20 * 60,
            max_fetch_bytes: 2 << 30,
            max_git_memory_bytes: 512 << 20,
            max_git_cpu_seconds: 600,
            max_entries: 1_000_000,
        }
    }
}

/// The operator's settings cannot be read, or contain faults.
#[derive(Debug, thiserror::Error)]
pub enum OperatorError {
    #[error("cannot read the configuration `{}`", .path.display())]
    Unreadable { path: PathBuf, source: io::Error },
    #[error(transparent)]
    Invalid(#[from] InvalidSettings),
}

/// The table of all settings except the ceilings, which have a separate table.
const SETTINGS: &[Setting<Operator>] = &[
    Setting { key: "home", variable: "CAIRN_HOME", apply: |reader, at, operator| operator.home = path(reader, at) },
    Setting {
        key: "max_file_size",
        variable: "CAIRN_MAX_FILE_SIZE",
        apply: |reader, at, operator| operator.max_file_size = max_file_size(reader, at),
    },
    Setting {
        key: "generated",
        variable: "CAIRN_GENERATED",
        apply: |reader, at, operator| set(&mut operator.generated, generated(reader, at)),
    },
    Setting {
        key: "workers",
        variable: "CAIRN_WORKERS",
        apply: |reader, at, operator| set(&mut operator.num_workers, reader.integer(at, 0..=1_024)),
    },
    Setting {
        key: "first_use.max_files",
        variable: "CAIRN_FIRST_USE_MAX_FILES",
        apply: |reader, at, operator| set(&mut operator.first_use.max_files, reader.integer(at, 0..=100_000_000)),
    },
    Setting {
        key: "first_use.max_bytes",
        variable: "CAIRN_FIRST_USE_MAX_BYTES",
        apply: |reader, at, operator| set(&mut operator.first_use.max_bytes, reader.bytes(at)),
    },
    Setting {
        key: "first_use.timeout_seconds",
        variable: "CAIRN_FIRST_USE_TIMEOUT_SECONDS",
        apply: |reader, at, operator| set(&mut operator.first_use.timeout_seconds, reader.integer(at, 1..=3_600)),
    },
    Setting {
        key: "sensitive.add",
        variable: "CAIRN_SENSITIVE_ADD",
        apply: |reader, at, operator| operator.sensitive_add = globs(reader, at),
    },
    Setting {
        key: "sensitive.allow",
        variable: "CAIRN_SENSITIVE_ALLOW",
        apply: |reader, at, operator| operator.sensitive_allow = globs(reader, at),
    },
    Setting {
        key: "search.synonyms",
        variable: "CAIRN_SYNONYMS",
        apply: |reader, at, operator| operator.synonyms = synonyms(reader, at),
    },
    Setting {
        key: "sources.allow_http",
        variable: "CAIRN_ALLOW_HTTP",
        apply: |reader, at, operator| set(&mut operator.sources.allow_http, reader.flag(at)),
    },
    Setting {
        key: "sources.allow_file",
        variable: "CAIRN_ALLOW_FILE",
        apply: |reader, at, operator| set(&mut operator.sources.allow_file, reader.flag(at)),
    },
    Setting {
        key: "sources.allow_private_addresses",
        variable: "CAIRN_ALLOW_PRIVATE_ADDRESSES",
        apply: |reader, at, operator| set(&mut operator.sources.allow_private_addresses, reader.flag(at)),
    },
    Setting {
        key: "sources.ssh_known_hosts",
        variable: "CAIRN_SSH_KNOWN_HOSTS",
        apply: |reader, at, operator| operator.sources.ssh_known_hosts = path(reader, at),
    },
    Setting {
        key: "sources.ssh_key",
        variable: "CAIRN_SSH_KEY",
        apply: |reader, at, operator| operator.sources.ssh_key = path(reader, at),
    },
    Setting {
        key: "sources.ssh_tenants",
        variable: "CAIRN_SSH_TENANTS",
        apply: |reader, at, operator| operator.sources.ssh_tenants = words(reader, at),
    },
    Setting {
        key: "sources.tokens",
        variable: "CAIRN_TOKENS",
        apply: |reader, at, operator| operator.sources.tokens = tokens(reader, at),
    },
    Setting {
        key: "sources.fetch_timeout_seconds",
        variable: "CAIRN_FETCH_TIMEOUT_SECONDS",
        apply: |reader, at, operator| {
            set(&mut operator.sources.fetch_timeout_seconds, reader.integer(at, 1..=86_400));
        },
    },
    Setting {
        key: "sources.max_fetch_bytes",
        variable: "CAIRN_MAX_FETCH_BYTES",
        apply: |reader, at, operator| set(&mut operator.sources.max_fetch_bytes, reader.bytes(at)),
    },
    Setting {
        key: "sources.max_git_memory_bytes",
        variable: "CAIRN_MAX_GIT_MEMORY_BYTES",
        apply: |reader, at, operator| set(&mut operator.sources.max_git_memory_bytes, reader.bytes(at)),
    },
    Setting {
        key: "sources.max_git_cpu_seconds",
        variable: "CAIRN_MAX_GIT_CPU_SECONDS",
        apply: |reader, at, operator| {
            set(&mut operator.sources.max_git_cpu_seconds, reader.integer(at, 1..=86_400));
        },
    },
    Setting {
        key: "sources.max_entries",
        variable: "CAIRN_MAX_ENTRIES",
        apply: |reader, at, operator| set(&mut operator.sources.max_entries, reader.integer(at, 1..=100_000_000)),
    },
];

impl Operator {
    /// Reads the settings file and the environment of this process. The file is `explicit` if it is set,
    /// otherwise `default`. It is not an error if the file `default` does not exist.
    pub fn load(explicit: Option<&Path>, default: &Path) -> Result<Self, OperatorError> {
        let path = explicit.unwrap_or(default);
        let text = match std::fs::read_to_string(path) {
            Ok(text) => Some(text),
            Err(error) if error.kind() == io::ErrorKind::NotFound && explicit.is_none() => None,
            Err(source) => return Err(OperatorError::Unreadable { path: path.to_owned(), source }),
        };
        let variables =
            std::env::vars_os().filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)));
        let name = path.display().to_string();
        Ok(Self::parse(text.as_deref().map(|text| (name.as_str(), text)), variables)?)
    }

    /// Parses a file, given by its name and text, and the environment variables. Reports the faults of the
    /// file and of the variables together.
    pub fn parse(
        file: Option<(&str, &str)>,
        variables: impl IntoIterator<Item = (String, String)>,
    ) -> Result<Self, InvalidSettings> {
        let mut reader = Reader::without_values();
        let mut operator = Self::default();
        if let Some((_, text)) = file {
            match Node::from_toml(text) {
                Ok(node) => apply_file(&mut reader, &node, &mut operator),
                Err(fault) => reader.add(fault),
            }
        }
        let mut variables: Vec<(String, String)> =
            variables.into_iter().filter(|(name, _)| name.starts_with("CAIRN_")).collect();
        variables.sort();
        for (name, value) in variables {
            apply_variable(&mut reader, &name, &value, &mut operator);
        }
        if operator.sources.ssh_key.is_some() && operator.sources.ssh_known_hosts.is_none() {
            let message = "needs `sources.ssh_known_hosts`: ssh trusts no host whose key is not pinned".into();
            reader.add(Fault { line: None, key: Key::known("sources.ssh_key"), message });
        }
        let origin = file.map_or("the environment".to_owned(), |(name, _)| format!("{name} and the environment"));
        reader.finish(&origin, operator)
    }
}

/// The key and the environment variable of every setting.
pub(crate) fn names() -> impl Iterator<Item = (&'static str, &'static str)> {
    let others = SETTINGS.iter().map(|setting| (setting.key, setting.variable));
    others.chain(ceilings::SETTINGS.iter().map(|setting| (setting.key, setting.variable)))
}

/// Selects the name of a setting: its key in the file, or its environment variable.
type Name = fn(&'static str, &'static str) -> &'static str;

/// Applies the setting with this name. Returns false if no setting has this name.
fn apply(reader: &mut Reader, at: &At<'_>, operator: &mut Operator, name: Name) -> bool {
    let is_meant = |key, variable| name(key, variable) == at.key.as_written();
    let known = |key, variable| At { key: Key::known(name(key, variable)), line: at.line, node: at.node };
    if let Some(setting) = SETTINGS.iter().find(|setting| is_meant(setting.key, setting.variable)) {
        (setting.apply)(reader, &known(setting.key, setting.variable), operator);
        return true;
    }
    let ceiling = ceilings::SETTINGS.iter().find(|setting| is_meant(setting.key, setting.variable));
    if let Some(setting) = ceiling {
        (setting.apply)(reader, &known(setting.key, setting.variable), &mut operator.ceilings);
    }
    ceiling.is_some()
}

/// The section with the embedding model. The keys of the section depend on the provider, so the program that
/// uses the model reads the section.
const EMBEDDING: &str = "embedding";

fn apply_file(reader: &mut Reader, root: &Node, operator: &mut Operator) {
    for (name, at) in reader.entries(&At::root(root)) {
        if name == EMBEDDING {
            continue;
        }
        let is_section = names().any(|(key, _)| key.split_once('.').is_some_and(|(section, _)| section == name));
        let entries = if is_section { reader.entries(&at).into_iter().map(|(_, at)| at).collect() } else { vec![at] };
        for at in entries {
            if !apply(reader, &at, operator, |key, _| key) {
                unknown_key(reader, at);
            }
        }
    }
}

/// If the similarity of an unknown key to every known key is below this value, the key is not treated as a
/// typing error. The key may then be a misplaced secret, so it is not shown.
const SIMILAR: f64 = 0.5;

fn unknown_key(reader: &mut Reader, at: At<'_>) {
    let known: Vec<&'static str> = names().map(|(key, _)| key).collect();
    let message = crate::reader::unknown_key(&known, at.key.as_written());
    let is_slip = crate::reader::nearest(&known, at.key.as_written()).is_some_and(|(_, likeness)| likeness >= SIMILAR);
    let key = if is_slip { at.key } else { Key::default() };
    reader.fault(&At { key, ..at }, message);
}

/// An unknown variable whose name is similar to the variable of a setting is reported as a fault. Every other
/// unknown variable is ignored, because it belongs to a different part of Cairn.
fn apply_variable(reader: &mut Reader, name: &str, value: &str, operator: &mut Operator) {
    let node = Node::text(value);
    let at = At { key: Key::untrusted(name), line: None, node: &node };
    if apply(reader, &at, operator, |_, variable| variable) {
        return;
    }
    let slip = names().find(|(_, variable)| strsim::damerau_levenshtein(variable, name) <= 2);
    if let Some((_, variable)) = slip {
        reader.fault(&at, FaultMessage::from("unknown variable; the nearest known one is `").and(variable).and("`"));
    }
}

fn path(reader: &mut Reader, at: &At<'_>) -> Option<PathBuf> {
    reader.text(at).map(PathBuf::from)
}

fn generated(reader: &mut Reader, at: &At<'_>) -> Option<GeneratedPolicy> {
    match reader.text(at)?.as_str() {
        "skip" => Some(GeneratedPolicy::Skip),
        "keep" => Some(GeneratedPolicy::KeepLowWeight),
        _ => {
            reader.fault(at, "expected `skip` or `keep`");
            None
        }
    }
}

/// A list of words. In the environment, commas separate the words.
fn words(reader: &mut Reader, at: &At<'_>) -> Vec<String> {
    let node = comma_separated(at);
    let at = At { key: at.key.clone(), line: at.line, node: node.as_ref().unwrap_or(at.node) };
    reader.texts(&at).into_iter().map(|(word, _)| word).collect()
}

/// The maximum number of entries in `search.synonyms`.
const MAX_SYNONYM_ENTRIES: usize = 1_000;

/// Reads synonyms. Each entry is a word and its synonyms, separated by spaces: `"billing invoice payment"`.
fn synonyms(reader: &mut Reader, at: &At<'_>) -> Vec<(String, Vec<String>)> {
    let entries = words(reader, at);
    if entries.len() > MAX_SYNONYM_ENTRIES {
        reader.fault(at, "has more than 1,000 entries");
        return Vec::new();
    }
    let mut found = Vec::new();
    for entry in entries {
        let mut words = entry.split_whitespace().map(str::to_lowercase);
        match (words.next(), words.collect::<Vec<String>>()) {
            (Some(word), synonyms) if !synonyms.is_empty() => found.push((word, synonyms)),
            _ => reader.fault(at, "each entry must be a word and its synonyms, separated by spaces"),
        }
    }
    found.sort();
    found
}

/// A list of globs. In the environment, commas separate the globs.
fn globs(reader: &mut Reader, at: &At<'_>) -> Vec<String> {
    match comma_separated(at) {
        Some(node) => reader.globs(&At { key: at.key.clone(), line: None, node: &node }),
        None => reader.globs(at),
    }
}

fn comma_separated(at: &At<'_>) -> Option<Node> {
    match &at.node.value {
        Value::Text(text) if at.node.line.is_none() => {
            let items = text.split(',').map(str::trim).filter(|item| !item.is_empty()).map(Node::text).collect();
            Some(Node { line: None, value: Value::List(items) })
        }
        _ => None,
    }
}

/// Returns the form in which two places are compared, with the host in lower case.
fn place(text: &str) -> String {
    let (authority, path) = text.split_at(text.find('/').unwrap_or(text.len()));
    let (tenant, host) = authority.split_at(authority.rfind('@').map_or(0, |at| at + 1));
    format!("{tenant}{}{path}", host.to_ascii_lowercase())
}

/// Reads the tokens. The form is `"git.example" = "VARIABLE"` in the file, and `git.example=VARIABLE,…` in
/// the environment.
fn tokens(reader: &mut Reader, at: &At<'_>) -> Vec<(String, String)> {
    let mut tokens = Vec::new();
    if let Some(Node { value: Value::List(items), .. }) = comma_separated(at) {
        for item in &items {
            let Value::Text(text) = &item.value else { continue };
            match text.split_once('=') {
                Some((host, variable)) => tokens.push((place(host), variable.to_owned())),
                None => reader.fault(at, "expected `host=VARIABLE`, separated by commas"),
            }
        }
    } else if let Value::Null | Value::Mapping(_) = &at.node.value {
        for (host, entry) in reader.entries(at) {
            match &entry.node.value {
                Value::Text(variable) => tokens.push((place(host), variable.clone())),
                // Neither the host nor the value is shown, because either may be the token.
                _ => reader.fault(at, "expected the name of a variable for each host"),
            }
        }
    } else {
        reader.fault(at, "expected a mapping of hosts to names of variables");
    }
    if tokens.iter().any(|(_, variable)| !is_variable_name(variable)) {
        // The value is not shown, because it may be a token that was written there by mistake.
        reader.fault(
            at,
            "tokens are given by the NAME of an environment variable (capitals, digits, `_`), never by value",
        );
    }
    tokens.sort();
    tokens
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variables(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
        pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
    }

    #[test]
    fn synonyms_are_words_with_their_synonyms() {
        let check = |file: &str, environment: &[(&str, &str)], expect: Option<&[(&str, &[&str])]>| {
            let parsed = Operator::parse(Some(("config.toml", file)), variables(environment));
            let expect = expect.map(|entries| {
                let owned = |(word, synonyms): &(&str, &[&str])| {
                    ((*word).to_owned(), synonyms.iter().map(|synonym| (*synonym).to_owned()).collect())
                };
                entries.iter().map(owned).collect::<Vec<(String, Vec<String>)>>()
            });
            assert_eq!(parsed.ok().map(|operator| operator.synonyms), expect, "{file} {environment:?}");
        };
        let file = "[search]\nsynonyms = ['Billing invoice payment', 'kfk kafka']\n";
        check(file, &[], Some(&[("billing", &["invoice", "payment"]), ("kfk", &["kafka"])]));
        check("", &[("CAIRN_SYNONYMS", "kfk kafka, db ledger")], Some(&[("db", &["ledger"]), ("kfk", &["kafka"])]));
        check("", &[], Some(&[]));
        check("[search]\nsynonyms = ['alone']\n", &[], None);
        check("[search]\nsynonyms = 3\n", &[], None);
    }

    #[test]
    fn environment_overrides_file_and_defaults() {
        let file = "generated = 'keep'\nworkers = 3\nmax_file_size = '2 MiB'\n[sensitive]\nallow = ['docs/*.pem']\n\
                    [ceilings]\nsync_timeout_seconds = 9\n\
                    [sources]\nallow_http = true\nfetch_timeout_seconds = 60\n[sources.tokens]\n'Git.Example' = 'GIT_TOKEN'\n\
                    'Acme@Git.Example/Team' = 'TEAM_TOKEN'\n";
        let environment = variables(&[
            ("CAIRN_ALLOW_HTTP", "0"),
            ("CAIRN_ALLOW_FILE", "true"),
            ("CAIRN_HOME", "/srv/index"),
            ("CAIRN_SENSITIVE_ADD", "*.tfvars, *.kdbx"),
            ("CAIRN_MAX_FETCH_BYTES", "5 GiB"),
            ("CAIRN_SSH_TENANTS", "acme, beta"),
            ("CAIRN_MAX_CHUNKS", "5"),
            ("CAIRN_MAX_REPEATED_BYTES", "1 MiB"),
            ("CAIRN_SOMETHING_ELSE", "x"),
            ("PATH", "/bin"),
        ]);
        let operator = Operator::parse(Some(("config.toml", file)), environment).expect("valid");
        assert_eq!(operator.home.as_deref(), Some(Path::new("/srv/index")));
        assert_eq!((operator.generated, operator.num_workers), (GeneratedPolicy::KeepLowWeight, 3));
        assert_eq!(operator.max_file_size, Some(2 << 20));
        assert_eq!((operator.sources.allow_http, operator.sources.allow_file), (false, true));
        assert!(!operator.sources.allow_private_addresses);
        let token = |place: &str, variable: &str| (place.to_owned(), variable.to_owned());
        let tokens = [token("Acme@git.example/Team", "TEAM_TOKEN"), token("git.example", "GIT_TOKEN")];
        assert_eq!(operator.sources.tokens, tokens);
        assert_eq!(operator.sources.ssh_tenants, ["acme", "beta"]);
        assert_eq!((operator.sources.fetch_timeout_seconds, operator.sources.max_fetch_bytes), (60, 5 << 30));
        let ceilings =
            Ceilings { max_chunks: 5, max_repeated_bytes: 1 << 20, sync_timeout_seconds: 9, ..Ceilings::default() };
        assert_eq!(operator.ceilings, ceilings);
        assert_eq!(operator.sensitive_add, ["*.tfvars", "*.kdbx"]);
        assert_eq!(operator.sensitive_allow, ["docs/*.pem"]);
        assert_eq!(Operator::parse(None, []), Ok(Operator::default()));
    }

    #[test]
    fn all_faults_are_reported_together() {
        let file = "wrkers = 1\nworkers = -1\n[sources]\nallow_htp = true\nssh_key = 'k'\n[sources.tokens]\n'a' = 'secret value'\n";
        let environment = variables(&[("CAIRN_ALLOW_HTP", "1"), ("CAIRN_ALLOW_FILE", "maybe")]);
        let error = Operator::parse(Some(("config.toml", file)), environment).expect_err("faults");
        let keys: Vec<(Option<u32>, &str)> =
            error.faults.iter().map(|fault| (fault.line, fault.key.as_written())).collect();
        let expected = [
            (None, "CAIRN_ALLOW_FILE"),
            (None, "CAIRN_ALLOW_HTP"),
            (None, "sources.ssh_key"),
            (Some(1), "wrkers"),
            (Some(2), "workers"),
            (Some(4), "sources.allow_htp"),
            (Some(6), "sources.tokens"),
        ];
        assert_eq!(keys, expected, "{error}");
        assert!(error.to_string().contains("`sources.allow_http`"), "{error}");
        assert!(!error.to_string().contains("secret value"), "{error}");
    }

    #[test]
    fn no_form_of_a_token_is_shown_in_an_error() {
        let forms = [
            "tokens = 'ghp_secret'",
            "tokens = ['ghp_secret']",
            "tokens = 20242024",
            "tokens = { 'git.example' = 'ghp_secret' }",
            "tokens = { 'ghp_secret' = 'git.example' }",
            "tokens = { 'git.example' = 20242024 }",
            "tokens = { 'git.example' = ['ghp_secret'] }",
            "tokens = { 'git.example' = { ghp_secret = 1 } }",
            "tokens = { 'ghp_secret' = 1 }",
            "tokens = 'ghp_secret",
        ];
        let is_shown = |error: &InvalidSettings| {
            let shown = format!("{error} {error:?}");
            shown.contains("ghp_secret") || shown.contains("20242024")
        };
        for form in forms {
            let text = format!("[sources]\n{form}\n");
            let error = Operator::parse(Some(("config.toml", &text)), []).expect_err(form);
            assert!(!is_shown(&error), "{form}: {error}");
        }
        for value in ["ghp_secret", "git.example=ghp_secret", "ghp_secret=git.example", "20242024"] {
            let error = Operator::parse(None, variables(&[("CAIRN_TOKENS", value)])).expect_err(value);
            assert!(!is_shown(&error), "{value}: {error}");
        }
    }

    #[test]
    fn invalid_toml_is_reported_with_its_line() {
        let error = Operator::parse(Some(("config.toml", "a = 1\nb = = 2\n")), []).expect_err("fault");
        assert_eq!(error.faults[0].line, Some(2), "{error}");
    }

    #[test]
    fn every_setting_has_its_own_key_and_variable() {
        let names: Vec<_> = names().collect();
        for (index, (key, variable)) in names.iter().enumerate() {
            assert!(variable.starts_with("CAIRN_"));
            assert!(names[index + 1..].iter().all(|other| other.0 != *key && other.1 != *variable));
        }
    }
}
