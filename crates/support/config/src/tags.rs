//! Assigns tags to files, by glob or language.

use cairn_domain::RepoPath;
use cairn_inventory::{InvalidPattern, Patterns};

use crate::TagRule;

/// The compiled tag rules of a repository.
#[derive(Default)]
pub struct TagRules {
    rules: Vec<CompiledRule>,
}

struct CompiledRule {
    tag: String,
    globs: Patterns,
    languages: Vec<String>,
}

impl TagRules {
    pub fn compile(rules: &[TagRule]) -> Result<Self, Vec<InvalidPattern>> {
        let mut compiled = Vec::with_capacity(rules.len());
        for rule in rules {
            let globs = Patterns::compile("tags", &rule.globs)?;
            compiled.push(CompiledRule { tag: rule.tag.clone(), globs, languages: rule.languages.clone() });
        }
        Ok(Self { rules: compiled })
    }

    /// The tags of a file, sorted. A file has a tag if a glob of the tag matches its path, or if the rule of
    /// the tag contains its language.
    pub fn tags(&self, path: &RepoPath, language: Option<&str>) -> Vec<String> {
        let carries = |rule: &&CompiledRule| {
            let by_language = |language: &str| rule.languages.iter().any(|name| name.eq_ignore_ascii_case(language));
            language.is_some_and(by_language) || rule.globs.find(path.as_str()).is_some()
        };
        let mut tags: Vec<String> = self.rules.iter().filter(carries).map(|rule| rule.tag.clone()).collect();
        tags.sort();
        tags
    }
}
