//! Assigns tags to files, by glob or language.

use std::collections::{BTreeMap, BTreeSet};

use cairn_domain::RepoPath;
use cairn_inventory::{InvalidPattern, Patterns};

use crate::TagRule;

/// The compiled tag rules of a repository. All rules share one set of patterns.
pub struct TagRules {
    tags: Vec<String>,
    globs: Patterns,
    /// The tag of each glob, as an index in `tags`.
    owners: Vec<usize>,
    /// The tags of each language, in lower case.
    by_language: BTreeMap<String, Vec<usize>>,
}

impl TagRules {
    /// Compiles the rules. The caller must already have limited the number of rules and the number of their
    /// globs.
    pub fn compile(rules: &[TagRule]) -> Result<Self, Vec<InvalidPattern>> {
        let (mut globs, mut owners) = (Vec::new(), Vec::new());
        let mut by_language: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (index, rule) in rules.iter().enumerate() {
            globs.extend_from_slice(&rule.globs);
            owners.resize(globs.len(), index);
            for language in &rule.languages {
                by_language.entry(language.to_ascii_lowercase()).or_default().push(index);
            }
        }
        let tags = rules.iter().map(|rule| rule.tag.clone()).collect();
        Ok(Self { tags, globs: Patterns::compile_counted("tags", &globs)?, owners, by_language })
    }

    /// The sorted tags of a file. A file has a tag if a glob in the tag's rule matches the path of the file,
    /// or if the rule contains the language of the file. In addition, every file has its extension as a tag,
    /// for example `.py`. All files have the tags `indexed` and `repository`, so these two tags are not
    /// stored.
    pub fn tags(&self, path: &RepoPath, language: Option<&str>) -> Vec<String> {
        let by_glob = self.globs.find_all(path.as_str()).map(|glob| self.owners[glob]);
        let by_language = language.and_then(|language| self.by_language.get(&language.to_ascii_lowercase()));
        let of_rules: BTreeSet<usize> = by_glob.chain(by_language.into_iter().flatten().copied()).collect();
        let of_rules = of_rules.into_iter().map(|index| self.tags[index].clone());
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
