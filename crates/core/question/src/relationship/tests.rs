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
        "UserService import error",
        "LockManager import cycle",
        "UserService dependency injection",
        "UserService reference manual",
        "the `open` call fails with timeout",
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

/// The reading of a question that relates two names.
fn check_two(question: &str, expect: Option<(Relation, &str, Option<&str>)>) {
    let tokens = tokenize(question);
    let text = |range: &Range<usize>| text_of(question, &tokens, range);
    let found = find(&tokens);
    let found = found.map(|found| (found.relation, text(&found.name), found.other.as_ref().map(text)));
    let found = found.as_ref().map(|(relation, name, other)| (*relation, name.as_str(), other.as_deref()));
    assert_eq!(found, expect, "{question}");
}

/// A question word before "does X call Y" does not change the subject and the object.
#[test]
fn questions_about_a_subject_and_an_object_keep_both_names() {
    use Relation::{Callees, Dependencies, Imports, Overridden, Supertypes, Uses};
    let check = |question: &str, relation, name, other| check_two(question, Some((relation, name, Some(other))));
    for start in ["how does", "where does", "why does", "when does", "how often does", "can", "does"] {
        check(&format!("{start} login call hashPassword"), Callees, "login", "hashPassword");
        check(&format!("{start} Server.run invoke parse_url?"), Callees, "Server.run", "parse_url");
        check(&format!("{start} the UserService use `RedisClient`"), Uses, "UserService", "RedisClient");
        check(&format!("{start} Importer.load import from csv_reader"), Imports, "Importer.load", "csv_reader");
        check(&format!("{start} parse_all depend on Lexer.next"), Dependencies, "parse_all", "Lexer.next");
        check(&format!("{start} BaseButton extend BaseWidget"), Supertypes, "BaseButton", "BaseWidget");
        check(&format!("{start} process_requests call send_response"), Callees, "process_requests", "send_response");
        check(&format!("{start} FastServer.run override Server.run"), Overridden, "FastServer.run", "Server.run");
    }
    check("in what way does Server use Client", Uses, "Server", "Client");
    check("in which cases does login call hashPassword", Callees, "login", "hashPassword");
    check("what does Server use HttpClient for", Uses, "Server", "HttpClient");
    check("explain how login calls hashPassword", Callees, "login", "hashPassword");
    check("do you know how Server calls parse_url?", Callees, "Server", "parse_url");
    check("show me where Server calls parse_url", Callees, "Server", "parse_url");
    check("how is login calling hashPassword", Callees, "login", "hashPassword");
    check("why doesn't Server call parse_url", Callees, "Server", "parse_url");
    check("where in Server do we call parse_url", Callees, "Server", "parse_url");
    check("how does X call Y", Callees, "X", "Y");
    check("when does the parser call tokenize", Callees, "parser", "tokenize");
    check("where does the scheduler use the session cookie", Uses, "scheduler", "session cookie");
    check("where does Server create Session", Uses, "Server", "Session");
}

#[test]
fn questions_about_code_in_general_ask_for_its_subjects() {
    use Relation::{Callers, Users};
    check_two("why do handlers call parse_url", Some((Callers, "parse_url", None)));
    check_two("where does the code call parse_url", Some((Callers, "parse_url", None)));
    check_two("how does the app use RedisClient", Some((Users, "RedisClient", None)));
    check_two("in what way do handlers use RedisClient", Some((Users, "RedisClient", None)));
    check_two("where do we call parse_url", Some((Callers, "parse_url", None)));
    check_two("why HttpClient calls fail", Some((Callers, "HttpClient", None)));
    check_two("how does login get called", Some((Callers, "login", None)));
    for question in [
        "how do I call parse_url",
        "how does the compiler use less memory",
        "why does the parser use two tokens of lookahead",
        "why does the loader call the constructor twice",
        "how does the app use websockets",
        "why does parseHeader return null",
        "why does get_user return None",
        "why is load_config returning True",
        "why does parse_args return None",
        "how does module import work",
        "what happens when Server calls Client",
        "how system calls block",
    ] {
        check_two(question, None);
    }
}

#[test]
fn questions_about_code_related_to_both_names_keep_both() {
    use Relation::{Callers, Dependents, Importers, Subtypes, Users};
    let check = |question: &str, relation, name, other| check_two(question, Some((relation, name, Some(other))));
    check("which functions call both A and B", Callers, "A", "B");
    check("what calls both A and B", Callers, "A", "B");
    check("functions that call A and B", Callers, "A", "B");
    check("who uses A and B", Users, "A", "B");
    check("who calls A & B?", Callers, "A", "B");
    check("which classes use both redis and kafka", Users, "redis", "kafka");
    check("who calls open and close", Callers, "open", "close");
    check("functions calling parse_url as well as open_file", Callers, "parse_url", "open_file");
    check("which functions call open and also close", Callers, "open", "close");
    check("callers of parse_url and of open_file", Callers, "parse_url", "open_file");
    check("callers of both open and close", Callers, "open", "close");
    check("which modules import os and sys in the billing module", Importers, "os", "sys");
    check("files that import `os` and `sys`", Importers, "os", "sys");
    check("what depends on the parser and the token stream", Dependents, "parser", "token stream");
    check("classes that extend Base and implement Iterator", Subtypes, "Base", "Iterator");
    check("who imports numpy and who imports cupy", Importers, "numpy", "cupy");
    check("who calls parse_url, open_file and close_file", Callers, "parse_url", "open_file");
    check("where are open and close called", Callers, "open", "close");
    let check = |question: &str, relation, name| check_two(question, Some((relation, name, None)));
    check("who calls parse_url and why", Callers, "parse_url");
    check("who calls parse_url and where is it defined", Callers, "parse_url");
    check("functions that call read and write to disk", Callers, "read");
    check("functions that call parse_url and raise ValueError", Callers, "parse_url");
    check("functions that use redis and log errors", Users, "redis");
    check("classes that extend Base and override render", Subtypes, "Base");
    check("functions that call parse_url, sorted by name", Callers, "parse_url");
    check("who calls parse_url. and then", Callers, "parse_url");
}

/// A noun of the vocabulary states a relation only together with a name, and "work" is no name.
#[test]
fn noun_without_a_name_states_no_relation() {
    for word in crate::relation_words::NOUNS.iter().flat_map(|noun| noun.words) {
        for start in ["how do", "how does the", "how do our", "explain how the"] {
            check(&format!("{start} {word} work"), None);
            check(&format!("{start} {word} work?"), None);
        }
    }
    check("how do the callers of parse work", Some((Relation::Callers, "parse")));
}

/// A capital `A` inside a question is a name, and the article is not.
#[test]
fn article_is_no_name() {
    check("who calls A", Some((Relation::Callers, "A")));
    check("who calls a parser", Some((Relation::Callers, "parser")));
    check("Callers Of A Parser", Some((Relation::Callers, "Parser")));
}
