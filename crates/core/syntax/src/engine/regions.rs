//! Regions: nested ranges of a file that belong to a symbol, and a sweep that finds the innermost one.

use super::collect::ByteRange;

/// A range that belongs to a symbol, or to an owner that is written elsewhere.
#[derive(Debug)]
pub(super) struct Region<'t> {
    /// The definition itself, without the attachments before it.
    pub(super) inner: ByteRange,
    /// With its doc comment and decorators.
    pub(super) outer: ByteRange,
    pub(super) parent: Option<u32>,
    /// The symbol itself; for a scope its owner, once known; for a local region the symbol around it.
    pub(super) symbol: Option<u32>,
    /// Qualified name of the owner, for scopes and for definitions that name their owner.
    pub(super) owner: Option<String>,
    /// The method's name for its object.
    pub(super) self_name: Option<&'t str>,
    /// A function without a name.
    pub(super) is_local: bool,
}

/// Finds the innermost region for rising positions.
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

    /// Index of the innermost region that contains `byte`. Call with positions in ascending order.
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
