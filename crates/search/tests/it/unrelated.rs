//! Checks which repositories have results if a question covers all repositories, and which reasons the answer
//! gives.

use cairn_search::{RepositorySelection, SearchAnswer, SearchRequest, Searcher};
use cairn_testkit::FakeContent;

use super::{request, searcher_over};

const QUESTION: &str = "how are expired webhook signatures rejected";

/// A repository about webhooks that contains most words of the question, and other repositories that contain
/// only its common words.
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
