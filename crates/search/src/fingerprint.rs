//! Computes a digest of all records that readers can see, for each repository and kind of record. The digest
//! does not depend on timing, order or back end, so that two indexes of the same input can be compared.

use cairn_domain::{Digest, Digester, RepositoryId, Scope, SetDigest, View, WordPair};
use cairn_ranking::sum_of_counts;

use crate::repositories::KnownRepository;
use crate::{QueryError, RepositorySelection, Searcher};

/// Digest and number of the records of one kind.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct KindDigest {
    /// One of `files`, `chunks`, `vectors`, `nodes`, `edges`, `patterns`, `names` and `terms`.
    pub kind: &'static str,
    pub count: u64,
    pub digest: Digest,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fingerprint {
    pub repository: String,
    pub commit: String,
    pub kinds: Vec<KindDigest>,
    /// Digest of the digests in `kinds`. The digest does not include the commit, so two repositories with
    /// equal content have equal digests even if their histories differ.
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

    async fn kinds(&self, view: &View, known: &KnownRepository) -> Result<Vec<KindDigest>, QueryError> {
        let scope = self.scope_of(std::slice::from_ref(known));
        let id = known.record.id;
        let mut files = SetDigest::default();
        for entry in self.manifest(known).await?.unwrap_or_default().entries {
            files.add(entry.digest());
        }
        let (chunks, vectors) = self.chunk_sets(view, &scope, id).await?;
        let mut patterns = SetDigest::default();
        self.graph.patterns(view, &scope).await?.iter().for_each(|pattern| patterns.add(pattern.digest()));
        let kind = |kind, set: SetDigest| KindDigest { kind, count: set.count, digest: set.digest() };
        Ok(vec![
            kind("files", files),
            kind("chunks", chunks),
            kind("vectors", vectors),
            kind("nodes", self.node_set(view, &scope, id).await?),
            kind("edges", self.edge_set(view, &scope, id).await?),
            kind("patterns", patterns),
            kind("names", self.name_set(view, &scope, id).await?),
            self.terms(known).await?,
        ])
    }

    /// The digest of the total term counts. The history of runs determines which layer stores a count, but
    /// does not change the totals.
    async fn terms(&self, known: &KnownRepository) -> Result<KindDigest, QueryError> {
        let tables = self.tables_of(known).await?;
        let sum = sum_of_counts(tables.iter().map(|table| &**table));
        let of_term = |digester: Digester, (term, count): &(u32, i32)| {
            digester.number(u64::from(*term)).number(i64::from(*count) as u64)
        };
        let of_pair = |digester: Digester, (pair, count): &(WordPair, i32)| {
            digester.text(&pair.word).text(&pair.other).number(i64::from(*count) as u64)
        };
        let digester = Digester::new("terms").number(sum.num_chunks as u64);
        let digest = digester.list(&sum.terms, of_term).list(&sum.pairs, of_pair).digest();
        Ok(KindDigest { kind: "terms", count: sum.terms.len() as u64, digest })
    }

    async fn chunk_sets(
        &self,
        view: &View,
        scope: &Scope,
        id: RepositoryId,
    ) -> Result<(SetDigest, SetDigest), QueryError> {
        let (mut chunks, mut vectors) = (SetDigest::default(), SetDigest::default());
        let mut from = Some(0);
        while let Some(at) = from {
            let page = self.vectors.scroll(view, scope, id, at).await?;
            for (chunk, vector) in &page.chunks {
                chunks.add(chunk.digest());
                vectors.add(Digester::new("vector").key_of(chunk.key.0).bytes(&vector.0).digest());
            }
            from = page.next;
        }
        Ok((chunks, vectors))
    }

    async fn node_set(&self, view: &View, scope: &Scope, id: RepositoryId) -> Result<SetDigest, QueryError> {
        let (mut nodes, mut from) = (SetDigest::default(), Some(0));
        while let Some(at) = from {
            let page = self.graph.scroll_nodes(view, scope, id, at).await?;
            page.items.iter().for_each(|node| nodes.add(node.digest()));
            from = page.next;
        }
        Ok(nodes)
    }

    async fn edge_set(&self, view: &View, scope: &Scope, id: RepositoryId) -> Result<SetDigest, QueryError> {
        let (mut edges, mut from) = (SetDigest::default(), Some(0));
        while let Some(at) = from {
            let page = self.graph.scroll_edges(view, scope, id, None, at).await?;
            page.items.iter().for_each(|edge| edges.add(edge.digest()));
            from = page.next;
        }
        Ok(edges)
    }

    async fn name_set(&self, view: &View, scope: &Scope, id: RepositoryId) -> Result<SetDigest, QueryError> {
        let (mut names, mut from) = (SetDigest::default(), Some(0));
        while let Some(at) = from {
            let page = self.names.scroll(view, scope, id, at).await?;
            page.items.iter().for_each(|entry| names.add(entry.digest()));
            from = page.next;
        }
        Ok(names)
    }
}
