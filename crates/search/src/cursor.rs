//! Cursors: where the next page of an answer starts, in the view of the first page.
//!
//! Opaque and signed. A cursor holds a hash of the question, so that it cannot be used with another one, the view, so
//! that no result is lost or repeated across a publish, and the time, since views are only kept for a while.

use std::collections::BTreeSet;

use cairn_domain::{Digest, GenerationId, Key128, PublishedSeq, RepositoryId, View};
use cairn_wire::{Decode, Encode, Reader};

use crate::{SearchError, SearchErrorCode};

/// How long a cursor is good for. Sweeping waits longer.
const LIFE_MS: i64 = 10 * 60 * 1000;
const SIGNATURE_BYTES: usize = 16;

/// The key that cursors are signed with.
#[derive(Clone, Copy)]
pub struct CursorKey(pub [u8; 32]);

/// What a cursor says.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Cursor {
    /// Of the question that the pages answer.
    pub question: Digest,
    pub view: View,
    /// Results on the pages before.
    pub offset: u64,
    pub issued_at_ms: i64,
}

impl Cursor {
    pub(crate) fn sign(&self, key: CursorKey) -> String {
        let mut body = Vec::new();
        self.question.0.encode(&mut body);
        self.view.seq.0.encode(&mut body);
        self.view.next_gen.encode(&mut body);
        let hidden: Vec<u64> = self.view.hidden.iter().map(|generation| generation.0).collect();
        hidden.encode(&mut body);
        let repositories: Vec<[u8; 16]> = self.view.hidden_repositories.iter().map(|id| id.0.0).collect();
        repositories.encode(&mut body);
        self.offset.encode(&mut body);
        self.issued_at_ms.encode(&mut body);
        body.extend_from_slice(&signature(&body, key));
        body.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// Reads a cursor for the question that it is given with.
    pub(crate) fn read(text: &str, key: CursorKey, question: Digest, now_ms: i64) -> Result<Self, SearchError> {
        let invalid = |message: &str| {
            Err(SearchError::new(SearchErrorCode::InvalidCursor, message)
                .hint("repeat the search without `cursor` to start from the first page"))
        };
        let Some(cursor) = hex(text).and_then(|bytes| verified(&bytes, key)) else {
            return invalid("the cursor is not one that this index gave out, or it was altered");
        };
        if cursor.question != question {
            return invalid("the cursor belongs to another query or other filters");
        }
        if now_ms - cursor.issued_at_ms > LIFE_MS {
            return invalid("the cursor has expired (they live ten minutes)");
        }
        Ok(cursor)
    }
}

fn signature(body: &[u8], key: CursorKey) -> [u8; SIGNATURE_BYTES] {
    let mut short = [0; SIGNATURE_BYTES];
    short.copy_from_slice(&blake3::keyed_hash(&key.0, body).as_bytes()[..SIGNATURE_BYTES]);
    short
}

fn hex(text: &str) -> Option<Vec<u8>> {
    if !text.is_ascii() || !text.len().is_multiple_of(2) {
        return None;
    }
    (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).ok()).collect()
}

fn verified(bytes: &[u8], key: CursorKey) -> Option<Cursor> {
    let (body, signed) = bytes.split_at_checked(bytes.len().checked_sub(SIGNATURE_BYTES)?)?;
    // Both sides are hashes of secrets: comparing hashes of them leaks nothing about where they differ.
    if blake3::hash(&signature(body, key)) != blake3::hash(signed) {
        return None;
    }
    let mut reader = Reader(body);
    let question = Digest(Decode::decode(&mut reader).ok()?);
    let seq = PublishedSeq(u64::decode(&mut reader).ok()?);
    let next_gen = u64::decode(&mut reader).ok()?;
    let hidden: Vec<u64> = Decode::decode(&mut reader).ok()?;
    let repositories: Vec<[u8; 16]> = Decode::decode(&mut reader).ok()?;
    let view = View {
        seq,
        next_gen,
        hidden: hidden.into_iter().map(GenerationId).collect::<BTreeSet<_>>(),
        hidden_repositories: repositories.into_iter().map(|id| RepositoryId(Key128(id))).collect(),
    };
    let offset = u64::decode(&mut reader).ok()?;
    let issued_at_ms = i64::decode(&mut reader).ok()?;
    Some(Cursor { question, view, offset, issued_at_ms })
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: CursorKey = CursorKey([7; 32]);

    fn cursor() -> Cursor {
        Cursor {
            question: Digest([1; 32]),
            view: View {
                seq: PublishedSeq(3),
                next_gen: 9,
                hidden: BTreeSet::from([GenerationId(4)]),
                ..View::default()
            },
            offset: 20,
            issued_at_ms: 1_000,
        }
    }

    #[test]
    fn a_cursor_comes_back_for_its_question_only() {
        let text = cursor().sign(KEY);
        assert_eq!(Cursor::read(&text, KEY, Digest([1; 32]), 2_000), Ok(cursor()));
        let check = |text: &str, key, question, now_ms, expect: &str| {
            let error = Cursor::read(text, key, question, now_ms).expect_err("refused");
            assert_eq!(error.code, SearchErrorCode::InvalidCursor);
            assert!(error.message.contains(expect), "{}", error.message);
        };
        check(&text, KEY, Digest([2; 32]), 2_000, "another query");
        check(&text, CursorKey([8; 32]), Digest([1; 32]), 2_000, "not one that this index gave");
        check(&text, KEY, Digest([1; 32]), 700_000, "expired");
        check("", KEY, Digest([1; 32]), 0, "not one");
        check("zz", KEY, Digest([1; 32]), 0, "not one");
    }

    #[test]
    fn every_altered_byte_is_noticed() {
        let text = cursor().sign(KEY);
        for position in 0..text.len() {
            let mut altered = text.clone().into_bytes();
            altered[position] = if altered[position] == b'0' { b'1' } else { b'0' };
            let altered = String::from_utf8(altered).expect("ascii");
            assert!(Cursor::read(&altered, KEY, Digest([1; 32]), 2_000).is_err(), "position {position}");
        }
    }
}
