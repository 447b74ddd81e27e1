//! Runs work on threads: the blocking work of an async stage, and a function that is applied to many items.

use std::sync::atomic::{AtomicUsize, Ordering};

use cairn_pipeline::StageError;

/// Runs blocking work on a thread where blocking is allowed. Turns a panic into an error.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, StageError> + Send + 'static,
) -> Result<T, StageError> {
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result,
        Err(error) => Err(StageError::panicked(error.to_string())),
    }
}

/// Applies a function to every item on several threads. Returns the results in the order of the items.
pub(crate) fn in_parallel<T: Sync, R: Send>(items: &[T], num_threads: usize, apply: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let size = items.len().div_ceil(num_threads.max(1) * 8).max(1);
    let next = AtomicUsize::new(0);
    let pieces: Vec<&[T]> = items.chunks(size).collect();
    let mut done: Vec<(usize, Vec<R>)> = std::thread::scope(|scope| {
        let work = || {
            let mut done = Vec::new();
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                let Some(piece) = pieces.get(number) else { return done };
                done.push((number, piece.iter().map(&apply).collect()));
            }
        };
        let threads: Vec<_> = (0..num_threads.max(1)).map(|_| scope.spawn(work)).collect();
        threads
            .into_iter()
            .flat_map(|thread| thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            .collect()
    });
    done.sort_by_key(|(number, _)| *number);
    done.into_iter().flat_map(|(_, results)| results).collect()
}
