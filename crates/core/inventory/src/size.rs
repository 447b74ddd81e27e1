//! The limit on the size of an indexed file.

/// A size limit in bytes. A limit never exceeds the hard cap.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FileSizeLimit(u64);

/// The error for a limit above the hard cap.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("max_file_size of {provided} bytes is above the maximum of {max_allowed} bytes (10 MiB)")]
pub struct InvalidFileSize {
    pub max_allowed: u64,
    pub provided: u64,
}

impl FileSizeLimit {
    /// The hard cap: 10 MiB. No setting can exceed this cap.
    pub const HARD_CAP_BYTES: u64 = 10 * 1024 * 1024;
    /// The default limit: 1 MiB.
    pub const DEFAULT_BYTES: u64 = 1024 * 1024;

    /// `provided` is in bytes. The value 0 selects the hard cap.
    pub fn new(provided: u64) -> Result<Self, InvalidFileSize> {
        match provided {
            0 => Ok(Self(Self::HARD_CAP_BYTES)),
            1..=Self::HARD_CAP_BYTES => Ok(Self(provided)),
            _ => Err(InvalidFileSize { max_allowed: Self::HARD_CAP_BYTES, provided }),
        }
    }

    /// The maximum size of a file that is read.
    pub fn bytes(self) -> u64 {
        self.0
    }
}

impl Default for FileSizeLimit {
    fn default() -> Self {
        Self(Self::DEFAULT_BYTES)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_bounded_by_the_hard_cap() {
        let check = |provided: u64, expect: Result<u64, u64>| {
            let limit = FileSizeLimit::new(provided);
            assert_eq!(limit.map(FileSizeLimit::bytes).map_err(|error| error.provided), expect, "{provided}");
        };
        check(0, Ok(10_485_760));
        check(1, Ok(1));
        check(1_048_576, Ok(1_048_576));
        check(10_485_760, Ok(10_485_760));
        check(10_485_761, Err(10_485_761));
        check(u64::MAX, Err(u64::MAX));
        assert_eq!(FileSizeLimit::default().bytes(), 1_048_576);
        assert_eq!(FileSizeLimit::new(20_000_000).unwrap_err().max_allowed, 10_485_760);
    }
}
