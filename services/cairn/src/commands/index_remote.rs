//! `cairn index` with a server. The command requests the runs, waits until they have ended, and prints the
//! same output as local mode.
//!
//! All runs are requested first, so that the server can process them at the same time. After that, the
//! command waits for each run. The command continues to wait while a server restarts or throttles, or is
//! unreachable for a limited time, because the runs continue in the meantime.

use std::cell::RefCell;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, bail};
use cairn_config::{ListedRepository, Location, parse_repository_list};
use cairn_gateway::answers::{IndexProgress, RequestState};
use cairn_gateway::questions::{Answer, IndexQuestion, ProgressQuestion, Question, RepositoriesQuestion};
use cairn_ports::plain;
use tokio::time::Instant;

use super::bars::Bars;
use super::index::{given, is_list, joined, show_error};
use super::print_index::{self, Ended};
use crate::cli::IndexArguments;
use crate::exit::{CANCELLED, CommandReply, RUN_INCOMPLETE, wrong};
use crate::output;
use crate::remote::{Remote, Unanswered};
use crate::stop::Stop;

const ASK_AGAIN_AFTER: Duration = Duration::from_millis(500);
/// The command stops waiting if the server does not answer for this time.
const PATIENCE: Duration = Duration::from_secs(120);

/// A repository to be indexed by the server.
struct Wanted {
    /// The target in the command, or the file and the line of the list entry (`list.yaml:7`).
    place: String,
    question: anyhow::Result<IndexQuestion>,
}

pub(crate) async fn run(remote: &Remote, arguments: &IndexArguments, json: bool) -> CommandReply {
    let mut stop = Stop::listen()?;
    tokio::select! {
        reply = index_all(remote, arguments, json) => reply,
        () = stop.asked() => {
            output::note("`cairn runs` shows the runs; `cairn runs cancel NAME` cancels the runs of a repository");
            Ok(ExitCode::from(CANCELLED))
        }
    }
}

async fn index_all(remote: &Remote, arguments: &IndexArguments, json: bool) -> CommandReply {
    let wanted = all_wanted(remote, arguments).await?;
    let (several, mut worst, mut requested) = (wanted.len() > 1, ExitCode::SUCCESS, Vec::new());
    for Wanted { place, question } in wanted {
        match request(remote, question).await {
            Ok(progress) => requested.push(progress),
            // An error for one repository does not stop the indexing of the other repositories.
            Err(error) if several => {
                show_error(&place, &error, json);
                worst = ExitCode::from(RUN_INCOMPLETE);
            }
            Err(error) => return Err(error),
        }
    }
    for progress in requested {
        let name = progress.repository.clone();
        let code = match show_end(remote, progress, json).await {
            Ok(code) => code,
            Err(error) if several => {
                show_error(&name, &error, json);
                ExitCode::from(RUN_INCOMPLETE)
            }
            Err(error) => return Err(error),
        };
        worst = if code == ExitCode::SUCCESS { worst } else { code };
    }
    Ok(worst)
}

/// Collects the repositories that the server must index. A server indexes only repositories that it can fetch
/// by URL, and uses the settings of its operator. Other targets and options are errors.
async fn all_wanted(remote: &Remote, arguments: &IndexArguments) -> anyhow::Result<Vec<Wanted>> {
    if arguments.hosting.organisation.is_some() {
        bail!(wrong(
            "--organisation works only with a local index: the operator of the server sets the organisations, in `[[organisations]]` of the server's settings"
        ));
    }
    let is_plain = arguments.include_override.is_empty() && arguments.name.is_none() && arguments.branch.is_none();
    if !is_plain || arguments.rebuild || arguments.revision.is_some() {
        bail!(wrong("--include-override, --name, --branch, --revision and --rebuild work only with a local index"));
    }
    let Some(target) = &arguments.target else { return every_repository(remote).await };
    if is_list(Path::new(target)) {
        return of_list(target, arguments);
    }
    Ok(vec![Wanted { place: target.clone(), question: Ok(question(target.clone(), arguments)) }])
}

/// All repositories that the API key may see. The index requests contain the names of these repositories.
async fn every_repository(remote: &Remote) -> anyhow::Result<Vec<Wanted>> {
    let answer = remote.ask(&Question::Repositories(RepositoriesQuestion::default())).await?;
    let Answer::Repositories(known) = answer else {
        bail!("the server returned an answer to a different kind of question")
    };
    let names = known.repositories.into_iter().map(|repository| repository.name);
    let by_name = |name: String| Wanted {
        place: name.clone(),
        question: Ok(IndexQuestion { target: name, ..IndexQuestion::default() }),
    };
    let wanted: Vec<Wanted> = names.map(by_name).collect();
    if wanted.is_empty() {
        bail!(wrong(
            "the server has no repository that this key may see; give the URL of a repository: `cairn index URL`"
        ));
    }
    Ok(wanted)
}

fn of_list(file: &str, arguments: &IndexArguments) -> anyhow::Result<Vec<Wanted>> {
    let list = std::fs::read_to_string(file).with_context(|| format!("reading {file}"))?;
    let directory = Path::new(file).parent().unwrap_or(Path::new("."));
    let entry = |listed: ListedRepository| Wanted {
        place: listed.line.map_or_else(|| file.to_owned(), |line| format!("{file}:{line}")),
        question: of_entry(listed, arguments),
    };
    Ok(parse_repository_list(&list, file, directory)?.into_iter().map(entry).collect())
}

fn of_entry(listed: ListedRepository, arguments: &IndexArguments) -> anyhow::Result<IndexQuestion> {
    let Location::Url(url) = listed.location else {
        bail!(wrong("a server fetches by URL and cannot read folders of this machine: give the entry a `url`"));
    };
    let is_plain = listed.name.is_none() && listed.branch.is_none() && listed.include_override.is_none();
    if !is_plain {
        let fields = "`name`, `branch` and `include_override` of an entry";
        bail!(wrong(format!("only the operator may set {fields} (`cairn enqueue --file LIST --cluster FILE`)")));
    }
    let mut question = question(url, arguments);
    question.include_patterns = joined(question.include_patterns, listed.include);
    question.exclude_patterns = joined(question.exclude_patterns, listed.exclude);
    Ok(question)
}

fn question(target: String, arguments: &IndexArguments) -> IndexQuestion {
    IndexQuestion {
        target,
        include_patterns: given(&arguments.include),
        exclude_patterns: given(&arguments.exclude),
        max_file_size: arguments.max_size,
        changed_files: Vec::new(),
    }
}

/// Requests one run. If the server cannot be reached, the error is returned immediately, because the address
/// may be wrong.
async fn request(remote: &Remote, question: anyhow::Result<IndexQuestion>) -> anyhow::Result<IndexProgress> {
    let question = Question::Index(question?);
    let requested = patiently(async || match attempt(remote, &question).await {
        Err(unanswered) if !unanswered.was_reached => Err(Unanswered { again_after: None, ..unanswered }),
        attempt => attempt,
    });
    let requested = requested.await?;
    output::note(&format!("{}: requested; Ctrl-C stops waiting, and the run continues", requested.repository));
    Ok(requested)
}

async fn attempt(remote: &Remote, question: &Question) -> Result<IndexProgress, Unanswered> {
    match remote.attempt(question).await? {
        Answer::Index(progress) | Answer::Progress(progress) => Ok(progress),
        _ => {
            let error = anyhow::anyhow!("the server returned an answer to a different kind of question");
            Err(Unanswered { error, again_after: None, was_reached: true })
        }
    }
}

async fn show_end(remote: &Remote, requested: IndexProgress, json: bool) -> CommandReply {
    let watch = Watch { bars: Bars::new(json), last_note: RefCell::default() };
    let ended = until_ended(
        requested,
        async |question| attempt(remote, &question).await,
        |progress| {
            watch.show(progress);
        },
    );
    let ended = ended.await;
    watch.bars.finish();
    let ended = Ended::from(ended?);
    print_index::ended(&ended, json);
    Ok(match ended.state {
        RequestState::Published => ExitCode::SUCCESS,
        RequestState::Cancelled => ExitCode::from(CANCELLED),
        _ => ExitCode::from(RUN_INCOMPLETE),
    })
}

/// Shows the progress of a run, as in local mode.
struct Watch {
    bars: Bars,
    last_note: RefCell<String>,
}

impl Watch {
    fn show(&self, progress: &IndexProgress) {
        let (repository, note) = (&progress.repository, progress.sync.as_deref().unwrap_or_default());
        if progress.state == RequestState::Running {
            let run = progress.run_id.as_deref().unwrap_or_default();
            self.bars.ended(repository, run, progress.num_ended, progress.num_parts);
        } else if !note.is_empty() && self.last_note.replace(note.to_owned()) != note {
            self.bars.note(repository, note);
        }
    }
}

/// Polls a request until it has ended, and passes every new state to `show`.
async fn until_ended(
    requested: IndexProgress,
    attempt: impl AsyncFn(Question) -> Result<IndexProgress, Unanswered>,
    show: impl Fn(&IndexProgress),
) -> anyhow::Result<IndexProgress> {
    let Some(request) = requested.request else { return Ok(requested) };
    let question = Question::Progress(ProgressQuestion {
        repository: requested.repository,
        request,
        previous_run_id: requested.previous_run_id,
    });
    loop {
        let progress = patiently(async || attempt(question.clone()).await).await?;
        if !matches!(progress.state, RequestState::Requested | RequestState::Running) {
            return Ok(progress);
        }
        show(&progress);
        tokio::time::sleep(ASK_AGAIN_AFTER).await;
    }
}

/// Repeats a call until it succeeds, until the server returns an error that a retry cannot avoid, or until
/// the server has not answered for `PATIENCE`.
async fn patiently(attempt: impl AsyncFn() -> Result<IndexProgress, Unanswered>) -> anyhow::Result<IndexProgress> {
    let (started_at, mut is_noted) = (Instant::now(), false);
    loop {
        let Unanswered { error, again_after, .. } = match attempt().await {
            Ok(progress) => return Ok(progress),
            Err(unanswered) => unanswered,
        };
        let Some(wait) = again_after.map(|wait| wait.max(ASK_AGAIN_AFTER)) else { return Err(error) };
        if started_at.elapsed() + wait > PATIENCE {
            let patience = PATIENCE.as_secs();
            output::note(&format!("no answer for {patience} s; the requested runs continue: `cairn runs` shows them"));
            return Err(error);
        }
        if !std::mem::replace(&mut is_noted, true) {
            output::note(&format!("no answer ({}); sending the request again", plain(error.as_ref())));
        }
        tokio::time::sleep(wait).await;
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use cairn_gateway::answers::IndexedFiles;
    use cairn_wire::RunResult;

    use super::*;

    fn progress(state: RequestState) -> IndexProgress {
        IndexProgress {
            repository: "a".to_owned(),
            run_id: None,
            request: Some(1),
            previous_run_id: None,
            state,
            message: None,
            num_parts: 0,
            num_ended: 0,
            sync: None,
            indexed: IndexedFiles::default(),
            result: RunResult::default(),
        }
    }

    fn unanswered(again_after: Option<Duration>) -> Result<IndexProgress, Unanswered> {
        Err(Unanswered { error: anyhow::anyhow!("away"), again_after, was_reached: false })
    }

    #[tokio::test(start_paused = true)]
    async fn wait_survives_short_outage_and_ends_on_error() {
        let requested = progress(RequestState::Requested);
        let script = RefCell::new(vec![
            Ok(progress(RequestState::Published)),
            unanswered(Some(Duration::ZERO)),
            Ok(progress(RequestState::Running)),
            unanswered(Some(Duration::from_secs(40))),
        ]);
        let started = Instant::now();
        let shown = RefCell::new(Vec::new());
        let show = |progress: &IndexProgress| shown.borrow_mut().push(progress.state);
        let next = async |_| script.borrow_mut().pop().expect("no more questions");
        let ended = until_ended(requested.clone(), next, show);
        assert_eq!(ended.await.expect("an end").state, RequestState::Published);
        assert_eq!(*shown.borrow(), [RequestState::Running]);
        // The expected time consists of two pauses between calls, and the waiting time that the server
        // requested.
        assert_eq!(started.elapsed(), Duration::from_secs(40) + 2 * ASK_AGAIN_AFTER);
        let refused = until_ended(requested, async |_| unanswered(None), |_| ());
        assert_eq!(refused.await.expect_err("an error").to_string(), "away");
    }

    #[tokio::test(start_paused = true)]
    async fn wait_for_an_unreachable_server_ends() {
        let (started, num_attempts) = (Instant::now(), Cell::new(0));
        let answer = patiently(async || {
            num_attempts.set(num_attempts.get() + 1);
            unanswered(Some(Duration::from_secs(50)))
        });
        assert!(answer.await.is_err());
        assert_eq!((num_attempts.get(), started.elapsed()), (3, Duration::from_secs(100)));
    }
}
