//! Chooses the name of a repository in local mode: the name in the call, otherwise the name in `.cairn.yaml`,
//! otherwise the name of the remote or folder.

use std::path::Path;

use cairn_config::{RepositorySettings, SETTINGS_FILE};
use cairn_domain::{RepositoryId, RepositoryName, Scope, Source, Tenant};
use cairn_git::{read_beneath, repository_name};
use cairn_ports::{Catalogue, RepositoryRecord};
use cairn_redaction::Message;
use cairn_search::{FieldFault, QueryError, QueryErrorCode};

use super::Local;

/// A settings file that is larger than this size is invalid.
const MAX_SETTINGS_BYTES: u64 = 256 * 1024;

/// A name, and the registered record that gets this name and keeps its id.
#[derive(Clone, PartialEq, Debug)]
pub struct Named {
    pub name: RepositoryName,
    pub known: Option<RepositoryRecord>,
}

impl Local {
    /// The name for a source that a call identifies by its path or URL, and the record that gets this name.
    /// If the call contains no name, a registered working tree or directory keeps its record. If the name in
    /// `.cairn.yaml` belongs to another repository, that name is not used.
    pub(crate) fn named(
        &self,
        source: &Source,
        given: Option<RepositoryName>,
        known: &[RepositoryRecord],
    ) -> anyhow::Result<Named> {
        if let Some(name) = given {
            return given_name(name, source, known);
        }
        let earlier = |record: &RepositoryRecord| self.home.declared_name(record.id);
        Ok(decide(source, repository_name(source), declared_on_disk(source), known, &earlier))
    }

    /// The name that a registered repository gets if its settings declare the name `declared`. If the current
    /// name of the repository comes from a call or from the list of an organisation, the current name is
    /// kept.
    pub(super) fn name_after(
        &self,
        record: &RepositoryRecord,
        declared: Option<&RepositoryName>,
        known: &[RepositoryRecord],
    ) -> RepositoryName {
        let earlier = self.home.declared_name(record.id);
        name_after(record, &repository_name(&record.source), declared, earlier.as_ref(), known)
    }

    /// The record with the name that the settings of its source declare. The name of a source on disk is
    /// chosen before the run, so this function changes only records of bare repositories and remotes.
    pub(super) async fn with_declared_name(
        &self,
        record: RepositoryRecord,
        declared: Option<RepositoryName>,
    ) -> anyhow::Result<RepositoryRecord> {
        if is_on_disk(&record.source) {
            return Ok(record);
        }
        let known = self.runs.repositories(&Scope::all(Tenant::local())).await?;
        let name = self.name_after(&record, declared.as_ref(), &known);
        self.home.keep_declared_name(record.id, declared.as_ref().filter(|declared| **declared == name))?;
        if name == record.name {
            return Ok(record);
        }
        let aliases = [&record.aliases[..], std::slice::from_ref(&record.name)].concat();
        let renamed = RepositoryRecord { name, aliases, ..record };
        if known.iter().any(|known| known.id == renamed.id) {
            self.runs.register(renamed.clone()).await?;
        }
        Ok(renamed)
    }

    /// Stores the name of a source on disk if its settings declare this name.
    pub(super) fn keep_name_on_disk(&self, record: &RepositoryRecord) -> anyhow::Result<()> {
        if !is_on_disk(&record.source) {
            return Ok(());
        }
        let declared = declared_on_disk(&record.source).filter(|declared| *declared == record.name);
        self.home.keep_declared_name(record.id, declared.as_ref())
    }
}

/// The record for a name in a call. The id of a renamed repository is derived from its original name, so no
/// other repository can get this original name. Returns an error if a different repository originally had the
/// name.
fn given_name(name: RepositoryName, source: &Source, known: &[RepositoryRecord]) -> anyhow::Result<Named> {
    let id = RepositoryId::derive(&Tenant::local(), &name);
    match known.iter().find(|record| record.id == id && record.name != name) {
        None => Ok(Named { name, known: None }),
        Some(renamed) if renamed.source == *source => Ok(Named { name, known: Some(renamed.clone()) }),
        Some(renamed) => {
            let message = Message::default().and(&name).and(" is the former name of ").and(&renamed.name);
            let message = message.and("; choose another name");
            let error = QueryError::new(QueryErrorCode::ValidationError, message);
            Err(error.in_field(FieldFault::of("name")).into())
        }
    }
}

fn decide(
    source: &Source,
    usual: RepositoryName,
    declared: Option<RepositoryName>,
    known: &[RepositoryRecord],
    earlier: &dyn Fn(&RepositoryRecord) -> Option<RepositoryName>,
) -> Named {
    let own: Vec<&RepositoryRecord> = known.iter().filter(|record| record.source == *source).collect();
    let with_name = |name: &RepositoryName| own.iter().find(|record| record.name == *name);
    let by_default = declared
        .as_ref()
        .and_then(with_name)
        .or_else(|| with_name(&usual))
        .or_else(|| own.iter().find(|record| earlier(record).as_ref() == Some(&record.name)));
    if let Some(record) = by_default {
        let name = name_after(record, &usual, declared.as_ref(), earlier(record).as_ref(), known);
        return Named { name, known: Some((*record).clone()) };
    }
    // The record of a bare repository or a URL that is registered with a branch is not used here, because the
    // same source may also be registered with other revisions.
    if let [only] = own.as_slice()
        && (is_on_disk(source) || only.branch.is_none())
    {
        return Named { name: only.name.clone(), known: Some((*only).clone()) };
    }
    let name = match declared {
        Some(declared) if is_free(&declared, None, known) => declared,
        Some(declared) => {
            warn_taken(&declared);
            usual_name(usual, source, known)
        }
        None => usual_name(usual, source, known),
    };
    Named { name, known: None }
}

fn name_after(
    record: &RepositoryRecord,
    usual: &RepositoryName,
    declared: Option<&RepositoryName>,
    earlier: Option<&RepositoryName>,
    known: &[RepositoryRecord],
) -> RepositoryName {
    let own = &record.name;
    let is_given = own != usual && earlier != Some(own) && declared != Some(own);
    if is_given || record.hosted.is_some() {
        return own.clone();
    }
    let wanted = declared.unwrap_or(usual);
    if wanted != own && !is_free(wanted, Some(record.id), known) {
        warn_taken(wanted);
        return own.clone();
    }
    wanted.clone()
}

fn warn_taken(name: &RepositoryName) {
    let name = name.as_str();
    tracing::warn!(name, "the name belongs to another repository and is not used");
}

/// Whether no other repository has this name, and no other repository was first registered under this name.
fn is_free(name: &RepositoryName, own: Option<RepositoryId>, known: &[RepositoryRecord]) -> bool {
    let id = RepositoryId::derive(&Tenant::local(), name);
    known.iter().all(|record| Some(record.id) == own || (record.name != *name && record.id != id))
}

pub(super) fn is_on_disk(source: &Source) -> bool {
    matches!(source, Source::WorkTree { .. } | Source::Directory { .. })
}

/// The usual name of a new repository. If a record has this name, but the files of its source no longer
/// exist, the source counts as moved, and the record gets the new path. If the files exist, the new
/// repository gets a different name.
fn usual_name(usual: RepositoryName, source: &Source, known: &[RepositoryRecord]) -> RepositoryName {
    let id = RepositoryId::derive(&Tenant::local(), &usual);
    let exists = |other: &Source| is_on_disk(other) && Path::new(other.location()).exists();
    let keeps = |record: &RepositoryRecord| record.source != *source && is_on_disk(source) && exists(&record.source);
    let is_taken = known
        .iter()
        .any(|record| (record.id == id && record.name != usual) || { record.name == usual && keeps(record) });
    if is_taken { unused_name(usual, source, known) } else { usual }
}

/// Returns a name that no repository has. If another repository has the given name, the folder of the source
/// is appended. If that name is also used, a number is appended.
pub(super) fn unused_name(name: RepositoryName, source: &Source, known: &[RepositoryRecord]) -> RepositoryName {
    if is_free(&name, None, known) {
        return name;
    }
    let folders = Path::new(source.location()).iter().rev().filter_map(|folder| folder.to_str());
    let last = name.as_str().rsplit('/').next().unwrap_or_default();
    let folder = folders.map(in_name).find(|folder| !folder.is_empty() && folder != last).unwrap_or_default();
    let numbered = (1..).map(|number| match number {
        1 => RepositoryName::new(format!("{name}~{folder}")),
        number => RepositoryName::new(format!("{name}~{folder}-{number}")),
    });
    numbered.into_iter().find(|name| is_free(name, None, known)).unwrap_or(name)
}

/// The characters of a folder's name that the name of a repository may contain.
fn in_name(folder: &str) -> String {
    folder.chars().filter(|character| character.is_alphanumeric() || "._-".contains(*character)).collect()
}

/// The name in the `.cairn.yaml` of a directory on disk. An unreadable file is treated as a file without a
/// name. The sync reports an unreadable file.
pub(super) fn declared_on_disk(source: &Source) -> Option<RepositoryName> {
    let (Source::WorkTree { path } | Source::Directory { path }) = source else { return None };
    let bytes = read_beneath(path, SETTINGS_FILE, MAX_SETTINGS_BYTES).ok()?;
    settings_name(&String::from_utf8(bytes).ok()?)
}

/// The name in the text of a `.cairn.yaml`. `None` if the settings declare no name, or if they are invalid;
/// the sync reports invalid settings.
pub(super) fn settings_name(text: &str) -> Option<RepositoryName> {
    RepositorySettings::parse(text).ok()?.name.map(RepositoryName::new)
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

    /// The name of the directory `/a`, whose usual name is `a`, and the record that gets the name.
    fn decided(declared: Option<&str>, earlier: Option<&str>, known: &[RepositoryRecord]) -> (String, Option<String>) {
        let source = Source::Directory { path: "/a".to_owned() };
        let earlier = |_: &RepositoryRecord| earlier.map(RepositoryName::new);
        let declared = declared.map(RepositoryName::new);
        let named = decide(&source, RepositoryName::new("a"), declared, known, &earlier);
        (named.name.to_string(), named.known.map(|record| record.name.to_string()))
    }

    #[test]
    fn declared_name_is_used_unless_it_is_taken() {
        let check = |declared: Option<&str>, known: &[RepositoryRecord], expect: (&str, Option<&str>)| {
            let expect = (expect.0.to_owned(), expect.1.map(str::to_owned));
            assert_eq!(decided(declared, None, known), expect, "{declared:?}");
        };
        let (usual, own, other) = (record("a", "/a"), record("shop", "/a"), record("shop", "/b"));
        check(None, &[], ("a", None));
        check(None, std::slice::from_ref(&usual), ("a", Some("a")));
        check(Some("shop"), &[], ("shop", None));
        check(Some("shop"), std::slice::from_ref(&usual), ("shop", Some("a")));
        check(Some("shop"), std::slice::from_ref(&own), ("shop", Some("shop")));
        check(Some("shop"), std::slice::from_ref(&other), ("a", None));
        check(Some("shop"), &[usual, other], ("a", Some("a")));
    }

    #[test]
    fn record_is_renamed_if_its_declared_name_changes_or_is_removed() {
        let own = record("shop", "/a");
        let known = std::slice::from_ref(&own);
        let check = |declared: Option<&str>, expect: &str| {
            assert_eq!(decided(declared, Some("shop"), known), (expect.to_owned(), Some("shop".to_owned())));
        };
        check(Some("store"), "store");
        check(None, "a");
        // The name was given in a call, so the name in the file is not used.
        assert_eq!(decided(Some("store"), None, known), ("shop".to_owned(), Some("shop".to_owned())));
        assert_eq!(decided(None, None, known), ("shop".to_owned(), Some("shop".to_owned())));
        let taken = [own.clone(), record("store", "/b")];
        assert_eq!(decided(Some("store"), Some("shop"), &taken), ("shop".to_owned(), Some("shop".to_owned())));
    }

    #[test]
    fn former_name_of_a_renamed_repository_is_not_given_to_another() {
        let renamed = RepositoryRecord { name: RepositoryName::new("shop"), ..record("a", "/x/a") };
        let known = std::slice::from_ref(&renamed);
        assert_eq!(decided(None, None, known).1, None);
        assert_ne!(decided(None, None, known).0, "a", "its id belongs to `shop`");
        let (name, source) = (RepositoryName::new("a"), Source::Directory { path: "/a".to_owned() });
        assert!(given_name(name.clone(), &source, known).is_err());
        let again = given_name(name, &renamed.source, known).expect("its own former name");
        assert_eq!(again.known, Some(renamed));
    }

    #[test]
    fn unused_name_contains_the_folder() {
        let check = |name: &str, path: &str, known: &[RepositoryRecord], expect: &str| {
            let source = Source::WorkTree { path: path.to_owned() };
            assert_eq!(unused_name(RepositoryName::new(name), &source, known).as_str(), expect);
        };
        check("shop", "/work/shop", &[], "shop");
        check("shop", "/work/shop", &[record("shop", "/old/shop")], "shop~work");
        check("host/a/shop", "/work/second", &[record("host/a/shop", "/work/shop")], "host/a/shop~second");
        let both = [record("shop", "/old/shop"), record("shop~work", "/older/work/shop")];
        check("shop", "/new/work/shop", &both, "shop~work-2");
    }

    #[test]
    fn name_is_read_from_the_settings_file() {
        let directory = tempfile::tempdir().expect("a directory");
        let source = Source::Directory { path: directory.path().display().to_string() };
        let name = || declared_on_disk(&source).map(|name| name.to_string());
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
