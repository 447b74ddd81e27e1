//! Encodes and decodes the document of a run.

use cairn_runs as runs;

use crate::codec::{Decode, DecodeError, Encode, Reader, record};
use crate::documents::came_later;

record!(runs::StageParts { planned, released, sent, ended, failed });
record!(runs::RunDetails { tenant, manifest, plan, revision, branch, model, result, started_at_ms, message });

record!(runs::PostponedPart { part, code, until_ms });

/// The documents of older builds end before `sent_again_at_ms` or before `postponed`.
impl Encode for runs::RunDocument {
    fn encode(&self, out: &mut Vec<u8>) {
        let runs::RunDocument { details, ledger } = self;
        details.encode(out);
        ledger.id.encode(out);
        ledger.state.encode(out);
        ledger.lane.encode(out);
        ledger.previous.encode(out);
        ledger.window.encode(out);
        ledger.stages.encode(out);
        ledger.progressed_at_ms.encode(out);
        ledger.ended_at_ms.encode(out);
        ledger.published.encode(out);
        ledger.superseded_at_ms.encode(out);
        ledger.is_swept.encode(out);
        ledger.sent_again_at_ms.encode(out);
        ledger.postponed.encode(out);
    }
}

impl Decode for runs::RunDocument {
    fn decode(reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let details = Decode::decode(reader)?;
        let ledger = runs::RunLedger {
            id: Decode::decode(reader)?,
            state: Decode::decode(reader)?,
            lane: Decode::decode(reader)?,
            previous: Decode::decode(reader)?,
            window: Decode::decode(reader)?,
            stages: Decode::decode(reader)?,
            progressed_at_ms: Decode::decode(reader)?,
            ended_at_ms: Decode::decode(reader)?,
            published: Decode::decode(reader)?,
            superseded_at_ms: Decode::decode(reader)?,
            is_swept: Decode::decode(reader)?,
            sent_again_at_ms: None,
            postponed: Vec::new(),
        };
        let sent_again_at_ms = came_later(reader)?.flatten();
        let postponed = came_later(reader)?.unwrap_or_default();
        Ok(Self { details, ledger: runs::RunLedger { sent_again_at_ms, postponed, ..ledger } })
    }
}
