//! Checks which repositories have results if a question covers all repositories, and which reasons the answer
//! gives.

use std::collections::BTreeSet;

use cairn_domain::SymbolKind;
use cairn_search::{RepositorySelection, SearchAnswer, SearchRequest, Searcher};
use cairn_testkit::FakeContent;

use super::{request, searcher_over};

const QUESTION: &str = "how are expired webhook signatures rejected";

/// A repository about webhooks that contains most words of the question, and other repositories that contain
/// only the common words of the question.
fn contents() -> Vec<FakeContent> {
    let webhooks = "fn check() {\n    // Webhook signatures that are expired are rejected.\n    reject();\n}\n";
    let related = "fn verify() {\n    // Rejected: the webhook has no signatures.\n    fail();\n}\n";
    let file = |name: &str, text: &str| FakeContent::new(name, "c").file("src/a.rs", "rust", text);
    let mut contents = vec![file("webhooks", webhooks), file("related", related)];
    for number in 0..20 {
        let text = format!("fn row{number}() {{\n    // Rows of table {number} that are expired.\n    next();\n}}\n");
        contents.push(file(&format!("tables-{number}"), &text));
    }
    contents
}

async fn ask(searcher: &Searcher, question: &str, repositories: &[&str]) -> SearchAnswer {
    let words = repositories.iter().map(|word| (*word).to_owned()).collect();
    let request = SearchRequest {
        repositories: RepositorySelection(words),
        limit: Some(50),
        ..request(question, &[], Default::default())
    };
    searcher.search(&request).await.expect("an answer")
}

fn repositories(answer: &SearchAnswer) -> Vec<&str> {
    let mut names: Vec<&str> = answer.found.iter().map(|found| found.repository.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    names
}

#[tokio::test]
async fn repositories_without_words_of_the_question_are_omitted() {
    let (_, searcher) = searcher_over(contents()).await;
    let answer = ask(&searcher, QUESTION, &[]).await;
    assert_eq!(repositories(&answer), ["related", "webhooks"]);
    assert_eq!(answer.found[0].repository, "webhooks");
    assert!(answer.notes.iter().any(|note| note.contains("are left out: tables-")), "{:?}", answer.notes);
    let reasons: Vec<(&str, Option<&str>)> =
        answer.stamps.iter().map(|stamp| (stamp.repository.as_str(), stamp.reason.as_deref())).collect();
    assert_eq!(
        reasons,
        [
            ("related", Some("it contains 3 of 4 words of the question: `webhook`, `signatures`, `rejected`")),
            (
                "webhooks",
                Some("it contains 4 of 4 words of the question: `expired`, `webhook`, `signatures`, `rejected`")
            ),
        ]
    );
}

/// A caller who names repositories gets hits from all these repositories.
#[tokio::test]
async fn selected_repositories_are_not_left_out() {
    let (_, searcher) = searcher_over(contents()).await;
    let answer = ask(&searcher, QUESTION, &["webhooks", "tables-1"]).await;
    assert_eq!(repositories(&answer), ["tables-1", "webhooks"]);
    assert!(!answer.notes.iter().any(|note| note.contains("left out")), "{:?}", answer.notes);
    let answer = ask(&searcher, QUESTION, &["tables-1"]).await;
    assert!(answer.stamps.iter().all(|stamp| stamp.reason.is_none()), "{:?}", answer.stamps);
}

#[tokio::test]
async fn repository_that_the_question_names_is_not_left_out() {
    let (_, searcher) = searcher_over(contents()).await;
    let answer = ask(&searcher, "how does tables-7 reject expired webhook signatures", &[]).await;
    assert!(repositories(&answer).contains(&"tables-7"), "{:?}", repositories(&answer));
    let named = answer.stamps.iter().find(|stamp| stamp.repository == "tables-7");
    assert_eq!(named.and_then(|stamp| stamp.reason.as_deref()), Some("the question names the repository"));
}

/// Common words occur everywhere, so no repository is left out.
#[tokio::test]
async fn question_about_all_repositories_has_results_in_all() {
    let (_, searcher) = searcher_over(contents()).await;
    let answer = ask(&searcher, "expired rows of a table", &[]).await;
    let num_tables = repositories(&answer).iter().filter(|name| name.starts_with("tables-")).count();
    assert_eq!(num_tables, 20);
}

/// An abbreviation counts as the same word, so a repository that abbreviates the words of the question is
/// related.
#[tokio::test]
async fn repository_with_abbreviations_is_not_left_out() {
    let file = |name: &str, text: &str| FakeContent::new(name, "c").file("src/a.rs", "rust", text);
    let mut contents = vec![
        file("long", "// The authentication middleware checks the database.\nfn check() {}\n"),
        file("short", "fn auth_middleware() {\n    db.check()\n}\n"),
    ];
    contents.extend((0..20).map(|number| file(&format!("other-{number}"), "fn check() {\n    next();\n}\n")));
    let (_, searcher) = searcher_over(contents).await;
    let answer = ask(&searcher, "authentication middleware of the database", &[]).await;
    let reason = answer.stamps.iter().find(|stamp| stamp.repository == "short").and_then(|stamp| stamp.reason.clone());
    let words = "`authentication`, `middleware`, `database`";
    assert_eq!(reason, Some(format!("it contains 3 of 3 words of the question: {words}")), "{:?}", answer.notes);
}

/// The reason of a repository does not depend on the page.
#[tokio::test]
async fn reason_is_the_same_on_each_page() {
    let text: String = (0..6).map(|number| format!("fn step_{number}() {{\n    webhook(signatures);\n}}\n")).collect();
    let mut content = FakeContent::new("steps", "c").file("src/steps.rs", "rust", &text);
    for number in 0..6u32 {
        let lines = (3 * number + 1, 3 * number + 3);
        content = content.symbol("src/steps.rs", &format!("step_{number}"), SymbolKind::Function, lines);
    }
    let mut contents = contents();
    contents.push(content);
    let (_, searcher) = searcher_over(contents).await;
    let mut asked = SearchRequest {
        limit: Some(2),
        max_tokens: 20_000,
        ..request("where does step_3 check webhook signatures", &[], Default::default())
    };
    let mut reasons = BTreeSet::new();
    let mut num_pages = 0;
    loop {
        let page = searcher.search(&asked).await.expect("a page");
        let stamp = page.stamps.iter().find(|stamp| stamp.repository == "steps");
        num_pages += usize::from(stamp.is_some());
        reasons.extend(stamp.map(|stamp| stamp.reason.clone()));
        let Some(cursor) = page.next_cursor else { break };
        asked.cursor = Some(cursor);
    }
    assert!(num_pages > 1, "{reasons:?}");
    assert_eq!(reasons.len(), 1, "{reasons:?}");
}

/// A refused question has no results, so no repository is left out.
#[tokio::test]
async fn refused_question_leaves_out_no_repository() {
    let (_, searcher) = searcher_over(contents()).await;
    let answer = ask(&searcher, "where are expired Kafka sourdough signatures flurbished by a qwonkle", &[]).await;
    assert!(!answer.relevance.is_relevant, "{:?}", answer.relevance);
    assert!(!answer.notes.iter().any(|note| note.contains("left out")), "{:?}", answer.notes);
}

/// The version depends on the state of the repositories, but not on the order in which a caller names them.
#[tokio::test]
async fn index_version_does_not_depend_on_the_order() {
    let (_, searcher) = searcher_over(contents()).await;
    let version = async |names: &[&str]| ask(&searcher, QUESTION, names).await.index_version;
    assert_eq!(version(&["related", "webhooks"]).await, version(&["webhooks", "related"]).await);
    assert_ne!(version(&["related", "webhooks"]).await, version(&["related"]).await);
}
