//! A region is a range of a file that belongs to a symbol. Regions can be nested. A locator finds the
//! innermost region that contains a position.

use super::collect::ByteRange;

/// A range that belongs to a symbol, or to an owner that is defined at another position.
#[derive(Debug)]
pub(super) struct Region<'t> {
    /// The range of the definition, without the attachments before it.
    pub(super) inner: ByteRange,
    /// The range of the definition, including its doc comment and decorators.
    pub(super) outer: ByteRange,
    pub(super) parent: Option<u32>,
    /// For a definition, its symbol. For a scope, its owner, as soon as the owner is known. For a local
    /// region, the symbol around it.
    pub(super) symbol: Option<u32>,
    /// The qualified name of the owner, for scopes and for definitions that name their owner.
    pub(super) owner: Option<String>,
    /// The name that a method uses for its object.
    pub(super) self_name: Option<&'t str>,
    /// Whether the region is an anonymous function.
    pub(super) is_local: bool,
}

/// Finds the innermost region for each of several increasing positions.
pub(super) struct Locator<'r, 't> {
    regions: &'r [Region<'t>],
    next: usize,
    stack: Vec<u32>,
}

impl<'r, 't> Locator<'r, 't> {
    /// `regions` must be in order of position and correctly nested.
    pub(super) fn new(regions: &'r [Region<'t>]) -> Self {
        Self { regions, next: 0, stack: Vec::new() }
    }

    /// The index of the innermost region that contains `byte`. The positions of successive calls must be in
    /// ascending order.
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

/// The region itself and the regions around it, innermost first.
pub(super) fn ancestors<'r, 't>(regions: &'r [Region<'t>], from: Option<u32>) -> impl Iterator<Item = &'r Region<'t>> {
    let get = move |index: u32| &regions[index as usize];
    std::iter::successors(from.map(get), move |region| region.parent.map(get))
}
