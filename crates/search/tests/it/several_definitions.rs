//! Checks that the definitions of one name, and files with one path in several repositories, are
//! distinguished, and that answers state how many definitions or files are left out.

use cairn_domain::{EdgeKind, SymbolKind};
use cairn_search::{
    CodeRequest, GraphAnswer, GraphRequest, Relation, RepositorySelection, SearchRequest, Searcher, Target, TargetType,
};
use cairn_testkit::FakeContent;

use crate::searcher_over;
use crate::strategies::{ask, shown};

/// `number` files that each define `run`, and a function `main` that calls only the last of these
/// definitions.
fn many_runs(number: usize) -> FakeContent {
    let mut content = FakeContent::new("many", "c1");
    for number in 0..number {
        let path = format!("src/a{number:02}.py");
        content = content.file(&path, "python", &format!("def run():\n    return {number}\n"));
        content = content.symbol(&path, &format!("Owner{number}.run"), SymbolKind::Method, (1, 2));
    }
    content
        .file("src/main.py", "python", "def main():\n    run()\n")
        .symbol("src/main.py", "main", SymbolKind::Function, (1, 2))
        .edge("main", EdgeKind::Calls, &format!("Owner{}.run", number - 1), 2, 100)
}

async fn searcher(contents: Vec<FakeContent>) -> Searcher {
    searcher_over(contents).await.1
}

fn code() -> CodeRequest {
    CodeRequest { repository: None, path: None, symbol: None, context_path: None, lines: None, max_tokens: 1_000 }
}

async fn callers(searcher: &Searcher, name: &str) -> GraphAnswer {
    let request = GraphRequest {
        name: name.to_owned(),
        context_path: None,
        relation: Relation::Callers,
        repositories: RepositorySelection::default(),
        limit: 50,
    };
    searcher.relationship(&request).await.unwrap_or_else(|error| panic!("{name}: {error:?}"))
}

const CUT: &str = "Only 50 of 60 definitions of «run» are considered; `path#name` selects the definitions in one file.";

/// The only caller calls the definition whose path is the last in sorted order.
#[tokio::test]
async fn callers_of_all_definitions_are_found() {
    for number in [9, 21, 50] {
        let searcher = searcher(vec![many_runs(number)]).await;
        let last = number - 1;
        for question in ["what calls run()", "who calls run"] {
            let answer = searcher.search(&ask(question)).await.expect("an answer");
            let expect = format!("main via CALLS Owner{last}.run (src/a{last:02}.py) at line 2, 100 %");
            assert_eq!(shown(&answer)[0], expect, "{question} {number}");
            assert!(answer.notes.iter().all(|note| note.starts_with("The first result")), "{question} {number}");
        }
        let answer = callers(&searcher, "run").await;
        assert_eq!((answer.about.len(), answer.num_edges, answer.is_exact), (number, 1, true));
        assert_eq!(answer.notes, [""; 0], "{number}");
    }
}

#[tokio::test]
async fn number_of_definitions_that_are_left_out_is_stated() {
    let searcher = searcher(vec![many_runs(60)]).await;
    let answer = searcher.search(&ask("what calls run")).await.expect("an answer");
    let none = "The graph contains no callers of the considered code called `run`; the results are found by words.";
    assert_eq!(answer.notes, [CUT, none]);
    let target = Target { target_type: TargetType::Symbol, ..Target::default() };
    let symbols = SearchRequest { target, ..ask("run") };
    let answer = searcher.search(&symbols).await.expect("an answer");
    assert_eq!((answer.num_results, answer.notes.len()), (50, 1));
    assert_eq!(answer.notes, [CUT]);
}

/// Calls that read code or ask for relationships count the uses before definitions are left out.
#[tokio::test]
async fn definition_with_most_uses_is_not_left_out() {
    let searcher = searcher(vec![many_runs(60)]).await;
    let read = searcher.read_code(&CodeRequest { symbol: Some("run".to_owned()), ..code() }).await.expect("code");
    assert_eq!((read.path.as_str(), read.others.len()), ("src/a59.py", 49));
    assert_eq!(read.notes, [CUT]);
    let answer = callers(&searcher, "run").await;
    assert_eq!((answer.about[0].1.qualified_name.as_str(), answer.about.len()), ("Owner59.run", 50));
    assert_eq!((answer.num_edges, answer.is_exact), (1, false));
    assert_eq!(answer.notes, [CUT]);
    let one = callers(&searcher, "src/a07.py#run").await;
    assert_eq!((one.about.len(), one.is_exact, one.notes.len()), (1, true, 0));
}

#[tokio::test]
async fn number_of_files_that_are_left_out_is_stated() {
    let file = |content: FakeContent, number: usize| content.file(&format!("n{number:02}/conf.json"), "json", "{}\n");
    let searcher = searcher(vec![(0..25).fold(FakeContent::new("many", "c1"), file)]).await;
    let answer = searcher.search(&ask("what imports conf.json")).await.expect("an answer");
    let note = "Only 8 of 25 files called \"conf.json\" are used.";
    assert!(answer.notes.iter().any(|given| *given == note), "{:?}", answer.notes);
    let answer = callers(&searcher, "conf.json").await;
    assert_eq!((answer.about.len(), answer.is_exact), (20, false));
    assert_eq!(answer.notes, ["Only 20 of 25 files called \"conf.json\" are considered."]);
}

/// Two repositories with the same files.
fn shops() -> Vec<FakeContent> {
    let shop = |name: &str| {
        FakeContent::new(name, "c1")
            .file("README.md", "markdown", &format!("# {name}\n"))
            .file("conf/shop.json", "json", "{}\n")
            .file("src/main.py", "python", "def run():\n    pass\n")
            .symbol("src/main.py", "run", SymbolKind::Function, (1, 2))
    };
    vec![shop("a/shop"), shop("b/shop").file("src/only_b.py", "python", "pass\n"), FakeContent::new("c/other", "c1")]
}

#[tokio::test]
async fn other_repositories_with_the_same_path_are_named() {
    let searcher = searcher(shops()).await;
    let read = async |path: &str, context_path: Option<&str>, repository: Option<&str>| {
        let [context_path, repository] = [context_path, repository].map(|text| text.map(str::to_owned));
        let request = CodeRequest { path: Some(path.to_owned()), context_path, repository, ..code() };
        let read = searcher.read_code(&request).await.unwrap_or_else(|error| panic!("{path}: {error:?}"));
        (read.repository, read.also_in, read.notes)
    };
    let (repository, also_in, notes) = read("README.md", None, None).await;
    assert_eq!((repository.as_str(), also_in), ("a/shop", vec!["b/shop".to_owned()]));
    assert_eq!(notes, ["«README.md» is also a path in b/shop; `repository` selects one of them."]);
    // The path in the context selects the repository that contains this path.
    let (repository, also_in, _) = read("README.md", Some("src/only_b.py"), None).await;
    assert_eq!((repository.as_str(), also_in), ("b/shop", vec!["a/shop".to_owned()]));
    // The requested path is only the end of a path in the repositories.
    let (_, also_in, notes) = read("shop.json", None, None).await;
    assert_eq!((also_in.len(), notes.len()), (1, 1));
    for (path, repository) in [("README.md", Some("b/shop")), ("src/only_b.py", None)] {
        let (_, also_in, notes) = read(path, None, repository).await;
        assert_eq!((also_in.len(), notes.len()), (0, 0), "{path}");
    }
}

#[tokio::test]
async fn definitions_in_several_repositories_name_their_repository() {
    let searcher = searcher(shops()).await;
    let read = searcher.read_code(&CodeRequest { symbol: Some("run".to_owned()), ..code() }).await.expect("code");
    let [(other, symbol)] = read.others.as_slice() else { panic!("{read:?}") };
    assert_eq!(symbol.path.as_str(), "src/main.py");
    let mut both = [read.repository.as_str(), other.as_str()];
    both.sort_unstable();
    assert_eq!(both, ["a/shop", "b/shop"]);
}

/// If several repositories match a name, the error lists their full names.
#[tokio::test]
async fn ambiguous_repository_is_reported_with_its_matches() {
    let searcher = searcher(shops()).await;
    let request = CodeRequest { path: Some("README.md".to_owned()), repository: Some("shop".to_owned()), ..code() };
    let error = searcher.read_code(&request).await.expect_err("two repositories");
    assert_eq!(error.similar_repositories, ["a/shop", "b/shop"], "{error:?}");
    assert_eq!(error.fault.expect("a field").field, "repository");
    assert!(error.message.contains("matches 2 repositories"), "{}", error.message);
    assert!(searcher.why("a/shop", "README.md").await.is_ok());
}
