//! Patterns: groups of classes or files with a similar structure.

use crate::{Digest, Digester, LineSpan, NodeKey, PatternKey, RepoPath, RepositoryId};

/// A member of a pattern, with its differences from the pattern.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PatternMember {
    pub node: NodeKey,
    pub path: RepoPath,
    /// The name of the class. If the member is a file, this is the file name without extension.
    pub name: String,
    pub span: LineSpan,
    /// Methods of the member that fewer than 80 % of the members have.
    pub extra_methods: Vec<String>,
    /// Methods that at least 80 % of the members have, but this member does not have.
    pub missing_methods: Vec<String>,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PatternRecord {
    pub key: PatternKey,
    pub repository: RepositoryId,
    /// Longest common word suffix or prefix of the members' names: `Importer`.
    pub name: String,
    pub description: String,
    /// Methods that at least 80 % of the members have, sorted.
    pub shared_methods: Vec<String>,
    pub shared_bases: Vec<String>,
    pub shared_decorators: Vec<String>,
    /// Index in `members` of the medoid, which is the most typical member.
    pub canonical: u32,
    /// Sorted by path, then line.
    pub members: Vec<PatternMember>,
    /// Longest common module path of the members.
    pub module_path: String,
    pub language: String,
}

impl PatternRecord {
    pub fn digest(&self) -> Digest {
        let names = |digester: Digester, names: &[String]| digester.list(names, |digester, name| digester.text(name));
        let digester = Digester::new("pattern-record").key_of(self.key.0).text(&self.name).text(&self.description);
        let digester = names(digester, &self.shared_methods);
        let digester = names(digester, &self.shared_bases);
        let digester = names(digester, &self.shared_decorators);
        digester
            .number(u64::from(self.canonical))
            .list(&self.members, |digester, member| {
                let digester = digester.key_of(member.node.0).text(member.path.as_str()).text(&member.name);
                let digester = digester.number(u64::from(member.span.start)).number(u64::from(member.span.end));
                names(names(digester, &member.extra_methods), &member.missing_methods)
            })
            .text(&self.module_path)
            .text(&self.language)
            .digest()
    }
}
