//! Recognises questions about a module by the name of the module. Navigation documents, such as a README,
//! answer these questions.

use cairn_domain::Scope;
use cairn_ports::FileMatch;
use cairn_question::is_stop_word;

use crate::prepared_query::PreparedQuery;
use crate::{QueryError, Searcher};

/// Words for a part of a code base. A name next to such a word may be the name of a module. Sorted.
const PARTS: [&str; 14] = [
    "app",
    "application",
    "component",
    "crate",
    "directory",
    "folder",
    "layer",
    "library",
    "package",
    "part",
    "plugin",
    "service",
    "subsystem",
    "system",
];
/// Beginnings of questions whose subject may be a module.
const LEADS: [&[&str]; 12] = [
    &["what", "is", "in"],
    &["what's", "in"],
    &["what", "does"],
    &["what", "is"],
    &["what's"],
    &["overview", "of"],
    &["introduction", "to"],
    &["purpose", "of"],
    &["tell", "me", "about"],
    &["explain"],
    &["describe"],
    &["summarize"],
];
/// Beginnings of questions whose subject is a module if the question also contains a word for a part.
const LEADS_WITH_PART: [&[&str]; 3] = [&["how", "does"], &["how", "do"], &[]];
/// Words that may follow the name of the module at the end of such a question.
const ENDINGS: [&str; 7] = ["about", "contain", "do", "for", "responsible", "work", "works"];
/// Words before a name that do not belong to the name.
const ARTICLES: [&str; 6] = ["a", "an", "our", "the", "this", "your"];

impl Searcher {
    /// Marks a question as a question about a module, if the question consists of the name of a directory
    /// that has a navigation document.
    pub(crate) async fn mark_module_question(
        &self,
        query: &mut PreparedQuery,
        text: &str,
        scope: &Scope,
    ) -> Result<(), QueryError> {
        if query.subjects.navigation || query.parsed.relationship.is_some() {
            return Ok(());
        }
        let Some(name) = asked_module(text) else { return Ok(()) };
        let documents = format!("**/{}/{{AGENTS,CLAUDE,README}}*", globset::escape(&name.replace('.', "/")));
        let found = self.names.files(&query.view, scope, &documents, FileMatch::Glob, 1).await?;
        query.subjects.navigation = !found.is_empty();
        Ok(())
    }
}

/// The name in a question that may be the name of a module. `None` if the question asks for anything else
/// too.
fn asked_module(question: &str) -> Option<String> {
    let trimmed = |word: &str| word.trim_matches(|character: char| !character.is_alphanumeric()).to_lowercase();
    let words = question.split_whitespace().map(trimmed);
    let is_part = |word: &str| PARTS.binary_search(&word.strip_suffix('s').unwrap_or(word)).is_ok();
    let (parts, words): (Vec<String>, Vec<String>) =
        words.filter(|word| !word.is_empty() && !ARTICLES.contains(&word.as_str())).partition(|word| is_part(word));
    let mut leads = LEADS.iter().chain(LEADS_WITH_PART.iter().filter(|_| !parts.is_empty()));
    leads.find_map(|lead| subject(&words, lead)).cloned()
}

/// The name after the beginning of a question, if the question contains nothing else.
fn subject<'a>(words: &'a [String], lead: &[&str]) -> Option<&'a String> {
    let begins = words.len() > lead.len() && words.iter().zip(lead).all(|(word, expect)| word == expect);
    let (name, rest) = words.get(lead.len()..).filter(|_| begins)?.split_first()?;
    let is_name = !is_stop_word(name) && !ENDINGS.contains(&name.as_str());
    (is_name && rest.iter().all(|word| ENDINGS.contains(&word.as_str()))).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_modules_are_found_by_their_surroundings() {
        let check = |question: &str, expect: Option<&str>| {
            assert_eq!(asked_module(question).as_deref(), expect, "{question}");
        };
        check("what does the billing package do", Some("billing"));
        check("how does the fisio service work?", Some("fisio"));
        check("explain the billing component", Some("billing"));
        check("what is in billing", Some("billing"));
        check("what is in the `billing` folder?", Some("billing"));
        check("overview of fisio.imports", Some("fisio.imports"));
        check("what does billing do", Some("billing"));
        check("explain billing", Some("billing"));
        check("the billing package", Some("billing"));
        check("package billing", Some("billing"));
    }

    #[test]
    fn other_questions_have_no_module() {
        let check = |question: &str| assert_eq!(asked_module(question), None, "{question}");
        check("explain how billing computes invoices");
        check("how does the payment service retry failed charges");
        check("what part of the code parses dates");
        check("which component is responsible for retries");
        check("how does billing work");
        check("billing");
        check("what does this do");
        check("where are retries limited");
        check("plugin system");
        check("");
    }

    #[test]
    fn words_for_parts_are_sorted() {
        assert!(PARTS.is_sorted());
    }
}
