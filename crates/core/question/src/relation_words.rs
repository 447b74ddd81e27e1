//! The verbs and nouns that relate code to other code, and the relations that these words ask for.

use crate::relation::Relation;

/// A verb that relates a subject to an object: the subject calls the object.
#[derive(Debug)]
pub(crate) struct Verb {
    /// "calls"
    pub(crate) third: &'static str,
    /// "call"
    pub(crate) base: &'static str,
    /// "calling"
    pub(crate) ing: &'static str,
    /// "called"
    pub(crate) participle: &'static str,
    /// The relation in a question about the subjects of the verb: callers for "who calls X".
    pub(crate) subjects: Relation,
    /// The relation in a question about the objects of the verb: callees for "what does X call".
    pub(crate) objects: Relation,
    /// Whether the verb relates code only if its object looks like an identifier. This is true for "creates"
    /// and false for "calls".
    pub(crate) is_weak: bool,
    /// Whether the passive form asks for a relation after "where". For example, this is false for
    /// "implements", because "where is X implemented" asks for a definition.
    pub(crate) has_passive: bool,
}

const fn verb(forms: [&'static str; 4], relations: (Relation, Relation), is_weak: bool, has_passive: bool) -> Verb {
    let [third, base, ing, participle] = forms;
    Verb { third, base, ing, participle, subjects: relations.0, objects: relations.1, is_weak, has_passive }
}

const CALLS: (Relation, Relation) = (Relation::Callers, Relation::Callees);
const USES: (Relation, Relation) = (Relation::Users, Relation::Uses);
const IMPORTS: (Relation, Relation) = (Relation::Importers, Relation::Imports);
const DEPENDS: (Relation, Relation) = (Relation::Dependents, Relation::Dependencies);
const TYPES: (Relation, Relation) = (Relation::Subtypes, Relation::Supertypes);
const OVERRIDES: (Relation, Relation) = (Relation::Overrides, Relation::Overridden);
const CREATES: (Relation, Relation) = (Relation::Creators, Relation::Uses);

/// Longer forms of a verb are listed before shorter forms.
pub(crate) const VERBS: &[Verb] = &[
    verb(["calls out to", "call out to", "calling out to", "called out to"], CALLS, false, false),
    verb(["calls into", "call into", "calling into", "called into"], CALLS, false, true),
    verb(["calls", "call", "calling", "called"], CALLS, false, true),
    verb(["invokes", "invoke", "invoking", "invoked"], CALLS, false, true),
    verb(["triggers", "trigger", "triggering", "triggered"], CALLS, true, true),
    verb(["executes", "execute", "executing", "executed"], CALLS, true, true),
    verb(["awaits", "await", "awaiting", "awaited"], CALLS, true, true),
    verb(["makes use of", "make use of", "making use of", "made use of"], USES, false, false),
    verb(["uses", "use", "using", "used"], USES, false, true),
    verb(["utilizes", "utilize", "utilizing", "utilized"], USES, false, true),
    verb(["utilises", "utilise", "utilising", "utilised"], USES, false, true),
    verb(["references", "reference", "referencing", "referenced"], USES, false, true),
    verb(["refers to", "refer to", "referring to", "referred to"], USES, false, true),
    verb(["consumes", "consume", "consuming", "consumed"], USES, true, true),
    verb(["mentions", "mention", "mentioning", "mentioned"], USES, true, true),
    verb(["touches", "touch", "touching", "touched"], USES, true, true),
    verb(["accesses", "access", "accessing", "accessed"], USES, true, true),
    verb(["returns", "return", "returning", "returned"], USES, true, true),
    verb(["accepts", "accept", "accepting", "accepted"], USES, true, false),
    verb(["takes", "take", "taking", "taken"], USES, true, false),
    verb(["throws", "throw", "throwing", "thrown"], USES, true, true),
    verb(["raises", "raise", "raising", "raised"], USES, true, true),
    verb(["catches", "catch", "catching", "caught"], USES, true, true),
    verb(["needs", "need", "needing", "needed"], USES, true, true),
    verb(["covers", "cover", "covering", "covered"], USES, true, true),
    verb(["exercises", "exercise", "exercising", "exercised"], USES, true, true),
    verb(["renders", "render", "rendering", "rendered"], USES, true, false),
    verb(["wraps", "wrap", "wrapping", "wrapped"], USES, true, true),
    verb(["imports from", "import from", "importing from", "imported from"], IMPORTS, false, true),
    verb(["imports", "import", "importing", "imported"], IMPORTS, false, true),
    verb(["includes", "include", "including", "included"], IMPORTS, true, true),
    verb(["requires", "require", "requiring", "required"], IMPORTS, true, true),
    verb(["depends on", "depend on", "depending on", "depended on"], DEPENDS, false, true),
    verb(["depends upon", "depend upon", "depending upon", "depended upon"], DEPENDS, false, true),
    verb(["depends of", "depend of", "depending of", "depended of"], DEPENDS, false, false),
    verb(["depends from", "depend from", "depending from", "depended from"], DEPENDS, false, false),
    verb(["is dependent on", "are dependent on", "dependent on", "dependent on"], DEPENDS, false, false),
    verb(["relies on", "rely on", "relying on", "relied on"], DEPENDS, false, true),
    verb(["extends", "extend", "extending", "extended"], TYPES, false, true),
    verb(["inherits from", "inherit from", "inheriting from", "inherited from"], TYPES, false, true),
    verb(["inherits", "inherit", "inheriting", "inherited"], TYPES, false, true),
    verb(["derives from", "derive from", "deriving from", "derived from"], TYPES, true, true),
    verb(["subclasses", "subclass", "subclassing", "subclassed"], TYPES, false, true),
    verb(["implements", "implement", "implementing", "implemented"], TYPES, true, false),
    verb(["conforms to", "conform to", "conforming to", "conformed to"], TYPES, true, false),
    verb(["overrides", "override", "overriding", "overridden"], OVERRIDES, true, true),
    verb(["instantiates", "instantiate", "instantiating", "instantiated"], CREATES, false, true),
    verb(["constructs", "construct", "constructing", "constructed"], CREATES, true, true),
    verb(["creates", "create", "creating", "created"], CREATES, true, true),
];

/// A noun that relates code to other code, such as "callers" in "callers of X".
#[derive(Debug)]
pub(crate) struct Noun {
    pub(crate) words: &'static [&'static str],
    /// The prepositions that may be between the noun and the name.
    pub(crate) prepositions: &'static [&'static str],
    pub(crate) relation: Relation,
    /// Whether the noun relates code only if the name looks like an identifier.
    pub(crate) is_weak: bool,
    /// Whether the noun has no meaning other than the relation. If so, the noun states the relation even
    /// without a preposition, as in "redis usages".
    pub(crate) is_exclusive: bool,
}

const fn noun(
    words: &'static [&'static str],
    prepositions: &'static [&'static str],
    relation: Relation,
    is_weak: bool,
    is_exclusive: bool,
) -> Noun {
    Noun { words, prepositions, relation, is_weak, is_exclusive }
}

/// Longer nouns are listed before the nouns that they contain.
pub(crate) const NOUNS: &[Noun] = &[
    noun(&["callers", "caller"], &["of", "to", "for"], Relation::Callers, false, true),
    noun(&["callees", "callee"], &["of", "for", "in"], Relation::Callees, false, true),
    noun(
        &["call sites", "call site", "callsites", "call-sites", "invocations"],
        &["of", "to", "for"],
        Relation::Callers,
        false,
        true,
    ),
    noun(&["invocation"], &["of", "to"], Relation::Callers, true, false),
    noun(
        &["call hierarchy", "call tree", "call graph", "callgraph"],
        &["of", "for", "around"],
        Relation::CallHierarchy,
        false,
        false,
    ),
    noun(&["call stack"], &["of", "for"], Relation::CallHierarchy, true, false),
    noun(&["calls"], &["to", "of", "into"], Relation::Callers, false, false),
    noun(&["call"], &["to", "of", "into"], Relation::Callers, true, false),
    noun(&["calls", "call"], &["from", "in", "by", "inside"], Relation::Callees, true, false),
    noun(&["calls made"], &["to"], Relation::Callers, false, false),
    noun(&["calls made"], &["by", "from", "in"], Relation::Callees, false, false),
    noun(&["usages", "usage"], &["of", "for"], Relation::Users, false, true),
    noun(&["uses"], &["of", "for"], Relation::Users, false, false),
    noun(&["users", "use"], &["of"], Relation::Users, true, false),
    noun(&["references", "reference", "refs"], &["to", "of", "on"], Relation::Users, false, false),
    noun(&["mentions", "occurrences", "occurences"], &["of"], Relation::Users, false, false),
    noun(&["importers", "importer"], &["of"], Relation::Importers, false, false),
    noun(&["imports"], &["of", "in", "by"], Relation::Imports, false, false),
    noun(&["imports", "import"], &["from"], Relation::Importers, true, false),
    noun(&["reverse dependencies", "reverse deps"], &["of", "for"], Relation::Dependents, false, true),
    noun(&["dependents", "dependants"], &["of", "on"], Relation::Dependents, false, true),
    noun(&["dependencies", "dependency", "deps"], &["of", "for", "in"], Relation::Dependencies, false, false),
    noun(&["dependencies", "dependency"], &["on", "to"], Relation::Dependents, false, false),
    noun(&["dependency graph", "dependency tree"], &["of", "for"], Relation::Dependencies, false, false),
    noun(&["consumers", "clients"], &["of"], Relation::Dependents, true, false),
    noun(&["impact", "blast radius"], &["of"], Relation::Dependents, true, false),
    noun(
        &[
            "subclasses",
            "subclass",
            "sub classes",
            "sub-classes",
            "child classes",
            "derived classes",
            "derived types",
            "subtypes",
            "inheritors",
        ],
        &["of", "for", "from"],
        Relation::Subtypes,
        false,
        true,
    ),
    noun(&["implementors", "implementers"], &["of", "for"], Relation::Subtypes, false, true),
    noun(
        &["implementations", "children", "descendants", "implementing classes"],
        &["of", "for"],
        Relation::Subtypes,
        true,
        false,
    ),
    noun(
        &[
            "superclasses",
            "superclass",
            "super class",
            "base classes",
            "base class",
            "parent classes",
            "parent class",
            "supertypes",
        ],
        &["of", "for"],
        Relation::Supertypes,
        false,
        true,
    ),
    noun(&["parents", "parent", "ancestors", "bases"], &["of"], Relation::Supertypes, true, false),
    noun(&["overrides", "overriders", "overridings"], &["of", "for"], Relation::Overrides, true, false),
    noun(
        &[
            "class hierarchy",
            "type hierarchy",
            "inheritance hierarchy",
            "inheritance tree",
            "inheritance chain",
            "inheritance",
        ],
        &["of", "for"],
        Relation::Hierarchy,
        false,
        false,
    ),
    noun(&["instantiations"], &["of"], Relation::Creators, false, true),
    noun(&["instances"], &["of"], Relation::Creators, true, false),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn longer_forms_come_before_their_parts() {
        for (index, verb) in VERBS.iter().enumerate() {
            let hidden = VERBS[..index].iter().find(|before| verb.base.starts_with(&format!("{} ", before.base)));
            assert!(hidden.is_none(), "{} is never found", verb.base);
        }
    }
}
