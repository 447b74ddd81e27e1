//! Finds the class that encloses a reference, and the members of this class.

use cairn_domain::{Resolution, SymbolKind};

use crate::Family;
use crate::contribution::Definition;
use crate::names::Name;
use crate::referents::{Ask, Finding, Referent, Want};
use crate::resolve::Resolver;

/// The class that encloses a reference. All data come from the file that contains the reference.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OwnClass<'e> {
    /// The index of the class, if this file defines it.
    pub(crate) symbol: Option<u32>,
    /// The definition of the class. If the file does not define the class, only the fields that can be
    /// derived from the name of the member are valid.
    pub(crate) class: Definition,
    pub(crate) name: &'e str,
    /// Whether another function is between the method and the reference. Inside this other function, `self`
    /// may be a different object.
    pub(crate) is_doubtful: bool,
}

impl<'e> Resolver<'e> {
    /// The class to which `self` refers.
    pub(crate) fn own_class(&mut self, enclosing: Option<u32>) -> Option<OwnClass<'e>> {
        let mut current = enclosing;
        let mut num_functions = 0;
        while let Some(scope) = current {
            let definition = &self.contribution.definitions[scope as usize];
            let symbol = &self.facts.symbols[scope as usize];
            if definition.kind.is_container() && definition.kind != SymbolKind::Module {
                let is_doubtful = self.family == Family::Script && num_functions > 1;
                return Some(OwnClass { symbol: Some(scope), class: *definition, name: &symbol.name, is_doubtful });
            }
            num_functions += u32::from(definition.kind.is_callable());
            let parent = definition.parent.map(|parent| self.contribution.definitions[parent as usize].qualified);
            if definition.kind.is_callable() && definition.container != parent.unwrap_or(Name::EMPTY) {
                return Some(self.class_by_member(&symbol.qualified_name, &symbol.name, definition));
            }
            current = definition.parent;
        }
        None
    }

    /// The class of a member that is defined outside the class: in an `impl` block, as a method in Go, or as
    /// a definition in C++.
    fn class_by_member(&mut self, qualified: &'e str, member: &str, definition: &Definition) -> OwnClass<'e> {
        let holder = qualified.strip_suffix(member).and_then(|rest| rest.strip_suffix('.')).unwrap_or("");
        let name = holder.rsplit('.').next().unwrap_or(holder);
        let symbol = self.contribution.type_named(definition.container);
        let class = match symbol {
            Some(index) => self.contribution.definitions[index as usize],
            None => Definition {
                name: definition.container_last,
                qualified: definition.container,
                full: definition.holder,
                kind: SymbolKind::Struct,
                is_companion: false,
                ..*definition
            },
        };
        OwnClass { symbol, class, name, is_doubtful: false }
    }

    /// Whether a call that seems to call a method of the class itself may call a different method. A method
    /// that seems to call itself may call an inherited overload. In Rust, if the repository implements a
    /// trait for a type that is defined outside the repository, this type may have its own method with the
    /// same name as a method of the trait.
    fn may_mean_another(&mut self, own: &OwnClass<'e>, found: &Finding, name: &str, ask: Ask) -> bool {
        let Finding::Found(referents, _) = found else { return false };
        let Some(Referent::Definition { file, index }) = referents.single().filter(|_| ask.want == Want::Call) else {
            return false;
        };
        if self.family == Family::Rust {
            return !self.lookup.is_type_of_repository(self.family, &own.class);
        }
        let calls_itself = file == self.file && self.calling == Some(index);
        match own.symbol.filter(|_| calls_itself && self.rules.overloads) {
            Some(class) => !self.lookup.inherited_member(self.file, class, name, ask).is_nothing(),
            None => false,
        }
    }

    /// Resolves a member of the class that encloses the reference, or of the bases of this class.
    pub(crate) fn member_of_own(&mut self, own: &OwnClass<'e>, name: &str, ask: Ask) -> Finding {
        let found = self.lookup.own_member(self.file, own.class.qualified, &own.class, name, ask);
        if !found.is_nothing() {
            return if self.may_mean_another(own, &found, name, ask) {
                found.at_most(Resolution::Heuristic)
            } else {
                found
            };
        }
        if let Some(symbol) = own.symbol {
            return self.lookup.inherited_member(self.file, symbol, name, ask);
        }
        match self.top(self.scopes.module_around(None), own.name, Ask::TYPE) {
            Finding::Found(referents, resolution) => match referents.single() {
                Some(Referent::Definition { file, index }) => {
                    self.lookup.inherited_member(file, index, name, ask).at_most(resolution)
                }
                _ => Finding::Nothing,
            },
            _ => Finding::Nothing,
        }
    }
}
