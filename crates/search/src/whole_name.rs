//! Resolves a question that is a misspelled name, but does not look like an identifier.

use cairn_domain::Scope;
use cairn_name_match::{Reason, WantedName};
use cairn_ports::ResolvedSymbol;
use cairn_question::ParsedQuery;

use crate::changed::Definitions;
use crate::prepared_query::PreparedQuery;
use crate::question_names::{QuestionNames, leading, names_of};
use crate::repositories::KnownRepository;
use crate::resolve::{MIN_LEADING_SCORE, NameRequest, Resolved};
use crate::{QueryError, QueryErrorCode, Searcher};

/// Questions with more words are not treated as names.
const MAX_PHRASE_WORDS: usize = 7;
/// A phrase with a lower score is not treated as a name.
const MIN_PHRASE_SCORE: u32 = 800;

impl Searcher {
    /// Resolves a question that may be a misspelled name, but does not look like an identifier. The question
    /// may be a word that no chunk in scope contains, words with hyphens, or a phrase that contains all words
    /// of a name.
    pub(crate) async fn add_whole_name(
        &self,
        query: &mut PreparedQuery,
        text: &str,
        (scope, selected): (&Scope, &[KnownRepository]),
    ) -> Result<(), QueryError> {
        let Some((text, form)) = possible_name(&query.parsed, text) else { return Ok(()) };
        let near_path = query.near_path.as_deref();
        let request = NameRequest { near_path, ..NameRequest::uncounted(text.trim()) };
        if form == Form::Word && query.frequencies.num_chunks_with(text) > 0 {
            if let Some(changed) = self.changed_definition(&query.view, scope, selected, request).await? {
                query.names.lead_with_changed(&changed);
            }
            return Ok(());
        }
        match self.definitions(&query.view, scope, selected, request).await {
            Ok(definitions) => query.names.lead_with_whole(definitions, (request.name, form), selected),
            Err(error) if error.code == QueryErrorCode::NotFound => {}
            Err(error) => return Err(error),
        }
        Ok(())
    }
}

impl QuestionNames {
    /// Makes the definitions of a name come before all other results, if the whole question means this name.
    fn lead_with_whole(&mut self, definitions: Definitions, (name, form): (&str, Form), selected: &[KnownRepository]) {
        match definitions {
            Definitions::Indexed(resolved) => {
                let is_meant = is_meant(&resolved, name, form);
                if let Some(substitution) = resolved.substitution.clone().filter(|_| is_meant) {
                    self.note_used(substitution, None);
                    self.leading = leading(&resolved);
                }
            }
            Definitions::Changed(changed) => {
                let is_meant = form != Form::Phrase || changed.substitution.is_same_name();
                if is_meant && changed.substitution.score >= MIN_LEADING_SCORE {
                    self.lead_with_changed(&changed);
                }
            }
            Definitions::Heuristic(line) => {
                self.note_used(line.substitution.clone(), Some(line.place(selected)));
                self.leading = vec![line.leading()];
            }
        }
    }
}

/// The part of a question that may be a name, and its form. `None` if the question is not a name, or contains
/// a name that is resolved in a different way.
fn possible_name<'a>(parsed: &'a ParsedQuery, text: &'a str) -> Option<(&'a str, Form)> {
    if !names_of(parsed).is_empty() || parsed.file_name.is_some() || parsed.relationship.is_some() {
        return None;
    }
    // Quotes around a name are not part of the name.
    let text = text.trim().trim_matches(['"', '\'', '`']);
    // The name may follow introductory words, as in: find "validate token".
    let asked = parsed.symbol.as_ref().filter(|asked| asked.is_whole);
    let text = asked.map_or(text, |asked| asked.name.as_str());
    Some((text, Form::of(text)?))
}

/// Whether the question means the nearest name.
fn is_meant(resolved: &Resolved, name: &str, form: Form) -> bool {
    match form {
        Form::Phrase => resolved.is_same_name() || has_all_words(resolved, name),
        Form::Word | Form::Name => resolved.definitions.first().is_some_and(|best| best.score >= MIN_LEADING_SCORE),
    }
}

/// The form in which a question that may be a name is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Form {
    /// An ordinary word: `autentication`.
    Word,
    /// A word with hyphens, digits or capitals: `open-fiel`.
    Name,
    Phrase,
}

impl Form {
    fn of(text: &str) -> Option<Self> {
        let text = text.trim();
        let num_words = text.split_whitespace().count();
        let is_name = |letter: char| letter.is_ascii_digit() || letter.is_uppercase() || matches!(letter, '-' | '_');
        match num_words {
            0 => None,
            1 if text.chars().skip(1).any(is_name) => Some(Form::Name),
            1 => Some(Form::Word),
            _ => (num_words <= MAX_PHRASE_WORDS && !is_sentence(text)).then_some(Form::Phrase),
        }
    }
}

/// Whether a text begins like a question instead of a name.
pub(crate) fn is_sentence(text: &str) -> bool {
    const FIRST: [&str; 12] = ["are", "can", "do", "does", "how", "is", "what", "when", "where", "which", "who", "why"];
    text.split_whitespace().next().is_some_and(|first| FIRST.contains(&first.to_lowercase().as_str()))
}

/// Whether the best near name contains all words of a phrase, and no other words.
fn has_all_words(resolved: &Resolved, phrase: &str) -> bool {
    const OTHER: [Reason; 4] = [Reason::MissingWords, Reason::AdditionalWords, Reason::OtherWord, Reason::Initials];
    let is_whole = |best: &ResolvedSymbol| {
        best.score >= MIN_PHRASE_SCORE && !OTHER.into_iter().any(|reason| best.reasons.contains(reason))
    };
    (!phrase.contains(char::is_whitespace) || WantedName::new(phrase).num_required_words() > 1)
        && resolved.definitions.first().is_some_and(is_whole)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_questions_may_be_names() {
        let check = |question: &str, expect: Option<Form>| assert_eq!(Form::of(question), expect, "{question}");
        check("autentication", Some(Form::Word));
        check("open-fiel", Some(Form::Name));
        check("Processed64", Some(Form::Name));
        check("open the config fiel", Some(Form::Phrase));
        check("", None);
        check("where is work done", None);
        check("where does the server open the files of its configuration", None);
    }
}
