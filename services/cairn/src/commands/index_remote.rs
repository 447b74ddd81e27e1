//! `cairn index` at a server: asks, waits for the runs, and shows what the command shows on this machine.
//!
//! All are asked for first, so that the server works on them together; then each is waited for. A server that is started anew,
//! throttles or cannot be reached for a while ends no waiting: the runs go on meanwhile.

use std::cell::RefCell;
use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::{Context, bail};
use cairn_config::{ListedRepository, Location, parse_repository_list};
use cairn_gateway::questions::{IndexQuestion, ProgressQuestion, Question, RepositoriesQuestion};
use serde_json::Value;
use tokio::time::Instant;

use super::field::{list, number, text};
use super::index::{Bars, is_list, show_error};
use super::print_index::{self, Ended};
use super::{CANCELLED, Outcome, RUN_INCOMPLETE};
use crate::cli::IndexArguments;
use crate::operate::wrong;
use crate::output;
use crate::remote::{Remote, Unanswered};
use crate::stop::Stop;

const ASK_AGAIN_AFTER: Duration = Duration::from_millis(500);
/// For how long a server may give no answer at all before the waiting ends.
const PATIENCE: Duration = Duration::from_secs(120);

/// One repository that the server is asked to index.
struct Wanted {
    /// Where it was named.
    place: String,
    question: anyhow::Result<IndexQuestion>,
}

pub(super) async fn run(remote: &Remote, arguments: &IndexArguments, json: bool) -> Outcome {
    let mut stop = Stop::listen()?;
    tokio::select! {
        outcome = index_all(remote, arguments, json) => outcome,
        () = stop.asked() => {
            output::note("`cairn runs` follows the runs, `cairn runs cancel NAME` ends those of a repository");
            Ok(ExitCode::from(CANCELLED))
        }
    }
}

async fn index_all(remote: &Remote, arguments: &IndexArguments, json: bool) -> Outcome {
    let wanted = all_wanted(remote, arguments).await?;
    let (several, mut worst, mut asked) = (wanted.len() > 1, ExitCode::SUCCESS, Vec::new());
    for Wanted { place, question } in wanted {
        match ask_for(remote, question).await {
            Ok(answer) => asked.push(answer),
            // One that is refused does not keep the others out.
            Err(error) if several => {
                show_error(&place, &error, json);
                worst = ExitCode::from(RUN_INCOMPLETE);
            }
            Err(error) => return Err(error),
        }
    }
    for answer in asked {
        let name = text(&answer, "repository").to_owned();
        let code = match show_end(remote, answer, json).await {
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

/// A server indexes what it can fetch by URL, by the settings of whoever runs it.
async fn all_wanted(remote: &Remote, arguments: &IndexArguments) -> anyhow::Result<Vec<Wanted>> {
    if arguments.hosting.organisation.is_some() {
        bail!(wrong("whoever runs the server names its organisations, in `[[organisations]]` of its settings"));
    }
    let is_plain = arguments.include_override.is_empty() && arguments.name.is_none() && arguments.branch.is_none();
    if !is_plain || arguments.rebuild {
        bail!(wrong("--include-override, --name, --branch and --rebuild are for an index of this machine"));
    }
    let Some(target) = &arguments.target else { return every_repository(remote).await };
    if is_list(Path::new(target)) {
        return of_list(target, arguments);
    }
    Ok(vec![Wanted { place: target.clone(), question: Ok(question(target.clone(), arguments)) }])
}

/// All that the key may see, each by its name.
async fn every_repository(remote: &Remote) -> anyhow::Result<Vec<Wanted>> {
    let known = remote.ask(&Question::Repositories(RepositoriesQuestion::default())).await?;
    let names = list(&known, "repositories").iter().map(|repository| text(repository, "name").to_owned());
    let by_name = |name: String| Wanted {
        place: name.clone(),
        question: Ok(IndexQuestion { target: name, ..IndexQuestion::default() }),
    };
    let wanted: Vec<Wanted> = names.map(by_name).collect();
    if wanted.is_empty() {
        bail!(wrong("the server has no repository that this key may see; say what to index: `cairn index URL`"));
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
        bail!(wrong("a server fetches by URL, and has no folders of this machine: give the entry a `url`"));
    };
    let is_plain = listed.name.is_none() && listed.branch.is_none() && listed.include_override.is_empty();
    if !is_plain {
        let operators = "is decided by whoever runs the server (`cairn enqueue --file LIST --cluster FILE`)";
        bail!(wrong(format!("what `name`, `branch` or `include_override` of an entry says {operators}")));
    }
    let mut question = question(url, arguments);
    question.include_patterns.extend(listed.include);
    question.exclude_patterns.extend(listed.exclude);
    Ok(question)
}

fn question(target: String, arguments: &IndexArguments) -> IndexQuestion {
    IndexQuestion {
        target,
        include_patterns: arguments.include.clone(),
        exclude_patterns: arguments.exclude.clone(),
        max_file_size: arguments.max_size,
        changed_files: Vec::new(),
    }
}

/// Asks for one. Who cannot be reached at all is told at once: the address may be wrong.
async fn ask_for(remote: &Remote, question: anyhow::Result<IndexQuestion>) -> anyhow::Result<Value> {
    let question = Question::Index(question?);
    let asked = patiently(async || match remote.attempt(&question).await {
        Err(unanswered) if !unanswered.was_reached => Err(Unanswered { again_after: None, ..unanswered }),
        attempt => attempt,
    });
    let asked = asked.await?;
    let name = text(&asked, "repository");
    output::note(&format!("{name}: asked for; Ctrl-C ends the waiting, and the run goes on"));
    Ok(asked)
}

async fn show_end(remote: &Remote, asked: Value, json: bool) -> Outcome {
    let watch = Watch { bars: Bars::new(json), last_news: RefCell::default() };
    let answer =
        until_ended(asked, async |question| remote.attempt(&question).await, |answer| watch.show(answer)).await;
    watch.bars.finish();
    let answer = answer?;
    let ended: Ended = serde_json::from_value(answer).context("reading the server's answer")?;
    print_index::ended(&ended, json);
    Ok(match ended.state.as_str() {
        "published" => ExitCode::SUCCESS,
        "cancelled" => ExitCode::from(CANCELLED),
        _ => ExitCode::from(RUN_INCOMPLETE),
    })
}

/// Shows how far a run is, as if it were one of this machine.
struct Watch {
    bars: Bars,
    last_news: RefCell<String>,
}

impl Watch {
    fn show(&self, answer: &Value) {
        let (repository, news) = (text(answer, "repository"), text(answer, "sync"));
        let count = |name: &str| u32::try_from(number(answer, name)).unwrap_or(u32::MAX);
        if text(answer, "state") == "running" {
            self.bars.ended(repository, text(answer, "run_id"), count("num_ended"), count("num_parts"));
        } else if !news.is_empty() && self.last_news.replace(news.to_owned()) != news {
            self.bars.says(repository, news);
        }
    }
}

/// Shows each answer until there is the last one.
async fn until_ended(
    asked: Value,
    attempt: impl AsyncFn(Question) -> Result<Value, Unanswered>,
    show: impl Fn(&Value),
) -> anyhow::Result<Value> {
    let Some(request) = asked["request"].as_u64() else { return Ok(asked) };
    let progress = Question::Progress(ProgressQuestion {
        repository: text(&asked, "repository").to_owned(),
        request,
        previous_run_id: asked["previous_run_id"].as_str().map(str::to_owned),
    });
    loop {
        let answer = patiently(async || attempt(progress.clone()).await).await?;
        if !matches!(text(&answer, "state"), "requested" | "running") {
            return Ok(answer);
        }
        show(&answer);
        tokio::time::sleep(ASK_AGAIN_AFTER).await;
    }
}

/// Asks until there is an answer, or a refusal that asking again does not change.
async fn patiently(attempt: impl AsyncFn() -> Result<Value, Unanswered>) -> anyhow::Result<Value> {
    let (asked_at, mut is_told) = (Instant::now(), false);
    loop {
        let Unanswered { error, again_after, .. } = match attempt().await {
            Ok(answer) => return Ok(answer),
            Err(unanswered) => unanswered,
        };
        let Some(wait) = again_after.map(|wait| wait.max(ASK_AGAIN_AFTER)) else { return Err(error) };
        if asked_at.elapsed() + wait > PATIENCE {
            let patience = PATIENCE.as_secs();
            output::note(&format!("no answer for {patience} s; what was asked for goes on: `cairn runs` tells"));
            return Err(error);
        }
        if !std::mem::replace(&mut is_told, true) {
            output::note(&format!("no answer ({error:#}); asking again"));
        }
        tokio::time::sleep(wait).await;
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use serde_json::json;

    use super::*;

    fn unanswered(again_after: Option<Duration>) -> Result<Value, Unanswered> {
        Err(Unanswered { error: anyhow::anyhow!("away"), again_after, was_reached: false })
    }

    #[tokio::test(start_paused = true)]
    async fn a_hiccup_ends_no_waiting_and_a_refusal_does() {
        let asked = json!({ "repository": "a", "request": 1 });
        let script = RefCell::new(vec![
            Ok(json!({ "state": "published" })),
            unanswered(Some(Duration::ZERO)),
            Ok(json!({ "state": "running" })),
            unanswered(Some(Duration::from_secs(40))),
        ]);
        let started = Instant::now();
        let shown = RefCell::new(Vec::new());
        let show = |answer: &Value| shown.borrow_mut().push(answer["state"].clone());
        let ended = until_ended(asked.clone(), async |_| script.borrow_mut().pop().expect("no more questions"), show);
        assert_eq!(ended.await.expect("an end")["state"], "published");
        assert_eq!(*shown.borrow(), ["running"]);
        // Twice the pause between questions, and as long as the server wanted to be left alone.
        assert_eq!(started.elapsed(), Duration::from_secs(40) + 2 * ASK_AGAIN_AFTER);
        let refused = until_ended(asked, async |_| unanswered(None), |_| ());
        assert_eq!(refused.await.expect_err("a refusal").to_string(), "away");
    }

    #[tokio::test(start_paused = true)]
    async fn nobody_is_waited_for_without_end() {
        let (started, num_asked) = (Instant::now(), Cell::new(0));
        let asked = patiently(async || {
            num_asked.set(num_asked.get() + 1);
            unanswered(Some(Duration::from_secs(50)))
        });
        assert!(asked.await.is_err());
        assert_eq!((num_asked.get(), started.elapsed()), (3, Duration::from_secs(100)));
    }
}
