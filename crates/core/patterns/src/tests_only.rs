//! Decides whether a pattern is test code.

use cairn_domain::{PatternMember, PatternRecord};
use cairn_languages::is_test_path;

use crate::shape::TESTS;

/// Whether all members of the pattern are tests. A member is a test if its path marks test code, or if its
/// methods are only tests and fixtures.
pub fn is_of_tests(pattern: &PatternRecord) -> bool {
    let is_test =
        |member: &PatternMember| is_test_path(&pattern.language, &member.path) || has_method(pattern, member, TESTS);
    pattern.members.iter().all(is_test)
}

fn has_method(pattern: &PatternRecord, member: &PatternMember, method: &str) -> bool {
    let is_in = |methods: &[String]| methods.iter().any(|known| known == method);
    is_in(&member.extra_methods) || is_in(&pattern.shared_methods) && !is_in(&member.missing_methods)
}
