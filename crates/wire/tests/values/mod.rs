//! The values of the golden files. Every field is set, and every stored variant is used at least once.

use std::collections::BTreeMap;
use std::sync::Arc;

use cairn_domain::{
    Arity, ArtifactRef, Binding, BindingEvidence, BlobId, ChunkFacts, ChunkKind, ContentHash, Digest, DocumentFacts,
    DocumentSection, Ecosystem, EntryKind, FactsKey, FileFacts, GenerationId, Import, ImportedName, Key128, LineSpan,
    ManifestEntry, Mention, NodeKey, NodeKind, NodeRecord, Outcome, Outline, OutlineBase, OutlineField, OutlineSymbol,
    PackageManifest, ParseStatus, PartId, PatternKey, PatternMember, PatternRecord, Reason, Reference, ReferenceKind,
    RepoPath, RepositoryId, Resolution, RunId, SecretFinding, Slot, SourceText, StageName, Symbol, SymbolKind, Tenant,
    TermCounts, Unresolved, Visibility, WordPair,
};
use cairn_wire::{
    AskedKeys, ChangedPath, FileError, FileUnresolved, Job, LinkGroup, LinkState, LinkSummary, LinkedFile, Manifest,
    PartJob, PartReport, Plan, PlannedRefusal, RequestSettings, RunResult, SkipRules, SlotStatus, StageDuration,
    UnresolvedSite, WrittenArtifact,
};

fn key(number: usize) -> Key128 {
    Key128([number as u8; 16])
}

fn path(text: &str) -> RepoPath {
    RepoPath::parse(text).expect("a path")
}

fn span(start: u32, end: u32) -> LineSpan {
    LineSpan { start, end }
}

fn texts(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}

fn artifact(key: &str) -> ArtifactRef {
    ArtifactRef { key: key.to_owned(), size_bytes: 70_000, hash: [0xab; 32] }
}

pub(crate) fn sources() -> Vec<SourceText> {
    let text = |number: usize, language: Option<&str>, text: &str| SourceText {
        facts_key: FactsKey(key(number)),
        blob: BlobId([number as u8; 20]),
        language: language.map(ToOwned::to_owned),
        text: text.to_owned(),
        secrets: vec![SecretFinding { line: 300, rule: "password_assignment".to_owned() }; number],
    };
    vec![
        text(0, None, ""),
        text(1, Some("python"), "def größe():\n    return \"[REDACTED:password_assignment]\"\n"),
        text(2, Some("rust"), &"fn repeated() {}\r\n".repeat(40)),
    ]
}

pub(crate) fn facts() -> Vec<FileFacts> {
    ParseStatus::ALL.iter().enumerate().map(|(number, status)| facts_of(number, *status)).collect()
}

fn facts_of(number: usize, status: ParseStatus) -> FileFacts {
    let empty = FileFacts {
        facts_key: FactsKey(key(number)),
        language: "text".to_owned(),
        status,
        num_lines: number as u32 * 1000,
        symbols: Vec::new(),
        references: Vec::new(),
        imports: Vec::new(),
        bindings: Vec::new(),
        chunks: Vec::new(),
        document: None,
        package: None,
        export_list: None,
    };
    match number {
        0 => FileFacts {
            language: "python".to_owned(),
            symbols: SymbolKind::ALL.iter().enumerate().map(symbol).collect(),
            references: ReferenceKind::ALL.iter().enumerate().map(reference).collect(),
            imports: imports(),
            bindings: BindingEvidence::ALL.iter().enumerate().map(binding).collect(),
            chunks: ChunkKind::ALL.iter().enumerate().map(chunk).collect(),
            package: Some("org.example".to_owned()),
            export_list: Some(texts(&["run", "stop"])),
            ..empty
        },
        1 => FileFacts { document: Some(document()), export_list: Some(Vec::new()), ..empty },
        _ => empty,
    }
}

fn symbol((number, kind): (usize, &SymbolKind)) -> Symbol {
    Symbol {
        name: format!("name{number}"),
        qualified_name: format!("Outer.name{number}"),
        kind: *kind,
        span: span(number as u32 + 1, number as u32 + 200),
        name_line: number as u32 + 2,
        signature: "def name(self, first: int) -> str".to_owned(),
        doc: (number % 2 == 0).then(|| "Says what it does.".to_owned()),
        decorators: if number % 3 == 0 { texts(&["app.route(\"/x\")"]) } else { Vec::new() },
        parent: (number > 0).then_some(0),
        visibility: Visibility::ALL[number % Visibility::ALL.len()],
        exported: number % 2 == 0,
        is_test: number % 5 == 0,
    }
}

fn reference((number, kind): (usize, &ReferenceKind)) -> Reference {
    Reference {
        kind: *kind,
        name: "callee".to_owned(),
        receiver: (number % 2 == 0).then(|| "self.client".to_owned()),
        enclosing: (number % 3 == 0).then_some(1),
        line: 40 + number as u32,
        num_arguments: (number % 2 == 1).then_some(number as u8),
    }
}

fn imports() -> Vec<Import> {
    let plain = Import {
        module: "os.path".to_owned(),
        level: 0,
        names: Vec::new(),
        alias: Some("p".to_owned()),
        wildcard: false,
        reexport: false,
        line: 1,
        enclosing: Some(2),
    };
    let names = vec![
        ImportedName { name: "run".to_owned(), alias: None },
        ImportedName { name: "stop".to_owned(), alias: Some("halt".to_owned()) },
    ];
    let relative =
        Import { level: 2, names, alias: None, wildcard: true, reexport: true, enclosing: None, ..plain.clone() };
    vec![plain, relative]
}

fn binding((number, evidence): (usize, &BindingEvidence)) -> Binding {
    Binding {
        name: "self.store".to_owned(),
        type_name: "Store".to_owned(),
        evidence: *evidence,
        scope: (number > 0).then_some(3),
        line: 9,
    }
}

fn chunk((number, kind): (usize, &ChunkKind)) -> ChunkFacts {
    ChunkFacts {
        kind: *kind,
        span: span(1, 130),
        symbol: (number % 2 == 0).then_some(number as u32),
        heading: (number % 3 == 0).then(|| "Key Patterns > Import Pattern".to_owned()),
        header: "class Outer".to_owned(),
        synthetic_text: (number % 4 == 0).then(|| "lists its members".to_owned()),
        content_hash: ContentHash([number as u8; 32]),
        part: (number % 5 == 0).then_some((2, 300)),
        is_test: number % 2 == 1,
    }
}

fn document() -> DocumentFacts {
    DocumentFacts {
        title: Some("Guide".to_owned()),
        description: None,
        sections: vec![DocumentSection { heading_path: "Guide > Start".to_owned(), span: span(3, 9) }],
        entry_points: vec![Mention { text: "src/main.rs".to_owned(), line: 4 }],
        mentions: vec![Mention { text: "Store".to_owned(), line: 5 }],
    }
}

pub(crate) fn manifest() -> Manifest {
    let outcomes = Reason::ALL.into_iter().flat_map(|reason| {
        let failed = Outcome::Failed { reason, message: "permission denied".to_owned() };
        [Outcome::Indexed(Some(reason)), Outcome::Skipped(reason), failed]
    });
    let mut entries: Vec<ManifestEntry> =
        std::iter::once(Outcome::Indexed(None)).chain(outcomes).enumerate().map(entry).collect();
    entries.push(ManifestEntry { path: path("odd\\xFFname\\\\\\x0A.py"), ..entries[0].clone() });
    Manifest {
        rules: Digest([1; 32]),
        tools: Digest([2; 32]),
        settings: "name: service\n".to_owned(),
        links: Some(artifact("links/r/x")),
        entries,
        inputs_digest: Some(Digest([3; 32])),
        terms: vec![artifact("terms/r/x"), artifact("terms/r/y")],
        skip_rules: SkipRules {
            texts: vec!["`exclude` contains the pattern «a»".to_owned()],
            of_entries: vec![(2, 0)],
        },
    }
}

fn entry((number, outcome): (usize, Outcome)) -> ManifestEntry {
    let kinds = [EntryKind::File, EntryKind::Executable, EntryKind::Symlink, EntryKind::Submodule];
    let every = |count: usize| number % count == 0;
    ManifestEntry {
        path: path(&format!("src/file{number:02}.py")),
        kind: kinds[number % kinds.len()],
        blob: BlobId([number as u8; 20]),
        size_bytes: 100 << number,
        outcome,
        language: every(2).then(|| "python".to_owned()),
        facts_key: every(3).then(|| FactsKey(key(number))),
        source: every(4).then(|| Slot { artifact: artifact("packs/r/y"), index: 128 }),
        num_secrets: number as u32,
        num_lines: 3,
        low_weight: every(5),
        navigation: every(6),
        tags: if every(7) { texts(&["backend", "generated"]).into() } else { Arc::default() },
        changed_at: every(8).then_some(1_700_000_000 - 2_000_000_000 * (number as i64 % 3)),
        module: every(9).then(|| "services/api".to_owned()),
    }
}

pub(crate) fn plan() -> Plan {
    let changed = |name: &str, before, now| ChangedPath { path: path(name), before, now };
    Plan {
        manifest: Some(artifact("manifests/r/now")),
        previous_manifest: Some(artifact("manifests/r/before")),
        packs: vec![artifact("packs/r/0"), artifact("packs/r/1")],
        embed: vec![vec![changed("a.py", false, true)], vec![changed("b.py", true, true)]],
        retire: vec![vec![changed("c.py", true, false)]],
        changes: true,
        rebuild: false,
        settings: "exclude: [gen/**]\n".to_owned(),
        refusal: Some(PlannedRefusal {
            code: cairn_domain::FailureCode::OverBudget,
            message: "9 chunks; the limit is 8".to_owned(),
        }),
    }
}

pub(crate) fn unresolved() -> LinkSummary {
    let site = |(number, reason): (usize, &Unresolved)| UnresolvedSite {
        name: "connect".to_owned(),
        receiver: (number % 2 == 0).then(|| "pool".to_owned()),
        line: 1000 + number as u32,
        reason: *reason,
    };
    let sites = Unresolved::ALL.iter().enumerate().map(site).collect();
    LinkSummary { files: vec![FileUnresolved { path: path("src/a.py"), sites }] }
}

pub(crate) fn link_group() -> LinkGroup {
    let file = |name: &str, number: u32| LinkedFile {
        path: path(name),
        edges: Resolution::ALL.iter().map(|class| (*class, number)).collect(),
        unresolved: Unresolved::ALL.iter().map(|reason| (*reason, number * 300)).collect(),
        modules: texts(&["app.web", "lib"]),
    };
    let asked = [(u64::MAX, 1), (1 << 40, 0), (1 << 40, 1), (7 << 33, 0)];
    LinkGroup { files: vec![file("src/a.py", 1), file("src/b.py", 2)], asked: AskedKeys::new(asked) }
}

pub(crate) fn link_state() -> LinkState {
    let package = |(number, ecosystem): (usize, &Ecosystem)| PackageManifest {
        ecosystem: *ecosystem,
        path: path("lib/manifest"),
        name: (number % 2 == 0).then(|| "@acme/lib".to_owned()),
        root: "lib".to_owned(),
        dependencies: texts(&["left", "right"]),
        entries: texts(&["lib/src/main.ts"]),
    };
    use Ecosystem::{Cargo, Composer, Go, Maven, Npm, Nuget, Pypi};
    let ecosystems = [Pypi, Npm, Go, Cargo, Maven, Composer, Nuget];
    LinkState {
        packages: ecosystems.iter().enumerate().map(package).collect(),
        groups: vec![artifact("links/r/a"), artifact("links/r/b")],
    }
}

pub(crate) fn outlines() -> Vec<Outline> {
    let symbol = |(number, kind): (usize, &SymbolKind)| OutlineSymbol {
        name: "load".to_owned(),
        qualified_name: "Outer.load".to_owned(),
        kind: *kind,
        ordinal: number as u32,
        parent: number.checked_sub(1).map(|parent| parent as u32),
        span: span(number as u32 + 1, 900),
        arity: Arity { min: number as u8, max: u8::MAX },
        exported: number % 2 == 0,
        private: number % 2 == 1,
        secondary: number % 3 == 0,
        is_default: number % 3 == 1,
        is_companion: number % 4 == 1,
        nameless: number % 4 == 2,
        names_holder: number % 3 == 2,
        decorators: texts(&["app.route"]),
    };
    let base = |receiver: Option<&str>, implements| OutlineBase {
        class: 2,
        name: "Base".to_owned(),
        receiver: receiver.map(ToOwned::to_owned),
        implements,
    };
    let field = |scope, name: &str| OutlineField { scope, name: name.to_owned(), type_name: "Store".to_owned() };
    let empty = Outline {
        language: "text".to_owned(),
        num_lines: 0,
        num_chunks: 0,
        package: None,
        symbols: Vec::new(),
        bases: Vec::new(),
        imports: Vec::new(),
        fields: Vec::new(),
    };
    let full = Outline {
        language: "java".to_owned(),
        num_lines: 70_000,
        num_chunks: 400,
        package: Some("org.acme".to_owned()),
        symbols: SymbolKind::ALL.iter().enumerate().map(symbol).collect(),
        bases: vec![base(None, false), base(Some("other.place"), true)],
        imports: facts().into_iter().flat_map(|facts| facts.imports).take(3).collect(),
        fields: vec![field(Some(1), "self.store"), field(None, "store")],
    };
    vec![empty, full]
}

pub(crate) fn nodes() -> Vec<NodeRecord> {
    let node = |(number, kind): (usize, &NodeKind)| NodeRecord {
        key: NodeKey(key(number)),
        repository: RepositoryId(key(200)),
        kind: *kind,
        name: "Store".to_owned(),
        qualified_name: "Outer.Store".to_owned(),
        path: (number % 2 == 0).then(|| path("src/store.py")),
        span: (number % 3 == 0).then_some(span(5, 500)),
        symbol_kind: (number % 2 == 1).then_some(SymbolKind::Class),
        signature: "class Store(Base)".to_owned(),
        doc: (number % 2 == 0).then(|| "Keeps things.".to_owned()),
        visibility: (number % 2 == 1).then_some(Visibility::Internal),
        exported: number % 2 == 0,
        is_test: number % 3 == 0,
        language: (number % 2 == 0).then(|| "python".to_owned()),
        module_path: "src.store".to_owned(),
        decorators: texts(&["dataclass"]),
    };
    NodeKind::ALL.iter().enumerate().map(node).collect()
}

pub(crate) fn patterns() -> Vec<PatternRecord> {
    let member = PatternMember {
        node: NodeKey(key(7)),
        path: path("src/aws.py"),
        name: "AwsImporter".to_owned(),
        span: span(1, 40),
        extra_methods: texts(&["retry"]),
        missing_methods: texts(&["close"]),
    };
    vec![PatternRecord {
        key: PatternKey(key(8)),
        repository: RepositoryId(key(200)),
        name: "Importer".to_owned(),
        description: "5 classes".to_owned(),
        shared_methods: texts(&["load", "run"]),
        shared_bases: texts(&["Base"]),
        shared_decorators: texts(&["dataclass"]),
        canonical: 1,
        members: vec![member.clone(), member],
        module_path: "src".to_owned(),
        language: "python".to_owned(),
    }]
}

pub(crate) fn term_counts() -> TermCounts {
    let pair = |word: &str, other: &str| WordPair { word: word.to_owned(), other: other.to_owned() };
    TermCounts {
        num_chunks: -3,
        terms: vec![(0, -300), (7, 2), (200_000, 1), (u32::MAX, 70_000)],
        pairs: vec![(pair("token", "validate"), 12), (pair("validate", "token"), -1)],
    }
}

pub(crate) fn job() -> Job {
    Job::Part(PartJob {
        tenant: Tenant::local(),
        run: RunId { repository: RepositoryId(key(200)), generation: GenerationId(70_000) },
        part: PartId { stage: StageName::EmbedPatterns, number: 3 },
        plan: artifact("plans/r/z"),
    })
}

fn counts(words: &[&str]) -> BTreeMap<String, u64> {
    words.iter().enumerate().map(|(number, word)| ((*word).to_owned(), number as u64 + 1)).collect()
}

pub(crate) fn part_report() -> PartReport {
    let written = WrittenArtifact { key: "links/r/x".to_owned(), size_bytes: 9, hash: [3; 32] };
    PartReport {
        duration_ms: 1,
        files_parsed: 2,
        chunks_parsed: 9,
        records_parsed: 10,
        chunks_embedded: 3,
        cache_hits: 4,
        symbols: 5,
        chunks: 6,
        edges: 7,
        edges_by_resolution: counts(&["ambiguous", "exact"]),
        unresolved: counts(&["builtin"]),
        patterns: 8,
        slots: vec![SlotStatus { slot: 1, status: "parse_timeout".to_owned() }],
        artifacts: BTreeMap::from([("links".to_owned(), written)]),
    }
}

pub(crate) fn run_result() -> RunResult {
    RunResult {
        repository: "service".to_owned(),
        path: "/srv/service.git".to_owned(),
        commit: "0123456789abcdef0123456789abcdef01234567-dirty".to_owned(),
        files_indexed: 1,
        files: counts(&["failed(unreadable)", "indexed", "skipped(binary)"]),
        symbols: 2,
        chunks: 3,
        edges: 4,
        patterns: 5,
        edges_by_resolution: counts(&["exact", "import"]),
        unresolved: counts(&["external"]),
        secrets: 6,
        files_parsed: 7,
        chunks_embedded: 8,
        cache_hits: 9,
        include: texts(&["*.py"]),
        exclude: texts(&["gen/**"]),
        max_file_size: 1_048_576,
        errors: vec![FileError { file: "a.py".to_owned(), message: "permission denied".to_owned() }],
        num_errors: 10,
        settings_errors: vec![FileError { file: ".cairnignore".to_owned(), message: "is not UTF-8 text".to_owned() }],
        num_settings_errors: 11,
        durations: vec![StageDuration { stage: "parse".to_owned(), duration_ms: 11 }],
        duration_ms: 12,
        indexed_at_ms: 1_700_000_000_123,
    }
}

pub(crate) fn request_settings() -> RequestSettings {
    RequestSettings {
        include: texts(&["*.py"]),
        exclude: texts(&["gen/**"]),
        include_override: texts(&["vendor/ours/**"]),
        max_file_size: Some(2_097_152),
    }
}
