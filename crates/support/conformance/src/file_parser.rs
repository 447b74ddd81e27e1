//! The conformance suite of the port `FileParser`.

mod faults;

use anyhow::{Result, ensure};
use cairn_domain::{BlobId, FactsKey, FileFacts, Key128, ParseStatus, SourceText};
use cairn_ports::FileParser;
use futures::future::join_all;

pub use faults::faults;

use crate::suite::{Check, checks, expect_eq};

pub fn checks() -> Vec<Check<dyn FileParser>> {
    checks![
        facts_come_in_the_order_of_their_texts,
        facts_contain_the_definitions_of_the_text,
        facts_depend_on_their_text_alone,
        a_hostile_text_becomes_windows_and_hurts_no_other,
        a_text_without_a_grammar_becomes_windows,
        calls_do_not_mix,
        no_texts_have_no_facts,
    ]
}

fn text(number: u8, language: Option<&str>, text: &str) -> SourceText {
    SourceText {
        facts_key: FactsKey(Key128([number; 16])),
        blob: BlobId([number; 20]),
        language: language.map(ToOwned::to_owned),
        text: text.to_owned(),
        secrets: Vec::new(),
    }
}

/// Returns one text for each number. Each text defines one function, whose name contains the number.
fn numbered(numbers: impl Iterator<Item = u8>) -> Vec<SourceText> {
    let numbered = |number: u8| match number % 3 {
        0 => text(number, Some("python"), &format!("def function_{number}():\n    return {number}\n")),
        1 => text(number, Some("rust"), &format!("pub fn function_{number}() -> u8 {{\n    {number}\n}}\n")),
        _ => text(number, Some("go"), &format!("package p\n\nfunc function_{number}() int {{ return {number} }}\n")),
    };
    numbers.map(numbered).collect()
}

fn names(facts: &FileFacts) -> Vec<&str> {
    facts.symbols.iter().map(|symbol| symbol.name.as_str()).collect()
}

/// A text with more open brackets than a parser can nest.
fn hostile(number: u8) -> SourceText {
    text(number, Some("python"), &"(".repeat(200_000))
}

async fn facts_come_in_the_order_of_their_texts(parser: &dyn FileParser) -> Result<()> {
    let texts = numbered(0..100);
    let facts = parser.parse(texts.clone()).await?;
    expect_eq!(facts.len(), texts.len());
    for (number, (text, facts)) in texts.iter().zip(&facts).enumerate() {
        expect_eq!(facts.facts_key, text.facts_key);
        expect_eq!(Some(&facts.language), text.language.as_ref());
        ensure!(names(facts).contains(&format!("function_{number}").as_str()), "{number}: {:?}", names(facts));
    }
    Ok(())
}

async fn facts_contain_the_definitions_of_the_text(parser: &dyn FileParser) -> Result<()> {
    let source = "import os\n\n\nclass Store:\n    \"\"\"Keeps things.\"\"\"\n\n    def put(self, key):\n        return os.path.join(key)\n";
    let facts = parser.parse(vec![text(1, Some("python"), source)]).await?;
    let facts = &facts[0];
    expect_eq!((facts.status, facts.num_lines), (ParseStatus::Parsed, 8));
    expect_eq!(names(facts), ["Store", "put"]);
    expect_eq!(facts.symbols[1].qualified_name, "Store.put");
    ensure!(facts.references.iter().any(|reference| reference.name == "join" && reference.line == 8));
    ensure!(facts.imports.iter().any(|import| import.module == "os"));
    ensure!(facts.chunks.iter().any(|chunk| chunk.span.contains(7)), "no chunk contains the method");
    Ok(())
}

async fn facts_depend_on_their_text_alone(parser: &dyn FileParser) -> Result<()> {
    let texts = numbered(0..12);
    let together = parser.parse(texts.clone()).await?;
    expect_eq!(parser.parse(texts.clone()).await?, together);
    for (text, expected) in texts.into_iter().zip(together) {
        expect_eq!(parser.parse(vec![text]).await?, [expected]);
    }
    Ok(())
}

async fn a_hostile_text_becomes_windows_and_hurts_no_other(parser: &dyn FileParser) -> Result<()> {
    let mut texts = numbered(0..6);
    let expected = parser.parse(texts.clone()).await?;
    texts.insert(3, hostile(200));
    let mut facts = parser.parse(texts).await?;
    expect_eq!(facts.len(), 7);
    let windows = facts.remove(3);
    expect_eq!(facts, expected);
    expect_eq!(windows.facts_key, FactsKey(Key128([200; 16])));
    ensure!(windows.status != ParseStatus::Parsed, "the hostile text was parsed");
    ensure!(windows.chunks.iter().any(|chunk| chunk.span.contains(1)), "no chunk contains line 1 of the hostile text");
    Ok(())
}

async fn a_text_without_a_grammar_becomes_windows(parser: &dyn FileParser) -> Result<()> {
    let prose = "Some words.\n\nAnd more of them.\n";
    let facts = parser.parse(vec![text(1, None, prose), text(2, Some("no such language"), prose)]).await?;
    for facts in &facts {
        expect_eq!(facts.num_lines, 3);
        ensure!(facts.symbols.is_empty() && !facts.chunks.is_empty(), "{facts:?}");
    }
    expect_eq!(facts[1].status, ParseStatus::NoParser);
    Ok(())
}

async fn calls_do_not_mix(parser: &dyn FileParser) -> Result<()> {
    let calls: Vec<Vec<SourceText>> = (0..8).map(|call| numbered(call * 20..call * 20 + 20)).collect();
    let answers = join_all(calls.iter().map(|texts| parser.parse(texts.clone()))).await;
    for (texts, facts) in calls.iter().zip(answers) {
        let keys: Vec<FactsKey> = facts?.iter().map(|facts| facts.facts_key).collect();
        expect_eq!(keys, texts.iter().map(|text| text.facts_key).collect::<Vec<_>>());
    }
    Ok(())
}

async fn no_texts_have_no_facts(parser: &dyn FileParser) -> Result<()> {
    expect_eq!(parser.parse(Vec::new()).await?, []);
    Ok(())
}
