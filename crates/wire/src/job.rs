//! Jobs are small messages that refer to artifacts. A job is versioned JSON of at most 64 KiB.

use std::fmt;

use cairn_domain::{ArtifactRef, GenerationId, Key128, MessageId, PartId, RepositoryId, RunId, StageName, Tenant};
use serde::{Deserialize, Serialize};

/// The work that a job requests.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Job {
    Sync(SyncJob),
    Part(PartJob),
}

/// Updates a repository to the current state of its source.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SyncJob {
    pub tenant: Tenant,
    pub repository: RepositoryId,
    /// Number of the request among the requests for its repository. A later request is a different job.
    pub request: u64,
}

/// Executes one part of a run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PartJob {
    pub tenant: Tenant,
    pub run: RunId,
    pub part: PartId,
    /// The plan that defines the work of the part.
    pub plan: ArtifactRef,
}

impl Job {
    pub fn id(&self) -> MessageId {
        match self {
            Job::Sync(job) => MessageId::derive_sync(job.repository, job.request),
            Job::Part(job) => MessageId::derive(job.run, job.part),
        }
    }

    /// The stage whose workers receive the job.
    pub fn stage(&self) -> StageName {
        match self {
            Job::Sync(_) => StageName::Sync,
            Job::Part(job) => job.part.stage,
        }
    }

    pub fn tenant(&self) -> &Tenant {
        match self {
            Job::Sync(job) => &job.tenant,
            Job::Part(job) => &job.tenant,
        }
    }

    pub fn repository(&self) -> RepositoryId {
        match self {
            Job::Sync(job) => job.repository,
            Job::Part(job) => job.run.repository,
        }
    }

    pub fn to_json(&self) -> String {
        let body = Body { version: VERSION, job: JobV2::from(self) };
        serde_json::to_string(&body).expect("a struct of texts and numbers is JSON")
    }

    /// Parses a job. If the text is not a job, returns the reason. The reason becomes part of the dead
    /// letter.
    pub fn from_json(text: &str) -> Result<Self, String> {
        // The version is read first, because the fields may differ between versions.
        let Version { version } = serde_json::from_str(text).map_err(|error| error.to_string())?;
        match version {
            1 => parse::<JobV1>(text)?.into_job(),
            VERSION => parse::<Body>(text)?.job.into_job(),
            other => Err(format!("version {other} of a job is unknown: this build reads up to {VERSION}")),
        }
    }
}

impl fmt::Display for Job {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Job::Sync(job) => write!(formatter, "sync of {} (request {})", job.repository, job.request),
            Job::Part(job) => write!(formatter, "{} of run {}", job.part, job.run),
        }
    }
}

/// The version that this build writes.
const VERSION: u32 = 2;

fn parse<'a, T: Deserialize<'a>>(text: &'a str) -> Result<T, String> {
    serde_json::from_str(text).map_err(|error| error.to_string())
}

#[derive(Deserialize)]
struct Version {
    version: u32,
}

#[derive(Serialize, Deserialize)]
struct Body {
    version: u32,
    #[serde(flatten)]
    job: JobV2,
}

#[derive(Serialize, Deserialize)]
#[serde(tag = "job", rename_all = "snake_case")]
enum JobV2 {
    Sync {
        tenant: String,
        repository: String,
        request: u64,
    },
    Part {
        tenant: String,
        repository: String,
        generation: u64,
        stage: String,
        number: u32,
        plan_key: String,
        plan_size_bytes: u64,
        plan_hash: [u8; 32],
    },
}

impl From<&Job> for JobV2 {
    fn from(job: &Job) -> Self {
        let (tenant, repository) = (job.tenant().to_string(), job.repository().to_string());
        match job {
            Job::Sync(job) => JobV2::Sync { tenant, repository, request: job.request },
            Job::Part(job) => JobV2::Part {
                tenant,
                repository,
                generation: job.run.generation.0,
                stage: job.part.stage.as_str().to_owned(),
                number: job.part.number,
                plan_key: job.plan.key.clone(),
                plan_size_bytes: job.plan.size_bytes,
                plan_hash: job.plan.hash,
            },
        }
    }
}

impl JobV2 {
    fn into_job(self) -> Result<Job, String> {
        match self {
            JobV2::Sync { tenant, repository, request } => {
                Ok(Job::Sync(SyncJob { tenant: Tenant::new(tenant), repository: repository_id(&repository)?, request }))
            }
            JobV2::Part { tenant, repository, generation, stage, number, plan_key, plan_size_bytes, plan_hash } => {
                let run = RunId { repository: repository_id(&repository)?, generation: GenerationId(generation) };
                let part = PartId { stage: stage_name(&stage)?, number };
                let plan = ArtifactRef { key: plan_key, size_bytes: plan_size_bytes, hash: plan_hash };
                Ok(Job::Part(PartJob { tenant: Tenant::new(tenant), run, part, plan }))
            }
        }
    }
}

/// Version 1 of a job. Version 1 has no tenant, because `local` was the only tenant at that time.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct JobV1 {
    #[expect(dead_code, reason = "read before the rest")]
    version: u32,
    repository: String,
    generation: u64,
    stage: String,
    number: u32,
    plan_key: String,
    plan_size_bytes: u64,
    plan_hash: [u8; 32],
}

impl JobV1 {
    fn into_job(self) -> Result<Job, String> {
        let run = RunId { repository: repository_id(&self.repository)?, generation: GenerationId(self.generation) };
        let part = PartId { stage: stage_name(&self.stage)?, number: self.number };
        let plan = ArtifactRef { key: self.plan_key, size_bytes: self.plan_size_bytes, hash: self.plan_hash };
        Ok(Job::Part(PartJob { tenant: Tenant::local(), run, part, plan }))
    }
}

fn repository_id(text: &str) -> Result<RepositoryId, String> {
    Key128::parse(text).map(RepositoryId).ok_or_else(|| "`repository` is not 32 hexadecimal digits".to_owned())
}

fn stage_name(text: &str) -> Result<StageName, String> {
    StageName::parse(text).ok_or_else(|| format!("unknown stage `{text}`"))
}

#[cfg(test)]
mod tests {
    use cairn_domain::RepositoryName;

    use super::*;

    fn part_job() -> Job {
        let repository = RepositoryId::derive(&Tenant::local(), &RepositoryName::new("r"));
        Job::Part(PartJob {
            tenant: Tenant::local(),
            run: RunId { repository, generation: GenerationId(7) },
            part: PartId { stage: StageName::Parse, number: 3 },
            plan: ArtifactRef { key: "plans/x".to_owned(), size_bytes: 9, hash: [7; 32] },
        })
    }

    #[test]
    fn job_survives_the_codec_and_is_small() {
        let repository = part_job().repository();
        for job in [part_job(), Job::Sync(SyncJob { tenant: Tenant::new("acme"), repository, request: 5 })] {
            let text = job.to_json();
            assert!(text.len() < 64 * 1024);
            assert_eq!(Job::from_json(&text), Ok(job));
            assert!(Job::from_json(&text.replace("\"version\":2", "\"version\":3")).is_err());
        }
        assert!(Job::from_json(&part_job().to_json().replace("parse", "purse")).is_err());
    }

    #[test]
    fn each_sync_request_has_its_own_id() {
        let repository = part_job().repository();
        let sync = |request| Job::Sync(SyncJob { tenant: Tenant::local(), repository, request }).id();
        assert_ne!(sync(1), sync(2));
        assert_eq!(sync(1), sync(1));
    }
}
