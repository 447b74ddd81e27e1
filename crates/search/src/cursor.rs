//! Cursors. A cursor refers to the start of the next page of an answer, in the view of the first page.
//!
//! A cursor contains the digest of its question, the number of the publication whose view is read, and the
//! position of the next result. A cursor also contains the resolved value of `since`, and the time at which
//! the cursor was issued. A cursor expires because views are available only for a limited time. A cursor is
//! encrypted, because the publication number counts the publications of all tenants and would reveal the
//! activity of other tenants. The length of a cursor is constant. The nonce is the authentication tag over
//! the contents and the caller (SIV). Therefore a cursor needs no random numbers, every change of a cursor is
//! detected, and only the caller who received the cursor can use it.

use cairn_domain::{Digest, PublishedSeq};

use crate::caller::Caller;
use crate::{QueryError, QueryErrorCode};

/// Lifetime of a cursor. The sweep keeps the data of a view for longer than this lifetime.
const LIFE_MS: i64 = 10 * 60 * 1000;
const TAG_BYTES: usize = 16;
const QUESTION_BYTES: usize = 16;
const BODY_BYTES: usize = QUESTION_BYTES + 4 * 8;
const REPEAT: &str = "repeat the search without `cursor` to start from the first page";

/// The key that encrypts and authenticates cursors. All replicas that serve the same callers share this key.
#[derive(Clone, Copy)]
pub struct CursorKey(pub [u8; 32]);

impl std::fmt::Debug for CursorKey {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("CursorKey(…)")
    }
}

impl CursorKey {
    /// Derives a key for one purpose. The derived key does not reveal the keys for other purposes.
    pub(crate) fn derive(self, purpose: &str) -> [u8; 32] {
        blake3::derive_key(&format!("cairn 2026 {purpose}"), &self.0)
    }
}

/// The contents of a cursor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Cursor {
    /// Digest of the question that the pages answer, without the value of `since`.
    pub question: Digest,
    /// The resolved `since` of the first page, in seconds since 1970. The time is stored because a relative
    /// value such as `20h` is resolved to a different time when the next page is requested.
    pub since: i64,
    /// The publication whose view is used for all pages.
    pub seq: PublishedSeq,
    /// Number of results on the previous pages.
    pub offset: u64,
    pub issued_at_ms: i64,
}

impl Cursor {
    pub(crate) fn seal(&self, key: CursorKey, caller: &Caller) -> String {
        let mut body = [0; BODY_BYTES];
        let (question, numbers) = body.split_at_mut(QUESTION_BYTES);
        question.copy_from_slice(short(&self.question));
        let values = [self.since.cast_unsigned(), self.seq.0, self.offset, self.issued_at_ms.cast_unsigned()];
        for (bytes, value) in numbers.chunks_exact_mut(8).zip(values) {
            bytes.copy_from_slice(&value.to_le_bytes());
        }
        let tag = tag(&body, key, caller);
        encrypt(&mut body, &tag, key);
        tag.iter().chain(&body).map(|byte| format!("{byte:02x}")).collect()
    }

    /// Decrypts and checks a cursor. The question in the cursor must be equal to the question in the current
    /// request.
    pub(crate) fn open(
        text: &str,
        key: CursorKey,
        caller: &Caller,
        (question, since): (Digest, i64),
        now_ms: i64,
    ) -> Result<Self, QueryError> {
        let cursor = Self::open_for(text, key, caller, question, now_ms)?;
        if !(0..=LIFE_MS / 1000).contains(&since.saturating_sub(cursor.since)) {
            return Err(invalid("the cursor was issued for a different value of `since`"));
        }
        Ok(cursor)
    }

    /// Does the same as `open` for requests without `since`. The value of `since` in the cursor is not
    /// checked.
    pub(crate) fn open_for(
        text: &str,
        key: CursorKey,
        caller: &Caller,
        question: Digest,
        now_ms: i64,
    ) -> Result<Self, QueryError> {
        let Some(mut body) = opened(text, key, caller) else {
            return Err(invalid("the cursor was not issued to this caller, or it was altered"));
        };
        let (own_question, numbers) = body.split_at_mut(QUESTION_BYTES);
        if own_question != short(&question) {
            return Err(invalid("the cursor was issued for a different query or different filters"));
        }
        let mut values = numbers.chunks_exact(8).map(|bytes| u64::from_le_bytes(bytes.try_into().unwrap_or_default()));
        let mut value = || values.next().unwrap_or_default();
        let first_since = value().cast_signed();
        let (seq, offset, issued_at_ms) = (PublishedSeq(value()), value(), value().cast_signed());
        let cursor = Self { question, since: first_since, seq, offset, issued_at_ms };
        if now_ms - cursor.issued_at_ms > LIFE_MS {
            return Err(expired());
        }
        Ok(cursor)
    }
}

/// The error for a cursor whose view is no longer available.
pub(crate) fn expired() -> QueryError {
    invalid("the cursor has expired (cursors are valid for ten minutes)")
}

fn invalid(message: &'static str) -> QueryError {
    QueryError::new(QueryErrorCode::InvalidCursor, message).hint(REPEAT)
}

fn short(question: &Digest) -> &[u8] {
    &question.0[..QUESTION_BYTES]
}

fn tag(body: &[u8; BODY_BYTES], key: CursorKey, caller: &Caller) -> [u8; TAG_BYTES] {
    let mut hasher = blake3::Hasher::new_keyed(&key.derive("cursor authentication"));
    hasher.update(&caller.identity().digest().0);
    hasher.update(body);
    let mut tag = [0; TAG_BYTES];
    hasher.finalize_xof().fill(&mut tag);
    tag
}

/// Encrypts or decrypts the body in place.
fn encrypt(body: &mut [u8; BODY_BYTES], tag: &[u8; TAG_BYTES], key: CursorKey) {
    let mut stream = [0; BODY_BYTES];
    let mut hasher = blake3::Hasher::new_keyed(&key.derive("cursor encryption"));
    hasher.update(tag).finalize_xof().fill(&mut stream);
    for (byte, pad) in body.iter_mut().zip(stream) {
        *byte ^= pad;
    }
}

fn opened(text: &str, key: CursorKey, caller: &Caller) -> Option<[u8; BODY_BYTES]> {
    let sealed: [u8; TAG_BYTES + BODY_BYTES] = hex(text)?;
    let (given, body) = sealed.split_at(TAG_BYTES);
    let (given, mut body) = (given.try_into().ok()?, <[u8; BODY_BYTES]>::try_from(body).ok()?);
    encrypt(&mut body, &given, key);
    // The hashes of the tags are compared, because `blake3` compares hashes in constant time.
    let is_ours = blake3::hash(&tag(&body, key, caller)) == blake3::hash(&given);
    is_ours.then_some(body)
}

/// Reads the hexadecimal digits that `seal` writes, and rejects every other text.
fn hex<const N: usize>(text: &str) -> Option<[u8; N]> {
    let digit = |digit: u8| match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        _ => None,
    };
    let mut bytes = [0; N];
    if text.len() != 2 * N {
        return None;
    }
    for (byte, pair) in bytes.iter_mut().zip(text.as_bytes().chunks_exact(2)) {
        *byte = digit(pair[0])? << 4 | digit(pair[1])?;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use cairn_domain::Tenant;

    use super::*;
    use crate::Allowed;

    const KEY: CursorKey = CursorKey([7; 32]);
    const QUESTION: Digest = Digest([1; 32]);

    fn cursor() -> Cursor {
        Cursor { question: QUESTION, since: 5_000, seq: PublishedSeq(3), offset: 20, issued_at_ms: 1_000 }
    }

    fn open(text: &str) -> Result<Cursor, QueryError> {
        Cursor::open(text, KEY, &Caller::local(), (QUESTION, 5_000), 2_000)
    }

    #[test]
    fn cursor_opens_only_for_its_question_and_caller() {
        let text = cursor().seal(KEY, &Caller::local());
        assert_eq!(open(&text), Ok(cursor()));
        let check = |text: &str, key, caller: &Caller, question, now_ms, expect: &str| {
            let error = Cursor::open(text, key, caller, (question, 5_000), now_ms).expect_err("rejected");
            assert_eq!(error.code, QueryErrorCode::InvalidCursor);
            assert!(error.message.contains(expect), "{}", error.message);
        };
        let local = Caller::local();
        check(&text, KEY, &local, Digest([2; 32]), 2_000, "different query");
        check(&text, CursorKey([8; 32]), &local, QUESTION, 2_000, "not issued to this caller");
        check(&text, KEY, &local, QUESTION, 700_000, "expired");
        check("", KEY, &local, QUESTION, 0, "not issued");
        check("zz", KEY, &local, QUESTION, 0, "not issued");
        let others = [
            Caller { tenant: Tenant::new("other"), ..Caller::local() },
            Caller { name: "other".to_owned(), ..Caller::local() },
            Caller { allowed: Allowed::Only(vec!["*".to_owned()]), ..Caller::local() },
        ];
        for other in &others {
            check(&text, KEY, other, QUESTION, 2_000, "not issued");
        }
    }

    #[test]
    fn pages_keep_since_of_the_first_page() {
        let text = cursor().seal(KEY, &Caller::local());
        let check = |since: i64, is_accepted: bool| {
            let opened = Cursor::open(&text, KEY, &Caller::local(), (QUESTION, since), 2_000);
            assert_eq!(opened.map(|cursor| cursor.since).ok(), is_accepted.then_some(5_000), "{since}");
        };
        check(5_000, true);
        check(5_001, true);
        check(5_600, true);
        check(5_601, false);
        check(4_999, false);
        check(i64::MIN, false);
    }

    #[test]
    fn cursor_has_constant_length_and_reveals_nothing() {
        let small = cursor().seal(KEY, &Caller::local());
        let large = Cursor { seq: PublishedSeq(u64::MAX), offset: u64::MAX, issued_at_ms: i64::MAX, ..cursor() };
        let large = large.seal(KEY, &Caller::local());
        assert_eq!(small.len(), large.len());
        let next = Cursor { seq: PublishedSeq(4), ..cursor() }.seal(KEY, &Caller::local());
        let num_equal = small.bytes().zip(next.bytes()).filter(|(left, right)| left == right).count();
        assert!(num_equal < small.len() / 4, "{num_equal} of {} digits are equal", small.len());
        assert!(!small.contains(&"01".repeat(QUESTION_BYTES)), "{small}");
    }

    #[test]
    fn altered_cursor_is_rejected() {
        let text = cursor().seal(KEY, &Caller::local());
        let mut num_rejected = 0;
        for position in 0..text.len() {
            for digit in (0x20..0x7f).filter(|digit| *digit != text.as_bytes()[position]) {
                let mut altered = text.clone().into_bytes();
                altered[position] = digit;
                let altered = String::from_utf8(altered).expect("ascii");
                assert!(open(&altered).is_err(), "position {position}: {altered}");
                num_rejected += 1;
            }
            assert!(open(&text[..position]).is_err(), "{position} digits");
        }
        assert!(open(&format!("{text}0")).is_err() && open(&format!("{text}00")).is_err());
        assert!(num_rejected > 10_000, "{num_rejected}");
    }
}
