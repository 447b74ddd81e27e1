//! Shows the progress of runs.

use std::io::IsTerminal;
use std::sync::{Mutex, PoisonError};

use cairn_domain::RepositoryName;
use cairn_ports::RunRecord;
use indicatif::{ProgressBar, ProgressStyle};

use crate::local::{Hundreds, Progress};
use crate::output;

/// Shows progress as bars on a terminal, and otherwise as lines on standard error.
pub(crate) struct Bars {
    bar: Option<ProgressBar>,
    last: Mutex<u32>,
    hundreds: Hundreds,
}

impl Bars {
    pub(crate) fn new(json: bool) -> Self {
        let wanted = !json && std::io::stderr().is_terminal();
        let style = ProgressStyle::with_template("{spinner} {msg} {wide_bar} {pos}/{len} parts");
        let bar = wanted.then(|| {
            let bar = ProgressBar::new(0);
            if let Ok(style) = style {
                bar.set_style(style);
            }
            bar
        });
        Self { bar, last: Mutex::new(0), hundreds: Hundreds::default() }
    }

    /// Shows the number of ended parts of a run.
    pub(super) fn ended(&self, repository: &str, run: &str, num_ended: u32, num_parts: u32) {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if std::mem::replace(&mut *last, num_ended) == num_ended {
            return;
        }
        match &self.bar {
            Some(bar) => {
                bar.set_length(u64::from(num_parts));
                bar.set_position(u64::from(num_ended));
                bar.set_message(repository.to_owned());
            }
            None => tracing::info!(repository, run, num_ended, num_parts, "parts ended"),
        }
    }

    /// Shows progress before the plan of the run exists.
    pub(super) fn note(&self, repository: &str, what: &str) {
        match &self.bar {
            Some(bar) => bar.set_message(format!("{repository}: {what}")),
            None => output::note(&format!("{repository}: {what}")),
        }
    }

    pub(crate) fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

impl Progress for Bars {
    fn reading(&self, name: &RepositoryName) {
        match &self.bar {
            Some(bar) => bar.set_message(format!("reading {name}")),
            None => tracing::info!(repository = %name, "reading the source"),
        }
    }

    fn files_read(&self, name: &RepositoryName, num_files: u64) {
        for num_files in self.hundreds.passed(num_files) {
            match &self.bar {
                Some(bar) => bar.set_message(format!("{name}: {num_files} files read")),
                None => output::note(&format!("{name}: {num_files} files read")),
            }
        }
    }

    fn parts(&self, run: &RunRecord) {
        self.ended(&run.result.repository, &run.id.to_string(), run.num_ended, run.num_parts);
    }
}
