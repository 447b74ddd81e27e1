//! How often, and how long, a transaction is tried again.

use std::time::Duration;

use tokio::time::Instant;

use crate::fault::Fault;

const MAX_TRIES: u32 = 10;
const FIRST_PAUSE_MS: u64 = 10;
const LONGEST_PAUSE_MS: u64 = 1000;

/// What is left of the tries of one transaction.
pub(crate) struct Patience {
    tries: u32,
    deadline: Instant,
}

impl Patience {
    pub(crate) fn new(total: Duration) -> Self {
        Self { tries: 1, deadline: Instant::now() + total }
    }

    /// Waits until the next try, or gives the fault back if there is none.
    pub(crate) async fn wait(&mut self, fault: Fault) -> Result<(), Fault> {
        let pause = Duration::from_millis(rand::random_range(1..=longest_pause_ms(self.tries)));
        if self.tries == MAX_TRIES || Instant::now() + pause >= self.deadline {
            return Err(fault);
        }
        self.tries += 1;
        tokio::time::sleep(pause).await;
        Ok(())
    }
}

/// Twice as long after each try, at random below that: writers that met once shall not meet again.
fn longest_pause_ms(tries: u32) -> u64 {
    (FIRST_PAUSE_MS << tries.min(10)).min(LONGEST_PAUSE_MS)
}

#[cfg(test)]
mod tests {
    use cairn_ports::ErrorKind;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn tries_are_bounded_in_number_and_time() {
        let check = async |total_ms: u64, most: u32| {
            let start = Instant::now();
            let mut patience = Patience::new(Duration::from_millis(total_ms));
            let mut tries = 1;
            while patience.wait(Fault::new(ErrorKind::TransactionConflict, "again")).await.is_ok() {
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
