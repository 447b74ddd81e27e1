//! What the functions and classes of one file bind, for walking outwards from a reference.

use cairn_domain::{BindingEvidence, FileFacts, SymbolKind};

use crate::contribution::{BoundName, bound_names};
use crate::{Contribution, Family, Name};

/// Stands for the file itself in sorted tables.
const NO_SCOPE: u32 = u32::MAX;

/// A variable or parameter.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Variable<'f> {
    Typed(&'f str),
    /// Of no evident type, or of different types at different places.
    Opaque,
}

/// Tables of one file, sorted by scope and name.
#[derive(Debug)]
pub(crate) struct Scopes<'f> {
    facts: &'f FileFacts,
    contribution: &'f Contribution,
    children: Vec<(u32, Name, u32)>,
    bindings: Vec<(u32, Name, u32)>,
    local_imports: Vec<(u32, BoundName<'f>)>,
}

impl<'f> Scopes<'f> {
    pub(crate) fn new(facts: &'f FileFacts, contribution: &'f Contribution) -> Self {
        let definitions = contribution.definitions.iter().enumerate();
        let mut children: Vec<(u32, Name, u32)> = definitions
            .map(|(index, definition)| (definition.parent.unwrap_or(NO_SCOPE), definition.name, index as u32))
            .collect();
        children.sort_unstable();
        let bindings = facts.bindings.iter().enumerate();
        let mut bindings: Vec<(u32, Name, u32)> = bindings
            .map(|(index, binding)| (binding.scope.unwrap_or(NO_SCOPE), Name::of(&binding.name), index as u32))
            .collect();
        bindings.sort_unstable();
        Self { facts, contribution, children, bindings, local_imports: local_imports(facts, contribution.family) }
    }

    /// Definitions directly inside a symbol.
    pub(crate) fn children(&self, scope: u32, name: Name) -> impl Iterator<Item = u32> + '_ {
        range(&self.children, scope, name).iter().map(|(_, _, index)| *index)
    }

    /// The variable of a name that a scope binds; `None` as scope is the file itself. What is declared with a type keeps
    /// it whatever it is set to; else all that it is set to must agree.
    pub(crate) fn variable(&self, scope: Option<u32>, name: Name) -> Option<Variable<'f>> {
        let found = range(&self.bindings, scope.unwrap_or(NO_SCOPE), name);
        let bindings = || found.iter().map(|(_, _, index)| &self.facts.bindings[*index as usize]);
        let declared = bindings().filter(|binding| binding.evidence == BindingEvidence::Annotation);
        let mut types = declared.map(|binding| binding.type_name.as_str());
        let first = types.next();
        let (type_name, is_certain) = match first {
            Some(first) => (first, types.all(|other| other == first)),
            None => {
                let first = bindings().next()?.type_name.as_str();
                (first, bindings().all(|binding| binding.type_name == first))
            }
        };
        Some(if is_certain && !type_name.is_empty() { Variable::Typed(type_name) } else { Variable::Opaque })
    }

    /// Whether a function without a name, outside of all symbols, binds the name.
    pub(crate) fn is_opaque_at_top(&self, name: Name) -> bool {
        matches!(self.variable(None, name), Some(Variable::Opaque))
    }

    /// What imports inside a function bind.
    pub(crate) fn imports_in(&self, scope: u32) -> impl Iterator<Item = BoundName<'f>> + '_ {
        let start = self.local_imports.partition_point(|(other, _)| *other < scope);
        self.local_imports[start..].iter().take_while(move |(other, _)| *other == scope).map(|(_, bound)| *bound)
    }

    /// The qualified name of the inline module or namespace around a symbol; empty at the top of the file.
    pub(crate) fn module_around(&self, symbol: Option<u32>) -> Name {
        let definitions = &self.contribution.definitions;
        let mut current = symbol;
        while let Some(index) = current {
            let definition = &definitions[index as usize];
            if definition.kind == SymbolKind::Module {
                return definition.qualified;
            }
            current = definition.parent;
        }
        Name::EMPTY
    }
}

fn range(table: &[(u32, Name, u32)], scope: u32, name: Name) -> &[(u32, Name, u32)] {
    let start = table.partition_point(|entry| (entry.0, entry.1) < (scope, name));
    let rest = &table[start..];
    &rest[..rest.iter().take_while(|entry| (entry.0, entry.1) == (scope, name)).count()]
}

fn local_imports(facts: &FileFacts, family: Family) -> Vec<(u32, BoundName<'_>)> {
    let mut local = Vec::new();
    for import in &facts.imports {
        if let Some(scope) = import.enclosing.filter(|scope| facts.symbols[*scope as usize].kind != SymbolKind::Module)
        {
            local.extend(bound_names(import, family).into_iter().map(|bound| (scope, bound)));
        }
    }
    local.sort_by_key(|(scope, _)| *scope);
    local
}
