//! Checks of matching, order, limits and scope.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Result, ensure};
use cairn_domain::{ChunkKey, Key128, LineSpan, RepoPath, Scope, SymbolEntry, SymbolKind, Tenant, View};
use cairn_ports::NameMatch::{CaseInsensitive, Contains, Exact, Fuzzy, Prefix, StyleInsensitive};
use cairn_ports::{FileHit, FileMatch, NameMatch, Names, StagedNames, SymbolHit, SymbolNode};

use crate::case::view;
use crate::names::fixture::{EXACT, Index, matched, path};
use crate::suite::expect_eq;

const EVERY_WAY: [NameMatch; 6] = [Exact, CaseInsensitive, StyleInsensitive, Prefix, Contains, Fuzzy];

/// Stages symbols with these names, each on its own line, as generation 1.
async fn stage_named(index: &Index<'_>, names: &[&str]) -> Result<()> {
    let symbol = |(line, name): (usize, &&str)| index.symbol(name, "a", line as u32 + 1);
    let symbols = names.iter().enumerate().map(symbol).collect();
    index.stage(1, StagedNames { symbols, files: vec![path("a")], ..StagedNames::default() }).await
}

async fn look_up(index: &Index<'_>, name: &str, ways: &[NameMatch]) -> Result<Vec<SymbolHit>> {
    Ok(index.store.symbols(&view(2, &[]), &index.case.scope(), name, ways, 100).await?)
}

pub(super) async fn each_way_of_matching_finds_its_own(store: &dyn Names) -> Result<()> {
    let index = Index::new(store, "ways");
    let names = [
        "getUser", "GetUser", "GETUSER", "get_user", "get-user", "alpha", "alphas", "alphabe", "alphabet", "subalpha",
        "aplha", "größe", "z",
    ];
    stage_named(&index, &names).await?;
    let cases: [(&str, NameMatch, &[&str]); 12] = [
        ("getUser", Exact, &["getUser"]),
        ("getuser", Exact, &[]),
        ("größe", Exact, &["größe"]),
        ("getUser", CaseInsensitive, &["GETUSER", "GetUser", "getUser"]),
        ("GRÖSSE", CaseInsensitive, &[]),
        ("GRÖßE", CaseInsensitive, &["größe"]),
        ("get_User", StyleInsensitive, &["GETUSER", "GetUser", "get-user", "getUser", "get_user"]),
        ("alpha", Prefix, &["alpha", "alphabe", "alphabet", "alphas"]),
        ("alphabets", Prefix, &[]),
        ("alpha", Contains, &["alpha", "alphabe", "alphabet", "alphas", "subalpha"]),
        ("lph", Contains, &["alpha", "alphabe", "alphabet", "alphas", "subalpha"]),
        ("nothing", Fuzzy, &[]),
    ];
    for (name, way, expected) in cases {
        let hits = look_up(&index, name, &[way]).await?;
        let mut expected = expected.to_vec();
        expected.sort_unstable();
        ensure!(
            matched(&hits) == expected,
            "looking up `{name}` by {way:?} found {:?}, expected {expected:?}",
            matched(&hits)
        );
    }
    // The accepted distance is at most 2, and may depend on the length of the name.
    let near = look_up(&index, "alphaX", &[Fuzzy]).await?;
    let near = matched(&near);
    ensure!(near.contains(&"alpha") && near.contains(&"alphas"), "`alphaX` finds {near:?}");
    ensure!(!near.contains(&"alphabet") && !near.contains(&"subalpha"), "`alphaX` finds {near:?}");
    Ok(())
}

pub(super) async fn best_match_is_reported_once(store: &dyn Names) -> Result<()> {
    let index = Index::new(store, "best");
    stage_named(&index, &["user", "User", "us_er", "username", "superuser", "usher"]).await?;
    let hits = look_up(&index, "user", &EVERY_WAY).await?;
    let reported: BTreeMap<&str, NameMatch> = hits.iter().map(|hit| (hit.symbol.name.as_str(), hit.matched)).collect();
    let expected = [
        ("user", Exact),
        ("User", CaseInsensitive),
        ("us_er", StyleInsensitive),
        ("username", Prefix),
        ("superuser", Contains),
        ("usher", Fuzzy),
    ];
    expect_eq!(reported, BTreeMap::from(expected));
    expect_eq!(hits.len(), expected.len());
    let first: Vec<&str> = hits[..3].iter().map(|hit| hit.symbol.name.as_str()).collect();
    expect_eq!(first, ["user", "User", "us_er"]);
    expect_eq!(hits[0].score, 100);
    ensure!(hits[1..].iter().all(|hit| (1..100).contains(&hit.score)), "the score of an inexact hit is not in 1..100");
    ensure!(hits.is_sorted_by(|left, right| left.score >= right.score), "scores are not in descending order");
    Ok(())
}

pub(super) async fn qualified_names_match_at_their_end(store: &dyn Names) -> Result<()> {
    let index = Index::new(store, "qualified");
    stage_named(&index, &["Outer.Server.start", "Server.start", "Observer.start", "start", "Server.restart"]).await?;
    let cases: [(&str, &[&str]); 5] = [
        ("Server.start", &["Outer.Server.start", "Server.start"]),
        ("Outer.Server.start", &["Outer.Server.start"]),
        ("start", &["Observer.start", "Outer.Server.start", "Server.start", "start"]),
        ("erver.start", &[]),
        ("Server", &[]),
    ];
    for (name, expected) in cases {
        let hits = look_up(&index, name, EXACT).await?;
        ensure!(matched(&hits) == expected, "looking up `{name}` found {:?}, expected {expected:?}", matched(&hits));
    }
    Ok(())
}

pub(super) async fn symbols_are_ordered_and_limited(store: &dyn Names) -> Result<()> {
    let index = Index::new(store, "order");
    let mut expected = Vec::new();
    for repository in ["p", "q"] {
        let places = [("b", 3), ("a", 20), ("a", 7), ("c", 1)];
        let symbols: Vec<SymbolEntry> =
            places.iter().map(|(file, line)| index.symbol_of(repository, "run", file, *line)).collect();
        let id = index.case.repository(repository);
        expected.extend(symbols.iter().map(|symbol| (id, symbol.path.clone(), symbol.line)));
        let files = ["a", "b", "c"].map(path).to_vec();
        index.stage_in(repository, 1, StagedNames { replaced: Vec::new(), symbols, files }).await?;
    }
    expected.sort();
    for limit in [1, 3, 5, 8, 100, 0] {
        let hits = store.symbols(&view(2, &[]), &index.case.scope(), "run", &EVERY_WAY, limit).await?;
        let found: Vec<_> = hits.into_iter().map(|hit| (hit.repository, hit.symbol.path, hit.symbol.line)).collect();
        expect_eq!(found, expected[..limit.min(expected.len())]);
    }
    Ok(())
}

/// Stages files with these paths as generation 1.
async fn stage_files(index: &Index<'_>, paths: &[&str]) -> Result<()> {
    let files = paths.iter().map(|path| RepoPath::parse(path)).collect::<Result<_, _>>()?;
    index.stage(1, StagedNames { files, ..StagedNames::default() }).await
}

const PATHS: [&str; 6] = ["Makefile", "main.py", "maintain.md", "src/deep/domain.py", "src/lib.rs", "src/main.py"];

fn scored(hits: &[FileHit]) -> Vec<(&str, u32)> {
    hits.iter().map(|hit| (hit.path.as_str(), hit.score)).collect()
}

pub(super) async fn files_match_by_path_and_base_name(store: &dyn Names) -> Result<()> {
    let index = Index::new(store, "files");
    stage_files(&index, &PATHS).await?;
    let look_up = async |name, fuzzy| {
        let matching = if fuzzy { FileMatch::Similar } else { FileMatch::Name };
        store.files(&view(2, &[]), &index.case.scope(), name, matching, 100).await
    };
    let exact = look_up("src/main.py", false).await?;
    expect_eq!(scored(&exact)[..1], [("src/main.py", 100)]);
    let by_name = look_up("main.py", false).await?;
    expect_eq!(scored(&by_name)[0], ("main.py", 100));
    ensure!(matches!(scored(&by_name)[1], ("src/main.py", 90..=100)), "`main.py` finds {:?}", scored(&by_name));
    let part = look_up("ain.p", false).await?;
    expect_eq!(scored(&part), [("main.py", 60), ("src/main.py", 60), ("src/deep/domain.py", 60)]);
    let start = look_up("maint", false).await?;
    expect_eq!(scored(&start), [("maintain.md", 80)]);
    expect_eq!(scored(&look_up("mian.py", false).await?), []);
    let fuzzy = look_up("mian.py", true).await?;
    let names: BTreeSet<&str> = fuzzy.iter().map(|hit| hit.path.as_str()).collect();
    ensure!(names.contains("main.py") && names.contains("src/main.py"), "`mian.py` finds {names:?}");
    ensure!(!names.contains("src/lib.rs"), "`mian.py` finds {names:?}");
    ensure!(
        fuzzy.iter().all(|hit| (1..=50).contains(&hit.score)),
        "the score of an approximate hit is not between 1 and 50: {fuzzy:?}"
    );
    Ok(())
}

pub(super) async fn the_very_path_is_found_alone(store: &dyn Names) -> Result<()> {
    let index = Index::new(store, "path");
    stage_files(&index, &PATHS).await?;
    for (path, expected) in
        [("main.py", &[("main.py", 100)][..]), ("src/main.py", &[("src/main.py", 100)]), ("Main.py", &[]), ("src", &[])]
    {
        let hits = store.files(&view(2, &[]), &index.case.scope(), path, FileMatch::Path, 100).await?;
        ensure!(
            scored(&hits) == expected,
            "looking up the path `{path}` found {:?}, expected {expected:?}",
            scored(&hits)
        );
    }
    Ok(())
}

/// A requested name, the way in which it is matched, and the expected paths with their scores.
type FileCase<'a> = (&'a str, FileMatch, &'a [(&'a str, u32)]);

pub(super) async fn base_names_directories_and_globs_are_found(store: &dyn Names) -> Result<()> {
    use FileMatch::{BaseName, Directory, DirectoryGlob, Glob};
    let index = Index::new(store, "file-kinds");
    let paths = ["docs/adr/ADR-025-queues.md", "docs/adr/old/a.md", "src/a.test.ts", "src/b.ts", "src/deep/c.test.ts"];
    stage_files(&index, &paths).await?;
    let (exact, similar) = (false, true);
    let cases: [FileCase; 19] = [
        ("b.ts", BaseName { similar: exact }, &[("src/b.ts", 100)]),
        ("ADR-025", BaseName { similar: exact }, &[("docs/adr/ADR-025-queues.md", 80)]),
        ("src", BaseName { similar: exact }, &[]),
        ("adr-052-queues.md", BaseName { similar }, &[("docs/adr/ADR-025-queues.md", 47)]),
        ("docs/adr", Directory { similar: exact }, &[("docs/adr", 100), ("docs/adr/old", 80)]),
        ("adr", Directory { similar: exact }, &[("docs/adr", 90), ("docs/adr/old", 60)]),
        ("dep", Directory { similar: exact }, &[]),
        ("depe", Directory { similar }, &[("src/deep", 37)]),
        ("*.test.ts", Glob, &[("src/a.test.ts", 100), ("src/deep/c.test.ts", 100)]),
        ("src/*.ts", Glob, &[("src/a.test.ts", 100), ("src/b.ts", 100)]),
        ("**/*.md", Glob, &[("docs/adr/ADR-025-queues.md", 100), ("docs/adr/old/a.md", 100)]),
        ("adr-*.MD", Glob, &[("docs/adr/ADR-025-queues.md", 100)]),
        ("[", Glob, &[]),
        ("*.{md,b.ts}", Glob, &[("docs/adr/ADR-025-queues.md", 100), ("docs/adr/old/a.md", 100)]),
        ("[ab].ts", Glob, &[("src/b.ts", 100)]),
        ("docs/*", DirectoryGlob, &[("docs/adr", 100)]),
        ("DOCS/*", DirectoryGlob, &[("docs/adr", 100)]),
        ("{adr,deep}", DirectoryGlob, &[("docs/adr", 100), ("src/deep", 100)]),
        ("[", DirectoryGlob, &[]),
    ];
    for (name, matching, expected) in cases {
        let hits = store.files(&view(2, &[]), &index.case.scope(), name, matching, 100).await?;
        ensure!(
            scored(&hits) == expected,
            "looking up the file `{name}` by {matching:?} found {:?}, expected {expected:?}",
            scored(&hits)
        );
    }
    Ok(())
}

pub(super) async fn wildcards_in_file_names_are_literal(store: &dyn Names) -> Result<()> {
    let index = Index::new(store, "literal");
    stage_files(&index, &["pages/[id].tsx", "pages/d.tsx", "pages/i.tsx", "src/a*b?.rs", "src/axbc.rs"]).await?;
    let cases: [(&str, &[&str]); 8] = [
        ("pages/[id].tsx", &["pages/[id].tsx"]),
        ("[id].tsx", &["pages/[id].tsx"]),
        ("pages/*.tsx", &[]),
        ("a*b?.rs", &["src/a*b?.rs"]),
        ("self.items[0", &[]),
        ("[z-a].x", &[]),
        ("{a.b", &[]),
        ("*", &["src/a*b?.rs"]),
    ];
    for (name, expected) in cases {
        for matching in [FileMatch::Name, FileMatch::Path] {
            let hits = store.files(&view(2, &[]), &index.case.scope(), name, matching, 100).await?;
            let found: Vec<&str> = hits.iter().map(|hit| hit.path.as_str()).collect();
            let expected: Vec<&str> =
                expected.iter().copied().filter(|path| matching == FileMatch::Name || *path == name).collect();
            ensure!(
                found == expected,
                "looking up the file `{name}` by {matching:?} found {found:?}, expected {expected:?}"
            );
        }
    }
    Ok(())
}

pub(super) async fn files_are_ordered_and_limited(store: &dyn Names) -> Result<()> {
    let index = Index::new(store, "file-order");
    stage_files(&index, &["a.py", "b/a.py", "c/a.py", "d/a.pyc", "e/aa.py"]).await?;
    let expected = ["a.py", "b/a.py", "c/a.py", "d/a.pyc", "e/aa.py"];
    for limit in [0, 1, 2, 4, 100] {
        let hits = store.files(&view(2, &[]), &index.case.scope(), "a.py", FileMatch::Name, limit).await?;
        let found: Vec<&str> = hits.iter().map(|hit| hit.path.as_str()).collect();
        expect_eq!(found, expected[..limit.min(5)]);
    }
    Ok(())
}

pub(super) async fn scope_is_tested_before_limits(store: &dyn Names) -> Result<()> {
    let index = Index::new(store, "scope");
    for repository in ["p", "q"] {
        let symbols = vec![index.symbol_of(repository, "first", "a", 1)];
        index
            .stage_in(repository, 1, StagedNames { symbols, files: vec![path("a")], ..StagedNames::default() })
            .await?;
    }
    let view = view(2, &[]);
    for repository in ["p", "q"] {
        let scope = index.case.scope_of(&[repository, "r"]);
        let hits = store.symbols(&view, &scope, "first", &EVERY_WAY, 1).await?;
        expect_eq!(hits.iter().map(|hit| hit.repository).collect::<Vec<_>>(), [index.case.repository(repository)]);
        let files = store.files(&view, &scope, "a.py", FileMatch::Similar, 1).await?;
        expect_eq!(files.iter().map(|hit| hit.repository).collect::<Vec<_>>(), [index.case.repository(repository)]);
    }
    let foreign = Scope::all(Tenant::new(format!("{}-not", index.case.tenant)));
    let across = Scope::only(foreign.tenant.clone(), [index.case.repository("p")]);
    for scope in [foreign, across, index.case.scope_of(&[])] {
        expect_eq!(index.visible_in(&view, &scope).await?, Vec::<String>::new());
        expect_eq!(store.symbols(&view, &scope, "first", &EVERY_WAY, 9).await?, []);
    }
    Ok(())
}

pub(super) async fn hidden_repositories_are_invisible(store: &dyn Names) -> Result<()> {
    let index = Index::new(store, "hide");
    index.stage_basics().await?;
    let hidden = View { hidden_repositories: BTreeSet::from([index.r()]), ..view(2, &[]) };
    expect_eq!(index.visible(&hidden).await?, Vec::<String>::new());
    Ok(())
}

pub(super) async fn symbols_are_read_as_written(store: &dyn Names) -> Result<()> {
    let index = Index::new(store, "whole");
    let odd = RepoPath::from_bytes(b"odd\xff\\name\n.py")?;
    let symbol = |(number, kind): (usize, &SymbolKind)| SymbolEntry {
        kind: *kind,
        span: LineSpan::new(number as u32, u32::MAX - number as u32),
        // Some symbols share a chunk, and some have no chunk.
        chunk: [Some(ChunkKey(Key128([number as u8 / 2; 16]))), Some(ChunkKey(Key128([255; 16]))), None][number % 3],
        language: ["rust", "go", ""][number % 3].to_owned(),
        module_path: if number % 2 == 0 { String::new() } else { format!("a.b{number}") },
        exported: number % 2 == 0,
        documented: number % 3 == 0,
        is_test: number % 5 == 0,
        path: odd.clone(),
        ..index.symbol(&format!("Größe.n{number}"), "a", u32::MAX - number as u32)
    };
    let symbols: Vec<SymbolEntry> = SymbolKind::ALL.iter().enumerate().map(symbol).collect();
    let staged = StagedNames { symbols: symbols.clone(), files: vec![odd.clone()], ..StagedNames::default() };
    index.stage(1, staged).await?;
    let by_node = |mut symbols: Vec<SymbolEntry>| {
        symbols.sort_by_key(|symbol| symbol.node);
        symbols
    };
    let scrolled = index.scroll(&view(2, &[]), &index.case.scope()).await?;
    expect_eq!(by_node(scrolled), by_node(symbols.clone()));
    for symbol in symbols {
        let hits = look_up(&index, &symbol.qualified_name, EXACT).await?;
        let expected = SymbolHit { repository: index.r(), symbol, matched: Exact, score: 100 };
        expect_eq!(hits, [expected]);
    }
    let files = store.files(&view(2, &[]), &index.case.scope(), odd.as_str(), FileMatch::Name, 9).await?;
    let found: Vec<_> = files.into_iter().map(|hit| (hit.repository, hit.path, hit.score)).collect();
    expect_eq!(found, [(index.r(), odd, 100)]);
    Ok(())
}

/// More symbols than any adapter returns on one page.
const NUM_MANY: u32 = 6000;

pub(super) async fn pages_are_complete(store: &dyn Names) -> Result<()> {
    let index = Index::new(store, "pages");
    let symbols: Vec<SymbolEntry> =
        (0..NUM_MANY).map(|number| index.symbol(&format!("n{number}"), "a", number)).collect();
    let nodes: BTreeSet<_> = symbols.iter().map(|symbol| symbol.node).collect();
    index.stage(1, StagedNames { symbols, files: vec![path("a")], ..StagedNames::default() }).await?;
    let found = index.scroll(&view(2, &[]), &index.case.scope()).await?;
    expect_eq!(found.len(), nodes.len());
    ensure!(
        found.iter().map(|symbol| symbol.node).collect::<BTreeSet<_>>() == nodes,
        "the index returned other symbols than were staged"
    );
    Ok(())
}

pub(super) async fn symbols_of_nodes_come_in_the_order_of_the_nodes(store: &dyn Names) -> Result<()> {
    let index = Index::new(store, "nodes");
    index.stage_basics().await?;
    index.stage(2, index.change_a()).await?;
    let other = index.symbol_of("other", "first", "a", 1);
    index.stage_in("other", 1, StagedNames { symbols: vec![other.clone()], ..StagedNames::default() }).await?;
    let node = |repository: &str, symbol: &SymbolEntry| SymbolNode {
        repository: index.case.repository(repository),
        name: symbol.name.clone(),
        node: symbol.node,
    };
    let (third, first, moved) =
        (index.symbol("third", "b", 1), index.symbol("first", "a", 1), index.symbol("first", "a", 5));
    let nodes = [node("r", &third), node("other", &other), node("r", &first), node("r", &moved)];
    let found = async |next_gen: u64, scope: &Scope| store.symbols_of(&view(next_gen, &[]), scope, &nodes).await;
    expect_eq!(found(2, &index.case.scope()).await?, [third.clone(), other.clone(), first]);
    expect_eq!(found(3, &index.case.scope()).await?, [third, other.clone(), moved]);
    expect_eq!(found(3, &index.case.scope_of(&["other"])).await?, [other]);
    expect_eq!(found(3, &Scope::all(Tenant::new(format!("{}-not", index.case.tenant)))).await?, []);
    Ok(())
}
