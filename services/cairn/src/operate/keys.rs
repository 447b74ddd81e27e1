//! `cairn keys`: API keys of the query service and their permissions.

use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::process::ExitCode;

use anyhow::Context;
use cairn_domain::Tenant;
use cairn_gateway::auth::{KeyRequest, hash_of, id_of, issue};
use cairn_gateway::time::rfc3339;
use cairn_neo4j::{Neo4jClock, Neo4jKeys};
use cairn_ports::{ApiKeyRecord, Clock, ErrorKind, KeyStore};
use cairn_search::{Allowed, QueryError, QueryErrorCode};
use serde::Serialize;
use serde_json::json;

use super::arguments::{KeysCommand, NewKeyArguments};
use super::installation::Installation;
use crate::exit::{CommandReply, wrong};
use crate::output::{self, FAINT, NAME, styled};

const DAY_MS: i64 = 86_400_000;
/// Part of the name of the unfinished file into which a key is written.
const KEY_FILE: &str = "cairn-key";

/// Executes a `cairn keys` command. If `names_tenant` is set, `list` shows only the keys of that tenant.
pub(super) async fn run(
    installation: &Installation,
    names_tenant: bool,
    command: KeysCommand,
    json: bool,
) -> CommandReply {
    let neo4j = installation.neo4j()?;
    let clock = Neo4jClock::start(neo4j.clone()).await.context("cannot query Neo4j, which stores the keys")?;
    let (keys, now_ms) = (Neo4jKeys::new(neo4j), clock.now_ms());
    match command {
        KeysCommand::Create(arguments) => create(&keys, installation, arguments, now_ms, json).await?,
        KeysCommand::List => {
            let tenant = names_tenant.then_some(&installation.tenant);
            list(&keys.list(tenant).await?, now_ms, json);
        }
        KeysCommand::Revoke { id } => revoke(&keys, &id, now_ms, json).await?,
    }
    Ok(ExitCode::SUCCESS)
}

async fn create(
    keys: &Neo4jKeys,
    installation: &Installation,
    arguments: NewKeyArguments,
    now_ms: i64,
    json: bool,
) -> anyhow::Result<()> {
    let faults = Allowed::Only(arguments.repositories.clone()).faults();
    anyhow::ensure!(faults.is_empty(), wrong(format!("`--repo`: {}", faults.join("; "))));
    if let Some(file) = &arguments.file
        && let Some((text, record)) = key_in(file, keys, &installation.tenant, now_ms).await?
    {
        show(&text, &record, now_ms, json);
        return Ok(());
    }
    let request = KeyRequest {
        tenant: installation.tenant.clone(),
        repositories: (!arguments.repositories.is_empty()).then_some(arguments.repositories),
        may_index: arguments.may_index,
        label: arguments.label,
        expires_at_ms: arguments.expires_in_days.map(|days| now_ms + i64::from(days) * DAY_MS),
    };
    let new = issue(request, now_ms);
    // The file is written first: a key that is in no file would be lost if the process ended here.
    if let Some(file) = &arguments.file {
        write_private(file, &new.text).with_context(|| format!("cannot write the key to {}", file.display()))?;
    }
    keys.create(new.record.clone()).await?;
    show(&new.text, &new.record, now_ms, json);
    if arguments.file.is_none() && !json {
        output::note("the key is not shown again");
    }
    Ok(())
}

fn show(key: &str, record: &ApiKeyRecord, now_ms: i64, json: bool) {
    if json {
        output::json(&KeyReport { key: Some(key), ..KeyReport::of(record, now_ms) });
    } else {
        output::line(key);
        output::note(&described(record, now_ms));
    }
}

/// The key in a file, if the key is valid and belongs to the tenant.
async fn key_in(
    file: &Path,
    keys: &Neo4jKeys,
    tenant: &Tenant,
    now_ms: i64,
) -> anyhow::Result<Option<(String, ApiKeyRecord)>> {
    let text = match fs::read_to_string(file) {
        Ok(text) => text.trim().to_owned(),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error).with_context(|| format!("cannot read the key in {}", file.display())),
    };
    let record = keys.find(&hash_of(&text)).await?;
    let is_usable = |record: &ApiKeyRecord| record.tenant == *tenant && record.is_valid(now_ms);
    Ok(record.filter(is_usable).map(|record| (text, record)))
}

/// Replaces the file. Only the owner of the file can read it.
fn write_private(file: &Path, text: &str) -> io::Result<()> {
    let directory = file.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let unfinished = directory.join(format!(".{}.{}", KEY_FILE, std::process::id()));
    let mut options = fs::OpenOptions::new();
    let written = options.write(true).create_new(true).mode(0o600).open(&unfinished).and_then(|mut new| {
        writeln!(new, "{text}")?;
        new.sync_all()
    });
    let renamed = written.and_then(|()| fs::rename(&unfinished, file));
    if renamed.is_err() {
        // The first error is returned, so an error of this call is not.
        let _ = fs::remove_file(&unfinished);
    }
    renamed
}

fn list(keys: &[ApiKeyRecord], now_ms: i64, json: bool) {
    if json {
        return output::json(&json!({ "keys": keys.iter().map(|key| KeyReport::of(key, now_ms)).collect::<Vec<_>>() }));
    }
    for key in keys {
        let id = styled(NAME, &key.id);
        output::line(&format!("{id} {}", described(key, now_ms)));
    }
    if keys.is_empty() {
        output::note("no keys exist: `cairn keys create` creates one");
    }
}

async fn revoke(keys: &Neo4jKeys, id: &str, now_ms: i64, json: bool) -> anyhow::Result<()> {
    // The argument may be a complete key, whose secret must not be sent or printed.
    let id = id_of(id);
    match keys.revoke(id, now_ms).await {
        // The error does not repeat an unknown id, because the id may contain a secret.
        Err(error) if error.kind == ErrorKind::NotFound => {
            let message = "no key has that id; `cairn keys list` shows all ids";
            anyhow::bail!(QueryError::new(QueryErrorCode::NotFound, message));
        }
        revoked => revoked?,
    }
    if json {
        output::json(&json!({ "revoked": id }));
    } else {
        output::line(&format!("{} is revoked; the revocation takes effect within seconds", styled(NAME, id)));
    }
    Ok(())
}

fn state(key: &ApiKeyRecord, now_ms: i64) -> &'static str {
    match key.is_valid(now_ms) {
        true => "valid",
        false if key.revoked_at_ms.is_some_and(|at_ms| at_ms <= now_ms) => "revoked",
        false => "expired",
    }
}

/// A key in the form that is printed, without the hash of its secret.
#[derive(Serialize)]
struct KeyReport<'a> {
    id: &'a str,
    tenant: &'a str,
    repositories: Option<&'a [String]>,
    may_index: bool,
    label: &'a str,
    state: &'static str,
    created_at: String,
    expires_at: Option<String>,
    revoked_at: Option<String>,
    last_used_at: Option<String>,
    /// The complete key. This field is set only in the output of `cairn keys create`.
    #[serde(skip_serializing_if = "Option::is_none")]
    key: Option<&'a str>,
}

impl<'a> KeyReport<'a> {
    fn of(key: &'a ApiKeyRecord, now_ms: i64) -> Self {
        Self {
            id: &key.id,
            tenant: key.tenant.as_str(),
            repositories: key.repositories.as_deref(),
            may_index: key.may_index,
            label: &key.label,
            state: state(key, now_ms),
            created_at: rfc3339(key.created_at_ms),
            expires_at: key.expires_at_ms.map(rfc3339),
            revoked_at: key.revoked_at_ms.map(rfc3339),
            last_used_at: key.last_used_at_ms.map(rfc3339),
            key: None,
        }
    }
}

fn described(key: &ApiKeyRecord, now_ms: i64) -> String {
    let seen = key.repositories.as_ref().map_or("all repositories".to_owned(), |names| names.join(", "));
    let index = if key.may_index { ", may index" } else { "" };
    let label = if key.label.is_empty() { String::new() } else { format!(" {:?}", key.label) };
    let used = key.last_used_at_ms.map_or("never used".to_owned(), |at_ms| format!("used {}", rfc3339(at_ms)));
    let until = key.expires_at_ms.map(|at_ms| format!(", until {}", rfc3339(at_ms))).unwrap_or_default();
    let times = styled(FAINT, format!("made {}{until}, {used}", rfc3339(key.created_at_ms)));
    format!("{} tenant {}: {seen}{index}{label} {times}", state(key, now_ms), key.tenant)
}
