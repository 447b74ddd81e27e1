//! Reads whole objects and parts of objects, and lists objects.

use std::ops::Range;

use aws_sdk_s3::operation::get_object::GetObjectOutput;
use aws_sdk_s3::operation::list_objects_v2::ListObjectsV2Output;
use bytes::Bytes;
use cairn_ports::{BlobMeta, BlobStoreError, ErrorKind, check_blob_key};

use crate::S3BlobStore;
use crate::fault::Fault;

impl S3BlobStore {
    pub(crate) async fn read(&self, key: &str) -> Result<Bytes, BlobStoreError> {
        self.attempt("get", key, || async {
            let request = self.client.get_object().bucket(&self.bucket).key(self.object(key));
            whole_body(request.send().await?).await
        })
        .await
    }

    pub(crate) async fn read_range(&self, key: &str, range: Range<u64>) -> Result<Bytes, BlobStoreError> {
        self.attempt("get_range", key, || async {
            if range.is_empty() { self.check_empty(key, &range).await } else { self.read_part(key, &range).await }
        })
        .await
    }

    /// Handles an empty range with a separate request, because HTTP cannot request an empty range.
    async fn check_empty(&self, key: &str, range: &Range<u64>) -> Result<Bytes, Fault> {
        let head = self.client.head_object().bucket(&self.bucket).key(self.object(key)).send().await?;
        let size = head.content_length().and_then(|size| u64::try_from(size).ok());
        let is_inside = range.start == range.end && size.is_some_and(|size| range.end <= size);
        if is_inside { Ok(Bytes::new()) } else { Err(past_the_end(range, size)) }
    }

    async fn read_part(&self, key: &str, range: &Range<u64>) -> Result<Bytes, Fault> {
        let request = self.client.get_object().bucket(&self.bucket).key(self.object(key));
        let header = format!("bytes={}-{}", range.start, range.end - 1);
        let response = request.range(header).send().await?;
        let Some(size) = response.content_range().and_then(size_of) else {
            return Err(Fault::new(ErrorKind::Invalid, "the response to a range request has no `Content-Range`"));
        };
        // A server silently shortens a range that exceeds the object, so the size is checked here.
        if range.end > size {
            return Err(past_the_end(range, Some(size)));
        }
        let body = whole_body(response).await?;
        check_length(&body, range.end - range.start)?;
        Ok(body)
    }

    /// Reads all pages of a list. A page may announce another page, but the announced page may be empty.
    pub(crate) async fn read_list(&self, prefix: &str) -> Result<Vec<BlobMeta>, BlobStoreError> {
        let mut found = Vec::new();
        let mut next = None;
        loop {
            let page = self.attempt("list", prefix, || self.read_page(prefix, next.clone())).await?;
            found.extend(page.contents().iter().filter_map(|object| self.meta(object)));
            match next_page(&page, next.as_deref()).map_err(|fault| fault.into_error("list", prefix))? {
                Some(token) => next = Some(token),
                None => break,
            }
        }
        // AWS sorts keys by their bytes, but some other servers do not.
        found.sort_by(|left: &BlobMeta, right| left.key.cmp(&right.key));
        Ok(found)
    }

    async fn read_page(&self, prefix: &str, token: Option<String>) -> Result<ListObjectsV2Output, Fault> {
        let request = self.client.list_objects_v2().bucket(&self.bucket).prefix(self.object(prefix));
        Ok(request.set_continuation_token(token).send().await?)
    }

    /// Returns `None` for objects that are not artifacts, such as folder markers of other programs.
    fn meta(&self, object: &aws_sdk_s3::types::Object) -> Option<BlobMeta> {
        let key = object.key()?.strip_prefix(&self.prefix)?;
        check_blob_key(key).ok()?;
        Some(BlobMeta {
            key: key.to_owned(),
            size_bytes: object.size().and_then(|size| u64::try_from(size).ok())?,
            modified_at: object.last_modified()?.secs(),
        })
    }
}

/// Returns the body if it has the announced length.
async fn whole_body(response: GetObjectOutput) -> Result<Bytes, Fault> {
    let announced = response.content_length().and_then(|length| u64::try_from(length).ok());
    let body = response.body.collect().await.map_err(|error| Fault::of_transport(&error))?.into_bytes();
    if let Some(announced) = announced {
        check_length(&body, announced)?;
    }
    Ok(body)
}

fn check_length(body: &Bytes, expected: u64) -> Result<(), Fault> {
    if body.len() as u64 == expected {
        return Ok(());
    }
    Err(Fault::new(ErrorKind::ConnectionLost, format!("received {} of {expected} bytes", body.len())))
}

fn past_the_end(range: &Range<u64>, size: Option<u64>) -> Fault {
    let size = size.map_or_else(|| "unknown size".to_owned(), |size| format!("{size} bytes"));
    Fault::new(ErrorKind::Invalid, format!("bytes {}..{} exceed the object ({size})", range.start, range.end))
}

/// Returns the size in a header such as `bytes 0-9/123`.
fn size_of(content_range: &str) -> Option<u64> {
    content_range.rsplit_once('/')?.1.parse().ok()
}

/// Returns the token of the next page. Returns an error if the server announces another page without a new
/// token. If this page were treated as the last one, a sweep or a reader would miss objects. If the old token
/// were used again, reading the list would never end.
fn next_page(page: &ListObjectsV2Output, current: Option<&str>) -> Result<Option<String>, Fault> {
    match page.next_continuation_token() {
        _ if page.is_truncated() != Some(true) => Ok(None),
        Some(next) if Some(next) != current => Ok(Some(next.to_owned())),
        _ => Err(Fault::new(ErrorKind::Invalid, "the server announces another page without a continuation token")),
    }
}
