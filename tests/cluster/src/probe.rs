//! A reader that sends questions continuously. It checks that no answer mixes two states, and that published
//! content never disappears.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::{Result, bail, ensure};
use cairn_ports::ChunkFilter;
use cairn_search::{RepositorySelection, SearchAnswer, SearchRequest, Searcher, Target};
use tokio::task::JoinHandle;
use tokio::time::{MissedTickBehavior, interval};

use crate::workload::{MARKED, NUM_MARKED_FILES};

const EVERY: Duration = Duration::from_millis(50);

/// Sends the same search again and again until it is stopped.
pub struct Probe {
    is_over: Arc<AtomicBool>,
    reading: JoinHandle<Result<u64>>,
}

impl Probe {
    pub fn start(searcher: Searcher) -> Self {
        let is_over = Arc::new(AtomicBool::new(false));
        let reading = tokio::spawn(read(searcher, Arc::clone(&is_over)));
        Self { is_over, reading }
    }

    /// Stops reading. Returns the number of answers. Fails if there was no answer, or if an answer was wrong.
    pub async fn stop(self) -> Result<u64> {
        self.is_over.store(true, Ordering::SeqCst);
        let num_answers = self.reading.await??;
        ensure!(num_answers > 0, "the reader got no answer during the whole test");
        Ok(num_answers)
    }
}

async fn read(searcher: Searcher, is_over: Arc<AtomicBool>) -> Result<u64> {
    let (mut num_answers, mut newest) = (0, None);
    let mut turns = interval(EVERY);
    turns.set_missed_tick_behavior(MissedTickBehavior::Delay);
    while !is_over.load(Ordering::SeqCst) {
        turns.tick().await;
        // A search that fails because a store is down is not a wrong answer.
        let Ok(answer) = searcher.search(&request()).await else { continue };
        let seen = markers(&answer);
        match (seen.len(), newest) {
            (0, None) => {}
            (0, Some(newest)) => bail!("the repository was not found after marker {newest} had been found"),
            (1, _) => {
                let marker = seen.first().copied();
                ensure!(marker >= newest, "marker {marker:?} was found after the newer marker {newest:?}");
                let num_files = answer.found.len();
                ensure!(
                    num_files == NUM_MARKED_FILES,
                    "an answer contains {num_files} files with marker {marker:?} instead of {NUM_MARKED_FILES}"
                );
                newest = marker;
                num_answers += 1;
            }
            _ => bail!("one answer contains several markers: {seen:?}"),
        }
    }
    Ok(num_answers)
}

fn request() -> SearchRequest {
    SearchRequest {
        query: "carries the marker of this state".to_owned(),
        repositories: RepositorySelection(vec![MARKED.to_owned()]),
        filter: ChunkFilter::default(),
        query_type: None,
        limit: Some(50),
        max_tokens: 8000,
        cursor: None,
        target: Target::default(),
    }
}

fn markers(answer: &SearchAnswer) -> BTreeSet<usize> {
    let marker = |text: &str| text.split_once("marker_")?.1.get(..4)?.parse().ok();
    answer.found.iter().filter_map(|found| marker(&found.hit.chunk.text)).collect()
}
