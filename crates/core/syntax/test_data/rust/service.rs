use std::sync::Arc;

use anyhow::Context as _;
use async_trait::async_trait;

use crate::store::{self, Row, Store, map};

/// Answers requests.
pub struct Service<S> {
    store: Arc<S>,
    limits: store::Limits,
    handlers: Vec<Box<dyn Handler<Request>>>,
    on_error: fn(Error) -> Response,
}

#[async_trait]
impl<S> Handler<Request> for Service<S>
where
    S: Store + 'static,
{
    type Output = Response;

    async fn handle(&self, request: Request) -> anyhow::Result<Self::Output> {
        let row: Row = self.find(&request).await?;
        let mut session = Session::new(request.user);
        let options = Options { depth: 3, ..Options::default() };
        let client = http::Client::builder().timeout(options.depth).build()?;
        let parsed = "3".parse::<Depth>().context("depth")?;
        let ids = request.ids.iter().map(parse_id).collect::<Vec<_>>();
        session.attach(client, parsed);
        tracing::info!(rows = count(&row), "handled {}", self.name());
        Self::finish(session, ids)
    }
}

impl<S: Store> Service<S> {
    fn finish(session: Session, ids: Vec<Id>) -> anyhow::Result<Response> {
        match session.close() {
            Ok(Outcome::Done(reply)) => Ok(Response::from(reply)),
            Ok(Outcome::Moved { to, .. }) => redirect(to),
            Err(error) if error.is::<Timeout>() => bail!("timed out: {:?}", Retry(ids)),
            Err(error) => Err(error.into()),
        }
    }

    fn spawn(self: Arc<Self>) -> JoinHandle<()> {
        tokio::spawn(async move {
            let counters = map! { "a" => load_counter("a") };
            run_all(counters, self.finish_later).await
        })
    }
}

pub fn serve(address: impl Into<Address>, service: &mut Service<dyn Store>) {
    let address = address.into();
    let listener = Listener::bind(address, on_connect);
    let closure = |stream: Stream| service.accept(stream);
    listener.for_each(closure);
}

fn on_connect(stream: &Stream) -> bool {
    stream.is_open() as bool
}

extern "C" {
    fn c_hash(bytes: *const u8, length: usize) -> u64;
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: u32 = 3;

    fn service() -> Service<MemoryStore> {
        Service { store: Arc::new(MemoryStore::default()), ..fixture() }
    }

    #[tokio::test]
    async fn requests_are_answered() {
        let service = service();
        assert_eq!(service.handle(Request::empty()).await.unwrap(), Response::ok());
    }

    #[test]
    #[should_panic(expected = "x")]
    fn panics() {
        on_connect(&Stream::closed());
    }
}
