//! A digest of everything that readers can see, by repository and kind of record: independent of timing, order and
//! back end, so that two indexes of the same input can be compared.

use cairn_domain::{Digest, Digester, SetDigest};

use crate::repositories::KnownRepository;
use crate::{QueryError, RepositorySelection, Searcher};

/// Digest and number of the records of one kind.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KindDigest {
    /// `files`, `chunks`, `vectors`, `nodes`, `edges`, `patterns`, `names`.
    pub kind: &'static str,
    pub count: u64,
    pub digest: Digest,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fingerprint {
    pub repository: String,
    pub commit: String,
    pub kinds: Vec<KindDigest>,
    /// Of the kinds, without the commit: equal content is equal however it came about.
    pub digest: Digest,
}

impl Searcher {
    pub async fn fingerprint(&self, repositories: &RepositorySelection) -> Result<Vec<Fingerprint>, QueryError> {
        let view = self.catalogue.view().await?;
        let mut fingerprints = Vec::new();
        for known in self.select(&view, repositories).await? {
            let Some(published) = &known.published else { continue };
            let commit = published.revision.clone();
            let kinds = self.kinds(&view, &known).await?;
            let each = |digester: Digester, kind: &KindDigest| digester.text(kind.kind).bytes(&kind.digest.0);
            let digest = Digester::new("fingerprint").list(&kinds, each).digest();
            fingerprints.push(Fingerprint { repository: known.record.name.to_string(), commit, kinds, digest });
        }
        Ok(fingerprints)
    }

    async fn kinds(&self, view: &cairn_domain::View, known: &KnownRepository) -> Result<Vec<KindDigest>, QueryError> {
        let scope = self.scope_of(std::slice::from_ref(known));
        let id = known.record.id;
        let mut files = SetDigest::default();
        for entry in self.manifest(known).await?.unwrap_or_default().entries {
            files.add(entry.digest());
        }
        let (mut chunks, mut vectors) = (SetDigest::default(), SetDigest::default());
        let mut from = Some(0);
        while let Some(at) = from {
            let page = self.vectors.scroll(view, &scope, id, at).await?;
            for (chunk, vector) in &page.chunks {
                chunks.add(chunk.digest());
                vectors.add(Digester::new("vector").key_of(chunk.key.0).bytes(&vector.0).digest());
            }
            from = page.next;
        }
        let mut nodes = SetDigest::default();
        let mut from = Some(0);
        while let Some(at) = from {
            let page = self.graph.scroll_nodes(view, &scope, id, at).await?;
            page.items.iter().for_each(|node| nodes.add(node.digest()));
            from = page.next;
        }
        let mut edges = SetDigest::default();
        let mut from = Some(0);
        while let Some(at) = from {
            let page = self.graph.scroll_edges(view, &scope, id, None, at).await?;
            page.items.iter().for_each(|edge| edges.add(edge.digest()));
            from = page.next;
        }
        let mut patterns = SetDigest::default();
        self.graph.patterns(view, &scope).await?.iter().for_each(|pattern| patterns.add(pattern.digest()));
        let mut names = SetDigest::default();
        let mut from = Some(0);
        while let Some(at) = from {
            let page = self.names.scroll(view, &scope, id, at).await?;
            page.items.iter().for_each(|entry| names.add(entry.digest()));
            from = page.next;
        }
        let kind = |kind, set: SetDigest| KindDigest { kind, count: set.count, digest: set.digest() };
        Ok(vec![
            kind("files", files),
            kind("chunks", chunks),
            kind("vectors", vectors),
            kind("nodes", nodes),
            kind("edges", edges),
            kind("patterns", patterns),
            kind("names", names),
        ])
    }
}
