//! Converts the filters that a question states in words to the chunk filter that stores apply.
//!
//! These filters are added to the filter of the caller. If the caller set a field of the filter, this field
//! is not changed.

use cairn_domain::ChunkKind;
use cairn_ports::{ChunkFilter, IncludeTests};
use cairn_question::{FilterName, Filters, TestsWanted};

/// The filter of the caller together with the filters that the question states.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Stated {
    pub(crate) filter: ChunkFilter,
    /// The words of the question that state the added filters.
    pub(crate) words: Vec<String>,
}

/// Adds the filters that a question states. `since` is the stated time in seconds since 1970. `None` if the
/// question states no filter for a field that the caller left empty.
pub(crate) fn with_stated(own: &ChunkFilter, filters: &Filters, since: Option<i64>) -> Option<Stated> {
    let mut filter = own.clone();
    let mut added = Vec::new();
    if own.languages.is_empty() && !filters.languages.is_empty() {
        filter.languages = filters.languages.iter().map(|language| (*language).to_owned()).collect();
        added.push(FilterName::Languages);
    }
    let kinds = chunk_kinds(&filters.kinds);
    if own.kinds.is_empty() && !kinds.is_empty() {
        filter.kinds = kinds;
        added.push(FilterName::Kinds);
    }
    let paths = globs(filters);
    if own.paths.is_empty() && own.module_prefixes.is_empty() && !paths.is_empty() {
        filter.paths = paths;
        added.extend([FilterName::Files, FilterName::Directories, FilterName::Modules]);
    }
    if let (IncludeTests::Include, Some(tests)) = (own.include_tests, filters.tests) {
        filter.include_tests = match tests {
            TestsWanted::Exclude => IncludeTests::Exclude,
            TestsWanted::Only => IncludeTests::Only,
        };
        added.push(FilterName::Tests);
    }
    if own.since.is_none() && since.is_some() {
        filter.since = since;
        added.push(FilterName::Since);
    }
    let of_added = filters.stated.iter().filter(|stated| added.contains(&stated.filter));
    let words: Vec<String> = of_added.map(|stated| stated.words.clone()).collect();
    (!words.is_empty()).then_some(Stated { filter, words })
}

/// Converts kinds of symbols to the kinds of chunks that contain such symbols. Adjacent small definitions
/// share a chunk of the kind `group`. Every chunk belongs to a file, so the word "files" does not restrict
/// the kinds.
fn chunk_kinds(symbol_kinds: &[&str]) -> Vec<ChunkKind> {
    use ChunkKind::{Class, Function, Group, Method, Summary};
    let mut kinds = Vec::new();
    for symbol_kind in symbol_kinds {
        let containing: &[ChunkKind] = match *symbol_kind {
            "file" => return Vec::new(),
            "function" | "method" | "macro" => &[Function, Method, Group],
            "constant" | "variable" | "field" => &[Group, Class],
            _ => &[Class, Summary, Method, Group],
        };
        kinds.extend(containing.iter().filter(|kind| !kinds.contains(*kind)).copied().collect::<Vec<_>>());
    }
    kinds
}

/// Globs that match the named files, directories and modules at any depth.
fn globs(filters: &Filters) -> Vec<String> {
    let mut globs = Vec::new();
    let escaped = |name: &str| if name.contains('*') { name.to_owned() } else { globset::escape(name) };
    for file in &filters.files {
        let file = escaped(file.trim_start_matches("./").trim_matches('/'));
        globs.extend([file.clone(), format!("**/{file}")]);
    }
    for directory in &filters.directories {
        let directory = escaped(directory.trim_matches('/'));
        globs.extend([format!("{directory}/**"), format!("**/{directory}/**")]);
    }
    for module in &filters.modules {
        let module = module.trim_matches('`').replace("::", "/").replace('.', "/");
        let module = in_any_case(module.trim_matches('/'));
        globs.extend([format!("{module}/**"), format!("**/{module}/**"), format!("**/{module}.*")]);
    }
    globs
}

/// A glob that matches a name in any case, because users write the names of modules in upper and lower case.
fn in_any_case(name: &str) -> String {
    if name.contains('*') {
        return name.to_owned();
    }
    let letter = |letter: char| {
        if letter.is_ascii_alphabetic() {
            format!("[{}{}]", letter.to_ascii_lowercase(), letter.to_ascii_uppercase())
        } else {
            globset::escape(&letter.to_string())
        }
    };
    name.chars().map(letter).collect()
}

#[cfg(test)]
mod tests {
    use cairn_question::{ParseOptions, ParsedQuery};

    use super::*;

    const NOON: i64 = 951_825_600;

    fn stated(question: &str, own: &ChunkFilter) -> Option<Stated> {
        let filters = ParsedQuery::new(question, ParseOptions::default()).filters;
        let since = filters.since.map(|since| since.earliest_second(NOON));
        with_stated(own, &filters, since)
    }

    fn check(question: &str, words: &[&str], expect: ChunkFilter) {
        let found = stated(question, &ChunkFilter::default()).unwrap_or_else(|| panic!("{question} states no filter"));
        assert_eq!(
            (found.words, found.filter),
            (words.iter().map(ToString::to_string).collect(), expect),
            "{question}"
        );
    }

    #[test]
    fn words_become_a_filter() {
        use ChunkKind::{Class, Function, Group, Method, Summary};
        let none = ChunkFilter::default;
        let texts = |texts: &[&str]| texts.iter().map(ToString::to_string).collect::<Vec<_>>();
        let in_module = |name: &str| texts(&[&format!("{name}/**"), &format!("**/{name}/**"), &format!("**/{name}.*")]);
        check(
            "functions that parse dates",
            &["functions that"],
            ChunkFilter { kinds: vec![Function, Method, Group], ..none() },
        );
        check(
            "classes in auth.py",
            &["classes", "in auth.py"],
            ChunkFilter {
                kinds: vec![Class, Summary, Method, Group],
                paths: texts(&["auth.py", "**/auth.py"]),
                ..none()
            },
        );
        check(
            "token checks in the billing module",
            &["in the billing module"],
            ChunkFilter { paths: in_module("[bB][iI][lL][lL][iI][nN][gG]"), ..none() },
        );
        check(
            "retries in src/net",
            &["in src/net"],
            ChunkFilter { paths: texts(&["src/net/**", "**/src/net/**"]), ..none() },
        );
        check(
            "python retry logic without tests",
            &["python", "without tests"],
            ChunkFilter { languages: texts(&["python"]), include_tests: IncludeTests::Exclude, ..none() },
        );
        check(
            "handlers since last week",
            &["since last week"],
            ChunkFilter { since: Some(951_782_400 - 7 * 86_400), ..none() },
        );
    }

    #[test]
    fn fields_of_the_caller_are_not_changed() {
        let own = ChunkFilter { languages: vec!["go".to_owned()], since: Some(1), ..ChunkFilter::default() };
        assert_eq!(stated("python handlers since last week", &own), None);
        let found = stated("python handlers without tests", &own).expect("a filter");
        assert_eq!(found.words, ["without tests"]);
        assert_eq!(found.filter, ChunkFilter { include_tests: IncludeTests::Exclude, ..own });
        assert_eq!(stated("where is the date parsed", &ChunkFilter::default()), None);
    }
}
