//! Names of exchanges and queues, and routing keys.

use cairn_domain::{Lane, StageName};

use crate::topology::TopologyConfig;

/// The work queues of a stage, in the order in which they are served. Suspects come before bulk jobs, so that
/// a run with a suspect ends even if bulk jobs are always waiting.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Source {
    Interactive,
    Suspect,
    Bulk,
}

impl Source {
    pub(crate) const ALL: [Source; 3] = [Source::Interactive, Source::Suspect, Source::Bulk];

    pub(crate) fn of(lane: Lane) -> Self {
        match lane {
            Lane::Interactive => Source::Interactive,
            Lane::Bulk => Source::Bulk,
        }
    }

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Source::Interactive => Lane::Interactive.as_str(),
            Source::Suspect => "suspect",
            Source::Bulk => Lane::Bulk.as_str(),
        }
    }

    /// The lane that is used for a message without a lane header.
    pub(crate) fn lane(self) -> Lane {
        match self {
            Source::Interactive => Lane::Interactive,
            Source::Suspect | Source::Bulk => Lane::Bulk,
        }
    }
}

/// Builds the names of exchanges and queues. Every name begins with the prefix and ends with the version.
#[derive(Clone, Debug)]
pub(crate) struct Names {
    prefix: String,
    version: String,
}

impl Names {
    pub(crate) fn new(config: &TopologyConfig) -> Self {
        Self { prefix: config.prefix.clone(), version: config.version.clone() }
    }

    fn name(&self, parts: &str) -> String {
        format!("{}.{parts}.{}", self.prefix, self.version)
    }

    /// The exchange that routes to the work queues of the stages.
    pub(crate) fn work_exchange(&self) -> String {
        self.name("work")
    }

    /// The exchange that routes to the delay queues with this delay.
    pub(crate) fn retry_exchange(&self, delay_ms: u64) -> String {
        self.name(&format!("retry.{}", label(delay_ms)))
    }

    pub(crate) fn dead_exchange(&self) -> String {
        self.name("dead")
    }

    pub(crate) fn dead_queue(&self) -> String {
        self.name("dead")
    }

    pub(crate) fn queue(&self, stage: StageName, source: Source) -> String {
        self.name(&routing_key(stage, source))
    }

    pub(crate) fn retry_queue(&self, stage: StageName, delay_ms: u64) -> String {
        self.name(&format!("{}.retry.{}", stage.as_str(), label(delay_ms)))
    }

    pub(crate) fn owner_queue(&self, key_name: &str) -> String {
        self.name(&format!("owner.{key_name}"))
    }

    /// A pattern for the names of queues. The part between the prefix and the version must match `middle`.
    pub(crate) fn pattern(&self, middle: &str) -> String {
        format!(r"^{}\.{middle}\.{}$", self.prefix, self.version)
    }

    pub(crate) fn policy(&self, name: &str) -> String {
        self.name(name)
    }
}

/// The routing key of a work queue. A message keeps this key in the delay queue and when it returns to the
/// work queue.
pub(crate) fn routing_key(stage: StageName, source: Source) -> String {
    format!("{}.{}", stage.as_str(), source.as_str())
}

/// Returns the stage and the source of a routing key.
pub(crate) fn parse_routing_key(key: &str) -> Option<(StageName, Source)> {
    let (stage, source) = key.split_once('.')?;
    let source = Source::ALL.into_iter().find(|candidate| candidate.as_str() == source)?;
    Some((StageName::parse(stage)?, source))
}

/// The short form of a delay: `10s`, `1m`, `1h`.
pub(crate) fn label(delay_ms: u64) -> String {
    let units = [(3_600_000, "h"), (60_000, "m"), (1_000, "s")];
    let unit = units.into_iter().find(|(milliseconds, _)| delay_ms.is_multiple_of(*milliseconds));
    let (milliseconds, unit) = unit.unwrap_or((1, "ms"));
    format!("{}{unit}", delay_ms / milliseconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_contain_installation_stage_and_version() {
        let names = Names::new(&TopologyConfig::default());
        assert_eq!(names.queue(StageName::EmbedPatterns, Source::Suspect), "cairn.embed_patterns.suspect.v1");
        assert_eq!(names.retry_queue(StageName::Parse, 600_000), "cairn.parse.retry.10m.v1");
        assert_eq!(parse_routing_key("parse.bulk"), Some((StageName::Parse, Source::Bulk)));
        assert_eq!(parse_routing_key("parse"), None);
    }

    #[test]
    fn delays_have_short_labels() {
        let check = |delay_ms: u64, expect: &str| assert_eq!(label(delay_ms), expect);
        check(1_500, "1500ms");
        check(10_000, "10s");
        check(90_000, "90s");
        check(7_200_000, "2h");
    }
}
