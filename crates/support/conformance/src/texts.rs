//! The conformance suite of the port `Texts`. The suite includes the rules for generations that all stores
//! follow.

use anyhow::{Result, ensure};
use async_trait::async_trait;
use cairn_domain::{ArtifactRef, GenerationId, RepoPath, RepositoryId, RunId, Scope, Slot, Tenant, View};
use cairn_exact::{GramQuery, Pattern, PatternRequest};
use cairn_ports::{StagedText, StagedTexts, TextFile, Texts, TextsError};

use crate::Case;
use crate::case::view;
use crate::faulty::{Faulty, StoreFault, WithStoreFaults, planted};
use crate::suite::{Check, PlantedFault, checks, expect_eq};

pub fn checks() -> Vec<Check<dyn Texts>> {
    checks![
        staged_texts_are_visible_once_published,
        replaced_texts_stay_visible_to_earlier_views,
        hidden_generations_change_nothing,
        staging_again_changes_nothing,
        parts_of_a_generation_add_up,
        sweeping_replaced_texts_changes_no_view,
        sweeping_an_aborted_generation_undoes_it,
        removing_a_repository_keeps_later_runs,
        removing_after_a_merge_keeps_later_runs_once,
        compacting_changes_nothing,
        every_file_with_the_text_is_found,
        files_are_read_as_written_and_sorted,
        scope_and_hidden_repositories_are_tested,
    ]
}

/// The data of one check, and the store under test.
struct Index<'a> {
    store: &'a dyn Texts,
    case: Case,
}

const BASICS: [&str; 2] = ["a alpha one", "b beta two"];
const CHANGED: [&str; 2] = ["a gamma three", "b beta two"];
const WITHOUT_A: [&str; 1] = ["b beta two"];
const NOTHING: [&str; 0] = [];

impl<'a> Index<'a> {
    fn new(store: &'a dyn Texts, check: &str) -> Self {
        Self { store, case: Case::new(check) }
    }

    fn r(&self) -> RepositoryId {
        self.case.repository("r")
    }

    async fn stage(&self, generation: u64, staged: StagedTexts) -> Result<()> {
        self.stage_in("r", generation, staged).await
    }

    async fn stage_in(&self, repository: &str, generation: u64, staged: StagedTexts) -> Result<()> {
        Ok(self.store.stage(&self.case.tenant, self.case.run(repository, generation), staged).await?)
    }

    async fn stage_basics(&self) -> Result<()> {
        self.stage(1, staged(&[], &BASICS)).await
    }

    /// The files that the view shows, each with its text.
    async fn visible(&self, view: &View) -> Result<Vec<String>> {
        self.matching(view, &self.case.scope(), "r", &GramQuery::All).await
    }

    async fn matching(&self, view: &View, scope: &Scope, name: &str, query: &GramQuery) -> Result<Vec<String>> {
        let found = self.store.candidates(view, scope, self.case.repository(name), query).await?;
        // The key of the pack is the text (see `staged`).
        Ok(found.iter().map(|file| format!("{} {}", file.path, file.pack.key)).collect())
    }
}

/// The texts that a check stages. Each element of `texts` is a path, a space and the text of this path. The
/// text is also the key of its pack, so that checks see which text of a path is visible.
fn staged(replaced: &[&str], texts: &[&str]) -> StagedTexts {
    let text = |line: &&str| {
        let (name, text) = line.split_once(' ').unwrap_or((line, ""));
        let artifact = ArtifactRef { key: text.to_owned(), size_bytes: 7, hash: [3; 32] };
        let slot = Slot { artifact, index: text.len() as u32 };
        StagedText { path: path(name), language: "python".to_owned(), slot, text: text.to_owned() }
    };
    StagedTexts { replaced: replaced.iter().map(|name| path(name)).collect(), texts: texts.iter().map(text).collect() }
}

fn path(name: &str) -> RepoPath {
    RepoPath::parse(name).expect("a path")
}

fn change_a() -> StagedTexts {
    staged(&["a"], &["a gamma three"])
}

fn remove_a() -> StagedTexts {
    staged(&["a"], &[])
}

fn generations(range: std::ops::Range<u64>) -> Vec<GenerationId> {
    range.map(GenerationId).collect()
}

async fn staged_texts_are_visible_once_published(store: &dyn Texts) -> Result<()> {
    let index = Index::new(store, "publish");
    index.stage_basics().await?;
    expect_eq!(index.visible(&view(1, &[])).await?, NOTHING);
    expect_eq!(index.visible(&view(3, &[1])).await?, NOTHING);
    expect_eq!(index.visible(&view(2, &[])).await?, BASICS);
    expect_eq!(index.visible(&view(9, &[3])).await?, BASICS);
    Ok(())
}

async fn replaced_texts_stay_visible_to_earlier_views(store: &dyn Texts) -> Result<()> {
    let index = Index::new(store, "replace");
    index.stage_basics().await?;
    index.stage(3, change_a()).await?;
    index.stage(5, remove_a()).await?;
    index.stage(7, staged(&["a"], &BASICS[..1])).await?;
    for (next_gen, expected) in [(2, &BASICS[..]), (4, &CHANGED), (6, &WITHOUT_A), (8, &BASICS)] {
        expect_eq!(index.visible(&view(next_gen, &[])).await?, expected);
    }
    Ok(())
}

async fn hidden_generations_change_nothing(store: &dyn Texts) -> Result<()> {
    let index = Index::new(store, "hidden");
    index.stage_basics().await?;
    index.stage(2, change_a()).await?;
    index.stage(3, remove_a()).await?;
    expect_eq!(index.visible(&view(9, &[2, 3])).await?, BASICS);
    expect_eq!(index.visible(&view(9, &[3])).await?, CHANGED);
    Ok(())
}

async fn staging_again_changes_nothing(store: &dyn Texts) -> Result<()> {
    let index = Index::new(store, "again");
    for _ in 0..2 {
        index.stage_basics().await?;
    }
    for _ in 0..2 {
        index.stage(2, change_a()).await?;
    }
    // A late writer of an earlier generation changes nothing.
    index.stage_basics().await?;
    expect_eq!(index.visible(&view(2, &[])).await?, BASICS);
    expect_eq!(index.visible(&view(3, &[])).await?, CHANGED);
    Ok(())
}

async fn parts_of_a_generation_add_up(store: &dyn Texts) -> Result<()> {
    let index = Index::new(store, "parts");
    index.stage(1, staged(&[], &BASICS[..1])).await?;
    index.stage(1, staged(&[], &BASICS[1..])).await?;
    index.stage(1, StagedTexts::default()).await?;
    expect_eq!(index.visible(&view(2, &[])).await?, BASICS);
    Ok(())
}

async fn sweeping_replaced_texts_changes_no_view(store: &dyn Texts) -> Result<()> {
    let index = Index::new(store, "sweep");
    index.stage_basics().await?;
    index.stage(2, change_a()).await?;
    index.stage(3, remove_a()).await?;
    let swept = generations(1..3);
    store.sweep_retired(index.r(), &swept).await?;
    expect_eq!(store.sweep_retired(index.r(), &swept).await?, 0);
    expect_eq!(index.visible(&view(3, &[])).await?, CHANGED);
    expect_eq!(index.visible(&view(4, &[])).await?, WITHOUT_A);
    store.verify(index.r()).await?;
    Ok(())
}

async fn sweeping_an_aborted_generation_undoes_it(store: &dyn Texts) -> Result<()> {
    let index = Index::new(store, "abort");
    index.stage_basics().await?;
    index.stage(2, change_a()).await?;
    for _ in 0..2 {
        expect_eq!(store.sweep_aborted(index.r(), GenerationId(2)).await?, 0);
        // The sweep has removed the texts of the generation, so the view need not hide the generation.
        expect_eq!(index.visible(&view(3, &[])).await?, BASICS);
    }
    index.stage(3, remove_a()).await?;
    expect_eq!(index.visible(&view(3, &[])).await?, BASICS);
    expect_eq!(index.visible(&view(4, &[])).await?, WITHOUT_A);
    Ok(())
}

async fn removing_a_repository_keeps_later_runs(store: &dyn Texts) -> Result<()> {
    let index = Index::new(store, "remove");
    index.stage_basics().await?;
    index.stage_in("other", 2, staged(&[], &["x other"])).await?;
    index.stage(3, change_a()).await?;
    index.stage(5, staged(&[], &["a gamma three"])).await?;
    let of_other =
        async |index: &Index<'_>| index.matching(&view(9, &[]), &index.case.scope(), "other", &GramQuery::All).await;
    for _ in 0..2 {
        store.remove_repository(&index.case.tenant, index.r(), GenerationId(4)).await?;
        expect_eq!(index.visible(&view(6, &[])).await?, CHANGED[..1]);
        expect_eq!(index.visible(&view(5, &[])).await?, NOTHING);
        expect_eq!(of_other(&index).await?, ["x other"]);
    }
    store.remove_repository(&index.case.tenant, index.r(), GenerationId(6)).await?;
    expect_eq!(index.visible(&view(9, &[])).await?, NOTHING);
    expect_eq!(of_other(&index).await?, ["x other"]);
    Ok(())
}

async fn removing_after_a_merge_keeps_later_runs_once(store: &dyn Texts) -> Result<()> {
    let index = Index::new(store, "remove-merged");
    index.stage_basics().await?;
    for generation in 2..12 {
        index.stage(generation, change_a()).await?;
    }
    // Generation 12 is the deletion of the repository. The repository is indexed again before the sweep.
    index.stage(13, staged(&[], &["a gamma three"])).await?;
    let published: Vec<GenerationId> = (1..12).chain([13]).map(GenerationId).collect();
    store.sweep_retired(index.r(), &published).await?;
    store.compact(index.r()).await?;
    for _ in 0..2 {
        store.remove_repository(&index.case.tenant, index.r(), GenerationId(12)).await?;
        expect_eq!(index.visible(&view(14, &[])).await?, CHANGED[..1]);
    }
    Ok(())
}

async fn compacting_changes_nothing(store: &dyn Texts) -> Result<()> {
    let index = Index::new(store, "compact");
    index.stage_basics().await?;
    for generation in 2..14 {
        index.stage(generation, change_a()).await?;
    }
    for _ in 0..2 {
        store.compact(index.r()).await?;
        store.verify(index.r()).await?;
        expect_eq!(index.visible(&view(2, &[])).await?, BASICS);
        expect_eq!(index.visible(&view(7, &[])).await?, CHANGED);
        expect_eq!(index.visible(&view(14, &[13])).await?, CHANGED);
    }
    store.sweep_retired(index.r(), &generations(2..14)).await?;
    store.compact(index.r()).await?;
    expect_eq!(index.visible(&view(14, &[])).await?, CHANGED);
    index.stage(14, remove_a()).await?;
    expect_eq!(index.visible(&view(14, &[])).await?, CHANGED);
    expect_eq!(index.visible(&view(15, &[])).await?, WITHOUT_A);
    Ok(())
}

async fn every_file_with_the_text_is_found(store: &dyn Texts) -> Result<()> {
    let index = Index::new(store, "query");
    let texts = ["a fn parse_date", "b fn parse_time", "c PARSE_DATE", "d dare to parse", "e é", "f "];
    index.stage(1, staged(&[], &texts)).await?;
    // In the first round, the files are in several layers. In the second round, the layers are merged.
    for generation in 2..9 {
        index.stage(generation, staged(&["a"], &texts[..1])).await?;
    }
    for round in 0..2 {
        for (expression, expected) in [
            ("parse_date", "ac"),
            ("parse_(date|time)", "abc"),
            ("parse", "abcd"),
            ("fn.*date", "a"),
            ("nothing_of_it", ""),
            ("é", "abcdef"),
        ] {
            let request = PatternRequest { text: expression.to_owned(), is_regex: true, ..PatternRequest::default() };
            let query = Pattern::compile(&request)?.query().clone();
            let found = index.matching(&view(9, &[]), &index.case.scope(), "r", &query).await?;
            let found: String = found.iter().filter_map(|line| line.chars().next()).collect();
            ensure!(
                expected.chars().all(|name| found.contains(name)),
                "round {round}: {expression} finds {found}, expected {expected}"
            );
            // At most one file more than expected may be found, because a trigram index excludes almost all
            // other files.
            ensure!(
                found.len() <= expected.len() + 1,
                "in round {round}, {expression} found {found}, expected {expected}"
            );
        }
        store.sweep_retired(index.r(), &generations(1..9)).await?;
        store.compact(index.r()).await?;
    }
    Ok(())
}

async fn files_are_read_as_written_and_sorted(store: &dyn Texts) -> Result<()> {
    let index = Index::new(store, "fields");
    index.stage(1, staged(&[], &["z last text", "m/a first text", "m.b other"])).await?;
    let found = store.candidates(&view(2, &[]), &index.case.scope(), index.r(), &GramQuery::All).await?;
    let fields = |file: &TextFile| {
        let pack = (file.pack.key.clone(), file.pack.size_bytes, file.pack.hash);
        (file.path.to_string(), file.language.to_string(), pack, file.slot)
    };
    let expected = |path: &str, text: &str| {
        (path.to_owned(), "python".to_owned(), (text.to_owned(), 7, [3; 32]), text.len() as u32)
    };
    let fields: Vec<_> = found.iter().map(fields).collect();
    expect_eq!(fields, [expected("m.b", "other"), expected("m/a", "first text"), expected("z", "last text")]);
    Ok(())
}

async fn scope_and_hidden_repositories_are_tested(store: &dyn Texts) -> Result<()> {
    let index = Index::new(store, "scope");
    index.stage_basics().await?;
    let seen = view(2, &[]);
    let matching = async |view: &View, scope: &Scope| index.matching(view, scope, "r", &GramQuery::All).await;
    expect_eq!(matching(&seen, &index.case.scope_of(&["r"])).await?, BASICS);
    expect_eq!(matching(&seen, &index.case.scope_of(&["other"])).await?, NOTHING);
    expect_eq!(matching(&seen, &Scope::all(Tenant::new("another"))).await?, NOTHING);
    let hidden = View { hidden_repositories: [index.r()].into(), ..seen };
    expect_eq!(matching(&hidden, &index.case.scope()).await?, NOTHING);
    Ok(())
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fault {
    Store(StoreFault),
    LosesTexts,
    LosesReplacements,
    LosesSlots,
    Reverses,
    Repeats,
    FindsEverything,
    FindsTooLittle,
}

/// The table does not contain `SweepsNothing`, because replaced texts may stay in their layers until the
/// layers are merged.
const ALL: [(&str, Fault, &str); 13] = [
    ("loses a text", Fault::LosesTexts, "staged_texts_are_visible_once_published"),
    ("loses replacements", Fault::LosesReplacements, "replaced_texts_stay_visible_to_earlier_views"),
    ("loses slots", Fault::LosesSlots, "files_are_read_as_written_and_sorted"),
    ("answers backwards", Fault::Reverses, "files_are_read_as_written_and_sorted"),
    ("repeats a file", Fault::Repeats, "staged_texts_are_visible_once_published"),
    ("finds every file", Fault::FindsEverything, "every_file_with_the_text_is_found"),
    ("misses a file", Fault::FindsTooLittle, "every_file_with_the_text_is_found"),
    ("sees staged generations", Fault::Store(StoreFault::SeesStaged), "staged_texts_are_visible_once_published"),
    ("sees hidden repositories", Fault::Store(StoreFault::SeesHidden), "scope_and_hidden_repositories_are_tested"),
    ("ignores the scope", Fault::Store(StoreFault::IgnoresScope), "scope_and_hidden_repositories_are_tested"),
    ("sweeps visible records", Fault::Store(StoreFault::SweepsTheOpen), "sweeping_replaced_texts_changes_no_view"),
    ("keeps aborted records", Fault::Store(StoreFault::KeepsAborted), "sweeping_an_aborted_generation_undoes_it"),
    (
        "removes records that began later",
        Fault::Store(StoreFault::RemovesTooMuch),
        "removing_a_repository_keeps_later_runs",
    ),
];

impl WithStoreFaults for Fault {
    fn of_store(self) -> Option<StoreFault> {
        if let Fault::Store(fault) = self { Some(fault) } else { None }
    }
}

pub fn faults() -> Vec<PlantedFault<dyn Texts>> {
    planted(ALL, |faulty| Box::new(faulty))
}

#[async_trait]
impl Texts for Faulty<dyn Texts, Fault> {
    async fn stage(&self, tenant: &Tenant, run: RunId, mut staged: StagedTexts) -> Result<(), TextsError> {
        match self.fault {
            Fault::LosesTexts => drop(staged.texts.pop()),
            Fault::LosesReplacements => staged.replaced.clear(),
            Fault::LosesSlots => staged.texts.iter_mut().for_each(|text| text.slot.index = 0),
            _ => {}
        }
        self.inner.stage(tenant, run, staged).await
    }

    async fn candidates(
        &self,
        view: &View,
        scope: &Scope,
        repository: RepositoryId,
        query: &GramQuery,
    ) -> Result<Vec<TextFile>, TextsError> {
        let query = if self.fault == Fault::FindsEverything { &GramQuery::All } else { query };
        let mut found = self.inner.candidates(&self.view(view), &self.scope(scope), repository, query).await?;
        match self.fault {
            Fault::Reverses => found.reverse(),
            Fault::Repeats => found.extend(found.first().cloned()),
            Fault::FindsTooLittle => drop(found.pop()),
            _ => {}
        }
        Ok(found)
    }
}
