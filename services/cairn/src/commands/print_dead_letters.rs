//! Dead letters on the terminal.

use serde_json::Value;

use super::field::{flag, list as items, number, text};
use crate::output::{self, BAD, FAINT, NAME, styled};

/// Causes are chains; a list shows where they begin.
const SHOWN: usize = 120;

pub(crate) fn list(answer: &Value) {
    let letters = items(answer, "dead_letters");
    for letter in letters {
        let (id, code) = (text(letter, "id"), styled(BAD, text(letter, "code")));
        let message = text(letter, "message");
        let short: String = message.chars().take(SHOWN).collect();
        let more = if short.len() < message.len() { "…" } else { "" };
        let message = styled(FAINT, format!("{short}{more}"));
        output::line(&format!("{id} {code} {} {} {message}", job(letter), styled(NAME, repository(letter))));
    }
    if letters.is_empty() {
        output::note("there are no dead letters");
    }
    if flag(answer, "has_more") {
        output::note("there are more: raise --limit");
    }
}

pub(crate) fn one(letter: &Value) {
    let code = text(letter, "code");
    let attempts = format!("{} failed, lane {}", number(letter, "num_failed_attempts"), text(letter, "lane"));
    let repository = format!("{} of tenant {}", repository(letter), text(letter, "tenant"));
    for (label, value) in [
        ("id", text(letter, "id").to_owned()),
        ("job", job(letter)),
        ("repository", repository),
        ("attempts", attempts),
        ("code", format!("{code}, see runbooks/{code}.md")),
        ("message", text(letter, "message").to_owned()),
        ("body", text(letter, "body").to_owned()),
    ] {
        output::line(&format!("{} {value}", styled(FAINT, format!("{label:<10}"))));
    }
}

/// What was done about one.
pub(crate) fn decided(answer: &Value) {
    let id = text(answer, "id");
    match text(answer, "outcome") {
        "published_again" => output::line(&format!("{id} is handed out again")),
        "sync_requested" => {
            let request = number(answer, "request");
            output::line(&format!("{id} is awaited no more: a sync of its repository is requested ({request})"));
        }
        _ => output::line(&format!("{id} is forgotten")),
    }
}

fn job(letter: &Value) -> String {
    let stage = text(letter, "stage");
    match (letter["part"].as_u64(), letter["request"].as_u64()) {
        (Some(part), _) => format!("{stage}/{part} of generation {}", number(letter, "generation")),
        (None, Some(request)) => format!("{stage} (request {request})"),
        (None, None) => format!("{stage} (unreadable)"),
    }
}

/// By its id, if it has no name any more.
fn repository(letter: &Value) -> &str {
    letter["repository"].as_str().or(letter["repository_id"].as_str()).unwrap_or("unknown")
}
