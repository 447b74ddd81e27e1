//! Checks that `cairn --server` prints the same output as `cairn`. The same commands run on one index,
//! locally and through the query service.

use std::fs;
use std::path::Path;
use std::process::Output;
use std::sync::Arc;

use async_trait::async_trait;
use cairn_domain::{RepositoryId, RunId, Tenant};
use cairn_gateway::auth::{KeyRequest, LimitsConfig, issue};
use cairn_gateway::http::{GatewayConfig, GatewayState, router};
use cairn_gateway::{IndexCall, IndexStatus, IndexTicket, Indexing};
use cairn_local_blobs::LocalBlobs;
use cairn_local_embedding::{LocalEmbedder, WordTable};
use cairn_local_segments::SegmentStore;
use cairn_local_store::LocalStore;
use cairn_metastore::Metastore;
use cairn_names::NameIndex;
use cairn_ports::KeyStore;
use cairn_search::{Caller, CursorKey, QueryError, QueryErrorCode, Searcher};
use cairn_testkit::{ManualClock, MemoryKeys};
use cairn_texts::TextIndex;
use serde_json::{Value, json};

use cairn_testkit::work_tree::{commit, repository, write};

use crate::harness::Index;

/// Refuses all calls to index, because the test service only answers questions.
struct NoIndexing;

#[async_trait]
impl Indexing for NoIndexing {
    async fn index(&self, _searcher: &Searcher, _call: IndexCall) -> Result<IndexStatus, QueryError> {
        Err(QueryError::new(QueryErrorCode::Forbidden, "this service indexes no repository"))
    }

    async fn progress(&self, _searcher: &Searcher, _asked: IndexTicket) -> Result<IndexStatus, QueryError> {
        Err(QueryError::new(QueryErrorCode::NotFound, "no run was requested"))
    }

    async fn cancel_requests(&self, _repositories: &[RepositoryId]) -> Result<Vec<RepositoryId>, QueryError> {
        Ok(Vec::new())
    }

    async fn cancel(&self, _run: RunId) -> Result<bool, QueryError> {
        Ok(false)
    }
}

/// A query service in this process, which reads an index directory.
pub(crate) struct Server {
    url: String,
    key: String,
    _runtime: tokio::runtime::Runtime,
}

fn searcher(home: &Path) -> Searcher {
    let store = Arc::new(LocalStore::open(home).expect("a store"));
    let runs = Arc::new(Metastore::new(store.clone()));
    let blobs = Arc::new(LocalBlobs::open(&home.join("artifacts")).expect("artifacts"));
    let key = fs::read(home.join("cursor.key")).expect("a key");
    Searcher {
        caller: Caller::local(),
        catalogue: runs.clone(),
        ledger: runs,
        vectors: Arc::new(SegmentStore::new(home.join("segments"))),
        graph: store,
        names: Arc::new(NameIndex::new(blobs.clone())),
        texts: Arc::new(TextIndex::new(blobs.clone())),
        packs: Arc::default(),
        blobs,
        embedder: Arc::new(LocalEmbedder::shipped().expect("a model")),
        similarity: Arc::new(WordTable::shipped().expect("a model")),
        clock: Arc::new(ManualClock::default()),
        cursor_key: CursorKey(key.try_into().expect("32 bytes")),
        signals: Default::default(),
        term_tables: Arc::default(),
        synonyms: Arc::default(),
        changed: None,
        heads: None,
        answers: Arc::default(),
        known_texts: Arc::default(),
        pattern_members: Arc::default(),
        file_places: Arc::default(),
    }
}

impl Server {
    pub(crate) fn new(home: &Path) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().expect("a runtime");
        let (url, key) = runtime.block_on(Self::serve(home));
        Self { url, key, _runtime: runtime }
    }

    async fn serve(home: &Path) -> (String, String) {
        let keys = Arc::new(MemoryKeys::default());
        let request = KeyRequest {
            tenant: Tenant::local(),
            repositories: None,
            may_index: true,
            label: String::new(),
            expires_at_ms: None,
        };
        let key = issue(request, 0);
        keys.create(key.record).await.expect("created");
        // The clock of the service does not advance, so a key can send only as many requests as one burst
        // allows.
        let limits = LimitsConfig { burst: 10_000, ..LimitsConfig::default() };
        let allowed_hosts = vec!["127.0.0.1".to_owned()];
        let config = GatewayConfig { allowed_hosts, limits, ..GatewayConfig::default() };
        config.validate().expect("valid");
        let state = GatewayState { searcher: searcher(home), keys, indexing: Arc::new(NoIndexing) };
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let url = format!("http://{}", listener.local_addr().expect("an address"));
        let router = router(state, config);
        tokio::spawn(async move { axum::serve(listener, router).await });
        (url, key.text)
    }

    pub(crate) fn run(&self, index: &Index, arguments: &[&str]) -> Output {
        let mut command = index.command(arguments);
        command.env("CAIRN_SERVER", &self.url).env("CAIRN_API_KEY", &self.key);
        command.output().expect("the program starts")
    }
}

fn indexed() -> (Index, tempfile::TempDir) {
    let source = repository();
    let root = source.path();
    write(
        root,
        "src/date.py",
        "import json\n\n\ndef parse_date(text):\n    \"\"\"Parses a date.\"\"\"\n    return scan(text)\n\n\ndef scan(text):\n    return json.loads(text)\n",
    );
    write(
        root,
        "src/server.py",
        "from src.date import parse_date\n\n\nclass Server:\n    def handle(self):\n        return parse_date(\"now\")\n\n\nclass Small(Server):\n    pass\n",
    );
    for name in ["Csv", "Json", "Xml"] {
        let text = format!(
            "class {name}Importer:\n    def load(self, path):\n        return path\n\n    def check(self, row):\n        return row\n"
        );
        write(root, &format!("src/importers/{}.py", name.to_lowercase()), text);
    }
    write(root, "settings.py", "password = \"hunter2-Zx81-Qwerty\"\naws = \"AKIAIOSFODNN7EXAMPLF\"\n");
    write(root, "README.md", "# Dates\n\nHow dates are parsed.\n");
    write(root, "logo.png", [0u8, 159, 146, 150]);
    commit(root, "All");
    let index = Index::new();
    index.index(root);
    (index, source)
}

/// Replaces the parts of an output that may differ: paths on disk, and cursors, which are different for each
/// caller.
fn comparable(text: &[u8]) -> String {
    let mut out = String::new();
    for line in String::from_utf8_lossy(text).lines() {
        if line.starts_with("index   ") || line.starts_with("bytes on disk") {
            continue;
        }
        match serde_json::from_str::<Value>(line) {
            Ok(mut value) if value.is_object() => {
                for name in ["home", "size_bytes"] {
                    if let Some(field) = value.get_mut(name) {
                        *field = Value::Null;
                    }
                }
                if let Some(cursor) = value["next_cursor"].as_str() {
                    value["next_cursor"] = json!(cursor.len());
                }
                out.push_str(&value.to_string());
            }
            _ => match line.split_once("--cursor ") {
                Some((before, cursor)) => out.push_str(&format!("{before}--cursor {}", cursor.len())),
                None => out.push_str(line),
            },
        }
        out.push('\n');
    }
    out
}

#[test]
fn commands_print_the_same_locally_and_remotely() {
    let (index, _source) = indexed();
    let server = Server::new(index.path());
    let verbs: &[&[&str]] = &[
        &["search", "parse date"],
        &["search", "parse date", "--explain", "-n", "2"],
        &["search", "Server", "--repo", "r", "--language", "python", "--tests", "exclude"],
        &["search", "zebra", "--language", "cobol"],
        &["search", "x", "--kind", "nonsense"],
        &["search", "x", "--repo", "absent"],
        &["search", "x", "--cursor", "beef"],
        &["search", "x", "--since", "someday"],
        &["search", "src/server.py#Server.handle"],
        &["search", "parse_dtae", "--target-type", "symbol"],
        &["search", "handle", "--context-path", "src/server.py"],
        &["search", "what calls src/date.py#parse_date"],
        &["grep", "def \\w+"],
        &["grep", "parse_date", "-n", "2", "-C", "1"],
        &["grep", "-F", "json.loads(", "--repo", "r", "--language", "python"],
        &["grep", "-U", "-i", "IMPORTER:\\s+def"],
        &["grep", "zebra"],
        &["grep", "a(b"],
        &["grep", "x", "--cursor", "beef"],
        &["show", "r", "src/date.py"],
        &["show", "r", "src/date.py:4-5"],
        &["show", "r", "src/dat.py"],
        &["show", "r", "src/date.py:9-2"],
        &["show", "Server.hnadle"],
        &["show", "server.handle"],
        &["show", "src/date.py#parseDate"],
        &["show", "absent", "x"],
        &["graph", "callers", "parse_date"],
        &["graph", "callees", "Server.handle"],
        &["graph", "deps", "src/server.py"],
        &["graph", "dependents", "parseDate"],
        &["graph", "inherits", "Server"],
        &["graph", "callers", "nobody"],
        &["graph", "sample", "--class", "import", "-n", "5"],
        &["graph", "sample", "--class", "odd"],
        &["patterns"],
        &["patterns", "Importer", "--repo", "r"],
        &["patterns", "Nothing"],
        &["repos"],
        &["status"],
        &["stats"],
        &["runs"],
        &["runs", "--repo", "r", "--limit", "1"],
        &["runs", "cancel"],
        &["runs", "cancel", "absent"],
        &["coverage"],
        &["coverage", "r", "--summary"],
        &["coverage", "r", "--why", "logo.png"],
        &["coverage", "r", "--why", "absent.py"],
        &["secrets"],
        &["secrets", "r"],
        &["fingerprint"],
        &["fingerprint", "--repo", "absent"],
    ];
    for verb in verbs {
        for json in [&[][..], &["--json"]] {
            let arguments = [*verb, json].concat();
            let (here, there) = (index.run(&arguments), server.run(&index, &arguments));
            let reported = |output: &Output| (comparable(&output.stdout), comparable(&output.stderr));
            assert_eq!(reported(&here), reported(&there), "{arguments:?}");
            assert_eq!(here.status.code(), there.status.code(), "{arguments:?}");
            assert!(!here.stdout.is_empty() || !here.stderr.is_empty(), "{arguments:?} prints no error");
        }
    }
}

#[test]
fn cut_file_reports_the_command_for_the_rest() {
    let source = repository();
    write(source.path(), "sums.txt", "1+2-3*4\n".repeat(30_000));
    commit(source.path(), "Long");
    let index = Index::new();
    index.index(source.path());
    let server = Server::new(index.path());
    let shown = |arguments: &[&str]| {
        let (here, there) = (index.run(arguments), server.run(&index, arguments));
        let lines = |text: &[u8]| String::from_utf8_lossy(text).lines().map(str::to_owned).collect::<Vec<_>>();
        assert_eq!((lines(&here.stdout), lines(&here.stderr)), (lines(&there.stdout), lines(&there.stderr)));
        (lines(&here.stdout).len(), String::from_utf8_lossy(&here.stderr).into_owned())
    };
    let (num_shown, reported) = shown(&["show", "r", "sums.txt"]);
    assert!(0 < num_shown && num_shown < 30_000, "{num_shown} lines: {reported}");
    let rest = format!("sums.txt:{}-30000", num_shown + 1);
    assert!(reported.contains(&format!("{} of 30000 lines", 30_000 - num_shown)), "{reported}");
    assert!(reported.contains(&format!(" show r {rest}\n")), "{reported}");
    let (num_left, reported) = shown(&["show", "r", &rest]);
    assert_eq!(num_shown + num_left, 30_000);
    assert!(!reported.contains("left out"), "{reported}");
}

#[test]
fn local_only_commands_are_refused_for_a_server() {
    let (index, _source) = indexed();
    let server = Server::new(index.path());
    for verb in [&["mcp"][..], &["doctor"], &["watch"], &["remove", "r"], &["invalidate", "x"]] {
        let output = server.run(&index, verb);
        assert_eq!(output.status.code(), Some(2), "{verb:?}");
        assert!(!output.stderr.is_empty(), "{verb:?}");
    }
    let refused = |key: &str| {
        let mut command = index.command(&["status"]);
        command.env("CAIRN_SERVER", &server.url).env("CAIRN_API_KEY", key);
        let output = command.output().expect("the program starts");
        assert_eq!(output.status.code(), Some(1), "{key}");
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    assert!(refused("").contains("CAIRN_API_KEY"));
    assert!(refused("cairn_nonsense").contains("send a valid API key"));
    let asked = server.run(&index, &["index", "r"]);
    assert!(String::from_utf8_lossy(&asked.stderr).contains("this service indexes no repository"), "{asked:?}");
}
