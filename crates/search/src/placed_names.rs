//! Resolves names whose first parts name the place of the definition: its package, namespace, module, file or
//! repository. `base.Broker` is the type `Broker` in the package `internal/base`.
//!
//! If the last of these parts is not the nearest place, the definition may have a different qualified name,
//! as in `sympy.Symbol`, which is `sympy.core.symbol.Symbol`. Then the answer states the difference.

use cairn_domain::{RepoPath, Scope, SymbolEntry, View};
use cairn_name_match::{Reason, Reasons, plain_name};
use cairn_ports::{NameMatch, NameTier, ResolvedSymbol, SymbolHit};
use cairn_ranking::fold_style;

use crate::repositories::{KnownRepository, name_of};
use crate::{QueryError, Searcher};

/// Maximum number of symbols with the last part of the name that are read.
const MAX_SYMBOLS: usize = 5_000;
/// Scores of definitions in the nearest place and in other places, in thousandths.
const SCORE: u32 = 1_000;
const SCORE_OF_OTHER_PLACE: u32 = 900;
/// Shorter parts are not compared with the name of a repository.
const MIN_LENGTH: usize = 3;
/// The directories of the root package of a repository.
const ROOTS: [&str; 4] = ["", "lib", "pkg", "src"];

impl Searcher {
    /// The definitions whose qualified name is the end of the requested name, and whose place has the other
    /// parts of the requested name. If no definition is in the nearest place: the definitions further below.
    pub(crate) async fn definitions_by_place(
        &self,
        view: &View,
        (scope, selected): (&Scope, &[KnownRepository]),
        name: &str,
    ) -> Result<Vec<ResolvedSymbol>, QueryError> {
        // The path of a Go package comes before the name: `example.com/shop/base.Broker`.
        let name = plain_name(name.rsplit('/').next().unwrap_or(name));
        let parts: Vec<&str> = name.split('.').collect();
        let [_, .., last] = parts.as_slice() else { return Ok(Vec::new()) };
        if parts.iter().any(|part| fold_style(part).is_empty()) {
            return Ok(Vec::new());
        }
        let hits = self.names.symbols(view, scope, last, &[NameMatch::Exact], MAX_SYMBOLS).await?;
        let nearness = |hit: &SymbolHit| {
            let repository = name_of(selected, hit.repository);
            place_in(&parts, &hit.symbol).and_then(|place| nearness(place, &hit.symbol, &repository))
        };
        let meant: Vec<(Nearness, SymbolHit)> =
            hits.into_iter().filter_map(|hit| Some((nearness(&hit)?, hit))).collect();
        let Some(nearest) = meant.iter().map(|(nearness, _)| *nearness).min() else { return Ok(Vec::new()) };
        let (tier, score, reasons) = match nearest {
            Nearness::Nearest => (NameTier::Exact, SCORE, Reasons::NONE),
            Nearness::Below => (NameTier::Near, SCORE_OF_OTHER_PLACE, Reasons::from(Reason::OtherPlace)),
        };
        let meant = meant.into_iter().filter(|(nearness, _)| *nearness == nearest);
        let resolved = meant.map(|(_, SymbolHit { repository, symbol, .. })| ResolvedSymbol {
            repository,
            symbol,
            tier,
            score,
            rank: 0,
            reasons,
        });
        Ok(resolved.collect())
    }
}

/// How near a definition is to the place that a requested name states.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Nearness {
    /// The place is the file, its directory, its module, or a repository that contains the file in its root
    /// package.
    Nearest,
    /// The place is a directory, a module or a repository further above.
    Below,
}

/// The parts of a requested name before the qualified name of the symbol. `None` if the requested name does
/// not end with the qualified name, or has no other parts.
fn place_in<'a>(parts: &'a [&'a str], symbol: &SymbolEntry) -> Option<&'a [&'a str]> {
    let num_own = symbol.qualified_name.split('.').count();
    let (place, own) = parts.split_at_checked(parts.len().checked_sub(num_own)?)?;
    (!place.is_empty() && symbol.qualified_name.split('.').eq(own.iter().copied())).then_some(place)
}

/// How near the symbol is to the place. `None` if the symbol is not in the place. A symbol is in the place if
/// each part of the place is one of these names: the repository, the file without its extension, a directory
/// above the file, a part of the module. The style of the names is ignored. The last part may only be the
/// name of the repository if there are no other parts, because the root package often has this name.
fn nearness(place: &[&str], symbol: &SymbolEntry, repository: &str) -> Option<Nearness> {
    let of_path = names_of_path(&symbol.path, &symbol.module_path);
    let is_repository = |part: &str| {
        let names = repository.split(['/', '-', '_', '.']).map(fold_style);
        let whole = fold_style(repository.rsplit('/').next().unwrap_or(repository));
        part.len() >= MIN_LENGTH && names.chain([whole]).any(|name| name == part)
    };
    let has = |part: &&str| {
        let part = fold_style(part);
        of_path.contains(&part) || is_repository(&part)
    };
    let last = fold_style(place.last()?);
    if !place.iter().all(has) || place.len() > 1 && !of_path.contains(&last) {
        return None;
    }
    let directory = symbol.path.directory().rsplit('/').next().unwrap_or_default();
    let module = symbol.module_path.rsplit(['.', '/', ':']).next().unwrap_or_default();
    let is_place = [symbol.path.stem(), directory, module].iter().any(|name| fold_style(name) == last);
    let is_in_root = is_repository(&last) && ROOTS.contains(&symbol.path.directory());
    Some(if is_place || is_in_root { Nearness::Nearest } else { Nearness::Below })
}

fn names_of_path(path: &RepoPath, module_path: &str) -> Vec<String> {
    let directories = path.directory().split('/');
    let names = directories.chain([path.stem()]).chain(module_path.split(['.', '/', ':']));
    names.map(fold_style).filter(|name| !name.is_empty()).collect()
}

#[cfg(test)]
mod tests {
    use cairn_domain::{RepositoryId, RepositoryName, Tenant};

    use super::*;
    use crate::test_symbols::symbol_in;

    fn check(requested: &str, (path, qualified_name): (&str, &str), repository: &str, expect: Option<Nearness>) {
        let id = RepositoryId::derive(&Tenant::local(), &RepositoryName::new(repository));
        let symbol = symbol_in(id, path, qualified_name);
        let parts: Vec<&str> = requested.split('.').collect();
        let found = place_in(&parts, &symbol).and_then(|place| nearness(place, &symbol, repository));
        assert_eq!(found, expect, "{requested} {}", symbol.path);
    }

    #[test]
    fn first_parts_may_name_the_place() {
        let (nearest, below) = (Some(Nearness::Nearest), Some(Nearness::Below));
        let broker = ("internal/base/base.go", "Broker");
        check("base.Broker", broker, "queue", nearest);
        check("internal.base.Broker", broker, "queue", nearest);
        check("queue.Broker", broker, "acme/go-queue", below);
        check("rdb.Broker", broker, "queue", None);
        check("base.Brokers", broker, "queue", None);
        check("Broker", broker, "queue", None);
        check("base.Broker.Enqueue", ("internal/base/base.go", "Broker.Enqueue"), "queue", nearest);
        check("base.Enqueue", ("internal/base/base.go", "Broker.Enqueue"), "queue", None);
        check("sympy.Symbol", ("sympy/core/symbol.py", "Symbol"), "sympy", below);
        check("user.Load", ("billing/load.go", "Load"), "acme/user-service", below);
        check("user.Load", ("load.go", "Load"), "acme/user-service", nearest);
        // The root package has the name of the repository.
        check("EasyRdf.Graph", ("lib/Graph.php", "Graph"), "php-easyrdf", nearest);
        check("EasyRdf.Serialiser.Turtle", ("lib/Serialiser/Turtle.php", "Turtle"), "php-easyrdf", nearest);
        check("EasyRdf.Parser.Turtle", ("lib/Serialiser/Turtle.php", "Turtle"), "php-easyrdf", None);
    }
}
