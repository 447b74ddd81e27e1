//! Reads processor time, which measures the cost of a file independently of the load of the machine.

use std::time::Duration;

/// Processor time of the calling thread.
pub(crate) fn of_thread() -> Duration {
    read(libc::CLOCK_THREAD_CPUTIME_ID)
}

/// Processor time of a process of this user. Zero if the process does not exist.
pub(crate) fn of_process(process: u32) -> Duration {
    let mut clock = 0;
    // SAFETY: the call writes one number, which is valid until the call returns.
    let found = unsafe { libc::clock_getcpuclockid(process.cast_signed(), &raw mut clock) };
    if found == 0 { read(clock) } else { Duration::ZERO }
}

fn read(clock: libc::clockid_t) -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the call writes one struct, which is valid until the call returns.
    let read = unsafe { libc::clock_gettime(clock, &raw mut time) };
    if read == 0 {
        Duration::new(time.tv_sec.cast_unsigned(), time.tv_nsec.cast_unsigned() as u32)
    } else {
        Duration::ZERO
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processor_time_is_counted_only_while_working() {
        let (thread, process) = (of_thread(), of_process(std::process::id()));
        std::hint::black_box((0..3_000_000_u64).map(std::hint::black_box).sum::<u64>());
        assert!(of_thread() > thread, "{thread:?} and {:?}", of_thread());
        let after = of_process(std::process::id());
        assert!(after > process, "{process:?} and {after:?}");
        let mut child = std::process::Command::new("true").spawn().expect("started");
        child.wait().expect("ended");
        assert_eq!(of_process(child.id()), Duration::ZERO);
    }
}
