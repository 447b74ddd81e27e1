//! Recognises questions about a module by the name of the module. Navigation documents, such as a README,
//! answer these questions.

use cairn_domain::Scope;
use cairn_ports::{FileHit, FileMatch};

use crate::file_names::SAME_NAME;
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
const LEADS: [&[&str]; 11] = [
    &["what", "is", "in"],
    &["what's", "in"],
    &["what", "does"],
    &["what", "is"],
    &["what's"],
    &["overview", "of"],
    &["introduction", "to"],
    &["purpose", "of"],
    &["explain"],
    &["describe"],
    &["summarize"],
];
/// Words that may follow the name of the module at the end of such a question.
const ENDINGS: [&str; 5] = ["about", "contain", "do", "for", "responsible"];
/// Words before a name that do not belong to the name.
const ARTICLES: [&str; 6] = ["a", "an", "our", "the", "this", "your"];
/// Maximum number of names that are looked up.
const MAX_NAMES: usize = 4;
/// Maximum number of directories with one name.
const MAX_DIRECTORIES: usize = 3;

impl Searcher {
    /// Marks a question as a question about a module, if it asks for a directory that has a navigation
    /// document.
    pub(crate) async fn mark_module_question(
        &self,
        query: &mut PreparedQuery,
        text: &str,
        scope: &Scope,
    ) -> Result<(), QueryError> {
        if query.subjects.navigation || query.parsed.relationship.is_some() {
            return Ok(());
        }
        for name in asked_modules(text) {
            let path = name.replace('.', "/");
            let exact = FileMatch::Directory { similar: false };
            let mut directories = self.names.files(&query.view, scope, &path, exact, MAX_DIRECTORIES).await?;
            directories.retain(|hit| hit.score >= SAME_NAME);
            if self.has_document(query, scope, &directories).await? {
                query.subjects.navigation = true;
                return Ok(());
            }
        }
        Ok(())
    }

    /// Whether one of the directories contains a navigation document.
    async fn has_document(
        &self,
        query: &PreparedQuery,
        scope: &Scope,
        directories: &[FileHit],
    ) -> Result<bool, QueryError> {
        for directory in directories {
            let documents = format!("{}/{{AGENTS,CLAUDE,README,readme}}*", globset::escape(directory.path.as_str()));
            if !self.names.files(&query.view, scope, &documents, FileMatch::Glob, 1).await?.is_empty() {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

/// The names in a question that may be the names of modules.
fn asked_modules(question: &str) -> Vec<String> {
    let trimmed = |word: &str| word.trim_matches(|character: char| !character.is_alphanumeric()).to_lowercase();
    let words: Vec<String> = question.split_whitespace().map(trimmed).filter(|word| !word.is_empty()).collect();
    let is_part = |word: &str| PARTS.binary_search(&word.strip_suffix('s').unwrap_or(word)).is_ok();
    let mut names: Vec<&String> = Vec::new();
    for at in (0..words.len()).filter(|at| is_part(&words[*at])) {
        names.extend(at.checked_sub(1).and_then(|before| words.get(before)));
        names.extend(words.get(at + 1));
    }
    names.extend(LEADS.iter().find_map(|lead| subject(&words, lead)));
    names.retain(|name| !ARTICLES.contains(&name.as_str()) && !is_part(name));
    names.dedup();
    names.into_iter().take(MAX_NAMES).cloned().collect()
}

/// The name after the beginning of a question, if the question contains nothing else.
fn subject<'a>(words: &'a [String], lead: &[&str]) -> Option<&'a String> {
    let begins = words.len() > lead.len() && words.iter().zip(lead).all(|(word, expect)| word == expect);
    let mut rest = words.get(lead.len()..).filter(|_| begins)?.iter();
    let name = rest.find(|word| !ARTICLES.contains(&word.as_str()))?;
    rest.all(|word| ENDINGS.contains(&word.as_str())).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_modules_are_found_by_their_surroundings() {
        let check = |question: &str, expect: &[&str]| assert_eq!(asked_modules(question), expect, "{question}");
        check("what does the billing package do", &["billing", "do"]);
        check("how does the fisio service work?", &["fisio", "work"]);
        check("explain the billing component", &["billing"]);
        check("what is in billing", &["billing"]);
        check("what is in the `billing` folder?", &["billing"]);
        check("overview of fisio.imports", &["fisio.imports"]);
        check("what does billing do", &["billing"]);
        check("explain billing", &["billing"]);
        check("explain how billing computes invoices", &[]);
        check("where are retries limited", &[]);
        check("", &[]);
    }

    #[test]
    fn words_for_parts_are_sorted() {
        assert!(PARTS.is_sorted());
    }
}
