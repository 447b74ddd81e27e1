//! Reads whole questions and compares all parts of the result.

use cairn_question::{
    Direction, Intent, LearnedPair, ParseOptions, ParsedQuery, QueryType, Relation, SynonymEntry, Synonyms, TypeReason,
};
use proptest::prelude::*;
use serde_json::json;

fn parse(question: &str) -> ParsedQuery {
    ParsedQuery::new(question, ParseOptions::default())
}

fn forced(question: &str, query_type: QueryType) -> ParsedQuery {
    ParsedQuery::new(question, ParseOptions { forced_type: Some(query_type), ..ParseOptions::default() })
}

#[test]
fn answers_show_every_part_under_stable_names() {
    let value = serde_json::to_value(parse("functions that use redis in the billing module")).expect("a value");
    let expect = json!({
        "text": "functions that use redis in the billing module",
        "query_type": "relationship",
        "forced": false,
        "reason": {
            "code": "relationship_words",
            "text": "The words \"use\" next to \"redis\" ask for a relation: users.",
        },
        "strategy": {
            "semantic": false, "symbols": true, "patterns": false, "graph": true, "graph_depth": 1, "limit": 20,
        },
        "relationship": { "relation": "users", "direction": "in", "name": "redis" },
        "intent": "general",
        "keywords": ["functions", "redis", "billing", "module"],
        "mentions": [],
        "filters": {
            "kinds": ["function", "method"],
            "modules": ["billing"],
            "stated": [
                { "filter": "kinds", "words": "functions that" },
                { "filter": "modules", "words": "in the billing module" },
            ],
        },
        "text_without_filters": "use redis",
        "expansions": [
            { "text": "functions redis billing module" },
        ],
    });
    assert_eq!(value, expect);
}

#[test]
fn explanations_have_one_fact_per_line() {
    let check = |question: &str, expect: &[&str]| assert_eq!(parse(question).explain(), expect, "{question}");
    check(
        "how does request get to handler",
        &[
            "question: how does request get to handler",
            "type: flow",
            "reason: The words \"how does … get to\" ask for a path through the code.",
            "strategy: hybrid search, graph to depth 3; at most 15 results",
            "flow: from request, to handler",
            "intent: how",
            "keywords: request, handler",
            "expansion: how does req get to handler (req for request, shipped)",
            "expansion: how does request get to controller (controller for handler, shipped)",
            "expansion: request handler (keywords alone)",
        ],
    );
    check(
        "find Button.test",
        &[
            "question: find Button.test",
            "type: symbol",
            "reason: The question is only the name \"Button.test\", which looks like a file.",
            "strategy: index of names; at most 10 results",
            "intent: find",
            "keywords: button, test",
            "mention: Button.test (file, 95 %)",
            "file name: Button.test (name_start)",
        ],
    );
    check(
        "zebra in auth.py since last week",
        &[
            "question: zebra in auth.py since last week",
            "type: concept",
            "reason: No word of the question asks for a pattern, a relation, a flow or a name.",
            "strategy: hybrid search, graph to depth 1; at most 10 results",
            "intent: general",
            "keywords: zebra, auth, py",
            "mention: auth.py (file, 95 %)",
            "filter: files auth.py (from \"in auth.py\")",
            "filter: since 7 days ago (from \"since last week\")",
            "without filters: zebra",
            "expansion: zebra auth py (keywords alone)",
        ],
    );
}

#[test]
fn reasons_name_the_words_that_decided() {
    for (question, expect) in [
        ("\"validateToken\"", "The question is only the quoted term \"validateToken\"."),
        ("find handleAuthError", "The word \"handleAuthError\" looks like an identifier."),
        ("what calls validateToken", "The words \"calls\" next to \"validateToken\" ask for a relation: callers."),
        ("pattern for error handling", "The words \"pattern for\" ask for the usual form of something."),
        ("how do importers work", "The question has the form \"how do … work\" about \"importers\"."),
        ("path from login to session", "The words \"path from … to\" ask for a path through the code."),
        ("where is timeout defined", "The question asks for the definition of \"timeout\"."),
    ] {
        assert_eq!(parse(question).reason.to_string(), expect, "{question}");
    }
}

#[test]
fn words_match_only_at_word_boundaries() {
    for (question, expect) in [
        ("UserService class", QueryType::Symbol),
        ("patternless refactoring", QueryType::Concept),
        ("workflow routing", QueryType::Concept),
        ("important callbacks", QueryType::Concept),
    ] {
        assert_eq!(parse(question).query_type, expect, "{question}");
    }
}

#[test]
fn words_in_spans_are_ignored_by_other_tests() {
    for (question, expect) in [
        ("why does \"path from a to b\" fail", QueryType::Concept),
        ("the message `no pattern found` is logged", QueryType::Concept),
        ("why does \"who calls parse\" appear", QueryType::Concept),
        ("what calls `pattern`", QueryType::Relationship),
        ("find `how do importers work`", QueryType::Symbol),
    ] {
        assert_eq!(parse(question).query_type, expect, "{question}");
    }
}

#[test]
fn words_that_decide_the_type_or_filter_are_not_replaced() {
    let check = |question: &str, expect: &[&str]| {
        let texts: Vec<String> = parse(question).expansions.into_iter().map(|expansion| expansion.text).collect();
        assert_eq!(texts, expect, "{question}");
    };
    check("what calls parse_config", &["calls parse config"]);
    check("path from login to cache", &["path from signin to cache", "path from login to redis", "path login cache"]);
    check("classes in auth.py", &["classes auth py"]);
    check("find the ADR-025 document", &[]);
    check("please open user_config.json", &[]);
    check("python config loader", &["python configuration loader", "python settings loader", "python options loader"]);
}

/// The words of a pasted line of code state no filter and no intent.
#[test]
fn first_line_of_a_definition_asks_for_the_defined_name() {
    let check = |question: &str, name: &str, keywords: &[&str]| {
        let parsed = parse(question);
        let symbol = parsed.symbol.as_ref().map(|asked| (asked.name.as_str(), asked.is_whole));
        assert_eq!((parsed.query_type, symbol), (QueryType::Symbol, Some((name, true))), "{question}");
        assert_eq!(parsed.keywords, keywords, "{question}");
        assert_eq!((parsed.intent, parsed.filters.is_empty()), (Intent::General, true), "{question}");
        assert_eq!(parsed.text, question);
        assert_eq!(parsed.text_without_filters, question);
    };
    check("def f(self):", "f", &["f"]);
    check("func (s *Server) Serve(l net.Listener) error {", "Serve", &["serve"]);
    check("pub fn parse(input: &str) -> Result<Ast>", "parse", &["parse"]);
    check("class Foo(Bar):", "Foo", &["foo"]);
    check("private final int count;", "count", &["count"]);
    check("def python(tests):", "python", &["python"]);
    assert_eq!(parse("`class Foo(Bar):`").symbol.map(|asked| asked.name).as_deref(), Some("Foo"));
}

#[test]
fn forced_type_decides_strategy_and_parts() {
    let parsed = forced("what calls validateToken", QueryType::Concept);
    assert_eq!((parsed.query_type, parsed.forced, parsed.strategy.limit), (QueryType::Concept, true, 10));
    assert_eq!(parsed.reason, TypeReason::Forced { detected: QueryType::Relationship });
    assert_eq!(parsed.relationship, None);

    let asked = forced("validateToken", QueryType::Relationship).relationship.expect("a relation");
    assert_eq!(
        (asked.relation, asked.direction, asked.name.as_str()),
        (Relation::Users, Direction::In, "validateToken")
    );
    let asked =
        forced("importer pattern with callers of parse", QueryType::Relationship).relationship.expect("a relation");
    assert_eq!((asked.relation, asked.name.as_str()), (Relation::Callers, "parse"));
    let asked = forced("login and sessions", QueryType::Flow).flow.expect("a flow");
    assert_eq!(asked.subject.as_deref(), Some("login sessions"));
    let asked = forced("retries", QueryType::Pattern).pattern.expect("a pattern");
    assert_eq!(asked.subject.as_deref(), Some("retries"));
}

#[test]
fn names_of_patterns_in_scope_decide_the_type() {
    let names = ["Importer".to_owned()];
    let with = |names| ParseOptions { pattern_names: Some(names), ..ParseOptions::default() };
    let check = |question: &str, expect: QueryType| {
        assert_eq!(ParsedQuery::new(question, with(&names)).query_type, expect, "{question}");
    };
    check("how do importers work", QueryType::Pattern);
    check("how do sessions work", QueryType::Concept);
    check("how do the callers of parse work", QueryType::Relationship);
    let parsed = ParsedQuery::new("how do importers work", with(&names));
    assert_eq!(
        parsed.reason.to_string(),
        "The question has the form \"how do … work\", and \"importers\" names a pattern."
    );
    assert_eq!(ParsedQuery::new("how do importers work", with(&[])).query_type, QueryType::Concept);
}

#[test]
fn long_questions_are_cut_and_read_by_their_title() {
    let body = "The pattern fails and what calls parse is unclear. ".repeat(60);
    let parsed = parse(&format!("Upload stops after 10 files\n\n{body}"));
    let cut = parsed.cut.expect("a report");
    assert!(cut.used_bytes < 1_100 && cut.original_bytes > 3_000, "{cut:?}");
    assert_eq!(parsed.text.len(), cut.used_bytes);
    assert_eq!(parsed.query_type, QueryType::Concept);
    assert!(parsed.explain().iter().any(|line| line.starts_with("cut: ")));
    assert_eq!(parse("Upload stops").cut, None);
}

#[test]
fn caller_adds_synonyms() {
    let configured = [SynonymEntry { word: "zebra".into(), synonyms: vec!["horse".into()] }];
    let learned = [LearnedPair { first: "stripe".into(), second: "bar".into() }];
    let synonyms = Synonyms { configured: &configured, learned: &learned };
    let parsed = ParsedQuery::new("zebra stripe", ParseOptions { synonyms, ..ParseOptions::default() });
    let texts: Vec<&str> = parsed.expansions.iter().map(|expansion| expansion.text.as_str()).collect();
    assert_eq!(texts, ["horse stripe", "zebra bar"]);
}

proptest! {
    #[test]
    fn reading_any_text_gives_a_consistent_result(question in "\\PC{0,200}") {
        let parsed = parse(&question);
        prop_assert!(parsed.expansions.len() <= 3);
        prop_assert_eq!(parsed.relationship.is_some(), parsed.query_type == QueryType::Relationship);
        prop_assert_eq!(parsed.flow.is_some(), parsed.query_type == QueryType::Flow);
        prop_assert_eq!(parsed.pattern.is_some(), parsed.query_type == QueryType::Pattern);
        prop_assert_eq!(parsed.explain().len(), parsed.explain().iter().filter(|line| !line.contains('\n')).count());
    }

    #[test]
    fn reading_any_words_of_rules_gives_a_reason(words in prop::collection::vec(
        prop::sample::select(vec!["who", "what", "calls", "how", "does", "from", "to", "path", "pattern", "`x`", "parseUrl",
            "of", "work", "in", "auth.py", "since", "last", "week.", "tests", "functions", "that", "\"", "'", "?", "the", "get\n"]), 0..25))
    {
        let parsed = parse(&words.join(" "));
        prop_assert!(!parsed.reason.to_string().is_empty());
    }
}

#[test]
fn questions_for_every_pattern_have_no_subject() {
    for question in [
        "what patterns exist here",
        "which patterns are used in this repository",
        "list the patterns",
        "what conventions does this code base follow",
        "show me all design patterns",
        "patterns",
    ] {
        assert!(parse(question).asks_for_every_pattern(), "{question}");
    }
    for question in [
        "importer pattern",
        "how do importers work",
        "best practices for logging",
        "usage examples",
        "which patterns does the auth module follow",
        "regex patterns",
    ] {
        assert!(!parse(question).asks_for_every_pattern(), "{question}");
    }
}

#[test]
fn pattern_names_affect_only_how_do_questions() {
    let check = |question: &str, expect: Option<&str>| assert_eq!(parse(question).undecided_pattern(), expect);
    check("how do importers work", Some("importers"));
    check("importer pattern", None);
    check("how does login work", None);
    let names = ["Importer".to_owned()];
    let options = ParseOptions { pattern_names: Some(&names), ..ParseOptions::default() };
    assert_eq!(ParsedQuery::new("how do importers work", options).undecided_pattern(), None);
    let sessions = ParsedQuery::new("how do sessions work", options);
    assert_eq!((sessions.query_type, sessions.strategy.limit), (QueryType::Concept, 10));
}

/// Words that state where to search are no part of the names and subjects of a question, and do not decide
/// its type.
#[test]
fn places_languages_and_tests_do_not_change_the_rest_of_the_reading() {
    let parts = |question: &str| {
        let ParsedQuery { query_type, symbol, relationship, flow, pattern, .. } = parse(question);
        (query_type, symbol, relationship, flow, pattern)
    };
    for question in [
        "error handling",
        "how are expired locks removed",
        "path from PostFile to NewUpload",
        "flow from check_write_permission to acquire_write",
        "importer pattern",
        "hook conventions",
        "what calls parse_url",
        "where is parse_url defined",
        "how do hooks work",
        "callers of the LockManager class",
    ] {
        for addition in
            ["in the lock_man module", "in python", "without tests", "except in tests", "in auth.py", "in src/lock_man"]
        {
            let asked = format!("{question} {addition}");
            assert_eq!(parts(&asked), parts(question), "{asked}");
            assert!(!parse(&asked).filters.is_empty(), "{asked}");
        }
    }
}

/// A word for a kind of code beside a name describes the name, not the wanted results.
#[test]
fn kinds_beside_a_related_name_state_no_filter() {
    for question in [
        "what calls the LockManager class",
        "who uses the DAVError class",
        "usages of the HTTPRequest struct",
        "references to the DAVProvider class",
        "callers of the method parse_url",
    ] {
        let parsed = parse(question);
        assert!(parsed.filters.kinds.is_empty(), "{question}: {:?}", parsed.filters.kinds);
        assert!(parsed.relationship.is_some(), "{question}");
    }
    assert_eq!(parse("which classes use the LockManager class").filters.kinds, ["class"]);
}
