//! The declarations of a manifest, and the normalised names of Python packages.

/// The declarations of a manifest, before the path of the manifest is known.
#[derive(Default)]
pub(super) struct Declared {
    pub(super) name: Option<String>,
    pub(super) dependencies: Vec<String>,
    pub(super) entries: Vec<String>,
}

/// The normalised package name in a requirement such as `requests[socks]>=2; python_version > "3"`.
pub(super) fn requirement_name(requirement: &str) -> Option<String> {
    let end = requirement.find(|byte: char| !(byte.is_ascii_alphanumeric() || matches!(byte, '-' | '_' | '.')));
    let name = requirement[..end.unwrap_or(requirement.len())].trim_end_matches('.');
    (!name.is_empty()).then(|| normal_python_name(name))
}

/// Normalises the name of a Python package: the case of letters is ignored, and `-`, `_` and `.` are
/// equivalent.
pub(crate) fn normal_python_name(name: &str) -> String {
    name.chars()
        .map(|character| if matches!(character, '_' | '.') { '-' } else { character.to_ascii_lowercase() })
        .collect()
}
