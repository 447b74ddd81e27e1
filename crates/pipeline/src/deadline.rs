//! The end of a handler's time: after it, nothing more is sent to a store.

use std::future::poll_fn;
use std::task::Poll;

/// Does not go on with a handler that is late, and says `None`. A timer alone would look after the handler has gone one step
/// further: a process that stood still would send one more write when it wakes.
pub async fn in_time<T>(is_late: impl Fn() -> bool, handler: impl Future<Output = T>) -> Option<T> {
    let mut handler = std::pin::pin!(handler);
    poll_fn(|context| if is_late() { Poll::Ready(None) } else { handler.as_mut().poll(context).map(Some) }).await
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::*;

    #[tokio::test]
    async fn a_handler_that_wakes_late_goes_no_further() {
        let (now, num_writes) = (Cell::new(0), Cell::new(0));
        let handler = async {
            for _ in 0..3 {
                num_writes.set(num_writes.get() + 1);
                // The process stands still.
                now.set(now.get() + 60);
                tokio::task::yield_now().await;
            }
        };
        assert_eq!(in_time(|| now.get() > 100, handler).await, None);
        assert_eq!(num_writes.get(), 2);
        assert_eq!(in_time(|| false, async { 7 }).await, Some(7));
    }
}
