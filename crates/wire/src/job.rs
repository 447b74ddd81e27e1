//! Jobs: small messages that point to artifacts. JSON, versioned, at most 64 KiB.

use cairn_domain::{ArtifactRef, GenerationId, Key128, MessageId, PartId, RepositoryId, RunId, StageName};
use serde::{Deserialize, Serialize};

/// One part of a run to be worked on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Job {
    pub run: RunId,
    pub part: PartId,
    /// The plan that says what the part works on.
    pub plan: ArtifactRef,
}

impl Job {
    pub fn id(&self) -> MessageId {
        MessageId::derive(self.run, self.part)
    }

    pub fn to_json(&self) -> String {
        let body = JobV1 {
            version: VERSION,
            repository: self.run.repository.to_string(),
            generation: self.run.generation.0,
            stage: self.part.stage.as_str().to_owned(),
            number: self.part.number,
            plan_key: self.plan.key.clone(),
            plan_size_bytes: self.plan.size_bytes,
            plan_hash: self.plan.hash,
        };
        serde_json::to_string(&body).expect("a struct of texts and numbers is JSON")
    }

    /// What is wrong with a text that is no job, for its dead letter.
    pub fn from_json(text: &str) -> Result<Self, String> {
        // The version first: what else stands in a job of another version is not ours to judge.
        let Version { version } = serde_json::from_str(text).map_err(|error| error.to_string())?;
        if version != VERSION {
            return Err(format!("version {version} of a job is unknown: this build reads version {VERSION}"));
        }
        let body: JobV1 = serde_json::from_str(text).map_err(|error| error.to_string())?;
        let repository = Key128::parse(&body.repository).ok_or("`repository` is not 32 hexadecimal digits")?;
        let stage = StageName::parse(&body.stage).ok_or_else(|| format!("unknown stage `{}`", body.stage))?;
        Ok(Self {
            run: RunId { repository: RepositoryId(repository), generation: GenerationId(body.generation) },
            part: PartId { stage, number: body.number },
            plan: ArtifactRef { key: body.plan_key, size_bytes: body.plan_size_bytes, hash: body.plan_hash },
        })
    }
}

/// The version that is written, and the only one so far.
const VERSION: u32 = 1;

#[derive(Deserialize)]
struct Version {
    version: u32,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct JobV1 {
    version: u32,
    repository: String,
    generation: u64,
    stage: String,
    number: u32,
    plan_key: String,
    plan_size_bytes: u64,
    plan_hash: [u8; 32],
}

#[cfg(test)]
mod tests {
    use cairn_domain::{RepositoryName, Tenant};

    use super::*;

    #[test]
    fn a_job_comes_back_and_is_small() {
        let repository = RepositoryId::derive(&Tenant::local(), &RepositoryName::new("r"));
        let job = Job {
            run: RunId { repository, generation: GenerationId(7) },
            part: PartId { stage: StageName::Parse, number: 3 },
            plan: ArtifactRef { key: "plans/x".to_owned(), size_bytes: 9, hash: [7; 32] },
        };
        let text = job.to_json();
        assert!(text.len() < 64 * 1024);
        assert_eq!(Job::from_json(&text), Ok(job));
        assert!(Job::from_json(&text.replace("parse", "purse")).is_err());
        assert!(Job::from_json(&text.replace("\"version\":1", "\"version\":2")).is_err());
    }
}
