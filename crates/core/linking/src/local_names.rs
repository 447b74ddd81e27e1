//! Resolves names in the functions and classes that enclose a reference.

use cairn_domain::{Resolution, SymbolKind};

use crate::Family;
use crate::contribution::Definition;
use crate::modules::import_target;
use crate::names::{FileId, Name};
use crate::own_class::OwnClass;
use crate::referents::{Ask, Finding, Want};
use crate::resolve::{Local, Resolver};
use crate::select::select;

/// If a function has more bindings of a name than this limit, the result of the search in this function is
/// stored and used again.
const MANY_BINDINGS: usize = 16;

impl<'e> Resolver<'e> {
    /// Resolves a name in the functions and classes that enclose a reference, from the innermost to the
    /// outermost. The flag is true if one of these classes has an unknown base, from which the class may
    /// inherit the name.
    pub(crate) fn local(&mut self, name: &'e str, enclosing: Option<u32>, ask: Ask) -> (Local<'e>, bool) {
        let hashed = Name::of(name);
        let mut is_open = false;
        let mut current = enclosing;
        while let Some(scope) = current {
            let definition = &self.contribution.definitions[scope as usize];
            current = definition.parent;
            let is_class = definition.kind.is_container();
            if !is_class {
                let bound = self.in_function(scope, hashed, ask);
                if !matches!(bound, Local::Unbound) {
                    return (bound, is_open);
                }
            }
            match self.visible_member(scope, definition, name, enclosing == Some(scope), ask) {
                Finding::Nothing => {}
                Finding::External => is_open |= self.rules.implicit_self,
                found => return (Local::Found(found), is_open),
            }
        }
        (Local::Unbound, is_open)
    }

    /// Resolves a name without a receiver to a member of an enclosing class. If the reference is in a method
    /// that is defined outside its class, the name is resolved to a member of the method's class. Members are
    /// visible without a receiver directly in the body of the class. In some languages, members are visible
    /// everywhere inside the class.
    fn visible_member(
        &mut self,
        scope: u32,
        definition: &Definition,
        name: &'e str,
        is_direct: bool,
        ask: Ask,
    ) -> Finding {
        let is_direct = is_direct || self.rules.implicit_self;
        if definition.kind == SymbolKind::Module || !is_direct {
            return Finding::Nothing;
        }
        if definition.kind.is_container() {
            let class = OwnClass { symbol: Some(scope), class: *definition, name, is_doubtful: false };
            return self.member_of_own(&class, name, ask);
        }
        // Functions that implement a type outside its definition can call each other without a receiver, as
        // in any module.
        let sees_members = self.rules.implicit_self || self.rules.modules_are_types;
        let is_outside = definition.parent.is_none() && !definition.container.is_empty() && sees_members;
        match self.own_class(Some(scope)).filter(|_| is_outside) {
            Some(class) => self.member_of_own(&class, name, ask),
            None => Finding::Nothing,
        }
    }

    fn in_function(&mut self, scope: u32, name: Name, ask: Ask) -> Local<'e> {
        let hides = match ask.want {
            Want::Call => self.rules.variables_hide_functions,
            Want::Type => self.rules.variables_hide_types,
            Want::Instance => self.rules.variables_hide_types || self.family == Family::Script,
            Want::Value | Want::Any => true,
        };
        if let Some(variable) = self.scopes.variable(Some(scope), name).filter(|_| hides) {
            return Local::Variable(variable);
        }
        if self.scopes.num_bound(scope, name) <= MANY_BINDINGS {
            return self.defined_in_function(scope, name, ask);
        }
        let key = (scope, name, ask.want, ask.num_arguments);
        if let Some(found) = self.in_functions.get(&key) {
            return *found;
        }
        let found = self.defined_in_function(scope, name, ask);
        self.in_functions.insert(key, found);
        found
    }

    /// Resolves a name that the function defines or imports.
    fn defined_in_function(&mut self, scope: u32, name: Name, ask: Ask) -> Local<'e> {
        // If an object is defined in a function or variable, its members are not visible without a receiver.
        let is_lexical = |index: &u32| {
            let kind = self.contribution.definitions[*index as usize].kind;
            !matches!(kind, SymbolKind::Method | SymbolKind::Field)
        };
        let children = self.scopes.children(scope, name).filter(is_lexical);
        let children: Vec<(FileId, u32)> = children.map(|index| (self.file, index)).collect();
        let found = select(&mut self.lookup, children.into_iter(), ask, self.rules);
        if !found.is_nothing() {
            // C has no nested functions. A function that seems to be nested is a macro that the grammar does
            // not recognise.
            let is_doubtful = self.family == Family::C;
            return Local::Found(if is_doubtful { found.at_most(Resolution::Heuristic) } else { found });
        }
        let imports: Vec<_> = self.scopes.imports_in(scope, name).collect();
        let container = self.scopes.module_around(Some(scope));
        let mut found = Finding::Nothing;
        for import in &imports {
            if !self.lookup.has_fuel() {
                break;
            }
            found = found
                .or(import_target(&mut self.lookup, self.file, container, import, ask).at_most(Resolution::Import));
        }
        match found {
            Finding::Nothing if !imports.is_empty() => Local::Found(Finding::External),
            Finding::Nothing => Local::Unbound,
            found => Local::Found(found),
        }
    }
}
