use super::*;
use crate::names::text_of;
use crate::tokens::tokenize;

fn check(question: &str, expect: Option<(Relation, &str)>) {
    let tokens = tokenize(question);
    let found = find(&tokens);
    let found = found.map(|found| (found.relation, text_of(question, &tokens, &found.name)));
    assert_eq!(found.as_ref().map(|(relation, name)| (*relation, name.as_str())), expect, "{question}");
}

#[test]
fn question_words_with_verbs_state_a_relation() {
    use Relation::{Callers, Creators, Dependents, Importers, Subtypes, Users};
    check("what calls validateToken", Some((Callers, "validateToken")));
    check("functions that use redis", Some((Users, "redis")));
    check("who imports auth module", Some((Importers, "auth")));
    check("who is calling the parser", Some((Callers, "parser")));
    check("which classes extend BaseHandler", Some((Subtypes, "BaseHandler")));
    check("which of our services depend on kafka", Some((Dependents, "kafka")));
    check("what classes implement Iterator", Some((Subtypes, "Iterator")));
    check("where is the session cookie used", Some((Users, "session cookie")));
    check("where do we call `open`", Some((Callers, "open")));
    check("show me all places where render is called", Some((Callers, "render")));
    check("who instantiates Session", Some((Creators, "Session")));
    check("what would break if I change parse_url", Some((Dependents, "parse_url")));
    check("parse_url is called by whom", Some((Callers, "parse_url")));
    check("anything using redis", Some((Users, "redis")));
}

#[test]
fn questions_about_objects_state_a_relation() {
    use Relation::{Callees, Dependencies, Imports, Supertypes};
    check("what does validateToken call", Some((Callees, "validateToken")));
    check("which modules does auth.py import", Some((Imports, "auth.py")));
    check("what does the parser depend on", Some((Dependencies, "parser")));
    check("what is called by main", Some((Callees, "main")));
    check("functions called by handleRequest", Some((Callees, "handleRequest")));
    check("what does Button extend", Some((Supertypes, "Button")));
    check("does login call hashPassword", Some((Callees, "login")));
    check("does validateToken call hashPassword", Some((Callees, "validateToken")));
}

#[test]
fn nouns_with_names_state_a_relation() {
    use Relation::{Callers, Dependencies, Dependents, Imports, Subtypes, Users};
    check("callers of X", Some((Callers, "X")));
    check("imports of auth", Some((Imports, "auth")));
    check("references to UserService", Some((Users, "UserService")));
    check("dependencies of the billing module", Some((Dependencies, "billing")));
    check("subclasses of Shape", Some((Subtypes, "Shape")));
    check("validateToken callers", Some((Callers, "validateToken")));
    check("redis usages", Some((Users, "redis")));
    check("what dependencies does parser.rs have", Some((Dependencies, "parser.rs")));
    check("impact of changing UserService", Some((Dependents, "UserService")));
}

/// The verb "make" may be between a noun and the name.
#[test]
fn nouns_are_joined_to_names_by_a_verb() {
    use Relation::{Callees, Callers, Users};
    check("what calls are made to redis", Some((Callers, "redis")));
    check("which calls were only made to parse_url", Some((Callers, "parse_url")));
    check("list the invocations issued to the scheduler", Some((Callers, "scheduler")));
    check("which references are made to UserService", Some((Users, "UserService")));
    check("what calls are made by handleRequest", Some((Callees, "handleRequest")));
    check("calls made to open_file", Some((Callers, "open_file")));
    check("what calls are made often", None);
    check("which dependencies are sent to the linker", None);
}

#[test]
fn words_without_a_relation_are_ignored() {
    for question in [
        "import parser",
        "call stack",
        "dependency injection",
        "reference counting",
        "which function should I use to parse dates",
        "which function handles the call",
        "which function is used to parse dates",
        "where is authentication implemented",
        "which class implements the retry logic",
        "what use case is covered",
        "use after free",
        "how do I use the client",
        "compress files using gzip",
        "why are imports slow",
        "which system calls block",
        "what calls are slow",
        "which database does the server use",
        "`who calls parse` in a message",
        "implementation of login",
    ] {
        check(question, None);
    }
}
