//! What is there, on the terminal.

use cairn_domain::SyncProgress;
use cairn_gateway::sync_news;
use serde_json::Value;

use super::field::{counts, list, number, text};
use crate::output::{self, FAINT, NAME, PATH, styled};

pub(super) fn repositories(answer: &Value) {
    let repositories = list(answer, "repositories");
    for repository in repositories {
        let published = &repository["published"];
        let news = news(repository);
        let state = if published.is_null() {
            news.map_or("not indexed yet".to_owned(), |news| format!("not indexed yet: {news}"))
        } else {
            let files = number(&published["result"], "files_indexed");
            format!("{} {files} files, indexed {}", text(published, "commit"), text(published, "indexed_at"))
        };
        let (name, source) = (text(repository, "name"), text(repository, "source"));
        output::line(&format!("{} {} {}", styled(NAME, name), styled(PATH, source), styled(FAINT, state)));
        let topics: Vec<&str> = list(repository, "topics").iter().filter_map(Value::as_str).collect();
        let topics = if topics.is_empty() { String::new() } else { format!(" [{}]", topics.join(", ")) };
        let about = format!("{}{topics}", text(repository, "description"));
        if !about.is_empty() {
            output::line(&styled(FAINT, format!("  {}", about.trim_start())));
        }
    }
    if repositories.is_empty() {
        output::note(&format!("nothing is indexed yet: {}", text(answer, "next_action_hint")));
    }
}

/// Of the sync of a repository.
fn news(repository: &Value) -> Option<String> {
    let count = |progress: &Value, name: &str| progress[name].as_u64().unwrap_or_default();
    let pending = Some(&repository["pending_sync"]).filter(|progress| !progress.is_null()).map(|progress| {
        let (fetched_bytes, num_files_read) = (count(progress, "fetched_bytes"), count(progress, "num_files_read"));
        SyncProgress { fetched_bytes, num_files_read }
    });
    sync_news(repository["last_sync"]["failure"].as_str(), pending)
}

pub(super) fn status(answer: &Value) {
    if let Some(home) = answer["home"].as_str() {
        output::line(&format!("index   {home}"));
    }
    output::line(&format!("model   {}", text(answer, "model")));
    let (num_repositories, num_files) = (number(answer, "num_repositories"), number(answer, "num_files"));
    output::line(&format!("holds   {num_repositories} repositories, {num_files} files"));
    for run in list(answer, "runs_in_progress") {
        let progress = format!("{} of {} parts", number(run, "num_ended"), number(run, "num_parts"));
        let name = styled(NAME, text(run, "repository"));
        output::line(&format!("running {name} run {}: {progress}", text(run, "run_id")));
    }
    for repository in list(answer, "repositories") {
        let news = news(repository);
        let state = match (repository["published"]["state"].as_str(), news) {
            (_, Some(news)) => news,
            (None, None) => "not indexed yet".to_owned(),
            (Some("partial"), None) => "partial: some files could not be parsed".to_owned(),
            (Some(_), None) => continue,
        };
        output::line(&format!("{} {state}", styled(NAME, text(repository, "name"))));
    }
}

pub(super) fn stats(answer: &Value) {
    for (label, name) in [
        ("repositories", "repositories"),
        ("files", "files"),
        ("symbols", "symbols"),
        ("chunks", "chunks"),
        ("edges", "edges"),
        ("patterns", "patterns"),
        ("secrets redacted", "secrets_redacted"),
        ("bytes on disk", "size_bytes"),
    ] {
        // What a server takes on its disks is not told.
        if let Some(count) = answer[name].as_u64() {
            output::line(&format!("{label:<18} {count:>12}"));
        }
    }
    for (class, count) in counts(answer, "edges_by_resolution") {
        output::line(&format!("edges {class:<12} {count:>12}"));
    }
    for (reason, count) in counts(answer, "unresolved_references") {
        output::line(&format!("unresolved {reason} {count}"));
    }
}

pub(super) fn runs(answer: &Value) {
    let runs = list(answer, "runs");
    runs.iter().for_each(run);
    if runs.is_empty() {
        output::note("there are no runs");
    }
    for sync in list(answer, "syncs") {
        let news = news(sync).unwrap_or_default();
        output::note(&format!("{} {news}", styled(NAME, text(sync, "repository"))));
    }
}

fn run(run: &Value) {
    let parts = format!("{}/{} parts", number(run, "num_ended"), number(run, "num_parts"));
    let (id, state, message) = (text(run, "run_id"), text(run, "state"), text(run, "message"));
    let name = styled(NAME, text(run, "repository"));
    let when = styled(FAINT, format!("{} {parts}", text(run, "started_at")));
    output::line(&format!("{id} {name} {state} {when} {message}"));
}

/// One run, with what came of it and what went wrong.
pub(super) fn run_with_result(answer: &Value) {
    run(answer);
    let result = &answer["result"];
    for (label, name) in [
        ("files", "files_indexed"),
        ("symbols", "symbols"),
        ("chunks", "chunks"),
        ("edges", "edges"),
        ("patterns", "patterns"),
        ("secrets redacted", "secrets"),
        ("parts failed", "num_failed"),
        ("errors", "num_errors"),
    ] {
        let holder = if name == "num_failed" { answer } else { result };
        output::line(&format!("{label:<18} {:>12}", number(holder, name)));
    }
    let errors = list(result, "errors");
    for error in errors {
        output::line(&format!("{} {}", styled(PATH, text(error, "file")), text(error, "message")));
    }
    let num_more = number(result, "num_errors").saturating_sub(errors.len() as u64);
    if num_more > 0 {
        output::note(&format!(
            "{num_more} more errors; `cairn coverage {}` lists every path",
            text(answer, "repository")
        ));
    }
}

pub(super) fn why(answer: &Value) {
    let path = styled(PATH, text(answer, "path"));
    output::line(&format!("{path} {}: {}", text(answer, "outcome"), text(answer, "explanation")));
    if let Some(changed_at) = answer["changed_at"].as_str() {
        output::line(&styled(FAINT, format!("last changed {changed_at}")));
    }
}

pub(super) fn coverage(answer: &Value, summary: bool) {
    for entry in list(answer, "entries") {
        output::line(&format!("{}\t{}", text(entry, "outcome"), text(entry, "path")));
    }
    let say = if summary { output::line } else { output::note };
    for (outcome, count) in counts(answer, "counts") {
        say(&format!("{count:>8} {outcome}"));
    }
}

pub(super) fn secrets(answer: &Value) {
    let findings = list(answer, "findings");
    for finding in findings {
        let place = format!("{}:{}", text(finding, "path"), number(finding, "line"));
        output::line(&format!("{} {}", styled(PATH, place), text(finding, "rule")));
    }
    output::note(&styled(FAINT, format!("{} secrets were redacted", findings.len())));
}

pub(super) fn fingerprint(fingerprint: &Value) {
    /// In the order in which they are made.
    const KINDS: [&str; 7] = ["files", "chunks", "vectors", "nodes", "edges", "patterns", "names"];
    output::line(&format!("{} {}", styled(NAME, text(fingerprint, "repository")), text(fingerprint, "digest")));
    for kind in KINDS {
        let of_kind = &fingerprint["kinds"][kind];
        output::line(&format!("  {kind:<9} {:>9} {}", number(of_kind, "count"), text(of_kind, "digest")));
    }
}

/// What a server says to a request to index.
pub(crate) fn asked(answer: &Value) {
    let name = styled(NAME, text(answer, "repository"));
    let state = text(answer, "state");
    output::line(&format!("{name}: {state}; `cairn runs --repo {}` follows it", text(answer, "repository")));
}
