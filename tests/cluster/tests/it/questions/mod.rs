//! Asks local mode and a query service the same questions, and checks that both give the same results in the
//! same order.

mod drawn;
mod kinds;
mod reply;
mod round;
mod tools;

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::process::{Command, Output, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use anyhow::{Context, Result, ensure};
use cairn_cluster::{LocalMode, program};

use kinds::{CommandLine, Expect};
use reply::Reply;
pub(crate) use round::{Kinds, Round};

/// The number of questions in progress at the same time.
const NUM_THREADS: usize = 2;
/// The maximum number of attempts at a question if a time limit cuts its answer on one of the sides.
const MAX_ATTEMPTS: usize = 10;
/// The maximum number of differences that are shown.
const NUM_SHOWN: usize = 5;

/// A query service, and an API key for it.
pub(crate) struct Service {
    pub(crate) url: String,
    pub(crate) key: String,
}

impl Service {
    pub(crate) fn ask(&self, arguments: &[String]) -> Result<Output> {
        self.command(arguments)?.output().context("cannot start cairn")
    }

    fn command(&self, arguments: &[impl AsRef<OsStr>]) -> Result<Command> {
        let mut command = Command::new(program("cairn")?);
        command.args(arguments).env("CAIRN_SERVER", &self.url).env("CAIRN_API_KEY", &self.key);
        Ok(command)
    }
}

/// The two sides of the comparison.
pub(crate) struct Sides {
    pub(crate) local: LocalMode,
    pub(crate) service: Service,
    /// The name of each fork and of its origin.
    pub(crate) forks: Vec<(String, String)>,
}

/// The figures of the compared questions.
#[derive(Default, Debug)]
pub(crate) struct Compared {
    pub(crate) num_questions: usize,
    pub(crate) num_kinds: usize,
    pub(crate) num_pages: usize,
    pub(crate) num_found: usize,
    pub(crate) num_refused: usize,
    /// The number of questions with results that tie because a repository is a fork of another.
    pub(crate) num_tied: usize,
}

impl Sides {
    /// Asks both sides questions of all kinds, and compares the answers.
    pub(crate) fn compare(&self, round: &Round) -> Result<Compared> {
        let questions = kinds::questions(round)?;
        let (next, answered) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
        thread::scope(|scope| {
            for _ in 0..NUM_THREADS {
                scope.spawn(|| {
                    while let Some(question) = questions.get(next.fetch_add(1, Ordering::Relaxed)) {
                        let outcome = self.ask(question, round.max_pages);
                        answered.lock().expect("no thread panicked").push((question, outcome));
                    }
                });
            }
        });
        summed_up(answered.into_inner().expect("no thread panicked"), round.draws)
    }

    /// Whether both sides give the same answer to a question.
    pub(crate) fn agree(&self, arguments: &[&str]) -> Result<bool> {
        let (mine, theirs) = self.both(arguments, [None, None])?;
        Ok(mine.comparable() == theirs.comparable())
    }

    fn ask(&self, question: &CommandLine, max_pages: usize) -> Result<BothAnswers> {
        let arguments: Vec<&str> = question.arguments.iter().map(String::as_str).collect();
        let (mut answer, mut cursors) = (BothAnswers::default(), [None, None]);
        for page in 0..max_pages {
            let (mut mine, mut theirs) = self.complete(&arguments, [cursors[0].as_deref(), cursors[1].as_deref()])?;
            mine.keep_comparable_counts(&mut theirs);
            let (local, cluster) = (mine.comparable(), theirs.comparable());
            ensure!(local == cluster, "{arguments:?}: page {page} differs\nlocal {local:#}\ncluster {cluster:#}");
            answer.num_pages += 1;
            answer.num_found += mine.num_found();
            answer.is_refused |= mine.is_error();
            answer.is_tied |= mine.has_ties(&self.forks);
            cursors = [&mine, &theirs].map(|message| message.next_cursor().map(str::to_owned));
            if cursors[0].is_none() {
                break;
            }
        }
        let is_expected = match question.expect {
            Expect::Found | Expect::Either => true,
            Expect::Nothing => answer.num_found == 0 && !answer.is_refused,
            Expect::Refused => answer.is_refused,
        };
        ensure!(is_expected, "{arguments:?}: the answer is {answer:?}, expected {:?}", question.expect);
        Ok(answer)
    }

    /// Like `both`. Repeats a question if a busy machine did not finish an exact search, or did not try all
    /// suggested calls, within the time limit.
    fn complete(&self, arguments: &[&str], cursors: [Option<&str>; 2]) -> Result<(Reply, Reply)> {
        for _ in 1..MAX_ATTEMPTS {
            let (mine, theirs) = self.both(arguments, cursors)?;
            let is_cut = mine.is_cut_by_time() || theirs.is_cut_by_time();
            if !is_cut && mine.suggested() == theirs.suggested() {
                return Ok((mine, theirs));
            }
        }
        self.both(arguments, cursors)
    }

    /// Asks both sides at the same time. Returns both answers.
    fn both(&self, arguments: &[&str], cursors: [Option<&str>; 2]) -> Result<(Reply, Reply)> {
        let [mine, theirs] = cursors.map(|cursor| {
            let cursor = cursor.into_iter().flat_map(|cursor| ["--cursor", cursor]);
            arguments.iter().copied().chain(["--json"]).chain(cursor).collect::<Vec<&str>>()
        });
        let start = |mut command: Command| {
            command
                .stdin(Stdio::null())
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn()
                .context("cannot start cairn")
        };
        let (mine, theirs) = (start(self.local.command(&mine)?)?, start(self.service.command(&theirs)?)?);
        Ok((Reply::read(&mine.wait_with_output()?), Reply::read(&theirs.wait_with_output()?)))
    }
}

/// The figures of one question, whose answers are the same on both sides.
#[derive(Default, Debug)]
struct BothAnswers {
    num_pages: usize,
    num_found: usize,
    is_refused: bool,
    is_tied: bool,
}

/// Sums up the figures of all questions. Fails if the sides differ, or if several questions of a kind were
/// drawn and none of them found anything.
fn summed_up(answered: Vec<(&CommandLine, Result<BothAnswers>)>, draws: usize) -> Result<Compared> {
    let (mut compared, mut found_by_kind, mut differences) = (Compared::default(), BTreeMap::new(), Vec::new());
    for (question, outcome) in answered {
        let answer = match outcome {
            Ok(answer) => answer,
            Err(difference) => {
                differences.push(format!("{difference:#}"));
                continue;
            }
        };
        compared.num_questions += 1;
        compared.num_pages += answer.num_pages;
        compared.num_found += answer.num_found;
        compared.num_refused += usize::from(answer.is_refused);
        compared.num_tied += usize::from(answer.is_tied);
        *found_by_kind.entry((question.kind, question.expect)).or_insert(0) += answer.num_found;
    }
    compared.num_kinds = found_by_kind.len();
    none_of(&differences)?;
    let idle = found_by_kind.iter().filter(|((_, expect), num_found)| *expect == Expect::Found && **num_found == 0);
    let idle: Vec<&str> = idle.map(|((kind, _), _)| *kind).collect();
    ensure!(draws == 1 || idle.is_empty(), "questions of these kinds found nothing: {idle:#?}");
    Ok(compared)
}

/// Fails if there are differences, and shows the first of them.
fn none_of(differences: &[String]) -> Result<()> {
    let shown = &differences[..differences.len().min(NUM_SHOWN)];
    ensure!(shown.is_empty(), "{} answers differ, for example\n{}", differences.len(), shown.join("\n"));
    Ok(())
}
