//! Looks up symbols in the layers of one repository.

use std::sync::{Arc, OnceLock};

use cairn_domain::{ChunkKey, GenerationId, SymbolEntry, View};
use cairn_name_match::plain_name;
use cairn_ports::{NameMatch, SymbolHit, SymbolNode};
use cairn_ranking::{MAX_EDIT_DISTANCE, MIN_FUZZY_PERCENT, are_near, fold_style, similarity_percent};
use fst::automaton::{Levenshtein, Str};
use fst::{Automaton, IntoStreamer, Streamer};

use crate::format::{DamagedLayer, PathEntry};
use crate::layer::Layer;

/// For a longer folded name, no automaton is built; the folded name is compared with each name instead.
/// Building the automaton of a long name would take longer than these comparisons, and few requested names
/// are so long.
const MAX_AUTOMATON_CHARACTERS: usize = 12;
/// The maximum score of a similar name. This maximum is below the score of the same name in a different
/// style.
const MAX_FUZZY_PERCENT: u32 = 94;

/// The layers of a repository, except replaced layers.
#[derive(Clone, Default)]
pub(crate) struct RepositoryNames {
    pub(crate) layers: Vec<Arc<Layer>>,
}

impl RepositoryNames {
    /// Whether the names that a layer contains for a path are visible in the view.
    pub(crate) fn sees(&self, view: &View, entry: &PathEntry) -> bool {
        let ends = |generation: GenerationId| generation.0 > entry.generation && view.published(generation);
        view.published(GenerationId(entry.generation))
            && !self.layers.iter().any(|layer| layer.ends_of(&entry.path).any(ends))
    }

    /// The visible symbols that match in one of the requested ways, each with its best match, in arbitrary
    /// order.
    pub(crate) fn symbols(&self, view: &View, requested: &RequestedName) -> Result<Vec<SymbolHit>, DamagedLayer> {
        let mut hits = Vec::new();
        if requested.last.is_empty() {
            return Ok(hits);
        }
        for layer in &self.layers {
            for number in candidates(layer, requested) {
                let (symbol, path) = layer.symbol(number)?;
                let Some((matched, score)) = requested.best_match(&symbol.name, &symbol.qualified_name) else {
                    continue;
                };
                if self.sees(view, path) {
                    hits.push(SymbolHit { repository: layer.repository(), symbol, matched, score });
                }
            }
        }
        Ok(hits)
    }

    /// The visible symbol of each node, in the order of the nodes. Nodes without a visible symbol are
    /// omitted.
    pub(crate) fn symbols_of(&self, view: &View, nodes: &[SymbolNode]) -> Result<Vec<SymbolEntry>, DamagedLayer> {
        let mut symbols = Vec::with_capacity(nodes.len());
        for node in nodes {
            symbols.extend(self.symbol_of(view, node)?);
        }
        Ok(symbols)
    }

    fn symbol_of(&self, view: &View, node: &SymbolNode) -> Result<Option<SymbolEntry>, DamagedLayer> {
        let folded = fold_style(&node.name);
        for layer in &self.layers {
            for number in layer.names.get(&folded).into_iter().flat_map(Layer::numbers) {
                let (symbol, path) = layer.symbol(number)?;
                if symbol.node == node.node && self.sees(view, path) {
                    return Ok(Some(symbol));
                }
            }
        }
        Ok(None)
    }

    /// The visible symbols of the chunks, in arbitrary order.
    pub(crate) fn symbols_in(&self, view: &View, chunks: &[ChunkKey]) -> Result<Vec<SymbolEntry>, DamagedLayer> {
        let mut symbols = Vec::new();
        for layer in &self.layers {
            for chunk in chunks {
                for number in layer.symbols_in(*chunk)? {
                    let (symbol, path) = layer.symbol(number)?;
                    if self.sees(view, path) {
                        symbols.push(symbol);
                    }
                }
            }
        }
        Ok(symbols)
    }

    /// All visible symbols for which the first half of the key is at least `from`. Each symbol is returned
    /// with the first half of its key. The order is arbitrary.
    pub(crate) fn all(&self, view: &View, from: u64) -> Result<Vec<(u64, SymbolEntry)>, DamagedLayer> {
        let mut symbols = Vec::new();
        for layer in &self.layers {
            let sees: Vec<bool> = layer.header.paths.iter().map(|entry| self.sees(view, entry)).collect();
            for number in 0..layer.num_symbols() {
                let (symbol, path) = layer.symbol_at(number)?;
                let half = u64::from_be_bytes(std::array::from_fn(|index| symbol.node.0.0[index]));
                if half >= from && sees[path] {
                    symbols.push((half, symbol));
                }
            }
        }
        Ok(symbols)
    }
}

/// A requested name. `Parser.parse_file` requests a symbol `parse_file` that is inside a symbol whose
/// qualified name ends with the part `Parser`.
pub(crate) struct RequestedName {
    /// The name as it is written. A name may contain a separator itself: `log::info` in Bash.
    written: String,
    /// The whole name, with its parts joined by `.` for all languages.
    whole: String,
    last: String,
    folded: String,
    /// The same as `folded`, but without spaces. For example, the requested phrase `get user` matches the
    /// name `getUser`, which is written in a different style.
    joined: String,
    ways: Vec<NameMatch>,
    /// Finds names that are similar to the folded name. `None` if the name is too long. The automaton is
    /// built on first use, because building it takes a long time.
    automaton: OnceLock<Option<Levenshtein>>,
}

impl RequestedName {
    pub(crate) fn new(name: &str, ways: &[NameMatch]) -> Self {
        let whole = plain_name(name);
        let last = whole.rsplit('.').next().unwrap_or(&whole).to_owned();
        let folded = fold_style(&last);
        let joined = fold_all(&last);
        let (written, ways) = (name.trim().to_owned(), ways.to_vec());
        Self { written, whole, last, folded, joined, ways, automaton: OnceLock::new() }
    }

    fn automaton(&self) -> Option<&Levenshtein> {
        let make = || {
            let is_short = self.folded.chars().count() <= MAX_AUTOMATON_CHARACTERS;
            if is_short { Levenshtein::new(&self.folded, MAX_EDIT_DISTANCE as u32).ok() } else { None }
        };
        self.automaton.get_or_init(make).as_ref()
    }

    fn is_qualified(&self) -> bool {
        self.whole.len() > self.last.len()
    }

    /// The best way in which a symbol's name matches, and its score in percent.
    fn best_match(&self, name: &str, qualified_name: &str) -> Option<(NameMatch, u32)> {
        let matches = self.ways.iter().filter_map(|way| Some((*way, self.score(name, qualified_name, *way)?)));
        // If scores are equal, the first way is returned, because callers list the ways from strict to loose.
        matches.reduce(|best, other| if other.1 > best.1 { other } else { best })
    }

    fn score(&self, short: &str, qualified_name: &str, way: NameMatch) -> Option<u32> {
        let (requested, name) = if self.is_qualified() { (&self.whole, qualified_name) } else { (&self.last, short) };
        let alike =
            |requested: &str, name: &str| requested == name || (self.is_qualified() && ends_with_part(name, requested));
        let share = |requested: &str, name: &str| (requested.len() * 100 / name.len().max(1)).min(100) as u32;
        match way {
            NameMatch::Exact => (alike(requested, name) || self.written == short).then_some(100),
            NameMatch::CaseInsensitive => alike(&requested.to_lowercase(), &name.to_lowercase()).then_some(98),
            NameMatch::StyleInsensitive => alike(&fold_all(requested), &fold_all(name)).then_some(95),
            NameMatch::Prefix => {
                let (requested, name) = (fold_style(requested), fold_style(name));
                (!requested.is_empty() && name.starts_with(&requested))
                    .then(|| 60 + share(&requested, &name) * 30 / 100)
            }
            NameMatch::Contains => {
                let (requested, name) = (fold_style(requested), fold_style(name));
                (!requested.is_empty() && name.contains(&requested)).then(|| 40 + share(&requested, &name) * 30 / 100)
            }
            NameMatch::Fuzzy => {
                let folded = || similarity_percent(&fold_style(requested), &fold_style(name));
                let score = similarity_percent(requested, name).max(folded())?;
                (score >= MIN_FUZZY_PERCENT).then_some(score.min(MAX_FUZZY_PERCENT))
            }
        }
    }
}

/// Folds a name like [`fold_style`], and also removes spaces.
fn fold_all(name: &str) -> String {
    fold_style(name).split_whitespace().collect()
}

/// Whether `outer.Parser.parse` ends with the parts `Parser.parse`.
fn ends_with_part(name: &str, end: &str) -> bool {
    name.strip_suffix(end).is_some_and(|before| before.ends_with('.'))
}

/// The numbers of the symbols that may match in one of the requested ways, in ascending order and without
/// duplicates.
fn candidates(layer: &Layer, requested: &RequestedName) -> Vec<u32> {
    let mut values: Vec<u64> = Vec::new();
    for way in &requested.ways {
        match way {
            NameMatch::Exact | NameMatch::CaseInsensitive | NameMatch::StyleInsensitive => {
                values.extend(layer.names.get(&requested.folded));
                values.extend(layer.names.get(&requested.joined));
                values.extend(layer.names.get(fold_style(&requested.written)));
            }
            NameMatch::Prefix if !requested.is_qualified() => {
                collect(layer, Str::new(&requested.folded).starts_with(), &mut values);
            }
            NameMatch::Fuzzy => match requested.automaton() {
                Some(automaton) => collect(layer, automaton, &mut values),
                None => collect_where(layer, |name| are_near(name, &requested.folded), &mut values),
            },
            // A prefix of a qualified name does not determine how the last part of the name starts. So all
            // names that contain the last part are candidates.
            NameMatch::Contains | NameMatch::Prefix => {
                collect_where(layer, |name| name.contains(&requested.folded), &mut values);
            }
        }
    }
    values.sort_unstable();
    values.dedup();
    values.into_iter().flat_map(Layer::numbers).collect()
}

fn collect(layer: &Layer, automaton: impl Automaton, values: &mut Vec<u64>) {
    let mut stream = layer.names.search(automaton).into_stream();
    while let Some((_, value)) = stream.next() {
        values.push(value);
    }
}

fn collect_where(layer: &Layer, keep: impl Fn(&str) -> bool, values: &mut Vec<u64>) {
    values.extend(layer.name_list().iter().filter(|(name, _)| keep(name)).map(|(_, value)| value));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn matches_are_ordered_from_exact_to_fuzzy() {
        use NameMatch::{CaseInsensitive, Contains, Exact, Fuzzy, Prefix, StyleInsensitive};
        const ALL: [NameMatch; 6] = [Exact, CaseInsensitive, StyleInsensitive, Prefix, Contains, Fuzzy];
        let check = |requested: &str, qualified_name: &str, expect| {
            let name = qualified_name.rsplit('.').next().expect("a part");
            assert_eq!(
                RequestedName::new(requested, &ALL).best_match(name, qualified_name),
                expect,
                "{requested} {qualified_name}"
            );
        };
        check("getUser", "Store.getUser", Some((Exact, 100)));
        check("getUser()", "getUser", Some((Exact, 100)));
        check("GETUSER", "getUser", Some((CaseInsensitive, 98)));
        check("get_user", "Store.getUser", Some((StyleInsensitive, 95)));
        check("get user", "Store.getUser", Some((StyleInsensitive, 95)));
        check("Store.getUser", "Store.getUser", Some((Exact, 100)));
        check("Store::getUser", "app.Store.getUser", Some((Exact, 100)));
        check("store.get_user", "app.Store.getUser", Some((StyleInsensitive, 95)));
        check("(*Store).getUser", "app.Store.getUser", Some((Exact, 100)));
        check("Store:getUser", "Store.getUser", Some((Exact, 100)));
        check("Store.getUser(String, int)", "Store.getUser", Some((Exact, 100)));
        check("App.Store.getUser/2", "App.Store.getUser", Some((Exact, 100)));
        check("Other.getUser", "Store.getUser", None);
        check("getUs", "getUserById", Some((Prefix, 73)));
        check("userby", "getUserById", Some((Contains, 56)));
        check("getUesr", "getUser", Some((Fuzzy, 86)));
        check("render", "parse", None);
    }
}
