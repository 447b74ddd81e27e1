//! A response body that holds the admission of its request until the whole body is sent.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use axum::Error;
use axum::body::{Body, Bytes};
use hyper::body::{Body as HttpBody, Frame, SizeHint};

use crate::auth::Admission;

/// The body is passed to the server in pieces of this size. The server accepts each piece immediately and
/// buffers two or three pieces, even if the caller reads slowly. If the whole body were passed at once, the
/// admission would end before the first byte was sent.
const PIECE_BYTES: usize = 16 << 10;

/// A body whose admission ends after the last piece, or when the connection is closed.
pub(super) struct AdmissionBody {
    body: Body,
    /// The part of the last frame that has not been passed to the server.
    rest: Bytes,
    _admission: Admission,
}

impl AdmissionBody {
    pub(super) fn new(body: Body, admission: Admission) -> Self {
        Self { body, rest: Bytes::new(), _admission: admission }
    }
}

impl HttpBody for AdmissionBody {
    type Data = Bytes;
    type Error = Error;

    fn poll_frame(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Error>>> {
        if self.rest.is_empty() {
            let frame = match ready!(Pin::new(&mut self.body).poll_frame(context)) {
                Some(Ok(frame)) => frame,
                ended => return Poll::Ready(ended),
            };
            match frame.into_data() {
                Ok(data) => self.rest = data,
                Err(trailers) => return Poll::Ready(Some(Ok(trailers))),
            }
        }
        let piece_bytes = self.rest.len().min(PIECE_BYTES);
        Poll::Ready(Some(Ok(Frame::data(self.rest.split_to(piece_bytes)))))
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty() && self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        let (left, rest_bytes) = (self.body.size_hint(), self.rest.len() as u64);
        let mut hint = SizeHint::new();
        hint.set_lower(left.lower() + rest_bytes);
        if let Some(upper) = left.upper() {
            hint.set_upper(upper + rest_bytes);
        }
        hint
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use cairn_testkit::ManualClock;

    use super::*;
    use crate::auth::{Limits, LimitsConfig};

    #[tokio::test]
    async fn admission_ends_after_the_last_piece() {
        let config = LimitsConfig { requests_per_minute: 6_000, burst: 100, concurrency: 1 };
        let limits = Limits::new(config, Arc::new(ManualClock::new(0)));
        for num_bytes in [0, 1, PIECE_BYTES, PIECE_BYTES + 1, 5 * PIECE_BYTES + 7] {
            let whole: Vec<u8> = (0..num_bytes).map(|place| (place % 251) as u8).collect();
            let frames: Vec<_> = whole.chunks(3 * PIECE_BYTES).map(|frame| Ok::<_, Error>(frame.to_vec())).collect();
            for body in [Body::from(whole.clone()), Body::from_stream(futures::stream::iter(frames))] {
                let is_known = body.size_hint().exact().is_some();
                let mut body = Body::new(AdmissionBody::new(body, limits.admit("a").expect("capacity")));
                let mut taken = Vec::new();
                while !body.is_end_stream() {
                    limits.admit("a").expect_err("no capacity");
                    let left = is_known.then(|| (num_bytes - taken.len()) as u64);
                    assert_eq!(body.size_hint().exact(), left);
                    let frame = std::future::poll_fn(|context| Pin::new(&mut body).poll_frame(context)).await;
                    let Some(frame) = frame else { break };
                    let piece = frame.expect("a frame").into_data().expect("data");
                    assert!(piece.len() <= PIECE_BYTES, "{}", piece.len());
                    taken.extend_from_slice(&piece);
                }
                assert_eq!(taken, whole);
                drop(body);
                limits.admit("a").expect("capacity");
            }
        }
    }
}
