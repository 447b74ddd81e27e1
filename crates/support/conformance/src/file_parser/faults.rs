//! Faults that a test plants in parsers. Each wrapper adds exactly one fault.

use async_trait::async_trait;
use cairn_domain::{FileFacts, ParseStatus, SourceText};
use cairn_ports::{FileParser, FileParserError};

use crate::faulty::{Faulty, planted};
use crate::suite::PlantedFault;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fault {
    LosesFacts,
    ReversesOrder,
    GivesTheFirstForAll,
    LosesWindows,
    LosesTheLastSymbol,
    DependsOnTheBatch,
    GivesUpWithOne,
    ClaimsToHaveParsed,
}

const ALL: [(&str, Fault, &str); 8] = [
    ("loses the facts of the last text", Fault::LosesFacts, "facts_come_in_the_order_of_their_texts"),
    ("answers backwards", Fault::ReversesOrder, "facts_come_in_the_order_of_their_texts"),
    (
        "gives the facts of the first text for all texts",
        Fault::GivesTheFirstForAll,
        "facts_come_in_the_order_of_their_texts",
    ),
    ("loses windows of text", Fault::LosesWindows, "a_hostile_text_becomes_windows_and_hurts_no_other"),
    ("loses a symbol", Fault::LosesTheLastSymbol, "facts_come_in_the_order_of_their_texts"),
    ("depends on the batch", Fault::DependsOnTheBatch, "facts_contain_the_definitions_of_the_text"),
    ("fails for a batch with one text", Fault::GivesUpWithOne, "a_hostile_text_becomes_windows_and_hurts_no_other"),
    ("reports every text as parsed", Fault::ClaimsToHaveParsed, "a_hostile_text_becomes_windows_and_hurts_no_other"),
];

pub fn faults() -> Vec<PlantedFault<dyn FileParser>> {
    planted(ALL, |faulty| Box::new(faulty))
}

#[async_trait]
impl FileParser for Faulty<dyn FileParser, Fault> {
    async fn parse(&self, texts: Vec<SourceText>) -> Result<Vec<FileFacts>, FileParserError> {
        let mut all = self.inner.parse(texts).await?;
        let is_parsed = |facts: &FileFacts| facts.status == ParseStatus::Parsed;
        match self.fault {
            Fault::LosesFacts => drop(all.pop()),
            Fault::ReversesOrder => all.reverse(),
            Fault::GivesTheFirstForAll => {
                let first = all.first().cloned();
                all.iter_mut().zip(std::iter::repeat(first)).for_each(|(facts, first)| {
                    if let Some(first) = first {
                        *facts = first;
                    }
                });
            }
            Fault::LosesWindows => {
                all.iter_mut().filter(|facts| !is_parsed(facts)).for_each(|facts| facts.chunks.clear());
            }
            Fault::LosesTheLastSymbol => all.iter_mut().for_each(|facts| drop(facts.symbols.pop())),
            Fault::DependsOnTheBatch => {
                let size = all.len() as u32;
                all.iter_mut().for_each(|facts| facts.num_lines += size);
            }
            Fault::GivesUpWithOne if !all.iter().all(is_parsed) => {
                all.iter_mut().for_each(|facts| facts.status = ParseStatus::Crash);
            }
            Fault::GivesUpWithOne => {}
            Fault::ClaimsToHaveParsed => all.iter_mut().for_each(|facts| facts.status = ParseStatus::Parsed),
        }
        Ok(all)
    }
}
