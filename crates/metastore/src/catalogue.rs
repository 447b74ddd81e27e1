//! The catalogue.

use async_trait::async_trait;
use cairn_domain::{GenerationId, PublishedSeq, RepositoryId, Scope, Tenant, View};
use cairn_ports::{
    Catalogue, CatalogueError, MaySee, PublishedGeneration, RepositoryQuery, RepositoryRecord, RunQuery,
};
use cairn_runs::{Command, CommandReply, Publishing, RepositoryDocument};

use crate::Metastore;
use crate::error::{port_result, unexpected};
use crate::records::{details, published, repository_record, write_result};

#[async_trait]
impl Catalogue for Metastore {
    async fn register(&self, repository: RepositoryRecord) -> Result<(), CatalogueError> {
        self.add(repository, false).await
    }

    async fn register_listed(&self, repository: RepositoryRecord) -> Result<(), CatalogueError> {
        self.add(repository, true).await
    }

    async fn change_settings(
        &self,
        repository: RepositoryId,
        expected: &str,
        settings: &str,
    ) -> Result<(), CatalogueError> {
        let (expected, settings) = (expected.to_owned(), settings.to_owned());
        let command = Command::ChangeSettings { repository, expected, settings };
        port_result(self.documents.change(command).await, "change_settings", &repository).map(drop)
    }

    async fn repositories(&self, scope: &Scope) -> Result<Vec<RepositoryRecord>, CatalogueError> {
        let documents = self.of_tenant("repositories", &scope.tenant).await?;
        Ok(documents.filter(|document| scope.contains(document.id)).map(repository_record).collect())
    }

    async fn visible(&self, tenant: &Tenant, may_see: &MaySee<'_>) -> Result<Vec<RepositoryRecord>, CatalogueError> {
        let documents = self.of_tenant("visible", tenant).await?;
        Ok(documents.filter(|document| may_see(&document.details.name)).map(repository_record).collect())
    }

    async fn view(&self) -> Result<View, CatalogueError> {
        let registry = port_result(self.documents.registry().await, "view", &"")?;
        Ok(registry.view())
    }

    async fn view_at(&self, seq: PublishedSeq) -> Result<Option<View>, CatalogueError> {
        let now = port_result(self.documents.registry().await, "view_at", &seq.0)?;
        if now.seq == seq {
            return Ok(Some(now.view()));
        }
        let then = port_result(self.documents.publication(seq).await, "view_at", &seq.0)?;
        Ok(then.map(|view| now.without_deleted(view)))
    }

    async fn published_of(
        &self,
        view: &View,
        repositories: &[RepositoryId],
    ) -> Result<Vec<PublishedGeneration>, CatalogueError> {
        let seen: Vec<RepositoryId> = repositories.iter().copied().filter(|id| view.sees_repository(*id)).collect();
        if seen.is_empty() {
            return Ok(Vec::new());
        }
        let query = RunQuery::PublishedAt { repositories: seen, seq: view.seq };
        let runs = port_result(self.documents.runs(query).await, "published", &"")?;
        // If the newest published generation began before a deletion, all earlier runs of the repository also
        // began before that deletion, so all of them are hidden.
        let runs = runs.into_iter().filter(|run| view.published(run.ledger.id.generation));
        runs.filter_map(|run| published(run).transpose()).collect()
    }

    async fn publish(&self, published: PublishedGeneration) -> Result<PublishedSeq, CatalogueError> {
        let run = published.run;
        let publishing = Publishing {
            state: published.state,
            result: write_result(&published.result, &run)?,
            manifest: published.manifest,
            revision: published.revision,
            branch: published.branch,
            model: published.model,
            now_ms: published.indexed_at_ms,
        };
        let command = Command::Publish { run, publishing: Box::new(publishing) };
        match port_result(self.documents.change(command).await, "publish", &run)? {
            CommandReply::Published(seq) => Ok(seq),
            _ => Err(unexpected("publish", &run)),
        }
    }

    async fn delete(&self, repository: RepositoryId, now_ms: i64) -> Result<GenerationId, CatalogueError> {
        let command = Command::Delete { repository, now_ms };
        match port_result(self.documents.change(command).await, "delete", &repository)? {
            CommandReply::Deleted(generation) => Ok(generation),
            _ => Err(unexpected("delete", &repository)),
        }
    }
}

impl Metastore {
    async fn add(&self, repository: RepositoryRecord, keeps_settings: bool) -> Result<(), CatalogueError> {
        let id = repository.id;
        let command = Command::Register { repository: id, details: Box::new(details(repository)), keeps_settings };
        port_result(self.documents.change(command).await, "register", &id).map(drop)
    }

    /// The repositories of the tenant that are not deleted, sorted by name.
    async fn of_tenant<'t>(
        &self,
        operation: &'static str,
        tenant: &'t Tenant,
    ) -> Result<impl Iterator<Item = RepositoryDocument> + use<'t>, CatalogueError> {
        let query = RepositoryQuery::OfTenant(Some(tenant.clone()));
        let documents = port_result(self.documents.repositories(query).await, operation, tenant)?;
        let is_there =
            move |document: &RepositoryDocument| !document.state.is_deleted && document.details.tenant == *tenant;
        Ok(documents.into_iter().filter(is_there))
    }
}
