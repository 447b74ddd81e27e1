//! Implements the parent process, which has a pool of child processes. Each child works on one batch at a
//! time.

use std::io;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use cairn_domain::{FileFacts, ParseStatus, SourceText};
use cairn_ports::{ErrorKind, FileParser, FileParserError};
use cairn_syntax::{ParseLimits, parse_file};
use cairn_wire::{Decode, Encode, Reader};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

use crate::{cpu, frame};

/// Maximum processor time for one file, summed over all children that try it. A child stops parsing after two
/// seconds; this limit applies if the child cannot stop. Before the first file of a language, the child also
/// compiles the query of the language, which takes seconds in debug builds.
const KILL_AFTER: Duration = Duration::from_secs(5);
/// Interval between checks of a child that has not answered.
const LOOK_EVERY: Duration = Duration::from_millis(250);
/// After this time without an answer, a child is treated as hanging, even if it uses no processor time.
const HANGS_AFTER: Duration = Duration::from_secs(60);

/// A parser that runs child processes. A child is started with the command `program arguments…` and uses the
/// protocol of `serve`.
pub struct ChildParser {
    program: PathBuf,
    arguments: Vec<String>,
    idle: Mutex<Vec<Worker>>,
}

struct Worker {
    // The child is killed when the worker is dropped.
    _child: Child,
    input: ChildStdin,
    output: ChildStdout,
    process: u32,
}

/// The result of a batch: complete, or stopped at a file for which the child did not answer.
enum Stop {
    Through,
    At { status: ParseStatus, suspect: Suspect },
}

/// A file for which a child did not answer, and the processor time that was used for this file so far.
#[derive(Clone, Copy)]
struct Suspect {
    file: usize,
    spent: Duration,
}

impl ChildParser {
    pub fn new(program: PathBuf, arguments: Vec<String>) -> Self {
        Self { program, arguments, idle: Mutex::default() }
    }

    fn worker(&self) -> Result<Worker, FileParserError> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        match idle {
            Some(worker) => Ok(worker),
            None => self.start(),
        }
    }

    fn start(&self) -> Result<Worker, FileParserError> {
        let failed = |error: io::Error| {
            FileParserError::new(ErrorKind::Io, "start", self.program.display().to_string()).because(error)
        };
        let mut command = Command::new(&self.program);
        command.args(&self.arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        command.env_clear().kill_on_drop(true);
        let mut child = command.spawn().map_err(failed)?;
        let (input, output) = (child.stdin.take(), child.stdout.take());
        let pipe = || failed(io::Error::other("the child process has no pipe for its input or output"));
        let process = child.id().ok_or_else(|| failed(io::Error::other("the child process has already ended")))?;
        Ok(Worker { process, input: input.ok_or_else(pipe)?, output: output.ok_or_else(pipe)?, _child: child })
    }

    fn put_back(&self, worker: Worker) {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner).push(worker);
    }
}

#[async_trait]
impl FileParser for ChildParser {
    async fn parse(&self, texts: Vec<SourceText>) -> Result<Vec<FileFacts>, FileParserError> {
        let mut facts = Vec::with_capacity(texts.len());
        // If a child dies while it parses a file, a new child tries the file once more. The file need not be
        // the cause: for example, the first child may have been killed because the machine had no free
        // memory.
        let mut suspect: Option<Suspect> = None;
        while facts.len() < texts.len() {
            let mut worker = if suspect.is_some() { self.start()? } else { self.worker()? };
            match worker.run(&texts, &mut facts, suspect).await? {
                Stop::Through => self.put_back(worker),
                Stop::At { status, suspect: stopped } => {
                    let is_first = suspect.is_none_or(|suspect| suspect.file != stopped.file);
                    let again = status == ParseStatus::Crash && is_first && stopped.spent < KILL_AFTER;
                    suspect = again.then_some(stopped);
                    if !again {
                        facts.push(as_windows(&texts[stopped.file], status));
                    }
                }
            }
        }
        Ok(facts)
    }
}

impl Worker {
    /// Sends all texts that have no facts yet, and collects the answers.
    async fn run(
        &mut self,
        texts: &[SourceText],
        facts: &mut Vec<FileFacts>,
        suspect: Option<Suspect>,
    ) -> Result<Stop, FileParserError> {
        let Worker { input, output, process, .. } = self;
        let send = send(input, &texts[facts.len()..]);
        let receive = async {
            while facts.len() < texts.len() {
                let file = facts.len();
                let before = suspect.filter(|suspect| suspect.file == file).map_or(Duration::ZERO, |known| known.spent);
                let started = cpu::of_process(*process);
                let stop = |status| {
                    let spent = before + cpu::of_process(*process).saturating_sub(started);
                    Ok(Stop::At { status, suspect: Suspect { file, spent } })
                };
                let until = started + KILL_AFTER.saturating_sub(before);
                let reply = match answer(*process, until, frame::read_async(output)).await {
                    None => return stop(ParseStatus::Timeout),
                    Some(Err(_)) => return stop(ParseStatus::Crash),
                    Some(Ok(reply)) => reply,
                };
                let decoded = FileFacts::decode(&mut Reader(&reply));
                let invalid =
                    |error| FileParserError::new(ErrorKind::Invalid, "read the facts", "child").because(error);
                facts.push(decoded.map_err(invalid)?);
            }
            Ok(Stop::Through)
        };
        // If a child dies while the parent writes, `receive` determines the file that the child was parsing.
        tokio::pin!(receive);
        tokio::select! {
            stop = &mut receive => stop,
            _ = send => receive.await,
        }
    }
}

async fn send(input: &mut ChildStdin, texts: &[SourceText]) -> io::Result<()> {
    let mut request = Vec::new();
    for text in texts {
        request.clear();
        text.encode(&mut request);
        frame::write_async(input, &request).await?;
    }
    Ok(())
}

/// Reads the child's answer. Returns `None` if the child's processor time reaches `until`, or if the child
/// hangs.
async fn answer<T>(process: u32, until: Duration, reading: impl Future<Output = T>) -> Option<T> {
    tokio::pin!(reading);
    let mut waited = Duration::ZERO;
    while waited < HANGS_AFTER {
        if let Ok(answer) = tokio::time::timeout(LOOK_EVERY, &mut reading).await {
            return Some(answer);
        }
        waited += LOOK_EVERY;
        if cpu::of_process(process) >= until {
            return None;
        }
    }
    None
}

/// Returns facts for a file that the grammar could not parse: windows of text, which need no grammar.
fn as_windows(source: &SourceText, status: ParseStatus) -> FileFacts {
    let facts = parse_file("text", source.facts_key, &source.text, &ParseLimits::default());
    FileFacts { language: source.language.clone().unwrap_or(facts.language.clone()), status, ..facts }
}

#[cfg(test)]
mod tests {
    use cairn_domain::{BlobId, FactsKey, Key128};

    use super::*;

    /// A parser whose children run a shell script.
    fn parser(script: &str) -> ChildParser {
        ChildParser::new(PathBuf::from("/bin/sh"), vec!["-c".to_owned(), script.to_owned()])
    }

    fn texts(count: u8) -> Vec<SourceText> {
        let text = |number| SourceText {
            facts_key: FactsKey(Key128([number; 16])),
            blob: BlobId([number; 20]),
            language: Some("python".to_owned()),
            text: "def f(): pass\n".to_owned(),
            secrets: Vec::new(),
        };
        (0..count).map(text).collect()
    }

    fn check(facts: &[FileFacts], status: ParseStatus, count: usize) {
        assert_eq!(facts.len(), count);
        for facts in facts {
            assert_eq!((facts.status, facts.language.as_str(), facts.chunks.len()), (status, "python", 1));
            assert!(facts.symbols.is_empty());
        }
    }

    /// The clock is paused. The paused clock jumps to the deadline, because no other timer is pending.
    #[tokio::test(start_paused = true)]
    async fn silent_idle_child_times_out() {
        let started = tokio::time::Instant::now();
        let facts = parser("exec sleep 1000").parse(texts(3)).await.expect("facts");
        check(&facts, ParseStatus::Timeout, 3);
        assert_eq!(started.elapsed(), 3 * HANGS_AFTER);
    }

    #[tokio::test]
    async fn file_that_kills_children_is_tried_twice() {
        let directory = tempfile::tempdir().expect("a folder");
        let log = directory.path().join("log");
        let script = format!("echo started >> {}; exit 1", log.display());
        let facts = parser(&script).parse(texts(2)).await.expect("facts");
        check(&facts, ParseStatus::Crash, 2);
        assert_eq!(std::fs::read_to_string(log).expect("a log").lines().count(), 4);
    }

    #[tokio::test]
    async fn missing_program_is_a_parser_error() {
        let missing = ChildParser::new(PathBuf::from("/nonexistent/program"), Vec::new());
        let error = missing.parse(texts(1)).await.expect_err("no program");
        assert!(error.to_string().contains("/nonexistent/program"), "{error}");
    }
}
