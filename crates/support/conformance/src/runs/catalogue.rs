//! Checks of the catalogue: registration, views, publication, deletion.

use std::collections::BTreeSet;

use anyhow::{Context, Result, ensure};
use cairn_domain::{Hosted, PartEnd, PublishedSeq, RepositoryName, RunState, Scope, Source, StageName};
use cairn_ports::{PublishedGeneration, RepositoryRecord};

use crate::case::part;
use crate::runs::fixture::{RunFixture, RunStore};
use crate::suite::{expect_eq, expect_kind};

fn names(records: &[RepositoryRecord]) -> Vec<&str> {
    records.iter().map(|record| record.name.as_str()).collect()
}

pub(super) async fn repositories_are_listed_by_name_and_scope(store: &dyn RunStore) -> Result<()> {
    let runs = RunFixture::new(store, "list");
    let foreign = RunFixture::new(store, "list-foreign");
    runs.register(&["b", "c", "a"]).await?;
    foreign.register(&["x"]).await?;
    let all = store.repositories(&runs.case.scope()).await?;
    expect_eq!(names(&all), ["a", "b", "c"]);
    expect_eq!(all[0], runs.record("a"));
    expect_eq!(names(&store.repositories(&runs.case.scope_of(&["c", "a"])).await?), ["a", "c"]);
    expect_eq!(names(&store.repositories(&runs.case.scope_of(&[])).await?), Vec::<&str>::new());
    let across = Scope::only(foreign.case.tenant.clone(), [runs.case.repository("a")]);
    ensure!(store.repositories(&across).await?.is_empty(), "a repository of another tenant is listed");
    expect_eq!(names(&store.visible(&runs.case.tenant, &|_| true).await?), ["a", "b", "c"]);
    let not_b = |name: &RepositoryName| name.as_str() != "b";
    expect_eq!(names(&store.visible(&runs.case.tenant, &not_b).await?), ["a", "c"]);
    expect_eq!(names(&store.visible(&foreign.case.tenant, &not_b).await?), ["x"]);
    Ok(())
}

/// Data from a hosting service, with all fields set.
fn hosted() -> Hosted {
    Hosted {
        host: "git.example:8443".to_owned(),
        id: "1296269".to_owned(),
        organisation: "acme/tools".to_owned(),
        default_branch: Some("trunk".to_owned()),
        description: Some("größer".to_owned()),
        topics: vec!["go".to_owned(), "cli".to_owned()],
    }
}

pub(super) async fn registering_again_updates(store: &dyn RunStore) -> Result<()> {
    let runs = RunFixture::new(store, "update");
    runs.register(&["a"]).await?;
    let updated = RepositoryRecord {
        name: RepositoryName::new("renamed"),
        source: Source::Url { url: "https://example.org/a.git".to_owned() },
        branch: Some("stable".to_owned()),
        settings: "{\"x\":1}".to_owned(),
        aliases: vec![RepositoryName::new("former")],
        hosted: Some(hosted()),
        ..runs.record("a")
    };
    store.register(updated.clone()).await?;
    expect_eq!(store.repositories(&runs.case.scope()).await?, [updated]);
    for source in [Source::WorkTree { path: "w".to_owned() }, Source::Directory { path: "d".to_owned() }] {
        store.register(RepositoryRecord { source: source.clone(), ..runs.record("a") }).await?;
        expect_eq!(store.repositories(&runs.case.scope()).await?[0].source, source);
    }
    Ok(())
}

pub(super) async fn changed_settings_replace_only_the_expected_ones(store: &dyn RunStore) -> Result<()> {
    let runs = RunFixture::new(store, "settings");
    runs.register(&["a"]).await?;
    let repository = runs.case.repository("a");
    store.change_settings(repository, "{}", "{\"x\":1}").await?;
    let changed = RepositoryRecord { settings: "{\"x\":1}".to_owned(), ..runs.record("a") };
    expect_eq!(store.repositories(&runs.case.scope()).await?, std::slice::from_ref(&changed));
    expect_kind!(store.change_settings(repository, "{}", "{\"x\":2}").await, Conflict);
    expect_eq!(store.repositories(&runs.case.scope()).await?, [changed]);
    store.delete(repository, 3).await?;
    expect_kind!(store.change_settings(repository, "{\"x\":1}", "{}").await, NotFound);
    expect_kind!(store.change_settings(runs.case.repository("nobody"), "", "{}").await, NotFound);
    Ok(())
}

pub(super) async fn listed_repositories_keep_their_settings(store: &dyn RunStore) -> Result<()> {
    let runs = RunFixture::new(store, "listed");
    let listed = RepositoryRecord { hosted: Some(hosted()), ..runs.record("a") };
    store.register_listed(listed.clone()).await?;
    store.register(RepositoryRecord { branch: Some("stable".to_owned()), ..listed.clone() }).await?;
    store.change_settings(listed.id, "{}", "{\"x\":1}").await?;
    let renamed = RepositoryRecord { name: RepositoryName::new("renamed"), ..listed.clone() };
    store.register_listed(renamed.clone()).await?;
    let (branch, settings) = (Some("stable".to_owned()), "{\"x\":1}".to_owned());
    let expected = RepositoryRecord { branch, settings, ..renamed.clone() };
    expect_eq!(store.repositories(&runs.case.scope()).await?, [expected]);
    store.delete(listed.id, 3).await?;
    store.register_listed(renamed.clone()).await?;
    expect_eq!(store.repositories(&runs.case.scope()).await?, [renamed]);
    Ok(())
}

pub(super) async fn a_run_is_invisible_until_it_is_published(store: &dyn RunStore) -> Result<()> {
    let runs = RunFixture::new(store, "publish");
    runs.register(&["a"]).await?;
    let repository = runs.case.repository("a");
    expect_eq!(runs.published_now("a").await?, None);
    let run = runs.begin("a", None, &[part(StageName::Publish, 0)], 10).await?;
    expect_eq!(runs.published_now("a").await?, None);
    let before = store.view().await?;
    ensure!(!before.published(run.generation), "a view shows the generation before it is published");
    let publication = PublishedGeneration { state: RunState::Partial, ..runs.publication(run, 20) };
    let seq = store.publish(publication.clone()).await?;
    let after = store.view().await?;
    ensure!(after.published(run.generation), "a view does not show the generation after it was published");
    ensure!(
        after.seq >= seq && seq > before.seq,
        "publishing did not change the view: before {before:?}, after {after:?}"
    );
    let found = store.published(&after, repository).await?.context("the repository has no published generation")?;
    expect_eq!(found, PublishedGeneration { seq, ..publication });
    expect_eq!(store.published(&before, repository).await?, None);
    // Publishing also ends the publish part, because the worker may die before it reports the end of the
    // part.
    let parts = store.parts(run).await?;
    expect_eq!(parts.iter().map(|part| part.end.clone()).collect::<Vec<_>>(), [Some(PartEnd::Done)]);
    Ok(())
}

pub(super) async fn views_taken_earlier_stay_as_they_are(store: &dyn RunStore) -> Result<()> {
    let runs = RunFixture::new(store, "views");
    runs.register(&["a", "b"]).await?;
    let (mut last_a, mut last_b) = (None, None);
    let mut views = Vec::new();
    for now_ms in 0..4 {
        let a = runs.publish("a", last_a, now_ms).await?;
        let b = runs.publish("b", last_b, now_ms).await?;
        (last_a, last_b) = (Some(a), Some(b));
        views.push((store.view().await?, a, b));
    }
    for (view, a, b) in &views {
        for (name, run) in [("a", a), ("b", b)] {
            let found = store
                .published(view, runs.case.repository(name))
                .await?
                .context("the repository has no published generation")?;
            expect_eq!(found.run, *run);
        }
        let ids = ["b", "nobody", "a"].map(|name| runs.case.repository(name));
        let mut found: Vec<_> = store.published_of(view, &ids).await?.iter().map(|found| found.run).collect();
        found.sort_by_key(|run| run.generation);
        expect_eq!(found, [*a, *b]);
    }
    expect_eq!(store.published_of(&store.view().await?, &[]).await?, []);
    let order: Vec<_> = views.iter().map(|(view, ..)| view.seq).collect();
    ensure!(order.is_sorted_by(|left, right| left < right), "sequence numbers do not increase: {order:?}");
    Ok(())
}

pub(super) async fn a_view_comes_back_by_its_seq(store: &dyn RunStore) -> Result<()> {
    let runs = RunFixture::new(store, "view-at");
    runs.register(&["a", "b"]).await?;
    let first = runs.publish("a", None, 1000).await?;
    let running = runs.begin("b", None, &[part(StageName::Publish, 0)], 1001).await?;
    let view = store.view().await?;
    let second = runs.publish("a", Some(first), 1002).await?;
    store.publish(runs.publication(running, 1003)).await?;
    let again = store.view_at(view.seq).await?.context("the earlier view no longer exists")?;
    for generation in [first.generation, running.generation, second.generation] {
        expect_eq!(again.published(generation), view.published(generation));
    }
    // A deletion also removes the repository from earlier views.
    store.delete(runs.case.repository("b"), 1004).await?;
    let again = store.view_at(view.seq).await?.context("the earlier view no longer exists")?;
    ensure!(!again.sees_repository(runs.case.repository("b")), "an old view shows a deleted repository");
    expect_eq!(store.view_at(PublishedSeq(u64::MAX / 4)).await?, None);
    Ok(())
}

pub(super) async fn unpublished_generations_are_hidden(store: &dyn RunStore) -> Result<()> {
    let runs = RunFixture::new(store, "hidden");
    runs.register(&["slow", "fast"]).await?;
    let slow = runs.begin("slow", None, &[part(StageName::Publish, 0)], 0).await?;
    let fast = runs.publish("fast", None, 1).await?;
    ensure!(fast.generation > slow.generation, "generations are not allotted in order");
    let view = store.view().await?;
    ensure!(view.next_gen > fast.generation.0, "the view does not include the newest published generation");
    ensure!(
        view.hidden.contains(&slow.generation),
        "an unpublished generation is not hidden, although a newer generation is published"
    );
    ensure!(!view.hidden.contains(&fast.generation), "a published generation is hidden");
    store.publish(runs.publication(slow, 2)).await?;
    ensure!(!store.view().await?.hidden.contains(&slow.generation), "a generation is hidden although it is published");
    ensure!(view.hidden.contains(&slow.generation), "a view that was taken earlier has changed");
    Ok(())
}

pub(super) async fn publishing_is_guarded(store: &dyn RunStore) -> Result<()> {
    let runs = RunFixture::new(store, "guard");
    runs.register(&["a", "b"]).await?;
    let parts = [part(StageName::Parse, 0), part(StageName::Publish, 0)];
    let run = runs.begin("a", None, &parts, 0).await?;
    expect_kind!(store.publish(runs.publication(run, 0)).await, Conflict);
    runs.done(run, parts[0]).await?;
    let not_ended = PublishedGeneration { state: RunState::Running, ..runs.publication(run, 0) };
    expect_kind!(store.publish(not_ended).await, Invalid);
    let seq = store.publish(runs.publication(run, 0)).await?;
    expect_eq!(store.publish(runs.publication(run, 5)).await?, seq);
    expect_kind!(store.abort(run, RunState::Cancelled, "too late", 6).await, Conflict);
    expect_eq!(runs.published_now("a").await?, Some(run.generation));

    for state in [RunState::Failed, RunState::Cancelled] {
        let aborted = runs.begin("b", None, &[], 0).await?;
        store.abort(aborted, state, "by a person", 7).await?;
        expect_kind!(store.publish(runs.publication(aborted, 8)).await, Conflict);
        expect_eq!(runs.published_now("b").await?, None);
    }
    expect_kind!(store.publish(runs.publication(runs.case.run("nobody", 1 << 40), 0)).await, NotFound);
    Ok(())
}

pub(super) async fn a_deleted_repository_is_hidden_at_once(store: &dyn RunStore) -> Result<()> {
    let runs = RunFixture::new(store, "delete");
    runs.register(&["a", "b"]).await?;
    let (a, b) = (runs.publish("a", None, 0).await?, runs.publish("b", None, 0).await?);
    let repository = runs.case.repository("a");
    let before = store.view().await?;
    let deletion = store.delete(repository, 3).await?;
    ensure!(deletion > a.generation && deletion > b.generation, "the deletion is not the newest generation");
    let view = store.view().await?;
    ensure!(!view.sees_repository(repository), "a deleted repository is visible");
    ensure!(before.sees_repository(repository), "a view that was taken earlier has changed");
    expect_eq!(runs.published_now("a").await?, None);
    expect_eq!(runs.published_now("b").await?, Some(b.generation));
    expect_eq!(names(&store.repositories(&runs.case.scope()).await?), ["b"]);
    expect_eq!(names(&store.visible(&runs.case.tenant, &|_| true).await?), ["b"]);
    expect_eq!(store.delete(repository, 3).await?, deletion);
    expect_kind!(store.delete(runs.case.repository("nobody"), 3).await, NotFound);
    let lease = runs.lease("a", 0).await?;
    expect_kind!(store.begin(lease, runs.new_run("a", None, &[], 0)).await, NotFound);
    Ok(())
}

pub(super) async fn deleting_cancels_the_unfinished_run(store: &dyn RunStore) -> Result<()> {
    let runs = RunFixture::new(store, "delete-run");
    runs.register(&["a"]).await?;
    let run = runs.begin("a", None, &[part(StageName::Parse, 0)], 0).await?;
    store.delete(runs.case.repository("a"), 3).await?;
    expect_eq!(store.run(run).await?.state, RunState::Cancelled);
    expect_kind!(runs.store.publish(runs.publication(run, 0)).await, Conflict);
    let unfinished: BTreeSet<_> = store.unfinished().await?.into_iter().map(|run| run.id).collect();
    ensure!(!unfinished.contains(&run), "the deletion of the repository did not end its run");
    Ok(())
}

pub(super) async fn indexing_again_during_a_deletion_is_safe(store: &dyn RunStore) -> Result<()> {
    let runs = RunFixture::new(store, "again");
    runs.register(&["a"]).await?;
    let repository = runs.case.repository("a");
    let first = runs.publish("a", None, 0).await?;
    let second = runs.publish("a", Some(first), 1).await?;
    store.delete(repository, 3).await?;
    runs.register(&["a"]).await?;
    expect_eq!(names(&store.repositories(&runs.case.scope()).await?), ["a"]);
    expect_eq!(runs.published_now("a").await?, None);
    let again = runs.publish("a", None, 2).await?;
    let view = store.view().await?;
    ensure!(view.sees_repository(repository), "a repository that was indexed again is hidden");
    ensure!(view.published(again.generation), "the new generation of the repository is not visible");
    for old in [first, second] {
        ensure!(!view.published(old.generation), "records from before the deletion are visible again");
    }
    let list = store.sweep_list(10, 1000).await?;
    store.swept(&list, 9000, 1000).await?;
    expect_eq!(runs.published_now("a").await?, Some(again.generation));
    expect_eq!(names(&store.repositories(&runs.case.scope()).await?), ["a"]);
    Ok(())
}
