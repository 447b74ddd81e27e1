//! Distributes the work on a list over the processor cores.

/// Applies the work to all items in parallel, and returns the results in the order of the items. Hashing
/// takes most of the time when a source is read for the first time.
pub(super) fn map<T: Sync, R: Send>(items: &[T], work: &(impl Fn(&T) -> R + Sync)) -> Vec<R> {
    let num_threads = std::thread::available_parallelism().map_or(1, usize::from).min(8);
    if items.len() < 256 || num_threads == 1 {
        return items.iter().map(work).collect();
    }
    // The pieces are assigned to the threads in turn, so that several threads share the work on a directory
    // of large files.
    let pieces: Vec<&[T]> = items.chunks(items.len().div_ceil(num_threads * 8)).collect();
    let mut done: Vec<(usize, Vec<R>)> = Vec::with_capacity(pieces.len());
    std::thread::scope(|scope| {
        let start = |first: usize| {
            let pieces = &pieces;
            scope.spawn(move || {
                let own = pieces.iter().enumerate().skip(first).step_by(num_threads);
                own.map(|(index, piece)| (index, piece.iter().map(work).collect())).collect::<Vec<(usize, Vec<R>)>>()
            })
        };
        let threads: Vec<_> = (0..num_threads).map(start).collect();
        for thread in threads {
            match thread.join() {
                Ok(part) => done.extend(part),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
    });
    done.sort_by_key(|(index, _)| *index);
    done.into_iter().flat_map(|(_, part)| part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_keep_the_order_of_the_items() {
        let items: Vec<u32> = (0..1_000).collect();
        assert_eq!(map(&items, &|item| item * 2), items.iter().map(|item| item * 2).collect::<Vec<_>>());
    }
}
