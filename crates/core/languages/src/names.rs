//! Other names of languages.

/// Common names of languages that differ from the names in the table. Sorted.
const OTHER_NAMES: [(&str, &str); 21] = [
    ("c#", "csharp"),
    ("c++", "cpp"),
    ("cs", "csharp"),
    ("docker", "dockerfile"),
    ("ex", "elixir"),
    ("golang", "go"),
    ("hs", "haskell"),
    ("js", "javascript"),
    ("jsx", "javascript"),
    ("kt", "kotlin"),
    ("md", "markdown"),
    ("node", "javascript"),
    ("node.js", "javascript"),
    ("nodejs", "javascript"),
    ("py", "python"),
    ("python3", "python"),
    ("rb", "ruby"),
    ("rs", "rust"),
    ("sh", "bash"),
    ("shell", "bash"),
    ("ts", "typescript"),
];

/// The name of a language as the index stores it, for a name in any case, or for another common name: `go`
/// for `Golang`. An unknown name is returned in lower case.
pub fn language_name(name: &str) -> String {
    let lower = name.trim().to_lowercase();
    match OTHER_NAMES.binary_search_by(|(other, _)| (*other).cmp(lower.as_str())) {
        Ok(index) => OTHER_NAMES[index].1.to_owned(),
        Err(_) => lower,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_names_of_languages_are_known() {
        assert!(OTHER_NAMES.is_sorted());
        for (name, expect) in [("Golang", "go"), ("C++", "cpp"), ("PYTHON", "python"), ("cobol", "cobol")] {
            assert_eq!(language_name(name), expect);
        }
        // A name in the table is not replaced.
        for (other, name) in OTHER_NAMES {
            assert!(crate::by_name(other).is_none() && crate::by_name(name).is_some(), "{other} {name}");
        }
    }
}
