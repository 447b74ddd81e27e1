//! What happens to a file by its content.

use cairn_domain::{Reason, RepoPath};

use crate::{Rules, encoding, generated};

/// What becomes of generated and minified files.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum GeneratedPolicy {
    /// Recorded as `skipped(generated)`.
    #[default]
    Skip,
    /// Indexed, but ranked low.
    KeepLowWeight,
}

/// What the bytes of a file are.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ContentDecision {
    /// To be indexed. Line ends are those of the file; a byte-order mark is gone.
    Text { text: String, low_weight: bool },
    /// Not to be indexed: `Binary`, `NotUtf8` or `Generated`.
    Skip(Reason),
}

impl Rules {
    /// Takes the bytes, so that the common case (UTF-8) copies nothing.
    pub fn decide_content(&self, path: &RepoPath, bytes: Vec<u8>) -> ContentDecision {
        let text = match encoding::to_text(bytes) {
            Ok(text) => text,
            Err(reason) => return ContentDecision::Skip(reason),
        };
        let is_generated = self.is_marked_generated(path).unwrap_or_else(|| generated::is_generated(path, &text));
        match (is_generated, self.generated_policy()) {
            (true, GeneratedPolicy::Skip) => ContentDecision::Skip(Reason::Generated),
            (low_weight, _) => ContentDecision::Text { text, low_weight },
        }
    }
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
    fn what_the_owners_say_of_generated_files_counts_more_than_how_they_look() {
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
