//! Limits the retries of a transaction in number and in time.

use std::time::Duration;

use tokio::time::Instant;

use crate::fault::Fault;

const MAX_ATTEMPTS: u32 = 10;
const FIRST_PAUSE_MS: u64 = 10;
const LONGEST_PAUSE_MS: u64 = 1000;

/// Counts the attempts of one transaction and limits their total time.
pub(crate) struct RetryBudget {
    num_attempts: u32,
    deadline: Instant,
}

impl RetryBudget {
    pub(crate) fn new(total: Duration) -> Self {
        Self { num_attempts: 1, deadline: Instant::now() + total }
    }

    /// Waits until the next attempt, or returns the fault if no attempt is left.
    pub(crate) async fn wait(&mut self, fault: Fault) -> Result<(), Fault> {
        let pause = Duration::from_millis(rand::random_range(1..=longest_pause_ms(self.num_attempts)));
        if self.num_attempts == MAX_ATTEMPTS || Instant::now() + pause >= self.deadline {
            return Err(fault);
        }
        self.num_attempts += 1;
        tokio::time::sleep(pause).await;
        Ok(())
    }
}

/// Returns the upper bound of the next pause, which doubles after each attempt. The pause is random below
/// this bound, so that writers that conflicted once do not conflict again.
fn longest_pause_ms(num_attempts: u32) -> u64 {
    (FIRST_PAUSE_MS << num_attempts.min(10)).min(LONGEST_PAUSE_MS)
}

#[cfg(test)]
mod tests {
    use cairn_ports::ErrorKind;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn attempts_are_bounded_in_number_and_time() {
        let check = async |total_ms: u64, most: u32| {
            let start = Instant::now();
            let mut budget = RetryBudget::new(Duration::from_millis(total_ms));
            let mut tries = 1;
            while budget.wait(Fault::new(ErrorKind::TransactionConflict, "again")).await.is_ok() {
                tries += 1;
            }
            assert!(tries <= most, "{tries} tries");
            assert!(start.elapsed() <= Duration::from_millis(total_ms), "{:?}", start.elapsed());
            tries
        };
        assert_eq!(check(3_600_000, 10).await, 10);
        check(200, 10).await;
        assert_eq!(check(0, 1).await, 1);
    }

    #[test]
    fn pauses_double_up_to_a_second() {
        assert_eq!([1, 2, 3, 7, 9].map(longest_pause_ms), [20, 40, 80, 1000, 1000]);
    }
}
