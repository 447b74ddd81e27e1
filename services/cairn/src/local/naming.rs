//! Chooses the name of a repository in local mode: the name in the call, else the name in `.cairn.yaml`, else
//! the name of the remote or folder.

use cairn_config::{RepositorySettings, SETTINGS_FILE};
use cairn_domain::{RepositoryName, Source};
use cairn_git::{read_beneath, repository_name};
use cairn_ports::RepositoryRecord;

/// A larger settings file is invalid.
const MAX_SETTINGS_BYTES: u64 = 256 * 1024;

/// A name, and the registered record that gets this name and keeps its id.
#[derive(Clone, PartialEq, Debug)]
pub struct Named {
    pub name: RepositoryName,
    pub known: Option<RepositoryRecord>,
}

/// The name of a source that a call indexes without a registered name. If another repository has the name in
/// `.cairn.yaml`, this name is not used.
pub fn name_of(source: &Source, given: Option<RepositoryName>, known: &[RepositoryRecord]) -> Named {
    match given {
        Some(name) => Named { name, known: None },
        None => decide(source, repository_name(source), declared_name(source), known),
    }
}

fn decide(
    source: &Source,
    usual: RepositoryName,
    declared: Option<RepositoryName>,
    known: &[RepositoryRecord],
) -> Named {
    let Some(declared) = declared else { return Named { name: usual, known: None } };
    let of_source = |record: &&RepositoryRecord| record.source == *source;
    match known.iter().find(|record| record.name == declared) {
        Some(own) if own.source == *source => Named { name: declared, known: Some(own.clone()) },
        Some(_) => {
            let name = declared.as_str();
            tracing::warn!(name, "the name in `{SETTINGS_FILE}` belongs to another repository and is not used");
            Named { name: usual, known: None }
        }
        // A repository that was indexed before its settings file contained a name is renamed.
        None => {
            Named { known: known.iter().filter(of_source).find(|record| record.name == usual).cloned(), name: declared }
        }
    }
}

/// The name in the `.cairn.yaml` of a directory on disk. An unreadable file is treated as a file without a
/// name. The sync reports such a file.
fn declared_name(source: &Source) -> Option<RepositoryName> {
    let (Source::WorkTree { path } | Source::Directory { path }) = source else { return None };
    let bytes = read_beneath(path, SETTINGS_FILE, MAX_SETTINGS_BYTES).ok()?;
    RepositorySettings::parse(&String::from_utf8(bytes).ok()?).ok()?.name.map(RepositoryName::new)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use cairn_domain::Tenant;

    use super::*;

    fn record(name: &str, path: &str) -> RepositoryRecord {
        let source = Source::Directory { path: path.to_owned() };
        RepositoryRecord::new(Tenant::local(), RepositoryName::new(name), source)
    }

    #[test]
    fn declared_name_is_used_unless_it_is_taken() {
        let check = |declared: Option<&str>, known: &[RepositoryRecord], expect: (&str, Option<&RepositoryRecord>)| {
            let source = Source::Directory { path: "/a".to_owned() };
            let named = decide(&source, RepositoryName::new("a"), declared.map(RepositoryName::new), known);
            assert_eq!((named.name.as_str(), named.known.as_ref()), expect, "{declared:?}");
        };
        let (usual, own, other) = (record("a", "/a"), record("shop", "/a"), record("shop", "/b"));
        check(None, &[], ("a", None));
        check(None, std::slice::from_ref(&usual), ("a", None));
        check(Some("shop"), &[], ("shop", None));
        check(Some("shop"), std::slice::from_ref(&usual), ("shop", Some(&usual)));
        check(Some("shop"), std::slice::from_ref(&own), ("shop", Some(&own)));
        check(Some("shop"), &[other], ("a", None));
    }

    #[test]
    fn name_is_read_from_the_settings_file() {
        let directory = tempfile::tempdir().expect("a directory");
        let source = Source::Directory { path: directory.path().display().to_string() };
        let name = || declared_name(&source).map(|name| name.to_string());
        assert_eq!(name(), None);
        let write = |text: &str| fs::write(directory.path().join(SETTINGS_FILE), text).expect("written");
        write("name: acme/shop\n");
        assert_eq!(name().as_deref(), Some("acme/shop"));
        write("name: ../etc\n");
        assert_eq!(name(), None);
        write("nme: a\n");
        assert_eq!(name(), None);
        fs::remove_file(directory.path().join(SETTINGS_FILE)).expect("removed");
        fs::write(directory.path().join("elsewhere"), "name: b\n").expect("written");
        std::os::unix::fs::symlink("elsewhere", directory.path().join(SETTINGS_FILE)).expect("linked");
        assert_eq!(name(), None);
    }
}
