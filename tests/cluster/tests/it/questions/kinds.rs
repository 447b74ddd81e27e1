//! Questions as command lines: a table of kinds. Each kind is drawn several times with different names.
//!
//! A word in braces is a placeholder for a property of a drawn definition (see `drawn`). Words between quotes
//! are one argument.

use std::collections::BTreeSet;

use anyhow::Result;

use super::Round;
use super::drawn::Drawn;

/// The result that is expected of the questions of one kind.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Expect {
    /// At least one question of the kind must have results.
    Found,
    /// The questions may have results or not.
    Either,
    /// No question of the kind may have results.
    Nothing,
    /// Each question must be refused.
    Refused,
}

/// A question as the arguments of a command line.
pub(super) struct CommandLine {
    pub(super) kind: &'static str,
    pub(super) expect: Expect,
    pub(super) arguments: Vec<String>,
}

/// All questions of a round, of all kinds.
pub(super) fn questions(round: &Round) -> Result<Vec<CommandLine>> {
    let mut drawn = Drawn::of(&round.repositories, round.seed)?;
    let (mut questions, mut asked) = (Vec::new(), BTreeSet::new());
    for (expect, kinds) in
        [(Expect::Found, FOUND), (Expect::Either, EITHER), (Expect::Nothing, NOTHING), (Expect::Refused, REFUSED)]
    {
        for kind in kinds {
            for _ in 0..round.draws {
                let mut values = drawn.values()?;
                values.extend([("{gone}", round.gone.to_owned()), ("{long}", "x".repeat(5_000))]);
                let arguments = words(kind, &values);
                if asked.insert(arguments.clone()) {
                    questions.push(CommandLine { kind, expect, arguments });
                }
            }
        }
    }
    Ok(questions)
}

/// The arguments of a kind, with values in place of the placeholders.
fn words(kind: &str, values: &[(&str, String)]) -> Vec<String> {
    let parts = kind.split('\'').enumerate();
    let words = parts.flat_map(|(number, part)| match number % 2 {
        0 => part.split_whitespace().collect(),
        _ => vec![part],
    });
    let filled = |word: &str| values.iter().fold(word.to_owned(), |word, (name, value)| word.replace(name, value));
    words.map(filled).collect()
}

const FOUND: &[&str] = &[
    // Searches by words, names, paths, and whole questions.
    "search '{words}'",
    "search {symbol}",
    "search {symbol}()",
    "search '`{symbol}`'",
    "search '\"{words}\"'",
    "search {typo}",
    "search {camel}",
    "search {module}.{symbol}",
    "search {folder}::{symbol}",
    "search {path}",
    "search {file}",
    "search '{words} {other}'",
    "search 'what calls {symbol}'",
    "search 'how do {words} importers work'",
    "search 'where is {words} used in {language}'",
    "search 'data flow from {symbol} to {other}'",
    "search 'who imports {module}'",
    "search 'who imports the {folder} directory'",
    "search 'what imports the warehouse package'",
    "search 'who imports @warehouse/client'",
    "search 'what imports {path}'",
    "search 'what does {path} import'",
    "search 'what calls the {words} function'",
    "search 'does {called} call {other}'",
    "search 'what overrides {symbol}'",
    "search 'where is {symbol} defined'",
    "search 'find \"{symbol}\"'",
    "search 'path from {path} to {file}'",
    "search 'functions in {file}'",
    "search 'größe {words} 検索'",
    "search 'the of and'",
    // Searches for definitions.
    "search {symbol} --target-type symbol",
    "search {typo} --target-type symbol --explain",
    "search {camel} --target-type symbol -n 3",
    "search {symbol} --type symbol",
    "search {symbol} --context-path {path}",
    "search {symbol} --target-type symbol --context-path {folder}/none.py",
    "search {path}#{symbol}",
    "search {file}#{camel}",
    "search 'what calls shop/orders.py#charge_card'",
    "search '{words} {other}' --context-path {path}",
    // Searches with one filter.
    "search '{words}' --language {language}",
    "search '{words}' --language PYTHON --language go",
    "search '{words}' --path {path}",
    "search '{words}' --path {folder}/**",
    "search '{words}' --path *.{extension} --path **/*.md",
    "search '{words}' --path {folder}/*.{{extension},none}",
    "search '{words}' --module {module}",
    "search '{words}' --module app --module lib.net",
    "search '{words}' --kind function",
    "search 'open or close of {words}' --kind method",
    "search 'an importer of {words}' --kind class",
    "search '{words}' --kind group",
    "search 'rules of shipping {words}' --kind summary",
    "search 'what changed in {words}' --kind section",
    "search 'dependencies of {words}' --kind config",
    "search 'delivery of {words}' --kind text",
    "search 'entry points of {words}' --kind navigation",
    "search 'importer {words}' --kind pattern",
    "search '{words}' --kind function --kind class",
    "search '{words}' --tests only",
    "search '{words}' --tests exclude",
    "search '{words}' --tests include",
    "search 'cents of {words}' --tag money",
    "search 'cents of {words}' --tag money --tag snakes",
    "search '{words}' --since 2023-11-14",
    "search '{words}' --since 2024-01-01",
    "search '{words}' --since 7d",
    "search '{words}' --since 36h",
    "search '{words}' --since 2w",
    "search '{words}' --repo {repo}",
    "search '{words}' --repo f*",
    "search '{words}' --repo fork-[0-3] --repo {repo}",
    "search '{words}' --repo all",
    "search '{words}' --limit 1",
    "search '{words}' -n 3",
    "search '{words}' -n 100",
    "search '{words}' --max-tokens 100",
    "search '{words}' --max-tokens 700",
    "search '{words}' --max-tokens 200000 -n 50",
    "search '{words}' --explain",
    "search {symbol} --explain -n 20",
    "search {path} --explain -n 2",
    // Searches for names, and with a type that the caller chooses.
    "search {symbol} --type symbol",
    "search {file} --type filename",
    "search {path} --type file",
    "search {symbol} --query-type concept --explain",
    "search '{words}' --query-type flow",
    "search '{words}' --query-type pattern --repo f*",
    "search {called} --query-type relationship",
    "search {symbol} --query-type symbol --repo {repo}",
    "search '{words}' --tag indexed --tag .{extension}",
    // Searches with several filters.
    "search {symbol} --repo {repo} --path {folder}/** --explain",
    "search {symbol} --repo f* -n 4 --explain --max-tokens 900",
    "search {symbol} --language {language} --tests exclude --since 30d",
    "search '{words}' --language {language} --module {module} --tests include -n 5",
    "search 'orders that are placed' --repo *shop --language python --tests only --since 2023-11-14",
    "search 'what costs {words}' --repo *shop --tag money --kind function --kind group --explain",
    // Searches for languages and documents that only the fixtures of the parsers contain.
    "search 'order service {words}' --language java --language kotlin --language csharp --language php",
    "search 'ring of {words}' --language c --language cpp --language zig",
    "search 'accounts {words}' --language elixir --language lua --language ruby",
    "search 'catalogue {words}' --language swift --language scala --language haskell",
    "search 'deploy {words}' --language bash --language dockerfile --language yaml",
    "search 'table of {words}' --language sql --language toml --language json",
    // Exact searches.
    "grep {symbol}",
    "grep -F {symbol}( --repo all",
    "grep -w {symbol} -n 3",
    "grep -i {symbol} -C 2 --repo all",
    "grep 'def|fn|func' --repo {repo} -n 7",
    "grep '^(import|from|use) ' --repo all -n 100 --max-tokens 900",
    "grep '[a-z]+_[a-z]+' --language {language} --repo all -n 2",
    "grep 'return .*' --path {folder}/** --tests exclude",
    "grep -U 'def [a-z_]+[^:]*:\\s+return' --repo all -A 1",
    "grep -U '(?s)class .*?def' --repo *shop -n 5",
    "grep . --repo {repo} --path {path} -n 1000 --max-tokens 200000",
    "grep 'REDACTED' --repo all",
    // Questions about edges.
    "graph callers {called}",
    "graph callers {called} --repo shop",
    "graph callers {called} --repo *shop -n 1",
    "graph callers chargeCard",
    "graph callers reserve_stock",
    "graph callers {called} --context-path {path}",
    "graph callees charge_card",
    "graph callees OrderService.place_order -n 3",
    "graph callees run_shop --repo shop",
    "graph deps shop/main.py",
    "graph deps shop/main.py --repo shop -n 2",
    "graph deps web/src/cart.ts",
    "graph dependents {called}",
    "graph dependents StockKeeper",
    "graph dependents shop/orders.py --repo shop",
    "graph inherits OrderService --repo shop",
    "graph inherits ExpressOrderService -n 1",
    "graph inherits baseservice",
    "graph sample --class exact --seed {number}",
    "graph sample --class import --seed {number} -n 7",
    "graph sample --class heuristic --seed {number} --repo f*",
    "graph sample --class ambiguous --seed {number} -n 50",
    "graph sample --class exact --kind calls --kind extends --seed {number}",
    "graph sample --class exact --kind Describes --kind mentions --kind ENTRY_POINT --seed {number}",
    "graph sample --class import --kind imports --kind references --repo shop --repo warehouse --seed {number}",
    // Questions about files.
    "show {repo} {path}",
    "show {repo} {path}:{line}",
    "show {repo} {path}:{line}-{last}",
    "show {repo} {path}:{line}-99999",
    "show shop shop/settings.py",
    "show {symbol} --context-path {path}",
    "show {camel}",
    "show {typo}",
    "show {path}#{symbol}",
    "show {repo} {file}#{typo}",
    "show languages documents/analysis.ipynb",
    // Questions about patterns, the inventory, and things that do not exist.
    "patterns",
    "patterns importer",
    "patterns Importer --repo fork-[3-5]",
    "patterns --repo fork-?",
    "modules --repo {repo}",
    "modules --repo shop --depth 1",
    "modules shop --repo shop --depth 20",
    "guide",
    "guide recovering",
    "guide quick_reference",
    "coverage {repo}",
    "coverage {repo} --summary",
    "coverage {repo} --why {path}",
    "coverage {repo} --why ./{path}",
    "coverage shop",
    "coverage shop --why .env",
    "coverage shop --why generated/api.py",
    "coverage shop --why node_modules/left/index.js",
    "coverage shop --why assets/logo.png",
    "coverage shop --why assets/large.txt",
    "coverage shop --why assets/legacy.txt",
    "coverage shop --why shop/link.py",
    "coverage shop --why old/orders.py",
    "coverage languages",
    "secrets shop",
    "secrets fork-of-shop",
    "repos",
    "status",
    "stats",
    "runs --limit 500",
    "runs --repo {repo}",
    "runs --repo {repo} --limit 1",
    "fingerprint",
    "fingerprint --repo {repo}",
    "fingerprint --repo fork-*",
];

/// Questions with names from generated code. Few of these names have callers.
const EITHER: &[&str] = &[
    "search {long}",
    "grep '\\bself\\b' --tests only --repo all",
    "grep -i {camel} --repo f*",
    "graph callers {symbol}",
    "graph callers {symbol}zz",
    "graph callees {path}#{symbol}",
    "graph dependents {typo}",
    "search 'callers of {path}#{symbol}'",
    "search app.{typo} --target-type symbol",
    "show app.{typo}",
    "graph callers {symbol} --repo {repo}",
    "graph callees {symbol}",
    "graph deps {path}",
    "graph deps {symbol}",
    "graph deps no/such/{file}",
    "graph dependents {symbol}",
    "graph dependents {path} --repo f*",
    "graph inherits {symbol} --repo {repo} --repo fork-*",
    "graph inherits AwsImporter",
    "patterns Importer --repo {repo}",
    "secrets {repo}",
];

const NOTHING: &[&str] = &[
    "search '{words}' --language cobol",
    "search '{words}' --path nowhere/**",
    "search '{words}' --path {folder}/**/*.none",
    "search '{words}' --module no.such.module",
    "search '{words}' --tag absent",
    "search '{words}' --tag money --tag absent --repo shop",
    "search '{words}' --since 2199-01-01",
    "search '{words}' --kind summary --language markdown",
    "search '{words}' --repo warehouse --tests only --explain",
    "search {symbol} --repo warehouse --language java --kind method",
    "grep zz{number}zz_never --repo all",
    "grep -F '{symbol}' --path nowhere/**",
    "grep {symbol} --language cobol",
    "graph callers shop/settings.py",
    "graph sample --class ambiguous --kind contains",
    "patterns nobodysPattern",
    "patterns importer --repo warehouse",
    "secrets warehouse",
];

const REFUSED: &[&str] = &[
    "search ''",
    "search '   '",
    "search '{words}' -n 0",
    "search '{words}' -n 101",
    "search '{words}' -n many",
    "search '{words}' --max-tokens 0",
    "search '{words}' --path [",
    "search '{words}' --path {{{{{{{{{{a}}}}}}}}}}",
    "search '{words}' --language {long}",
    "search '{words}' --kind widget",
    "search '{words}' --type widget",
    "search '{words}' --type flow",
    "search '{words}' --tests sometimes",
    "search '{words}' --since yesterday",
    "search '{words}' --since 2026-02-30",
    "search '{words}' --repo {gone}",
    "search '{words}' --repo {repo} --repo nothing-*",
    "search '{words}' --cursor forged",
    "grep ''",
    "grep 'a(b'",
    "grep 'a\\nb'",
    "grep {long}",
    "grep x -n 0",
    "grep x -n 1001",
    "grep x -C 21",
    "grep x --repo {gone}",
    "grep x --cursor forged",
    "grep '(\\w{1000}){1000}'",
    "graph callers no_such_{number}",
    "graph callees {symbol} --repo {gone}",
    "graph inherits {symbol} -n 0",
    "graph sample --class certain",
    "graph sample --class exact --kind fly",
    "graph sample --class exact -n 0",
    "graph sample --class exact --repo {gone}",
    "show {gone} {path}",
    "show {repo} no/such/{file}",
    "show {repo} {path}.bak",
    "show {repo} {path}:99999",
    "show {repo} {path}:9-3",
    "show {repo} {path}:0",
    "show fork-* {path}",
    "show shop .env",
    "patterns --repo {gone}",
    "modules no.such.module --repo shop",
    "modules --repo {gone}",
    "guide {symbol}",
    "coverage",
    "coverage {gone}",
    "coverage fork-* --summary",
    "coverage {repo} --why no/such/{file}",
    "secrets",
    "secrets {gone}",
    "runs --repo {gone}",
    "runs --limit 0",
    "runs show r000000000000",
    "runs show r000000000000 --repo {repo}",
    "fingerprint --repo {gone}",
    "fingerprint --repo {gone} --repo {repo}",
];
