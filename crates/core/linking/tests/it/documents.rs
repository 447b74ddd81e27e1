use cairn_domain::EdgeKind::{Contains, DependsOn, Describes, EntryPoint, Mentions};
use cairn_domain::{DocumentFacts, DocumentSection, LineSpan, Mention};

use crate::support::{Parsed, lines, link_parsed, parse};

fn mention(text: &str, line: u32) -> Mention {
    Mention { text: text.to_owned(), line }
}

/// A repository with a document whose structure is given.
fn with_document() -> Vec<Parsed> {
    let mut files = parse(&[
        ("AGENTS.md", "# Guide\n"),
        ("app/main.py", "def start_server():\n    pass\n\nclass Router:\n    def add_route(self):\n        pass\n"),
        ("tests/test_main.py", "def start_server():\n    pass\n"),
        ("pyproject.toml", "[project]\nname = \"app\"\ndependencies = [\"flask\"]\n"),
    ]);
    let section =
        |path: &str, start, end| DocumentSection { heading_path: path.to_owned(), span: LineSpan::new(start, end) };
    files[0].facts.document = Some(DocumentFacts {
        title: Some("Guide".to_owned()),
        description: None,
        sections: vec![section("Guide", 1, 9), section("Guide > Routing", 5, 9)],
        entry_points: vec![mention("app/main.py", 3)],
        mentions: vec![
            mention("start_server()", 2),
            mention("Router.add_route", 6),
            mention("./app/main.py", 7),
            mention("run", 8),
            mention("no_such_thing", 8),
        ],
    });
    files
}

#[test]
fn documents_name_files_and_symbols() {
    let found = lines(&link_parsed(&with_document()), &[Describes, Mentions, EntryPoint]);
    assert_eq!(
        found,
        [
            "AGENTS.md:1 - DESCRIBES fixture exact",
            "AGENTS.md:2 Guide MENTIONS app/main.py:start_server heuristic",
            "AGENTS.md:3 - ENTRY_POINT app/main.py exact",
            "AGENTS.md:6 Guide > Routing MENTIONS app/main.py:Router.add_route heuristic",
            "AGENTS.md:7 Guide > Routing MENTIONS app/main.py exact",
        ]
    );
}

#[test]
fn the_repository_holds_files_and_needs_packages() {
    let found = lines(&link_parsed(&with_document()), &[Contains, DependsOn]);
    assert_eq!(
        found,
        [
            ":0 - CONTAINS AGENTS.md exact",
            ":0 - CONTAINS app/main.py exact",
            ":0 - CONTAINS pypi:app exact",
            ":0 - CONTAINS pyproject.toml exact",
            ":0 - CONTAINS tests/test_main.py exact",
            ":0 - DEPENDS_ON pypi:flask exact",
            "AGENTS.md:1 - CONTAINS AGENTS.md:Guide exact",
            "AGENTS.md:5 - CONTAINS AGENTS.md:Guide > Routing exact",
        ]
    );
}

#[test]
fn a_mention_means_a_member_only_with_its_holder() {
    let tags =
        "class Tags:\n    def register(self):\n        pass\n\ndef serialize():\n    pass\n\n__version__ = '1'\n";
    let guide = "# Guide\n\nThe `register` view, `serialize`, `Tags.register`, `tags.serialize`, `json.serialize`, `__version__`.\n";
    let found = lines(&link_parsed(&parse(&[("app/tags.py", tags), ("guide.md", guide)])), &[Mentions]);
    assert_eq!(
        found,
        [
            "guide.md:3 Guide MENTIONS app/tags.py:Tags.register heuristic",
            "guide.md:3 Guide MENTIONS app/tags.py:serialize heuristic",
            "guide.md:3 Guide MENTIONS app/tags.py:serialize heuristic",
        ]
    );
}
