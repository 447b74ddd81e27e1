//! Reads the operator's settings from `config.toml` and the environment. The environment overrides the file,
//! and the file overrides the default.

use std::io;
use std::path::{Path, PathBuf};

use cairn_redaction::Message;

use crate::fault::Key;
use crate::operator::Operator;
use crate::operator_table::{apply, names};
use crate::reader::{At, Reader};
use crate::tree::Node;
use crate::{Fault, InvalidSettings};

/// The operator's settings cannot be read, or contain faults.
#[derive(Debug, thiserror::Error)]
pub enum OperatorError {
    #[error("cannot read the configuration `{}`", .path.display())]
    Unreadable { path: PathBuf, source: io::Error },
    #[error(transparent)]
    Invalid(#[from] InvalidSettings),
}

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

fn unknown_key(reader: &mut Reader, at: At<'_>) {
    let known: Vec<&'static str> = names().map(|(key, _)| key).collect();
    let message = crate::reader::unknown_key(&known, at.key.as_written());
    let is_shown = crate::reader::is_typing_error(&known, at.key.as_written());
    let key = if is_shown { at.key } else { Key::default() };
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
        reader.fault(&at, Message::from("unknown variable; the nearest known one is `").and(variable).and("`"));
    }
}

#[cfg(test)]
mod tests {
    use cairn_inventory::GeneratedPolicy;

    use super::*;
    use crate::Ceilings;

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
