//! Recognises questions about a flow: the path of a request or of data through the code.

use std::ops::Range;
use std::sync::LazyLock;

use crate::phrase::{Found, Phrase};
use crate::relationship::is_plural;
use crate::tokens::Token;
use crate::vocabulary::{NAME_ENDS, list};

/// An additional condition that a match of a rule must satisfy.
#[derive(Clone, Copy, PartialEq)]
enum Guard {
    None,
    /// The question must contain a word such as "path", "flow", "get", "go", "travel" or "reach".
    Travel,
    /// The subject must not be a pronoun: "how do I get the id" does not ask for a flow.
    NoPronoun,
    /// The subject must be in the singular and must not be a pronoun: "how parsers work" asks for a pattern.
    Singular,
    /// The question must contain a word that names the flow: "path", "flow".
    Path,
}

/// Pronouns for people. These pronouns are never the subject of a flow.
static PEOPLE: LazyLock<&[&str]> = LazyLock::new(|| list("people"));

/// Other words that are never the subject of a flow.
static AUXILIARIES: LazyLock<&[&str]> = LazyLock::new(|| list("auxiliaries"));

/// The slots `a` and `b` match the two ends of the flow. The slot `x` matches the subject.
///
/// The words "from A to B" alone do not make a question a flow question: a word such as "path" or "get" must
/// be near them ([`Guard::Travel`]). All other rules with "from A to B" match questions that have the form of
/// a flow question even without these words, such as "how is X passed to B" or "trace the X". In these rules,
/// "from A to B" only names the ends.
const RULES: &[(&str, Guard)] = &[
    (
        "how does|do|did|can|could|would|will <x> @adv* get|go|travel|reach|flow|arrive at|to|into|in? <b> from <a> $",
        Guard::None,
    ),
    ("how does|do|did|can|could|would|will <x> @adv* @move from <a> to|into <b> $", Guard::None),
    (
        "what|which|everything .. happens|happen|happened|occurs|occur|goes .. @course from <a> @toward <b> $",
        Guard::None,
    ),
    ("lifecycle|life-cycle|journey of <x> from <a> @toward <b> $", Guard::None),
    ("from <a> @toward <b> $", Guard::Travel),
    ("from <a> @toward <b>", Guard::Travel),
    ("@travel @toward <b> from <a> $", Guard::Travel),
    ("call chain from <a> @toward <b> $", Guard::None),
    ("@path .. between <a> and <b> $", Guard::None),
    ("@travel .. from <a> -> <b> $", Guard::None),
    ("<a> -> <b> @path", Guard::None),
    ("@path .. <a> -> <b> $", Guard::None),
    ("^ <a> to <b> @path $", Guard::None),
    ("what @adv* happens|happen|occurs|happened|goes between <a> and <b> $", Guard::None),
    ("what @adv* happens|happen|occurs|happened|goes on? @when <x> $", Guard::None),
    ("what|which|everything .. happens|happen|occurs @when <x> $", Guard::None),
    ("what will|would|should|does happen|occur @when <x> $", Guard::None),
    ("how @is|does|do|get|gets <x> @be? @adv* @sent from <a> to|into <b> $", Guard::None),
    ("how @is|does|do|get|gets <x> @be? @adv* @sent @toward|from|between|down|up|across <b> $", Guard::None),
    ("how does|do <x> get @sent @toward|from|between|down|up|across|in <b> $", Guard::NoPronoun),
    (
        "how @adv* does|did <a> @adv* get|gets|go|travel|reach|flow|arrive|end @adv* up? in|at|to|into|from|through? <b> $",
        Guard::NoPronoun,
    ),
    ("how @adv* do|can|could <a> @adv* get|go|travel|reach|flow|arrive|end up? in|at|to|into? <b> $", Guard::NoPronoun),
    ("how @adv* does|do|did|can|could|would|will <x> @adv* @move", Guard::NoPronoun),
    ("how @adv* does|did <x> @adv* @work", Guard::None),
    ("how @adv* do <x> @adv* work together", Guard::None),
    ("how @adv* is|are <x> @work", Guard::None),
    ("how @work <x> $", Guard::Singular),
    ("how does|do work <x> $", Guard::None),
    ("@path|way|route <x> takes|take|follows|goes", Guard::None),
    ("how <x> @adv* works", Guard::NoPronoun),
    ("how <x> @adv* work", Guard::Singular),
    ("how <a> @adv* gets|goes|travels|reaches|flows|arrives in|at|to|into|through? <b> $", Guard::NoPronoun),
    ("how <a> @adv* get|go|travel|reach|flow|arrive to|into|through|at <b> $", Guard::NoPronoun),
    ("^ @please* trace|follow <x> from <a> @toward <b> $", Guard::None),
    ("^ @please* trace|follow <x> @toward|from|across|down <b> $", Guard::None),
    ("^ @please* trace|follow a|an|the|how|what <x> $", Guard::None),
    ("walk me? through <x> $", Guard::None),
    ("lifecycle|life-cycle|journey of <x> $", Guard::None),
    ("life cycle? of <x> $", Guard::None),
    ("through which|what .. does|do <x> pass|go|travel|flow", Guard::None),
    ("before|until|till|when <a> @reach|gets to? <b> $", Guard::NoPronoun),
    ("step by step", Guard::None),
    ("step-by-step", Guard::None),
    ("end to end|end-to-end @path", Guard::Path),
    ("where does|do <x> go|flow|travel|end after|next|from|once|when|up", Guard::NoPronoun),
];

static COMPILED: LazyLock<Vec<(Phrase, Guard)>> =
    LazyLock::new(|| RULES.iter().map(|(rule, guard)| (Phrase::new(rule), *guard)).collect());

/// The ends or the subject of a flow, as tokens.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct FlowFound {
    pub(crate) from: Option<Range<usize>>,
    pub(crate) to: Option<Range<usize>>,
    pub(crate) subject: Option<Range<usize>>,
    /// The tokens that identified the question as a question about a flow.
    pub(crate) words: Vec<usize>,
}

impl FlowFound {
    /// The tokens that name the ends. These tokens state no filter: "path from auth.py to db.py" asks for a
    /// path that begins in auth.py. The tokens of the second end stop before the next preposition, so that a
    /// filter may follow: "path from login to session in the billing module".
    pub(crate) fn named_ends(&self, tokens: &[Token]) -> Vec<Range<usize>> {
        let mut ends: Vec<Range<usize>> = [&self.from, &self.to].into_iter().flatten().cloned().collect();
        ends.sort_by_key(|end| end.start);
        if let Some(last) = ends.last_mut() {
            let is_name =
                |index: &usize| !tokens[*index].is_any(&NAME_ENDS) && !tokens[*index].is_any(list("before_additions"));
            let first = (last.start..last.end).find(is_name).unwrap_or(last.start);
            let end = (first..last.end).find(|index| !is_name(index)).unwrap_or(last.end);
            last.end = end.max(last.start + 1);
        }
        ends
    }
}

pub(crate) fn find(tokens: &[Token]) -> Option<FlowFound> {
    COMPILED.iter().find_map(|(phrase, guard)| {
        let found = phrase.find(tokens, &|found| is_accepted(tokens, found, *guard))?;
        let is_captured = |index: &usize| found.captures.iter().any(|(_, range)| range.contains(index));
        let mut words: Vec<usize> = (found.start..found.end).filter(|index| !is_captured(index)).collect();
        if *guard == Guard::Travel {
            words.extend(travel_word(tokens, &found));
            words.sort_unstable();
            words.dedup();
        }
        Some(FlowFound { from: found.capture("a"), to: found.capture("b"), subject: found.capture("x"), words })
    })
}

fn is_accepted(tokens: &[Token], found: &Found, guard: Guard) -> bool {
    let subject = found.captures.first().map(|(_, range)| range.clone());
    let is_pronoun = |token: &Token| token.is_any(&PEOPLE) || token.is_any(&AUXILIARIES);
    // In "how does data flow work", the verb is no end of a flow.
    if found.capture("b").is_some_and(|range| range.len() == 1 && tokens[range.start].is_any(list("work"))) {
        return false;
    }
    if tokens.get(found.end).is_some_and(|next| next.is_any(list("work"))) && !tokens[found.end - 1].ends_clause {
        return false;
    }
    match guard {
        Guard::None => true,
        Guard::Travel => travel_word(tokens, found).is_some(),
        Guard::NoPronoun => subject.is_none_or(|range| !is_pronoun(&tokens[range.start])),
        Guard::Singular => {
            subject.is_none_or(|range| !is_pronoun(&tokens[range.start]) && !is_plural(&tokens[range.end - 1].lower))
        }
        Guard::Path => tokens.iter().any(|token| token.is_any(list("path"))),
    }
}

/// Maximum number of words after "from A to B" among which the word that names the flow is searched: "from
/// API to database data flow".
const NUM_WORDS_AFTER: usize = 2;

/// The word next to "from A to B" that identifies a question about a flow. The word precedes the two ends in
/// the same clause, or follows them directly. The name of the language Go does not identify such a question.
fn travel_word(tokens: &[Token], found: &Found) -> Option<usize> {
    let is_captured = |index: &usize| found.captures.iter().any(|(_, range)| range.contains(index));
    let clause = (0..found.start).rev().find(|index| tokens[*index].ends_clause).map_or(0, |last| last + 1);
    let is_travel = |index: &usize| tokens[*index].is_any(list("travel")) && !is_language(tokens, *index);
    let beside = clause..tokens.len().min(found.end + NUM_WORDS_AFTER);
    beside.filter(|index| !is_captured(index)).find(is_travel)
}

/// Whether the word "go" is the name of the language Go, as in "in go" and "go code".
fn is_language(tokens: &[Token], index: usize) -> bool {
    let is_after = index > 0 && tokens[index - 1].is_any(&["in", "using", "with", "for", "of"]);
    let is_before = tokens.get(index + 1).is_some_and(|next| next.is_any(list("languages_code_words")));
    tokens[index].is_any(&["go"]) && (is_after || is_before)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::names::text_of;
    use crate::tokens::tokenize;

    fn check(question: &str, from: &str, to: &str, subject: &str) {
        let tokens = tokenize(question);
        let found = find(&tokens).unwrap_or_else(|| panic!("{question} does not ask for a flow"));
        let text =
            |range: Option<Range<usize>>| range.map(|range| text_of(question, &tokens, &range)).unwrap_or_default();
        assert_eq!(
            (text(found.from), text(found.to), text(found.subject)),
            (from.into(), to.into(), subject.into()),
            "{question}"
        );
    }

    #[test]
    fn flows_have_ends_or_a_subject() {
        check("data flow from API to database", "API", "database", "");
        check("how does request get to handler", "request", "handler", "");
        check("path from login to session", "login", "session", "");
        check("how does login work", "", "", "login");
        check("how does data flow from the API to the database?", "the API", "the database", "data");
        check("flow between client and server", "client", "server", "");
        check("what happens between login and logout", "login", "logout", "");
        check("what happens when a token expires", "", "", "a token expires");
        check("trace a request from router to handler", "router", "handler", "a request");
        check("explain how login works", "", "", "login");
        check("how works the login", "", "", "the login");
        check("how does data flow work", "", "", "data flow");
        check("how is a message routed to its consumer", "", "its consumer", "a message");
        check("how do requests reach the handler", "requests", "the handler", "");
        check("request to response flow", "request", "response", "");
        check("from API to database data flow", "API", "database", "");
        check("how does data reach the file store from the handler", "the handler", "the file store", "data");
        check("how does an upload get to the store from PostFile?", "PostFile", "the store", "an upload");
        check("how does a value go from the form to the table in go", "the form", "the table in go", "a value");
        check("call chain from main to flush", "main", "flush", "");
    }

    /// Some questions are flow questions by their form, and "from A to B" only names the ends.
    #[test]
    fn ends_are_read_in_every_form_of_a_flow_question() {
        check("what happens on the way from login to session", "login", "session", "");
        check("explain what happens along the route from cart to invoice", "cart", "invoice", "");
        check("what goes on on the journey from upload to thumbnail?", "upload", "thumbnail", "");
        check("lifecycle of a job from queue to worker", "queue", "worker", "a job");
        check("how are events passed from the reader to the sink", "the reader", "the sink", "events");
        check("how does a token propagate from the client to the store", "the client", "the store", "a token");
    }

    #[test]
    fn ends_state_no_filter() {
        let check = |question: &str, expect: &[&str]| {
            let tokens = tokenize(question);
            let ends = find(&tokens).map(|found| found.named_ends(&tokens)).unwrap_or_default();
            let texts: Vec<String> = ends.iter().map(|range| text_of(question, &tokens, range)).collect();
            assert_eq!(texts, expect, "{question}");
        };
        check("path from auth.py to db.py", &["auth.py", "db.py"]);
        check("path from login to the session store in the billing module", &["login", "the session store"]);
        check("path from the request in auth.py to db.py", &["the request in auth.py", "db.py"]);
        check("how does login work in auth.py", &[]);
    }

    #[test]
    fn other_questions_ask_for_no_flow() {
        for question in [
            "authentication flow",
            "flow control",
            "convert from json to yaml",
            "migrate from v1 to v2",
            "how do I get the user id",
            "how to reach agreement",
            "path to the config file",
            "control flow graph",
            "how do parsers work",
            "how parsers work",
            "trace logging",
            "`path from a to b` fails",
            "get the user id",
            "how do I work with dates",
            "how do we work around limits",
            "upgrade steps from v1 to v2",
            "serialize from struct to json in go",
            "go code that converts from struct to json",
            "how are rows written from the buffer to disk",
            "how is the state saved from memory to a file",
            "execution sequence from parse to emit",
            "code that moves rows from staging to production",
            "best way from celsius to fahrenheit",
        ] {
            assert_eq!(find(&tokenize(question)), None, "{question}");
        }
    }
}
