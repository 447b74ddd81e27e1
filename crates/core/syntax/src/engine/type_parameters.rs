//! Finds the names of type parameters.

use rustc_hash::{FxHashMap, FxHashSet};

use super::collect::Raw;
use super::regions::Locator;
use super::symbols::Outline;

/// Names of type parameters, each with the regions that declare it as a type parameter.
pub(super) struct TypeParameters<'t>(FxHashMap<&'t str, FxHashSet<u32>>);

impl<'t> TypeParameters<'t> {
    pub(super) fn new(text: &'t str, raw: &mut Raw, outline: &Outline<'t>) -> Self {
        raw.type_parameters.sort_unstable();
        let mut locator = Locator::new(&outline.regions);
        let mut parameters: FxHashMap<&str, FxHashSet<u32>> = FxHashMap::default();
        for range in &raw.type_parameters {
            if let Some(region) = locator.locate(range.start) {
                parameters.entry(range.text(text)).or_default().insert(region);
            }
        }
        Self(parameters)
    }

    /// Whether `name` is a type parameter of the region or of a region around it.
    pub(super) fn contain(&self, outline: &Outline<'_>, name: &str, region: Option<u32>) -> bool {
        let Some(scopes) = self.0.get(name) else { return false };
        let outer = |region: &u32| outline.regions[*region as usize].parent;
        std::iter::successors(region, outer).any(|region| scopes.contains(&region))
    }
}
