//! Runs a child process in bounds: its own group, a deadline, a limit on what it prints and on what it writes.
//!
//! Whatever happens, the whole group is gone when `run` returns, also if this process dies first.

use std::fs;
use std::io::{self, Read};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// Bytes that are kept of each stream; the rest is read and dropped, so that the child never blocks on a full pipe.
const MAX_OUTPUT_BYTES: usize = 4 << 20;

pub(crate) struct Bounds<'a> {
    pub(crate) timeout: Duration,
    pub(crate) directory: Option<Growth<'a>>,
}

/// A directory that must not grow beyond so many bytes.
#[derive(Clone, Copy)]
pub(crate) struct Growth<'a> {
    pub(crate) path: &'a Path,
    pub(crate) max_bytes: u64,
    /// Told now and then how many bytes there are.
    pub(crate) told: &'a dyn Fn(u64),
}

pub(crate) struct Output {
    pub(crate) status: ExitStatus,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: String,
}

/// Why there is no output.
#[derive(Debug)]
pub(crate) enum ChildError {
    Start(io::Error),
    Timeout,
    TooLarge,
}

pub(crate) fn run(command: &mut Command, bounds: &Bounds<'_>) -> Result<Output, ChildError> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
    limit_resources(command, bounds.directory.map(|directory| directory.max_bytes));
    let mut child = Group(command.spawn().map_err(ChildError::Start)?);
    let stdout = child.0.stdout.take().map(collect);
    let stderr = child.0.stderr.take().map(collect);
    let status = wait(&mut child, bounds);
    // Also after success: a helper that outlives its parent would keep the pipes open.
    child.kill();
    let join =
        |reader: Option<thread::JoinHandle<Vec<u8>>>| reader.and_then(|reader| reader.join().ok()).unwrap_or_default();
    let (stdout, stderr) = (join(stdout), join(stderr));
    Ok(Output { status: status?, stdout, stderr: String::from_utf8_lossy(&stderr).into_owned() })
}

/// A child and everything that it started.
struct Group(Child);

impl Group {
    fn kill(&mut self) {
        if let Ok(group) = i32::try_from(self.0.id()) {
            // SAFETY: a system call without pointers. The group's id is the child's, which is not reused before `wait`
            // has reaped the child and the last of its group is gone.
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
        if let Some(directory) = bounds.directory
            && measured_at.elapsed() > Duration::from_millis(200)
        {
            measured_at = Instant::now();
            let size_bytes = size_of(directory.path);
            (directory.told)(size_bytes);
            if size_bytes > directory.max_bytes {
                return Err(ChildError::TooLarge);
            }
        }
        #[expect(clippy::disallowed_methods, reason = "waits for a child process, which has no other sign of its end")]
        thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(20));
    }
}

/// Bytes of the files below a directory; what vanishes meanwhile does not count.
pub(crate) fn size_of(directory: &Path) -> u64 {
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
            let room = MAX_OUTPUT_BYTES - kept.len();
            kept.extend_from_slice(&buffer[..length.min(room)]);
        }
        kept
    })
}

fn limit_resources(command: &mut Command, max_file_bytes: Option<u64>) {
    let set = |resource, limit: u64| {
        let limit = libc::rlimit { rlim_cur: limit, rlim_max: limit };
        // SAFETY: the pointer is to a local value that lives through the call.
        unsafe { libc::setrlimit(resource, &raw const limit) };
    };
    let prepare = move || {
        set(libc::RLIMIT_CORE, 0);
        if let Some(bytes) = max_file_bytes {
            set(libc::RLIMIT_FSIZE, bytes);
        }
        #[cfg(target_os = "linux")]
        // SAFETY: a system call without pointers; the child dies with the thread that waits for it.
        unsafe {
            libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL)
        };
        Ok(())
    };
    // SAFETY: `prepare` only makes system calls that are safe between fork and exec; it allocates nothing.
    unsafe { command.pre_exec(prepare) };
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    fn shell(script: &str, timeout_ms: u64, directory: Option<(&Path, u64)>) -> Result<Output, ChildError> {
        watched(script, timeout_ms, directory, &|_| ())
    }

    fn watched(
        script: &str,
        timeout_ms: u64,
        directory: Option<(&Path, u64)>,
        told: &dyn Fn(u64),
    ) -> Result<Output, ChildError> {
        let directory = directory.map(|(path, max_bytes)| Growth { path, max_bytes, told });
        let bounds = Bounds { timeout: Duration::from_millis(timeout_ms), directory };
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

    #[test]
    fn a_child_that_hangs_is_killed_with_its_children() {
        let started_at = Instant::now();
        let directory = tempfile::tempdir().expect("directory");
        let mark = directory.path().join("pid");
        let script = format!("sleep 60 & echo $! > {}; wait", mark.display());
        assert!(matches!(shell(&script, 500, None), Err(ChildError::Timeout)));
        assert!(started_at.elapsed() < Duration::from_secs(10));
        let pid: i32 = fs::read_to_string(&mark).expect("pid").trim().parse().expect("number");
        // The grandchild is reaped by init; until then it may be a zombie, which `/proc` tells apart.
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
    fn a_child_that_writes_too_much_is_stopped() {
        let directory = tempfile::tempdir().expect("directory");
        let path = directory.path().display().to_string();
        let many = format!("i=0; while :; do head -c 200000 /dev/zero > {path}/f$i; i=$((i+1)); sleep 0.01; done");
        let sizes = RefCell::new(Vec::new());
        let told = |size_bytes: u64| sizes.borrow_mut().push(size_bytes);
        let result = watched(&many, 20_000, Some((directory.path(), 1_000_000)), &told);
        assert!(matches!(result, Err(ChildError::TooLarge)));
        assert!(sizes.borrow().last().is_some_and(|size_bytes| *size_bytes > 1_000_000), "{sizes:?}");
        let one = format!("head -c 9000000 /dev/zero > {path}/one");
        let output = shell(&one, 20_000, Some((Path::new("/nonexistent"), 1_000_000))).expect("ran");
        assert!(!output.status.success());
    }
}
