//! Finds the definitions of near names in the layers of one repository.

use std::cmp::Reverse;

use cairn_domain::{SymbolEntry, View};
use cairn_name_match::{NearName, OwnerScores, Reason, Reasons, WantedName, fold_words, near_names, score_name};
use cairn_ports::{MAX_DEFINITIONS, NameTier, ResolvedSymbol};

use crate::format::DamagedLayer;
use crate::layer::Layer;
use crate::names::RepositoryNames;

/// Maximum score of a near name. The same name in a different style has a higher score.
const MAX_SCORE: u32 = 940;
/// If the request contains an owner, each layer is searched for at least this number of near names, so that
/// the owners of these names can be compared with the requested owner.
const NAMES_WITH_OWNERS: usize = 40;
/// The rank is multiplied by this factor, in thousandths, if the first words of the requested name are
/// treated as its owner.
const JOINED_OWNER: u32 = 970;

impl RepositoryNames {
    /// The visible definitions of the names that are nearest to the requested name, in arbitrary order.
    pub(crate) fn near(
        &self,
        view: &View,
        wanted: &WantedName,
        limit: usize,
    ) -> Result<Vec<ResolvedSymbol>, DamagedLayer> {
        let mut hits = Vec::new();
        for layer in &self.layers {
            let (layer, table, index) = layer.near()?;
            let symbols_of = |name| table.symbols_of(name, layer.num_symbols());
            let mut damage = None;
            let is_visible = |name| {
                let visible = symbols_of(name).map(|number| layer.path_of(number)).find_map(|path| match path {
                    Ok(path) => self.sees(view, path).then_some(true),
                    Err(error) => {
                        damage = Some(error);
                        Some(false)
                    }
                });
                visible.unwrap_or(false)
            };
            let limit = if wanted.has_owners() { limit.max(NAMES_WITH_OWNERS) } else { limit };
            let names = near_names(wanted, table, index, limit, is_visible);
            if let Some(damage) = damage {
                return Err(damage);
            }
            for near in names {
                let numbers = symbols_of(near.name);
                hits.extend(self.definitions(view, layer, numbers, wanted, near)?);
            }
        }
        Ok(hits)
    }

    /// The visible definitions of a near name.
    fn definitions(
        &self,
        view: &View,
        layer: &Layer,
        numbers: std::ops::Range<u32>,
        wanted: &WantedName,
        near: NearName,
    ) -> Result<Vec<ResolvedSymbol>, DamagedLayer> {
        let mut hits = Vec::new();
        let mut owner_scores = OwnerScores::new(wanted);
        let mut joined: Option<Option<JoinedOwner>> = None;
        for number in numbers {
            let (symbol, path) = layer.symbol(number)?;
            if !self.sees(view, path) {
                continue;
            }
            let mut best = matched(wanted, near, owner_scores.best(owners(&symbol)));
            let joined = joined.get_or_insert_with(|| JoinedOwner::of(wanted, near, &symbol.name));
            if let Some(matched) = joined.as_ref().and_then(|joined| joined.matched(&symbol)) {
                best = if matched.rank > best.rank { matched } else { best };
            }
            let Matched { score, rank, reasons } = best;
            let (repository, tier) = (layer.repository(), NameTier::Near);
            hits.push(ResolvedSymbol { repository, symbol, tier, score, rank, reasons });
            if hits.len() == MAX_DEFINITIONS {
                break;
            }
        }
        Ok(hits)
    }
}

/// How a definition matches a requested name.
struct Matched {
    score: u32,
    rank: u32,
    reasons: Reasons,
}

/// Combines the nearness of the name with the nearness of its owner. The name has four times the weight of
/// the owner, because a caller often remembers the name but not the owner.
fn matched(wanted: &WantedName, near: NearName, owner: u32) -> Matched {
    if !wanted.has_owners() {
        return Matched { score: near.score, rank: near.rank, reasons: near.reasons };
    }
    let of_name = if near.reasons == Reasons::NONE { 1_000 } else { near.score };
    let score = ((4 * of_name + owner) / 5).min(MAX_SCORE);
    let reasons = if owner < 1_000 { near.reasons.with(Reason::OtherOwner) } else { near.reasons };
    Matched { score, rank: near.rank * 5 / 6 + owner, reasons }
}

/// A requested name whose first words may be the owner: `server_run` for `Server.run`.
struct JoinedOwner {
    wanted: WantedName,
    near: NearName,
}

impl JoinedOwner {
    /// `None` if the name contains all requested words, because then none of them can be the owner.
    fn of(wanted: &WantedName, near: NearName, name: &str) -> Option<Self> {
        if !near.reasons.contains(Reason::MissingWords) {
            return None;
        }
        let mut num_words = 0;
        fold_words(name, |_| num_words += 1);
        let wanted = wanted.with_joined_owner(num_words)?;
        let near = score_name(&wanted, name)?;
        Some(Self { wanted, near })
    }

    fn matched(&self, symbol: &SymbolEntry) -> Option<Matched> {
        if !owners(symbol).any(|owner| self.wanted.has_owner(owner)) {
            return None;
        }
        let Matched { score, rank, reasons } = matched(&self.wanted, self.near, 1_000);
        Some(Matched { score, rank: rank * JOINED_OWNER / 1_000, reasons: reasons.with(Reason::JoinedWords) })
    }
}

/// The names that a caller may write before the name of a symbol.
fn owners(symbol: &SymbolEntry) -> impl Iterator<Item = &str> {
    let in_name = symbol.qualified_name.rsplit(['.', ':', '#', '/']).skip(1);
    let in_module = symbol.module_path.rsplit(['.', ':', '/']).take(2);
    in_name.chain([symbol.path.stem()]).chain(in_module).filter(|owner| !owner.is_empty())
}

/// Sorts the hits and keeps the definitions of the nearest names.
pub(crate) fn keep_nearest(hits: &mut Vec<ResolvedSymbol>, limit: usize) {
    let name = |hit: &ResolvedSymbol| (Reverse(hit.rank), cairn_name_match::folded(&hit.symbol.name));
    hits.sort_by_cached_key(|hit| {
        let symbol = &hit.symbol;
        (name(hit), hit.repository, symbol.path.clone(), symbol.line, symbol.node)
    });
    hits.dedup_by(|left, right| left.repository == right.repository && left.symbol == right.symbol);
    let (mut num_names, mut num_definitions) = (0, 0);
    let mut last = None;
    hits.retain(|hit| {
        let name = name(hit);
        if last.as_ref() == Some(&name) {
            num_definitions += 1;
        } else {
            (num_names, num_definitions, last) = (num_names + 1, 1, Some(name));
        }
        num_names <= limit && num_definitions <= MAX_DEFINITIONS
    });
}
