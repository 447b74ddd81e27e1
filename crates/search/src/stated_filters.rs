//! Converts the filters that a question states in words to the chunk filter that stores apply.
//!
//! These filters are added to the filter of the caller. If the caller set a field of the filter, this field
//! is not changed, and the answer states which words of the question are not applied.

use cairn_domain::{ChunkKind, RepoPath};
use cairn_ports::{ChunkFilter, IncludeTests};
use cairn_question::{FilterName, Filters, TestsWanted};

use crate::chunk_filter::CompiledFilter;

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
    let added = fields(filters, since, |field| !is_set(own, field));
    let mut filter = own.clone();
    for field in &added {
        match field {
            FilterName::Languages => {
                filter.languages = filters.languages.iter().map(|language| (*language).to_owned()).collect();
            }
            FilterName::Kinds => filter.kinds = chunk_kinds(&filters.kinds),
            FilterName::Files | FilterName::Directories | FilterName::Modules => filter.paths = globs(filters),
            FilterName::Tests => filter.include_tests = filters.tests.map_or(own.include_tests, include_tests),
            FilterName::Since => filter.since = since,
        }
    }
    let words = words_of(filters, &added);
    (!words.is_empty()).then_some(Stated { filter, words })
}

/// The words of the question for filters that are not applied, because the filter of the caller accepts other
/// values in the same field.
pub(crate) fn overridden(own: &ChunkFilter, filters: &Filters, since: Option<i64>) -> Vec<String> {
    let stated = with_stated(&ChunkFilter::default(), filters, since).map(|stated| stated.filter).unwrap_or_default();
    let compiled = CompiledFilter::new(&stated).ok();
    let is_in_stated = |own: &String| {
        let path = RepoPath::parse(own).ok();
        path.zip(compiled.as_ref()).is_some_and(|(path, stated)| stated.lets_file_through(&path))
    };
    let differs = |field: FilterName| match field {
        FilterName::Languages => own.languages.iter().any(|own| !stated.languages.contains(own)),
        FilterName::Kinds => own.kinds.iter().any(|own| !stated.kinds.contains(own)),
        FilterName::Files | FilterName::Directories | FilterName::Modules => !own.paths.iter().any(is_in_stated),
        FilterName::Tests => own.include_tests != stated.include_tests,
        FilterName::Since => own.since != stated.since,
    };
    words_of(filters, &fields(filters, since, |field| is_set(own, field) && differs(field)))
}

/// The fields for which the question states a filter that restricts chunks, and for which `is_wanted` is
/// true.
fn fields(filters: &Filters, since: Option<i64>, is_wanted: impl Fn(FilterName) -> bool) -> Vec<FilterName> {
    let stated = [
        (FilterName::Languages, !filters.languages.is_empty()),
        (FilterName::Kinds, !chunk_kinds(&filters.kinds).is_empty()),
        (FilterName::Files, !filters.files.is_empty()),
        (FilterName::Directories, !filters.directories.is_empty()),
        (FilterName::Modules, !filters.modules.is_empty()),
        (FilterName::Tests, filters.tests.is_some()),
        (FilterName::Since, since.is_some()),
    ];
    stated.into_iter().filter(|(field, is_stated)| *is_stated && is_wanted(*field)).map(|(field, _)| field).collect()
}

/// Whether the caller set a field. If the caller gave a module and the question states a place, both restrict
/// the results, because they are different fields.
fn is_set(own: &ChunkFilter, field: FilterName) -> bool {
    match field {
        FilterName::Languages => !own.languages.is_empty(),
        FilterName::Kinds => !own.kinds.is_empty(),
        FilterName::Files | FilterName::Directories | FilterName::Modules => !own.paths.is_empty(),
        FilterName::Tests => own.include_tests != IncludeTests::Include,
        FilterName::Since => own.since.is_some(),
    }
}

fn words_of(filters: &Filters, fields: &[FilterName]) -> Vec<String> {
    let of_fields = filters.stated.iter().filter(|stated| fields.contains(&stated.filter));
    of_fields.map(|stated| stated.words.clone()).collect()
}

fn include_tests(wanted: TestsWanted) -> IncludeTests {
    match wanted {
        TestsWanted::Exclude => IncludeTests::Exclude,
        TestsWanted::Only => IncludeTests::Only,
    }
}

/// Converts kinds of symbols to the kinds of chunks that contain such symbols. Adjacent small definitions
/// share a chunk of the kind `group`, and the chunk of a class contains its short methods. A chunk of the
/// kind `method` contains no type. Every chunk belongs to a file, so the word "files" does not restrict the
/// kinds.
fn chunk_kinds(symbol_kinds: &[&str]) -> Vec<ChunkKind> {
    use ChunkKind::{Class, Function, Group, Method, Summary};
    let mut kinds = Vec::new();
    for symbol_kind in symbol_kinds {
        let containing: &[ChunkKind] = match *symbol_kind {
            "file" => return Vec::new(),
            "function" | "method" => &[Function, Method, Group, Class, Summary],
            "macro" => &[Function, Group],
            "constant" | "variable" | "field" => &[Group, Class],
            _ => &[Class, Summary, Group],
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
            ChunkFilter { kinds: vec![Function, Method, Group, Class, Summary], ..none() },
        );
        check(
            "classes in auth.py",
            &["classes", "in auth.py"],
            ChunkFilter { kinds: vec![Class, Summary, Group], paths: texts(&["auth.py", "**/auth.py"]), ..none() },
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

    /// Each word for a kind admits the chunks that contain definitions of this kind, and no others.
    #[test]
    fn words_for_kinds_become_kinds_of_chunks() {
        use ChunkKind::{Class, Function, Group, Method, Summary};
        let check = |words: &[&str], expect: &[ChunkKind]| {
            for word in words {
                let found = stated(&format!("list {word}"), &ChunkFilter::default()).map(|stated| stated.filter.kinds);
                assert_eq!(found.as_deref(), Some(expect), "{word}");
            }
        };
        check(&["functions", "methods", "funcs"], &[Function, Method, Group, Class, Summary]);
        let types = ["classes", "structs", "enums", "interfaces", "traits", "protocols", "types", "dataclasses"];
        check(&types, &[Class, Summary, Group]);
        check(&["constants", "consts"], &[Group, Class]);
        check(&["macros"], &[Function, Group]);
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

    /// A module of the caller and a place in the question restrict the results together.
    #[test]
    fn stated_place_is_added_to_the_module_of_the_caller() {
        let own = ChunkFilter { module_prefixes: vec!["billing".to_owned()], ..ChunkFilter::default() };
        let found = stated("classes in auth.py", &own).expect("a filter");
        assert_eq!(found.words, ["classes", "in auth.py"]);
        assert_eq!((found.filter.module_prefixes.len(), found.filter.paths.len()), (1, 2));
    }

    #[test]
    fn words_that_the_caller_overrides_are_reported() {
        let check = |question: &str, own: ChunkFilter, expect: &[&str]| {
            let filters = ParsedQuery::new(question, ParseOptions::default()).filters;
            let since = filters.since.map(|since| since.earliest_second(NOON));
            assert_eq!(overridden(&own, &filters, since), expect, "{question}");
        };
        let none = ChunkFilter::default;
        let in_path = ChunkFilter { paths: vec!["billing/**".to_owned()], ..none() };
        check("classes in auth.py", in_path.clone(), &["in auth.py"]);
        check("classes of the parser", in_path, &[]);
        check("python handlers", ChunkFilter { languages: vec!["go".to_owned()], ..none() }, &["python"]);
        check("python handlers", ChunkFilter { languages: vec!["python".to_owned()], ..none() }, &[]);
        check("handlers since last week", ChunkFilter { since: Some(1), ..none() }, &["since last week"]);
        let only = ChunkFilter { include_tests: IncludeTests::Only, ..none() };
        check("handlers without tests", only, &["without tests"]);
        check("handlers in auth.py without tests", none(), &[]);
    }
}
