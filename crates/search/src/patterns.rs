//! Finds the patterns for an answer.

use cairn_domain::PatternRecord;

use crate::bounds;
use crate::repositories::name_of;
use crate::{QueryError, RepositorySelection, Searcher, Stamp};

#[derive(Clone, PartialEq, Debug)]
pub struct PatternAnswer {
    /// Each pattern with the name of its repository, sorted by number of members, highest first.
    pub patterns: Vec<(String, PatternRecord)>,
    pub stamps: Vec<Stamp>,
}

impl Searcher {
    /// The patterns of the repositories. If `name` is set, the result contains only the patterns whose names
    /// contain `name`, regardless of case.
    pub async fn patterns(
        &self,
        repositories: &RepositorySelection,
        name: Option<&str>,
    ) -> Result<PatternAnswer, QueryError> {
        bounds::word("name", name.unwrap_or_default())?;
        let view = self.catalogue.view().await?;
        let selected = self.select(&view, repositories).await?;
        let scope = self.scope_of(&selected);
        let mut patterns = self.graph.patterns(&view, &scope).await?;
        if let Some(name) = name {
            let name = name.to_lowercase();
            patterns.retain(|pattern| pattern.name.to_lowercase().contains(&name));
        }
        let used: Vec<_> = selected.iter().map(|known| known.record.id).collect();
        Ok(PatternAnswer {
            patterns: patterns.into_iter().map(|pattern| (name_of(&selected, pattern.repository), pattern)).collect(),
            stamps: self.stamps(&selected, &used).await?,
        })
    }
}
