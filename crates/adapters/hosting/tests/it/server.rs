//! A server with scripted replies. The server records the requests.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::{HeaderMap, Response, Uri};
use futures::stream;
use tokio::net::TcpListener;
use tokio::task::AbortHandle;

/// A scripted reply.
#[derive(Clone, Debug)]
pub struct Reply {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: Content,
}

#[derive(Clone, Debug)]
pub enum Content {
    Text(String),
    /// The body never ends.
    Endless,
    /// The reply begins, and then the connection is cut.
    Cut,
    /// The server sends nothing.
    Silence,
}

impl Reply {
    pub fn json(body: impl Into<String>) -> Self {
        Self { status: 200, headers: Vec::new(), body: Content::Text(body.into()) }
    }

    pub fn status(status: u16) -> Self {
        Self { status, ..Self::json("{\"message\":\"as the test says\"}") }
    }

    pub fn content(body: Content) -> Self {
        Self { body, ..Self::json("") }
    }

    pub fn header(mut self, name: &str, value: impl Into<String>) -> Self {
        self.headers.push((name.to_owned(), value.into()));
        self
    }
}

/// A recorded request.
#[derive(Clone, Debug)]
pub struct RecordedRequest {
    pub uri: Uri,
    pub headers: HeaderMap,
}

type Answering = dyn Fn(&RecordedRequest) -> Reply + Send + Sync;

pub struct TestServer {
    pub address: SocketAddr,
    shared: Arc<Shared>,
    listening: AbortHandle,
}

struct Shared {
    /// Replies that are sent before all other replies, each of them once.
    first: Mutex<VecDeque<Reply>>,
    answering: Box<Answering>,
    asked: Mutex<Vec<RecordedRequest>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Drop for TestServer {
    fn drop(&mut self) {
        self.listening.abort();
    }
}

impl TestServer {
    pub async fn start(answering: impl Fn(&RecordedRequest) -> Reply + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind(SocketAddr::from(([127, 0, 0, 1], 0))).await.expect("a free port");
        let address = listener.local_addr().expect("an address");
        let shared =
            Arc::new(Shared { first: Mutex::default(), answering: Box::new(answering), asked: Mutex::default() });
        let router = Router::new().fallback(answer).with_state(Arc::clone(&shared));
        let serving = async move { axum::serve(listener, router).await };
        Self { address, shared, listening: tokio::spawn(serving).abort_handle() }
    }

    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    pub fn first(&self, replies: impl IntoIterator<Item = Reply>) {
        lock(&self.shared.first).extend(replies);
    }

    /// Returns the requests that arrived since the last call.
    pub fn asked(&self) -> Vec<RecordedRequest> {
        std::mem::take(&mut lock(&self.shared.asked))
    }
}

async fn answer(State(shared): State<Arc<Shared>>, request: Request) -> Response<Body> {
    let asked = RecordedRequest { uri: request.uri().clone(), headers: request.headers().clone() };
    lock(&shared.asked).push(asked.clone());
    let first = lock(&shared.first).pop_front();
    let reply = first.unwrap_or_else(|| (shared.answering)(&asked));
    let mut response = Response::builder().status(reply.status);
    for (name, value) in reply.headers {
        response = response.header(name, value);
    }
    let piece = || Ok::<_, std::io::Error>(" ".repeat(1 << 20));
    let body = match reply.body {
        Content::Text(text) => Body::from(text),
        Content::Endless => Body::from_stream(stream::repeat_with(piece)),
        Content::Cut => Body::from_stream(stream::iter([piece(), Err(std::io::Error::other("cut off"))])),
        Content::Silence => std::future::pending().await,
    };
    response.body(body).expect("a response")
}
