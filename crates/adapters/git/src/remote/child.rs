//! Runs a child process in a separate process group and within limits: a deadline, and limits on memory,
//! processor time, output and written bytes.
//!
//! When `run` returns, all processes of the group have ended. The child also ends if this process dies first.

use std::fs;
use std::io::{self, Read};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use cairn_ports::SyncMeter;

use super::complaint::own_lines;

/// Maximum number of bytes that are stored for each output stream. Further output is read and dropped, so
/// that the child never blocks on a full pipe.
const MAX_OUTPUT_BYTES: usize = 4 << 20;

pub(super) struct Bounds<'a> {
    pub(super) timeout: Duration,
    /// The child is killed if this sync is stopped.
    pub(super) meter: &'a SyncMeter,
    pub(super) resources: Resources,
    pub(super) directory: Option<Growth<'a>>,
}

/// Limits of each process of the group.
#[derive(Clone, Copy)]
pub(super) struct Resources {
    /// Maximum private memory of the process. Mapped files are not included.
    pub(super) max_memory_bytes: u64,
    pub(super) max_cpu_seconds: u64,
}

/// A directory with a maximum size.
#[derive(Clone, Copy)]
pub(super) struct Growth<'a> {
    pub(super) path: &'a Path,
    pub(super) max_bytes: u64,
    /// Called at intervals with the current size in bytes.
    pub(super) report: &'a dyn Fn(u64),
}

pub(super) struct ChildOutput {
    pub(super) status: ExitStatus,
    pub(super) stdout: Vec<u8>,
    pub(super) stderr: String,
}

impl ChildOutput {
    /// Whether a process of the group exceeded its processor time.
    pub(super) fn is_out_of_cpu_time(&self) -> bool {
        self.status.signal() == Some(libc::SIGXCPU)
            || own_lines(&self.stderr).any(|line| line.contains(&format!("died of signal {}", libc::SIGXCPU)))
    }

    /// Whether a process of the group failed to get memory.
    pub(super) fn is_out_of_memory(&self) -> bool {
        let mut lines = own_lines(&self.stderr).map(str::to_ascii_lowercase);
        lines.any(|line| line.contains("out of memory") || line.contains("cannot allocate memory"))
    }
}

/// The reason why a child has no output.
#[derive(Debug)]
pub(super) enum ChildError {
    Start(io::Error),
    Timeout,
    Stopped,
    /// The directory has this size, which is over its limit.
    TooLarge {
        size_bytes: u64,
    },
}

pub(super) fn run(command: &mut Command, bounds: &Bounds<'_>) -> Result<ChildOutput, ChildError> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
    limit_resources(command, bounds.resources, bounds.directory.map(|directory| directory.max_bytes));
    let mut child = Group(command.spawn().map_err(ChildError::Start)?);
    let stdout = child.0.stdout.take().map(collect);
    let stderr = child.0.stderr.take().map(collect);
    let status = wait(&mut child, bounds);
    // The group is also killed after success, because a helper process that outlives its parent would keep
    // the pipes open.
    child.kill();
    let join =
        |reader: Option<thread::JoinHandle<Vec<u8>>>| reader.and_then(|reader| reader.join().ok()).unwrap_or_default();
    let (stdout, stderr) = (join(stdout), join(stderr));
    Ok(ChildOutput { status: status?, stdout, stderr: String::from_utf8_lossy(&stderr).into_owned() })
}

/// A child and all processes that it started.
struct Group(Child);

impl Group {
    fn kill(&mut self) {
        if let Ok(group) = i32::try_from(self.0.id()) {
            // SAFETY: a system call without pointers. The id of the group is the id of the child. The kernel
            // does not reuse this id before `wait` has reaped the child and the last process of the group has
            // ended.
            unsafe { libc::kill(-group, libc::SIGKILL) };
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.kill();
        let _reaped = self.0.wait();
    }
}

fn wait(child: &mut Group, bounds: &Bounds<'_>) -> Result<ExitStatus, ChildError> {
    let started_at = Instant::now();
    let mut pause = Duration::from_millis(1);
    let mut measured_at = started_at;
    loop {
        if let Some(status) = child.0.try_wait().map_err(ChildError::Start)? {
            return Ok(status);
        }
        if started_at.elapsed() > bounds.timeout {
            return Err(ChildError::Timeout);
        }
        if bounds.meter.is_stopped() {
            return Err(ChildError::Stopped);
        }
        if let Some(directory) = bounds.directory
            && measured_at.elapsed() > Duration::from_millis(200)
        {
            measured_at = Instant::now();
            let size_bytes = size_of(directory.path);
            (directory.report)(size_bytes);
            if size_bytes > directory.max_bytes {
                return Err(ChildError::TooLarge { size_bytes });
            }
        }
        #[expect(clippy::disallowed_methods, reason = "polls a child process, which gives no other signal of its end")]
        thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(20));
    }
}

/// Total size of the files below a directory. Files that are removed during the call are not included.
pub(super) fn size_of(directory: &Path) -> u64 {
    let Ok(entries) = fs::read_dir(directory) else { return 0 };
    let size = |entry: fs::DirEntry| match entry.metadata() {
        Ok(metadata) if metadata.is_dir() => size_of(&entry.path()),
        Ok(metadata) => metadata.len(),
        Err(_) => 0,
    };
    entries.flatten().map(size).sum()
}

fn collect(mut stream: impl Read + Send + 'static) -> thread::JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut kept = Vec::new();
        let mut buffer = [0; 8 * 1024];
        while let Ok(length) = stream.read(&mut buffer) {
            if length == 0 {
                break;
            }
            let capacity = MAX_OUTPUT_BYTES - kept.len();
            kept.extend_from_slice(&buffer[..length.min(capacity)]);
        }
        kept
    })
}

/// Sets limits that the child and its children inherit.
///
/// The memory limit is `RLIMIT_DATA`. Git maps packs of gigabytes, and mapped files use no private memory. So
/// a limit on the address space would reject harmless repositories.
fn limit_resources(command: &mut Command, resources: Resources, max_file_bytes: Option<u64>) {
    let set = |resource, soft: u64, hard: u64| {
        let limit = libc::rlimit { rlim_cur: soft, rlim_max: hard };
        // SAFETY: the pointer refers to a local value that is valid during the call.
        match unsafe { libc::setrlimit(resource, &raw const limit) } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    };
    let Resources { max_memory_bytes, max_cpu_seconds } = resources;
    let prepare = move || {
        set(libc::RLIMIT_CORE, 0, 0)?;
        set(libc::RLIMIT_DATA, max_memory_bytes, max_memory_bytes)?;
        // At the soft limit the process receives a signal that can be recognised. At the hard limit it is
        // killed.
        set(libc::RLIMIT_CPU, max_cpu_seconds, max_cpu_seconds.saturating_add(5))?;
        if let Some(bytes) = max_file_bytes {
            set(libc::RLIMIT_FSIZE, bytes, bytes)?;
        }
        #[cfg(target_os = "linux")]
        // SAFETY: a system call without pointers. The kernel kills the child when the thread that waits for
        // it ends.
        unsafe {
            libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL)
        };
        Ok(())
    };
    // SAFETY: `prepare` only makes system calls that are safe between fork and exec. `prepare` allocates no
    // memory.
    unsafe { command.pre_exec(prepare) };
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    const AMPLE: Resources = Resources { max_memory_bytes: 1 << 30, max_cpu_seconds: 60 };

    fn shell(script: &str, timeout_ms: u64, directory: Option<(&Path, u64)>) -> Result<ChildOutput, ChildError> {
        watched(script, timeout_ms, directory, &|_| ())
    }

    fn watched(
        script: &str,
        timeout_ms: u64,
        directory: Option<(&Path, u64)>,
        report: &dyn Fn(u64),
    ) -> Result<ChildOutput, ChildError> {
        let directory = directory.map(|(path, max_bytes)| Growth { path, max_bytes, report });
        let meter = SyncMeter::default();
        let bounds = Bounds { timeout: Duration::from_millis(timeout_ms), meter: &meter, resources: AMPLE, directory };
        run(Command::new("sh").args(["-c", script]), &bounds)
    }

    #[test]
    fn output_is_collected_and_bounded() {
        let output = shell("echo out; echo err >&2; exit 3", 10_000, None).expect("ran");
        assert_eq!((output.stdout.as_slice(), output.stderr.as_str()), (&b"out\n"[..], "err\n"));
        assert_eq!(output.status.code(), Some(3));
        let output = shell("head -c 9000000 /dev/zero", 20_000, None).expect("ran");
        assert_eq!(output.stdout.len(), MAX_OUTPUT_BYTES);
    }

    /// Git writes the messages of the remote into the same stream as its own messages.
    #[test]
    fn remote_messages_are_not_reported_as_local_limit_errors() {
        for (note, is_out_of_memory) in [("Out of memory, malloc failed", true), ("died of signal 24", false)] {
            for (line, is_own) in [("fatal: ", true), ("remote: fatal: ", false), ("fatal: remote error: ", false)] {
                let output = shell(&format!("echo '{line}{note}' >&2; exit 128"), 10_000, None).expect("ran");
                assert_eq!(output.is_out_of_memory(), is_own && is_out_of_memory, "{line}{note}");
                assert_eq!(output.is_out_of_cpu_time(), is_own && !is_out_of_memory, "{line}{note}");
            }
        }
    }

    #[test]
    fn hanging_child_is_killed_with_its_children() {
        let started_at = Instant::now();
        let directory = tempfile::tempdir().expect("directory");
        let mark = directory.path().join("pid");
        let script = format!("sleep 60 & echo $! > {}; wait", mark.display());
        assert!(matches!(shell(&script, 500, None), Err(ChildError::Timeout)));
        assert!(started_at.elapsed() < Duration::from_secs(10));
        let pid: i32 = fs::read_to_string(&mark).expect("pid").trim().parse().expect("number");
        // The init process reaps the grandchild. Until then, the grandchild may be a zombie, which `/proc`
        // shows.
        let deadline = Instant::now() + Duration::from_secs(5);
        let alive = || {
            let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
            !(stat.is_empty() || stat.contains(") Z"))
        };
        while alive() && Instant::now() < deadline {
            thread::yield_now();
        }
        assert!(!alive());
    }

    #[test]
    fn child_of_a_stopped_sync_is_killed() {
        let meter = SyncMeter::default();
        let sleep = || {
            let timeout = Duration::from_secs(60);
            run(Command::new("sleep").arg("60"), &Bounds { timeout, meter: &meter, resources: AMPLE, directory: None })
        };
        let started_at = Instant::now();
        let result = thread::scope(|scope| {
            let running = scope.spawn(sleep);
            meter.stop();
            running.join().expect("no panic")
        });
        assert!(matches!(result, Err(ChildError::Stopped)));
        assert!(started_at.elapsed() < Duration::from_secs(30), "{:?}", started_at.elapsed());
    }

    #[test]
    fn child_that_writes_too_much_is_stopped() {
        let directory = tempfile::tempdir().expect("directory");
        let path = directory.path().display().to_string();
        let many = format!("i=0; while :; do head -c 200000 /dev/zero > {path}/f$i; i=$((i+1)); sleep 0.01; done");
        let sizes = RefCell::new(Vec::new());
        let report = |size_bytes: u64| sizes.borrow_mut().push(size_bytes);
        let result = watched(&many, 20_000, Some((directory.path(), 1_000_000)), &report);
        assert!(matches!(result, Err(ChildError::TooLarge { size_bytes: 1_000_001.. })));
        assert!(sizes.borrow().last().is_some_and(|size_bytes| *size_bytes > 1_000_000), "{sizes:?}");
        let one = format!("head -c 9000000 /dev/zero > {path}/one");
        let output = shell(&one, 20_000, Some((Path::new("/nonexistent"), 1_000_000))).expect("ran");
        assert!(!output.status.success());
    }

    #[test]
    fn child_ends_at_its_limits_of_memory_and_cpu() {
        let run = |script: &str, resources: Resources| {
            let meter = SyncMeter::default();
            let bounds = Bounds { timeout: Duration::from_secs(60), meter: &meter, resources, directory: None };
            super::run(Command::new("sh").args(["-c", script]), &bounds).expect("ran")
        };
        let output = run("while :; do :; done", Resources { max_cpu_seconds: 1, ..AMPLE });
        assert!(output.is_out_of_cpu_time(), "{:?}", output.status);
        // `dd` allocates a buffer of one block.
        let fill = "dd if=/dev/zero of=/dev/null bs=200M count=1";
        assert!(run(fill, AMPLE).status.success());
        let output = run(fill, Resources { max_memory_bytes: 64 << 20, ..AMPLE });
        assert!(!output.status.success());
    }
}
