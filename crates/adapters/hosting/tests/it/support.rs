//! Simulates the services on the test server, with an organisation whose repositories the test sets.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use cairn_config::Sources;
use cairn_hosting::{HostingConfig, HostingService, ServiceKind};
use cairn_ports::HostedRepository;
use serde_json::{Value, json};

use crate::server::{RecordedRequest, Reply, TestServer};

pub const KINDS: [ServiceKind; 3] = [ServiceKind::Github, ServiceKind::Gitlab, ServiceKind::Gitea];

/// Returns rules that allow requests to a server on this machine.
pub fn open() -> Sources {
    Sources { allow_http: true, allow_private_addresses: true, ..Sources::default() }
}

/// Returns settings for a server, with short waits.
pub fn config(kind: ServiceKind, url: &str, more: &str) -> HostingConfig {
    let kind = match kind {
        ServiceKind::Github => "github",
        ServiceKind::Gitlab => "gitlab",
        ServiceKind::Gitea => "gitea",
    };
    let owner = if more.contains("owner =") { "" } else { "owner = 'acme'" };
    let host = if more.contains("clone_host =") { "" } else { "clone_host = 'git.example'" };
    let text =
        format!("kind = '{kind}'\n{owner}\n{host}\nurl = '{url}'\nretry_pause_ms = 1\nmax_wait_seconds = 2\n{more}");
    toml::from_str(&text).expect("settings")
}

pub fn service(kind: ServiceKind, server: &TestServer, more: &str) -> HostingService {
    HostingService::new(config(kind, &server.url(), more), &open()).expect("a service")
}

/// The repositories of a simulated organisation, and the failures that the server simulates.
#[derive(Clone, Debug, Default)]
pub struct Held {
    pub repositories: Vec<HostedRepository>,
    /// Id and new owner of each transferred repository.
    pub transferred: Vec<(String, String)>,
    pub per_page: usize,
    pub broken_page: Option<usize>,
    pub is_broken: bool,
}

#[derive(Clone, Default)]
pub struct Shelf(Arc<Mutex<Held>>);

impl Shelf {
    pub fn held(&self) -> MutexGuard<'_, Held> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Starts a server that returns these repositories in the form of a service.
    pub async fn serve(&self, kind: ServiceKind) -> TestServer {
        let shelf = self.clone();
        TestServer::start(move |asked| shelf.held().reply(kind, asked)).await
    }
}

impl Held {
    pub fn reply(&self, kind: ServiceKind, asked: &RecordedRequest) -> Reply {
        if self.is_broken {
            return Reply::status(500);
        }
        match asked.uri.path().rsplit_once('/') {
            Some((_, "repos" | "projects")) => self.page(kind, asked),
            Some((_, id)) => self.one(kind, id),
            None => Reply::status(404),
        }
    }

    fn owner(&self, id: &str) -> &str {
        let found = self.transferred.iter().find(|(transferred, _)| transferred == id);
        found.map_or("acme", |(_, owner)| owner.as_str())
    }

    fn one(&self, kind: ServiceKind, id: &str) -> Reply {
        match self.repositories.iter().find(|held| held.id == id) {
            Some(held) => Reply::json(entry(kind, self.owner(id), held).to_string()),
            None => Reply::status(404),
        }
    }

    fn page(&self, kind: ServiceKind, asked: &RecordedRequest) -> Reply {
        let page = query(asked, "page").and_then(|page| page.parse::<usize>().ok()).unwrap_or(1) - 1;
        if self.broken_page == Some(page) {
            return Reply::status(502);
        }
        let listed: Vec<&HostedRepository> =
            self.repositories.iter().filter(|held| self.owner(&held.id) == "acme").collect();
        let entries = listed.iter().skip(page * self.per_page).take(self.per_page);
        let body: Vec<Value> = entries.map(|held| entry(kind, "acme", held)).collect();
        let reply = Reply::json(Value::from(body).to_string());
        if (page + 1) * self.per_page >= listed.len() {
            return reply;
        }
        // GitLab sends both headers. The other services send only the link.
        let reply =
            if kind == ServiceKind::Gitlab { reply.header("x-next-page", (page + 2).to_string()) } else { reply };
        reply.header(
            "link",
            format!("<https://elsewhere.example/x?page={}>; rel=\"next\", <https://x/?page=9>; rel=\"last\"", page + 2),
        )
    }
}

pub fn query(asked: &RecordedRequest, name: &str) -> Option<String> {
    let pairs = asked.uri.query().unwrap_or_default().split('&').filter_map(|pair| pair.split_once('='));
    pairs.filter(|(known, _)| *known == name).map(|(_, value)| value.to_owned()).next()
}

/// Returns a repository in the form of the service, with the fields that the adapter reads and a few others.
pub fn entry(kind: ServiceKind, owner: &str, held: &HostedRepository) -> Value {
    let id: u64 = held.id.parse().expect("a number");
    let path = format!("{owner}/{}", held.name);
    let ssh_url = format!("git@git.example:{path}.git");
    match kind {
        ServiceKind::Github => json!({
            "id": id, "node_id": "R_x", "name": held.name, "full_name": path, "private": false,
            "clone_url": held.clone_url, "ssh_url": ssh_url, "default_branch": held.default_branch,
            "description": held.description, "topics": held.topics, "archived": held.is_archived,
            "disabled": held.is_disabled, "fork": held.is_fork, "size": 108, "pushed_at": "2011-01-26T19:06:43Z",
        }),
        ServiceKind::Gitlab => {
            let mut project = json!({
                "id": id, "path_with_namespace": path, "http_url_to_repo": held.clone_url, "ssh_url_to_repo": ssh_url,
                "default_branch": held.default_branch, "description": held.description, "topics": held.topics,
                "archived": held.is_archived, "empty_repo": held.is_empty, "repository_access_level": "enabled",
            });
            if held.is_fork {
                project["forked_from_project"] = json!({ "id": 13083, "name": "upstream" });
            }
            project
        }
        ServiceKind::Gitea => json!({
            "id": id, "owner": { "login": owner }, "name": held.name, "full_name": path, "clone_url": held.clone_url,
            "ssh_url": ssh_url, "default_branch": held.default_branch.clone().unwrap_or_default(),
            "description": held.description.clone().unwrap_or_default(), "topics": held.topics,
            "archived": held.is_archived, "empty": held.is_empty, "fork": held.is_fork,
        }),
    }
}

pub fn repository(id: u64) -> HostedRepository {
    HostedRepository {
        id: id.to_string(),
        name: format!("name-{id}"),
        clone_url: format!("https://git.example/acme/name-{id}.git"),
        default_branch: Some("main".to_owned()),
        description: None,
        topics: Vec::new(),
        is_archived: false,
        is_fork: false,
        is_empty: false,
        is_disabled: false,
    }
}
