//! Tests the index with a blob store in memory: its results, the order of the results, and views.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use bytes::Bytes;
use cairn_domain::{GenerationId, RepositoryId, RepositoryName, RunId, Scope, Tenant, View};
use cairn_names::NameIndex;
use cairn_ports::{BlobStore, ErrorKind, FileMatch, Generations, NameMatch, Names, StagedNames};
use proptest::prelude::*;

use crate::memory::{MemoryBlobs, everything, index, path, repository, run, symbol, view};

async fn names(index: &NameIndex, view: &View, requested: &str, ways: &[NameMatch]) -> Vec<(String, u32)> {
    let hits = index.symbols(view, &everything(), requested, ways, 100).await.expect("looked up");
    hits.into_iter().map(|hit| (hit.symbol.qualified_name, hit.score)).collect()
}

#[tokio::test]
async fn symbols_are_found_in_the_requested_ways() {
    use NameMatch::{CaseInsensitive, Contains, Exact, Fuzzy, Prefix, StyleInsensitive};
    let (index, _) = index().await;
    let check = async |requested: &str, ways: &[NameMatch], expect: &[(&str, u32)]| {
        let found = names(&index, &view(2, &[]), requested, ways).await;
        let found: Vec<(&str, u32)> = found.iter().map(|(name, score)| (name.as_str(), *score)).collect();
        assert_eq!(found, expect, "{requested} {ways:?}");
    };
    check("getUser", &[Exact], &[("Store.getUser", 100)]).await;
    check("getuser", &[Exact], &[]).await;
    check("getUser", &[Exact, CaseInsensitive], &[("Store.getUser", 100), ("Cache.GETUSER", 98)]).await;
    let all = [("Store.getUser", 100), ("Cache.GETUSER", 95), ("Cache.get_user", 95)];
    check("getUser", &[Exact, StyleInsensitive], &[all[0], ("Cache.get_user", 95), ("Cache.GETUSER", 95)]).await;
    check("Store.getUser", &[Exact, StyleInsensitive], &all[..1]).await;
    check("Cache.getUser", &[Exact], &[]).await;
    check("getUserB", &[Prefix], &[("Store.getUserById", 81)]).await;
    check("userby", &[Contains], &[("Store.getUserById", 56)]).await;
    check("getUesr", &[Exact], &[]).await;
    check("getUesr", &[Fuzzy], &[("Cache.get_user", 86), ("Cache.GETUSER", 86), ("Store.getUser", 86)]).await;
    check("Stroe", &[Fuzzy], &[("Store", 80)]).await;
    check("_", &[Exact], &[("_", 100)]).await;
    check("", &[Prefix, Contains, Fuzzy], &[]).await;
    check("nothing_like_it", &[Exact, CaseInsensitive, StyleInsensitive, Prefix, Contains, Fuzzy], &[]).await;
}

#[tokio::test]
async fn records_are_read_as_written() {
    let (index, _) = index().await;
    let hits = index.symbols(&view(2, &[]), &everything(), "getUserById", &[NameMatch::Exact], 1).await;
    assert_eq!(hits.expect("looked up")[0].symbol, symbol("src/store.rs", 9, "Store.getUserById"));
    let page = index.scroll(&view(2, &[]), &everything(), repository(), 0).await.expect("scrolled");
    assert_eq!((page.items.len(), page.next), (6, None));
    assert!(page.items.is_sorted_by_key(|symbol| symbol.node));
}

#[tokio::test]
async fn files_are_found_by_name_similar_name_or_path() {
    let (index, _) = index().await;
    let check = async |requested: &str, matching: FileMatch, expect: &[(&str, u32)]| {
        let hits = index.files(&view(2, &[]), &everything(), requested, matching, 9).await.expect("looked up");
        let found: Vec<(&str, u32)> = hits.iter().map(|hit| (hit.path.as_str(), hit.score)).collect();
        assert_eq!(found, expect, "{requested}");
    };
    check("config.json", FileMatch::Name, &[("config.json", 100)]).await;
    check("store", FileMatch::Name, &[("src/store.rs", 80)]).await;
    check("ADR-025", FileMatch::Name, &[("docs/ADR-025-queues.md", 80)]).await;
    check("src", FileMatch::Name, &[("src/util.rs", 80), ("src/cache.rs", 80), ("src/store.rs", 80)]).await;
    check("stroe.rs", FileMatch::Name, &[]).await;
    check("stroe.rs", FileMatch::Similar, &[("src/store.rs", 43)]).await;
    check("src/store.rs", FileMatch::Path, &[("src/store.rs", 100)]).await;
    check("store.rs", FileMatch::Path, &[]).await;
    for matching in [FileMatch::Path, FileMatch::Name, FileMatch::Similar] {
        for requested in ["*.rs", "src/[cs]*", "docs/*.rs", "a[", "[z-a].x", "self.items[0", "user?.profile{"] {
            check(requested, matching, &[]).await;
        }
    }
}

/// The sweep reports each generation once, after its grace period. The layers must still be merged over time.
#[tokio::test]
async fn generations_swept_one_by_one_are_merged() {
    let (index, blobs) = index().await;
    index.sweep_retired(repository(), &[GenerationId(1)]).await.expect("swept");
    for generation in 2..40 {
        let staged = StagedNames {
            replaced: vec![path("src/cache.rs")],
            symbols: vec![symbol("src/cache.rs", generation as u32, "Cache.get_user")],
            files: vec![path("src/cache.rs")],
        };
        index.stage(&Tenant::local(), run(generation), staged.clone()).await.expect("staged");
        if generation % 7 == 0 {
            // This generation is never published, and is swept after the next generation.
            continue;
        }
        index.sweep_retired(repository(), &[GenerationId(generation)]).await.expect("swept");
        index.compact(repository()).await.expect("compacted");
        if generation % 7 == 1 {
            index.sweep_aborted(repository(), GenerationId(generation - 1)).await.expect("swept");
        }
        assert!(blobs.keys().len() < 20, "{:?}", blobs.keys());
        let seen = view(generation + 1, &[generation / 7 * 7]);
        let hits = index.symbols(&seen, &everything(), "Cache.get_user", &[NameMatch::Exact], 9).await;
        let lines: Vec<u32> = hits.expect("looked up").iter().map(|hit| hit.symbol.line).collect();
        assert_eq!(lines, [generation as u32]);
        assert_eq!(names(&index, &seen, "getUserById", &[NameMatch::Exact]).await.len(), 1);
    }
    index.remove_repository(&Tenant::local(), repository(), GenerationId(40)).await.expect("removed");
    assert_eq!(blobs.keys(), Vec::<String>::new());
}

#[tokio::test]
async fn wildcards_in_file_names_are_literal() {
    let index = NameIndex::new(Arc::new(MemoryBlobs::default()));
    let files = ["pages/[id].tsx", "pages/d.tsx", "src/a*b?.rs"].map(path).into();
    let staged = StagedNames { files, ..StagedNames::default() };
    index.stage(&Tenant::local(), run(1), staged).await.expect("staged");
    let check = async |requested: &str, matching: FileMatch, expect: &[&str]| {
        let hits = index.files(&view(2, &[]), &everything(), requested, matching, 9).await.expect("looked up");
        let found: Vec<&str> = hits.iter().map(|hit| hit.path.as_str()).collect();
        assert_eq!(found, expect, "{requested} {matching:?}");
    };
    check("pages/[id].tsx", FileMatch::Name, &["pages/[id].tsx"]).await;
    check("pages/[id].tsx", FileMatch::Path, &["pages/[id].tsx"]).await;
    check("[id]", FileMatch::Name, &["pages/[id].tsx"]).await;
    check("[ID].tsx", FileMatch::Similar, &["pages/[id].tsx"]).await;
    check("a*b?.rs", FileMatch::Name, &["src/a*b?.rs"]).await;
    check("pages/*", FileMatch::Name, &[]).await;
}

/// Searches more repositories than the index searches concurrently. Each repository contains one unique
/// symbol name and one symbol name that all repositories contain.
#[tokio::test]
async fn many_repositories_are_searched_in_order() {
    let (blobs, mut ids) = (Arc::new(MemoryBlobs::default()), Vec::new());
    let index = NameIndex::new(blobs);
    for number in 0..40_u64 {
        let repository = RepositoryId::derive(&Tenant::local(), &RepositoryName::new(format!("r{number}")));
        let symbols = vec![symbol("src/a.rs", 2, "common"), symbol("src/a.rs", 1, &format!("own_{number}"))];
        let staged = StagedNames { symbols, files: vec![path("src/a.rs")], ..StagedNames::default() };
        let run = RunId { repository, generation: GenerationId(1) };
        index.stage(&Tenant::local(), run, staged).await.expect("staged");
        ids.push(repository);
    }
    ids.sort();
    for scope in [everything(), Scope::only(Tenant::local(), ids.iter().copied())] {
        for limit in [0, 1, 17, 40, 99] {
            let expect = &ids[..limit.min(ids.len())];
            let hits = index.symbols(&view(2, &[]), &scope, "comon", &[NameMatch::Fuzzy], limit).await;
            let found: Vec<RepositoryId> = hits.expect("looked up").iter().map(|hit| hit.repository).collect();
            assert_eq!(found, expect);
            let hits = index.files(&view(2, &[]), &scope, "src/a.rs", FileMatch::Path, limit).await;
            let found: Vec<RepositoryId> = hits.expect("looked up").iter().map(|hit| hit.repository).collect();
            assert_eq!(found, expect);
        }
        // The best hit is the first result, regardless of the repository that contains it.
        let hits = index.symbols(&view(2, &[]), &scope, "own_3", &[NameMatch::Exact, NameMatch::Prefix], 3).await;
        let found: Vec<String> = hits.expect("looked up").into_iter().map(|hit| hit.symbol.name).collect();
        assert_eq!((found.len(), found[0].as_str()), (3, "own_3"));
    }
}

#[tokio::test]
async fn scope_and_view_restrict_results() {
    let (index, _) = index().await;
    let count = async |view: View, scope: Scope| {
        let found = index.symbols(&view, &scope, "Store", &[NameMatch::Exact], 9).await.expect("looked up").len();
        let files = index.files(&view, &scope, "config.json", FileMatch::Name, 9).await.expect("looked up").len();
        let page = index.scroll(&view, &scope, repository(), 0).await.expect("scrolled");
        assert_eq!((found, found > 0), (files, !page.items.is_empty()));
        found
    };
    assert_eq!(count(view(2, &[]), everything()).await, 1);
    assert_eq!(count(view(2, &[]), Scope::only(Tenant::local(), [repository()])).await, 1);
    assert_eq!(count(view(1, &[]), everything()).await, 0);
    assert_eq!(count(view(2, &[1]), everything()).await, 0);
    assert_eq!(count(view(2, &[]), Scope::all(Tenant::new("other"))).await, 0);
    assert_eq!(count(view(2, &[]), Scope::only(Tenant::local(), [])).await, 0);
    let hidden = View { hidden_repositories: [repository()].into(), ..view(2, &[]) };
    assert_eq!(count(hidden, everything()).await, 0);
}

#[tokio::test]
async fn damage_is_an_error() {
    let (_, blobs) = index().await;
    let key = blobs.keys().remove(0);
    let sound = blobs.get(&key).await.expect("there");
    for position in 0..sound.len() {
        let mut damaged = sound.to_vec();
        damaged[position] ^= 0x20;
        blobs.replace(&key, Bytes::from(damaged));
        let fresh = NameIndex::new(Arc::<MemoryBlobs>::clone(&blobs));
        let error = fresh.symbols(&view(2, &[]), &everything(), "Store", &[NameMatch::Exact], 9).await;
        assert_eq!(error.expect_err("damaged").kind, ErrorKind::Corrupt, "byte {position}");
        assert!(fresh.verify(repository()).await.is_err(), "byte {position}");
    }
}

#[tokio::test]
async fn removed_repository_leaves_no_trace() {
    let (index, blobs) = index().await;
    index.remove_repository(&Tenant::local(), repository(), GenerationId(1)).await.expect("removed");
    assert_eq!(names(&index, &view(2, &[]), "Store", &[NameMatch::Exact]).await.len(), 1);
    index.remove_repository(&Tenant::local(), repository(), GenerationId(2)).await.expect("removed");
    assert_eq!(names(&index, &view(2, &[]), "Store", &[NameMatch::Exact]).await, []);
    assert_eq!(blobs.keys(), [""; 0]);
}

/// The paths that a generation rewrites, each with the lines of its symbols, and whether the generation is
/// published. A path without lines is removed.
type Generation = (BTreeMap<u8, Vec<u8>>, bool);

fn steps() -> impl Strategy<Value = Vec<(Generation, bool)>> {
    let paths = prop::collection::btree_map(0u8..6, prop::collection::vec(0u8..4, 0..4), 0..4);
    prop::collection::vec(((paths, prop::bool::weighted(0.8)), prop::bool::weighted(0.3)), 1..12)
}

async fn play(steps: &[(Generation, bool)]) {
    let blobs = Arc::new(MemoryBlobs::default());
    let index = NameIndex::new(Arc::<MemoryBlobs>::clone(&blobs));
    let mut now: BTreeMap<u8, BTreeSet<u8>> = BTreeMap::new();
    let mut published = BTreeSet::new();
    let mut alive: Vec<(View, BTreeMap<u8, BTreeSet<u8>>)> = Vec::new();
    for (number, ((paths, publish), sweep)) in (1u64..).zip(steps) {
        let at = |number: u8| format!("dir/{number}.rs");
        let mut staged = StagedNames::default();
        for (number, lines) in paths {
            staged.replaced.push(path(&at(*number)));
            let lines: BTreeSet<u8> = lines.iter().copied().collect();
            staged
                .symbols
                .extend(lines.iter().map(|line| symbol(&at(*number), u32::from(*line), &format!("name_{line}"))));
            if !lines.is_empty() {
                staged.files.push(path(&at(*number)));
            }
        }
        for _ in 0..2 {
            index.stage(&Tenant::local(), run(number), staged.clone()).await.expect("staged");
        }
        if *publish {
            published.insert(number);
            for (number, lines) in paths {
                now.insert(*number, lines.iter().copied().collect());
            }
        } else {
            assert_eq!(index.sweep_aborted(repository(), GenerationId(number)).await.expect("swept"), 0);
        }
        if *sweep {
            alive.clear();
            let published: Vec<GenerationId> = published.iter().copied().map(GenerationId).collect();
            index.sweep_retired(repository(), &published).await.expect("swept");
        } else if number % 2 == 0 {
            // Every second view is no longer in use.
            let mut is_used = false;
            alive.retain(|_| {
                is_used = !is_used;
                is_used
            });
            let published_now: Vec<GenerationId> = published.iter().copied().map(GenerationId).collect();
            let hidden: Vec<u64> = (1..=number).filter(|generation| !published.contains(generation)).collect();
            let views = alive.iter().map(|(view, _)| view.clone()).chain([view(number + 1, &hidden)]);
            index.sweep_unseen(repository(), &published_now, &views.collect::<Vec<View>>()).await.expect("swept");
        }
        let hidden: Vec<u64> = (1..=number).filter(|generation| !published.contains(generation)).collect();
        alive.push((view(number + 1, &hidden), now.clone()));
        for (view, expect) in &alive {
            let page = index.scroll(view, &everything(), repository(), 0).await.expect("scrolled");
            let found: BTreeSet<(String, u32)> =
                page.items.iter().map(|symbol| (symbol.path.to_string(), symbol.line)).collect();
            assert_eq!(found.len(), page.items.len(), "each symbol once");
            let lines = |(number, lines): (&u8, &BTreeSet<u8>)| -> Vec<(String, u32)> {
                lines.iter().map(|line| (at(*number), u32::from(*line))).collect()
            };
            assert_eq!(found, expect.iter().flat_map(lines).collect());
            let hits = index.symbols(view, &everything(), "name_2", &[NameMatch::Exact], 99).await.expect("looked up");
            let found: Vec<String> = hits.iter().map(|hit| hit.symbol.path.to_string()).collect();
            let with_line: Vec<String> =
                expect.iter().filter(|(_, lines)| lines.contains(&2)).map(|(number, _)| at(*number)).collect();
            assert_eq!(found, with_line);
            let files = index.files(view, &everything(), "dir/", FileMatch::Name, 99).await.expect("looked up");
            let files: Vec<String> = files.iter().map(|hit| hit.path.to_string()).collect();
            let with_symbols: Vec<String> =
                expect.iter().filter(|(_, lines)| !lines.is_empty()).map(|(number, _)| at(*number)).collect();
            assert_eq!(files, with_symbols);
        }
    }
    index.verify(repository()).await.expect("sound");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    #[test]
    fn every_view_sees_its_own_names(steps in steps()) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        runtime.block_on(play(&steps));
    }
}

#[tokio::test]
async fn layers_are_merged_after_sweeps() {
    let put = |number: u8, sweep| ((BTreeMap::from([(number % 3, vec![number % 4])]), true), sweep);
    let steps: Vec<(Generation, bool)> = (0..9).map(|number| put(number, number % 3 == 2)).collect();
    play(&steps).await;
}
