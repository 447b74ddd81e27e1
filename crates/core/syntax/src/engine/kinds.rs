//! Decides the kind of a symbol from its definition and from the code around it.

use cairn_domain::SymbolKind;

use super::collect::RawDefinition;
use super::names::qualify;
use super::symbols::Builder;

impl Builder<'_, '_> {
    pub(super) fn kind_of(
        &self,
        kind: SymbolKind,
        name: &str,
        definition: &RawDefinition,
        around: Option<u32>,
    ) -> SymbolKind {
        let has_owner = definition.owner.is_some();
        let parent = around.map(|index| &self.outline.regions[index as usize]);
        let in_type = parent.filter(|region| !region.is_local).is_some_and(|region| match region.symbol {
            Some(symbol) => {
                let kind = self.outline.symbols[symbol as usize].kind;
                kind.is_container() && kind != SymbolKind::Module
            }
            None => region.owner.is_some(),
        });
        if let Some(shown) = self.shown_kind(kind, definition, around) {
            return shown;
        }
        match kind {
            SymbolKind::Function if in_type || has_owner => SymbolKind::Method,
            SymbolKind::Variable if self.row.upper_case_constants && is_upper_case(name) && !self.is_local(around) => {
                SymbolKind::Constant
            }
            SymbolKind::Variable if in_type => SymbolKind::Field,
            other => other,
        }
    }

    /// If other code in the same region determines the kind of a variable, returns this kind. A function that
    /// belongs to a module remains a function, unless the module is also a class.
    pub(super) fn shown_kind(
        &self,
        kind: SymbolKind,
        definition: &RawDefinition,
        around: Option<u32>,
    ) -> Option<SymbolKind> {
        if self.becomes.is_empty() {
            return None;
        }
        let owner = definition.owner.map(|owner| owner.text(self.text));
        let name = definition.name?.text(self.text);
        match kind {
            SymbolKind::Function => {
                self.becomes(owner?, around).filter(|shown| *shown == SymbolKind::Module).map(|_| kind)
            }
            SymbolKind::Variable | SymbolKind::Field | SymbolKind::Constant => {
                self.becomes(&qualify(owner, name), around)
            }
            _ => None,
        }
    }

    /// The kind that other code gives to a variable. A type takes precedence over all other kinds.
    pub(super) fn becomes(&self, written: &str, around: Option<u32>) -> Option<SymbolKind> {
        let evidence = self.becomes.get(written)?;
        let region = around.map(|index| self.outline.regions[index as usize].inner);
        let kinds = evidence.iter().filter(|(start, _)| region.is_none_or(|region| region.contains(*start)));
        kinds.map(|(_, kind)| *kind).max_by_key(|kind| kind.is_type())
    }

    /// Whether the file itself declares the object that has the field.
    pub(super) fn is_own(&self, owner: &str, around: Option<u32>) -> bool {
        let root = self
            .row
            .separators
            .iter()
            .find_map(|separator| owner.split_once(separator))
            .map_or(owner, |(root, _)| root);
        root.is_empty() || self.declared.get(&(around, "", root)).is_some_and(Option::is_some)
    }

    /// Whether a variable in this region is local. A variable directly in a container or in the file itself
    /// is not local.
    pub(super) fn is_local(&self, around: Option<u32>) -> bool {
        let Some(region) = around.map(|index| &self.outline.regions[index as usize]) else { return false };
        let in_container = region
            .symbol
            .map_or(region.owner.is_some(), |symbol| self.outline.symbols[symbol as usize].kind.is_container());
        region.is_local || !in_container
    }

    pub(super) fn is_in_function(&self, around: Option<u32>) -> bool {
        let outer = |region: &u32| self.outline.regions[*region as usize].parent;
        std::iter::successors(around, outer).any(|region| self.is_function(region))
    }

    pub(super) fn is_function(&self, region: u32) -> bool {
        let region = &self.outline.regions[region as usize];
        let kind = region.symbol.map(|symbol| self.outline.symbols[symbol as usize].kind);
        region.is_local || kind.is_some_and(SymbolKind::is_callable)
    }
}

/// Whether the name contains at least one upper-case letter and no lower-case letter, such as `MAX_SIZE` or
/// `N`.
fn is_upper_case(name: &str) -> bool {
    name.contains(|c: char| c.is_uppercase()) && !name.contains(|c: char| c.is_lowercase())
}
