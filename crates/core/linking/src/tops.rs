//! Resolves names at the top level of a file, of an inline module, or of a package.

use cairn_domain::{Resolution, SymbolKind};

use crate::lookup::Lookup;
use crate::modules::{folder_member, import_target, submodule};
use crate::names::FileId;
use crate::queries::{LinkQuery, Topic};
use crate::referents::{Ask, Finding, Referent, Referents, Want};
use crate::rules::Rules;
use crate::select::select;
use crate::{Family, ImportFact, Name};

/// The place from which a name is looked up: the file itself or another file. Inside the file, all names of
/// the file are visible. From other files, only the exports of the file are visible.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum View {
    Inside,
    Outside,
}

impl<'e> Lookup<'e> {
    /// Resolves `name` for a reference inside the file, at the top level of the file or in one of its inline
    /// modules. The definitions and the imports of the file are searched first, then the package of the file,
    /// then the wildcard imports of the file.
    pub(crate) fn visible(&mut self, file: FileId, container: Name, name: &str, ask: Ask) -> Finding {
        let query = LinkQuery::new(Topic::Visible, file, container, Name::of(name), ask);
        self.remembered(query, |lookup| lookup.find_visible(file, container, name, ask))
    }

    fn find_visible(&mut self, file: FileId, container: Name, name: &str, ask: Ask) -> Finding {
        let family = self.contribution(file).family;
        let own = self.own_or_imported(file, container, name, ask, View::Inside);
        if !own.is_nothing() {
            return own;
        }
        if !container.is_empty() && !Rules::of(family).modules_are_closed {
            let outer = self.container_of(file, container);
            let found = self.visible_without_wildcards(file, outer, name, ask);
            if !found.is_nothing() {
                return found;
            }
        }
        let package = self.in_own_package(file, container, name, ask);
        if !package.is_nothing() {
            return package;
        }
        let wildcard = self.through_wildcards(file, container, name, ask, View::Inside);
        if !wildcard.is_nothing() || container.is_empty() || Rules::of(family).modules_are_closed {
            return wildcard;
        }
        self.through_wildcards(file, Name::EMPTY, name, ask, View::Inside)
    }

    fn visible_without_wildcards(&mut self, file: FileId, container: Name, name: &str, ask: Ask) -> Finding {
        let found = self.own_or_imported(file, container, name, ask, View::Inside);
        if found.is_nothing() && !container.is_empty() && self.spend() {
            let outer = self.container_of(file, container);
            return self.visible_without_wildcards(file, outer, name, ask);
        }
        found
    }

    /// Resolves `name` for a reference from another file, at the top level of the file or in one of its
    /// inline modules.
    pub(crate) fn exported(&mut self, file: FileId, container: Name, name: &str, ask: Ask) -> Finding {
        let query = LinkQuery::new(Topic::Exported, file, container, Name::of(name), ask);
        self.remembered(query, |lookup| {
            let own = lookup.own_or_imported(file, container, name, ask, View::Outside);
            if own.is_nothing() { lookup.through_wildcards(file, container, name, ask, View::Outside) } else { own }
        })
    }

    fn own_or_imported(&mut self, file: FileId, container: Name, name: &str, ask: Ask, view: View) -> Finding {
        let topic = match view {
            View::Inside => Topic::Own,
            View::Outside => Topic::OwnExported,
        };
        let query = LinkQuery::new(topic, file, container, Name::of(name), ask);
        self.remembered(query, |lookup| lookup.find_own_or_imported(file, container, name, ask, view))
    }

    fn find_own_or_imported(&mut self, file: FileId, container: Name, name: &str, ask: Ask, view: View) -> Finding {
        if !self.spend() {
            return Finding::Nothing;
        }
        let rules = Rules::of(self.contribution(file).family);
        let hashed = Name::of(name);
        let members = self.own_members(file, container, hashed, view);
        // In Rust, a module is declared in its parent but may be written in a separate file.
        if ask.want == Want::Any
            && members.iter().any(|(file, index)| self.definition(*file, *index).kind == SymbolKind::Module)
        {
            let module = submodule(self, file, container, name);
            if !module.is_nothing() {
                return module;
            }
        }
        let own = select(self, members.into_iter(), ask, rules);
        let imported = self.find_imported(file, container, hashed, ask, view);
        match (own.is_nothing(), imported.is_nothing()) {
            (false, false) if own.is_same_as(&imported) => own,
            // The name is both defined and imported. Which of the two applies depends on a condition in the
            // source or on the kind of the requested item.
            (false, false) if ask.want != Want::Any => own.or(imported).at_most(Resolution::Heuristic),
            (false, _) => own,
            (true, false) => imported,
            (true, true) => submodule(self, file, container, name),
        }
    }

    /// The definitions of `name` in the file that a reference can see from `view`.
    fn own_members(&mut self, file: FileId, container: Name, name: Name, view: View) -> Vec<(FileId, u32)> {
        let hides_private = view == View::Outside && Rules::of(self.contribution(file).family).files_hide_private;
        let members = self.members(file, container, name);
        let is_visible = |(file, index): &(FileId, u32)| {
            let definition = self.definition(*file, *index);
            let is_hidden = hides_private && definition.private;
            !definition.local && !is_hidden
        };
        members.iter().filter(is_visible).collect()
    }

    /// Resolves `name` through the imports that bind it. If the reference is in another file, an import is
    /// used only if its name can also be imported from this file.
    fn find_imported(&mut self, file: FileId, container: Name, name: Name, ask: Ask, view: View) -> Finding {
        let imports_are_members = Rules::of(self.contribution(file).family).imports_are_members;
        let mut imported = Finding::Nothing;
        for import in self.bindings(file, container, name) {
            if !self.has_fuel() {
                break;
            }
            if view == View::Inside || import.reexport || imports_are_members {
                imported =
                    imported.or(import_target(self, file, container, &import.bound(), ask).at_most(Resolution::Import));
            }
        }
        imported
    }

    /// Resolves a name of the package or namespace that contains the file.
    fn in_own_package(&mut self, file: FileId, container: Name, name: &str, ask: Ask) -> Finding {
        let contribution = self.contribution(file);
        let rules = Rules::of(contribution.family);
        if !rules.package_scope || rules.packages_are_files {
            return Finding::Nothing;
        }
        let namespace = match self.module_definition(file, container) {
            Some(index) => self.definition(file, index).full,
            None => contribution.namespace,
        };
        let mut found = self.in_package(contribution.family, namespace, name, ask);
        if contribution.family == Family::CSharp && found.is_nothing() {
            found = self.in_outer_namespaces(contribution.outer_namespaces(), name, ask);
        }
        match contribution.family {
            Family::Go => found,
            // A module can be referred to from every file. A function outside of all modules belongs to a
            // script and is visible only there.
            Family::Elixir if found.is_nothing() && ask.want != Want::Call => {
                self.in_package(contribution.family, Name::EMPTY, name, ask)
            }
            Family::Elixir => found,
            // All files without a package declaration share one namespace.
            _ if namespace.is_empty() => found.at_most(Resolution::Heuristic),
            // A definition in the namespace is visible only if its file is included or loaded, so the result
            // is not certain.
            Family::C | Family::Ruby => found.at_most(Resolution::Heuristic),
            _ => found,
        }
    }

    /// In C#, the names of the namespace `A` are visible inside the namespace `A.B`.
    fn in_outer_namespaces(&mut self, outer: &[Name], name: &str, ask: Ask) -> Finding {
        for namespace in outer {
            let found = self.in_package(Family::CSharp, *namespace, name, ask);
            if !found.is_nothing() || !self.has_fuel() {
                return found;
            }
        }
        Finding::Nothing
    }

    /// Resolves `name` at the top level of a package.
    pub(crate) fn in_package(&mut self, family: Family, namespace: Name, name: &str, ask: Ask) -> Finding {
        if !self.spend() {
            return Finding::Nothing;
        }
        let (rules, hashed) = (Rules::of(family), Name::of(name));
        let members = self.package_members(family, namespace, hashed);
        let query = LinkQuery::new(Topic::Package, family as FileId, namespace, hashed, ask);
        self.shared(query, members.len(), |lookup| {
            let is_open =
                |(file, index): &(FileId, u32)| !rules.files_hide_private || !lookup.definition(*file, *index).private;
            let members: Vec<(FileId, u32)> = members.iter().filter(is_open).collect();
            select(lookup, members.into_iter(), ask, rules)
        })
    }

    fn package_member(&mut self, family: Family, namespace: Name, name: &str, ask: Ask) -> Finding {
        if family == Family::Python {
            return folder_member(self, namespace, name);
        }
        let found = match Rules::of(family).packages_are_files {
            true => self.in_files_of_package(family, namespace, name, ask),
            false => self.in_package(family, namespace, name, ask),
        };
        let inner = namespace.dot(name);
        if found.is_nothing() && family != Family::Go && self.package_files(family, inner).len() > 0 {
            return Finding::of(Referents::one(Referent::Package(family, inner)), Resolution::Import);
        }
        found
    }

    /// Resolves `name` in the files of a package, for families in which every file is a separate package.
    /// Searches the exports and re-exports of the files.
    fn in_files_of_package(&mut self, family: Family, namespace: Name, name: &str, ask: Ask) -> Finding {
        let mut found = Finding::Nothing;
        for file in self.package_files(family, namespace) {
            if !self.has_fuel() {
                break;
            }
            found = found.or(self.exported(file, Name::EMPTY, name, ask));
        }
        found
    }

    /// Whether a referent is the file's own package: a file can re-export itself, as in `module A (module A,
    /// …)` in Haskell.
    fn is_itself(&self, file: FileId, referent: Referent) -> bool {
        let contribution = self.contribution(file);
        Rules::of(contribution.family).packages_are_files
            && referent == Referent::Package(contribution.family, contribution.namespace)
    }

    /// Keeps only the referents that are members of a type or class.
    fn only_members(&self, found: Finding) -> Finding {
        let Finding::Found(referents, resolution) = found else { return found };
        let mut members = Referents::default();
        for referent in referents.as_slice() {
            if matches!(*referent, Referent::Definition { file, index } if self.definition(file, index).at_top) {
                members.add(*referent);
            }
        }
        Finding::of(members, resolution)
    }

    fn through_wildcards(&mut self, file: FileId, container: Name, name: &str, ask: Ask, view: View) -> Finding {
        if !self.spend() {
            return Finding::Nothing;
        }
        let rules = Rules::of(self.contribution(file).family);
        let mut found = Finding::Nothing;
        let mut is_open = false;
        for (index, import) in self.wildcards(file, container) {
            if !self.has_fuel() {
                break;
            }
            if view == View::Outside && !import.reexport && !rules.imports_are_members {
                continue;
            }
            match self.wildcard_target(file, container, index, import) {
                Finding::Found(referents, _) => {
                    for referent in referents.as_slice() {
                        if self.is_itself(file, *referent) {
                            continue;
                        }
                        let member = self.member_of(*referent, name, ask);
                        found = found.or(if import.members_only { self.only_members(member) } else { member });
                    }
                }
                Finding::External => is_open |= !import.members_only,
                Finding::Nothing => {}
            }
        }
        match found {
            Finding::Nothing if is_open => Finding::External,
            Finding::External | Finding::Nothing => found,
            Finding::Found(..) => found.at_most(Resolution::Import),
        }
    }

    fn wildcard_target(&mut self, file: FileId, container: Name, index: u32, import: &ImportFact) -> Finding {
        let query = LinkQuery::new(Topic::Wildcard, file, container, Name(index.into()), Ask::ANY);
        self.remembered(query, |lookup| import_target(lookup, file, container, &import.bound(), Ask::ANY))
    }

    /// The symbol of the inline module or class with this qualified name in the file.
    pub(crate) fn module_definition(&self, file: FileId, qualified: Name) -> Option<u32> {
        self.contribution(file).container(qualified)
    }

    fn container_of(&self, file: FileId, container: Name) -> Name {
        self.module_definition(file, container).map_or(Name::EMPTY, |index| self.definition(file, index).container)
    }

    /// Resolves `name` as a member of a referent: `referent.name`.
    pub(crate) fn member_of(&mut self, referent: Referent, name: &str, ask: Ask) -> Finding {
        if !self.spend() {
            return Finding::Nothing;
        }
        match referent {
            Referent::File { file, container } => self.exported(file, container, name, ask),
            Referent::Package(family, namespace) => self.package_member(family, namespace, name, ask),
            Referent::Definition { file, index } => {
                let definition = self.definition(file, index);
                if definition.kind != SymbolKind::Module {
                    return self.class_member(file, index, name, ask);
                }
                let own = self.exported(file, definition.qualified, name, ask);
                if own.is_nothing() {
                    self.in_package(self.contribution(file).family, definition.full, name, ask)
                } else {
                    own
                }
            }
        }
    }
}
