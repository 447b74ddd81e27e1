//! The bindings of the functions and classes of one file. The resolver searches these bindings for a name,
//! from the innermost scope around a reference outwards.

use cairn_domain::{Binding, BindingEvidence, FileFacts, SymbolKind};

use crate::bindings::{BoundName, bound_names};
use crate::{Contribution, Family, Name};

/// Represents the file itself in the sorted tables.
const NO_SCOPE: u32 = u32::MAX;

/// A variable or parameter.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Variable<'f> {
    Typed(&'f str),
    /// The variable has no evident type, or different types at different positions.
    Opaque,
}

/// The tables of one file. Each table is sorted by scope and name.
#[derive(Debug)]
pub(crate) struct Scopes<'f> {
    contribution: &'f Contribution,
    children: Vec<(u32, Name, u32)>,
    variables: Vec<(u32, Name, Variable<'f>)>,
    imports: Vec<(u32, Name, BoundName<'f>)>,
}

impl<'f> Scopes<'f> {
    pub(crate) fn new(facts: &'f FileFacts, contribution: &'f Contribution) -> Self {
        let definitions = contribution.definitions.iter().enumerate();
        let mut children: Vec<(u32, Name, u32)> = definitions
            .map(|(index, definition)| (definition.parent.unwrap_or(NO_SCOPE), definition.name, index as u32))
            .collect();
        children.sort_unstable();
        Self { contribution, children, variables: variables(facts), imports: imports(facts, contribution.family) }
    }

    /// The definitions of a name directly inside a symbol.
    pub(crate) fn children(&self, scope: u32, name: Name) -> impl Iterator<Item = u32> + '_ {
        range(&self.children, scope, name).iter().map(|(_, _, index)| *index)
    }

    /// The variable that a scope binds to a name. `None` as a scope means the file itself.
    pub(crate) fn variable(&self, scope: Option<u32>, name: Name) -> Option<Variable<'f>> {
        range(&self.variables, scope.unwrap_or(NO_SCOPE), name).first().map(|(_, _, variable)| *variable)
    }

    /// Whether an anonymous function outside of all symbols binds the name.
    pub(crate) fn is_opaque_at_top(&self, name: Name) -> bool {
        matches!(self.variable(None, name), Some(Variable::Opaque))
    }

    /// The imports of one name inside a function, in order of position.
    pub(crate) fn imports_in(&self, scope: u32, name: Name) -> impl Iterator<Item = BoundName<'f>> + '_ {
        range(&self.imports, scope, name).iter().map(|(_, _, bound)| *bound)
    }

    /// The number of definitions and imports of a name directly inside a symbol.
    pub(crate) fn num_bound(&self, scope: u32, name: Name) -> usize {
        range(&self.children, scope, name).len() + range(&self.imports, scope, name).len()
    }

    /// The qualified name of the inline module or namespace around a symbol. The qualified name is empty if
    /// the symbol is not in an inline module or namespace.
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

fn range<T>(table: &[(u32, Name, T)], scope: u32, name: Name) -> &[(u32, Name, T)] {
    let start = table.partition_point(|entry| (entry.0, entry.1) < (scope, name));
    let rest = &table[start..];
    &rest[..rest.partition_point(|entry| (entry.0, entry.1) == (scope, name))]
}

/// Returns at most one variable for each scope and name.
fn variables(facts: &FileFacts) -> Vec<(u32, Name, Variable<'_>)> {
    let scope = |binding: &Binding| binding.scope.unwrap_or(NO_SCOPE);
    let bindings = facts.bindings.iter().zip(0..);
    let mut bindings: Vec<(u32, Name, u32, &Binding)> =
        bindings.map(|(binding, index)| (scope(binding), Name::of(&binding.name), index, binding)).collect();
    bindings.sort_unstable_by_key(|(scope, name, index, _)| (*scope, *name, *index));
    let of_one = bindings.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1));
    of_one.filter_map(|bindings| Some((bindings[0].0, bindings[0].1, variable(bindings)?))).collect()
}

/// The variable that is defined by the bindings of one name in one scope. A declared type takes precedence
/// over all assignments. The variable is opaque if the declarations (or, without a declaration, the
/// assignments) differ in their types.
fn variable<'f>(bindings: &[(u32, Name, u32, &'f Binding)]) -> Option<Variable<'f>> {
    let bindings = || bindings.iter().map(|(.., binding)| *binding);
    let declared = bindings().filter(|binding| binding.evidence == BindingEvidence::Annotation);
    let mut types = declared.map(|binding| binding.type_name.as_str());
    let (type_name, is_certain) = match types.next() {
        Some(first) => (first, types.all(|other| other == first)),
        None => {
            let first = bindings().next()?.type_name.as_str();
            (first, bindings().all(|binding| binding.type_name == first))
        }
    };
    Some(if is_certain && !type_name.is_empty() { Variable::Typed(type_name) } else { Variable::Opaque })
}

/// The names that are bound by imports inside functions.
fn imports(facts: &FileFacts, family: Family) -> Vec<(u32, Name, BoundName<'_>)> {
    let mut local = Vec::new();
    for import in &facts.imports {
        if let Some(scope) = import.enclosing.filter(|scope| facts.symbols[*scope as usize].kind != SymbolKind::Module)
        {
            let bound = bound_names(import, family).into_iter().filter(|bound| !bound.wildcard);
            local.extend(bound.map(|bound| (scope, bound.local, bound)));
        }
    }
    // The sort is stable, so the imports of one name stay in order of position.
    local.sort_by_key(|(scope, name, _)| (*scope, *name));
    local
}
