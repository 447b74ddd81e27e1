//! The errors of settings whose rules cannot be compiled.

use std::fmt;

use cairn_redaction::{Message, Own};

use crate::{InvalidFileSize, InvalidPattern};

/// A message shows at most this many errors, followed by the number of omitted errors. A repository can
/// contain any number of errors.
const MAX_SHOWN_FAULTS: usize = 5;
/// A message contains at most this many characters of the patterns, and at most this many of one pattern.
const MAX_UNTRUSTED_CHARS: usize = 300;
const MAX_QUOTED_CHARS: usize = 80;

/// Settings that cannot be compiled, with all their errors. These errors are reported before any file is
/// read.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct InvalidRules {
    pub patterns: Vec<InvalidPattern>,
    pub file_size: Option<InvalidFileSize>,
}

impl std::error::Error for InvalidRules {}

impl fmt::Display for InvalidRules {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut faults: Vec<String> = self.file_size.iter().map(ToString::to_string).collect();
        let (mut num_shown, mut num_chars) = (0, 0);
        for fault in self.patterns.iter().take(MAX_SHOWN_FAULTS) {
            let pattern = fault.pattern.clone().shortened(MAX_QUOTED_CHARS);
            let fault = InvalidPattern { pattern, ..fault.clone() };
            num_chars += fault.num_untrusted_chars();
            if num_shown > 0 && num_chars > MAX_UNTRUSTED_CHARS {
                break;
            }
            faults.push(fault.to_string());
            num_shown += 1;
        }
        formatter.write_str(&faults.join("; "))?;
        match self.patterns.len() - num_shown {
            0 => Ok(()),
            num_others => write!(formatter, "; and {num_others} more"),
        }
    }
}

impl From<InvalidRules> for Message {
    fn from(error: InvalidRules) -> Self {
        Own(error.to_string()).into()
    }
}

#[cfg(test)]
mod tests {
    use cairn_domain::RepoPath;
    use cairn_redaction::{MessagePart, message_parts};

    use super::*;
    use crate::{RuleSettings, Rules};

    #[test]
    fn message_of_many_faults_is_bounded() {
        let settings = RuleSettings { exclude: vec!["[".to_owned(); 900], ..RuleSettings::default() };
        let error = Rules::compile(&settings, |_: &RepoPath| false).err().expect("refused");
        assert_eq!(error.patterns.len(), 900);
        let message = error.to_string();
        assert!(message.len() < 500 && message.ends_with("; and 895 more"), "{message}");
    }

    #[test]
    fn message_of_long_patterns_is_bounded() {
        let patterns: Vec<String> = (0..9).map(|number| format!("[IGNORE{number} {}", "x".repeat(900))).collect();
        let settings = RuleSettings { exclude: patterns, ..RuleSettings::default() };
        let message = Rules::compile(&settings, |_: &RepoPath| false).err().expect("refused").to_string();
        let untrusted = message_parts(&message).filter_map(|part| match part {
            MessagePart::Untrusted(text) => Some(text.chars().count()),
            MessagePart::Own(_) => None,
        });
        let num_chars: usize = untrusted.sum();
        assert!((80..=MAX_UNTRUSTED_CHARS).contains(&num_chars), "{num_chars} characters: {message}");
        assert!(message.ends_with("more"), "{message}");
    }
}
