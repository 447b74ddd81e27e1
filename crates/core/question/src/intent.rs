//! Recognises the intent of a question.

use std::sync::LazyLock;

use serde::Serialize;

use crate::phrase::Phrase;
use crate::tokens::Token;
use crate::vocabulary::list;

/// The intent of the caller, as far as the question shows it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Intent {
    /// Find specific code or a file.
    Find,
    /// Explain how something works.
    Explain,
    /// List all code of one kind.
    List,
    /// Compare two things.
    Compare,
    /// Explain how to do something.
    How,
    /// Explain why something is done.
    Why,
    /// Help with an error in the code.
    Debug,
    General,
}

impl Intent {
    pub const ALL: [Self; 8] =
        [Self::Find, Self::Explain, Self::List, Self::Compare, Self::How, Self::Why, Self::Debug, Self::General];

    pub fn as_str(self) -> &'static str {
        match self {
            Self::Find => "find",
            Self::Explain => "explain",
            Self::List => "list",
            Self::Compare => "compare",
            Self::How => "how",
            Self::Why => "why",
            Self::Debug => "debug",
            Self::General => "general",
        }
    }

    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|intent| intent.as_str() == name)
    }
}

const POLITE: &str = "do|know|see|please|pls|can|could|would|you|i|we|want|need|to|like|hi|hey|help|ok|so|and|also|kindly|let|lets|let's|now";

/// The rules, in the order in which they are tried. `POLITE` matches any number of polite words. A question
/// that asks for code by a relation ("what calls", "who uses", "functions that") has no intent of its own.
const RULES: &[(&str, Intent)] = &[
    (
        "^ display|print|get|open results|result|index|engine|query|queries|bar|box|api|service|endpoint|items|view|views|page|component|driver|command|flag|option|request|requests|connection|connections",
        Intent::General,
    ),
    ("^ POLITE compare|diff|contrast", Intent::Compare),
    ("difference|differences|distinction between|of|in", Intent::Compare),
    ("^ difference|differences", Intent::Compare),
    ("vs|versus|vs.", Intent::Compare),
    ("how @is|do|does .. different|differ|compare|compares", Intent::Compare),
    ("^ POLITE what|which @is better|faster|preferred", Intent::Compare),
    ("^ POLITE what|whats @is? the? reason|reasons|rationale", Intent::Why),
    ("^ POLITE why|reason|reasons|rationale", Intent::Why),
    ("^ POLITE explain|@inform|show|describe|know|understand me? why", Intent::Why),
    ("for what|which reason", Intent::Why),
    ("^ POLITE how come", Intent::Why),
    ("^ POLITE how many", Intent::List),
    ("^ POLITE show|give|@inform|know me? how", Intent::How),
    ("^ POLITE @inform|know me? where", Intent::Find),
    ("^ POLITE show me? where", Intent::Find),
    (
        "^ POLITE give me? a|an|the? short|brief|high-level? overview|summary|explanation|description|introduction|idea",
        Intent::Explain,
    ),
    ("^ POLITE overview|summary|explanation|purpose|meaning|role of", Intent::Explain),
    ("^ POLITE explain|describe|understand", Intent::Explain),
    ("^ POLITE @inform me? about|what", Intent::Explain),
    ("^ POLITE walk me? through", Intent::Explain),
    ("^ POLITE find|search|locate|lookup|open|grep", Intent::Find),
    ("^ POLITE look for|up", Intent::Find),
    ("^ POLITE go to", Intent::Find),
    ("^ POLITE where|wheres", Intent::Find),
    ("^ in what|which way|manner", Intent::How),
    ("^ POLITE what|which ~ happens|happen|occurs|occur", Intent::Explain),
    ("^ POLITE in|from|by|at|on|through|to|with which|what|where", Intent::Find),
    ("^ from where", Intent::Find),
    ("^ POLITE list|show|display|enumerate|print|count", Intent::List),
    ("^ POLITE get|give|see|fetch me? all|every|a|an|the|some", Intent::List),
    ("^ POLITE all|every the|of? THING", Intent::List),
    ("^ POLITE all|every NOUN", Intent::List),
    ("^ THING <n:id> VERB:third", Intent::List),
    ("^ everything|anything", Intent::List),
    ("^ POLITE how|hows", Intent::How),
    ("^ POLITE trace|follow", Intent::Explain),
    ("^ POLITE what|which THING? @adv* does|do|did <x:name> @adv* VERB:base", Intent::General),
    ("^ POLITE what|which ~ does|do|did <x:name> @adv* VERB:base", Intent::General),
    ("^ POLITE what|whats does|do|did", Intent::Explain),
    ("^ POLITE what|whats happens|happen|happened|occurs", Intent::Explain),
    ("^ POLITE debug|fix|repair|troubleshoot|diagnose|solve", Intent::Debug),
    ("^ POLITE what|whats @adv* VERB:third", Intent::General),
    ("^ POLITE what|who @is @adv* VERB:ing", Intent::General),
    ("^ POLITE what|which THING", Intent::General),
    ("^ POLITE what @be @adv* VERB:ed by|from|in|inside", Intent::General),
    ("^ POLITE what|whats @is|about", Intent::Explain),
    ("^ is|are there", Intent::Find),
    ("^ is|are|does|do any|anything|anyone|something", Intent::Find),
];

/// Words that ask for help with an error.
static DEBUG_WORDS: LazyLock<&[&str]> = LazyLock::new(|| list("debug_words"));

/// Words after an error word that show that the error word names a topic: "handling" in "error handling".
static TOPIC_WORDS: LazyLock<&[&str]> = LazyLock::new(|| list("topic_words"));

/// Words before an error word that show that the error word names a topic: "custom" in "custom errors".
static BEFORE_TOPICS: LazyLock<&[&str]> = LazyLock::new(|| list("before_topics"));

static COMPILED: LazyLock<Vec<(Phrase, Intent)>> = LazyLock::new(|| {
    let compile = |rule: &'static str| -> Phrase { Phrase::with_words(rule, "POLITE", POLITE) };
    RULES.iter().map(|(rule, intent)| (compile(rule), *intent)).collect()
});

pub(crate) fn intent(tokens: &[Token]) -> Intent {
    let by_rule = COMPILED.iter().find(|(phrase, _)| phrase.find(tokens, &|_| true).is_some());
    match by_rule {
        Some((_, intent)) => *intent,
        None if asks_about_error(tokens) => Intent::Debug,
        None => Intent::General,
    }
}

fn asks_about_error(tokens: &[Token]) -> bool {
    (0..tokens.len()).filter(|index| tokens[*index].is_any(&DEBUG_WORDS)).any(|index| {
        let is_topic = tokens.get(index + 1).is_some_and(|next| next.is_any(&TOPIC_WORDS));
        let is_object = index > 0 && tokens[index - 1].is_any(&BEFORE_TOPICS);
        let is_plain = tokens[index].is_any(&["wrong", "incorrect", "broken", "cannot", "unable"]);
        is_plain || (!is_topic && !is_object)
    }) || is_not_working(tokens)
        || is_thrown(tokens)
}

/// Whether the question reports an exception: "TimeoutError in the worker", "open throws KeyError".
fn is_thrown(tokens: &[Token]) -> bool {
    let is_error = |token: &Token| token.lower.ends_with("exception") || token.lower.ends_with("error");
    let [first, second, ..] = tokens else { return false };
    let begins = is_error(first) && second.is_any(&["in", "when", "at", "while", "on", "from", "after", "during"]);
    let is_raised =
        |pair: &[Token]| pair[0].is_any(&["raises", "throws", "raising", "throwing", "with"]) && is_error(&pair[1]);
    begins || tokens.windows(2).any(is_raised)
}

fn is_not_working(tokens: &[Token]) -> bool {
    let is_pair = |pair: &[Token]| {
        let is_negation =
            pair[0].is_any(&["not", "isn't", "doesn't", "don't", "won't", "isnt", "dont", "can't", "never", "stopped"]);
        let is_verb = pair[1].is_any(&[
            "work",
            "works",
            "working",
            "found",
            "responding",
            "compiling",
            "loading",
            "connect",
            "start",
        ]);
        is_negation && is_verb
    };
    tokens.windows(2).any(is_pair)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tokens::tokenize;

    #[test]
    fn intents_follow_the_first_words() {
        for (question, expect) in [
            ("find the parser", Intent::Find),
            ("search for tokens", Intent::Find),
            ("locate config", Intent::Find),
            ("search results page", Intent::Find),
            ("find command", Intent::Find),
            ("list view component", Intent::List),
            ("show endpoint", Intent::List),
            ("display driver", Intent::General),
            ("where is user validation", Intent::Find),
            ("explain the cache", Intent::Explain),
            ("what is getUserById", Intent::Explain),
            ("describe the queue", Intent::Explain),
            ("list all handlers", Intent::List),
            ("show me the handlers", Intent::List),
            ("get all users", Intent::List),
            ("compare A and B", Intent::Compare),
            ("json vs yaml", Intent::Compare),
            ("what is the difference between A and B", Intent::Compare),
            ("how do I add a user", Intent::How),
            ("how to add a user", Intent::How),
            ("how does authentication work?", Intent::How),
            ("how can I test", Intent::How),
            ("why is it slow", Intent::Why),
            ("reason for the lock", Intent::Why),
            ("connection error on startup", Intent::Debug),
            ("fix the login bug", Intent::Debug),
            ("upload not working", Intent::Debug),
            ("error handling for database", Intent::General),
            ("authentication timeout handling", Intent::General),
            ("prefix table", Intent::General),
            ("issuer of tokens", Intent::General),
            ("what calls validateToken", Intent::General),
            ("functions that use redis", Intent::General),
        ] {
            assert_eq!(intent(&tokenize(question)), expect, "{question}");
        }
    }

    #[test]
    fn intents_have_names() {
        for intent in Intent::ALL {
            assert_eq!(Intent::from_name(intent.as_str()), Some(intent));
        }
    }
}
