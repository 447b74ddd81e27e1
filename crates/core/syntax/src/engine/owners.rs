//! Completes the symbols of a file with their owners, the export list and docstrings.

use cairn_domain::{Symbol, SymbolKind, Visibility};
use cairn_languages::VisibilityRule;
use rustc_hash::{FxHashMap, FxHashSet};

use super::attachments::docstring;
use super::collect::{ByteRange, Raw};
use super::names::plain_name;
use super::regions::{Locator, Region};
use super::symbols::Builder;

impl Builder<'_, '_> {
    /// Sets the owner symbol of each scope and each definition whose owner is defined in the file.
    pub(super) fn attach_owners(&mut self) {
        if self.outside.is_empty() && self.outline.regions.iter().all(|region| region.owner.is_none()) {
            return;
        }
        let named = possible_owners(&self.outline.symbols);
        let find = |region: &Region<'_>| region.owner.as_deref().and_then(|owner| named.get(owner)).copied();
        let owners: Vec<Option<u32>> = self.outline.regions.iter().map(find).collect();
        let mut parents: Vec<(u32, u32)> = Vec::new();
        for (index, region) in self.outline.regions.iter().enumerate() {
            let around = region.parent.and_then(|parent| owners[parent as usize]);
            let owner = if region.owner.is_some() { owners[index] } else { around };
            if let (Some(symbol), Some(owner)) = (region.symbol, owner) {
                parents.push((symbol, owner));
            }
        }
        for (symbol, owner) in &self.outside {
            parents.extend(named.get(owner.as_str()).map(|owner| (*symbol, *owner)));
        }
        for (region, owner) in self.outline.regions.iter_mut().zip(&owners) {
            if region.symbol.is_none() && !region.is_local {
                region.symbol = *owner;
            }
        }
        for (symbol, owner) in parents.into_iter().filter(|(symbol, owner)| owner < symbol) {
            let has_parent = self.outline.symbols[symbol as usize].parent.is_some_and(|parent| parent > owner);
            if !has_parent {
                let Symbol { exported: owner_exported, is_test, .. } = self.outline.symbols[owner as usize];
                let symbol = &mut self.outline.symbols[symbol as usize];
                symbol.parent = Some(owner);
                symbol.exported &= owner_exported;
                symbol.is_test |= is_test;
            }
        }
    }

    /// Marks the names on the export list as exported.
    pub(super) fn export_listed(&mut self, raw: &Raw) {
        let name_of = |range: ByteRange| plain_name(self.row, range.text(self.text));
        let listed: FxHashSet<&str> = raw.export_names.iter().map(|export| name_of(export.name)).collect();
        for index in 0..self.outline.symbols.len() {
            let parent = self.outline.symbols[index].parent.map(|parent| &self.outline.symbols[parent as usize]);
            // A definition inside a function is not visible outside of the function. A method whose owner is
            // a function is an exception.
            let is_method = self.outline.symbols[index].kind == SymbolKind::Method;
            let parent_exports = parent.map(|parent| parent.exported && (is_method || !parent.kind.is_callable()));
            let symbol = &mut self.outline.symbols[index];
            if parent_exports.is_none() && listed.contains(symbol.name.as_str()) {
                symbol.exported = true;
                symbol.visibility = Visibility::Public;
            } else if parent_exports == Some(true) && symbol.visibility == Visibility::Public {
                symbol.exported = true;
            } else if matches!(self.row.visibility, VisibilityRule::Listed) {
                // Members have the visibility of their container. A member of a type in another file has no
                // parent.
                let is_top = parent_exports.is_none() && symbol.name == symbol.qualified_name;
                if is_top {
                    symbol.visibility = Visibility::Private;
                }
                symbol.exported &= !is_top && parent_exports != Some(false);
            }
        }
    }

    pub(super) fn attach_docstrings(&mut self, raw: &mut Raw) {
        raw.docs.sort_unstable();
        let mut locator = Locator::new(&self.outline.regions);
        for range in &raw.docs {
            let Some(region) = locator.locate(range.start) else { continue };
            let Some(symbol) = self.outline.regions[region as usize].symbol else { continue };
            let doc = &mut self.outline.symbols[symbol as usize].doc;
            if let Some(text) = docstring(range.text(self.text)) {
                *doc = Some(text);
            }
        }
    }
}

/// The symbols of a file by qualified name. If several symbols have the same name, types take precedence. A
/// function can also be an owner, because functions are classes in old JavaScript.
fn possible_owners(symbols: &[Symbol]) -> FxHashMap<&str, u32> {
    let mut named: FxHashMap<&str, u32> = FxHashMap::default();
    for kinds in [SymbolKind::is_type, |kind: SymbolKind| !kind.is_type()] {
        for (index, symbol) in symbols.iter().enumerate().filter(|(_, symbol)| kinds(symbol.kind)) {
            named.entry(&symbol.qualified_name).or_insert(index as u32);
        }
    }
    named
}
