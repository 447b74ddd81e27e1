//! Counts the requests that the adapter sends to the server.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Context, Result};
use cairn_domain::{Scope, View};
use cairn_ports::{ChunkFilter, ListsRequest, VectorStore};
use cairn_qdrant::{QdrantConfig, QdrantStore};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::net::{TcpListener, TcpStream};

use crate::space::{Space, chunk, model, point, probe, repository, stage, staging, tenant, view};

/// The first bytes of an HTTP/2 connection.
const PREFACE_BYTES: usize = 24;
const FRAME_HEADER_BYTES: usize = 9;
/// The type of the frame that starts a request.
const HEADERS: u8 = 1;

/// A proxy that counts the requests of its clients.
struct Counting {
    url: String,
    num_requests: Arc<AtomicUsize>,
}

impl Counting {
    async fn start(server: &str) -> Result<Self> {
        let server = server.trim_start_matches("http://").trim_end_matches('/').to_owned();
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let url = format!("http://{}", listener.local_addr()?);
        let num_requests = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&num_requests);
        tokio::spawn(async move {
            while let Ok((client, _)) = listener.accept().await {
                let Ok(server) = TcpStream::connect(&server).await else { break };
                let ((from_client, mut to_client), (mut from_server, to_server)) =
                    (client.into_split(), server.into_split());
                let counter = Arc::clone(&counter);
                tokio::spawn(async move { forward(from_client, to_server, &counter).await });
                tokio::spawn(async move { tokio::io::copy(&mut from_server, &mut to_client).await });
            }
        });
        Ok(Self { url, num_requests })
    }

    /// The number of requests since this function was last called.
    fn take(&self) -> usize {
        self.num_requests.swap(0, Ordering::SeqCst)
    }
}

/// Forwards all frames of a client, and counts the requests.
async fn forward(mut client: OwnedReadHalf, mut server: OwnedWriteHalf, num_requests: &AtomicUsize) -> Result<()> {
    let mut preface = [0; PREFACE_BYTES];
    client.read_exact(&mut preface).await?;
    server.write_all(&preface).await?;
    loop {
        let mut header = [0; FRAME_HEADER_BYTES];
        client.read_exact(&mut header).await?;
        let length = u32::from_be_bytes([0, header[0], header[1], header[2]]) as usize;
        let mut frame = vec![0; length];
        client.read_exact(&mut frame).await?;
        if header[3] == HEADERS {
            num_requests.fetch_add(1, Ordering::SeqCst);
        }
        server.write_all(&header).await?;
        server.write_all(&frame).await?;
    }
}

/// The lists of one question have the lengths that a search of `cairn-search` requests.
#[tokio::test(flavor = "multi_thread")]
async fn lists_of_a_question_are_one_request() -> Result<()> {
    let Some(space) = Space::new() else { return Ok(()) };
    let (store, r) = (space.prepared().await?, repository("r"));
    let chunks: Vec<_> = (0..2_000).map(|number| chunk(r, &format!("a/{number}.rs"), 1)).collect();
    // Few chunks have the same score, so that the first list is sufficient.
    let points = (0i32..).zip(&chunks).map(|(number, chunk)| {
        let mut point = point(chunk.clone(), 1);
        point.dense.0[0] = (number % 250 - 125) as i8;
        point.dense.0[2] = (number / 250) as i8;
        point.sparse.0 = vec![(7, (number % 250) as u8 + 1), (8, (number / 250) as u8 + 1)];
        point
    });
    stage(&store, &staging(r, 1, 0, &[]), points.collect(), vec![]).await?;
    let proxy = Counting::start(&space.config.url).await?;
    let config = QdrantConfig { url: proxy.url.clone(), ..space.config.clone() };
    let store = QdrantStore::new(config, model(crate::space::DIMENSIONS)).context("the settings are valid")?;
    let (view, scope, filter): (View, Scope, _) = (view(2, &[]), Scope::all(tenant()), ChunkFilter::default());
    let mut vector = probe();
    (vector.0[0], vector.0[2]) = (8, 1);
    let terms = [(7, 8), (8, 1)];
    let request = ListsRequest { dense: Some((&vector, 1_000)), sparse: (&terms, 1_000), num_records: 200 };
    let first = store.search(&view, &scope, &filter, request).await?;
    assert_eq!((first.dense.len(), first.sparse.len()), (1_000, 1_000));
    assert_eq!(proxy.take(), 2, "the second request reads the points, because the cache is empty");
    assert_eq!(store.search(&view, &scope, &filter, request).await?, first);
    assert_eq!(proxy.take(), 1);
    let other = ListsRequest { dense: Some((&vector, 150)), sparse: (&terms, 900), num_records: 100 };
    store.search(&view, &scope, &filter, other).await?;
    assert_eq!(proxy.take(), 1);
    let keys: Vec<_> = first.dense.iter().take(120).map(|hit| (hit.repository, hit.key)).collect();
    assert_eq!(store.fetch(&view, &scope, &keys, true).await?.len(), 120);
    assert_eq!(proxy.take(), 1);
    space.done().await
}
