//! Converts the entries of each service to the entries of the port. Unknown fields are ignored. Fields that
//! are used must have the type that the API defines.

use cairn_ports::{HostedRepository, RefusedEntry};
use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::config::{CloneOver, ServiceKind};
use crate::foreign::ForeignText;
use crate::http_reply::MAX_JSON_BYTES;
use url::Url;

const MAX_NAME_BYTES: usize = 500;
const MAX_TOPICS: usize = 50;
const MAX_TOPIC_CHARACTERS: usize = 100;
const MAX_REFERENCE_CHARACTERS: usize = 250;

/// The settings that determine how an entry is converted.
#[derive(Clone, Debug)]
pub(crate) struct Reading {
    pub kind: ServiceKind,
    /// The owner of the listed repositories.
    pub owner: String,
    pub clone_over: CloneOver,
    /// The only host that clone addresses may have.
    pub clone_host: String,
}

/// An entry that is not checked yet.
struct Entry {
    id: u64,
    path: String,
    https_url: String,
    ssh_url: String,
    default_branch: Option<String>,
    description: Option<String>,
    topics: Vec<String>,
    is_archived: bool,
    is_fork: bool,
    is_empty: bool,
    is_disabled: bool,
}

#[derive(Deserialize)]
struct GithubRepository {
    id: u64,
    full_name: String,
    clone_url: String,
    ssh_url: String,
    default_branch: Option<String>,
    description: Option<String>,
    topics: Option<Vec<String>>,
    #[serde(default)]
    archived: bool,
    #[serde(default)]
    disabled: bool,
    fork: bool,
    /// Size in kilobytes, rounded down. A repository with size 0 may therefore contain commits.
    size: Option<u64>,
    pushed_at: Option<String>,
}

#[derive(Deserialize)]
struct GitlabProject {
    id: u64,
    path_with_namespace: String,
    http_url_to_repo: String,
    ssh_url_to_repo: String,
    default_branch: Option<String>,
    description: Option<String>,
    topics: Option<Vec<String>>,
    /// The field that contained `topics` before GitLab 14.0.
    tag_list: Option<Vec<String>>,
    #[serde(default)]
    archived: bool,
    #[serde(default)]
    empty_repo: bool,
    forked_from_project: Option<IgnoredAny>,
    repository_access_level: Option<String>,
    /// The day on which the project will be deleted.
    marked_for_deletion_on: Option<String>,
}

#[derive(Deserialize)]
struct GiteaRepository {
    id: u64,
    full_name: String,
    clone_url: String,
    ssh_url: String,
    default_branch: Option<String>,
    description: Option<String>,
    topics: Option<Vec<String>>,
    #[serde(default)]
    archived: bool,
    #[serde(default)]
    empty: bool,
    fork: bool,
}

impl Reading {
    /// Reads and checks one entry of the list. The outer error means that the JSON is malformed.
    pub(crate) fn read(
        &self,
        entry: &RawValue,
        foreign: &ForeignText,
    ) -> Result<Result<HostedRepository, RefusedEntry>, serde_json::Error> {
        if entry.get().len() > MAX_JSON_BYTES {
            let reason = format!("an entry is longer than {MAX_JSON_BYTES} bytes");
            return Ok(Err(RefusedEntry { id: None, reason }));
        }
        serde_json::from_str(entry.get()).map(|value| self.checked(value, foreign))
    }

    fn checked(&self, value: Value, foreign: &ForeignText) -> Result<HostedRepository, RefusedEntry> {
        let id = id_of(&value);
        let refused = |reason: String| RefusedEntry { id: id.clone(), reason };
        let entry = self.entry(value).map_err(|error| {
            refused(format!(
                "an entry does not have the form that the API defines: {}",
                foreign.quoted(&error.to_string())
            ))
        })?;
        let name = name_within(&self.owner, &entry.path)
            .map_err(|fault| refused(format!("{} {fault}", foreign.quoted(&entry.path))))?;
        let clone_url = match self.clone_over {
            CloneOver::Https => entry.https_url,
            CloneOver::Ssh => entry.ssh_url,
        };
        if !names_host(&clone_url, &self.clone_host) {
            let path = foreign.quoted(&entry.path);
            let host = &self.clone_host;
            return Err(refused(format!("{path} would be cloned from a host other than `{host}`; check `clone_host`")));
        }
        let topic = |topic: &String| Some(foreign.value(topic)?.chars().take(MAX_TOPIC_CHARACTERS).collect());
        Ok(HostedRepository {
            id: entry.id.to_string(),
            name,
            clone_url,
            default_branch: entry.default_branch.map(|branch| one_line(&branch)).filter(|branch| !branch.is_empty()),
            description: entry.description.and_then(|description| foreign.value(&description)),
            topics: entry.topics.iter().take(MAX_TOPICS).filter_map(topic).collect(),
            is_archived: entry.is_archived,
            is_fork: entry.is_fork,
            is_empty: entry.is_empty,
            is_disabled: entry.is_disabled,
        })
    }

    /// Returns the current full name of a repository.
    pub(crate) fn read_path(&self, value: Value) -> Result<String, String> {
        self.entry(value).map(|entry| one_line(&entry.path)).map_err(|error| error.to_string())
    }

    fn entry(&self, value: Value) -> Result<Entry, serde_json::Error> {
        match self.kind {
            ServiceKind::Github => GithubRepository::deserialize(value).map(Entry::from),
            ServiceKind::Gitlab => GitlabProject::deserialize(value).map(Entry::from),
            ServiceKind::Gitea => GiteaRepository::deserialize(value).map(Entry::from),
        }
    }
}

impl From<GithubRepository> for Entry {
    fn from(repository: GithubRepository) -> Self {
        Self {
            id: repository.id,
            path: repository.full_name,
            https_url: repository.clone_url,
            ssh_url: repository.ssh_url,
            default_branch: repository.default_branch,
            description: repository.description,
            topics: repository.topics.unwrap_or_default(),
            is_archived: repository.archived,
            is_fork: repository.fork,
            is_empty: repository.size == Some(0) && repository.pushed_at.is_none(),
            is_disabled: repository.disabled,
        }
    }
}

impl From<GitlabProject> for Entry {
    fn from(project: GitlabProject) -> Self {
        let is_off = project.repository_access_level.as_deref() == Some("disabled");
        Self {
            id: project.id,
            path: project.path_with_namespace,
            https_url: project.http_url_to_repo,
            ssh_url: project.ssh_url_to_repo,
            default_branch: project.default_branch,
            description: project.description,
            topics: project.topics.or(project.tag_list).unwrap_or_default(),
            is_archived: project.archived,
            is_fork: project.forked_from_project.is_some(),
            is_empty: project.empty_repo,
            is_disabled: is_off || project.marked_for_deletion_on.is_some(),
        }
    }
}

impl From<GiteaRepository> for Entry {
    fn from(repository: GiteaRepository) -> Self {
        Self {
            id: repository.id,
            path: repository.full_name,
            https_url: repository.clone_url,
            ssh_url: repository.ssh_url,
            default_branch: repository.default_branch,
            description: repository.description,
            topics: repository.topics.unwrap_or_default(),
            is_archived: repository.archived,
            is_fork: repository.fork,
            is_empty: repository.empty,
            is_disabled: false,
        }
    }
}

fn id_of(value: &Value) -> Option<String> {
    value.get("id").and_then(Value::as_u64).map(|id| id.to_string())
}

/// Returns a name on one line and limited in length. The name is used to look up an object, so all characters
/// except control characters stay unchanged.
fn one_line(text: &str) -> String {
    let shown = text.chars().map(|character| if character.is_control() { ' ' } else { character });
    shown.take(MAX_REFERENCE_CHARACTERS).collect::<String>().trim().to_owned()
}

/// Returns the name relative to the owner: `tools/ci` for the path `acme/tools/ci` and the owner `acme`. The
/// name of the owner may differ in upper and lower case between `owner` and `path`. The error completes a
/// sentence that begins with the path.
fn name_within(owner: &str, path: &str) -> Result<String, String> {
    if path.len() > MAX_NAME_BYTES {
        return Err(format!("is longer than {MAX_NAME_BYTES} bytes"));
    }
    let is_owner =
        path.is_char_boundary(owner.len()) && path[..owner.len().min(path.len())].eq_ignore_ascii_case(owner);
    let name = path.get(owner.len()..).filter(|_| is_owner).and_then(|rest| rest.strip_prefix('/'));
    let name = name.ok_or_else(|| format!("is not a repository of `{owner}`"))?;
    let is_sound = |part: &str| {
        !matches!(part, "" | "." | "..")
            && !part.chars().any(|character| character.is_control() || character.is_whitespace() || character == '\\')
    };
    if name.split('/').all(is_sound) { Ok(name.to_owned()) } else { Err("is not a valid name".to_owned()) }
}

/// Returns whether an address has this host. Addresses of the form `user@host:path` are supported too.
fn names_host(address: &str, host: &str) -> bool {
    let found = match Url::parse(address) {
        Ok(url) if url.has_host() => url.host_str().map(str::to_ascii_lowercase),
        _ => scp_host(address).map(str::to_ascii_lowercase),
    };
    found.as_deref() == Some(host)
}

fn scp_host(address: &str) -> Option<&str> {
    let (login, _) = address.split_once(':')?;
    let (_, host) = login.rsplit_once('@')?;
    (!login.contains('/')).then_some(host)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_relative_to_the_owner() {
        let check = |owner: &str, path: &str, expect: Option<&str>| {
            assert_eq!(name_within(owner, path).ok().as_deref(), expect, "{owner} {path}");
        };
        check("acme", "acme/shop", Some("shop"));
        check("acme", "ACME/shop", Some("shop"));
        check("acme", "acme/tools/ci", Some("tools/ci"));
        check("acme/tools", "acme/tools/ci", Some("ci"));
        check("acme", "acme2/shop", None);
        check("acme", "other/shop", None);
        check("acme", "acme", None);
        check("acme", "acme/", None);
        check("acme", "acme/..", None);
        check("acme", "acme/a//b", None);
        check("acme", "acme/a b", None);
        check("acme", "acme/a\n\u{1b}b", None);
        check("acme", "äöüß", None);
        check("acme", &format!("acme/{}", "x".repeat(600)), None);
    }

    #[test]
    fn addresses_must_have_the_clone_host() {
        let check = |address: &str, expect: bool| assert_eq!(names_host(address, "git.example"), expect, "{address}");
        for right in [
            "https://git.example/a/b.git",
            "https://GIT.example:8443/a/b",
            "ssh://git@git.example:2222/a/b",
            "git@git.example:a/b.git",
        ] {
            check(right, true);
        }
        for wrong in [
            "https://evil.example/a/b",
            "https://git.example@evil.example/a",
            "https://git.example.evil.example/a",
            "git@evil.example:git.example/a",
            "file:///etc/passwd",
            "/etc",
            "ext::sh -c x",
            "",
        ] {
            check(wrong, false);
        }
    }
}
