//! Decisions about a file by its content.

use cairn_domain::{Reason, RepoPath};

use crate::{GeneratedPolicy, Rules, encoding, generated};

/// The kind of a file's bytes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ContentDecision {
    /// To be indexed. The text has the line ends of the file and no byte-order mark.
    Text { text: String, low_weight: bool },
    /// Not to be indexed: `Binary`, `NotUtf8` or `Generated`.
    Skip(Reason),
}

impl Rules {
    /// Takes the bytes so that the common case (UTF-8) copies nothing.
    pub fn decide_content(&self, path: &RepoPath, bytes: Vec<u8>) -> ContentDecision {
        let text = match text_of(bytes) {
            Ok(text) => text,
            Err(reason) => return ContentDecision::Skip(reason),
        };
        match self.decide_text(path, &text) {
            Ok(low_weight) => ContentDecision::Text { text, low_weight },
            Err(reason) => ContentDecision::Skip(reason),
        }
    }

    /// Decides about a text at a path: whether it has low weight, or why it is skipped.
    pub fn decide_text(&self, path: &RepoPath, text: &str) -> Result<bool, Reason> {
        let is_generated = self.is_marked_generated(path).unwrap_or_else(|| generated::is_generated(path, text));
        match (is_generated, self.generated_policy()) {
            (true, GeneratedPolicy::Skip) => Err(Reason::Generated),
            (low_weight, _) => Ok(low_weight),
        }
    }

    /// The part of a path that `decide_text` depends on: paths of one class have the same decision about one
    /// text.
    pub fn text_class(&self, path: &RepoPath) -> TextClass {
        TextClass { marked: self.is_marked_generated(path), kind: generated::kind_of(path) }
    }
}

/// See `Rules::text_class`.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct TextClass {
    marked: Option<bool>,
    kind: generated::Kind,
}

/// The text of a file, converted from its encoding and without a byte-order mark, or why it has none:
/// `Binary` or `NotUtf8`.
pub fn text_of(bytes: Vec<u8>) -> Result<String, Reason> {
    encoding::to_text(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{RuleFile, RuleSettings};

    fn check(policy: GeneratedPolicy, path: &str, bytes: &[u8], expect: &ContentDecision) {
        let settings = RuleSettings { generated: policy, ..RuleSettings::default() };
        let rules = Rules::compile(&settings, |_: &RepoPath| false).expect("valid");
        let path = RepoPath::parse(path).expect("path");
        assert_eq!(rules.decide_content(&path, bytes.to_vec()), *expect);
    }

    #[test]
    fn content_decides_by_policy() {
        let text = |text: &str, low_weight| ContentDecision::Text { text: text.to_owned(), low_weight };
        let marked = b"# @generated\nx = 1\n";
        check(GeneratedPolicy::Skip, "a.py", b"x = 1\n", &text("x = 1\n", false));
        check(GeneratedPolicy::Skip, "a.py", marked, &ContentDecision::Skip(Reason::Generated));
        check(GeneratedPolicy::KeepLowWeight, "a.py", marked, &text("# @generated\nx = 1\n", true));
        check(GeneratedPolicy::KeepLowWeight, "a.py", b"x\0", &ContentDecision::Skip(Reason::Binary));
        check(GeneratedPolicy::Skip, "photo.txt", b"\x89PNG\r\n", &ContentDecision::Skip(Reason::Binary));
        check(GeneratedPolicy::Skip, "archive.zip", b"plain text\n", &text("plain text\n", false));
    }

    #[test]
    fn marks_of_the_owners_override_the_content() {
        let text = "*.pb.go linguist-generated\nmarkers.py -linguist-generated\n".to_owned();
        let attribute_files = vec![RuleFile { path: RepoPath::parse(".gitattributes").expect("path"), text }];
        let settings = RuleSettings { attribute_files, ..RuleSettings::default() };
        let rules = Rules::compile(&settings, |_| false).expect("valid");
        let decide = |path: &str, text: &str| {
            rules.decide_content(&RepoPath::parse(path).expect("path"), text.as_bytes().to_vec())
        };
        assert_eq!(decide("a/x.pb.go", "package pb\n"), ContentDecision::Skip(Reason::Generated));
        let by_hand = ContentDecision::Text { text: "# @generated\n".to_owned(), low_weight: false };
        assert_eq!(decide("markers.py", "# @generated\n"), by_hand);
        assert_eq!(decide("other.py", "# @generated\n"), ContentDecision::Skip(Reason::Generated));
    }
}
