//! Test repositories that change repeatedly; the same seed gives the same changes.

use std::path::Path;

use anyhow::Result;
use cairn_domain::{Lane, RepositoryId, Source};
use cairn_testkit::Mutation;
use cairn_testkit::work_tree::{commit, repository, write};
use tempfile::TempDir;

use crate::{Inside, LocalMode};

/// The name of the repository that readers observe during the test.
pub const MARKED: &str = "marked";
/// The number of files in the marked repository. Each file contains the marker of the present state.
pub const NUM_MARKED_FILES: usize = 6;

/// Several changing repositories, and one marked repository, whose files all contain the marker of its
/// present state.
pub struct Workload {
    seed: u64,
    repositories: Vec<Mutation>,
    marked: TempDir,
    marker: usize,
}

impl Workload {
    pub fn new(seed: u64, num_repositories: usize, num_files: usize) -> Self {
        // Different workload seeds give different repositories.
        let seeds = (seed * 1000..).take(num_repositories);
        let repositories = seeds.map(|seed| Mutation::new(seed, num_files)).collect();
        let mut workload = Self { seed, repositories, marked: repository(), marker: 0 };
        workload.mark();
        workload
    }

    /// Makes a few random changes in every repository, and marks the new state.
    pub fn advance(&mut self) {
        for mutation in &mut self.repositories {
            (0..2).for_each(|_| mutation.step());
        }
        self.mark();
    }

    pub fn seed(&self) -> u64 {
        self.seed
    }

    /// Adds one file to every changing repository, without changes to existing files.
    pub fn grow(&mut self) {
        for (number, mutation) in self.repositories.iter().enumerate() {
            let text = format!("def grown_{number}(x):\n    return x + {number}\n");
            write(mutation.root(), &format!("grown/file_{}.py", self.marker), text);
            commit(mutation.root(), "grow");
        }
        self.mark();
    }

    fn mark(&mut self) {
        self.marker += 1;
        for file in 0..NUM_MARKED_FILES {
            let text = format!(
                "def marked_{file}():\n    \"\"\"Carries the marker of this state.\"\"\"\n    return \"marker_{:04}\"\n",
                self.marker
            );
            write(self.marked.path(), &format!("app/file_{file}.py"), text);
        }
        commit(self.marked.path(), "mark");
    }

    /// The names and folders of all repositories.
    pub fn repositories(&self) -> impl Iterator<Item = (String, &Path)> {
        let changing = self.repositories.iter().enumerate();
        let changing = changing.map(|(number, mutation)| (format!("changing-{number:02}"), mutation.root()));
        changing.chain([(MARKED.to_owned(), self.marked.path())])
    }

    /// Requests a sync of every repository. Returns the repository ids and the numbers of the requests.
    pub async fn ask(&self, inside: &Inside) -> Result<Vec<(RepositoryId, u64)>> {
        let mut asked = Vec::new();
        for (name, path) in self.repositories() {
            let source = Source::Url { url: url(path) };
            asked.push(inside.enqueue(&name, source, Lane::Bulk).await?);
        }
        Ok(asked)
    }

    /// Indexes the present state of all repositories in local mode.
    pub fn index_locally(&self, local: &LocalMode) -> Result<()> {
        local.index(self.repositories().map(|(name, path)| (name, url(path))))
    }
}

fn url(path: &Path) -> String {
    format!("file://{}", path.display())
}
