//! A YAML file that lists repositories to be indexed.
//!
//! ```yaml
//! repositories:
//!   - path: ../shop            # relative to the list's own directory
//!     name: acme/shop
//!   - url: https://git.example/acme/pay.git
//!     branch: main
//!     exclude: [testdata/**]
//! ```
//!
//! The file may also contain the list directly, without the key `repositories`.

use std::path::{Path, PathBuf};

use crate::InvalidSettings;
use crate::reader::{At, Reader};
use crate::repository_reading::{branch_name, repository_name};
use crate::tree::{Node, Value};

const KEYS: &[&str] = &["path", "url", "name", "branch", "include", "exclude", "include_override"];

/// The location of a listed repository.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Location {
    Path(PathBuf),
    /// The URL as it is written in the list. The adapter that reads sources decides whether a connection to
    /// this URL is allowed.
    Url(String),
}

/// An entry of the list. The patterns in a field (for example `exclude`) replace the stored patterns of the
/// repository. An empty list removes the stored patterns, and an absent field keeps them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ListedRepository {
    /// The line of the entry in the list, counted from 1.
    pub line: Option<u32>,
    pub location: Location,
    pub name: Option<String>,
    pub branch: Option<String>,
    pub include: Option<Vec<String>>,
    pub exclude: Option<Vec<String>>,
    pub include_override: Option<Vec<String>>,
}

/// Parses a list. `file` is the name of the list in messages. Relative paths in the list are relative to
/// `directory`.
pub fn parse_repository_list(
    text: &str,
    file: &str,
    directory: &Path,
) -> Result<Vec<ListedRepository>, InvalidSettings> {
    let invalid = |fault| InvalidSettings { file: file.to_owned(), faults: vec![fault] };
    let node = Node::from_yaml(text).map_err(invalid)?;
    let mut reader = Reader::with_patterns_only();
    let root = At::root(&node);
    let items = match node.value {
        Value::List(_) => reader.list(&root),
        _ => {
            let lists = reader.mapping(&root, &["repositories"]);
            lists.into_iter().flat_map(|(_, at)| reader.list(&at)).collect()
        }
    };
    if items.is_empty() {
        reader.fault(&root, "the list has no repositories");
    }
    let mut repositories: Vec<ListedRepository> = Vec::with_capacity(items.len());
    for item in items {
        let Some(repository) = entry(&mut reader, &item, directory) else { continue };
        let same = |other: &ListedRepository| other.name.is_some() && other.name == repository.name;
        if repositories.iter().any(same) {
            reader.fault(&item, "another entry has the same name");
        }
        repositories.push(repository);
    }
    reader.finish(file, repositories)
}

fn entry(reader: &mut Reader, item: &At<'_>, directory: &Path) -> Option<ListedRepository> {
    let (mut path, mut url) = (None, None);
    let (mut name, mut branch) = (None, None);
    let (mut include, mut exclude, mut include_override) = (None, None, None);
    for (key, at) in reader.mapping(item, KEYS) {
        match key {
            "path" => path = reader.text(&at),
            "url" => url = reader.text(&at),
            "name" => name = repository_name(reader, &at),
            "branch" => branch = branch_name(reader, &at),
            "include" => include = Some(reader.globs(&at)),
            "exclude" => exclude = Some(reader.globs(&at)),
            _ => include_override = Some(reader.globs(&at)),
        }
    }
    let location = match (path, url) {
        (Some(path), None) => Location::Path(directory.join(path)),
        (None, Some(url)) => Location::Url(url),
        _ => {
            reader.fault(item, "an entry has either a `path` or a `url`");
            return None;
        }
    };
    Some(ListedRepository { line: item.line, location, name, branch, include, exclude, include_override })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_read_in_both_forms() {
        let entries = "- path: ../shop\n  name: acme/shop\n- url: https://git.example/a/pay.git\n  branch: main\n  exclude: [t/**]\n";
        let nested = format!(
            "repositories:\n{}",
            entries.replace("- ", "  - ").replace("\n  ", "\n    ").replace("    - ", "  - ")
        );
        for text in [entries, nested.as_str()] {
            let list = parse_repository_list(text, "repos.yaml", Path::new("/base")).expect(text);
            assert_eq!(list.len(), 2);
            assert_eq!(list[0].location, Location::Path(PathBuf::from("/base/../shop")));
            assert_eq!(list[0].name.as_deref(), Some("acme/shop"));
            assert_eq!(list[1].line, list[0].line.map(|line| line + 2));
            assert_eq!(list[1].location, Location::Url("https://git.example/a/pay.git".to_owned()));
            assert_eq!((list[1].branch.as_deref(), &list[1].exclude), (Some("main"), &Some(vec!["t/**".to_owned()])));
            assert_eq!((&list[1].include, &list[1].include_override), (&None, &None));
        }
    }

    #[test]
    fn empty_list_of_patterns_is_not_absent() {
        let text = "- path: a\n  include: []\n  exclude: []\n  include_override: []\n";
        let list = parse_repository_list(text, "repos.yaml", Path::new(".")).expect(text);
        let ListedRepository { include, exclude, include_override, .. } = &list[0];
        assert_eq!([include, exclude, include_override], [&Some(Vec::new()); 3]);
    }

    #[test]
    fn faults_are_named() {
        let check = |text: &str, line: Option<u32>, message: &str| {
            let error = parse_repository_list(text, "repos.yaml", Path::new(".")).expect_err(text);
            assert_eq!(error.faults[0].line, line, "{error}");
            assert!(error.faults[0].message.as_str().contains(message), "{error}");
        };
        check("- path: a\n  url: b\n", Some(1), "either");
        check("- name: a\n", Some(1), "either");
        check("- path: a\n  nme: b\n", Some(2), "`name`");
        check("- path: a\n  name: x\n- path: b\n  name: x\n", Some(3), "same name");
        check("repos:\n- path: a\n", Some(1), "`repositories`");
        check("repositories: []\n", Some(1), "no repositories");
        check("- path: a\n- path: b\n  include: ['[x']\n", Some(3), "invalid pattern «[x»");
    }

    #[test]
    fn address_is_not_shown_beside_an_invalid_pattern() {
        let text = "- url: [\"https://u:hunter2@h/r.git\"]\n  include: ['[x']\n";
        let error = parse_repository_list(text, "repos.yaml", Path::new(".")).expect_err(text);
        assert!(error.to_string().contains("«[x»") && !error.to_string().contains("hunter2"), "{error}");
    }
}
