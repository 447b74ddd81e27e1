//! Labels for answers about a name that differs from the requested name.

use cairn_search::{MatchedName, NameMatching, NameNote, Substitution};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Describes how the requested name was resolved to another name.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Resolution {
    /// The requested name.
    pub resolved_from: String,
    /// The name that was used.
    pub resolved_to: String,
    /// `case`, `style`, `fuzzy`, `changed` (in a file that changed after it was indexed), `heuristic`, `file`
    /// (a file or directory with another path), `directory` or `module` (the files in it), or `package` (a
    /// package with a similar name).
    pub r#match: String,
    /// From 0 to 1.
    pub score: f64,
    pub reason: String,
    /// Other near names, nearest first.
    #[serde(default)]
    pub similar_symbols: Vec<String>,
    /// Other paths with the requested name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub similar_files: Vec<String>,
}

/// How the name of a result matches the requested name.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct NameMatchReport {
    /// The name of the definition.
    pub name: String,
    /// `exact`, or one of the values of `match` in a `Resolution`.
    pub r#match: String,
    /// From 0 to 1.
    pub score: f64,
    pub reason: String,
}

/// A name in the question that matches no symbol exactly.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct NameReport {
    pub name: String,
    #[serde(default)]
    pub is_file: bool,
    /// Null if no other name was used instead.
    pub resolution: Option<Resolution>,
    /// Near names, if no other name was used instead.
    pub similar: Vec<String>,
    /// The file of a definition that the index does not contain as a symbol.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
}

impl NameMatchReport {
    pub fn of(matched: &MatchedName) -> Self {
        Self {
            name: matched.name.clone(),
            r#match: matched.matching.as_str().to_owned(),
            score: f64::from(matched.score) / 1_000.0,
            reason: matched.reason.clone(),
        }
    }

    /// The name, the kind of match, the score and the reason as a short text. `clean` makes names safe for
    /// the output. `None` if the names are equal.
    pub fn text(&self, clean: impl Fn(&str) -> String) -> Option<String> {
        let Self { name, r#match: matched, score, reason } = self;
        let is_other = matched != NameMatching::Exact.as_str();
        is_other.then(|| format!("{}: {matched} {score:.2}, {reason}", clean(name)))
    }
}

impl Resolution {
    pub fn of(substitution: &Substitution) -> Self {
        let similar = substitution.similar.clone();
        let (similar_symbols, similar_files) =
            if substitution.matching == NameMatching::File { (Vec::new(), similar) } else { (similar, Vec::new()) };
        Self {
            resolved_from: substitution.requested.clone(),
            resolved_to: substitution.used.clone(),
            r#match: substitution.matching.as_str().to_owned(),
            score: f64::from(substitution.score) / 1_000.0,
            reason: substitution.reason.clone(),
            similar_symbols,
            similar_files,
        }
    }

    /// The report as one sentence for users. `clean` makes names safe for the output.
    pub fn sentence(&self, clean: impl Fn(&str) -> String) -> String {
        let Self { resolved_from, resolved_to, r#match: matched, score, reason, similar_symbols, similar_files } = self;
        let (requested, used) = (clean(resolved_from), clean(resolved_to));
        if matched == NameMatching::Changed.as_str() {
            return format!("`{used}` is used for `{requested}` ({matched} {score:.2}: {reason})");
        }
        if [NameMatching::Directory, NameMatching::Module].map(NameMatching::as_str).contains(&matched.as_str()) {
            return format!("`{requested}` is read as the {matched} `{used}`: {reason} are used");
        }
        if matched == NameMatching::Package.as_str() {
            return format!("`{requested}` is read as the package `{used}` ({score:.2}: {reason})");
        }
        let list = |title: &str, names: &[String]| {
            let names: Vec<String> = names.iter().map(|name| clean(name)).collect();
            if names.is_empty() { String::new() } else { format!("; {title}: {}", names.join(", ")) }
        };
        if matched == NameMatching::File.as_str() {
            let others = list("other files", similar_files);
            return format!("no file has the path `{requested}`; `{used}` is used ({score:.2}: {reason}){others}");
        }
        let others = list("other near names", similar_symbols);
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
            path: note.place.as_ref().map(|place| place.path.clone()),
            line: note.place.as_ref().map(|place| place.line),
        }
    }

    /// The report as one sentence for users. `clean` makes names safe for the output.
    pub fn sentence(&self, clean: impl Fn(&str) -> String) -> String {
        let (what, name) = (if self.is_file { "file" } else { "symbol" }, clean(&self.name));
        let similar: Vec<String> = self.similar.iter().map(|name| clean(name)).collect();
        match &self.resolution {
            Some(resolution) => {
                let place = self.path.as_ref().zip(self.line).map(|(path, line)| format!(" at {}:{line}", clean(path)));
                resolution.sentence(&clean) + &place.unwrap_or_default()
            }
            None if similar.is_empty() => format!("no {what} is called `{name}`"),
            None => format!("no {what} is called `{name}`; similar names: {}", similar.join(", ")),
        }
    }
}
