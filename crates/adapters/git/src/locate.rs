//! Finds the source to which a user's text refers, and computes the default name of a repository.

use std::path::Path;

use cairn_domain::{RepositoryName, Source};
use cairn_ports::{ErrorKind, SourceError};

use crate::failure::{failure, from_git, from_io};
use crate::objects::repository::OpenRepository;
use crate::remote::url::RemoteUrl;
use crate::settings::{RemotePolicy, SshSettings};

/// Decides whether `text` is a URL, or a path to a working tree, a bare repository or a plain directory.
///
/// Only the top directory of a working tree is located as a working tree; a directory inside it is located as
/// a plain directory. The error is `Invalid` for a URL that the policy refuses and for a path to a file, and
/// `NotFound` or `Forbidden` for a path that does not exist or cannot be read.
pub fn locate(text: &str, policy: &RemotePolicy) -> Result<Source, SourceError> {
    if RemoteUrl::looks_like_one(text) && !Path::new(text).exists() {
        // The error does not contain the text, because the text may contain a credential.
        let url = RemoteUrl::parse(text, policy)
            .map_err(|error| SourceError::new(ErrorKind::Invalid, "locate", "URL").because(error))?;
        return Ok(Source::Url { url: url.as_str().to_owned() });
    }
    // `user:password@host` without a scheme is read as a path, and is not shown.
    let shown = if text.contains('@') { "path" } else { text };
    let path = std::fs::canonicalize(text).map_err(|error| from_io("locate", shown, error))?;
    if !path.is_dir() {
        return Err(failure(ErrorKind::Invalid, "locate", text, "is a file; give the directory of a repository"));
    }
    let Some(path_text) = path.to_str().map(str::to_owned) else {
        return Err(failure(ErrorKind::Invalid, "locate", text, "the path is not UTF-8"));
    };
    // If `.git` does not refer to a repository, the listing reports this. The directory is still a working
    // tree, so the files that `.gitignore` hides are not indexed.
    if has_git(&path) {
        return Ok(Source::WorkTree { path: path_text });
    }
    match OpenRepository::open(&path) {
        // A path to a `.git` directory refers to its repository without the files of the working tree.
        Ok(_) => Ok(Source::Bare { path: path_text }),
        Err(error) if error.code() == git2::ErrorCode::NotFound => Ok(Source::Directory { path: path_text }),
        Err(error) => Err(from_git("locate", text, &error)),
    }
}

/// Whether the directory contains something with the name `.git`.
pub(crate) fn has_git(directory: &Path) -> bool {
    std::fs::symlink_metadata(directory.join(".git")).is_ok()
}

/// The default name of a repository: the host and path of the remote `origin` if it exists, and otherwise the
/// name of the folder.
pub fn repository_name(source: &Source) -> RepositoryName {
    let name = match source {
        Source::Url { url } => name_of_url(url),
        Source::WorkTree { path } | Source::Bare { path } => {
            origin_of(Path::new(path)).and_then(|url| name_of_url(&url)).or_else(|| name_of_folder(path))
        }
        Source::Directory { path } => name_of_folder(path),
    };
    RepositoryName::new(name.unwrap_or_else(|| "repository".to_owned()))
}

fn origin_of(path: &Path) -> Option<String> {
    OpenRepository::open(path).ok()?.origin().map(str::to_owned)
}

/// Returns `None` for a text that is not a URL (a path on this machine). Only the host and the path are used,
/// so credentials are dropped.
fn name_of_url(text: &str) -> Option<String> {
    let everything = RemotePolicy {
        allow_http: true,
        allow_file: false,
        allow_private_addresses: true,
        ssh: Some(SshSettings { known_hosts: "unused".into(), key: None, tenants: Vec::new() }),
        ..RemotePolicy::default()
    };
    let bare = without_credentials(text);
    let url = RemoteUrl::parse(&bare, &everything).ok();
    let local = RemotePolicy { allow_file: true, ..RemotePolicy::default() };
    let url = url.or_else(|| RemoteUrl::parse(&bare, &local).ok())?;
    Some(clean(&url.name()))
}

/// Removes the text up to the last `@`, even if an unescaped password contains a slash. An `@` is kept only
/// if it is the first character of a path segment (`/@scope/name`) and no password can precede it.
fn without_credentials(text: &str) -> String {
    let Some((scheme, rest)) = text.split_once("://") else { return text.to_owned() };
    let authority = rest.split(['/', '?', '#']).next().unwrap_or(rest);
    let encoded = rest.to_ascii_lowercase().rfind("%40");
    let at = match (rest.rfind('@'), encoded) {
        (Some(plain), _) => Some(plain + 1),
        (None, Some(encoded)) => Some(encoded + 3),
        (None, None) => None,
    };
    let is_scope = !authority.contains([':', '@', '%']) && rest.matches('@').count() == 1 && rest.contains("/@");
    let kept = at.filter(|_| !is_scope).map_or(rest, |at| &rest[at..]);
    format!("{scheme}://{kept}")
}

fn name_of_folder(path: &str) -> Option<String> {
    let path = Path::new(path);
    let name = match path.file_name()?.to_str()? {
        // The path is the `.git` directory of a working tree, so the name of the directory above it is used.
        ".git" => path.parent()?.file_name()?.to_str()?,
        name => name,
    };
    Some(clean(name.strip_suffix(".git").filter(|stem| !stem.is_empty()).unwrap_or(name)))
}

/// In a name, replaces each character that settings do not accept with `-`.
fn clean(name: &str) -> String {
    let fits = |character: char| character.is_alphanumeric() || "._-+/@~".contains(character);
    let name: String = name.chars().map(|character| if fits(character) { character } else { '-' }).take(200).collect();
    name.trim_start_matches('-').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_come_from_host_and_path_or_folder() {
        let url = |text: &str| Source::Url { url: text.to_owned() };
        let check = |source: &Source, expect: &str| assert_eq!(repository_name(source).as_str(), expect);
        check(&url("https://github.com/a/b.git"), "github.com/a/b");
        check(&url("file:///srv/git/shop.git"), "shop");
        check(&Source::Directory { path: "/home/x/My Project".to_owned() }, "My-Project");
        check(&Source::Bare { path: "/nowhere/shop.git".to_owned() }, "shop");
        check(&Source::Bare { path: "/nowhere/shop/.git".to_owned() }, "shop");
        assert_eq!(name_of_url("https://user:pw@git.example.com/a/b"), Some("git.example.com/a/b".to_owned()));
        assert_eq!(name_of_url("git@git.example.com:a/b.git"), Some("git.example.com/a/b".to_owned()));
        assert_eq!(name_of_url("../other"), None);
        assert_eq!(name_of_url("https://host.example/@scope/a"), Some("host.example/@scope/a".to_owned()));
    }

    #[test]
    fn password_never_appears_in_a_name_or_error() {
        let urls = [
            "https://bob:123/45@git.example.com/a/b",
            "https://bob:123/45%40git.example.com/a/b",
            "https://bob:12345/@git.example.com/a/b",
            "https://bob:123?45@git.example.com/a/b",
            "https://bob:123#45@git.example.com/a/b",
            "https://bob:123@45@git.example.com/a/b",
            "https://bob:12/3@45@git.example.com/a/b",
            "https://12345@git.example.com/a/b",
            "https://123/45@git.example.com/a/b",
            "https://bob%3A12345%40git.example.com/a/b",
            "ssh://bob:123/45@git.example.com/a/b",
        ];
        for text in urls {
            let name = name_of_url(text);
            assert!(name.as_deref().is_none_or(|name| name == "git.example.com/a/b"), "{text}: {name:?}");
            let open = RemotePolicy { allow_private_addresses: true, ..RemotePolicy::default() };
            let error = locate(text, &open).expect_err(text);
            let shown = format!("{error} {error:?}");
            assert!(!shown.contains("123") && !shown.contains("45"), "{text}: {shown}");
        }
    }
}
