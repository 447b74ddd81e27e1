//! Checks of the resolution of names.

use anyhow::{Result, ensure};
use cairn_domain::SymbolEntry;
use cairn_ports::{LearnedAbbreviation, NameTier, Names, ResolvedSymbol, StagedNames};

use crate::case::view;
use crate::names::fixture::{Index, path};
use crate::suite::expect_eq;

async fn stage_named(index: &Index<'_>, names: &[&str]) -> Result<()> {
    let symbol = |(line, name): (u32, &&str)| index.symbol(name, "a", line);
    let symbols: Vec<SymbolEntry> = (1..).zip(names).map(symbol).collect();
    index.stage(1, StagedNames { symbols, files: vec![path("a")], ..StagedNames::default() }).await
}

async fn resolve(index: &Index<'_>, name: &str, limit: usize) -> Result<Vec<ResolvedSymbol>> {
    Ok(index.store.resolve(&view(2, &[]), &index.case.scope(), name, &[], limit).await?)
}

fn names(hits: &[ResolvedSymbol]) -> Vec<&str> {
    hits.iter().map(|hit| hit.symbol.qualified_name.as_str()).collect()
}

pub(super) async fn names_are_resolved_in_tiers(store: &dyn Names) -> Result<()> {
    let index = Index::new(store, "tiers");
    stage_named(&index, &["getUser", "GETUSER", "get_user", "openFile", "open_file", "Server.start", "log::info"])
        .await?;
    let cases: [(&str, NameTier, &[&str]); 9] = [
        ("getUser", NameTier::Exact, &["getUser"]),
        ("getuser", NameTier::Case, &["getUser", "GETUSER"]),
        ("Get-User", NameTier::Style, &["getUser", "GETUSER", "get_user"]),
        ("get user", NameTier::Style, &["getUser", "GETUSER", "get_user"]),
        ("Server.start", NameTier::Exact, &["Server.start"]),
        ("server::start()", NameTier::Case, &["Server.start"]),
        ("start", NameTier::Exact, &["Server.start"]),
        ("OpenFile", NameTier::Case, &["openFile"]),
        ("log::info", NameTier::Exact, &["log::info"]),
    ];
    for (name, tier, expected) in cases {
        let hits = resolve(&index, name, 9).await?;
        ensure!(names(&hits) == expected, "`{name}` was resolved to {:?}, expected {expected:?}", names(&hits));
        ensure!(hits.iter().all(|hit| hit.tier == tier), "`{name}` was not resolved in the tier {tier:?}");
        ensure!(
            hits.iter().all(|hit| (hit.score == 1_000) == (tier == NameTier::Exact)),
            "only exact matches of `{name}` may have a score of 1000"
        );
    }
    for name in ["", "  ", "__", "xyzzyPlugh"] {
        expect_eq!(resolve(&index, name, 9).await?, []);
    }
    Ok(())
}

pub(super) async fn learned_abbreviations_are_near(store: &dyn Names) -> Result<()> {
    let index = Index::new(store, "learned");
    stage_named(&index, &["openZorblatt", "closeQuorum"]).await?;
    let learned = |word: &str, other: &str| LearnedAbbreviation { word: word.to_owned(), other: other.to_owned() };
    let cases = [
        ("open_zx", learned("zx", "zorblatt"), Some("openZorblatt")),
        ("close_qm_now", learned("qm", "quorum"), Some("closeQuorum")),
        ("read_zx", learned("qm", "quorum"), None),
    ];
    for (name, learned, expected) in cases {
        let hits = index.store.resolve(&view(2, &[]), &index.case.scope(), name, &[learned], 1).await?;
        let near = hits.first().filter(|hit| hit.score >= 700).map(|hit| hit.symbol.name.as_str());
        ensure!(near == expected, "`{name}` was resolved to {near:?}, expected {expected:?}");
    }
    Ok(())
}

pub(super) async fn near_names_are_resolved_last(store: &dyn Names) -> Result<()> {
    let index = Index::new(store, "near");
    let all = [
        "parseConfigFile",
        "read_user_entry",
        "HttpServer",
        "closeConnection",
        "tokenCount",
        "token_counter",
        "render",
        "abstract_syntax_tree",
        "loadInvoice",
    ];
    stage_named(&index, &all).await?;
    let cases = [
        ("parseConfgFile", "parseConfigFile"),
        ("parse_file_config", "parseConfigFile"),
        ("parseCfgFile", "parseConfigFile"),
        ("parse the config files", "parseConfigFile"),
        ("clsoe conection", "closeConnection"),
        ("read_user_entries", "read_user_entry"),
        ("readUserEntryImpl", "read_user_entry"),
        ("fetchUserEntry", "read_user_entry"),
        ("HtpServer", "HttpServer"),
        ("HttpServerBase", "HttpServer"),
        ("tokenCounr", "tokenCount"),
        ("rendr", "render"),
        ("getInvoice", "loadInvoice"),
        ("ast", "abstract_syntax_tree"),
    ];
    for (name, expected) in cases {
        let hits = resolve(&index, name, 9).await?;
        ensure!(
            names(&hits).first() == Some(&expected),
            "`{name}` was resolved to {:?}, expected `{expected}`",
            names(&hits)
        );
        for hit in &hits {
            ensure!(hit.tier == NameTier::Near && (1..1_000).contains(&hit.score), "`{name}`: {hit:?}");
            ensure!(
                !hit.reasons.to_string().is_empty(),
                "`{name}` was resolved to `{}` without a reason",
                hit.symbol.name
            );
        }
        ensure!(
            hits.is_sorted_by_key(|hit| std::cmp::Reverse(hit.rank)),
            "the ranks of the names for `{name}` do not decrease"
        );
    }
    let several = resolve(&index, "tokenCoun", 9).await?;
    expect_eq!(names(&several)[..2], ["tokenCount", "token_counter"]);
    Ok(())
}

pub(super) async fn near_names_are_limited_and_visible(store: &dyn Names) -> Result<()> {
    let index = Index::new(store, "near-limit");
    let symbols: Vec<SymbolEntry> = (0..30_u32)
        .map(|number| index.symbol(&format!("parseEntry{number}"), "a", number))
        .chain([("b", 4), ("a", 90), ("b", 1)].map(|(file, line)| index.symbol("parseEntries", file, line)))
        .collect();
    index.stage(1, StagedNames { symbols, files: vec![path("a"), path("b")], ..StagedNames::default() }).await?;
    for limit in [0, 1, 2, 5] {
        let hits = resolve(&index, "parsEntries", limit).await?;
        let mut found = names(&hits);
        found.dedup();
        expect_eq!(found.len(), limit);
        if limit > 0 {
            let places: Vec<_> = hits[..3].iter().map(|hit| (hit.symbol.path.clone(), hit.symbol.line)).collect();
            expect_eq!(places, [(path("a"), 90), (path("b"), 1), (path("b"), 4)]);
        }
    }
    // The next generation removes the nearest name.
    let replaced = vec![path("a"), path("b")];
    let symbols = vec![index.symbol("parse_one_entry", "a", 1)];
    index.stage(2, StagedNames { replaced, symbols, files: vec![path("a")] }).await?;
    let look = async |next: u64, hidden: &[u64]| {
        store.resolve(&view(next, hidden), &index.case.scope(), "parsEntries", &[], 1).await
    };
    expect_eq!(names(&look(3, &[]).await?), ["parse_one_entry"]);
    expect_eq!(names(&look(2, &[]).await?), ["parseEntries"; 3]);
    expect_eq!(look(3, &[1, 2]).await?, []);
    expect_eq!(store.resolve(&view(2, &[]), &index.case.scope_of(&["q"]), "parsEntries", &[], 1).await?, []);
    Ok(())
}

pub(super) async fn near_owners_are_preferred(store: &dyn Names) -> Result<()> {
    let index = Index::new(store, "near-owners");
    stage_named(&index, &["Client.start", "HttpServer.start", "HttpServer.restart", "Parser.start"]).await?;
    let cases = [
        ("HtpServer.start", "HttpServer.start"),
        ("Server.start", "HttpServer.start"),
        ("Cleint.start", "Client.start"),
        // A request may consist of the owner and the name in one word.
        ("parser_start", "Parser.start"),
        ("clientStarts", "Client.start"),
    ];
    for (name, expected) in cases {
        let hits = resolve(&index, name, 9).await?;
        ensure!(
            names(&hits).first() == Some(&expected),
            "`{name}` was resolved to {:?}, expected `{expected}`",
            names(&hits)
        );
        ensure!(hits.iter().all(|hit| hit.tier == NameTier::Near), "`{name}`: {hits:?}");
    }
    Ok(())
}
