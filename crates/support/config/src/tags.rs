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
    /// the tag contains its language. In addition, every file has the extension of its name as a tag, for
    /// example `.py`. The tags `indexed` and `repository` belong to all files, so they are not stored.
    pub fn tags(&self, path: &RepoPath, language: Option<&str>) -> Vec<String> {
        let carries = |rule: &&CompiledRule| {
            let by_language = |language: &str| rule.languages.iter().any(|name| name.eq_ignore_ascii_case(language));
            language.is_some_and(by_language) || rule.globs.find(path.as_str()).is_some()
        };
        let of_rules = self.rules.iter().filter(carries).map(|rule| rule.tag.clone());
        let mut tags: Vec<String> = of_rules.chain(extension(path)).collect();
        tags.sort();
        tags.dedup();
        tags
    }
}

/// The part of the file name from its last dot to its end, in lower case.
fn extension(path: &RepoPath) -> Option<String> {
    let name = path.as_str().rsplit('/').next().unwrap_or_default();
    let dot = name.rfind('.')?;
    Some(name[dot..].to_lowercase()).filter(|extension| extension.len() > 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_have_their_extension_as_a_tag() {
        let rules = [TagRule { tag: "web".to_owned(), globs: vec!["*.ts".to_owned()], languages: Vec::new() }];
        let rules = TagRules::compile(&rules).expect("valid");
        let check = |path: &str, expect: &[&str]| {
            assert_eq!(rules.tags(&RepoPath::parse(path).expect("a path"), None), expect, "{path}");
        };
        check("docs/README.md", &[".md"]);
        check("a/main.go", &[".go"]);
        check("a.b/Setup.PY", &[".py"]);
        check("web/app.test.ts", &[".ts", "web"]);
        check("Makefile", &[]);
        check("a.b/Makefile", &[]);
        check("odd.", &[]);
        check(".gitignore", &[".gitignore"]);
    }
}
