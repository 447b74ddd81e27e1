//! The provider as a state machine: it gets a request and a time, and returns a reply.

use std::collections::{HashMap, HashSet, VecDeque};
use std::time::Duration;

use crate::calls::{Call, Report};
use crate::faults::Fault;
use crate::settings::Settings;
use crate::shapes::Wanted;
use crate::texts::{num_tokens, truncated, vector};
use crate::usage::{Limits, Usage};

#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    pub path: &'a str,
    /// The text after `Bearer ` in the authorisation header.
    pub key: Option<&'a str>,
    pub body: &'a [u8],
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Reply {
    Response {
        status: u16,
        headers: Vec<(String, String)>,
        body: Vec<u8>,
        after: Duration,
        /// Whether the connection ends before the last byte of the body.
        is_cut: bool,
    },
    HangUp,
}

#[derive(Debug)]
pub struct Provider {
    pub settings: Settings,
    script: VecDeque<Fault>,
    outage_until: Duration,
    usage: HashMap<String, Usage>,
    /// For each key, the time from which calls with this key are allowed again. Replies with status 429 set
    /// this time.
    not_before: HashMap<String, Duration>,
    calls: Vec<Call>,
    /// The texts whose vectors were returned in earlier calls.
    answered: HashSet<String>,
}

impl Provider {
    pub fn new(settings: Settings) -> Self {
        Self {
            settings,
            script: VecDeque::new(),
            outage_until: Duration::ZERO,
            usage: HashMap::new(),
            not_before: HashMap::new(),
            calls: Vec::new(),
            answered: HashSet::new(),
        }
    }

    /// Appends faults for the next calls to the script.
    pub fn script(&mut self, faults: impl IntoIterator<Item = Fault>) {
        self.script.extend(faults);
    }

    pub fn is_script_used_up(&self) -> bool {
        self.script.is_empty()
    }

    pub fn calls(&self) -> &[Call] {
        &self.calls
    }

    pub fn report(&self) -> Report {
        Report::of(&self.calls, self.settings.window)
    }

    /// Removes the recorded calls, the script and the outage, but keeps the usage of the keys.
    pub fn reset(&mut self) {
        self.script.clear();
        self.calls.clear();
        self.outage_until = Duration::ZERO;
    }

    pub fn handle(&mut self, now: Duration, request: Request<'_>) -> Reply {
        let key = request.key.unwrap_or_default().to_owned();
        let wanted = self.settings.shape.parse(request.body);
        let tokens = wanted.as_ref().map_or(0, |wanted| wanted.texts.iter().map(|text| num_tokens(text)).sum());
        let is_question = wanted.as_ref().is_ok_and(|wanted| wanted.is_question);
        let is_repeated = |text: &&String| !is_question && self.answered.contains(*text);
        let num_repeated = wanted.as_ref().map_or(0, |wanted| wanted.texts.iter().filter(is_repeated).count());
        let reply = match &wanted {
            Ok(wanted) => self.reply(now, request, wanted, tokens),
            Err(error) => self.refusal(422, &format!("the body is invalid: {error}")),
        };
        let status = if let Reply::Response { status, .. } = &reply { Some(*status) } else { None };
        let is_early = self.not_before.get(&key).is_some_and(|until| now < *until);
        self.note_wait(now, &key, &reply);
        self.calls.push(Call {
            at: now,
            num_texts: wanted.as_ref().map_or(0, |wanted| wanted.texts.len()),
            num_repeated,
            is_question,
            key,
            tokens,
            status,
            is_early,
        });
        reply
    }

    fn reply(&mut self, now: Duration, request: Request<'_>, wanted: &Wanted, tokens: u64) -> Reply {
        if request.path != self.settings.shape.path() {
            return self.refusal(404, "no such path");
        }
        let key = request.key.unwrap_or_default();
        if !self.settings.keys.is_empty() && !self.settings.keys.iter().any(|known| known == key) {
            return self.refusal(401, &format!("the key {key} is not known"));
        }
        let Settings { window, requests, tokens: max_tokens, .. } = self.settings;
        let usage = self.usage.entry(key.to_owned()).or_default();
        let wait = usage.wait(now, window, Limits { requests, tokens: max_tokens }, tokens);
        usage.add(now, window, 1, if wait.is_zero() { tokens } else { 0 });
        if !wait.is_zero() {
            let seconds = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
            return self.throttle(Some(seconds.to_string()));
        }
        let fault =
            if now < self.outage_until { Fault::HangUp } else { self.script.pop_front().unwrap_or(Fault::None) };
        if let Fault::Outage { ms } = fault {
            self.outage_until = now + Duration::from_millis(ms);
        }
        if let Some(reply) = self.objection(wanted, tokens) {
            return reply;
        }
        if matches!(fault, Fault::None | Fault::Slow { .. }) {
            self.answered.extend(wanted.texts.iter().cloned());
        }
        self.faulty(&fault, wanted, tokens)
    }

    /// The refusal of a well-formed request, if real providers would refuse it too.
    fn objection(&self, wanted: &Wanted, tokens: u64) -> Option<Reply> {
        let Settings { shape, max_texts, max_tokens, max_text_tokens, .. } = self.settings;
        let too_large = |message: String| {
            let (status, body) = shape.too_large(&message);
            Some(self.response(status, body.to_string().into_bytes()))
        };
        if wanted.texts.is_empty() || wanted.texts.iter().any(String::is_empty) {
            return Some(self.refusal(400, "input cannot be an empty string"));
        }
        if wanted.model.as_ref().is_some_and(|model| *model != self.settings.model) {
            return Some(self.refusal(404, "the model does not exist"));
        }
        if wanted.dimensions.is_some_and(|dimensions| dimensions != self.settings.dimensions) {
            return Some(self.refusal(400, "the model has a different number of dimensions"));
        }
        if wanted.texts.len() > max_texts {
            return too_large(format!("batch size {} > maximum allowed batch size {max_texts}", wanted.texts.len()));
        }
        if tokens > max_tokens {
            return too_large(format!(
                "max allowed tokens per submitted batch is {max_tokens}; there are {tokens} tokens"
            ));
        }
        let longest = wanted.texts.iter().map(|text| num_tokens(text)).max().unwrap_or_default();
        if longest > max_text_tokens && !wanted.truncates {
            return too_large(format!("maximum context length is {max_text_tokens} tokens, found {longest} tokens"));
        }
        None
    }

    fn faulty(&self, fault: &Fault, wanted: &Wanted, tokens: u64) -> Reply {
        let shape = self.settings.shape;
        match fault {
            Fault::Throttle { retry_after } => return self.throttle(retry_after.clone()),
            Fault::Status(status) => return self.refusal(*status, "scripted"),
            Fault::TooLarge => {
                let (status, body) = shape.too_large("too many tokens");
                return self.response(status, body.to_string().into_bytes());
            }
            Fault::HangUp | Fault::Outage { .. } => return Reply::HangUp,
            Fault::WrongContentType => {
                let page = b"<html><body>It works!</body></html>".to_vec();
                return with_header(self.response(200, page), "content-type", "text/html");
            }
            _ => {}
        }
        let mut vectors = self.vectors(wanted);
        break_vectors(&mut vectors, fault);
        let body = shape.body(&vectors, wanted, tokens).into_bytes();
        let mut reply = with_header(self.response(200, body), "x-compute-tokens", &tokens.to_string());
        if let Reply::Response { body, after, is_cut, .. } = &mut reply {
            match fault {
                Fault::Slow { ms } => *after += Duration::from_millis(*ms),
                Fault::TruncatedJson => {
                    body.truncate(body.len() / 2);
                    *is_cut = true;
                }
                _ => {}
            }
        }
        reply
    }

    fn vectors(&self, wanted: &Wanted) -> Vec<(usize, Vec<f32>)> {
        let Settings { max_text_tokens, dimensions, .. } = self.settings;
        let of = |text: &String| {
            let text = text.strip_prefix("query: ").unwrap_or(text);
            vector(truncated(text, max_text_tokens), dimensions)
        };
        wanted.texts.iter().map(of).enumerate().collect()
    }

    fn throttle(&self, retry_after: Option<String>) -> Reply {
        let reply = self.refusal(429, "rate limit exceeded");
        match retry_after {
            Some(retry_after) => with_header(reply, "retry-after", &retry_after),
            None => reply,
        }
    }

    fn refusal(&self, status: u16, message: &str) -> Reply {
        self.response(status, self.settings.shape.error(message).to_string().into_bytes())
    }

    fn response(&self, status: u16, body: Vec<u8>) -> Reply {
        let headers = vec![("content-type".to_owned(), "application/json".to_owned())];
        Reply::Response { status, headers, body, after: self.settings.latency, is_cut: false }
    }

    /// If the reply has status 429 and its `Retry-After` contains seconds, records the time from which calls
    /// with the key are allowed again. If `Retry-After` contains a date, the test itself must check the wait.
    fn note_wait(&mut self, now: Duration, key: &str, reply: &Reply) {
        let Reply::Response { status: 429, headers, .. } = reply else { return };
        let retry_after = headers.iter().find(|(name, _)| name == "retry-after");
        if let Some(seconds) = retry_after.and_then(|(_, value)| value.parse().ok()) {
            let until = self.not_before.entry(key.to_owned()).or_default();
            *until = (*until).max(now + Duration::from_secs(seconds));
        }
    }
}

fn break_vectors(vectors: &mut Vec<(usize, Vec<f32>)>, fault: &Fault) {
    match fault {
        Fault::WrongDimension => vectors.iter_mut().for_each(|(_, vector)| vector.push(0.5)),
        Fault::NotANumber => vectors[0].1[0] = f32::NAN,
        Fault::WrongCount => drop(vectors.pop()),
        Fault::SwappedOrder => vectors.reverse(),
        Fault::RepeatedIndex => vectors.iter_mut().for_each(|(index, _)| *index = 0),
        Fault::ZeroVector => vectors[0].1.fill(0.0),
        _ => {}
    }
}

fn with_header(mut reply: Reply, name: &str, value: &str) -> Reply {
    if let Reply::Response { headers, .. } = &mut reply {
        headers.retain(|(known, _)| known != name);
        headers.push((name.to_owned(), value.to_owned()));
    }
    reply
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Shape;

    fn provider(shape: Shape) -> Provider {
        let settings =
            Settings { requests: Some(3), tokens: Some(10), max_texts: 2, max_tokens: 8, ..Settings::new(shape) };
        Provider::new(Settings { max_text_tokens: 6, keys: vec!["k".to_owned()], ..settings })
    }

    fn status(provider: &mut Provider, at: u64, key: &str, body: &str) -> u16 {
        let path = provider.settings.shape.path();
        let request = Request { path, key: Some(key), body: body.as_bytes() };
        match provider.handle(Duration::from_secs(at), request) {
            Reply::Response { status, .. } => status,
            Reply::HangUp => 0,
        }
    }

    #[test]
    fn requests_that_real_providers_refuse_are_refused() {
        let voyage = |input: &str, rest: &str| format!("{{\"input\":{input},\"model\":\"fake-embedding-1\"{rest}}}");
        for (body, expect) in [
            (voyage("[\"a\"]", ""), 200),
            (voyage("[\"a\"]", ",\"inputtype\":\"query\""), 422),
            (voyage("[\"\"]", ""), 400),
            (voyage("[]", ""), 400),
            (voyage("[\"a\",\"b\",\"c\"]", ""), 400),
            (voyage("[\"a b c d e\",\"a b c d e\"]", ""), 400),
            (voyage("[\"a b c d e f g\"]", ",\"truncation\":false"), 400),
            (voyage("[\"a b c d e f g\"]", ""), 200),
            (voyage("[\"a\"]", ",\"output_dimension\":3"), 400),
            ("{\"input\":[\"a\"],\"model\":\"other\"}".to_owned(), 404),
            ("{".to_owned(), 422),
        ] {
            assert_eq!(status(&mut provider(Shape::Voyage), 0, "k", &body), expect, "{body}");
        }
        let tei = |inputs: &str| format!("{{\"inputs\":{inputs},\"truncate\":false}}");
        assert_eq!(status(&mut provider(Shape::Tei), 0, "k", &tei("[\"a\",\"b\",\"c\"]")), 413);
        assert_eq!(status(&mut provider(Shape::Tei), 0, "x", &tei("[\"a\"]")), 401);
    }

    #[test]
    fn both_limits_hold_and_refused_requests_count() {
        let body = |text: &str| format!("{{\"inputs\":[\"{text}\"]}}");
        let mut tokens = provider(Shape::Tei);
        let statuses = [(0, "a b c d e f"), (1, "a b c d e"), (1, "a b c d"), (2, "a"), (70, "a")];
        let found: Vec<u16> = statuses.iter().map(|(at, text)| status(&mut tokens, *at, "k", &body(text))).collect();
        assert_eq!(found, [200, 429, 200, 429, 200]);
        let report = tokens.report();
        assert_eq!((report.num_early, report.most_requests), (2, 4));
    }

    #[test]
    fn every_call_uses_one_fault_of_the_script() {
        let mut provider = Provider::new(Settings::new(Shape::Tei));
        provider.script([Fault::Status(500), Fault::None, Fault::Outage { ms: 2000 }]);
        let found: Vec<u16> = (0..6).map(|at| status(&mut provider, at, "k", "{\"inputs\":[\"a\"]}")).collect();
        assert_eq!(found, [500, 200, 0, 0, 200, 200]);
        // The first call returns no vector, so the second call repeats nothing. The later calls repeat the
        // text whose vector the second call returned.
        let repeated: Vec<usize> = provider.calls().iter().map(|call| call.num_repeated).collect();
        assert_eq!(repeated, [0, 0, 1, 1, 1, 1]);
        assert!(provider.is_script_used_up());
    }
}
