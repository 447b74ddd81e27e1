//! Classifies git's error output. A part of the output comes from the remote.

use cairn_ports::ErrorKind;
use cairn_redaction::quoted;

/// Phrases in the error output of git, curl and ssh, each with its meaning. The first phrase in this list
/// that the output contains determines the kind of the error.
const MEANINGS: &[(&str, ErrorKind)] = &[
    ("returned error: 30", ErrorKind::Invalid),
    ("fsck", ErrorKind::Corrupt),
    ("index-pack failed", ErrorKind::Corrupt),
    ("error in object", ErrorKind::Corrupt),
    ("could not resolve host", ErrorKind::Unavailable),
    ("connection refused", ErrorKind::Unavailable),
    ("failed to connect", ErrorKind::Unavailable),
    ("returned error: 50", ErrorKind::Unavailable),
    ("returned error: 429", ErrorKind::Throttled { retry_after: None }),
    ("host key verification failed", ErrorKind::Forbidden),
    ("permission denied", ErrorKind::Forbidden),
    ("authentication failed", ErrorKind::Forbidden),
    ("could not read username", ErrorKind::Forbidden),
    ("returned error: 401", ErrorKind::Forbidden),
    ("returned error: 403", ErrorKind::Forbidden),
    ("dubious ownership", ErrorKind::Forbidden),
    ("returned error: 404", ErrorKind::NotFound),
    ("not found", ErrorKind::NotFound),
    ("does not appear to be a git repository", ErrorKind::NotFound),
    ("couldn't find remote ref", ErrorKind::NotFound),
    ("no space left", ErrorKind::Io),
];

/// The beginning of a line with the error that the remote sends instead of an answer.
const REMOTE_ERROR: &str = "fatal: remote error:";

/// The lines of git's error output that do not contain text from the remote. Git writes `remote:` before each
/// line of such text, even if the line follows a carriage return.
pub(super) fn own_lines(stderr: &str) -> impl Iterator<Item = &str> {
    let lines = stderr.split(['\n', '\r']);
    lines.filter(|line| !line.starts_with("remote:") && !line.starts_with(REMOTE_ERROR))
}

/// Returns the kind of a failure, and the most useful line of the output.
///
/// Lines that begin with `remote:` do not decide the kind, because the remote wrote their text. An error line
/// of the remote can show that the remote refuses the request, but not that this machine or the received data
/// is faulty.
pub(super) fn explain(stderr: &str, url: &str) -> (ErrorKind, String) {
    // The URL is replaced first, because the name of a repository may contain one of the phrases.
    let plain = |text: String| text.to_ascii_lowercase().replace(&url.to_ascii_lowercase(), "URL");
    let lower = plain(own_lines(stderr).collect::<Vec<_>>().join("\n"));
    let remote: Vec<&str> = stderr.lines().filter(|line| line.starts_with(REMOTE_ERROR)).collect();
    let remote = plain(remote.join("\n"));
    let is_of_remote = |kind: &ErrorKind| !matches!(kind, ErrorKind::Corrupt | ErrorKind::Io);
    let own = MEANINGS.iter().find(|(phrase, _)| lower.contains(phrase));
    let found = own.or_else(|| MEANINGS.iter().find(|(phrase, kind)| is_of_remote(kind) && remote.contains(phrase)));
    let kind = found.map_or(ErrorKind::ConnectionLost, |(_, kind)| *kind);
    let is_error = |line: &&str| line.starts_with("fatal:") || line.starts_with("error:");
    let line =
        stderr.lines().find(is_error).or_else(|| stderr.lines().last()).unwrap_or("git failed without a message");
    let is_redirect = lower.contains("returned error: 30");
    let hint = if is_redirect { " (redirects are not followed: configure the final URL)" } else { "" };
    (kind, format!("git reports {}{hint}", quoted(line)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_is_classified_and_made_printable() {
        let check = |stderr: &str, kind: ErrorKind, message: &str| {
            assert_eq!(explain(stderr, "https://x/fsck-503"), (kind, format!("git reports «{message}»")), "{stderr}");
        };
        check(
            "fatal: repository 'https://x/fsck-503/' not found\n",
            ErrorKind::NotFound,
            "fatal: repository 'https://x/fsck-503/' not found",
        );
        let busy = "fatal: unable to access 'https://x/fsck-503/': The requested URL returned error: 503";
        check(busy, ErrorKind::Unavailable, busy);
        let throttled = busy.replace("error: 503", "error: 429");
        check(&throttled, ErrorKind::Throttled { retry_after: None }, &throttled);
        check(
            "fatal: repository 'https://x/y/' not found\n",
            ErrorKind::NotFound,
            "fatal: repository 'https://x/y/' not found",
        );
        check(
            "remote: \u{1b}[31mboo\nfatal: Authentication failed for 'x'\n",
            ErrorKind::Forbidden,
            "fatal: Authentication failed for 'x'",
        );
        check("\u{1b}]0;title\u{7}\n", ErrorKind::ConnectionLost, r"\u{1b}]0;title\u{7}");
        check("error: object 12: fsck error\n", ErrorKind::Corrupt, "error: object 12: fsck error");
        check("", ErrorKind::ConnectionLost, "git failed without a message");
        let hung_up = "fatal: the remote end hung up unexpectedly";
        for note in ["fsck", "Repository not found", "no space left on device", "permission denied"] {
            check(&format!("remote: fatal: {note}\n{hung_up}\n"), ErrorKind::ConnectionLost, hung_up);
        }
        let refused = "fatal: remote error: Repository not found.";
        check(refused, ErrorKind::NotFound, refused);
        let its_own = "fatal: remote error: fsck: no space left on device";
        check(its_own, ErrorKind::ConnectionLost, its_own);
    }

    #[test]
    fn foreign_text_is_redacted_and_bounded() {
        let secret = ["gh", "p_", "k3J9xQ7wZ2pLm8Nc5Vb1TgR4yH6uE0aSdF2g"].concat();
        let (_, message) = explain(&format!("fatal: {secret} {}\n", "obey ".repeat(500)), "https://x/y");
        assert!(!message.contains(&secret) && message.chars().count() < 330, "{message}");
    }
}
