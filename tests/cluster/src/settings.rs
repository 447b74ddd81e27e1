//! The settings file of a cluster on this machine.

use std::fs;
use std::iter;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, Result};
use cairn_servers::{Namespace, Vhost, given};
use toml::{Table, Value, toml};

/// The length of the random id of a folder.
const SPACE_BYTES: usize = 6;

/// Whether tests run in their long form: `CAIRN_FAULTS=all`.
pub fn is_long() -> bool {
    std::env::var("CAIRN_FAULTS").is_ok_and(|cases| cases == "all")
}

/// The addresses of the servers, with credentials.
#[derive(Clone, Debug)]
pub struct Servers {
    pub rabbitmq: String,
    /// The addresses of the other nodes, if the broker is a cluster of nodes.
    pub rabbitmq_peers: Vec<String>,
    pub management: String,
    pub s3: String,
    pub qdrant: String,
    pub neo4j: String,
}

impl Servers {
    /// The addresses without credentials, to show them to users.
    pub fn addresses(&self) -> Result<Vec<(&'static str, String)>> {
        let Self { rabbitmq, management, s3, qdrant, neo4j, .. } = self;
        let named =
            [("rabbitmq", rabbitmq), ("  management", management), ("s3", s3), ("qdrant", qdrant), ("neo4j", neo4j)];
        named.into_iter().map(|(name, url)| Ok((name, split(url)?.0))).collect()
    }

    /// The servers from the environment variables. None if the test must be skipped because a variable is
    /// missing.
    #[track_caller]
    pub fn given() -> Option<Self> {
        Some(Self {
            rabbitmq: given::rabbitmq_url()?,
            rabbitmq_peers: Vec::new(),
            management: given::rabbitmq_management_url()?,
            s3: given::s3_url()?,
            qdrant: given::qdrant_url()?,
            neo4j: given::neo4j_url()?,
        })
    }

    /// Reads the servers from lines of the form `export NAME='URL'`.
    pub fn read(lines: &str) -> Result<Self> {
        let url = |name: &str| {
            let assignment = format!("export {name}='");
            let value = lines.lines().find_map(|line| line.strip_prefix(&assignment)?.strip_suffix('\''));
            value
                .map(str::to_owned)
                .or_else(|| std::env::var(name).ok())
                .with_context(|| format!("the address {name} is missing"))
        };
        Ok(Self {
            rabbitmq: url(given::RABBITMQ_URL)?,
            rabbitmq_peers: Vec::new(),
            management: url(given::RABBITMQ_MANAGEMENT_URL)?,
            s3: url(given::S3_URL)?,
            qdrant: url(given::QDRANT_URL)?,
            neo4j: url(given::NEO4J_URL)?,
        })
    }
}

/// The names that separate the data of clusters that use the same servers.
#[derive(Clone, Debug)]
pub struct Space {
    /// The addresses of the broker nodes, including the vhost.
    pub rabbitmq: Vec<String>,
    pub bucket: String,
    pub namespace: String,
    /// Prevents other tests from using the namespace. None if the namespace belongs to a cluster whose data
    /// is in a folder of the user.
    _shared: Option<Arc<Namespace>>,
    pub collection_prefix: String,
    /// The cluster's own vhost on the broker. None if no other cluster uses the broker.
    pub vhost: Option<Vhost>,
}

impl Space {
    /// The space of the cluster whose data is in this folder. No other cluster uses the broker of this
    /// cluster. A cluster in a new folder counts generations from the start again, and must not find points
    /// or artifacts of an earlier cluster. So the names in all stores contain an id of the folder.
    pub fn of_folder(servers: &Servers, directory: &Path) -> Result<Self> {
        let name = format!("cairn-{}", kept_id(&directory.join("space"))?);
        Ok(Self {
            rabbitmq: [vec![servers.rabbitmq.clone()], servers.rabbitmq_peers.clone()].concat(),
            namespace: name.replace('-', "_"),
            _shared: None,
            collection_prefix: name.clone(),
            bucket: name,
            vhost: None,
        })
    }

    /// Creates a space that no other cluster uses.
    pub async fn create(servers: &Servers) -> Result<Self> {
        let vhost = Vhost::create(&servers.rabbitmq, &servers.management).await?;
        let name = vhost.name().to_owned();
        let namespace = Namespace::take(&servers.neo4j).await?;
        let peers = servers.rabbitmq_peers.iter().map(|peer| vhost.url_at(peer));
        Ok(Self {
            rabbitmq: iter::once(Ok(vhost.url().to_owned())).chain(peers).collect::<Result<_>>()?,
            namespace: namespace.name().to_owned(),
            _shared: Some(Arc::new(namespace)),
            collection_prefix: name.clone(),
            bucket: name,
            vhost: Some(vhost),
        })
    }
}

/// Reads the id from a file. If the file does not exist, creates the file with a random id.
fn kept_id(path: &Path) -> Result<String> {
    if path.exists() {
        return Ok(fs::read_to_string(path)?.trim().to_owned());
    }
    let id = random_digits(SPACE_BYTES)?;
    fs::write(path, &id).with_context(|| format!("cannot write {}", path.display()))?;
    Ok(id)
}

/// `num_bytes` random bytes as hexadecimal digits.
pub(crate) fn random_digits(num_bytes: usize) -> Result<String> {
    let mut bytes = vec![0_u8; num_bytes];
    let mut source = fs::File::open("/dev/urandom").context("/dev/urandom cannot be opened")?;
    std::io::Read::read_exact(&mut source, &mut bytes)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// The settings as TOML. The keys in the sections of `overrides` replace the default values.
pub(crate) fn text(servers: &Servers, space: &Space, directory: &Path, overrides: &Table) -> Result<String> {
    let operator = directory.join("operator.toml").display().to_string();
    let cursor_key = directory.join("cursor-key").display().to_string();
    let (neo4j, neo4j_user, neo4j_password) = split(&servers.neo4j)?;
    let (s3, s3_key, s3_secret) = split(&servers.s3)?;
    let mut settings = toml! {
        [s3.access_key_id]
        [s3.secret_access_key]
        [rabbitmq]
        heartbeat_seconds = 10
        [neo4j]
        [qdrant]
        exact = true
        [embedding]
        kind = "local"
        [pipeline]
        tick_ms = 100
        [query]
        // Tests ask questions directly after a publication, so the published state must not be cached.
        state_cache_ms = 0
        [query.gateway]
        allowed_hosts = ["127.0.0.1", "localhost"]
        // This limit is long, because several clusters of unoptimised programs may share two cores.
        request_timeout_ms = 30000
        [query.gateway.limits]
        requests_per_minute = 60000
        burst = 10000
    };
    let mut set = |path: &[&str], value: &str| put(&mut settings, path, Value::String(value.to_owned()));
    set(&["operator"], &operator);
    set(&["rabbitmq", "management_url"], &servers.management);
    set(&["s3", "endpoint"], &s3);
    set(&["s3", "bucket"], &space.bucket);
    set(&["s3", "access_key_id", "value"], &s3_key);
    set(&["s3", "secret_access_key", "value"], &s3_secret);
    set(&["qdrant", "url"], &servers.qdrant);
    set(&["qdrant", "collection_prefix"], &space.collection_prefix);
    set(&["neo4j", "url"], &neo4j);
    set(&["neo4j", "namespace"], &space.namespace);
    if !neo4j_user.is_empty() {
        set(&["neo4j", "user"], &neo4j_user);
        set(&["neo4j", "password"], &neo4j_password);
    }
    set(&["query", "cursor_key_file"], &cursor_key);
    put(&mut settings, &["rabbitmq", "urls"], Value::from(space.rabbitmq.clone()));
    replace(&mut settings, overrides);
    Ok(settings.to_string())
}

/// Replaces default values with the values in `overrides`, also in nested sections.
fn replace(table: &mut Table, overrides: &Table) {
    for (key, value) in overrides {
        match (table.get_mut(key), value) {
            (Some(Value::Table(inner)), Value::Table(overrides)) => replace(inner, overrides),
            _ => drop(table.insert(key.clone(), value.clone())),
        }
    }
}

fn put(table: &mut Table, path: &[&str], value: Value) {
    let Some((key, rest)) = path.split_first() else { return };
    if rest.is_empty() {
        table.insert((*key).to_owned(), value);
        return;
    }
    let inner = table.entry(*key).or_insert_with(|| Value::Table(Table::new()));
    if let Value::Table(inner) = inner {
        put(inner, rest, value);
    }
}

/// Splits `SCHEME://[USER:PASSWORD@]HOST` into the address without credentials, the user and the password.
fn split(url: &str) -> Result<(String, String, String)> {
    let (scheme, rest) = url.split_once("://").with_context(|| format!("the address {url} has no scheme"))?;
    let Some((credentials, host)) = rest.rsplit_once('@') else {
        return Ok((url.to_owned(), String::new(), String::new()));
    };
    let (user, password) = credentials.split_once(':').unwrap_or((credentials, ""));
    Ok((format!("{scheme}://{host}"), user.to_owned(), password.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_share_nothing_in_given_servers() -> Result<()> {
        let url = || "http://u:p@localhost:1".to_owned();
        let (rabbitmq, management, s3, qdrant, neo4j) = (url(), url(), url(), url(), url());
        let servers = Servers { rabbitmq, rabbitmq_peers: Vec::new(), management, s3, qdrant, neo4j };
        let (one, other) = (tempfile::tempdir()?, tempfile::tempdir()?);
        let names = |directory: &Path| {
            Space::of_folder(&servers, directory).map(|space| [space.bucket, space.namespace, space.collection_prefix])
        };
        let (first, second) = (names(one.path())?, names(other.path())?);
        assert!(first.iter().all(|name| !second.contains(name)), "{first:?} {second:?}");
        assert_eq!(names(one.path())?, first);
        Ok(())
    }
}
