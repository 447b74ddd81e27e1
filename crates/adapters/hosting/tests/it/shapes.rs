//! Tests replies in the form that the documentation of each service describes, with all fields.

use cairn_hosting::ServiceKind;
use cairn_ports::{HostedRepository, Hosting, Listing};

use crate::server::{Reply, TestServer};
use crate::support::service;

const GITHUB: &str = include_str!("../recorded/github.json");
const GITLAB: &str = include_str!("../recorded/gitlab.json");
const GITEA: &str = include_str!("../recorded/gitea.json");

async fn listed(kind: ServiceKind, recorded: &'static str, more: &str) -> Listing {
    let server = TestServer::start(move |_| Reply::json(recorded)).await;
    service(kind, &server, more).list().await.expect("a list")
}

/// Returns the name of each repository, followed by a letter for each flag: archived, fork, empty, disabled.
fn marks(listing: &Listing) -> Vec<String> {
    let mark = |found: &HostedRepository| {
        let marks = [(found.is_archived, 'a'), (found.is_fork, 'f'), (found.is_empty, 'e'), (found.is_disabled, 'd')];
        let marks: String = marks.iter().filter(|(is_so, _)| *is_so).map(|(_, mark)| *mark).collect();
        format!("{} {marks}", found.name).trim().to_owned()
    };
    listing.repositories.iter().map(mark).collect()
}

#[tokio::test]
async fn github_reply_is_parsed() {
    let listing = listed(ServiceKind::Github, GITHUB, "clone_host = 'github.com'").await;
    assert_eq!(marks(&listing), ["shop", "old-shop a", "router f", "nothing e", "blocked d"]);
    let shop = HostedRepository {
        id: "1296269".to_owned(),
        name: "shop".to_owned(),
        clone_url: "https://github.com/acme/shop.git".to_owned(),
        default_branch: Some("trunk".to_owned()),
        description: Some("Sells things.".to_owned()),
        topics: vec!["go".to_owned(), "web-shop".to_owned()],
        is_archived: false,
        is_fork: false,
        is_empty: false,
        is_disabled: false,
    };
    assert_eq!((&listing.repositories[0], listing.refused.len()), (&shop, 0));
}

#[tokio::test]
async fn gitlab_reply_is_parsed_with_subgroups() {
    let listing = listed(ServiceKind::Gitlab, GITLAB, "clone_host = 'gitlab.example.com'").await;
    let leaving = "leaving-deletion_scheduled-32 d";
    let expected = ["shop", "tools/ci/runner a", "tools/router f", "nothing e", "no-code d", leaving];
    assert_eq!(marks(&listing), expected);
    let shop = &listing.repositories[0];
    assert_eq!(shop.clone_url, "https://gitlab.example.com/acme/shop.git");
    assert_eq!((shop.description.as_deref(), shop.topics.len()), (Some("Sells things."), 2));
    assert_eq!(listing.repositories[1].description, None);
}

#[tokio::test]
async fn gitea_reply_is_parsed() {
    let listing = listed(ServiceKind::Gitea, GITEA, "clone_host = 'git.example.com'").await;
    assert_eq!(marks(&listing), ["shop", "old-shop a", "router f", "nothing e"]);
    assert_eq!(listing.repositories[0].default_branch.as_deref(), Some("trunk"));
    assert_eq!(listing.repositories[1].topics, Vec::<String>::new());
}

#[tokio::test]
async fn ssh_addresses_can_be_selected() {
    let more = "clone_host = 'github.com'\nclone_over = 'ssh'";
    let listing = listed(ServiceKind::Github, GITHUB, more).await;
    assert_eq!(listing.repositories[0].clone_url, "git@github.com:acme/shop.git");
}

#[tokio::test]
async fn each_service_gets_its_own_form_of_request() {
    let check = async |kind, more: &str, expect: &str, authorization: &str| {
        let server = TestServer::start(|_| Reply::json("[]")).await;
        service(kind, &server, more).list().await.expect("an empty list");
        let asked = server.asked();
        assert_eq!(asked.len(), 1);
        assert_eq!(asked[0].uri.to_string(), expect);
        let sent = asked[0].headers.get("authorization").and_then(|value| value.to_str().ok()).unwrap_or_default();
        assert_eq!(sent, authorization, "{expect}");
        assert!(asked[0].headers.contains_key("user-agent"));
    };
    let file = token("t0ken-of-test");
    let token = format!("token = {{ file = '{}' }}", file.path().display());
    let newest_last = "sort=created&direction=asc&per_page=100";
    let github = |path: &str, of: &str| format!("{path}?type={of}&{newest_last}");
    check(ServiceKind::Github, &token, &github("/orgs/acme/repos", "all"), "Bearer t0ken-of-test").await;
    check(ServiceKind::Github, "owner_is = 'user'", &github("/users/acme/repos", "owner"), "").await;
    let of_group = "include_subgroups=true&with_shared=false&order_by=id&sort=asc&per_page=100";
    let group = format!("/api/v4/groups/acme%2Ftools/projects?{of_group}");
    check(ServiceKind::Gitlab, &format!("owner = 'acme/tools'\n{token}"), &group, "Bearer t0ken-of-test").await;
    let user = "/api/v4/users/acme/projects?order_by=id&sort=asc&per_page=100";
    check(ServiceKind::Gitlab, "owner_is = 'user'", user, "").await;
    check(ServiceKind::Gitea, &token, "/api/v1/orgs/acme/repos?limit=50", "token t0ken-of-test").await;
    check(ServiceKind::Gitea, "owner_is = 'user'", "/api/v1/users/acme/repos?limit=50", "").await;
}

/// Creates a file with a token, for the setting `token = { file = … }`.
pub fn token(text: &str) -> tempfile::NamedTempFile {
    let file = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(file.path(), format!("{text}\n")).expect("written");
    file
}
