//! The rows of a store in which each record has an interval of generations. This module is the simplest
//! implementation that satisfies the contract of staging, reading and sweeping.
//!
//! This store represents Qdrant and Neo4j. The conformance suites check that the adapters of both databases
//! satisfy the same contract: staging only inserts, retiring uses `Staging::may_retire`, and reading uses
//! `View::sees`.

use std::collections::BTreeMap;

use cairn_domain::{GenerationId, Interval, RepositoryId, View};
use cairn_ports::Staging;

use crate::source::Content;

#[derive(Clone, Copy, Debug)]
pub struct Row {
    pub version: u64,
    pub gen_to: GenerationId,
}

/// The rows by repository, file and `gen_from`.
#[derive(Default)]
pub struct Rows(pub BTreeMap<(RepositoryId, u32, GenerationId), Row>);

/// The visible versions of each file. Without a violation, each file has exactly one visible version.
#[derive(PartialEq, Debug, Default)]
pub struct Seen(pub BTreeMap<u32, Vec<u64>>);

impl Seen {
    pub fn is(&self, content: &Content) -> bool {
        let same = |((file, versions), (other, version)): ((&u32, &Vec<u64>), (&u32, &u64))| {
            file == other && versions.as_slice() == [*version]
        };
        self.0.len() == content.len() && self.0.iter().zip(content).all(same)
    }

    /// Whether all visible records belong to this content. Some records of the content may be missing.
    pub fn is_within(&self, content: &Content) -> bool {
        self.0.iter().all(|(file, versions)| content.get(file).is_some_and(|version| versions.as_slice() == [*version]))
    }

    pub fn version(&self, file: u32) -> Option<u64> {
        self.0.get(&file).and_then(|versions| versions.first()).copied()
    }
}

impl Rows {
    pub fn of(&self, repository: RepositoryId) -> impl Iterator<Item = (u32, Interval, u64)> + '_ {
        let first = (repository, 0, GenerationId(0));
        let own = self.0.range(first..).take_while(move |((of, ..), _)| *of == repository);
        own.map(|((_, file, gen_from), row)| (*file, Interval { gen_from: *gen_from, gen_to: row.gen_to }, row.version))
    }

    pub fn visible(&self, view: &View, repository: RepositoryId) -> Seen {
        self.seen(repository, |interval| view.sees_repository(repository) && view.sees(interval))
    }

    pub fn seen(&self, repository: RepositoryId, sees: impl Fn(Interval) -> bool) -> Seen {
        let mut seen = Seen::default();
        for (file, _, version) in self.of(repository).filter(|(_, interval, _)| sees(*interval)) {
            seen.0.entry(file).or_default().push(version);
        }
        seen
    }

    pub fn insert(&mut self, staging: &Staging, file: u32, version: u64, overwrites: bool) {
        let key = (staging.run.repository, file, staging.run.generation);
        let row = Row { version, gen_to: GenerationId::OPEN };
        if overwrites {
            self.0.insert(key, row);
        } else {
            self.0.entry(key).or_insert(row);
        }
    }

    pub fn retire(&mut self, staging: &Staging, file: u32, overwrites: bool) {
        let first = (staging.run.repository, file, GenerationId(0));
        let versions = self.0.range_mut(first..(staging.run.repository, file, GenerationId::OPEN));
        for ((.., gen_from), row) in versions {
            let interval = Interval { gen_from: *gen_from, gen_to: row.gen_to };
            let may_retire = staging.may_retire(interval) || (overwrites && *gen_from < staging.run.generation);
            if may_retire {
                row.gen_to = staging.run.generation;
            }
        }
    }

    pub fn remove(&mut self, repository: RepositoryId, goes: impl Fn(Interval) -> bool) -> u64 {
        let before = self.0.len();
        self.0.retain(|(of, _, gen_from), row| {
            *of != repository || !goes(Interval { gen_from: *gen_from, gen_to: row.gen_to })
        });
        (before - self.0.len()) as u64
    }
}
