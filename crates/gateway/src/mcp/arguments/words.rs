//! Finds the word that a caller most likely meant by an unknown word.

/// Words that other products use for a choice, each with the word of Cairn that has the same meaning.
const OTHER_WORDS: &[(&[&str], &str)] = &[
    (&["impact", "used_by", "usages", "references", "uses_of", "importers", "imported_by"], "dependents"),
    (&["rdeps", "reverse_dependencies", "dependants", "depended_on_by"], "dependents"),
    (&["called_by", "who_calls", "incoming_calls"], "callers"),
    (&["calls", "outgoing_calls"], "callees"),
    (&["uses", "imports", "deps", "depends_on", "requires"], "dependencies"),
    (&["extends", "implements", "subclasses", "subtypes", "hierarchy"], "inheritance"),
    (&["inherits", "inherited_by", "inherits_from"], "inheritance"),
    (&["bases", "parents", "superclasses", "implementations", "implementers", "overrides"], "inheritance"),
    (&["literal", "exact", "fixed", "plain", "string"], "text"),
    (&["regexp", "expression"], "regex"),
];

/// The word of Cairn that has the same meaning as the given word, if `words` contains it.
pub(super) fn word_of_other_word(words: &[&'static str], given: &str) -> Option<&'static str> {
    let folded = cairn_ranking::fold_style(given);
    let is_other =
        |(others, _): &&(&[&str], &'static str)| others.iter().any(|other| cairn_ranking::fold_style(other) == folded);
    let (_, word) = OTHER_WORDS.iter().find(is_other)?;
    words.contains(word).then_some(*word)
}

/// The word that the caller most likely meant, because its spelling is similar or its beginning is the same.
pub(crate) fn nearest_word(given: &str, words: &[&'static str]) -> Option<&'static str> {
    /// Minimum similarity. Less similar words are treated as different words.
    const LEAST_PERCENT: u32 = 50;
    /// Number of letters at the start that two forms of one word share (`inherits`, `inheritance`).
    const STEM_LETTERS: usize = 5;
    let given = cairn_ranking::fold_style(given);
    let likeness = |word: &&&'static str| {
        let word = cairn_ranking::fold_style(word);
        let alike = cairn_ranking::similarity_percent(&given, &word).filter(|percent| *percent >= LEAST_PERCENT);
        let shared = given.bytes().zip(word.bytes()).take_while(|(left, right)| left == right).count();
        alike.or((shared >= STEM_LETTERS).then_some(LEAST_PERCENT))
    };
    // If several words are equally similar, the first word in the table is returned.
    words.iter().rev().filter(|word| likeness(word).is_some()).max_by_key(likeness).copied()
}
