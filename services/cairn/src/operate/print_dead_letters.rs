//! Prints dead letters as text.

use super::letter_report::{DecisionName, DecisionReport, LetterList, LetterReport};
use crate::output::{self, BAD, FAINT, NAME, styled};

/// Maximum number of characters of a message in a list. Longer messages are cut. A message can be long,
/// because it contains all causes of the error.
const SHOWN: usize = 120;

pub(super) fn list(answer: &LetterList) {
    for letter in &answer.dead_letters {
        let (id, code) = (&letter.id, styled(BAD, letter.code.as_str()));
        let short: String = letter.message.chars().take(SHOWN).collect();
        let more = if short.len() < letter.message.len() { "…" } else { "" };
        let message = styled(FAINT, format!("{short}{more}"));
        output::line(&format!("{id} {code} {} {} {message}", job(letter), styled(NAME, repository(letter))));
    }
    if answer.dead_letters.is_empty() {
        output::note("no dead letters exist");
    }
    if answer.has_more {
        output::note("more dead letters exist: increase --limit");
    }
}

pub(super) fn one(letter: &LetterReport) {
    let code = letter.code.as_str();
    let attempts = format!("{} failed, lane {}", letter.num_failed_attempts, letter.lane);
    let repository = format!("{} of tenant {}", repository(letter), letter.tenant.as_deref().unwrap_or_default());
    for (label, value) in [
        ("id", letter.id.clone()),
        ("job", job(letter)),
        ("repository", repository),
        ("attempts", attempts),
        ("code", format!("{code}, see runbooks/{code}.md")),
        ("message", letter.message.clone()),
        ("body", letter.body.clone().unwrap_or_default()),
    ] {
        output::line(&format!("{} {value}", styled(FAINT, format!("{label:<10}"))));
    }
}

/// Prints what was done with one letter.
pub(super) fn decided(answer: &DecisionReport) {
    let id = &answer.id;
    output::line(&match answer.outcome {
        DecisionName::PublishedAgain => format!("{id} is published again"),
        DecisionName::SyncRequested => {
            let request = answer.request.unwrap_or_default();
            format!("{id} is no longer needed: a sync of its repository is requested ({request})")
        }
        DecisionName::Dropped => format!("{id} is dropped"),
    });
}

fn job(letter: &LetterReport) -> String {
    let stage = letter.stage;
    match (letter.part, letter.request) {
        (Some(part), _) => format!("{stage}/{part} of generation {}", letter.generation.unwrap_or_default()),
        (None, Some(request)) => format!("{stage} (request {request})"),
        (None, None) => format!("{stage} (unreadable)"),
    }
}

/// The name of the repository, or its id if the name is unknown.
fn repository(letter: &LetterReport) -> &str {
    letter.repository.as_deref().or(letter.repository_id.as_deref()).unwrap_or("unknown")
}
