//! Errors as texts for users.

use std::error::Error;
use std::io;

/// The error number of Linux for a path that contains a symbolic link, if links must not be followed.
const LINK_NOT_FOLLOWED: i32 = 40;

/// An error with its causes, on one line. Each fact occurs once: a cause is left out if its text is already a
/// part of the line. Error numbers of the operating system, such as `(os error 13)`, are also left out.
pub fn plain(error: &(dyn Error + 'static)) -> String {
    let mut text = plain_link(error);
    let mut link = error.source();
    while let Some(cause) = link {
        let reason = plain_link(cause);
        if !reason.is_empty() && !text.to_lowercase().contains(&reason.to_lowercase()) {
            text.push_str(": ");
            text.push_str(&reason);
        }
        link = cause.source();
    }
    text
}

/// The last cause of an error. Libraries for network connections wrap this cause in errors that contain no
/// further facts for users.
pub fn plain_cause(error: &(dyn Error + 'static)) -> String {
    let mut last = error;
    while let Some(cause) = last.source() {
        last = cause;
    }
    plain_link(last)
}

/// An error of a file operation, without the error number of the operating system.
pub fn plain_io(error: &io::Error) -> String {
    match error.raw_os_error() {
        Some(LINK_NOT_FOLLOWED) => "the path leads through a symbolic link, which is not followed".to_owned(),
        Some(_) => {
            let text = without_os_codes(&error.to_string());
            let mut signs = text.chars();
            signs.next().into_iter().flat_map(char::to_lowercase).chain(signs).collect()
        }
        None => without_os_codes(&error.to_string()),
    }
}

fn plain_link(error: &(dyn Error + 'static)) -> String {
    match error.downcast_ref::<io::Error>() {
        // An `io::Error` that wraps another error has the text of the wrapped error.
        Some(error) => plain_io(error),
        None => without_os_codes(&error.to_string()),
    }
}

fn without_os_codes(text: &str) -> String {
    let mut parts = text.split(" (os error ");
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        match part.split_once(')') {
            Some((code, rest)) if code.bytes().all(|byte| byte.is_ascii_digit()) => plain.push_str(rest),
            _ => {
                plain.push_str(" (os error ");
                plain.push_str(part);
            }
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BlobStoreError, ErrorKind};

    /// An error whose text contains its cause, like the errors of some drivers.
    #[derive(Debug)]
    struct Repeats(io::Error);

    impl std::fmt::Display for Repeats {
        fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            write!(formatter, "the driver failed: {}", self.0)
        }
    }

    impl Error for Repeats {
        fn source(&self) -> Option<&(dyn Error + 'static)> {
            Some(&self.0)
        }
    }

    #[test]
    fn each_cause_is_shown_once_and_without_numbers() {
        let refused = || io::Error::from_raw_os_error(111);
        let error = BlobStoreError::new(ErrorKind::Unavailable, "get", "packs/x").because(Repeats(refused()));
        assert_eq!(
            plain(&error).to_lowercase(),
            "blob store: get of `packs/x` failed: unavailable: the driver failed: connection refused"
        );
        assert_eq!(plain_cause(&error), "connection refused");
        assert_eq!(plain_io(&io::Error::from_raw_os_error(13)), "permission denied");
        assert!(plain_io(&io::Error::from_raw_os_error(40)).contains("symbolic link"));
        assert_eq!(plain(&io::Error::other("a (os error x) b (os error 3)")), "a (os error x) b");
    }
}
