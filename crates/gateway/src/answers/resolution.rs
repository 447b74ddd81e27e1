//! Labels for answers about a name that differs from the requested name.

use cairn_search::{NameMatching, NameNote, Substitution};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Describes how the requested name was resolved to another name.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Resolution {
    /// The requested name.
    pub resolved_from: String,
    /// The name that was used.
    pub resolved_to: String,
    /// `case`, `style`, `fuzzy`, `changed` (in a file that changed after it was indexed) or `heuristic`.
    pub r#match: String,
    /// From 0 to 1.
    pub score: f64,
    pub reason: String,
    /// Other near names, nearest first.
    #[serde(default)]
    pub similar_symbols: Vec<String>,
}

/// A name in the question that is not exactly the name of a symbol.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct NameReport {
    pub name: String,
    #[serde(default)]
    pub is_file: bool,
    /// Null if the name is absent.
    pub resolution: Option<Resolution>,
    /// Near names, if the name is absent.
    pub similar: Vec<String>,
}

impl Resolution {
    pub fn of(substitution: &Substitution) -> Self {
        Self {
            resolved_from: substitution.requested.clone(),
            resolved_to: substitution.used.clone(),
            r#match: substitution.matching.as_str().to_owned(),
            score: f64::from(substitution.score) / 1_000.0,
            reason: substitution.reason.clone(),
            similar_symbols: substitution.similar.clone(),
        }
    }

    /// The report as one sentence for users. `clean` makes names safe for the output.
    pub fn sentence(&self, clean: impl Fn(&str) -> String) -> String {
        let Self { resolved_from, resolved_to, r#match: matched, score, reason, similar_symbols } = self;
        let (requested, used) = (clean(resolved_from), clean(resolved_to));
        if matched == NameMatching::Changed.as_str() {
            return format!("`{used}` is used for `{requested}` ({matched} {score:.2}: {reason})");
        }
        let similar: Vec<String> = similar_symbols.iter().map(|name| clean(name)).collect();
        let others =
            if similar.is_empty() { String::new() } else { format!("; other near names: {}", similar.join(", ")) };
        format!("no symbol is called exactly `{requested}`; `{used}` is used ({matched} {score:.2}: {reason}){others}")
    }
}

impl NameReport {
    pub fn of(note: &NameNote) -> Self {
        Self {
            name: note.requested.clone(),
            is_file: note.is_file,
            resolution: note.substitution.as_ref().map(Resolution::of),
            similar: note.similar.clone(),
        }
    }

    /// The report as one sentence for users. `clean` makes names safe for the output.
    pub fn sentence(&self, clean: impl Fn(&str) -> String) -> String {
        let (what, name) = (if self.is_file { "file" } else { "symbol" }, clean(&self.name));
        let similar: Vec<String> = self.similar.iter().map(|name| clean(name)).collect();
        match &self.resolution {
            Some(resolution) => resolution.sentence(clean),
            None if similar.is_empty() => format!("no {what} is called `{name}`"),
            None => format!("no {what} is called `{name}`; similar names: {}", similar.join(", ")),
        }
    }
}
