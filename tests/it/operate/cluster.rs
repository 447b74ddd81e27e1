//! A cluster without services. Each test has its own vhost, bucket, namespace and collections on the given
//! servers, and a file with the settings.

use std::fs;
use std::process::{Command, Output};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use cairn_domain::{ArtifactRef, Lane, PartId, RepositoryId, RunId, StageName};
use cairn_metastore::Metastore;
use cairn_neo4j::{Neo4j, Neo4jRuns};
use cairn_ports::{Lease, Ledger, NewRun, Requests};
use cairn_rabbitmq::RabbitMqBroker;
use cairn_servers::{Collections, Namespace, Vhost, given};
use cairn_wire::RunResult;
use cairn_wiring::ClusterConfig;
use neo4rs::{ConfigBuilder, Graph, Query};
use serde_json::Value;
use tempfile::TempDir;
use tokio::runtime::Runtime;

use crate::harness::CAIRN;

pub(super) struct Cluster {
    pub runtime: Runtime,
    pub vhost: Vhost,
    pub config: ClusterConfig,
    directory: TempDir,
    namespace: String,
    /// The namespace, if it comes from the pool of prepared namespaces. `None` if it was created for this
    /// cluster.
    shared: Option<Namespace>,
    _collections: Collections,
}

impl Cluster {
    /// A cluster whose servers are empty. `None` if no servers are available. Then the test is skipped.
    pub fn empty() -> Option<Self> {
        Self::with(None)
    }

    fn with(shared: Option<Namespace>) -> Option<Self> {
        let (rabbitmq, management) = (given::rabbitmq_url()?, given::rabbitmq_management_url()?);
        let (s3, neo4j, qdrant) = (given::s3_url()?, given::neo4j_url()?, given::qdrant_url()?);
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
        let vhost = runtime.block_on(Vhost::create(&rabbitmq, &management)).expect("a vhost");
        let name = unique_name();
        let namespace = shared.as_ref().map_or_else(|| name.replace('-', "_"), |shared| shared.name().to_owned());
        let (s3, s3_key, s3_secret) = without_credentials(&s3);
        let (neo4j, user, password) = without_credentials(&neo4j);
        let user = if user.is_empty() { "neo4j".to_owned() } else { user };
        let settings = format!(
            r#"
operator = "{operator}"
[rabbitmq]
urls = ["{amqp}"]
management_url = "{management}"
[s3]
endpoint = "{s3}"
bucket = "{name}"
access_key_id = {{ value = "{s3_key}" }}
secret_access_key = {{ value = "{s3_secret}" }}
[neo4j]
url = "{neo4j}"
user = "{user}"
password = "{password}"
namespace = "{namespace}"
[qdrant]
url = "{qdrant}"
collection_prefix = "{name}"
timeout_ms = 90000
"#,
            amqp = vhost.url(),
            operator = "OPERATOR",
        );
        let directory = tempfile::tempdir().expect("a temporary directory");
        let operator = directory.path().join("operator.toml");
        fs::write(&operator, "").expect("a file");
        let settings = settings.replace("OPERATOR", &operator.to_string_lossy());
        let file = directory.path().join("cluster.toml");
        fs::write(&file, settings).expect("a file");
        let config = ClusterConfig::load(Some(&file)).expect("settings");
        config.validate().expect("valid settings");
        let collections = Collections::under(&qdrant, &format!("{name}-"));
        Some(Self { runtime, vhost, config, directory, namespace, shared, _collections: collections })
    }

    /// A cluster that is prepared with `topology apply`, so that services could start.
    pub fn prepared() -> Option<Self> {
        let neo4j = given::neo4j_url()?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let shared = runtime.block_on(Namespace::take(&neo4j)).expect("a namespace");
        let cluster = Self::with(Some(shared))?;
        cluster.ok(&["topology", "apply"]);
        Some(cluster)
    }

    /// Writes the operator's rules for sources.
    pub fn allow(&self, rules: &str) {
        fs::write(self.directory.path().join("operator.toml"), rules).expect("a file");
    }

    /// Writes a file into the folder of the settings and returns its path.
    pub fn file(&self, name: &str, text: &str) -> String {
        let path = self.directory.path().join(name);
        fs::write(&path, text).expect("a file");
        path.to_string_lossy().into_owned()
    }

    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(CAIRN);
        command.args(arguments).env("CAIRN_CLUSTER_CONFIG", self.directory.path().join("cluster.toml"));
        command.env_remove("CAIRN_CONFIG").current_dir(self.directory.path());
        command
    }

    /// Runs a command, and returns its exit code and its whole output, which must not contain secrets.
    pub fn output(&self, arguments: &[&str]) -> (i32, String) {
        self.checked(&self.command(arguments).output().expect("the program starts"))
    }

    pub fn checked(&self, output: &Output) -> (i32, String) {
        let reported = [String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr)].concat();
        let secret = without_credentials(&given::s3_url().unwrap_or_default()).2;
        assert!(
            !reported.contains(&secret) && !reported.contains("guest:"),
            "the output contains a secret: {reported}"
        );
        (output.status.code().expect("an exit code"), reported)
    }

    /// Runs a command that must succeed, and returns its standard output.
    pub fn ok(&self, arguments: &[&str]) -> String {
        let output = self.command(arguments).output().expect("the program starts");
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let (code, reported) = self.checked(&output);
        assert_eq!(code, 0, "cairn {arguments:?} failed: {reported}");
        text
    }

    pub fn json(&self, arguments: &[&str]) -> Value {
        let text = self.ok(&[arguments, &["--json"]].concat());
        serde_json::from_str(text.lines().last().unwrap_or_default()).expect("JSON")
    }

    pub fn neo4j(&self) -> Neo4j {
        let _inside = self.runtime.enter();
        Neo4j::new(self.config.neo4j.as_ref().expect("settings")).expect("a client")
    }

    pub fn runs(&self) -> Metastore {
        Metastore::new(Arc::new(Neo4jRuns::new(self.neo4j())))
    }

    /// A broker with the settings that services use.
    pub fn broker(&self) -> RabbitMqBroker {
        let _inside = self.runtime.enter();
        let broker = RabbitMqBroker::new(self.config.rabbitmq.clone().expect("settings")).expect("a broker");
        let deadline = Instant::now() + Duration::from_secs(90);
        self.runtime.block_on(async {
            while broker.health().connected_since.is_none() {
                assert!(Instant::now() < deadline, "no connection: {:?}", broker.health().faults);
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        });
        broker
    }

    /// Dispatches the pending requests as a coordinator does.
    pub fn dispatched(&self) -> Vec<RepositoryId> {
        let runs = self.runs();
        let requests = self.runtime.block_on(runs.dispatch(usize::MAX, 100_000, i64::MAX)).expect("the ledger");
        requests.into_iter().map(|request| request.job.repository).collect()
    }

    /// Whether the pending request of the repository contains `rebuild`.
    pub fn is_rebuild_requested(&self, repository: RepositoryId) -> bool {
        let runs = self.runs();
        let asked = self.runtime.block_on(runs.asked(repository, 0)).expect("the ledger");
        asked.expect("a request").rebuild
    }

    /// Takes the lease of a repository, as a cloner does.
    pub fn lease(&self, repository: RepositoryId) -> Lease {
        let runs = self.runs();
        self.runtime.block_on(runs.lease(repository, 3_000, i64::MAX / 2)).expect("a lease")
    }

    /// Whether the holder of the lease can begin a run.
    pub fn may_begin(&self, lease: Lease) -> bool {
        let runs = self.runs();
        self.runtime.block_on(runs.begin(lease, new_run(lease.repository))).is_ok()
    }

    /// Begins a run of an enqueued repository. The run has a single part, which is a parse part.
    pub fn begin(&self, repository: RepositoryId) -> RunId {
        let runs = self.runs();
        self.runtime.block_on(async {
            let lease = runs.lease(repository, 1_000, 60_000).await.expect("a lease");
            runs.begin(lease, new_run(repository)).await.expect("begun")
        })
    }

    /// Removes the data of the test. The collections are removed when the cluster value is dropped, even if
    /// the test fails. The empty bucket is not removed, because no adapter can remove a bucket.
    pub fn close(self) {
        let Self { runtime, vhost, config, namespace, shared, .. } = self;
        runtime.block_on(async {
            vhost.delete().await.expect("the vhost is removed");
            let neo4j = config.neo4j.as_ref().expect("settings");
            if shared.is_none() {
                forget_namespace(&neo4j.url, &namespace).await.expect("the namespace is removed");
            }
        });
    }
}

async fn forget_namespace(url: &str, namespace: &str) -> neo4rs::Result<()> {
    let (_, user, password) = without_credentials(&given::neo4j_url().unwrap_or_default());
    let graph = Graph::connect(ConfigBuilder::default().uri(url).user(user).password(password).build()?)?;
    let run = async |statement: String| {
        let mut txn = graph.start_txn().await?;
        let mut stream = txn.execute(Query::new(statement)).await?;
        let mut names = Vec::new();
        while let Some(row) = stream.next(txn.handle()).await? {
            names.extend(row.get::<String>("name"));
        }
        txn.commit().await?;
        Ok::<_, neo4rs::Error>(names)
    };
    run(format!("MATCH (n) WHERE any(label IN labels(n) WHERE label ENDS WITH '_{namespace}') DETACH DELETE n"))
        .await?;
    for (kind, show) in [("CONSTRAINT", "CONSTRAINTS YIELD name"), ("INDEX", "INDEXES YIELD name")] {
        for name in run(format!("SHOW {show} WHERE name ENDS WITH '_{namespace}' RETURN name")).await? {
            run(format!("DROP {kind} {name}")).await?;
        }
    }
    Ok(())
}

/// Splits `SCHEME://USER:PASSWORD@REST` into address, user and password.
fn without_credentials(url: &str) -> (String, String, String) {
    let Some((scheme, rest)) = url.split_once("://") else { return (url.to_owned(), String::new(), String::new()) };
    let Some((login, host)) = rest.split_once('@') else { return (url.to_owned(), String::new(), String::new()) };
    let (user, password) = login.split_once(':').unwrap_or((login, ""));
    (format!("{scheme}://{host}"), user.to_owned(), password.to_owned())
}

/// A name that is unique among all processes that test the same server.
fn unique_name() -> String {
    static COUNTER: AtomicU64 = AtomicU64::new(0);
    let number = COUNTER.fetch_add(1, Ordering::Relaxed);
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
    format!("op-{seconds:x}-{}-{number}", std::process::id())
}

/// A new run with minimal content.
fn new_run(repository: RepositoryId) -> NewRun {
    let artifact = ArtifactRef { key: "x".to_owned(), size_bytes: 1, hash: [0; 32] };
    NewRun {
        repository,
        previous: None,
        manifest: artifact.clone(),
        plan: artifact,
        parts: vec![PartId { stage: StageName::Parse, number: 0 }],
        lane: Lane::Bulk,
        window: 9,
        revision: "c0ffee".to_owned(),
        branch: None,
        result: RunResult::default(),
        started_at_ms: 1_000,
    }
}
