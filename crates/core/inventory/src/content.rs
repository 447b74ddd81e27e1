//! Decides by the content of a file whether the file is indexed.

use cairn_domain::{Reason, RepoPath};

use crate::{GeneratedPolicy, Rules, encoding, generated};

/// The decision about the bytes of a file.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ContentDecision {
    /// The file is indexed. The text keeps the line ends of the file, but not its byte-order mark.
    Text { text: String, low_weight: bool },
    /// The file is skipped as `Binary`, `NotUtf8` or `Generated`.
    Skip(Reason),
}

impl Rules {
    /// Decides about the bytes of a file. Takes ownership of the bytes, so that the bytes of a UTF-8 file,
    /// which is the common case, are not copied.
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

    /// Decides about the text of the file at `path`. Returns whether the text has low weight, or the reason
    /// to skip it.
    pub fn decide_text(&self, path: &RepoPath, text: &str) -> Result<bool, Reason> {
        let is_generated = self.is_marked_generated(path).unwrap_or_else(|| generated::is_generated(path, text));
        match (is_generated, self.generated_policy()) {
            (true, GeneratedPolicy::Skip) => Err(Reason::Generated),
            (low_weight, _) => Ok(low_weight),
        }
    }

    /// The properties of a path that `decide_text` depends on. Paths with equal properties form a class. For
    /// the same text, all paths of a class get the same decision.
    pub fn text_class(&self, path: &RepoPath) -> TextClass {
        TextClass { marked: self.is_marked_generated(path), kind: generated::kind_of(path) }
    }
}

/// The class of a path. See `Rules::text_class`.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct TextClass {
    marked: Option<bool>,
    kind: generated::Kind,
}

/// Converts the content of a file to UTF-8 without a byte-order mark. The error is the reason to skip the
/// file: `Binary` or `NotUtf8`.
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
