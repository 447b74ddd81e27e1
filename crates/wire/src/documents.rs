//! Encodes and decodes the documents of the catalogue and the ledger: registry, repositories, runs, and
//! views. A document consists of one byte with its version, followed by its fields. In addition to the
//! document, a store saves the fields that it queries.

use std::collections::{BTreeMap, BTreeSet};

use cairn_domain as domain;
use cairn_domain::{GenerationId, RepositoryName, Source, StageName, Tenant};
use cairn_runs as runs;
use cairn_runs::PartSet;

use crate::codec::{Decode, DecodeError, Encode, Reader, enumeration, newtype, record};

const VERSION: u8 = 1;

pub fn encode_document<T: Encode>(document: &T) -> Vec<u8> {
    let mut bytes = vec![VERSION];
    document.encode(&mut bytes);
    bytes
}

pub fn decode_document<T: Decode>(bytes: &[u8]) -> Result<T, DecodeError> {
    let mut reader = Reader(bytes);
    match reader.take(1, "a document's version")?[0] {
        VERSION => {}
        found => return Err(DecodeError::UnknownVersion { kind: "catalogue document", found, newest: VERSION }),
    }
    let document = T::decode(&mut reader)?;
    if reader.0.is_empty() { Ok(document) } else { reader.fail("the end of the document") }
}

enumeration!(domain::Lane { Interactive = 0, Bulk = 1 });
enumeration!(domain::RunState { Running = 0, Published = 1, Partial = 2, Failed = 3, Cancelled = 4 });
newtype!(domain::PublishedSeq);
record!(domain::RunId { repository, generation });
record!(domain::View { seq, next_gen, hidden, hidden_repositories });

macro_rules! text {
    ($($type:ident),+) => {$(
        impl Encode for $type {
            fn encode(&self, out: &mut Vec<u8>) {
                self.as_str().encode(out);
            }
        }

        impl Decode for $type {
            fn decode(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
                Ok($type::new(String::decode(reader)?))
            }
        }
    )+};
}
text!(Tenant, RepositoryName);

impl Encode for Source {
    fn encode(&self, out: &mut Vec<u8>) {
        let kind: u8 = match self {
            Source::WorkTree { .. } => 0,
            Source::Bare { .. } => 1,
            Source::Directory { .. } => 2,
            Source::Url { .. } => 3,
        };
        kind.encode(out);
        self.location().encode(out);
    }
}

impl Decode for Source {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let (kind, location) = (u8::decode(reader)?, String::decode(reader)?);
        match kind {
            0 => Ok(Source::WorkTree { path: location }),
            1 => Ok(Source::Bare { path: location }),
            2 => Ok(Source::Directory { path: location }),
            3 => Ok(Source::Url { url: location }),
            _ => reader.fail("a kind of source"),
        }
    }
}

impl<T: Encode + Ord> Encode for BTreeSet<T> {
    fn encode(&self, out: &mut Vec<u8>) {
        (self.len() as u64).encode(out);
        for item in self {
            item.encode(out);
        }
    }
}

impl<T: Decode + Ord> Decode for BTreeSet<T> {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(Vec::<T>::decode(reader)?.into_iter().collect())
    }
}

/// Encodes a map as its length, followed by each key and its value.
fn encode_map<K: Encode, V: Encode>(map: &BTreeMap<K, V>, out: &mut Vec<u8>) {
    (map.len() as u64).encode(out);
    for (key, value) in map {
        key.encode(out);
        value.encode(out);
    }
}

fn decode_map<K: Decode + Ord, V: Decode>(reader: &mut Reader<'_>) -> Result<BTreeMap<K, V>, DecodeError> {
    Ok(Vec::<(K, V)>::decode(reader)?.into_iter().collect())
}

macro_rules! map {
    ($($key:ty => $value:ty),+ $(,)?) => {$(
        impl Encode for BTreeMap<$key, $value> {
            fn encode(&self, out: &mut Vec<u8>) {
                encode_map(self, out);
            }
        }

        impl Decode for BTreeMap<$key, $value> {
            fn decode(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
                decode_map(reader)
            }
        }
    )+};
}
map!(StageName => runs::StageParts, GenerationId => i64, domain::RepositoryId => runs::Deletion);

impl Encode for PartSet {
    fn encode(&self, out: &mut Vec<u8>) {
        self.words().encode(out);
    }
}

impl Decode for PartSet {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        Ok(PartSet::from_words(Decode::decode(reader)?))
    }
}

record!(runs::Deletion { generation, indexed_again });
record!(runs::Registry { last_generation, seq, newest_published, unpublished, deletions });

/// This encoding omits `is_scheduled`, because this field was added later. The field is at the end of the
/// repository's document.
impl Encode for runs::Wanted {
    fn encode(&self, out: &mut Vec<u8>) {
        let runs::Wanted { number, lane, asked_at_ms, rebuild, is_scheduled: _ } = self;
        number.encode(out);
        lane.encode(out);
        asked_at_ms.encode(out);
        rebuild.encode(out);
    }
}

impl Decode for runs::Wanted {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let (number, lane, asked_at_ms) = (Decode::decode(reader)?, Decode::decode(reader)?, Decode::decode(reader)?);
        Ok(Self { number, lane, asked_at_ms, rebuild: Decode::decode(reader)?, is_scheduled: false })
    }
}

record!(domain::SyncProgress { fetched_bytes, num_files_read });

/// This encoding omits `progress`, because this field was added later. The field is at the end of the
/// repository's document.
impl Encode for runs::LeaseState {
    fn encode(&self, out: &mut Vec<u8>) {
        let runs::LeaseState { epoch, expires_at_ms, is_held, progress: _ } = self;
        epoch.encode(out);
        expires_at_ms.encode(out);
        is_held.encode(out);
    }
}

impl Decode for runs::LeaseState {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let (epoch, expires_at_ms) = (Decode::decode(reader)?, Decode::decode(reader)?);
        Ok(Self { epoch, expires_at_ms, is_held: Decode::decode(reader)?, progress: domain::SyncProgress::default() })
    }
}

/// This encoding omits the fields that were added later: the request as it was dispatched, whether the broker
/// has its job, and the time of its next attempt. These fields are at the end of the repository's document.
impl Encode for runs::Dispatched {
    fn encode(&self, out: &mut Vec<u8>) {
        self.request.number.encode(out);
        self.at_ms.encode(out);
    }
}

impl Decode for runs::Dispatched {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let (number, at_ms) = (Decode::decode(reader)?, Decode::decode(reader)?);
        let request =
            runs::Wanted { number, lane: domain::Lane::Bulk, asked_at_ms: at_ms, rebuild: false, is_scheduled: false };
        Ok(Self { request, at_ms, is_sent: true, postponed_until_ms: None })
    }
}

record!(runs::Requests { last, wanted, dispatched });
record!(runs::RepositoryState { lease, requests, is_deleted, deletion, published, unfinished, aborted });
record!(runs::SyncOutcome { at_ms, failure });
record!(domain::Hosted { host, id, organisation, default_branch, description, topics });

/// Decodes a field at the end of a document. Returns `None` if the document is so old that it does not
/// contain the field.
pub(crate) fn came_later<T: Decode>(reader: &mut Reader<'_>) -> Result<Option<T>, DecodeError> {
    if reader.0.is_empty() { Ok(None) } else { T::decode(reader).map(Some) }
}

/// Later builds added fields at the end of the document, in this order. Older documents do not contain these
/// fields:
///
/// - the data that the hosting service has about the repository;
/// - whether the job of the dispatched request has been sent to the broker;
/// - the progress of the repository's sync;
/// - the time of the next attempt at the dispatched request;
/// - whether a schedule requested the sync that is not dispatched yet;
/// - the dispatched request, and whether a schedule requested it.
impl Encode for runs::RepositoryDocument {
    fn encode(&self, out: &mut Vec<u8>) {
        let runs::RepositoryDocument { id, details, last_sync, state } = self;
        let runs::RepositoryDetails { tenant, name, source, branch, settings, aliases, hosted } = details;
        id.encode(out);
        tenant.encode(out);
        name.encode(out);
        source.encode(out);
        branch.encode(out);
        settings.encode(out);
        aliases.encode(out);
        last_sync.encode(out);
        state.encode(out);
        hosted.encode(out);
        state.requests.dispatched.is_none_or(|dispatched| dispatched.is_sent).encode(out);
        state.lease.progress.encode(out);
        state.requests.dispatched.and_then(|dispatched| dispatched.postponed_until_ms).encode(out);
        state.requests.wanted.is_some_and(|wanted| wanted.is_scheduled).encode(out);
        state.requests.dispatched.map(|dispatched| dispatched.request).encode(out);
        state.requests.dispatched.is_some_and(|dispatched| dispatched.request.is_scheduled).encode(out);
    }
}

impl Decode for runs::RepositoryDocument {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let id = Decode::decode(reader)?;
        let details = runs::RepositoryDetails {
            tenant: Decode::decode(reader)?,
            name: Decode::decode(reader)?,
            source: Decode::decode(reader)?,
            branch: Decode::decode(reader)?,
            settings: Decode::decode(reader)?,
            aliases: Decode::decode(reader)?,
            hosted: None,
        };
        let (last_sync, mut state): (_, runs::RepositoryState) = (Decode::decode(reader)?, Decode::decode(reader)?);
        let hosted = came_later(reader)?.flatten();
        let is_sent = came_later(reader)?.unwrap_or(true);
        state.lease.progress = came_later(reader)?.unwrap_or_default();
        let postponed_until_ms = came_later(reader)?.flatten();
        if let Some(dispatched) = &mut state.requests.dispatched {
            (dispatched.is_sent, dispatched.postponed_until_ms) = (is_sent, postponed_until_ms);
        }
        let is_scheduled = came_later(reader)?.unwrap_or(false);
        if let Some(wanted) = &mut state.requests.wanted {
            wanted.is_scheduled = is_scheduled;
        }
        let request: Option<runs::Wanted> = came_later(reader)?.flatten();
        let is_scheduled = came_later(reader)?.unwrap_or(false);
        if let Some(dispatched) = &mut state.requests.dispatched {
            let same = state.requests.wanted.filter(|wanted| wanted.number == dispatched.request.number);
            let handed_over = request.map(|request| runs::Wanted { is_scheduled, ..request }).or(same);
            dispatched.request = handed_over.unwrap_or(dispatched.request);
        }
        Ok(Self { id, details: runs::RepositoryDetails { hosted, ..details }, last_sync, state })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn repository(hosted: Option<domain::Hosted>) -> runs::RepositoryDocument {
        let (tenant, name) = (Tenant::new("acme"), RepositoryName::new("shop"));
        runs::RepositoryDocument {
            id: domain::RepositoryId::derive(&tenant, &name),
            details: runs::RepositoryDetails {
                tenant,
                name,
                source: Source::Url { url: "https://git.example/shop".to_owned() },
                branch: None,
                settings: "{}".to_owned(),
                aliases: Vec::new(),
                hosted,
            },
            last_sync: None,
            state: runs::RepositoryState::default(),
        }
    }

    /// Returns a dispatched request as an older document contains it, without the later fields of the
    /// request.
    fn dispatched(at_ms: i64, lane: domain::Lane) -> runs::Dispatched {
        let request = runs::Wanted { number: 1, lane, asked_at_ms: at_ms, rebuild: false, is_scheduled: false };
        runs::Dispatched { request, at_ms, is_sent: true, postponed_until_ms: None }
    }

    #[test]
    fn later_fields_may_be_missing() {
        let mut document = repository(None);
        document.state.requests.dispatched = Some(dispatched(2, domain::Lane::Bulk));
        let bytes = encode_document(&document);
        let num_bytes = bytes.len();
        // The fields that were added later are at the end, in the order in which they were added. The first
        // of them are the host's data, `is_sent`, two counts of progress, and the time of the next attempt.
        // The next fields are the requester, and the dispatched request with its requester.
        let request = runs::Wanted { is_scheduled: false, ..dispatched(2, domain::Lane::Bulk).request };
        let num_request = {
            let mut out = Vec::new();
            Some(request).encode(&mut out);
            out.len()
        };
        for num_missing in
            [0, 1, 1 + num_request, 2 + num_request, 3 + num_request, 5 + num_request, 6 + num_request, 7 + num_request]
        {
            assert_eq!(decode_document(&bytes[..num_bytes - num_missing]).as_ref(), Ok(&document), "{num_missing}");
        }
        let half = &bytes[..num_bytes - 4 - num_request];
        assert!(
            decode_document::<runs::RepositoryDocument>(half).is_err(),
            "a document that ends in the middle of the progress was decoded"
        );
        let older = &bytes[..num_bytes - 7 - num_request];
        let torn: Result<runs::RepositoryDocument, _> = decode_document(&older[..older.len() - 1]);
        assert!(torn.is_err());
    }

    #[test]
    fn dispatched_request_of_an_older_document_is_decoded() {
        let mut document = repository(None);
        document.state.requests.ask(domain::Lane::Interactive, true, 1);
        let before = encode_document(&document).len();
        document.state.dispatch(2, 3).expect("wanted");
        document.state.requests.dispatched(document.state.requests.last);
        let bytes = encode_document(&document);
        // The older document contains neither the request at the end nor the requester of this request.
        let mut request = Vec::new();
        document.state.requests.wanted.encode(&mut request);
        let older = &bytes[..bytes.len() - request.len() - 1];
        assert!(
            older.len() > before - 2,
            "the older document lacks more than the request at its end and the requester"
        );
        assert_eq!(decode_document(older), Ok(document));
    }

    #[test]
    fn sync_progress_survives_the_codec() {
        let mut document = repository(None);
        document.state.lease.progress = domain::SyncProgress { fetched_bytes: 1 << 40, num_files_read: 300 };
        assert_eq!(decode_document(&encode_document(&document)), Ok(document));
    }

    #[test]
    fn requester_survives_the_codec() {
        let mut document = repository(None);
        document.state.requests.schedule(5);
        assert_eq!(decode_document(&encode_document(&document)).as_ref(), Ok(&document));
        document.state.requests.ask(domain::Lane::Bulk, true, 6);
        assert_eq!(decode_document(&encode_document(&document)), Ok(document));
    }

    #[test]
    fn unsent_request_survives_the_codec() {
        let mut document = repository(None);
        let before = dispatched(2, domain::Lane::Interactive);
        let request = runs::Wanted { rebuild: true, is_scheduled: true, asked_at_ms: 1, ..before.request };
        document.state.requests.dispatched =
            Some(runs::Dispatched { request, is_sent: false, postponed_until_ms: Some(i64::MAX), ..before });
        assert_eq!(decode_document(&encode_document(&document)), Ok(document));
    }

    #[test]
    fn hosted_data_survives_the_codec() {
        let hosted = domain::Hosted {
            host: "git.example".to_owned(),
            id: "7".to_owned(),
            organisation: "acme".to_owned(),
            default_branch: None,
            description: Some("ä".to_owned()),
            topics: vec!["t".to_owned()],
        };
        let document = repository(Some(hosted));
        assert_eq!(decode_document(&encode_document(&document)), Ok(document));
    }
}
