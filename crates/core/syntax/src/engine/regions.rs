//! Regions: nested ranges of a file that belong to a symbol, and a sweep that finds the innermost one.

use rustc_hash::{FxHashMap, FxHashSet};

use super::collect::{Place, Raw};
use super::symbols::Outline;

/// A range that belongs to a symbol, or to an owner that stands elsewhere.
#[derive(Debug)]
pub(super) struct Region<'t> {
    /// Of the definition itself, without what precedes it.
    pub(super) inner: Place,
    /// With its doc comment and decorators.
    pub(super) outer: Place,
    pub(super) parent: Option<u32>,
    /// The symbol itself; for a scope its owner, once known; for a local region the symbol around it.
    pub(super) symbol: Option<u32>,
    /// Qualified name of the owner, for scopes and for definitions that name their owner.
    pub(super) owner: Option<String>,
    /// What the method calls its object.
    pub(super) self_name: Option<&'t str>,
    /// A function without a name.
    pub(super) is_local: bool,
}

/// Finds the innermost region of positions that only grow.
pub(super) struct Locator<'r, 't> {
    regions: &'r [Region<'t>],
    next: usize,
    stack: Vec<u32>,
}

impl<'r, 't> Locator<'r, 't> {
    /// `regions` are in order of position and properly nested.
    pub(super) fn new(regions: &'r [Region<'t>]) -> Self {
        Self { regions, next: 0, stack: Vec::new() }
    }

    /// Index of the innermost region that holds `byte`. Call with positions in ascending order.
    pub(super) fn locate(&mut self, byte: u32) -> Option<u32> {
        while let Some(region) = self.regions.get(self.next).filter(|region| region.outer.start <= byte) {
            self.leave(region.outer.start);
            self.stack.push(self.next as u32);
            self.next += 1;
        }
        self.leave(byte);
        self.stack.last().copied()
    }

    fn leave(&mut self, byte: u32) {
        while self.stack.last().is_some_and(|index| self.regions[*index as usize].outer.end <= byte) {
            self.stack.pop();
        }
    }
}

/// The chain of regions around one, innermost first.
pub(super) fn ancestors<'r, 't>(regions: &'r [Region<'t>], from: Option<u32>) -> impl Iterator<Item = &'r Region<'t>> {
    let get = move |index: u32| &regions[index as usize];
    std::iter::successors(from.map(get), move |region| region.parent.map(get))
}

/// Names that stand for types inside a region only.
pub(super) struct TypeParameters<'t>(FxHashMap<&'t str, FxHashSet<u32>>);

impl<'t> TypeParameters<'t> {
    pub(super) fn new(text: &'t str, raw: &mut Raw, outline: &Outline<'t>) -> Self {
        raw.type_parameters.sort_unstable();
        let mut locator = Locator::new(&outline.regions);
        let mut parameters: FxHashMap<&str, FxHashSet<u32>> = FxHashMap::default();
        for place in &raw.type_parameters {
            if let Some(region) = locator.locate(place.start) {
                parameters.entry(place.text(text)).or_default().insert(region);
            }
        }
        Self(parameters)
    }

    /// Whether `name` is a parameter of the region or of one around it.
    pub(super) fn hold(&self, outline: &Outline<'_>, name: &str, region: Option<u32>) -> bool {
        let Some(scopes) = self.0.get(name) else { return false };
        let outer = |region: &u32| outline.regions[*region as usize].parent;
        std::iter::successors(region, outer).any(|region| scopes.contains(&region))
    }
}
