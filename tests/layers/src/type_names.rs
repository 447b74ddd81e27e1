//! Checks that each of several words is the name of at most one type, so that a reader knows which type the
//! word means.

use std::collections::BTreeMap;

use regex::Regex;

use crate::plain_english::{Text, texts};
use crate::prose::Form;

/// Words that were once names of several types. Each of these words may now be the name of at most one type.
const WORDS: &[&str] = &["Answer", "Asked", "Outcome", "Place", "Question", "SearchAnswer", "Target"];

/// Returns the types that a source defines. Associated types, which are indented, are left out.
fn types(text: &str) -> Vec<String> {
    let pattern =
        r"(?m)^(?:[ \t]*(?:pub(?:\([^)]*\))? )?(?:struct|enum|union|trait)|(?:pub(?:\([^)]*\))? )?type) (\w+)";
    let pattern = Regex::new(pattern).expect("a pattern");
    pattern.captures_iter(text).map(|found| found[1].to_owned()).collect()
}

#[test]
fn each_word_names_one_type() {
    let mut files: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for Text { name: file, text, .. } in texts().into_iter().filter(|text| text.form == Form::Rust) {
        for name in types(&text).into_iter().filter(|name| WORDS.contains(&name.as_str())) {
            files.entry(name).or_default().push(file.clone());
        }
    }
    assert!(files.len() > WORDS.len() / 2, "only {:?} were found", files.keys());
    files.retain(|_, files| files.len() > 1);
    assert!(files.is_empty(), "words with several meanings: {files:#?}");
}

#[test]
fn types_are_found_but_associated_types_are_not() {
    let text = "pub(crate) struct A;\nenum B {}\npub type C = A;\nimpl Deref for A {\n    type Target = B;\n}\n\
                fn f() {\n    struct D;\n}\n// struct E\n";
    assert_eq!(types(text), ["A", "B", "C", "D"]);
}
