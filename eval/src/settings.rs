//! The settings of the ranking that are compared.

use cairn_ranking::{Signal, Signals};

/// A setting, with its name in tables.
#[derive(Clone, Debug)]
pub(crate) struct Setting {
    pub(crate) name: String,
    pub(crate) signals: Signals,
}

impl Setting {
    /// The shipped ranking. If `ablations` is set, also the ranking without each of its parts, and single
    /// lists.
    pub(crate) fn all(ablations: bool) -> Vec<Self> {
        let shipped = Self { name: "all signals".to_owned(), signals: Signals::default() };
        if !ablations {
            return vec![shipped];
        }
        let without = |signal: Signal| Self {
            name: format!("without {}", signal.as_str()),
            signals: Signals::default().without(signal),
        };
        let only = |name: &str, signals: &[Signal]| Self { name: name.to_owned(), signals: Signals::only(signals) };
        let mut all = vec![shipped];
        all.extend(Signal::ALL.into_iter().map(without));
        all.push(only("BM25 alone", &[Signal::Terms, Signal::Scores, Signal::ScopeFrequencies]));
        all.push(only("BM25 alone, shipped frequencies", &[Signal::Terms, Signal::Scores]));
        all.push(only("vectors alone", &[Signal::Vectors, Signal::Scores]));
        all
    }
}
