//! Splits identifiers into words, and finds the common words of several names.

use std::collections::BTreeMap;

/// Splits a name into words: `AWSImporter` → `AWS`, `Importer`; `load_csv2` → `load`, `csv2`.
pub(crate) fn split(name: &str) -> Vec<&str> {
    let mut words = Vec::new();
    for part in name.split(['_', '-', '.', ' ']).filter(|part| !part.is_empty()) {
        let chars: Vec<(usize, char)> = part.char_indices().collect();
        let mut start = 0;
        for index in 1..chars.len() {
            let (before, here) = (chars[index - 1].1, chars[index].1);
            let next = chars.get(index + 1).map(|(_, next)| *next);
            let is_hump = here.is_uppercase() && !before.is_uppercase();
            let ends_acronym = here.is_uppercase() && before.is_uppercase() && next.is_some_and(char::is_lowercase);
            if is_hump || ends_acronym {
                words.push(&part[start..chars[index].0]);
                start = chars[index].0;
            }
        }
        words.push(&part[start..]);
    }
    words
}

/// The longest sequence of words that all names end with. If the names have no such sequence, the longest
/// sequence of words that all names begin with. The result has the spelling of the first name.
pub(crate) fn common(names: &[&str]) -> Option<String> {
    let split: Vec<Vec<&str>> = names.iter().map(|name| self::split(name)).collect();
    let first = split.first()?;
    let at_end = num_shared(&split, |words, index| words.iter().rev().nth(index).copied());
    if at_end > 0 {
        return joined(names[0], &first[first.len() - at_end..]);
    }
    let at_start = num_shared(&split, |words, index| words.get(index).copied());
    joined(names[0], &first[..at_start])
}

/// A word that at least `percent` of the names end with. If no such word exists, a word that at least
/// `percent` of the names begin with.
pub(crate) fn of_most(names: &[&str], percent: usize) -> Option<String> {
    let (mut ends, mut starts): (BTreeMap<&str, usize>, BTreeMap<&str, usize>) = Default::default();
    for words in names.iter().map(|name| split(name)) {
        if let (Some(first), Some(last)) = (words.first(), words.last()) {
            *starts.entry(first).or_default() += 1;
            *ends.entry(last).or_default() += 1;
        }
    }
    let is_most = |count: usize| count * 100 >= names.len() * percent;
    let found = [ends, starts].into_iter().find_map(|counts| counts.into_iter().find(|(_, count)| is_most(*count)));
    found.map(|(word, _)| word.to_owned())
}

fn num_shared<'w>(names: &[Vec<&'w str>], word: impl Fn(&[&'w str], usize) -> Option<&'w str>) -> usize {
    let mut shared = 0;
    while let Some(first) = word(&names[0], shared) {
        if names.iter().any(|other| word(other, shared) != Some(first)) {
            break;
        }
        shared += 1;
    }
    shared
}

/// The part of `name` from the first to the last of `words`. The words must be slices of `name`.
fn joined(name: &str, words: &[&str]) -> Option<String> {
    let (first, last) = (words.first()?, words.last()?);
    let start = first.as_ptr() as usize - name.as_ptr() as usize;
    let end = last.as_ptr() as usize - name.as_ptr() as usize + last.len();
    Some(name[start..end].to_owned())
}

/// Replaces the first occurrence of `part` in a name with `*`, ignoring case. The words of `part` may be
/// joined or separated by `_`. A `part` of fewer than three letters is not replaced.
pub(crate) fn blank_out(name: &str, part: &str) -> String {
    let (lower, part) = (name.to_ascii_lowercase(), part.to_ascii_lowercase());
    let forms = [part.replace('-', "_"), part.replace(['_', '-'], "")];
    let found = forms.iter().filter(|form| form.len() >= 3).find_map(|form| Some((lower.find(form.as_str())?, form)));
    match found {
        Some((at, form)) => format!("{}*{}", &name[..at], &name[at + form.len()..]),
        None => name.to_owned(),
    }
}

/// The English plural of a word. The rules cover only regular plurals.
pub(crate) fn plural(word: &str) -> String {
    let ends = |endings: &[&str]| endings.iter().any(|ending| word.ends_with(ending));
    match word {
        _ if word.ends_with('y') && !ends(&["ay", "ey", "oy", "uy"]) => format!("{}ies", &word[..word.len() - 1]),
        _ if ends(&["s", "x", "ch", "sh"]) => format!("{word}es"),
        _ => format!("{word}s"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_split_at_capitals_and_separators() {
        let check = |name: &str, words: &[&str]| assert_eq!(split(name), words);
        check("AWSImporter", &["AWS", "Importer"]);
        check("GCPImporterV2", &["GCP", "Importer", "V2"]);
        check("load_csv2", &["load", "csv2"]);
        check("_x", &["x"]);
        check("", &[]);
        check("ÄußereForm", &["Äußere", "Form"]);
    }

    #[test]
    fn common_suffix_is_preferred_to_a_prefix() {
        let check = |names: &[&str], expect: Option<&str>| assert_eq!(common(names).as_deref(), expect, "{names:?}");
        check(&["AWSImporter", "AzureImporter", "GCPImporter"], Some("Importer"));
        check(&["AwsFileImporter", "GcpFileImporter"], Some("FileImporter"));
        check(&["HandlerUser", "HandlerOrder"], Some("Handler"));
        check(&["user_view", "order_view"], Some("view"));
        check(&["Alpha", "Beta"], None);
        check(&["Same", "Same"], Some("Same"));
        check(&["Reporter", "Importer"], None);
    }

    #[test]
    fn own_name_is_replaced_by_a_star() {
        assert_eq!(blank_out("import_aws", "aws"), "import_*");
        assert_eq!(blank_out("ImportBigQuery", "big_query"), "Import*");
        assert_eq!(blank_out("load_big_query", "big_query"), "load_*");
        assert_eq!(blank_out("run", "db"), "run");
    }

    #[test]
    fn plurals_are_formed() {
        assert_eq!(
            [plural("importer"), plural("policy"), plural("box"), plural("bus"), plural("key")],
            ["importers", "policies", "boxes", "buses", "keys"]
        );
    }
}
