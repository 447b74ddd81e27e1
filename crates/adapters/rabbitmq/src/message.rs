//! A message and its headers.

use std::time::{SystemTime, UNIX_EPOCH};

use cairn_domain::{Digester, Key128, Lane, MessageId, StageName};
use cairn_ports::{BrokerError, ErrorKind, FailureCode};
use cairn_wire::Job;
use lapin::BasicProperties;
use lapin::message::Delivery;
use lapin::types::{AMQPValue, FieldTable};

/// A body contains only references to artifacts. A larger body is a defect of the publisher.
pub(crate) const MAX_BODY_BYTES: usize = 64 * 1024;

const ATTEMPT: &str = "attempt";
const UNANSWERED: &str = "unanswered";
const LANE: &str = "lane";
const FIRST_SEEN: &str = "first_seen";
const TRACE: &str = "traceparent";
/// Header that the broker sets: how often consumers of the current queue did not acknowledge the message.
const DELIVERY_COUNT: &str = "x-delivery-count";
const PERSISTENT: u8 = 2;

/// Only dead letters have the headers `CODE`, `CHAIN` and `STAGE`.
pub(crate) const CODE: &str = "code";
pub(crate) const CHAIN: &str = "message";
pub(crate) const STAGE: &str = "stage";
/// Maximum length of the header `CHAIN`. All headers of a message must fit into one frame.
const MAX_CHAIN_BYTES: usize = 16 * 1024;

/// A message to be published. The message has the same form in a work queue, in a delay queue, and as a dead
/// letter.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Message {
    pub(crate) id: MessageId,
    pub(crate) body: Vec<u8>,
    pub(crate) lane: Lane,
    pub(crate) num_failed_attempts: u32,
    /// Number of unanswered deliveries of this message by earlier queues. The broker counts the unanswered
    /// deliveries by the current queue.
    pub(crate) num_unanswered: u32,
    /// Time of the first publication, in milliseconds since 1970. The time is only information for operators.
    pub(crate) first_seen_ms: u64,
    pub(crate) traceparent: Option<String>,
}

impl Message {
    pub(crate) fn of_job(job: &Job, lane: Lane, traceparent: Option<String>) -> Result<Self, BrokerError> {
        let (id, body) = (job.id(), job.to_json().into_bytes());
        if body.len() > MAX_BODY_BYTES {
            let cause = format!("the job has {} bytes; the limit is {MAX_BODY_BYTES}", body.len());
            return Err(BrokerError::new(ErrorKind::TooLarge, "publish", job.to_string()).because(cause));
        }
        let first_seen_ms = now_ms();
        Ok(Self { id, body, lane, num_failed_attempts: 0, num_unanswered: 0, first_seen_ms, traceparent })
    }

    /// Returns the delivered message, and the number of earlier deliveries of this message by its current
    /// queue. `lane` is used if the message has no lane header.
    pub(crate) fn of_delivery(delivery: &Delivery, lane: Lane) -> (Self, u32) {
        let headers = delivery.properties.headers().clone().unwrap_or_default();
        let text = |name: &str| header_text(&headers, name);
        let number = |name: &str| header_number(&headers, name).unwrap_or_default();
        let id = delivery.properties.message_id().as_ref().and_then(|id| Key128::parse(id.as_str()));
        let message = Self {
            id: MessageId(id.unwrap_or_else(|| Digester::new("foreign message").bytes(&delivery.data).key())),
            body: delivery.data.clone(),
            lane: text(LANE).and_then(|lane| Lane::parse(&lane)).unwrap_or(lane),
            num_failed_attempts: number(ATTEMPT) as u32,
            num_unanswered: number(UNANSWERED) as u32,
            first_seen_ms: number(FIRST_SEEN),
            traceparent: text(TRACE),
        };
        (message, number(DELIVERY_COUNT) as u32)
    }

    pub(crate) fn job(&self) -> Result<Job, String> {
        let text = std::str::from_utf8(&self.body).map_err(|error| error.to_string())?;
        Job::from_json(text)
    }

    pub(crate) fn message_id(&self) -> String {
        self.id.to_string()
    }

    /// Returns the usual headers of a message and the additional headers `own`.
    pub(crate) fn properties(&self, own: &[(&'static str, AMQPValue)]) -> BasicProperties {
        let mut headers = FieldTable::default();
        let mut set = |name: &str, value: AMQPValue| {
            headers.insert(name.into(), value);
        };
        set(ATTEMPT, AMQPValue::LongLongInt(self.num_failed_attempts.into()));
        set(UNANSWERED, AMQPValue::LongLongInt(self.num_unanswered.into()));
        set(LANE, text(self.lane.as_str()));
        set(FIRST_SEEN, AMQPValue::LongLongInt(i64::try_from(self.first_seen_ms).unwrap_or(i64::MAX)));
        if let Some(traceparent) = &self.traceparent {
            set(TRACE, text(traceparent));
        }
        for (name, value) in own {
            set(name, value.clone());
        }
        BasicProperties::default()
            .with_delivery_mode(PERSISTENT)
            .with_content_type("application/json".into())
            .with_message_id(self.message_id().into())
            .with_headers(headers)
    }
}

/// Returns the headers that only dead letters have.
pub(crate) fn dead_letter_headers(stage: StageName, code: FailureCode, chain: &str) -> [(&'static str, AMQPValue); 3] {
    let end = (0..=MAX_CHAIN_BYTES.min(chain.len())).rev().find(|end| chain.is_char_boundary(*end)).unwrap_or(0);
    [(CODE, text(code.as_str())), (CHAIN, text(&chain[..end])), (STAGE, text(stage.as_str()))]
}

fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

fn text(value: &str) -> AMQPValue {
    AMQPValue::LongString(value.into())
}

pub(crate) fn header_text(headers: &FieldTable, name: &str) -> Option<String> {
    match headers.inner().get(name)? {
        AMQPValue::LongString(text) => Some(String::from_utf8_lossy(text.as_bytes()).into_owned()),
        AMQPValue::ShortString(text) => Some(text.to_string()),
        _ => None,
    }
}

/// Accepts integers of all widths, because brokers and plugins choose different widths.
pub(crate) fn header_number(headers: &FieldTable, name: &str) -> Option<u64> {
    match headers.inner().get(name)? {
        AMQPValue::ShortShortUInt(number) => Some((*number).into()),
        AMQPValue::ShortUInt(number) => Some((*number).into()),
        AMQPValue::LongUInt(number) => Some((*number).into()),
        AMQPValue::ShortShortInt(number) => u64::try_from(*number).ok(),
        AMQPValue::ShortInt(number) => u64::try_from(*number).ok(),
        AMQPValue::LongInt(number) => u64::try_from(*number).ok(),
        AMQPValue::LongLongInt(number) => u64::try_from(*number).ok(),
        AMQPValue::Timestamp(number) => Some(*number),
        _ => None,
    }
}
