//! The two sources of answers: an index that this process reads with selected parts of the ranking, or
//! another program.

use std::path::Path;

use crate::ask::{Index, Ranked};
use crate::compared::ComparedProgram;

/// An index that answers questions.
pub(crate) enum AnswerSource {
    /// An index that this build has created. Questions about this index are asked in this process.
    InProcess(Box<Index>),
    Program(ComparedProgram),
}

impl AnswerSource {
    /// The name of the repository that was indexed from the folder.
    pub(crate) fn name_of(&self, source: &Path) -> anyhow::Result<String> {
        match self {
            AnswerSource::InProcess(index) => index.name_of(source),
            AnswerSource::Program(compared) => compared.name_of(source),
        }
    }

    /// Asks one question. `within` restricts the search to one repository. Results from repositories other
    /// than `about` have no places, because such results cannot be correct.
    pub(crate) async fn ask(&self, text: &str, within: Option<&str>, about: &str) -> anyhow::Result<Ranked> {
        match self {
            AnswerSource::InProcess(index) => index.ask(text, within, about).await,
            AnswerSource::Program(compared) => compared.ask(text, within, about),
        }
    }
}
