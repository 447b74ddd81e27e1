//! Finds the patterns that code follows.
//!
//! The members of the patterns of a generation never change, so they are read once for each generation and
//! cached. A question reads the members only for the repositories of its results.

use std::collections::BTreeMap;
use std::sync::Arc;

use cairn_domain::{ChunkKind, ChunkRecord, LineSpan, PatternRecord, RepoPath, RepositoryId, Scope, View};
use cairn_recent::SharedRecent;

use crate::repositories::KnownRepository;
use crate::{QueryError, Searcher};

/// Maximum number of members in the cache.
const MAX_CACHED: usize = 1_000_000;

/// A cache of the members of patterns. Each entry has the key of the generation's manifest as its key. All
/// questions of a process share the cache.
pub struct PatternMembers(SharedRecent<String, Arc<Members>>);

impl Default for PatternMembers {
    fn default() -> Self {
        Self(SharedRecent::new(MAX_CACHED))
    }
}

/// The classes and files of a generation that follow a pattern.
#[derive(Debug, Default)]
pub(crate) struct Members {
    by_path: BTreeMap<RepoPath, Vec<(LineSpan, String)>>,
}

impl Members {
    fn of(patterns: &[PatternRecord]) -> Self {
        let mut by_path: BTreeMap<RepoPath, Vec<(LineSpan, String)>> = BTreeMap::new();
        for pattern in patterns {
            for member in &pattern.members {
                by_path.entry(member.path.clone()).or_default().push((member.span, pattern.name.clone()));
            }
        }
        Self { by_path }
    }

    fn len(&self) -> usize {
        self.by_path.values().map(Vec::len).sum()
    }

    /// The name of the pattern of the smallest member that overlaps the span.
    pub(crate) fn followed_at(&self, path: &RepoPath, span: LineSpan) -> Option<&str> {
        let shares = |member: LineSpan| member.start <= span.end && span.start <= member.end;
        let members = self.by_path.get(path)?.iter().filter(|(member, _)| shares(*member));
        let (_, name) = members.min_by_key(|(member, name)| (member.num_lines(), member.start, name))?;
        Some(name)
    }

    /// The pattern that the code of a chunk follows. `None` for a chunk that describes a pattern.
    pub(crate) fn followed_by(&self, chunk: &ChunkRecord) -> Option<&str> {
        if chunk.kind == ChunkKind::Pattern { None } else { self.followed_at(&chunk.path, chunk.span) }
    }
}

impl PatternMembers {
    fn add(&self, generation: &str, members: &Arc<Members>) {
        self.0.lock().add_always(generation.to_owned(), Arc::clone(members), members.len());
    }
}

impl Searcher {
    /// The members of the patterns of each repository in `wanted`.
    pub(crate) async fn pattern_members(
        &self,
        view: &View,
        selected: &[KnownRepository],
        wanted: impl IntoIterator<Item = RepositoryId>,
    ) -> Result<BTreeMap<RepositoryId, Arc<Members>>, QueryError> {
        let mut found = BTreeMap::new();
        let mut missing: BTreeMap<RepositoryId, &str> = BTreeMap::new();
        for repository in wanted {
            let known = selected.iter().find(|known| known.record.id == repository);
            let published = known.and_then(|known| known.published.as_ref());
            let Some(published) = published.filter(|published| published.result.patterns > 0) else { continue };
            let cached = self.pattern_members.0.lock().get(&published.manifest.key);
            match cached {
                Some(members) => {
                    found.insert(repository, members);
                }
                None => {
                    missing.insert(repository, &published.manifest.key);
                }
            }
        }
        if missing.is_empty() {
            return Ok(found);
        }
        let scope = Scope::only(self.caller.tenant.clone(), missing.keys().copied());
        let patterns = self.graph.patterns(view, &scope).await?;
        for (repository, generation) in missing {
            let own: Vec<PatternRecord> =
                patterns.iter().filter(|pattern| pattern.repository == repository).cloned().collect();
            let members = Arc::new(Members::of(&own));
            self.pattern_members.add(generation, &members);
            found.insert(repository, members);
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn members(listed: &[(&str, u32, u32, &str)]) -> Members {
        let mut by_path: BTreeMap<RepoPath, Vec<(LineSpan, String)>> = BTreeMap::new();
        for (path, start, end, name) in listed {
            let path = RepoPath::parse(path).expect("a path");
            by_path.entry(path).or_default().push((LineSpan::new(*start, *end), (*name).to_owned()));
        }
        Members { by_path }
    }

    #[test]
    fn code_gets_the_pattern_of_the_smallest_overlapping_member() {
        let members = members(&[("a.py", 1, 90, "module"), ("a.py", 10, 20, "Importer"), ("b.py", 1, 9, "View")]);
        let check = |path: &str, start, end, expect: Option<&str>| {
            let path = RepoPath::parse(path).expect("a path");
            assert_eq!(members.followed_at(&path, LineSpan::new(start, end)), expect, "{path}:{start}-{end}");
        };
        check("a.py", 10, 20, Some("Importer"));
        check("a.py", 12, 13, Some("Importer"));
        check("a.py", 1, 30, Some("Importer"));
        check("a.py", 30, 40, Some("module"));
        check("b.py", 10, 12, None);
        check("c.py", 1, 2, None);
    }
    #[test]
    fn cache_does_not_exceed_its_limit() {
        let cache = PatternMembers(SharedRecent::new(5));
        let large = Arc::new(members(&[("a.py", 1, 2, "x"); 3]));
        cache.add("first", &large);
        assert!(cache.0.lock().get("first").is_some());
        cache.add("second", &large);
        let mut cached = cache.0.lock();
        assert_eq!((cached.get("first").is_some(), cached.num_bytes()), (false, 3));
        assert!(cached.get("second").is_some());
    }
}
