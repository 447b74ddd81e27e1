//! The settings of the ranking that are compared.

use cairn_ranking::{Signal, Signals};

/// A setting, with its name in tables.
#[derive(Clone, Debug)]
pub(crate) struct Setting {
    pub(crate) name: String,
    pub(crate) signals: Signals,
}

impl Setting {
    /// The shipped ranking.
    pub(crate) fn shipped() -> Self {
        Self { name: "all signals".to_owned(), signals: Signals::default() }
    }

    /// The settings that are compared with the shipped ranking. If `single_lists` or `ablations` is set: the
    /// ranking with only one list (terms or vectors). If `ablations` is set: also the ranking with one part
    /// switched off at a time.
    pub(crate) fn others(single_lists: bool, ablations: bool) -> Vec<Self> {
        let only = |name: &str, signals: &[Signal]| Self { name: name.to_owned(), signals: Signals::only(signals) };
        let mut all = Vec::new();
        if single_lists || ablations {
            all.push(only("BM25 alone", &[Signal::Terms, Signal::Scores, Signal::ScopeFrequencies]));
            all.push(only("vectors alone", &[Signal::Vectors, Signal::Scores]));
        }
        if ablations {
            let without = |signal: Signal| Self {
                name: format!("without {}", signal.as_str()),
                signals: Signals::default().without(signal),
            };
            all.push(only("BM25 alone, shipped frequencies", &[Signal::Terms, Signal::Scores]));
            all.extend(Signal::ALL.into_iter().map(without));
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_signal_is_switched_off_once() {
        assert!(Setting::others(false, false).is_empty());
        let lists: Vec<String> = Setting::others(true, false).into_iter().map(|setting| setting.name).collect();
        assert_eq!(lists, ["BM25 alone", "vectors alone"]);
        for signal in Signal::ALL {
            let all = Setting::others(false, true);
            let without = all.iter().filter(|setting| setting.signals == Signals::default().without(signal));
            assert_eq!(without.count(), 1, "{}", signal.as_str());
        }
    }
}
